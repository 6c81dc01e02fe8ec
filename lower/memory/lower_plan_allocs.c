/* lower/memory/lower_plan_allocs.c - the pass that sinks allocations to where all uses meet.
 * needs: ALLOC nodes, no blocks. keeps: what is computed. An allocation sinks to the innermost
 * place that holds all uses of its buffer. It enters a loop only when no value is carried from one
 * iteration to the next: what an iteration reads, it has surely written before. The iterations of a
 * parallel or vectorized loop carry nothing to each other: it is entered when nothing else stands
 * around it, and when all of them store to the same elements in each round of what does. Elsewhere
 * each has a part of the buffer, see part_iterations.c. */
#include "lower/ground/scope.h"
#include "lower/memory/lifetimes.h"
#include "support/data/tensor.h"

typedef struct planner {
    lower_scope scope;
    hone_buffer buffer;
} planner;

/* A conjunct that takes nothing away from a store, for one of two reasons, or only one end of the
 * interval of an index. */
typedef struct guard {
    planner *p;
    const lower_access *store; /* learn_limit: a load */
    const lower_accesses *all;
    hone_node_id root;
    hone_interval *limits; /* by dimension: what is found of the third kind, where it has an end */
} guard;

/* low <= high as high - low, which is not negative where it holds; NULL when it is something else,
 * as a comparison of data. */
static const hone_expr *room_of(planner *p, const hone_expr *part) {
    hone_ir *ir = &p->scope.arith.ir;
    bool is_less = hone_expr_is_op(part, HONE_OP_LT) || hone_expr_is_op(part, HONE_OP_LE);
    bool is_more = hone_expr_is_op(part, HONE_OP_GT) || hone_expr_is_op(part, HONE_OP_GE);
    bool is_strict = hone_expr_is_op(part, HONE_OP_LT) || hone_expr_is_op(part, HONE_OP_GT);
    if (!is_less && !is_more) return NULL;
    const hone_expr *low = part->args[is_more], *high = part->args[!is_more];
    if (!hone_dtype_is_int(low->dtype)) return NULL;
    const hone_expr *room = hone_expr_sub(ir, high, low);
    if (is_strict) room = hone_expr_sub(ir, room, hone_expr_int(ir, low->dtype, 1));
    return room ? hone_simplify(&p->scope.arith, room) : NULL;
}

/* 1. It only keeps an index inside of the buffer: 0 <= index or index <= extent - 1, with terms
 * moved to the other side. */
static bool is_bound_check(const guard *g, const hone_expr *part) {
    hone_ir *ir = &g->p->scope.arith.ir;
    const hone_buffer_info *buffer = &g->p->scope.lower->func->buffers[g->p->buffer];
    const hone_expr *room = room_of(g->p, part);
    for (uint32_t d = 0; room && d < buffer->rank; d++) {
        const hone_expr *index = g->store->indices[d];
        if (!hone_dtype_equal(room->dtype, index->dtype) ||
            !hone_dtype_equal(room->dtype, buffer->shape[d]->dtype)) {
            continue;
        }
        const hone_expr *one = hone_expr_int(ir, room->dtype, 1);
        const hone_expr *last = hone_expr_sub(ir, buffer->shape[d], one);
        const hone_expr *rest = last ? hone_expr_sub(ir, last, index) : NULL;
        if (!rest) return false;
        if (hone_prove_equal(&g->p->scope.arith, room, index) ||
            hone_prove_equal(&g->p->scope.arith, room, hone_simplify(&g->p->scope.arith, rest))) {
            return true;
        }
    }
    return false;
}

static bool differs(void *ctx, const hone_expr *part) {
    const hone_expr *const *sought = ctx;
    return !hone_expr_same(*sought, part);
}

/* Whether an IF between a node and root has this conjunct. */
static bool is_under(const guard *g, hone_node_id at, const hone_expr *part) {
    const hone_func *func = g->p->scope.lower->func;
    hone_node_id below = at;
    for (hone_node_id n = hone_func_node(func, at)->parent; below != g->root;
         below = n, n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_IF || hone_func_node(func, below)->kind == HONE_NODE_ELSE)
            continue;
        if (!lower_conjuncts(node->u.eval.value, differs, &part)) return true;
    }
    return false;
}

