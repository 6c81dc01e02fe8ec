/* tools/report/report_time.c - where the wall-clock time of a session went.
 *
 * A trial says how long each of its phases took and when its result came, so it says when they
 * were, backwards from its end:
 *
 *     search | build | queue | transfer | load | check | measure | result
 *
 * Trials overlap: sums over them would be more than the time that passed. So each moment is divided
 * evenly among the phases that were going on in it; in the rest the tuner trained, confirmed,
 * waited. Waiting in a queue is not work. Of large databases some stretches are looked at, each up
 * to the middle of its results: what was going on then has ended within the stretch.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "tools/report/report_impl.h"

enum { PHASES = 6, ALL_TRIALS = 4096, STRETCHES = 16, STRETCH_TRIALS = 128 };

static const char *const phase_names[PHASES] = {"search", "build", "transfer",
                                                "load",   "check", "measure"};

typedef struct span {
    int64_t from, to;
    int phase;
} span;

typedef struct edge {
    int64_t at;
    int phase, change;
} edge;

typedef struct share { /* of one session */
    double phases[PHASES], other, whole;
    int64_t trials;
} share;

typedef struct stretch { /* of one session */
    HONE_VEC(span) spans;
    HONE_VEC(int64_t) ends;
} stretch;

typedef struct timing {
    const hone_report *r;
    stretch *stretches; /* by session */
    share *shares;
    bool is_whole, failed;
} timing;

/* ---- taking ---- */

static size_t session_of(const hone_report *r, const char *id) {
    size_t i = 0;
    while (i < r->sessions.count && strcmp(r->sessions.sessions[i].id, id) != 0)
        i++;
    return i;
}

static bool take_trial(void *ctx, const hone_db_trial *trial) {
    timing *t = ctx;
    size_t session = session_of(t->r, trial->session);
    if (session == t->r->sessions.count) return true;
    const hone_db_times *times = &trial->times;
    const struct {
        int64_t ns;
        int phase;
    } backwards[] = {
        {times->measure,  5 },
        {times->check,    4 },
        {times->load,     3 },
        {times->transfer, 2 },
        {times->queue,    -1},
        {times->build,    1 },
        {times->search,   0 },
    };
    stretch *s = &t->stretches[session];
    int64_t to = trial->wall_ns;
    bool ok = hone_vec_push(&s->ends, to);
    for (size_t i = 0; i < HONE_COUNT(backwards) && ok; i++) {
        int64_t from = to - backwards[i].ns;
        if (from < to && backwards[i].phase >= 0) {
            ok = hone_vec_push(&s->spans, (span){from, to, backwards[i].phase});
        }
        to = from;
    }
    t->shares[session].trials++;
    t->failed |= !ok;
    return ok;
}

/* ---- adding up ---- */

