/* database/db_jsonl_read.c - takes the lines of db_jsonl.h into a database, one at a time. */
#include "database/db_jsonl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/os/fs.h"
#include "support/text/base64.h"
#include "support/text/json.h"

int64_t *hone_db_time_at(hone_db_times *times, size_t i) {
    int64_t *const members[HONE_DB_TIMES] = {&times->search,   &times->queue, &times->build,
                                             &times->transfer, &times->load,  &times->measure,
                                             &times->check};
    return members[i];
}

typedef struct importer {
    hone_db_joiner *joiner;
    hone_db_workload_check check;
    hone_arena *arena; /* of a line */
} importer;

static hone_status get_hash(const hone_json *json, const char *key, hone_hash128 *out) {
    const char *text;
    HONE_TRY(hone_json_get_text(json, key, &text));
    if (hone_hash128_parse(text, out)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' is no hash of 32 hex digits", key);
}

/* Text or null. */
static hone_status get_maybe(const hone_json *json, const char *key, const char **out) {
    *out = NULL;
    const hone_json *member = hone_json_find(json, key);
    if (!member || hone_json_is(member, HONE_JSON_NULL)) return HONE_OK;
    return hone_json_get_text(json, key, out);
}

/* A number, or NAN for null. */
static hone_status get_number(const hone_json *json, const char *key, double *out) {
    *out = NAN;
    const hone_json *member = hone_json_find(json, key);
    if (!member || hone_json_is(member, HONE_JSON_NULL)) return HONE_OK;
    return hone_json_get_f64(json, key, out);
}

static hone_status get_i32(const hone_json *json, const char *key, int32_t *out) {
    int64_t value;
    HONE_TRY(hone_json_get_i64(json, key, &value));
    if (value < INT32_MIN || value > INT32_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is %" PRId64 ", which is out of range", key,
                          value);
    }
    *out = (int32_t)value;
    return HONE_OK;
}

static hone_status import_workload(importer *im, const hone_json *json) {
    hone_db_workload w = {0};
    HONE_TRY(get_hash(json, "hash", &w.hash));
    HONE_TRY(get_i32(json, "hash_version", &w.hash_version));
    HONE_TRY(hone_json_get_text(json, "name", &w.name));
    HONE_TRY(hone_json_get_text(json, "program", &w.program));
    HONE_TRY(get_maybe(json, "args", &w.args_json));
    HONE_TRY(hone_json_get_f64(json, "flops", &w.flops));
    if (im->check) HONE_TRY(im->check(&w));
    return hone_db_join_workload(im->joiner, &w);
}

static hone_status import_target(importer *im, const hone_json *json) {
    hone_db_target t = {0};
    HONE_TRY(get_hash(json, "hash", &t.hash));
    HONE_TRY(hone_json_get_text(json, "text", &t.text));
    HONE_TRY(get_i32(json, "threads", &t.threads));
    return hone_db_join_target(im->joiner, &t);
}

static hone_status import_session(importer *im, const hone_json *json) {
    hone_db_session s = {0};
    int64_t seed;
    HONE_TRY(hone_json_get_text(json, "id", &s.id));
    HONE_TRY(get_maybe(json, "model", &s.model));
    HONE_TRY(get_maybe(json, "command_line", &s.command_line));
    HONE_TRY(get_maybe(json, "hone_version", &s.hone_version));
    HONE_TRY(get_maybe(json, "options", &s.options_json));
    HONE_TRY(get_maybe(json, "owner", &s.owner));
    HONE_TRY(hone_json_get_text(json, "state", &s.state));
    HONE_TRY(hone_json_get_i64(json, "started_ns", &s.started_ns));
    HONE_TRY(hone_json_get_i64(json, "ended_ns", &s.ended_ns));
    HONE_TRY(hone_json_get_i64(json, "seed", &seed));
    HONE_TRY(get_i32(json, "look_ahead", &s.look_ahead));
    HONE_TRY(hone_json_get_i64(json, "budget_trials", &s.budget_trials));
    HONE_TRY(hone_json_get_i64(json, "budget_ns", &s.budget_ns));
    s.seed = (uint64_t)seed;
    return hone_db_join_session(im->joiner, &s);
}

