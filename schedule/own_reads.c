/* schedule/own_reads.c - does a block read of a buffer what it has written itself in the same run?
 *
 *     with block O: for j: C[vi, j] = A[vi, j]
 *                   for j: D[vi, j] = C[vi, 5 - j]          reads what the first loop wrote
 *
 * A load is fed by what stands before it: at each level between it and the block, the statements in
 * front of the one that it is in surely write the box that is loaded from there on. What a nested
 * block reads counts as its declared region, over the loops around it. */
#include "schedule/pieces.h"

#include "ir/region.h"

typedef struct own_reads {
    hone_schedule *sch;
    hone_node_id block;
    hone_buffer buffer;
    hone_node_id at; /* of the expression that is looked at */
    bool is_fed;     /* all so far are */
} own_reads;

/* The box of a region at a node, over the loops below top: of a statement (the block is none) or of
 * what a nested block declares. */
static bool box_below(own_reads *o, hone_node_id at, hone_node_id block_or_none, hone_node_id top,
                      const hone_region *region, hone_interval *out) {
    hone_schedule *sch = o->sch;
    bool *marks = NULL;
    hone_status st = sch_mark_loops(sch, at, top, false, &marks);
    if (!st && block_or_none != HONE_NO_ID) {
        st = hone_region_relax(&sch->arith, sch->func, block_or_none, region, marks,
                               sch->func->var_count, out, NULL);
    } else if (!st) {
        st = hone_access_relax(&sch->arith, sch->func, region, marks, sch->func->var_count, out,
                               NULL);
    }
    return !hone_status_consume(st);
}

static bool is_written_before(own_reads *o, hone_node_id at, hone_node_id block_or_none,
                              const hone_region *region) {
    hone_schedule *sch = o->sch;
    uint32_t rank = hone_func_buffer(sch->func, o->buffer)->rank;
    hone_interval *box = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *box);
    hone_node_id scope = sch_scope_of(sch, at);
    for (hone_node_id n = at; box && n != scope; n = sch_node(sch, n)->parent) {
        hone_node_id top = sch_node(sch, n)->parent;
        if (sch_node(sch, n)->kind == HONE_NODE_ELSE) continue; /* in front of it: the other case */
        sch_pieces *pieces = sch_pieces_create(sch, o->buffer, top);
        if (!pieces || !box_below(o, at, block_or_none, top, region, box)) return false;
        for (hone_node_id p = sch_node(sch, n)->prev; p != HONE_NO_ID; p = sch_node(sch, p)->prev) {
            if (sch_node(sch, p)->kind != HONE_NODE_INIT) sch_pieces_add(pieces, p);
        }
        if (sch_pieces_cover(pieces, box)) return true;
    }
    return false;
}

static const hone_region *declared_read(const own_reads *o, hone_node_id id) {
    const hone_block *block = sch_block(o->sch, id);
    for (uint32_t r = 0; r < block->read_count; r++) {
        if (block->reads[r].buffer == o->buffer) return &block->reads[r];
    }
    return NULL;
}

static bool look_for_load(void *ctx, const hone_expr *e) {
    own_reads *o = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != o->buffer) return o->is_fed;
    const hone_region *region = sch_region_of_load(o->sch, e);
    hone_node_id at = o->at, block = HONE_NO_ID;
    while (region && !is_written_before(o, at, block, region)) {
        at = block = sch_scope_of(o->sch, at);
        region = NULL;
        if (at == o->block) break;
        bool sums_up = hone_block_init_of(o->sch->func, at) != HONE_NO_ID;
        region = declared_read(o, at);
        if (!region && sums_up && sch_writes(sch_block(o->sch, at), o->buffer)) return true;
    }
    o->is_fed = region != NULL;
    return o->is_fed;
}

static void look_at(void *ctx, hone_node_id at, const hone_expr *e) {
    own_reads *o = ctx;
    o->at = at;
    if (o->is_fed && at != o->block) hone_expr_walk(e, look_for_load, o);
}

bool sch_reads_own_writes(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    own_reads o = {.sch = sch, .block = block, .buffer = buffer, .is_fed = true};
    if (sch_has_jumps(sch, block) || sch_has_opaque_access(sch, buffer)) return false;
    hone_tree_walk_exprs(sch->func, block, false, look_at, &o);
    return o.is_fed;
}
