/* tests/schedule/variant/variant_difference.h - how far two programs are apart. */
#ifndef HONE_TESTS_SCHEDULE_VARIANT_VARIANT_DIFFERENCE_H
#define HONE_TESTS_SCHEDULE_VARIANT_VARIANT_DIFFERENCE_H

#include "ir/core/func.h"

/* What rounding does to a program as it is, relative to the largest output. */
#define OWN_ERROR 4e-6

/* The largest difference of the last parameter relative to the largest number, with inputs of a
 * seed; INFINITY: a program does not run. */
double variant_difference(const hone_func *want, const hone_func *got, uint64_t seed);

#endif
