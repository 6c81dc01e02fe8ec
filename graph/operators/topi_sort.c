/* graph/operators/topi_sort.c - sorting along an axis, the first k. Equal elements stay in their
 * order; NaN counts as the largest number. Elements are compared as integers.
 *
 * Rows are laid with the axis last, and go one of four ways to the order of their elements:
 *   insertion  few are wanted: those found so far are kept in order, and most of the others are
 *              done with after one comparison with the last of them
 *   a heap     more are wanted, but not most, or it is known how many, but not of how many: the
 *              same with those found so far in a heap, whose first one is the last of them
 *   merging    runs of 1, 2, 4, ... that are in order become one of twice the length, to and fro
 *              between two arrays
 *   counting   an element's index is how many come before it: as many comparisons as the square of
 *              the extent, of which none waits for another one; for devices of many threads
 * Of long rows, and of those whose length comes later, the first two look at the best one of each
 * block first, which vectors find.
 */
#include <string.h>

#include "graph/operators/topi_steps.h"

enum {
    FEW = 4,           /* are found by insertion */
    SHARE = 2,         /* one in so many elements at most is found by a heap */
    BLOCK = 64,        /* elements that are done with together */
    LONG = 16 * BLOCK, /* a row that is gone over in blocks, */
    SHORT = 4 * BLOCK  /* or at least so long, and as many blocks as are wanted */
};

typedef struct rows {
    hone_topi *t;
    uint32_t rank, axis;
    const hone_expr *shape[HONE_MAX_RANK]; /* the axis last */
    const hone_expr *extent;               /* of the axis */
    bool is_descending;
} rows;

static void read_rows(hone_topi *t, bool is_descending, rows *r) {
    *r = (rows){.t = t, .rank = (uint32_t)t->infos[0]->rank, .is_descending = is_descending};
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", -1);
    r->axis = (uint32_t)(axis < 0 ? axis + r->rank : axis);
    r->extent = t->shapes[0][r->axis];
    for (uint32_t d = 0, next = 0; d < r->rank; d++)
        if (d != r->axis) r->shape[next++] = t->shapes[0][d];
    r->shape[r->rank - 1] = r->extent;
}

/* ---- keys ---- */

static const hone_expr *is_nan(hone_topi *t, const hone_expr *x) {
    return hone_expr_call(&t->te->ir, HONE_DTYPE_BOOL, HONE_INTRIN_ISNAN, 1, &x);
}

/* A float as an integer, in the order of floats: its bits, but of a negative one 0 less those of
 * its magnitude, so that both zeros are 0. NaN is the largest of all. */
static const hone_expr *order_of_float(hone_topi *t, const hone_expr *x) {
    hone_ir *ir = &t->te->ir;
    hone_dtype dtype = x->dtype.bits == 64 ? HONE_DTYPE_I64 : HONE_DTYPE_I32;
    int64_t least = x->dtype.bits == 64 ? INT64_MIN : INT32_MIN;
    const hone_expr *bits = hone_expr_call(ir, dtype, HONE_INTRIN_REINTERPRET, 1, &x);
    const hone_expr *is_negative = hone_topi_op(t, HONE_OP_LT, bits, hone_expr_int(ir, dtype, 0));
    const hone_expr *turned = hone_topi_op(t, HONE_OP_SUB, hone_expr_int(ir, dtype, least), bits);
    const hone_expr *order = hone_expr_select(ir, is_negative, turned, bits);
    return hone_expr_select(ir, is_nan(t, x), hone_expr_int(ir, dtype, -(least + 1)), order);
}

/* What the element is compared as. */
static const hone_expr *key_of(const rows *r, const hone_expr *x) {
    hone_ir *ir = &r->t->te->ir;
    if (x && hone_dtype_is_float(x->dtype)) x = hone_topi_widen(r->t, x);
    if (!x) return NULL;
    if (hone_dtype_is_float(x->dtype)) return order_of_float(r->t, x);
    return x->dtype.bits < 32 ? hone_expr_cast(ir, HONE_DTYPE_I32, x) : x;
}

