/* ir/interp/interp_number.c - numbers of every dtype: wrapping, rounding, arithmetic and casts.
 *
 * What is defined here where C or LLVM leave a choice:
 *   an operation on floats of 16 bits or less is one on float32, rounded to their type (of + - * /
 * and roots that is the nearest number of the type); min and max are  a < b ? a : b  and  a > b ? a
 * : b,  so with a NaN on either side the result is b; a float that does not fit the integer it is
 * cast to saturates, NaN becomes 0; and/or/Select evaluate all their operands (if_then_else does
 * not); floor division of floats is floor(a / b), floor modulo is a - b * floor(a / b); integer
 * division by zero is an error of the program, of the least integer by -1 wraps; shifts by the
 * width or more, or by less than 0, move all bits out.
 */
#include <math.h>

#include "ir/core/fold.h"
#include "ir/interp/interp_impl.h"
#include "support/data/float16.h"

int64_t wrap_slow(int64_t value, uint8_t bits, bool is_unsigned) {
    if (bits >= 64) return value;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t low = (uint64_t)value & mask;
    if (!is_unsigned && (low >> (bits - 1)) & 1) low |= ~mask;
    return (int64_t)low;
}

double round_slow(double value, hone_dtype dtype) {
    return hone_short_float_load(dtype, hone_short_float_store(dtype, value));
}

/* ---- binary operations ---- */

#define A_I (e->args[0]->eval.i(e->args[0], m))
#define B_I (e->args[1]->eval.i(e->args[1], m))
#define A_F (e->args[0]->eval.f(e->args[0], m))
#define B_F (e->args[1]->eval.f(e->args[1], m))

/* One function per operation and width: the widths that matter are known to the compiler. */
#define INT_OP(name, expression)                                                                   \
    static int64_t name##_i32(const xexpr *e, machine *m) {                                        \
        int64_t a = A_I, b = B_I;                                                                  \
        return (int32_t)(uint32_t)(uint64_t)(expression);                                          \
    }                                                                                              \
    static int64_t name##_i64(const xexpr *e, machine *m) {                                        \
        int64_t a = A_I, b = B_I;                                                                  \
        return (int64_t)(expression);                                                              \
    }                                                                                              \
    static int64_t name##_int(const xexpr *e, machine *m) {                                        \
        int64_t a = A_I, b = B_I;                                                                  \
        return wrap_slow((int64_t)(expression), e->bits, e->is_unsigned);                          \
    }
#define FLOAT_OP(name, expression)                                                                 \
    static double name##_f32(const xexpr *e, machine *m) {                                         \
        double a = A_F, b = B_F;                                                                   \
        return (double)(float)(expression);                                                        \
    }                                                                                              \
    static double name##_f64(const xexpr *e, machine *m) {                                         \
        double a = A_F, b = B_F;                                                                   \
        return (expression);                                                                       \
    }                                                                                              \
    static double name##_float(const xexpr *e, machine *m) {                                       \
        double a = A_F, b = B_F;                                                                   \
        return round_slow((expression), e->dtype);                                                 \
    }

/* What takes several steps rounds each of them: to float32, where the type is no wider. */
#define FLOAT_STEPS(name, expression, wide_expression)                                             \
    static double name##_f32(const xexpr *e, machine *m) {                                         \
        float a = (float)A_F, b = (float)B_F;                                                      \
        return (double)(expression);                                                               \
    }                                                                                              \
    static double name##_f64(const xexpr *e, machine *m) {                                         \
        double a = A_F, b = B_F;                                                                   \
        return (wide_expression);                                                                  \
    }                                                                                              \
    static double name##_float(const xexpr *e, machine *m) {                                       \
        return round_slow(name##_f32(e, m), e->dtype);                                             \
    }

static float product_f32(float a, float b) {
    return a * b; /* by itself: no fused multiply-add */
}

INT_OP(add, (uint64_t)a + (uint64_t)b)
INT_OP(sub, (uint64_t)a - (uint64_t)b)
INT_OP(mul, (uint64_t)a *(uint64_t)b)
INT_OP(min, a < b ? a : b)
INT_OP(max, a > b ? a : b)
FLOAT_OP(fadd, a + b)
FLOAT_OP(fsub, a - b)
FLOAT_OP(fmul, a *b)
FLOAT_OP(fdiv, a / b)
FLOAT_OP(fmin_, a < b ? a : b)
FLOAT_OP(fmax_, a > b ? a : b)
FLOAT_STEPS(ffloordiv, floorf(a / b), floor(a / b))
FLOAT_STEPS(ffloormod, a - product_f32(b, floorf(a / b)), a - b * floor(a / b))
FLOAT_OP(ftruncdiv, trunc(a / b))
FLOAT_OP(ftruncmod, fmod(a, b))

