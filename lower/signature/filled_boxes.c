/* lower/signature/filled_boxes.c - boxes of iterator maps, joined where they touch. */
#include "lower/signature/filled_boxes.h"

#include "lower/ground/scope.h"

enum { MAX_ITERS = 64 };

/* A store with the loops and conditions between it and the root. */
typedef struct surroundings {
    uint32_t count;
    hone_iter iters[MAX_ITERS];
    const hone_expr *predicate, *indices[HONE_MAX_RANK];
} surroundings;

/* ---- what is around a store ---- */

static bool stores_there(const hone_func *func, hone_node_id branch, const hone_node *store);

/* Both branches of an IF store to the element, whatever the condition says. */
static bool stores_either_way(const hone_func *func, hone_node_id id, const hone_node *store) {
    hone_node_id other = hone_func_node(func, id)->last;
    return other != HONE_NO_ID && hone_func_node(func, other)->kind == HONE_NODE_ELSE &&
           stores_there(func, id, store) && stores_there(func, other, store);
}

/* Does a branch surely store to the element that the store does? */
static bool stores_there(const hone_func *func, hone_node_id branch, const hone_node *store) {
    bool is_found = false;
    for (hone_node_id c = hone_func_node(func, branch)->first; c != HONE_NO_ID && !is_found;
         c = hone_func_node(func, c)->next) {
        const hone_node *node = hone_func_node(func, c);
        if (node->kind == HONE_NODE_IF) is_found = stores_either_way(func, c, store);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != store->u.store.buffer)
            continue;
        is_found = true;
        for (uint32_t d = 0; d < store->u.store.rank; d++)
            is_found &= hone_expr_same(node->u.store.indices[d], store->u.store.indices[d]);
    }
    return is_found;
}

/* False where there is something else. */
static bool look_around(lower_filling *f, hone_node_id root, hone_node_id store,
                        surroundings *out) {
    const hone_func *func = f->lower->func;
    bool is_else = false;
    for (hone_node_id n = hone_func_node(func, store)->parent; n != root;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_IF && stores_either_way(func, n, hone_func_node(func, store))) {
            is_else = false;
        } else if (node->kind == HONE_NODE_FOR && out->count < MAX_ITERS) {
            out->iters[out->count++] = (hone_iter){node->u.loop.var, node->u.loop.range};
        } else if (node->kind == HONE_NODE_IF && !is_else) {
            out->predicate = lower_and(&f->arith.ir, out->predicate, node->u.eval.value);
        } else if (node->kind == HONE_NODE_ELSE) {
            is_else = true;
        } else if (node->kind != HONE_NODE_ALLOC && node->kind != HONE_NODE_ATTR) {
            return false;
        }
    }
    for (uint32_t d = 0; d < f->rank; d++)
        out->indices[d] = hone_func_node(func, store)->u.store.indices[d];
    return true;
}

/* ---- what it writes ---- */

static bool uses_var(const lower_filling *f, const surroundings *s, hone_var var) {
    for (uint32_t d = 0; d < f->rank; d++) {
        if (hone_expr_uses_var(s->indices[d], var)) return true;
    }
    return false;
}

/* A loop that no index uses repeats what is stored; but does it run? (Without one that an index
 * uses, the box is empty.) */
static bool runs(lower_filling *f, const surroundings *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *extent = s->iters[i].range.extent;
        const hone_expr *none = hone_expr_int(&f->arith.ir, extent->dtype, 0);
        if (uses_var(f, s, s->iters[i].var)) continue;
        if (!none || !hone_prove_less(&f->arith, none, extent)) return false;
    }
    return true;
}

/* 1 + the largest value of a sum of splits that begins at 0. */
static const hone_expr *reach_of(hone_arith *arith, const hone_iter_sum *sum, hone_dtype dtype) {
    hone_ir *ir = &arith->ir;
    const hone_expr *one = hone_expr_int(ir, dtype, 1), *reach = one;
    for (uint32_t i = 0; i < sum->count; i++) {
        const hone_iter_split *split = &sum->splits[i];
        const hone_expr *steps =
            hone_expr_mul(ir, hone_expr_sub(ir, split->extent, one), split->scale);
        reach = hone_expr_add(ir, reach, steps);
    }
    return reach;
}

/* Exactly what a store writes, if that is a box. */
static bool box_of(lower_filling *f, const surroundings *s, lower_box *out) {
    const hone_buffer_info *buffer = &f->lower->func->buffers[f->buffer];
    hone_itermap map;
    if (!runs(f, s) || !hone_itermap_detect(&f->arith, f->rank, s->indices, s->count, s->iters,
                                            s->predicate, HONE_ITERMAP_SURJECTIVE, true, &map)) {
        return false;
    }
    for (uint32_t d = 0; d < f->rank; d++) {
        const hone_expr *reach = reach_of(&f->arith, &map.sums[d], buffer->shape[d]->dtype);
        const hone_expr *base = map.sums[d].base;
        const hone_expr *end = reach ? hone_expr_add(&f->arith.ir, base, reach) : NULL;
        out->begin[d] = hone_simplify(&f->arith, base);
        out->end[d] = end ? hone_simplify(&f->arith, end) : NULL;
        if (!out->begin[d] || !out->end[d]) return false;
    }
    return true;
}

/* ---- all that is written ---- */

