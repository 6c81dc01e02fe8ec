/* tools/cli/cli_record.c - see cli_record.h. */
#include "tools/cli/cli_record.h"

#include <inttypes.h>
#include <string.h>

#include "compile/records/record_variant.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "schedule/trace/trace_parts.h"
#include "tools/cli/cli_db.h"

/* ---- rows ---- */

typedef struct found {
    hone_arena *arena;
    hone_db_workload *workload;
    hone_db_target *target;
} found;

static bool take_workload(void *ctx, const hone_db_workload *row) {
    found *f = ctx;
    hone_db_workload copy = *row;
    copy.name = hone_arena_strdup(f->arena, row->name);
    copy.program = hone_arena_strdup(f->arena, row->program);
    copy.args_json = NULL;
    if (!copy.name || !copy.program) return false;
    f->workload = hone_arena_copy(f->arena, &copy, sizeof copy);
    return false;
}

static bool take_target(void *ctx, const hone_db_target *row) {
    found *f = ctx;
    hone_db_target copy = *row;
    copy.text = hone_arena_strdup(f->arena, row->text);
    if (copy.text) f->target = hone_arena_copy(f->arena, &copy, sizeof copy);
    return false;
}

static hone_status find_rows(hone_db *db, hone_arena *arena, hone_record_view *view) {
    found f = {.arena = arena};
    HONE_TRY(hone_db_workloads(db, &view->trial->workload, take_workload, &f));
    HONE_TRY(hone_db_targets(db, &view->trial->target, take_target, &f));
    view->workload = f.workload;
    view->target = f.target;
    if (f.workload && f.target) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "record %" PRId64 " has no workload or target",
                      view->trial->record);
}

/* ---- replay ---- */

static hone_status replay(hone_arena *arena, const hone_trace *trace, hone_tensor_intrins *intrins,
                          hone_record_view *view) {
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    const hone_member *member = NULL;
    const char *program = view->workload->program;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, hone_script_parse(program, strlen(program), "workload", &module), done);
    hone_module_freeze(module);
    HONE_TRY_GOTO(st, hone_module_pick(module, NULL, &member), done);
    if (member->kind != HONE_MEMBER_FUNC) {
        st = HONE_ERROR(HONE_CODE_INVALID, "the workload is no tensor program");
        goto done;
    }
    const hone_trace_part whole = {.func = member->func};
    hone_trace named;
    HONE_TRY_GOTO(st, hone_trace_name_funcs(arena, trace, &whole, NULL, &named), done);
    HONE_TRY_GOTO(st, hone_trace_print_python(&named, &view->trace), done);
    HONE_TRY_GOTO(st, hone_schedule_create(member->func, &sch), done);
    sch->wants_reasons = true;
    sch->intrins = intrins;
    HONE_TRY_GOTO(st, hone_trace_apply(trace, sch, &(hone_apply_options){0}), done);
    st = hone_func_print(sch->func, NULL, &view->scheduled);
done:
    hone_schedule_destroy(sch);
    hone_module_release(module);
    return st;
}

static void read_trace(hone_arena *arena, hone_tensor_intrins *intrins, hone_record_view *view) {
    const char *text = view->trial->trace;
    hone_trace trace;
    hone_trace_init(&trace, arena);
    hone_status st = hone_trace_parse_json(arena, text, strlen(text), "trace", &trace);
    if (!st) st = replay(arena, &trace, intrins, view);
    if (st) hone_str_append(&view->trouble, hone_status_message(st));
    hone_status_free(st);
}

const char *hone_cli_variant_of(hone_arena *arena, const char *trace) {
    hone_variant variant;
    bool has;
    hone_status_free(hone_record_variant(trace, arena, &variant, &has));
    return has ? variant.name : NULL;
}

hone_status hone_record_view_read(hone_db *db, hone_arena *arena, const char *which,
                                  hone_tensor_intrins *intrins, hone_record_view *out_view) {
    *out_view = (hone_record_view){0};
    HONE_TRY(hone_db_get_trial(db, which, arena, &out_view->trial));
    HONE_TRY(find_rows(db, arena, out_view));
    out_view->variant = hone_cli_variant_of(arena, out_view->trial->trace);
    read_trace(arena, intrins, out_view);
    return HONE_OK;
}

void hone_record_view_deinit(hone_record_view *view) {
    hone_str_deinit(&view->trace);
    hone_str_deinit(&view->scheduled);
    hone_str_deinit(&view->trouble);
}

/* ---- JSON ---- */

static hone_json *numbers_json(const double *values, size_t count) {
    hone_json *json = hone_json_make_array();
    for (size_t i = 0; i < count; i++) {
        if (hone_json_append(json, hone_json_make_f64(values[i]))) continue;
        hone_json_destroy(json);
        return NULL;
    }
    return json;
}

static const char *text_or_null(const hone_str *text) {
    return text->length ? text->data : NULL;
}

hone_json *hone_record_view_json(const hone_record_view *view, bool with_workload) {
    const hone_db_trial *t = view->trial;
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_i64(json, "record", t->record);
    ok &= hone_json_set_text(json, "uid", hone_hash128_print(t->uid, hash));
    ok &= hone_json_set_text(json, "task", view->workload->name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(t->workload, hash));
    ok &= hone_json_set_text(json, "target", view->target->text);
    ok &= hone_json_set_text(json, "session", t->session);
    ok &= hone_json_set_i64(json, "proposal", t->proposal);
    ok &= hone_json_set_i64(json, "sketch", t->sketch);
    ok &= hone_json_set_text(json, "variant", view->variant);
    ok &= hone_json_set_text(json, "outcome", t->outcome);
    ok &= hone_json_set_text(json, "message", t->message);
    ok &= hone_json_set_f64(json, "median_ns", t->median_ns);
    ok &= hone_json_set_f64(json, "spread_fraction", t->spread);
    ok &= hone_json_set_f64(json, "confirmed_ns", t->confirmed_ns);
    ok &= hone_json_set_f64(json, "max_error", t->max_error);
    ok &= hone_json_set_f64(json, "predicted_score", t->predicted_score);
    ok &= hone_json_set(json, "samples_ns", numbers_json(t->samples_ns, t->sample_count));
    ok &= hone_json_set_i64(json, "wall_ns", t->wall_ns);
    ok &= hone_json_set_text(json, "program_hash", hone_hash128_print(t->program, hash));
    ok &= hone_json_set_text(json, "trace", t->trace);
    ok &= hone_json_set_text(json, "python", text_or_null(&view->trace));
    if (with_workload) ok &= hone_json_set_text(json, "workload", view->workload->program);
    ok &= hone_json_set_text(json, "scheduled", text_or_null(&view->scheduled));
    ok &= hone_json_set_text(json, "does_not_replay", text_or_null(&view->trouble));
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}
