/* schedule/defaults/default_rows.c - programs that go over the same rows several times (softmax,
 * normalisation): a producer moves into the loop over rows of its consumer when nothing is computed
 * twice by that. */
#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { MAX_LOOPS = 64, MAX_ROW_LOOPS = 8, LONG_VECTOR = 64, LEAST_VECTOR = 16 };

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

/* Some axis goes over both: they are the parts of a loop that was split. */
static bool are_parts(const hone_schedule *sch, hone_node_id block, hone_var a, hone_var b) {
    const hone_node *node = hone_func_node(sch->func, block);
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        const hone_expr *bound = node->u.block.bindings[i];
        if (hone_expr_uses_var(bound, a) && hone_expr_uses_var(bound, b)) return true;
    }
    return false;
}

/* The loops over rows around a block, outermost first, without those that run once: those in front
 * of its first loop that reduces or goes over a part of what another one goes over (a tile). */
static hone_status list_row_loops(hone_schedule *sch, hone_rv block_rv, uint32_t *out_count,
                                  hone_rv *out) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    hone_node_id block;
    hone_var listed[MAX_ROW_LOOPS];
    *out_count = 0;
    HONE_TRY(hone_schedule_node(sch, block_rv, &block));
    HONE_TRY(hone_sch_get_loops(sch, block_rv, &count, &loops));
    for (uint32_t i = 0; i < count && *out_count < MAX_ROW_LOOPS; i++) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(sch, loops[i], &node));
        const hone_node *loop = hone_func_node(sch->func, node);
        if (hone_expr_is_int_value(loop->u.loop.range.extent, 1)) continue;
        hone_var var = loop->u.loop.var;
        if (!feeds_spatial_only(sch, block, var)) return HONE_OK;
        for (uint32_t k = 0; k < *out_count; k++) {
            if (are_parts(sch, block, listed[k], var)) return HONE_OK;
        }
        listed[*out_count] = var;
        out[(*out_count)++] = loops[i];
    }
    return HONE_OK;
}

/* The loops around a block below a place, those that reduce first; out_reads_lanes: vectors of the
 * others, along the last of some length, read neighbours. */
static hone_status order_loops(hone_schedule *sch, hone_rv block_rv, hone_rv place,
                               hone_rv *out_order, uint32_t *out_count, bool *out_reads_lanes) {
    uint32_t count = 0, at = 0;
    const hone_rv *loops = NULL;
    hone_node_id block, top, node;
    *out_reads_lanes = false;
    HONE_TRY(hone_schedule_node(sch, block_rv, &block));
    HONE_TRY(hone_schedule_node(sch, place, &top));
    HONE_TRY(hone_sch_get_loops(sch, block_rv, &count, &loops));
    for (int pass = 0; pass < 2 && count <= MAX_LOOPS; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            HONE_TRY(hone_schedule_node(sch, loops[i], &node));
            if (!hone_tree_is_ancestor(sch->func, top, node)) continue;
            const hone_node *loop = hone_func_node(sch->func, node);
            bool is_lane = feeds_spatial_only(sch, block, loop->u.loop.var);
            if (is_lane != (pass == 1)) continue;
            out_order[at++] = loops[i];
            if (is_lane && !hone_expr_is_int_value(loop->u.loop.range.extent, 1))
                *out_reads_lanes = reads_evenly(sch, block, node);
        }
    }
    *out_count = at;
    return HONE_OK;
}

/* Below its new place, the loops that reduce go outside of those over the lanes of its output. */
static hone_status put_lanes_last(hone_schedule *sch, hone_rv block, hone_rv place) {
    uint32_t count = 0;
    hone_rv order[MAX_LOOPS];
    bool reads_lanes;
    HONE_TRY(order_loops(sch, block, place, order, &count, &reads_lanes));
    if (count < 2 || !reads_lanes) return HONE_OK;
    return hone_default_optional(hone_sch_reorder(sch, count, order));
}

/* Into loop number `depth` over rows of its consumer. */
static hone_status move(hone_schedule *sch, hone_rv block, uint32_t depth) {
    uint32_t count = 0, rows = 0;
    const hone_rv *consumers = NULL;
    hone_rv loops[MAX_ROW_LOOPS];
    HONE_TRY(hone_sch_get_consumers(sch, block, &count, &consumers));
    HONE_TRY(list_row_loops(sch, consumers[0], &rows, loops));
    HONE_TRY(hone_sch_compute_at(sch, block, loops[depth], true, -1));
    return put_lanes_last(sch, block, loops[depth]);
}

