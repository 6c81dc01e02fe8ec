/* ir/verify/verify_block.c - what a block promises: its bindings run exactly over its axes,
 * reductions add up once, and its regions hold what it touches. */
#include <string.h>

#include "ir/verify/verify_impl.h"

/* ---- bindings and domains ---- */

/* Its range as a whole leaves the domain; whether some iteration does is looked for where there are
 * conditions. */
static void report_outside(verifier *v, hone_node_id id, uint32_t i, hone_interval span,
                           bool is_certain) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_axis *axis = &node->u.block.block->axes[i];
    const char *kind = verify_axis_word(axis->kind), *name = verify_var_name(v, axis->var);
    const char *block = node->u.block.block->name;
    long long min = axis->dom.min->u.i, end = min + axis->dom.extent->u.i;
    int64_t value;
    hone_outside answer =
        is_certain ? HONE_OUTSIDE_UNKNOWN
                   : hone_find_outside(&v->points, id, node->u.block.bindings[i], min, end, &value);
    if (answer == HONE_OUTSIDE_NEVER) return;
    if (answer == HONE_OUTSIDE_FOUND) {
        hone_str where = {0};
        verify_show_point(v, node->u.block.bindings[i], &where);
        verify_error(v, id,
                     "binding of %s '%s' of block '%s' is %lld%s, outside of its domain [%lld, "
                     "%lld)",
                     kind, name, block, (long long)value, hone_str_text(&where), min, end);
        hone_str_deinit(&where);
        return;
    }
    (is_certain ? verify_error : verify_warning)(
        v, id,
        "binding of %s '%s' of block '%s' %s %lld to %lld, outside of its domain [%lld, %lld)",
        kind, name, block, is_certain ? "runs from" : "may run from", (long long)span.min->u.i,
        (long long)span.max->u.i, min, end);
}

bool verify_never_holds(const hone_expr *e) {
    if (hone_expr_is_op(e, HONE_OP_AND))
        return verify_never_holds(e->args[0]) || verify_never_holds(e->args[1]);
    return hone_expr_is_int_value(e, 0);
}

/* What a binding says of itself tells nothing of the loops and conditions around it: none of the
 * loops may have an iteration, no condition may ever hold. */
static bool never_runs(const hone_func *func, hone_node_id id) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && hone_expr_is_int_value(node->u.loop.range.extent, 0))
            return true;
        const hone_expr *condition = node->kind == HONE_NODE_BLOCK ? node->u.block.predicate : NULL;
        if (condition && verify_never_holds(condition)) return true;
    }
    return false;
}

static void check_constant_domain(verifier *v, hone_node_id id, uint32_t i, hone_interval span,
                                  bool is_certain) {
    const hone_axis *axis = &hone_func_node(v->func, id)->u.block.block->axes[i];
    int64_t min = axis->dom.min->u.i, extent = axis->dom.extent->u.i;
    int64_t lo = span.min->u.i, hi = span.max->u.i;
    if (hi < lo) { /* nothing runs */
        if (is_certain || v->facts.count > 0) {
            verify_warning(v, id, "block '%s' never runs: its conditions cannot all hold",
                           hone_func_node(v->func, id)->u.block.block->name);
        }
        return;
    }
    if (lo < min || hi > min + extent - 1)
        report_outside(v, id, i, span, is_certain);
    else if (hi - lo + 1 < extent && !never_runs(v->func, id))
        verify_uncovered(v, id, i, lo, hi);
}

static bool leaves_symbolic_domain(verifier *v, hone_node_id id, const hone_axis *axis,
                                   const hone_expr *binding) {
    hone_str where = {0}, sizes = {0};
    int64_t value, extent;
    bool leaves = verify_leaves_for_all_sizes(v, binding, axis->dom.min, axis->dom.extent, &value,
                                              &extent, &where, &sizes);
    if (leaves) {
        verify_error(v, id,
                     "binding of %s '%s' of block '%s' is %lld%s, outside of its domain, whose "
                     "extent is %lld%s",
                     verify_axis_word(axis->kind), verify_var_name(v, axis->var),
                     hone_func_node(v->func, id)->u.block.block->name, (long long)value,
                     hone_str_text(&where), (long long)extent, hone_str_text(&sizes));
    }
    hone_str_deinit(&where);
    hone_str_deinit(&sizes);
    return leaves;
}

static void check_symbolic_domain(verifier *v, hone_node_id id, const hone_axis *axis,
                                  const hone_expr *binding, hone_interval span) {
    hone_ir *ir = &v->arith.ir;
    const char *block = hone_func_node(v->func, id)->u.block.block->name;
    if (!span.min || !span.max) return;
    const hone_expr *end = hone_expr_add(ir, axis->dom.min, axis->dom.extent);
    if (!end) return;
    /* by its ends, or loop by loop: of triangles one loop ends where another one is */
    bool begins = hone_prove_less_equal(&v->arith, axis->dom.min, span.min) ||
                  hone_prove_less_equal(&v->arith, axis->dom.min, binding);
    bool ends =
        hone_prove_less(&v->arith, span.max, end) || hone_prove_less(&v->arith, binding, end);
    if (!begins || !ends) {
        if (leaves_symbolic_domain(v, id, axis, binding)) return;
        bool always = !v->facts.count && !v->facts.has_others &&
                      hone_prove_less_equal(&v->arith, end, span.min);
        if (always) {
            verify_error(v, id,
                         "binding of %s '%s' of block '%s' lies behind its domain in every "
                         "iteration; an axis takes its extent first, then its binding",
                         verify_axis_word(axis->kind), verify_var_name(v, axis->var), block);
            return;
        }
        verify_warning(v, id,
                       "cannot show that the binding of %s '%s' of block '%s' stays in its domain",
                       verify_axis_word(axis->kind), verify_var_name(v, axis->var), block);
    }
}

