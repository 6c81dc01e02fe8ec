/* graph/operators/topi_descend.c - which leaf each row reaches in each tree of decisions.
 *
 *   nodes[node]  = {feature (twice that, and whether NaN goes where `yes` is, if such nodes are
 *                   told apart), how it compares, no, yes}; a leaf leads to itself
 *   roots[group, lane], out[group, row, lane]
 *
 * The way down a tree is a chain of loads, each of which waits for the one before. So the trees of
 * a group go down together, and those of other groups follow for all rows, so that the nodes of a
 * group stay in the first caches. Where trees are few, some rows go together, too; behind the last
 * row it is gone again. Deep trees end at many levels: a group ends when none of its trees has
 * moved.
 */
#include "graph/operators/topi_steps.h"

enum { ROWS, NODES, LIMITS, ROOTS, INPUTS };
enum { FEATURE, COMPARISON, NO, YES };
enum {
    MOST_LANES = 64,
    TOGETHER = 8,  /* chains that keep a core busy */
    FEW_LEVELS = 6 /* which are gone down without asking whether trees have ended */
};

static const hone_op comparisons[] = {HONE_OP_LE, HONE_OP_LT, HONE_OP_GE,
                                      HONE_OP_GT, HONE_OP_EQ, HONE_OP_NE};

typedef struct descent {
    hone_topi_steps p;   /* of a group and some rows */
    hone_buffer at;      /* [groups, parts of rows, rows of a part * trees], the nodes reached */
    int64_t trees, rows; /* that go together */
    const hone_expr *row[MOST_LANES]; /* of a part */
    int64_t comparison;               /* of all nodes; below 0: each has its own */
    bool tells_missing;
} descent;

static const hone_expr *as_index(const descent *d, const hone_expr *e) {
    return e ? hone_expr_cast(&d->p.t->te->ir, d->p.t->te->index, e) : NULL;
}

static const hone_expr *field(const descent *d, const hone_expr *node, int which) {
    const hone_expr *at[] = {node, hone_topi_step_int(&d->p, which)};
    return hone_topi_load(d->p.t, NODES, at);
}

static const hone_expr *number(const descent *d, int64_t value) {
    return hone_expr_int(&d->p.t->te->ir, HONE_DTYPE_I32, value);
}

static const hone_expr *select(const descent *d, const hone_expr *condition, const hone_expr *yes,
                               const hone_expr *no) {
    return condition && yes && no ? hone_expr_select(&d->p.t->te->ir, condition, yes, no) : NULL;
}

/* What the node says of the number. */
static const hone_expr *compare(const descent *d, const hone_expr *node, const hone_expr *x) {
    hone_topi *t = d->p.t;
    const hone_expr *limit = hone_topi_load(t, LIMITS, &node);
    if (d->comparison >= 0) return hone_topi_op(t, comparisons[d->comparison], x, limit);
    const hone_expr *own = field(d, node, COMPARISON);
    const hone_expr *is_so = hone_topi_op(t, comparisons[0], x, limit);
    for (uint32_t i = 1; i < HONE_COUNT(comparisons); i++) {
        const hone_expr *is_own = hone_topi_op(t, HONE_OP_EQ, own, number(d, i));
        is_so = select(d, is_own, hone_topi_op(t, comparisons[i], x, limit), is_so);
    }
    return is_so;
}

static const hone_expr *next_of(descent *d, const hone_expr *row, const hone_expr *node) {
    hone_topi *t = d->p.t;
    const hone_expr *code = hone_topi_step_let(&d->p, "code", field(d, node, FEATURE));
    const hone_expr *feature = code;
    if (d->tells_missing)
        feature = hone_topi_step_shift(&d->p, HONE_INTRIN_SHIFT_RIGHT, code, number(d, 1));
    const hone_expr *index[] = {row, as_index(d, feature)};
    const hone_expr *x = hone_topi_step_let(&d->p, "x", hone_topi_load(t, ROWS, index));
    const hone_expr *is_so = compare(d, node, x);
    if (d->tells_missing) {
        const hone_expr *bit =
            hone_topi_step_shift(&d->p, HONE_INTRIN_BITWISE_AND, code, number(d, 1));
        const hone_expr *is_told = hone_topi_op(t, HONE_OP_NE, bit, number(d, 0));
        const hone_expr *is_missing =
            x ? hone_expr_call(&t->te->ir, HONE_DTYPE_BOOL, HONE_INTRIN_ISNAN, 1, &x) : NULL;
        is_so = select(d, hone_topi_op(t, HONE_OP_AND, is_told, is_missing), is_told, is_so);
    }
    return select(d, is_so, field(d, node, YES), field(d, node, NO));
}

