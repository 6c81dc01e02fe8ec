/* ir/core/annotation.h - annotations that something here, or in TVM, acts on, and what they hold.
 * Threads: safe. */
#ifndef HONE_IR_CORE_ANNOTATION_H
#define HONE_IR_CORE_ANNOTATION_H

#include "ir/core/value.h"

/* Software pipelines: of each statement of the loop's body, by how many iterations it comes later,
 * and its place among those of one time. */
#define HONE_PIPELINE_STAGE "software_pipeline_stage"
#define HONE_PIPELINE_ORDER "software_pipeline_order"
enum { HONE_PIPELINE_MOST_STAGES = 64 };
/* Of a block: the place among the regions that it writes of a buffer with two copies. */
#define HONE_DOUBLE_BUFFER "double_buffer_scope"

/* Checks the value of a known annotation: NULL when it is of the right kind, or the key is unknown;
 * else what it must be ("a whole number"). */
const char *hone_annotation_misfit(const char *key, const hone_value *value);

#endif
