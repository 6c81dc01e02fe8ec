/* lower/lower_carry.c
 * needs: flat buffers, no blocks. keeps: what is computed. Indices of a vectorized loop that are
 * digits of a number (its quotient by a constant, its remainder) go straight on, or stand still, as
 * long as no digit carries; the loop is made twice:
 *
 *   for j in vectorized(16): Y[i * 16 + j] = X[i * 16 + j] + B[(i * 16 + j) % 1009]
 *     ⇒
 *   if i * 16 % 1009 + 15 < 1009:
 *       for j in vectorized(16): Y[i * 16 + j] = X[i * 16 + j] + B[i * 16 % 1009 + j]
 *   else: as it was
 *
 * so that loops which were fused and split again read vectors, or one number for all lanes, but
 * where a row ends. Rows of fewer than two vectors are left as they are. */
#include "lower/conditions.h"

enum { MAX_DIGITS = 8, MAX_LOOP_NODES = 100 };

typedef struct carry {
    lower_conditions scope; /* the variables below the loop, and the ranges of those around it */
    hone_var var;
    const hone_expr *min;
    int64_t extent;
    uint32_t count;
    const hone_expr *fits[MAX_DIGITS]; /* what must hold for no digit to carry */
} carry;

/* How far the loop takes a number that a constant divides, in all its iterations, and where it
 * begins. False when it is not linear in the loop, or known inside of it only. */
static bool find_steps(carry *c, const hone_expr *divided, const hone_expr **out_base,
                       int64_t *out_step) {
    lower_conditions *scope = &c->scope;
    if (!hone_linear_coeff(&scope->arith, divided, c->var, out_step) || *out_step < 1) return false;
    const hone_expr *base = hone_expr_substitute_one(&scope->arith.ir, divided, c->var, c->min);
    *out_base = base ? hone_simplify(&scope->arith, base) : NULL;
    return *out_base && !hone_expr_may_fail(*out_base) &&
           !hone_expr_uses_any(*out_base, scope->loops, scope->var_count) &&
           !hone_expr_uses_any(*out_base, scope->others, scope->var_count);
}

/* Notes what must hold; false when that is never so, or there is no more room. */
static bool note_fit(carry *c, const hone_expr *fit) {
    if (!fit || hone_expr_is_int_value(fit, 0)) return false;
    if (hone_expr_is_int(fit)) return true;
    for (uint32_t i = 0; i < c->count; i++) {
        if (hone_expr_same(c->fits[i], fit)) return true;
    }
    if (c->count == MAX_DIGITS) return false;
    c->fits[c->count++] = fit;
    return true;
}

/* How many iterations ago the loop began. */
static const hone_expr *iterations(const carry *c, hone_ir *ir, hone_dtype dtype) {
    const hone_expr *at = hone_func_var_expr(ir, c->scope.lower->func, c->var);
    if (!at) return NULL;
    return hone_expr_cast(ir, dtype, hone_expr_sub(ir, at, c->min));
}

/* x // n and x % n, where no iteration carries. */
static const hone_expr *without_carry(void *ctx, hone_ir *ir, const hone_expr *e) {
    carry *c = ctx;
    if (!hone_expr_is_divmod(e) || !hone_dtype_is_int(e->dtype) || e->dtype.lanes != 1) return e;
    const hone_expr *base;
    int64_t step, divisor = hone_expr_const(e->args[1]);
    if (divisor < 2 * c->extent || !find_steps(c, e->args[0], &base, &step)) return e;
    if (step > divisor / c->extent / 2) return e;
    const hone_expr *rest = hone_expr_binary(ir, HONE_OP_FLOORMOD, base, e->args[1]);
    const hone_expr *limit = hone_expr_int(ir, e->dtype, divisor - step * (c->extent - 1));
    const hone_expr *fit = hone_expr_binary(ir, HONE_OP_LT, rest, limit);
    if (!fit || !note_fit(c, hone_simplify(&c->scope.arith, fit))) return e;
    if (hone_expr_is_op(e, HONE_OP_FLOORDIV))
        return hone_expr_binary(ir, HONE_OP_FLOORDIV, base, e->args[1]);
    const hone_expr *gone = iterations(c, ir, e->dtype);
    const hone_expr *on =
        hone_expr_add(ir, rest, hone_expr_mul(ir, gone, hone_expr_int(ir, e->dtype, step)));
    return on ? hone_simplify(&c->scope.arith, on) : NULL;
}

typedef struct finder {
    hone_var var;
    bool is_found;
} finder;

static bool find_digit(void *ctx, const hone_expr *e) {
    finder *f = ctx;
    f->is_found = f->is_found || (hone_expr_is_divmod(e) && hone_expr_uses_var(e->args[0], f->var));
    return !f->is_found;
}

static void look_for_digit(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, find_digit, ctx);
}

static bool is_candidate(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_VECTORIZED) return false;
    if (!hone_expr_is_int(node->u.loop.range.min)) return false;
    if (hone_expr_const(node->u.loop.range.extent) < 2) return false;
    finder f = {.var = node->u.loop.var};
    hone_tree_walk_exprs(func, id, false, look_for_digit, &f);
    return f.is_found && lower_is_plain_code(func, id, MAX_LOOP_NODES);
}

/* *out_last: the node behind which to go on. */
static hone_status visit(carry *c, hone_node_id loop, hone_node_id *out_last) {
    hone_lower *lower = c->scope.lower;
    hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, loop);
    *out_last = loop;
    c->var = node->u.loop.var;
    c->min = node->u.loop.range.min;
    c->extent = hone_expr_const(node->u.loop.range.extent);
    c->count = 0;
    HONE_TRY(lower_enter(&c->scope, loop, HONE_NO_ID));
    hone_node_id slow = hone_tree_copy(func, loop);
    if (slow == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(hone_tree_transform(func, loop, without_carry, c, false));
    HONE_TRY(hone_ir_finish(&c->scope.arith.ir));
    if (c->count == 0) return HONE_OK; /* nothing changed, or nothing is to be asked */
    const hone_expr *all = NULL;
    for (uint32_t i = 0; i < c->count; i++)
        all = lower_and(&lower->ir, all, c->fits[i]);
    return lower_wrap_choice(lower, all, loop, slow, out_last);
}

hone_status lower_carry(hone_lower *lower) {
    hone_func *func = lower->func;
    if (hone_target_is_gpu(lower->options->target)) return HONE_OK; /* a lane is a thread's own */
    carry c = {.scope = {.lower = lower}};
    hone_arith_init(&c.scope.arith, func->arena);
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        next = hone_tree_next(func, 0, n);
        if (!is_candidate(func, n)) continue;
        hone_node_id last;
        HONE_TRY(visit(&c, n, &last));
        next = hone_tree_next_over(func, 0, last);
    }
    return hone_ir_finish(&c.scope.arith.ir);
}
