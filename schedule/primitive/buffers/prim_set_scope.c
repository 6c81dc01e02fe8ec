/* schedule/primitive/buffers/prim_set_scope.c - set_scope: puts a buffer that a block writes into
 * another storage scope, under another name.
 *
 *     B = T.alloc_buffer((16, 16))                               set_scope(b, 0, "shared")
 *  →  B_shared = T.alloc_buffer((16, 16), scope="shared")
 *
 * Views of the buffer (T.match_buffer) go with it. Checks: the scope name is known; the buffer is
 * allocated in the function, and nobody takes its address.
 */
#include "schedule/primitive/primitive_impl.h"

#include <string.h>

static hone_status move_buffer(hone_schedule *sch, hone_buffer buffer, const char *scope) {
    hone_buffer_info *info = &sch->func->buffers[buffer];
    const char *name = sch_scoped_name(sch, info->name, scope);
    if (!name) return sch_no_memory();
    info->name = name;
    info->scope = scope;
    return HONE_OK;
}

hone_status hone_sch_set_scope(hone_schedule *sch, hone_rv block_rv, int64_t buffer_index,
                               const char *storage_scope) {
    hone_node_id id;
    hone_buffer buffer;
    HONE_TRY(sch_resolve_block(sch, block_rv, &id));
    HONE_TRY(sch_require_scope_name(sch, id, storage_scope));
    HONE_TRY(sch_nth_buffer(sch, id, true, buffer_index, &buffer));
    const char *scope = hone_arena_strdup(sch->arena, storage_scope);
    if (!scope) return sch_no_memory();
    /* Where it lies there already, nothing is asked of the buffer. */
    if (strcmp(hone_func_buffer(sch->func, buffer)->scope, scope) != 0) {
        bool *is_part;
        HONE_TRY(sch_require_allocated(sch, id, buffer));
        HONE_TRY(sch_mark_views(sch, id, buffer, &is_part));
        for (hone_buffer b = 0; b < sch->func->buffer_count; b++) {
            if (is_part[b]) HONE_TRY(move_buffer(sch, b, scope));
        }
    }
    return sch_record(sch, HONE_INST_SET_SCOPE,
                      SCH_ARGS(SCH_RV(block_rv), SCH_INT(buffer_index), SCH_TEXT(scope)));
}

SCH_STEP(SET_SCOPE, hone_sch_set_scope(sch, a[0].rv, a[1].number, a[2].text),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_WRITTEN_BUFFER("buffer_index"), SCH_ARG_SCOPE(1)});
