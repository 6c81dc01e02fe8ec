/* lower/threads/hazards.c - see hazards.h. The access relation decides: two touches need no wait in
 * between where all that they touch is disjoint, or where points that differ in a thread never
 * meet. */
#include "lower/threads/hazards.h"

#include <string.h>

#include "ir/core/concurrent.h"
#include "ir/core/grow.h"
#include "ir/core/touches.h"
#include "lower/ground/pipelined.h"

/* ---- what is shared ---- */

static bool is_of_block(const hone_func *func, hone_buffer storage) {
    const char *scope = func->buffers[storage].scope;
    return !scope || strncmp(scope, "global", 6) == 0 || strncmp(scope, "shared", 6) == 0 ||
           strncmp(scope, "warp", 4) == 0;
}

static void watch(void *ctx, const hone_reference *t) {
    hazards *h = ctx;
    hone_buffer storage = hone_func_storage(h->lower->func, t->buffer);
    if (t->may_write && is_of_block(h->lower->func, storage)) h->is_watched[storage] = true;
}

/* ---- what is the same for all threads ---- */

/* Another thread may have another value of it. */
static bool may_differ(const void *ctx, const hone_expr *e) {
    const hazards *h = ctx;
    if (e->kind == HONE_EXPR_VAR) return h->differs[e->u.var];
    if (e->kind != HONE_EXPR_LOAD) return hone_expr_is_effect(e);
    hone_buffer storage = hone_func_storage(h->lower->func, e->u.buffer);
    return !is_of_block(h->lower->func, storage) || h->is_watched[storage];
}

bool hazards_is_uniform(const hazards *h, const hone_expr *e) {
    return !hone_expr_find(e, may_differ, h);
}

static void find_differing(hazards *h) {
    const hone_func *func = h->lower->func;
    for (hone_node_id n = h->nest; n != HONE_NO_ID; n = hone_tree_next(func, h->nest, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (lower_axis_of(node) >= LOWER_FIRST_THREAD) {
            h->differs[node->u.loop.var] = true;
        } else if (node->kind == HONE_NODE_FOR) {
            h->differs[node->u.loop.var] = !hazards_is_uniform(h, node->u.loop.range.min) ||
                                           !hazards_is_uniform(h, node->u.loop.range.extent);
        } else if (node->kind == HONE_NODE_LET) {
            h->differs[node->u.let.var] = !hazards_is_uniform(h, node->u.let.value);
        }
    }
}

hone_status hazards_enter(hazards *h, hone_node_id nest) {
    const hone_func *func = h->lower->func;
    h->nest = h->body = nest;
    h->block = hone_func_node(func, nest)->parent;
    h->is_watched = hone_arena_zalloc(func->arena, func->buffer_count + 1);
    h->differs = hone_arena_zalloc(func->arena, func->var_count + 1);
    if (!h->is_watched || !h->differs) return LOWER_NO_MEMORY();
    hone_arith_clear(&h->arith);
    if (!hone_arith_bind_sizes(&h->arith, func)) return LOWER_NO_MEMORY();
    for (hone_node_id n = nest; n != HONE_NO_ID; n = hone_func_node(func, n)->first) {
        int axis = lower_axis_of(hone_func_node(func, n));
        if (axis < 0) break;
        if (axis < LOWER_FIRST_THREAD) h->block = n;
        h->body = n;
    }
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        bool is_loop = node->kind == HONE_NODE_FOR;
        if (is_loop && !hone_arith_bind(&h->arith, node->u.loop.var, node->u.loop.range))
            return LOWER_NO_MEMORY();
    }
    hone_walk_references(h->lower->func, h->nest, watch, h);
    find_differing(h);
    return HONE_OK;
}

bool hazards_has_threads(const hazards *h) {
    const hone_func *func = h->lower->func;
    for (hone_node_id n = h->body; n != h->block; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (lower_axis_of(node) >= LOWER_FIRST_THREAD &&
            !hone_expr_is_int_value(node->u.loop.range.extent, 1))
            return true;
    }
    return false;
}

/* ---- collecting ---- */

static bool is_same(const touch *a, const touch *b) {
    return a->at == b->at && a->buffer == b->buffer && a->indices == b->indices &&
           a->is_write == b->is_write;
}

/* Once each: both sides of a condition have what was open in front of it. */
static hone_status append(const hazards *h, touches *to, const touch *one) {
    for (uint32_t i = 0; i < to->count; i++) {
        if (is_same(&to->items[i], one)) return HONE_OK;
    }
    hone_arena *arena = h->lower->func->arena;
    if (!hone_grow(arena, (void **)&to->items, &to->capacity, to->count, sizeof *to->items))
        return LOWER_NO_MEMORY();
    to->items[to->count++] = *one;
    return HONE_OK;
}

hone_status hazards_join(const hazards *h, touches *to, const touches *more) {
    for (uint32_t i = 0; i < more->count; i++)
        HONE_TRY(append(h, to, &more->items[i]));
    return HONE_OK;
}

/* Whoever wrote it has seen to it that nobody else touches what is stored. */
static bool is_apart(const hazards *h, hone_node_id id) {
    const hone_func *func = h->lower->func;
    for (hone_node_id n = id; n != h->nest; n = hone_func_node(func, n)->parent) {
        if (lower_is_attr(hone_func_node(func, n), LOWER_APART)) return true;
    }
    return false;
}

typedef struct collecting {
    const hazards *h;
    touches *out;
    hone_status failed; /* memory is short */
} collecting;

