/* tests/compile/test_first_choice.c - products of bfloat16 without records: dot products of the CPU
 * where it has them, they pay and the user allows them; and what is lowered then has them. */
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
} rows[] = {
    {"many rows",              HAS_IT,   40, 32, "bfloat16", 0, HONE_VARIANTS_EXACT, true },
    {"an odd number of steps", HAS_IT,   40, 33, "bfloat16", 0, HONE_VARIANTS_EXACT, true },
    {"a row by constants",     HAS_IT,   1,  32, "bfloat16", 2, HONE_VARIANTS_EXACT, true },
    {"a row by what changes",  HAS_IT,   1,  32, "bfloat16", 0, HONE_VARIANTS_EXACT, false},
    {"not allowed",            HAS_IT,   40, 32, "bfloat16", 2, HONE_VARIANTS_NONE,  false},
    {"no such instruction",    HAS_NONE, 40, 32, "bfloat16", 2, HONE_VARIANTS_EXACT, false},
    {"float32",                HAS_IT,   40, 32, "float32",  2, HONE_VARIANTS_ALL,   false},
};

static const hone_func *make(const struct row *row, hone_module **out_module) {
    char text[1024];
    snprintf(text, sizeof text,
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

int main(void) {
    return HONE_RUN_ROWS("compile/first_choice", rows, check_row);
}
