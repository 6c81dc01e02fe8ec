/* tests/schedule/variant/test_bf16.c - products of pairs of bfloat16 are within their error, by the
 * variant as it is and by its default schedule, and what is no product of matrices is refused. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "ir/verify/verify.h"
#include "schedule/defaults/default_schedule.h"
#include "schedule/defaults/pairs.h"
#include "schedule/primitive/primitives.h"
#include "schedule/variant/variant.h"
#include "support/data/rng.h"
#include "tests/schedule/variant/variant_difference.h"
#include "tests/support/program_text.h"

enum { RANDOM_PRODUCTS = 20 };

/* Y[b, m, n] = sum over k of X[b, m, k] * W[b, k, n] */
typedef struct product {
    int batch, rows, columns, steps;
    bool shares_weights; /* W has no batch */
    bool is_turned;      /* W[…, n, k] */
    bool is_left;        /* W * X, as the program has it */
    bool has_epilogue;
    bool is_narrow; /* X and W are of bfloat16 */
} product;

static const char *variant_of(const product *p) {
    return p->is_narrow ? "pairs" : "bf16";
}

static const hone_func *make(const product *p, hone_module **out_module) {
    hone_str text = {0};
    char w[64], at[64], x[64], batch[16] = "", to = p->has_epilogue ? 'Z' : 'Y';
    const char *dtype = p->is_narrow ? "bfloat16" : "float32";
    const char *wide = p->is_narrow ? "T.Cast(\"float32\", " : "(";
    if (!p->shares_weights) snprintf(batch, sizeof batch, "%d, ", p->batch);
    snprintf(w, sizeof w, "(%s%d, %d)", batch, p->is_turned ? p->columns : p->steps,
             p->is_turned ? p->steps : p->columns);
    snprintf(x, sizeof x, "%sX[vb, vm, vk])", wide);
    snprintf(at, sizeof at, "%sW[%s%s])", wide, p->shares_weights ? "" : "vb, ",
             p->is_turned ? "vn, vk" : "vk, vn");
    hone_str_printf(&text,
                    "@T.prim_func\ndef main(X: T.Buffer((%d, %d, %d), \"%s\"), W: T.Buffer(%s, "
                    "\"%s\"), Y: T.Buffer((%d, %d, %d))):\n",
                    p->batch, p->rows, p->steps, dtype, w, dtype, p->batch, p->rows, p->columns);
    if (p->has_epilogue)
        hone_str_printf(&text, "    Z = T.alloc_buffer((%d, %d, %d))\n", p->batch, p->rows,
                        p->columns);
    hone_str_printf(&text,
                    "    for b, m, n, k in T.grid(%d, %d, %d, %d):\n"
                    "        with T.block(\"matmul\"):\n"
                    "            vb, vm, vn, vk = T.axis.remap(\"SSSR\", [b, m, n, k])\n"
                    "            with T.init():\n                %c[vb, vm, vn] = T.float32(0)\n"
                    "            %c[vb, vm, vn] = %c[vb, vm, vn] + %s * %s\n",
                    p->batch, p->rows, p->columns, p->steps, to, to, to, p->is_left ? at : x,
                    p->is_left ? x : at);
    if (p->has_epilogue)
        hone_str_printf(&text,
                        "    for b, m, n in T.grid(%d, %d, %d):\n"
                        "        with T.block(\"relu\"):\n"
                        "            vb, vm, vn = T.axis.remap(\"SSS\", [b, m, n])\n"
                        "            Y[vb, vm, vn] = T.max(Z[vb, vm, vn] + T.float32(0.5), "
                        "T.float32(0))\n",
                        p->batch, p->rows, p->columns);
    HONE_ASSERT_OK(hone_str_check(&text));
    const hone_func *func = hone_test_parse(text.data, out_module);
    hone_str_deinit(&text);
    return func;
}

static const hone_default_limits machine = {.threads = 2,
                                            .vector_lanes = 16,
                                            .vector_registers = 32,
                                            .l1_bytes = 32768,
                                            .l2_bytes = 1 << 20,
                                            .constants = 2};

static void check(const product *p) {
    const hone_variant *variant = hone_variant_find(variant_of(p));
    hone_module *module = NULL;
    hone_schedule *sch;
    const hone_func *func = make(p, &module);
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_sch_use_variant(sch, variant));
    assert_true(hone_pairs_is(sch));
    for (int is_scheduled = 0; is_scheduled < 2; is_scheduled++) {
        if (is_scheduled) HONE_ASSERT_OK(hone_default_schedule(sch, &machine));
        HONE_ASSERT_OK(hone_check_func(sch->func));
        double error = variant_difference(func, sch->func, 7);
        bool is_rounded = error != 0 || p->is_narrow;
        if (!(error <= variant->error + OWN_ERROR) || !is_rounded)
            fail_msg("scheduled: %d, an error of %g", is_scheduled, error);
    }
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

