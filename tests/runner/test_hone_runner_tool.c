/* tests/runner/test_hone_runner_tool.c - `hone-runner` as people type it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/executor.h"
#include "sandbox/held.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/support/hone_test.h"

#define KEY "0123456789012345678901234567890123456789"

/* clang-format off */
static const struct row {
    const char *name;
    const char *args[6];
    int exit_code;
    const char *out, *err; /* parts */
} rows[] = {
    {"help", {"--help"}, 0, "Usage: hone-runner", ""},
    {"version", {"--version"}, 0, "hone-runner 0.", ""},
    {"nothing", {NULL}, 2, "", "--tracker URL is missing"},
    {"unknown option", {"--faster"}, 2, "", "'--faster'"},
    {"an argument", {"--executor", "now"}, 2, "", "'now'"},
    {"a bad size", {"--memory", "lots"}, 2, "", "'lots'"},
    {"a size too large", {"--memory", "99999999T"}, 2, "", "'99999999T'"},
    {"a missing value", {"--memory"}, 2, "", "--memory"},
    {"no socket", {"--executor"}, 3, "", "descriptor 3"},
    {"no key", {"--tracker", "tcp://127.0.0.1:1"}, 2, "", "hone keygen"},
    {"no such key",
     {"--tracker", "tcp://127.0.0.1:1", "--key", "/nonexistent/k", "--tracker-key", KEY},
     3,
     "",
     "/nonexistent/k"},
    {"no tracker key",
     {"--tracker", "tcp://127.0.0.1:1", "--key", "/nonexistent/k"},
     2,
     "",
     "--tracker-key PUB is missing"},
    {"a bad tracker key",
     {"--tracker", "tcp://127.0.0.1:1", "--key", "/nonexistent/k", "--tracker-key", "secret"},
     2,
     "",
     "--tracker-key: a public key"},
    {"a bad address", {"--insecure", "--tracker", "127.0.0.1"}, 2, "", "tcp://"},
    {"insecure elsewhere", {"--insecure", "--tracker", "tcp://192.0.2.1:9190"}, 2, "", "loopback"},
    {"no slots", {"--slots", "0"}, 2, "", "'0'"},
    {"too many slots", {"--slots", "65"}, 2, "", "'65'"},
    {"an odd name", {"--name", "a/b"}, 2, "", "'a/b'"},
    {"an odd device key", {"--device-key", ""}, 2, "", "--device-key"},
    {"an empty value", {"--tracker", ""}, 2, "", "'--tracker'"},
    {"given twice", {"--slots", "1", "--slots=2"}, 2, "", "twice: 'slots'"},
    {"idle in executors", {"--executor", "--key", "k"}, 2, "", "no 'key'"},
    {"idle without keys",
     {"--tracker", "tcp://127.0.0.1:1", "--insecure", "--key", "k"},
     2,
     "",
     "no 'key'"},
    {"no time", {"--idle-exit", "soon"}, 2, "", "'soon'"},
    {"no time at all", {"--idle-exit", "0"}, 2, "", "'0'"},
    {"no such signal", {"--drain-on", "SIGKILL"}, 2, "", "'SIGKILL'"},
    {"idle executors", {"--executor", "--idle-exit", "1m"}, 2, "", "no 'idle-exit'"},
    {"no status", {"--check", "/nonexistent/s"}, 3, "", "no runner has begun"},
    {"two checks", {"--check", "s", "--check-alive", "s"}, 2, "", "two questions"},
    {"idle in checks", {"--check", "s", "--slots", "2"}, 2, "", "no 'slots'"},
    {"no memory", {"--memory", "1M"}, 2, "", "from 16M on, or 0, not '1M'"},
    {"no launcher", {"--launcher", "  "}, 2, "", "--launcher"},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    const char *argv[8] = {hone_test_build_path("hone-runner")};
    for (int i = 0; i < 6; i++)
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

/* An executor whose runner has ended before the executor begins: each end of both sockets is
 * closed. It and what it has started end, whoever of them gets to know it first. */
static void executors_end_without_a_runner(void **unused) {
    enum { EXECUTORS = 20 };
    const char *argv[] = {hone_test_build_path("hone-runner"), "--executor", NULL};
    const hone_clock *clock = hone_clock_system();
    hone_proc executors[EXECUTORS];
    (void)unused;
    for (int i = 0; i < EXECUTORS; i++) {
        int runner[2], warden[2];
        HONE_ASSERT_OK(hone_socket_pair_open(runner));
        HONE_ASSERT_OK(hone_socket_pair_open(warden));
        hone_fd_close(&runner[0]);
        hone_fd_close(&warden[0]);
        const hone_fd_map fds[] = {
            {-1,        STDERR_FILENO       },
            {runner[1], HONE_EXECUTOR_FD    },
            {warden[1], HONE_HELD_CONTROL_FD}
        };
        const hone_proc_options options = {.argv = argv, .fds = fds, .fd_count = HONE_COUNT(fds)};
        HONE_ASSERT_OK(hone_proc_spawn(&options, &executors[i]));
        hone_fd_close(&runner[1]);
        hone_fd_close(&warden[1]);
    }
    for (int i = 0; i < EXECUTORS; i++) {
        HONE_ASSERT_OK(
            hone_proc_wait(&executors[i], clock, hone_deadline_after(clock, 60 * HONE_NS_PER_S)));
        hone_proc_deinit(&executors[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(executors_end_without_a_runner)};
    char *cache = NULL;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-runner-tool", &cache));
    setenv("XDG_CACHE_HOME", cache, 1);
    unsetenv("HONE_TRACKER");
    unsetenv("HONE_KEY_FILE");
    unsetenv("HONE_TRACKER_KEY");
    int failed = HONE_RUN_ROWS("tools/hone-runner", rows, check_row);
    failed += cmocka_run_group_tests_name("tools/hone-runner, left alone", tests, NULL, NULL);
    HONE_ASSERT_OK(hone_fs_remove_tree(cache));
    hone_free(cache);
    return failed;
}
