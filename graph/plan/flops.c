/* graph/plan/flops.c - counts the arithmetic of a program: operators and calls of each statement
 * times the loops around it. Floats count where there are any, else integers; index arithmetic
 * counts nowhere. */
#include "graph/plan/tasks.h"

typedef struct ops {
    double floats, ints;
} ops;

typedef struct counter {
    const hone_func *func;
    bool is_symbolic;
} counter;

static ops add(ops a, ops b) {
    return (ops){a.floats + b.floats, a.ints + b.ints};
}

static ops larger(ops a, ops b) {
    return a.floats > b.floats || (a.floats == b.floats && a.ints > b.ints) ? a : b;
}

static ops one_of(hone_dtype dtype) {
    double lanes = dtype.lanes;
    if (hone_dtype_is_float(dtype)) return (ops){lanes, 0};
    return (ops){0, hone_dtype_is_integer(dtype) ? lanes : 0};
}

/* Indices of loads are not counted. */
static ops count_expr(const hone_expr *e) {
    ops sum = {0, 0};
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_LOAD:
    case HONE_EXPR_INT:
    case HONE_EXPR_FLOAT:
    case HONE_EXPR_STRING:
    case HONE_EXPR_VAR:
        return sum;
    case HONE_EXPR_SELECT:
        return larger(count_expr(e->args[1]), count_expr(e->args[2]));
    case HONE_EXPR_BINARY:
        if (hone_op_is_compare((hone_op)e->op)) return sum;
        sum = one_of(e->dtype);
        break;
    case HONE_EXPR_CALL:
        if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
            return larger(count_expr(e->args[1]), count_expr(e->args[2]));
        }
        sum = one_of(e->dtype);
        if (hone_expr_is_call(e, HONE_INTRIN_FMA)) sum = add(sum, sum);
        break;
    case HONE_EXPR_NOT:
    case HONE_EXPR_CAST:
    case HONE_EXPR_RAMP:
    case HONE_EXPR_BROADCAST:
    case HONE_EXPR_SHUFFLE:
    case HONE_EXPR_LET:
        break;
    }
    for (uint32_t i = 0; i < e->count; i++)
        sum = add(sum, count_expr(e->args[i]));
    return sum;
}

static double extent_of(counter *c, const hone_expr *extent) {
    int64_t value = hone_expr_const(extent);
    if (value >= 0) return (double)value;
    c->is_symbolic = true;
    return 1;
}

static ops count_node(counter *c, hone_node_id id);

static ops count_children(counter *c, hone_node_id id) {
    ops sum = {0, 0};
    for (hone_node_id at = hone_func_node(c->func, id)->first; at != HONE_NO_ID;
         at = hone_func_node(c->func, at)->next) {
        if (hone_func_node(c->func, at)->kind == HONE_NODE_INIT) continue; /* once per output */
        sum = add(sum, count_node(c, at));
    }
    return sum;
}

static ops count_node(counter *c, hone_node_id id) {
    const hone_node *node = hone_func_node(c->func, id);
    if (node->kind == HONE_NODE_STORE) return count_expr(node->u.store.value);
    if (node->kind == HONE_NODE_EVAL) return count_expr(node->u.eval.value);
    ops sum = count_children(c, id);
    if (node->kind == HONE_NODE_FOR) {
        double times = extent_of(c, node->u.loop.range.extent);
        sum.floats *= times;
        sum.ints *= times;
    }
    if (node->kind == HONE_NODE_LET) sum = add(sum, count_expr(node->u.let.value));
    return sum;
}

double hone_func_flops(const hone_func *func, bool *out_is_symbolic) {
    counter c = {func, false};
    ops sum = count_children(&c, 0);
    if (out_is_symbolic) *out_is_symbolic = c.is_symbolic;
    return sum.floats > 0 ? sum.floats : sum.ints;
}

double hone_func_param_bytes(const hone_func *func) {
    double sum = 0;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *buffer = hone_func_buffer(func, func->params[i].buffer);
        int64_t elements = hone_buffer_elements(buffer);
        if (elements > 0) sum += (double)elements * (double)hone_dtype_bytes(buffer->dtype);
    }
    return sum;
}
