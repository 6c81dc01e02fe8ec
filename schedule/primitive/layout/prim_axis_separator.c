/* schedule/primitive/layout/prim_axis_separator.c - set_axis_separator: says between which
 * dimensions of a buffer its address is split, for memories that are addressed by more than one
 * number.
 *
 *     B = T.alloc_buffer((8, 128, 16))                     set_axis_separator(b, ("write", 0), [1])
 *  →  B = T.alloc_buffer((8, 128, 16), axis_separators=[1])
 *
 * Checks: the buffer is allocated by a block or a parameter, and nobody takes its address or a view
 * of it; the separators are in order, from 0 to the number of dimensions. What is accessed where
 * does not change.
 */
#include "schedule/primitive/primitive_impl.h"

static hone_status check(hone_schedule *sch, hone_node_id block, hone_buffer buffer, uint32_t count,
                         const int64_t *separators) {
    const hone_buffer_info *info = hone_func_buffer(sch->func, buffer);
    for (uint32_t i = 0; i < count; i++) {
        bool is_in_order = i == 0 || separators[i - 1] < separators[i];
        if (is_in_order && separators[i] >= 0 && separators[i] <= info->rank) continue;
        return sch_refuse(sch, block,
                          "axis separator %lld is out of order or outside of the %u dimensions "
                          "of '%s'",
                          (long long)separators[i], info->rank, info->name);
    }
    return sch_require_no_views(sch, block, buffer);
}

hone_status hone_sch_set_axis_separator(hone_schedule *sch, hone_rv block_rv, bool is_write,
                                        int64_t buffer_index, uint32_t count,
                                        const int64_t *axis_separators) {
    hone_node_id block;
    hone_buffer buffer;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    HONE_TRY(sch_nth_buffer(sch, block, is_write, buffer_index, &buffer));
    HONE_TRY(check(sch, block, buffer, count, axis_separators));
    int32_t *places = hone_arena_alloc(sch->arena, (count + 1) * sizeof *places);
    if (!places) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        places[i] = (int32_t)axis_separators[i];
    sch->func->buffers[buffer].separators = count ? places : NULL;
    sch->func->buffers[buffer].separator_count = count;
    return sch_record(sch, HONE_INST_SET_AXIS_SEPARATOR,
                      SCH_ARGS(SCH_RV(block_rv), SCH_ACCESS(is_write, buffer_index),
                               SCH_LIST(count, numbers, axis_separators)));
}

SCH_STEP(SET_AXIS_SEPARATOR,
         hone_sch_set_axis_separator(sch, a[0].rv, a[1].is_write, a[1].number, a[2].count,
                                     a[2].list.numbers),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_ACCESS, SCH_ARG("axis_separators", VALUES, 2)});
