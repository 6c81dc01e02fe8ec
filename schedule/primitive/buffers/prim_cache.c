/* schedule/primitive/buffers/prim_cache.c - cache_read: makes a copy of what a block reads, in
 * another scope, and lets it read the copy. cache_write: lets a block write into a buffer of
 * another scope and copies that out behind it.
 *
 * The copy stands in the innermost loop that is around all who take part, before the first who
 * needs it, over the box that they touch there; a buffer that comes from outside the scope is
 * copied at its top, one that nobody else in the scope reads at its end. What the cache holds is in
 * caching.h.
 *
 * Checks: the scope name is known; the buffer index exists; cache_read: at most one block of the
 * scope writes the buffer, and surely all that is copied, or after all who read the cache: then, as
 * where there is none, those around the scope who write it do; its values are done with where they
 * are read; cache_write: the block is the only writer, reads of what is there only what it has
 * written itself in the same run, reduces over loops of its scope, and surely writes all of the box
 * that is copied; no statement outside of blocks stores the buffer (or, cache_write, loads it);
 * only loops stand around those who take part; addresses and views of the buffer can become those
 * of the cache (cache_pointers.c).
 */
#include "schedule/primitive/buffers/caching.h"
#include "schedule/primitive/primitive_impl.h"

/* ---- where ---- */

/* The lowest loop around everybody, or the scope block. */
static hone_node_id common_place(const sch_staging *c, hone_node_id with) {
    hone_node_id place = with;
    for (uint32_t i = 0; i < c->user_count; i++)
        place = sch_lca(c->sch, place, c->users[i]);
    if (place == with) place = sch_node(c->sch, place)->parent;
    return sch_nearest_loop(c->sch, place, c->scope);
}

/* The writer shares loops with some who read the cache, others stand further out: the copy follows
 * the writer in each iteration, and those others find what all iterations copied. */
static hone_status find_inner_place(sch_staging *c) {
    hone_schedule *sch = c->sch;
    hone_node_id first = HONE_NO_ID;
    for (uint32_t i = 0; i < c->user_count; i++) {
        if (!sch_is_within(c->sch, c->anchor, c->users[i])) continue;
        if (first == HONE_NO_ID || sch_is_before(sch, c->users[i], first)) first = c->users[i];
    }
    hone_node_id place = sch_lca(sch, c->writer, first);
    if (sch_node(sch, place)->kind == HONE_NODE_FOR && sch_is_before(sch, c->writer, first)) {
        c->place = place;
        c->anchor = sch_child_towards(sch, place, first);
        c->is_read_outside = true;
        return HONE_OK;
    }
    return sch_refuse(sch, c->writer, "no place is behind %s and before all who read '%s'",
                      sch_block_name(sch, c->writer), sch_buffer_name(sch, c->buffer));
}

static bool holds_any(const sch_staging *c, hone_node_id top, uint32_t count,
                      const hone_node_id *blocks) {
    for (uint32_t i = 0; i < count; i++) {
        if (sch_is_within(c->sch, top, blocks[i])) return true;
    }
    return false;
}

/* Before the first who shall read the cache; where nobody is named, before the first who reads
 * anything that the writer makes, as in TVM. */
static hone_status find_read_place(sch_staging *c, bool is_named) {
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
        is_behind = is_behind || sch_is_within(c->sch, n, c->writer);
    }
    assert(c->anchor != HONE_NO_ID);
    return sch_is_within(c->sch, c->anchor, c->writer) ? find_inner_place(c) : HONE_OK;
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
static bool is_done_before(const sch_staging *c, hone_node_id reader) {
    hone_schedule *sch = c->sch;
    if (!sch_is_before(sch, reader, c->block)) return false;
    for (hone_node_id n = sch_lca(sch, c->block, reader); n != c->scope;
         n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind != HONE_NODE_FOR ||
            !sch_carries_no_dependence_between(sch, reader, c->block, c->buffer, n)) {
            return false;
        }
    }
    return true;
}

/* Before the first who reads what the block writes (another of its buffers counts as well, as in
 * TVM), in the innermost loop that the block shares with one of them; readers further out find that
 * all iterations copied all of it. Those who shall read the cache do not count; where nobody else
 * reads, the copy stands at the end of the scope. */
