/* lower/threads/lower_vthread.c - the pass that makes virtual threads loops.
 * needs: no blocks; allocations where they belong. keeps: what is computed. Iterations of a loop
 * over virtual threads that touch nothing of each other's go side by side: what they do alike is
 * done once (fetching what all of them read), the rest by a loop around each statement, with as
 * many copies of the memory that they fill.
 *
 *   for v in vthread:                              for t in threadIdx.x:
 *     for t in threadIdx.x:                          for k:
 *       for k:                               ──►       S[t] = A[k, t]
 *         S[t] = A[k, t]                               for v: L[v] = L[v] + S[v]
 *         L[0] = L[0] + S[v]
 *
 * Where that is not shown, they go one after the other. */
#include <string.h>

#include "ir/region/relation.h"
#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"
#include "lower/threads/threads.h"
#include "support/data/tensor.h"

enum { MOST_VIRTUAL = 64 };

typedef struct spreading {
    lower_scope scope;
    hone_node_id loop;
    hone_var var;
    int64_t extent;
    bool *is_below;  /* by buffer: allocated below the loop */
    bool *is_copied; /* by buffer: of these, filled differently by each iteration */
    bool *depends;   /* by variable: on the loop, by bounds or names */
} spreading;

static hone_func *func_of(const spreading *s) {
    return s->scope.lower->func;
}

/* ---- what depends on the iteration ---- */

static bool is_dependence(const void *ctx, const hone_expr *e) {
    const spreading *s = ctx;
    return (e->kind == HONE_EXPR_VAR && s->depends[e->u.var]) ||
           (e->kind == HONE_EXPR_LOAD && s->is_copied[e->u.buffer]);
}

static bool depends(const spreading *s, const hone_expr *e) {
    return hone_expr_find(e, is_dependence, s) != NULL;
}

static bool depends_below(const spreading *s, hone_node_id id) {
    const hone_func *func = func_of(s);
    bool is_found = hone_tree_find_part(func, id, false, is_dependence, s);
    for (hone_node_id n = id; n != HONE_NO_ID && !is_found; n = hone_tree_next(func, id, n)) {
        const hone_node *node = hone_func_node(func, n);
        is_found = node->kind == HONE_NODE_STORE && s->is_copied[node->u.store.buffer];
    }
    return is_found;
}

/* A statement is done in dependence on the iteration: by itself, or by what is around it. */
static bool is_dependent(const spreading *s, hone_node_id store) {
    const hone_func *func = func_of(s);
    if (depends_below(s, store)) return true;
    for (hone_node_id n = hone_func_node(func, store)->parent; n != s->loop;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_IF && depends(s, node->u.eval.value)) return true;
        if (node->kind == HONE_NODE_FOR &&
            (depends(s, node->u.loop.range.min) || depends(s, node->u.loop.range.extent)))
            return true;
    }
    return false;
}

/* Grows what is copied until nothing more depends on it. False: something else than loops,
 * conditions, stores and memory of its own stands below. */
static bool find_copied(spreading *s) {
    hone_func *func = func_of(s);
    for (hone_node_id n = s->loop; n != HONE_NO_ID; n = hone_tree_next(func, s->loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        hone_node_kind kind = (hone_node_kind)node->kind;
        bool is_known = kind == HONE_NODE_FOR || kind == HONE_NODE_IF || kind == HONE_NODE_ELSE ||
                        kind == HONE_NODE_STORE || kind == HONE_NODE_ALLOC;
        if (!is_known) return false;
        if (kind == HONE_NODE_ALLOC) s->is_below[node->u.alloc.buffer] = true;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (hone_node_id n = s->loop; n != HONE_NO_ID; n = hone_tree_next(func, s->loop, n)) {
            const hone_node *node = hone_func_node(func, n);
            hone_buffer b = node->kind == HONE_NODE_STORE ? node->u.store.buffer : HONE_NO_ID;
            if (b == HONE_NO_ID || !s->is_below[b] || s->is_copied[b]) continue;
            if (!is_dependent(s, n)) continue;
            s->is_copied[b] = changed = true;
        }
    }
    return true;
}

/* ---- what iterations share ---- */

/* Each element of the buffer, which is written below, is touched in one iteration only. */
static bool is_told_apart(spreading *s, hone_buffer buffer) {
    const hone_func *func = func_of(s);
    lower_accesses all;
    hone_relation rel;
    if (hone_status_consume(lower_find_accesses(func, s->loop, buffer, &all)) || all.is_opaque)
        return false;
    hone_relation_begin(&rel, &s->scope.arith, func, buffer, hone_func_node(func, s->loop)->parent);
    for (uint32_t i = 0; i < all.count; i++)
        hone_relation_add_element(&rel, all.items[i].node, all.items[i].indices);
    return hone_carries_no_dependence(&rel, s->loop);
}

static bool may_spread(spreading *s) {
    const hone_func *func = func_of(s);
    for (hone_node_id n = s->loop; n != HONE_NO_ID; n = hone_tree_next(func, s->loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE) continue;
        hone_buffer b = node->u.store.buffer;
        if (func->buffers[b].alias_of != HONE_NO_ID) return false;
        if (s->is_below[b]) {
            lower_accesses all;
            if (func->buffers[b].strides || func->buffers[b].elem_offset ||
                func->buffers[b].rank + 1 > HONE_MAX_RANK ||
                hone_status_consume(lower_find_accesses(func, s->loop, b, &all)) || all.is_opaque)
                return false;
            continue;
        }
        if (!is_dependent(s, n) || !is_told_apart(s, b)) return false;
    }
    return true;
}

/* ---- the loops ---- */

typedef struct copying {
    const spreading *s;
    uint32_t rank; /* before */
} copying;

static const hone_expr **with_copy(void *ctx, const hone_expr *const *indices) {
    const copying *c = ctx;
    hone_ir *ir = &c->s->scope.lower->ir;
    return lower_with_first(ir, hone_func_var_expr(ir, func_of(c->s), c->s->var), c->rank, indices);
}

static hone_status copy_memory(spreading *s) {
    hone_func *func = func_of(s);
    hone_ir *ir = &s->scope.lower->ir;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (!s->is_copied[b]) continue;
        copying c = {s, func->buffers[b].rank};
        hone_dtype dtype = c.rank ? func->buffers[b].shape[0]->dtype : HONE_DTYPE_I32;
        HONE_TRY(lower_grow_buffer(s->scope.lower, b, hone_expr_int(ir, dtype, s->extent)));
        HONE_TRY(lower_map_accesses(func, s->loop, b, with_copy, &c));
    }
    return hone_ir_finish(ir);
}

