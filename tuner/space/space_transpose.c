/* tuner/space/space_transpose.c - transposes, and what computes on their way, in tiles
 * (schedule/defaults/transposes.h): straight to the output or by way of a buffer, along its rows or
 * its columns first. How many squares a tile has each way is sampled: what stays in the first cache
 * depends on how far apart the rows of both sides lie.
 */
#include "schedule/defaults/transposes.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

/* Of the argument of a variant. */
enum { IS_BUFFERED = 1, COLUMNS_FIRST = 2, TWO_REGISTERS = 4, KINDS = 8 };

static hone_status sample_squares(hone_schedule *sch, hone_factor *out) {
    static const int64_t squares[] = {1, 2, 4, 8, 16};
    static const double probs[] = {0.2, 0.2, 0.2, 0.2, 0.2};
    hone_rv value;
    HONE_TRY(hone_sch_sample_categorical(sch, HONE_COUNT(squares), squares, probs, NULL, &value));
    *out = HONE_FACTOR_OF_RV(value);
    return HONE_OK;
}

static hone_status turn(hone_schedule *sch, const char *name, const hone_target *target,
                        int32_t kind) {
    const hone_default_limits limits = {.vector_lanes = hone_target_lanes(target, 32)};
    hone_transpose_way way = {.row_registers = kind & TWO_REGISTERS ? 2 : 1,
                              .is_buffered = (kind & IS_BUFFERED) != 0,
                              .columns_first = (kind & COLUMNS_FIRST) != 0};
    hone_rv block;
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    HONE_TRY(hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("turned"),
                               HONE_NO_ID)); /* other rules leave it where it is */
    HONE_TRY(sample_squares(sch, &way.rows));
    HONE_TRY(sample_squares(sch, &way.columns));
    return hone_transpose_schedule(sch, block, &limits, &way);
}

hone_status hone_rule_transposes(hone_schedule *sch, const char *block_name,
                                 const hone_target *target, hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    bool is_map = node != HONE_NO_ID && node != hone_func_root_block(sch->func) &&
                  !hone_nest_has_reduce_axis(sch, node);
    for (int32_t kind = 0; is_map && kind < KINDS && !st; kind++)
        st = hone_rule_fork(sch, turn, block_name, target, kind, out_results);
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
