/* ir/interp/interp_private.c - whose storage it is. A buffer of a thread-bound program belongs
 * where all its uses meet: TVM allocates it there, whatever block names it. Where they meet below a
 * thread loop, each iteration of that loop has storage of its own; shared memory is one for all
 * threads of a block, memory of a warp for those along threadIdx.x. */
#include "ir/core/concurrent.h"
#include "ir/interp/interp_impl.h"

typedef struct finder {
    const machine *m;
    hone_node_id *meets; /* by buffer */
    hone_node_id at;
} finder;

static void use(const finder *f, hone_buffer id) {
    const hone_func *func = f->m->func;
    for (; id < func->buffer_count; id = func->buffers[id].alias_of) {
        hone_node_id *meet = &f->meets[id];
        *meet = *meet == HONE_NO_ID ? f->at : hone_tree_lca(func, *meet, f->at);
    }
}

static bool see(void *ctx, const hone_expr *e) {
    const finder *f = ctx;
    if (e->kind == HONE_EXPR_LOAD) use(f, e->u.buffer);
    if (e->kind == HONE_EXPR_VAR && hone_dtype_is_handle(e->dtype)) {
        for (hone_buffer b = 0; b < f->m->func->buffer_count; b++) {
            if (f->m->func->buffers[b].data == e->u.var) use(f, b);
        }
    }
    return true;
}

static void see_at(void *ctx, hone_node_id at, const hone_expr *e) {
    finder *f = ctx;
    f->at = at;
    hone_expr_walk(e, see, f);
}

void private_find(machine *m) {
    const hone_func *func = m->func;
    finder f = {.m = m, .meets = machine_alloc(m, (func->buffer_count + 1) * sizeof *f.meets)};
    for (hone_buffer b = 0; b < func->buffer_count; b++)
        f.meets[b] = HONE_NO_ID;
    hone_tree_walk_exprs(func, 0, false, see_at, &f);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        f.at = n;
        if (node->kind == HONE_NODE_STORE) use(&f, node->u.store.buffer);
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        for (uint32_t i = 0; i < block->match_count; i++)
            use(&f, block->matches[i].source.buffer);
    }
    m->meets = f.meets;
}

/* Asked of its store, which all threads see: what each has of its own is another one. */
static bool is_argument(const xbuffer *b) {
    return b->store && (b->store->is_argument || b->store->argument);
}

bool buffer_is_private(const machine *m, hone_buffer id, hone_node_id loop) {
    const hone_node *node = hone_func_node(m->func, loop);
    bool is_thread = node->loop_kind == HONE_LOOP_THREAD, is_any = m->options.is_scheduled;
    if (node->kind != HONE_NODE_FOR || (!is_thread && !is_any)) return false;
    id = hone_func_storage(m->func, id);
    const char *scope = m->func->buffers[id].scope;
    bool is_global = !scope || starts_with(scope, "global");
    bool is_common = is_argument(&m->buffers[id]) || (is_global && !is_any);
    hone_node_id meet = m->meets[id];
    if (is_common || meet == HONE_NO_ID ||
        (meet != loop && !hone_tree_is_ancestor(m->func, loop, meet))) {
        return false;
    }
    return !is_thread || is_global || hone_scope_is_own(scope, node->u.loop.thread_tag);
}
