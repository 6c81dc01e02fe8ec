/* schedule/gpu/gpu_reduce.c - threads that reduce together.
 *
 *   along memory (sums of rows):          across it, of few columns:
 *   for blockIdx.x: for threadIdx.y:        for blockIdx.x: for threadIdx.x over columns:
 *     for threadIdx.x: for k0, k1: S          for threadIdx.y: for k0: S
 *
 * A few long rows are first cut into pieces that blocks of their own reduce (rfactor).
 */
#include "schedule/gpu/gpu_impl.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum {
    SHORT_ROW = 16,     /* one thread reduces it */
    ITEMS = 8,          /* of a thread, before more threads share a row */
    LONG_ROW = 1 << 14, /* blocks share it, where there are few */
    PIECE = 1 << 12,    /* of a long row, at least */
    MOST_COLUMNS = 32,  /* side by side in a block */
    LEAST_STEPS = 64,   /* to share out across columns */
};

/* Threads that reduce `length` elements together, when so many are reduced at a time. */
static int64_t reducing_threads(const hone_gpu *g, int64_t rows, int64_t length) {
    int64_t most =
        hone_gpu_min(rows >= hone_gpu_multiprocessors(g) ? 512 : 1024, g->limits->block_threads);
    int64_t wanted = hone_gpu_power((length - 1) / ITEMS + 1);
    return hone_gpu_min(most, hone_gpu_max(wanted, g->limits->warp));
}

typedef struct reduction {
    hone_gpu *g;
    hone_rv block;
    hone_reduction_facts facts;
    hone_rv space, steps; /* all spatial loops as one, all that reduce */
} reduction;

hone_status hone_gpu_join_loops(hone_gpu *g, hone_rv block, hone_rv *out_space,
                                hone_rv *out_steps) {
    hone_gpu_nest nest;
    hone_rv order[GPU_MAX_LOOPS];
    uint32_t at = 0, spatial = 0;
    HONE_TRY(hone_gpu_get_nest(g, block, &nest));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < nest.count; i++) {
            bool reduces = !hone_gpu_feeds(g->sch, nest.block, nest.loops[i], HONE_AXIS_SPATIAL);
            if (reduces == (pass == 1)) order[at++] = nest.rvs[i];
        }
        if (pass == 0) spatial = at;
    }
    if (spatial == at) return hone_gpu_unfit();
    if (at > 1) HONE_TRY(hone_sch_reorder(g->sch, at, order));
    HONE_TRY(hone_gpu_fuse(g, at - spatial, order + spatial, out_steps));
    if (spatial) return hone_gpu_fuse(g, spatial, order, out_space);
    return hone_sch_add_unit_loop(g->sch, *out_steps, out_space);
}

static hone_status join_loops(reduction *r) {
    return hone_gpu_join_loops(r->g, r->block, &r->space, &r->steps);
}

/* for threadIdx.x: for steps: for vector */
static hone_status share_steps(reduction *r, int64_t threads) {
    hone_rv parts[2], inner[2];
    int64_t length = r->facts.reduce, vector = 1;
    int64_t lanes = GPU_VECTOR_BYTES * 8 / hone_gpu_max(r->facts.element_bits, 8);
    if (r->facts.is_reduce_contiguous &&
        r->facts.contiguous_reduce == (int32_t)r->facts.loop_count - 1)
        vector = lanes;
    while (vector > 1 && (length % (threads * vector) != 0))
        vector /= 2;
    hone_schedule *sch = r->g->sch;
    if (vector > 1) {
        HONE_TRY(hone_gpu_split(r->g, r->steps, vector, inner));
        HONE_TRY(hone_gpu_split(r->g, inner[0], threads, parts));
        hone_rv order[] = {parts[1], parts[0], inner[1]};
        HONE_TRY(hone_sch_reorder(sch, 3, order));
        HONE_TRY(hone_sch_unroll(sch, inner[1]));
    } else {
        HONE_TRY(hone_gpu_split(r->g, r->steps, threads, parts));
        hone_rv order[] = {parts[1], parts[0]};
        HONE_TRY(hone_sch_reorder(sch, 2, order));
    }
    return hone_sch_bind(sch, parts[1], "threadIdx.x");
}

