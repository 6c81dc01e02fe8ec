/* lower/loops/tail_nest.c - see tail_nest.h. */
#include "lower/loops/tail_nest.h"

const hone_node *lower_nest_loop(const hone_func *func, const lower_nest *n, uint32_t i) {
    return hone_func_node(func, n->loops[i]);
}

bool lower_read_nest(const hone_func *func, hone_node_id root, lower_nest *out) {
    hone_node_id at = root;
    *out = (lower_nest){.root = root};
    for (; at != HONE_NO_ID && hone_func_node(func, at)->kind == HONE_NODE_FOR;
         at = lower_only_child(func, at)) {
        if (out->count == LOWER_NEST_MAX_LOOPS) return false;
        out->loops[out->count++] = at;
    }
    if (at == HONE_NO_ID || hone_func_node(func, at)->kind != HONE_NODE_IF) return false;
    out->branch = at;
    out->store = lower_only_child(func, at);
    return out->store != HONE_NO_ID && hone_func_node(func, out->store)->kind == HONE_NODE_STORE;
}

bool lower_uses_others(const hone_func *func, const lower_nest *n, const hone_expr *e,
                       uint32_t but) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (i != but && hone_expr_uses_var(e, lower_nest_loop(func, n, i)->u.loop.var)) return true;
    }
    return false;
}

/* A dimension of what is stored that each iteration has another place of. */
static int32_t dimension_of(hone_arith *arith, const hone_func *func, const lower_nest *n,
                            uint32_t loop) {
    const hone_node *store = hone_func_node(func, n->store);
    for (uint32_t d = 0; d < store->u.store.rank; d++) {
        const hone_expr *e = store->u.store.indices[d];
        int64_t step = 0;
        if (hone_linear_coeff(arith, e, lower_nest_loop(func, n, loop)->u.loop.var, &step) &&
            step != 0 && !lower_uses_others(func, n, e, loop))
            return (int32_t)d;
    }
    return -1;
}

typedef struct own_place {
    const hone_node *store;
    uint32_t dimension;
    bool is_own;
} own_place;

static bool look_at_load(void *ctx, const hone_expr *e) {
    own_place *o = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != o->store->u.store.buffer) return true;
    o->is_own &= e->count == o->store->u.store.rank &&
                 hone_expr_same(e->args[o->dimension], o->store->u.store.indices[o->dimension]);
    return true;
}

bool lower_are_apart(hone_arith *arith, const hone_func *func, const lower_nest *n, uint32_t loop) {
    int32_t dimension = dimension_of(arith, func, n, loop);
    if (dimension < 0) return false;
    own_place o = {hone_func_node(func, n->store), (uint32_t)dimension, true};
    hone_tree_walk_parts(func, n->root, false, look_at_load, &o);
    return o.is_own;
}
