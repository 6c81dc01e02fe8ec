/* graph/operators/topi_det.c - determinants and inverses of matrices by elimination: the row with
 * the largest element in a column comes to its place and is taken off those below. The determinant
 * is the product of these elements, and changes its sign with each exchange. For an inverse the
 * unit matrix stands beside the matrix and is taken along; then each row, from the last one on, is
 * divided by its own element and taken off those above.
 *
 * Rows of a known size that fills vectors are whole vectors, of which those are taken off that have
 * an element left; so what stands beside the matrix begins at a whole vector. */
#include "graph/operators/topi_steps.h"

typedef struct elimination {
    hone_topi_steps p;      /* of a matrix; `at` is where its next statement goes */
    hone_buffer rows;       /* a copy, [n, width] */
    hone_buffer found;      /* which row has the largest element so far */
    hone_buffer det;        /* the product of the largest ones so far; HONE_NO_ID: nobody asks */
    const hone_expr *n;     /* rows and columns */
    const hone_expr *right; /* the column where the right side begins */
    const hone_expr *width; /* columns in all, of which some mean nothing */
    int64_t lanes;          /* columns that are taken off together; 1: no vectors */
} elimination;

enum { LANES = 16 };

static const hone_expr *bin(const elimination *e, hone_op op, const hone_expr *a,
                            const hone_expr *b) {
    return hone_topi_op(e->p.t, op, a, b);
}

static const hone_expr *zero_of(const elimination *e) {
    return hone_topi_step_int(&e->p, 0);
}

/* The axes of the matrix, row and column in out[] (room for HONE_TE_MAX_RANK), which comes back. */
static const hone_expr *const *index(const elimination *e, const hone_expr *row,
                                     const hone_expr *column, const hone_expr **out) {
    hone_topi_step_index(&e->p, row, out);
    out[e->p.s.spatial_count + 1] = column;
    return out;
}

static const hone_expr *cell(const elimination *e, const hone_expr *row, const hone_expr *column) {
    const hone_expr *at[HONE_TE_MAX_RANK];
    return hone_te_load(e->p.t->te, e->rows, index(e, row, column, at));
}

static void set_cell(const elimination *e, const hone_expr *row, const hone_expr *column,
                     const hone_expr *value) {
    const hone_expr *at[HONE_TE_MAX_RANK];
    hone_te_store(e->p.t->te, e->p.at, e->rows, index(e, row, column, at), value);
}

static const hone_expr *let(elimination *e, const char *name, const hone_expr *value) {
    return hone_topi_step_let(&e->p, name, value);
}

/* What comes next is inside of a loop over `first` … end - 1, whose variable comes back. */
static const hone_expr *each_from(elimination *e, const char *name, const hone_expr *first,
                                  const hone_expr *end) {
    const hone_expr *count = bin(e, HONE_OP_SUB, end, first);
    const hone_expr *step = hone_te_for(e->p.t->te, &e->p.at, name, count);
    return let(e, name, bin(e, HONE_OP_ADD, first, step));
}

static const hone_expr *magnitude(const elimination *e, const hone_expr *x) {
    return x ? hone_expr_call(&e->p.t->te->ir, x->dtype, HONE_INTRIN_FABS, 1, &x) : NULL;
}

static const hone_expr *found_row(const elimination *e) {
    return hone_topi_step_load(&e->p, e->found, zero_of(e));
}

/* The row at or below k with the largest element of column k: the first of them. */
static void find_row(elimination e, const hone_expr *k, const hone_expr *behind) {
    hone_topi_step_store(&e.p, e.found, zero_of(&e), k);
    const hone_expr *row = each_from(&e, "row", behind, e.n);
    const hone_expr *best = let(&e, "best", found_row(&e));
    const hone_expr *own = magnitude(&e, cell(&e, row, k));
    const hone_expr *other = magnitude(&e, cell(&e, best, k));
    e.p.at = hone_te_if(e.p.t->te, e.p.at, bin(&e, HONE_OP_GT, own, other));
    hone_topi_step_store(&e.p, e.found, zero_of(&e), row);
}

static void exchange(elimination e, const hone_expr *k, const hone_expr *row) {
    e.p.at = hone_te_if(e.p.t->te, e.p.at, bin(&e, HONE_OP_NE, row, k));
    elimination inside = e;
    const hone_expr *column = each_from(&inside, "column", k, e.width);
    const hone_expr *own = let(&inside, "own", cell(&inside, k, column));
    const hone_expr *other = let(&inside, "other", cell(&inside, row, column));
    set_cell(&inside, k, column, other);
    set_cell(&inside, row, column, own);
    if (e.det == HONE_NO_ID) return;
    const hone_expr *so_far = hone_topi_step_load(&e.p, e.det, zero_of(&e));
    const hone_expr *minus = hone_topi_number(e.p.t, so_far ? so_far->dtype : HONE_DTYPE_F32, -1);
    hone_topi_step_store(&e.p, e.det, zero_of(&e), bin(&e, HONE_OP_MUL, so_far, minus));
}

