/* schedule/gpu/gpu_transpose.c - what is read across the rows along which it is written: tiles of
 * 32 x 32 are turned around in shared memory, so that threads read and write side by side.
 *
 *   for others, row0, column0 (blockIdx.x):
 *     for threads over column1, row1: shared = X     along rows of X
 *     for threads over row1, column1: Y = f(shared)  along rows of Y
 */
#include "schedule/gpu/gpu_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum { SIDE = 32, LEAST_SIDE = 16 };

typedef struct transpose {
    hone_gpu *g;
    hone_gpu_nest nest;
    uint32_t read;        /* the access that goes across */
    uint32_t row, column; /* loops: along which it goes straight on, and the output */
} transpose;

static int64_t stride_of(const transpose *t, const hone_region *region, uint32_t loop) {
    int64_t stride;
    hone_var var = sch_node(t->g->sch, t->nest.loops[loop])->u.loop.var;
    return sch_stride_in_loop(t->g->sch, t->nest.block, region, var, &stride) ? stride : -1;
}

static bool is_plain(const transpose *t) {
    const hone_schedule *sch = t->g->sch;
    for (uint32_t i = 0; i < t->nest.count; i++) {
        const hone_node *loop = sch_node(sch, t->nest.loops[i]);
        if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count ||
            loop->first != loop->last ||
            sch_loop_type_of(t->g->sch, t->nest.loops[i]) != SCH_LOOP_DATA_PARALLEL)
            return false;
    }
    const hone_block *block = sch_block(sch, t->nest.block);
    return block->write_count == 1 && hone_block_init_of(sch->func, t->nest.block) == HONE_NO_ID;
}

/* Of loops long enough, the one along which an access moves by one element; or the count. */
static uint32_t find_loop(const transpose *t, const hone_region *region) {
    uint32_t i = t->nest.count;
    while (i-- > 0) {
        int64_t extent = hone_gpu_extent(t->g, t->nest.rvs[i]);
        if ((extent < 0 || extent >= LEAST_SIDE) && stride_of(t, region, i) == 1) return i;
    }
    return t->nest.count;
}

static bool find_sides(transpose *t) {
    const hone_block *block = sch_block(t->g->sch, t->nest.block);
    t->column = find_loop(t, &block->writes[0]);
    if (t->column == t->nest.count) return false;
    for (t->read = 0; t->read < block->read_count; t->read++) {
        const hone_region *region = &block->reads[t->read];
        t->row = find_loop(t, region);
        if (t->row < t->nest.count && t->row != t->column && stride_of(t, region, t->column) > 1 &&
            stride_of(t, &block->writes[0], t->row) > 1)
            return true;
    }
    return false;
}

/* Loops around the tile; how many. The last is the one that the copy is made at. */
static hone_status tile(transpose *t, hone_rv order[GPU_MAX_LOOPS + 2], uint32_t *out_around,
                        hone_rv out_inner[2]) {
    hone_gpu *g = t->g;
    hone_rv rows[2], columns[2];
    uint32_t at = 0;
    HONE_TRY(hone_gpu_split(g, t->nest.rvs[t->row], SIDE, rows));
    HONE_TRY(hone_gpu_split(g, t->nest.rvs[t->column], SIDE, columns));
    for (uint32_t i = 0; i < t->nest.count; i++) {
        if (i != t->row && i != t->column) order[at++] = t->nest.rvs[i];
    }
    order[at++] = rows[0];
    order[at++] = columns[0];
    order[at] = out_inner[0] = rows[1];
    order[at + 1] = out_inner[1] = columns[1];
    *out_around = at;
    return hone_sch_reorder(g->sch, at + 2, order);
}

hone_status hone_gpu_transpose(hone_gpu *g, hone_rv block) {
    transpose t = {.g = g};
    hone_rv around[GPU_MAX_LOOPS + 2], inner[2], of_block, copy, fused;
    uint32_t count;
    const hone_factor threads =
        HONE_FACTOR_OF_INT(hone_gpu_min(GPU_BLOCK_THREADS, g->limits->block_threads));
    HONE_TRY(hone_gpu_get_nest(g, block, &t.nest));
    if (t.nest.count < 2 || hone_gpu_is_bound(g->sch, t.nest.block) || !is_plain(&t) ||
        !find_sides(&t))
        return hone_gpu_unfit();
    HONE_TRY(tile(&t, around, &count, inner));
    HONE_TRY(hone_sch_cache_read(g->sch, block, t.read, "shared", 0, NULL, &copy));
    /* before the loops are one: which tile of it is read is seen in each */
    HONE_TRY(hone_sch_compute_at(g->sch, copy, around[count - 1], true, -1));
    HONE_TRY(hone_gpu_fuse(g, count, around, &of_block));
    HONE_TRY(hone_sch_bind(g->sch, of_block, "blockIdx.x"));
    HONE_TRY(hone_gpu_get_nest(g, copy, &t.nest));
    HONE_TRY(hone_gpu_fuse(g, t.nest.count - 1, t.nest.rvs + 1, &fused));
    HONE_TRY(hone_gpu_share(g, fused, threads, 1, NULL));
    HONE_TRY(hone_sch_storage_align(g->sch, copy, 0, -2, SIDE, 1));
    HONE_TRY(hone_gpu_fuse(g, 2, inner, &fused));
    return hone_gpu_share(g, fused, threads, 1, NULL);
}
