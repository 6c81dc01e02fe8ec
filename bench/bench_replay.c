/* bench/bench_replay.c - how many candidates per second one thread makes from their decisions.
 *
 * All sketches of a program in turn, fresh random decisions each time: the sketch alone, then with
 * postprocessing, then with what a cost model sees of it, too. The peer is TVM's MetaSchedule with
 * its own sketches of the same program, in a process of its own that runs in turns with this one
 * (bench/peer_replay.py).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_peer.h"
#include "bench/bench_util.h"
#include "costmodel/feature.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "schedule/replay/trace_opening.h"
#include "support/core/alloc.h"
#include "support/core/arena.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tuner/space/space.h"

enum { MAX_ROUNDS = 101, MIN_ROUNDS = 7, PEER_BATCH = 20 };

static const char *const programs[] = {"matmul_512", "dense_64x1024x1024", "conv2d_64x56",
                                       "softmax_256x1024"};

typedef enum stage { REPLAY, POSTPROC, FEATURES, STAGES } stage;

static const char *const stage_names[STAGES] = {"replay", "postproc", "features"};

typedef struct subject {
    hone_module *module;
    const hone_func *func;
    hone_space space;
    hone_schedule *sch;
    hone_feature_state *features;
    hone_trace_opening *openings; /* by sketch, as the search keeps them */
    hone_target target;
    uint64_t refused, made;
} subject;

static void load(subject *s, const char *name) {
    char path[512];
    const hone_member *member;
    *s = (subject){0};
    snprintf(path, sizeof path, "%s/bench/programs/%s.py", HONE_SOURCE_DIR, name);
    bench_must(hone_script_load(path, &s->module));
    bench_must(hone_module_pick(s->module, NULL, &member));
    s->func = member->func;
    bench_must(hone_target_parse("llvm -mcpu=x86-64-v3 -num-cores=2 -num-threads=2", &s->target));
    bench_must(hone_space_generate(s->func, &s->target, &s->space));
    bench_must(hone_schedule_create(s->func, &s->sch));
    bench_must(hone_feature_state_create(&s->features));
    s->openings = hone_calloc(s->space.count + 1, sizeof *s->openings);
    for (uint32_t i = 0; i < s->space.count; i++)
        bench_must(hone_trace_opening_init(&s->space.sketches[i], s->sch, &s->openings[i]));
    s->sch->wants_reasons = false;
    s->sch->rng = hone_rng_from_seed(1);
}

static void unload(subject *s) {
    for (uint32_t i = 0; i < s->space.count; i++)
        hone_trace_opening_deinit(&s->openings[i]);
    hone_free(s->openings);
    hone_schedule_destroy(s->sch);
    hone_feature_state_destroy(s->features);
    hone_space_deinit(&s->space);
    hone_module_release(s->module);
}

static int64_t own_time_ns(void) {
    const hone_clock *clock = hone_clock_thread();
    return clock->now_ns(clock);
}

/* Seconds of this thread's processor time for `count` replays. */
static double run(subject *s, stage until, int count) {
    const float *rows;
    uint32_t row_count;
    int64_t start = own_time_ns();
    for (int i = 0; i < count; i++) {
        uint32_t at = (uint32_t)i % s->space.count;
        hone_status st = hone_trace_opening_apply(&s->openings[at], &s->space.sketches[at], s->sch,
                                                  &(hone_apply_options){.resample = true});
        if (!st && until >= POSTPROC) st = hone_postprocess(s->sch, &s->target);
        if (!st && until >= FEATURES)
            st = hone_feature_extract(s->features, s->sch->func, 0, &s->target, &rows, &row_count);
        s->made++;
        s->refused += st != HONE_OK;
        hone_status_free(st);
    }
    return (double)(own_time_ns() - start) / 1e9;
}

/* ---- the peer ---- */