/* Columns from `first` on, and, where there are vectors, those in front of it in the first one. */
static const hone_expr *columns_from(elimination *e, const hone_expr *first) {
    if (e->lanes == 1) return each_from(e, "column", first, e->width);
    const hone_expr *lanes = hone_topi_step_int(&e->p, e->lanes);
    const hone_expr *begin = let(e, "vector", bin(e, HONE_OP_FLOORDIV, first, lanes));
    const hone_expr *count = hone_topi_step_int(&e->p, e->width->u.i / e->lanes);
    const hone_expr *step =
        hone_te_for(e->p.t->te, &e->p.at, "step", bin(e, HONE_OP_SUB, count, begin));
    const hone_expr *start = bin(e, HONE_OP_MUL, bin(e, HONE_OP_ADD, begin, step), lanes);
    start = let(e, "start", start);
    const hone_expr *lane = hone_te_lanes(e->p.t->te, &e->p.at, "lane", e->lanes);
    return bin(e, HONE_OP_ADD, start, lane);
}

/* A column of zeros takes nothing off. What stands in front of `behind` in its vector nobody reads
 * any more. */
static void take_off(elimination e, const hone_expr *k, const hone_expr *behind,
                     const hone_expr *pivot) {
    const hone_expr *none = hone_topi_number(e.p.t, pivot ? pivot->dtype : HONE_DTYPE_F32, 0);
    e.p.at = hone_te_if(e.p.t->te, e.p.at, bin(&e, HONE_OP_NE, pivot, none));
    const hone_expr *row = each_from(&e, "row", behind, e.n);
    const hone_expr *factor = bin(&e, HONE_OP_DIV, cell(&e, row, k), pivot);
    factor = let(&e, "factor", factor);
    const hone_expr *column = columns_from(&e, behind);
    const hone_expr *part = bin(&e, HONE_OP_MUL, factor, cell(&e, k, column));
    const hone_expr *rest = bin(&e, HONE_OP_SUB, cell(&e, row, column), part);
    set_cell(&e, row, column, rest);
}

/* To a triangle. */
static void eliminate(elimination e) {
    const hone_expr *k = hone_te_for(e.p.t->te, &e.p.at, "k", e.n);
    const hone_expr *behind = let(&e, "behind", hone_topi_add_int(e.p.t, k, 1));
    find_row(e, k, behind);
    exchange(e, k, let(&e, "largest", found_row(&e)));
    const hone_expr *pivot = let(&e, "pivot", cell(&e, k, k));
    if (e.det != HONE_NO_ID) {
        const hone_expr *so_far = hone_topi_step_load(&e.p, e.det, zero_of(&e));
        hone_topi_step_store(&e.p, e.det, zero_of(&e), bin(&e, HONE_OP_MUL, so_far, pivot));
    }
    take_off(e, k, behind, pivot);
}

/* A buffer of each matrix: so many numbers, or one index. */
static hone_buffer of_matrices(hone_topi *t, uint32_t batch, const char *name, hone_dtype dtype,
                               const hone_expr *count) {
    const hone_expr *shape[HONE_TE_MAX_RANK];
    for (uint32_t d = 0; d < batch; d++)
        shape[d] = t->shapes[0][d];
    shape[batch] = count;
    return hone_te_buffer(t->te, name, dtype, batch + 1, shape);
}

/* The matrix, and behind it zeros up to whole vectors, or the unit matrix. */
static hone_buffer copy_rows(hone_topi *t, const elimination *e, uint32_t batch, bool has_right) {
    hone_te_stage s;
    const hone_expr *shape[HONE_TE_MAX_RANK];
    for (uint32_t d = 0; d <= batch; d++)
        shape[d] = t->shapes[0][d];
    shape[batch + 1] = e->width;
    hone_te_stage_begin(t->te, &s, batch + 2, shape, 0, NULL);
    const hone_expr *value = hone_topi_widen(t, hone_topi_load(t, 0, s.axis));
    if (!value) return hone_te_compute(t->te, &s, "det_rows", value);
    const hone_expr *row = s.axis[batch], *column = s.axis[batch + 1];
    const hone_expr *beside = hone_topi_number(t, value->dtype, 0);
    if (has_right) {
        const hone_expr *own = hone_topi_op(t, HONE_OP_ADD, row, e->right);
        beside = hone_topi_choose(t, hone_topi_op(t, HONE_OP_EQ, column, own),
                                  hone_topi_number(t, value->dtype, 1), beside);
    }
    if (has_right || e->lanes > 1)
        value = hone_topi_choose(t, hone_topi_op(t, HONE_OP_LT, column, e->n), value, beside);
    return hone_te_compute(t->te, &s, has_right ? "inverse_rows" : "det_rows", value);
}

