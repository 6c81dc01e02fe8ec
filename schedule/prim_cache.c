#include "schedule/caching.h"

#include <string.h>

/* cache_read: makes a copy of what a block reads, in another scope, and lets it read the copy.
 * cache_write: lets a block write into a buffer of another scope and copies that out behind it.
 * cache_inplace: both, around each instance of a block that reads and writes one buffer.
 *
 * The copy stands in the innermost loop that is around all who take part, before the first who
 * needs it, over the box that they touch there; a buffer that comes from outside the scope is
 * copied at its top, one that nobody else in the scope reads at its end. What the cache holds is in
 * caching.h.
 *
 * Checks: the scope name is known; the buffer index exists; cache_read: at most one block of the
 * scope writes the buffer, and surely all that is copied, else those around the scope who write it
 * do; its values are done with where they are read; cache_write: the block is the only
 * writer, reads of what is there only what it has written itself in the same run, reduces over
 * loops of its scope, and surely writes all of the box that is copied; no statement outside of
 * blocks stores the buffer (or, cache_write, loads it); only loops stand around those who take
 * part; nobody takes the buffer's address. cache_inplace: the block writes just what it reads
 * (inplace_box.c). */

/* ---- the new buffer ---- */

static hone_status make_buffer(caching *c, const char *storage_scope) {
    hone_schedule *sch = c->sch;
    const hone_buffer_info old = *hone_func_buffer(sch->func, c->buffer);
    const hone_expr **shape = hone_arena_alloc(sch->arena, (old.rank + 1) * sizeof *shape);
    if (!shape) return sch_no_memory();
    for (uint32_t d = 0; d < old.rank; d++)
        shape[d] = c->box ? c->box[d].extent : old.shape[d];
    c->cache = sch_make_buffer(sch, sch_scoped_name(sch, old.name, storage_scope), old.dtype,
                               old.rank, shape, storage_scope);
    return c->cache == HONE_NO_ID ? sch_no_memory() : sch_add_alloc(sch, c->scope, c->cache);
}

hone_status sch_add_alloc(hone_schedule *sch, hone_node_id scope, hone_buffer buffer) {
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, scope));
    hone_buffer *allocs = hone_arena_alloc(sch->arena, (block->alloc_count + 1) * sizeof *allocs);
    if (!block || !allocs) return sch_no_memory();
    if (block->alloc_count) memcpy(allocs, block->allocs, block->alloc_count * sizeof *allocs);
    allocs[block->alloc_count++] = buffer;
    block->allocs = allocs;
    sch_node(sch, scope)->u.block.block = block;
    return HONE_OK;
}

/* ---- where ---- */

static hone_node_id child_towards(const caching *c, hone_node_id top, hone_node_id node) {
    while (sch_node(c->sch, node)->parent != top)
        node = sch_node(c->sch, node)->parent;
    return node;
}

/* The lowest loop around everybody, or the scope block. */
static hone_node_id common_place(const caching *c, hone_node_id with) {
    hone_node_id place = with;
    for (uint32_t i = 0; i < c->user_count; i++)
        place = sch_lca(c->sch, place, c->users[i]);
    if (place == with) place = sch_node(c->sch, place)->parent;
    while (sch_node(c->sch, place)->kind != HONE_NODE_FOR && place != c->scope) {
        place = sch_node(c->sch, place)->parent;
    }
    return place;
}

static bool is_in(const caching *c, hone_node_id top, hone_node_id node) {
    return top == node || hone_tree_is_ancestor(c->sch->func, top, node);
}

/* The writer shares loops with some who read the cache, others stand further out: the copy follows
 * the writer in each iteration, and those others find what all iterations copied. */
