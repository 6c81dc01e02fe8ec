/* ir/interp/interp_graph_value.c - values of graph functions: tensors, sizes, arguments. */
#include "ir/arith/arith.h"
#include "ir/interp/interp_graph_impl.h"
#include "support/core/alloc.h"

/* ---- tensors ---- */

/* Takes tensor. */
hone_status frame_own(frame *f, hone_tensor *tensor) {
    if (f->owned_count == f->owned_capacity) {
        uint32_t capacity = f->owned_capacity ? f->owned_capacity * 2 : 32;
        hone_tensor **owned = hone_realloc_array(f->owned, capacity, sizeof *owned);
        if (!owned) {
            hone_tensor_destroy(tensor);
            return frame_no_memory();
        }
        f->owned = owned;
        f->owned_capacity = capacity;
    }
    f->owned[f->owned_count++] = tensor;
    return HONE_OK;
}

hone_status frame_tensor(frame *f, hone_dtype dtype, int32_t rank, const int64_t *shape,
                         hone_tensor **out_tensor) {
    HONE_TRY(hone_tensor_create(dtype, rank, shape, out_tensor));
    return frame_own(f, *out_tensor);
}

hone_status frame_number(frame *f, hone_dtype dtype, int64_t value, hone_tensor **out_tensor) {
    HONE_TRY(frame_tensor(f, dtype, 0, NULL, out_tensor));
    hone_tensor_set_i64(*out_tensor, 0, value);
    return HONE_OK;
}

/* ---- sizes ---- */

hone_status frame_size(frame *f, const hone_expr *e, int64_t *out_value) {
    hone_ir ir = {.arena = f->arena};
    const hone_expr *known = hone_expr_substitute(&ir, e, f->sizes, f->graph->var_count);
    known = known ? hone_simplify_plain(&ir, known) : NULL;
    HONE_TRY(hone_ir_finish(&ir));
    if (!known || known->kind != HONE_EXPR_INT) {
        return HONE_ERROR(HONE_CODE_INVALID, "a size is not known in '%s'", f->graph->name);
    }
    *out_value = known->u.i;
    return HONE_OK;
}

/* Binds a lone size variable to an extent, or checks the extent. */
static hone_status match_extent(frame *f, const char *name, int32_t d, const hone_expr *want,
                                int64_t got) {
    int64_t value;
    if (want->kind == HONE_EXPR_VAR && want->u.var < f->graph->var_count &&
        !f->sizes[want->u.var]) {
        hone_ir ir = {.arena = f->arena};
        f->sizes[want->u.var] = hone_expr_int(&ir, want->dtype, got);
        return hone_ir_finish(&ir);
    }
    HONE_TRY(frame_size(f, want, &value));
    if (value == got) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' has the extent %lld in dimension %d, must have %lld",
                      name, (long long)got, (int)d, (long long)value);
}

static bool is_lone_size(const hone_expr *e) {
    return e->kind == HONE_EXPR_VAR;
}

