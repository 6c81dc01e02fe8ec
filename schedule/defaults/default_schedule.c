/* schedule/defaults/default_schedule.c - the steps, each of which leaves out what is refused:
 *
 *   inline ─► tile reductions (columns, or lanes) and transposes ─► join rows
 *          ─► collect sums in vectors ─► vectors over short rows ─► look ahead
 *          ─► parallel, vectors ─► decompose
 */
#include "schedule/defaults/default_schedule.h"

#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/winograd.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum { UNROLL_STEP = 64, JOBS_PER_THREAD = 4, WORTH_THREADS = 1 << 15, MAX_SIZES = 16 };

hone_status hone_default_optional(hone_status st) {
    hone_code code = hone_status_code(st);
    if (code == HONE_CODE_NO_MEMORY || code == HONE_CODE_OK) return st;
    hone_status_free(st);
    return HONE_OK;
}

int64_t hone_default_divisor(int64_t extent, int64_t low, int64_t high, int64_t step) {
    if (low < 1) low = 1;
    for (int64_t d = high - high % step; d >= low; d -= step) {
        if (extent % d == 0) return d;
    }
    return 0;
}

/* One of the numbers that divide the extent. */
static hone_status choose_divisor(hone_schedule *sch, hone_rv loop, int64_t extent,
                                  const hone_default_sizes *sizes, hone_factor out[2]) {
    const int64_t tile[] = {extent / sizes->chosen, sizes->chosen};
    const hone_decision decision = {2, tile};
    int64_t most = sizes->most < sizes->chosen ? sizes->chosen : sizes->most;
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_sample_perfect_tile(sch, loop, 2, most, &decision, &parts));
    out[0] = HONE_FACTOR_OF_RV(parts[0]);
    out[1] = HONE_FACTOR_OF_RV(parts[1]);
    return HONE_OK;
}

hone_status hone_default_choose(hone_schedule *sch, int64_t extent, const hone_default_sizes *sizes,
                                hone_factor *out) {
    int64_t values[MAX_SIZES], index = 0, step = sizes->step, most = 2 * sizes->chosen;
    double probs[MAX_SIZES];
    uint32_t count = 0;
    hone_rv value;
    if (most > sizes->most) most = sizes->most;
    if (most > extent) most = extent;
    int64_t first = sizes->chosen % step + step * (sizes->chosen % step == 0);
    while (first + step * (MAX_SIZES / 2) <= sizes->chosen)
        first += step;
    for (int64_t v = first; count < MAX_SIZES && (v <= most || v <= sizes->chosen); v += step) {
        if (v == sizes->chosen) index = count;
        values[count++] = v;
    }
    for (uint32_t i = 0; i < count; i++)
        probs[i] = 1.0 / count;
    const hone_decision decision = {1, &index};
    *out = HONE_FACTOR_OF_INT(sizes->chosen);
    if (count < 2) return HONE_OK;
    HONE_TRY(hone_sch_sample_categorical(sch, count, values, probs, &decision, &value));
    *out = HONE_FACTOR_OF_RV(value);
    return HONE_OK;
}

hone_status hone_default_split(hone_schedule *sch, hone_rv loop, const hone_default_sizes *sizes,
                               hone_rv out[2]) {
    hone_node_id node;
    HONE_TRY(hone_schedule_node(sch, loop, &node));
    int64_t extent = hone_expr_const(hone_func_node(sch->func, node)->u.loop.range.extent);
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(sizes->chosen)};
    const hone_rv *parts = NULL;
    if (extent > 0 && extent % sizes->chosen == 0) {
        HONE_TRY(choose_divisor(sch, loop, extent, sizes, factors));
    } else if (extent > sizes->chosen) {
        HONE_TRY(hone_default_choose(sch, extent, sizes, &factors[1]));
    }
    HONE_TRY(hone_sch_split(sch, loop, 2, factors, true, false, &parts));
    out[0] = parts[0];
    out[1] = parts[1];
    return HONE_OK;
}

