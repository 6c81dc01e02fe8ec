/* tuner/space/space_axes.c - other axes for a product before it is tiled
 * (schedule/defaults/axes.h). Those that it moves through as through one become one, so that no
 * tile ends where a row of an image or one of several matrices does. The product as it is written
 * stays a way, too: an operand along two axes can be packed where it is not along one that is
 * divided.
 *
 * An axis that is divided by what is read becomes two, and only that is a way: filters of one group
 * of a convolution share what they read, which no tile of the axis as a whole shows.
 */
#include "schedule/defaults/axes.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

static hone_status join(hone_schedule *sch, const char *name, const hone_target *target,
                        int32_t argument) {
    (void)target;
    (void)argument;
    hone_rv block;
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    return hone_axes_join(sch, block);
}

hone_status hone_rule_joined_axes(hone_schedule *sch, const char *block_name,
                                  const hone_target *target, hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    if (node != HONE_NO_ID && hone_nest_has_reduce_axis(sch, node))
        st = hone_rule_fork(sch, join, block_name, target, 0, out_results);
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}

static hone_status divide(hone_schedule *sch, const char *name, const hone_target *target,
                          int32_t argument) {
    (void)target;
    (void)argument;
    hone_rv block;
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    return hone_axes_divide(sch, block);
}

hone_status hone_rule_divided_axes(hone_schedule *sch, const char *block_name,
                                   const hone_target *target, hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    if (node != HONE_NO_ID && hone_nest_has_reduce_axis(sch, node))
        st = hone_rule_fork(sch, divide, block_name, target, 0, out_results);
    if (st || out_results->count == 0) {
        hone_status kept = hone_rule_keep(sch, out_results);
        return st ? hone_status_join(st, kept) : kept;
    }
    hone_schedule_destroy(sch);
    return HONE_OK;
}
