/* graph/frontend/nodes/strings/onnx_number_strings.c - casts of numbers to strings, as Python
 * writes them:
 * "-12", "True", "0.1", "1e-05", "1.2345679e+16", "inf", "nan". Of float32 and shorter, with as few
 * digits as give the number again.
 *
 *   x = 0.0625   e = -2: how many powers of ten above 1 it reaches
 *                with 1, 2, 3 digits   0.06, 0.062, 0.0625: the first that is x, so
 *                digits 625, of which there are 3
 *   index        0    1    2    3    4    5
 *   digit       -2   (dot) -1   0    1    2       below the first: '0'
 *
 * All is computed in columns [n, 1], beside indices [1, width]. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { LEAST_POWER = -46, MOST_POWER = 39, MOST_DIGITS = 9, LATE = 16, EARLY = -4, WIDTH = 24 };
enum { WHOLE_DIGITS = 20 };

/* ---- powers of ten ---- */

static hone_status power_table(onnx_reader *r, hone_dtype dtype, int64_t first, int64_t count,
                               hone_garg *out) {
    hone_tensor *tensor;
    uint64_t ten = 1;
    HONE_TRY(hone_tensor_create(dtype, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++, ten *= 10) {
        if (hone_dtype_is_float(dtype))
            hone_tensor_set_f64(tensor, i, pow(10, (double)(first + i)));
        else
            hone_tensor_set_i64(tensor, i, (int64_t)ten);
    }
    return onnx_add_constant(r, tensor, out);
}

/* 10 to the powers, whole numbers that are held within the table. */
static hone_status ten_to(onnx_reader *r, hone_dtype dtype, hone_garg powers, hone_garg *out) {
    const int64_t count = hone_dtype_is_float(dtype) ? MOST_DIGITS - LEAST_POWER : WHOLE_DIGITS;
    hone_garg table;
    HONE_TRY(power_table(r, dtype, 0, count, &table));
    HONE_TRY(onnx_with_scalar(r, "maximum", powers, 0, &powers));
    HONE_TRY(onnx_with_scalar(r, "minimum", powers, (double)(count - 1), &powers));
    return onnx_emit_take(r, table, powers, 0, out);
}

/* x * 10^power, by a product or a quotient, either of which rounds once. */
static hone_status scaled(onnx_reader *r, hone_garg x, hone_garg power, hone_garg *out) {
    hone_garg up, down, other, is_up;
    HONE_TRY(onnx_emit1(r, "negative", power, &other));
    HONE_TRY(ten_to(r, HONE_DTYPE_F64, power, &up));
    HONE_TRY(ten_to(r, HONE_DTYPE_F64, other, &down));
    HONE_TRY(onnx_emit2(r, "multiply", x, up, &up));
    HONE_TRY(onnx_emit2(r, "divide", x, down, &down));
    HONE_TRY(onnx_with_scalar(r, "greater", power, 0, &is_up));
    return onnx_emit_where(r, is_up, up, down, out);
}

/* ---- characters ---- */

typedef struct writer {
    hone_garg indices;      /* [1, width], less 1 where there is a sign: [n, width] */
    hone_garg is_negative;  /* [n, 1] */
    hone_garg digits;       /* a whole number */
    hone_garg count, power; /* of its digits; what the first one of them stands for, as of ten */
} writer;

/* Zero where it is not so. */
static hone_status keep(onnx_reader *r, hone_garg is_so, hone_garg *io) {
    hone_garg zero;
    HONE_TRY(onnx_scalar_like(r, io, 0, &zero));
    return onnx_emit_where(r, is_so, *io, zero, io);
}

/* Instead of *io where it is so. */
static hone_status put(onnx_reader *r, hone_garg is_so, int64_t number, hone_garg *io) {
    hone_garg other;
    HONE_TRY(onnx_scalar_like(r, io, (double)number, &other));
    return onnx_emit_where(r, is_so, other, *io, io);
}

static hone_status begin(onnx_reader *r, int64_t width, writer *w) {
    hone_garg sign;
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, width), 2, 1, &w->indices));
    HONE_TRY(onnx_emit_cast(r, w->is_negative, HONE_DTYPE_I64, &sign));
    return onnx_emit2(r, "subtract", w->indices, sign, &w->indices);
}

/* Digit number `which` of them, as a character; '0' beside them. */
static hone_status digit_at(onnx_reader *r, const writer *w, hone_garg which, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg behind, ten, ten_scalar, is_inside, is_there;
    HONE_TRY(onnx_info(r, &w->digits, &info));
    HONE_TRY(onnx_emit2(r, "subtract", w->count, which, &behind));
    HONE_TRY(onnx_with_scalar(r, "subtract", behind, 1, &behind));
    HONE_TRY(ten_to(r, info->dtype, behind, &ten));
    HONE_TRY(onnx_emit2(r, "floor_divide", w->digits, ten, out));
    HONE_TRY(onnx_scalar(r, info->dtype, 10, &ten_scalar));
    HONE_TRY(onnx_emit2(r, "mod", *out, ten_scalar, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I64, out));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", which, 0, &is_there));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", behind, 0, &is_inside));
    HONE_TRY(onnx_emit2(r, "logical_and", is_inside, is_there, &is_inside));
    HONE_TRY(keep(r, is_inside, out));
    return onnx_with_scalar(r, "add", *out, '0', out);
}