static hone_status find_inner_place(caching *c) {
    hone_schedule *sch = c->sch;
    hone_node_id first = HONE_NO_ID;
    for (uint32_t i = 0; i < c->user_count; i++) {
        if (!is_in(c, c->anchor, c->users[i])) continue;
        if (first == HONE_NO_ID || sch_is_before(sch, c->users[i], first)) first = c->users[i];
    }
    hone_node_id place = sch_lca(sch, c->writer, first);
    if (sch_node(sch, place)->kind == HONE_NODE_FOR && sch_is_before(sch, c->writer, first)) {
        c->place = place;
        c->anchor = child_towards(c, place, first);
        c->is_read_outside = true;
        return HONE_OK;
    }
    return sch_refuse(sch, c->writer, "no place is behind %s and before all who read '%s'",
                      sch_block_name(sch, c->writer), hone_func_buffer(sch->func, c->buffer)->name);
}

static bool holds_any(const caching *c, hone_node_id top, uint32_t count,
                      const hone_node_id *blocks) {
    for (uint32_t i = 0; i < count; i++) {
        if (is_in(c, top, blocks[i])) return true;
    }
    return false;
}

/* Before the first who shall read the cache; where nobody is named, before the first who reads
 * anything that the writer makes, as in TVM. */
static hone_status find_read_place(caching *c, bool is_named) {
    hone_schedule *sch = c->sch;
    uint32_t reader_count = 0;
    const hone_node_id *readers = NULL;
    bool is_behind = false; /* the writer */
    c->place = c->writer == HONE_NO_ID ? c->scope : common_place(c, c->writer);
    c->anchor = HONE_NO_ID;
    if (c->writer == HONE_NO_ID) {
        c->anchor = hone_block_body_of(sch->func, c->scope);
        return HONE_OK;
    }
    if (!is_named) HONE_TRY(sch_consumers(sch, c->writer, &reader_count, &readers));
    for (hone_node_id n = sch_node(sch, c->place)->first;
         n != HONE_NO_ID && c->anchor == HONE_NO_ID; n = sch_node(sch, n)->next) {
        bool is_first = is_behind && holds_any(c, n, reader_count, readers);
        if (is_first || holds_any(c, n, c->user_count, c->users)) c->anchor = n;
        is_behind = is_behind || is_in(c, n, c->writer);
    }
    assert(c->anchor != HONE_NO_ID);
    return is_in(c, c->anchor, c->writer) ? find_inner_place(c) : HONE_OK;
}

static uint32_t depth_of(const caching *c, hone_node_id node) {
    uint32_t depth = 0;
    for (; node != 0; node = sch_node(c->sch, node)->parent)
        depth++;
    return depth;
}

static bool is_one_of(hone_node_id node, uint32_t count, const hone_node_id *list) {
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == node) return true;
    }
    return false;
}

/* A reader in front of the block: it finds what was there before, also when the block's values come
 * later. Where a loop runs both, the block must not write in one iteration what is read in another.
 */
static bool is_done_before(const caching *c, hone_node_id reader) {
    hone_schedule *sch = c->sch;
    if (!sch_is_before(sch, reader, c->block)) return false;
    for (hone_node_id n = sch_lca(sch, c->block, reader); n != c->scope;
         n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind != HONE_NODE_FOR ||
            !sch_share_slices(sch, reader, c->block, c->buffer, n)) {
            return false;
        }
    }
    return true;
}

/* Before the first who reads what the block writes (another of its buffers counts as well, as in
 * TVM), in the innermost loop that the block shares with one of them; readers further out find that
 * all iterations copied all of it. Those who shall read the cache do not count; where nobody else
 * reads, the copy stands at the end of the scope. */
