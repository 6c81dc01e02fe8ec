/* schedule/gpu/gpu_rows.c - programs that go over the same rows several times (softmax,
 * normalisation, a mean): one launch, in which a block of threads keeps a row.
 *
 *   M[i] = max A[i, :]                        for blockIdx.x over rows:
 *   S[i] = sum exp(A[i, :] - M[i])     ─►       shared M = max over threadIdx.x
 *   B[i, :] = exp(A[i, :] - M[i]) / S[i]        shared S = sum over threadIdx.x
 *                                               for threadIdx.x: B[i, …] = …
 *
 * Where long rows lie across memory (softmax over channels), one thread keeps one of them.
 */
#include "schedule/gpu/gpu_rows.h"

#include "schedule/gpu/gpu_sketch.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum {
    SHARED_BYTES = 48 << 10, /* that need not be asked for */
    ITEMS = 8,               /* of a thread, before more threads share a row */
    ROW_THREADS = 128,       /* where each keeps a row */
    LONG_ROW = 1 << 14,      /* of few rows: better shared by many blocks */
};

/* ---- which blocks ---- */

static bool is_listed(const hone_gpu_row_nest *r, hone_rv block) {
    hone_node_id node, other;
    if (hone_status_consume(hone_schedule_node(r->g->sch, block, &node))) return true;
    for (uint32_t i = 0; i < r->count; i++) {
        if (hone_status_consume(hone_schedule_node(r->g->sch, r->blocks[i], &other))) return true;
        if (node == other) return true;
    }
    return false;
}

/* What a block needs, and what that needs; not what is bound already. */
static hone_status list_producers(hone_gpu_row_nest *r, hone_rv of) {
    uint32_t count = 0;
    const hone_rv *producers = NULL;
    HONE_TRY(hone_sch_get_producers(r->g->sch, of, &count, &producers));
    for (uint32_t i = count; i-- > 0;) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(r->g->sch, producers[i], &node));
        if (hone_gpu_is_bound(r->g->sch, node) || is_listed(r, producers[i])) continue;
        if (r->count == GPU_MOST_ROW_BLOCKS) return hone_gpu_unfit();
        r->blocks[r->count++] = producers[i];
        HONE_TRY(list_producers(r, producers[i]));
    }
    return HONE_OK;
}

/* In program order: a producer stands before those that read it. */
static hone_status sort_blocks(hone_gpu_row_nest *r) {
    for (uint32_t i = 1; i < r->count; i++) {
        for (uint32_t j = i; j > 0; j--) {
            hone_node_id before, after;
            HONE_TRY(hone_schedule_node(r->g->sch, r->blocks[j - 1], &before));
            HONE_TRY(hone_schedule_node(r->g->sch, r->blocks[j], &after));
            if (sch_is_before(r->g->sch, before, after)) break;
            hone_rv moved = r->blocks[j];
            r->blocks[j] = r->blocks[j - 1];
            r->blocks[j - 1] = moved;
        }
    }
    return HONE_OK;
}

/* ---- which loops ---- */

static bool region_uses_loop(const hone_schedule *sch, hone_node_id block,
                             const hone_region *region, hone_var loop) {
    const hone_node *node = sch_node(sch, block);
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if (!hone_expr_uses_var(node->u.block.bindings[a], loop)) continue;
        for (uint32_t d = 0; d < rank; d++) {
            if (hone_expr_uses_var(region->ranges[d].min, node->u.block.block->axes[a].var))
                return true;
        }
    }
    return false;
}

bool hone_gpu_row_makes(const hone_gpu_row_nest *r, hone_buffer buffer, bool *out_is_sum) {
    for (uint32_t i = 0; i < r->count; i++) {
        hone_node_id node;
        if (hone_status_consume(hone_schedule_node(r->g->sch, r->blocks[i], &node))) continue;
        const hone_block *block = sch_block(r->g->sch, node);
        for (uint32_t w = 0; w < block->write_count; w++) {
            if (block->writes[w].buffer != buffer) continue;
            *out_is_sum = hone_nest_has_reduce_axis(r->g->sch, node);
            return true;
        }
    }
    return false;
}

/* Marks the loops that say which row it is: those that choose among the results of reductions. */
static bool mark_rows(const hone_gpu_row_nest *r, const hone_gpu_nest *nest, bool *is_row) {
    const hone_schedule *sch = r->g->sch;
    const hone_block *block = sch_block(sch, nest->block);
    bool reads_sums = false;
    for (uint32_t i = 0; i < block->read_count; i++) {
        bool is_sum = false;
        if (!hone_gpu_row_makes(r, block->reads[i].buffer, &is_sum) || !is_sum) continue;
        reads_sums = true;
        for (uint32_t l = 0; l < nest->count; l++) {
            hone_var var = sch_node(sch, nest->loops[l])->u.loop.var;
            is_row[l] = is_row[l] || region_uses_loop(sch, nest->block, &block->reads[i], var);
        }
    }
    return reads_sums;
}

