/* graph/plan/plan_checks.c - what must hold of the sizes of a plan for its steps to be right. */
#include "graph/plan/plan_impl.h"
#include "ir/core/grow.h"
#include "ir/ops/graph_infer.h"
#include "ir/region/size_needs.h"

hone_status plan_check_add(plan_checks *checks, const hone_plan_check *check) {
    if (!check->what || !hone_grow(checks->arena, (void **)&checks->items, &checks->capacity,
                                   checks->count, sizeof *checks->items)) {
        return HONE_NO_MEMORY("memory plan");
    }
    hone_plan_check *item = &checks->items[checks->count++];
    uint32_t got = hone_plan_phase_of(checks->plan, check->got);
    uint32_t wanted = hone_plan_phase_of(checks->plan, check->wanted);
    *item = *check;
    item->phase = got > wanted ? got : wanted;
    item->demand = item->phase < checks->phases_before ? checks->demand : 0;
    return HONE_OK;
}

static hone_status refuse(const plan_checks *checks, const hone_plan_check *check) {
    static const char *const words[] = {"", "at least ", "at most "};
    hone_str got = {0}, wanted = {0};
    hone_extent_describe(checks->graph, check->got, &got);
    if (check->wanted)
        hone_extent_describe(checks->graph, check->wanted, &wanted);
    else
        hone_str_append(&wanted, "a size that nothing gives");
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "'%s': %s is %s, wants %s%s", check->place, check->what,
                   hone_str_text(&got), words[check->relation], hone_str_text(&wanted));
    hone_str_deinit(&got);
    hone_str_deinit(&wanted);
    return st;
}

/* Surely, for all sizes from 1 on, and elements of tensors from 0 on. */
static bool holds(hone_arith *arith, const hone_plan_check *check) {
    if (check->relation == HONE_PLAN_SAME) {
        return hone_prove_equal(arith, check->got, check->wanted);
    }
    bool is_low = check->relation == HONE_PLAN_AT_LEAST;
    return hone_prove_less_equal(arith, is_low ? check->wanted : check->got,
                                 is_low ? check->got : check->wanted);
}

static hone_status know_sizes(const plan_checks *checks, hone_arith *out) {
    hone_arith_init(out, checks->arena);
    for (uint32_t v = 0; v < checks->plan->var_count; v++) {
        const hone_plan_var *var = &checks->plan->vars[v];
        int64_t most = var->most < 0 ? INT64_MAX : var->most;
        if (!hone_arith_bind_const(out, v, var->phase == 0, most))
            return HONE_NO_MEMORY("memory plan");
    }
    return HONE_OK;
}

hone_status plan_check_that(plan_checks *checks, const hone_plan_check *check) {
    hone_arith arith;
    HONE_TRY(know_sizes(checks, &arith));
    bool is_sure = holds(&arith, check);
    HONE_TRY(hone_ir_finish(&arith.ir));
    if (is_sure) return HONE_OK;
    bool is_known = hone_expr_is_int(check->got) && hone_expr_is_int(check->wanted);
    return is_known && !checks->demand ? refuse(checks, check) : plan_check_add(checks, check);
}

hone_status plan_check_is_positive(plan_checks *checks, const hone_expr *e, bool *out_is_so) {
    hone_arith arith;
    HONE_TRY(know_sizes(checks, &arith));
    const hone_expr *zero = hone_extent_int(&arith.ir, 0);
    *out_is_so = zero && hone_prove_less_equal(&arith, zero, e);
    return hone_ir_finish(&arith.ir);
}

/* ---- calls ---- */

typedef struct calling {
    plan_checks *checks;
    const hone_func *func;
    hone_fit *fit;
    hone_status st; /* the first failure */
} calling;

static void note_point(void *ctx, const hone_fit_point *point) {
    calling *c = ctx;
    hone_str what = {0};
    if (c->st) return;
    hone_fit_describe(point, &what);
    const hone_plan_check check = {.place = c->func->name,
                                   .what =
                                       hone_arena_strdup(c->checks->arena, hone_str_text(&what)),
                                   .got = point->got,
                                   .wanted = point->wanted};
    hone_str_deinit(&what);
    bool is_open = check.wanted && (!point->is_never || c->checks->demand);
    c->st = is_open ? plan_check_add(c->checks, &check) : refuse(c->checks, &check);
}

