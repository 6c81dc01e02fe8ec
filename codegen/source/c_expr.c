/* codegen/source/c_expr.c - expressions as C text, for one lane. */
#include <math.h>
#include <string.h>

#include "codegen/source/c_gen.h"

static const c_text nothing = {"0", C_PREC_POSTFIX};

static c_text fail(c_gen *g, hone_status st) {
    c_fail(g, st);
    return nothing;
}

/* ---- statements in front ---- */

static bool note_need(void *ctx, const hone_expr *e) {
    bool *needs = ctx;
    if (e->kind == HONE_EXPR_LET || e->kind == HONE_EXPR_SHUFFLE) *needs = true;
    if (e->kind == HONE_EXPR_CALL) {
        switch ((hone_intrin)e->op) {
        case HONE_INTRIN_VECTOR_REDUCE_ADD:
        case HONE_INTRIN_VECTOR_REDUCE_MUL:
        case HONE_INTRIN_VECTOR_REDUCE_MIN:
        case HONE_INTRIN_VECTOR_REDUCE_MAX:
        case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
        case HONE_INTRIN_VECTOR_REDUCE_MAXIMUM:
        case HONE_INTRIN_CALL_EXTERN:
        case HONE_INTRIN_CALL_PURE_EXTERN:
        case HONE_INTRIN_CALL_PACKED:
        case HONE_INTRIN_NAMED:
        case HONE_INTRIN_STORAGE_SYNC:
        case HONE_INTRIN_REINTERPRET:
        case HONE_INTRIN_RETURN:
            *needs = true;
            break;
        default:
            break;
        }
    }
    return !*needs;
}

bool c_needs_statements(const hone_expr *e) {
    bool needs = false;
    hone_expr_walk(e, note_need, &needs);
    return needs;
}

const char *c_open_lanes(c_gen *g, uint32_t lanes) {
    const char *outer = g->lane;
    g->lane = c_name(g, "lane");
    c_open(g, "for (int %s = 0; %s < %u; %s++)", g->lane, g->lane, (unsigned)lanes, g->lane);
    return outer;
}

void c_close_lanes(c_gen *g, const char *outer) {
    g->lane = outer;
    c_close(g);
}

/* Both branches as statements of their own: only one of them may be evaluated. */
static c_text branches(c_gen *g, const hone_expr *condition, const hone_expr *yes,
                       const hone_expr *no, const char *type) {
    const char *name = c_name(g, "chosen");
    c_text when = c_condition(g, condition);
    c_line(g, "%s %s;", type, name);
    c_open(g, "if (%s)", when.s);
    c_line(g, "%s = %s;", name, yes ? c_value(g, yes).s : "true");
    c_close(g);
    c_open(g, "else");
    c_line(g, "%s = %s;", name, no ? c_value(g, no).s : "false");
    c_close(g);
    return (c_text){name, C_PREC_POSTFIX};
}

static c_text choice(c_gen *g, const hone_expr *e) {
    if (c_needs_statements(e->args[1]) || c_needs_statements(e->args[2])) {
        return branches(g, e->args[0], e->args[1], e->args[2], c_type(g, e->dtype));
    }
    c_text condition = c_condition(g, e->args[0]);
    c_text yes = c_value(g, e->args[1]), no = c_value(g, e->args[2]);
    return (c_text){c_printf(g, "%s ? %s : %s", c_at(g, condition, C_PREC_LOGIC),
                             c_at(g, yes, C_PREC_LOGIC), c_at(g, no, C_PREC_LOGIC)),
                    C_PREC_CHOICE};
}

/* ---- operators ---- */

static const char *sign_of(hone_op op) {
    switch (op) {
    case HONE_OP_TRUNCDIV:
        return "/";
    case HONE_OP_TRUNCMOD:
        return "%";
    default:
        return hone_op_spelling(op);
    }
}

static c_text infix(c_gen *g, hone_op op, c_text a, c_text b) {
    c_prec prec = op == HONE_OP_ADD || op == HONE_OP_SUB ? C_PREC_ADD : C_PREC_MUL;
    if (hone_op_is_compare(op)) {
        return (c_text){
            c_printf(g, "%s %s %s", c_at(g, a, C_PREC_ADD), sign_of(op), c_at(g, b, C_PREC_ADD)),
            C_PREC_COMPARE};
    }
    return (c_text){c_printf(g, "%s %s %s", c_at(g, a, prec), sign_of(op), c_at(g, b, prec + 1)),
                    prec};
}