HONE_NORETURN static void fail_division(machine *m) {
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "division by zero"));
}

static inline int64_t trunc_div(machine *m, int64_t a, int64_t b) {
    if (b == 0) fail_division(m);
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t trunc_mod(machine *m, int64_t a, int64_t b) {
    if (b == 0) fail_division(m);
    return b == -1 ? 0 : a % b;
}
static inline int64_t floor_div(machine *m, int64_t a, int64_t b) {
    if (b == 0) fail_division(m);
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return hone_floor_div(a, b);
}
static inline int64_t floor_mod(machine *m, int64_t a, int64_t b) {
    if (b == 0) fail_division(m);
    if (b == -1) return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

INT_OP(floordiv, floor_div(m, a, b))
INT_OP(floormod, floor_mod(m, a, b))
INT_OP(truncdiv, trunc_div(m, a, b))
INT_OP(truncmod, trunc_mod(m, a, b))

#define COMPARE(name, op)                                                                          \
    static int64_t name##_i(const xexpr *e, machine *m) {                                          \
        int64_t a = A_I, b = B_I;                                                                  \
        return a op b;                                                                             \
    }                                                                                              \
    static int64_t name##_u(const xexpr *e, machine *m) {                                          \
        uint64_t a = (uint64_t)A_I, b = (uint64_t)B_I;                                             \
        return a op b;                                                                             \
    }                                                                                              \
    static int64_t name##_f(const xexpr *e, machine *m) {                                          \
        double a = A_F, b = B_F;                                                                   \
        return a op b;                                                                             \
    }
COMPARE(eq, ==)
COMPARE(ne, !=)
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)

/* The right side only where it matters, as generated code has it. */
static int64_t and_i(const xexpr *e, machine *m) {
    return A_I && B_I;
}
static int64_t or_i(const xexpr *e, machine *m) {
    return A_I || B_I;
}

/* uint64: what differs from int64 */
static int64_t div_u64(const xexpr *e, machine *m) {
    uint64_t a = (uint64_t)A_I, b = (uint64_t)B_I;
    if (b == 0) fail_division(m);
    return (int64_t)(a / b);
}
static int64_t mod_u64(const xexpr *e, machine *m) {
    uint64_t a = (uint64_t)A_I, b = (uint64_t)B_I;
    if (b == 0) fail_division(m);
    return (int64_t)(a % b);
}
static int64_t min_u64(const xexpr *e, machine *m) {
    uint64_t a = (uint64_t)A_I, b = (uint64_t)B_I;
    return (int64_t)(a < b ? a : b);
}
static int64_t max_u64(const xexpr *e, machine *m) {
    uint64_t a = (uint64_t)A_I, b = (uint64_t)B_I;
    return (int64_t)(a > b ? a : b);
}

typedef int64_t (*int_fn)(const xexpr *e, machine *m);
typedef double (*float_fn)(const xexpr *e, machine *m);

/* clang-format off */
static const struct op_row {
    int_fn i32, i64, other, u64;
    float_fn f32, f64, narrow;
} op_rows[HONE_OP_COUNT] = {
    [HONE_OP_ADD] = {add_i32, add_i64, add_int, add_i64, fadd_f32, fadd_f64, fadd_float},
    [HONE_OP_SUB] = {sub_i32, sub_i64, sub_int, sub_i64, fsub_f32, fsub_f64, fsub_float},
    [HONE_OP_MUL] = {mul_i32, mul_i64, mul_int, mul_i64, fmul_f32, fmul_f64, fmul_float},
    [HONE_OP_DIV] = {truncdiv_i32, truncdiv_i64, truncdiv_int, div_u64, fdiv_f32, fdiv_f64,
                     fdiv_float},
    [HONE_OP_FLOORDIV] = {floordiv_i32, floordiv_i64, floordiv_int, div_u64, ffloordiv_f32,
                          ffloordiv_f64, ffloordiv_float},
    [HONE_OP_FLOORMOD] = {floormod_i32, floormod_i64, floormod_int, mod_u64, ffloormod_f32,
                          ffloormod_f64, ffloormod_float},
    [HONE_OP_TRUNCDIV] = {truncdiv_i32, truncdiv_i64, truncdiv_int, div_u64, ftruncdiv_f32,
                          ftruncdiv_f64, ftruncdiv_float},
    [HONE_OP_TRUNCMOD] = {truncmod_i32, truncmod_i64, truncmod_int, mod_u64, ftruncmod_f32,
                          ftruncmod_f64, ftruncmod_float},
    [HONE_OP_MIN] = {min_i32, min_i64, min_int, min_u64, fmin__f32, fmin__f64, fmin__float},
    [HONE_OP_MAX] = {max_i32, max_i64, max_int, max_u64, fmax__f32, fmax__f64, fmax__float},
};
/* clang-format on */

