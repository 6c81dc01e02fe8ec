/* tests/codegen/test_ptx.c - device functions as PTX: what the text must hold, and that ptxas takes
 * it for three architectures (where it is installed; else that part is passed over). The table that
 * is printed says what each kernel takes. HONE_PTX_DIR: a folder for what a machine with a card
 * needs to run them (ptx_case.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "lower/ground/lower.h"
#include "support/core/attributes.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/ptx_case.h"

static const char *const architectures[] = {"sm_75", "sm_80", "sm_90a"};

#define ONE_BUFFER(dtype)                                                                          \
    "(A: T.Buffer((1024,), \"" dtype "\"), B: T.Buffer((1024,), \"" dtype "\"))"
#define THREADS                                                                                    \
    "    for i in T.thread_binding(8, thread=\"blockIdx.x\"):\n"                                   \
    "        for j in T.thread_binding(128, thread=\"threadIdx.x\"):\n"
#define MAP(dtype, value)                                                                          \
    "@T.prim_func\ndef main" ONE_BUFFER(dtype) ":\n" THREADS "            B[i * 128 + j] = " value \
                                               "\n"
#define ATOMIC(dtype, call)                                                                        \
    "@T.prim_func\ndef main" ONE_BUFFER(dtype) ":\n" THREADS "            T.call_extern(\"" dtype  \
                                               "\", \"" call                                       \
                                               "\", T.address_of(B[j % 8]), A[i * 128 + j])\n"

#define ONE_WARP                                                                                   \
    "    for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"                                   \
    "        for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"

/* One tile as fragments. */
#define WMMA(m, n, k, from, to, a_layout, a_stride, b_layout, b_stride)                            \
    "@T.prim_func\ndef main(A: T.Buffer((" m ", " k "), \"" from "\"), B: T.Buffer((" k ", " n     \
    "), \"" from "\"), C: T.Buffer((" m ", " n "), \"" to "\")):\n" ONE_WARP                       \
    "            FA = T.alloc_buffer((512,), \"" from "\", scope=\"wmma.matrix_a\")\n"             \
    "            FB = T.alloc_buffer((512,), \"" from "\", scope=\"wmma.matrix_b\")\n"             \
    "            FC = T.alloc_buffer((512,), \"" to "\", scope=\"wmma.accumulator\")\n"            \
    "            T.tvm_fill_fragment(FC.data, " m ", " n ", " k ", 0, T.Cast(\"" to "\", 2))\n"    \
    "            T.tvm_load_matrix_sync(FA.data, " m ", " n ", " k                                 \
    ", 0, T.address_of(A[0, 0]), " a_stride ", \"" a_layout "\")\n"                                \
    "            T.tvm_load_matrix_sync(FB.data, " m ", " n ", " k                                 \
    ", 0, T.address_of(B[0, 0]), " b_stride ", \"" b_layout "\")\n"                                \
    "            T.tvm_mma_sync(FC.data, 0, FA.data, 0, FB.data, 0, FC.data, 0)\n"                 \
    "            T.tvm_store_matrix_sync(FC.data, " m ", " n ", " k                                \
    ", 0, T.address_of(C[0, 0]), " n ", \"row_major\")\n"

/* One mma, whose registers each lane fills as the layout says. */
#define MMA(m, k, run, half, a, b, c, from, to, words)                                             \
    "@T.prim_func\ndef main(A: T.Buffer((" m ", " k "), \"" from "\"), B: T.Buffer((8, " k         \
    "), \"" from "\"), C: T.Buffer((" m ", 8), \"" to "\")):\n" ONE_WARP                           \
    "            RA = T.alloc_buffer((" a ",), \"" from "\", scope=\"local\")\n"                   \
    "            RB = T.alloc_buffer((" b ",), \"" from "\", scope=\"local\")\n"                   \
    "            RC = T.alloc_buffer((" c ",), \"" to "\", scope=\"local\")\n"                     \
    "            for l in range(" a "):\n"                                                         \
    "                RA[l] = A[t // 4 + 8 * (l // " run " % " half "), t % 4 * " run " + l % " run \
    " + 4 * " run " * (l // (" run " * " half "))]\n"                                              \
    "            for l in range(" b "):\n"                                                         \
    "                RB[l] = B[t // 4, t % 4 * " run " + l % " run " + 4 * " run " * (l // " run   \
    ")]\n"                                                                                         \
    "            T.cuda.mma_fill_legacy(" c ", RC.data, 0, dtype=\"" to "\")\n"                    \
    "            T.ptx_legacy.mma(\"m" m "n8k" k "\", \"row\", \"col\", " words                    \
    ", RA.data, 0, RB.data, 0, RC.data, 0, T.bool(False), dtype=\"" to "\")\n"                     \
    "            for l in range(" c "):\n"                                                         \
    "                C[t // 4 + 8 * (l // 2), 2 * (t % 4) + l % 2] = RC[l]\n"

