/* tools/db_jsonl.c - `hone db export|import`: a database as lines of JSON.
 *
 * One object per line, "kind" says what it is: first the workloads, targets and sessions, then the
 * trials, so that a line refers to earlier ones only. Everything but the cost model's features is
 * there; those are made from traces again.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "support/alloc.h"
#include "support/fs.h"
#include "tools/cli.h"
#include "tools/cli_db.h"
#include "tools/db_verbs.h"

#define FORMAT_VERSION 1

/* ---- export ---- */

typedef struct exporter {
    hone_str out;
    bool failed;
} exporter;

static bool put_line(exporter *e, hone_json *json, bool ok) {
    if (ok) hone_json_print(json, &(hone_json_style){.is_compact = true}, &e->out);
    hone_str_append_char(&e->out, '\n');
    hone_json_destroy(json);
    e->failed |= !ok || e->out.failed;
    return !e->failed;
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
    return put_line(ctx, json, ok);
}

static const char *const time_names[] = {"search", "queue",   "build", "transfer",
                                         "load",   "measure", "check"};
/* In the order of the names. */
static int64_t *time_at(hone_db_times *times, size_t i) {
    int64_t *const members[] = {&times->search, &times->queue,   &times->build, &times->transfer,
                                &times->load,   &times->measure, &times->check};
    return members[i];
}

static bool set_measurement(hone_json *json, const hone_db_trial *t) {
    hone_json *samples = hone_json_make_array(), *times = hone_json_make_array();
    hone_db_times copy = t->times;
    bool ok = true;
    for (size_t i = 0; i < t->sample_count; i++) {
        ok &= hone_json_append(samples, hone_json_make_f64(t->samples_ns[i]));
    }
    for (size_t i = 0; i < HONE_COUNT(time_names); i++) {
        ok &= hone_json_append(times, hone_json_make_i64(*time_at(&copy, i)));
    }
    ok &= hone_json_set_f64(json, "median_ns", t->median_ns);
    ok &= hone_json_set_f64(json, "spread", t->spread);
    ok &= hone_json_set(json, "samples_ns", samples);
    ok &= hone_json_set_f64(json, "max_error", t->max_error);
    ok &= hone_json_set_f64(json, "confirmed_ns", t->confirmed_ns);
    ok &= hone_json_set_f64(json, "predicted_score", t->predicted_score);
    return hone_json_set(json, "times_ns", times) && ok;
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
    return put_line(ctx, json, ok);
}

static hone_status export_all(hone_db *db, exporter *e) {
    hone_str_printf(&e->out, "{\"kind\":\"hone records\",\"version\":%d}\n", FORMAT_VERSION);
    hone_db_filter filter = {.with_samples = true};
    HONE_TRY(hone_db_workloads(db, NULL, export_workload, e));
    HONE_TRY(hone_db_targets(db, NULL, export_target, e));
    HONE_TRY(hone_db_sessions(db, NULL, export_session, e));
    HONE_TRY(hone_db_trials(db, &filter, export_trial, e));
    return e->failed ? HONE_ERROR(HONE_CODE_NO_MEMORY, "export") : HONE_OK;
}

static hone_status export_verb(hone_cli *cli, const char *output) {
    hone_db *db = NULL;
    exporter e = {0};
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    hone_status st = export_all(db, &e);
    if (!st) st = hone_cli_put_result(cli, output, &e.out);
    hone_str_deinit(&e.out);
    hone_db_release(db);
    return st;
}

int hone_db_verb_export(int argc, char **argv) {
    const char *output = NULL;
    const hone_cli_option options[] = {
        {.name = "output",
         .letter = 'o',
         .value = "FILE",
         .kind = HONE_CLI_TEXT,
         .to = &output,
         .help = "write there; default: standard output"},
        {0 },
    };
    const hone_cli_command command = {
        .name = "db export",
        .usage = "DB [-o FILE]",
        .summary = "Writes all of a database as lines of JSON.",
        .example = "hone db export /tmp/tuned.db -o /tmp/records.jsonl",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, export_verb(&cli, output));
}

/* ---- import ---- */

typedef struct importer {
    hone_db *db;
    hone_arena *arena;
    hone_db_rows sessions; /* that were there before */
    int64_t trials, known;
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
    return hone_db_put_workload(im->db, &w);
}

static hone_status import_target(importer *im, const hone_json *json) {
    hone_db_target t = {0};
    HONE_TRY(get_hash(json, "hash", &t.hash));
    HONE_TRY(hone_json_get_text(json, "text", &t.text));
    HONE_TRY(get_i32(json, "threads", &t.threads));
    return hone_db_put_target(im->db, &t);
}