/* A copy of the matrix, with the unit matrix beside it where has_right is true, and the buffers
 * that it needs, with a det or without. */
static void begin(hone_topi *t, bool has_right, bool has_det, elimination *out) {
    const uint32_t batch = (uint32_t)t->infos[0]->rank - 2;
    const hone_expr *one = hone_te_int(t->te, 1);
    elimination e = {.p.t = t, .n = t->shapes[0][batch], .det = HONE_NO_ID, .lanes = 1};
    bool fills_vectors = hone_expr_is_int(e.n) && e.n->u.i >= LANES;
    if (fills_vectors && !t->is_for_many_threads) e.lanes = LANES;
    e.right = e.n;
    if (e.lanes > 1) e.right = hone_te_int(t->te, (e.n->u.i + LANES - 1) / LANES * LANES);
    e.width = has_right ? hone_topi_sum(t, e.right, e.right) : e.right;
    e.rows = copy_rows(t, &e, batch, has_right);
    e.found = of_matrices(t, batch, has_right ? "inverse_found" : "det_found", t->te->index, one);
    if (has_det)
        e.det = of_matrices(t, batch, "det_so_far", hone_topi_wide(t->infos[0]->dtype), one);
    *out = e;
}

/* ---- the operators ---- */

hone_status hone_topi_emit_det(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *at[HONE_TE_MAX_RANK];
    uint32_t batch = (uint32_t)t->out->rank;
    elimination e;
    begin(t, false, true, &e);
    const hone_buffer all[] = {e.rows, e.found, e.det};
    hone_te_stage_begin(t->te, &e.p.s, batch, t->out_shape, 0, NULL);
    e.p.at =
        hone_te_steps(t->te, &e.p.s, "det_eliminate", HONE_COUNT(all), all, HONE_COUNT(all), all);
    hone_topi_step_store(&e.p, e.det, hone_topi_step_int(&e.p, 0),
                         hone_topi_number(t, hone_topi_wide(t->out->dtype), 1));
    eliminate(e);
    hone_topi_stage(t, &s);
    for (uint32_t d = 0; d < batch; d++)
        at[d] = s.axis[d];
    at[batch] = hone_te_int(t->te, 0);
    const hone_expr *det = hone_te_load(t->te, e.det, at);
    t->result = hone_te_compute(t->te, &s, "det", hone_expr_cast(&t->te->ir, t->out->dtype, det));
    return HONE_OK;
}

/* Row k of the right side is divided by its own element. */
static void divide_row(elimination e, const hone_expr *k, const hone_expr *pivot) {
    const hone_expr *column = columns_from(&e, e.right);
    const hone_expr *value = bin(&e, HONE_OP_DIV, cell(&e, k, column), pivot);
    set_cell(&e, k, column, value);
}

/* Rows from the last one on; only the right side is read behind this. */
static void go_back(elimination e) {
    hone_te *te = e.p.t->te;
    const hone_expr *last = hone_topi_add_int(e.p.t, e.n, -1);
    const hone_expr *done = hone_te_for(te, &e.p.at, "done", e.n);
    const hone_expr *k = bin(&e, HONE_OP_SUB, last, done);
    k = hone_topi_step_let(&e.p, "k", k);
    const hone_expr *pivot = hone_topi_step_let(&e.p, "pivot", cell(&e, k, k));
    divide_row(e, k, pivot);
    const hone_expr *row = hone_te_for(te, &e.p.at, "row", k);
    const hone_expr *factor = hone_topi_step_let(&e.p, "factor", cell(&e, row, k));
    const hone_expr *column = columns_from(&e, e.right);
    const hone_expr *part = bin(&e, HONE_OP_MUL, factor, cell(&e, k, column));
    set_cell(&e, row, column, bin(&e, HONE_OP_SUB, cell(&e, row, column), part));
}

hone_status hone_topi_emit_inverse(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *at[HONE_TE_MAX_RANK];
    uint32_t batch = (uint32_t)t->out->rank - 2;
    elimination e;
    begin(t, true, false, &e);
    const hone_buffer all[] = {e.rows, e.found};
    hone_te_stage_begin(t->te, &e.p.s, batch, t->out_shape, 0, NULL);
    e.p.at = hone_te_steps(t->te, &e.p.s, "inverse_eliminate", HONE_COUNT(all), all,
                           HONE_COUNT(all), all);
    eliminate(e);
    go_back(e);
    hone_topi_stage(t, &s);
    for (uint32_t d = 0; d < batch + 2; d++)
        at[d] = s.axis[d];
    at[batch + 1] = hone_topi_sum(t, s.axis[batch + 1], e.right);
    const hone_expr *value = hone_te_load(t->te, e.rows, at);
    t->result =
        hone_te_compute(t->te, &s, "inverse", hone_expr_cast(&t->te->ir, t->out->dtype, value));
    return HONE_OK;
}
