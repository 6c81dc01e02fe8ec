/* tests/ir/arith/arith_random.c - see arith_random.h. */
#include "tests/ir/arith/arith_random.h"

#include <inttypes.h>

#define PICK(w, n) ((uint32_t)hone_rng_below(&(w)->rng, (n)))

void world_roll(world *w, uint32_t max_vars, uint64_t max_points) {
    w->var_count = 1 + PICK(w, max_vars);
    uint64_t points = 1;
    for (uint32_t v = 0; v < w->var_count; v++) {
        static const int64_t extents[] = {1, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16};
        int64_t extent = extents[PICK(w, sizeof extents / sizeof extents[0])];
        while (extent > 1 && points * (uint64_t)extent > max_points)
            extent = (extent + 1) / 2;
        w->extent[v] = extent;
        points *= (uint64_t)extent;
        static const int64_t mins[] = {0, 0, 0, 0, 1, 1, 2, -1, -3, 5};
        w->min[v] = mins[PICK(w, sizeof mins / sizeof mins[0])];
    }
    world_first(w);
}

void world_first(world *w) {
    for (uint32_t v = 0; v < w->var_count; v++)
        w->value[v] = w->min[v];
}

bool world_next(world *w) {
    for (uint32_t v = 0; v < w->var_count; v++) {
        if (++w->value[v] < w->min[v] + w->extent[v]) return true;
        w->value[v] = w->min[v];
    }
    return false;
}

const hone_expr *world_var(world *w, uint32_t v) {
    return hone_expr_var(&w->ir, HONE_DTYPE_I32, v);
}

static int64_t small_const(world *w) {
    static const int64_t values[] = {0, 1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, -1, -2, -3, -4, 7};
    if (w->is_wide && PICK(w, 4) == 0) {
        static const int64_t wide[] = {INT64_MAX,          INT64_MIN,        INT64_MAX - 3,
                                       INT64_MIN + 2,      INT64_C(1) << 62, INT64_C(1) << 33,
                                       -(INT64_C(1) << 61)};
        return wide[PICK(w, 7)];
    }
    if (w->is_wrapping && PICK(w, 6) == 0) {
        static const int64_t large[] = {1103515245, INT32_MAX, INT32_MIN, 65536,
                                        -65537,     1000,      1 << 30};
        return large[PICK(w, sizeof large / sizeof large[0])];
    }
    return values[PICK(w, sizeof values / sizeof values[0])];
}

static const hone_expr *constant(world *w, int64_t value) {
    return hone_expr_int(&w->ir, w->is_wide ? HONE_DTYPE_I64 : HONE_DTYPE_I32, value);
}

static const hone_expr *any_var(world *w) {
    const hone_expr *v = world_var(w, PICK(w, w->var_count));
    return w->is_wide ? hone_expr_cast(&w->ir, HONE_DTYPE_I64, v) : v;
}

static const hone_expr *leaf(world *w) {
    return PICK(w, 4) ? any_var(w) : constant(w, small_const(w));
}

static const hone_expr *positive(world *w) {
    static const int64_t values[] = {1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16};
    return constant(w, values[PICK(w, sizeof values / sizeof values[0])]);
}

const hone_expr *world_affine_expr(world *w, int depth) {
    if (depth <= 0 || PICK(w, 8) == 0) return leaf(w);
    hone_ir *ir = &w->ir;
    const hone_expr *x = world_affine_expr(w, depth - 1);
    switch (PICK(w, 8)) {
    case 0:
    case 1:
    case 2:
        return hone_expr_add(ir, x, world_affine_expr(w, depth - 1));
    case 3:
        return hone_expr_sub(ir, x, world_affine_expr(w, depth - 1));
    case 4:
    case 5:
        return hone_expr_mul(ir, x, constant(w, small_const(w)));
    case 6:
        return hone_expr_floordiv(ir, x, positive(w));
    default:
        return hone_expr_floormod(ir, x, positive(w));
    }
}

static const hone_expr *divisor(world *w, int depth) {
    uint32_t kind = PICK(w, 8);
    if (kind < 6) return positive(w);
    return kind == 6 ? constant(w, small_const(w)) : world_int_expr(w, depth);
}