/* Does the value stay while root's body runs? */
static bool is_fixed(const planner *p, const hone_expr *e) {
    return hone_expr_is_pure_index(e) && !lower_varies_below(&p->scope, e);
}

/* 2. It is decided before root's body begins, and whoever reads stands under it as well. */
static bool is_shared(const guard *g, const hone_expr *part) {
    if (!is_fixed(g->p, part)) return false;
    for (uint32_t i = 0; i < g->all->count; i++) {
        const lower_access *access = &g->all->items[i];
        if (!access->is_store && !is_under(g, access->node, part)) return false;
    }
    return true;
}

/* 3. It is index <= limit or limit <= index. */
static bool is_limit(const guard *g, const hone_expr *part) {
    planner *p = g->p;
    const hone_expr *room = room_of(p, part);
    for (uint32_t d = 0; room && d < p->scope.lower->func->buffers[p->buffer].rank; d++) {
        const hone_expr *index = g->store->indices[d];
        if (!hone_dtype_equal(room->dtype, index->dtype)) continue;
        const hone_expr *most = hone_expr_add(&p->scope.arith.ir, index, room);
        const hone_expr *least = hone_expr_sub(&p->scope.arith.ir, index, room);
        most = most ? hone_simplify(&p->scope.arith, most) : NULL;
        least = least ? hone_simplify(&p->scope.arith, least) : NULL;
        if (!most || !least) return false;
        if (is_fixed(p, most) && !g->limits[d].max) {
            g->limits[d].max = most;
            return true;
        }
        if (is_fixed(p, least) && !g->limits[d].min) {
            g->limits[d].min = least;
            return true;
        }
    }
    return false;
}

/* a <= min(b, c) is a <= b and a <= c. */
static bool takes_nothing(void *ctx, const hone_expr *part) {
    const guard *g = ctx;
    hone_arith *arith = &g->p->scope.arith;
    bool is_less = hone_expr_is_op(part, HONE_OP_LT) || hone_expr_is_op(part, HONE_OP_LE);
    if (is_less && hone_expr_is_op(part->args[1], HONE_OP_MIN)) {
        for (int i = 0; i < 2; i++) {
            const hone_expr *half = hone_expr_binary(&arith->ir, (hone_op)part->op, part->args[0],
                                                     part->args[1]->args[i]);
            if (!half || !takes_nothing(ctx, half)) return false;
        }
        return true;
    }
    return is_bound_check(g, part) || is_shared(g, part) || hone_prove(arith, part) ||
           is_limit(g, part);
}

static bool learn_shared(void *ctx, const hone_expr *part) {
    const guard *g = ctx;
    if (is_shared(g, part)) hone_arith_push(&g->p->scope.arith, part);
    return true;
}

/* Conditions under which whoever reads stands as well hold. */
static void learn_conditions(planner *p, const lower_accesses *all, const lower_access *store,
                             hone_node_id root) {
    const hone_func *func = p->scope.lower->func;
    guard g = {.p = p, .store = store, .all = all, .root = root};
    for (hone_node_id n = store->node; n != root; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_IF) lower_conjuncts(node->u.eval.value, learn_shared, &g);
    }
}

/* Whether a store below root happens in each iteration of the loops around it, but for indices
 * outside of the buffer and beyond limits, whenever something is read. */
static bool is_unconditional(planner *p, const lower_accesses *all, const lower_access *store,
                             hone_node_id root, hone_interval *limits) {
    const hone_func *func = p->scope.lower->func;
    for (hone_node_id n = hone_func_node(func, store->node)->parent; n != root;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        switch ((hone_node_kind)node->kind) {
        case HONE_NODE_FOR:
            if (hone_arith_bound(&p->scope.arith, node->u.loop.range.extent).min < 1) return false;
            break;
        case HONE_NODE_ALLOC:
        case HONE_NODE_ATTR:
            break;
        case HONE_NODE_IF: {
            guard g = {p, store, all, root, limits};
            if (!lower_conjuncts(node->u.eval.value, takes_nothing, &g)) return false;
            break;
        }
        default:
            return false;
        }
    }
    return true;
}

