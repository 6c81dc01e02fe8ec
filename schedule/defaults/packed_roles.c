/* schedule/defaults/packed_roles.c - which axes of a product are columns, rows and sums, and which
 * operand can be laid out for the tile. */
#include "schedule/defaults/packed.h"
#include "schedule/nests/loop_strides.h"

enum {
    TOGETHER = 4,  /* bytes that one instruction sums */
    SINGLE = 6,    /* instructions for a byte alone */
    MANY_FOURS = 2 /* beside which a few single bytes take less than a copy with zeros */
};

static const double WORTH_TURNING = 1.5;

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

static int32_t axis_of(const hone_packed *p, const hone_expr *e) {
    for (uint32_t a = 0; a < p->f.loop_count; a++)
        if (e->kind == HONE_EXPR_VAR && e->u.var == hone_packed_block(p)->axes[a].var)
            return (int32_t)a;
    return -1;
}

/* The index is outer * (places of inner) + inner; false: it is no two such axes. */
static bool find_two_axes(const hone_packed *p, const hone_expr *index, uint32_t *out_outer,
                          uint32_t *out_inner) {
    hone_linear sum;
    if (!hone_linear_of(&p->sch->arith, index, &sum) || sum.count != 2 || sum.constant != 0)
        return false;
    uint32_t near = sum.terms[0].coeff == 1 ? 0 : 1;
    int32_t inner = axis_of(p, sum.terms[near].term), outer = axis_of(p, sum.terms[1 - near].term);
    if (inner < 0 || outer < 0 || sum.terms[near].coeff != 1) return false;
    *out_outer = (uint32_t)outer;
    *out_inner = (uint32_t)inner;
    return sum.terms[1 - near].coeff == p->f.extents[inner];
}

int32_t hone_packed_place(const hone_packed *p, const hone_region *region, uint32_t axis) {
    int32_t dimension = hone_packed_dimension(p, region, axis);
    uint32_t rank = hone_func_buffer(p->sch->func, region->buffer)->rank, outer, inner;
    hone_var var = hone_packed_block(p)->axes[axis].var;
    for (uint32_t d = 0; d < rank && dimension < 0; d++) {
        const hone_expr *index = region->ranges[d].min;
        bool is_there = hone_expr_uses_var(index, var) && find_two_axes(p, index, &outer, &inner);
        if (is_there) dimension = (int32_t)d;
    }
    return dimension;
}

int64_t hone_packed_inner(const hone_packed *p, const hone_region *region, uint32_t dimension) {
    uint32_t outer, inner;
    bool are_two = find_two_axes(p, region->ranges[dimension].min, &outer, &inner);
    return are_two ? p->f.extents[inner] : 0;
}

/* Each axis that the access moves along has a place in one of its dimensions. */
static bool is_simple(const hone_packed *p, const hone_region *region) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (p->f.extents[a] > 1 && moves(p, region, a) && hone_packed_place(p, region, a) < 0)
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

/* Nothing that is read along columns and summed moves along the axis, of so many places. */
static bool is_shared_along(const hone_packed *p, uint32_t axis, int64_t least) {
    const hone_block *block = hone_packed_block(p);
    if (!p->f.is_spatial[axis] || axis == p->column || p->f.extents[axis] < least) return false;
    for (uint32_t r = 0; r < block->read_count; r++) {
        const hone_region *region = &block->reads[r];
        bool counts = moves(p, region, p->column) && moves_in_reduction(p, region);
        if (counts && moves(p, region, axis)) return false;
    }
    return true;
}

/* Rows share what is read along columns: the last axis of the output of that kind, and of some
 * length where there is one. */
static bool find_row(hone_packed *p) {
    bool is_found = false;
    for (int64_t least = 2; least >= 1 && !is_found; least--) {
        for (uint32_t a = 0; a < p->f.loop_count; a++) {
            if (!is_shared_along(p, a, least)) continue;
            p->row = a;
            is_found = true;
        }
    }
    return is_found;
}

int32_t hone_packed_longest_sum(const hone_packed *p) {
    int32_t best = -1;
    if (p->together > 1) return p->last_sum;
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        bool is_longer = best < 0 || p->f.extents[a] > p->f.extents[best];
        if (!p->f.is_spatial[a] && is_longer) best = (int32_t)a;
    }
    return best;
}

