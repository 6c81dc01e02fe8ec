/* ir/interp/interp_own.c - arrays that each thread has as they are. A buffer in the scope "local"
 * that several loops over an axis of threads use belongs further out, to all of these loops:
 *
 *   for t in threadIdx.x (32): P[0] = A[t]
 *   for t in threadIdx.x (32): B[t] = P[0]
 *
 * Where each thread of the axis stores it, none may leave before it does, and no index says or
 * reads which thread it is, each has one of its own (what code is made of:
 * lower/threads/own_places.c). Its storage is then as many arrays as there are threads, one behind
 * the other, and a loop over the axis moves the buffer to the iteration's.
 */
#include "ir/core/concurrent.h"
#include "ir/interp/interp_impl.h"

static const char *const axes[INTERP_OWN_AXES] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

enum { MOST_THREADS = 1024, MOST_ELEMENTS = 1 << 22 };

typedef struct judge {
    const machine *m;
    hone_buffer buffer;
    uint32_t axis;
    hone_node_id at;
    bool *differs; /* by variable: not the same for all threads of the axis */
    int64_t threads;
    bool has_store, is_refused;
} judge;

/* The axis of threads that a loop goes along; INTERP_OWN_AXES: none. */
static uint32_t axis_of(const hone_node *node) {
    uint32_t axis = INTERP_OWN_AXES;
    bool is_bound = node->kind == HONE_NODE_FOR && hone_loop_is_of_threads(node);
    for (uint32_t a = 0; is_bound && a < INTERP_OWN_AXES; a++) {
        if (strcmp(axes[a], node->u.loop.thread_tag) == 0) axis = a;
    }
    return axis;
}

static bool uses(const judge *j, const hone_expr *e) {
    return hone_expr_uses_any(e, j->differs, j->m->func->var_count);
}

/* It is not the same for all threads of the axis, or that is not seen. */
static bool may_differ(const judge *j, const hone_expr *e) {
    return e && (uses(j, e) || hone_expr_find(e, hone_expr_is_load, NULL));
}

static void mark_names(judge *j) {
    const hone_func *func = j->m->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && axis_of(node) == j->axis)
            j->differs[node->u.loop.var] = true;
        if (node->kind == HONE_NODE_LET && may_differ(j, node->u.let.value))
            j->differs[node->u.let.var] = true;
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        for (uint32_t i = 0; i < block->axis_count; i++)
            j->differs[block->axes[i].var] |= may_differ(j, node->u.block.bindings[i]);
    }
}

/* ---- uses ---- */

/* Threads reduce together in the block, or a condition says which of them come to its body. */
static bool block_asks(const judge *j, const hone_node *node) {
    const hone_block *block = node->u.block.block;
    bool asks = may_differ(j, node->u.block.predicate);
    for (uint32_t i = 0; i < block->axis_count; i++)
        asks |= block->axes[i].kind == HONE_AXIS_REDUCE && uses(j, node->u.block.bindings[i]);
    return asks;
}

static bool asks_which(const judge *j, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        return axis_of(node) != j->axis &&
               (may_differ(j, node->u.loop.range.min) || may_differ(j, node->u.loop.range.extent));
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
        return may_differ(j, node->u.eval.value);
    case HONE_NODE_BLOCK:
        return block_asks(j, node);
    default:
        return false;
    }
}

static void note_threads(judge *j, const hone_node *loop) {
    int64_t count = hone_expr_const(loop->u.loop.range.extent);
    bool is_known =
        count > 0 && count <= MOST_THREADS && hone_expr_is_int_value(loop->u.loop.range.min, 0);
    j->is_refused |= !is_known || (j->threads && j->threads != count);
    j->threads = count;
}

/* One loop over the axis stands between it and where all uses meet. */
static void judge_use(judge *j, hone_node_id at, const hone_expr *const *indices, uint32_t rank,
                      bool is_store) {
    const hone_func *func = j->m->func;
    uint32_t loops = 0;
    for (uint32_t d = 0; d < rank; d++)
        j->is_refused |= may_differ(j, indices[d]);
    for (hone_node_id n = at; n != j->m->meets[j->buffer]; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        j->is_refused |= is_store && asks_which(j, node);
        if (axis_of(node) != j->axis) continue;
        note_threads(j, node);
        loops++;
    }
    j->is_refused |= loops != 1;
    j->has_store |= is_store;
}

