/* tools/db/db_show.c - `hone db show`: all about one record. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "costmodel/feature.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "schedule/trace/trace_parts.h"
#include "support/os/clock.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_intrins.h"
#include "tools/cli/cli_table.h"
#include "tools/db/db_verbs.h"

/* What a record refers to, and what replaying it gives. */
typedef struct shown {
    const hone_db_trial *trial;
    const hone_db_workload *workload;
    const hone_db_target *target;
    hone_str trace;     /* as Python */
    hone_str scheduled; /* the program that the trace makes; empty when it does not replay */
    hone_str trouble;   /* why not */
    hone_tensor_intrins *intrins;
} shown;

static hone_status find_rows(hone_cli *cli, hone_db *db, shown *s) {
    hone_db_rows workloads = {.arena = cli->arena}, targets = {.arena = cli->arena};
    HONE_TRY(hone_cli_list_workloads(db, &workloads));
    HONE_TRY(hone_cli_list_targets(db, &targets));
    for (size_t i = 0; i < workloads.count; i++) {
        if (hone_hash128_equal(workloads.workloads[i].hash, s->trial->workload)) {
            s->workload = &workloads.workloads[i];
        }
    }
    for (size_t i = 0; i < targets.count; i++) {
        if (hone_hash128_equal(targets.targets[i].hash, s->trial->target)) {
            s->target = &targets.targets[i];
        }
    }
    if (s->workload && s->target) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "record %" PRId64 " has no workload or target",
                      s->trial->record);
}

static hone_status replay(hone_cli *cli, shown *s, const hone_trace *trace) {
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    const hone_member *member = NULL;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(
        st,
        hone_script_parse(s->workload->program, strlen(s->workload->program), "workload", &module),
        done);
    hone_module_freeze(module);
    HONE_TRY_GOTO(st, hone_module_pick(module, NULL, &member), done);
    if (member->kind != HONE_MEMBER_FUNC) {
        st = HONE_ERROR(HONE_CODE_INVALID, "the workload is no tensor program");
        goto done;
    }
    const hone_trace_part whole = {.func = member->func};
    hone_trace named;
    HONE_TRY_GOTO(st, hone_trace_name_funcs(cli->arena, trace, &whole, NULL, &named), done);
    HONE_TRY_GOTO(st, hone_trace_print_python(&named, &s->trace), done);
    HONE_TRY_GOTO(st, hone_schedule_create(member->func, &sch), done);
    sch->wants_reasons = true;
    sch->intrins = s->intrins;
    HONE_TRY_GOTO(st, hone_trace_apply(trace, sch, &(hone_apply_options){0}), done);
    st = hone_func_print(sch->func, NULL, &s->scheduled);
done:
    hone_schedule_destroy(sch);
    hone_module_release(module);
    return st;
}

/* A trace that this build can't read or apply is shown as it is stored: that is no failure. */
static void read_trace(hone_cli *cli, shown *s) {
    hone_trace trace;
    hone_trace_init(&trace, cli->arena);
    hone_status st = hone_trace_parse_json(cli->arena, s->trial->trace, strlen(s->trial->trace),
                                           "trace", &trace);
    if (!st) st = replay(cli, s, &trace);
    if (st) hone_str_append(&s->trouble, hone_status_message(st));
    hone_status_free(st);
}

/* ---- text ---- */

static void put_measurement(hone_cli *cli, const shown *s) {
    const hone_db_trial *t = s->trial;
    hone_str *out = &cli->out;
    if (strcmp(t->outcome, HONE_DB_OUTCOME_OK) != 0) {
        hone_str_printf(out, "failed:      %s%s%s\n", t->outcome, t->message ? ": " : "",
                        t->message ? t->message : "");
    } else {
        hone_str_printf(out, "time:        %s, %s GFLOPS, spread %.1f%%\n",
                        hone_text_of_ns(cli->arena, t->median_ns),
                        hone_text_of_gflops(cli->arena, s->workload->flops, t->median_ns),
                        isnan(t->spread) ? 0.0 : 100 * t->spread);
    }
    hone_str_printf(out, "confirmed:   %s\n",
                    isnan(t->confirmed_ns) ? "no" : hone_text_of_ns(cli->arena, t->confirmed_ns));
    if (!isnan(t->max_error)) hone_str_printf(out, "max error:   %.3g\n", t->max_error);
    if (!isnan(t->predicted_score)) hone_str_printf(out, "predicted:   %.3f\n", t->predicted_score);
    if (t->sample_count) hone_str_append(out, "samples:    ");
    for (size_t i = 0; i < t->sample_count; i++) {
        hone_str_printf(out, " %.1f", t->samples_ns[i]);
    }
    if (t->sample_count) hone_str_append(out, " ns\n");
}