/* Nothing from index `length` on, a sign in front where there is one; bytes. */
static hone_status end(onnx_reader *r, const writer *w, hone_garg length, hone_garg *io) {
    hone_garg is_inside, is_before;
    HONE_TRY(onnx_emit2(r, "less", w->indices, length, &is_inside));
    HONE_TRY(keep(r, is_inside, io));
    HONE_TRY(onnx_with_scalar(r, "less", w->indices, 0, &is_before));
    HONE_TRY(put(r, is_before, '-', io));
    return onnx_emit_cast(r, *io, HONE_DTYPE_U8, io);
}

/* ---- whole numbers ---- */

static hone_status write_whole(onnx_reader *r, hone_garg x, bool is_signed, hone_garg *out) {
    writer w;
    hone_garg zero, less, table, reached;
    HONE_TRY(onnx_emit_cast(r, x, is_signed ? HONE_DTYPE_I64 : HONE_DTYPE_U64, &x));
    HONE_TRY(onnx_with_scalar(r, "less", x, 0, &w.is_negative));
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_U64, &x));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_U64, 0, &zero));
    HONE_TRY(onnx_emit2(r, "subtract", zero, x, &less));
    HONE_TRY(onnx_emit_where(r, w.is_negative, less, x, &w.digits));
    HONE_TRY(power_table(r, HONE_DTYPE_U64, 0, WHOLE_DIGITS, &table));
    HONE_TRY(onnx_emit2(r, "greater_equal", w.digits, table, &reached));
    HONE_TRY(onnx_emit_cast(r, reached, HONE_DTYPE_I64, &reached));
    HONE_TRY(onnx_emit_along(r, "sum", reached, -1, &w.count));
    HONE_TRY(onnx_with_scalar(r, "maximum", w.count, 1, &w.count));
    HONE_TRY(begin(r, WHOLE_DIGITS + 1, &w));
    HONE_TRY(digit_at(r, &w, w.indices, out));
    return end(r, &w, w.count, out);
}

/* ---- floats ---- */

/* The power of ten of the first digit; of 0: 0. */
static hone_status find_power(onnx_reader *r, hone_garg x, hone_garg *out) {
    hone_garg table, reached, is_zero;
    HONE_TRY(power_table(r, HONE_DTYPE_F64, LEAST_POWER, MOST_POWER - LEAST_POWER, &table));
    HONE_TRY(onnx_emit2(r, "greater_equal", x, table, &reached));
    HONE_TRY(onnx_emit_cast(r, reached, HONE_DTYPE_I64, &reached));
    HONE_TRY(onnx_emit_along(r, "sum", reached, -1, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, LEAST_POWER - 1, out));
    HONE_TRY(onnx_with_scalar(r, "equal", x, 0, &is_zero));
    return put(r, is_zero, 0, out);
}

/* x (float64, no sign, finite) in so many digits, and whether the type has the same number for it.
 */
static hone_status round_to(onnx_reader *r, hone_garg x, hone_garg power, int64_t digits,
                            hone_dtype dtype, hone_garg *out, hone_garg *out_is_same) {
    hone_garg up, down, back;
    HONE_TRY(onnx_emit1(r, "negative", power, &up));
    HONE_TRY(onnx_with_scalar(r, "add", up, (double)(digits - 1), &up));
    HONE_TRY(onnx_emit1(r, "negative", up, &down));
    HONE_TRY(scaled(r, x, up, out));
    HONE_TRY(onnx_emit1(r, "round", *out, out));
    HONE_TRY(scaled(r, *out, down, &back));
    HONE_TRY(onnx_emit_cast(r, back, dtype, &back));
    HONE_TRY(onnx_emit_cast(r, back, HONE_DTYPE_F64, &back));
    return onnx_emit2(r, "equal", back, x, out_is_same);
}

