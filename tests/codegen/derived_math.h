/* tests/codegen/derived_math.h - functions of numbers that C does not have, in double. */
#ifndef HONE_TESTS_DERIVED_MATH_H
#define HONE_TESTS_DERIVED_MATH_H

#include <math.h>

static inline double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static inline double rsqrt_(double x) {
    return 1 / sqrt(x);
}
static inline double exp10_(double x) {
    return pow(10, x);
}

#endif
