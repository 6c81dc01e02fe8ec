/* lower/signature/counted_loops.c - a `while` that counts, as a loop with a variable.
 *
 *     i[0] = 0                              i[0] = 0
 *     while i[0] < n:                       for k in n:
 *         B[i[0]] = A[i[0]]           ⇒         B[k] = A[k]
 *         i[0] = i[0] + 1                   i[0] = max(n, 0)
 *
 * For looking only, on a copy without blocks. A counter is an element of a small buffer of the
 * program's own (cells.h) that goes on by the same number in each iteration, whatever happens, and
 * is stored to nowhere else in the loop; where it begins and ends is made of sizes and loops. Where
 * one of these is not known the `while` stays.
 *
 *   To show: in iteration k the counter is begin + k * by until its own store, begin + (k + 1) * by
 *   behind it, and the loop ends when that first breaks the condition.
 *   Counter-example: if A[i[0]] > 0: i[0] = i[0] + 2, else: i[0] = i[0] + 1 */
#include "ir/arith/arith.h"
#include "ir/core/touches.h"
#include "lower/signature/cells.h"
#include "lower/signature/plain_form.h"
#include "support/data/tensor.h"

typedef struct counter {
    hone_func *func;
    hone_ir *ir;
    hone_node_id loop;     /* the WHILE */
    hone_op relation;      /* counter relation end */
    const hone_expr *load; /* of the counter, as the condition has it */
    hone_dtype wide;       /* that of the condition, and of the loop that is made */
    hone_node_id step;     /* the store that goes on */
    int64_t by;
    const hone_expr *begin, *end;
    const hone_expr *now, *now_narrow; /* the value at the place in hand, in both types */
} counter;

/* ---- the condition ---- */

static bool has_constant_indices(const hone_expr *load) {
    for (uint16_t i = 0; i < load->count; i++) {
        if (!hone_expr_is_int(load->args[i])) return false;
    }
    return true;
}

/* The load of a counter that may have been widened, or NULL. */
static const hone_expr *counter_in(const hone_expr *e) {
    bool is_cast = e->kind == HONE_EXPR_CAST;
    const hone_expr *load = is_cast ? e->args[0] : e;
    bool is_counter = load->kind == HONE_EXPR_LOAD && hone_dtype_is_int(load->dtype) &&
                      load->dtype.lanes == 1 && has_constant_indices(load);
    bool is_wider = !is_cast || (hone_dtype_is_int(e->dtype) && e->dtype.bits >= load->dtype.bits);
    return is_counter && is_wider ? load : NULL;
}

static bool read_condition(const hone_expr *e, counter *c) {
    if (e->kind != HONE_EXPR_BINARY || !hone_op_is_compare((hone_op)e->op)) return false;
    uint16_t side = counter_in(e->args[0]) ? 0 : 1;
    c->load = counter_in(e->args[side]);
    c->end = e->args[1 - side];
    c->wide = c->end->dtype;
    c->relation = side == 0 ? (hone_op)e->op : hone_op_mirrored((hone_op)e->op);
    return c->load && hone_expr_is_pure_index(c->end);
}

/* ---- stores to it ---- */

typedef enum touch { ELSEWHERE, AT_COUNTER, UNKNOWN } touch;

static touch stored_at(const counter *c, const hone_node *store) {
    if (store->kind != HONE_NODE_STORE || store->u.store.buffer != c->load->u.buffer)
        return ELSEWHERE;
    touch at = AT_COUNTER;
    for (uint16_t d = 0; d < store->u.store.rank; d++) {
        const hone_expr *index = store->u.store.indices[d];
        if (!hone_expr_is_int(index)) return UNKNOWN;
        if (index->u.i != c->load->args[d]->u.i) at = ELSEWHERE;
    }
    return at;
}

/* Is what stands in the node run whenever the node is, and once? */
static bool is_plain_scope(const hone_node *node) {
    return node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL ||
           node->kind == HONE_NODE_LET || node->kind == HONE_NODE_ATTR;
}

static bool is_in_each_iteration(const counter *c, hone_node_id id) {
    do
        id = hone_func_node(c->func, id)->parent;
    while (id != c->loop && is_plain_scope(hone_func_node(c->func, id)));
    return id == c->loop;
}

static bool is_counter(const counter *c, const hone_expr *e) {
    return hone_expr_same(e, c->load);
}

