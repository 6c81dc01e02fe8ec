/* schedule/defaults/packed_roles.c - which axes of a product are columns, rows and sums, and which
 * operand can be laid out for the tile. */
#include "schedule/defaults/loop_strides.h"
#include "schedule/defaults/packed.h"

const hone_block *hone_packed_block(const hone_packed *p) {
    return hone_func_node(p->sch->func, p->node)->u.block.block;
}

static bool moves(const hone_packed *p, const hone_region *region, uint32_t axis) {
    int64_t stride;
    return !sch_stride_in_axis(p->sch, region, hone_packed_block(p)->axes[axis].var, &stride) ||
           stride != 0;
}

int32_t hone_packed_dimension(const hone_packed *p, const hone_region *region, uint32_t axis) {
    uint32_t rank = hone_func_buffer(p->sch->func, region->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *e = region->ranges[d].min;
        if (e->kind == HONE_EXPR_VAR && e->u.var == hone_packed_block(p)->axes[axis].var)
            return (int32_t)d;
    }
    return -1;
}

/* Each axis that the access moves along is one of its dimensions. */
static bool is_simple(const hone_packed *p, const hone_region *region) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (p->f.extents[a] > 1 && moves(p, region, a) && hone_packed_dimension(p, region, a) < 0)
            return false;
    }
    return true;
}

static bool moves_in_reduction(const hone_packed *p, const hone_region *region) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] && p->f.extents[a] > 1 && moves(p, region, a)) return true;
    }
    return false;
}

/* What is read along columns: one operand that can be packed. What does not reduce, or lies in
 * vectors already, stays as it is. */
static bool find_operand(hone_packed *p, bool is_packed) {
    const hone_block *block = hone_packed_block(p);
    p->read = block->read_count;
    for (uint32_t r = 0; r < block->read_count; r++) {
        const hone_region *region = &block->reads[r];
        int64_t stride;
        if (!moves(p, region, p->column)) continue;
        bool fits = is_packed && p->read == block->read_count && is_simple(p, region) &&
                    moves_in_reduction(p, region);
        if (fits) {
            p->read = r;
            continue;
        }
        if (!sch_stride_in_axis(p->sch, region, block->axes[p->column].var, &stride) || stride != 1)
            return false;
    }
    return !is_packed || p->read < block->read_count;
}

/* Nothing that is read along columns and summed moves along the axis. */
static bool is_shared_along(const hone_packed *p, uint32_t axis) {
    const hone_block *block = hone_packed_block(p);
    if (!p->f.is_spatial[axis] || axis == p->column || p->f.extents[axis] < 2) return false;
    for (uint32_t r = 0; r < block->read_count; r++) {
        const hone_region *region = &block->reads[r];
        bool counts = moves(p, region, p->column) && moves_in_reduction(p, region);
        if (counts && moves(p, region, axis)) return false;
    }
    return true;
}

/* Rows share what is read along columns: the last axis of the output of that kind, and of some
 * length. */
static bool find_row(hone_packed *p) {
    bool is_found = false;
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!is_shared_along(p, a)) continue;
        p->row = a;
        is_found = true;
    }
    return is_found;
}

int32_t hone_packed_longest_sum(const hone_packed *p) {
    int32_t best = -1;
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        bool is_longer = best < 0 || p->f.extents[a] > p->f.extents[best];
        if (!p->f.is_spatial[a] && is_longer) best = (int32_t)a;
    }
    return best;
}

int32_t hone_packed_find_outer_row(const hone_packed *p) {
    for (uint32_t a = p->row; a-- > 0;) {
        if (is_shared_along(p, a)) return (int32_t)a;
    }
    return -1;
}

/* An axis that is not contiguous in the output, along which just one operand moves. */
static bool find_other_column(hone_packed *p) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] || (int32_t)a == p->f.contiguous_space || p->f.extents[a] < 2)
            continue;
        uint32_t count = 0;
        for (uint32_t r = 0; r < hone_packed_block(p)->read_count; r++)
            count += moves(p, &hone_packed_block(p)->reads[r], a);
        p->column = a;
        if (count == 1 && find_operand(p, true) && find_row(p) &&
            (int32_t)p->row == p->f.contiguous_space) {
            return true;
        }
    }
    return false;
}

/* One loop for each axis, in their order; one type of floats all over. */
static bool is_plain(const hone_packed *p) {
    const hone_node *node = hone_func_node(p->sch->func, p->node);
    const hone_block *block = hone_packed_block(p);
    hone_dtype dtype = hone_func_buffer(p->sch->func, block->writes[0].buffer)->dtype;
    bool is_plain = hone_dtype_is_float(dtype) && dtype.bits >= 32;
    for (uint32_t r = 0; r < block->read_count && is_plain; r++) {
        const hone_buffer_info *read = hone_func_buffer(p->sch->func, block->reads[r].buffer);
        is_plain = hone_dtype_equal(read->dtype, dtype);
    }
    hone_node_id loop = node->parent;
    for (uint32_t a = p->f.loop_count; a-- > 0 && is_plain;) {
        const hone_node *around = hone_func_node(p->sch->func, loop);
        const hone_expr *bound = node->u.block.bindings[a];
        is_plain = bound->kind == HONE_EXPR_VAR && bound->u.var == around->u.loop.var;
        loop = around->parent;
    }
    return is_plain && is_simple(p, &block->writes[0]);
}

bool hone_packed_find(hone_schedule *sch, hone_node_id node, bool is_turned, bool is_packed,
                      hone_packed *out) {
    out->sch = sch;
    out->node = node;
    out->outer_row = out->last_sum = -1;
    out->is_turned = is_turned;
    if (!hone_nest_reduction(sch, node, &out->f) || !out->f.has_reuse ||
        out->f.contiguous_space < 0 || out->f.keeps_order || !is_plain(out)) {
        return false;
    }
    if (is_turned) return find_other_column(out);
    out->column = (uint32_t)out->f.contiguous_space;
    return find_operand(out, is_packed) && find_row(out);
}
