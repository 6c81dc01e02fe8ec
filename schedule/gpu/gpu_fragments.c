/* schedule/gpu/gpu_fragments.c - products on matrix units: warps multiply tiles of 16 x 16 x 16
 * that they hold as fragments.
 *
 *   for blockIdx.x over tiles: for threadIdx.y over warps:
 *     fragments C = 0
 *     for k0:
 *       shared A, shared B = the rows and columns of k0's steps, fetched by all threads together
 *       for k1: fragments A, B = of k1's 16 steps; for i, j: C[i, j] += A[i] * B[j]
 *     for i, j: shared = C[i, j]; the result = shared, with what follows
 */
#include <stdio.h>
#include <string.h>

#include "schedule/gpu/gpu_product.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum {
    SIDE = 16,   /* of a fragment */
    PADDING = 8, /* elements behind a row of a shared tile: rows begin in other banks */
};

/* Which intrinsics there are, by what is multiplied and added up. */
static const struct {
    hone_dtype operand, result;
    const char *load, *sync, *store; /* parts of their names */
} units[] = {
    {HONE_DTYPE_INIT(FLOAT, 16, 1), HONE_DTYPE_INIT(FLOAT, 32, 1), "f16", "f16f16f32", "f32"},
    {HONE_DTYPE_INIT(INT,   8,  1), HONE_DTYPE_INIT(INT,   32, 1), "s8",  "s8s8s32",   "s32"},
};

typedef struct fragments {
    hone_gpu *g;
    hone_rv block; /* of one tile of 16 x 16 x 16, soon */
    hone_gpu_shape shape;
    hone_gpu_tile tile; /* thread_rows, thread_columns: of a warp */
    hone_gpu_form form;
    uint32_t unit;
    hone_rv warp, outer_steps, inner_steps;
} fragments;

static hone_status find_unit(fragments *f) {
    const hone_gpu_shape *s = &f->shape;
    for (f->unit = 0; f->unit < HONE_COUNT(units); f->unit++) {
        if (hone_dtype_equal(s->types[0], units[f->unit].operand) &&
            hone_dtype_equal(s->types[1], units[f->unit].operand) &&
            hone_dtype_equal(s->types[2], units[f->unit].result))
            return HONE_OK;
    }
    return hone_gpu_unfit();
}

/* By the intrinsic that moves a fragment to or from shared memory. */
static hone_status tensorize_copy(fragments *f, hone_rv loop, const char *verb, const char *type,
                                  const char *side) {
    char name[64];
    snprintf(name, sizeof name, "wmma_%s_16x16x16_%s%s_shared", verb, type, side);
    return hone_sch_tensorize(f->g->sch, loop, name, true);
}

/* ---- loops ---- */

static hone_status split(fragments *f, hone_rv loop, uint32_t count, int64_t a, int64_t b,
                         const hone_rv **out) {
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE},
                                   HONE_FACTOR_OF_INT(a),
                                   HONE_FACTOR_OF_INT(b),
                                   HONE_FACTOR_OF_INT(SIDE)};
    hone_factor last[] = {factors[0], factors[1], factors[3]};
    return hone_sch_split(f->g->sch, loop, count, count == 4 ? factors : last, true, false, out);
}

static hone_status tile_loops(fragments *f) {
    hone_gpu *g = f->g;
    const hone_gpu_tile *t = &f->tile;
    hone_gpu_nest nest;
    const hone_rv *i, *j, *k;
    hone_rv tile, batch;
    HONE_TRY(hone_gpu_get_nest(g, f->block, &nest));
    const hone_rv *own = nest.rvs + nest.count - 3;
    HONE_TRY(split(f, own[0], 4, t->rows / t->thread_rows, t->thread_rows / SIDE, &i));
    HONE_TRY(split(f, own[1], 4, t->columns / t->thread_columns, t->thread_columns / SIDE, &j));
    HONE_TRY(split(f, own[2], 3, t->steps / SIDE, 0, &k));
    hone_rv order[] = {i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2], i[3], j[3], k[2]};
    HONE_TRY(hone_sch_reorder(g->sch, HONE_COUNT(order), order));
    HONE_TRY(hone_sch_blockize_loop(g->sch, i[3], true, &tile));
    batch = nest.count > 3 ? nest.rvs[0] : HONE_NO_ID;
    hone_rv warps[] = {i[1], j[1]};
    HONE_TRY(hone_gpu_bind_tiles(g, &f->shape, batch, i[0], j[0]));
    HONE_TRY(hone_gpu_fuse(g, 2, warps, &f->warp));
    HONE_TRY(hone_sch_bind(g->sch, f->warp, "threadIdx.y"));
    HONE_TRY(hone_sch_unroll(g->sch, i[2]));
    HONE_TRY(hone_sch_unroll(g->sch, j[2]));
    f->outer_steps = k[0];
    f->inner_steps = k[1];
    f->block = tile;
    return HONE_OK;
}

