/* support/float16.h - conversions between float32 and the short float formats, in integers only.
 *
 * To a short format: round to nearest, ties to even; float16, bfloat16 and e5m2 overflow to
 * infinity; e4m3fn has no infinity, overflow (and infinity) gives NaN, as OCP FP8 without
 * saturation does. NaNs stay NaN (quiet). From a short format: exact. Conversions from double round
 * once (not through float32), so that oracles are exact.
 */
#ifndef HONE_SUPPORT_FLOAT16_H
#define HONE_SUPPORT_FLOAT16_H

#include <stdint.h>

float hone_f16_to_f32(uint16_t bits);
float hone_bf16_to_f32(uint16_t bits);
float hone_f8e4m3_to_f32(uint8_t bits);
float hone_f8e5m2_to_f32(uint8_t bits);

uint16_t hone_f16_from_f32(float value);
uint16_t hone_bf16_from_f32(float value);
uint8_t hone_f8e4m3_from_f32(float value);
uint8_t hone_f8e5m2_from_f32(float value);

uint16_t hone_f16_from_f64(double value);
uint16_t hone_bf16_from_f64(double value);
uint8_t hone_f8e4m3_from_f64(double value);
uint8_t hone_f8e5m2_from_f64(double value);

#endif
