/* tests/target/test_target.c - texts of targets: every spelling, the canonical one, refusals, this
 * machine. */
#include <stdio.h>
#include <string.h>

#include "support/core/attributes.h"
#include "target/target.h"
#include "target/target_read.h"
#include "tests/support/hone_test.h"

#define LONGEST                                                                                    \
    "x86_64-vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv-linux-gnu" /* of 63 characters */
#define ZEN4                                                                                       \
    "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -vector-width=512 -num-cores=2 "                  \
    "-num-threads=2 -cache-line=64 -l1d-cache=32768 -l2-cache=1048576 -l3-cache=8388608"

#define ARM "llvm -mtriple=aarch64-linux-gnu -mcpu="
#define X86 "llvm -mtriple=x86_64-linux-gnu -mcpu="

/* clang-format off */
static const struct row {
    const char *in, *want; /* NULL = refused */
    const char *error;
} rows[] = {
    {"llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -num-cores=2", ZEN4, NULL},
    {"llvm --mtriple=x86_64-linux-gnu  --mcpu znver4 --num-cores 2", ZEN4, NULL},
    {" llvm -mcpu=znver4 -num_cores=2 -keys=cpu -mtriple=x86_64-linux-gnu ", ZEN4, NULL},
    {"amd/epyc-zen4 -num-cores=2", ZEN4, NULL},
    {"llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -num-threads=2", ZEN4, NULL},
    {"{\"kind\": \"llvm\", \"mtriple\": \"x86_64-linux-gnu\", \"mcpu\": \"znver4\", "
     "\"num-cores\": 2, \"keys\": [\"cpu\"]}",
     ZEN4, NULL},
    {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64 -mattr=+avx2",
     "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64 -mattr=+avx2 -vector-width=256 -num-cores=1 "
     "-num-threads=1 -cache-line=64 -l1d-cache=32768 -l2-cache=1048576 -l3-cache=8388608",
     NULL},
    {"llvm -mtriple=" LONGEST,
     "llvm -mtriple=" LONGEST " -mcpu=generic -vector-width=128 -num-cores=1 -num-threads=1 "
     "-cache-line=64 -l1d-cache=32768 -l2-cache=1048576 -l3-cache=8388608",
     NULL},
    {"aarch64-linux-gnu -num-cores=4",
     "llvm -mtriple=aarch64-linux-gnu -mcpu=generic -vector-width=128 -num-cores=4 "
     "-num-threads=4 -cache-line=64 -l1d-cache=32768 -l2-cache=1048576 -l3-cache=8388608",
     NULL},
    {"aarch64-unknown-linux-gnu -num-cores=4",
     "llvm -mtriple=aarch64-linux-gnu -mcpu=generic -vector-width=128 -num-cores=4 "
     "-num-threads=4 -cache-line=64 -l1d-cache=32768 -l2-cache=1048576 -l3-cache=8388608",
     NULL},
    {"cuda -arch=sm_100a -l2_cache_size_bytes=1000",
     "cuda -arch=sm_100a -vector-width=128 -num-cores=1 -num-threads=1 -cache-line=128 "
     "-max_threads_per_block=1024 -thread_warp_size=32 -max_shared_memory_per_block=232448 "
     "-registers_per_block=65536 -l2-cache=1000",
     NULL},
    {"cuda -arch=sm_90 -max_shared_memory_per_block=1000",
     "cuda -arch=sm_90 -vector-width=128 -num-cores=1 -num-threads=1 -cache-line=128 "
     "-max_threads_per_block=1024 -thread_warp_size=32 -max_shared_memory_per_block=1000 "
     "-registers_per_block=65536",
     NULL},
    {"", NULL, "is empty"},
    {"vax", NULL, "unknown target 'vax'"},
    {"llvm -num-crores=2", NULL, "did you mean 'num-cores'"},
    {"llvm -frobnicate=2", NULL, "unknown option 'frobnicate'"},
    {"llvm -num-cores", NULL, "has no value"},
    {"llvm -num-cores=two", NULL, "must be an integer"},
    {"llvm -num-cores=0", NULL, "num-cores is 0, must be from 1"},
    {"llvm -num-cores=99999999999999999999", NULL, "must be an integer"},
    {"llvm -num-cores=-4", NULL, "num-cores is -4, must be from 1 to 65536"},
    {"llvm -num-cores=9999999999", NULL, "num-cores is 9999999999, which is too large"},
    {"llvm -mcpu=znver3 -mcpu=znver4", NULL, "mcpu is given twice"},
    {"llvm -num-cores=4 -num_cores=4", NULL, "num-cores is given twice"},
    {"llvm -keys=cpu -keys=cpu", NULL, "keys is given twice"},
    {"cuda -arch=sm_86",
     "cuda -arch=sm_86 -vector-width=128 -num-cores=1 -num-threads=1 -cache-line=128 "
     "-max_threads_per_block=1024 -thread_warp_size=32 -max_shared_memory_per_block=101376 "
     "-registers_per_block=65536",
     NULL},
    {"cuda -arch=sm_80 -mcpu=sm_80", NULL, "arch and mcpu say the same"},
    {"cuda -l2-cache=1 -l2_cache_size_bytes=1", NULL, "say the same"},
    {"cuda -arch=x", NULL, "unknown arch 'x', must be as 'sm_90'"},
    {"cuda -arch=sm_", NULL, "unknown arch 'sm_'"},
    {"cuda -arch=sm_9", NULL, "unknown arch 'sm_9'"},
    {"cuda -arch=sm_90b", NULL, "did you mean 'sm_90'?"},
    {"cuda -arch=sm_10", NULL, "did you mean 'sm_50'? code is made for sm_50"},
    {"cuda -arch=sm_85", NULL, "did you mean 'sm_86'?"},
    {"cuda -arch=sm_80a", NULL, "did you mean 'sm_80'?"},
    {"cuda -arch=sm90", NULL, "did you mean 'sm_90'?"},
    {"cuda -mcpu=compute_120", NULL, "did you mean 'sm_120'?"},
    {"opencl -max_num_threads=1024 -thread_warp_size=16",
     "opencl -vector-width=128 -num-cores=1 -num-threads=1 -cache-line=128 "
     "-max_threads_per_block=1024 -thread_warp_size=16 -max_shared_memory_per_block=16384 "
     "-registers_per_block=65536",
     NULL},
    {"metal",
     "metal -vector-width=128 -num-cores=1 -num-threads=1 -cache-line=128 "
     "-max_threads_per_block=256 -thread_warp_size=32 -max_shared_memory_per_block=32768 "
     "-registers_per_block=65536",
     NULL},
    {"{\"kind\": \"opencl\", \"max_shared_memory_per_block\": 32768}",
     "opencl -vector-width=128 -num-cores=1 -num-threads=1 -cache-line=128 "
     "-max_threads_per_block=256 -thread_warp_size=1 -max_shared_memory_per_block=32768 "
     "-registers_per_block=65536",
     NULL},
    {"opencl -arch=sm_90", NULL, "arch is an option of cuda, 'opencl' has none"},
    {"openc", NULL, "did you mean 'opencl'?"},
    {"cuda -mattr=+avx2", NULL, "mattr is an option of CPUs, 'cuda' is none"},
    {"cuda -mtriple=aarch64-linux-gnu", NULL, "mtriple is an option of CPUs"},
    {"cuda -l3-cache=1", NULL, "l3-cache is an option of CPUs"},
    {"cuda -max_threads_per_block=0", NULL, "max_threads_per_block is 0, must be from 1"},
    {"cuda -thread_warp_size=0", NULL, "thread_warp_size is 0, must be from 1"},
    {"llvm -arch=znver3", NULL, "arch is an option of GPUs, 'llvm' is none"},
    {"c -max_num_threads=4", NULL, "max-num-threads is an option of GPUs"},
    {"{\"kind\": \"cuda\", \"arch\": \"x\"}", NULL, "unknown arch 'x'"},
    {"llvm -vector-width=96", NULL, "power of two"},
    {"llvm -mtriple=x86_64-linux-gnu -mcpu=pentium17", NULL, "unknown mcpu 'pentium17'"},
    {"c -mtriple=riscv64-linux-gnu -mcpu=native", NULL, "this one's, and the target is"},
    {"llvm mcpu=znver4", NULL, "expected an option"},
    {"llvm -mattr=+avx2;rm", NULL, "words of letters"},
    /* names that LLVM would take without a word */
    {ARM "Cortex-A72", NULL, "did you mean 'cortex-a72'"},
    {ARM "cortx-a72", NULL, "did you mean 'cortex-a72'"},
    {ARM "nonsense", NULL, "unknown mcpu 'nonsense' for aarch64"},
    {ARM "znver3", NULL, "is a CPU of x86_64"},
    {X86 "cortex-a72", NULL, "is a CPU of aarch64"},
    {X86 "pentium4", NULL, "unknown mcpu 'pentium4' for x86_64"},
    {X86 "znvre3", NULL, "did you mean 'znver3'"},
    {X86 "x86-64-v3 -mattr=+avx512", NULL, "did you mean 'avx512f'"},
    {X86 "x86-64-v3 -mattr=+AVX512F", NULL, "did you mean 'avx512f'"},
    {X86 "x86-64-v3 -mattr=avx2", NULL, "has no sign, must be '+avx2' or '-avx2'"},
    {X86 "x86-64-v3 -mattr=+fma,-sve", NULL, "'sve' in mattr is one of aarch64"},
    {X86 "x86-64-v3 -mattr=+fma,,-avx2", NULL, "unknown feature ''"},
    {"x86_64-v3", NULL, "did you mean 'x86-64-v3'"},
    {"x86-64-v5 -num-cores=2", NULL, "did you mean"},
    {"amd/epic-zen4", NULL, "did you mean 'amd/epyc-zen4'"},
    {"x86_64-unknown-freebsd", NULL, "no code is made for 'x86_64-unknown-freebsd'"},
    {"llvm -mtriple=x86_64-w64-mingw32", NULL, "no code is made for"},
    {"i686-linux-gnu", NULL, "no code is made for 'i686-linux-gnu'"},
    {"x86_64-pc-windows-msvc", NULL, "no code is made for"},
    {"arm64-apple-macos", NULL, "no code is made for"},
    {"aarch64_be-linux-gnu", NULL, "no code is made for"},
    {"llvm -mtriple=x86_64h-linux-gnu", NULL, "no code is made for"},
    {"llvm -mtriple=aarch64-linux-android", NULL, "no code is made for"},
    {"llvm -mtriple=riscv64-linux-gnu", NULL, "no code is made for"},
    {"llvm -mtriple=armv7-linux-gnueabihf", NULL, "no code is made for"},
    {"llvm -mtriple=x86_64", NULL, "no code is made for"},
    {"{\"mcpu\": \"znver4\"}", NULL, "no text \"kind\""},
    {"{\"kind\": \"llvm\", \"num-cores\": 1.5}", NULL, "must be text"},
    {"{\"kind\": ", NULL, "target"},
    {"[1]x", NULL, "unknown target"},
};
/* clang-format on */

