/* lower/loops/borders.c - conditions of a tile that one comparison decides, asked around what the
 * tile adds up between two changes of it.
 *
 *   for y in 56:                                      y + dy is 1 … 56 for nearly all of them:
 *       S = 0                                         a choice around the loop over c costs
 *       for dy in 3:                                  nothing beside its work, and the rest of
 *           for c in 64: for x in unrolled(8):        the loop over y has no second copy
 *               S[x] += (A[y + dy - 1, c, x] if 1 <= y + dy < 57 else 0) * B[dy, c]
 *       Y[y] = S
 *
 * Conditions go by a sum of loops around the tile (y + dy). Its root is the outermost loop that
 * does nothing but the tile and is no part of the sum (that over c). lower_partition makes copies
 * of the root for the values of the sum beside the middle; loops of which the sum is made need none
 * on account of these conditions. What the tile adds up has to fit in the registers: more of it is
 * stored and loaded where control flow joins, beside each choice. */
#include "ir/core/fold.h"
#include "lower/loops/partitioning.h"

enum {
    MIN_WORK = 128,      /* of registers stored below the root, beside which a choice is nothing */
    MAX_WORK = 1 << 20,  /* counted no further */
    MAX_TERMS = 3,       /* of a sum whose values are told apart, */
    MAX_TRIED = 128,     /* and values of one */
    MAX_PARTIAL = 5,     /* values for which a condition holds in a part of the tile */
    MAX_VALUES = 1 << 16 /* of the sum */
};

hone_node_id lower_serial_around(const hone_func *func, hone_node_id loop) {
    hone_node_id up = hone_func_node(func, loop)->parent;
    const hone_node *node = hone_func_node(func, up);
    bool is_serial = node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_SERIAL;
    return is_serial && node->first == node->last ? up : HONE_NO_ID;
}

/* The tile of which the loop does nothing else, or HONE_NO_ID. */
static hone_node_id tile_of(const hone_func *func, hone_node_id loop) {
    hone_node_id n = loop;
    while (n != HONE_NO_ID && hone_func_node(func, n)->kind == HONE_NODE_FOR &&
           hone_func_node(func, n)->loop_kind == HONE_LOOP_SERIAL)
        n = lower_only_child(func, n);
    return n != HONE_NO_ID && lower_is_tile(func, n) ? n : HONE_NO_ID;
}

/* Registers that are stored below a node. */
static int64_t work_below(const lower_conditions *c, hone_node_id id) {
    const hone_func *func = c->scope.lower->func;
    const hone_node *node = hone_func_node(func, id);
    int64_t sum = node->kind == HONE_NODE_STORE;
    for (hone_node_id n = node->first; n != HONE_NO_ID; n = hone_func_node(func, n)->next)
        sum += work_below(c, n);
    if (node->kind != HONE_NODE_FOR || sum == 0) return sum < MAX_WORK ? sum : MAX_WORK;
    int64_t times = hone_expr_const(node->u.loop.range.extent);
    if (times < 0) times = 0; /* not known */
    if (times > MAX_WORK) times = MAX_WORK;
    int64_t lanes = hone_target_lanes(c->scope.lower->options->target, 32);
    if (node->loop_kind == HONE_LOOP_VECTORIZED) times = (times + lanes - 1) / lanes;
    return sum * times < MAX_WORK ? sum * times : MAX_WORK;
}

/* ---- the sum that a condition goes by ---- */

typedef struct sum {
    hone_linear terms; /* of loops around the root, no constant; the first coefficient is above 0,
                        * nothing divides all of them */
    int64_t scale;     /* the gap is scale * terms + what varies below the root */
    bool is_fixed;     /* nothing does */
} sum;

static bool find_sum(lower_scope *scope, const hone_expr *gap, sum *out) {
    hone_linear all;
    if (!gap || !hone_linear_of(&scope->arith, gap, &all)) return false;
    *out = (sum){.scale = 0, .is_fixed = true};
    out->terms.terms = hone_arena_alloc(scope->arith.ir.arena, (all.count + 1) * sizeof *all.terms);
    if (!out->terms.terms) return false;
    for (uint32_t i = 0; i < all.count; i++) {
        hone_linear_term t = all.terms[i];
        if (t.coeff == INT64_MIN || hone_expr_uses_any(t.term, scope->others, scope->var_count))
            return false;
        if (hone_expr_uses_any(t.term, scope->loops, scope->var_count)) {
            out->is_fixed = false;
            continue;
        }
        out->scale = hone_gcd(out->scale, t.coeff);
        out->terms.terms[out->terms.count++] = t;
    }
    if (out->terms.count < 2) return false; /* of one loop: lower_partition cuts that */
    if (out->terms.terms[0].coeff < 0) out->scale = -out->scale;
    for (uint32_t i = 0; i < out->terms.count; i++)
        out->terms.terms[i].coeff /= out->scale;
    return true;
}

