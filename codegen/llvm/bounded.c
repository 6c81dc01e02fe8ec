/* codegen/llvm/bounded.c - which lanes of a row of numbers are below a bound, or not: the masks of
 * tails and borders whose sizes are not known.
 *
 *   i + [0, 1, 2, …] < n        is so for the first  n - i  lanes
 *
 * A number of lanes is computed once, as a scalar, and becomes a mask by a shift, or one comparison
 * of words; a comparison of 64-bit indices would take a register for each eight lanes. */
#include "codegen/llvm/gen.h"

enum { FEW_LANES = 4, MOST_LANES = 64 };

/* A row of numbers, first + lane * step, and what it is compared with. */
typedef struct bounded {
    const hone_expr *row, *bound;
    hone_op op; /* row op bound */
    int64_t step;
    unsigned lanes;
} bounded;

static bool is_order(hone_op op) {
    return op == HONE_OP_LT || op == HONE_OP_LE || op == HONE_OP_GT || op == HONE_OP_GE;
}

/* Which lanes are on is known: a constant mask says more to those who ask it (gen_lanes_on). */
static bool is_known(const bounded *b) {
    return b->row->args[0]->kind == HONE_EXPR_INT && b->bound->args[0]->kind == HONE_EXPR_INT;
}

/* Rows whose numbers do not wrap; steps that divide by a shift. */
static bool find(gen *g, const hone_expr *e, bounded *out) {
    const hone_expr *a = e->args[0], *b = e->args[1];
    bool is_mirrored = b->kind == HONE_EXPR_RAMP;
    if (!is_order((hone_op)e->op) || !hone_dtype_is_int(a->dtype)) return false;
    out->op = is_mirrored ? hone_op_mirrored((hone_op)e->op) : (hone_op)e->op;
    out->row = is_mirrored ? b : a;
    out->bound = is_mirrored ? a : b;
    out->lanes = e->dtype.lanes;
    if (out->row->kind != HONE_EXPR_RAMP || out->bound->kind != HONE_EXPR_BROADCAST ||
        is_known(out))
        return false;
    out->step = hone_expr_const(out->row->args[1]);
    bool is_shift = out->step > 0 && (out->step & (out->step - 1)) == 0;
    if (!is_shift || out->step > INT32_MAX || out->lanes <= FEW_LANES || out->lanes > MOST_LANES)
        return false;
    const hone_expr *first = out->row->args[0];
    const hone_expr *last =
        hone_expr_int(&g->ir, first->dtype, out->step * (int64_t)(out->lanes - 1));
    last = hone_expr_add(&g->ir, first, last);
    return last && hone_arith_is_exact(&g->arith, last) &&
           hone_arith_is_exact(&g->arith, out->bound->args[0]);
}

/* bound - first; where that is no int64, the one that is nearest: what comes with the call may be
 * any number. */
static LLVMValueRef difference(gen *g, const hone_expr *bound, const hone_expr *first) {
    LLVMValueRef sides[] = {gen_index(g, bound), gen_index(g, first)};
    bool is_plain = bound->dtype.bits < 64 || (hone_arith_bound(&g->arith, bound).min >= 0 &&
                                               hone_arith_bound(&g->arith, first).min >= 0);
    if (is_plain) return LLVMBuildNSWSub(g->builder, sides[0], sides[1], "");
    return gen_intrinsic(g, "llvm.ssub.sat", g->i64, sides, HONE_COUNT(sides));
}

static LLVMValueRef clamp(gen *g, LLVMValueRef value, int64_t least, int64_t most) {
    LLVMBuilderRef ir = g->builder;
    LLVMValueRef low = gen_i64(g, least), high = gen_i64(g, most);
    value = LLVMBuildSelect(ir, LLVMBuildICmp(ir, LLVMIntSLT, value, low, ""), low, value, "");
    return LLVMBuildSelect(ir, LLVMBuildICmp(ir, LLVMIntSLT, value, high, ""), value, high, "");
}

/* How many lanes are below the bound (or at it), from 0 to all of them. Clamped first: nothing that
 * is added wraps around then. */
