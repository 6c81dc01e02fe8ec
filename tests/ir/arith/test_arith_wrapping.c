/* tests/ir/arith/test_arith_wrapping.c - what arith says of random expressions of values, which
 * wrap around: against what a machine computes, for extreme values. */
#include <inttypes.h>

#include "ir/core/fold.h"
#include "tests/ir/arith/arith_random.h"
#include "tests/support/hone_test.h"

enum { POINTS = 24 };

typedef struct fixture {
    hone_arena *arena;
    world w;
    hone_arith arith;
    bool is_value[WORLD_MAX_VARS]; /* any value; others have the domain that the world gives them */
    /* What wraps around has no value: all of it, or what is made of the others only, which may not.
     */
    bool is_strict, is_strict_for_all;
} fixture;

/* ---- values ---- */

static int64_t wrapped(hone_dtype dtype, int64_t value) {
    return dtype.bits == 32 ? (int32_t)(uint32_t)(uint64_t)value : value;
}

static bool divide(hone_op op, int64_t x, int64_t y, int64_t *out) {
    if (y == 0) return false;
    bool is_quotient = op == HONE_OP_FLOORDIV || op == HONE_OP_TRUNCDIV;
    if (y == -1) {
        *out = is_quotient ? (int64_t)(0 - (uint64_t)x) : 0;
        return true;
    }
    return hone_fold_ints(op, x, y, out);
}

static bool value_of(const fixture *f, const hone_expr *e, int64_t *out);

static bool combine(const fixture *f, const hone_expr *e, int64_t x, int64_t y, int64_t *out) {
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    int64_t exact = 0;
    bool fits = hone_fold_ints((hone_op)e->op, x, y, &exact) && exact == wrapped(e->dtype, exact);
    uint64_t sum = e->op == HONE_OP_ADD ? a + b : e->op == HONE_OP_SUB ? a - b : a * b;
    *out = wrapped(e->dtype, (int64_t)sum);
    if (fits || !f->is_strict) return true;
    return !f->is_strict_for_all && hone_expr_uses_any(e, f->is_value, f->w.var_count);
}

static bool binary_value(const fixture *f, const hone_expr *e, int64_t *out) {
    int64_t x = 0, y = 0;
    hone_op op = (hone_op)e->op;
    if (!value_of(f, e->args[0], &x)) return false;
    if (op == HONE_OP_AND || op == HONE_OP_OR) {
        if ((x != 0) != (op == HONE_OP_AND)) return *out = x != 0, true;
        return value_of(f, e->args[1], out);
    }
    if (!value_of(f, e->args[1], &y)) return false;
    switch (op) {
    case HONE_OP_ADD:
    case HONE_OP_SUB:
    case HONE_OP_MUL:
        return combine(f, e, x, y, out);
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        if (!divide(op, x, y, out)) return false;
        break;
    default:
        return hone_fold_ints(op, x, y, out);
    }
    *out = wrapped(e->dtype, *out);
    return true;
}

static bool call_value(const fixture *f, const hone_expr *e, int64_t *out) {
    int64_t x = 0, y = 0;
    if (!value_of(f, e->args[0], &x)) return false;
    if (e->op == HONE_INTRIN_IF_THEN_ELSE) return value_of(f, e->args[x ? 1 : 2], out);
    if (e->count < 2 || !value_of(f, e->args[1], &y)) return false;
    bool is_left = e->op == HONE_INTRIN_SHIFT_LEFT;
    if (y < 0 || y >= e->dtype.bits)
        *out = is_left || x >= 0 ? 0 : -1;
    else
        *out = is_left ? wrapped(e->dtype, (int64_t)((uint64_t)x << y)) : x >> y;
    return is_left || e->op == HONE_INTRIN_SHIFT_RIGHT;
}

static bool value_of(const fixture *f, const hone_expr *e, int64_t *out) {
    int64_t x = 0, y = 0, z = 0;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        *out = e->u.i;
        return true;
    case HONE_EXPR_VAR:
        *out = f->w.value[e->u.var];
        return true;
    case HONE_EXPR_BINARY:
        return binary_value(f, e, out);
    case HONE_EXPR_NOT:
        if (!value_of(f, e->args[0], &x)) return false;
        *out = !x;
        return true;
    case HONE_EXPR_SELECT:
        if (!value_of(f, e->args[0], &x) || !value_of(f, e->args[1], &y) ||
            !value_of(f, e->args[2], &z)) {
            return false;
        }
        *out = x ? y : z;
        return true;
    case HONE_EXPR_CAST:
        if (!value_of(f, e->args[0], &x)) return false;
        *out = wrapped(e->dtype, x);
        return true;
    case HONE_EXPR_CALL:
        return call_value(f, e, out);
    default:
        return false;
    }
}

/* ---- points ---- */

static int64_t extreme(hone_rng *rng) {
    static const int64_t values[] = {
        INT32_MIN, INT32_MIN + 1, -65536,        -1000,         -3, -1, 0, 1, 2, 7, 65536,
        1 << 30,   INT32_MAX,     INT32_MAX - 1, INT32_MAX - 15};
    uint64_t pick = hone_rng_below(rng, 20);
    if (pick < sizeof values / sizeof values[0]) return values[pick];
    return (int32_t)(uint32_t)hone_rng_next(rng);
}

