/* bench/ops/ops_shape.c - see ops_shape.h. */
#include "bench/ops/ops_shape.h"

#include <stdio.h>
#include <string.h>

#include "support/os/fs.h"
#include "target/target.h"

void ops_shapes_take(int *io_argc, char **argv, ops_shapes *out) {
    int kept = 1;
    *out = (ops_shapes){0};
    for (int i = 1; i < *io_argc; i++) {
        bool is_shape = strcmp(argv[i], "--matmul") == 0 || strcmp(argv[i], "--conv") == 0 ||
                        strcmp(argv[i], "--rows") == 0;
        if (!is_shape || i + 1 == *io_argc || out->count == OPS_MAX_SHAPES) {
            argv[kept++] = argv[i];
            continue;
        }
        out->options[out->count] = argv[i];
        out->texts[out->count++] = argv[++i];
    }
    *io_argc = kept;
}

/* Two units with a latency of four cycles; Zen 4 computes registers of 512 bits in halves. */
static ops_machine machine_of(const bench *b, int threads) {
    bool is_512 = strcmp(b->set, "avx512") == 0;
    hone_target host;
    bench_must(hone_target_detect(&host));
    bool has_halves = is_512 && strcmp(host.cpu, "znver4") == 0;
    return (ops_machine){.lanes = is_512 ? 16 : 8,
                         .registers = is_512 ? 32 : 16,
                         .fma_in_flight = has_halves ? 4 : 8,
                         .has_halves = has_halves,
                         .threads = threads};
}

int ops_choose_tile(const ops_machine *machine, int64_t count, int most, int registers) {
    int best = 1;
    double best_time = 1e300;
    for (int tile = 1; tile <= most && tile <= count; tile++) {
        int rest = (int)(count % tile);
        int least = (machine->fma_in_flight + registers - 1) / registers; /* to hide latency */
        double full = tile > least ? tile : least;
        double last = rest == 0 ? 0 : rest > least ? rest : least;
        /* what a tile takes whatever its size: the other operand is loaded once for all of it */
        double time = (double)(count / tile) * (full + 0.4) + (rest ? last + 0.4 : 0);
        if (time <= best_time) {
            best_time = time;
            best = tile;
        }
    }
    return best;
}

static void write_text(const char *path, const char *ending, const hone_str *text) {
    char name[700];
    snprintf(name, sizeof name, "%s%s", path, ending);
    bench_must(hone_str_check(text));
    bench_must(hone_fs_write_atomic(name, text->data, text->length));
}

static void run_text(bench *b, ops_work *work, ops_shape_text *text, int threads,
                     const ops_run *run) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", run->dir, text->name);
    work->name = text->name;
    work->program = path;
    write_text(path, ".py", &text->program);
    if (text->trace.length) write_text(path, ".trace.py", &text->trace);
    if (text->runtime_program.length) write_text(path, ".runtime.py", &text->runtime_program);
    if (text->runtime_trace.length) write_text(path, ".runtime.trace.py", &text->runtime_trace);
    hone_str_deinit(&text->program);
    hone_str_deinit(&text->runtime_program);
    hone_str_deinit(&text->runtime_trace);
    hone_str_deinit(&text->trace);
    ops_run_work(b, work, threads, run);
}

static void run_matmul(bench *b, const char *option, int threads, const ops_run *run) {
    long long m, n, k;
    char rest;
    if (sscanf(option, "%lldx%lldx%lld%c", &m, &n, &k, &rest) != 3 || m < 1 || n < 1 || k < 1) {
        bench_must(HONE_ERROR(HONE_CODE_INVALID, "'%s' is no shape MxNxK", option));
    }
    ops_machine machine = machine_of(b, threads);
    ops_shape_text text = {0};
    ops_matmul_text(&machine, m, n, k, &text);
    ops_work work = {
        .kind = "matmul",
        .dims = {1, m,               n,                  k},
        .weight = 2,
        .flops = 2.0 * (double)m * (double)n * (double)k,
        .peers = {&ops_blas_matmul, &ops_onednn_matmul, &ops_onnxruntime}
    };
    run_text(b, &work, &text, threads, run);
}

static void run_conv(bench *b, const char *option, int threads, const ops_run *run) {
    long long v[10] = {[8] = 1, [9] = 1};
    char rest;
    int got = sscanf(option, "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld%c", &v[0], &v[1],
                     &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &rest);
    ops_conv_shape c = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], 0, 0};
    int64_t reach = (c.k - 1) * c.d + 1;
    bool is_good = got >= 8 && got <= 10 && c.n > 0 && c.c > 0 && c.f > 0 && c.k > 0 && c.s > 0 &&
                   c.p >= 0 && c.d > 0 && c.g > 0 && c.c % c.g == 0 && c.f % c.g == 0 &&
                   c.h + 2 * c.p >= reach && c.w + 2 * c.p >= reach;
    if (!is_good) {
        bench_must(HONE_ERROR(HONE_CODE_INVALID,
                              "'%s' is no shape N,C,H,W,F,k,stride,pad[,dilation[,groups]]",
                              option));
    }
    int64_t oh = ops_conv_outputs(&c, c.h), ow = ops_conv_outputs(&c, c.w);
    ops_machine machine = machine_of(b, threads);
    bool has_blocks = c.c / c.g % 16 == 0 && c.f / c.g % 16 == 0;
    for (int is_blocked = 0; is_blocked <= (has_blocks && !run->tuned); is_blocked++) {
        ops_shape_text text = {0};
        ops_conv_text(&machine, &c, is_blocked, &text);
        ops_work work = {
            .kind = is_blocked ? "conv2d_nchwc" : "conv2d",
            .dims = {c.c,  c.h, c.f, c.k, c.s, c.g, c.p, c.w, c.n, c.d},
            .weight = 2,
            .flops = 2.0 * (double)(c.n * c.f * oh * ow * (c.c / c.g) * c.k * c.k),
            .peers = {&ops_onednn_conv, is_blocked ? NULL : &ops_onnxruntime}
        };
        run_text(b, &work, &text, threads, run);
    }
}

static void run_rows(bench *b, const char *option, int threads, const ops_run *run) {
    ops_shape_text text = {0};
    ops_work work = {
        .peers = {&ops_onednn_rows, &ops_onnxruntime}
    };
    if (!ops_rows_shape(option, &work, &text))
        bench_must(HONE_ERROR(HONE_CODE_INVALID, "'%s' is no KIND,NUMBER,... of rows", option));
    if (strcmp(work.kind, "bytes_matmul") == 0) {
        ops_machine machine = machine_of(b, threads);
        work.weight = 2;
        ops_bytes_traces(&machine, work.dims[0], work.dims[1], work.dims[2], &text);
    }
    run_text(b, &work, &text, threads, run);
}

void ops_shapes_run(bench *b, const ops_shapes *shapes, int index, int threads,
                    const ops_run *run) {
    const char *option = shapes->options[index];
    (strcmp(option, "--matmul") == 0 ? run_matmul
     : strcmp(option, "--conv") == 0 ? run_conv
                                     : run_rows)(b, shapes->texts[index], threads, run);
}
