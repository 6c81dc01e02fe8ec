/* tools/verbs/verb_space.c - `hone space`: the sketches that the rules make of a program, as
 * traces. */
#include <inttypes.h>

#include "schedule/trace/trace.h"
#include "schedule/trace/trace_parts.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_target.h"
#include "tools/verbs/verbs.h"
#include "tuner/space/space.h"

typedef struct space_options {
    const char *target, *func;
    int64_t sketches, threads;
} space_options;

static hone_status put_json(hone_cli *cli, const hone_trace *sketches, uint32_t count) {
    hone_json *json = hone_json_make_array();
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < count && !st; i++) {
        hone_str text = {0};
        hone_json *trace = NULL;
        st = hone_trace_print_json(&sketches[i], &text);
        if (!st) st = hone_json_parse(hone_str_text(&text), text.length, &trace);
        if (!st && !hone_json_append(json, trace)) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "sketches");
        hone_str_deinit(&text);
    }
    if (!st) return hone_cli_put_json(cli, json);
    hone_json_destroy(json);
    return st;
}

static hone_status put_sketches(hone_cli *cli, const space_options *options, const hone_func *func,
                                const hone_space *space) {
    const hone_trace_part whole = {.func = func};
    uint32_t count = space->count;
    if (options->sketches && options->sketches < count) count = (uint32_t)options->sketches;
    hone_trace *sketches = hone_arena_zalloc(cli->arena, (count + 1) * sizeof *sketches);
    if (!sketches) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sketches");
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(
            hone_trace_name_funcs(cli->arena, &space->sketches[i], &whole, NULL, &sketches[i]));
    if (cli->json) return put_json(cli, sketches, count);
    for (uint32_t i = 0; i < count; i++) {
        hone_str_printf(&cli->out, "%s# sketch %" PRIu32 " of %" PRIu32 "\n", i ? "\n" : "", i,
                        space->count);
        HONE_TRY(hone_trace_print_python(&sketches[i], &cli->out));
    }
    return HONE_OK;
}

static hone_status space_verb(hone_cli *cli, const space_options *options) {
    hone_target target;
    hone_module *module = NULL;
    const hone_func *func = NULL;
    hone_space space = {0};
    hone_status st = HONE_OK;
    HONE_TRY(hone_cli_read_target(options->target, options->threads, &target));
    HONE_TRY_GOTO(st, hone_cli_load_outline(cli->args[0], &module), done);
    hone_module_freeze(module);
    HONE_TRY_GOTO(st, hone_cli_pick_func(module, cli->args[0], options->func, &func), done);
    HONE_TRY_GOTO(st, hone_cli_check_func(cli->args[0], func), done);
    st = hone_status_annotate(hone_space_generate(func, &target, &space), "%s", cli->args[0]);
    if (!st) st = put_sketches(cli, options, func, &space);
    hone_space_deinit(&space);
done:
    hone_module_release(module);
    return st;
}

int hone_verb_space(int argc, char **argv) {
    space_options o = {0};
    const hone_cli_option options[] = {
        HONE_CLI_TARGET_OPTIONS(o),
        HONE_CLI_OPTION("sketches", 0, "N", NUMBER, &o.sketches, "at most the first N of them",
                        .min = 1, .max = 1000000),
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &o.func,
                        "the function; default: main, or the only one"),
        {0},
    };
    const hone_cli_command command = {
        .name = "space",
        .usage = "FILE [--target TARGET] [--sketches N] [--func NAME]",
        .summary = "Prints the design space of a tensor program: traces whose sampling steps are "
                   "open. Each can be edited and given to `hone tune --space`.",
        .example = "hone space tests/programs/matmul_relu.py --sketches 1",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, space_verb(&cli, &o));
}
