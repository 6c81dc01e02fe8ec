/* ir/region/written_cover.c - does what is written cover a box, and a block what it declares? */
#include "ir/core/touches.h"
#include "ir/region/region.h"
#include "ir/region/region_between.h"
#include "ir/region/region_impl.h"
#include "ir/region/written.h"

enum { MOST_JOINED = 16 };

/* ---- ends ---- */

/* a <= b. Ends that conditions cut are minima and maxima, each side of which may hold for its own
 * reason. */
static bool is_at_most(hone_arith *arith, const hone_expr *a, const hone_expr *b) {
    if (hone_expr_is_op(a, HONE_OP_MAX))
        return is_at_most(arith, a->args[0], b) && is_at_most(arith, a->args[1], b);
    if (hone_expr_is_op(b, HONE_OP_MIN))
        return is_at_most(arith, a, b->args[0]) && is_at_most(arith, a, b->args[1]);
    if (hone_prove_less_equal(arith, a, b)) return true;
    if (hone_expr_is_op(a, HONE_OP_MIN))
        return is_at_most(arith, a->args[0], b) || is_at_most(arith, a->args[1], b);
    return hone_expr_is_op(b, HONE_OP_MAX) &&
           (is_at_most(arith, a, b->args[0]) || is_at_most(arith, a, b->args[1]));
}

/* The box that is asked about. */
typedef struct cover {
    hone_arith *arith;
    const hone_buffer_info *buffer; /* beyond which nothing is read; NULL: what it has counts not */
    const hone_interval *box;
    uint32_t rank, count;
    const hone_interval *pieces[HONE_MOST_PIECES];
} cover;

/* The end e of a piece is at least one or other of two values or (is_low) at most one of them. */
static bool reaches(hone_arith *arith, const hone_expr *e, const hone_expr *one,
                    const hone_expr *other, bool is_low) {
    if (hone_expr_is_op(e, is_low ? HONE_OP_MAX : HONE_OP_MIN)) {
        return reaches(arith, e->args[0], one, other, is_low) &&
               reaches(arith, e->args[1], one, other, is_low);
    }
    return is_low ? is_at_most(arith, e, one) || is_at_most(arith, e, other)
                  : is_at_most(arith, one, e) || is_at_most(arith, other, e);
}

/* The piece begins no later than the box, or all that there is. */
static bool begins_by(const cover *c, uint32_t p, uint32_t d) {
    const hone_expr *min = c->pieces[p][d].min;
    const hone_expr *first = c->box[d].min;
    if (c->buffer) first = hone_expr_int(&c->arith->ir, min->dtype, 0);
    return first && reaches(c->arith, min, first, c->box[d].min, true);
}

/* It ends no sooner. */
static bool ends_by(const cover *c, uint32_t p, uint32_t d) {
    const hone_expr *last =
        c->buffer ? region_whole_dim(c->arith, c->buffer, d).max : c->box[d].max;
    return last && reaches(c->arith, c->pieces[p][d].max, c->box[d].max, last, false);
}

static bool contains_all_but(const cover *c, uint32_t p, uint32_t but) {
    for (uint32_t d = 0; d < c->rank; d++) {
        if (d != but && (!begins_by(c, p, d) || !ends_by(c, p, d))) return false;
    }
    return true;
}

/* e + by, simplified. */
static const hone_expr *moved(hone_arith *arith, const hone_expr *e, int64_t by) {
    e = hone_expr_add(&arith->ir, e, hone_expr_int(&arith->ir, e->dtype, by));
    return e ? hone_simplify(arith, e) : NULL;
}

/* Pieces one behind the other: all in front of `next` is covered. A piece that may be empty ends
 * right before it then. */
