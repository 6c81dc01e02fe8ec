/* graph/frontend/onnx_import.c - models: opset, initializers, nodes in order, outputs. */
#include "graph/frontend/onnx_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/frontend/onnx_flow.h"
#include "ir/core/grow.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/text/utf8.h"

enum { MAX_NODES = 1 << 20, MAX_OUTPUTS = 1024 };

/* What a later operator set means by an operator is not known: attributes that are new are refused
 * one by one, a changed meaning would not be noticed. */
enum { NEWEST_OPSET = 28 };

/* ---- initializers ---- */

static hone_status check_replacement(const hone_tensor *own, const hone_tensor *given) {
    if (hone_dtype_equal(own->dtype, given->dtype) && hone_tensor_same_shape(own, given))
        return HONE_OK;
    hone_str wanted = {0}, got = {0};
    hone_tensor_print_type(own, &wanted);
    hone_tensor_print_type(given, &got);
    hone_status st = HONE_ERROR(HONE_CODE_INVALID, "is %s, the value given for it is %s",
                                hone_str_text(&wanted), hone_str_text(&got));
    hone_str_deinit(&wanted);
    hone_str_deinit(&got);
    return st;
}

/* That it has been used is remembered, as of sizes. */
static hone_status note_replaced(onnx_reader *r, const char *name) {
    const hone_value *before = hone_attrs_find(&r->module->attrs, "bound_weights");
    uint32_t count = before ? before->count : 0;
    hone_value *items = hone_arena_alloc(r->arena, (count + 1) * sizeof *items);
    const char *copy = hone_arena_strdup(r->arena, name);
    if (!items || !copy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    if (count) memcpy(items, before->u.items, count * sizeof *items);
    items[count] = HONE_VALUE_OF_STRING(copy);
    hone_value list = {.kind = HONE_VALUE_LIST, .count = count + 1, .u.items = items};
    return hone_attrs_with(r->arena, &r->module->attrs, "bound_weights", list, &r->module->attrs)
               ? HONE_OK
               : HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

/* Takes the tensor of the file, leaves the one that counts; none after failure. */
static hone_status replace_initializer(onnx_reader *r, const char *name, hone_tensor **tensor) {
    const hone_tensor *given = onnx_given_weight(r, name);
    hone_tensor *own = *tensor;
    if (!given) return HONE_OK;
    *tensor = NULL;
    hone_status st = check_replacement(own, given);
    if (!st) st = hone_tensor_clone(given, tensor);
    hone_tensor_destroy(own);
    if (!st) st = note_replaced(r, name);
    if (!st) return HONE_OK;
    hone_tensor_destroy(*tensor);
    *tensor = NULL;
    return st;
}

static hone_status read_initializer(onnx_reader *r, const Onnx__TensorProto *proto, size_t index) {
    if (!proto->name || !proto->name[0]) {
        return HONE_ERROR(HONE_CODE_INVALID, "initializer %zu has no name", index);
    }
    hone_tensor *tensor;
    hone_garg arg;
    hone_status st = onnx_unpack_any(r, proto, r->directory, &tensor);
    if (!st) st = replace_initializer(r, proto->name, &tensor);
    if (st) return hone_status_annotate(st, "initializer '%s'", proto->name);
    HONE_TRY(onnx_add_any(r, onnx_is_string_type(proto->data_type), tensor, &arg));
    return onnx_define(r, proto->name, arg);
}

/* Its name is that of its values. */
static hone_status read_sparse(onnx_reader *r, const Onnx__SparseTensorProto *proto, size_t index) {
    const char *name = proto->values ? proto->values->name : NULL;
    hone_tensor *tensor;
    hone_garg arg;
    if (!name || !name[0])
        return HONE_ERROR(HONE_CODE_INVALID, "sparse initializer %zu has no name", index);
    hone_status st = onnx_unpack_sparse(r, proto, r->directory, &tensor);
    if (!st) st = replace_initializer(r, name, &tensor);
    if (st) return hone_status_annotate(st, "sparse initializer '%s'", name);
    HONE_TRY(onnx_add_constant(r, tensor, &arg));
    return onnx_define(r, name, arg);
}

/* ---- nodes ---- */

const char *onnx_node_name(const Onnx__NodeProto *node) {
    if (node->name && node->name[0]) return node->name;
    return node->n_output ? node->output[0] : "";
}

hone_status onnx_at_node(const Onnx__NodeProto *node, hone_status st) {
    return hone_status_annotate(st, "node '%.200s' (%.100s)", onnx_node_name(node),
                                node->op_type ? node->op_type : "");
}

/* Further outputs of some operators (the averages of BatchNormalization) may be named, but not
 * used. */
static hone_status check_implemented(const hone_garg *arg, const char *name) {
    if (arg->kind != HONE_GARG_STRING) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "'%.200s', a further output of '%.100s', is not "
                      "implemented",
                      name, arg->u.s);
}

static hone_status define_unimplemented(onnx_reader *r, const Onnx__NodeProto *node, size_t from) {
    const char *op = hone_arena_strdup(r->arena, node->op_type);
    if (!op) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    for (size_t i = from; i < node->n_output; i++) {
        if (!node->output[i][0]) continue;
        HONE_TRY(onnx_define(r, node->output[i], (hone_garg){.kind = HONE_GARG_STRING, .u.s = op}));
    }
    return HONE_OK;
}

static hone_status node_inputs(onnx_reader *r, const Onnx__NodeProto *node) {
    if (node->n_input > ONNX_MAX_INPUTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%zu inputs, at most %d", node->n_input,
                          ONNX_MAX_INPUTS);
    }
    r->input_count = (uint32_t)node->n_input;
    HONE_TRY(onnx_room_for(r, r->input_count));
    for (uint32_t i = 0; i < r->input_count; i++) {
        r->inputs[i] = (hone_garg){.kind = HONE_GARG_NONE};
        if (!node->input[i][0]) continue;
        if (!onnx_lookup(r, node->input[i], &r->inputs[i])) {
            return HONE_ERROR(
                HONE_CODE_INVALID,
                "input '%.200s' is not defined before it is used (a missing value, or "
                "a cycle)",
                node->input[i]);
        }
        HONE_TRY(check_implemented(&r->inputs[i], node->input[i]));
    }
    while (r->input_count && r->inputs[r->input_count - 1].kind == HONE_GARG_NONE)
        r->input_count--;
    return HONE_OK;
}

