/* graph/operators/topi_warp.c - the way through a matrix of costs, from its first element to its
 * last one, that costs least: a step goes to the next row, the next column or both. Where two ways
 * to an element cost the same, it is come to from the column before.
 *
 *   out[0, i], out[1, i]: row and column of the i-th element from the end of the list; in front of
 *   the way, which is shorter than rows + columns, there is -1
 */
#include <math.h>

#include "graph/operators/topi_steps.h"

enum { BOTH, ROW_BEFORE, COLUMN_BEFORE }; /* where the way to an element comes from */
enum { DIAGONAL, ABOVE, COSTS };          /* of the element in hand: what the ways there cost */
enum { ROW, COLUMN, INDEX, STATES };      /* on the way back */

typedef struct warp {
    hone_topi_steps p;
    hone_te *te;
    const hone_expr *rows, *columns;
    hone_buffer column; /* [rows]: what the ways to the column before cost, then to this one */
    hone_buffer costs;  /* COSTS */
    hone_buffer trace;  /* [rows, columns]: where each comes from */
    hone_buffer state;  /* STATES */
    hone_buffer way;    /* the result */
} warp;

static const hone_expr *number(const warp *w, double value) {
    return hone_topi_number(w->p.t, w->p.t->infos[0]->dtype, value);
}

static const hone_expr *op(const warp *w, hone_op which, const hone_expr *a, const hone_expr *b) {
    return hone_topi_op(w->p.t, which, a, b);
}

static const hone_expr *integer(const warp *w, int64_t value) {
    return hone_topi_step_int(&w->p, value);
}

static const hone_expr *trace_number(const warp *w, int64_t value) {
    return hone_expr_int(&w->te->ir, HONE_DTYPE_I8, value);
}

static const hone_expr *is_least(const warp *w, const hone_expr *a, const hone_expr *b,
                                 const hone_expr *c) {
    return op(w, HONE_OP_AND, op(w, HONE_OP_LT, a, b), op(w, HONE_OP_LT, a, c));
}

static const hone_expr *choose(const warp *w, const hone_expr *is_so, const hone_expr *yes,
                               const hone_expr *no) {
    return is_so && yes && no ? hone_expr_select(&w->te->ir, is_so, yes, no) : NULL;
}

/* The way to this element: the cheapest to one of the three before it, and its own cost. */
static void reach(warp w, const hone_expr *row, const hone_expr *column) {
    const hone_expr *diagonal = hone_topi_step_load(&w.p, w.costs, integer(&w, DIAGONAL));
    const hone_expr *above = hone_topi_step_load(&w.p, w.costs, integer(&w, ABOVE));
    const hone_expr *beside = hone_topi_step_load(&w.p, w.column, row);
    const hone_expr *at[] = {row, column};
    diagonal = hone_topi_step_let(&w.p, "diagonal", diagonal);
    above = hone_topi_step_let(&w.p, "above", above);
    beside = hone_topi_step_let(&w.p, "beside", beside);
    const hone_expr *is_both = is_least(&w, diagonal, above, beside);
    const hone_expr *is_above = is_least(&w, above, diagonal, beside);
    const hone_expr *cost = choose(&w, is_both, diagonal, choose(&w, is_above, above, beside));
    const hone_expr *from =
        choose(&w, is_above, trace_number(&w, ROW_BEFORE), trace_number(&w, COLUMN_BEFORE));
    from = choose(&w, is_both, trace_number(&w, BOTH), from);
    hone_te_store(w.te, w.p.at, w.trace, at, from);
    cost = op(&w, HONE_OP_ADD, cost, hone_topi_load(w.p.t, 0, at));
    cost = hone_topi_step_let(&w.p, "cost", cost);
    hone_topi_step_store(&w.p, w.costs, integer(&w, DIAGONAL), beside);
    hone_topi_step_store(&w.p, w.costs, integer(&w, ABOVE), cost);
    hone_topi_step_store(&w.p, w.column, row, cost);
}

/* In front of the first row there is no way, but to the first element of all. */
static void go_through(warp w) {
    const hone_expr *none = number(&w, HUGE_VAL);
    warp inside = w;
    const hone_expr *row = hone_te_for(w.te, &inside.p.at, "row", w.rows);
    hone_topi_step_store(&inside.p, w.column, row, none);
    const hone_expr *column = hone_te_for(w.te, &w.p.at, "column", w.columns);
    const hone_expr *is_first = op(&w, HONE_OP_EQ, column, integer(&w, 0));
    hone_topi_step_store(&w.p, w.costs, integer(&w, DIAGONAL),
                         choose(&w, is_first, number(&w, 0), none));
    hone_topi_step_store(&w.p, w.costs, integer(&w, ABOVE), none);
    row = hone_te_for(w.te, &w.p.at, "row", w.rows);
    reach(w, row, column);
}

