/* lower/dot/lower_widen_floats.c - the pass that keeps copies of short floats as float32.
 * needs: loops as scheduled. keeps: what is computed, since widening is exact. What is stored once
 * and widened wherever it is read, many times, is widened where it is stored:
 *
 *   P: float16 (…)                                       P: float32 (…)
 *   P[k, j] = W[k, j]                             ⇒      P[k, j] = float32(W[k, j])
 *   C[j] = C[j] + float32(X[k]) * float32(P[k, j])       C[j] = C[j] + float32(X[k]) * P[k, j]
 *
 * Pairs of numbers side by side stay, and what is read below a loop that wishes for dot products of
 * bfloat16 (pragma_bf16_dot): codegen has instructions for sums of their products. */
#include "lower/dot/widen_copies.h"

#include <math.h>

#include "lower/dot/own_buffers.h"
#include "lower/ground/passes.h"

enum { MANY_READS = 8 }; /* for each element that is stored */

typedef struct widening {
    const hone_func *func;
    bool *is_copy; /* by buffer: own, of short floats, widened by all who read it */
    double *reads; /* by buffer: how many elements are read of it */
    double *room;  /* how many it has, of all its allocations; INFINITY: not known */
    double now;    /* iterations of the statement that is looked at */
    bool is_dot;   /* it is wished to be a dot product of bfloat16 */
    double most;   /* elements of a buffer that is widened */
} widening;

static bool is_narrow(const widening *w, hone_buffer b) {
    const hone_buffer_info *info = &w->func->buffers[b];
    return hone_dtype_is_short_float(info->dtype) && info->dtype.lanes == 1 &&
           (info->rank == 0 || hone_expr_const(info->shape[info->rank - 1]) != 2);
}

/* Iterations of the loops around a node; those of unknown extents count as one. */
static double iterations(const hone_func *func, hone_node_id n) {
    double all = 1;
    while ((n = hone_func_node(func, n)->parent) != HONE_NO_ID) {
        const hone_node *node = hone_func_node(func, n);
        int64_t extent =
            node->kind == HONE_NODE_FOR ? hone_expr_const(node->u.loop.range.extent) : 1;
        if (extent > 1) all *= (double)extent;
    }
    return all;
}

static void note_room(widening *w, hone_node_id at, hone_buffer b) {
    const hone_buffer_info *info = &w->func->buffers[b];
    double elements = iterations(w->func, at);
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t extent = hone_expr_const(info->shape[d]);
        elements *= extent < 0 ? INFINITY : (double)extent;
    }
    w->room[b] += elements;
}

static void measure_rooms(widening *w) {
    const hone_func *func = w->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ALLOC) note_room(w, n, node->u.alloc.buffer);
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->alloc_count; i++)
            note_room(w, n, node->u.block.block->allocs[i]);
    }
}

static bool is_below_dot(const hone_func *func, hone_node_id n) {
    while ((n = hone_func_node(func, n)->parent) != HONE_NO_ID) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (hone_attrs_int(&node->u.loop.annotations, "pragma_bf16_dot", 0)) return true;
    }
    return false;
}

static bool visit(void *ctx, const hone_expr *e) {
    widening *w = ctx;
    const hone_expr *load = e->kind == HONE_EXPR_CAST ? e->args[0] : e;
    if (load->kind != HONE_EXPR_LOAD) return true;
    bool is_pair = w->is_dot && hone_dtype_equal(load->dtype, HONE_DTYPE_BF16);
    bool is_widened = e != load && hone_dtype_equal(e->dtype, HONE_DTYPE_F32) && !is_pair;
    w->is_copy[load->u.buffer] &= is_widened;
    w->reads[load->u.buffer] += w->now;
    for (uint32_t d = 0; d < load->count; d++)
        hone_expr_walk(load->args[d], visit, w);
    return false;
}

static void visit_statement(void *ctx, hone_node_id at, const hone_expr *e) {
    widening *w = ctx;
    w->now = iterations(w->func, at);
    w->is_dot = is_below_dot(w->func, at);
    hone_expr_walk(e, visit, w);
}

static bool is_worth_it(const widening *w, hone_buffer b) {
    double room = w->room[b];
    return room > 0 && room <= w->most && w->reads[b] >= MANY_READS * room;
}

static bool find_copies(widening *w) {
    bool is_any = false;
    lower_find_own_buffers(w->func, w->is_copy);
    for (hone_buffer b = 0; b < w->func->buffer_count; b++)
        is_any |= w->is_copy[b] &= is_narrow(w, b);
    if (!is_any) return false;
    measure_rooms(w);
    hone_tree_walk_exprs(w->func, 0, false, visit_statement, w);
    is_any = false;
    for (hone_buffer b = 0; b < w->func->buffer_count; b++)
        is_any |= w->is_copy[b] &= is_worth_it(w, b);
    return is_any;
}

/* ---- widening ---- */

static const hone_expr *reload(void *ctx, hone_ir *ir, const hone_expr *e) {
    const widening *w = ctx;
    if (e->kind == HONE_EXPR_CAST && e->args[0]->kind == HONE_EXPR_LOAD &&
        w->is_copy[e->args[0]->u.buffer]) {
        return hone_func_load(ir, w->func, e->args[0]->u.buffer, e->args[0]->args);
    }
    return e;
}

static hone_status store_wide(hone_func *func, const widening *w) {
    hone_ir ir = {.arena = func->arena};
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || !w->is_copy[node->u.store.buffer]) continue;
        node->u.store.value = hone_expr_cast(&ir, HONE_DTYPE_F32, node->u.store.value);
    }
    return hone_ir_finish(&ir);
}

hone_status hone_widen_floats(hone_func *func, double most_bytes) {
    size_t count = func->buffer_count + 1;
    widening w = {.func = func, .most = most_bytes / (double)sizeof(float)};
    w.is_copy = hone_arena_zalloc(func->arena, count * sizeof *w.is_copy);
    w.reads = hone_arena_zalloc(func->arena, count * sizeof *w.reads);
    w.room = hone_arena_zalloc(func->arena, count * sizeof *w.room);
    if (!w.is_copy || !w.reads || !w.room) return LOWER_NO_MEMORY();
    if (!find_copies(&w)) return HONE_OK;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (w.is_copy[b]) func->buffers[b].dtype = HONE_DTYPE_F32;
    }
    HONE_TRY(hone_tree_transform(func, 0, reload, &w, false));
    return store_wide(func, &w);
}

hone_status lower_widen_floats(hone_lower *lower) {
    return hone_widen_floats(lower->func, INFINITY);
}
