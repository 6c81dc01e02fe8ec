/* tools/run/sizes_of_inputs.h - what the inputs that are given say of a model before it is read. */
#ifndef HONE_TOOLS_RUN_SIZES_OF_INPUTS_H
#define HONE_TOOLS_RUN_SIZES_OF_INPUTS_H

#include "tools/run/run_job.h"

/* The sizes of --shape, and what follows from the names of the inputs: x_0, x_1 and x_2 are a
 * sequence x of 3 tensors (x = 3), x has two dimensions (x.rank = 2). In the arena of the verb.
 * INVALID as of hone_dim_variants_parse, or when --shape gives a size several numbers. */
HONE_NODISCARD hone_status hone_run_sizes_of_inputs(hone_run_job *job,
                                                    const hone_graph_dim **out_dims,
                                                    size_t *out_count);
/* Adds to job->shapes the sizes that are 0 in the inputs given, and notes in the job which sizes
 * the program is made for: those of job->shapes that are 0, and those that something of 0 is
 * computed of, as n - 3 where n is 3. What is wrong with program or inputs is left to those who run
 * it. */
HONE_NODISCARD hone_status hone_run_note_empty(hone_run_job *job, const hone_module *module);

#endif
