/* tests/schedule/variant/test_variants.c - variants compute what the program computes, within the
 * error that they declare, and refuse what they are not for; so do their default schedules. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/verify/verify.h"
#include "schedule/defaults/winograd.h"
#include "schedule/primitive/primitives.h"
#include "schedule/variant/variant.h"
#include "support/data/rng.h"
#include "tests/schedule/variant/variant_difference.h"
#include "tests/support/program_text.h"

enum { RANDOM_CONVOLUTIONS = 24 };

typedef struct conv {
    int batch, channels, height, width, filters, taps, stride, pad, dilation, groups;
    bool is_nhwc;
    const char *dtype;
    bool has_epilogue;
} conv;

/* Sums of bfloat16 are of float32. */
static const char *sum_type(const conv *c) {
    return strcmp(c->dtype, "bfloat16") == 0 ? "float32" : c->dtype;
}

static void print_pad(const conv *c, hone_str *out) {
    const char *order = c->is_nhwc ? "vn, vy, vx, vc" : "vn, vc, vy, vx";
    hone_str_printf(out,
                    "    for n, c, y, x in T.grid(%d, %d, %d, %d):\n"
                    "        with T.block(\"pad\"):\n"
                    "            vn, vc, vy, vx = T.axis.remap(\"SSSS\", [n, c, y, x])\n"
                    "            P[%s] = T.if_then_else(%d <= vy and vy < %d and %d <= vx and vx < "
                    "%d, X[vn, %svy - %d, vx - %d%s], T.%s(0))\n",
                    c->batch, c->channels, c->height + 2 * c->pad, c->width + 2 * c->pad, order,
                    c->pad, c->height + c->pad, c->pad, c->width + c->pad, c->is_nhwc ? "" : "vc, ",
                    c->pad, c->pad, c->is_nhwc ? ", vc" : "", c->dtype);
}

static int out_extent(const conv *c, int extent) {
    return (extent + 2 * c->pad - c->dilation * (c->taps - 1) - 1) / c->stride + 1;
}

static void print_shape(const conv *c, int channels, int height, int width, hone_str *out) {
    if (c->is_nhwc)
        hone_str_printf(out, "(%d, %d, %d, %d)", c->batch, height, width, channels);
    else
        hone_str_printf(out, "(%d, %d, %d, %d)", c->batch, channels, height, width);
}

static void print_conv(const conv *c, hone_str *out) {
    int height = out_extent(c, c->height), width = out_extent(c, c->width);
    int ins = c->channels / c->groups, outs = c->filters / c->groups;
    const char *image = c->pad ? "P" : "X", *to = c->has_epilogue ? "Z" : "Y";
    const char *at = c->is_nhwc ? "vn, vy, vx, vf" : "vn, vf, vy, vx";
    char channel[64] = "vc", place[200];
    if (c->groups > 1) snprintf(channel, sizeof channel, "vf // %d * %d + vc", outs, ins);
    snprintf(place, sizeof place, "vn, %s%svy * %d + vr * %d, vx * %d + vs * %d%s%s",
             c->is_nhwc ? "" : channel, c->is_nhwc ? "" : ", ", c->stride, c->dilation, c->stride,
             c->dilation, c->is_nhwc ? ", " : "", c->is_nhwc ? channel : "");
    hone_str_printf(out,
                    "    for n, f, y, x, c, r, s in T.grid(%d, %d, %d, %d, %d, %d, %d):\n"
                    "        with T.block(\"conv\"):\n"
                    "            vn, vf, vy, vx, vc, vr, vs = T.axis.remap(\"SSSSRRR\", [n, f, y, "
                    "x, c, r, s])\n"
                    "            with T.init():\n                %s[%s] = T.%s(0)\n",
                    c->batch, c->filters, height, width, ins, c->taps, c->taps, to, at,
                    sum_type(c));
    hone_str_printf(out,
                    "            %s[%s] = %s[%s] + T.Cast(\"%s\", %s[%s]) * "
                    "T.Cast(\"%s\", W[vf, vc, vr, vs])\n",
                    to, at, to, at, sum_type(c), image, place, sum_type(c));
    if (!c->has_epilogue) return;
    hone_str_printf(out,
                    "    for n, f, y, x in T.grid(%d, %d, %d, %d):\n"
                    "        with T.block(\"relu\"):\n"
                    "            vn, vf, vy, vx = T.axis.remap(\"SSSS\", [n, f, y, x])\n"
                    "            Y[%s] = T.max(Z[%s] + T.Cast(\"%s\", W[vf, 0, 0, 0]), T.%s(0))\n",
                    c->batch, c->filters, height, width, at, at, sum_type(c), sum_type(c));
}

