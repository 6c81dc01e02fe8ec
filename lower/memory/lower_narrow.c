/* lower/memory/lower_narrow.c - the pass that shrinks what tensor intrinsics see through views.
 * needs: blocks. keeps: what is computed. A buffer of which blocks make views (fragments of matrix
 * units, the shared memory that they are filled from) is known by the regions that blocks declare;
 * once views are gone it is known by pointers only. So it shrinks here, to what is touched in one
 * iteration of the innermost loop that holds all uses of it and writes all that it reads; which
 * loop that is is kept for pipelines. */
#include <string.h>

#include "ir/region/region.h"
#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"
#include "support/data/tensor.h"

enum { MOST_USES = 24 };

typedef struct narrowing {
    lower_scope scope;
    hone_buffer buffer;
    hone_node_id owner, place;    /* the block that allocates it; what holds all uses */
    hone_node_id uses[MOST_USES]; /* outermost blocks that declare it, in order */
    uint32_t use_count;
    const hone_expr *mins[HONE_MAX_RANK];
} narrowing;

static uint32_t rank_of(const narrowing *n) {
    return n->scope.lower->func->buffers[n->buffer].rank;
}

/* ---- uses ---- */

static bool declares(const hone_block *block, hone_buffer buffer) {
    return hone_region_of(block->read_count, block->reads, buffer) ||
           hone_region_of(block->write_count, block->writes, buffer);
}

static bool makes_view(const hone_func *func, hone_node_id root, hone_buffer buffer) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        const hone_block *block = node->kind == HONE_NODE_BLOCK ? node->u.block.block : NULL;
        for (uint32_t i = 0; block && i < block->match_count; i++)
            if (block->matches[i].source.buffer == buffer) return true;
    }
    return false;
}

/* All accesses stand in blocks that declare them. False: not so, or too many. */
static bool find_uses(narrowing *n) {
    const hone_func *func = n->scope.lower->func;
    lower_accesses all;
    n->use_count = 0;
    for (hone_node_id at = n->owner, next; at != HONE_NO_ID; at = next) {
        const hone_node *node = hone_func_node(func, at);
        bool is_use = at != n->owner && node->kind == HONE_NODE_BLOCK &&
                      declares(node->u.block.block, n->buffer);
        next =
            is_use ? hone_tree_next_over(func, n->owner, at) : hone_tree_next(func, n->owner, at);
        if (is_use && n->use_count == MOST_USES) return false;
        if (is_use) n->uses[n->use_count++] = at;
    }
    if (n->use_count < 2 || hone_status_consume(lower_find_accesses(func, 0, n->buffer, &all)))
        return false;
    n->place = n->uses[0];
    for (uint32_t i = 1; i < n->use_count; i++)
        n->place = hone_tree_lca(func, n->place, n->uses[i]);
    for (uint32_t i = 0; i < all.count; i++) {
        bool is_inside = false;
        for (uint32_t k = 0; k < n->use_count; k++)
            is_inside |= hone_tree_is_ancestor(func, n->uses[k], all.items[i].node);
        if (!is_inside) return false;
    }
    return true;
}

/* ---- what is touched in one iteration of the place ---- */

typedef struct box {
    hone_interval dims[HONE_MAX_RANK];
    bool is_exact;
} box;

static bool relax(narrowing *n, hone_node_id block, const hone_region *region, box *out) {
    const hone_func *func = n->scope.lower->func;
    hone_status st = hone_region_relax(&n->scope.arith, func, block, region, n->scope.loops,
                                       n->scope.var_count, out->dims, &out->is_exact);
    if (hone_status_consume(st)) return false;
    for (uint32_t d = 0; d < rank_of(n); d++) {
        if (!out->dims[d].min || !out->dims[d].max) return false;
    }
    return true;
}

static bool covers(narrowing *n, const box *outer, const box *inner) {
    hone_ir *ir = &n->scope.arith.ir;
    for (uint32_t d = 0; d < rank_of(n); d++) {
        const hone_expr *low =
            hone_expr_binary(ir, HONE_OP_LE, outer->dims[d].min, inner->dims[d].min);
        const hone_expr *high =
            hone_expr_binary(ir, HONE_OP_LE, inner->dims[d].max, outer->dims[d].max);
        if (!low || !high || !hone_prove(&n->scope.arith, low) ||
            !hone_prove(&n->scope.arith, high))
            return false;
    }
    return true;
}

