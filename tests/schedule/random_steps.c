#include "tests/schedule/random_steps.h"

#include "schedule/schedule_impl.h"

/* Gets hold of a block by recorded steps, so that the trace can be replayed: from the root down.
 * Where the root's name is not its own, the variable is bound without a step. */
static hone_rv name_block(hone_schedule *sch, hone_node_id block) {
    hone_node_id root = hone_func_root_block(sch->func);
    hone_rv rv = HONE_NO_ID;
    if (block == root) {
        hone_status st = hone_sch_get_block(sch, sch_block(sch, root)->name, &rv);
        return hone_status_consume(st) ? hone_schedule_bind_node(sch, block) : rv;
    }
    hone_node_id scope = sch_scope_of(sch, block);
    uint32_t count = 0;
    const hone_rv *children = NULL;
    hone_status st = hone_sch_get_child_blocks(sch, name_block(sch, scope), &count, &children);
    if (hone_status_consume(st)) return HONE_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        if (hone_status_consume(hone_schedule_node(sch, children[i], &node))) continue;
        if (node == block) return children[i];
    }
    return HONE_NO_ID;
}

static hone_rv name_node(hone_schedule *sch, hone_node_id node) {
    if (sch_node(sch, node)->kind == HONE_NODE_BLOCK) return name_block(sch, node);
    hone_node_id block = sch_next_block(sch, node, node);
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    if (block == HONE_NO_ID) return hone_schedule_bind_node(sch, node);
    hone_status st = hone_sch_get_loops(sch, name_block(sch, block), &count, &loops);
    if (hone_status_consume(st)) return HONE_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id at;
        if (hone_status_consume(hone_schedule_node(sch, loops[i], &at))) continue;
        if (at == node) return loops[i];
    }
    return HONE_NO_ID;
}

/* All nodes of one kind that are in the tree (the root block left out), picked from at random. */
static hone_rv pick(hone_schedule *sch, hone_rng *rng, hone_node_kind kind) {
    hone_node_id root = hone_func_root_block(sch->func);
    uint32_t count = 0;
    hone_node_id found = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != kind || n == root) continue;
        if (hone_rng_below(rng, ++count) == 0) found = n;
    }
    return found == HONE_NO_ID ? HONE_NO_ID : name_node(sch, found);
}

/* A loop around the block of another one is the likelier choice for compute_at and friends. */
static hone_rv pick_loop_of(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    const hone_node_id *loops = NULL;
    uint32_t count = 0;
    hone_node_id node;
    if (sch_resolve_block(sch, block, &node) != HONE_OK) return HONE_NO_ID;
    if (sch_loops_of(sch, node, &count, &loops) != HONE_OK || count == 0) return HONE_NO_ID;
    return name_node(sch, loops[hone_rng_below(rng, count)]);
}

static hone_status nothing(void) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "nothing to work on");
}

static hone_status step_split(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return nothing();
    hone_factor factors[3] = {{.kind = HONE_FACTOR_NONE}};
    uint32_t count = 2 + (uint32_t)hone_rng_below(rng, 2);
    for (uint32_t i = 1; i < count; i++) {
        factors[i] = HONE_FACTOR_OF_INT(1 + (int64_t)hone_rng_below(rng, 4));
    }
    return hone_sch_split(sch, loop, count, factors, hone_rng_below(rng, 2), false, NULL);
}

static hone_status step_tile(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return nothing();
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_sample_perfect_tile(sch, loop, 3, 4, NULL, &parts));
    hone_factor factors[3];
    for (int i = 0; i < 3; i++)
        factors[i] = HONE_FACTOR_OF_RV(parts[i]);
    return hone_sch_split(sch, loop, 3, factors, true, false, NULL);
}

static hone_status step_fuse(hone_schedule *sch, hone_rng *rng) {
    hone_rv inner = pick(sch, rng, HONE_NODE_FOR);
    if (inner == HONE_NO_ID) return nothing();
    hone_node_id node;
    HONE_TRY(sch_resolve_loop(sch, inner, &node));
    hone_node_id parent = sch_node(sch, node)->parent;
    if (sch_node(sch, parent)->kind != HONE_NODE_FOR) return nothing();
    hone_rv loops[2] = {name_node(sch, parent), inner};
    return hone_sch_fuse(sch, 2, loops, true, NULL);
}

static hone_status step_reorder(hone_schedule *sch, hone_rng *rng) {
    hone_rv block = pick(sch, rng, HONE_NODE_BLOCK);
    if (block == HONE_NO_ID) return nothing();
    hone_rv a = pick_loop_of(sch, rng, block), b = pick_loop_of(sch, rng, block);
    if (a == HONE_NO_ID || b == HONE_NO_ID) return nothing();
    hone_rv loops[2] = {a, b};
    return hone_sch_reorder(sch, 2, loops);
}