const hone_expr *world_int_expr(world *w, int depth) {
    if (depth <= 0 || PICK(w, 10) == 0) return leaf(w);
    hone_ir *ir = &w->ir;
    const hone_expr *x = world_int_expr(w, depth - 1), *y = NULL;
    uint32_t kind = PICK(w, 24);
    switch (kind) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        return hone_expr_add(ir, x, world_int_expr(w, depth - 1));
    case 5:
    case 6:
        return hone_expr_sub(ir, x, world_int_expr(w, depth - 1));
    case 7:
    case 8:
    case 9:
        return hone_expr_mul(ir, x, constant(w, small_const(w)));
    case 10:
        return hone_expr_mul(ir, x, world_int_expr(w, depth - 2));
    case 11:
    case 12:
    case 13:
        return hone_expr_floordiv(ir, x, divisor(w, depth - 2));
    case 14:
    case 15:
    case 16:
        return hone_expr_floormod(ir, x, divisor(w, depth - 2));
    case 17:
        return hone_expr_binary(ir, HONE_OP_TRUNCDIV, x, divisor(w, depth - 2));
    case 18:
        return hone_expr_binary(ir, HONE_OP_TRUNCMOD, x, divisor(w, depth - 2));
    case 19:
        return hone_expr_binary(ir, HONE_OP_MIN, x, world_int_expr(w, depth - 1));
    case 20:
        return hone_expr_binary(ir, HONE_OP_MAX, x, world_int_expr(w, depth - 1));
    case 21:
        y = world_int_expr(w, depth - 1);
        return hone_expr_select(ir, world_bool_expr(w, depth - 1), x, y);
    case 22: {
        if (x->dtype.bits == 32)
            return hone_expr_cast(ir, HONE_DTYPE_I32, hone_expr_cast(ir, HONE_DTYPE_I64, x));
        return hone_expr_cast(ir, HONE_DTYPE_I64, hone_expr_cast(ir, HONE_DTYPE_I32, x));
    }
    default: {
        const hone_expr *args[] = {x, constant(w, (int64_t)PICK(w, 4))};
        static const hone_intrin bits[] = {HONE_INTRIN_SHIFT_LEFT, HONE_INTRIN_SHIFT_RIGHT};
        return hone_expr_call(ir, x->dtype, bits[PICK(w, 2)], 2, args);
    }
    }
}

const hone_expr *world_bool_expr(world *w, int depth) {
    hone_ir *ir = &w->ir;
    if (depth > 1 && PICK(w, 3) == 0) {
        const hone_expr *x = world_bool_expr(w, depth - 1);
        switch (PICK(w, 3)) {
        case 0:
            return hone_expr_binary(ir, HONE_OP_AND, x, world_bool_expr(w, depth - 1));
        case 1:
            return hone_expr_binary(ir, HONE_OP_OR, x, world_bool_expr(w, depth - 1));
        default:
            return hone_expr_not(ir, x);
        }
    }
    static const hone_op ops[] = {HONE_OP_EQ, HONE_OP_NE, HONE_OP_LT,
                                  HONE_OP_LE, HONE_OP_GT, HONE_OP_GE};
    const hone_expr *x = world_int_expr(w, depth - 1);
    return hone_expr_binary(ir, ops[PICK(w, 6)], x, world_int_expr(w, depth - 1));
}

/* ---- values ---- */

typedef world_wide wide;

/* Far from overflow in one more step. */
static bool in_reach(wide x) {
    const wide limit = (wide)1 << 110;
    return x > -limit && x < limit;
}

static bool floor_pair(wide x, wide y, wide *q, wide *r) {
    if (y == 0) return false;
    *q = x / y;
    *r = x % y;
    if (*r != 0 && (*r < 0) != (y < 0)) {
        *q -= 1;
        *r += y;
    }
    return true;
}

static bool eval_mul(wide x, wide y, wide *out) {
    return !__builtin_mul_overflow(x, y, out);
}

static bool eval_binary(hone_op op, wide x, wide y, wide *out) {
    wide q = 0, r = 0;
    switch (op) {
    case HONE_OP_ADD:
        *out = x + y;
        return true;
    case HONE_OP_SUB:
        *out = x - y;
        return true;
    case HONE_OP_MUL:
        return eval_mul(x, y, out);
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
        if (!floor_pair(x, y, &q, &r)) return false;
        *out = op == HONE_OP_FLOORDIV ? q : r;
        return true;
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        if (y == 0) return false;
        *out = op == HONE_OP_TRUNCDIV ? x / y : x % y;
        return true;
    case HONE_OP_MIN:
        *out = x < y ? x : y;
        return true;
    case HONE_OP_MAX:
        *out = x > y ? x : y;
        return true;
    case HONE_OP_EQ:
        *out = x == y;
        return true;
    case HONE_OP_NE:
        *out = x != y;
        return true;
    case HONE_OP_LT:
        *out = x < y;
        return true;
    case HONE_OP_LE:
        *out = x <= y;
        return true;
    case HONE_OP_GT:
        *out = x > y;
        return true;
    case HONE_OP_GE:
        *out = x >= y;
        return true;
    default:
        return false;
    }
}

