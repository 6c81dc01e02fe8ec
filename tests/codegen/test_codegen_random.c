/* tests/codegen/test_codegen_random.c - random programs, as written and with random loop kinds,
 * compiled in batches (through LLVM, or as C source by the system's compiler) and compared with the
 * interpreter. HONE_SEQUENCES sets how many of each kind, HONE_FIRST_SEED from where. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "builder/link.h"
#include "codegen/codegen.h"
#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "runtime/model/model_rt.h"
#include "tests/support/annotate_loops.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { BATCH = 32 };

static const hone_random_options varied = {.is_varied = true};

#define OF_CPU(triple, cpu, first)                                                                 \
    {                                                                                              \
        cpu, "llvm -mtriple=" triple "-linux-gnu -mcpu=" cpu " -num-threads=2", first, 16, true,   \
            TO_OBJECT                                                                              \
    }
#define X86(cpu, first) OF_CPU("x86_64", cpu, first)
#define ARM64(cpu, first) OF_CPU("aarch64", cpu, first)

static const struct row {
    const char *name, *target;
    uint64_t first, count;
    bool is_annotated;
    enum { TO_OBJECT, TO_C, TO_C_LANES } to; /* LANES: vectors are made before C is printed */
} rows[] = {
    {"as written",            "host -num-threads=1",                 0,    160, false, TO_OBJECT },
    {"annotated",             "host -num-threads=3",                 1000, 320, true,  TO_OBJECT },
    {"annotated, AVX2",       "llvm -mcpu=x86-64-v3 -num-threads=2", 2000, 96,  true,  TO_OBJECT },
    {"annotated, SSE2 alone", "llvm -mcpu=x86-64 -num-threads=2",    3000, 64,  true,  TO_OBJECT },
    {"C",                     "host -num-threads=1",                 4000, 64,  false, TO_C      },
    {"annotated, C",          "host -num-threads=3",                 5000, 96,  true,  TO_C      },
    {"annotated, C, lanes",   "host -num-threads=3",                 6000, 96,  true,  TO_C_LANES},
 /* compiled and linked; run where this machine can */
    X86("x86-64-v2", 20000),
    X86("x86-64-v4", 20100),
    X86("nehalem", 20200),
    X86("sandybridge", 20300),
    X86("haswell", 20400),
    X86("znver2", 20500),
    X86("znver3", 20600),
    X86("znver4", 20700),
    X86("znver5", 20800),
    X86("skylake-avx512", 20900),
    X86("icelake-server", 21000),
    X86("alderlake", 21100),
    X86("sapphirerapids", 21200),
    ARM64("cortex-a53", 22000),
    ARM64("cortex-a72", 22100),
    ARM64("cortex-a76", 22200),
    ARM64("neoverse-n1", 22300),
    ARM64("neoverse-v1", 22400),
    ARM64("neoverse-n2", 22500),
    ARM64("neoverse-v2", 22600),
};

typedef struct batch {
    hone_arena *arena;
    hone_func *funcs[BATCH];
    char symbols[BATCH][32];
    size_t count;
} batch;

static hone_status make(const struct row *row, uint64_t first, const hone_target *target, batch *b,
                        hone_codegen_kernel *kernels) {
    for (size_t i = 0; i < b->count; i++) {
        uint64_t seed = first + i;
        b->funcs[i] = hone_random_program(b->arena, seed, &varied);
        hone_rng rng = hone_rng_from_seed(seed);
        if (row->is_annotated) test_annotate_loops(b->funcs[i], &rng);
        hone_func *lowered;
        hone_lower_options options = {.target = target, .keeps_loops = row->to == TO_C};
        HONE_TRY(hone_lower_func(b->funcs[i], &options, b->arena, &lowered));
        snprintf(b->symbols[i], sizeof b->symbols[i], "k%zu", i);
        kernels[i] = (hone_codegen_kernel){.func = lowered, .symbol = b->symbols[i]};
    }
    return HONE_OK;
}

