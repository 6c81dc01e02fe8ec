/* tests/schedule/defaults/loop_counts.c - see loop_counts.h. */
#include "tests/schedule/defaults/loop_counts.h"

#include "tests/schedule/defaults/default_trial.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

/* Below a loop whose sums lowering collects. */
static bool is_collected(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = hone_func_node(func, loop)->parent; n != HONE_NO_ID;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR &&
            hone_attrs_find(&node->u.loop.annotations, "pragma_vector_reduce"))
            return true;
    }
    return false;
}

default_loops default_count_loops(const hone_func *func) {
    default_loops out = {.sums = 1};
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = hone_func_node(func, root)->first; n != HONE_NO_ID;
         n = hone_func_node(func, n)->next) {
        out.top++;
    }
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        out.parallel += node->loop_kind == HONE_LOOP_PARALLEL;
        out.unrolled += node->loop_kind == HONE_LOOP_UNROLLED;
        bool is_unrolled = node->loop_kind == HONE_LOOP_UNROLLED;
        if (is_unrolled && is_collected(func, n)) out.sums *= extent;
        out.vectorized += node->loop_kind == HONE_LOOP_VECTORIZED;
        out.collected += hone_attrs_find(&node->u.loop.annotations, "pragma_vector_reduce") != NULL;
        out.ahead += hone_attrs_int(&node->u.loop.annotations, "pragma_prefetch", 0);
        bool is_vector = node->loop_kind == HONE_LOOP_VECTORIZED;
        if (is_vector && extent > out.longest_vector) out.longest_vector = extent;
    }
    return out;
}

default_loops default_loops_of(const char *text) {
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_default_schedule(sch, &default_machines[0]));
    default_loops got = default_count_loops(sch->func);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    return got;
}
