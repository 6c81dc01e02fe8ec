/* lower/vectors/lower_stream.c - the pass that marks stores which go past the caches.
 * needs: flat buffers, vectors where they will be. keeps: what is computed. Vectors that are stored
 * to a parameter which the program never reads come below an ATTR (HONE_LOWER_STREAMING), and are
 * then written past the caches: where a loop around says pragma_streaming_store (or the ATTR does
 * that a vectorized or unrolled loop left behind), and not where it says 0; without a word, what is
 * larger than the last cache, of which the next reader would find nothing there anyhow. Only
 * vectors that begin where registers of memory begin, one behind the other. */
#include <string.h>

#include "ir/core/touches.h"
#include "lower/ground/passes.h"

enum { LEAST_BYTES = 32, MOST_ALIGN = 64 };

typedef struct streamer {
    hone_lower *lower;
    hone_arith arith;
    bool *is_kept; /* by buffer that others are views of: no parameter, or one that is read */
} streamer;

static void note_use(void *ctx, const hone_reference *ref) {
    streamer *s = ctx;
    bool is_use = ref->kind != HONE_REFERENCE_STORE;
    if (is_use) s->is_kept[hone_func_storage(s->lower->func, ref->buffer)] = true;
}

static hone_status find_kept(streamer *s) {
    const hone_func *func = s->lower->func;
    s->is_kept = hone_arena_alloc(func->arena, func->buffer_count + 1);
    if (!s->is_kept) return LOWER_NO_MEMORY();
    memset(s->is_kept, true, func->buffer_count + 1);
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer != HONE_NO_ID) s->is_kept[func->params[i].buffer] = false;
    }
    hone_walk_references(func, HONE_NODE_TOP, note_use, s);
    return HONE_OK;
}

/* What the innermost loop with the pragma, or what is left of one, says: 1, 0, or -1 where none
 * does. */
static int64_t wish_of(const hone_func *func, hone_node_id id) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        int64_t wish = -1;
        if (node->kind == HONE_NODE_FOR) {
            wish = hone_attrs_int(&node->u.loop.annotations, LOWER_STREAM_WISH, -1);
        } else if (node->kind == HONE_NODE_ATTR && !strcmp(node->u.attr.key, LOWER_STREAM_WISH)) {
            wish = hone_expr_const(node->u.attr.value);
        }
        if (wish >= 0) return wish > 0;
    }
    return -1;
}

static bool is_wanted(const streamer *s, hone_node_id id, hone_buffer root) {
    int64_t wish = wish_of(s->lower->func, id);
    if (wish >= 0) return wish > 0;
    int64_t cache = s->lower->options->target->l3_bytes;
    const hone_buffer_info *info = &s->lower->func->buffers[root];
    int64_t elements = hone_buffer_elements(info);
    return cache > 0 && elements > cache / (info->dtype.bits / 8 ? info->dtype.bits / 8 : 1);
}

/* A whole vector, at a multiple of its size (of a cache line at most). */
static bool is_aligned(streamer *s, const hone_node *store) {
    const hone_expr *index = store->u.store.indices[0];
    int32_t bits = s->lower->func->buffers[store->u.store.buffer].dtype.bits;
    if (store->u.store.rank != 1 || index->kind != HONE_EXPR_RAMP || bits % 8 != 0) return false;
    if (!hone_expr_is_int_value(index->args[1], 1)) return false;
    int64_t bytes = (int64_t)index->dtype.lanes * bits / 8;
    if (bytes < LEAST_BYTES || (bytes & (bytes - 1)) != 0) return false;
    int64_t step = (bytes < MOST_ALIGN ? bytes : MOST_ALIGN) / (bits / 8);
    const hone_buffer_info *info = &s->lower->func->buffers[store->u.store.buffer];
    if (info->elem_offset && !hone_expr_is_int_value(info->elem_offset, 0)) return false;
    hone_modular m = hone_arith_modular(&s->arith, index->args[0]);
    return m.coeff % step == 0 && m.base % step == 0;
}

static bool is_masked(const hone_func *func, hone_node_id id) {
    const hone_node *up = hone_func_node(func, hone_func_node(func, id)->parent);
    return up->kind == HONE_NODE_IF && up->u.eval.value->dtype.lanes > 1;
}

static hone_status wrap(hone_lower *lower, hone_node_id id) {
    hone_node_id attr;
    HONE_TRY(lower_new_mark(lower, HONE_LOWER_STREAMING, &attr));
    lower_wrap(lower->func, id, attr);
    return HONE_OK;
}

hone_status lower_stream(hone_lower *lower) {
    hone_func *func = lower->func;
    streamer s = {.lower = lower};
    hone_arith_init(&s.arith, func->arena);
    HONE_TRY(find_kept(&s));
    uint32_t count = func->node_count;
    for (hone_node_id n = 0; n < count; n++) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && node->parent != HONE_NO_ID &&
            !hone_arith_bind(&s.arith, node->u.loop.var, node->u.loop.range)) {
            return LOWER_NO_MEMORY();
        }
        if (node->kind != HONE_NODE_STORE || node->parent == HONE_NO_ID) continue;
        hone_buffer root = hone_func_storage(func, node->u.store.buffer);
        if (s.is_kept[root] || !is_wanted(&s, n, root) || is_masked(func, n)) continue;
        if (is_aligned(&s, node)) HONE_TRY(wrap(lower, n));
    }
    return hone_ir_finish(&s.arith.ir);
}
