/* ir/ops/graph_infer_help.c - helpers of shape inference: extents, axes, attributes, messages. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/arith/arith.h"
#include "ir/core/fold.h"
#include "ir/ops/graph_infer.h"

/* ---- messages ---- */

void hone_extent_describe(const hone_graph_func *graph, const hone_expr *e, hone_str *out) {
    if (e->kind == HONE_EXPR_INT) {
        hone_str_printf(out, "%lld", (long long)e->u.i);
    } else if (e->kind == HONE_EXPR_VAR && graph && e->u.var < graph->var_count) {
        hone_str_append(out, graph->vars[e->u.var].name);
    } else if (e->kind == HONE_EXPR_BINARY) {
        const char *spelling = hone_op_spelling((hone_op)e->op);
        hone_str_append(out, "(");
        hone_extent_describe(graph, e->args[0], out);
        hone_str_printf(out, " %s ", spelling ? spelling : "?");
        hone_extent_describe(graph, e->args[1], out);
        hone_str_append(out, ")");
    } else {
        hone_str_append(out, "?");
    }
}

void hone_sinfo_describe(const hone_graph_func *graph, const hone_sinfo *info, hone_str *out) {
    if (!info) {
        hone_str_append(out, "unknown");
        return;
    }
    switch (info->kind) {
    case HONE_SINFO_TENSOR:
        hone_str_append(out,
                        hone_dtype_is_void(info->dtype) ? "tensor" : HONE_DTYPE_NAME(info->dtype));
        break;
    case HONE_SINFO_SHAPE:
        hone_str_append(out, "shape");
        break;
    case HONE_SINFO_PRIM:
        hone_str_append(out, HONE_DTYPE_NAME(info->dtype));
        return;
    case HONE_SINFO_TUPLE:
        hone_str_append(out, "(");
        for (uint32_t i = 0; i < info->field_count; i++) {
            if (i) hone_str_append(out, ", ");
            hone_sinfo_describe(graph, info->fields[i], out);
        }
        hone_str_append(out, ")");
        return;
    case HONE_SINFO_CALLABLE:
        hone_str_append(out, "function");
        return;
    case HONE_SINFO_OBJECT:
        hone_str_append(out, "object");
        return;
    }
    if (info->rank < 0) return;
    hone_str_append(out, "[");
    for (int32_t i = 0; i < info->rank; i++) {
        if (i) hone_str_append(out, ", ");
        if (info->shape)
            hone_extent_describe(graph, info->shape[i], out);
        else
            hone_str_append(out, "?");
    }
    hone_str_append(out, "]");
}

HONE_PRINTF(3, 0)
static hone_status fail_with(const hone_infer *in, hone_code code, const char *format,
                             va_list args) {
    hone_str text = {0};
    hone_str_printf(&text, "'%s' of ", in->op->name);
    for (uint32_t i = 0; i < in->bind->arg_count && i < HONE_INFER_MAX_ARGS; i++) {
        if (i) hone_str_append(&text, i + 1 == in->bind->arg_count ? " and " : ", ");
        hone_sinfo_describe(in->graph, in->args[i], &text);
    }
    hone_str_append(&text, ": ");
    hone_str_vprintf(&text, format, args);
    hone_status st = HONE_ERROR(code, "%s", hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

hone_status hone_infer_fail(const hone_infer *in, const char *format, ...) {
    va_list args;
    va_start(args, format);
    hone_status st = fail_with(in, HONE_CODE_TYPE, format, args);
    va_end(args);
    return st;
}

hone_status hone_infer_doubt(const hone_infer *in, const char *format, ...) {
    va_list args;
    va_start(args, format);
    hone_status st = fail_with(in, HONE_CODE_UNSUPPORTED, format, args);
    va_end(args);
    return st;
}

/* ---- extents ---- */

const hone_expr *hone_extent_int(hone_ir *ir, int64_t value) {
    return hone_expr_int(ir, HONE_DTYPE_I64, value);
}

static const hone_expr *overflow(hone_ir *ir) {
    return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_INVALID, "a size is beyond 64 bits"));
}

static bool is_negated(const hone_expr *e) {
    return hone_expr_is_op(e, HONE_OP_MUL) && hone_expr_is_int_value(e->args[1], -1);
}