int32_t hone_packed_find_outer_row(const hone_packed *p) {
    for (uint32_t a = p->row; a-- > 0;) {
        if (is_shared_along(p, a, 2)) return (int32_t)a;
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

static hone_dtype type_of(const hone_packed *p, const hone_region *region) {
    return hone_func_buffer(p->sch->func, region->buffer)->dtype;
}

/* Floats that are summed in 32 bits or more, and are no wider than their sums. */
static bool is_of_floats(const hone_packed *p) {
    const hone_block *block = hone_packed_block(p);
    hone_dtype sum = type_of(p, &block->writes[0]);
    bool are_floats = hone_dtype_is_float(sum) && sum.bits >= 32;
    for (uint32_t r = 0; r < block->read_count && are_floats; r++) {
        hone_dtype dtype = type_of(p, &block->reads[r]);
        are_floats =
            hone_dtype_equal(dtype, sum) || (sum.bits == 32 && hone_dtype_is_short_float(dtype));
    }
    return are_floats;
}

bool hone_packed_is_narrow(const hone_packed *p, uint32_t read) {
    return hone_dtype_is_short_float(type_of(p, &hone_packed_block(p)->reads[read]));
}

/* The reduce axis of so many steps along which all that is summed but what moves along columns is
 * contiguous; -1: there is none. */
static int32_t find_contiguous_sum(const hone_packed *p, int64_t least) {
    const hone_block *block = hone_packed_block(p);
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        bool is_contiguous = !p->f.is_spatial[a] && p->f.extents[a] >= least;
        for (uint32_t r = 0; r < block->read_count && is_contiguous; r++) {
            int64_t stride;
            const hone_region *region = &block->reads[r];
            if (moves(p, region, p->column) || !moves_in_reduction(p, region)) continue;
            is_contiguous =
                sch_stride_in_axis(p->sch, region, block->axes[a].var, &stride) && stride == 1;
        }
        if (is_contiguous) return (int32_t)a;
    }
    return -1;
}

/* Bytes that are summed in 32 bits; what does not move (zero points) is of any type. */
static bool is_of_bytes(const hone_packed *p) {
    const hone_block *block = hone_packed_block(p);
    hone_dtype sum = type_of(p, &block->writes[0]);
    bool are_bytes = hone_dtype_is_integer(sum) && sum.bits == 32;
    for (uint32_t r = 0; r < block->read_count && are_bytes; r++) {
        hone_dtype dtype = type_of(p, &block->reads[r]);
        if (moves_in_reduction(p, &block->reads[r]))
            are_bytes =
                hone_dtype_is_integer(dtype) && dtype.bits == 8 && !hone_dtype_is_bool(dtype);
    }
    return are_bytes;
}

bool hone_packed_is_shared(const hone_packed *p, uint32_t read) {
    const hone_region *region = &hone_packed_block(p)->reads[read];
    return !moves(p, region, p->column) && moves_in_reduction(p, region);
}

/* One loop for each axis, in their order. */
static bool is_plain(const hone_packed *p) {
    const hone_node *node = hone_func_node(p->sch->func, p->node);
    bool is_plain = true;
    hone_node_id loop = node->parent;
    for (uint32_t a = p->f.loop_count; a-- > 0 && is_plain;) {
        const hone_node *around = hone_func_node(p->sch->func, loop);
        const hone_expr *bound = node->u.block.bindings[a];
        is_plain = bound->kind == HONE_EXPR_VAR && bound->u.var == around->u.loop.var;
        loop = around->parent;
    }
    return is_plain && is_simple(p, &hone_packed_block(p)->writes[0]);
}

static bool find_roles(hone_packed *p, bool is_packed) {
    if (p->is_turned) return find_other_column(p);
    p->column = (uint32_t)p->f.contiguous_space;
    return find_operand(p, is_packed) && find_row(p);
}

/* Bytes side by side are those of the copy. */
static bool find_sum_of_bytes(hone_packed *p, bool is_packed) {
    p->together = TOGETHER;
    p->last_sum = find_contiguous_sum(p, TOGETHER);
    return is_packed && p->last_sum >= 0 &&
           moves(p, &hone_packed_block(p)->reads[p->read], (uint32_t)p->last_sum);
}

/* Fills in what does not depend on the operand; false: it is no product. */
static bool begin(hone_schedule *sch, hone_node_id node, bool is_turned, hone_packed *out) {
    out->sch = sch;
    out->node = node;
    out->outer_row = out->last_sum = -1;
    out->together = 1;
    out->is_turned = is_turned;
    return hone_nest_reduction(sch, node, &out->f) && out->f.has_reuse &&
           out->f.contiguous_space >= 0 && !out->f.keeps_order && is_plain(out);
}

bool hone_packed_find(hone_schedule *sch, hone_node_id node, bool is_turned, bool is_packed,
                      hone_packed *out) {
    if (!begin(sch, node, is_turned, out)) return false;
    if (is_of_floats(out)) return find_roles(out, is_packed);
    return is_of_bytes(out) && find_roles(out, is_packed) && find_sum_of_bytes(out, is_packed);
}

/* Products in the time of an instruction for so many steps of a sum: the last ones are single, and
 * each of them takes longer, since it makes words of bytes that lie apart. */
static double products_together(int64_t steps) {
    return (double)steps / (double)(steps / TOGETHER + SINGLE * (steps % TOGETHER));
}

/* The only dimension that moves with the axis, one step at a time; -1: there is none. */
static int32_t moving_dimension(const hone_packed *p, const hone_region *region, uint32_t axis) {
    hone_var var = hone_packed_block(p)->axes[axis].var;
    uint32_t rank = hone_func_buffer(p->sch->func, region->buffer)->rank;
    int32_t found = -1;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t step = 0;
        const hone_expr *e = region->ranges[d].min;
        if (!hone_expr_uses_var(e, var)) continue;
        bool is_one = e->kind == HONE_EXPR_VAR ||
                      (hone_linear_coeff(&p->sch->arith, e, var, &step) && step == 1);
        if (found >= 0 || !is_one) return -1;
        found = (int32_t)d;
    }
    return found;
}

