/* ir/values/demands.c - runs a program over spans. Buffers that are written start with nothing;
 * passes are repeated until no store adds to its buffer, later ones let what still grows grow to
 * its type. */
#include "ir/values/demands.h"

#include <math.h>

#include "ir/core/grow.h"

enum { EXACT_PASSES = 2, MAX_PASSES = 8, FUEL = 1000000 /* expressions in a pass */ };

/* What is known here of an expression: value, or var + value, or var - value. */
typedef struct fact {
    const hone_expr *value;
    hone_var var; /* HONE_NO_ID = none */
    hone_op op;   /* ADD, SUB */
    hone_span span;
} fact;

struct hone_demand_check {
    const hone_func *func;
    hone_arena *arena;
    hone_span *vars, *buffers;
    bool *is_computed;  /* by variable: of what was loaded */
    hone_buffer *roots; /* by buffer: whose storage it is */
    fact *facts;
    uint32_t fact_count, fact_capacity;
    uint32_t fuel;
    bool grows, widens; /* in this pass */
    bool is_quiet;      /* what stands below is looked at twice: this is not the time to count */
    bool is_out_of_memory;
    void (*report)(void *ctx, const hone_demand *demand);
    void *ctx;
    hone_demand_counts counts;
};

static hone_span eval(hone_demand_check *c, const hone_expr *e);
static void walk(hone_demand_check *c, hone_node_id parent);

/* ---- demands ---- */

static bool is_computed_part(const void *ctx, const hone_expr *e) {
    const hone_demand_check *c = ctx;
    return e->kind == HONE_EXPR_LOAD || (e->kind == HONE_EXPR_VAR && c->is_computed[e->u.var]);
}

static bool is_computed(const hone_demand_check *c, const hone_expr *e) {
    return hone_expr_find(e, is_computed_part, c) != NULL;
}

static void demand(hone_demand_check *c, hone_demand d, bool holds) {
    if (holds || c->is_quiet || !c->fuel || hone_span_is_empty(d.got)) return;
    if (!is_computed(c, d.value)) return;
    if (d.kind == HONE_DEMAND_NUMBER)
        c->counts.numbers++;
    else
        c->counts.errors++;
    if (c->report) c->report(c->ctx, &d);
}

static void demand_within(hone_demand_check *c, hone_demand_kind kind, const hone_expr *value,
                          hone_span got, hone_span want) {
    demand(c, (hone_demand){kind, value, got, want, HONE_NO_ID, 0}, hone_span_within(got, want));
}

static void demand_indices(hone_demand_check *c, hone_buffer id, uint32_t rank,
                           const hone_expr *const *indices) {
    const hone_buffer_info *buffer = hone_func_buffer(c->func, id);
    for (uint32_t d = 0; d < rank; d++) {
        hone_span got = eval(c, indices[d]);
        if (rank != buffer->rank) continue;
        hone_span want = {0, eval(c, buffer->shape[d]).low - 1};
        demand(c, (hone_demand){HONE_DEMAND_INDEX, indices[d], got, want, id, d},
               hone_span_within(got, want));
    }
}

static void demand_divisor(hone_demand_check *c, const hone_expr *e, hone_span divisor) {
    if (e->op < HONE_OP_DIV || e->op > HONE_OP_TRUNCMOD) return;
    bool divides_ints = hone_expr_divides_ints(e);
    hone_demand d = {
        divides_ints ? HONE_DEMAND_DIVISOR : HONE_DEMAND_NUMBER,
        e->args[1],
        divisor,
        {1, INFINITY},
        HONE_NO_ID,
        0
    };
    demand(c, d, !hone_span_has(divisor, 0));
}

