/* ir/verify/verify.c - walks a program, with what is in scope and what is known at each statement.
 */
#include "ir/verify/verify.h"

#include <string.h>

#include "ir/core/annotation.h"
#include "ir/core/concurrent.h"
#include "ir/verify/verify_impl.h"

const char *verify_block_name(const verifier *v) {
    if (v->block == HONE_NO_ID) return v->func->name ? v->func->name : "?";
    return hone_func_node(v->func, v->block)->u.block.block->name;
}

const char *verify_var_name(const verifier *v, hone_var var) {
    return var < v->func->var_count && v->func->vars[var].name ? v->func->vars[var].name : "?";
}

/* ---- scopes ---- */

void verify_know(verifier *v, const hone_expr *condition, bool is_negated, bool is_soft) {
    if (!hone_points_push(&v->points, v->arena, (hone_guard){condition, is_negated, is_soft})) {
        v->is_short_of_memory = true;
    }
}

static void walk(verifier *v, hone_node_id id);

static bool is_return(const hone_node *node) {
    return node->kind == HONE_NODE_EVAL &&
           hone_expr_is_call(node->u.eval.value, HONE_INTRIN_RETURN);
}

static bool goes_elsewhere(const hone_node *node) {
    return node->kind == HONE_NODE_BREAK || node->kind == HONE_NODE_CONTINUE || is_return(node);
}

/* After `if c: continue` the rest runs where c does not hold. */
static bool leaves_its_loop(const verifier *v, hone_node_id branch) {
    hone_node_id last = hone_func_node(v->func, branch)->last;
    return last != HONE_NO_ID && goes_elsewhere(hone_func_node(v->func, last));
}

/* What a statement says of those behind it. */
static void know_after(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_expr *value = node->u.eval.value;
    if (node->kind == HONE_NODE_ASSERT) verify_know(v, value, false, false);
    if (node->kind == HONE_NODE_EVAL && hone_expr_is_call(value, HONE_INTRIN_ASSUME)) {
        verify_know(v, value->args[0], false, false);
    }
    if (node->kind == HONE_NODE_IF && leaves_its_loop(v, id)) verify_know(v, value, true, false);
}

static void walk_children(verifier *v, hone_node_id parent) {
    uint32_t guards = v->points.guard_count;
    hone_node_id child = hone_func_node(v->func, parent)->first;
    for (; child != HONE_NO_ID; child = hone_func_node(v->func, child)->next) {
        walk(v, child);
        know_after(v, child);
    }
    v->points.guard_count = guards;
}

static bool define(verifier *v, hone_node_id id, hone_var var, const char *what) {
    if (var >= v->func->var_count) {
        verify_error(v, id, "%s has no variable", what);
        return false;
    }
    if (v->is_defined[var]) {
        verify_error(v, id, "%s '%s' is bound again inside its own scope", what,
                     verify_var_name(v, var));
    }
    v->is_defined[var] = v->was_bound[var] = true;
    return true;
}

/* ---- parameters ---- */

/* A size may be a parameter, too, that stands behind the buffer. */
static void walk_params(verifier *v) {
    for (uint32_t i = 0; i < v->func->param_count; i++) {
        hone_var var = v->func->params[i].var;
        if (var == HONE_NO_ID) continue;
        define(v, HONE_NO_ID, var, "parameter");
        if (hone_dtype_is_integer(v->func->vars[var].dtype) &&
            verify_bounds_something(v->func, var))
            v->points.vars[var].is_size = true;
    }
    for (uint32_t i = 0; i < v->func->param_count; i++) {
        hone_buffer buffer = v->func->params[i].buffer;
        if (buffer < v->func->buffer_count)
            verify_define_sizes(v, hone_func_buffer(v->func, buffer));
    }
    for (uint32_t i = 0; i < v->func->param_count; i++) {
        hone_buffer buffer = v->func->params[i].buffer;
        if (buffer != HONE_NO_ID) verify_declare_buffer(v, HONE_NO_ID, buffer);
    }
}

