/* lower/loops/trim.c - loops that begin and end where their work does.
 *
 *   for i in 8: if 2 <= i + y: S    ⇒   for i in 2 .. 8: S under its condition       0 <= y
 *
 * Only bounds change: conditions stay where they are, for the simplifier to see through. */
#include "ir/core/fold.h"
#include "lower/loops/partitioning.h"

typedef struct trimmer {
    lower_conditions *c;
    hone_node_id loop;
    lower_span may_work; /* the iterations in which conditions may hold */
} trimmer;

bool lower_limit_of(hone_arith *arith, const hone_expr *gap, lower_limit *out) {
    hone_linear form;
    if (!gap || !hone_linear_of(arith, gap, &form) || form.count != 1) return false;
    int64_t coeff = form.terms[0].coeff, rest = form.constant;
    if (coeff == INT64_MIN || rest == INT64_MIN || rest == INT64_MAX) return false;
    out->term = form.terms[0].term;
    out->is_end = coeff > 0;
    out->at = 1 + (coeff > 0 ? hone_floor_div(-rest - 1, coeff) : hone_floor_div(rest, -coeff));
    return true;
}

bool lower_span_below_zero(hone_arith *arith, const hone_expr *e, hone_var var, lower_span *span) {
    lower_limit limit;
    if (!lower_limit_of(arith, e, &limit)) return false;
    if (limit.term->kind != HONE_EXPR_VAR || limit.term->u.var != var) return false;
    if (limit.is_end && limit.at < span->end) span->end = limit.at;
    if (!limit.is_end && limit.at > span->first) span->first = limit.at;
    return true;
}

/* Leaves out the iterations at both ends in which this conjunct is never true. */
static bool trim_part(void *ctx, const hone_expr *part) {
    trimmer *t = ctx;
    lower_conditions *c = t->c;
    const hone_node *node = hone_func_node(c->scope.lower->func, t->loop);
    hone_interval gap = lower_gap_range(c, part);
    const hone_expr *least = gap.min ? hone_simplify(&c->scope.arith, gap.min) : NULL;
    lower_span span = t->may_work;
    if (!lower_span_below_zero(&c->scope.arith, least, node->u.loop.var, &span)) return true;
    t->may_work.end = span.end;
    if (node->loop_kind == HONE_LOOP_SERIAL) t->may_work.first = span.first;
    return true;
}

/* The iterations, of all, in which something below the node may be done. all: not empty. */
static lower_span work_below(lower_conditions *c, hone_node_id loop, lower_span all,
                             hone_node_id parent) {
    const hone_func *func = c->scope.lower->func;
    lower_span any = {all.end, all.first};
    LOWER_EACH_CHILD (func, parent, n) {
        const hone_node *node = hone_func_node(func, n);
        trimmer t = {c, loop, all};
        bool is_guard = node->kind == HONE_NODE_IF && !lower_has_else(func, n);
        if (is_guard) lower_conjuncts(node->u.eval.value, trim_part, &t);
        bool may_work = t.may_work.first < t.may_work.end;
        if (may_work && (is_guard || node->kind == HONE_NODE_FOR || node->kind == HONE_NODE_ALLOC))
            t.may_work = work_below(c, loop, t.may_work, n);
        if (t.may_work.first >= t.may_work.end) continue;
        if (t.may_work.first < any.first) any.first = t.may_work.first;
        if (t.may_work.end > any.end) any.end = t.may_work.end;
    }
    return any;
}

/* A loop of whose body nothing is done in its first or last iterations. Threads are launched
 * together, those that do nothing as well. */
static hone_status trim_loop(lower_conditions *c, hone_node_id loop) {
    hone_func *func = c->scope.lower->func;
    hone_ir *ir = &c->scope.lower->ir;
    hone_node *node = hone_func_node(func, loop);
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    if (extent < 2 || !hone_expr_is_int(node->u.loop.range.min) ||
        node->loop_kind == HONE_LOOP_THREAD)
        return HONE_OK;
    HONE_TRY(lower_enter(&c->scope, loop, node->u.loop.var));
    int64_t min = node->u.loop.range.min->u.i;
    lower_span t = work_below(c, loop, (lower_span){min, min + extent}, loop);
    HONE_TRY(hone_ir_finish(&c->scope.arith.ir));
    if (t.end - t.first >= extent || t.end <= t.first) return HONE_OK;
    const hone_expr *first = hone_expr_int(ir, node->u.loop.range.min->dtype, t.first);
    const hone_expr *trimmed = hone_expr_int(ir, node->u.loop.range.extent->dtype, t.end - t.first);
    if (!first || !trimmed) return hone_ir_finish(ir);
    node->u.loop.range = (hone_range){first, trimmed};
    c->is_changed = true;
    return HONE_OK;
}

hone_status lower_trim_loops(lower_conditions *c, hone_node_id root) {
    const hone_func *func = c->scope.lower->func;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_func_node(func, n)->kind == HONE_NODE_FOR) HONE_TRY(trim_loop(c, n));
    }
    return HONE_OK;
}