static void collect(void *ctx, const hone_reference *t) {
    collecting *c = ctx;
    hone_buffer storage = hone_func_storage(c->h->lower->func, t->buffer);
    bool is_pointer = t->kind == HONE_REFERENCE_POINTER;
    const touch one = {t->at, storage, t->buffer, is_pointer ? NULL : t->indices, t->may_write};
    if (!c->h->is_watched[storage] || c->failed) return;
    if (t->kind == HONE_REFERENCE_STORE && is_apart(c->h, t->at)) return;
    c->failed = append(c->h, c->out, &one);
}

hone_status hazards_add_below(const hazards *h, hone_node_id id, touches *io) {
    collecting c = {.h = h, .out = io};
    hone_walk_references(h->lower->func, id, collect, &c);
    return c.failed;
}

hone_status hazards_add_own(const hazards *h, hone_node_id id, touches *io) {
    collecting c = {.h = h, .out = io};
    hone_node_walk_references(h->lower->func, id, collect, &c);
    return c.failed;
}

/* ---- two touches ---- */

static void add_to(hone_relation *rel, const touch *t) {
    hone_relation_add_element(rel, t->at, t->indices);
}

static hone_relation relation_of(hazards *h, const touch *t, hone_node_id top) {
    hone_relation rel;
    hone_relation_begin(&rel, &h->arith, h->lower->func, t->buffer, top);
    return rel;
}

/* The only thread along an axis that comes somewhere. */
typedef struct pin {
    const hone_node *loop; /* of the axis */
    bool is_found;
    int64_t number;
} pin;

/* A condition gives the axis a number: axis == n, or axis < 1 where threads are counted from 0. */
static bool find_pin(void *ctx, const hone_expr *part) {
    pin *p = ctx;
    bool is_equal = hone_expr_is_op(part, HONE_OP_EQ), is_below = hone_expr_is_op(part, HONE_OP_LT);
    bool is_it = (is_equal || is_below) && part->args[0]->kind == HONE_EXPR_VAR &&
                 part->args[0]->u.var == p->loop->u.loop.var && hone_expr_is_int(part->args[1]);
    if (!is_it) return true;
    bool is_first = part->args[1]->u.i == 1 && hone_expr_is_int_value(p->loop->u.loop.range.min, 0);
    if (is_below && !is_first) return true;
    p->is_found = true;
    p->number = is_below ? 0 : part->args[1]->u.i;
    return true;
}

static pin only_thread(const hazards *h, hone_node_id at, const hone_node *loop) {
    const hone_func *func = h->lower->func;
    pin found = {.loop = loop};
    for (hone_node_id n = at; n != h->body && !found.is_found;
         n = hone_func_node(func, n)->parent) {
        hone_node_id parent = hone_func_node(func, n)->parent;
        const hone_node *around = hone_func_node(func, parent);
        bool is_then = hone_func_node(func, n)->kind != HONE_NODE_ELSE;
        if (around->kind == HONE_NODE_IF && is_then)
            lower_conjuncts(around->u.eval.value, find_pin, &found);
    }
    return found;
}

static bool is_pinned(const hazards *h, const touch *a, const touch *b, const hone_node *loop) {
    pin one = only_thread(h, a->at, loop), other = only_thread(h, b->at, loop);
    return one.is_found && other.is_found && one.number == other.number;
}

/* Points that differ in a loop over threads touch different elements, all other loops below top
 * running: by one of their indices, or by the number of the element. */
static bool tells_threads(hazards *h, const touch *a, const touch *b, hone_node_id top,
                          bool by_number) {
    const hone_func *func = h->lower->func;
    bool is_known = a->indices && b->indices && a->buffer == b->buffer;
    hone_relation rel = relation_of(h, a, top);
    if (is_known) add_to(&rel, a);
    if (is_known) add_to(&rel, b);
    is_known &= !by_number || hone_relation_count_elements(&rel);
    for (hone_node_id n = h->body; n != h->block; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (lower_axis_of(node) < LOWER_FIRST_THREAD) continue;
        if (hone_expr_is_int_value(node->u.loop.range.extent, 1)) continue;
        if (is_pinned(h, a, b, node)) continue;
        if (!is_known || !hone_is_injective_in(&rel, n)) return false;
    }
    return true;
}

/* Threads touch elements of their own, the same for both. Where blocks run, too, more is asked, but
 * what is left over is plainer: all digits of one number. */
static bool is_of_one_thread(hazards *h, const touch *a, const touch *b) {
    hone_node_id around = hone_func_node(h->lower->func, h->nest)->parent;
    return tells_threads(h, a, b, h->block, false) ||
           (around != h->block && tells_threads(h, a, b, around, false)) ||
           tells_threads(h, a, b, h->block, true);
}

static bool are_disjoint(hazards *h, const touch *a, const touch *b) {
    if (!a->indices || !b->indices || a->buffer != b->buffer) return false;
    hone_relation one = relation_of(h, a, h->block), other = relation_of(h, b, h->block);
    add_to(&one, a);
    add_to(&other, b);
    return hone_is_disjoint(&one, &other);
}

static bool meet(hazards *h, const touch *a, const touch *b) {
    if (a->storage != b->storage || (!a->is_write && !b->is_write)) return false;
    return !are_disjoint(h, a, b) && !is_of_one_thread(h, a, b);
}

bool hazards_meet(hazards *h, const touches *earlier, const touches *later) {
    for (uint32_t i = 0; i < earlier->count; i++) {
        for (uint32_t k = 0; k < later->count; k++) {
            if (meet(h, &earlier->items[i], &later->items[k])) return true;
        }
    }
    return false;
}
