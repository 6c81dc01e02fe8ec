/* lower/pipeline/lower_stages.c - the pass that marks the stages of software pipelines.
 * needs: blocks with INIT. keeps: what is computed. Marks what the annotations of a software
 * pipeline count, before other passes move statements: each statement of the loop's body (of the
 * block that is its whole body; of an unguarded block with several statements in it) comes to stand
 * below an ATTR of its own, a pipelined loop below one that says so. An INIT that counts becomes a
 * condition. A copy that says manifest_shared_memory_local_stage counts as two. Writes down which
 * buffers `double_buffer_scope` names. */
#include "lower/ground/pipelined.h"
#include "lower/pipeline/double_buffer.h"

/* A loop that only wishes to be a pipeline is one statement all the same. */
static bool is_nest_of_three(const hone_node *node) {
    return lower_is_pipelined(node) &&
           !hone_attrs_find(&node->u.loop.annotations, LOWER_PIPELINE_WISH);
}

/* A copy to shared memory that TVM divides in two, by way of registers. */
static bool has_local_stage(const hone_func *func, hone_node_id id) {
    static const char *const names[] = {"tirx.manifest_shared_memory_local_stage",
                                        "tir.manifest_shared_memory_local_stage"};
    while (id != HONE_NO_ID && hone_func_node(func, id)->kind == HONE_NODE_FOR)
        id = hone_func_node(func, id)->first;
    if (id == HONE_NO_ID || hone_func_node(func, id)->kind != HONE_NODE_BLOCK) return false;
    const hone_attrs *attrs = &hone_func_node(func, id)->u.block.block->annotations;
    return hone_attrs_find(attrs, names[0]) || hone_attrs_find(attrs, names[1]);
}

/* Its loads count as a statement of their own: an empty one, they stay with the stores. */
static hone_status mark_loads(hone_lower *lower, hone_node_id id) {
    hone_node_id attr;
    HONE_TRY(lower_new_mark(lower, LOWER_PART, &attr));
    hone_tree_insert_before(lower->func, id, attr);
    return HONE_OK;
}

static hone_status mark_part(hone_lower *lower, hone_node_id id) {
    if (has_local_stage(lower->func, id)) HONE_TRY(mark_loads(lower, id));
    bool is_nest = is_nest_of_three(hone_func_node(lower->func, id));
    hone_node_id attr;
    HONE_TRY(lower_new_mark(lower, is_nest ? LOWER_NEST : LOWER_PART, &attr));
    lower_wrap(lower->func, id, attr);
    return HONE_OK;
}

static bool is_true(const hone_expr *predicate) {
    return !predicate || hone_expr_is_int_value(predicate, 1);
}

/* A block that stands for the statements in it. */
static bool is_sequence(const hone_node *node) {
    return node->kind == HONE_NODE_BLOCK && node->first != node->last &&
           is_true(node->u.block.predicate);
}

static hone_status mark_children(hone_lower *lower, hone_node_id parent, bool enters) {
    hone_func *func = lower->func;
    if (hone_func_node(func, parent)->kind == HONE_NODE_BLOCK) {
        hone_node_id init = hone_block_init_of(func, parent);
        if (init != HONE_NO_ID) HONE_TRY(lower_init_of(lower, parent, init));
    }
    hone_node_id next;
    for (hone_node_id n = hone_func_node(func, parent)->first; n != HONE_NO_ID; n = next) {
        next = hone_func_node(func, n)->next;
        const hone_node *node = hone_func_node(func, n);
        if (lower_is_alloc(func, node)) {
            HONE_TRY(mark_children(lower, n, enters));
        } else if (enters && is_sequence(node)) {
            HONE_TRY(mark_children(lower, n, false));
        } else {
            HONE_TRY(mark_part(lower, n));
        }
    }
    return HONE_OK;
}

static hone_status mark_loop(hone_lower *lower, hone_node_id loop) {
    const hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, loop);
    hone_node_id first = node->first;
    bool is_block = first != HONE_NO_ID && first == node->last &&
                    hone_func_node(func, first)->kind == HONE_NODE_BLOCK;
    return mark_children(lower, is_block ? first : loop, true);
}

static hone_status note_double_buffer(hone_lower *lower, const hone_block *block) {
    const hone_value *value = hone_attrs_find(&block->annotations, HONE_DOUBLE_BUFFER);
    if (!value) return HONE_OK;
    int64_t index = hone_attrs_int(&block->annotations, HONE_DOUBLE_BUFFER, -1);
    if (index < 0 || index >= block->write_count) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "block '%s' has '%s' %lld, but %u regions that it writes", block->name,
                          HONE_DOUBLE_BUFFER, (long long)index, block->write_count);
    }
    lower->is_double[block->writes[index].buffer] = true;
    return HONE_OK;
}

hone_status lower_stages(hone_lower *lower) {
    hone_func *func = lower->func;
    lower->is_double = hone_arena_zalloc(func->arena, func->buffer_count + 1);
    if (!lower->is_double) return LOWER_NO_MEMORY();
    lower->named_count = func->buffer_count;
    HONE_TRY(lower_double_buffers(lower));
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK) HONE_TRY(note_double_buffer(lower, node->u.block.block));
        if (lower_is_pipelined(node)) HONE_TRY(mark_loop(lower, n));
    }
    return HONE_OK;
}