static int by_number(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int by_moment(const void *a, const void *b) {
    const edge *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void add_moment(share *s, const int64_t *active, double ns) {
    int going_on = 0;
    for (int p = 0; p < PHASES; p++)
        going_on += active[p] > 0;
    for (int p = 0; p < PHASES; p++) {
        if (active[p] > 0) s->phases[p] += ns / going_on;
    }
    if (!going_on) s->other += ns;
    s->whole += ns;
}

static int64_t clip(int64_t at, int64_t low, int64_t high) {
    return at < low ? low : at > high ? high : at;
}

/* Sweeps over the time from low to high. */
static bool sweep(const stretch *s, int64_t low, int64_t high, share *out) {
    int64_t active[PHASES] = {0}, now = low;
    size_t count = 0;
    edge *edges = hone_calloc(2 * s->spans.count + 1, sizeof *edges);
    if (!edges) return false;
    for (size_t i = 0; i < s->spans.count; i++) {
        const span *x = &s->spans.data[i];
        edges[count++] = (edge){clip(x->from, low, high), x->phase, 1};
        edges[count++] = (edge){clip(x->to, low, high), x->phase, -1};
    }
    if (count) qsort(edges, count, sizeof *edges, by_moment);
    for (size_t i = 0; i < count; i++) {
        add_moment(out, active, (double)(edges[i].at - now));
        now = edges[i].at;
        active[edges[i].phase] += edges[i].change;
    }
    add_moment(out, active, (double)(high - now));
    hone_free(edges);
    return true;
}

/* What was taken of each session since the last time. */
static void add_stretches(timing *t) {
    for (size_t i = 0; i < t->r->sessions.count; i++) {
        stretch *s = &t->stretches[i];
        const hone_db_session *session = &t->r->sessions.sessions[i];
        if (s->ends.count > 1 || (t->is_whole && s->ends.count)) {
            qsort(s->ends.data, s->ends.count, sizeof *s->ends.data, by_number);
            int64_t last = hone_vec_last(&s->ends);
            int64_t low = t->is_whole ? session->started_ns : s->ends.data[0];
            int64_t end = session->ended_ns > last ? session->ended_ns : last;
            int64_t high = t->is_whole ? end : s->ends.data[s->ends.count / 2];
            if (high > low) t->failed |= !sweep(s, low, high, &t->shares[i]);
        }
        hone_vec_clear(&s->spans);
        hone_vec_clear(&s->ends);
    }
}

static hone_status take_records(timing *t, int64_t from, int64_t to) {
    for (int64_t record = from; record < to; record++) {
        hone_db_filter one = {.record = record, .without_trace = true};
        HONE_TRY(hone_db_trials(t->r->db, &one, take_trial, t));
    }
    add_stretches(t);
    return t->failed ? HONE_ERROR(HONE_CODE_NO_MEMORY, "report") : HONE_OK;
}

static bool note_record(void *ctx, const hone_db_trial *trial) {
    *(int64_t *)ctx = trial->record;
    return false;
}

static hone_status take_all(timing *t) {
    int64_t first = 0, last = -1;
    hone_db_filter filter = {.limit = 1, .order = HONE_DB_ORDER_RECORD};
    HONE_TRY(hone_db_trials(t->r->db, &filter, note_record, &first));
    filter.order = HONE_DB_ORDER_LAST_RECORD;
    HONE_TRY(hone_db_trials(t->r->db, &filter, note_record, &last));
    t->is_whole = last - first < ALL_TRIALS;
    if (t->is_whole) return take_records(t, first, last + 1);
    for (int64_t i = 0; i < STRETCHES; i++) {
        int64_t from = first + (last - first - STRETCH_TRIALS) / (STRETCHES - 1) * i;
        HONE_TRY(take_records(t, from, from + STRETCH_TRIALS));
    }
    return HONE_OK;
}

/* ---- writing ---- */

static void put_share(const timing *t, size_t session) {
    hone_str *out = t->r->out;
    const share *s = &t->shares[session];
    hone_report_key(out, NULL);
    hone_str_append_char(out, '{');
    hone_report_put_i64(out, "session", (int64_t)session);
    hone_report_put_i64(out, "trials", s->trials);
    hone_report_put_bool(out, "is_whole", t->is_whole);
    hone_report_key(out, "shares");
    hone_str_append_char(out, '{');
    for (int p = 0; p < PHASES; p++)
        hone_report_put_about(out, phase_names[p], s->phases[p] / s->whole);
    hone_report_put_about(out, "other", s->other / s->whole);
    hone_str_append(out, "}}");
}

static hone_status put_time(timing *t) {
    HONE_TRY(take_all(t));
    hone_report_key(t->r->out, "time");
    hone_str_append_char(t->r->out, '[');
    for (size_t i = 0; i < t->r->sessions.count; i++) {
        if (t->shares[i].whole > 0) put_share(t, i);
    }
    hone_str_append_char(t->r->out, ']');
    return HONE_OK;
}

hone_status hone_report_put_time(hone_report *r) {
    size_t count = r->sessions.count;
    timing t = {.r = r};
    t.stretches = hone_arena_zalloc(r->arena, (count + 1) * sizeof *t.stretches);
    t.shares = hone_arena_zalloc(r->arena, (count + 1) * sizeof *t.shares);
    if (!t.stretches || !t.shares) return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    hone_status st = put_time(&t);
    for (size_t i = 0; i < count; i++) {
        hone_vec_deinit(&t.stretches[i].spans);
        hone_vec_deinit(&t.stretches[i].ends);
    }
    return st;
}
