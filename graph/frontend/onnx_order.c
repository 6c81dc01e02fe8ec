/* graph/frontend/onnx_order.c - nodes in the order of what they use, where a file has them in
 * another one: onnxruntime takes such files, and tools that change models for it write them. What
 * cannot be ordered, as it uses itself, stays as it is, and is refused where it is read. */
#include <string.h>

#include "graph/frontend/onnx_impl.h"
#include "ir/core/grow.h"

typedef struct ordering {
    hone_arena *arena;
    size_t count;
    Onnx__NodeProto **nodes;
    hone_strmap makers; /* name → index of the node that makes it */
    bool is_needed;     /* some node stands before one that it uses */
    uint32_t *first;    /* by node: of its uses; NULL: they are not kept */
    uint32_t *uses;     /* indices of nodes */
    uint32_t use_count, use_capacity;
} ordering;

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

/* ---- what a node uses ---- */

static bool makes(const Onnx__NodeProto *node, const char *name) {
    for (size_t i = 0; i < node->n_output; i++)
        if (strcmp(node->output[i], name) == 0) return true;
    return false;
}

static bool defines(const Onnx__GraphProto *graph, const char *name) {
    for (size_t i = 0; i < graph->n_input; i++)
        if (graph->input[i]->name && strcmp(graph->input[i]->name, name) == 0) return true;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const char *own = graph->initializer[i]->name;
        if (own && strcmp(own, name) == 0) return true;
    }
    for (size_t i = 0; i < graph->n_node; i++)
        if (makes(graph->node[i], name)) return true;
    return false;
}

/* A graph of a node, and those around it that are of the same one. */
typedef struct inner {
    const Onnx__GraphProto *graph;
    const struct inner *around;
} inner;

static bool is_own(const inner *inside, const char *name) {
    for (; inside; inside = inside->around)
        if (defines(inside->graph, name)) return true;
    return false;
}

/* inside: the graph of node i that the name stands in, or NULL. Looking through graphs is left out
 * where it cannot tell whether nodes stand in order. */
static hone_status note_use(ordering *o, size_t i, const char *name, const inner *inside) {
    uint64_t maker;
    if (!name || !name[0] || !hone_strmap_find(&o->makers, name, &maker)) return HONE_OK;
    bool is_late = maker >= i;
    if ((is_late || o->first) && is_own(inside, name)) return HONE_OK;
    o->is_needed |= is_late;
    if (!o->first) return HONE_OK;
    if (!hone_grow(o->arena, (void **)&o->uses, &o->use_capacity, o->use_count, sizeof *o->uses))
        return no_memory();
    o->uses[o->use_count++] = (uint32_t)maker;
    return HONE_OK;
}

/* Nesting is within limits: onnx_check_nesting. */
static hone_status note_uses(ordering *o, size_t i, const Onnx__NodeProto *node,
                             const inner *inside) {
    for (size_t k = 0; k < node->n_input; k++)
        HONE_TRY(note_use(o, i, node->input[k], inside));
    for (size_t k = 0; k < node->n_attribute; k++) {
        const Onnx__GraphProto *graph = node->attribute[k]->g;
        const inner own = {graph, inside};
        for (size_t n = 0; graph && n < graph->n_node; n++)
            HONE_TRY(note_uses(o, i, graph->node[n], &own));
        for (size_t n = 0; graph && n < graph->n_output; n++)
            HONE_TRY(note_use(o, i, graph->output[n]->name, &own));
    }
    return HONE_OK;
}

static hone_status note_makers(ordering *o) {
    for (size_t i = 0; i < o->count; i++) {
        for (size_t k = 0; k < o->nodes[i]->n_output; k++) {
            const char *name = o->nodes[i]->output[k];
            if (!name[0] || hone_strmap_find(&o->makers, name, NULL)) continue;
            if (!hone_strmap_put(&o->makers, name, i)) return no_memory();
        }
    }
    return HONE_OK;
}

static hone_status note_all(ordering *o) {
    for (size_t i = 0; i < o->count; i++) {
        if (o->first) o->first[i] = o->use_count;
        HONE_TRY(note_uses(o, i, o->nodes[i], NULL));
    }
    if (o->first) o->first[o->count] = o->use_count;
    return HONE_OK;
}

/* ---- the order ---- */

enum { UNSEEN, OPEN, DONE };

typedef struct visit {
    uint8_t *states;
    uint32_t *next;  /* by node: its use that is looked at then */
    uint32_t *stack; /* nodes that are open */
    Onnx__NodeProto **ordered;
    size_t count;
} visit;

static void open_node(const ordering *o, visit *v, uint32_t node, uint32_t *io_depth) {
    v->states[node] = OPEN;
    v->next[node] = o->first[node];
    v->stack[(*io_depth)++] = node;
}

/* The node behind all that it uses; false where one uses itself. */
static bool visit_from(const ordering *o, visit *v, uint32_t begin) {
    uint32_t depth = 0;
    if (v->states[begin] == UNSEEN) open_node(o, v, begin, &depth);
    while (depth) {
        uint32_t node = v->stack[depth - 1];
        if (v->next[node] == o->first[node + 1]) {
            v->states[node] = DONE;
            v->ordered[v->count++] = o->nodes[node];
            depth--;
            continue;
        }
        uint32_t used = o->uses[v->next[node]++];
        if (v->states[used] == OPEN) return false;
        if (v->states[used] == UNSEEN) open_node(o, v, used, &depth);
    }
    return true;
}

static hone_status put_in_order(ordering *o) {
    size_t count = o->count + 1;
    visit v = {.states = hone_arena_zalloc(o->arena, count * sizeof *v.states),
               .next = hone_arena_zalloc(o->arena, count * sizeof *v.next),
               .stack = hone_arena_zalloc(o->arena, count * sizeof *v.stack),
               .ordered = hone_arena_zalloc(o->arena, count * sizeof(Onnx__NodeProto *))};
    o->first = hone_arena_zalloc(o->arena, count * sizeof *o->first);
    if (!v.states || !v.next || !v.stack || !v.ordered || !o->first) return no_memory();
    HONE_TRY(note_all(o));
    for (uint32_t i = 0; i < o->count; i++)
        if (!visit_from(o, &v, i)) return HONE_OK;
    memcpy(o->nodes, v.ordered, o->count * sizeof *o->nodes);
    return HONE_OK;
}

static hone_status order_list(hone_arena *arena, size_t count, Onnx__NodeProto **nodes) {
    ordering o = {.arena = arena, .count = count, .nodes = nodes};
    hone_status st = note_makers(&o);
    if (!st) st = note_all(&o);
    if (!st && o.is_needed) st = put_in_order(&o);
    hone_strmap_deinit(&o.makers);
    HONE_TRY(st);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < nodes[i]->n_attribute; k++) {
            Onnx__GraphProto *graph = nodes[i]->attribute[k]->g;
            if (graph) HONE_TRY(order_list(arena, graph->n_node, graph->node));
        }
    }
    return HONE_OK;
}

hone_status onnx_order_nodes(hone_arena *arena, Onnx__ModelProto *model) {
    for (size_t i = 0; i < model->n_functions; i++)
        HONE_TRY(order_list(arena, model->functions[i]->n_node, model->functions[i]->node));
    return order_list(arena, model->graph->n_node, model->graph->node);
}
