/* graph/operators/topi_couple.c - what is known of pairs, as one probability for each: pairs[i, j]
 * is how likely i is, where it is i or j. The second method of T.-F. Wu, C.-J. Lin and R. C. Weng,
 * Probability Estimates for Multi-class Classification by Pairwise Coupling (2004), which LIBSVM
 * takes: the least p' Q p of those that add up to 1, by sweeps over all of them, until no element
 * of Q p is far from p' Q p.
 *
 *   Q[i, i] = sum of pairs[j, i]^2, j != i       Q[i, j] = - pairs[j, i] pairs[i, j]
 */
#include "graph/operators/topi_steps.h"

enum { SWEEPS = 100 };
enum { SUM, ERROR, COUNTS }; /* p' Q p; how far the farthest element of Q p is from it */

typedef struct coupling {
    hone_topi_steps p; /* of a row; `at` is where its next statement goes */
    hone_buffer q;     /* [n * n] */
    hone_buffer product, chances, state;
    const hone_expr *n;
    hone_dtype dtype;
} coupling;

static const hone_expr *bin(const coupling *c, hone_op op, const hone_expr *a, const hone_expr *b) {
    return hone_topi_op(c->p.t, op, a, b);
}

static const hone_expr *number(const coupling *c, double value) {
    return hone_topi_number(c->p.t, c->dtype, value);
}

static const hone_expr *pair(const coupling *c, const hone_expr *i, const hone_expr *j) {
    const hone_expr *at[HONE_TE_MAX_RANK];
    hone_topi_step_index(&c->p, i, at);
    at[c->p.s.spatial_count + 1] = j;
    return hone_topi_widen(c->p.t, hone_topi_load(c->p.t, 0, at));
}

static const hone_expr *cell(const coupling *c, const hone_expr *i, const hone_expr *j) {
    return bin(c, HONE_OP_ADD, bin(c, HONE_OP_MUL, i, c->n), j);
}

static const hone_expr *get(const coupling *c, hone_buffer buffer, const hone_expr *index) {
    return hone_topi_step_load(&c->p, buffer, index);
}

static void put(const coupling *c, hone_buffer buffer, const hone_expr *index,
                const hone_expr *value) {
    hone_topi_step_store(&c->p, buffer, index, value);
}

static const hone_expr *state(const coupling *c, int which) {
    return get(c, c->state, hone_topi_step_int(&c->p, which));
}

static void set_state(const coupling *c, int which, const hone_expr *value) {
    put(c, c->state, hone_topi_step_int(&c->p, which), value);
}

static const hone_expr *let(coupling *c, const char *name, const hone_expr *value) {
    return hone_topi_step_let(&c->p, name, value);
}

/* What comes next is inside of a loop over all classes, whose variable comes back. */
static const hone_expr *each(coupling *c, const char *name) {
    return hone_te_for(c->p.t->te, &c->p.at, name, c->n);
}

static const hone_expr *share(const coupling *c, double of) {
    return bin(c, HONE_OP_DIV, number(c, of), hone_expr_cast(&c->p.t->te->ir, c->dtype, c->n));
}

/* Q, and all equally likely. */
static void begin(coupling c) {
    const hone_expr *i = each(&c, "i");
    const hone_expr *own = let(&c, "own", cell(&c, i, i));
    put(&c, c.chances, i, share(&c, 1));
    put(&c, c.q, own, number(&c, 0));
    const hone_expr *j = each(&c, "j");
    c.p.at = hone_te_if(c.p.t->te, c.p.at, bin(&c, HONE_OP_NE, i, j));
    const hone_expr *other = let(&c, "other", pair(&c, j, i));
    put(&c, c.q, own, bin(&c, HONE_OP_ADD, get(&c, c.q, own), bin(&c, HONE_OP_MUL, other, other)));
    const hone_expr *both = bin(&c, HONE_OP_MUL, other, pair(&c, i, j));
    put(&c, c.q, cell(&c, i, j), bin(&c, HONE_OP_SUB, number(&c, 0), both));
}

/* Q p and p' Q p. */
static void multiply(coupling c) {
    set_state(&c, SUM, number(&c, 0));
    const hone_expr *i = each(&c, "i");
    put(&c, c.product, i, number(&c, 0));
    coupling inner = c;
    const hone_expr *j = each(&inner, "j");
    const hone_expr *part =
        bin(&inner, HONE_OP_MUL, get(&inner, c.q, cell(&inner, i, j)), get(&inner, c.chances, j));
    put(&inner, c.product, i, bin(&inner, HONE_OP_ADD, get(&inner, c.product, i), part));
    part = bin(&c, HONE_OP_MUL, get(&c, c.chances, i), get(&c, c.product, i));
    set_state(&c, SUM, bin(&c, HONE_OP_ADD, state(&c, SUM), part));
}

