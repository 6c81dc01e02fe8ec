/* lower/threads/own_places.c - an array of a thread's own that several loops over threads walk in
 * the same way: each thread keeps the elements that it touches, and no others.
 *
 *   for t in threadIdx.x (32): for o in 4: for v in 2: P[o * 64 + t * 2 + v] = …
 *   for t in threadIdx.x (32): for o in 4: for v in 2: … P[o * 64 + t * 2 + v]   ──► P[o * 2 + v]
 *
 * An index is, in all of them, o * turn + t * stride + v with v < stride and turn = stride *
 * threads: it says which thread touches the element, so none is handed from one to another.
 *
 * Where no index says which thread, each may have a copy (ir/core/privatize.h), which stays as it
 * is. */
#include "ir/core/concurrent.h"
#include "ir/core/privatize.h"
#include "lower/ground/accesses.h"
#include "lower/threads/threads.h"

typedef struct places {
    hone_lower *lower;
    hone_arith arith;
    const hone_node **loops; /* by variable: the loop it runs in */
    bool *is_thread;         /* by variable: of the axis */
    int axis;
    uint32_t var_count;
    uint32_t rank, dimension; /* the only one that threads go along */
    int64_t stride, threads;  /* neighbouring threads are so far apart; how many there are */
    int64_t inside, turns;    /* elements of a thread in a turn; turns */
} places;

static const hone_node *loop_of(const places *p, const hone_expr *term) {
    return term->kind == HONE_EXPR_VAR ? p->loops[term->u.var] : NULL;
}

/* The greatest number that the loop counts to; -1 where it is not known, or counts from below 0. */
static int64_t last_of(const hone_node *loop) {
    int64_t min = hone_expr_const(loop->u.loop.range.min);
    int64_t extent = hone_expr_const(loop->u.loop.range.extent);
    return min < 0 || extent < 1 || min > INT32_MAX || extent > INT32_MAX ? -1 : min + extent - 1;
}

/* The loops over threads that an index goes by are of one axis and of one length. */
static bool note_threads(places *p, const hone_node *loop, int64_t coeff) {
    int64_t count = hone_expr_const(loop->u.loop.range.extent);
    bool is_first = p->stride == 0;
    if (lower_axis_of(loop) != p->axis || !hone_expr_is_int_value(loop->u.loop.range.min, 0))
        return false;
    if (is_first) {
        p->stride = coeff;
        p->threads = count;
    }
    return coeff == p->stride && count == p->threads && coeff > 0 && count > 0;
}

/* Its thread term first: the others are told apart by it. */
static bool find_stride(places *p, const hone_linear *index) {
    bool has_thread = false;
    for (uint32_t i = 0; i < index->count; i++) {
        const hone_node *loop = loop_of(p, index->terms[i].term);
        if (!loop || index->terms[i].coeff < 1 || last_of(loop) < 0) return false;
        if (!hone_loop_is_of_threads(loop)) continue;
        if (has_thread || !note_threads(p, loop, index->terms[i].coeff)) return false;
        has_thread = true;
    }
    return has_thread && index->constant >= 0 && p->stride <= INT32_MAX / p->threads;
}

/* Elements that all threads have in a turn. */
static int64_t turn_of(const places *p) {
    return p->stride * p->threads;
}

/* False where its loops go neither inside of a thread's stride nor by whole turns. */
static bool find_reach(places *p, const hone_linear *index) {
    int64_t turn = turn_of(p), inside = index->constant % turn, turns = index->constant / turn;
    for (uint32_t i = 0; i < index->count; i++) {
        const hone_node *loop = loop_of(p, index->terms[i].term);
        int64_t coeff = index->terms[i].coeff;
        if (hone_loop_is_of_threads(loop)) continue;
        if (coeff > INT32_MAX || (coeff >= p->stride && coeff % turn != 0)) return false;
        int64_t *reach = coeff < p->stride ? &inside : &turns;
        *reach += (coeff < p->stride ? coeff : coeff / turn) * last_of(loop);
        if (*reach > INT32_MAX) return false;
    }
    p->inside = inside + 1 > p->inside ? inside + 1 : p->inside;
    p->turns = turns + 1 > p->turns ? turns + 1 : p->turns;
    return true;
}

/* ---- which dimension ---- */

static bool find_dimension(places *p, const lower_accesses *all) {
    uint32_t count = 0;
    for (uint32_t d = 0; d < p->rank; d++) {
        bool is_moved = false;
        for (uint32_t i = 0; i < all->count; i++)
            is_moved |= hone_expr_uses_any(all->items[i].indices[d], p->is_thread, p->var_count);
        if (!is_moved) continue;
        p->dimension = d;
        count++;
    }
    return count == 1;
}