static void demand_of_call(hone_demand_check *c, const hone_expr *e, const hone_span *args) {
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_SHIFT_LEFT:
    case HONE_INTRIN_SHIFT_RIGHT:
        demand_within(c, HONE_DEMAND_SHIFT, e->args[1], args[1],
                      (hone_span){0, (double)e->dtype.bits - 1});
        break;
    case HONE_INTRIN_ASSUME:
        demand_within(c, HONE_DEMAND_ASSERTION, e->args[0], args[0], hone_span_at(1));
        break;
    case HONE_INTRIN_SQRT:
        demand_within(c, HONE_DEMAND_NUMBER, e->args[0], args[0], (hone_span){0, INFINITY});
        break;
    case HONE_INTRIN_LOG:
    case HONE_INTRIN_LOG2:
    case HONE_INTRIN_LOG10:
    case HONE_INTRIN_RSQRT:
        demand_within(c, HONE_DEMAND_NUMBER, e->args[0], args[0], (hone_span){1e-30, INFINITY});
        break;
    case HONE_INTRIN_POW:
        if (e->args[1]->kind != HONE_EXPR_FLOAT || floor(e->args[1]->u.f) != e->args[1]->u.f) {
            demand_within(c, HONE_DEMAND_NUMBER, e->args[0], args[0], (hone_span){0, INFINITY});
        }
        break;
    case HONE_INTRIN_ACOSH:
        demand_within(c, HONE_DEMAND_NUMBER, e->args[0], args[0], (hone_span){1, INFINITY});
        break;
    default:
        break;
    }
}

/* ---- facts ---- */

static bool is_var(const hone_expr *e, hone_var var) {
    return e->kind == HONE_EXPR_VAR && e->u.var == var;
}

static bool is_about(const fact *f, const hone_expr *e) {
    if (f->var == HONE_NO_ID) return hone_expr_same(f->value, e);
    if (!hone_expr_is_op(e, f->op)) return false;
    if (is_var(e->args[0], f->var) && hone_expr_same(f->value, e->args[1])) return true;
    return f->op == HONE_OP_ADD && is_var(e->args[1], f->var) &&
           hone_expr_same(f->value, e->args[0]);
}

static hone_span narrowed(const hone_demand_check *c, const hone_expr *e, hone_span s) {
    for (uint32_t i = 0; i < c->fact_count; i++) {
        if (is_about(&c->facts[i], e)) s = hone_span_meet(s, c->facts[i].span);
    }
    return s;
}

static void note(hone_demand_check *c, fact f) {
    if (!hone_grow(c->arena, (void **)&c->facts, &c->fact_capacity, c->fact_count,
                   sizeof *c->facts)) {
        c->is_out_of_memory = true;
        return;
    }
    c->facts[c->fact_count++] = f;
}

/* e lies in span: so do what it is made of, shifted. */
static void assume(hone_demand_check *c, const hone_expr *e, hone_span span) {
    if (e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_FLOAT) return;
    note(c, (fact){e, HONE_NO_ID, HONE_OP_ADD, span});
    if (e->kind == HONE_EXPR_CAST && hone_dtype_is_integer(e->dtype) &&
        hone_dtype_is_integer(e->args[0]->dtype) && e->args[0]->dtype.bits <= e->dtype.bits) {
        assume(c, e->args[0], span);
    }
    if (hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_SUB)) {
        hone_span x = eval(c, e->args[0]), y = eval(c, e->args[1]);
        bool adds = e->op == HONE_OP_ADD;
        hone_span left = adds ? (hone_span){span.low - y.high, span.high - y.low}
                              : (hone_span){span.low + y.low, span.high + y.high};
        hone_span right = adds ? (hone_span){span.low - x.high, span.high - x.low}
                               : (hone_span){x.low - span.high, x.high - span.low};
        assume(c, e->args[0], left);
        assume(c, e->args[1], right);
    }
}

static hone_op opposite(hone_op op) {
    static const hone_op pairs[][2] = {
        {HONE_OP_LT, HONE_OP_GE},
        {HONE_OP_LE, HONE_OP_GT},
        {HONE_OP_EQ, HONE_OP_NE}
    };
    for (size_t i = 0; i < HONE_COUNT(pairs); i++) {
        if (op == pairs[i][0]) return pairs[i][1];
        if (op == pairs[i][1]) return pairs[i][0];
    }
    return op;
}

/* A span without an end that is known not to be reached. */
static hone_span but_for(hone_span s, double value, double step) {
    if (s.low == value) s.low += step;
    if (s.high == value) s.high -= step;
    return s;
}

