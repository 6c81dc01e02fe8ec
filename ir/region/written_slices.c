/* ir/region/written_slices.c - do statements cover a buffer whose pieces are boxes slice by slice
 * only, as triangles are?
 *
 *     for i in n: for j in i + 1: B[i, j] = ...           in slice i: B[i, 0:i + 1]
 *     for i in n: for j in n - i - 1: B[i, i + 1 + j] = ...           B[i, i + 1:n]
 */
#include "ir/region/region_between.h"
#include "ir/region/region_impl.h"
#include "ir/region/written.h"

enum { MOST_FIXED = 4 };

/* The outermost loops of a nest, and the dimension that each one's variable is the index of. */
typedef struct nest {
    hone_node_id loops[MOST_FIXED];
    hone_var vars[MOST_FIXED]; /* by place in slices.dims */
} nest;

typedef struct slices {
    const hone_dataflow *flow;
    hone_buffer buffer;
    uint32_t depth;            /* loops that are fixed */
    uint32_t dims[MOST_FIXED]; /* dimensions of which a slice has one place */
    nest first;                /* names the slice */
    bool has_first;
    hone_written all; /* pieces of a slice */
} slices;

static const hone_node *node_of(const slices *s, hone_node_id id) {
    return hone_func_node(s->flow->func, id);
}

static bool is_var(const hone_expr *e, hone_var var) {
    return e->kind == HONE_EXPR_VAR && e->u.var == var;
}

/* The loops around a store, the outermost first; false where something else than loops decides
 * whether an iteration of them runs. */
static bool find_loops(const slices *s, hone_node_id store, nest *out) {
    uint32_t count = 0;
    for (hone_node_id n = node_of(s, store)->parent; n != HONE_NODE_TOP; n = node_of(s, n)->parent)
        count += node_of(s, n)->kind == HONE_NODE_FOR;
    if (count < s->depth) return false;
    for (hone_node_id n = node_of(s, store)->parent; n != HONE_NODE_TOP;
         n = node_of(s, n)->parent) {
        hone_node_kind kind = (hone_node_kind)node_of(s, n)->kind;
        bool is_loop = kind == HONE_NODE_FOR, is_outside = count < s->depth;
        if (is_outside && !is_loop && kind != HONE_NODE_ATTR && kind != HONE_NODE_ALLOC)
            return false;
        count -= is_loop;
        if (is_loop && count < s->depth) out->loops[count] = n;
    }
    return true;
}

/* The loop passes through all places of the dimension. */
static bool has_all_places(const slices *s, hone_node_id loop, uint32_t d) {
    hone_arith *arith = s->flow->arith;
    const hone_range *range = &node_of(s, loop)->u.loop.range;
    const hone_expr *shape = hone_func_buffer(s->flow->func, s->buffer)->shape[d];
    const hone_expr *end = hone_expr_add(&arith->ir, range->min, range->extent);
    const hone_expr *zero = hone_expr_int(&arith->ir, range->min->dtype, 0);
    return end && zero && hone_dtype_equal(end->dtype, shape->dtype) &&
           hone_prove_less_equal(arith, range->min, zero) &&
           hone_prove_less_equal(arith, shape, end);
}

/* The dimension in which the store stands at the loop's variable; the rank: in none. */
static uint32_t dim_of_loop(const slices *s, const hone_node *store, hone_node_id loop) {
    uint32_t d = 0;
    while (d < store->u.store.rank &&
           !is_var(store->u.store.indices[d], node_of(s, loop)->u.loop.var))
        d++;
    return d;
}

static bool fix_loops(slices *s, const hone_node *store, nest *n) {
    for (uint32_t k = 0; k < s->depth; k++) {
        uint32_t d = dim_of_loop(s, store, n->loops[k]), place = 0;
        if (d == store->u.store.rank || !has_all_places(s, n->loops[k], d)) return false;
        if (!s->has_first) s->dims[k] = d;
        while (place < s->depth && s->dims[place] != d)
            place++;
        if (place == s->depth) return false;
        n->vars[place] = node_of(s, n->loops[k])->u.loop.var;
    }
    if (!s->has_first) s->first = *n;
    s->has_first = true;
    return true;
}