hone_status hone_default_epilogue(hone_schedule *sch, hone_rv block, hone_rv *out_consumer) {
    hone_node_id node;
    HONE_TRY(hone_nest_only_consumer(sch, block, out_consumer));
    if (*out_consumer == HONE_NO_ID) return HONE_OK;
    HONE_TRY(hone_schedule_node(sch, *out_consumer, &node));
    if (hone_nest_has_reduce_axis(sch, node)) *out_consumer = HONE_NO_ID;
    return HONE_OK;
}

static bool is_constant_parameter(const hone_func *func, const hone_default_limits *limits,
                                  hone_buffer buffer) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_buffer given = func->params[i].buffer;
        if (given == HONE_NO_ID) continue;
        if (given == buffer) return number < 64 && (limits->constants >> number & 1);
        number++;
    }
    return false;
}

bool hone_default_reads_constants(const hone_schedule *sch, const hone_default_limits *limits,
                                  hone_node_id block) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    for (uint32_t r = 0; r < inner->read_count; r++) {
        if (!is_constant_parameter(sch->func, limits, inner->reads[r].buffer)) return false;
    }
    return inner->read_count > 0;
}

bool hone_default_is_constant(const hone_schedule *sch, const hone_default_limits *limits,
                              hone_buffer buffer) {
    const hone_func *func = sch->func;
    hone_node_id root = hone_func_root_block(func);
    bool is_written = false;
    if (limits->constants == 0) return false;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (n == root || node->kind != HONE_NODE_BLOCK || !sch_writes(node->u.block.block, buffer))
            continue;
        if (!hone_default_reads_constants(sch, limits, n)) return false;
        is_written = true;
    }
    return is_written || is_constant_parameter(func, limits, buffer);
}

int64_t hone_default_buffer_bytes(const hone_schedule *sch, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(sch->func, buffer);
    int64_t bytes = info->dtype.bits / 8;
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t extent = hone_expr_const(info->shape[d]);
        if (extent < 1 || extent > INT32_MAX || bytes > INT32_MAX) return INT32_MAX;
        bytes *= extent;
    }
    return bytes;
}

bool hone_default_is_open(const hone_default_limits *limits, int64_t extent) {
    for (const int64_t *open = limits->open_extents; open && *open; open++)
        if (*open == extent) return true;
    return false;
}

void hone_default_list_blocks(const hone_schedule *sch, hone_default_blocks *out) {
    hone_node_id root = hone_func_root_block(sch->func);
    out->count = 0;
    for (hone_node_id n = hone_tree_next(sch->func, root, root);
         n != HONE_NO_ID && out->count < HONE_DEFAULT_MAX_BLOCKS;
         n = hone_tree_next(sch->func, root, n)) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind == HONE_NODE_BLOCK) out->names[out->count++] = node->u.block.block->name;
    }
}

/* ---- over all blocks, last to first ---- */

hone_status hone_default_inline(hone_schedule *sch, const char *name) {
    hone_rv block;
    hone_node_id node;
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    HONE_TRY(hone_schedule_node(sch, block, &node));
    return hone_nest_should_inline(sch, node) ? hone_sch_compute_inline(sch, block) : HONE_OK;
}

/* Nothing that rows could share, and long enough for vectors: hone_default_reduce's. */
static bool is_plain_sum(const hone_default_nest *n) {
    const hone_reduction_facts *f = &n->facts;
    const hone_func *func = n->sch->func;
    hone_node_id loop = hone_func_node(func, f->block)->parent;
    int32_t last = (int32_t)f->loop_count - 1;
    for (; last >= 0 && f->extents[last] == 1; last--)
        loop = hone_func_node(func, loop)->parent;
    return !f->has_reuse && last == f->contiguous_reduce && n->lanes > 1 &&
           hone_default_run_length(n->sch, f->block, loop) >= n->lanes;
}

