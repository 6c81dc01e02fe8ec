/* tests/codegen/test_odd_vectors.c - vectors of any length, read with any small stride, against the
 * interpreter: what fills a register in part, what is shuffled out of dense loads, and which lanes
 * are below a bound, also of those that step over elements. */
#include <stdio.h>
#include <string.h>

#include "ir/te/te.h"
#include "ir/text/read/script.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"

enum { ROWS = 64 }; /* so that buffers of any element end at a page's end, guarded behind it */

/* out[i, j] = max over k < 2 of A[i, stride * j + k], the loop over j a vector. */
static hone_status make_windows(hone_arena *arena, int64_t columns, int64_t stride,
                                hone_dtype dtype, hone_func **out) {
    hone_te te;
    HONE_TRY(hone_te_begin(&te, arena, "windows"));
    const hone_expr *rows = hone_te_int(&te, ROWS), *m = hone_te_int(&te, columns);
    const hone_expr *width = hone_te_int(&te, stride * (columns - 1) + 2);
    const hone_expr *two = hone_te_int(&te, 2);
    hone_buffer a = hone_te_input(&te, "A", dtype, 2, (const hone_expr *[]){rows, width});
    hone_te_stage s;
    hone_te_stage_begin(&te, &s, 2, (const hone_expr *[]){rows, m}, 1, &two);
    const hone_expr *at = hone_expr_mul(&te.ir, s.axis[1], hone_te_int(&te, stride));
    const hone_expr *indices[] = {s.axis[0], hone_expr_add(&te.ir, at, s.axis[2])};
    hone_buffer c = hone_te_reduce(&te, &s, "windows", HONE_TE_MAX, hone_te_load(&te, a, indices));
    HONE_TRY(hone_te_finish(&te, 1, &c, out));
    int number = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(*out, 0, n)) {
        hone_node *node = hone_func_node(*out, n);
        if (node->kind != HONE_NODE_FOR || number++ != 1) continue;
        node->loop_kind = HONE_LOOP_VECTORIZED;
    }
    return HONE_OK;
}

static const struct target_row {
    const char *name, *target;
} target_rows[] = {
    {"widest", "host"                  },
    {"256",    "host -vector-width=256"},
    {"128",    "host -vector-width=128"},
};

static void every_length_and_stride(void **state) {
    const struct target_row *row = *state;
    static const int64_t lengths[] = {2, 3, 5, 7, 8, 10, 13, 14, 15, 17, 24, 28, 31, 49, 65};
    const hone_dtype dtypes[] = {HONE_DTYPE_F32, HONE_DTYPE_I32, HONE_DTYPE_F64,
                                 HONE_DTYPE_F16, HONE_DTYPE_I8,  HONE_DTYPE_BF16};
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    for (size_t l = 0; l < HONE_COUNT(lengths); l++) {
        for (int64_t stride = 1; stride <= 5; stride++) {
            hone_arena *arena = hone_arena_create(1 << 14);
            hone_func *func = NULL;
            hone_dtype dtype = dtypes[(l + (size_t)stride) % HONE_COUNT(dtypes)];
            hone_status st = make_windows(arena, lengths[l], stride, dtype, &func);
            if (!st) st = test_compare(func, &target, l, 0);
            hone_arena_destroy(arena);
            HONE_ASSERT_OK(
                hone_status_annotate(st, "%d columns, stride %d", (int)lengths[l], (int)stride));
        }
    }
}

/* Lanes of a row of numbers that compare so with a bound; the row stands on either side. Bounds
 * that come from N are not known when code is made. */
static hone_status check_bounded(const hone_target *target, int lanes, int stride, const char *op,
                                 const char *bound, const char *of, bool is_right) {
    char text[1024], row[64];
    hone_module *module;
    const hone_member *member;
    snprintf(row, sizeof row, "n * %s(3) - %s(90) + j * %s(%d)", of, of, of, stride);
    snprintf(text, sizeof text,
             "from tvm.script import tir as T\n"
             "@T.prim_func\n"
             "def main(N: T.Buffer((1,), \"%s\"), A: T.Buffer((64, %d), \"float32\"),\n"
             "         Y: T.Buffer((64, %d), \"float32\")):\n"
             "    for n in range(%s(64)):\n"
             "        for j in T.vectorized(%s(%d)):\n"
             "            Y[n, j] = T.if_then_else(%s %s %s, A[n, j], T.float32(0))\n",
             of + strlen("T."), lanes, lanes, of, of, lanes, is_right ? bound : row, op,
             is_right ? row : bound);
    HONE_TRY(hone_script_parse(text, strlen(text), "bounded", &module));
    hone_status st = hone_module_pick(module, NULL, &member);
    if (!st) st = test_compare(member->func, target, (uint64_t)lanes, 0);
    hone_module_release(module);
    return hone_status_annotate(st, "%d lanes, stride %d, %s %s", lanes, stride, op, bound);
}

