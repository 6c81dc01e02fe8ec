/* schedule/primitive/move/prim_compute_at.c - compute_at: moves a producer into a loop around its
 * consumers, so that each iteration makes what it uses; reverse_compute_at: moves a consumer into a
 * loop around its producers.
 *
 *   for i: B[i] = f(A[i])                 for i0:
 *   for i0, i1: C[4*i0+i1] = g(B[…])  →       for ax0 in 4: B[4*i0+ax0] = f(A[…])
 *                                             for i1: C[4*i0+i1] = g(B[…])
 *
 * Checks: block and loop are in one scope, which is a pipeline of stages; the loop is not around
 * the block; the block is complete or a reduction, its predicate follows from its axes, and the
 * bounds of its loops do not depend on one another; compute_at:
 * it is no output block and all its consumers are below the loop (where there are none, its
 * producers stand before the loop, and no loop around the place runs its iterations at once or is
 * around a producer), and where a loop is around the place and a producer, each iteration of it
 * makes what the block reads there; reverse: all its producers are below the loop, no consumer
 * stands before it, none of which still reduces over it or a loop around it (unless the block is
 * only repeated by that loop, see partial_results.h), each iteration surely makes the box that it
 * reads, and the new loops meet each of its instances (once, when it is a reduction, and its init
 * first). The block runs over a box of its axes; instances that write the same elements keep their
 * order. A parallel or vectorized loop that it leaves does not make what it reads several times.
 */
#include "schedule/primitive/move/move_checks.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/instance_order.h"

/* ---- checks ---- */

/* The bounds of each loop around the block are the same in all iterations of those outside: else it
 * does not run over all values of its axes together, as it will. */
static hone_status check_is_rectangular(const sch_move *m) {
    hone_schedule *sch = m->sch;
    uint32_t count = 0;
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_loops_of(sch, m->block, &count, &loops));
    for (uint32_t i = 1; i < count; i++) {
        hone_node_id other = sch_bounds_depend_on(sch, loops[i]);
        if (other == HONE_NO_ID) continue;
        return sch_refuse(sch, loops[i], "the bounds of %s depend on %s, also around %s",
                          sch_loop_name(sch, loops[i]), sch_loop_name(sch, other),
                          sch_block_name(sch, m->block));
    }
    return HONE_OK;
}

static hone_status check_place(sch_move *m) {
    hone_schedule *sch = m->sch;
    if (sch_scope_of(sch, m->block) != m->scope || m->scope == HONE_NO_ID) {
        return sch_refuse(sch, m->loop, "%s and %s are not in the same scope",
                          sch_block_name(sch, m->block), sch_loop_name(sch, m->loop));
    }
    if (hone_tree_is_ancestor(sch->func, m->loop, m->block)) {
        return sch_refuse(sch, m->loop, "%s is already around %s", sch_loop_name(sch, m->loop),
                          sch_block_name(sch, m->block));
    }
    for (hone_node_id n = m->loop; n != m->scope; n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind == HONE_NODE_FOR) continue;
        return sch_refuse(sch, m->loop, "something other than loops stands around %s",
                          sch_loop_name(sch, m->loop));
    }
    HONE_TRY(sch_require_pipeline(sch, m->scope));
    HONE_TRY(check_is_rectangular(m));
    HONE_TRY(sch_require_plain(sch, m->block, m->scope));
    if (sch_predicate_follows(sch, m->block)) return HONE_OK;
    return sch_refuse(sch, m->block, "%s has a predicate that does not follow from its axes",
                      sch_block_name(sch, m->block));
}

static hone_status check_others(sch_move *m) {
    hone_schedule *sch = m->sch;
    const char *what = m->is_reverse ? "producer" : "consumer";
    if (!m->is_reverse && sch_is_output_block(sch, m->block)) {
        return sch_refuse(sch, m->block, "%s writes an output of the function",
                          sch_block_name(sch, m->block));
    }
    for (uint32_t i = 0; i < m->other_count; i++) {
        if (hone_tree_is_ancestor(sch->func, m->loop, m->others[i])) continue;
        return sch_refuse(sch, m->others[i], "%s, a %s of %s, is not below %s",
                          sch_block_name(sch, m->others[i]), what, sch_block_name(sch, m->block),
                          sch_loop_name(sch, m->loop));
    }
    return HONE_OK;
}

