#include "schedule/schedule_impl.h"

#include <string.h>

/* set_scope: puts a buffer that a block writes into another storage scope, under another name.
 *
 *     B = T.alloc_buffer((16, 16))                               set_scope(b, 0, "shared")
 *  →  B_shared = T.alloc_buffer((16, 16), scope="shared")
 *
 * Checks: the scope name is known; the buffer is allocated in the function, and nobody takes its
 * address or a view of it. */

hone_status hone_sch_set_scope(hone_schedule *sch, hone_rv block_rv, int64_t buffer_index,
                               const char *storage_scope) {
    hone_node_id id;
    hone_buffer buffer;
    HONE_TRY(sch_resolve_block(sch, block_rv, &id));
    HONE_TRY(sch_require_scope_name(sch, id, storage_scope));
    HONE_TRY(sch_nth_buffer(sch, id, true, buffer_index, &buffer));
    hone_buffer_info *info = &sch->func->buffers[buffer];
    const char *scope = hone_arena_strdup(sch->arena, storage_scope);
    if (!scope) return sch_no_memory();
    if (strcmp(info->scope, scope) != 0) { /* else nothing is asked of the buffer */
        HONE_TRY(sch_require_allocated(sch, id, buffer));
        HONE_TRY(sch_require_no_views(sch, id, buffer));
        const char *name = sch_scoped_name(sch, info->name, scope);
        if (!name) return sch_no_memory();
        info->name = name;
        info->scope = scope;
    }
    hone_value attrs[] = {HONE_VALUE_OF_INT(buffer_index), HONE_VALUE_OF_STRING(scope)};
    return sch_record_simple(sch, HONE_INST_SET_SCOPE, block_rv, 2, attrs);
}