static hone_status find_write_place(caching *c, const caching *cache_readers) {
    hone_schedule *sch = c->sch;
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    hone_node_id first = HONE_NO_ID;
    HONE_TRY(sch_consumers(sch, c->block, &count, &readers));
    c->place = c->scope;
    for (uint32_t i = 0; i < count; i++) {
        if (is_one_of(readers[i], cache_readers->user_count, cache_readers->users)) continue;
        if (is_done_before(c, readers[i])) continue;
        hone_node_id common = sch_lca(sch, c->block, readers[i]);
        while (sch_node(sch, common)->kind != HONE_NODE_FOR && common != c->scope) {
            common = sch_node(sch, common)->parent;
        }
        if (first != HONE_NO_ID && depth_of(c, common) <= depth_of(c, c->place)) continue;
        c->place = common;
        first = readers[i];
    }
    c->anchor = sch_node(sch, c->scope)->last;
    if (first == HONE_NO_ID) return HONE_OK;
    c->anchor = sch_node(sch, child_towards(c, c->place, first))->prev;
    if (c->anchor != HONE_NO_ID && sch_is_before(sch, c->block, first)) return HONE_OK;
    return sch_refuse(sch, first, "%s reads '%s' before %s writes it", sch_block_name(sch, first),
                      hone_func_buffer(sch->func, c->buffer)->name, sch_block_name(sch, c->block));
}

/* ---- the copying block ---- */

/* A block over what the cache holds: axes v0…, cache[v] = buffer[v] or the other way round. */
static hone_status make_copy_block(caching *c, hone_node_id *out_block) {
    hone_schedule *sch = c->sch;
    hone_func *func = sch->func;
    uint32_t rank = hone_func_buffer(func, c->buffer)->rank;
    hone_buffer from = c->is_write ? c->cache : c->buffer;
    hone_buffer to = c->is_write ? c->buffer : c->cache;
    hone_block *block = hone_arena_zalloc(sch->arena, sizeof *block);
    hone_axis *axes = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *axes);
    hone_region *regions = hone_arena_alloc(sch->arena, 2 * sizeof *regions);
    hone_range *ranges[2]; /* in the buffer, in the cache */
    const hone_expr **indices[2];
    for (int i = 0; i < 2; i++) {
        ranges[i] = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *ranges[i]);
        indices[i] = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices[i]);
        if (!ranges[i] || !indices[i]) return sch_no_memory();
    }
    if (!block || !axes || !regions) return sch_no_memory();
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *extent =
            c->box ? c->box[d].extent : hone_func_buffer(func, c->buffer)->shape[d];
        hone_range dom = {hone_expr_int(&sch->ir, extent->dtype, 0), extent};
        hone_var var = hone_func_add_named_var(func, sch_name(sch, "v", "", d), extent->dtype);
        if (var == HONE_NO_ID || !dom.min || !hone_arith_bind(&sch->arith, var, dom)) {
            return sch_no_memory();
        }
        const hone_expr *one = hone_expr_int(&sch->ir, extent->dtype, 1);
        axes[d] = (hone_axis){var, HONE_AXIS_SPATIAL, dom};
        indices[0][d] = indices[1][d] = sch_var(sch, var);
        if (c->box && !hone_expr_is_int_value(c->box[d].min, 0)) {
            indices[0][d] = hone_expr_add(&sch->ir, c->box[d].min, indices[1][d]);
        }
        for (int i = 0; i < 2; i++)
            ranges[i][d] = (hone_range){indices[i][d], one};
    }
    HONE_TRY(sch_ir_error(sch));
    regions[0] = (hone_region){from, ranges[c->is_write]};
    regions[1] = (hone_region){to, ranges[!c->is_write]};
    block->name = hone_func_buffer(func, c->cache)->name;
    block->axes = axes;
    block->axis_count = rank;
    block->reads = &regions[0];
    block->writes = &regions[1];
    block->read_count = block->write_count = 1;
    const hone_expr *value = hone_func_load(&sch->ir, func, from, indices[c->is_write]);
    hone_node_id id = hone_func_add_node(func, HONE_NODE_BLOCK);
    hone_node_id store = hone_func_add_node(func, HONE_NODE_STORE);
    if (!value || id == HONE_NO_ID || store == HONE_NO_ID) return sch_no_memory();
    sch_node(sch, id)->u.block.block = block;
    sch_node(sch, store)->u.store.buffer = to;
    sch_node(sch, store)->u.store.rank = rank;
    sch_node(sch, store)->u.store.value = value;
    sch_node(sch, store)->u.store.indices = indices[!c->is_write];
    hone_tree_append(func, id, store);
    *out_block = id;
    return HONE_OK;
}

