/* bench/bench_build.c - milliseconds that a candidate takes from program and trace to loaded code.
 *
 * Candidates as the search makes them (sketches by rules, random decisions, postprocessing) go one
 * after the other through one hone-worker process, as in a tune with one builder: replay, lowering,
 * LLVM, link; the library is loaded. The peer is TVM, which compiles the very programs that the
 * traces make, in turns (bench/peer_build.py). Candidates that are refused are drawn again.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_peer.h"
#include "bench/bench_util.h"
#include "builder/builder.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "schedule/replay/trace_apply.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tuner/space/space.h"

enum { CANDIDATES = 200, QUICK_CANDIDATES = 30 };

static const char *const programs[] = {"matmul_512", "conv2d_64x56"};

typedef struct subject {
    const char *name;
    hone_module *module;
    hone_target target;
    hone_space space;
    hone_schedule *sch;
    hone_str program;
    char library[400], scheduled[400]; /* paths */
} subject;

static void load(subject *s, const char *name, const char *dir) {
    char path[512];
    const hone_member *member;
    *s = (subject){.name = name};
    snprintf(path, sizeof path, "%s/bench/programs/%s.py", HONE_SOURCE_DIR, name);
    bench_must(hone_script_load(path, &s->module));
    bench_must(hone_module_pick(s->module, NULL, &member));
    bench_must(hone_target_parse("host", &s->target));
    bench_must(hone_space_generate(member->func, &s->target, &s->space));
    bench_must(hone_schedule_create(member->func, &s->sch));
    s->sch->wants_reasons = false;
    bench_must(hone_func_print(member->func, NULL, &s->program));
    snprintf(s->library, sizeof s->library, "%s/%s.so", dir, name);
    snprintf(s->scheduled, sizeof s->scheduled, "%s/%s.py", dir, name);
}

static void unload(subject *s) {
    hone_str_deinit(&s->program);
    hone_schedule_destroy(s->sch);
    hone_space_deinit(&s->space);
    hone_module_release(s->module);
}

/* A random candidate: its trace into out_trace, its program into a file. */
static void draw(subject *s, uint64_t seed, hone_str *out_trace) {
    for (uint64_t attempt = 0;; attempt++) {
        const hone_trace *sketch = &s->space.sketches[(seed + attempt) % s->space.count];
        bench_must(hone_schedule_reset(s->sch));
        s->sch->rng = hone_rng_from_seed(seed * 1000 + attempt);
        hone_status st = hone_trace_apply(sketch, s->sch, &(hone_apply_options){.resample = true});
        if (!st) st = hone_postprocess(s->sch, &s->target);
        if (!st) break;
        if (attempt == 100) bench_must(st);
        hone_status_free(st);
    }
    hone_str text = {0};
    bench_must(hone_trace_print_json(&s->sch->trace, out_trace));
    bench_must(hone_func_print(s->sch->func, NULL, &text));
    bench_must(hone_fs_write_atomic(s->scheduled, text.data, text.length));
    hone_str_deinit(&text);
}

static void load_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library || !dlsym(library, "kernel")) {
        bench_must(HONE_ERROR(HONE_CODE_INVALID, "%s: %s", path, dlerror()));
    }
    dlclose(library);
}

/* Wall time of one build in milliseconds; NAN when the compiler refused it. */
static double build(hone_builder *builder, subject *s, const char *trace, hone_build_times *times) {
    hone_build_request request = {.program = hone_str_text(&s->program),
                                  .trace = trace,
                                  .target = "host",
                                  .entry = "kernel",
                                  .output_path = s->library};
    hone_arena *arena = hone_arena_create(4096);
    hone_ticket ticket;
    hone_build_result result;
    int64_t start = bench_now_ns();
    bench_must(hone_builder_submit(builder, &request, &ticket));
    bench_must(hone_builder_next_result(builder, HONE_DEADLINE_NEVER, arena, &ticket, &result));
    bool is_good = result.failure == HONE_FAILURE_NONE;
    if (is_good) load_library(s->library);
    double ms = (double)(bench_now_ns() - start) / 1e6;
    if (!is_good) {
        fprintf(stderr, "bench_build: %s: %s\n", hone_failure_name(result.failure),
                result.message ? result.message : "");
    }
    *times = result.times;
    hone_arena_destroy(arena);
    return is_good ? ms : (double)NAN;
}

