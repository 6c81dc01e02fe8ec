/* lower/ground/pipelined.c - see pipelined.h. */
#include "lower/ground/pipelined.h"

#include <string.h>

bool lower_is_pipelined(const hone_node *node) {
    return node->kind == HONE_NODE_FOR &&
           (hone_attrs_find(&node->u.loop.annotations, LOWER_PIPELINE_WISH) ||
            hone_attrs_find(&node->u.loop.annotations, HONE_PIPELINE_STAGE) ||
            hone_attrs_find(&node->u.loop.annotations, HONE_PIPELINE_ORDER));
}

bool lower_is_attr(const hone_node *node, const char *key) {
    return node->kind == HONE_NODE_ATTR && strcmp(node->u.attr.key, key) == 0;
}

bool lower_drop_pipeline(hone_func *func, hone_attrs *attrs) {
    return hone_attrs_without(func->arena, attrs, LOWER_PIPELINE_WISH, attrs) &&
           hone_attrs_without(func->arena, attrs, HONE_PIPELINE_STAGE, attrs) &&
           hone_attrs_without(func->arena, attrs, HONE_PIPELINE_ORDER, attrs) &&
           hone_attrs_without(func->arena, attrs, LOWER_PIPELINE_ASYNC, attrs);
}

bool lower_is_alloc(const hone_func *func, const hone_node *node) {
    return node->kind == HONE_NODE_ALLOC ||
           (node->kind == HONE_NODE_DECL &&
            func->buffers[node->u.alloc.buffer].alias_of == HONE_NO_ID);
}
