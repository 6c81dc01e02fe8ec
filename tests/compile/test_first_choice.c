/* tests/compile/test_first_choice.c - products and convolutions of bfloat16 without records: dot
 * products of the CPU where it has them, they pay and the user allows them; and what is lowered
 * then has them. Those of float32 on GPUs: matrix units where the user allows what they round. */
#include <stdio.h>
#include <string.h>

#include "compile/first_schedule.h"
#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "schedule/primitive/primitives.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

#define HAS_IT "llvm -mcpu=znver4 -num-cores=1"
#define HAS_NONE "llvm -mcpu=icelake-server -num-cores=1"

static const struct row {
    const char *name, *target;
    int rows, steps;
    const char *type; /* of what is multiplied */
    uint64_t constants;
    double most_error;
    bool is_dot;
    bool is_convolution; /* 3x3 over rows + 2 by 10 places, channels last */
} rows[] = {
    {"many rows",               HAS_IT,   40, 32, "bfloat16", 0, HONE_VARIANTS_EXACT, true,  false},
    {"an odd number of steps",  HAS_IT,   40, 33, "bfloat16", 0, HONE_VARIANTS_EXACT, true,  false},
    {"a row by constants",      HAS_IT,   1,  32, "bfloat16", 2, HONE_VARIANTS_EXACT, true,  false},
    {"a row by what changes",   HAS_IT,   1,  32, "bfloat16", 0, HONE_VARIANTS_EXACT, false, false},
    {"not allowed",             HAS_IT,   40, 32, "bfloat16", 2, HONE_VARIANTS_NONE,  false, false},
    {"no such instruction",     HAS_NONE, 40, 32, "bfloat16", 2, HONE_VARIANTS_EXACT, false, false},
    {"float32",                 HAS_IT,   40, 32, "float32",  2, HONE_VARIANTS_ALL,   false, false},
    {"a convolution",           HAS_IT,   6,  32, "bfloat16", 0, HONE_VARIANTS_EXACT, true,  true },
    {"one of 3 channels",       HAS_IT,   6,  3,  "bfloat16", 0, HONE_VARIANTS_EXACT, true,  true },
    {"one of 1 channel",        HAS_IT,   6,  1,  "bfloat16", 0, HONE_VARIANTS_EXACT, false, true },
    {"one that is not allowed", HAS_IT,   6,  32, "bfloat16", 0, HONE_VARIANTS_NONE,  false, true },
    {"one without it",          HAS_NONE, 6,  32, "bfloat16", 0, HONE_VARIANTS_EXACT, false, true },
    {"one of float32",          HAS_IT,   6,  32, "float32",  0, HONE_VARIANTS_EXACT, false, true },
};

static void print_convolution(const struct row *row, char *text, size_t size) {
    snprintf(text, size,
             "@T.prim_func\n"
             "def main(X: T.Buffer((%d, 10, %d), \"%s\"), W: T.Buffer((64, %d, 3, 3), \"%s\"), "
             "Y: T.Buffer((%d, 8, 64))):\n"
             "    for y, x, f, c, r, s in T.grid(%d, 8, 64, %d, 3, 3):\n"
             "        with T.block(\"conv\"):\n"
             "            vy, vx, vf, vc, vr, vs = T.axis.remap(\"SSSRRR\", [y, x, f, c, r, s])\n"
             "            with T.init():\n"
             "                Y[vy, vx, vf] = T.float32(0)\n"
             "            Y[vy, vx, vf] = Y[vy, vx, vf] + T.Cast(\"float32\", X[vy + vr, vx + vs, "
             "vc]) * T.Cast(\"float32\", W[vf, vc, vr, vs])\n",
             row->rows + 2, row->steps, row->type, row->steps, row->type, row->rows, row->rows,
             row->steps);
}

static void print_product(const struct row *row, char *text, size_t size) {
    snprintf(text, size,
             "@T.prim_func\n"
             "def main(X: T.Buffer((%d, %d), \"%s\"), W: T.Buffer((%d, 64), \"%s\"), "
             "Y: T.Buffer((%d, 64))):\n"
             "    for i, j, k in T.grid(%d, 64, %d):\n"
             "        with T.block(\"matmul\"):\n"
             "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
             "            with T.init():\n"
             "                Y[vi, vj] = T.float32(0)\n"
             "            Y[vi, vj] = Y[vi, vj] + T.Cast(\"float32\", X[vi, vk]) * "
             "T.Cast(\"float32\", W[vk, vj])\n",
             row->rows, row->steps, row->type, row->steps, row->type, row->rows, row->rows,
             row->steps);
}

