/* tests/conformance/runner_fixture.h - what the runner's tests share: the built candidates, a
 * check bundle for them, requests. */
#ifndef HONE_TESTS_CONFORMANCE_RUNNER_FIXTURE_H
#define HONE_TESTS_CONFORMANCE_RUNNER_FIXTURE_H

#include "measure/check_bundle.h"
#include "runner/runner.h"

#define FIXTURE_COUNT 64

typedef struct runner_fixture {
    char *dir; /* temporary, removed at the end */
    char *bundle_path, *candidates, *externs, *die_at_load, *executor;
    const char *launcher[2]; /* one word or none */
    hone_arg args[2];
} runner_fixture;

void runner_fixture_init(runner_fixture *fixture);
void runner_fixture_deinit(runner_fixture *fixture);

/* A request for one entry of candidates.c, checked, with short timings and a timeout of 2 s. */
hone_run_request runner_fixture_request(const runner_fixture *fixture, const char *entry);

/* A local runner on the built hone-runner. The environment may name another machine's build:
 * HONE_TEST_BOARD, a directory with hone-runner and tests/candidates.so in it, and
 * HONE_TEST_LAUNCHER, the emulator that runs it. */
bool runner_fixture_is_emulated(void);
hone_runner *runner_fixture_local(const runner_fixture *fixture, int32_t slots);

/* Submits and waits for the answer (there must be no other in flight); the result is the caller's.
 */
void runner_fixture_run(hone_runner *runner, const hone_run_request *request,
                        hone_run_result *out_result);

#endif