/* The element of key a comes before that of key b, wherever they lie. */
static const hone_expr *comes_first(const rows *r, const hone_expr *a, const hone_expr *b) {
    return hone_topi_op(r->t, HONE_OP_GT, r->is_descending ? a : b, r->is_descending ? b : a);
}

/* A stage over all elements of the rows. */
static void stage_of_elements(const rows *r, hone_te_stage *s) {
    hone_te_stage_begin(r->t->te, s, r->rank, r->shape, 0, NULL);
}

static hone_buffer keys_of(const rows *r) {
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    stage_of_elements(r, &s);
    for (uint32_t d = 0, next = 0; d < r->rank; d++)
        at[d] = s.axis[d == r->axis ? r->rank - 1 : next++];
    return hone_te_compute(r->t->te, &s, "keys", key_of(r, hone_topi_load(r->t, 0, at)));
}

static hone_dtype key_type(const rows *r, hone_buffer keys) {
    return keys == HONE_NO_ID ? HONE_DTYPE_I32 : hone_func_buffer(r->t->te->func, keys)->dtype;
}

/* ---- statements of one row ---- */

/* Statements of a row. */
typedef hone_topi_steps steps;

static const rows *rows_of(const steps *p) {
    return p->about;
}

static steps steps_of(const rows *r) {
    return (steps){.t = r->t, .about = r};
}

static const hone_expr *load(const steps *p, hone_buffer buffer, const hone_expr *index) {
    return hone_topi_step_load(p, buffer, index);
}

static void store(const steps *p, hone_buffer buffer, const hone_expr *index,
                  const hone_expr *value) {
    hone_topi_step_store(p, buffer, index, value);
}

static const hone_expr *let(steps *p, const char *name, const hone_expr *value) {
    return hone_topi_step_let(p, name, value);
}

static const hone_expr *op(const steps *p, hone_op what, const hone_expr *a, const hone_expr *b) {
    return hone_topi_op(p->t, what, a, b);
}

static const hone_expr *num(const steps *p, int64_t value) {
    return hone_topi_step_int(p, value);
}

/* A buffer of each row. */
static hone_buffer buffer_of_rows(const rows *r, const char *name, hone_dtype dtype,
                                  const hone_expr *extent) {
    const hone_expr *shape[HONE_MAX_RANK];
    memcpy(shape, r->shape, sizeof shape);
    shape[r->rank - 1] = extent;
    return hone_te_buffer(r->t->te, name, dtype, r->rank, shape);
}

/* ---- looking for those that come before what was found ---- */

typedef struct search {
    hone_buffer keys, best;
    hone_buffer peaks;     /* the key of each whole block that comes first; HONE_NO_ID: no blocks */
    const hone_expr *last; /* the index in `best` of what comes last of all that was found */
    void (*take)(steps p, const void *ctx, const hone_expr *element, const hone_expr *key);
    const void *ctx; /* for take, which gets an element that comes before that one */
} search;

/* A row of open length may be long; where it is not, blocks cost little. */
static bool has_blocks(const rows *r, int64_t wanted) {
    if (!hone_expr_is_int(r->extent)) return true;
    int64_t extent = r->extent->u.i;
    return extent >= LONG || (extent >= SHORT && wanted <= extent / BLOCK);
}

/* Whole blocks of a row. */
static const hone_expr *count_blocks(const rows *r) {
    const hone_expr *block = hone_te_int(r->t->te, BLOCK);
    if (hone_expr_is_int(r->extent)) return hone_te_int(r->t->te, r->extent->u.i / BLOCK);
    return r->extent ? hone_expr_floordiv(&r->t->te->ir, r->extent, block) : NULL;
}

