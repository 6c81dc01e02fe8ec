/* tests/conformance/test_runner_escapes.c - no way out of the sandbox: every attempt of
 * candidates/escapes.def, from everywhere where foreign code runs, with all layers and with the
 * filter alone, as root and as nobody; and nothing outside has changed. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/conformance/escape_victims.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"

#define FILTER_ALONE "user,namespaces,landlock"
#define NOBODY 65534

static runner_fixture fixture;
static char *escapes; /* as it was built */

static const char *const externs[] = {"report_escapes"};

static hone_runner *make_runner(bool unsandboxed, const char *without) {
    hone_runner *runner = NULL;
    const hone_runner_local_options options = {
        .executor_path = fixture.executor, .unsandboxed = unsandboxed, .without = without};
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    return runner;
}

/* clang-format off */
static const struct row {
    const char *name, *entry;
    escape_place here, in_extern; /* where the artifact, and the external library, try */
    const char *without;
} rows[] = {
    {"a kernel", "attempt_here", ESCAPE_IN_CALL, ESCAPE_NOWHERE, NULL},
    {"a constructor", "attempt_here", ESCAPE_IN_CONSTRUCTOR, ESCAPE_NOWHERE, NULL},
    {"an external function", "attempt_in_extern", ESCAPE_NOWHERE, ESCAPE_IN_CALL, NULL},
    {"an external constructor", "attempt_in_extern", ESCAPE_NOWHERE, ESCAPE_IN_CONSTRUCTOR, NULL},
    {"a kernel, filter alone", "attempt_here", ESCAPE_IN_CALL, ESCAPE_NOWHERE, FILTER_ALONE},
    {"a constructor, filter alone", "attempt_here", ESCAPE_IN_CONSTRUCTOR, ESCAPE_NOWHERE,
     FILTER_ALONE},
    {"an external function, alone", "attempt_in_extern", ESCAPE_NOWHERE, ESCAPE_IN_CALL,
     FILTER_ALONE},
    {"an external constructor, alone", "attempt_in_extern", ESCAPE_NOWHERE, ESCAPE_IN_CONSTRUCTOR,
     FILTER_ALONE},
};
/* clang-format on */

typedef struct attempt {
    char *artifact, *library;
    hone_run_request request;
} attempt;

static void prepare(const escape_victims *victims, const struct row *row, bool only_shown,
                    attempt *out) {
    out->artifact = hone_path_join(fixture.dir, "artifact.so");
    out->library = hone_path_join(fixture.dir, "library.so");
    escape_victims_write_library(victims, escapes, out->artifact, row->here, only_shown);
    escape_victims_write_library(victims, escapes, out->library, row->in_extern, only_shown);
    out->request = runner_fixture_request(&fixture, row->entry);
    out->request.artifact_path = out->artifact;
    if (row->in_extern == ESCAPE_NOWHERE) return;
    out->request.extern_path = out->library;
    out->request.manifest.extern_count = 1;
    out->request.manifest.externs = externs;
}

static void end_attempt(attempt *a) {
    hone_free(a->artifact);
    hone_free(a->library);
}

static void run_attempt(const escape_victims *victims, const struct row *row, bool unsandboxed,
                        hone_run_result *result) {
    attempt a;
    hone_runner *runner = make_runner(unsandboxed, row->without);
    prepare(victims, row, unsandboxed, &a);
    runner_fixture_run(runner, &a.request, result);
    hone_runner_destroy(runner);
    end_attempt(&a);
}

static void check_row(void **state) {
    const struct row *row = *state;
    escape_victims victims;
    hone_run_result result;
    hone_str changes = {0};
    escape_victims_init(&victims);
    run_attempt(&victims, row, false, &result);
    escape_victims_print_changes(&victims, &changes);
    escape_victims_deinit(&victims);
    hone_run_result_deinit(&result); /* keeps its message */
    bool holds = result.failure == HONE_FAILURE_NONE && !changes.length;
    char all[256];
    snprintf(all, sizeof all, "%s", hone_str_text(&changes));
    hone_str_deinit(&changes);
    if (holds) return;
    fail_msg("from %s: %s (%s); changed outside:%s", row->name, hone_failure_name(result.failure),
             result.message, all);
}

/* Where nothing holds it, what must succeed does, and is noticed outside: else the rows above would
 * pass whatever the sandbox did. */
static void shows_itself_unsandboxed(void **state) {
    static const char *const noticed[] = {"/file",    "/doomed", "priority",
                                          "affinity", "tcp",     "unix"};
    static const struct row row = {"a kernel", "attempt_here", ESCAPE_IN_CALL, ESCAPE_NOWHERE,
                                   NULL};
    escape_victims victims;
    hone_run_result result;
    hone_str changes = {0};
    (void)state;
    escape_victims_init(&victims);
    run_attempt(&victims, &row, true, &result);
    escape_victims_print_changes(&victims, &changes);
    escape_victims_deinit(&victims);
    if (result.failure != HONE_FAILURE_NONE) fail_msg("did not work: %s", result.message);
    for (size_t i = 0; i < sizeof noticed / sizeof *noticed; i++) {
        if (!strstr(hone_str_text(&changes), noticed[i])) {
            fail_msg("%s is not in:%s", noticed[i], hone_str_text(&changes));
        }
    }
    hone_run_result_deinit(&result);
    hone_str_deinit(&changes);
}

static int run_all(const char *who) {
    char group[64];
    const struct CMUnitTest shows[] = {cmocka_unit_test(shows_itself_unsandboxed)};
    snprintf(group, sizeof group, "runner/escapes as %s", who);
    runner_fixture_init(&fixture);
    escapes = hone_strdup(hone_test_build_path("tests/escapes.so"));
    int failed = HONE_RUN_ROWS(group, rows, check_row);
    failed += cmocka_run_group_tests_name(group, shows, NULL, NULL);
    hone_free(escapes);
    runner_fixture_deinit(&fixture);
    return failed;
}

/* run_all in a process that is nobody. */
static int run_as_nobody(void) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)) _exit(1);
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* reachable, as what a user starts is */
        if (access(hone_test_build_path("hone-runner"), X_OK) == 0) exit(run_all("nobody"));
        puts("# not as nobody, who cannot read what was built here");
        exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
    return WEXITSTATUS(status);
}

int main(void) {
    if (runner_fixture_is_emulated()) hone_test_skip_all("an emulator has no filter");
    if (geteuid() != 0) return run_all("user");
    int failed = run_as_nobody();
    return failed + run_all("root");
}
