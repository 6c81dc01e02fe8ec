/* graph/frontend/onnx_function.c - functions that a model brings along: a node that calls one is
 * read as the function's own nodes, with its inputs under the names that these have in it.
 *
 * A function sees its inputs only, and its attributes: those of the call, or their defaults. It has
 * operator sets of its own. Where it has the name of an operator that is known here, it counts.
 */
#include <string.h>

#include "graph/frontend/onnx_impl.h"

static bool is_same(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static const char *plain(const char *domain) {
    return domain && strcmp(domain, "ai.onnx") != 0 ? domain : "";
}

const Onnx__FunctionProto *onnx_find_function(const Onnx__ModelProto *model,
                                              const Onnx__NodeProto *node) {
    for (size_t i = 0; i < model->n_functions; i++) {
        const Onnx__FunctionProto *f = model->functions[i];
        if (is_same(f->name, node->op_type) && is_same(plain(f->domain), plain(node->domain)) &&
            is_same(f->overload, node->overload)) {
            return f;
        }
    }
    return NULL;
}

/* ---- attributes ---- */

static bool is_listed(size_t count, char *const *names, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

static hone_status check_call(const onnx_reader *r, const onnx_call *call) {
    const Onnx__NodeProto *node = call->node;
    const Onnx__FunctionProto *f = call->function;
    uint32_t depth = 0;
    for (const onnx_call *at = call; at; at = at->outer) {
        if (at != call && at->function == f)
            return HONE_ERROR(HONE_CODE_INVALID, "the function calls itself");
        depth++;
    }
    if (depth > ONNX_MAX_NESTING || r->call_count > ONNX_MAX_CALLS)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "more than %d calls of functions, or %d inside of "
                          "each other",
                          ONNX_MAX_CALLS, ONNX_MAX_NESTING);
    if (node->n_input > f->n_input || node->n_output > f->n_output) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%zu inputs and %zu outputs, the function has %zu and %zu", node->n_input,
                          node->n_output, f->n_input, f->n_output);
    }
    for (size_t i = 0; i < node->n_attribute; i++) {
        const char *name = node->attribute[i]->name;
        if (name && (is_listed(f->n_attribute, f->attribute, name) ||
                     onnx_attr_named(f->n_attribute_proto, f->attribute_proto, name)))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID, "the function has no attribute '%.200s'",
                          name ? name : "");
    }
    return HONE_OK;
}

/* ---- bodies ---- */

/* The function's inputs are all that has a name in it. */
static hone_status enter(onnx_reader *r, const onnx_call *call, const hone_garg *args) {
    for (size_t i = 0; i < call->function->n_input; i++)
        HONE_TRY(onnx_define(r, call->function->input[i], args[i]));
    return HONE_OK;
}

/* What it is called with. */
static hone_status find_args(const onnx_reader *r, const onnx_call *call, hone_garg *args) {
    const Onnx__NodeProto *node = call->node;
    for (size_t i = 0; i < call->function->n_input; i++) {
        args[i] = (hone_garg){.kind = HONE_GARG_NONE};
        if (i >= node->n_input || !node->input[i][0] || onnx_lookup(r, node->input[i], &args[i]))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID, "input '%.200s' is not defined before it is used",
                          node->input[i]);
    }
    return HONE_OK;
}

static hone_status find_results(const onnx_reader *r, const onnx_call *call, hone_garg *out) {
    for (size_t i = 0; i < call->node->n_output; i++) {
        const char *name = call->function->output[i];
        if (!call->node->output[i][0]) continue;
        if (!onnx_lookup(r, name, &out[i]))
            return HONE_ERROR(HONE_CODE_INVALID, "the function does not define its output '%.200s'",
                              name);
    }
    return HONE_OK;
}

static hone_status read_body(onnx_reader *r, const onnx_call *call, const hone_garg *args,
                             hone_garg *out) {
    const Onnx__FunctionProto *f = call->function;
    HONE_TRY(enter(r, call, args));
    HONE_TRY(onnx_set_opset(r, f->n_opset_import, f->opset_import));
    HONE_TRY(onnx_convert_nodes(r, f->n_node, f->node, NULL));
    return find_results(r, call, out);
}

hone_status onnx_convert_call(onnx_reader *r, const Onnx__NodeProto *node,
                              const Onnx__FunctionProto *function) {
    onnx_call call = {.node = node, .function = function, .outer = r->call};
    onnx_scope own = {0}, *outer = r->scope; /* nothing around it is seen */
    int64_t opset = r->opset;
    r->call_count++;
    HONE_TRY(check_call(r, &call));
    hone_garg *results = hone_arena_zalloc(r->arena, (node->n_output + 1) * sizeof *results);
    hone_garg *args = hone_arena_zalloc(r->arena, (function->n_input + 1) * sizeof *args);
    if (!results || !args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    HONE_TRY(find_args(r, &call, args));
    r->scope = &own;
    r->call = &call;
    hone_status st = read_body(r, &call, args, results);
    onnx_scope_deinit(&own);
    r->scope = outer;
    r->call = call.outer;
    r->opset = opset;
    HONE_TRY(st);
    for (size_t i = 0; i < node->n_output; i++) {
        if (node->output[i][0]) HONE_TRY(onnx_define(r, node->output[i], results[i]));
    }
    return HONE_OK;
}
