/* schedule/state/block_order.c - may the blocks below a loop run in another order, or at once? Each
 * by itself: its instances write different elements, and read what they write where they write it.
 * Several: what one of them writes another one touches in the same iteration only, or the scope is
 * a pipeline of stages. */
#include "schedule/state/schedule_impl.h"

#include "ir/region/region.h"

bool sch_reads_where_it_writes(hone_schedule *sch, hone_node_id id) {
    const hone_block *block = sch_block(sch, id);
    for (uint32_t w = 0; w < block->write_count; w++) {
        for (uint32_t r = 0; r < block->read_count; r++) {
            const hone_region *read = &block->reads[r], *write = &block->writes[w];
            if (read->buffer != write->buffer) continue;
            if (!hone_region_same(sch->func, read, write) &&
                !hone_region_covers(&sch->arith, sch->func, write, read)) {
                return false;
            }
        }
    }
    return true;
}

/* Axes and bindings are such as to let the instances run in any order. */
static bool has_free_axes(hone_schedule *sch, hone_node_id id, const char **out_why) {
    const hone_block *block = sch_block(sch, id);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].kind <= HONE_AXIS_REDUCE) continue;
        *out_why = "it has an axis that is neither spatial nor reduce";
        return false;
    }
    if (sch_node(sch, id)->flags & SCH_OPEN) {
        *out_why = "it uses loops around it in other ways than by its bindings";
        return false;
    }
    if (!sch_is_below_known_conditions(sch, id)) {
        *out_why = "something other than loops of known bounds stands around it";
        return false;
    }
    return true;
}

bool sch_is_order_free_below(hone_schedule *sch, hone_node_id id, hone_node_id above,
                             const char **out_why) {
    if (!has_free_axes(sch, id, out_why)) return false;
    if (!sch_reads_where_it_writes(sch, id)) {
        *out_why = "it reads what other instances of it write";
        return false;
    }
    if (!sch_has_disjoint_writes(sch, id)) {
        *out_why = "different values of its spatial axes may write the same element";
        return false;
    }
    if (sch_counts_once(sch, id, above)) return true;
    *out_why = "its bindings are not affine in the loops";
    return false;
}

bool sch_is_order_free(hone_schedule *sch, hone_node_id id, const char **out_why) {
    return sch_is_order_free_below(sch, id, HONE_NO_ID, out_why);
}

bool sch_is_order_free_alone(hone_schedule *sch, hone_node_id id, hone_node_id loop) {
    const char *why = NULL;
    if (!has_free_axes(sch, id, &why) || !sch_has_disjoint_stores(sch, id)) return false;
    const hone_block *block = sch_block(sch, id);
    SCH_EACH_BLOCK (sch, loop, n) {
        const hone_block *other = sch_block(sch, n);
        if (n == id) continue;
        for (uint32_t w = 0; w < block->write_count; w++) {
            hone_buffer buffer = block->writes[w].buffer;
            if (sch_writes(other, buffer) || sch_reads(other, buffer)) return false;
        }
    }
    return sch_counts_once(sch, id, HONE_NO_ID);
}

/* In each of the loops from top to bottom, iterations have slices of their own. */
static bool share_slices_of_all(hone_schedule *sch, hone_node_id a, hone_node_id b,
                                hone_buffer buffer, hone_node_id top, hone_node_id bottom) {
    for (hone_node_id n = bottom; n != HONE_NO_ID; n = sch_node(sch, n)->parent) {
        if (!sch_carries_no_dependence_between(sch, a, b, buffer, n)) return false;
        if (n == top) return true;
    }
    return false;
}

hone_status sch_require_compatible_writers(hone_schedule *sch, hone_node_id loop,
                                           hone_node_id bottom) {
    SCH_EACH_BLOCK (sch, loop, n) {
        const hone_block *later = sch_block(sch, n);
        for (hone_node_id o = sch_next_block(sch, loop, loop); o != n;
             o = sch_next_block(sch, loop, o)) {
            for (uint32_t w = 0; w < later->write_count; w++) {
                hone_buffer buffer = later->writes[w].buffer;
                if (!sch_writes(sch_block(sch, o), buffer) || sch_reads(later, buffer)) continue;
                if (share_slices_of_all(sch, o, n, buffer, loop, bottom)) continue;
                if (sch_touch_disjoint(sch, o, n, buffer, loop)) continue;
                return sch_refuse(sch, n, "both %s and %s, below %s, write '%s'",
                                  sch_block_name(sch, o), sch_block_name(sch, n),
                                  sch_loop_name(sch, loop), sch_buffer_name(sch, buffer));
            }
        }
    }
    return HONE_OK;
}