static bool join(narrowing *n, box *hull, const box *one, bool is_first) {
    for (uint32_t d = 0; d < rank_of(n); d++) {
        hull->dims[d] = is_first
                            ? one->dims[d]
                            : hone_interval_union(&n->scope.arith, hull->dims[d], one->dims[d]);
        if (!hull->dims[d].min || !hull->dims[d].max) return false;
    }
    return true;
}

/* The hull of all that is touched; all that is read was written by the first use, as a whole. */
static bool find_hull(narrowing *n, box *hull) {
    const hone_func *func = n->scope.lower->func;
    box written = {.is_exact = false}, one;
    for (uint32_t i = 0; i < n->use_count; i++) {
        const hone_block *block = hone_func_node(func, n->uses[i])->u.block.block;
        const hone_region *read = hone_region_of(block->read_count, block->reads, n->buffer);
        const hone_region *write = hone_region_of(block->write_count, block->writes, n->buffer);
        if (i == 0 && (read || !write)) return false;
        if (write) {
            if (!relax(n, n->uses[i], write, &one) || !join(n, hull, &one, i == 0)) return false;
            if (i == 0) written = one;
        }
        if (!read) continue;
        if (!relax(n, n->uses[i], read, &one) || !join(n, hull, &one, false)) return false;
        if (!written.is_exact || !covers(n, &written, &one)) return false;
    }
    return true;
}

static hone_status look_at_place(narrowing *n, box *hull, bool *out_is_known) {
    const hone_func *func = n->scope.lower->func;
    const hone_node *node = hone_func_node(func, n->place);
    HONE_TRY(lower_enter(&n->scope, n->place,
                         node->kind == HONE_NODE_FOR ? node->u.loop.var : HONE_NO_ID));
    lower_count_sharers(&n->scope, n->place, func->buffers[n->buffer].scope);
    *out_is_known = find_hull(n, hull);
    return hone_ir_finish(&n->scope.arith.ir);
}

/* ---- the smaller buffer ---- */

static const hone_expr *less(narrowing *n, uint32_t d, const hone_expr *index) {
    if (!n->mins[d] || !index) return index;
    const hone_expr *e = hone_expr_sub(&n->scope.lower->ir, index, n->mins[d]);
    return e ? hone_simplify(&n->scope.arith, e) : NULL;
}

static const hone_expr **shifted(void *ctx, const hone_expr *const *indices) {
    narrowing *n = ctx;
    const hone_expr **out =
        hone_arena_alloc(n->scope.lower->func->arena, (rank_of(n) + 1) * sizeof *out);
    for (uint32_t d = 0; out && d < rank_of(n); d++) {
        out[d] = less(n, d, indices[d]);
        if (!out[d]) return NULL;
    }
    return out;
}

static hone_status shift_region(narrowing *n, hone_region *region) {
    hone_arena *arena = n->scope.lower->func->arena;
    if (region->buffer != n->buffer) return HONE_OK;
    hone_range *ranges = hone_arena_alloc(arena, (rank_of(n) + 1) * sizeof *ranges);
    if (!ranges) return LOWER_NO_MEMORY();
    for (uint32_t d = 0; d < rank_of(n); d++)
        ranges[d] = (hone_range){less(n, d, region->ranges[d].min), region->ranges[d].extent};
    region->ranges = ranges;
    return hone_ir_finish(&n->scope.lower->ir);
}

