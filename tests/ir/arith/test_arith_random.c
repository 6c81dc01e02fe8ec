/* tests/ir/arith/test_arith_random.c - what arith says of random expressions, against all their
 * values.
 */
#include <inttypes.h>

#include "support/core/alloc.h"
#include "tests/ir/arith/arith_random.h"
#include "tests/support/hone_test.h"

enum { MAX_POINTS = 48 };

typedef enum mode {
    GENERAL,
    AFFINE,  /* + - * // % by constants only */
    WIDE,    /* constants near the limits of int64 */
    SYMBOLIC /* the first variable is a size; the others run to expressions of it */
} mode;

typedef struct fixture {
    hone_arena *arena;
    world w;
    hone_arith arith;
    bool is_symbolic;
    const hone_expr *fact; /* points where it is false do not count */
} fixture;

static void begin(fixture *f, uint64_t seed, uint32_t max_vars) {
    hone_arena_reset(f->arena);
    f->w = (world){.ir = {.arena = f->arena}, .rng = hone_rng_from_seed(seed)};
    f->fact = NULL;
    world_roll(&f->w, max_vars, MAX_POINTS);
    hone_arith_init(&f->arith, f->arena);
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        hone_arith_bind_const(&f->arith, v, f->w.min[v], f->w.min[v] + f->w.extent[v] - 1);
    }
}

/* The current point is in the domain and e has a value there. */
static bool value_at(const fixture *f, const hone_expr *e, int64_t *out) {
    int64_t truth = 0;
    if (f->fact && (!world_eval(&f->w, f->fact, &truth) || !truth)) return false;
    return world_eval(&f->w, e, out);
}

static void complain(const fixture *f, uint64_t seed, const char *what, const hone_expr *e,
                     const hone_expr *got) {
    hone_str text = {0};
    hone_str_printf(&text, "seed %" PRIu64 ": %s\n  of   ", seed, what);
    world_print(e, &text);
    if (got) {
        hone_str_printf(&text, "\n  got  ");
        world_print(got, &text);
    }
    if (f->fact) {
        hone_str_printf(&text, "\n  with ");
        world_print(f->fact, &text);
    }
    for (uint32_t v = 0; v < f->w.var_count; v++) {
        hone_str_printf(&text, "\n  %c in [%" PRId64 ", +%" PRId64 "), here %" PRId64,
                        (char)('a' + v), f->w.min[v], f->w.extent[v], f->w.value[v]);
    }
    print_error("%s\n", text.data);
    hone_str_deinit(&text);
}

#define CHECK(cond, f, seed, what, e, got)                                                         \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            complain((f), (seed), (what), (e), (got));                                             \
            failures++;                                                                            \
            return failures;                                                                       \
        }                                                                                          \
    } while (0)

static int check_simplified(fixture *f, uint64_t seed, const hone_expr *e) {
    int failures = 0;
    const hone_expr *s = hone_simplify(&f->arith, e);
    CHECK(s != NULL && !f->arith.ir.error, f, seed, "simplify fails", e, NULL);
    CHECK(hone_dtype_equal(s->dtype, e->dtype), f, seed, "simplify changes the dtype", e, s);
    world_first(&f->w);
    do {
        int64_t want = 0, got = 0;
        if (!value_at(f, e, &want)) continue;
        CHECK(world_eval(&f->w, s, &got), f, seed, "simplified has no value", e, s);
        CHECK(got == want, f, seed, "simplified has another value", e, s);
    } while (world_next(&f->w));
    if (f->w.is_wide)
        return failures; /* a sum that left int64 stays, and may be one when shorter */
    const hone_expr *again = hone_simplify(&f->arith, s);
    CHECK(hone_expr_same(again, s), f, seed, "not idempotent", e, s);
    return failures;
}

static int64_t floormod(int64_t x, int64_t c) {
    return x % c < 0 ? x % c + c : x % c;
}

static int check_facts_of(fixture *f, uint64_t seed, const hone_expr *e) {
    int failures = 0;
    hone_bound b = hone_arith_bound(&f->arith, e);
    const hone_expr *ends = hone_expr_binary(&f->w.ir, HONE_OP_LE, /* for the message only */
                                             hone_expr_int(&f->w.ir, HONE_DTYPE_I64, b.min),
                                             hone_expr_int(&f->w.ir, HONE_DTYPE_I64, b.max));
    hone_modular m = hone_arith_modular(&f->arith, e);
    CHECK(m.coeff >= 0, f, seed, "negative modulus", e, NULL);
    world_first(&f->w);
    do {
        int64_t value = 0;
        if (!value_at(f, e, &value)) continue;
        CHECK(value >= b.min && value <= b.max, f, seed, "bound does not hold", e, ends);
        bool fits = m.coeff == 0 ? value == m.base : floormod(value, m.coeff) == m.base;
        CHECK(fits, f, seed, "modular fact does not hold", e, NULL);
    } while (world_next(&f->w));
    return failures;
}

