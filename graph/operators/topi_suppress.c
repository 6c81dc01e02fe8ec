/* graph/operators/topi_suppress.c - which boxes of each list stay: the one of the best score, then
 * the best of those that lie over none that stayed, and so on. Equal scores come by number; a score
 * that is no number, or not above the least one, is never chosen. A box is its low and its high
 * corner; what is no box, or has no area, lies over none.
 *
 * Scores above the least one become a heap, so that no more are put in order than are looked at.
 */
#include "graph/operators/topi_steps.h"

enum { BOXES, SCORES, MOST, OVERLAP, LEAST, INPUTS };

enum { SIDES = 4 }; /* numbers of a box */

/* corners[low, high][axis] */
typedef struct box {
    const hone_expr *corners[2][2];
} box;

/* Buffers of each list. */
typedef struct lists {
    hone_te *te;
    const hone_expr *number; /* of boxes */
    const hone_expr *limit;  /* so many are chosen at most */
    hone_topi_heap heap;     /* of scores and numbers: the first one is the best */
    hone_buffer stay;        /* the boxes that stay, side by side */
    hone_buffer counts;      /* FOUND, STAYING, IS_OVER */
    hone_buffer picks;       /* their numbers, -1 behind them */
} lists;

enum { FOUND, STAYING, IS_OVER, COUNTS };

static const hone_expr *input_number(hone_topi *t, uint32_t input) {
    const hone_expr *first[] = {hone_te_int(t->te, 0)};
    return hone_topi_load(t, input, first);
}

static const hone_expr *count_of(const hone_topi_steps *p, const lists *l, int which) {
    return hone_topi_step_load(p, l->counts, hone_topi_step_int(p, which));
}

static void set_count(const hone_topi_steps *p, const lists *l, int which, const hone_expr *value) {
    hone_topi_step_store(p, l->counts, hone_topi_step_int(p, which), value);
}

/* ---- boxes that lie over each other ---- */

static box box_of(hone_topi_steps *p, const hone_expr *number) {
    static const char *const names[] = {"low_0", "low_1", "high_0", "high_1"};
    box b;
    for (int i = 0; i < SIDES; i++) {
        const hone_expr *at[] = {p->s.axis[0], number, hone_topi_step_int(p, i)};
        b.corners[i / 2][i % 2] = hone_topi_step_let(p, names[i], hone_topi_load(p->t, BOXES, at));
    }
    return b;
}

/* Side i of the boxes that stay, one behind the other. */
static const hone_expr *index_of_side(const hone_topi_steps *p, const lists *l, int i,
                                      const hone_expr *index) {
    const hone_expr *first = hone_topi_op(p->t, HONE_OP_MUL, l->limit, hone_topi_step_int(p, i));
    return hone_topi_op(p->t, HONE_OP_ADD, first, index);
}

static box staying_box(const hone_topi_steps *p, const lists *l, const hone_expr *index) {
    box b;
    for (int i = 0; i < SIDES; i++)
        b.corners[i / 2][i % 2] = hone_topi_step_load(p, l->stay, index_of_side(p, l, i, index));
    return b;
}

static const hone_expr *side(hone_topi *t, const box *b, int axis) {
    return hone_topi_op(t, HONE_OP_SUB, b->corners[1][axis], b->corners[0][axis]);
}

static const hone_expr *area(hone_topi *t, const box *b) {
    return hone_topi_op(t, HONE_OP_MUL, side(t, b, 0), side(t, b, 1));
}

static box both(hone_topi *t, const box *a, const box *b) {
    box out;
    for (int i = 0; i < 2; i++) {
        out.corners[0][i] = hone_topi_op(t, HONE_OP_MAX, a->corners[0][i], b->corners[0][i]);
        out.corners[1][i] = hone_topi_op(t, HONE_OP_MIN, a->corners[1][i], b->corners[1][i]);
    }
    return out;
}

static const hone_expr *is_above_0(hone_topi *t, const hone_expr *x) {
    return hone_topi_op(t, HONE_OP_GT, x, hone_topi_number(t, t->infos[BOXES]->dtype, 0));
}

/* Most boxes have no part in common, which takes two comparisons. What comes next is where the
 * common part of both areas is more than the threshold. */
