/* bench/bench_ops.c - kernels beside the libraries that people use for them.
 *
 * Each program of bench/programs/ is compiled with the best record of build/bench/ops.db when there
 * is one (scripts/bench --tune fills it), else with its default schedule, and timed in pairs with
 * OpenBLAS and oneDNN in this process. Operands have plain layouts on both sides; bias and relu
 * follow a library's product as a loop of their own. A library that is not there is left out.
 * The last rows are sizes on disk.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_util.h"
#include "compile/compile.h"
#include "graph/frontend/onnx_import.h"
#include "ir/script.h"
#include "runtime/model_load.h"
#include "support/alloc.h"
#include "support/fs.h"

typedef struct shape {
    const char *program;
    int m, n, k;
    bool has_epilogue; /* bias and relu */
} shape;

static const shape shapes[] = {
    {"matmul_128",         128, 128,  128,  false},
    {"matmul_512",         512, 512,  512,  false},
    {"dense_1x784x128",    1,   128,  784,  true },
    {"dense_64x1024x1024", 64,  1024, 1024, true },
};

/* cblas_sgemm and dnnl_sgemm, found at run time: no library is needed to build. */
typedef void (*cblas_fn)(int order, int ta, int tb, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);
typedef int (*dnnl_fn)(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                       const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                       float *c, int64_t ldc);
typedef void (*set_threads_fn)(int threads);

typedef struct peers {
    cblas_fn cblas;
    dnnl_fn dnnl;
    set_threads_fn blas_threads, omp_threads;
} peers;

typedef struct job {
    const shape *shape;
    const peers *peers;
    float *x, *w, *b, *y;
    hone_model_call *call;
} job;

static void *symbol_of(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    return handle ? dlsym(handle, name) : NULL;
}

static peers find_peers(void) {
    peers p = {0};
    void *s[4] = {symbol_of("libopenblas.so.0", "cblas_sgemm"),
                  symbol_of("libdnnl.so.2", "dnnl_sgemm"),
                  symbol_of("libopenblas.so.0", "openblas_set_num_threads"),
                  symbol_of("libgomp.so.1", "omp_set_num_threads")};
    memcpy(&p.cblas, &s[0], sizeof s[0]); /* ISO C has no cast for this */
    memcpy(&p.dnnl, &s[1], sizeof s[1]);
    memcpy(&p.blas_threads, &s[2], sizeof s[2]);
    memcpy(&p.omp_threads, &s[3], sizeof s[3]);
    return p;
}

static void run_hone(void *ctx) {
    const job *j = ctx;
    if (hone_model_call_run(j->call) != 0) bench_must(HONE_ERROR(HONE_CODE_INTERNAL, "kernel"));
}

static void finish(const job *j) {
    const shape *s = j->shape;
    for (int i = 0; s->has_epilogue && i < s->m; i++) {
        float *row = j->y + (size_t)i * (size_t)s->n;
        for (int k = 0; k < s->n; k++) {
            float v = row[k] + j->b[k];
            row[k] = v > 0 ? v : 0;
        }
    }
}

static void run_blas(void *ctx) {
    const job *j = ctx;
    const shape *s = j->shape;
    j->peers->cblas(101, 111, 111, s->m, s->n, s->k, 1, j->x, s->k, j->w, s->n, 0, j->y, s->n);
    finish(j);
}

static void run_dnnl(void *ctx) {
    const job *j = ctx;
    const shape *s = j->shape;
    j->peers->dnnl('N', 'N', s->m, s->n, s->k, 1, j->x, s->k, j->w, s->n, 0, j->y, s->n);
    finish(j);
}

/* ---- compiling ---- */

static hone_db *open_records(void) {
    hone_db *db = NULL;
    hone_db_options options = {.path = HONE_SOURCE_DIR "/build/bench/ops.db", .mode = HONE_DB_READ};
    hone_status_free(hone_db_open_sqlite(&options, &db)); /* there may be none */
    return db;
}

/* Returns where the schedule came from: "record", "default". */
static const char *compile(const hone_module *module, hone_db *db, int threads,
                           const char *output) {
    hone_compile_options options = {.output = output, .db = db};
    hone_compile_result result;
    bench_must(hone_target_detect(&options.target));
    options.target.num_threads = threads;
    bench_must(hone_compile_module(module, &options, &result));
    const char *source = hone_compile_source_name(result.kernels[0].source);
    hone_compile_result_deinit(&result);
    return source;
}