static hone_status check_arity(const onnx_reader *r, const onnx_converter *row) {
    if (r->input_count < row->least_inputs ||
        (row->most_inputs != 255 && r->input_count > row->most_inputs)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u inputs, expected %u to %u", r->input_count,
                          row->least_inputs, row->most_inputs);
    }
    for (uint32_t i = 0; i < row->least_inputs; i++) {
        if (!onnx_has_input(r, i)) return HONE_ERROR(HONE_CODE_INVALID, "input %u is missing", i);
    }
    if (row->most_outputs == ONNX_MAX_OUTPUTS && r->node->n_output > ONNX_MAX_OUTPUTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%zu outputs, at most %d", r->node->n_output,
                          ONNX_MAX_OUTPUTS);
    }
    if (r->output_count < 1) return HONE_ERROR(HONE_CODE_INVALID, "the first output has no name");
    return HONE_OK;
}

/* The value keeps the name it has in the model. */
static hone_status name_value(onnx_reader *r, const hone_garg *arg, const char *name) {
    if (arg->kind != HONE_GARG_VALUE || arg->u.value < r->graph->param_count) return HONE_OK;
    hone_gvalue_info *value = &r->graph->values[arg->u.value];
    if (strcmp(value->name, "lv") == 0) value->name = hone_arena_strdup(r->arena, name);
    return value->name ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

const onnx_converter *onnx_find_converter(const Onnx__NodeProto *node) {
    const onnx_converter *const tables[] = {onnx_branch_converters, onnx_loop_converters,
                                            onnx_sequence_converters, onnx_recurrent_converters,
                                            onnx_linear_attention_converters};
    const onnx_converter *found = onnx_find_row(node);
    if (!node->op_type) return found;
    if (node->domain && strcmp(node->domain, "com.microsoft") == 0) {
        if (!found) found = onnx_find_in(onnx_linear_attention_converters, node->op_type);
        return found ? found : onnx_find_in(onnx_quant_recurrent_converters, node->op_type);
    }
    if (node->domain && strcmp(node->domain, "ai.onnx.preview") == 0) {
        return onnx_find_in(onnx_flex_converters, node->op_type);
    }
    if (!onnx_is_plain_domain(node->domain)) return found;
    for (size_t t = 0; !found && t < HONE_COUNT(tables); t++)
        found = onnx_find_in(tables[t], node->op_type);
    return found;
}

static hone_status convert_node(onnx_reader *r, const Onnx__NodeProto *node) {
    const onnx_converter *row = onnx_find_converter(node);
    hone_garg outputs[ONNX_MAX_OUTPUTS];
    r->node = node;
    r->row = row;
    r->output_count = 0;
    for (size_t i = 0; i < row->most_outputs; i++) /* what the converter does not make */
        outputs[i] = (hone_garg){.kind = HONE_GARG_STRING, .u.s = row->op};
    for (size_t i = 0; i < node->n_output && i < row->most_outputs; i++) {
        if (node->output[i][0]) r->output_count = (uint32_t)i + 1;
    }
    HONE_TRY(node_inputs(r, node));
    HONE_TRY(check_arity(r, row));
    HONE_TRY(onnx_check_attrs(r, row->attrs));
    if (onnx_takes_text(r))
        HONE_TRY(onnx_convert_text(r, outputs));
    else if (!onnx_fold_known(r, outputs))
        HONE_TRY(onnx_convert_rounded(r, row, outputs));
    if (r->ends_in_branches) return HONE_OK;
    HONE_TRY(hone_ir_finish(&r->ir));
    for (uint32_t i = 0; i < r->output_count; i++) {
        if (!node->output[i][0]) continue;
        HONE_TRY(name_value(r, &outputs[i], node->output[i]));
        HONE_TRY(onnx_define(r, node->output[i], outputs[i]));
    }
    return define_unimplemented(r, node, row->most_outputs);
}

static hone_status convert_any(onnx_reader *r, const Onnx__NodeProto *node) {
    const Onnx__FunctionProto *function = onnx_find_function(r->model, node);
    return function ? onnx_convert_call(r, node, function) : convert_node(r, node);
}

hone_status onnx_convert_nodes(onnx_reader *r, size_t count, Onnx__NodeProto *const *nodes,
                               const Onnx__GraphProto *graph) {
    for (size_t i = 0; i < count; i++) {
        const onnx_rest rest = {count - i - 1, nodes + i + 1, graph};
        r->can_end_early = graph != NULL;
        hone_status st = convert_any(r, nodes[i]);
        const bool is_end = r->ends_in_branches;
        r->ends_in_branches = false;
        if (!st && is_end) st = onnx_convert_rest(r, nodes[i], &rest);
        if (st) return onnx_at_node(nodes[i], st);
        if (is_end) return HONE_OK;
    }
    return HONE_OK;
}

/* ---- outputs ---- */

/* What an output is declared as beside what follows from the operators, which holds: some exporters
 * declare other extents, and those of the run that they traced where the caller gives sizes. NULL:
 * nothing, or no memory to say it. */
static const char *odd_shape(const onnx_reader *r, const char *name,
                             const Onnx__TensorShapeProto *declared, const hone_sinfo *info) {
    bool is_said = declared->n_dim > 0; /* some write an empty shape for none */
    bool has_sizes = r->options && r->options->dim_count;
    if (is_said && declared->n_dim != (size_t)info->rank) {
        return hone_arena_printf(r->module->arena,
                                 "output '%.200s' is declared with %zu dimensions, but it has %d",
                                 name, declared->n_dim, (int)info->rank);
    }
    for (size_t d = 0; info->shape && !has_sizes && d < declared->n_dim; d++) {
        const Onnx__TensorShapeProto__Dimension *dim = declared->dim[d];
        int64_t extent = hone_expr_const(info->shape[d]);
        bool is_number = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
                         dim->dim_value > 0;
        if (!is_number || extent < 0 || extent == dim->dim_value) continue;
        return hone_arena_printf(
            r->module->arena,
            "dimension %zu of output '%.200s' is declared as %lld, but it is %lld", d, name,
            (long long)dim->dim_value, (long long)extent);
    }
    return NULL;
}

/* An unnamed size of an input that comes out as it is has the name that the output gives it. */
static hone_status name_sizes(onnx_reader *r, const Onnx__TensorShapeProto *declared,
                              const hone_sinfo *info) {
    uint64_t whose;
    for (size_t d = 0; info->shape && d < declared->n_dim && d < (size_t)info->rank; d++) {
        const char *name = onnx_name_of_dim(declared->dim[d]);
        const hone_expr *e = info->shape[d];
        if (!name || e->kind != HONE_EXPR_VAR) continue;
        hone_var_info *var = &r->graph->vars[e->u.var];
        bool is_made_up =
            hone_strmap_find(&r->size_names, var->name, &whose) && whose == ONNX_NAME_MADE;
        if (!is_made_up || hone_strmap_find(&r->size_names, name, NULL)) continue;
        var->name = hone_arena_strdup(r->arena, name);
        if (!var->name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
        HONE_TRY(onnx_note_size_name(r, name, ONNX_NAME_FILE));
    }
    return HONE_OK;
}

/* The type that the file says of an output must be what the operators make; it need not say
 * anything. */
static hone_status check_output(onnx_reader *r, const Onnx__ValueInfoProto *output,
                                const hone_garg *arg) {
    const Onnx__TypeProto *type = output->type;
    const hone_sinfo *info;
    hone_dtype declared;
    bool is_tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    if (!is_tensor || !type->tensor_type) return HONE_OK;
    HONE_TRY(onnx_info(r, arg, &info));
    if (type->tensor_type->elem_type) {
        HONE_TRY(onnx_dtype(type->tensor_type->elem_type, &declared));
        if (!hone_dtype_equal(declared, info->dtype)) {
            return HONE_ERROR(HONE_CODE_TYPE, "declared as %s, but it is %s",
                              HONE_DTYPE_NAME(declared), HONE_DTYPE_NAME(info->dtype));
        }
    }
    if (!type->tensor_type->shape) return HONE_OK;
    if (!r->module->note)
        r->module->note = odd_shape(r, output->name, type->tensor_type->shape, info);
    return name_sizes(r, type->tensor_type->shape, info);
}

/* The tensors of all outputs; a sequence y is y_0, y_1, ... */
typedef struct output_list {
    hone_garg *items;
    hone_value *names;
    uint32_t count, capacity, name_capacity;
} output_list;

static hone_status add_output(onnx_reader *r, output_list *list, const char *name, hone_garg arg) {
    if (arg.kind == HONE_GARG_NONE) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "output '%.200s' is an empty optional", name);
    }
    if (onnx_is_series(&arg)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "output '%.200s' is a sequence whose length is not known", name);
    }
    if (onnx_is_text(&arg)) HONE_TRY(onnx_trimmed_text(r, &arg, &arg));
    for (uint32_t i = 0; arg.kind == HONE_GARG_TUPLE && i < arg.count; i++) {
        const char *item = hone_arena_printf(r->arena, "%s_%u", name, i);
        if (!item) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
        HONE_TRY(add_output(r, list, item, arg.u.items[i]));
    }
    if (arg.kind == HONE_GARG_TUPLE) return HONE_OK;
    HONE_TRY(check_implemented(&arg, name));
    HONE_TRY(onnx_as_tensor(r, &arg));
    if (list->count == MAX_OUTPUTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %d outputs", MAX_OUTPUTS);
    }
    if (!hone_grow(r->arena, (void **)&list->items, &list->capacity, list->count,
                   sizeof *list->items) ||
        !hone_grow(r->arena, (void **)&list->names, &list->name_capacity, list->count,
                   sizeof *list->names)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    }
    if (arg.kind == HONE_GARG_VALUE) r->graph->values[arg.u.value].is_output = true;
    list->items[list->count] = arg;
    list->names[list->count++] = onnx_text_value(r, name);
    return HONE_OK;
}

