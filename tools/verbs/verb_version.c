/* tools/verbs/verb_version.c - `hone version`. */
#include "ir/identity/structural.h"
#include "tools/cli/cli.h"
#include "tools/verbs/verbs.h"

static hone_status version(hone_cli *cli) {
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
#ifdef NDEBUG
    const char *build = "release";
#else
    const char *build = "debug";
#endif
    if (!cli->json) {
        hone_str_printf(&cli->out, "hone %s\n", HONE_VERSION);
        if (cli->verbosity) {
            hone_str_printf(&cli->out, "%s build, %s, workload hashes of version %d\n", build,
                            compiler, HONE_STRUCTURAL_VERSION);
        }
        return HONE_OK;
    }
    hone_json *json = hone_json_make_object();
    if (!hone_json_set_text(json, "version", HONE_VERSION) ||
        !hone_json_set_text(json, "build", build) ||
        !hone_json_set_text(json, "compiler", compiler) ||
        !hone_json_set_i64(json, "hash_version", HONE_STRUCTURAL_VERSION)) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

int hone_verb_version(int argc, char **argv) {
    static const hone_cli_command command = {
        .name = "version",
        .usage = "[--json]",
        .summary = "Prints the version of this build; -v says how it was built.",
        .example = "hone version --json",
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, version(&cli));
}
