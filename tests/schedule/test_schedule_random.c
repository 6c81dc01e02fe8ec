/* tests/schedule/test_schedule_random.c - random programs under random steps, of which each
 * primitive has to be accepted about half as often as it is. HONE_SEQUENCES sets how many,
 * HONE_FIRST_SEED from where, HONE_STEP_COUNTS=1 prints how often each step was accepted. */
#include <math.h>

#include "schedule/trace/trace_args.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

#include "tests/schedule/steps/random_sequence.h"
#include "tests/support/random_program.h"

enum { DEFAULT_SEQUENCES = 12000, DEFAULT_SEED = 1, VARIANT_EVERY = 100 };

/* Instructions in the traces of DEFAULT_SEQUENCES, at least: half of what they are with the default
 * seeds. One that falls below refuses what it took, or is no longer tried; one that is not here has
 * no test. */
static const uint64_t floors[HONE_INST_COUNT] = {
    [HONE_INST_USE_VARIANT] = 60,
    [HONE_INST_SAMPLE_CATEGORICAL] = 780,
    [HONE_INST_SAMPLE_PERFECT_TILE] = 830,
    [HONE_INST_SAMPLE_PARTITIONED_TILE] = 850,
    [HONE_INST_SAMPLE_COMPUTE_LOCATION] = 1000,
    [HONE_INST_GET_BLOCK] = 150000,
    [HONE_INST_GET_LOOPS] = 73000,
    [HONE_INST_GET_CHILD_BLOCKS] = 170000,
    [HONE_INST_GET_PRODUCERS] = 2100,
    [HONE_INST_GET_CONSUMERS] = 1200,
    [HONE_INST_GET_OUTPUT_BLOCKS] = 190,
    [HONE_INST_SPLIT] = 9700,
    [HONE_INST_FUSE] = 960,
    [HONE_INST_MERGE] = 130,
    [HONE_INST_LOOP_PARTITION] = 490,
    [HONE_INST_REORDER] = 2400,
    [HONE_INST_REORDER_BLOCK_ITER_VAR] = 570,
    [HONE_INST_ADD_UNIT_LOOP] = 740,
    [HONE_INST_PARALLEL] = 1400,
    [HONE_INST_VECTORIZE] = 1300,
    [HONE_INST_UNROLL] = 1200,
    [HONE_INST_BIND] = 2300,
    [HONE_INST_COMPUTE_AT] = 3400,
    [HONE_INST_REVERSE_COMPUTE_AT] = 1400,
    [HONE_INST_COMPUTE_INLINE] = 480,
    [HONE_INST_REVERSE_COMPUTE_INLINE] = 270,
    [HONE_INST_CACHE_READ] = 2300,
    [HONE_INST_CACHE_WRITE] = 1800,
    [HONE_INST_REINDEX] = 870,
    [HONE_INST_CACHE_INPLACE] = 140,
    [HONE_INST_CACHE_INDEX] = 560,
    [HONE_INST_READ_AT] = 190,
    [HONE_INST_WRITE_AT] = 170,
    [HONE_INST_REINDEX_CACHE_READ] = 360,
    [HONE_INST_REINDEX_CACHE_WRITE] = 320,
    [HONE_INST_TRANSFORM_LAYOUT] = 1100,
    [HONE_INST_SET_AXIS_SEPARATOR] = 280,
    [HONE_INST_TRANSFORM_BLOCK_LAYOUT] = 760,
    [HONE_INST_FUSE_REDUCTION_EPILOGUE] = 19,
    [HONE_INST_DECOMPOSE_REDUCTION] = 710,
    [HONE_INST_RFACTOR] = 230,
    [HONE_INST_STORAGE_ALIGN] = 270,
    [HONE_INST_SET_SCOPE] = 400,
    [HONE_INST_UNSAFE_SET_DTYPE] = 400,
    [HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS] = 730,
    [HONE_INST_ANNOTATE_BUFFER_ACCESS] = 550,
    [HONE_INST_ANNOTATE] = 1000,
    [HONE_INST_UNANNOTATE] = 170,
    [HONE_INST_ENTER_POSTPROC] = 200,
    [HONE_INST_DECOMPOSE_PADDING] = 130,
    [HONE_INST_PAD_EINSUM] = 820,
    [HONE_INST_ROLLING_BUFFER] = 7,
    [HONE_INST_TENSORIZE] = 26,
    [HONE_INST_BLOCKIZE] = 1800,
};

