/* bench/bench_pool.c - what a parallel loop costs beside its work: an empty one on 1 and 2 threads,
 * one after the other, so that the threads of the pool still spin; one inside another; and while a
 * second thread of the caller's launches loops on the same pool all the time. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "bench/bench_util.h"
#include "runtime/model/model_rt.h"

enum { LINE = 8 }; /* numbers in a cache line */

typedef struct launch {
    hone_rt *rt;
    int64_t counts[2 * LINE];
    atomic_bool is_over; /* for the other caller */
} launch;

static int32_t count_share(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    (void)rt;
    volatile int64_t *counts = closure;
    for (int64_t i = begin; i < end; i++)
        counts[i * LINE]++;
    return 0;
}

static int32_t launch_inner(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    int64_t counts[2 * LINE] = {0};
    (void)closure;
    for (int64_t i = begin; i < end; i++) {
        int32_t code = rt->parallel_for(rt, 0, 2, count_share, counts);
        if (code) return code;
    }
    return 0;
}

static void must(int32_t code) {
    if (code) bench_must(HONE_ERROR(HONE_CODE_INTERNAL, "a loop failed"));
}

static void run_launch(void *ctx) {
    launch *self = ctx;
    must(self->rt->parallel_for(self->rt, 0, 2, count_share, self->counts));
}

static void run_nested(void *ctx) {
    launch *self = ctx;
    must(self->rt->parallel_for(self->rt, 0, 2, launch_inner, NULL));
}

static void *call_all_the_time(void *ctx) {
    launch *self = ctx;
    int64_t counts[2 * LINE] = {0};
    while (!atomic_load_explicit(&self->is_over, memory_order_relaxed)) {
        must(self->rt->parallel_for(self->rt, 0, 2, count_share, counts));
    }
    return NULL;
}

static void add_row(bench *b, const char *what, int threads, bench_fn run, launch *self) {
    char work[64];
    double spread, seconds = b->seconds > 0 ? b->seconds : b->is_quick ? 0.05 : 1;
    snprintf(work, sizeof work, "%s, %dt", what, threads);
    if (!bench_wants(b, work)) return;
    double ns = bench_run_one((bench_work){.run = run, .ctx = self}, seconds, &spread);
    bench_add(b, &(bench_row){
                     .work = work, .metric = "launch", .unit = "ns", .hone = ns, .spread = spread});
}

static void add_crowded_row(bench *b, int threads, launch *self) {
    pthread_t other;
    if (pthread_create(&other, NULL, call_all_the_time, self) != 0) {
        bench_must(HONE_ERROR(HONE_CODE_NO_MEMORY, "a thread"));
    }
    add_row(b, "a loop of 2 beside another caller", threads, run_launch, self);
    atomic_store(&self->is_over, true);
    pthread_join(other, NULL);
}

int main(int argc, char **argv) {
    bench b;
    bench_begin(&b, "pool", argc, argv);
    for (int threads = 1; threads <= 2; threads++) {
        if (b.threads && b.threads != threads) continue;
        launch self = {0};
        hone_model_rt_options options = {.thread_count = threads};
        if (hone_model_rt_create(&options, &self.rt) != 0) {
            bench_must(HONE_ERROR(HONE_CODE_NO_MEMORY, "a pool of %d threads", threads));
        }
        add_row(&b, "a loop of 2 iterations", threads, run_launch, &self);
        add_row(&b, "a loop of 2 around loops of 2", threads, run_nested, &self);
        add_crowded_row(&b, threads, &self);
        hone_model_rt_destroy(self.rt);
    }
    return bench_finish(&b);
}
