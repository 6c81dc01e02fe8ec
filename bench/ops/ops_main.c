/* bench/ops/ops_main.c - kernels under hand-written schedules beside the libraries that people use.
 *
 * The last rows are sizes on disk. --set avx2 times the AVX2 schedules on a CPU that has AVX-512,
 * with peers kept to AVX2 as well; --only TEXT times the works that have it in their names;
 * --matmul MxNxK, --conv N,C,H,W,F,k,stride,pad and --rows KIND,NUMBER,..., any number of them,
 * time works of those shapes (ops_shape.h);
 * --keep DIR leaves what was made there: libraries, and programs and traces of such shapes;
 * --tuned PROGRAM.py [--tvm LIBRARY] times, for the one work that is asked for, what PROGRAM.db has
 * for this program (bench/search/search.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ops/ops.h"
#include "bench/ops/ops_shape.h"
#include "compile/compile.h"
#include "graph/frontend/onnx_import.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

static const ops_family *const families[] = {&ops_matmul, &ops_conv, &ops_rows};

static void add_size(bench *b, const char *name, const char *path) {
    int64_t bytes;
    bench_must(hone_fs_size(path, &bytes));
    bench_row row = {
        .work = name, .metric = "size", .unit = "KiB", .hone = (double)bytes / 1024, .spread = 0};
    bench_add(b, &row);
}

static void bench_sizes(bench *b, const char *dir) {
    char path[600];
    char *here;
    hone_module *module;
    bench_must(hone_fs_program_dir(&here));
    static const char *const programs[] = {"hone", "hone-runner", "hone-worker"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", here, programs[i]);
        add_size(b, programs[i], path);
    }
    hone_free(here);
    bench_must(hone_onnx_load(HONE_SOURCE_DIR "/examples/fashion_mnist/mlp.onnx", NULL, &module));
    hone_module_freeze(module);
    snprintf(path, sizeof path, "%s/mlp", dir);
    hone_compile_options options = {.output = path};
    hone_compile_result result;
    bench_must(hone_target_detect(&options.target));
    options.target.num_threads = 1;
    bench_must(hone_compile_module(module, &options, &result));
    hone_compile_result_deinit(&result);
    hone_module_release(module);
    snprintf(path, sizeof path, "%s/mlp.so", dir);
    add_size(b, "mlp.so (398 KiB of weights)", path);
}

/* What libraries read when they are loaded. Debian's OpenBLAS knows no new CPUs: it has to be told
 * that there is AVX-512. Its threads are not to spin for as long as they would. */
static void set_up_peers(const char *set) {
    if (strcmp(set, "avx2") == 0) {
        setenv("OPENBLAS_CORETYPE", "Haswell", 0);
        setenv("DNNL_MAX_CPU_ISA", "AVX2", 0);
    } else if (strcmp(ops_native_set(), "avx512") == 0) {
        setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    }
    setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
}

/* The value of such an option, which is taken out of the arguments; NULL = it is not given. */
static char *take_option(const char *name, int *io_argc, char **argv) {
    char *value = NULL;
    int kept = 1;
    for (int i = 1; i < *io_argc; i++) {
        if (strcmp(argv[i], name) == 0 && i + 1 < *io_argc)
            value = argv[++i];
        else
            argv[kept++] = argv[i];
    }
    *io_argc = kept;
    return value;
}

/* False when nothing was tuned. */
static bool take_tuned(int *io_argc, char **argv, ops_tuned *out) {
    char *program = take_option("--tuned", io_argc, argv);
    *out = (ops_tuned){.program = program, .tvm = take_option("--tvm", io_argc, argv)};
    if (!program) return false;
    size_t length = strlen(program);
    if (length < 4 || !strchr(program, '/') || strcmp(program + length - 3, ".py") != 0) {
        fprintf(stderr, "bench_ops: --tuned takes a path to a .py, with a '/'\n");
        exit(2);
    }
    program[length - 3] = 0;
    return true;
}

int main(int argc, char **argv) {
    bench b;
    ops_shapes shapes;
    ops_tuned tuned;
    const char *keep = take_option("--keep", &argc, argv);
    bool has_tuned = take_tuned(&argc, argv, &tuned);
    ops_shapes_take(&argc, argv, &shapes);
    bench_begin(&b, "ops", argc, argv);
    if (!b.set) b.set = ops_native_set();
    set_up_peers(b.set);
    char *temporary = NULL;
    bench_must(keep ? hone_fs_mkdirs(keep) : hone_fs_temp_dir("hone-bench-", &temporary));
    const ops_run run = {.dir = keep ? keep : temporary, .tuned = has_tuned ? &tuned : NULL};
    for (int i = 0; i < shapes.count; i++) {
        for (int threads = 1; threads <= 2; threads++) {
            if (!b.threads || b.threads == threads) ops_shapes_run(&b, &shapes, i, threads, &run);
        }
    }
    for (size_t f = 0; f < sizeof families / sizeof *families && !shapes.count; f++) {
        for (size_t i = 0; i < families[f]->count; i++) {
            const ops_work *work = &families[f]->works[i];
            if (!bench_wants(&b, work->name) && !bench_wants(&b, families[f]->name)) continue;
            for (int threads = 1; threads <= 2; threads++) {
                if (!b.threads || b.threads == threads) ops_run_work(&b, work, threads, &run);
            }
        }
    }
    if (!shapes.count && bench_wants(&b, "sizes")) bench_sizes(&b, run.dir);
    if (temporary) hone_status_free(hone_fs_remove_tree(temporary));
    hone_free(temporary);
    return bench_finish(&b);
}
