/* ir/text/print/script_print_sinfo.c - types and arguments of graph programs as text. */
#include <math.h>

#include "ir/text/print/script_print_graph.h"
#include "ir/text/script_weights.h"

/* ---- sizes ---- */

static bool is_constant(const hone_expr *e) {
    return e->kind == HONE_EXPR_INT;
}

/* In a signature the sizes are not defined yet: they stand in quotes. */
static void print_in_quotes(printer *pr, const hone_expr *e) {
    hone_str text = {0}, *out = pr->out;
    pr->out = &text;
    print_expr(pr, e);
    pr->out = out;
    hone_str_append_quoted(out, hone_str_text(&text), text.length);
    out->failed |= text.failed;
    hone_str_deinit(&text);
}

static void print_extent(printer *pr, const hone_expr *e) {
    bool before = pr->in_string;
    pr->in_string = true;
    if (pr->in_signature && !is_constant(e))
        print_in_quotes(pr, e);
    else
        print_expr(pr, e);
    pr->in_string = before;
}

static void print_extents(printer *pr, uint32_t count, const hone_expr *const *extents) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_extent(pr, extents[i]);
    }
}

/* ---- types ---- */

static void print_tensor(printer *pr, const hone_sinfo *info) {
    bool has_dtype = !hone_dtype_is_void(info->dtype);
    bool has_rank = !info->shape && info->rank >= 0;
    const char *comma = "";
    hone_str_append(pr->out, "R.Tensor");
    if (!has_dtype && !has_rank && !info->shape) return;
    hone_str_append_char(pr->out, '(');
    if (info->shape) {
        hone_str_append_char(pr->out, '(');
        print_extents(pr, (uint32_t)info->rank, info->shape);
        hone_str_append(pr->out, info->rank == 1 ? ",)" : ")");
        comma = ", ";
    }
    if (has_dtype) {
        hone_str_printf(pr->out, "%sdtype=", comma);
        print_dtype(pr, info->dtype);
        comma = ", ";
    }
    if (has_rank) hone_str_printf(pr->out, "%sndim=%d", comma, info->rank);
    hone_str_append_char(pr->out, ')');
}

static void print_shape(printer *pr, const hone_sinfo *info) {
    hone_str_append(pr->out, "R.Shape");
    if (info->shape) {
        hone_str_append(pr->out, "([");
        print_extents(pr, (uint32_t)info->rank, info->shape);
        hone_str_append(pr->out, "])");
    } else if (info->rank >= 0) {
        hone_str_printf(pr->out, "(ndim=%d)", info->rank);
    }
}

static void print_prim(printer *pr, const hone_sinfo *info) {
    hone_str_append(pr->out, "R.Prim");
    if (info->rank == 1 && info->shape) {
        hone_str_append(pr->out, "(value=");
        if (hone_dtype_equal(info->shape[0]->dtype, HONE_DTYPE_I64)) {
            print_extent(pr, info->shape[0]);
        } else {
            print_expr(pr, info->shape[0]);
        }
        hone_str_append_char(pr->out, ')');
    } else if (!hone_dtype_is_void(info->dtype)) {
        hone_str_append_char(pr->out, '(');
        print_dtype(pr, info->dtype);
        hone_str_append_char(pr->out, ')');
    }
}

static void print_callable(printer *pr, const hone_sinfo *info) {
    hone_str_append(pr->out, "R.Callable");
    if (!info->field_count) return;
    hone_str_append(pr->out, "((");
    for (uint32_t i = 1; i < info->field_count; i++) {
        if (i > 1) hone_str_append(pr->out, ", ");
        print_sinfo(pr, info->fields[i]);
    }
    hone_str_append(pr->out, info->field_count == 2 ? ",), " : "), ");
    print_sinfo(pr, info->fields[0]);
    hone_str_append(pr->out, hone_dtype_is_bool(info->dtype) ? ", True)" : ", False)");
}

void print_sinfo(printer *pr, const hone_sinfo *info) {
    if (!info) {
        hone_str_append(pr->out, printer_is_classic(pr) ? "R.Object" : "R.Any");
        return;
    }
    switch (info->kind) {
    case HONE_SINFO_OBJECT:
        hone_str_append(pr->out, printer_is_classic(pr) ? "R.Object" : "R.Any");
        return;
    case HONE_SINFO_TENSOR:
        print_tensor(pr, info);
        return;
    case HONE_SINFO_SHAPE:
        print_shape(pr, info);
        return;
    case HONE_SINFO_PRIM:
        print_prim(pr, info);
        return;
    case HONE_SINFO_CALLABLE:
        print_callable(pr, info);
        return;
    case HONE_SINFO_TUPLE:
        hone_str_append(pr->out, "R.Tuple");
        if (!info->field_count) return;
        hone_str_append_char(pr->out, '(');
        for (uint32_t i = 0; i < info->field_count; i++) {
            if (i) hone_str_append(pr->out, ", ");
            print_sinfo(pr, info->fields[i]);
        }
        hone_str_append_char(pr->out, ')');
        return;
    }
}