static void assume_compared(hone_demand_check *c, hone_op op, const hone_expr *a,
                            const hone_expr *b) {
    hone_span x = eval(c, a), y = eval(c, b);
    double step = hone_dtype_is_float(a->dtype) ? 0 : 1;
    if (hone_span_is_empty(x) || hone_span_is_empty(y)) return;
    switch (op) {
    case HONE_OP_LT:
    case HONE_OP_LE:
        step = op == HONE_OP_LT ? step : 0;
        assume(c, a, (hone_span){-INFINITY, y.high - step});
        assume(c, b, (hone_span){x.low + step, INFINITY});
        break;
    case HONE_OP_GT:
    case HONE_OP_GE:
        assume_compared(c, op == HONE_OP_GT ? HONE_OP_LT : HONE_OP_LE, b, a);
        break;
    case HONE_OP_EQ:
        assume(c, a, y);
        assume(c, b, x);
        break;
    case HONE_OP_NE:
        if (y.low == y.high) assume(c, a, but_for(x, y.low, step));
        break;
    default:
        break;
    }
}

static void assume_condition(hone_demand_check *c, const hone_expr *e, bool holds) {
    if (hone_expr_is_call(e, HONE_INTRIN_LIKELY)) e = e->args[0];
    if (e->kind == HONE_EXPR_NOT) {
        assume_condition(c, e->args[0], !holds);
    } else if (hone_expr_is_op(e, holds ? HONE_OP_AND : HONE_OP_OR)) {
        assume_condition(c, e->args[0], holds);
        assume_condition(c, e->args[1], holds);
    } else if (e->kind == HONE_EXPR_BINARY && hone_op_is_compare((hone_op)e->op)) {
        hone_op op = (hone_op)e->op;
        assume_compared(c, holds ? op : opposite(op), e->args[0], e->args[1]);
    } else if (hone_dtype_is_bool(e->dtype)) {
        assume(c, e, hone_span_at(holds));
    }
}

/* e where the condition, whose values are `truth`, holds, or does not. */
static hone_span eval_where(hone_demand_check *c, const hone_expr *condition, hone_span truth,
                            bool holds, const hone_expr *e) {
    if (!hone_span_has(truth, holds)) return hone_span_none();
    uint32_t mark = c->fact_count;
    assume_condition(c, condition, holds);
    hone_span s = eval(c, e);
    c->fact_count = mark;
    return s;
}

/* ---- expressions ---- */

static hone_span eval_choice(hone_demand_check *c, const hone_expr *e, bool both_run) {
    hone_span truth = eval(c, e->args[0]);
    bool was_quiet = c->is_quiet;
    if (both_run && !was_quiet) {
        eval(c, e->args[1]);
        eval(c, e->args[2]);
        c->is_quiet = true;
    }
    hone_span s = hone_span_join(eval_where(c, e->args[0], truth, true, e->args[1]),
                                 eval_where(c, e->args[0], truth, false, e->args[2]));
    c->is_quiet = was_quiet;
    return s;
}

static hone_span eval_binary(hone_demand_check *c, const hone_expr *e) {
    hone_span x = eval(c, e->args[0]), y;
    bool is_joint = e->op == HONE_OP_AND || e->op == HONE_OP_OR;
    if (is_joint) { /* the right side runs only where it matters */
        bool is_and = e->op == HONE_OP_AND;
        y = eval_where(c, e->args[0], x, is_and, e->args[1]);
        if (hone_span_is_empty(y)) return x;
    } else {
        y = eval(c, e->args[1]);
    }
    demand_divisor(c, e, y);
    if (hone_expr_is_op(e, HONE_OP_MUL) && hone_expr_same(e->args[0], e->args[1])) {
        x = y = hone_span_call(HONE_INTRIN_ABS, hone_dtype_element(e->dtype), 1, &x);
    }
    return hone_span_binary((hone_op)e->op, e->dtype, e->args[0]->dtype, x, y);
}

static hone_span eval_load(hone_demand_check *c, const hone_expr *e) {
    hone_buffer root = c->roots[e->u.buffer];
    demand_indices(c, e->u.buffer, e->count, e->args);
    hone_dtype dtype = hone_dtype_element(e->dtype);
    if (!hone_dtype_equal(dtype, hone_func_buffer(c->func, root)->dtype)) {
        return hone_span_of_type(dtype);
    }
    return c->buffers[root];
}