/* All trees of the group go down one level; where out_moved is not NULL, it is 0 if none moves. */
static void go_down(descent *d, const hone_expr **out_moved) {
    const hone_expr *next[MOST_LANES], *moved = NULL;
    for (int64_t i = 0; i < d->rows * d->trees; i++) {
        const hone_expr *lane = hone_topi_step_int(&d->p, i);
        const hone_expr *now =
            hone_topi_step_let(&d->p, "now", hone_topi_step_load(&d->p, d->at, lane));
        const hone_expr *node = hone_topi_step_let(&d->p, "node", as_index(d, now));
        next[i] = hone_topi_step_let(&d->p, "next", next_of(d, d->row[i / d->trees], node));
        const hone_expr *step = hone_topi_step_shift(&d->p, HONE_INTRIN_BITWISE_XOR, now, next[i]);
        moved = moved ? hone_topi_step_shift(&d->p, HONE_INTRIN_BITWISE_OR, moved, step) : step;
    }
    for (int64_t i = 0; i < d->rows * d->trees; i++)
        hone_topi_step_store(&d->p, d->at, hone_topi_step_int(&d->p, i), next[i]);
    if (out_moved) *out_moved = moved;
}

static void go_to_leaves(descent d, int64_t levels) {
    hone_te *te = d.p.t->te;
    const hone_expr *moved;
    if (levels <= FEW_LEVELS) {
        hone_te_for(te, &d.p.at, "level", hone_topi_step_int(&d.p, levels));
        go_down(&d, NULL);
        return;
    }
    hone_te_for(te, &d.p.at, "turn", hone_topi_step_int(&d.p, (levels + 1) / 2));
    go_down(&d, NULL);
    go_down(&d, &moved);
    hone_te_break(te,
                  hone_te_if(te, d.p.at, hone_topi_op(d.p.t, HONE_OP_EQ, moved, number(&d, 0))));
}

/* Each part of rows begins at the roots. */
static void begin(descent *d) {
    hone_topi *t = d->p.t;
    const hone_expr *last = hone_topi_add_int(t, t->out_shape[1], -1);
    const hone_expr *first = hone_topi_mul_int(t, d->p.s.axis[1], d->rows);
    for (int64_t i = 0; i < d->rows; i++) {
        const hone_expr *row = hone_topi_add_int(t, first, i);
        if (d->rows > 1) row = hone_topi_op(t, HONE_OP_MIN, row, last);
        d->row[i] = d->rows > 1 ? hone_topi_step_let(&d->p, "row", row) : row;
    }
    for (int64_t i = 0; i < d->rows * d->trees; i++) {
        const hone_expr *tree = hone_topi_step_int(&d->p, i % d->trees);
        const hone_expr *root[] = {d->p.s.axis[0], tree};
        hone_topi_step_store(&d->p, d->at, hone_topi_step_int(&d->p, i),
                             hone_topi_load(t, ROOTS, root));
    }
}

/* Rows that go together where there are so many trees. */
static int64_t rows_together(const hone_topi *t, int64_t trees) {
    int64_t rows = trees < TOGETHER ? TOGETHER / trees : 1;
    int64_t all = hone_expr_const(t->out_shape[1]);
    return all >= 1 && all < rows ? all : rows;
}

/* leaves[group, row, tree], which lie in parts of rows. */
static void give(const descent *d) {
    hone_topi *t = d->p.t;
    hone_te_stage s;
    hone_topi_stage(t, &s);
    const hone_expr *part = s.axis[1], *lane = s.axis[2];
    if (d->rows > 1) {
        const hone_expr *size = hone_te_int(t->te, d->rows);
        const hone_expr *row = hone_expr_floormod(&t->te->ir, s.axis[1], size);
        part = hone_expr_floordiv(&t->te->ir, s.axis[1], size);
        lane = hone_topi_sum(t, hone_topi_mul_int(t, row, d->trees), lane);
    }
    const hone_expr *at[] = {s.axis[0], part, lane};
    t->result = hone_te_compute(t->te, &s, "leaves", hone_te_load(t->te, d->at, at));
}

hone_status hone_topi_emit_descend(hone_topi *t) {
    descent d = {.p.t = t, .trees = hone_expr_const(t->infos[ROOTS]->shape[1])};
    const hone_attrs *attrs = &t->bind->attrs;
    int64_t levels = hone_attrs_int(attrs, "levels", 0);
    d.comparison = hone_attrs_int(attrs, "comparison", 0);
    d.tells_missing = hone_attrs_int(attrs, "missing", 0) != 0;
    if (d.trees < 1 || d.trees > MOST_LANES || levels < 0 ||
        d.comparison >= (int64_t)HONE_COUNT(comparisons))
        return hone_topi_unsupported(t, "%lld trees that go down together", (long long)d.trees);
    d.rows = rows_together(t, d.trees);
    const hone_expr *parts = hone_topi_add_int(t, t->out_shape[1], d.rows - 1);
    if (d.rows > 1 && parts)
        parts = hone_expr_floordiv(&t->te->ir, parts, hone_te_int(t->te, d.rows));
    const hone_expr *shape[] = {t->out_shape[0], parts, hone_te_int(t->te, d.rows * d.trees)};
    d.at = hone_te_buffer(t->te, "descend_at", HONE_DTYPE_I32, 3, shape);
    hone_te_stage_begin(t->te, &d.p.s, 2, shape, 0, NULL);
    d.p.at = hone_te_steps(t->te, &d.p.s, "descend", 1, &d.at, 1, &d.at);
    for (uint32_t i = 0; i < INPUTS; i++)
        hone_te_steps_read(t->te, d.p.at, t->buffers[i]);
    begin(&d);
    if (levels) go_to_leaves(d, levels);
    give(&d);
    return HONE_OK;
}