/* lone: only extents that are a size alone (first, so that others can be computed from them). */
hone_status frame_match(frame *f, const char *name, const hone_sinfo *info, const gvalue *value,
                        bool lone) {
    if (!info) return HONE_OK;
    if (info->kind == HONE_SINFO_TUPLE) {
        if (value->kind != V_TUPLE || value->count != info->field_count) {
            return HONE_ERROR(HONE_CODE_INVALID, "'%s' must be a tuple of %u", name,
                              (unsigned)info->field_count);
        }
        for (uint32_t i = 0; i < info->field_count; i++) {
            HONE_TRY(frame_match(f, name, info->fields[i], &value->items[i], lone));
        }
        return HONE_OK;
    }
    if (info->kind != HONE_SINFO_TENSOR && info->kind != HONE_SINFO_SHAPE) return HONE_OK;
    bool is_tensor = info->kind == HONE_SINFO_TENSOR;
    if (value->kind != (is_tensor ? V_TENSOR : V_SHAPE)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' must be a %s", name,
                          is_tensor ? "tensor" : "shape");
    }
    int32_t rank = is_tensor ? value->tensor->rank : (int32_t)value->count;
    if (info->rank >= 0 && info->rank != rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' has %d dimensions, must have %d", name,
                          (int)rank, (int)info->rank);
    }
    bool is_wide = f->options && f->options->widen_f64 && hone_dtype_is_float(info->dtype);
    if (is_tensor && !hone_dtype_is_void(info->dtype) && !is_wide &&
        !hone_dtype_equal(info->dtype, value->tensor->dtype)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is %s, must be %s", name,
                          HONE_DTYPE_NAME(value->tensor->dtype), HONE_DTYPE_NAME(info->dtype));
    }
    for (int32_t d = 0; info->shape && d < info->rank; d++) {
        if (is_lone_size(info->shape[d]) != lone) continue;
        int64_t got = is_tensor ? value->tensor->shape[d] : value->dims[d];
        HONE_TRY(match_extent(f, name, d, info->shape[d], got));
    }
    return HONE_OK;
}

/* ---- arguments ---- */

static hone_status eval_shape(frame *f, const hone_garg *arg, gvalue *out_value) {
    int64_t *dims = hone_arena_zalloc(f->arena, (arg->count + 1) * sizeof *dims);
    if (!dims) return frame_no_memory();
    for (uint32_t i = 0; i < arg->count; i++)
        HONE_TRY(frame_size(f, arg->u.exprs[i], &dims[i]));
    *out_value = (gvalue){.kind = V_SHAPE, .count = arg->count, .dims = dims};
    return HONE_OK;
}

static hone_status eval_tuple(frame *f, const hone_garg *arg, gvalue *out_value) {
    gvalue *items = hone_arena_zalloc(f->arena, (arg->count + 1) * sizeof *items);
    if (!items) return frame_no_memory();
    for (uint32_t i = 0; i < arg->count; i++)
        HONE_TRY(frame_eval(f, &arg->u.items[i], &items[i]));
    *out_value = (gvalue){.kind = V_TUPLE, .count = arg->count, .items = items};
    return HONE_OK;
}

static hone_status eval_number(frame *f, const hone_expr *e, gvalue *out_value) {
    hone_tensor *tensor;
    int64_t value;
    if (e->kind == HONE_EXPR_FLOAT) {
        HONE_TRY(frame_tensor(f, e->dtype, 0, NULL, &tensor));
        hone_tensor_set_f64(tensor, 0, e->u.f);
    } else {
        HONE_TRY(frame_size(f, e, &value));
        HONE_TRY(frame_number(f, e->dtype, value, &tensor));
    }
    *out_value = (gvalue){.kind = V_TENSOR, .tensor = tensor};
    return HONE_OK;
}

hone_status frame_eval(frame *f, const hone_garg *arg, gvalue *out_value) {
    *out_value = (gvalue){0};
    switch (arg->kind) {
    case HONE_GARG_VALUE:
        if (arg->u.value < f->graph->value_count) *out_value = f->values[arg->u.value];
        if (out_value->kind != V_NONE) return HONE_OK;
        return HONE_ERROR(HONE_CODE_ILLEGAL, "a value is used before it is defined in '%s'",
                          f->graph->name);
    case HONE_GARG_CONSTANT:
        if (arg->u.constant >= f->module->constant_count) {
            return HONE_ERROR(HONE_CODE_ILLEGAL, "constant %u does not exist",
                              (unsigned)arg->u.constant);
        }
        *out_value = (gvalue){.kind = V_TENSOR, .tensor = f->module->constants[arg->u.constant]};
        return HONE_OK;
    case HONE_GARG_SHAPE:
        return eval_shape(f, arg, out_value);
    case HONE_GARG_TUPLE:
        return eval_tuple(f, arg, out_value);
    case HONE_GARG_PRIM:
        return eval_number(f, arg->u.expr, out_value);
    default:
        return HONE_OK; /* names and dtypes have no value */
    }
}
