/* tests/ir/values/test_input_values.c - which inputs suit a program: what is derived, and that
 * random programs run with it. */
#include "ir/values/input_values.h"

#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/workloads.h"

enum { MAX_PARAMS = 8 };

/* What would be made up without looking. */
static hone_span plain_span(hone_dtype dtype) {
    if (hone_dtype_is_float(dtype)) return (hone_span){-1, 1};
    return (hone_span){0, hone_dtype_is_bool(dtype) ? 1 : 7};
}

/* The last parameter is the output. */
static void derive(const hone_func *func, hone_arena *arena, hone_input_values *values,
                   const char **out_problem) {
    assert_in_range(func->param_count, 2, MAX_PARAMS);
    for (uint32_t p = 0; p < func->param_count; p++) {
        hone_dtype dtype = hone_func_buffer(func, func->params[p].buffer)->dtype;
        values[p] =
            (hone_input_values){.span = plain_span(dtype), .is_input = p + 1 < func->param_count};
    }
    HONE_ASSERT_OK(hone_func_suit_inputs(func, arena, values, out_problem));
}

static void print_values(const hone_func *func, const hone_input_values *values,
                         const char *problem, hone_str *out) {
    for (uint32_t p = 0; p + 1 < func->param_count; p++) {
        const hone_input_values *v = &values[p];
        hone_str_printf(out, "%s%s %g..%g%s%s", p ? ", " : "",
                        hone_func_buffer(func, func->params[p].buffer)->name, v->span.low,
                        v->span.high, v->is_sorted ? " sorted" : "",
                        v->is_distinct ? " distinct" : "");
    }
    if (problem) hone_str_printf(out, "; %s", problem);
}

/* "A i16, W f50": vectors of int32 and float32. */
static void put_params(hone_str *out, const char *params) {
    char name = 0, kind = 0;
    int count = 0, length = 0;
    while (sscanf(params, "%c %c%d%n", &name, &kind, &count, &length) == 3) {
        hone_str_printf(out, "%c: T.Buffer((%d,), \"%s32\"), ", name, count,
                        kind == 'i' ? "int" : "float");
        params += length;
        params += strspn(params, ", ");
    }
}

/* "M = e" is a buffer before the output, over vi as well; anything else a statement. */
static void put_before(hone_str *out, const char *before) {
    if (strncmp(before, "M = ", 4) != 0) {
        hone_str_printf(out, "  %s\n", *before ? before : "pass");
        return;
    }
    hone_str_printf(out,
                    "  M = T.alloc_buffer((16,), \"int32\")\n"
                    "  for j in range(16):\n"
                    "    with T.block(\"M\"):\n"
                    "      vi = T.axis.spatial(16, j)\n"
                    "      M[vi] = %s\n",
                    before + 4);
}

/* "sum a, b: e" of k from a to b; "= e" of a whole number; or statements. */
static void put_body(hone_str *out, const char *body) {
    const char *colon = strchr(body, ':');
    if (strncmp(body, "sum ", 4) == 0) {
        hone_str_printf(out,
                        "      O[vi] = T.float32(0)\n"
                        "      for k in range(%.*s):\n"
                        "        O[vi] = O[vi] + (%s)\n",
                        (int)(colon - body - 4), body + 4, colon + 1);
    } else if (body[0] == '=') {
        hone_str_printf(out, "      O[vi] = T.Cast(\"float32\", %s)\n", body + 2);
    } else {
        hone_str_printf(out, "      %s\n", body);
    }
}

/* A program of 16 iterations of vi. */
static const char *text_of(hone_str *out, const char *params, const char *before,
                           const char *body) {
    hone_str_append(out, "@T.prim_func\ndef main(");
    put_params(out, params);
    hone_str_append(out, "O: T.Buffer((16,), \"float32\")):\n");
    put_before(out, before);
    hone_str_append(out, "  for i in range(16):\n"
                         "    with T.block(\"O\"):\n"
                         "      vi = T.axis.spatial(16, i)\n");
    put_body(out, body);
    return hone_str_text(out);
}

