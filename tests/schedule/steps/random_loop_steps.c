/* tests/schedule/steps/random_loop_steps.c - random steps on loops. */
#include "schedule/primitive/primitives.h"
#include "tests/schedule/steps/random_pick.h"
#include "tests/schedule/steps/random_steps.h"

/* All factors, or one of them left to be inferred. */
static hone_status split(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    hone_factor factors[4];
    uint32_t count = 2 + (uint32_t)hone_rng_below(rng, 3);
    uint32_t inferred = hone_rng_below(rng, 3) ? 0 : (uint32_t)hone_rng_below(rng, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        factors[i] = HONE_FACTOR_OF_INT(1 + (int64_t)hone_rng_below(rng, 4));
        if (i == inferred) factors[i] = (hone_factor){.kind = HONE_FACTOR_NONE};
    }
    bool preserves = hone_rng_below(rng, 2), is_bare = hone_rng_below(rng, 8) == 0;
    return hone_sch_split(sch, loop, count, factors, preserves, is_bare, NULL);
}

static hone_status tile(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_sample_perfect_tile(sch, loop, 3, 4, NULL, &parts));
    hone_factor factors[3];
    for (int i = 0; i < 3; i++)
        factors[i] = HONE_FACTOR_OF_RV(parts[i]);
    return hone_sch_split(sch, loop, 3, factors, hone_rng_below(rng, 2), false, NULL);
}

static hone_status partitioned_tile(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    const hone_rv *parts = NULL;
    int64_t pos = (int64_t)hone_rng_below(rng, 3), inner = 1 + (int64_t)hone_rng_below(rng, 4);
    HONE_TRY(hone_sch_sample_partitioned_tile(sch, loop, 3, pos, inner, NULL, &parts));
    hone_factor factors[3];
    for (int i = 0; i < 3; i++)
        factors[i] = HONE_FACTOR_OF_RV(parts[i]);
    return hone_sch_split(sch, loop, 3, factors, true, hone_rng_below(rng, 2), NULL);
}

static hone_status categorical(hone_schedule *sch, hone_rng *rng) {
    static const int64_t candidates[] = {1, 2, 4, 3};
    static const double probs[] = {0.25, 0.25, 0.25, 0.25};
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR), drawn;
    if (loop == HONE_NO_ID) return hone_random_nothing();
    HONE_TRY(hone_sch_sample_categorical(sch, 4, candidates, probs, NULL, &drawn));
    if (hone_rng_below(rng, 3) == 0)
        return hone_sch_annotate(sch, loop, "note", HONE_VALUE_OF_INT(0), drawn);
    hone_factor factors[2] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_RV(drawn)};
    return hone_sch_split(sch, loop, 2, factors, hone_rng_below(rng, 2), false, NULL);
}

/* A loop with those around it, up to the first that has other children too. */
static hone_status fuse(hone_schedule *sch, hone_rng *rng) {
    hone_rv loops[3] = {0};
    uint32_t count = 2 + (hone_rng_below(rng, 4) == 0);
    hone_node_id node;
    loops[count - 1] = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loops[count - 1] == HONE_NO_ID) return hone_random_nothing();
    HONE_TRY(sch_resolve_loop(sch, loops[count - 1], &node));
    for (uint32_t i = count - 1; i > 0; i--) {
        node = sch_node(sch, node)->parent;
        if (sch_node(sch, node)->kind != HONE_NODE_FOR) return hone_random_nothing();
        loops[i - 1] = hone_random_name(sch, node);
    }
    return hone_sch_fuse(sch, count, loops, hone_rng_below(rng, 2), NULL);
}

static uint32_t depth_of(const hone_schedule *sch, hone_node_id node) {
    uint32_t depth = 0;
    while (node != 0) {
        depth += sch_node(sch, node)->kind == HONE_NODE_FOR;
        node = sch_node(sch, node)->parent;
    }
    return depth;
}

/* One of the other loops that a step can name, of the same depth and length: the likelier to fit.
 */
static hone_node_id pick_alike(const hone_schedule *sch, hone_rng *rng, hone_node_id loop) {
    const hone_expr *extent = sch_node(sch, loop)->u.loop.range.extent;
    hone_node_id found = HONE_NO_ID;
    uint32_t count = 0, depth = depth_of(sch, loop);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (n == loop || sch_node(sch, n)->kind != HONE_NODE_FOR) continue;
        if (depth_of(sch, n) != depth || sch_next_block(sch, n, n) == HONE_NO_ID) continue;
        if (!hone_expr_same(sch_node(sch, n)->u.loop.range.extent, extent)) continue;
        if (hone_rng_below(rng, ++count) == 0) found = n;
    }
    return found;
}

static hone_status merge(hone_schedule *sch, hone_rng *rng) {
    hone_rv loops[3];
    hone_node_id first;
    uint32_t count = 2 + (hone_rng_below(rng, 4) == 0);
    loops[0] = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loops[0] == HONE_NO_ID) return hone_random_nothing();
    HONE_TRY(sch_resolve_loop(sch, loops[0], &first));
    for (uint32_t i = 1; i < count; i++) {
        hone_node_id other = pick_alike(sch, rng, first);
        if (other == HONE_NO_ID) return hone_random_nothing();
        loops[i] = hone_random_name(sch, other);
    }
    return hone_sch_merge(sch, count, loops, NULL);
}