static bool load_peer(const bench *b, bench_peer *p, const subject *s, const char *name,
                      const char *dir) {
    if (!p->is_there) return false;
    char path[400], line[BENCH_PEER_LINE], reply[BENCH_PEER_LINE];
    hone_str text = {0};
    snprintf(path, sizeof path, "%s/%s.py", dir, name);
    bench_must(hone_func_print(s->func, NULL, &text));
    bench_must(hone_fs_write_atomic(path, text.data, text.length));
    hone_str_deinit(&text);
    snprintf(line, sizeof line, "load %s 2\n", path);
    if (!bench_peer_ask(p, line, reply)) {
        bench_skip(b, name, "TVM ended: is it installed? (scripts/peers tvm)");
        return false;
    }
    if (strncmp(reply, "ok", 2) == 0) return true;
    bench_skip(b, name, reply);
    return false;
}

/* Seconds per replay, or NAN. */
static double run_peer(bench_peer *p, stage until) {
    char line[64], reply[BENCH_PEER_LINE];
    snprintf(line, sizeof line, "run %s %d\n", stage_names[until], PEER_BATCH);
    if (!bench_peer_ask(p, line, reply) || strncmp(reply, "error", 5) == 0) return (double)NAN;
    return strtod(reply, NULL) / PEER_BATCH;
}

/* ---- rows ---- */

static double spread_of(double *values, int count) {
    double median = bench_quantile(values, count, 0.5);
    return (bench_quantile(values, count, 0.75) - bench_quantile(values, count, 0.25)) / median;
}

static void bench_kind(bench *b, subject *s, bench_peer *p, bool has_peer, const char *name,
                       stage until) {
    static double rates[MAX_ROUNDS], peers[MAX_ROUNDS], ratios[MAX_ROUNDS];
    double seconds = b->seconds > 0 ? b->seconds : b->is_quick ? 0.2 : 4;
    int64_t end = bench_now_ns() + (int64_t)(seconds * 1e9);
    double once = run(s, until, 200) / 200; /* warms up and says how many make 10 ms */
    int batch = 0.01 / once < 20 ? 20 : (int)(0.01 / once);
    int n = 0;
    for (; n < MAX_ROUNDS && (n < MIN_ROUNDS || bench_now_ns() < end); n++) {
        rates[n] = batch / run(s, until, batch);
        if (!has_peer) continue;
        peers[n] = 1 / run_peer(p, until);
        ratios[n] = rates[n] / peers[n];
        if (isnan(peers[n])) has_peer = false;
    }
    bench_row row = {.work = name,
                     .metric = stage_names[until],
                     .unit = "1/s",
                     .spread = spread_of(has_peer ? ratios : rates, n)};
    row.hone = bench_quantile(rates, n, 0.5);
    if (has_peer) {
        row.peer_name = "TVM";
        row.peer = bench_quantile(peers, n, 0.5);
        row.ratio = bench_quantile(ratios, n, 0.5);
    }
    bench_add(b, &row);
}

/* What a search thread needs for each program that it replays: it grows to its largest and stays.
 */
static void add_memory(bench *b, const subject *s, const char *name) {
    bench_add(b, &(bench_row){.work = name,
                              .metric = "memory",
                              .unit = "KiB",
                              .hone = (double)hone_arena_reserved(s->sch->arena) / 1024,
                              .spread = (double)NAN});
}

int main(int argc, char **argv) {
    bench b;
    bench_peer p;
    char *dir;
    bench_begin(&b, "replay", argc, argv);
    bench_must(hone_fs_temp_dir("hone-bench-", &dir));
    bench_peer_start(&p, "peer_replay.py");
    if (!p.is_there) bench_skip(&b, "TVM", "not installed (scripts/peers tvm)");
    for (size_t i = 0; i < HONE_COUNT(programs); i++) {
        subject s;
        load(&s, programs[i]);
        bool has_peer = load_peer(&b, &p, &s, programs[i], dir);
        for (stage until = REPLAY; until < STAGES; until++)
            bench_kind(&b, &s, &p, has_peer && p.is_there, programs[i], until);
        add_memory(&b, &s, programs[i]);
        fprintf(stderr, "%s: %u sketches, %.2f %% of the candidates refused\n", programs[i],
                s.space.count, 100.0 * (double)s.refused / (double)s.made);
        unload(&s);
    }
    bench_peer_stop(&p);
    hone_status_free(hone_fs_remove_tree(dir));
    hone_free(dir);
    return bench_finish(&b);
}
