/* lower/pipeline/fragment_copies.h - fragments of matrix units in pipelines: calls name them by the
 * data of a buffer and a number, so a copy is some numbers further on; inside lower/ only. */
#ifndef HONE_LOWER_PIPELINE_FRAGMENT_COPIES_H
#define HONE_LOWER_PIPELINE_FRAGMENT_COPIES_H

#include "lower/ground/passes.h"

/* tvm_load_matrix_sync and its kin: they touch what their arguments name, and nothing else. */
bool lower_is_fragment_call(const hone_expr *e);
/* Where the number of the fragment stands whose buffer's data is argument i of such a call; 0: that
 * is no fragment. */
uint16_t lower_fragment_number(const hone_expr *call, uint16_t i);
/* The buffer, no view, whose data the variable is; HONE_NO_ID: of none. */
hone_buffer lower_buffer_of_data(const hone_func *func, const hone_expr *data);
/* How many fragments the buffer holds, by a call that says their shape; 0 where none does, or they
 * do not fill it. */
int64_t lower_fragment_count(const hone_func *func, hone_buffer buffer);

#endif
