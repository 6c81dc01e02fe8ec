/* tests/tuner/test_space.c - design spaces: every sketch of every workload, with random decisions
 * and after postprocessing, verifies, means what the program meant, and can be replayed from its
 * record. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "compile/first_schedule.h"
#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/verify/verify.h"
#include "schedule/replay/trace_apply.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/gpu/gpu_check.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"
#include "tests/support/workloads.h"
#include "tuner/space/space.h"

enum { SAMPLES = 4, MUTATIONS = 2, RANDOM_PROGRAMS = 150, MOST_REFUSED_PERCENT = 25 };
enum { TURN_SAMPLES = 3, RANDOM_DEFAULTS = 100 };
enum { GPU_SAMPLES = 6, GPU_PROGRAMS = 60, GPU_REFUSED_PERCENT = 60 };

static hone_target gpu;
static const hone_target target = {
    .kind = HONE_TARGET_LLVM,
    .triple = "x86_64-linux-gnu",
    .cpu = "x86-64-v3",
    .vector_bits = 256,
    .num_cores = 4,
    .num_threads = 4,
    .cache_line_bytes = 64,
    .l1d_bytes = 32768,
    .l2_bytes = 1 << 20,
};

typedef struct tally {
    uint32_t samples, refused;
} tally;

/* What is recorded makes the same program again. */
static bool replays(const hone_func *func, const hone_schedule *sch, hone_str *out_why) {
    hone_schedule *again = NULL;
    hone_status st = hone_schedule_create(func, &again);
    if (!st) st = hone_trace_apply(&sch->trace, again, NULL);
    bool is_same =
        !st && hone_hash128_equal(hone_func_hash(again->func), hone_func_hash(sch->func));
    if (!is_same) {
        hone_str_printf(out_why, "its record does not replay: %s",
                        st ? hone_status_message(st) : "another program");
    }
    hone_status_free(st);
    hone_schedule_destroy(again);
    return is_same;
}

static bool means_the_same(const hone_func *func, const hone_schedule *sch,
                           const hone_target *device, uint64_t seed, hone_str *out_why) {
    if (hone_target_is_gpu(device))
        return hone_test_gpu_is_right(func, sch->func, device, seed, out_why);
    hone_status st = hone_check_func(sch->func);
    if (st) hone_str_printf(out_why, "ill-formed: %s", hone_status_message(st));
    hone_status_free(st);
    return out_why->length == 0 && hone_test_agrees(func, sch->func, seed, out_why);
}

/* Replays a sketch and checks what came out. decisions NULL: random ones. */
static bool check_candidate(const hone_func *func, hone_schedule *sch, const hone_trace *sketch,
                            const hone_decision *decisions, const hone_target *device, tally *io,
                            hone_str *out_why) {
    hone_apply_options options = {.decisions = decisions, .resample = decisions == NULL};
    HONE_ASSERT_OK(hone_schedule_reset(sch));
    io->samples++;
    hone_status st = hone_trace_apply(sketch, sch, &options);
    if (!st) st = hone_postprocess(sch, device);
    if (st) {
        bool is_refusal = hone_status_code(st) == HONE_CODE_ILLEGAL;
        if (!is_refusal) hone_str_append(out_why, hone_status_message(st));
        hone_status_free(st);
        io->refused++;
        return is_refusal;
    }
    return means_the_same(func, sch, device, io->samples, out_why) && replays(func, sch, out_why);
}

/* Nothing is left to choose: each draw is the same program. */
static bool is_decided(const hone_trace *sketch) {
    for (uint32_t i = 0; i < sketch->count; i++) {
        if (hone_inst_is_sampling(sketch->insts[i].kind)) return false;
    }
    return true;
}

