/* ir/arith/arith_context.c - what is known: domains of variables and a stack of facts.
 *
 * A fact that bounds a variable (x < 5, or x*4 + y < 10 with bounded y) tightens its entry in
 * bounds[] at once, so that everything that looks there profits; pop puts the old one back.
 */
#include "ir/arith/arith.h"

#include <string.h>

#include "ir/arith/arith_impl.h"

void *arith_alloc(hone_arith *a, size_t bytes) {
    void *memory = hone_arena_alloc(a->ir.arena, bytes);
    if (!memory) hone_ir_fail(&a->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "index arithmetic"));
    return memory;
}

bool arith_grow(hone_arith *a, void **items, uint32_t count, uint32_t *capacity,
                size_t item_bytes) {
    if (count < *capacity) return true;
    uint32_t larger = *capacity ? *capacity * 2 : 16;
    void *memory = arith_alloc(a, larger * item_bytes);
    if (!memory) return false;
    if (count) memcpy(memory, *items, count * item_bytes);
    *items = memory;
    *capacity = larger;
    return true;
}

void hone_arith_init(hone_arith *arith, hone_arena *arena) {
    assert(arith && arena);
    *arith = (hone_arith){.ir = {.arena = arena}};
}

void hone_arith_clear(hone_arith *arith) {
    arith->count = 0;
    arith->fact_count = 0;
    arith->undo_count = 0;
}

static bool reserve_capacity(hone_arith *a, uint32_t wanted) {
    uint32_t capacity = a->capacity ? a->capacity : 32;
    while (capacity < wanted)
        capacity *= 2;
    hone_bound *bounds = arith_alloc(a, capacity * sizeof *bounds);
    const hone_expr **mins = arith_alloc(a, capacity * sizeof *mins);
    const hone_expr **extents = arith_alloc(a, capacity * sizeof *extents);
    bool *values = arith_alloc(a, capacity * sizeof *values);
    if (!bounds || !mins || !extents || !values) return false;
    if (a->count) {
        memcpy(bounds, a->bounds, a->count * sizeof *bounds);
        memcpy(mins, a->mins, a->count * sizeof *mins);
        memcpy(extents, a->extents, a->count * sizeof *extents);
        memcpy(values, a->values, a->count * sizeof *values);
    }
    a->bounds = bounds;
    a->mins = mins;
    a->extents = extents;
    a->values = values;
    a->capacity = capacity;
    return true;
}

bool arith_reserve_var(hone_arith *a, hone_var var) {
    if (var < a->count) return true;
    if (var >= UINT32_MAX / 64) return false; /* no variable of a function that fits in memory */
    if (var >= a->capacity && !reserve_capacity(a, var + 1)) return false;
    for (uint32_t v = a->count; v <= var; v++) {
        a->bounds[v] = (hone_bound){HONE_BOUND_NEG_INF, HONE_BOUND_POS_INF};
        a->mins[v] = a->extents[v] = NULL;
        a->values[v] = false;
    }
    a->count = var + 1;
    return true;
}

bool hone_arith_bind_const(hone_arith *arith, hone_var var, int64_t min, int64_t max) {
    if (!arith_reserve_var(arith, var)) return false;
    arith->bounds[var] = (hone_bound){min, max};
    arith->mins[var] = arith->extents[var] = NULL;
    return true;
}

bool hone_arith_bind(hone_arith *arith, hone_var var, hone_range range) {
    if (!range.min || !range.extent) return false;
    if (hone_expr_is_int(range.min) && hone_expr_is_int(range.extent)) {
        int64_t min = range.min->u.i, max = 0;
        if (!arith_add(min, range.extent->u.i, &max))
            return hone_arith_bind_const(arith, var, min, HONE_BOUND_POS_INF);
        if (max == INT64_MIN) return hone_arith_bind_const(arith, var, min, min);
        return hone_arith_bind_const(arith, var, min, max - 1);
    }
    hone_bound min = hone_arith_bound(arith, range.min);
    hone_bound extent = hone_arith_bound(arith, range.extent);
    hone_bound end = arith_bound_add(arith_bound_add(min, extent), (hone_bound){-1, -1});
    if (!hone_arith_bind_const(arith, var, min.min, end.max)) return false;
    const hone_expr *lo = hone_simplify(arith, range.min);
    const hone_expr *n = hone_simplify(arith, range.extent);
    if (!lo || !n) return false;
    if (hone_expr_is_int(lo) && hone_expr_is_int(n)) return true;
    if (hone_expr_uses_var(lo, var) || hone_expr_uses_var(n, var)) return true;
    arith->mins[var] = lo;
    arith->extents[var] = n;
    return true;
}

