/* schedule/state/instance_order.c - shows in which order loops run the instances of a block. */
#include "schedule/state/instance_order.h"

#include "ir/region/region.h"

static bool is_var(const void *ctx, const hone_expr *e) {
    const hone_var *var = ctx;
    return e->kind == HONE_EXPR_VAR && e->u.var == *var;
}

static bool uses_axis(const hone_schedule *sch, hone_node_id block, hone_var axis) {
    bool found = false;
    for (hone_node_id n = sch_node(sch, block)->first; n != HONE_NO_ID && !found;
         n = sch_node(sch, n)->next) {
        found = hone_tree_find_part(sch->func, n, true, is_var, &axis);
    }
    return found;
}

/* One number for an instance: its place in the order of the axes. NULL: sizes are not known. */
static const hone_expr *number_instances(hone_schedule *sch, hone_node_id block,
                                         const hone_expr *const *bindings) {
    const hone_block *b = sch_block(sch, block);
    bool has_init = hone_block_init_of(sch->func, block) != HONE_NO_ID;
    const hone_expr *number = hone_expr_int(&sch->ir, HONE_DTYPE_I64, 0);
    int64_t stride = 1;
    for (uint32_t a = b->axis_count; number && a-- > 0;) {
        if (!has_init && !uses_axis(sch, block, b->axes[a].var)) continue;
        int64_t extent = hone_expr_const(b->axes[a].dom.extent);
        const hone_expr *value = hone_expr_cast(&sch->ir, HONE_DTYPE_I64, bindings[a]);
        const hone_expr *scale = hone_expr_int(&sch->ir, HONE_DTYPE_I64, stride);
        number = hone_expr_add(&sch->ir, number, hone_expr_mul(&sch->ir, value, scale));
        if (extent < 1 || __builtin_mul_overflow(stride, extent, &stride)) return NULL;
    }
    return number ? hone_simplify(&sch->arith, number) : NULL;
}

/* Along the loops, from the innermost outwards, the number never falls. *io_span: how far the loops
 * inside move it. */
static bool rises(hone_schedule *sch, const hone_expr *number, hone_node_id loop,
                  int64_t *io_span) {
    for (; loop != HONE_NO_ID && sch_node(sch, loop)->kind == HONE_NODE_FOR;
         loop = sch_node(sch, loop)->parent) {
        const hone_node *node = sch_node(sch, loop);
        int64_t extent = hone_expr_const(node->u.loop.range.extent), by, way;
        if (extent == 1) continue;
        if (extent < 1 || !hone_linear_coeff(&sch->arith, number, node->u.loop.var, &by)) {
            return false;
        }
        if (by < *io_span || __builtin_mul_overflow(by, extent - 1, &way) ||
            __builtin_add_overflow(*io_span, way, io_span)) {
            return false;
        }
    }
    return true;
}

bool sch_meets_in_order(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                        sch_loop_chain loops) {
    int64_t span = 0;
    const hone_expr *number = number_instances(sch, block, bindings);
    return number && rises(sch, number, loops.bottom, &span) &&
           rises(sch, number, loops.outer, &span);
}

hone_status sch_require_order(hone_schedule *sch, hone_node_id block, const hone_expr *const *then,
                              sch_loop_chain loops) {
    const hone_node *node = sch_node(sch, block);
    sch_loop_chain now = {node->parent, HONE_NO_ID};
    if (sch_has_disjoint_writes(sch, block)) return HONE_OK;
    if (sch_meets_in_order(sch, block, node->u.block.bindings, now) &&
        sch_meets_in_order(sch, block, then, loops)) {
        return HONE_OK;
    }
    return sch_refuse(sch, block,
                      "instances of %s may write the same element, and would change their order",
                      sch_block_name(sch, block));
}

hone_iter *sch_iters_of_loops(hone_schedule *sch, uint32_t count, const hone_node_id *loops) {
    hone_iter *iters = hone_arena_alloc(sch->arena, (count + 1) * sizeof *iters);
    for (uint32_t i = 0; iters && i < count; i++) {
        const hone_node *loop = sch_node(sch, loops[i]);
        iters[i] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
    }
    return iters;
}

hone_iter *sch_whole_axes(hone_schedule *sch, const hone_block *b) {
    hone_iter *iters = hone_arena_alloc(sch->arena, (b->axis_count + 1) * sizeof *iters);
    for (uint32_t a = 0; iters && a < b->axis_count; a++)
        iters[a] = (hone_iter){b->axes[a].var, b->axes[a].dom};
    return iters;
}

hone_status sch_values_now(hone_schedule *sch, hone_node_id block, const hone_axis *axis,
                           const bool *marks, hone_interval *out) {
    const hone_expr *value = sch_var(sch, axis->var);
    if (!value) return sch_ir_error(sch);
    return hone_values_relax(&sch->arith, sch->func, block, 1, &value, &axis->dom.extent, marks,
                             sch->func->var_count, out, NULL);
}

hone_status sch_axes_box(hone_schedule *sch, hone_node_id id, hone_iter **out, bool *out_is_exact) {
    const hone_block *block = sch_block(sch, id);
    size_t count = block->axis_count + 1;
    const hone_expr **axes = hone_arena_alloc(sch->arena, count * sizeof *axes);
    const hone_expr **ends = hone_arena_alloc(sch->arena, count * sizeof *ends);
    hone_interval *spans = hone_arena_zalloc(sch->arena, count * sizeof *spans);
    hone_iter *iters = sch_whole_axes(sch, block);
    bool *marks = NULL;
    if (!axes || !ends || !spans || !iters) return sch_no_memory();
    HONE_TRY(sch_mark_loops(sch, id, sch_scope_of(sch, id), &marks));
    for (uint32_t a = 0; a < block->axis_count; a++) {
        axes[a] = sch_var(sch, block->axes[a].var);
        ends[a] = hone_expr_add(&sch->ir, block->axes[a].dom.min, block->axes[a].dom.extent);
        if (!axes[a] || !ends[a]) return sch_ir_error(sch);
    }
    HONE_TRY(hone_values_relax(&sch->arith, sch->func, id, block->axis_count, axes, ends, marks,
                               sch->func->var_count, spans, out_is_exact));
    for (uint32_t a = 0; a < block->axis_count; a++) {
        const hone_expr *one = hone_expr_int(&sch->ir, spans[a].max->dtype, 1);
        const hone_expr *length = hone_expr_sub(&sch->ir, spans[a].max, spans[a].min);
        length = hone_simplify(&sch->arith, hone_expr_add(&sch->ir, length, one));
        hone_dtype dtype = block->axes[a].dom.extent->dtype;
        iters[a].range.min = hone_expr_cast(&sch->ir, dtype, spans[a].min);
        iters[a].range.extent = hone_expr_cast(&sch->ir, dtype, length);
    }
    *out = iters;
    return sch_ir_error(sch);
}