static bool check_sketch(const hone_func *func, hone_schedule *sch, const hone_trace *sketch,
                         uint32_t samples, const hone_target *device, tally *io,
                         hone_str *out_why) {
    hone_arena *arena = hone_arena_create(4096);
    bool is_good = true, is_free = !is_decided(sketch);
    for (uint32_t i = 0; i < (is_free ? samples : 1) && is_good; i++) {
        is_good = check_candidate(func, sch, sketch, NULL, device, io, out_why);
    }
    hone_trace kept;
    HONE_ASSERT_OK(hone_trace_simplify(arena, &sch->trace, true, &kept));
    hone_rng rng = hone_rng_from_seed(io->samples);
    bool is_whole = is_free && kept.count == sketch->count; /* the last sample was not refused */
    hone_space space = {.sketches = &kept, .count = 1};
    hone_child now = {
        {0, kept.decisions},
        0
    };
    for (uint32_t i = 0; is_whole && i < MUTATIONS && is_good; i++) {
        if (!hone_mutate(&(hone_kin){.space = &space}, &now.draft, &rng, arena, &now)) break;
        is_good = check_candidate(func, sch, sketch, now.draft.decisions, device, io, out_why);
    }
    hone_arena_destroy(arena);
    return is_good;
}

static bool check_space(const hone_func *func, const hone_target *device, uint64_t seed,
                        uint32_t samples, tally *io, hone_str *out_why) {
    hone_space space;
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_space_generate(func, device, &space));
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    sch->rng = hone_rng_from_seed(seed);
    bool is_good = space.count > 0;
    uint32_t k = 0;
    for (; k < space.count && is_good; k++) {
        is_good = check_sketch(func, sch, &space.sketches[k], samples, device, io, out_why);
    }
    if (!is_good) {
        fprintf(stderr, "sketch %u of %u: ", k, space.count);
        hone_test_show_change(func, sch->func, hone_str_text(out_why));
    }
    hone_schedule_destroy(sch);
    hone_space_deinit(&space);
    return is_good;
}

static void check_program(const char *name, const char *text, const hone_target *device,
                          uint32_t samples, uint32_t most_refused) {
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    hone_str why = {0};
    tally t = {0};
    bool is_good = check_space(func, device, hone_test_seed(11), samples, &t, &why);
    hone_str_deinit(&why);
    hone_module_release(module);
    assert_true(is_good);
    print_message("%s: %u samples, %u refused\n", name, t.samples, t.refused);
    assert_true(t.refused * 100 <= t.samples * most_refused);
}

static void workload_is_right(void **state) {
    const hone_workload *row = *state;
    check_program(row->name, row->text, &target, SAMPLES, MOST_REFUSED_PERCENT);
}

static void workload_is_right_on_gpu(void **state) {
    const hone_workload *row = *state;
    check_program(row->name, row->text, &gpu, (uint32_t)hone_test_count(GPU_SAMPLES),
                  GPU_REFUSED_PERCENT);
}

static void check_random(const hone_target *device, uint64_t usual, uint32_t most_refused) {
    tally t = {0};
    uint64_t programs = hone_test_count(usual), first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + programs; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_random_options varied = {.is_varied = true, .has_sizes = true};
        hone_func *func = hone_random_program(arena, seed, &varied);
        hone_str why = {0};
        assert_non_null(func);
        bool is_good = check_space(func, device, seed, 1, &t, &why);
        hone_str_deinit(&why);
        hone_arena_destroy(arena);
        if (!is_good) fail_msg("seed %llu", (unsigned long long)seed);
    }
    print_message("random programs: %u samples, %u refused\n", t.samples, t.refused);
    assert_true(t.refused * 100 <= t.samples * most_refused);
}

static void random_programs_are_right(void **state) {
    (void)state;
    check_random(&target, RANDOM_PROGRAMS, MOST_REFUSED_PERCENT);
}

static void random_programs_are_right_on_gpu(void **state) {
    (void)state;
    check_random(&gpu, GPU_PROGRAMS, GPU_REFUSED_PERCENT);
}

/* ---- the default schedule as a sketch ---- */

