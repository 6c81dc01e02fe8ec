/* tests/schedule/steps/random_nest_steps.c - random steps that make blocks of nests, or change what
 * is inside blocks. */
#include "schedule/primitive/primitives.h"
#include "tests/schedule/steps/random_pick.h"
#include "tests/schedule/steps/random_steps.h"

#include <stdio.h>

/* A loop, or a block with the one whose nest stands behind its own. */
static hone_status blockize(hone_schedule *sch, hone_rng *rng) {
    hone_rv out, blocks[2];
    bool keep = hone_rng_below(rng, 2);
    if (hone_rng_below(rng, 3)) {
        hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
        return loop == HONE_NO_ID ? hone_random_nothing()
                                  : hone_sch_blockize_loop(sch, loop, keep, &out);
    }
    blocks[0] = hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    hone_node_id node;
    if (blocks[0] == HONE_NO_ID) return hone_random_nothing();
    HONE_TRY(sch_resolve_block(sch, blocks[0], &node));
    while (sch_node(sch, node)->next == HONE_NO_ID && node != 0)
        node = sch_node(sch, node)->parent;
    node = sch_node(sch, node)->next;
    if (node != HONE_NO_ID && sch_node(sch, node)->kind == HONE_NODE_FOR) {
        node = sch_next_block(sch, node, node);
    }
    if (node == HONE_NO_ID || sch_node(sch, node)->kind != HONE_NODE_BLOCK)
        return hone_random_nothing();
    blocks[1] = hone_random_name(sch, node);
    if (blocks[1] == HONE_NO_ID) return hone_random_nothing();
    return hone_sch_blockize_blocks(sch, 1 + (uint32_t)hone_rng_below(rng, 2), blocks, keep, &out);
}

/* ---- tensorize: copies, which cache_read and cache_write make ---- */

enum { LONGEST_COPY = 6 };

hone_tensor_intrins *hone_random_intrins(void) {
    hone_tensor_intrins *set = NULL;
    if (hone_status_consume(hone_tensor_intrins_create(&set))) return NULL;
    for (int n = 2; n <= LONGEST_COPY; n++) {
        hone_str text = {0};
        char name[32];
        snprintf(name, sizeof name, "copy_%d", n);
        hone_str_append(&text, "from tvm.script import tir as T\n");
        for (int k = 0; k < 2; k++) {
            hone_str_printf(&text,
                            "@T.prim_func\n"
                            "def %s(A: T.Buffer((%d,)), B: T.Buffer((%d,))):\n"
                            "    with T.block(\"root\"):\n"
                            "        T.reads(A[0:%d])\n"
                            "        T.writes(B[0:%d])\n",
                            k ? "impl" : "desc", n, n, n, n);
            hone_str_printf(&text,
                            k ? "        B[T.ramp(0, 1, %d)] = A[T.ramp(0, 1, %d)]\n"
                              : "        for i in range(%d):\n"
                                "            with T.block(\"\"):\n"
                                "                vi = T.axis.spatial(%d, i)\n"
                                "                B[vi] = A[vi]\n",
                            n, n);
        }
        hone_status st =
            hone_tensor_intrins_add(set, name, hone_str_text(&text), text.length, name);
        hone_str_deinit(&text);
        if (!hone_status_consume(st)) continue;
        hone_tensor_intrins_destroy(set);
        return NULL;
    }
    return set;
}

/* Mostly one that might fit: as long as the loop. */
static hone_status tensorize(hone_schedule *sch, hone_rng *rng) {
    hone_node_kind kind = hone_rng_below(rng, 3) ? HONE_NODE_FOR : HONE_NODE_BLOCK;
    hone_rv rv = hone_random_pick(sch, rng, kind);
    hone_node_id node;
    if (rv == HONE_NO_ID || !sch->intrins) return hone_random_nothing();
    HONE_TRY(sch_resolve_node(sch, rv, &node));
    int64_t length = 2 + (int64_t)hone_rng_below(rng, LONGEST_COPY - 1);
    if (kind == HONE_NODE_FOR) {
        int64_t extent = hone_expr_const(sch_node(sch, node)->u.loop.range.extent);
        if (extent >= 2 && extent <= LONGEST_COPY) length = extent;
    }
    char name[32];
    snprintf(name, sizeof name, "copy_%d", (int)length);
    return hone_sch_tensorize(sch, rv, name, hone_rng_below(rng, 2));
}

static hone_status pad(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_rv out, loop = hone_random_loop_of(sch, rng, block);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    return hone_sch_decompose_padding(sch, block, loop, &out);
}

hone_random_group hone_random_nest_steps(void) {
    static const hone_random_row rows[] = {
        HONE_STEP("blockize", blockize),
        HONE_STEP("blockize", blockize),
        HONE_STEP("tensorize", tensorize),
        HONE_STEP("tensorize", tensorize),
        HONE_STEP_ON(PADDING, "decompose_padding", pad),
    };
    return (hone_random_group){rows, HONE_COUNT(rows)};
}