bool hone_arith_range_of(hone_arith *arith, hone_var var, hone_dtype dtype, hone_range *out) {
    *out = (hone_range){NULL, NULL};
    if (var >= arith->count) return false;
    if (arith->mins[var]) {
        *out = (hone_range){arith->mins[var], arith->extents[var]};
        return true;
    }
    hone_bound bound = arith->bounds[var];
    int64_t extent;
    if (bound.min == HONE_BOUND_NEG_INF || bound.max == HONE_BOUND_POS_INF ||
        __builtin_sub_overflow(bound.max, bound.min, &extent) || extent == INT64_MAX) {
        return false;
    }
    out->min = hone_expr_int(&arith->ir, dtype, bound.min);
    out->extent = hone_expr_int(&arith->ir, dtype, extent + 1);
    return out->min && out->extent;
}

static bool is_size_dtype(hone_dtype dtype) {
    return arith_is_index(dtype) && dtype.bits >= 32;
}

typedef struct size_walk {
    hone_arith *arith;
    const hone_func *func;
    bool ok;
} size_walk;

static bool bind_size(void *ctx, const hone_expr *e) {
    size_walk *walk = ctx;
    if (e->kind == HONE_EXPR_VAR && is_size_dtype(e->dtype)) {
        walk->ok = walk->ok && hone_arith_bind_const(walk->arith, e->u.var, 1, HONE_BOUND_POS_INF);
    }
    return true;
}

/* A plain variable as a dimension of a parameter's buffer is a size. */
static void bind_shape_vars(size_walk *walk, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(walk->func, buffer);
    for (uint32_t i = 0; i < info->rank; i++) {
        if (info->shape[i]->kind == HONE_EXPR_VAR) bind_size(walk, info->shape[i]);
    }
}

bool hone_arith_bind_sizes(hone_arith *arith, const hone_func *func) {
    size_walk walk = {.arith = arith, .func = func, .ok = true};
    for (uint32_t v = 0; v < func->var_count; v++) {
        if (!func->vars[v].is_size) continue;
        walk.ok = walk.ok && hone_arith_bind_const(arith, v, 1, HONE_BOUND_POS_INF);
    }
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer != HONE_NO_ID) bind_shape_vars(&walk, func->params[p].buffer);
    }
    return walk.ok && arith_find_values(arith, func);
}

/* ---- facts ---- */

static void tighten(hone_arith *a, hone_var var, hone_bound bound) {
    if (!arith_reserve_var(a, var)) return;
    hone_bound old = a->bounds[var];
    hone_bound met = arith_bound_meet(old, bound);
    if (met.min == old.min && met.max == old.max) return;
    void *items = a->undo;
    if (!arith_grow(a, &items, a->undo_count, &a->undo_capacity, sizeof *a->undo)) return;
    a->undo = items;
    a->undo[a->undo_count++] = (hone_bound_undo){.var = var, .old = old};
    a->bounds[var] = met;
}

/* c * x + rest >= 0, so x >= ceil(-max(rest) / c) when c > 0, x <= floor(max(rest) / -c) else. */
static void tighten_term(hone_arith *a, const hone_linear *linear, uint32_t which, int64_t sign) {
    hone_bound rest = {linear->constant, linear->constant};
    if (rest.min == INT64_MIN || rest.max == INT64_MAX) return;
    rest = arith_bound_scale(rest, sign);
    for (uint32_t i = 0; i < linear->count; i++) {
        if (i == which) continue;
        hone_bound term = arith_expr_bound(a, linear->terms[i].term);
        int64_t scale = 0;
        if (!arith_mul(linear->terms[i].coeff, sign, &scale)) return;
        rest = arith_bound_add(rest, arith_bound_scale(term, scale));
    }
    int64_t c = linear->terms[which].coeff;
    if (rest.max == HONE_BOUND_POS_INF || rest.max == INT64_MIN || c == INT64_MIN) return;
    c *= sign;
    hone_bound bound = {HONE_BOUND_NEG_INF, HONE_BOUND_POS_INF};
    if (c > 0) {
        bound.min = -arith_floordiv(rest.max, c);
    } else {
        bound.max = arith_floordiv(rest.max, -c);
    }
    tighten(a, linear->terms[which].term->u.var, bound);
}

