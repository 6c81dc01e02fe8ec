/* ir/python/python_search.c - looks for nodes in a tree. */
#include "ir/python/python_tree.h"

const py_node *py_search(const py_node *root, py_is is, void *ctx) {
    if (!root) return NULL;
    if (is(ctx, root)) return root;
    const py_node *found = py_search(root->base, is, ctx);
    for (uint32_t i = 0; i < root->count && !found; i++)
        found = py_search(root->items[i], is, ctx);
    return found;
}