/* The fewest digits that are x; where they are a power of ten, the digit is 1. */
static hone_status find_digits(onnx_reader *r, hone_garg x, hone_dtype dtype, writer *w) {
    hone_garg found, is_same, next, is_power, count;
    HONE_TRY(round_to(r, x, w->power, MOST_DIGITS, dtype, &found, &is_same));
    HONE_TRY(onnx_with_scalar(r, "multiply", w->power, 0, &w->count));
    HONE_TRY(onnx_with_scalar(r, "add", w->count, MOST_DIGITS, &w->count));
    for (int64_t digits = MOST_DIGITS - 1; digits >= 1; digits--) {
        HONE_TRY(round_to(r, x, w->power, digits, dtype, &next, &is_same));
        HONE_TRY(onnx_emit_where(r, is_same, next, found, &found));
        HONE_TRY(put(r, is_same, digits, &w->count));
    }
    HONE_TRY(ten_to(r, HONE_DTYPE_F64, w->count, &next));
    HONE_TRY(onnx_emit2(r, "equal", found, next, &is_power));
    HONE_TRY(put(r, is_power, 1, &found));
    HONE_TRY(put(r, is_power, 1, &w->count));
    HONE_TRY(onnx_emit_cast(r, is_power, HONE_DTYPE_I64, &count));
    HONE_TRY(onnx_emit2(r, "add", w->power, count, &w->power));
    return onnx_emit_cast(r, found, HONE_DTYPE_I64, &w->digits);
}

/* "0.0625", "625.0": digits around a dot. */
static hone_status write_plain(onnx_reader *r, const writer *w, hone_garg *out,
                               hone_garg *out_length) {
    hone_garg dot, shift, which, is_behind, is_dot, most;
    HONE_TRY(onnx_with_scalar(r, "minimum", w->power, 0, &shift));
    HONE_TRY(onnx_with_scalar(r, "maximum", w->power, 0, &dot));
    HONE_TRY(onnx_with_scalar(r, "add", dot, 1, &dot));
    HONE_TRY(onnx_emit2(r, "greater", w->indices, dot, &is_behind));
    HONE_TRY(onnx_emit_cast(r, is_behind, HONE_DTYPE_I64, &is_behind));
    HONE_TRY(onnx_emit2(r, "subtract", w->indices, is_behind, &which));
    HONE_TRY(onnx_emit2(r, "add", which, shift, &which));
    HONE_TRY(digit_at(r, w, which, out));
    HONE_TRY(onnx_emit2(r, "equal", w->indices, dot, &is_dot));
    HONE_TRY(put(r, is_dot, '.', out));
    HONE_TRY(onnx_emit2(r, "subtract", w->count, shift, out_length));
    HONE_TRY(onnx_with_scalar(r, "add", dot, 1, &most));
    HONE_TRY(onnx_emit2(r, "maximum", *out_length, most, out_length));
    return onnx_with_scalar(r, "add", *out_length, 1, out_length);
}

/* Index `at` behind the mantissa of the character: its truths. */
static hone_status is_at(onnx_reader *r, const writer *w, hone_garg mantissa, int64_t at,
                         hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "add", mantissa, (double)at, &mantissa));
    return onnx_emit2(r, "equal", w->indices, mantissa, out);
}

/* "6.25e-05", "1e+16" */
static hone_status write_power(onnx_reader *r, const writer *w, hone_garg *out,
                               hone_garg *out_length) {
    hone_garg mantissa, which, is_behind, is_it, size, part, sign;
    HONE_TRY(onnx_with_scalar(r, "greater", w->count, 1, &is_it));
    HONE_TRY(onnx_emit_cast(r, is_it, HONE_DTYPE_I64, &mantissa));
    HONE_TRY(onnx_emit2(r, "add", mantissa, w->count, &mantissa));
    HONE_TRY(onnx_with_scalar(r, "greater", w->indices, 1, &is_behind));
    HONE_TRY(onnx_emit_cast(r, is_behind, HONE_DTYPE_I64, &is_behind));
    HONE_TRY(onnx_emit2(r, "subtract", w->indices, is_behind, &which));
    HONE_TRY(digit_at(r, w, which, out));
    HONE_TRY(onnx_with_scalar(r, "equal", w->indices, 1, &is_it));
    HONE_TRY(put(r, is_it, '.', out));
    HONE_TRY(is_at(r, w, mantissa, 0, &is_it));
    HONE_TRY(put(r, is_it, 'e', out));
    HONE_TRY(onnx_with_scalar(r, "less", w->power, 0, &sign));
    HONE_TRY(onnx_emit_cast(r, sign, HONE_DTYPE_I64, &sign));
    HONE_TRY(onnx_with_scalar(r, "multiply", sign, '-' - '+', &sign));
    HONE_TRY(onnx_with_scalar(r, "add", sign, '+', &sign));
    HONE_TRY(is_at(r, w, mantissa, 1, &is_it));
    HONE_TRY(onnx_emit_where(r, is_it, sign, *out, out));
    HONE_TRY(onnx_emit1(r, "abs", w->power, &size));
    for (int64_t i = 0; i < 2; i++) {
        HONE_TRY(onnx_with_scalar(r, i ? "mod" : "floor_divide", size, 10, &part));
        HONE_TRY(onnx_with_scalar(r, "add", part, '0', &part));
        HONE_TRY(is_at(r, w, mantissa, 2 + i, &is_it));
        HONE_TRY(onnx_emit_where(r, is_it, part, *out, out));
    }
    return onnx_with_scalar(r, "add", mantissa, 4, out_length);
}

