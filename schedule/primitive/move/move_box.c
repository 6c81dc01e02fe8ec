/* schedule/primitive/move/move_box.c - what blocks below a loop touch of a buffer, as boxes. */
#include "schedule/primitive/move/move_domain.h"

#include <string.h>

#include "ir/core/concurrent.h"
#include "ir/region/region.h"

/* ---- boxes ---- */

/* What is shared by threads is needed by all of them: the loops from `loop` outwards that are bound
 * to threads which see the same buffer, in that scope, run, too. */
static void mark_sharing_threads(const hone_schedule *sch, const char *scope, hone_node_id loop,
                                 bool *io_marks) {
    if (strncmp(scope, "global", 6) == 0) return; /* each has written its part */
    for (hone_node_id n = loop; sch_node(sch, n)->kind == HONE_NODE_FOR;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->loop_kind != HONE_LOOP_THREAD) continue;
        if (!hone_scope_is_own(scope, node->u.loop.thread_tag)) io_marks[node->u.loop.var] = true;
    }
}

hone_status sch_box_below(hone_schedule *sch, hone_node_id loop, uint32_t count,
                          const hone_node_id *blocks, hone_buffer buffer, bool of_writes,
                          sch_box *out, bool *out_is_exact) {
    const char *scope = of_writes ? NULL : hone_func_buffer(sch->func, buffer)->scope;
    return sch_box_shared(sch, loop, count, blocks, buffer, of_writes, scope, out, out_is_exact);
}

/* Is one box all of another, end by end? */
static bool same_box(hone_schedule *sch, uint32_t rank, const hone_interval *a,
                     const hone_interval *b) {
    for (uint32_t d = 0; d < rank; d++) {
        if (!a[d].min || !a[d].max || !b[d].min || !b[d].max) return false;
        if (!hone_prove_equal(&sch->arith, a[d].min, b[d].min)) return false;
        if (!hone_prove_equal(&sch->arith, a[d].max, b[d].max)) return false;
    }
    return true;
}

/* Adds a box to a union; io_is_whole: one box alone is surely all of the union. */
static hone_status unite(hone_schedule *sch, uint32_t rank, const hone_interval *one, bool is_exact,
                         hone_interval **io_union, bool *io_is_whole) {
    hone_interval *old = *io_union;
    hone_interval *dims = hone_arena_copy(sch->arena, one, rank * sizeof *dims);
    if (!dims) return sch_no_memory();
    *io_union = dims;
    if (!old) {
        *io_is_whole = is_exact;
        return HONE_OK;
    }
    for (uint32_t d = 0; d < rank; d++)
        dims[d] = hone_interval_union(&sch->arith, old[d], one[d]);
    *io_is_whole = (*io_is_whole && same_box(sch, rank, old, dims)) ||
                   (is_exact && same_box(sch, rank, one, dims));
    return HONE_OK;
}

static bool has_ends(uint32_t rank, const hone_interval *box) {
    for (uint32_t d = 0; box && d < rank; d++) {
        if (!box[d].min || !box[d].max) return false;
    }
    return box != NULL;
}

/* The only statement of a block, another block without axes: whatever the outer one touches, it
 * touches under the predicate of the inner one. HONE_NO_ID: it is no such block. */
static hone_node_id guarded_body(const hone_schedule *sch, hone_node_id id) {
    hone_node_id body = sch_node(sch, id)->first;
    if (body == HONE_NO_ID || sch_node(sch, body)->next != HONE_NO_ID) return HONE_NO_ID;
    const hone_node *node = sch_node(sch, body);
    if (node->kind != HONE_NODE_BLOCK || !node->u.block.predicate) return HONE_NO_ID;
    bool is_plain = node->u.block.block->axis_count == 0 && sch_block(sch, id)->match_count == 0 &&
                    hone_block_init_of(sch->func, body) == HONE_NO_ID;
    return is_plain ? body : HONE_NO_ID;
}

