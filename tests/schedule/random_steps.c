#include "tests/schedule/random_steps.h"

#include "tests/schedule/random_pick.h"

static hone_status step_split(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    hone_factor factors[3] = {{.kind = HONE_FACTOR_NONE}};
    uint32_t count = 2 + (uint32_t)hone_rng_below(rng, 2);
    for (uint32_t i = 1; i < count; i++) {
        factors[i] = HONE_FACTOR_OF_INT(1 + (int64_t)hone_rng_below(rng, 4));
    }
    return hone_sch_split(sch, loop, count, factors, hone_rng_below(rng, 2), false, NULL);
}

static hone_status step_tile(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_sample_perfect_tile(sch, loop, 3, 4, NULL, &parts));
    hone_factor factors[3];
    for (int i = 0; i < 3; i++)
        factors[i] = HONE_FACTOR_OF_RV(parts[i]);
    return hone_sch_split(sch, loop, 3, factors, true, false, NULL);
}

static hone_status step_partitioned_tile(hone_schedule *sch, hone_rng *rng) {
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

static hone_status step_fuse(hone_schedule *sch, hone_rng *rng) {
    hone_rv inner = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (inner == HONE_NO_ID) return hone_random_nothing();
    hone_node_id node;
    HONE_TRY(sch_resolve_loop(sch, inner, &node));
    hone_node_id parent = sch_node(sch, node)->parent;
    if (sch_node(sch, parent)->kind != HONE_NODE_FOR) return hone_random_nothing();
    hone_rv loops[2] = {hone_random_name(sch, parent), inner};
    return hone_sch_fuse(sch, 2, loops, true, NULL);
}

/* Loops at one depth of two blocks: the likelier to fit together. */
static hone_status step_merge(hone_schedule *sch, hone_rng *rng) {
    hone_rv loops[2];
    uint32_t depth = (uint32_t)hone_rng_below(rng, 3);
    for (int i = 0; i < 2; i++) {
        hone_rv block = hone_random_pick(sch, rng, HONE_NODE_BLOCK);
        uint32_t count = 0;
        const hone_rv *around = NULL;
        if (block == HONE_NO_ID) return hone_random_nothing();
        HONE_TRY(hone_sch_get_loops(sch, block, &count, &around));
        if (depth >= count) return hone_random_nothing();
        loops[i] = around[depth];
    }
    return hone_sch_merge(sch, 2, loops, NULL);
}

static hone_status step_partition(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    hone_factor factors[2] = {HONE_FACTOR_OF_INT(1 + (int64_t)hone_rng_below(rng, 4)),
                              HONE_FACTOR_OF_INT((int64_t)hone_rng_below(rng, 4))};
    if (factors[1].value == 0) factors[1].kind = HONE_FACTOR_NONE;
    uint32_t count = 1 + (uint32_t)hone_rng_below(rng, 2);
    return hone_sch_loop_partition(sch, loop, count, factors, hone_rng_below(rng, 2), NULL, NULL);
}

static hone_status step_reorder(hone_schedule *sch, hone_rng *rng) {
    hone_rv block = hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    if (block == HONE_NO_ID) return hone_random_nothing();
    hone_rv a = hone_random_loop_of(sch, rng, block), b = hone_random_loop_of(sch, rng, block);
    if (a == HONE_NO_ID || b == HONE_NO_ID) return hone_random_nothing();
    hone_rv loops[2] = {a, b};
    return hone_sch_reorder(sch, 2, loops);
}

static hone_status step_kind(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    switch (hone_rng_below(rng, 4)) {
    case 0:
        return hone_sch_parallel(sch, loop);
    case 1:
        return hone_sch_vectorize(sch, loop);
    case 2:
        return hone_sch_unroll(sch, loop);
    default:
        return hone_sch_bind(sch, loop, hone_rng_below(rng, 2) ? "threadIdx.x" : "blockIdx.x");
    }
}

static hone_status step_move(hone_schedule *sch, hone_rng *rng, bool is_reverse) {
    hone_rv block = hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    if (block == HONE_NO_ID) return hone_random_nothing();
    hone_node_id node;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    uint32_t count = 0;
    const hone_node_id *others = NULL;
    HONE_TRY(is_reverse ? sch_producers(sch, node, &count, &others)
                        : sch_consumers(sch, node, &count, &others));
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (count) {
        hone_node_id other = others[hone_rng_below(rng, count)];
        loop = hone_random_loop_of(sch, rng, hone_random_name(sch, other));
    }
    if (loop == HONE_NO_ID) return hone_random_nothing();
    bool keep = hone_rng_below(rng, 2);
    int64_t index = hone_rng_below(rng, 4) ? -1 : -2;
    return is_reverse ? hone_sch_reverse_compute_at(sch, block, loop, keep, index)
                      : hone_sch_compute_at(sch, block, loop, keep, index);
}

/* Some of the blocks that read what a block reads or writes, some of them twice. */
static uint32_t pick_consumers(hone_schedule *sch, hone_rng *rng, hone_rv block, bool is_write,
                               hone_rv out[4]) {
    hone_node_id node;
    uint32_t count = 0, wanted = (uint32_t)hone_rng_below(rng, 4);
    const hone_node_id *blocks = NULL;
    if (hone_rng_below(rng, 3)) return 0;
    if (hone_status_consume(sch_resolve_block(sch, block, &node))) return 0;
    if (!is_write) out[0] = block;
    hone_status st = sch_consumers(sch, node, &count, &blocks);
    if (hone_status_consume(st)) return 0;
    for (uint32_t i = !is_write; i < wanted; i++) {
        out[i] = count ? hone_random_name(sch, blocks[hone_rng_below(rng, count)])
                       : hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    }
    return wanted;
}

static hone_status step_cache(hone_schedule *sch, hone_rng *rng, bool is_write) {
    hone_rv block = hone_random_pick(sch, rng, HONE_NODE_BLOCK), out, consumers[4];
    if (block == HONE_NO_ID) return hone_random_nothing();
    int64_t index = (int64_t)hone_rng_below(rng, 2);
    uint32_t count = pick_consumers(sch, rng, block, is_write, consumers);
    return is_write ? hone_sch_cache_write(sch, block, index, "global", count, consumers, &out)
                    : hone_sch_cache_read(sch, block, index, "local", count, consumers, &out);
}

static hone_status step_decompose(hone_schedule *sch, hone_rng *rng) {
    hone_rv block = hone_random_pick(sch, rng, HONE_NODE_BLOCK), out;
    if (block == HONE_NO_ID) return hone_random_nothing();
    hone_rv loop = hone_random_loop_of(sch, rng, block);
    return loop == HONE_NO_ID ? hone_random_nothing()
                              : hone_sch_decompose_reduction(sch, block, loop, &out);
}

static hone_status step_rfactor(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR), out;
    return loop == HONE_NO_ID ? hone_random_nothing()
                              : hone_sch_rfactor(sch, loop, hone_rng_between(rng, -2, 1), &out);
}

