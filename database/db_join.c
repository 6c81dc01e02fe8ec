/* database/db_join.c - what two databases know of one row, put together.
 *
 * Each kind of row is ordered by its content, and the greater content is taken whole: so the order
 * in which databases are merged, and how often, changes nothing. What comes to a row later (the end
 * of a session; confirmation, samples and features of a trial) is joined for itself where the
 * contents are equal: later or more wins, ties are broken by the values.
 */
#include <string.h>

#include "database/database_impl.h"

static int compare_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* By bits: a total order that knows NAN. */
static int compare_f64(double a, double b) {
    int64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return isnan(a) && isnan(b) ? 0 : compare_i64(x, y);
}

static int compare_text(const char *a, const char *b) {
    if (!a || !b) return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

/* The first that is not 0. */
static int first_of(const int *orders, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (orders[i]) return orders[i];
    }
    return 0;
}

#define FIRST_OF(...)                                                                              \
    first_of((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

bool hone_db_join_workloads(hone_db_workload *into, const hone_db_workload *from) {
    int order = FIRST_OF(
        compare_i64(into->hash_version, from->hash_version),
        compare_text(into->program, from->program), compare_text(into->name, from->name),
        compare_f64(into->flops, from->flops), compare_text(into->args_json, from->args_json));
    if (order < 0) *into = *from;
    return order < 0;
}

/* ---- sessions ---- */

static int compare_sessions(const hone_db_session *a, const hone_db_session *b) {
    return FIRST_OF(
        compare_i64(a->started_ns, b->started_ns), compare_text(a->model, b->model),
        compare_text(a->command_line, b->command_line),
        compare_text(a->hone_version, b->hone_version),
        compare_text(a->options_json, b->options_json), compare_text(a->owner, b->owner),
        compare_i64((int64_t)a->seed, (int64_t)b->seed), compare_i64(a->look_ahead, b->look_ahead),
        compare_i64(a->budget_trials, b->budget_trials), compare_i64(a->budget_ns, b->budget_ns));
}

bool hone_db_join_sessions(hone_db_session *into, const hone_db_session *from) {
    int order = compare_sessions(into, from);
    if (order < 0) *into = *from;
    if (order != 0) return order < 0;
    order = FIRST_OF(compare_i64(into->ended_ns, from->ended_ns),
                     compare_text(into->state, from->state));
    if (order >= 0) return false;
    into->ended_ns = from->ended_ns;
    into->state = from->state;
    return true;
}

/* ---- trials ---- */

static int compare_times(const hone_db_times *a, const hone_db_times *b) {
    return FIRST_OF(compare_i64(a->search, b->search), compare_i64(a->queue, b->queue),
                    compare_i64(a->build, b->build), compare_i64(a->transfer, b->transfer),
                    compare_i64(a->load, b->load), compare_i64(a->measure, b->measure),
                    compare_i64(a->check, b->check));
}

static int compare_trials(const hone_db_trial *a, const hone_db_trial *b) {
    return FIRST_OF(compare_i64(a->wall_ns, b->wall_ns), compare_text(a->outcome, b->outcome),
                    compare_f64(a->median_ns, b->median_ns),
                    hone_hash128_compare(a->program, b->program), compare_text(a->trace, b->trace),
                    compare_i64(a->sketch, b->sketch), compare_text(a->message, b->message),
                    compare_f64(a->spread, b->spread), compare_f64(a->max_error, b->max_error),
                    compare_f64(a->predicted_score, b->predicted_score),
                    compare_text(a->drift, b->drift), compare_text(a->device, b->device),
                    compare_times(&a->times, &b->times));
}

static int compare_arrays(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    int order = (a_bytes > b_bytes) - (a_bytes < b_bytes);
    return order || !a_bytes ? order : memcmp(a, b, a_bytes);
}

static bool join_confirmation(hone_db_trial *into, const hone_db_trial *from) {
    int order = FIRST_OF(!isnan(into->confirmed_ns) - !isnan(from->confirmed_ns),
                         compare_i64(into->confirmed_at_ns, from->confirmed_at_ns),
                         compare_f64(into->confirmed_ns, from->confirmed_ns));
    if (order >= 0) return false;
    into->confirmed_ns = from->confirmed_ns;
    into->confirmed_at_ns = from->confirmed_at_ns;
    return true;
}

static bool join_samples(hone_db_trial *into, const hone_db_trial *from) {
    size_t bytes = sizeof *into->samples_ns;
    int order = compare_arrays(into->samples_ns, into->sample_count * bytes, from->samples_ns,
                               from->sample_count * bytes);
    if (order >= 0) return false;
    into->samples_ns = from->samples_ns;
    into->sample_count = from->sample_count;
    return true;
}

static size_t feature_bytes(const hone_db_trial *trial) {
    if (!trial->features) return 0;
    return sizeof(float) * trial->feature_rows * trial->feature_columns;
}

static bool join_features(hone_db_trial *into, const hone_db_trial *from) {
    int order = FIRST_OF(
        (into->features != NULL) - (from->features != NULL),
        compare_i64(into->feature_version, from->feature_version),
        compare_i64(into->feature_rows, from->feature_rows),
        compare_arrays(into->features, feature_bytes(into), from->features, feature_bytes(from)));
    if (order >= 0) return false;
    into->feature_version = from->feature_version;
    into->feature_rows = from->feature_rows;
    into->feature_columns = from->feature_columns;
    into->features = from->features;
    return true;
}

bool hone_db_join_trials(hone_db_trial *into, const hone_db_trial *from) {
    int order = compare_trials(into, from);
    if (order < 0) {
        int64_t record = into->record;
        *into = *from;
        into->record = record;
    }
    if (order != 0) return order < 0;
    bool is_news = join_confirmation(into, from);
    is_news |= join_samples(into, from);
    is_news |= join_features(into, from);
    return is_news;
}
