/* schedule/defaults/default_rows.c - programs that go over the same rows several times (softmax,
 * normalisation): a producer moves into the loop over rows of its consumer when nothing is computed
 * twice by that. */
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { MAX_LOOPS = 64, LONG_VECTOR = 64, LEAST_VECTOR = 16 };

/* What must not get worse: how often a block runs, and how long its vectors are. */
typedef struct shape {
    int64_t runs;   /* the product of the loops around it; -1 when that is unknown */
    int64_t vector; /* the product of the innermost loops that are contiguous */
} shape;

/* Everything that is read stays in place or moves by one element. */
static bool reads_evenly(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    hone_var var = hone_func_node(sch->func, loop)->u.loop.var;
    for (uint32_t r = 0; r < inner->read_count; r++) {
        int64_t stride;
        if (!sch_stride_in_loop(sch, block, &inner->reads[r], var, &stride)) return false;
        if (stride != 0 && stride != 1) return false;
    }
    return true;
}

static shape shape_of(hone_schedule *sch, hone_node_id block) {
    hone_node_id loops[MAX_LOOPS];
    shape out = {1, 1};
    uint32_t count = 0;
    for (hone_node_id n = block; n != HONE_NO_ID; n = hone_func_node(sch->func, n)->parent) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (extent < 1 || out.runs > INT32_MAX || extent > INT32_MAX || count == MAX_LOOPS) {
            return (shape){-1, 1};
        }
        out.runs *= extent;
        loops[count++] = n;
    }
    for (uint32_t i = 0; i < count / 2; i++) { /* outermost first */
        hone_node_id swap = loops[i];
        loops[i] = loops[count - 1 - i];
        loops[count - 1 - i] = swap;
    }
    sch_vector_run run = sch_find_vector_run(sch, block, count, loops, LONG_VECTOR);
    if (run.first <= run.last && reads_evenly(sch, block, loops[run.last])) {
        out.vector = run.full_product;
    }
    return out;
}

static bool feeds_spatial_only(const hone_schedule *sch, hone_node_id block, hone_var var) {
    const hone_node *node = hone_func_node(sch->func, block);
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if (!hone_expr_uses_var(node->u.block.bindings[a], var)) continue;
        if (node->u.block.block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    return true;
}

/* The outermost loop around a block that runs more than once, as a variable; HONE_NO_ID when there
 * is none or it is not one over rows. */
static hone_status row_loop(hone_schedule *sch, hone_rv block_rv, hone_rv *out) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    hone_node_id block;
    *out = HONE_NO_ID;
    HONE_TRY(hone_schedule_node(sch, block_rv, &block));
    HONE_TRY(hone_sch_get_loops(sch, block_rv, &count, &loops));
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(sch, loops[i], &node));
        const hone_node *loop = hone_func_node(sch->func, node);
        if (hone_expr_is_int_value(loop->u.loop.range.extent, 1)) continue;
        if (feeds_spatial_only(sch, block, loop->u.loop.var)) *out = loops[i];
        return HONE_OK;
    }
    return HONE_OK;
}

/* Below its new place, the loops that reduce go outside of those over the lanes of its output. */
static hone_status put_lanes_last(hone_schedule *sch, hone_rv block_rv, hone_rv place) {
    uint32_t count = 0, at = 0;
    const hone_rv *loops = NULL;
    hone_rv order[MAX_LOOPS];
    hone_node_id block, top, node;
    HONE_TRY(hone_schedule_node(sch, block_rv, &block));
    HONE_TRY(hone_schedule_node(sch, place, &top));
    HONE_TRY(hone_sch_get_loops(sch, block_rv, &count, &loops));
    if (count > MAX_LOOPS) return HONE_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            HONE_TRY(hone_schedule_node(sch, loops[i], &node));
            if (!hone_tree_is_ancestor(sch->func, top, node)) continue;
            bool is_lane =
                feeds_spatial_only(sch, block, hone_func_node(sch->func, node)->u.loop.var);
            if (is_lane == (pass == 1)) order[at++] = loops[i];
        }
    }
    return at < 2 ? HONE_OK : hone_default_optional(hone_sch_reorder(sch, at, order));
}

static hone_status move(hone_schedule *sch, hone_rv block) {
    uint32_t count = 0;
    const hone_rv *consumers = NULL;
    hone_rv loop;
    HONE_TRY(hone_sch_get_consumers(sch, block, &count, &consumers));
    if (count == 0) return HONE_OK;
    HONE_TRY(row_loop(sch, consumers[0], &loop));
    if (loop == HONE_NO_ID) return HONE_OK;
    HONE_TRY(hone_sch_compute_at(sch, block, loop, true, -1));
    return put_lanes_last(sch, block, loop);
}

/* Would the block run no more often than now, in vectors? Found out on a copy. */
static hone_status try_move(const hone_schedule *sch, hone_rv block, bool *out_pays) {
    hone_schedule *copy = NULL;
    hone_node_id before, after;
    *out_pays = false;
    HONE_TRY(hone_schedule_copy(sch, &copy));
    copy->wants_reasons = false;
    hone_status st = hone_schedule_node(copy, block, &before);
    shape old = st ? (shape){-1, 1} : shape_of(copy, before);
    if (!st) st = move(copy, block);
    if (!st) st = hone_schedule_node(copy, block, &after);
    if (!st) {
        shape now = shape_of(copy, after);
        int64_t least = old.vector < LONG_VECTOR ? old.vector : LONG_VECTOR;
        bool keeps_vectors = now.vector >= least || now.vector >= LEAST_VECTOR;
        *out_pays = old.runs > 0 && now.runs == old.runs && keeps_vectors;
    }
    hone_schedule_destroy(copy);
    return hone_default_optional(st);
}

/* A loop around it has a kind already: it was laid out where it is. */
static bool is_laid_out(const hone_schedule *sch, hone_node_id block) {
    for (hone_node_id n = block; n != HONE_NO_ID; n = hone_func_node(sch->func, n)->parent) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_VECTORIZED) return true;
    }
    return false;
}

hone_status hone_default_rows(hone_schedule *sch, const hone_default_limits *limits) {
    hone_default_blocks blocks;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = blocks.count; i-- > 0;) {
        bool pays;
        hone_rv block = HONE_NO_ID;
        HONE_TRY(hone_default_optional(hone_sch_get_block(sch, blocks.names[i], &block)));
        if (block == HONE_NO_ID) continue;
        hone_node_id node;
        HONE_TRY(hone_schedule_node(sch, block, &node));
        if (hone_default_reads_constants(sch, limits, node) || is_laid_out(sch, node)) continue;
        HONE_TRY(try_move(sch, block, &pays));
        if (pays) HONE_TRY(hone_default_optional(move(sch, block)));
    }
    return HONE_OK;
}