/* cache_read: all that the writer makes is copied, where it is known to be a box; it holds what the
 * users read. */
static hone_status widen_to_written(caching *c, sch_box *io, bool *out_is_all) {
    sch_box written;
    bool is_exact = false;
    HONE_TRY(sch_box_below(c->sch, c->place, 1, &c->writer, c->buffer, true, &written, &is_exact));
    *out_is_all = written.dims && is_exact;
    if (!*out_is_all) return HONE_OK;
    *io = written;
    return sch_check_not_empty(c, io);
}

static hone_status refuse_part(const caching *c) {
    return sch_refuse(c->sch, c->writer, "%s does not surely write all of '%s' that is copied",
                      sch_block_name(c->sch, c->writer),
                      hone_func_buffer(c->sch->func, c->buffer)->name);
}

/* The box that is copied. */
static hone_status find_box(caching *c, sch_box *out) {
    hone_schedule *sch = c->sch;
    bool is_exact = false, is_all = c->is_write;
    if (c->is_read_outside) {
        HONE_TRY(widen_to_written(c, out, &is_all));
        return is_all ? HONE_OK : refuse_part(c);
    }
    HONE_TRY(sch_box_below(sch, c->place, c->user_count, c->users, c->buffer, c->is_write, out,
                           &is_exact));
    HONE_TRY(sch_check_not_empty(c, out));
    if (!out->dims || (c->is_write && !is_exact)) {
        return sch_refuse(sch, c->block,
                          "%s does not surely write all of the box of '%s' that it "
                          "touches",
                          sch_block_name(sch, c->block),
                          hone_func_buffer(sch->func, c->buffer)->name);
    }
    if (c->writer != HONE_NO_ID && !c->is_write) {
        if (!sch_surely_writes(sch, c->writer, c->buffer, c->place, out->dims)) {
            return refuse_part(c);
        }
        HONE_TRY(widen_to_written(c, out, &is_all));
    } else if (!c->is_write) {
        HONE_TRY(sch_check_outside(c, out));
    }
    return sch_choose_cache_box(c, is_all, out);
}

/* Domains of the copying block's axes. */
static hone_status find_domains(caching *c, hone_node_id copy, sch_box *box,
                                sch_axis_domain **out) {
    hone_schedule *sch = c->sch;
    uint32_t rank = hone_func_buffer(sch->func, c->buffer)->rank;
    *out = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof **out);
    if (!*out) return sch_no_memory();
    box->buffer = c->is_write ? c->buffer : c->cache;
    if (!c->box) return sch_solve_axes(sch, copy, 1, box, SCH_SOLVE_COPY, *out);
    for (uint32_t d = 0; d < rank; d++) {
        (*out)[d].low = sch_block(sch, copy)->axes[d].dom.min;
        (*out)[d].extent = c->box[d].extent;
    }
    return HONE_OK;
}

/* ---- putting it together ---- */

static hone_status redirect_to_cache(const caching *c, hone_node_id top, bool writes_too) {
    return sch_redirect_accesses(c->sch, top, c->buffer, c->cache, c->box, writes_too);
}