/* What is no number is not far. */
static void find_error(coupling c) {
    hone_topi *t = c.p.t;
    set_state(&c, ERROR, number(&c, 0));
    const hone_expr *i = each(&c, "i");
    const hone_expr *away = bin(&c, HONE_OP_SUB, get(&c, c.product, i), state(&c, SUM));
    away = let(&c, "away", hone_expr_call(&t->te->ir, c.dtype, HONE_INTRIN_FABS, 1, &away));
    c.p.at = hone_te_if(t->te, c.p.at, bin(&c, HONE_OP_GT, away, state(&c, ERROR)));
    set_state(&c, ERROR, away);
}

/* Each in turn as the others are best with; then all add up to 1 again. */
static void move(coupling c) {
    const hone_expr *i = each(&c, "i"), *one = number(&c, 1);
    const hone_expr *own = let(&c, "own", get(&c, c.q, cell(&c, i, i)));
    const hone_expr *old = let(&c, "old", get(&c, c.product, i));
    const hone_expr *sum = let(&c, "sum", state(&c, SUM));
    const hone_expr *step = bin(&c, HONE_OP_DIV, bin(&c, HONE_OP_SUB, sum, old), own);
    step = let(&c, "step", step);
    const hone_expr *all = let(&c, "all", bin(&c, HONE_OP_ADD, one, step));
    put(&c, c.chances, i, bin(&c, HONE_OP_ADD, get(&c, c.chances, i), step));
    const hone_expr *grown = bin(&c, HONE_OP_ADD, bin(&c, HONE_OP_MUL, step, own),
                                 bin(&c, HONE_OP_MUL, number(&c, 2), old));
    sum = bin(&c, HONE_OP_ADD, sum, bin(&c, HONE_OP_MUL, step, grown));
    set_state(&c, SUM, bin(&c, HONE_OP_DIV, bin(&c, HONE_OP_DIV, sum, all), all));
    const hone_expr *j = each(&c, "j");
    const hone_expr *part = bin(&c, HONE_OP_MUL, step, get(&c, c.q, cell(&c, i, j)));
    part = bin(&c, HONE_OP_ADD, get(&c, c.product, j), part);
    put(&c, c.product, j, bin(&c, HONE_OP_DIV, part, all));
    put(&c, c.chances, j, bin(&c, HONE_OP_DIV, get(&c, c.chances, j), all));
}

/* So many numbers of each row. */
static hone_buffer of_rows(hone_topi *t, const char *name, hone_dtype dtype,
                           const hone_expr *count) {
    const hone_expr *shape[HONE_TE_MAX_RANK];
    uint32_t batch = (uint32_t)t->out->rank - 1;
    for (uint32_t d = 0; d < batch; d++)
        shape[d] = t->out_shape[d];
    shape[batch] = count;
    return hone_te_buffer(t->te, name, dtype, batch + 1, shape);
}

hone_status hone_topi_emit_couple(hone_topi *t) {
    hone_te_stage s;
    uint32_t batch = (uint32_t)t->out->rank - 1;
    coupling c = {.p.t = t, .n = t->out_shape[batch], .dtype = hone_topi_wide(t->out->dtype)};
    c.q = of_rows(t, "couple_q", c.dtype, hone_topi_op(t, HONE_OP_MUL, c.n, c.n));
    c.product = of_rows(t, "couple_product", c.dtype, c.n);
    c.chances = of_rows(t, "couple_chances", c.dtype, c.n);
    c.state = of_rows(t, "couple_state", c.dtype, hone_te_int(t->te, COUNTS));
    const hone_buffer all[] = {c.q, c.product, c.chances, c.state};
    hone_te_stage_begin(t->te, &c.p.s, batch, t->out_shape, 0, NULL);
    c.p.at =
        hone_te_steps(t->te, &c.p.s, "couple_steps", HONE_COUNT(all), all, HONE_COUNT(all), all);
    if (t->buffers[0] != HONE_NO_ID) hone_te_steps_read(t->te, c.p.at, t->buffers[0]);
    begin(c);
    coupling sweep = c;
    hone_te_for(t->te, &sweep.p.at, "sweep", hone_te_int(t->te, SWEEPS));
    multiply(sweep);
    find_error(sweep);
    hone_topi_step_break_if(&sweep.p, bin(&c, HONE_OP_LT, state(&sweep, ERROR), share(&c, 0.005)));
    move(sweep);
    hone_topi_stage(t, &s);
    const hone_expr *value = hone_te_load(t->te, c.chances, s.axis);
    t->result =
        hone_te_compute(t->te, &s, "couple", hone_expr_cast(&t->te->ir, t->out->dtype, value));
    return HONE_OK;
}
