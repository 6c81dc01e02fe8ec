/* bench/bench_build.c - milliseconds that a candidate takes from trace to loadable library.
 *
 * Random members of a sketch go one after the other through one hone-worker process, as in a tune
 * with one builder: replay, lowering, LLVM, link. Candidates that the sketch does not allow are
 * drawn again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_util.h"
#include "builder/builder.h"
#include "ir/script.h"
#include "schedule/schedule.h"
#include "support/alloc.h"
#include "support/clock.h"
#include "support/fs.h"

enum { MAX_CANDIDATES = 100 };

typedef struct subject {
    hone_module *module;
    hone_schedule *sch;
    hone_arena *arena; /* of the sketch */
    hone_trace sketch;
    hone_str program;
    char path[512]; /* of the libraries */
} subject;

static void source_path(const char *file, char out[512]) {
    snprintf(out, 512, "%s/bench/programs/%s", HONE_SOURCE_DIR, file);
}

static void load(subject *s, const char *name, const char *dir) {
    char file[256], path[512];
    *s = (subject){.arena = hone_arena_create(1 << 16)};
    snprintf(file, sizeof file, "%s.py", name);
    source_path(file, path);
    bench_must(hone_script_load(path, &s->module));
    const hone_member *member;
    bench_must(hone_module_pick(s->module, NULL, &member));
    bench_must(hone_schedule_create(member->func, &s->sch));
    bench_must(hone_func_print(member->func, NULL, &s->program));
    snprintf(file, sizeof file, "%s.space.py", name);
    source_path(file, path);
    bench_must(hone_trace_load(s->arena, path, NULL, NULL, &s->sketch));
    snprintf(s->path, sizeof s->path, "%s/%s.so", dir, name);
}

static void unload(subject *s) {
    hone_str_deinit(&s->program);
    hone_schedule_destroy(s->sch);
    hone_module_release(s->module);
    hone_arena_destroy(s->arena);
}

/* The trace of a random member of the sketch; the caller frees the text. */
static void draw(subject *s, uint64_t seed, hone_str *out_trace) {
    for (uint64_t attempt = 0;; attempt++) {
        bench_must(hone_schedule_reset(s->sch));
        s->sch->rng = hone_rng_from_seed(seed * 1000 + attempt);
        hone_status st =
            hone_trace_apply(&s->sketch, s->sch, &(hone_apply_options){.resample = true});
        if (!st) break;
        if (attempt == 100) bench_must(st);
        hone_status_free(st);
    }
    bench_must(hone_trace_print_json(&s->sch->trace, out_trace));
}

/* Wall time of one build in milliseconds; NAN when the compiler refused it. */
static double build(hone_builder *builder, subject *s, const char *trace, hone_build_times *times) {
    hone_build_request request = {.program = hone_str_text(&s->program),
                                  .trace = trace,
                                  .target = "host",
                                  .entry = "kernel",
                                  .output_path = s->path};
    hone_arena *arena = hone_arena_create(4096);
    hone_ticket ticket;
    hone_build_result result;
    int64_t start = bench_now_ns();
    bench_must(hone_builder_submit(builder, &request, &ticket));
    bench_must(hone_builder_next_result(builder, HONE_DEADLINE_NEVER, arena, &ticket, &result));
    double ms = (double)(bench_now_ns() - start) / 1e6;
    bool is_good = result.failure == HONE_FAILURE_NONE;
    if (!is_good) {
        fprintf(stderr, "bench_build: %s: %s\n", hone_failure_name(result.failure),
                result.message ? result.message : "");
    }
    *times = result.times;
    hone_arena_destroy(arena);
    return is_good ? ms : (double)NAN;
}

static void add(bench *b, const char *work, const char *metric, double *values, int count,
                bool has_peer) {
    double median = bench_quantile(values, count, 0.5);
    double spread =
        (bench_quantile(values, count, 0.75) - bench_quantile(values, count, 0.25)) / median;
    bench_row row = {
        .work = work, .metric = metric, .unit = "ms", .hone = median, .spread = spread};
    if (has_peer) { /* what the project asks of itself; peers build in another language's process */
        row.peer_name = "budget";
        row.peer = 60;
        row.ratio = 60 / median;
    }
    bench_add(b, &row);
}

static void bench_one(bench *b, hone_builder *builder, const char *name, const char *dir) {
    static double total[MAX_CANDIDATES], codegen[MAX_CANDIDATES], rest[MAX_CANDIDATES];
    subject s;
    load(&s, name, dir);
    int wanted = b->is_quick ? 3 : MAX_CANDIDATES, n = 0;
    for (int i = -1; i < wanted; i++) { /* the first one starts the worker: not counted */
        hone_str trace = {0};
        hone_build_times times;
        draw(&s, (uint64_t)(i + 1), &trace);
        double ms = build(builder, &s, hone_str_text(&trace), &times);
        hone_str_deinit(&trace);
        if (i < 0 || isnan(ms)) continue;
        codegen[n] = (double)times.codegen_ns / 1e6;
        rest[n] = (double)(times.replay_ns + times.lower_ns + times.link_ns) / 1e6;
        total[n++] = ms;
    }
    unload(&s);
    if (n == 0) {
        bench_skip(b, name, "no candidate was built");
        return;
    }
    add(b, name, "build", total, n, true);
    add(b, name, "codegen", codegen, n, false);
    add(b, name, "other", rest, n, false);
}

int main(int argc, char **argv) {
    bench b;
    bench_begin(&b, "build", argc, argv);
    char *dir;
    hone_builder *builder;
    bench_must(hone_fs_temp_dir("hone-bench-", &dir));
    bench_must(hone_builder_create_local(&(hone_builder_local_options){.workers = 1}, &builder));
    bench_one(&b, builder, "matmul_512", dir);
    bench_one(&b, builder, "conv2d_64x56", dir);
    hone_builder_release(builder);
    hone_status_free(hone_fs_remove_tree(dir));
    hone_free(dir);
    return bench_finish(&b);
}
