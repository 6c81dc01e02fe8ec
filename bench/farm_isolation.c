/* bench/farm_isolation.c - times kernels here and in an executor, in pairs. */
#include "bench/farm_isolation.h"

#include <math.h>
#include <stdio.h>

#include "runner/trial.h"
#include "runtime/probe.h"
#include "support/core/attributes.h"

#define START_BUDGET_MS 5
#define SAME_PLACE 1.3 /* cache lines go no slower than this between the cores, and back */

enum { MAX_PAIRS = 1500, ENOUGH_PAIRS = 250 };

static const hone_runner_local_options free_options = {.unsandboxed = true};

/* Ratios of pairs, and what they are made of. */
typedef struct pairs {
    double there[MAX_PAIRS], here[MAX_PAIRS], ratios[MAX_PAIRS];
    int count;
} pairs;

static void add_pair(pairs *p, double there, double here) {
    p->there[p->count] = there;
    p->here[p->count] = here;
    p->ratios[p->count++] = here / there;
}

/* `row` with the medians of the pairs. */
static void add_row(bench *b, bench_row row, pairs *p, double unit_ns) {
    row.ratio = bench_quantile(p->ratios, p->count, 0.5);
    row.spread =
        (bench_quantile(p->ratios, p->count, 0.75) - bench_quantile(p->ratios, p->count, 0.25)) /
        row.ratio;
    row.hone = bench_quantile(p->there, p->count, 0.5) / unit_ns;
    row.peer = bench_quantile(p->here, p->count, 0.5) / unit_ns;
    bench_add(b, &row);
}

/* ---- the time of a kernel as an executor sees it, beside the same code in this process ---- */

typedef struct stage {
    hone_runner *runner;
    hone_device *device;
    hone_trial_bench *trials;
} stage;

static void open_stage(stage *g) {
    g->runner = farm_subject_runner(NULL);
    bench_must(hone_device_open("cpu", 0, &g->device));
    const hone_trial_options options = {.device = g->device, .clock = hone_clock_system()};
    bench_must(hone_trial_bench_create(&options, &g->trials));
}

static void close_stage(stage *g) {
    hone_runner_destroy(g->runner);
    hone_trial_bench_destroy(g->trials);
    hone_device_destroy(g->device);
}

static double measured_here(const stage *g, const hone_run_request *request) {
    hone_run_result result;
    hone_run_result_init(&result);
    hone_trial_run(g->trials, request, &result);
    double ns = result.median_ns;
    hone_run_result_deinit(&result);
    return ns;
}

static double measured_there(const stage *g, const hone_run_request *request) {
    hone_ticket ticket;
    hone_run_result result;
    bench_must(hone_runner_submit(g->runner, request, &ticket));
    bench_must(hone_runner_next_result(g->runner, INT64_MAX, &ticket, &result));
    double ns = result.median_ns;
    hone_run_result_deinit(&result);
    return ns;
}

static void bench_long(farm_subject *s) {
    static pairs p;
    stage g;
    hone_arg arg;
    hone_run_request request = farm_subject_request(s, "compute_1ms", &arg);
    const int count = s->b->is_quick ? 5 : 100;
    request.skip_timing = false;
    open_stage(&g);
    for (int i = -2; i < count; i++) {
        double there = measured_there(&g, &request), here = measured_here(&g, &request);
        if (i >= 0) add_pair(&p, there, here);
    }
    close_stage(&g);
    add_row(s->b,
            (bench_row){.work = "a kernel of 1 ms in an executor",
                        .metric = "its time",
                        .unit = "ms",
                        .peer_name = "in this process"},
            &p, 1e6);
}

/* The CPUs of a virtual machine may be moved about between two measurements, and then two threads
 * are nearer to each other in one than in the other: such pairs say nothing. */
static bool is_same_place(const double trips[3]) {
    double least = fmin(trips[0], fmin(trips[1], trips[2]));
    double most = fmax(trips[0], fmax(trips[1], trips[2]));
    for (int i = 0; i < 3; i++) {
        if (isnan(trips[i])) return false;
    }
    return most <= SAME_PLACE * least;
}

static int measure_short(const stage *g, const hone_run_request *request, const int cpus[2],
                         int enough, pairs *p) {
    int tried = 0;
    (void)measured_there(g, request); /* starts before this process binds its threads to CPUs */
    (void)measured_here(g, request);
    for (; tried < MAX_PAIRS && p->count < enough; tried++) {
        double trips[3];
        trips[0] = hone_probe_round_trip(cpus);
        double there = measured_there(g, request);
        trips[1] = hone_probe_round_trip(cpus);
        double here = measured_here(g, request);
        trips[2] = hone_probe_round_trip(cpus);
        if (is_same_place(trips)) add_pair(p, there, here);
    }
    return tried;
}

