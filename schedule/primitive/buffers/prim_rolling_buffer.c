/* schedule/primitive/buffers/prim_rolling_buffer.c - rolling_buffer: a buffer that is made piece by
 * piece in a loop keeps the last piece only, and what two pieces share is not computed again.
 *
 *     for i in 8:                                        for i in 8:
 *         for ax in 3: with block B: B[vi] = f(A[vi])  →     for ax in 3: with block B:
 *         with block C: C[i] = B[i] + B[i + 2]                   where(i < 1 or 2 <= ax)
 *                                                                B[vi % 3] = f(A[vi])
 *                                                            with block C: C[i] = B[i % 3] + …
 *
 * In each dimension of the buffer the pieces are windows [stride * v, stride * v + extent) of a
 * loop v around producer and readers, or move with other loops, or not at all. The stride may be a
 * fraction (v * 5 // 2), which counts as the next whole number: no window goes further. Where
 * windows overlap (stride < extent), an element is computed when the first window comes to it (or
 * once more with the same value, where a window went less far). The
 * dimension whose v is outermost is folded: an element keeps its place (modulo the extent) while
 * windows hold it, since the loops outside of v stand still meanwhile.
 *
 * As in TVM, the spatial axes of all blocks in the scope that have the number of the folded
 * dimension become opaque (TVM's reduce axes do, too, and begin anew in each step then). The
 * producer is marked SCH_ROLLED: who reads it finds what a whole buffer holds.
 *
 * Checks: the buffer is allocated in the scope of the block, no view of it is taken, and the block
 * writes nothing else; it is the only writer; the lowest node around all that touch the buffer is a
 * loop; only loops that run one iteration after the other stand around it; a run of the block makes
 * the same again: axes that are not reduced index the buffer one by one, reduce axes are bound to
 * loops of their own below, what it reads is final, its predicate only cuts off values of its axes;
 * pieces are dense boxes whose windows overlap in at least one dimension, and those loops
 * v move nothing else; the readers find what they read in the piece.
 */
#include "ir/region/region.h"
#include "schedule/primitive/primitive_impl.h"

typedef struct window {
    const hone_expr *binding, *min; /* min == NULL: not a dimension of this kind */
    hone_node_id loop;              /* v, or HONE_NO_ID */
    int64_t overlap;
} window;

typedef struct rolling {
    hone_schedule *sch;
    hone_node_id block, scope, around; /* around: the lowest loop with all accesses below it */
    hone_buffer buffer;
    uint32_t rank, dimension; /* dimension: the one that is folded */
    hone_interval *box;
    int64_t extent; /* of the fold */
    window *windows;
} rolling;

static const char *buffer_name(const rolling *r) {
    return sch_buffer_name(r->sch, r->buffer);
}

static bool touches(const rolling *r, hone_node_id block) {
    return sch_writes(sch_block(r->sch, block), r->buffer) ||
           sch_reads(sch_block(r->sch, block), r->buffer);
}

/* ---- the place ---- */

static hone_status check_readers(rolling *r) {
    hone_schedule *sch = r->sch;
    uint32_t reader_count = 0;
    r->around = r->block;
    SCH_EACH_BLOCK (sch, r->scope, n) {
        const hone_block *block = sch_block(sch, n);
        if (n == r->block || !touches(r, n)) continue;
        r->around = sch_lca(sch, r->around, n);
        reader_count++;
        if (sch_writes(block, r->buffer)) {
            return sch_refuse(sch, n, "both %s and %s write '%s'", sch_block_name(sch, r->block),
                              sch_block_name(sch, n), buffer_name(r));
        }
        for (uint32_t i = 0; i < block->read_count; i++) {
            const char *why = NULL;
            if (block->reads[i].buffer != r->buffer) continue;
            if (sch_is_covered_read(sch, r->scope, n, &block->reads[i], &why)) continue;
            return sch_refuse(sch, n, "%s does not find '%s' in one piece: %s",
                              sch_block_name(sch, n), buffer_name(r), why);
        }
    }
    if (reader_count && sch_node(sch, r->around)->kind == HONE_NODE_FOR) return HONE_OK;
    return sch_refuse(sch, r->block, "no loop is around both %s and those who read '%s'",
                      sch_block_name(sch, r->block), buffer_name(r));
}

