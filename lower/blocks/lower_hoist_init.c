/* lower/blocks/lower_hoist_init.c - the pass that moves inits of reductions in front of their
 * loops.
 * needs: blocks. keeps: what is computed. The INIT of a reduction block moves into a block of its
 * own in front of the outermost loop that the reduction runs over, with copies of the spatial loops
 * inside of that loop; so the reduction's body has no condition. Left alone (for lower_init): a
 * loop that serves both kinds of axes, another statement in between that touches the output, a
 * predicate that mixes both and loads, iterations of the spatial loops that meet in an element, or
 * of the reducing ones that start anew: the later one begins it anew. */
#include "ir/region/relation.h"
#include "lower/ground/accesses.h"
#include "lower/ground/pipelined.h"
#include "lower/ground/scope.h"

enum { MAX_DEPTH = 64 };

typedef struct nest {
    hone_node_id block, init;
    hone_node_id loops[MAX_DEPTH]; /* around the block, innermost first, up to outermost reducing */
    bool is_reducing[MAX_DEPTH];
    uint32_t count;
} nest;

static bool uses_in(const hone_node *block, hone_var var, bool reduce) {
    const hone_block *b = block->u.block.block;
    for (uint32_t i = 0; i < b->axis_count; i++) {
        bool is_reduce = b->axes[i].kind == HONE_AXIS_REDUCE;
        if (is_reduce == reduce && hone_expr_uses_var(block->u.block.bindings[i], var)) return true;
    }
    return false;
}

/* A copied loop must not depend on a loop that is left behind. */
static bool ranges_are_independent(const hone_func *func, const nest *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        const hone_range *range = &hone_func_node(func, n->loops[i])->u.loop.range;
        for (uint32_t j = i + 1; j < n->count && !n->is_reducing[i]; j++) {
            hone_var var = hone_func_node(func, n->loops[j])->u.loop.var;
            if (!n->is_reducing[j]) continue;
            if (hone_expr_uses_var(range->min, var) || hone_expr_uses_var(range->extent, var)) {
                return false;
            }
        }
    }
    return true;
}

/* The loops from the block out to the outermost one that a reduction axis is bound to. */
static bool find_nest(const hone_func *func, nest *n) {
    const hone_node *block = hone_func_node(func, n->block);
    uint32_t depth = 0, outermost = 0;
    bool is_direct = true; /* nothing but loops so far */
    for (hone_node_id p = block->parent; p != HONE_NO_ID; p = hone_func_node(func, p)->parent) {
        const hone_node *node = hone_func_node(func, p);
        if (node->kind == HONE_NODE_BLOCK || node->kind == HONE_NODE_TOP) break;
        is_direct &= node->kind == HONE_NODE_FOR || node->kind == HONE_NODE_ATTR;
        if (node->kind != HONE_NODE_FOR) continue;
        if (!is_direct && uses_in(block, node->u.loop.var, true)) return false;
        if (!is_direct) continue;
        if (depth == MAX_DEPTH) return false;
        n->loops[depth] = p;
        n->is_reducing[depth] = uses_in(block, node->u.loop.var, true);
        bool is_spatial = uses_in(block, node->u.loop.var, false);
        if (n->is_reducing[depth] && is_spatial) return false;
        depth++;
        if (n->is_reducing[depth - 1]) outermost = depth;
    }
    n->count = outermost;
    return outermost > 0 && ranges_are_independent(func, n);
}

typedef struct touch {
    const hone_func *func;
    hone_node_id except;
    hone_buffer buffer;
    bool is_touched;
} touch;

static bool is_touch(const void *ctx, const hone_expr *e) {
    const touch *t = ctx;
    return (e->kind == HONE_EXPR_LOAD && e->u.buffer == t->buffer) || hone_expr_is_effect(e);
}

static void look_at(void *ctx, hone_node_id at, const hone_expr *e) {
    touch *t = ctx;
    bool is_own = at == t->except || hone_tree_is_ancestor(t->func, t->except, at);
    if (!is_own) t->is_touched |= hone_expr_find(e, is_touch, t) != NULL;
}