/* ---- loops ---- */

/* Inside of a loop its extent is at least 1; of a min, each side is. */
static void know_not_empty(verifier *v, const hone_expr *extent) {
    if (hone_expr_is_op(extent, HONE_OP_MIN)) {
        know_not_empty(v, extent->args[0]);
        know_not_empty(v, extent->args[1]);
    } else if (extent->kind != HONE_EXPR_INT) {
        const hone_expr *zero = hone_expr_int(&v->arith.ir, extent->dtype, 0);
        const hone_expr *fact = hone_expr_binary(&v->arith.ir, HONE_OP_LT, zero, extent);
        hone_arith_push(&v->arith, fact);
        if (!fact || !region_facts_add(&v->facts, &v->arith, fact)) v->is_short_of_memory = true;
    }
}

static void walk_loop(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    hone_var var = node->u.loop.var;
    verify_integer(v, node->u.loop.range.min, "the begin of a loop");
    verify_integer(v, node->u.loop.range.extent, "the extent of a loop");
    if (!define(v, id, var, "loop variable")) return;
    if (!hone_dtype_is_integer(v->func->vars[var].dtype)) {
        verify_error(v, id, "loop variable '%s' is %s, must be an integer", verify_var_name(v, var),
                     HONE_DTYPE_NAME(v->func->vars[var].dtype));
    }
    verify_loop(v, id);
    if (!hone_arith_bind(&v->arith, var, node->u.loop.range)) v->is_short_of_memory = true;
    v->relax[var] = true;
    uint32_t facts = v->facts.count, mark = hone_arith_push(&v->arith, NULL);
    know_not_empty(v, node->u.loop.range.extent);
    uint32_t findings = v->out->count, around = v->loops_at_once;
    v->loops_at_once += hone_node_is_concurrent_loop(node) || hone_loop_is_of_threads(node);
    walk_children(v, id);
    v->loops_at_once = around;
    if (v->out->count == findings) verify_sharing(v, id);
    if (v->out->count == findings && !v->out->errors_only) verify_odd_loop(v, id);
    v->facts.count = facts;
    hone_arith_pop(&v->arith, mark);
    v->relax[var] = false;
    v->is_defined[var] = false;
}

/* ---- blocks ---- */

static void walk_block_body(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        hone_buffer alloc = block->allocs[i];
        hone_var data = HONE_NO_ID;
        if (alloc < v->func->buffer_count) data = hone_func_buffer(v->func, alloc)->data;
        if (data != HONE_NO_ID) v->is_defined[data] = true;
        verify_declare_buffer(v, id, alloc);
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        hone_buffer view = block->matches[i].buffer;
        if (view >= v->func->buffer_count) continue;
        verify_define_sizes(v, hone_func_buffer(v->func, view));
        verify_declare_buffer(v, id, view);
    }
    verify_block_inside(v, id);
    walk_children(v, id);
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        if (block->allocs[i] < v->func->buffer_count) v->is_live[block->allocs[i]] = false;
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        hone_buffer view = block->matches[i].buffer;
        if (view < v->func->buffer_count) v->is_live[view] = false;
    }
}

/* Loops around a block that has axes are hidden inside of it: only its axes may be used there.
 * Those around the block that it stands in are, then and afterwards. */
static void hide_loops(verifier *v, hone_node_id id, bool are_hidden) {
    if (hone_func_node(v->func, id)->u.block.block->axis_count == 0) return;
    for (hone_node_id n = hone_func_node(v->func, id)->parent;
         n != HONE_NO_ID && hone_func_node(v->func, n)->kind != HONE_NODE_BLOCK;
         n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind == HONE_NODE_FOR) v->is_hidden[node->u.loop.var] = are_hidden;
    }
}

