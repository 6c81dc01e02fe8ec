/* tools/report/report_task.c - what the page shows of one task. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/cli/cli_record.h"
#include "tools/report/report_impl.h"

typedef struct writing {
    hone_report *r;
    const hone_db_task *task;
    hone_report_history history;
    hone_report_choices choices;
    int32_t rank;        /* of the last record of the top */
    hone_status failure; /* within a visit */
} writing;

static double seconds_since(const hone_report *r, const hone_db_moment *m) {
    bool is_known = m->session >= 0 && (size_t)m->session < r->sessions.count;
    int64_t start = is_known ? r->sessions.sessions[m->session].started_ns : 0;
    return is_known && start ? (double)(m->wall_ns - start) / 1e9 : NAN;
}

/* [number, seconds, ns, record]: of a step, or of a record that was confirmed. */
static void put_step(const hone_report *r, const hone_report_step *step, double ns) {
    hone_str *out = r->out;
    hone_report_key(out, NULL);
    hone_str_printf(out, "[%" PRId64, step->number);
    hone_report_put_about(out, NULL, seconds_since(r, &step->moment));
    hone_report_put_about(out, NULL, ns);
    hone_report_put_i64(out, NULL, step->moment.record);
    hone_report_put_i64(out, NULL, step->moment.session);
    hone_str_append_char(out, ']');
}

/* ---- runs ---- */

static void put_run(const hone_report *r, const hone_report_run *run) {
    hone_str *out = r->out;
    bool is_confirmed = run->best_confirmed.record;
    const hone_db_moment *best = is_confirmed ? &run->best_confirmed : &run->best;
    hone_report_key(out, NULL);
    hone_str_append_char(out, '{');
    hone_report_put_i64(out, "session", run->session);
    hone_report_put_i64(out, "trials", run->trials);
    hone_report_put_i64(out, "ok", run->ok);
    hone_report_put_f64(out, "best_ns",
                        !best->record  ? NAN
                        : is_confirmed ? best->confirmed_ns
                                       : best->median_ns);
    hone_report_put_i64(out, "best_record", best->record);
    hone_report_put_bool(out, "is_confirmed", is_confirmed);
    hone_report_key(out, "steps");
    hone_str_append_char(out, '[');
    for (size_t i = 0; i < run->steps.count; i++)
        put_step(r, &run->steps.data[i], run->steps.data[i].moment.median_ns);
    hone_str_append(out, "]}");
}

static void put_runs(const writing *w) {
    hone_str *out = w->r->out;
    hone_report_key(out, "runs");
    hone_str_append_char(out, '[');
    for (size_t i = 0; i < w->history.runs.count; i++)
        put_run(w->r, &w->history.runs.data[i]);
    hone_str_append_char(out, ']');
    hone_report_key(out, "confirmed_records");
    hone_str_append_char(out, '[');
    for (size_t i = 0; i < w->history.confirmed.count; i++) {
        const hone_report_step *step = &w->history.confirmed.data[i];
        put_step(w->r, step, step->moment.confirmed_ns);
    }
    hone_str_append_char(out, ']');
}

/* ---- dots: some of the trials, each with what the model said ---- */

typedef struct dot_visit {
    writing *w;
    const hone_report_step *dot;
} dot_visit;

static bool put_dot(void *ctx, const hone_db_trial *trial) {
    const dot_visit *v = ctx;
    hone_str *out = v->w->r->out;
    hone_report_key(out, NULL);
    hone_str_printf(out, "[%" PRId64, v->dot->number);
    hone_report_put_about(out, NULL, seconds_since(v->w->r, &v->dot->moment));
    hone_report_put_about(out, NULL, trial->median_ns);
    hone_report_put_i64(out, NULL, trial->record);
    hone_report_put_i64(out, NULL, v->dot->moment.session);
    hone_report_put_about(out, NULL, trial->predicted_score);
    hone_report_put_i64(out, NULL, trial->sketch);
    if (isnan(trial->median_ns)) hone_report_put_text(out, NULL, trial->outcome);
    hone_str_append_char(out, ']');
    if (trial->trace) v->w->failure = hone_report_add_choices(&v->w->choices, trial);
    return false;
}

static hone_status put_dots(writing *w) {
    hone_report_key(w->r->out, "dots");
    hone_str_append_char(w->r->out, '[');
    for (size_t i = 0; i < w->history.dots.count; i++) {
        dot_visit visit = {w, &w->history.dots.data[i]};
        hone_db_filter one = {.record = visit.dot->moment.record,
                              .without_trace = i % HONE_REPORT_DOTS_A_TRACE != 0};
        HONE_TRY(hone_db_trials(w->r->db, &one, put_dot, &visit));
        HONE_TRY(w->failure);
    }
    hone_str_append_char(w->r->out, ']');
    return hone_report_put_choices(&w->choices, w->r->out);
}

/* ---- the best ---- */

