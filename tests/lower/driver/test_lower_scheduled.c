/* tests/lower/driver/test_lower_scheduled.c - programs that a trace has shaped (caches, compute_at,
 * reductions, odd sizes) mean the same after every pass as the program before the trace. */
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

#define MATMUL(n, m, k)                                                                            \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((" n ", " k "), \"float32\"), B: T.Buffer((" k ", " m                    \
    "), \"float32\"), D: T.Buffer((" n ", " m "), \"float32\")):\n"                                \
    "    C = T.alloc_buffer((" n ", " m "))\n"                                                     \
    "    for i, j, k in T.grid(" n ", " m ", " k "):\n"                                            \
    "        with T.block(\"C\"):\n"                                                               \
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                  \
    "            with T.init():\n"                                                                 \
    "                C[vi, vj] = T.float32(0)\n"                                                   \
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"                                  \
    "    for i, j in T.grid(" n ", " m "):\n"                                                      \
    "        with T.block(\"D\"):\n"                                                               \
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"                                          \
    "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n"

#define TILE(ti, tj, tk)                                                                           \
    "c = sch.get_block(name=\"C\", func_name=\"main\")\n"                                          \
    "d = sch.get_block(name=\"D\", func_name=\"main\")\n"                                          \
    "i, j, k = sch.get_loops(block=c)\n"                                                           \
    "i0, i1 = sch.split(loop=i, factors=[None, " ti "])\n"                                         \
    "j0, j1 = sch.split(loop=j, factors=[None, " tj "])\n"                                         \
    "k0, k1 = sch.split(loop=k, factors=[None, " tk "])\n"                                         \
    "sch.reorder(i0, j0, k0, i1, k1, j1)\n"

/* Two stages of which the first is computed where the second needs it. */
#define BLUR                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((37,), \"float32\"), C: T.Buffer((33,), \"float32\")):\n"                \
    "    B = T.alloc_buffer((35,))\n"                                                              \
    "    for i in range(35):\n"                                                                    \
    "        with T.block(\"B\"):\n"                                                               \
    "            vi = T.axis.spatial(35, i)\n"                                                     \
    "            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]\n"                                          \
    "    for i in range(33):\n"                                                                    \
    "        with T.block(\"C\"):\n"                                                               \
    "            vi = T.axis.spatial(33, i)\n"                                                     \
    "            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]\n"

/* A reduction whose axes are fused and cut: its predicate speaks of all loops at once. */
#define FUSED_SUM                                                                                  \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((7, 13), \"float32\"), C: T.Buffer((7, 6), \"float32\")):\n"             \
    "    for i, j, k in T.grid(7, 6, 2):\n"                                                        \
    "        with T.block(\"C\"):\n"                                                               \
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                  \
    "            with T.init():\n"                                                                 \
    "                C[vi, vj] = T.float32(-10)\n"                                                 \
    "            C[vi, vj] = T.max(C[vi, vj], A[vi, vj * 2 + vk])\n"

/* clang-format off */
static const struct row {
    const char *name, *program, *trace;
    const char *buffer;    /* that must have shrunk */
    int64_t most_elements; /* to at most so many elements */
} rows[] = {
    {"tiled, producer inside", MATMUL("32", "32", "16"),
     TILE("8", "16", "4") "sch.reverse_compute_at(block=d, loop=j0)\n", "C", 128},
    {"decomposed, vectors", MATMUL("32", "32", "16"),
     TILE("8", "16", "4") "sch.reverse_compute_at(block=d, loop=j0)\n"
                          "sch.decompose_reduction(block=c, loop=k0)\nsch.vectorize(loop=j1)\n"
                          "sch.unroll(loop=i1)\nsch.parallel(loop=i0)\n",
     "C", 128},
    {"cache_write", MATMUL("16", "32", "8"),
     TILE("4", "8", "4") "w = sch.cache_write(block=c, write_buffer_index=0, "
                         "storage_scope=\"global\")\nsch.reverse_compute_at(block=w, loop=j0)\n",
     "C_global", 32},
    {"cache_read", MATMUL("16", "32", "8"),
     TILE("4", "8", "4") "r = sch.cache_read(block=c, read_buffer_index=1, "
                         "storage_scope=\"global\")\nsch.compute_at(block=r, loop=k0)\n",
     "B_global", 32},
    {"odd sizes, vectors", MATMUL("7", "13", "5"),
     TILE("4", "8", "2") "sch.vectorize(loop=j1)\nsch.unroll(loop=i1)\n", "C", 91},
    {"odd sizes, decomposed", MATMUL("19", "29", "5"),
     TILE("4", "8", "3") "sch.decompose_reduction(block=c, loop=k0)\nsch.vectorize(loop=j1)\n"
                         "sch.unroll(loop=i1)\nsch.parallel(loop=i0)\n",
     "C", 551},
    {"cache_read, odd sizes", MATMUL("7", "13", "5"),
     TILE("2", "8", "3") "r = sch.cache_read(block=c, read_buffer_index=1, "
                         "storage_scope=\"global\")\nsch.compute_at(block=r, loop=k0)\n",
     "B_global", 24},
    {"window inside", BLUR,
     "b = sch.get_block(name=\"B\", func_name=\"main\")\n"
     "c = sch.get_block(name=\"C\", func_name=\"main\")\n"
     "i, = sch.get_loops(block=c)\ni0, i1 = sch.split(loop=i, factors=[None, 8])\n"
     "sch.compute_at(block=b, loop=i0)\n",
     "B", 10},
    {"window inside, one by one", BLUR,
     "b = sch.get_block(name=\"B\", func_name=\"main\")\n"
     "c = sch.get_block(name=\"C\", func_name=\"main\")\n"
     "i, = sch.get_loops(block=c)\nsch.compute_at(block=b, loop=i)\n",
     "B", 3},
    {"fused with its reduction and cut", FUSED_SUM,
     "c = sch.get_block(name=\"C\", func_name=\"main\")\n"
     "i, j, k = sch.get_loops(block=c)\n"
     "f = sch.fuse(i, j, k)\n"
     "f0, f1, f2 = sch.split(loop=f, factors=[None, 4, 2])\n",
     "C", 42},
    {"producer under the same tail in lanes", BLUR,
     "b = sch.get_block(name=\"B\", func_name=\"main\")\n"
     "c = sch.get_block(name=\"C\", func_name=\"main\")\n"
     "i, = sch.get_loops(block=c)\n"
     "i0, i1 = sch.split(loop=i, factors=[None, 4])\n"
     "sch.reorder(i1, i0)\n"
     "sch.vectorize(loop=i1)\n"
     "sch.compute_at(block=b, loop=i0)\n",
     "B", 3},
};
/* clang-format on */

typedef struct after_pass {
    const hone_func *base;
    hone_tensor **want;
    const struct row *row;
    int64_t elements;
} after_pass;

static hone_status check_pass(void *ctx, const char *pass, const hone_func *func) {
    after_pass *a = ctx;
    hone_tensor **got = hone_test_make_args(a->base, 1);
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    hone_str why = {0};
    if (!st && !hone_test_args_agree(a->base, 1, got, a->want, &why)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&why));
    }
    hone_str_clear(&why);
    if (st && !hone_func_print(func, NULL, &why)) fputs(hone_str_text(&why), stderr);
    hone_str_deinit(&why);
    hone_test_free_args(a->base, got);
    for (uint32_t i = 0; i < func->buffer_count && strcmp(pass, "compact") == 0; i++) {
        if (strcmp(func->buffers[i].name, a->row->buffer) != 0) continue;
        a->elements = hone_buffer_elements(&func->buffers[i]);
    }
    return hone_status_annotate(st, "after %s", pass);
}