/* The last two loops around a block become tiles of 16 x 16: for rows, columns of tiles, in them.
 */
static hone_status tile_copy(fragments *f, hone_rv copy, hone_rv out[4]) {
    hone_gpu_nest nest;
    HONE_TRY(hone_gpu_get_nest(f->g, copy, &nest));
    hone_rv rows[2], columns[2];
    HONE_TRY(hone_gpu_split(f->g, nest.rvs[nest.count - 2], SIDE, rows));
    HONE_TRY(hone_gpu_split(f->g, nest.rvs[nest.count - 1], SIDE, columns));
    hone_rv order[] = {rows[0], columns[0], rows[1], columns[1]};
    memcpy(out, order, sizeof order);
    HONE_TRY(hone_sch_reorder(f->g->sch, 4, order));
    HONE_TRY(hone_sch_unroll(f->g->sch, rows[0]));
    return hone_sch_unroll(f->g->sch, columns[0]);
}

/* ---- results ---- */

/* A tile of each warp lies by itself, so that it is one box of the warp's. */
static hone_status part_by_warps(fragments *f, hone_rv store) {
    char text[256];
    const hone_index_map *map;
    int64_t rows = f->tile.thread_rows, columns = f->tile.thread_columns;
    const char *batch = f->shape.has[GPU_BATCH] ? "b, " : "";
    snprintf(text, sizeof text,
             "lambda %si, j: (%si // %lld, j // %lld, i %% %lld // 16, j %% %lld // 16, i %% 16, "
             "j %% 16)",
             batch, batch, (long long)rows, (long long)columns, (long long)rows,
             (long long)columns);
    HONE_TRY(hone_gpu_read_map(f->g, text, &map));
    return hone_sch_transform_layout(f->g->sch, store, true, 0, map, NULL, false);
}

/* Lanes of a warp copy a tile out, neighbours along columns. */
static hone_status share_results(fragments *f, hone_rv copy) {
    hone_gpu_nest nest;
    hone_rv fused, parts[2], lanes[2];
    HONE_TRY(hone_gpu_get_nest(f->g, copy, &nest));
    HONE_TRY(hone_gpu_fuse(f->g, 2, nest.rvs + nest.count - 2, &fused));
    int64_t vector = SIDE * SIDE / f->g->limits->warp;
    const hone_gpu_side *side = &f->shape.sides[2];
    while (vector > 1 && (side->last != GPU_COLUMNS || side->run % vector != 0))
        vector /= 2;
    if (vector > 4) vector = 4;
    if (vector == 1) {
        HONE_TRY(hone_gpu_split(f->g, fused, f->g->limits->warp, lanes));
        return hone_sch_bind(f->g->sch, lanes[1], "threadIdx.x");
    }
    HONE_TRY(hone_gpu_split(f->g, fused, vector, parts));
    HONE_TRY(hone_gpu_split(f->g, parts[0], f->g->limits->warp, lanes));
    HONE_TRY(hone_sch_bind(f->g->sch, lanes[1], "threadIdx.x"));
    return hone_sch_vectorize(f->g->sch, parts[1]);
}

