/* ir/region/read_after_write.c - is all that is loaded of a buffer written before, in the same run?
 *
 *     with block O: for j: C[vi, j] = A[vi, j]
 *                   for j: D[vi, j] = C[vi, 5 - j]          reads what the first loop wrote
 *
 *     with block S: B[vi, 0] = A[vi, 0]
 *                   for j: B[vi, j + 1] = B[vi, j] + A[vi, j + 1]    or the iteration before
 */
#include "ir/core/touches.h"
#include "ir/region/region.h"
#include "ir/region/region_between.h"
#include "ir/region/region_impl.h"

enum { MOST_CHOICES = 16 };

typedef struct reading {
    const hone_dataflow *flow;
    hone_buffer buffer;
    hone_node_id root;
    hone_node_id at;  /* of the expression that is looked at */
    bool counts_init; /* what the root's own init sets is there in each later instance */
    bool is_covered;  /* all so far are */
    uint32_t choice_count;
    const hone_expr *choices[MOST_CHOICES]; /* what holds around the load in its expression */
} reading;

/* What is read at a node: by itself, or (a block) as it declares. */
typedef struct read {
    hone_node_id at, block_or_none;
    const hone_region *region;
    bool knows_above;
    region_between above; /* up to the root: what holds where it is read */
} read;

static hone_node_id parent_of(const reading *r, hone_node_id node) {
    return hone_func_node(r->flow->func, node)->parent;
}

/* The nearest block around a node, or the root. */
static hone_node_id scope_of(const reading *r, hone_node_id node) {
    do
        node = parent_of(r, node);
    while (node != r->root && hone_func_node(r->flow->func, node)->kind != HONE_NODE_BLOCK);
    return node;
}

/* ---- one level ---- */

/* What is loaded lies within the buffer: that may be all that the condition of a piece says. */
static void push_within(const reading *r, const read *what) {
    hone_arith *arith = r->flow->arith;
    const hone_buffer_info *info = hone_func_buffer(r->flow->func, r->buffer);
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *index = what->region->ranges[d].min, *shape = info->shape[d];
        if (!hone_expr_is_int_value(what->region->ranges[d].extent, 1) ||
            !hone_expr_is_pure_index(index) || !hone_dtype_equal(index->dtype, shape->dtype)) {
            continue;
        }
        const hone_expr *zero = hone_expr_int(&arith->ir, index->dtype, 0);
        const hone_expr *low = hone_expr_binary(&arith->ir, HONE_OP_GE, index, zero);
        const hone_expr *high = hone_expr_binary(&arith->ir, HONE_OP_LT, index, shape);
        if (low) hone_arith_push(arith, low);
        if (high) hone_arith_push(arith, high);
    }
}

static bool has_conditions(const hone_written *pieces) {
    bool has = false;
    for (uint32_t p = 0; p < pieces->count; p++)
        has = has || pieces->pieces[p].condition;
    return has;
}

/* The pieces cover the box in the iteration of top in which the read happens. Conditions around it
 * are facts of that one alone, and must not be known while pieces of others are found. */
static bool is_read_of(const reading *r, read *what, hone_node_id top, const hone_written *pieces) {
    hone_arith *arith = r->flow->arith;
    region_between between;
    hone_interval *box = region_alloc(arith, (pieces->rank + 1) * sizeof *box);
    if (pieces->count == 0 || !box) return false;
    if (!region_look_between(r->flow, what->at, top, &between)) return false;
    if (!what->knows_above)
        what->knows_above = region_look_between(r->flow, what->at, r->root, &what->above);
    if (!what->knows_above) return false;
    uint32_t mark = arith->fact_count;
    if (what->above.under) hone_arith_push(arith, what->above.under);
    if (what->above.fixed) hone_arith_push(arith, what->above.fixed);
    for (uint32_t i = 0; what->block_or_none == HONE_NO_ID && i < r->choice_count; i++)
        hone_arith_push(arith, r->choices[i]);
    if (what->block_or_none == HONE_NO_ID && !r->flow->may_leave && has_conditions(pieces))
        push_within(r, what);
    bool is_covered =
        region_box_between(r->flow, what->block_or_none, what->region, &between, box, NULL) &&
        (hone_covers(pieces, box) || (r->flow->may_leave && hone_covers_buffer(pieces)));
    hone_arith_pop(arith, mark);
    return is_covered;
}

