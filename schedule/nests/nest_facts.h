/* schedule/nests/nest_facts.h - facts of blocks that default schedules and the rules of design
 * spaces ask for before they change anything. Nothing here changes the program, and nothing is
 * recorded but what hone_nest_only_consumer asks.
 */
#ifndef HONE_SCHEDULE_NESTS_NEST_FACTS_H
#define HONE_SCHEDULE_NESTS_NEST_FACTS_H

#include "schedule/state/schedule.h"

enum { HONE_NEST_MAX_LOOPS = 16 };

/* A reduction block as tiling sees it. Its nest has one loop per axis; arrays are by loop,
 * outermost first. */
typedef struct hone_reduction_facts {
    hone_node_id block;
    uint32_t loop_count;
    bool is_spatial[HONE_NEST_MAX_LOOPS];
    int64_t extents[HONE_NEST_MAX_LOOPS];
    int64_t space, reduce; /* products of extents */
    int32_t element_bits;  /* of what it writes */
    uint32_t output_rank;
    bool keeps_order; /* a sum of 16-bit floats, rounded at each step: it is not reordered */
    bool has_reuse;   /* a spatial axis that does not index something that is read */
    bool is_spatially_contiguous; /* the last axis of the output moves the reads evenly */
    bool is_reduce_contiguous; /* a reduce axis is the contiguous one of something that is read */
    int32_t contiguous_reduce; /* which loop that is, or -1 */
    int32_t contiguous_space;  /* the loop along the last axis of the output, or -1 */
} hone_reduction_facts;
/* False where the block is no reduction, does not stand alone in a plain nest of constant extents,
 * or was tiled already. */
bool hone_nest_reduction(hone_schedule *sch, hone_node_id block, hone_reduction_facts *out);
/* Some axis of the block is a reduce axis. */
bool hone_nest_has_reduce_axis(const hone_schedule *sch, hone_node_id block);
/* Some axis of the block runs in order (a running sum). */
bool hone_nest_has_scan_axis(const hone_schedule *sch, hone_node_id block);

/* Does the block round what it adds up to a short float, step by step? Then a sum in another order
 * is another one. Greatest and least numbers are not rounded. */
bool hone_nest_keeps_order(const hone_schedule *sch, hone_node_id block);

/* Is the block not worth a loop nest of its own? True: it should be inlined into those who read it.
 *
 *   constants                       always
 *   cheap elementwise work          into spatial readers; into a reduction only as it is read, and
 *                                   without a condition (a padding in an inner loop costs more)
 *   exp, tanh and the like          only where nothing is computed twice: one reader, not larger
 *   copies (transpose, reshape)     into spatial readers
 *
 * and nothing whose copies would make expressions long. */
bool hone_nest_should_inline(hone_schedule *sch, hone_node_id block);
/* The block calls nothing that costs more than a load: no exp, tanh and the like. */
bool hone_nest_is_light(const hone_schedule *sch, hone_node_id block);
/* How many instances the block has: the product of its axes' extents; INT64_MAX where that is
 * unknown or larger. */
int64_t hone_nest_instances(const hone_schedule *sch, hone_node_id block);

/* The only consumer of the block; HONE_NO_ID: it has none, or several. That it was asked is
 * recorded (hone_sch_get_consumers). */
HONE_NODISCARD hone_status hone_nest_only_consumer(hone_schedule *sch, hone_rv block, hone_rv *out);
/* hone_nest_only_consumer, or HONE_NO_ID where that has an init: it reduces again. */
HONE_NODISCARD hone_status hone_nest_epilogue(hone_schedule *sch, hone_rv block, hone_rv *out);

#endif
