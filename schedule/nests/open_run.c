/* schedule/nests/open_run.c - loops that are one where their extents come later: everything that
 * the block touches goes through the inner one of each two as through the rows of one matrix, whose
 * length is the loop's:
 *
 *   for h in n: for w in m: Y[c, h, w] = f(X[c, h, w], B[c])      h, w ⇒ one, of n * m
 *
 * A number that is made of either axis would be a quotient, or a remainder, for each lane. */
#include "schedule/nests/loop_strides.h"

#include "schedule/state/schedule_impl.h"

typedef struct open_pair {
    hone_schedule *sch;
    hone_var outer, inner;   /* axes of the block */
    const hone_expr *length; /* of the inner loop */
    bool fits;
} open_pair;

static bool is_var(const hone_expr *e, hone_var var) {
    return e->kind == HONE_EXPR_VAR && e->u.var == var;
}

static bool is_as_long(const hone_expr *extent, const hone_expr *length) {
    int64_t known = hone_expr_const(extent);
    return hone_expr_same(extent, length) || (known >= 0 && known == hone_expr_const(length));
}

static bool uses(const open_pair *p, const hone_expr *e) {
    return hone_expr_uses_var(e, p->outer) || hone_expr_uses_var(e, p->inner);
}

/* Indices use neither axis, or the two side by side, in a dense buffer with such rows. */
static bool goes_through(const open_pair *p, hone_buffer buffer, uint32_t rank,
                         const hone_expr *const *indices) {
    const hone_buffer_info *info = hone_func_buffer(p->sch->func, buffer);
    uint32_t at = 0;
    while (at < rank && !uses(p, indices[at]))
        at++;
    if (at == rank) return true;
    bool is_pair = at + 1 < rank && rank == info->rank && !info->strides &&
                   is_var(indices[at], p->outer) && is_var(indices[at + 1], p->inner) &&
                   is_as_long(info->shape[at + 1], p->length);
    for (uint32_t d = at + 2; d < rank && is_pair; d++)
        is_pair = !uses(p, indices[d]);
    return is_pair;
}

static bool look_at(void *ctx, const hone_expr *e) {
    open_pair *p = ctx;
    if (e->kind == HONE_EXPR_LOAD) {
        p->fits &= goes_through(p, e->u.buffer, e->count, e->args);
        return false;
    }
    if (is_var(e, p->outer) || is_var(e, p->inner)) p->fits = false;
    return p->fits;
}

/* The axis that is bound to the loop, alone; HONE_NO_ID: there is none, or others use it. */
static hone_var axis_of(const hone_schedule *sch, hone_node_id block, hone_var loop) {
    const hone_node *node = sch_node(sch, block);
    const hone_block *inner = node->u.block.block;
    hone_var found = HONE_NO_ID;
    for (uint32_t a = 0; a < inner->axis_count; a++) {
        const hone_expr *binding = node->u.block.bindings[a];
        if (!hone_expr_uses_var(binding, loop)) continue;
        if (found != HONE_NO_ID || !is_var(binding, loop)) return HONE_NO_ID;
        found = inner->axes[a].var;
    }
    return found;
}

bool sch_is_open_pair(hone_schedule *sch, hone_node_id block, hone_node_id outer,
                      hone_node_id inner) {
    const hone_node *loops[] = {sch_node(sch, outer), sch_node(sch, inner)};
    hone_node_id id = sch_single_store(sch, block);
    if (id == HONE_NO_ID || loops[0]->loop_kind != HONE_LOOP_SERIAL ||
        loops[0]->u.loop.annotations.count || loops[0]->first != loops[0]->last)
        return false;
    const hone_node *store = sch_node(sch, id);
    const hone_expr *predicate = sch_node(sch, block)->u.block.predicate;
    open_pair p = {.sch = sch, .length = loops[1]->u.loop.range.extent, .fits = true};
    p.outer = axis_of(sch, block, loops[0]->u.loop.var);
    p.inner = axis_of(sch, block, loops[1]->u.loop.var);
    bool is_asked = predicate && !hone_expr_is_int(predicate);
    /* of a sum (n - 2) quotients and remainders would stay what they are */
    if (p.length->kind != HONE_EXPR_VAR && !hone_expr_is_int(p.length)) return false;
    if (p.outer == HONE_NO_ID || p.inner == HONE_NO_ID || is_asked ||
        !goes_through(&p, store->u.store.buffer, store->u.store.rank, store->u.store.indices))
        return false;
    hone_expr_walk(store->u.store.value, look_at, &p);
    return p.fits;
}
