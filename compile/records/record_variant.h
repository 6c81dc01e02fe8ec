/* compile/records/record_variant.h - which variant of its program (schedule/variant/) a record is
 * about. */
#ifndef HONE_COMPILE_RECORDS_RECORD_VARIANT_H
#define HONE_COMPILE_RECORDS_RECORD_VARIANT_H

#include "schedule/variant/variant.h"

/* The variant that a trace (JSON or Python) begins with, its strings in the arena; *out_has is
 * false: none that there is today, or a text that is no trace, which a replay says better.
 * NO_MEMORY. */
HONE_NODISCARD hone_status hone_record_variant(const char *trace, hone_arena *arena,
                                               hone_variant *out, bool *out_has);
/* Whether the rules allow to use a record with this trace. */
HONE_NODISCARD hone_status hone_record_is_allowed(const char *trace,
                                                  const hone_variant_rules *rules,
                                                  bool *out_is_allowed);

#endif
