/* What tests take for the same result: rounding may make another one of a small sum of large terms,
 * a missing or a wrong term is never rounding. */
#include "tests/support/hone_test.h"

#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

/* X summed up in some order, less X summed up from its begin. */
#define DIFFERENCE(first)                                                                          \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((128,)), Y: T.Buffer((1,))):\n"                                          \
    "    S = T.alloc_buffer((2,))\n"                                                               \
    "    for i in range(2):\n"                                                                     \
    "        S[i] = T.float32(0)\n"                                                                \
    "    for k in range(128):\n"                                                                   \
    "        S[0] = S[0] + " first "\n"                                                            \
    "    for k in range(128):\n"                                                                   \
    "        S[1] = S[1] + X[k] * T.float32(64)\n"                                                 \
    "    Y[0] = S[0] - S[1]\n"

static const struct row {
    const char *name, *text;
    bool agrees;
} rows[] = {
    {"the same order",        DIFFERENCE("X[k] * T.float32(64)"),                                  true },
    {"from the end",          DIFFERENCE("X[127 - k] * T.float32(64)"),                            true },
    {"every other one first", DIFFERENCE("X[k % 64 * 2 + k // 64] * T.float32(64)"),               true },
    {"one is missing",        DIFFERENCE("T.Select(k == 77, T.float32(0), X[k] * T.float32(64))"), false},
    {"one is there twice",    DIFFERENCE("X[T.min(k, 126)] * T.float32(64)"),                      false},
    {"one is too large",
     DIFFERENCE("T.Select(k == 77, X[k] * T.float32(96), X[k] * T.float32(64))"),                  false},
};

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *base_module = NULL, *module = NULL;
    const hone_func *base = hone_test_parse(DIFFERENCE("X[k] * T.float32(64)"), &base_module);
    const hone_func *func = hone_test_parse(row->text, &module);
    uint32_t count = 0;
    for (uint64_t seed = 1; seed <= 20; seed++)
        count += hone_test_agrees(base, func, seed, NULL);
    hone_module_release(module);
    hone_module_release(base_module);
    assert_int_equal(count, row->agrees ? 20 : 0);
}

int main(void) {
    return HONE_RUN_ROWS("ir/program_agree", rows, check_row);
}
