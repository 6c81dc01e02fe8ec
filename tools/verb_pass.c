/* tools/verb_pass.c - `hone pass`: runs named passes and prints what comes out.
 *
 * Graph passes (graph/pass.h) work on a whole module; lowering passes (lower/lower.h) on each of
 * its PrimFuncs. A list may mix them: runs of graph passes are handed over together.
 */
#include <inttypes.h>
#include <string.h>

#include "graph/pass.h"
#include "ir/script.h"
#include "ir/verify.h"
#include "lower/lower.h"
#include "tools/cli.h"
#include "tools/cli_model.h"
#include "tools/verbs.h"

typedef struct pass_options {
    const char *passes, *pipeline, *output, *target, *dialect;
    hone_cli_list shapes;
    bool list;
} pass_options;

typedef struct pass_names {
    const char **items;
    size_t count;
} pass_names;

static const hone_lower_pass *find_lowering(const char *name) {
    size_t count;
    const hone_lower_pass *passes = hone_lower_pipeline(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(passes[i].name, name) == 0) return &passes[i];
    }
    return NULL;
}

static hone_status list_passes(hone_cli *cli) {
    size_t count;
    const hone_lower_pass *passes = hone_lower_pipeline(&count);
    hone_str_append(&cli->out, "graph passes\n");
    for (size_t i = 0; i < hone_graph_pass_count(); i++) {
        const hone_graph_pass *pass = hone_graph_pass_at(i);
        hone_str_printf(&cli->out, "  %-16s %s\n", pass->name, pass->help);
    }
    hone_str_append(&cli->out, "program passes, in the order of lowering\n");
    for (size_t i = 0; i < count; i++) {
        hone_str_printf(&cli->out, "  %-16s %s\n", passes[i].name, passes[i].summary);
    }
    hone_str_append(&cli->out, "pipelines\n  prepare, interpret, lower\n");
    return HONE_OK;
}

/* ---- which passes ---- */

static bool add_name(hone_cli *cli, pass_names *names, const char *name, size_t length) {
    const char **items = hone_arena_alloc(cli->arena, (names->count + 1) * sizeof *items);
    if (!items) return false;
    if (names->count) memcpy(items, names->items, names->count * sizeof *items);
    items[names->count] = hone_arena_strndup(cli->arena, name, length);
    names->items = items;
    return items[names->count++] != NULL;
}

static hone_status pipeline_names(hone_cli *cli, const char *pipeline, pass_names *out) {
    bool ok = true;
    const char *const *names = hone_graph_pipeline(pipeline);
    for (; names && *names; names++)
        ok &= add_name(cli, out, *names, strlen(*names));
    if (strcmp(pipeline, "lower") == 0) {
        size_t count;
        const hone_lower_pass *passes = hone_lower_pipeline(&count);
        for (size_t i = 0; i < count; i++) {
            ok &= add_name(cli, out, passes[i].name, strlen(passes[i].name));
        }
    } else if (!hone_graph_pipeline(pipeline)) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND,
                          "there is no pipeline '%s'; there are prepare, interpret, lower",
                          pipeline);
    }
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "passes");
}

static hone_status read_names(hone_cli *cli, const char *text, pass_names *out) {
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length && !add_name(cli, out, text, length)) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "passes");
        }
        text += length + (text[length] == ',');
    }
    return HONE_OK;
}

/* All names are looked at before anything runs. */
static hone_status check_names(hone_cli *cli, const pass_names *names) {
    size_t lowering_count, count = 0, graph_count = hone_graph_pass_count();
    const hone_lower_pass *passes = hone_lower_pipeline(&lowering_count);
    const char **known =
        hone_arena_alloc(cli->arena, (graph_count + lowering_count) * sizeof *known);
    if (!known) return HONE_ERROR(HONE_CODE_NO_MEMORY, "passes");
    for (size_t i = 0; i < graph_count; i++)
        known[count++] = hone_graph_pass_at(i)->name;
    for (size_t i = 0; i < lowering_count; i++)
        known[count++] = passes[i].name;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->items[i];
        if (hone_graph_pass_find(name) || find_lowering(name)) continue;
        const char *meant = hone_cli_suggest(name, known, count, sizeof *known);
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no pass '%s'%s%s%s", name,
                          meant ? "; did you mean '" : "; see hone pass --list", meant ? meant : "",
                          meant ? "'?" : "");
    }
    if (names->count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "option '--pass' names no pass");
}

/* ---- running them ---- */