static bool is_same(const hone_target *a, const hone_target *b) {
    return hone_hash128_equal(hone_target_hash(a), hone_target_hash(b));
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_target target, again;
    hone_status st = hone_target_parse(row->in, &target);
    if (!row->want) {
        HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, row->error);
        return;
    }
    HONE_ASSERT_OK(st);
    hone_str text = {0}, json = {0};
    hone_target_print(&target, &text);
    hone_target_print_json(&target, &json);
    char got[1024], got_json[1024];
    snprintf(got, sizeof got, "%s", hone_str_text(&text));
    snprintf(got_json, sizeof got_json, "%s", hone_str_text(&json));
    hone_str_deinit(&text);
    hone_str_deinit(&json);
    assert_string_equal(got, row->want);
    HONE_ASSERT_OK(hone_target_parse(got, &again));
    assert_true(is_same(&target, &again));
    HONE_ASSERT_OK(hone_target_parse(got_json, &again));
    assert_true(is_same(&target, &again));
}

static void detects_this_machine(void **state) {
    (void)state;
    hone_target here, other;
    HONE_ASSERT_OK(hone_target_detect(&here));
    assert_true(hone_target_runs_here(&here));
    assert_true(here.num_cores >= 1 && here.num_threads == here.num_cores);
    hone_str text = {0};
    hone_target_print(&here, &text);
    hone_status st = hone_target_parse(hone_str_text(&text), &other);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
    assert_true(is_same(&here, &other));
    HONE_ASSERT_OK(hone_target_parse("host -num-threads=1", &other));
    assert_int_equal(other.num_threads, 1);
    assert_int_equal(other.num_cores, here.num_cores);
}

