/* lower/vectors/lower_neighbours.c - the pass that vectorizes loops which a schedule left serial.
 * needs: no blocks. keeps: what is computed. In a program whose loops a schedule shaped, innermost
 * serial loops that take one element after the other become vectorized: the copy out of a cache,
 * the epilogue of a tile that nobody spoke of. (Elsewhere LLVM does that.)
 *
 *   for j in 32: C[i, j0 * 32 + j] = C_local[i, j]     ⇒     for j in vectorized(32): …
 *
 * One store, to the next element each time; what is read lies the same way or stays where it is,
 * and of the buffer that is written it is the very element: no iteration sees another. */
#include "lower/ground/accesses.h"
#include "lower/vectors/lane_nest.h"

enum { LEAST_EXTENT = 8 };

typedef struct neighbours {
    hone_lower *lower;
    hone_arith arith;
    const hone_node *store;
    hone_var var;
    bool fits;
} neighbours;

/* How far an access moves from one iteration to the next: 0 or 1; -1 is anything else. */
static int64_t step_of(neighbours *s, hone_buffer buffer, uint32_t count,
                       const hone_expr *const *indices) {
    int64_t step = 0;
    if (s->lower->func->buffers[buffer].strides || count == 0) return -1;
    for (uint32_t d = 0; d < count; d++) {
        if (!hone_expr_uses_var(indices[d], s->var)) continue;
        if (d + 1 < count || !hone_linear_coeff(&s->arith, indices[d], s->var, &step)) return -1;
    }
    return step == 0 || step == 1 ? step : -1;
}

static bool fits_load(neighbours *s, const hone_expr *load) {
    if (lower_sees_store(s->lower->func, s->store, load))
        return lower_is_stored_element(s->store, load);
    return step_of(s, load->u.buffer, load->count, load->args) >= 0;
}

static bool look_at(void *ctx, const hone_expr *e) {
    neighbours *s = ctx;
    bool is_load = e->kind == HONE_EXPR_LOAD, is_call = e->kind == HONE_EXPR_CALL;
    s->fits = s->fits && lower_is_lane_part(e) && (!is_load || fits_load(s, e)) &&
              (!is_call || hone_intrin_is_math((hone_intrin)e->op));
    return s->fits;
}

/* The only statement below the loop, under conditions on indices. */
static const hone_node *only_store(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; (n = lower_only_child(func, n)) != HONE_NO_ID;) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE) return node;
        if (node->kind != HONE_NODE_IF || !hone_expr_is_pure_index(node->u.eval.value)) break;
    }
    return NULL;
}

static bool is_candidate(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_SERIAL) return false;
    if (node->u.loop.annotations.count || !hone_expr_is_int_value(node->u.loop.range.min, 0) ||
        hone_expr_const(node->u.loop.range.extent) < LEAST_EXTENT) {
        return false;
    }
    for (hone_node_id up = node->parent; up != HONE_NO_ID; up = hone_func_node(func, up)->parent) {
        const hone_node *around = hone_func_node(func, up);
        if (around->kind == HONE_NODE_FOR && around->loop_kind != HONE_LOOP_SERIAL &&
            around->loop_kind != HONE_LOOP_PARALLEL && around->loop_kind != HONE_LOOP_UNROLLED) {
            return false;
        }
    }
    return true;
}

static bool fits(neighbours *s, hone_node_id loop) {
    const hone_func *func = s->lower->func;
    s->store = only_store(func, loop);
    if (!s->store) return false;
    s->var = hone_func_node(func, loop)->u.loop.var;
    s->fits = step_of(s, s->store->u.store.buffer, s->store->u.store.rank,
                      s->store->u.store.indices) == 1;
    for (uint32_t d = 0; d < s->store->u.store.rank; d++)
        hone_expr_walk(s->store->u.store.indices[d], look_at, s);
    hone_expr_walk(s->store->u.store.value, look_at, s);
    return s->fits;
}

hone_status lower_neighbours(hone_lower *lower) {
    hone_func *func = lower->func;
    if (!hone_attrs_find(&func->attrs, "hone.scheduled")) return HONE_OK;
    neighbours s = {.lower = lower};
    hone_arith_init(&s.arith, func->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (!is_candidate(func, n) || !fits(&s, n)) continue;
        hone_func_node(func, n)->loop_kind = HONE_LOOP_VECTORIZED;
    }
    return hone_ir_finish(&s.arith.ir);
}
