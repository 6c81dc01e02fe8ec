/* graph/frontend/onnx_input.c - inputs of models: tensors, sequences and optionals of them, and
 * the sizes that their dimensions name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/frontend/onnx_impl.h"

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

/* ---- sizes ---- */

/* Names of values and sizes stay as the file spells them: whoever prints a program makes them
 * identifiers (ir/text/print/script_names.c), so two names are never one. */

/* The number that the caller gave a name; false: none. */
static bool given_number(onnx_reader *r, const char *name, int64_t *out) {
    const hone_graph_options *options = r->options;
    for (size_t i = 0; options && i < options->dim_count; i++) {
        if (strcmp(options->dims[i].name, name) != 0) continue;
        r->dim_used[i < 64 ? i : 63] = true;
        *out = options->dims[i].size;
        return true;
    }
    return false;
}

/* A size: the number that the caller gave, or a variable. */
static hone_status named_size(onnx_reader *r, const char *name, const hone_expr **out) {
    int64_t given;
    bool keeps = r->options && r->options->keeps_sizes;
    if (!keeps && given_number(r, name, &given)) {
        *out = hone_extent_int(&r->ir, given);
        return hone_ir_finish(&r->ir);
    }
    hone_var var = 0;
    while (var < r->graph->var_count && strcmp(r->graph->vars[var].name, name) != 0)
        var++;
    if (var == r->graph->var_count) var = hone_graph_add_var(r->graph, name);
    if (var == HONE_NO_ID) return no_memory();
    *out = hone_expr_var(&r->ir, HONE_DTYPE_I64, var);
    return hone_ir_finish(&r->ir);
}

static const char *text_of_dim(const Onnx__TensorShapeProto__Dimension *dim) {
    bool has = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
               dim->dim_param && dim->dim_param[0];
    return has ? dim->dim_param : NULL;
}

/* The number that a dimension is, which torch's exporter may write as a name, "3"; -1: a size. */
static int64_t number_of_dim(const Onnx__TensorShapeProto__Dimension *dim) {
    const char *text = text_of_dim(dim);
    if (text && strspn(text, "0123456789") == strlen(text)) return strtoll(text, NULL, 10);
    bool has = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    return has && dim->dim_value >= 0 ? dim->dim_value : -1;
}

const char *onnx_name_of_dim(const Onnx__TensorShapeProto__Dimension *dim) {
    return number_of_dim(dim) < 0 ? text_of_dim(dim) : NULL;
}

hone_status onnx_note_size_name(onnx_reader *r, const char *name, uint64_t whose) {
    return hone_strmap_put(&r->size_names, name, whose) ? HONE_OK : no_memory();
}

static const Onnx__TypeProto__Tensor *tensor_of(const Onnx__TypeProto *type) {
    bool is_tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    return is_tensor ? type->tensor_type : NULL;
}

/* Notes the names of sizes that an input's dimensions have in the file. */
static hone_status note_sizes(onnx_reader *r, const Onnx__ValueInfoProto *input) {
    const Onnx__TypeProto__Tensor *tensor = tensor_of(input->type);
    for (size_t d = 0; tensor && tensor->shape && d < tensor->shape->n_dim; d++) {
        const char *name = onnx_name_of_dim(tensor->shape->dim[d]);
        if (name) HONE_TRY(onnx_note_size_name(r, name, ONNX_NAME_FILE));
    }
    return HONE_OK;
}

/* A size that the file has no name for: x_bytes, or x_bytes_1 where it calls another so. */
static hone_status made_size(onnx_reader *r, const char *input, const char *what,
                             const hone_expr **out) {
    char suffix[24] = "";
    const char *name = NULL;
    for (unsigned k = 1; !name || hone_strmap_find(&r->size_names, name, NULL); k++) {
        name = hone_arena_printf(r->arena, "%s_%s%s", input, what, suffix);
        if (!name) return no_memory();
        snprintf(suffix, sizeof suffix, "_%u", k);
    }
    HONE_TRY(onnx_note_size_name(r, name, ONNX_NAME_MADE));
    return named_size(r, name, out);
}

/* A size without a name is one of its own. */
static hone_status unnamed_size(onnx_reader *r, const char *input, size_t i,
                                const hone_expr **out) {
    char what[24];
    snprintf(what, sizeof what, "dim%zu", i);
    return made_size(r, input, what, out);
}

/* ---- tensors ---- */