static bool is_written_before(const reading *r, read *what) {
    const hone_func *func = r->flow->func;
    hone_node_id scope = scope_of(r, what->at);
    hone_written pieces;
    for (hone_node_id n = what->at; n != scope; n = parent_of(r, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ELSE) continue; /* in front of it: the other case */
        hone_written_begin(&pieces, r->flow, r->buffer, node->parent);
        for (hone_node_id p = node->prev; p != HONE_NO_ID; p = hone_func_node(func, p)->prev) {
            bool is_init = hone_func_node(func, p)->kind == HONE_NODE_INIT;
            if (!is_init || (r->counts_init && node->parent == r->root))
                hone_written_add(&pieces, p);
        }
        if (is_read_of(r, what, node->parent, &pieces)) return true;
        if (n == what->at) continue; /* its own ends and conditions come before it */
        uint32_t known = pieces.count;
        pieces.within = n;
        hone_written_add_earlier(&pieces, n);
        if (pieces.count > known && is_read_of(r, what, n, &pieces)) return true;
    }
    return false;
}

/* Written before at some level, or what the blocks around say that they read is. */
static bool is_read_covered(const reading *r, read *what) {
    if (is_written_before(r, what)) return true;
    const hone_func *func = r->flow->func;
    hone_node_id around = scope_of(r, what->at);
    if (around == r->root) return false;
    const hone_block *block = hone_func_node(func, around)->u.block.block;
    bool is_declared = false;
    for (uint32_t i = 0; i < block->read_count; i++) {
        if (block->reads[i].buffer != r->buffer) continue;
        read declared = {.at = around, .block_or_none = around, .region = &block->reads[i]};
        if (!is_read_covered(r, &declared)) return false;
        is_declared = true;
    }
    bool sums_up = hone_block_init_of(func, around) != HONE_NO_ID;
    return is_declared || (sums_up && hone_region_of(block->write_count, block->writes, r->buffer));
}

/* ---- loads ---- */

static void check_load(reading *r, const hone_expr *e) {
    const hone_func *func = r->flow->func;
    hone_arith *arith = r->flow->arith;
    const hone_buffer_info *info = hone_func_buffer(func, r->buffer);
    hone_region whole = {r->buffer, NULL};
    read what = {.at = r->at, .block_or_none = HONE_NO_ID};
    what.region = hone_region_of_access(arith, r->buffer, e->count, e->args);
    if (!what.region) { /* anywhere */
        hone_range *all = region_alloc(arith, (info->rank + 1) * sizeof *all);
        for (uint32_t d = 0; all && d < info->rank; d++) {
            const hone_expr *shape = info->shape[d];
            all[d] = (hone_range){hone_expr_int(&arith->ir, shape->dtype, 0), shape};
        }
        whole.ranges = all;
        what.region = all ? &whole : NULL;
    }
    r->is_covered = what.region && is_read_covered(r, &what);
}

static void check_expr(reading *r, const hone_expr *e);

/* A value that is not chosen does not count, whether it is read or not. */
static void check_under(reading *r, const hone_expr *condition, const hone_expr *e) {
    bool is_known = condition && r->choice_count < MOST_CHOICES && condition->dtype.lanes == 1 &&
                    hone_expr_is_pure_index(condition);
    if (is_known) r->choices[r->choice_count++] = condition;
    check_expr(r, e);
    if (is_known) r->choice_count--;
}

static void check_expr(reading *r, const hone_expr *e) {
    if (!r->is_covered) return;
    if (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        const hone_expr *condition = e->args[0];
        bool is_known = hone_expr_is_pure_index(condition);
        check_expr(r, condition);
        check_under(r, condition, e->args[1]);
        check_under(r, is_known ? hone_expr_not(&r->flow->arith->ir, condition) : NULL, e->args[2]);
        return;
    }
    for (uint16_t i = 0; i < e->count; i++)
        check_expr(r, e->args[i]);
    if (r->is_covered && e->kind == HONE_EXPR_LOAD && e->u.buffer == r->buffer) check_load(r, e);
}

static void check_at(void *ctx, hone_node_id at, const hone_expr *e) {
    reading *r = ctx;
    if (at == r->root || !r->is_covered || !hone_expr_loads(e, r->buffer)) return;
    r->at = at;
    check_expr(r, e);
}

bool hone_reads_after_write(const hone_dataflow *flow, hone_node_id root, hone_buffer buffer,
                            bool counts_init) {
    reading r = {.flow = flow, .buffer = buffer, .root = root, .counts_init = counts_init};
    r.is_covered = !hone_jumps_below(flow->func, root) &&
                   !hone_has_opaque_access(flow->func, HONE_NODE_TOP, buffer);
    hone_tree_walk_exprs(flow->func, root, false, check_at, &r);
    return r.is_covered && !flow->arith->ir.error;
}