static int check_proof(fixture *f, uint64_t seed, const hone_expr *cond) {
    int failures = 0;
    if (!hone_prove(&f->arith, cond)) return 0;
    world_first(&f->w);
    do {
        int64_t truth = 0;
        if (value_at(f, cond, &truth)) CHECK(truth, f, seed, "proved but false", cond, NULL);
    } while (world_next(&f->w));
    return failures;
}

static bool same_kept(const world *w, const int64_t *kept, const bool *relax) {
    for (uint32_t v = 0; v < w->var_count; v++) {
        if (!relax[v] && w->value[v] != kept[v]) return false;
    }
    return true;
}

/* For every point: the interval there holds all values over the relaxed variables. */
static int check_relaxed(fixture *f, uint64_t seed, const hone_expr *e) {
    int failures = 0;
    bool relax[WORLD_MAX_VARS], exact = false;
    for (uint32_t v = 0; v < WORLD_MAX_VARS; v++)
        relax[v] = hone_rng_below(&f->w.rng, 2) == 0;
    hone_interval interval = hone_arith_relax(&f->arith, e, relax, f->w.var_count, &exact);
    const hone_expr *ends[] = {interval.min, interval.max};
    for (int i = 0; i < 2; i++) {
        if (!ends[i]) continue;
        CHECK(!hone_expr_uses_any(ends[i], relax, f->w.var_count), f, seed,
              "an end uses a relaxed variable", e, ends[i]);
    }
    world_first(&f->w);
    do {
        int64_t value = 0;
        world_wide lo = 0, hi = 0;
        if (!value_at(f, e, &value)) continue;
        bool has_min = interval.min && world_eval_wide(&f->w, interval.min, &lo);
        bool has_max = interval.max && world_eval_wide(&f->w, interval.max, &hi);
        CHECK(f->w.is_wide || ((has_min || !interval.min) && (has_max || !interval.max)), f, seed,
              "an end has no value", e, interval.min);
        CHECK(!has_min || lo <= value, f, seed, "below the interval", e, interval.min);
        CHECK(!has_max || value <= hi, f, seed, "above the interval", e, interval.max);
        if (!exact || f->is_symbolic) continue; /* kept variables would narrow the relaxed ones */
        int64_t kept[WORLD_MAX_VARS], least = value, most = value;
        bool total = true; /* exactness is about expressions that have a value everywhere */
        for (uint32_t v = 0; v < f->w.var_count; v++)
            kept[v] = f->w.value[v];
        world inner = f->w;
        world_first(&inner);
        do {
            int64_t truth = 1;
            if (!same_kept(&inner, kept, relax)) continue;
            if (f->fact && (!world_eval(&inner, f->fact, &truth) || !truth)) continue;
            if (!world_eval(&inner, e, &value)) total = false;
            if (value < least) least = value;
            if (value > most) most = value;
        } while (world_next(&inner));
        CHECK(!total || (least == lo && most == hi), f, seed, "interval is not exact", e,
              interval.min);
    } while (world_next(&f->w));
    return failures;
}

/* Rebinds all variables but the first to ranges that depend on the ones before; f->fact leaves the
 * points where that is so. */
static void bind_symbolic(fixture *f) {
    hone_ir *ir = &f->w.ir;
    f->w.min[0] = 1;
    hone_arith_bind_const(&f->arith, 0, 1, f->w.extent[0]);
    f->fact = hone_expr_bool(ir, true);
    for (uint32_t v = 1; v < f->w.var_count; v++) {
        const hone_expr *size = world_var(&f->w, (uint32_t)hone_rng_below(&f->w.rng, v));
        const hone_expr *three = hone_expr_i32(ir, 3), *four = hone_expr_i32(ir, 4);
        const hone_expr *zero = hone_expr_i32(ir, 0), *end = size;
        switch (hone_rng_below(&f->w.rng, 4)) {
        case 0:
            end = hone_expr_floordiv(ir, hone_expr_add(ir, size, three), four);
            break;
        case 1:
            end = hone_expr_mul(ir, size, hone_expr_i32(ir, 2));
            break;
        case 2:
            end = hone_expr_binary(ir, HONE_OP_MIN, size, four);
            break;
        default:
            break;
        }
        bool shifted = hone_rng_below(&f->w.rng, 4) == 0;
        const hone_expr *var = world_var(&f->w, v), *min = shifted ? size : zero;
        const hone_expr *limit = hone_expr_add(ir, min, end);
        hone_arith_bind(&f->arith, v, (hone_range){min, end});
        const hone_expr *above = hone_expr_binary(ir, HONE_OP_GE, var, min);
        const hone_expr *below = hone_expr_binary(ir, HONE_OP_LT, var, limit);
        f->fact = hone_expr_binary(ir, HONE_OP_AND, f->fact, above);
        f->fact = hone_expr_binary(ir, HONE_OP_AND, f->fact, below);
        f->w.min[v] = 0;
        f->w.extent[v] = 6;
    }
}

