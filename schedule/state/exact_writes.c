/* schedule/state/exact_writes.c - exact writes, and pieces that are surely written. What a block
 * declares to write is a box around what it writes. Is every element of the box written by each run
 * of the block?
 *
 *     T.writes(B[vi * 4:vi * 4 + 7])        for j in 2: B[vi * 4 + j * 6] = …     has gaps
 *     T.writes(B[0:5])                      two blocks: B[0:3], B[3:5]            all of it
 *
 * A store counts as its place, a nested block as what it writes if that is all of what it declares,
 * both over the loops around them; below a condition nothing counts but what both branches store to
 * one place, and an init. The pieces
 * found must cover the box: one of them, or several side by side along one dimension. A view of
 * which all is written counts as what it shows. Where the block takes the address of the buffer or
 * of a view, the declaration is all there is, and believed.
 */
#include "schedule/state/pieces.h"

#include "ir/region/region.h"

sch_pieces *sch_pieces_create(hone_schedule *sch, hone_buffer buffer, hone_node_id within) {
    sch_pieces *l = hone_arena_zalloc(sch->arena, sizeof *l);
    if (!l) return NULL;
    l->sch = sch;
    l->buffer = buffer;
    l->within = within;
    l->rank = hone_func_buffer(sch->func, buffer)->rank;
    return l;
}

static void add_piece(sch_pieces *l, hone_node_id at, hone_node_id block_or_none,
                      const hone_region *region) {
    hone_schedule *sch = l->sch;
    bool *marks = NULL, is_exact = false;
    hone_interval *piece = hone_arena_alloc(sch->arena, (l->rank + 1) * sizeof *piece);
    if (!piece || l->count == SCH_MAX_PIECES) return;
    hone_status st = sch_mark_loops(sch, at, l->within, false, &marks);
    if (!st && block_or_none != HONE_NO_ID) {
        st = hone_region_relax(&sch->arith, sch->func, block_or_none, region, marks,
                               sch->func->var_count, piece, &is_exact);
    } else if (!st) {
        st = hone_access_relax(&sch->arith, sch->func, region, marks, sch->func->var_count, piece,
                               &is_exact);
    }
    if (hone_status_consume(st) || !is_exact) return;
    l->pieces[l->count++] = piece;
}

/* An index as a range: a ramp by ones is as long as it has lanes. */
static bool range_of_index(hone_schedule *sch, const hone_expr *index, hone_range *out) {
    int64_t extent = 1;
    if (index->kind == HONE_EXPR_RAMP) {
        if (!hone_expr_is_int_value(index->args[1], 1)) return false;
        extent = index->dtype.lanes;
        index = index->args[0];
    }
    if (index->dtype.lanes != 1) return false;
    *out = (hone_range){index, hone_expr_int(&sch->ir, index->dtype, extent)};
    return out->extent != NULL;
}

const hone_region *sch_region_of_load(hone_schedule *sch, const hone_expr *load) {
    hone_region *region = hone_arena_alloc(sch->arena, sizeof *region);
    hone_range *ranges = hone_arena_alloc(sch->arena, (load->count + 1) * sizeof *ranges);
    if (!region || !ranges) return NULL;
    for (uint32_t d = 0; d < load->count; d++) {
        if (!range_of_index(sch, load->args[d], &ranges[d])) return NULL;
    }
    *region = (hone_region){load->u.buffer, ranges};
    return region;
}

/* Where a store writes; false where that is no box. */
static bool region_of_store(sch_pieces *l, hone_node_id store, hone_region *out) {
    const hone_node *node = sch_node(l->sch, store);
    hone_range *ranges = hone_arena_alloc(l->sch->arena, (l->rank + 1) * sizeof *ranges);
    if (node->u.store.buffer != l->buffer || node->u.store.rank != l->rank || !ranges) return false;
    for (uint32_t d = 0; d < l->rank; d++) {
        if (!range_of_index(l->sch, node->u.store.indices[d], &ranges[d])) return false;
    }
    *out = (hone_region){l->buffer, ranges};
    return true;
}

static void add_store(sch_pieces *l, hone_node_id store) {
    hone_region region;
    if (region_of_store(l, store, &region)) add_piece(l, store, HONE_NO_ID, &region);
}

static void add_block(sch_pieces *l, hone_node_id id) {
    const hone_block *block = sch_block(l->sch, id);
    for (uint32_t w = 0; w < block->write_count; w++) {
        if (block->writes[w].buffer != l->buffer) continue;
        if (sch_writes_exactly(l->sch, id)) add_piece(l, id, id, &block->writes[w]);
    }
}