/* What compiled models can compute (compile/part_values.c). */
static bool is_other(const void *ctx, const hone_expr *e) {
    (void)ctx;
    bool is_arithmetic = hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_SUB) ||
                         hone_expr_is_op(e, HONE_OP_MUL) || hone_expr_is_op(e, HONE_OP_FLOORDIV) ||
                         hone_expr_is_op(e, HONE_OP_FLOORMOD) || hone_expr_is_op(e, HONE_OP_MIN) ||
                         hone_expr_is_op(e, HONE_OP_MAX);
    return !is_arithmetic && e->kind != HONE_EXPR_INT && e->kind != HONE_EXPR_VAR;
}

static bool is_computable(const hone_expr *e) {
    return e && !hone_expr_find(e, is_other, NULL);
}

static hone_status note_need(void *ctx, const hone_size_need *need) {
    calling *c = ctx;
    const hone_plan_check check = {
        .relation = need->is_low ? HONE_PLAN_AT_LEAST : HONE_PLAN_AT_MOST,
        .place = c->func->name,
        .what = hone_arena_printf(c->checks->arena, "the %s index of dimension %u of '%s'",
                                  need->is_low ? "least" : "largest", need->dim, need->buffer),
        .got = hone_fit_in_caller(c->fit, need->index),
        .wanted = hone_fit_in_caller(c->fit, need->limit)};
    if (!is_computable(check.got) || !is_computable(check.wanted)) return HONE_OK;
    return plan_check_that(c->checks, &check);
}

hone_status plan_check_call(plan_checks *checks, const hone_func *func,
                            const hone_fit_tensor *tensors, const hone_expr *const *scalars,
                            hone_fit *fit) {
    calling c = {.checks = checks, .func = func, .fit = fit};
    fit->report = note_point;
    fit->ctx = &c;
    hone_status st = hone_fit_func(fit, func, tensors, scalars);
    HONE_TRY(hone_status_join(st, c.st));
    hone_arith own; /* the kernel numbers its variables differently */
    hone_arith_init(&own, checks->arena);
    return hone_func_size_needs(func, &own, note_need, &c);
}

/* ---- reductions ---- */

static bool reduces(const hone_func *func) {
    for (uint32_t i = 0; i < func->node_count; i++) {
        if (func->nodes[i].kind == HONE_NODE_INIT) return true;
    }
    return false;
}

static bool has_extent(const hone_fit_tensor *tensor, const hone_expr *e) {
    for (uint32_t d = 0; d < tensor->rank; d++) {
        if (hone_extent_same(tensor->shape[d], e)) return true;
    }
    return false;
}

hone_status plan_check_reduction(plan_checks *checks, const hone_func *func,
                                 const hone_fit_tensor *tensors, uint32_t count) {
    hone_ir ir = {.arena = checks->arena};
    const hone_expr *one = hone_extent_int(&ir, 1);
    if (!one) return hone_ir_finish(&ir);
    if (checks->plan->phase_count == 1 || !reduces(func)) return HONE_OK;
    for (uint32_t i = 0; i + 1 < count; i++) {
        for (uint32_t d = 0; d < tensors[i].rank; d++) {
            const hone_expr *extent = tensors[i].shape[d];
            bool may_be_none = hone_plan_phase_of(checks->plan, extent) > 0;
            if (!may_be_none || has_extent(&tensors[count - 1], extent)) continue;
            const hone_plan_check check = {
                .relation = HONE_PLAN_AT_LEAST,
                .place = func->name,
                .what = hone_arena_printf(checks->arena, "dimension %u of argument %u", d, i),
                .got = extent,
                .wanted = one};
            HONE_TRY(plan_check_that(checks, &check));
        }
    }
    return HONE_OK;
}
