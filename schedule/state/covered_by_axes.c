/* schedule/state/covered_by_axes.c - covered reads of a buffer whose layout is not that of the
 * axes: boxes say little of what is written there.
 *
 *     writer: B[vi // 15, vj, vi % 15] over all of vi < 128, vj < 64
 *     reader: B[(x * 2) // 15, y, (x * 2) % 15]
 *
 * The reader's place is the writer's with vi = x * 2 and vj = y put in. Then the reader finds what
 * it reads written when the values of x * 2 and y are among those that vi and vj run over, whatever
 * the places are.
 */
#include "ir/region/region.h"
#include "schedule/state/schedule_impl.h"

typedef struct axis_match {
    hone_schedule *sch;
    const hone_block *writer;
    const hone_expr **put_in; /* for each axis of the writer: what it is for the reader, or NULL */
} axis_match;

static bool is_alike(axis_match *l, const hone_expr *written, const hone_expr *read) {
    for (uint32_t i = 0; written->kind == HONE_EXPR_VAR && i < l->writer->axis_count; i++) {
        if (l->writer->axes[i].var != written->u.var) continue;
        if (!l->put_in[i]) l->put_in[i] = read;
        return hone_expr_same(l->put_in[i], read);
    }
    if (written->count == 0) return hone_expr_same(written, read);
    if (written->kind != read->kind || written->op != read->op || written->count != read->count ||
        !hone_dtype_equal(written->dtype, read->dtype) || written->kind == HONE_EXPR_LOAD) {
        return false;
    }
    for (uint32_t i = 0; i < written->count; i++) {
        if (!is_alike(l, written->args[i], read->args[i])) return false;
    }
    return true;
}

static bool are_points_alike(axis_match *l, uint32_t rank, const hone_region *written,
                             const hone_region *read) {
    for (uint32_t d = 0; d < rank; d++) {
        if (!hone_expr_is_int_value(written->ranges[d].extent, 1) ||
            !hone_expr_is_int_value(read->ranges[d].extent, 1) ||
            !is_alike(l, written->ranges[d].min, read->ranges[d].min)) {
            return false;
        }
    }
    return true;
}

/* The values, over the loops below top, as intervals. */
static bool values_below(hone_schedule *sch, hone_node_id block, hone_node_id top, uint32_t count,
                         const hone_expr *const *values, const hone_expr *const *ends,
                         hone_interval *out, bool *out_is_exact) {
    bool *marks = NULL;
    hone_status st = sch_mark_loops(sch, block, top, &marks);
    if (!st) {
        st = hone_values_relax(&sch->arith, sch->func, block, count, values, ends, marks,
                               sch->func->var_count, out, out_is_exact);
    }
    if (!st) return true;
    hone_status_free(st);
    return false;
}

static bool is_within(hone_schedule *sch, uint32_t count, const hone_interval *inner,
                      const hone_interval *outer) {
    for (uint32_t i = 0; i < count; i++) {
        if (!hone_prove_contains(&sch->arith, outer[i], inner[i])) return false;
    }
    return true;
}

bool sch_is_covered_by_axes(hone_schedule *sch, hone_node_id from, const hone_region *written,
                            hone_node_id to, const hone_region *read, hone_node_id top) {
    const hone_block *writer = sch_block(sch, from);
    uint32_t axis_count = writer->axis_count, count = 0;
    size_t bytes = (axis_count + 1) * sizeof(hone_expr *);
    axis_match l = {sch, writer, hone_arena_zalloc(sch->arena, bytes)};
    const hone_expr **axes = hone_arena_alloc(sch->arena, bytes);
    const hone_expr **ends = hone_arena_alloc(sch->arena, bytes);
    const hone_expr **values = hone_arena_alloc(sch->arena, bytes);
    hone_interval *made = hone_arena_zalloc(sch->arena, (axis_count + 1) * sizeof *made);
    hone_interval *used = hone_arena_zalloc(sch->arena, (axis_count + 1) * sizeof *used);
    if (!l.put_in || !axes || !ends || !values || !made || !used) return false;
    uint32_t rank = hone_func_buffer(sch->func, read->buffer)->rank;
    if (!are_points_alike(&l, rank, written, read) || !sch_writes_exactly(sch, from)) return false;
    for (uint32_t i = 0; i < axis_count; i++) {
        if (!l.put_in[i]) continue;
        axes[count] = sch_var(sch, writer->axes[i].var);
        ends[count] = writer->axes[i].dom.extent;
        values[count] = l.put_in[i];
        if (!axes[count++] || !hone_expr_is_int_value(writer->axes[i].dom.min, 0)) return false;
    }
    bool is_exact = false;
    return values_below(sch, from, top, count, axes, ends, made, &is_exact) && is_exact &&
           values_below(sch, to, top, count, values, ends, used, NULL) &&
           is_within(sch, count, used, made);
}
