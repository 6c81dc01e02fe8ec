/* schedule/state/pieces.h - pieces: the boxes of a buffer that are surely written, and what they
 * cover together. Within schedule/ only. */
#ifndef HONE_SCHEDULE_STATE_PIECES_H
#define HONE_SCHEDULE_STATE_PIECES_H

#include "schedule/state/schedule_impl.h"

enum { SCH_MAX_PIECES = 64 };

typedef struct sch_pieces {
    hone_schedule *sch;
    hone_buffer buffer;
    hone_node_id within; /* a statement is added over all iterations of the loops below this node */
    uint32_t rank, count;
    hone_interval *pieces[SCH_MAX_PIECES]; /* each has rank entries */
} sch_pieces;

/* An empty list, in the arena; NULL when memory is short. */
sch_pieces *sch_pieces_create(hone_schedule *sch, hone_buffer buffer, hone_node_id within);
/* Adds the boxes that a statement, with all in it, surely writes. What does not fit is left out. */
void sch_pieces_add(sch_pieces *l, hone_node_id statement);
/* The box (rank intervals) lies in one piece, or in several that stand side by side along one
 * dimension. */
bool sch_pieces_cover(const sch_pieces *l, const hone_interval *box);
/* The region that a load reads, in the arena; NULL where it is no box. */
const hone_region *sch_region_of_load(hone_schedule *sch, const hone_expr *load);

#endif
