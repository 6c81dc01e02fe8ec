#include "tests/support/program_text.h"

#include <string.h>

#include "ir/script.h"
#include "tests/support/hone_test.h"

const hone_func *hone_test_parse(const char *text, hone_module **out_module) {
    const hone_member *member;
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "test.py", out_module));
    HONE_ASSERT_OK(hone_module_pick(*out_module, NULL, &member));
    assert_int_equal(member->kind, HONE_MEMBER_FUNC);
    return member->func;
}

hone_node_id hone_test_block(const hone_func *func, const char *name) {
    hone_node_id n = 0;
    for (; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && strcmp(node->u.block.block->name, name) == 0) return n;
    }
    return HONE_NO_ID;
}
