/* ir/core/annotation.h - annotations that something here, or in TVM, acts on, and what they hold.
 * Threads: safe. */
#ifndef HONE_IR_CORE_ANNOTATION_H
#define HONE_IR_CORE_ANNOTATION_H

#include "ir/core/value.h"

/* What the value of a known annotation must be, "a whole number", when it is another; NULL when it
 * is right, or nobody knows the key. */
const char *hone_annotation_misfit(const char *key, const hone_value *value);

#endif
