/* tests/schedule/steps/random_recipe_steps.c - several steps that people take together: a tiled sum
 * with its caches, padded sums, copies that are tensorized, chains of blocks below one loop, sums
 * below who reads them, caches within a block of a nest, threads that copy together. One that is
 * refused is left out; single steps seldom come in such an order. */
#include "schedule/primitive/primitives.h"
#include "tests/schedule/steps/random_pick.h"

enum { MOST_LOOPS = 6 };

typedef struct recipe {
    hone_schedule *sch;
    hone_rng *rng;
    uint32_t taken;
    hone_status failure; /* other than a refusal */
} recipe;

static uint64_t dice(const recipe *r, uint64_t sides) {
    return hone_rng_below(r->rng, sides);
}

static bool took(recipe *r, hone_status st) {
    hone_code code = hone_status_code(st);
    r->taken += !st;
    if (!st) return true;
    if (code == HONE_CODE_ILLEGAL || code == HONE_CODE_INVALID) {
        hone_status_free(st);
    } else {
        r->failure = hone_status_join(r->failure, st);
    }
    return false;
}

static hone_status end(const recipe *r) {
    return r->failure || r->taken ? r->failure : hone_random_nothing();
}

static const char *scope_of(const recipe *r) {
    static const char *const scopes[] = {"global", "local", "shared"};
    return scopes[dice(r, HONE_COUNT(scopes))];
}

/* The loops around a block; of more than MOST_LOOPS the inner ones. */
static uint32_t loops_of(recipe *r, hone_rv block, const hone_rv **out) {
    uint32_t count = 0;
    *out = NULL;
    if (!took(r, hone_sch_get_loops(r->sch, block, &count, out))) return 0;
    r->taken--; /* that changes nothing */
    if (count <= MOST_LOOPS) return count;
    *out += count - MOST_LOOPS;
    return MOST_LOOPS;
}

static hone_rv one_loop_of(recipe *r, hone_rv block) {
    const hone_rv *loops;
    uint32_t count = loops_of(r, block, &loops);
    return count ? loops[dice(r, count)] : HONE_NO_ID;
}

static void put_at(recipe *r, hone_rv block, hone_rv user, bool is_reverse) {
    hone_rv loop = one_loop_of(r, user);
    bool keep = dice(r, 2);
    if (loop == HONE_NO_ID) return;
    took(r, is_reverse ? hone_sch_reverse_compute_at(r->sch, block, loop, keep, -1)
                       : hone_sch_compute_at(r->sch, block, loop, keep, -1));
}

/* The outer loops in front of the inner ones. */
static void tile(recipe *r, hone_rv block) {
    const hone_rv *loops, *parts;
    hone_rv order[2 * MOST_LOOPS];
    uint32_t count = loops_of(r, block, &loops), outer = 0, inner = 0;
    hone_rv inners[MOST_LOOPS];
    for (uint32_t i = 0; i < count; i++) {
        hone_factor factors[2] = {{.kind = HONE_FACTOR_NONE},
                                  HONE_FACTOR_OF_INT(1 + (int64_t)dice(r, 4))};
        order[outer++] = loops[i];
        if (dice(r, 4) == 0) continue;
        if (!took(r, hone_sch_split(r->sch, loops[i], 2, factors, dice(r, 2), false, &parts)))
            continue;
        order[outer - 1] = parts[0];
        inners[inner++] = parts[1];
    }
    for (uint32_t i = 0; i < inner; i++)
        order[outer + i] = inners[i];
    if (inner) took(r, hone_sch_reorder(r->sch, outer + inner, order));
}

static void mark_loops(recipe *r, hone_rv block) {
    const hone_rv *loops;
    uint32_t count = loops_of(r, block, &loops);
    if (!count) return;
    if (dice(r, 2)) took(r, hone_sch_vectorize(r->sch, loops[count - 1]));
    if (dice(r, 3) == 0) took(r, hone_sch_unroll(r->sch, loops[dice(r, count)]));
    if (dice(r, 2)) took(r, hone_sch_parallel(r->sch, loops[0]));
}

static hone_status tiled_sum(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    recipe r = {.sch = sch, .rng = rng};
    hone_rv copies[2], written = HONE_NO_ID, init;
    if (dice(&r, 2)) took(&r, hone_sch_cache_write(sch, block, 0, scope_of(&r), 0, NULL, &written));
    tile(&r, block);
    if (written != HONE_NO_ID) put_at(&r, written, block, true);
    for (int64_t i = 0; i < 2; i++) {
        if (dice(&r, 2) &&
            took(&r, hone_sch_cache_read(sch, block, i, scope_of(&r), 0, NULL, &copies[i]))) {
            put_at(&r, copies[i], block, false);
        }
    }
    hone_rv loop = dice(&r, 2) ? one_loop_of(&r, block) : HONE_NO_ID;
    if (loop != HONE_NO_ID) took(&r, hone_sch_decompose_reduction(sch, block, loop, &init));
    mark_loops(&r, block);
    return end(&r);
}