static hone_status partition(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    hone_factor factors[2] = {HONE_FACTOR_OF_INT(1 + (int64_t)hone_rng_below(rng, 4)),
                              HONE_FACTOR_OF_INT((int64_t)hone_rng_below(rng, 4))};
    if (factors[1].value == 0) factors[1].kind = HONE_FACTOR_NONE;
    uint32_t count = 1 + (uint32_t)hone_rng_below(rng, 2);
    return hone_sch_loop_partition(sch, loop, count, factors, hone_rng_below(rng, 2), NULL, NULL);
}

static hone_status reorder(hone_schedule *sch, hone_rng *rng) {
    hone_rv loops[4], block = hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    if (block == HONE_NO_ID) return hone_random_nothing();
    uint32_t count = 2 + (uint32_t)hone_rng_below(rng, 3);
    for (uint32_t i = 0; i < count; i++) {
        loops[i] = hone_random_loop_of(sch, rng, block);
        if (loops[i] == HONE_NO_ID) return hone_random_nothing();
    }
    return hone_sch_reorder(sch, count, loops);
}

static hone_status bind(hone_schedule *sch, hone_rng *rng) {
    static const char *const threads[] = {"threadIdx.x", "threadIdx.y", "blockIdx.x", "vthread.x"};
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    return hone_sch_bind(sch, loop, threads[hone_rng_below(rng, HONE_COUNT(threads))]);
}

static hone_status parallel(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    return loop == HONE_NO_ID ? hone_random_nothing() : hone_sch_parallel(sch, loop);
}

static hone_status vectorize(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    return loop == HONE_NO_ID ? hone_random_nothing() : hone_sch_vectorize(sch, loop);
}

static hone_status unroll(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    return loop == HONE_NO_ID ? hone_random_nothing() : hone_sch_unroll(sch, loop);
}

static hone_rv loop_or_block(hone_schedule *sch, hone_rng *rng) {
    return hone_random_pick(sch, rng, hone_rng_below(rng, 2) ? HONE_NODE_FOR : HONE_NODE_BLOCK);
}

static hone_status unit_loop(hone_schedule *sch, hone_rng *rng) {
    hone_rv node = loop_or_block(sch, rng);
    return node == HONE_NO_ID ? hone_random_nothing() : hone_sch_add_unit_loop(sch, node, NULL);
}

static hone_status annotate(hone_schedule *sch, hone_rng *rng) {
    static const hone_value items[] = {
        {.kind = HONE_VALUE_INT,    .u.i = 3         },
        {.kind = HONE_VALUE_STRING, .u.s = "x\"\n\\y"}
    };
    static const hone_attr members[] = {
        {"a", {.kind = HONE_VALUE_LIST, .count = 2, .u.items = items}},
        {"b", {.kind = HONE_VALUE_BOOL, .u.i = 1}                    }
    };
    static const hone_value values[] = {
        {.kind = HONE_VALUE_INT,    .u.i = -7    },
        {.kind = HONE_VALUE_BOOL,   .u.i = 1     },
        {.kind = HONE_VALUE_FLOAT,  .u.f = 0.1   },
        {.kind = HONE_VALUE_STRING, .u.s = "None"},
        {.kind = HONE_VALUE_LIST,   .count = 2,    .u.items = items},
        {.kind = HONE_VALUE_MAP,                         .count = 2,                 .u.attrs = members},
        {.kind = HONE_VALUE_LIST,       .count = 0   },
    };
    hone_rv node = loop_or_block(sch, rng);
    if (node == HONE_NO_ID) return hone_random_nothing();
    hone_status st = hone_sch_annotate(sch, node, "note",
                                       values[hone_rng_below(rng, HONE_COUNT(values))], HONE_NO_ID);
    if (hone_rng_below(rng, 4)) return st;
    hone_status_free(st); /* it may have had one */
    return hone_sch_unannotate(sch, node, "note");
}

hone_random_group hone_random_loop_steps(void) {
    static const hone_random_row rows[] = {
        HONE_STEP("split", split),
        HONE_STEP("split", split),
        HONE_STEP("sample_perfect_tile", tile),
        HONE_STEP("sample_partitioned_tile", partitioned_tile),
        HONE_STEP("sample_categorical", categorical),
        HONE_STEP("fuse", fuse),
        HONE_STEP("merge", merge),
        HONE_STEP("loop_partition", partition),
        HONE_STEP("reorder", reorder),
        HONE_STEP("reorder", reorder),
        HONE_STEP("parallel", parallel),
        HONE_STEP("vectorize", vectorize),
        HONE_STEP("unroll", unroll),
        HONE_STEP("bind", bind),
        HONE_STEP("add_unit_loop", unit_loop),
        HONE_STEP("annotate or unannotate", annotate),
    };
    return (hone_random_group){rows, HONE_COUNT(rows)};
}