/* The sum without the term; NULL where it is none of its terms. */
static const hone_expr *without(hone_ir *ir, const hone_expr *sum, const hone_expr *term) {
    if (hone_extent_same(sum, term)) return hone_extent_int(ir, 0);
    for (int i = 0; hone_expr_is_op(sum, HONE_OP_ADD) && i < 2; i++) {
        const hone_expr *rest = without(ir, sum->args[i], term);
        if (rest) return hone_extent_sum(ir, i ? sum->args[0] : rest, i ? rest : sum->args[1]);
    }
    return NULL;
}

/* (x + y) + (y * -1) is x, whichever of the two comes first; NULL where nothing cancels. */
static const hone_expr *cancelled(hone_ir *ir, const hone_expr *a, const hone_expr *b) {
    const hone_expr *rest = is_negated(b) ? without(ir, a, b->args[0]) : NULL;
    return !rest && is_negated(a) ? without(ir, b, a->args[0]) : rest;
}

const hone_expr *hone_extent_sum(hone_ir *ir, const hone_expr *a, const hone_expr *b) {
    if (!a || !b) return NULL;
    if (hone_expr_is_int(a) && hone_expr_is_int(b)) {
        int64_t sum;
        if (__builtin_add_overflow(a->u.i, b->u.i, &sum)) return overflow(ir);
        return hone_extent_int(ir, sum);
    }
    if (hone_expr_is_int_value(a, 0)) return b;
    if (hone_expr_is_int_value(b, 0)) return a;
    const hone_expr *rest = cancelled(ir, a, b);
    if (rest) return rest;
    /* (x + c) + d */
    if (hone_expr_is_int(b) && hone_expr_is_op(a, HONE_OP_ADD) && hone_expr_is_int(a->args[1])) {
        return hone_extent_sum(ir, a->args[0], hone_extent_sum(ir, a->args[1], b));
    }
    if (hone_expr_is_int(a)) return hone_expr_add(ir, b, a);
    return hone_expr_add(ir, a, b);
}

const hone_expr *hone_extent_add(hone_ir *ir, const hone_expr *a, int64_t b) {
    return hone_extent_sum(ir, a, hone_extent_int(ir, b));
}

const hone_expr *hone_extent_mul(hone_ir *ir, const hone_expr *a, const hone_expr *b) {
    if (!a || !b) return NULL;
    if (hone_expr_is_int(a) && hone_expr_is_int(b)) {
        int64_t product;
        if (__builtin_mul_overflow(a->u.i, b->u.i, &product)) return overflow(ir);
        return hone_extent_int(ir, product);
    }
    if (hone_expr_is_int_value(a, 1) || hone_expr_is_int_value(b, 0)) return b;
    if (hone_expr_is_int_value(b, 1) || hone_expr_is_int_value(a, 0)) return a;
    if (hone_expr_is_int(b) && hone_expr_is_op(a, HONE_OP_MUL) && hone_expr_is_int(a->args[1])) {
        return hone_extent_mul(ir, a->args[0], hone_extent_mul(ir, a->args[1], b));
    }
    if (hone_expr_is_int(a)) return hone_extent_mul(ir, b, a);
    return hone_expr_mul(ir, a, b);
}

const hone_expr *hone_extent_div(hone_ir *ir, const hone_expr *a, int64_t b) {
    if (!a) return NULL;
    if (b == 1) return a;
    if (hone_expr_is_int(a)) return hone_extent_int(ir, hone_floor_div(a->u.i, b));
    if (hone_expr_is_op(a, HONE_OP_MUL) && hone_expr_is_int(a->args[1]) &&
        a->args[1]->u.i % b == 0) {
        return hone_extent_mul(ir, a->args[0], hone_extent_int(ir, a->args[1]->u.i / b));
    }
    return hone_expr_floordiv(ir, a, hone_extent_int(ir, b));
}

bool hone_extent_same(const hone_expr *a, const hone_expr *b) {
    if (hone_expr_is_int(a) && hone_expr_is_int(b)) return a->u.i == b->u.i;
    return hone_expr_same(a, b);
}

bool hone_extent_differs(const hone_expr *a, const hone_expr *b) {
    return hone_expr_is_int(a) && hone_expr_is_int(b) && a->u.i != b->u.i;
}

bool hone_extent_equals(hone_arena *arena, const hone_expr *a, const hone_expr *b) {
    if (hone_extent_same(a, b)) return true;
    hone_arith arith;
    hone_arith_init(&arith, arena);
    return hone_prove_equal(&arith, a, b);
}

