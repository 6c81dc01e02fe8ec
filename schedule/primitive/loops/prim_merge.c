/* schedule/primitive/loops/prim_merge.c - merge: joins loops beside each other, with the loops
 * around them up to what they share, into one nest; their bodies follow each other, in the order of
 * the arguments, where the last one stood.
 *
 *     for i: B[i] = f(A[i])           for i_m:
 *     for i: C[i] = g(B[i])       →       B[i_m] = f(A[i_m])
 *                                         C[i_m] = g(B[i_m])
 *
 * Checks: at least two loops, distinct, in one scope, none around another, equally deep below what
 * they share; on the way there each loop is the only child, starts at 0, has neither annotations
 * nor a thread binding, and extents agree level by level. Nothing that stands between the nests
 * touches what a nest that passes it writes (or the other way round). Where one nest touches what
 * another one writes: they come in the order in which they stand, each block may run in another
 * order, and each iteration of the merged loops reads only what is final by then; of what several
 * write, each has a part of its own, or each iteration has (TVM does not check this).
 */
#include "schedule/primitive/primitive_impl.h"

typedef struct merging {
    hone_schedule *sch;
    uint32_t count, depth;
    const hone_node_id *loops; /* as given */
    hone_node_id parent;       /* what they share */
    hone_node_id *chains;      /* count * depth: each nest, outermost first */
    hone_node_id top;          /* of the new nest */
} merging;

static hone_node_id at_level(const merging *m, uint32_t nest, uint32_t level) {
    return m->chains[nest * m->depth + level];
}

static hone_status check_loop(hone_schedule *sch, hone_node_id loop) {
    if (sch_node(sch, loop)->kind != HONE_NODE_FOR) {
        return sch_refuse(sch, loop, "something other than a loop stands around the merged loops");
    }
    HONE_TRY(sch_check_plain_loop(sch, loop));
    return sch_check_starts_at_zero(sch, loop);
}

static uint32_t depth_below(const hone_schedule *sch, hone_node_id top, hone_node_id node) {
    uint32_t depth = 0;
    for (; node != top; node = sch_node(sch, node)->parent)
        depth++;
    return depth;
}

static hone_status find_parent(merging *m) {
    hone_schedule *sch = m->sch;
    m->parent = m->loops[0];
    for (uint32_t i = 1; i < m->count; i++) {
        m->parent = sch_lca(sch, m->parent, m->loops[i]);
        for (uint32_t k = 0; k < i; k++) {
            hone_node_id a = m->loops[k], b = m->loops[i], common = sch_lca(sch, a, b);
            if (a == b) return sch_refuse(sch, a, "%s is named twice", sch_loop_name(sch, a));
            if (common == a || common == b) {
                return sch_refuse(sch, common, "%s is around %s", sch_loop_name(sch, common),
                                  sch_loop_name(sch, common == a ? b : a));
            }
        }
        if (sch_scope_of(sch, m->loops[i]) == sch_scope_of(sch, m->loops[0])) continue;
        return sch_refuse(sch, m->loops[i], "%s and %s are not in the same scope",
                          sch_loop_name(sch, m->loops[0]), sch_loop_name(sch, m->loops[i]));
    }
    m->depth = depth_below(sch, m->parent, m->loops[0]);
    for (uint32_t i = 1; i < m->count; i++) {
        if (depth_below(sch, m->parent, m->loops[i]) == m->depth) continue;
        return sch_refuse(sch, m->loops[i], "%s is not as deep below what they share as %s",
                          sch_loop_name(sch, m->loops[i]), sch_loop_name(sch, m->loops[0]));
    }
    return HONE_OK;
}

static hone_status find_chains(merging *m) {
    hone_schedule *sch = m->sch;
    m->chains = hone_arena_alloc(sch->arena, (size_t)m->count * m->depth * sizeof *m->chains);
    if (!m->chains) return sch_no_memory();
    for (uint32_t i = 0; i < m->count; i++) {
        hone_node_id n = m->loops[i];
        for (uint32_t level = m->depth; level-- > 0; n = sch_node(sch, n)->parent) {
            HONE_TRY(check_loop(sch, n));
            m->chains[i * m->depth + level] = n;
            if (level == 0 || sch_node(sch, sch_node(sch, n)->parent)->first ==
                                  sch_node(sch, sch_node(sch, n)->parent)->last) {
                continue;
            }
            return sch_refuse(sch, n, "%s is not the only statement in the loop around it",
                              sch_loop_name(sch, n));
        }
        if (!sch_has_other_statements(sch, m->loops[i])) continue;
        return sch_refuse(sch, m->loops[i], "a statement in %s stands outside of blocks",
                          sch_loop_name(sch, m->loops[i]));
    }
    return HONE_OK;
}