#define ODD_PRODUCT(rows, columns)                                                                 \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((" #rows ", 9)), B: T.Buffer((9, " #columns ")), "                       \
    "C: T.Buffer((" #rows ", " #columns "))):\n"                                                   \
    "    for i, j, k in T.grid(" #rows ", " #columns ", 9):\n"                                     \
    "        with T.block(\"C\"):\n"                                                               \
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                  \
    "            with T.init():\n"                                                                 \
    "                C[vi, vj] = T.float32(0)\n"                                                   \
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"

#define BYTES_IMAGE                                                                                \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((1, 12, 7, 11), \"uint8\"), W: T.Buffer((20, 12, 3, 3), \"int8\"), "     \
    "Y: T.Buffer((1, 20, 5, 9), \"int32\")):\n"                                                    \
    "    for n, f, y, x, c, u, v in T.grid(1, 20, 5, 9, 12, 3, 3):\n"                              \
    "        with T.block(\"conv\"):\n"                                                            \
    "            vn, vf, vy, vx, vc, vu, vv = T.axis.remap(\"SSSSRRR\", [n, f, y, x, c, u, v])\n"  \
    "            with T.init():\n"                                                                 \
    "                Y[vn, vf, vy, vx] = 0\n"                                                      \
    "            Y[vn, vf, vy, vx] = Y[vn, vf, vy, vx] + T.cast(X[vn, vc, vy + vu, vx + vv], "     \
    "\"int32\") * T.cast(W[vf, vc, vu, vv], \"int32\")\n"

/* Nothing divides their sizes: tiles leave a rest. */
static const hone_workload odd_sizes[] = {
    {"rows and columns", ODD_PRODUCT(29, 67)},
    {"rows",                  ODD_PRODUCT(31,                           64)},
    {"columns",               ODD_PRODUCT(24,   83)},
    {"pixels of bytes, which are turned",BYTES_IMAGE},
};

static uint32_t count_choices(const hone_trace *sketch) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < sketch->count; i++)
        count += hone_inst_is_sampling(sketch->insts[i].kind);
    return count;
}

/* With other decisions the default schedule is the program still. */
static uint32_t check_default(const hone_func *func, uint64_t seed, tally *io) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_schedule *sch = NULL;
    hone_trace sketch;
    hone_str why = {0};
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_first_schedule(sch, &target, 0));
    HONE_ASSERT_OK(hone_trace_simplify(arena, &sch->trace, true, &sketch));
    sch->rng = hone_rng_from_seed(seed);
    uint32_t choices = count_choices(&sketch);
    bool is_good = check_sketch(func, sch, &sketch, SAMPLES, &target, io, &why);
    if (!is_good) hone_test_show_change(func, sch->func, hone_str_text(&why));
    hone_str_deinit(&why);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    assert_true(is_good);
    return choices;
}

static uint32_t check_default_of(const char *text) {
    hone_module *module = NULL;
    tally t = {0};
    uint32_t choices = check_default(hone_test_parse(text, &module), hone_test_seed(5), &t);
    hone_module_release(module);
    return choices;
}

static void default_is_right(void **state) {
    check_default_of(((const hone_workload *)*state)->text);
}

/* The least unrolling, rows, columns: all of them can be decided otherwise. */
static void odd_sizes_are_open(void **state) {
    assert_true(check_default_of(((const hone_workload *)*state)->text) >= 3);
}

static void random_defaults_are_right(void **state) {
    tally t = {0};
    uint64_t programs = hone_test_count(RANDOM_DEFAULTS), first = hone_test_seed(0);
    (void)state;
    for (uint64_t seed = first; seed < first + programs; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_random_options varied = {.is_varied = true};
        hone_func *func = hone_random_program(arena, seed, &varied);
        assert_non_null(func);
        check_default(func, seed, &t);
        hone_arena_destroy(arena);
    }
    print_message("random programs: %u samples, %u refused\n", t.samples, t.refused);
    assert_true(t.refused * 100 <= t.samples * MOST_REFUSED_PERCENT);
}

/* ---- axes that become one ---- */