static void every_name_parses(void **state) {
    (void)state;
    for (const hone_target_name *name = hone_target_names(); name->name; name++) {
        hone_target a, b;
        HONE_ASSERT_OK(hone_target_parse(name->name, &a));
        HONE_ASSERT_OK(hone_target_parse(name->text, &b));
        assert_true(is_same(&a, &b));
    }
}

static void knows_widths(void **state) {
    (void)state;
    hone_target t;
    HONE_ASSERT_OK(hone_target_parse("x86-64-v4", &t));
    assert_int_equal(hone_target_lanes(&t, 32), 16);
    assert_int_equal(hone_target_vector_registers(&t), 32);
    assert_true(hone_target_has_feature(&t, "avx512f"));
    HONE_ASSERT_OK(hone_target_parse("x86-64-v3 -mattr=-fma", &t));
    assert_int_equal(hone_target_lanes(&t, 64), 4);
    assert_int_equal(hone_target_vector_registers(&t), 16);
    assert_false(hone_target_has_feature(&t, "fma"));
    assert_false(hone_target_has_feature(&t, "no-such-thing"));
    HONE_ASSERT_OK(hone_target_parse("arm/neoverse-n1", &t));
    assert_true(hone_target_has_feature(&t, "dotprod"));
    assert_false(hone_target_has_feature(&t, "sve"));
    assert_int_equal(hone_target_vector_registers(&t), 32);
    HONE_ASSERT_OK(hone_target_parse("aarch64 -mcpu=neoverse-v2 -mattr=-bf16", &t));
    assert_true(hone_target_has_feature(&t, "sve2"));
    assert_false(hone_target_has_feature(&t, "bf16"));
    HONE_ASSERT_OK(hone_target_parse("nvidia/nvidia-h100", &t));
    assert_true(hone_target_is_gpu(&t));
    assert_false(hone_target_runs_here(&t));
}

