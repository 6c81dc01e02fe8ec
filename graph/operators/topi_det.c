/* graph/operators/topi_det.c - determinants of matrices by elimination: in each column the row that
 * has the largest element there, of those not taken yet, is taken off all the others that are left.
 * Rows stay where they are; how often two of them are taken out of their order is the sign.
 *
 * All of it is one stage in order over a copy with a column and a row more: the column says which
 * rows are taken, element k of the row which one column k took (-1: none yet).
 */
#include "graph/operators/topi_build.h"

typedef struct elimination {
    hone_te *te;
    hone_buffer work;
    uint32_t rank; /* of the data */
    const hone_expr *n, *at[HONE_TE_MAX_RANK];
} elimination;

static const hone_expr *bin(const elimination *e, hone_op op, const hone_expr *a,
                            const hone_expr *b) {
    return hone_expr_binary(&e->te->ir, op, a, b);
}

static const hone_expr *cell(elimination *e, const hone_expr *row, const hone_expr *column) {
    e->at[e->rank - 2] = row;
    e->at[e->rank - 1] = column;
    return hone_te_load(e->te, e->work, e->at);
}

static const hone_expr *number(const elimination *e, double value) {
    hone_dtype dtype = hone_func_buffer(e->te->func, e->work)->dtype;
    return hone_expr_float(&e->te->ir, dtype, value);
}

/* Which row a column took; the first one while it took none. */
static const hone_expr *taken_by(elimination *e, const hone_expr *column) {
    hone_ir *ir = &e->te->ir;
    const hone_expr *row = hone_expr_cast(ir, e->te->index, cell(e, e->n, column));
    const hone_expr *last = hone_expr_sub(ir, e->n, hone_te_int(e->te, 1));
    return bin(e, HONE_OP_MIN, bin(e, HONE_OP_MAX, row, hone_te_int(e->te, 0)), last);
}

static const hone_expr *is_free(elimination *e, const hone_expr *row) {
    return bin(e, HONE_OP_EQ, cell(e, row, e->n), number(e, 0));
}

static const hone_expr *magnitude(elimination *e, const hone_expr *row, const hone_expr *column) {
    const hone_expr *x = cell(e, row, column);
    return x ? hone_expr_call(&e->te->ir, x->dtype, HONE_INTRIN_FABS, 1, &x) : NULL;
}

/* What column k takes once it has seen `row`. */
static const hone_expr *better_row(elimination *e, const hone_expr *k, const hone_expr *row) {
    hone_ir *ir = &e->te->ir;
    const hone_expr *so_far = cell(e, e->n, k);
    const hone_expr *is_first = bin(e, HONE_OP_LT, so_far, number(e, 0));
    const hone_expr *is_larger =
        bin(e, HONE_OP_GT, magnitude(e, row, k), magnitude(e, taken_by(e, k), k));
    const hone_expr *is_better =
        bin(e, HONE_OP_AND, is_free(e, row), bin(e, HONE_OP_OR, is_first, is_larger));
    return hone_expr_select(ir, is_better, hone_expr_cast(ir, so_far->dtype, row), so_far);
}

/* The element without what the row of column k has of it; a column of zeros takes nothing off. */
static const hone_expr *reduced(elimination *e, const hone_expr *k, const hone_expr *row,
                                const hone_expr *column) {
    hone_ir *ir = &e->te->ir;
    const hone_expr *pivot_row = taken_by(e, k), *pivot = cell(e, pivot_row, k);
    const hone_expr *is_zero = bin(e, HONE_OP_EQ, pivot, number(e, 0));
    const hone_expr *divisor = hone_expr_select(ir, is_zero, number(e, 1), pivot);
    const hone_expr *factor = bin(e, HONE_OP_DIV, cell(e, row, k), divisor);
    const hone_expr *own = cell(e, row, column);
    const hone_expr *part = bin(e, HONE_OP_MUL, factor, cell(e, pivot_row, column));
    const hone_expr *is_left = bin(e, HONE_OP_AND, bin(e, HONE_OP_GT, column, k), is_free(e, row));
    return hone_expr_select(ir, is_left, bin(e, HONE_OP_SUB, own, part), own);
}

/* The copy, with no row taken. */
static void begin(hone_topi *t, elimination *e) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    const hone_expr *shape[HONE_TE_MAX_RANK];
    for (uint32_t d = 0; d < e->rank; d++)
        shape[d] = d + 2 < e->rank ? t->shapes[0][d] : hone_topi_add_int(t, e->n, 1);
    hone_te_stage_begin(t->te, &s, e->rank, shape, 0, NULL);
    const hone_expr *row = s.axis[e->rank - 2], *column = s.axis[e->rank - 1];
    hone_dtype dtype = hone_topi_wide(t->out->dtype);
    const hone_expr *is_inside =
        bin(e, HONE_OP_AND, bin(e, HONE_OP_LT, row, e->n), bin(e, HONE_OP_LT, column, e->n));
    const hone_expr *is_mark = bin(e, HONE_OP_LT, row, e->n);
    const hone_expr *mark = hone_expr_select(ir, is_mark, hone_expr_float(ir, dtype, 0),
                                             hone_expr_float(ir, dtype, -1));
    const hone_expr *choice[] = {is_inside, hone_topi_widen(t, hone_topi_load(t, 0, s.axis)), mark};
    const hone_expr *value =
        choice[1] ? hone_expr_call(ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice) : NULL;
    e->work = hone_te_compute(t->te, &s, "det_rows", value);
}

