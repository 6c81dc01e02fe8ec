/* bench/bench_pool.c - what a parallel loop costs beside its work: an empty one on 1 and 2 threads,
 * one after the other, so that the threads of the pool still spin. */
#include <stdio.h>

#include "bench/bench_util.h"
#include "runtime/model/model_rt.h"

enum { LINE = 8 }; /* numbers in a cache line */

static int32_t count_share(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    (void)rt;
    volatile int64_t *counts = closure;
    for (int64_t i = begin; i < end; i++)
        counts[i * LINE]++;
    return 0;
}

typedef struct launch {
    hone_rt *rt;
    int64_t counts[2 * LINE];
} launch;

static void run_launch(void *ctx) {
    launch *self = ctx;
    if (self->rt->parallel_for(self->rt, 0, 2, count_share, self->counts) != 0) {
        bench_must(HONE_ERROR(HONE_CODE_INTERNAL, "a loop failed"));
    }
}

int main(int argc, char **argv) {
    bench b;
    bench_begin(&b, "pool", argc, argv);
    for (int threads = 1; threads <= 2; threads++) {
        if (b.threads && b.threads != threads) continue;
        char work[64];
        double spread;
        launch self = {0};
        hone_model_rt_options options = {.thread_count = threads};
        if (hone_model_rt_create(&options, &self.rt) != 0) {
            bench_must(HONE_ERROR(HONE_CODE_NO_MEMORY, "a pool of %d threads", threads));
        }
        double ns = bench_run_one((bench_work){.run = run_launch, .ctx = &self},
                                  b.seconds > 0 ? b.seconds
                                  : b.is_quick  ? 0.05
                                                : 1,
                                  &spread);
        snprintf(work, sizeof work, "a loop of 2 iterations, %dt", threads);
        bench_add(
            &b, &(bench_row){
                    .work = work, .metric = "launch", .unit = "ns", .hone = ns, .spread = spread});
        hone_model_rt_destroy(self.rt);
    }
    return bench_finish(&b);
}
