/* tools/db/db_explain.c - `hone db explain`: which record each kernel of a model would get, and
 * why.
 */
#include <inttypes.h>
#include <math.h>

#include "compile/compile.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_intrins.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_shapes.h"
#include "tools/cli/cli_table.h"
#include "tools/cli/cli_target.h"
#include "tools/cli/cli_variants.h"
#include "tools/db/db_verbs.h"

typedef struct explain_options {
    const char *target;
    hone_cli_list shapes, intrins;
    int64_t threads;
    bool exact;
    cli_variants variants;
} explain_options;

static void put_row(hone_cli *cli, hone_table *table, const hone_compile_kernel *k) {
    hone_table_add(table, "%s", k->name);
    hone_table_add(table, "%" PRIu32, k->calls);
    hone_table_add(table, "%s", hone_record_match_name(k->match));
    hone_table_add(table, k->record ? "%" PRId64 : "-", k->record);
    hone_table_add(table, "%s", hone_text_of_ns(cli->arena, k->record_ns));
    hone_table_add(table, "%s", k->reason);
}

static hone_json *row_json(const hone_compile_kernel *k) {
    char hash[HONE_HASH_HEX_BYTES];
    bool is_used = k->source == HONE_COMPILE_RECORD;
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "task", k->name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(k->hash, hash));
    ok &= hone_json_set_i64(json, "weight", k->calls);
    ok &= hone_json_set_text(json, "from", hone_compile_source_name(k->source));
    ok &= hone_json_set_text(json, "match", hone_record_match_name(k->match));
    ok &= hone_json_set(json, "record",
                        k->record ? hone_json_make_i64(k->record) : hone_json_make_null());
    ok &= hone_json_set_f64(json, "record_ns", k->record_ns);
    ok &= hone_json_set_bool(json, "confirmed", k->is_confirmed);
    ok &= hone_json_set_text(json, "program_hash",
                             is_used ? hone_hash128_print(k->made, hash) : NULL);
    ok &= hone_json_set_i64(json, "stale_records", k->stale);
    ok &= hone_json_set_i64(json, "earlier_records", k->earlier);
    ok &= hone_json_set_text(json, "earlier_reason", k->earlier_reason);
    ok &= hone_json_set_text(json, "variant", k->variant);
    ok &= hone_json_set_text(json, "reason", k->reason);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

static hone_status put_all(hone_cli *cli, const hone_compile_result *result) {
    hone_table table;
    hone_table_init(&table, cli->arena, "kernel|>calls|match|>record|>time|~why");
    hone_json *json = cli->json ? hone_json_make_array() : NULL;
    bool ok = true;
    for (uint32_t i = 0; i < result->kernel_count && ok; i++) {
        put_row(cli, &table, &result->kernels[i]);
        if (json) ok = hone_json_append(json, row_json(&result->kernels[i]));
    }
    if (json && ok) return hone_cli_put_json(cli, json);
    hone_json_destroy(json);
    if (!ok) return HONE_ERROR(HONE_CODE_NO_MEMORY, "explain");
    hone_cli_put_table(cli, &table);
    return hone_str_check(&cli->out);
}

typedef struct explaining {
    hone_cli *cli;
    hone_db *db;
    hone_module *module;
    hone_dim_variants variants;
    hone_compile_options options;
    hone_compile_result result;
} explaining;

/* The compiler's own choice: whatever it would do is what is shown. */
static hone_status explain(explaining *e, const explain_options *o) {
    hone_compile_options *options = &e->options;
    options->output = "model";
    options->variants = &e->variants;
    HONE_TRY(hone_cli_read_target(o->target, o->threads, &options->target));
    HONE_TRY(hone_cli_open_db(e->cli->args[0], HONE_DB_READ, &e->db));
    HONE_TRY(hone_cli_read_intrins(e->cli, &o->intrins, &options->intrins));
    HONE_TRY(hone_dim_variants_parse(o->shapes.items, o->shapes.count, &e->variants));
    options->intrin_count = o->intrins.count;
    HONE_TRY(hone_cli_read_variants(e->cli, &o->variants, &options->variant_rules));
    options->exact = o->exact;
    if (o->shapes.count == 0) HONE_TRY(hone_cli_refuse(e->cli, "exact", "sizes without --shape"));
    options->db = e->db;
    if (o->shapes.count == 0) {
        HONE_TRY(hone_cli_recorded_shapes(e->cli, e->db, &e->variants, &options->only_recorded));
    }
    const hone_graph_options given = {.dims = e->variants.items[0].dims,
                                      .dim_count = e->variants.items[0].dim_count,
                                      .keeps_sizes = true};
    HONE_TRY(hone_cli_load_module(e->cli->args[1], &given, &e->module));
    hone_module_freeze(e->module);
    HONE_TRY(hone_dim_variants_drop_bound(&e->variants, e->module));
    hone_status st = hone_compile_explain(e->module, options, &e->result);
    return st ? hone_cli_place(e->cli->args[1], 0, 0, st) : put_all(e->cli, &e->result);
}

static hone_status explain_verb(hone_cli *cli, const explain_options *o) {
    explaining e = {.cli = cli};
    hone_status st = explain(&e, o);
    if (e.result.arena) hone_compile_result_deinit(&e.result);
    hone_module_release(e.module);
    hone_dim_variants_deinit(&e.variants);
    hone_db_close(e.db);
    return st;
}

int hone_db_verb_explain(int argc, char **argv) {
    explain_options o = {0};
    const hone_cli_option options[] = {
        HONE_CLI_VARIANT_OPTIONS(o.variants),
        HONE_CLI_OPTION("target", 0, "TARGET", TEXT, &o.target,
                        "what would be compiled for; default: host"),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads,
                        "that kernels would run on; default: all cores", .min = 1, .max = 1024),
        HONE_CLI_OPTION("shape", 0, "N=1,64", LIST, &o.shapes,
                        "numbers for a symbolic size; default: those of its tuning sessions"),
        HONE_CLI_OPTION("exact", 0, NULL, SWITCH, &o.exact,
                        "no general kernels beside those of --shape"),
        HONE_CLI_INTRIN_OPTION(&o.intrins, "a tensor intrinsic that records use"),
        {0},
    };
    const hone_cli_command command = {
        .name = "db explain",
        .usage = "DB MODEL [--target TARGET] [--threads N] [--shape N=1,64 [--exact]] [--intrin "
                 "NAME=FILE.py]",
        .summary = "Which record each kernel of a model would get from `hone compile`, and why: "
                   "exact, translated (from other names, or from an earlier program), stale (its "
                   "trace makes another program now), other target, or none.",
        .example = "hone db explain /tmp/tuned.db tests/programs/matmul_relu.py",
        .options = options,
        .min_args = 2,
        .max_args = 2,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, explain_verb(&cli, &o));
}
