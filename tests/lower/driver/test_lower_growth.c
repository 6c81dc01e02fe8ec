/* tests/lower/driver/test_lower_growth.c - what a pass keeps grows with the program, not with its
 * square: four times as many blocks take about four times the memory. */
#include <stdio.h>

#include "ir/core/module.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "tests/support/hone_test.h"

enum { FEW = 200, TIMES = 4 };

/* Sk = S(k-1) * 2, k to count. */
static void print_chain(int count, hone_str *out) {
    hone_str_append(
        out, "from tvm.script import tirx as T\n"
             "@T.prim_func(s_tir=True)\n"
             "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n");
    for (int k = 0; k < count; k++)
        hone_str_printf(out, "    S%d = T.sblock_alloc_buffer((64,))\n", k);
    for (int k = 0; k <= count; k++) {
        char from[16] = "A", to[16] = "B";
        if (k > 0) snprintf(from, sizeof from, "S%d", k - 1);
        if (k < count) snprintf(to, sizeof to, "S%d", k);
        hone_str_printf(out,
                        "    for i in range(64):\n"
                        "        with T.sblock(\"b%d\"):\n"
                        "            vi = T.axis.spatial(64, i)\n"
                        "            %s[vi] = %s[vi] * T.float32(2)\n",
                        k, to, from);
    }
}

/* Bytes of the arena that a chain is lowered in. */
static size_t bytes_of(int count) {
    hone_str text = {0};
    hone_module *module;
    const hone_member *member;
    hone_target target;
    hone_func *lowered;
    print_chain(count, &text);
    HONE_ASSERT_OK(hone_str_check(&text));
    HONE_ASSERT_OK(hone_script_parse(text.data, text.length, "chain", &module));
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    HONE_ASSERT_OK(hone_target_parse("x86-64-v3", &target));
    hone_arena *arena = hone_arena_create(1 << 12);
    const hone_lower_options options = {.target = &target};
    HONE_ASSERT_OK(hone_lower_func(member->func, &options, arena, &lowered));
    size_t bytes = hone_arena_reserved(arena);
    hone_arena_destroy(arena);
    hone_module_release(module);
    hone_str_deinit(&text);
    return bytes;
}

static void memory_grows_with_the_program(void **state) {
    (void)state;
    size_t few = bytes_of(FEW), many = bytes_of(TIMES * FEW);
    printf("%zu and %zu bytes\n", few, many);
    assert_in_range(many, few, 2 * TIMES * few);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_grows_with_the_program)};
    return cmocka_run_group_tests_name("lower/growth", tests, NULL, NULL);
}