/* Variables of this nest become those of the first one; false where one would take another's name.
 */
static bool rename_slice(const slices *s, const nest *n, hone_interval *box) {
    hone_arith *arith = s->flow->arith;
    for (uint32_t k = 0; k < s->depth; k++) {
        hone_var var = n->vars[k], first = s->first.vars[k];
        if (var == first) continue;
        for (uint32_t other = 0; other < s->depth; other++)
            if (n->vars[other] == first || s->first.vars[other] == var) return false;
        const hone_expr *to = hone_expr_var(&arith->ir, s->flow->func->vars[first].dtype, first);
        if (!to || !region_rename_ends(s->flow, s->all.rank, box, var, to)) return false;
    }
    return true;
}

/* One place of each dimension that is fixed. */
static bool is_of_slice(const slices *s, const nest *n, const hone_interval *box) {
    for (uint32_t k = 0; k < s->depth; k++) {
        const hone_interval *side = &box[s->dims[k]];
        if (!is_var(side->min, n->vars[k]) || !is_var(side->max, n->vars[k])) return false;
    }
    return true;
}

static void add_nest(slices *s, const nest *n) {
    hone_node_id loop = n->loops[s->depth - 1];
    hone_written here;
    hone_written_begin(&here, s->flow, s->buffer, loop);
    for (hone_node_id c = node_of(s, loop)->first; c != HONE_NO_ID; c = node_of(s, c)->next)
        hone_written_add(&here, c);
    for (uint32_t p = 0; p < here.count && s->all.count < HONE_MOST_PIECES; p++) {
        hone_piece *piece = &here.pieces[p];
        if (piece->condition || !is_of_slice(s, n, piece->box)) continue;
        if (rename_slice(s, n, piece->box)) s->all.pieces[s->all.count++] = *piece;
    }
}

static void add_stores(slices *s, hone_node_id top) {
    const hone_func *func = s->flow->func;
    hone_node_id done = HONE_NO_ID; /* the loop that was added last, with all stores in it */
    for (hone_node_id id = top; id != HONE_NO_ID; id = hone_tree_next(func, top, id)) {
        const hone_node *store = node_of(s, id);
        nest n;
        if (store->kind != HONE_NODE_STORE || store->u.store.buffer != s->buffer) continue;
        if (store->u.store.rank != s->all.rank || !find_loops(s, id, &n)) continue;
        if (n.loops[s->depth - 1] == done || !fix_loops(s, store, &n)) continue;
        done = n.loops[s->depth - 1];
        add_nest(s, &n);
    }
}

static bool covers_slice(const slices *s) {
    const hone_func *func = s->flow->func;
    hone_arith *arith = s->flow->arith;
    hone_interval *box = region_alloc(arith, (s->all.rank + 1) * sizeof *box);
    for (uint32_t d = 0; box && d < s->all.rank; d++) {
        box[d] = region_whole_dim(arith, hone_func_buffer(func, s->buffer), d);
        if (!box[d].min || !box[d].max) return false;
    }
    for (uint32_t k = 0; box && k < s->depth; k++) {
        hone_var var = s->first.vars[k];
        const hone_expr *place = hone_expr_var(&arith->ir, func->vars[var].dtype, var);
        box[s->dims[k]] = (hone_interval){place, place};
    }
    return box && hone_covers(&s->all, box);
}

bool hone_covers_by_slices(const hone_dataflow *flow, hone_buffer buffer, hone_node_id until) {
    uint32_t rank = hone_func_buffer(flow->func, buffer)->rank;
    for (uint32_t depth = 1; depth < rank && depth <= MOST_FIXED; depth++) {
        slices s = {.flow = flow, .buffer = buffer, .depth = depth};
        hone_written_begin(&s.all, flow, buffer, HONE_NODE_TOP);
        for (hone_node_id n = hone_func_node(flow->func, HONE_NODE_TOP)->first; n != until;
             n = hone_func_node(flow->func, n)->next)
            add_stores(&s, n);
        if (s.all.count > 0 && covers_slice(&s)) return !flow->arith->ir.error;
    }
    return false;
}