/* HONE_NO_ID where rows are gone over element by element. */
static hone_buffer peaks_of(const rows *r, int64_t wanted, hone_buffer keys) {
    hone_te *te = r->t->te;
    hone_te_stage s;
    const hone_expr *shape[HONE_MAX_RANK], *at[HONE_MAX_RANK], *block = hone_te_int(te, BLOCK);
    uint32_t last = r->rank - 1;
    if (!has_blocks(r, wanted)) return HONE_NO_ID;
    memcpy(shape, r->shape, sizeof shape);
    shape[last] = count_blocks(r);
    hone_te_stage_begin(te, &s, r->rank, shape, 1, &block);
    memcpy(at, s.axis, sizeof at);
    at[last] = hone_topi_op(r->t, HONE_OP_MUL, s.axis[last], block);
    at[last] = hone_topi_op(r->t, HONE_OP_ADD, at[last], s.axis[r->rank]);
    return hone_te_reduce(te, &s, "peaks", r->is_descending ? HONE_TE_MAX : HONE_TE_MIN,
                          hone_te_load(te, keys, at));
}

static hone_node_id if_first(const steps *p, const search *s, const hone_expr *key) {
    return hone_te_if(p->t->te, p->at, comes_first(rows_of(p), key, load(p, s->best, s->last)));
}

static void look_at(steps p, const search *s, const hone_expr *element) {
    const hone_expr *key = let(&p, "key", load(&p, s->keys, element));
    p.at = if_first(&p, s, key);
    s->take(p, s->ctx, element, key);
}

/* How many there are from `first` to `end`, which may lie in front of it. */
static const hone_expr *count_from(const steps *p, const hone_expr *first, const hone_expr *end) {
    return op(p, HONE_OP_MAX, op(p, HONE_OP_SUB, end, first), num(p, 0));
}

static void look_through(steps p, const search *s, const hone_expr *first, const hone_expr *end) {
    const hone_expr *other = hone_te_for(p.t->te, &p.at, "other", count_from(&p, first, end));
    look_at(p, s, let(&p, "element", op(&p, HONE_OP_ADD, other, first)));
}

static void look_through_blocks(steps p, const search *s, int64_t first, const hone_expr *end) {
    const hone_expr *count = count_from(&p, num(&p, first), end);
    const hone_expr *number = hone_te_for(p.t->te, &p.at, "number", count);
    const hone_expr *block = let(&p, "block", hone_topi_add_int(p.t, number, first));
    const hone_expr *start = let(&p, "start", op(&p, HONE_OP_MUL, block, num(&p, BLOCK)));
    p.at = if_first(&p, s, let(&p, "peak", load(&p, s->peaks, block)));
    const hone_expr *inner = hone_te_for(p.t->te, &p.at, "inner", num(&p, BLOCK));
    look_at(p, s, let(&p, "element", op(&p, HONE_OP_ADD, start, inner)));
}

/* All but the first `found` elements, in their order: those in front of the first whole block,
 * which may be all of a row whose length comes later, whole blocks, and the rest. */
static void look_at_others(steps p, const search *s, int64_t found) {
    const hone_expr *extent = rows_of(&p)->extent, *blocks = count_blocks(rows_of(&p));
    if (s->peaks == HONE_NO_ID) {
        look_through(p, s, num(&p, found), extent);
        return;
    }
    int64_t first = (found + BLOCK - 1) / BLOCK;
    const hone_expr *begin = num(&p, first * BLOCK);
    const hone_expr *rest = op(&p, HONE_OP_MUL, blocks, num(&p, BLOCK));
    look_through(p, s, num(&p, found), op(&p, HONE_OP_MIN, begin, extent));
    look_through_blocks(p, s, first, blocks);
    look_through(p, s, op(&p, HONE_OP_MAX, begin, rest), extent);
}

/* ---- insertion ---- */

/* Those that come behind the element move by one index, the last one goes: most often that is none
 * of them but the last. */
