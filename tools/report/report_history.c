/* tools/report/report_history.c - a task's trials, however many, as some hundred points. */
#include <math.h>

#include "tools/report/report_impl.h"

/* Every other one is enough from here on. */
static void halve(hone_report_steps *points) {
    for (size_t i = 0; 2 * i < points->count; i++)
        points->data[i] = points->data[2 * i];
    points->count = (points->count + 1) / 2;
}

/* Keeps every stride-th trial, and doubles the stride when there are too many. */
static bool add_dot(hone_report_history *h, const hone_report_step *dot) {
    if (h->count++ % h->stride != 0) return true;
    if (h->dots.count == h->max_dots) {
        halve(&h->dots);
        h->stride *= 2;
        if ((h->count - 1) % h->stride != 0) return true;
    }
    return hone_vec_push(&h->dots, *dot);
}

static bool add_confirmed(hone_report_history *h, const hone_report_step *dot) {
    if (isnan(dot->moment.confirmed_ns)) return true;
    if (h->confirmed.count == HONE_REPORT_CONFIRMED) halve(&h->confirmed);
    return hone_vec_push(&h->confirmed, *dot);
}

static hone_report_run *run_of(hone_report_history *h, int32_t session) {
    for (size_t i = h->runs.count; i--;) {
        if (h->runs.data[i].session == session) return &h->runs.data[i];
    }
    if (!hone_vec_push(&h->runs, (hone_report_run){.session = session})) return NULL;
    return &hone_vec_last(&h->runs);
}

/* The last step is the best one, and always stays. */
static bool add_step(hone_report_run *run, const hone_report_step *step) {
    const hone_db_moment *m = &step->moment;
    if (isnan(m->median_ns)) return true;
    run->ok++;
    if (!isnan(m->confirmed_ns) &&
        (!run->best_confirmed.record || m->confirmed_ns < run->best_confirmed.confirmed_ns)) {
        run->best_confirmed = *m;
    }
    if (run->best.record && run->best.median_ns <= m->median_ns) return true;
    run->best = *m;
    if (run->steps.count == HONE_REPORT_STEPS) halve(&run->steps);
    return hone_vec_push(&run->steps, *step);
}

static bool add_moment(void *ctx, const hone_db_moment *moment) {
    hone_report_history *h = ctx;
    hone_report_run *run = run_of(h, moment->session);
    if (run) {
        const hone_report_step step = {++run->trials, *moment};
        if (step.number <= HONE_REPORT_FIRST) run->first[step.number - 1] = moment->record;
        h->failed = !add_dot(h, &step) || !add_confirmed(h, &step) || !add_step(run, &step);
    } else {
        h->failed = true;
    }
    return !h->failed;
}

static int64_t count_steps(const hone_report_history *h) {
    int64_t count = 0;
    for (size_t i = 0; i < h->runs.count; i++)
        count += (int64_t)h->runs.data[i].steps.count;
    return count;
}

/* All sessions together have as many steps as one may have, but two of each stay. */
static void thin(hone_report_history *h) {
    for (bool is_thinner = true; is_thinner && count_steps(h) > HONE_REPORT_STEPS;) {
        is_thinner = false;
        for (size_t i = 0; i < h->runs.count; i++) {
            hone_report_steps *steps = &h->runs.data[i].steps;
            if (steps->count <= 2) continue;
            hone_report_step last = hone_vec_last(steps);
            halve(steps);
            hone_vec_last(steps) = last;
            is_thinner = true;
        }
    }
}

hone_status hone_report_read_history(hone_db *db, const hone_db_task *task, size_t max_dots,
                                     hone_report_history *out) {
    *out = (hone_report_history){.stride = 1, .max_dots = max_dots};
    HONE_TRY(hone_db_history(db, &task->workload, &task->target, add_moment, out));
    if (out->failed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    thin(out);
    return HONE_OK;
}

void hone_report_history_deinit(hone_report_history *history) {
    for (size_t i = 0; i < history->runs.count; i++)
        hone_vec_deinit(&history->runs.data[i].steps);
    hone_vec_deinit(&history->runs);
    hone_vec_deinit(&history->dots);
    hone_vec_deinit(&history->confirmed);
}
