/* schedule/primitive/choose/prim_sample.c - sample_perfect_tile, sample_partitioned_tile,
 * sample_categorical, sample_compute_location: the random steps of a trace. A decision that is
 * given is used, and repaired where it no longer fits; else one is drawn. */
#include "schedule/primitive/choose/sample.h"
#include "schedule/primitive/primitive_impl.h"

#include <float.h>
#include <string.h>

/* Factors, which are the decision as well. */
static hone_status record_factors(hone_schedule *sch, hone_inst_kind kind,
                                  const hone_step_arg *args, uint32_t n, const int64_t *factors,
                                  const hone_rv **out_factors) {
    hone_rv_value *values = hone_arena_alloc(sch->arena, n * sizeof *values);
    hone_rv *rvs = hone_arena_alloc(sch->arena, n * sizeof *rvs);
    hone_rv first = 0;
    if (!values || !rvs) return sch_no_memory();
    for (uint32_t i = 0; i < n; i++)
        values[i] = (hone_rv_value){.kind = HONE_RV_INT, .node = HONE_NO_ID, .value = factors[i]};
    HONE_TRY(sch_record_values(sch, kind, args, n, values, (hone_decision){n, factors}, &first));
    for (uint32_t i = 0; i < n; i++)
        rvs[i] = first + i;
    if (out_factors) *out_factors = rvs;
    return HONE_OK;
}

/* ---- perfect tile ---- */

/* "decision [2, 3, 2] for loop 'i' of extent 12", in the arena. */
static const char *decision_name(hone_schedule *sch, hone_node_id loop,
                                 const hone_decision *decision) {
    const char *text = "decision [";
    bool is_long = decision->count > HONE_MAX_TILE_PARTS;
    uint32_t shown = is_long ? HONE_MAX_TILE_PARTS : decision->count;
    for (uint32_t i = 0; i < shown && text; i++) {
        text = hone_arena_printf(sch->arena, "%s%s%lld", text, i ? ", " : "",
                                 (long long)decision->values[i]);
    }
    int64_t extent = hone_expr_const(sch_node(sch, loop)->u.loop.range.extent);
    const char *name = sch_loop_name(sch, loop);
    const char *end = is_long ? ", ..." : "";
    if (text && extent >= 1) {
        text = hone_arena_printf(sch->arena, "%s%s] for %s of extent %lld", text, end, name,
                                 (long long)extent);
    } else if (text) {
        text = hone_arena_printf(sch->arena, "%s%s] for %s", text, end, name);
    }
    return text ? text : "decision";
}

/* Factors whose product is not the extent are repaired, where they are used; below 1 is none. */
static hone_status check_factors(hone_schedule *sch, hone_node_id loop, uint32_t n,
                                 const hone_decision *decision, bool is_used) {
    if (!decision) return HONE_OK;
    if (decision->count != n) {
        return sch_refuse(sch, loop, "the %s has %u factors, n is %u",
                          decision_name(sch, loop, decision), decision->count, n);
    }
    for (uint32_t i = 0; i < n && is_used; i++) {
        if (decision->values[i] >= 1) continue;
        return sch_refuse(sch, loop, "factor %lld of the %s must be at least 1",
                          (long long)decision->values[i], decision_name(sch, loop, decision));
    }
    return HONE_OK;
}

static void decide_tile(hone_schedule *sch, int64_t extent, uint32_t n, int64_t limit,
                        const hone_decision *decision, int64_t *out) {
    if (extent < 1) { /* not constant: everything stays in the first part */
        for (uint32_t i = 0; i < n; i++)
            out[i] = i ? 1 : -1;
    } else if (decision) {
        memcpy(out, decision->values, n * sizeof *out);
        if (sch->fits_tiles)
            hone_fit_perfect_tile(extent, n, limit, out);
        else
            hone_repair_perfect_tile(extent, n, out);
    } else {
        hone_sample_perfect_tile(&sch->rng, extent, n, limit, out);
    }
}