static hone_status make_copy_nest(caching *c, hone_node_id copy, sch_box *box, sch_nest *out) {
    sch_axis_domain *domains = NULL;
    HONE_TRY(find_domains(c, copy, box, &domains));
    uint32_t rank = hone_func_buffer(c->sch->func, c->buffer)->rank;
    HONE_TRY(sch_make_nest(c->sch, rank, domains, true, out));
    uint32_t count = c->is_read_outside ? 1 : c->user_count;
    const hone_node_id *blocks = c->is_read_outside ? &c->writer : c->users;
    for (uint32_t i = 0; i < count && c->place != c->scope; i++) {
        const hone_expr *outer = NULL;
        HONE_TRY(sch_outer_conditions(c->sch, blocks[i], c->place, &outer));
        if (!outer) continue;
        if (count > 1) {
            return sch_refuse(c->sch, c->users[0],
                              "a predicate of %s leaves out iterations of the loop "
                              "that the copy would stand in",
                              sch_block_name(c->sch, c->users[i]));
        }
        HONE_TRY(sch_nest_add_condition(c->sch, outer, out));
    }
    return HONE_OK;
}

static hone_status insert_copy(caching *c, hone_node_id copy, sch_nest nest) {
    hone_schedule *sch = c->sch;
    if (nest.bottom != HONE_NO_ID) hone_tree_append(sch->func, nest.bottom, copy);
    sch_node(sch, copy)->u.block.bindings = nest.bindings;
    sch_node(sch, copy)->u.block.predicate = nest.predicate;
    hone_node_id top = nest.top == HONE_NO_ID ? copy : nest.top;
    if (c->is_write) {
        hone_tree_insert_after(sch->func, c->anchor, top);
    } else {
        hone_tree_insert_before(sch->func, c->anchor, top);
    }
    return HONE_OK;
}

static hone_status finish(caching *c, const char *storage_scope, hone_node_id *out_block) {
    hone_node_id copy = HONE_NO_ID;
    sch_nest nest;
    sch_box box;
    HONE_TRY(find_box(c, &box));
    hone_status st = make_buffer(c, storage_scope);
    if (!st) st = make_copy_block(c, &copy);
    if (!st) st = make_copy_nest(c, copy, &box, &nest);
    if (st) {
        /* the tables only grow: the buffer stays in its table, unused */
        if (c->cache != HONE_NO_ID) {
            hone_status dropped = sch_drop_alloc(c->sch, c->scope, c->cache);
            st = hone_status_join(st, dropped);
        }
        return st;
    }
    if (c->is_write) {
        HONE_TRY(redirect_to_cache(c, c->block, true));
    } else {
        for (uint32_t i = 0; i < c->user_count; i++)
            HONE_TRY(redirect_to_cache(c, c->users[i], false));
    }
    HONE_TRY(insert_copy(c, copy, nest));
    *out_block = copy;
    return HONE_OK;
}

/* Everybody who shall read the cache finds the values of the buffer done with. */
static hone_status require_fed(const caching *c, hone_buffer buffer) {
    for (uint32_t i = 0; i < c->user_count && c->writer != HONE_NO_ID; i++)
        HONE_TRY(sch_require_fed(c->sch, c->users[i], buffer));
    return HONE_OK;
}

/* Those further out must find all of what they read. */
static hone_status finish_and_judge(caching *c, const char *storage_scope,
                                    hone_node_id *out_block) {
    hone_func *saved;
    HONE_TRY(sch_begin_trial(c->sch, &saved));
    hone_status st = finish(c, storage_scope, out_block);
    sch_forget_pipeline(c->sch, c->scope);
    if (!st) st = sch_require_fed(c->sch, *out_block, c->buffer);
    if (!st) st = require_fed(c, c->cache);
    return sch_end_trial(c->sch, saved, st);
}

static hone_status begin(caching *c, hone_rv block_rv, int64_t index, const char *storage_scope) {
    hone_schedule *sch = c->sch;
    c->cache = c->writer = HONE_NO_ID;
    HONE_TRY(sch_resolve_block(sch, block_rv, &c->block));
    c->scope = sch_scope_of(sch, c->block);
    if (c->scope == HONE_NO_ID) return sch_refuse(sch, c->block, "the root block has no scope");
    HONE_TRY(sch_require_scope_name(sch, c->block, storage_scope));
    HONE_TRY(sch_nth_buffer(sch, c->block, c->is_write, index, &c->buffer));
    if (!sch_has_opaque_access(sch, c->buffer)) return HONE_OK;
    return sch_refuse(sch, c->block, "buffer '%s' is also used by its address or as a view",
                      hone_func_buffer(sch->func, c->buffer)->name);
}

