/* lower/ground/pipelined.h - the annotations of software pipelines; inside lower/ only. */
#ifndef HONE_LOWER_GROUND_PIPELINED_H
#define HONE_LOWER_GROUND_PIPELINED_H

#include "ir/core/annotation.h"
#include "lower/ground/passes.h"

#define LOWER_PIPELINE_ASYNC "software_pipeline_async_stages"
/* A loop that overlaps if it can: its statements below LOWER_FILL go ahead by one iteration. */
#define LOWER_PIPELINE_WISH "hone.pipeline_wish"

/* ATTR nodes between the passes `stages` and `pipeline`. */
#define LOWER_PART "hone.pipeline_part" /* a statement that has a stage */
#define LOWER_NEST "hone.pipeline_nest" /* a pipelined loop inside of one: counts as three */
#define LOWER_FILL "hone.pipeline_fill" /* what stood below T.attr(…, "double_buffer_scope", …) */

/* An ATTR around copies of which no thread touches anything before the next sync but one: they need
 * no other. */
#define LOWER_APART "hone.apart"

/* A loop that is to be pipelined, or that wishes to be. */
bool lower_is_pipelined(const hone_node *node);
/* ALLOC, or DECL of memory of its own. */
bool lower_is_alloc(const hone_func *func, const hone_node *node);
/* An ATTR node with this key. */
bool lower_is_attr(const hone_node *node, const char *key);

/* Takes these annotations away; false when memory is short. */
bool lower_drop_pipeline(hone_func *func, hone_attrs *attrs);

#endif