static hone_status check_loops(rolling *r) {
    hone_schedule *sch = r->sch;
    for (hone_node_id n = r->around; n != r->scope; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_UNROLLED) continue;
        return sch_refuse(sch, n, "the iterations of %s run side by side, but share '%s'",
                          sch_loop_name(sch, n), buffer_name(r));
    }
    if (!sch_has_other_statements(sch, r->around)) return HONE_OK;
    return sch_refuse(sch, r->around, "a statement in %s stands outside of blocks",
                      sch_loop_name(sch, r->around));
}

static hone_status check_buffer(rolling *r) {
    hone_schedule *sch = r->sch;
    if (sch_alloc_site(sch, r->buffer) != r->scope) {
        return sch_refuse(sch, r->block, "'%s' is not allocated in the scope of %s", buffer_name(r),
                          sch_block_name(sch, r->block));
    }
    if (sch_block(sch, r->block)->write_count != 1) {
        return sch_refuse(sch, r->block, "%s writes more than '%s'", sch_block_name(sch, r->block),
                          buffer_name(r));
    }
    HONE_TRY(sch_require_declared(sch, r->buffer));
    return sch_require_no_views(sch, r->block, r->buffer);
}

/* ---- the producer ---- */

/* Is a reduce axis bound to a loop of its own below r->around, over all of it? */
static bool is_reduced_inside(const rolling *r, uint32_t axis) {
    const hone_schedule *sch = r->sch;
    const hone_node *node = sch_node(sch, r->block);
    const hone_expr *binding = node->u.block.bindings[axis];
    hone_node_id loop = node->parent;
    if (binding->kind != HONE_EXPR_VAR) return false;
    while (loop != r->around && sch_node(sch, loop)->u.loop.var != binding->u.var)
        loop = sch_node(sch, loop)->parent;
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (i != axis && hone_expr_uses_var(node->u.block.bindings[i], binding->u.var))
            return false;
    }
    const hone_range *dom = &node->u.block.block->axes[axis].dom;
    const hone_range *range = &sch_node(sch, loop)->u.loop.range;
    return loop != r->around && hone_expr_same(dom->min, range->min) &&
           hone_expr_same(dom->extent, range->extent);
}

static bool indexes_alone(const hone_region *written, uint32_t rank, hone_var axis) {
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *index = written->ranges[d].min;
        if (index->kind == HONE_EXPR_VAR && index->u.var == axis) return true;
    }
    return false;
}

static hone_status check_axes(rolling *r) {
    hone_schedule *sch = r->sch;
    const hone_block *block = sch_block(sch, r->block);
    bool has_init = hone_block_init_of(sch->func, r->block) != HONE_NO_ID;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_axis *axis = &block->axes[i];
        bool fits = axis->kind == HONE_AXIS_REDUCE
                        ? has_init && is_reduced_inside(r, i)
                        : axis->kind != HONE_AXIS_SCAN &&
                              (hone_expr_is_int_value(axis->dom.extent, 1) ||
                               indexes_alone(&block->writes[0], r->rank, axis->var));
        if (fits) continue;
        return sch_refuse(sch, r->block,
                          axis->kind == HONE_AXIS_REDUCE
                              ? "reduce axis '%s' of %s is not bound to a loop of its own below %s"
                              : "axis '%s' of %s does not index '%s' by itself",
                          sch->func->vars[axis->var].name, sch_block_name(sch, r->block),
                          axis->kind == HONE_AXIS_REDUCE ? sch_loop_name(sch, r->around)
                                                         : buffer_name(r));
    }
    for (uint32_t d = 0; d < r->rank; d++) {
        if (hone_expr_is_int_value(block->writes[0].ranges[d].extent, 1)) continue;
        return sch_refuse(sch, r->block, "%s writes more than one element of '%s' at a time",
                          sch_block_name(sch, r->block), buffer_name(r));
    }
    if (!has_init || sch_counts_once(sch, r->block, r->around)) return HONE_OK;
    return sch_refuse(sch, r->block, "the bindings of %s are not affine in the loops below %s",
                      sch_block_name(sch, r->block), sch_loop_name(sch, r->around));
}

/* What the block reads is the same when it runs again. */
static hone_status check_inputs(rolling *r) {
    hone_schedule *sch = r->sch;
    const hone_block *block = sch_block(sch, r->block);
    for (uint32_t i = 0; i < block->read_count; i++) {
        const char *why = "it goes on with what is there";
        hone_node_id writer = HONE_NO_ID;
        uint32_t writer_count = 0;
        SCH_EACH_BLOCK (sch, r->scope, n) {
            if (!sch_writes(sch_block(sch, n), block->reads[i].buffer)) continue;
            writer = n;
            writer_count++;
        }
        if (writer_count == 1 && (sch_node(sch, writer)->flags & SCH_ROLLED) &&
            sch_is_before(sch, writer, r->block)) {
            continue;
        }
        bool is_covered =
            block->reads[i].buffer == r->buffer
                ? !sch_accumulates(sch, r->block, r->buffer)
                : sch_is_covered_read(sch, r->scope, r->block, &block->reads[i], &why);
        if (is_covered) continue;
        return sch_refuse(sch, r->block, "%s would not find the same in '%s' again: %s",
                          sch_block_name(sch, r->block),
                          sch_buffer_name(sch, block->reads[i].buffer), why);
    }
    return HONE_OK;
}

