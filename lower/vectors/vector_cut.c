/* lower/vectors/vector_cut.c - see vector_cut.h. */
#include "lower/vectors/vector_cut.h"

#include "lower/ground/split_loop.h"

enum { MAX_UNROLLED_HEAD = 16 };

static bool note_bits_of(void *ctx, const hone_expr *e) {
    int32_t *widest = ctx;
    bool is_value = e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_CAST;
    if (is_value && e->dtype.bits > *widest) *widest = e->dtype.bits;
    return e->kind != HONE_EXPR_LOAD; /* indices do not count */
}

int64_t lower_vector_lanes(const hone_lower *lower, hone_node_id id) {
    const hone_func *func = lower->func;
    int32_t widest = 8;
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_tree_next(func, id, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE) {
            if (node->first == HONE_NO_ID) widest = 32; /* who knows */
            continue;
        }
        int32_t bits = func->buffers[node->u.store.buffer].dtype.bits;
        if (bits > widest) widest = bits;
        hone_expr_walk(node->u.store.value, note_bits_of, &widest);
    }
    return hone_target_lanes(lower->options->target, widest > 32 ? 32 : widest);
}

hone_status lower_cut_vector(hone_lower *lower, hone_node_id id, int64_t extent, int64_t lanes) {
    int64_t head = extent / lanes;
    hone_node_id rest, around;
    if (extent % lanes != 0) HONE_TRY(lower_cut_off(lower, id, head * lanes, &rest));
    hone_loop_kind kind = head <= MAX_UNROLLED_HEAD ? HONE_LOOP_UNROLLED : HONE_LOOP_SERIAL;
    HONE_TRY(lower_in_parts(lower, id, lanes, kind, &around));
    lower_wrap(lower->func, id, around);
    return HONE_OK;
}
