/* compile/record_variant.h - which variant of its program (schedule/variant/) a record is about. */
#ifndef HONE_COMPILE_RECORD_VARIANT_H
#define HONE_COMPILE_RECORD_VARIANT_H

#include "schedule/variant/variant.h"

/* The variant that a trace (JSON or Python) begins with; NULL: none that there is today, or a text
 * that is no trace, which a replay says better. NO_MEMORY. */
HONE_NODISCARD hone_status hone_record_variant(const char *trace, const hone_variant **out);
/* Whether a record with this trace may be used where variants declare at most this error. */
HONE_NODISCARD hone_status hone_record_is_allowed(const char *trace, double most_error,
                                                  bool *out_is_allowed);

#endif
