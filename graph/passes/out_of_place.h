/* graph/passes/out_of_place.h - a program that changes what it is called with, as one that takes
 * that and gives what became of it. */
#ifndef HONE_GRAPH_PASSES_OUT_OF_PLACE_H
#define HONE_GRAPH_PASSES_OUT_OF_PLACE_H

#include "ir/core/module.h"

enum { HONE_MAX_RESULTS = 16 };

/* Which tensor parameters are inputs, and which results, by their number among those; the results
 * in their order. One may be both. */
typedef struct hone_param_use {
    uint32_t input_count, result_count;
    uint32_t inputs[64], results[HONE_MAX_RESULTS];
} hone_param_use;

/* How many parameters are tensors. */
uint32_t hone_func_tensor_count(const hone_func *func);
/* It stores to this tensor parameter. */
bool hone_func_changes(const hone_func *func, uint32_t tensor);
/* A copy in the arena with another name, which takes the inputs, then the results, then the
 * numbers; where a parameter is both, a new one is the input, and is copied into the result at
 * first. */
HONE_NODISCARD hone_status hone_func_out_of_place(const hone_func *func, const hone_param_use *use,
                                                  hone_arena *arena, const char *name,
                                                  hone_func **out_func);

/* Puts zeros into all of the parameter at first, in place. */
HONE_NODISCARD hone_status hone_func_begin_as_zeros(hone_func *func, hone_buffer buffer);

#endif