static c_text apply(c_gen *g, const char *helper, const char *type, c_text a, c_text b) {
    return (c_text){c_printf(g, "%s(%s, %s)", c_helper(g, helper, type), a.s, b.s), C_PREC_POSTFIX};
}

static c_text float_binary(c_gen *g, const hone_expr *e, c_text a, c_text b) {
    const char *type = c_type(g, e->args[0]->dtype);
    const char *f = type[0] == 'd' ? "" : g->dialect->float_end;
    switch ((hone_op)e->op) {
    case HONE_OP_MIN:
        return apply(g, "min", type, a, b);
    case HONE_OP_MAX:
        return apply(g, "max", type, a, b);
    case HONE_OP_FLOORDIV:
        return (c_text){
            c_printf(g, "floor%s(%s / %s)", f, c_at(g, a, C_PREC_MUL), c_at(g, b, C_PREC_UNARY)),
            C_PREC_POSTFIX};
    case HONE_OP_FLOORMOD:
        return (c_text){c_printf(g, "%s - floor%s(%s / %s) * %s", c_at(g, a, C_PREC_ADD), f,
                                 c_at(g, a, C_PREC_MUL), c_at(g, b, C_PREC_UNARY),
                                 c_at(g, b, C_PREC_UNARY)),
                        C_PREC_ADD};
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
    case HONE_OP_AND:
    case HONE_OP_OR:
    case HONE_OP_COUNT:
        return fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s' on %s",
                                  hone_op_function((hone_op)e->op),
                                  HONE_DTYPE_NAME(e->args[0]->dtype)));
    default:
        return infix(g, (hone_op)e->op, a, b);
    }
}

/* Values of integers wrap around: computed unsigned, where C defines that. */
static c_text wrapping(c_gen *g, hone_op op, hone_dtype dtype, c_text a, c_text b) {
    const char *type = c_type(g, dtype), *wide = dtype.bits == 64 ? "uint64_t" : "uint32_t";
    return (c_text){c_printf(g, "(%s)((%s)%s %s (%s)%s)", type, wide, c_at(g, a, C_PREC_UNARY),
                             sign_of(op), wide, c_at(g, b, C_PREC_UNARY)),
                    C_PREC_UNARY};
}

/* Whether a divisor is surely above 0. */
static bool is_positive(c_gen *g, const hone_expr *e) {
    if (e->kind == HONE_EXPR_BROADCAST) e = e->args[0];
    return hone_arith_bound(&g->arith, e).min >= 1;
}

static c_text divisor(c_gen *g, const hone_expr *e, const char *type, c_text b) {
    if (is_positive(g, e) || (hone_expr_is_int(e) && e->u.i != 0)) return b;
    if (g->dialect->is_device) {
        return (c_text){c_printf(g, "%s(%s)", c_helper(g, "nonzero", type), b.s), C_PREC_POSTFIX};
    }
    g->uses_fault = true;
    return (c_text){c_printf(g, "%s(%s, &fault)", c_helper(g, "divisor", type), b.s),
                    C_PREC_POSTFIX};
}

static c_text divide(c_gen *g, const hone_expr *e, const char *type, c_text a, c_text b) {
    hone_op op = e->op == HONE_OP_DIV ? HONE_OP_TRUNCDIV : (hone_op)e->op;
    bool is_signed = type[0] == 'i', is_plain = is_positive(g, e->args[1]);
    bool wants_quotient = op == HONE_OP_FLOORDIV || op == HONE_OP_TRUNCDIV;
    b = divisor(g, e->args[1], type, b);
    if (is_signed && hone_expr_is_divmod(e))
        return apply(g, wants_quotient ? "floordiv" : "floormod", type, a, b);
    if (is_signed && !is_plain)
        return apply(g, wants_quotient ? "truncdiv" : "truncmod", type, a, b);
    return infix(g, wants_quotient ? HONE_OP_TRUNCDIV : HONE_OP_TRUNCMOD, a, b);
}

