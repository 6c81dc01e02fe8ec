/* ir/text/print/script_print_expr.c - expressions, values and regions as text.
 *
 * An operator is printed as such where reading it back gives the same node; where the reader would
 * fold it (x + 0, 2 * 3) it is printed by name: T.Add(x, 0).
 */
#include <math.h>
#include <string.h>

#include "ir/text/print/script_print_impl.h"
#include "ir/text/script_fold.h"
#include "support/core/number.h"

enum {
    LEVEL_OR = 1,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_ADD,
    LEVEL_MUL,
    LEVEL_UNARY,
    LEVEL_ATOM
};

/* ---- constants ---- */

void print_float(hone_str *out, double value) {
    char text[HONE_NUMBER_BYTES];
    hone_number_print(value, 15, text);
    hone_str_append(out, text);
    if (!strpbrk(text, ".einf")) hone_str_append(out, ".0");
}

static const char *special_float(double value) {
    if (isnan(value)) return "nan";
    if (isinf(value)) return value > 0 ? "inf" : "-inf";
    return NULL;
}

void print_quoted(printer *pr, const char *text) {
    hone_str_append_quoted(pr->out, text ? text : "", text ? strlen(text) : 0);
}

void print_dtype(printer *pr, hone_dtype dtype) {
    hone_str_printf(pr->out, "\"%s\"", HONE_DTYPE_NAME(dtype));
}

void print_pointer_type(printer *pr, const hone_var_info *info) {
    bool is_void = hone_dtype_is_void(info->pointee);
    hone_str_append(pr->out, "T.handle(");
    if (!is_void) print_dtype(pr, info->pointee);
    hone_str_append(pr->out, is_void ? "storage_scope=" : ", ");
    print_quoted(pr, info->point_scope);
    hone_str_append_char(pr->out, ')');
}

void print_var_type(printer *pr, hone_var var) {
    const hone_var_info *info = &pr->func->vars[var];
    if (info->point_scope) {
        print_pointer_type(pr, info);
        return;
    }
    hone_str_printf(pr->out, "T.%s", HONE_DTYPE_NAME(info->dtype));
}

static void print_int(printer *pr, const hone_expr *e) {
    if (hone_dtype_is_bool(e->dtype)) {
        hone_str_append(pr->out, e->u.i ? "T.bool(True)" : "T.bool(False)");
    } else if (hone_dtype_equal(e->dtype, HONE_DTYPE_I32) || pr->in_string) {
        hone_str_printf(pr->out, "%lld", (long long)e->u.i);
    } else if (hone_dtype_is_uint(e->dtype) && e->dtype.bits == 64) {
        hone_str_printf(pr->out, "T.%s(%llu)", HONE_DTYPE_NAME(e->dtype),
                        (unsigned long long)e->u.i);
    } else {
        hone_str_printf(pr->out, "T.%s(%lld)", HONE_DTYPE_NAME(e->dtype), (long long)e->u.i);
    }
}

static void print_float_constant(printer *pr, const hone_expr *e) {
    const char *special = special_float(e->u.f);
    hone_str_printf(pr->out, "T.%s(", HONE_DTYPE_NAME(e->dtype));
    if (special) {
        hone_str_printf(pr->out, "\"%s\"", special);
    } else {
        print_float(pr->out, e->u.f);
    }
    hone_str_append_char(pr->out, ')');
}

/* ---- operators ---- */

static int level_of_op(hone_op op) {
    if (op == HONE_OP_OR) return LEVEL_OR;
    if (op == HONE_OP_AND) return LEVEL_AND;
    if (hone_op_is_compare(op)) return LEVEL_COMPARE;
    return op == HONE_OP_ADD || op == HONE_OP_SUB ? LEVEL_ADD : LEVEL_MUL;
}

