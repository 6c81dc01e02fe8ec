/* lower/memory/lower_plan_allocs.c - the pass that sinks allocations to where all uses meet.
 * needs: ALLOC nodes, no blocks. keeps: what is computed. An allocation sinks to the innermost
 * place that holds all uses of its buffer. It enters a loop only when no value is carried from one
 * iteration to the next: what an iteration reads, it has surely written before. The iterations of a
 * parallel or vectorized loop carry nothing to each other: it is entered when nothing else stands
 * around it, and when all of them store to the same elements in each round of what does. Elsewhere
 * each has a part of the buffer, see part_iterations.c. Loops over threads, or blocks of them, that
 * have such memory of their own are entered as they are: each runs one iteration. */
#include "ir/core/concurrent.h"
#include "ir/region/written.h"
#include "lower/ground/scope.h"
#include "lower/memory/lifetimes.h"
#include "support/data/tensor.h"

typedef struct planner {
    lower_scope scope;
    hone_buffer buffer;
    lower_accesses *accesses; /* by buffer */
} planner;

/* The child of root that holds a node. */
static hone_node_id child_of(const hone_func *func, hone_node_id root, hone_node_id node) {
    while (hone_func_node(func, node)->parent != root)
        node = hone_func_node(func, node)->parent;
    return node;
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

static bool is_use(const lower_accesses *all, hone_node_id node) {
    uint32_t i = 0;
    while (i < all->count && all->items[i].node != node)
        i++;
    return i < all->count;
}

/* The innermost place that holds all uses: a loop, or an allocation; at least the allocation. */
static hone_node_id innermost(const hone_func *func, hone_node_id alloc,
                              const lower_accesses *all) {
    hone_node_id place = all->items[0].node;
    for (uint32_t i = 1; i < all->count; i++)
        place = hone_tree_lca(func, place, all->items[i].node);
    if (is_use(all, place)) place = hone_func_node(func, place)->parent; /* it or its bounds */
    while (place != alloc && hone_func_node(func, place)->kind != HONE_NODE_FOR &&
           hone_func_node(func, place)->kind != HONE_NODE_ALLOC) {
        place = hone_func_node(func, place)->parent;
    }
    return place;
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
        if (is_use(all, at)) return HONE_NO_ID; /* perhaps in its bounds */
        if (node->kind == HONE_NODE_ALLOC) continue;
        bool is_concurrent = hone_node_is_concurrent_loop(node);
        if (is_concurrent && (is_outermost || has_rounds_alike(p, at, all, around))) return at;
        if (node->kind == HONE_NODE_FOR) around[node->u.loop.var] = true;
        if (node->kind == HONE_NODE_LET) around[node->u.let.var] = true;
        is_outermost = false;
    }
    return HONE_NO_ID;
}

/* The innermost of the loops over threads around all uses that each have this memory of their own,
 * or HONE_NO_ID. */
static hone_node_id owner_of(const planner *p, hone_node_id alloc, const lower_accesses *all) {
    const hone_func *func = p->scope.lower->func;
    const char *memory = func->buffers[p->buffer].scope;
    hone_node_id owner = HONE_NO_ID;
    for (hone_node_id at = only_user(func, alloc, all); at != HONE_NO_ID;
         at = only_user(func, at, all)) {
        const hone_node *node = hone_func_node(func, at);
        if (is_use(all, at)) break; /* perhaps in its bounds */
        if (node->kind == HONE_NODE_ALLOC) continue;
        if (!hone_loop_is_of_threads(node) || !hone_scope_is_own(memory, node->u.loop.thread_tag))
            break;
        owner = at;
    }
    return owner;
}

static bool has_loop_between(const hone_func *func, hone_node_id outer, hone_node_id inner) {
    for (; inner != outer; inner = hone_func_node(func, inner)->parent) {
        hone_node_kind kind = (hone_node_kind)hone_func_node(func, inner)->kind;
        if (kind == HONE_NODE_FOR || kind == HONE_NODE_WHILE) return true;
    }
    return false;
}

/* Whether the allocation may be made anew in each iteration of the loops down to place. */
static hone_status may_enter(planner *p, hone_node_id alloc, hone_node_id place, bool *out_may) {
    const hone_func *func = p->scope.lower->func;
    *out_may = !has_loop_between(func, alloc, place);
    if (*out_may) return HONE_OK;                                      /* once, as before */
    bool is_loop = hone_func_node(func, place)->kind == HONE_NODE_FOR; /* its variable is fixed */
    HONE_TRY(lower_enter(&p->scope, place,
                         is_loop ? hone_func_node(func, place)->u.loop.var : HONE_NO_ID));
    const hone_dataflow flow = {.arith = &p->scope.arith, .func = func};
    *out_may = hone_reads_after_write(&flow, place, p->buffer, false);
    return hone_ir_finish(&p->scope.arith.ir);
}

static hone_status plan(planner *p, hone_node_id alloc) {
    hone_func *func = p->scope.lower->func;
    p->buffer = hone_func_node(func, alloc)->u.alloc.buffer;
    const lower_accesses all = p->accesses[p->buffer];
    if (all.is_opaque || all.count == 0) return HONE_OK;
    hone_node_id place = innermost(func, alloc, &all);
    if (place == alloc) return HONE_OK;
    bool may = false;
    HONE_TRY(may_enter(p, alloc, place, &may));
    if (!may) place = owner_of(p, alloc, &all);
    if (!may && place == HONE_NO_ID) place = independent_user(p, alloc, &all);
    if (place != HONE_NO_ID) {
        lower_splice(func, alloc); /* its children take its place */
        hone_tree_move_children(func, place, alloc);
        hone_tree_append(func, place, alloc);
    }
    if (may) return HONE_OK;
    uint32_t rank = func->buffers[p->buffer].rank;
    HONE_TRY(lower_part_iterations(p->scope.lower, alloc, &all));
    bool is_changed = func->buffers[p->buffer].rank != rank;
    return is_changed ? lower_find_all_accesses(func, &p->accesses) : HONE_OK;
}

static planner begin(hone_lower *lower) {
    planner p = {.scope.lower = lower};
    hone_arith_init(&p.scope.arith, lower->func->arena);
    return p;
}

hone_status lower_plan_allocs(hone_lower *lower) {
    hone_func *func = lower->func;
    planner p = begin(lower);
    HONE_TRY(lower_find_all_accesses(func, &p.accesses));
    for (hone_node_id n = 0; n < func->node_count; n++) { /* by number: they move */
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ALLOC && node->parent != HONE_NO_ID) HONE_TRY(plan(&p, n));
    }
    return hone_ir_finish(&p.scope.arith.ir);
}
