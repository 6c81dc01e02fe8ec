/* schedule/gpu/gpu_nest.c - loops around a block: finding, sharing out, vectors. */
#include "schedule/gpu/gpu_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

int64_t hone_gpu_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

int64_t hone_gpu_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int64_t hone_gpu_power(int64_t value) {
    int64_t power = 1;
    while (power < value && power < INT32_MAX)
        power *= 2;
    return power;
}

int64_t hone_gpu_multiprocessors(const hone_gpu *g) {
    return g->limits->multiprocessors > 0 ? g->limits->multiprocessors : GPU_MULTIPROCESSORS;
}

hone_status hone_gpu_unfit(void) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "does not fit");
}

hone_status hone_gpu_get_nest(hone_gpu *g, hone_rv block, hone_gpu_nest *out) {
    const hone_rv *loops = NULL;
    uint32_t count = 0;
    HONE_TRY(hone_schedule_node(g->sch, block, &out->block));
    HONE_TRY(hone_sch_get_loops(g->sch, block, &count, &loops));
    if (count > GPU_MAX_LOOPS) return hone_gpu_unfit();
    out->count = count;
    for (uint32_t i = 0; i < count; i++) {
        out->rvs[i] = loops[i];
        HONE_TRY(hone_schedule_node(g->sch, loops[i], &out->loops[i]));
    }
    return HONE_OK;
}

int64_t hone_gpu_extent(hone_gpu *g, hone_rv loop) {
    hone_node_id node;
    if (hone_status_consume(hone_schedule_node(g->sch, loop, &node))) return -1;
    return hone_expr_const(sch_node(g->sch, node)->u.loop.range.extent);
}

bool hone_gpu_is_bound(const hone_schedule *sch, hone_node_id block) {
    for (hone_node_id n = sch_node(sch, block)->parent; n != HONE_NO_ID;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD) return true;
    }
    return false;
}

hone_status hone_gpu_split(hone_gpu *g, hone_rv loop, int64_t inner, hone_rv out[2]) {
    return hone_gpu_split_by(g, loop, HONE_FACTOR_OF_INT(inner), out);
}

hone_status hone_gpu_split_by(hone_gpu *g, hone_rv loop, hone_factor inner, hone_rv out[2]) {
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, inner};
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_split(g->sch, loop, 2, factors, true, false, &parts));
    out[0] = parts[0];
    out[1] = parts[1];
    return HONE_OK;
}

hone_status hone_gpu_fuse(hone_gpu *g, uint32_t count, const hone_rv *loops, hone_rv *out) {
    *out = loops[0];
    return count == 1 ? HONE_OK : hone_sch_fuse(g->sch, count, loops, true, out);
}

bool hone_gpu_is_spatial(const hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = sch_node(sch, block);
    hone_var var = sch_node(sch, loop)->u.loop.var;
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if (!hone_expr_uses_var(node->u.block.bindings[a], var)) continue;
        if (node->u.block.block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    return true;
}

hone_status hone_gpu_share(hone_gpu *g, hone_rv loop, hone_factor threads, int64_t vector,
                           hone_rv *out_rest) {
    hone_rv two[2], parts[2];
    if (vector > 1) {
        HONE_TRY(hone_gpu_split(g, loop, vector, two));
        loop = two[0];
    }
    HONE_TRY(hone_gpu_split_by(g, loop, threads, parts));
    HONE_TRY(hone_sch_bind(g->sch, parts[1], "threadIdx.x"));
    if (out_rest) *out_rest = parts[0];
    return vector > 1 ? hone_sch_vectorize(g->sch, two[1]) : HONE_OK;
}

/* ---- vectors ---- */

/* Along the loop everything stays in place or goes straight on. */
static bool is_even(hone_gpu *g, hone_node_id block, hone_node_id loop) {
    const hone_block *inner = sch_block(g->sch, block);
    hone_var var = sch_node(g->sch, loop)->u.loop.var;
    for (uint32_t r = 0; r < inner->read_count; r++) {
        int64_t stride;
        if (!sch_stride_in_loop(g->sch, block, &inner->reads[r], var, &stride)) return false;
        if (stride != 0 && stride != 1) return false;
    }
    return true;
}

/* Of what moves along the loop, in bytes: what stays in place is one load for all neighbours. */
static int64_t widest_bytes(hone_gpu *g, hone_node_id block, hone_node_id loop) {
    const hone_block *inner = sch_block(g->sch, block);
    hone_var var = sch_node(g->sch, loop)->u.loop.var;
    int64_t most = 1;
    for (uint32_t i = 0; i < inner->read_count + inner->write_count; i++) {
        bool is_read = i < inner->read_count;
        const hone_region *region =
            is_read ? &inner->reads[i] : &inner->writes[i - inner->read_count];
        int64_t stride;
        if (is_read && sch_stride_in_loop(g->sch, block, region, var, &stride) && stride == 0)
            continue;
        hone_dtype dtype = hone_func_buffer(g->sch->func, region->buffer)->dtype;
        most = hone_gpu_max(most, (int64_t)hone_dtype_bytes(dtype));
    }
    return most;
}

int64_t hone_gpu_vector(hone_gpu *g, const hone_gpu_nest *nest) {
    if (nest->count == 0) return 1;
    int64_t lanes = GPU_VECTOR_BYTES / widest_bytes(g, nest->block, nest->loops[nest->count - 1]);
    if (lanes < 2) return 1;
    sch_vector_run run = sch_find_vector_run(g->sch, nest->block, nest->count, nest->loops, lanes);
    if (run.first > run.last || run.last != nest->count - 1) return 1;
    if (!is_even(g, nest->block, nest->loops[run.last])) return 1;
    while (lanes > 1 && run.full_product % lanes != 0)
        lanes /= 2;
    return lanes;
}
