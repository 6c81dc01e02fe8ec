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

static bool is_output(const hone_func *func, hone_buffer buffer) {
    for (uint32_t i = 0; i < func->param_count; i++)
        if (func->params[i].buffer == buffer) return true;
    return false;
}

/* Whether a loop of open extent and the one around it are one, where its extent is a size by
 * itself. Not of what others read: that all of it is written could not be shown. */
static bool joins_open(const hone_default_shape *s, uint32_t outer) {
    hone_schedule *sch = s->n->sch;
    hone_node_id nodes[3];
    const hone_rv rvs[] = {s->n->block, s->loops[outer], s->loops[outer + 1]};
    if (s->extents[outer + 1] != s->n->limits->open_extents[0]) return false;
    for (uint32_t i = 0; i < 3; i++) {
        hone_status st =
            rvs[i] == HONE_NO_ID ? HONE_OK : hone_schedule_node(sch, rvs[i], &nodes[i]);
        if (st || rvs[i] == HONE_NO_ID) {
            hone_status_free(st);
            return false;
        }
    }
    const hone_block *block = hone_func_node(sch->func, nodes[0])->u.block.block;
    return is_output(sch->func, block->writes[0].buffer) &&
           sch_is_open_pair(sch, nodes[0], nodes[1], nodes[2]);
}

/* Also what was joined of such. */
static bool is_of_open(const hone_default_shape *s, int64_t extent) {
    const int64_t *open = s->n->limits->open_extents;
    return hone_default_is_open(s->n->limits, extent) || (open && *open && extent % *open == 0);
}

bool hone_default_may_join(const hone_default_shape *s, uint32_t outer) {
    if (s->extents[outer] == 1 || s->extents[outer + 1] == 1) return true;
    if (s->extents[outer] > INT32_MAX / s->extents[outer + 1]) return false;
    if (is_of_open(s, s->extents[outer + 1]) && !joins_open(s, outer)) return false;
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