hone_status hone_sch_sample_perfect_tile(hone_schedule *sch, hone_rv loop_rv, uint32_t n,
                                         int64_t max_innermost_factor,
                                         const hone_decision *decision,
                                         const hone_rv **out_factors) {
    hone_node_id loop;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    if (n < 1 || n > HONE_MAX_TILE_PARTS) {
        return sch_refuse(sch, loop, "n is %u, must be from 1 to %d", n, HONE_MAX_TILE_PARTS);
    }
    if (max_innermost_factor == 0 || max_innermost_factor < -1) {
        return sch_refuse(sch, loop, "max_innermost_factor is %lld, must be at least 1, or -1",
                          (long long)max_innermost_factor);
    }
    int64_t extent = hone_expr_const(sch_node(sch, loop)->u.loop.range.extent);
    HONE_TRY(check_factors(sch, loop, n, decision, extent >= 1));
    int64_t *factors = hone_arena_alloc(sch->arena, n * sizeof *factors);
    if (!factors) return sch_no_memory();
    decide_tile(sch, extent, n, max_innermost_factor, decision, factors);
    return record_factors(sch, HONE_INST_SAMPLE_PERFECT_TILE,
                          SCH_ARGS(SCH_RV(loop_rv), SCH_INT(n), SCH_INT(max_innermost_factor), {0}),
                          n, factors, out_factors);
}

/* ---- partitioned tile ---- */

static hone_status check_partition(hone_schedule *sch, hone_node_id loop, uint32_t n, int64_t pos,
                                   int64_t inner, const hone_decision *decision) {
    if (n < 1 || n > HONE_MAX_TILE_PARTS) {
        return sch_refuse(sch, loop, "n is %u, must be from 1 to %d", n, HONE_MAX_TILE_PARTS);
    }
    if (pos < 0 || pos >= n) {
        return sch_refuse(sch, loop, "partition_pos is %lld, must be from 0 to %u", (long long)pos,
                          n - 1);
    }
    if (inner < 1) {
        return sch_refuse(sch, loop, "innerpart_factor is %lld, must be at least 1",
                          (long long)inner);
    }
    int64_t extent = hone_expr_const(sch_node(sch, loop)->u.loop.range.extent);
    return check_factors(sch, loop, n, decision, extent >= 1 && extent % inner == 0);
}

hone_status hone_sch_sample_partitioned_tile(hone_schedule *sch, hone_rv loop_rv, uint32_t n,
                                             int64_t partition_pos, int64_t innerpart_factor,
                                             const hone_decision *decision,
                                             const hone_rv **out_factors) {
    hone_node_id loop;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    HONE_TRY(check_partition(sch, loop, n, partition_pos, innerpart_factor, decision));
    int64_t *factors = hone_arena_alloc(sch->arena, n * sizeof *factors);
    if (!factors) return sch_no_memory();
    int64_t extent = hone_expr_const(sch_node(sch, loop)->u.loop.range.extent);
    uint32_t pos = (uint32_t)partition_pos;
    if (extent < 1 || extent % innerpart_factor) {
        for (uint32_t i = 0; i < n; i++)
            factors[i] = i ? 1 : -1;
    } else if (decision) {
        memcpy(factors, decision->values, n * sizeof *factors);
        hone_repair_partitioned_tile(extent, n, pos, innerpart_factor, factors);
    } else {
        hone_sample_partitioned_tile(&sch->rng, extent, n, pos, innerpart_factor, factors);
    }
    return record_factors(sch, HONE_INST_SAMPLE_PARTITIONED_TILE,
                          SCH_ARGS(SCH_RV(loop_rv), SCH_INT(n), SCH_INT(partition_pos),
                                   SCH_INT(innerpart_factor), {0}),
                          n, factors, out_factors);
}

/* ---- categorical ---- */

static hone_status check_single(hone_schedule *sch, const hone_decision *decision) {
    if (!decision || decision->count == 1) return HONE_OK;
    return sch_refuse(sch, HONE_NO_ID, "the decision has %u values, must have one",
                      decision->count);
}

static hone_status check_probs(hone_schedule *sch, uint32_t count, const double *probs) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(probs[i] >= 0)) return sch_refuse(sch, HONE_NO_ID, "probability %u is negative", i);
        sum += probs[i];
    }
    if (sum > DBL_MAX) return sch_refuse(sch, HONE_NO_ID, "the probabilities are too large");
    if (count && sum > 0) return HONE_OK;
    return sch_refuse(sch, HONE_NO_ID,
                      "sample_categorical has no candidate with a probability "
                      "above 0");
}

