/* schedule/state/sched_pipeline.c - is a scope a pipeline of stages: does every block find what it
 * reads written before it, in full and done with? */
#include "schedule/state/schedule_impl.h"

#include "ir/region/region.h"
#include "schedule/state/partial_results.h"

/* The region (over the loops above `top`) of a block's access, into intervals. */
static bool region_above(hone_schedule *sch, hone_node_id block, const hone_region *region,
                         hone_node_id top, hone_interval *out) {
    bool *marks = NULL;
    hone_status st = sch_mark_loops(sch, block, top, &marks);
    if (!st) {
        st = hone_region_relax(&sch->arith, sch->func, block, region, marks, sch->func->var_count,
                               out, NULL);
    }
    if (!st) return true;
    hone_status_free(st);
    return false;
}

/* Does a condition stand between a block and something around it, so that it may not run? Below a
 * condition with two cases, each may be the other's. */
static bool may_be_left_out(const hone_schedule *sch, hone_node_id block, hone_node_id top) {
    hone_node_id n = sch_node(sch, block)->parent;
    for (; n != top && n != HONE_NO_ID; n = sch_node(sch, n)->parent) {
        hone_node_kind kind = (hone_node_kind)sch_node(sch, n)->kind;
        if (kind == HONE_NODE_IF || kind == HONE_NODE_ELSE) return true;
    }
    return n == HONE_NO_ID || sch_has_two_cases(sch, n);
}

/* Does what `from` writes to a buffer surely contain all that `to` reads of it? */
static bool covers(hone_schedule *sch, hone_node_id from, const hone_region *written,
                   hone_node_id to, const hone_region *read) {
    uint32_t rank = hone_func_buffer(sch->func, read->buffer)->rank;
    hone_node_id top = sch_lca(sch, from, to);
    hone_interval *box = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *box);
    if (box && region_above(sch, to, read, top, box) &&
        sch_surely_writes(sch, from, written->buffer, top, box)) {
        return true;
    }
    return !may_be_left_out(sch, from, top) &&
           sch_is_covered_by_axes(sch, from, written, to, read, top);
}

static bool feeds_axis(const hone_node *node, uint32_t axis, hone_var var) {
    return hone_expr_uses_var(node->u.block.bindings[axis], var);
}

/* Does the axis move what is written, one way? */
static bool axis_moves(hone_schedule *sch, const hone_block *block, hone_var axis,
                       hone_buffer buffer) {
    uint32_t rank = hone_func_buffer(sch->func, buffer)->rank;
    for (uint32_t w = 0; w < block->write_count; w++) {
        for (uint32_t d = 0; block->writes[w].buffer == buffer && d < rank; d++) {
            const hone_expr *index = block->writes[w].ranges[d].min;
            int64_t coeff = 0;
            if (index->kind == HONE_EXPR_VAR && index->u.var == axis) return true;
            if (hone_linear_coeff(&sch->arith, index, axis, &coeff) && coeff != 0) return true;
        }
    }
    return false;
}

/* Does the block only copy, so that an element has the same value however often it is written? The
 * place of what is copied is made of that of the copy. */
static bool copies_elementwise(const hone_schedule *sch, hone_node_id block) {
    const hone_node *store = NULL;
    for (hone_node_id n = hone_tree_next(sch->func, block, block); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, block, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_FOR) continue;
        if (node->kind != HONE_NODE_STORE || store) return false;
        store = node;
    }
    const hone_expr *value = store ? store->u.store.value : NULL;
    if (!value || value->kind != HONE_EXPR_LOAD || value->u.buffer == store->u.store.buffer) {
        return false;
    }
    for (uint32_t i = 0; i < value->count; i++) {
        bool is_known = hone_expr_is_int(value->args[i]);
        for (uint32_t d = 0; d < store->u.store.rank; d++)
            is_known = is_known || hone_expr_same(value->args[i], store->u.store.indices[d]);
        if (!is_known) return false;
    }
    return true;
}

static bool may_read_partial(hone_schedule *sch, hone_node_id writer, hone_node_id reader,
                             hone_node_id loop) {
    const hone_node *at = sch_node(sch, reader);
    return sch_may_read_partial(sch, writer, reader, at->u.block.bindings, at->u.block.predicate,
                                loop);
}

/* Does an element that the writer makes keep its value through the iterations of a loop that is
 * around writer and reader? Else a reader that is moved would meet another one, which matters
 * unless it only counts what it meets last. */
