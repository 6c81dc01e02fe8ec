/* tools/verbs/verb_pass.c - `hone pass`: runs named passes and prints what comes out. */
#include <string.h>

#include "compile/named_passes.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_target.h"
#include "tools/cli/cli_tensors.h"
#include "tools/verbs/verbs.h"

typedef struct pass_options {
    const char *passes, *pipeline, *output, *target, *dialect, *params;
    hone_cli_list shapes;
    bool list;
} pass_options;

typedef struct pass_names {
    const char *const *items;
    size_t count;
} pass_names;

static void list_kind(hone_cli *cli, bool is_lowering) {
    hone_named_pass pass;
    for (size_t i = 0; hone_named_pass_at(i, &pass); i++) {
        if (pass.is_lowering != is_lowering) continue;
        hone_str_printf(&cli->out, "  %-16s %s", pass.name, pass.help);
        if (pass.tvm_names) hone_str_printf(&cli->out, " (TVM: %s)", pass.tvm_names);
        hone_str_append_char(&cli->out, '\n');
    }
}

static hone_status list_passes(hone_cli *cli) {
    hone_str_append(&cli->out, "graph passes\n");
    list_kind(cli, false);
    hone_str_append(&cli->out, "program passes, in the order of lowering\n");
    list_kind(cli, true);
    hone_str_append(&cli->out, "pipelines\n  " HONE_NAMED_PIPELINES "\n");
    return HONE_OK;
}

/* ---- which passes ---- */

static hone_status find_pipeline(const char *pipeline, pass_names *out) {
    const char *const *names = hone_named_pipeline(pipeline);
    if (!names) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND,
                          "there is no pipeline '%s'; there are " HONE_NAMED_PIPELINES, pipeline);
    }
    out->items = names;
    for (out->count = 0; names[out->count];)
        out->count++;
    return HONE_OK;
}

/* All names are looked at before anything runs. */
static hone_status read_names(hone_cli *cli, const char *text, pass_names *out) {
    const size_t room = (strlen(text) + 1) * sizeof *out->items;
    const char **all = hone_arena_alloc(cli->arena, room);
    const char **kept = hone_arena_alloc(cli->arena, room);
    size_t count = 0;
    if (!all || !kept) return HONE_ERROR(HONE_CODE_NO_MEMORY, "passes");
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length) {
            all[count] = hone_arena_strndup(cli->arena, text, length);
            if (!all[count++]) return HONE_ERROR(HONE_CODE_NO_MEMORY, "passes");
        }
        text += length + (text[length] == ',');
    }
    if (!count) return HONE_ERROR(HONE_CODE_INVALID, "option '--pass' names no pass");
    HONE_TRY(hone_named_passes_choose(all, count, kept, &out->count));
    out->items = kept;
    for (size_t i = 0; i < count; i++) {
        const char *where = hone_named_pass_elsewhere(all[i]);
        if (where) HONE_LOG(&cli->log, HONE_LOG_WARNING, "'%s' is left out: %s", all[i], where);
    }
    return HONE_OK;
}

/* ---- running them ---- */

static hone_status run_on_file(hone_cli *cli, const pass_options *o, const pass_names *names,
                               const hone_graph_options *graph) {
    hone_target target;
    hone_module *module = NULL, *made = NULL;
    hone_print_options style = {.mark = HONE_NO_ID};
    HONE_TRY(hone_cli_parse_dialect(o->dialect, &style.dialect));
    HONE_TRY(hone_cli_read_target(o->target, 0, &target));
    hone_graph_options given = *graph;
    given.keeps_inputs = given.keeps_sizes = true;
    HONE_TRY(hone_cli_load_module(cli->args[0], &given, &module));
    hone_module_freeze(module);
    const hone_named_passes_options options = {.graph = *graph, .target = &target};
    hone_status st = hone_named_passes_run(module, names->items, names->count, &options, &made);
    st = st ? hone_status_annotate(st, "%s", cli->args[0])
            : hone_cli_put_program(cli, o->output, made, &style);
    hone_module_release(made);
    hone_module_release(module);
    return st;
}