/* Records are shared by targets with the same identity. */
static void knows_what_identifies(void **state) {
    /* clang-format off */
    static const struct pair {
        const char *a, *b;
        bool is_same;
        const char *difference;
    } pairs[] = {
        {X86 "znver3 -l3-cache=1", X86 "znver3 -l3-cache=2", true, "l3-cache is 1, here 2"},
        {X86 "znver3", X86 "znver2", true, "mcpu is znver3, here znver2"},
        {X86 "x86-64-v3 -mattr=+sse4a", X86 "znver1", true,
         "mcpu is x86-64-v3, here znver1; mattr is +sse4a, here none"},
        {X86 "znver3 -num-cores=8 -num-threads=2", X86 "znver3 -num-cores=2", true,
         "num-cores is 8, here 2"},
        {"llvm -mtriple=arm64-board-linux-gnu", "llvm -mtriple=aarch64-linux-gnu", true,
         "mtriple is aarch64-board-linux-gnu, here aarch64-linux-gnu"},
        {X86 "znver3", X86 "znver4", false, "mcpu is znver3, here znver4; vector-width is 256"},
        {X86 "znver4", X86 "znver4 -vector-width=256", false, "vector-width is 512, here 256"},
        {X86 "znver3 -num-cores=2", X86 "znver3 -num-cores=3", false, "num-threads is 2, here 3"},
        {X86 "znver3 -mattr=-fma", X86 "znver3", false, "mattr is -fma, here none"},
        {X86 "znver3 -mattr=+adx", X86 "znver3 -mattr=-adx", false, "mattr is +adx, here -adx"},
        {ARM "cortex-a72", ARM "cortex-a76", false, "mcpu is cortex-a72, here cortex-a76"},
        {ARM "cortex-a57", ARM "cortex-a72", true, "mcpu is cortex-a57, here cortex-a72"},
        {ARM "generic", X86 "generic", false, "mtriple is aarch64-linux-gnu, here x86_64"},
        {X86 "generic", "c -mtriple=x86_64-linux-gnu", false, "the kind is llvm, here c"},
        {"cuda -arch=sm_90 -max-shared-memory-per-block=49152", "nvidia/nvidia-h100", false,
         "max_shared_memory_per_block is 49152"},
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(pairs); i++) {
        hone_target a, b;
        hone_str words = {0};
        HONE_ASSERT_OK(hone_target_parse(pairs[i].a, &a));
        HONE_ASSERT_OK(hone_target_parse(pairs[i].b, &b));
        hone_target_print_differences(&a, &b, &words);
        bool is_said = strstr(hone_str_text(&words), pairs[i].difference) != NULL;
        bool is_same = hone_hash128_equal(hone_target_identity(&a), hone_target_identity(&b));
        hone_str_deinit(&words);
        if (is_same != pairs[i].is_same || !is_said) fail_msg("%s, %s", pairs[i].a, pairs[i].b);
    }
}

