/* tests/codegen/test_intrin_code.c - the tensor intrinsics of CPUs as machine code: what
 * tests/schedule/intrin/test_tensor_intrins.c interprets is compiled for CPUs that have an
 * instruction for it and for others, and run: those of ARM by an emulator, where there is one. */
#include <string.h>

#include "codegen/codegen.h"
#include "lower/ground/lower.h"
#include "schedule/intrin/tensor_intrin.h"
#include "support/core/attributes.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"
#include "tests/support/intrin_program.h"
#include "tests/support/program_text.h"

static const char *const targets[] = {"llvm -mcpu=znver4",
                                      "llvm -mcpu=x86-64-v4",
                                      "llvm -mcpu=x86-64-v3",
                                      "llvm -mcpu=sandybridge",
                                      "llvm -mcpu=x86-64",
                                      "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1",
                                      "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1",
                                      "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"};

/* What the machine code must hold, where an intrinsic finds its tiles whole. */
static const struct wanted {
    const char *name, *target, *instruction;
} wanted[] = {
    {"dot_16x4_vnni",        "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4",       "vpdpbusd"},
    {"dot_16x4_vnni",        "llvm -mtriple=x86_64-linux-gnu -mcpu=alderlake",    "vpdpbusd"},
    {"dot_16x4_avx512",      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4",    "vpmaddwd"},
    {"dot_8x4_u8i8i32_avx2", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3",    "vpmaddwd"},
    {"dot_4x4_i8i8s32_sdot", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "sdot"    },
    {"dot_4x4_u8u8u32_udot", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "udot"    },
    {"dot_4x4_i8i8s32_neon", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",  "smull"   },
    {"dot_4x4_u8u8i32_hdot", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "udot"    },
};

static bool is_of_cpu(const char *name) {
    return strncmp(name, "dot_", 4) == 0 || strncmp(name, "matmul_", 7) == 0;
}

static hone_status check_code(const hone_func *func, const char *name, hone_arena *arena) {
    hone_status st = HONE_OK;
    for (size_t i = 0; i < HONE_COUNT(wanted) && !st; i++) {
        hone_target target;
        hone_func *lowered;
        hone_str text = {0};
        if (strcmp(wanted[i].name, name) != 0) continue;
        HONE_TRY(hone_target_parse(wanted[i].target, &target));
        hone_lower_options options = {.target = &target};
        HONE_TRY(hone_lower_func(func, &options, arena, &lowered));
        hone_codegen_kernel kernel = {.func = lowered, .symbol = "kernel"};
        hone_codegen_options codegen = {.target = &target, .form = HONE_FORM_ASM, .verify = true};
        st = hone_codegen_llvm(&kernel, 1, &codegen, &text);
        if (!st && !strstr(hone_str_text(&text), wanted[i].instruction)) {
            st = HONE_ERROR(HONE_CODE_INVALID, "no %s for %s in\n%s", wanted[i].instruction,
                            wanted[i].target, hone_str_text(&text));
        }
        hone_str_deinit(&text);
    }
    return st;
}

static hone_status check_numbers(const hone_func *func) {
    for (size_t i = 0; i < HONE_COUNT(targets); i++) {
        hone_target target;
        HONE_TRY(hone_target_parse(targets[i], &target));
        if (!test_can_run(&target)) continue;
        HONE_TRY(hone_status_annotate(test_compare(func, &target, i, 0), "%s", targets[i]));
    }
    return HONE_OK;
}

static hone_status check(const char *name, intrin_form form) {
    const intrin_step step = {.name = name};
    hone_str text = {0};
    hone_module *module;
    hone_schedule *sch = NULL;
    HONE_TRY(hone_test_intrin_program(&step, 1, form, &text));
    const hone_func *program = hone_test_parse(hone_str_text(&text), &module);
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = hone_test_intrin_schedule(program, &step, 1, form, &sch);
    if (!st) st = check_numbers(sch->func);
    if (!st && form == INTRIN_STACK) st = check_code(sch->func, name, arena);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    hone_module_release(module);
    hone_str_deinit(&text);
    return hone_status_annotate(st, "%s, form %d", name, (int)form);
}

static void computes_what_it_describes(void **state) {
    (void)state;
    for (size_t i = 0; hone_tensor_intrin_builtin(i); i++) {
        const char *name = hone_tensor_intrin_builtin(i);
        if (!is_of_cpu(name)) continue;
        HONE_ASSERT_OK(check(name, INTRIN_STACK));
        HONE_ASSERT_OK(check(name, INTRIN_TILES));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(computes_what_it_describes)};
    return cmocka_run_group_tests_name("codegen/intrinsics", tests, NULL, NULL);
}
