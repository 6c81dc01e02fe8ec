/* tests/support/code_text.c - see code_text.h. */
#include "tests/support/code_text.h"

#include <string.h>

#include "codegen/codegen.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"

static const char *const targets[] = {"host",
                                      "host -vector-width=256",
                                      "llvm -mcpu=x86-64-v3",
                                      "llvm -mcpu=sandybridge",
                                      "llvm -mcpu=x86-64",
                                      "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1"};

static hone_status check_holds(const hone_str *in, const char *text) {
    bool is_absent = text && text[0] == '!';
    if (!text || (strstr(hone_str_text(in), text + is_absent) == NULL) == is_absent) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' in\n%s", text, hone_str_text(in));
}

static hone_status check_texts(const hone_func *func, const char *cpu, const char *lowered_text,
                               const char *instruction, hone_arena *arena) {
    hone_target target;
    hone_func *lowered;
    hone_str text = {0};
    const char *name = hone_arena_printf(arena, "llvm -mtriple=x86_64-linux-gnu -mcpu=%s", cpu);
    if (!name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    HONE_TRY(hone_target_parse(name, &target));
    hone_lower_options options = {.target = &target};
    HONE_TRY(hone_lower_func(func, &options, arena, &lowered));
    hone_status st = hone_func_print(lowered, NULL, &text);
    if (!st) st = check_holds(&text, lowered_text);
    hone_str_clear(&text);
    hone_codegen_kernel kernel = {.func = lowered, .symbol = "kernel"};
    hone_codegen_options codegen = {.target = &target, .form = HONE_FORM_ASM, .verify = true};
    if (!st && instruction) st = hone_codegen_llvm(&kernel, 1, &codegen, &text);
    if (!st) st = check_holds(&text, instruction);
    hone_str_deinit(&text);
    return st;
}

static hone_status check_results(const hone_func *func) {
    for (size_t i = 0; i < HONE_COUNT(targets); i++) {
        hone_target target;
        HONE_TRY(hone_target_parse(targets[i], &target));
        if (!test_can_run(&target)) continue;
        HONE_TRY(hone_status_annotate(test_compare(func, &target, i + 1, 1e-5), "%s", targets[i]));
    }
    return HONE_OK;
}

hone_status test_code(const char *program, const char *cpu, const char *lowered,
                      const char *instruction) {
    hone_module *module;
    const hone_member *member;
    HONE_TRY(hone_script_parse(program, strlen(program), "program", &module));
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = hone_module_pick(module, NULL, &member);
    if (!st) st = check_texts(member->func, cpu, lowered, instruction, arena);
    if (!st) st = check_results(member->func);
    hone_arena_destroy(arena);
    hone_module_release(module);
    return st;
}
