/* tools/verbs/verb_hash.c - `hone hash`: structural hashes of a module and its functions. */
#include "ir/identity/structural.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/verbs/verbs.h"

static bool hash_of(const hone_module *module, const hone_member *member,
                    char out[HONE_HASH_HEX_BYTES]) {
    if (member->kind == HONE_MEMBER_EXTERN) return false;
    hone_hash128 hash = member->kind == HONE_MEMBER_FUNC ? hone_func_hash(member->func)
                                                         : hone_graph_hash(module, member->graph);
    hone_hash128_print(hash, out);
    return true;
}

static hone_status put_json(hone_cli *cli, const hone_module *module) {
    char text[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object(), *functions = hone_json_make_object();
    bool ok =
        hone_json_set_text(json, "module", hone_hash128_print(hone_module_hash(module), text));
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (!hash_of(module, &module->members[i], text)) continue;
        ok &= hone_json_set_text(functions, module->members[i].name, text);
    }
    ok &= hone_json_set(json, "functions", functions);
    ok &= hone_json_set_i64(json, "hash_version", HONE_STRUCTURAL_VERSION);
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static hone_status hash(hone_cli *cli, const char *func) {
    hone_module *module = NULL;
    char text[HONE_HASH_HEX_BYTES];
    HONE_TRY(hone_cli_load_outline(cli->args[0], &module));
    hone_status st = HONE_OK;
    if (func) {
        const hone_member *member = NULL;
        st = hone_status_annotate(hone_module_pick(module, func, &member), "%s", cli->args[0]);
        if (!st && hash_of(module, member, text)) hone_str_printf(&cli->out, "%s\n", text);
    } else if (cli->json) {
        st = put_json(cli, module);
    } else {
        for (uint32_t i = 0; i < module->member_count; i++) {
            if (!hash_of(module, &module->members[i], text)) continue;
            hone_str_printf(&cli->out, "%s  %s\n", text, module->members[i].name);
        }
        hone_hash128_print(hone_module_hash(module), text);
        hone_str_printf(&cli->out, "%s  (module)\n", text);
    }
    hone_module_release(module);
    return st;
}

int hone_verb_hash(int argc, char **argv) {
    const char *func = NULL;
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &func, "this function's hash alone"),
        {0},
    };
    const hone_cli_command command = {
        .name = "hash",
        .usage = "FILE [--func NAME]",
        .summary = "Prints the structural hash of each function and of the module: names do not "
                   "count, everything else does. A tensor program's hash is its identity in "
                   "databases.",
        .example = "hone hash tests/programs/matmul_relu.py",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, hash(&cli, func));
}