static void bench_short(farm_subject *s) {
    static pairs p;
    static const char name[] = "a kernel of 20 us on 2 threads in an executor";
    char work[96];
    stage g;
    hone_arg arg;
    int cpus[2];
    hone_run_request request = farm_subject_request(s, "compute_20us", &arg);
    request.skip_timing = false;
    request.threads = 2;
    if (!hone_probe_cpus(cpus)) {
        bench_skip(s->b, name, "there is one CPU");
        return;
    }
    open_stage(&g);
    int tried = measure_short(&g, &request, cpus, s->b->is_quick ? 5 : ENOUGH_PAIRS, &p);
    close_stage(&g);
    if (p.count == 0) {
        bench_skip(s->b, name, "the CPUs do not stay in one place");
        return;
    }
    snprintf(work, sizeof work, "%s, %d of %d pairs", name, p.count, tried);
    add_row(s->b,
            (bench_row){
                .work = work, .metric = "its time", .unit = "us", .peer_name = "in this process"},
            &p, 1e3);
}

/* ---- what the sandbox adds ---- */

static double trial_ns(hone_runner *runner, const hone_run_request *request) {
    int64_t start = bench_now_ns();
    farm_subject_run(runner, request);
    return (double)(bench_now_ns() - start);
}

/* From nothing to the first result, less what a trial takes in an executor that is up. */
static void bench_start(farm_subject *s) {
    static pairs p;
    static double used[MAX_PAIRS], used_free[MAX_PAIRS];
    hone_runner_local_options held_once = {.trials_per_executor = 1}, free_once = free_options;
    hone_arg arg;
    const hone_run_request request = farm_subject_request(s, "nothing", &arg);
    const int count = s->b->is_quick ? 5 : 200;
    free_once.trials_per_executor = 1;
    hone_runner *once = farm_subject_runner(&held_once), *up = farm_subject_runner(NULL),
                *bare_once = farm_subject_runner(&free_once),
                *bare_up = farm_subject_runner(&free_options);
    for (int i = -2; i < count; i++) {
        double start = trial_ns(once, &request), next = trial_ns(up, &request),
               bare_start = trial_ns(bare_once, &request), bare_next = trial_ns(bare_up, &request);
        if (i < 0) continue;
        used[i] = next;
        used_free[i] = bare_next;
        add_pair(&p, start, bare_start);
    }
    hone_runner_destroy(once);
    hone_runner_destroy(up);
    hone_runner_destroy(bare_once);
    hone_runner_destroy(bare_up);
    double held = (bench_quantile(p.there, count, 0.5) - bench_quantile(used, count, 0.5)) / 1e6;
    double bare =
        (bench_quantile(p.here, count, 0.5) - bench_quantile(used_free, count, 0.5)) / 1e6;
    bench_add(s->b, &(bench_row){.work = "an executor's start, to its first result",
                                 .metric = "over a used one, p50",
                                 .unit = "ms",
                                 .hone = held,
                                 .peer_name = "unsandboxed",
                                 .peer = bare,
                                 .ratio = bare / held,
                                 .spread = (double)NAN});
    bench_add(s->b, &(bench_row){.work = "an executor's start, to its first result",
                                 .metric = "over an unsandboxed one, p50",
                                 .unit = "ms",
                                 .hone = held - bare,
                                 .peer_name = "budget",
                                 .peer = START_BUDGET_MS,
                                 .ratio = START_BUDGET_MS / (held - bare),
                                 .spread = (double)NAN});
}

/* As in tuning: a new library each trial, checked and timed. */
static double trial_of_tuning_ns(farm_subject *s, hone_runner *runner,
                                 const hone_run_request *request) {
    farm_subject_renew(s);
    return trial_ns(runner, request);
}

static void bench_rate(farm_subject *s) {
    static pairs p;
    hone_arg arg;
    hone_run_request request = farm_subject_request(s, "compute_1ms", &arg);
    const int count = s->b->is_quick ? 5 : 400;
    hone_runner *held = farm_subject_runner(NULL), *bare = farm_subject_runner(&free_options);
    request.artifact_path = s->fresh;
    request.skip_timing = false;
    for (int i = -2; i < count; i++) {
        double a = trial_of_tuning_ns(s, held, &request), b = trial_of_tuning_ns(s, bare, &request);
        if (i >= 0) add_pair(&p, a, b);
    }
    hone_runner_destroy(held);
    hone_runner_destroy(bare);
    double there = 1e9 / bench_quantile(p.there, count, 0.5),
           here = 1e9 / bench_quantile(p.here, count, 0.5);
    double ratio = bench_quantile(p.ratios, count, 0.5);
    bench_add(s->b, &(bench_row){.work = "a kernel of 1 ms, a new artifact each time, timed",
                                 .metric = "trials per second",
                                 .unit = "1/s",
                                 .hone = there,
                                 .peer_name = "unsandboxed",
                                 .peer = here,
                                 .ratio = ratio,
                                 .spread = (bench_quantile(p.ratios, count, 0.75) -
                                            bench_quantile(p.ratios, count, 0.25)) /
                                           ratio});
}

void farm_isolation_bench(farm_subject *s) {
    bench_long(s);
    bench_short(s);
    bench_start(s);
    bench_rate(s);
}
