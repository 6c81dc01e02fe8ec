/* tests/ir/text/test_script_mutation.c - bad text never crashes the reader: programs cut off at
 * every byte, and with bytes and lines changed at random (fixed seeds). What still reads must
 * print, and read again. */
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *name;
} rows[] = {{"tests/programs/vector_add.py"},      {"tests/programs/matmul_relu.py"},
            {"tests/programs/tile16_intrin.py"},   {"tests/programs/mlp_dynamic.py"},
            {"tests/programs/mlp_operators.py"},   {"tests/programs/batch_matmul_relu_target.py"},
            {"tests/programs/dense_constants.py"}, {"tests/programs/statements.py"},
            {"tests/programs/symbolic_sizes.py"},  {"tests/programs/branches.py"}};

/* Reads; a failure has a message that names the place. Returns whether it was read. */
static bool survives(const char *text, size_t length) {
    hone_module *module = NULL, *copy = NULL;
    hone_status st = hone_script_parse(text, length, "m.py", &module);
    if (st) {
        bool placed = strstr(hone_status_message(st), "m.py:") != NULL;
        if (!placed) print_error("message without a place: %s\n", hone_status_message(st));
        hone_status_free(st);
        assert_true(placed);
        assert_null(module);
        return false;
    }
    hone_str out = {0};
    HONE_ASSERT_OK(hone_module_print(module, NULL, &out));
    st = hone_script_parse(out.data, out.length, "again.py", &copy);
    if (st) print_error("printed text does not read: %s\n%s", hone_status_message(st), out.data);
    hone_str difference = {0};
    bool same = st || hone_module_equal(module, copy, &difference);
    if (!same) print_error("differs when read again: %s\n%s", hone_str_text(&difference), out.data);
    hone_str_deinit(&difference);
    hone_str_deinit(&out);
    hone_module_release(module);
    hone_module_release(copy);
    HONE_ASSERT_OK(st);
    assert_true(same);
    return true;
}

static void check_truncated(void **state) {
    const struct row *row = *state;
    char *text = NULL;
    size_t length = 0;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(row->name), 1 << 20, &text, &length));
    for (size_t end = 0; end < length; end++) {
        char *part = hone_malloc(end + 1); /* so that reading beyond the end is seen */
        memcpy(part, text, end);
        survives(part, end);
        hone_free(part);
    }
    hone_free(text);
}

static const char pieces[][12] = {"(",    ")",  "[",    "]",          ":",  ",", "\n", "    ",
                                  "=",    "*",  "-",    "0",          "1",  "T", "\"", "T.min(",
                                  " if ", "\t", "{",    "}",          "//", ".", "i",  "vi",
                                  "R.",   "\\", "\xff", "9999999999", "@"};

/* One edit: a byte changed, a piece inserted, or a stretch removed. */
static size_t edit(char *text, size_t length, size_t capacity, hone_rng *rng) {
    size_t at = length ? (size_t)hone_rng_below(rng, length) : 0;
    switch (hone_rng_below(rng, 3)) {
    case 0:
        if (length) text[at] = (char)hone_rng_below(rng, 256);
        return length;
    case 1: {
        const char *piece = pieces[hone_rng_below(rng, HONE_COUNT(pieces))];
        size_t n = strlen(piece);
        if (length + n > capacity) return length;
        memmove(text + at + n, text + at, length - at);
        memcpy(text + at, piece, n);
        return length + n;
    }
    default: {
        size_t n = 1 + (size_t)hone_rng_below(rng, 12);
        if (n > length - at) n = length - at;
        memmove(text + at, text + at + n, length - at - n);
        return length - n;
    }
    }
}

static void check_edited(void **state) {
    const struct row *row = *state;
    enum { ROOM = 256 };
    uint64_t rounds = hone_test_count(1500);
    char *text = NULL;
    size_t length = 0;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(row->name), 1 << 20, &text, &length));
    char *work = hone_malloc(length + ROOM);
    assert_non_null(work);
    uint64_t first = hone_test_seed(length);
    for (uint64_t round = 0; round < rounds; round++) {
        hone_rng rng = hone_rng_from_seed(round * 131 + first);
        size_t now = length;
        memcpy(work, text, length);
        for (uint64_t n = 1 + round % 4; n > 0; n--)
            now = edit(work, now, length + ROOM, &rng);
        survives(work, now);
    }
    hone_free(work);
    hone_free(text);
}

static char *repeated(const char *head, const char *piece, size_t times, const char *tail) {
    hone_str out = {0};
    hone_str_append(&out, head);
    for (size_t i = 0; i < times; i++)
        hone_str_append(&out, piece);
    hone_str_append(&out, tail);
    return hone_str_take(&out);
}

/* Deep nesting is refused before the stack ends; long sums and chains of lets are bounded. */
static void check_deep(void **state) {
    static const char open[] = "@T.prim_func\ndef f(A: T.Buffer((4,))):\n    A[0] = ";
    static const struct {
        const char *piece, *tail;
    } deep[] = {
        {"(",            "1\n"},
        {"-",            "1\n"},
        {"not ",         "1\n"},
        {"1 if 1 else ", "1\n"},
        {"[",            "1\n"},
        {"T.exp(",       "1\n"},
        {"{1:",          "1\n"},
        {"A[0] ** ",     "1\n"},
        {"1 + ",         "1\n"},
        {"A[0] + ",      "1\n"},
        {"A[",           "1\n"}
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(deep); i++) {
        char *text = repeated(open, deep[i].piece, 20000, deep[i].tail);
        survives(text, strlen(text));
        hone_free(text);
    }
    char *lets = repeated("@T.prim_func\ndef f(A: T.Buffer((4,))):\n", "    x = A[0] + A[1]\n",
                          3000, "    A[0] = x\n");
    survives(lets, strlen(lets));
    hone_free(lets);
    char *doubling = repeated("@T.prim_func\ndef f(A: T.Buffer((4,))):\n    x = T.meta_var(A[0])\n",
                              "    x = T.meta_var(x + x)\n", 200, "    A[0] = x\n");
    survives(doubling, strlen(doubling));
    hone_free(doubling);
}

int main(void) {
    const struct CMUnitTest deep[] = {cmocka_unit_test(check_deep)};
    int failed = cmocka_run_group_tests_name("ir/script_deep", deep, NULL, NULL);
    failed += HONE_RUN_ROWS("ir/script_truncated", rows, check_truncated);
    failed += HONE_RUN_ROWS("ir/script_edited", rows, check_edited);
    return failed;
}
