/* codegen/source/c_call.c - calls: libm, bits, addresses, sums of lanes, external functions. */
#include <string.h>

#include "codegen/source/c_gen.h"
#include "lower/ground/lower.h"
#include "runtime/model/model_rt.h"

static c_text fail(c_gen *g, hone_status st) {
    c_fail(g, st);
    return (c_text){"0", C_PREC_POSTFIX};
}

static const char *arguments(c_gen *g, const hone_expr *e) {
    const char *all = "";
    for (uint16_t i = 0; i < e->count; i++) {
        c_text value = c_value(g, e->args[i]);
        all = c_printf(g, "%s%s%s", all, i > 0 ? ", " : "", value.s);
    }
    return all;
}

/* Of a small float, by its bits. */
static c_text next_small(c_gen *g, const hone_expr *e) {
    hone_dtype dtype = hone_dtype_element(e->dtype);
    c_text a = c_value(g, e->args[0]), b = c_value(g, e->args[1]);
    const char *name = c_helper(g, "next", c_storage(g, dtype));
    c_text bits = {c_printf(g, "%s(%s, %s, %s, %s, %u)", name, a.s, b.s,
                            c_to_storage(g, dtype, a).s, c_to_storage(g, dtype, b).s,
                            1u << (dtype.bits - 1)),
                   C_PREC_POSTFIX};
    return c_from_storage(g, dtype, bits);
}

/* What the name of a function of such floats ends with. */
static const char *float_end(const c_gen *g, hone_dtype dtype) {
    return dtype.bits == 64 ? "" : g->dialect->float_end;
}

static c_text math_call(c_gen *g, const hone_expr *e) {
    const char *f = float_end(g, e->dtype);
    bool is_small = codegen_is_small_float(e->dtype);
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_NEXTAFTER:
        if (is_small) return next_small(g, e);
        return (c_text){c_printf(g, "nextafter%s(%s)", f, arguments(g, e)), C_PREC_POSTFIX};
    case HONE_INTRIN_EXP10:
        if (g->dialect->is_device) break;
        return (c_text){c_printf(g, "pow%s(10, %s)", f, arguments(g, e)), C_PREC_POSTFIX};
    case HONE_INTRIN_RSQRT:
        if (g->dialect->is_device) break;
        return (c_text){c_printf(g, "1 / sqrt%s(%s)", f, arguments(g, e)), C_PREC_MUL};
    case HONE_INTRIN_SIGMOID:
        return (c_text){
            c_printf(g, "%s(%s)", c_helper(g, "sigmoid", c_type(g, e->dtype)), arguments(g, e)),
            C_PREC_POSTFIX};
    case HONE_INTRIN_ROUND: /* halves to even */
    case HONE_INTRIN_NEARBYINT:
        return (c_text){c_printf(g, "%s%s(%s)", g->dialect->round, f, arguments(g, e)),
                        C_PREC_POSTFIX};
    default:
        break;
    }
    return (c_text){
        c_printf(g, "%s%s(%s)", hone_intrin_spelling((hone_intrin)e->op), f, arguments(g, e)),
        C_PREC_POSTFIX};
}

static c_text absolute(c_gen *g, const hone_expr *e) {
    c_text x = c_value(g, e->args[0]);
    if (hone_dtype_is_float(e->dtype)) {
        return (c_text){c_printf(g, "fabs%s(%s)", float_end(g, e->dtype), x.s), C_PREC_POSTFIX};
    }
    if (!hone_dtype_is_int(e->dtype)) return x;
    return (c_text){c_printf(g, "%s(%s)", c_helper(g, "abs", c_type(g, e->dtype)), x.s),
                    C_PREC_POSTFIX};
}

static c_text classify(c_gen *g, const hone_expr *e) {
    if (!hone_dtype_is_float(e->args[0]->dtype)) {
        return (c_text){e->op == HONE_INTRIN_ISFINITE ? "true" : "false", C_PREC_POSTFIX};
    }
    c_text x = c_value(g, e->args[0]);
    return (c_text){c_printf(g, "%s(%s) != 0", hone_intrin_spelling((hone_intrin)e->op), x.s),
                    C_PREC_COMPARE};
}