static void next_point(fixture *f) {
    world *w = &f->w;
    for (uint32_t v = 0; v < w->var_count; v++) {
        w->value[v] = f->is_value[v]
                          ? extreme(&w->rng)
                          : w->min[v] + (int64_t)hone_rng_below(&w->rng, (uint64_t)w->extent[v]);
    }
}

static void begin(fixture *f, uint64_t seed, bool is_wide) {
    hone_arena_reset(f->arena);
    f->w = (world){.ir = {.arena = f->arena}, .rng = hone_rng_from_seed(seed)};
    world_roll(&f->w, WORLD_MAX_VARS, 1000);
    f->w.is_wide = is_wide;
    f->w.is_wrapping = true;
    hone_arith_init(&f->arith, f->arena);
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        f->is_value[v] = is_wide || hone_rng_below(&f->w.rng, 2);
        if (f->is_value[v])
            hone_arith_bind_value(&f->arith, v);
        else
            hone_arith_bind_const(&f->arith, v, f->w.min[v], f->w.min[v] + f->w.extent[v] - 1);
    }
}

/* ---- checks ---- */

static bool complain(const fixture *f, uint64_t seed, const char *what, const hone_expr *e,
                     const hone_expr *got) {
    hone_str text = {0};
    hone_str_printf(&text, "seed %" PRIu64 ": %s\n  of   ", seed, what);
    world_print(e, &text);
    hone_str_printf(&text, "\n  got  ");
    world_print(got, &text);
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        hone_str_printf(&text, "\n  %c is %" PRId64 "%s", (char)('a' + v), f->w.value[v],
                        f->is_value[v] ? ", a value" : "");
    }
    print_error("%s\n", text.data);
    hone_str_deinit(&text);
    return false;
}

/* The difference of two values may leave int64. */
static bool is_of(hone_modular m, int64_t value) {
    int64_t rest = 0;
    if (m.coeff == 0) return value == m.base;
    return hone_fold_ints(HONE_OP_FLOORMOD, value, m.coeff, &rest) && rest == m.base;
}

/* Simplified, under a fact that holds at the points which count or under none. */
static bool check_simplified(fixture *f, uint64_t seed, const hone_expr *e, const hone_expr *fact) {
    uint32_t mark = hone_arith_push(&f->arith, fact);
    const hone_expr *s = hone_simplify(&f->arith, e);
    hone_bound bound = hone_arith_bound(&f->arith, e);
    hone_modular m = hone_arith_modular(&f->arith, e);
    bool is_proved = hone_dtype_is_bool(e->dtype) && hone_prove(&f->arith, e);
    hone_arith_pop(&f->arith, mark);
    f->is_strict_for_all = !hone_expr_uses_any(s, f->is_value, f->w.var_count);
    for (int i = 0; i < POINTS; i++) {
        int64_t want = 0, got = 0, holds = 1;
        next_point(f);
        f->is_strict = true;
        if (fact && (!value_of(f, fact, &holds) || !holds)) continue;
        if (!value_of(f, e, &want)) continue;
        f->is_strict = false;
        if (!value_of(f, s, &got)) return complain(f, seed, "no value", e, s);
        if (got != want) return complain(f, seed, "another value", e, s);
        if (is_proved && !want) return complain(f, seed, "proved, but false", e, s);
        if (fact || hone_dtype_is_bool(e->dtype)) continue;
        if (want < bound.min || want > bound.max) return complain(f, seed, "beyond bounds", e, s);
        if (!is_of(m, want)) return complain(f, seed, "modular fact does not hold", e, s);
    }
    return true;
}

static void run_from(uint64_t start, uint64_t count, bool is_wide) {
    fixture f = {.arena = hone_arena_create(1 << 16)};
    assert_non_null(f.arena);
    int failures = 0;
    for (uint64_t i = 0; i < count && failures < 5; i++) {
        begin(&f, start + i, is_wide);
        const hone_expr *e = world_int_expr(&f.w, 2 + (int)hone_rng_below(&f.w.rng, 3));
        const hone_expr *condition = world_bool_expr(&f.w, 2), *fact = world_bool_expr(&f.w, 1);
        failures += !check_simplified(&f, start + i, e, NULL);
        failures += !check_simplified(&f, start + i, condition, NULL);
        failures += !check_simplified(&f, start + i, e, fact);
    }
    hone_arena_destroy(f.arena);
    assert_int_equal(failures, 0);
}

static void values_of_32_bits(void **state) {
    (void)state;
    run_from(784536026810, 1, false); /* what is divided by a number that may be 0 has bounds */
    run_from(hone_test_seed(1), hone_test_count(60000), false);
}

static void values_beside_64_bits(void **state) {
    (void)state;
    run_from(818779, 1, true); /* the least number of 64 bits is divided by -1 */
    run_from(hone_test_seed(1), hone_test_count(60000), true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_32_bits),
        cmocka_unit_test(values_beside_64_bits),
    };
    return cmocka_run_group_tests_name("ir/arith_wrapping", tests, NULL, NULL);
}
