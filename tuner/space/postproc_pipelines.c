/* tuner/space/postproc_pipelines.c - drops candidates whose steps left a software pipeline nothing
 * to overlap: code generation would refuse them (lower/pipeline). */
#include "tuner/space/space_rule.h"

bool hone_rule_is_pipeline(const hone_node *node) {
    return node->kind == HONE_NODE_FOR &&
           hone_attrs_find(&node->u.loop.annotations, "software_pipeline_stage");
}

static bool is_one_block(const hone_func *func, hone_node_id first) {
    return first != HONE_NO_ID && hone_func_node(func, first)->next == HONE_NO_ID &&
           hone_func_node(func, first)->kind == HONE_NODE_BLOCK;
}

/* Of the body, of the block that is all of it, and of a block that is all of that one. */
static bool has_several_statements(const hone_func *func, hone_node_id loop) {
    hone_node_id first = hone_func_node(func, loop)->first;
    for (int depth = 0; depth < 2 && is_one_block(func, first); depth++)
        first = hone_func_node(func, first)->first;
    return first != HONE_NO_ID && hone_func_node(func, first)->next != HONE_NO_ID;
}

/* A copy by way of registers counts as two, a pipeline inside of one as three. */
static bool counts_as_several(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (n != loop && hone_rule_is_pipeline(node)) return true;
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_attrs *attrs = &node->u.block.block->annotations;
        if (hone_attrs_find(attrs, "tirx.manifest_shared_memory_local_stage") ||
            hone_attrs_find(attrs, "tir.manifest_shared_memory_local_stage"))
            return true;
    }
    return false;
}

hone_status hone_verify_pipelines(hone_schedule *sch) {
    const hone_func *func = sch->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (!hone_rule_is_pipeline(node)) continue;
        if (node->loop_kind != HONE_LOOP_SERIAL && node->loop_kind != HONE_LOOP_UNROLLED)
            return HONE_ERROR(HONE_CODE_ILLEGAL, "a pipelined loop's iterations have no order");
        if (!has_several_statements(func, n) && !counts_as_several(func, n))
            return HONE_ERROR(HONE_CODE_ILLEGAL, "a pipelined loop has one statement left");
    }
    return HONE_OK;
}