static const hone_func *make_conv(const conv *c, hone_module **out_module) {
    hone_str text = {0}, out = {0}, in = {0}, padded = {0};
    print_shape(c, c->channels, c->height, c->width, &in);
    print_shape(c, c->channels, c->height + 2 * c->pad, c->width + 2 * c->pad, &padded);
    print_shape(c, c->filters, out_extent(c, c->height), out_extent(c, c->width), &out);
    hone_str_printf(&text,
                    "@T.prim_func\ndef main(X: T.Buffer(%s, \"%s\"), W: T.Buffer((%d, %d, %d, %d), "
                    "\"%s\"), Y: T.Buffer(%s, \"%s\")):\n"
                    "    T.func_attr({\"tir.noalias\": True})\n",
                    hone_str_text(&in), c->dtype, c->filters, c->channels / c->groups, c->taps,
                    c->taps, c->dtype, hone_str_text(&out), sum_type(c));
    if (c->pad)
        hone_str_printf(&text, "    P = T.alloc_buffer(%s, \"%s\")\n", hone_str_text(&padded),
                        c->dtype);
    if (c->has_epilogue)
        hone_str_printf(&text, "    Z = T.alloc_buffer(%s, \"%s\")\n", hone_str_text(&out),
                        sum_type(c));
    if (c->pad) print_pad(c, &text);
    print_conv(c, &text);
    HONE_ASSERT_OK(hone_str_check(&text));
    const hone_func *func = hone_test_parse(text.data, out_module);
    hone_str_deinit(&text);
    hone_str_deinit(&in);
    hone_str_deinit(&padded);
    hone_str_deinit(&out);
    return func;
}

/* ---- what is computed ---- */

static const hone_default_limits machine = {.threads = 2,
                                            .vector_lanes = 8,
                                            .vector_registers = 16,
                                            .l1_bytes = 32768,
                                            .l2_bytes = 1 << 20,
                                            .constants = 2};

/* By the variant as it is, by its default schedule, and by each way of Winograd's. */
static void check_schedules(const hone_func *func, const hone_variant *variant) {
    hone_schedule *sch;
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    for (int way = -2; way < 6; way++) {
        HONE_ASSERT_OK(hone_schedule_reset(sch));
        HONE_ASSERT_OK(hone_sch_use_variant(sch, variant));
        bool is_winograd = hone_winograd_is(sch);
        if (way >= 0 && !is_winograd) break;
        const hone_winograd_way wanted = {.is_fused = way % 2 == 0, .vectors = way / 2 + 1};
        if (way == -1) HONE_ASSERT_OK(hone_default_schedule(sch, &machine));
        if (way >= 0) HONE_ASSERT_OK(hone_default_winograd(sch, &machine, &wanted));
        HONE_ASSERT_OK(hone_check_func(sch->func));
        double error = variant_difference(func, sch->func, 7);
        if (!(error <= variant->error + OWN_ERROR))
            fail_msg("%s, way %d: an error of %g", variant->name, way, error);
    }
    hone_schedule_destroy(sch);
}