static hone_status step_kind(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = pick(sch, rng, HONE_NODE_FOR);
    if (loop == HONE_NO_ID) return nothing();
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
    hone_rv block = pick(sch, rng, HONE_NODE_BLOCK);
    if (block == HONE_NO_ID) return nothing();
    hone_node_id node;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    uint32_t count = 0;
    const hone_node_id *others = NULL;
    HONE_TRY(is_reverse ? sch_producers(sch, node, &count, &others)
                        : sch_consumers(sch, node, &count, &others));
    hone_rv loop = pick(sch, rng, HONE_NODE_FOR);
    if (count) {
        hone_node_id other = others[hone_rng_below(rng, count)];
        loop = pick_loop_of(sch, rng, name_node(sch, other));
    }
    if (loop == HONE_NO_ID) return nothing();
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
        out[i] = count ? name_node(sch, blocks[hone_rng_below(rng, count)])
                       : pick(sch, rng, HONE_NODE_BLOCK);
    }
    return wanted;
}

static hone_status step_cache(hone_schedule *sch, hone_rng *rng, bool is_write) {
    hone_rv block = pick(sch, rng, HONE_NODE_BLOCK), out, consumers[4];
    if (block == HONE_NO_ID) return nothing();
    int64_t index = (int64_t)hone_rng_below(rng, 2);
    uint32_t count = pick_consumers(sch, rng, block, is_write, consumers);
    return is_write ? hone_sch_cache_write(sch, block, index, "global", count, consumers, &out)
                    : hone_sch_cache_read(sch, block, index, "local", count, consumers, &out);
}

static hone_status step_decompose(hone_schedule *sch, hone_rng *rng) {
    hone_rv block = pick(sch, rng, HONE_NODE_BLOCK), out;
    if (block == HONE_NO_ID) return nothing();
    hone_rv loop = pick_loop_of(sch, rng, block);
    return loop == HONE_NO_ID ? nothing() : hone_sch_decompose_reduction(sch, block, loop, &out);
}

static hone_status step_rfactor(hone_schedule *sch, hone_rng *rng) {
    hone_rv loop = pick(sch, rng, HONE_NODE_FOR), out;
    return loop == HONE_NO_ID ? nothing()
                              : hone_sch_rfactor(sch, loop, hone_rng_between(rng, -2, 1), &out);
}

static hone_status step_location(hone_schedule *sch, hone_rng *rng) {
    hone_rv block = pick(sch, rng, HONE_NODE_BLOCK), loop;
    if (block == HONE_NO_ID) return nothing();
    HONE_TRY(hone_sch_sample_compute_location(sch, block, NULL, &loop));
    return hone_sch_compute_at(sch, block, loop, true, -1);
}

static hone_status step_inline(hone_schedule *sch, hone_rng *rng, bool is_reverse) {
    hone_rv block = pick(sch, rng, HONE_NODE_BLOCK);
    if (block == HONE_NO_ID) return nothing();
    return is_reverse ? hone_sch_reverse_compute_inline(sch, block)
                      : hone_sch_compute_inline(sch, block);
}

static hone_status step_small(hone_schedule *sch, hone_rng *rng) {
    hone_rv node = pick(sch, rng, hone_rng_below(rng, 2) ? HONE_NODE_FOR : HONE_NODE_BLOCK);
    if (node == HONE_NO_ID) return nothing();
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

hone_status hone_random_step(hone_schedule *sch, hone_rng *rng, const char **out_name) {
    static const char *const names[HONE_RANDOM_STEP_KINDS] = {
        "split",      "split",          "sample_perfect_tile",
        "fuse",       "reorder",        "for_kind",
        "compute_at", "compute_at",     "reverse_compute_at",
        "cache_read", "cache_write",    "decompose_reduction",
        "rfactor",    "compute_inline", "reverse_compute_inline",
        "small"};
    uint64_t kind = hone_rng_below(rng, HONE_RANDOM_STEP_KINDS + 1);
    *out_name = kind < HONE_RANDOM_STEP_KINDS ? names[kind] : "sample_compute_location";
    switch (kind) {
    case 0:
    case 1:
        return step_split(sch, rng);
    case 2:
        return step_tile(sch, rng);
    case 3:
        return step_fuse(sch, rng);
    case 4:
        return step_reorder(sch, rng);
    case 5:
        return step_kind(sch, rng);
    case 6:
    case 7:
        return step_move(sch, rng, false);
    case 8:
        return step_move(sch, rng, true);
    case 9:
        return step_cache(sch, rng, false);
    case 10:
        return step_cache(sch, rng, true);
    case 11:
        return step_decompose(sch, rng);
    case 12:
        return step_rfactor(sch, rng);
    case 13:
        return step_inline(sch, rng, false);
    case 14:
        return step_inline(sch, rng, true);
    case 15:
        return step_small(sch, rng);
    default:
        return step_location(sch, rng);
    }
}