static hone_status shift_regions(narrowing *n, uint32_t count, const hone_region **io_regions) {
    hone_arena *arena = n->scope.lower->func->arena;
    hone_region *copy = hone_arena_alloc(arena, (count + 1) * sizeof *copy);
    if (!copy) return LOWER_NO_MEMORY();
    if (count) memcpy(copy, *io_regions, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(shift_region(n, &copy[i]));
    *io_regions = copy;
    return HONE_OK;
}

static hone_status shift_block(narrowing *n, hone_node_id id) {
    hone_func *func = n->scope.lower->func;
    hone_block *block = hone_block_copy(func->arena, hone_func_node(func, id)->u.block.block);
    hone_match *matches =
        block ? hone_arena_alloc(func->arena, (block->match_count + 1) * sizeof *matches) : NULL;
    if (!matches) return LOWER_NO_MEMORY();
    if (block->match_count) memcpy(matches, block->matches, block->match_count * sizeof *matches);
    for (uint32_t i = 0; i < block->match_count; i++)
        HONE_TRY(shift_region(n, &matches[i].source));
    block->matches = matches;
    HONE_TRY(shift_regions(n, block->read_count, &block->reads));
    HONE_TRY(shift_regions(n, block->write_count, &block->writes));
    hone_func_node(func, id)->u.block.block = block;
    return HONE_OK;
}

/* A block sees loops by axes only: one more for a loop that a min depends on. */
static hone_status add_axis(narrowing *n, hone_node_id use, hone_node_id loop) {
    hone_func *func = n->scope.lower->func;
    hone_ir *ir = &n->scope.lower->ir;
    const hone_node outer = *hone_func_node(func, loop);
    const hone_node node = *hone_func_node(func, use);
    uint32_t count = node.u.block.block->axis_count;
    hone_block *block = hone_block_copy(func->arena, node.u.block.block);
    hone_axis *axes = hone_arena_alloc(func->arena, (count + 1) * sizeof *axes);
    hone_dtype dtype = func->vars[outer.u.loop.var].dtype;
    hone_var var = hone_func_add_var(func, func->vars[outer.u.loop.var].name, dtype);
    const hone_expr *index = hone_func_var_expr(ir, func, outer.u.loop.var);
    if (!block || !axes || var == HONE_NO_ID || !index) return LOWER_NO_MEMORY();
    if (count) memcpy(axes, block->axes, count * sizeof *axes);
    axes[count] = (hone_axis){var, HONE_AXIS_OPAQUE, outer.u.loop.range};
    block->axes = axes;
    block->axis_count = count + 1;
    const hone_expr **bindings = hone_arena_alloc(func->arena, (count + 1) * sizeof *bindings);
    if (!bindings) return LOWER_NO_MEMORY();
    if (count) memcpy(bindings, node.u.block.bindings, count * sizeof *bindings);
    bindings[count] = index;
    hone_func_node(func, use)->u.block.block = block;
    hone_func_node(func, use)->u.block.bindings = bindings;
    for (uint32_t d = 0; d < rank_of(n); d++) {
        if (!n->mins[d]) continue;
        n->mins[d] = hone_expr_substitute_one(ir, n->mins[d], outer.u.loop.var,
                                              hone_expr_var(ir, dtype, var));
    }
    return hone_ir_finish(ir);
}

/* The mins as the block sees them. */
static hone_status add_axes(narrowing *n, hone_node_id use) {
    const hone_func *func = n->scope.lower->func;
    for (hone_node_id a = hone_func_node(func, use)->parent; a != HONE_NO_ID;
         a = hone_func_node(func, a)->parent) {
        const hone_node *node = hone_func_node(func, a);
        bool is_used = false;
        for (uint32_t d = 0; node->kind == HONE_NODE_FOR && d < rank_of(n); d++)
            is_used |= n->mins[d] && hone_expr_uses_var(n->mins[d], node->u.loop.var);
        if (is_used) HONE_TRY(add_axis(n, use, a));
    }
    return HONE_OK;
}

static hone_status apply_to(narrowing *n, hone_node_id use) {
    hone_func *func = n->scope.lower->func;
    HONE_TRY(add_axes(n, use));
    HONE_TRY(lower_map_accesses(func, use, n->buffer, shifted, n));
    for (hone_node_id c = use; c != HONE_NO_ID; c = hone_tree_next(func, use, c)) {
        if (hone_func_node(func, c)->kind == HONE_NODE_BLOCK) HONE_TRY(shift_block(n, c));
    }
    return HONE_OK;
}

static hone_status apply(narrowing *n, const hone_expr *const *shape) {
    const hone_expr *mins[HONE_MAX_RANK];
    memcpy(mins, n->mins, sizeof mins);
    n->scope.lower->func->buffers[n->buffer].shape = shape;
    for (uint32_t i = 0; i < n->use_count; i++) {
        memcpy(n->mins, mins, sizeof mins);
        HONE_TRY(apply_to(n, n->uses[i]));
    }
    return hone_ir_finish(&n->scope.lower->ir);
}

/* Extents by dimension; the mins of those that shrink. *out_shape: NULL where none does. */
static hone_status shrink(narrowing *n, const box *hull, const hone_expr ***out_shape) {
    hone_func *func = n->scope.lower->func;
    hone_arith *arith = &n->scope.arith;
    const hone_buffer_info *info = &func->buffers[n->buffer];
    const hone_expr **shape = hone_arena_alloc(func->arena, (info->rank + 1) * sizeof *shape);
    bool is_smaller = false;
    if (!shape) return LOWER_NO_MEMORY();
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *span = hone_expr_sub(&arith->ir, hull->dims[d].max, hull->dims[d].min);
        span = span ? hone_simplify(arith, span) : NULL;
        if (!span) return hone_ir_finish(&arith->ir);
        hone_bound bound = hone_arith_bound(arith, span);
        int64_t whole = hone_expr_const(info->shape[d]);
        bool shrinks = bound.max != HONE_BOUND_POS_INF && (whole < 0 || bound.max + 1 < whole);
        n->mins[d] = shrinks ? hull->dims[d].min : NULL;
        shape[d] = shrinks
                       ? hone_expr_int(&n->scope.lower->ir, info->shape[d]->dtype, bound.max + 1)
                       : info->shape[d];
        is_smaller |= shrinks;
    }
    *out_shape = is_smaller ? shape : NULL;
    return hone_ir_finish(&n->scope.lower->ir);
}

