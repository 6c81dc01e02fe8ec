/* lower/loops/lower_hoist_if.c - the pass that takes invariant conditions out of loops.
 * needs: no blocks. keeps: what is computed. What all statements of a loop's body ask and no
 * iteration changes is asked once, around the loop; statements that follow each other under one
 * condition share it, in both cases:
 *
 *   if y < 33: S0                           if y < 33:
 *   for k in 9:                                 S0
 *       for j in vectorized(16):         ⇒      for k in 9:
 *           if y < 33: S1                           for j in vectorized(16): S1
 *
 * so that nothing is asked in the middle of a sum, which could not stay in registers then. On a
 * GPU everything stays: threads must meet at barriers. */
#include "lower/ground/passes.h"

enum { MAX_OWN_BYTES = 8 << 10 };

/* Can it be computed anywhere in its scope, with the same result? */
static bool is_plain(const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_VAR:
    case HONE_EXPR_INT:
        return true;
    case HONE_EXPR_BINARY:
        if (hone_dtype_is_float(e->dtype)) return false;
        if (hone_expr_may_trap(e)) return false;
        break;
    case HONE_EXPR_NOT:
    case HONE_EXPR_CAST:
        break;
    default:
        return false;
    }
    for (uint16_t i = 0; i < e->count; i++) {
        if (!is_plain(e->args[i])) return false;
    }
    return true;
}

static bool asks(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_IF && node->u.eval.value->dtype.lanes == 1;
}

static bool is_choice(const hone_func *func, hone_node_id id) {
    return asks(func, id) && !lower_has_else(func, id);
}

/* ---- what a loop's body asks ---- */

static bool is_other(void *ctx, const hone_expr *part) {
    return !hone_expr_same(ctx, part);
}

/* Does every child ask for it? */
static bool is_asked_by_all(const hone_func *func, hone_node_id parent, const hone_expr *part) {
    LOWER_EACH_CHILD (func, parent, c) {
        if (!is_choice(func, c)) return false;
        const hone_expr *condition = hone_func_node(func, c)->u.eval.value;
        if (lower_conjuncts(condition, is_other, (void *)(uintptr_t)part)) return false;
    }
    return true;
}

typedef struct hoister {
    hone_lower *lower;
    hone_node_id parent;
    hone_var var;             /* of the loop; HONE_NO_ID = none */
    const hone_expr *hoisted; /* NULL = nothing */
    const hone_expr *rest;    /* of one child's condition; NULL = nothing */
} hoister;

static bool note_common(void *ctx, const hone_expr *part) {
    hoister *h = ctx;
    bool is_fixed = is_plain(part) && (h->var == HONE_NO_ID || !hone_expr_uses_var(part, h->var));
    if (is_fixed && is_asked_by_all(h->lower->func, h->parent, part)) {
        h->hoisted = lower_and(&h->lower->ir, h->hoisted, part);
    }
    return true;
}

static bool note_rest(void *ctx, const hone_expr *part) {
    hoister *h = ctx;
    if (lower_conjuncts(h->hoisted, is_other, (void *)(uintptr_t)part))
        h->rest = lower_and(&h->lower->ir, h->rest, part);
    return true;
}

/* Takes what was hoisted out of the conditions of the children. */
static hone_status relieve(hoister *h) {
    hone_func *func = h->lower->func;
    hone_node_id next;
    for (hone_node_id c = hone_func_node(func, h->parent)->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        h->rest = NULL;
        lower_conjuncts(hone_func_node(func, c)->u.eval.value, note_rest, h);
        HONE_TRY(hone_ir_finish(&h->lower->ir));
        hone_func_node(func, c)->u.eval.value = h->rest;
        if (!h->rest) lower_splice(func, c);
    }
    return HONE_OK;
}

/* For a loop, and for an allocation, which stands between a loop and its statements. */
static hone_status hoist_out_of(hone_lower *lower, hone_node_id id) {
    hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, id);
    if (node->first == HONE_NO_ID || !is_choice(func, node->first)) return HONE_OK;
    hoister h = {.lower = lower, .parent = id, .var = HONE_NO_ID};
    if (node->kind == HONE_NODE_FOR) h.var = node->u.loop.var;
    lower_conjuncts(hone_func_node(func, node->first)->u.eval.value, note_common, &h);
    HONE_TRY(hone_ir_finish(&lower->ir));
    if (!h.hoisted) return HONE_OK;
    HONE_TRY(relieve(&h));
    return lower_wrap_if(lower, h.hoisted, id);
}

