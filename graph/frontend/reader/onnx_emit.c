/* graph/frontend/reader/onnx_emit.c - values of the graph that is being read. */
#include <math.h>
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"
#include "graph/operators/fold_call.h"

/* Constants that are folded while reading; larger ones are by passes/fold_constants.c. */
enum { MAX_FOLDED_INPUT = 4096, MAX_FOLDED_STEPS = 1 << 20 };

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

hone_status onnx_room_for(onnx_reader *r, uint32_t count) {
    if (!r->inputs) {
        r->inputs = r->few;
        r->input_room = ONNX_FEW_INPUTS;
    }
    if (count <= r->input_room) return HONE_OK;
    hone_garg *inputs = hone_arena_alloc(r->arena, count * sizeof *inputs);
    if (!inputs) return no_memory();
    r->inputs = inputs;
    r->input_room = count;
    return HONE_OK;
}

bool onnx_has_input(const onnx_reader *r, uint32_t index) {
    return index < r->input_count && r->inputs[index].kind != HONE_GARG_NONE;
}

hone_status onnx_info(const onnx_reader *r, const hone_garg *arg, const hone_sinfo **out_info) {
    if (arg->kind == HONE_GARG_SHAPE || arg->kind == HONE_GARG_PRIM) { /* known integers */
        int64_t count = arg->count;
        *out_info =
            hone_sinfo_static(r->arena, HONE_DTYPE_I64, arg->kind == HONE_GARG_SHAPE, &count);
        return *out_info ? HONE_OK : no_memory();
    }
    const hone_sinfo *info = hone_garg_sinfo(r->module, r->graph, arg, r->arena);
    *out_info = info;
    if (info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0 &&
        (info->rank == 0 || info->shape)) {
        return HONE_OK;
    }
    if (info && info->kind == HONE_SINFO_TUPLE)
        return HONE_ERROR(HONE_CODE_INVALID, "an input is no tensor");
    return HONE_ERROR(HONE_CODE_INVALID,
                      "the shape of an input is not known: it follows from sizes "
                      "that may differ; give them with --shape");
}

hone_status onnx_input_info(const onnx_reader *r, uint32_t index, const hone_sinfo **out_info) {
    return hone_status_annotate(onnx_info(r, &r->inputs[index], out_info), "input %u", index);
}

const hone_gbind *onnx_bind_of(const onnx_reader *r, hone_gvalue value) {
    for (uint32_t i = r->graph->bind_count; i-- > 0;) {
        if (r->graph->bindings[i].value == value) return &r->graph->bindings[i];
    }
    return NULL;
}

const hone_tensor *onnx_constant_of(const onnx_reader *r, const hone_garg *arg) {
    return arg->kind == HONE_GARG_CONSTANT ? r->module->constants[arg->u.constant] : NULL;
}

/* More elements than any program could index. */
static hone_status check_elements(const hone_sinfo *info) {
    int64_t count = 1;
    if (!info || info->kind != HONE_SINFO_TENSOR || !info->shape) return HONE_OK;
    for (int32_t i = 0; i < info->rank; i++) {
        if (!hone_expr_is_int(info->shape[i])) continue;
        if (__builtin_mul_overflow(count, info->shape[i]->u.i, &count) || count > INT64_C(1)
                                                                                      << 40) {
            return HONE_ERROR(HONE_CODE_INVALID, "a result of more than 2^40 elements");
        }
    }
    return HONE_OK;
}

hone_status onnx_finish_bind(onnx_reader *r, hone_gbind *bind, hone_garg *out) {
    bind->in_dataflow = bind->kind != HONE_GBIND_IF;
    hone_gvalue value = bind->value;
    const hone_sinfo *info = NULL;
    HONE_TRY(hone_graph_infer_bind(r->module, r->graph, bind, r->arena, &info));
    HONE_TRY(check_elements(info));
    r->graph->values[value].sinfo = info;
    *out = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

static int64_t count_of(const hone_sinfo *info) {
    int64_t count = 1;
    if (!info || !hone_sinfo_is_static(info)) return -1;
    for (int32_t i = 0; i < info->rank; i++) {
        if (__builtin_mul_overflow(count, info->shape[i]->u.i, &count)) return -1;
    }
    return count;
}

static bool has_zero(uint32_t rank, const hone_expr *const *shape) {
    for (uint32_t i = 0; i < rank; i++) {
        if (hone_expr_is_int_value(shape[i], 0)) return true;
    }
    return false;
}

bool onnx_is_empty(const hone_sinfo *info) {
    return info && info->kind == HONE_SINFO_TENSOR && info->shape &&
           has_zero((uint32_t)info->rank, info->shape);
}

static void take_back(onnx_reader *r) {
    r->graph->bind_count--;
    r->graph->value_count--;
}

/* A tensor without elements follows from its shape; where that has other sizes that come later, a
 * number is broadcast to it. */
static hone_status fold_empty(onnx_reader *r, const hone_sinfo *info, hone_garg *out) {
    int64_t shape[HONE_MAX_RANK];
    hone_tensor *tensor;
    hone_garg args[2];
    if (!hone_sinfo_is_static(info)) {
        hone_gbind *bind = &r->graph->bindings[r->graph->bind_count - 1];
        if (strcmp(bind->callee, "broadcast_to") == 0) return HONE_OK;
        take_back(r);
        HONE_TRY(onnx_scalar(r, info->dtype, 0, &args[0]));
        HONE_TRY(onnx_make_ints(r, (uint32_t)info->rank, info->shape, 1, &args[1]));
        return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out);
    }
    take_back(r);
    for (int32_t i = 0; i < info->rank; i++)
        shape[i] = info->shape[i]->u.i;
    HONE_TRY(hone_tensor_create(info->dtype, info->rank, shape, &tensor));
    return onnx_add_constant(r, tensor, out);
}