static const struct row {
    const char *name;
    conv c;
    bool is_winograd, is_im2col, is_pairs;
} rows[] = {
    {"3x3",           {1, 8, 12, 12, 16, 3, 1, 1, 1, 1, false, "float32", false},  true,  true,  false},
    {"odd image",     {1, 3, 13, 17, 5, 3, 1, 1, 1, 1, false, "float32", true},    true,  true,  false},
    {"batch, no pad", {2, 3, 13, 17, 5, 3, 1, 0, 1, 1, false, "float32", true},    true,  true,  false},
    {"NHWC",          {2, 9, 7, 10, 20, 3, 1, 1, 1, 1, true, "float32", true},     true,  true,  false},
    {"one output",    {1, 4, 3, 3, 4, 3, 1, 0, 1, 1, false, "float32", false},     true,  true,  false},
    {"wide padding",  {1, 4, 5, 5, 4, 3, 1, 2, 1, 1, false, "float32", false},     true,  true,  false},
    {"1 channel",     {1, 1, 9, 9, 1, 3, 1, 1, 1, 1, false, "float32", false},     true,  true,  false},
    {"stride",        {1, 4, 9, 9, 6, 3, 2, 1, 1, 1, false, "float32", false},     false, true,  false},
    {"dilation",      {1, 4, 9, 9, 6, 3, 1, 2, 2, 1, false, "float32", true},      false, true,  false},
    {"5x5",           {1, 4, 9, 9, 6, 5, 1, 2, 1, 1, true, "float32", false},      false, true,  false},
    {"groups",        {1, 4, 9, 9, 6, 3, 1, 1, 1, 2, false, "float32", false},     false, false, false},
    {"float16",       {1, 4, 9, 9, 6, 3, 1, 1, 1, 1, false, "float16", false},     false, false, false},
    {"float64",       {1, 4, 9, 9, 6, 3, 1, 1, 1, 1, false, "float64", false},     false, false, false},
    {"bf16",          {1, 8, 12, 12, 16, 3, 1, 1, 1, 1, false, "bfloat16", false}, false, false, true },
    {"bf16, odd",     {2, 5, 9, 13, 35, 3, 1, 1, 1, 1, false, "bfloat16", true},   false, false, true },
    {"bf16, NHWC",    {2, 6, 7, 10, 40, 3, 1, 1, 1, 1, true, "bfloat16", true},    false, false, true },
    {"bf16, no pad",  {1, 6, 7, 10, 32, 3, 1, 0, 1, 1, true, "bfloat16", false},   false, false, true },
    {"bf16, stride",  {1, 4, 9, 9, 6, 3, 2, 1, 1, 1, false, "bfloat16", true},     false, false, true },
    {"bf16, dilated", {1, 4, 9, 9, 6, 3, 1, 2, 2, 1, true, "bfloat16", false},     false, false, true },
    {"bf16, 1x1",     {1, 8, 5, 9, 33, 1, 1, 0, 1, 1, false, "bfloat16", true},    false, false, true },
    {"bf16, 1 in",    {1, 1, 9, 9, 4, 3, 1, 1, 1, 1, false, "bfloat16", false},    false, false, false},
    {"bf16, groups",  {1, 4, 9, 9, 6, 3, 1, 1, 1, 2, false, "bfloat16", false},    false, false, false},
};

static void variants_compute_the_same(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    const hone_func *func = make_conv(&row->c, &module);
    const hone_variant *variant;
    for (size_t i = 0; (variant = hone_variant_at(i)) != NULL; i++) {
        bool is_winograd = strncmp(variant->name, "winograd", 8) == 0;
        bool is_float = strcmp(row->c.dtype, "float32") == 0;
        bool is_for = is_winograd ? row->is_winograd
                                  : (row->is_im2col && strcmp(variant->name, "im2col") == 0) ||
                                        (row->is_pairs && strcmp(variant->name, "pairs") == 0) ||
                                        (is_float && strcmp(variant->name, "tf32") == 0);
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_func *made;
        hone_code code = hone_status_consume(hone_variant_apply(variant, func, arena, &made));
        hone_arena_destroy(arena);
        assert_int_equal(code, is_for ? HONE_CODE_OK : HONE_CODE_ILLEGAL);
        if (is_for) check_schedules(func, variant);
    }
    hone_module_release(module);
}

static void random_convolutions_are_right(void **state) {
    (void)state;
    uint64_t count = hone_test_count(RANDOM_CONVOLUTIONS), first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + count; seed++) {
        hone_rng rng = hone_rng_from_seed(seed);
        conv c = {.batch = (int)hone_rng_between(&rng, 1, 3),
                  .channels = (int)hone_rng_between(&rng, 1, 18),
                  .height = (int)hone_rng_between(&rng, 3, 14),
                  .width = (int)hone_rng_between(&rng, 3, 14),
                  .filters = (int)hone_rng_between(&rng, 1, 34),
                  .taps = 3,
                  .stride = 1,
                  .pad = (int)hone_rng_between(&rng, 0, 2),
                  .dilation = 1,
                  .groups = 1,
                  .is_nhwc = hone_rng_below(&rng, 2) == 1,
                  .dtype = "float32",
                  .has_epilogue = hone_rng_below(&rng, 2) == 1};
        hone_module *module = NULL;
        const hone_func *func = make_conv(&c, &module);
        const hone_variant *variant = hone_variant_at(seed % 3);
        check_schedules(func, variant);
        hone_module_release(module);
    }
}

