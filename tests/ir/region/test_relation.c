/* tests/ir/region/test_relation.c - the questions of access relations, each with what shows it and
 * its counter-example. */
#include <stdio.h>
#include <string.h>

#include "ir/region/relation.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

#define HEAD                                                                                       \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((128, 128), \"float32\"), C: T.Buffer((128, 128), \"float32\")):\n"
#define AXES "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
#define BLOCK "  for i, j in T.grid(8, 8):\n    with T.block(\"B\"):\n" AXES

static const struct row {
    const char *name, *question, *loop, *body;
    bool want;
} rows[] = {
    {"an element each",               "injective",    NULL, BLOCK "      C[vj, vi] = 0.0\n",              true },
    {"two of one element",            "injective",    NULL, BLOCK "      C[vj, vi // 2] = 0.0\n",         false},
    {"boxes side by side",            "injective",    NULL,
     BLOCK "      T.writes(C[vi, vj * 4:vj * 4 + 4])\n      C[vi, vj * 4] = 0.0\n",                       true },
    {"boxes that begin off the grid", "injective",    NULL,
     BLOCK "      T.writes(C[vi, vj * 4 + 3:vj * 4 + 7])\n      C[vi, vj * 4 + 3] = 0.0\n",               true },
    {"boxes that overlap",            "injective",    NULL,
     "  for i in range(2):\n    with T.block(\"B\"):\n      vi = T.axis.spatial(2, i)\n"
     "      T.writes(C[0, vi + 3:vi + 7])\n      C[0, vi + 3] = 0.0\n",                                   false},
    {"a row of its own",              "injective in", "i",  BLOCK "      C[vi + 1, vj * vj] = 0.0\n",     true },
    {"digits together",               "injective in", "j",
     BLOCK "      C[(vi * 8 + vj) // 3, (vi * 8 + vj) % 3] = 0.0\n",                                      true },
    {"a diagonal",                    "injective in", "i",  BLOCK "      C[vi + vj, 0] = 0.0\n",          false},
    {"what it reads, too",            "injective in", "i",  BLOCK "      C[vi, 0] = C[vi + 1, 0]\n",      false},
    {"upwards",                       "carries",      "i",  BLOCK "      C[vi * 8 + vj, 0] = 0.0\n",      true },
    {"downwards",                     "carries",      "i",  BLOCK "      C[64 - vi * 8 - vj, 0] = 0.0\n", true },
    {"one row in common",             "carries",      "i",  BLOCK "      C[vi * 7 + vj, 0] = 0.0\n",      false},
    {"the row of the next iteration", "carries",      "i",  BLOCK "      C[vi + 1, vj] = C[vi, vj]\n",
     false                                                                                                     },
    {"inner iterations of one outer", "carries",      "j",  BLOCK "      C[vi + vj, 0] = 0.0\n",          true },
    {"one behind the other",          "disjoint",     NULL,
     BLOCK "      C[vi, 0] = 0.0\n  for i, j in T.grid(8, 8):\n    with T.block(\"D\"):\n" AXES
           "      C[vj + 8, vi] = 0.0\n",                                                                 true },
    {"the last is the first",         "disjoint",     NULL,
     BLOCK "      C[vi, 0] = 0.0\n  for i, j in T.grid(8, 8):\n    with T.block(\"D\"):\n" AXES
           "      C[vj + 7, vi] = 0.0\n",                                                                 false},
};

typedef struct asked {
    const hone_func *func;
    hone_arith arith;
    hone_node_id block;
} asked;

static hone_node_id loop_named(const asked *a, const char *name) {
    hone_node_id n = hone_func_node(a->func, a->block)->parent;
    while (strcmp(a->func->vars[hone_func_node(a->func, n)->u.loop.var].name, name) != 0)
        n = hone_func_node(a->func, n)->parent;
    return n;
}

static void bind_loops(asked *a) {
    for (hone_node_id n = 0; n < a->func->node_count; n++) {
        const hone_node *node = hone_func_node(a->func, n);
        if (node->kind == HONE_NODE_FOR)
            hone_arith_bind(&a->arith, node->u.loop.var, node->u.loop.range);
    }
}

static hone_relation relation_of(asked *a, hone_node_id block) {
    hone_relation rel;
    hone_buffer buffer = hone_func_node(a->func, block)->u.block.block->writes[0].buffer;
    hone_relation_begin(&rel, &a->arith, a->func, buffer, hone_func_root_block(a->func));
    hone_relation_add_block(&rel, block);
    return rel;
}

static bool is_injective(asked *a) {
    const hone_block *block = hone_func_node(a->func, a->block)->u.block.block;
    hone_iter iters[4];
    hone_relation rel;
    hone_relation_begin(&rel, &a->arith, a->func, block->writes[0].buffer, HONE_NO_ID);
    hone_relation_add_box(&rel, block->writes[0].ranges);
    for (uint32_t i = 0; i < block->axis_count; i++)
        iters[i] = (hone_iter){block->axes[i].var, block->axes[i].dom};
    return hone_is_injective(&rel, block->axis_count, iters);
}

static bool ask(asked *a, const struct row *row) {
    if (strcmp(row->question, "injective") == 0) return is_injective(a);
    hone_relation rel = relation_of(a, a->block);
    if (strcmp(row->question, "disjoint") == 0) {
        hone_relation other = relation_of(a, hone_test_block(a->func, "D"));
        return hone_is_disjoint(&rel, &other);
    }
    hone_node_id loop = loop_named(a, row->loop);
    return strcmp(row->question, "injective in") == 0 ? hone_is_injective_in(&rel, loop)
                                                      : hone_carries_no_dependence(&rel, loop);
}

static void answers(void **state) {
    const struct row *row = *state;
    char text[4096];
    hone_module *module = NULL;
    snprintf(text, sizeof text, "%s%s", HEAD, row->body);
    asked a = {.func = hone_test_parse(text, &module)};
    hone_arena *arena = hone_arena_create(4096);
    hone_arith_init(&a.arith, arena);
    a.block = hone_test_block(a.func, "B");
    bind_loops(&a);
    bool got = ask(&a, row);
    hone_status st = hone_ir_finish(&a.arith.ir);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    assert_int_equal(got, row->want);
}

int main(void) {
    return HONE_RUN_ROWS("ir/relation", rows, answers);
}
