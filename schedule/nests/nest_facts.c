/* schedule/nests/nest_facts.c - facts of reduction nests, and what is worth inlining. */
#include "schedule/nests/nest_facts.h"

#include "schedule/nests/auto_loops.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/move/inlining.h"
#include "schedule/primitive/primitives.h"

/* Copies of an expression are found again by those who generate code, up to a size. In chains, each
 * link of which is read twice, they double: they must end. */
enum { MAX_COPIED_NODES = 128 };

static bool has_axis(const hone_schedule *sch, hone_node_id block, hone_axis_kind kind) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    for (uint32_t a = 0; a < inner->axis_count; a++) {
        if (inner->axes[a].kind == kind) return true;
    }
    return false;
}

bool hone_nest_has_reduce_axis(const hone_schedule *sch, hone_node_id block) {
    return has_axis(sch, block, HONE_AXIS_REDUCE);
}

bool hone_nest_has_scan_axis(const hone_schedule *sch, hone_node_id block) {
    return has_axis(sch, block, HONE_AXIS_SCAN);
}

/* ---- inlining ---- */

typedef struct work {
    bool has_condition; /* select or if_then_else */
    bool is_heavy;      /* a call that costs more than a load */
} work;

static bool look_at_node(void *ctx, const hone_expr *e) {
    work *w = ctx;
    if (e->kind == HONE_EXPR_SELECT && !hone_expr_as_extreme(e)) w->has_condition = true;
    if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        w->has_condition = true;
    } else if (e->kind == HONE_EXPR_CALL && e->op != HONE_INTRIN_ISNAN) { /* a comparison */
        w->is_heavy = true;
    }
    return true;
}

int64_t hone_nest_instances(const hone_schedule *sch, hone_node_id block) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    int64_t product = 1;
    for (uint32_t a = 0; a < inner->axis_count; a++) {
        int64_t extent = hone_expr_const(inner->axes[a].dom.extent);
        if (extent < 0 || extent > INT64_MAX / 4 / (product + 1)) return INT64_MAX;
        product *= extent;
    }
    return product;
}

static bool reads_block_output(const hone_block *reader, const hone_block *writer) {
    for (uint32_t w = 0; w < writer->write_count; w++) {
        if (sch_reads(reader, writer->writes[w].buffer)) return true;
    }
    return false;
}

typedef struct readers {
    uint32_t count, reductions;
    int64_t instances; /* of all of them together */
    uint64_t nodes;    /* terms that inlining adds: a copy for each load but the first */
} readers;

static readers find_readers(const hone_schedule *sch, hone_node_id block) {
    readers out = {0};
    uint64_t copies = 0, nodes = 0;
    const hone_block *writer = hone_func_node(sch->func, block)->u.block.block;
    hone_node_id id = sch_single_store(sch, block);
    const hone_node *store = id == HONE_NO_ID ? NULL : hone_func_node(sch->func, id);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (n == block || hone_func_node(sch->func, n)->kind != HONE_NODE_BLOCK) continue;
        if (!reads_block_output(hone_func_node(sch->func, n)->u.block.block, writer)) continue;
        int64_t more = hone_nest_instances(sch, n);
        out.count++;
        out.reductions += hone_nest_has_reduce_axis(sch, n);
        out.instances = more > INT64_MAX - out.instances ? INT64_MAX : out.instances + more;
        if (!store) continue;
        copies += sch_inlined_copies(sch, store->u.store.value, store->u.store.buffer, n, &nodes);
    }
    out.nodes = copies ? (copies - 1) * nodes : 0;
    return out;
}

/* Reads memory in the order in which it writes it (or one element over and over). */
static bool is_ordered(hone_schedule *sch, const hone_block *block) {
    hone_var last = HONE_NO_ID;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (!hone_expr_is_int_value(block->axes[a].dom.extent, 1)) last = block->axes[a].var;
    }
    for (uint32_t r = 0; r < block->read_count && last != HONE_NO_ID; r++) {
        int64_t stride;
        if (!sch_stride_in_axis(sch, &block->reads[r], last, &stride)) return false;
        if (stride != 0 && stride != 1) return false;
    }
    return true;
}

bool hone_nest_is_light(const hone_schedule *sch, hone_node_id block) {
    work w = {0};
    hone_tree_walk_parts(sch->func, block, false, look_at_node, &w);
    return !w.is_heavy;
}

bool hone_nest_should_inline(hone_schedule *sch, hone_node_id block) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    if (inner->write_count != 1 || hone_block_init_of(sch->func, block) != HONE_NO_ID) return false;
    readers r = find_readers(sch, block);
    if (r.count == 0 || r.nodes > MAX_COPIED_NODES) return false;
    if (inner->read_count == 0) return true; /* a constant */
    work w = {0};
    hone_tree_walk_parts(sch->func, block, false, look_at_node, &w);
    int64_t own = hone_nest_instances(sch, block);
    if (w.is_heavy) return r.count == 1 && r.instances <= own;
    if (r.reductions == 0) return r.count <= 2 || r.instances - own <= own; /* unknown: INT64_MAX */
    if (w.has_condition || !is_ordered(sch, inner)) return false;
    return inner->read_count == 1 || r.instances <= own;
}

/* ---- reductions ---- */

/* The axis that is bound to just this loop variable, or -1. */
static int32_t axis_of_loop(const hone_node *block, hone_var var) {
    for (uint32_t a = 0; a < block->u.block.block->axis_count; a++) {
        const hone_expr *e = block->u.block.bindings[a];
        if (e->kind == HONE_EXPR_VAR && e->u.var == var) return (int32_t)a;
    }
    return -1;
}

