/* tests/runner/test_hone_runner_tool.c - `hone-runner` as people type it. */
#include <string.h>

#include "support/proc.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *name;
    const char *args[4];
    int exit_code;
    const char *out, *err; /* parts */
} rows[] = {
    {"help",            {"--help"},            0, "Usage: hone-runner", ""                     },
    {"version",         {"--version"},         0, "hone-runner 0.",     ""                     },
    {"nothing",         {NULL},                2, "",                   "--executor is missing"},
    {"unknown option",  {"--faster"},          2, "",                   "'--faster'"           },
    {"an argument",     {"--executor", "now"}, 2, "",                   "'now'"                },
    {"a bad number",    {"--memory", "lots"},  2, "",                   "'lots'"               },
    {"a missing value", {"--memory"},          2, "",                   "--memory"             },
    {"no socket",       {"--executor"},        3, "",                   "descriptor 3"         },
};

static void check_row(void **state) {
    const struct row *row = *state;
    const char *argv[6] = {hone_test_build_path("hone-runner")};
    for (int i = 0; i < 4; i++)
        argv[1 + i] = row->args[i];
    hone_str out = {0}, err = {0};
    hone_proc proc;
    HONE_ASSERT_OK(hone_proc_run(argv, 65536, hone_clock_system(),
                                 hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S), &out,
                                 &err, &proc));
    assert_int_equal(proc.term_signal, 0);
    assert_int_equal(proc.exit_code, row->exit_code);
    if (!strstr(hone_str_text(&out), row->out)) fail_msg("stdout: %s", hone_str_text(&out));
    if (!strstr(hone_str_text(&err), row->err)) fail_msg("stderr: %s", hone_str_text(&err));
    hone_proc_deinit(&proc);
    hone_str_deinit(&out);
    hone_str_deinit(&err);
}

int main(void) {
    return HONE_RUN_ROWS("tools/hone-runner", rows, check_row);
}