/* counter + k, k + counter, counter - k */
static bool read_step(counter *c, const hone_expr *value) {
    bool is_sum = hone_expr_is_op(value, HONE_OP_ADD),
         is_less = hone_expr_is_op(value, HONE_OP_SUB);
    if (!is_sum && !is_less) return false;
    uint16_t side = is_sum && hone_expr_is_int(value->args[0]) ? 0 : 1;
    if (!hone_expr_is_int(value->args[side]) || !is_counter(c, value->args[1 - side])) return false;
    int64_t by = value->args[side]->u.i;
    if (by > INT32_MAX || by < -INT32_MAX) return false;
    c->by = is_less ? -by : by;
    return c->by != 0;
}

/* The one store of the loop to the counter. */
static bool find_step(counter *c) {
    for (hone_node_id n = c->loop; n != HONE_NO_ID; n = hone_tree_next(c->func, c->loop, n)) {
        const hone_node *node = hone_func_node(c->func, n);
        touch at = stored_at(c, node);
        if (at == ELSEWHERE) continue;
        bool is_first = at == AT_COUNTER && c->step == HONE_NO_ID;
        if (!is_first || !is_in_each_iteration(c, n) || !read_step(c, node->u.store.value))
            return false;
        c->step = n;
    }
    return c->step != HONE_NO_ID;
}

/* Does the step lead to where the condition breaks? */
static bool leads_out(const counter *c) {
    switch (c->relation) {
    case HONE_OP_LT:
    case HONE_OP_LE:
        return c->by > 0;
    case HONE_OP_GT:
    case HONE_OP_GE:
        return c->by < 0;
    default:
        return c->relation == HONE_OP_NE && (c->by == 1 || c->by == -1);
    }
}

/* What the counter is when the loop is come to: stored in front of it, or of what it stands in. */
static bool find_begin(counter *c) {
    for (hone_node_id n = c->loop;;) {
        const hone_node *node = hone_func_node(c->func, n);
        for (hone_node_id p = node->prev; p != HONE_NO_ID; p = hone_func_node(c->func, p)->prev) {
            const hone_node *before = hone_func_node(c->func, p);
            if (!hone_stores_below(c->func, p, c->load->u.buffer)) continue;
            touch at = before->kind == HONE_NODE_STORE ? stored_at(c, before) : UNKNOWN;
            if (at == ELSEWHERE) continue;
            c->begin = at == AT_COUNTER ? before->u.store.value : NULL;
            return c->begin && hone_expr_is_pure_index(c->begin) &&
                   hone_dtype_equal(c->begin->dtype, c->load->dtype);
        }
        n = node->parent;
        bool goes_on = n != HONE_NO_ID && (is_plain_scope(hone_func_node(c->func, n)) ||
                                           hone_func_node(c->func, n)->kind == HONE_NODE_IF);
        if (!goes_on || node->kind == HONE_NODE_ELSE) return false;
    }
}

/* ---- the loop instead ---- */

static const hone_expr *number(const counter *c, int64_t value) {
    return hone_expr_int(c->ir, c->wide, value);
}

/* How often the loop runs; below 0 is not at all. */
static const hone_expr *count_of(const counter *c) {
    bool is_up = c->by > 0;
    int64_t by = is_up ? c->by : -c->by;
    bool is_reached = c->relation == HONE_OP_LE || c->relation == HONE_OP_GE;
    const hone_expr *span =
        is_up ? hone_expr_sub(c->ir, c->end, c->begin) : hone_expr_sub(c->ir, c->begin, c->end);
    span = hone_expr_add(c->ir, span, number(c, is_reached ? by : by - 1));
    if (by > 1) span = hone_expr_floordiv(c->ir, span, number(c, by));
    return hone_simplify_plain(c->ir, span);
}

/* begin + k * by */
static void set_value(counter *c, const hone_expr *k) {
    c->now = hone_expr_add(c->ir, c->begin, hone_expr_mul(c->ir, k, number(c, c->by)));
    c->now = hone_simplify_plain(c->ir, c->now);
    c->now_narrow = c->now ? hone_expr_cast(c->ir, c->load->dtype, c->now) : NULL;
}

/* An index made of the counter, in the type in which nothing is lost. */
static const hone_expr *widened(const counter *c, const hone_expr *e) {
    if (!e || e == c->now_narrow) return e ? c->now : NULL;
    if (!hone_dtype_equal(e->dtype, c->load->dtype)) return e;
    bool is_sum = hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_SUB) ||
                  hone_expr_is_op(e, HONE_OP_MUL);
    if (!is_sum) return hone_expr_cast(c->ir, c->wide, e);
    return hone_expr_binary(c->ir, (hone_op)e->op, widened(c, e->args[0]), widened(c, e->args[1]));
}

static bool is_value(const void *ctx, const hone_expr *e) {
    return e == ctx;
}

