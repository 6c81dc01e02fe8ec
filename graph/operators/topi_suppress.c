/* graph/operators/topi_suppress.c - which of boxes go because they lie over one in front of them
 * that stays. A box is its low and its high corner; what is no box, or has no area, lies over none.
 */
#include "graph/operators/topi_build.h"

/* A box of list 0 of the arguments: corners[low, high][axis]. */
typedef struct box {
    const hone_expr *corners[2][2];
} box;

static box box_at(hone_topi *t, const hone_expr *list, const hone_expr *number) {
    box b;
    for (int64_t i = 0; i < 4; i++) {
        const hone_expr *at[] = {list, number, hone_te_int(t->te, i)};
        b.corners[i / 2][i % 2] = hone_topi_load(t, 0, at);
    }
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

static const hone_expr *is_above(hone_topi *t, const hone_expr *x, const hone_expr *limit) {
    return hone_topi_op(t, HONE_OP_GT, x, limit);
}

static const hone_expr *and_above(hone_topi *t, const hone_expr *so_far, const hone_expr *x,
                                  const hone_expr *limit) {
    return hone_topi_op(t, HONE_OP_AND, so_far, is_above(t, x, limit));
}

/* The common part of both areas is more than the threshold. */
static const hone_expr *lie_over(hone_topi *t, const box *a, const box *b) {
    const hone_expr *first[] = {hone_te_int(t->te, 0)}, *limit = hone_topi_load(t, 1, first);
    const hone_expr *none = hone_topi_number(t, t->infos[0]->dtype, 0);
    box common = both(t, a, b);
    const hone_expr *own = area(t, a), *other = area(t, b), *shared = area(t, &common);
    const hone_expr *all =
        hone_topi_op(t, HONE_OP_SUB, hone_topi_op(t, HONE_OP_ADD, own, other), shared);
    const hone_expr *is_so = is_above(t, side(t, &common, 0), none);
    is_so = and_above(t, is_so, side(t, &common, 1), none);
    const hone_expr *const wanted[] = {shared, own, other, all};
    for (size_t i = 0; i < HONE_COUNT(wanted); i++)
        is_so = and_above(t, is_so, wanted[i], none);
    return and_above(t, is_so, hone_topi_op(t, HONE_OP_DIV, shared, all), limit);
}

/* Box by box, for all behind it: gone = gone or (this one stays, and they lie over each other). */
hone_status hone_topi_emit_suppress(hone_topi *t) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    hone_topi_stage(t, &s);
    hone_buffer gone = hone_te_compute(t->te, &s, "suppress", hone_expr_bool(ir, false));
    const hone_expr *steps[] = {t->out_shape[1], t->out_shape[1]};
    hone_te_stage_begin(t->te, &s, 1, t->out_shape, 2, steps);
    const hone_expr *list = s.axis[0], *one = s.axis[1], *behind = s.axis[2];
    const hone_expr *at[] = {list, behind}, *at_one[] = {list, one};
    box a = box_at(t, list, one), b = box_at(t, list, behind);
    const hone_expr *stays = hone_expr_not(ir, hone_te_load(t->te, gone, at_one));
    const hone_expr *goes =
        hone_topi_op(t, HONE_OP_AND, hone_topi_op(t, HONE_OP_LT, one, behind), stays);
    goes = hone_topi_op(t, HONE_OP_AND, goes, lie_over(t, &a, &b));
    goes = hone_topi_op(t, HONE_OP_OR, hone_te_load(t->te, gone, at), goes);
    hone_te_update(t->te, &s, "suppress_behind", gone, at, goes);
    t->result = gone;
    return HONE_OK;
}