/* clang-format off */
static const struct row {
    const char *name, *params, *before, *body, *want;
} rows[] = {
    {"nothing is asked for", "A i16", "", "= A[vi] * 3", "A 0..7"},
    {"a table", "A i16, W f50", "", "O[vi] = W[A[vi]]", "A 0..49, W -1..1"},
    {"a small table", "A i16, W f3", "", "O[vi] = W[A[vi]]", "A 0..2, W -1..1"},
    {"offset and scale", "A i16, W f50", "", "O[vi] = W[A[vi] * 2 - 100]", "A 50..74, W -1..1"},
    {"two places of one", "A i16, W f50", "", "O[vi] = W[A[vi] - 10] + W[A[vi] // 4 + 30]",
     "A 10..59, W -1..1"},
    {"beside a loop", "A i16, W f50", "", "O[vi] = W[A[0] + vi]", "A 0..34, W -1..1"},
    {"from the end", "A i16, W f12", "", "O[vi] = W[T.Select(A[vi] < 0, A[vi] + 12, A[vi])]",
     "A -12..11, W -1..1"},
    {"clipped", "A i16, W f3", "", "O[vi] = W[T.min(T.max(A[vi], 0), 2)]", "A 0..7, W -1..1"},
    {"guarded", "A i16, W f3", "", "O[vi] = T.if_then_else(A[vi] < 3, W[A[vi]], T.float32(0))",
     "A 0..7, W -1..1"},
    {"a table of tables", "A i16, B i30, W f5", "", "O[vi] = W[B[A[vi]]]",
     "A 0..29, B 0..4, W -1..1"},
    {"through a buffer", "A i16, W f9", "M = A[vi] + 1", "O[vi] = W[M[vi]]", "A -1..7, W -1..1"},
    {"two digits", "A i16, B i16, W f64", "", "O[vi] = W[A[vi] * 8 + B[vi]]",
     "A 0..7, B 0..7, W -1..1"},
    {"a divisor", "A i16, B i16", "", "= A[vi] // B[vi]", "A 0..7, B 1..8"},
    {"a divisor that is never 0", "A i16, B i16", "", "= A[vi] % (T.abs(B[vi]) + 1)",
     "A 0..7, B 0..7"},
    {"a divisor through a buffer", "A i16, B i16", "M = B[vi] * 2 - 6", "= A[vi] // M[vi]",
     "A 0..7, B 0..2"},
    {"a product divides", "A i16, B i16", "", "= vi // (A[vi] * B[vi])", "A 1..8, B 1..8"},
    {"a guarded divisor", "A i16, B i16", "", "= T.if_then_else(B[vi] != 0, A[vi] // B[vi], 0)",
     "A 0..7, B 0..7"},
    {"shifted", "A i16, B i16", "", "= T.shift_left(A[vi], B[vi] - 40)", "A 0..7, B 40..71"},
    {"offsets", "P i17, X f99", "", "sum P[vi], P[vi + 1]: X[k]", "P 0..99 sorted, X -1..1"},
    {"offsets from 0", "P i17, X f99", "", "sum 0, P[vi + 1] - P[vi]: X[P[vi] + k]",
     "P 0..99 sorted, X -1..1"},
    {"counts", "N i16, X f5", "", "sum 0, N[vi]: X[k]", "N 0..5, X -1..1"},
    {"stored there", "A i16, X f16", "", "O[A[vi]] = X[vi]", "A 0..15 distinct, X -1..1"},
    {"added there", "A i16, X f16", "", "O[A[vi]] = O[A[vi]] + X[vi]", "A 0..15, X -1..1"},
    {"offsets in twos", "P i17, X f99", "", "sum P[vi] * 2, T.max(P[vi + 1] * 2, 0): X[k // 2]",
     "P 0..99 sorted, X -1..1"},
    {"rows of few", "P i17, X f99, Y f8", "", "sum P[vi], P[vi + 1]: X[k] + Y[k - P[vi]]",
     "P 0..8 sorted, X -1..1, Y -1..1"},
    {"a class as a float", "X f16, W f50", "", "O[vi] = W[T.Cast(\"int32\", X[vi])]",
     "X -0.5..49.5, W -1..1"},
    {"roots of squares", "X f16, Y f16", "", "O[vi] = T.sqrt(X[vi] * X[vi] + Y[vi] * Y[vi])",
     "X -1..1, Y -1..1"},
    {"what is assumed", "A i16", "T.evaluate(T.assume(A[0] >= 30 and A[0] < 40))", "= A[vi]",
     "A 30..39"},
    {"an assertion", "N i1, X f16", "assert N[0] > 20, \"N\"", "O[vi] = X[vi]",
     "N 21..64, X -1..1"},
    {"an index made of a float", "X f16, W f7", "",
     "O[vi] = W[T.Cast(\"int32\", T.floor(X[vi] * T.float32(7)))]", "X 0.25..0.75, W -1..1"},
    {"roots and quotients", "X f16, Y f16", "", "O[vi] = T.sqrt(X[vi]) / Y[vi]",
     "X 0.5..1.5, Y 0.5..1.5"},
    {"nothing can be found", "A i16, B i16", "",
     "= B[vi] // T.Select(A[vi] * A[vi] == 12345, 1, 0)",
     "A 0..7, B 0..7; a divisor comes from 'A'"},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module;
    hone_arena *arena = hone_arena_create(4096);
    hone_str text = {0}, got = {0};
    hone_input_values values[MAX_PARAMS];
    const char *problem;
    const hone_func *func =
        hone_test_parse(text_of(&text, row->params, row->before, row->body), &module);
    derive(func, arena, values, &problem);
    print_values(func, values, problem, &got);
    bool is_right = strcmp(hone_str_text(&got), row->want) == 0;
    if (!is_right) print_error("%s: '%s', not '%s'\n", row->name, hone_str_text(&got), row->want);
    hone_module_release(module);
    hone_arena_destroy(arena);
    hone_str_deinit(&text);
    hone_str_deinit(&got);
    assert_true(is_right);
}