static hone_status run_lowering(const hone_module *module, const hone_lower_pass *pass,
                                const hone_target *target, hone_module **out_module) {
    hone_module *copy = NULL;
    hone_status st = HONE_OK;
    hone_lower_options options = {.target = target};
    HONE_TRY(hone_module_copy(module, &copy));
    for (uint32_t i = 0; i < copy->member_count && !st; i++) {
        hone_member *member = &copy->members[i];
        if (member->kind != HONE_MEMBER_FUNC) continue;
        hone_lower lower = {.ir = {.arena = copy->arena}, .options = &options};
        lower.func = hone_func_copy_deep(copy->arena, member->func);
        st = lower.func ? pass->run(&lower) : HONE_ERROR(HONE_CODE_NO_MEMORY, "passes");
        st = hone_status_join(st, hone_ir_finish(&lower.ir));
        if (!st) st = hone_check_func(lower.func);
        if (st) st = hone_status_annotate(st, "pass '%s' on '%s'", pass->name, member->name);
        member->func = lower.func ? lower.func : member->func;
    }
    if (st) {
        hone_module_release(copy);
        return st;
    }
    hone_module_freeze(copy);
    *out_module = copy;
    return HONE_OK;
}

/* Takes *module and puts what comes out in its place. */
static hone_status run_all(hone_module **module, const pass_names *names,
                           const hone_graph_options *options, const hone_target *target) {
    for (size_t i = 0; i < names->count;) {
        hone_module *next = NULL;
        const hone_lower_pass *lowering = find_lowering(names->items[i]);
        size_t end = i + 1;
        if (lowering && !hone_graph_pass_find(names->items[i])) {
            HONE_TRY(run_lowering(*module, lowering, target, &next));
        } else {
            while (end < names->count && hone_graph_pass_find(names->items[end]))
                end++;
            HONE_TRY(hone_graph_run_passes(*module, names->items + i, end - i, options, &next));
        }
        hone_module_release(*module);
        *module = next;
        i = end;
    }
    return HONE_OK;
}

static hone_status run_on_file(hone_cli *cli, const pass_options *o, const pass_names *names,
                               const hone_graph_options *options) {
    hone_target target;
    hone_module *module = NULL;
    hone_str text = {0};
    hone_print_options style = {.mark = HONE_NO_ID};
    HONE_TRY(hone_cli_parse_dialect(o->dialect, &style.dialect));
    HONE_TRY(hone_cli_parse_target(o->target, 0, &target));
    HONE_TRY(hone_cli_load_module(cli->args[0], NULL, &module));
    hone_module_freeze(module);
    hone_status st = run_all(&module, names, options, &target);
    if (st) {
        st = hone_status_annotate(st, "%s", cli->args[0]);
    } else if (o->output && strcmp(o->output, "-") != 0) {
        st = hone_script_save(module, o->output, &style);
    } else {
        st = hone_module_print(module, &style, &text);
        if (!st) st = hone_cli_put_result(cli, NULL, &text);
    }
    hone_str_deinit(&text);
    hone_module_release(module);
    return st;
}

static hone_status pass(hone_cli *cli, const pass_options *o) {
    pass_names names = {0};
    hone_dim_variants variants = {0};
    if (o->list) return list_passes(cli);
    if (cli->arg_count == 0) return HONE_ERROR(HONE_CODE_INVALID, "FILE is missing");
    if (!o->passes == !o->pipeline) {
        return HONE_ERROR(HONE_CODE_INVALID, "either --pass or --pipeline is wanted");
    }
    HONE_TRY(o->passes ? read_names(cli, o->passes, &names)
                       : pipeline_names(cli, o->pipeline, &names));
    HONE_TRY(check_names(cli, &names));
    hone_status st = hone_dim_variants_parse(o->shapes.items, o->shapes.count, &variants);
    if (!st && variants.count > 1) {
        st = HONE_ERROR(HONE_CODE_INVALID, "--shape may give one number per size here");
    }
    if (!st) {
        hone_graph_options options = {.dims = variants.items[0].dims,
                                      .dim_count = variants.items[0].dim_count};
        st = run_on_file(cli, o, &names, &options);
    }
    hone_dim_variants_deinit(&variants);
    return st;
}

int hone_verb_pass(int argc, char **argv) {
    pass_options o = {.dialect = "tvm-0.27"};
    const hone_cli_option options[] = {
        {.name = "pass",
         .value = "NAME,...",
         .kind = HONE_CLI_TEXT,
         .to = &o.passes,
         .help = "these passes, in this order"},
        {.name = "pipeline",
         .value = "NAME",
         .kind = HONE_CLI_TEXT,
         .to = &o.pipeline,
         .help = "prepare, interpret or lower"},
        {.name = "list", .kind = HONE_CLI_SWITCH, .to = &o.list, .help = "what there is"},
        {.name = "shape",
         .value = "N=64",
         .kind = HONE_CLI_LIST,
         .to = &o.shapes,
         .help = "a number for a symbolic size; may be repeated"},
        {.name = "target",
         .value = "TARGET",
         .kind = HONE_CLI_TEXT,
         .to = &o.target,
         .help = "for program passes; default: host"},
        HONE_CLI_DIALECT_OPTION(&o.dialect),
        {.name = "output",
         .letter = 'o',
         .value = "FILE",
         .kind = HONE_CLI_TEXT,
         .to = &o.output,
         .help = "write there; long weights go to FILE with .safetensors"},
        {0                       },
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
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, pass(&cli, &o));
}