/* One tensor that the model takes. */
typedef struct parameter {
    const char *name;    /* its own */
    const char *input;   /* that of the input in the file */
    bool is_one_of_many; /* of a sequence: each has sizes of its own, whatever they are called */
} parameter;

static hone_status input_extent(onnx_reader *r, const parameter *p, size_t i,
                                const Onnx__TensorShapeProto__Dimension *dim,
                                const hone_expr **out) {
    int64_t number = number_of_dim(dim);
    if (number > INT32_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "dimension %zu is %lld, must be from 0 to 2^31 - 1", i,
                          (long long)number);
    }
    if (number >= 0) {
        *out = hone_extent_int(&r->ir, number);
        return hone_ir_finish(&r->ir);
    }
    const char *name = p->is_one_of_many ? NULL : onnx_name_of_dim(dim);
    return name ? named_size(r, name, out) : unnamed_size(r, p->name, i, out);
}

/* How many dimensions: those in the file, or as many as the caller says. */
static hone_status rank_of(onnx_reader *r, const parameter *p, const Onnx__TypeProto__Tensor *type,
                           size_t *out) {
    int64_t given;
    const char *name = hone_arena_printf(r->arena, "%s.rank", p->input);
    if (!name) return no_memory();
    if (type->shape) {
        *out = type->shape->n_dim;
    } else if (given_number(r, name, &given)) {
        *out = (size_t)given;
    } else {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the input's rank is not known; give it, as with --shape '%s=2'", name);
    }
    if (*out <= HONE_MAX_RANK) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the input has %zu dimensions, at most %d", *out,
                      HONE_MAX_RANK);
}

static hone_status add_tensor(onnx_reader *r, const parameter *p,
                              const Onnx__TypeProto__Tensor *type, hone_garg *out) {
    hone_dtype dtype;
    size_t rank;
    bool is_text = onnx_is_string_type(type->elem_type);
    if (is_text)
        dtype = HONE_DTYPE_U8;
    else
        HONE_TRY(onnx_dtype(type->elem_type, &dtype));
    HONE_TRY(rank_of(r, p, type, &rank));
    if (is_text && rank == HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "strings in %zu dimensions, at most %d", rank,
                          HONE_MAX_RANK - 1);
    const hone_expr **shape = hone_arena_zalloc(r->arena, (rank + 2) * sizeof *shape);
    if (!shape) return no_memory();
    for (size_t i = 0; i < rank; i++) {
        HONE_TRY(type->shape ? input_extent(r, p, i, type->shape->dim[i], &shape[i])
                             : unnamed_size(r, p->name, i, &shape[i]));
    }
    if (is_text) HONE_TRY(made_size(r, p->name, "bytes", &shape[rank]));
    const hone_sinfo *info = hone_sinfo_tensor(r->arena, dtype, (int32_t)rank + is_text, shape);
    hone_gvalue value = info ? hone_graph_add_param(r->graph, p->name, info) : HONE_NO_ID;
    if (value == HONE_NO_ID) return no_memory();
    *out = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

/* ---- sequences and optionals ---- */

enum { MAX_ITEMS = 1024 };

static hone_status refuse_type(void) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "the input is neither a tensor, nor a sequence or an optional of tensors");
}

/* The tensors of sequence x are the inputs x_0, x_1, ... */
static hone_status add_items(onnx_reader *r, const char *name, const Onnx__TypeProto__Tensor *type,
                             uint32_t count, hone_garg *out) {
    hone_garg *items = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *items);
    if (!items) return no_memory();
    if (onnx_is_string_type(type->elem_type))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "sequences of strings are not implemented");
    for (uint32_t i = 0; i < count; i++) {
        const parameter p = {hone_arena_printf(r->arena, "%s_%u", name, i), name, true};
        HONE_TRY(p.name ? add_tensor(r, &p, type, &items[i]) : no_memory());
    }
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = count, .u.items = items};
    return HONE_OK;
}

static hone_status add_sequence(onnx_reader *r, const char *name, const Onnx__TypeProto *type,
                                hone_garg *out) {
    int64_t count;
    const Onnx__TypeProto__Tensor *items =
        type->sequence_type ? tensor_of(type->sequence_type->elem_type) : NULL;
    if (!items) return refuse_type();
    if (!given_number(r, name, &count)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the input is a sequence: say how many tensors it has, as with --shape "
                          "'%s=3'; they are the inputs '%s_0', '%s_1', ...",
                          name, name, name);
    }
    if (count <= MAX_ITEMS) return add_items(r, name, items, (uint32_t)count, out);
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a sequence of %lld tensors, at most %d",
                      (long long)count, MAX_ITEMS);
}

