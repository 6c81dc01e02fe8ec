/* tuner/space/space_rfactor.c - a reduction with little around it (the sum of a matrix, the norm of
 * a row) is cut into pieces that run in parallel and in vectors:
 *
 *   for s…: for r                for s…: for r0, r1, r2          r = all reduce loops, fused
 *     Y[s] += A[s, r]     →        Y_rf[s, r0 r2] += A[…]        r0 parallel, r2 a vector
 *                                for s…: for r0 r2: Y[s] += Y_rf[s, r0 r2]
 */
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

enum {
    MAX_LANES = 64,
    JOBS_PER_THREAD = 16,
    LEAST_REDUCTION = 32,
    MAX_SUMS = 16,
    FEW_COLUMNS = 48
};

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

/* Brings the reduce loops inside and makes one of them. */
static hone_status fuse_reduce(hone_schedule *sch, hone_rv block, const hone_reduction_facts *f,
                               hone_rv *out) {
    uint32_t count = 0, spatial = 0, reduce = 0;
    const hone_rv *loops = NULL;
    hone_rv order[HONE_NEST_MAX_LOOPS];
    HONE_TRY(hone_sch_get_loops(sch, block, &count, &loops));
    for (uint32_t i = 0; i < count; i++) {
        if (f->is_spatial[i]) order[spatial++] = loops[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!f->is_spatial[i]) order[spatial + reduce++] = loops[i];
    }
    if (count > 1) HONE_TRY(hone_sch_reorder(sch, count, order));
    *out = order[spatial];
    return reduce > 1 ? hone_sch_fuse(sch, reduce, order + spatial, true, out) : HONE_OK;
}

/* The reduction block of this name, with its facts and fuse_reduce of it. */
static hone_status begin(hone_schedule *sch, const char *block_name, hone_rv *out_block,
                         hone_reduction_facts *out_facts, hone_rv *out_whole) {
    hone_node_id node;
    HONE_TRY(hone_sch_get_block(sch, block_name, out_block));
    HONE_TRY(hone_schedule_node(sch, *out_block, &node));
    if (!hone_nest_reduction(sch, node, out_facts)) return illegal("no plain reduction");
    return fuse_reduce(sch, *out_block, out_facts, out_whole);
}

static hone_status mark_done(hone_schedule *sch, hone_rv block) {
    return hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("rfactor"),
                             HONE_NO_ID);
}

static hone_status factor(hone_schedule *sch, const char *block_name, const hone_target *target,
                          int32_t argument) {
    (void)target;
    (void)argument;
    hone_rv block, whole, pieces, rf;
    hone_reduction_facts f;
    HONE_TRY(begin(sch, block_name, &block, &f, &whole));
    const hone_rv *sizes = NULL, *parts = NULL, *again = NULL;
    HONE_TRY(hone_sch_sample_perfect_tile(sch, whole, 3, MAX_LANES, NULL, &sizes));
    hone_factor factors[3];
    for (uint32_t i = 0; i < 3; i++)
        factors[i] = HONE_FACTOR_OF_RV(sizes[i]);
    HONE_TRY(hone_sch_split(sch, whole, 3, factors, true, false, &parts));
    hone_rv order[] = {parts[0], parts[2], parts[1]};
    HONE_TRY(hone_sch_reorder(sch, 3, order));
    HONE_TRY(hone_sch_fuse(sch, 2, order, true, &pieces));
    HONE_TRY(hone_sch_rfactor(sch, pieces, f.output_rank, &rf));
    HONE_TRY(mark_done(sch, block));
    HONE_TRY(mark_done(sch, rf));
    /* the new block: r0, then what was around, r1, and the lanes innermost */
    uint32_t count = 0, n = 0;
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_get_loops(sch, rf, &count, &loops));
    if (count < 2 || count > HONE_NEST_MAX_LOOPS) return illegal("unexpected loops");
    hone_factor two[] = {factors[0], factors[2]};
    HONE_TRY(hone_sch_split(sch, loops[count - 2], 2, two, true, false, &again));
    hone_rv nest[HONE_NEST_MAX_LOOPS + 1];
    nest[n++] = again[0];
    for (uint32_t i = 0; i + 2 < count; i++)
        nest[n++] = loops[i];
    nest[n++] = loops[count - 1];
    nest[n++] = again[1];
    return hone_sch_reorder(sch, n, nest);
}

/* A few columns that are summed over many rows (the last layer of a classifier) fit into one or two
 * registers, and each addition waits for the one before. Rows are dealt out to several sums:
 *
 *   for s: for r                 for r0: for r1: for s: Y_rf[r1, s] += A[…]      s a vector,
 *     Y[s] += A[r, s]     →      for r1: for s: Y[s] += Y_rf[r1, s]              r1 unrolled
 */
static hone_status reduce_outside(hone_schedule *sch, hone_rv block, uint32_t reduce) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_get_loops(sch, block, &count, &loops));
    if (count <= reduce || count > HONE_NEST_MAX_LOOPS) return illegal("unexpected loops");
    hone_rv order[HONE_NEST_MAX_LOOPS];
    for (uint32_t i = 0; i < count; i++)
        order[i] = loops[(i + count - reduce) % count];
    return hone_sch_reorder(sch, count, order);
}

static hone_status deal_out(hone_schedule *sch, const char *block_name, const hone_target *target,
                            int32_t argument) {
    (void)target;
    (void)argument;
    hone_rv block, whole, rf;
    hone_reduction_facts f;
    HONE_TRY(begin(sch, block_name, &block, &f, &whole));
    const hone_rv *sizes = NULL, *parts = NULL;
    HONE_TRY(hone_sch_sample_perfect_tile(sch, whole, 2, MAX_SUMS, NULL, &sizes));
    hone_factor factors[] = {HONE_FACTOR_OF_RV(sizes[0]), HONE_FACTOR_OF_RV(sizes[1])};
    HONE_TRY(hone_sch_split(sch, whole, 2, factors, true, false, &parts));
    HONE_TRY(hone_sch_rfactor(sch, parts[1], 0, &rf));
    HONE_TRY(mark_done(sch, block));
    HONE_TRY(mark_done(sch, rf));
    HONE_TRY(reduce_outside(sch, rf, 2));
    return reduce_outside(sch, block, 1);
}

/* Worth it: no reuse that tiling would win, and more to reduce than to share out. */
static bool is_worth_it(const hone_reduction_facts *f, const hone_target *target) {
    int64_t jobs = (int64_t)target->num_threads * JOBS_PER_THREAD;
    if (f->reduce < LEAST_REDUCTION || f->is_spatially_contiguous || f->keeps_order) return false;
    return f->space < f->reduce && (!f->has_reuse || f->space <= jobs);
}

static bool is_latency_bound(const hone_reduction_facts *f) {
    return f->is_spatially_contiguous && f->space <= FEW_COLUMNS && f->reduce >= LEAST_REDUCTION &&
           !f->keeps_order;
}

hone_status hone_rule_add_rfactor(hone_schedule *sch, const char *block_name,
                                  const hone_target *target, hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    hone_reduction_facts f;
    if (node != HONE_NO_ID && hone_nest_reduction(sch, node, &f) && is_worth_it(&f, target)) {
        st = hone_rule_fork(sch, factor, block_name, target, 0, out_results);
    }
    if (!st && node != HONE_NO_ID && hone_nest_reduction(sch, node, &f) && is_latency_bound(&f)) {
        st = hone_rule_fork(sch, deal_out, block_name, target, 0, out_results);
    }
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
