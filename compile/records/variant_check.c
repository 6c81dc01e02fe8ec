/* compile/records/variant_check.c - see variant_check.h. */
#include "compile/records/variant_check.h"

#include <math.h>

#include "graph/plan/tasks.h"
#include "ir/interp/interp.h"
#include "ir/values/input_fill.h"
#include "lower/signature/signature.h"
#include "measure/bound.h"
#include "measure/generator.h"

enum { ROUNDS = 2, ARENA_BYTES = 1 << 16, LEAST_STEPS = 1000000, MORE_STEPS = 100 };
#define MOST_FLOPS 1e8
#define MOST_STEPS INT64_C(1000000000) /* half a minute */

typedef struct checking {
    hone_arena *arena;
    const hone_variant *variant;
    const hone_func *func, *made; /* the program, and what the variant makes of it */
    hone_signature signature;
    hone_input_values *values; /* by parameter */
    hone_tensor **want, **got; /* by parameter */
    double flops;
} checking;

static hone_dtype type_of(const checking *c, uint32_t p) {
    return hone_func_buffer(c->func, c->func->params[p].buffer)->dtype;
}

/* out_problem: as of hone_func_suit_inputs. */
static hone_status suit_from(checking *c, bool is_small, const char **out_problem) {
    for (uint32_t p = 0; p < c->func->param_count; p++) {
        hone_generator g = hone_generator_default(type_of(c, p));
        bool is_place = is_small && g.kind == HONE_GENERATOR_INTEGER;
        c->values[p] = (hone_input_values){
            .span = is_place ? (hone_span){0,     1                      }
                : (hone_span){g.low, hone_generator_high(&g)},
            .is_input = c->signature.roles[p] != HONE_PARAM_OUT
        };
    }
    return hone_func_suit_inputs(c->func, c->arena, c->values, out_problem);
}

/* Where nothing suits for certain, small numbers do rather; running the program is the judge. */
static hone_status suit(checking *c) {
    const char *problem;
    HONE_TRY(hone_signature_of(c->func, c->arena, &c->signature));
    HONE_TRY(suit_from(c, false, &problem));
    return problem ? suit_from(c, true, &problem) : HONE_OK;
}

static hone_status make_tensor(const checking *c, uint32_t p, hone_tensor **out) {
    const hone_buffer_info *info = hone_func_buffer(c->func, c->func->params[p].buffer);
    int64_t shape[HONE_MAX_RANK];
    if (info->rank > HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a parameter of %u dimensions", info->rank);
    for (uint32_t d = 0; d < info->rank; d++)
        shape[d] = hone_expr_const(info->shape[d]);
    return hone_tensor_create(info->dtype, (int32_t)info->rank, shape, out);
}

/* Both get the same numbers. */
static hone_status fill(checking *c, uint64_t round) {
    for (uint32_t p = 0; p < c->func->param_count; p++) {
        hone_rng first = hone_rng_from_seed(round * 1000 + p), second = first;
        if (!hone_input_values_fill(&c->values[p], false, c->arena, &first, c->want[p]) ||
            !hone_input_values_fill(&c->values[p], false, c->arena, &second, c->got[p]))
            return HONE_NO_MEMORY("check of a variant");
    }
    return HONE_OK;
}

static double largest_of(const hone_tensor *tensor) {
    double largest = 0;
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++) {
        double size = fabs(hone_tensor_get_f64(tensor, i));
        if (isfinite(size) && size > largest) largest = size;
    }
    return largest;
}

static hone_status compare(const checking *c, uint32_t p) {
    const hone_tensor *want = c->want[p], *got = c->got[p];
    int64_t count = hone_tensor_count(want);
    double largest = largest_of(want), terms = c->flops / (double)(count > 0 ? count : 1);
    double bound = hone_rounding_bound(want->dtype, terms, largest);
    if (hone_dtype_is_float(want->dtype)) bound += c->variant->error * largest;
    hone_tensor_difference difference;
    HONE_TRY(hone_tensor_compare(got->dtype, got->data, want->dtype, want->data, count, bound,
                                 &difference));
    if (difference.wrong_count == 0) return HONE_OK;
    return HONE_ERROR(
        HONE_CODE_INVALID,
        "variant '%s' computes something else: of parameter %u ('%s') element %lld is "
        "%g, the program's is %g; %g apart, %g are allowed",
        c->variant->name, p, hone_func_buffer(c->func, c->func->params[p].buffer)->name,
        (long long)difference.max_index, difference.got, difference.want, difference.max_error,
        bound);
}

