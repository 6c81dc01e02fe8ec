/* schedule/defaults/default_groups.c - grouped convolutions: the group is an axis of its own, so
 * that filters of one share what they read, which they say by a division otherwise.
 *
 *   Y[f] += X[f // 24 * 16 + c] * W[f, c]   ⇒   Y[g * 24 + f] += X[g * 16 + c] * W[g * 24 + f, c]
 */
#include "schedule/defaults/axes.h"
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/primitive/primitives.h"

/* An axis that is divided, and by how much. */
typedef struct division {
    const hone_block *block;
    uint32_t axis;
    int64_t by; /* 0: nothing is divided */
} division;

static bool find_in(void *ctx, const hone_expr *e) {
    division *d = ctx;
    if (!hone_expr_is_op(e, HONE_OP_FLOORDIV) || e->args[0]->kind != HONE_EXPR_VAR) return true;
    for (uint32_t a = 0; a < d->block->axis_count; a++) {
        const hone_axis *axis = &d->block->axes[a];
        int64_t by = hone_expr_const(e->args[1]), extent = hone_expr_const(axis->dom.extent);
        bool is_whole = by > 1 && extent > by && extent % by == 0;
        if (axis->var != e->args[0]->u.var || axis->kind != HONE_AXIS_SPATIAL || !is_whole)
            continue;
        d->axis = a;
        d->by = by;
    }
    return d->by == 0;
}

static division find_division(const hone_schedule *sch, hone_node_id block) {
    division d = {.block = hone_func_node(sch->func, block)->u.block.block};
    for (uint32_t r = 0; r < d.block->read_count; r++) {
        uint32_t rank = hone_func_buffer(sch->func, d.block->reads[r].buffer)->rank;
        for (uint32_t i = 0; i < rank && d.by == 0; i++)
            hone_expr_walk(d.block->reads[r].ranges[i].min, find_in, &d);
    }
    return d;
}

static hone_status split_axis(hone_schedule *sch, hone_rv block, const division *d) {
    const hone_index_map *map;
    HONE_TRY(hone_default_divide_map(sch, d->block->axis_count, d->axis, d->by, &map));
    return hone_sch_transform_block_layout(sch, block, map);
}

/* ILLEGAL: there is no such axis. */
static hone_status divide(hone_schedule *sch, hone_rv block, hone_packed *out) {
    *out = (hone_packed){.sch = sch, .block = block};
    HONE_TRY(hone_schedule_node(sch, block, &out->node));
    division d = {0};
    if (hone_nest_reduction(sch, out->node, &out->f)) d = find_division(sch, out->node);
    if (!d.by) return HONE_ERROR(HONE_CODE_ILLEGAL, "no axis is divided");
    HONE_TRY(split_axis(sch, block, &d));
    HONE_TRY(hone_schedule_node(sch, block, &out->node));
    hone_nest_reduction(sch, out->node, &out->f);
    return HONE_OK;
}

hone_status hone_axes_divide(hone_schedule *sch, hone_rv block) {
    hone_packed p;
    HONE_TRY(divide(sch, block, &p));
    return hone_packed_set_apart(&p);
}

hone_status hone_default_groups(hone_default_nest *n) {
    hone_packed p;
    return hone_default_optional(divide(n->sch, n->block, &p));
}