static const struct compare_row {
    int_fn i, u, f;
} compare_rows[HONE_OP_COUNT] = {
    [HONE_OP_EQ] = {eq_i, eq_u, eq_f},
      [HONE_OP_NE] = {ne_i, ne_u, ne_f},
    [HONE_OP_LT] = {lt_i, lt_u, lt_f},
      [HONE_OP_LE] = {le_i, le_u, le_f},
    [HONE_OP_GT] = {gt_i, gt_u, gt_f},
      [HONE_OP_GE] = {ge_i, ge_u, ge_f},
};

void choose_binary(machine *m, xexpr *x, hone_op op, const xexpr *a) {
    (void)m;
    if (op == HONE_OP_AND || op == HONE_OP_OR) {
        x->eval.i = op == HONE_OP_AND ? and_i : or_i;
        return;
    }
    if (hone_op_is_compare(op)) {
        const struct compare_row *row = &compare_rows[op];
        x->eval.i = x_is_float(a) ? row->f : a->type == X_U64 ? row->u : row->i;
        return;
    }
    const struct op_row *row = &op_rows[op];
    switch ((xtype)x->type) {
    case X_I32:
        x->eval.i = row->i32;
        return;
    case X_I64:
    case X_HANDLE:
        x->eval.i = row->i64;
        return;
    case X_U64:
        x->eval.i = row->u64;
        return;
    case X_INT:
        x->eval.i = row->other;
        return;
    case X_F32:
        x->eval.f = row->f32;
        return;
    case X_F64:
        x->eval.f = row->f64;
        return;
    case X_FLOAT:
        x->eval.f = row->narrow;
        return;
    }
}

/* ---- casts ---- */

static int64_t cast_int(const xexpr *e, machine *m) {
    return wrap_to(e, A_I);
}
static int64_t cast_to_bool(const xexpr *e, machine *m) {
    return A_I != 0;
}
static int64_t cast_float_to_bool(const xexpr *e, machine *m) {
    return A_F != 0.0;
}
static double cast_float(const xexpr *e, machine *m) {
    return round_to(e, A_F);
}
static double cast_int_to_float(const xexpr *e, machine *m) {
    int64_t value = A_I;
    /* one rounding: int64 → f32 must not pass through f64 */
    return e->type == X_F32 ? (double)(float)value : round_to(e, (double)value);
}
static double cast_u64_to_float(const xexpr *e, machine *m) {
    uint64_t value = (uint64_t)A_I;
    return e->type == X_F32 ? (double)(float)value : round_to(e, (double)value);
}

static int64_t cast_float_to_int(const xexpr *e, machine *m) {
    double value = trunc(A_F);
    if (isnan(value)) return 0;
    if (e->is_unsigned) {
        double limit = ldexp(1.0, e->bits);
        if (value <= 0) return 0;
        if (value >= limit) return wrap_slow(-1, e->bits, true);
        return (int64_t)(uint64_t)value;
    }
    double limit = ldexp(1.0, e->bits - 1);
    int64_t most = (int64_t)((UINT64_C(1) << (e->bits - 1)) - 1);
    if (value >= limit) return most;
    if (value < -limit) return -most - 1;
    return (int64_t)value;
}

void choose_cast(machine *m, xexpr *x, const xexpr *from) {
    (void)m;
    bool to_bool = x->type == X_INT && x->bits == 1;
    if (x_is_float(x)) {
        if (x_is_float(from))
            x->eval.f = cast_float;
        else
            x->eval.f = from->type == X_U64 ? cast_u64_to_float : cast_int_to_float;
    } else if (x_is_float(from)) {
        x->eval.i = to_bool ? cast_float_to_bool : cast_float_to_int;
    } else {
        x->eval.i = to_bool ? cast_to_bool : cast_int;
    }
}
