/* lower/loops/tail_columns.c - the columns that are left of a tile of sums, where it is not known
 * how many they are.
 *
 *   for k…: for row…: for c in vectorized(48): if c < left: sum[row, c] += …
 *
 * asks in each step which vectors are there. In columns of a register, one after the other, it is
 * asked in front of the sum, and only the last of them has a mask:
 *
 *   if 0 < left:  for k…: for row…: for c in vectorized(16): if c < left: sum[row, c] += …
 *   if 16 < left: for k…: for row…: for c in vectorized(16): if 16 + c < left: …
 *   if 32 < left: …
 *
 * Each sum has the order that it had; columns must not touch what others store. A few rows would
 * wait for their sums, which the vectors of a row do not. */
#include "lower/loops/partitioning.h"
#include "lower/loops/tail_nest.h"

enum { WORTH_ROWS = 4 };

typedef struct columns {
    uint32_t loop;
    int64_t extent, lanes;
    const hone_expr *limits; /* conditions that hold for the first lanes, if for any */
} columns;

typedef struct search {
    hone_arith *arith;
    const hone_func *func;
    const lower_nest *n;
    columns *columns;
} search;

static bool look_at_condition(void *ctx, const hone_expr *part) {
    search *s = ctx;
    hone_var var = lower_nest_loop(s->func, s->n, s->columns->loop)->u.loop.var;
    int64_t step = 0;
    const hone_expr *gap = lower_gap_of(s->arith, part);
    bool is_limit = gap && hone_linear_coeff(s->arith, gap, var, &step) && step > 0 &&
                    !lower_uses_others(s->func, s->n, part, s->columns->loop);
    if (is_limit) s->columns->limits = lower_and(&s->arith->ir, s->columns->limits, part);
    return true;
}

/* Rows enough to keep a core busy by themselves. */
static bool has_rows(const hone_func *func, const lower_nest *n) {
    int64_t rows = 1;
    for (uint32_t i = 0; i < n->count; i++) {
        const hone_node *loop = lower_nest_loop(func, n, i);
        if (loop->loop_kind == HONE_LOOP_UNROLLED)
            rows *= hone_expr_const(loop->u.loop.range.extent);
    }
    return rows >= WORTH_ROWS;
}

/* The innermost loop, a vector of several registers. */
static bool find_columns(const lower_conditions *v, hone_arith *arith, const lower_nest *n,
                         columns *out) {
    const hone_func *func = v->scope.lower->func;
    if (n->count == 0) return false;
    *out = (columns){.loop = n->count - 1};
    const hone_node *loop = lower_nest_loop(func, n, out->loop);
    const hone_buffer to = hone_func_node(func, n->store)->u.store.buffer;
    out->extent = hone_expr_const(loop->u.loop.range.extent);
    out->lanes = hone_target_lanes(v->scope.lower->options->target, func->buffers[to].dtype.bits);
    if (loop->loop_kind != HONE_LOOP_VECTORIZED || out->lanes < 2 || out->extent <= out->lanes ||
        out->extent % out->lanes != 0 || !has_rows(func, n) ||
        !hone_expr_is_int_value(loop->u.loop.range.min, 0) ||
        !lower_are_apart(arith, func, n, out->loop))
        return false;
    search s = {arith, func, n, out};
    lower_conjuncts(hone_func_node(func, n->branch)->u.eval.value, look_at_condition, &s);
    return out->limits != NULL;
}

/* In front of the nest: its copy for the vector that begins at `first`, if that has some lanes. */
static hone_status add_vector(lower_conditions *v, const lower_nest *n, const columns *c,
                              int64_t first, hone_node_id *out) {
    hone_func *func = v->scope.lower->func;
    hone_ir *ir = &v->scope.lower->ir;
    lower_nest copy;
    hone_var var = lower_nest_loop(func, n, c->loop)->u.loop.var;
    hone_dtype dtype = func->vars[var].dtype;
    const hone_expr *begin = hone_expr_int(ir, dtype, first);
    const hone_expr *lane = hone_expr_add(ir, hone_expr_var(ir, dtype, var), begin);
    const hone_expr *extent = hone_expr_int(ir, dtype, c->lanes);
    const hone_expr *has_some = begin ? hone_expr_substitute_one(ir, c->limits, var, begin) : NULL;
    hone_node_id branch = hone_func_add_node(func, HONE_NODE_IF);
    *out = hone_tree_copy(func, n->root);
    if (*out == HONE_NO_ID || branch == HONE_NO_ID || !lane || !extent || !has_some)
        return LOWER_NO_MEMORY();
    if (!lower_read_nest(func, *out, &copy)) return LOWER_NO_MEMORY();
    hone_func_node(func, branch)->u.eval.value = has_some;
    HONE_TRY(lower_substitute_one(func, *out, var, lane));
    hone_func_node(func, copy.loops[c->loop])->u.loop.range.extent = extent;
    HONE_TRY(lower_rename_vars(v->scope.lower, *out));
    hone_tree_insert_before(func, n->root, branch);
    hone_tree_append(func, branch, *out);
    return HONE_OK;
}

hone_status lower_take_columns_apart(lower_conditions *v, hone_node_id root, lower_roots *out) {
    hone_func *func = v->scope.lower->func;
    lower_nest n;
    columns c;
    *out = (lower_roots){.count = 1, .items = {root}};
    if (!lower_read_nest(func, root, &n) || !find_columns(v, &v->scope.arith, &n, &c))
        return hone_ir_finish(&v->scope.arith.ir);
    if (c.extent / c.lanes > LOWER_MAX_ROOTS) return HONE_OK;
    out->count = 0;
    for (int64_t first = 0; first < c.extent; first += c.lanes)
        HONE_TRY(add_vector(v, &n, &c, first, &out->items[out->count++]));
    hone_tree_remove(func, root);
    return HONE_OK;
}
