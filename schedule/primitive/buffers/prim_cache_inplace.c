/* schedule/primitive/buffers/prim_cache_inplace.c - cache_inplace: copies what a block reads and
 * writes in place into a buffer of another scope in front of each of its instances, and back behind
 * it:
 *
 *     with block B: A[vi] = A[vi] + 1
 *  →  with block A_local: A_local[v0] = A[v0]
 *     with block B: A_local[vi] = A_local[vi] + 1
 *     with block A_local: A[v0] = A_local[v0]
 *
 * Checks: the block writes just what it reads, stands in a loop or directly in its scope, no
 * threads reduce together in it, and all that it declares may be copied around each instance
 * (inplace_box.c); the scope name is known, the buffer index exists, addresses and views of the
 * buffer can become those of the cache.
 */
#include "schedule/primitive/buffers/caching.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/init_nest.h"

/* Threads that reduce together add to one element: none of them has a copy of it. */
static hone_status check_alone(const sch_staging *c) {
    hone_node_id loop = sch_loop_of_shared_sums(c->sch, c->block, c->scope);
    if (loop == HONE_NO_ID) return HONE_OK;
    return sch_refuse(
        c->sch, loop,
        "threads of %s reduce together in %s, which they can't with copies of their own",
        sch_loop_name(c->sch, loop), sch_block_name(c->sch, c->block));
}

/* The copies move what the block reads, so it must write just there. */
static hone_status check_inplace(sch_staging *c) {
    hone_schedule *sch = c->sch;
    const hone_block *block = sch_block(sch, c->block);
    const char *name = sch_buffer_name(sch, c->buffer);
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
    for (uint32_t d = 0; d < c->rank; d++) {
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

static hone_status copy_both_ways(sch_staging *in, const char *storage_scope,
                                  hone_node_id copies[2]) {
    HONE_TRY(sch_make_stage_of_box(in, storage_scope));
    for (int i = 0; i < 2; i++) {
        sch_staging one = *in;
        sch_box box;
        sch_nest nest;
        one.is_write = i == 1;
        /* of this instance alone, also where threads share the buffer */
        HONE_TRY(
            sch_box_shared(in->sch, in->place, 1, in->users, in->buffer, false, NULL, &box, NULL));
        HONE_TRY(sch_check_not_empty(in, &box));
        HONE_TRY(sch_make_cache_copy(&one, &box, 1, in->users, &nest));
        sch_place_copy(&one, &nest);
        copies[i] = one.copy;
    }
    return sch_redirect_accesses(in->sch, in->block, in->buffer, in->stage, NULL, true);
}

hone_status hone_sch_cache_inplace(hone_schedule *sch, hone_rv block, int64_t read_buffer_index,
                                   const char *storage_scope, const hone_rv **out_blocks) {
    sch_staging c = {.sch = sch};
    hone_node_id copies[2];
    hone_func *saved = NULL;
    HONE_TRY(sch_begin_staging(&c, block, read_buffer_index, storage_scope));
    c.user_count = 1;
    c.users = &c.block;
    c.place = sch_node(sch, c.block)->parent;
    c.anchor = c.block;
    HONE_TRY(sch_check_pointers(&c, storage_scope));
    HONE_TRY(check_alone(&c));
    HONE_TRY(check_inplace(&c));
    HONE_TRY(sch_check_copied_around(&c));
    const char *scope = hone_arena_strdup(sch->arena, storage_scope);
    if (!scope) return sch_no_memory();
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(sch_end_trial(sch, saved, copy_both_ways(&c, scope, copies)));
    sch_forget_facts(sch, c.block);
    return sch_record_nodes(sch, HONE_INST_CACHE_INPLACE,
                            SCH_ARGS(SCH_RV(block), SCH_INT(read_buffer_index), SCH_TEXT(scope)), 2,
                            copies, out_blocks);
}

/* The copy in and the copy out. */
static int64_t count_copies(const hone_inst *inst) {
    (void)inst;
    return 2;
}

SCH_STEP(CACHE_INPLACE, hone_sch_cache_inplace(sch, a[0].rv, a[1].number, a[2].text, NULL),
         .gives = HONE_GIVES_BLOCKS, .count_results = count_copies,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_READ_BUFFER("read_buffer_index"), SCH_ARG_SCOPE(1)});