/* Does a condition leave out the same values of the axes in each window? So do comparisons of what
 * an axis is bound to with a constant. */
static bool cuts_axes(const rolling *r, const hone_expr *e) {
    hone_schedule *sch = r->sch;
    const hone_node *node = sch_node(sch, r->block);
    if (hone_expr_is_op(e, HONE_OP_AND))
        return cuts_axes(r, e->args[0]) && cuts_axes(r, e->args[1]);
    bool is_end = hone_expr_is_op(e, HONE_OP_LT) || hone_expr_is_op(e, HONE_OP_LE);
    if (!is_end || !hone_expr_is_int(e->args[1])) return false;
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (hone_expr_same(e->args[0], node->u.block.bindings[i])) return true;
    }
    return false;
}

static hone_status check_producer(rolling *r) {
    hone_schedule *sch = r->sch;
    if ((sch_node(sch, r->block)->flags & SCH_OPEN) || !sch_is_below_loops_only(sch, r->block)) {
        return sch_refuse(sch, r->block,
                          "%s depends on the loops around it in other ways than by its bindings",
                          sch_block_name(sch, r->block));
    }
    HONE_TRY(check_axes(r));
    HONE_TRY(check_inputs(r));
    const hone_expr *predicate = sch_node(sch, r->block)->u.block.predicate;
    if (sch_predicate_follows(sch, r->block) || cuts_axes(r, predicate)) return HONE_OK;
    return sch_refuse(sch, r->block, "the predicate of %s leaves out more than values of its axes",
                      sch_block_name(sch, r->block));
}

/* ---- windows ---- */

/* The box of one piece, without regard to the predicate, which only cuts it off at the ends. */
static hone_status find_box(rolling *r) {
    hone_schedule *sch = r->sch;
    bool *marks = NULL, is_exact = false;
    r->box = hone_arena_alloc(sch->arena, (r->rank + 1) * sizeof *r->box);
    r->windows = hone_arena_zalloc(sch->arena, (r->rank + 1) * sizeof *r->windows);
    if (!r->box || !r->windows) return sch_no_memory();
    HONE_TRY(sch_mark_loops(sch, r->block, r->around, &marks));
    const hone_expr *predicate = sch_node(sch, r->block)->u.block.predicate;
    sch_node(sch, r->block)->u.block.predicate = NULL;
    hone_status st =
        hone_region_relax(&sch->arith, sch->func, r->block, &sch_block(sch, r->block)->writes[0],
                          marks, sch->func->var_count, r->box, &is_exact);
    sch_node(sch, r->block)->u.block.predicate = predicate;
    HONE_TRY(st);
    if (is_exact) return HONE_OK;
    return sch_refuse(sch, r->block, "what %s makes below %s is not a box",
                      sch_block_name(sch, r->block), sch_loop_name(sch, r->around));
}

/* The binding of the axis that is the index of a dimension, or the constant. */
static const hone_expr *index_of(const rolling *r, uint32_t d) {
    const hone_node *node = sch_node(r->sch, r->block);
    const hone_expr *index = node->u.block.block->writes[0].ranges[d].min;
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (index->kind == HONE_EXPR_VAR && index->u.var == node->u.block.block->axes[i].var) {
            return node->u.block.bindings[i];
        }
    }
    return index;
}

/* The variable v and the stride of stride * v + constant, or of a quotient of that. */
static bool match_stride(hone_arith *arith, const hone_expr *min, hone_var *out_var,
                         int64_t *out_stride) {
    hone_linear form;
    if (!hone_linear_of(arith, min, &form) || form.count != 1 || form.terms[0].coeff < 1) {
        return false;
    }
    const hone_expr *term = form.terms[0].term;
    *out_stride = form.terms[0].coeff;
    int64_t divisor = 1;
    if (hone_expr_is_op(term, HONE_OP_FLOORDIV) && *out_stride == 1) {
        divisor = hone_expr_const(term->args[1]);
        if (!hone_expr_is_int(term->args[1]) || divisor < 1 ||
            !hone_linear_of(arith, term->args[0], &form) || form.count != 1 ||
            form.terms[0].coeff < 1) {
            return false;
        }
        term = form.terms[0].term;
        *out_stride = form.terms[0].coeff / divisor + (form.terms[0].coeff % divisor != 0);
    }
    *out_var = term->u.var;
    return term->kind == HONE_EXPR_VAR;
}

