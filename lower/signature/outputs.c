/* lower/signature/outputs.c - is a parameter written as a whole before anything of it is read?
 *
 * What a store writes, with the loops and conditions around it, is a box where the iterator map of
 * its indices says so; boxes that touch make larger ones. Where that does not show it, small
 * programs are run over numbers (filled_points.c). */
#include "ir/arith/itermap.h"
#include "lower/memory/lifetimes.h"
#include "lower/signature/plain_form.h"
#include "support/tensor.h"

enum { MAX_ITERS = 64 };

typedef struct box {
    const hone_expr *begin[HONE_MAX_RANK], *end[HONE_MAX_RANK]; /* end is not inside */
} box;

typedef struct filling {
    hone_lower *lower;
    hone_arith arith;
    hone_buffer buffer;
    uint32_t rank;
    box *boxes; /* what is written */
    uint32_t count;
} filling;

/* ---- boxes ---- */

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

/* The loops and conditions around a store; false where there is something else. */
static bool find_around(filling *f, hone_node_id store, uint32_t *out_count, hone_iter *iters,
                        const hone_expr **out_predicate) {
    const hone_func *func = f->lower->func;
    *out_count = 0;
    *out_predicate = NULL;
    for (hone_node_id n = store, up; n != HONE_NODE_TOP; n = up) {
        up = hone_func_node(func, n)->parent;
        const hone_node *node = hone_func_node(func, up);
        bool is_else = hone_func_node(func, n)->kind == HONE_NODE_ELSE;
        if (node->kind == HONE_NODE_FOR && *out_count < MAX_ITERS) {
            iters[(*out_count)++] = (hone_iter){node->u.loop.var, node->u.loop.range};
        } else if (node->kind == HONE_NODE_IF && !is_else) {
            *out_predicate = lower_and(&f->arith.ir, *out_predicate, node->u.eval.value);
        } else if (node->kind != HONE_NODE_ALLOC && node->kind != HONE_NODE_ATTR &&
                   node->kind != HONE_NODE_TOP) {
            return false;
        }
    }
    return true;
}

/* Exactly what a store writes, if that is a box. */
static bool box_of(filling *f, const lower_access *store, box *out) {
    const hone_buffer_info *buffer = &f->lower->func->buffers[f->buffer];
    hone_iter iters[MAX_ITERS];
    uint32_t count;
    const hone_expr *predicate;
    hone_itermap map;
    if (!find_around(f, store->node, &count, iters, &predicate) ||
        !hone_itermap_detect(&f->arith, f->rank, store->indices, count, iters, predicate,
                             HONE_ITERMAP_SURJECTIVE, true, &map)) {
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

/* Two boxes that differ in one dimension, where they touch, are one: it goes into a. */
static bool join(filling *f, box *a, const box *b) {
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

static void add_box(filling *f, const lower_access *store) {
    if (!box_of(f, store, &f->boxes[f->count])) return;
    f->count++;
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

static bool is_whole(filling *f) {
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

/* ---- parts of a program, one after the other ---- */

/* A part fills what its stores write: all of them where it reads nothing, else the first one, when
 * what it reads is its own. */
static hone_status add_part(filling *f, hone_node_id root, const lower_accesses *part,
                            bool *out_is_ours) {
    bool is_read = false;
    for (uint32_t i = 0; i < part->count; i++)
        is_read |= !part->items[i].is_store;
    *out_is_ours = true;
    if (is_read) HONE_TRY(lower_is_fresh(f->lower, f->buffer, part, root, out_is_ours));
    for (uint32_t i = 0, done = 0; *out_is_ours && i < part->count; i++) {
        if (!part->items[i].is_store || (is_read && done++)) continue;
        add_box(f, &part->items[i]);
    }
    return HONE_OK;
}

/* The child of a place that holds a node below it; the place itself for itself. */
static hone_node_id child_of(const hone_func *func, hone_node_id place, hone_node_id node) {
    while (node != place && hone_func_node(func, node)->parent != place)
        node = hone_func_node(func, node)->parent;
    return node;
}

/* The innermost place that runs once and holds all accesses, which are some. */
static hone_node_id place_of(const hone_func *func, const lower_accesses *all) {
    hone_node_id place = HONE_NODE_TOP;
    for (;;) {
        hone_node_id only = child_of(func, place, all->items[0].node);
        for (uint32_t i = 1; i < all->count; i++) {
            if (child_of(func, place, all->items[i].node) != only) return place;
        }
        if (only == place) return place;
        uint8_t kind = hone_func_node(func, only)->kind;
        if (kind != HONE_NODE_ALLOC && kind != HONE_NODE_ATTR) return place;
        place = only;
    }
}

static hone_status fill(filling *f, const lower_accesses *all, bool *out_is_filled) {
    const hone_func *func = f->lower->func;
    hone_node_id place = place_of(func, all);
    bool is_ours = true;
    for (uint32_t from = 0, to; from < all->count && is_ours; from = to) {
        hone_node_id child = child_of(func, place, all->items[from].node);
        for (to = from + 1; to < all->count; to++) {
            if (child_of(func, place, all->items[to].node) != child) break;
        }
        lower_accesses part = {.items = all->items + from, .count = to - from};
        HONE_TRY(add_part(f, place, &part, &is_ours));
        *out_is_filled = is_whole(f);
        if (*out_is_filled) break;
    }
    return HONE_OK;
}

static hone_status begin(filling *f, hone_lower *lower, hone_buffer buffer, uint32_t stores) {
    hone_func *func = lower->func;
    bool *loops = hone_arena_zalloc(func->arena, func->var_count + 1);
    bool *others = hone_arena_zalloc(func->arena, func->var_count + 1);
    *f = (filling){.lower = lower, .buffer = buffer, .rank = func->buffers[buffer].rank};
    f->boxes = hone_arena_alloc(func->arena, (stores + 1) * sizeof *f->boxes);
    hone_arith_init(&f->arith, func->arena);
    if (!loops || !others || !f->boxes || !hone_arith_bind_sizes(&f->arith, func)) {
        return LOWER_NO_MEMORY();
    }
    return lower_mark_vars(func, HONE_NODE_TOP, &f->arith, loops, others);
}

hone_status lower_is_output(hone_lower *lower, hone_buffer buffer, bool *out_is_output) {
    filling f;
    lower_accesses all;
    *out_is_output = false;
    HONE_TRY(lower_find_accesses(lower->func, HONE_NODE_TOP, buffer, &all));
    bool is_plain =
        !lower->func->buffers[buffer].strides && lower->func->buffers[buffer].rank <= HONE_MAX_RANK;
    if (all.is_opaque || all.count == 0 || !is_plain) return HONE_OK;
    HONE_TRY(begin(&f, lower, buffer, all.count));
    HONE_TRY(fill(&f, &all, out_is_output));
    HONE_TRY(hone_ir_finish(&f.arith.ir));
    if (*out_is_output) return HONE_OK;
    return lower_is_filled_by_points(lower->func, buffer, &all, out_is_output);
}
