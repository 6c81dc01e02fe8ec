/* graph/operators/topi.c - the table of builders, and what they are made of. */
#include "graph/operators/topi_build.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *op;
    hone_topi_fn build;
} builders[] = {
#define HONE_TOPI(op, builder) {op, hone_topi_emit_##builder},
#include "graph/operators/topi.def"
#undef HONE_TOPI
};

hone_topi_fn hone_topi_find(const char *op) {
    for (size_t i = 0; i < HONE_COUNT(builders); i++) {
        if (strcmp(builders[i].op, op) == 0) return builders[i].build;
    }
    const hone_graph_op *row = hone_graph_op_find(op);
    bool is_elementwise =
        row && (row->pattern == HONE_PATTERN_ELEMWISE || row->pattern == HONE_PATTERN_BROADCAST);
    return is_elementwise && strcmp(op, "nn.dropout") != 0 ? hone_topi_emit_elementwise : NULL;
}

hone_status hone_topi_unsupported(const hone_topi *t, const char *format, ...) {
    hone_str text = {0};
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    hone_status st =
        HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s': %s", t->op, hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

/* ---- expressions ---- */

/* The nearest number that an integer type has; NaN gives 0. */
static int64_t nearest_int(hone_dtype dtype, double value) {
    int64_t least = hone_dtype_min_int(dtype), most = hone_dtype_max_int(dtype);
    if (value != value) return 0;
    if (value <= (double)least) return least;
    return value >= (double)most ? most : (int64_t)value;
}

const hone_expr *hone_topi_number(hone_topi *t, hone_dtype dtype, double value) {
    if (hone_dtype_is_float(dtype)) return hone_expr_float(&t->te->ir, dtype, value);
    if (hone_dtype_is_bool(dtype)) return hone_expr_bool(&t->te->ir, value != 0);
    return hone_expr_int(&t->te->ir, dtype, nearest_int(dtype, value));
}

/* ---- short floats ---- */

hone_dtype hone_topi_wide(hone_dtype dtype) {
    return hone_dtype_is_short_float(dtype) ? HONE_DTYPE_F32 : dtype;
}

const hone_expr *hone_topi_widen(hone_topi *t, const hone_expr *x) {
    return x ? hone_expr_cast(&t->te->ir, hone_topi_wide(x->dtype), x) : NULL;
}

void hone_topi_give(hone_topi *t, hone_buffer wide) {
    t->result = wide;
    if (wide == HONE_NO_ID) return;
    if (hone_dtype_equal(hone_func_buffer(t->te->func, wide)->dtype, t->out->dtype)) return;
    hone_te_stage s;
    hone_topi_stage(t, &s);
    const hone_expr *value = hone_te_load(t->te, wide, s.axis);
    t->result =
        hone_te_compute(t->te, &s, "cast", hone_expr_cast(&t->te->ir, t->out->dtype, value));
}

const hone_expr *hone_topi_mean(hone_topi *t, const hone_expr *sum, const hone_expr *count) {
    if (!sum || !count) return NULL;
    if (hone_dtype_is_bool(sum->dtype)) {
        return hone_ir_fail(&t->te->ir, hone_topi_unsupported(t, "a mean of truths"));
    }
    bool is_float = hone_dtype_is_float(sum->dtype);
    return hone_expr_binary(&t->te->ir, is_float ? HONE_OP_DIV : HONE_OP_TRUNCDIV, sum, count);
}

const hone_expr *hone_topi_op(hone_topi *t, hone_op op, const hone_expr *a, const hone_expr *b) {
    return a && b ? hone_expr_binary(&t->te->ir, op, a, b) : NULL;
}

const hone_expr *hone_topi_both(hone_topi *t, const hone_expr *a, const hone_expr *b) {
    return a && b ? hone_topi_op(t, HONE_OP_AND, a, b) : a ? a : b;
}

const hone_expr *hone_topi_choose(hone_topi *t, const hone_expr *condition, const hone_expr *value,
                                  const hone_expr *otherwise) {
    const hone_expr *choice[] = {condition, value, otherwise};
    if (!condition || !value) return value;
    return hone_expr_call(&t->te->ir, value->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice);
}

const hone_expr *hone_topi_intrin(hone_topi *t, hone_intrin intrin, const hone_expr *x) {
    return x ? hone_expr_call(&t->te->ir, x->dtype, intrin, 1, &x) : NULL;
}

static const hone_expr *beyond(hone_topi *t) {
    return hone_ir_fail(&t->te->ir, hone_topi_unsupported(t, "a size beyond 64 bits"));
}

const hone_expr *hone_topi_sum(hone_topi *t, const hone_expr *x, const hone_expr *y) {
    if (!x || !y) return NULL;
    int64_t sum;
    if (hone_expr_is_int(x) && hone_expr_is_int(y)) {
        bool is_far = __builtin_add_overflow(x->u.i, y->u.i, &sum);
        return is_far ? beyond(t) : hone_te_int(t->te, sum);
    }
    if (hone_expr_is_int_value(x, 0)) return y;
    if (hone_expr_is_int_value(y, 0)) return x;
    if (hone_expr_is_int(y) && y->u.i < 0) {
        return hone_expr_sub(&t->te->ir, x, hone_expr_int(&t->te->ir, y->dtype, -y->u.i));
    }
    return hone_expr_add(&t->te->ir, x, y);
}

const hone_expr *hone_topi_add_int(hone_topi *t, const hone_expr *x, int64_t c) {
    return hone_topi_sum(t, x, hone_te_int(t->te, c));
}

const hone_expr *hone_topi_mul_int(hone_topi *t, const hone_expr *x, int64_t c) {
    int64_t product;
    if (!x || c == 1) return x;
    if (hone_expr_is_int(x)) {
        bool is_far = __builtin_mul_overflow(x->u.i, c, &product);
        return is_far ? beyond(t) : hone_te_int(t->te, product);
    }
    return hone_expr_mul(&t->te->ir, x, hone_te_int(t->te, c));
}

const hone_expr *hone_topi_load(hone_topi *t, uint32_t i, const hone_expr *const *indices) {
    if (t->literals[i]) return t->literals[i];
    return hone_te_load(t->te, t->buffers[i], indices);
}

const hone_expr *hone_topi_at(hone_topi *t, uint32_t i, const hone_expr *const *axes,
                              uint32_t rank) {
    const hone_expr *indices[HONE_MAX_RANK];
    if (t->literals[i]) return t->literals[i];
    uint32_t own = (uint32_t)t->infos[i]->rank;
    assert(own <= rank);
    for (uint32_t d = 0; d < own; d++) {
        uint32_t at = d + rank - own;
        bool is_stretched = hone_expr_is_int_value(t->shapes[i][d], 1) &&
                            !hone_expr_is_int_value(t->out_shape[at], 1);
        indices[d] = is_stretched ? hone_te_int(t->te, 0) : axes[at];
    }
    return hone_te_load(t->te, t->buffers[i], indices);
}

void hone_topi_stage(hone_topi *t, hone_te_stage *stage) {
    hone_te_stage_begin(t->te, stage, (uint32_t)t->out->rank, t->out_shape, 0, NULL);
}

/* before <= axis and axis < before + extent, as far as it is not sure; NULL = always */
static const hone_expr *inside(hone_topi *t, const hone_expr *axis, int64_t before, int64_t after,
                               const hone_expr *extent) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *low = NULL, *high = NULL;
    if (before > 0) low = hone_expr_binary(ir, HONE_OP_LE, hone_te_int(t->te, before), axis);
    if (after > 0) {
        high = hone_expr_binary(ir, HONE_OP_LT, axis, hone_topi_add_int(t, extent, before));
    }
    return hone_topi_both(t, low, high);
}