static hone_status reduce_rows(reduction *r) {
    hone_gpu *g = r->g;
    hone_rv parts[2];
    HONE_TRY(join_loops(r));
    int64_t threads = reducing_threads(g, r->facts.space, r->facts.reduce);
    int64_t rows = hone_gpu_min(GPU_BLOCK_THREADS / 2 / threads, r->facts.space);
    if (rows > 1) {
        HONE_TRY(hone_gpu_split(g, r->space, rows, parts));
        HONE_TRY(hone_sch_bind(g->sch, parts[1], "threadIdx.y"));
        r->space = parts[0];
    }
    HONE_TRY(share_steps(r, threads));
    return hone_sch_bind(g->sch, r->space, "blockIdx.x");
}

static hone_status reduce_columns(reduction *r) {
    hone_gpu *g = r->g;
    hone_rv columns[2], steps[2];
    HONE_TRY(join_loops(r));
    int64_t across = hone_gpu_min(MOST_COLUMNS, hone_gpu_power(r->facts.space));
    int64_t most = hone_gpu_min(GPU_BLOCK_THREADS, g->limits->block_threads) / across;
    HONE_TRY(hone_gpu_split(g, r->space, across, columns));
    HONE_TRY(hone_gpu_split(g, r->steps,
                            hone_gpu_min(most, hone_gpu_power(r->facts.reduce / ITEMS)), steps));
    hone_rv order[] = {steps[1], steps[0]};
    HONE_TRY(hone_sch_reorder(g->sch, 2, order));
    HONE_TRY(hone_sch_bind(g->sch, steps[1], "threadIdx.y"));
    HONE_TRY(hone_sch_bind(g->sch, columns[1], "threadIdx.x"));
    return hone_sch_bind(g->sch, columns[0], "blockIdx.x");
}

/* ---- long rows ---- */

static hone_status reduce_pieces(reduction *r) {
    hone_gpu *g = r->g;
    hone_rv parts[2], pieces;
    int64_t wanted = 2 * hone_gpu_multiprocessors(g) / hone_gpu_max(r->facts.space, 1);
    int64_t count = hone_gpu_max(2, hone_gpu_min(wanted, r->facts.reduce / PIECE));
    HONE_TRY(join_loops(r));
    int64_t length = (r->facts.reduce - 1) / count + 1;
    length += PIECE - 1 - (length - 1) % PIECE; /* whole vectors of all threads */
    HONE_TRY(hone_gpu_split(g, r->steps, length, parts));
    HONE_TRY(hone_sch_rfactor(g->sch, parts[0], 0, &pieces));
    HONE_TRY(hone_gpu_reduce(g, pieces));
    return hone_gpu_reduce(g, r->block);
}

static bool is_few_columns(const reduction *r) {
    int64_t filled = hone_gpu_multiprocessors(r->g) * GPU_BLOCK_THREADS;
    return r->facts.contiguous_space >= 0 && r->facts.is_spatially_contiguous &&
           r->facts.space < filled && r->facts.reduce >= LEAST_STEPS;
}

hone_status hone_gpu_reduce(hone_gpu *g, hone_rv block) {
    reduction r = {.g = g, .block = block};
    hone_node_id node;
    HONE_TRY(hone_schedule_node(g->sch, block, &node));
    if (!hone_nest_reduction(g->sch, node, &r.facts) || r.facts.keeps_order)
        return hone_gpu_unfit();
    if (r.facts.is_spatially_contiguous)
        return is_few_columns(&r) ? reduce_columns(&r) : hone_gpu_unfit();
    if (r.facts.reduce <= SHORT_ROW) return hone_gpu_unfit();
    if (r.facts.reduce >= LONG_ROW && r.facts.space < hone_gpu_multiprocessors(g) / 2)
        return reduce_pieces(&r);
    return reduce_rows(&r);
}