/* What an external function or a pointer reaches may be anything afterwards. */
static void give_away(hone_demand_check *c, const hone_expr *e) {
    if (e->kind != HONE_EXPR_LOAD) return;
    hone_buffer root = c->roots[e->u.buffer];
    hone_span whole = hone_span_of_type(hone_func_buffer(c->func, root)->dtype);
    c->grows |= !hone_span_within(whole, c->buffers[root]);
    c->buffers[root] = whole;
}

static hone_span eval_call(hone_demand_check *c, const hone_expr *e) {
    enum { MOST = 8 };
    hone_span args[MOST] = {
        {0, 0}
    };
    if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) return eval_choice(c, e, false);
    if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF)) {
        give_away(c, e->args[0]);
        return hone_span_of_type(e->dtype);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        hone_span s = eval(c, e->args[i]);
        if (i < MOST) args[i] = s;
    }
    if (e->count > MOST) return hone_span_of_type(e->dtype);
    demand_of_call(c, e, args);
    return hone_span_call((hone_intrin)e->op, hone_dtype_element(e->dtype), e->count, args);
}

static hone_span eval_ramp(hone_demand_check *c, const hone_expr *e) {
    hone_span lanes = {0, (double)e->dtype.lanes - 1};
    hone_dtype dtype = hone_dtype_element(e->dtype);
    hone_span steps = hone_span_binary(HONE_OP_MUL, dtype, dtype, eval(c, e->args[1]), lanes);
    return hone_span_binary(HONE_OP_ADD, dtype, dtype, eval(c, e->args[0]), steps);
}

static hone_span eval_let(hone_demand_check *c, const hone_expr *e) {
    c->vars[e->u.var] = eval(c, e->args[0]);
    c->is_computed[e->u.var] = is_computed(c, e->args[0]);
    return eval(c, e->args[1]);
}

static hone_span eval_shuffle(hone_demand_check *c, const hone_expr *e) {
    hone_span s = hone_span_none();
    for (uint32_t i = 0; i < e->count; i++) {
        hone_span arg = eval(c, e->args[i]);
        if (hone_dtype_same_element(e->args[i]->dtype, e->dtype)) s = hone_span_join(s, arg);
    }
    return s;
}

static hone_span eval_plain(hone_demand_check *c, const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_VAR:
        return c->vars[e->u.var];
    case HONE_EXPR_BINARY:
        return eval_binary(c, e);
    case HONE_EXPR_NOT: {
        hone_span s = eval(c, e->args[0]);
        return hone_span_is_empty(s) ? s : (hone_span){1 - s.high, 1 - s.low};
    }
    case HONE_EXPR_SELECT:
        return eval_choice(c, e, true);
    case HONE_EXPR_CAST:
        return hone_span_cast(hone_dtype_element(e->dtype), e->args[0]->dtype, eval(c, e->args[0]));
    case HONE_EXPR_LOAD:
        return eval_load(c, e);
    case HONE_EXPR_CALL:
        return eval_call(c, e);
    case HONE_EXPR_RAMP:
        return eval_ramp(c, e);
    case HONE_EXPR_BROADCAST:
        return eval(c, e->args[0]);
    case HONE_EXPR_SHUFFLE:
        return eval_shuffle(c, e);
    case HONE_EXPR_LET:
        return eval_let(c, e);
    default:
        return hone_span_of_type(e->dtype);
    }
}

static hone_span eval(hone_demand_check *c, const hone_expr *e) {
    if (c->fuel) c->fuel--;
    if (!c->fuel) return hone_span_of_type(e->dtype);
    if (e->kind == HONE_EXPR_INT) return hone_span_at((double)e->u.i);
    if (e->kind == HONE_EXPR_FLOAT) {
        return isnan(e->u.f) ? hone_span_of_type(e->dtype) : hone_span_at(e->u.f);
    }
    return narrowed(c, e, eval_plain(c, e));
}

/* ---- statements ---- */

