/* tools/report/report.c - the page of a report: what is in the database, section by section. */
#include "tools/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "measure/failure.h"
#include "schedule/trace/trace.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_table.h"
#include "tools/report/report_impl.h"

enum { ARENA_BLOCK_BYTES = 256 * 1024, TOP_TRACES = 3 };

typedef struct report {
    hone_db *db;
    hone_arena *arena;
    hone_str *out;
    hone_db_rows tasks;
} report;

static const char head[] =
    "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>\n"
    "<meta name=viewport content='width=device-width'>\n<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}\n"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}\n"
    "th,td{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "pre{background:#f6f6f6;padding:.8rem;overflow:auto;font-size:12px}\n"
    "svg{width:100%;max-width:720px;font:11px system-ui,sans-serif;fill:#555}\n"
    "circle{fill:#9ab}.best{fill:none;stroke:#c40;stroke-width:2}.axis{fill:none;stroke:#888}\n"
    ".grid{fill:none;stroke:#eee}.tick{text-anchor:end}rect{fill:#69b}\n"
    "summary{cursor:pointer}code{word-break:break-all}\n"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#222}"
    "th,td{border-color:#333}svg{fill:#aaa}.grid{stroke:#2a2a2a}}\n</style>\n";

/* ---- cells ---- */

static void cell(report *r, const char *text) {
    hone_str_append(r->out, "<td>");
    hone_html_text(text, r->out);
}

static void number_cell(report *r, const char *text) {
    hone_str_append(r->out, "<td class=n>");
    hone_html_text(text, r->out);
}

static void count_cell(report *r, int64_t count) {
    hone_str_printf(r->out, "<td class=n>%" PRId64, count);
}

static void heading(report *r, const char *const *names) {
    hone_str_append(r->out, "<table><tr>");
    for (; *names; names++) {
        bool is_number = **names == '>';
        hone_str_printf(r->out, "<th%s>%s", is_number ? " class=n" : "", *names + is_number);
    }
    hone_str_append(r->out, "\n");
}

/* ---- sections ---- */

static hone_status put_overview(report *r, const char *title) {
    hone_db_stats stats;
    HONE_TRY(hone_db_get_stats(r->db, &stats));
    char when[HONE_WALL_TIME_BYTES];
    hone_str_append(r->out, "<title>");
    hone_html_text(title, r->out);
    hone_str_append(r->out, " - hone report</title>\n<h1>");
    hone_html_text(title, r->out);
    hone_str_printf(r->out,
                    "</h1>\n<p>%" PRId64 " trials of %" PRId64 " tensor programs on %" PRId64
                    " targets in %" PRId64 " sessions; %" PRId64 " worked, %" PRId64
                    " failed, %" PRId64 " confirmed",
                    stats.trials, stats.workloads, stats.targets, stats.sessions, stats.ok,
                    stats.failed, stats.confirmed);
    if (stats.last_wall_ns) {
        hone_str_printf(r->out, "; last trial %s", hone_wall_time_print(stats.last_wall_ns, when));
    }
    hone_str_append(r->out, ".</p>\n<h2>Where the time went</h2>\n");
    const hone_db_times *t = &stats.times;
    const hone_report_bar bars[] = {
        {"search",   (double)t->search / 1e9  },
        {"build",    (double)t->build / 1e9   },
        {"queue",    (double)t->queue / 1e9   },
        {"load",     (double)t->load / 1e9    },
        {"check",    (double)t->check / 1e9   },
        {"measure",  (double)t->measure / 1e9 },
        {"transfer", (double)t->transfer / 1e9},
    };
    hone_report_bars(bars, HONE_COUNT(bars), r->out);
    return HONE_OK;
}

static hone_status put_tasks(report *r) {
    static const char *const names[] = {"task",    "target",  ">flops",     ">best", ">GFLOPS",
                                        ">trials", ">failed", ">confirmed", NULL};
    HONE_TRY(hone_cli_list_tasks(r->db, &r->tasks));
    hone_str_append(r->out, "<h2>Tasks</h2>\n");
    heading(r, names);
    for (size_t i = 0; i < r->tasks.count; i++) {
        const hone_db_task *task = &r->tasks.tasks[i];
        hone_str_printf(r->out, "<tr><td><a href='#t%zu'>", i);
        hone_html_text(task->name, r->out);
        hone_str_append(r->out, "</a>");
        cell(r, task->target_text);
        number_cell(r, hone_text_of_count(r->arena, task->flops));
        number_cell(r, hone_text_of_ns(r->arena, task->best_ns));
        number_cell(r, hone_text_of_gflops(r->arena, task->flops, task->best_ns));
        count_cell(r, task->trials);
        count_cell(r, task->failed);
        count_cell(r, task->confirmed);
        hone_str_append(r->out, "\n");
    }
    hone_str_append(r->out, "</table>\n");
    return HONE_OK;
}

/* A trace as Python, or as it is stored when this build cannot read it. */
static hone_status put_trace(report *r, const char *json) {
    hone_trace trace;
    hone_str text = {0};
    hone_trace_init(&trace, r->arena);
    hone_status st = hone_trace_parse_json(r->arena, json, strlen(json), "trace", &trace);
    if (!st) st = hone_trace_print_python(&trace, &text);
    hone_str_append(r->out, "<pre>");
    hone_html_text(st ? json : hone_str_text(&text), r->out);
    hone_str_append(r->out, "</pre>\n");
    hone_str_deinit(&text);
    hone_code code = hone_status_consume(st);
    return code == HONE_CODE_NO_MEMORY ? HONE_ERROR(code, "report") : HONE_OK;
}

static hone_status put_top(report *r, const hone_db_task *task) {
    hone_db_rows top = {.arena = r->arena};
    hone_db_filter filter = {.workload = &task->workload,
                             .target = &task->target,
                             .limit = TOP_TRACES,
                             .order = HONE_DB_ORDER_BEST};
    HONE_TRY(hone_cli_list_trials(r->db, &filter, &top));
    for (size_t i = 0; i < top.count; i++) {
        const hone_db_trial *trial = &top.trials[i];
        bool is_confirmed = !isnan(trial->confirmed_ns);
        hone_str_printf(
            r->out,
            "<details><summary>record %" PRId64 ": %s, %s GFLOPS, spread %.1f%%%s</summary>\n",
            trial->record, hone_text_of_ns(r->arena, trial->median_ns),
            hone_text_of_gflops(r->arena, task->flops, trial->median_ns),
            isnan(trial->spread) ? 0.0 : 100 * trial->spread, is_confirmed ? ", confirmed" : "");
        HONE_TRY(put_trace(r, trial->trace));
        hone_str_append(r->out, "</details>\n");
    }
    return HONE_OK;
}

static bool add_point(void *ctx, const hone_db_trial *trial) {
    hone_report_points *points = ctx;
    hone_report_add(points, trial->median_ns);
    return !points->failed;
}

static hone_status put_curve(report *r, const hone_db_task *task) {
    hone_report_points points;
    hone_db_filter filter = {
        .workload = &task->workload, .target = &task->target, .order = HONE_DB_ORDER_RECORD};
    hone_report_points_init(&points);
    hone_status st = hone_db_trials(r->db, &filter, add_point, &points);
    if (!st && points.failed) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    if (!st) hone_report_curve(&points, r->out);
    hone_report_points_deinit(&points);
    return st;
}

static hone_status put_task_details(report *r) {
    for (size_t i = 0; i < r->tasks.count; i++) {
        const hone_db_task *task = &r->tasks.tasks[i];
        hone_str_printf(r->out, "<h2 id=t%zu>", i);
        hone_html_text(task->name, r->out);
        hone_str_append(r->out, "</h2>\n<p>");
        hone_html_text(task->target_text, r->out);
        hone_str_append(r->out, "</p>\n");
        HONE_TRY(put_curve(r, task));
        HONE_TRY(put_top(r, task));
    }
    return HONE_OK;
}

static hone_status put_failures(report *r) {
    static const char *const names[] = {"class", "task", ">times", "the latest message", NULL};
    hone_db_rows rows = {.arena = r->arena};
    HONE_TRY(hone_cli_list_failures(r->db, &rows));
    hone_str_append(r->out, "<h2>Failures</h2>\n");
    if (rows.count == 0) {
        hone_str_append(r->out, "<p>no candidate failed</p>\n");
        return HONE_OK;
    }
    heading(r, names);
    for (size_t i = 0; i < rows.count; i++) {
        const hone_db_failure_count *row = &rows.failures[i];
        hone_failure failure = HONE_FAILURE_NONE;
        bool is_known = hone_failure_parse(row->outcome, &failure);
        hone_str_printf(r->out, "<tr><td title='%s'>",
                        is_known ? hone_failure_meaning(failure) : "");
        hone_html_text(row->outcome, r->out);
        cell(r, row->workload_name);
        count_cell(r, row->count);
        cell(r, row->last_message);
        hone_str_append(r->out, "\n");
    }
    hone_str_append(r->out, "</table>\n");
    return HONE_OK;
}

static hone_status put_sessions(report *r) {
    static const char *const names[] = {"started", "state", "model", ">took", "command", NULL};
    hone_db_rows rows = {.arena = r->arena};
    char when[HONE_WALL_TIME_BYTES], took[HONE_DURATION_BYTES];
    HONE_TRY(hone_cli_list_sessions(r->db, &rows));
    hone_str_append(r->out, "<h2>Sessions</h2>\n");
    heading(r, names);
    for (size_t i = 0; i < rows.count; i++) {
        const hone_db_session *s = &rows.sessions[i];
        hone_str_append(r->out, "<tr>");
        cell(r, hone_wall_time_print(s->started_ns, when));
        cell(r, s->state);
        cell(r, s->model);
        number_cell(r, s->ended_ns ? hone_duration_print(s->ended_ns - s->started_ns, took) : "-");
        hone_str_append(r->out, "<td><code>");
        hone_html_text(s->command_line, r->out);
        hone_str_append(r->out, "</code>\n");
    }
    hone_str_append(r->out, "</table>\n");
    return HONE_OK;
}

static hone_status put_page(report *r, const char *title) {
    hone_str_append(r->out, head);
    HONE_TRY(put_overview(r, title));
    HONE_TRY(put_tasks(r));
    HONE_TRY(put_task_details(r));
    HONE_TRY(put_failures(r));
    HONE_TRY(put_sessions(r));
    hone_str_append(r->out, "</html>\n");
    return hone_str_check(r->out);
}

hone_status hone_report_print(hone_db *db, const char *title, hone_str *out) {
    hone_arena *arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
    report r = {.db = db, .arena = arena, .out = out, .tasks = {.arena = arena}};
    hone_status st = put_page(&r, title);
    hone_arena_destroy(arena);
    return st;
}

hone_status hone_report_write(hone_db *db, const char *db_path, const char *path) {
    hone_str page = {0};
    hone_status st = hone_report_print(db, hone_path_basename(db_path), &page);
    if (!st) st = hone_fs_write_atomic(path, page.data, page.length);
    hone_str_deinit(&page);
    return st;
}
