/* graph/frontend/nodes/strings/onnx_string_numbers.c - casts of strings to numbers: "-12.5e3",
 * "inf", "NaN" in letters of either case. What is no number is not noticed. Whole numbers are exact
 * where they are to be such; else all is computed in float64.
 *
 *   - 1 2 . 5 e 3       digits of the mantissa, by powers of ten: 1 * 100 + 2 * 10 + 5
 *     2 1   0           as many of them stand behind each; 1 of them behind the dot
 *                       times ten to the power of 3 - 1
 */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { MOST_POWER = 300, WHOLE_POWERS = 20 };

/* Truths of each byte, int64: 1 or 0. */
typedef struct letters {
    hone_garg bytes;
    hone_garg is_digit, is_behind_e, is_behind_dot;
} letters;

static hone_status as_ones(onnx_reader *r, hone_garg *io) {
    return onnx_emit_cast(r, *io, HONE_DTYPE_I64, io);
}

/* The letter, or its capital. */
static hone_status find(onnx_reader *r, hone_garg bytes, char letter, hone_garg *out) {
    bool is_letter = letter >= 'a' && letter <= 'z';
    hone_garg small, great;
    HONE_TRY(onnx_with_scalar(r, "equal", bytes, (double)letter, &small));
    HONE_TRY(onnx_with_scalar(r, "equal", bytes, (double)(letter - (is_letter ? 'a' - 'A' : 0)),
                              &great));
    HONE_TRY(onnx_emit2(r, "logical_or", small, great, out));
    return as_ones(r, out);
}

/* From there on. */
static hone_status since(onnx_reader *r, hone_garg ones, hone_garg *out) {
    HONE_TRY(onnx_emit_sums(r, ones, -1, out));
    return onnx_with_scalar(r, "minimum", *out, 1, out);
}

static hone_status both(onnx_reader *r, hone_garg a, hone_garg b, bool is_not, hone_garg *out) {
    if (is_not) {
        HONE_TRY(onnx_with_scalar(r, "equal", b, 0, &b));
        HONE_TRY(as_ones(r, &b));
    }
    return onnx_emit2(r, "multiply", a, b, out);
}

static hone_status total(onnx_reader *r, hone_garg x, hone_garg *out) {
    return onnx_emit_along(r, "sum", x, -1, out);
}

static hone_status read_letters(onnx_reader *r, hone_garg bytes, letters *out) {
    hone_garg low, high;
    out->bytes = bytes;
    HONE_TRY(onnx_with_scalar(r, "greater_equal", bytes, '0', &low));
    HONE_TRY(onnx_with_scalar(r, "less_equal", bytes, '9', &high));
    HONE_TRY(onnx_emit2(r, "logical_and", low, high, &out->is_digit));
    HONE_TRY(as_ones(r, &out->is_digit));
    HONE_TRY(find(r, bytes, 'e', &low));
    HONE_TRY(since(r, low, &out->is_behind_e));
    HONE_TRY(find(r, bytes, '.', &low));
    return since(r, low, &out->is_behind_dot);
}

static hone_status ten_to(onnx_reader *r, hone_garg power, hone_garg *out) {
    hone_garg ten;
    HONE_TRY(onnx_emit_cast(r, power, HONE_DTYPE_F64, &power));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F64, 10, &ten));
    return onnx_emit2(r, "power", ten, power, out);
}

/* ten_to in int64 or uint64; 0 where that is too great. */
static hone_status whole_ten_to(onnx_reader *r, hone_dtype dtype, hone_garg power, hone_garg *out) {
    hone_tensor *powers;
    hone_garg table;
    const int64_t count = WHOLE_POWERS;
    uint64_t ten = 1;
    HONE_TRY(hone_tensor_create(dtype, 1, &count, &powers));
    for (int64_t i = 0; i < count; i++, ten *= 10)
        hone_tensor_set_i64(powers, i,
                            i + 1 < count || hone_dtype_is_uint(dtype) ? (int64_t)ten : 0);
    HONE_TRY(onnx_add_constant(r, powers, &table));
    HONE_TRY(onnx_with_scalar(r, "minimum", power, WHOLE_POWERS - 1, &power));
    return onnx_emit_take(r, table, power, 0, out);
}

/* The whole number that those digits make, computed in float64, int64 or uint64. */
static hone_status digits_to_number(onnx_reader *r, const letters *l, hone_garg which,
                                    hone_dtype dtype, hone_garg *out) {
    hone_garg digits, behind, sum;
    HONE_TRY(onnx_emit_cast(r, l->bytes, HONE_DTYPE_I64, &digits));
    HONE_TRY(onnx_with_scalar(r, "subtract", digits, '0', &digits));
    HONE_TRY(onnx_emit2(r, "multiply", digits, which, &digits));
    HONE_TRY(total(r, which, &sum));
    HONE_TRY(onnx_emit_sums(r, which, -1, &behind));
    HONE_TRY(onnx_emit2(r, "subtract", sum, behind, &behind));
    HONE_TRY(hone_dtype_is_float(dtype) ? ten_to(r, behind, &behind)
                                        : whole_ten_to(r, dtype, behind, &behind));
    HONE_TRY(onnx_emit_cast(r, digits, dtype, &digits));
    HONE_TRY(onnx_emit2(r, "multiply", digits, behind, &digits));
    return total(r, digits, out);
}

/* -1 where there is a minus in front of the e (or behind it), else 1; as float64. */
static hone_status sign_of(onnx_reader *r, const letters *l, bool is_of_power, hone_garg *out) {
    hone_garg minus;
    HONE_TRY(find(r, l->bytes, '-', &minus));
    HONE_TRY(both(r, minus, l->is_behind_e, !is_of_power, &minus));
    HONE_TRY(total(r, minus, &minus));
    HONE_TRY(onnx_with_scalar(r, "multiply", minus, -2, &minus));
    HONE_TRY(onnx_with_scalar(r, "add", minus, 1, &minus));
    return onnx_emit_cast(r, minus, HONE_DTYPE_F64, out);
}