/* reverse: a block without producers comes from anywhere; who reads it must still stand behind. */
static hone_status check_readers_are_behind(sch_move *m) {
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    HONE_TRY(sch_consumers(m->sch, m->block, &count, &readers));
    for (uint32_t i = 0; i < count; i++) {
        if (hone_tree_is_ancestor(m->sch->func, m->loop, readers[i])) continue;
        if (sch_is_before(m->sch, m->loop, readers[i])) continue;
        return sch_refuse(m->sch, readers[i], "%s, a consumer of %s, stands before %s",
                          sch_block_name(m->sch, readers[i]), sch_block_name(m->sch, m->block),
                          sch_loop_name(m->sch, m->loop));
    }
    return HONE_OK;
}

/* ---- where in the loop ---- */

static bool contains(const sch_move *m, hone_node_id child, hone_node_id block) {
    return child == block || hone_tree_is_ancestor(m->sch->func, child, block);
}

static bool contains_any(const sch_move *m, hone_node_id child, uint32_t count,
                         const hone_node_id *blocks) {
    for (uint32_t i = 0; i < count; i++) {
        if (contains(m, child, blocks[i])) return true;
    }
    return false;
}

/* After the last producer, before the first consumer: -1 as late as can be, -2 as early. */
static hone_status find_position(sch_move *m) {
    hone_schedule *sch = m->sch;
    uint32_t producer_count = 0, consumer_count = 0;
    const hone_node_id *producers = NULL, *consumers = NULL;
    HONE_TRY(sch_producers(sch, m->block, &producer_count, &producers));
    HONE_TRY(sch_consumers(sch, m->block, &consumer_count, &consumers));
    int64_t first = 0, last = 0, at = 0;
    bool met_consumer = false;
    for (hone_node_id c = sch_node(sch, m->loop)->first; c != HONE_NO_ID;
         c = sch_node(sch, c)->next, at++) {
        if (contains_any(m, c, producer_count, producers)) first = at + 1;
        met_consumer = met_consumer || contains_any(m, c, consumer_count, consumers);
        if (!met_consumer) last = at + 1;
    }
    if (first > last) {
        return sch_refuse(sch, m->loop,
                          "no place in %s is after all producers and before all "
                          "consumers of %s",
                          sch_loop_name(sch, m->loop), sch_block_name(sch, m->block));
    }
    int64_t wanted = m->index == -1 ? last : m->index == -2 ? first : m->index;
    if (wanted < first || wanted > last) {
        return sch_refuse(sch, m->loop, "index is %lld, places from %lld to %lld are legal",
                          (long long)m->index, (long long)first, (long long)last);
    }
    m->before = sch_node(sch, m->loop)->first;
    for (int64_t i = 0; i < wanted; i++)
        m->before = sch_node(sch, m->before)->next;
    return HONE_OK;
}

/* ---- what to run over ---- */

static bool is_touched_by_others(const sch_move *m, hone_buffer buffer) {
    for (uint32_t i = 0; i < m->other_count; i++) {
        const hone_block *other = sch_block(m->sch, m->others[i]);
        if (m->is_reverse ? sch_writes(other, buffer) : sch_reads(other, buffer)) return true;
    }
    return false;
}