/* Milliseconds; NAN when it said no. */
static double build_peer(bench_peer *peer, const subject *s) {
    char line[BENCH_PEER_LINE], reply[BENCH_PEER_LINE];
    snprintf(line, sizeof line, "build %s %s\n", s->scheduled, s->target.cpu);
    if (!bench_peer_ask(peer, line, reply)) return (double)NAN;
    if (strncmp(reply, "error", 5) != 0) return strtod(reply, NULL) * 1000;
    fprintf(stderr, "bench_build: TVM: %s\n", reply);
    return (double)NAN;
}

/* What was measured of a program's candidates. */
typedef struct figures {
    int count, pair_count;
    double total[CANDIDATES], codegen[CANDIDATES], rest[CANDIDATES];
    double peer[CANDIDATES], ratio[CANDIDATES];
} figures;

static void add(bench *b, const char *work, const char *metric, double *values, int count,
                figures *with_peer) {
    double median = bench_quantile(values, count, 0.5);
    double spread =
        (bench_quantile(values, count, 0.75) - bench_quantile(values, count, 0.25)) / median;
    bench_row row = {
        .work = work, .metric = metric, .unit = "ms", .hone = median, .spread = spread};
    if (with_peer && with_peer->pair_count > 0) {
        row.peer_name = "TVM";
        row.peer = bench_quantile(with_peer->peer, with_peer->pair_count, 0.5);
        row.ratio = bench_quantile(with_peer->ratio, with_peer->pair_count, 0.5);
    }
    bench_add(b, &row);
}

static void measure(const bench *b, hone_builder *builder, bench_peer *peer, subject *s,
                    figures *f) {
    int wanted = b->is_quick ? QUICK_CANDIDATES : CANDIDATES;
    f->count = f->pair_count = 0;
    for (int i = -1; i < wanted; i++) { /* the first one starts the processes: not counted */
        hone_str trace = {0};
        hone_build_times times;
        draw(s, (uint64_t)(i + 1), &trace);
        double ms = build(builder, s, hone_str_text(&trace), &times);
        double other = build_peer(peer, s);
        hone_str_deinit(&trace);
        if (i < 0 || isnan(ms)) continue;
        f->codegen[f->count] = (double)times.codegen_ns / 1e6;
        f->rest[f->count] = (double)(times.replay_ns + times.lower_ns + times.link_ns) / 1e6;
        f->total[f->count++] = ms;
        if (isnan(other)) continue;
        f->peer[f->pair_count] = other;
        f->ratio[f->pair_count++] = other / ms;
    }
}

static void bench_one(bench *b, hone_builder *builder, bench_peer *peer, const char *name,
                      const char *dir) {
    static figures f;
    subject s;
    if (!bench_wants(b, name)) return;
    load(&s, name, dir);
    measure(b, builder, peer, &s, &f);
    unload(&s);
    if (f.count == 0) {
        bench_skip(b, name, "no candidate was built");
        return;
    }
    add(b, name, "build", f.total, f.count, &f);
    double slow = bench_quantile(f.total, f.count, 0.9);
    bench_add(b, &(bench_row){.work = name, .metric = "build, p90", .unit = "ms", .hone = slow});
    add(b, name, "codegen", f.codegen, f.count, NULL);
    add(b, name, "other", f.rest, f.count, NULL);
}

int main(int argc, char **argv) {
    bench b;
    bench_peer peer;
    bench_begin(&b, "build", argc, argv);
    char *dir;
    hone_builder *builder;
    bench_must(hone_fs_temp_dir("hone-bench-", &dir));
    bench_must(hone_builder_create_local(&(hone_builder_local_options){.workers = 1}, &builder));
    bench_peer_start(&peer, "peer_build.py");
    if (!peer.is_there) bench_skip(&b, "TVM", "not installed (scripts/peers tvm)");
    for (size_t i = 0; i < HONE_COUNT(programs); i++)
        bench_one(&b, builder, &peer, programs[i], dir);
    bench_peer_stop(&peer);
    hone_builder_release(builder);
    hone_status_free(hone_fs_remove_tree(dir));
    hone_free(dir);
    return bench_finish(&b);
}
