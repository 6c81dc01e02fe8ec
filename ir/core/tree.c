/* ir/core/tree.c - the statement tree: links, walks, rewriting of all expressions in a part of it.
 */
#include "ir/core/func.h"

#include <string.h>

#include "ir/core/fold.h"

static hone_node *at(const hone_func *func, hone_node_id id) {
    return hone_func_node(func, id);
}

static void link_between(hone_func *func, hone_node_id parent, hone_node_id prev, hone_node_id next,
                         hone_node_id node) {
    assert(at(func, node)->parent == HONE_NO_ID);
    hone_node *n = at(func, node);
    n->parent = parent;
    n->prev = prev;
    n->next = next;
    if (prev == HONE_NO_ID) {
        at(func, parent)->first = node;
    } else {
        at(func, prev)->next = node;
    }
    if (next == HONE_NO_ID) {
        at(func, parent)->last = node;
    } else {
        at(func, next)->prev = node;
    }
}

void hone_tree_append(hone_func *func, hone_node_id parent, hone_node_id child) {
    link_between(func, parent, at(func, parent)->last, HONE_NO_ID, child);
}

void hone_tree_prepend(hone_func *func, hone_node_id parent, hone_node_id child) {
    link_between(func, parent, HONE_NO_ID, at(func, parent)->first, child);
}

void hone_tree_insert_before(hone_func *func, hone_node_id where, hone_node_id node) {
    link_between(func, at(func, where)->parent, at(func, where)->prev, where, node);
}

void hone_tree_insert_after(hone_func *func, hone_node_id where, hone_node_id node) {
    link_between(func, at(func, where)->parent, where, at(func, where)->next, node);
}

void hone_tree_remove(hone_func *func, hone_node_id node) {
    hone_node *n = at(func, node);
    if (n->parent == HONE_NO_ID) return;
    if (n->prev == HONE_NO_ID) {
        at(func, n->parent)->first = n->next;
    } else {
        at(func, n->prev)->next = n->next;
    }
    if (n->next == HONE_NO_ID) {
        at(func, n->parent)->last = n->prev;
    } else {
        at(func, n->next)->prev = n->prev;
    }
    n->parent = n->prev = n->next = HONE_NO_ID;
}

void hone_tree_replace(hone_func *func, hone_node_id node, hone_node_id replacement) {
    hone_tree_insert_after(func, node, replacement);
    hone_tree_remove(func, node);
}

void hone_tree_move_children(hone_func *func, hone_node_id from, hone_node_id to) {
    while (at(func, from)->first != HONE_NO_ID) {
        hone_node_id child = at(func, from)->first;
        hone_tree_remove(func, child);
        hone_tree_append(func, to, child);
    }
}

hone_node_id hone_tree_copy(hone_func *func, hone_node_id node) {
    hone_node_id copy = hone_func_add_node(func, (hone_node_kind)at(func, node)->kind);
    if (copy == HONE_NO_ID) return copy;
    hone_node *to = at(func, copy);
    *to = *at(func, node);
    to->parent = to->first = to->last = to->prev = to->next = HONE_NO_ID;
    for (hone_node_id c = at(func, node)->first; c != HONE_NO_ID; c = at(func, c)->next) {
        hone_node_id child = hone_tree_copy(func, c);
        if (child == HONE_NO_ID) return child;
        hone_tree_append(func, copy, child);
    }
    return copy;
}

/* ---- walking ---- */

hone_node_id hone_tree_next_over(const hone_func *func, hone_node_id root, hone_node_id node) {
    while (node != root) {
        if (at(func, node)->next != HONE_NO_ID) return at(func, node)->next;
        node = at(func, node)->parent;
        assert(node != HONE_NO_ID);
    }
    return HONE_NO_ID;
}

hone_node_id hone_tree_next(const hone_func *func, hone_node_id root, hone_node_id node) {
    if (at(func, node)->first != HONE_NO_ID) return at(func, node)->first;
    return hone_tree_next_over(func, root, node);
}