static c_text int_binary(c_gen *g, const hone_expr *e, c_text a, c_text b) {
    hone_dtype dtype = hone_dtype_element(e->args[0]->dtype);
    const char *type = c_type(g, dtype);
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
    case HONE_OP_SUB:
    case HONE_OP_MUL:
        return wrapping(g, (hone_op)e->op, dtype, a, b);
    case HONE_OP_MIN:
        return apply(g, "min", type, a, b);
    case HONE_OP_MAX:
        return apply(g, "max", type, a, b);
    case HONE_OP_DIV:
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        return divide(g, e, type, a, b);
    default:
        return infix(g, (hone_op)e->op, a, b);
    }
}

static c_text logic(c_gen *g, const hone_expr *e) {
    bool is_and = e->op == HONE_OP_AND;
    if (c_needs_statements(e->args[1])) {
        return is_and ? branches(g, e->args[0], e->args[1], NULL, "bool")
                      : branches(g, e->args[0], NULL, e->args[1], "bool");
    }
    c_text parts[2];
    for (int i = 0; i < 2; i++) {
        const hone_expr *arg = e->args[i];
        bool is_same = hone_expr_is_op(arg, (hone_op)e->op);
        parts[i] = c_condition(g, arg);
        parts[i].s = c_at(g, parts[i], is_same ? C_PREC_LOGIC : C_PREC_COMPARE);
    }
    return (c_text){c_printf(g, "%s %s %s", parts[0].s, is_and ? "&&" : "||", parts[1].s),
                    C_PREC_LOGIC};
}

static c_text binary(c_gen *g, const hone_expr *e) {
    if (e->op == HONE_OP_AND || e->op == HONE_OP_OR) return logic(g, e);
    if (codegen_is_index_compare(e)) {
        c_text low = c_index(g, e->args[0]);
        return infix(g, (hone_op)e->op, low, c_index(g, e->args[1]));
    }
    c_text a = c_value(g, e->args[0]), b = c_value(g, e->args[1]);
    return hone_dtype_is_float(e->args[0]->dtype) ? float_binary(g, e, a, b)
                                                  : int_binary(g, e, a, b);
}

/* ---- indices ---- */

/* An index that is known not to wrap, as int64_t. */
static c_text number(c_gen *g, const hone_expr *e);

static c_text widen(c_gen *g, const hone_expr *e) {
    if (hone_dtype_is_float(e->dtype) || hone_dtype_is_handle(e->dtype)) {
        return fail(
            g, HONE_ERROR(HONE_CODE_INVALID, "an index is of type %s", HONE_DTYPE_NAME(e->dtype)));
    }
    return c_value(g, e);
}

static bool is_not_negative(c_gen *g, const hone_expr *e) {
    return hone_arith_bound(&g->arith, e).min >= 0;
}

static c_text index_binary(c_gen *g, const hone_expr *e) {
    hone_op op = (hone_op)e->op;
    c_text a = number(g, e->args[0]), b = number(g, e->args[1]);
    switch (op) {
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
        if (is_not_negative(g, e->args[0]) && is_positive(g, e->args[1])) {
            return infix(g, op == HONE_OP_FLOORDIV ? HONE_OP_TRUNCDIV : HONE_OP_TRUNCMOD, a, b);
        }
        return divide(g, e, "int64_t", a, b);
    case HONE_OP_MIN:
        return apply(g, "min", "int64_t", a, b);
    case HONE_OP_MAX:
        return apply(g, "max", "int64_t", a, b);
    case HONE_OP_ADD:
    case HONE_OP_SUB:
    case HONE_OP_MUL:
        return infix(g, op, a, b);
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        return divide(g, e, "int64_t", a, b);
    default:
        return widen(g, e);
    }
}

static c_text lane_of_ramp(c_gen *g, c_text base, c_text stride) {
    if (!g->lane) return base; /* a ramp of one lane */
    const char *step = strcmp(stride.s, "1") == 0
                           ? g->lane
                           : c_printf(g, "%s * %s", g->lane, c_at(g, stride, C_PREC_UNARY));
    if (strcmp(base.s, "0") == 0) return (c_text){step, C_PREC_MUL};
    return (c_text){c_printf(g, "%s + %s", c_at(g, base, C_PREC_ADD), step), C_PREC_ADD};
}