static void check_binding(verifier *v, hone_node_id id, uint32_t i) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_axis *axis = &node->u.block.block->axes[i];
    const hone_expr *binding = node->u.block.bindings[i];
    verify_integer(v, binding, "the binding of an axis");
    verify_integer(v, axis->dom.min, "the begin of an axis");
    verify_integer(v, axis->dom.extent, "the extent of an axis");
    if (!binding || !hone_dtype_is_integer(binding->dtype) || axis->kind == HONE_AXIS_OPAQUE ||
        !hone_expr_is_pure_index(binding)) {
        return;
    }
    bool is_exact;
    hone_interval span = region_relax_span(&v->arith, &v->facts, binding, binding, v->relax,
                                           v->func->var_count, &is_exact);
    bool is_certain =
        is_exact && !v->facts.count && !v->facts.has_others && !never_runs(v->func, id);
    bool is_constant = span.min && span.max && span.min->kind == HONE_EXPR_INT &&
                       span.max->kind == HONE_EXPR_INT && axis->dom.min->kind == HONE_EXPR_INT &&
                       axis->dom.extent->kind == HONE_EXPR_INT;
    if (is_constant)
        check_constant_domain(v, id, i, span, is_certain);
    else
        check_symbolic_domain(v, id, axis, binding, span);
}

/* Two axes that are one loop: T.axis.remap("SS", [i, i]). */
static bool check_bound_twice(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 1; i < block->axis_count; i++) {
        const hone_expr *binding = node->u.block.bindings[i];
        for (uint32_t k = 0; k < i && binding->kind == HONE_EXPR_VAR; k++) {
            if (!hone_expr_same(binding, node->u.block.bindings[k])) continue;
            verify_warning(
                v, id,
                "axes '%s' and '%s' of block '%s' are bound to one loop, '%s': only where "
                "they are equal is anything done",
                verify_var_name(v, block->axes[k].var), verify_var_name(v, block->axes[i].var),
                block->name, verify_var_name(v, binding->u.var));
            return true;
        }
    }
    return false;
}

/* Loops run at most as often as their extents say, so that axes with more values are not covered.
 */
static void check_together(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    double axes = 1, loops = 1;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        int64_t extent = hone_expr_const(block->axes[i].dom.extent);
        if (extent < 1 || !hone_expr_is_pure_index(node->u.block.bindings[i])) return;
        axes *= (double)extent;
    }
    for (hone_node_id n = node->parent; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = hone_func_node(v->func, n);
        if (loop->kind == HONE_NODE_BLOCK && n != hone_func_root_block(v->func)) return;
        if (loop->kind == HONE_NODE_LET || loop->kind == HONE_NODE_WHILE) return;
        if (loop->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(loop->u.loop.range.extent);
        if (extent < 1) return;
        bool moves = false;
        for (uint32_t i = 0; i < block->axis_count; i++)
            moves |= hone_expr_uses_var(node->u.block.bindings[i], loop->u.loop.var);
        if (moves) loops *= (double)extent;
    }
    if (loops >= axes || verify_shares_output(v, id) || v->out->error_count > 0) return;
    if (check_bound_twice(v, id)) return;
    verify_warning(
        v, id,
        "the axes of block '%s' have %.0f values together, the loops that move them only %.0f",
        block->name, axes, loops);
}

/* ---- views ---- */

/* The region that a view shows lies in the buffer. */
static void check_match_region(verifier *v, hone_node_id id, const hone_match *match) {
    const hone_buffer_info *source = hone_func_buffer(v->func, match->source.buffer);
    for (uint32_t d = 0; d < source->rank; d++) {
        const hone_range *range = &match->source.ranges[d];
        int64_t extent = hone_expr_const(source->shape[d]), width = hone_expr_const(range->extent);
        int64_t value;
        if (extent < 0 || width < 0 || !hone_dtype_is_integer(range->min->dtype)) continue;
        if (hone_find_outside(&v->points, id, range->min, 0, extent - width + 1, &value) !=
            HONE_OUTSIDE_FOUND) {
            continue;
        }
        hone_str where = {0};
        verify_show_point(v, range->min, &where);
        verify_error(v, id,
                     "'%s' shows %lld to %lld%s of dimension %u of '%s', whose extent is %lld",
                     hone_func_buffer(v->func, match->buffer)->name, (long long)value,
                     (long long)(value + width - 1), hone_str_text(&where), (unsigned)d,
                     source->name, (long long)extent);
        hone_str_deinit(&where);
    }
}