/* The block alone in loops over its spatial axes. */
static bool is_plain(const hone_gpu *g, const hone_gpu_nest *nest) {
    for (uint32_t i = 0; i < nest->count; i++) {
        const hone_node *loop = sch_node(g->sch, nest->loops[i]);
        hone_node_id inner = i + 1 < nest->count ? nest->loops[i + 1] : nest->block;
        if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count ||
            loop->first != inner || loop->last != inner ||
            hone_expr_const(loop->u.loop.range.extent) < 1 ||
            !hone_gpu_is_spatial(g->sch, nest->block, nest->loops[i]))
            return false;
    }
    return nest->count > 0 && sch_block(g->sch, nest->block)->write_count == 1;
}

/* Some reduction goes across memory. */
static bool has_columns(const hone_gpu_row_nest *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        hone_node_id node;
        hone_reduction_facts f;
        if (hone_status_consume(hone_schedule_node(r->g->sch, r->blocks[i], &node))) continue;
        if (hone_nest_reduction(r->g->sch, node, &f) && f.is_spatially_contiguous) return true;
    }
    return false;
}

/* Makes one loop of those over rows, outermost. */
static hone_status join_rows(hone_gpu_row_nest *r) {
    hone_gpu *g = r->g;
    hone_gpu_nest nest;
    bool is_row[GPU_MAX_LOOPS] = {false};
    hone_rv order[GPU_MAX_LOOPS];
    uint32_t at = 0, row_count = 0;
    HONE_TRY(hone_gpu_get_nest(g, r->last, &nest));
    if (!is_plain(g, &nest) || !mark_rows(r, &nest, is_row)) return hone_gpu_unfit();
    r->total = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < nest.count; i++) {
            if (is_row[i] != (pass == 0)) continue;
            order[at++] = nest.rvs[i];
            if (pass) continue;
            row_count++;
            r->total *= hone_gpu_extent(g, nest.rvs[i]);
        }
    }
    r->is_across = has_columns(r);
    if (r->is_across && row_count == nest.count) return hone_gpu_unfit();
    if (at > 1) HONE_TRY(hone_sch_reorder(g->sch, at, order));
    if (row_count) return hone_gpu_fuse(g, row_count, order, &r->row);
    return hone_sch_add_unit_loop(g->sch, order[0], &r->row);
}

/* ---- moving ---- */

static int64_t runs_of(const hone_gpu_row_nest *r, hone_rv block, hone_node_id below) {
    hone_node_id n;
    int64_t runs = 1;
    if (hone_status_consume(hone_schedule_node(r->g->sch, block, &n))) return -1;
    for (n = sch_node(r->g->sch, n)->parent; n != HONE_NO_ID && n != below;
         n = sch_node(r->g->sch, n)->parent) {
        const hone_node *node = sch_node(r->g->sch, n);
        if (node->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (extent < 1 || runs > INT32_MAX / extent) return -1;
        runs *= extent;
    }
    return runs;
}

/* ILLEGAL where the block would run more often than now. */
static hone_status move_in(hone_gpu_row_nest *r, hone_rv block) {
    int64_t before = runs_of(r, block, HONE_NO_ID);
    hone_node_id row;
    HONE_TRY(hone_sch_compute_at(r->g->sch, block, r->row, true, -1));
    if (before < 0 || runs_of(r, block, HONE_NO_ID) > before) return hone_gpu_unfit();
    HONE_TRY(hone_schedule_node(r->g->sch, r->row, &row));
    r->length = hone_gpu_max(r->length, runs_of(r, block, row));
    return HONE_OK;
}

static hone_status set_scope(hone_gpu_row_nest *r, hone_rv block, const char *scope) {
    return hone_sch_set_scope(r->g->sch, block, 0, scope);
}

/* Elements that a block leaves for each row, in bytes. */
static int64_t bytes_per_row(const hone_gpu_row_nest *r, hone_rv block) {
    hone_node_id node;
    if (hone_status_consume(hone_schedule_node(r->g->sch, block, &node))) return SHARED_BYTES + 1;
    const hone_block *inner = sch_block(r->g->sch, node);
    const hone_buffer_info *info = hone_func_buffer(r->g->sch->func, inner->writes[0].buffer);
    int64_t count = (int64_t)hone_dtype_bytes(info->dtype);
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t length = hone_expr_const(info->shape[d]);
        if (length < 1 || count > INT32_MAX / length) return SHARED_BYTES + 1;
        count *= length;
    }
    return (count - 1) / r->total + 1;
}

