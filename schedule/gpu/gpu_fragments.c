/* schedule/gpu/gpu_fragments.c - products on matrix units: warps multiply tiles of 16 x 16 x 16,
 * or of 8 steps where floats are rounded (variant tf32), that they hold as fragments.
 *
 *   for blockIdx.x over tiles: for threadIdx.y over warps:
 *     fragments C = 0
 *     for k0:
 *       shared A, shared B = the rows and columns of k0's steps, fetched by all threads together
 *       for k1: fragments A, B = of k1's steps; for i, j: C[i, j] += A[i] * B[j]
 *     for i, j: shared = C[i, j]; the result = shared, with what follows
 */
#include <stdio.h>
#include <string.h>

#include "ir/text/map/index_map_parse.h"
#include "schedule/gpu/gpu_product.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"
#include "schedule/variant/tf32.h"

enum {
    SIDE = 16,          /* of a fragment: rows, columns */
    MOST_FRAGMENTS = 4, /* of a warp, in one direction, when sampled */
    PADDING_BITS = 128, /* behind a row of a shared tile: rows begin in other banks, and, as units
                           load them, at multiples of 16 bytes */
};

/* Which intrinsics there are, by what is multiplied and added up. Sums of half floats that the
 * program rounds after each addition are rounded after sixteen. */
static const struct {
    hone_dtype operand, result;
    const char *load, *sync, *store; /* parts of their names */
    int64_t depth;                   /* steps of a fragment */
} units[] = {
    {HONE_DTYPE_INIT(FLOAT,  16, 1), HONE_DTYPE_INIT(FLOAT, 32, 1), "f16",  "f16f16f32",   "f32", 16},
    {HONE_DTYPE_INIT(FLOAT,  16, 1), HONE_DTYPE_INIT(FLOAT, 16, 1), "f16",  "f16f16f16",   "f16", 16},
    {HONE_DTYPE_INIT(BFLOAT, 16, 1), HONE_DTYPE_INIT(FLOAT, 32, 1), "bf16", "bf16bf16f32", "f32",
     16                                                                                             },
    {HONE_DTYPE_INIT(INT,    8,  1), HONE_DTYPE_INIT(INT,   32, 1), "s8",   "s8s8s32",     "s32", 16},
    {HONE_DTYPE_INIT(FLOAT,  32, 1), HONE_DTYPE_INIT(FLOAT, 32, 1), "tf32", "tf32tf32f32", "f32", 8 },
};

typedef struct fragments {
    hone_gpu *g;
    hone_rv block; /* of one fragment, soon */
    hone_gpu_shape shape;
    hone_gpu_tile tile; /* thread_rows, thread_columns: of a warp */
    hone_gpu_form form;
    uint32_t unit;
    int64_t depth; /* of the unit */
    bool is_sampled;
    hone_rv sampled[5]; /* sizes, as in size_names */
    int64_t decided[6];
    hone_rv store, loads[2], stages[2]; /* copies, by operand */
    hone_rv warp, outer_steps, inner_steps;
} fragments;

static bool has_unit(const hone_gpu_limits *limits, uint32_t unit) {
    bool is_later =
        units[unit].operand.code == HONE_DTYPE_CODE_BFLOAT || units[unit].operand.bits == 32;
    return is_later ? limits->has_bfloat_units : limits->has_matrix_units;
}

static bool is_rounded_product(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return hone_expr_is_op(e, HONE_OP_MUL) && hone_tf32_is_rounded(e->args[0]) &&
           hone_tf32_is_rounded(e->args[1]);
}

/* The program rounds floats of 32 bits as the units do. */
static bool rounds(const fragments *f) {
    const hone_func *func = f->g->sch->func;
    hone_node_id node;
    hone_status st = hone_schedule_node(f->g->sch, f->block, &node);
    hone_node_id body = st ? HONE_NO_ID : hone_block_body_of(func, node);
    hone_status_free(st);
    return body != HONE_NO_ID && hone_func_node(func, body)->kind == HONE_NODE_STORE &&
           hone_expr_find(hone_func_node(func, body)->u.store.value, is_rounded_product, NULL);
}