/* The name that reads back without folding. */
static const char *unfolded_name(hone_op op) {
    switch (op) {
    case HONE_OP_TRUNCDIV:
        return "T.Div";
    case HONE_OP_TRUNCMOD:
        return "T.Mod";
    case HONE_OP_MIN:
        return "T.Min";
    case HONE_OP_MAX:
        return "T.Max";
    default:
        return hone_op_function(op);
    }
}

/* Of two numbers without a type Python computes the result, whatever int32 holds. */
static bool are_python_numbers(const hone_expr *e) {
    return e->args[0]->kind == HONE_EXPR_INT && e->args[1]->kind == HONE_EXPR_INT &&
           hone_dtype_equal(e->args[0]->dtype, HONE_DTYPE_I32);
}

static bool reads_back(printer *pr, const hone_expr *e) {
    return !are_python_numbers(e) &&
           script_fold_try(&pr->ir, (hone_op)e->op, e->args[0], e->args[1]) == NULL;
}

static bool is_infix(printer *pr, const hone_expr *e) {
    bool spelled = hone_op_spelling((hone_op)e->op) != hone_op_function((hone_op)e->op);
    static const hone_op named[] = {HONE_OP_MIN, HONE_OP_MAX, HONE_OP_TRUNCDIV, HONE_OP_TRUNCMOD};
    for (size_t i = 0; i < HONE_COUNT(named); i++)
        spelled &= e->op != named[i];
    bool floors = e->op == HONE_OP_FLOORDIV || e->op == HONE_OP_FLOORMOD;
    spelled &= !(floors && hone_dtype_is_float(e->args[0]->dtype)); /* no operator takes them */
    return spelled && reads_back(pr, e);
}

static int level_of(printer *pr, const hone_expr *e) {
    if (e->kind == HONE_EXPR_BINARY && is_infix(pr, e)) return level_of_op((hone_op)e->op);
    if (e->kind == HONE_EXPR_NOT && e->args[0]->kind != HONE_EXPR_INT) return LEVEL_NOT;
    bool negative =
        e->kind == HONE_EXPR_INT && hone_dtype_equal(e->dtype, HONE_DTYPE_I32) && e->u.i < 0;
    return negative ? LEVEL_UNARY : LEVEL_ATOM;
}

static void print_at(printer *pr, const hone_expr *e, int least) {
    bool bracket = level_of(pr, e) < least;
    if (bracket) hone_str_append_char(pr->out, '(');
    print_expr(pr, e);
    if (bracket) hone_str_append_char(pr->out, ')');
}

static void print_binary(printer *pr, const hone_expr *e) {
    hone_op op = (hone_op)e->op;
    if (is_infix(pr, e)) {
        int level = level_of_op(op);
        print_at(pr, e->args[0], hone_op_is_compare(op) ? level + 1 : level);
        hone_str_printf(pr->out, " %s ", hone_op_spelling(op));
        print_at(pr, e->args[1], level + 1);
        return;
    }
    const char *name = reads_back(pr, e) ? hone_op_function(op) : unfolded_name(op);
    hone_str_printf(pr->out, "%s(", name);
    print_exprs(pr, 2, e->args);
    hone_str_append_char(pr->out, ')');
}

/* ---- accesses ---- */

/* A vector of elements: a slice in the classic dialect; TVM 0.27 takes slices as regions only, and
 * of step 1 as the target of a store. */
static bool prints_slice(const printer *pr, const hone_expr *e, bool is_store) {
    if (e->kind != HONE_EXPR_RAMP || e->args[1]->kind != HONE_EXPR_INT || e->dtype.lanes < 2 ||
        hone_dtype_is_scalable(e->dtype)) {
        return false;
    }
    if (!printer_is_classic(pr)) return is_store && e->args[1]->u.i == 1;
    return e->args[1]->u.i > 0 && e->args[1]->u.i < 65536;
}

