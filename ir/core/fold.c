/* ir/core/fold.c - see fold.h. */
#include "ir/core/fold.h"

int64_t hone_gcd(int64_t a, int64_t b) {
    if (a == INT64_MIN || b == INT64_MIN) return 1;
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

bool hone_fold_ints(hone_op op, int64_t x, int64_t y, int64_t *out) {
    bool divides = y != 0 && !(x == INT64_MIN && y == -1);
    switch (op) {
    case HONE_OP_ADD:
        return !__builtin_add_overflow(x, y, out);
    case HONE_OP_SUB:
        return !__builtin_sub_overflow(x, y, out);
    case HONE_OP_MUL:
        return !__builtin_mul_overflow(x, y, out);
    case HONE_OP_FLOORDIV:
        return divides ? (*out = hone_floor_div(x, y), true) : false;
    case HONE_OP_FLOORMOD:
        /* the product alone may be beyond int64: 1 // INT64_MIN is -1 */
        if (divides) *out = (int64_t)((uint64_t)x - (uint64_t)hone_floor_div(x, y) * (uint64_t)y);
        return divides;
    case HONE_OP_TRUNCDIV:
        return divides ? (*out = x / y, true) : false;
    case HONE_OP_TRUNCMOD:
        return divides ? (*out = x % y, true) : false;
    case HONE_OP_MIN:
        *out = x < y ? x : y;
        return true;
    case HONE_OP_MAX:
        *out = x > y ? x : y;
        return true;
    case HONE_OP_EQ:
        *out = x == y;
        return true;
    case HONE_OP_NE:
        *out = x != y;
        return true;
    case HONE_OP_LT:
        *out = x < y;
        return true;
    case HONE_OP_LE:
        *out = x <= y;
        return true;
    case HONE_OP_GT:
        *out = x > y;
        return true;
    case HONE_OP_GE:
        *out = x >= y;
        return true;
    case HONE_OP_AND:
        *out = x && y;
        return true;
    case HONE_OP_OR:
        *out = x || y;
        return true;
    default:
        return false;
    }
}

static bool is_large(hone_dtype dtype, int64_t value) {
    return hone_dtype_is_uint(dtype) && dtype.bits == 64 && value < 0;
}

/* What looks at the size of numbers of which one is 2^63 or more. */
static bool fold_large(hone_op op, uint64_t x, uint64_t y, int64_t *out) {
    bool is_quotient = op == HONE_OP_FLOORDIV || op == HONE_OP_TRUNCDIV;
    bool is_rest = op == HONE_OP_FLOORMOD || op == HONE_OP_TRUNCMOD;
    if (is_quotient || is_rest) {
        if (y != 0) *out = (int64_t)(is_quotient ? x / y : x % y);
        return y != 0;
    }
    switch (op) {
    case HONE_OP_MIN:
        *out = (int64_t)(x < y ? x : y);
        return true;
    case HONE_OP_MAX:
        *out = (int64_t)(x > y ? x : y);
        return true;
    default: /* by order alone */
        return hone_fold_ints(op, (x > y) - (x < y), 0, out);
    }
}

bool hone_fold_constants(hone_op op, hone_dtype dtype, int64_t x, int64_t y, int64_t *out) {
    bool has_large = is_large(dtype, x) || is_large(dtype, y);
    bool is_blind = op <= HONE_OP_MUL || op == HONE_OP_AND || op == HONE_OP_OR;
    if (!has_large || is_blind) return hone_fold_ints(op, x, y, out);
    return fold_large(op, (uint64_t)x, (uint64_t)y, out);
}

bool hone_fold_operation(const hone_expr *e, int64_t x, int64_t y, int64_t *out) {
    bool is_meant = hone_dtype_is_int(e->dtype) && e->dtype.bits >= 32; /* as a number */
    return hone_fold_constants((hone_op)e->op, e->args[0]->dtype, x, y, out) &&
           (is_meant || hone_dtype_holds(e->dtype, *out));
}

double hone_fold_to_float(hone_dtype from, int64_t value, hone_dtype to) {
    bool is_single = to.code == HONE_DTYPE_CODE_FLOAT && to.bits == 32;
    if (is_large(from, value))
        return is_single ? (double)(float)(uint64_t)value : (double)(uint64_t)value;
    return is_single ? (double)(float)value : (double)value;
}

bool hone_fold_bits(hone_intrin intrin, hone_dtype dtype, int64_t x, int64_t y, int64_t *out) {
    bool moves_some = y >= 0 && y < dtype.bits;
    switch (intrin) {
    case HONE_INTRIN_BITWISE_AND:
        *out = x & y;
        return true;
    case HONE_INTRIN_BITWISE_OR:
        *out = x | y;
        return true;
    case HONE_INTRIN_BITWISE_XOR:
        *out = x ^ y;
        return true;
    case HONE_INTRIN_SHIFT_RIGHT:
        *out = moves_some ? x >> y : 0;
        return moves_some;
    case HONE_INTRIN_SHIFT_LEFT:
        return moves_some && y < 63 && !__builtin_mul_overflow(x, (int64_t)1 << y, out) &&
               hone_dtype_holds(dtype, *out);
    default:
        return false;
    }
}

bool hone_fold_sizes(const hone_expr *e, const int64_t *sizes, uint32_t count, int64_t *out) {
    int64_t a, b;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        *out = e->u.i;
        return true;
    case HONE_EXPR_VAR:
        *out = e->u.var < count ? sizes[e->u.var] : -1;
        return *out >= 0;
    case HONE_EXPR_CAST:
        return hone_fold_sizes(e->args[0], sizes, count, out);
    case HONE_EXPR_BINARY:
        return hone_fold_sizes(e->args[0], sizes, count, &a) &&
               hone_fold_sizes(e->args[1], sizes, count, &b) &&
               hone_fold_ints((hone_op)e->op, a, b, out);
    case HONE_EXPR_CALL:
        return e->count == 2 && hone_fold_sizes(e->args[0], sizes, count, &a) &&
               hone_fold_sizes(e->args[1], sizes, count, &b) &&
               hone_fold_bits((hone_intrin)e->op, e->dtype, a, b, out);
    default:
        return false;
    }
}
