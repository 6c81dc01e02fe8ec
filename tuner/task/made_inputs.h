/* tuner/task/made_inputs.h - the inputs that the candidates of a task are checked and timed with:
 * given by the user, or made up so that they suit the program (ir/values/input_values.h).
 *
 * What is derived need not be right, so there are several fills to try, best first; running the
 * program is the judge. A fill is a generator, or values where none makes them: offsets rise from
 * end to end, places are distinct. The same seed gives the same fills. For the tuner only.
 */
#ifndef HONE_TUNER_MADE_INPUTS_H
#define HONE_TUNER_MADE_INPUTS_H

#include "ir/core/func.h"
#include "measure/generator.h"
#include "measure/manifest.h"
#include "support/data/tensor.h"

/* What the user gives for a buffer parameter of a task. */
typedef struct hone_given_input {
    const char *task;          /* its name */
    uint32_t arg;              /* which of its buffer parameters */
    const hone_tensor *tensor; /* of its dtype and shape; not owned */
} hone_given_input;

typedef struct hone_made_input {
    hone_generator generator;
    const void *values; /* NULL = as the generator makes it; else all elements */
} hone_made_input;

typedef struct hone_made_inputs {
    hone_arena *arena; /* not owned */
    const hone_manifest *manifest;
    uint64_t seed;
    hone_made_input *items; /* per argument */
    const bool *is_given;
    const char *problem; /* what no values were found for, for people; NULL = all was found */
    struct hone_input_values *found; /* per parameter of the program */
    const uint32_t *params;          /* per argument: which parameter it is */
} hone_made_inputs;

/* Finds out what suits the program. manifest: of the program, built; both outlive the result, which
 * is in the arena. INVALID: what is given is an output. */
HONE_NODISCARD hone_status hone_made_inputs_derive(const hone_func *func, const char *task,
                                                   const hone_manifest *manifest, uint64_t seed,
                                                   const hone_given_input *given,
                                                   size_t given_count, hone_arena *arena,
                                                   hone_made_inputs *out_inputs);

/* Makes items the n-th fill; false when there is none (NO_MEMORY in *out_status, or HONE_OK). */
bool hone_made_inputs_fill(hone_made_inputs *inputs, uint32_t n, hone_status *out_status);

#endif