static bool keeps_values(hone_schedule *sch, hone_node_id writer, hone_node_id reader,
                         hone_buffer buffer, hone_node_id loop) {
    const hone_node *node = sch_node(sch, writer);
    const hone_block *block = node->u.block.block;
    hone_var var = sch_node(sch, loop)->u.loop.var;
    bool is_used = false;
    if (hone_expr_is_int_value(sch_node(sch, loop)->u.loop.range.extent, 1)) return true;
    if (node->flags & SCH_OPEN) return false;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (!feeds_axis(node, a, var)) continue;
        is_used = true;
        hone_var axis = block->axes[a].var;
        bool is_spatial = block->axes[a].kind == HONE_AXIS_SPATIAL;
        bool may_stay =
            is_spatial || (block->axes[a].kind == HONE_AXIS_OPAQUE && !sch_reads_own_output(block));
        if (!may_stay) return may_read_partial(sch, writer, reader, loop);
        if (axis_moves(sch, block, axis, buffer)) continue;
        if (copies_elementwise(sch, writer)) continue;
        if (!is_spatial || !sch_has_disjoint_writes(sch, writer)) return false;
    }
    if (is_used) return true;
    if (sch_reads_own_output(block)) return false;
    hone_node_id source = sch_summed_source(sch, writer, loop);
    return source == HONE_NO_ID || may_read_partial(sch, source, reader, loop);
}

static bool is_settled(hone_schedule *sch, hone_node_id writer, hone_node_id reader,
                       hone_buffer buffer) {
    for (hone_node_id n = sch_lca(sch, writer, reader); sch_node(sch, n)->kind == HONE_NODE_FOR;
         n = sch_node(sch, n)->parent) {
        if (!keeps_values(sch, writer, reader, buffer, n)) return false;
    }
    return true;
}

/* Does a loop around both run more than once? */
static bool share_iterations(hone_schedule *sch, hone_node_id a, hone_node_id b) {
    for (hone_node_id n = sch_lca(sch, a, b); sch_node(sch, n)->kind == HONE_NODE_FOR;
         n = sch_node(sch, n)->parent) {
        if (!hone_expr_is_int_value(sch_node(sch, n)->u.loop.range.extent, 1)) return true;
    }
    return false;
}

/* What the reader has changed in place is lost where a loop around both runs the writer again for
 * the same element. */
static bool starts_over(hone_schedule *sch, hone_node_id writer, hone_node_id reader,
                        hone_buffer buffer) {
    if (!sch_writes(sch_block(sch, reader), buffer)) return false;
    if (!share_iterations(sch, writer, reader)) return false;
    bool has_axes = sch_block(sch, writer)->axis_count > 0;
    return !has_axes || !sch_counts_once(sch, writer, sch_scope_of(sch, writer));
}

static bool are_disjoint(hone_schedule *sch, uint32_t rank, const hone_interval *a,
                         const hone_interval *b) {
    for (uint32_t d = 0; d < rank; d++) {
        if (hone_prove_disjoint(&sch->arith, a[d], b[d])) return true;
    }
    return false;
}

/* Another one has made all that is read; this one changes some of it. Of what is read in one
 * iteration that both share, does it change nothing in other iterations? */
static bool changes_only_here(hone_schedule *sch, hone_node_id scope, hone_node_id from,
                              const hone_region *written, hone_node_id to,
                              const hone_region *read) {
    uint32_t rank = hone_func_buffer(sch->func, read->buffer)->rank;
    hone_node_id top = sch_lca(sch, from, to);
    hone_interval *box = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *box);
    hone_interval *all = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *all);
    if (!box || !all || !region_above(sch, to, read, top, box) ||
        !region_above(sch, from, written, scope, all)) {
        return false;
    }
    if (are_disjoint(sch, rank, box, all)) return true;
    for (uint32_t d = 0; d < rank; d++)
        box[d] = hone_interval_intersect(&sch->arith, box[d], all[d]);
    return sch_surely_writes(sch, from, written->buffer, top, box);
}

/* Of those that surely write the buffer before the reader, in whole: where the one that it shares
 * most loops with meets it; HONE_NO_ID: there is at most one. */
static hone_node_id meeting_of_writers(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                                       hone_buffer buffer) {
    hone_node_id lowest = HONE_NO_ID;
    uint32_t count = 0;
    SCH_EACH_BLOCK (sch, scope, n) {
        if (n == reader || !sch_writes(sch_block(sch, n), buffer)) continue;
        if (!sch_is_before(sch, n, reader)) continue;
        hone_node_id top = sch_lca(sch, n, reader);
        count++;
        if (lowest == HONE_NO_ID ||
            hone_tree_depth(sch->func, top) > hone_tree_depth(sch->func, lowest))
            lowest = top;
    }
    return count > 1 ? lowest : HONE_NO_ID;
}

