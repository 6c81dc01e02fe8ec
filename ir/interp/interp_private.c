/* ir/interp/interp_private.c - whose storage it is. A buffer of a thread-bound program belongs
 * where all its uses meet: TVM allocates it there, whatever block names it. Where they meet below a
 * thread loop, each iteration of that loop has storage of its own; shared memory is one for all
 * threads of a block, memory of a warp for those along threadIdx.x. */
#include "ir/core/concurrent.h"
#include "ir/core/touches.h"
#include "ir/interp/interp_impl.h"

typedef struct finder {
    const hone_func *func;
    hone_node_id *meets; /* by buffer */
} finder;

static void use(void *ctx, const hone_reference *ref) {
    const finder *f = ctx;
    for (hone_buffer b = ref->buffer; b < f->func->buffer_count; b = f->func->buffers[b].alias_of) {
        hone_node_id *meet = &f->meets[b];
        *meet = *meet == HONE_NO_ID ? ref->at : hone_tree_lca(f->func, *meet, ref->at);
    }
}

void private_find(machine *m) {
    const hone_func *func = m->func;
    finder f = {func, machine_alloc(m, (func->buffer_count + 1) * sizeof *f.meets)};
    for (hone_buffer b = 0; b < func->buffer_count; b++)
        f.meets[b] = HONE_NO_ID;
    hone_walk_references(func, 0, use, &f);
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
