/* tools/verbs/verb_target.c - `hone target`: reads, detects and lists targets. */
#include "runtime/cuda/device_cuda.h"
#include "support/data/hash.h"
#include "target/target.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_table.h"
#include "tools/cli/cli_target.h"
#include "tools/verbs/verbs.h"

typedef struct target_options {
    bool list, detect;
    int64_t threads;
} target_options;

static hone_status list_targets(hone_cli *cli) {
    hone_json *json = cli->json ? hone_json_make_array() : NULL;
    hone_table table;
    hone_table_init(&table, cli->arena, "name|~target|~what it is");
    bool ok = true;
    for (const hone_target_name *name = hone_target_names(); name->name; name++) {
        hone_table_add(&table, "%s", name->name);
        hone_table_add(&table, "%s", name->text);
        hone_table_add(&table, "%s", name->description);
        if (!cli->json) continue;
        hone_json *item = hone_json_make_object();
        ok &= hone_json_set_text(item, "name", name->name);
        ok &= hone_json_set_text(item, "target", name->text);
        ok &= hone_json_set_text(item, "description", name->description);
        ok &= hone_json_append(json, item);
    }
    if (!cli->json) {
        hone_cli_put_table(cli, &table);
        return HONE_OK;
    }
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static void put_facts(hone_cli *cli, const hone_target *target, const char *hash) {
    hone_str_printf(&cli->out, "# hash %s; vectors of %d bits, %d vector registers; %s\n", hash,
                    target->vector_bits, hone_target_vector_registers(target),
                    hone_target_runs_here(target) ? "runs on this machine"
                                                  : "does not run on this machine");
}

static hone_status show_target(hone_cli *cli, const hone_target *target) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_hash128_print(hone_target_hash(target), hash);
    if (cli->json) {
        hone_target_print_json(target, &cli->out);
    } else {
        hone_target_print(target, &cli->out);
    }
    hone_str_append_char(&cli->out, '\n');
    if (!cli->json && cli->verbosity) put_facts(cli, target, hash);
    return HONE_OK;
}

/* Each on a line, behind this machine. */
static hone_status show_cards(hone_cli *cli) {
    hone_cuda_facts cards[HONE_CUDA_MAX_CARDS];
    int32_t count;
    hone_status_free(hone_cuda_list(cards, &count)); /* no driver: no cards */
    for (int32_t i = 0; i < count; i++) {
        hone_target target;
        HONE_TRY(hone_cuda_target(&cards[i], &target));
        HONE_TRY(show_target(cli, &target));
    }
    return HONE_OK;
}

static hone_status target_verb(hone_cli *cli, const target_options *options) {
    if (options->list) HONE_TRY(hone_cli_refuse_all(cli, "list"));
    if (options->list) return list_targets(cli);
    if (options->detect && cli->arg_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "--detect takes no target to read");
    }
    hone_target target;
    const char *text = cli->arg_count ? cli->args[0] : NULL;
    HONE_TRY(hone_cli_read_target(text, options->threads, &target));
    HONE_TRY(show_target(cli, &target));
    return options->detect && !cli->json ? show_cards(cli) : HONE_OK;
}

int hone_verb_target(int argc, char **argv) {
    target_options o = {0};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("list", 0, NULL, SWITCH, &o.list, "the names that are known"),
        HONE_CLI_OPTION("detect", 0, NULL, SWITCH, &o.detect,
                        "this machine (also without arguments), and its NVIDIA cards"),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads, "with this number of threads",
                        .min = 1, .max = 1024),
        {0},
    };
    const hone_cli_command command = {
        .name = "target",
        .usage = "[--list | --detect | FILE | TEXT] [--threads N]",
        .summary = "Prints the canonical text of a target: of this machine, of a name, of TVM's "
                   "spelling, or of a file (.json, .txt) that holds one. -v adds facts.",
        .example = "hone target 'llvm -mcpu=znver3 -num-cores=4' --json",
        .options = options,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, target_verb(&cli, &o));
}