/* The child of top that holds a node below it. */
static hone_node_id child_of(const hone_schedule *sch, hone_node_id top, hone_node_id node) {
    while (sch_node(sch, node)->parent != top)
        node = sch_node(sch, node)->parent;
    return node;
}

/* Several who write parts of a buffer: does what they surely write before contain all that is read?
 */
static bool cover_together(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                           const hone_region *read) {
    uint32_t rank = hone_func_buffer(sch->func, read->buffer)->rank;
    hone_node_id lowest = meeting_of_writers(sch, scope, reader, read->buffer);
    hone_node_id last = HONE_NO_ID;
    if (lowest == HONE_NO_ID) return false;
    hone_interval *box = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *box);
    hone_dataflow flow = sch_dataflow(sch);
    hone_written made;
    hone_written_begin(&made, &flow, read->buffer, lowest);
    if (!box || !region_above(sch, reader, read, lowest, box)) return false;
    SCH_EACH_BLOCK (sch, scope, n) {
        if (n == reader || !sch_writes(sch_block(sch, n), read->buffer)) continue;
        made.within = sch_lca(sch, n, reader);
        if (!sch_is_before(sch, n, reader) || sch_has_two_cases(sch, made.within)) continue;
        hone_node_id statement = child_of(sch, made.within, n);
        if (statement != last) hone_written_add(&made, statement);
        last = statement;
    }
    return hone_covers(&made, box);
}

/* Checks one read of one block against its writers in the scope. */
bool sch_is_covered_read(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                         const hone_region *read, const char **why) {
    bool has_writer = false, is_covered = false, is_loose = false;
    SCH_EACH_BLOCK (sch, scope, n) {
        const hone_block *writer = sch_block(sch, n);
        for (uint32_t w = 0; w < writer->write_count; w++) {
            if (writer->writes[w].buffer != read->buffer || n == reader) continue;
            has_writer = true;
            if (!sch_is_before(sch, n, reader)) {
                *why = "a buffer is written after it was read";
                return false;
            }
            if (!is_settled(sch, n, reader, read->buffer) ||
                starts_over(sch, n, reader, read->buffer)) {
                *why = "a buffer is read while its values still change";
                return false;
            }
            bool covers_it = covers(sch, n, &writer->writes[w], reader, read);
            is_covered = is_covered || covers_it;
            is_loose =
                is_loose || (!covers_it && share_iterations(sch, n, reader) &&
                             !changes_only_here(sch, scope, n, &writer->writes[w], reader, read));
        }
    }
    is_covered = is_covered || (has_writer && cover_together(sch, scope, reader, read));
    if (is_covered && is_loose) {
        *why = "a buffer is read while its values still change";
        return false;
    }
    if (!has_writer || is_covered) return true;
    *why = "a block reads more of a buffer than its producer surely wrote";
    return false;
}

bool sch_has_writer_before(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                           const hone_region *read, bool *out_is_covered) {
    bool found = false;
    *out_is_covered = false;
    SCH_EACH_BLOCK (sch, scope, n) {
        const hone_block *writer = sch_block(sch, n);
        for (uint32_t w = 0; w < writer->write_count && n != reader; w++) {
            if (writer->writes[w].buffer != read->buffer || !sch_is_before(sch, n, reader))
                continue;
            found = true;
            *out_is_covered = *out_is_covered || covers(sch, n, &writer->writes[w], reader, read);
        }
    }
    *out_is_covered = *out_is_covered || (found && cover_together(sch, scope, reader, read));
    return found;
}

/* The region of a block's inside over all loops around it, for the scope outside. */
static bool widen_to_outside(hone_schedule *sch, hone_node_id block, hone_region *io) {
    uint32_t rank = hone_func_buffer(sch->func, io->buffer)->rank;
    hone_interval *box = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *box);
    hone_range *ranges = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *ranges);
    if (!box || !ranges) return false;
    if (!region_above(sch, block, io, sch_scope_of(sch, block), box)) return false;
    for (uint32_t d = 0; d < rank; d++) {
        hone_dtype dtype = io->ranges[d].min->dtype;
        if (!hone_interval_range(&sch->arith, box[d], dtype, &ranges[d])) return false;
    }
    io->ranges = ranges;
    return true;
}

