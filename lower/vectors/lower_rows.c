/* lower/vectors/lower_rows.c - the pass that cuts vectors by whole rows.
 * needs: no blocks, buffers with their dimensions. keeps: what is computed, in the same order.
 * Loops that were fused and cut into vectors again go over whole rows, where indices are digits of
 * the element's number (its quotient by a constant, its remainder):
 *
 *   for i in 139: for j in vectorized(16):
 *       if i * 16 + j < 2220:
 *           Y[(i * 16 + j) // 37, (i * 16 + j) % 37] = X[(i * 16 + j) % 37]
 *     ⇒
 *   for r in 60: for j in vectorized(37): Y[r, j] = X[j]
 *
 * so that no vector goes over the end of a row, and nothing is divided. One store, to the next
 * element each time, whose value is not read of the same buffer: which elements share a vector does
 * not matter then. The row is the shortest of those that indices are digits of and that fill a
 * vector (or half of a long one); which digits an element has must not depend on its row then. */
#include "ir/core/fold.h"
#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"
#include "lower/ground/split_loop.h"
#include "lower/vectors/digit.h"
#include "lower/vectors/lane_nest.h"
#include "lower/vectors/vector_cut.h"

enum { MAX_DIGITS = 8, MAX_VECTORS = 8, MAX_TOGETHER = 16, LEAST_ROW = 16 };

typedef struct rows {
    hone_lower *lower;
    hone_arith arith;
    lower_nest nest;
    hone_node_id store;
    int64_t count; /* of elements */
    hone_var place, row, column;
    int64_t lanes;  /* of a vector register */
    int64_t length; /* of the row that was chosen */
    int64_t period; /* digits left in it that change within a vector come again after so many */
    bool is_refused, has_math;
    uint32_t digit_count;
    int64_t digits[MAX_DIGITS]; /* rows that indices are digits of */
} rows;

/* ---- the loops and their statement ---- */

static const hone_expr *flatten_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    rows *r = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->count < 2) return e;
    const hone_expr *number = lower_element_number(r->lower, &r->arith, e->u.buffer, e->args);
    return number ? hone_expr_load(ir, e->dtype, e->u.buffer, 1, &number) : e;
}

/* The store below the vectorized loop, and the loops around it that count its elements on. */
static bool find_loops(rows *r, hone_node_id vector) {
    hone_func *func = r->lower->func;
    lower_nest *nest = &r->nest;
    if (!lower_nest_begin(nest, r->lower, vector)) return false;
    const hone_node *body = hone_func_node(func, hone_func_node(func, vector)->first);
    r->store = hone_func_node(func, vector)->first;
    if (body->kind == HONE_NODE_IF && lower_only_child(func, r->store) != HONE_NO_ID) {
        r->store = body->first;
        body = hone_func_node(func, body->first);
    }
    if (body->kind != HONE_NODE_STORE || !lower_has_digit(func, r->store, nest->vars[0]))
        return false;
    const hone_expr *number =
        lower_element_number(r->lower, &r->arith, body->u.store.buffer, body->u.store.indices);
    int64_t stride;
    if (!number || !hone_linear_coeff(&r->arith, number, nest->vars[0], &stride) || stride != 1)
        return false;
    for (hone_node_id up; (up = lower_nest_around(nest)) != HONE_NO_ID;) {
        hone_var var = hone_func_node(func, up)->u.loop.var;
        if (!lower_has_digit(func, r->store, var) ||
            !hone_linear_coeff(&r->arith, number, var, &stride) || stride != nest->count) {
            break;
        }
        if (!lower_nest_grow(nest, up)) return false;
    }
    r->count = nest->count;
    return true;
}