/* Vectors along the output, of axes that are one where that can be. */
static hone_status tile_joined(hone_default_nest *n) {
    hone_node_id node;
    bool is_joined;
    do {
        HONE_TRY(hone_default_join_axes(n, &is_joined));
        HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
        if (!hone_nest_reduction(n->sch, node, &n->facts)) return HONE_OK;
    } while (is_joined);
    return hone_default_tile(n);
}

static hone_status tile_one(hone_schedule *sch, const char *name,
                            const hone_default_limits *limits) {
    hone_default_nest n = {.sch = sch, .limits = limits};
    hone_node_id node;
    HONE_TRY(hone_sch_get_block(sch, name, &n.block));
    HONE_TRY(hone_schedule_node(sch, n.block, &node));
    bool is_done;
    HONE_TRY(hone_default_scan(&n, node, &is_done));
    if (is_done) return HONE_OK;
    if (!hone_nest_has_reduce_axis(sch, node)) return hone_default_transpose(&n, node);
    HONE_TRY(hone_default_groups(&n));
    HONE_TRY(hone_schedule_node(sch, n.block, &node));
    if (!hone_nest_reduction(sch, node, &n.facts)) return HONE_OK;
    n.lanes = limits->vector_lanes * 32 / (n.facts.element_bits > 0 ? n.facts.element_bits : 32);
    if (n.lanes < 1) n.lanes = 1;
    HONE_TRY(hone_default_bytes(&n, &is_done));
    if (!is_done) HONE_TRY(hone_default_packed(&n, &is_done));
    if (!is_done) HONE_TRY(hone_default_in_two(&n, &is_done));
    if (!is_done) HONE_TRY(hone_default_beside(&n, &is_done));
    if (is_done) return HONE_OK;
    if (n.facts.is_spatially_contiguous) return tile_joined(&n);
    HONE_TRY(hone_default_across(&n, &is_done));
    if (is_done) return HONE_OK;
    HONE_TRY(hone_default_dots(&n, &is_done));
    if (is_done) return HONE_OK;
    if (!n.facts.is_reduce_contiguous || n.facts.keeps_order || is_plain_sum(&n)) return HONE_OK;
    return hone_default_lanes(&n);
}

static int64_t largest_work(const hone_schedule *sch) {
    int64_t most = 0;
    hone_node_id root = hone_func_root_block(sch->func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        if (hone_func_node(sch->func, n)->kind != HONE_NODE_BLOCK) continue;
        int64_t work = hone_nest_instances(sch, n);
        if (work > most) most = work;
    }
    return most;
}

/* Annotates the root with one of some values: a sampled choice that is made already. */
static hone_status annotate_choice(hone_schedule *sch, hone_rv root, const char *key,
                                   uint32_t count, const int64_t *values, int64_t chosen) {
    double probs[8];
    int64_t index = 0;
    assert(count <= 8);
    for (uint32_t i = 0; i < count; i++) {
        probs[i] = 1.0 / count;
        if (values[i] == chosen) index = i;
    }
    hone_decision decision = {1, &index};
    hone_rv value;
    HONE_TRY(hone_sch_sample_categorical(sch, count, values, probs, &decision, &value));
    return hone_sch_annotate(sch, root, key, HONE_VALUE_OF_INT(0), value);
}