static hone_status lower(const struct row *row, const hone_func *base, hone_schedule *sch,
                         hone_arena *arena, int64_t *out_elements) {
    hone_trace trace;
    hone_target target;
    HONE_TRY(hone_target_parse("x86-64-v3", &target));
    HONE_TRY(hone_trace_parse_python(arena, row->trace, strlen(row->trace), "trace", &trace));
    sch->wants_reasons = true;
    hone_apply_options apply = {0};
    HONE_TRY(hone_trace_apply(&trace, sch, &apply));
    hone_tensor **want = hone_test_make_args(base, 1);
    hone_interp_options interp = {0};
    hone_status st = hone_interp_func(base, want, base->param_count, &interp);
    after_pass ctx = {base, want, row, INT64_MAX};
    hone_lower_options options = {.target = &target, .after = check_pass, .ctx = &ctx};
    hone_func *lowered;
    if (!st) st = hone_lower_func(sch->func, &options, arena, &lowered);
    *out_elements = ctx.elements;
    hone_test_free_args(base, want);
    return st;
}

static void keeps_the_meaning(void **state) {
    const struct row *row = *state;
    hone_module *module;
    HONE_ASSERT_OK(hone_script_parse(row->program, strlen(row->program), "program", &module));
    const hone_member *member;
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    hone_schedule *sch = NULL;
    int64_t elements = INT64_MAX;
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = hone_schedule_create(member->func, &sch);
    if (!st) st = lower(row, member->func, sch, arena, &elements);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    if (elements > row->most_elements) {
        fail_msg("'%s' has %lld elements, at most %lld are touched at a time", row->buffer,
                 (long long)elements, (long long)row->most_elements);
    }
}

int main(void) {
    return HONE_RUN_ROWS("lower/scheduled", rows, keeps_the_meaning);
}
