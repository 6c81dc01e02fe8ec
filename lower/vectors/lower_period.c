/* lower/vectors/lower_period.c - the pass that unrolls loops over a period of digits.
 * needs: flat buffers, no blocks. keeps: what is computed. Digits of a vectorized loop that change
 * within a vector (elements of pixels of 3 channels, say) are the same numbers again after some
 * vectors: so many iterations of the loop around are taken together, unrolled.
 *
 *   for i in 2373: for j in vectorized(16): Y[i * 16 + j] = X[i * 16 + j] - m[(i * 16 + j) % 3]
 *     ⇒
 *   for i in 791: for u in unrolled(3): for j in vectorized(16):
 *       Y[i * 48 + u * 16 + j] = X[i * 48 + u * 16 + j] - m[(u * 16 + j) % 3]
 *
 * Which element of m a lane reads is then a constant, and a vector of them a shuffle, made once.
 * Iterations that are left over have a loop of their own. */
#include "ir/core/fold.h"
#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"
#include "lower/ground/split_loop.h"
#include "lower/vectors/digit.h"
#include "lower/vectors/vector_cut.h"

enum { MAX_VECTORS = 32 };

typedef struct period {
    hone_lower *lower;
    hone_arith arith;
    hone_var around, inner; /* variables of the two loops */
    int64_t extent;         /* of the inner one */
    int64_t iterations;     /* of the outer one, until the digits come again; 0 = there are none */
} period;

/* x // n or x % n that takes several values in a vector, and where x is, but for the two loops, a
 * multiple of n. */
static bool note_digit(void *ctx, const hone_expr *e) {
    period *p = ctx;
    lower_digit d;
    int64_t step;
    if (!lower_digit_of(&p->arith, e, p->inner, &d) || !hone_expr_is_pure_index(d.number))
        return true;
    if (d.divisor < 2 || d.divisor >= p->extent || d.step % d.divisor == 0) return true;
    if (!hone_linear_coeff(&p->arith, d.number, p->around, &step)) return true;
    hone_ir *ir = &p->arith.ir;
    const hone_expr *zero = hone_expr_int(ir, p->lower->func->vars[p->around].dtype, 0);
    const hone_expr *rest = hone_expr_substitute_one(ir, d.number, p->around, zero);
    zero = hone_expr_int(ir, p->lower->func->vars[p->inner].dtype, 0);
    rest = rest ? hone_expr_substitute_one(ir, rest, p->inner, zero) : NULL;
    rest = rest ? hone_simplify(&p->arith, rest) : NULL;
    if (!rest || hone_arith_modular(&p->arith, rest).coeff % d.divisor != 0) return true;
    int64_t own = d.divisor / hone_gcd(step, d.divisor);
    int64_t both = p->iterations ? p->iterations / hone_gcd(p->iterations, own) * own : own;
    if (both <= MAX_VECTORS) p->iterations = both;
    return true;
}

static const hone_expr *simplify_digit(void *ctx, hone_ir *ir, const hone_expr *e) {
    (void)ir;
    period *p = ctx;
    return hone_expr_is_divmod(e) && hone_expr_is_pure_index(e) ? hone_simplify(&p->arith, e) : e;
}

/* Of a choice stays what is done when its condition holds. */
static void keep_first(hone_func *func, hone_node_id choice) {
    if (lower_has_else(func, choice)) hone_tree_remove(func, hone_func_node(func, choice)->last);
    lower_splice(func, choice);
}

/* Iterations that are left over get a loop of their own. */
static hone_status set_apart(hone_lower *lower, hone_node_id loop, int64_t first, int64_t count) {
    hone_node_id rest;
    HONE_TRY(lower_cut_off(lower, loop, first, &rest));
    bool is_short = count <= MAX_VECTORS / 4;
    hone_func_node(lower->func, rest)->loop_kind = is_short ? HONE_LOOP_UNROLLED : HONE_LOOP_SERIAL;
    return HONE_OK;
}

