/* bench/bench_farm.c - what a farm costs: throughput beside linear, the tracker's share of a trial,
 * the executor's isolation (farm_isolation.c), how soon work goes on after a loss, how large a
 * runner is.
 *
 * Everything is real but the work: processes, keys, TCP over loopback, executors. The devices of
 * the throughput rows sleep, so that a machine with two cores can stand for many.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench_util.h"
#include "bench/farm_isolation.h"
#include "bench/farm_processes.h"
#include "support/os/fs.h"

#define HEARTBEAT_NS (2 * HONE_NS_PER_S) /* the tracker's default */
#define PATIENCE_NS (60 * HONE_NS_PER_S)

enum { MAX_SAMPLES = 2000 };

static void drain(hone_runner *runner) {
    hone_ticket ticket;
    hone_run_result result;
    hone_runner_cancel_all(runner);
    while (hone_runner_in_flight(runner)) {
        bench_must(hone_runner_next_result(runner, INT64_MAX, &ticket, &result));
        hone_run_result_deinit(&result);
    }
}

/* ---- throughput ---- */

static void fill(hone_runner *runner, const hone_run_request *request) {
    hone_ticket ticket;
    while (hone_runner_in_flight(runner) < hone_runner_slots(runner))
        bench_must(hone_runner_submit(runner, request, &ticket));
}

/* Trials per second with the pipeline full, after everything has started. */
static double throughput(hone_runner *runner, const hone_run_request *request, int warm,
                         int count) {
    for (int i = 0; i < warm; i++) {
        fill(runner, request);
        farm_subject_take(runner);
    }
    int64_t start = bench_now_ns();
    for (int i = 0; i < count; i++) {
        fill(runner, request);
        farm_subject_take(runner);
    }
    double seconds = (double)(bench_now_ns() - start) / 1e9;
    drain(runner);
    return count / seconds;
}

static void bench_throughput(farm_subject *s) {
    static const int sizes[] = {1, 2, 4, 16};
    hone_arg arg;
    const hone_run_request request = farm_subject_request(s, "sleep_50ms", &arg);
    const int each = s->b->is_quick ? 4 : 60;
    hone_runner *local = farm_subject_runner(NULL);
    double alone = throughput(local, &request, 2, each);
    hone_runner_destroy(local);
    for (size_t i = 0; i < HONE_COUNT(sizes); i++) {
        char work[64];
        farm_processes w;
        farm_processes_open(&w);
        for (int k = 0; k < sizes[i]; k++)
            farm_processes_start_runner(&w, k);
        hone_runner *remote = farm_processes_connect(&w, sizes[i]);
        double rate = throughput(remote, &request, 4 * sizes[i], each * sizes[i]);
        hone_runner_destroy(remote);
        farm_processes_close(&w);
        snprintf(work, sizeof work, "%d runner%s, sleep 50 ms", sizes[i], sizes[i] > 1 ? "s" : "");
        bench_add(s->b, &(bench_row){.work = work,
                                     .metric = "trials per second",
                                     .unit = "1/s",
                                     .hone = rate,
                                     .peer_name = "local, times runners",
                                     .peer = alone * sizes[i],
                                     .ratio = rate / (alone * sizes[i]),
                                     .spread = (double)NAN});
    }
}

/* ---- the tracker's share ---- */

static double round_trip_ms(hone_runner *runner, const hone_run_request *request) {
    int64_t start = bench_now_ns();
    farm_subject_run(runner, request);
    return (double)(bench_now_ns() - start) / 1e6;
}

static void add_overhead(farm_subject *s, const char *work, double *remote, int count,
                         double local) {
    static const struct {
        double quantile, limit;
        const char *metric;
    } rows[] = {
        {0.5,  1, "tracker overhead, p50"},
        {0.99, 5, "tracker overhead, p99"},
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        double ms = bench_quantile(remote, count, rows[i].quantile) - local;
        bench_add(s->b, &(bench_row){.work = work,
                                     .metric = rows[i].metric,
                                     .unit = "ms",
                                     .hone = ms,
                                     .peer_name = "budget",
                                     .peer = rows[i].limit,
                                     .ratio = rows[i].limit / ms,
                                     .spread = (double)NAN});
    }
}