/* Matches [stride * v + constant, … + extent) for a loop v from r->around on. */
static void match_window(rolling *r, uint32_t d, int64_t *out_extent) {
    hone_schedule *sch = r->sch;
    window *w = &r->windows[d];
    hone_interval dim = r->box[d];
    hone_var var = HONE_NO_ID;
    int64_t stride = 0;
    *w = (window){.loop = HONE_NO_ID};
    const hone_expr *length = hone_expr_sub(&sch->ir, dim.max, dim.min);
    if (!length) return;
    *out_extent = hone_expr_const(hone_simplify(&sch->arith, length)) + 1;
    bool fits = *out_extent > 0 && match_stride(&sch->arith, dim.min, &var, &stride);
    for (hone_node_id n = r->around; fits && n != r->scope; n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->u.loop.var != var) continue;
        w->loop = n;
        w->overlap = *out_extent - stride;
        w->min = dim.min;
        w->binding = index_of(r, d);
    }
}

static bool rolls(const rolling *r, uint32_t d) {
    return r->windows[d].loop != HONE_NO_ID && r->windows[d].overlap > 0;
}

/* The loop of a window moves nothing but that window. */
static hone_status check_window(rolling *r, uint32_t d) {
    hone_schedule *sch = r->sch;
    hone_node_id loop = r->windows[d].loop;
    hone_var var = sch_node(sch, loop)->u.loop.var;
    bool is_alone = true;
    for (uint32_t o = 0; o < r->rank; o++) {
        if (o == d) continue;
        is_alone = is_alone && r->box[o].min && r->box[o].max &&
                   !hone_expr_uses_var(r->box[o].min, var) &&
                   !hone_expr_uses_var(r->box[o].max, var);
    }
    for (hone_node_id n = sch_node(sch, r->block)->parent; n != r->scope;
         n = sch_node(sch, n)->parent) {
        const hone_range *range = &sch_node(sch, n)->u.loop.range;
        is_alone = is_alone && !hone_expr_uses_var(range->min, var) &&
                   !hone_expr_uses_var(range->extent, var);
    }
    if (is_alone) return HONE_OK;
    return sch_refuse(sch, loop, "%s moves '%s' in more than one dimension, or bounds a loop",
                      sch_loop_name(sch, loop), buffer_name(r));
}

static hone_status find_windows(rolling *r) {
    hone_schedule *sch = r->sch;
    int64_t extent = 0;
    HONE_TRY(find_box(r));
    r->dimension = r->rank;
    for (uint32_t d = 0; d < r->rank; d++) {
        match_window(r, d, &extent);
        HONE_TRY(sch_ir_error(sch));
        if (!rolls(r, d)) continue;
        bool is_first =
            r->dimension == r->rank ||
            hone_tree_is_ancestor(sch->func, r->windows[d].loop, r->windows[r->dimension].loop);
        if (!is_first) continue;
        r->dimension = d;
        r->extent = extent;
    }
    if (r->dimension == r->rank) {
        return sch_refuse(sch, r->block,
                          "no dimension of '%s' moves with a loop around by less than it is long",
                          buffer_name(r));
    }
    for (uint32_t d = 0; d < r->rank; d++) {
        if (rolls(r, d)) HONE_TRY(check_window(r, d));
    }
    return HONE_OK;
}

/* ---- the fold ---- */

/* v < first + 1 or overlap <= place in the window */
static hone_status guard(rolling *r, const window *w) {
    hone_schedule *sch = r->sch;
    hone_ir *ir = &sch->ir;
    const hone_node *loop = sch_node(sch, w->loop);
    const hone_expr *v = sch_var(sch, loop->u.loop.var);
    const hone_expr *one = hone_expr_int(ir, v->dtype, 1);
    const hone_expr *second =
        hone_simplify(&sch->arith, hone_expr_add(ir, loop->u.loop.range.min, one));
    const hone_expr *place = hone_simplify(&sch->arith, hone_expr_sub(ir, w->binding, w->min));
    if (!place || !second) return sch_ir_error(sch);
    const hone_expr *overlap = hone_expr_int(ir, place->dtype, w->overlap);
    const hone_expr *condition =
        hone_expr_binary(ir, HONE_OP_OR, hone_expr_binary(ir, HONE_OP_LT, v, second),
                         hone_expr_binary(ir, HONE_OP_LE, overlap, place));
    if (!condition) return sch_ir_error(sch);
    return sch_add_predicate(sch, r->block, condition);
}

