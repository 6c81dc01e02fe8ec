/* tools/db/db_show.c - `hone db show`: all about one record. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "costmodel/feature.h"
#include "support/os/clock.h"
#include "support/text/utf8.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_intrins.h"
#include "tools/cli/cli_record.h"
#include "tools/cli/cli_table.h"
#include "tools/db/db_verbs.h"

/* ---- text ---- */

static void put_measurement(hone_cli *cli, const hone_record_view *s) {
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

/* A name, on one line whatever it holds. */
static const char *line_of(hone_cli *cli, const char *text) {
    hone_str shown = {0};
    hone_utf8_append_shown(&shown, text, strlen(text), false);
    const char *line = hone_arena_strdup(cli->arena, hone_str_text(&shown));
    hone_str_deinit(&shown);
    return line ? line : "";
}

static void put_provenance(hone_cli *cli, const hone_record_view *s) {
    const hone_db_trial *t = s->trial;
    char hash[HONE_HASH_HEX_BYTES], when[HONE_WALL_TIME_BYTES];
    hone_str *out = &cli->out;
    hone_str_printf(out, "record:      %" PRId64 " (uid %s)\n", t->record,
                    hone_hash128_print(t->uid, hash));
    hone_str_printf(out, "task:        %s (%s)\n", line_of(cli, s->workload->name),
                    hone_hash128_print(t->workload, hash));
    hone_str_printf(out, "target:      %s\n", line_of(cli, s->target->text));
    hone_str_printf(out, "session:     %s, proposal %" PRId64 ", sketch %d\n", t->session,
                    t->proposal, t->sketch);
    if (s->variant) hone_str_printf(out, "variant:     %s\n", s->variant);
    hone_str_printf(out, "measured:    %s%s%s%s%s\n", hone_wall_time_print(t->wall_ns, when),
                    t->device ? " on " : "", t->device ? line_of(cli, t->device) : "",
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

static void put_text(hone_cli *cli, const hone_record_view *s) {
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

static hone_status show(hone_cli *cli, bool trace_only, const hone_cli_list *intrins) {
    hone_db *db = NULL;
    hone_record_view s = {0};
    hone_tensor_intrins *registered = NULL;
    hone_status st = HONE_OK;
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    HONE_TRY_GOTO(st, hone_cli_open_intrins(cli, intrins, &registered), done);
    HONE_TRY_GOTO(st, hone_record_view_read(db, cli->arena, cli->args[1], registered, &s), done);
    if (trace_only) {
        hone_str_printf(&cli->out, "%s\n", s.trial->trace);
    } else if (cli->json) {
        st = hone_cli_put_json(cli, hone_record_view_json(&s, true));
    } else {
        put_text(cli, &s);
    }
done:
    hone_record_view_deinit(&s);
    hone_tensor_intrins_destroy(registered);
    hone_db_close(db);
    return st;
}

int hone_db_verb_show(int argc, char **argv) {
    bool trace_only = false;
    hone_cli_list intrins = {0};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("trace", 0, NULL, SWITCH, &trace_only,
                        "the trace alone, as JSON that `hone schedule` reads"),
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
    HONE_CLI_RUN(cli, &command, argc, argv, show(&cli, trace_only, &intrins));
}
