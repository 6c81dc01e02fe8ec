/* schedule/primitive/move/inline_size.c - how large expressions become when a value is put in where
 * it is read. Each load gets a copy, so the links of a chain like `c = c * f(c)` double it: 40 of
 * them would fill any memory. Long before that nobody gains from the copies. */
#include "schedule/primitive/move/inlining.h"

enum { MAX_INLINED_NODES = 1 << 16 };

typedef struct node_count {
    hone_buffer buffer;
    uint64_t nodes, vars, loads;
    uint64_t index_nodes; /* of the load whose indices are largest */
} node_count;

static bool count_node(void *ctx, const hone_expr *e) {
    uint64_t *nodes = ctx;
    (void)e;
    return ++*nodes <= MAX_INLINED_NODES;
}

static uint64_t count_nodes(const hone_expr *e) {
    uint64_t nodes = 0;
    hone_expr_walk(e, count_node, &nodes);
    return nodes;
}

static bool look_at_node(void *ctx, const hone_expr *e) {
    node_count *c = ctx;
    c->nodes++;
    c->vars += e->kind == HONE_EXPR_VAR;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == c->buffer) {
        uint64_t index_nodes = count_nodes(e) - 1;
        c->loads++;
        if (index_nodes > c->index_nodes) c->index_nodes = index_nodes;
    }
    return c->nodes <= MAX_INLINED_NODES;
}

static node_count look_at_expr(const hone_expr *e, hone_buffer buffer) {
    node_count c = {.buffer = buffer};
    hone_expr_walk(e, look_at_node, &c);
    return c;
}

typedef struct growth {
    node_count value; /* what is put in */
    uint64_t loads, largest;
} growth;

/* Indices of a load take the place of the axes in the value. */
static void add_reader(void *ctx, hone_node_id at, const hone_expr *e) {
    growth *g = ctx;
    node_count c = look_at_expr(e, g->value.buffer);
    uint64_t copy = g->value.nodes + g->value.vars * c.index_nodes;
    uint64_t nodes = c.nodes + c.loads * copy;
    (void)at;
    g->loads += c.loads;
    if (c.loads && nodes > g->largest) g->largest = nodes;
}

static growth measure(const hone_schedule *sch, const hone_expr *value, hone_buffer buffer,
                      hone_node_id reader) {
    growth g = {.value = look_at_expr(value, HONE_NO_ID)};
    g.value.buffer = buffer;
    hone_tree_walk_exprs(sch->func, reader, false, add_reader, &g);
    return g;
}

uint64_t sch_inlined_copies(const hone_schedule *sch, const hone_expr *value, hone_buffer buffer,
                            hone_node_id reader, uint64_t *out_nodes) {
    growth g = measure(sch, value, buffer, reader);
    *out_nodes = g.value.nodes;
    return g.loads;
}

hone_status sch_require_small_inline(hone_schedule *sch, hone_node_id blame, const hone_expr *value,
                                     hone_buffer buffer, hone_node_id reader) {
    growth g = measure(sch, value, buffer, reader);
    if (g.largest <= MAX_INLINED_NODES) return HONE_OK;
    return sch_refuse(
        sch, blame,
        "%s is read %llu times by %s: with a copy for each, its expressions would have "
        "more than %d terms; keep one of the stages before",
        sch_buffer_name(sch, buffer), (unsigned long long)g.loads, sch_block_name(sch, reader),
        MAX_INLINED_NODES);
}