/* By a constant within the width it is an operator, else a helper that knows the rest. */
static c_text shift(c_gen *g, const hone_expr *e, c_text x, c_text y) {
    hone_dtype dtype = hone_dtype_element(e->dtype);
    const char *type = c_type(g, dtype), *wide = dtype.bits == 64 ? "uint64_t" : "uint32_t";
    bool is_left = e->op == HONE_INTRIN_SHIFT_LEFT, is_signed = hone_dtype_is_int(dtype);
    int64_t by = hone_expr_const(e->args[1]);
    if (by >= 0 && by < dtype.bits && (is_left || !is_signed)) {
        return (c_text){c_printf(g, "(%s)((%s)%s %s %lld)", type, wide, c_at(g, x, C_PREC_UNARY),
                                 is_left ? "<<" : ">>", (long long)by),
                        C_PREC_UNARY};
    }
    const char *kind = is_signed ? (is_left ? "shift_left" : "shift_right")
                                 : (is_left ? "shift_up" : "shift_down");
    return (c_text){c_printf(g, "%s(%s, %s)", c_helper(g, kind, type), x.s, y.s), C_PREC_POSTFIX};
}

static c_text bit_operation(c_gen *g, const hone_expr *e) {
    hone_dtype dtype = hone_dtype_element(e->dtype);
    const char *type = c_type(g, dtype), *sign = NULL;
    const char *wide = dtype.bits == 64 ? "uint64_t" : "uint32_t";
    c_text x = c_value(g, e->args[0]);
    c_text y = {"0", C_PREC_POSTFIX};
    if (e->count > 1) y = c_cast(g, e->args[1]->dtype, dtype, c_value(g, e->args[1]));
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_SHIFT_LEFT:
    case HONE_INTRIN_SHIFT_RIGHT:
        return shift(g, e, x, y);
    case HONE_INTRIN_BITWISE_AND:
        sign = "&";
        break;
    case HONE_INTRIN_BITWISE_OR:
        sign = "|";
        break;
    case HONE_INTRIN_BITWISE_XOR:
        sign = "^";
        break;
    case HONE_INTRIN_BITWISE_NOT:
        if (hone_dtype_is_bool(dtype)) {
            return (c_text){c_printf(g, "!%s", c_at(g, x, C_PREC_UNARY)), C_PREC_UNARY};
        }
        if (hone_dtype_is_uint(e->dtype) && e->dtype.bits < 32) { /* compilers warn of ~ there */
            int all = e->dtype.bits == 8 ? UINT8_MAX : UINT16_MAX;
            return (c_text){c_printf(g, "(%s)(%s ^ %d)", type, c_at(g, x, C_PREC_UNARY), all),
                            C_PREC_UNARY};
        }
        return (c_text){c_printf(g, "(%s)~%s", type, c_at(g, x, C_PREC_UNARY)), C_PREC_UNARY};
    default:
        return (c_text){c_printf(g, "%s(%s)", c_helper(g, "popcount", type), x.s), C_PREC_POSTFIX};
    }
    return (c_text){c_printf(g, "(%s)((%s)%s %s (%s)%s)", type, wide, c_at(g, x, C_PREC_UNARY),
                             sign, wide, c_at(g, y, C_PREC_UNARY)),
                    C_PREC_UNARY};
}

static c_text leading_zeros(c_gen *g, const hone_expr *e) {
    const char *type = c_type(g, hone_dtype_element(e->args[0]->dtype));
    return (c_text){c_printf(g, "%s(%s)", c_helper(g, "clz", type), c_value(g, e->args[0]).s),
                    C_PREC_POSTFIX};
}