hone_buffer hone_topi_padded(hone_topi *t, const int64_t *before, const int64_t *after,
                             const hone_expr *value) {
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    const hone_expr *shape[HONE_MAX_RANK] = {NULL}, *indices[HONE_MAX_RANK], *all = NULL;
    bool is_needed = false;
    for (uint32_t d = 0; d < rank; d++) {
        is_needed |= before[d] != 0 || after[d] != 0;
        const hone_expr *extent = t->shapes[0][d];
        shape[d] = hone_expr_is_int(extent)
                       ? hone_topi_add_int(t, extent, before[d] + after[d])
                       : hone_extent_add(&t->te->ir, extent, before[d] + after[d]);
    }
    if (!is_needed && !t->literals[0]) return t->buffers[0];
    hone_te_stage stage;
    hone_te_stage_begin(t->te, &stage, rank, shape, 0, NULL);
    for (uint32_t d = 0; d < rank; d++) {
        indices[d] = hone_topi_add_int(t, stage.axis[d], -before[d]);
        const hone_expr *here = inside(t, stage.axis[d], before[d], after[d], t->shapes[0][d]);
        all = hone_topi_both(t, all, here);
    }
    const hone_expr *load = hone_topi_load(t, 0, indices);
    load = hone_topi_choose(t, all, load, value);
    return hone_te_compute(t->te, &stage, "pad_temp", load);
}
