/* tools/report/report.c - the data of a page: what is in the databases, member by member. */
#include "tools/report/report.h"

#include <math.h>
#include <string.h>

#include "measure/failure.h"
#include "support/os/fs.h"
#include "support/text/json.h"
#include "tools/report/report_impl.h"

enum { ARENA_BLOCK_BYTES = 256 * 1024, VERSION = 1 };

/* ---- what is there ---- */

static void put_counts(hone_report *r) {
    int64_t ok = 0, confirmed = 0, last = 0;
    for (size_t i = 0; i < r->tasks.count; i++) {
        const hone_db_task *task = &r->tasks.tasks[i];
        r->trials += task->trials;
        ok += task->ok;
        confirmed += task->confirmed;
        if (task->last_wall_ns > last) last = task->last_wall_ns;
    }
    hone_report_put_i64(r->out, "trials", r->trials);
    hone_report_put_i64(r->out, "ok", ok);
    hone_report_put_i64(r->out, "failed", r->trials - ok);
    hone_report_put_i64(r->out, "confirmed", confirmed);
    hone_report_put_i64(r->out, "last_wall_ns", last);
}

static void put_targets(hone_report *r) {
    hone_report_key(r->out, "targets");
    hone_str_append_char(r->out, '[');
    for (size_t i = 0; i < r->targets.count; i++) {
        const hone_db_target *target = &r->targets.targets[i];
        hone_report_key(r->out, NULL);
        hone_str_append_char(r->out, '{');
        hone_report_put_hash(r->out, "hash", target->hash);
        hone_report_put_text(r->out, "text", target->text);
        hone_report_put_text(r->out, "name", hone_cli_short_target(r->arena, target->text));
        hone_report_put_i64(r->out, "threads", target->threads);
        hone_str_append_char(r->out, '}');
    }
    hone_str_append_char(r->out, ']');
}

static double member_of(const hone_json *object, const char *key) {
    const hone_json *value = hone_json_find(object, key);
    bool is_number = hone_json_is(value, HONE_JSON_REAL) || hone_json_is(value, HONE_JSON_INT);
    return is_number ? hone_json_f64(value) : NAN;
}

/* What the machine can do, where the session knows. */
static void put_machine(hone_str *out, const hone_db_session *s) {
    hone_json *about = NULL;
    const char *text = s->options_json ? s->options_json : "{}";
    hone_status_free(hone_json_parse(text, strlen(text), &about)); /* whatever others wrote */
    hone_report_put_f64(out, "peak_gflops", member_of(about, "peak_gflops"));
    hone_report_put_f64(out, "bandwidth_gbs", member_of(about, "bandwidth_gbs"));
    hone_json_destroy(about);
}

static void put_session(hone_str *out, const hone_db_session *s) {
    hone_report_key(out, NULL);
    hone_str_append_char(out, '{');
    hone_report_put_text(out, "id", s->id);
    hone_report_put_text(out, "state", s->state);
    hone_report_put_text(out, "model", s->model);
    hone_report_put_text(out, "command_line", s->command_line);
    hone_report_put_text(out, "hone_version", s->hone_version);
    hone_report_put_i64(out, "started_ns", s->started_ns);
    hone_report_put_i64(out, "ended_ns", s->ended_ns);
    hone_report_put_i64(out, "budget_trials", s->budget_trials);
    hone_report_put_i64(out, "budget_ns", s->budget_ns);
    put_machine(out, s);
    hone_str_append_char(out, '}');
}

static void put_sessions(hone_report *r) {
    hone_report_key(r->out, "sessions");
    hone_str_append_char(r->out, '[');
    for (size_t i = 0; i < r->sessions.count; i++)
        put_session(r->out, &r->sessions.sessions[i]);
    hone_str_append_char(r->out, ']');
}

static void put_failure(hone_str *out, const hone_db_failure_count *row) {
    hone_failure failure = HONE_FAILURE_NONE;
    bool is_known = hone_failure_parse(row->outcome, &failure);
    hone_report_key(out, NULL);
    hone_str_append_char(out, '{');
    hone_report_put_text(out, "outcome", row->outcome);
    hone_report_put_text(out, "meaning", is_known ? hone_failure_meaning(failure) : NULL);
    hone_report_put_text(out, "task", row->workload_name);
    hone_report_put_hash(out, "workload_hash", row->workload);
    hone_report_put_i64(out, "count", row->count);
    hone_report_put_text(out, "last_message", row->last_message);
    hone_str_append_char(out, '}');
}