bool hone_infer_same_extent(const hone_infer *in, const hone_expr *a, const hone_expr *b) {
    return hone_extent_equals(in->ir.arena, a, b);
}

/* ---- results ---- */

hone_status hone_infer_tensor(hone_infer *in, hone_dtype dtype, int32_t rank,
                              const hone_expr *const *shape) {
    if (in->ir.error) return hone_ir_finish(&in->ir);
    if (rank > HONE_MAX_RANK) {
        return hone_infer_fail(in, "the result has %d dimensions, at most %d are allowed", rank,
                               HONE_MAX_RANK);
    }
    const hone_expr **copy =
        hone_arena_copy(in->ir.arena, shape, ((size_t)rank + !rank) * sizeof *copy);
    if (copy) in->result = hone_sinfo_tensor(in->ir.arena, dtype, rank, copy);
    return in->result ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
}

hone_dtype hone_infer_out_dtype(const hone_infer *in, hone_dtype fallback) {
    hone_dtype dtype;
    const char *name = hone_attrs_string(&in->bind->attrs, "out_dtype", "void");
    if (!hone_dtype_parse(name, &dtype) || hone_dtype_is_void(dtype)) return fallback;
    return dtype;
}

bool hone_dtypes_differ(hone_dtype a, hone_dtype b) {
    return !hone_dtype_is_void(a) && !hone_dtype_is_void(b) && !hone_dtype_equal(a, b);
}

hone_status hone_infer_factor_dtypes(const hone_infer *in) {
    if (!hone_dtypes_differ(in->args[0]->dtype, in->args[1]->dtype)) return HONE_OK;
    bool is_said = !hone_dtype_is_void(hone_infer_out_dtype(in, HONE_DTYPE_VOID));
    return is_said ? HONE_OK : hone_infer_fail(in, "element types differ");
}

/* ---- axes ---- */

hone_status hone_infer_axis(const hone_infer *in, int64_t axis, int32_t rank, int32_t *out_axis) {
    if (axis < -rank || axis >= rank) {
        return hone_infer_fail(in, "axis %lld is not in [%d, %d)", (long long)axis, -rank, rank);
    }
    *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
    return HONE_OK;
}

static bool value_int(const hone_value *value, int64_t *out) {
    if (value->kind == HONE_VALUE_INT || value->kind == HONE_VALUE_BOOL) {
        *out = value->u.i;
        return true;
    }
    if (value->kind == HONE_VALUE_EXPR && hone_expr_is_int(value->u.expr)) {
        *out = value->u.expr->u.i;
        return true;
    }
    return false;
}

hone_status hone_infer_axes(const hone_infer *in, const char *key, int32_t rank,
                            bool out_is_axis[HONE_MAX_RANK]) {
    const hone_value *value = hone_attrs_find(&in->bind->attrs, key);
    bool all = !value || value->kind == HONE_VALUE_NONE;
    for (int32_t i = 0; i < HONE_MAX_RANK; i++)
        out_is_axis[i] = all && i < rank;
    if (all) return HONE_OK;
    bool is_list = value->kind == HONE_VALUE_LIST;
    uint32_t count = is_list ? value->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        int64_t axis;
        int32_t at = 0;
        if (!value_int(is_list ? &value->u.items[i] : value, &axis)) {
            return hone_infer_fail(in, "'%s' must be an integer or a list of them", key);
        }
        HONE_TRY(hone_infer_axis(in, axis, rank, &at));
        if (out_is_axis[at]) return hone_infer_fail(in, "axis %d is given twice", at);
        out_is_axis[at] = true;
    }
    return HONE_OK;
}

hone_status hone_graph_attr_ints(const hone_gbind *bind, const char *key, uint32_t count,
                                 int64_t fallback, int64_t *out) {
    const hone_value *value = hone_attrs_find(&bind->attrs, key);
    for (uint32_t i = 0; i < count; i++)
        out[i] = fallback;
    if (!value || value->kind == HONE_VALUE_NONE) return HONE_OK;
    int64_t one;
    bool is_list = value->kind == HONE_VALUE_LIST;
    if (value_int(is_list && value->count == 1 ? &value->u.items[0] : value, &one)) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = one;
        return HONE_OK;
    }
    for (uint32_t i = 0; is_list && value->count == count && i < count; i++) {
        is_list = value_int(&value->u.items[i], &out[i]);
    }
    if (is_list && value->count == count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' of '%s' must be %u integers", key,
                      bind->callee, count);
}

