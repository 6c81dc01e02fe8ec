/* tests/support_room/test_float16.c - short floats: every bit pattern there and back, and every
 * rounding boundary between neighbours, against the definition (nearest, ties to even). */
#include <math.h>

#include "support/data/float16.h"
#include "tests/support/hone_test.h"

/* One format, and facts. */
struct format_row {
    const char *name;           /* the dtype */
    uint32_t sign_bit, largest; /* the largest finite number */
    bool has_infinity;
};

static const struct format_row formats[] = {
    {"float16",       0x8000, 0x7bff, true },
    {"bfloat16",      0x8000, 0x7f7f, true },
    {"float8_e4m3fn", 0x80,   0x7e,   false},
    {"float8_e5m2",   0x80,   0x7b,   true },
};

static hone_dtype dtype_of(const struct format_row *f) {
    hone_dtype dtype;
    assert_true(hone_dtype_parse(f->name, &dtype));
    return dtype;
}

static double widen(const struct format_row *f, uint32_t bits) {
    return hone_short_float_load(dtype_of(f), bits);
}

static uint32_t narrow(const struct format_row *f, double value) {
    return hone_short_float_store(dtype_of(f), value);
}

static void check_round_trip(const struct format_row *f) {
    for (uint32_t bits = 0; bits <= f->largest; bits++) {
        double value = widen(f, bits);
        assert_int_equal(narrow(f, value), bits);
        assert_int_equal(narrow(f, -value), bits | f->sign_bit);
        assert_true(widen(f, bits | f->sign_bit) == -value);
    }
}

/* Between neighbours: the middle goes to the even one, a hair beside it to the nearer one. */
static void check_boundaries(const struct format_row *f) {
    for (uint32_t bits = 0; bits < f->largest; bits++) {
        double lo = widen(f, bits), hi = widen(f, bits + 1);
        double middle = lo + (hi - lo) / 2;
        uint32_t even = bits & 1 ? bits + 1 : bits;
        assert_true(lo < hi);
        assert_int_equal(narrow(f, middle), even);
        assert_int_equal(narrow(f, nextafter(middle, 0)), bits);
        assert_int_equal(narrow(f, nextafter(middle, INFINITY)), bits + 1);
    }
}

static void check_specials(const struct format_row *f) {
    double largest = widen(f, f->largest), below = widen(f, f->largest - 1);
    double half_step = (largest - below) / 2;
    uint32_t beyond = f->largest + 1; /* infinity, or NaN where there is none */
    assert_int_equal(narrow(f, nextafter(largest + half_step, 0)), f->largest);
    assert_int_equal(narrow(f, largest + 2 * half_step), beyond);
    assert_int_equal(narrow(f, 1e300), beyond);
    assert_int_equal(narrow(f, INFINITY), beyond);
    assert_int_equal(narrow(f, -INFINITY), beyond | f->sign_bit);
    assert_int_equal(isinf(widen(f, beyond)) != 0, f->has_infinity);
    assert_true(isnan(widen(f, narrow(f, (double)NAN))));
    assert_int_equal(narrow(f, 1e-300), 0);
    assert_int_equal(narrow(f, 4.9e-324), 0);
    assert_int_equal(narrow(f, -0.0), f->sign_bit);
    assert_true(signbit(widen(f, f->sign_bit)));
    assert_true(widen(f, narrow(f, 1)) == 1);
}

static void converts(void **state) {
    const struct format_row *f = *state;
    check_round_trip(f);
    check_boundaries(f);
    check_specials(f);
}

/* ---- the shorter formats ---- */