/* Whether something below root, but not below except, touches the buffer. */
static bool others_touch(const hone_func *func, hone_node_id root, hone_node_id except,
                         hone_buffer buffer) {
    touch t = {func, except, buffer, false};
    hone_tree_walk_exprs(func, root, false, look_at, &t);
    for (hone_node_id n = hone_tree_next(func, root, root); n != HONE_NO_ID && !t.is_touched;
         n = n == except ? hone_tree_next_over(func, root, n) : hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE) t.is_touched = node->u.store.buffer == buffer;
        if (node->kind != HONE_NODE_BLOCK || n == except) continue;
        for (uint32_t i = 0; i < node->u.block.block->match_count; i++)
            t.is_touched |= node->u.block.block->matches[i].source.buffer == buffer;
    }
    return t.is_touched;
}

/* A block inside of the init (of a block that was blockized) that only stands around its stores. */
static bool is_bare_block(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    const hone_block *block = node->u.block.block;
    if (block->match_count || block->alloc_count || hone_block_init_of(func, id) != HONE_NO_ID) {
        return false;
    }
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (!hone_expr_is_pure_index(node->u.block.bindings[i])) return false;
    }
    return !node->u.block.predicate || hone_expr_is_pure_index(node->u.block.predicate);
}

/* Every store of the init goes to a buffer that nobody else in the nest touches, and reads
 * nothing that the nest may write: constants and what does not change. */
static bool init_is_isolated(hone_func *func, const nest *n) {
    hone_node_id root = n->loops[n->count - 1];
    for (hone_node_id s = n->init; s != HONE_NO_ID; s = hone_tree_next(func, n->init, s)) {
        const hone_node *node = hone_func_node(func, s);
        if (node->kind == HONE_NODE_INIT || node->kind == HONE_NODE_FOR) continue;
        if (node->kind == HONE_NODE_BLOCK && is_bare_block(func, s)) continue;
        if (node->kind != HONE_NODE_STORE) return false;
        if (!hone_expr_is_pure_index(node->u.store.value)) return false;
        if (others_touch(func, root, n->block, node->u.store.buffer)) return false;
    }
    return true;
}

/* No two iterations of the spatial loops in the nest drive the same instance. */
static bool loops_are_injective(hone_lower *lower, hone_arith *arith, const nest *n) {
    const hone_node *block = hone_func_node(lower->func, n->block);
    const hone_block *b = block->u.block.block;
    hone_iter iters[MAX_DEPTH];
    uint32_t iter_count = 0, count = 0;
    const hone_expr **indices =
        hone_arena_alloc(lower->func->arena, (b->axis_count + 1) * sizeof *indices);
    for (uint32_t i = 0; i < n->count; i++) {
        const hone_node *loop = hone_func_node(lower->func, n->loops[i]);
        if (!n->is_reducing[i])
            iters[iter_count++] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
    }
    for (uint32_t a = 0; indices && a < b->axis_count; a++) {
        if (b->axes[a].kind != HONE_AXIS_REDUCE) indices[count++] = block->u.block.bindings[a];
    }
    return iter_count == 0 ||
           (indices && hone_itermap_is_injective(arith, count, indices, iter_count, iters));
}

/* The first iterations of the reducing loops, by variable; NULL where memory is short. */
static const hone_expr **find_starts(const hone_lower *lower, const nest *n) {
    const hone_expr **starts =
        hone_arena_zalloc(lower->func->arena, (lower->func->var_count + 1) * sizeof *starts);
    for (uint32_t i = 0; starts && i < n->count; i++) {
        const hone_node *loop = hone_func_node(lower->func, n->loops[i]);
        if (n->is_reducing[i]) starts[loop->u.loop.var] = loop->u.loop.range.min;
    }
    return starts;
}

/* The reducing loops run over the reduction once, from its start. */
static bool reduces_once(hone_lower *lower, hone_arith *arith, const nest *n) {
    const hone_node *block = hone_func_node(lower->func, n->block);
    const hone_block *b = block->u.block.block;
    hone_arena *arena = lower->func->arena;
    hone_iter iters[MAX_DEPTH];
    uint32_t iter_count = 0, count = 0, var_count = lower->func->var_count;
    const hone_expr **indices = hone_arena_alloc(arena, (b->axis_count + 1) * sizeof *indices);
    const hone_expr **starts = find_starts(lower, n);
    if (!indices || !starts) return false;
    for (uint32_t i = 0; i < n->count; i++) {
        const hone_node *loop = hone_func_node(lower->func, n->loops[i]);
        if (!n->is_reducing[i]) continue;
        iters[iter_count++] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
    }
    for (uint32_t a = 0; a < b->axis_count; a++) {
        if (b->axes[a].kind != HONE_AXIS_REDUCE) continue;
        indices[count] = block->u.block.bindings[a];
        const hone_expr *first =
            hone_expr_substitute(&arith->ir, indices[count++], starts, var_count);
        if (!first || !hone_prove_equal(arith, first, b->axes[a].dom.min)) return false;
    }
    return hone_itermap_is_injective(arith, count, indices, iter_count, iters);
}

