/* tests/runner/farm/held_runner.h - a runner whose trials end when the test says so. */
#ifndef HONE_TESTS_RUNNER_FARM_HELD_RUNNER_H
#define HONE_TESTS_RUNNER_FARM_HELD_RUNNER_H

#include "runner/runner.h"

HONE_NODISCARD hone_status held_runner_create(hone_runner **out_runner);

/* The request that runs now, or NULL. */
const hone_run_request *held_runner_running(const hone_runner *runner);
/* How many it was given so far. */
int held_runner_started(const hone_runner *runner);
/* Ends what runs with one sample. */
void held_runner_finish(hone_runner *runner, double ns);
/* Ends what runs as a failure. */
void held_runner_fail(hone_runner *runner, hone_failure failure, const char *message);
/* As _finish, with so many bytes of outputs. */
void held_runner_finish_outputs(hone_runner *runner, size_t bytes);

#endif
