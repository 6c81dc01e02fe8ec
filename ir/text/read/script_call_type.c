/* ir/text/read/script_call_type.c - calls that make numbers and variables of a type: T.float32(1),
 * T.int64(), casts, limits, and Python's int, float and bool. */
#include "ir/text/read/script_impl.h"

#include <math.h>
#include <string.h>

/* ---- T.int32(3), T.float32("inf"), T.int64(), T.float32x4(x) ---- */

static bool special_float(const char *text, double *out) {
    static const struct {
        const char *name;
        double value;
    } rows[] = {
        {"inf",      INFINITY },
        {"+inf",     INFINITY },
        {"-inf",     -INFINITY},
        {"infinity", INFINITY },
        {"nan",      NAN      },
        {"-nan",     NAN      }
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, text) == 0) {
            *out = rows[i].value;
            return true;
        }
    }
    return false;
}

/* T.handle("float32", "global"), T.Ptr(T.float32) */
static bool pointer_type(script_parser *p, const script_call *call, py_value *out) {
    static const char *const names[] = {"dtype", "storage_scope", "is_size_var", "span"};
    const py_value *type = script_arg(call, 0, "dtype");
    const py_value *scope = script_arg(call, 1, "storage_scope");
    const char *text = "global";
    if (!script_check_keywords(p, call, names, HONE_COUNT(names))) return false;
    script_newvar var = {.dtype = HONE_DTYPE_HANDLE, .pointee = HONE_DTYPE_VOID};
    if ((type && !script_to_dtype(p, type, &var.pointee)) ||
        (scope && !script_to_string(p, scope, &text))) {
        return false;
    }
    /* T.handle("void") is T.handle */
    bool is_plain = hone_dtype_is_void(var.pointee) && strcmp(text, "global") == 0;
    if (!is_plain && !(var.point_scope = script_strdup(p, text))) return false;
    return script_new_newvar(p, var, out);
}

bool script_typed_constant(script_parser *p, const script_call *call, hone_dtype dtype,
                           py_value *out) {
    const py_value *v = script_arg(call, 0, "expr");
    const py_value *size = script_arg(call, 1, "is_size_var");
    bool is_size = false;
    static const char *const names[] = {"expr", "is_size_var", "span"};
    if (hone_dtype_is_handle(dtype)) return pointer_type(p, call, out);
    if (!script_check_keywords(p, call, names, HONE_COUNT(names))) return false;
    if (size && !script_to_bool(p, size, &is_size)) return false;
    if (!v) return script_new_newvar(p, (script_newvar){.dtype = dtype, .is_size = is_size}, out);
    double value = 0;
    bool is_float = hone_dtype_is_float(dtype);
    if (v->kind == PYV_STRING && is_float) {
        if (!special_float(v->u.s, &value)) {
            return script_fail(p, v->at,
                               "\"%s\" is no float; expected \"inf\", \"-inf\" or \"nan\"", v->u.s);
        }
        return script_finish(p, call, hone_expr_float(&p->ir, dtype, value), out);
    }
    if (v->kind == PYV_INT && hone_dtype_is_integer(dtype) && dtype.lanes == 1) {
        bool fits = (dtype.code == HONE_DTYPE_CODE_UINT && dtype.bits == 64) ||
                    (v->u.i >= hone_dtype_min_int(dtype) && v->u.i <= hone_dtype_max_int(dtype));
        if (!fits) {
            return script_fail(p, v->at, "%lld does not fit %s", (long long)v->u.i,
                               HONE_DTYPE_NAME(dtype));
        }
    }
    if (v->kind == PYV_HUGE && hone_dtype_equal(dtype, HONE_DTYPE_U64)) {
        return script_finish(p, call, hone_expr_int(&p->ir, dtype, v->u.i), out);
    }
    const hone_expr *e = NULL;
    if (!script_to_expr_as(p, v, dtype, &e)) return false;
    if (e->kind == HONE_EXPR_STRING)
        return script_fail(p, v->at, "expected a number, found a string");
    return script_finish(p, call, e, out);
}