static void if_over(hone_topi_steps *p, const box *a, const box *b) {
    hone_topi *t = p->t;
    box common = both(t, a, b);
    for (int axis = 0; axis < 2; axis++)
        p->at = hone_te_if(t->te, p->at, is_above_0(t, side(t, &common, axis)));
    const hone_expr *own = hone_topi_step_let(p, "own", area(t, a));
    const hone_expr *other = hone_topi_step_let(p, "other_area", area(t, b));
    const hone_expr *shared = hone_topi_step_let(p, "shared", area(t, &common));
    const hone_expr *all =
        hone_topi_op(t, HONE_OP_SUB, hone_topi_op(t, HONE_OP_ADD, own, other), shared);
    all = hone_topi_step_let(p, "all", all);
    const hone_expr *const wanted[] = {shared, own, other, all};
    const hone_expr *is_so = hone_topi_op(t, HONE_OP_GT, hone_topi_op(t, HONE_OP_DIV, shared, all),
                                          input_number(t, OVERLAP));
    for (size_t i = 0; i < HONE_COUNT(wanted); i++)
        is_so = hone_topi_op(t, HONE_OP_AND, is_above_0(t, wanted[i]), is_so);
    p->at = hone_te_if(t->te, p->at, is_so);
}

/* ---- the statements of a list ---- */

/* A heap's first one comes last, so what is better comes behind. */
static const hone_expr *is_worse(const hone_topi_steps *p, const hone_expr *key_a,
                                 const hone_expr *element_a, const hone_expr *key_b,
                                 const hone_expr *element_b) {
    hone_topi *t = p->t;
    const hone_expr *is_equal =
        hone_topi_op(t, HONE_OP_AND, hone_topi_op(t, HONE_OP_EQ, key_a, key_b),
                     hone_topi_op(t, HONE_OP_LT, element_b, element_a));
    return hone_topi_op(t, HONE_OP_OR, hone_topi_op(t, HONE_OP_LT, key_a, key_b), is_equal);
}

/* Scores that are wanted, in the order of their numbers. */
static void find(hone_topi_steps p, const lists *l) {
    hone_topi *t = p.t;
    const hone_expr *at[HONE_MAX_RANK];
    set_count(&p, l, FOUND, hone_topi_step_int(&p, 0));
    const hone_expr *number = hone_te_for(l->te, &p.at, "number", l->number);
    const hone_expr *score = hone_topi_load(t, SCORES, hone_topi_step_index(&p, number, at));
    score = hone_topi_step_let(&p, "score", score);
    p.at = hone_te_if(l->te, p.at, hone_topi_op(t, HONE_OP_GT, score, input_number(t, LEAST)));
    const hone_expr *found = hone_topi_step_let(&p, "found", count_of(&p, l, FOUND));
    hone_topi_heap_put(&p, &l->heap, found, score, number);
    set_count(&p, l, FOUND, hone_topi_add_int(t, found, 1));
}

/* The best one leaves the heap; its number. */
static const hone_expr *take_best(hone_topi_steps *p, const lists *l, const hone_expr *size) {
    hone_topi_heap rest = l->heap;
    const hone_expr *zero = hone_topi_step_int(p, 0);
    const hone_expr *best =
        hone_topi_step_let(p, "best", hone_topi_step_load(p, rest.elements, zero));
    rest.size = hone_topi_step_let(p, "last", hone_topi_add_int(p->t, size, -1));
    hone_topi_steps moved = *p;
    const hone_expr *key =
        hone_topi_step_let(&moved, "key", hone_topi_step_load(&moved, rest.keys, rest.size));
    const hone_expr *element = hone_topi_step_let(
        &moved, "element", hone_topi_step_load(&moved, rest.elements, rest.size));
    hone_topi_heap_sink(moved, &rest, zero, key, element);
    return best;
}

static void look_for_one_over(hone_topi_steps p, const lists *l, const box *own,
                              const hone_expr *staying) {
    set_count(&p, l, IS_OVER, hone_topi_step_int(&p, 0));
    const hone_expr *other = hone_te_for(l->te, &p.at, "other", staying);
    box b = staying_box(&p, l, other);
    if_over(&p, &b, own);
    set_count(&p, l, IS_OVER, hone_topi_step_int(&p, 1));
    hone_te_break(l->te, p.at);
}

