/* tests/codegen/test_ptx.c - device functions as PTX: what the text must hold, and that ptxas takes
 * it for three architectures (where it is installed; else that part is passed over). The table that
 * is printed says what each kernel takes. HONE_PTX_DIR: a folder for what a machine with a card
 * needs to run them (ptx_case.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "lower/ground/lower.h"
#include "support/core/attributes.h"
#include "tests/support/gpu/cuda_tools.h"
#include "tests/support/gpu/ptx_case.h"
#include "tests/support/gpu/ptx_flight.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

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

/* ---- one kernel each ---- */

typedef struct made {
    hone_arena *arena;
    hone_module *module;
    const hone_func *func;
    hone_codegen_kernel kernel;
} made;

/* The row's name as a symbol of PTX. */
static const char *symbol_of(const struct row *row, hone_arena *arena) {
    char *name = hone_arena_strdup(arena, row->name);
    for (char *c = name; c && *c; c++)
        if (*c == ' ') *c = '_';
    return name;
}

static hone_status make(const struct row *row, const hone_target *target, const char *symbol,
                        made *out) {
    hone_func *lowered;
    hone_lower_options options = {.target = target};
    out->func = hone_test_parse(row->text, &out->module);
    hone_status st = hone_lower_func(out->func, &options, out->arena, &lowered);
    if (st) return hone_status_annotate(st, "'%s'", row->name);
    out->kernel = (hone_codegen_kernel){.func = lowered, .symbol = symbol};
    return HONE_OK;
}

static hone_status target_of(const char *architecture, hone_target *out) {
    char text[32];
    snprintf(text, sizeof text, "cuda -arch=%s", architecture);
    return hone_target_parse(text, out);
}

