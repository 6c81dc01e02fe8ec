/* compile/records/variant_check.h - does a variant of a user's compute what the program computes?
 */
#ifndef HONE_COMPILE_RECORDS_VARIANT_CHECK_H
#define HONE_COMPILE_RECORDS_VARIANT_CHECK_H

#include "schedule/variant/variant.h"

/* Interprets the program and what the variant makes of it, with inputs at random that suit the
 * program, and compares: floats within what rounding explains (hone_rounding_bound) and what the
 * variant declares, all else exactly. Programs of more than 10^8 operations are too slow for that:
 * of these only the parameters are compared, and what is compiled is checked as all candidates are.
 * ILLEGAL: its parameters are others. INVALID: it computes something else, with an element, or
 * takes many times as many steps as the program, so that it may not end. */
HONE_NODISCARD hone_status hone_variant_check(const hone_variant *variant, const hone_func *func);

#endif