/* A trial at a time, there and here in turns; what it takes here is taken off. */
static void bench_overhead(farm_subject *s, bool is_fresh) {
    static double there[MAX_SAMPLES], here[MAX_SAMPLES];
    hone_arg arg;
    hone_run_request request = farm_subject_request(s, "nothing", &arg);
    const int count = s->b->is_quick ? 50 : MAX_SAMPLES;
    farm_processes w;
    farm_processes_open(&w);
    farm_processes_start_runner(&w, 0);
    hone_runner *remote = farm_processes_connect(&w, 1), *local = farm_subject_runner(NULL);
    if (is_fresh) request.artifact_path = s->fresh;
    for (int i = -20; i < count; i++) {
        if (is_fresh) farm_subject_renew(s);
        double a = round_trip_ms(remote, &request), b = round_trip_ms(local, &request);
        if (i >= 0) there[i] = a, here[i] = b;
    }
    hone_runner_destroy(local);
    hone_runner_destroy(remote);
    farm_processes_close(&w);
    add_overhead(s, is_fresh ? "a trial with a new artifact" : "a trial with a known artifact",
                 there, count, bench_quantile(here, count, 0.5));
}

/* bench_overhead with TVM's tracker and RPC server: session, upload, load, call. */
static void bench_tvm(farm_subject *s) {
    char script[512], command[1200];
    snprintf(script, sizeof script, "%s/bench/peer_farm.py", HONE_SOURCE_DIR);
    snprintf(command, sizeof command,
             "python=$(%s/scripts/peers --python 2>/dev/null) && exec "
             "\"$python\" %s %d 2>/dev/null",
             HONE_SOURCE_DIR, script, s->b->is_quick ? 5 : 100);
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    hone_str out = {0}, err = {0};
    hone_proc proc;
    double p50 = 0, p99 = 0;
    int64_t deadline = hone_deadline_after(hone_clock_system(), 4 * PATIENCE_NS);
    bench_must(hone_proc_run(argv, 4096, hone_clock_system(), deadline, &out, &err, &proc));
    if (sscanf(hone_str_text(&out), "%lf %lf", &p50, &p99) == 2) {
        bench_add(s->b, &(bench_row){.work = "TVM: tracker, session, upload, load, call",
                                     .metric = "all of a trial, p50",
                                     .unit = "ms",
                                     .hone = p50,
                                     .spread = (double)NAN});
        bench_add(s->b, &(bench_row){.work = "TVM: tracker, session, upload, load, call",
                                     .metric = "all of a trial, p99",
                                     .unit = "ms",
                                     .hone = p99,
                                     .spread = (double)NAN});
    } else {
        bench_skip(s->b, "TVM's tracker and RPC session", "scripts/peers tvm installs it");
    }
    hone_proc_deinit(&proc);
    hone_str_deinit(&out);
    hone_str_deinit(&err);
}

/* ---- losses ---- */

static void add_recovery(farm_subject *s, const char *work, double *heartbeats, int count) {
    double most = bench_quantile(heartbeats, count, 1);
    bench_add(s->b, &(bench_row){.work = work,
                                 .metric = "to the first new trial, worst",
                                 .unit = "heartbeats",
                                 .hone = most,
                                 .peer_name = "budget",
                                 .peer = 3,
                                 .ratio = 3 / most,
                                 .spread = (double)NAN});
}

/* Until a trial that was sent after the loss is answered; those in flight are drained meanwhile. */
static double heartbeats_until_new(hone_runner *runner, const hone_run_request *request,
                                   int64_t since_ns) {
    hone_ticket sent, got = 0;
    hone_run_result result;
    bench_must(hone_runner_submit(runner, request, &sent));
    while (got != sent) {
        bench_must(hone_runner_next_result(runner, INT64_MAX, &got, &result));
        hone_run_result_deinit(&result);
    }
    return (double)(bench_now_ns() - since_ns) / (double)HEARTBEAT_NS;
}