/* A condition around the store ends the last tile early: the elements that are left. */
static bool read_guard(rows *r) {
    hone_func *func = r->lower->func;
    const lower_nest *nest = &r->nest;
    hone_node_id guard = hone_func_node(func, r->store)->parent;
    if (guard == nest->loops[0]) return true;
    const hone_expr *e = hone_func_node(func, guard)->u.eval.value;
    if (!hone_expr_is_op(e, HONE_OP_LT) || !hone_expr_is_int(e->args[1])) return false;
    hone_linear sum;
    int64_t unit = 0, limit = hone_expr_const(e->args[1]);
    if (!hone_linear_of(&r->arith, e->args[0], &sum) || sum.constant != 0) return false;
    uint32_t used = 0;
    for (uint32_t l = 0; l < nest->depth; l++) {
        int64_t coeff;
        if (!hone_linear_coeff(&r->arith, e->args[0], nest->vars[l], &coeff)) return false;
        if (!unit && coeff == 1) unit = nest->strides[l];
        if (coeff != (unit ? nest->strides[l] / unit : 0)) return false;
        used += coeff != 0;
    }
    if (used != sum.count || !unit || limit < 1 || limit > r->count / unit) return false;
    r->count = limit * unit;
    return true;
}

static bool check_part(void *ctx, const hone_expr *e) {
    rows *r = ctx;
    const hone_func *func = r->lower->func;
    const hone_node *store = hone_func_node(func, r->store);
    r->is_refused |=
        !lower_is_lane_part(e) || (e->kind == HONE_EXPR_LOAD && lower_sees_store(func, store, e));
    r->has_math |= e->kind == HONE_EXPR_CALL && hone_intrin_is_math((hone_intrin)e->op);
    return !r->is_refused;
}

/* ---- digits ---- */

/* Elements that a step of e goes over, which counts places or is a digit: x + k: 1, x // 3: 3. */
static int64_t unit_of(rows *r, const hone_expr *e) {
    int64_t step;
    if (hone_linear_coeff(&r->arith, e, r->place, &step)) return step == 1 ? 1 : 0;
    if (!hone_expr_is_op(e, HONE_OP_FLOORDIV)) return 0;
    int64_t divisor = hone_expr_const(e->args[1]), unit = unit_of(r, e->args[0]);
    return divisor > 0 && divisor <= r->count ? unit * divisor : 0;
}

static bool note_digit(void *ctx, const hone_expr *e) {
    rows *r = ctx;
    if (!hone_expr_is_divmod(e) || !hone_expr_uses_var(e->args[0], r->place)) return true;
    int64_t divisor = hone_expr_const(e->args[1]), unit = unit_of(r, e->args[0]);
    if (divisor < 2 || divisor > r->count || unit == 0) return true;
    for (uint32_t i = 0; i < r->digit_count; i++) {
        if (r->digits[i] == unit * divisor) return true;
    }
    if (r->digit_count < MAX_DIGITS) r->digits[r->digit_count++] = unit * divisor;
    return true;
}

/* Digits of elements in one row are left where they are constants, once its vectors are unrolled or
 * taken together (lower_period.c), or carry in few of them; they must not depend on the row's
 * number. */
static bool find_left(void *ctx, const hone_expr *e) {
    rows *r = ctx;
    if (!hone_expr_is_divmod(e) || !hone_expr_uses_var(e->args[0], r->column)) return true;
    lower_digit d;
    hone_linear sum;
    bool is_alike = lower_digit_of(&r->arith, e, r->column, &d) &&
                    hone_linear_of(&r->arith, d.number, &sum) && sum.count == 1;
    r->is_refused |= !is_alike;
    if (is_alike && !(d.step == 1 && d.divisor >= r->lanes)) {
        int64_t both = r->period / hone_gcd(r->period, d.divisor);
        r->is_refused |= __builtin_mul_overflow(both, d.divisor, &r->period);
    }
    return !r->is_refused;
}

/* Whether digits that change within a vector may be left. */
static bool is_short_enough(const rows *r) {
    int64_t vectors = r->period / hone_gcd(r->period, r->lanes);
    return r->period == 1 || r->length <= MAX_VECTORS * r->lanes ||
           (vectors <= MAX_TOGETHER && vectors * r->lanes <= r->length);
}

/* ---- what is stored ---- */