static hone_status find_unit(fragments *f) {
    const hone_gpu_shape *s = &f->shape;
    for (f->unit = 0; f->unit < HONE_COUNT(units); f->unit++) {
        if (has_unit(f->g->limits, f->unit) &&
            hone_dtype_equal(s->types[0], units[f->unit].operand) &&
            hone_dtype_equal(s->types[1], units[f->unit].operand) &&
            hone_dtype_equal(s->types[2], units[f->unit].result) &&
            (units[f->unit].operand.bits < 32 || rounds(f))) {
            f->depth = units[f->unit].depth;
            return HONE_OK;
        }
    }
    return hone_gpu_unfit();
}

/* By the intrinsic that moves a fragment to or from shared memory. */
static hone_status tensorize_copy(fragments *f, hone_rv loop, const char *verb, const char *type,
                                  const char *side) {
    char name[64];
    snprintf(name, sizeof name, "wmma_%s_16x16x%lld_%s%s_shared", verb, (long long)f->depth, type,
             side);
    return hone_sch_tensorize(f->g->sch, loop, name, true);
}

/* ---- loops ---- */

/* The loop over fragments in parts, decided or sampled; sizes: their lengths as the sampling gave
 * them. */
static hone_status split_tiles(fragments *f, hone_rv loop, uint32_t count, const int64_t *decided,
                               const hone_rv **out, const hone_rv **out_sizes) {
    hone_factor factors[3] = {{.kind = HONE_FACTOR_NONE}};
    if (f->is_sampled)
        HONE_TRY(
            hone_sch_sample_perfect_tile(f->g->sch, loop, count, MOST_FRAGMENTS, NULL, out_sizes));
    for (uint32_t i = 0; i < count; i++) {
        if (f->is_sampled)
            factors[i] = HONE_FACTOR_OF_RV((*out_sizes)[i]);
        else if (i)
            factors[i] = HONE_FACTOR_OF_INT(decided[i]);
    }
    return hone_sch_split(f->g->sch, loop, count, factors, true, false, out);
}

