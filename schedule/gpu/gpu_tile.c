/* schedule/gpu/gpu_tile.c - how large the tiles of a product are: of all that fit, those that are
 * done first. Large tiles read less of the operands; small ones keep all multiprocessors busy and
 * waste less at the edges. */
#include <math.h>

#include "schedule/gpu/gpu_product.h"
#include "schedule/gpu/gpu_sketch.h"
#include "support/core/attributes.h"

enum {
    MATRIX_LOAD_COST = 64, /* the same, beside matrix units */
    MOST_WARPS = 8,
    WARP_RESULTS = 32 * 32, /* of a warp, before there are more of them */
    MOST_SIDE = 128,
    LEAST_SIDE = 16,
    UNKNOWN_SIDE = 1024,     /* of a matrix whose size is not known */
    BLOCKS_AT_ONCE = 2,      /* on a multiprocessor */
    ITEMS = 16,              /* results of a thread, before more threads are taken */
    LOAD_COST = 8,           /* of an element that is staged, in products */
    MOST_STAGES = 4,         /* tiles of steps that are on their way or in use */
    ROW_PADDING_BITS = 128,  /* of a row in shared memory */
    KEPT_FREE = 8 << 10,     /* bytes of shared memory, for results on their way out */
    GROUP_RESULTS = 64 * 40, /* of a group, on their way out */
    GROUP_ROWS = 64,         /* of four warps */
    GROUP_STEPS_BITS = 1024,
    GROUP_OVERHEAD = 256,  /* in steps: the first copies, the last results */
    LEAST_GROUP_SIDE = 32, /* a matrix that is no longer is left to single warps */
    PART_SIDE = 64,        /* of a tile, when it is asked whether there are blocks for all */
    LEAST_PART = 512,      /* steps of a part: it saves more than adding up costs */
};

static int64_t tiles_of(const hone_gpu_shape *s, gpu_group group, int64_t side) {
    int64_t extent = s->extents[group] < 0 ? UNKNOWN_SIDE : s->extents[group];
    return (extent - 1) / side + 1;
}

static double time_of(const hone_gpu *g, const hone_gpu_shape *s, const hone_gpu_tile *t,
                      int64_t load_cost) {
    int64_t batch = s->extents[GPU_BATCH] < 0 ? 1 : s->extents[GPU_BATCH];
    double blocks = (double)batch * (double)tiles_of(s, GPU_ROWS, t->rows) *
                    (double)tiles_of(s, GPU_COLUMNS, t->columns);
    double waves = ceil(blocks / (double)(BLOCKS_AT_ONCE * hone_gpu_multiprocessors(g)));
    return waves * (double)(t->rows * t->columns + load_cost * (t->rows + t->columns));
}

/* Of the operands' tiles for some steps. */
static int64_t bytes_of(const hone_gpu_shape *s, const hone_gpu_tile *t, int64_t padding) {
    return (t->rows + t->columns) * (t->steps + padding) * s->operand_bits / 8;
}

static bool fits(const hone_gpu *g, const hone_gpu_shape *s, const hone_gpu_tile *t) {
    int64_t threads = t->rows / t->thread_rows * (t->columns / t->thread_columns);
    return bytes_of(s, t, 0) <= g->limits->shared_bytes / 2 && threads <= g->limits->block_threads;
}

/* Rows and columns of one thread: as square as it goes, columns first. */
static void divide_threads(const hone_gpu *g, hone_gpu_tile *t) {
    int64_t threads = hone_gpu_min(GPU_BLOCK_THREADS, t->rows * t->columns / ITEMS);
    threads = hone_gpu_max(hone_gpu_min(threads, g->limits->block_threads), g->limits->warp);
    int64_t items = hone_gpu_max(t->rows * t->columns / threads, 1);
    t->thread_columns = 1;
    while (t->thread_columns * t->thread_columns < items)
        t->thread_columns *= 2;
    t->thread_rows = items / t->thread_columns;
}

typedef void (*divide_fn)(const hone_gpu *g, hone_gpu_tile *t);

static hone_gpu_tile choose(const hone_gpu *g, const hone_gpu_shape *s, int64_t steps,
                            int64_t load_cost, divide_fn divide) {
    hone_gpu_tile best = {0};
    double least = HUGE_VAL;
    for (int64_t rows = MOST_SIDE; rows >= LEAST_SIDE; rows /= 2) {
        for (int64_t columns = MOST_SIDE; columns >= LEAST_SIDE; columns /= 2) {
            hone_gpu_tile t = {rows, columns, steps, 1, 1, 1};
            divide(g, &t);
            double time = time_of(g, s, &t, load_cost);
            if (time >= least || !fits(g, s, &t)) continue;
            least = time;
            best = t;
        }
    }
    return best;
}

/* Warps: as square as it goes, rows first. */
static void divide_warps(const hone_gpu *g, hone_gpu_tile *t) {
    int64_t warps = t->rows * t->columns / WARP_RESULTS, down = 1, right = 1;
    int64_t most = hone_gpu_min(MOST_WARPS, g->limits->block_threads / g->limits->warp);
    while (down * right * 2 <= hone_gpu_min(warps, most)) {
        if (t->rows / down >= t->columns / right)
            down *= 2;
        else
            right *= 2;
    }
    t->thread_rows = t->rows / down;
    t->thread_columns = t->columns / right;
}

/* As many tiles of steps at once as hide the way to memory, where so many bytes are there for them.
 */
