/* schedule/gpu/gpu_rows_own.c - rows that the threads of a block keep in registers, each the same
 * part in all that is done to the row; what is read several times is read once.
 *
 *   for blockIdx.x over rows:
 *     for o: for threadIdx.x: for vectorized v: local X[…] = A[row, o * turn + thread * vector + v]
 *     for threadIdx.x: for o, v: shared M[row] = max(M[row], X[…])
 *     for o: for threadIdx.x: for vectorized v: local E[…] = exp(X[…] - M[row])
 *     …
 *
 * Where rows lie across memory, neighbouring rows are threadIdx.x, and the threads of a row lie
 * along threadIdx.y. Lowering shrinks the arrays to a thread's part (lower/threads/own_places.c).
 */
#include "schedule/gpu/gpu_rows.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum {
    MOST_ITEMS = 32,  /* of a row, in a thread's registers */
    ITEMS = 8,        /* of a row in a thread, where there are rows enough */
    ITEMS_ACROSS = 8, /* of a row in a thread, before more threads share a row across memory */
};

/* ---- what is read several times ---- */

static hone_status node_of(const hone_gpu_row_nest *r, hone_rv block, hone_node_id *out) {
    return hone_schedule_node(r->g->sch, block, out);
}

/* Each element once for each instance of the block. */
static bool is_read_whole(const hone_gpu_row_nest *r, hone_node_id node, hone_buffer buffer) {
    int64_t elements = hone_buffer_elements(hone_func_buffer(r->g->sch->func, buffer));
    return elements > 0 && elements == hone_nest_instances(r->g->sch, node);
}

static int64_t find_read(const hone_gpu_row_nest *r, hone_node_id node, hone_buffer buffer) {
    const hone_block *block = sch_block(r->g->sch, node);
    for (uint32_t i = 0; i < block->read_count; i++) {
        if (block->reads[i].buffer == buffer) return i;
    }
    return -1;
}

/* The blocks that read all of a buffer, in program order. */
static hone_status list_readers(const hone_gpu_row_nest *r, hone_buffer buffer,
                                hone_rv out[GPU_MOST_ROW_BLOCKS + 1], uint32_t *out_count) {
    *out_count = 0;
    for (uint32_t i = 0; i <= r->count; i++) {
        hone_rv block = i < r->count ? r->blocks[i] : r->last;
        hone_node_id node;
        HONE_TRY(node_of(r, block, &node));
        if (find_read(r, node, buffer) >= 0 && is_read_whole(r, node, buffer))
            out[(*out_count)++] = block;
    }
    return HONE_OK;
}

static hone_status cache(hone_gpu_row_nest *r, hone_buffer buffer) {
    hone_rv readers[GPU_MOST_ROW_BLOCKS + 1], copy;
    hone_node_id first;
    uint32_t count;
    bool is_sum;
    if (hone_gpu_row_makes(r, buffer, &is_sum)) return HONE_OK;
    HONE_TRY(list_readers(r, buffer, readers, &count));
    if (count < 2) return HONE_OK;
    if (r->count == GPU_MOST_ROW_BLOCKS) return hone_gpu_unfit();
    HONE_TRY(node_of(r, readers[0], &first));
    HONE_TRY(hone_sch_cache_read(r->g->sch, readers[0], find_read(r, first, buffer), "local", count,
                                 readers, &copy));
    for (uint32_t i = r->count++; i > 0; i--)
        r->blocks[i] = r->blocks[i - 1];
    r->blocks[0] = copy;
    return HONE_OK;
}

hone_status hone_gpu_cache_rows(hone_gpu_row_nest *r) {
    hone_func *func = r->g->sch->func;
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer != HONE_NO_ID) HONE_TRY(cache(r, func->params[p].buffer));
    }
    return HONE_OK;
}

/* ---- sharing out ---- */

/* One loop of a block goes along the row, if any; the others have one iteration. */
typedef struct lanes {
    hone_rv block, loop;
    bool is_long, is_spatial;
    int64_t vector;
} lanes;

static hone_status find_lanes(hone_gpu_row_nest *r, hone_rv block, lanes *out) {
    hone_rv loops[GPU_MAX_LOOPS];
    hone_gpu_nest nest;
    uint32_t spatial, count;
    *out = (lanes){.block = block, .vector = 1};
    HONE_TRY(hone_gpu_row_loops(r, block, loops, &spatial, &count));
    for (uint32_t i = 0; i < count; i++) {
        int64_t extent = hone_gpu_extent(r->g, loops[i]);
        if (extent == 1) continue;
        if (extent != r->length || out->is_long) return hone_gpu_unfit();
        out->is_long = true;
        out->is_spatial = i < spatial;
        out->loop = loops[i];
    }
    HONE_TRY(hone_gpu_get_nest(r->g, block, &nest));
    if (!out->is_spatial && out->is_long && hone_nest_keeps_order(r->g->sch, nest.block))
        return hone_gpu_unfit();
    if (out->is_spatial) out->vector = hone_gpu_vector(r->g, &nest);
    return HONE_OK;
}