static void bench_recovery(farm_subject *s) {
    double runner_ends[8], tracker_ends[8];
    hone_arg arg;
    const hone_run_request request = farm_subject_request(s, "sleep_50ms", &arg);
    const int count = s->b->is_quick ? 1 : 8;
    farm_processes w;
    farm_processes_open(&w);
    farm_processes_start_runner(&w, 0);
    hone_runner *remote = farm_processes_connect(&w, 1);
    for (int i = 0; i < count; i++) {
        farm_subject_run(remote, &request);
        int64_t since = bench_now_ns();
        farm_processes_kill_runner(&w, 0);
        farm_processes_start_runner(&w, 0);
        runner_ends[i] = heartbeats_until_new(remote, &request, since);
        farm_subject_run(remote, &request);
        since = bench_now_ns();
        farm_processes_kill_tracker(&w);
        farm_processes_start_tracker(&w);
        tracker_ends[i] = heartbeats_until_new(remote, &request, since);
    }
    hone_runner_destroy(remote);
    farm_processes_close(&w);
    add_recovery(s, "kill -9 of the runner, started again", runner_ends, count);
    add_recovery(s, "kill -9 of the tracker, started again", tracker_ends, count);
}

/* ---- size ---- */

static double read_kib(const char *path, const char *key) {
    char line[256];
    double kib = (double)NAN;
    FILE *file = fopen(path, "re");
    if (!file) return kib;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0) kib = strtod(line + strlen(key), NULL);
    }
    fclose(file);
    return kib;
}

static void add_figure(farm_subject *s, const char *metric, const char *unit, double value) {
    bench_add(s->b, &(bench_row){.work = "hone-runner",
                                 .metric = metric,
                                 .unit = unit,
                                 .hone = value,
                                 .spread = (double)NAN});
}

static void bench_size(farm_subject *s) {
    static const char *const keys[][2] = {
        {"Rss:", "idle memory, resident"       },
        {"Pss:", "idle memory, its share of it"},
    };
    char program[512], stripped[512], path[64];
    struct stat info;
    farm_processes w;
    farm_processes_open(&w);
    farm_processes_start_runner(&w, 0);
    hone_runner_destroy(farm_processes_connect(&w, 1)); /* it is up */
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)w.runners[0].pid);
    for (size_t i = 0; i < HONE_COUNT(keys); i++)
        add_figure(s, keys[i][1], "KiB", read_kib(path, keys[i][0]));
    snprintf(program, sizeof program, "%s/hone-runner", w.bin_dir);
    snprintf(stripped, sizeof stripped, "%s/stripped", w.dir);
    const char *argv[] = {"strip", "-o", stripped, program, NULL};
    hone_proc proc;
    bench_must(
        hone_proc_run(argv, 1024, hone_clock_system(), HONE_DEADLINE_NEVER, NULL, NULL, &proc));
    if (stat(stripped, &info) == 0)
        add_figure(s, "program, stripped", "KiB", (double)info.st_size / 1024);
    hone_proc_deinit(&proc);
    farm_processes_close(&w);
}

static void bench_overheads(farm_subject *s) {
    bench_overhead(s, false);
    bench_overhead(s, true);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name; /* for --only */
        void (*run)(farm_subject *s);
    } parts[] = {
        {"isolation",  farm_isolation_bench},
        {"overhead",   bench_overheads     },
        {"tvm",        bench_tvm           },
        {"throughput", bench_throughput    },
        {"recovery",   bench_recovery      },
        {"size",       bench_size          },
    };
    bench b;
    farm_subject s;
    bench_begin(&b, "farm", argc, argv);
    farm_subject_open(&s, &b);
    for (size_t i = 0; i < HONE_COUNT(parts); i++) {
        if (bench_wants(&b, parts[i].name)) parts[i].run(&s);
    }
    farm_subject_close(&s);
    return bench_finish(&b);
}
