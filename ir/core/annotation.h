/* ir/core/annotation.h - annotations that something here, or in TVM, acts on, and what they hold.
 * Threads: safe. */
#ifndef HONE_IR_CORE_ANNOTATION_H
#define HONE_IR_CORE_ANNOTATION_H

#include "ir/core/value.h"

/* Checks the value of a known annotation: NULL when it is of the right kind, or the key is unknown;
 * else what it must be ("a whole number"). */
const char *hone_annotation_misfit(const char *key, const hone_value *value);

#endif
