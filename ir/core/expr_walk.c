/* ir/core/expr_walk.c - questions about expressions, and rebuilding them. */
#include "ir/core/expr.h"

#include <string.h>

static bool same_payload(const hone_expr *a, const hone_expr *b) {
    switch ((hone_expr_kind)a->kind) {
    case HONE_EXPR_FLOAT:
        return memcmp(&a->u.f, &b->u.f, sizeof a->u.f) == 0;
    case HONE_EXPR_STRING:
        return strcmp(a->u.s, b->u.s) == 0;
    case HONE_EXPR_VAR:
    case HONE_EXPR_LET:
        return a->u.var == b->u.var;
    case HONE_EXPR_LOAD:
        return a->u.buffer == b->u.buffer;
    default:
        return a->u.i == b->u.i;
    }
}

bool hone_expr_same(const hone_expr *a, const hone_expr *b) {
    if (a == b) return true;
    if (!a || !b) return false;
    if (a->kind != b->kind || a->op != b->op || a->count != b->count) return false;
    if (!hone_dtype_equal(a->dtype, b->dtype) || !same_payload(a, b)) return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!hone_expr_same(a->args[i], b->args[i])) return false;
    }
    return true;
}

bool hone_expr_uses_var(const hone_expr *e, hone_var var) {
    if (e->kind == HONE_EXPR_VAR) return e->u.var == var;
    for (size_t i = 0; i < e->count; i++) {
        if (hone_expr_uses_var(e->args[i], var)) return true;
    }
    return false;
}

bool hone_expr_uses_any(const hone_expr *e, const bool *set, size_t count) {
    if (e->kind == HONE_EXPR_VAR) return e->u.var < count && set[e->u.var];
    for (size_t i = 0; i < e->count; i++) {
        if (hone_expr_uses_any(e->args[i], set, count)) return true;
    }
    return false;
}

bool hone_expr_is_load(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return e->kind == HONE_EXPR_LOAD;
}

bool hone_expr_loads(const hone_expr *e, hone_buffer buffer) {
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == buffer) return true;
    for (size_t i = 0; i < e->count; i++) {
        if (hone_expr_loads(e->args[i], buffer)) return true;
    }
    return false;
}

bool hone_expr_is_pure_index(const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD) return false;
    if (hone_expr_is_effect(e)) return false;
    for (size_t i = 0; i < e->count; i++) {
        if (!hone_expr_is_pure_index(e->args[i])) return false;
    }
    return true;
}

bool hone_expr_may_fail(const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD || hone_expr_may_trap(e) || hone_expr_is_effect(e)) return true;
    for (size_t i = 0; i < e->count; i++) {
        if (hone_expr_may_fail(e->args[i])) return true;
    }
    return false;
}

void hone_expr_walk(const hone_expr *e, hone_expr_visit visit, void *ctx) {
    if (!visit(ctx, e)) return;
    for (size_t i = 0; i < e->count; i++)
        hone_expr_walk(e->args[i], visit, ctx);
}

const hone_expr *hone_expr_find(const hone_expr *e, hone_expr_test is_it, const void *ctx) {
    if (is_it(ctx, e)) return e;
    const hone_expr *found = NULL;
    for (size_t i = 0; i < e->count && !found; i++)
        found = hone_expr_find(e->args[i], is_it, ctx);
    return found;
}

/* ---- rebuilding ---- */

enum { ARGS_ON_STACK = 8 };

/* Rebuilds e from children made by `child`; shares e when nothing changed. */
#define REBUILD(ir, e, child_expr)                                                                 \
    const hone_expr *stack_args[ARGS_ON_STACK];                                                    \
    const hone_expr **args = stack_args;                                                           \
    if ((e)->count > ARGS_ON_STACK) {                                                              \
        args = hone_arena_alloc((ir)->arena, (e)->count * sizeof *args);                           \
        if (!args) return hone_ir_fail((ir), HONE_ERROR(HONE_CODE_NO_MEMORY, "expression"));       \
    }                                                                                              \
    for (size_t i = 0; i < (e)->count; i++) {                                                      \
        args[i] = (child_expr);                                                                    \
        if (!args[i]) return NULL;                                                                 \
    }

const hone_expr *hone_expr_substitute(hone_ir *ir, const hone_expr *e, const hone_expr *const *map,
                                      size_t count) {
    if (!e) return NULL;
    if (e->kind == HONE_EXPR_VAR) {
        return e->u.var < count && map[e->u.var] ? map[e->u.var] : e;
    }
    if (e->count == 0) return e;
    REBUILD(ir, e, hone_expr_substitute(ir, e->args[i], map, count))
    return hone_expr_with_args(ir, e, args);
}

const hone_expr *hone_expr_substitute_one(hone_ir *ir, const hone_expr *e, hone_var var,
                                          const hone_expr *value) {
    if (!e) return NULL;
    if (e->kind == HONE_EXPR_VAR) return e->u.var == var ? value : e;
    if (e->count == 0) return e;
    REBUILD(ir, e, hone_expr_substitute_one(ir, e->args[i], var, value))
    return hone_expr_with_args(ir, e, args);
}

const hone_expr *hone_expr_transform(hone_ir *ir, const hone_expr *e, hone_expr_rewrite rewrite,
                                     void *ctx) {
    if (!e) return NULL;
    if (e->count == 0) return rewrite(ctx, ir, e);
    REBUILD(ir, e, hone_expr_transform(ir, e->args[i], rewrite, ctx))
    const hone_expr *rebuilt = hone_expr_with_args(ir, e, args);
    return rebuilt ? rewrite(ctx, ir, rebuilt) : NULL;
}

const hone_expr *hone_expr_copy(hone_ir *to, const hone_expr *e, const hone_var *var_map,
                                const hone_buffer *buffer_map) {
    if (!e) return NULL;
    hone_expr *copy = hone_arena_alloc(to->arena, sizeof *copy + e->count * sizeof copy->args[0]);
    if (!copy) return hone_ir_fail(to, HONE_ERROR(HONE_CODE_NO_MEMORY, "expression"));
    memcpy(copy, e, sizeof *copy);
    if (e->kind == HONE_EXPR_STRING) {
        copy->u.s = hone_arena_strdup(to->arena, e->u.s);
        if (!copy->u.s) return hone_ir_fail(to, HONE_ERROR(HONE_CODE_NO_MEMORY, "string"));
    } else if (e->kind == HONE_EXPR_VAR || e->kind == HONE_EXPR_LET) {
        if (var_map) copy->u.var = var_map[e->u.var];
    } else if (e->kind == HONE_EXPR_LOAD && buffer_map) {
        copy->u.buffer = buffer_map[e->u.buffer];
    }
    for (size_t i = 0; i < e->count; i++) {
        copy->args[i] = hone_expr_copy(to, e->args[i], var_map, buffer_map);
        if (!copy->args[i]) return NULL;
    }
    return copy;
}