/* Would the block run no more often than now, in vectors? Found out on a copy, which is put into
 * the schedule's state first. */
static hone_status try_move(const hone_schedule *sch, hone_schedule *copy, hone_rv block,
                            uint32_t depth, bool *out_pays) {
    hone_node_id before, after;
    *out_pays = false;
    HONE_TRY(hone_schedule_reset_to(copy, sch));
    hone_status st = hone_schedule_node(copy, block, &before);
    shape old = st ? (shape){-1, 1} : shape_of(copy, before);
    if (!st) st = move(copy, block, depth);
    if (!st) st = hone_schedule_node(copy, block, &after);
    if (!st) {
        shape now = shape_of(copy, after);
        int64_t least = old.vector < LONG_VECTOR ? old.vector : LONG_VECTOR;
        bool keeps_vectors = now.vector >= least || now.vector >= LEAST_VECTOR;
        *out_pays = old.runs > 0 && now.runs == old.runs && keeps_vectors;
    }
    return hone_default_optional(st);
}

/* The outermost loop around a block, or the block. */
static hone_node_id nest_of(const hone_schedule *sch, hone_node_id block) {
    hone_node_id top = block;
    while (hone_func_node(sch->func, hone_func_node(sch->func, top)->parent)->kind == HONE_NODE_FOR)
        top = hone_func_node(sch->func, top)->parent;
    return top;
}

/* It stands in loops of its own: others belong to a tile, which stays as it is. */
static hone_status is_alone(hone_schedule *sch, hone_rv block, bool *out) {
    hone_node_id self;
    HONE_TRY(hone_schedule_node(sch, block, &self));
    hone_node_id top = nest_of(sch, self);
    *out = true;
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(sch->func, top, n))
        *out = *out && (n == self || hone_func_node(sch->func, n)->kind != HONE_NODE_BLOCK);
    return HONE_OK;
}

/* As deep as it pays: what is made of a row is near when it is read. */
static hone_status move_one(hone_schedule *sch, hone_schedule *copy, hone_rv block) {
    uint32_t count = 0, rows = 0;
    const hone_rv *consumers = NULL;
    hone_rv loops[MAX_ROW_LOOPS];
    bool pays = false, moves;
    HONE_TRY(hone_sch_get_consumers(sch, block, &count, &consumers));
    if (count == 0) return HONE_OK;
    HONE_TRY(is_alone(sch, block, &moves));
    if (!moves) return HONE_OK;
    HONE_TRY(list_row_loops(sch, consumers[0], &rows, loops));
    while (rows > 0 && !pays)
        HONE_TRY(try_move(sch, copy, block, --rows, &pays));
    return pays ? hone_default_optional(move(sch, block, rows)) : HONE_OK;
}

/* A loop around it has a kind already: it was laid out where it is. */
static bool is_laid_out(const hone_schedule *sch, hone_node_id block) {
    for (hone_node_id n = block; n != HONE_NO_ID; n = hone_func_node(sch->func, n)->parent) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_UNROLLED)
            return true;
    }
    return false;
}

static hone_status move_all(hone_schedule *sch, hone_schedule *copy,
                            const hone_default_limits *limits) {
    hone_default_blocks blocks;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = blocks.count; i-- > 0;) {
        hone_rv block = HONE_NO_ID;
        HONE_TRY(hone_default_optional(hone_sch_get_block(sch, blocks.names[i], &block)));
        if (block == HONE_NO_ID) continue;
        hone_node_id node;
        HONE_TRY(hone_schedule_node(sch, block, &node));
        if (hone_default_reads_constants(sch, limits, node) || is_laid_out(sch, node)) continue;
        HONE_TRY(move_one(sch, copy, block));
    }
    return HONE_OK;
}

/* One copy serves all tries: that of a program of a thousand blocks costs more than a move. */
hone_status hone_default_rows(hone_schedule *sch, const hone_default_limits *limits) {
    hone_schedule *copy = NULL;
    HONE_TRY(hone_schedule_copy(sch, &copy));
    copy->wants_reasons = false;
    hone_status st = move_all(sch, copy, limits);
    hone_schedule_destroy(copy);
    return st;
}