static const hone_func *make(const struct row *row, hone_module **out_module) {
    char text[1024];
    (row->is_convolution ? print_convolution : print_product)(row, text, sizeof text);
    return hone_test_parse(text, out_module);
}

static bool has_dots(const hone_schedule *sch, const hone_target *target) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_func *lowered = NULL;
    hone_str text = {0};
    const hone_lower_options how = {.target = target};
    HONE_ASSERT_OK(hone_lower_func(sch->func, &how, arena, &lowered));
    HONE_ASSERT_OK(hone_func_print(lowered, NULL, &text));
    bool has = strstr(hone_str_text(&text), "dot2_bf16(") != NULL;
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
    return has;
}

static void check_row(void **state) {
    const struct row *row = *state;
    const hone_variant_rules rules = {.most_error = row->most_error};
    hone_module *module = NULL;
    hone_schedule *sch;
    hone_target target;
    hone_variant variant;
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    HONE_ASSERT_OK(hone_schedule_create(make(row, &module), &sch));
    HONE_ASSERT_OK(hone_first_choice(sch, &target, row->constants, &rules));
    bool is_variant = hone_trace_variant(&sch->trace, &variant), is_dot = has_dots(sch, &target);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    assert_int_equal(is_variant, row->is_dot);
    assert_int_equal(is_dot, row->is_dot);
}

/* ---- TF32 ---- */

#define CARD "nvidia/nvidia-a100"

static const struct row of_cards[] = {
    {"floats",                         CARD,                 40, 32, "float32", 0, 5e-4,              false, false},
    {"floats, what rounds is allowed", CARD,                 40, 32, "float32", 0, 2e-3,              true,  false},
    {"all that keep most of it",       CARD,                 40, 32, "float32", 0, HONE_VARIANTS_ALL, false, false},
    {"groups of warps",                "nvidia/nvidia-h100", 40, 32, "float32", 0, 2e-3,              true,  false},
    {"a convolution of floats",        CARD,                 6,  32, "float32", 0, 2e-3,              true,  true },
    {"one row",                        CARD,                 1,  32, "float32", 0, 2e-3,              false, false},
    {"half floats",                    CARD,                 40, 32, "float16", 0, 2e-3,              false, false},
    {"an older card",                  "nvidia/nvidia-t4",   40, 32, "float32", 0, 2e-3,              false, false},
    {"a device of others",             "opencl",             40, 32, "float32", 0, 2e-3,              false, false},
};

/* is_dot: the variant is taken, and multiplied by matrix units. */
static void check_card(void **state) {
    const struct row *row = *state;
    const hone_variant_rules rules = {.most_error = row->most_error};
    hone_module *module = NULL;
    hone_schedule *sch;
    hone_target target;
    hone_variant variant;
    hone_str text = {0};
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    HONE_ASSERT_OK(hone_schedule_create(make(row, &module), &sch));
    HONE_ASSERT_OK(hone_first_choice(sch, &target, 0, &rules));
    bool is_variant = hone_trace_variant(&sch->trace, &variant);
    HONE_ASSERT_OK(hone_func_print(sch->func, NULL, &text));
    bool has_units = strstr(hone_str_text(&text), "tvm_mma_sync") != NULL;
    bool has_threads = strstr(hone_str_text(&text), "threadIdx.x") != NULL;
    bool is_half = strcmp(row->type, "float16") == 0; /* is multiplied by units as it is */
    hone_str_deinit(&text);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    assert_int_equal(is_variant, row->is_dot);
    assert_int_equal(has_units, row->is_dot || is_half);
    assert_true(has_threads);
}

int main(void) {
    int failed = HONE_RUN_ROWS("compile/first_choice", rows, check_row);
    return failed + HONE_RUN_ROWS("compile/first_choice_cards", of_cards, check_card);
}