/* No two instances store to the same element. */
static bool stores_are_disjoint(hone_lower *lower, hone_arith *arith, const nest *n) {
    const hone_func *func = lower->func;
    const hone_block *b = hone_func_node(func, n->block)->u.block.block;
    hone_iter *iters = hone_arena_alloc(func->arena, (b->axis_count + 1) * sizeof *iters);
    uint32_t count = 0;
    for (uint32_t a = 0; iters && a < b->axis_count; a++) {
        if (b->axes[a].kind != HONE_AXIS_REDUCE)
            iters[count++] = (hone_iter){b->axes[a].var, b->axes[a].dom};
    }
    bool is_disjoint = iters != NULL;
    for (hone_node_id s = hone_func_node(func, n->init)->first; s != HONE_NO_ID && is_disjoint;
         s = hone_func_node(func, s)->next) {
        const hone_node *node = hone_func_node(func, s);
        if (node->kind != HONE_NODE_STORE) continue; /* as blockize leaves them: apart before */
        hone_relation rel;
        hone_relation_begin(&rel, arith, func, node->u.store.buffer, n->block);
        hone_relation_add_element(&rel, s, node->u.store.indices);
        is_disjoint = hone_is_injective(&rel, count, iters);
    }
    return is_disjoint;
}

static hone_status check_injective(hone_lower *lower, const nest *n, bool *out_is_injective) {
    hone_arith arith;
    hone_arith_init(&arith, lower->func->arena);
    if (!hone_arith_bind_sizes(&arith, lower->func)) return LOWER_NO_MEMORY();
    HONE_TRY(lower_bind_around(lower->func, n->block, &arith));
    *out_is_injective = loops_are_injective(lower, &arith, n) && reduces_once(lower, &arith, n) &&
                        stores_are_disjoint(lower, &arith, n);
    return hone_ir_finish(&arith.ir);
}

/* Splits the predicate: a part that speaks only of dropped loops goes with them; one that speaks of
 * something else, too, be it a loop around the nest, stays as it is where these begin: there the
 * init ran. */
typedef struct predicate_split {
    hone_lower *lower;
    const nest *nest;
    const hone_expr *const *starts; /* of dropped loops */
    const hone_expr *kept;
    bool has_dropped, has_kept; /* in the part that is looked at */
} predicate_split;

static bool note_part_var(void *ctx, const hone_expr *e) {
    predicate_split *p = ctx;
    if (e->kind != HONE_EXPR_VAR) return true;
    bool is_dropped = false;
    for (uint32_t i = 0; i < p->nest->count; i++) {
        const hone_node *loop = hone_func_node(p->lower->func, p->nest->loops[i]);
        is_dropped |= p->nest->is_reducing[i] && loop->u.loop.var == e->u.var;
    }
    p->has_dropped |= is_dropped;
    p->has_kept |= !is_dropped;
    return true;
}

static bool split_part(void *ctx, const hone_expr *part) {
    predicate_split *p = ctx;
    p->has_dropped = p->has_kept = false;
    hone_expr_walk(part, note_part_var, p);
    if (p->has_dropped && p->has_kept) {
        if (!hone_expr_is_pure_index(part)) return false;
        part = hone_expr_substitute(&p->lower->ir, part, p->starts, p->lower->func->var_count);
        p->has_dropped = false;
    }
    if (!p->has_dropped) p->kept = lower_and(&p->lower->ir, p->kept, part);
    return true;
}