/* for v: the statement */
static hone_status repeat(spreading *s, hone_node_id id) {
    hone_func *func = func_of(s);
    hone_ir *ir = &s->scope.lower->ir;
    const hone_node old = *hone_func_node(func, s->loop);
    hone_var var = hone_func_add_var(func, func->vars[s->var].name, func->vars[s->var].dtype);
    if (var == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_node_id loop = hone_func_add_loop(func, var, HONE_LOOP_UNROLLED, old.u.loop.range);
    if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
    lower_wrap(func, id, loop);
    return lower_substitute_one(func, id, s->var, hone_func_var_expr(ir, func, var));
}

static hone_status spread(spreading *s, hone_node_id parent);

static hone_status spread_node(spreading *s, hone_node_id id) {
    const hone_node *node = hone_func_node(func_of(s), id);
    bool is_common = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_ELSE;
    if (node->kind == HONE_NODE_FOR) {
        is_common = node->loop_kind != HONE_LOOP_VECTORIZED &&
                    !depends(s, node->u.loop.range.min) && !depends(s, node->u.loop.range.extent);
    }
    if (node->kind == HONE_NODE_IF) is_common = !depends(s, node->u.eval.value);
    if (is_common) return spread(s, id);
    return depends_below(s, id) ? repeat(s, id) : HONE_OK;
}

static hone_status spread(spreading *s, hone_node_id parent) {
    const hone_func *func = func_of(s);
    for (hone_node_id c = hone_func_node(func, parent)->first, next; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        HONE_TRY(spread_node(s, c));
    }
    return HONE_OK;
}

static hone_status spread_loop(hone_lower *lower, hone_node_id loop) {
    hone_func *func = lower->func;
    spreading s = {.scope.lower = lower, .loop = loop};
    const hone_range *range = &hone_func_node(func, loop)->u.loop.range;
    hone_func_node(func, loop)->loop_kind = HONE_LOOP_SERIAL;
    hone_func_node(func, loop)->u.loop.thread_tag = NULL;
    s.var = hone_func_node(func, loop)->u.loop.var;
    s.extent = hone_expr_const(range->extent);
    s.is_below = hone_arena_zalloc(func->arena, func->buffer_count + 1);
    s.is_copied = hone_arena_zalloc(func->arena, func->buffer_count + 1);
    s.depends = hone_arena_zalloc(func->arena, func->var_count + 1);
    if (!s.is_below || !s.is_copied || !s.depends) return LOWER_NO_MEMORY();
    if (!hone_expr_is_int_value(range->min, 0) || s.extent < 1 || s.extent > MOST_VIRTUAL)
        return HONE_OK;
    s.depends[s.var] = true;
    hone_arith_init(&s.scope.arith, func->arena);
    HONE_TRY(lower_enter(&s.scope, loop, HONE_NO_ID));
    if (!find_copied(&s) || !may_spread(&s)) return hone_ir_finish(&s.scope.arith.ir);
    HONE_TRY(copy_memory(&s));
    HONE_TRY(spread(&s, loop));
    lower_splice(func, loop);
    return hone_ir_finish(&lower->ir);
}

static bool is_virtual(const hone_node *node) {
    return node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD &&
           node->u.loop.thread_tag && strncmp(node->u.loop.thread_tag, "vthread", 7) == 0;
}

/* The last one first: it may stand in others. */
hone_status lower_vthread(hone_lower *lower) {
    hone_func *func = lower->func;
    for (;;) {
        hone_node_id last = HONE_NO_ID;
        for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
            if (is_virtual(hone_func_node(func, n))) last = n;
        }
        if (last == HONE_NO_ID) return hone_ir_finish(&lower->ir);
        HONE_TRY(spread_loop(lower, last));
    }
}
