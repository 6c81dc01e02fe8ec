/* schedule/primitive/buffers/staging.c - makes stages and their copies, and redirects who uses
 * them. */
#include "schedule/primitive/buffers/staging.h"

#include "schedule/primitive/move/move_domain.h"

hone_status sch_begin_staging(sch_staging *s, hone_rv block, int64_t index,
                              const char *storage_scope) {
    s->stage = s->writer = s->copy = HONE_NO_ID;
    HONE_TRY(sch_resolve_in_scope(s->sch, block, &s->block, &s->scope));
    if (storage_scope) HONE_TRY(sch_require_scope_name(s->sch, s->block, storage_scope));
    HONE_TRY(sch_nth_buffer(s->sch, s->block, s->is_write, index, &s->buffer));
    s->rank = hone_func_buffer(s->sch->func, s->buffer)->rank;
    return HONE_OK;
}

hone_status sch_make_stage(sch_staging *s, const char *name, uint32_t rank,
                           const hone_expr *const *shape, const char *storage_scope) {
    hone_dtype dtype = hone_func_buffer(s->sch->func, s->buffer)->dtype;
    s->stage = sch_make_buffer(s->sch, name, dtype, rank, shape, storage_scope);
    return s->stage == HONE_NO_ID ? sch_no_memory() : sch_add_alloc(s->sch, s->scope, s->stage);
}

hone_status sch_make_stage_of_box(sch_staging *s, const char *storage_scope) {
    hone_schedule *sch = s->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, s->buffer);
    const hone_expr **shape = hone_arena_alloc(sch->arena, (s->rank + 1) * sizeof *shape);
    if (!shape) return sch_no_memory();
    for (uint32_t d = 0; d < s->rank; d++)
        shape[d] = s->box ? s->box[d].extent : info->shape[d];
    return sch_make_stage(s, sch_scoped_name(sch, info->name, storage_scope), s->rank, shape,
                          storage_scope);
}

hone_node_id sch_make_copy_store(const sch_staging *s, const hone_expr *const *in_buffer,
                                 const hone_expr *const *in_stage) {
    hone_schedule *sch = s->sch;
    uint32_t stage_rank = hone_func_buffer(sch->func, s->stage)->rank;
    if (!in_buffer || !in_stage) return HONE_NO_ID;
    const hone_expr *value = s->is_write
                                 ? hone_func_load(&sch->ir, sch->func, s->stage, in_stage)
                                 : hone_func_load(&sch->ir, sch->func, s->buffer, in_buffer);
    return s->is_write ? sch_make_store(sch, s->buffer, s->rank, in_buffer, value)
                       : sch_make_store(sch, s->stage, stage_rank, in_stage, value);
}

void sch_place_copy(const sch_staging *s, const sch_nest *nest) {
    sch_place_nest(s->sch, nest, s->copy, s->anchor, s->is_write);
}

hone_status sch_redirect_users(const sch_staging *s) {
    for (uint32_t i = 0; i < s->user_count; i++) {
        HONE_TRY(
            sch_redirect_accesses(s->sch, s->users[i], s->buffer, s->stage, s->box, s->is_write));
    }
    return HONE_OK;
}

hone_status sch_conditions_of_copy(const sch_staging *s, uint32_t count, const hone_node_id *blocks,
                                   const hone_expr **out) {
    hone_schedule *sch = s->sch;
    *out = NULL;
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(sch_outer_conditions(sch, blocks[i], s->place, out));
        if (!*out || count == 1) continue;
        return sch_refuse(sch, blocks[i], "a predicate of %s leaves out iterations of %s",
                          sch_block_name(sch, blocks[i]), sch_loop_name(sch, s->place));
    }
    return HONE_OK;
}

hone_status sch_refuse_part(const sch_staging *s) {
    return sch_refuse(s->sch, s->writer, "%s does not surely write all of '%s' that is copied",
                      sch_block_name(s->sch, s->writer), sch_buffer_name(s->sch, s->buffer));
}

hone_status sch_refuse_box(const sch_staging *s) {
    return sch_refuse(s->sch, s->block,
                      "%s does not surely write all of the box of '%s' that it touches",
                      sch_block_name(s->sch, s->block), sch_buffer_name(s->sch, s->buffer));
}