static int64_t stages_of(const hone_gpu *g, const hone_gpu_shape *s, const hone_gpu_tile *t,
                         int64_t padding, int64_t room) {
    int64_t steps = s->extents[GPU_STEPS] < 0 ? MOST_STAGES : tiles_of(s, GPU_STEPS, t->steps);
    int64_t stages = hone_gpu_min(hone_gpu_min(MOST_STAGES, room / bytes_of(s, t, padding)), steps);
    return g->limits->copies_while_computing ? hone_gpu_max(stages, 1) : 1;
}

hone_gpu_tile hone_gpu_choose_tile(const hone_gpu *g, const hone_gpu_shape *s) {
    int64_t steps = s->extents[GPU_STEPS] < 0 ? LEAST_SIDE : hone_gpu_power(s->extents[GPU_STEPS]);
    hone_gpu_tile best = choose(g, s, hone_gpu_min(steps, LEAST_SIDE), LOAD_COST, divide_threads);
    if (best.rows)
        best.stages = stages_of(g, s, &best, 0, g->limits->shared_bytes / BLOCKS_AT_ONCE);
    return best;
}

hone_gpu_tile hone_gpu_choose_warp_tile(const hone_gpu *g, const hone_gpu_shape *s) {
    bool is_short = s->extents[GPU_STEPS] >= 0 && s->extents[GPU_STEPS] <= LEAST_SIDE;
    hone_gpu_tile best =
        choose(g, s, is_short ? LEAST_SIDE : 2 * LEAST_SIDE, MATRIX_LOAD_COST, divide_warps);
    if (best.rows)
        best.stages = stages_of(g, s, &best, ROW_PADDING_BITS / s->operand_bits,
                                g->limits->shared_bytes / BLOCKS_AT_ONCE - KEPT_FREE);
    return best;
}

/* Tiles of four warps, in order of what they read for each product: large ones have a
 * multiprocessor to themselves. */
static const struct {
    int64_t rows, columns, group_columns, at_once;
} group_tiles[HONE_GPU_GROUP_TILES] = {
    {128, 256, 256, 1},
    {256, 128, 128, 1},
    {128, 128, 128, 2},
    {64,  128, 128, 2},
    {128, 64,  64,  2},
    {64,  64,  64,  2},
};

/* In products of one multiprocessor: its tiles, each with what comes before and after all steps,
 * half of which is hidden where two run at once. */
static double group_time_of(const hone_gpu *g, const hone_gpu_shape *s, const hone_gpu_tile *t,
                            int64_t at_once) {
    int64_t batch = s->extents[GPU_BATCH] < 0 ? 1 : s->extents[GPU_BATCH];
    int64_t steps = s->extents[GPU_STEPS] < 0 ? UNKNOWN_SIDE : s->extents[GPU_STEPS];
    double blocks = (double)batch * (double)tiles_of(s, GPU_ROWS, t->rows) *
                    (double)tiles_of(s, GPU_COLUMNS, t->columns);
    double tiles = ceil(blocks / (double)hone_gpu_multiprocessors(g));
    return tiles * (double)(steps + GROUP_OVERHEAD / at_once) *
           (double)(t->rows * t->columns + MATRIX_LOAD_COST * (t->rows + t->columns));
}

static bool is_worth_groups(const hone_gpu_shape *s) {
    bool is_worth = true;
    for (gpu_group i = GPU_ROWS; i <= GPU_STEPS; i++)
        is_worth &= s->extents[i] < 0 || s->extents[i] > LEAST_GROUP_SIDE;
    return is_worth;
}

hone_gpu_tile hone_gpu_group_tile(const hone_gpu *g, const hone_gpu_shape *s, uint32_t number) {
    if (!is_worth_groups(s)) return (hone_gpu_tile){0};
    hone_gpu_tile t = {group_tiles[number].rows,           group_tiles[number].columns,
                       GROUP_STEPS_BITS / s->operand_bits, GROUP_ROWS,
                       group_tiles[number].group_columns,  1};
    int64_t results = t.rows / GROUP_ROWS * GROUP_RESULTS * s->bits / 8;
    if (bytes_of(s, &t, 0) + results > g->limits->shared_bytes) return (hone_gpu_tile){0};
    t.stages =
        stages_of(g, s, &t, 0, g->limits->shared_bytes / group_tiles[number].at_once - results);
    return t;
}

hone_gpu_tile hone_gpu_choose_group_tile(const hone_gpu *g, const hone_gpu_shape *s) {
    hone_gpu_tile best = {0};
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < HONE_COUNT(group_tiles); i++) {
        hone_gpu_tile t = hone_gpu_group_tile(g, s, i);
        double time = t.rows ? group_time_of(g, s, &t, group_tiles[i].at_once) : HUGE_VAL;
        if (time >= least) continue;
        least = time;
        best = t;
    }
    return best;
}

int64_t hone_gpu_count_parts(const hone_gpu *g, const hone_gpu_shape *s, int64_t longest) {
    int64_t parts = 1, steps = s->extents[GPU_STEPS];
    for (gpu_group i = 0; i < GPU_GROUPS; i++) {
        if (s->has[i] && s->extents[i] < 1) return 1;
    }
    int64_t blocks = s->extents[GPU_BATCH] * tiles_of(s, GPU_ROWS, PART_SIDE) *
                     tiles_of(s, GPU_COLUMNS, PART_SIDE);
    while (2 * parts * blocks <= hone_gpu_multiprocessors(g) && longest % (2 * parts) == 0 &&
           steps / (2 * parts) >= LEAST_PART)
        parts *= 2;
    return parts;
}
