/* measure/generator.h - how input tensors are made up: the same bytes on every machine.
 *
 * Element i of a tensor is a function of (seed, tensor number, i) and the generator alone, so tuner
 * and runner agree on inputs without sending them. Thread-safe: no state.
 *
 *   uniform(-1, 1)   real numbers in [low, high); integers when the dtype has no fraction
 *   integer(0, 8)    whole numbers in [low, high): indices, class numbers, small counts
 *   constant(0)      the same value everywhere
 *   iota(0)          low, low + 1, …: for tests
 *
 * Values are rounded to the dtype (floats to nearest even, integers clamped to its range).
 */
#ifndef HONE_MEASURE_GENERATOR_H
#define HONE_MEASURE_GENERATOR_H

#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/data/dtype.h"

typedef enum hone_generator_kind {
    HONE_GENERATOR_UNIFORM,
    HONE_GENERATOR_INTEGER,
    HONE_GENERATOR_CONSTANT, /* low */
    HONE_GENERATOR_IOTA,     /* from low */
    HONE_GENERATOR_COUNT
} hone_generator_kind;

typedef struct hone_generator {
    hone_generator_kind kind;
    double low, high; /* high is not reached */
} hone_generator;

/* What fits a dtype when nothing better is known: floats uniform(-1, 1), bool integer(0, 2), 8-bit
 * integers integer(-8, 8) or (0, 16), wider ones integer(0, 8). A caller that knows that a tensor
 * holds indices gives integer(0, smallest extent that they index). */
hone_generator hone_generator_default(hone_dtype dtype);
/* The high end of what it gives: whole numbers stay below theirs. */
double hone_generator_high(const hone_generator *generator);

/* Fills `count` elements of tensor number `tensor`. `data` need not be aligned. UNSUPPORTED for a
 * dtype without numbers (handle, void) or more than one lane. */
HONE_NODISCARD hone_status hone_generate(const hone_generator *generator, uint64_t seed,
                                         uint32_t tensor, hone_dtype dtype, int64_t count,
                                         void *data);

/* INVALID: an unknown kind, a bound that is not finite, or low >= high where it is an interval. */
HONE_NODISCARD hone_status hone_generator_check(const hone_generator *generator);

#endif