static void print_index(printer *pr, const hone_expr *e, bool is_store) {
    bool is_slice = prints_slice(pr, e, is_store);
    if (!is_slice) {
        print_expr(pr, e);
        return;
    }
    int64_t length = e->args[1]->u.i * e->dtype.lanes;
    hone_range range = {e->args[0],
                        hone_expr_int(&pr->ir, hone_dtype_element(e->args[0]->dtype), length)};
    print_expr(pr, e->args[0]);
    hone_str_append_char(pr->out, ':');
    const hone_expr *end = print_range_end(pr, &range);
    if (end) print_expr(pr, end);
    if (e->args[1]->u.i != 1) hone_str_printf(pr->out, ":%lld", (long long)e->args[1]->u.i);
}

void print_access(printer *pr, const hone_expr *e, bool is_store) {
    bool is_scalar = pr->as_scalar && pr->as_scalar[e->u.buffer] && e->count == 1 &&
                     hone_expr_is_int_value(e->args[0], 0);
    if (is_scalar) {
        hone_str_append(pr->out, printer_buffer(pr, e->u.buffer));
        return;
    }
    hone_str_printf(pr->out, "%s[", printer_buffer(pr, e->u.buffer));
    if (e->count == 0) hone_str_append(pr->out, "()");
    for (uint32_t i = 0; i < e->count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_index(pr, e->args[i], is_store);
    }
    hone_str_append_char(pr->out, ']');
}

static void print_var(printer *pr, const hone_expr *e) {
    hone_var var = e->u.var;
    bool known = pr->func && var < pr->func->var_count;
    bool has_name = known && pr->var_names && pr->var_names[var];
    if (known && !has_name && pr->data_of && pr->data_of[var] != HONE_NO_ID) {
        hone_str_printf(pr->out, "%s.data", printer_buffer(pr, pr->data_of[var]));
    } else if (known && !has_name && pr->offset_of && pr->offset_of[var] != HONE_NO_ID) {
        hone_str_printf(pr->out, "%s.elem_offset", printer_buffer(pr, pr->offset_of[var]));
    } else {
        hone_str_append(pr->out, printer_var(pr, var));
    }
}

static void print_named(printer *pr, const char *name, uint32_t count,
                        const hone_expr *const *args) {
    hone_str_printf(pr->out, "%s(", name);
    print_exprs(pr, count, args);
    hone_str_append_char(pr->out, ')');
}

static void print_vector(printer *pr, const hone_expr *e) {
    bool ramp = e->kind == HONE_EXPR_RAMP;
    hone_str_append(pr->out, ramp ? "T.Ramp(" : "T.Broadcast(");
    print_exprs(pr, e->count, e->args);
    const char *scale = hone_dtype_is_scalable(e->dtype) ? "T.vscale() * " : "";
    hone_str_printf(pr->out, ", %s%u)", scale, e->dtype.lanes % HONE_DTYPE_SCALABLE);
}

static void print_let(printer *pr, const hone_expr *e) {
    hone_str_append(pr->out, "T.Let(");
    print_expr(pr, e->args[1]);
    hone_str_printf(pr->out, ", where={%s: ", printer_var(pr, e->u.var));
    print_expr(pr, e->args[0]);
    hone_str_append(pr->out, "})");
}

static void print_shuffle(printer *pr, const hone_expr *e) {
    uint32_t vectors = e->count - e->dtype.lanes;
    hone_str_append(pr->out, "T.Shuffle([");
    print_exprs(pr, vectors, e->args);
    hone_str_append(pr->out, "], [");
    print_exprs(pr, e->count - vectors, e->args + vectors);
    hone_str_append(pr->out, "])");
}

