/* schedule/state/pieces.h - the parts of a buffer that are surely written, and what they cover
 * together.
 *
 * Layer: within schedule/.
 */
#ifndef HONE_SCHEDULE_STATE_PIECES_H
#define HONE_SCHEDULE_STATE_PIECES_H

#include "schedule/state/schedule_impl.h"

enum { SCH_MAX_PIECES = 64 };

typedef struct sch_pieces {
    hone_schedule *sch;
    hone_buffer buffer;
    hone_node_id within; /* what is added is taken over the loops between it and the statement */
    uint32_t rank, count;
    hone_interval *pieces[SCH_MAX_PIECES]; /* each has rank entries */
} sch_pieces;

/* An empty list, in the arena; NULL when memory is short. */
sch_pieces *sch_pieces_create(hone_schedule *sch, hone_buffer buffer, hone_node_id within);
/* Adds what one statement, with all in it, surely writes. */
void sch_pieces_add(sch_pieces *l, hone_node_id statement);
/* Does one of them cover the box, or several side by side along one dimension? */
bool sch_pieces_cover(const sch_pieces *l, const hone_interval *box);
/* What a load of a buffer reads, in the arena; NULL where it is no box. */
const hone_region *sch_region_of_load(hone_schedule *sch, const hone_expr *load);

#endif