/* ldexp takes an int: an exponent of more bits becomes one beyond those of all numbers. */
static c_text scale_by_power(c_gen *g, const hone_expr *e) {
    hone_dtype dtype = hone_dtype_element(e->args[1]->dtype);
    if (!hone_dtype_is_float(e->dtype) || !hone_dtype_is_integer(dtype)) {
        return fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "ldexp of %s by %s in %s",
                                  HONE_DTYPE_NAME(e->dtype), HONE_DTYPE_NAME(dtype),
                                  g->dialect->name));
    }
    const char *x = c_value(g, e->args[0]).s, *by = c_value(g, e->args[1]).s;
    bool is_signed = hone_dtype_is_int(dtype);
    if (dtype.bits > 32 || (dtype.bits == 32 && !is_signed)) {
        const char *type = c_type(g, dtype);
        by = c_printf(g, "%s(%s, 16384)", c_helper(g, "min", type), by);
        if (is_signed) by = c_printf(g, "%s(%s, -16384)", c_helper(g, "max", type), by);
        by = c_printf(g, "(int)%s", by);
    }
    return (c_text){c_printf(g, "ldexp%s(%s, %s)", float_end(g, e->dtype), x, by), C_PREC_POSTFIX};
}

/* Lanes at even places, lanes at odd places, then both: the tree of the interpreter. */
static const char *reduce_tree(c_gen *g, const hone_expr *e, const char *lanes, uint32_t start,
                               uint32_t step) {
    if (start + step >= e->args[0]->dtype.lanes) return c_printf(g, "%s[%u]", lanes, start);
    const char *even = reduce_tree(g, e, lanes, start, 2 * step);
    const char *odd = reduce_tree(g, e, lanes, start + step, 2 * step);
    const char *type = c_type(g, e->dtype);
    if (e->op == HONE_INTRIN_VECTOR_REDUCE_ADD || e->op == HONE_INTRIN_VECTOR_REDUCE_MUL) {
        const char *sum = c_printf(g, "(%s)(%s %s %s)", type, even,
                                   e->op == HONE_INTRIN_VECTOR_REDUCE_ADD ? "+" : "*", odd);
        hone_dtype dtype = hone_dtype_element(e->dtype);
        if (!codegen_is_small_float(dtype)) return sum;
        return c_from_storage(g, dtype, c_to_storage(g, dtype, (c_text){sum, C_PREC_UNARY})).s;
    }
    const char *kind = e->op == HONE_INTRIN_VECTOR_REDUCE_MIN       ? "min"
                       : e->op == HONE_INTRIN_VECTOR_REDUCE_MINIMUM ? "minimum"
                       : e->op == HONE_INTRIN_VECTOR_REDUCE_MAXIMUM ? "maximum"
                                                                    : "max";
    return c_printf(g, "%s(%s, %s)", c_helper(g, kind, type), even, odd);
}

static c_text reduce_lanes(c_gen *g, const hone_expr *e) {
    const hone_expr *x = e->args[0];
    const char *type = c_type(g, e->dtype), *lanes = c_name(g, "lanes");
    c_line(g, "%s %s[%u];", type, lanes, (unsigned)x->dtype.lanes);
    const char *outer = c_open_lanes(g, x->dtype.lanes);
    c_line(g, "%s[%s] = %s;", lanes, g->lane, c_value(g, x).s);
    c_close_lanes(g, outer);
    return (c_text){reduce_tree(g, e, lanes, 0, 1), C_PREC_POSTFIX};
}

/* Of one lane: its two or four products and what was there. */
static c_text dot(c_gen *g, const hone_expr *e) {
    int group = e->op == HONE_INTRIN_DOT4 ? 4 : 2;
    const char *around = g->lane, *lane = e->dtype.lanes == 1 ? "0" : around;
    bool is_float = hone_dtype_is_float(e->dtype);
    const char *sum = c_printf(g, is_float ? "%s" : "(uint32_t)%s",
                               c_at(g, c_value(g, e->args[0]), C_PREC_UNARY));
    for (int k = 0; k < group; k++) {
        const char *at = c_printf(g, "(%d * %s + %d)", group, lane, k);
        g->lane = e->args[1]->dtype.lanes == group ? c_printf(g, "%d", k) : at;
        const char *a = c_at(g, c_value(g, e->args[1]), C_PREC_UNARY);
        g->lane = at;
        const char *b = c_at(g, c_value(g, e->args[2]), C_PREC_UNARY);
        sum = is_float ? c_printf(g, "%s + %s * %s", sum, a, b)
                       : c_printf(g, "%s + (uint32_t)((int32_t)%s * (int32_t)%s)", sum, a, b);
    }
    g->lane = around;
    return (c_text){c_printf(g, "%s(%s)", hone_dtype_is_int(e->dtype) ? "(int32_t)" : "", sum),
                    C_PREC_UNARY};
}

