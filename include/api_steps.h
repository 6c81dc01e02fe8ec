/* include/api_steps.h - what a hone_steps is, for the files that implement <hone/steps.h>. */
#ifndef HONE_INCLUDE_API_STEPS_H
#define HONE_INCLUDE_API_STEPS_H

#include "include/api.h"
#include "schedule/intrin/tensor_intrin.h"

/* The text so far is the state: adding to it applies all of it anew, so that names mean what they
 * meant; what was drawn is kept as decisions, and drawing goes on from where the schedule's rng is.
 */
struct hone_steps {
    hone_program *program; /* owned: where the function is from */
    const hone_func *func; /* in it: as it is at the beginning */
    hone_schedule *schedule;
    hone_tensor_intrins *intrins;
    hone_str text;
};

#endif
