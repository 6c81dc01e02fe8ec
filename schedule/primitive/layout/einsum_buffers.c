/* schedule/primitive/layout/einsum_buffers.c - the buffers of a block that pad_einsum pads. */
#include "schedule/primitive/layout/einsum.h"

#include <string.h>

#include "ir/region/region.h"

/* ---- the pattern ---- */

static hone_status not_einsum(einsum *e, hone_buffer buffer, const char *why) {
    return sch_refuse(e->sch, e->block, "%s is no einsum: '%s' is accessed %s",
                      sch_block_name(e->sch, e->block), sch_buffer_name(e->sch, buffer), why);
}

static uint32_t axis_of(const einsum *e, const hone_expr *index) {
    const hone_block *block = sch_block(e->sch, e->block);
    for (uint32_t i = 0; i < block->axis_count && index->kind == HONE_EXPR_VAR; i++) {
        if (block->axes[i].var == index->u.var) return i;
    }
    return HONE_NO_ID;
}

/* Growing axes, loops that run as far as one of them says, names of what one of them is in. */
static bool moves(const einsum *e, const hone_expr *x) {
    return hone_expr_uses_any(x, e->moves, e->sch->func->var_count);
}

/* Not by a condition alone: it may hold for more values of an axis that grows. */
static bool is_inside(einsum *e, hone_buffer buffer, uint32_t d, const hone_expr *index) {
    return hone_prove_index(&e->sch->arith, index,
                            hone_func_buffer(e->sch->func, buffer)->shape[d]);
}

static hone_status note_access(einsum *e, hone_buffer buffer, uint32_t rank,
                               const hone_expr *const *indices, bool is_write) {
    pad_buffer *found = NULL;
    for (uint32_t i = 0; i < e->buffer_count; i++) {
        if (e->buffers[i].old == buffer) found = &e->buffers[i];
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (found && !hone_expr_same(found->indices[d], indices[d])) {
            return not_einsum(e, buffer, "at two places");
        }
        if (axis_of(e, indices[d]) != HONE_NO_ID) continue;
        if (moves(e, indices[d])) /* else it stays what it is */
            return not_einsum(e, buffer, "at an index that moves with a padded axis and is none");
        if (!is_inside(e, buffer, d, indices[d]))
            return not_einsum(e, buffer, "at a place that may lie outside of it");
    }
    if (!found) {
        found = &e->buffers[e->buffer_count++];
        *found = (pad_buffer){.old = buffer, .fresh = HONE_NO_ID, .rank = rank, .indices = indices};
    }
    found->is_written |= is_write;
    return HONE_OK;
}

typedef struct load_search {
    einsum *e;
    hone_status status; /* the first refusal */
} load_search;

static bool note_load(void *ctx, const hone_expr *x) {
    load_search *s = ctx;
    if (x->kind == HONE_EXPR_LET) s->e->moves[x->u.var] |= moves(s->e, x->args[0]);
    if (!s->status && x->kind == HONE_EXPR_LOAD) {
        s->status = note_access(s->e, x->u.buffer, x->count, x->args, false);
    }
    return !s->status;
}

static hone_status note_loads(einsum *e, const hone_expr *x) {
    load_search s = {.e = e};
    hone_expr_walk(x, note_load, &s);
    return s.status;
}

static hone_status note_statements(einsum *e, hone_node_id first);

/* The accesses of one statement; loads come first, as in the regions. */
static hone_status note_statement(einsum *e, hone_node_id n) {
    hone_schedule *sch = e->sch;
    const hone_node *node = sch_node(sch, n);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_STORE:
        HONE_TRY(note_loads(e, node->u.store.value));
        return note_access(e, node->u.store.buffer, node->u.store.rank, node->u.store.indices,
                           true);
    case HONE_NODE_FOR:
        HONE_TRY(note_loads(e, node->u.loop.range.min));
        HONE_TRY(note_loads(e, node->u.loop.range.extent));
        e->moves[node->u.loop.var] =
            moves(e, node->u.loop.range.min) || moves(e, node->u.loop.range.extent);
        return note_statements(e, node->first);
    case HONE_NODE_IF:
        HONE_TRY(note_loads(e, node->u.eval.value));
        return note_statements(e, node->first);
    case HONE_NODE_ELSE:
        return note_statements(e, node->first);
    default:
        return sch_refuse(sch, n,
                          "%s is no einsum: it holds more than stores, loops and conditions",
                          sch_block_name(sch, e->block));
    }
}

