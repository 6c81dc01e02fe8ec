/* tests/codegen/test_lines.c - line tables, as LLVM's own tools read them: every store of the
 * lowered program has code, the source that objdump shows is that program, and the code is the same
 * without them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build_one.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/support/hone_test.h"

#define HEAD "from tvm.script import tir as T\n@T.prim_func\n"

/* clang-format off */
static const struct row {
    const char *name, *program, *target;
} rows[] = {
    {"a vectorized loop",
     HEAD "def main(A: T.Buffer((1024,), \"float32\"), B: T.Buffer((1024,), \"float32\")):\n"
          "    for i in range(64):\n"
          "        for j in T.vectorized(16):\n"
          "            B[i * 16 + j] = A[i * 16 + j] * T.float32(2)\n",
     "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4"},
    {"parallel loops, and memory between them",
     HEAD "def main(A: T.Buffer((512, 64), \"float32\"), B: T.Buffer((512, 64), \"float32\")):\n"
          "    S = T.alloc_buffer((512, 64), \"float32\")\n"
          "    for i in T.parallel(512):\n"
          "        for j in range(64):\n"
          "            S[i, j] = T.exp(A[i, j])\n"
          "    for i in T.parallel(512):\n"
          "        for j in range(64):\n"
          "            B[i, j] = S[i, 63 - j] + T.sin(A[i, j])\n",
     "host"},
    {"branches, jumps and sizes of the call",
     HEAD
     "def main(a: T.handle, B: T.Buffer((10,), \"float32\"), C: T.Buffer((10,), \"float32\")):\n"
     "    n = T.int32()\n"
     "    A = T.match_buffer(a, (n,), \"float32\")\n"
     "    for i in range(10):\n"
     "        if i < n:\n"
     "            B[i] = A[i]\n"
     "        else:\n"
     "            C[i] = T.float32(3)\n"
     "    assert n > 2, \"too short\"\n",
     "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64"},
    {"another architecture",
     HEAD "def main(A: T.Buffer((1024,), \"float32\"), B: T.Buffer((1024,), \"float32\")):\n"
          "    for i in range(1024):\n"
          "        B[i] = A[i] - T.float32(2)\n",
     "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"},
};
/* clang-format on */

static const char *tool(const char *name, char room[64]) {
    static const char *const endings[] = {"-19", ""};
    for (size_t i = 0; i < 2; i++) {
        snprintf(room, 64, "/usr/bin/%s%s", name, endings[i]);
        if (hone_fs_exists(room)) return room;
    }
    return NULL;
}

/* What the tool says of the object; out is NULL when that failed. */
static void look(const char *name, const char *const *options, const char *path, hone_str *out) {
    char room[64];
    const char *argv[8] = {tool(name, room)};
    size_t count = 1;
    while (*options)
        argv[count++] = *options++;
    argv[count] = path;
    const hone_clock *clock = hone_clock_system();
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_run(argv, 1 << 22, clock,
                                 hone_deadline_after(clock, 60 * HONE_NS_PER_S), out, NULL, &proc));
    assert_int_equal(proc.exit_code, 0);
}

static void compile(const struct row *row, const char *object, const char *lines) {
    hone_build_request request = {.program = row->program,
                                  .target = row->target,
                                  .entry = "kernel",
                                  .emit = "obj",
                                  .output_path = object,
                                  .lines_path = lines};
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_str bytes = {0};
    hone_build_result result;
    hone_build_run(&request, arena, &bytes, &result);
    hone_failure failure = result.failure;
    if (failure) print_message("%s\n", result.message);
    hone_str_deinit(&bytes);
    hone_arena_destroy(arena);
    assert_int_equal(failure, HONE_FAILURE_NONE);
}

/* "B_1[i * 16] = " is the text of a store; a name for an index may need no code of its own. */
static bool is_store(const char *line) {
    const char *assign = strstr(line, " = "), *bracket = strchr(line, '[');
    return assign && bracket && bracket < assign && !strstr(line, ": T.let[");
}

/* A row of the table begins with the address; the number behind that is the line. */
static bool has_row(const char *table, long wanted, long last) {
    for (const char *at = strstr(table, "\n0x"); at; at = strstr(at + 1, "\n0x")) {
        char *end;
        strtoul(at + 1, &end, 16);
        long line = strtol(end, NULL, 10);
        assert_in_range(line, 0, last);
        if (line == wanted) return true;
    }
    return false;
}

static void check_stores(char *text, const hone_str *table, const hone_str *source) {
    long last = 0, stores = 0;
    for (const char *at = text; *at; at++)
        last += *at == '\n';
    long number = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        number++;
        if (!is_store(line)) continue;
        stores++;
        if (!has_row(hone_str_text(table), number, last)) {
            fail_msg("no code for line %ld: %s", number, line);
        }
        if (!strstr(hone_str_text(source), line)) fail_msg("objdump does not show '%s'", line);
    }
    assert_true(stores > 0);
}

/* From the first function on: what comes before names the file. */
static const char *code_of(const hone_str *text) {
    const char *at = strstr(hone_str_text(text), "Disassembly");
    return at ? at : "";
}

static void has_lines(void **state) {
    const struct row *row = *state;
    char *dir, with[256], without[256], lines[256], *text;
    size_t length;
    hone_str table = {0}, source = {0}, plain = {0}, same = {0};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-lines-", &dir));
    snprintf(with, sizeof with, "%s/with.o", dir);
    snprintf(without, sizeof without, "%s/without.o", dir);
    snprintf(lines, sizeof lines, "%s/kernel.py", dir);
    compile(row, with, lines);
    compile(row, without, NULL);
    HONE_ASSERT_OK(hone_fs_read(lines, SIZE_MAX, &text, &length));
    look("llvm-dwarfdump", (const char *const[]){"--debug-line", NULL}, with, &table);
    look("llvm-objdump", (const char *const[]){"-d", "-l", "-S", NULL}, with, &source);
    assert_non_null(strstr(hone_str_text(&table), "kernel.py"));
    assert_non_null(strstr(hone_str_text(&source), lines));
    check_stores(text, &table, &source);
    look("llvm-objdump", (const char *const[]){"-d", NULL}, with, &same);
    look("llvm-objdump", (const char *const[]){"-d", NULL}, without, &plain);
    assert_string_equal(code_of(&same), code_of(&plain));
    hone_str_clear(&table);
    look("llvm-dwarfdump", (const char *const[]){"--debug-line", NULL}, without, &table);
    assert_false(has_row(hone_str_text(&table), 1, 0));
    hone_str *all[] = {&table, &source, &plain, &same};
    for (size_t i = 0; i < HONE_COUNT(all); i++)
        hone_str_deinit(all[i]);
    hone_free(text);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
}

int main(void) {
    char room[64];
    if (!tool("llvm-dwarfdump", room) || !tool("llvm-objdump", room)) {
        hone_test_skip_all("llvm-dwarfdump and llvm-objdump are not installed");
    }
    return HONE_RUN_ROWS("codegen/lines", rows, has_lines);
}