static hone_status find_write_place(sch_staging *c, const sch_staging *cache_readers) {
    hone_schedule *sch = c->sch;
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    hone_node_id first = HONE_NO_ID;
    HONE_TRY(sch_consumers(sch, c->block, &count, &readers));
    c->place = c->scope;
    for (uint32_t i = 0; i < count; i++) {
        if (is_one_of(readers[i], cache_readers->user_count, cache_readers->users)) continue;
        if (is_done_before(c, readers[i])) continue;
        hone_node_id common = sch_nearest_loop(sch, sch_lca(sch, c->block, readers[i]), c->scope);
        if (first != HONE_NO_ID &&
            hone_tree_depth(sch->func, common) <= hone_tree_depth(sch->func, c->place))
            continue;
        c->place = common;
        first = readers[i];
    }
    c->anchor = sch_node(sch, c->scope)->last;
    if (first == HONE_NO_ID) return HONE_OK;
    c->anchor = sch_node(sch, sch_child_towards(sch, c->place, first))->prev;
    if (c->anchor != HONE_NO_ID && sch_is_before(sch, c->block, first)) return HONE_OK;
    return sch_refuse(sch, first, "%s reads '%s' before %s writes it", sch_block_name(sch, first),
                      sch_buffer_name(sch, c->buffer), sch_block_name(sch, c->block));
}

/* cache_read: all that the writer makes is copied, where it is known to be a box; it holds what the
 * users read. */
static hone_status widen_to_written(sch_staging *c, sch_box *io, bool *out_is_all) {
    sch_box written;
    bool is_exact = false;
    HONE_TRY(sch_box_below(c->sch, c->place, 1, &c->writer, c->buffer, true, &written, &is_exact));
    *out_is_all = written.dims && is_exact;
    if (!*out_is_all) return HONE_OK;
    *io = written;
    return sch_check_not_empty(c, io);
}

/* The box that is copied. */
static hone_status find_box(sch_staging *c, sch_box *out) {
    hone_schedule *sch = c->sch;
    bool is_exact = false, is_all = c->is_write;
    if (c->is_read_outside) {
        HONE_TRY(widen_to_written(c, out, &is_all));
        return is_all ? HONE_OK : sch_refuse_part(c);
    }
    HONE_TRY(sch_box_below(sch, c->place, c->user_count, c->users, c->buffer, c->is_write, out,
                           &is_exact));
    bool is_from_outside = !c->is_write && c->writer == HONE_NO_ID && c->place == c->scope;
    if (is_from_outside) sch_narrow_to_looked_up(c, out);
    HONE_TRY(sch_check_not_empty(c, out));
    if (!out->dims || (c->is_write && !is_exact)) return sch_refuse_box(c);
    if (c->writer != HONE_NO_ID && !c->is_write) {
        if (!sch_surely_writes(sch, c->writer, c->buffer, c->place, out->dims)) {
            return sch_refuse_part(c);
        }
        HONE_TRY(widen_to_written(c, out, &is_all));
    } else if (!c->is_write) {
        HONE_TRY(sch_check_outside(c, out));
    }
    return sch_choose_cache_box(c, is_all, out);
}

/* ---- putting it together ---- */

static hone_status finish(sch_staging *c, const char *storage_scope) {
    sch_nest nest;
    sch_box box;
    HONE_TRY(find_box(c, &box));
    uint32_t count = c->place == c->scope ? 0 : c->is_read_outside ? 1 : c->user_count;
    const hone_node_id *blocks = c->is_read_outside ? &c->writer : c->users;
    hone_status st = sch_make_stage_of_box(c, storage_scope);
    if (!st) st = sch_make_cache_copy(c, &box, count, blocks, &nest);
    if (st) {
        /* the tables only grow: the buffer stays in its table, unused */
        if (c->stage == HONE_NO_ID) return st;
        hone_status dropped = sch_drop_alloc(c->sch, c->scope, c->stage);
        return hone_status_join(st, dropped);
    }
    HONE_TRY(sch_redirect_users(c));
    sch_place_copy(c, &nest);
    return HONE_OK;
}

/* Everybody who shall read the cache finds the values of the buffer done with. */
static hone_status require_covered(const sch_staging *c, hone_buffer buffer) {
    for (uint32_t i = 0; i < c->user_count && c->writer != HONE_NO_ID; i++)
        HONE_TRY(sch_require_covered(c->sch, c->users[i], buffer));
    return HONE_OK;
}