/* For each column k: the row that it takes (step 0 looks at one row after the other, and marks the
 * one found), then that is taken off the rows (steps 1 … n). */
static void eliminate(hone_topi *t, elimination *e) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    uint32_t batch = e->rank - 2;
    const hone_expr *more = hone_topi_add_int(t, e->n, 1), *steps[] = {e->n, more, more};
    hone_te_stage_begin(t->te, &s, batch, t->shapes[0], 3, steps);
    for (uint32_t d = 0; d < batch; d++)
        e->at[d] = s.axis[d];
    const hone_expr *k = s.axis[batch], *step = s.axis[batch + 1], *column = s.axis[batch + 2];
    const hone_expr *zero = hone_te_int(t->te, 0), *one = hone_te_int(t->te, 1);
    const hone_expr *last = hone_expr_sub(ir, e->n, one);
    const hone_expr *is_search = bin(e, HONE_OP_EQ, step, zero);
    const hone_expr *is_end = bin(e, HONE_OP_EQ, column, e->n);
    const hone_expr *inside = bin(e, HONE_OP_MIN, column, last);
    const hone_expr *row = bin(e, HONE_OP_MAX, hone_expr_sub(ir, step, one), zero);
    const hone_expr *found = hone_expr_select(ir, is_end, number(e, 1), better_row(e, k, inside));
    const hone_expr *rest =
        hone_expr_select(ir, is_end, cell(e, row, e->n), reduced(e, k, row, inside));
    e->at[batch] =
        hone_expr_select(ir, is_search, hone_expr_select(ir, is_end, taken_by(e, k), e->n), row);
    e->at[batch + 1] =
        hone_expr_select(ir, is_search, hone_expr_select(ir, is_end, e->n, k), column);
    const hone_expr *indices[HONE_TE_MAX_RANK];
    for (uint32_t d = 0; d < e->rank; d++)
        indices[d] = e->at[d];
    hone_te_update(t->te, &s, "det_eliminate", e->work, indices,
                   hone_expr_select(ir, is_search, found, rest));
}

/* How many pairs of columns took their rows in the other order. */
static hone_buffer count_swaps(hone_topi *t, elimination *e) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    const hone_expr *pair[] = {e->n, e->n};
    hone_te_stage_begin(t->te, &s, e->rank - 2, t->shapes[0], 2, pair);
    for (uint32_t d = 0; d + 2 < e->rank; d++)
        e->at[d] = s.axis[d];
    const hone_expr *first = s.axis[e->rank - 2], *second = s.axis[e->rank - 1];
    const hone_expr *is_swap = bin(e, HONE_OP_AND, bin(e, HONE_OP_LT, first, second),
                                   bin(e, HONE_OP_GT, cell(e, e->n, first), cell(e, e->n, second)));
    const hone_expr *value =
        hone_expr_select(ir, is_swap, hone_te_int(t->te, 1), hone_te_int(t->te, 0));
    return hone_te_reduce(t->te, &s, "det_swaps", HONE_TE_SUM, value);
}

/* The product of what each column found. */
static hone_buffer multiply_pivots(hone_topi *t, elimination *e) {
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, e->rank - 2, t->shapes[0], 1, &e->n);
    for (uint32_t d = 0; d + 2 < e->rank; d++)
        e->at[d] = s.axis[d];
    const hone_expr *k = s.axis[e->rank - 2];
    return hone_te_reduce(t->te, &s, "det_pivots", HONE_TE_PROD, cell(e, taken_by(e, k), k));
}

hone_status hone_topi_emit_det(hone_topi *t) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    elimination e = {.te = t->te, .rank = (uint32_t)t->infos[0]->rank};
    e.n = t->shapes[0][e.rank - 1];
    begin(t, &e);
    if (e.work == HONE_NO_ID) return HONE_OK; /* te has the reason */
    eliminate(t, &e);
    hone_buffer swaps = count_swaps(t, &e), pivots = multiply_pivots(t, &e);
    if (swaps == HONE_NO_ID || pivots == HONE_NO_ID) return HONE_OK;
    hone_topi_stage(t, &s);
    const hone_expr *count = hone_te_load(t->te, swaps, s.axis);
    const hone_expr *product = hone_te_load(t->te, pivots, s.axis);
    const hone_expr *is_odd =
        bin(&e, HONE_OP_NE, bin(&e, HONE_OP_FLOORMOD, count, hone_te_int(t->te, 2)),
            hone_te_int(t->te, 0));
    const hone_expr *negated = bin(&e, HONE_OP_MUL, product, number(&e, -1));
    const hone_expr *value = hone_expr_select(ir, is_odd, negated, product);
    t->result = hone_te_compute(t->te, &s, "det", hone_expr_cast(ir, t->out->dtype, value));
    return HONE_OK;
}