static void bind(hone_demand_check *c, hone_var var, hone_span span, bool computed) {
    c->vars[var] = span;
    c->is_computed[var] = computed;
}

/* for k in range(a, b): k < b, and k - a counts. for k in range(b - a): k + a < b. */
static void walk_loop(hone_demand_check *c, hone_node_id id) {
    const hone_node *node = hone_func_node(c->func, id);
    const hone_expr *min = node->u.loop.range.min, *extent = node->u.loop.range.extent;
    hone_span from = eval(c, min), count = eval(c, extent);
    hone_span span = {from.low, from.high + count.high - 1};
    uint32_t mark = c->fact_count;
    if (hone_span_is_empty(from) || hone_span_is_empty(count) || count.high < 1) return;
    if (hone_expr_is_op(extent, HONE_OP_SUB)) {
        double last = eval(c, extent->args[0]).high - 1;
        if (hone_expr_same(extent->args[1], min)) span.high = last;
        if (hone_expr_is_int_value(min, 0)) {
            hone_span sum = {-INFINITY, last};
            note(c, (fact){extent->args[1], node->u.loop.var, HONE_OP_ADD, sum});
        }
    }
    note(c, (fact){
                min, node->u.loop.var, HONE_OP_SUB, {0, count.high - 1}
    });
    bind(c, node->u.loop.var, span, is_computed(c, min) || is_computed(c, extent));
    walk(c, id);
    c->fact_count = mark;
}

/* An axis is the loop that it is bound to. */
static void note_again(hone_demand_check *c, hone_var axis, const hone_expr *binding) {
    for (uint32_t i = 0, count = c->fact_count; i < count; i++) {
        fact f = c->facts[i];
        if (f.var == HONE_NO_ID || !is_var(binding, f.var)) continue;
        f.var = axis;
        note(c, f);
    }
}

static void walk_block(hone_demand_check *c, hone_node_id id) {
    const hone_node *node = hone_func_node(c->func, id);
    const hone_block *block = node->u.block.block;
    uint32_t mark = c->fact_count;
    if (node->u.block.predicate) assume_condition(c, node->u.block.predicate, true);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_axis *axis = &block->axes[i];
        hone_span first = eval(c, axis->dom.min), extent = eval(c, axis->dom.extent);
        hone_span domain = {first.low, first.high + extent.high - 1};
        hone_span value = eval(c, node->u.block.bindings[i]);
        if (!hone_span_is_empty(hone_span_meet(domain, value))) {
            value = hone_span_meet(domain, value);
        }
        bind(c, axis->var, value, is_computed(c, node->u.block.bindings[i]));
        note_again(c, axis->var, node->u.block.bindings[i]);
    }
    walk(c, id);
    c->fact_count = mark;
}

static void walk_store(hone_demand_check *c, const hone_node *node) {
    hone_buffer root = c->roots[node->u.store.buffer];
    hone_span value = eval(c, node->u.store.value);
    demand_indices(c, node->u.store.buffer, node->u.store.rank, node->u.store.indices);
    hone_dtype dtype = hone_func_buffer(c->func, root)->dtype;
    if (!hone_dtype_same_element(node->u.store.value->dtype, dtype)) {
        value = hone_span_of_type(dtype);
    }
    hone_span old = c->buffers[root], all = hone_span_join(old, value);
    if (hone_span_within(value, old)) return;
    c->grows = true;
    if (c->widens && all.low < old.low) all.low = hone_span_of_type(dtype).low;
    if (c->widens && all.high > old.high) all.high = hone_span_of_type(dtype).high;
    c->buffers[root] = all;
}

static void walk_if(hone_demand_check *c, hone_node_id id) {
    const hone_expr *condition = hone_func_node(c->func, id)->u.eval.value;
    hone_span truth = eval(c, condition);
    hone_node_id last = hone_func_node(c->func, id)->last;
    bool has_else = last != HONE_NO_ID && hone_func_node(c->func, last)->kind == HONE_NODE_ELSE;
    uint32_t mark = c->fact_count;
    if (truth.high >= 1) {
        assume_condition(c, condition, true);
        walk(c, id); /* passes over ELSE */
        c->fact_count = mark;
    }
    if (has_else && truth.low <= 0) {
        assume_condition(c, condition, false);
        walk(c, last);
        c->fact_count = mark;
    }
}