static hone_status note_statements(einsum *e, hone_node_id first) {
    for (hone_node_id n = first; n != HONE_NO_ID; n = sch_node(e->sch, n)->next)
        HONE_TRY(note_statement(e, n));
    return HONE_OK;
}

static uint32_t place_among(hone_buffer buffer, uint32_t count, const hone_region *regions) {
    uint32_t i = 0;
    while (i < count && regions[i].buffer != buffer)
        i++;
    return i;
}

/* In the order of the regions, which may be declared in another one than that of the accesses. */
static void sort_buffers(einsum *e) {
    const hone_block *block = sch_block(e->sch, e->block);
    for (uint32_t i = 1; i < e->buffer_count; i++) {
        pad_buffer moved = e->buffers[i];
        uint32_t place = place_among(moved.old, block->read_count, block->reads), j = i;
        for (; j > 0; j--) {
            hone_buffer before = e->buffers[j - 1].old;
            if (place_among(before, block->read_count, block->reads) <= place) break;
            e->buffers[j] = e->buffers[j - 1];
        }
        e->buffers[j] = moved;
    }
}

hone_status sch_find_einsum_buffers(einsum *e) {
    hone_schedule *sch = e->sch;
    hone_node_id init = hone_block_init_of(sch->func, e->block);
    e->buffers = hone_arena_zalloc(sch->arena, (sch->func->buffer_count + 1) * sizeof *e->buffers);
    e->moves = hone_arena_zalloc(sch->arena, sch->func->var_count + 1);
    if (!e->buffers || !e->moves) return sch_no_memory();
    for (uint32_t i = 0; i < e->axis_count; i++)
        e->moves[sch_block(sch, e->block)->axes[i].var] = e->extents[i] != NULL;
    HONE_TRY(note_statements(e, hone_block_body_of(sch->func, e->block)));
    if (init != HONE_NO_ID) HONE_TRY(note_statements(e, sch_node(sch, init)->first));
    sort_buffers(e);
    return HONE_OK;
}

/* ---- the buffers ---- */

/* An axis that a written buffer does not show would be padded into the same elements. */
static hone_status check_written(einsum *e, const pad_buffer *b) {
    hone_schedule *sch = e->sch;
    const hone_block *block = sch_block(sch, e->block);
    const hone_buffer_info *info = hone_func_buffer(sch->func, b->old);
    bool grows = false;
    for (uint32_t i = 0; i < e->axis_count; i++) {
        grows |= e->extents[i] && block->axes[i].kind == HONE_AXIS_SPATIAL;
    }
    if (!grows) return HONE_OK;
    for (uint32_t i = 0; i < e->axis_count; i++) {
        bool is_shown = !e->extents[i] || block->axes[i].kind == HONE_AXIS_REDUCE;
        for (uint32_t d = 0; d < b->rank; d++)
            is_shown |= axis_of(e, b->indices[d]) == i;
        if (is_shown) continue;
        return sch_refuse(sch, e->block, "axis '%s' of %s is padded and does not index '%s'",
                          sch->func->vars[block->axes[i].var].name, sch_block_name(sch, e->block),
                          info->name);
    }
    for (uint32_t d = 0; d < b->rank; d++) {
        uint32_t axis = axis_of(e, b->indices[d]);
        const hone_expr *one = hone_expr_int(&sch->ir, info->shape[d]->dtype, 1);
        const hone_expr *extent = axis == HONE_NO_ID ? one : block->axes[axis].dom.extent;
        bool is_whole = extent && hone_prove_equal(&sch->arith, extent, info->shape[d]);
        for (uint32_t other = 0; other < d && axis != HONE_NO_ID; other++) {
            is_whole = is_whole && axis_of(e, b->indices[other]) != axis;
        }
        if (is_whole) continue;
        return sch_refuse(sch, e->block, "%s writes '%s' in part only",
                          sch_block_name(sch, e->block), info->name);
    }
    /* loops may run over a part of an axis that is as long as the buffer */
    if (!sch_surely_writes(sch, e->block, b->old, e->scope, NULL)) {
        return sch_refuse(sch, e->block, "%s writes '%s' in part only",
                          sch_block_name(sch, e->block), info->name);
    }
    if (sch_has_disjoint_writes(sch, e->block)) return HONE_OK;
    return sch_refuse(sch, e->block,
                      "different values of the axes of %s may write the same element",
                      sch_block_name(sch, e->block));
}

