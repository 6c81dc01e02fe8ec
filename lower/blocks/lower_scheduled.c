/* lower/blocks/lower_scheduled.c - the pass that notes whether somebody shaped the loops.
 * needs: nothing. keeps: the program. Marks a program whose loops somebody shaped: the code
 * generator keeps its own choices out of it. */
#include <string.h>

#include "lower/ground/passes.h"

static bool is_shaped(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_UNROLLED) {
            return true;
        }
        for (uint32_t i = 0; i < node->u.loop.annotations.count; i++) {
            if (strncmp(node->u.loop.annotations.items[i].key, "pragma_", 7) == 0) return true;
        }
    }
    return false;
}

hone_status lower_scheduled(hone_lower *lower) {
    hone_func *func = lower->func;
    if (!is_shaped(func)) return HONE_OK;
    return hone_attrs_with(func->arena, &func->attrs, "hone.scheduled", HONE_VALUE_OF_BOOL(true),
                           &func->attrs)
               ? HONE_OK
               : LOWER_NO_MEMORY();
}
