/* schedule/gpu/gpu_groups.c - products on matrix units by groups of four warps (wgmma of sm_90a),
 * which read what they multiply out of shared memory:
 *
 *   for blockIdx.x over tiles: for threadIdx.y over groups:
 *     sums = 0
 *     for k0:
 *       shared A, shared B = the rows and columns of k0's steps, by all threads, some k0 ahead
 *       sums += A * B
 *     for j:
 *       shared = sums[:, j]
 *       the result = shared, with what follows
 *
 * In shared memory an operand lies as columns whose rows are 128 bytes, as the instructions of
 * schedule/intrin/tensor_intrin_wgmma.c have it; which piece of a row lies where is code
 * generation's (codegen/nvptx/ptx_wgmma.c). */
#include <stdio.h>
#include <string.h>

#include "ir/text/map/index_map_parse.h"
#include "schedule/gpu/gpu_product.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum {
    ROWS = 64,           /* of a group */
    THREADS = 128,       /* of a group */
    STORED_COLUMNS = 32, /* that are on their way out at once */
    LEAST_GOING_ON = 2,  /* tiles of steps, where products of two are under way */
    PADDING = 8,         /* elements behind a row of results: rows begin in other banks */
    COLUMN_BYTES = 128,  /* of a row of a column */
};

static const struct {
    hone_dtype operand, result;
    const char *types, *sum; /* parts of their names */
    bool needs_steps_last;   /* columns of both operands lie along the steps */
} units[] = {
    {HONE_DTYPE_INIT(FLOAT,  16, 1), HONE_DTYPE_INIT(FLOAT, 32, 1), "f16f16f32",   "f32", false},
    {HONE_DTYPE_INIT(FLOAT,  16, 1), HONE_DTYPE_INIT(FLOAT, 16, 1), "f16f16f16",   "f16", false},
    {HONE_DTYPE_INIT(BFLOAT, 16, 1), HONE_DTYPE_INIT(FLOAT, 32, 1), "bf16bf16f32", "f32", false},
    {HONE_DTYPE_INIT(INT,    8,  1), HONE_DTYPE_INIT(INT,   32, 1), "s8s8s32",     "s32", true },
};

typedef struct groups {
    hone_gpu *g;
    hone_rv block; /* of one tile, soon */
    hone_gpu_shape shape;
    hone_gpu_form form;
    hone_gpu_tile tile; /* thread_rows, thread_columns: of a group */
    uint32_t unit;
    int64_t side; /* elements of a row of a column */
    hone_rv group, outer_steps, stages[2], store;
} groups;

static hone_status find_unit(groups *w) {
    const hone_gpu_shape *s = &w->shape;
    for (w->unit = 0; w->unit < HONE_COUNT(units); w->unit++) {
        if (hone_dtype_equal(s->types[0], units[w->unit].operand) &&
            hone_dtype_equal(s->types[1], units[w->unit].operand) &&
            hone_dtype_equal(s->types[2], units[w->unit].result))
            return HONE_OK;
    }
    return hone_gpu_unfit();
}

/* ---- loops ---- */

static hone_status tile_loops(groups *w) {
    hone_gpu *g = w->g;
    const hone_gpu_tile *t = &w->tile;
    hone_gpu_nest nest;
    const hone_rv *i, *j;
    hone_rv steps[2], tile;
    HONE_TRY(hone_gpu_get_nest(g, w->block, &nest));
    const hone_rv *own = nest.rvs + nest.count - 3;
    const hone_factor down[] = {{.kind = HONE_FACTOR_NONE},
                                HONE_FACTOR_OF_INT(t->rows / t->thread_rows),
                                HONE_FACTOR_OF_INT(t->thread_rows)};
    const hone_factor right[] = {{.kind = HONE_FACTOR_NONE},
                                 HONE_FACTOR_OF_INT(t->columns / t->thread_columns),
                                 HONE_FACTOR_OF_INT(t->thread_columns)};
    HONE_TRY(hone_sch_split(g->sch, own[0], 3, down, true, false, &i));
    HONE_TRY(hone_sch_split(g->sch, own[1], 3, right, true, false, &j));
    HONE_TRY(hone_gpu_split(g, own[2], t->steps, steps));
    hone_rv order[] = {i[0], j[0], i[1], j[1], steps[0], i[2], j[2], steps[1]};
    HONE_TRY(hone_sch_reorder(g->sch, HONE_COUNT(order), order));
    HONE_TRY(hone_sch_blockize_loop(g->sch, i[2], true, &tile));
    hone_rv batch = nest.count > 3 ? nest.rvs[0] : HONE_NO_ID, both[] = {i[1], j[1]};
    HONE_TRY(hone_gpu_bind_tiles(g, &w->shape, batch, i[0], j[0]));
    HONE_TRY(hone_gpu_fuse(g, 2, both, &w->group));
    HONE_TRY(hone_sch_bind(g->sch, w->group, "threadIdx.y"));
    w->outer_steps = steps[0];
    w->block = tile;
    return HONE_OK;
}