typedef struct statement {
    uint32_t rank;
    const hone_expr **indices, *value;
} statement;

/* Bounds on quotients of what counts elements of a row are bounds on that: 2 <= j // 3 is 6 <= j,
 * one comparison of neighbouring numbers. */
static const hone_expr *undivided(void *ctx, hone_ir *ir, const hone_expr *e) {
    rows *r = ctx;
    if (e->kind != HONE_EXPR_BINARY || !hone_dtype_is_bool(e->dtype) ||
        !hone_expr_uses_var(e, r->column)) {
        return e;
    }
    const hone_expr *upper = hone_undivided(&r->arith, e);
    if (upper != e) return upper;
    const hone_expr *opposite = hone_expr_not(ir, e);
    if (opposite) opposite = hone_simplify(&r->arith, opposite);
    const hone_expr *lower = opposite ? hone_undivided(&r->arith, opposite) : NULL;
    return lower == opposite ? (lower ? e : NULL) : hone_expr_not(ir, lower);
}

static const hone_expr *rewrite(rows *r, const hone_expr *e, const hone_expr *const *map,
                                uint32_t count) {
    hone_ir *ir = &r->arith.ir;
    e = hone_expr_substitute(ir, e, map, count);
    if (e) e = hone_simplify(&r->arith, e);
    if (e) e = hone_expr_transform(ir, e, undivided, r);
    return e ? hone_simplify(&r->arith, e) : NULL;
}

/* The statement with variables replaced. */
static bool rewrite_all(rows *r, const statement *from, const hone_expr *const *map, uint32_t count,
                        statement *out) {
    hone_arena *arena = r->lower->func->arena;
    *out = (statement){.rank = from->rank};
    out->indices = hone_arena_alloc(arena, (from->rank + 1) * sizeof *out->indices);
    if (!out->indices) return false;
    for (uint32_t d = 0; d < from->rank; d++) {
        out->indices[d] = rewrite(r, from->indices[d], map, count);
        if (!out->indices[d]) return false;
    }
    out->value = rewrite(r, from->value, map, count);
    return out->value;
}

/* Looks at the value, loads being of elements by their numbers: what is stored goes straight on. */
static void look_at(rows *r, const statement *s, bool (*visit)(void *ctx, const hone_expr *e)) {
    const hone_expr *value = hone_expr_transform(&r->arith.ir, s->value, flatten_load, r);
    if (value) hone_expr_walk(value, visit, r);
}

/* Variables of the loops as digits of the element's number. */
static bool by_place(rows *r, const statement *from, statement *out) {
    hone_func *func = r->lower->func;
    const hone_expr *place = hone_func_var_expr(&r->arith.ir, func, r->place);
    const hone_expr **map = place ? lower_nest_digits(&r->nest, &r->arith.ir, place) : NULL;
    if (!map || !hone_arith_bind_const(&r->arith, r->place, 0, r->count - 1)) return false;
    return rewrite_all(r, from, map, func->var_count, out);
}

static bool by_row(rows *r, const statement *from, statement *out) {
    hone_func *func = r->lower->func;
    hone_ir *ir = &r->arith.ir;
    hone_dtype dtype = func->vars[r->nest.vars[0]].dtype;
    const hone_expr **map = hone_arena_zalloc(func->arena, func->var_count * sizeof *map);
    if (!map || !hone_arith_bind_const(&r->arith, r->row, 0, r->count / r->length - 1) ||
        !hone_arith_bind_const(&r->arith, r->column, 0, r->length - 1)) {
        return false;
    }
    map[r->place] = hone_expr_add(ir,
                                  hone_expr_mul(ir, hone_func_var_expr(ir, func, r->row),
                                                hone_expr_int(ir, dtype, r->length)),
                                  hone_func_var_expr(ir, func, r->column));
    return map[r->place] && rewrite_all(r, from, map, func->var_count, out);
}

/* ---- */

/* The length of the rows: not shorter than a vector, its last vector worth its price, as many rows
 * as threads need. 0 = there are none. */