static hone_status read_output(onnx_reader *r, output_list *list,
                               const Onnx__ValueInfoProto *output) {
    hone_garg arg;
    uint32_t first = list->count;
    if (!output->name || !onnx_lookup(r, output->name, &arg)) {
        return HONE_ERROR(HONE_CODE_INVALID, "output '%.200s' is not defined by any node",
                          output->name ? output->name : "");
    }
    bool is_text = onnx_is_text(&arg);
    HONE_TRY(add_output(r, list, output->name, arg));
    if (arg.kind == HONE_GARG_TUPLE || is_text) return HONE_OK;
    return hone_status_annotate(check_output(r, output, &list->items[first]), "output '%.200s'",
                                output->name);
}

static hone_status read_outputs(onnx_reader *r, const Onnx__GraphProto *graph) {
    output_list list = {0};
    if (graph->n_output == 0) return HONE_ERROR(HONE_CODE_INVALID, "the model has no outputs");
    for (size_t i = 0; i < graph->n_output; i++)
        HONE_TRY(read_output(r, &list, graph->output[i]));
    if (list.count == 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "all outputs are empty sequences");
    }
    r->graph->result = list.items[0];
    if (list.count > 1) {
        r->graph->result =
            (hone_garg){.kind = HONE_GARG_TUPLE, .count = list.count, .u.items = list.items};
    }
    hone_value names = {.kind = HONE_VALUE_LIST, .count = list.count, .u.items = list.names};
    if (!hone_attrs_with(r->arena, &r->graph->attrs, "output_names", names, &r->graph->attrs)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    }
    r->graph->result_sinfo = hone_garg_sinfo(r->module, r->graph, &r->graph->result, r->arena);
    return hone_ir_finish(&r->ir);
}