static hone_tensor *make_tensor(hone_rng *rng, int rank, int64_t a, int64_t b) {
    hone_tensor *tensor;
    bench_must(hone_tensor_create(HONE_DTYPE_F32, rank, (int64_t[]){a, b}, &tensor));
    hone_tensor_fill_random(tensor, rng, -1, 1);
    return tensor;
}

static void bench_shape(bench *b, const shape *s, const peers *p, hone_db *db, int threads,
                        const char *dir) {
    char path[512], library[600], work[128];
    hone_module *module;
    hone_loaded_model *model;
    const hone_model_entry *entry;
    snprintf(path, sizeof path, "%s/bench/programs/%s.py", HONE_SOURCE_DIR, s->program);
    bench_must(hone_script_load(path, &module));
    hone_module_freeze(module);
    snprintf(path, sizeof path, "%s/%s_%d", dir, s->program, threads);
    const char *source = compile(module, db, threads, path);
    snprintf(library, sizeof library, "%s.so", path);
    bench_must(hone_loaded_model_open(library, threads, &model));
    bench_must(hone_loaded_model_entry(model, NULL, &entry));

    hone_rng rng = hone_rng_from_seed(1);
    hone_tensor *inputs[] = {make_tensor(&rng, 2, s->m, s->k), make_tensor(&rng, 2, s->k, s->n),
                             make_tensor(&rng, 1, s->n, 0)};
    hone_tensor *output = make_tensor(&rng, 2, s->m, s->n),
                *other = make_tensor(&rng, 2, s->m, s->n);
    job j = {.shape = s,
             .peers = p,
             .x = inputs[0]->data,
             .w = inputs[1]->data,
             .b = inputs[2]->data,
             .y = other->data};
    bench_must(hone_model_call_create(model, entry, inputs, &output, &j.call));
    snprintf(work, sizeof work, "%s, %d thread%s, %s", s->program, threads, threads == 1 ? "" : "s",
             source);
    double seconds = b->seconds > 0 ? b->seconds : b->is_quick ? 0.05 : 1.5;
    if (p->blas_threads) p->blas_threads(threads);
    if (p->omp_threads) p->omp_threads(threads);
    if (p->cblas) {
        bench_pair pair =
            bench_run_pair((bench_work){run_hone, &j}, (bench_work){run_blas, &j}, seconds);
        hone_tensor_diff diff = hone_tensor_diff_make(output, other, 1e-3, 1e-2);
        if (diff.bad_count) bench_must(HONE_ERROR(HONE_CODE_INTERNAL, "%s: results differ", work));
        bench_add_pair(b, work, "us", 1e3, "OpenBLAS", &pair);
    } else {
        bench_skip(b, work, "libopenblas.so.0 is not installed (scripts/setup)");
    }
    if (p->dnnl) {
        bench_pair pair =
            bench_run_pair((bench_work){run_hone, &j}, (bench_work){run_dnnl, &j}, seconds);
        bench_add_pair(b, work, "us", 1e3, "oneDNN sgemm", &pair);
    } else {
        bench_skip(b, work, "libdnnl.so.2 is not installed (scripts/setup)");
    }
    hone_model_call_destroy(j.call);
    hone_loaded_model_close(model);
    for (int i = 0; i < 3; i++)
        hone_tensor_destroy(inputs[i]);
    hone_tensor_destroy(output);
    hone_tensor_destroy(other);
    hone_module_release(module);
}

/* ---- sizes ---- */

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
    compile(module, NULL, 1, path);
    hone_module_release(module);
    snprintf(path, sizeof path, "%s/mlp.so", dir);
    add_size(b, "mlp.so (398 KiB of weights)", path);
}

int main(int argc, char **argv) {
    bench b;
    /* Debian's OpenBLAS knows no new CPUs: without this it runs its Haswell kernels. */
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
#endif
    bench_begin(&b, "ops", argc, argv);
    peers p = find_peers();
    hone_db *db = open_records();
    char *dir;
    bench_must(hone_fs_temp_dir("hone-bench-", &dir));
    for (int threads = 1; threads <= 2; threads++) {
        if (b.threads && b.threads != threads) continue;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            bench_shape(&b, &shapes[i], &p, db, threads, dir);
    }
    bench_sizes(&b, dir);
    hone_db_release(db);
    hone_status_free(hone_fs_remove_tree(dir));
    hone_free(dir);
    return bench_finish(&b);
}