static const hone_expr *const *folded(void *ctx, uint32_t rank, const hone_expr *const *indices) {
    const rolling *r = ctx;
    hone_ir *ir = &r->sch->ir;
    const hone_expr **copy = hone_arena_copy(r->sch->arena, indices, rank * sizeof *copy);
    if (!copy) return NULL;
    const hone_expr *index = indices[r->dimension];
    const hone_expr *extent = hone_expr_int(ir, index->dtype, r->extent);
    copy[r->dimension] = hone_simplify(&r->sch->arith, hone_expr_floormod(ir, index, extent));
    return copy[r->dimension] ? copy : NULL;
}

static hone_status fold_accesses(rolling *r) {
    hone_schedule *sch = r->sch;
    const sch_access_change fold = {
        .from = r->buffer, .to = r->buffer, .rank = r->rank, .map = folded, .ctx = r};
    HONE_TRY(sch_change_accesses(sch, r->around, &fold, false, true));
    SCH_EACH_BLOCK (sch, r->around, n) {
        if (touches(r, n)) HONE_TRY(sch_update_regions_below(sch, n));
    }
    return HONE_OK;
}

static hone_status shrink_buffer(rolling *r) {
    hone_buffer_info *info = &r->sch->func->buffers[r->buffer];
    const hone_expr **shape = hone_arena_copy(r->sch->arena, info->shape, r->rank * sizeof *shape);
    if (!shape) return sch_no_memory();
    shape[r->dimension] = hone_expr_int(&r->sch->ir, shape[r->dimension]->dtype, r->extent);
    info->shape = shape;
    return sch_ir_error(r->sch);
}

static hone_status make_opaque(rolling *r) {
    hone_schedule *sch = r->sch;
    for (hone_node_id n = hone_tree_next(sch->func, r->scope, r->scope); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, r->scope, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        if (sch_block(sch, n)->axis_count <= r->dimension ||
            sch_block(sch, n)->axes[r->dimension].kind != HONE_AXIS_SPATIAL) {
            continue;
        }
        hone_block *block = hone_block_copy(sch->arena, sch_block(sch, n));
        if (!block) return sch_no_memory();
        hone_axis *axes =
            hone_arena_copy(sch->arena, block->axes, block->axis_count * sizeof *axes);
        if (!axes) return sch_no_memory();
        axes[r->dimension].kind = HONE_AXIS_OPAQUE;
        block->axes = axes;
        sch_node(sch, n)->u.block.block = block;
        sch_forget_facts(sch, n);
    }
    return HONE_OK;
}

static hone_status apply(rolling *r) {
    for (uint32_t d = 0; d < r->rank; d++) {
        if (rolls(r, d)) HONE_TRY(guard(r, &r->windows[d]));
    }
    HONE_TRY(shrink_buffer(r));
    HONE_TRY(fold_accesses(r));
    HONE_TRY(make_opaque(r));
    sch_forget_facts(r->sch, r->block);
    sch_node(r->sch, r->block)->flags |= SCH_ROLLED;
    return HONE_OK;
}

hone_status hone_sch_rolling_buffer(hone_schedule *sch, hone_rv block_rv,
                                    int64_t write_buffer_index) {
    rolling r = {.sch = sch};
    HONE_TRY(sch_resolve_in_scope(sch, block_rv, &r.block, &r.scope));
    HONE_TRY(sch_nth_buffer(sch, r.block, true, write_buffer_index, &r.buffer));
    r.rank = hone_func_buffer(sch->func, r.buffer)->rank;
    HONE_TRY(check_buffer(&r));
    HONE_TRY(check_readers(&r));
    HONE_TRY(check_loops(&r));
    HONE_TRY(check_producer(&r));
    HONE_TRY(find_windows(&r));
    HONE_TRY(apply(&r));
    return sch_record(sch, HONE_INST_ROLLING_BUFFER,
                      SCH_ARGS(SCH_RV(block_rv), SCH_INT(write_buffer_index)));
}

SCH_STEP(ROLLING_BUFFER, hone_sch_rolling_buffer(sch, a[0].rv, a[1].number),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_WRITTEN_BUFFER("write_buffer_index")});