bool hone_graph_permutes(const hone_gbind *bind, uint32_t rank, const int64_t *axes) {
    int64_t own[HONE_MAX_RANK];
    if (!hone_gbind_calls(bind, "permute_dims") || rank > HONE_MAX_RANK) return false;
    if (hone_status_consume(hone_graph_attr_ints(bind, "axes", rank, rank, own))) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (own[i] == rank) own[i] = rank - 1 - i; /* not said: all the other way round */
        if (own[i] != axes[i] && own[i] + rank != axes[i]) return false;
    }
    return true;
}

hone_status hone_graph_attr_padding(const hone_gbind *bind, uint32_t spatial, int64_t *out) {
    const hone_value *value = hone_attrs_find(&bind->attrs, "padding");
    if (value && value->kind == HONE_VALUE_LIST && value->count == 2 * spatial) {
        return hone_graph_attr_ints(bind, "padding", 2 * spatial, 0, out);
    }
    bool is_other =
        value && value->kind == HONE_VALUE_LIST && value->count != 1 && value->count != spatial;
    if (is_other) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "attribute 'padding' of '%s' has %u integers, must have 1, %u or %u",
                          bind->callee, value->count, spatial, 2 * spatial);
    }
    HONE_TRY(hone_graph_attr_ints(bind, "padding", spatial, 0, out));
    memcpy(out + spatial, out, spatial * sizeof *out);
    return HONE_OK;
}

hone_status hone_graph_check_layout(const hone_gbind *bind, const char *key, const char *want) {
    const hone_value *value = hone_attrs_find(&bind->attrs, key);
    if (!value || value->kind == HONE_VALUE_NONE) return HONE_OK;
    const char *text = value->kind == HONE_VALUE_STRING ? value->u.s : "?";
    if (strcmp(text, want) == 0 || text[0] == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' with %s '%s': only '%s' is implemented",
                      bind->callee, key, text, want);
}

int32_t hone_garg_ints(const hone_garg *arg, int64_t out[HONE_MAX_RANK]) {
    if (arg->count > HONE_MAX_RANK) return -1;
    for (uint32_t i = 0; i < arg->count; i++) {
        const hone_expr *e = NULL;
        if (arg->kind == HONE_GARG_SHAPE) e = arg->u.exprs[i];
        if (arg->kind == HONE_GARG_TUPLE && arg->u.items[i].kind == HONE_GARG_PRIM) {
            e = arg->u.items[i].u.expr;
        }
        if (!e || !hone_expr_is_int(e)) return -1;
        out[i] = e->u.i;
    }
    if (arg->kind != HONE_GARG_SHAPE && arg->kind != HONE_GARG_TUPLE) return -1;
    return (int32_t)arg->count;
}

/* ---- broadcasting ---- */

static hone_status broadcast_extent(const hone_infer *in, const hone_expr *a, const hone_expr *b,
                                    const hone_expr **out) {
    if (!a || hone_expr_is_int_value(a, 1) || hone_infer_same_extent(in, a, b)) {
        *out = b;
    } else if (hone_expr_is_int_value(b, 1)) {
        *out = a;
    } else if (hone_extent_differs(a, b)) {
        return hone_infer_fail(in, "extents %lld and %lld cannot be broadcast", (long long)a->u.i,
                               (long long)b->u.i);
    } else {
        return hone_infer_doubt(in, "two symbolic extents are not known to be equal");
    }
    return HONE_OK;
}

hone_status hone_infer_broadcast(hone_infer *in, uint32_t count, const hone_sinfo *const *infos,
                                 const hone_expr **shape, int32_t *out_rank) {
    int32_t rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (infos[i]->kind != HONE_SINFO_TENSOR) {
            return hone_infer_fail(in, "argument %u is no tensor", i + 1);
        }
        if (infos[i]->rank > rank) rank = infos[i]->rank;
    }
    if (rank > HONE_MAX_RANK) return hone_infer_fail(in, "more than %d dimensions", HONE_MAX_RANK);
    for (int32_t d = 0; d < rank; d++) {
        shape[d] = NULL;
        for (uint32_t i = 0; i < count; i++) {
            int32_t at = d - (rank - infos[i]->rank);
            if (at < 0) continue;
            HONE_TRY(broadcast_extent(in, shape[d], infos[i]->shape[at], &shape[d]));
        }
    }
    *out_rank = rank;
    return HONE_OK;
}