static LLVMValueRef count_below(gen *g, const bounded *b) {
    LLVMBuilderRef ir = g->builder;
    int64_t takes_equal = b->op == HONE_OP_LE || b->op == HONE_OP_GT;
    int64_t last = (int64_t)(b->lanes - 1) * b->step;
    LLVMValueRef room = difference(g, b->bound->args[0], b->row->args[0]);
    room = clamp(g, room, -takes_equal, last + 1 - takes_equal);
    room = LLVMBuildNSWAdd(ir, room, gen_i64(g, b->step - 1 + takes_equal), "");
    return LLVMBuildAShr(ir, room, gen_i64(g, __builtin_ctzll((unsigned long long)b->step)), "");
}

/* A register for masks has as many bits. */
static bool has_bits(const gen *g, unsigned lanes) {
    bool is_long = lanes > 16;
    return (lanes == 8 || lanes == 16 || lanes == 32) &&
           hone_target_has_feature(g->target, is_long ? "avx512bw" : "avx512vl");
}

static LLVMValueRef first_lanes(gen *g, LLVMValueRef count, unsigned lanes) {
    LLVMBuilderRef ir = g->builder;
    if (has_bits(g, lanes)) {
        LLVMValueRef one = gen_i64(g, 1), bits = LLVMBuildShl(ir, one, count, "");
        bits = LLVMBuildTrunc(ir, LLVMBuildSub(ir, bits, one, ""),
                              LLVMIntTypeInContext(g->context, lanes), "");
        return LLVMBuildBitCast(ir, bits, LLVMVectorType(g->i1, lanes), "");
    }
    LLVMValueRef numbers[MOST_LANES];
    for (unsigned i = 0; i < lanes; i++)
        numbers[i] = gen_i32(g, (int32_t)i);
    count = gen_splat(g, LLVMBuildTrunc(ir, count, g->i32, ""), lanes);
    return LLVMBuildICmp(ir, LLVMIntSLT, LLVMConstVector(numbers, lanes), count, "");
}

LLVMValueRef gen_bounded_lanes(gen *g, const hone_expr *e) {
    bounded b;
    if (e->dtype.lanes <= 1 || !find(g, e, &b)) return NULL;
    LLVMValueRef below = first_lanes(g, count_below(g, &b), b.lanes);
    bool is_below = b.op == HONE_OP_LT || b.op == HONE_OP_LE;
    return is_below ? below : LLVMBuildNot(g->builder, below, "");
}

/* What is below 0 where a < b, or a <= b; NULL where it cannot be said. */
static const hone_expr *gap_of(gen *g, const hone_expr *a, const hone_expr *b, bool is_strict) {
    if (!hone_dtype_equal(a->dtype, b->dtype) || !hone_dtype_is_int(a->dtype)) return NULL;
    const hone_expr *gap = hone_expr_sub(&g->ir, a, b);
    if (!is_strict) gap = hone_expr_sub(&g->ir, gap, hone_expr_int(&g->ir, a->dtype, 1));
    return gap ? hone_simplify(&g->arith, gap) : NULL;
}

/* Whether a condition, or a part of it, says the same. */
static bool says(gen *g, const hone_expr *condition, const hone_expr *gap) {
    if (hone_expr_is_op(condition, HONE_OP_AND))
        return says(g, condition->args[0], gap) || says(g, condition->args[1], gap);
    bool is_less = hone_expr_is_op(condition, HONE_OP_LT);
    if (!is_less && !hone_expr_is_op(condition, HONE_OP_LE)) return false;
    const hone_expr *other = gap_of(g, condition->args[0], condition->args[1], is_less);
    return other && hone_expr_same(other, gap);
}

bool gen_first_lane_is_on(gen *g, const hone_expr *e) {
    bounded b;
    if (e->kind != HONE_EXPR_BINARY || e->dtype.lanes <= 1 || !find(g, e, &b)) return false;
    if (b.op != HONE_OP_LT && b.op != HONE_OP_LE) return false;
    const hone_expr *first = b.row->args[0], *bound = b.bound->args[0];
    const hone_expr *gap = gap_of(g, first, bound, b.op == HONE_OP_LT);
    if (!gap) return false;
    for (const gen_truth *t = g->truths; t; t = t->outer)
        if (says(g, t->condition, gap)) return true;
    return b.op == HONE_OP_LT ? hone_prove_less(&g->arith, first, bound)
                              : hone_prove_less_equal(&g->arith, first, bound);
}
