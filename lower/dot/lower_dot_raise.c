/* lower/dot/lower_dot_raise.c - copies of A that are raised by 128.
 *
 * What VNNI multiplies is unsigned, see lower_dot_offset.c. A group of A that serves one register
 * of B would be raised and spread for that one product, which takes longer than the product where
 * registers are halves. So the whole of A is raised in front of the outermost node in which nobody
 * writes to it:
 *
 *   for i, j, k: C[…] = dot4(C[…], A[a:a + 4], B[…])
 * round ⇒ for q: raised[64 * q:…] = uint8(A[64 * q:…]) + 128
 *         for i, j, k: C[…] = dot4(C[…], raised[a:a + 4], B[…])
 *
 * It pays where the groups of A are used once each, on the average. Several products share a copy.
 */
#include "lower/dot/dot.h"
#include "lower/ground/split_loop.h"

enum {
    LANES = 64,
    MAX_RAISED = 1 << 24, /* bytes of a copy */
};

struct lower_dot_copy {
    const lower_dot_copy *next;
    hone_buffer storage, copy;
    hone_node_id alloc;
};

typedef struct place {
    const lower_dot_match *d;
    hone_node_id node; /* the copy goes in front of it */
    int64_t bytes;
    int64_t products; /* how often a group of A is used */
} place;

/* Whether a copy inside of a node may not be made in front of it. */
static bool is_limit(const place *p, const hone_node *node) {
    const lower_dot_match *d = p->d;
    const hone_func *func = d->lower->func;
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        return node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_THREAD ||
               (node->loop_kind == HONE_LOOP_PARALLEL &&
                d->lower->options->target->num_threads != 1);
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        return hone_func_storage(func, node->u.alloc.buffer) ==
               hone_func_storage(func, d->a_buffer);
    case HONE_NODE_IF:
    case HONE_NODE_ELSE:
    case HONE_NODE_LET:
    case HONE_NODE_ATTR:
        return false;
    default:
        return true;
    }
}

/* Children of a choice are no sequence that something could be put into. */
static bool is_sequence(const hone_node *node) {
    return node->kind != HONE_NODE_IF && node->kind != HONE_NODE_ELSE;
}

static bool find_place(place *p) {
    const lower_dot_match *d = p->d;
    const hone_func *func = d->lower->func;
    int64_t products = 1;
    p->node = HONE_NO_ID;
    for (hone_node_id n = d->outer;;) {
        hone_node_id above = hone_func_node(func, n)->parent;
        if (above == HONE_NO_ID) break;
        const hone_node *node = hone_func_node(func, above);
        if (is_sequence(node)) {
            p->node = n;
            p->products = products;
        }
        if (is_limit(p, node) || lower_dot_is_changed(func, above, d->a_buffer)) break;
        if (node->kind == HONE_NODE_FOR) {
            int64_t extent = hone_expr_const(node->u.loop.range.extent);
            bool fits = extent > 0 && products <= MAX_RAISED;
            products *= fits ? extent : 1;
        }
        n = above;
    }
    return p->node != HONE_NO_ID && p->products >= p->bytes / 4 / 2;
}

/* copy[at:at + lanes] = A[at:at + lanes] + 128, as the last child of where. */
static hone_status raise(const place *p, hone_node_id where, hone_buffer copy, const hone_expr *at,
                         int64_t lanes) {
    hone_func *func = p->d->lower->func;
    hone_ir *ir = &p->d->lower->ir;
    hone_dtype byte = HONE_DTYPE_MAKE(UINT, 8);
    hone_dtype bytes = hone_dtype_with_lanes(byte, (uint16_t)lanes);
    const hone_expr *more = hone_expr_int(ir, byte, 128);
    if (lanes > 1) more = hone_expr_broadcast(ir, more, bytes.lanes);
    const hone_expr *value =
        hone_expr_cast(ir, bytes, lower_load_lanes(p->d->lower, p->d->a_buffer, at, lanes));
    HONE_TRY(lower_append_store(func, where, copy, lower_lanes(ir, at, lanes),
                                hone_expr_add(ir, value, more)));
    return hone_ir_finish(ir);
}

/* raised[…] = A[…] + 128, all of it, as the last children of where. */
static hone_status raise_all(const place *p, hone_node_id where, hone_buffer copy) {
    hone_func *func = p->d->lower->func;
    hone_ir *ir = &p->d->lower->ir;
    int64_t whole = p->bytes / LANES, rest = p->bytes % LANES;
    if (whole > 0) {
        const hone_expr *q;
        hone_range range = lower_range(ir, HONE_DTYPE_I32, 0, whole);
        hone_node_id loop = lower_new_loop(p->d->lower, "q", HONE_LOOP_SERIAL, range, &q);
        if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_tree_append(func, where, loop);
        q = hone_expr_mul(ir, q, hone_expr_i32(ir, LANES));
        HONE_TRY(raise(p, loop, copy, q, LANES));
    }
    if (rest == 0) return HONE_OK;
    return raise(p, where, copy, hone_expr_i32(ir, (int32_t)(whole * LANES)), rest);
}

/* The node and those behind it, as long as they do not change A, become children of alloc. */
static void take_below(const place *p, hone_node_id alloc) {
    hone_func *func = p->d->lower->func;
    hone_node_id next = hone_func_node(func, p->node)->next;
    lower_wrap(func, p->node, alloc);
    for (hone_node_id n = next; n != HONE_NO_ID; n = next) {
        next = hone_func_node(func, n)->next;
        if (lower_dot_is_changed(func, n, p->d->a_buffer)) return;
        hone_tree_remove(func, n);
        hone_tree_append(func, alloc, n);
    }
}

static hone_status make_copy(const place *p, lower_dot_copy *made) {
    hone_func *func = p->d->lower->func;
    made->copy =
        hone_func_add_dense(func, "raised", HONE_DTYPE_MAKE(UINT, 8), 1, &p->bytes, "global");
    made->alloc = lower_new_alloc(func, made->copy);
    hone_node_id front = hone_func_add_node(func, HONE_NODE_TOP);
    if (made->alloc == HONE_NO_ID || front == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(raise_all(p, front, made->copy));
    take_below(p, made->alloc);
    for (hone_node_id last; (last = hone_func_node(func, front)->last) != HONE_NO_ID;) {
        hone_tree_remove(func, last);
        hone_tree_prepend(func, made->alloc, last);
    }
    return HONE_OK;
}

hone_status lower_dot_raise(const lower_dot_match *d, hone_buffer *out_raised) {
    const hone_func *func = d->lower->func;
    const hone_buffer_info *info = &func->buffers[d->a_buffer];
    place p = {.d = d, .bytes = info->rank == 1 ? hone_expr_const(info->shape[0]) : -1};
    hone_buffer storage = hone_func_storage(func, d->a_buffer);
    *out_raised = HONE_NO_ID;
    for (const lower_dot_copy *c = *d->io_copies; c; c = c->next) {
        if (c->storage != storage || !hone_tree_is_ancestor(func, c->alloc, d->outer)) continue;
        *out_raised = c->copy;
        return HONE_OK;
    }
    if (info->strides || info->elem_offset || p.bytes < 1 || p.bytes > MAX_RAISED) return HONE_OK;
    if (!find_place(&p)) return HONE_OK;
    lower_dot_copy *made = hone_arena_alloc(func->arena, sizeof *made);
    if (!made) return LOWER_NO_MEMORY();
    *made = (lower_dot_copy){.next = *d->io_copies, .storage = storage};
    HONE_TRY(make_copy(&p, made));
    *d->io_copies = made;
    *out_raised = made->copy;
    return HONE_OK;
}