/* T.var("int32"), T.handle("float32") */
static bool call_var(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = script_arg(call, 0, "dtype");
    hone_dtype dtype = HONE_DTYPE_I32;
    if (v && !script_to_dtype(p, v, &dtype)) return false;
    return script_new_newvar(p, (script_newvar){.dtype = dtype}, out);
}

/* T.SizeVar("n", "int64"), T.Var("n", "int64"): the name is that on the left of '='. */
static bool call_named_var(script_parser *p, const script_call *call, py_value *out) {
    const py_value *name = script_arg(call, 0, "name"), *type = script_arg(call, 1, "dtype");
    hone_dtype dtype = HONE_DTYPE_I32;
    bool is_named = name && name->kind == PYV_STRING && !script_is_dtype_word(name->u.s, &dtype);
    dtype = HONE_DTYPE_I32;
    if (!is_named && !type) type = name;
    if (type && !script_to_dtype(p, type, &dtype)) return false;
    bool is_size = strcmp(call->callee, "T.SizeVar") == 0;
    return script_new_newvar(p, (script_newvar){.dtype = dtype, .is_size = is_size}, out);
}

/* TypeVar("n"): an integer of every function that uses it, often a size. */
static bool call_type_var(script_parser *p, const script_call *call, py_value *out) {
    (void)call;
    const script_newvar size = {.dtype = HONE_DTYPE_I64, .is_size = true};
    return script_new_newvar(p, size, out);
}

/* T.FloatImm("float32", 1.0) */
static bool call_float_imm(script_parser *p, const script_call *call, py_value *out) {
    const py_value *type = NULL, *v = NULL;
    hone_dtype dtype;
    if (!script_need_arg(p, call, 0, "dtype", &type) || !script_need_arg(p, call, 1, "value", &v) ||
        !script_to_dtype(p, type, &dtype)) {
        return false;
    }
    script_call inner = {.callee = call->callee, .at = call->at, .count = 1, .args = v};
    return script_typed_constant(p, &inner, dtype, out);
}

/* T.const(1, "int64") */
static bool call_const(script_parser *p, const script_call *call, py_value *out) {
    const py_value *type = script_arg(call, 1, "dtype"), *v = NULL;
    hone_dtype dtype = HONE_DTYPE_I32;
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    if (!type) {
        *out = *v;
        return true;
    }
    script_call inner = {.callee = call->callee, .at = call->at, .count = 1, .args = v};
    return script_to_dtype(p, type, &dtype) && script_typed_constant(p, &inner, dtype, out);
}

/* ---- casts ---- */

/* T.Cast("float32", x) and T.cast(x, "float32"): the dtype is told by what it is. */
static bool call_cast(script_parser *p, const script_call *call, py_value *out) {
    const py_value *a = NULL, *b = NULL;
    bool type_first = strcmp(call->callee, "T.Cast") == 0;
    if (!script_need_arg(p, call, 0, type_first ? "dtype" : "value", &a) ||
        !script_need_arg(p, call, 1, type_first ? "value" : "dtype", &b)) {
        return false;
    }
    const py_value *type = type_first ? a : b, *value = type_first ? b : a;
    bool is_type =
        type->kind == PYV_STRING || type->kind == SCRIPT_DTYPE || type->kind == SCRIPT_PATH;
    if (!is_type) {
        return script_fail_type(p, type->at, "%s: expected a dtype here, found %s; it is %s",
                                call->callee, script_kind_name(type),
                                type_first ? "T.Cast(\"float32\", value)"
                                           : "T.cast(value, \"float32\")");
    }
    hone_dtype dtype;
    const hone_expr *e = NULL;
    if (!script_to_dtype(p, type, &dtype) || !script_to_expr(p, value, &e)) return false;
    if (e->dtype.lanes != 1 && dtype.lanes != e->dtype.lanes) {
        return script_fail_type(p, type->at, "%s of %s to %s: a cast keeps the lanes", call->callee,
                                HONE_DTYPE_NAME(e->dtype), HONE_DTYPE_NAME(dtype));
    }
    if (dtype.lanes > 1 && e->dtype.lanes == 1) e = hone_expr_broadcast(&p->ir, e, dtype.lanes);
    if (!e) return script_check_ir(p, call->at);
    /* T.Cast is the node itself, T.cast the function, which folds constants */
    e = type_first ? hone_expr_cast(&p->ir, dtype, e) : script_cast(p, dtype, e);
    return script_finish(p, call, e, out);
}

