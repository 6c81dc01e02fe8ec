/* ir/region/written.c - pieces of a buffer that statements surely write, and what they cover. */
#include "ir/region/written.h"

#include "ir/core/touches.h"
#include "ir/region/region.h"
#include "ir/region/region_between.h"
#include "ir/region/region_impl.h"

void hone_written_begin(hone_written *w, const hone_dataflow *flow, hone_buffer buffer,
                        hone_node_id within) {
    w->flow = flow;
    w->buffer = buffer;
    w->within = within;
    w->rank = hone_func_buffer(flow->func, buffer)->rank;
    w->count = 0;
}

/* ---- pieces ---- */

static bool uses_names(const hone_written *w, const region_between *between,
                       const hone_interval *box) {
    for (uint32_t d = 0; between->names && d < w->rank; d++) {
        if (hone_expr_uses_any(box[d].min, between->names, w->flow->func->var_count) ||
            hone_expr_uses_any(box[d].max, between->names, w->flow->func->var_count)) {
            return true;
        }
    }
    return false;
}

static void add_piece(hone_written *w, hone_node_id at, hone_node_id block_or_none,
                      const hone_region *region) {
    region_between between;
    bool is_exact = false;
    hone_interval *box = region_alloc(w->flow->arith, (w->rank + 1) * sizeof *box);
    if (!box || w->count == HONE_MOST_PIECES) return;
    if (!region_look_between(w->flow, at, w->within, &between) || between.has_unknown) return;
    if (!region_box_between(w->flow, block_or_none, region, &between, box, &is_exact)) return;
    if (is_exact && !uses_names(w, &between, box))
        w->pieces[w->count++] = (hone_piece){box, between.fixed};
}

/* An index as a range: a ramp by ones is as long as it has lanes. */
static bool range_of_index(hone_arith *arith, const hone_expr *index, hone_range *out) {
    int64_t extent = 1;
    if (index->kind == HONE_EXPR_RAMP) {
        if (!hone_expr_is_int_value(index->args[1], 1) || hone_dtype_is_scalable(index->dtype))
            return false;
        extent = index->dtype.lanes;
        index = index->args[0];
    }
    if (index->dtype.lanes != 1) return false;
    *out = (hone_range){index, hone_expr_int(&arith->ir, index->dtype, extent)};
    return out->extent != NULL;
}

const hone_region *hone_region_of_access(hone_arith *arith, hone_buffer buffer, uint32_t rank,
                                         const hone_expr *const *indices) {
    hone_region *region = region_alloc(arith, sizeof *region);
    hone_range *ranges = region_alloc(arith, (rank + 1) * sizeof *ranges);
    if (!region || !ranges) return NULL;
    for (uint32_t d = 0; d < rank; d++) {
        if (!range_of_index(arith, indices[d], &ranges[d])) return NULL;
    }
    *region = (hone_region){buffer, ranges};
    return region;
}

/* Where a store writes; NULL where that is no box of the buffer. */
static const hone_region *region_of_store(const hone_written *w, hone_node_id store) {
    const hone_node *node = hone_func_node(w->flow->func, store);
    bool is_ours = node->u.store.buffer == w->buffer && node->u.store.rank == w->rank;
    return is_ours
               ? hone_region_of_access(w->flow->arith, w->buffer, w->rank, node->u.store.indices)
               : NULL;
}

static void add_store(hone_written *w, hone_node_id store) {
    const hone_region *region = region_of_store(w, store);
    if (region) add_piece(w, store, HONE_NO_ID, region);
}

void hone_written_add_stores(hone_written *w, hone_node_id block) {
    const hone_func *func = w->flow->func;
    if (hone_jumps_below(func, block)) return;
    for (hone_node_id n = hone_block_body_of(func, block); n != HONE_NO_ID;
         n = hone_func_node(func, n)->next) {
        if (hone_func_node(func, n)->kind != HONE_NODE_STORE) continue;
        const hone_region *region = region_of_store(w, n);
        if (region) add_piece(w, block, block, region);
    }
}

void region_add_written(hone_written *w, hone_node_id at, const hone_region *region) {
    add_piece(w, at, HONE_NO_ID, region);
}