/* Few numbers that follow from constants are computed at once: shapes are made of such. What cannot
 * be computed stays a call. */
static hone_status fold_small(onnx_reader *r, hone_garg *out) {
    hone_graph_func *graph = r->graph;
    hone_gbind *bind = &graph->bindings[graph->bind_count - 1];
    const hone_sinfo *info = graph->values[bind->value].sinfo;
    hone_tensor *tensor = NULL;
    int64_t count = count_of(info);
    if (onnx_is_empty(info)) return fold_empty(r, info, out);
    if (count < 1 || count > ONNX_MAX_KNOWN) return HONE_OK;
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        const hone_tensor *constant = onnx_constant_of(r, &bind->args[i]);
        if (constant && hone_tensor_count(constant) > MAX_FOLDED_INPUT) return HONE_OK;
    }
    hone_status st =
        hone_fold_call(r->module, graph, bind, info, r->arena, MAX_FOLDED_STEPS, &tensor);
    hone_status_free(st);
    if (st || !tensor) return HONE_OK;
    take_back(r);
    return onnx_add_constant(r, tensor, out);
}

hone_status onnx_emit(onnx_reader *r, const char *op, uint32_t arg_count, const hone_garg *args,
                      uint32_t attr_count, const hone_attr *attrs, hone_garg *out) {
    hone_attrs set = {0};
    for (uint32_t i = 0; i < attr_count; i++) {
        if (!hone_attrs_with(r->arena, &set, attrs[i].key, attrs[i].value, &set)) {
            return no_memory();
        }
    }
    hone_garg few[ONNX_FEW_INPUTS], *tensors = few;
    if (arg_count > ONNX_FEW_INPUTS) tensors = hone_arena_alloc(r->arena, arg_count * sizeof *few);
    if (!tensors) return no_memory();
    for (uint32_t i = 0; i < arg_count; i++) {
        tensors[i] = args[i];
        bool is_shape_arg =
            i == 1 && (strcmp(op, "reshape") == 0 || strcmp(op, "broadcast_to") == 0);
        bool is_limit = i >= 1 && strcmp(op, "clip") == 0;
        if (is_shape_arg || is_limit) continue;
        HONE_TRY(onnx_as_tensor(r, &tensors[i]));
    }
    HONE_TRY(onnx_unify(r, op, arg_count, tensors, &set));
    if (arg_count == 1) HONE_TRY(onnx_add_neutral(r, op, &set, &tensors[0]));
    if (hone_graph_add_call(r->graph, op, arg_count, tensors, set, NULL) == HONE_NO_ID) {
        return no_memory();
    }
    HONE_TRY(onnx_finish_bind(r, &r->graph->bindings[r->graph->bind_count - 1], out));
    return fold_small(r, out);
}

hone_status onnx_emit1(onnx_reader *r, const char *op, hone_garg a, hone_garg *out) {
    return onnx_emit(r, op, 1, &a, 0, NULL, out);
}

hone_status onnx_emit2(onnx_reader *r, const char *op, hone_garg a, hone_garg b, hone_garg *out) {
    hone_garg args[] = {a, b};
    return onnx_emit(r, op, 2, args, 0, NULL, out);
}