static hone_status padded_sum(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    recipe r = {.sch = sch, .rng = rng};
    hone_node_id node;
    int64_t padding[8];
    uint32_t producers = 0, consumers = 0;
    const hone_rv *before = NULL, *behind = NULL;
    hone_rv constant;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    uint32_t count = sch_block(sch, node)->axis_count;
    if (count > 8) return hone_random_nothing();
    for (uint32_t i = 0; i < count; i++)
        padding[i] = 1 + (int64_t)dice(&r, 5);
    HONE_TRY(hone_sch_pad_einsum(sch, block, count, padding));
    r.taken = 1;
    tile(&r, block);
    took(&r, hone_sch_get_producers(sch, block, &producers, &before));
    took(&r, hone_sch_get_consumers(sch, block, &consumers, &behind));
    for (uint32_t i = 0; i < producers; i++) {
        uint64_t way = dice(&r, 4);
        hone_rv loop = way == 3 ? one_loop_of(&r, before[i]) : HONE_NO_ID;
        if (way == 0) took(&r, hone_sch_compute_inline(sch, before[i]));
        if (way == 1) put_at(&r, before[i], block, false);
        if (loop != HONE_NO_ID)
            took(&r, hone_sch_decompose_padding(sch, before[i], loop, &constant));
    }
    for (uint32_t i = 0; i < consumers; i++) {
        if (dice(&r, 2))
            put_at(&r, behind[i], block, true);
        else
            took(&r, hone_sch_reverse_compute_inline(sch, behind[i]));
    }
    return end(&r);
}

static void tensorize_inner(recipe *r, hone_rv block) {
    static const char *const names[] = {"copy_2", "copy_3", "copy_4"};
    const hone_rv *loops, *parts;
    uint32_t count = loops_of(r, block, &loops);
    int64_t length = 2 + (int64_t)dice(r, 3);
    hone_factor factors[2] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(length)};
    if (count && took(r, hone_sch_split(r->sch, loops[count - 1], 2, factors, true, false, &parts)))
        took(r, hone_sch_tensorize(r->sch, parts[1], names[length - 2], dice(r, 2)));
}

static hone_status copied(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    recipe r = {.sch = sch, .rng = rng};
    hone_rv copy;
    bool is_write = dice(&r, 2);
    int64_t index = is_write ? 0 : (int64_t)dice(&r, 2);
    hone_status st = is_write
                         ? hone_sch_cache_write(sch, block, index, scope_of(&r), 0, NULL, &copy)
                         : hone_sch_cache_read(sch, block, index, scope_of(&r), 0, NULL, &copy);
    if (!took(&r, st)) return end(&r);
    if (dice(&r, 2)) put_at(&r, copy, block, is_write);
    if (dice(&r, 2) && sch->intrins) tensorize_inner(&r, copy);
    mark_loops(&r, copy);
    return end(&r);
}

/* Those that a block reads below one of its loops, and those that they read. */
static hone_status chain(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    recipe r = {.sch = sch, .rng = rng};
    const hone_rv *before;
    uint32_t count;
    if (dice(&r, 2)) tile(&r, block);
    for (int depth = 0; depth < 3; depth++) {
        if (!took(&r, hone_sch_get_producers(sch, block, &count, &before)) || !count) break;
        r.taken--;
        for (uint32_t i = 0; i < count; i++)
            put_at(&r, before[i], block, false);
        hone_rv next = before[dice(&r, count)];
        if (dice(&r, 4) == 0) took(&r, hone_sch_rolling_buffer(sch, next, 0));
        if (dice(&r, 2)) block = next;
    }
    return end(&r);
}

static void fuse_some(recipe *r, hone_rv block) {
    const hone_rv *loops;
    hone_rv fused;
    uint32_t count = loops_of(r, block, &loops), own = 2 + (uint32_t)dice(r, 2);
    if (count >= own)
        took(r, hone_sch_fuse(r->sch, own, loops + dice(r, count - own + 1), dice(r, 2), &fused));
}