static hone_status put_failures(hone_report *r) {
    hone_db_rows rows = {.arena = r->arena};
    HONE_TRY(hone_cli_list_failures(r->db, &rows));
    hone_report_key(r->out, "failures");
    hone_str_append_char(r->out, '[');
    for (size_t i = 0; i < rows.count; i++)
        put_failure(r->out, &rows.failures[i]);
    hone_str_append_char(r->out, ']');
    return HONE_OK;
}

static hone_status put_tasks(hone_report *r) {
    hone_report_key(r->out, "tasks");
    hone_str_append_char(r->out, '[');
    for (size_t i = 0; i < r->tasks.count; i++)
        HONE_TRY(hone_report_put_task(r, &r->tasks.tasks[i], r->tasks.shapes[i]));
    hone_str_append_char(r->out, ']');
    return HONE_OK;
}

/* ---- a database ---- */

static hone_status read_rows(hone_report *r) {
    HONE_TRY(hone_cli_list_tasks(r->db, &r->tasks));
    HONE_TRY(hone_cli_list_task_shapes(r->db, &r->tasks));
    HONE_TRY(hone_cli_list_sessions(r->db, &r->sessions));
    return hone_cli_list_targets(r->db, &r->targets);
}

static hone_status put_database(hone_report *r, size_t bytes) {
    size_t start = r->out->length;
    HONE_TRY(read_rows(r));
    hone_report_key(r->out, NULL);
    hone_str_append_char(r->out, '{');
    hone_report_put_text(r->out, "title", r->title);
    put_counts(r);
    put_targets(r);
    put_sessions(r);
    HONE_TRY(put_failures(r));
    HONE_TRY(put_tasks(r));
    HONE_TRY(hone_report_put_time(r));
    size_t used = bytes ? r->out->length - start : 0;
    HONE_TRY(hone_report_put_records(r, bytes > used ? bytes - used : 0));
    hone_str_append_char(r->out, '}');
    return hone_str_check(r->out);
}

/* All of it is of one state of the file. */
static hone_status look_at_database(hone_report *r, size_t bytes) {
    HONE_TRY(hone_db_begin_look(r->db));
    hone_status st = put_database(r, bytes);
    hone_db_end_look(r->db);
    return st;
}

static hone_status put_source(const hone_report_source *source, size_t bytes, hone_str *out) {
    hone_arena *arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    hone_report r = {.db = source->db,
                     .title = source->title,
                     .arena = arena,
                     .out = out,
                     .tasks = {.arena = arena},
                     .sessions = {.arena = arena},
                     .targets = {.arena = arena}};
    hone_status st = look_at_database(&r, bytes);
    hone_vec_deinit(&r.places);
    hone_arena_destroy(arena);
    return st ? hone_status_annotate(st, "%s", source->title) : HONE_OK;
}

hone_status hone_report_data(const hone_report_source *sources, size_t count, size_t bytes,
                             hone_str *out) {
    hone_str_append_char(out, '{');
    hone_report_put_i64(out, "version", VERSION);
    hone_report_key(out, "databases");
    hone_str_append_char(out, '[');
    for (size_t i = 0; i < count; i++)
        HONE_TRY(put_source(&sources[i], bytes / count, out));
    hone_str_append(out, "]}");
    return hone_str_check(out);
}

/* ---- whole pages ---- */

hone_status hone_report_print(const hone_report_source *sources, size_t count, hone_str *out) {
    hone_str data = {0};
    hone_status st = hone_report_data(sources, count, HONE_REPORT_PAGE_BYTES, &data);
    if (!st) st = hone_report_page(sources[0].title, data.data, out);
    hone_str_deinit(&data);
    return st;
}

hone_status hone_report_write(hone_db *db, const char *db_path, const char *path) {
    hone_str page = {0};
    const hone_report_source source = {db, hone_path_basename(db_path)};
    hone_status st = hone_report_print(&source, 1, &page);
    if (!st) st = hone_fs_write_atomic(path, page.data, page.length);
    hone_str_deinit(&page);
    return st;
}
