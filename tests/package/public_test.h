/* tests/package/public_test.h - what the tests of the public interface share. */
#ifndef HONE_TESTS_PUBLIC_TEST_H
#define HONE_TESTS_PUBLIC_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hone/hone.h>

#include "tests/support/hone_test.h"

static const char product[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64, 64), \"float32\"),\n"
    "         C: T.Buffer((64, 64), \"float32\")):\n"
    "    for i, j, k in T.grid(64, 64, 64):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

static inline hone_program *public_parse(const char *text) {
    hone_program *program = NULL;
    hone_error *error = hone_program_parse(text, "test.py", &program);
    if (error) print_message("%s\n", hone_error_message(error));
    assert_null(error);
    return program;
}

/* An error of that kind with that part in its words; frees it. */
static inline void public_expect(hone_error *error, const char *kind, const char *part) {
    bool is_right = error && strcmp(hone_error_kind(error), kind) == 0 &&
                    strstr(hone_error_message(error), part) != NULL;
    if (!is_right) {
        print_message("%s: %s; wanted %s: %s\n", hone_error_kind(error), hone_error_message(error),
                      kind, part);
    }
    hone_error_free(error);
    assert_true(is_right);
}

/* Success, or the message is shown. */
static inline void public_ok(hone_error *error) {
    if (error) print_message("%s: %s\n", hone_error_kind(error), hone_error_message(error));
    bool is_ok = !error;
    hone_error_free(error);
    assert_true(is_ok);
}

/* The program as text holds the part. */
static inline void public_prints(const hone_program *program, const char *part) {
    char *text = NULL;
    public_ok(hone_program_print(program, &text));
    bool is_there = strstr(text, part) != NULL;
    if (!is_there) print_message("no '%s' in\n%s", part, text);
    hone_text_free(text);
    assert_true(is_there);
}

/* Where a test of this process may write. */
static inline void public_path(char *out, size_t bytes, const char *name) {
    snprintf(out, bytes, "%s/tests/public_%ld_%s", getenv("HONE_BUILD_DIR"), (long)getpid(), name);
}

/* With what lies beside it. */
static inline void public_remove_database(const char *path) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < HONE_COUNT(endings); i++) {
        char full[512];
        snprintf(full, sizeof full, "%s%s", path, endings[i]);
        unlink(full);
    }
}

#endif