/* A word of three letters where it is so. */
static hone_status put_word(onnx_reader *r, const writer *w, hone_garg is_so, const char *word,
                            hone_garg *io, hone_garg *length) {
    for (int64_t i = 0; i < 3; i++) {
        hone_garg is_it;
        HONE_TRY(onnx_with_scalar(r, "equal", w->indices, (double)i, &is_it));
        HONE_TRY(onnx_emit2(r, "logical_and", is_it, is_so, &is_it));
        HONE_TRY(put(r, is_it, word[i], io));
    }
    return put(r, is_so, 3, length);
}

/* Zeros have signs, too. */
static hone_status find_sign(onnx_reader *r, hone_garg x, hone_garg *out) {
    hone_garg one, turned;
    HONE_TRY(onnx_scalar_like(r, &x, 1, &one));
    HONE_TRY(onnx_emit2(r, "divide", one, x, &turned));
    HONE_TRY(onnx_with_scalar(r, "less", turned, 0, &turned));
    HONE_TRY(onnx_with_scalar(r, "less", x, 0, out));
    return onnx_emit2(r, "logical_or", *out, turned, out);
}

static hone_status write_float(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out) {
    writer w;
    hone_garg size, is_nan, is_infinite, is_late, is_early, plain, powers, length, other;
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_F64, &x));
    HONE_TRY(find_sign(r, x, &w.is_negative));
    HONE_TRY(onnx_emit1(r, "abs", x, &size));
    HONE_TRY(onnx_emit1(r, "isnan", size, &is_nan));
    HONE_TRY(onnx_with_scalar(r, "equal", size, (double)INFINITY, &is_infinite));
    HONE_TRY(put(r, is_nan, 0, &size));
    HONE_TRY(put(r, is_infinite, 0, &size));
    HONE_TRY(find_power(r, size, &w.power));
    HONE_TRY(find_digits(r, size, dtype, &w));
    HONE_TRY(begin(r, WIDTH, &w));
    HONE_TRY(write_plain(r, &w, &plain, &length));
    HONE_TRY(write_power(r, &w, &powers, &other));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", w.power, LATE, &is_late));
    HONE_TRY(onnx_with_scalar(r, "less", w.power, EARLY, &is_early));
    HONE_TRY(onnx_emit2(r, "logical_or", is_late, is_early, &is_late));
    HONE_TRY(onnx_emit_where(r, is_late, powers, plain, out));
    HONE_TRY(onnx_emit_where(r, is_late, other, length, &length));
    HONE_TRY(put_word(r, &w, is_nan, "nan", out, &length));
    HONE_TRY(put_word(r, &w, is_infinite, "inf", out, &length));
    return end(r, &w, length, out);
}

/* ---- truths ---- */

static hone_status write_truth(onnx_reader *r, hone_garg x, hone_garg *out) {
    static const char words[2][5] = {"False", "True"};
    static const int64_t shape[] = {2, 5};
    hone_tensor *tensor;
    hone_garg table;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_U8, 2, shape, &tensor));
    memcpy(tensor->data, words, sizeof words);
    HONE_TRY(onnx_add_constant(r, tensor, &table));
    HONE_TRY(onnx_emit_flat(r, x, &x));
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_I64, &x));
    return onnx_emit_take(r, table, x, 0, out);
}

hone_status onnx_strings_of_numbers(onnx_reader *r, hone_garg x, hone_garg *out) {
    const hone_sinfo *info, *made;
    const hone_expr *shape[HONE_MAX_RANK];
    hone_garg column;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_as_tensor(r, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    const hone_dtype dtype = info->dtype;
    const bool is_float = hone_dtype_is_float(dtype);
    if (info->rank == HONE_MAX_RANK || (is_float && dtype.bits != 32 && dtype.bits != 16))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "strings of %s", HONE_DTYPE_NAME(dtype));
    HONE_TRY(onnx_emit_flat(r, x, &column));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &column, 1, &last, &column));
    HONE_TRY(is_float                    ? write_float(r, column, dtype, out)
             : hone_dtype_is_bool(dtype) ? write_truth(r, column, out)
                                         : write_whole(r, column, !hone_dtype_is_uint(dtype), out));
    HONE_TRY(onnx_info(r, out, &made));
    memcpy(shape, info->shape, (size_t)info->rank * sizeof *shape);
    shape[info->rank] = made->shape[1];
    HONE_TRY(onnx_emit_reshape(r, *out, (uint32_t)info->rank + 1, shape, out));
    return onnx_text_of_bytes(r, *out, out);
}