static const struct joined {
    const char *name, *map, *text;
} joined[] = {
    {"pixels under filters of one tap, bias and relu", "v2 * 9 + v3",
     "@T.prim_func\n"
     "def main(X: T.Buffer((1, 6, 5, 9)), W: T.Buffer((10, 6, 1, 1)), B: T.Buffer((10,)), "
     "Y: T.Buffer((1, 10, 5, 9))):\n"
     "    C = T.alloc_buffer((1, 10, 5, 9))\n"
     "    for n, f, y, x, c in T.grid(1, 10, 5, 9, 6):\n"
     "        with T.block(\"conv\"):\n"
     "            vn, vf, vy, vx, vc = T.axis.remap(\"SSSSR\", [n, f, y, x, c])\n"
     "            with T.init():\n"
     "                C[vn, vf, vy, vx] = T.float32(0)\n"
     "            C[vn, vf, vy, vx] = C[vn, vf, vy, vx] + X[vn, vc, vy, vx] * W[vf, vc, 0, 0]\n"
     "    for n, f, y, x in T.grid(1, 10, 5, 9):\n"
     "        with T.block(\"relu\"):\n"
     "            vn, vf, vy, vx = T.axis.remap(\"SSSS\", [n, f, y, x])\n"
     "            Y[vn, vf, vy, vx] = T.max(C[vn, vf, vy, vx] + B[vf], T.float32(0))\n"},
    {"rows of matrices by the same one",               "v0 * 5 + v1",
     "@T.prim_func\n"
     "def main(A: T.Buffer((7, 5, 12)), B: T.Buffer((12, 19)), C: T.Buffer((7, 5, 19))):\n"
     "    for b, i, j, k in T.grid(7, 5, 19, 12):\n"
     "        with T.block(\"C\"):\n"
     "            vb, vi, vj, vk = T.axis.remap(\"SSSR\", [b, i, j, k])\n"
     "            with T.init():\n"
     "                C[vb, vi, vj] = T.float32(0)\n"
     "            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vk, vj]\n"         },
    {"rows of matrices, each by its own",              NULL,
     "@T.prim_func\n"
     "def main(A: T.Buffer((7, 5, 12)), B: T.Buffer((7, 12, 19)), C: T.Buffer((7, 5, 19))):\n"
     "    for b, i, j, k in T.grid(7, 5, 19, 12):\n"
     "        with T.block(\"C\"):\n"
     "            vb, vi, vj, vk = T.axis.remap(\"SSSR\", [b, i, j, k])\n"
     "            with T.init():\n"
     "                C[vb, vi, vj] = T.float32(0)\n"
     "            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]\n"     },
    {"pixels that are left out",                       NULL,
     "@T.prim_func\n"
     "def main(X: T.Buffer((6, 9, 11)), W: T.Buffer((10, 6)), Y: T.Buffer((10, 5, 6))):\n"
     "    for f, y, x, c in T.grid(10, 5, 6, 6):\n"
     "        with T.block(\"conv\"):\n"
     "            vf, vy, vx, vc = T.axis.remap(\"SSSR\", [f, y, x, c])\n"
     "            with T.init():\n"
     "                Y[vf, vy, vx] = T.float32(0)\n"
     "            Y[vf, vy, vx] = Y[vf, vy, vx] + X[vc, vy * 2, vx * 2] * W[vf, vc]\n" },
};

/* Some sketch has one axis of the two, and some sketch leaves them as they are. */
static void axes_are_joined(void **state) {
    const struct joined *row = *state;
    hone_module *module = NULL;
    hone_space space;
    uint32_t with_map = 0;
    check_program(row->name, row->text, &target, SAMPLES, MOST_REFUSED_PERCENT);
    HONE_ASSERT_OK(hone_space_generate(hone_test_parse(row->text, &module), &target, &space));
    for (uint32_t i = 0; i < space.count; i++) {
        hone_str trace = {0};
        HONE_ASSERT_OK(hone_trace_print_python(&space.sketches[i], &trace));
        const char *map = row->map ? row->map : "transform_block_layout";
        with_map += strstr(hone_str_text(&trace), map) != NULL;
        hone_str_deinit(&trace);
    }
    uint32_t count = space.count;
    hone_space_deinit(&space);
    hone_module_release(module);
    assert_true(with_map < count);
    assert_int_equal(with_map > 0, row->map != NULL);
}

