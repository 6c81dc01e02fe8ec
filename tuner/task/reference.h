/* tuner/task/reference.h - makes the check bundle of a task: inputs, reference outputs, error
 * bounds.
 *
 * The reference is the unscheduled program widened to f64 and compiled plainly; it is itself
 * checked against the interpreter where that is quick. The bound of each output is hone_error_bound
 * of the largest deviation of the plainly compiled, unwidened program. Inputs are the user's or
 * made up; where made-up ones do not suit the program, a few others are tried. For the tuner only.
 *
 * A program that takes longer that way than there is patience for is run by other ways in turn: of
 * a GPU's task by the device, its loops shared out to threads and nothing else; then by the CPU
 * with its default schedule on all cores. Both programs have the schedule then, so that their
 * deviation could hide what it breaks: it must be one that rounding explains
 * (hone_rounding_bound). A reference that is wrong nevertheless makes candidates fail, never
 * pass.
 */
#ifndef HONE_TUNER_REFERENCE_H
#define HONE_TUNER_REFERENCE_H

#include "builder/builder.h"
#include "runner/runner.h"
#include "tuner/task/made_inputs.h"
#include "tuner/task/tune_task.h"

typedef struct hone_reference_options {
    hone_builder *builder; /* idle, as the runners */
    hone_runner *runner;   /* a CPU */
    const hone_target *target;
    hone_runner *device_runner; /* a GPU that is tuned for; NULL: none is */
    const hone_target *device_target;
    int64_t patience_ns; /* for a program as it stands; 0 = a minute, or ten seconds where a device
                            may be faster */
    const char *extern_path, *work_dir;
    uint64_t seed;
    const hone_given_input *given; /* of all tasks */
    size_t given_count;
} hone_reference_options;

/* Writes work_dir/HASH.check and sets task->check_path. A program that has no reference (it fails
 * to compile, times out, no inputs suit it) is UNSUPPORTED with the reason: its candidates can't be
 * checked. INVALID: what is given for it is no input. */
HONE_NODISCARD hone_status hone_make_reference(hone_tune_task *task,
                                               const hone_reference_options *options);

#endif