hone_status hone_sch_sample_categorical(hone_schedule *sch, uint32_t count,
                                        const int64_t *candidates, const double *probs,
                                        const hone_decision *decision, hone_rv *out) {
    HONE_TRY(check_probs(sch, count, probs));
    int64_t *choice = hone_arena_alloc(sch->arena, sizeof *choice);
    if (!choice) return sch_no_memory();
    HONE_TRY(check_single(sch, decision));
    if (decision) {
        *choice = decision->values[0];
        if (*choice < 0 || *choice >= count) {
            return sch_refuse(sch, HONE_NO_ID, "decision %lld is no index of %u candidates",
                              (long long)*choice, count);
        }
    } else {
        *choice = (int64_t)hone_rng_weighted(&sch->rng, probs, count);
    }
    hone_rv_value value = {.kind = HONE_RV_INT, .node = HONE_NO_ID, .value = candidates[*choice]};
    return sch_record_values(
        sch, HONE_INST_SAMPLE_CATEGORICAL,
        SCH_ARGS(SCH_LIST(count, numbers, candidates), SCH_LIST(count, reals, probs), {0}), 1,
        &value, (hone_decision){1, choice}, out);
}

/* ---- compute location ---- */

/* The loops around the first consumer that stand above all consumers: candidates, outermost first.
 */
static hone_status common_loops(hone_schedule *sch, uint32_t consumer_count,
                                const hone_node_id *consumers, uint32_t *out_count,
                                const hone_node_id **out) {
    HONE_TRY(sch_loops_of(sch, consumers[0], out_count, out));
    for (uint32_t i = 1; i < consumer_count; i++) {
        while (*out_count &&
               !hone_tree_is_ancestor(sch->func, (*out)[*out_count - 1], consumers[i])) {
            --*out_count;
        }
    }
    return HONE_OK;
}

/* How many of the loops to look at: none behind the last spatial one. */
static uint32_t count_candidates(hone_schedule *sch, uint32_t count, const hone_node_id *loops) {
    while (count && sch_loop_type_of(sch, loops[count - 1]) != SCH_LOOP_DATA_PARALLEL)
        count--;
    return count;
}

/* Fills in the legal locations: -2 inline, -1 root, then indices of loops; loops of one iteration
 * are no places. */
static hone_status find_locations(hone_schedule *sch, hone_node_id block, uint32_t *out_count,
                                  int64_t **out_locations, const hone_node_id **out_loops) {
    uint32_t consumer_count = 0, loop_count = 0, count = 0;
    const hone_node_id *consumers = NULL;
    HONE_TRY(sch_consumers(sch, block, &consumer_count, &consumers));
    if (consumer_count) {
        HONE_TRY(common_loops(sch, consumer_count, consumers, &loop_count, out_loops));
    }
    int64_t *list = hone_arena_alloc(sch->arena, (loop_count + 2) * sizeof *list);
    if (!list) return sch_no_memory();
    if (sch_can_compute_inline(sch, block)) list[count++] = -2;
    list[count++] = -1;
    bool met_reduce = false;
    loop_count = count_candidates(sch, loop_count, *out_loops);
    for (uint32_t i = 0; i < loop_count; i++) {
        hone_node_id loop = (*out_loops)[i];
        if (hone_expr_is_int_value(sch_node(sch, loop)->u.loop.range.extent, 1)) continue;
        sch_loop_type type = sch_loop_type_of(sch, loop);
        /* a spatial loop inside a reduction would compute the producer over and over */
        if (type == SCH_LOOP_DATA_PARALLEL && met_reduce) break;
        met_reduce = met_reduce || type != SCH_LOOP_DATA_PARALLEL;
        if (sch_can_compute_at(sch, block, loop)) list[count++] = i;
    }
    *out_count = count;
    *out_locations = list;
    return HONE_OK;
}

/* A decision that is no longer legal becomes the greatest one below it. */
static int64_t nearest_location(uint32_t count, const int64_t *locations, int64_t wanted) {
    int64_t best = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (locations[i] == wanted) return wanted;
        if (locations[i] < wanted && locations[i] > best) best = locations[i];
    }
    return best;
}