/* Level by level, each extent in terms of the loops of the first nest. */
static hone_status check_extents(merging *m) {
    hone_schedule *sch = m->sch;
    for (uint32_t i = 1; i < m->count; i++) {
        for (uint32_t level = 0; level < m->depth; level++) {
            hone_node_id a = at_level(m, 0, level), b = at_level(m, i, level);
            const hone_expr *extent = sch_node(sch, b)->u.loop.range.extent;
            for (uint32_t up = 0; up < level && extent; up++) {
                const hone_expr *outer =
                    sch_var(sch, sch_node(sch, at_level(m, 0, up))->u.loop.var);
                extent = hone_expr_substitute_one(
                    &sch->ir, extent, sch_node(sch, at_level(m, i, up))->u.loop.var, outer);
            }
            if (!extent) return sch_ir_error(sch);
            if (hone_prove_equal(&sch->arith, extent, sch_node(sch, a)->u.loop.range.extent)) {
                continue;
            }
            return sch_refuse(sch, b, "the extents of %s and %s differ", sch_loop_name(sch, a),
                              sch_loop_name(sch, b));
        }
    }
    return HONE_OK;
}

/* ---- who is in whose way ---- */

static bool is_block_in(const hone_schedule *sch, hone_node_id top, hone_node_id *io) {
    if (*io == HONE_NO_ID) {
        *io = top;
        if (sch_node(sch, top)->kind == HONE_NODE_BLOCK) return true;
    } else if (sch_node(sch, top)->kind == HONE_NODE_BLOCK) {
        return false;
    }
    *io = sch_next_block(sch, top, *io);
    return *io != HONE_NO_ID;
}

static bool writes_what_other_touches(const hone_block *a, const hone_block *b) {
    for (uint32_t w = 0; w < a->write_count; w++) {
        hone_buffer buffer = a->writes[w].buffer;
        if (sch_writes(b, buffer) || sch_reads(b, buffer)) return true;
    }
    return false;
}

/* Does the block write what the bounds of a loop load? */
static bool sets_bounds(const hone_schedule *sch, const hone_block *block, hone_node_id top) {
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(sch->func, top, n)) {
        const hone_node *node = sch_node(sch, n);
        for (uint32_t w = 0; node->kind == HONE_NODE_FOR && w < block->write_count; w++) {
            if (sch_bounds_load(node, block->writes[w].buffer)) return true;
        }
    }
    return false;
}

/* Does a block below one node write what the other one touches? */
static bool conflict(const hone_schedule *sch, hone_node_id a, hone_node_id b) {
    for (hone_node_id y = HONE_NO_ID; is_block_in(sch, b, &y);) {
        if (sets_bounds(sch, sch_block(sch, y), a)) return true;
    }
    for (hone_node_id x = HONE_NO_ID; is_block_in(sch, a, &x);) {
        if (sets_bounds(sch, sch_block(sch, x), b)) return true;
        for (hone_node_id y = HONE_NO_ID; is_block_in(sch, b, &y);) {
            const hone_block *p = sch_block(sch, x), *q = sch_block(sch, y);
            if (writes_what_other_touches(p, q) || writes_what_other_touches(q, p)) return true;
        }
    }
    return false;
}

static bool is_merged(const merging *m, hone_node_id top) {
    for (uint32_t i = 0; i < m->count; i++) {
        if (at_level(m, i, 0) == top) return true;
    }
    return false;
}

/* The nests move to where the last one stands: may they pass what is between? */
static hone_status check_between(merging *m) {
    hone_schedule *sch = m->sch;
    hone_node_id goal = at_level(m, m->count - 1, 0);
    for (uint32_t i = 0; i + 1 < m->count; i++) {
        hone_node_id from = at_level(m, i, 0);
        bool is_down = sch_is_before(sch, from, goal);
        for (hone_node_id n = from; n != goal;) {
            n = is_down ? sch_node(sch, n)->next : sch_node(sch, n)->prev;
            if (n == goal || is_merged(m, n)) continue;
            hone_node_kind kind = (hone_node_kind)sch_node(sch, n)->kind;
            bool is_plain = kind == HONE_NODE_BLOCK ||
                            (kind == HONE_NODE_FOR && !sch_has_other_statements(sch, n));
            if (is_plain && !conflict(sch, from, n)) continue;
            return sch_refuse(sch, n,
                              "%s can't pass what stands between: one touches what the other "
                              "writes",
                              sch_loop_name(sch, from));
        }
    }
    return HONE_OK;
}