/* ---- models ---- */

hone_status onnx_set_opset(onnx_reader *r, size_t count, Onnx__OperatorSetIdProto *const *sets) {
    bool is_set = false;
    for (size_t i = 0; i < count; i++) {
        if (!onnx_is_plain_domain(sets[i]->domain)) continue;
        if (is_set && r->opset != sets[i]->version) {
            return HONE_ERROR(HONE_CODE_INVALID, "operator sets %lld and %lld of one domain",
                              (long long)r->opset, (long long)sets[i]->version);
        }
        r->opset = sets[i]->version;
        is_set = true;
    }
    if (r->opset < 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "operator set %lld", (long long)r->opset);
    }
    if (r->opset > NEWEST_OPSET) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "operator set %lld is newer than %d, the newest that is known here",
                          (long long)r->opset, NEWEST_OPSET);
    }
    return HONE_OK;
}

static hone_status read_opset(onnx_reader *r, const Onnx__ModelProto *model) {
    r->opset = 0;
    HONE_TRY(onnx_set_opset(r, model->n_opset_import, model->opset_import));
    bool has_plain = model->n_opset_import == 0;
    for (size_t i = 0; !has_plain && i < model->graph->n_node; i++) {
        has_plain = onnx_is_plain_domain(model->graph->node[i]->domain) &&
                    !onnx_find_function(model, model->graph->node[i]);
    }
    if (r->opset == 0 && !has_plain) r->opset = NEWEST_OPSET; /* of none of its operators */
    if (r->opset == 0) return HONE_ERROR(HONE_CODE_INVALID, "the model names no operator set");
    return HONE_OK;
}

