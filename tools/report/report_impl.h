/* tools/report/report_impl.h - between the files of the report only.
 *
 * What a page shows is one JSON value, written from front to back into `out`: the parts below each
 * append a member. The rows that it is made of are read once and kept in the arena.
 */
#ifndef HONE_TOOLS_REPORT_REPORT_IMPL_H
#define HONE_TOOLS_REPORT_REPORT_IMPL_H

#include "schedule/trace/trace.h"
#include "support/data/vec.h"
#include "tools/cli/cli_db.h"
#include "tools/report/report.h"

/* What of a task is shown: points in all, at most 500, and records. Of thousands of tasks there are
 * fewer dots of each. */
enum {
    HONE_REPORT_DOTS = 256,
    HONE_REPORT_LEAST_DOTS = 16,
    HONE_REPORT_ALL_DOTS = 40000,
    HONE_REPORT_DOTS_A_TRACE = 2, /* traces take long to read */
    HONE_REPORT_STEPS = 192,
    HONE_REPORT_CONFIRMED = 48,
    HONE_REPORT_TOP = 10,
    HONE_REPORT_FIRST = 4,
};

/* A record that is shown in full if there is room: rank 0 is what a task had to beat, 1 its best.
 */
typedef struct hone_report_place {
    int32_t rank;
    uint32_t number; /* in order of appearance */
    int64_t record;
} hone_report_place;

typedef struct hone_report {
    hone_db *db;
    const char *title;
    hone_arena *arena;
    hone_str *out;
    hone_db_rows tasks, sessions, targets;
    HONE_VEC(hone_report_place) places;
    int64_t trials; /* in the database */
} hone_report;

/* ---- report_text.c: members of the object that is being written ---- */
void hone_report_key(hone_str *out, const char *key); /* NULL: an element of an array */
void hone_report_put_text(hone_str *out, const char *key, const char *text); /* NULL: null */
void hone_report_put_i64(hone_str *out, const char *key, int64_t value);
void hone_report_put_f64(hone_str *out, const char *key, double value);   /* exactly; NAN: null */
void hone_report_put_about(hone_str *out, const char *key, double value); /* six digits */
void hone_report_put_hash(hone_str *out, const char *key, hone_hash128 hash);
void hone_report_put_bool(hone_str *out, const char *key, bool value);

/* ---- report_history.c: a task's trials as its charts show them ---- */

typedef struct hone_report_step { /* the best so far became this */
    int64_t number;               /* of the trial within its session and task, from 1 */
    hone_db_moment moment;
} hone_report_step;

typedef HONE_VEC(hone_report_step) hone_report_steps;

typedef struct hone_report_run { /* the trials of one session for the task */
    int32_t session;
    int64_t trials, ok;
    int64_t first[HONE_REPORT_FIRST];    /* records; what tuning has to beat is among them */
    hone_db_moment best, best_confirmed; /* record 0: none */
    hone_report_steps steps;
} hone_report_run;

typedef struct hone_report_history {
    HONE_VEC(hone_report_run) runs; /* in the order in which they began */
    hone_report_steps dots;         /* evenly spread over all trials */
    hone_report_steps confirmed;    /* the latest */
    size_t max_dots;
    int64_t count, stride;
    bool failed; /* out of memory */
} hone_report_history;

/* Deinit also after failure. */
HONE_NODISCARD hone_status hone_report_read_history(hone_db *db, const hone_db_task *task,
                                                    size_t max_dots, hone_report_history *out);
void hone_report_history_deinit(hone_report_history *history);

/* ---- report_task.c ---- */
HONE_NODISCARD hone_status hone_report_put_task(hone_report *r, const hone_db_task *task,
                                                const char *shapes);

/* ---- report_choices.c: which decisions of a search mattered ---- */

typedef struct hone_report_choice { /* a number that was decided in a trial */
    int32_t sketch;
    uint32_t step, place; /* which instruction of the trace; which of its numbers */
    int64_t value;
    double log_ns; /* of the trial's median */
} hone_report_choice;

typedef struct hone_report_choices {
    hone_arena *arena;
    HONE_VEC(hone_report_choice) items;
    HONE_VEC(struct hone_report_sketch {
        int32_t sketch;
        const char *head; /* of its JSON form, so many bytes: what decides */
        size_t head_bytes;
        hone_trace *trace;
    })
    sketches; /* a trace of each, with the decisions of the latest trial */
} hone_report_choices;

/* Takes the decisions of an ok trial; traces that cannot be read are left out. */
HONE_NODISCARD hone_status hone_report_add_choices(hone_report_choices *choices,
                                                   const hone_db_trial *trial);
/* Appends the member "choices": of each decision the share of the spread of log(time) that it
 * explains (omega squared: less what as many random groups would), the largest first. */
HONE_NODISCARD hone_status hone_report_put_choices(hone_report_choices *choices, hone_str *out);
void hone_report_choices_deinit(hone_report_choices *choices);

/* ---- report_time.c ---- */
/* Appends the member "time": of each session the wall-clock time and what of it went where. */
HONE_NODISCARD hone_status hone_report_put_time(hone_report *r);

/* ---- report_records.c ---- */
/* Notes a record for the function below. */
HONE_NODISCARD hone_status hone_report_want_record(hone_report *r, int32_t rank, int64_t record);
/* Appends the members "records", those that were noted in full by number, by rank until `room`
 * bytes are full, and "records_left_out", how many others there are. */
HONE_NODISCARD hone_status hone_report_put_records(hone_report *r, size_t room);

#endif