/* Where one nest touches what another one writes, their bodies must keep their order. */
static hone_status check_order(const merging *m, bool *out_depends) {
    hone_schedule *sch = m->sch;
    *out_depends = false;
    for (uint32_t i = 1; i < m->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (!conflict(sch, at_level(m, k, 0), at_level(m, i, 0))) continue;
            *out_depends = true;
            if (sch_is_before(sch, m->loops[k], m->loops[i])) continue;
            return sch_refuse(sch, m->loops[i],
                              "%s would come behind %s, and one touches what the other writes",
                              sch_loop_name(sch, m->loops[i]), sch_loop_name(sch, m->loops[k]));
        }
    }
    return HONE_OK;
}

/* ---- the new nest ---- */

static hone_status make_nest(merging *m, hone_node_id *out_bottom) {
    hone_schedule *sch = m->sch;
    hone_node_id bottom = HONE_NO_ID;
    for (uint32_t level = 0; level < m->depth; level++) {
        const hone_node old = *sch_node(sch, at_level(m, 0, level));
        const hone_expr *extent = old.u.loop.range.extent;
        for (hone_node_id n = bottom, up = level; n != HONE_NO_ID; n = sch_node(sch, n)->parent) {
            hone_var outer = sch_node(sch, at_level(m, 0, --up))->u.loop.var;
            extent = hone_expr_substitute_one(&sch->ir, extent, outer,
                                              sch_var(sch, sch_node(sch, n)->u.loop.var));
        }
        const hone_var_info var = sch->func->vars[old.u.loop.var];
        hone_node_id loop =
            sch_make_loop(sch, sch_name(sch, var.name, "_m", -1), var.dtype, extent);
        if (loop == HONE_NO_ID) return sch_no_memory();
        if (bottom == HONE_NO_ID) {
            m->top = loop;
        } else {
            hone_tree_append(sch->func, bottom, loop);
        }
        bottom = loop;
    }
    *out_bottom = bottom;
    return sch_ir_error(sch);
}

/* The body of one nest, in the new loops. */
static hone_status move_body(merging *m, uint32_t nest, hone_node_id bottom) {
    hone_schedule *sch = m->sch;
    hone_node_id fresh = bottom;
    for (uint32_t level = m->depth; level-- > 0; fresh = sch_node(sch, fresh)->parent) {
        hone_var old = sch_node(sch, at_level(m, nest, level))->u.loop.var;
        const hone_expr *value = sch_var(sch, sch_node(sch, fresh)->u.loop.var);
        hone_dtype dtype = sch->func->vars[old].dtype;
        if (!hone_dtype_equal(value->dtype, dtype)) {
            value = hone_expr_cast(&sch->ir, dtype, value);
        }
        if (!value) return sch_ir_error(sch);
        HONE_TRY(sch_substitute_below(sch, m->loops[nest], old, value));
    }
    hone_tree_move_children(sch->func, m->loops[nest], bottom);
    return HONE_OK;
}

static hone_status rebuild(merging *m, bool has_dependences, hone_node_id *out_loop) {
    hone_schedule *sch = m->sch;
    HONE_TRY(make_nest(m, out_loop));
    for (uint32_t i = 0; i < m->count; i++)
        HONE_TRY(move_body(m, i, *out_loop));
    for (uint32_t i = 0; i + 1 < m->count; i++)
        hone_tree_remove(sch->func, at_level(m, i, 0));
    hone_tree_replace(sch->func, at_level(m, m->count - 1, 0), m->top);
    sch_forget_facts(sch, m->top);
    if (!has_dependences) return HONE_OK;
    HONE_TRY(sch_require_order_free(sch, m->top, *out_loop));
    return sch_require_pipeline(sch, sch_scope_of(sch, m->top)); /* others may stand between */
}

hone_status hone_sch_merge(hone_schedule *sch, uint32_t count, const hone_rv *loop_rvs,
                           hone_rv *out_loop) {
    merging m = {.sch = sch, .count = count};
    if (count < 2) return sch_refuse(sch, HONE_NO_ID, "merge needs at least two loops");
    hone_node_id *loops = hone_arena_alloc(sch->arena, count * sizeof *loops), merged;
    if (!loops) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(sch_resolve_loop(sch, loop_rvs[i], &loops[i]));
    m.loops = loops;
    HONE_TRY(find_parent(&m));
    HONE_TRY(find_chains(&m));
    HONE_TRY(check_extents(&m));
    HONE_TRY(check_between(&m));
    bool has_dependences = false;
    HONE_TRY(check_order(&m, &has_dependences));
    hone_func *saved = NULL;
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(sch_end_trial(sch, saved, rebuild(&m, has_dependences, &merged)));
    return sch_record_node(sch, HONE_INST_MERGE, SCH_ARGS(SCH_LIST(count, rvs, loop_rvs)), merged,
                           out_loop);
}

SCH_STEP(MERGE, hone_sch_merge(sch, a[0].count, a[0].list.rvs, NULL), .gives = HONE_GIVES_LOOP,
         .args = {SCH_ARG_LOOPS("loops")});