static bool writes_exactly(const hone_dataflow *flow, hone_node_id block) {
    return flow->writes_exactly ? flow->writes_exactly(flow->ctx, block)
                                : hone_writes_exactly(flow, block);
}

static void add_block(hone_written *w, hone_node_id id) {
    const hone_block *block = hone_func_node(w->flow->func, id)->u.block.block;
    const hone_region *region = hone_region_of(block->write_count, block->writes, w->buffer);
    if (!region) return;
    if (writes_exactly(w->flow, id))
        add_piece(w, id, id, region);
    else
        hone_written_add_stores(w, id);
}

bool hone_surely_runs(hone_arith *arith, const hone_func *func, hone_node_id loop) {
    const hone_expr *extent = hone_func_node(func, loop)->u.loop.range.extent;
    const hone_expr *one = hone_expr_int(&arith->ir, extent->dtype, 1);
    return one && hone_prove_less_equal(arith, one, extent);
}

static void add_children(hone_written *w, hone_node_id parent) {
    for (hone_node_id n = hone_func_node(w->flow->func, parent)->first; n != HONE_NO_ID;
         n = hone_func_node(w->flow->func, n)->next) {
        hone_written_add(w, n);
    }
}

/* Does the box say that nothing is written where the loop has no iterations? */
static bool is_empty_without(const hone_written *w, const hone_interval *box, hone_node_id loop) {
    hone_arith *arith = w->flow->arith;
    const hone_expr *extent = hone_func_node(w->flow->func, loop)->u.loop.range.extent;
    const hone_expr *none = hone_expr_binary(&arith->ir, HONE_OP_LE, extent,
                                             hone_expr_int(&arith->ir, extent->dtype, 0));
    bool is_empty = false;
    if (!none || !hone_expr_is_pure_index(extent)) return false;
    uint32_t mark = hone_arith_push(arith, none);
    for (uint32_t d = 0; d < w->rank && !is_empty; d++)
        is_empty = hone_prove_less(arith, box[d].max, box[d].min);
    hone_arith_pop(arith, mark);
    return is_empty;
}

/* Boxes are of loops that run. */
static void add_loop(hone_written *w, hone_node_id loop) {
    uint32_t kept = w->count, count;
    add_children(w, loop);
    if (w->count == kept || hone_surely_runs(w->flow->arith, w->flow->func, loop)) return;
    count = w->count;
    for (w->count = kept; kept < count; kept++) {
        if (is_empty_without(w, w->pieces[kept].box, loop)) w->pieces[w->count++] = w->pieces[kept];
    }
}

/* A box that is written at a node, whatever its conditions say. */
static void add_box(hone_written *w, hone_node_id at, const hone_interval *box) {
    hone_arith *arith = w->flow->arith;
    const hone_buffer_info *info = hone_func_buffer(w->flow->func, w->buffer);
    hone_range *ranges = region_alloc(arith, (w->rank + 1) * sizeof *ranges);
    for (uint32_t d = 0; ranges && d < w->rank; d++) {
        if (!hone_interval_range(arith, box[d], info->shape[d]->dtype, &ranges[d])) return;
    }
    if (ranges) add_piece(w, at, HONE_NO_ID, &(hone_region){w->buffer, ranges});
}

/* What one branch of an IF writes and the other one covers is written in any case. */
static void add_choice(hone_written *w, hone_node_id id) {
    const hone_func *func = w->flow->func;
    hone_node_id other = hone_func_node(func, id)->last;
    hone_written here, there;
    if (other == HONE_NO_ID || hone_func_node(func, other)->kind != HONE_NODE_ELSE) return;
    hone_written_begin(&there, w->flow, w->buffer, other);
    add_children(&there, other);
    hone_written_begin(&here, w->flow, w->buffer, id);
    for (hone_node_id n = hone_func_node(func, id)->first; there.count > 0 && n != other;
         n = hone_func_node(func, n)->next) {
        hone_written_add(&here, n);
    }
    for (uint32_t p = 0; p < here.count; p++) {
        if (!here.pieces[p].condition && hone_covers(&there, here.pieces[p].box))
            add_box(w, id, here.pieces[p].box);
    }
}