/* Those further out must find all of what they read. */
static hone_status finish_and_judge(sch_staging *c, const char *storage_scope) {
    hone_func *saved;
    HONE_TRY(sch_begin_trial(c->sch, &saved));
    hone_status st = finish(c, storage_scope);
    sch_forget_pipeline(c->sch, c->scope);
    if (!st) st = sch_require_covered(c->sch, c->copy, c->buffer);
    if (!st) st = require_covered(c, c->stage);
    return sch_end_trial(c->sch, saved, st);
}

static hone_status find_writer(sch_staging *c) {
    SCH_EACH_BLOCK (c->sch, c->scope, n) {
        if (!sch_writes(sch_block(c->sch, n), c->buffer)) continue;
        if (c->writer != HONE_NO_ID) {
            return sch_refuse(c->sch, n, "both %s and %s write '%s'",
                              sch_block_name(c->sch, c->writer), sch_block_name(c->sch, n),
                              sch_buffer_name(c->sch, c->buffer));
        }
        c->writer = n;
    }
    return HONE_OK;
}

/* Who shall read the cache: those of the blocks named that read the buffer, or all of the scope. */
static hone_status find_users(sch_staging *c, uint32_t count, const hone_rv *consumers) {
    hone_schedule *sch = c->sch;
    size_t room = (size_t)sch->func->node_count + count;
    hone_node_id *users = hone_arena_alloc(sch->arena, room * sizeof *users);
    if (!users) return sch_no_memory();
    c->users = users;
    hone_node_id other = HONE_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id user;
        HONE_TRY(sch_resolve_block(sch, consumers[i], &user));
        if (!sch_reads(sch_block(sch, user), c->buffer) || user == c->writer) {
            other = user;
            continue;
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
    if (other != HONE_NO_ID) {
        return sch_refuse(sch, other, "%s does not read '%s'", sch_block_name(sch, other),
                          sch_buffer_name(sch, c->buffer));
    }
    return sch_refuse(sch, c->block, "no other block reads '%s'", sch_buffer_name(sch, c->buffer));
}

/* Behind the block, and in no other iteration in front of it. */
static bool comes_later(const sch_staging *c, hone_node_id later, hone_node_id block) {
    hone_schedule *sch = c->sch;
    if (!sch_is_before(sch, block, later)) return false;
    for (hone_node_id n = sch_lca(sch, block, later); n != c->scope; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR || !hone_expr_is_int_value(node->u.loop.range.extent, 1)) {
            return false;
        }
    }
    return true;
}

/* cache_read: where the writer comes after all who shall read the cache, they find what was there
 * when the scope began, as if nobody wrote it. */
static void pass_over_later_writer(sch_staging *c) {
    if (c->writer == HONE_NO_ID || sch_alloc_site(c->sch, c->buffer) == c->scope) return;
    for (uint32_t i = 0; i < c->user_count; i++) {
        if (!comes_later(c, c->writer, c->users[i])) return;
    }
    c->writer = HONE_NO_ID;
}

/* A copy beside something else than loops might run where its user does not: no harm where it is of
 * what is read, if the loops are known. */
static hone_status check_paths(sch_staging *c) {
    for (uint32_t i = 0; i <= c->user_count; i++) {
        bool is_user = i < c->user_count;
        hone_node_id block = is_user ? c->users[i] : c->writer;
        if (block == HONE_NO_ID || sch_is_below_known_loops(c->sch, block)) continue;
        if (is_user && !c->is_write && sch_is_below_known_conditions(c->sch, block)) continue;
        return sch_refuse(c->sch, block,
                          "something other than loops of known bounds stands around %s",
                          sch_block_name(c->sch, block));
    }
    return HONE_OK;
}

/* cache_write: who shall read the cache must find it written. */
static hone_status check_write(sch_staging *c, uint32_t consumer_count) {
    HONE_TRY(sch_check_cache_begins(c));
    HONE_TRY(sch_check_loose_uses(c, true));
    if (consumer_count) HONE_TRY(sch_require_pipeline(c->sch, c->scope));
    return check_paths(c);
}