/* ---- what buffers hold ---- */

/* The map leads others to the same elements, which are written anew before they are read. */
static hone_status lay_out(groups *w, hone_rv block, const char *indices) {
    char text[192];
    const hone_index_map *map;
    snprintf(text, sizeof text, "lambda %si, j: (%s)", w->shape.has[GPU_BATCH] ? "b, " : "",
             indices);
    py_source source = {.name = "gpu_groups", .text = text, .length = strlen(text)};
    HONE_TRY(hone_index_map_parse(w->g->sch->arena, &source, NULL, 0, &map));
    return hone_sch_transform_layout(w->g->sch, block, true, 0, map, NULL, true);
}

/* Columns of an operand, which lie along j. */
static hone_status lay_out_columns(groups *w, hone_rv stage, int64_t rows, int64_t columns) {
    char indices[128];
    long long side = w->side;
    snprintf(indices, sizeof indices, "j // %lld %% %lld, i %% %lld, j %% %lld", side,
             (long long)columns / side, (long long)rows, side);
    return lay_out(w, stage, indices);
}

static hone_status lay_out_all(groups *w) {
    const hone_gpu_tile *t = &w->tile;
    char indices[128];
    uint32_t rows = w->shape.rows_operand, columns = 1 - rows;
    snprintf(indices, sizeof indices, "i // %d %% %lld, j // %lld %% %lld, i %% %d, j %% %d", ROWS,
             (long long)(t->rows / ROWS), (long long)t->thread_columns,
             (long long)(t->columns / t->thread_columns), ROWS, STORED_COLUMNS);
    HONE_TRY(lay_out(w, w->store, indices));
    HONE_TRY(hone_sch_storage_align(w->g->sch, w->store, 0, -2, STORED_COLUMNS, PADDING));
    snprintf(indices, sizeof indices, "i %% %d, j %% %lld", ROWS, (long long)t->thread_columns);
    HONE_TRY(lay_out(w, w->block, indices));
    HONE_TRY(lay_out_columns(w, w->stages[rows], t->rows, t->steps));
    return w->form.last[1] == GPU_COLUMNS
               ? lay_out_columns(w, w->stages[columns], t->steps, t->columns)
               : lay_out_columns(w, w->stages[columns], t->columns, t->steps);
}

/* ---- copies ---- */

static hone_status stage(groups *w, uint32_t operand) {
    hone_gpu *g = w->g;
    hone_rv copy, fused;
    const hone_rv *parts = NULL;
    const hone_gpu_side *side = &w->shape.sides[operand];
    gpu_group last = w->form.last[operand == w->shape.rows_operand ? 0 : 1];
    HONE_TRY(hone_sch_cache_read(g->sch, w->block, operand, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_compute_at(g->sch, copy, w->outer_steps, true, -1));
    HONE_TRY(hone_gpu_join_prologue(g, copy));
    HONE_TRY(hone_gpu_fuse_copy(g, copy, w->outer_steps, side, last, &fused));
    int64_t vector = side->last == last ? hone_gpu_min(GPU_VECTOR_BYTES * 8 / w->shape.operand_bits,
                                                       side->run & -side->run)
                                        : 1;
    int64_t count = w->tile.rows / w->tile.thread_rows * (w->tile.columns / w->tile.thread_columns);
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE},
                                   HONE_FACTOR_OF_INT(count),
                                   HONE_FACTOR_OF_INT(THREADS),
                                   HONE_FACTOR_OF_INT(vector)};
    HONE_TRY(hone_sch_split(g->sch, fused, HONE_COUNT(factors), factors, true, false, &parts));
    HONE_TRY(hone_sch_bind(g->sch, parts[1], "threadIdx.y"));
    HONE_TRY(hone_sch_bind(g->sch, parts[2], "threadIdx.x"));
    w->stages[operand] = copy;
    return hone_sch_vectorize(g->sch, parts[3]);
}

/* Threads of a group copy columns of its tile out, neighbours side by side. */
static hone_status share_results(groups *w, hone_rv copy) {
    hone_gpu_nest nest;
    hone_rv fused, parts[2], lanes[2];
    HONE_TRY(hone_gpu_get_nest(w->g, copy, &nest));
    HONE_TRY(hone_gpu_fuse(w->g, 2, nest.rvs + nest.count - 2, &fused));
    const hone_gpu_side *side = &w->shape.sides[2];
    int64_t vector = side->last == GPU_COLUMNS ? hone_gpu_min(4, side->run & -side->run) : 1;
    HONE_TRY(hone_gpu_split(w->g, fused, vector, parts));
    HONE_TRY(hone_gpu_split(w->g, parts[0], THREADS, lanes));
    HONE_TRY(hone_sch_bind(w->g->sch, lanes[1], "threadIdx.x"));
    return hone_sch_vectorize(w->g->sch, parts[1]);
}