/* A sum below who reads it, where it makes some elements again, and its init. */
static hone_status sum_below_reader(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    recipe r = {.sch = sch, .rng = rng};
    const hone_rv *readers;
    hone_rv init;
    uint32_t count;
    if (!took(&r, hone_sch_get_consumers(sch, block, &count, &readers)) || !count) return end(&r);
    r.taken--;
    hone_rv reader = readers[dice(&r, count)];
    if (dice(&r, 2)) tile(&r, reader);
    if (dice(&r, 2)) fuse_some(&r, reader);
    put_at(&r, block, reader, false);
    if (dice(&r, 3) == 0) fuse_some(&r, block);
    hone_rv loop = one_loop_of(&r, block);
    if (loop != HONE_NO_ID) took(&r, hone_sch_decompose_reduction(sch, block, loop, &init));
    if (dice(&r, 3) == 0) mark_loops(&r, block);
    return end(&r);
}

/* A block of a nest, and caches of the one in it. */
static hone_status block_of_nest(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    recipe r = {.sch = sch, .rng = rng};
    hone_rv outer, copy;
    tile(&r, block);
    hone_rv loop = one_loop_of(&r, block);
    if (loop == HONE_NO_ID || !took(&r, hone_sch_blockize_loop(sch, loop, dice(&r, 2), &outer)))
        return end(&r);
    for (int i = 0; i < 2; i++) {
        hone_rv of = dice(&r, 4) ? block : outer;
        bool is_write = dice(&r, 3) == 0;
        hone_status st = is_write ? hone_sch_cache_write(sch, of, 0, scope_of(&r), 0, NULL, &copy)
                                  : hone_sch_cache_read(sch, of, (int64_t)dice(&r, 2), scope_of(&r),
                                                        0, NULL, &copy);
        if (dice(&r, 4) == 0 && !st) {
            put_at(&r, copy, of, is_write);
        }
        took(&r, st);
    }
    if (dice(&r, 3) == 0) took(&r, hone_sch_reindex(sch, block, dice(&r, 2), 0, &copy));
    if (dice(&r, 3) == 0) took(&r, hone_sch_cache_inplace(sch, block, 0, scope_of(&r), NULL));
    loop = one_loop_of(&r, outer);
    if (loop != HONE_NO_ID && dice(&r, 2))
        took(&r, hone_sch_decompose_reduction(sch, outer, loop, &copy));
    return end(&r);
}

/* Threads of a group that compute, and copy what they read together. */
static hone_status threads(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    recipe r = {.sch = sch, .rng = rng};
    const hone_rv *loops, *parts;
    hone_rv fused, copy;
    hone_factor factors[3] = {{.kind = HONE_FACTOR_NONE},
                              HONE_FACTOR_OF_INT(2 + (int64_t)dice(&r, 3)),
                              HONE_FACTOR_OF_INT(1 + (int64_t)dice(&r, 3))};
    uint32_t count = loops_of(&r, block, &loops);
    if (!count || !took(&r, hone_sch_split(sch, loops[0], 3, factors, true, false, &parts)))
        return end(&r);
    hone_rv group = parts[0];
    took(&r, hone_sch_bind(sch, group, "blockIdx.x"));
    took(&r, hone_sch_bind(sch, parts[1], "threadIdx.x"));
    const char *scope = dice(&r, 4) ? "shared" : "local";
    if (!took(&r, hone_sch_cache_read(sch, block, (int64_t)dice(&r, 2), scope, 0, NULL, &copy)))
        return end(&r);
    hone_rv at = dice(&r, 3) ? one_loop_of(&r, block) : group;
    if (at == HONE_NO_ID || !took(&r, hone_sch_compute_at(sch, copy, at, true, -1))) return end(&r);
    count = loops_of(&r, copy, &loops);
    uint32_t own = 1 + (uint32_t)dice(&r, 2);
    if (own > count || !took(&r, hone_sch_fuse(sch, own, loops + count - own, true, &fused)))
        return end(&r);
    if (took(&r, hone_sch_split(sch, fused, 2, factors, true, false, &parts)))
        took(&r, hone_sch_bind(sch, parts[1], "threadIdx.x"));
    return end(&r);
}

hone_random_group hone_random_recipe_steps(void) {
    static const hone_random_row rows[] = {
        HONE_STEP_ON(REDUCTION, "recipe: tiled sum", tiled_sum),
        HONE_STEP_ON(REDUCTION, "recipe: padded sum", padded_sum),
        HONE_STEP_ON(ANY, "recipe: copied", copied),
        HONE_STEP_ON(ANY, "recipe: chain", chain),
        HONE_STEP_ON(REDUCTION, "recipe: sum below its reader", sum_below_reader),
        HONE_STEP_ON(ANY, "recipe: block of a nest", block_of_nest),
        HONE_STEP_ON(ANY, "recipe: threads", threads),
    };
    return (hone_random_group){rows, HONE_COUNT(rows)};
}
