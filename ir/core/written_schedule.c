/* ir/core/written_schedule.c - finds the signs that somebody has scheduled a function. */
#include "ir/core/written_schedule.h"

#include <string.h>

#include "support/core/attributes.h"

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* Annotations of blocks that primitives write, or that one asks for by sch.annotate. */
static bool is_of_schedule(const char *key) {
    static const char *const starts[] = {"meta_schedule.",
                                         "auto_copy",
                                         "software_pipeline_",
                                         "pragma_",
                                         "buffer_dim_align",
                                         "warp_execution",
                                         "double_buffer_scope",
                                         "auto_tensorize",
                                         "tir.manifest_shared_memory",
                                         "tirx.manifest_shared_memory"};
    for (size_t i = 0; i < HONE_COUNT(starts); i++) {
        if (begins_with(key, starts[i])) return true;
    }
    return false;
}

static bool block_shows_it(const hone_block *block) {
    for (uint32_t i = 0; i < block->annotations.count; i++) {
        if (is_of_schedule(block->annotations.items[i].key)) return true;
    }
    return false;
}

static bool node_shows_it(const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        return node->loop_kind != HONE_LOOP_SERIAL || node->u.loop.annotations.count > 0;
    case HONE_NODE_BLOCK:
        return block_shows_it(node->u.block.block);
    case HONE_NODE_ATTR:
        return begins_with(node->u.attr.key, "pragma_") ||
               strcmp(node->u.attr.key, "thread_extent") == 0;
    default:
        return false;
    }
}

bool hone_func_carries_schedule(const hone_func *func) {
    if (hone_attrs_int(&func->attrs, HONE_ATTR_IS_SCHEDULED, 0)) return true;
    if (hone_attrs_int(&func->attrs, "tirx.is_scheduled", 0)) return true;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (node_shows_it(hone_func_node(func, n))) return true;
    }
    return false;
}
