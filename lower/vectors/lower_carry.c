/* lower/vectors/lower_carry.c - the pass that makes vectors of digits which do not carry.
 * needs: flat buffers, no blocks. keeps: what is computed. Indices of a vectorized loop that are
 * digits of a number (its quotient by a constant, its remainder) go straight on, or stand still, as
 * long as no digit carries; the loop is made twice:
 *
 *   for j in vectorized(16): Y[i * 16 + j] = X[i * 16 + j] + B[(i * 16 + j) % 1009]
 *     ⇒
 *   if i * 16 % 1009 + 15 < 1009:
 *       for j in vectorized(16): Y[i * 16 + j] = X[i * 16 + j] + B[i * 16 % 1009 + j]
 *   else:
 *       for j in vectorized(16): Y[i * 16 + j] = X[i * 16 + j] + (
 *           B[i * 16 % 1009 + j] if i * 16 % 1009 + j < 1009 else B[i * 16 % 1009 + j - 1009])
 *
 * so that loops which were fused and split again read vectors, or one number for all lanes: one
 * vector, or two parts of them where a row ends. Where rows are of several lengths, none a multiple
 * of the others, or are counted by several numbers, the second loop is as it was. Rows of fewer
 * than two vectors have it alone; those of less than one are left as they are. */
#include "lower/ground/conditions.h"
#include "lower/vectors/digit.h"
#include "lower/vectors/vector_cut.h"

enum { MAX_DIGITS = 8, MAX_LOOP_NODES = 100 };

/* Which lanes digits are written for. */
typedef enum part {
    ALL,   /* no digit carries; what must hold for that is noted */
    FRONT, /* those in front of the end of the row */
    BACK   /* those behind it */
} part;

typedef struct carry {
    lower_scope scope; /* the variables below the loop, and the ranges of those around it */
    hone_var var;
    const hone_expr *min;
    int64_t extent, least; /* iterations; the shortest row that is looked at */
    part part;
    uint32_t count;
    const hone_expr *fits[MAX_DIGITS]; /* what must hold for no digit to carry */
    int64_t rows[MAX_DIGITS];          /* in rows of this length */
    lower_move number;                 /* that digits are taken of */
    int64_t row;                       /* the shortest */
    bool has_one_row;                  /* all other rows are whole numbers of the shortest */
    bool has_both;                     /* lanes in front of its end and behind it, always */
} carry;

/* Notes what must hold; false when that is never so, or there is no more room. */
static bool note_fit(carry *c, const hone_expr *fit, int64_t row) {
    if (!fit || hone_expr_is_int_value(fit, 0)) return false;
    if (hone_expr_is_int(fit)) return true;
    for (uint32_t i = 0; i < c->count; i++) {
        if (hone_expr_same(c->fits[i], fit)) return true;
    }
    if (c->count == MAX_DIGITS) return false;
    c->rows[c->count] = row;
    c->fits[c->count++] = fit;
    return true;
}

static void note_row(carry *c, lower_move move, int64_t divisor) {
    if (!c->number.start) {
        c->number = move;
        c->row = divisor;
        c->has_one_row = true;
    }
    c->has_one_row &= move.step == c->number.step && hone_expr_same(move.start, c->number.start);
    if (divisor % c->row != 0 && c->row % divisor != 0) c->has_one_row = false;
    if (divisor < c->row) c->row = divisor;
}

/* How far the loop has come: steps of all iterations so far. */
static const hone_expr *way_gone(const carry *c, hone_ir *ir, hone_dtype dtype, int64_t step) {
    const hone_expr *at = hone_func_var_expr(ir, c->scope.lower->func, c->var);
    if (!at) return NULL;
    const hone_expr *gone = hone_expr_cast(ir, dtype, hone_expr_sub(ir, at, c->min));
    return hone_expr_mul(ir, gone, hone_expr_int(ir, dtype, step));
}

/* x // n and x % n, where no iteration carries. */
static const hone_expr *straight_digit(carry *c, hone_ir *ir, const hone_expr *e, lower_move move) {
    if (hone_expr_is_op(e, HONE_OP_FLOORDIV)) return hone_expr_floordiv(ir, move.start, e->args[1]);
    const hone_expr *rest = hone_expr_floormod(ir, move.start, e->args[1]);
    return hone_expr_add(ir, rest, way_gone(c, ir, e->dtype, move.step));
}

/* The digit behind the end of a row of which n is a multiple: that row's number is one more. */
static const hone_expr *carried_digit(carry *c, hone_ir *ir, const hone_expr *e, lower_move move) {
    const hone_expr *row = hone_expr_int(ir, e->dtype, c->row);
    const hone_expr *rows = hone_expr_int(ir, e->dtype, e->args[1]->u.i / c->row);
    const hone_expr *next =
        hone_expr_add(ir, hone_expr_floordiv(ir, move.start, row), hone_expr_int(ir, e->dtype, 1));
    if (hone_expr_is_op(e, HONE_OP_FLOORDIV)) return hone_expr_floordiv(ir, next, rows);
    const hone_expr *begin = hone_expr_mul(ir, hone_expr_floormod(ir, next, rows), row);
    const hone_expr *rest = hone_expr_sub(ir, hone_expr_floormod(ir, move.start, row), row);
    return hone_expr_add(ir, hone_expr_add(ir, begin, rest), way_gone(c, ir, e->dtype, move.step));
}