/* Lanes that step over elements, or so many of which share one (a step below 0), of which the data
 * says how many count; those behind the last one that may would lie beyond the buffer. */
static hone_status check_steps(const hone_target *target, int lanes, int step, const char *type) {
    char text[1024], at[32];
    hone_module *module;
    const hone_member *member;
    int most = lanes - 1; /* lanes that may count */
    int last = step < 0 ? (most - 1) / -step : step * (most - 1);
    snprintf(at, sizeof at, step < 0 ? "j // %d" : "j * %d", step < 0 ? -step : step);
    snprintf(text, sizeof text,
             "from tvm.script import tir as T\n"
             "@T.prim_func\n"
             "def main(N: T.Buffer((64,), \"int64\"), A: T.Buffer((64, %d), \"%s\"),\n"
             "         Y: T.Buffer((64, %d), \"%s\")):\n"
             "    for n in range(64):\n"
             "        for j in T.vectorized(T.int64(%d)):\n"
             "            Y[n, j] = T.if_then_else(j < T.bitwise_and(N[n], T.int64(63)) %% %d, "
             "A[n, %s + 1], T.%s(0))\n",
             last + 2, type, lanes, type, lanes, most + 1, at, type);
    HONE_TRY(hone_script_parse(text, strlen(text), "steps", &module));
    hone_status st = hone_module_pick(module, NULL, &member);
    if (!st) st = test_compare(member->func, target, (uint64_t)lanes, 0);
    hone_module_release(module);
    return hone_status_annotate(st, "%d lanes, step %d, %s", lanes, step, type);
}

static void lanes_that_step(void **state) {
    const struct target_row *row = *state;
    static const int lengths[] = {4, 5, 8, 13, 16, 31, 32, 64};
    static const char *const types[] = {"float32", "float64", "int32", "float16", "int8"};
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    for (size_t i = 0; i < HONE_COUNT(lengths); i++) {
        for (int step = -5; step <= 5; step++) {
            if (step >= -1 && step <= 1) continue;
            const char *type = types[(i + (size_t)(step + 5)) % HONE_COUNT(types)];
            HONE_ASSERT_OK(check_steps(&target, lengths[i], step, type));
            HONE_ASSERT_OK(check_steps(&target, lengths[i], step, "float32"));
        }
    }
}

static const char *const ops[] = {"<", "<=", ">", ">="};

/* The bound lies below, among and behind them. */
static void lanes_below_a_bound(void **state) {
    const struct target_row *row = *state;
    static const int lengths[] = {3, 5, 8, 13, 16, 32, 48, 64};
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    for (size_t i = 0; i < HONE_COUNT(lengths) * HONE_COUNT(ops); i++) {
        for (int stride = 1; stride <= 4; stride++) {
            bool is_wide = i % 3 > 0;
            HONE_ASSERT_OK(check_bounded(&target, lengths[i / HONE_COUNT(ops)], stride,
                                         ops[i % HONE_COUNT(ops)],
                                         is_wide ? "T.int64(7)" : "T.int32(7)",
                                         is_wide ? "T.int64" : "T.int32", stride & 1));
        }
    }
}

/* The way to it is more than the type holds. */
static void lanes_far_from_a_bound(void **state) {
    const struct target_row *row = *state;
    static const char *const bounds[][2] = {
        {"T.int64", "T.bitwise_or(N[0], T.int64(9223372036854775800))" },
        {"T.int64", "T.bitwise_or(N[0], T.int64(-9223372036854775800))"},
        {"T.int32", "T.bitwise_or(N[0], T.int32(2147483640))"          },
        {"T.int32", "T.bitwise_or(N[0], T.int32(-2147483640))"         },
    };
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    for (size_t i = 0; i < HONE_COUNT(bounds) * HONE_COUNT(ops); i++) {
        const char *const *bound = bounds[i / HONE_COUNT(ops)];
        HONE_ASSERT_OK(check_bounded(&target, 16, i & 1 ? 2 : 1, ops[i % HONE_COUNT(ops)], bound[1],
                                     bound[0], i % 3 == 0));
    }
}

int main(void) {
    return HONE_RUN_ROWS("codegen/odd vectors", target_rows, every_length_and_stride) +
           HONE_RUN_ROWS("codegen/bounded lanes", target_rows, lanes_below_a_bound) +
           HONE_RUN_ROWS("codegen/lanes that step", target_rows, lanes_that_step) +
           HONE_RUN_ROWS("codegen/far bounds", target_rows, lanes_far_from_a_bound);
}