static hone_status read_samples(importer *im, const hone_json *json, hone_db_trial *t) {
    const hone_json *list;
    HONE_TRY(hone_json_get_array(json, "samples_ns", &list));
    t->sample_count = hone_json_count(list);
    double *samples = hone_arena_alloc(im->arena, (t->sample_count + 1) * sizeof *samples);
    if (!samples) return HONE_ERROR(HONE_CODE_NO_MEMORY, "import");
    for (size_t i = 0; i < t->sample_count; i++) {
        const hone_json *item = hone_json_at(list, i);
        if (!hone_json_is(item, HONE_JSON_REAL) && !hone_json_is(item, HONE_JSON_INT)) {
            return HONE_ERROR(HONE_CODE_INVALID, "sample %zu is no number", i);
        }
        samples[i] = hone_json_f64(item);
    }
    t->samples_ns = samples;
    return HONE_OK;
}

static hone_status read_times(const hone_json *json, hone_db_trial *t) {
    const hone_json *list;
    HONE_TRY(hone_json_get_array(json, "times_ns", &list));
    for (size_t i = 0; i < HONE_DB_TIMES; i++) {
        const hone_json *item = hone_json_at(list, i);
        if (!hone_json_is(item, HONE_JSON_INT)) {
            return HONE_ERROR(HONE_CODE_INVALID, "time %zu is no integer", i);
        }
        *hone_db_time_at(&t->times, i) = hone_json_i64(item);
    }
    return HONE_OK;
}

static hone_status get_maybe_i64(const hone_json *json, const char *key, int64_t *out) {
    *out = 0;
    return hone_json_find(json, key) ? hone_json_get_i64(json, key, out) : HONE_OK;
}

static hone_status read_features(importer *im, const hone_json *json, hone_db_trial *t) {
    const hone_json *features = hone_json_find(json, "features");
    const char *text;
    int32_t rows, columns;
    hone_str data = {0};
    if (!features || hone_json_is(features, HONE_JSON_NULL)) return HONE_OK;
    HONE_TRY(get_i32(features, "version", &t->feature_version));
    HONE_TRY(get_i32(features, "rows", &rows));
    HONE_TRY(get_i32(features, "columns", &columns));
    HONE_TRY(hone_json_get_text(features, "data", &text));
    t->feature_rows = (uint32_t)rows;
    t->feature_columns = (uint32_t)columns;
    bool is_valid = rows >= 0 && columns >= 0 && hone_base64_decode(text, strlen(text), &data) &&
                    data.length == (uint64_t)rows * (uint64_t)columns * sizeof(float);
    if (is_valid) t->features = hone_arena_copy(im->arena, hone_str_text(&data), data.length + 1);
    hone_str_deinit(&data);
    if (!is_valid) {
        return HONE_ERROR(HONE_CODE_INVALID, "the data of the features is not %d × %d numbers",
                          rows, columns);
    }
    return t->features ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "import");
}

static hone_status read_trial(importer *im, const hone_json *json, hone_db_trial *t) {
    HONE_TRY(hone_json_get_text(json, "session", &t->session));
    HONE_TRY(get_hash(json, "workload", &t->workload));
    HONE_TRY(get_hash(json, "target", &t->target));
    HONE_TRY(hone_json_get_i64(json, "proposal", &t->proposal));
    HONE_TRY(get_i32(json, "sketch", &t->sketch));
    HONE_TRY(hone_json_get_text(json, "trace", &t->trace));
    HONE_TRY(get_hash(json, "program", &t->program));
    HONE_TRY(hone_json_get_text(json, "outcome", &t->outcome));
    HONE_TRY(get_maybe(json, "message", &t->message));
    HONE_TRY(get_number(json, "median_ns", &t->median_ns));
    HONE_TRY(get_number(json, "spread", &t->spread));
    HONE_TRY(read_samples(im, json, t));
    HONE_TRY(get_number(json, "max_error", &t->max_error));
    HONE_TRY(get_number(json, "confirmed_ns", &t->confirmed_ns));
    HONE_TRY(get_maybe_i64(json, "confirmed_at_ns", &t->confirmed_at_ns));
    HONE_TRY(get_number(json, "predicted_score", &t->predicted_score));
    HONE_TRY(read_times(json, t));
    HONE_TRY(get_maybe(json, "drift", &t->drift));
    HONE_TRY(get_maybe(json, "device", &t->device));
    HONE_TRY(read_features(im, json, t));
    return hone_json_get_i64(json, "wall_ns", &t->wall_ns);
}

