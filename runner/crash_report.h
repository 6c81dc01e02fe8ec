/* runner/crash_report.h - one line about why this process is about to die, on stderr.
 *
 * Signal handlers have no argument: this is the one place with a file-scope variable, and only the
 * executor process uses it.
 */
#ifndef HONE_RUNNER_CRASH_REPORT_H
#define HONE_RUNNER_CRASH_REPORT_H

#include "runner/trial.h"

/* Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL: says what and where, then dies of the same signal. The
 * bench must stay until the process ends. */
void hone_crash_report_install(const hone_trial_bench *bench);

#endif