/* Is there, unless the caller says NAME=0; NAME is then the number of items of a sequence. */
static hone_status add_optional(onnx_reader *r, const char *name, const Onnx__TypeProto *type,
                                hone_garg *out) {
    const Onnx__TypeProto *inner = type->optional_type ? type->optional_type->elem_type : NULL;
    const Onnx__TypeProto__Tensor *tensor = tensor_of(inner);
    int64_t count = 1;
    bool is_given = given_number(r, name, &count);
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    if (is_given && count == 0) return HONE_OK;
    if (inner && inner->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE)
        return add_sequence(r, name, inner, out);
    if (!tensor) return refuse_type();
    if (onnx_is_string_type(tensor->elem_type))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "optional strings are not implemented");
    if (count == 1) return add_tensor(r, &(parameter){name, name, false}, tensor, out);
    return HONE_ERROR(HONE_CODE_INVALID,
                      "the input is an optional tensor: '%s' is 0 (absent) or 1, not %lld", name,
                      (long long)count);
}

static hone_status add_input(onnx_reader *r, const Onnx__ValueInfoProto *input, hone_garg *out) {
    const Onnx__TypeProto__Tensor *tensor = tensor_of(input->type);
    if (tensor) return add_tensor(r, &(parameter){input->name, input->name, false}, tensor, out);
    if (!input->type) return refuse_type();
    switch (input->type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        return add_sequence(r, input->name, input->type, out);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        return add_optional(r, input->name, input->type, out);
    default:
        return refuse_type();
    }
}

/* ---- all ---- */

const hone_tensor *onnx_given_weight(const onnx_reader *r, const char *name) {
    for (size_t i = 0; r->options && i < r->options->weight_count; i++) {
        if (strcmp(r->options->weights[i].name, name) == 0) return r->options->weights[i].tensor;
    }
    return NULL;
}

static hone_status read_input(onnx_reader *r, const Onnx__ValueInfoProto *input, size_t index) {
    if (!input->name || !input->name[0]) {
        return HONE_ERROR(HONE_CODE_INVALID, "input %zu of the model has no name", index);
    }
    uint64_t at;
    if (hone_strmap_find(&r->scope->names, input->name, &at)) {
        if (at < r->initializer_count) return HONE_OK; /* its value is in the file */
        return HONE_ERROR(HONE_CODE_INVALID, "there are two inputs '%s'", input->name);
    }
    hone_garg arg;
    bool is_kept = r->options && r->options->keeps_inputs;
    const hone_tensor *weight = is_kept ? NULL : onnx_given_weight(r, input->name);
    if (weight) {
        hone_tensor *copy;
        HONE_TRY(hone_tensor_clone(weight, &copy));
        HONE_TRY(onnx_add_constant(r, copy, &arg));
        return onnx_define(r, input->name, arg);
    }
    HONE_TRY(hone_status_annotate(add_input(r, input, &arg), "input '%s'", input->name));
    return onnx_define(r, input->name, arg);
}

/* Bytes as strings: no parameter may come behind what is made of them. */
static hone_status read_strings(onnx_reader *r, const Onnx__ValueInfoProto *input) {
    const Onnx__TypeProto__Tensor *tensor = tensor_of(input->type);
    uint64_t at;
    bool is_text = tensor && onnx_is_string_type(tensor->elem_type);
    if (!is_text || !hone_strmap_find(&r->scope->names, input->name, &at)) return HONE_OK;
    hone_garg text, bytes = r->args[at];
    if (at < r->initializer_count) return HONE_OK;
    HONE_TRY(hone_status_annotate(onnx_text_of_bytes(r, bytes, &text), "input '%s'", input->name));
    r->args[at] = text;
    return HONE_OK;
}

hone_status onnx_read_inputs(onnx_reader *r, const Onnx__GraphProto *graph) {
    for (size_t i = 0; i < graph->n_input; i++)
        HONE_TRY(note_sizes(r, graph->input[i]));
    for (size_t i = 0; i < graph->n_input; i++)
        HONE_TRY(read_input(r, graph->input[i], i));
    for (size_t i = 0; i < graph->n_input; i++)
        HONE_TRY(read_strings(r, graph->input[i]));
    return HONE_OK;
}