/* ---- sharing out ---- */

hone_status hone_gpu_row_loops(hone_gpu_row_nest *r, hone_rv block, hone_rv *out,
                               uint32_t *out_spatial, uint32_t *out_count) {
    hone_gpu_nest nest;
    hone_node_id row;
    *out_spatial = *out_count = 0;
    HONE_TRY(hone_gpu_get_nest(r->g, block, &nest));
    HONE_TRY(hone_schedule_node(r->g->sch, r->row, &row));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < nest.count; i++) {
            if (!hone_tree_is_ancestor(r->g->sch->func, row, nest.loops[i])) continue;
            bool is_spatial = hone_gpu_is_spatial(r->g->sch, nest.block, nest.loops[i]);
            if (is_spatial == (pass == 0)) out[(*out_count)++] = nest.rvs[i];
        }
        if (pass == 0) *out_spatial = *out_count;
    }
    return *out_count > 1 ? hone_sch_reorder(r->g->sch, *out_count, out) : HONE_OK;
}

static int64_t product_of(const hone_gpu_row_nest *r, uint32_t count, const hone_rv *loops) {
    int64_t product = 1;
    for (uint32_t i = 0; i < count; i++)
        product *= hone_gpu_extent(r->g, loops[i]);
    return product;
}

static bool keeps_order(const hone_gpu_row_nest *r, hone_rv block) {
    hone_node_id node;
    if (hone_status_consume(hone_schedule_node(r->g->sch, block, &node))) return true;
    return hone_nest_keeps_order(r->g->sch, node);
}

hone_status hone_gpu_share_nothing(hone_gpu_row_nest *r, hone_rv block) {
    hone_rv loops[GPU_MAX_LOOPS], unit, parts[2];
    uint32_t spatial, count;
    HONE_TRY(hone_gpu_row_loops(r, block, loops, &spatial, &count));
    HONE_TRY(hone_sch_add_unit_loop(r->g->sch, count ? loops[0] : block, &unit));
    HONE_TRY(hone_gpu_split_by(r->g, unit, r->by, parts));
    return hone_sch_bind(r->g->sch, parts[1], hone_gpu_row_axis(r));
}

static hone_status share_block(hone_gpu_row_nest *r, hone_rv block) {
    hone_rv loops[GPU_MAX_LOOPS], fused, parts[2];
    uint32_t spatial, count;
    HONE_TRY(hone_gpu_row_loops(r, block, loops, &spatial, &count));
    if (product_of(r, spatial, loops) > 1) {
        hone_gpu_nest nest;
        HONE_TRY(hone_gpu_get_nest(r->g, block, &nest));
        int64_t vector = spatial == count ? hone_gpu_vector(r->g, &nest) : 1;
        HONE_TRY(hone_gpu_fuse(r->g, spatial, loops, &fused));
        int64_t extent = hone_gpu_extent(r->g, fused);
        while (vector > 1 && extent % (vector * r->threads) != 0)
            vector /= 2;
        return hone_gpu_share(r->g, fused, r->by, vector, NULL);
    }
    if (spatial == count || keeps_order(r, block)) return hone_gpu_share_nothing(r, block);
    HONE_TRY(hone_gpu_fuse(r->g, count - spatial, loops + spatial, &fused));
    HONE_TRY(hone_gpu_split_by(r->g, fused, r->by, parts));
    hone_rv order[] = {parts[1], parts[0]};
    HONE_TRY(hone_sch_reorder(r->g->sch, 2, order));
    return hone_sch_bind(r->g->sch, parts[1], "threadIdx.x");
}

/* Threads of a row, and how many rows a block keeps. */
static hone_status choose_threads(hone_gpu_row_nest *r) {
    hone_gpu *g = r->g;
    bool has_many = r->total > 2 * hone_gpu_multiprocessors(g);
    int64_t most = hone_gpu_min(g->limits->block_threads, (has_many ? 2 : 4) * GPU_BLOCK_THREADS);
    int64_t bytes = hone_gpu_min(SHARED_BYTES, g->limits->shared_bytes);
    r->threads = hone_gpu_power((r->length - 1) / ITEMS + 1);
    r->threads = hone_gpu_min(most, hone_gpu_max(r->threads, g->limits->warp));
    r->by = HONE_FACTOR_OF_INT(r->threads);
    r->beside = hone_gpu_min(GPU_BLOCK_THREADS / 2 / r->threads, r->total);
    while (r->beside > 1 && r->beside * r->bytes > bytes)
        r->beside /= 2;
    if (!r->is_sampled) return HONE_OK;
    hone_rv sampled;
    r->beside = 1;
    HONE_TRY(hone_gpu_sample_threads(g, 4, most, &sampled));
    r->by = HONE_FACTOR_OF_RV(sampled);
    return HONE_OK;
}