static void walk_block(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    const hone_expr *predicate = hone_func_node(v->func, id)->u.block.predicate;
    hone_node_id outer = v->block;
    region_facts facts = v->facts;
    verify_block_outside(v, id);
    uint32_t guards = v->points.guard_count;
    if (predicate) verify_know(v, predicate, false, false);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        hone_var var = block->axes[i].var;
        if (!define(v, id, var, "axis")) return;
        if (!hone_arith_bind(&v->arith, var, block->axes[i].dom)) v->is_short_of_memory = true;
        v->relax[var] = true;
        v->points.vars[var].source = hone_func_node(v->func, id)->u.block.bindings[i];
    }
    hide_loops(v, id, true);
    v->block = id;
    uint32_t mark = v->arith.fact_count;
    if (block->axis_count) {
        v->facts = (region_facts){0};
    } else if (predicate) { /* it speaks of loops that are used inside */
        hone_arith_push(&v->arith, predicate);
        region_facts_add(&v->facts, &v->arith, predicate);
    }
    walk_block_body(v, id);
    hone_arith_pop(&v->arith, mark);
    v->facts = facts;
    v->points.guard_count = guards;
    v->block = outer;
    hide_loops(v, id, false);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        v->is_defined[block->axes[i].var] = v->relax[block->axes[i].var] = false;
    }
}

/* ---- other statements ---- */

/* A float that the text stores as an integer without saying so loses its fraction. */
static void check_conversion(verifier *v, hone_node_id id, const hone_buffer_info *info) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_expr *value = node->u.store.value;
    if (!node->u.store.converts || value->kind != HONE_EXPR_CAST) return;
    hone_dtype from = value->args[0]->dtype;
    if (!hone_dtype_is_float(from) || !hone_dtype_is_integer(info->dtype)) return;
    verify_warning(v, id,
                   "'%s' holds %s and is given a value of type %s, whose fraction is lost; "
                   "T.Cast says that this is meant",
                   info->name, HONE_DTYPE_NAME(info->dtype), HONE_DTYPE_NAME(from));
}

static void walk_store(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    verify_access(v, node->u.store.buffer, node->u.store.rank, node->u.store.indices, "written");
    verify_expr(v, node->u.store.value);
    if (node->u.store.buffer >= v->func->buffer_count) return;
    const hone_buffer_info *info = hone_func_buffer(v->func, node->u.store.buffer);
    if (!hone_dtype_same_element(info->dtype, node->u.store.value->dtype)) {
        verify_error(v, id, "'%s' holds %s and is given a value of type %s", info->name,
                     HONE_DTYPE_NAME(info->dtype), HONE_DTYPE_NAME(node->u.store.value->dtype));
    }
    check_conversion(v, id, info);
    if (!v->out->errors_only) verify_odd_store(v, id);
    verify_races(v, id);
}

/* Lowered programs: a condition per lane, over vector stores alone. */
static void walk_masked(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    verify_expr(v, node->u.eval.value);
    uint32_t guards = v->points.guard_count;
    verify_know(v, node->u.eval.value, false, false);
    for (hone_node_id c = node->first; c != HONE_NO_ID; c = hone_func_node(v->func, c)->next) {
        if (hone_func_node(v->func, c)->kind != HONE_NODE_STORE) {
            verify_error(v, c, "only stores may stand below a condition on lanes");
        }
        walk(v, c);
    }
    v->points.guard_count = guards;
}

static void walk_if(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    if (node->u.eval.value->dtype.lanes > 1) {
        walk_masked(v, id);
        return;
    }
    verify_condition(v, node->u.eval.value, "the condition of an if");
    if (!v->out->errors_only) verify_odd_condition(v, id, node->u.eval.value);
    uint32_t facts = v->facts.count, mark = hone_arith_push(&v->arith, node->u.eval.value);
    bool has_others = v->facts.has_others;
    region_facts_add(&v->facts, &v->arith, node->u.eval.value);
    v->facts.has_others = true;
    uint32_t guards = v->points.guard_count;
    verify_know(v, node->u.eval.value, false, false);
    hone_node_id child = node->first;
    for (; child != HONE_NO_ID; child = hone_func_node(v->func, child)->next) {
        if (hone_func_node(v->func, child)->kind == HONE_NODE_ELSE) {
            v->facts.count = facts;
            hone_arith_pop(&v->arith, mark);
            v->points.guard_count = guards;
            verify_know(v, node->u.eval.value, true, false);
        }
        walk(v, child);
        know_after(v, child);
    }
    v->points.guard_count = guards;
    v->facts.count = facts;
    v->facts.has_others = has_others;
    hone_arith_pop(&v->arith, mark);
}

