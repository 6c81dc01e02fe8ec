/* ir/verify/verify_share.c - iterations of a loop that run at once, or in any order, and share
 * elements: B[i + 1] = B[i].
 *
 * Two iterations that meet, one of them writing, are shown (ir/region/dependence.h). Nothing is
 * said where both write the same value, or where lanes of a vector, which run from statement to
 * statement together, do what iterations in order do.
 */
#include <string.h>

#include "ir/core/concurrent.h"
#include "ir/region/dependence.h"
#include "ir/verify/verify_impl.h"

typedef struct sharing {
    verifier *v;
    const hone_node *loop;
    hone_node_id id;   /* of the loop */
    bool is_in_blocks; /* lowering makes threads wait for each other between what is in blocks */
    bool *was_seen;    /* by buffer */
} sharing;

/* What belongs to the threads of a block together. */
static bool is_of_threads(const sharing *s, hone_buffer buffer) {
    const char *scope = s->v->func->buffers[buffer].scope;
    return s->loop->loop_kind == HONE_LOOP_THREAD && scope && strncmp(scope, "global", 6) != 0;
}

static bool are_threads(const hone_node *loop) {
    return loop->loop_kind == HONE_LOOP_THREAD && loop->u.loop.thread_tag &&
           strncmp(loop->u.loop.thread_tag, "threadIdx", 9) == 0;
}

/* Shared memory is one for all threads of a block, also where they are said to allocate it. */
static bool have_together(const sharing *s, hone_buffer buffer) {
    if (is_of_threads(s, buffer))
        return are_threads(s->loop) && strncmp(s->v->func->buffers[buffer].scope, "shared", 6) == 0;
    return !verify_is_private(s->v, s->id, buffer);
}

static bool is_shared(void *ctx, hone_buffer buffer) {
    return have_together(ctx, buffer);
}

static bool has_blocks(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && node->u.block.block->axis_count) return true;
    }
    return false;
}

/* ---- what two iterations do to one element ---- */

static bool moves(const void *ctx, const hone_expr *e);

/* What an iteration keeps for itself differs from that of others where the loop is in what it
 * stores there. */
static bool keeps_moving(const sharing *s, hone_buffer buffer) {
    const hone_func *func = s->v->func;
    if (buffer >= func->buffer_count || s->was_seen[buffer] || have_together(s, buffer))
        return false;
    s->was_seen[buffer] = true;
    for (hone_node_id n = s->id; n != HONE_NO_ID; n = hone_tree_next(func, s->id, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == buffer &&
            hone_expr_find(node->u.store.value, moves, s)) {
            return true;
        }
    }
    return false;
}

/* With the loop: by its variable, through names that are made of it, through what an iteration
 * keeps, or, who knows, by a call. */
static bool moves(const void *ctx, const hone_expr *e) {
    const sharing *s = ctx;
    if (e->kind == HONE_EXPR_LOAD) return keeps_moving(s, e->u.buffer);
    if (e->kind != HONE_EXPR_VAR) return hone_expr_is_effect(e);
    const hone_expr *source = s->v->points.vars[e->u.var].source;
    return e->u.var == s->loop->u.loop.var || (source && hone_expr_find(source, moves, s));
}

/* One store in two iterations gives the same value where the loop is not in it, and where it is the
 * same run of a block that only happens twice. */
static bool gives_the_same(const sharing *s, const hone_touch *a, const hone_touch *b) {
    if (a->at != b->at) return false;
    if (a->instance != 0 && a->instance == b->instance) return true;
    memset(s->was_seen, 0, s->v->func->buffer_count * sizeof *s->was_seen);
    return !hone_expr_find(hone_func_node(s->v->func, a->at)->u.store.value, moves, s);
}

/* Lanes go on together: what a later lane writes comes before what an earlier one reads only if its
 * statement does. */
static bool is_in_step(const sharing *s, const hone_touch *read, const hone_touch *write) {
    return s->loop->loop_kind == HONE_LOOP_VECTORIZED && read->iteration < write->iteration &&
           read->step < write->step;
}

static void report(const sharing *s, const hone_dependence *m, const char *what) {
    long long a = m->first->iteration, b = m->later->iteration;
    const char *name = verify_var_name(s->v, s->loop->u.loop.var);
    hone_str element = {0};
    hone_show_element(s->v->func, m->buffer, m->element, &element);
    if (is_of_threads(s, m->buffer)) {
        bool is_same = m->first->at == m->later->at && m->first->is_write && m->later->is_write;
        verify_warning(
            s->v, m->later->at,
            "threads %s = %lld and %s = %lld %s %s, and neither waits for the other; %s", name, a,
            name, b, what, hone_str_text(&element),
            is_same
                ? "one of them should, or each has an element of its own"
                : "T.tvm_storage_sync(\"shared\") belongs between the two, where all come to it");
    } else {
        verify_warning(s->v, m->later->at,
                       "iterations %s = %lld and %s = %lld of the %s loop %s %s; they have no "
                       "order, so make the loop serial or give each its own element",
                       name, a, name, b, verify_loop_kind(s->loop), what, hone_str_text(&element));
    }
    hone_str_deinit(&element);
}

/* Of what is global, only what threads write is compared; of what is shared in blocks, what one
 * statement writes. */
static bool is_wrong(void *ctx, const hone_dependence *m) {
    const sharing *s = ctx;
    const hone_touch *a = m->first, *b = m->later;
    bool is_both = a->is_write && b->is_write;
    bool is_thread = s->loop->loop_kind == HONE_LOOP_THREAD && !is_of_threads(s, m->buffer);
    if (is_both ? gives_the_same(s, a, b) : is_thread) return false;
    if (s->is_in_blocks && !is_thread && are_threads(s->loop) && (!is_both || a->at != b->at))
        return false;
    if (!a->is_write && is_in_step(s, a, b)) return false;
    report(s, m, is_both ? "both write" : a->is_write ? "write and read" : "read and write");
    return true;
}

void verify_sharing(verifier *v, hone_node_id loop) {
    const hone_node *node = hone_func_node(v->func, loop);
    sharing s = {.v = v, .loop = node, .id = loop, .is_in_blocks = has_blocks(v->func, loop)};
    const hone_dependence_search search = {&v->points, v->arena,         loop, is_shared, is_wrong,
                                           &s,         are_threads(node)};
    if (node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_UNROLLED) return;
    if (node->loop_kind == HONE_LOOP_THREAD && !hone_loop_is_of_threads(node)) return;
    if (v->out->errors_only || v->out->error_count || hone_jumps_below(v->func, loop)) return;
    s.was_seen = hone_arena_zalloc(v->arena, v->func->buffer_count + 1);
    if (!s.was_seen || hone_status_consume(hone_find_dependence(&search)) != HONE_CODE_OK)
        v->is_short_of_memory = true;
}