static hone_status read_initializers(onnx_reader *r, const Onnx__GraphProto *graph) {
    if (graph->n_node > MAX_NODES)
        return HONE_ERROR(HONE_CODE_INVALID, "more than %d nodes", MAX_NODES);
    for (size_t i = 0; i < graph->n_initializer; i++)
        HONE_TRY(read_initializer(r, graph->initializer[i], i));
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        HONE_TRY(read_sparse(r, graph->sparse_initializer[i], i));
    return HONE_OK;
}

hone_status onnx_read_nodes(onnx_reader *r, const Onnx__GraphProto *graph) {
    HONE_TRY(read_initializers(r, graph));
    return onnx_convert_nodes(r, graph->n_node, graph->node, graph);
}

static hone_status read_graph(onnx_reader *r, const Onnx__GraphProto *graph) {
    HONE_TRY(read_initializers(r, graph));
    r->initializer_count = r->arg_count;
    HONE_TRY(onnx_read_inputs(r, graph));
    HONE_TRY(onnx_convert_nodes(r, graph->n_node, graph->node, graph));
    HONE_TRY(read_outputs(r, graph));
    onnx_end_blocks(r);
    return HONE_OK;
}

/* Sizes that the caller gave must be there; the module remembers them (graph/passes/bind.c). */
static hone_status record_sizes(onnx_reader *r) {
    hone_attrs sizes = {0};
    for (size_t i = 0; r->options && i < r->options->dim_count; i++) {
        const hone_graph_dim *dim = &r->options->dims[i];
        const char *name = hone_arena_strdup(r->arena, dim->name);
        bool is_used = r->dim_used[i < 64 ? i : 63];
        if (!is_used && r->options->keeps_sizes) continue;
        if (!is_used) return hone_dim_unknown_in(dim->name, r->module);
        if (!name ||
            !hone_attrs_with(r->arena, &sizes, name, HONE_VALUE_OF_INT(dim->size), &sizes)) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
        }
    }
    hone_value map = {.kind = HONE_VALUE_MAP, .count = sizes.count, .u.attrs = sizes.items};
    if (sizes.count &&
        !hone_attrs_with(r->arena, &r->module->attrs, "bound_sizes", map, &r->module->attrs)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    }
    return HONE_OK;
}