static hone_status solve_under_conditions(sch_move *m) {
    hone_schedule *sch = m->sch;
    const hone_block *block = sch_block(sch, m->block);
    const hone_region *regions = m->is_reverse ? block->reads : block->writes;
    uint32_t count = m->is_reverse ? block->read_count : block->write_count;
    sch_box *boxes = hone_arena_alloc(sch->arena, (count + 1) * sizeof *boxes);
    m->domains = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *m->domains);
    if (!boxes || !m->domains) return sch_no_memory();
    uint32_t box_count = 0;
    for (uint32_t r = 0; r < count; r++) {
        if (!is_touched_by_others(m, regions[r].buffer)) continue;
        bool is_exact = false;
        HONE_TRY(sch_box_below(sch, m->loop, m->other_count, m->others, regions[r].buffer,
                               m->is_reverse, &boxes[box_count++], &is_exact));
        if (!m->is_reverse || is_exact) continue;
        return sch_refuse(sch, m->loop,
                          "an iteration of %s does not surely write all of the box "
                          "of '%s' that it touches",
                          sch_loop_name(sch, m->loop), sch_buffer_name(sch, regions[r].buffer));
    }
    return sch_solve_axes(sch, m->block, box_count, boxes,
                          m->is_reverse ? SCH_SOLVE_USE : SCH_SOLVE_MAKE, m->domains);
}

/* Conditions of the only other block that speak of loops outside will hold for this one, too (what
 * it makes for that block: where it would read what is not there). */
static hone_status solve(sch_move *m) {
    hone_schedule *sch = m->sch;
    uint32_t mark = sch->arith.fact_count;
    if (m->other_count == 1) HONE_TRY(sch_outer_conditions(sch, m->others[0], m->loop, &m->outer));
    if (m->outer && m->is_reverse) hone_arith_push(&sch->arith, m->outer);
    hone_status st = solve_under_conditions(m);
    hone_arith_pop(&sch->arith, mark);
    return st;
}

/* ---- the new nest ---- */

static void place(sch_move *m, const sch_nest *n) {
    hone_schedule *sch = m->sch;
    bool is_last = m->before == HONE_NO_ID;
    sch_remove_with_loops(sch, m->block);
    sch_place_nest(sch, n, m->block, is_last ? sch_node(sch, m->loop)->last : m->before, is_last);
    sch_forget_affine(sch, m->block);
}

/* The block comes to run over a box of its axes. Where its instances were none (i, 7 - i), those
 * that are new must not overwrite what others made, reach for what is not there, or change what an
 * output held. */
static hone_status check_instances(const sch_move *m) {
    hone_schedule *sch = m->sch;
    hone_iter *ignored;
    bool is_exact = false;
    if (sch_has_affine_bindings(sch, m->block)) return HONE_OK;
    HONE_TRY(sch_axes_box(sch, m->block, &ignored, &is_exact));
    if (is_exact) return HONE_OK;
    return sch_refuse(sch, m->block, "the instances of %s are not shown to be a box of its axes",
                      sch_block_name(sch, m->block));
}

/* Each run of the new nest makes all that it needs; reverse: all of them together are one run. */
static hone_status check_order(const sch_move *m, const sch_nest *n) {
    sch_loop_chain loops = {n->bottom, m->is_reverse ? m->loop : HONE_NO_ID};
    return sch_require_order(m->sch, m->block, n->bindings, loops);
}

static bool may_fail(const sch_move *m, const sch_nest *n) {
    bool any = n->predicate && hone_expr_may_fail(n->predicate);
    for (uint32_t a = 0; a < sch_block(m->sch, m->block)->axis_count && !any; a++)
        any = hone_expr_may_fail(n->bindings[a]);
    return any;
}

static hone_status prepare(sch_move *m, sch_nest *out) {
    hone_schedule *sch = m->sch;
    m->scope = sch_scope_of(sch, m->loop);
    HONE_TRY(check_place(m));
    HONE_TRY(m->is_reverse ? sch_producers(sch, m->block, &m->other_count, &m->others)
                           : sch_consumers(sch, m->block, &m->other_count, &m->others));
    HONE_TRY(check_others(m));
    if (m->is_reverse) HONE_TRY(check_readers_are_behind(m));
    HONE_TRY(find_position(m));
    HONE_TRY(sch_require_leavable(sch, m->block, m->loop));
    HONE_TRY(check_instances(m));
    HONE_TRY(solve(m));
    HONE_TRY(sch_keep_instances(sch, m->block, m->domains));
    HONE_TRY(
        sch_make_nest(sch, sch_block(sch, m->block)->axis_count, m->domains, m->keep_units, out));
    /* where its producer does not run, it made nothing; the place may be one that is loaded */
    if (m->outer && (m->is_reverse || may_fail(m, out))) {
        HONE_TRY(sch_nest_put_condition(sch, m->block, m->loop, m->outer, out));
    }
    HONE_TRY(check_order(m, out));
    return sch_check_new_nest(m, out);
}

