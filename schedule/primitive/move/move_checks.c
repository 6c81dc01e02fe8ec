/* schedule/primitive/move/move_checks.c - checks of a block's new loops: see move_checks.h. */
#include "schedule/primitive/move/move_checks.h"

#include <string.h>

#include "ir/arith/itermap.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/instance_order.h"
#include "schedule/state/partial_results.h"

/* Does the sum, which has no gaps, take every value of its axis, and no others? may_exceed: it may
 * go on behind them. */
static bool is_whole(hone_schedule *sch, const hone_iter_sum *sum, hone_range axis,
                     bool may_exceed) {
    hone_dtype dtype = axis.extent->dtype;
    const hone_expr *count = hone_expr_int(&sch->ir, dtype, 1);
    if (sum->count) {
        count = hone_expr_mul(&sch->ir, hone_expr_cast(&sch->ir, dtype, sum->splits[0].scale),
                              hone_expr_cast(&sch->ir, dtype, sum->splits[0].extent));
    }
    if (!count || !hone_prove_equal(&sch->arith, sum->base, axis.min)) return false;
    return hone_prove_equal(&sch->arith, count, axis.extent) ||
           (may_exceed && hone_prove_less_equal(&sch->arith, axis.extent, count));
}

/* Does a binding, which has no gaps, take every value of an axis of known size? Its conditions may
 * only keep it in the axis. */
static bool reaches_all(hone_schedule *sch, const sch_axis_domain *dom, hone_range axis,
                        const hone_expr *binding, const hone_iter_sum *sum) {
    int64_t low = axis.min->u.i, high = low + axis.extent->u.i - 1;
    if (dom->at_least && hone_arith_bound(&sch->arith, dom->at_least).max > low) return false;
    if (dom->at_most && hone_arith_bound(&sch->arith, dom->at_most).min < high) return false;
    hone_bound bound = hone_arith_bound(&sch->arith, binding);
    bool is_bounded = bound.min >= INT32_MIN && bound.max <= INT32_MAX;
    if (!is_bounded) return is_whole(sch, sum, axis, true); /* of a size that is not known */
    return bound.min <= low && bound.max >= high;
}

/* In a block within another one: do the bindings reach, whatever the axes of that are, the ends
 * that the present ones reach? *out_axis: the first that does not, or the number of axes. */
static hone_status find_short_axis(const sch_move *m, const sch_nest *n, uint32_t iter_count,
                                   const hone_iter *iters, uint32_t *out_axis) {
    hone_schedule *sch = m->sch;
    const hone_block *block = sch_block(sch, m->block);
    uint32_t var_count = sch->func->var_count;
    bool *now_marks = NULL, *marks;
    *out_axis = block->axis_count;
    if (sch_scope_of(sch, m->scope) == HONE_NO_ID) return HONE_OK;
    marks = hone_arena_zalloc(sch->arena, (var_count + 1) * sizeof *marks);
    if (!marks) return sch_no_memory();
    for (uint32_t i = 0; i < iter_count; i++)
        marks[iters[i].var] = true;
    HONE_TRY(sch_mark_loops(sch, m->block, m->scope, &now_marks));
    for (uint32_t a = 0; a < block->axis_count; a++) {
        hone_interval now, then;
        HONE_TRY(sch_values_now(sch, m->block, &block->axes[a], now_marks, &now));
        then = hone_arith_relax(&sch->arith, n->bindings[a], marks, var_count, NULL);
        if (hone_prove_contains(&sch->arith, then, now)) continue;
        *out_axis = a;
        break;
    }
    return HONE_OK;
}

/* Bounds are enough where numbers are; what is symbolic must be shown. */
static bool meets_all_of_axis(sch_move *m, const sch_nest *n, uint32_t a,
                              const hone_iter_sum *sum) {
    const sch_axis_domain *dom = &m->domains[a];
    hone_range axis = sch_block(m->sch, m->block)->axes[a].dom;
    bool is_known = hone_expr_is_int(axis.min) && hone_expr_is_int(axis.extent);
    if (m->outer) return is_whole(m->sch, sum, axis, false);
    if (dom->low == axis.min && dom->extent == axis.extent) return true;
    if (!is_known) return is_whole(m->sch, sum, axis, false);
    return reaches_all(m->sch, dom, axis, n->bindings[a], sum);
}

