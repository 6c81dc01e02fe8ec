/* tuner/loop/tune_think.c - thinking: what happens here depends on the seed, the results that were
 * folded and the look-ahead alone, never on what arrived when.
 *
 *   proposals  0 ───────────── fold_to ────────────────── k ─────────── k + HONE_BATCH
 *              folded before   folded now, in order   │   not seen yet  │  the batch
 *                              and learned from       └──── look_ahead ─┘
 *
 * The batch that ends before proposal k + HONE_BATCH sees just the results of those before
 * k + HONE_BATCH - look_ahead: so many may be under way, whatever number of devices works on them.
 */
#include <math.h>

#include "tuner/loop/tune_impl.h"

/* ---- folding ---- */

/* As if it had not been proposed: what a machine did says nothing about it. */
static hone_status forget(const hone_trial *trial) {
    hone_map128_remove(&trial->task->seen, trial->candidate.program);
    if (trial->candidate.sketch < 0) trial->task->has_before = false;
    return hone_tune_task_note_looks(trial->task, trial->candidate.looks, -1);
}

static hone_status fold_one(hone_tuning *t, const hone_trial *trial, uint32_t *io_count) {
    if (trial->record >= 0) { /* it was not cancelled */
        hone_tune_task_fold(trial->task, &trial->candidate, trial->time_ns);
        t->samples[(*io_count)++] = (hone_costmodel_sample){
            .group = trial->task->task->hash,
            .rows = {trial->candidate.features, trial->candidate.row_count},
            .time_ns = trial->time_ns
        };
        if (t->outside) {
            HONE_TRY(hone_outside_tell(t->outside, trial->task, &trial->candidate, &trial->result));
        }
    } else if (trial->was_dropped) {
        HONE_TRY(forget(trial));
    }
    return trial->ends_batch ? hone_note_batch(trial->task) : HONE_OK;
}

static hone_status fold(hone_tuning *t) {
    uint32_t count = 0;
    for (int64_t i = t->thought.fold_from; i < t->thought.fold_to; i++)
        HONE_TRY(fold_one(t, hone_tuning_trial(t, i), &count));
    if (count == 0) return HONE_OK;
    int64_t start = hone_clock_now(t->clock);
    HONE_TRY(hone_costmodel_update(t->model, t->samples, count));
    t->result->train_ns += hone_clock_now(t->clock) - start;
    return HONE_OK;
}

/* ---- proposing ---- */

/* Small budgets are shared out: every task shall have its default schedule and a try or two. */
static uint32_t batch_size(const hone_tuning *t) {
    if (t->options->trials == 0) return HONE_BATCH;
    int64_t left = t->options->trials + t->uncounted + t->thought.dropped - t->proposed;
    int64_t share = t->options->trials / t->task_count;
    int64_t size = share < HONE_BATCH ? share : HONE_BATCH;
    if (size < 1) size = 1;
    return (uint32_t)(left < size ? left : size);
}

/* The first proposal for a task is what tuning has to beat. */
static hone_status propose_before(hone_tune_task *task, hone_candidate *out, uint32_t *io_count) {
    task->has_before = true;
    HONE_TRY(hone_tune_task_before(task, task->arena, out));
    bool is_new;
    HONE_TRY(hone_tune_task_note_program(task, out->program, &is_new));
    if (!is_new) return HONE_OK;
    out->score = NAN;
    HONE_TRY(hone_tune_task_trace(task, task->arena, &out->trace));
    ++*io_count;
    return HONE_OK;
}

/* What was good for programs like the task's has up to half of a batch. */
static hone_status propose_advice(hone_tune_task *task, uint32_t room, hone_candidate *out,
                                  uint32_t *out_count) {
    *out_count = 0;
    while (*out_count < room && task->advice_taken < task->advice_count) {
        bool is_new;
        out[*out_count] = task->advice[task->advice_taken++];
        HONE_TRY(hone_tune_task_note_program(task, out[*out_count].program, &is_new));
        *out_count += is_new;
    }
    return HONE_OK;
}