static void insert(steps *p, hone_buffer best, hone_buffer order, const hone_expr *element,
                   const hone_expr *key, const hone_expr *last) {
    hone_te *te = p->t->te;
    const hone_expr *moved = hone_te_for(te, &p->at, "moved", hone_topi_add_int(p->t, last, 1));
    const hone_expr *to = let(p, "to", op(p, HONE_OP_SUB, last, moved));
    const hone_expr *from =
        let(p, "from", op(p, HONE_OP_MAX, op(p, HONE_OP_SUB, to, num(p, 1)), num(p, 0)));
    const hone_expr *is_before = comes_first(rows_of(p), key, load(p, best, from));
    is_before = op(p, HONE_OP_AND, op(p, HONE_OP_LT, num(p, 0), to), is_before);
    hone_node_id branch = hone_te_if(te, p->at, is_before);
    p->at = branch;
    store(p, best, to, load(p, best, from));
    store(p, order, to, load(p, order, from));
    p->at = hone_te_else(te, branch);
    store(p, best, to, key);
    store(p, order, to, element);
    hone_te_break(te, p->at);
}

/* What insertion reads and makes. */
typedef struct few {
    hone_buffer keys, best, order;
    const hone_expr *end; /* the last index of best and order */
} few;

/* The first elements: there is a free index for each. */
static void insert_first(steps p, const few *f) {
    hone_te *te = p.t->te;
    const hone_expr *count =
        op(&p, HONE_OP_MIN, rows_of(&p)->extent, hone_topi_add_int(p.t, f->end, 1));
    const hone_expr *element = hone_te_for(te, &p.at, "element", count);
    const hone_expr *key = let(&p, "key", load(&p, f->keys, element));
    insert(&p, f->best, f->order, element, key, element);
}

static void insert_better(steps p, const void *ctx, const hone_expr *element,
                          const hone_expr *key) {
    const few *f = ctx;
    insert(&p, f->best, f->order, element, key, f->end);
}

static hone_buffer order_by_insertion(const rows *r, int64_t count) {
    hone_te *te = r->t->te;
    steps p = steps_of(r);
    few f = {.keys = keys_of(r), .end = num(&p, count - 1)};
    f.best = buffer_of_rows(r, "best", key_type(r, f.keys), hone_te_int(te, count));
    f.order = buffer_of_rows(r, "order", te->index, hone_te_int(te, count));
    const search s = {f.keys, f.best, peaks_of(r, count, f.keys), f.end, insert_better, &f};
    const hone_buffer reads[] = {f.keys, f.best, f.order, s.peaks}, *writes = &reads[1];
    hone_te_stage_begin(te, &p.s, r->rank - 1, r->shape, 0, NULL);
    p.at = hone_te_steps(te, &p.s, "insertion", 3 + (s.peaks != HONE_NO_ID), reads, 2, writes);
    insert_first(p, &f);
    look_at_others(p, &s, count);
    return f.order;
}

/* ---- a heap ---- */

/* The element of key a comes before that of key b, also where the keys are equal. */
static const hone_expr *precedes(const steps *p, const hone_expr *a, const hone_expr *element_a,
                                 const hone_expr *b, const hone_expr *element_b) {
    const hone_expr *is_equal = hone_expr_not(&p->t->te->ir, comes_first(rows_of(p), b, a));
    is_equal = op(p, HONE_OP_AND, is_equal, op(p, HONE_OP_LT, element_a, element_b));
    return op(p, HONE_OP_OR, comes_first(rows_of(p), a, b), is_equal);
}

/* The first elements of the row, as they come, and then as a heap. */
static void make_heap(steps p, const hone_topi_heap *h, hone_buffer keys) {
    steps loop = p;
    const hone_expr *index = hone_te_for(p.t->te, &loop.at, "first", h->size);
    hone_topi_heap_put(&loop, h, index, load(&loop, keys, index), index);
    hone_topi_heap_make(p, h);
}

/* An element that comes before the last one of the heap takes its index. */
static void sink_better(steps p, const void *ctx, const hone_expr *element, const hone_expr *key) {
    hone_topi_heap_sink(p, ctx, num(&p, 0), key, element);
}