/* What matrix units multiply. */
static const hone_workload halves[] = {
    {"half floats on matrix units",
     "@T.prim_func\n"
     "def main(A: T.Buffer((50, 64), \"float16\"), B: T.Buffer((40, 64), \"float16\"), "
     "C: T.Buffer((50, 40), \"float32\")):\n"
     "    for i, j, k in T.grid(50, 40, 64):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float32(0)\n"
     "            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], \"float32\") * T.cast(B[vj, vk], "
     "\"float32\")\n"                                             },
    {"short sums on matrix units",
     "@T.prim_func\n"
     "def main(A: T.Buffer((64, 32), \"float16\"), B: T.Buffer((32, 48), \"float16\"), "
     "C: T.Buffer((64, 48), \"float16\")):\n"
     "    for i, j, k in T.grid(64, 48, 32):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float16(0)\n"
     "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"},
    {"bfloat16 on matrix units",
     "@T.prim_func\n"
     "def main(A: T.Buffer((48, 32), \"bfloat16\"), B: T.Buffer((32, 64), \"bfloat16\"), "
     "C: T.Buffer((48, 64), \"float32\")):\n"
     "    for i, j, k in T.grid(48, 64, 32):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float32(0)\n"
     "            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], \"float32\") * T.cast(B[vk, vj], "
     "\"float32\")\n"                                             },
    {"bytes on matrix units",
     "@T.prim_func\n"
     "def main(A: T.Buffer((64, 48), \"int8\"), B: T.Buffer((48, 64), \"int8\"), "
     "C: T.Buffer((64, 64), \"int32\")):\n"
     "    for i, j, k in T.grid(64, 64, 48):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                C[vi, vj] = 0\n"
     "            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], \"int32\") * T.cast(B[vk, vj], "
     "\"int32\")\n"                                               },
};

/* What is written along one axis and read along another, in types and shapes that squares of a
 * register do not divide. */
static const struct turn {
    const char *name, *dtype, *before, *behind; /* of what is read */
    int rank;
    int64_t shape[5]; /* of the output */
    int order[5];     /* which axis of the output each one of the input is */
} turns[] = {
    {"bytes, with a rest each way",      "int8",     "",                "",                2, {67, 83},          {1, 0}         },
    {"truths",                           "bool",     "",                "",                2, {40, 36},          {1, 0}         },
    {"halves, too few columns",          "float16",  "",                " + T.float16(1)", 2, {70, 9},           {1, 0}         },
    {"bfloat16",                         "bfloat16", "",                "",                2, {37, 64},          {1, 0}         },
    {"doubles, and what is computed",    "float64",  "T.float64(3) * ", "",                2, {45, 33},          {1, 0}         },
    {"int64",                            "int64",    "",                " - T.int64(3)",   3, {3, 19, 34},       {0, 2, 1}      },
    {"channels first to last",           "float32",  "T.abs(",          ")",               4, {2, 5, 7, 20},     {0, 3, 1, 2}   },
    {"channels last to first",           "float32",  "",                "",                4, {2, 20, 7, 5},     {0, 2, 3, 1}   },
    {"all axes backwards",               "float32",  "",                "",                5, {4, 3, 5, 2, 17},  {4, 3, 2, 1, 0}},
    {"two axes in turn of five",         "int16",    "",                "",                5, {2, 18, 1, 3, 37}, {0, 4, 2, 3, 1}},
    {"with itself, straight and turned", "float32",  "",                " + A[v0, v1]",    2, {33, 33},          {1, 0}         },
    {"rows that share sets",             "float32",  "",                "",                2, {20, 1024},        {1, 0}         },
};

static const char *const turn_cpus[] = {"x86-64-v3", "x86-64-v4", "aarch64 -mcpu=neoverse-v2",
                                        "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64"};