/* Then the default schedules of variants, as far as the batch goes. */
static hone_status propose_starts(hone_tune_task *task, uint32_t size, hone_candidate *out,
                                  uint32_t *io_count) {
    const hone_rng unused = hone_rng_from_seed(0);
    while (*io_count < size && task->started < task->start_count) {
        const hone_draft *start = &task->starts[task->started++];
        hone_candidate *candidate = &out[*io_count];
        bool is_new;
        hone_status st = hone_tune_task_replay(task, start->sketch, start->decisions, unused,
                                               task->arena, candidate);
        if (hone_status_code(st) == HONE_CODE_ILLEGAL) {
            hone_status_free(st);
            continue;
        }
        HONE_TRY(st);
        HONE_TRY(hone_tune_task_note_program(task, candidate->program, &is_new));
        if (!is_new) continue;
        candidate->score = NAN;
        HONE_TRY(hone_tune_task_trace(task, task->arena, &candidate->trace));
        ++*io_count;
    }
    return HONE_OK;
}

static hone_status enter(hone_tuning *t, hone_tune_task *task, const hone_candidate *candidate,
                         bool ends_batch) {
    hone_trial *trial = hone_tuning_trial(t, t->proposed + t->thought.count);
    *trial = (hone_trial){.arena = trial->arena,
                          .task = task,
                          .candidate = *candidate,
                          .proposal = task->proposals++,
                          .ends_batch = ends_batch,
                          .time_ns = NAN,
                          .record = -1};
    t->thought.count++;
    return hone_tune_task_note_looks(task, candidate->looks, 1);
}

static hone_status propose_for(hone_tuning *t, hone_tune_task *task) {
    hone_candidate candidates[HONE_BATCH];
    uint32_t count = 0, more = 0, size = batch_size(t);
    if (!task->has_before) HONE_TRY(propose_before(task, &candidates[0], &count));
    if (count > 0 && !hone_tune_task_counts(task, -1)) {
        t->uncounted++;
        if (size < HONE_BATCH) size++;
    }
    HONE_TRY(propose_starts(task, size, candidates, &count));
    HONE_TRY(propose_advice(task, (size - count + 1) / 2, candidates + count, &more));
    count += more;
    more = 0;
    hone_rng rng = hone_rng_make(t->options->seed, task->task->hash, (uint64_t)task->proposals);
    if (t->outside) {
        HONE_TRY(hone_outside_propose(t->outside, task, hone_rng_split(&rng, 1), (size - count) / 2,
                                      candidates + count, &more));
        count += more;
        more = 0;
    }
    if (count < size) {
        HONE_TRY(
            t->strategy->propose(task, t->model, rng, size - count, candidates + count, &more));
        if (more == 0) task->is_exhausted = true;
    }
    count += more;
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(enter(t, task, &candidates[i], i + 1 == count));
    if (count) task->batches++;
    return HONE_OK;
}

static bool is_converged(const hone_tuning *t) {
    return t->options->until_converged && t->proposed && hone_has_converged(t);
}

/* Thinks out a batch for the task that promises most; none when nothing is left to do. */
static hone_status propose(hone_tuning *t) {
    int64_t start = hone_clock_now(t->clock);
    while (t->thought.count == 0 && !is_converged(t)) {
        hone_tune_task *task = hone_pick_task(t);
        if (!task) return HONE_OK;
        HONE_TRY(propose_for(t, task));
    }
    int64_t spent = hone_clock_now(t->clock) - start;
    for (uint32_t i = 0; i < t->thought.count; i++) {
        hone_tuning_trial(t, t->proposed + i)->times.search = spent / t->thought.count;
    }
    return HONE_OK;
}

void hone_think(void *context) {
    hone_tuning *t = context;
    t->thought.count = 0;
    t->thought.status = fold(t);
    if (!t->thought.status && t->thought.may_propose) t->thought.status = propose(t);
}
