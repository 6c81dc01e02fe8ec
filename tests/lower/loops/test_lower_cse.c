/* tests/lower/loops/test_lower_cse.c - what is computed several times gets a name where that is
 * safe, and only there. */
#include <string.h>

#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "tests/support/hone_test.h"

#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((64,), \"float32\"), I: T.Buffer((64,), \"int32\"), "                    \
    "Y: T.Buffer((64,), \"float32\"), n: T.int32):\n"

static const struct row {
    const char *name, *text;
    int names; /* LETs in the lowered program */
} rows[] = {
    {"an index of several statements",
     HEAD "    for i, j in T.grid(4, 4):\n"
          "        Y[i * 16 + j * 4] = A[i * 16 + j * 4]\n"
          "        Y[i * 16 + j * 4 + 1] = A[i * 16 + j * 4 + 1]\n",     1},
    {"a variable and a constant are no work",
     HEAD "    for i in range(63):\n"
          "        Y[i + 1] = A[i + 1]\n",                               0},
    {"loops that bind one name anew share nothing",
     HEAD "    for i in range(8):\n"
          "        Y[i * 8] = T.float32(0)\n"
          "    for i in range(8):\n"
          "        Y[i * 8 + 1] = T.float32(0)\n",                       0},
    {"branches share in front of their choice",
     HEAD "    for i in range(8):\n"
          "        if A[i] < T.float32(0):\n"
          "            Y[i * 8] = T.float32(0)\n"
          "        else:\n"
          "            Y[i * 8 + 1] = T.float32(1)\n",                   1},
    {"what may divide by zero stays where it is",
     HEAD "    for i in range(8):\n"
          "        if n > 0:\n"
          "            Y[i // n] = T.float32(0)\n"
          "            Y[i // n + 1] = T.float32(1)\n",                  0},
    {"floats within a statement",
     HEAD "    for i in range(64):\n"
          "        Y[i] = T.exp(A[i]) / (T.exp(A[i]) + T.float32(1))\n", 1},
    {"floats loaded from an index that has a name, too",
     HEAD "    for i, j in T.grid(4, 4):\n"
          "        Y[i * 16 + j * 4] = T.exp(A[i * 16 + j * 4]) / (T.exp(A[i * 16 + j * 4]) + "
          "T.float32(1))\n",                                             2},
    {"but not across statements: memory changes",
     HEAD "    for i in range(64):\n"
          "        Y[i] = T.exp(Y[i])\n"
          "        A[i] = T.exp(Y[i])\n",                                0},
    {"nor what a condition guards",
     HEAD "    for i in range(64):\n"
          "        Y[i] = T.if_then_else(0 <= I[i], T.exp(A[I[i]]), T.float32(0)) + "
          "T.if_then_else(0 <= I[i], T.exp(A[I[i]]), T.float32(1))\n",   0},
};

static int count_names(const hone_func *func) {
    int count = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n))
        count += hone_func_node(func, n)->kind == HONE_NODE_LET;
    return count;
}

static void names_what_is_repeated(void **state) {
    const struct row *row = *state;
    hone_module *module;
    const hone_member *member;
    hone_target target;
    hone_func *lowered = NULL;
    HONE_ASSERT_OK(hone_script_parse(row->text, strlen(row->text), "program", &module));
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    HONE_ASSERT_OK(hone_target_parse("x86-64-v3", &target));
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_lower_options options = {.target = &target};
    hone_status st = hone_lower_func(member->func, &options, arena, &lowered);
    int names = st ? -1 : count_names(lowered);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    assert_int_equal(names, row->names);
}

int main(void) {
    return HONE_RUN_ROWS("lower/cse", rows, names_what_is_repeated);
}