hone_status hone_sch_sample_compute_location(hone_schedule *sch, hone_rv block_rv,
                                             const hone_decision *decision, hone_rv *out) {
    hone_node_id block;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    if (sch_scope_of(sch, block) == HONE_NO_ID) {
        return sch_refuse(sch, block, "the root block has no other place");
    }
    uint32_t count = 0;
    int64_t *locations = NULL;
    const hone_node_id *loops = NULL;
    HONE_TRY(find_locations(sch, block, &count, &locations, &loops));
    int64_t *choice = hone_arena_alloc(sch->arena, sizeof *choice);
    if (!choice) return sch_no_memory();
    HONE_TRY(check_single(sch, decision));
    if (decision && decision->values[0] < -2) {
        return sch_refuse(
            sch, block, "decision %lld is no location: -2 is inline, -1 the root, 0 the first loop",
            (long long)decision->values[0]);
    }
    *choice = decision ? nearest_location(count, locations, decision->values[0])
                       : locations[hone_rng_below(&sch->rng, count)];
    uint32_t node = *choice == -2   ? HONE_RV_INLINE_MARK
                    : *choice == -1 ? HONE_RV_ROOT_MARK
                                    : loops[*choice];
    hone_rv_value value = {.kind = HONE_RV_LOOP, .node = node};
    return sch_record_values(sch, HONE_INST_SAMPLE_COMPUTE_LOCATION,
                             SCH_ARGS(SCH_RV(block_rv), {0}), 1, &value, (hone_decision){1, choice},
                             out);
}

/* ---- as instructions ---- */

static int64_t count_parts(const hone_inst *inst) {
    return inst->attr_count ? inst->attrs[0].u.i : 0;
}

/* n may be any number in a file. */
static hone_status check_parts(hone_inst_kind kind, int64_t n) {
    if (n >= 1 && n <= HONE_MAX_TILE_PARTS) return HONE_OK;
    return hone_inst_malformed(kind, "n must be from 1 to 16");
}

static hone_status apply_perfect(hone_schedule *sch, const hone_step_arg *a,
                                 const hone_decision *decision) {
    HONE_TRY(check_parts(HONE_INST_SAMPLE_PERFECT_TILE, a[1].number));
    return hone_sch_sample_perfect_tile(sch, a[0].rv, (uint32_t)a[1].number, a[2].number, decision,
                                        NULL);
}

static hone_status apply_partitioned(hone_schedule *sch, const hone_step_arg *a,
                                     const hone_decision *decision) {
    HONE_TRY(check_parts(HONE_INST_SAMPLE_PARTITIONED_TILE, a[1].number));
    return hone_sch_sample_partitioned_tile(sch, a[0].rv, (uint32_t)a[1].number, a[2].number,
                                            a[3].number, decision, NULL);
}

static hone_status apply_categorical(hone_schedule *sch, const hone_step_arg *a,
                                     const hone_decision *decision) {
    if (a[0].count != a[1].count) {
        return hone_inst_malformed(HONE_INST_SAMPLE_CATEGORICAL,
                                   "candidates and probabilities must be two lists of one length");
    }
    return hone_sch_sample_categorical(sch, a[0].count, a[0].list.numbers, a[1].list.reals,
                                       decision, NULL);
}

SCH_STEP(SAMPLE_PERFECT_TILE, apply_perfect(sch, a, decision), .gives = HONE_GIVES_INTS,
         .is_pure = true, .count_results = count_parts,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_INT("n", 0),
                  SCH_ARG_INT_OR("max_innermost_factor", 1, 16), SCH_ARG_DECISION});

SCH_STEP(SAMPLE_PARTITIONED_TILE, apply_partitioned(sch, a, decision), .gives = HONE_GIVES_INTS,
         .is_pure = true, .count_results = count_parts,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_INT("n", 0), SCH_ARG_INT_OR("partition_pos", 1, 0),
                  SCH_ARG_INT_OR("innerpart_factor", 2, 1), SCH_ARG_DECISION});

SCH_STEP(SAMPLE_CATEGORICAL, apply_categorical(sch, a, decision), .gives = HONE_GIVES_INT,
         .is_pure = true,
         .args = {SCH_ARG("candidates", VALUES, 0), SCH_ARG("probs", REALS, 1), SCH_ARG_DECISION});

SCH_STEP(SAMPLE_COMPUTE_LOCATION, hone_sch_sample_compute_location(sch, a[0].rv, decision, NULL),
         .gives = HONE_GIVES_LOOP, .is_pure = true, .args = {SCH_ARG_BLOCK(0), SCH_ARG_DECISION});