static int64_t choose_row(const rows *r) {
    int64_t lanes = r->lanes, best = 0, least = lanes < LEAST_ROW ? lanes : LEAST_ROW;
    for (uint32_t i = 0; i < r->digit_count; i++) {
        int64_t row = r->digits[i];
        if (row < least || r->count % row != 0 || row == r->count) continue;
        if (best == 0 || row < best) best = row;
    }
    if (best == 0 || best == r->nest.extents[0]) return 0;
    bool is_power = (best & (best - 1)) == 0;
    if (is_power && r->nest.extents[0] % best == 0)
        return 0; /* vectors are cut into such (vector_cut.h) */
    int64_t full = (best + lanes - 1) / lanes * lanes;
    if (r->has_math && 4 * best < 3 * full) return 0;
    return lower_nest_is_fed(&r->nest, r->count / best) ? best : 0;
}

static hone_status apply(rows *r, const statement *s) {
    hone_func *func = r->lower->func;
    hone_node_id below = hone_func_node(func, r->nest.loops[0])->first;
    if (below != r->store) lower_splice(func, below);
    hone_node *store = hone_func_node(func, r->store);
    store->u.store.indices = s->indices;
    store->u.store.value = s->value;
    return lower_nest_replace(&r->nest, r->row, r->count / r->length, r->column, r->length);
}

static hone_status add_vars(rows *r) {
    hone_func *func = r->lower->func;
    hone_dtype dtype = func->vars[r->nest.vars[0]].dtype;
    r->place = hone_func_add_var(func, "place", dtype);
    r->row = hone_func_add_var(func, "row", dtype);
    r->column = hone_func_add_var(func, func->vars[r->nest.vars[0]].name, dtype);
    bool is_made = r->place != HONE_NO_ID && r->row != HONE_NO_ID && r->column != HONE_NO_ID;
    return is_made ? HONE_OK : LOWER_NO_MEMORY();
}

static hone_status visit(rows *r, hone_node_id vector) {
    hone_func *func = r->lower->func;
    HONE_TRY(lower_bind_around(func, hone_func_node(func, vector)->first, &r->arith));
    if (!find_loops(r, vector) || !read_guard(r)) return hone_ir_finish(&r->arith.ir);
    const hone_node *store = hone_func_node(func, r->store);
    statement given = {.rank = store->u.store.rank, .value = store->u.store.value}, all, row;
    given.indices =
        hone_arena_copy(func->arena, store->u.store.indices, given.rank * sizeof *given.indices);
    if (!given.indices) return LOWER_NO_MEMORY();
    r->is_refused = r->has_math = false;
    r->period = 1;
    r->digit_count = 0;
    hone_expr_walk(given.value, check_part, r);
    if (r->is_refused) return HONE_OK;
    HONE_TRY(add_vars(r));
    if (!by_place(r, &given, &all)) return hone_ir_finish(&r->arith.ir);
    look_at(r, &all, note_digit);
    r->lanes = lower_vector_lanes(r->lower, vector);
    r->length = choose_row(r);
    if (r->length == 0 || !by_row(r, &all, &row)) return hone_ir_finish(&r->arith.ir);
    look_at(r, &row, find_left);
    HONE_TRY(hone_ir_finish(&r->arith.ir));
    if (r->is_refused || !is_short_enough(r)) return HONE_OK;
    HONE_TRY(apply(r, &row));
    if (r->period == 1 || r->length <= MAX_VECTORS * r->lanes) return HONE_OK;
    HONE_TRY(lower_cut_vector(r->lower, vector, r->length, r->lanes));
    return lower_begin_at_zero(r->lower, vector);
}

hone_status lower_rows(hone_lower *lower) {
    hone_func *func = lower->func;
    rows r = {.lower = lower};
    hone_arith_init(&r.arith, func->arena);
    if (!hone_arith_bind_sizes(&r.arith, func)) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (lower_is_vector(func, n)) HONE_TRY(visit(&r, n));
    }
    return hone_ir_finish(&r.arith.ir);
}