/* Two dimensions that share a loop do not fill a box. */
static bool dims_are_independent(const planner *p, const lower_access *store) {
    const hone_func *func = p->scope.lower->func;
    uint32_t rank = func->buffers[p->buffer].rank;
    for (hone_var v = 0; v < func->var_count; v++) {
        uint32_t users = 0;
        for (uint32_t d = 0; p->scope.loops[v] && d < rank; d++) {
            users += hone_expr_uses_var(store->indices[d], v);
        }
        if (users > 1) return false;
    }
    return true;
}

/* Whether the loops below take an index through every value of its interval, without holes: in
 * order of size, each coefficient is at most one more than what the smaller ones reach. */
static bool has_no_holes(planner *p, const hone_expr *index) {
    hone_linear linear;
    if (!hone_linear_of(&p->scope.arith, index, &linear)) return false;
    int64_t reach = 0, last = 0;
    for (uint32_t done = 0; done < linear.count;) {
        int64_t next = INT64_MAX;
        for (uint32_t i = 0; i < linear.count; i++) { /* the next larger coefficient */
            int64_t size =
                linear.terms[i].coeff < 0 ? -linear.terms[i].coeff : linear.terms[i].coeff;
            if (size > last && size < next) next = size;
        }
        int64_t grown = reach;
        for (uint32_t i = 0; i < linear.count; i++) {
            const hone_expr *term = linear.terms[i].term;
            int64_t size =
                linear.terms[i].coeff < 0 ? -linear.terms[i].coeff : linear.terms[i].coeff;
            if (size != next) continue;
            done++;
            if (!hone_expr_uses_any(term, p->scope.loops, p->scope.var_count)) continue;
            if (term->kind != HONE_EXPR_VAR) return false;
            hone_bound bound = hone_arith_bound(&p->scope.arith, term);
            if (bound.max == HONE_BOUND_POS_INF || bound.min == HONE_BOUND_NEG_INF) return false;
            if (next > reach + 1 && bound.max > bound.min) return false;
            grown += next * (bound.max - bound.min);
        }
        reach = grown;
        last = next;
    }
    return true;
}

static bool box_of(planner *p, const lower_access *access, hone_interval *out, bool *out_exact) {
    uint32_t rank = p->scope.lower->func->buffers[p->buffer].rank;
    *out_exact = true;
    for (uint32_t d = 0; d < rank; d++) {
        bool is_exact = false;
        out[d] = lower_range_below(&p->scope, access->indices[d], &is_exact);
        if (!out[d].min || !out[d].max) return false;
        *out_exact &= is_exact;
    }
    return true;
}

static bool is_at_most(hone_arith *arith, const hone_interval *a, const hone_interval *limits,
                       const hone_expr *end) {
    return hone_prove_less_equal(arith, a->max, end) ||
           (limits->max && hone_prove_less_equal(arith, limits->max, end));
}

static bool is_at_least(hone_arith *arith, const hone_interval *a, const hone_interval *limits,
                        const hone_expr *begin) {
    return hone_prove_less_equal(arith, begin, a->min) ||
           (limits->min && hone_prove_less_equal(arith, begin, limits->min));
}

/* Is inner, up to its limits, within outer, up to its own? */
static bool covers(planner *p, const hone_interval *outer, const hone_interval *limits,
                   const hone_interval *inner, const hone_interval *inner_limits) {
    hone_arith *arith = &p->scope.arith;
    const hone_buffer_info *buffer = &p->scope.lower->func->buffers[p->buffer];
    for (uint32_t d = 0; d < buffer->rank; d++) {
        /* nothing outside of the buffer is ever read */
        bool starts = is_at_least(arith, &inner[d], &inner_limits[d], outer[d].min) ||
                      hone_expr_is_int_value(outer[d].min, 0);
        const hone_expr *end = hone_expr_add(&arith->ir, outer[d].max,
                                             hone_expr_int(&arith->ir, outer[d].max->dtype, 1));
        bool ends = is_at_most(arith, &inner[d], &inner_limits[d], outer[d].max) ||
                    (end && hone_prove_less_equal(arith, buffer->shape[d], end));
        starts &= !limits[d].min || is_at_least(arith, &inner[d], &inner_limits[d], limits[d].min);
        ends &= !limits[d].max || is_at_most(arith, &inner[d], &inner_limits[d], limits[d].max);
        if (!starts || !ends) return false;
    }
    return true;
}