static void write_shape(const struct turn *t, bool is_input, hone_str *out) {
    for (int d = 0; d < t->rank; d++)
        hone_str_printf(out, "%lld, ", (long long)t->shape[is_input ? t->order[d] : d]);
}

static void write_axes(const struct turn *t, const char *before, bool is_input, hone_str *out) {
    for (int d = 0; d < t->rank; d++)
        hone_str_printf(out, "%s%s%d", d ? ", " : "", before, is_input ? t->order[d] : d);
}

static void write_turn(const struct turn *t, hone_str *out) {
    hone_str read = {0};
    hone_str_append(&read, "A[");
    write_axes(t, "v", true, &read);
    hone_str_append(&read, "]");
    hone_str_append(out, "@T.prim_func\ndef main(A: T.Buffer((");
    write_shape(t, true, out);
    hone_str_printf(out, "), \"%s\"), B: T.Buffer((", t->dtype);
    write_shape(t, false, out);
    hone_str_printf(out, "), \"%s\")):\n    for ", t->dtype);
    write_axes(t, "i", false, out);
    hone_str_append(out, " in T.grid(");
    write_shape(t, false, out);
    hone_str_append(out, "):\n        with T.block(\"B\"):\n            ");
    write_axes(t, "v", false, out);
    hone_str_printf(out, " = T.axis.remap(\"%.*s\", [", t->rank, "SSSSS");
    write_axes(t, "i", false, out);
    hone_str_append(out, "])\n            B[");
    write_axes(t, "v", false, out);
    hone_str_printf(out, "] = %s%s%s\n", t->before, hone_str_text(&read), t->behind);
    hone_str_deinit(&read);
}

static void turn_is_right(void **state) {
    const struct turn *row = *state;
    hone_str text = {0};
    write_turn(row, &text);
    for (size_t i = 0; i < HONE_COUNT(turn_cpus); i++) {
        hone_target cpu;
        HONE_ASSERT_OK(hone_target_parse(turn_cpus[i], &cpu));
        check_program(row->name, hone_str_text(&text), &cpu, TURN_SAMPLES, MOST_REFUSED_PERCENT);
    }
    hone_str_deinit(&text);
}

static void is_deterministic(void **state) {
    (void)state;
    for (const hone_workload *w = hone_workloads; w->name; w++) {
        hone_module *module = NULL;
        const hone_func *func = hone_test_parse(w->text, &module);
        hone_str texts[2] = {{0}, {0}};
        for (int i = 0; i < 2; i++) {
            hone_space space;
            HONE_ASSERT_OK(hone_space_generate(func, &target, &space));
            for (uint32_t k = 0; k < space.count; k++) {
                HONE_ASSERT_OK(hone_trace_print_json(&space.sketches[k], &texts[i]));
                for (uint32_t n = 0; n < space.sketches[k].count; n++) {
                    assert_int_equal(space.sketches[k].decisions[n].count, 0);
                }
            }
            hone_space_deinit(&space);
        }
        assert_string_equal(hone_str_text(&texts[0]), hone_str_text(&texts[1]));
        hone_str_deinit(&texts[0]);
        hone_str_deinit(&texts[1]);
        hone_module_release(module);
    }
}

static const char matmul_text[] =
    "@T.prim_func\n"
    "def matmul(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), \"float32\"),\n"
    "           C: T.Buffer((16, 16), \"float32\")):\n"
    "    for i, j, k in T.grid(16, 16, 16):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

/* A space of the user's over a matrix product: what comes of it. */
typedef struct user_space {
    const char *name, *text;
    hone_code code;
    const char *part; /* of the message */
} user_space;

