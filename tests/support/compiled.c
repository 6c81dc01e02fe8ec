/* tests/support/compiled.c - compiles kernels in both ways, runs them, compares with the
 * interpreter. */
#include "tests/support/compiled.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/link.h"
#include "codegen/codegen.h"
#include "ir/interp/interp.h"
#include "lower/ground/lower.h"
#include "runtime/guarded.h"
#include "runtime/model/model_rt.h"
#include "support/core/attributes.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/support/elsewhere.h"

static hone_status load(const char *path, test_compiled *out) {
    out->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!out->library) return HONE_ERROR(HONE_CODE_INVALID, "dlopen: %s", dlerror());
    void *symbol = dlsym(out->library, "kernel");
    if (!symbol) return HONE_ERROR(HONE_CODE_INVALID, "no symbol 'kernel'");
    memcpy(&out->kernel, &symbol, sizeof symbol);
    return HONE_OK;
}

static const struct compiler {
    const char *path, *level;
} compilers[] = {
    {"cc",             "-O1"},
    {"/usr/bin/clang", "-O3"},
    {"/usr/bin/gcc",   "-O3"},
    {"/usr/bin/clang", "-O0"},
    {"/usr/bin/gcc",   "-O0"},
};

/* With all warnings: the text is meant for any compiler and any project's flags. Those of this
 * machine take turns. */
hone_status test_compile_c(const char *text, size_t length, const char *path) {
    static size_t turn;
    struct compiler by = compilers[turn++ % HONE_COUNT(compilers)];
    if (by.path[0] == '/' && access(by.path, X_OK) != 0) by.path = "cc";
    char source[160];
    snprintf(source, sizeof source, "%s.c", path);
    HONE_TRY(hone_fs_write_atomic(source, text, length));
    const char *const argv[] = {by.path,   "-std=c11", "-Wall", "-Wextra", "-pedantic",
                                "-Werror", by.level,   "-fPIC", "-shared", "-ffp-contract=off",
                                "-o",      path,       source,  "-lm",     NULL};
    const hone_clock *clock = hone_clock_system();
    hone_str said = {0};
    hone_proc proc;
    hone_status st = hone_proc_run(
        argv, 1 << 16, clock, hone_deadline_after(clock, 300 * HONE_NS_PER_S), NULL, &said, &proc);
    if (!st && (proc.term_signal != 0 || proc.exit_code != 0)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s %s %s: %s", by.path, by.level, source,
                        hone_str_text(&said));
    } else {
        unlink(source);
    }
    hone_str_deinit(&said);
    return st;
}

/* An object, or C text. */
static hone_status generate(const hone_func *func, const hone_target *target, hone_arena *arena,
                            hone_str *out) {
    const hone_backend *backend;
    HONE_TRY(hone_backend_find(target->kind == HONE_TARGET_C ? "c" : "obj", target, &backend));
    hone_lower_options lower = {.target = target, .keeps_loops = backend->facts & HONE_EMITS_LOOPS};
    hone_func *lowered;
    HONE_TRY(hone_lower_func(func, &lower, arena, &lowered));
    hone_codegen_kernel kernel = {.func = lowered, .symbol = "kernel"};
    hone_codegen_options options = {.target = target, .form = backend->form, .verify = true};
    return backend->generate(&kernel, 1, &options, out);
}

static hone_status build(const hone_func *func, const hone_target *target, hone_arena *arena,
                         const char *path) {
    hone_str object = {0};
    hone_status st = generate(func, target, arena, &object);
    if (!st && target->kind == HONE_TARGET_C) {
        st = test_compile_c(object.data, object.length, path);
    } else if (!st) {
        st = hone_link_shared(target, object.data, object.length, false, path);
    }
    hone_str_deinit(&object);
    return st;
}

hone_status test_compile(const hone_func *func, const hone_target *target,
                         test_compiled *out_compiled) {
    static int number;
    memset(out_compiled, 0, sizeof *out_compiled);
    char path[128];
    snprintf(path, sizeof path, "/tmp/hone-test-%ld-%d.so", (long)getpid(), number++);
    hone_arena *arena = hone_arena_create(1 << 16);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    hone_status st = build(func, target, arena, path);
    hone_arena_destroy(arena);
    if (st) return st;
    st = load(path, out_compiled);
    unlink(path);
    hone_model_rt_options options = {.thread_count = target->num_threads};
    if (!st && hone_model_rt_create(&options, &out_compiled->rt) != 0) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "runtime");
    }
    if (st) test_compiled_deinit(out_compiled);
    return st;
}

void test_compiled_deinit(test_compiled *compiled) {
    hone_model_rt_destroy(compiled->rt);
    if (compiled->library) dlclose(compiled->library);
    memset(compiled, 0, sizeof *compiled);
}

int32_t test_compiled_run(const test_compiled *compiled, hone_tensor *const *args,
                          const int64_t *sizes) {
    void *buffers[32] = {0};
    for (size_t i = 0; i < 32 && args[i]; i++)
        buffers[i] = args[i]->data;
    return compiled->kernel(compiled->rt, buffers, sizes);
}

/* ---- comparison with the interpreter ---- */

enum { MOST = 31 };