static bool may_hoist_out_of(const hone_node *node) {
    if (node->kind == HONE_NODE_ALLOC) return true;
    return node->kind == HONE_NODE_FOR && node->loop_kind != HONE_LOOP_PARALLEL &&
           node->loop_kind != HONE_LOOP_THREAD;
}

/* ---- statements side by side ---- */

static bool ask_the_same(const hone_func *func, hone_node_id a, hone_node_id b) {
    if (b == HONE_NO_ID || !asks(func, a) || !asks(func, b)) return false;
    const hone_expr *condition = hone_func_node(func, a)->u.eval.value;
    return is_plain(condition) && hone_expr_same(condition, hone_func_node(func, b)->u.eval.value);
}

/* The other case without its choice, or HONE_NO_ID. */
static hone_node_id take_else(hone_func *func, hone_node_id choice) {
    if (!lower_has_else(func, choice)) return HONE_NO_ID;
    hone_node_id other = hone_func_node(func, choice)->last;
    hone_tree_remove(func, other);
    return other;
}

/* Both cases of the second behind those of the first. */
static void join_cases(hone_func *func, hone_node_id first, hone_node_id second) {
    hone_node_id other = take_else(func, first), more = take_else(func, second);
    hone_tree_move_children(func, second, first);
    if (other != HONE_NO_ID && more != HONE_NO_ID) hone_tree_move_children(func, more, other);
    if (other == HONE_NO_ID) other = more;
    if (other != HONE_NO_ID) hone_tree_append(func, first, other);
    hone_tree_remove(func, second);
}

static void share_conditions(hone_func *func, hone_node_id parent) {
    LOWER_EACH_CHILD (func, parent, c) {
        bool is_shared = false;
        for (hone_node_id next; ask_the_same(func, c, next = hone_func_node(func, c)->next);) {
            join_cases(func, c, next);
            is_shared = true;
        }
        if (!is_shared) continue;
        share_conditions(func, c);
        if (lower_has_else(func, c)) share_conditions(func, hone_func_node(func, c)->last);
    }
}

/* ---- what each case has for itself ---- */

static bool is_small_buffer(const hone_buffer_info *buffer) {
    int64_t elements = hone_buffer_elements(buffer);
    return buffer->alias_of == HONE_NO_ID && buffer->data == HONE_NO_ID && !buffer->strides &&
           !buffer->elem_offset && elements >= 0 &&
           elements * (int64_t)hone_dtype_bytes(buffer->dtype) <= MAX_OWN_BYTES;
}

static bool has_views(const hone_func *func, hone_node_id root) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_func_node(func, n)->kind == HONE_NODE_DECL) return true;
    }
    return false;
}

/* A small buffer that holds no more than a choice gets a twin for the other case: the sums of a
 * tile are in registers of their size, whatever the last tile's are. */
static hone_status part_alloc(hone_lower *lower, hone_node_id alloc) {
    hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, alloc);
    hone_node_id choice = lower_only_child(func, alloc);
    if (node->kind != HONE_NODE_ALLOC || choice == HONE_NO_ID || !asks(func, choice) ||
        !is_plain(hone_func_node(func, choice)->u.eval.value) || !lower_has_else(func, choice) ||
        !is_small_buffer(&func->buffers[node->u.alloc.buffer]) || has_views(func, alloc)) {
        return HONE_OK;
    }
    hone_node_id twin = hone_func_add_node(func, HONE_NODE_ALLOC);
    if (twin == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(func, twin)->u.alloc = hone_func_node(func, alloc)->u.alloc;
    hone_node_id other = take_else(func, choice);
    hone_tree_remove(func, choice);
    hone_tree_replace(func, alloc, choice);
    hone_tree_move_children(func, choice, alloc);
    hone_tree_append(func, choice, alloc);
    hone_tree_append(func, choice, other);
    hone_tree_move_children(func, other, twin);
    hone_tree_append(func, other, twin);
    HONE_TRY(lower_rename_buffers(func, twin));
    HONE_TRY(part_alloc(lower, twin));
    return part_alloc(lower, alloc);
}

static hone_status hoist_below(hone_lower *lower, hone_node_id parent) {
    hone_func *func = lower->func;
    hone_node_id next;
    for (hone_node_id c = hone_func_node(func, parent)->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        HONE_TRY(hoist_below(lower, c));
        if (may_hoist_out_of(hone_func_node(func, c))) HONE_TRY(hoist_out_of(lower, c));
        HONE_TRY(part_alloc(lower, c));
    }
    share_conditions(func, parent);
    return HONE_OK;
}

hone_status lower_hoist_if(hone_lower *lower) {
    return hoist_below(lower, 0);
}