static bool see(void *ctx, const hone_expr *e) {
    judge *j = ctx;
    hone_var data = j->m->func->buffers[j->buffer].data;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == j->buffer)
        judge_use(j, j->at, e->args, e->count, false);
    if (e->kind == HONE_EXPR_VAR && hone_dtype_is_handle(e->dtype) && e->u.var == data)
        j->is_refused = true;
    return !j->is_refused;
}

static void see_at(void *ctx, hone_node_id at, const hone_expr *e) {
    judge *j = ctx;
    j->at = at;
    hone_expr_walk(e, see, j);
}

static void judge_stores(judge *j) {
    const hone_func *func = j->m->func;
    for (hone_node_id n = 0; n != HONE_NO_ID && !j->is_refused; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == j->buffer)
            judge_use(j, n, node->u.store.indices, node->u.store.rank, true);
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        for (uint32_t i = 0; i < block->match_count; i++)
            j->is_refused |= block->matches[i].source.buffer == j->buffer;
    }
}

/* Threads of the axis that have one each; 1: they have none. */
static int64_t find_threads(machine *m, hone_buffer id, uint32_t axis, bool *differs) {
    judge j = {.m = m, .buffer = id, .axis = axis, .differs = differs};
    memset(differs, 0, m->func->var_count * sizeof *differs);
    mark_names(&j);
    judge_stores(&j);
    if (!j.is_refused) hone_tree_walk_exprs(m->func, 0, false, see_at, &j);
    return j.is_refused || !j.has_store ? 1 : j.threads;
}

/* ---- all buffers ---- */

static bool is_candidate(const machine *m, hone_buffer id) {
    const hone_buffer_info *info = &m->func->buffers[id];
    bool is_local = info->scope && strcmp(info->scope, "local") == 0 && !info->strides;
    for (hone_buffer b = 0; is_local && b < m->func->buffer_count; b++)
        is_local &= m->func->buffers[b].alias_of != id;
    return is_local && info->alias_of == HONE_NO_ID && m->meets[id] != HONE_NO_ID &&
           !hone_jumps_below(m->func, m->meets[id]);
}

void own_find(machine *m) {
    const hone_func *func = m->func;
    xown *own = machine_alloc(m, (func->buffer_count + 1) * sizeof *own);
    bool *differs = machine_alloc(m, (func->var_count + 1) * sizeof *differs);
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        own[b].threads = 1;
        if (!is_candidate(m, b)) continue;
        for (uint32_t a = 0; a < INTERP_OWN_AXES; a++) {
            int64_t threads = find_threads(m, b, a, differs);
            own[b].strides[a] = threads > 1 ? own[b].threads : 0;
            own[b].threads *= threads;
        }
    }
    m->own = own;
}

void own_note_loop(machine *m, xstmt *s) {
    const hone_func *func = m->func;
    uint32_t axis = axis_of(hone_func_node(func, s->node));
    if (axis == INTERP_OWN_AXES) return;
    hone_buffer *moved = machine_alloc(m, (func->buffer_count + 1) * sizeof *moved);
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        hone_node_id meet = m->meets[b];
        bool is_below = m->own[b].strides[axis] > 0 && meet != s->node &&
                        hone_tree_is_ancestor(func, meet, s->node);
        if (is_below) moved[s->moved_count++] = b;
    }
    s->moved = moved;
    s->axis = axis;
}

int64_t own_threads(const machine *m, hone_buffer id, int64_t elements) {
    int64_t threads = m->own[id].threads;
    return elements <= MOST_ELEMENTS / threads ? threads : 1;
}

void own_move(const machine *m, const xstmt *s, xbuffer *buffers, int64_t by) {
    for (uint32_t i = 0; i < s->moved_count; i++) {
        xbuffer *b = &buffers[s->moved[i]];
        b->offset += by * m->own[s->moved[i]].strides[s->axis] * b->share;
    }
}
