/* schedule/gpu/gpu_tile.c - how large the tiles of a product are: of all that fit, those that are
 * done first. Large tiles read less of the operands; small ones keep all multiprocessors busy and
 * waste less at the edges. */
#include <math.h>

#include "schedule/gpu/gpu_product.h"

enum {
    MOST_SIDE = 128,
    LEAST_SIDE = 16,
    UNKNOWN_SIDE = 1024, /* of a matrix whose size is not known */
    BLOCKS_AT_ONCE = 2,  /* on a multiprocessor */
    ITEMS = 16,          /* results of a thread, before more threads are taken */
    LOAD_COST = 8,       /* of an element that is staged, in products */
};

static int64_t tiles_of(const hone_gpu_shape *s, gpu_group group, int64_t side) {
    int64_t extent = s->extents[group] < 0 ? UNKNOWN_SIDE : s->extents[group];
    return (extent - 1) / side + 1;
}

static double time_of(const hone_gpu *g, const hone_gpu_shape *s, int64_t rows, int64_t columns) {
    int64_t batch = s->extents[GPU_BATCH] < 0 ? 1 : s->extents[GPU_BATCH];
    double blocks = (double)batch * (double)tiles_of(s, GPU_ROWS, rows) *
                    (double)tiles_of(s, GPU_COLUMNS, columns);
    double waves = ceil(blocks / (double)(BLOCKS_AT_ONCE * hone_gpu_multiprocessors(g)));
    return waves * ((double)(rows * columns) + LOAD_COST * (double)(rows + columns));
}

static bool fits(const hone_gpu *g, const hone_gpu_shape *s, const hone_gpu_tile *t) {
    int64_t bytes = (t->rows + t->columns) * t->steps * s->operand_bits / 8;
    int64_t threads = t->rows / t->thread_rows * (t->columns / t->thread_columns);
    return bytes <= g->limits->shared_bytes / 2 && threads <= g->limits->block_threads;
}

/* Rows and columns of one thread: as square as it goes, columns first. */
static void divide(const hone_gpu *g, hone_gpu_tile *t) {
    int64_t threads = hone_gpu_min(GPU_BLOCK_THREADS, t->rows * t->columns / ITEMS);
    threads = hone_gpu_max(hone_gpu_min(threads, g->limits->block_threads), g->limits->warp);
    int64_t items = hone_gpu_max(t->rows * t->columns / threads, 1);
    t->thread_columns = 1;
    while (t->thread_columns * t->thread_columns < items)
        t->thread_columns *= 2;
    t->thread_rows = items / t->thread_columns;
}

hone_gpu_tile hone_gpu_choose_tile(const hone_gpu *g, const hone_gpu_shape *s) {
    hone_gpu_tile best = {0};
    double least = HUGE_VAL;
    int64_t steps = s->extents[GPU_STEPS] < 0 ? LEAST_SIDE : hone_gpu_power(s->extents[GPU_STEPS]);
    for (int64_t rows = MOST_SIDE; rows >= LEAST_SIDE; rows /= 2) {
        for (int64_t columns = MOST_SIDE; columns >= LEAST_SIDE; columns /= 2) {
            hone_gpu_tile t = {rows, columns, hone_gpu_min(steps, LEAST_SIDE), 1, 1};
            divide(g, &t);
            double time = time_of(g, s, rows, columns);
            if (time >= least || !fits(g, s, &t)) continue;
            least = time;
            best = t;
        }
    }
    return best;
}