/* What is given stays, and the rest is found around it. */
static void given_values_stay(void **state) {
    (void)state;
    hone_module *module;
    hone_arena *arena = hone_arena_create(4096);
    hone_str text = {0};
    const char *problem;
    const hone_func *func = hone_test_parse(
        text_of(&text, "A i16, B i16, W f64", "", "O[vi] = W[A[vi] + B[vi]]"), &module);
    hone_input_values values[4] = {
        {.span = {40, 50},  .is_input = true, .is_given = true},
        {.span = {0, 7}, .is_input = true},
        {.span = {-1, 1},    .is_input = true},
        {.span = {-1, 1}                }
    };
    HONE_ASSERT_OK(hone_func_suit_inputs(func, arena, values, &problem));
    assert_null(problem);
    assert_true(values[0].span.low == 40 && values[0].span.high == 50);
    assert_true(values[1].span.low == -40 && values[1].span.high == 13);
    hone_module_release(module);
    hone_arena_destroy(arena);
    hone_str_deinit(&text);
}

/* Products, convolutions, pools and norms ask for nothing: what they were measured with stays. */
static void usual_workloads_keep_theirs(void **state) {
    (void)state;
    for (const hone_workload *w = hone_workloads; w->name; w++) {
        hone_module *module;
        hone_arena *arena = hone_arena_create(4096);
        hone_input_values values[MAX_PARAMS];
        const char *problem;
        const hone_func *func = hone_test_parse(w->text, &module);
        derive(func, arena, values, &problem);
        assert_null(problem);
        for (uint32_t p = 0; p + 1 < func->param_count; p++)
            assert_true(values[p].span.low == -1 && values[p].span.high == 1);
        hone_arena_destroy(arena);
        hone_module_release(module);
    }
}

static hone_status derive_with_little_memory(void *ctx) {
    const hone_func *func = ctx;
    const char *problem;
    hone_arena *arena = hone_arena_create(256);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "arena");
    hone_input_values values[MAX_PARAMS];
    for (uint32_t p = 0; p < func->param_count; p++)
        values[p] = (hone_input_values){
            .span = {0, 7},
              .is_input = p + 1 < func->param_count
        };
    hone_status st = hone_func_suit_inputs(func, arena, values, &problem);
    hone_arena_destroy(arena);
    return st;
}

static void memory_may_run_out(void **state) {
    (void)state;
    hone_module *module;
    hone_str text = {0};
    const hone_func *func = hone_test_parse(text_of(&text, "P i17, B i16, X f9",
                                                    "M = B[vi] * B[vi] * 0 + B[vi] % 2 // 2",
                                                    "sum P[vi], P[vi + 1]: X[k // M[vi]]"),
                                            &module);
    hone_test_sweep_allocs(derive_with_little_memory, (hone_func *)(uintptr_t)func);
    hone_module_release(module);
    hone_str_deinit(&text);
}

/* ---- random programs ---- */

static void put_index(hone_str *out, hone_rng *rng, int depth);

static void put_pair(hone_str *out, hone_rng *rng, int depth, const char *open, const char *between,
                     int64_t least) {
    hone_str_append(out, open);
    put_index(out, rng, depth);
    hone_str_printf(out, "%s%lld)", between, (long long)hone_rng_between(rng, least, 40));
}