hone_status onnx_emit_get(onnx_reader *r, hone_garg tuple, int32_t index, hone_garg *out) {
    hone_gvalue value = hone_graph_add_value(r->graph, "lv", NULL);
    hone_garg *args = hone_arena_copy(r->arena, &tuple, sizeof tuple);
    if (value == HONE_NO_ID || !args) return no_memory();
    hone_gbind *bind = hone_graph_add_bind(r->graph, HONE_GBIND_TUPLE_GET, value);
    if (!bind) return no_memory();
    bind->args = args;
    bind->arg_count = 1;
    bind->index = index;
    return onnx_finish_bind(r, bind, out);
}

hone_status onnx_make_ints(onnx_reader *r, uint32_t count, const hone_expr *const *exprs,
                           int32_t rank, hone_garg *out) {
    HONE_TRY(hone_ir_finish(&r->ir));
    if (rank == 0) {
        *out = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = exprs[0]};
        return HONE_OK;
    }
    const hone_expr **copy = hone_arena_alloc(r->arena, (count + 1) * sizeof *copy);
    if (!copy) return no_memory();
    if (count) memcpy(copy, exprs, count * sizeof *copy);
    *out = (hone_garg){.kind = HONE_GARG_SHAPE, .count = count, .u.exprs = copy};
    return HONE_OK;
}

/* In a reshape 0 stands for the extent that x has there; what has no elements is made anew. */
hone_status onnx_emit_reshape(onnx_reader *r, hone_garg x, uint32_t rank,
                              const hone_expr *const *shape, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg args[2] = {x};
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(onnx_make_ints(r, rank, shape, 1, &args[1]));
    if (has_zero(rank, shape) && onnx_is_empty(info)) {
        HONE_TRY(onnx_scalar(r, info->dtype, 0, &args[0]));
        return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out);
    }
    return onnx_emit(r, "reshape", 2, args, 0, NULL, out);
}

hone_status onnx_emit_permute(onnx_reader *r, hone_garg x, uint32_t rank, const int64_t *axes,
                              hone_garg *out) {
    hone_attr attr = {"axes", onnx_ints_value(r, rank, axes)};
    return onnx_emit(r, "permute_dims", 1, &x, 1, &attr, out);
}

hone_status onnx_emit_cast(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_as_tensor(r, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    *out = x;
    if (hone_dtype_equal(info->dtype, dtype)) return HONE_OK;
    hone_attr attr = {"dtype", onnx_text_value(r, HONE_DTYPE_NAME(dtype))};
    return onnx_emit(r, "astype", 1, &x, 1, &attr, out);
}

/* Limits that the float does not have are inside the type. */
hone_status onnx_emit_saturated(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    double low = (double)hone_dtype_min_int(dtype), high = (double)hone_dtype_max_int(dtype);
    int precision = info->dtype.bits > 32 ? 53 : 24;
    if (dtype.bits > precision) high = nextafter(high, 0) - ldexp(1, dtype.bits - precision);
    hone_garg args[3] = {{0}};
    HONE_TRY(onnx_emit1(r, "round", x, &args[0]));
    args[1] =
        (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = hone_expr_float(&r->ir, info->dtype, low)};
    args[2] =
        (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = hone_expr_float(&r->ir, info->dtype, high)};
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(onnx_emit(r, "clip", 3, args, 0, NULL, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

hone_status onnx_add_constant(onnx_reader *r, hone_tensor *tensor, hone_garg *out) {
    uint32_t index;
    HONE_TRY(hone_module_add_constant(r->module, tensor, &index));
    *out = HONE_GARG_OF_CONSTANT(index);
    return HONE_OK;
}

hone_status onnx_scalar(onnx_reader *r, hone_dtype dtype, double value, hone_garg *out) {
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(dtype, 0, NULL, &tensor));
    hone_tensor_set_f64(tensor, 0, value);
    return onnx_add_constant(r, tensor, out);
}

hone_status onnx_scalar_like(onnx_reader *r, const hone_garg *x, double value, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, x, &info));
    return onnx_scalar(r, info->dtype, value, out);
}

hone_status onnx_with_scalar(onnx_reader *r, const char *op, hone_garg x, double value,
                             hone_garg *out) {
    hone_garg scalar;
    HONE_TRY(onnx_scalar_like(r, &x, value, &scalar));
    return onnx_emit2(r, op, x, scalar, out);
}

hone_status onnx_as_tensor(onnx_reader *r, hone_garg *arg) {
    if (arg->kind != HONE_GARG_SHAPE && arg->kind != HONE_GARG_PRIM) return HONE_OK;
    bool is_vector = arg->kind == HONE_GARG_SHAPE, are_numbers = true;
    uint32_t count = is_vector ? arg->count : 1;
    const hone_expr *only = arg->u.expr, *const *sizes = is_vector ? arg->u.exprs : &only;
    int64_t shape[] = {count};
    hone_tensor *tensor;
    for (uint32_t i = 0; i < count; i++)
        are_numbers &= hone_expr_is_int(sizes[i]);
    if (!are_numbers) {
        HONE_TRY(onnx_counted_sizes(r, count, sizes, arg));
        return is_vector ? HONE_OK : onnx_emit_reshape(r, *arg, 0, NULL, arg);
    }
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, is_vector, shape, &tensor));
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_set_i64(tensor, i, sizes[i]->u.i);
    return onnx_add_constant(r, tensor, arg);
}

