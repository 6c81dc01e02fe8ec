/* schedule/gpu/gpu_parts.c - products of few tiles and many steps as sums in parts: what a part of
 * the steps gives is a matrix of a batch, and there are blocks for all multiprocessors.
 *
 *   P[p, i, j] += A[i, p * n + k] * B[p * n + k, j]    as any product (gpu_schedule.c)
 *   C[i, j] += P[p, i, j], with what follows           a thread each, one part after the other
 */
#include "schedule/gpu/gpu_product.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/primitive/primitives.h"

/* The longest axis of the steps. */
static uint32_t longest_steps(const hone_gpu_shape *s) {
    uint32_t longest = 0;
    int64_t most = -1;
    for (uint32_t a = 0; a < s->axis_count; a++) {
        if (s->groups[a] != GPU_STEPS || s->axes[a] <= most) continue;
        most = s->axes[a];
        longest = a;
    }
    return longest;
}

/* for p: …: for k. out_product: the block of P; `block` adds up. */
static hone_status part_steps(hone_gpu *g, hone_rv block, uint32_t axis, int64_t parts,
                              hone_rv *out_product) {
    hone_gpu_nest nest;
    const hone_rv *two = NULL;
    hone_rv order[GPU_MAX_LOOPS + 1];
    const hone_factor factors[] = {HONE_FACTOR_OF_INT(parts), {.kind = HONE_FACTOR_NONE}};
    HONE_TRY(hone_gpu_get_nest(g, block, &nest));
    HONE_TRY(hone_sch_split(g->sch, nest.rvs[axis], 2, factors, true, false, &two));
    order[0] = two[0];
    for (uint32_t i = 0; i < nest.count; i++)
        order[i + 1] = i == axis ? two[1] : nest.rvs[i];
    HONE_TRY(hone_sch_reorder(g->sch, nest.count + 1, order));
    return hone_sch_rfactor(g->sch, two[0], 0, out_product);
}

typedef hone_status (*product_way)(hone_gpu *g, hone_rv block);

enum { WAYS = 3 };

/* A way that only looked at the block has not begun. */
static bool has_begun(const hone_schedule *sch, uint32_t steps) {
    for (uint32_t i = steps; i < sch->trace.count; i++) {
        if (!hone_inst_is_pure(sch->trace.insts[i].kind)) return true;
    }
    return false;
}

/* By the first way that begins; what it begins it has to end. */
static hone_status multiply(hone_gpu *g, hone_rv product, const product_way ways[WAYS]) {
    const uint32_t steps = g->sch->trace.count;
    hone_status st = HONE_OK;
    for (uint32_t w = 0; w < WAYS; w++) {
        hone_status_free(st);
        st = ways[w](g, product);
        if (!st || hone_status_code(st) != HONE_CODE_ILLEGAL || has_begun(g->sch, steps)) break;
    }
    return st;
}

/* As many as a warp has, or less, so that none is left over: what only some threads write is not
 * known to be all. */
static int64_t threads_of(hone_gpu *g, hone_rv fused, int64_t vector) {
    int64_t items = hone_gpu_extent(g, fused) / vector, threads = g->limits->warp;
    while (items > 0 && items % threads != 0)
        threads--;
    return threads;
}

/* for blockIdx.x: for threadIdx.x: sums of a thread's own, over parts; then what follows, in
 * vectors. */
static hone_status add_up(hone_gpu *g, hone_rv block) {
    hone_rv result, fused, rest, init;
    hone_gpu_nest nest;
    int64_t vector;
    HONE_TRY(hone_sch_cache_write(g->sch, block, 0, "local", 0, NULL, &result));
    HONE_TRY(hone_gpu_join_epilogue(g, result));
    HONE_TRY(hone_gpu_fuse_free(g, result, &fused, &vector));
    int64_t threads = threads_of(g, fused, vector);
    HONE_TRY(hone_gpu_share(g, fused, HONE_FACTOR_OF_INT(threads), vector, &rest));
    HONE_TRY(hone_sch_bind(g->sch, rest, "blockIdx.x"));
    HONE_TRY(hone_gpu_get_nest(g, result, &nest));
    hone_rv thread = nest.rvs[1];
    HONE_TRY(hone_sch_compute_at(g->sch, block, thread, true, -1));
    if (vector == 1) return HONE_OK;
    HONE_TRY(hone_gpu_get_nest(g, block, &nest));
    hone_rv part = HONE_NO_ID, lane = HONE_NO_ID;
    for (uint32_t i = 2; i < nest.count; i++) {
        if (!hone_gpu_is_spatial(g->sch, nest.block, nest.loops[i]))
            part = nest.rvs[i];
        else if (hone_gpu_extent(g, nest.rvs[i]) == vector)
            lane = nest.rvs[i];
    }
    if (part == HONE_NO_ID || lane == HONE_NO_ID) return HONE_OK;
    const hone_rv order[] = {part, lane};
    HONE_TRY(hone_sch_reorder(g->sch, 2, order));
    HONE_TRY(hone_sch_vectorize(g->sch, lane));
    HONE_TRY(hone_sch_unroll(g->sch, part));
    return hone_sch_decompose_reduction(g->sch, block, part, &init);
}

static hone_status in_parts(hone_gpu *g, hone_rv block, const product_way ways[WAYS]) {
    hone_gpu_shape shape;
    hone_node_id node;
    hone_rv product;
    HONE_TRY(hone_gpu_read_shape(g, block, &shape));
    HONE_TRY(hone_schedule_node(g->sch, block, &node));
    if (hone_nest_keeps_order(g->sch, node)) return hone_gpu_unfit();
    uint32_t axis = longest_steps(&shape);
    int64_t parts = hone_gpu_count_parts(g, &shape, shape.axes[axis]);
    if (parts < 2) return hone_gpu_unfit();
    HONE_TRY(part_steps(g, block, axis, parts, &product));
    HONE_TRY(add_up(g, block)); /* while all there is are plain stages */
    return multiply(g, product, ways);
}

hone_status hone_gpu_parts(hone_gpu *g, hone_rv block) {
    static const product_way ways[WAYS] = {hone_gpu_groups, hone_gpu_fragments, hone_gpu_product};
    return in_parts(g, block, ways);
}

static hone_status sample_fragments(hone_gpu *g, hone_rv block) {
    return hone_gpu_sketch_fragments(g->sch, block, g->limits);
}

static hone_status sample_product(hone_gpu *g, hone_rv block) {
    return hone_gpu_sketch_product(g->sch, block, g->limits);
}

hone_status hone_gpu_sketch_parts(hone_schedule *sch, hone_rv block,
                                  const hone_gpu_limits *limits) {
    static const product_way ways[WAYS] = {hone_gpu_groups, sample_fragments, sample_product};
    hone_gpu g = {sch, limits};
    return in_parts(&g, block, ways);
}