static void choose(hone_topi_steps p, const lists *l) {
    hone_topi *t = p.t;
    const hone_expr *found = hone_topi_step_let(&p, "all_found", count_of(&p, l, FOUND));
    const hone_expr *taken = hone_te_for(l->te, &p.at, "taken", found);
    const hone_expr *staying = hone_topi_step_let(&p, "staying", count_of(&p, l, STAYING));
    const hone_expr *limit = hone_expr_cast(&l->te->ir, HONE_DTYPE_I64, staying);
    limit = hone_topi_op(t, HONE_OP_GE, limit, input_number(t, MOST));
    limit = hone_topi_op(t, HONE_OP_OR, limit, hone_topi_op(t, HONE_OP_GE, staying, l->limit));
    hone_topi_step_break_if(&p, limit);
    const hone_expr *size = hone_topi_op(t, HONE_OP_SUB, found, taken);
    const hone_expr *best = take_best(&p, l, hone_topi_step_let(&p, "size", size));
    box own = box_of(&p, best);
    look_for_one_over(p, l, &own, staying);
    const hone_expr *is_over =
        hone_topi_op(t, HONE_OP_EQ, count_of(&p, l, IS_OVER), hone_topi_step_int(&p, 0));
    p.at = hone_te_if(l->te, p.at, is_over);
    for (int i = 0; i < SIDES; i++)
        hone_topi_step_store(&p, l->stay, index_of_side(&p, l, i, staying),
                             own.corners[i / 2][i % 2]);
    hone_topi_step_store(&p, l->picks, staying, hone_expr_cast(&l->te->ir, t->out->dtype, best));
    set_count(&p, l, STAYING, hone_topi_add_int(t, staying, 1));
}

static hone_buffer buffer_of_lists(hone_topi *t, const char *name, hone_dtype dtype,
                                   const hone_expr *extent) {
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[1], extent};
    return hone_te_buffer(t->te, name, dtype, 3, shape);
}

static lists make_lists(hone_topi *t) {
    lists l = {.te = t->te, .number = t->shapes[SCORES][2], .limit = t->out_shape[2]};
    hone_dtype dtype = t->infos[SCORES]->dtype, index = t->te->index;
    l.heap = (hone_topi_heap){.precedes = is_worse};
    l.heap.keys = buffer_of_lists(t, "scores_left", dtype, l.number);
    l.heap.elements = buffer_of_lists(t, "numbers_left", index, l.number);
    l.heap.hole = buffer_of_lists(t, "hole", index, hone_te_int(t->te, 1));
    l.stay = buffer_of_lists(t, "boxes_that_stay", t->infos[BOXES]->dtype,
                             hone_topi_mul_int(t, l.limit, SIDES));
    l.counts = buffer_of_lists(t, "counts", index, hone_te_int(t->te, COUNTS));
    hone_te_stage s;
    hone_topi_stage(t, &s);
    l.picks = hone_te_compute(t->te, &s, "picks", hone_expr_int(&t->te->ir, t->out->dtype, -1));
    return l;
}

hone_status hone_topi_emit_suppress(hone_topi *t) {
    hone_topi_steps p = {.t = t};
    lists l = make_lists(t);
    const hone_buffer made[] = {l.heap.keys, l.heap.elements, l.heap.hole,
                                l.stay,      l.counts,        l.picks};
    hone_te_stage_begin(t->te, &p.s, 2, t->out_shape, 0, NULL);
    p.at = hone_te_steps(t->te, &p.s, "suppress", HONE_COUNT(made), made, HONE_COUNT(made), made);
    for (uint32_t i = 0; i < INPUTS; i++)
        if (t->buffers[i] != HONE_NO_ID) hone_te_steps_read(t->te, p.at, t->buffers[i]);
    find(p, &l);
    set_count(&p, &l, STAYING, hone_topi_step_int(&p, 0));
    hone_topi_steps after = p;
    l.heap.size = hone_topi_step_let(&after, "number_found", count_of(&after, &l, FOUND));
    hone_topi_heap_make(after, &l.heap);
    choose(p, &l);
    t->result = l.picks;
    return HONE_OK;
}
