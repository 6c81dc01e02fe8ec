/* tuner/space/space_dots.c - products both sides of which lie along their sum
 * (schedule/defaults/dots.h): rows of a tile are as many as the sketch says, columns are sampled.
 */
#include "schedule/defaults/dots.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

static bool find(hone_schedule *sch, const char *name, const hone_target *target, int32_t rows,
                 hone_dots *out) {
    hone_node_id node = hone_rule_find_block(sch, name);
    hone_reduction_facts f;
    if (node == HONE_NO_ID || !hone_nest_reduction(sch, node, &f)) return false;
    return hone_dots_find(sch, node, hone_target_lanes(target, f.element_bits),
                          hone_target_vector_registers(target), out) &&
           hone_dots_divides(out, rows) && hone_dots_most_columns(out, rows) > 0;
}

static hone_status tile(hone_schedule *sch, const char *name, const hone_target *target,
                        int32_t rows) {
    hone_dots d;
    hone_rv block;
    if (!find(sch, name, target, rows, &d))
        return HONE_ERROR(HONE_CODE_ILLEGAL, "no product along its sum");
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    HONE_TRY(hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("dots"),
                               HONE_NO_ID));
    return hone_dots_apply(&d, block, rows, 0);
}

hone_status hone_rule_dots(hone_schedule *sch, const char *block_name, const hone_target *target,
                           hone_rule_results *out_results) {
    static const int32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8};
    hone_status st = HONE_OK;
    hone_dots d;
    for (size_t i = 0; i < HONE_COUNT(rows) && !st; i++) {
        if (find(sch, block_name, target, rows[i], &d))
            st = hone_rule_fork(sch, tile, block_name, target, rows[i], out_results);
    }
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
