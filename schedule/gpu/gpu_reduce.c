/* schedule/gpu/gpu_reduce.c - threads that reduce together.
 *
 *   along memory (sums of rows):          across it, of few columns:
 *   for blockIdx.x: for threadIdx.y:        for blockIdx.x: for threadIdx.x over columns:
 *     for threadIdx.x: for k0, k1: S          for threadIdx.y: for k0: S
 *
 * A few long rows or columns are first cut into pieces that blocks of their own reduce (rfactor).
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
    BLOCKS_TO_FILL = 4, /* of each multiprocessor, that reduce pieces */
    COLUMN_BLOCKS = 8,  /* the same, of columns */
    LEAST_PIECE = 256,  /* of a column */
    AT_ONCE = 4,        /* steps whose loads begin together */
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
            bool reduces = !hone_gpu_is_spatial(g->sch, nest.block, nest.loops[i]);
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

/* How many neighbours a thread adds up at a time: as many as it loads at once. */
static int64_t neighbours(const reduction *r, int64_t length, int64_t threads) {
    int64_t vector = GPU_VECTOR_BYTES * 8 / hone_gpu_max(r->facts.element_bits, 8);
    if (!r->facts.is_reduce_contiguous ||
        r->facts.contiguous_reduce != (int32_t)r->facts.loop_count - 1)
        return 1;
    while (vector > 1 && (length % (threads * vector) != 0))
        vector /= 2;
    return vector;
}

/* for threadIdx.x: for steps: for vector */
static hone_status share_steps(hone_gpu *g, hone_rv steps, int64_t threads, int64_t vector) {
    hone_rv parts[2], inner[2] = {steps};
    if (vector > 1) HONE_TRY(hone_gpu_split(g, steps, vector, inner));
    HONE_TRY(hone_gpu_split(g, inner[0], threads, parts));
    const hone_rv order[] = {parts[1], parts[0]};
    HONE_TRY(hone_sch_reorder(g->sch, 2, order));
    if (vector > 1) HONE_TRY(hone_sch_unroll(g->sch, inner[1]));
    return hone_sch_bind(g->sch, parts[1], "threadIdx.x");
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
    HONE_TRY(share_steps(g, r->steps, threads, neighbours(r, r->facts.reduce, threads)));
    return hone_sch_bind(g->sch, r->space, "blockIdx.x");
}

/* ---- columns ---- */

/* for blockIdx.x: for threadIdx.x over columns: for threadIdx.y: for steps: for unrolled steps;
 * pieces (NULL: none) is a loop of pieces that steps reduce. */
static hone_status share_columns(reduction *r, hone_rv space, const hone_rv *pieces, hone_rv steps,
                                 int64_t length) {
    hone_gpu *g = r->g;
    hone_rv columns[2], parts[2], inner[2], grid;
    int64_t across = hone_gpu_min(MOST_COLUMNS, hone_gpu_power(r->facts.space));
    int64_t most = hone_gpu_min(GPU_BLOCK_THREADS, g->limits->block_threads) / across;
    int64_t threads = hone_gpu_min(most, hone_gpu_power(length / ITEMS));
    HONE_TRY(hone_gpu_split(g, space, across, columns));
    HONE_TRY(hone_gpu_split(g, steps, threads, parts));
    bool is_even = length % (threads * AT_ONCE) == 0;
    uint32_t at = 0;
    if (is_even) HONE_TRY(hone_gpu_split(g, parts[0], AT_ONCE, inner));
    hone_rv order[6];
    if (pieces) order[at++] = *pieces;
    order[at++] = columns[0];
    order[at++] = columns[1];
    order[at++] = parts[1];
    order[at++] = is_even ? inner[0] : parts[0];
    if (is_even) order[at++] = inner[1];
    HONE_TRY(hone_sch_reorder(g->sch, at, order));
    HONE_TRY(hone_gpu_fuse(g, pieces ? 2 : 1, order, &grid));
    if (is_even) HONE_TRY(hone_sch_unroll(g->sch, inner[1]));
    HONE_TRY(hone_sch_bind(g->sch, parts[1], "threadIdx.y"));
    HONE_TRY(hone_sch_bind(g->sch, columns[1], "threadIdx.x"));
    return hone_sch_bind(g->sch, grid, "blockIdx.x");
}