bool hone_tree_is_ancestor(const hone_func *func, hone_node_id ancestor, hone_node_id node) {
    for (node = at(func, node)->parent; node != HONE_NO_ID; node = at(func, node)->parent) {
        if (node == ancestor) return true;
    }
    return false;
}

bool hone_jumps_below(const hone_func *func, hone_node_id top) {
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(func, top, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BREAK || node->kind == HONE_NODE_CONTINUE) return true;
        if (node->kind == HONE_NODE_EVAL &&
            hone_expr_is_call(node->u.eval.value, HONE_INTRIN_RETURN)) {
            return true;
        }
    }
    return false;
}

uint32_t hone_tree_depth(const hone_func *func, hone_node_id node) {
    uint32_t depth = 0;
    while ((node = at(func, node)->parent) != HONE_NO_ID)
        depth++;
    return depth;
}

hone_node_id hone_tree_lca(const hone_func *func, hone_node_id a, hone_node_id b) {
    uint32_t depth_a = hone_tree_depth(func, a), depth_b = hone_tree_depth(func, b);
    for (; depth_a > depth_b; depth_a--)
        a = at(func, a)->parent;
    for (; depth_b > depth_a; depth_b--)
        b = at(func, b)->parent;
    while (a != b) {
        a = at(func, a)->parent;
        b = at(func, b)->parent;
    }
    return a;
}

hone_node_id hone_tree_first_of(const hone_func *func, hone_node_id root, hone_node_kind kind) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (at(func, n)->kind == kind) return n;
    }
    return HONE_NO_ID;
}

hone_node_id hone_tree_loop_of(const hone_func *func, hone_node_id jump) {
    hone_node_id n = at(func, jump)->parent;
    while (n != HONE_NO_ID && at(func, n)->kind != HONE_NODE_FOR &&
           at(func, n)->kind != HONE_NODE_WHILE) {
        n = at(func, n)->parent;
    }
    return n;
}

hone_node_id hone_tree_jump_of(const hone_func *func, hone_node_id loop, bool with_continue) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        bool is_jump = at(func, n)->kind == HONE_NODE_BREAK ||
                       (with_continue && at(func, n)->kind == HONE_NODE_CONTINUE);
        if (is_jump && hone_tree_loop_of(func, n) == loop) return n;
    }
    return HONE_NO_ID;
}

hone_node_id hone_func_root_block(const hone_func *func) {
    hone_node_id first = at(func, 0)->first;
    if (first == HONE_NO_ID || at(func, first)->kind != HONE_NODE_BLOCK) return HONE_NO_ID;
    return func->is_scheduled_form && at(func, first)->next == HONE_NO_ID ? first : HONE_NO_ID;
}

hone_node_id hone_block_init_of(const hone_func *func, hone_node_id block) {
    hone_node_id first = at(func, block)->first;
    return first != HONE_NO_ID && at(func, first)->kind == HONE_NODE_INIT ? first : HONE_NO_ID;
}

hone_node_id hone_block_body_of(const hone_func *func, hone_node_id block) {
    hone_node_id init = hone_block_init_of(func, block);
    return init == HONE_NO_ID ? at(func, block)->first : at(func, init)->next;
}

/* A condition around it says whether it runs. */
static bool is_conditional(const hone_func *func, hone_node_id id) {
    for (hone_node_id n = at(func, id)->parent; n != HONE_NO_ID; n = at(func, n)->parent) {
        hone_node_kind kind = (hone_node_kind)at(func, n)->kind;
        if (kind == HONE_NODE_IF || kind == HONE_NODE_WHILE) return true;
    }
    return false;
}

