/* lower/loops/tail_rows.c - the rows that are left of a tile of sums, where it is not known how
 * many they are.
 *
 *   for k…: for row in unroll(8): for columns: if row < left: sum[row, …] += …
 *
 * keeps each sum in memory, as none of them is sure to be touched. In pieces of a power of two
 * rows, each of which is there as a whole, sums stay in registers while k runs:
 *
 *   for q in 2: if q*4 + 3 < left: for k…: for row in unroll(4): … sum[q*4 + row, …] += …
 *   then pieces of 2 and 1, where the larger ones do not reach
 *
 * Each sum has the order that it had; rows are done one piece after the other, so they must not
 * touch what others store. */
#include "lower/loops/partitioning.h"
#include "lower/loops/tail_nest.h"

enum { WORTH_ELEMENTS = 128 /* of sums: as many registers as keep a core busy */ };

/* The rows: a loop, and the condition that it is below a number. */
typedef struct rows {
    uint32_t loop;
    int64_t extent;
    const hone_expr *condition, *others; /* what else is asked; NULL = nothing */
} rows;

typedef struct search {
    hone_arith *arith;
    const hone_func *func;
    const lower_nest *n;
    rows *rows;
} search;

static bool look_at_condition(void *ctx, const hone_expr *part) {
    search *s = ctx;
    hone_ir *ir = &s->arith->ir;
    hone_var var = lower_nest_loop(s->func, s->n, s->rows->loop)->u.loop.var;
    int64_t step = 0;
    const hone_expr *gap = s->rows->condition ? NULL : lower_gap_of(s->arith, part);
    bool is_limit = gap && hone_linear_coeff(s->arith, gap, var, &step) && step == 1 &&
                    !lower_uses_others(s->func, s->n, part, s->rows->loop);
    if (is_limit)
        s->rows->condition = part;
    else
        s->rows->others = lower_and(ir, s->rows->others, part);
    return true;
}

/* A step of the sum is around the rows. */
static bool is_inside_of_sum(const hone_func *func, const lower_nest *n, uint32_t loop) {
    for (uint32_t i = 0; i < loop; i++) {
        const hone_node *around = lower_nest_loop(func, n, i);
        if (around->loop_kind == HONE_LOOP_SERIAL &&
            !hone_expr_is_int_value(around->u.loop.range.extent, 1))
            return true;
    }
    return false;
}

static bool read_rows(hone_arith *arith, const hone_func *func, const lower_nest *n, uint32_t loop,
                      rows *out) {
    const hone_node *node = lower_nest_loop(func, n, loop);
    *out = (rows){.loop = loop, .extent = hone_expr_const(node->u.loop.range.extent)};
    if (node->loop_kind != HONE_LOOP_UNROLLED || out->extent < 2 ||
        !hone_expr_is_int_value(node->u.loop.range.min, 0) || !is_inside_of_sum(func, n, loop) ||
        !lower_are_apart(arith, func, n, loop))
        return false;
    search s = {arith, func, n, out};
    lower_conjuncts(hone_func_node(func, n->branch)->u.eval.value, look_at_condition, &s);
    return out->condition != NULL;
}

/* The longest loop over rows; false: there is none. */
static bool find_rows(hone_arith *arith, const hone_func *func, const lower_nest *n, rows *out) {
    rows at;
    out->extent = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        if (read_rows(arith, func, n, i, &at) && at.extent > out->extent) *out = at;
    }
    return out->extent > 0;
}

/* Rows of the largest pieces, whose sums fill so many elements. */
static int64_t largest_piece(const hone_func *func, const lower_nest *n, const rows *r) {
    int64_t elements = 1, piece = 1;
    for (uint32_t i = 0; i < n->count; i++) {
        const hone_node *loop = lower_nest_loop(func, n, i);
        if (i != r->loop && loop->loop_kind != HONE_LOOP_SERIAL)
            elements *= hone_expr_const(loop->u.loop.range.extent);
    }
    while (piece * elements < WORTH_ELEMENTS && 2 * piece < r->extent)
        piece *= 2;
    return piece;
}

typedef struct pieces {
    lower_conditions *v;
    const lower_nest *n;
    const rows *r;
    hone_var var; /* of the rows, in the nest */
} pieces;

