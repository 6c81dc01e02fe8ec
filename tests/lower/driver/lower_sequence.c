/* tests/lower/driver/lower_sequence.c - lowers programs under random steps, and compares after each
 * pass.
 */
#include "tests/lower/driver/lower_sequence.h"

#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "lower/signature/signature.h"
#include "tests/schedule/steps/random_sequence.h"
#include "tests/support/random_program.h"

enum { STEPS = 7 };

typedef struct oracle {
    const hone_func *base;
    hone_tensor **want;
    uint64_t seed;
    bool is_planned; /* allocations are where they belong */
} oracle;

static hone_status check_pass(void *ctx, const char *pass, const hone_func *func) {
    oracle *o = ctx;
    o->is_planned = o->is_planned || strcmp(pass, "plan_allocs") == 0;
    bool is_vector = strcmp(pass, "vectorize") == 0;
    hone_tensor **got = hone_test_make_args(o->base, o->seed);
    hone_interp_options options = {.check_uninitialised = true,
                                   .check_races = o->is_planned && !is_vector,
                                   .allow_repeats = true};
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    st = hone_test_compare(o->base, o->seed, o->want, got, st, func);
    return hone_status_annotate(st, "after %s", pass);
}

/* Asks for reductions in vectors at random loops: where there is none, nothing changes. */
static void ask_for_vectors(hone_func *func, hone_rng *rng) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        uint64_t dice = hone_rng_next(rng) % 12;
        if (node->kind != HONE_NODE_FOR || dice > 2) continue;
        (void)hone_attrs_with(func->arena, &node->u.loop.annotations, "pragma_vector_reduce",
                              HONE_VALUE_OF_INT((int64_t)dice), &node->u.loop.annotations);
    }
}

/* What the signature calls an output may hold anything before. Counts outputs of the program before
 * it was scheduled, and those of them that still are. */
static hone_status check_outputs(const hone_func *base, const hone_func *func, uint64_t seed,
                                 hone_tensor *const *want, hone_arena *arena, uint64_t *io_counts) {
    hone_signature before, after;
    HONE_TRY(hone_signature_of(base, arena, &before));
    HONE_TRY(hone_signature_of(func, arena, &after));
    hone_tensor **got = hone_test_make_args(base, seed);
    hone_rng rng = hone_rng_from_seed(seed + 1);
    for (uint32_t i = 0, b = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        io_counts[0] += before.roles[b] == HONE_PARAM_OUT;
        io_counts[1] += before.roles[b] == HONE_PARAM_OUT && after.roles[b] == HONE_PARAM_OUT;
        if (after.roles[b++] == HONE_PARAM_OUT) hone_tensor_fill_random(got[i], &rng, -99, 99);
    }
    hone_interp_options options = {0};
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    if (!st && !hone_test_args_agree(base, seed, got, want, NULL)) {
        st = HONE_ERROR(HONE_CODE_INTERNAL, "an output is read, or not written as a whole");
    }
    hone_test_free_args(base, got);
    return st;
}

static hone_status lower_and_check(const hone_func *base, hone_schedule *sch, uint64_t seed,
                                   hone_arena *arena, uint64_t *io_counts) {
    hone_target target;
    HONE_TRY(hone_target_parse(seed % 2 ? "x86-64-v4" : "x86-64-v3", &target));
    oracle o = {.base = base, .want = hone_test_make_args(base, seed), .seed = seed};
    hone_interp_options interp = {0};
    hone_status st = hone_interp_func(base, o.want, base->param_count, &interp);
    hone_lower_options options = {.target = &target, .after = check_pass, .ctx = &o};
    hone_func *lowered;
    if (!st) st = check_outputs(base, sch->func, seed, o.want, arena, io_counts);
    if (!st) st = hone_lower_func(sch->func, &options, arena, &lowered);
    hone_test_free_args(base, o.want);
    return st;
}

bool hone_lower_sequence(hone_arena *arena, const hone_func *base, uint64_t seed,
                         const hone_tensor_intrins *intrins, hone_lower_counts *io_counts) {
    hone_schedule *sch = NULL;
    if (hone_status_consume(hone_schedule_create(base, &sch))) return false;
    sch->intrins = intrins;
    hone_rng rng = hone_rng_from_seed(seed * 31 + 7);
    sch->rng = hone_rng_from_seed(seed);
    for (int i = 0; i < STEPS; i++)
        hone_status_free(hone_random_step(sch, &rng));
    ask_for_vectors(sch->func, &rng);
    hone_status st = lower_and_check(base, sch, seed, arena, io_counts->outputs);
    hone_code code = hone_status_code(st);
    bool fine = code == HONE_CODE_OK || code == HONE_CODE_UNSUPPORTED;
    io_counts->tried++;
    io_counts->lowered += code == HONE_CODE_OK;
    if (!fine) hone_explain_sequence(base, sch, seed, "lowering", hone_status_message(st));
    hone_status_free(st);
    hone_schedule_destroy(sch);
    return fine;
}