const hone_axis *hone_block_over_nothing(const hone_func *func, hone_node_id block,
                                         const int64_t *sizes) {
    const hone_block *b = at(func, block)->u.block.block;
    const hone_axis *none = NULL;
    if (hone_block_init_of(func, block) == HONE_NO_ID || is_conditional(func, block)) return NULL;
    for (uint32_t i = 0; i < b->axis_count; i++) {
        int64_t extent;
        if (!hone_fold_sizes(b->axes[i].dom.extent, sizes, sizes ? func->var_count : 0, &extent) ||
            extent > 0) {
            continue;
        }
        if (b->axes[i].kind != HONE_AXIS_REDUCE) return NULL;
        none = &b->axes[i];
    }
    return none;
}

/* ---- rewriting expressions ---- */

typedef struct rewriter {
    hone_ir ir;
    hone_expr_rewrite rewrite;
    void *ctx;
} rewriter;

static const hone_expr *apply(rewriter *r, const hone_expr *e) {
    return e ? hone_expr_transform(&r->ir, e, r->rewrite, r->ctx) : NULL;
}

static const hone_expr *const *apply_list(rewriter *r, const hone_expr *const *list,
                                          uint32_t count) {
    const hone_expr **out = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const hone_expr *e = apply(r, list[i]);
        if (e != list[i] && !out) {
            out = hone_arena_alloc(r->ir.arena, count * sizeof *out);
            if (!out) {
                hone_ir_fail(&r->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "expressions"));
                return list;
            }
            memcpy(out, list, count * sizeof *out);
        }
        if (out) out[i] = e;
    }
    return out ? out : list;
}

static hone_range apply_range(rewriter *r, hone_range range) {
    return (hone_range){apply(r, range.min), apply(r, range.extent)};
}

static hone_region apply_region(rewriter *r, const hone_func *func, hone_region region) {
    uint32_t rank = hone_func_buffer(func, region.buffer)->rank;
    hone_range *ranges = hone_arena_alloc(r->ir.arena, (rank + 1) * sizeof *ranges);
    if (!ranges) {
        hone_ir_fail(&r->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "region"));
        return region;
    }
    for (uint32_t i = 0; i < rank; i++)
        ranges[i] = apply_range(r, region.ranges[i]);
    region.ranges = ranges;
    return region;
}

static const hone_region *apply_regions(rewriter *r, const hone_func *func,
                                        const hone_region *regions, uint32_t count) {
    hone_region *out = hone_arena_alloc(r->ir.arena, (count + 1) * sizeof *out);
    if (!out) {
        hone_ir_fail(&r->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "regions"));
        return regions;
    }
    for (uint32_t i = 0; i < count; i++)
        out[i] = apply_region(r, func, regions[i]);
    return out;
}

static const hone_block *apply_block(rewriter *r, const hone_func *func, const hone_block *block) {
    hone_block *copy = hone_block_copy(r->ir.arena, block);
    hone_axis *axes = hone_arena_alloc(r->ir.arena, (block->axis_count + 1) * sizeof *axes);
    hone_match *matches = hone_arena_alloc(r->ir.arena, (block->match_count + 1) * sizeof *matches);
    if (!copy || !axes || !matches) {
        hone_ir_fail(&r->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "block"));
        return block;
    }
    for (uint32_t i = 0; i < block->axis_count; i++) {
        axes[i] = block->axes[i];
        axes[i].dom = apply_range(r, axes[i].dom);
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        matches[i].buffer = block->matches[i].buffer;
        matches[i].source = apply_region(r, func, block->matches[i].source);
    }
    copy->axes = axes;
    copy->matches = matches;
    copy->reads = apply_regions(r, func, block->reads, block->read_count);
    copy->writes = apply_regions(r, func, block->writes, block->write_count);
    return copy;
}