static const user_space user_spaces[] = {
    {"draws that may be refused",
     "def space(sch):\n"
     "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
     "    v = sch.sample_categorical([1, 2, 4], [0.3, 0.3, 0.4])\n"
     "    sch.split(j, [None, v])\n",                                             HONE_CODE_OK,      NULL                                     },
    {"a step that is always refused",
     "def space(sch):\n"
     "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
     "    sch.parallel(k)\n",                                                     HONE_CODE_ILLEGAL, "step 3: sch.parallel"                   },
    {"a block that is not there",
     "def space(sch):\n"
     "    i, j, k = sch.get_loops(sch.get_block(\"D\"))\n"
     "    sch.unroll(j)\n",                                                       HONE_CODE_ILLEGAL, "no block is named 'D'"                  },
    {"one that nothing is made of",
     "def space(sch):\n"
     "    b = sch.get_block(\"D\")\n",                                            HONE_CODE_ILLEGAL, "no block is named 'D'"                  },
    {"more unrolled than a compiler should see",
     "def space(sch):\n"
     "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
     "    a, b = sch.split(k, [16, 16])\n"
     "    sch.unroll(i)\n"
     "    sch.unroll(j)\n"
     "    sch.unroll(a)\n"
     "    sch.unroll(b)\n",                                                       HONE_CODE_ILLEGAL, "too much is unrolled"                   },
    {"a tile of a rule's that fills twice the registers",
     "def space(sch):\n"
     "    b = sch.get_block(\"C\")\n"
     "    i, j, k = sch.get_loops(b)\n"
     "    sch.reorder(k, i, j)\n"
     "    sch.annotate(b, \"meta_schedule.tiling_structure\", \"packed\")\n"
     "    sch.unroll(i)\n"
     "    sch.vectorize(j)\n",                                                    HONE_CODE_ILLEGAL, "sums of a tile fill 32 vector registers"},
    {"one of the user's own",
     "def space(sch):\n"
     "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
     "    sch.reorder(k, i, j)\n"
     "    sch.unroll(i)\n"
     "    sch.vectorize(j)\n",                                                    HONE_CODE_OK,      NULL                                     },
    {"no steps",
     "def space(sch):\n"
     "    pass\n",                                                                HONE_CODE_INVALID, "has no steps"                           },
    {"another layout of what callers give",
     "def space(sch):\n"
     "    b = sch.get_block(\"C\")\n"
     "    sch.transform_layout(b, (\"read\", 1), lambda k, j: (j, k))\n",         HONE_CODE_INVALID, "layout of the parameter 'B'"            },
    {"another layout of what callers take",
     "def space(sch):\n"
     "    b = sch.get_block(\"C\")\n"
     "    sch.transform_layout(b, (\"write\", 0), lambda i, j: (i * 16 + j,))\n", HONE_CODE_INVALID, "layout of the parameter 'C'"            },
    {"another layout of a copy",
     "def space(sch):\n"
     "    b = sch.get_block(\"C\")\n"
     "    c = sch.cache_read(b, 1, \"global\")\n"
     "    sch.transform_layout(c, (\"write\", 0), lambda k, j: (j, k))\n",        HONE_CODE_OK,      NULL                                     },
    {"a function that is not there",
     "def space(sch):\n"
     "    i, j, k = sch.get_loops(sch.get_block(\"C\", func_name=\"other\"))\n"
     "    sch.unroll(j)\n",                                                       HONE_CODE_ILLEGAL, "function 'matmul', not on 'other'"      },
};

/* hone_space_load of this text. */
static hone_status load_text(const char *text, const hone_func *func, hone_space *out_space) {
    char *dir = NULL;
    hone_str path = {0};
    const hone_trace_context context = {.func = func};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-test", &dir));
    hone_str_printf(&path, "%s/space.py", dir);
    HONE_ASSERT_OK(hone_fs_write_atomic(hone_str_text(&path), text, strlen(text)));
    hone_status st = hone_space_load(hone_str_text(&path), &context, &target, out_space);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_str_deinit(&path);
    hone_free(dir);
    return st;
}

static void users_space_is_checked(void **state) {
    const user_space *row = *state;
    hone_space space;
    hone_module *module = NULL;
    hone_status st = load_text(row->text, hone_test_parse(matmul_text, &module), &space);
    if (row->code == HONE_CODE_OK) {
        HONE_ASSERT_OK(st);
        assert_int_equal(space.count, 1);
        hone_space_deinit(&space);
    } else {
        HONE_ASSERT_ERROR(st, row->code, row->part);
    }
    hone_module_release(module);
}

