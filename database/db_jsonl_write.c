/* database/db_jsonl_write.c - a database as lines of JSON (db_jsonl.h), a piece at a time, however
 * large it is. */
#include <math.h>
#include <string.h>

#include "database/db_jsonl.h"
#include "support/os/fs.h"
#include "support/text/base64.h"
#include "support/text/json.h"

enum { PIECE_BYTES = 1 << 18 };

typedef struct exporter {
    hone_str out; /* the piece that is not written yet */
    int fd;
    bool failed;
    hone_status status; /* of writing */
} exporter;

static void write_piece(exporter *e) {
    if (!e->status) e->status = hone_fd_write_full(e->fd, e->out.data, e->out.length);
    hone_str_clear(&e->out);
}

static bool put_line(exporter *e, hone_json *json, bool ok) {
    if (ok) hone_json_print(json, &(hone_json_style){.is_compact = true}, &e->out);
    hone_str_append_char(&e->out, '\n');
    hone_json_destroy(json);
    e->failed |= !ok || e->out.failed;
    if (e->out.length >= PIECE_BYTES) write_piece(e);
    return !e->failed && !e->status;
}

static bool set_hash(hone_json *json, const char *key, hone_hash128 hash) {
    char text[HONE_HASH_HEX_BYTES];
    return hone_json_set_text(json, key, hone_hash128_print(hash, text));
}

static bool export_workload(void *ctx, const hone_db_workload *w) {
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "kind", "workload");
    ok &= set_hash(json, "hash", w->hash);
    ok &= hone_json_set_i64(json, "hash_version", w->hash_version);
    ok &= hone_json_set_text(json, "name", w->name);
    ok &= hone_json_set_text(json, "program", w->program);
    ok &= hone_json_set_text(json, "args", w->args_json);
    ok &= hone_json_set_f64(json, "flops", w->flops);
    return put_line(ctx, json, ok);
}

static bool export_target(void *ctx, const hone_db_target *t) {
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "kind", "target");
    ok &= set_hash(json, "hash", t->hash);
    ok &= hone_json_set_text(json, "text", t->text);
    ok &= hone_json_set_i64(json, "threads", t->threads);
    return put_line(ctx, json, ok);
}

static bool export_session(void *ctx, const hone_db_session *s) {
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "kind", "session");
    ok &= hone_json_set_text(json, "id", s->id);
    ok &= hone_json_set_text(json, "model", s->model);
    ok &= hone_json_set_text(json, "command_line", s->command_line);
    ok &= hone_json_set_text(json, "hone_version", s->hone_version);
    ok &= hone_json_set_text(json, "options", s->options_json);
    ok &= hone_json_set_text(json, "state", s->state);
    ok &= hone_json_set_i64(json, "started_ns", s->started_ns);
    ok &= hone_json_set_i64(json, "ended_ns", s->ended_ns);
    ok &= hone_json_set_i64(json, "seed", (int64_t)s->seed);
    ok &= hone_json_set_i64(json, "look_ahead", s->look_ahead);
    ok &= hone_json_set_i64(json, "budget_trials", s->budget_trials);
    ok &= hone_json_set_i64(json, "budget_ns", s->budget_ns);
    if (s->owner) ok &= hone_json_set_text(json, "owner", s->owner);
    return put_line(ctx, json, ok);
}

static bool set_measurement(hone_json *json, const hone_db_trial *t) {
    hone_json *samples = hone_json_make_array(), *times = hone_json_make_array();
    hone_db_times copy = t->times;
    bool ok = true;
    for (size_t i = 0; i < t->sample_count; i++) {
        ok &= hone_json_append(samples, hone_json_make_f64(t->samples_ns[i]));
    }
    for (size_t i = 0; i < HONE_DB_TIMES; i++) {
        ok &= hone_json_append(times, hone_json_make_i64(*hone_db_time_at(&copy, i)));
    }
    ok &= hone_json_set_f64(json, "median_ns", t->median_ns);
    ok &= hone_json_set_f64(json, "spread", t->spread);
    ok &= hone_json_set(json, "samples_ns", samples);
    ok &= hone_json_set_f64(json, "max_error", t->max_error);
    ok &= hone_json_set_f64(json, "confirmed_ns", t->confirmed_ns);
    if (t->confirmed_at_ns) ok &= hone_json_set_i64(json, "confirmed_at_ns", t->confirmed_at_ns);
    ok &= hone_json_set_f64(json, "predicted_score", t->predicted_score);
    return hone_json_set(json, "times_ns", times) && ok;
}

/* The bytes of little-endian float32, as base64. */
static bool set_features(hone_json *json, const hone_db_trial *t) {
    if (!t->features) return true;
    hone_str data = {0};
    hone_base64_encode(t->features, sizeof(float) * t->feature_rows * t->feature_columns, &data);
    hone_json *features = hone_json_make_object();
    bool ok = hone_json_set_i64(features, "version", t->feature_version);
    ok &= hone_json_set_i64(features, "rows", t->feature_rows);
    ok &= hone_json_set_i64(features, "columns", t->feature_columns);
    ok &= !data.failed && hone_json_set_text(features, "data", hone_str_text(&data));
    hone_str_deinit(&data);
    return hone_json_set(json, "features", features) && ok;
}

static bool export_trial(void *ctx, const hone_db_trial *t) {
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "kind", "trial");
    ok &= hone_json_set_text(json, "session", t->session);
    ok &= set_hash(json, "workload", t->workload);
    ok &= set_hash(json, "target", t->target);
    ok &= hone_json_set_i64(json, "proposal", t->proposal);
    ok &= hone_json_set_i64(json, "sketch", t->sketch);
    ok &= hone_json_set_text(json, "trace", t->trace);
    ok &= set_hash(json, "program", t->program);
    ok &= hone_json_set_text(json, "outcome", t->outcome);
    ok &= hone_json_set_text(json, "message", t->message);
    ok &= set_measurement(json, t);
    ok &= hone_json_set_text(json, "drift", t->drift);
    ok &= hone_json_set_text(json, "device", t->device);
    ok &= hone_json_set_i64(json, "wall_ns", t->wall_ns);
    ok &= set_features(json, t);
    return put_line(ctx, json, ok);
}

static hone_status export_all(hone_db *db, exporter *e) {
    hone_str_printf(&e->out, "{\"kind\":\"hone records\",\"version\":%d}\n", HONE_DB_JSONL_VERSION);
    hone_db_filter filter = {
        .order = HONE_DB_ORDER_RECORD, .with_samples = true, .with_features = true};
    HONE_TRY(hone_db_workloads(db, NULL, export_workload, e));
    HONE_TRY(hone_db_targets(db, NULL, export_target, e));
    HONE_TRY(hone_db_sessions(db, NULL, export_session, e));
    HONE_TRY(hone_db_trials(db, &filter, export_trial, e));
    write_piece(e);
    return e->failed ? HONE_ERROR(HONE_CODE_NO_MEMORY, "export") : HONE_OK;
}

hone_status hone_db_write_lines(hone_db *db, int fd) {
    exporter e = {.fd = fd};
    hone_status st = export_all(db, &e);
    hone_str_deinit(&e.out);
    return hone_status_join(e.status, st);
}

hone_status hone_db_write_lines_file(hone_db *db, const char *path) {
    hone_fs_draft draft;
    HONE_TRY(hone_fs_draft_open(path, &draft));
    hone_status st = hone_db_write_lines(db, draft.fd);
    if (!st) return hone_fs_draft_commit(&draft);
    hone_fs_draft_abandon(&draft);
    return hone_status_annotate(st, "%s", path);
}
