/* tests/lower/device/gpu_recipe.c - see gpu_recipe.h. */
#include "tests/lower/device/gpu_recipe.h"

#include "schedule/primitive/primitives.h"
#include "support/data/rng.h"

enum { MOST_LOOPS = 8, MOST_BLOCKS = 16 };

typedef struct recipe {
    hone_schedule *sch;
    hone_rng rng;
    hone_status failure; /* other than a refusal */
    int64_t x, y;        /* threads of the launch in hand; 0: no such axis */
} recipe;

static uint64_t dice(recipe *r, uint64_t sides) {
    return hone_rng_below(&r->rng, sides);
}

static bool took(recipe *r, hone_status st) {
    hone_code code = hone_status_code(st);
    if (!st) return true;
    if (code == HONE_CODE_ILLEGAL || code == HONE_CODE_INVALID)
        hone_status_free(st);
    else
        r->failure = hone_status_join(r->failure, st);
    return false;
}

static uint32_t loops_of(recipe *r, hone_rv block, const hone_rv **out) {
    uint32_t count = 0;
    *out = NULL;
    if (!took(r, hone_sch_get_loops(r->sch, block, &count, out))) return 0;
    return count > MOST_LOOPS ? MOST_LOOPS : count;
}

/* The loop in two, the inner one of so many iterations. */
static bool split(recipe *r, hone_rv loop, int64_t inner, const hone_rv **out) {
    const hone_factor factors[2] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(inner)};
    return took(r, hone_sch_split(r->sch, loop, 2, factors, true, false, out));
}

static bool bind(recipe *r, hone_rv loop, const char *axis) {
    return took(r, hone_sch_bind(r->sch, loop, axis));
}

/* What is copied to shared memory below a loop: its own loops as one, over all threads. */
static void fetch_together(recipe *r, hone_rv copy, uint32_t around) {
    const hone_rv *loops, *parts;
    hone_rv fused;
    uint32_t count = loops_of(r, copy, &loops);
    if (count <= around) return;
    if (!took(r, hone_sch_fuse(r->sch, count - around, loops + around, true, &fused))) return;
    if (r->y && split(r, fused, r->y, &parts)) {
        bind(r, parts[1], "threadIdx.y");
        fused = parts[0];
    }
    if (r->x && split(r, fused, r->x, &parts)) bind(r, parts[1], "threadIdx.x");
}

static void stage(recipe *r, hone_rv block, int64_t operand) {
    const hone_rv *loops;
    hone_rv copy;
    if (!took(r, hone_sch_cache_read(r->sch, block, operand, "shared", 0, NULL, &copy))) return;
    uint32_t count = loops_of(r, block, &loops);
    if (count == 0) return;
    uint32_t at = (uint32_t)dice(r, count);
    if (!took(r, hone_sch_compute_at(r->sch, copy, loops[at], dice(r, 2), -1))) return;
    if (dice(r, 4)) fetch_together(r, copy, at + 1);
}

static void keep_in_registers(recipe *r, hone_rv block, hone_rv written) {
    const hone_rv *loops;
    uint32_t count = loops_of(r, block, &loops);
    if (count == 0) return;
    took(r, hone_sch_reverse_compute_at(r->sch, written, loops[dice(r, count)], dice(r, 2), -1));
}

/* Loops as blocks and threads, from the outside; what does not let itself be bound stays. */
static void bind_loops(recipe *r, hone_rv block) {
    static const int64_t threads[] = {2, 5, 8, 32};
    const hone_rv *loops, *parts;
    hone_rv outer = HONE_NO_ID;
    uint32_t count = loops_of(r, block, &loops), fused = 1 + (uint32_t)dice(r, count ? count : 1);
    r->x = r->y = 0;
    if (count == 0) return;
    outer = loops[0];
    if (fused > 1) took(r, hone_sch_fuse(r->sch, fused, loops, true, &outer));
    int64_t x = threads[dice(r, 4)], y = threads[dice(r, 2)];
    if (!split(r, outer, x, &parts)) return;
    if (bind(r, parts[1], "threadIdx.x")) r->x = x;
    outer = parts[0];
    if (dice(r, 3) == 0 && split(r, outer, y, &parts)) {
        if (bind(r, parts[1], "threadIdx.y")) r->y = y;
        outer = parts[0];
    }
    if (dice(r, 6) == 0 && split(r, outer, 2, &parts)) {
        bind(r, parts[1], "vthread.x");
        outer = parts[0];
    }
    if (dice(r, 5)) bind(r, outer, "blockIdx.x");
}

static void shape_inner(recipe *r, hone_rv block) {
    const hone_rv *loops;
    hone_rv init;
    uint32_t count = loops_of(r, block, &loops);
    if (count > 1 && dice(r, 3) == 0)
        took(r, hone_sch_decompose_reduction(r->sch, block, loops[1 + dice(r, count - 1)], &init));
    count = loops_of(r, block, &loops);
    if (count && dice(r, 3) == 0) took(r, hone_sch_vectorize(r->sch, loops[count - 1]));
    if (count && dice(r, 3) == 0) took(r, hone_sch_unroll(r->sch, loops[count - 1]));
}

static void shape_block(recipe *r, hone_rv block) {
    hone_rv written = HONE_NO_ID;
    if (dice(r, 3) == 0 &&
        !took(r, hone_sch_cache_write(r->sch, block, 0, "local", 0, NULL, &written)))
        written = HONE_NO_ID;
    bind_loops(r, block);
    if (written != HONE_NO_ID) keep_in_registers(r, block, written);
    for (int64_t operand = 0; operand < 2; operand++) {
        if (dice(r, 2)) stage(r, block, operand);
    }
    shape_inner(r, block);
}

hone_status gpu_recipe_apply(hone_schedule *sch, uint64_t seed) {
    recipe r = {.sch = sch, .rng = hone_rng_from_seed(seed * 77 + 5)};
    const hone_rv *children;
    hone_rv root, blocks[MOST_BLOCKS];
    uint32_t count = 0;
    HONE_TRY(hone_sch_get_block(sch, "root", &root));
    HONE_TRY(hone_sch_get_child_blocks(sch, root, &count, &children));
    if (count > MOST_BLOCKS) count = MOST_BLOCKS;
    for (uint32_t i = 0; i < count; i++)
        blocks[i] = children[i];
    for (uint32_t i = 0; i < count; i++) {
        if (dice(&r, 8)) shape_block(&r, blocks[i]);
    }
    return r.failure;
}
