#include "ir/verify_impl.h"

static void verify_var(verifier *v, const hone_expr *e) {
    hone_var var = e->u.var;
    if (var >= v->func->var_count) {
        verify_error(v, v->node, "a variable that does not exist is used in '%s'",
                     verify_block_name(v));
        return;
    }
    if (v->is_hidden[var] && v->is_defined[var]) {
        verify_error(v, v->node,
                     "loop variable '%s' is used inside block '%s'; it must be bound to an axis",
                     verify_var_name(v, var), verify_block_name(v));
    } else if (!v->is_defined[var]) {
        verify_error(v, v->node, "'%s' is used in '%s' where it is not defined",
                     verify_var_name(v, var), verify_block_name(v));
    }
    if (!hone_dtype_equal(e->dtype, v->func->vars[var].dtype)) {
        verify_error(v, v->node, "'%s' is %s and is used as %s", verify_var_name(v, var),
                     HONE_DTYPE_NAME(v->func->vars[var].dtype), HONE_DTYPE_NAME(e->dtype));
    }
}

/* Do the axes in an index take all values of their domains, whatever its other variables are? Not
 * where a block copies a part of a buffer, nor in v - u * 2 when v is bound to u * 2 + i. */
static bool axes_of_run_freely(verifier *v, const hone_node *node, const hone_expr *index) {
    const hone_block *block = node->u.block.block;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (!hone_expr_uses_var(index, block->axes[a].var)) continue;
        const hone_expr *binding = node->u.block.bindings[a];
        hone_bound taken = hone_arith_bound(&v->arith, binding);
        hone_bound first = hone_arith_bound(&v->arith, block->axes[a].dom.min);
        hone_bound size = hone_arith_bound(&v->arith, block->axes[a].dom.extent);
        if (taken.min > first.min || taken.max < first.max + size.max - 1) return false;
        for (hone_var var = 0; var < v->func->var_count; var++) {
            if (!v->relax[var] || !hone_expr_uses_var(index, var)) continue;
            if (hone_expr_uses_var(binding, var)) return false;
        }
    }
    return true;
}

/* The same for the blocks around as well: their axes stand in an index of a nested block. */
static bool axes_run_freely(verifier *v, const hone_expr *index) {
    for (hone_node_id n = v->block; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind == HONE_NODE_BLOCK && !axes_of_run_freely(v, node, index)) return false;
    }
    return true;
}

/* An index whose exact range leaves the buffer. Under a condition nothing is said: the range does
 * not know it. */
static void verify_bounds(verifier *v, const hone_buffer_info *info, uint32_t d,
                          const hone_expr *index, const char *verb) {
    bool is_exact;
    if (info->shape[d]->kind != HONE_EXPR_INT || index->dtype.lanes > 1) return;
    if (v->facts.count > 0 || v->facts.has_others || !hone_expr_is_pure_index(index)) return;
    int64_t extent = info->shape[d]->u.i;
    hone_interval span =
        hone_arith_relax(&v->arith, index, v->relax, v->func->var_count, &is_exact);
    if (!is_exact || !span.min || !span.max || span.min->kind != HONE_EXPR_INT ||
        span.max->kind != HONE_EXPR_INT || span.min->u.i > span.max->u.i) {
        return;
    }
    if ((span.min->u.i < 0 || span.max->u.i >= extent) && axes_run_freely(v, index)) {
        verify_error(v, v->node,
                     "'%s' is %s in '%s' with an index from %lld to %lld in dimension %u, which "
                     "has the extent %lld",
                     info->name, verb, verify_block_name(v), (long long)span.min->u.i,
                     (long long)span.max->u.i, (unsigned)d, (long long)extent);
    }
}

void verify_access(verifier *v, hone_buffer buffer, uint32_t rank, const hone_expr *const *indices,
                   const char *verb) {
    if (buffer >= v->func->buffer_count) {
        verify_error(v, v->node, "a buffer that does not exist is %s in '%s'", verb,
                     verify_block_name(v));
        return;
    }
    const hone_buffer_info *info = hone_func_buffer(v->func, buffer);
    if (!v->is_live[buffer]) {
        verify_error(v, v->node, "buffer '%s' is %s in '%s' where it does not exist", info->name,
                     verb, verify_block_name(v));
    }
    if (rank != info->rank) {
        verify_error(v, v->node, "'%s' has %u dimensions and is %s in '%s' with %u indices",
                     info->name, (unsigned)info->rank, verb, verify_block_name(v), (unsigned)rank);
    }
    for (uint32_t d = 0; d < rank; d++) {
        verify_expr(v, indices[d]);
        if (!hone_dtype_is_integer(indices[d]->dtype)) {
            verify_error(v, v->node, "index %u of '%s' is %s, must be an integer", (unsigned)d,
                         info->name, HONE_DTYPE_NAME(indices[d]->dtype));
        } else if (d < info->rank) {
            verify_bounds(v, info, d, indices[d], verb);
        }
    }
}

static void verify_args(verifier *v, const hone_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        verify_expr(v, e->args[i]);
}

static void verify_conditional(verifier *v, const hone_expr *e) {
    uint32_t facts = v->facts.count;
    bool has_others = v->facts.has_others;
    verify_expr(v, e->args[0]);
    uint32_t mark = hone_arith_push(&v->arith, e->args[0]);
    region_facts_add(&v->facts, &v->arith, e->args[0]);
    v->facts.has_others = true;
    verify_expr(v, e->args[1]);
    hone_arith_pop(&v->arith, mark);
    v->facts.count = facts;
    verify_expr(v, e->args[2]);
    v->facts.has_others = has_others;
}

void verify_expr(verifier *v, const hone_expr *e) {
    if (!e) {
        verify_error(v, v->node, "an expression is missing in '%s'", verify_block_name(v));
        return;
    }
    if (e->kind == HONE_EXPR_VAR) {
        verify_var(v, e);
    } else if (e->kind == HONE_EXPR_LOAD) {
        verify_access(v, e->u.buffer, e->count, e->args, "read");
    } else if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE) && e->count == 3) {
        verify_conditional(v, e);
    } else if (e->kind == HONE_EXPR_LET && e->u.var < v->func->var_count) {
        verify_expr(v, e->args[0]);
        bool was_defined = v->is_defined[e->u.var];
        v->is_defined[e->u.var] = true;
        verify_expr(v, e->args[1]);
        v->is_defined[e->u.var] = was_defined;
    } else {
        if ((hone_expr_is_op(e, HONE_OP_FLOORDIV) || hone_expr_is_op(e, HONE_OP_FLOORMOD) ||
             hone_expr_is_op(e, HONE_OP_TRUNCDIV) || hone_expr_is_op(e, HONE_OP_TRUNCMOD)) &&
            hone_expr_is_int_value(e->args[1], 0)) {
            verify_error(v, v->node, "division by zero in '%s'", verify_block_name(v));
        }
        verify_args(v, e);
    }
}

void verify_integer(verifier *v, const hone_expr *e, const char *what) {
    verify_expr(v, e);
    if (e && (!hone_dtype_is_integer(e->dtype) || e->dtype.lanes > 1)) {
        verify_error(v, v->node, "%s is %s, must be an integer", what, HONE_DTYPE_NAME(e->dtype));
    }
}

void verify_condition(verifier *v, const hone_expr *e, const char *what) {
    verify_expr(v, e);
    if (e && !hone_dtype_is_bool(e->dtype) && !hone_dtype_is_integer(e->dtype)) {
        verify_error(v, v->node, "%s is %s, must be bool", what, HONE_DTYPE_NAME(e->dtype));
    }
}
