/* schedule/state/read_after_write.c - does a block read of a buffer what it has written itself in
 * the same run?
 *
 *     with block O: for j: C[vi, j] = A[vi, j]
 *                   for j: D[vi, j] = C[vi, 5 - j]          reads what the first loop wrote
 *
 *     with block S: B[vi, 0] = A[vi, 0]
 *                   for j: B[vi, j + 1] = B[vi, j] + A[vi, j + 1]    or the iteration before
 *
 * A load is covered by what stands before it: at each level between it and the block, the
 * statements in front of the one that it is in, and the earlier iterations of a loop that it is in,
 * surely write the box that is loaded from there on. What a nested block reads counts as its
 * declared region, over the loops around it. */
#include "schedule/state/pieces.h"

#include "ir/region/region.h"

typedef struct read_check {
    hone_schedule *sch;
    hone_node_id block;
    hone_buffer buffer;
    hone_node_id at;  /* of the expression that is looked at */
    bool counts_init; /* what the block's own init sets is there in each later instance */
    bool is_covered;  /* all so far are */
} read_check;

/* The box of a region at a node, over the loops below top: of a statement (the block is none) or of
 * what a nested block declares. */
static bool box_below(read_check *o, hone_node_id at, hone_node_id block_or_none, hone_node_id top,
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

/* The value of an end of a box in another iteration of the loop. */
static const hone_expr *in_iteration(read_check *o, const hone_expr *e, hone_var var,
                                     const hone_expr *iteration) {
    hone_schedule *sch = o->sch;
    const hone_expr *value = hone_expr_cast(&sch->ir, sch->func->vars[var].dtype, iteration);
    const hone_expr *put = value ? hone_expr_substitute_one(&sch->ir, e, var, value) : NULL;
    return put ? hone_simplify(&sch->arith, put) : NULL;
}

/* What all iterations before the present one write together, of a side that moves by its own length
 * from each to the next: side by side, and empty in the first one. */
static bool sweep_side(read_check *o, const hone_node *loop, hone_interval *side) {
    hone_schedule *sch = o->sch;
    hone_var var = loop->u.loop.var;
    const hone_expr *first = loop->u.loop.range.min, *now = sch_var(sch, var);
    const hone_expr *one = now ? hone_expr_int(&sch->ir, now->dtype, 1) : NULL;
    const hone_expr *before = one ? hone_expr_sub(&sch->ir, now, one) : NULL;
    const hone_expr *way =
        hone_simplify(&sch->arith, hone_expr_sub(&sch->ir, side->max, side->min));
    int64_t by = 0, by_max = 0;
    if (!before || !way || !hone_expr_is_int(way)) return false;
    if (!hone_linear_coeff(&sch->arith, side->min, var, &by) ||
        !hone_linear_coeff(&sch->arith, side->max, var, &by_max) || by != by_max) {
        return false;
    }
    if (by == 0 || (by > 0 ? by : -by) != way->u.i + 1) return false;
    side->min = in_iteration(o, side->min, var, by > 0 ? first : before);
    side->max = in_iteration(o, side->max, var, by > 0 ? before : first);
    return side->min && side->max;
}

/* A piece of one iteration becomes that of all before the present one. */
static bool sweep(read_check *o, const hone_node *loop, uint32_t rank, hone_interval *piece,
                  uint32_t *out_along) {
    bool is_swept = false;
    for (uint32_t d = 0; d < rank; d++) {
        if (!hone_expr_uses_var(piece[d].min, loop->u.loop.var) &&
            !hone_expr_uses_var(piece[d].max, loop->u.loop.var)) {
            continue;
        }
        if (is_swept || !sweep_side(o, loop, &piece[d])) return false;
        *out_along = d;
        is_swept = true;
    }
    return is_swept;
}

/* Joins what lies right before or behind the piece in a dimension, whatever the others' lengths:
 * the piece may be empty, so that nothing else tells that they follow each other. */
static bool join(const sch_pieces *l, uint32_t along, hone_interval *piece) {
    hone_schedule *sch = l->sch;
    bool is_joined = false;
    for (uint32_t p = 0; p < l->count; p++) {
        const hone_interval *other = l->pieces[p];
        bool fits = true;
        for (uint32_t d = 0; d < l->rank && fits; d++) {
            fits = d == along || (hone_prove_less_equal(&sch->arith, other[d].min, piece[d].min) &&
                                  hone_prove_less_equal(&sch->arith, piece[d].max, other[d].max));
        }
        if (!fits) continue;
        hone_interval *side = &piece[along];
        const hone_expr *one = hone_expr_int(&sch->ir, side->min->dtype, 1);
        if (!one) return false;
        bool is_low = hone_prove_less_equal(&sch->arith, other[along].min, side->min) &&
                      !hone_expr_same(other[along].min, side->min);
        if (is_low && hone_prove_less_equal(&sch->arith, hone_expr_sub(&sch->ir, side->min, one),
                                            other[along].max)) {
            side->min = other[along].min;
            is_joined = true;
        }
        bool is_high = hone_prove_less_equal(&sch->arith, side->max, other[along].max) &&
                       !hone_expr_same(other[along].max, side->max);
        if (is_high && hone_prove_less_equal(&sch->arith, other[along].min,
                                             hone_expr_add(&sch->ir, side->max, one))) {
            side->max = other[along].max;
            is_joined = true;
        }
    }
    return is_joined;
}

/* Adds what earlier iterations of a loop have written, with what lies beside it already; false
 * where there is none. */
static bool add_earlier(read_check *o, hone_node_id id, sch_pieces *l) {
    hone_schedule *sch = o->sch;
    const hone_node *loop = sch_node(sch, id);
    uint32_t along = 0, known = l->count;
    if (loop->kind != HONE_NODE_FOR ||
        (loop->loop_kind != HONE_LOOP_SERIAL && loop->loop_kind != HONE_LOOP_UNROLLED)) {
        return false;
    }
    sch_pieces *each = sch_pieces_create(sch, o->buffer, id);
    for (hone_node_id n = loop->first; each && n != HONE_NO_ID; n = sch_node(sch, n)->next)
        sch_pieces_add(each, n);
    for (uint32_t p = 0; each && p < each->count && l->count < SCH_MAX_PIECES; p++) {
        hone_interval *piece = each->pieces[p];
        if (!sweep(o, loop, l->rank, piece, &along)) continue;
        for (uint32_t round = 0; round < known && join(l, along, piece); round++) {
        }
        l->pieces[l->count++] = piece;
    }
    return l->count > known;
}

static bool is_written_before(read_check *o, hone_node_id at, hone_node_id block_or_none,
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
            bool is_init = sch_node(sch, p)->kind == HONE_NODE_INIT;
            if (!is_init || (o->counts_init && top == o->block)) sch_pieces_add(pieces, p);
        }
        if (sch_pieces_cover(pieces, box)) return true;
        if (!add_earlier(o, n, pieces)) continue;
        if (!box_below(o, at, block_or_none, n, region, box)) return false;
        if (sch_pieces_cover(pieces, box)) return true;
    }
    return false;
}

