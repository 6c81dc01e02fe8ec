/* ir/values/input_fill.h - tensors of values that suit a program (input_values.h). */
#ifndef HONE_IR_VALUES_INPUT_FILL_H
#define HONE_IR_VALUES_INPUT_FILL_H

#include "ir/values/input_values.h"
#include "support/data/rng.h"
#include "support/data/tensor.h"

/* Offsets rise from end to end of the span, places are distinct, all else is drawn evenly.
 * strictly: no two offsets are alike, where there are numbers enough. The tensor's elements are
 * numbers of the span's type. false when memory is short. */
bool hone_input_values_fill(const hone_input_values *values, bool strictly, hone_arena *arena,
                            hone_rng *rng, hone_tensor *to);

#endif