static void walk_let(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    verify_expr(v, node->u.let.value);
    if (!define(v, id, node->u.let.var, "variable")) return;
    v->points.vars[node->u.let.var].source = node->u.let.value;
    walk_children(v, id);
    v->is_defined[node->u.let.var] = false;
}

static void walk_storage(verifier *v, hone_node_id id) {
    hone_buffer buffer = hone_func_node(v->func, id)->u.alloc.buffer;
    if (buffer < v->func->buffer_count) {
        const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
        if (info->data != HONE_NO_ID) v->is_defined[info->data] = true;
    }
    verify_declare_buffer(v, id, buffer);
    walk_children(v, id);
    if (buffer < v->func->buffer_count) v->is_live[buffer] = false;
}

static bool has_way_out(const hone_func *func, hone_node_id loop) {
    if (hone_tree_jump_of(func, loop, false) != HONE_NO_ID) return true;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        if (is_return(hone_func_node(func, n))) return true;
    }
    return false;
}

/* `A[i] == B[i]` on a line of its own, where '=' is meant. */
static void check_effect(verifier *v, hone_node_id id, const hone_expr *e) {
    bool compares = e->kind == HONE_EXPR_BINARY && hone_op_is_compare((hone_op)e->op);
    if (compares) {
        verify_warning(v, id, "this comparison has no effect; '=' stores, '%s' compares",
                       hone_op_spelling((hone_op)e->op));
    } else if (e->kind == HONE_EXPR_BINARY || e->kind == HONE_EXPR_LOAD) {
        verify_warning(v, id, "this value is not used");
    }
}

static void walk_while(verifier *v, hone_node_id id) {
    const hone_expr *condition = hone_func_node(v->func, id)->u.eval.value;
    verify_condition(v, condition, "the condition of a while");
    bool always = condition->kind == HONE_EXPR_INT && condition->u.i != 0;
    if (always && !has_way_out(v->func, id)) verify_warning(v, id, "this loop never ends");
    if (!v->out->errors_only) verify_odd_while(v, id);
    uint32_t guards = v->points.guard_count;
    verify_know(v, condition, false, false);
    walk_children(v, id);
    v->points.guard_count = guards;
}

/* Iterations that run at once, or in any order, cannot be left out by one of them. */
static void check_jump(verifier *v, hone_node_id id) {
    hone_node_id loop = hone_tree_loop_of(v->func, id);
    if (loop == HONE_NO_ID) {
        verify_error(v, id, "break or continue outside of a loop");
        return;
    }
    const hone_node *node = hone_func_node(v->func, loop);
    bool is_break = hone_func_node(v->func, id)->kind == HONE_NODE_BREAK;
    if (!is_break || node->kind != HONE_NODE_FOR) return;
    if (node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_UNROLLED) return;
    verify_error(v, id,
                 "break out of loop '%s', whose iterations run at once: make it a serial loop, or "
                 "use a condition",
                 v->func->vars[node->u.loop.var].name);
}

/* What is of another kind would be passed over by all that looks for it. */
static void check_annotations(verifier *v, hone_node_id id, const hone_attrs *annotations) {
    for (uint32_t i = 0; i < annotations->count; i++) {
        const hone_attr *a = &annotations->items[i];
        const char *wanted = hone_annotation_misfit(a->key, &a->value);
        if (wanted) verify_error(v, id, "annotation '%s' wants %s", a->key, wanted);
    }
}

static void check_attr(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    if (!node->u.attr.value) return;
    const hone_value value = HONE_VALUE_OF_EXPR(node->u.attr.value);
    check_annotations(v, id,
                      &(hone_attrs){
                          1, &(hone_attr){node->u.attr.key, value}
    });
    verify_expr(v, node->u.attr.value);
}