static void walk_assertion(hone_demand_check *c, const hone_node *node) {
    const hone_expr *condition = node->u.eval.value;
    demand_within(c, HONE_DEMAND_ASSERTION, condition, eval(c, condition), hone_span_at(1));
}

static void walk_one(hone_demand_check *c, hone_node_id id) {
    const hone_node *node = hone_func_node(c->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        walk_loop(c, id);
        break;
    case HONE_NODE_BLOCK:
        walk_block(c, id);
        break;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
        walk_if(c, id);
        break;
    case HONE_NODE_LET:
        bind(c, node->u.let.var, eval(c, node->u.let.value), is_computed(c, node->u.let.value));
        walk(c, id);
        break;
    case HONE_NODE_STORE:
        walk_store(c, node);
        break;
    case HONE_NODE_EVAL:
        eval(c, node->u.eval.value);
        break;
    case HONE_NODE_ASSERT:
        walk_assertion(c, node);
        break;
    case HONE_NODE_ELSE: /* of the IF around */
        break;
    default:
        walk(c, id);
    }
}

static void walk(hone_demand_check *c, hone_node_id parent) {
    for (hone_node_id id = hone_func_node(c->func, parent)->first; id != HONE_NO_ID;
         id = hone_func_node(c->func, id)->next)
        walk_one(c, id);
}

/* ---- the whole ---- */

static void find_roots(hone_demand_check *c) {
    const hone_func *func = c->func;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        hone_buffer of = func->buffers[b].alias_of;
        c->roots[b] = of != HONE_NO_ID ? of : b;
    }
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->match_count; i++) {
            const hone_match *match = &node->u.block.block->matches[i];
            c->roots[match->buffer] = match->source.buffer;
        }
    }
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        for (uint32_t i = 0; i < func->buffer_count && c->roots[c->roots[b]] != c->roots[b]; i++)
            c->roots[b] = c->roots[c->roots[b]];
    }
}

hone_demand_check *hone_demand_check_create(const hone_func *func, hone_arena *arena) {
    hone_demand_check *c = hone_arena_zalloc(arena, sizeof *c);
    size_t vars = (size_t)func->var_count + 1, buffers = (size_t)func->buffer_count + 1;
    if (!c) return NULL;
    *c = (hone_demand_check){.func = func, .arena = arena};
    c->vars = hone_arena_alloc(arena, vars * sizeof *c->vars);
    c->is_computed = hone_arena_zalloc(arena, vars);
    c->buffers = hone_arena_alloc(arena, buffers * sizeof *c->buffers);
    c->roots = hone_arena_alloc(arena, buffers * sizeof *c->roots);
    if (!c->vars || !c->is_computed || !c->buffers || !c->roots) return NULL;
    find_roots(c);
    return c;
}

static void begin_pass(hone_demand_check *c, int pass) {
    c->grows = false;
    c->widens = pass >= EXACT_PASSES;
    c->fact_count = 0;
    c->fuel = FUEL;
    c->counts = (hone_demand_counts){0};
    for (hone_var v = 0; v < c->func->var_count; v++)
        c->vars[v] = hone_span_of_type(c->func->vars[v].dtype);
}

hone_status hone_demands_check(hone_demand_check *check, const hone_span *inputs,
                               void (*report)(void *ctx, const hone_demand *demand), void *ctx,
                               hone_demand_counts *out_counts) {
    check->report = NULL;
    for (hone_buffer b = 0; b < check->func->buffer_count; b++)
        check->buffers[b] = inputs[b];
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        begin_pass(check, pass);
        walk(check, HONE_NODE_TOP);
        if (!check->grows) break;
    }
    check->report = report;
    check->ctx = ctx;
    if (report) {
        begin_pass(check, 0);
        walk(check, HONE_NODE_TOP);
    }
    *out_counts = check->counts;
    return check->is_out_of_memory ? HONE_ERROR(HONE_CODE_NO_MEMORY, "demands of a program")
                                   : HONE_OK;
}
