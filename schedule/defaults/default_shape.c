/* schedule/defaults/default_shape.c - the loops of a block and how its accesses move along them. */
#include <string.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

static bool read_accesses(const hone_default_nest *n, hone_node_id loop, hone_default_shape *s,
                          uint32_t at) {
    hone_schedule *sch = n->sch;
    const hone_block *block = hone_func_node(sch->func, s->block)->u.block.block;
    hone_var var = hone_func_node(sch->func, loop)->u.loop.var;
    s->access_count = 1 + block->read_count;
    for (uint32_t a = 0; a < s->access_count; a++) {
        const hone_region *region = a == 0 ? &block->writes[0] : &block->reads[a - 1];
        if (!sch_stride_in_loop(sch, s->block, region, var, &s->strides[at][a])) return false;
    }
    return true;
}

hone_status hone_default_read_shape(hone_default_nest *n, hone_node_id block, hone_default_shape *s,
                                    bool *out_fits) {
    const hone_func *func = n->sch->func;
    const hone_block *inner = hone_func_node(func, block)->u.block.block;
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    *s = (hone_default_shape){.n = n, .block = block};
    *out_fits = false;
    if (inner->write_count != 1 || 1 + inner->read_count > HONE_DEFAULT_MAX_ACCESSES)
        return HONE_OK;
    HONE_TRY(hone_sch_get_loops(n->sch, n->block, &count, &loops));
    if (count < 2 || count > HONE_NEST_MAX_LOOPS) return HONE_OK;
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(n->sch, loops[i], &node));
        const hone_node *loop = hone_func_node(func, node);
        s->extents[i] = hone_expr_const(loop->u.loop.range.extent);
        s->loops[i] = loops[i];
        if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count ||
            loop->first != loop->last || s->extents[i] < 1 || s->extents[i] > INT32_MAX ||
            !read_accesses(n, node, s, i)) {
            return HONE_OK;
        }
    }
    s->count = count;
    s->bits = hone_func_buffer(func, inner->writes[0].buffer)->dtype.bits;
    *out_fits = true;
    return HONE_OK;
}

bool hone_default_may_join(const hone_default_shape *s, uint32_t outer) {
    if (s->extents[outer] == 1 || s->extents[outer + 1] == 1) return true;
    if (s->extents[outer] > INT32_MAX / s->extents[outer + 1]) return false;
    if (hone_default_is_open(s->n->limits, s->extents[outer + 1])) return false;
    for (uint32_t a = 0; a < s->access_count; a++) {
        if (s->strides[outer][a] != s->extents[outer + 1] * s->strides[outer + 1][a]) return false;
    }
    return true;
}

hone_status hone_default_join(hone_default_shape *s, uint32_t outer, bool is_trial) {
    hone_rv fused = HONE_NO_ID;
    if (!is_trial) HONE_TRY(hone_sch_fuse(s->n->sch, 2, s->loops + outer, true, &fused));
    uint32_t kept = s->extents[outer + 1] == 1 ? outer : outer + 1; /* whose strides it has */
    memcpy(s->strides[outer], s->strides[kept], sizeof s->strides[outer]);
    s->extents[outer] *= s->extents[outer + 1];
    s->loops[outer] = fused;
    s->count--;
    for (uint32_t i = outer + 1; i < s->count; i++) {
        memcpy(s->strides[i], s->strides[i + 1], sizeof s->strides[i]);
        s->extents[i] = s->extents[i + 1];
        s->loops[i] = s->loops[i + 1];
    }
    return HONE_OK;
}

hone_status hone_default_join_loops(hone_default_shape *s, bool is_trial) {
    for (uint32_t i = s->count - 1; i-- > 0;) {
        if (hone_default_may_join(s, i)) HONE_TRY(hone_default_join(s, i, is_trial));
    }
    return HONE_OK;
}
