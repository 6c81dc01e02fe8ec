/* ir/text/read/script_call_intrin.c - calls of the intrinsics of intrins.def, by their own names
 * and by T.call_intrin. */
#include "ir/text/read/script_impl.h"

#include <string.h>

static const char *const renamed_intrins[][2] = {
    {"T.Return",          "ret"           },
    {"T.access_ptr",      "tvm_access_ptr"},
    {"T.tvm_call_packed", "call_packed"   },
    {"T.power",           "pow"           },
};

/* The dtype of a call that must say it: dtype=, or a leading dtype string. */
static bool given_dtype(script_parser *p, const script_call *call, hone_intrin intrin,
                        uint32_t *first, hone_dtype *out) {
    const py_value *v = script_arg(call, UINT32_MAX, "dtype");
    *first = 0;
    if (v) return script_to_dtype(p, v, out);
    bool leads = call->count > 0 &&
                 (call->args[0].kind == PYV_STRING || call->args[0].kind == SCRIPT_DTYPE ||
                  call->args[0].kind == SCRIPT_PATH);
    hone_dtype dtype;
    bool is_call = intrin == HONE_INTRIN_CALL_EXTERN || intrin == HONE_INTRIN_CALL_PURE_EXTERN;
    if (leads &&
        (call->args[0].kind != PYV_STRING || script_is_dtype_name(call->args[0].u.s, &dtype))) {
        *first = 1;
        return script_to_dtype(p, &call->args[0], out);
    }
    *out = HONE_DTYPE_I32;
    if (is_call && leads && !p->is_classic) {
        return script_fail(
            p, call->args[0].at,
            "%s: expected the dtype of the result, found \"%s\"; it is %s(\"int32\", "
            "\"%s\", ...)",
            call->callee, call->args[0].u.s, call->callee, call->args[0].u.s);
    }
    if (is_call || intrin == HONE_INTRIN_UNDEF) return true;
    return script_fail(p, call->at, "%s: the dtype is missing", call->callee);
}

static bool call_dtype(const hone_expr *const *args, uint32_t count, hone_intrin_result rule,
                       hone_dtype given, hone_dtype *out) {
    switch (rule) {
    case HONE_INTRIN_RESULT_FIRST:
        *out = count > 0 ? args[0]->dtype : given;
        return true;
    case HONE_INTRIN_RESULT_SECOND:
        *out = count > 1 ? args[1]->dtype : given;
        return true;
    case HONE_INTRIN_RESULT_INT32:
        *out = HONE_DTYPE_I32;
        return true;
    case HONE_INTRIN_RESULT_BOOL:
        *out = hone_dtype_with_lanes(HONE_DTYPE_BOOL, count > 0 ? args[0]->dtype.lanes : 1);
        return true;
    case HONE_INTRIN_RESULT_GIVEN:
        *out = given;
        return true;
    case HONE_INTRIN_RESULT_HANDLE:
        *out = HONE_DTYPE_HANDLE;
        return true;
    }
    return false;
}

bool script_to_argument(script_parser *p, const py_value *v, const hone_expr **out) {
    if (v->kind == SCRIPT_BUFFER) {
        hone_var data = HONE_NO_ID;
        if (!script_buffer_data(p, script_buffer_of(v), &data)) return false;
        *out = hone_func_var_expr(&p->ir, p->func, data);
        return *out || script_check_ir(p, v->at);
    }
    return script_to_expr(p, v, out);
}

/* A constant beside a float function is a float: T.exp(1), T.pow(x, 2); but not beside an integer
 * that is none: 2 ** i. The exponent of ldexp stays what it is. */