/* Two boxes that differ in one dimension, where they touch, are one: it goes into a. */
static bool join(lower_filling *f, lower_box *a, const lower_box *b) {
    uint32_t different = f->rank;
    for (uint32_t d = 0; d < f->rank; d++) {
        bool is_same = hone_prove_equal(&f->arith, a->begin[d], b->begin[d]) &&
                       hone_prove_equal(&f->arith, a->end[d], b->end[d]);
        if (is_same) continue;
        if (different < f->rank) return false;
        different = d;
    }
    if (different == f->rank) return true;
    if (!hone_prove_less_equal(&f->arith, a->begin[different], b->begin[different]) ||
        !hone_prove_less_equal(&f->arith, b->begin[different], a->end[different])) {
        return false;
    }
    if (hone_prove_less_equal(&f->arith, a->end[different], b->end[different])) {
        a->end[different] = b->end[different];
        return true;
    }
    return hone_prove_less_equal(&f->arith, b->end[different], a->end[different]);
}

static void add_box(lower_filling *f, const lower_box *more) {
    if (f->count == LOWER_MAX_BOXES) return;
    f->boxes[f->count++] = *more;
    for (bool is_joined = true; is_joined;) {
        is_joined = false;
        for (uint32_t a = 0; a < f->count; a++) {
            for (uint32_t b = 0; b < f->count && !is_joined; b++) {
                if (a == b || !join(f, &f->boxes[a], &f->boxes[b])) continue;
                f->boxes[b] = f->boxes[--f->count];
                is_joined = true;
            }
        }
    }
}

void lower_fill(lower_filling *f, hone_node_id root, const lower_access *store) {
    surroundings s = {.count = 0};
    lower_box box;
    if (look_around(f, root, store->node, &s) && box_of(f, &s, &box)) add_box(f, &box);
}

/* Puts an expression in the place of the variable of the loop, which is the last one. */
static bool put_in_place(lower_filling *f, surroundings *s, hone_var from, const hone_expr *to) {
    hone_ir *ir = &f->arith.ir;
    for (uint32_t d = 0; d < f->rank; d++)
        s->indices[d] = hone_expr_substitute_one(ir, s->indices[d], from, to);
    if (s->predicate) s->predicate = hone_expr_substitute_one(ir, s->predicate, from, to);
    for (uint32_t i = 0; i + 1 < s->count; i++) {
        hone_range *range = &s->iters[i].range;
        range->min = hone_expr_substitute_one(ir, range->min, from, to);
        range->extent = hone_expr_substitute_one(ir, range->extent, from, to);
    }
    return !ir->error;
}

/* In the first iteration nothing is written yet: the box must say so. */
static bool begins_empty(lower_filling *f, const lower_box *box, hone_var var,
                         const hone_expr *first) {
    hone_ir *ir = &f->arith.ir;
    for (uint32_t d = 0; d < f->rank; d++) {
        const hone_expr *begin = hone_expr_substitute_one(ir, box->begin[d], var, first);
        const hone_expr *end = hone_expr_substitute_one(ir, box->end[d], var, first);
        if (begin && end && hone_prove_less_equal(&f->arith, end, begin)) return true;
    }
    return false;
}

void lower_fill_before(lower_filling *f, hone_node_id loop, const lower_access *store) {
    const hone_node *node = hone_func_node(f->lower->func, loop);
    hone_var var = node->u.loop.var;
    hone_ir *ir = &f->arith.ir;
    surroundings s = {.count = 0};
    lower_box box;
    if (!look_around(f, node->parent, store->node, &s) || s.count == 0) return;
    hone_iter *iter = &s.iters[s.count - 1];
    hone_dtype dtype = f->lower->func->vars[var].dtype;
    const hone_expr *now = hone_expr_var(ir, dtype, var);
    iter->range.extent = hone_expr_sub(ir, now, iter->range.min);
    iter->var = hone_func_add_var(f->lower->func, "before", dtype);
    if (iter->var == HONE_NO_ID || !iter->range.extent ||
        !hone_arith_bind(&f->arith, iter->var, iter->range) ||
        !put_in_place(f, &s, var, hone_expr_var(ir, dtype, iter->var))) {
        return;
    }
    if (box_of(f, &s, &box) && begins_empty(f, &box, var, iter->range.min)) add_box(f, &box);
}

/* ---- questions ---- */

static bool is_inside(lower_filling *f, const lower_box *box, const hone_expr *const *indices) {
    for (uint32_t d = 0; d < f->rank; d++) {
        if (!hone_prove_less_equal(&f->arith, box->begin[d], indices[d]) ||
            !hone_prove_less(&f->arith, indices[d], box->end[d])) {
            return false;
        }
    }
    return true;
}

bool lower_is_element_filled(lower_filling *f, const hone_expr *const *indices) {
    for (uint32_t d = 0; d < f->rank; d++) {
        if (indices[d]->dtype.lanes != 1) return false;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        if (is_inside(f, &f->boxes[i], indices)) return true;
    }
    return false;
}

bool lower_is_filled(lower_filling *f) {
    const hone_buffer_info *buffer = &f->lower->func->buffers[f->buffer];
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t d = 0;
        while (d < f->rank && hone_expr_is_int_value(f->boxes[i].begin[d], 0) &&
               hone_prove_equal(&f->arith, f->boxes[i].end[d], buffer->shape[d])) {
            d++;
        }
        if (d == f->rank) return true;
    }
    return false;
}

/* ---- entry ---- */

hone_status lower_filling_begin(lower_filling *f, hone_lower *lower, hone_buffer buffer) {
    hone_func *func = lower->func;
    *f = (lower_filling){.lower = lower, .buffer = buffer, .rank = func->buffers[buffer].rank};
    f->boxes = hone_arena_alloc(func->arena, LOWER_MAX_BOXES * sizeof *f->boxes);
    hone_arith_init(&f->arith, func->arena);
    if (!f->boxes || !hone_arith_bind_sizes(&f->arith, func)) return LOWER_NO_MEMORY();
    return lower_bind_below(func, HONE_NODE_TOP, &f->arith);
}