void hone_written_add(hone_written *w, hone_node_id n) {
    switch ((hone_node_kind)hone_func_node(w->flow->func, n)->kind) {
    case HONE_NODE_STORE:
        add_store(w, n);
        break;
    case HONE_NODE_BLOCK:
        add_block(w, n);
        break;
    case HONE_NODE_FOR:
        add_loop(w, n);
        break;
    case HONE_NODE_IF:
        add_children(w, n);
        add_choice(w, n);
        break;
    case HONE_NODE_ELSE:
    case HONE_NODE_LET:
    case HONE_NODE_ATTR:
    case HONE_NODE_ALLOC:
    case HONE_NODE_INIT: /* in the first run for these places */
        add_children(w, n);
        break;
    default: /* loops of unknown length, statements that write nothing */
        break;
    }
}

/* ---- earlier iterations ---- */

bool region_rename_ends(const hone_dataflow *flow, uint32_t rank, hone_interval *box, hone_var from,
                        const hone_expr *to) {
    hone_arith *arith = flow->arith;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *min = hone_expr_substitute_one(&arith->ir, box[d].min, from, to);
        const hone_expr *max = hone_expr_substitute_one(&arith->ir, box[d].max, from, to);
        box[d] = (hone_interval){hone_simplify(arith, min), hone_simplify(arith, max)};
        if (!box[d].min || !box[d].max) return false;
    }
    return true;
}

/* In the first iteration nothing is written yet: does the box say so? */
static bool begins_empty(const hone_written *w, const hone_interval *box, const hone_node *loop) {
    hone_arith *arith = w->flow->arith;
    hone_var var = loop->u.loop.var;
    const hone_expr *first = loop->u.loop.range.min;
    for (uint32_t d = 0; d < w->rank; d++) {
        const hone_expr *min = hone_expr_substitute_one(&arith->ir, box[d].min, var, first);
        const hone_expr *max = hone_expr_substitute_one(&arith->ir, box[d].max, var, first);
        if (min && max && hone_prove_less(arith, max, min)) return true;
    }
    return false;
}

/* The pieces of the iterations [first, now), now being a new variable. */
static void add_before(hone_written *before, hone_node_id loop, hone_var now) {
    hone_arith *arith = before->flow->arith;
    const hone_node *node = hone_func_node(before->flow->func, loop);
    hone_range whole = node->u.loop.range;
    hone_dtype dtype = before->flow->func->vars[node->u.loop.var].dtype;
    const hone_expr *count =
        hone_expr_sub(&arith->ir, hone_expr_var(&arith->ir, dtype, now), whole.min);
    if (!count || !hone_arith_bind(arith, now, whole)) return;
    if (hone_arith_bind(arith, node->u.loop.var, (hone_range){whole.min, count}))
        add_children(before, loop);
    if (!hone_arith_bind(arith, node->u.loop.var, whole)) before->count = 0;
}

void hone_written_add_earlier(hone_written *w, hone_node_id loop) {
    hone_arith *arith = w->flow->arith;
    const hone_func *func = w->flow->func;
    const hone_node *node = hone_func_node(func, loop);
    uint32_t known = arith->count;
    hone_var now = known > func->var_count ? known : func->var_count;
    hone_written before;
    if (node->kind != HONE_NODE_FOR ||
        (node->loop_kind != HONE_LOOP_SERIAL && node->loop_kind != HONE_LOOP_UNROLLED)) {
        return;
    }
    const hone_expr *var =
        hone_expr_var(&arith->ir, func->vars[node->u.loop.var].dtype, node->u.loop.var);
    hone_written_begin(&before, w->flow, w->buffer, node->parent);
    add_before(&before, loop, now);
    arith->count = known;
    for (uint32_t p = 0; var && p < before.count && w->count < HONE_MOST_PIECES; p++) {
        hone_interval *box = before.pieces[p].box;
        if (!region_rename_ends(w->flow, w->rank, box, now, var)) continue;
        if (!begins_empty(w, box, node)) continue;
        w->pieces[w->count++] = before.pieces[p];
    }
}