void print_expr(printer *pr, const hone_expr *e) {
    if (!e) {
        hone_str_append(pr->out, "None");
        return;
    }
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        print_int(pr, e);
        return;
    case HONE_EXPR_FLOAT:
        print_float_constant(pr, e);
        return;
    case HONE_EXPR_STRING:
        print_quoted(pr, e->u.s);
        return;
    case HONE_EXPR_VAR:
        print_var(pr, e);
        return;
    case HONE_EXPR_BINARY:
        print_binary(pr, e);
        return;
    case HONE_EXPR_NOT:
        if (level_of(pr, e) != LEVEL_NOT) {
            print_named(pr, "T.Not", 1, e->args);
            return;
        }
        hone_str_append(pr->out, "not ");
        print_at(pr, e->args[0], LEVEL_NOT);
        return;
    case HONE_EXPR_SELECT:
        print_named(pr, "T.Select", 3, e->args);
        return;
    case HONE_EXPR_CAST:
        hone_str_append(pr->out, "T.Cast(");
        print_dtype(pr, e->dtype);
        hone_str_append(pr->out, ", ");
        print_expr(pr, e->args[0]);
        hone_str_append_char(pr->out, ')');
        return;
    case HONE_EXPR_LOAD:
        print_access(pr, e, false);
        return;
    case HONE_EXPR_CALL:
        print_call(pr, e);
        return;
    case HONE_EXPR_RAMP:
    case HONE_EXPR_BROADCAST:
        print_vector(pr, e);
        return;
    case HONE_EXPR_SHUFFLE:
        print_shuffle(pr, e);
        return;
    case HONE_EXPR_LET:
        print_let(pr, e);
        return;
    }
}

void print_exprs(printer *pr, uint32_t count, const hone_expr *const *exprs) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_expr(pr, exprs[i]);
    }
}

void print_tuple(printer *pr, uint32_t count, const hone_expr *const *exprs) {
    hone_str_append_char(pr->out, '(');
    print_exprs(pr, count, exprs);
    hone_str_append(pr->out, count == 1 ? ",)" : ")");
}

/* ---- values ---- */

/* An attribute names a buffer by itself where an expression says A.data. */
static bool print_buffer_of_handle(printer *pr, const hone_expr *e) {
    bool known = e->kind == HONE_EXPR_VAR && pr->func && e->u.var < pr->func->var_count &&
                 pr->data_of && pr->data_of[e->u.var] != HONE_NO_ID && !pr->var_names[e->u.var];
    if (known) hone_str_append(pr->out, printer_buffer(pr, pr->data_of[e->u.var]));
    return known;
}

/* "tir.noalias" is "tirx.noalias" in TVM 0.27. */
static void print_key(printer *pr, const char *key) {
    bool renamed = strncmp(key, "tir.", 4) == 0 && !printer_is_classic(pr);
    const char *now = renamed ? hone_arena_printf(pr->arena, "tirx.%s", key + 4) : key;
    print_quoted(pr, now ? now : key);
}

void print_attrs(printer *pr, const hone_attrs *attrs) {
    hone_str_append_char(pr->out, '{');
    for (uint32_t i = 0; i < attrs->count; i++) {
        if (i) hone_str_append(pr->out, ", ");
        const hone_attr *attr = &attrs->items[i];
        bool is_target =
            strcmp(attr->key, "target") == 0 && !printer_is_classic(pr) &&
            (attr->value.kind == HONE_VALUE_MAP || attr->value.kind == HONE_VALUE_STRING);
        print_key(pr, attr->key);
        hone_str_append(pr->out, is_target ? ": T.target(" : ": ");
        print_value(pr, &attr->value);
        if (is_target) hone_str_append_char(pr->out, ')');
    }
    hone_str_append_char(pr->out, '}');
}

static void print_float_value(printer *pr, double value) {
    const char *special = special_float(value);
    if (special) {
        hone_str_printf(pr->out, "float(\"%s\")", special);
    } else {
        print_float(pr->out, value);
    }
}

static hone_dtype dtype_of_var(const printer *pr, hone_var var) {
    return pr->func ? pr->func->vars[var].dtype : pr->graph->vars[var].dtype;
}

