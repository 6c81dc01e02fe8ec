/* tests/codegen/test_kernels_random.c - random kernels (every type, sizes known at run time,
 * annotations): the interpreter finds the same after each pass, and so does the compiled code.
 * HONE_SEQUENCES sets how many. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "builder/link.h"
#include "codegen/codegen.h"
#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "runtime/model/model_rt.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_kernel.h"
#include "tests/support/random_program.h"

enum { BATCH = 32, KERNELS = 96, MOST_SIZES = 8 };

/* AVX-512, AVX2, and neither: what this machine cannot run is lowered and compiled all the same. */
static const char *const targets[] = {"host -num-threads=2", "llvm -mcpu=x86-64-v3 -num-threads=2",
                                      "llvm -mcpu=x86-64 -num-threads=2",
                                      "llvm -mcpu=x86-64-v4 -num-threads=1"};

typedef struct job {
    uint64_t seed;
    hone_str text;
    hone_module *module;
    const hone_func *func;
    hone_func *lowered;
    hone_tensor **want; /* by the interpreter, before lowering */
    int64_t sizes[MOST_SIZES];
    char symbol[32];
} job;

static hone_status differs(const job *j, hone_tensor *const *got) {
    for (uint32_t i = 0; i < j->func->param_count; i++) {
        double most = 0;
        for (int64_t e = 0; e < hone_tensor_count(j->want[i]); e++) {
            double x = hone_tensor_get_f64(j->want[i], e);
            if (x > most || -x > most) most = x < 0 ? -x : x;
        }
        double atol = most * test_dtype_tolerance(j->want[i]->dtype);
        hone_tensor_diff diff = hone_tensor_diff_make(got[i], j->want[i], 0, atol);
        if (diff.is_comparable && diff.bad_count == 0) continue;
        hone_str why = {0};
        hone_tensor_diff_print(&diff, j->want[i], &why);
        hone_status st = HONE_ERROR(HONE_CODE_INTERNAL, "parameter %u: %s", i, hone_str_text(&why));
        hone_str_deinit(&why);
        return st;
    }
    return HONE_OK;
}

static hone_status check_pass(void *ctx, const char *pass, const hone_func *func) {
    const job *j = ctx;
    int64_t sizes[MOST_SIZES];
    hone_tensor **got = test_random_kernel_args(j->func, j->seed, sizes);
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    if (!st) st = differs(j, got);
    hone_test_free_args(j->func, got);
    return hone_status_annotate(st, "after %s", pass);
}

static hone_status prepare(job *j, const hone_target *target, hone_arena *arena) {
    test_random_kernel(j->seed, &j->text);
    HONE_TRY(hone_script_parse(hone_str_text(&j->text), j->text.length, "kernel", &j->module));
    const hone_member *member;
    HONE_TRY(hone_module_pick(j->module, NULL, &member));
    j->func = member->func;
    j->want = test_random_kernel_args(j->func, j->seed, j->sizes);
    hone_interp_options interp = {.check_uninitialised = true};
    HONE_TRY(hone_interp_func(j->func, j->want, j->func->param_count, &interp));
    hone_lower_options options = {.target = target, .after = check_pass, .ctx = j};
    return hone_lower_func(j->func, &options, arena, &j->lowered);
}

static hone_status run_native(const job *j, void *library, const hone_rt *rt) {
    hone_kernel kernel;
    void *symbol = dlsym(library, j->symbol), *buffers[16];
    memcpy(&kernel, &symbol, sizeof symbol);
    int64_t sizes[MOST_SIZES];
    hone_tensor **got = test_random_kernel_args(j->func, j->seed, sizes);
    for (uint32_t i = 0; i < j->func->param_count; i++)
        buffers[i] = got[i]->data;
    int32_t code = kernel(rt, buffers, sizes);
    hone_status st =
        code ? HONE_ERROR(HONE_CODE_INVALID, "the kernel returned %d", (int)code) : differs(j, got);
    hone_test_free_args(j->func, got);
    return hone_status_annotate(st, "compiled");
}

static hone_status compile(const job *jobs, uint32_t count, const hone_target *target,
                           const char *path) {
    hone_codegen_kernel kernels[BATCH];
    for (uint32_t i = 0; i < count; i++)
        kernels[i] = (hone_codegen_kernel){.func = jobs[i].lowered, .symbol = jobs[i].symbol};
    hone_codegen_options options = {.target = target, .form = HONE_FORM_OBJECT, .verify = true};
    hone_str object = {0};
    hone_status st = hone_codegen_llvm(kernels, count, &options, &object);
    if (!st) st = hone_link_shared(target, object.data, object.length, false, path);
    hone_str_deinit(&object);
    return st;
}

/* The number of failures; the first of each kernel is printed. */
static uint32_t run_all(const job *jobs, uint32_t count, const hone_target *target,
                        const char *path) {
    uint32_t failed = 0;
    if (!hone_target_runs_here(target)) return 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    hone_model_rt_options options = {.thread_count = target->num_threads};
    hone_rt *rt = NULL;
    if (!library || hone_model_rt_create(&options, &rt) != 0) return 1;
    for (uint32_t i = 0; i < count; i++) {
        hone_status st = run_native(&jobs[i], library, rt);
        if (!st) continue;
        failed++;
        fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)jobs[i].seed,
                hone_status_message(st), hone_str_text(&jobs[i].text));
        hone_status_free(st);
    }
    hone_model_rt_destroy(rt);
    dlclose(library);
    return failed;
}

static uint32_t check_batch(const char *name, uint64_t first, uint32_t count) {
    hone_target target;
    hone_arena *arena = hone_arena_create(1 << 18);
    job *jobs = hone_calloc(BATCH, sizeof *jobs);
    HONE_ASSERT_OK(hone_target_parse(name, &target));
    uint32_t made = 0, failed = 0;
    for (uint32_t i = 0; i < count; i++) {
        job *j = &jobs[made];
        j->seed = first + i;
        snprintf(j->symbol, sizeof j->symbol, "k%u", made);
        hone_status st = prepare(j, &target, arena);
        made++;
        if (!st) continue;
        failed++;
        fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)j->seed, hone_status_message(st),
                hone_str_text(&j->text));
        hone_status_free(st);
    }
    char path[128];
    snprintf(path, sizeof path, "/tmp/hone-kernels-%ld.so", (long)getpid());
    if (failed == 0) {
        HONE_ASSERT_OK(compile(jobs, made, &target, path));
        failed += run_all(jobs, made, &target, path);
        unlink(path);
    }
    for (uint32_t i = 0; i < made; i++) {
        if (jobs[i].want) hone_test_free_args(jobs[i].func, jobs[i].want);
        hone_module_release(jobs[i].module);
        hone_str_deinit(&jobs[i].text);
    }
    hone_free(jobs);
    hone_arena_destroy(arena);
    return failed;
}

static void kernels_agree_with_the_interpreter(void **state) {
    (void)state;
    uint64_t count = hone_test_count(KERNELS);
    uint64_t first = hone_test_seed(1);
    uint32_t failed = 0;
    for (uint64_t done = 0; done < count; done += BATCH) {
        uint64_t left = count - done;
        failed += check_batch(targets[done / BATCH % HONE_COUNT(targets)], first + done,
                              left < BATCH ? (uint32_t)left : BATCH);
    }
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_agree_with_the_interpreter)};
    return cmocka_run_group_tests_name("codegen/kernels_random", tests, NULL, NULL);
}