/* ---- constants ---- */

static void print_number(printer *pr, const hone_tensor *t, int64_t place) {
    if (hone_dtype_is_float(t->dtype)) {
        double value = hone_tensor_get_f64(t, place);
        if (isfinite(value)) {
            print_float(pr->out, value);
        } else {
            hone_str_printf(pr->out, "float(\"%s\")",
                            isnan(value) ? "nan"
                            : value > 0  ? "inf"
                                         : "-inf");
        }
    } else if (hone_dtype_is_bool(t->dtype)) {
        hone_str_append(pr->out, hone_tensor_get_i64(t, place) ? "True" : "False");
    } else {
        hone_str_printf(pr->out, "%lld", (long long)hone_tensor_get_i64(t, place));
    }
}

static void print_numbers(printer *pr, const hone_tensor *t, int32_t dim, int64_t *place) {
    if (dim == t->rank) {
        print_number(pr, t, (*place)++);
        return;
    }
    hone_str_append_char(pr->out, '[');
    for (int64_t i = 0; i < t->shape[dim]; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_numbers(pr, t, dim + 1, place);
    }
    hone_str_append_char(pr->out, ']');
}

static void print_constant(printer *pr, uint32_t index) {
    bool exists = pr->module && index < pr->module->constant_count;
    const hone_tensor *t = exists ? pr->module->constants[index] : NULL;
    if (!t || script_is_weight(t)) {
        hone_str_printf(pr->out, "metadata[\"relax.expr.Constant\"][%u]", index);
        return;
    }
    int64_t place = 0;
    hone_str_append(pr->out, "R.const(");
    print_numbers(pr, t, 0, &place);
    hone_str_append(pr->out, ", ");
    print_dtype(pr, t->dtype);
    hone_str_append_char(pr->out, ')');
}

/* ---- arguments ---- */

static void print_prim_value(printer *pr, const hone_expr *e) {
    hone_str_append(pr->out, "R.prim_value(");
    bool wide_int = e->kind == HONE_EXPR_INT && hone_dtype_equal(e->dtype, HONE_DTYPE_I64);
    bool wide_float = e->kind == HONE_EXPR_FLOAT && hone_dtype_equal(e->dtype, HONE_DTYPE_F64) &&
                      isfinite(e->u.f);
    if (wide_int) {
        hone_str_printf(pr->out, "%lld", (long long)e->u.i);
    } else if (wide_float) {
        print_float(pr->out, e->u.f);
    } else if (e->kind == HONE_EXPR_INT && hone_dtype_equal(e->dtype, HONE_DTYPE_I32)) {
        hone_str_printf(pr->out, "T.int32(%lld)", (long long)e->u.i);
    } else {
        print_expr(pr, e);
    }
    hone_str_append_char(pr->out, ')');
}

void print_gargs(printer *pr, uint32_t count, const hone_garg *args) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_garg(pr, &args[i]);
    }
}

void print_garg_tuple(printer *pr, uint32_t count, const hone_garg *args) {
    hone_str_append_char(pr->out, '(');
    print_gargs(pr, count, args);
    hone_str_append(pr->out, count == 1 ? ",)" : ")");
}

void print_garg(printer *pr, const hone_garg *arg) {
    switch (arg->kind) {
    case HONE_GARG_VALUE:
        hone_str_append(pr->out, printer_value(pr, arg->u.value));
        return;
    case HONE_GARG_CONSTANT:
        print_constant(pr, arg->u.constant);
        return;
    case HONE_GARG_SHAPE:
        hone_str_append(pr->out, "R.shape([");
        print_extents(pr, arg->count, arg->u.exprs);
        hone_str_append(pr->out, "])");
        return;
    case HONE_GARG_PRIM:
        print_prim_value(pr, arg->u.expr);
        return;
    case HONE_GARG_STRING:
    case HONE_GARG_EXTERN:
        if (arg->kind == HONE_GARG_STRING && arg->is_plain) {
            print_quoted(pr, arg->u.s);
            return;
        }
        hone_str_append(pr->out, arg->kind == HONE_GARG_STRING ? "R.str(" : "R.ExternFunc(");
        print_quoted(pr, arg->u.s);
        hone_str_append_char(pr->out, ')');
        return;
    case HONE_GARG_DTYPE:
        hone_str_append(pr->out, "R.dtype(");
        print_dtype(pr, arg->dtype);
        hone_str_append_char(pr->out, ')');
        return;
    case HONE_GARG_TUPLE:
        if (!arg->count) {
            hone_str_append(pr->out, "R.tuple()");
            return;
        }
        print_garg_tuple(pr, arg->count, arg->u.items);
        return;
    case HONE_GARG_GLOBAL:
        hone_str_printf(pr->out, "cls.%s", arg->u.s);
        return;
    case HONE_GARG_NONE:
        hone_str_append(pr->out, "None");
        return;
    }
}