static void print_lambda(printer *pr, const hone_lambda *lambda) {
    uint32_t scope = printer_scope_begin(pr);
    hone_str_append(pr->out, lambda->is_reducer ? "T.comm_reducer(lambda" : "T.index_map(lambda");
    for (uint32_t i = 0; i < lambda->param_count; i++) {
        hone_str_printf(pr->out, "%s %s", i ? "," : "", printer_define_var(pr, lambda->params[i]));
    }
    hone_str_append(pr->out, ": ");
    if (lambda->is_reducer && lambda->body_count == 1) {
        print_expr(pr, lambda->bodies[0]);
    } else {
        print_tuple(pr, lambda->body_count, lambda->bodies);
    }
    if (lambda->is_reducer) {
        hone_str_append(pr->out, ", [");
        print_exprs(pr, lambda->identity_count, lambda->identities);
        hone_str_append_char(pr->out, ']');
    } else if (lambda->param_count) {
        hone_dtype dtype = dtype_of_var(pr, lambda->params[0]);
        bool is_short = printer_is_classic(pr) && pr->func; /* as it is read */
        hone_dtype usual = is_short ? HONE_DTYPE_I32 : HONE_DTYPE_I64;
        if (!hone_dtype_equal(dtype, usual)) {
            hone_str_append(pr->out, ", index_dtype=");
            print_dtype(pr, dtype);
        }
    }
    hone_str_append_char(pr->out, ')');
    printer_scope_end(pr, scope);
}

void print_value(printer *pr, const hone_value *v) {
    hone_attrs map = {.count = v->count, .items = v->u.attrs};
    switch (v->kind) {
    case HONE_VALUE_NONE:
        hone_str_append(pr->out, "None");
        return;
    case HONE_VALUE_BOOL:
        hone_str_append(pr->out, v->u.i ? "True" : "False");
        return;
    case HONE_VALUE_INT:
        hone_str_printf(pr->out, "%lld", (long long)v->u.i);
        return;
    case HONE_VALUE_FLOAT:
        print_float_value(pr, v->u.f);
        return;
    case HONE_VALUE_STRING:
        print_quoted(pr, v->u.s);
        return;
    case HONE_VALUE_EXPR:
        if (printer_is_classic(pr) || !print_buffer_of_handle(pr, v->u.expr))
            print_expr(pr, v->u.expr);
        return;
    case HONE_VALUE_MAP:
        print_attrs(pr, &map);
        return;
    case HONE_VALUE_LAMBDA:
        print_lambda(pr, v->u.lambda);
        return;
    case HONE_VALUE_LIST:
        hone_str_append_char(pr->out, '[');
        for (uint32_t i = 0; i < v->count; i++) {
            if (i) hone_str_append(pr->out, ", ");
            print_value(pr, &v->u.items[i]);
        }
        hone_str_append_char(pr->out, ']');
        return;
    }
}

/* ---- regions ---- */

const hone_expr *print_range_end(printer *pr, const hone_range *range) {
    if (!range->min || !range->extent) return NULL;
    if (hone_expr_is_int_value(range->min, 0)) return range->extent;
    const hone_expr *end = script_fold_binary(&pr->ir, HONE_OP_ADD, range->min, range->extent);
    hone_status_free(hone_ir_finish(&pr->ir));
    return end;
}

void print_region(printer *pr, const hone_region *region) {
    hone_str_append(pr->out, printer_buffer(pr, region->buffer));
    if (pr->as_scalar && pr->as_scalar[region->buffer]) return; /* its name is its element */
    hone_str_append_char(pr->out, '[');
    uint32_t rank = pr->func->buffers[region->buffer].rank;
    if (!rank) hone_str_append(pr->out, "()");
    for (uint32_t i = 0; i < rank; i++) {
        if (i) hone_str_append(pr->out, ", ");
        print_expr(pr, region->ranges[i].min);
        if (hone_expr_is_int_value(region->ranges[i].extent, 1)) continue;
        hone_str_append_char(pr->out, ':');
        print_expr(pr, print_range_end(pr, &region->ranges[i]));
    }
    hone_str_append_char(pr->out, ']');
}