bool onnx_known_ints(onnx_reader *r, const hone_garg *arg, uint32_t *out_count,
                     const hone_expr **out, int32_t *out_rank) {
    *out_rank = arg->kind != HONE_GARG_PRIM;
    *out_count = 1;
    if (arg->kind == HONE_GARG_PRIM) {
        out[0] = arg->u.expr;
        return true;
    }
    if (arg->kind == HONE_GARG_SHAPE) {
        *out_count = arg->count;
        if (arg->count > ONNX_MAX_KNOWN) return false;
        if (arg->count) memcpy(out, arg->u.exprs, arg->count * sizeof *out);
        return true;
    }
    const hone_tensor *tensor = onnx_constant_of(r, arg);
    if (!tensor || tensor->rank > 1 || hone_tensor_count(tensor) > ONNX_MAX_KNOWN ||
        !(hone_dtype_equal(tensor->dtype, HONE_DTYPE_I64) ||
          hone_dtype_equal(tensor->dtype, HONE_DTYPE_I32))) {
        return false;
    }
    *out_rank = tensor->rank;
    *out_count = (uint32_t)hone_tensor_count(tensor);
    for (uint32_t i = 0; i < *out_count; i++) {
        out[i] = hone_extent_int(&r->ir, hone_tensor_get_i64(tensor, i));
    }
    return !r->ir.error;
}

hone_status onnx_const_ints(onnx_reader *r, uint32_t input, const char *what, uint32_t most,
                            int64_t *out, uint32_t *out_count) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    int32_t rank;
    if (!onnx_known_ints(r, &r->inputs[input], out_count, known, &rank)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s (input %u) must be constant", what, input);
    }
    if (*out_count > most) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s (input %u) has %u items, at most %u fit", what,
                          input, *out_count, most);
    }
    for (uint32_t i = 0; i < *out_count; i++) {
        if (!hone_expr_is_int(known[i])) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "%s (input %u) depends on a symbolic size; give it with --shape",
                              what, input);
        }
        out[i] = known[i]->u.i;
    }
    return HONE_OK;
}

hone_status onnx_const_scalar(onnx_reader *r, uint32_t input, const char *what, int64_t *out) {
    const hone_garg *arg = &r->inputs[input];
    const hone_tensor *tensor = onnx_constant_of(r, arg);
    const hone_expr *known = NULL;
    if (arg->kind == HONE_GARG_PRIM) known = arg->u.expr;
    if (arg->kind == HONE_GARG_SHAPE && arg->count == 1) known = arg->u.exprs[0];
    if (known && hone_expr_is_int(known)) {
        *out = known->u.i;
        return HONE_OK;
    }
    if (!tensor) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s (input %u) must be constant", what, input);
    }
    if (hone_tensor_count(tensor) != 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s (input %u) must be a scalar", what, input);
    }
    *out = hone_dtype_is_float(tensor->dtype) ? (int64_t)hone_tensor_get_f64(tensor, 0)
                                              : hone_tensor_get_i64(tensor, 0);
    return HONE_OK;
}

hone_status onnx_axis(const onnx_reader *r, int64_t axis, int32_t rank, int32_t *out_axis) {
    (void)r;
    if (axis < -rank || axis >= rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "axis is %lld, must be from %d to %d", (long long)axis,
                          -rank, rank - 1);
    }
    *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
    return HONE_OK;
}

hone_value onnx_ints_value(onnx_reader *r, uint32_t count, const int64_t *ints) {
    hone_value *items = hone_arena_zalloc(r->arena, (count + 1) * sizeof *items);
    if (!items) {
        hone_ir_fail(&r->ir, no_memory());
        return (hone_value){0};
    }
    for (uint32_t i = 0; i < count; i++)
        items[i] = HONE_VALUE_OF_INT(ints[i]);
    return (hone_value){.kind = HONE_VALUE_LIST, .count = count, .u.items = items};
}

hone_value onnx_text_value(onnx_reader *r, const char *text) {
    const char *copy = hone_arena_strdup(r->arena, text);
    if (!copy) {
        hone_ir_fail(&r->ir, no_memory());
        return (hone_value){0};
    }
    return HONE_VALUE_OF_STRING(copy);
}