static void put_provenance(hone_cli *cli, const shown *s) {
    const hone_db_trial *t = s->trial;
    char hash[HONE_HASH_HEX_BYTES], when[HONE_WALL_TIME_BYTES];
    hone_str *out = &cli->out;
    hone_str_printf(out, "record:      %" PRId64 " (uid %s)\n", t->record,
                    hone_hash128_print(t->uid, hash));
    hone_str_printf(out, "task:        %s (%s)\n", s->workload->name,
                    hone_hash128_print(t->workload, hash));
    hone_str_printf(out, "target:      %s\n", s->target->text);
    hone_str_printf(out, "session:     %s, proposal %" PRId64 ", sketch %d\n", t->session,
                    t->proposal, t->sketch);
    hone_str_printf(out, "measured:    %s%s%s%s%s\n", hone_wall_time_print(t->wall_ns, when),
                    t->device ? " on " : "", t->device ? t->device : "",
                    t->drift ? ", drift: " : "", t->drift ? t->drift : "");
    hone_str_printf(out, "program:     %s\n", hone_hash128_print(t->program, hash));
    hone_str_printf(out,
                    "took:        search %.1f ms, queue %.1f ms, build %.1f ms, load %.1f ms, "
                    "check %.1f ms, measure %.1f ms\n",
                    (double)t->times.search / 1e6, (double)t->times.queue / 1e6,
                    (double)t->times.build / 1e6, (double)t->times.load / 1e6,
                    (double)t->times.check / 1e6, (double)t->times.measure / 1e6);
}

/* Features that are not 0, one line per row of the matrix. */
static void put_features(hone_cli *cli, const hone_db_trial *t) {
    for (uint32_t row = 0; t->features && row < t->feature_rows; row++) {
        hone_str_printf(&cli->out, "\n# features of store %" PRIu32 " (version %d)\n", row,
                        t->feature_version);
        for (uint32_t column = 0; column < t->feature_columns; column++) {
            float value = t->features[(size_t)row * t->feature_columns + column];
            if (value == 0) continue;
            const char *name = column < hone_feature_count() ? hone_feature_name(column) : "?";
            hone_str_printf(&cli->out, "%-32s %.5g\n", name, (double)value);
        }
    }
}

static void put_text(hone_cli *cli, const shown *s) {
    put_provenance(cli, s);
    put_measurement(cli, s);
    hone_str_printf(&cli->out, "\n# trace\n%s", s->trace.length ? s->trace.data : s->trial->trace);
    if (s->trace.length == 0) hone_str_append_char(&cli->out, '\n');
    if (s->trouble.length) {
        hone_str_printf(&cli->out, "\n# does not replay: %s\n", s->trouble.data);
    }
    hone_str_printf(&cli->out, "\n# workload\n%s", s->workload->program);
    if (s->scheduled.length) hone_str_printf(&cli->out, "\n# scheduled\n%s", s->scheduled.data);
    if (cli->verbosity) put_features(cli, s->trial);
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

static hone_status put_json(hone_cli *cli, const shown *s) {
    const hone_db_trial *t = s->trial;
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_i64(json, "record", t->record);
    ok &= hone_json_set_text(json, "uid", hone_hash128_print(t->uid, hash));
    ok &= hone_json_set_text(json, "task", s->workload->name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(t->workload, hash));
    ok &= hone_json_set_text(json, "target", s->target->text);
    ok &= hone_json_set_text(json, "session", t->session);
    ok &= hone_json_set_i64(json, "proposal", t->proposal);
    ok &= hone_json_set_i64(json, "sketch", t->sketch);
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
    ok &= hone_json_set_text(json, "workload", s->workload->program);
    ok &= hone_json_set_text(json, "scheduled", s->scheduled.length ? s->scheduled.data : NULL);
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static hone_status show(hone_cli *cli, bool trace_only, const hone_cli_list *intrins) {
    hone_db *db = NULL;
    shown s = {0};
    hone_status st = HONE_OK;
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    HONE_TRY_GOTO(st, hone_cli_open_intrins(cli, intrins, &s.intrins), done);
    HONE_TRY_GOTO(st, hone_db_get_trial(db, cli->args[1], cli->arena, &s.trial), done);
    HONE_TRY_GOTO(st, find_rows(cli, db, &s), done);
    if (trace_only) {
        hone_str_printf(&cli->out, "%s\n", s.trial->trace);
        goto done;
    }
    read_trace(cli, &s);
    if (cli->json) {
        st = put_json(cli, &s);
    } else {
        put_text(cli, &s);
    }
done:
    hone_str_deinit(&s.trace);
    hone_str_deinit(&s.scheduled);
    hone_str_deinit(&s.trouble);
    hone_tensor_intrins_destroy(s.intrins);
    hone_db_close(db);
    return st;
}

int hone_db_verb_show(int argc, char **argv) {
    bool trace_only = false;
    hone_cli_list intrins = {0};
    const hone_cli_option options[] = {
        {.name = "trace",
         .kind = HONE_CLI_SWITCH,
         .to = &trace_only,
         .help = "the trace alone, as JSON that `hone schedule` reads"},
        HONE_CLI_INTRIN_OPTION(&intrins, "a tensor intrinsic that the trace uses"),
        {0},
    };
    const hone_cli_command command = {
        .name = "db show",
        .usage = "DB RECORD [--intrin NAME=FILE.py]",
        .summary = "All about one record, by its number or the first digits of its uid: where it "
                   "came from, samples, trace, the program before and after. -v adds features.",
        .example = "hone db show /tmp/tuned.db 1",
        .options = options,
        .min_args = 2,
        .max_args = 2,
        .reports = true,
    };
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, show(&cli, trace_only, &intrins));
}