/* Below the loop: something else than loops, blocks and, where they are let pass, conditions. */
static bool has_others(const hone_schedule *sch, hone_node_id loop, bool pass_conditions) {
    hone_node_id n = hone_tree_next(sch->func, loop, loop);
    while (n != HONE_NO_ID) {
        hone_node_kind kind = (hone_node_kind)sch_node(sch, n)->kind;
        if (kind != HONE_NODE_FOR && kind != HONE_NODE_BLOCK &&
            !(pass_conditions && sch_is_known_condition(sch, n))) {
            return true;
        }
        n = kind != HONE_NODE_BLOCK ? hone_tree_next(sch->func, loop, n)
                                    : hone_tree_next_over(sch->func, loop, n);
    }
    return false;
}

bool sch_has_other_statements(const hone_schedule *sch, hone_node_id loop) {
    return has_others(sch, loop, false);
}

bool sch_has_loose_statements(const hone_schedule *sch, hone_node_id loop) {
    return has_others(sch, loop, true);
}

bool sch_has_unguarded_statements(const hone_schedule *sch, hone_node_id loop) {
    hone_var var = sch_node(sch, loop)->u.loop.var;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(sch->func, loop, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_IF && hone_expr_uses_var(node->u.eval.value, var)) return true;
    }
    return has_others(sch, loop, true);
}

bool sch_carries_no_dependence(hone_schedule *sch, hone_node_id loop, hone_node_id bottom) {
    SCH_EACH_BLOCK (sch, loop, a) {
        const hone_block *writer = sch_block(sch, a);
        bool is_earlier = true;
        SCH_EACH_BLOCK (sch, loop, b) {
            if (b == a) is_earlier = false;
            for (uint32_t w = 0; w < writer->write_count && b != a; w++) {
                hone_buffer buffer = writer->writes[w].buffer;
                bool writes = sch_writes(sch_block(sch, b), buffer);
                if (writes && is_earlier) continue; /* shown when b was the writer */
                if (!writes && !sch_reads(sch_block(sch, b), buffer)) continue;
                if (!share_slices_of_all(sch, a, b, buffer, loop, bottom)) return false;
            }
        }
    }
    return true;
}

/* What different blocks below the loop make for each other survives a reordering of the loops from
 * `loop` to `bottom`. */
static hone_status require_stages(hone_schedule *sch, hone_node_id loop, hone_node_id bottom) {
    if (sch_carries_no_dependence(sch, loop, bottom)) return HONE_OK;
    return sch_require_pipeline(sch, sch_scope_of(sch, loop));
}

hone_status sch_require_order_free(hone_schedule *sch, hone_node_id loop, hone_node_id bottom) {
    if (sch_has_loose_statements(sch, loop)) {
        return sch_refuse(sch, loop, "a statement in %s stands outside of blocks",
                          sch_loop_name(sch, loop));
    }
    hone_node_id parent = sch_node(sch, loop)->parent;
    bool is_inside = sch_node(sch, parent)->kind == HONE_NODE_FOR;
    uint32_t count = 0;
    SCH_EACH_BLOCK (sch, loop, n) {
        const char *why = NULL;
        count++;
        if (sch_is_order_free(sch, n, &why)) continue;
        if (is_inside && sch_is_order_free_below(sch, n, parent, &why)) continue;
        if (sch_is_order_free_alone(sch, n, loop)) continue;
        return sch_refuse(sch, n, "the instances of %s can't change their order: %s",
                          sch_block_name(sch, n), why);
    }
    if (count < 2) return HONE_OK;
    HONE_TRY(sch_require_compatible_writers(sch, loop, bottom));
    return require_stages(sch, loop, bottom);
}