static hone_status import_trial(importer *im, const hone_json *json) {
    hone_db_trial t = {0};
    HONE_TRY(read_trial(im, json, &t));
    return hone_db_join_trial(im->joiner, &t);
}

static hone_status import_line(importer *im, const hone_json *json) {
    const char *kind;
    HONE_TRY(hone_json_get_text(json, "kind", &kind));
    if (strcmp(kind, "trial") == 0) return import_trial(im, json);
    if (strcmp(kind, "workload") == 0) return import_workload(im, json);
    if (strcmp(kind, "target") == 0) return import_target(im, json);
    if (strcmp(kind, "session") == 0) return import_session(im, json);
    if (strcmp(kind, "hone records") != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "unknown kind '%s'", kind);
    }
    int64_t version;
    HONE_TRY(hone_json_get_i64(json, "version", &version));
    if (version <= HONE_DB_JSONL_VERSION) return HONE_OK;
    return HONE_ERROR(HONE_CODE_VERSION, "version %" PRId64 " is newer than %d, which this reads",
                      version, HONE_DB_JSONL_VERSION);
}

static hone_status import_text(importer *im, const char *text, size_t length) {
    hone_json *json = NULL;
    hone_arena_mark mark = hone_arena_get_mark(im->arena);
    hone_status st = hone_json_parse(text, length, &json);
    if (!st) st = import_line(im, json);
    hone_json_destroy(json);
    hone_arena_rewind(im->arena, mark);
    return st;
}

static hone_status import_file(importer *im, const char *path, FILE *file) {
    char *text = NULL;
    size_t capacity = 0;
    hone_status st = HONE_OK;
    for (size_t line = 1; !st; line++) {
        ssize_t length = getline(&text, &capacity, file);
        if (length < 0) break;
        if (length > 0 && text[length - 1] == '\n') length--;
        if (length > 0) st = import_text(im, text, (size_t)length);
        if (st) st = hone_status_annotate(st, "%s:%zu", path, line);
    }
    if (!st && ferror(file)) {
        st = HONE_ERROR(HONE_CODE_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    free(text); /* allow free: of getline */
    return st;
}

hone_status hone_db_read_lines(hone_db *into, const char *path, FILE *file,
                               hone_db_workload_check check, hone_db_merge_counts *out_counts) {
    importer im = {.arena = hone_arena_create(16384), .check = check};
    *out_counts = (hone_db_merge_counts){0};
    hone_status st = im.arena ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "import");
    if (!st) st = hone_db_joiner_create(into, &im.joiner);
    if (!st) {
        st = import_file(&im, path, file);
        st = hone_status_join(st, hone_db_joiner_finish(im.joiner, out_counts));
    }
    hone_db_joiner_destroy(im.joiner);
    hone_arena_destroy(im.arena);
    return st;
}

hone_status hone_db_read_lines_file(hone_db *into, const char *path, hone_db_workload_check check,
                                    hone_db_merge_counts *out_counts) {
    *out_counts = (hone_db_merge_counts){0};
    if (!*path) return HONE_ERROR(HONE_CODE_NOT_FOUND, "the name of a file is empty");
    if (hone_fs_is_dir(path)) return HONE_ERROR(HONE_CODE_INVALID, "%s: is a directory", path);
    FILE *file = fopen(path, "re");
    if (!file) {
        hone_code code = errno == ENOENT ? HONE_CODE_NOT_FOUND : HONE_CODE_IO;
        return HONE_ERROR(code, "%s: cannot open: %s", path, strerror(errno));
    }
    hone_status st = hone_db_read_lines(into, path, file, check, out_counts);
    fclose(file);
    return st;
}