static hone_status find_writer(caching *c) {
    for (hone_node_id n = sch_next_block(c->sch, c->scope, c->scope); n != HONE_NO_ID;
         n = sch_next_block(c->sch, c->scope, n)) {
        if (!sch_writes(sch_block(c->sch, n), c->buffer)) continue;
        if (c->writer != HONE_NO_ID) {
            return sch_refuse(c->sch, n, "both %s and %s write '%s'",
                              sch_block_name(c->sch, c->writer), sch_block_name(c->sch, n),
                              hone_func_buffer(c->sch->func, c->buffer)->name);
        }
        c->writer = n;
    }
    return HONE_OK;
}

/* Who shall read the cache: the blocks named, or all of the scope that read the buffer. */
static hone_status find_users(caching *c, uint32_t count, const hone_rv *consumers) {
    hone_schedule *sch = c->sch;
    size_t room = (size_t)sch->func->node_count + count;
    hone_node_id *users = hone_arena_alloc(sch->arena, room * sizeof *users);
    if (!users) return sch_no_memory();
    c->users = users;
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id user;
        HONE_TRY(sch_resolve_block(sch, consumers[i], &user));
        if (!sch_reads(sch_block(sch, user), c->buffer) || user == c->writer) {
            return sch_refuse(sch, user, "%s does not read '%s'", sch_block_name(sch, user),
                              hone_func_buffer(sch->func, c->buffer)->name);
        }
        if (sch_scope_of(sch, user) != c->scope) {
            return sch_refuse(sch, user, "%s is not in the scope of %s", sch_block_name(sch, user),
                              sch_block_name(sch, c->block));
        }
        bool is_known = false;
        for (uint32_t k = 0; k < c->user_count; k++)
            is_known = is_known || users[k] == user;
        if (!is_known) users[c->user_count++] = user;
    }
    for (hone_node_id n = sch_next_block(sch, c->scope, c->scope); n != HONE_NO_ID && count == 0;
         n = sch_next_block(sch, c->scope, n)) {
        if (sch_reads(sch_block(sch, n), c->buffer) && n != c->writer) users[c->user_count++] = n;
    }
    if (c->user_count) return HONE_OK;
    return sch_refuse(sch, c->block, "no other block reads '%s'",
                      hone_func_buffer(sch->func, c->buffer)->name);
}

/* A copy beside something else than loops might run where its user does not. */
static hone_status check_paths(caching *c) {
    for (uint32_t i = 0; i <= c->user_count; i++) {
        hone_node_id block = i < c->user_count ? c->users[i] : c->writer;
        if (block == HONE_NO_ID || sch_is_below_known_loops(c->sch, block)) continue;
        return sch_refuse(c->sch, block,
                          "something other than loops of known bounds stands around %s",
                          sch_block_name(c->sch, block));
    }
    return HONE_OK;
}

/* cache_write: who shall read the cache must find it written. */
static hone_status check_write(caching *c, uint32_t consumer_count) {
    HONE_TRY(sch_check_cache_begins(c));
    HONE_TRY(sch_check_loose_uses(c, true));
    if (consumer_count) HONE_TRY(sch_require_pipeline(c->sch, c->scope));
    return check_paths(c);
}

/* cache_write: of the blocks named, those that read the buffer; the others do not mind. */
static hone_status find_cache_readers(caching *c, uint32_t count, const hone_rv *consumers) {
    hone_rv *reading = hone_arena_alloc(c->sch->arena, (count + 1) * sizeof *reading);
    uint32_t reading_count = 0;
    if (!reading) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id user;
        HONE_TRY(sch_resolve_block(c->sch, consumers[i], &user));
        if (user == c->block || !sch_reads(sch_block(c->sch, user), c->buffer)) continue;
        reading[reading_count++] = consumers[i];
    }
    c->writer = c->block;
    return reading_count ? find_users(c, reading_count, reading) : HONE_OK;
}