/* The child of root that holds a node. */
static hone_node_id child_of(const hone_func *func, hone_node_id root, hone_node_id node) {
    while (hone_func_node(func, node)->parent != root)
        node = hone_func_node(func, node)->parent;
    return node;
}

static bool is_pure_and_around(void *ctx, const hone_expr *part) {
    const guard *g = ctx;
    return hone_expr_is_pure_index(part) && is_under(g, g->store->node, part);
}

/* The body that a statement stands in, above the conditions under which the other access stands as
 * well. */
static hone_node_id body_with(planner *p, const lower_access *other, hone_node_id root,
                              hone_node_id *io_child) {
    const hone_func *func = p->scope.lower->func;
    hone_node_id body = hone_func_node(func, *io_child)->parent;
    guard g = {.p = p, .store = other, .root = root};
    while (body != root && hone_func_node(func, body)->kind == HONE_NODE_IF &&
           hone_func_node(func, *io_child)->kind != HONE_NODE_ELSE &&
           lower_conjuncts(hone_func_node(func, body)->u.eval.value, is_pure_and_around, &g)) {
        *io_child = body;
        body = hone_func_node(func, body)->parent;
    }
    return body;
}

/* Stands the access behind the store in the same body, at the same element? R[i] = 0; R[i] += … */
static bool follows_store(planner *p, const lower_access *store, const lower_access *access,
                          hone_node_id root) {
    const hone_func *func = p->scope.lower->func;
    hone_node_id first = store->node, body = body_with(p, access, root, &first);
    if (!hone_tree_is_ancestor(func, body, access->node)) return false;
    for (uint32_t d = 0; d < func->buffers[p->buffer].rank; d++) {
        if (!hone_expr_same(store->indices[d], access->indices[d])) return false;
    }
    hone_node_id child = child_of(func, body, access->node);
    hone_node_id n = hone_func_node(func, first)->next;
    while (n != HONE_NO_ID && n != child)
        n = hone_func_node(func, n)->next;
    return n == child;
}

static bool learn_limit(void *ctx, const hone_expr *part) {
    is_limit(ctx, part);
    return true;
}

/* Does an iteration of root write what an access reads of it, whenever it does? */
static bool is_covered(planner *p, const lower_access *access, const hone_interval *written,
                       const hone_interval *limits, hone_node_id root) {
    const hone_func *func = p->scope.lower->func;
    hone_interval read[HONE_MAX_RANK], ends[HONE_MAX_RANK] = {{0}};
    guard g = {.p = p, .store = access, .root = root, .limits = ends};
    bool ignored;
    if (!box_of(p, access, read, &ignored)) return false;
    uint32_t mark = p->scope.arith.fact_count;
    for (hone_node_id below = access->node, n; below != root; below = n) {
        n = hone_func_node(func, below)->parent;
        const hone_node *node = hone_func_node(func, n);
        bool is_else = hone_func_node(func, below)->kind == HONE_NODE_ELSE;
        if (node->kind != HONE_NODE_IF || is_else) continue;
        if (hone_expr_is_pure_index(node->u.eval.value)) {
            hone_arith_push(&p->scope.arith, node->u.eval.value);
        }
        lower_conjuncts(node->u.eval.value, learn_limit, &g);
    }
    bool is_within = covers(p, written, limits, read, ends);
    hone_arith_pop(&p->scope.arith, mark);
    return is_within;
}

/* Everything that is read in an iteration of root was written in it before: by one store in an
 * earlier child (or in an earlier statement of straight code). Leaves facts behind. */