/* The loop makes `times` iterations at once, as long as there are `most`. */
static hone_status take_together(period *p, hone_node_id loop, int64_t most, int64_t times) {
    hone_lower *lower = p->lower;
    hone_func *func = lower->func;
    hone_ir *ir = &lower->ir;
    int64_t extent = hone_expr_const(hone_func_node(func, loop)->u.loop.range.extent);
    int64_t whole = most / times, left = extent - whole * times;
    hone_var old = p->around;
    hone_dtype dtype = func->vars[old].dtype;
    if (left > 0) HONE_TRY(set_apart(lower, loop, whole * times, left));
    if (most < extent) keep_first(func, hone_func_node(func, loop)->first);
    const hone_expr *step;
    hone_var outer = hone_func_add_var(func, func->vars[old].name, dtype);
    hone_range range = lower_range(ir, dtype, 0, times);
    hone_node_id steps = lower_new_loop(lower, "step", HONE_LOOP_UNROLLED, range, &step);
    if (outer == HONE_NO_ID || steps == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *value = hone_expr_add(
        ir, hone_expr_mul(ir, hone_func_var_expr(ir, func, outer), hone_expr_int(ir, dtype, times)),
        step);
    HONE_TRY(hone_ir_finish(ir));
    hone_node *node = hone_func_node(func, loop);
    node->u.loop.var = outer;
    node->u.loop.range.extent = hone_expr_int(ir, dtype, whole);
    lower_wrap(func, node->first, steps);
    HONE_TRY(lower_substitute_one(func, steps, old, value));
    HONE_TRY(lower_bind_around(func, hone_func_node(func, steps)->first, &p->arith));
    HONE_TRY(hone_tree_transform(func, steps, simplify_digit, p, false));
    return hone_ir_finish(&p->arith.ir);
}

/* The iterations of the loop that are a vector and nothing else: all of them, or the first ones, a
 * choice being made between them and the last; 0 = it is no such loop. */
static int64_t vectors_in(const hone_func *func, hone_node_id loop, hone_node_id vector) {
    const hone_node *node = hone_func_node(func, loop);
    if (node->kind != HONE_NODE_FOR || node->first != node->last) return 0;
    bool is_plain = node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_PARALLEL;
    if (!is_plain || !hone_expr_is_int_value(node->u.loop.range.min, 0)) return 0;
    if (hone_tree_jump_of(func, loop, true) != HONE_NO_ID) return 0;
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    if (node->first == vector) return extent;
    const hone_node *choice = hone_func_node(func, node->first);
    if (choice->kind != HONE_NODE_IF || choice->first != vector) return 0;
    hone_node_id next = hone_func_node(func, vector)->next;
    if (next != HONE_NO_ID && hone_func_node(func, next)->kind != HONE_NODE_ELSE) return 0;
    const hone_expr *e = choice->u.eval.value;
    bool is_first = hone_expr_is_op(e, HONE_OP_LT) && e->args[0]->kind == HONE_EXPR_VAR &&
                    e->args[0]->u.var == node->u.loop.var;
    int64_t most = is_first ? hone_expr_const(e->args[1]) : 0;
    return most > 0 && most <= extent ? most : 0;
}

static hone_status visit(period *p, hone_node_id loop) {
    hone_func *func = p->lower->func;
    const hone_node *node = hone_func_node(func, loop);
    if (!lower_is_vector(func, loop)) return HONE_OK;
    hone_node_id around = node->parent;
    if (hone_func_node(func, around)->kind == HONE_NODE_IF)
        around = hone_func_node(func, around)->parent;
    int64_t most = vectors_in(func, around, loop);
    p->extent = hone_expr_const(node->u.loop.range.extent);
    if (p->extent < 2 || most < 2) return HONE_OK;
    p->inner = node->u.loop.var;
    p->around = hone_func_node(func, around)->u.loop.var;
    p->iterations = 0;
    hone_arith_clear(&p->arith);
    if (!hone_arith_bind_sizes(&p->arith, func)) return LOWER_NO_MEMORY();
    HONE_TRY(lower_bind_around(func, loop, &p->arith));
    hone_tree_walk_parts(func, loop, false, note_digit, p);
    HONE_TRY(hone_ir_finish(&p->arith.ir));
    int64_t vectors = p->extent / lower_vector_lanes(p->lower, loop);
    if (p->iterations < 2 || p->iterations > most) return HONE_OK;
    if (vectors > 0 && p->iterations > MAX_VECTORS / vectors) return HONE_OK;
    return take_together(p, around, most, p->iterations);
}

hone_status lower_period(hone_lower *lower) {
    period p = {.lower = lower};
    hone_arith_init(&p.arith, lower->func->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(lower->func, 0, n))
        HONE_TRY(visit(&p, n));
    return hone_ir_finish(&p.arith.ir);
}