static bool holds_threads(const sch_move *m) {
    for (hone_node_id n = m->block; n != HONE_NO_ID;
         n = hone_tree_next(m->sch->func, m->block, n)) {
        const hone_node *node = sch_node(m->sch, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD) return true;
    }
    return false;
}

/* compute_at: a producer in a loop that the block stays in, or comes into, makes a part of its
 * buffer in each iteration; where the box of the block is wider than what its consumers read, or
 * runs ahead, that part is too small. A block whose loops did not meet all of a box (i // 5, i % 5
 * of 8) may from now on, and the rest of it may never have been made. And loops inside the block
 * that are bound to threads may come into another launch. Then the step is judged by what comes
 * out. */
static hone_status must_be_judged(const sch_move *m, bool *out) {
    uint32_t count = 0;
    const hone_node_id *producers = NULL;
    *out = holds_threads(m);
    if (m->is_reverse) return HONE_OK;
    *out = *out || !sch_has_affine_bindings(m->sch, m->block);
    HONE_TRY(sch_producers(m->sch, m->block, &count, &producers));
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id common = sch_lca(m->sch, m->loop, producers[i]);
        *out = *out || sch_node(m->sch, common)->kind == HONE_NODE_FOR;
    }
    return HONE_OK;
}

static hone_status check_threads(const sch_move *m) {
    for (hone_node_id n = m->block; n != HONE_NO_ID;
         n = hone_tree_next(m->sch->func, m->block, n)) {
        const hone_node *node = sch_node(m->sch, n);
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_THREAD) continue;
        HONE_TRY(sch_check_thread_loop(m->sch, n, node->u.loop.thread_tag));
    }
    return HONE_OK;
}

static hone_status check_reads(const sch_move *m) {
    hone_schedule *sch = m->sch;
    const hone_block *block = sch_block(sch, m->block);
    const char *why = NULL;
    for (uint32_t r = 0; r < block->read_count && !m->is_reverse; r++) {
        if (sch_is_covered_read(sch, m->scope, m->block, &block->reads[r], &why)) continue;
        return sch_refuse(sch, m->block, "%s would read '%s' in %s when not all of it is there: %s",
                          sch_block_name(sch, m->block),
                          sch_buffer_name(sch, block->reads[r].buffer), sch_loop_name(sch, m->loop),
                          why);
    }
    return HONE_OK;
}

/* Where its consumer does not run, what the block reads may not be there: then neither does it. */
static hone_status check_is_covered(const sch_move *m, sch_nest *n) {
    hone_status st = check_reads(m);
    if (!st || m->is_reverse || !m->outer) return st;
    hone_status_free(st);
    HONE_TRY(sch_nest_put_condition(m->sch, m->block, m->loop, m->outer, n));
    sch_node(m->sch, m->block)->u.block.predicate = n->predicate;
    sch_forget_affine(m->sch, m->block);
    return check_reads(m);
}

static hone_status place_and_judge(sch_move *m, sch_nest *n, bool is_for_good) {
    bool is_judged = false;
    hone_func *saved;
    HONE_TRY(must_be_judged(m, &is_judged));
    if (!is_judged) {
        if (is_for_good) place(m, n);
        return HONE_OK;
    }
    HONE_TRY(sch_begin_trial(m->sch, &saved));
    place(m, n);
    hone_status st = check_is_covered(m, n);
    if (!st) st = check_threads(m);
    if (st || !is_for_good) sch_take_back(m->sch, saved);
    return st;
}

