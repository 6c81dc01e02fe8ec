/* tools/run/suited_inputs.h - which whole numbers to make up for a program that is run without
 * inputs. */
#ifndef HONE_TOOLS_RUN_SUITED_INPUTS_H
#define HONE_TOOLS_RUN_SUITED_INPUTS_H

#include "tools/run/run_job.h"

/* Looks at the kernels that the inputs go to (ir/values/input_values.h), and notes in the job what
 * they want: indices in range, divisors that are not 0, offsets that rise. Nothing is noted for
 * floats, nor where the program cannot be prepared: running it says why. NO_MEMORY. */
HONE_NODISCARD hone_status hone_run_suit_inputs(hone_run_job *job, const hone_module *module);

/* Puts it into the wants of the same names. */
void hone_run_suit_wants(const hone_run_job *job, hone_cli_want *wants, size_t count);

#endif