/* The last one of the heap goes to its end, which the heap then leaves. */
static void sort_heap(steps p, hone_topi_heap h) {
    hone_te *te = p.t->te;
    const hone_expr *zero = num(&p, 0), *last = hone_topi_add_int(p.t, h.size, -1);
    const hone_expr *sorted = hone_te_for(te, &p.at, "sorted", op(&p, HONE_OP_MAX, last, zero));
    h.size = let(&p, "end", op(&p, HONE_OP_SUB, last, sorted));
    const hone_expr *key = let(&p, "key", load(&p, h.keys, h.size));
    const hone_expr *element = let(&p, "element", load(&p, h.elements, h.size));
    hone_topi_heap_put(&p, &h, h.size, load(&p, h.keys, zero), load(&p, h.elements, zero));
    hone_topi_heap_sink(p, &h, zero, key, element);
}

static hone_buffer order_by_heap(const rows *r, int64_t count) {
    hone_te *te = r->t->te;
    steps p = steps_of(r);
    hone_buffer keys = keys_of(r);
    hone_topi_heap h = {.size = op(&p, HONE_OP_MIN, r->extent, num(&p, count)),
                        .precedes = precedes};
    h.keys = buffer_of_rows(r, "best", key_type(r, keys), num(&p, count));
    h.elements = buffer_of_rows(r, "order", te->index, num(&p, count));
    h.hole = buffer_of_rows(r, "hole", te->index, num(&p, 1));
    const search s = {keys, h.keys, peaks_of(r, count, keys), num(&p, 0), sink_better, &h};
    const hone_buffer reads[] = {keys, h.keys, h.elements, h.hole, s.peaks}, *writes = &reads[1];
    hone_te_stage_begin(te, &p.s, r->rank - 1, r->shape, 0, NULL);
    p.at = hone_te_steps(te, &p.s, "heap", 4 + (s.peaks != HONE_NO_ID), reads, 3, writes);
    make_heap(p, &h, keys);
    look_at_others(p, &s, count);
    sort_heap(p, h);
    return h.elements;
}

/* ---- merging ---- */

typedef struct run_list {
    hone_buffer keys, order;
} run_list;

/* The index, or the last one of the row. */
static const hone_expr *inside(const steps *p, const hone_expr *index) {
    const hone_expr *last = hone_topi_add_int(p->t, rows_of(p)->extent, -1);
    return op(p, HONE_OP_MAX, op(p, HONE_OP_MIN, index, last), num(p, 0));
}

static const hone_expr *select(const steps *p, const hone_expr *is_so, const hone_expr *a,
                               const hone_expr *b) {
    return is_so && a && b ? hone_expr_select(&p->t->te->ir, is_so, a, b) : NULL;
}

/* The next element of two runs, from where `heads` are in each to `index`. */
static void take_next(steps *p, run_list from, run_list to, hone_buffer heads,
                      const hone_expr *middle, const hone_expr *end, const hone_expr *index) {
    const hone_expr *zero = num(p, 0), *one = num(p, 1);
    const hone_expr *left = let(p, "left", load(p, heads, zero));
    const hone_expr *right = let(p, "right", load(p, heads, one));
    const hone_expr *a = let(p, "a", load(p, from.keys, inside(p, left)));
    const hone_expr *b = let(p, "b", load(p, from.keys, inside(p, right)));
    const hone_expr *is_first =
        op(p, HONE_OP_OR, op(p, HONE_OP_GE, left, middle), comes_first(rows_of(p), b, a));
    const hone_expr *is_right =
        let(p, "is_right", op(p, HONE_OP_AND, op(p, HONE_OP_LT, right, end), is_first));
    store(p, to.keys, index, select(p, is_right, b, a));
    store(p, to.order, index, load(p, from.order, inside(p, select(p, is_right, right, left))));
    store(p, heads, zero, op(p, HONE_OP_ADD, left, select(p, is_right, zero, one)));
    store(p, heads, one, op(p, HONE_OP_ADD, right, select(p, is_right, one, zero)));
}