static void walk(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    v->node = id;
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        check_annotations(v, id, &node->u.loop.annotations);
        verify_pipeline(v, id);
        walk_loop(v, id);
        return;
    case HONE_NODE_BLOCK:
        check_annotations(v, id, &node->u.block.block->annotations);
        verify_double_buffer(v, id);
        walk_block(v, id);
        return;
    case HONE_NODE_STORE:
        walk_store(v, id);
        return;
    case HONE_NODE_IF:
        walk_if(v, id);
        return;
    case HONE_NODE_LET:
        walk_let(v, id);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        walk_storage(v, id);
        return;
    case HONE_NODE_WHILE:
        walk_while(v, id);
        return;
    case HONE_NODE_ASSERT:
        verify_condition(v, node->u.eval.value, "an assertion");
        if (hone_expr_is_int_value(node->u.eval.value, 0))
            verify_warning(v, id, "this assertion never holds");
        break;
    case HONE_NODE_EVAL:
        verify_expr(v, node->u.eval.value);
        check_effect(v, id, node->u.eval.value);
        break;
    case HONE_NODE_ATTR:
        check_attr(v, id);
        break;
    case HONE_NODE_BREAK:
    case HONE_NODE_CONTINUE:
        check_jump(v, id);
        break;
    default:
        break;
    }
    if (goes_elsewhere(node) && node->next != HONE_NO_ID)
        verify_warning(v, node->next, "nothing from here on is run: the statement before leaves");
    walk_children(v, id);
}

/* ---- entries ---- */

static bool verifier_init(verifier *v, const hone_func *func, hone_findings *out) {
    *v = (verifier){.func = func, .out = out, .node = HONE_NO_ID, .block = HONE_NO_ID};
    v->arena = hone_arena_create(1 << 15);
    if (!v->arena) return false;
    hone_arith_init(&v->arith, v->arena);
    size_t vars = func->var_count + 1;
    v->is_defined = hone_arena_zalloc(v->arena, vars);
    v->was_bound = hone_arena_zalloc(v->arena, vars);
    v->is_hidden = hone_arena_zalloc(v->arena, vars);
    v->relax = hone_arena_zalloc(v->arena, vars);
    v->is_live = hone_arena_zalloc(v->arena, func->buffer_count + 1);
    return v->is_defined && v->was_bound && v->is_hidden && v->relax && v->is_live &&
           hone_points_init(&v->points, v->arena, func) && hone_arith_bind_sizes(&v->arith, func);
}

hone_status hone_verify_func(const hone_func *func, hone_findings *out) {
    verifier v;
    assert(func && out && out->arena);
    hone_status st = HONE_OK;
    bool is_ready = verifier_init(&v, func, out);
    if (is_ready) {
        if (!out->errors_only) v.usage = hone_usage_of(func, v.arena);
        v.is_short_of_memory |= !v.usage && !out->errors_only;
        verify_find_stores(&v);
        check_annotations(&v, HONE_NO_ID, &func->attrs);
        walk_params(&v);
        walk(&v, 0);
        verify_flow(&v);
        verify_outputs(&v);
        if (!out->errors_only) verify_block_names(&v);
        hone_code code = hone_status_consume(hone_ir_finish(&v.arith.ir)); /* of helpers only */
        v.is_short_of_memory |= code == HONE_CODE_NO_MEMORY;
    }
    if (!is_ready || v.is_short_of_memory) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "verification of '%s'", func->name);
    }
    if (v.arena) hone_arena_destroy(v.arena);
    return st;
}

hone_status hone_verify_module(const hone_module *module, hone_findings *out) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (member->kind == HONE_MEMBER_FUNC) HONE_TRY(hone_verify_func(member->func, out));
        if (member->kind == HONE_MEMBER_GRAPH) HONE_TRY(verify_graph(module, member->graph, out));
    }
    return HONE_OK;
}