static int check_one(fixture *f, uint64_t seed, uint32_t max_vars, mode how, bool with_fact) {
    int failures = 0;
    begin(f, seed, max_vars);
    f->w.is_wide = how == WIDE;
    f->is_symbolic = how == SYMBOLIC;
    if (how == SYMBOLIC) bind_symbolic(f);
    int depth = 2 + (int)hone_rng_below(&f->w.rng, 3);
    bool affine = how == AFFINE || (how == SYMBOLIC && hone_rng_below(&f->w.rng, 2));
    const hone_expr *e =
        affine ? world_affine_expr(&f->w, depth + 1) : world_int_expr(&f->w, depth);
    const hone_expr *cond = world_bool_expr(&f->w, 2);
    if (with_fact) {
        f->fact = world_bool_expr(&f->w, 2);
        hone_arith_push(&f->arith, f->fact);
    }
    failures += check_simplified(f, seed, e);
    failures += check_simplified(f, seed, cond);
    failures += check_facts_of(f, seed, e);
    failures += check_proof(f, seed, cond);
    failures += check_relaxed(f, seed, e);
    if (with_fact) {
        hone_arith_pop(&f->arith, 0);
        f->fact = NULL;
        failures += check_facts_of(f, seed, e);
    }
    return failures;
}

static void run(uint64_t count, uint32_t max_vars, mode how, bool with_fact) {
    fixture f = {.arena = hone_arena_create(1 << 16)};
    assert_non_null(f.arena);
    int failures = 0;
    uint64_t start = hone_test_seed(1);
    for (uint64_t i = 0; i < count && failures < 5; i++) {
        failures += check_one(&f, start + i, max_vars, how, with_fact);
    }
    hone_arena_destroy(f.arena);
    assert_int_equal(failures, 0);
}

static void general_expressions(void **state) {
    (void)state;
    run(hone_test_count(40000), 4, GENERAL, false);
}

static void affine_expressions(void **state) {
    (void)state;
    run(hone_test_count(40000), 3, AFFINE, false);
}

static void expressions_under_a_fact(void **state) {
    (void)state;
    run(hone_test_count(20000), 3, GENERAL, true);
}

static void affine_under_a_fact(void **state) {
    (void)state;
    run(hone_test_count(20000), 3, AFFINE, true);
}

static void symbolic_ranges(void **state) {
    (void)state;
    run(hone_test_count(20000), 3, SYMBOLIC, false);
}

static void huge_constants(void **state) {
    (void)state;
    run(hone_test_count(10000), 2, WIDE, false);
}

/* With the n-th allocation failing, for every n: NULL and an error, or the right answer. */
static void survives_lack_of_memory(void **state) {
    (void)state;
    bool failed = true;
    for (uint64_t nth = 1; failed && nth < 2000; nth++) {
        fixture f = {.arena = hone_arena_create(1024)};
        assert_non_null(f.arena);
        f.w = (world){.ir = {.arena = f.arena}, .rng = hone_test_rng(7)};
        world_roll(&f.w, 4, MAX_POINTS);
        const hone_expr *e = world_int_expr(&f.w, 6), *cond = world_bool_expr(&f.w, 4);
        hone_alloc_fail_nth(nth, true);
        hone_arith_init(&f.arith, f.arena);
        for (uint32_t v = 0; v < f.w.var_count; v++)
            hone_arith_bind_const(&f.arith, v, 0, 7);
        bool relax[WORLD_MAX_VARS] = {true};
        uint32_t mark = hone_arith_push(&f.arith, cond);
        for (int i = 0; i < 8; i++)
            hone_simplify(&f.arith, e);
        const hone_expr *s = hone_simplify(&f.arith, e);
        hone_arith_relax(&f.arith, e, relax, f.w.var_count, NULL);
        hone_prove(&f.arith, cond);
        hone_arith_pop(&f.arith, mark);
        failed = hone_alloc_has_failed();
        hone_alloc_fail_nth(0, false);
        hone_status st = hone_ir_finish(&f.arith.ir);
        bool silent = !s && !st;
        hone_status_free(st);
        hone_arena_destroy(f.arena);
        assert_false(silent);
    }
    assert_false(failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(general_expressions),      cmocka_unit_test(affine_expressions),
        cmocka_unit_test(expressions_under_a_fact), cmocka_unit_test(affine_under_a_fact),
        cmocka_unit_test(symbolic_ranges),          cmocka_unit_test(huge_constants),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests_name("ir/arith_random", tests, NULL, NULL);
}