/* Runs of 2^doublings elements become runs of twice as many. */
static void merge_runs(steps p, run_list from, run_list to, hone_buffer heads,
                       const hone_expr *doublings) {
    hone_te *te = p.t->te;
    const hone_expr *n = rows_of(&p)->extent, *one = num(&p, 1);
    const hone_expr *length =
        let(&p, "length", hone_topi_step_shift(&p, HONE_INTRIN_SHIFT_LEFT, one, doublings));
    const hone_expr *both = let(&p, "both", op(&p, HONE_OP_ADD, length, length));
    const hone_expr *pairs = op(&p, HONE_OP_SUB, op(&p, HONE_OP_ADD, n, both), one);
    pairs = let(&p, "pairs",
                hone_topi_step_shift(&p, HONE_INTRIN_SHIFT_RIGHT, pairs,
                                     op(&p, HONE_OP_ADD, doublings, one)));
    const hone_expr *pair = hone_te_for(te, &p.at, "pair", pairs);
    const hone_expr *start = let(&p, "start", op(&p, HONE_OP_MUL, pair, both));
    const hone_expr *middle =
        let(&p, "middle", op(&p, HONE_OP_MIN, op(&p, HONE_OP_ADD, start, length), n));
    const hone_expr *end = let(&p, "end", op(&p, HONE_OP_MIN, op(&p, HONE_OP_ADD, start, both), n));
    store(&p, heads, num(&p, 0), start);
    store(&p, heads, one, middle);
    const hone_expr *step = hone_te_for(te, &p.at, "step", op(&p, HONE_OP_SUB, end, start));
    take_next(&p, from, to, heads, middle, end, op(&p, HONE_OP_ADD, start, step));
}

/* How often a run of one is to be doubled, an even number, so that the last one lies where the
 * first lay. */
static int64_t doublings_of(const hone_expr *extent) {
    int64_t count = 0;
    if (!hone_expr_is_int(extent)) return HONE_TOPI_DOUBLINGS;
    while (((int64_t)1 << count) < extent->u.i)
        count += 2;
    return count;
}

static run_list first_runs(const rows *r) {
    hone_te_stage s;
    run_list runs = {.keys = keys_of(r)};
    stage_of_elements(r, &s);
    runs.order = hone_te_compute(r->t->te, &s, "order", s.axis[r->rank - 1]);
    return runs;
}

static hone_buffer order_by_merging(const rows *r) {
    hone_te *te = r->t->te;
    steps p = steps_of(r);
    run_list runs = first_runs(r), other;
    other.keys = buffer_of_rows(r, "other_keys", key_type(r, runs.keys), r->extent);
    other.order = buffer_of_rows(r, "other_order", te->index, r->extent);
    hone_buffer heads = buffer_of_rows(r, "heads", te->index, hone_te_int(te, 2));
    const hone_buffer all[] = {runs.keys, runs.order, other.keys, other.order, heads};
    hone_te_stage_begin(te, &p.s, r->rank - 1, r->shape, 0, NULL);
    p.at = hone_te_steps(te, &p.s, "merging", HONE_COUNT(all), all, HONE_COUNT(all), all);
    const hone_expr *times = num(&p, doublings_of(r->extent) / 2);
    const hone_expr *round = hone_te_for(te, &p.at, "round", times);
    const hone_expr *doublings = let(&p, "doublings", op(&p, HONE_OP_MUL, round, num(&p, 2)));
    const hone_expr *length =
        hone_topi_step_shift(&p, HONE_INTRIN_SHIFT_LEFT, num(&p, 1), doublings);
    if (!hone_expr_is_int(r->extent))
        p.at = hone_te_if(te, p.at, op(&p, HONE_OP_LT, length, r->extent));
    merge_runs(p, runs, other, heads, doublings);
    merge_runs(p, other, runs, heads, op(&p, HONE_OP_ADD, doublings, num(&p, 1)));
    return runs.order;
}

/* ---- counting ---- */

static const hone_expr *comes_before(const steps *p, hone_buffer keys, const hone_expr *other,
                                     const hone_expr *own) {
    const hone_expr *a = load(p, keys, other), *b = load(p, keys, own);
    const hone_expr *is_equal = hone_expr_not(&p->t->te->ir, comes_first(rows_of(p), b, a));
    is_equal = op(p, HONE_OP_AND, is_equal, op(p, HONE_OP_LT, other, own));
    return op(p, HONE_OP_OR, comes_first(rows_of(p), a, b), is_equal);
}

