/* lower/memory/lower_compact.c - the pass that shrinks buffers to what is touched of them.
 * needs: ALLOC nodes where they belong, no blocks, no flat buffers. keeps: what is computed. A
 * buffer shrinks to the region that is touched while it lives: every index is counted from the
 * first element that is. */
#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"
#include "lower/memory/alignment.h"
#include "support/data/tensor.h"

typedef struct compactor {
    lower_scope scope;
    hone_buffer buffer;
    const hone_expr *mins[HONE_MAX_RANK];
} compactor;

static int64_t most_of(compactor *c, const hone_expr *span) {
    if (!span) return HONE_BOUND_POS_INF;
    return hone_arith_bound(&c->scope.arith, hone_simplify(&c->scope.arith, span)).max;
}

/* The most that an end lies behind the first element. Where edges cut accesses off it is a maximum
 * of minima, of which one side may be known when the other one, and the whole, is not. */
static int64_t most_behind(compactor *c, const hone_expr *end, const hone_expr *first) {
    int64_t whole = most_of(c, hone_expr_sub(&c->scope.arith.ir, end, first));
    if (whole != HONE_BOUND_POS_INF) return whole;
    const bool is_least = hone_expr_is_op(end, HONE_OP_MIN);
    if (!is_least && !hone_expr_is_op(end, HONE_OP_MAX)) return whole;
    int64_t a = most_behind(c, end->args[0], first), b = most_behind(c, end->args[1], first);
    return (a < b) == is_least ? a : b;
}

/* The region touched in one dimension: its first element and its constant extent; false when it is
 * not known, or is no smaller than the buffer. */
static bool region_of(compactor *c, const lower_accesses *all, uint32_t d,
                      const hone_expr **out_min, int64_t *out_extent) {
    const hone_func *func = c->scope.lower->func;
    hone_interval hull = {NULL, NULL};
    for (uint32_t i = 0; i < all->count; i++) {
        hone_interval one = lower_range_below(&c->scope, all->items[i].indices[d]);
        if (!one.min || !one.max) return false;
        hull = i == 0 ? one : hone_interval_union(&c->scope.arith, hull, one);
        if (!hull.min || !hull.max) return false;
    }
    const int64_t most = most_behind(c, hull.max, hull.min);
    const hone_expr *whole = func->buffers[c->buffer].shape[d]; /* of any size: all is smaller */
    if (most == HONE_BOUND_POS_INF) return false;
    if (hone_expr_is_int(whole) && most + 1 >= whole->u.i) return false;
    *out_min = hull.min;
    *out_extent = most + 1;
    return true;
}

static const hone_expr **shifted(void *ctx, const hone_expr *const *indices) {
    compactor *c = ctx;
    hone_func *func = c->scope.lower->func;
    uint32_t rank = func->buffers[c->buffer].rank;
    const hone_expr **out = hone_arena_alloc(func->arena, rank * sizeof *out);
    if (!out) return NULL;
    for (uint32_t d = 0; d < rank; d++) {
        out[d] = indices[d];
        if (!c->mins[d]) continue;
        out[d] = hone_expr_sub(&c->scope.lower->ir, indices[d], c->mins[d]);
        if (out[d]) out[d] = hone_simplify(&c->scope.arith, out[d]);
        if (!out[d]) return NULL;
    }
    return out;
}

static hone_status compact(compactor *c, hone_node_id alloc, const lower_accesses *by_buffer) {
    hone_func *func = c->scope.lower->func;
    c->buffer = hone_func_node(func, alloc)->u.alloc.buffer;
    hone_buffer_info info = func->buffers[c->buffer];
    const lower_accesses all = by_buffer[c->buffer];
    bool is_plain = !info.strides && !info.elem_offset && info.rank <= HONE_MAX_RANK;
    if (all.is_opaque || all.count == 0 || !is_plain) return HONE_OK;
    HONE_TRY(lower_enter_for(&c->scope, alloc, &all));
    lower_count_sharers(&c->scope, alloc, info.scope);
    const hone_expr **shape = hone_arena_alloc(func->arena, (info.rank + 1) * sizeof *shape);
    if (!shape) return LOWER_NO_MEMORY();
    bool is_smaller = false;
    for (uint32_t d = 0; d < info.rank; d++) {
        int64_t extent = 0;
        c->mins[d] = NULL;
        shape[d] = info.shape[d];
        if (!region_of(c, &all, d, &c->mins[d], &extent)) {
            c->mins[d] = NULL;
            continue;
        }
        shape[d] = hone_expr_int(&c->scope.lower->ir, info.shape[d]->dtype, extent);
        if (!shape[d]) return hone_ir_finish(&c->scope.lower->ir);
        is_smaller = true;
    }
    if (!is_smaller) return HONE_OK;
    func->buffers[c->buffer].shape = shape;
    return lower_map_listed(func, alloc, &all, c->buffer, shifted, c);
}

hone_status lower_compact(hone_lower *lower) {
    hone_func *func = lower->func;
    compactor c = {.scope.lower = lower};
    lower_accesses *by_buffer;
    HONE_TRY(lower_find_all_accesses(func, &by_buffer));
    hone_arith_init(&c.scope.arith, func->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_ALLOC) continue;
        HONE_TRY(compact(&c, n, by_buffer));
        HONE_TRY(lower_align_buffer(lower, hone_func_node(func, n)->u.alloc.buffer));
    }
    return hone_ir_finish(&c.scope.arith.ir);
}