/* Whether no digit of the loop carries in x // n or x % n. */
static const hone_expr *fit_of(carry *c, hone_ir *ir, const hone_expr *e, lower_move move) {
    const hone_expr *rest = hone_expr_floormod(ir, move.start, e->args[1]);
    const hone_expr *limit =
        hone_expr_int(ir, e->dtype, hone_expr_const(e->args[1]) - move.step * (c->extent - 1));
    const hone_expr *fit = hone_expr_binary(ir, HONE_OP_LT, rest, limit);
    return fit ? hone_simplify(&c->scope.arith, fit) : NULL;
}

static const hone_expr *without_carry(void *ctx, hone_ir *ir, const hone_expr *e) {
    carry *c = ctx;
    lower_digit d;
    lower_move move;
    if (!lower_digit_of(&c->scope.arith, e, c->var, &d) || d.divisor < c->least) return e;
    if (d.step < 1 || d.step > d.divisor / c->least) return e;
    if (!lower_move_of(&c->scope.arith, d.number, c->var, c->min, &move)) return e;
    if (hone_expr_may_fail(move.start) || lower_varies_below(&c->scope, move.start)) return e;
    if (c->part == ALL) {
        if (!note_fit(c, fit_of(c, ir, e, move), d.divisor)) return e;
        note_row(c, move, d.divisor);
    }
    const hone_expr *digit =
        c->part == BACK ? carried_digit(c, ir, e, move) : straight_digit(c, ir, e, move);
    return digit ? hone_simplify(&c->scope.arith, digit) : NULL;
}

/* ---- vectors that go over the end of a row ---- */

/* Whether the lane of an iteration is one in front of the end. */
static const hone_expr *is_front(carry *c, hone_ir *ir) {
    hone_dtype dtype = c->number.start->dtype;
    const hone_expr *row = hone_expr_int(ir, dtype, c->row);
    const hone_expr *rest = hone_expr_floormod(ir, c->number.start, row);
    const hone_expr *at = hone_expr_add(ir, rest, way_gone(c, ir, dtype, c->number.step));
    if (at) at = hone_simplify(&c->scope.arith, at);
    return hone_expr_binary(ir, HONE_OP_LT, at, row);
}

/* Whether parts of a vector of these elements can be loaded. */
static bool loads_parts(const carry *c, hone_dtype dtype) {
    const hone_target *target = c->scope.lower->options->target;
    return hone_target_has_feature(target, "avx512vl") ||
           (hone_target_has_feature(target, "avx2") && dtype.bits >= 32);
}

static const hone_expr *part_of(carry *c, hone_ir *ir, const hone_expr *e, part which) {
    c->part = which;
    return hone_expr_transform(ir, e, without_carry, c);
}

/* Whether an argument is evaluated wherever the expression is. */
static bool is_sure_argument(const hone_expr *e, uint16_t i) {
    bool is_logic = hone_expr_is_op(e, HONE_OP_AND) || hone_expr_is_op(e, HONE_OP_OR);
    return i == 0 || !(is_logic || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE));
}

/* is_sure: no condition holds the expression. */
static const hone_expr *in_two(carry *c, hone_ir *ir, const hone_expr *e, bool is_sure) {
    const hone_expr *front = part_of(c, ir, e, FRONT);
    if (!front || front == e) return front;
    bool is_load = e->kind == HONE_EXPR_LOAD;
    if (is_load || hone_expr_is_pure_index(e)) {
        const hone_expr *back = part_of(c, ir, e, BACK);
        const hone_expr *args[] = {is_front(c, ir), front, back};
        if (!args[0] || !back) return NULL;
        bool is_number = !hone_expr_uses_var(front, c->var) && !hone_expr_uses_var(back, c->var);
        if (!is_load || (is_number && is_sure && c->has_both))
            return hone_expr_select(ir, args[0], front, back);
        if (loads_parts(c, e->dtype))
            return hone_expr_call(ir, e->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
    }
    const hone_expr **args = hone_arena_alloc(ir->arena, e->count * sizeof *args);
    if (!args) return hone_ir_fail(ir, LOWER_NO_MEMORY());
    for (uint16_t i = 0; i < e->count; i++)
        args[i] = in_two(c, ir, e->args[i], is_sure && is_sure_argument(e, i));
    return hone_expr_with_args(ir, e, args);
}

/* The statements of a loop that does nothing but store, under conditions. */
static hone_status split_lanes(carry *c, hone_node_id loop) {
    hone_func *func = c->scope.lower->func;
    hone_ir *ir = &c->scope.arith.ir;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        hone_node *node = hone_func_node(func, n);
        bool is_sure = node->parent == loop;
        if (node->kind == HONE_NODE_IF)
            node->u.eval.value = in_two(c, ir, node->u.eval.value, is_sure);
        if (node->kind != HONE_NODE_STORE) continue;
        const hone_expr *index = in_two(c, ir, node->u.store.indices[0], is_sure);
        HONE_TRY(lower_set_store(func, n, index, in_two(c, ir, node->u.store.value, is_sure)));
    }
    return hone_ir_finish(ir);
}

