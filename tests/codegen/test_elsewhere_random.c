/* tests/codegen/test_elsewhere_random.c - random programs with random kinds of loops, compiled for
 * 64-bit ARM and run by an emulator, agree with the interpreter; random kernels of the vector math,
 * too. Skipped where there is no emulator (scripts/setup --aarch64). HONE_SEQUENCES sets how many,
 * HONE_FIRST_SEED the first. */
#include <stdio.h>
#include <stdlib.h>

#include "support/core/attributes.h"
#include "support/data/rng.h"
#include "tests/support/annotate_loops.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { PROGRAMS = 16 };

static const char *const names[] = {"llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a53",
                                    "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1",
                                    "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
                                    "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76",
                                    "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"};

static hone_status check_program(uint64_t seed) {
    hone_target target;
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_rng rng = hone_rng_from_seed(seed);
    hone_func *func = arena ? hone_random_program(arena, seed, NULL) : NULL;
    hone_status st = func ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    if (func) test_annotate_loops(func, &rng);
    const char *name = names[seed % HONE_COUNT(names)];
    if (!st) st = hone_target_parse(name, &target);
    if (!st) st = test_compare(func, &target, seed, 1e-5);
    hone_arena_destroy(arena);
    return hone_status_annotate(st, "seed %llu, %s", (unsigned long long)seed, name);
}

static void programs_agree(void **state) {
    (void)state;
    uint64_t count = hone_test_count(PROGRAMS);
    uint64_t from = hone_test_seed(7000);
    for (uint64_t seed = from; seed < from + count; seed++)
        HONE_ASSERT_OK(check_program(seed));
}

static void functions_agree(void **state) {
    (void)state;
    static const char *const functions[] = {"exp", "log", "tanh", "erf", "sigmoid", "sqrt", "sin"};
    static const char *const dtypes[] = {"float32", "float16", "bfloat16", "float64"};
    for (size_t i = 0; i < HONE_COUNT(functions); i++) {
        char text[600];
        hone_module *module;
        hone_target target;
        const char *dtype = dtypes[i % HONE_COUNT(dtypes)];
        snprintf(text, sizeof text,
                 "# from tvm.script import tirx as T\n"
                 "@T.prim_func(s_tir=True)\n"
                 "def main(A: T.Buffer((9, 13), \"%s\"), B: T.Buffer((9, 13), \"%s\")):\n"
                 "    for i in range(9):\n"
                 "        for j in T.vectorized(13):\n"
                 "            with T.sblock(\"B\"):\n"
                 "                v, w = T.axis.remap(\"SS\", [i, j])\n"
                 "                B[v, w] = T.%s(T.abs(A[v, w]))\n",
                 dtype, dtype, functions[i]);
        const hone_func *func = hone_test_parse(text, &module);
        HONE_ASSERT_OK(hone_target_parse(names[i % HONE_COUNT(names)], &target));
        HONE_ASSERT_OK(hone_status_annotate(test_compare(func, &target, i, 1e-6), "%s of %s",
                                            functions[i], dtype));
        hone_module_release(module);
    }
}

int main(void) {
    hone_target target;
    if (hone_status_consume(hone_target_parse(names[0], &target)) || !test_can_run(&target)) {
        hone_test_skip_all("no emulator or cross compiler for aarch64");
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_agree),
                                       cmocka_unit_test(functions_agree)};
    return cmocka_run_group_tests_name("codegen/elsewhere", tests, NULL, NULL);
}
