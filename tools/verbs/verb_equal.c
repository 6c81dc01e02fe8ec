/* tools/verbs/verb_equal.c - `hone equal`: structural equality, or the first difference. */

#include "ir/identity/structural.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/verbs/verbs.h"

/* Two files with one tensor program each are compared by those, whatever they are called. */
static bool equal_modules(const hone_module *a, const hone_module *b, hone_str *difference) {
    if (a->member_count == 1 && b->member_count == 1 && a->members[0].kind == HONE_MEMBER_FUNC &&
        b->members[0].kind == HONE_MEMBER_FUNC) {
        return hone_func_equal(a->members[0].func, b->members[0].func, difference);
    }
    return hone_module_equal(a, b, difference);
}

static hone_status put_answer(hone_cli *cli, bool is_equal, const hone_str *difference) {
    HONE_TRY(hone_str_check(difference));
    if (!is_equal) cli->exit_code = HONE_EXIT_NO;
    if (!cli->json) {
        if (!cli->quiet) {
            hone_str_printf(&cli->out, "%s%s\n", is_equal ? "equal" : "not equal: ",
                            is_equal ? "" : hone_str_text(difference));
        }
        return HONE_OK;
    }
    hone_json *json = hone_json_make_object();
    if (!hone_json_set_bool(json, "equal", is_equal) ||
        !hone_json_set_text(json, "difference", is_equal ? NULL : hone_str_text(difference))) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static hone_status equal(hone_cli *cli, const char *func) {
    hone_module *a = NULL, *b = NULL;
    hone_str difference = {0};
    bool is_equal = false;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, hone_cli_load_outline(cli->args[0], &a), done);
    HONE_TRY_GOTO(st, hone_cli_load_outline(cli->args[1], &b), done);
    if (func) {
        const hone_func *x = NULL, *y = NULL;
        HONE_TRY_GOTO(st, hone_cli_pick_func(a, cli->args[0], func, &x), done);
        HONE_TRY_GOTO(st, hone_cli_pick_func(b, cli->args[1], func, &y), done);
        is_equal = hone_func_equal(x, y, &difference);
    } else {
        is_equal = equal_modules(a, b, &difference);
    }
    st = put_answer(cli, is_equal, &difference);
done:
    hone_str_deinit(&difference);
    hone_module_release(a);
    hone_module_release(b);
    return st;
}

int hone_verb_equal(int argc, char **argv) {
    const char *func = NULL;
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &func, "compare this function of both alone"),
        {0},
    };
    const hone_cli_command command = {
        .name = "equal",
        .usage = "A B [--func NAME]",
        .summary = "Compares two programs by structure: names do not count. Prints the first "
                   "difference. Exit code 1: they differ.",
        .example = "hone equal tests/programs/matmul_relu.py tests/programs/matmul_relu_loops.py",
        .options = options,
        .min_args = 2,
        .max_args = 2,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, equal(&cli, func));
}