const char *hone_gpu_row_axis(const hone_gpu_row_nest *r) {
    return r->is_by_y ? "threadIdx.y" : "threadIdx.x";
}

static const char *beside_axis(const hone_gpu_row_nest *r) {
    return r->is_by_y ? "threadIdx.x" : "threadIdx.y";
}

hone_status hone_gpu_bind_rows(hone_gpu_row_nest *r) {
    hone_schedule *sch = r->g->sch;
    hone_rv parts[2];
    if (r->beside <= 1) return hone_sch_bind(sch, r->row, "blockIdx.x");
    HONE_TRY(hone_gpu_split(r->g, r->row, r->beside, parts));
    HONE_TRY(hone_sch_bind(sch, parts[1], beside_axis(r)));
    r->row = parts[1];
    return hone_sch_bind(sch, parts[0], "blockIdx.x");
}

static hone_status keep_by_block(hone_gpu_row_nest *r) {
    HONE_TRY(choose_threads(r));
    HONE_TRY(hone_gpu_bind_rows(r));
    for (uint32_t i = 0; i < r->count; i++) {
        HONE_TRY(share_block(r, r->blocks[i]));
        HONE_TRY(set_scope(r, r->blocks[i], "shared"));
    }
    return share_block(r, r->last);
}

static hone_status keep_by_thread(hone_gpu_row_nest *r) {
    hone_rv rest, sampled;
    int64_t threads = hone_gpu_min(ROW_THREADS, r->g->limits->block_threads);
    hone_factor by = HONE_FACTOR_OF_INT(threads);
    if (r->is_sampled) {
        HONE_TRY(hone_gpu_sample_threads(r->g, r->g->limits->warp, 1024, &sampled));
        by = HONE_FACTOR_OF_RV(sampled);
    }
    for (uint32_t i = 0; i < r->count; i++)
        HONE_TRY(set_scope(r, r->blocks[i], "local"));
    HONE_TRY(hone_gpu_share(r->g, r->row, by, 1, &rest));
    return hone_sch_bind(r->g->sch, rest, "blockIdx.x");
}

/* All that the last block needs into one loop over rows. */
static hone_status gather_rows(hone_gpu_row_nest *r, bool is_own) {
    hone_gpu *g = r->g;
    hone_node_id node, row;
    HONE_TRY(hone_schedule_node(g->sch, r->last, &node));
    if (hone_gpu_is_bound(g->sch, node)) return hone_gpu_unfit();
    HONE_TRY(list_producers(r, r->last));
    HONE_TRY(sort_blocks(r));
    if (is_own) HONE_TRY(hone_gpu_cache_rows(r));
    HONE_TRY(join_rows(r));
    HONE_TRY(hone_schedule_node(g->sch, r->row, &row));
    r->length = runs_of(r, r->last, row);
    for (uint32_t i = r->count; i-- > 0;) {
        r->bytes += bytes_per_row(r, r->blocks[i]);
        HONE_TRY(move_in(r, r->blocks[i]));
    }
    bool is_shared_better = r->length >= LONG_ROW && r->total < hone_gpu_multiprocessors(g) / 2;
    return is_shared_better ? hone_gpu_unfit() : HONE_OK;
}

static hone_status keep_rows(hone_gpu_row_nest *r) {
    HONE_TRY(gather_rows(r, false));
    if (r->bytes > hone_gpu_min(SHARED_BYTES, r->g->limits->shared_bytes)) return hone_gpu_unfit();
    return r->is_across ? keep_by_thread(r) : keep_by_block(r);
}

hone_status hone_gpu_own_rows(hone_gpu *g, hone_rv block) {
    hone_gpu_row_nest r = {.g = g, .last = block, .length = 1};
    HONE_TRY(gather_rows(&r, true));
    r.is_by_y = r.is_across;
    return hone_gpu_keep_own_rows(&r);
}

hone_status hone_gpu_rows(hone_gpu *g, hone_rv block) {
    hone_gpu_row_nest r = {.g = g, .last = block, .length = 1};
    return keep_rows(&r);
}

hone_status hone_gpu_sketch_rows(hone_schedule *sch, hone_rv block, const hone_gpu_limits *limits) {
    hone_gpu g = {sch, limits};
    hone_gpu_row_nest r = {.g = &g, .last = block, .length = 1, .is_sampled = true};
    return keep_rows(&r);
}