static bool is_fresh_each_time(planner *p, const lower_accesses *all, hone_node_id root) {
    const hone_func *func = p->scope.lower->func;
    hone_interval written[HONE_MAX_RANK], limits[HONE_MAX_RANK] = {{0}};
    if (all->count == 0 || func->buffers[p->buffer].rank > HONE_MAX_RANK) return false;
    const lower_access *first = NULL;
    for (uint32_t i = 0; i < all->count && !first; i++) {
        if (all->items[i].is_store) first = &all->items[i];
    }
    if (!first) return false;
    learn_conditions(p, all, first, root);
    bool is_exact;
    if (!box_of(p, first, written, &is_exact) || !is_exact) return false;
    for (uint32_t d = 0; d < func->buffers[p->buffer].rank; d++) {
        if (!has_no_holes(p, first->indices[d])) return false;
    }
    if (!dims_are_independent(p, first) || !is_unconditional(p, all, first, root, limits))
        return false;
    hone_node_id writer = child_of(func, root, first->node);
    bool is_behind = false;
    for (uint32_t i = 0; i < all->count; i++) {
        const lower_access *access = &all->items[i];
        is_behind |= child_of(func, root, access->node) != writer;
        if (access->is_store) continue;
        if (access < first) return false; /* in program order: what was there before */
        if (follows_store(p, first, access, root)) continue;
        if (!is_behind || !is_covered(p, access, written, limits, root)) return false;
    }
    return true;
}

/* The only child of a node that touches the buffer, or HONE_NO_ID when there are several. */
static hone_node_id only_user(const hone_func *func, hone_node_id parent,
                              const lower_accesses *all) {
    hone_node_id only = HONE_NO_ID;
    for (uint32_t i = 0; i < all->count; i++) {
        hone_node_id child = child_of(func, parent, all->items[i].node);
        if (only != HONE_NO_ID && child != only) return HONE_NO_ID;
        only = child;
    }
    return only;
}

/* The innermost place that holds all uses: a loop, or an allocation. */
static hone_node_id innermost(const hone_func *func, hone_node_id alloc,
                              const lower_accesses *all) {
    hone_node_id place = alloc;
    for (hone_node_id at = alloc;;) {
        at = only_user(func, at, all);
        if (at == HONE_NO_ID) return place;
        const hone_node *node = hone_func_node(func, at);
        if (node->kind == HONE_NODE_STORE || node->kind == HONE_NODE_EVAL) return place;
        for (uint32_t i = 0; i < all->count; i++) {
            if (all->items[i].node == at) return place; /* used in its bounds or condition */
        }
        if (node->kind == HONE_NODE_FOR || node->kind == HONE_NODE_ALLOC) place = at;
    }
}

/* Does what an expression says stay, whatever value these variables have? */
static bool is_alike(const planner *p, const hone_expr *e, const bool *vars) {
    return hone_expr_is_pure_index(e) &&
           !hone_expr_uses_any(e, vars, p->scope.lower->func->var_count);
}

/* Does an access touch the same elements in a loop, as often, whatever value these variables have?
 */
static bool touches_alike(const planner *p, const lower_access *access, hone_node_id loop,
                          const bool *vars) {
    const hone_func *func = p->scope.lower->func;
    for (uint32_t d = 0; d < func->buffers[p->buffer].rank; d++) {
        if (!is_alike(p, access->indices[d], vars)) return false;
    }
    for (hone_node_id n = hone_func_node(func, access->node)->parent; n != loop;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        bool is_for = node->kind == HONE_NODE_FOR, is_if = node->kind == HONE_NODE_IF;
        if (!is_for && !is_if && node->kind != HONE_NODE_ELSE && node->kind != HONE_NODE_ALLOC)
            return false;
        if (is_if && !is_alike(p, node->u.eval.value, vars)) return false;
        if (is_for && (!is_alike(p, node->u.loop.range.min, vars) ||
                       !is_alike(p, node->u.loop.range.extent, vars))) {
            return false;
        }
    }
    return true;
}

/* Does a load stand behind the last store, in another child of the loop? */
static bool is_behind_stores(const hone_func *func, hone_node_id loop, const lower_accesses *all,
                             const lower_access *load) {
    const lower_access *last = NULL;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i].is_store) last = &all->items[i];
    }
    return last && last < load &&
           child_of(func, loop, last->node) != child_of(func, loop, load->node);
}

/* Do all iterations of a loop store to the same elements, in each round of the loops around it?
 * What is read was then stored in the round, also where all rounds read the same: there is nothing
 * before the first. around: what these loops bind. */
