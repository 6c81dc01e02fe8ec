/* lower/pipelined.h - the annotations of software pipelines; inside lower/ only. */
#ifndef HONE_LOWER_PIPELINED_H
#define HONE_LOWER_PIPELINED_H

#include "lower/passes.h"

#define LOWER_PIPELINE_STAGE "software_pipeline_stage"
#define LOWER_PIPELINE_ORDER "software_pipeline_order"
#define LOWER_PIPELINE_ASYNC "software_pipeline_async_stages"
#define LOWER_DOUBLE_BUFFER "double_buffer_scope"

/* ATTR nodes between the passes `stages` and `pipeline`. */
#define LOWER_PART "hone.pipeline_part" /* a statement that has a stage */
#define LOWER_NEST "hone.pipeline_nest" /* a pipelined loop inside of one: counts as three */

/* A loop that is to be pipelined. */
bool lower_is_pipelined(const hone_node *node);
/* An ATTR node with this key. */
bool lower_is_attr(const hone_node *node, const char *key);

/* Takes these annotations away; false when memory is short. */
bool lower_drop_pipeline(hone_func *func, hone_attrs *attrs);

#endif