static bool covers_along(const cover *c, uint32_t d) {
    bool is_used[HONE_MOST_PIECES] = {false};
    const hone_expr *next = NULL, *before = NULL; /* NULL: none yet */
    for (uint32_t p = 0; p < c->count; p++) {
        const hone_interval *side = &c->pieces[p][d];
        if (is_used[p]) continue;
        if (next ? !is_at_most(c->arith, side->min, next) : !begins_by(c, p, d)) continue;
        if (!contains_all_but(c, p, d)) continue;
        if (ends_by(c, p, d)) return true;
        if (!before) before = moved(c->arith, c->box[d].min, -1);
        if (!before || !is_at_most(c->arith, before, side->max)) continue;
        is_used[p] = true;
        before = side->max;
        next = moved(c->arith, side->max, 1);
        if (!next) return false;
        p = UINT32_MAX; /* from the first again: they may stand in any order */
    }
    return false;
}

static bool is_covered(const cover *c) {
    if (c->rank == 0) return c->count > 0;
    for (uint32_t d = 0; d < c->rank; d++) {
        if (covers_along(c, d)) return true;
    }
    return false;
}

/* ---- pieces that make larger ones ---- */

/* Two boxes that differ in one dimension, where they touch, are one; NULL: they are not. */
static const hone_interval *join(const cover *c, const hone_interval *a, const hone_interval *b) {
    hone_arith *arith = c->arith;
    uint32_t along = c->rank;
    for (uint32_t d = 0; d < c->rank; d++) {
        if (hone_prove_equal(arith, a[d].min, b[d].min) &&
            hone_prove_equal(arith, a[d].max, b[d].max)) {
            continue;
        }
        if (along < c->rank) return NULL;
        along = d;
    }
    if (along == c->rank) return a;
    const hone_expr *next = moved(arith, a[along].max, 1);
    if (!next || !is_at_most(arith, a[along].min, b[along].min) ||
        !is_at_most(arith, b[along].min, next) || !is_at_most(arith, a[along].max, b[along].max)) {
        return NULL;
    }
    hone_interval *both = region_alloc(arith, (c->rank + 1) * sizeof *both);
    for (uint32_t d = 0; both && d < c->rank; d++)
        both[d] = a[d];
    if (both) both[along].max = b[along].max;
    return both;
}

/* Joins two; false: there are none to be joined. */
static bool join_any(cover *c) {
    for (uint32_t a = 0; a < c->count; a++) {
        for (uint32_t b = 0; b < c->count; b++) {
            const hone_interval *both = a == b ? NULL : join(c, c->pieces[a], c->pieces[b]);
            if (!both) continue;
            c->pieces[a] = both;
            c->pieces[b] = c->pieces[--c->count];
            return true;
        }
    }
    return false;
}

bool hone_covers(const hone_written *w, const hone_interval *box) {
    cover c = {.arith = w->flow->arith, .box = box, .rank = w->rank};
    if (!w->flow->may_leave) c.buffer = hone_func_buffer(w->flow->func, w->buffer);
    for (uint32_t p = 0; p < w->count; p++) {
        const hone_expr *condition = w->pieces[p].condition;
        if (!condition || hone_prove(c.arith, condition)) c.pieces[c.count++] = w->pieces[p].box;
    }
    if (is_covered(&c)) return true;
    bool is_joined = false;
    while (c.count > 1 && c.count <= MOST_JOINED && join_any(&c))
        is_joined = true;
    return is_joined && is_covered(&c);
}

bool hone_covers_buffer(const hone_written *w) {
    const hone_buffer_info *info = hone_func_buffer(w->flow->func, w->buffer);
    hone_interval *box = region_alloc(w->flow->arith, (w->rank + 1) * sizeof *box);
    for (uint32_t d = 0; box && d < w->rank; d++) {
        box[d] = region_whole_dim(w->flow->arith, info, d);
        if (!box[d].min || !box[d].max) return false;
    }
    return box && hone_covers(w, box);
}

/* ---- blocks ---- */