static const hone_expr *index_of(const counter *c, const hone_expr *e) {
    bool is_narrow = c->now != c->now_narrow && hone_expr_find(e, is_value, c->now_narrow);
    return is_narrow ? widened(c, e) : e;
}

static const hone_expr *load_of(const counter *c, const hone_expr *e) {
    const hone_expr *indices[HONE_MAX_RANK];
    if (e->count > HONE_MAX_RANK) return e;
    for (uint16_t d = 0; d < e->count; d++)
        indices[d] = index_of(c, e->args[d]);
    return hone_expr_with_args(c->ir, e, indices);
}

static const hone_expr *put_value(void *ctx, hone_ir *ir, const hone_expr *e) {
    const counter *c = ctx;
    (void)ir;
    if (is_counter(c, e)) return c->now_narrow;
    if (e->kind == HONE_EXPR_LOAD) return load_of(c, e);
    bool is_widened = e->kind == HONE_EXPR_CAST && hone_dtype_equal(e->dtype, c->wide) &&
                      e->args[0] == c->now_narrow;
    return is_widened ? c->now : e;
}

static hone_status put_below(counter *c, hone_node_id root) {
    HONE_TRY(hone_tree_transform(c->func, root, put_value, c, true));
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(c->func, root, n)) {
        hone_node *node = hone_func_node(c->func, n);
        if (node->kind != HONE_NODE_STORE) continue;
        uint32_t rank = node->u.store.rank;
        const hone_expr **indices = hone_arena_copy(c->func->arena, node->u.store.indices,
                                                    (rank + !rank) * sizeof *indices);
        if (!indices) return LOWER_NO_MEMORY();
        for (uint32_t d = 0; d < rank; d++)
            indices[d] = index_of(c, indices[d]);
        node->u.store.indices = indices;
    }
    return hone_ir_finish(c->ir);
}

/* What stands behind the store finds what it stored, all else what was there. */
static hone_status put_values(counter *c, const hone_expr *k) {
    set_value(c, hone_expr_add(c->ir, k, number(c, 1)));
    for (hone_node_id n = c->step; c->now && n != c->loop; n = hone_func_node(c->func, n)->parent) {
        for (hone_node_id later = hone_func_node(c->func, n)->next; later != HONE_NO_ID;
             later = hone_func_node(c->func, later)->next)
            HONE_TRY(put_below(c, later));
    }
    set_value(c, k);
    if (!c->now) return hone_ir_finish(c->ir);
    return put_below(c, c->loop);
}

/* Behind the loop the counter is where it ended. */
static hone_status store_last(counter *c, const hone_expr *count, hone_node_id loop) {
    set_value(c, hone_expr_binary(c->ir, HONE_OP_MAX, count, number(c, 0)));
    hone_node_id store = hone_func_add_store(c->func, c->load->u.buffer, c->load->count,
                                             c->load->args, c->now_narrow);
    if (store == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_insert_after(c->func, loop, store);
    return HONE_OK;
}

static hone_status make_loop(counter *c, hone_node_id *io_at) {
    hone_var var = hone_func_add_var(c->func, "k", c->wide);
    if (var == HONE_NO_ID) return LOWER_NO_MEMORY();
    c->begin = hone_expr_cast(c->ir, c->wide, c->begin);
    const hone_range range = {number(c, 0), count_of(c)};
    const hone_expr *k = hone_func_var_expr(c->ir, c->func, var);
    if (!range.min || !range.extent || !k) return hone_ir_finish(c->ir);
    HONE_TRY(put_values(c, k));
    hone_node_id loop = hone_func_add_loop(c->func, var, HONE_LOOP_SERIAL, range);
    if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_remove(c->func, c->step);
    hone_tree_move_children(c->func, c->loop, loop);
    hone_tree_replace(c->func, c->loop, loop);
    *io_at = loop;
    return store_last(c, range.extent, loop);
}

static hone_status show_counter(hone_lower *lower, hone_node_id *io_at) {
    hone_func *func = lower->func;
    counter c = {.func = func, .ir = &lower->ir, .loop = *io_at, .step = HONE_NO_ID};
    lower_cells cells;
    if (!read_condition(hone_func_node(func, c.loop)->u.eval.value, &c)) return HONE_OK;
    HONE_TRY(lower_cells_of(func, c.load->u.buffer, &cells));
    bool is_known = cells.count > 0 && find_step(&c) && leads_out(&c) && find_begin(&c);
    return is_known ? make_loop(&c, io_at) : HONE_OK;
}

hone_status lower_show_counters(hone_lower *lower) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(lower->func, 0, n)) {
        if (hone_func_node(lower->func, n)->kind == HONE_NODE_WHILE)
            HONE_TRY(show_counter(lower, &n));
    }
    return HONE_OK;
}