/* The one read that is summed and shared by columns; -1: there are none, or several. */
static int32_t find_shared_read(const hone_packed *p) {
    int32_t found = -1;
    for (uint32_t r = 0; r < hone_packed_block(p)->read_count; r++) {
        if (!hone_packed_is_shared(p, r)) continue;
        if (found >= 0) return -1;
        found = (int32_t)r;
    }
    return found;
}

/* As many where zeros are added to the last four. */
static double products_padded(int64_t steps) {
    return (double)steps / (double)((steps + TOGETHER - 1) / TOGETHER);
}

/* Zeros can be added along the axis: it is a dimension of whatever moves with it. */
static bool can_pad(const hone_packed *p, uint32_t axis) {
    const hone_block *block = hone_packed_block(p);
    for (uint32_t r = 0; r < block->read_count; r++) {
        if (moves(p, &block->reads[r], axis) &&
            hone_packed_dimension(p, &block->reads[r], axis) < 0)
            return false;
    }
    return p->f.extents[axis] % TOGETHER != 0;
}

/* What lies well along its sum, but for its few last steps: channels that are the last dimension.
 */
static bool find_fours_in_place(const hone_packed *p, hone_packed_fours *out) {
    int32_t axis = find_contiguous_sum(p, 2), read = find_shared_read(p);
    if (axis < 0 || read < 0 || !can_pad(p, (uint32_t)axis)) return false;
    int64_t steps = p->f.extents[axis];
    *out = (hone_packed_fours){.read = (uint32_t)read, .dimension = -1, .padded = axis};
    return steps < MANY_FOURS * TOGETHER && steps % TOGETHER > 1;
}

/* The axis whose dimension should be the last one of what is shared by columns. */
static bool find_fours_across(const hone_packed *p, hone_packed_fours *out) {
    int32_t read = find_shared_read(p), now = find_contiguous_sum(p, TOGETHER);
    *out = (hone_packed_fours){.dimension = -1, .padded = -1};
    if (read < 0) return false;
    double most = now < 0 ? 1 : products_together(p->f.extents[now]) * WORTH_TURNING;
    out->read = (uint32_t)read;
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        int32_t dimension = moving_dimension(p, &hone_packed_block(p)->reads[read], a);
        if (p->f.is_spatial[a] || (int32_t)a == now || dimension < 0) continue;
        bool is_padded = can_pad(p, a);
        if (p->f.extents[a] < TOGETHER && !is_padded) continue;
        double products =
            is_padded ? products_padded(p->f.extents[a]) : products_together(p->f.extents[a]);
        if (products <= most) continue;
        most = products;
        out->dimension = dimension;
        out->padded = is_padded ? (int32_t)a : -1;
    }
    return out->dimension >= 0;
}

bool hone_packed_find_fours(hone_schedule *sch, hone_node_id node, hone_packed_fours *out) {
    hone_packed p = {0};
    bool is_of_columns = begin(sch, node, false, &p) && is_of_bytes(&p) && find_roles(&p, true);
    if (is_of_columns && find_fours_in_place(&p, out)) return true;
    p = (hone_packed){0};
    if (hone_packed_find(sch, node, false, true, &p)) return false;
    return begin(sch, node, true, &p) && is_of_bytes(&p) && find_roles(&p, true) &&
           find_fours_across(&p, out);
}
