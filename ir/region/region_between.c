/* ir/region/region_between.c - finds the loops and conditions between an access and a node around
 * it. */
#include "ir/region/region_between.h"

#include "ir/region/region.h"
#include "ir/region/region_impl.h"

/* a and b, either of which may be NULL. */
static const hone_expr *both(hone_ir *ir, const hone_expr *a, const hone_expr *b) {
    return a && b ? hone_expr_binary(ir, HONE_OP_AND, a, b) : a ? a : b;
}

static void add_conjunct(const hone_dataflow *flow, const hone_expr *e, region_between *out) {
    hone_ir *ir = &flow->arith->ir;
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        add_conjunct(flow, e->args[0], out);
        add_conjunct(flow, e->args[1], out);
        return;
    }
    if (hone_expr_is_call(e, HONE_INTRIN_LIKELY)) {
        add_conjunct(flow, e->args[0], out);
        return;
    }
    uint32_t vars = flow->func->var_count;
    bool is_known = hone_expr_is_pure_index(e) && e->dtype.lanes == 1 &&
                    !(out->names && hone_expr_uses_any(e, out->names, vars));
    if (is_known) e = hone_without_rest(flow->arith, e, out->relax, vars);
    if (!is_known || !e) {
        out->has_unknown = true;
        return;
    }
    const hone_expr **part = hone_expr_uses_any(e, out->relax, vars) ? &out->under : &out->fixed;
    *part = both(ir, *part, e);
}

static bool mark_vars(const hone_dataflow *flow, hone_node_id at, hone_node_id within,
                      region_between *out) {
    size_t room = (flow->func->var_count + 1) * sizeof *out->relax;
    out->relax = region_alloc(flow->arith, room);
    if (!out->relax) return false;
    for (hone_node_id n = hone_func_node(flow->func, at)->parent; n != within && n != HONE_NO_ID;
         n = hone_func_node(flow->func, n)->parent) {
        const hone_node *node = hone_func_node(flow->func, n);
        if (node->kind == HONE_NODE_FOR) out->relax[node->u.loop.var] = true;
        if (node->kind != HONE_NODE_LET) continue;
        if (!out->names) out->names = region_alloc(flow->arith, room);
        if (!out->names) return false;
        out->names[node->u.let.var] = true;
    }
    return true;
}

bool region_look_between(const hone_dataflow *flow, hone_node_id at, hone_node_id within,
                         region_between *out) {
    const hone_func *func = flow->func;
    *out = (region_between){0};
    if (!mark_vars(flow, at, within, out)) return false;
    for (hone_node_id below = at, n = hone_func_node(func, at)->parent;
         n != within && n != HONE_NO_ID; below = n, n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_IF) continue;
        bool is_else = hone_func_node(func, below)->kind == HONE_NODE_ELSE;
        const hone_expr *e = node->u.eval.value;
        if (is_else) e = hone_expr_is_pure_index(e) ? hone_expr_not(&flow->arith->ir, e) : NULL;
        if (e)
            add_conjunct(flow, e, out);
        else
            out->has_unknown = true;
    }
    return true;
}

bool region_box_between(const hone_dataflow *flow, hone_node_id block_or_none,
                        const hone_region *region, const region_between *between,
                        hone_interval *out, bool *out_is_exact) {
    return !hone_status_consume(hone_access_relax(flow->arith, flow->func, block_or_none, region,
                                                  between->under, between->relax,
                                                  flow->func->var_count, out, out_is_exact));
}