/* Neighbouring rows by the threads of a warp, each row by those of several. */
static void choose_threads_across(hone_gpu_row_nest *r) {
    int64_t most = hone_gpu_max(1, r->g->limits->block_threads / r->g->limits->warp);
    r->threads = hone_gpu_min(most, hone_gpu_power((r->length - 1) / ITEMS_ACROSS + 1));
    r->beside = hone_gpu_min(r->g->limits->warp, r->total);
}

static bool is_function(const void *ctx, const hone_expr *e) {
    (void)ctx;
    bool is_short = e->op == HONE_INTRIN_ISNAN || e->op == HONE_INTRIN_SQRT ||
                    e->op == HONE_INTRIN_RSQRT || e->op == HONE_INTRIN_IF_THEN_ELSE;
    return e->kind == HONE_EXPR_CALL && !is_short;
}

/* exp and the like take the time, not what threads tell each other. */
static bool is_heavy(const hone_gpu_row_nest *r) {
    bool has = false;
    for (uint32_t i = 0; i <= r->count; i++) {
        hone_node_id node;
        if (hone_status_consume(node_of(r, i < r->count ? r->blocks[i] : r->last, &node)))
            return false;
        has = has || hone_tree_find_part(r->g->sch->func, node, false, is_function, NULL);
    }
    return has;
}

/* Whole vectors for each thread; fewer neighbours where a warp would have none for some. */
static void choose_threads_along(hone_gpu_row_nest *r, int64_t *io_vector) {
    const hone_gpu *g = r->g;
    bool has_many = r->total > 2 * hone_gpu_multiprocessors(g);
    int64_t items = *io_vector;
    if (has_many) items = hone_gpu_max(ITEMS, items * (is_heavy(r) ? 2 : 1));
    int64_t wanted = hone_gpu_power((r->length - 1) / items + 1);
    r->threads = hone_gpu_min(g->limits->block_threads, hone_gpu_max(g->limits->warp, wanted));
    r->beside = hone_gpu_max(1, hone_gpu_min(GPU_BLOCK_THREADS / 2 / r->threads, r->total));
    while (*io_vector > 1 && *io_vector * r->threads > r->length)
        *io_vector /= 2;
}

/* for threadIdx.x: for o: for v */
static hone_status share_reduction(hone_gpu_row_nest *r, const lanes *l, int64_t vector) {
    hone_schedule *sch = r->g->sch;
    hone_rv inner[2] = {l->loop}, parts[2];
    if (vector > 1) HONE_TRY(hone_gpu_split(r->g, l->loop, vector, inner));
    HONE_TRY(hone_gpu_split_by(r->g, inner[0], r->by, parts));
    const hone_rv order[] = {parts[1], parts[0]};
    HONE_TRY(hone_sch_reorder(sch, 2, order));
    return hone_sch_bind(sch, parts[1], hone_gpu_row_axis(r));
}

/* for o: for threadIdx.x: for v, a vector where its elements lie side by side */
static hone_status share_elements(hone_gpu_row_nest *r, const lanes *l, int64_t vector) {
    hone_rv inner[2] = {l->loop}, parts[2];
    if (vector > 1) HONE_TRY(hone_gpu_split(r->g, l->loop, vector, inner));
    HONE_TRY(hone_gpu_split_by(r->g, inner[0], r->by, parts));
    HONE_TRY(hone_sch_bind(r->g->sch, parts[1], hone_gpu_row_axis(r)));
    bool is_vector = vector > 1 && l->vector > 1;
    return is_vector ? hone_sch_vectorize(r->g->sch, inner[1]) : HONE_OK;
}

static hone_status share(hone_gpu_row_nest *r, const lanes *l, int64_t vector) {
    if (!l->is_long) return hone_gpu_share_nothing(r, l->block);
    return l->is_spatial ? share_elements(r, l, vector) : share_reduction(r, l, vector);
}

/* As many neighbours as the access that takes most; each row holds whole vectors. */
static int64_t common_vector(const hone_gpu_row_nest *r, const lanes *all) {
    int64_t vector = 1;
    for (uint32_t i = 0; i <= r->count; i++)
        vector = hone_gpu_max(vector, all[i].vector);
    while (r->length % vector != 0)
        vector /= 2;
    return vector;
}

hone_status hone_gpu_keep_own_rows(hone_gpu_row_nest *r) {
    lanes all[GPU_MOST_ROW_BLOCKS + 1];
    for (uint32_t i = 0; i <= r->count; i++)
        HONE_TRY(find_lanes(r, i < r->count ? r->blocks[i] : r->last, &all[i]));
    int64_t vector = r->is_by_y ? 1 : common_vector(r, all);
    if (r->is_by_y) {
        choose_threads_across(r);
    } else {
        choose_threads_along(r, &vector);
    }
    r->by = HONE_FACTOR_OF_INT(r->threads);
    if (r->threads < 2 || r->length > MOST_ITEMS * r->threads) return hone_gpu_unfit();
    HONE_TRY(hone_gpu_bind_rows(r));
    for (uint32_t i = 0; i <= r->count; i++) {
        HONE_TRY(share(r, &all[i], vector));
        if (i == r->count) break;
        bool is_own = all[i].is_long && all[i].is_spatial;
        HONE_TRY(hone_sch_set_scope(r->g->sch, all[i].block, 0, is_own ? "local" : "shared"));
    }
    return HONE_OK;
}