/* x * 10^power or x / 10^power, of powers that may be beyond those of float64: in two steps, the
 * second of which is by 1 for all others. */
static hone_status by_ten_to(onnx_reader *r, const char *op, hone_garg power, hone_garg *io) {
    hone_garg steps[2];
    HONE_TRY(onnx_with_scalar(r, "minimum", power, MOST_POWER, &steps[0]));
    HONE_TRY(onnx_emit2(r, "subtract", power, steps[0], &steps[1]));
    for (int i = 0; i < 2; i++) {
        HONE_TRY(ten_to(r, steps[i], &steps[i]));
        HONE_TRY(onnx_emit2(r, op, *io, steps[i], io));
    }
    return HONE_OK;
}

/* mantissa * 10^power; powers below 0 divide, which rounds once. */
static hone_status scale(onnx_reader *r, hone_garg mantissa, hone_garg power, hone_garg *out) {
    hone_garg is_great, size, great = mantissa, small = mantissa;
    HONE_TRY(onnx_with_scalar(r, "greater_equal", power, 0, &is_great));
    HONE_TRY(onnx_emit1(r, "abs", power, &size));
    HONE_TRY(by_ten_to(r, "multiply", size, &great));
    HONE_TRY(by_ten_to(r, "divide", size, &small));
    return onnx_emit_where(r, is_great, great, small, out);
}

static hone_status finite_number(onnx_reader *r, const letters *l, hone_garg *out) {
    hone_garg of_mantissa, of_power, of_fraction, mantissa, power, sign;
    HONE_TRY(both(r, l->is_digit, l->is_behind_e, true, &of_mantissa));
    HONE_TRY(both(r, l->is_digit, l->is_behind_e, false, &of_power));
    HONE_TRY(both(r, of_mantissa, l->is_behind_dot, false, &of_fraction));
    HONE_TRY(digits_to_number(r, l, of_mantissa, HONE_DTYPE_F64, &mantissa));
    HONE_TRY(digits_to_number(r, l, of_power, HONE_DTYPE_F64, &power));
    HONE_TRY(sign_of(r, l, true, &sign));
    HONE_TRY(onnx_emit2(r, "multiply", power, sign, &power));
    HONE_TRY(total(r, of_fraction, &of_fraction));
    HONE_TRY(onnx_emit_cast(r, of_fraction, HONE_DTYPE_F64, &of_fraction));
    HONE_TRY(onnx_emit2(r, "subtract", power, of_fraction, &power));
    return scale(r, mantissa, power, out);
}

/* The number where the letter is found. */
static hone_status instead(onnx_reader *r, const letters *l, char letter, double number,
                           hone_garg *io) {
    hone_garg is_there, other;
    HONE_TRY(find(r, l->bytes, letter, &is_there));
    HONE_TRY(total(r, is_there, &is_there));
    HONE_TRY(onnx_with_scalar(r, "greater", is_there, 0, &is_there));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F64, number, &other));
    return onnx_emit_where(r, is_there, other, *io, io);
}

static hone_status float_number(onnx_reader *r, const letters *l, hone_garg *out) {
    hone_garg sign;
    HONE_TRY(finite_number(r, l, out));
    HONE_TRY(instead(r, l, 'i', INFINITY, out));
    HONE_TRY(instead(r, l, 'a', NAN, out));
    HONE_TRY(sign_of(r, l, false, &sign));
    return onnx_emit2(r, "multiply", *out, sign, out);
}

/* What stands in front of the dot; with an e the float that it is, without its fraction. */
static hone_status whole_number(onnx_reader *r, const letters *l, hone_dtype dtype,
                                hone_garg *out) {
    hone_garg which, digits, sign, has_e, by_float, zero;
    HONE_TRY(both(r, l->is_digit, l->is_behind_dot, true, &which));
    HONE_TRY(digits_to_number(r, l, which, dtype, &digits));
    HONE_TRY(sign_of(r, l, false, &sign));
    HONE_TRY(onnx_emit_cast(r, sign, HONE_DTYPE_I64, &sign));
    HONE_TRY(onnx_emit_cast(r, sign, dtype, &sign));
    HONE_TRY(onnx_emit2(r, "multiply", digits, sign, &digits));
    HONE_TRY(total(r, l->is_behind_e, &has_e));
    HONE_TRY(onnx_with_scalar(r, "greater", has_e, 0, &has_e));
    HONE_TRY(float_number(r, l, &by_float));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F64, 0, &zero));
    HONE_TRY(onnx_emit_where(r, has_e, by_float, zero, &by_float));
    HONE_TRY(onnx_emit_cast(r, by_float, dtype, &by_float));
    return onnx_emit_where(r, has_e, by_float, digits, out);
}

hone_status onnx_numbers_of_strings(onnx_reader *r, const hone_garg *text, hone_dtype dtype,
                                    hone_garg *out) {
    letters l;
    hone_garg bytes;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    const hone_dtype wide = hone_dtype_is_uint(dtype) ? HONE_DTYPE_U64 : HONE_DTYPE_I64;
    HONE_TRY(onnx_text_bytes(r, text, &bytes));
    HONE_TRY(read_letters(r, bytes, &l));
    HONE_TRY(hone_dtype_is_integer(dtype) ? whole_number(r, &l, wide, out)
                                          : float_number(r, &l, out));
    HONE_TRY(onnx_emit(r, "squeeze", 1, out, 1, &last, out));
    return onnx_emit_cast(r, *out, dtype, out);
}
