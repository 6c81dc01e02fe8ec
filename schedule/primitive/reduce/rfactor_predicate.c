/* schedule/primitive/reduce/rfactor_predicate.c - what rfactor makes of the predicate of the block.
 */
#include "schedule/primitive/reduce/rfactor.h"

/* Parts of a predicate: what says nothing of reduce loops; what may stay with the first block,
 * since it holds wherever that gives an element its first value; what may not. */
typedef enum part { SPATIAL_PART, STAYING_PART, GUARDING_PART } part;

/* A reduce loop of more than one value. */
static bool is_summed_over(const rfactoring *r, hone_node_id loop) {
    bool is_unit = hone_expr_is_int_value(sch_node(r->sch, loop)->u.loop.range.extent, 1);
    return !is_unit && sch_rfactor_reduces(r, loop);
}

static bool is_part(rfactoring *r, const hone_expr *e, part which) {
    if (which != SPATIAL_PART) {
        return sch_begins_under(r->sch, r->block, r->loop, e) == (which == STAYING_PART);
    }
    for (uint32_t i = 0; i < r->loop_count; i++) {
        if (!is_summed_over(r, r->loops[i])) continue;
        if (hone_expr_uses_var(e, sch_node(r->sch, r->loops[i])->u.loop.var)) return false;
    }
    return true;
}

static const hone_expr *part_of(rfactoring *r, const hone_expr *e, part which) {
    if (!e) return NULL;
    if (!hone_expr_is_op(e, HONE_OP_AND)) return is_part(r, e, which) ? e : NULL;
    const hone_expr *a = part_of(r, e->args[0], which);
    const hone_expr *b = part_of(r, e->args[1], which);
    if (!a || !b) return a ? a : b;
    return hone_expr_binary(&r->sch->ir, HONE_OP_AND, a, b);
}

const hone_expr *sch_rfactor_spatial_part(rfactoring *r, const hone_expr *predicate) {
    const hone_expr *kept = part_of(r, predicate, SPATIAL_PART);
    for (uint32_t i = 0; i < r->loop_count && kept; i++) { /* loops of one value go, too */
        const hone_node *loop = sch_node(r->sch, r->loops[i]);
        if (!sch_rfactor_reduces(r, r->loops[i])) continue;
        kept =
            hone_expr_substitute_one(&r->sch->ir, kept, loop->u.loop.var, loop->u.loop.range.min);
    }
    return kept;
}

const hone_expr *sch_rfactor_staying_part(rfactoring *r, const hone_expr *predicate) {
    return part_of(r, predicate, STAYING_PART);
}

/* Reduce axes are at their first values where the reduce loops begin. */
static bool begins_with_loops(rfactoring *r) {
    hone_schedule *sch = r->sch;
    const hone_node *node = sch_node(sch, r->block);
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        const hone_axis *axis = &node->u.block.block->axes[a];
        const hone_expr *first = node->u.block.bindings[a];
        if (axis->kind != HONE_AXIS_REDUCE) continue;
        for (uint32_t i = 0; i < r->loop_count && first; i++) {
            const hone_node *loop = sch_node(sch, r->loops[i]);
            if (!sch_rfactor_reduces(r, r->loops[i])) continue;
            first =
                hone_expr_substitute_one(&sch->ir, first, loop->u.loop.var, loop->u.loop.range.min);
        }
        if (!first || !hone_prove_equal(&sch->arith, first, axis->dom.min)) return false;
    }
    return true;
}

/* The first block gives each element of the new buffer its first value where all reduce loops but
 * the factored one begin: the predicate may only stay if it holds there. The second block gives
 * every element of the old buffer a value, which the old block must have done. */