/* The extent of a region is that of the view, in every iteration. */
static void check_match_extent(verifier *v, hone_node_id id, const hone_match *match,
                               const hone_expr *extent, const hone_expr *want) {
    int64_t number = hone_expr_const(want), value;
    if (number < 0 || !hone_dtype_is_integer(extent->dtype)) return;
    if (hone_find_outside(&v->points, id, extent, number, number + 1, &value) != HONE_OUTSIDE_FOUND)
        return;
    hone_str where = {0};
    verify_show_point(v, extent, &where);
    verify_error(v, id,
                 "'%s' has the extent %lld where the region of '%s' that it matches has %lld%s",
                 hone_func_buffer(v->func, match->buffer)->name, (long long)number,
                 hone_func_buffer(v->func, match->source.buffer)->name, (long long)value,
                 hone_str_text(&where));
    hone_str_deinit(&where);
}

/* Strides that are numbers are those of what the view shows. */
static void check_match_strides(verifier *v, hone_node_id id, const hone_buffer_info *view,
                                const hone_buffer_info *source) {
    int64_t dense = 1;
    for (uint32_t back = 1; view->strides && back <= view->rank; back++) {
        uint32_t d = view->rank - back, of = source->rank - back;
        int64_t want = source->strides ? hone_expr_const(source->strides[of]) : dense;
        int64_t said = hone_expr_const(view->strides[d]),
                extent = hone_expr_const(source->shape[of]);
        bool matters = hone_expr_const(view->shape[d]) != 1;
        if (want >= 0 && said >= 0 && want != said && matters) {
            verify_error(v, id,
                         "'%s' has the stride %lld in dimension %u where '%s', which it shows, "
                         "has %lld",
                         view->name, (long long)said, (unsigned)d, source->name, (long long)want);
            return;
        }
        if (extent < 0 || dense < 0 || __builtin_mul_overflow(dense, extent, &dense)) dense = -1;
    }
}

/* T.match_buffer inside of a block: the last dimensions of the region are those of the view, the
 * ones before are one wide. */
static void check_match(verifier *v, hone_node_id id, const hone_match *match) {
    const hone_buffer_info *view = hone_func_buffer(v->func, match->buffer);
    const hone_buffer_info *source = hone_func_buffer(v->func, match->source.buffer);
    if (!hone_dtype_equal(view->dtype, source->dtype)) {
        verify_error(v, id, "'%s' is %s and matches '%s', which is %s", view->name,
                     HONE_DTYPE_NAME(view->dtype), source->name, HONE_DTYPE_NAME(source->dtype));
    }
    if (view->rank > source->rank) {
        verify_error(v, id, "'%s' has %u dimensions and matches a region of %u of '%s'", view->name,
                     (unsigned)view->rank, (unsigned)source->rank, source->name);
        return;
    }
    check_match_region(v, id, match);
    uint32_t ahead = source->rank - view->rank;
    for (uint32_t d = 0; d < source->rank; d++) {
        const hone_expr *extent = match->source.ranges[d].extent;
        const hone_expr *one = hone_expr_i32(&v->arith.ir, 1);
        const hone_expr *want = d < ahead ? one : view->shape[d - ahead];
        if (one) check_match_extent(v, id, match, extent, want);
    }
    check_match_strides(v, id, view, source);
    if (view->scope && source->scope && strcmp(view->scope, source->scope) != 0) {
        verify_error(v, id, "'%s' is in the scope \"%s\" and matches '%s', which is in \"%s\"",
                     view->name, view->scope, source->name, source->scope);
    }
}

/* ---- the two halves ---- */

void verify_block_outside(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    region_facts facts = v->facts;
    uint32_t mark = v->arith.fact_count, guards = v->points.guard_count;
    v->node = id;
    if (node->u.block.predicate) {
        verify_condition(v, node->u.block.predicate, "the predicate of a block");
        hone_arith_push(&v->arith, node->u.block.predicate);
        region_facts_add(&v->facts, &v->arith, node->u.block.predicate);
        verify_know(v, node->u.block.predicate, false, false);
    }
    for (uint32_t i = 0; i < block->axis_count; i++)
        check_binding(v, id, i);
    check_together(v, id);
    hone_arith_pop(&v->arith, mark);
    v->points.guard_count = guards;
    v->facts = facts;
    if (verify_has_reduce_axis(block))
        verify_reduction_loops(v, id);
    else
        verify_repeated_update(v, id);
}

void verify_block_inside(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    v->node = id;
    for (uint32_t i = 0; i < block->match_count; i++) {
        const hone_match *match = &block->matches[i];
        if (match->buffer >= v->func->buffer_count) {
            verify_error(v, id, "block '%s' matches a buffer that does not exist", block->name);
            continue;
        }
        verify_region_shape(v, id, &match->source, "views");
        if (match->source.buffer < v->func->buffer_count) check_match(v, id, match);
    }
    verify_regions(v, id);
    verify_init(v, id);
    verify_outputs_of_block(v, id);
}