static hone_status annotate_root(hone_schedule *sch, const hone_default_limits *limits,
                                 int64_t work, bool unrolls) {
    hone_rv root;
    hone_node_id node = hone_func_root_block(sch->func);
    HONE_TRY(hone_sch_get_block(sch, hone_func_node(sch->func, node)->u.block.block->name, &root));
    if (limits->threads > 1) {
        const int64_t jobs[] = {1, limits->threads, (int64_t)limits->threads * JOBS_PER_THREAD,
                                (int64_t)limits->threads * JOBS_PER_THREAD * 4};
        HONE_TRY(annotate_choice(sch, root, HONE_ANNOTATION_PARALLEL, 4, jobs,
                                 work >= WORTH_THREADS ? jobs[2] : 1));
    }
    int64_t elements = limits->vector_lanes > 1 ? 4 * (int64_t)limits->vector_lanes : 1;
    HONE_TRY(hone_sch_annotate(sch, root, HONE_ANNOTATION_VECTORIZE, HONE_VALUE_OF_INT(elements),
                               HONE_NO_ID));
    static const int64_t steps[] = {0, 16, UNROLL_STEP, 256, 512};
    return annotate_choice(sch, root, HONE_ANNOTATION_UNROLL_EXPLICIT,
                           sizeof steps / sizeof steps[0], steps, unrolls ? UNROLL_STEP : 0);
}

/* On a copy first, since half of it would be in the way of the rest. */
static hone_status schedule_winograd(hone_schedule *sch, const hone_default_limits *limits,
                                     bool *out_is_done) {
    hone_winograd_way way;
    hone_schedule *copy = NULL;
    *out_is_done = false;
    if (!hone_winograd_choose(sch, limits, &way)) return HONE_OK;
    HONE_TRY(hone_schedule_copy(sch, &copy));
    hone_status st = hone_winograd_schedule(copy, limits, &way);
    hone_schedule_destroy(copy);
    *out_is_done = !st;
    return st ? hone_default_optional(st) : hone_winograd_schedule(sch, limits, &way);
}

static hone_status schedule_blocks(hone_schedule *sch, const hone_default_limits *limits,
                                   bool *out_goes_over_rows) {
    hone_status st = HONE_OK;
    hone_default_blocks blocks;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = blocks.count; i-- > 0 && !st;) {
        st = hone_default_optional(hone_default_inline(sch, blocks.names[i]));
    }
    for (uint32_t i = blocks.count; i-- > 0 && !st;) {
        st = hone_default_optional(tile_one(sch, blocks.names[i], limits));
    }
    if (!st) st = hone_default_optional(hone_default_rows(sch, limits));
    if (!st) st = hone_default_optional(hone_default_reduce(sch, limits));
    if (!st) st = hone_default_optional(hone_default_narrow(sch, limits));
    return st ? st : hone_default_optional(hone_default_ahead(sch, limits, out_goes_over_rows));
}

/* Loops of all blocks, and what is left of the reductions. */
static hone_status finish(hone_schedule *sch, const hone_default_limits *limits, int64_t work,
                          bool goes_over_rows) {
    HONE_TRY(hone_default_optional(annotate_root(sch, limits, work, !goes_over_rows)));
    HONE_TRY(hone_sch_enter_postproc(sch));
    HONE_TRY(hone_default_optional(hone_auto_loops_for(sch, limits->open_extents)));
    return hone_default_optional(hone_auto_decompose(sch));
}

hone_status hone_default_schedule(hone_schedule *sch, const hone_default_limits *limits) {
    assert(sch && limits);
    bool wants_reasons = sch->wants_reasons, is_done;
    bool goes_over_rows = false; /* several times: such loops are long, and stay */
    int64_t work = largest_work(sch);
    sch->wants_reasons = false;
    hone_status st = schedule_winograd(sch, limits, &is_done);
    if (!st && !is_done) st = hone_default_pairs(sch, limits, &is_done);
    if (!st && !is_done) st = schedule_blocks(sch, limits, &goes_over_rows);
    if (!st) st = finish(sch, limits, work, goes_over_rows);
    sch->wants_reasons = wants_reasons;
    return st;
}

hone_status hone_default_winograd(hone_schedule *sch, const hone_default_limits *limits,
                                  const hone_winograd_way *way) {
    int64_t work = largest_work(sch);
    HONE_TRY(hone_winograd_schedule(sch, limits, way));
    return finish(sch, limits, work, false);
}