static hone_status import_session(importer *im, const hone_json *json) {
    hone_db_session s = {0};
    int64_t seed;
    HONE_TRY(hone_json_get_text(json, "id", &s.id));
    for (size_t i = 0; i < im->sessions.count; i++) {
        if (strcmp(im->sessions.sessions[i].id, s.id) == 0) return HONE_OK;
    }
    HONE_TRY(get_maybe(json, "model", &s.model));
    HONE_TRY(get_maybe(json, "command_line", &s.command_line));
    HONE_TRY(get_maybe(json, "hone_version", &s.hone_version));
    HONE_TRY(get_maybe(json, "options", &s.options_json));
    HONE_TRY(hone_json_get_text(json, "state", &s.state));
    HONE_TRY(hone_json_get_i64(json, "started_ns", &s.started_ns));
    HONE_TRY(hone_json_get_i64(json, "ended_ns", &s.ended_ns));
    HONE_TRY(hone_json_get_i64(json, "seed", &seed));
    HONE_TRY(get_i32(json, "look_ahead", &s.look_ahead));
    HONE_TRY(hone_json_get_i64(json, "budget_trials", &s.budget_trials));
    HONE_TRY(hone_json_get_i64(json, "budget_ns", &s.budget_ns));
    s.seed = (uint64_t)seed;
    return hone_db_begin_session(im->db, &s);
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
    for (size_t i = 0; i < HONE_COUNT(time_names); i++) {
        const hone_json *item = hone_json_at(list, i);
        if (!hone_json_is(item, HONE_JSON_INT)) {
            return HONE_ERROR(HONE_CODE_INVALID, "time %zu (%s) is no integer", i, time_names[i]);
        }
        *time_at(&t->times, i) = hone_json_i64(item);
    }
    return HONE_OK;
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
    HONE_TRY(get_number(json, "predicted_score", &t->predicted_score));
    HONE_TRY(read_times(json, t));
    HONE_TRY(get_maybe(json, "drift", &t->drift));
    HONE_TRY(get_maybe(json, "device", &t->device));
    return hone_json_get_i64(json, "wall_ns", &t->wall_ns);
}

/* A trial that is there already has the same uid; it stays as it is. */
static hone_status import_trial(importer *im, const hone_json *json) {
    hone_db_trial t = {0};
    const hone_db_trial *there = NULL;
    char uid[HONE_HASH_HEX_BYTES];
    HONE_TRY(read_trial(im, json, &t));
    hone_hash128_print(hone_db_trial_uid(t.session, &t.workload, &t.target, t.proposal), uid);
    hone_status st = hone_db_get_trial(im->db, uid, im->arena, &there);
    if (!st) {
        im->known++;
        return HONE_OK;
    }
    if (hone_status_code(st) != HONE_CODE_NOT_FOUND) return st;
    hone_status_free(st);
    im->trials++;
    return hone_db_commit_trial(im->db, &t, NULL);
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
    if (version <= FORMAT_VERSION) return HONE_OK;
    return HONE_ERROR(HONE_CODE_VERSION, "version %" PRId64 " is newer than %d, which this reads",
                      version, FORMAT_VERSION);
}

static hone_status import_text(importer *im, const char *path, const char *text, size_t count) {
    const char *end = text + count;
    for (size_t line = 1; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((stop ? stop : end) - text);
        if (length) {
            hone_json *json = NULL;
            hone_arena_mark mark = hone_arena_get_mark(im->arena);
            hone_status st = hone_json_parse(text, length, &json);
            if (!st) st = import_line(im, json);
            hone_json_destroy(json);
            hone_arena_rewind(im->arena, mark);
            if (st) return hone_status_annotate(st, "%s:%zu", path, line);
        }
        text += length + 1;
    }
    return HONE_OK;
}

static hone_status import_verb(hone_cli *cli) {
    const char *path = cli->args[1];
    char *text = NULL;
    size_t count = 0;
    importer im = {.arena = hone_arena_create(16384), .sessions = {.arena = cli->arena}};
    if (!im.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "import");
    hone_status st = HONE_OK;
    bool is_new = !hone_fs_exists(cli->args[0]);
    HONE_TRY_GOTO(st, hone_fs_read(path, (size_t)1 << 34, &text, &count), done);
    HONE_TRY_GOTO(st, hone_cli_open_db(cli->args[0], HONE_DB_CREATE, &im.db), done);
    HONE_TRY_GOTO(st, hone_cli_list_sessions(im.db, &im.sessions), done);
    HONE_TRY_GOTO(st, import_text(&im, path, text, count), done);
    if (!cli->quiet) {
        hone_str_printf(&cli->out, "%s: %" PRId64 " new trials, %" PRId64 " known already\n", path,
                        im.trials, im.known);
    }
done:
    hone_db_release(im.db);
    if (st && is_new) st = hone_status_join(st, hone_cli_remove_db(cli->args[0]));
    hone_free(text);
    hone_arena_destroy(im.arena);
    return st;
}

int hone_db_verb_import(int argc, char **argv) {
    static const hone_cli_command command = {
        .name = "db import",
        .usage = "DB FILE",
        .summary = "Takes the lines that `hone db export` wrote; what is there already stays. DB "
                   "is made when it is not there.",
        .example = "hone db import /tmp/all.db /tmp/records.jsonl",
        .min_args = 2,
        .max_args = 2,
    };
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, import_verb(&cli));
}
