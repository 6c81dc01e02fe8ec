/* ir/text/read/graph/script_graph_const.c - constants of graph programs: R.const(1.0, "float32")
 * and metadata["relax.expr.Constant"][0], which names one of the weights beside the text. */
#include <math.h>
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"

static bool add_constant(script_parser *p, uint32_t at, hone_tensor *tensor, py_value *out) {
    uint32_t index = 0;
    hone_status st = hone_module_add_constant(p->module, tensor, &index); /* takes it on success */
    if (!script_check(p, at, st)) return false;
    return script_garg_value(p, HONE_GARG_OF_CONSTANT(index), out);
}

/* ---- nested lists of numbers ---- */

static bool shape_of_list(script_parser *p, const py_value *v, int32_t *rank, int64_t *shape) {
    uint32_t count = 1;
    for (*rank = 0; count && script_is_list(v);) {
        if (*rank == HONE_MAX_RANK) {
            return script_fail(p, v->at, "more than %d dimensions", HONE_MAX_RANK);
        }
        script_items(v, &v, &count);
        shape[(*rank)++] = count;
    }
    return true;
}

/* "inf", "-inf", "nan": what has no other spelling. */
static bool number_in_text(const char *text, double *out) {
    bool is_negative = *text == '-';
    text += is_negative;
    bool is_inf = strcmp(text, "inf") == 0;
    *out = is_inf ? (double)INFINITY : (double)NAN;
    if (is_negative) *out = -*out;
    return is_inf || strcmp(text, "nan") == 0;
}

static bool number_of(script_parser *p, const py_value *v, hone_tensor *tensor, int64_t place) {
    double number;
    if (v->kind == PYV_INT || v->kind == PYV_BOOL) {
        hone_tensor_set_i64(tensor, place, v->u.i);
    } else if (v->kind == PYV_FLOAT) {
        hone_tensor_set_f64(tensor, place, v->u.f);
    } else if (v->kind == SCRIPT_EXPR && script_expr_of(v)->kind == HONE_EXPR_INT) {
        hone_tensor_set_i64(tensor, place, script_expr_of(v)->u.i);
    } else if (v->kind == SCRIPT_EXPR && script_expr_of(v)->kind == HONE_EXPR_FLOAT) {
        hone_tensor_set_f64(tensor, place, script_expr_of(v)->u.f);
    } else if (v->kind == PYV_STRING && number_in_text(v->u.s, &number)) {
        hone_tensor_set_f64(tensor, place, number);
    } else {
        return script_fail(p, v->at, "expected a number, found %s", script_kind_name(v));
    }
    return true;
}

static bool fill(script_parser *p, const py_value *v, hone_tensor *tensor, int32_t dim,
                 int64_t *place) {
    if (dim == tensor->rank) return number_of(p, v, tensor, (*place)++);
    const py_value *items;
    uint32_t count;
    script_items(v, &items, &count);
    if (!script_is_list(v) || count != tensor->shape[dim]) {
        return script_fail(p, v->at, "the lists of this constant have different lengths");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!fill(p, &items[i], tensor, dim + 1, place)) return false;
    }
    return true;
}

static const py_value *first_number(const py_value *v) {
    const py_value *items = v;
    uint32_t count = 1;
    while (script_is_list(v) && count) {
        script_items(v, &items, &count);
        if (count) v = items;
    }
    return v;
}

static hone_dtype natural_dtype(const py_value *v) {
    const py_value *first = first_number(v);
    if (first->kind == SCRIPT_EXPR) return script_expr_of(first)->dtype;
    if (first->kind == PYV_BOOL) return HONE_DTYPE_BOOL;
    return first->kind == PYV_INT ? HONE_DTYPE_I32 : HONE_DTYPE_F32; /* "inf" too */
}

bool script_call_const(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL, *type = script_arg(call, 1, "dtype");
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    int32_t rank = 0;
    int64_t shape[HONE_MAX_RANK], place = 0;
    if (!shape_of_list(p, v, &rank, shape)) return false;
    hone_dtype dtype = natural_dtype(v);
    if (type && type->kind == SCRIPT_SINFO) {
        dtype = script_sinfo_of(type)->dtype;
    } else if (type && !script_to_dtype(p, type, &dtype)) {
        return false;
    }
    hone_tensor *tensor = NULL;
    if (!script_check(p, call->at, hone_tensor_create(dtype, rank, shape, &tensor))) return false;
    if (!fill(p, v, tensor, 0, &place)) {
        hone_tensor_destroy(tensor);
        return false;
    }
    return add_constant(p, call->at, tensor, out);
}

/* ---- constants beside the text ---- */

enum { MOST_CONSTANTS = 1 << 20 };

/* Room for the place of this constant; zero as long as nothing named it. */
static bool open_place(script_parser *p, uint32_t index) {
    if (index < p->place_count) return true;
    uint32_t count = index + 1 > p->weight_count ? index + 1 : p->weight_count;
    count += count / 2;
    uint32_t *places = script_alloc(p, p->scratch, count, sizeof *places);
    if (!places) return false;
    if (p->place_count) memcpy(places, p->weight_places, p->place_count * sizeof *places);
    p->weight_places = places;
    p->place_count = count;
    return true;
}

bool script_call_metadata(script_parser *p, const script_call *call, py_value *out) {
    int64_t index = 0;
    if (call->count != 1 || !script_to_int(p, &call->args[0], &index)) {
        return script_fail(p, call->at, "expected metadata[\"ir.GenericConst\"][index]");
    }
    bool is_there = index >= 0 && index < p->weight_count && p->weights[index];
    bool may_lack = p->source.is_outline && index >= 0 && index < MOST_CONSTANTS;
    if (!is_there && !may_lack) {
        return script_fail(p, call->at,
                           "constant %lld is named here but its numbers are not at hand; keep them "
                           "in a .safetensors file beside the program, or in the text "
                           "(script(show_meta=True))",
                           (long long)index);
    }
    if (!open_place(p, (uint32_t)index)) return false;
    if (p->weight_places[index]) { /* named before: one constant for both */
        return script_garg_value(p, HONE_GARG_OF_CONSTANT(p->weight_places[index] - 1), out);
    }
    hone_tensor *tensor = NULL;
    if (is_there && !script_check(p, call->at, hone_tensor_clone(p->weights[index], &tensor))) {
        return false;
    }
    if (!add_constant(p, call->at, tensor, out)) return false;
    p->weight_places[index] = script_garg_of(out)->u.constant + 1;
    return true;
}