static void apply_node(rewriter *r, hone_func *func, hone_node_id id, bool with_blocks) {
    hone_node *n = at(func, id);
    switch ((hone_node_kind)n->kind) {
    case HONE_NODE_FOR:
        n->u.loop.range = apply_range(r, n->u.loop.range);
        break;
    case HONE_NODE_BLOCK:
        n->u.block.bindings = apply_list(r, n->u.block.bindings, n->u.block.block->axis_count);
        n->u.block.predicate = apply(r, n->u.block.predicate);
        if (with_blocks) n->u.block.block = apply_block(r, func, n->u.block.block);
        break;
    case HONE_NODE_STORE:
        n->u.store.value = apply(r, n->u.store.value);
        n->u.store.indices = apply_list(r, n->u.store.indices, n->u.store.rank);
        break;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        n->u.eval.value = apply(r, n->u.eval.value);
        break;
    case HONE_NODE_LET:
        n->u.let.value = apply(r, n->u.let.value);
        break;
    case HONE_NODE_ATTR:
        n->u.attr.value = apply(r, n->u.attr.value);
        break;
    case HONE_NODE_TOP:
    case HONE_NODE_INIT:
    case HONE_NODE_ELSE:
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
    case HONE_NODE_BREAK:
    case HONE_NODE_CONTINUE:
        break;
    }
}

hone_status hone_tree_transform(hone_func *func, hone_node_id root, hone_expr_rewrite rewrite,
                                void *ctx, bool with_blocks) {
    rewriter r = {.ir = {.arena = func->arena}, .rewrite = rewrite, .ctx = ctx};
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        apply_node(&r, func, n, with_blocks);
        if (r.ir.error) break;
    }
    return hone_ir_finish(&r.ir);
}

typedef struct renaming {
    hone_buffer from, to;
} renaming;

static const hone_expr *rename_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    const renaming *r = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != r->from) return e;
    return hone_expr_load(ir, e->dtype, r->to, e->count, e->args);
}

hone_status hone_tree_rename_buffer(hone_func *func, hone_node_id root, hone_buffer from,
                                    hone_buffer to) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        hone_node *node = hone_func_node(func, n);
        bool is_store = node->kind == HONE_NODE_STORE && node->u.store.buffer == from;
        if (is_store) node->u.store.buffer = to;
    }
    return hone_tree_transform(func, root, rename_load, &(renaming){from, to}, false);
}

/* ---- visiting expressions ---- */

typedef struct visitor {
    void (*visit)(void *ctx, hone_node_id at, const hone_expr *e);
    void *ctx;
    hone_node_id node;
} visitor;

static void see(const visitor *v, const hone_expr *e) {
    if (e) v->visit(v->ctx, v->node, e);
}

static void see_region(const visitor *v, const hone_func *func, const hone_region *region) {
    uint32_t rank = hone_func_buffer(func, region->buffer)->rank;
    for (uint32_t i = 0; i < rank; i++) {
        see(v, region->ranges[i].min);
        see(v, region->ranges[i].extent);
    }
}

static void see_block(const visitor *v, const hone_func *func, const hone_block *block) {
    for (uint32_t i = 0; i < block->axis_count; i++) {
        see(v, block->axes[i].dom.min);
        see(v, block->axes[i].dom.extent);
    }
    for (uint32_t i = 0; i < block->read_count; i++)
        see_region(v, func, &block->reads[i]);
    for (uint32_t i = 0; i < block->write_count; i++)
        see_region(v, func, &block->writes[i]);
    for (uint32_t i = 0; i < block->match_count; i++) {
        see_region(v, func, &block->matches[i].source);
    }
}

