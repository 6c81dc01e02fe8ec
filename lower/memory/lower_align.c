/* lower/memory/lower_align.c - the pass that keeps what storage_align asks for.
 * needs: blocks with their annotations. keeps: what is computed. A shared buffer whose rows begin
 * in the same banks of memory gets longer rows:
 *
 *   T.sblock_attr({"buffer_dim_align": [[0, 0, 32, 8]]})   L: (128, 32)  ⇒  (128, 40)
 *
 * 40 % 32 being 8. Buffers that views look into get them here, before these take their strides from
 * the shape; others keep the wish until they are as small as what is touched (lower_compact.c). */
#include <string.h>

#include "lower/memory/alignment.h"

#define WISH "buffer_dim_align"

static bool is_viewed(const hone_func *func, hone_buffer buffer) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->match_count; i++) {
            if (node->u.block.block->matches[i].source.buffer == buffer) return true;
        }
    }
    return false;
}

/* A wish is a list: number of the buffer, dimension, factor, offset. */
static bool read_wish(const hone_value *entry, int64_t out[4]) {
    if (entry->kind != HONE_VALUE_LIST || entry->count != 4) return false;
    for (int i = 0; i < 4; i++) {
        if (entry->u.items[i].kind != HONE_VALUE_INT) return false;
        out[i] = entry->u.items[i].u.i;
    }
    return out[0] >= 0 && out[1] >= 0 && out[2] >= 1;
}

/* The least length from `length` on by which a dimension of so long parts has the wanted stride; 0:
 * there is none. */
static int64_t length_for(int64_t length, int64_t part, int64_t factor, int64_t offset) {
    int64_t rest = ((offset % factor) + factor) % factor;
    for (int64_t more = 0; more < factor; more++) {
        if ((length + more) * part % factor == rest) return length + more;
    }
    return 0;
}

static hone_status widen(hone_lower *lower, hone_buffer buffer, const int64_t wish[4]) {
    hone_buffer_info *info = &lower->func->buffers[buffer];
    uint32_t d = (uint32_t)wish[1] + 1;
    int64_t part = 1;
    if (wish[1] + 1 >= info->rank || info->strides) return HONE_OK;
    for (uint32_t i = d; i < info->rank; i++) {
        int64_t length = hone_expr_const(info->shape[i]);
        if (length < 1 || length > INT32_MAX / part) return HONE_OK;
        if (i > d) part *= length;
    }
    int64_t length = length_for(hone_expr_const(info->shape[d]), part, wish[2], wish[3]);
    if (length == 0) return HONE_OK;
    const hone_expr **shape =
        hone_arena_copy(lower->func->arena, info->shape, info->rank * sizeof *shape);
    if (!shape) return LOWER_NO_MEMORY();
    shape[d] = hone_expr_int(&lower->ir, info->shape[d]->dtype, length);
    info->shape = shape;
    return hone_ir_finish(&lower->ir);
}

hone_status lower_align_buffer(hone_lower *lower, hone_buffer buffer) {
    int64_t wish[4];
    const hone_value *entry = hone_attrs_find(&lower->func->buffers[buffer].annotations, WISH);
    return entry && read_wish(entry, wish) ? widen(lower, buffer, wish) : HONE_OK;
}

static hone_status align(hone_lower *lower, const hone_block *block, const hone_value *entry) {
    int64_t wish[4];
    hone_func *func = lower->func;
    if (!read_wish(entry, wish) || wish[0] >= block->write_count) return HONE_OK;
    hone_buffer buffer = block->writes[wish[0]].buffer;
    hone_buffer_info *info = &func->buffers[buffer];
    if (!info->scope || strncmp(info->scope, "shared", 6) != 0) return HONE_OK;
    if (is_viewed(func, buffer)) return widen(lower, buffer, wish);
    bool is_kept =
        hone_attrs_with(func->arena, &info->annotations, WISH, *entry, &info->annotations);
    return is_kept ? HONE_OK : LOWER_NO_MEMORY();
}

hone_status lower_align(hone_lower *lower) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(lower->func, 0, n)) {
        const hone_node *node = hone_func_node(lower->func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        const hone_value *wishes = hone_attrs_find(&block->annotations, WISH);
        if (!wishes || wishes->kind != HONE_VALUE_LIST) continue;
        for (uint32_t i = 0; i < wishes->count; i++)
            HONE_TRY(align(lower, block, &wishes->u.items[i]));
    }
    return HONE_OK;
}
