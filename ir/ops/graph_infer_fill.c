/* ir/ops/graph_infer_fill.c - shapes of operators that make tensors of numbers and shapes. */
#include <math.h>
#include <string.h>

#include "ir/ops/graph_infer.h"

bool hone_infer_makes(int rule) {
    return rule == HONE_INFER_FILL || rule == HONE_INFER_ARANGE;
}

hone_status hone_infer_dtype(hone_infer *in, hone_dtype fallback, hone_dtype *out) {
    const char *name = hone_attrs_string(&in->bind->attrs, "dtype", "void");
    if (!hone_dtype_parse(name, out)) return hone_infer_fail(in, "'%s' is no element type", name);
    if (hone_dtype_is_void(*out)) *out = fallback;
    return HONE_OK;
}

/* One number everywhere: in a shape, or in that of a tensor. */
hone_status hone_infer_fill(hone_infer *in) {
    const hone_sinfo *shape = in->args[0], *number = in->bind->arg_count > 1 ? in->args[1] : NULL;
    bool is_shape = shape->kind == HONE_SINFO_SHAPE, is_like = shape->kind == HONE_SINFO_TENSOR;
    hone_dtype dtype;
    if (is_shape != (strstr(in->op->name, "_like") == NULL) || (!is_shape && !is_like)) {
        return hone_infer_fail(in, "the first argument must be a %s",
                               is_shape ? "tensor" : "shape");
    }
    if (number && (number->kind != HONE_SINFO_TENSOR || number->rank != 0)) {
        return hone_infer_doubt(in, "what is filled in must be a tensor of no dimensions");
    }
    hone_dtype own = is_like ? shape->dtype : number ? number->dtype : HONE_DTYPE_F32;
    HONE_TRY(hone_infer_dtype(in, own, &dtype));
    return hone_infer_tensor(in, dtype, shape->rank, shape->shape);
}

/* ---- ranges ---- */

hone_status hone_graph_range(const hone_gbind *bind, hone_ir *ir, hone_range_facts *out) {
    const hone_expr *given[3] = {NULL};
    out->is_float = false;
    for (uint32_t i = 0; i < bind->arg_count && i < 3; i++) {
        const hone_garg *arg = &bind->args[i];
        if (arg->kind == HONE_GARG_PRIM) given[i] = arg->u.expr;
        if (!given[i] && arg->kind != HONE_GARG_NONE)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' of what is no number", bind->callee);
        out->is_float |= given[i] && hone_dtype_is_float(given[i]->dtype);
    }
    if (!given[0]) return HONE_ERROR(HONE_CODE_TYPE, "'%s' without an end", bind->callee);
    out->start = given[1] ? given[0] : hone_extent_int(ir, 0);
    out->end = given[1] ? given[1] : given[0];
    out->step = given[2] ? given[2] : hone_extent_int(ir, 1);
    return hone_ir_finish(ir);
}

static bool number_of(const hone_expr *e, double *out) {
    if (e->kind == HONE_EXPR_FLOAT) *out = e->u.f;
    if (e->kind == HONE_EXPR_INT) *out = (double)e->u.i;
    return e->kind == HONE_EXPR_FLOAT || e->kind == HONE_EXPR_INT;
}

static hone_status float_range(hone_infer *in, const hone_range_facts *f, const hone_expr **out) {
    double start, end, step;
    bool are_known =
        number_of(f->start, &start) && number_of(f->end, &end) && number_of(f->step, &step);
    if (!are_known || step == 0) return hone_infer_doubt(in, "wants numbers, and a step");
    double count = ceil((end - start) / step);
    if (!(count >= 0 && count < 1 << 30))
        return hone_infer_fail(in, "a range of %g numbers", count);
    *out = hone_extent_int(&in->ir, (int64_t)count);
    return HONE_OK;
}

/* ceil((end - start) / step) */
static hone_status int_range(hone_infer *in, const hone_range_facts *f, const hone_expr **out) {
    hone_ir *ir = &in->ir;
    if (!hone_expr_is_int(f->step) || f->step->u.i == 0 || f->step->u.i == INT64_MIN) {
        return hone_infer_doubt(in, "the step must be a number other than 0");
    }
    bool is_up = f->step->u.i > 0;
    int64_t by = is_up ? f->step->u.i : -f->step->u.i;
    const hone_expr *from = is_up ? f->start : f->end, *to = is_up ? f->end : f->start;
    const hone_expr *back = hone_extent_mul(ir, from, hone_extent_int(ir, -1));
    *out = hone_extent_div(ir, hone_extent_add(ir, hone_extent_sum(ir, to, back), by - 1), by);
    if (*out && hone_expr_is_int(*out) && (*out)->u.i < 0) *out = hone_extent_int(ir, 0);
    return HONE_OK;
}

hone_status hone_infer_arange(hone_infer *in) {
    hone_range_facts facts;
    const hone_expr *extent = NULL;
    hone_dtype dtype;
    HONE_TRY(hone_graph_range(in->bind, &in->ir, &facts));
    HONE_TRY(hone_infer_dtype(in, facts.is_float ? HONE_DTYPE_F32 : HONE_DTYPE_I64, &dtype));
    HONE_TRY(facts.is_float ? float_range(in, &facts, &extent) : int_range(in, &facts, &extent));
    if (!extent) return hone_ir_finish(&in->ir);
    return hone_infer_tensor(in, dtype, 1, &extent);
}