static hone_status read_model(onnx_reader *r, Onnx__ModelProto *model) {
    if (!model->graph) return HONE_ERROR(HONE_CODE_INVALID, "the file holds no graph");
    r->model = model;
    if (model->ir_version > ONNX__VERSION__IR_VERSION) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "IR version %lld is newer than %d, the newest that is known here",
                          (long long)model->ir_version, (int)ONNX__VERSION__IR_VERSION);
    }
    HONE_TRY(read_opset(r, model));
    if (model->graph->n_node > MAX_NODES)
        return HONE_ERROR(HONE_CODE_INVALID, "more than %d nodes", MAX_NODES);
    HONE_TRY(onnx_order_nodes(r->arena, model));
    HONE_TRY(onnx_check_operators(model));
    r->graph = hone_graph_func_create(r->arena, "main");
    if (!r->graph) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    HONE_TRY(read_graph(r, model->graph));
    HONE_TRY(record_sizes(r));
    HONE_TRY(onnx_note_greatest(r));
    return hone_module_add_graph(r->module, r->graph);
}

hone_status hone_onnx_parse(const void *bytes, size_t size, const char *source_name,
                            const char *directory, const hone_graph_options *options,
                            hone_module **out_module) {
    assert(source_name && out_module);
    *out_module = NULL;
    if (size == 0) return HONE_ERROR(HONE_CODE_INVALID, "%s: the file is empty", source_name);
    hone_status st = onnx_check_nesting(&onnx__model_proto__descriptor, bytes, size);
    if (st) return hone_status_annotate(st, "%s", source_name);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, size, bytes);
    if (!model) return HONE_ERROR(HONE_CODE_INVALID, "%s: not an ONNX model", source_name);
    onnx_reader *r = hone_calloc(1, sizeof *r);
    if (!r) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    if (!st) st = hone_module_create(&r->module);
    if (!st) {
        r->arena = r->ir.arena = r->module->arena;
        r->source = source_name;
        r->directory = directory;
        r->options = options;
        onnx_scope whole = {0};
        r->scope = &whole;
        st = read_model(r, model);
        st = hone_status_join(st, hone_ir_finish(&r->ir));
        onnx_scope_deinit(&whole);
        hone_strmap_deinit(&r->size_names);
        if (st)
            hone_module_release(r->module);
        else
            *out_module = r->module;
    }
    hone_free(r);
    onnx__model_proto__free_unpacked(model, NULL);
    return hone_status_annotate(st, "%s", source_name);
}

hone_status hone_onnx_load(const char *path, const hone_graph_options *options,
                           hone_module **out_module) {
    *out_module = NULL;
    char *bytes = NULL;
    size_t size = 0;
    HONE_TRY(hone_fs_read(path, SIZE_MAX / 4, &bytes, &size));
    char *directory = hone_path_dirname(path);
    hone_status st = HONE_OK;
    if (!directory) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "path");
    if (!st) st = hone_onnx_parse(bytes, size, path, directory, options, out_module);
    hone_free(directory);
    hone_free(bytes);
    return st;
}