/* cache_write: of the blocks named, those that read the buffer; the others do not mind. */
static hone_status find_cache_readers(sch_staging *c, uint32_t count, const hone_rv *consumers) {
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

/* The block and those who shall read the cache. */
static hone_status check_write_pointers(sch_staging *c, const sch_staging *readers,
                                        const char *scope) {
    sch_staging all = *c;
    hone_node_id *users =
        hone_arena_alloc(c->sch->arena, (readers->user_count + 1) * sizeof *users);
    if (!users) return sch_no_memory();
    for (uint32_t i = 0; i < readers->user_count; i++)
        users[i] = readers->users[i];
    users[readers->user_count] = c->block;
    all.users = users;
    all.user_count = readers->user_count + 1;
    HONE_TRY(sch_check_pointers(&all, scope));
    c->is_whole = all.is_whole;
    return HONE_OK;
}

static hone_status record(hone_schedule *sch, hone_inst_kind kind, hone_rv block, int64_t index,
                          const char *scope, uint32_t count, const hone_rv *consumers,
                          hone_node_id copy, hone_rv *out_block) {
    return sch_record_node(
        sch, kind,
        SCH_ARGS(SCH_RV(block), SCH_INT(index), SCH_TEXT(scope), SCH_LIST(count, rvs, consumers)),
        copy, out_block);
}

hone_status hone_sch_cache_read(hone_schedule *sch, hone_rv block, int64_t read_buffer_index,
                                const char *scope, uint32_t consumer_count,
                                const hone_rv *consumers, hone_rv *out_block) {
    sch_staging c = {.sch = sch};
    HONE_TRY(sch_begin_staging(&c, block, read_buffer_index, scope));
    HONE_TRY(sch_check_loose_uses(&c, false));
    HONE_TRY(find_writer(&c));
    HONE_TRY(find_users(&c, consumer_count, consumers));
    HONE_TRY(sch_check_pointers(&c, scope));
    pass_over_later_writer(&c);
    HONE_TRY(require_covered(&c, c.buffer));
    HONE_TRY(check_paths(&c));
    HONE_TRY(find_read_place(&c, consumer_count > 0));
    HONE_TRY(c.is_read_outside ? finish_and_judge(&c, scope) : finish(&c, scope));
    return record(sch, HONE_INST_CACHE_READ, block, read_buffer_index, scope, consumer_count,
                  consumers, c.copy, out_block);
}

hone_status hone_sch_cache_write(hone_schedule *sch, hone_rv block, int64_t write_buffer_index,
                                 const char *scope, uint32_t consumer_count,
                                 const hone_rv *consumers, hone_rv *out_block) {
    sch_staging c = {.sch = sch, .is_write = true};
    HONE_TRY(sch_begin_staging(&c, block, write_buffer_index, scope));
    HONE_TRY(find_writer(&c)); /* refuses a second writer */
    c.user_count = 1;
    c.users = &c.block;
    HONE_TRY(check_write(&c, consumer_count));
    sch_staging readers = c;
    readers.user_count = 0;
    readers.is_write = false;
    HONE_TRY(find_cache_readers(&readers, consumer_count, consumers));
    HONE_TRY(check_write_pointers(&c, &readers, scope));
    HONE_TRY(find_write_place(&c, &readers));
    HONE_TRY(sch_require_visible(sch, c.block, c.place));
    HONE_TRY(finish(&c, scope));
    readers.stage = c.stage;
    readers.box = c.box;
    HONE_TRY(sch_redirect_users(&readers));
    return record(sch, HONE_INST_CACHE_WRITE, block, write_buffer_index, scope, consumer_count,
                  consumers, c.copy, out_block);
}

SCH_STEP(CACHE_READ,
         hone_sch_cache_read(sch, a[0].rv, a[1].number, a[2].text, a[3].count, a[3].list.rvs, NULL),
         .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_READ_BUFFER("read_buffer_index"), SCH_ARG_SCOPE(1),
                  SCH_ARG_OPTIONAL("consumer_blocks", BLOCKS, 1)});

SCH_STEP(CACHE_WRITE,
         hone_sch_cache_write(sch, a[0].rv, a[1].number, a[2].text, a[3].count, a[3].list.rvs,
                              NULL),
         .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_WRITTEN_BUFFER("write_buffer_index"), SCH_ARG_SCOPE(1),
                  SCH_ARG_OPTIONAL("consumer_blocks", BLOCKS, 1)});