/* How many come before each element. */
static hone_buffer rank_elements(const rows *r) {
    steps p = steps_of(r);
    hone_te *te = r->t->te;
    hone_buffer keys = keys_of(r);
    hone_te_stage_begin(te, &p.s, r->rank, r->shape, 1, &r->extent);
    const hone_expr *own = p.s.axis[r->rank - 1], *other = p.s.axis[r->rank];
    steps row = p;
    row.s.spatial_count = r->rank - 1;
    const hone_expr *is_before = comes_before(&row, keys, other, own);
    return hone_te_reduce(te, &p.s, "rank", HONE_TE_SUM,
                          select(&p, is_before, num(&p, 1), num(&p, 0)));
}

/* Which element comes at each index. */
static hone_buffer order_by_counting(const rows *r) {
    steps p = steps_of(r);
    hone_te *te = r->t->te;
    const hone_expr *at[HONE_MAX_RANK];
    hone_buffer ranks = rank_elements(r);
    hone_buffer order = buffer_of_rows(r, "order", te->index, r->extent);
    hone_te_stage_begin(te, &p.s, r->rank - 1, r->shape, 1, &r->extent);
    const hone_expr *element = p.s.axis[r->rank - 1];
    hone_topi_step_index(&p, load(&p, ranks, element), at);
    hone_te_update(te, &p.s, "order", order, at, element);
    return order;
}

/* ---- results ---- */

/* Which element comes at each of the first `count` indices. */
static hone_buffer order_of(const rows *r, int64_t count) {
    if (r->t->is_for_many_threads || hone_expr_is_int_value(r->extent, 0))
        return order_by_counting(r);
    if (count >= 0 && count <= FEW) return order_by_insertion(r, count);
    bool is_open = !hone_expr_is_int(r->extent);
    bool is_share = count >= 0 && (is_open || count <= r->extent->u.i / SHARE);
    return is_share ? order_by_heap(r, count) : order_by_merging(r);
}

/* Of a size that comes later it is not known whether there are as many. */
static const hone_expr *within(const rows *r, const hone_expr *index) {
    const hone_expr *args[] = {index, r->extent};
    bool is_known = !r->extent || hone_expr_is_int(r->extent) ||
                    hone_expr_same(r->extent, r->t->out_shape[r->axis]);
    if (is_known || !index) return index;
    return hone_expr_call(&r->t->te->ir, index->dtype, HONE_INTRIN_CHECKED_INDEX, 2, args);
}

hone_status hone_topi_emit_sort(hone_topi *t) {
    rows r;
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK], *in_order[HONE_MAX_RANK];
    bool is_topk = strcmp(t->op, "topk") == 0;
    bool gives_values =
        strcmp(t->op, "sort") == 0 ||
        (is_topk && strcmp(hone_attrs_string(&t->bind->attrs, "ret_type", ""), "values") == 0);
    const char *word = is_topk ? "largest" : "descending";
    read_rows(t, hone_attrs_int(&t->bind->attrs, word, is_topk) != 0, &r);
    hone_buffer order = order_of(&r, hone_expr_const(t->out_shape[r.axis]));
    hone_topi_stage(t, &s);
    memcpy(at, s.axis, s.spatial_count * sizeof *at);
    for (uint32_t d = 0, next = 0; d < r.rank; d++)
        if (d != r.axis) in_order[next++] = s.axis[d];
    in_order[r.rank - 1] = within(&r, s.axis[r.axis]);
    at[r.axis] = hone_te_load(t->te, order, in_order);
    const hone_expr *value = gives_values ? hone_topi_load(t, 0, at)
                                          : hone_expr_cast(&t->te->ir, t->out->dtype, at[r.axis]);
    t->result = hone_te_compute(t->te, &s, t->op, value);
    return HONE_OK;
}
