/* schedule/gpu/gpu_product.c - products by tiles, each result kept in a register of its thread:
 *
 *   for blockIdx.x over tiles: for threadIdx.x over parts of a tile:
 *     local = 0
 *     for k0:
 *       shared A, shared B = the rows and columns of k0's steps, by all threads, some k0 ahead
 *       for k1, i, j: local[i, j] += A[i, k1] * B[k1, j]
 *     C = local, with what follows
 *
 * Sizes that tiles do not divide are padded: zeros are put into the shared copies, and what lies
 * outside of the result is not written.
 */
#include "schedule/gpu/gpu_product.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum { MOST_UNROLLED = 1024, BANKS = 32, PADDING = 4 };

typedef struct product {
    hone_gpu *g;
    hone_rv block;
    hone_gpu_shape shape;
    hone_gpu_tile tile;
    hone_gpu_form form;
    int64_t threads;
    hone_rv thread, outer_steps; /* loops */
    hone_rv rows, columns, inner_steps;
} product;

static hone_status split_in_three(hone_gpu *g, hone_rv loop, int64_t tile, int64_t inner,
                                  const hone_rv **out) {
    const hone_factor factors[] = {
        {.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(tile / inner), HONE_FACTOR_OF_INT(inner)};
    return hone_sch_split(g->sch, loop, 3, factors, true, false, out);
}

static hone_status tile_loops(product *p) {
    hone_gpu *g = p->g;
    const hone_gpu_tile *t = &p->tile;
    hone_gpu_nest nest;
    HONE_TRY(hone_gpu_get_nest(g, p->block, &nest));
    if (nest.count < 3) return hone_gpu_unfit();
    const hone_rv *own = nest.rvs + nest.count - 3, *rows, *columns;
    hone_rv steps[2];
    HONE_TRY(split_in_three(g, own[0], t->rows, t->thread_rows, &rows));
    HONE_TRY(split_in_three(g, own[1], t->columns, t->thread_columns, &columns));
    HONE_TRY(hone_gpu_split(g, own[2], t->steps, steps));
    hone_rv batch = nest.count > 3 ? nest.rvs[0] : HONE_NO_ID, threads[] = {rows[1], columns[1]};
    hone_rv order[] = {rows[0],  columns[0], rows[1], columns[1],
                       steps[0], steps[1],   rows[2], columns[2]};
    HONE_TRY(hone_sch_reorder(g->sch, HONE_COUNT(order), order));
    HONE_TRY(hone_gpu_bind_tiles(g, &p->shape, batch, rows[0], columns[0]));
    HONE_TRY(hone_gpu_fuse(g, 2, threads, &p->thread));
    HONE_TRY(hone_sch_bind(g->sch, p->thread, "threadIdx.x"));
    p->outer_steps = steps[0];
    p->inner_steps = steps[1];
    p->rows = rows[2];
    p->columns = columns[2];
    return HONE_OK;
}

/* ---- the operands ---- */

static int64_t vector_of(const product *p, uint32_t operand) {
    const hone_gpu_side *side = &p->shape.sides[operand];
    int64_t lanes = GPU_VECTOR_BYTES * 8 / hone_gpu_max(p->shape.operand_bits, 8);
    int64_t last = side->last == GPU_STEPS  ? p->tile.steps
                   : side->last == GPU_ROWS ? p->tile.rows
                                            : p->tile.columns;
    while (lanes > 1 && (side->run % lanes != 0 || last % lanes != 0))
        lanes /= 2;
    return lanes;
}

static hone_status stage(product *p, uint32_t operand) {
    hone_rv copy, fused;
    const hone_gpu_side *side = &p->shape.sides[operand];
    gpu_group last = p->form.last[operand == p->shape.rows_operand ? 0 : 1];
    bool is_turned = side->last != last;
    HONE_TRY(hone_sch_cache_read(p->g->sch, p->block, operand, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_compute_at(p->g->sch, copy, p->outer_steps, true, -1));
    HONE_TRY(hone_gpu_join_prologue(p->g, copy));
    HONE_TRY(hone_gpu_fuse_copy(p->g, copy, p->outer_steps, side, last, &fused));
    if (is_turned) HONE_TRY(hone_sch_storage_align(p->g->sch, copy, 0, -2, BANKS, PADDING));
    return hone_gpu_share(p->g, fused, HONE_FACTOR_OF_INT(p->threads),
                          is_turned ? 1 : vector_of(p, operand), NULL);
}

/* ---- the results ---- */

/* A loop over columns of one thread, as vectors where they are many. */
static hone_status vectorize_columns(product *p, hone_rv loop, hone_rv *out_rest) {
    hone_rv parts[2];
    int64_t lanes = GPU_VECTOR_BYTES * 8 / hone_gpu_max(p->shape.bits, 8);
    *out_rest = HONE_NO_ID;
    if (lanes < 2 || p->tile.thread_columns % lanes != 0) {
        *out_rest = loop;
        return HONE_OK;
    }
    if (p->tile.thread_columns > lanes) {
        HONE_TRY(hone_gpu_split(p->g, loop, lanes, parts));
        *out_rest = parts[0];
        loop = parts[1];
    }
    return hone_sch_vectorize(p->g->sch, loop);
}

static hone_status unroll(product *p, hone_rv loop) {
    return loop == HONE_NO_ID ? HONE_OK : hone_sch_unroll(p->g->sch, loop);
}

/* The last two loops around a block are rows and columns of a thread. */
static hone_status unroll_results(product *p, hone_rv block, bool in_vectors) {
    hone_gpu_nest nest;
    hone_rv rest;
    HONE_TRY(hone_gpu_get_nest(p->g, block, &nest));
    if (nest.count < 2) return hone_gpu_unfit();
    rest = nest.rvs[nest.count - 1];
    if (in_vectors) HONE_TRY(vectorize_columns(p, rest, &rest));
    HONE_TRY(unroll(p, nest.rvs[nest.count - 2]));
    return unroll(p, rest);
}

/* The result lies along columns, and no vector goes over its edge. */
static bool writes_vectors(const product *p) {
    const hone_gpu_side *side = &p->shape.sides[2];
    int64_t lanes = GPU_VECTOR_BYTES * 8 / hone_gpu_max(p->shape.bits, 8);
    return side->last == GPU_COLUMNS && side->run % lanes == 0;
}

static hone_status unroll_sums(product *p) {
    hone_rv rest;
    HONE_TRY(vectorize_columns(p, p->columns, &rest));
    HONE_TRY(unroll(p, p->rows));
    HONE_TRY(unroll(p, rest));
    bool is_small = p->tile.steps * p->tile.thread_rows * p->tile.thread_columns <= MOST_UNROLLED;
    return is_small ? hone_sch_unroll(p->g->sch, p->inner_steps) : HONE_OK;
}

hone_status hone_gpu_product(hone_gpu *g, hone_rv block) {
    product p = {.g = g, .block = block};
    hone_rv results, init;
    HONE_TRY(hone_gpu_read_shape(g, block, &p.shape));
    p.tile = hone_gpu_choose_tile(g, &p.shape);
    if (p.tile.rows == 0) return hone_gpu_unfit();
    p.threads = p.tile.rows / p.tile.thread_rows * (p.tile.columns / p.tile.thread_columns);
    p.form = (hone_gpu_form){
        {1,             p.tile.rows, p.tile.columns, p.tile.steps},
        {p.shape.sides[p.shape.rows_operand].last, GPU_COLUMNS           }
    };
    if (p.form.last[0] != GPU_ROWS) p.form.last[0] = GPU_STEPS;
    HONE_TRY(hone_gpu_to_matrices(g, block, &p.shape, &p.form));
    HONE_TRY(hone_sch_cache_write(g->sch, block, 0, "local", 0, NULL, &results));
    HONE_TRY(tile_loops(&p));
    HONE_TRY(hone_sch_reverse_compute_at(g->sch, results, p.thread, true, -1));
    HONE_TRY(hone_gpu_join_epilogue(g, results));
    HONE_TRY(stage(&p, 0));
    HONE_TRY(stage(&p, 1));
    HONE_TRY(hone_gpu_copy_ahead(g, p.outer_steps, p.tile.stages, false));
    HONE_TRY(hone_sch_decompose_reduction(g->sch, block, p.outer_steps, &init));
    HONE_TRY(unroll_results(&p, init, true));
    HONE_TRY(unroll_results(&p, results, writes_vectors(&p)));
    return unroll_sums(&p);
}