static bool same_sum(const sum *a, const sum *b) {
    if (a->terms.count != b->terms.count) return false;
    for (uint32_t i = 0; i < a->terms.count; i++) {
        const hone_linear_term *s = &a->terms.terms[i], *t = &b->terms.terms[i];
        if (s->coeff != t->coeff || !hone_expr_same(s->term, t->term)) return false;
    }
    return true;
}

/* The root of a tile for this condition. */
static hone_node_id root_of(const hone_func *func, hone_node_id tile, const hone_expr *condition) {
    for (hone_node_id up; (up = lower_serial_around(func, tile)) != HONE_NO_ID; tile = up) {
        if (hone_expr_uses_var(condition, hone_func_node(func, up)->u.loop.var)) return tile;
    }
    return tile;
}

static bool is_other(void *ctx, const hone_expr *part) {
    return !hone_expr_same(ctx, part);
}

/* Statements are left out, not numbers: lower_clip ends loops by that. */
static bool leaves_out(const hone_func *func, hone_node_id root, const hone_expr *condition) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_IF &&
            !lower_conjuncts(node->u.eval.value, is_other, (void *)(uintptr_t)condition))
            return true;
    }
    return false;
}

/* Lists what goes by one sum, the first that there is, among the conditions below the root. */
static bool take_group(lower_border *b, lower_conditions *c, hone_node_id tile) {
    sum first = {0}, other;
    lower_scope *scope = &c->scope;
    for (uint32_t i = 0; i < c->count; i++) {
        const hone_expr *gap = lower_gap_of(&scope->arith, c->conditions[i]);
        if (root_of(scope->lower->func, tile, c->conditions[i]) != b->root) continue;
        if (!find_sum(scope, gap, &other)) continue;
        if (leaves_out(scope->lower->func, b->root, c->conditions[i])) continue;
        if (b->count == 0) first = other;
        if (!same_sum(&first, &other)) continue;
        b->is_fixed = (b->count == 0 || b->is_fixed) && other.is_fixed;
        b->scales[b->count] = other.scale;
        b->gaps[b->count] = gap;
        b->conditions[b->count++] = c->conditions[i];
    }
    if (b->count == 0) return false;
    b->sum = hone_linear_expr(&scope->arith, &first.terms, b->gaps[0]->dtype);
    return b->sum != NULL;
}

/* What is left of a gap without its part of the sum. */
static const hone_expr *rest_of(hone_arith *arith, const lower_border *b, uint32_t i) {
    hone_ir *ir = &arith->ir;
    const hone_expr *scale = hone_expr_int(ir, b->sum->dtype, b->scales[i]);
    const hone_expr *rest = hone_expr_sub(ir, b->gaps[i], hone_expr_mul(ir, b->sum, scale));
    return rest ? hone_simplify(arith, rest) : NULL;
}

/* Whether some values of the terms, from min to max each, make the sum; true where that is not
 * looked for, since there are too many. */
static bool is_reached(const hone_linear_term *terms, const hone_bound *bounds, uint32_t count,
                       int64_t whole) {
    if (count == 0) return whole == 0;
    if (count == 1) {
        int64_t value = whole / terms->coeff;
        return value * terms->coeff == whole && value >= bounds->min && value <= bounds->max;
    }
    if (count > MAX_TERMS || bounds->max - bounds->min > MAX_TRIED) return true;
    for (int64_t v = bounds->min; v <= bounds->max; v++) {
        if (is_reached(terms + 1, bounds + 1, count - 1, whole - v * terms->coeff)) return true;
    }
    return false;
}

