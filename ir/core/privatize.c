/* ir/core/privatize.c - see privatize.h: marks the variables that are not the same for all threads
 * of the axis, then looks at each use of the array and at what stands around it. */
#include "ir/core/privatize.h"

#include <string.h>

#include "ir/core/concurrent.h"
#include "ir/core/touches.h"

typedef struct judge {
    const hone_func *func;
    hone_buffer buffer;
    hone_node_id meet;
    const char *tag;
    bool *differs; /* by variable: not the same for all threads of the axis */
    bool has_store, is_refused, is_in_loops;
    const hone_range *range; /* of the loops over the axis; NULL: none seen */
} judge;

static bool is_of_axis(const judge *j, const hone_node *node) {
    return hone_loop_is_of_threads(node) && strcmp(node->u.loop.thread_tag, j->tag) == 0;
}

static bool uses(const judge *j, const hone_expr *e) {
    return hone_expr_uses_any(e, j->differs, j->func->var_count);
}

/* It is not the same for all threads of the axis, or that is not seen. */
static bool may_differ(const judge *j, const hone_expr *e) {
    return e && (uses(j, e) || hone_expr_find(e, hone_expr_is_load, NULL));
}

/* ---- names ---- */

static bool mark_let(void *ctx, const hone_expr *e) {
    judge *j = ctx;
    if (e->kind == HONE_EXPR_LET && may_differ(j, e->args[0])) j->differs[e->u.var] = true;
    return true;
}

static void mark_lets(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, mark_let, ctx);
}

static void mark_node(judge *j, const hone_node *node) {
    if (is_of_axis(j, node)) j->differs[node->u.loop.var] = true;
    if (node->kind == HONE_NODE_LET && may_differ(j, node->u.let.value))
        j->differs[node->u.let.var] = true;
    if (node->kind != HONE_NODE_BLOCK) return;
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++)
        j->differs[block->axes[i].var] |= may_differ(j, node->u.block.bindings[i]);
}

/* What is outside of all threads is the same for them. */
static void mark_names(judge *j) {
    const hone_func *func = j->func;
    hone_node_id top = j->meet;
    for (hone_node_id n = j->meet; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        if (hone_loop_is_of_threads(hone_func_node(func, n))) top = n;
    }
    memset(j->differs, 0, func->var_count * sizeof *j->differs);
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(func, top, n)) {
        hone_node_walk_exprs(func, n, false, mark_lets, j);
        mark_node(j, hone_func_node(func, n));
    }
}

/* ---- what stands around a store ---- */

/* Threads reduce together in the block, or a condition says which of them come to its body. */
static bool block_selects(const judge *j, const hone_node *node) {
    const hone_block *block = node->u.block.block;
    bool selects = may_differ(j, node->u.block.predicate);
    for (uint32_t i = 0; i < block->axis_count; i++)
        selects |= block->axes[i].kind == HONE_AXIS_REDUCE && uses(j, node->u.block.bindings[i]);
    return selects;
}

/* Which thread it is may say whether it comes to what is below. */
static bool selects_threads(const judge *j, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        return !is_of_axis(j, node) &&
               (may_differ(j, node->u.loop.range.min) || may_differ(j, node->u.loop.range.extent));
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
        return may_differ(j, node->u.eval.value);
    case HONE_NODE_BLOCK:
        return block_selects(j, node);
    default:
        return false;
    }
}

/* Each thread of one loop is there in the others. */
static void note_loop(judge *j, const hone_range *range) {
    if (!j->range) j->range = range;
    j->is_refused |= !hone_expr_same(range->min, j->range->min) ||
                     !hone_expr_same(range->extent, j->range->extent);
}

static void judge_use(judge *j, const hone_reference *use) {
    uint32_t loops = 0;
    bool is_store = use->kind == HONE_REFERENCE_STORE;
    for (uint32_t d = 0; d < use->rank; d++)
        j->is_refused |= may_differ(j, use->indices[d]);
    for (hone_node_id n = use->at; n != j->meet; n = hone_func_node(j->func, n)->parent) {
        const hone_node *node = hone_func_node(j->func, n);
        j->is_refused |= is_store && selects_threads(j, node);
        if (!is_of_axis(j, node)) continue;
        note_loop(j, &node->u.loop.range);
        loops++;
    }
    j->is_in_loops &= loops == 1;
    j->has_store |= is_store;
}

/* ---- all uses ---- */

static void judge_reference(void *ctx, const hone_reference *ref) {
    judge *j = ctx;
    bool is_element = ref->kind == HONE_REFERENCE_LOAD || ref->kind == HONE_REFERENCE_STORE;
    if (ref->buffer != j->buffer || j->is_refused) return;
    if (is_element)
        judge_use(j, ref);
    else
        j->is_refused = true;
}

hone_private_copies hone_find_private_copies(const hone_func *func, hone_buffer buffer,
                                             hone_node_id meet, const char *tag, bool *differs) {
    const hone_buffer_info *info = &func->buffers[buffer];
    hone_private_copies copies = {.is_private = false, .threads = -1};
    judge j = {func, buffer, meet, tag, differs, .is_in_loops = true};
    if (info->strides || info->elem_offset || hone_jumps_below(func, meet)) return copies;
    mark_names(&j);
    hone_walk_references(func, meet, judge_reference, &j);
    if (!j.has_store || j.is_refused || !j.range) return copies;
    copies.is_private = true;
    copies.is_in_loops = j.is_in_loops;
    if (hone_expr_is_int_value(j.range->min, 0)) copies.threads = hone_expr_const(j.range->extent);
    return copies;
}