static void see_node(const visitor *v, const hone_func *func, const hone_node *n,
                     bool with_blocks) {
    switch ((hone_node_kind)n->kind) {
    case HONE_NODE_FOR:
        see(v, n->u.loop.range.min);
        see(v, n->u.loop.range.extent);
        break;
    case HONE_NODE_BLOCK:
        for (uint32_t i = 0; i < n->u.block.block->axis_count; i++)
            see(v, n->u.block.bindings[i]);
        see(v, n->u.block.predicate);
        if (with_blocks) see_block(v, func, n->u.block.block);
        break;
    case HONE_NODE_STORE:
        see(v, n->u.store.value);
        for (uint32_t i = 0; i < n->u.store.rank; i++)
            see(v, n->u.store.indices[i]);
        break;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        see(v, n->u.eval.value);
        break;
    case HONE_NODE_LET:
        see(v, n->u.let.value);
        break;
    case HONE_NODE_ATTR:
        see(v, n->u.attr.value);
        break;
    case HONE_NODE_TOP:
    case HONE_NODE_INIT:
    case HONE_NODE_ELSE:
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
    case HONE_NODE_BREAK:
    case HONE_NODE_CONTINUE:
        break;
    }
}

void hone_node_walk_exprs(const hone_func *func, hone_node_id id, bool with_blocks,
                          void (*visit)(void *ctx, hone_node_id at, const hone_expr *e),
                          void *ctx) {
    visitor v = {visit, ctx, id};
    see_node(&v, func, at(func, id), with_blocks);
}

void hone_tree_walk_exprs(const hone_func *func, hone_node_id root, bool with_blocks,
                          void (*visit)(void *ctx, hone_node_id at, const hone_expr *e),
                          void *ctx) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n))
        hone_node_walk_exprs(func, n, with_blocks, visit, ctx);
}

typedef struct part_search {
    hone_expr_test is_it;
    const void *ctx;
    const hone_expr *found;
} part_search;

static void search_parts(void *ctx, hone_node_id at, const hone_expr *e) {
    part_search *s = ctx;
    (void)at;
    if (!s->found) s->found = hone_expr_find(e, s->is_it, s->ctx);
}

const hone_expr *hone_tree_find_part(const hone_func *func, hone_node_id root, bool with_blocks,
                                     hone_expr_test is_it, const void *ctx) {
    part_search s = {is_it, ctx, NULL};
    for (hone_node_id n = root; n != HONE_NO_ID && !s.found; n = hone_tree_next(func, root, n)) {
        visitor v = {search_parts, &s, n};
        see_node(&v, func, at(func, n), with_blocks);
    }
    return s.found;
}

typedef struct var_set {
    const bool *marks;
    size_t count;
} var_set;

static bool is_in_set(const void *ctx, const hone_expr *e) {
    const var_set *set = ctx;
    return e->kind == HONE_EXPR_VAR && e->u.var < set->count && set->marks[e->u.var];
}

bool hone_tree_uses_any(const hone_func *func, hone_node_id root, bool with_blocks, const bool *set,
                        size_t count) {
    return hone_tree_find_part(func, root, with_blocks, is_in_set, &(var_set){set, count}) != NULL;
}

typedef struct part_visit {
    hone_expr_visit visit;
    void *ctx;
} part_visit;

static void visit_parts(void *ctx, hone_node_id at, const hone_expr *e) {
    const part_visit *p = ctx;
    (void)at;
    hone_expr_walk(e, p->visit, p->ctx);
}

void hone_tree_walk_parts(const hone_func *func, hone_node_id root, bool with_blocks,
                          hone_expr_visit visit, void *ctx) {
    part_visit p = {visit, ctx};
    hone_tree_walk_exprs(func, root, with_blocks, visit_parts, &p);
}

/* ---- vectors of scalable length ---- */

static void visit_scalable(void *ctx, hone_node_id at, const hone_expr *e) {
    bool *is_scalable = ctx;
    (void)at;
    *is_scalable |= hone_expr_is_scalable(e);
}

hone_status hone_func_refuse_scalable(const hone_func *func) {
    bool is_scalable = false;
    hone_tree_walk_exprs(func, HONE_NODE_TOP, true, visit_scalable, &is_scalable);
    if (!is_scalable) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "function '%s' has vectors of scalable length (T.vscale()), which can be "
                      "read, printed and verified only",
                      func->name);
}
