/* tests/ir/arith/arith_text.c - see arith_text.h. */
#include "tests/ir/arith/arith_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    hone_ir *ir;
    const char *at;
    bool wrong;
} reader;

static const hone_expr *read_or(reader *r);

static void skip(reader *r) {
    while (*r->at == ' ')
        r->at++;
}

/* A word needs a boundary behind it, a sign does not. */
static bool eat(reader *r, const char *token) {
    skip(r);
    size_t n = strlen(token);
    if (strncmp(r->at, token, n) != 0) return false;
    if (isalpha((unsigned char)token[0]) && isalnum((unsigned char)r->at[n])) return false;
    r->at += n;
    return true;
}

static const hone_expr *read_call(reader *r, const char *name) {
    const hone_expr *args[3] = {NULL};
    uint32_t n = 0;
    do {
        if (n < 3) args[n++] = read_or(r);
    } while (eat(r, ","));
    if (!eat(r, ")")) r->wrong = true;
    hone_ir *ir = r->ir;
    if (!strcmp(name, "min")) return hone_expr_binary(ir, HONE_OP_MIN, args[0], args[1]);
    if (!strcmp(name, "max")) return hone_expr_binary(ir, HONE_OP_MAX, args[0], args[1]);
    if (!strcmp(name, "truncdiv")) return hone_expr_binary(ir, HONE_OP_TRUNCDIV, args[0], args[1]);
    if (!strcmp(name, "truncmod")) return hone_expr_binary(ir, HONE_OP_TRUNCMOD, args[0], args[1]);
    if (!strcmp(name, "select")) return hone_expr_select(ir, args[0], args[1], args[2]);
    if (!strcmp(name, "i64")) return hone_expr_cast(ir, HONE_DTYPE_I64, args[0]);
    if (!strcmp(name, "i32")) return hone_expr_cast(ir, HONE_DTYPE_I32, args[0]);
    if (!strcmp(name, "likely"))
        return hone_expr_call(ir, HONE_DTYPE_BOOL, HONE_INTRIN_LIKELY, 1, args);
    if (!strcmp(name, "if_then_else")) {
        return args[1] ? hone_expr_call(ir, args[1]->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args)
                       : NULL;
    }
    r->wrong = true;
    return NULL;
}

static const hone_expr *read_atom(reader *r) {
    skip(r);
    if (isdigit((unsigned char)*r->at)) {
        char *end = NULL;
        int64_t value = strtoll(r->at, &end, 10);
        r->at = end;
        return hone_expr_i32(r->ir, value);
    }
    if (eat(r, "-")) {
        const hone_expr *x = read_atom(r);
        if (x && hone_expr_is_int(x)) return hone_expr_i32(r->ir, -x->u.i);
        return hone_expr_mul(r->ir, x, hone_expr_i32(r->ir, -1));
    }
    if (eat(r, "(")) {
        const hone_expr *x = read_or(r);
        if (!eat(r, ")")) r->wrong = true;
        return x;
    }
    if (eat(r, "True")) return hone_expr_bool(r->ir, true);
    if (eat(r, "False")) return hone_expr_bool(r->ir, false);
    char name[16];
    size_t n = 0;
    while ((isalnum((unsigned char)r->at[n]) || r->at[n] == '_') && n < 15)
        n++;
    memcpy(name, r->at, n);
    name[n] = 0;
    r->at += n;
    if (n == 1) return hone_expr_var(r->ir, HONE_DTYPE_I32, (hone_var)(name[0] - 'a'));
    if (n == 0 || !eat(r, "(")) {
        r->wrong = true;
        return NULL;
    }
    return read_call(r, name);
}

static const hone_expr *read_product(reader *r) {
    const hone_expr *x = read_atom(r);
    for (;;) {
        if (eat(r, "*"))
            x = hone_expr_mul(r->ir, x, read_atom(r));
        else if (eat(r, "//"))
            x = hone_expr_floordiv(r->ir, x, read_atom(r));
        else if (eat(r, "%"))
            x = hone_expr_floormod(r->ir, x, read_atom(r));
        else
            return x;
    }
}

static const hone_expr *read_sum(reader *r) {
    const hone_expr *x = read_product(r);
    for (;;) {
        if (eat(r, "+"))
            x = hone_expr_add(r->ir, x, read_product(r));
        else if (eat(r, "-"))
            x = hone_expr_sub(r->ir, x, read_product(r));
        else
            return x;
    }
}