/* What a number that is only half as large on the average may be by chance. */
static uint64_t floor_of(int kind, uint64_t sequences, uint64_t seed) {
    double share = (double)floors[kind] * (double)sequences / DEFAULT_SEQUENCES;
    if (sequences == DEFAULT_SEQUENCES && seed == DEFAULT_SEED) return floors[kind];
    return (uint64_t)fmax(0, share - 4 * sqrt(share));
}

static uint32_t count_neglected(const hone_step_counts *counts, uint64_t sequences, uint64_t seed) {
    uint32_t neglected = 0;
    for (int kind = 0; kind < HONE_INST_COUNT; kind++) {
        uint64_t least = floor_of(kind, sequences, seed);
        if (floors[kind] && counts->primitives[kind] >= least) continue;
        print_error("%s was accepted %llu times; must be at least %llu%s\n",
                    hone_inst_python_name((hone_inst_kind)kind),
                    (unsigned long long)counts->primitives[kind], (unsigned long long)least,
                    floors[kind] ? "" : ": floors[] has no row for it");
        neglected++;
    }
    return neglected;
}

/* What has another algorithm. */
static const char convolution[] =
    "@T.prim_func\n"
    "def main(X: T.Buffer((1, 3, 6, 7)), W: T.Buffer((4, 3, 3, 3)), Y: T.Buffer((1, 4, 4, 5))):\n"
    "    for n, f, y, x, c, r, s in T.grid(1, 4, 4, 5, 3, 3, 3):\n"
    "        with T.block(\"conv\"):\n"
    "            vn, vf, vy, vx, vc, vr, vs = T.axis.remap(\"SSSSRRR\", [n, f, y, x, c, r, s])\n"
    "            with T.init():\n"
    "                Y[vn, vf, vy, vx] = T.float32(0)\n"
    "            Y[vn, vf, vy, vx] = Y[vn, vf, vy, vx] + X[vn, vc, vy + vr, vx + vs] * W[vf, vc, "
    "vr, vs]\n";

static bool run_variant(uint64_t seed, const hone_sequence_options *options,
                        hone_step_counts *io_counts) {
    hone_sequence_options with = *options;
    hone_module *module = NULL;
    with.variant = "im2col";
    bool is_fine =
        hone_random_sequence(hone_test_parse(convolution, &module), seed, &with, io_counts);
    hone_module_release(module);
    return is_fine;
}

static bool run_sequence(uint64_t seed, const hone_sequence_options *options,
                         hone_step_counts *io_counts) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options program = {
        .use_int64 = seed % 5 == 0, .is_varied = true, .has_sizes = true};
    hone_func *base = hone_random_program(arena, seed, &program);
    assert_non_null(base);
    bool is_fine = hone_random_sequence(base, seed, options, io_counts);
    hone_arena_destroy(arena);
    return is_fine;
}

static void accepted_sequences_keep_the_meaning(void **state) {
    (void)state;
    uint64_t count = hone_test_count(DEFAULT_SEQUENCES);
    uint64_t seed = hone_test_seed(DEFAULT_SEED);
    uint64_t failed = 0;
    hone_step_counts counts = {0};
    hone_tensor_intrins *intrins = hone_random_intrins();
    assert_non_null(intrins);
    hone_sequence_options options = {.intrins = intrins, .replay_every = 4};
    for (uint64_t i = 0; i < count; i++)
        failed += !run_sequence(seed + i, &options, &counts);
    for (uint64_t i = 0; i < count; i += VARIANT_EVERY)
        failed += !run_variant(seed + i, &options, &counts);
    hone_tensor_intrins_destroy(intrins);
    print_message("%llu sequences, %llu steps accepted of %llu\n", (unsigned long long)count,
                  (unsigned long long)counts.accepted, (unsigned long long)counts.tried);
    hone_step_counts_print(&counts);
    assert_int_equal(failed, 0);
    assert_int_equal(count_neglected(&counts, count, seed), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(accepted_sequences_keep_the_meaning)};
    return cmocka_run_group_tests_name("schedule/random", tests, NULL, NULL);
}