/* Into so many pieces that there are blocks for all multiprocessors; 1: there are. */
static int64_t pieces_of_columns(const reduction *r) {
    int64_t blocks = (r->facts.space - 1) / MOST_COLUMNS + 1;
    int64_t wanted = COLUMN_BLOCKS * hone_gpu_multiprocessors(r->g) / blocks;
    return hone_gpu_max(1, hone_gpu_min(wanted, r->facts.reduce / LEAST_PIECE));
}

/* ILLEGAL where a block has not one loop over columns, one of pieces and one of steps. */
static hone_status reduce_columns(reduction *r) {
    hone_gpu *g = r->g;
    hone_rv parts[2], rows;
    hone_gpu_nest nest;
    HONE_TRY(join_loops(r));
    int64_t count = pieces_of_columns(r);
    if (count < 2) return share_columns(r, r->space, NULL, r->steps, r->facts.reduce);
    int64_t length = (r->facts.reduce - 1) / count + 1;
    length += LEAST_PIECE - 1 - (length - 1) % LEAST_PIECE;
    HONE_TRY(hone_gpu_split(g, r->steps, length, parts));
    HONE_TRY(hone_sch_rfactor(g->sch, parts[0], 0, &rows));
    HONE_TRY(hone_gpu_get_nest(g, rows, &nest));
    if (nest.count != 3) return hone_gpu_unfit();
    HONE_TRY(share_columns(r, nest.rvs[0], &nest.rvs[1], nest.rvs[2], length));
    return hone_gpu_bind(g, r->block);
}

/* ---- long rows ---- */

/* The innermost loop reduces, the others are spatial; each result by a block of threads. */
static hone_status reduce_innermost(hone_gpu *g, hone_rv block, int64_t threads, int64_t vector) {
    hone_gpu_nest nest;
    hone_rv space;
    HONE_TRY(hone_gpu_get_nest(g, block, &nest));
    hone_rv steps = nest.rvs[nest.count - 1];
    if (nest.count > 1) {
        HONE_TRY(hone_gpu_fuse(g, nest.count - 1, nest.rvs, &space));
    } else {
        HONE_TRY(hone_sch_add_unit_loop(g->sch, steps, &space));
    }
    HONE_TRY(share_steps(g, steps, threads, vector));
    return hone_sch_bind(g->sch, space, "blockIdx.x");
}

static hone_status reduce_pieces(reduction *r) {
    hone_gpu *g = r->g;
    hone_rv parts[2], pieces;
    int64_t wanted = BLOCKS_TO_FILL * hone_gpu_multiprocessors(g) / hone_gpu_max(r->facts.space, 1);
    int64_t count = hone_gpu_max(2, hone_gpu_min(wanted, r->facts.reduce / PIECE));
    HONE_TRY(join_loops(r));
    int64_t length = (r->facts.reduce - 1) / count + 1;
    length += PIECE - 1 - (length - 1) % PIECE; /* whole vectors of all threads */
    int64_t threads = reducing_threads(g, count * r->facts.space, length);
    count = (r->facts.reduce - 1) / length + 1;
    HONE_TRY(hone_gpu_split(g, r->steps, length, parts));
    HONE_TRY(hone_sch_rfactor(g->sch, parts[0], 0, &pieces));
    HONE_TRY(reduce_innermost(g, pieces, threads, neighbours(r, length, threads)));
    return reduce_innermost(g, r->block, reducing_threads(g, r->facts.space, count), 1);
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