/* out_tile: the loop over rows of what is stored. */
static hone_status put_results(groups *w, hone_rv *out_tile) {
    hone_schedule *sch = w->g->sch;
    hone_rv copy, columns[2];
    hone_gpu_nest nest;
    HONE_TRY(hone_sch_cache_write(sch, w->block, 0, "wgmma.accumulator", 0, NULL, &w->store));
    HONE_TRY(hone_sch_reverse_compute_at(sch, w->store, w->group, true, -1));
    HONE_TRY(hone_gpu_get_nest(w->g, w->store, &nest));
    hone_rv rows = nest.rvs[nest.count - 2];
    HONE_TRY(hone_gpu_split(w->g, nest.rvs[nest.count - 1], STORED_COLUMNS, columns));
    hone_rv order[] = {columns[0], rows, columns[1]};
    HONE_TRY(hone_sch_reorder(sch, 3, order));
    HONE_TRY(hone_sch_unroll(sch, columns[0]));
    *out_tile = rows;
    HONE_TRY(hone_sch_cache_write(sch, w->store, 0, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_reverse_compute_at(sch, copy, columns[0], true, -1));
    HONE_TRY(hone_gpu_join_epilogue(w->g, copy));
    return share_results(w, copy);
}

static hone_status put_intrinsics(groups *w, hone_rv store_tile) {
    char name[64];
    hone_rv init;
    const hone_gpu_tile *t = &w->tile;
    bool is_trans = w->form.last[1] != GPU_COLUMNS;
    HONE_TRY(hone_sch_decompose_reduction(w->g->sch, w->block, w->outer_steps, &init));
    HONE_TRY(lay_out_all(w));
    snprintf(name, sizeof name, "wgmma_store_64x32x16_%s_shared", units[w->unit].sum);
    HONE_TRY(hone_sch_tensorize(w->g->sch, store_tile, name, true));
    snprintf(name, sizeof name, "wgmma_fill_64x%lldx16_%s", (long long)t->thread_columns,
             units[w->unit].sum);
    HONE_TRY(hone_sch_tensorize(w->g->sch, init, name, true));
    snprintf(name, sizeof name, "wgmma_sync_64x%lldx%lld_%s%s", (long long)t->thread_columns,
             (long long)t->steps, units[w->unit].types, is_trans ? "_trans" : "");
    return hone_sch_tensorize(w->g->sch, w->block, name, true);
}

static hone_status multiply(groups *w) {
    hone_rv store_tile;
    w->form = (hone_gpu_form){
        {1,              w->tile.rows, w->tile.columns, w->tile.steps},
        {GPU_STEPS, w->shape.sides[1 - w->shape.rows_operand].last            }
    };
    if (w->form.last[1] != GPU_COLUMNS || units[w->unit].needs_steps_last)
        w->form.last[1] = GPU_STEPS;
    HONE_TRY(hone_gpu_to_matrices(w->g, w->block, &w->shape, &w->form));
    HONE_TRY(tile_loops(w));
    HONE_TRY(put_results(w, &store_tile));
    HONE_TRY(stage(w, 0));
    HONE_TRY(stage(w, 1));
    HONE_TRY(
        hone_gpu_copy_ahead(w->g, w->outer_steps, w->tile.stages, w->tile.stages > LEAST_GOING_ON));
    return put_intrinsics(w, store_tile);
}

static hone_status begin(groups *w) {
    if (!w->g->limits->has_group_units) return hone_gpu_unfit();
    HONE_TRY(hone_gpu_read_shape(w->g, w->block, &w->shape));
    HONE_TRY(find_unit(w));
    w->side = COLUMN_BYTES * 8 / w->shape.operand_bits;
    return HONE_OK;
}

hone_status hone_gpu_groups(hone_gpu *g, hone_rv block) {
    groups w = {.g = g, .block = block};
    HONE_TRY(begin(&w));
    w.tile = hone_gpu_choose_group_tile(g, &w.shape);
    return w.tile.rows ? multiply(&w) : hone_gpu_unfit();
}

hone_status hone_gpu_sketch_groups(hone_schedule *sch, hone_rv block, const hone_gpu_limits *limits,
                                   uint32_t number) {
    hone_gpu g = {sch, limits};
    groups w = {.g = &g, .block = block};
    HONE_TRY(begin(&w));
    w.tile = hone_gpu_group_tile(&g, &w.shape, number);
    if (w.tile.rows == 0) return hone_gpu_unfit();
    HONE_TRY(hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("SSSRRSRS"),
                               HONE_NO_ID));
    return multiply(&w);
}