static const hone_expr *state_of(warp *w, const char *name, int which) {
    const hone_expr *value = hone_topi_step_load(&w->p, w->state, integer(w, which));
    return hone_topi_step_let(&w->p, name, value);
}

static void set_state(const warp *w, int which, const hone_expr *value) {
    hone_topi_step_store(&w->p, w->state, integer(w, which), value);
}

static void write_way(const warp *w, const hone_expr *index, int which, const hone_expr *value) {
    const hone_expr *at[] = {integer(w, which), index};
    hone_te_store(w->te, w->p.at, w->way, at,
                  value ? hone_expr_cast(&w->te->ir, HONE_DTYPE_I32, value) : NULL);
}

/* Back from the last element, until there is nothing before. */
static void go_back(warp w) {
    set_state(&w, ROW, hone_topi_add_int(w.p.t, w.rows, -1));
    set_state(&w, COLUMN, hone_topi_add_int(w.p.t, w.columns, -1));
    set_state(&w, INDEX, hone_topi_add_int(w.p.t, w.p.t->out_shape[1], -1));
    hone_te_for(w.te, &w.p.at, "step", w.p.t->out_shape[1]);
    const hone_expr *row = state_of(&w, "row", ROW), *column = state_of(&w, "column", COLUMN);
    const hone_expr *zero = integer(&w, 0);
    hone_topi_step_break_if(
        &w.p, op(&w, HONE_OP_OR, op(&w, HONE_OP_LT, row, zero), op(&w, HONE_OP_LT, column, zero)));
    const hone_expr *index = state_of(&w, "index", INDEX);
    const hone_expr *at[] = {row, column};
    const hone_expr *from = hone_topi_step_let(&w.p, "from", hone_te_load(w.te, w.trace, at));
    write_way(&w, index, ROW, row);
    write_way(&w, index, COLUMN, column);
    const hone_expr *one = integer(&w, 1);
    const hone_expr *is_column = op(&w, HONE_OP_NE, from, trace_number(&w, ROW_BEFORE));
    const hone_expr *is_row = op(&w, HONE_OP_NE, from, trace_number(&w, COLUMN_BEFORE));
    set_state(&w, ROW, op(&w, HONE_OP_SUB, row, choose(&w, is_row, one, zero)));
    set_state(&w, COLUMN, op(&w, HONE_OP_SUB, column, choose(&w, is_column, one, zero)));
    set_state(&w, INDEX, op(&w, HONE_OP_SUB, index, one));
}

hone_status hone_topi_emit_time_warp(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *const *shape = t->shapes[0];
    const hone_expr *costs = hone_te_int(t->te, COSTS), *states = hone_te_int(t->te, STATES);
    warp w = {.p.t = t, .te = t->te, .rows = shape[0], .columns = shape[1]};
    hone_dtype dtype = t->infos[0]->dtype;
    w.column = hone_te_buffer(t->te, "warp_column", dtype, 1, shape);
    w.costs = hone_te_buffer(t->te, "warp_costs", dtype, 1, &costs);
    w.trace = hone_te_buffer(t->te, "warp_trace", HONE_DTYPE_I8, 2, shape);
    w.state = hone_te_buffer(t->te, "warp_state", t->te->index, 1, &states);
    hone_topi_stage(t, &s);
    w.way = hone_te_compute(t->te, &s, "way", hone_expr_int(&t->te->ir, t->out->dtype, -1));
    const hone_buffer made[] = {w.column, w.costs, w.trace, w.state, w.way};
    hone_te_stage_begin(t->te, &w.p.s, 0, NULL, 0, NULL);
    w.p.at =
        hone_te_steps(t->te, &w.p.s, "time_warp", HONE_COUNT(made), made, HONE_COUNT(made), made);
    if (t->buffers[0] != HONE_NO_ID) hone_te_steps_read(t->te, w.p.at, t->buffers[0]);
    go_through(w);
    go_back(w);
    t->result = w.way;
    return HONE_OK;
}
