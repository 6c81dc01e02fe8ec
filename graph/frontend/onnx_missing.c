/* graph/frontend/onnx_missing.c - which operators of a model are not implemented: all of them, in
 * its graph, in graphs inside of nodes and in the functions that are called, so that nobody finds
 * them one by one. */
#include <stdio.h>
#include <string.h>

#include "graph/frontend/onnx_impl.h"
#include "support/core/alloc.h"

enum { MOST_NAMED = 100 };

/* Of onnxruntime's operators on channels in blocks. How many are in a block no file says: it is
 * what the processor had that wrote it. */
#define BLOCKED "com.microsoft.nchwc"
#define BLOCKED_HINT                                                                               \
    "; " BLOCKED " is onnxruntime's layout for the processor that wrote the file: write it with "  \
    "ORT_ENABLE_EXTENDED, or give the model before it was optimised"

typedef struct search {
    const Onnx__ModelProto *model;
    const Onnx__NodeProto *first; /* that is missing */
    hone_str list;
    hone_strmap seen, entered; /* operators; functions by their places */
    bool is_blocked;           /* operators on blocks of channels are among them */
} search;

/* The operator sets that hold where a node stands. */
typedef struct opsets {
    size_t count;
    Onnx__OperatorSetIdProto *const *items;
} opsets;

static int64_t version_of(const opsets *sets, const char *domain) {
    for (size_t i = 0; i < sets->count; i++) {
        const char *have = sets->items[i]->domain;
        bool is_it = onnx_is_plain_domain(domain) ? onnx_is_plain_domain(have)
                                                  : have && strcmp(have, domain) == 0;
        if (is_it) return sets->items[i]->version;
    }
    return 0;
}

/* "SequenceAt (node 'at', opset 17)", once for each operator. */
static void note_missing(search *s, const Onnx__NodeProto *node, const opsets *sets) {
    char name[160];
    bool is_plain = onnx_is_plain_domain(node->domain);
    snprintf(name, sizeof name, "%.60s%s%.90s", is_plain ? "" : node->domain, is_plain ? "" : ".",
             node->op_type ? node->op_type : "?");
    if (!s->first) s->first = node;
    if (node->domain && strcmp(node->domain, BLOCKED) == 0) s->is_blocked = true;
    if (hone_strmap_find(&s->seen, name, NULL) || hone_strmap_count(&s->seen) >= MOST_NAMED) return;
    if (!hone_strmap_put(&s->seen, name, 1)) return;
    int64_t version = version_of(sets, node->domain);
    hone_str_printf(&s->list, "%s%s (node '%.100s'", s->list.length ? ", " : "", name,
                    onnx_node_name(node));
    if (version > 0) hone_str_printf(&s->list, ", opset %lld", (long long)version);
    hone_str_append(&s->list, ")");
}

static void look_through(search *s, size_t count, Onnx__NodeProto *const *nodes,
                         const opsets *sets);

static void enter_function(search *s, const Onnx__FunctionProto *function) {
    char key[32];
    snprintf(key, sizeof key, "%p", (const void *)function);
    if (hone_strmap_find(&s->entered, key, NULL) || !hone_strmap_put(&s->entered, key, 1)) return;
    opsets own = {function->n_opset_import, function->opset_import};
    look_through(s, function->n_node, function->node, &own);
}

static void look_into(search *s, const Onnx__AttributeProto *attr, const opsets *sets) {
    if (attr->g) look_through(s, attr->g->n_node, attr->g->node, sets);
    for (size_t i = 0; i < attr->n_graphs; i++)
        look_through(s, attr->graphs[i]->n_node, attr->graphs[i]->node, sets);
}

/* Nesting is within limits: onnx_check_nesting. Functions are entered once. */
static void look_through(search *s, size_t count, Onnx__NodeProto *const *nodes,
                         const opsets *sets) {
    for (size_t i = 0; i < count; i++) {
        const Onnx__FunctionProto *function = onnx_find_function(s->model, nodes[i]);
        if (function)
            enter_function(s, function);
        else if (!onnx_find_converter(nodes[i]))
            note_missing(s, nodes[i], sets);
        for (size_t k = 0; k < nodes[i]->n_attribute; k++)
            look_into(s, nodes[i]->attribute[k], sets);
    }
}

hone_status onnx_check_operators(const Onnx__ModelProto *model) {
    search s = {.model = model};
    opsets sets = {model->n_opset_import, model->opset_import};
    look_through(&s, model->graph->n_node, model->graph->node, &sets);
    hone_status st = HONE_OK;
    if (s.first) {
        st = HONE_ERROR(HONE_CODE_UNSUPPORTED,
                        "the operator is not implemented, docs/operators.md lists what is; missing "
                        "for this model: %s%s",
                        hone_str_text(&s.list), s.is_blocked ? BLOCKED_HINT : "");
        st = onnx_at_node(s.first, st);
    }
    hone_str_deinit(&s.list);
    hone_strmap_deinit(&s.seen);
    hone_strmap_deinit(&s.entered);
    return st;
}
