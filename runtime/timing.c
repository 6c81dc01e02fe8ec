/* runtime/timing.c - adaptive repetition: little for losers, more for near ties. */
#include "runtime/timing.h"

#include <math.h>

#define DEFAULT_MAX_BATCH INT64_C(1000000)
#define SLOW_AT_FIRST_SIGHT 10.0 /* incumbents; then one sample is enough beside the first run */
#define NEAR_TIE 1.10            /* within this of the incumbent, or better: full effort */
#define NEAR_EFFORT 1.0          /* share of min_repeat_ns spent on near ties … */
#define FAR_EFFORT 0.4           /* … and on what is clearly behind */
#define COLD_SAMPLES 20.0        /* a first run this long is a good enough estimate */
#define LONG_EFFORT 3            /* min_repeat_ns, after which min_samples does not matter */
#define STEADY_SPREAD 0.005      /* samples that agree this well need no more company */
#define BATCH_SHARE 64           /* a batch takes this part of the budget at most */

typedef struct timing {
    hone_timing_policy policy;
    const hone_timing_options *options;
    hone_timing_run run;
    void *ctx;
    int64_t spent_ns, passed_ns; /* as runs say, by the budget's clock */
    double passed_each_ns;       /* of the latest batch */
} timing;

static int32_t run_batch(timing *t, int64_t count, double *out_each) {
    const hone_clock *clock = t->options->clock;
    int64_t ns = 0, start = clock ? hone_clock_now(clock) : 0;
    int32_t code = t->run(t->ctx, count, &ns);
    if (ns < 1) ns = 1;
    int64_t passed = clock ? hone_clock_now(clock) - start : ns;
    t->spent_ns += ns;
    t->passed_ns += passed;
    t->passed_each_ns = (double)passed / (double)count;
    *out_each = (double)ns / (double)count;
    return code;
}

/* Runs that fit into a batch's share of the budget; before the first batch none are counted. */
static double most_by_budget(const timing *t) {
    bool is_limited = t->options->clock && t->options->budget_ns > 0 && t->passed_each_ns > 0;
    return is_limited ? (double)t->options->budget_ns / BATCH_SHARE / t->passed_each_ns : INFINITY;
}

static int64_t batch_for(const timing *t, double each_ns) {
    int64_t limit = t->options->max_batch > 0 ? t->options->max_batch : DEFAULT_MAX_BATCH;
    double want = fmin(ceil((double)t->policy.min_sample_ns / each_ns), most_by_budget(t));
    if (want < 1) return 1;
    return want < (double)limit ? (int64_t)want : limit;
}

/* One run alone may say too much: who shares a CPU waits for milliseconds now and then. The first
 * run, which is cold, was no faster than another one unless that waited. */
static double believed(const timing *t, double each) {
    return t->options->first_ns > 0 ? fmin(each, (double)t->options->first_ns) : each;
}

static bool is_hopeless(const timing *t, double each) {
    double ratio = t->policy.incumbent_ns > 0 ? believed(t, each) / t->policy.incumbent_ns : 0;
    return ratio > SLOW_AT_FIRST_SIGHT && ratio > t->policy.slow_ratio;
}

/* Caches that are cold, and builds beside it, make a long run no slow_ratio longer. */
static bool is_settled_by_first(const timing *t) {
    const double first = (double)t->options->first_ns;
    return t->options->first_counts && t->policy.incumbent_ns > 0 &&
           first >= COLD_SAMPLES * (double)t->policy.min_sample_ns &&
           first > t->policy.slow_ratio * t->policy.incumbent_ns;
}

/* Finds how many runs take about one sample. The first run was cold (caches, sleeping threads), so
 * its time says too much; only when it was far longer than a sample is it taken at its word. What
 * is run here warms up and is not counted, unless it settles the matter: then *out_verdict is its
 * time, else 0. */
static int32_t find_batch(timing *t, int64_t *out_batch, double *out_verdict) {
    const double sample = (double)t->policy.min_sample_ns;
    double each = (double)t->options->first_ns;
    *out_batch = 1;
    *out_verdict = is_settled_by_first(t) ? each : 0;
    if (*out_verdict > 0) return 0;
    for (int look = 0; look < 2; look++) { /* of a short kernel even the second run may be cold */
        if (each >= (look ? 1 : COLD_SAMPLES) * sample) return 0;
        int32_t failed = run_batch(t, 1, &each);
        if (failed) return failed;
        if (is_hopeless(t, each) && each >= sample) {
            *out_verdict = each;
            return 0;
        }
        each = believed(t, each);
    }
    for (;;) {
        int64_t batch = batch_for(t, each);
        bool is_settled = batch <= *out_batch * 2;
        *out_batch = batch;
        if (is_settled) return 0;
        int32_t failed = run_batch(t, batch, &each);
        if (failed) return failed;
    }
}

static bool is_slow(const timing *t, const hone_run_result *result) {
    if (t->policy.incumbent_ns <= 0 || result->sample_count == 0) return false;
    if (is_hopeless(t, result->best_ns)) return true;
    return result->sample_count >= t->policy.min_samples &&
           result->best_ns / t->policy.incumbent_ns > t->policy.slow_ratio;
}

static bool is_enough(const timing *t, const hone_run_result *result, int64_t sampled_ns) {
    if (result->sample_count == 0) return false;
    if (t->options->budget_ns > 0 && t->passed_ns >= t->options->budget_ns) return true;
    if (result->sample_count >= t->policy.max_samples) return true;
    double least = believed(t, result->best_ns) * (double)result->batch * result->sample_count;
    if (least >= LONG_EFFORT * (double)t->policy.min_repeat_ns) return true; /* each one is long */
    if (result->sample_count < t->policy.min_samples) return false;
    const double incumbent = t->policy.incumbent_ns;
    bool near = incumbent <= 0 || result->median_ns <= incumbent * NEAR_TIE;
    double effort = near ? NEAR_EFFORT : FAR_EFFORT;
    if (!near && result->spread <= STEADY_SPREAD) return true;
    return (double)sampled_ns >= effort * (double)t->policy.min_repeat_ns;
}

int32_t hone_timing_measure(const hone_timing_options *options, hone_timing_run run, void *ctx,
                            hone_run_result *result) {
    timing t = {.policy = hone_timing_policy_defaults(&options->policy),
                .options = options,
                .run = run,
                .ctx = ctx};
    result->sample_count = 0;
    result->stopped_early = false;
    /* so that max_samples of them fill min_repeat_ns */
    int64_t share = t.policy.min_repeat_ns / t.policy.max_samples;
    if (t.policy.min_sample_ns < share) t.policy.min_sample_ns = share;
    double verdict = 0;
    int32_t code = find_batch(&t, &result->batch, &verdict);
    if (!code && verdict > 0) {
        result->samples_ns[result->sample_count++] = verdict;
        result->stopped_early = true;
    }
    int64_t before = t.spent_ns;
    while (!code && !result->stopped_early && !is_enough(&t, result, t.spent_ns - before)) {
        double each = 0;
        code = run_batch(&t, result->batch, &each);
        if (code) break;
        result->samples_ns[result->sample_count++] = each;
        hone_run_result_summarize(result);
        result->stopped_early = is_slow(&t, result);
    }
    if (code) result->sample_count = 0;
    hone_run_result_summarize(result);
    return code;
}
