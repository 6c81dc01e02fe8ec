/* tests/ir/interp/test_interp_bound.c - how far rounding may move each element (out_bounds): the
 * bounds hold for the widened program, say something of nearly all elements, and are refused where
 * the course of a program depends on what was rounded. What they are good for is in
 * test_program_agree.c. */
#include <math.h>

#include "ir/interp/interp.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { SEEDS = 1000 };

static hone_tensor **make_bounds(const hone_func *func, hone_tensor *const *args) {
    hone_tensor **bounds = hone_calloc(func->param_count + 1, sizeof *bounds);
    assert_non_null(bounds);
    for (uint32_t i = 0; i < func->param_count; i++) {
        HONE_ASSERT_OK(
            hone_tensor_create(HONE_DTYPE_F64, args[i]->rank, args[i]->shape, &bounds[i]));
    }
    return bounds;
}

/* ---- random programs ---- */

typedef struct tally {
    uint64_t rounded, unbounded, outside;
} tally;

static void count_elements(const hone_tensor *got, const hone_tensor *want,
                           const hone_tensor *bounds, tally *io) {
    for (int64_t i = 0; i < hone_tensor_count(got); i++) {
        double bound = hone_tensor_get_f64(bounds, i);
        double far = fabs(hone_tensor_get_f64(got, i) - hone_tensor_get_f64(want, i));
        io->rounded += bound > 0;
        io->unbounded += isinf(bound);
        io->outside += far > bound; /* not where both are NaN */
    }
}

static void compare_with_widened(uint64_t seed, tally *io) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options program = {
        .use_int64 = seed % 5 == 0, .is_varied = true, .has_sizes = true};
    const hone_func *func = hone_random_program(arena, seed, &program);
    hone_tensor **got = hone_test_make_args(func, seed), **want = hone_test_make_args(func, seed);
    hone_tensor **bounds = make_bounds(func, got);
    hone_interp_options bounded = {.out_bounds = bounds}, wide = {.widen_f64 = true};
    HONE_ASSERT_OK(hone_interp_func(func, got, func->param_count, &bounded));
    HONE_ASSERT_OK(hone_interp_func(func, want, func->param_count, &wide));
    for (uint32_t i = 0; i < func->param_count; i++)
        count_elements(got[i], want[i], bounds[i], io);
    hone_test_free_args(func, bounds);
    hone_test_free_args(func, want);
    hone_test_free_args(func, got);
    hone_arena_destroy(arena);
}

static void the_widened_program_is_within(void **state) {
    (void)state;
    tally t = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        compare_with_widened(seed, &t);
        if (t.outside) fail_msg("seed %llu leaves its bounds", (unsigned long long)seed);
    }
    print_message("%llu elements were rounded, %llu of them are not bounded\n",
                  (unsigned long long)t.rounded, (unsigned long long)t.unbounded);
    assert_true(t.rounded > 10 * SEEDS);
    assert_true(t.unbounded < t.rounded / 500);
}

/* ---- what is refused ---- */

#define HEAD                                                                                       \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((4,)), Y: T.Buffer((4,))):\n"                                            \
    "  S = T.alloc_buffer((4,))\n"                                                                 \
    "  for i in range(4):\n"                                                                       \
    "    S[i] = X[i] + T.float32(3)\n"

/* clang-format off */
static const struct row {
    const char *name, *text, *why; /* NULL: it is not refused */
} rows[] = {
    {"condition on arguments", HEAD "  if X[0] > X[1]:\n    Y[0] = S[0]\n", NULL},
    {"certain condition", HEAD "  if S[0] > T.float32(1):\n    Y[0] = S[0]\n", NULL},
    {"uncertain condition", HEAD "  if S[0] > X[0] + T.float32(3):\n    Y[0] = S[0]\n",
     "a condition"},
    {"uncertain place", HEAD "  Y[T.Cast(\"int32\", S[0] - X[0])] = S[0]\n", "an index"},
    {"shuffled lanes", HEAD "  Y[0:2] = T.Shuffle([S[0:2]], [1, 0])\n", "a vector"},
    {"sum of lanes", HEAD "  Y[0] = T.vector_reduce_add(S[0:4], dtype=\"float32\")\n",
     "vector_reduce"},
    {"vectors", HEAD "  Y[0:4] = S[0:4] * T.Broadcast(X[0], 4)\n", NULL},
    {"call for its effect", HEAD "  T.call_extern(\"int32\", \"f\", S.data)\n", "a call for its"},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(row->text, &module);
    hone_tensor **args = hone_test_make_args(func, 1), **bounds = make_bounds(func, args);
    hone_interp_options options = {.out_bounds = bounds};
    hone_status st = hone_interp_func(func, args, func->param_count, &options);
    hone_test_free_args(func, bounds);
    hone_test_free_args(func, args);
    hone_module_release(module);
    if (row->why)
        HONE_ASSERT_ERROR(st, HONE_CODE_UNSUPPORTED, row->why);
    else
        HONE_ASSERT_OK(st);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_widened_program_is_within)};
    int failed = cmocka_run_group_tests_name("ir/interp_bound", tests, NULL, NULL);
    return HONE_RUN_ROWS("ir/interp_bound refuses", rows, check_row) + failed;
}
