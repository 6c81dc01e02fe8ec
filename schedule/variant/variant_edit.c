/* schedule/variant/variant_edit.c - see variant_impl.h. */
#include <string.h>

#include "ir/region/region.h"
#include "schedule/variant/variant_impl.h"

void variant_begin(variant_edit *edit, hone_func *func, hone_node_id nest, hone_dtype index) {
    *edit = (variant_edit){.nest = nest, .first = func->buffer_count};
    edit->te = (hone_te){.func = func,
                         .ir = {.arena = func->arena},
                         .index = index,
                         .root = hone_func_root_block(func)};
}

/* New nests stand behind all others. */
static hone_node_id first_new(const variant_edit *edit, uint32_t stages) {
    hone_node_id at = hone_func_node(edit->te.func, edit->te.root)->last;
    while (--stages)
        at = hone_func_node(edit->te.func, at)->prev;
    return at;
}

static hone_status name_out(hone_func *func, hone_node_id block, hone_buffer made,
                            hone_buffer out) {
    hone_block *copy = hone_block_copy(func->arena, hone_func_node(func, block)->u.block.block);
    hone_region *write = hone_arena_alloc(func->arena, sizeof *write);
    if (!copy || !write) return HONE_NO_MEMORY("variant");
    assert(copy->write_count == 1 && copy->writes[0].buffer == made);
    *write = (hone_region){out, copy->writes[0].ranges};
    copy->writes = write;
    hone_func_node(func, block)->u.block.block = copy;
    return hone_tree_rename_buffer(func, block, made, out);
}

/* What a stage reads at several places, as a box. */
static hone_status show_regions(hone_func *func, hone_node_id block) {
    hone_block *copy = hone_block_copy(func->arena, hone_func_node(func, block)->u.block.block);
    if (!copy) return HONE_NO_MEMORY("variant");
    HONE_TRY(hone_block_infer_regions(func, block, func->arena, copy));
    hone_func_node(func, block)->u.block.block = copy;
    return HONE_OK;
}

static hone_status check_name(const hone_func *func, hone_node_id block) {
    const char *name = hone_func_node(func, block)->u.block.block->name;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && n != block &&
            strcmp(node->u.block.block->name, name) == 0)
            return VARIANT_REFUSE("the program has a block '%s' already", name);
    }
    return HONE_OK;
}

/* The root block allocates the new buffers, but for the one that has become another. */
static hone_status add_allocs(const variant_edit *edit, hone_buffer made) {
    hone_func *func = edit->te.func;
    hone_block *root =
        hone_block_copy(func->arena, hone_func_node(func, edit->te.root)->u.block.block);
    uint32_t most = func->buffer_count + (root ? root->alloc_count : 0);
    hone_buffer *allocs = hone_arena_alloc(func->arena, (most + 1) * sizeof *allocs);
    if (!root || !allocs) return HONE_NO_MEMORY("variant");
    for (uint32_t i = 0; i < root->alloc_count; i++)
        allocs[i] = root->allocs[i];
    for (hone_buffer b = edit->first; b < func->buffer_count; b++) {
        if (b != made) allocs[root->alloc_count++] = b;
    }
    root->allocs = allocs;
    hone_func_node(func, edit->te.root)->u.block.block = root;
    return HONE_OK;
}

hone_status variant_end(variant_edit *edit, hone_buffer made, hone_buffer out) {
    HONE_TRY(hone_ir_finish(&edit->te.ir));
    hone_func *func = edit->te.func;
    hone_node_id nest = first_new(edit, func->buffer_count - edit->first);
    while (nest != HONE_NO_ID) {
        hone_node_id next = hone_func_node(func, nest)->next;
        hone_node_id block = hone_tree_first_of(func, nest, HONE_NODE_BLOCK);
        HONE_TRY(check_name(func, block));
        if (next == HONE_NO_ID) HONE_TRY(name_out(func, block, made, out));
        HONE_TRY(show_regions(func, block));
        hone_tree_remove(func, nest);
        hone_tree_insert_before(func, edit->nest, nest);
        nest = next;
    }
    hone_tree_remove(func, edit->nest);
    return add_allocs(edit, made);
}