static const struct row {
    const char *name;
    product p;
} rows[] = {
    {"a product",           {1, 16, 64, 32, true, false, false, false, false}},
    {"odd sizes",           {1, 13, 45, 37, true, false, false, true, false} },
    {"a row",               {1, 1, 33, 19, true, false, false, true, false}  },
    {"few columns",         {1, 9, 5, 8, true, false, false, false, false}   },
    {"two steps",           {1, 7, 31, 2, true, false, false, false, false}  },
    {"weights turned",      {2, 8, 40, 17, true, true, false, true, false}   },
    {"weights on the left", {1, 8, 40, 16, true, true, true, false, false}   },
    {"batches",             {3, 5, 34, 11, false, false, false, false, false}},
    {"batches, turned",     {2, 15, 15, 64, false, true, false, false, false}},
    {"of bfloat16",         {1, 13, 45, 37, true, false, false, true, true}  },
    {"of it, turned",       {2, 8, 40, 17, true, true, false, false, true}   },
    {"of it, batches",      {3, 5, 34, 11, false, true, true, false, true}   },
};

static void rows_are_within_the_error(void **state) {
    check(&((const struct row *)*state)->p);
}

static void random_products_are_within_it(void **state) {
    (void)state;
    uint64_t count = hone_test_count(RANDOM_PRODUCTS), first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + count; seed++) {
        hone_rng rng = hone_rng_from_seed(seed);
        product p = {.batch = (int)hone_rng_between(&rng, 1, 3),
                     .rows = (int)hone_rng_between(&rng, 1, 20),
                     .columns = (int)hone_rng_between(&rng, 2, 80),
                     .steps = (int)hone_rng_between(&rng, 2, 40),
                     .shares_weights = hone_rng_below(&rng, 2) == 1,
                     .is_turned = hone_rng_below(&rng, 2) == 1,
                     .is_left = hone_rng_below(&rng, 2) == 1,
                     .has_epilogue = hone_rng_below(&rng, 2) == 1,
                     .is_narrow = hone_rng_below(&rng, 2) == 1};
        check(&p);
    }
}

/* The diagonal of a product, a sum of more than two, and of float64. */
static void others_are_refused(void **state) {
    static const struct {
        const char *out, *value, *dtype;
    } others[] = {
        {"Y[vm, vn]", "X[vm, vk] * W[vk, vn] * W[vk, vn]", "float32"},
        {"Y[vm, vn]", "X[vm, vk] * W[vk, vn]",             "float64"},
        {"Y[vm, vn]", "X[vm, vk] * W[7 - vk, vn]",         "float32"},
        {"Y[vn, vm]", "X[vm, vk] * X[vm, vk]",             "float32"},
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(others); i++) {
        hone_str text = {0};
        hone_module *module = NULL;
        hone_func *made;
        hone_arena *arena = hone_arena_create(1 << 16);
        const char *dtype = others[i].dtype, *out = others[i].out;
        hone_str_printf(&text,
                        "@T.prim_func\ndef main(X: T.Buffer((8, 8), \"%s\"), W: T.Buffer((8, 8), "
                        "\"%s\"), Y: T.Buffer((8, 8), \"%s\")):\n"
                        "    for m, n, k in T.grid(8, 8, 8):\n        with T.block(\"p\"):\n"
                        "            vm, vn, vk = T.axis.remap(\"SSR\", [m, n, k])\n"
                        "            with T.init():\n                %s = T.%s(0)\n"
                        "            %s = %s + %s\n",
                        dtype, dtype, dtype, out, dtype, out, out, others[i].value);
        const hone_func *func = hone_test_parse(text.data, &module);
        static const char *const both[] = {"bf16", "pairs"};
        for (size_t v = 0; v < HONE_COUNT(both); v++) {
            const hone_variant *variant = hone_variant_find(both[v]);
            assert_int_equal(hone_status_consume(hone_variant_apply(variant, func, arena, &made)),
                             HONE_CODE_ILLEGAL);
        }
        hone_arena_destroy(arena);
        hone_module_release(module);
        hone_str_deinit(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_products_are_within_it),
        cmocka_unit_test(others_are_refused),
    };
    int failed = HONE_RUN_ROWS("schedule/bf16", rows, rows_are_within_the_error);
    return failed + cmocka_run_group_tests_name("schedule/bf16", tests, NULL, NULL);
}