/* reverse: what a producer has reduced so far in one iteration is not its result. */
static hone_status check_producers_are_done(sch_move *m, const sch_nest *nest) {
    hone_schedule *sch = m->sch;
    for (uint32_t i = 0; i < m->other_count; i++) {
        const hone_node *node = sch_node(sch, m->others[i]);
        for (hone_node_id l = m->loop; sch_node(sch, l)->kind == HONE_NODE_FOR;
             l = sch_node(sch, l)->parent) {
            hone_var var = sch_node(sch, l)->u.loop.var;
            hone_node_id source = sch_summed_source(sch, m->others[i], l);
            if (source != HONE_NO_ID) {
                return sch_refuse(sch, l, "%s, which %s reads for %s, reduces over %s",
                                  sch_block_name(sch, source), sch_block_name(sch, m->others[i]),
                                  sch_block_name(sch, m->block), sch_loop_name(sch, l));
            }
            for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
                if (node->u.block.block->axes[a].kind == HONE_AXIS_SPATIAL) continue;
                if (!hone_expr_uses_var(node->u.block.bindings[a], var)) continue;
                if (sch_may_read_partial(sch, m->others[i], m->block, nest->bindings,
                                         nest->predicate, l)) {
                    continue;
                }
                return sch_refuse(sch, l, "%s, a producer of %s, reduces over %s",
                                  sch_block_name(sch, m->others[i]), sch_block_name(sch, m->block),
                                  sch_loop_name(sch, l));
            }
        }
    }
    return HONE_OK;
}

/* reverse: do the loops around the new place meet every instance of the block? */
static hone_status check_coverage(sch_move *m, const sch_nest *n) {
    hone_schedule *sch = m->sch;
    const hone_block *block = sch_block(sch, m->block);
    uint32_t outer_count = 0, count = 0;
    const hone_node_id *outer = NULL;
    HONE_TRY(sch_loops_of(sch, m->loop, &outer_count, &outer));
    uint32_t inner_count = 0;
    for (hone_node_id l = n->bottom; l != HONE_NO_ID; l = sch_node(sch, l)->parent)
        inner_count++;
    hone_iter *iters =
        hone_arena_alloc(sch->arena, (outer_count + 2 + inner_count) * sizeof *iters);
    if (!iters) return sch_no_memory();
    for (uint32_t i = 0; i <= outer_count; i++) {
        const hone_node *loop = sch_node(sch, i < outer_count ? outer[i] : m->loop);
        iters[count++] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
    }
    for (hone_node_id l = n->bottom; l != HONE_NO_ID; l = sch_node(sch, l)->parent) {
        iters[count++] = (hone_iter){sch_node(sch, l)->u.loop.var, sch_node(sch, l)->u.loop.range};
    }
    bool is_reduction = hone_block_init_of(sch->func, m->block) != HONE_NO_ID;
    hone_itermap map;
    if (!hone_itermap_detect(
            &sch->arith, block->axis_count, n->bindings, count, iters, n->predicate,
            is_reduction ? HONE_ITERMAP_BIJECTIVE : HONE_ITERMAP_SURJECTIVE, true, &map)) {
        return sch_refuse(sch, m->block,
                          "the iterations of %s would not meet every instance of "
                          "%s%s",
                          sch_loop_name(sch, m->loop), sch_block_name(sch, m->block),
                          is_reduction ? " just once" : "");
    }
    if (is_reduction && !sch_reduces_forwards(sch, m->block, n->bindings, n->bottom, m->loop)) {
        return sch_refuse(sch, m->block,
                          "%s would not begin at the start of its reduce axes, where its init is",
                          sch_block_name(sch, m->block));
    }
    uint32_t short_axis;
    HONE_TRY(find_short_axis(m, n, count, iters, &short_axis));
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (a != short_axis && meets_all_of_axis(m, n, a, &map.sums[a])) continue;
        return sch_refuse(sch, m->block, "the iterations of %s do not reach all of axis '%s' of %s",
                          sch_loop_name(sch, m->loop), sch->func->vars[block->axes[a].var].name,
                          sch_block_name(sch, m->block));
    }
    return HONE_OK;
}

/* How a loop that runs its iterations at once feeds a block: not at all, its spatial axes, its
 * reduce axes (also), or others (also). */
typedef enum feeding { FEEDS_NOTHING, FEEDS_SPATIAL, FEEDS_REDUCE, FEEDS_OTHER } feeding;

static feeding feeding_of(const hone_block *block, const sch_nest *n, hone_var var) {
    feeding found = FEEDS_NOTHING;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (!hone_expr_uses_var(n->bindings[a], var)) continue;
        hone_axis_kind kind = block->axes[a].kind;
        feeding how = kind == HONE_AXIS_SPATIAL  ? FEEDS_SPATIAL
                      : kind == HONE_AXIS_REDUCE ? FEEDS_REDUCE
                                                 : FEEDS_OTHER;
        if (how > found) found = how;
    }
    return found;
}