static const struct short_row {
    const char *name;  /* the dtype */
    uint32_t sign_bit; /* 0: none */
    uint32_t largest;  /* finite */
    uint32_t beyond;   /* what is too large */
    uint32_t nan;      /* NaN */
    uint32_t minus_zero;
    double one; /* the distance from 1 to the next number */
} shorts[] = {
    {"float8_e3m4",        0x80, 0x6f, 0x70, 0x78, 0x80, 0x1p-4},
    {"float8_e4m3",        0x80, 0x77, 0x78, 0x7c, 0x80, 0x1p-3},
    {"float8_e4m3fn",      0x80, 0x7e, 0x7f, 0x7f, 0x80, 0x1p-3},
    {"float8_e4m3fnuz",    0x80, 0x7f, 0x80, 0x80, 0x00, 0x1p-3},
    {"float8_e4m3b11fnuz", 0x80, 0x7f, 0x80, 0x80, 0x00, 0x1p-3},
    {"float8_e5m2fnuz",    0x80, 0x7f, 0x80, 0x80, 0x00, 0x1p-2},
    {"float6_e2m3fn",      0x20, 0x1f, 0x1f, 0x20, 0x20, 0x1p-3},
    {"float6_e3m2fn",      0x20, 0x1f, 0x1f, 0x20, 0x20, 0x1p-2},
    {"float4_e2m1fn",      0x08, 0x07, 0x07, 0x08, 0x08, 0x1p-1},
    {"float8_e8m0fnu",     0,    0xfe, 0xff, 0xff, 0xff, 1     },
};

static void check_numbers(const struct short_row *row, hone_dtype dtype) {
    for (uint32_t bits = 0; bits <= row->largest; bits++) {
        double value = hone_short_float_load(dtype, bits);
        assert_int_equal(hone_short_float_store(dtype, value), bits);
        if (row->sign_bit && bits) {
            assert_true(hone_short_float_load(dtype, bits | row->sign_bit) == -value);
            assert_int_equal(hone_short_float_store(dtype, -value), bits | row->sign_bit);
        }
        if (bits == row->largest) break;
        double next = hone_short_float_load(dtype, bits + 1), middle = value + (next - value) / 2;
        uint32_t to = row->sign_bit && !(bits & 1) ? bits : bits + 1; /* powers of two: up */
        assert_true(value < next);
        assert_int_equal(hone_short_float_store(dtype, middle), to);
        assert_int_equal(hone_short_float_store(dtype, nextafter(middle, 0)), bits);
        assert_int_equal(hone_short_float_store(dtype, nextafter(middle, INFINITY)), bits + 1);
    }
}

static void converts_short(void **state) {
    const struct short_row *row = *state;
    hone_dtype dtype;
    assert_true(hone_dtype_parse(row->name, &dtype));
    check_numbers(row, dtype);
    assert_int_equal(hone_short_float_store(dtype, 1e300), row->beyond);
    assert_int_equal(hone_short_float_store(dtype, INFINITY), row->beyond);
    assert_int_equal(hone_short_float_store(dtype, NAN), row->nan);
    assert_int_equal(hone_short_float_store(dtype, -0.0), row->minus_zero);
    assert_int_equal(hone_short_float_store(dtype, -1e-30), row->minus_zero);
    assert_int_equal(hone_short_float_store(dtype, 1e-300), 0);
    assert_true(hone_short_float_load(dtype, row->largest) == hone_dtype_max_float(dtype));
    uint32_t one = hone_short_float_store(dtype, 1.0);
    assert_true(hone_short_float_load(dtype, one + 1) - 1 == row->one);
    assert_true(hone_dtype_epsilon(dtype) == row->one);
}

/* float16 against the compiler's conversion is not possible with gcc 12 in C11 mode on every
 * machine; known values instead. */
static const struct known {
    const char *name;
    float value;
    uint16_t f16, bf16;
} known[] = {
    {"one third", 0.33333334f,   0x3555, 0x3eab},
    {"pi",        3.14159274f,   0x4248, 0x4049},
    {"65504",     65504.0f,      0x7bff, 0x4780},
    {"65519.99",  65519.996f,    0x7bff, 0x4780},
    {"65520",     65520.0f,      0x7c00, 0x4780},
    {"5.96e-8",   5.9604645e-8f, 0x0001, 0x3380},
    {"2.98e-8",   2.9802322e-8f, 0x0000, 0x3300},
};

static void knows(void **state) {
    const struct known *row = *state;
    assert_int_equal(hone_short_float_store(HONE_DTYPE_F16, (double)row->value), row->f16);
    assert_int_equal(hone_short_float_store(HONE_DTYPE_BF16, (double)row->value), row->bf16);
}

int main(void) {
    return HONE_RUN_ROWS("support/float16", formats, converts) +
           HONE_RUN_ROWS("support/float16 short", shorts, converts_short) +
           HONE_RUN_ROWS("support/float16 known", known, knows);
}
