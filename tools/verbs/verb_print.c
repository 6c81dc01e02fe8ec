/* tools/verbs/verb_print.c - `hone print`: canonical TVMScript of programs and models. */
#include "graph/module/module_parts.h"
#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/verbs/verbs.h"

typedef struct print_options {
    const char *dialect, *output, *function;
} print_options;

static const char *kind_name(hone_member_kind kind) {
    return kind == HONE_MEMBER_FUNC    ? "prim_func"
           : kind == HONE_MEMBER_GRAPH ? "function"
                                       : "extern";
}

/* {"text": …, "hash": …, "functions": [{"name", "kind"}]} */
static hone_status put_json(hone_cli *cli, const hone_module *module, const hone_str *text) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object(), *functions = hone_json_make_array();
    bool ok = true;
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_json *item = hone_json_make_object();
        ok &= hone_json_set_text(item, "name", module->members[i].name);
        ok &= hone_json_set_text(item, "kind", kind_name(module->members[i].kind));
        ok &= hone_json_append(functions, item);
    }
    ok &= hone_json_set_text(json, "hash", hone_hash128_print(hone_module_hash(module), hash));
    ok &= hone_json_set(json, "functions", functions);
    ok &= hone_json_set_text(json, "text", hone_str_text(text));
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static hone_status load(const hone_cli *cli, const char *function, hone_module **out_module) {
    hone_module *module = NULL;
    HONE_TRY(hone_cli_load_outline(cli->args[0], &module));
    if (!function) {
        *out_module = module;
        return HONE_OK;
    }
    hone_module_freeze(module);
    hone_status st =
        hone_status_annotate(hone_module_part(module, function, out_module), "%s", cli->args[0]);
    hone_module_release(module);
    return st;
}

static hone_status print(hone_cli *cli, const print_options *options) {
    hone_print_options style = {.mark = HONE_NO_ID};
    if (cli->json) HONE_TRY(hone_cli_refuse(cli, "output", "--json, which is for standard output"));
    HONE_TRY(hone_cli_parse_dialect(options->dialect, &style.dialect));
    hone_module *module = NULL;
    HONE_TRY(load(cli, options->function, &module));
    hone_str text = {0};
    hone_status st = HONE_OK;
    if (cli->json) {
        st = hone_module_print(module, &style, &text);
        if (!st) st = put_json(cli, module, &text);
    } else {
        st = hone_cli_put_program(cli, options->output, module, &style);
    }
    hone_str_deinit(&text);
    hone_module_release(module);
    return st;
}

int hone_verb_print(int argc, char **argv) {
    print_options o = {.dialect = "tvm-0.27"};
    const hone_cli_option options[] = {
        HONE_CLI_DIALECT_OPTION(&o.dialect),
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &o.function,
                        "this function alone, and what it calls"),
        HONE_CLI_PROGRAM_OUTPUT_OPTION(&o.output),
        {0},
    };
    const hone_cli_command command = {
        .name = "print",
        .usage = "FILE [--func NAME] [--dialect NAME] [-o FILE]",
        .summary = "Reads a program (.py) or model (.onnx) and prints it as TVMScript.",
        .example = "hone print tests/programs/matmul_relu.py --dialect classic",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, print(&cli, &o));
}