/* For few values only a condition holds in a part of the tile: each of them may need a copy. */
static bool has_few_partial(hone_arith *arith, const lower_border *b, uint32_t i) {
    hone_linear linear;
    hone_bound bounds[MAX_TERMS], bound = {0, 0};
    const hone_expr *rest = rest_of(arith, b, i);
    if (rest) bound = hone_arith_bound(arith, rest);
    if (!rest || bound.min < -MAX_VALUES || bound.max > MAX_VALUES) return false;
    if (!hone_linear_of(arith, b->sum, &linear)) return false;
    for (uint32_t t = 0; t < linear.count && t < MAX_TERMS; t++)
        bounds[t] = hone_arith_bound(arith, linear.terms[t].term);
    int64_t count = 0;
    for (int64_t v = b->all.first; v < b->all.end && count <= MAX_PARTIAL; v++) {
        int64_t part = b->scales[i] * v;
        if (part + bound.min < 0 && part + bound.max >= 0)
            count += is_reached(linear.terms, bounds, linear.count, v - linear.constant);
    }
    return count <= MAX_PARTIAL;
}

hone_status lower_find_border(lower_conditions *c, hone_node_id root, lower_border *out) {
    const hone_func *func = c->scope.lower->func;
    const hone_target *target = c->scope.lower->options->target;
    hone_node_id tile = tile_of(func, root);
    *out = (lower_border){.root = root};
    if (tile == HONE_NO_ID || hone_target_is_gpu(target)) return HONE_OK;
    if (work_below(c, root) < MIN_WORK) return HONE_OK;
    if (work_below(c, tile) > hone_target_vector_registers(target)) return HONE_OK;
    HONE_TRY(lower_find_conditions(c, root, HONE_NO_ID, true));
    if (!take_group(out, c, tile)) return hone_ir_finish(&c->scope.arith.ir);
    hone_bound all = hone_arith_bound(&c->scope.arith, out->sum);
    bool is_good = all.min > -MAX_VALUES && all.max < MAX_VALUES;
    out->all = (lower_span){all.min, is_good ? all.max + 1 : all.max};
    for (uint32_t i = 0; i < out->count && is_good; i++)
        is_good = has_few_partial(&c->scope.arith, out, i);
    if (!is_good) out->count = 0;
    return hone_ir_finish(&c->scope.arith.ir);
}

/* ---- which conditions a loop leaves to borders ---- */

/* A loop between the one given and the root changes the condition. */
static bool changes_between(const hone_func *func, hone_node_id loop, hone_node_id root,
                            const hone_expr *condition) {
    for (hone_node_id n = hone_func_node(func, root)->parent; n != loop;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && hone_expr_uses_var(condition, node->u.loop.var))
            return true;
    }
    return false;
}

static bool is_same(const void *ctx, const hone_expr *e) {
    return hone_expr_same(ctx, e);
}

/* The condition of this tile below the loop is one of a border in the loop. */
static hone_status is_left_in(lower_conditions *scratch, hone_node_id loop, hone_node_id tile,
                              const hone_expr *condition, bool *out_is) {
    const hone_func *func = scratch->scope.lower->func;
    hone_node_id root = root_of(func, tile, condition);
    lower_border border;
    *out_is = false;
    for (hone_node_id n = tile; n != root; n = hone_func_node(func, n)->parent) {
        if (n == loop) return HONE_OK;
    }
    if (root == loop || !changes_between(func, loop, root, condition)) return HONE_OK;
    HONE_TRY(lower_find_border(scratch, root, &border));
    for (uint32_t i = 0; i < border.count && !*out_is; i++)
        *out_is = hone_expr_same(border.conditions[i], condition);
    return HONE_OK;
}

hone_status lower_is_left_to_borders(lower_conditions *scratch, hone_node_id loop,
                                     const hone_expr *condition, bool *out_is) {
    const hone_func *func = scratch->scope.lower->func;
    hone_node_id next;
    *out_is = false;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = next) {
        bool is_tile = lower_is_tile(func, n);
        next = is_tile ? hone_tree_next_over(func, loop, n) : hone_tree_next(func, loop, n);
        if (!is_tile || !hone_tree_find_part(func, n, false, is_same, condition)) continue;
        HONE_TRY(is_left_in(scratch, loop, n, condition, out_is));
        if (!*out_is) return HONE_OK;
    }
    return HONE_OK;
}

/* ---- conditions by the value of the sum ---- */

