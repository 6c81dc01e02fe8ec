/* lower/blocks/lower_threads.c - the pass that refuses threads which the target has not.
 * needs: nothing. keeps: the program. Refuses thread-bound loops on a target that has no such
 * threads, so that a schedule for a GPU is not run as a slow loop by mistake. Virtual threads
 * become loops everywhere. */
#include <string.h>

#include "lower/ground/passes.h"

static hone_status refuse(const hone_func *func, const hone_node *loop) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "loop '%s' is bound to thread '%s', which a CPU does not have and no code is "
                      "generated for; use parallel",
                      func->vars[loop->u.loop.var].name, loop->u.loop.thread_tag);
}

hone_status lower_threads(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_THREAD) continue;
        const char *tag = node->u.loop.thread_tag;
        bool is_virtual = tag && strncmp(tag, "vthread", 7) == 0;
        if (tag && !is_virtual) return refuse(func, node);
        node->loop_kind = HONE_LOOP_SERIAL; /* a virtual thread is a loop on any device */
        node->u.loop.thread_tag = NULL;
    }
    return HONE_OK;
}