static bool only_stores(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = hone_tree_next(func, loop, loop); n != HONE_NO_ID;
         n = hone_tree_next(func, loop, n)) {
        hone_node_kind kind = hone_func_node(func, n)->kind;
        if (kind != HONE_NODE_STORE && kind != HONE_NODE_IF && kind != HONE_NODE_ELSE) return false;
    }
    return true;
}

/* ---- */

static bool is_candidate(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    if (!lower_is_vector(func, id)) return false;
    if (!hone_expr_is_int(node->u.loop.range.min)) return false;
    if (hone_expr_const(node->u.loop.range.extent) < 2) return false;
    return lower_has_digit(func, id, node->u.loop.var) &&
           lower_is_plain_code(func, id, MAX_LOOP_NODES);
}

/* Makes the loop one whose digits do not carry. */
static hone_status go_straight(carry *c, hone_node_id loop, int64_t least) {
    hone_lower *lower = c->scope.lower;
    hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, loop);
    c->var = node->u.loop.var;
    c->min = node->u.loop.range.min;
    c->extent = hone_expr_const(node->u.loop.range.extent);
    c->least = least;
    c->part = ALL;
    c->count = 0;
    c->number.start = NULL;
    HONE_TRY(lower_enter(&c->scope, loop, HONE_NO_ID));
    HONE_TRY(hone_tree_transform(func, loop, without_carry, c, false));
    return hone_ir_finish(&c->scope.arith.ir);
}

/* *out_last: the node behind which to go on. */
static hone_status visit(carry *c, hone_node_id loop, hone_node_id *out_last) {
    hone_lower *lower = c->scope.lower;
    hone_func *func = lower->func;
    *out_last = loop;
    int64_t extent = hone_expr_const(hone_func_node(func, loop)->u.loop.range.extent);
    hone_node_id slow = hone_tree_copy(func, loop), twice = hone_tree_copy(func, loop);
    if (slow == HONE_NO_ID || twice == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(go_straight(c, twice, extent));
    bool has_parts = c->count > 0 && c->has_one_row && only_stores(func, loop);
    c->has_both = has_parts && c->row >= 2 * extent;
    if (has_parts && !c->has_both) return split_lanes(c, loop);
    HONE_TRY(go_straight(c, loop, has_parts ? extent : 2 * extent));
    if (c->count == 0) return HONE_OK; /* nothing changed, or nothing is to be asked */
    if (has_parts) HONE_TRY(split_lanes(c, slow));
    const hone_expr *all = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->has_one_row && c->rows[i] != c->row) continue; /* they end where this one does */
        all = lower_and(&lower->ir, all, c->fits[i]);
    }
    return all ? lower_wrap_choice(lower, all, loop, slow, out_last) : HONE_OK;
}

typedef struct short_row {
    carry *c;
    int64_t least, most; /* the rows that are looked for */
} short_row;

static bool is_short_row(const void *ctx, const hone_expr *e) {
    const short_row *r = ctx;
    lower_digit d;
    return lower_digit_of(&r->c->scope.arith, e, r->c->var, &d) && d.divisor >= r->least &&
           d.divisor < r->most && d.divisor % r->least != 0 && hone_expr_is_pure_index(d.number);
}

/* A loop of several vectors over rows that are shorter is cut into single ones first, of which some
 * are within a row. */
static hone_status cut_long(carry *c, hone_node_id loop) {
    hone_lower *lower = c->scope.lower;
    const hone_node *node = hone_func_node(lower->func, loop);
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    int64_t lanes = lower_vector_lanes(lower, loop);
    c->var = node->u.loop.var;
    if (extent <= lanes || !only_stores(lower->func, loop)) return HONE_OK;
    HONE_TRY(lower_enter(&c->scope, loop, HONE_NO_ID));
    const short_row rows = {.c = c, .least = lanes, .most = 2 * extent};
    bool has_short = hone_tree_find_part(lower->func, loop, false, is_short_row, &rows);
    return has_short ? lower_cut_vector(lower, loop, extent, lanes) : HONE_OK;
}

hone_status lower_carry(hone_lower *lower) {
    hone_func *func = lower->func;
    carry c = {.scope = {.lower = lower}};
    hone_arith_init(&c.scope.arith, func->arena);
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        next = hone_tree_next(func, 0, n);
        if (!is_candidate(func, n)) continue;
        hone_node_id last;
        HONE_TRY(cut_long(&c, n));
        HONE_TRY(visit(&c, n, &last));
        next = hone_tree_next_over(func, 0, last);
    }
    return hone_ir_finish(&c.scope.arith.ir);
}
