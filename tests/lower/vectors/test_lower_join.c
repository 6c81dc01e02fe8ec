/* tests/lower/vectors/test_lower_join.c - short vectors become longer ones with the loops around
 * them where their iterations go straight on, and the program still means the same. */
#include <string.h>

#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((2000,), \"int32\"), Y: T.Buffer((2000,), \"int32\"), "                  \
    "Z: T.Buffer((400, 4), \"int32\")):\n"

static const struct row {
    const char *name, *text;
    const char *expected; /* behind the pass */
} rows[] = {
    {"channels of pixels",
     HEAD "    for i in range(400):\n"
          "        for c in T.vectorized(3):\n"
          "            Y[i * 3 + c] = A[i * 3 + c] * A[c]\n",              "    for part in range(50):\n"
     "        for c in T.vectorized(24):\n"             },
    {"which do not end with a vector",
     HEAD "    for i in range(401):\n"
          "        for c in T.vectorized(3):\n"
          "            Y[i * 3 + c] = A[c] + Y[i * 3 + c]\n",              "    for part in range(51):\n"
     "        for c in T.vectorized(24):\n"
     "            if part * 24 + c < 1203:\n"           },
    {"in rows, backwards and side by side",
     HEAD "    for y in T.parallel(20):\n"
          "        for i in range(20):\n"
          "            for c in T.vectorized(4):\n"
          "                Z[y * 20 + i, c] = A[y * 20 + i] - A[3 - c]\n", "    for part in T.parallel(100):\n"
     "        for c in T.vectorized(16):\n"},
    {"rows that begin elsewhere end what is joined",
     HEAD "    for y in range(3):\n"
          "        for i in range(40):\n"
          "            for c in T.vectorized(3):\n"
          "                Y[y * 200 + i * 3 + c] = A[i * 3 + c]\n",       "    for y, part in T.grid(3, 5):\n"
     "        for c in T.vectorized(24):\n"      },
    {"what others share ends it as well",
     HEAD "    for y in range(10):\n"
          "        for i in range(40):\n"
          "            for c in T.vectorized(3):\n"
          "                Y[y * 120 + i * 3 + c] = A[i * 3 + c]\n",       "    for y, part in T.grid(10, 5):\n"     },
    {"rows that lie apart",
     HEAD "    for i in range(400):\n"
          "        for c in T.vectorized(3):\n"
          "            Z[i, c] = A[i * 3 + c]\n",                          "        for c in T.vectorized(3):\n"     },
    {"what other iterations write",
     HEAD "    for i in range(400):\n"
          "        for c in T.vectorized(3):\n"
          "            Y[i * 3 + c + 3] = Y[i * 3 + c] + 1\n",             "        for c in T.vectorized(3):\n"     },
    {"places that are looked up",
     HEAD "    for i in range(400):\n"
          "        for c in T.vectorized(3):\n"
          "            Y[i * 3 + c] = A[A[i] % 7 + c]\n",                  "        for c in T.vectorized(3):\n"     },
    {"places far apart",
     HEAD "    for i in range(60):\n"
          "        for c in T.vectorized(3):\n"
          "            Y[i * 3 + c] = A[i * 30 + c]\n",                    "        for c in T.vectorized(3):\n"     },
    {"memory of an iteration around",
     HEAD "    for o in range(2):\n"
          "        L = T.alloc_buffer((600,), \"int32\")\n"
          "        for i in range(200):\n"
          "            for c in T.vectorized(3):\n"
          "                L[i * 3 + c] = A[i * 3 + c + o]\n"
          "        Y[o] = L[o + 7]\n",                                     "            for c in T.vectorized(3):\n" },
    {"a whole vector",
     HEAD "    for i in range(200):\n"
          "        for c in T.vectorized(8):\n"
          "            Y[i * 8 + c] = A[i * 8 + c]\n",                     "        for c in T.vectorized(8):\n"     },
    {"a few of them",
     HEAD "    for i in range(15):\n"
          "        for c in T.vectorized(3):\n"
          "            Y[i * 3 + c] = A[i * 3 + c]\n",                     "        for c in T.vectorized(3):\n"     },
    {"a loop that unrolls",
     HEAD "    for i in T.unroll(400):\n"
          "        for c in T.vectorized(3):\n"
          "            Y[i * 3 + c] = A[i * 3 + c]\n",                     "        for c in T.vectorized(3):\n"     },
};

static hone_status look_after(void *ctx, const char *pass, const hone_func *func) {
    return strcmp(pass, "join") == 0 ? hone_func_print(func, NULL, ctx) : HONE_OK;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    hone_target target;
    hone_func *lowered = NULL;
    hone_str printed = {0}, why = {0};
    const hone_func *func = hone_test_parse(row->text, &module);
    HONE_ASSERT_OK(hone_target_parse("x86-64-v3", &target));
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_lower_options options = {.target = &target, .ctx = &printed, .after = look_after};
    hone_status st = hone_lower_func(func, &options, arena, &lowered);
    if (!st && !strstr(hone_str_text(&printed), row->expected))
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&printed));
    if (!st && !hone_test_agrees(func, lowered, 3, &why))
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&why));
    hone_str_deinit(&printed);
    hone_str_deinit(&why);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

int main(void) {
    return HONE_RUN_ROWS("lower/join", rows, check_row);
}
