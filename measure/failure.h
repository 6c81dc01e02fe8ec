/* measure/failure.h - how a candidate can end: the one enum that is stored, shown and exported.
 *
 * A failure of a candidate is data, never an hone_status.
 */
#ifndef HONE_MEASURE_FAILURE_H
#define HONE_MEASURE_FAILURE_H

#include <stdbool.h>

#include "support/core/attributes.h"

typedef enum hone_failure {
#define HONE_FAILURE(name, spelling, whose, meaning) HONE_FAILURE_##name,
#include "measure/failures.def"
#undef HONE_FAILURE
    HONE_FAILURE_COUNT
} hone_failure;

/* Whose fault an outcome is. Only the candidate's own is remembered against it: what a machine does
 * is tried again, elsewhere if there is another one. */
typedef enum hone_fault {
    HONE_FAULT_NOBODY,
    HONE_FAULT_CANDIDATE,
    HONE_FAULT_MACHINE,
} hone_fault;

/* "ok" (also what databases call it), "build_error", …; "unknown" for a number that is none. */
const char *hone_failure_name(hone_failure failure);
/* One sentence for people. */
const char *hone_failure_meaning(hone_failure failure);
hone_fault hone_failure_fault(hone_failure failure);
/* False when there is no failure of that name. */
HONE_NODISCARD bool hone_failure_parse(const char *name, hone_failure *out_failure);

#endif
