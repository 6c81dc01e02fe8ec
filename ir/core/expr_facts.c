/* ir/core/expr_facts.c - what ops.def and intrins.def say, as functions. */
#include "ir/core/expr.h"

#include <string.h>

static const struct {
    const char *spelling, *function;
    int8_t commutes;
} ops[] = {
#define HONE_OP(name, spelling, named, commutes) {spelling, named, commutes},
#include "ir/core/ops.def"
#undef HONE_OP
};

static const struct {
    const char *spelling;
    int8_t arity, pure, math;
    hone_intrin_result result;
    const char *params;
} intrins[] = {
#define HONE_INTRIN(name, spelling, args, pure, math, result, params)                              \
    {spelling, args, pure, math, HONE_INTRIN_RESULT_##result, params},
#include "ir/core/intrins.def"
#undef HONE_INTRIN
};

const char *hone_op_spelling(hone_op op) {
    return ops[op].spelling ? ops[op].spelling : ops[op].function;
}

const char *hone_op_function(hone_op op) {
    return ops[op].function;
}

bool hone_op_commutes(hone_op op) {
    return ops[op].commutes;
}

bool hone_op_is_compare(hone_op op) {
    return op >= HONE_OP_EQ && op <= HONE_OP_GE;
}

hone_op hone_op_mirrored(hone_op op) {
    switch (op) {
    case HONE_OP_LT:
        return HONE_OP_GT;
    case HONE_OP_LE:
        return HONE_OP_GE;
    case HONE_OP_GT:
        return HONE_OP_LT;
    case HONE_OP_GE:
        return HONE_OP_LE;
    default:
        return op;
    }
}

const char *hone_intrin_spelling(hone_intrin intrin) {
    return intrins[intrin].spelling;
}

int hone_intrin_arity(hone_intrin intrin) {
    return intrins[intrin].arity;
}

const char *hone_intrin_params(hone_intrin intrin) {
    return intrins[intrin].params;
}

bool hone_intrin_is_pure(hone_intrin intrin) {
    return intrins[intrin].pure;
}

bool hone_intrin_is_math(hone_intrin intrin) {
    return intrins[intrin].math;
}

hone_intrin_result hone_intrin_result_rule(hone_intrin intrin) {
    return intrins[intrin].result;
}

bool hone_intrin_find(const char *spelling, hone_intrin *out_intrin) {
    for (int i = 0; i < HONE_INTRIN_COUNT; i++) {
        if (i == HONE_INTRIN_NAMED) continue; /* is spelled by its first argument */
        if (strcmp(intrins[i].spelling, spelling) == 0) {
            *out_intrin = (hone_intrin)i;
            return true;
        }
    }
    return false;
}

bool hone_expr_is_named(const hone_expr *e, const char *name) {
    return hone_expr_is_call(e, HONE_INTRIN_NAMED) && e->count > 0 &&
           e->args[0]->kind == HONE_EXPR_STRING && strcmp(e->args[0]->u.s, name) == 0;
}

bool hone_expr_is_vscale(const hone_expr *e) {
    return e->count == 1 && hone_expr_is_named(e, "vscale");
}

static bool is_scalable_node(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return hone_dtype_is_scalable(e->dtype) || hone_expr_is_vscale(e);
}

bool hone_expr_is_scalable(const hone_expr *e) {
    return hone_expr_find(e, is_scalable_node, NULL) != NULL;
}

const hone_expr *hone_expr_as_extreme(const hone_expr *e) {
    if (e->kind != HONE_EXPR_SELECT || !hone_expr_is_call(e->args[0], HONE_INTRIN_ISNAN))
        return NULL;
    const hone_expr *x = e->args[1], *extreme = e->args[2];
    bool is_one = hone_expr_is_op(extreme, HONE_OP_MAX) || hone_expr_is_op(extreme, HONE_OP_MIN);
    return is_one && hone_expr_same(e->args[0]->args[0], x) && hone_expr_same(extreme->args[0], x)
               ? extreme
               : NULL;
}