/* gap ⇒ scale * value + rest, below 0. */
static const hone_expr *by_value(hone_arith *arith, const lower_border *b, uint32_t i,
                                 const hone_expr *value) {
    hone_ir *ir = &arith->ir;
    const hone_expr *scale = hone_expr_int(ir, value->dtype, b->scales[i]);
    const hone_expr *gap = hone_expr_add(ir, hone_expr_mul(ir, value, scale), rest_of(arith, b, i));
    return gap ? hone_expr_binary(ir, HONE_OP_LT, gap, hone_expr_int(ir, gap->dtype, 0)) : NULL;
}

hone_status lower_go_by_sum(lower_conditions *c, lower_border *b, hone_var var) {
    hone_arith *arith = &c->scope.arith;
    hone_ir *ir = &arith->ir;
    const hone_expr *value = hone_func_var_expr(ir, c->scope.lower->func, var);
    if (!value || !hone_arith_bind_const(arith, var, b->all.first, b->all.end - 1))
        return LOWER_NO_MEMORY();
    c->count = b->count;
    for (uint32_t i = 0; i < b->count; i++) {
        const hone_expr *condition = by_value(arith, b, i, value);
        HONE_TRY(hone_ir_finish(ir));
        const hone_expr *most = lower_gap_range(c, condition).max;
        if (!most) return HONE_ERROR(HONE_CODE_INTERNAL, "a border without a limit");
        c->conditions[i] = b->by_sum[i] = condition;
        c->hoisted[i] = hone_expr_binary(ir, HONE_OP_LT, most, hone_expr_int(ir, most->dtype, 0));
    }
    return hone_ir_finish(ir);
}

/* ---- choices that take one side by all of the conditions ---- */

typedef struct chooser {
    const lower_border *border;
    uint32_t found; /* conditions of the border in the one looked at */
    bool is_joint;
} chooser;

static bool is_of_border(const lower_border *b, const hone_expr *e) {
    for (uint32_t i = 0; i < b->count; i++) {
        if (hone_expr_same(b->conditions[i], e) || hone_expr_same(b->by_sum[i], e)) return true;
    }
    return false;
}

static bool count_part(void *ctx, const hone_expr *part) {
    chooser *s = ctx;
    s->found += is_of_border(s->border, part);
    return true;
}

/* How many of the border's conditions a choice between numbers asks; 0: it is none. */
static uint32_t asked_by(chooser *s, const hone_expr *e) {
    s->found = 0;
    if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE) && e->dtype.lanes == 1)
        lower_conjuncts(e->args[0], count_part, s);
    return s->found;
}

static bool look_at(void *ctx, const hone_expr *e) {
    chooser *s = ctx;
    uint32_t count = asked_by(s, e);
    s->is_joint &= !is_of_border(s->border, e) && (count == 0 || count == s->border->count);
    if (count == 0) return true;
    hone_expr_walk(e->args[1], look_at, s);
    hone_expr_walk(e->args[2], look_at, s);
    return false; /* its conjuncts have been counted */
}

bool lower_border_is_joint(const hone_func *func, const lower_border *border) {
    chooser s = {.border = border, .is_joint = border->is_fixed};
    if (s.is_joint) hone_tree_walk_parts(func, border->root, false, look_at, &s);
    return s.is_joint;
}

static const hone_expr *take_other(void *ctx, hone_ir *ir, const hone_expr *e) {
    chooser s = {.border = ctx};
    (void)ir;
    return asked_by(&s, e) ? e->args[2] : e;
}

hone_status lower_border_fails(hone_func *func, hone_node_id root, const lower_border *border) {
    return hone_tree_transform(func, root, take_other, (void *)(uintptr_t)border, false);
}

/* ---- all others ---- */

static const hone_expr *put_by_sum(void *ctx, hone_ir *ir, const hone_expr *e) {
    const lower_border *b = ctx;
    (void)ir;
    if (!hone_dtype_is_bool(e->dtype) || e->dtype.lanes != 1) return e;
    for (uint32_t i = 0; i < b->count; i++) {
        if (hone_expr_same(b->conditions[i], e)) return b->by_sum[i];
    }
    return e;
}

hone_status lower_put_by_sum(hone_func *func, hone_node_id root, const lower_border *border) {
    return hone_tree_transform(func, root, put_by_sum, (void *)(uintptr_t)border, false);
}