bool sch_was_written_outside(hone_schedule *sch, hone_node_id block, const hone_region *read) {
    hone_region region = *read;
    hone_node_id scope = sch_scope_of(sch, block);
    for (; scope != HONE_NO_ID; block = scope, scope = sch_scope_of(sch, block)) {
        bool is_covered;
        if (sch_has_writer_before(sch, scope, block, &region, &is_covered)) return is_covered;
        if (!widen_to_outside(sch, block, &region)) return false;
    }
    return true;
}

/* Nothing but loops, blocks and known conditions stands in the scope; the init of the scope itself
 * is left out. */
static bool holds_blocks_only(const hone_schedule *sch, hone_node_id scope, hone_node_id *blame) {
    hone_node_id n = hone_tree_next(sch->func, scope, scope);
    while (n != HONE_NO_ID) {
        const hone_node *node = sch_node(sch, n);
        bool is_loop = node->kind == HONE_NODE_FOR &&
                       hone_expr_is_pure_index(node->u.loop.range.min) &&
                       hone_expr_is_pure_index(node->u.loop.range.extent);
        bool is_condition = sch_is_known_condition(sch, n);
        if (!is_loop && !is_condition && node->kind != HONE_NODE_BLOCK &&
            node->kind != HONE_NODE_INIT) {
            *blame = n;
            return false;
        }
        n = is_loop || is_condition ? hone_tree_next(sch->func, scope, n)
                                    : hone_tree_next_over(sch->func, scope, n);
    }
    return true;
}

static bool compute_pipeline(hone_schedule *sch, hone_node_id scope, const char **why,
                             hone_node_id *blame) {
    if (!holds_blocks_only(sch, scope, blame)) {
        *why = "a statement stands outside of its blocks";
        return false;
    }
    SCH_EACH_BLOCK (sch, scope, n) {
        const hone_block *block = sch_block(sch, n);
        for (uint32_t r = 0; r < block->read_count; r++) {
            if (sch_is_covered_read(sch, scope, n, &block->reads[r], why)) continue;
            *blame = n;
            return false;
        }
    }
    return true;
}

bool sch_is_stage_pipeline(hone_schedule *sch, hone_node_id scope, const char **out_why,
                           hone_node_id *out_blame) {
    const char *why = NULL;
    hone_node_id blame = scope;
    uint16_t flags = sch_node(sch, scope)->flags;
    bool is_pipeline = (flags & SCH_PIPELINE) != 0;
    if (!is_pipeline) { /* a proof that failed once may succeed after a later step */
        is_pipeline = compute_pipeline(sch, scope, &why, &blame);
    }
    if (!(flags & SCH_PIPELINE_KNOWN)) {
        sch_node(sch, scope)->flags |=
            (uint16_t)(SCH_PIPELINE_KNOWN | (is_pipeline ? SCH_PIPELINE : 0));
    }
    if (out_why) *out_why = why;
    if (out_blame) *out_blame = blame;
    return is_pipeline;
}

static hone_status refuse_pipeline(hone_schedule *sch, hone_node_id scope, const char *why,
                                   hone_node_id blame) {
    if (sch_node(sch, blame)->kind != HONE_NODE_BLOCK) {
        return sch_refuse(sch, blame, "the blocks of %s are not a pipeline of stages: %s",
                          sch_block_name(sch, scope), why ? why : "a dependency");
    }
    return sch_refuse(sch, blame, "the blocks of %s are not a pipeline of stages: %s (%s)",
                      sch_block_name(sch, scope), why ? why : "a dependency",
                      sch_block_name(sch, blame));
}

hone_status sch_require_pipeline(hone_schedule *sch, hone_node_id scope) {
    const char *why = NULL;
    hone_node_id blame = scope;
    if (sch_is_stage_pipeline(sch, scope, &why, &blame)) {
        return HONE_OK;
    }
    return refuse_pipeline(sch, scope, why, blame);
}

hone_status sch_require_covered(hone_schedule *sch, hone_node_id reader, hone_buffer buffer) {
    hone_node_id scope = sch_scope_of(sch, reader);
    const hone_block *block = sch_block(sch, reader);
    for (uint32_t r = 0; r < block->read_count; r++) {
        const char *why = NULL;
        if (block->reads[r].buffer != buffer ||
            sch_is_covered_read(sch, scope, reader, &block->reads[r], &why)) {
            continue;
        }
        return refuse_pipeline(sch, scope, why, reader);
    }
    return HONE_OK;
}
