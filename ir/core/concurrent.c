/* ir/core/concurrent.c - loops whose iterations run at once, and scopes of storage that they share.
 */
#include "ir/core/concurrent.h"

#include <string.h>

static bool starts_with(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

bool hone_loop_is_of_threads(const hone_node *node) {
    return node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD &&
           node->u.loop.thread_tag && !starts_with(node->u.loop.thread_tag, "vthread");
}

bool hone_loop_runs_at_once(const hone_func *func, hone_node_id loop, hone_node_id inside) {
    const hone_node *node = hone_func_node(func, loop);
    if (hone_node_is_concurrent_loop(node)) return true;
    if (!hone_loop_is_of_threads(node)) return false;
    for (hone_node_id n = hone_func_node(func, inside)->parent; n != loop;
         n = hone_func_node(func, n)->parent) {
        const hone_node *inner = hone_func_node(func, n);
        if (!hone_loop_is_of_threads(inner)) continue;
        if (strcmp(inner->u.loop.thread_tag, node->u.loop.thread_tag) == 0) return false;
    }
    return true;
}

bool hone_scope_is_own(const char *scope, const char *tag) {
    if (!scope || starts_with(scope, "global")) return false;
    if (starts_with(scope, "shared")) return starts_with(tag, "blockIdx");
    return !starts_with(scope, "warp") || strcmp(tag, "threadIdx.x") != 0;
}