bool sch_surely_runs(hone_schedule *sch, hone_node_id loop) {
    const hone_expr *extent = sch_node(sch, loop)->u.loop.range.extent;
    const hone_expr *one = hone_expr_int(&sch->ir, extent->dtype, 1);
    return one && hone_prove_less_equal(&sch->arith, one, extent);
}

static bool stores_there(const sch_pieces *l, hone_node_id branch, const hone_node *store) {
    for (hone_node_id n = sch_node(l->sch, branch)->first; n != HONE_NO_ID;
         n = sch_node(l->sch, n)->next) {
        const hone_node *other = sch_node(l->sch, n);
        bool is_there = other->kind == HONE_NODE_STORE &&
                        other->u.store.buffer == store->u.store.buffer &&
                        other->u.store.rank == store->u.store.rank;
        for (uint32_t d = 0; is_there && d < store->u.store.rank; d++)
            is_there = hone_expr_same(other->u.store.indices[d], store->u.store.indices[d]);
        if (is_there) return true;
    }
    return false;
}

/* The stores of a branch whose places the other one stores to as well. */
static void add_choice(sch_pieces *l, hone_node_id choice) {
    hone_node_id other = sch_node(l->sch, choice)->last;
    if (other == HONE_NO_ID || sch_node(l->sch, other)->kind != HONE_NODE_ELSE) return;
    for (hone_node_id n = sch_node(l->sch, choice)->first; n != other;
         n = sch_node(l->sch, n)->next) {
        const hone_node *node = sch_node(l->sch, n);
        if (node->kind == HONE_NODE_STORE && stores_there(l, other, node)) add_store(l, n);
    }
}

static void find_pieces(sch_pieces *l, hone_node_id parent) {
    for (hone_node_id n = sch_node(l->sch, parent)->first; n != HONE_NO_ID;
         n = sch_node(l->sch, n)->next) {
        sch_pieces_add(l, n);
    }
}

void sch_pieces_add(sch_pieces *l, hone_node_id n) {
    const hone_node *node = sch_node(l->sch, n);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_STORE:
        add_store(l, n);
        break;
    case HONE_NODE_BLOCK:
        add_block(l, n);
        break;
    case HONE_NODE_FOR:
        if (sch_surely_runs(l->sch, n)) find_pieces(l, n);
        break;
    case HONE_NODE_IF:
        add_choice(l, n);
        break;
    case HONE_NODE_LET:
    case HONE_NODE_ATTR:
    case HONE_NODE_INIT: /* in the first run for these places */
        find_pieces(l, n);
        break;
    default: /* conditions, loops of unknown length, statements that write nothing */
        break;
    }
}

/* ---- do they cover the box? ---- */

static bool is_below(hone_schedule *sch, const hone_expr *a, const hone_expr *b) {
    return a && b && hone_prove_less_equal(&sch->arith, a, b);
}

static bool covers_side(const sch_pieces *l, uint32_t p, uint32_t d, const hone_interval *box) {
    const hone_interval *side = &l->pieces[p][d];
    return is_below(l->sch, side->min, box[d].min) && is_below(l->sch, box[d].max, side->max);
}

static bool covers_all_but(const sch_pieces *l, uint32_t p, uint32_t but,
                           const hone_interval *box) {
    for (uint32_t d = 0; d < l->rank; d++) {
        if (d != but && !covers_side(l, p, d, box)) return false;
    }
    return true;
}

/* Pieces that reach all the way in every other dimension, one behind the other. */
static bool covers_along(const sch_pieces *l, uint32_t d, const hone_interval *box) {
    hone_schedule *sch = l->sch;
    bool is_used[SCH_MAX_PIECES] = {false};
    const hone_expr *next = box[d].min;
    for (uint32_t p = 0; p < l->count; p++) {
        if (is_used[p] || !is_below(sch, l->pieces[p][d].min, next) ||
            !is_below(sch, next, l->pieces[p][d].max) || !covers_all_but(l, p, d, box)) {
            continue;
        }
        is_used[p] = true;
        const hone_expr *end = l->pieces[p][d].max;
        if (is_below(sch, box[d].max, end)) return true;
        end = hone_expr_add(&sch->ir, end, hone_expr_int(&sch->ir, end->dtype, 1));
        next = end ? hone_simplify(&sch->arith, end) : NULL;
        if (!next) return false;
        p = UINT32_MAX; /* from the first again: they may stand in any order */
    }
    return false;
}

bool sch_pieces_cover(const sch_pieces *l, const hone_interval *box) {
    if (l->rank == 0) return l->count > 0;
    for (uint32_t d = 0; d < l->rank; d++) {
        if (covers_along(l, d, box)) return true;
    }
    return false;
}

/* ---- the block ---- */