static hone_status run(hone_schedule *sch, hone_inst_kind kind, hone_rv block_rv, hone_rv loop_rv,
                       bool keep_units, int64_t index) {
    bool is_reverse = kind == HONE_INST_REVERSE_COMPUTE_AT;
    sch_move m = {.sch = sch, .is_reverse = is_reverse, .keep_units = keep_units, .index = index};
    HONE_TRY(sch_resolve_block(sch, block_rv, &m.block));
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &m.loop));
    sch_nest n;
    HONE_TRY(prepare(&m, &n));
    HONE_TRY(place_and_judge(&m, &n, true));
    return sch_record(
        sch, kind,
        SCH_ARGS(SCH_RV(block_rv), SCH_RV(loop_rv), SCH_INT(keep_units), SCH_INT(index)));
}

/* The marks that sample_compute_location returns: leave the block, or inline it. */
static hone_status run_mark(hone_schedule *sch, hone_rv block_rv, hone_rv loop_rv, uint32_t mark,
                            bool keep_units, int64_t index, hone_inst_kind kind) {
    hone_node_id block;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    if (mark == HONE_RV_INLINE_MARK) {
        HONE_TRY(kind == HONE_INST_COMPUTE_AT ? sch_inline_block(sch, block)
                                              : sch_reverse_inline_block(sch, block));
    }
    return sch_record(
        sch, kind,
        SCH_ARGS(SCH_RV(block_rv), SCH_RV(loop_rv), SCH_INT(keep_units), SCH_INT(index)));
}

static bool is_mark(const hone_schedule *sch, hone_rv loop) {
    return loop < sch->trace.rv_count && sch->rvs[loop].kind == HONE_RV_LOOP &&
           (sch->rvs[loop].node == HONE_RV_INLINE_MARK || sch->rvs[loop].node == HONE_RV_ROOT_MARK);
}

hone_status hone_sch_compute_at(hone_schedule *sch, hone_rv block, hone_rv loop,
                                bool preserve_unit_loops, int64_t index) {
    if (is_mark(sch, loop)) {
        return run_mark(sch, block, loop, sch->rvs[loop].node, preserve_unit_loops, index,
                        HONE_INST_COMPUTE_AT);
    }
    return run(sch, HONE_INST_COMPUTE_AT, block, loop, preserve_unit_loops, index);
}

hone_status hone_sch_reverse_compute_at(hone_schedule *sch, hone_rv block, hone_rv loop,
                                        bool preserve_unit_loops, int64_t index) {
    if (is_mark(sch, loop)) {
        return run_mark(sch, block, loop, sch->rvs[loop].node, preserve_unit_loops, index,
                        HONE_INST_REVERSE_COMPUTE_AT);
    }
    return run(sch, HONE_INST_REVERSE_COMPUTE_AT, block, loop, preserve_unit_loops, index);
}

bool sch_can_compute_at(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    bool wants_reasons = sch->wants_reasons;
    sch->wants_reasons = false;
    sch_move m = {.sch = sch, .block = block, .loop = loop, .keep_units = true, .index = -1};
    sch_nest n;
    hone_status st = prepare(&m, &n);
    if (!st) st = place_and_judge(&m, &n, false);
    sch->wants_reasons = wants_reasons;
    if (!st) return true;
    hone_status_free(st);
    return false;
}

SCH_STEP(COMPUTE_AT, hone_sch_compute_at(sch, a[0].rv, a[1].rv, a[2].number != 0, a[3].number),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_LOOP(1),
                  SCH_ARG_BOOL_OR("preserve_unit_loops", 0, false),
                  SCH_ARG_INT_OR("index", 1, -1)});

SCH_STEP(REVERSE_COMPUTE_AT,
         hone_sch_reverse_compute_at(sch, a[0].rv, a[1].rv, a[2].number != 0, a[3].number),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_LOOP(1),
                  SCH_ARG_BOOL_OR("preserve_unit_loops", 0, false),
                  SCH_ARG_INT_OR("index", 1, -1)});