static c_text reinterpret(c_gen *g, const hone_expr *e) {
    hone_dtype from = e->args[0]->dtype;
    if (from.lanes != e->dtype.lanes) {
        return fail(g,
                    HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s cannot reinterpret %s as %s",
                               g->dialect->name, HONE_DTYPE_NAME(from), HONE_DTYPE_NAME(e->dtype)));
    }
    const char *same = c_name(g, "same");
    c_text stored = c_stored(g, e->args[0]);
    c_open(g, "union");
    c_line(g, "%s from;", c_storage(g, from));
    c_line(g, "%s to;", c_storage(g, e->dtype));
    g->indent--;
    c_line(g, "} %s;", same);
    c_line(g, "%s.from = %s;", same, stored.s);
    c_text result = {c_printf(g, "%s.to", same), C_PREC_POSTFIX};
    return c_from_storage(g, e->dtype, result);
}

/* address_of(load): where the element lies. tvm_access_ptr(type, data, offset, extent, rw). */
static c_text address(c_gen *g, const hone_expr *e) {
    if (e->op == HONE_INTRIN_ADDRESS_OF) {
        const hone_expr *load = e->args[0];
        if (load->kind == HONE_EXPR_LOAD && load->count == 1 && load->args[0]->dtype.lanes == 1) {
            return (c_text){c_printf(g, "&%s", c_element(g, load->u.buffer, load->args[0])),
                            C_PREC_UNARY};
        }
    } else if (e->args[1]->kind == HONE_EXPR_VAR) {
        hone_buffer id = codegen_buffer_of_data(g->func, e->args[1]->u.var);
        if (id != HONE_NO_ID) {
            return (c_text){c_printf(g, "&%s", c_element(g, id, e->args[2])), C_PREC_UNARY};
        }
    }
    return fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s of something that is no buffer element",
                              hone_intrin_spelling((hone_intrin)e->op)));
}

/* ---- external functions: the convention of hone_extern in abi.h ---- */

/* An argument: where its data lies, and its shape. */
typedef struct passed {
    const char *data, *shape;
    uint32_t rank;
} passed;

static const char *shape_array(c_gen *g, uint32_t rank, const hone_expr *const *shape) {
    if (rank == 0) return "NULL";
    const char *name = c_name(g, "shape"), *all = "";
    for (uint32_t d = 0; d < rank; d++) {
        c_text extent = c_index(g, shape[d]);
        all = c_printf(g, "%s%s%s", all, d ? ", " : "", extent.s);
    }
    c_line(g, "const int64_t %s[] = {%s};", name, all);
    return name;
}

static passed pass_handle(c_gen *g, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR) {
        hone_buffer id = codegen_buffer_of_data(g->func, e->u.var);
        if (id != HONE_NO_ID) {
            const hone_buffer_info *buffer = &g->func->buffers[id];
            return (passed){c_printf(g, "(void *)%s", c_buffer(g, id)),
                            shape_array(g, buffer->rank, buffer->shape), buffer->rank};
        }
    }
    c_text data = c_value(g, e);
    passed p = {c_printf(g, "(void *)%s", c_at(g, data, C_PREC_UNARY)), "NULL", 1};
    if (hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR)) {
        p.shape = shape_array(g, 1, &e->args[3]);
    } else if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF)) {
        const hone_expr *load = e->args[0];
        const hone_buffer_info *buffer = &g->func->buffers[load->u.buffer];
        const hone_expr *left = hone_expr_sub(&g->arith.ir, buffer->shape[0], load->args[0]);
        if (left) p.shape = shape_array(g, 1, &left);
    } else {
        p.rank = 0;
    }
    return p;
}