static bool has_rounds_alike(const planner *p, hone_node_id loop, const lower_accesses *all,
                             bool *around) {
    const hone_func *func = p->scope.lower->func;
    hone_var var = hone_func_node(func, loop)->u.loop.var;
    for (uint32_t i = 0; i < all->count; i++) {
        const lower_access *access = &all->items[i];
        around[var] = access->is_store;
        if (touches_alike(p, access, loop, around)) continue;
        if (access->is_store || !is_behind_stores(func, loop, all, access)) return false;
    }
    return true;
}

/* A parallel or vectorized loop that holds all uses, or HONE_NO_ID. Its iterations hand nothing to
 * each other, so each may have a buffer of its own where it is the outermost loop, and where they
 * store to the same elements, round by round. */
static hone_node_id independent_user(planner *p, hone_node_id alloc, const lower_accesses *all) {
    const hone_func *func = p->scope.lower->func;
    bool is_outermost = true, *around = p->scope.others;
    for (uint32_t i = 0; i < func->var_count; i++)
        around[i] = false;
    for (hone_node_id at = only_user(func, alloc, all); at != HONE_NO_ID;
         at = only_user(func, at, all)) {
        const hone_node *node = hone_func_node(func, at);
        for (uint32_t i = 0; i < all->count; i++) {
            if (all->items[i].node == at) return HONE_NO_ID; /* used here, perhaps in its bounds */
        }
        if (node->kind == HONE_NODE_ALLOC) continue;
        bool is_concurrent = hone_node_is_concurrent_loop(node);
        if (is_concurrent && (is_outermost || has_rounds_alike(p, at, all, around))) return at;
        if (node->kind == HONE_NODE_FOR) around[node->u.loop.var] = true;
        if (node->kind == HONE_NODE_LET) around[node->u.let.var] = true;
        is_outermost = false;
    }
    return HONE_NO_ID;
}

/* Whether the allocation may be made anew in each iteration of the loops down to place. */
static hone_status may_enter(planner *p, const lower_accesses *all, hone_node_id place,
                             bool *out_may) {
    const hone_node *node = hone_func_node(p->scope.lower->func, place);
    bool is_loop = node->kind == HONE_NODE_FOR; /* its variable is fixed at a time */
    HONE_TRY(lower_enter(&p->scope, place, is_loop ? node->u.loop.var : HONE_NO_ID));
    uint32_t mark = p->scope.arith.fact_count;
    *out_may = is_fresh_each_time(p, all, place);
    hone_arith_pop(&p->scope.arith, mark);
    return HONE_OK;
}

static hone_status plan(planner *p, hone_node_id alloc) {
    hone_func *func = p->scope.lower->func;
    p->buffer = hone_func_node(func, alloc)->u.alloc.buffer;
    lower_accesses all;
    HONE_TRY(lower_find_accesses(func, alloc, p->buffer, &all));
    if (all.is_opaque || all.count == 0) return HONE_OK;
    hone_node_id place = innermost(func, alloc, &all);
    if (place == alloc) return HONE_OK;
    bool may = false;
    HONE_TRY(may_enter(p, &all, place, &may));
    if (!may) place = independent_user(p, alloc, &all);
    if (place != HONE_NO_ID) {
        lower_splice(func, alloc); /* its children take its place */
        hone_tree_move_children(func, place, alloc);
        hone_tree_append(func, place, alloc);
    }
    return may ? HONE_OK : lower_part_iterations(p->scope.lower, alloc, &all);
}

static planner begin(hone_lower *lower) {
    planner p = {.scope.lower = lower};
    hone_arith_init(&p.scope.arith, lower->func->arena);
    return p;
}

hone_status lower_is_fresh(hone_lower *lower, hone_buffer buffer, const lower_accesses *all,
                           hone_node_id root, bool *out_is_fresh) {
    planner p = begin(lower);
    *out_is_fresh = false;
    p.buffer = buffer;
    HONE_TRY(may_enter(&p, all, innermost(lower->func, root, all), out_is_fresh));
    return hone_ir_finish(&p.scope.arith.ir);
}

hone_status lower_plan_allocs(hone_lower *lower) {
    hone_func *func = lower->func;
    planner p = begin(lower);
    for (hone_node_id n = 0; n < func->node_count; n++) { /* by number: they move */
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ALLOC && node->parent != HONE_NO_ID) HONE_TRY(plan(&p, n));
    }
    return hone_ir_finish(&p.scope.arith.ir);
}