static hone_status narrow(narrowing *n) {
    const hone_func *func = n->scope.lower->func;
    const hone_buffer_info *info = &func->buffers[n->buffer];
    bool is_plain = !info->strides && !info->elem_offset && info->rank <= HONE_MAX_RANK;
    if (!is_plain || !makes_view(func, n->owner, n->buffer) || !find_uses(n)) return HONE_OK;
    for (; n->place != n->owner; n->place = hone_func_node(func, n->place)->parent) {
        box hull;
        bool is_known = false;
        HONE_TRY(look_at_place(n, &hull, &is_known));
        if (!is_known) continue;
        const hone_node *home = hone_func_node(func, n->place);
        if (home->kind == HONE_NODE_FOR) n->scope.lower->homes[n->buffer] = home->u.loop.var;
        const hone_expr **shape = NULL;
        HONE_TRY(shrink(n, &hull, &shape));
        return shape ? apply(n, shape) : HONE_OK;
    }
    return HONE_OK;
}

static hone_status make_homes(hone_lower *lower) {
    uint32_t count = lower->func->buffer_count;
    lower->homes = hone_arena_alloc(lower->func->arena, (count + 1) * sizeof *lower->homes);
    if (!lower->homes) return LOWER_NO_MEMORY();
    for (uint32_t b = 0; b < count; b++)
        lower->homes[b] = HONE_NO_ID;
    lower->home_count = count;
    return HONE_OK;
}

hone_status lower_narrow(hone_lower *lower) {
    hone_func *func = lower->func;
    narrowing n = {.scope.lower = lower};
    HONE_TRY(make_homes(lower));
    hone_arith_init(&n.scope.arith, func->arena);
    for (hone_node_id at = 0; at != HONE_NO_ID; at = hone_tree_next(func, 0, at)) {
        const hone_node *node = hone_func_node(func, at);
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        for (uint32_t i = 0; i < block->alloc_count; i++) {
            n.owner = at;
            n.buffer = block->allocs[i];
            HONE_TRY(narrow(&n));
        }
    }
    return hone_ir_finish(&n.scope.arith.ir);
}