/* out_store: the block that stores fragments. */
static hone_status put_results(fragments *f, hone_rv *out_store, hone_rv *out_tile) {
    hone_schedule *sch = f->g->sch;
    hone_rv copy, loops[4];
    HONE_TRY(hone_sch_cache_write(sch, f->block, 0, "wmma.accumulator", 0, NULL, out_store));
    HONE_TRY(hone_sch_reverse_compute_at(sch, *out_store, f->warp, true, -1));
    HONE_TRY(tile_copy(f, *out_store, loops));
    *out_tile = loops[2];
    HONE_TRY(hone_sch_cache_write(sch, *out_store, 0, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_reverse_compute_at(sch, copy, loops[1], true, -1));
    HONE_TRY(part_by_warps(f, *out_store));
    HONE_TRY(hone_gpu_join_epilogue(f->g, copy));
    return share_results(f, copy);
}

/* ---- operands ---- */

static int64_t vector_of(const fragments *f, uint32_t operand) {
    const hone_gpu_side *side = &f->shape.sides[operand];
    int64_t lanes = GPU_VECTOR_BYTES / (int64_t)hone_dtype_bytes(f->shape.types[operand]);
    while (lanes > 1 && side->run % lanes != 0)
        lanes /= 2;
    return lanes;
}

/* The copy to shared memory: fetched by all warps together. */
static hone_status stage(fragments *f, uint32_t operand, hone_rv load) {
    hone_gpu *g = f->g;
    hone_rv copy, fused, warps[2];
    const hone_gpu_side *side = &f->shape.sides[operand];
    gpu_group last = f->form.last[operand == f->shape.rows_operand ? 0 : 1];
    bool is_turned = side->last != last;
    HONE_TRY(hone_sch_cache_read(g->sch, load, 0, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_compute_at(g->sch, copy, f->outer_steps, true, -1));
    HONE_TRY(hone_gpu_join_prologue(g, copy));
    HONE_TRY(hone_gpu_fuse_copy(g, copy, f->outer_steps, side, last, &fused));
    HONE_TRY(hone_sch_storage_align(g->sch, copy, 0, -2, 2 * SIDE, PADDING));
    int64_t count = f->tile.rows / f->tile.thread_rows * (f->tile.columns / f->tile.thread_columns);
    HONE_TRY(
        hone_gpu_share(g, fused, g->limits->warp, is_turned ? 1 : vector_of(f, operand), &fused));
    HONE_TRY(hone_gpu_split(g, fused, count, warps));
    return hone_sch_bind(g->sch, warps[1], "threadIdx.y");
}

/* The fragments of an operand for 16 steps. out_tile: the loop of one of them. */
static hone_status load(fragments *f, uint32_t operand, hone_rv *out_tile) {
    hone_rv copy, loops[4];
    bool is_rows = operand == f->shape.rows_operand;
    HONE_TRY(hone_sch_cache_read(f->g->sch, f->block, operand,
                                 is_rows ? "wmma.matrix_a" : "wmma.matrix_b", 0, NULL, &copy));
    HONE_TRY(hone_sch_compute_at(f->g->sch, copy, f->inner_steps, true, -1));
    HONE_TRY(stage(f, operand, copy));
    HONE_TRY(tile_copy(f, copy, loops));
    *out_tile = loops[2];
    return HONE_OK;
}

static hone_status put_intrinsics(fragments *f, hone_rv store, const hone_rv loads[2]) {
    char name[64];
    hone_rv init;
    uint32_t rows = f->shape.rows_operand, columns = 1 - rows;
    bool is_trans = f->form.last[1] != GPU_COLUMNS;
    const char *type = units[f->unit].load, *sum = units[f->unit].store;
    HONE_TRY(hone_sch_decompose_reduction(f->g->sch, f->block, f->outer_steps, &init));
    HONE_TRY(tensorize_copy(f, loads[rows], "load", type, "_a"));
    HONE_TRY(tensorize_copy(f, loads[columns], "load", type, is_trans ? "_b_trans" : "_b"));
    HONE_TRY(tensorize_copy(f, store, "store", sum, ""));
    snprintf(name, sizeof name, "wmma_fill_16x16x16_%s", sum);
    HONE_TRY(hone_sch_tensorize(f->g->sch, init, name, true));
    snprintf(name, sizeof name, "wmma_sync_16x16x16_%s%s", units[f->unit].sync,
             is_trans ? "_trans" : "");
    return hone_sch_tensorize(f->g->sch, f->block, name, true);
}

hone_status hone_gpu_fragments(hone_gpu *g, hone_rv block) {
    fragments f = {.g = g, .block = block};
    hone_rv store, store_tile, loads[2];
    if (!g->limits->has_matrix_units) return hone_gpu_unfit();
    HONE_TRY(hone_gpu_read_shape(g, block, true, &f.shape));
    HONE_TRY(find_unit(&f));
    f.tile = hone_gpu_choose_warp_tile(g, &f.shape);
    if (f.tile.rows == 0) return hone_gpu_unfit();
    f.form = (hone_gpu_form){
        {1,             f.tile.rows, f.tile.columns, f.tile.steps},
        {GPU_STEPS, f.shape.sides[1 - f.shape.rows_operand].last           }
    };
    if (f.form.last[1] != GPU_COLUMNS) f.form.last[1] = GPU_STEPS;
    HONE_TRY(hone_gpu_to_matrices(g, block, &f.shape, &f.form));
    HONE_TRY(tile_loops(&f));
    HONE_TRY(put_results(&f, &store, &store_tile));
    HONE_TRY(load(&f, 0, &loads[0]));
    HONE_TRY(load(&f, 1, &loads[1]));
    return put_intrinsics(&f, store_tile, loads);
}