static void tighten_vars(hone_arith *a, const hone_fact *fact) {
    if (fact->kind != ARITH_FACT_GE && fact->kind != ARITH_FACT_EQ) return;
    if (fact->linear.count > 8) return;
    for (uint32_t i = 0; i < fact->linear.count; i++) {
        if (fact->linear.terms[i].term->kind != HONE_EXPR_VAR) continue;
        tighten_term(a, &fact->linear, i, 1);
        if (fact->kind == ARITH_FACT_EQ) tighten_term(a, &fact->linear, i, -1);
    }
}

/* x != c at an end of x's domain moves the end. */
static void tighten_ends(hone_arith *a, const hone_fact *fact) {
    if (fact->kind != ARITH_FACT_NE || fact->linear.count != 1) return;
    const hone_linear_term *t = &fact->linear.terms[0];
    if (t->term->kind != HONE_EXPR_VAR || (t->coeff != 1 && t->coeff != -1)) return;
    if (fact->linear.constant == INT64_MIN) return;
    int64_t value = t->coeff == 1 ? -fact->linear.constant : fact->linear.constant;
    hone_bound bound = arith_var_bound(a, t->term->u.var);
    if (bound.min == value && value < INT64_MAX) bound.min = value + 1;
    if (bound.max == value && value > INT64_MIN) bound.max = value - 1;
    tighten(a, t->term->u.var, bound);
}

static void push_one(hone_arith *a, const hone_expr *condition) {
    if (hone_expr_is_op(condition, HONE_OP_AND)) {
        push_one(a, condition->args[0]);
        push_one(a, condition->args[1]);
        return;
    }
    if (hone_expr_is_call(condition, HONE_INTRIN_LIKELY)) {
        push_one(a, condition->args[0]);
        return;
    }
    if (condition->kind == HONE_EXPR_NOT) {
        const hone_expr *negated = arith_negate(a, condition->args[0]);
        if (!negated) return;
        if (negated->kind != HONE_EXPR_NOT) {
            push_one(a, negated);
            return;
        }
    }
    if (condition->kind == HONE_EXPR_INT) return;
    void *items = a->facts;
    if (!arith_grow(a, &items, a->fact_count, &a->fact_capacity, sizeof *a->facts)) return;
    a->facts = items;
    hone_fact fact = {.kind = ARITH_FACT_OTHER, .condition = condition};
    fact.undo_start = a->undo_count;
    if (!arith_fact_of(a, condition, &fact)) return;
    a->facts[a->fact_count++] = fact;
    tighten_vars(a, &fact);
    tighten_ends(a, &fact);
}

uint32_t hone_arith_push(hone_arith *arith, const hone_expr *fact) {
    uint32_t mark = arith->fact_count;
    if (fact && hone_dtype_is_bool(fact->dtype) && fact->dtype.lanes == 1) push_one(arith, fact);
    return mark;
}

void hone_arith_pop(hone_arith *arith, uint32_t mark) {
    assert(mark <= arith->fact_count);
    if (mark >= arith->fact_count) return;
    uint32_t undo_start = arith->facts[mark].undo_start;
    while (arith->undo_count > undo_start) {
        hone_bound_undo *undo = &arith->undo[--arith->undo_count];
        if (undo->var < arith->count) arith->bounds[undo->var] = undo->old;
    }
    arith->fact_count = mark;
}

bool hone_arith_speaks_of(const hone_arith *arith, hone_var var) {
    for (uint32_t f = 0; f < arith->fact_count; f++) {
        if (hone_expr_uses_var(arith->facts[f].condition, var)) return true;
    }
    for (uint32_t v = 0; v < arith->count; v++) {
        const hone_expr *min = arith->mins[v], *extent = arith->extents[v];
        if ((min && hone_expr_uses_var(min, var)) || (extent && hone_expr_uses_var(extent, var))) {
            return true;
        }
    }
    return false;
}
