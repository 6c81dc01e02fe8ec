/* lower/memory/lower_layout.c - the pass that turns small buffers round for vectors.
 * needs: no blocks, buffers with their dimensions. keeps: what is computed. A small buffer in which
 * vectors step over elements is laid out the other way, the dimension that they run along last:
 *
 *   Y = alloc(16, 7)                             Y = alloc(7, 16)
 *   for k, w:                                    for k, w:
 *       for f in vectorized(16):            ⇒        for f in vectorized(16):
 *           Y[f, w] = Y[f, w] + X[k, w] * W[k, f]        Y[w, f] = Y[w, f] + X[k, w] * W[k, f]
 *
 * so that sums over the columns of a tile stay in registers. Where vectors run along several
 * dimensions, those in the most loops decide. */
#include "lower/ground/accesses.h"
#include "support/data/tensor.h"

enum { MAX_BYTES = 1 << 14 };

typedef struct layout {
    hone_lower *lower;
    hone_arith arith;
    uint32_t rank, last; /* last: the dimension that goes to the end */
} layout;

/* The innermost vectorized loop around a node; the number of loops around it below root. */
static hone_node_id vector_around(const hone_func *func, hone_node_id root, hone_node_id id,
                                  uint32_t *out_depth) {
    hone_node_id found = HONE_NO_ID;
    *out_depth = 0;
    for (hone_node_id n = id; n != root; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (node->loop_kind == HONE_LOOP_VECTORIZED && found == HONE_NO_ID) found = n;
        ++*out_depth;
    }
    return found;
}

/* The dimension that a vector runs along, one element after the other: the rank when it stands
 * still. False when it does anything else. */
static bool find_dimension(layout *l, const lower_access *access, hone_var var, uint32_t *out) {
    *out = l->rank;
    for (uint32_t d = 0; d < l->rank; d++) {
        int64_t step;
        if (!hone_linear_coeff(&l->arith, access->indices[d], var, &step)) return false;
        if (step == 0) continue;
        if (step != 1 || *out < l->rank) return false;
        *out = d;
    }
    return true;
}

/* The dimension that should be last: the rank when it does not matter, or is not known. */
static uint32_t best_dimension(layout *l, hone_node_id alloc, const lower_accesses *all) {
    const hone_func *func = l->lower->func;
    uint32_t best = l->rank, most = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t depth, dimension;
        hone_node_id loop = vector_around(func, alloc, all->items[i].node, &depth);
        if (loop == HONE_NO_ID || depth < most) continue;
        hone_var var = hone_func_node(func, loop)->u.loop.var;
        if (!find_dimension(l, &all->items[i], var, &dimension)) return l->rank;
        if (dimension == l->rank) continue;
        if (depth > most || dimension > best) best = dimension; /* the later one is nearer */
        most = depth;
    }
    return best;
}

/* Numbers side by side in a word were put there to be multiplied together (lower_dot.c). */
static bool holds_words(const hone_buffer_info *info) {
    int64_t bytes = (int64_t)hone_dtype_bytes(info->dtype);
    return bytes < 4 && bytes * hone_expr_const(info->shape[info->rank - 1]) == 4;
}

static bool is_plain(const hone_buffer_info *info) {
    int64_t elements = hone_buffer_elements(info);
    return info->rank >= 2 && !holds_words(info) && info->rank <= HONE_MAX_RANK && !info->strides &&
           !info->elem_offset && info->separator_count == 0 && info->alias_of == HONE_NO_ID &&
           elements >= 0 && elements <= MAX_BYTES / (int64_t)hone_dtype_bytes(info->dtype);
}

static const hone_expr **turned(void *ctx, const hone_expr *const *indices) {
    const layout *l = ctx;
    const hone_expr **out = hone_arena_alloc(l->lower->func->arena, l->rank * sizeof *out);
    if (!out) return NULL;
    for (uint32_t d = 0; d + 1 < l->rank; d++)
        out[d] = indices[d < l->last ? d : d + 1];
    out[l->rank - 1] = indices[l->last];
    return out;
}

static hone_status visit(layout *l, hone_node_id alloc, const lower_accesses *by_buffer) {
    hone_func *func = l->lower->func;
    hone_buffer buffer = hone_func_node(func, alloc)->u.alloc.buffer;
    hone_buffer_info *info = &func->buffers[buffer];
    const lower_accesses *all = &by_buffer[buffer];
    if (!is_plain(info) || all->is_opaque) return HONE_OK;
    l->rank = info->rank;
    l->last = best_dimension(l, alloc, all);
    uint32_t first_of_tail = l->rank; /* what is behind are dimensions of one element */
    while (first_of_tail > 0 && hone_expr_const(info->shape[first_of_tail - 1]) == 1)
        first_of_tail--;
    if (l->last + 1 >= first_of_tail) return HONE_OK;
    info->shape = turned(l, info->shape);
    if (!info->shape) return LOWER_NO_MEMORY();
    return lower_map_listed(func, alloc, all, buffer, turned, l);
}

hone_status lower_layout(hone_lower *lower) {
    hone_func *func = lower->func;
    layout l = {.lower = lower};
    lower_accesses *by_buffer;
    HONE_TRY(lower_find_all_accesses(func, &by_buffer));
    hone_arith_init(&l.arith, func->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (hone_func_node(func, n)->kind == HONE_NODE_ALLOC) HONE_TRY(visit(&l, n, by_buffer));
    }
    return hone_ir_finish(&l.arith.ir);
}