static hone_status step_location(hone_schedule *sch, hone_rng *rng) {
    hone_rv block = hone_random_pick(sch, rng, HONE_NODE_BLOCK), loop;
    if (block == HONE_NO_ID) return hone_random_nothing();
    HONE_TRY(hone_sch_sample_compute_location(sch, block, NULL, &loop));
    return hone_sch_compute_at(sch, block, loop, true, -1);
}

static hone_status step_inline(hone_schedule *sch, hone_rng *rng, bool is_reverse) {
    hone_rv block = hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    if (block == HONE_NO_ID) return hone_random_nothing();
    return is_reverse ? hone_sch_reverse_compute_inline(sch, block)
                      : hone_sch_compute_inline(sch, block);
}

static hone_status step_small(hone_schedule *sch, hone_rng *rng) {
    hone_rv node =
        hone_random_pick(sch, rng, hone_rng_below(rng, 2) ? HONE_NODE_FOR : HONE_NODE_BLOCK);
    if (node == HONE_NO_ID) return hone_random_nothing();
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
    switch (hone_rng_below(rng, 3)) {
    case 0:
        return hone_sch_add_unit_loop(sch, node, NULL);
    case 1:
        return hone_sch_unannotate(sch, node, "note");
    default:
        return hone_sch_annotate(sch, node, "note", values[hone_rng_below(rng, HONE_COUNT(values))],
                                 HONE_NO_ID);
    }
}

static hone_status step_compute_at(hone_schedule *sch, hone_rng *rng) {
    return step_move(sch, rng, false);
}
static hone_status step_reverse_compute_at(hone_schedule *sch, hone_rng *rng) {
    return step_move(sch, rng, true);
}
static hone_status step_cache_read(hone_schedule *sch, hone_rng *rng) {
    return step_cache(sch, rng, false);
}
static hone_status step_cache_write(hone_schedule *sch, hone_rng *rng) {
    return step_cache(sch, rng, true);
}
static hone_status step_compute_inline(hone_schedule *sch, hone_rng *rng) {
    return step_inline(sch, rng, false);
}
static hone_status step_reverse_compute_inline(hone_schedule *sch, hone_rng *rng) {
    return step_inline(sch, rng, true);
}

/* A step that stands twice is tried twice as often. */
static const struct {
    const char *name;
    hone_status (*run)(hone_schedule *sch, hone_rng *rng);
} steps[] = {
    {"split",                   step_split                 },
    {"split",                   step_split                 },
    {"sample_perfect_tile",     step_tile                  },
    {"sample_partitioned_tile", step_partitioned_tile      },
    {"fuse",                    step_fuse                  },
    {"merge",                   step_merge                 },
    {"loop_partition",          step_partition             },
    {"reorder",                 step_reorder               },
    {"for_kind",                step_kind                  },
    {"compute_at",              step_compute_at            },
    {"compute_at",              step_compute_at            },
    {"reverse_compute_at",      step_reverse_compute_at    },
    {"cache_read",              step_cache_read            },
    {"cache_write",             step_cache_write           },
    {"decompose_reduction",     step_decompose             },
    {"rfactor",                 step_rfactor               },
    {"compute_inline",          step_compute_inline        },
    {"reverse_compute_inline",  step_reverse_compute_inline},
    {"sample_compute_location", step_location              },
    {"small",                   step_small                 },
};

hone_status hone_random_step(hone_schedule *sch, hone_rng *rng, const char **out_name) {
    uint64_t kind = hone_rng_below(rng, HONE_COUNT(steps) + 8);
    if (kind >= HONE_COUNT(steps) + 5) return hone_random_layout_step(sch, rng, out_name);
    if (kind >= HONE_COUNT(steps) + 3) return hone_random_nest_step(sch, rng, out_name);
    if (kind >= HONE_COUNT(steps)) return hone_random_buffer_step(sch, rng, out_name);
    *out_name = steps[kind].name;
    return steps[kind].run(sch, rng);
}