static hone_status build(const struct row *row, uint64_t first, const hone_target *target, batch *b,
                         const char *path) {
    hone_codegen_kernel kernels[BATCH];
    HONE_TRY(make(row, first, target, b, kernels));
    hone_codegen_options options = {.target = target, .form = HONE_FORM_OBJECT, .verify = true};
    hone_str object = {0};
    if (row->to != TO_OBJECT) {
        hone_status st = hone_codegen_c(kernels, b->count, &options, &object);
        if (!st) st = test_compile_c(object.data, object.length, path);
        hone_str_deinit(&object);
        return st;
    }
    hone_status st = hone_codegen_llvm(kernels, b->count, &options, &object);
    if (!st) st = hone_link_shared(target, object.data, object.length, false, path);
    hone_str_deinit(&object);
    return st;
}

static hone_status compare(const hone_func *func, uint64_t seed, hone_kernel kernel,
                           const hone_rt *rt) {
    hone_tensor **want = hone_test_make_args(func, seed), **got = hone_test_make_args(func, seed);
    hone_interp_options options = {0};
    hone_status st = hone_interp_func(func, want, func->param_count, &options);
    void *buffers[64];
    for (uint32_t i = 0; i < func->param_count; i++)
        buffers[i] = got[i]->data;
    int32_t code = st ? 0 : kernel(rt, buffers, NULL);
    hone_str why = {0};
    if (!st && code != 0) st = HONE_ERROR(HONE_CODE_INVALID, "the kernel returned %d", (int)code);
    if (!st && !hone_test_args_agree(func, seed, got, want, &why)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&why));
        hone_status_free(hone_func_print(func, NULL, &why));
        fputs(hone_str_text(&why), stderr);
    }
    hone_str_deinit(&why);
    hone_test_free_args(func, want);
    hone_test_free_args(func, got);
    return hone_status_annotate(st, "seed %llu", (unsigned long long)seed);
}

static hone_status run(const batch *b, uint64_t first, const char *path, int32_t threads) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return HONE_ERROR(HONE_CODE_INVALID, "dlopen: %s", dlerror());
    hone_model_rt_options options = {.thread_count = threads};
    hone_rt *rt;
    hone_status st = HONE_OK;
    if (hone_model_rt_create(&options, &rt) != 0) return HONE_ERROR(HONE_CODE_NO_MEMORY, "rt");
    for (size_t i = 0; !st && i < b->count; i++) {
        hone_kernel kernel;
        void *symbol = dlsym(library, b->symbols[i]);
        memcpy(&kernel, &symbol, sizeof symbol);
        st = compare(b->funcs[i], first + i, kernel, rt);
    }
    hone_model_rt_destroy(rt);
    dlclose(library);
    return st;
}

static hone_status check_batch(const struct row *row, uint64_t first, size_t count) {
    hone_target target;
    HONE_TRY(hone_target_parse(row->target, &target));
    char path[128];
    snprintf(path, sizeof path, "/tmp/hone-random-%ld.so", (long)getpid());
    batch b = {.arena = hone_arena_create(1 << 18), .count = count};
    hone_status st = build(row, first, &target, &b, path);
    st = hone_status_annotate(st, "seeds from %llu", (unsigned long long)first);
    if (!st && hone_target_runs_here(&target)) st = run(&b, first, path, target.num_threads);
    unlink(path);
    hone_arena_destroy(b.arena);
    return st;
}

static void agrees_with_the_interpreter(void **state) {
    const struct row *row = *state;
    uint64_t count = hone_test_count(row->count);
    uint64_t first = hone_test_seed(row->first);
    for (uint64_t done = 0; done < count; done += BATCH) {
        uint64_t left = count - done;
        HONE_ASSERT_OK(check_batch(row, first + done, left < BATCH ? (size_t)left : BATCH));
    }
}

int main(void) {
    return HONE_RUN_ROWS("codegen/random", rows, agrees_with_the_interpreter);
}
