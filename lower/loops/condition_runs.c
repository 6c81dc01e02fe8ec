/* lower/loops/condition_runs.c - which statements of a loop's body the conditions stand in.
 *
 *   for y in 2:                                         SOME: the pad loops alone have conditions,
 *       alloc P                                         so the products need no copies
 *           for c, h, w: P[..] = X[..] if 0 < y + h else 0
 *           for f, h, w, c: Y[..] = Y[..] + P[..] * W[..]
 *
 * INNER when such statements and others meet inside of further loops: a choice there is asked
 * often, and copies multiply with the loops. ALL where nothing of weight would be left out, and
 * where sums are cut in two otherwise: conditions stand in the sums, or read what is in registers.
 */
#include "lower/loops/partitioning.h"

typedef struct gatherer {
    const lower_conditions *c;
    const hone_func *func;
    hone_node_id loop;
    lower_runs *runs;
    int64_t register_bytes; /* what fits in all of the registers */
    bool has_others;        /* loops without conditions */
    bool needs_all;
} gatherer;

static bool is_condition(const void *ctx, const hone_expr *e) {
    const lower_conditions *c = ctx;
    bool is_it = false;
    for (uint32_t i = 0; hone_dtype_is_bool(e->dtype) && i < c->count && !is_it; i++)
        is_it = hone_expr_same(c->conditions[i], e);
    return is_it;
}

static bool has_condition(const gatherer *g, hone_node_id id) {
    return hone_tree_find_part(g->func, id, false, is_condition, g->c) != NULL;
}

typedef struct loaded {
    const hone_func *func;
    hone_buffer storage;
} loaded;

static bool is_loaded(const void *ctx, const hone_expr *e) {
    const loaded *l = ctx;
    return e->kind == HONE_EXPR_LOAD && hone_func_storage(l->func, e->u.buffer) == l->storage;
}

static bool has_load(const gatherer *g, hone_node_id id, hone_buffer buffer) {
    const loaded l = {g->func, hone_func_storage(g->func, buffer)};
    return hone_tree_find_part(g->func, id, false, is_loaded, &l) != NULL;
}

static bool has_sum(const gatherer *g, hone_node_id id) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_tree_next(g->func, id, n)) {
        const hone_node *node = hone_func_node(g->func, n);
        if (node->kind == HONE_NODE_STORE && has_load(g, n, node->u.store.buffer)) return true;
    }
    return false;
}

/* Whether a statement loads what an allocation between it and the loop may keep in registers. */
static bool loads_registers(const gatherer *g, hone_node_id id) {
    for (hone_node_id up = id; up != g->loop; up = hone_func_node(g->func, up)->parent) {
        const hone_node *node = hone_func_node(g->func, up);
        if (node->kind != HONE_NODE_ALLOC) continue;
        const hone_buffer_info *buffer = &g->func->buffers[node->u.alloc.buffer];
        int64_t elements = hone_buffer_elements(buffer);
        int64_t most = g->register_bytes / (int64_t)hone_dtype_bytes(buffer->dtype);
        if (elements < 0 || elements > most) continue;
        if (has_load(g, id, node->u.alloc.buffer)) return true;
    }
    return false;
}

static bool is_container(const hone_node *node) {
    return node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_ATTR;
}

/* Looks at what stands below a node: at loops without conditions, and at statements that have one.
 */
static void look_below(gatherer *g, hone_node_id parent) {
    const hone_func *func = g->func;
    for (hone_node_id n = hone_func_node(func, parent)->first; n != HONE_NO_ID && !g->needs_all;
         n = hone_func_node(func, n)->next) {
        const hone_node *node = hone_func_node(func, n);
        if (!has_condition(g, n))
            g->has_others |= hone_tree_first_of(func, n, HONE_NODE_FOR) != HONE_NO_ID;
        else if (is_container(node) || node->kind == HONE_NODE_FOR)
            look_below(g, n);
        else
            g->needs_all = has_sum(g, n) || loads_registers(g, n);
    }
}

static void add(gatherer *g, hone_node_id id) {
    lower_runs *runs = g->runs;
    hone_node_id before = hone_func_node(g->func, id)->prev;
    bool goes_on = runs->count > 0 && runs->items[runs->count - 1].last == before;
    if (!goes_on) {
        if (runs->count == LOWER_MAX_RUNS) {
            g->needs_all = true;
            return;
        }
        runs->items[runs->count++].first = id;
    }
    runs->items[runs->count - 1].last = id;
}

static void gather(gatherer *g, hone_node_id parent) {
    const hone_func *func = g->func;
    LOWER_EACH_CHILD (func, parent, n) {
        if (!has_condition(g, n)) continue;
        if (is_container(hone_func_node(func, n))) {
            gather(g, n);
            continue;
        }
        g->has_others = false;
        look_below(g, n);
        if (g->has_others) g->runs->kind = LOWER_RUNS_INNER;
        add(g, n);
    }
}

void lower_find_runs(const lower_conditions *c, hone_node_id loop, lower_runs *out) {
    const hone_target *target = c->scope.lower->options->target;
    gatherer g = {.c = c, .func = c->scope.lower->func, .loop = loop, .runs = out};
    g.register_bytes = (int64_t)hone_target_vector_registers(target) * target->vector_bits / 8;
    out->count = 0;
    out->kind = LOWER_RUNS_SOME;
    look_below(&g, loop);
    bool has_others = g.has_others;
    if (has_others && !g.needs_all) gather(&g, loop);
    if (!has_others || g.needs_all) out->kind = LOWER_RUNS_ALL;
}