/* Where the zeros begin: behind what the axis runs over, and where the buffer ends before that (a
 * condition in the block keeps it in), there. */
static hone_status find_end(einsum *e, pad_buffer *b, uint32_t d, uint32_t axis) {
    hone_schedule *sch = e->sch;
    const hone_expr *extent = sch_block(sch, e->block)->axes[axis].dom.extent;
    const hone_expr *size = hone_func_buffer(sch->func, b->old)->shape[d];
    if (hone_prove_less_equal(&sch->arith, extent, size)) {
        b->ends[d] = extent;
    } else if (hone_prove_less_equal(&sch->arith, size, extent)) {
        b->ends[d] = size;
    } else {
        return sch_refuse(sch, e->block, "index %u of '%s' in %s may leave the buffer", d,
                          sch_buffer_name(sch, b->old), sch_block_name(sch, e->block));
    }
    b->shape[d] = e->extents[axis];
    b->grows = true;
    return HONE_OK;
}

/* Where the copy in stops reading. */
static const hone_expr *end_of(const pad_buffer *b, uint32_t d) {
    return b->ends[d] ? b->ends[d] : b->shape[d];
}

static hone_status find_copied(einsum *e, const pad_buffer *b, hone_region *out) {
    hone_schedule *sch = e->sch;
    hone_range *ranges = hone_arena_alloc(sch->arena, (b->rank + 1) * sizeof *ranges);
    if (!ranges) return sch_no_memory();
    for (uint32_t d = 0; d < b->rank; d++) {
        const hone_expr *end = end_of(b, d);
        ranges[d] = (hone_range){hone_expr_int(&sch->ir, end->dtype, 0), end};
    }
    *out = (hone_region){b->old, ranges};
    return sch_ir_error(sch);
}

/* Somebody wrote all that is copied in before. */
static hone_status check_filled(einsum *e, const pad_buffer *b) {
    hone_schedule *sch = e->sch;
    hone_region region;
    bool is_filled = false;
    HONE_TRY(find_copied(e, b, &region));
    if (!sch_has_writer_before(sch, e->scope, e->block, &region, &is_filled)) {
        is_filled = sch_was_written_outside(sch, e->scope, &region);
    }
    if (is_filled) return HONE_OK;
    return sch_refuse(sch, e->block, "'%s' may hold no values yet in all of what is copied",
                      sch_buffer_name(sch, b->old));
}

static bool touches(const einsum *e, hone_node_id n, hone_buffer buffer) {
    const hone_block *block = sch_block(e->sch, n);
    return n != e->block && (sch_writes(block, buffer) || sch_reads(block, buffer));
}

/* Does another block of the nest access it? */
static bool is_shared(const einsum *e, hone_buffer buffer) {
    SCH_EACH_BLOCK (e->sch, e->top, n) {
        if (e->top != e->block && touches(e, n, buffer)) return true;
    }
    return false;
}

/* A block in the same nest gets the larger buffer as well: all that it may touch must be there. */
static hone_status check_neighbour(einsum *e, const pad_buffer *b, hone_node_id n) {
    hone_schedule *sch = e->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, b->old);
    for (uint32_t d = 0; d < b->rank; d++) {
        if (hone_prove_equal(&sch->arith, end_of(b, d), info->shape[d])) continue;
        return sch_refuse(sch, n, "%s may touch more of '%s' than what %s does",
                          sch_block_name(sch, n), info->name, sch_block_name(sch, e->block));
    }
    return HONE_OK;
}