static const hone_expr *read_comparison(reader *r) {
    static const struct {
        const char *sign;
        hone_op op;
    } signs[] = {
        {"==", HONE_OP_EQ},
        {"!=", HONE_OP_NE},
        {"<=", HONE_OP_LE},
        {">=", HONE_OP_GE},
        {"<",  HONE_OP_LT},
        {">",  HONE_OP_GT}
    };
    if (eat(r, "not")) return hone_expr_not(r->ir, read_comparison(r));
    const hone_expr *x = read_sum(r);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (eat(r, signs[i].sign)) return hone_expr_binary(r->ir, signs[i].op, x, read_sum(r));
    }
    return x;
}

static const hone_expr *read_and(reader *r) {
    const hone_expr *x = read_comparison(r);
    while (eat(r, "and"))
        x = hone_expr_binary(r->ir, HONE_OP_AND, x, read_comparison(r));
    return x;
}

static const hone_expr *read_or(reader *r) {
    const hone_expr *x = read_and(r);
    while (eat(r, "or"))
        x = hone_expr_binary(r->ir, HONE_OP_OR, x, read_and(r));
    return x;
}

const hone_expr *text_expr(hone_ir *ir, const char *text) {
    reader r = {.ir = ir, .at = text};
    const hone_expr *e = read_or(&r);
    skip(&r);
    return r.wrong || *r.at ? NULL : e;
}

void text_bind(hone_arith *arith) {
    static const struct {
        char name, end;
        int64_t extent;
    } loops[] = {
        {'a', 0,   4 },
        {'b', 0,   8 },
        {'c', 0,   16},
        {'d', 0,   3 },
        {'i', 'n', 0 },
        {'j', 'm', 0 },
        {'k', 'm', 0 }
    };
    for (const char *size = "nmp"; *size; size++) {
        hone_arith_bind_const(arith, (hone_var)(*size - 'a'), 1, HONE_BOUND_POS_INF);
    }
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        hone_range range = {hone_expr_i32(&arith->ir, 0),
                            hone_expr_i32(&arith->ir, loops[i].extent)};
        hone_var end = (hone_var)(loops[i].end - 'a');
        if (loops[i].end) range.extent = hone_expr_var(&arith->ir, HONE_DTYPE_I32, end);
        hone_arith_bind(arith, (hone_var)(loops[i].name - 'a'), range);
    }
}

/* How tightly Python binds an operator that is a sign or a word. */
static int precedence(hone_op op) {
    if (op == HONE_OP_OR) return 0;
    if (op == HONE_OP_AND) return 1;
    if (hone_op_is_compare(op)) return 3;
    return op == HONE_OP_ADD || op == HONE_OP_SUB ? 6 : 7;
}

static void print_at(const hone_expr *e, int outer, hone_str *out) {
    if (e->kind == HONE_EXPR_INT && hone_dtype_is_bool(e->dtype)) {
        hone_str_printf(out, e->u.i ? "True" : "False");
    } else if (e->kind == HONE_EXPR_INT) {
        hone_str_printf(out, "%" PRId64, e->u.i);
    } else if (e->kind == HONE_EXPR_VAR) {
        hone_str_printf(out, "%c", (char)('a' + e->u.var));
    } else if (e->kind == HONE_EXPR_NOT) {
        hone_str_printf(out, "not ");
        print_at(e->args[0], 2, out);
    } else if (e->kind == HONE_EXPR_BINARY &&
               isalpha((unsigned char)hone_op_function((hone_op)e->op)[0]) &&
               e->op != HONE_OP_MIN && e->op != HONE_OP_MAX && e->op != HONE_OP_TRUNCDIV &&
               e->op != HONE_OP_TRUNCMOD) {
        int own = precedence((hone_op)e->op);
        hone_str_printf(out, own < outer ? "(" : "");
        print_at(e->args[0], own, out);
        hone_str_printf(out, " %s ", hone_op_spelling((hone_op)e->op));
        print_at(e->args[1], own + 1, out);
        hone_str_printf(out, own < outer ? ")" : "");
    } else {
        const char *name = e->kind == HONE_EXPR_SELECT ? "select"
                           : e->kind == HONE_EXPR_CAST ? (e->dtype.bits == 64 ? "i64" : "i32")
                           : e->kind == HONE_EXPR_CALL ? hone_intrin_spelling((hone_intrin)e->op)
                                                       : hone_op_function((hone_op)e->op) + 2;
        hone_str_printf(out, "%s(", name);
        for (uint32_t i = 0; i < e->count; i++) {
            if (i) hone_str_printf(out, ", ");
            print_at(e->args[i], 0, out);
        }
        hone_str_printf(out, ")");
    }
}

void text_print(const hone_expr *e, hone_str *out) {
    print_at(e, 0, out);
}