/* That predicate in terms of the loops, where it speaks of none but those marked; else NULL. */
static const hone_expr *inner_condition(hone_schedule *sch, hone_node_id id, hone_node_id body,
                                        const bool *marks) {
    const hone_node *node = sch_node(sch, id);
    const hone_expr *condition = sch_node(sch, body)->u.block.predicate;
    uint32_t count = sch->func->var_count;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *map);
    bool *others = hone_arena_alloc(sch->arena, (count + 1) * sizeof *others);
    if (!map || !others || !hone_expr_is_pure_index(condition)) return NULL;
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++)
        map[node->u.block.block->axes[a].var] = node->u.block.bindings[a];
    for (uint32_t v = 0; v < count; v++)
        others[v] = !marks[v];
    condition = hone_expr_substitute(&sch->ir, condition, map, count);
    return condition && !hone_expr_uses_any(condition, others, count) ? condition : NULL;
}

/* A loop that repeats the block, of which no binding speaks, may have no iteration: then nothing of
 * the box is written. */
static bool may_be_left_out(hone_schedule *sch, hone_node_id id, const bool *marks) {
    for (hone_node_id n = sch_node(sch, id)->parent; sch_node(sch, n)->kind == HONE_NODE_FOR;
         n = sch_node(sch, n)->parent) {
        bool is_marked = marks[sch_node(sch, n)->u.loop.var];
        if (is_marked && !sch_uses_loop(sch, id, n) && !hone_surely_runs(&sch->arith, sch->func, n))
            return true;
    }
    return false;
}

/* The box of what a block declares, under its predicate and that of a block that is all its body.
 * exact: all of it is written. */
static hone_status box_of_block(hone_schedule *sch, hone_node_id id, const hone_region *region,
                                bool of_writes, const bool *marks, hone_interval *out,
                                bool *out_is_exact) {
    const hone_expr *old = sch_node(sch, id)->u.block.predicate;
    hone_node_id body = guarded_body(sch, id);
    const hone_expr *inner = body != HONE_NO_ID ? inner_condition(sch, id, body, marks) : NULL;
    const hone_expr *both =
        inner && old ? hone_expr_binary(&sch->ir, HONE_OP_AND, old, inner) : inner;
    HONE_TRY(sch_ir_error(sch));
    if (both) sch_node(sch, id)->u.block.predicate = both;
    hone_status st = hone_region_relax(&sch->arith, sch->func, id, region, marks,
                                       sch->func->var_count, out, out_is_exact);
    sch_node(sch, id)->u.block.predicate = old;
    HONE_TRY(st);
    if (!of_writes || !*out_is_exact) return HONE_OK;
    const hone_block *block = inner ? sch_block(sch, body) : NULL;
    const hone_region *written =
        block ? hone_region_of(block->write_count, block->writes, region->buffer) : NULL;
    bool is_all = written && hone_region_same(sch->func, written, region);
    *out_is_exact = (sch_writes_exactly(sch, id) || (is_all && sch_writes_exactly(sch, body))) &&
                    !may_be_left_out(sch, id, marks);
    return HONE_OK;
}

hone_status sch_box_shared(hone_schedule *sch, hone_node_id loop, uint32_t count,
                           const hone_node_id *blocks, hone_buffer buffer, bool of_writes,
                           const char *scope, sch_box *out, bool *out_is_exact) {
    uint32_t rank = hone_func_buffer(sch->func, buffer)->rank;
    hone_interval *one = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof *one);
    out->buffer = buffer;
    out->dims = NULL;
    bool is_whole = false;
    if (!one) return sch_no_memory();
    for (uint32_t b = 0; b < count; b++) {
        uint32_t region_count;
        const hone_region *regions =
            sch_regions_of(sch_block(sch, blocks[b]), of_writes, &region_count);
        for (uint32_t r = 0; r < region_count; r++) {
            if (regions[r].buffer != buffer) continue;
            bool *marks = NULL, is_exact = false;
            HONE_TRY(sch_mark_loops(sch, blocks[b], loop, &marks));
            if (scope) mark_sharing_threads(sch, scope, loop, marks);
            HONE_TRY(box_of_block(sch, blocks[b], &regions[r], of_writes, marks, one, &is_exact));
            HONE_TRY(unite(sch, rank, one, is_exact, &out->dims, &is_whole));
        }
    }
    if (out_is_exact && of_writes && !scope && !is_whole && has_ends(rank, out->dims)) {
        for (uint32_t b = 0; b < count && !is_whole; b++)
            is_whole = sch_stores_cover(sch, blocks[b], buffer, loop, out->dims);
    }
    if (out_is_exact) *out_is_exact = is_whole;
    return HONE_OK;
}
