/* schedule/primitive/move/move_nest.c - the loops that a moved block runs in: one for each axis,
 * from the domains that were solved. */
#include "schedule/primitive/move/move_domain.h"

static const hone_expr *and_also(hone_schedule *sch, const hone_expr *a, const hone_expr *b) {
    return a ? hone_expr_binary(&sch->ir, HONE_OP_AND, a, b) : b;
}

static hone_status add_loop(hone_schedule *sch, const sch_axis_domain *dom, uint32_t number,
                            sch_nest *io, const hone_expr **out_binding) {
    const char *name = sch_name(sch, "ax", "", number);
    hone_node_id loop = sch_make_loop(sch, name, dom->extent->dtype, dom->extent);
    if (loop == HONE_NO_ID) return sch_no_memory();
    const hone_expr *var = sch_var(sch, sch_node(sch, loop)->u.loop.var);
    sch->arith.keeps_units = sch->arith.keeps_numbers = true;
    *out_binding = hone_expr_is_int_value(dom->low, 0)
                       ? var
                       : hone_simplify(&sch->arith, hone_expr_add(&sch->ir, dom->low, var));
    sch->arith.keeps_units = sch->arith.keeps_numbers = false;
    return sch_nest_add_loop(sch, io, loop);
}

static void add_conditions(hone_schedule *sch, const sch_axis_domain *dom, const hone_expr *binding,
                           sch_nest *io) {
    if (dom->at_least) {
        const hone_expr *c = hone_expr_binary(&sch->ir, HONE_OP_GE, binding, dom->at_least);
        io->predicate = and_also(sch, io->predicate, c);
    }
    if (dom->at_most) {
        const hone_expr *one = hone_expr_int(&sch->ir, dom->at_most->dtype, 1);
        const hone_expr *end = hone_expr_add(&sch->ir, dom->at_most, one);
        const hone_expr *c =
            hone_expr_binary(&sch->ir, HONE_OP_LT, binding, hone_simplify(&sch->arith, end));
        io->predicate = and_also(sch, io->predicate, c);
    }
}

hone_status sch_make_nest(hone_schedule *sch, uint32_t axis_count, const sch_axis_domain *domains,
                          bool keep_units, sch_nest *out) {
    *out = (sch_nest){.top = HONE_NO_ID, .bottom = HONE_NO_ID};
    out->bindings = hone_arena_alloc(sch->arena, (axis_count + 1) * sizeof *out->bindings);
    if (!out->bindings) return sch_no_memory();
    uint32_t number = 0;
    for (uint32_t a = 0; a < axis_count; a++) {
        out->bindings[a] = domains[a].low;
        if (keep_units || !hone_expr_is_int_value(domains[a].extent, 1)) {
            HONE_TRY(add_loop(sch, &domains[a], number++, out, &out->bindings[a]));
        }
        add_conditions(sch, &domains[a], out->bindings[a], out);
    }
    return sch_ir_error(sch);
}

/* ---- conditions of others ---- */

/* inner: the loops between the block and the place. */
static const hone_expr *outer_parts(hone_schedule *sch, hone_node_id block, hone_node_id place,
                                    const bool *inner, const hone_expr *e) {
    if (!e) return NULL;
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        const hone_expr *a = outer_parts(sch, block, place, inner, e->args[0]);
        const hone_expr *b = outer_parts(sch, block, place, inner, e->args[1]);
        return a && b ? and_also(sch, a, b) : a ? a : b;
    }
    if (hone_expr_is_int(e)) return NULL;
    e = hone_without_rest(&sch->arith, e, inner, sch->func->var_count);
    for (hone_node_id n = sch_node(sch, block)->parent; n != place && e;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR || !hone_expr_uses_var(e, node->u.loop.var)) continue;
        if (!hone_expr_is_int_value(node->u.loop.range.extent, 1)) return NULL;
        e = hone_expr_substitute_one(&sch->ir, e, node->u.loop.var, node->u.loop.range.min);
        e = hone_simplify(&sch->arith, e);
        if (!e) return NULL;
    }
    return !e || hone_expr_is_int(e) ? NULL : e;
}

hone_status sch_outer_conditions(hone_schedule *sch, hone_node_id block, hone_node_id place,
                                 const hone_expr **out) {
    bool *inner = NULL;
    *out = NULL;
    HONE_TRY(sch_mark_loops(sch, block, place, &inner));
    *out = outer_parts(sch, block, place, inner, sch_node(sch, block)->u.block.predicate);
    return sch_ir_error(sch);
}

/* condition is simplified; loops of one iteration may stand in the predicate. */
static bool says(hone_schedule *sch, const hone_expr *predicate, const hone_expr *condition) {
    if (!predicate || !condition) return false;
    if (hone_expr_is_op(predicate, HONE_OP_AND)) {
        return says(sch, predicate->args[0], condition) || says(sch, predicate->args[1], condition);
    }
    const hone_expr *plain = hone_simplify(&sch->arith, predicate);
    return plain && hone_expr_same(plain, condition);
}