/* The usual leaf: one store, at the place that is declared. */
static bool is_one_store(hone_schedule *sch, hone_node_id id, const hone_region *written) {
    hone_node_id store = sch_single_store(sch, id);
    if (store == HONE_NO_ID || sch_node(sch, store)->u.store.buffer != written->buffer)
        return false;
    for (uint32_t d = 0; d < sch_node(sch, store)->u.store.rank; d++) {
        if (!hone_expr_is_int_value(written->ranges[d].extent, 1) ||
            !hone_expr_same(written->ranges[d].min, sch_node(sch, store)->u.store.indices[d])) {
            return false;
        }
    }
    return true;
}

static bool box_of(hone_schedule *sch, uint32_t rank, const hone_region *written,
                   hone_interval *out) {
    for (uint32_t d = 0; d < rank; d++) {
        const hone_range *range = &written->ranges[d];
        const hone_expr *end = hone_expr_add(&sch->ir, range->min, range->extent);
        if (!end) return false;
        const hone_expr *one = hone_expr_int(&sch->ir, end->dtype, 1);
        out[d].min = range->min;
        out[d].max = hone_simplify(&sch->arith, hone_expr_sub(&sch->ir, end, one));
        if (!out[d].max) return false;
    }
    return true;
}

static bool is_shown_in_full(hone_schedule *sch, hone_node_id id, const hone_region *written);

/* Views of the block of which all is stored, or somebody takes the address. */
static void add_views(sch_pieces *l, hone_node_id id) {
    hone_schedule *sch = l->sch;
    const hone_block *block = sch_block(sch, id);
    for (uint32_t i = 0; i < block->match_count; i++) {
        const hone_match *match = &block->matches[i];
        if (match->source.buffer != l->buffer) continue;
        bool is_full = hone_takes_address_below(sch->func, id, match->buffer);
        if (!is_full) {
            const hone_buffer_info *info = hone_func_buffer(sch->func, match->buffer);
            hone_range *ranges = hone_arena_alloc(sch->arena, (info->rank + 1) * sizeof *ranges);
            for (uint32_t d = 0; ranges && d < info->rank; d++) {
                ranges[d] =
                    (hone_range){hone_expr_int(&sch->ir, info->shape[d]->dtype, 0), info->shape[d]};
            }
            is_full = ranges && is_shown_in_full(sch, id, &(hone_region){match->buffer, ranges});
        }
        if (is_full) add_piece(l, sch_node(sch, id)->first, HONE_NO_ID, &match->source);
    }
}

static bool is_shown_in_full(hone_schedule *sch, hone_node_id id, const hone_region *written) {
    sch_pieces *l = sch_pieces_create(sch, written->buffer, id);
    if (!l) return false;
    hone_interval *box = hone_arena_alloc(sch->arena, (l->rank + 1) * sizeof *box);
    if (!box || !box_of(sch, l->rank, written, box)) return false;
    find_pieces(l, id);
    add_views(l, id);
    return sch_pieces_cover(l, box);
}

/* What is not shown is believed where the buffer is written through views or pointers, but for what
 * somebody said by hand (annotate_buffer_access): that may be more than is written. */
static bool writes_all(hone_schedule *sch, hone_node_id id, const hone_region *written) {
    if (is_one_store(sch, id, written)) return true;
    if (!hone_jumps_below(sch->func, id) && is_shown_in_full(sch, id, written)) return true;
    if (hone_attrs_find(&sch_block(sch, id)->annotations, "explicit_write_region")) return false;
    return hone_has_alias(sch->func, written->buffer) ||
           hone_takes_address_below(sch->func, id, written->buffer);
}

/* Each store by itself over the loops around the block: B[vi] and B[vi + 8] of 8 instances. */
bool sch_stores_cover(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                      const hone_interval *box) {
    sch_pieces *l = sch_pieces_create(sch, buffer, top);
    if (!l || hone_jumps_below(sch->func, block)) return false;
    for (hone_node_id n = hone_block_body_of(sch->func, block); n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        hone_region region;
        if (sch_node(sch, n)->kind != HONE_NODE_STORE) continue;
        if (region_of_store(l, n, &region)) add_piece(l, block, block, &region);
    }
    return l->count > 1 && sch_pieces_cover(l, box);
}

bool sch_writes_exactly(hone_schedule *sch, hone_node_id id) {
    if (!(sch_node(sch, id)->flags & SCH_EXACT_KNOWN)) {
        const hone_block *block = sch_block(sch, id);
        bool is_exact = true;
        for (uint32_t w = 0; w < block->write_count && is_exact; w++)
            is_exact = writes_all(sch, id, &block->writes[w]);
        sch_node(sch, id)->flags |= (uint16_t)(SCH_EXACT_KNOWN | (is_exact ? SCH_EXACT : 0));
    }
    return (sch_node(sch, id)->flags & SCH_EXACT) != 0;
}