/* The usual leaf: one store, at the place that is declared. */
static bool is_one_store(const hone_func *func, hone_node_id block, const hone_region *written) {
    hone_node_id body = hone_block_body_of(func, block);
    const hone_node *store = body == HONE_NO_ID ? NULL : hone_func_node(func, body);
    if (!store || store->next != HONE_NO_ID || store->kind != HONE_NODE_STORE ||
        store->u.store.buffer != written->buffer) {
        return false;
    }
    for (uint32_t d = 0; d < store->u.store.rank; d++) {
        if (!hone_expr_is_int_value(written->ranges[d].extent, 1) ||
            !hone_expr_same(written->ranges[d].min, store->u.store.indices[d])) {
            return false;
        }
    }
    return true;
}

static bool is_shown_in_full(const hone_dataflow *flow, hone_node_id block,
                             const hone_region *written);

/* Is all written that a view shows of the buffer, or does somebody take its address? */
static bool is_full_view(const hone_dataflow *flow, hone_node_id block, hone_buffer view) {
    const hone_buffer_info *info = hone_func_buffer(flow->func, view);
    if (hone_takes_address_below(flow->func, block, view)) return true;
    hone_range *ranges = region_alloc(flow->arith, (info->rank + 1) * sizeof *ranges);
    for (uint32_t d = 0; ranges && d < info->rank; d++) {
        ranges[d] =
            (hone_range){hone_expr_int(&flow->arith->ir, info->shape[d]->dtype, 0), info->shape[d]};
    }
    return ranges && is_shown_in_full(flow, block, &(hone_region){view, ranges});
}

static hone_interval interval_of(hone_arith *arith, const hone_range *range) {
    const hone_expr *end = hone_expr_add(&arith->ir, range->min, range->extent);
    return (hone_interval){range->min, end ? moved(arith, end, -1) : NULL};
}

static hone_interval *box_of(const hone_dataflow *flow, const hone_region *region) {
    uint32_t rank = hone_func_buffer(flow->func, region->buffer)->rank;
    hone_interval *box = region_alloc(flow->arith, (rank + 1) * sizeof *box);
    for (uint32_t d = 0; box && d < rank; d++) {
        box[d] = interval_of(flow->arith, &region->ranges[d]);
        if (!box[d].max) return NULL;
    }
    return box;
}

static bool is_shown_in_full(const hone_dataflow *flow, hone_node_id id,
                             const hone_region *written) {
    const hone_block *block = hone_func_node(flow->func, id)->u.block.block;
    const hone_interval *box = box_of(flow, written);
    hone_written w;
    hone_written_begin(&w, flow, written->buffer, id);
    for (hone_node_id n = hone_func_node(flow->func, id)->first; n != HONE_NO_ID;
         n = hone_func_node(flow->func, n)->next) {
        hone_written_add(&w, n);
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        const hone_match *match = &block->matches[i];
        if (match->source.buffer != written->buffer || !is_full_view(flow, id, match->buffer))
            continue;
        region_add_written(&w, hone_func_node(flow->func, id)->first, &match->source);
    }
    return box && hone_covers(&w, box);
}

/* What is not shown is believed where the buffer is written through views or pointers, but for what
 * somebody said by hand: that may be more than is written. */
static bool writes_all(const hone_dataflow *flow, hone_node_id id, const hone_region *written) {
    const hone_func *func = flow->func;
    const hone_block *block = hone_func_node(func, id)->u.block.block;
    if (is_one_store(func, id, written)) return true;
    if (!hone_jumps_below(func, id) && is_shown_in_full(flow, id, written)) return true;
    if (hone_attrs_find(&block->annotations, "explicit_write_region")) return false;
    return hone_has_alias(func, written->buffer) ||
           hone_takes_address_below(func, id, written->buffer);
}

bool hone_writes_exactly(const hone_dataflow *flow, hone_node_id id) {
    const hone_block *block = hone_func_node(flow->func, id)->u.block.block;
    for (uint32_t w = 0; w < block->write_count; w++) {
        if (!writes_all(flow, id, &block->writes[w])) return false;
    }
    return true;
}