static bool takes(const char *architecture, const struct row *row) {
    return strtol(architecture + 3, NULL, 10) >= row->least;
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

/* What the interpreter cannot run has nothing to be compared with. */
static hone_status keep(const struct row *row, const made *m, const char *architecture,
                        const hone_str *text) {
    const char *dir = getenv("HONE_PTX_DIR");
    if (!dir) return HONE_OK;
    const char *name = symbol_of(row, m->arena);
    name = name ? hone_arena_printf(m->arena, "%s-%s", name, architecture) : NULL;
    if (!name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    hone_status st = test_ptx_keep(dir, name, m->func, text);
    if (hone_status_code(st) != HONE_CODE_UNAVAILABLE) return st;
    hone_status_free(st);
    return HONE_OK;
}

static hone_status check_on(const struct row *row, const char *architecture) {
    hone_target target;
    HONE_TRY(target_of(architecture, &target));
    made m = {.arena = hone_arena_create(1 << 16)};
    hone_str text = {0};
    unsigned products;
    hone_status st = make(row, &target, "kernel", &m);
    hone_codegen_options options = {.target = &target, .form = HONE_FORM_SOURCE, .verify = true};
    if (!st) st = hone_codegen_ptx(&m.kernel, 1, &options, &text);
    if (!st) st = check_holds(row, &text, m.arena);
    if (!st) st = test_ptx_flight(hone_str_text(&text), &products);
    if (!st) st = keep(row, &m, architecture, &text);
    hone_str_deinit(&text);
    hone_arena_destroy(m.arena);
    hone_module_release(m.module);
    return hone_status_annotate(st, "%s", architecture);
}

static void check(void **state) {
    const struct row *row = *state;
    for (size_t i = 0; i < HONE_COUNT(architectures); i++) {
        if (takes(architectures[i], row)) HONE_ASSERT_OK(check_on(row, architectures[i]));
    }
}

/* ---- all of them in one module, for ptxas ---- */

/* Per kernel: registers, shared memory, spills. */
static void print_use(const char *said) {
    for (const char *line = said, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *name = strstr(line, "Function properties for "), *use = strstr(line, "Used ");
        const char *stack = strstr(line, "bytes stack frame");
        if (name && name < end) printf("%-24.*s ", (int)(end - name - 24), name + 24);
        if (stack && stack < end) printf("%.*s; ", (int)(end - line - 4), line + 4);
        if (use && use < end) printf("%.*s\n", (int)(end - use), use);
    }
}

static hone_status assemble(const hone_test_tool *tool, const char *architecture,
                            const hone_str *text) {
    char arch[32];
    snprintf(arch, sizeof arch, "-arch=%s", architecture);
    const char *const options[] = {arch, "-v", NULL};
    hone_str said = {0};
    hone_status st = hone_test_call_tool(tool, text, ".ptx", options, &said);
    if (!st) print_use(hone_str_text(&said));
    hone_str_deinit(&said);
    return st;
}

static hone_status check_module(const hone_test_tool *tool, const char *architecture) {
    made all[HONE_COUNT(rows)] = {0};
    hone_codegen_kernel kernels[HONE_COUNT(rows)];
    size_t count = 0;
    hone_target target;
    hone_str text = {0};
    HONE_TRY(target_of(architecture, &target));
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = HONE_OK;
    for (size_t i = 0; i < HONE_COUNT(rows) && !st; i++) {
        if (!takes(architecture, &rows[i])) continue;
        all[count].arena = arena;
        st = make(&rows[i], &target, symbol_of(&rows[i], arena), &all[count]);
        kernels[count] = all[count].kernel;
        count++;
    }
    hone_codegen_options options = {.target = &target, .form = HONE_FORM_SOURCE, .verify = true};
    if (!st) st = hone_codegen_ptx(kernels, count, &options, &text);
    if (!st) st = assemble(tool, architecture, &text);
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
    for (size_t i = 0; i < count; i++)
        hone_module_release(all[i].module);
    return st;
}

static void is_taken_by_ptxas(void **state) {
    hone_test_tool tool;
    (void)state;
    if (!hone_test_find_tool("ptxas", &tool)) {
        print_message("no ptxas is installed\n");
        skip();
    }
    for (size_t i = 0; i < HONE_COUNT(architectures); i++)
        HONE_ASSERT_OK(check_module(&tool, architectures[i]));
}

/* ---- the same as CUDA C ---- */

#define CARD "sm_90a"

/* Plain C is compiled by test_device_code.c. */
static bool is_of_units(const hone_str *text) {
    return strstr(hone_str_text(text), "asm volatile") || strstr(hone_str_text(text), "nvcuda::");
}

/* Rows of groups must have a text, in the instructions that they have in PTX; others may be of
 * calls that CUDA C has no words for. */
static hone_status append_source(const struct row *row, const hone_target *target, hone_str *out) {
    made m = {.arena = hone_arena_create(1 << 16)};
    hone_str text = {0};
    const char *symbol = symbol_of(row, m.arena);
    hone_status st = make(row, target, symbol, &m);
    hone_codegen_options options = {.target = target, .form = HONE_FORM_SOURCE};
    if (!st) st = hone_codegen_cuda(&m.kernel, 1, &options, &text);
    bool is_of_groups = strncmp(row->name, "groups", 6) == 0;
    if (!st && is_of_groups && !strstr(hone_str_text(&text), "\"wgmma.mma_async.sync.aligned"))
        st = HONE_ERROR(HONE_CODE_INVALID, "'%s' has no wgmma", row->name);
    if (hone_status_code(st) == HONE_CODE_UNSUPPORTED && !is_of_groups) {
        hone_status_free(st);
        st = HONE_OK;
    } else if (!st && is_of_units(&text)) {
        hone_str_append(out, hone_str_text(&text));
    }
    hone_str_deinit(&text);
    hone_arena_destroy(m.arena);
    hone_module_release(m.module);
    return st;
}

static void is_cuda_too(void **state) {
    static const char *const options[] = {"-arch=" CARD, "-cubin", NULL};
    hone_target target;
    hone_test_tool tool;
    hone_str text = {0};
    (void)state;
    HONE_ASSERT_OK(target_of(CARD, &target));
    for (size_t i = 0; i < HONE_COUNT(rows); i++)
        HONE_ASSERT_OK(append_source(&rows[i], &target, &text));
    if (hone_test_find_tool("nvcc", &tool))
        HONE_ASSERT_OK(hone_test_call_tool(&tool, &text, ".cu", options, NULL));
    else
        print_message("no nvcc is installed\n");
    hone_str_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_taken_by_ptxas),
                                       cmocka_unit_test(is_cuda_too)};
    int bad = HONE_RUN_ROWS("codegen/ptx", rows, check);
    return bad + cmocka_run_group_tests_name("codegen/ptxas", tests, NULL, NULL);
}