/* What the nest itself makes is not there yet in front of it: the larger buffer begins as zeros,
 * and the old one gets no values any more. So nobody may use it outside of the nest. */
static hone_status check_users(einsum *e, pad_buffer *b) {
    hone_schedule *sch = e->sch;
    bool is_used_outside = sch_alloc_site(sch, b->old) != e->scope;
    hone_node_id writer = HONE_NO_ID;
    SCH_EACH_BLOCK (sch, e->scope, n) {
        if (!touches(e, n, b->old)) continue;
        if (!hone_tree_is_ancestor(sch->func, e->top, n)) {
            is_used_outside = true;
            continue;
        }
        HONE_TRY(check_neighbour(e, b, n));
        if (sch_writes(sch_block(sch, n), b->old)) writer = n;
    }
    b->is_filled_here = writer != HONE_NO_ID;
    if (!b->is_filled_here) return HONE_OK;
    for (hone_node_id n = e->top; n != HONE_NO_ID; n = hone_tree_next(sch->func, e->top, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_FOR) continue;
        if (sch_node(sch, n)->loop_kind != HONE_LOOP_THREAD) continue;
        return sch_refuse(sch, n, "'%s' is padded and made by threads of %s, which have their own",
                          sch_buffer_name(sch, b->old), sch_loop_name(sch, n));
    }
    if (!is_used_outside) return HONE_OK;
    return sch_refuse(sch, writer,
                      "%s writes '%s', which is padded, in the nest of %s, and it is used outside "
                      "of the nest",
                      sch_block_name(sch, writer), sch_buffer_name(sch, b->old),
                      sch_block_name(sch, e->block));
}

static hone_status find_shape(einsum *e, pad_buffer *b) {
    hone_schedule *sch = e->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, b->old);
    bool is_shared_here = is_shared(e, b->old);
    b->shape = hone_arena_alloc(sch->arena, (b->rank + 1) * sizeof *b->shape);
    b->ends = hone_arena_zalloc(sch->arena, (b->rank + 1) * sizeof *b->ends);
    if (!b->shape || !b->ends) return sch_no_memory();
    for (uint32_t d = 0; d < b->rank; d++) {
        uint32_t axis = axis_of(e, b->indices[d]);
        bool is_first_only = !is_shared_here && hone_expr_is_int_value(b->indices[d], 0);
        b->shape[d] =
            is_first_only ? hone_expr_int(&sch->ir, info->shape[d]->dtype, 1) : info->shape[d];
        if (axis != HONE_NO_ID && e->extents[axis]) HONE_TRY(find_end(e, b, d, axis));
    }
    return sch_ir_error(sch);
}

/* The region of a buffer that a block says it reads, by number; read_count: there is none. */
static uint32_t declared_read(const hone_block *block, hone_buffer buffer) {
    uint32_t r = 0;
    while (r < block->read_count && block->reads[r].buffer != buffer)
        r++;
    return r;
}

static bool is_declared(einsum *e, hone_node_id scope, const hone_region *region) {
    const hone_block *block = sch_block(e->sch, scope);
    uint32_t r = declared_read(block, region->buffer);
    return r < block->read_count &&
           hone_region_covers(&e->sch->arith, e->sch->func, &block->reads[r], region);
}

/* The blocks around the scope that see the buffer, but the root block; out: HONE_NO_ID at the end.
 */
static hone_node_id next_around(const einsum *e, hone_buffer buffer, hone_node_id scope) {
    bool is_last = sch_alloc_site(e->sch, buffer) == scope;
    return is_last || sch_scope_of(e->sch, scope) == HONE_NO_ID ? HONE_NO_ID : scope;
}

/* What a user has said that a block reads is not widened. */
static hone_status check_declared_around(einsum *e, const pad_buffer *b) {
    hone_schedule *sch = e->sch;
    hone_region region;
    HONE_TRY(find_copied(e, b, &region));
    for (hone_node_id n = next_around(e, b->old, e->scope); n != HONE_NO_ID;
         n = next_around(e, b->old, sch_scope_of(sch, n))) {
        bool is_by_hand =
            hone_attrs_find(&sch_block(sch, n)->annotations, "explicit_read_region") != NULL;
        if (!is_by_hand || is_declared(e, n, &region)) continue;
        return sch_refuse(sch, e->block, "more of '%s' would be copied than %s says that it reads",
                          sch_buffer_name(sch, b->old), sch_block_name(sch, n));
    }
    return HONE_OK;
}

