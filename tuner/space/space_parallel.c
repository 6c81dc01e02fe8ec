/* tuner/space/space_parallel.c - annotates the root block with how many parallel jobs, which vector
 * length and how much unrolling the postprocessor shall aim at. Jobs and unrolling are sampled, so
 * that the search changes them like any other decision. One job is among the candidates: small
 * programs lose by threads. Where nothing is reduced, how many vectors go in a step and how many
 * steps in a chunk are all that there is to decide of most blocks. */
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

enum { VECTOR_ELEMENTS = 64, SMALL_WORK = 1 << 16 };

static int64_t total_work(const hone_schedule *sch) {
    int64_t sum = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = hone_func_node(sch->func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        int64_t product = 1;
        for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
            int64_t extent = hone_expr_const(node->u.block.block->axes[a].dom.extent);
            if (extent < 1 || extent > INT32_MAX || product > INT32_MAX) return INT64_MAX;
            product *= extent;
        }
        sum = product > INT64_MAX - sum ? INT64_MAX : sum + product;
    }
    return sum;
}

static bool has_reduction(const hone_schedule *sch) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (hone_func_node(sch->func, n)->kind != HONE_NODE_BLOCK) continue;
        if (hone_nest_has_reduce_axis(sch, n)) return true;
    }
    return false;
}

static hone_status annotate_sampled(hone_schedule *sch, hone_rv root, const char *key,
                                    uint32_t count, const int64_t *values, const double *probs) {
    hone_rv value;
    HONE_TRY(hone_sch_sample_categorical(sch, count, values, probs, NULL, &value));
    return hone_sch_annotate(sch, root, key, HONE_VALUE_OF_INT(0), value);
}

static hone_status annotate_jobs(hone_schedule *sch, hone_rv root, const hone_target *target) {
    int64_t threads = target->num_threads;
    if (threads <= 1) return HONE_OK;
    int64_t candidates[] = {1, threads, 4 * threads, 16 * threads};
    static const double large[] = {0.1, 0.3, 0.3, 0.3}, small[] = {0.55, 0.25, 0.1, 0.1};
    const double *probs = total_work(sch) < SMALL_WORK ? small : large;
    return annotate_sampled(sch, root, HONE_ANNOTATION_PARALLEL, 4, candidates, probs);
}

/* Of registers of 32-bit numbers; the postprocessor takes a quarter of the limit for one. */
static hone_status annotate_runs(hone_schedule *sch, hone_rv root, const hone_target *target) {
    const int64_t lanes = hone_target_lanes(target, 32);
    const int64_t elements[] = {lanes, 2 * lanes, 4 * lanes, 8 * lanes};
    static const int64_t chunks[] = {1, 16, 64, 256, 1024};
    static const double some[] = {0.2, 0.2, 0.4, 0.2}, any[] = {0.2, 0.2, 0.2, 0.2, 0.2};
    HONE_TRY(annotate_sampled(sch, root, HONE_ANNOTATION_VECTORIZE, HONE_COUNT(elements), elements,
                              some));
    return annotate_sampled(sch, root, HONE_ANNOTATION_CHUNK, HONE_COUNT(chunks), chunks, any);
}

static hone_status annotate(hone_schedule *sch, const char *root_name, const hone_target *target) {
    hone_rv root;
    bool is_cpu = !hone_target_is_gpu(target); /* whose threads and vectors other rules choose */
    HONE_TRY(hone_sch_get_block(sch, root_name, &root));
    if (is_cpu) HONE_TRY(annotate_jobs(sch, root, target));
    if (!has_reduction(sch))
        return is_cpu && hone_target_lanes(target, 32) > 1 ? annotate_runs(sch, root, target)
                                                           : HONE_OK;
    if (is_cpu)
        HONE_TRY(hone_sch_annotate(sch, root, HONE_ANNOTATION_VECTORIZE,
                                   HONE_VALUE_OF_INT(VECTOR_ELEMENTS), HONE_NO_ID));
    static const int64_t steps[] = {0, 16, 64, 512};
    static const double probs[] = {0.25, 0.25, 0.25, 0.25};
    return annotate_sampled(sch, root, HONE_ANNOTATION_UNROLL_EXPLICIT, 4, steps, probs);
}

hone_status hone_rule_parallel_vectorize_unroll(hone_schedule *sch, const char *block_name,
                                                const hone_target *target,
                                                hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    if (node != HONE_NO_ID && node == hone_func_root_block(sch->func)) {
        bool is_done;
        st = hone_rule_attempt(annotate(sch, block_name, target), &is_done);
    }
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