static void match_math(script_parser *p, hone_intrin intrin, uint32_t count,
                       const hone_expr **args) {
    bool is_pair = count == 2 && intrin != HONE_INTRIN_LDEXP;
    if (is_pair && hone_intrin_result_rule(intrin) == HONE_INTRIN_RESULT_FIRST) {
        script_unify(&p->ir, &args[0], &args[1]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (hone_dtype_is_integer(args[i]->dtype) && args[i]->kind != HONE_EXPR_INT) return;
    }
    for (uint32_t i = 0; i < count && hone_intrin_is_math(intrin); i++) {
        if (args[i]->kind == HONE_EXPR_INT) args[i] = script_cast(p, HONE_DTYPE_F32, args[i]);
    }
}

static uint32_t bits_of(hone_dtype dtype) {
    return (uint32_t)dtype.bits * (dtype.lanes ? dtype.lanes : 1);
}

/* What no value of the operands makes right. */
static bool check_operands(script_parser *p, const script_call *call, hone_intrin intrin,
                           uint32_t count, const hone_expr *const *args, hone_dtype dtype) {
    if (intrin == HONE_INTRIN_REINTERPRET && count == 1 &&
        bits_of(args[0]->dtype) != bits_of(dtype)) {
        return script_fail_type(p, call->at, "%s as %s: %u bits are no %u bits",
                                HONE_DTYPE_NAME(args[0]->dtype), HONE_DTYPE_NAME(dtype),
                                bits_of(args[0]->dtype), bits_of(dtype));
    }
    if ((intrin == HONE_INTRIN_SHIFT_LEFT || intrin == HONE_INTRIN_SHIFT_RIGHT) && count == 2) {
        return script_check_shift(p, call->at, args[0], args[1]);
    }
    return true;
}

/* The arguments in the order of the intrinsic's own names, which a text may say: f(x, y=2). Those
 * before `first` are no arguments of it. */
static bool in_order(script_parser *p, const script_call *call, hone_intrin intrin, uint32_t first,
                     py_value **out, uint32_t *out_count) {
    const char *names[SCRIPT_MOST_PARAMS + 2], *params = hone_intrin_params(intrin);
    uint32_t count = call->count - first, named = 0;
    *out_count = count;
    *out = script_alloc(p, p->scratch, (size_t)count + SCRIPT_MOST_PARAMS, sizeof **out);
    if (!*out) return false;
    for (uint32_t i = 0; i < count; i++)
        (*out)[i] = call->args[first + i];
    if (params && !script_read_params(p, params, names, &named)) return false;
    names[named] = "dtype";
    names[named + 1] = "span";
    if (params && !script_check_keywords(p, call, names, named + 2)) return false;
    bool by_name = false;
    for (uint32_t i = 0; i < named; i++)
        by_name |= script_arg(call, UINT32_MAX, names[i]) != NULL;
    for (uint32_t i = 0; by_name && i < named; i++) {
        const py_value *value = NULL;
        if (!script_need_arg(p, call, first + i, names[i], &value)) return false;
        (*out)[i] = *value;
    }
    if (by_name && named > count) *out_count = named;
    return true;
}

bool script_call_intrin(script_parser *p, const script_call *call, py_value *out, bool *out_known) {
    *out_known = false;
    if (strncmp(call->callee, "T.", 2) != 0) return true;
    const char *name = call->callee + 2;
    for (size_t i = 0; i < HONE_COUNT(renamed_intrins); i++) {
        if (strcmp(call->callee, renamed_intrins[i][0]) == 0) name = renamed_intrins[i][1];
    }
    hone_dtype dtype = HONE_DTYPE_I32;
    if (*name && script_is_dtype_word(name, &dtype)) {
        *out_known = true;
        return script_typed_constant(p, call, dtype, out);
    }
    hone_intrin intrin;
    if (!hone_intrin_find(name, &intrin)) return true;
    *out_known = true;
    if (!p->func && !p->graph)
        return script_fail(p, call->at, "'%s' stands outside of a tensor program", call->callee);
    hone_intrin_result rule = hone_intrin_result_rule(intrin);
    uint32_t first = 0;
    if (rule == HONE_INTRIN_RESULT_GIVEN && !given_dtype(p, call, intrin, &first, &dtype)) {
        return false;
    }
    uint32_t count = 0;
    py_value *values = NULL;
    if (!in_order(p, call, intrin, first, &values, &count)) return false;
    const hone_expr **args = script_alloc(p, p->scratch, count, sizeof *args);
    if (!args) return false;
    for (uint32_t i = 0; i < count; i++) {
        const py_value *v = &values[i];
        bool is_tensor = v->kind == SCRIPT_GARG && !script_garg_number(p, script_garg_of(v));
        if (is_tensor) {
            return script_fail(p, v->at,
                               "'%s' takes numbers, found a graph value; operators of "
                               "graphs are those of R, as in R.exp(x)",
                               call->callee);
        }
        bool ok = hone_intrin_is_math(intrin) ? script_to_expr(p, v, &args[i])
                                              : script_to_argument(p, v, &args[i]);
        if (!ok) return false;
    }
    int arity = hone_intrin_arity(intrin);
    if (arity >= 0 && (uint32_t)arity != count) {
        return script_fail_type(p, call->at, "%s takes %d argument%s, %u given", call->callee,
                                arity, arity == 1 ? "" : "s", count);
    }
    match_math(p, intrin, count, args);
    if (!check_operands(p, call, intrin, count, args, dtype)) return false;
    const py_value *said = script_arg(call, UINT32_MAX, "dtype");
    call_dtype(args, count, rule, dtype, &dtype);
    if (said && !script_to_dtype(p, said, &dtype)) return false;
    return script_finish(p, call, hone_expr_call(&p->ir, dtype, intrin, count, args), out);
}

/* T.call_intrin("float32", "tirx.exp", x) is T.exp(x, dtype="float32"). */
static bool call_intrin_by_name(script_parser *p, const script_call *call, py_value *out) {
    static const char *const rooms[] = {"tirx.", "tir.", "s_tir."};
    const py_value *type = NULL, *name = NULL;
    const char *op = NULL;
    hone_dtype dtype;
    if (!script_need_arg(p, call, 0, "dtype", &type) ||
        !script_need_arg(p, call, 1, "func_name", &name) || !script_to_dtype(p, type, &dtype) ||
        !script_to_string(p, name, &op)) {
        return false;
    }
    for (size_t i = 0; i < HONE_COUNT(rooms); i++) {
        size_t length = strlen(rooms[i]);
        if (strncmp(op, rooms[i], length) != 0) continue;
        op += length;
        break;
    }
    bool is_name = *op && strlen(op) < 100 && strcmp(op, "call_intrin") != 0;
    if (!is_name) return script_fail(p, name->at, "expected the name of an operator");
    py_word said = {"dtype", SCRIPT_VALUE_DTYPE(dtype)};
    said.value.at = type->at;
    script_call inner = {.callee = hone_arena_printf(p->scratch, "T.%s", op),
                         .at = call->at,
                         .count = call->count - 2,
                         .args = call->args + 2,
                         .keyword_count = 1,
                         .keywords = &said};
    return inner.callee ? script_call_path(p, &inner, out) : script_no_memory(p);
}

/* T.Call("float32", "tirx.exp", [x]) */
static bool call_node(script_parser *p, const script_call *call, py_value *out) {
    const py_value *type = NULL, *op = NULL, *list = NULL, *items = NULL;
    uint32_t count = 0;
    if (!script_need_arg(p, call, 0, "dtype", &type) || !script_need_arg(p, call, 1, "op", &op) ||
        !script_need_arg(p, call, 2, "args", &list)) {
        return false;
    }
    script_items(list, &items, &count);
    py_value *args = script_alloc(p, p->scratch, (size_t)count + 2, sizeof *args);
    if (!args) return false;
    args[0] = *type;
    args[1] = *op;
    if (count) memcpy(args + 2, items, count * sizeof *args);
    script_call inner = {
        .callee = "T.call_intrin", .at = call->at, .count = count + 2, .args = args};
    return call_intrin_by_name(p, &inner, out);
}

/* tvm.ir.Op.get("tirx.exp"): the name says it all. */
static bool call_op_get(script_parser *p, const script_call *call, py_value *out) {
    const py_value *name = NULL;
    const char *text = NULL;
    if (!script_need_arg(p, call, 0, "op_name", &name) || !script_to_string(p, name, &text))
        return false;
    *out = *name;
    return true;
}

const script_entry script_intrin_calls[] = {
    {"T.call_intrin", call_intrin_by_name},
    {"T.Call",        call_node          },
    {"I.Op.get",      call_op_get        },
    {"T.op.Op.get",   call_op_get        },
    {NULL,            NULL               },
};
