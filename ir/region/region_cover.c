/* ir/region/region_cover.c - which regions contain or equal others, and what a part of an axis
 * still reaches of the outputs. */
#include "ir/core/fold.h"
#include "ir/region/region.h"

static bool covers_dim(hone_arith *arith, const hone_expr *extent_of_dim, const hone_range *outer,
                       const hone_range *inner) {
    if (hone_expr_is_int_value(outer->min, 0) &&
        hone_prove_equal(arith, outer->extent, extent_of_dim)) {
        return true; /* all that there is */
    }
    if (!hone_prove_less_equal(arith, outer->min, inner->min)) return false;
    const hone_expr *outer_end = hone_expr_add(&arith->ir, outer->min, outer->extent);
    const hone_expr *inner_end = hone_expr_add(&arith->ir, inner->min, inner->extent);
    return outer_end && inner_end && hone_prove_less_equal(arith, inner_end, outer_end);
}

bool hone_region_covers(hone_arith *arith, const hone_func *func, const hone_region *outer,
                        const hone_region *inner) {
    if (outer->buffer != inner->buffer) return false;
    const hone_buffer_info *buffer = hone_func_buffer(func, outer->buffer);
    for (uint32_t d = 0; d < buffer->rank; d++) {
        if (!covers_dim(arith, buffer->shape[d], &outer->ranges[d], &inner->ranges[d])) {
            return false;
        }
    }
    return true;
}

const hone_region *hone_region_of(uint32_t count, const hone_region *regions, hone_buffer buffer) {
    for (uint32_t i = 0; i < count; i++) {
        if (regions[i].buffer == buffer) return &regions[i];
    }
    return NULL;
}

bool hone_region_same(const hone_func *func, const hone_region *a, const hone_region *b) {
    if (a->buffer != b->buffer) return false;
    for (uint32_t d = 0; d < hone_func_buffer(func, a->buffer)->rank; d++) {
        if (!hone_expr_same(a->ranges[d].min, b->ranges[d].min)) return false;
        if (!hone_expr_same(a->ranges[d].extent, b->ranges[d].extent)) return false;
    }
    return true;
}

typedef struct moved_axis {
    int64_t shift, by;
} moved_axis;

/* Is it 0, as an axis of one value is, or a multiple of such a one? */
static bool is_still(const hone_block *block, const hone_expr *e) {
    if (hone_expr_is_op(e, HONE_OP_MUL)) {
        return is_still(block, e->args[0]) || is_still(block, e->args[1]);
    }
    for (uint32_t i = 0; e->kind == HONE_EXPR_VAR && i < block->axis_count; i++) {
        const hone_range *dom = &block->axes[i].dom;
        if (block->axes[i].var != e->u.var) continue;
        return hone_expr_is_int_value(dom->min, 0) && hone_expr_is_int_value(dom->extent, 1);
    }
    return false;
}

/* [min, min + 1) with min = axis + a constant, or that divided by a positive one. */
static bool is_moved_axis(const hone_block *block, const hone_range *range, hone_var axis,
                          moved_axis *out) {
    const hone_expr *e = range->min;
    *out = (moved_axis){0, 1};
    if (!hone_expr_is_int_value(range->extent, 1)) return false;
    if (hone_expr_is_op(e, HONE_OP_FLOORDIV) && hone_expr_const(e->args[1]) > 0) {
        out->by = e->args[1]->u.i;
        e = e->args[0];
    }
    while (hone_expr_is_op(e, HONE_OP_ADD)) {
        if (is_still(block, e->args[1]))
            e = e->args[0];
        else if (is_still(block, e->args[0]))
            e = e->args[1];
        else
            break;
    }
    if (e->kind == HONE_EXPR_BINARY && e->args[1]->kind == HONE_EXPR_INT) {
        bool is_add = hone_expr_is_op(e, HONE_OP_ADD), is_sub = hone_expr_is_op(e, HONE_OP_SUB);
        if (!is_add && !is_sub) return false;
        out->shift = is_add ? e->args[1]->u.i : -e->args[1]->u.i;
        e = e->args[0];
    }
    return e->kind == HONE_EXPR_VAR && e->u.var == axis;
}

/* The regions that the block writes: the declared ones, or, where annotate_buffer_access may have
 * declared more than is stored, those inferred anew. False when they cannot be inferred, or memory
 * is short. */
static bool find_stores(const hone_func *func, hone_node_id id, uint32_t *out_count,
                        const hone_region **out_regions) {
    const hone_block *block = hone_func_node(func, id)->u.block.block;
    hone_block found = *block;
    bool may_be_more = hone_attrs_find(&block->annotations, "explicit_write_region");
    if (may_be_more &&
        hone_status_consume(hone_block_infer_regions(func, id, func->arena, &found))) {
        return false;
    }
    *out_count = found.write_count;
    *out_regions = found.writes;
    return true;
}

/* Does every value outside of lo to hi write outside of the buffer, as a row beyond the last one
 * does, whatever the other indices make of it (v // 12, v // 4 % 3, v % 4)? */
static bool misses_buffer_outside(const hone_func *func, const hone_block *block,
                                  const hone_region *write, hone_var axis, int64_t lo, int64_t hi) {
    const hone_buffer_info *buffer = hone_func_buffer(func, write->buffer);
    for (uint32_t d = 0; d < buffer->rank; d++) {
        moved_axis at;
        int64_t size = hone_expr_const(buffer->shape[d]);
        if (size < 0 || !is_moved_axis(block, &write->ranges[d], axis, &at)) continue;
        if (hone_floor_div(lo - 1 + at.shift, at.by) < 0 &&
            hone_floor_div(hi + 1 + at.shift, at.by) >= size)
            return true;
    }
    return false;
}

bool hone_axis_reaches_all_outputs(const hone_func *func, hone_node_id id, const hone_axis *axis,
                                   int64_t lo, int64_t hi) {
    const hone_node *node = hone_func_node(func, id);
    const hone_block *block = node->u.block.block;
    bool moves_one = false;
    uint32_t write_count;
    const hone_region *writes;
    if (axis->kind != HONE_AXIS_SPATIAL || !node->u.block.predicate) return false;
    if (!find_stores(func, id, &write_count, &writes)) return false;
    for (uint32_t i = 0; i < write_count; i++) {
        const hone_region *write = &writes[i];
        const hone_buffer_info *buffer = hone_func_buffer(func, write->buffer);
        if (!hone_func_is_parameter(func, write->buffer)) continue;
        if (misses_buffer_outside(func, block, write, axis->var, lo, hi)) {
            moves_one = true;
            continue;
        }
        for (uint32_t d = 0; d < buffer->rank; d++) {
            const hone_range *range = &write->ranges[d];
            if (!hone_expr_uses_var(range->min, axis->var) &&
                !hone_expr_uses_var(range->extent, axis->var)) {
                continue;
            }
            moved_axis at;
            int64_t size = hone_expr_const(buffer->shape[d]);
            if (size < 0 || !is_moved_axis(block, range, axis->var, &at)) return false;
            if (hone_floor_div(lo + at.shift, at.by) > 0) return false;
            if (hone_floor_div(hi + at.shift, at.by) < size - 1) return false;
            moves_one = true;
        }
    }
    return moves_one;
}
