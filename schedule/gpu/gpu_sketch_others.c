/* schedule/gpu/gpu_sketch_others.c - reductions and plain nests whose threads are sampled. */
#include "schedule/gpu/gpu_impl.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"

enum { MOST_PIECES = 1024, CHOICES = 8 };

hone_status hone_gpu_sample_threads(hone_gpu *g, int64_t least, int64_t most, hone_rv *out) {
    int64_t values[CHOICES];
    double probs[CHOICES];
    uint32_t count = 0;
    most = hone_gpu_min(most, g->limits->block_threads);
    for (int64_t n = least; n <= most && count < CHOICES; n *= 2) {
        values[count++] = n;
    }
    if (count == 0) return hone_gpu_unfit();
    for (uint32_t i = 0; i < count; i++)
        probs[i] = 1.0 / count;
    return hone_sch_sample_categorical(g->sch, count, values, probs, NULL, out);
}

static hone_status mark_done(hone_gpu *g, hone_rv block, const char *how) {
    return hone_sch_annotate(g->sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING(how),
                             HONE_NO_ID);
}

static hone_status get_reduction(hone_gpu *g, hone_rv block, hone_reduction_facts *out) {
    hone_node_id node;
    HONE_TRY(hone_schedule_node(g->sch, block, &node));
    bool fits = hone_nest_reduction(g->sch, node, out) && !out->keeps_order;
    return fits ? HONE_OK : hone_gpu_unfit();
}

hone_status hone_gpu_sketch_reduce(hone_schedule *sch, hone_rv block,
                                   const hone_gpu_limits *limits) {
    hone_gpu g = {sch, limits};
    hone_reduction_facts facts;
    hone_rv space, steps, threads, parts[2];
    HONE_TRY(get_reduction(&g, block, &facts));
    if (hone_gpu_is_bound(sch, facts.block)) return hone_gpu_unfit();
    HONE_TRY(hone_gpu_join_loops(&g, block, &space, &steps));
    HONE_TRY(mark_done(&g, block, "cross-thread"));
    HONE_TRY(hone_gpu_sample_threads(&g, 4, 512, &threads));
    HONE_TRY(hone_gpu_split_by(&g, steps, HONE_FACTOR_OF_RV(threads), parts));
    hone_rv order[] = {parts[1], parts[0]};
    HONE_TRY(hone_sch_reorder(sch, 2, order));
    HONE_TRY(hone_sch_bind(sch, parts[1], "threadIdx.x"));
    return hone_sch_bind(sch, space, "blockIdx.x");
}

hone_status hone_gpu_sketch_pieces(hone_schedule *sch, hone_rv block,
                                   const hone_gpu_limits *limits) {
    hone_gpu g = {sch, limits};
    hone_reduction_facts facts;
    hone_rv space, steps, pieces;
    const hone_rv *sizes = NULL, *parts = NULL;
    HONE_TRY(get_reduction(&g, block, &facts));
    HONE_TRY(hone_gpu_join_loops(&g, block, &space, &steps));
    HONE_TRY(hone_sch_sample_perfect_tile(sch, steps, 2, MOST_PIECES, NULL, &sizes));
    const hone_factor factors[] = {HONE_FACTOR_OF_RV(sizes[0]), HONE_FACTOR_OF_RV(sizes[1])};
    HONE_TRY(hone_sch_split(sch, steps, 2, factors, true, false, &parts));
    HONE_TRY(hone_sch_rfactor(sch, parts[1], 0, &pieces));
    HONE_TRY(hone_gpu_sketch_reduce(sch, pieces, limits));
    return hone_gpu_sketch_reduce(sch, block, limits);
}

hone_status hone_gpu_sketch_bind(hone_schedule *sch, hone_rv block, const hone_gpu_limits *limits) {
    hone_gpu g = {sch, limits};
    hone_rv threads, fused, rest;
    int64_t vector;
    HONE_TRY(hone_gpu_fuse_free(&g, block, &fused, &vector));
    HONE_TRY(hone_gpu_sample_threads(&g, 32, 1024, &threads));
    HONE_TRY(hone_gpu_share(&g, fused, HONE_FACTOR_OF_RV(threads), vector, &rest));
    return hone_sch_bind(sch, rest, "blockIdx.x");
}
