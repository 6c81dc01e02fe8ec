/* ir/text/read/script_parse_allocs.c - T.alloc_buffer among the statements of a block.
 *
 * The statement holds all that follows it, as it is read. In a program of blocks what lives until
 * the end of a block's body is made the block's own, so that schedules see loops and blocks only:
 *
 *     BLOCK [S, ALLOC B [T, U]]   →   BLOCK(allocs: B) [S, T, U]      B stands before T
 *
 * Nothing in front of the statement can name the buffer, and no element of it has a value when the
 * statement is reached, so it means the same; but for a shape that is computed from what S writes,
 * which stays. */
#include <string.h>

#include "ir/text/read/script_impl.h"

static bool has_fixed_layout(const hone_buffer_info *info) {
    for (uint32_t d = 0; d < info->rank; d++) {
        if (!hone_expr_is_pure_index(info->shape[d])) return false;
        if (info->strides && !hone_expr_is_pure_index(info->strides[d])) return false;
    }
    return !info->elem_offset || hone_expr_is_pure_index(info->elem_offset);
}

static bool stands_in_front(const hone_func *func, hone_node_id id) {
    hone_node_id prev = hone_func_node(func, id)->prev;
    return prev == HONE_NO_ID || hone_func_node(func, prev)->kind == HONE_NODE_INIT;
}

/* The allocation that holds the end of the block's body; HONE_NO_ID where there is none that can
 * be the block's. One that holds nothing could not be printed in its place. */
static hone_node_id last_alloc(const hone_func *func, hone_node_id block) {
    hone_node_id last = hone_func_node(func, block)->last;
    if (last == HONE_NO_ID) return HONE_NO_ID;
    const hone_node *node = hone_func_node(func, last);
    if (node->kind != HONE_NODE_ALLOC) return HONE_NO_ID;
    const hone_buffer_info *info = &func->buffers[node->u.alloc.buffer];
    bool fits =
        info->form == HONE_BUFFER_PLAIN &&
        (stands_in_front(func, last) || (node->first != HONE_NO_ID && has_fixed_layout(info)));
    return fits ? last : HONE_NO_ID;
}

typedef struct lifted {
    hone_node_id alloc, first; /* what it held begins with first */
} lifted;

/* Those of a block in their order, each taken out of the tree. */
static bool take_allocs(script_parser *p, hone_node_id block, lifted **out, uint32_t *out_count) {
    uint32_t capacity = 0;
    *out = NULL;
    *out_count = 0;
    for (hone_node_id n = last_alloc(p->func, block); n != HONE_NO_ID;
         n = last_alloc(p->func, block)) {
        if (!script_grow(p, p->scratch, (void **)out, &capacity, *out_count, sizeof **out))
            return false;
        bool is_in_front = stands_in_front(p->func, n);
        hone_node_id first = is_in_front ? 0 : hone_func_node(p->func, n)->first;
        (*out)[(*out_count)++] = (lifted){n, first};
        hone_tree_remove(p->func, n);
        hone_tree_move_children(p->func, n, block);
    }
    return true;
}

static bool lift_allocs(script_parser *p, hone_node_id id) {
    hone_func *func = p->func;
    lifted *taken;
    uint32_t count;
    if (!take_allocs(p, id, &taken, &count)) return false;
    if (!count) return true;
    const hone_block *old = hone_func_node(func, id)->u.block.block;
    hone_block *block = hone_block_copy(p->arena, old);
    hone_buffer *allocs = script_alloc(p, p->arena, old->alloc_count + count, sizeof *allocs);
    if (!block || !allocs) return script_no_memory(p);
    if (old->alloc_count) memcpy(allocs, old->allocs, old->alloc_count * sizeof *allocs);
    for (uint32_t i = count; i-- > 0;) {
        hone_buffer buffer = hone_func_node(func, taken[i].alloc)->u.alloc.buffer;
        bool before_next = i + 1 < count && taken[i].first == taken[i + 1].alloc;
        if (before_next) taken[i].first = taken[i + 1].first;
        func->buffers[buffer].form = HONE_BUFFER_STATEMENT;
        func->buffers[buffer].stands_before = taken[i].first;
        allocs[old->alloc_count + i] = buffer;
    }
    block->allocs = allocs;
    block->alloc_count += count;
    hone_func_node(func, id)->u.block.block = block;
    return true;
}

bool script_lift_allocs(script_parser *p) {
    for (hone_node_id id = HONE_NODE_TOP; id != HONE_NO_ID;
         id = hone_tree_next(p->func, HONE_NODE_TOP, id)) {
        bool is_block = hone_func_node(p->func, id)->kind == HONE_NODE_BLOCK;
        if (is_block && !lift_allocs(p, id)) return false;
    }
    return true;
}