static c_text number(c_gen *g, const hone_expr *e) {
    if (hone_dtype_is_float(e->dtype)) return widen(g, e);
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        return c_int_constant(HONE_DTYPE_I64, e->u.i, g);
    case HONE_EXPR_VAR:
        if (g->vars[e->u.var].is_index) return (c_text){g->vars[e->u.var].text, C_PREC_POSTFIX};
        return widen(g, e);
    case HONE_EXPR_BINARY:
        return e->dtype.lanes == 1 && hone_expr_is_pure_index(e) ? index_binary(g, e) : widen(g, e);
    case HONE_EXPR_RAMP:
        if (e->args[0]->dtype.lanes == 1) {
            c_text base = number(g, e->args[0]);
            return lane_of_ramp(g, base, number(g, e->args[1]));
        }
        return widen(g, e);
    case HONE_EXPR_CAST:
        if (hone_dtype_is_integer(e->args[0]->dtype) && e->args[0]->dtype.bits <= e->dtype.bits &&
            e->args[0]->dtype.lanes == 1) {
            return number(g, e->args[0]);
        }
        return widen(g, e);
    default:
        return widen(g, e);
    }
}

c_text c_index(c_gen *g, const hone_expr *e) {
    return hone_arith_is_exact(&g->arith, e) ? number(g, e) : widen(g, e);
}

c_text c_checked_index(c_gen *g, const hone_expr *e) {
    c_text at = c_index(g, e->args[0]), extent = c_index(g, e->args[1]);
    if (g->dialect->is_device) return apply(g, "clamped", "int64_t", at, extent);
    g->uses_fault = true;
    return (c_text){
        c_printf(g, "%s(%s, %s, &fault)", c_helper(g, "index", "int64_t"), at.s, extent.s),
        C_PREC_POSTFIX};
}

/* ---- buffers ---- */

c_space c_space_of(const c_gen *g, hone_buffer buffer) {
    hone_buffer storage = hone_func_storage(g->func, buffer);
    const char *scope = g->func->buffers[storage].scope;
    if (scope && strncmp(scope, "shared", 6) == 0) return C_SPACE_SHARED;
    return hone_func_is_parameter(g->func, storage) ? C_SPACE_GLOBAL : C_SPACE_PRIVATE;
}

/* Memory seen as another type: the compilers of devices take it so, those of C need not. */
static const char *seen_as(c_gen *g, const char *name, hone_buffer buffer) {
    return c_printf(g, "((%s%s *)%s)", g->dialect->space[c_space_of(g, buffer)],
                    c_storage(g, g->func->buffers[buffer].dtype), name);
}

const char *c_buffer(c_gen *g, hone_buffer buffer) {
    hone_buffer at = buffer;
    for (int hops = 0; hops < 64; hops++) {
        if (g->buffers[at]) {
            if (hone_dtype_same_element(g->func->buffers[at].dtype,
                                        g->func->buffers[buffer].dtype)) {
                return g->buffers[at];
            }
            if (g->dialect->is_device) return seen_as(g, g->buffers[at], buffer);
            break;
        }
        if (g->func->buffers[at].alias_of == HONE_NO_ID) break;
        at = g->func->buffers[at].alias_of;
    }
    c_fail(g, g->buffers[at]
                  ? HONE_ERROR(HONE_CODE_UNSUPPORTED,
                               "C source cannot view buffer '%s' as another type",
                               g->func->buffers[at].name)
                  : HONE_ERROR(HONE_CODE_INVALID, "buffer '%s' is used outside of its scope",
                               g->func->buffers[buffer].name));
    return "0";
}

const char *c_element(c_gen *g, hone_buffer buffer, const hone_expr *index) {
    const char *at = c_index(g, index).s;
    if (c_is_of_warp(g, buffer)) at = c_warp_index(g, buffer, at);
    at = c_turned_index(g, buffer, at);
    return c_printf(g, "%s[%s]", c_buffer(g, buffer), at);
}

static c_text load_stored(c_gen *g, const hone_expr *e) {
    if (e->count != 1) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "buffer '%s' is not flat",
                                  g->func->buffers[e->u.buffer].name));
    }
    return (c_text){c_element(g, e->u.buffer, e->args[0]), C_PREC_POSTFIX};
}

/* ---- the rest ---- */