static bool is_read_outside(const sch_move *m, hone_node_id loop, uint32_t reader_count,
                            const hone_node_id *readers) {
    for (uint32_t i = 0; i < reader_count; i++) {
        if (!hone_tree_is_ancestor(m->sch->func, loop, readers[i])) return true;
    }
    return sch_is_output_block(m->sch, m->block);
}

/* reverse: a loop that feeds no axis of the block repeats it; one without iterations leaves it
 * out. */
static hone_status check_is_run(sch_move *m, const sch_nest *n) {
    hone_schedule *sch = m->sch;
    uint32_t reader_count = 0;
    const hone_node_id *readers = NULL;
    HONE_TRY(sch_consumers(sch, m->block, &reader_count, &readers));
    for (hone_node_id l = m->loop; l != m->scope; l = sch_node(sch, l)->parent) {
        if (hone_tree_is_ancestor(sch->func, l, m->block)) break;
        if (feeding_of(sch_block(sch, m->block), n, sch_node(sch, l)->u.loop.var) !=
                FEEDS_NOTHING ||
            hone_surely_runs(&sch->arith, sch->func, l) ||
            !is_read_outside(m, l, reader_count, readers)) {
            continue;
        }
        return sch_refuse(sch, l, "%s may have no iteration, and %s is needed without it",
                          sch_loop_name(sch, l), sch_block_name(sch, m->block));
    }
    return HONE_OK;
}

/* reverse: a loop around the new place that runs its iterations at once must feed spatial axes of
 * the block alone: else it would repeat the block, or reduce in no order. Threads of one group may
 * reduce together. */
static hone_status check_concurrent(sch_move *m, const sch_nest *n) {
    hone_schedule *sch = m->sch;
    const hone_block *block = sch_block(sch, m->block);
    bool is_disjoint = sch_has_disjoint_writes(sch, m->block);
    for (hone_node_id l = m->loop; sch_node(sch, l)->kind != HONE_NODE_BLOCK;
         l = sch_node(sch, l)->parent) {
        const hone_node *loop = sch_node(sch, l);
        if (loop->kind != HONE_NODE_FOR || loop->loop_kind == HONE_LOOP_SERIAL ||
            loop->loop_kind == HONE_LOOP_UNROLLED ||
            hone_expr_is_int_value(loop->u.loop.range.extent, 1)) {
            continue;
        }
        feeding how = feeding_of(block, n, loop->u.loop.var);
        bool is_group = loop->loop_kind == HONE_LOOP_THREAD &&
                        strncmp(loop->u.loop.thread_tag, "threadIdx", 9) == 0;
        if (how == FEEDS_SPATIAL && !is_disjoint) {
            return sch_refuse(sch, m->block,
                              "%s runs its iterations at once, and different values of the axes of "
                              "%s may write the same element",
                              sch_loop_name(sch, l), sch_block_name(sch, m->block));
        }
        if (how == FEEDS_SPATIAL || (how == FEEDS_REDUCE && is_group)) continue;
        return sch_refuse(sch, l,
                          "%s runs its iterations at once and does not feed a spatial axis "
                          "of %s",
                          sch_loop_name(sch, l), sch_block_name(sch, m->block));
    }
    return HONE_OK;
}

/* compute_at: what nobody reads runs over all of its axes in each iteration, so that the loops must
 * not make what it reads piece by piece. */
static hone_status check_unread(sch_move *m, const sch_nest *n) {
    hone_schedule *sch = m->sch;
    uint32_t count = 0;
    const hone_node_id *producers = NULL;
    if (m->other_count) return HONE_OK;
    HONE_TRY(sch_producers(sch, m->block, &count, &producers));
    for (uint32_t i = 0; i < count; i++) {
        if (sch_node(sch, sch_lca(sch, m->loop, producers[i]))->kind != HONE_NODE_FOR) {
            if (sch_is_before(sch, producers[i], m->loop)) continue;
            return sch_refuse(sch, producers[i], "%s, a producer of %s, does not stand before %s",
                              sch_block_name(sch, producers[i]), sch_block_name(sch, m->block),
                              sch_loop_name(sch, m->loop));
        }
        return sch_refuse(sch, m->block, "%s has no consumer, and %s shares loops with %s",
                          sch_block_name(sch, m->block), sch_block_name(sch, producers[i]),
                          sch_loop_name(sch, m->loop));
    }
    return check_concurrent(m, n);
}

hone_status sch_check_new_nest(sch_move *m, const sch_nest *nest) {
    if (!m->is_reverse) return check_unread(m, nest);
    HONE_TRY(check_producers_are_done(m, nest));
    HONE_TRY(check_coverage(m, nest));
    HONE_TRY(check_is_run(m, nest));
    return check_concurrent(m, nest);
}
