/* support/data/float16.h - conversions between float32 and the short float formats, in integers
 * only.
 *
 * To a short format: round to nearest, ties to even; what is too large becomes infinity where the
 * format has one, else NaN (e4m3fn, the fnuz formats), else the largest number (float6, float4), as
 * OCP's formats without saturation do. NaNs stay NaN (quiet), and become -0 in float6 and float4.
 * float8_e8m0fnu holds powers of two: nearest, the middle goes up, what is below goes to the least;
 * zero and negative numbers are NaN. From a short format: exact. Conversions from double round once
 * (not through float32), so that oracles are exact.
 */
#ifndef HONE_SUPPORT_DATA_FLOAT16_H
#define HONE_SUPPORT_DATA_FLOAT16_H

#include <stdint.h>

#include "support/data/dtype.h"

/* Of any float type of at most 16 bits; the bits of one element, low ones first. */
double hone_short_float_load(hone_dtype dtype, uint32_t bits);
uint32_t hone_short_float_store(hone_dtype dtype, double value);

#endif