/* An expression of integers over A, B, a buffer between and the axis. */
static void put_index(hone_str *out, hone_rng *rng, int depth) {
    static const char *const leaves[] = {
        "A[vi]", "B[vi]", "M[vi]", "A[B[vi] % 16]", "(vi + A[vi] % 2)", "A[0]"};
    if (depth == 0) {
        hone_str_append(out, leaves[hone_rng_below(rng, HONE_COUNT(leaves))]);
        return;
    }
    switch (hone_rng_below(rng, 9)) {
    case 0:
        put_pair(out, rng, depth - 1, "(", " + ", -40);
        break;
    case 1:
        put_pair(out, rng, depth - 1, "(", " * ", 1);
        break;
    case 2:
        put_pair(out, rng, depth - 1, "(", " // ", 1);
        break;
    case 3:
        put_pair(out, rng, depth - 1, "T.truncmod(", ", ", 2);
        break;
    case 4:
        put_pair(out, rng, depth - 1, "T.max(", ", ", -40);
        break;
    case 5:
        put_pair(out, rng, depth - 1, "T.min(", ", ", 0);
        break;
    case 6:
        hone_str_append(out, "T.Select(A[vi] < B[vi], ");
        put_index(out, rng, depth - 1);
        hone_str_append(out, ", ");
        put_index(out, rng, depth - 1);
        hone_str_append(out, ")");
        break;
    case 7:
        hone_str_append(out, "T.abs(");
        put_index(out, rng, depth - 1);
        hone_str_append(out, ")");
        break;
    default:
        hone_str_append(out, "(");
        put_index(out, rng, depth - 1);
        hone_str_append(out, hone_rng_below(rng, 2) ? " + " : " - ");
        put_index(out, rng, depth - 1);
        hone_str_append(out, ")");
    }
}

static const char *random_text(hone_str *out, hone_rng *rng) {
    hone_str body = {0};
    hone_str_append(&body, "O[vi] = W[");
    put_index(&body, rng, (int)hone_rng_below(rng, 4));
    hone_str_append(&body, "] + T.Cast(\"float32\", A[vi] // (");
    put_index(&body, rng, (int)hone_rng_below(rng, 3));
    hone_str_append(&body, "))");
    text_of(out, "A i16, B i16, W f50",
            hone_rng_below(rng, 2) ? "M = A[vi] - 3" : "M = B[vi] // 2 + A[vi]",
            hone_str_text(&body));
    hone_str_deinit(&body);
    return hone_str_text(out);
}

/* Both ends and what is between. */
static void fill(hone_tensor *tensor, hone_span span, hone_rng *rng) {
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++) {
        uint64_t which = hone_rng_below(rng, 4);
        double value = which == 0 ? span.low
                       : which == 1
                           ? span.high
                           : (double)hone_rng_between(rng, (int64_t)span.low, (int64_t)span.high);
        hone_tensor_set_f64(tensor, i, value);
    }
}

static hone_status run(const hone_func *func, const hone_input_values *values, hone_rng *rng) {
    hone_tensor *args[MAX_PARAMS] = {0};
    hone_status st = HONE_OK;
    for (uint32_t p = 0; p < func->param_count && !st; p++) {
        const hone_buffer_info *buffer = hone_func_buffer(func, func->params[p].buffer);
        int64_t count = buffer->shape[0]->u.i;
        st = hone_tensor_create(buffer->dtype, 1, &count, &args[p]);
        if (!st && values[p].is_input) fill(args[p], values[p].span, rng);
    }
    hone_interp_options options = {0};
    if (!st) st = hone_interp_func(func, args, func->param_count, &options);
    for (uint32_t p = 0; p < func->param_count; p++)
        hone_tensor_destroy(args[p]);
    return st;
}

static void random_programs_run(void **state) {
    (void)state;
    hone_rng rng = hone_test_rng(27);
    uint64_t count = hone_test_count(600), found = 0;
    for (uint64_t n = 0; n < count; n++) {
        hone_module *module;
        hone_arena *arena = hone_arena_create(16 * 1024);
        hone_str text = {0};
        hone_input_values values[MAX_PARAMS];
        const char *problem;
        const hone_func *func = hone_test_parse(random_text(&text, &rng), &module);
        derive(func, arena, values, &problem);
        for (int round = 0; round < 3 && !problem; round++) {
            hone_status st = run(func, values, &rng);
            if (!st) continue;
            hone_str got = {0};
            print_values(func, values, NULL, &got);
            print_error("%s\n%s\n", hone_str_text(&text), hone_str_text(&got));
            hone_str_deinit(&got);
            HONE_ASSERT_OK(st);
        }
        found += !problem;
        hone_module_release(module);
        hone_arena_destroy(arena);
        hone_str_deinit(&text);
    }
    print_message("inputs found for %llu of %llu\n", (unsigned long long)found,
                  (unsigned long long)count);
    assert_true(found * 2 > count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_values_stay),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(usual_workloads_keep_theirs),
        cmocka_unit_test(random_programs_run),
    };
    int failed = HONE_RUN_ROWS("ir/input_values", rows, check_row);
    return failed + cmocka_run_group_tests_name("ir/input_values", tests, NULL, NULL);
}