/* Regions are boxes: the least one around two of them. */
static hone_status unite(einsum *e, const hone_region *other, hone_region *io) {
    hone_schedule *sch = e->sch;
    uint32_t rank = hone_func_buffer(sch->func, io->buffer)->rank;
    hone_range *ranges = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *ranges);
    if (!ranges) return sch_no_memory();
    for (uint32_t d = 0; d < rank; d++) {
        const hone_range *sides[] = {&other->ranges[d], &io->ranges[d]};
        hone_interval spans[2];
        for (int i = 0; i < 2; i++) {
            const hone_expr *end = hone_expr_add(&sch->ir, sides[i]->min, sides[i]->extent);
            const hone_expr *one = hone_expr_int(&sch->ir, sides[i]->min->dtype, 1);
            spans[i] = (hone_interval){sides[i]->min, hone_expr_sub(&sch->ir, end, one)};
        }
        HONE_TRY(sch_ir_error(sch));
        hone_interval both = hone_interval_union(&sch->arith, spans[0], spans[1]);
        hone_dtype dtype = sides[0]->min->dtype;
        if (!hone_interval_range(&sch->arith, both, dtype, &ranges[d])) return sch_ir_error(sch);
    }
    io->ranges = ranges;
    return HONE_OK;
}

hone_status sch_declare_pad_copy(einsum *e, const pad_buffer *b) {
    hone_schedule *sch = e->sch;
    hone_region region;
    HONE_TRY(find_copied(e, b, &region));
    for (hone_node_id n = next_around(e, b->old, e->scope); n != HONE_NO_ID;
         n = next_around(e, b->old, sch_scope_of(sch, n))) {
        if (is_declared(e, n, &region)) continue;
        hone_block *block = hone_block_copy(sch->arena, sch_block(sch, n));
        hone_region *reads =
            hone_arena_alloc(sch->arena, (sch_block(sch, n)->read_count + 1) * sizeof *reads);
        if (!block || !reads) return sch_no_memory();
        uint32_t r = declared_read(block, b->old);
        if (block->read_count) memcpy(reads, block->reads, block->read_count * sizeof *reads);
        reads[r] = region;
        if (r < block->read_count) HONE_TRY(unite(e, &block->reads[r], &reads[r]));
        block->reads = reads;
        block->read_count += r == block->read_count;
        sch_node(sch, n)->u.block.block = block;
    }
    return HONE_OK;
}

static bool is_view(const einsum *e, hone_buffer buffer) {
    for (hone_node_id n = e->scope; n != HONE_NO_ID; n = sch_scope_of(e->sch, n)) {
        const hone_block *block = sch_block(e->sch, n);
        for (uint32_t i = 0; i < block->match_count; i++) {
            if (block->matches[i].buffer == buffer) return true;
        }
    }
    return hone_func_buffer(e->sch->func, buffer)->alias_of != HONE_NO_ID;
}

hone_status sch_plan_pad_buffer(einsum *e, pad_buffer *b) {
    hone_schedule *sch = e->sch;
    HONE_TRY(find_shape(e, b));
    if (b->is_written) HONE_TRY(check_written(e, b));
    if (!b->grows) return HONE_OK;
    HONE_TRY(check_users(e, b));
    if (!b->is_written && !b->is_filled_here) HONE_TRY(check_filled(e, b));
    HONE_TRY(sch_require_declared(sch, b->old));
    HONE_TRY(sch_require_no_views(sch, e->block, b->old));
    if (b->is_written || b->is_filled_here) return HONE_OK;
    if (!is_view(e, b->old)) return check_declared_around(e, b);
    return sch_refuse(sch, e->block, "'%s' is a view, and more of it would be copied than is read",
                      sch_buffer_name(sch, b->old));
}
