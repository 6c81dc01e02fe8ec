/* tests/builder/test_builder_held.c - C text of a stranger's schedule (pragma_import_c) reaches
 * nothing but the toolchain, and ends when it takes too much.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/builder.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

#define SECRET "key-material-0123456789"

static char dir[64], secret_path[128], output_path[128];

static const char program[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
    "    for i in T.serial(64, annotations={\"pragma_import_c\": \"$\"}):\n"
    "        with T.block(\"B\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            B[vi] = A[vi] * T.float32(2)\n";

/* In the text, @ is the file with the secret. */
/* clang-format off */
static const struct row {
    const char *name, *text;
    hone_failure want;
    const char *message; /* a part of it */
} rows[] = {
    {"headers may be read",
     "#include <math.h>\\nint f(int x) { return x + 1; }",
     HONE_FAILURE_NONE, ""},
    {"include of a key",
     "#include \\\"@\\\"",
     HONE_FAILURE_BUILD_ERROR, "Permission denied"},
    {"include of /etc/shadow",
     "#include \\\"/etc/shadow\\\"",
     HONE_FAILURE_BUILD_ERROR, "Permission denied"},
    {"include through a link of /proc",
     "#include \\\"/proc/self/root/etc/passwd\\\"",
     HONE_FAILURE_BUILD_ERROR, "Permission denied"},
    {"include from the environment of another",
     "#include \\\"/proc/1/environ\\\"",
     HONE_FAILURE_BUILD_ERROR, "Permission denied"},
    {"incbin of a key",
     "__asm__(\\\".incbin \\\\\\\"@\\\\\\\"\\\");",
     HONE_FAILURE_BUILD_ERROR, "file not found"},
    {"includes itself",
     "#include __FILE__",
     HONE_FAILURE_BUILD_ERROR, "from text0.c"},
    {"ten gigabytes of output",
     "__asm__(\\\".data\\\\n.rept 10000000\\\\n.space 1000, 1\\\\n.endr\\\");",
     HONE_FAILURE_BUILD_ERROR, ""},
    {"expands without end",
     "#define A(x) x x x x x x x x\\n#define B(x) A(A(A(A(x))))\\n"
     "int f(void) { return 0 B(B(B(+ 1))); }",
     HONE_FAILURE_BUILD_ERROR, "pragma_import_c: cc"},
    {"calls what is nowhere",
     "int nowhere_at_all(int x);\\nint f(int x) { return nowhere_at_all(x); }",
     HONE_FAILURE_BUILD_ERROR, "nowhere_at_all"},
};
/* clang-format on */

static hone_builder *builder;

/* `text` with `value` for each `mark`. */
static void put(const char *text, char mark, const char *value, hone_str *out) {
    for (; *text; text++) {
        if (*text == mark) {
            hone_str_append(out, value);
        } else {
            hone_str_append_char(out, *text);
        }
    }
}

static void build(const char *text, hone_arena *arena, hone_build_result *out_result) {
    hone_str with_path = {0}, whole = {0};
    hone_ticket sent, got;
    put(text, '@', secret_path, &with_path);
    put(program, '$', hone_str_text(&with_path), &whole);
    const hone_build_request request = {.program = hone_str_text(&whole),
                                        .target = "host",
                                        .entry = "kernel",
                                        .output_path = output_path};
    HONE_ASSERT_OK(hone_builder_submit(builder, &request, &sent));
    HONE_ASSERT_OK(hone_builder_next_result(builder, INT64_MAX, arena, &got, out_result));
    assert_int_equal(sent, got);
    hone_str_deinit(&with_path);
    hone_str_deinit(&whole);
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_arena *arena = hone_arena_create(4096);
    hone_build_result result;
    build(row->text, arena, &result);
    const char *message = result.message ? result.message : "";
    bool is_right =
        result.failure == row->want && strstr(message, row->message) && !strstr(message, SECRET);
    if (!is_right) {
        print_message("%s: %s (%s)\n", row->name, hone_failure_name(result.failure), message);
    }
    hone_arena_destroy(arena);
    assert_true(is_right);
    assert_int_equal(hone_fs_exists(output_path), row->want == HONE_FAILURE_NONE);
    if (row->want == HONE_FAILURE_NONE) HONE_ASSERT_OK(hone_fs_remove_file(output_path));
}

int main(void) {
    snprintf(dir, sizeof dir, "/tmp/hone-held-XXXXXX");
    if (!mkdtemp(dir)) return 1;
    snprintf(secret_path, sizeof secret_path, "%s/secret.key", dir);
    snprintf(output_path, sizeof output_path, "%s/kernel.so", dir);
    const hone_builder_local_options options = {.worker_path = hone_test_build_path("hone-worker")};
    hone_status st = hone_fs_write_atomic(secret_path, SECRET, strlen(SECRET));
    if (!st) st = hone_builder_create_local(&options, &builder);
    if (hone_status_consume(st) != HONE_CODE_OK) return 1;
    int failed = HONE_RUN_ROWS("builder/held", rows, check_row);
    hone_builder_release(builder);
    hone_status_free(hone_fs_remove_tree(dir));
    return failed;
}
