/* measure/generator.c - inputs from counters. */
#include "measure/generator.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "measure/manifest.h"
#include "support/data/hash.h"
#include "support/data/rng.h"
#include "support/data/tensor.h"

static const char *const names[HONE_GENERATOR_COUNT] = {"uniform", "integer", "constant", "iota"};

hone_generator hone_generator_default(hone_dtype dtype) {
    if (hone_dtype_is_float(dtype)) return (hone_generator){HONE_GENERATOR_UNIFORM, -1, 1};
    if (hone_dtype_is_bool(dtype)) return (hone_generator){HONE_GENERATOR_INTEGER, 0, 2};
    if (dtype.bits > 8) return (hone_generator){HONE_GENERATOR_INTEGER, 0, 8};
    if (hone_dtype_is_uint(dtype)) return (hone_generator){HONE_GENERATOR_INTEGER, 0, 16};
    return (hone_generator){HONE_GENERATOR_INTEGER, -8, 8};
}

double hone_generator_high(const hone_generator *generator) {
    bool is_whole = generator->kind == HONE_GENERATOR_INTEGER;
    return is_whole ? generator->high - 1 : generator->high;
}

static bool has_interval(hone_generator_kind kind) {
    return kind == HONE_GENERATOR_UNIFORM || kind == HONE_GENERATOR_INTEGER;
}

hone_status hone_generator_check(const hone_generator *generator) {
    if ((unsigned)generator->kind >= HONE_GENERATOR_COUNT) {
        return HONE_ERROR(HONE_CODE_INVALID, "generator kind %d is unknown", (int)generator->kind);
    }
    if (!isfinite(generator->low) || !isfinite(generator->high)) {
        return HONE_ERROR(HONE_CODE_INVALID, "generator '%s' has a bound that is not finite",
                          names[generator->kind]);
    }
    if (has_interval(generator->kind) && generator->low >= generator->high) {
        return HONE_ERROR(HONE_CODE_INVALID, "generator '%s' has no numbers from %g to %g",
                          names[generator->kind], generator->low, generator->high);
    }
    return HONE_OK;
}

/* Stream of (seed, tensor); element i is its i-th number, whatever was drawn before. */
static hone_rng stream_of(uint64_t seed, uint32_t tensor) {
    hone_rng root = hone_rng_from_seed(seed);
    return hone_rng_split(&root, tensor);
}

static double value_of(const hone_generator *g, hone_rng *rng, int64_t index) {
    if (g->kind == HONE_GENERATOR_CONSTANT) return g->low;
    if (g->kind == HONE_GENERATOR_IOTA) return g->low + (double)index;
    rng->counter = (uint64_t)index;
    double value = g->low + hone_rng_uniform(rng) * (g->high - g->low);
    return g->kind == HONE_GENERATOR_INTEGER ? floor(value) : value;
}

static double clamp_to(hone_dtype dtype, double value) {
    double low = (double)hone_dtype_min_int(dtype), high = (double)hone_dtype_max_int(dtype);
    return value < low ? low : value > high ? high : floor(value);
}

hone_status hone_generate(const hone_generator *generator, uint64_t seed, uint32_t tensor,
                          hone_dtype dtype, int64_t count, void *data) {
    HONE_TRY(hone_generator_check(generator));
    if (!hone_dtype_is_measurable(dtype)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "numbers of type '%s' cannot be made up",
                          HONE_DTYPE_NAME(dtype));
    }
    hone_rng rng = stream_of(seed, tensor);
    const size_t each = hone_dtype_bytes(dtype);
    const bool whole = hone_dtype_is_integer(dtype) || hone_dtype_is_bool(dtype);
    const bool is_f32 = hone_dtype_equal(dtype, HONE_DTYPE_F32);
    uint8_t *at = data;
    for (int64_t i = 0; i < count; i++, at += each) {
        double value = value_of(generator, &rng, i);
        if (is_f32) { /* most tensors: worth a shortcut */
            float rounded = (float)value;
            memcpy(at, &rounded, sizeof rounded);
        } else if (whole) {
            uint64_t aligned = 0;
            hone_element_set_i64(dtype, &aligned, (int64_t)clamp_to(dtype, value));
            memcpy(at, &aligned, each);
        } else {
            uint64_t aligned = 0;
            hone_element_set_f64(dtype, &aligned, value);
            memcpy(at, &aligned, each);
        }
    }
    return HONE_OK;
}