static c_text variable(c_gen *g, const hone_expr *e) {
    const c_var *var = &g->vars[e->u.var];
    if (!var->text && hone_dtype_is_handle(e->dtype)) {
        hone_buffer id = codegen_buffer_of_data(g->func, e->u.var);
        if (id != HONE_NO_ID) return (c_text){c_buffer(g, id), C_PREC_POSTFIX};
    }
    if (!var->text) {
        return fail(g, HONE_ERROR(HONE_CODE_INVALID, "variable '%s' has no value here",
                                  g->func->vars[e->u.var].name));
    }
    if (var->is_lanes) {
        return (c_text){c_printf(g, "%s[%s]", var->text, g->lane ? g->lane : "0"), C_PREC_POSTFIX};
    }
    if (!var->is_index || hone_dtype_equal(e->dtype, HONE_DTYPE_I64)) {
        return (c_text){var->text, C_PREC_POSTFIX};
    }
    return (c_text){c_printf(g, "(%s)%s", c_type(g, e->dtype), var->text), C_PREC_UNARY};
}

static c_text float_constant(c_gen *g, const hone_expr *e) {
    double value = codegen_float_constant(e);
    bool is_double = e->dtype.bits == 64;
    if (isnan(value)) return (c_text){"NAN", C_PREC_POSTFIX};
    if (isinf(value)) {
        return (c_text){value < 0 ? "-INFINITY" : "INFINITY", C_PREC_UNARY};
    }
    const char *digits =
        is_double ? c_printf(g, "%.17g", value) : c_printf(g, "%.9g", (double)(float)value);
    const char *point = strpbrk(digits, ".e") ? "" : ".0";
    return (c_text){c_printf(g, "%s%s%s", digits, point, is_double ? "" : "f"),
                    digits[0] == '-' ? C_PREC_UNARY : C_PREC_POSTFIX};
}

static c_text let(c_gen *g, const hone_expr *e) {
    c_var saved = g->vars[e->u.var];
    const char *name = c_name(g, g->func->vars[e->u.var].name);
    c_text value = c_value(g, e->args[0]);
    c_line(g, "const %s %s = %s;", c_type(g, e->args[0]->dtype), name, value.s);
    g->vars[e->u.var] = (c_var){.text = name};
    c_text body = c_value(g, e->args[1]);
    g->vars[e->u.var] = saved;
    return body;
}

/* Vectors one after the other into an array, from which the constants behind them pick. */
static c_text shuffle(c_gen *g, const hone_expr *e) {
    uint16_t picks = e->dtype.lanes, vectors = (uint16_t)(e->count - picks);
    const char *type = c_type(g, e->dtype), *all = c_name(g, "all"), *outer = g->lane;
    uint32_t count = 0;
    for (uint16_t i = 0; i < vectors; i++)
        count += e->args[i]->dtype.lanes;
    c_line(g, "%s %s[%u];", type, all, (unsigned)count);
    count = 0;
    for (uint16_t i = 0; i < vectors; i++) {
        uint32_t lanes = e->args[i]->dtype.lanes;
        const char *before = c_open_lanes(g, lanes);
        c_text value = c_value(g, e->args[i]);
        c_line(g, "%s[%u + %s] = %s;", all, (unsigned)count, g->lane, value.s);
        c_close_lanes(g, before);
        count += lanes;
    }
    hone_str list = {0};
    for (uint16_t i = 0; i < picks; i++) {
        int64_t lane = hone_expr_const(e->args[vectors + i]);
        if (lane < 0 || lane >= count) {
            hone_str_deinit(&list);
            return fail(g, HONE_ERROR(HONE_CODE_INVALID, "shuffle picks a lane that is not there"));
        }
        hone_str_printf(&list, "%s%lld", i ? ", " : "", (long long)lane);
    }
    const char *order = c_printf(g, "%s", hone_str_text(&list));
    hone_str_deinit(&list);
    if (picks == 1) return (c_text){c_printf(g, "%s[%s]", all, order), C_PREC_POSTFIX};
    const char *name = c_name(g, "picks");
    c_line(g, "%s uint16_t %s[] = {%s};", g->dialect->table_words, name, order);
    return (c_text){c_printf(g, "%s[%s[%s]]", all, name, outer ? outer : "0"), C_PREC_POSTFIX};
}

