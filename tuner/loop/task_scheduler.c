/* tuner/loop/task_scheduler.c - picks the task that gets the next batch, by what it may bring. */
#include <math.h>

#include "ir/core/grow.h"
#include "tuner/loop/tune_impl.h"

enum { WINDOW = 3, CONVERGED_TRIALS = 96, HOPELESS_BATCHES = 4, KNOWN_BATCHES = 4 };
#define SLOPE_SHARE 0.2

/* What one more batch may bring, in nanoseconds of the whole model: part of what the last batches
 * brought, and part of what there is to win at all, which fades with the batches spent (those
 * under way, too: all that is in flight shall not go to one task). */
static double gain_of(const hone_tune_task *task) {
    uint32_t n = task->history_count;
    if (n == 0) return -(double)task->batches; /* the first is under way: after all others */
    double last = task->history[n - 1];
    if (isnan(last)) return n < HOPELESS_BATCHES ? INFINITY : 0;
    double slope = 0;
    if (n > WINDOW && !isnan(task->history[n - 1 - WINDOW])) {
        slope = (task->history[n - 1 - WINDOW] - last) / WINDOW;
    }
    return task->task->weight * (SLOPE_SHARE * slope + (1 - SLOPE_SHARE) * last / task->batches);
}

/* What one run of the model takes now, for the choice of sizes that a task came from. Choices are
 * peers: a batch of 100 must not starve a batch of 1, so gains count relative to it. */
static double latency_of_variant(const hone_tuning *t, uint32_t variant) {
    double sum = 0;
    for (uint32_t i = 0; i < t->task_count; i++) {
        const hone_tune_task *task = t->tasks[i];
        if (task->task->variant == variant && task->best_ns > 0) {
            sum += task->task->weight * task->best_ns;
        }
    }
    return sum > 0 ? sum : 1;
}

hone_tune_task *hone_pick_task(const hone_tuning *t) {
    hone_tune_task *best = NULL;
    double best_gain = -INFINITY;
    for (uint32_t i = 0; i < t->task_count; i++) {
        hone_tune_task *task = t->tasks[i];
        if (task->is_exhausted) continue;
        double gain = task->proposals == 0
                          ? INFINITY
                          : gain_of(task) / latency_of_variant(t, task->task->variant);
        if (gain > best_gain) {
            best = task;
            best_gain = gain;
        }
    }
    return best;
}

hone_status hone_note_batch(hone_tune_task *task) {
    if (!hone_grow(task->arena, (void **)&task->history, &task->history_capacity,
                   task->history_count, sizeof *task->history)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "task history");
    }
    task->history[task->history_count++] = task->best_ns;
    return HONE_OK;
}

bool hone_is_used_up(const hone_tuning *t) {
    uint32_t used_up = 0;
    for (uint32_t i = 0; i < t->task_count; i++) {
        if (!t->tasks[i]->is_exhausted) return false;
        used_up += !t->tasks[i]->is_left_out;
    }
    return used_up > 0;
}

/* Between the best times after so many batches, as a logarithm. */
static double gain_between(const hone_tune_task *task, uint32_t from, uint32_t to) {
    return log(task->history[from - 1] / task->history[to - 1]);
}

double hone_still_to_gain(const hone_tune_task *task) {
    uint32_t n = task->history_count;
    if (task->is_exhausted && !task->is_left_out) return 0;
    if (n < KNOWN_BATCHES) return NAN;
    double earlier = gain_between(task, n / 4, n / 2), last = gain_between(task, n / 2, n);
    if (isnan(earlier) || isnan(last)) return NAN;
    double next = earlier > last ? last * (last / earlier) : last;
    return 1 - exp(-next);
}

/* Nothing was gained for a good while, and for as long as it took to get there. */
static bool is_converged(const hone_tune_task *task) {
    return task->is_exhausted ||
           (task->since_better >= CONVERGED_TRIALS && task->since_better >= task->folded / 2);
}

bool hone_has_converged(const hone_tuning *t) {
    for (uint32_t i = 0; i < t->task_count; i++) {
        if (!is_converged(t->tasks[i])) return false;
    }
    return true;
}