static hone_status check_target(const hone_cli *cli, const pass_names *names) {
    for (size_t i = 0; i < names->count; i++)
        if (hone_named_pass_takes_target(names->items[i])) return HONE_OK;
    return hone_cli_refuse(cli, "target", "passes that are the same for all");
}

/* Only one pass takes sizes and parameters, and without them it does nothing. */
static hone_status check_bind(const hone_cli *cli, const pass_options *o, const pass_names *names) {
    const char *binds = NULL;
    for (size_t i = 0; i < names->count && !binds; i++)
        if (hone_named_pass_binds(names->items[i])) binds = names->items[i];
    if (!binds)
        return hone_cli_refuse(cli, "shape params", "these passes, 'bind' is not among them");
    if (!o->passes || o->shapes.count || o->params) return HONE_OK;
    return HONE_ERROR(
        HONE_CODE_INVALID,
        "'%s' has nothing to bind; --shape gives sizes, --params values of parameters", binds);
}

static hone_status run_bound(hone_cli *cli, const pass_options *o, const pass_names *names,
                             const hone_dim_variant *sizes) {
    hone_graph_options options = {.dims = sizes->dims, .dim_count = sizes->dim_count};
    hone_tensor_set params;
    hone_status st = hone_cli_load_params(cli, o->params, &params, &options.weights);
    options.weight_count = params.count;
    if (!st) st = run_on_file(cli, o, names, &options);
    hone_tensor_set_deinit(&params);
    return st;
}

static hone_status pass(hone_cli *cli, const pass_options *o) {
    pass_names names = {0};
    hone_dim_variants variants = {0};
    if (o->list) HONE_TRY(hone_cli_refuse_all(cli, "list"));
    if (o->list) return list_passes(cli);
    if (cli->arg_count == 0) return HONE_ERROR(HONE_CODE_INVALID, "FILE is missing");
    if (!o->passes == !o->pipeline) {
        return HONE_ERROR(HONE_CODE_INVALID, "either --pass or --pipeline is wanted");
    }
    HONE_TRY(o->passes ? read_names(cli, o->passes, &names) : find_pipeline(o->pipeline, &names));
    HONE_TRY(check_bind(cli, o, &names));
    HONE_TRY(check_target(cli, &names));
    hone_status st = hone_dim_variants_parse(o->shapes.items, o->shapes.count, &variants);
    if (!st && variants.count > 1) {
        st = HONE_ERROR(HONE_CODE_INVALID, "--shape may give one number per size here");
    }
    if (!st) st = run_bound(cli, o, &names, &variants.items[0]);
    hone_dim_variants_deinit(&variants);
    return st;
}

int hone_verb_pass(int argc, char **argv) {
    pass_options o = {.dialect = "tvm-0.27"};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("pass", 0, "NAME,...", TEXT, &o.passes, "these passes, in this order"),
        HONE_CLI_OPTION("pipeline", 0, "NAME", TEXT, &o.pipeline, HONE_NAMED_PIPELINES),
        HONE_CLI_OPTION("list", 0, NULL, SWITCH, &o.list, "what there is"),
        HONE_CLI_OPTION("shape", 0, "N=64", LIST, &o.shapes,
                        "a number for a symbolic size; may be repeated"),
        HONE_CLI_PARAMS_OPTION(&o.params),
        HONE_CLI_OPTION("target", 0, "TARGET", TEXT, &o.target, "what it is for; default: host"),
        HONE_CLI_DIALECT_OPTION(&o.dialect),
        HONE_CLI_PROGRAM_OUTPUT_OPTION(&o.output),
        {0},
    };
    const hone_cli_command command = {
        .name = "pass",
        .usage = "FILE --pass NAME,... | --pipeline NAME | --list",
        .summary = "Runs named passes over a program or model and prints the module that comes "
                   "out.",
        .example = "hone pass tests/programs/mlp_operators.py --pass infer,legalize",
        .options = options,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, pass(&cli, &o));
}