/* The block of the init: the spatial axes with their bindings, the init's statements. */
static hone_status make_init_block(hone_lower *lower, const nest *n, const hone_expr *predicate,
                                   hone_node_id *out_block) {
    hone_func *func = lower->func;
    const hone_node *old = hone_func_node(func, n->block);
    hone_block *block = hone_block_copy(func->arena, old->u.block.block);
    uint32_t count = old->u.block.block->axis_count;
    hone_axis *axes = hone_arena_alloc(func->arena, (count + 1) * sizeof *axes);
    const hone_expr **bindings = hone_arena_alloc(func->arena, (count + 1) * sizeof *bindings);
    if (!block || !axes || !bindings) return LOWER_NO_MEMORY();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (old->u.block.block->axes[i].kind == HONE_AXIS_REDUCE) continue;
        axes[kept] = old->u.block.block->axes[i];
        hone_var fresh = hone_func_add_var(func, func->vars[axes[kept].var].name,
                                           func->vars[axes[kept].var].dtype);
        if (fresh == HONE_NO_ID) return LOWER_NO_MEMORY();
        const hone_expr *value = hone_func_var_expr(&lower->ir, func, fresh);
        if (!value) return hone_ir_finish(&lower->ir);
        HONE_TRY(lower_substitute_one(func, n->init, axes[kept].var, value));
        old = hone_func_node(func, n->block);
        axes[kept].var = fresh;
        bindings[kept++] = old->u.block.bindings[i];
    }
    block->name = hone_arena_printf(func->arena, "%s_init", block->name);
    if (!block->name) return LOWER_NO_MEMORY();
    block->axes = axes;
    block->axis_count = kept;
    block->read_count = block->write_count = block->alloc_count = block->match_count = 0;
    block->annotations = (hone_attrs){0};
    *out_block = hone_func_add_node(func, HONE_NODE_BLOCK);
    if (*out_block == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_node *node = hone_func_node(func, *out_block);
    node->u.block.block = block;
    node->u.block.bindings = bindings;
    node->u.block.predicate = predicate;
    hone_tree_move_children(func, n->init, *out_block);
    hone_tree_remove(func, n->init);
    return HONE_OK;
}

/* Copies of the spatial loops around the new block, with variables of their own. */
static hone_status wrap_loops(hone_lower *lower, const nest *n, hone_node_id *io_node) {
    hone_func *func = lower->func;
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->is_reducing[i]) continue;
        hone_node old = *hone_func_node(func, n->loops[i]);
        hone_var fresh = hone_func_add_var(func, func->vars[old.u.loop.var].name,
                                           func->vars[old.u.loop.var].dtype);
        if (fresh == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_node_id loop =
            hone_func_add_loop(func, fresh, (hone_loop_kind)old.loop_kind, old.u.loop.range);
        if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_attrs *annotations = &hone_func_node(func, loop)->u.loop.annotations;
        *annotations = old.u.loop.annotations;
        if (!lower_drop_pipeline(func, annotations)) return LOWER_NO_MEMORY();
        hone_func_node(func, loop)->u.loop.thread_tag = old.u.loop.thread_tag;
        hone_tree_append(func, loop, *io_node);
        const hone_expr *value = hone_func_var_expr(&lower->ir, func, fresh);
        if (!value) return hone_ir_finish(&lower->ir);
        HONE_TRY(lower_substitute_one(func, loop, old.u.loop.var, value));
        *io_node = loop;
    }
    return HONE_OK;
}

static hone_status hoist(hone_lower *lower, hone_node_id block, hone_node_id init) {
    hone_func *func = lower->func;
    nest n = {.block = block, .init = init};
    if (!find_nest(func, &n) || !init_is_isolated(func, &n)) return HONE_OK;
    bool is_disjoint;
    HONE_TRY(check_injective(lower, &n, &is_disjoint));
    if (!is_disjoint) return HONE_OK;
    predicate_split split = {.lower = lower, .nest = &n, .starts = find_starts(lower, &n)};
    if (!split.starts) return LOWER_NO_MEMORY();
    const hone_expr *predicate = hone_func_node(func, block)->u.block.predicate;
    if (!lower_conjuncts(predicate, split_part, &split)) return HONE_OK;
    HONE_TRY(hone_ir_finish(&lower->ir));
    hone_node_id node;
    HONE_TRY(make_init_block(lower, &n, split.kept, &node));
    HONE_TRY(wrap_loops(lower, &n, &node));
    hone_tree_insert_before(func, n.loops[n.count - 1], node);
    return HONE_OK;
}

/* Blocks made here stand before those that they were taken from. */
hone_status lower_hoist_init(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        hone_node_id init = hone_block_init_of(func, n);
        if (init != HONE_NO_ID) HONE_TRY(hoist(lower, n, init));
    }
    return HONE_OK;
}