static bool find_places(places *p, const lower_accesses *all) {
    hone_linear index;
    if (all->is_opaque || all->count == 0 || !find_dimension(p, all)) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < all->count; i++) {
            if (!hone_linear_of(&p->arith, all->items[i].indices[p->dimension], &index) ||
                !(pass ? find_reach(p, &index) : find_stride(p, &index)))
                return false;
        }
    }
    return p->inside <= p->stride && p->turns <= INT32_MAX / p->inside;
}

/* ---- new indices ---- */

static const hone_expr *place_of(places *p, const hone_expr *element) {
    int64_t turn = turn_of(p);
    uint32_t count = 0;
    hone_linear index;
    if (!hone_linear_of(&p->arith, element, &index)) return NULL;
    for (uint32_t i = 0; i < index.count; i++) {
        hone_linear_term term = index.terms[i];
        if (hone_loop_is_of_threads(loop_of(p, term.term))) continue;
        if (term.coeff >= p->stride) term.coeff = term.coeff / turn * p->inside;
        index.terms[count++] = term;
    }
    index.count = count;
    index.constant = index.constant / turn * p->inside + index.constant % turn;
    return hone_linear_expr(&p->arith, &index, element->dtype);
}

static const hone_expr **map_index(void *ctx, const hone_expr *const *indices) {
    places *p = ctx;
    const hone_expr **out = hone_arena_alloc(p->lower->func->arena, p->rank * sizeof *out);
    for (uint32_t d = 0; out && d < p->rank; d++) {
        out[d] = d == p->dimension ? place_of(p, indices[d]) : indices[d];
        if (!out[d]) return NULL;
    }
    return out;
}

static hone_status shrink(places *p, hone_node_id alloc, hone_buffer buffer) {
    hone_func *func = p->lower->func;
    hone_buffer_info *info = &func->buffers[buffer];
    const hone_expr **shape = hone_arena_alloc(func->arena, p->rank * sizeof *shape);
    if (!shape) return LOWER_NO_MEMORY();
    for (uint32_t d = 0; d < p->rank; d++)
        shape[d] = info->shape[d];
    shape[p->dimension] =
        hone_expr_int(&p->lower->ir, shape[p->dimension]->dtype, p->inside * p->turns);
    HONE_TRY(hone_ir_finish(&p->lower->ir));
    info->shape = shape;
    return lower_map_accesses(func, alloc, buffer, map_index, p);
}

/* ---- which array ---- */

/* The lowest node at or above all accesses, of which there are some. */
static hone_node_id meet_of(const hone_func *func, const lower_accesses *all) {
    hone_node_id meet = all->items[0].node;
    for (uint32_t i = 1; i < all->count; i++)
        meet = hone_tree_lca(func, meet, all->items[i].node);
    return meet;
}

/* Each thread may have a copy of the array as it stands. */
static bool has_copies(places *p, const lower_accesses *all, hone_buffer buffer) {
    const hone_func *func = p->lower->func;
    if (all->is_opaque || all->count == 0) return false;
    return hone_find_private_copies(func, buffer, meet_of(func, all), lower_axis_tag(p->axis),
                                    p->is_thread)
        .is_private;
}

static hone_status find_loops(places *p, hone_node_id launch) {
    const hone_func *func = p->lower->func;
    p->var_count = func->var_count;
    p->loops = hone_arena_alloc(func->arena, p->var_count * sizeof *p->loops);
    p->is_thread = hone_arena_alloc(func->arena, p->var_count);
    if (!p->loops || !p->is_thread) return LOWER_NO_MEMORY();
    for (hone_var v = 0; v < p->var_count; v++) {
        p->loops[v] = NULL;
        p->is_thread[v] = false;
    }
    for (hone_node_id n = launch; n != HONE_NO_ID; n = hone_tree_next(func, launch, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        p->loops[node->u.loop.var] = node;
        p->is_thread[node->u.loop.var] = lower_axis_of(node) == p->axis;
    }
    return HONE_OK;
}

hone_status lower_keep_own_places(hone_lower *lower, hone_node_id launch, hone_node_id alloc,
                                  int axis, bool may_change, bool *out_are_own) {
    hone_func *func = lower->func;
    hone_buffer buffer = hone_func_node(func, alloc)->u.alloc.buffer;
    const hone_buffer_info *info = &func->buffers[buffer];
    places p = {.lower = lower, .axis = axis, .rank = info->rank, .inside = 1};
    lower_accesses all;
    *out_are_own = false;
    if (info->strides || info->elem_offset) return HONE_OK;
    HONE_TRY(find_loops(&p, launch));
    hone_arith_init(&p.arith, func->arena);
    HONE_TRY(lower_find_accesses(func, alloc, buffer, &all));
    *out_are_own = find_places(&p, &all);
    if (*out_are_own) return may_change ? shrink(&p, alloc, buffer) : HONE_OK;
    *out_are_own = has_copies(&p, &all, buffer);
    return HONE_OK;
}