/* All rows up to this one are there. */
static const hone_expr *reaches(const pieces *p, const hone_expr *row) {
    hone_ir *ir = &p->v->scope.lower->ir;
    const hone_expr *end = row ? hone_expr_int(ir, row->dtype, p->r->extent) : NULL;
    const hone_expr *is_there =
        row ? hone_expr_substitute_one(ir, p->r->condition, p->var, row) : NULL;
    return is_there && end ? lower_and(ir, is_there, hone_expr_binary(ir, HONE_OP_LT, row, end))
                           : NULL;
}

static const hone_expr *plus(hone_ir *ir, const hone_expr *e, int64_t number) {
    return e ? hone_expr_add(ir, e, hone_expr_int(ir, e->dtype, number)) : NULL;
}

/* A copy of the nest for `size` rows from `first` on, whose condition holds. */
static hone_status copy_nest(const pieces *p, int64_t size, const hone_expr *first,
                             hone_node_id *out) {
    hone_func *func = p->v->scope.lower->func;
    hone_ir *ir = &p->v->scope.lower->ir;
    lower_nest copy;
    *out = hone_tree_copy(func, p->n->root);
    const hone_expr *own = hone_expr_var(ir, func->vars[p->var].dtype, p->var);
    const hone_expr *row = hone_expr_add(ir, first, own);
    const hone_expr *extent = hone_expr_int(ir, func->vars[p->var].dtype, size);
    const hone_expr *others = p->r->others ? p->r->others : hone_expr_bool(ir, true);
    if (*out == HONE_NO_ID || !row || !extent || !others) return LOWER_NO_MEMORY();
    if (!lower_read_nest(func, *out, &copy)) return LOWER_NO_MEMORY();
    hone_func_node(func, copy.branch)->u.eval.value = others;
    HONE_TRY(lower_substitute_one(func, *out, p->var, row));
    hone_func_node(func, copy.loops[p->r->loop])->u.loop.range.extent = extent;
    return lower_rename_vars(p->v->scope.lower, *out);
}

/* In front of the nest: pieces of `size` rows, every `step` of them, which a piece of twice the
 * size, if there are any, does not reach. */
static hone_status add_pieces(const pieces *p, int64_t size, int64_t step, bool are_largest) {
    hone_func *func = p->v->scope.lower->func;
    hone_ir *ir = &p->v->scope.lower->ir;
    hone_dtype dtype = func->vars[p->var].dtype;
    int64_t count = are_largest ? p->r->extent / step : (p->r->extent + step - 1) / step;
    hone_var var = hone_func_add_var(func, "piece", dtype);
    if (var == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *number = hone_expr_var(ir, dtype, var);
    const hone_expr *first = hone_expr_mul(ir, number, hone_expr_int(ir, dtype, step));
    const hone_expr *condition = reaches(p, plus(ir, first, size - 1));
    if (!are_largest) {
        const hone_expr *larger = reaches(p, plus(ir, first, 2 * size - 1));
        condition = lower_and(ir, condition, larger ? hone_expr_not(ir, larger) : NULL);
    }
    hone_range range = {hone_expr_int(ir, dtype, 0), hone_expr_int(ir, dtype, count)};
    HONE_TRY(hone_ir_finish(ir));
    hone_node_id loop = hone_func_add_loop(func, var, HONE_LOOP_SERIAL, range), copy;
    hone_node_id branch = hone_func_add_node(func, HONE_NODE_IF);
    if (loop == HONE_NO_ID || branch == HONE_NO_ID || !condition) return LOWER_NO_MEMORY();
    hone_func_node(func, branch)->u.eval.value = condition;
    HONE_TRY(copy_nest(p, size, first, &copy));
    hone_tree_insert_before(func, p->n->root, loop);
    hone_tree_append(func, loop, branch);
    hone_tree_append(func, branch, copy);
    return HONE_OK;
}

hone_status lower_take_rows_apart(lower_conditions *v, hone_node_id root, bool *out_done) {
    hone_func *func = v->scope.lower->func;
    lower_nest n;
    rows r;
    *out_done = false;
    if (!lower_read_nest(func, root, &n) || !find_rows(&v->scope.arith, func, &n, &r))
        return hone_ir_finish(&v->scope.arith.ir);
    pieces p = {v, &n, &r, lower_nest_loop(func, &n, r.loop)->u.loop.var};
    int64_t size = largest_piece(func, &n, &r);
    HONE_TRY(add_pieces(&p, size, size, true));
    while ((size /= 2) > 0)
        HONE_TRY(add_pieces(&p, size, 2 * size, false));
    hone_tree_remove(func, root);
    *out_done = true;
    return HONE_OK;
}
