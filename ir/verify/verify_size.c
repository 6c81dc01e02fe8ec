/* ir/verify/verify_size.c - functions of symbolic sizes: what goes wrong whatever the sizes are.
 *
 * Sizes are tried with a few values each: one that most tiles divide, one above all values where
 * these have an end whatever the sizes are, one that none divides, a small one. Only what leaves
 * its range in all trials is called wrong, so that a program that relies on a size being a multiple
 * of something, on two sizes being equal, or on a large one (rows that make 2^35 elements) is let
 * alone. What leaves its range only where sizes differ, in one order or the other, is a warning:
 * such a program may be called with equal ones only, but hardly says so.
 */
#include "ir/verify/verify_impl.h"

enum { ROUND_SIZE = 4096 * 9 * 5, PRIME_SIZE = 97, SHOWN_SIZE = 64 };

bool verify_bounds_something(const hone_func *func, hone_var var) {
    bool is_found = false;
    for (uint32_t b = 0; b < func->buffer_count && !is_found; b++) {
        for (uint32_t d = 0; d < func->buffers[b].rank && !is_found; d++)
            is_found = hone_expr_uses_var(func->buffers[b].shape[d], var);
    }
    for (hone_node_id id = HONE_NODE_TOP; id != HONE_NO_ID && !is_found;
         id = hone_tree_next(func, HONE_NODE_TOP, id)) {
        const hone_node *node = hone_func_node(func, id);
        if (node->kind == HONE_NODE_FOR)
            is_found = hone_expr_uses_var(node->u.loop.range.extent, var);
        for (uint32_t i = 0;
             node->kind == HONE_NODE_BLOCK && !is_found && i < node->u.block.block->axis_count; i++)
            is_found = hone_expr_uses_var(node->u.block.block->axes[i].dom.extent, var);
    }
    return is_found;
}

/* All sizes are the same, or each is larger than the one before by step. */
static void set_sizes(hone_points *points, int64_t value, int64_t step, bool is_known) {
    for (uint32_t i = 0; i < points->func->var_count; i++) {
        if (!points->vars[i].is_size) continue;
        points->vars[i].value = value;
        points->vars[i].is_known = is_known;
        value += step;
    }
    points->stamp++;
}

static uint32_t count_sizes(const hone_points *points) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < points->func->var_count; i++)
        count += points->vars[i].is_size;
    return count;
}

static bool try_size(verifier *v, const hone_expr *e, const hone_expr *begin,
                     const hone_expr *extent, int64_t *out_value, int64_t *out_extent) {
    int64_t from;
    if (!hone_value_at(&v->points, begin, &from) ||
        !hone_value_at(&v->points, extent, out_extent) || *out_extent > INT64_MAX / 4 ||
        from > INT64_MAX / 4 || *out_extent < 0) {
        return false;
    }
    return hone_find_outside(&v->points, v->node, e, from, from + *out_extent, out_value) ==
           HONE_OUTSIDE_FOUND;
}

typedef struct named {
    verifier *v;
    hone_str *out;
    uint32_t count;
} named;

static bool name_size(void *ctx, const hone_expr *e) {
    named *n = ctx;
    if (e->kind != HONE_EXPR_VAR || e->u.var >= n->v->func->var_count) return true;
    const hone_point_var *var = &n->v->points.vars[e->u.var];
    if (!var->is_size || n->count == 3) return true;
    hone_str_printf(n->out, "%s%s = %lld", n->count++ ? ", " : " for ",
                    verify_var_name(n->v, e->u.var), (long long)var->value);
    return true;
}

static void show(verifier *v, const hone_expr *e, const hone_expr *extent, bool others,
                 hone_str *out_where, hone_str *out_sizes) {
    named n = {.v = v, .out = out_sizes};
    verify_show_point(v, e, out_where);
    hone_expr_walk(extent, name_size, &n);
    for (uint32_t i = 0; others && i < v->func->var_count; i++) {
        const hone_expr size = {.kind = HONE_EXPR_VAR, .u.var = i};
        if (!hone_expr_uses_var(extent, i)) name_size(&n, &size);
    }
}

bool verify_leaves_for_all_sizes(verifier *v, const hone_expr *e, const hone_expr *begin,
                                 const hone_expr *extent, int64_t *out_value, int64_t *out_extent,
                                 hone_str *out_where, hone_str *out_sizes) {
    hone_bound values = hone_arith_bound(&v->arith, e);
    bool has_end = values.max >= ROUND_SIZE && values.max < INT64_MAX / 8;
    int64_t trials[] = {ROUND_SIZE, has_end ? values.max + 1 : ROUND_SIZE, PRIME_SIZE, SHOWN_SIZE};
    bool leaves = true;
    for (size_t i = 0; i < HONE_COUNT(trials) && leaves; i++) {
        set_sizes(&v->points, trials[i], 0, true);
        leaves = try_size(v, e, begin, extent, out_value, out_extent);
    }
    if (leaves) show(v, e, extent, false, out_where, out_sizes);
    set_sizes(&v->points, 0, 0, false);
    return leaves;
}

bool verify_leaves_for_other_sizes(verifier *v, const hone_expr *e, const hone_expr *begin,
                                   const hone_expr *extent, int64_t *out_value, int64_t *out_extent,
                                   hone_str *out_where, hone_str *out_sizes) {
    const int64_t step = 64, last = step * count_sizes(&v->points);
    if (v->out->errors_only || last <= step || last > 16 * step) return false;
    bool leaves = false;
    for (int order = 0; order < 2 && !leaves; order++) {
        set_sizes(&v->points, order ? last : step, order ? -step : step, true);
        leaves = try_size(v, e, begin, extent, out_value, out_extent);
    }
    if (leaves) show(v, e, extent, true, out_where, out_sizes);
    set_sizes(&v->points, 0, 0, false);
    return leaves;
}
