/* lower/dot/lower_widen.c - the pass that packs bytes for dot products as 16-bit numbers.
 * needs: nothing. keeps: what is computed. Copies of bytes that are laid out in pairs, for sums of
 * two products, hold 16-bit numbers instead: bytes are then widened once, where they are packed,
 * and not beside every product.
 *
 *   P: int8 (…, 2)                                P: int16 (…, 2)
 *   P[…, k % 2] = W[k, j]                    ⇒    P[…, k % 2] = int16(W[k, j])
 *   C[j] = C[j] + int32(X[k]) * int32(P[…])       C[j] = C[j] + int32(X[k]) * int32(P[…])
 *
 * and so does the other side, where it is a copy, too. All that is read of such a buffer must be
 * factors of int32 products, which may be less a zero point. */
#include "lower/dot/widen_copies.h"

#include "lower/dot/own_buffers.h"
#include "lower/ground/passes.h"

typedef struct widening {
    const hone_func *func;
    bool *is_copy;   /* by buffer: allocated here, bytes, read as factors only */
    bool *is_factor; /* by buffer: read as a factor */
    hone_ir ir;
} widening;

static bool is_byte(hone_dtype dtype) {
    return hone_dtype_is_integer(dtype) && !hone_dtype_is_bool(dtype) && dtype.bits == 8 &&
           dtype.lanes == 1;
}

static bool is_in_pairs(const widening *w, hone_buffer b) {
    const hone_buffer_info *info = &w->func->buffers[b];
    return w->is_copy[b] && info->rank > 1 && hone_expr_const(info->shape[info->rank - 1]) == 2;
}

/* ---- which ---- */

/* The load of a factor. *out_point: what is added to it or taken away, or NULL. */
static const hone_expr *factor_of(const hone_expr *e, const hone_expr **out_point) {
    bool has_point = hone_expr_is_op(e, HONE_OP_SUB) || hone_expr_is_op(e, HONE_OP_ADD);
    *out_point = has_point ? e->args[1] : NULL;
    if (has_point) e = e->args[0];
    bool is_factor = e->kind == HONE_EXPR_CAST && hone_dtype_equal(e->dtype, HONE_DTYPE_I32) &&
                     e->args[0]->kind == HONE_EXPR_LOAD;
    return is_factor ? e->args[0] : NULL;
}

static bool visit(void *ctx, const hone_expr *e);

static void visit_indices(widening *w, const hone_expr *load) {
    for (uint32_t d = 0; d < load->count; d++)
        hone_expr_walk(load->args[d], visit, w);
}

static bool visit(void *ctx, const hone_expr *e) {
    widening *w = ctx;
    const hone_expr *a = NULL, *b = NULL, *points[2];
    if (hone_expr_is_op(e, HONE_OP_MUL)) {
        a = factor_of(e->args[0], &points[0]);
        b = factor_of(e->args[1], &points[1]);
    }
    if (a && b) {
        if (!is_in_pairs(w, a->u.buffer) && !is_in_pairs(w, b->u.buffer)) {
            w->is_copy[a->u.buffer] = w->is_copy[b->u.buffer] = false;
        }
        w->is_factor[a->u.buffer] = w->is_factor[b->u.buffer] = true;
        visit_indices(w, a);
        visit_indices(w, b);
        for (int side = 0; side < 2; side++)
            if (points[side]) hone_expr_walk(points[side], visit, w);
        return false;
    }
    if (e->kind == HONE_EXPR_LOAD) w->is_copy[e->u.buffer] = false;
    return true;
}

static uint32_t find_copies(widening *w) {
    uint32_t before, count = w->func->buffer_count + 1;
    lower_find_own_buffers(w->func, w->is_copy);
    for (hone_buffer b = 0; b < w->func->buffer_count; b++)
        w->is_copy[b] &= is_byte(w->func->buffers[b].dtype);
    do { /* a buffer that drops out may take another one with it */
        before = count;
        hone_tree_walk_parts(w->func, 0, false, visit, w);
        count = 0;
        for (hone_buffer b = 0; b < w->func->buffer_count; b++)
            count += w->is_copy[b] &= w->is_factor[b];
    } while (count > 0 && count < before);
    return count;
}

/* ---- widening ---- */

static const hone_expr *reload(void *ctx, hone_ir *ir, const hone_expr *e) {
    const widening *w = ctx;
    if (e->kind != HONE_EXPR_LOAD || !w->is_copy[e->u.buffer]) return e;
    return hone_func_load(ir, w->func, e->u.buffer, e->args);
}

static hone_status store_wide(hone_func *func, widening *w) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || !w->is_copy[node->u.store.buffer]) continue;
        node->u.store.value = hone_expr_cast(&w->ir, HONE_DTYPE_I16, node->u.store.value);
    }
    return hone_ir_finish(&w->ir);
}

hone_status hone_widen_pairs(hone_func *func) {
    widening w = {.func = func, .ir = {.arena = func->arena}};
    w.is_copy = hone_arena_zalloc(func->arena, func->buffer_count + 1);
    w.is_factor = hone_arena_zalloc(func->arena, func->buffer_count + 1);
    if (!w.is_copy || !w.is_factor) return LOWER_NO_MEMORY();
    if (find_copies(&w) == 0) return HONE_OK;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (w.is_copy[b]) func->buffers[b].dtype = HONE_DTYPE_I16;
    }
    HONE_TRY(hone_tree_transform(func, 0, reload, &w, false));
    return store_wide(func, &w);
}

hone_status lower_widen(hone_lower *lower) {
    return hone_widen_pairs(lower->func);
}