/* A region that a node reads: by itself, or as the blocks around it say what they read. */
static bool is_region_covered(read_check *o, hone_node_id at, hone_node_id block_or_none,
                              const hone_region *region) {
    hone_schedule *sch = o->sch;
    if (is_written_before(o, at, block_or_none, region)) return true;
    hone_node_id around = sch_scope_of(sch, at);
    if (around == o->block) return false;
    const hone_block *block = sch_block(sch, around);
    bool is_declared = false;
    for (uint32_t r = 0; r < block->read_count; r++) {
        if (block->reads[r].buffer != o->buffer) continue;
        if (!is_region_covered(o, around, around, &block->reads[r])) return false;
        is_declared = true;
    }
    bool sums_up = hone_block_init_of(sch->func, around) != HONE_NO_ID;
    return is_declared || (sums_up && sch_writes(block, o->buffer));
}

static bool look_for_load(void *ctx, const hone_expr *e) {
    read_check *o = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != o->buffer) return o->is_covered;
    const hone_region *region = sch_region_of_load(o->sch, e);
    o->is_covered = region && is_region_covered(o, o->at, HONE_NO_ID, region);
    return o->is_covered;
}

static void look_at(void *ctx, hone_node_id at, const hone_expr *e) {
    read_check *o = ctx;
    o->at = at;
    if (o->is_covered && at != o->block) hone_expr_walk(e, look_for_load, o);
}

static bool all_are_covered(read_check *o) {
    if (hone_jumps_below(o->sch->func, o->block) ||
        hone_has_opaque_access(o->sch->func, 0, o->buffer))
        return false;
    hone_tree_walk_exprs(o->sch->func, o->block, false, look_at, o);
    return o->is_covered;
}

bool sch_reads_after_write(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    read_check o = {.sch = sch, .block = block, .buffer = buffer, .is_covered = true};
    return all_are_covered(&o);
}

bool sch_accumulates(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    bool has_init = hone_block_init_of(sch->func, block) != HONE_NO_ID;
    if (!has_init && !sch_reads(sch_block(sch, block), buffer)) {
        /* a read may be hidden (unsafe_hide_buffer_access) */
        return sch_single_store(sch, block) != HONE_NO_ID &&
               hone_loads_below(sch->func, block, buffer);
    }
    read_check o = {
        .sch = sch, .block = block, .buffer = buffer, .counts_init = has_init, .is_covered = true};
    return !all_are_covered(&o);
}