/* Why a record does not serve: no word of what only describes. */
static void says_what_stands_between(void **state) {
    /* clang-format off */
    static const struct {
        const char *a, *b, *obstacles;
    } pairs[] = {
        {X86 "znver4 -num-threads=2 -l3-cache=1", X86 "znver4 -num-threads=1 -l3-cache=2",
         "num-threads is 2, here 1"},
        {X86 "znver3 -l2-cache=7", X86 "znver3 -mattr=-fma -num-cores=1",
         "mattr is none, here -fma (without fma)"},
        {X86 "x86-64-v3", X86 "x86-64-v3 -mattr=+avx512f -vector-width=256",
         "mattr is none, here +avx512f (with avx512f)"},
        {X86 "znver4", X86 "znver4 -vector-width=256 -cache-line=128", "vector-width is 512, here 256"},
        {X86 "generic", X86 "x86-64", ""},
        {ARM "generic", "c -mtriple=aarch64-linux-gnu", "the kind is llvm, here c"},
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(pairs); i++) {
        hone_target a, b;
        hone_str words = {0};
        HONE_ASSERT_OK(hone_target_parse(pairs[i].a, &a));
        HONE_ASSERT_OK(hone_target_parse(pairs[i].b, &b));
        hone_target_print_obstacles(&a, &b, &words);
        bool is_right = strcmp(hone_str_text(&words), pairs[i].obstacles) == 0;
        if (!is_right) fail_msg("%s, %s: %s", pairs[i].a, pairs[i].b, hone_str_text(&words));
        hone_str_deinit(&words);
    }
}

/* However its triple is spelled, a target of this architecture has this machine's cores. */
static void has_the_cores_of_its_machine(void **state) {
    static const struct {
        const char *text;
        int32_t threads;
    } rows_of[] = {
        {"x86_64-linux-gnu",                6},
        {"x86_64-pc-linux-gnu",             6},
        {"amd64-board-linux-gnu",           6},
        {"x86-64-v3",                       6},
        {"x86_64-linux-gnu -num-threads=2", 2},
        {"aarch64-linux-gnu",               1},
        {"opencl",                          1},
    };
    hone_target machine, t;
    (void)state;
    HONE_ASSERT_OK(hone_target_parse("llvm -mtriple=x86_64-linux-gnu -num-cores=6", &machine));
    for (size_t i = 0; i < HONE_COUNT(rows_of); i++) {
        HONE_ASSERT_OK(hone_target_read_on(&machine, rows_of[i].text, 0, &t));
        if (t.num_threads != rows_of[i].threads)
            fail_msg("%s: %d", rows_of[i].text, (int)t.num_threads);
    }
}

