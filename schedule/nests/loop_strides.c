/* schedule/nests/loop_strides.c - strides of accesses in loops, and loops that make a vector. */
#include "schedule/nests/loop_strides.h"

#include "schedule/state/schedule_impl.h"

enum { MAX_ACCESSES = 16 };

/* ---- strides ---- */

/* io += a * b; false when that is no number of 64 bits (shapes may be that large). */
static bool add_product(int64_t *io, int64_t a, int64_t b) {
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*io, product, io);
}

/* The coefficient of a variable in an index. */
static bool coefficient(hone_schedule *sch, const hone_expr *e, hone_var var, int64_t *out) {
    *out = 0;
    if (e->kind == HONE_EXPR_VAR) {
        *out = e->u.var == var;
        return true;
    }
    if (!hone_expr_uses_var(e, var)) return true;
    return hone_linear_coeff(&sch->arith, e, var, out);
}

/* By dimensions, each linear in the axis. */
static bool stride_by_dimensions(hone_schedule *sch, const hone_region *region, hone_var axis,
                                 int64_t *out_stride) {
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, region->buffer);
    int64_t dense = 1, sum = 0;
    *out_stride = 0;
    for (uint32_t d = buffer->rank; d-- > 0;) {
        int64_t stride = buffer->strides ? hone_expr_const(buffer->strides[d]) : dense;
        int64_t extent = hone_expr_const(buffer->shape[d]);
        int64_t coeff;
        if (!coefficient(sch, region->ranges[d].min, axis, &coeff)) return false;
        if (coeff && stride < 0) return false;
        if (coeff && !add_product(&sum, coeff, stride)) return false;
        if (extent < 0 || dense < 0 || __builtin_mul_overflow(dense, extent, &dense)) dense = -1;
    }
    *out_stride = sum;
    return true;
}

/* Where in memory the region of a dense buffer begins; NULL where that is no index of 32 bits. */
static const hone_expr *address_of(hone_schedule *sch, const hone_region *region) {
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, region->buffer);
    int64_t dense = 1, elements = hone_buffer_elements(buffer);
    const hone_expr *sum = NULL;
    if (buffer->strides || elements < 1 || elements > INT32_MAX) return NULL;
    for (uint32_t d = buffer->rank; d-- > 0;) {
        const hone_expr *at = region->ranges[d].min;
        if (sum && !hone_dtype_equal(sum->dtype, at->dtype)) return NULL;
        at = hone_expr_mul(&sch->ir, at, hone_expr_int(&sch->ir, at->dtype, dense));
        sum = sum ? hone_expr_add(&sch->ir, at, sum) : at;
        if (!sum) return NULL;
        dense *= hone_expr_const(buffer->shape[d]);
    }
    return sum;
}

/* An axis that joins two dimensions, p // 56 and p % 56, is linear in none of them, but moves
 * straight on in memory. */
bool sch_stride_in_axis(hone_schedule *sch, const hone_region *region, hone_var axis,
                        int64_t *out_stride) {
    if (stride_by_dimensions(sch, region, axis, out_stride)) return true;
    const hone_expr *address = address_of(sch, region);
    address = address ? hone_simplify(&sch->arith, address) : NULL;
    return address && coefficient(sch, address, axis, out_stride);
}

bool sch_stride_in_loop(hone_schedule *sch, hone_node_id block, const hone_region *region,
                        hone_var loop_var, int64_t *out_stride) {
    const hone_node *node = sch_node(sch, block);
    const hone_block *inner = node->u.block.block;
    *out_stride = 0;
    for (uint32_t a = 0; a < inner->axis_count; a++) {
        int64_t in_binding, in_region;
        if (!coefficient(sch, node->u.block.bindings[a], loop_var, &in_binding)) return false;
        if (in_binding == 0) continue;
        if (!sch_stride_in_axis(sch, region, inner->axes[a].var, &in_region)) return false;
        if (!add_product(out_stride, in_binding, in_region)) return false;
    }
    return true;
}