hone_status sch_rfactor_check_predicate(rfactoring *r) {
    hone_schedule *sch = r->sch;
    const hone_expr *predicate = sch_node(sch, r->block)->u.block.predicate;
    for (uint32_t i = 0; i < r->loop_count && predicate; i++) {
        hone_var var = sch_node(sch, r->loops[i])->u.loop.var;
        if (!is_summed_over(r, r->loops[i]) || !hone_expr_uses_var(predicate, var)) continue;
        r->cuts_reduction =
            begins_with_loops(r) && sch_begins_under(sch, r->block, HONE_NO_ID, predicate);
        r->is_guarded = r->cuts_reduction && !sch_begins_under(sch, r->block, r->loop, predicate);
        if (r->cuts_reduction) break;
        return sch_refuse(sch, r->loops[i],
                          "the predicate of %s depends on %s: parts of the new buffer would stay "
                          "without a value",
                          sch_block_name(sch, r->block), sch_loop_name(sch, r->loops[i]));
    }
    return sch_ir_error(sch);
}

/* ---- guards ---- */

/* Axes by loop variable: those made for loops, and those that a loop feeds alone. */
static void note_axes_of_loops(const rfactoring *r, const rfactor_draft *d,
                               const hone_expr **axis_of) {
    const hone_node *old = sch_node(r->sch, r->block);
    for (uint32_t i = 0; i < old->u.block.block->axis_count; i++) {
        const hone_expr *binding = old->u.block.bindings[i];
        if (binding->kind != HONE_EXPR_VAR || axis_of[binding->u.var]) continue;
        axis_of[binding->u.var] = d->map[old->u.block.block->axes[i].var];
    }
}

/* Without the guards, do the loops stay in the axes that are not divided? */
static hone_status check_kept_axes(rfactoring *r, const bool *is_divided) {
    hone_schedule *sch = r->sch;
    hone_arith *arith = &sch->arith;
    const hone_node node = *sch_node(sch, r->block);
    uint32_t mark = arith->fact_count;
    const hone_expr *staying = part_of(r, node.u.block.predicate, STAYING_PART);
    if (staying) hone_arith_push(arith, staying);
    const hone_axis *outside = NULL;
    for (uint32_t i = 0; i < node.u.block.block->axis_count && !outside; i++) {
        const hone_axis *axis = &node.u.block.block->axes[i];
        const hone_expr *end = hone_expr_add(&sch->ir, axis->dom.min, axis->dom.extent);
        if (is_divided[i]) continue;
        bool is_inside = end &&
                         hone_prove_less_equal(arith, axis->dom.min, node.u.block.bindings[i]) &&
                         hone_prove_less(arith, node.u.block.bindings[i], end);
        if (!is_inside) outside = axis;
    }
    hone_arith_pop(arith, mark);
    if (!outside) return sch_ir_error(sch);
    return sch_refuse(sch, r->block, "only the predicate of %s keeps its loops in axis '%s'",
                      sch_block_name(sch, r->block), sch->func->vars[outside->var].name);
}

hone_status sch_rfactor_guard(rfactoring *r, const rfactor_draft *d, const bool *is_divided,
                              const hone_expr **axis_of, const hone_expr **io_rhs) {
    hone_schedule *sch = r->sch;
    HONE_TRY(check_kept_axes(r, is_divided));
    note_axes_of_loops(r, d, axis_of);
    const hone_expr *predicate = sch_node(sch, r->block)->u.block.predicate;
    const hone_expr *condition = part_of(r, predicate, GUARDING_PART);
    condition = hone_expr_substitute(&sch->ir, condition, axis_of, r->var_count);
    for (uint32_t i = 0; i < r->loop_count && condition; i++) {
        if (!hone_expr_uses_var(condition, sch_node(sch, r->loops[i])->u.loop.var)) continue;
        return sch_refuse(sch, r->block, "the predicate of %s is not made of its axes: it has %s",
                          sch_block_name(sch, r->block), sch_loop_name(sch, r->loops[i]));
    }
    for (uint32_t i = 0; i < r->reducer.count && condition; i++) {
        const hone_expr *args[] = {condition, io_rhs[i], r->reducer.identities[i]};
        io_rhs[i] = hone_expr_call(&sch->ir, io_rhs[i]->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
    }
    return sch_ir_error(sch);
}