static bool eval_wide(const world *w, const hone_expr *e, wide *out);

static bool eval_call(const world *w, const hone_expr *e, wide *out) {
    wide x = 0, y = 0, r = 0;
    if (!eval_wide(w, e->args[0], &x)) return false;
    if (e->op == HONE_INTRIN_IF_THEN_ELSE) return eval_wide(w, e->args[x ? 1 : 2], out);
    if (e->count < 2 || !eval_wide(w, e->args[1], &y) || y < 0 || y > 60) return false;
    wide power = (wide)1 << (int)y;
    if (e->op == HONE_INTRIN_SHIFT_LEFT) return eval_mul(x, power, out);
    if (e->op == HONE_INTRIN_SHIFT_RIGHT) return floor_pair(x, power, out, &r);
    return false;
}

static bool eval_node(const world *w, const hone_expr *e, wide *out) {
    wide x = 0, y = 0;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        *out = e->u.i;
        return true;
    case HONE_EXPR_VAR:
        if (e->u.var >= w->var_count) return false;
        *out = w->value[e->u.var];
        return true;
    case HONE_EXPR_BINARY:
        if (!eval_wide(w, e->args[0], &x)) return false;
        if (e->op == HONE_OP_AND || e->op == HONE_OP_OR) {
            if ((x != 0) != (e->op == HONE_OP_AND)) return *out = x != 0, true;
            return eval_wide(w, e->args[1], out);
        }
        return eval_wide(w, e->args[1], &y) && eval_binary((hone_op)e->op, x, y, out);
    case HONE_EXPR_NOT:
        if (!eval_wide(w, e->args[0], &x)) return false;
        *out = !x;
        return true;
    case HONE_EXPR_SELECT:
        return eval_wide(w, e->args[0], &x) && eval_wide(w, e->args[x ? 1 : 2], out);
    case HONE_EXPR_CAST:
        if (!eval_wide(w, e->args[0], &x) || x != (int64_t)x) return false;
        *out = e->dtype.bits == 32 ? (wide)(int32_t)(uint32_t)(uint64_t)x : x;
        return true;
    case HONE_EXPR_CALL:
        return eval_call(w, e, out);
    default:
        return false;
    }
}

bool world_eval_wide(const world *w, const hone_expr *e, wide *out) {
    return eval_wide(w, e, out);
}

static bool eval_wide(const world *w, const hone_expr *e, wide *out) {
    return eval_node(w, e, out) && in_reach(*out);
}

bool world_eval(const world *w, const hone_expr *e, int64_t *out) {
    wide value = 0;
    if (!eval_wide(w, e, &value) || value != (int64_t)value) return false;
    *out = (int64_t)value;
    return true;
}

/* ---- text ---- */

void world_print(const hone_expr *e, hone_str *out) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        hone_str_printf(out, "%" PRId64, e->u.i);
        return;
    case HONE_EXPR_VAR:
        hone_str_printf(out, "%c", (char)('a' + e->u.var));
        return;
    case HONE_EXPR_NOT:
        hone_str_printf(out, "not ");
        world_print(e->args[0], out);
        return;
    case HONE_EXPR_CAST:
        hone_str_printf(out, "i%d(", e->dtype.bits);
        break;
    case HONE_EXPR_SELECT:
        hone_str_printf(out, "select(");
        break;
    case HONE_EXPR_CALL:
        hone_str_printf(out, "%s(", hone_intrin_spelling((hone_intrin)e->op));
        break;
    case HONE_EXPR_BINARY: {
        const char *spelling = hone_op_spelling((hone_op)e->op);
        hone_str_printf(out, "(");
        world_print(e->args[0], out);
        hone_str_printf(out, " %s ", spelling);
        world_print(e->args[1], out);
        hone_str_printf(out, ")");
        return;
    }
    default:
        hone_str_printf(out, "?(");
        break;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (i) hone_str_printf(out, ", ");
        world_print(e->args[i], out);
    }
    hone_str_printf(out, ")");
}
