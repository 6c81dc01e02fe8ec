/* graph/frontend/onnx_rest.c - an If whose branches give different numbers of dimensions: what
 * comes behind it is read for each of them, as a part of the branch.
 *
 *   y = If(c, then: a, else: b)          z = If(c, then: y = a; z = f(y)
 *   z = f(y)                       ⇒               else: y = b; z = f(y))
 *
 * Such are written for sizes that may be 1 (squeeze). Where the rest cannot follow one of the
 * branches, or the file declares a result of as many dimensions as the other one gives, that other
 * one is taken, and the condition is checked when the model runs. */
#include <string.h>

#include "graph/frontend/onnx_flow.h"

enum { MOST_DEEP = 6 }; /* such ifs behind each other: each doubles what is read */

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

/* Node `name` = Identity of `from`. */
static Onnx__NodeProto *alias_of(onnx_reader *r, char *from, char *name) {
    Onnx__NodeProto *node = hone_arena_zalloc(r->arena, sizeof *node);
    char **names = hone_arena_zalloc(r->arena, 2 * sizeof *names);
    if (!node || !names) return NULL;
    onnx__node_proto__init(node);
    names[0] = from;
    names[1] = name;
    node->op_type = hone_arena_strdup(r->arena, "Identity");
    node->n_input = node->n_output = 1;
    node->input = &names[0];
    node->output = &names[1];
    return node->op_type ? node : NULL;
}

/* The branch, what the node calls its results, and the nodes behind it. */
static hone_status with_rest(onnx_reader *r, const Onnx__NodeProto *node,
                             const Onnx__GraphProto *branch, const onnx_rest *rest,
                             const Onnx__GraphProto *goals, Onnx__GraphProto *out) {
    size_t count = 0, most = branch->n_node + node->n_output + rest->count;
    Onnx__NodeProto **nodes = hone_arena_zalloc(r->arena, (most + 1) * sizeof *nodes);
    if (!nodes) return no_memory();
    if (branch->n_node) memcpy(nodes, branch->node, branch->n_node * sizeof *nodes);
    count = branch->n_node;
    for (size_t i = 0; i < node->n_output && i < branch->n_output; i++) {
        if (!node->output[i][0]) continue;
        nodes[count] = alias_of(r, branch->output[i]->name, node->output[i]);
        if (!nodes[count++]) return no_memory();
    }
    if (rest->count) memcpy(nodes + count, rest->nodes, rest->count * sizeof *nodes);
    *out = *branch;
    out->n_node = count + rest->count;
    out->node = nodes;
    out->n_output = goals->n_output;
    out->output = goals->output;
    return HONE_OK;
}

static bool is_among(const Onnx__GraphProto *graph, const char *name) {
    for (size_t i = 0; i < graph->n_output; i++)
        if (graph->output[i]->name && strcmp(graph->output[i]->name, name) == 0) return true;
    return false;
}

/* What the graph gives that is not there yet. */
static hone_status open_goals(onnx_reader *r, const Onnx__GraphProto *graph,
                              Onnx__GraphProto *out) {
    hone_garg ignored;
    *out = *graph;
    out->n_output = 0;
    out->output = hone_arena_zalloc(r->arena, (graph->n_output + 1) * sizeof *out->output);
    if (!out->output) return no_memory();
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name;
        if (name && onnx_lookup(r, name, &ignored)) continue;
        if (name && is_among(out, name)) continue;
        out->output[out->n_output++] = graph->output[i];
    }
    return HONE_OK;
}

hone_status onnx_convert_rest(onnx_reader *r, const Onnx__NodeProto *node, const onnx_rest *rest) {
    const Onnx__GraphProto *branches[2];
    Onnx__GraphProto goals, whole[2];
    static const char *const names[] = {"then_branch", "else_branch"};
    if (r->rest_depth >= MOST_DEEP) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the condition (input 0) must be constant: more than %d ifs whose "
                          "branches differ in their numbers of dimensions",
                          MOST_DEEP);
    }
    r->node = node;
    HONE_TRY(open_goals(r, rest->graph, &goals));
    for (int i = 0; i < 2; i++) {
        HONE_TRY(onnx_attr_graph(r, names[i], &branches[i]));
        HONE_TRY(with_rest(r, node, branches[i], rest, &goals, &whole[i]));
    }
    hone_garg *results = hone_arena_zalloc(r->arena, (goals.n_output + 1) * sizeof *results);
    if (!results) return no_memory();
    r->rest_depth++;
    hone_status st = onnx_convert_branches(r, r->inputs[0], &whole[0], &whole[1], results);
    r->rest_depth--;
    HONE_TRY(st);
    for (size_t i = 0; i < goals.n_output; i++)
        HONE_TRY(onnx_define(r, goals.output[i]->name ? goals.output[i]->name : "", results[i]));
    return HONE_OK;
}