static bool call_limit(script_parser *p, const script_call *call, py_value *out) {
    const py_value *type = NULL;
    hone_dtype d;
    if (!script_need_arg(p, call, 0, "dtype", &type) || !script_to_dtype(p, type, &d)) return false;
    bool is_infinity = strcmp(call->callee, "T.infinity") == 0;
    bool is_special = is_infinity || strcmp(call->callee, "T.nan") == 0;
    if (hone_dtype_is_float(d) && is_special) {
        return script_finish(p, call, hone_expr_float(&p->ir, d, is_infinity ? INFINITY : NAN),
                             out);
    }
    bool is_number = hone_dtype_is_float(d) || hone_dtype_is_integer(d) || hone_dtype_is_bool(d);
    if (!is_number || is_special) {
        return script_fail_type(p, call->at, "%s of %s", call->callee, HONE_DTYPE_NAME(d));
    }
    bool is_min = strcmp(call->callee, "T.min_value") == 0;
    return script_finish(p, call,
                         is_min ? hone_expr_lowest(&p->ir, d) : hone_expr_highest(&p->ir, d), out);
}

/* ---- Python's own ---- */

/* int(x), float(x), bool(x) of constants */
static bool call_python(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    bool to_float = strcmp(call->callee, "float") == 0;
    if (to_float && v->kind == PYV_STRING) {
        *out = (py_value){.kind = PYV_FLOAT};
        return special_float(v->u.s, &out->u.f) || script_fail(p, v->at, "this is no float");
    }
    if (v->kind != PYV_INT && v->kind != PYV_FLOAT && v->kind != PYV_BOOL) {
        return script_fail(p, v->at,
                           "%s of %s, which is not known before the program runs; T.Cast(\"%s\", "
                           "...) converts",
                           call->callee, script_kind_name(v),
                           to_float                            ? "float32"
                           : strcmp(call->callee, "bool") == 0 ? "bool"
                                                               : "int32");
    }
    double value = v->kind == PYV_FLOAT ? v->u.f : (double)v->u.i;
    *out = (py_value){.kind = PYV_FLOAT, .u.f = value};
    if (to_float) return true;
    if (!(fabs(value) < 9e18)) return script_fail(p, v->at, "this does not fit 64 bits");
    *out = PYV_OF_INT(v->kind == PYV_FLOAT ? (int64_t)value : v->u.i);
    if (strcmp(call->callee, "bool") == 0) {
        *out = (py_value){.kind = PYV_BOOL, .u.i = value != 0};
    }
    return true;
}

const script_entry script_type_calls[] = {
    {"TypeVar",     call_type_var },
    {"T.var",       call_var      },
    {"T.Ptr",       pointer_type  },
    {"T.ptr",       pointer_type  },
    {"T.SizeVar",   call_named_var},
    {"T.Var",       call_named_var},
    {"T.const",     call_const    },
    {"T.Cast",      call_cast     },
    {"T.cast",      call_cast     },
    {"T.min_value", call_limit    },
    {"T.max_value", call_limit    },
    {"T.infinity",  call_limit    },
    {"T.nan",       call_limit    },
    {"T.FloatImm",  call_float_imm},
    {"T.IntImm",    call_float_imm},
    {"int",         call_python   },
    {"float",       call_python   },
    {"bool",        call_python   },
    {NULL,          NULL          },
};