static passed pass_scalar(c_gen *g, const hone_expr *e) {
    const char *name = c_name(g, "scalar");
    c_text value = c_stored(g, e);
    c_line(g, "%s %s = %s;", c_storage(g, e->dtype), name, value.s);
    return (passed){c_printf(g, "&%s", name), "NULL", 0};
}

/* ---- external functions: the rules of C ---- */

static const char *c_call_type(c_gen *g, const char *function, hone_dtype dtype) {
    if (hone_dtype_is_void(dtype)) return "void";
    if (hone_dtype_is_handle(dtype)) return "void *";
    if (!codegen_is_c_type(dtype)) {
        c_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                             "a value of type %s is handed to or from the C function '%s'",
                             HONE_DTYPE_NAME(dtype), function));
    }
    bool is_narrow = !hone_dtype_is_float(dtype) && dtype.bits < 32;
    return is_narrow ? "int" : c_storage(g, dtype);
}

static const char *c_call_argument(c_gen *g, const hone_expr *e) {
    if (e->kind == HONE_EXPR_STRING) return c_printf(g, "\"%s\"", e->u.s);
    if (!hone_dtype_is_handle(e->dtype)) return c_value(g, e).s;
    if (e->kind == HONE_EXPR_VAR) {
        hone_buffer id = codegen_buffer_of_data(g->func, e->u.var);
        if (id != HONE_NO_ID) return c_printf(g, "(void *)%s", c_buffer(g, id));
    }
    return c_printf(g, "(void *)%s", c_at(g, c_value(g, e), C_PREC_UNARY));
}

/* Where a function lies that is found at run time. is_packed: it may take DLPack tensors. */
static const char *found_function(c_gen *g, const char *function, bool is_packed) {
    const char *found = c_name(g, "found");
    c_line(g, "void *%s = rt->find_extern(rt, \"%s\");", found, function);
    if (is_packed) {
        c_line(g, "if (%s == NULL) %s = rt->find_extern(rt, \"%s" HONE_EXTERN_DLPACK_ENDING "\");",
               found, found, function);
    }
    c_open(g, "if (%s == NULL)", found);
    c_line(g, "rt->set_error(rt, %d, \"external function '%s' is unknown\");",
           HONE_KERNEL_NO_EXTERN, function);
    c_leave(g, c_printf(g, "%d", HONE_KERNEL_NO_EXTERN));
    c_close(g);
    return found;
}

static c_text plain_call(c_gen *g, const hone_expr *e) {
    const char *function = e->args[0]->u.s, *types = "", *args = "";
    const char *result_type = c_call_type(g, function, e->dtype);
    for (uint16_t i = 1; i < e->count; i++) {
        const char *comma = i > 1 ? ", " : "";
        types = c_printf(g, "%s%s%s", types, comma, c_call_type(g, function, e->args[i]->dtype));
        args = c_printf(g, "%s%s%s", args, comma, c_call_argument(g, e->args[i]));
    }
    const char *pointer = function;
    if (!hone_lower_brings_along(g->func, function, true)) {
        const char *found = found_function(g, function, false);
        pointer = c_name(g, "function");
        c_line(g, "%s (*%s)(%s);", result_type, pointer, e->count > 1 ? types : "void");
        c_line(g, "memcpy(&%s, &%s, sizeof %s);", pointer, found, pointer);
    }
    if (hone_dtype_is_void(e->dtype)) {
        c_line(g, "%s(%s);", pointer, args);
        return (c_text){"0", C_PREC_POSTFIX};
    }
    const char *result = c_name(g, "result");
    c_line(g, "const %s %s = %s(%s);", result_type, result, pointer, args);
    if (hone_dtype_is_bool(e->dtype))
        return (c_text){c_printf(g, "%s != 0", result), C_PREC_COMPARE};
    return (c_text){result, C_PREC_POSTFIX};
}

