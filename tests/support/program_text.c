/* tests/support/program_text.c - reads programs of tests. */
#include "tests/support/program_text.h"

#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "tests/support/hone_test.h"

const char hone_test_dense_relu[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64, 64), \"float32\"),\n"
    "         D: T.Buffer((64, 64), \"float32\")):\n"
    "    C = T.alloc_buffer((64, 64))\n"
    "    for i, j, k in T.grid(64, 64, 64):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
    "    for i, j in T.grid(64, 64):\n"
    "        with T.block(\"D\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n";

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

bool hone_test_reads_back(const hone_func *func, hone_str *out_why) {
    hone_str text = {0};
    hone_module *module = NULL;
    const hone_member *member = NULL;
    hone_status st = hone_func_print(func, NULL, &text);
    if (!st) st = hone_script_parse(hone_str_text(&text), text.length, "again.py", &module);
    if (!st) st = hone_module_pick(module, NULL, &member);
    if (st) hone_str_append(out_why, hone_status_message(st));
    bool is_same = !st && hone_hash128_equal(hone_func_hash(member->func), hone_func_hash(func));
    if (!st && !is_same) hone_str_append(out_why, "it is read as another program");
    hone_status_free(st);
    if (module) hone_module_release(module);
    hone_str_deinit(&text);
    return is_same;
}