static void push_undivided(hone_schedule *sch, const hone_expr *predicate) {
    if (hone_expr_is_op(predicate, HONE_OP_AND)) {
        push_undivided(sch, predicate->args[0]);
        push_undivided(sch, predicate->args[1]);
        return;
    }
    const hone_expr *fact = hone_undivided(&sch->arith, predicate);
    if (fact) hone_arith_push(&sch->arith, fact);
}

/* Is the condition known where the predicate (NULL = true) holds? Also of dividends: f0*32 + f1 <
 * 56 where f0*4 + f1 // 8 < 7. */
static bool condition_follows(hone_schedule *sch, const hone_expr *predicate,
                              const hone_expr *condition) {
    uint32_t mark = sch->arith.fact_count;
    if (!predicate) return false;
    push_undivided(sch, predicate);
    bool follows = hone_prove(&sch->arith, condition);
    hone_arith_pop(&sch->arith, mark);
    return follows;
}

hone_status sch_nest_add_condition(hone_schedule *sch, const hone_expr *condition, sch_nest *io) {
    if (hone_expr_is_op(condition, HONE_OP_AND)) {
        HONE_TRY(sch_nest_add_condition(sch, condition->args[0], io));
        return sch_nest_add_condition(sch, condition->args[1], io);
    }
    if (!says(sch, io->predicate, hone_simplify(&sch->arith, condition)) &&
        !condition_follows(sch, io->predicate, condition)) {
        const hone_expr *others = sch_without_implied(sch, io->predicate, condition);
        bool is_first = others && hone_expr_may_fail(others) && !hone_expr_may_fail(condition);
        io->predicate =
            is_first ? and_also(sch, condition, others) : and_also(sch, others, condition);
    }
    return sch_ir_error(sch);
}

static bool share_loop(const hone_schedule *sch, hone_node_id loop, const hone_expr *a,
                       const hone_expr *b) {
    for (; loop != HONE_NO_ID && sch_node(sch, loop)->kind == HONE_NODE_FOR;
         loop = sch_node(sch, loop)->parent) {
        hone_var var = sch_node(sch, loop)->u.loop.var;
        if (hone_expr_uses_var(a, var) && hone_expr_uses_var(b, var)) return true;
    }
    return false;
}

/* The first axis that runs with a loop that a condition speaks of; behind all where there is none.
 */
static uint32_t axis_of_condition(const hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                  const sch_nest *n, const hone_expr *condition) {
    uint32_t a = 0, count = sch_block(sch, block)->axis_count;
    while (a < count && !share_loop(sch, n->bottom, n->bindings[a], condition) &&
           !share_loop(sch, loop, n->bindings[a], condition)) {
        a++;
    }
    return a;
}

/* Puts the parts of the predicate that belong to an axis together, in the order of the axes; those
 * that may fail where others do not hold come last. */
static const hone_expr *in_order_of_axes(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                         const sch_nest *n) {
    uint32_t count = sch_block(sch, block)->axis_count + 1;
    const hone_expr *sorted = NULL;
    for (uint32_t i = 0; i < 2 * count; i++) {
        uint32_t a = i % count;
        const hone_expr *rest = n->predicate, *here = NULL;
        while (rest) { /* a conjunction leans to the left: its last part is the second child */
            bool is_and = hone_expr_is_op(rest, HONE_OP_AND);
            const hone_expr *part = is_and ? rest->args[1] : rest;
            if (hone_expr_may_fail(part) == (i >= count) &&
                axis_of_condition(sch, block, loop, n, part) == a) {
                here = here ? and_also(sch, part, here) : part;
            }
            rest = is_and ? rest->args[0] : NULL;
        }
        if (here) sorted = and_also(sch, sorted, here);
    }
    return sorted;
}

/* The end of an axis, which holds for each instance, where it says as much as the condition:
 * f0*4 + f1 // 8 < n for f0*32 + f1 < n*8, as in TVM. Else the condition. */
static const hone_expr *as_end_of_axis(hone_schedule *sch, hone_node_id block, const sch_nest *n,
                                       const hone_expr *condition) {
    const hone_block *self = sch_block(sch, block);
    for (uint32_t a = 0; a < self->axis_count; a++) {
        hone_range dom = self->axes[a].dom;
        const hone_expr *end = hone_expr_add(&sch->ir, dom.min, dom.extent);
        end = hone_simplify(&sch->arith, end);
        if (!end || !hone_dtype_equal(n->bindings[a]->dtype, end->dtype)) continue;
        const hone_expr *c = hone_expr_binary(&sch->ir, HONE_OP_LT, n->bindings[a], end);
        if (c && condition_follows(sch, c, condition)) return c;
    }
    return condition;
}

hone_status sch_nest_put_condition(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                   const hone_expr *condition, sch_nest *io) {
    HONE_TRY(sch_nest_add_condition(sch, as_end_of_axis(sch, block, io, condition), io));
    if (io->predicate) io->predicate = in_order_of_axes(sch, block, loop, io);
    return sch_ir_error(sch);
}
