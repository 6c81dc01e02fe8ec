/* lower/vectors/vector_cut.c - see vector_cut.h. */
#include "lower/vectors/vector_cut.h"

#include "ir/core/touches.h"
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

/* ---- how far accesses go straight on ---- */

/* Accesses below a loop whose index is no linear function of the loop's variable, as it is or cut
 * into runs: v = min + outer * run + inner. Those of the loop as it is may be near instead. */
typedef struct crooked {
    hone_arith *arith;
    hone_var var;           /* that should be linear */
    const hone_expr *value; /* of `replaced`, or NULL */
    hone_var replaced;
    const hone_expr *min; /* of the loop as it is, */
    int64_t extent;       /* and how long it is */
    uint32_t count;
} crooked;

/* Lanes that lie near each other, by constants: a vector of neighbours, shuffled. */
static bool is_near(crooked *c, const hone_expr *index) {
    enum { MOST_LANES = 64, MOST_VECTORS = 4 };
    hone_ir *ir = &c->arith->ir;
    const hone_expr *first = NULL;
    if (c->extent > MOST_LANES) return false;
    for (int64_t lane = 0; lane < c->extent; lane++) {
        const hone_expr *at = hone_expr_add(ir, c->min, hone_expr_int(ir, c->min->dtype, lane));
        at = at ? hone_expr_substitute_one(ir, index, c->var, at) : NULL;
        if (!at) return false;
        if (!first) first = at;
        const hone_expr *gap = hone_simplify(c->arith, hone_expr_sub(ir, at, first));
        if (!gap || !hone_expr_is_int(gap)) return false;
        int64_t most = MOST_VECTORS * c->extent;
        if (gap->u.i <= -most || gap->u.i >= most) return false;
    }
    return true;
}

static void note_index(crooked *c, const hone_expr *index) {
    int64_t stride;
    if (!hone_expr_uses_var(index, c->value ? c->replaced : c->var)) return;
    if (index->dtype.lanes != 1 || !hone_expr_is_pure_index(index)) return;
    if (c->value) index = hone_expr_substitute_one(&c->arith->ir, index, c->replaced, c->value);
    index = index ? hone_simplify(c->arith, index) : NULL;
    if (index && hone_linear_coeff(c->arith, index, c->var, &stride)) return;
    c->count += !index || c->value || !is_near(c, index);
}

static void note_access(void *ctx, const hone_reference *ref) {
    if (ref->indices && ref->rank == 1) note_index(ctx, ref->indices[0]);
}

static uint32_t count_crooked(const hone_func *func, hone_node_id id, crooked c) {
    hone_walk_references(func, id, note_access, &c);
    return c.count;
}

int64_t lower_lanes_within_runs(hone_lower *lower, hone_arith *arith, hone_node_id id,
                                int64_t extent) {
    hone_func *func = lower->func;
    hone_ir *ir = &arith->ir;
    const hone_range range = hone_func_node(func, id)->u.loop.range;
    hone_var var = hone_func_node(func, id)->u.loop.var;
    crooked whole = {.arith = arith, .var = var, .min = range.min, .extent = extent};
    uint32_t least = count_crooked(func, id, whole);
    if (least == 0) return extent;
    hone_dtype dtype = func->vars[var].dtype;
    hone_var outer = hone_func_add_var(func, "outer", dtype);
    hone_var inner = hone_func_add_var(func, "inner", dtype);
    if (outer == HONE_NO_ID || inner == HONE_NO_ID) return extent;
    int64_t best = extent, most = 4;
    while (most * 2 < extent)
        most *= 2;
    for (int64_t run = most; run >= 4; run /= 2) {
        if (extent % run != 0) continue;
        if (!hone_arith_bind_const(arith, outer, 0, extent / run - 1)) break;
        if (!hone_arith_bind_const(arith, inner, 0, run - 1)) break;
        const hone_expr *steps =
            hone_expr_mul(ir, hone_expr_var(ir, dtype, outer), hone_expr_int(ir, dtype, run));
        const hone_expr *value =
            hone_expr_add(ir, hone_expr_add(ir, range.min, steps), hone_expr_var(ir, dtype, inner));
        crooked c = {.arith = arith, .var = inner, .value = value, .replaced = var};
        uint32_t count = value ? count_crooked(func, id, c) : least;
        if (count >= least) continue;
        least = count;
        best = run;
    }
    return best;
}

static const hone_expr *simplify_index(void *ctx, hone_ir *ir, const hone_expr *e) {
    if (e->kind != HONE_EXPR_LOAD || e->count != 1) return e;
    const hone_expr *index = hone_simplify(ctx, e->args[0]);
    return index ? hone_expr_load(ir, e->dtype, e->u.buffer, 1, &index) : NULL;
}

hone_status lower_simplify_indices(hone_func *func, hone_arith *arith, hone_node_id id) {
    HONE_TRY(hone_tree_transform(func, id, simplify_index, arith, false));
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_tree_next(func, id, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.rank != 1) continue;
        const hone_expr *index = hone_simplify(arith, node->u.store.indices[0]);
        if (!index) return hone_ir_finish(&arith->ir);
        HONE_TRY(lower_set_store(func, n, index, node->u.store.value));
    }
    return HONE_OK;
}
