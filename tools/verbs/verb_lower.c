/* tools/verbs/verb_lower.c - `hone lower`: the loops that code is generated from. In this process:
 * lowering needs no LLVM. */
#include <string.h>

#include "compile/named_passes.h"
#include "graph/passes/prepare.h"
#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "lower/signature/signature.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_target.h"
#include "tools/verbs/verbs.h"

typedef struct lower_options {
    const char *target, *func, *dump, *output;
    int64_t threads;
    bool list;
} lower_options;

typedef struct dumper {
    hone_str *out;
    const char *wanted; /* a pass, or "all" */
} dumper;

static hone_status dump(void *ctx, const char *pass, const hone_func *func) {
    dumper *d = ctx;
    if (strcmp(d->wanted, "all") != 0 && strcmp(d->wanted, pass) != 0) return HONE_OK;
    hone_str_printf(d->out, "# after %s\n", pass);
    HONE_TRY(
        hone_func_print(func, &(hone_print_options){.mark = HONE_NO_ID, .bare = true}, d->out));
    hone_str_append_char(d->out, '\n');
    return HONE_OK;
}

/* Puts our name in the place of TVM's. */
static hone_status check_pass(const char **name) {
    if (strcmp(*name, "all") == 0) return HONE_OK;
    const hone_lower_pass *pass = hone_lower_pass_find(*name);
    if (pass) {
        *name = pass->name;
        return HONE_OK;
    }
    HONE_TRY(hone_named_pass_check(*name));
    return HONE_ERROR(HONE_CODE_NOT_FOUND,
                      "'%s' is a pass over graphs; see hone lower --list, hone pass", *name);
}

static hone_status list_passes(hone_cli *cli) {
    size_t count;
    const hone_lower_pass *passes = hone_lower_pipeline(&count);
    for (size_t i = 0; i < count; i++) {
        hone_str_printf(&cli->out, "%-12s %s", passes[i].name, passes[i].summary);
        if (passes[i].tvm_names) hone_str_printf(&cli->out, " (TVM: %s)", passes[i].tvm_names);
        hone_str_append_char(&cli->out, '\n');
    }
    return HONE_OK;
}

/* The PrimFuncs to lower: those of the file, or the kernels that a graph is prepared to. */
static hone_status load(hone_cli *cli, hone_module **out_module) {
    hone_module *module = NULL;
    HONE_TRY(hone_cli_load_module(cli->args[0], NULL, &module));
    hone_module_freeze(module);
    if (!hone_module_has_graph(module)) {
        *out_module = module;
        return HONE_OK;
    }
    static const hone_graph_options options = {.writes_whole = hone_writes_whole};
    hone_status st = hone_graph_prepare(module, &options, out_module);
    hone_module_release(module);
    return st ? hone_cli_place(cli->args[0], 0, 0, st) : HONE_OK;
}

static hone_status lower_all(hone_cli *cli, const lower_options *options, const hone_target *target,
                             const hone_module *module, hone_str *out) {
    dumper d = {out, options->dump};
    hone_lower_options how = {.target = target};
    if (options->dump) {
        how.after = dump;
        how.ctx = &d;
    }
    const hone_func *only = NULL;
    if (options->func) HONE_TRY(hone_cli_pick_func(module, cli->args[0], options->func, &only));
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        hone_func *lowered = NULL;
        if (member->kind != HONE_MEMBER_FUNC || (only && member->func != only)) continue;
        HONE_TRY(hone_cli_check_func(cli->args[0], member->func));
        hone_status st = hone_lower_func(member->func, &how, cli->arena, &lowered);
        if (st) return hone_status_annotate(st, "%s: '%s'", cli->args[0], member->name);
        if (out->length && !options->dump) hone_str_append_char(out, '\n');
        if (options->dump && strcmp(options->dump, "all") != 0) continue;
        if (options->dump) hone_str_append(out, "# lowered\n");
        HONE_TRY(
            hone_func_print(lowered, &(hone_print_options){.mark = HONE_NO_ID, .bare = true}, out));
    }
    return HONE_OK;
}

static hone_status lower(hone_cli *cli, lower_options *options) {
    hone_target target;
    hone_module *module = NULL;
    hone_str text = {0};
    if (options->list) HONE_TRY(hone_cli_refuse_all(cli, "list"));
    if (options->list) return list_passes(cli);
    if (cli->arg_count == 0) return HONE_ERROR(HONE_CODE_INVALID, "FILE is missing");
    if (options->dump) HONE_TRY(check_pass(&options->dump));
    HONE_TRY(hone_cli_read_target(options->target, options->threads, &target));
    HONE_TRY(load(cli, &module));
    hone_status st = lower_all(cli, options, &target, module, &text);
    if (!st) st = hone_cli_put_result(cli, options->output, &text);
    hone_str_deinit(&text);
    hone_module_release(module);
    return st;
}

int hone_verb_lower(int argc, char **argv) {
    lower_options o = {0};
    const hone_cli_option options[] = {
        HONE_CLI_TARGET_OPTIONS(o),
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &o.func, "this function alone; default: all"),
        HONE_CLI_OPTION("dump-after", 0, "PASS", TEXT, &o.dump,
                        "the program after this pass (by our name or TVM's), or after all of them"),
        HONE_CLI_OPTION("output", 'o', "FILE", OUTPUT, &o.output, "write there"),
        HONE_CLI_OPTION("list", 0, NULL, SWITCH, &o.list, "the passes, in order"),
        {0},
    };
    const hone_cli_command command = {
        .name = "lower",
        .usage = "FILE [--target TARGET] [--dump-after PASS|all] [--func NAME] | --list",
        .summary = "Lowers tensor programs (of a model: its kernels) to flat loops.",
        .example = "hone lower tests/programs/matmul_relu.py --dump-after blocks",
        .options = options,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, lower(&cli, &o));
}
