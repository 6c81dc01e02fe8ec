/* graph/passes/normalize_fill.c - see normalize_fill.h. */
#include "graph/passes/normalize_fill.h"

#include <string.h>

#include "ir/ops/graph_infer.h"

static hone_status number(hone_rewrite *rw, hone_dtype dtype, double value, hone_garg *out) {
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(dtype, 0, NULL, &tensor));
    hone_tensor_set_f64(tensor, 0, value);
    return hone_rewrite_add_constant(rw, tensor, out);
}

static hone_status cast(hone_rewrite *rw, hone_dtype dtype, hone_garg *io) {
    hone_attrs attrs = {0};
    const hone_sinfo *info = hone_rewrite_info(rw, io);
    if (info && hone_dtype_equal(info->dtype, dtype)) return HONE_OK;
    const char *name = hone_arena_strdup(rw->module->arena, HONE_DTYPE_NAME(dtype));
    if (!name ||
        !hone_attrs_with(rw->module->arena, &attrs, "dtype", HONE_VALUE_OF_STRING(name), &attrs)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "fill");
    }
    return hone_rewrite_call(rw, "astype", 1, io, attrs, io);
}

static hone_status broadcast(hone_rewrite *rw, hone_garg x, const hone_sinfo *to, hone_garg *out) {
    hone_garg args[] = {
        x, {.kind = HONE_GARG_SHAPE, .count = (uint32_t)to->rank, .u.exprs = to->shape}
    };
    return hone_rewrite_call(rw, "broadcast_to", 2, args, (hone_attrs){0}, out);
}

static hone_status fill(hone_rewrite *rw, const hone_gbind *bind, const hone_sinfo *to,
                        hone_garg *out) {
    bool is_one = strncmp(bind->callee, "ones", 4) == 0;
    if (strncmp(bind->callee, "full", 4) != 0) {
        HONE_TRY(number(rw, to->dtype, is_one, out));
        return broadcast(rw, *out, to, out);
    }
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[1], out));
    HONE_TRY(cast(rw, to->dtype, out));
    return broadcast(rw, *out, to, out);
}

hone_status hone_normalize_ones(hone_rewrite *rw, const hone_sinfo *like, hone_garg *out) {
    HONE_TRY(number(rw, like->dtype, 1, out));
    return broadcast(rw, *out, like, out);
}

/* ---- ranges ---- */

static double value_of(const hone_expr *e) {
    return e->kind == HONE_EXPR_FLOAT ? e->u.f : (double)e->u.i;
}

static hone_status known_range(hone_rewrite *rw, const hone_range_facts *f, const hone_sinfo *to,
                               hone_garg *out) {
    int64_t count = to->shape[0]->u.i;
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(to->dtype, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++) {
        if (f->is_float || hone_dtype_is_float(to->dtype))
            hone_tensor_set_f64(tensor, i, value_of(f->start) + (double)i * value_of(f->step));
        else
            hone_tensor_set_i64(tensor, i, f->start->u.i + i * f->step->u.i);
    }
    return hone_rewrite_add_constant(rw, tensor, out);
}

static hone_status with_number(hone_rewrite *rw, const char *op, double value, hone_garg *io) {
    hone_garg args[2] = {*io};
    HONE_TRY(number(rw, HONE_DTYPE_I64, value, &args[1]));
    return hone_rewrite_call(rw, op, 2, args, (hone_attrs){0}, io);
}

/* How many ones are in front of each, times the step, from the start on. */
static hone_status counted_range(hone_rewrite *rw, const hone_range_facts *f, const hone_sinfo *to,
                                 hone_garg *out) {
    hone_attrs attrs = {0};
    if (!hone_attrs_with(rw->module->arena, &attrs, "axis", HONE_VALUE_OF_INT(0), &attrs) ||
        !hone_attrs_with(rw->module->arena, &attrs, "exclusive", HONE_VALUE_OF_BOOL(1), &attrs)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "range");
    }
    HONE_TRY(number(rw, HONE_DTYPE_I64, 1, out));
    HONE_TRY(broadcast(rw, *out, to, out));
    HONE_TRY(hone_rewrite_call(rw, "cumsum", 1, out, attrs, out));
    if (f->step->u.i != 1) HONE_TRY(with_number(rw, "multiply", value_of(f->step), out));
    if (f->start->u.i != 0) HONE_TRY(with_number(rw, "add", value_of(f->start), out));
    return cast(rw, to->dtype, out);
}

static hone_status range(hone_rewrite *rw, const hone_gbind *bind, const hone_sinfo *to,
                         hone_garg *out) {
    hone_range_facts facts;
    HONE_TRY(hone_graph_range(bind, &rw->ir, &facts));
    bool is_number = hone_expr_is_int(facts.start) || facts.start->kind == HONE_EXPR_FLOAT;
    if (hone_sinfo_is_static(to) && is_number) return known_range(rw, &facts, to, out);
    if (hone_expr_is_int(facts.start)) return counted_range(rw, &facts, to, out);
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' from a size on", bind->callee);
}

hone_status hone_normalize_fill(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_graph_op *row = hone_graph_op_find(bind->callee);
    const hone_sinfo *to = rw->old->values[bind->value].sinfo;
    hone_garg out;
    if (!row || !hone_infer_makes(row->infer) || !to || to->kind != HONE_SINFO_TENSOR ||
        to->rank < 0 || (to->rank && !to->shape)) {
        return HONE_OK;
    }
    HONE_TRY(row->infer == HONE_INFER_ARANGE ? range(rw, bind, to, &out)
                                             : fill(rw, bind, to, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}