static hone_status record(hone_schedule *sch, hone_inst_kind kind, hone_rv block, int64_t index,
                          const char *scope, uint32_t count, const hone_rv *consumers,
                          hone_node_id copy, hone_rv *out_block) {
    hone_operand *list = hone_arena_alloc(sch->arena, (count + 1) * sizeof *list);
    const char *scope_copy = hone_arena_strdup(sch->arena, scope);
    if (!list || !scope_copy) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        list[i] = SCH_RV(consumers[i]);
    hone_operand inputs[] = {
        SCH_RV(block), {.kind = HONE_OPERAND_LIST, .count = count, .u.items = list}
    };
    hone_value attrs[] = {HONE_VALUE_OF_INT(index), HONE_VALUE_OF_STRING(scope_copy)};
    hone_rv_value value = {.kind = HONE_RV_BLOCK, .node = copy};
    return sch_record(sch, kind, 2, inputs, 2, attrs, 1, &value, SCH_NO_DECISION, out_block);
}

hone_status hone_sch_cache_read(hone_schedule *sch, hone_rv block, int64_t read_buffer_index,
                                const char *scope, uint32_t consumer_count,
                                const hone_rv *consumers, hone_rv *out_block) {
    caching c = {.sch = sch};
    hone_node_id copy;
    HONE_TRY(begin(&c, block, read_buffer_index, scope));
    HONE_TRY(sch_check_loose_uses(&c, false));
    HONE_TRY(find_writer(&c));
    HONE_TRY(find_users(&c, consumer_count, consumers));
    HONE_TRY(require_fed(&c, c.buffer));
    HONE_TRY(check_paths(&c));
    HONE_TRY(find_read_place(&c, consumer_count > 0));
    HONE_TRY(c.is_read_outside ? finish_and_judge(&c, scope, &copy) : finish(&c, scope, &copy));
    return record(sch, HONE_INST_CACHE_READ, block, read_buffer_index, scope, consumer_count,
                  consumers, copy, out_block);
}

hone_status hone_sch_cache_write(hone_schedule *sch, hone_rv block, int64_t write_buffer_index,
                                 const char *scope, uint32_t consumer_count,
                                 const hone_rv *consumers, hone_rv *out_block) {
    caching c = {.sch = sch, .is_write = true};
    hone_node_id copy;
    HONE_TRY(begin(&c, block, write_buffer_index, scope));
    HONE_TRY(find_writer(&c)); /* refuses a second writer */
    c.user_count = 1;
    c.users = &c.block;
    HONE_TRY(check_write(&c, consumer_count));
    caching readers = c;
    readers.user_count = 0;
    HONE_TRY(find_cache_readers(&readers, consumer_count, consumers));
    HONE_TRY(find_write_place(&c, &readers));
    HONE_TRY(sch_require_seen(sch, c.block, c.place));
    HONE_TRY(finish(&c, scope, &copy));
    readers.cache = c.cache;
    readers.box = c.box;
    for (uint32_t i = 0; i < readers.user_count; i++) {
        HONE_TRY(redirect_to_cache(&readers, readers.users[i], false));
    }
    return record(sch, HONE_INST_CACHE_WRITE, block, write_buffer_index, scope, consumer_count,
                  consumers, copy, out_block);
}

/* ---- cache_inplace ---- */

