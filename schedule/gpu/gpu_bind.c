/* schedule/gpu/gpu_bind.c - shares the outermost loops of a nest out to blocks of threads:
 *
 *   for i, j: for k: S   ─►   for blockIdx.x: for threadIdx.x: (for vectorized j:) for k: S
 *
 * Neighbouring threads take neighbours, each as many as one load takes where they lie side by side.
 * A nest none of whose loops can be shared out runs in one
 * thread. Source: TVM's AutoBind.
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/gpu/gpu_impl.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum {
    WARPS_TO_FILL = 4, /* of each multiprocessor, before threads take vectors */
    TURNS = 2,         /* of a thread that looks something up: other loads wait meanwhile */
};

/* How many of the outermost loops are free to run in any order, one inside the other. */
static uint32_t count_free(const hone_gpu *g, const hone_gpu_nest *nest) {
    uint32_t i = 0;
    for (; i < nest->count; i++) {
        const hone_node *loop = sch_node(g->sch, nest->loops[i]);
        if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count) break;
        if (i && sch_node(g->sch, nest->loops[i - 1])->first !=
                     sch_node(g->sch, nest->loops[i - 1])->last)
            break;
        if (sch_loop_type_of(g->sch, nest->loops[i]) != SCH_LOOP_DATA_PARALLEL) break;
    }
    return i;
}

/* Spatial loops of a block alone in its nest go outside of those that reduce. */
static hone_status put_spatial_first(hone_gpu *g, hone_gpu_nest *nest, hone_rv block) {
    hone_rv order[GPU_MAX_LOOPS];
    uint32_t at = 0, spatial = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < nest->count; i++) {
            bool is_spatial = hone_gpu_is_spatial(g->sch, nest->block, nest->loops[i]);
            if (is_spatial == (pass == 0)) order[at++] = nest->rvs[i];
        }
        if (pass == 0) spatial = at;
    }
    bool is_ordered = true;
    for (uint32_t i = 0; i < at; i++)
        is_ordered = is_ordered && order[i] == nest->rvs[i];
    if (is_ordered || spatial == 0) return HONE_OK;
    HONE_TRY(hone_default_optional(hone_sch_reorder(g->sch, at, order)));
    return hone_gpu_get_nest(g, block, nest);
}

hone_status hone_gpu_bind_alone(hone_gpu *g, hone_rv block) {
    hone_gpu_nest nest;
    hone_rv thread, grid;
    HONE_TRY(hone_gpu_get_nest(g, block, &nest));
    if (hone_gpu_is_bound(g->sch, nest.block)) return HONE_OK;
    HONE_TRY(hone_sch_add_unit_loop(g->sch, nest.count ? nest.rvs[0] : block, &thread));
    HONE_TRY(hone_sch_add_unit_loop(g->sch, thread, &grid));
    HONE_TRY(hone_sch_bind(g->sch, grid, "blockIdx.x"));
    return hone_sch_bind(g->sch, thread, "threadIdx.x");
}

/* Threads of a block: fewer where there would be blocks for some multiprocessors only. */
static int64_t threads_for(const hone_gpu *g, int64_t items) {
    int64_t most = hone_gpu_min(GPU_BLOCK_THREADS, g->limits->block_threads);
    if (items < 0) return most;
    int64_t each = hone_gpu_power((items - 1) / hone_gpu_multiprocessors(g) + 1);
    return hone_gpu_min(most, hone_gpu_max(g->limits->warp, each));
}

hone_status hone_gpu_fuse_free(hone_gpu *g, hone_rv block, hone_rv *out, int64_t *out_vector) {
    hone_gpu_nest nest;
    HONE_TRY(hone_gpu_get_nest(g, block, &nest));
    if (hone_gpu_is_bound(g->sch, nest.block)) return hone_gpu_unfit();
    HONE_TRY(put_spatial_first(g, &nest, block));
    uint32_t count = count_free(g, &nest);
    if (count == 0) return hone_gpu_unfit();
    *out_vector = count == nest.count ? hone_gpu_vector(g, &nest) : 1;
    return hone_gpu_fuse(g, count, nest.rvs, out);
}

static bool is_lookup(const void *ctx, const hone_expr *e) {
    (void)ctx;
    bool is_found = false;
    for (uint16_t i = 0; e->kind == HONE_EXPR_LOAD && i < e->count && !is_found; i++)
        is_found = hone_expr_find(e->args[i], hone_expr_is_load, NULL);
    return is_found;
}

/* Where something is read is itself read: one load waits for another. */
static bool looks_up(hone_gpu *g, hone_rv block) {
    hone_node_id node;
    if (hone_status_consume(hone_schedule_node(g->sch, block, &node))) return false;
    return hone_tree_find_part(g->sch->func, node, false, is_lookup, NULL) != NULL;
}

hone_status hone_gpu_bind(hone_gpu *g, hone_rv block) {
    hone_rv fused, rest, parts[2];
    int64_t vector;
    HONE_TRY(hone_gpu_fuse_free(g, block, &fused, &vector));
    int64_t items = hone_gpu_extent(g, fused);
    int64_t filled = hone_gpu_multiprocessors(g) * g->limits->warp * WARPS_TO_FILL;
    while (vector > 1 && items > 0 && items / vector < filled)
        vector /= 2;
    int64_t threads = threads_for(g, items < 0 ? items : items / vector);
    bool goes_twice = vector > 1 && items / vector >= 2 * TURNS * filled && looks_up(g, block);
    HONE_TRY(hone_gpu_share(g, fused, HONE_FACTOR_OF_INT(threads), vector, &rest));
    if (!goes_twice) return hone_sch_bind(g->sch, rest, "blockIdx.x");
    HONE_TRY(hone_gpu_split(g, rest, TURNS, parts));
    HONE_TRY(hone_sch_unroll(g->sch, parts[1]));
    return hone_sch_bind(g->sch, parts[0], "blockIdx.x");
}