/* ---- runs of loops ---- */

typedef struct run_search {
    hone_schedule *sch;
    hone_node_id block;
    uint32_t access_count, write_count; /* writes come first */
    const hone_region *accesses[MAX_ACCESSES];
    int64_t next[MAX_ACCESSES]; /* the stride that the next loop outward must have */
} run_search;

static bool collect(run_search *s) {
    const hone_block *block = sch_block(s->sch, s->block);
    if (block->write_count == 0 || block->read_count + block->write_count > MAX_ACCESSES) {
        return false;
    }
    for (uint32_t i = 0; i < block->write_count; i++) {
        s->accesses[s->access_count++] = &block->writes[i];
    }
    s->write_count = s->access_count;
    for (uint32_t i = 0; i < block->read_count; i++) {
        s->accesses[s->access_count++] = &block->reads[i];
    }
    return true;
}

/* Feeds spatial axes of the block only, and at least one. */
static bool feeds_spatial_only(const hone_schedule *sch, hone_node_id block, hone_var var) {
    const hone_node *node = sch_node(sch, block);
    bool is_used = false;
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if (!hone_expr_uses_var(node->u.block.bindings[a], var)) continue;
        if (node->u.block.block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
        is_used = true;
    }
    return is_used;
}

/* Innermost loop of the run: writes are contiguous, reads may be anything that is linear or not. */
static bool starts_run(run_search *s, hone_var var, int64_t extent) {
    for (uint32_t i = 0; i < s->access_count; i++) {
        int64_t stride;
        bool is_known = sch_stride_in_loop(s->sch, s->block, s->accesses[i], var, &stride);
        if (i < s->write_count && (!is_known || stride != 1)) return false;
        s->next[i] = is_known ? stride * extent : -1;
    }
    return true;
}

static bool continues_run(run_search *s, hone_var var, int64_t extent) {
    for (uint32_t i = 0; i < s->access_count; i++) {
        int64_t stride;
        if (s->next[i] < 0) return false;
        if (!sch_stride_in_loop(s->sch, s->block, s->accesses[i], var, &stride)) return false;
        if (stride != s->next[i]) return false;
    }
    for (uint32_t i = 0; i < s->access_count; i++)
        s->next[i] *= extent;
    return true;
}

sch_vector_run sch_find_vector_run(hone_schedule *sch, hone_node_id block, uint32_t count,
                                   const hone_node_id *loops, int64_t limit) {
    sch_vector_run run = {1, 0, 1, 1};
    run_search s = {.sch = sch, .block = block};
    bool has_run = false, is_full = false;
    if (!collect(&s)) return run;
    for (uint32_t i = count; i-- > 0;) {
        const hone_node *loop = sch_node(sch, loops[i]);
        int64_t extent = hone_expr_const(loop->u.loop.range.extent);
        if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count ||
            loop->first != loop->last || extent < 1) {
            break;
        }
        if (extent == 1) continue;
        hone_var var = loop->u.loop.var;
        if (!feeds_spatial_only(sch, block, var)) break;
        if (!(has_run ? continues_run(&s, var, extent) : starts_run(&s, var, extent))) break;
        if (!has_run) {
            run = (sch_vector_run){i, i, i, extent};
            has_run = true;
            continue;
        }
        if (extent > INT32_MAX / run.full_product) break;
        run.full_first = i;
        run.full_product *= extent;
        is_full = is_full || run.full_product > limit;
        if (!is_full) run.first = i;
    }
    return run;
}

bool sch_is_open_row(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    run_search s = {.sch = sch, .block = block};
    const hone_node *node = sch_node(sch, loop);
    bool is_open = hone_expr_const(node->u.loop.range.extent) < 0;
    if (!is_open || node->loop_kind != HONE_LOOP_SERIAL || node->u.loop.annotations.count) {
        return false;
    }
    return node->first == node->last && collect(&s) &&
           feeds_spatial_only(sch, block, node->u.loop.var) && starts_run(&s, node->u.loop.var, 1);
}
