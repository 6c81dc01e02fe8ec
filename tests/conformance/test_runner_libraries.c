/* tests/conformance/test_runner_libraries.c - what computes goes on working inside the sandbox:
 * libm, OpenMP, a BLAS, what dlopen brings, a library beside the external one. */
#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"

enum { REPEATS = 10 }; /* threads that a library has left must not stumble when it is closed */

static runner_fixture fixture;

/* clang-format off */
static const struct row {
    const char *name, *library, *entry, *external, *without;
    bool is_optional; /* the library may not be on this machine */
} rows[] = {
    {"openmp", "candidate_libraries.so", "with_openmp", NULL, NULL, true},
    {"blas", "candidate_libraries.so", "with_blas", NULL, NULL, true},
    {"dlopen", "candidate_libraries.so", "with_dlopen", NULL, NULL, false},
    {"a sibling", "candidates.so", "with_extern", "candidate_with_sibling.so", NULL, false},
    {"openmp, alone", "candidate_libraries.so", "with_openmp", NULL, "user,namespaces,landlock",
     true},
    {"blas, alone", "candidate_libraries.so", "with_blas", NULL, "user,namespaces,landlock", true},
    {"dlopen, alone", "candidate_libraries.so", "with_dlopen", NULL, "user,namespaces,landlock",
     false},
    {"a sibling, alone", "candidates.so", "with_extern", "candidate_with_sibling.so",
     "user,namespaces,landlock", false},
};
/* clang-format on */

static char *built(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "tests/%s", name);
    return hone_strdup(hone_test_build_path(path));
}

static void check_row(void **state) {
    static const char *const externs[] = {"double_and_add"};
    const struct row *row = *state;
    char *library = built(row->library), *external = row->external ? built(row->external) : NULL;
    hone_runner *runner = NULL;
    hone_run_result result;
    const hone_runner_local_options options = {.executor_path = fixture.executor,
                                               .without = row->without};
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    hone_run_request request = runner_fixture_request(&fixture, row->entry);
    request.artifact_path = library;
    request.threads = 2;
    request.extern_path = external;
    if (external) request.manifest.extern_count = 1;
    if (external) request.manifest.externs = externs;
    result.failure = HONE_FAILURE_NONE;
    for (int i = 0; i < REPEATS && result.failure == HONE_FAILURE_NONE; i++) {
        runner_fixture_run(runner, &request, &result);
        hone_run_result_deinit(&result);
    }
    hone_runner_destroy(runner);
    hone_free(library);
    hone_free(external);
    if (row->is_optional && strstr(result.message, row->entry)) skip();
    if (result.failure != HONE_FAILURE_NONE) fail_msg("%s: %s", row->name, result.message);
}

int main(void) {
    if (runner_fixture_is_emulated()) hone_test_skip_all("an emulator has no filter");
    runner_fixture_init(&fixture);
    int failed = HONE_RUN_ROWS("runner/libraries", rows, check_row);
    runner_fixture_deinit(&fixture);
    return failed;
}