static c_text ramp(c_gen *g, const hone_expr *e) {
    c_text base = c_value(g, e->args[0]), stride = c_value(g, e->args[1]);
    c_text lane = {c_printf(g, "%s", g->lane ? g->lane : "0"), C_PREC_POSTFIX};
    hone_dtype dtype = hone_dtype_element(e->dtype);
    c_text step = wrapping(g, HONE_OP_MUL, dtype, lane, stride);
    return wrapping(g, HONE_OP_ADD, dtype, base, step);
}

static c_text string(c_gen *g, const char *text) {
    hone_str out = {0};
    hone_str_append(&out, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            hone_str_printf(&out, "\\%c", *c);
        } else if (*c < 0x20 || *c >= 0x7f || *c == '?') {
            hone_str_printf(&out, "\\%03o", *c);
        } else {
            hone_str_printf(&out, "%c", *c);
        }
    }
    hone_str_append(&out, "\"");
    const char *copy = c_printf(g, "%s", hone_str_text(&out));
    hone_str_deinit(&out);
    return (c_text){copy, C_PREC_POSTFIX};
}

/* The value of e; an operation on small floats as it comes, not yet rounded. */
static c_text unrounded(c_gen *g, const hone_expr *e) {
    if (g->error) return nothing;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        return c_int_constant(hone_dtype_element(e->dtype), e->u.i, g);
    case HONE_EXPR_FLOAT:
        return float_constant(g, e);
    case HONE_EXPR_STRING:
        return string(g, e->u.s);
    case HONE_EXPR_VAR:
        return variable(g, e);
    case HONE_EXPR_BINARY:
        return binary(g, e);
    case HONE_EXPR_NOT: {
        c_text value = c_condition(g, e->args[0]);
        return (c_text){c_printf(g, "!%s", c_at(g, value, C_PREC_UNARY)), C_PREC_UNARY};
    }
    case HONE_EXPR_SELECT:
        return choice(g, e);
    case HONE_EXPR_CAST:
        return c_cast(g, e->args[0]->dtype, e->dtype, c_value(g, e->args[0]));
    case HONE_EXPR_LOAD:
        return c_from_storage(g, g->func->buffers[e->u.buffer].dtype, load_stored(g, e));
    case HONE_EXPR_CALL:
        if (e->op == HONE_INTRIN_IF_THEN_ELSE) return choice(g, e);
        return c_call(g, e);
    case HONE_EXPR_RAMP:
        return ramp(g, e);
    case HONE_EXPR_BROADCAST:
        return c_value(g, e->args[0]);
    case HONE_EXPR_SHUFFLE:
        return shuffle(g, e);
    case HONE_EXPR_LET:
        return let(g, e);
    }
    return nothing;
}

/* Integers below 8 bits wrap around in their own width. */
static c_text computed(c_gen *g, const hone_expr *e) {
    c_text value = unrounded(g, e);
    bool is_made = e->kind == HONE_EXPR_BINARY || e->kind == HONE_EXPR_CALL;
    return is_made ? c_wrapped(g, e->dtype, value) : value;
}

c_text c_value(c_gen *g, const hone_expr *e) {
    c_text value = computed(g, e);
    if (!codegen_is_unrounded(e)) return value;
    return c_from_storage(g, e->dtype, c_to_storage(g, e->dtype, value));
}

/* A small float that is read, or has just been made, is not widened in order to be narrowed. */
c_text c_stored(c_gen *g, const hone_expr *e) {
    if (codegen_is_small_float(e->dtype)) {
        hone_dtype from = e->count > 0 ? e->args[0]->dtype : e->dtype;
        bool is_same = hone_dtype_same_element(from, e->dtype);
        if (e->kind == HONE_EXPR_LOAD) return load_stored(g, e);
        if (e->kind == HONE_EXPR_BROADCAST || (e->kind == HONE_EXPR_CAST && is_same)) {
            return c_stored(g, e->args[0]);
        }
        if (e->kind == HONE_EXPR_CAST) return c_narrow(g, from, e->dtype, c_value(g, e->args[0]));
    }
    return c_to_storage(g, e->dtype, computed(g, e));
}

c_text c_condition(c_gen *g, const hone_expr *e) {
    c_text value = c_value(g, e);
    if (hone_dtype_is_bool(e->dtype)) return value;
    return (c_text){c_printf(g, "%s != 0", c_at(g, value, C_PREC_ADD)), C_PREC_COMPARE};
}
