/* tuner/space/space_facts.c - what rules share: trying steps, finding blocks. */
#include "tuner/space/space_rule.h"

#include <string.h>

#include "compile/first_schedule.h"
#include "schedule/primitive/primitives.h"

hone_status hone_rule_attempt(hone_status st, bool *out_done) {
    *out_done = st == HONE_OK;
    hone_code code = hone_status_code(st);
    if (code != HONE_CODE_ILLEGAL && code != HONE_CODE_NOT_FOUND) return st;
    hone_status_free(st);
    return HONE_OK;
}

hone_status hone_rule_keep(hone_schedule *sch, hone_rule_results *io_results) {
    assert(io_results->count < HONE_MAX_FORKS);
    io_results->items[io_results->count++] = sch;
    return HONE_OK;
}

hone_status hone_rule_fork(const hone_schedule *sch, hone_rule_variant variant,
                           const char *block_name, const hone_target *target, int32_t argument,
                           hone_rule_results *io_results) {
    if (io_results->count + 1 >= HONE_MAX_FORKS) return HONE_OK; /* one place for sch itself */
    hone_schedule *copy = NULL;
    HONE_TRY(hone_schedule_copy(sch, &copy));
    bool is_done = false;
    hone_status st = hone_rule_attempt(variant(copy, block_name, target, argument), &is_done);
    if (is_done) return hone_rule_keep(copy, io_results);
    hone_schedule_destroy(copy);
    return st;
}

hone_status hone_rule_fork_gpu(const hone_schedule *sch, hone_rule_gpu way, const char *block_name,
                               const hone_target *target, hone_rule_results *io_results) {
    const hone_gpu_limits limits = hone_gpu_limits_of(target);
    hone_schedule *copy = NULL;
    hone_rv block;
    bool is_done = false;
    HONE_TRY(hone_schedule_copy(sch, &copy));
    hone_status st = hone_sch_get_block(copy, block_name, &block);
    if (!st) st = way(copy, block, &limits);
    st = hone_rule_attempt(st, &is_done);
    if (is_done) return hone_rule_keep(copy, io_results);
    hone_schedule_destroy(copy);
    return st;
}

hone_status hone_rule_go_gpu(hone_schedule *sch, hone_rule_gpu way, bool keeps,
                             const char *block_name, const hone_target *target,
                             hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    bool is_block = node != HONE_NO_ID && node != hone_func_root_block(sch->func);
    if (is_block) st = hone_rule_fork_gpu(sch, way, block_name, target, out_results);
    if (st || keeps || out_results->count == 0) {
        hone_status kept = hone_rule_keep(sch, out_results);
        return st ? hone_status_join(st, kept) : kept;
    }
    hone_schedule_destroy(sch);
    return HONE_OK;
}

hone_node_id hone_rule_find_block(const hone_schedule *sch, const char *name) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind == HONE_NODE_BLOCK && strcmp(node->u.block.block->name, name) == 0) return n;
    }
    return HONE_NO_ID;
}