/* The copies move what the block reads, so it must write just there. */
static hone_status check_inplace(caching *c) {
    hone_schedule *sch = c->sch;
    const hone_block *block = sch_block(sch, c->block);
    const char *name = hone_func_buffer(sch->func, c->buffer)->name;
    uint32_t rank = hone_func_buffer(sch->func, c->buffer)->rank;
    const hone_region *read = NULL, *written = NULL;
    for (uint32_t i = 0; i < block->read_count; i++) {
        if (block->reads[i].buffer == c->buffer) read = &block->reads[i];
    }
    for (uint32_t i = 0; i < block->write_count; i++) {
        if (block->writes[i].buffer == c->buffer) written = &block->writes[i];
    }
    if (!written) {
        return sch_refuse(sch, c->block, "%s does not write '%s'", sch_block_name(sch, c->block),
                          name);
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (hone_expr_same(read->ranges[d].min, written->ranges[d].min) &&
            hone_expr_same(read->ranges[d].extent, written->ranges[d].extent)) {
            continue;
        }
        return sch_refuse(sch, c->block, "%s reads and writes '%s' at different places",
                          sch_block_name(sch, c->block), name);
    }
    hone_node_kind kind = (hone_node_kind)sch_node(sch, c->place)->kind;
    if (kind == HONE_NODE_FOR || c->place == c->scope) return HONE_OK;
    return sch_refuse(sch, c->block, "%s stands directly in something other than a loop",
                      sch_block_name(sch, c->block));
}

static hone_status copy_both_ways(caching *in, const char *storage_scope, hone_node_id copies[2]) {
    HONE_TRY(make_buffer(in, storage_scope));
    caching out = *in;
    out.is_write = true;
    for (int i = 0; i < 2; i++) {
        caching *c = i ? &out : in;
        sch_axis_domain *domains = NULL;
        uint32_t rank = hone_func_buffer(c->sch->func, c->buffer)->rank;
        sch_box box;
        sch_nest nest;
        HONE_TRY(make_copy_block(c, &copies[i]));
        /* of this instance alone, also where threads share the buffer */
        HONE_TRY(sch_box_shared(c->sch, c->place, 1, c->users, c->buffer, false, NULL, &box, NULL));
        HONE_TRY(sch_check_not_empty(c, &box));
        box.buffer = c->is_write ? c->buffer : c->cache;
        domains = hone_arena_alloc(c->sch->arena, (rank + 1) * sizeof *domains);
        if (!domains) return sch_no_memory();
        HONE_TRY(sch_solve_axes(c->sch, copies[i], 1, &box, SCH_SOLVE_COPY, domains));
        HONE_TRY(sch_make_nest(c->sch, rank, domains, true, &nest));
        const hone_expr *outer = NULL;
        HONE_TRY(sch_outer_conditions(c->sch, c->block, c->place, &outer));
        if (outer) HONE_TRY(sch_nest_add_condition(c->sch, outer, &nest));
        HONE_TRY(insert_copy(c, copies[i], nest));
    }
    return redirect_to_cache(in, in->block, true);
}

hone_status hone_sch_cache_inplace(hone_schedule *sch, hone_rv block, int64_t read_buffer_index,
                                   const char *storage_scope, const hone_rv **out_blocks) {
    caching c = {.sch = sch};
    hone_node_id copies[2];
    hone_func *saved = NULL;
    HONE_TRY(begin(&c, block, read_buffer_index, storage_scope));
    c.user_count = 1;
    c.users = &c.block;
    c.place = sch_node(sch, c.block)->parent;
    c.anchor = c.block;
    HONE_TRY(check_inplace(&c));
    HONE_TRY(sch_check_copied_around(&c));
    const char *scope = hone_arena_strdup(sch->arena, storage_scope);
    if (!scope) return sch_no_memory();
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(sch_end_trial(sch, saved, copy_both_ways(&c, scope, copies)));
    sch_forget_facts(sch, c.block);
    hone_operand input = SCH_RV(block);
    hone_value attrs[] = {HONE_VALUE_OF_INT(read_buffer_index), HONE_VALUE_OF_STRING(scope)};
    return sch_record_nodes(sch, HONE_INST_CACHE_INPLACE, 1, &input, 2, attrs, 2, copies,
                            HONE_RV_BLOCK, out_blocks);
}
