/* lower/vectors/reduce_feed.c - the loop moves down to the reduction, over stores that neither
 * touch what it stores nor store what it reads; the reduction reads no place that a part before has
 * not made. */
#include "lower/vectors/reduce_feed.h"

#include "lower/ground/accesses.h"

enum { MAX_BETWEEN = 8 };

typedef struct feed {
    hone_lower *lower;
    hone_arith arith;
    hone_node_id loop, store; /* that makes the numbers */
    hone_buffer storage;      /* in which it puts them */
    hone_node_id reduction;
    bool is_far; /* an access of the reduction is at another place */
    uint32_t loads;
} feed;

typedef struct use {
    const hone_func *func;
    hone_buffer storage;
} use;

static bool is_use(const void *ctx, const hone_expr *e) {
    const use *u = ctx;
    return lower_has_effects(e) ||
           (e->kind == HONE_EXPR_LOAD && hone_func_storage(u->func, e->u.buffer) == u->storage);
}

static bool uses_storage(const hone_func *func, const hone_expr *e, hone_buffer storage) {
    return hone_expr_find(e, is_use, &(use){func, storage}) != NULL;
}

/* May a store and the loop change places? */
static bool may_swap(const feed *f, hone_node_id id) {
    const hone_func *func = f->lower->func;
    const hone_node *node = hone_func_node(func, id), *own = hone_func_node(func, f->store);
    if (node->kind != HONE_NODE_STORE) return false;
    hone_buffer storage = hone_func_storage(func, node->u.store.buffer);
    if (storage == f->storage || uses_storage(func, own->u.store.value, storage)) return false;
    for (uint32_t i = 0; i < node->u.store.rank; i++) {
        if (uses_storage(func, node->u.store.indices[i], f->storage)) return false;
    }
    return !uses_storage(func, node->u.store.value, f->storage);
}

/* Loads of what is fed are of the place that the same iteration fills. */
static bool note_load(void *ctx, const hone_expr *e) {
    feed *f = ctx;
    const hone_func *func = f->lower->func;
    f->is_far |= lower_has_effects(e);
    if (e->kind != HONE_EXPR_LOAD || hone_func_storage(func, e->u.buffer) != f->storage)
        return true;
    const hone_node *store = hone_func_node(func, f->store);
    hone_ir *ir = &f->arith.ir;
    hone_linear gap;
    const hone_expr *k =
        hone_func_var_expr(ir, f->lower->func, hone_func_node(func, f->reduction)->u.loop.var);
    const hone_expr *place = hone_expr_substitute_one(ir, store->u.store.indices[0],
                                                      hone_func_node(func, f->loop)->u.loop.var, k);
    f->is_far |= e->u.buffer != store->u.store.buffer || e->count != 1 || !place ||
                 !hone_linear_of(&f->arith, hone_expr_sub(ir, e->args[0], place), &gap) ||
                 gap.count != 0 || gap.constant != 0;
    f->loads++;
    return true;
}

static bool reads_in_step(feed *f) {
    const hone_func *func = f->lower->func;
    LOWER_EACH_CHILD (func, f->reduction, c) {
        const hone_node *node = hone_func_node(func, c), *own = hone_func_node(func, f->store);
        if (node->kind != HONE_NODE_STORE || node->u.store.rank != 1) return false;
        hone_buffer storage = hone_func_storage(func, node->u.store.buffer);
        if (storage == f->storage || uses_storage(func, own->u.store.value, storage)) return false;
        if (!hone_expr_is_pure_index(node->u.store.indices[0])) return false;
        hone_expr_walk(node->u.store.value, note_load, f);
    }
    return f->loads > 0 && !f->is_far;
}

/* A vectorized loop over the same range whose only statement stores to neighbours. */
static bool is_feed(feed *f, hone_node_id loop) {
    const hone_func *func = f->lower->func;
    const hone_node *node = hone_func_node(func, loop);
    const hone_node *reduction = hone_func_node(func, f->reduction);
    if (!lower_is_vector(func, loop) || node->u.loop.annotations.count ||
        lower_only_child(func, loop) == HONE_NO_ID) {
        return false;
    }
    const hone_range *a = &node->u.loop.range, *b = &reduction->u.loop.range;
    const hone_node *store = hone_func_node(func, node->first);
    int64_t step;
    if (store->kind != HONE_NODE_STORE || store->u.store.rank != 1 ||
        !hone_expr_same(a->min, b->min) || !hone_expr_same(a->extent, b->extent)) {
        return false;
    }
    const hone_expr *index = store->u.store.indices[0];
    f->loop = loop;
    f->store = node->first;
    f->storage = hone_func_storage(func, store->u.store.buffer);
    return func->buffers[store->u.store.buffer].dtype.lanes == 1 &&
           store->u.store.value->dtype.lanes == 1 && hone_expr_is_pure_index(index) &&
           hone_linear_coeff(&f->arith, index, node->u.loop.var, &step) && step == 1 &&
           !uses_storage(func, store->u.store.value, f->storage);
}

hone_node_id lower_find_feed(hone_lower *lower, hone_node_id loop) {
    hone_func *func = lower->func;
    hone_node_id between[MAX_BETWEEN];
    uint32_t count = 0;
    feed f = {.lower = lower, .reduction = loop};
    hone_arith_init(&f.arith, func->arena);
    for (hone_node_id n = hone_func_node(func, loop)->prev; n != HONE_NO_ID;
         n = hone_func_node(func, n)->prev) {
        if (is_feed(&f, n)) {
            for (uint32_t i = 0; i < count; i++) {
                if (!may_swap(&f, between[i])) return HONE_NO_ID;
            }
            return reads_in_step(&f) ? n : HONE_NO_ID;
        }
        if (hone_func_node(func, n)->kind != HONE_NODE_STORE || count == MAX_BETWEEN) break;
        between[count++] = n;
    }
    return HONE_NO_ID;
}