static hone_status tile_loops(fragments *f) {
    hone_gpu *g = f->g;
    const hone_gpu_tile *t = &f->tile;
    hone_gpu_nest nest;
    const hone_rv *i, *j, *k, *sizes = NULL;
    hone_rv tile, batch, rows[2], columns[2], steps[2];
    HONE_TRY(hone_gpu_get_nest(g, f->block, &nest));
    const hone_rv *own = nest.rvs + nest.count - 3;
    const int64_t down[] = {0, t->rows / t->thread_rows, t->thread_rows / SIDE};
    const int64_t right[] = {0, t->columns / t->thread_columns, t->thread_columns / SIDE};
    const int64_t deep[] = {0, t->steps / f->depth};
    HONE_TRY(hone_gpu_split(g, own[0], SIDE, rows));
    HONE_TRY(hone_gpu_split(g, own[1], SIDE, columns));
    HONE_TRY(hone_gpu_split(g, own[2], f->depth, steps));
    HONE_TRY(split_tiles(f, rows[0], 3, down, &i, &sizes));
    if (sizes) f->sampled[0] = sizes[2], f->sampled[2] = sizes[1];
    HONE_TRY(split_tiles(f, columns[0], 3, right, &j, &sizes));
    if (sizes) f->sampled[1] = sizes[2], f->sampled[3] = sizes[1];
    HONE_TRY(split_tiles(f, steps[0], 2, deep, &k, &sizes));
    if (sizes) f->sampled[4] = sizes[1];
    const int64_t decided[] = {down[2], right[2], down[1], right[1], deep[1], f->depth};
    memcpy(f->decided, decided, sizeof decided);
    hone_rv order[] = {i[0], j[0], i[1],    j[1],       k[0],    k[1],
                       i[2], j[2], rows[1], columns[1], steps[1]};
    HONE_TRY(hone_sch_reorder(g->sch, HONE_COUNT(order), order));
    HONE_TRY(hone_sch_blockize_loop(g->sch, rows[1], true, &tile));
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

/* The last two loops around a block become tiles of so many rows and columns: for rows, columns of
 * tiles, in them. */
static hone_status tile_copy(fragments *f, hone_rv copy, int64_t down, int64_t right,
                             hone_rv out[4]) {
    hone_gpu_nest nest;
    HONE_TRY(hone_gpu_get_nest(f->g, copy, &nest));
    hone_rv rows[2], columns[2];
    HONE_TRY(hone_gpu_split(f->g, nest.rvs[nest.count - 2], down, rows));
    HONE_TRY(hone_gpu_split(f->g, nest.rvs[nest.count - 1], right, columns));
    hone_rv order[] = {rows[0], columns[0], rows[1], columns[1]};
    memcpy(out, order, sizeof order);
    HONE_TRY(hone_sch_reorder(f->g->sch, 4, order));
    HONE_TRY(hone_sch_unroll(f->g->sch, rows[0]));
    return hone_sch_unroll(f->g->sch, columns[0]);
}

/* ---- what buffers hold ---- */

/* Names in maps: fragments of a warp down and right, warps down and right, fragments of steps at a
 * time; and, never sampled, steps of one. */
static const char size_names[] = "RCWVKD";
enum { SAMPLED_SIZES = 5 };

static int64_t number_of_size(const char *name) {
    const char *at = name[1] ? NULL : strchr(size_names, name[0]);
    return at && *at ? at - size_names : -1;
}

static bool find_sampled(void *ctx, const char *name, uint32_t *out_count,
                         const uint32_t **out_frees, bool *out_is_tuple) {
    const fragments *f = ctx;
    int64_t at = number_of_size(name);
    if (at < 0 || at >= SAMPLED_SIZES || !f->is_sampled) return false;
    *out_count = 1;
    *out_frees = &f->sampled[at];
    *out_is_tuple = false;
    return true;
}

static bool find_decided(void *ctx, const char *name, uint32_t *out_count,
                         const int64_t **out_numbers, bool *out_is_tuple) {
    const fragments *f = ctx;
    int64_t at = number_of_size(name);
    if (at < 0 || (f->is_sampled && at < SAMPLED_SIZES)) return false;
    *out_count = 1;
    *out_numbers = &f->decided[at];
    *out_is_tuple = false;
    return true;
}

/* Keeps of what a block writes only what is alive: the map leads others to the same elements, which
 * are written anew before they are read. */
static hone_status keep_alive(fragments *f, hone_rv block, const char *params,
                              const char *indices) {
    char text[128];
    const hone_index_map *map;
    const hone_index_map_scope scope = {.names = find_sampled, .numbers = find_decided, .ctx = f};
    snprintf(text, sizeof text, "lambda %s%s: (%s)", f->shape.has[GPU_BATCH] ? "b, " : "", params,
             indices);
    py_source source = {.name = "gpu_fragments", .text = text, .length = strlen(text)};
    HONE_TRY(hone_index_map_parse(f->g->sch->arena, &source, &scope, 0, &map));
    return hone_sch_transform_layout(f->g->sch, block, true, 0, map, NULL, true);
}

/* A block of threads has its tiles of the operands, a warp its fragments, and one tile of 16 x 16
 * of each warp is on its way out. */
static hone_status keep_all_alive(fragments *f) {
    uint32_t rows = f->shape.rows_operand, columns = 1 - rows;
    bool is_trans = f->form.last[1] != GPU_COLUMNS;
    HONE_TRY(
        keep_alive(f, f->store, "i, j", "i // (16 * R) % W, j // (16 * C) % V, i % 16, j % 16"));
    HONE_TRY(keep_alive(f, f->block, "i, j", "i % (16 * R), j % (16 * C)"));
    HONE_TRY(keep_alive(f, f->loads[rows], "i, k", "i % (16 * R), k % D"));
    HONE_TRY(keep_alive(f, f->stages[rows], "i, k", "i % (16 * R * W), k % (D * K)"));
    if (is_trans) {
        HONE_TRY(keep_alive(f, f->loads[columns], "j, k", "j % (16 * C), k % D"));
        HONE_TRY(keep_alive(f, f->stages[columns], "j, k", "j % (16 * C * V), k % (D * K)"));
    } else {
        HONE_TRY(keep_alive(f, f->loads[columns], "k, j", "k % D, j % (16 * C)"));
        HONE_TRY(keep_alive(f, f->stages[columns], "k, j", "k % (D * K), j % (16 * C * V)"));
    }
    int64_t padding = PADDING_BITS / f->shape.operand_bits;
    for (uint32_t i = 0; i < 2; i++)
        HONE_TRY(hone_sch_storage_align(f->g->sch, f->stages[i], 0, -2, 2 * SIDE, padding));
    return HONE_OK;
}

/* ---- results ---- */

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

/* out_tile: the loop over rows of a fragment that is stored. */
static hone_status put_results(fragments *f, hone_rv *out_tile) {
    hone_schedule *sch = f->g->sch;
    hone_rv copy, loops[4];
    HONE_TRY(hone_sch_cache_write(sch, f->block, 0, "wmma.accumulator", 0, NULL, &f->store));
    HONE_TRY(hone_sch_reverse_compute_at(sch, f->store, f->warp, true, -1));
    HONE_TRY(tile_copy(f, f->store, SIDE, SIDE, loops));
    *out_tile = loops[2];
    HONE_TRY(hone_sch_cache_write(sch, f->store, 0, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_reverse_compute_at(sch, copy, loops[1], true, -1));
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

static hone_factor size_of(const fragments *f, char name) {
    size_t i = (size_t)(strchr(size_names, name) - size_names);
    return f->is_sampled ? HONE_FACTOR_OF_RV(f->sampled[i]) : HONE_FACTOR_OF_INT(f->decided[i]);
}

/* So many neighbours each that all threads have the same part of the tile. */
static int64_t even_vector(const fragments *f, uint32_t operand, int64_t most) {
    const hone_gpu_tile *t = &f->tile;
    int64_t warps = t->rows / t->thread_rows * (t->columns / t->thread_columns);
    int64_t side = operand == f->shape.rows_operand ? t->rows : t->columns;
    int64_t share = side * t->steps / (warps * f->g->limits->warp);
    while (most > 1 && share % most != 0)
        most /= 2;
    return most;
}

/* All warps fetch together, up to `most` neighbours each lane. */
static hone_status share_fetch(fragments *f, hone_rv loop, int64_t most) {
    hone_schedule *sch = f->g->sch;
    const hone_rv *parts = NULL;
    hone_rv warps, sampled;
    hone_factor vector = HONE_FACTOR_OF_INT(most);
    if (f->is_sampled) {
        HONE_TRY(hone_gpu_sample_vector(f->g, most, &sampled));
        vector = HONE_FACTOR_OF_RV(sampled);
    }
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE},
                                   size_of(f, 'W'),
                                   size_of(f, 'V'),
                                   HONE_FACTOR_OF_INT(f->g->limits->warp),
                                   vector};
    HONE_TRY(hone_sch_split(sch, loop, HONE_COUNT(factors), factors, true, false, &parts));
    HONE_TRY(hone_gpu_fuse(f->g, 2, parts + 1, &warps));
    HONE_TRY(hone_sch_bind(sch, warps, "threadIdx.y"));
    HONE_TRY(hone_sch_bind(sch, parts[3], "threadIdx.x"));
    return hone_sch_vectorize(sch, parts[4]);
}

/* The copy to shared memory: fetched by all warps together. */
static hone_status stage(fragments *f, uint32_t operand, hone_rv load) {
    hone_gpu *g = f->g;
    hone_rv copy, fused;
    const hone_gpu_side *side = &f->shape.sides[operand];
    gpu_group last = f->form.last[operand == f->shape.rows_operand ? 0 : 1];
    bool is_turned = side->last != last;
    HONE_TRY(hone_sch_cache_read(g->sch, load, 0, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_compute_at(g->sch, copy, f->outer_steps, true, -1));
    HONE_TRY(hone_gpu_join_prologue(g, copy));
    HONE_TRY(hone_gpu_fuse_copy(g, copy, f->outer_steps, side, last, &fused));
    f->stages[operand] = copy;
    int64_t most = is_turned ? 1 : vector_of(f, operand);
    return share_fetch(f, fused, f->is_sampled ? most : even_vector(f, operand, most));
}

/* The fragments of an operand for the steps of one. out_tile: the loop of one of them. */
static hone_status load(fragments *f, uint32_t operand, hone_rv *out_tile) {
    hone_rv copy, loops[4];
    bool is_rows = operand == f->shape.rows_operand;
    bool has_steps_last = is_rows || f->form.last[1] != GPU_COLUMNS;
    HONE_TRY(hone_sch_cache_read(f->g->sch, f->block, operand,
                                 is_rows ? "wmma.matrix_a" : "wmma.matrix_b", 0, NULL, &copy));
    HONE_TRY(hone_sch_compute_at(f->g->sch, copy, f->inner_steps, true, -1));
    HONE_TRY(stage(f, operand, copy));
    HONE_TRY(has_steps_last ? tile_copy(f, copy, SIDE, f->depth, loops)
                            : tile_copy(f, copy, f->depth, SIDE, loops));
    f->loads[operand] = copy;
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
    HONE_TRY(keep_all_alive(f));
    HONE_TRY(tensorize_copy(f, loads[rows], "load", type, "_a"));
    HONE_TRY(tensorize_copy(f, loads[columns], "load", type, is_trans ? "_b_trans" : "_b"));
    HONE_TRY(tensorize_copy(f, store, "store", sum, ""));
    snprintf(name, sizeof name, "wmma_fill_16x16x%lld_%s", (long long)f->depth, sum);
    HONE_TRY(hone_sch_tensorize(f->g->sch, init, name, true));
    snprintf(name, sizeof name, "wmma_sync_16x16x%lld_%s%s", (long long)f->depth,
             units[f->unit].sync, is_trans ? "_trans" : "");
    return hone_sch_tensorize(f->g->sch, f->block, name, true);
}

/* All of it, for the tile in f. */
static hone_status multiply(fragments *f) {
    hone_rv store_tile, loads[2];
    f->form = (hone_gpu_form){
        {1,              f->tile.rows, f->tile.columns, f->tile.steps},
        {GPU_STEPS, f->shape.sides[1 - f->shape.rows_operand].last            }
    };
    if (f->form.last[1] != GPU_COLUMNS) f->form.last[1] = GPU_STEPS;
    HONE_TRY(hone_gpu_to_matrices(f->g, f->block, &f->shape, &f->form));
    HONE_TRY(tile_loops(f));
    HONE_TRY(put_results(f, &store_tile));
    HONE_TRY(load(f, 0, &loads[0]));
    HONE_TRY(load(f, 1, &loads[1]));
    HONE_TRY(hone_gpu_copy_ahead(f->g, f->outer_steps, f->tile.stages, false));
    return put_intrinsics(f, store_tile, loads);
}

static hone_status begin(fragments *f) {
    if (!f->g->limits->has_matrix_units) return hone_gpu_unfit();
    HONE_TRY(hone_gpu_read_shape(f->g, f->block, &f->shape));
    return find_unit(f);
}

hone_status hone_gpu_fragments(hone_gpu *g, hone_rv block) {
    fragments f = {.g = g, .block = block};
    HONE_TRY(begin(&f));
    f.tile = hone_gpu_choose_warp_tile(g, &f.shape);
    return f.tile.rows ? multiply(&f) : hone_gpu_unfit();
}

/* An axis is padded so far that there are tiles to choose from. */
static int64_t round_to(int64_t extent) {
    return extent > 2 * SIDE ? 4 * SIDE : extent > SIDE ? 2 * SIDE : SIDE;
}

hone_status hone_gpu_sketch_fragments(hone_schedule *sch, hone_rv block,
                                      const hone_gpu_limits *limits) {
    hone_gpu g = {sch, limits};
    fragments f = {.g = &g, .block = block, .is_sampled = true};
    HONE_TRY(begin(&f));
    for (uint32_t i = 0; i < GPU_GROUPS; i++) {
        if (f.shape.extents[i] < 1) return hone_gpu_unfit();
    }
    f.tile = (hone_gpu_tile){round_to(f.shape.extents[GPU_ROWS]),
                             round_to(f.shape.extents[GPU_COLUMNS]),
                             round_to(f.shape.extents[GPU_STEPS]),
                             SIDE,
                             SIDE,
                             1};
    HONE_TRY(hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("SSSRRSRS"),
                               HONE_NO_ID));
    return multiply(&f);
}