static const char pipeline_text[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((64, 64), \"float32\"), C: T.Buffer((64, 64), \"float32\")):\n"
    "    B = T.sblock_alloc_buffer((64, 64), \"float32\")\n"
    "    for i in T.serial(64, annotations={\"software_pipeline_stage\": [0, 1], "
    "\"software_pipeline_order\": [0, 1]}):\n"
    "        for j in range(64):\n"
    "            with T.sblock(\"load\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"
    "        for j in range(64):\n"
    "            with T.sblock(\"use\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                C[vi, vj] = B[vi, vj] + T.float32(1)\n";

/* What would leave a pipeline one statement is neither offered nor taken. */
static void pipelines_keep_their_statements(void **state) {
    static const char inlines[] = "def space(sch):\n"
                                  "    sch.compute_inline(sch.get_block(\"load\"))\n";
    static const char vectors[] = "def space(sch):\n"
                                  "    i, j = sch.get_loops(sch.get_block(\"use\"))\n"
                                  "    sch.vectorize(j)\n";
    (void)state;
    hone_module *module = NULL;
    hone_space space;
    hone_str all = {0};
    const hone_func *func = hone_test_parse(pipeline_text, &module);
    HONE_ASSERT_OK(hone_space_generate(func, &target, &space));
    for (uint32_t i = 0; i < space.count; i++)
        HONE_ASSERT_OK(hone_trace_print_python(&space.sketches[i], &all));
    assert_true(space.count > 0);
    assert_null(strstr(hone_str_text(&all), "compute_inline"));
    hone_str_deinit(&all);
    hone_space_deinit(&space);
    HONE_ASSERT_ERROR(load_text(inlines, func, &space), HONE_CODE_ILLEGAL,
                      "is not a sequence of statements");
    HONE_ASSERT_OK(load_text(vectors, func, &space));
    hone_space_deinit(&space);
    hone_module_release(module);
}

static void absent_file_is_an_error(void **state) {
    (void)state;
    hone_space space;
    hone_module *module = NULL;
    const hone_trace_context context = {.func = hone_test_parse(matmul_text, &module)};
    HONE_ASSERT_CODE(hone_space_load("/nonexistent/space.py", &context, &target, &space),
                     HONE_CODE_NOT_FOUND);
    assert_null(space.arena);
    hone_module_release(module);
}

int main(void) {
    size_t count = 0;
    while (hone_workloads[count].name)
        count++;
    int failed = hone_test_run_rows("tuner/space", hone_workloads, sizeof hone_workloads[0], count,
                                    workload_is_right);
    failed += hone_test_run_rows("tuner/space of defaults", hone_workloads,
                                 sizeof hone_workloads[0], count, default_is_right);
    failed += HONE_RUN_ROWS("tuner/space of odd sizes", odd_sizes, odd_sizes_are_open);
    failed += HONE_RUN_ROWS("tuner/space of joined axes", joined, axes_are_joined);
    hone_status_consume(hone_target_parse("nvidia/nvidia-h100", &gpu));
    failed += hone_test_run_rows("tuner/space for GPUs", hone_workloads, sizeof hone_workloads[0],
                                 count, workload_is_right_on_gpu);
    failed += HONE_RUN_ROWS("tuner/space for matrix units", halves, workload_is_right_on_gpu);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_right),
        cmocka_unit_test(random_programs_are_right_on_gpu),
        cmocka_unit_test(random_defaults_are_right),
        cmocka_unit_test(is_deterministic),
        cmocka_unit_test(absent_file_is_an_error),
        cmocka_unit_test(pipelines_keep_their_statements),
    };
    failed += HONE_RUN_ROWS("tuner/space of transposes", turns, turn_is_right);
    failed += HONE_RUN_ROWS("tuner/space of the user", user_spaces, users_space_is_checked);
    return failed + cmocka_run_group_tests_name("tuner/space", tests, NULL, NULL);
}
