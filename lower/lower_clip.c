/* lower/lower_clip.c
 * needs: no blocks. keeps: what is computed. A reduction loop whose whole body stands under a
 * condition like k0 * 64 + k1 < 500 ends early instead:
 *
 *   for k1 in 64: if k0 * 64 + k1 < 500: body   ⇒   for k1 in min(64, 500 - k0 * 64): body
 *
 * so that the body has no condition and what it accumulates can stay in registers. Loops that
 * place what is stored keep their constant extents (lower_version takes care of those). */
#include "lower/accesses.h"

typedef struct clipper {
    hone_lower *lower;
    hone_arith arith;
    hone_node_id loop, guard;
    bool *loops, *others;
    uint32_t var_count;
    const hone_expr *rest; /* conjuncts that stay */
    bool is_clipped;
} clipper;

static bool places_a_store(const hone_func *func, hone_node_id loop) {
    hone_var var = hone_func_node(func, loop)->u.loop.var;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE) continue;
        for (uint32_t d = 0; d < node->u.store.rank; d++) {
            if (hone_expr_uses_var(node->u.store.indices[d], var)) return true;
        }
    }
    return false;
}

/* The condition below a chain of loops that hold nothing else, or HONE_NO_ID. */
static hone_node_id guard_below(const hone_func *func, hone_node_id loop) {
    for (hone_node_id at = hone_func_node(func, loop)->first; at != HONE_NO_ID;
         at = hone_func_node(func, at)->first) {
        const hone_node *node = hone_func_node(func, at);
        if (node->next != HONE_NO_ID) return HONE_NO_ID;
        if (node->kind == HONE_NODE_IF) {
            bool has_else = node->last != HONE_NO_ID &&
                            hone_func_node(func, node->last)->kind == HONE_NODE_ELSE;
            return has_else ? HONE_NO_ID : at;
        }
        if (node->kind != HONE_NODE_FOR) return HONE_NO_ID;
    }
    return HONE_NO_ID;
}

/* c - a, where the condition is a + var < c and nothing else varies inside of the loop. */
static const hone_expr *limit_of(clipper *c, const hone_expr *part) {
    hone_ir *ir = &c->arith.ir;
    const hone_func *func = c->lower->func;
    hone_var var = hone_func_node(func, c->loop)->u.loop.var;
    if (!hone_expr_is_op(part, HONE_OP_LT) || !hone_expr_is_pure_index(part)) return NULL;
    if (!hone_dtype_equal(part->args[0]->dtype, func->vars[var].dtype)) return NULL;
    const hone_expr *gap = hone_expr_sub(ir, part->args[1], part->args[0]);
    int64_t coefficient;
    gap = gap ? hone_simplify(&c->arith, gap) : NULL;
    if (!gap || !hone_linear_coeff(&c->arith, gap, var, &coefficient) || coefficient != -1) {
        return NULL;
    }
    const hone_expr *zero = hone_expr_int(ir, func->vars[var].dtype, 0);
    const hone_expr *limit = zero ? hone_expr_substitute_one(ir, gap, var, zero) : NULL;
    if (!limit || hone_expr_uses_any(limit, c->loops, c->var_count) ||
        hone_expr_uses_any(limit, c->others, c->var_count)) {
        return NULL;
    }
    return limit;
}

static bool take_part(void *ctx, const hone_expr *part) {
    clipper *c = ctx;
    hone_node *loop = hone_func_node(c->lower->func, c->loop);
    const hone_expr *limit = limit_of(c, part);
    if (!limit) {
        c->rest = lower_and(&c->lower->ir, c->rest, part);
        return true;
    }
    hone_ir *ir = &c->lower->ir;
    limit = hone_expr_sub(ir, limit, loop->u.loop.range.min);
    const hone_expr *extent =
        limit ? hone_expr_binary(ir, HONE_OP_MIN, loop->u.loop.range.extent, limit) : NULL;
    const hone_expr *zero = hone_expr_int(ir, loop->u.loop.range.extent->dtype, 0);
    extent = extent && zero ? hone_expr_binary(ir, HONE_OP_MAX, extent, zero) : NULL;
    extent = extent ? hone_simplify(&c->arith, extent) : NULL;
    if (!extent) return false;
    loop->u.loop.range.extent = extent;
    c->is_clipped = true;
    return true;
}

static hone_status clip(clipper *c) {
    hone_func *func = c->lower->func;
    hone_arith_clear(&c->arith);
    if (!hone_arith_bind_sizes(&c->arith, func)) return LOWER_NO_MEMORY();
    HONE_TRY(lower_bind_around(func, c->loop, &c->arith));
    HONE_TRY(lower_mark_vars(func, c->loop, &c->arith, c->loops, c->others));
    c->rest = NULL;
    c->is_clipped = false;
    if (!lower_conjuncts(hone_func_node(func, c->guard)->u.eval.value, take_part, c)) {
        HONE_TRY(hone_ir_finish(&c->arith.ir));
        return hone_ir_finish(&c->lower->ir);
    }
    if (!c->is_clipped) return hone_ir_finish(&c->arith.ir);
    if (c->rest)
        hone_func_node(func, c->guard)->u.eval.value = c->rest;
    else
        lower_splice(func, c->guard);
    return hone_ir_finish(&c->arith.ir);
}

hone_status lower_clip(hone_lower *lower) {
    hone_func *func = lower->func;
    clipper c = {.lower = lower, .var_count = func->var_count};
    hone_arith_init(&c.arith, func->arena);
    c.loops = hone_arena_zalloc(func->arena, func->var_count + 1);
    c.others = hone_arena_zalloc(func->arena, func->var_count + 1);
    if (!c.loops || !c.others) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_SERIAL) continue;
        if (!hone_expr_is_int(node->u.loop.range.extent) || places_a_store(func, n)) continue;
        c.loop = n;
        c.guard = guard_below(func, n);
        if (c.guard != HONE_NO_ID) HONE_TRY(clip(&c));
    }
    return hone_ir_finish(&c.arith.ir);
}