/* What a name or a feature brings along, and what goes with one that is switched off. */
static void knows_what_is_implied(void **state) {
    static const struct implied {
        const char *text, *has, *lacks;
    } rows_of[] = {
        {ARM "cortex-a510",                            "sve2",     "mops"    },
        {ARM "neoverse-v3",                            "sve2",     "cssc"    },
        {ARM "a64fx",                                  "sve",      "sve2"    },
        {ARM "generic -mattr=+sve2",                   "fullfp16", "bf16"    },
        {ARM "neoverse-v2 -mattr=-sve",                "bf16",     "sve2"    },
        {X86 "bdver2",                                 "fma4",     "avx2"    },
        {X86 "znver3",                                 "sse4a",    "avx512f" },
        {X86 "x86-64 -mattr=+avx512vl",                "avx2",     "avx512bw"},
        {X86 "x86-64-v4 -mattr=-avx2",                 "avx",      "avx512f" },
        {"x86_64-unknown-linux-gnu -mcpu=haswell",     "avx2",     "avx512f" },
        {"llvm -mtriple=arm64-linux -mcpu=cortex-a76", "dotprod",  "sve"     },
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(rows_of); i++) {
        hone_target t;
        HONE_ASSERT_OK(hone_target_parse(rows_of[i].text, &t));
        if (!hone_target_has_feature(&t, rows_of[i].has)) fail_msg("%s", rows_of[i].text);
        if (hone_target_has_feature(&t, rows_of[i].lacks)) fail_msg("%s", rows_of[i].text);
    }
}

static void says_why_not_here(void **state) {
    (void)state;
    hone_target t;
    HONE_ASSERT_OK(hone_target_detect(&t));
    HONE_ASSERT_OK(hone_target_check_here(&t));
    HONE_ASSERT_OK(hone_target_parse("nvidia/nvidia-h100", &t));
    HONE_ASSERT_ERROR(hone_target_check_here(&t), HONE_CODE_UNSUPPORTED, "nvptx64");
    HONE_ASSERT_OK(hone_target_parse("c -mtriple=riscv64-linux-gnu", &t));
    assert_false(hone_target_is_native_arch(&t));
    HONE_ASSERT_ERROR(hone_target_check_here(&t), HONE_CODE_UNSUPPORTED, "riscv64-linux-gnu");
    HONE_ASSERT_OK(hone_target_parse("llvm -mattr=+amx-bf16,+avx512fp16,+avx512bf16", &t));
    if (hone_target_runs_here(&t)) return; /* this CPU has everything */
    HONE_ASSERT_ERROR(hone_target_check_here(&t), HONE_CODE_UNSUPPORTED, "amx-bf16");
}

/* Of two targets, neither of which needs to be this machine. */
static void says_what_a_device_lacks(void **state) {
    (void)state;
    /* clang-format off */
    static const struct {
        const char *code, *device, *lacks; /* NULL: it runs */
    } pairs[] = {
        {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4",
         "llvm -mtriple=x86_64-linux-gnu -mcpu=nehalem", "avx512f"},
        {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64",
         "llvm -mtriple=x86_64-linux-gnu -mcpu=nehalem", NULL},
        {"llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3",
         "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4", NULL},
        {"llvm -mtriple=aarch64-linux-gnu", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4",
         "aarch64-linux-gnu does not run on"},
        {"aarch64 -mcpu=neoverse-v2", "aarch64 -mcpu=cortex-a72", "sve"},
        {"nvidia/nvidia-h100", "aarch64 -mcpu=cortex-a72", "nvptx64"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        hone_target code, device;
        HONE_ASSERT_OK(hone_target_parse(pairs[i].code, &code));
        HONE_ASSERT_OK(hone_target_parse(pairs[i].device, &device));
        hone_status st = hone_target_check_on(&code, &device);
        if (pairs[i].lacks) {
            HONE_ASSERT_ERROR(st, HONE_CODE_UNSUPPORTED, pairs[i].lacks);
        } else {
            HONE_ASSERT_OK(st);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detects_this_machine),
        cmocka_unit_test(every_name_parses),
        cmocka_unit_test(knows_widths),
        cmocka_unit_test(knows_what_identifies),
        cmocka_unit_test(says_what_stands_between),
        cmocka_unit_test(has_the_cores_of_its_machine),
        cmocka_unit_test(knows_what_is_implied),
        cmocka_unit_test(says_what_a_device_lacks),
        cmocka_unit_test(says_why_not_here),
    };
    int failed = HONE_RUN_ROWS("target/text", rows, check_row);
    return failed + cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
