/* tests/lower/pass_rows.h - programs as they are behind a pass, in rows. */
#ifndef HONE_TESTS_LOWER_PASS_ROWS_H
#define HONE_TESTS_LOWER_PASS_ROWS_H

#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((64,), \"int32\"), Y: T.Buffer((64,), \"int32\"), n: T.int32):\n"
/* HEAD with longer buffers. */
#define LONG_HEAD                                                                                  \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((400,), \"int32\"), Y: T.Buffer((2000,), \"int32\"), n: T.int32):\n"

struct row {
    const char *name, *text;
    const char *expected; /* in the program behind the pass; the body begins at 4 columns */
};

/* Lowers the text of a row for x86-64-v3, or a GPU where it binds threads; fails, and shows the
 * program, where it is not as expected behind the pass. */
void hone_check_behind_pass(const struct row *row, const char *pass);

#endif