#define PTX_PROGRAM(name, text) static const char name[] = text;
#include "tests/codegen/ptx_rows.def"
#undef PTX_PROGRAM

static const struct row {
    const char *name;
    int least; /* compute capability */
    const char *text, *wanted;
} rows[] = {
#define PTX_ROW(name, least, text, wanted) {name, least, text, wanted},
#include "tests/codegen/ptx_rows.def"
#undef PTX_ROW
};

/* ---- ptxas ---- */

static const char *assembler(void) {
    static const char *const paths[] = {"/usr/bin/ptxas", "/usr/local/cuda/bin/ptxas"};
    for (size_t i = 0; i < HONE_COUNT(paths); i++) {
        if (access(paths[i], X_OK) == 0) return paths[i];
    }
    return NULL;
}

/* "Used 24 registers, …" of what ptxas says. */
static void print_use(const char *name, const char *architecture, const char *said) {
    const char *used = strstr(said, "Used "), *spills = strstr(said, "bytes stack frame");
    const char *end = used ? strchr(used, '\n') : NULL;
    const char *line = spills;
    while (line && line > said && line[-1] != '\n')
        line--;
    printf("%-16s %-7s %.*s;%.*s\n", name, architecture, used && end ? (int)(end - used) : 0, used,
           line ? (int)strcspn(line, "\n") : 0, line ? line : "");
}

static hone_status assemble(const struct row *row, const char *architecture, const hone_str *text) {
    const char *tool = assembler();
    char path[64], arch[32];
    if (!tool) return HONE_OK;
    snprintf(path, sizeof path, "/tmp/hone-ptx-%d.ptx", (int)getpid());
    snprintf(arch, sizeof arch, "-arch=%s", architecture);
    HONE_TRY(hone_fs_write_atomic(path, hone_str_text(text), text->length));
    const char *const argv[] = {tool, arch, "-v", path, "-o", "/dev/null", NULL};
    const hone_clock *clock = hone_clock_system();
    hone_str said = {0};
    hone_proc proc;
    hone_status st = hone_proc_run(
        argv, 1 << 16, clock, hone_deadline_after(clock, 100 * HONE_NS_PER_S), &said, &said, &proc);
    if (!st && proc.exit_code != 0) {
        st = HONE_ERROR(HONE_CODE_INVALID, "ptxas: %s", hone_str_text(&said));
    }
    if (!st) print_use(row->name, architecture, hone_str_text(&said));
    unlink(path);
    hone_str_deinit(&said);
    return st;
}

/* ---- */

static hone_status keep(const struct row *row, const hone_func *func, const char *architecture,
                        const hone_str *text) {
    const char *dir = getenv("HONE_PTX_DIR");
    char name[128];
    snprintf(name, sizeof name, "%s-%s", row->name, architecture);
    for (char *c = name; *c; c++)
        if (*c == ' ') *c = '_';
    return dir ? test_ptx_keep(dir, name, func, text) : HONE_OK;
}

static hone_status check_holds(const struct row *row, const hone_str *text, hone_arena *arena) {
    for (const char *at = row->wanted, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "|");
        bool is_absent = *at == '!';
        const char *part =
            hone_arena_printf(arena, "%.*s", (int)(end - at) - is_absent, at + is_absent);
        if (!part) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
        if ((strstr(hone_str_text(text), part) == NULL) == is_absent) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' in\n%s", part, hone_str_text(text));
    }
    return HONE_OK;
}

static hone_status check_on(const struct row *row, const hone_func *func, const char *architecture,
                            hone_arena *arena) {
    hone_target target;
    hone_func *lowered;
    hone_str text = {0};
    const char *name = hone_arena_printf(arena, "cuda -arch=%s", architecture);
    if (!name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    HONE_TRY(hone_target_parse(name, &target));
    hone_lower_options options = {.target = &target};
    HONE_TRY(hone_lower_func(func, &options, arena, &lowered));
    hone_codegen_kernel kernel = {.func = lowered, .symbol = "kernel"};
    hone_codegen_options codegen = {.target = &target, .form = HONE_FORM_SOURCE, .verify = true};
    hone_status st = hone_codegen_ptx(&kernel, 1, &codegen, &text);
    if (!st) st = check_holds(row, &text, arena);
    if (!st) st = assemble(row, architecture, &text);
    if (!st) st = keep(row, func, architecture, &text);
    hone_str_deinit(&text);
    return hone_status_annotate(st, "%s", architecture);
}

static void check(void **state) {
    const struct row *row = *state;
    hone_module *module;
    const hone_func *func = hone_test_parse(row->text, &module);
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = HONE_OK;
    for (size_t i = 0; i < HONE_COUNT(architectures) && !st; i++)
        if (atoi(architectures[i] + 3) >= row->least)
            st = check_on(row, func, architectures[i], arena);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

int main(void) {
    if (!assembler()) printf("no ptxas: its part is passed over\n");
    return HONE_RUN_ROWS("codegen/ptx", rows, check);
}