/* With the types of C's own: what differs is converted. */
static c_text libm_call(c_gen *g, const hone_expr *e, const hone_libm *libm) {
    hone_dtype dtype = libm->is_float32 ? HONE_DTYPE_F32 : HONE_DTYPE_F64;
    size_t length = strlen(libm->name) - (libm->is_float32 ? 1 : 0);
    const char *args = "";
    for (uint32_t i = 1; i <= libm->count; i++) {
        c_text value = c_value(g, e->args[i]);
        bool is_cast = !hone_dtype_equal(e->args[i]->dtype, dtype);
        if (is_cast) value.s = c_printf(g, "(%s)(%s)", c_type(g, dtype), value.s);
        args = c_printf(g, "%s%s%s", args, i > 1 ? ", " : "", value.s);
    }
    const char *call =
        c_printf(g, "%.*s%s(%s)", (int)length, libm->name, float_end(g, dtype), args);
    if (libm->is_float32 || hone_dtype_equal(e->dtype, dtype))
        return (c_text){call, C_PREC_POSTFIX};
    return (c_text){c_printf(g, "(%s)%s", c_type(g, e->dtype), call), C_PREC_UNARY};
}

static c_text external(c_gen *g, const hone_expr *e) {
    if (e->count == 0 || e->args[0]->kind != HONE_EXPR_STRING) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "an external call without a name"));
    }
    const char *function = e->args[0]->u.s;
    if (hone_libm_of_call(e)) return libm_call(g, e, hone_libm_of_call(e));
    if (g->dialect->is_device) return c_device_call(g, e);
    if (codegen_is_c_call(e)) return plain_call(g, e);
    bool has_value = codegen_gives_value(e);
    const char *result = has_value ? c_name(g, "result") : NULL;
    if (has_value) c_line(g, "%s %s = 0;", c_storage(g, e->dtype), result);
    const char *data = "", *shapes = "", *ranks = "", *types = "";
    uint32_t count = 0;
    for (uint16_t i = 1; i < e->count; i++, count++) {
        const hone_expr *arg = e->args[i];
        passed p = hone_dtype_is_handle(arg->dtype) ? pass_handle(g, arg) : pass_scalar(g, arg);
        const char *comma = count ? ", " : "";
        data = c_printf(g, "%s%s%s", data, comma, p.data);
        shapes = c_printf(g, "%s%s%s", shapes, comma, p.shape);
        ranks = c_printf(g, "%s%s%u", ranks, comma, (unsigned)p.rank);
    }
    if (has_value) {
        const char *comma = count++ ? ", " : "";
        data = c_printf(g, "%s%s&%s", data, comma, result);
        shapes = c_printf(g, "%s%sNULL", shapes, comma);
        ranks = c_printf(g, "%s%s0", ranks, comma);
    }
    for (uint32_t i = 0; i < count; i++)
        types = c_printf(g, "%s, %d", types, (int)codegen_passed_type(g->func, e, i));
    const char *args = c_name(g, "args"), *arg_shapes = c_name(g, "shapes");
    const char *arg_ranks = c_name(g, "ranks");
    c_line(g, "void *const %s[] = {%s};", args, count ? data : "NULL");
    c_line(g, "const int64_t *const %s[] = {%s};", arg_shapes, count ? shapes : "NULL");
    c_line(g, "const int32_t %s[] = {%s%s};", arg_ranks, count ? ranks : "0", types);
    const char *found = found_function(g, function, true);
    const char *pointer = c_name(g, "function"), *code = c_name(g, "failed");
    c_line(g, "hone_extern %s;", pointer);
    c_line(g, "memcpy(&%s, &%s, sizeof %s);", pointer, found, pointer);
    c_line(g, "const int32_t %s = %s(%s, %s, %s, %u);", code, pointer, args, arg_shapes, arg_ranks,
           (unsigned)count);
    c_open(g, "if (%s != 0)", code);
    c_line(g, "rt->set_error(rt, %d, \"external function '%s' failed\");",
           HONE_KERNEL_EXTERN_FAILED, function);
    c_leave(g, code);
    c_close(g);
    if (!has_value) return (c_text){"0", C_PREC_POSTFIX};
    return c_from_storage(g, e->dtype, (c_text){result, C_PREC_POSTFIX});
}

