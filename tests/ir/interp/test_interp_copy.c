/* tests/ir/interp/test_interp_copy.c - loops that move elements, many at a time, do what their
 * statements do one by one: random ones, right and wrong, with and without looking at each step. */
#include <string.h>

#include "ir/interp/interp.h"
#include "support/core/strbuf.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { PROGRAMS = 1500, DEPTH = 3, ROWS = 5, COLUMNS = 90, SIDE = 30 };

/* ---- random programs ---- */

static int below(hone_rng *rng, size_t bound) {
    return (int)hone_rng_below(rng, bound);
}

static void put_expr(hone_rng *rng, int depth, hone_str *out);

static void put_number(hone_rng *rng, hone_str *out) {
    hone_str_printf(out, "%d", below(rng, 4) ? 1 + below(rng, 20) : -below(rng, 40));
}

static void put_condition(hone_rng *rng, int depth, hone_str *out) {
    static const char *const comparisons[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    if (depth > 1 && below(rng, 3) == 0) {
        hone_str_append(out, below(rng, 2) ? "T.And(" : "T.Or(");
        put_condition(rng, depth - 1, out);
        hone_str_append(out, ", ");
        put_condition(rng, depth - 1, out);
        hone_str_append(out, ")");
        return;
    }
    put_expr(rng, depth - 1, out);
    hone_str_append(out, comparisons[below(rng, HONE_COUNT(comparisons))]);
    put_number(rng, out);
}

static void put_choice(hone_rng *rng, int depth, hone_str *out) {
    hone_str_append(out, "T.if_then_else(");
    put_condition(rng, depth, out);
    hone_str_append(out, ", ");
    put_expr(rng, depth - 1, out);
    hone_str_append(out, ", ");
    put_expr(rng, depth - 1, out);
    hone_str_append(out, ")");
}

/* Of x and y, with the boundaries that expressions have. */
static void put_expr(hone_rng *rng, int depth, hone_str *out) {
    static const struct form {
        const char *before, *between;
        bool divides;
    } forms[] = {
        {"(",           " + ",  false},
        {"(",           " - ",  false},
        {"(",           " * ",  false},
        {"T.min(",      ", ",   false},
        {"T.max(",      ", ",   false},
        {"(",           " // ", true },
        {"(",           " % ",  true },
        {"T.truncdiv(", ", ",   true },
        {"T.truncmod(", ", ",   true },
    };
    static const char *const narrow[] = {"int8", "uint8", "int16"};
    if (depth <= 0 || below(rng, 6) == 0) {
        hone_str_append(out, below(rng, 3) ? "x" : "y");
        return;
    }
    if (below(rng, 6) == 0) {
        put_choice(rng, depth, out);
        return;
    }
    if (below(rng, 8) == 0) { /* wraps now and then */
        hone_str_printf(out, "T.Cast(\"int32\", T.Cast(\"%s\", ",
                        narrow[below(rng, HONE_COUNT(narrow))]);
        put_expr(rng, depth - 1, out);
        hone_str_append(out, "))");
        return;
    }
    const struct form *form = &forms[below(rng, HONE_COUNT(forms))];
    hone_str_append(out, form->before);
    put_expr(rng, depth - 1, out);
    hone_str_append(out, form->between);
    if (form->divides)
        hone_str_printf(out, "%d", 1 + below(rng, 13));
    else if (below(rng, 2))
        put_number(rng, out);
    else
        put_expr(rng, depth - 1, out);
    hone_str_append(out, ")");
}

/* An index that lies inside most of the time. */
static void put_index(hone_rng *rng, int extent, hone_str *out) {
    bool is_inside = below(rng, 40) > 0;
    hone_str_append(out, is_inside ? "(" : "");
    put_expr(rng, DEPTH, out);
    if (is_inside) hone_str_printf(out, ") %% %d", extent);
}

static void put_element(hone_rng *rng, const char *buffer, hone_str *out) {
    hone_str_printf(out, "%s[", buffer);
    put_index(rng, SIDE, out);
    hone_str_append(out, ", ");
    put_index(rng, SIDE, out);
    hone_str_append(out, "]");
}

static void put_value(hone_rng *rng, const char *dtype, hone_str *out) {
    int kind = below(rng, 4);
    if (kind == 0) hone_str_printf(out, "T.%s(3)", dtype);
    if (kind == 1) {
        hone_str_append(out, "T.if_then_else(");
        put_condition(rng, DEPTH, out);
        hone_str_append(out, ", ");
        put_element(rng, "A", out);
        hone_str_printf(out, ", T.%s(7))", dtype);
    }
    if (kind > 1) put_element(rng, below(rng, 8) ? "A" : "C", out);
}

static void put_program(hone_rng *rng, hone_str *out) {
    static const char *const dtypes[] = {"float32", "int8", "float16", "int64"};
    const char *dtype = dtypes[below(rng, HONE_COUNT(dtypes))];
    bool has_block = below(rng, 3) > 0;
    hone_str_printf(out,
                    "@T.prim_func\n"
                    "def main(A: T.Buffer((%d, %d), \"%s\"), C: T.Buffer((%d, %d), \"%s\")):\n"
                    "  for %s in range(%d):\n    for %s in range(%d, %d):\n",
                    SIDE, SIDE, dtype, SIDE, SIDE, dtype, has_block ? "i" : "y", ROWS,
                    has_block ? "j" : "x", below(rng, 3), COLUMNS);
    if (has_block) {
        int short_by = below(rng, 20) ? 0 : 9; /* the axis leaves its domain */
        hone_str_printf(out,
                        "      with T.block(\"B\"):\n        x = T.axis.spatial(%d, j)\n"
                        "        y = T.axis.spatial(%d, i)\n",
                        COLUMNS - short_by, ROWS);
        if (below(rng, 2))
            hone_str_printf(out, "        T.where(j %% %d < 5)\n", 6 + below(rng, 9));
    }
    hone_str_append(out, has_block ? "        " : "      ");
    put_element(rng, "C", out);
    hone_str_append(out, " = ");
    put_value(rng, dtype, out);
    hone_str_append(out, "\n");
}

/* ---- both ways ---- */

/* How many steps every third seed allows; 0: any number. */
static int64_t most_steps(uint64_t seed) {
    return seed % 3 ? 0 : (int64_t)(seed / 3 % (ROWS * (COLUMNS + 1) * 2));
}

/* What the program makes of the arguments of the seed; the message where it is wrong. */
static hone_tensor **run(const hone_func *func, uint64_t seed, bool steps, hone_str *out_message) {
    const hone_interp_options options = {.check_uninitialised = steps,
                                         .max_steps = most_steps(seed)};
    hone_tensor **args = hone_test_make_args(func, seed);
    assert_non_null(args);
    hone_status st = hone_interp_func(func, args, func->param_count, &options);
    if (st) hone_str_append(out_message, hone_status_message(st));
    hone_status_free(st);
    return args;
}

static void agrees(uint64_t seed, uint32_t *io_wrong) {
    hone_rng rng = hone_rng_from_seed(seed);
    hone_str text = {0}, quick = {0}, slow = {0};
    hone_module *module = NULL;
    put_program(&rng, &text);
    const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
    hone_tensor **got = run(func, seed, false, &quick), **want = run(func, seed, true, &slow);
    /* a limit of steps may be noticed behind a loop, whose last iteration the message has */
    bool is_limit = strncmp(hone_str_text(&slow), "more than", 9) == 0;
    size_t said = is_limit ? strcspn(hone_str_text(&slow), ",") : SIZE_MAX;
    bool is_same = strncmp(hone_str_text(&quick), hone_str_text(&slow), said) == 0 &&
                   memcmp(got[1]->data, want[1]->data, hone_tensor_bytes(got[1])) == 0;
    *io_wrong += slow.length > 0;
    if (!is_same) {
        fail_msg("seed %llu: '%s', step by step '%s'\n%s", (unsigned long long)seed,
                 hone_str_text(&quick), hone_str_text(&slow), hone_str_text(&text));
    }
    hone_test_free_args(func, got);
    hone_test_free_args(func, want);
    hone_module_release(module);
    hone_str_deinit(&text);
    hone_str_deinit(&quick);
    hone_str_deinit(&slow);
}

static void many_at_a_time_is_one_by_one(void **state) {
    (void)state;
    uint32_t wrong = 0;
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + PROGRAMS; seed++)
        agrees(seed, &wrong);
    assert_true(wrong > PROGRAMS / 50 && wrong < PROGRAMS / 2);
}

/* A range is what it was when the loop began. */
static void a_loop_writes_what_its_range_reads(void **state) {
    static const char text[] =
        "@T.prim_func\n"
        "def main(A: T.Buffer((40,), \"int64\"), N: T.Buffer((40,), \"int64\")):\n"
        "  for j in range(N[0], N[0] + N[1]):\n"
        "    N[j] = A[j]\n";
    (void)state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    hone_tensor **args = hone_test_make_args(func, 1);
    assert_non_null(args);
    const hone_interp_options options = {0};
    for (int64_t i = 0; i < 40; i++) {
        hone_tensor_set_i64(args[0], i, 30);
        hone_tensor_set_i64(args[1], i, i == 1 ? 20 : 0);
    }
    HONE_ASSERT_OK(hone_interp_func(func, args, func->param_count, &options));
    for (int64_t i = 0; i < 40; i++)
        assert_int_equal(hone_tensor_get_i64(args[1], i), i < 20 ? 30 : 0);
    hone_test_free_args(func, args);
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_at_a_time_is_one_by_one),
        cmocka_unit_test(a_loop_writes_what_its_range_reads),
    };
    return cmocka_run_group_tests_name("ir/interp_copy", tests, NULL, NULL);
}