static bool put_record(void *ctx, const hone_db_trial *trial) {
    writing *w = ctx;
    hone_str *out = w->r->out;
    hone_report_key(out, NULL);
    hone_str_append_char(out, '{');
    hone_report_put_i64(out, "record", trial->record);
    hone_report_put_hash(out, "uid", trial->uid);
    hone_report_put_f64(out, "median_ns", trial->median_ns);
    hone_report_put_f64(out, "confirmed_ns", trial->confirmed_ns);
    hone_report_put_f64(out, "spread_fraction", trial->spread);
    hone_report_put_f64(out, "predicted_score", trial->predicted_score);
    hone_report_put_i64(out, "sketch", trial->sketch);
    hone_report_put_text(out, "variant", hone_cli_variant_of(w->r->arena, trial->trace));
    hone_report_put_i64(out, "proposal", trial->proposal);
    hone_report_put_text(out, "session", trial->session);
    hone_report_put_text(out, "device", trial->device);
    hone_str_append_char(out, '}');
    w->failure = hone_report_want_record(w->r, ++w->rank, trial->record);
    return !w->failure;
}

static hone_status put_top(writing *w) {
    hone_db_filter best = {.workload = &w->task->workload,
                           .target = &w->task->target,
                           .limit = HONE_REPORT_TOP,
                           .order = HONE_DB_ORDER_BEST};
    hone_report_key(w->r->out, "top");
    hone_str_append_char(w->r->out, '[');
    HONE_TRY(hone_db_trials(w->r->db, &best, put_record, w));
    HONE_TRY(w->failure);
    hone_str_append_char(w->r->out, ']');
    return HONE_OK;
}

/* ---- what tuning had to beat ---- */

typedef struct beat_visit {
    int64_t record;
    double ns;
} beat_visit;

static bool is_default(void *ctx, const hone_db_trial *trial) {
    beat_visit *v = ctx;
    if (trial->sketch < 0 && !isnan(trial->median_ns)) {
        *v = (beat_visit){trial->record, hone_db_trial_ns(trial)};
    }
    return !v->record;
}

/* It is the first proposal of a session; the latest session that has one is asked. */
static hone_status put_default(writing *w) {
    beat_visit found = {.ns = NAN};
    for (size_t i = w->history.runs.count; i-- && !found.record;) {
        const int64_t *first = w->history.runs.data[i].first;
        for (int k = 0; k < HONE_REPORT_FIRST && first[k] && !found.record; k++) {
            hone_db_filter one = {.record = first[k]};
            HONE_TRY(hone_db_trials(w->r->db, &one, is_default, &found));
        }
    }
    hone_report_put_i64(w->r->out, "default_record", found.record);
    hone_report_put_f64(w->r->out, "default_ns", found.ns);
    return found.record ? hone_report_want_record(w->r, 0, found.record) : HONE_OK;
}

/* ---- all of it ---- */

static size_t target_at(const hone_report *r, hone_hash128 hash) {
    size_t i = 0;
    while (i + 1 < r->targets.count && !hone_hash128_equal(r->targets.targets[i].hash, hash))
        i++;
    return i;
}

static void put_facts(const writing *w, const char *shapes) {
    hone_str *out = w->r->out;
    const hone_db_task *t = w->task;
    hone_report_put_text(out, "name", t->name);
    hone_report_put_text(out, "shapes", shapes);
    hone_report_put_hash(out, "workload_hash", t->workload);
    hone_report_put_hash(out, "target_hash", t->target);
    hone_report_put_i64(out, "target", (int64_t)target_at(w->r, t->target));
    hone_report_put_f64(out, "flops", t->flops);
    hone_report_put_i64(out, "trials", t->trials);
    hone_report_put_i64(out, "ok", t->ok);
    hone_report_put_i64(out, "failed", t->failed);
    hone_report_put_i64(out, "confirmed", t->confirmed);
    hone_report_put_f64(out, "best_ns", t->best_ns);
    hone_report_put_i64(out, "last_wall_ns", t->last_wall_ns);
}

static size_t dots_of_each(const hone_report *r) {
    size_t share = HONE_REPORT_ALL_DOTS / (r->tasks.count + 1);
    if (share < HONE_REPORT_LEAST_DOTS) return HONE_REPORT_LEAST_DOTS;
    return share < HONE_REPORT_DOTS ? share : HONE_REPORT_DOTS;
}

static hone_status put_all(writing *w, const char *shapes) {
    hone_report_key(w->r->out, NULL);
    hone_str_append_char(w->r->out, '{');
    put_facts(w, shapes);
    HONE_TRY(hone_report_read_history(w->r->db, w->task, dots_of_each(w->r), &w->history));
    HONE_TRY(put_default(w));
    put_runs(w);
    HONE_TRY(put_dots(w));
    HONE_TRY(put_top(w));
    hone_str_append_char(w->r->out, '}');
    return hone_str_check(w->r->out);
}

hone_status hone_report_put_task(hone_report *r, const hone_db_task *task, const char *shapes) {
    hone_arena *arena = hone_arena_create(16 * 1024);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    writing w = {.r = r, .task = task, .choices = {.arena = arena}};
    hone_status st = put_all(&w, shapes);
    hone_report_history_deinit(&w.history);
    hone_report_choices_deinit(&w.choices);
    hone_arena_destroy(arena);
    return st;
}