/* ---- the step ---- */

static void only_as_first_step(void **state) {
    (void)state;
    hone_module *module = NULL;
    hone_schedule *sch;
    hone_rv block;
    HONE_ASSERT_OK(hone_schedule_create(make_conv(&rows[0].c, &module), &sch));
    const hone_variant *variant = hone_variant_find("winograd2");
    hone_variant found;
    HONE_ASSERT_OK(hone_sch_get_block(sch, "conv", &block));
    assert_int_equal(hone_status_consume(hone_sch_use_variant(sch, variant)), HONE_CODE_ILLEGAL);
    assert_false(hone_trace_variant(&sch->trace, &found));
    HONE_ASSERT_OK(hone_schedule_reset(sch));
    HONE_ASSERT_OK(hone_sch_use_variant(sch, variant));
    assert_true(hone_trace_variant(&sch->trace, &found));
    assert_true(hone_variant_is_same(&found, variant));
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

/* Blocks of the names of Winograd's, and with other axes, make no program of Winograd's. */
static void names_prove_nothing(void **state) {
    static const char head[] = "@T.prim_func\n"
                               "def main(X: T.Buffer((8,)), Y: T.Buffer((8,))):\n";
    static const char stage[] = "    for i in range(8):\n"
                                "        with T.block(\"winograd_%s\"):\n"
                                "            v = T.axis.spatial(8, i)\n"
                                "            Y[v] = X[v]\n";
    static const char *const names[] = {"rows", "products", "sums"};
    (void)state;
    hone_str text = {0};
    hone_variant own;
    hone_schedule *sch;
    hone_str_append(&text, head);
    for (size_t i = 0; i < HONE_COUNT(names); i++)
        hone_str_printf(&text, stage, names[i]);
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
    HONE_ASSERT_OK(hone_variant_read("winograd", hone_str_text(&text), "own.py", &own));
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_sch_use_variant(sch, &own));
    assert_false(hone_winograd_is(sch));
    HONE_ASSERT_OK(hone_default_schedule(sch, &machine));
    hone_schedule_destroy(sch);
    hone_module_release(module);
    hone_str_deinit(&text);
}

static void limits_are_kept(void **state) {
    (void)state;
    const hone_variant *exact = hone_variant_find("im2col"),
                       *other = hone_variant_find("winograd4");
    hone_variant own = {.name = "own", .program = "text", .error = 1e-6};
    hone_variant_rules rules = {.most_error = HONE_VARIANTS_NONE};
    assert_true(hone_variant_is_allowed(NULL, &rules));
    assert_false(hone_variant_is_allowed(exact, &rules));
    rules.most_error = HONE_VARIANTS_EXACT;
    assert_true(hone_variant_is_allowed(exact, &rules));
    assert_false(hone_variant_is_allowed(other, &rules));
    rules.most_error = other->error / 2;
    assert_false(hone_variant_is_allowed(other, &rules));
    assert_false(hone_variant_is_allowed(&own, &rules)); /* nobody gives it */
    rules.given = &own;
    rules.given_count = 1;
    assert_true(hone_variant_is_allowed(&own, &rules));
    own.error = 1;
    assert_false(hone_variant_is_allowed(&own, &rules));
    rules.most_error = INFINITY;
    hone_variant recorded = own;
    recorded.error = INFINITY; /* a record claims more than the text declares */
    assert_false(hone_variant_is_allowed(&recorded, &rules));
    recorded.error = -1;
    assert_false(hone_variant_is_allowed(&recorded, &rules));
    assert_true(hone_variant_is_allowed(other, &rules));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_convolutions_are_right),
        cmocka_unit_test(only_as_first_step),
        cmocka_unit_test(names_prove_nothing),
        cmocka_unit_test(limits_are_kept),
    };
    int failed = HONE_RUN_ROWS("schedule/variants", rows, variants_compute_the_same);
    return failed + cmocka_run_group_tests_name("schedule/variants", tests, NULL, NULL);
}