static c_text give_back(c_gen *g, const hone_expr *e) {
    if (g->dialect->is_device) {
        c_line(g, "return;");
        return (c_text){"0", C_PREC_POSTFIX};
    }
    c_text code = {"0", C_PREC_POSTFIX};
    if (hone_dtype_is_integer(e->args[0]->dtype)) {
        code = c_cast(g, e->args[0]->dtype, HONE_DTYPE_I32, c_value(g, e->args[0]));
    }
    c_leave(g, code.s);
    return (c_text){"0", C_PREC_POSTFIX};
}

c_text c_call(c_gen *g, const hone_expr *e) {
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_ABS:
        return absolute(g, e);
    case HONE_INTRIN_ISNAN:
    case HONE_INTRIN_ISINF:
    case HONE_INTRIN_ISFINITE:
        return classify(g, e);
    case HONE_INTRIN_CLZ:
        return leading_zeros(g, e);
    case HONE_INTRIN_LDEXP:
        return scale_by_power(g, e);
    case HONE_INTRIN_POPCOUNT:
    case HONE_INTRIN_SHIFT_LEFT:
    case HONE_INTRIN_SHIFT_RIGHT:
    case HONE_INTRIN_BITWISE_AND:
    case HONE_INTRIN_BITWISE_OR:
    case HONE_INTRIN_BITWISE_XOR:
    case HONE_INTRIN_BITWISE_NOT:
        return bit_operation(g, e);
    case HONE_INTRIN_LIKELY:
        return c_value(g, e->args[0]);
    case HONE_INTRIN_CHECKED_INDEX:
        return c_checked_index(g, e);
    case HONE_INTRIN_REINTERPRET:
        return reinterpret(g, e);
    case HONE_INTRIN_VECTOR_REDUCE_ADD:
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
    case HONE_INTRIN_VECTOR_REDUCE_MIN:
    case HONE_INTRIN_VECTOR_REDUCE_MAX:
    case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
    case HONE_INTRIN_VECTOR_REDUCE_MAXIMUM:
        return reduce_lanes(g, e);
    case HONE_INTRIN_DOT2:
    case HONE_INTRIN_DOT2_BF16:
    case HONE_INTRIN_DOT4:
        return dot(g, e);
    case HONE_INTRIN_ADDRESS_OF:
    case HONE_INTRIN_ACCESS_PTR:
        return address(g, e);
    case HONE_INTRIN_UNDEF:
    case HONE_INTRIN_TYPE_ANNOTATION:
    case HONE_INTRIN_PREFETCH:
        return (c_text){"0", C_PREC_POSTFIX};
    case HONE_INTRIN_ASSUME:
        return (c_text){"true", C_PREC_POSTFIX};
    case HONE_INTRIN_STORAGE_SYNC:
        return c_sync(g, e);
    case HONE_INTRIN_RETURN:
        return give_back(g, e);
    case HONE_INTRIN_CALL_EXTERN:
    case HONE_INTRIN_CALL_PURE_EXTERN:
    case HONE_INTRIN_CALL_PACKED:
        return external(g, e);
    case HONE_INTRIN_NAMED:
        return c_device_call(g, e);
    default:
        if (hone_dtype_is_float(e->dtype) && hone_intrin_is_math((hone_intrin)e->op)) {
            return math_call(g, e);
        }
        return fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' of %s in %s",
                                  hone_intrin_spelling((hone_intrin)e->op),
                                  HONE_DTYPE_NAME(e->dtype), g->dialect->name));
    }
}