/* What takes too many steps is an answer, too. */
static hone_status interpret(const checking *c, const hone_func *func, hone_tensor **args,
                             int64_t max_steps, int64_t *out_steps, bool *out_ended) {
    const hone_interp_options options = {.max_steps = max_steps, .out_steps = out_steps};
    hone_status st = hone_interp_func(func, args, c->func->param_count, &options);
    *out_ended = hone_status_code(st) != HONE_CODE_CANCELLED;
    if (*out_ended) return st;
    hone_status_free(st);
    return HONE_OK;
}

/* How many steps a variant may take: much more than the program. */
static int64_t most_steps(int64_t of_program) {
    int64_t most = LEAST_STEPS + MORE_STEPS * of_program;
    return most < MOST_STEPS ? most : MOST_STEPS;
}

/* out_over: the program is too slow for it. */
static hone_status run_round(checking *c, uint64_t round, bool *out_over) {
    int64_t steps = 0, unused;
    bool has_ended;
    HONE_TRY(fill(c, round));
    HONE_TRY(interpret(c, c->func, c->want, MOST_STEPS, &steps, &has_ended));
    *out_over = !has_ended;
    if (*out_over) return HONE_OK;
    int64_t most = most_steps(steps);
    HONE_TRY(hone_status_annotate(interpret(c, c->made, c->got, most, &unused, &has_ended),
                                  "variant '%s'", c->variant->name));
    if (!has_ended) {
        return HONE_ERROR(
            HONE_CODE_INVALID,
            "variant '%s' has not ended after %lld steps, where the program takes %lld",
            c->variant->name, (long long)most, (long long)steps);
    }
    for (uint32_t p = 0; p < c->func->param_count; p++)
        HONE_TRY(compare(c, p));
    return HONE_OK;
}

static hone_status run(checking *c) {
    for (uint32_t p = 0; p < c->func->param_count; p++) {
        HONE_TRY(make_tensor(c, p, &c->want[p]));
        HONE_TRY(make_tensor(c, p, &c->got[p]));
    }
    HONE_TRY(suit(c));
    bool is_over = false;
    for (uint64_t round = 0; round < ROUNDS && !is_over; round++)
        HONE_TRY(run_round(c, round, &is_over));
    return HONE_OK;
}

static hone_status check(checking *c) {
    size_t count = (size_t)c->func->param_count + 1;
    hone_func *made;
    bool is_symbolic;
    HONE_TRY(hone_variant_apply(c->variant, c->func, c->arena, &made));
    c->made = made;
    c->flops = hone_func_flops(c->func, &is_symbolic);
    if (c->flops > MOST_FLOPS) return HONE_OK;
    c->values = hone_arena_zalloc(c->arena, count * sizeof *c->values);
    c->want = hone_arena_zalloc(c->arena, count * sizeof *c->want);
    c->got = hone_arena_zalloc(c->arena, count * sizeof *c->got);
    if (!c->values || !c->want || !c->got) return HONE_NO_MEMORY("check of a variant");
    hone_status st = run(c);
    for (uint32_t p = 0; p < c->func->param_count; p++) {
        hone_tensor_destroy(c->want[p]);
        hone_tensor_destroy(c->got[p]);
    }
    return st;
}

hone_status hone_variant_check(const hone_variant *variant, const hone_func *func) {
    checking c = {.arena = hone_arena_create(ARENA_BYTES), .variant = variant, .func = func};
    if (!c.arena) return HONE_NO_MEMORY("check of a variant");
    hone_status st = check(&c);
    hone_arena_destroy(c.arena);
    return st;
}