static hone_status make_args(const hone_func *func, uint64_t seed, hone_tensor **args) {
    hone_rng rng = hone_rng_from_seed(seed);
    for (uint32_t p = 0; p < func->param_count && p < MOST; p++) {
        const hone_buffer_info *buffer = &func->buffers[func->params[p].buffer];
        int64_t shape[HONE_MAX_RANK];
        for (uint32_t d = 0; d < buffer->rank; d++)
            shape[d] = hone_expr_const(buffer->shape[d]);
        HONE_TRY(hone_tensor_create(buffer->dtype, (int32_t)buffer->rank, shape, &args[p]));
        bool is_float = hone_dtype_is_float(buffer->dtype);
        hone_tensor_fill_random(args[p], &rng, is_float ? -1.0 : 0.0, is_float ? 1.0 : 5.0);
    }
    return HONE_OK;
}

static hone_status compare(const hone_func *func, hone_tensor *const *got, hone_tensor *const *want,
                           double tolerance) {
    for (uint32_t p = 0; p < func->param_count; p++) {
        double largest = 0;
        for (int64_t i = 0; i < hone_tensor_count(want[p]); i++) {
            double value = fabs(hone_tensor_get_f64(want[p], i));
            if (isfinite(value) && value > largest) largest = value;
        }
        bool is_float = hone_dtype_is_float(want[p]->dtype);
        double epsilon = is_float ? hone_dtype_epsilon(want[p]->dtype) : 0;
        double bound = is_float ? (tolerance + 2 * epsilon) * (largest > 1e-30 ? largest : 1) : 0;
        hone_tensor_diff diff = hone_tensor_diff_make(got[p], want[p], 0, bound);
        if (diff.is_comparable && diff.bad_count == 0) continue;
        hone_str text = {0};
        hone_tensor_diff_print(&diff, want[p], &text);
        hone_status st =
            HONE_ERROR(HONE_CODE_INVALID, "buffer '%s': %s",
                       func->buffers[func->params[p].buffer].name, hone_str_text(&text));
        hone_str_deinit(&text);
        return st;
    }
    return HONE_OK;
}

/* In memory with a guard page behind it: what reads beyond the last element ends the test. */
static hone_status run_guarded(const test_compiled *compiled, hone_tensor *const *args) {
    hone_guarded memory[MOST + 1] = {0};
    void *buffers[MOST + 1] = {0};
    hone_status st = HONE_OK;
    for (int i = 0; i < MOST && args[i] && !st; i++) {
        st = hone_guarded_map(hone_tensor_bytes(args[i]), HONE_GUARD_END, &memory[i]);
        if (!st) memcpy(memory[i].data, args[i]->data, memory[i].bytes);
        buffers[i] = memory[i].data;
    }
    int32_t code = st ? 0 : compiled->kernel(compiled->rt, buffers, NULL);
    if (code != 0) st = HONE_ERROR(HONE_CODE_INVALID, "the kernel returned %d", (int)code);
    for (int i = 0; i < MOST && args[i]; i++) {
        int64_t damage = st ? INT64_MIN : hone_guarded_damage(&memory[i]);
        if (damage != INT64_MIN) {
            st = HONE_ERROR(HONE_CODE_INVALID, "buffer %d is written at byte %lld of %zu", i,
                            (long long)damage, memory[i].bytes);
        }
        if (!st) memcpy(args[i]->data, memory[i].data, memory[i].bytes);
        hone_guarded_unmap(&memory[i]);
    }
    return st;
}

static hone_status run_here(const hone_func *func, const hone_target *target,
                            hone_tensor *const *args) {
    test_compiled compiled = {0};
    hone_status st = test_compile(func, target, &compiled);
    if (!st) st = run_guarded(&compiled, args);
    test_compiled_deinit(&compiled);
    return st;
}

static hone_status run_emulated(const hone_func *func, const hone_target *target,
                                hone_tensor *const *args) {
    hone_str object = {0};
    hone_arena *arena = hone_arena_create(1 << 16);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    hone_status st = generate(func, target, arena, &object);
    if (!st) st = test_run_elsewhere(&object, args);
    hone_arena_destroy(arena);
    hone_str_deinit(&object);
    return st;
}

hone_status test_run(const hone_func *func, const hone_target *target, hone_tensor *const *args) {
    bool is_here = target->kind == HONE_TARGET_C || hone_target_is_native_arch(target);
    return is_here ? run_here(func, target, args) : run_emulated(func, target, args);
}

hone_status test_compare(const hone_func *func, const hone_target *target, uint64_t seed,
                         double tolerance) {
    hone_tensor *got[MOST + 1] = {0}, *want[MOST + 1] = {0};
    hone_interp_options options = {0};
    hone_status st = make_args(func, seed, got);
    if (!st) st = make_args(func, seed, want);
    if (!st) st = hone_interp_func(func, want, func->param_count, &options);
    if (!st) st = test_run(func, target, got);
    if (!st) st = compare(func, got, want, tolerance);
    for (int i = 0; i < MOST; i++) {
        hone_tensor_destroy(got[i]);
        hone_tensor_destroy(want[i]);
    }
    return st;
}