/* Loops upward from the block: one axis each, nothing else in them, constant extents. */
static bool read_loops(const hone_schedule *sch, hone_reduction_facts *f, int32_t *axes) {
    const hone_node *block = hone_func_node(sch->func, f->block);
    uint32_t axis_count = block->u.block.block->axis_count;
    if (axis_count == 0 || axis_count > HONE_NEST_MAX_LOOPS) return false;
    f->loop_count = axis_count;
    f->space = f->reduce = 1;
    hone_node_id n = f->block;
    for (uint32_t i = axis_count; i-- > 0;) {
        n = hone_func_node(sch->func, n)->parent;
        const hone_node *loop = hone_func_node(sch->func, n);
        if (loop->kind != HONE_NODE_FOR || loop->first != loop->last ||
            loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count) {
            return false;
        }
        axes[i] = axis_of_loop(block, loop->u.loop.var);
        f->extents[i] = hone_expr_const(loop->u.loop.range.extent);
        if (axes[i] < 0 || f->extents[i] < 1) return false;
        hone_axis_kind kind = block->u.block.block->axes[axes[i]].kind;
        if (kind != HONE_AXIS_SPATIAL && kind != HONE_AXIS_REDUCE) return false;
        f->is_spatial[i] = kind == HONE_AXIS_SPATIAL;
        int64_t *product = f->is_spatial[i] ? &f->space : &f->reduce;
        if (f->extents[i] > INT32_MAX / *product) return false;
        *product *= f->extents[i];
    }
    n = hone_func_node(sch->func, n)->parent;
    return hone_func_node(sch->func, n)->kind == HONE_NODE_BLOCK;
}

/* How the block's reads move with each axis. */
static void read_strides(hone_schedule *sch, hone_reduction_facts *f, const int32_t *axes) {
    const hone_block *block = hone_func_node(sch->func, f->block)->u.block.block;
    f->contiguous_reduce = f->contiguous_space = -1;
    f->is_spatially_contiguous = false;
    bool is_uneven = false;
    for (uint32_t i = 0; i < f->loop_count; i++) {
        if (f->extents[i] == 1) continue;
        hone_var axis = block->axes[axes[i]].var;
        int64_t written = 0;
        bool is_last = f->is_spatial[i] &&
                       sch_stride_in_axis(sch, &block->writes[0], axis, &written) && written == 1;
        if (is_last) f->contiguous_space = (int32_t)i;
        for (uint32_t r = 0; r < block->read_count; r++) {
            int64_t stride = 0;
            bool is_known = sch_stride_in_axis(sch, &block->reads[r], axis, &stride);
            if (f->is_spatial[i] && is_known && stride == 0) f->has_reuse = true;
            if (is_last && (!is_known || stride < 0 || stride > 4)) is_uneven = true;
            if (!f->is_spatial[i] && is_known && stride == 1) f->contiguous_reduce = (int32_t)i;
        }
    }
    f->is_spatially_contiguous = f->contiguous_space >= 0 && !is_uneven;
    f->is_reduce_contiguous = f->contiguous_reduce >= 0 && !f->is_spatially_contiguous;
}

static bool is_choice(const hone_expr *e) {
    return hone_expr_is_op(e, HONE_OP_MIN) || hone_expr_is_op(e, HONE_OP_MAX);
}

bool hone_nest_keeps_order(const hone_schedule *sch, hone_node_id block) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    if (inner->write_count == 0 ||
        !hone_dtype_is_short_float(hone_func_buffer(sch->func, inner->writes[0].buffer)->dtype))
        return false;
    for (hone_node_id n = block; n != HONE_NO_ID; n = hone_tree_next(sch->func, block, n)) {
        const hone_node *node = hone_func_node(sch->func, n);
        bool is_init = hone_block_init_of(sch->func, block) == node->parent;
        if (node->kind == HONE_NODE_STORE && !is_init && !is_choice(node->u.store.value))
            return true;
    }
    return false;
}

bool hone_nest_reduction(hone_schedule *sch, hone_node_id node, hone_reduction_facts *out) {
    *out = (hone_reduction_facts){.block = node, .contiguous_reduce = -1, .contiguous_space = -1};
    const hone_block *block = hone_func_node(sch->func, out->block)->u.block.block;
    if (hone_block_init_of(sch->func, out->block) == HONE_NO_ID || block->write_count != 1 ||
        block->read_count == 0 || hone_attrs_find(&block->annotations, HONE_ANNOTATION_TILING)) {
        return false;
    }
    int32_t axes[HONE_NEST_MAX_LOOPS];
    if (!read_loops(sch, out, axes) || out->reduce < 2) return false;
    const hone_buffer_info *written = hone_func_buffer(sch->func, block->writes[0].buffer);
    out->element_bits = written->dtype.bits;
    out->output_rank = written->rank;
    out->keeps_order = hone_nest_keeps_order(sch, node);
    read_strides(sch, out, axes);
    return true;
}

/* ---- consumers ---- */

hone_status hone_nest_only_consumer(hone_schedule *sch, hone_rv block, hone_rv *out) {
    uint32_t count = 0;
    const hone_rv *consumers = NULL;
    *out = HONE_NO_ID;
    HONE_TRY(hone_sch_get_consumers(sch, block, &count, &consumers));
    if (count == 1) *out = consumers[0];
    return HONE_OK;
}

hone_status hone_nest_epilogue(hone_schedule *sch, hone_rv block, hone_rv *out) {
    hone_node_id node;
    HONE_TRY(hone_nest_only_consumer(sch, block, out));
    if (*out == HONE_NO_ID) return HONE_OK;
    HONE_TRY(hone_schedule_node(sch, *out, &node));
    if (hone_block_init_of(sch->func, node) != HONE_NO_ID) *out = HONE_NO_ID;
    return HONE_OK;
}
