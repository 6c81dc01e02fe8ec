/* tuner/reference.h - makes the check bundle of a task: inputs, reference outputs, error bounds.
 *
 * The reference is the unscheduled program widened to f64 and compiled plainly; it is itself
 * checked against the interpreter where that is quick. The bound of each output is hone_error_bound
 * of the largest deviation of the plainly compiled, unwidened program. For the tuner only.
 */
#ifndef HONE_TUNER_REFERENCE_H
#define HONE_TUNER_REFERENCE_H

#include "builder/builder.h"
#include "runner/runner.h"
#include "tuner/tune_task.h"

/* Writes work_dir/HASH.check and sets task->check_path. Builder and runner must be idle. A program
 * that has no reference (it fails to compile, crashes, times out) is UNSUPPORTED with the reason:
 * its candidates can't be checked. */
HONE_NODISCARD hone_status hone_make_reference(hone_tune_task *task, hone_builder *builder,
                                               hone_runner *runner, const char *target_text,
                                               const char *extern_path, const char *work_dir,
                                               uint64_t seed);

#endif
