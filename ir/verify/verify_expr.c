/* ir/verify/verify_expr.c - accesses, bounds and conditions of one statement. */
#include <stdio.h>
#include <string.h>

#include "ir/core/libm.h"
#include "ir/verify/verify_impl.h"

static bool is_axis_here(const verifier *v, hone_var var) {
    const hone_node *node = v->node == HONE_NO_ID ? NULL : hone_func_node(v->func, v->node);
    if (!node || node->kind != HONE_NODE_BLOCK) return false;
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (node->u.block.block->axes[i].var == var) return true;
    }
    return false;
}

/* Does a loop, a let or an axis of the function give it values anywhere? */
static bool has_binder(const hone_func *func, hone_var var) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && node->u.loop.var == var) return true;
        if (node->kind == HONE_NODE_LET && node->u.let.var == var) return true;
        for (uint32_t i = 0; node->kind == HONE_NODE_BLOCK && i < node->u.block.block->axis_count;
             i++) {
            if (node->u.block.block->axes[i].var == var) return true;
        }
    }
    return false;
}

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
    } else if (!v->is_defined[var] && is_axis_here(v, var)) {
        verify_error(v, v->node,
                     "the predicate or a binding of block '%s' uses its axis '%s'; they are about "
                     "the loops around it",
                     hone_func_node(v->func, v->node)->u.block.block->name,
                     verify_var_name(v, var));
    } else if (!v->is_defined[var]) {
        bool is_size = !has_binder(v->func, var);
        verify_error(v, v->node, "'%s' is used in '%s' where it is not defined%s",
                     verify_var_name(v, var), verify_block_name(v),
                     is_size ? "; a size is a parameter, or stands alone in the shape of a buffer "
                               "that is one"
                             : "");
        if (is_size) v->is_defined[var] = true; /* said once */
    }
    if (!hone_dtype_equal(e->dtype, v->func->vars[var].dtype)) {
        verify_error(v, v->node, "'%s' is %s and is used as %s", verify_var_name(v, var),
                     HONE_DTYPE_NAME(v->func->vars[var].dtype), HONE_DTYPE_NAME(e->dtype));
    }
}

/* ---- bounds ---- */

typedef struct shown {
    verifier *v;
    hone_str *out;
    uint32_t count;
} shown;

enum { MAX_SHOWN = 4 };

static bool show_var(void *ctx, const hone_expr *e) {
    shown *s = ctx;
    int64_t value;
    char item[128];
    if (e->kind != HONE_EXPR_VAR || s->count == MAX_SHOWN) return true;
    if (!hone_value_at(&s->v->points, e, &value)) return true;
    snprintf(item, sizeof item, "%s = %lld", verify_var_name(s->v, e->u.var), (long long)value);
    if (strstr(hone_str_text(s->out), item)) return true;
    hone_str_printf(s->out, "%s%s", s->count++ ? ", " : " (", item);
    return true;
}

void verify_show_point(verifier *v, const hone_expr *e, hone_str *out) {
    shown s = {.v = v, .out = out};
    hone_expr_walk(e, show_var, &s);
    if (s.count > 0) hone_str_append(out, ")");
}

/* An index that leaves a buffer of symbolic size whatever that size is. */
static void verify_symbolic_bounds(verifier *v, const hone_buffer_info *info, uint32_t d,
                                   const hone_expr *index, const char *verb) {
    hone_str where = {0}, sizes = {0};
    int64_t value, extent;
    const hone_expr *zero = hone_expr_int(&v->arith.ir, info->shape[d]->dtype, 0);
    bool is_shown =
        index->dtype.lanes > 1 || !zero || hone_prove_index(&v->arith, index, info->shape[d]);
    if (!is_shown && verify_leaves_for_all_sizes(v, index, zero, info->shape[d], &value, &extent,
                                                 &where, &sizes)) {
        verify_error(v, v->node,
                     "'%s' is %s in '%s' at index %lld%s of dimension %u, whose extent is %lld%s",
                     info->name, verb, verify_block_name(v), (long long)value,
                     hone_str_text(&where), (unsigned)d, (long long)extent, hone_str_text(&sizes));
    } else if (!is_shown && verify_leaves_for_other_sizes(v, index, zero, info->shape[d], &value,
                                                          &extent, &where, &sizes)) {
        verify_warning(v, v->node,
                       "'%s' is %s in '%s' at index %lld%s of dimension %u, whose extent is "
                       "%lld%s; let sizes that agree have one name",
                       info->name, verb, verify_block_name(v), (long long)value,
                       hone_str_text(&where), (unsigned)d, (long long)extent,
                       hone_str_text(&sizes));
    }
    hone_str_deinit(&where);
    hone_str_deinit(&sizes);
}

/* An index that leaves the buffer in some iteration. Where the conditions on the way cannot be
 * evaluated, nothing is said. */
static void verify_bounds(verifier *v, const hone_buffer_info *info, uint32_t d,
                          const hone_expr *index, const char *verb) {
    if (v->in_region) return;
    if (info->shape[d]->kind != HONE_EXPR_INT) {
        verify_symbolic_bounds(v, info, d, index, verb);
        return;
    }
    /* the lanes of a vector may run over several rows */
    if (index->dtype.lanes > 1 && info->rank > 1) return;
    int64_t extent = info->shape[d]->u.i, value;
    hone_bound bound = hone_arith_bound(&v->arith, index);
    if (index->dtype.lanes <= 1 && bound.min >= 0 && bound.max < extent) return;
    hone_outside answer = hone_find_outside(&v->points, v->node, index, 0, extent, &value);
    if (answer == HONE_OUTSIDE_FOUND) {
        hone_str where = {0};
        verify_show_point(v, index, &where);
        verify_error(v, v->node,
                     "'%s' is %s in '%s' at index %lld%s of dimension %u, whose extent is %lld",
                     info->name, verb, verify_block_name(v), (long long)value,
                     hone_str_text(&where), (unsigned)d, (long long)extent);
        hone_str_deinit(&where);
    } else if (answer == HONE_OUTSIDE_UNGUARDED) {
        verify_warning(v, v->node,
                       "'%s' is %s in '%s' at index %lld of dimension %u, whose extent is "
                       "%lld, where the condition beside it does not hold; T.if_then_else "
                       "evaluates one side only",
                       info->name, verb, verify_block_name(v), (long long)value, (unsigned)d,
                       (long long)extent);
    } else if (extent && bound.min <= bound.max && (bound.min >= extent || bound.max < 0)) {
        /* whether it is reached only the program knows; an extent of 0 says that none is known */
        verify_warning(
            v, v->node, "'%s' is %s in '%s' at index %lld of dimension %u, whose extent is %lld",
            info->name, verb, verify_block_name(v),
            (long long)(bound.max < 0 ? bound.max : bound.min), (unsigned)d, (long long)extent);
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
    bool is_asked_for = v->is_asked_for, is_placed = true;
    v->is_asked_for = false; /* numbers in the index are read */
    for (uint32_t d = 0; d < rank; d++) {
        verify_expr(v, indices[d]);
        if (!hone_dtype_is_integer(indices[d]->dtype)) {
            verify_error(v, v->node, "index %u of '%s' is %s, must be an integer", (unsigned)d,
                         info->name, HONE_DTYPE_NAME(indices[d]->dtype));
        } else if (d < info->rank && !is_asked_for) {
            verify_bounds(v, info, d, indices[d], verb);
            if (!v->in_region && strcmp(verb, "read") == 0) verify_filled(v, buffer, d, indices[d]);
        } else {
            is_placed = false;
        }
    }
    if (is_placed && rank == info->rank) verify_view_access(v, info, indices, verb);
}

/* Bit operations are of integers. */
static void verify_bits(verifier *v, const hone_expr *e) {
    bool is_of_bits = e->kind == HONE_EXPR_CALL &&
                      (e->op == HONE_INTRIN_POPCOUNT || e->op == HONE_INTRIN_CLZ ||
                       e->op == HONE_INTRIN_SHIFT_LEFT || e->op == HONE_INTRIN_SHIFT_RIGHT ||
                       e->op == HONE_INTRIN_BITWISE_AND || e->op == HONE_INTRIN_BITWISE_OR ||
                       e->op == HONE_INTRIN_BITWISE_XOR || e->op == HONE_INTRIN_BITWISE_NOT);
    for (uint32_t i = 0; is_of_bits && i < e->count; i++) {
        if (!hone_dtype_is_float(e->args[i]->dtype)) continue;
        verify_error(v, v->node, "T.%s of %s in '%s', must be of integers",
                     hone_intrin_spelling((hone_intrin)e->op), HONE_DTYPE_NAME(e->args[i]->dtype),
                     verify_block_name(v));
        return;
    }
}

/* Numbers for a function of libm: C would take what lies about for those that are missing. With a
 * pointer it is another function, of the user's own. */
static void verify_libm(verifier *v, const hone_expr *e) {
    const hone_libm *libm = hone_libm_named(e->args[0]->u.s);
    uint32_t given = e->count - 1u;
    if (!libm || given == libm->count) return;
    for (uint32_t i = 1; i < e->count; i++) {
        if (hone_dtype_is_handle(e->args[i]->dtype)) return;
    }
    verify_error(v, v->node, "'%s' of the C library takes %u number%s in '%s', %u %s given",
                 libm->name, libm->count, libm->count == 1 ? "" : "s", verify_block_name(v), given,
                 given == 1 ? "is" : "are");
}

/* A call of an external function begins with its name. */
static void verify_callee(verifier *v, const hone_expr *e) {
    bool is_extern = hone_expr_is_call(e, HONE_INTRIN_CALL_EXTERN) ||
                     hone_expr_is_call(e, HONE_INTRIN_CALL_PURE_EXTERN) ||
                     hone_expr_is_call(e, HONE_INTRIN_CALL_PACKED);
    if (!is_extern) return;
    if (e->count > 0 && e->args[0]->kind == HONE_EXPR_STRING) {
        if (e->op != HONE_INTRIN_CALL_PACKED) verify_libm(v, e);
        return;
    }
    verify_error(v, v->node,
                 "T.%s in '%s' needs the name of a function, a string, before its "
                 "arguments",
                 hone_intrin_spelling((hone_intrin)e->op), verify_block_name(v));
}

static const hone_buffer_info *buffer_of_data(const verifier *v, hone_var var) {
    for (hone_buffer b = 0; b < v->func->buffer_count; b++) {
        if (v->func->buffers[b].data == var) return hone_func_buffer(v->func, b);
    }
    return NULL;
}

/* tvm_access_ptr(type, data, offset, extent, mask): it begins in the buffer. Where it ends is often
 * rounded up to whole rows. Offset and extent count vectors where the type is one. */
static void verify_access_ptr(verifier *v, const hone_expr *e) {
    if (e->count != 5 || e->args[1]->kind != HONE_EXPR_VAR) return;
    const hone_buffer_info *info = buffer_of_data(v, e->args[1]->u.var);
    if (!info) return;
    int64_t lanes = e->args[0]->dtype.lanes > 1 ? e->args[0]->dtype.lanes : 1, offset;
    int64_t have = info->strides ? INT64_MAX : hone_buffer_elements(info);
    int64_t extent = hone_expr_const(e->args[3]);
    const hone_expr *begin = e->args[2];
    if (have < 0 || !hone_dtype_is_integer(begin->dtype)) return;
    if (info->elem_offset && (lanes > 1 || !hone_dtype_is_integer(info->elem_offset->dtype)))
        return;
    if (info->elem_offset) {
        const hone_expr *offset_of = hone_expr_cast(&v->arith.ir, begin->dtype, info->elem_offset);
        begin = hone_simplify(&v->arith, hone_expr_sub(&v->arith.ir, begin, offset_of));
        if (!begin) return;
    }
    if (hone_find_outside(&v->points, v->node, begin, 0, have / lanes, &offset) ==
        HONE_OUTSIDE_FOUND) {
        hone_str size = {0};
        if (!info->strides) hone_str_printf(&size, ", which has %lld elements", (long long)have);
        verify_error(v, v->node, "access_ptr in '%s' begins at element %lld of '%s'%s",
                     verify_block_name(v), (long long)(offset * lanes), info->name,
                     hone_str_text(&size));
        hone_str_deinit(&size);
        return;
    }
    if (extent <= 0) return;
    int64_t last = have / lanes - extent;
    if (hone_find_outside(&v->points, v->node, begin, 0, last < 0 ? 0 : last + 1, &offset) ==
        HONE_OUTSIDE_FOUND) {
        verify_warning(v, v->node,
                       "access_ptr in '%s' shows %lld elements from element %lld of '%s' on, which "
                       "has %lld elements",
                       verify_block_name(v), (long long)(extent * lanes),
                       (long long)(offset * lanes), info->name, (long long)have);
    }
}

/* A float that is divided by 0 is infinite, or no number. */
static void verify_float_divisor(verifier *v, const hone_expr *e) {
    if (!hone_expr_is_op(e, HONE_OP_DIV) || e->args[1]->kind != HONE_EXPR_FLOAT) return;
    if (e->args[1]->u.f != 0 || e->args[0]->kind == HONE_EXPR_FLOAT) return;
    verify_warning(v, v->node, "a float is divided by 0 in '%s', which gives no finite number",
                   verify_block_name(v));
}

/* Functions of floats have no meaning over integers. */
static void verify_math(verifier *v, const hone_expr *e) {
    if (e->kind != HONE_EXPR_CALL || !hone_intrin_is_math((hone_intrin)e->op)) return;
    if (e->op == HONE_INTRIN_POW || e->op == HONE_INTRIN_FMA || e->op == HONE_INTRIN_FABS) return;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!hone_dtype_is_integer(e->args[i]->dtype)) continue;
        verify_warning(v, v->node, "T.%s takes floats, and is given %s in '%s'; T.Cast converts",
                       hone_intrin_spelling((hone_intrin)e->op), HONE_DTYPE_NAME(e->args[i]->dtype),
                       verify_block_name(v));
        return;
    }
}

/* A divisor that is never negative and 0 in some iteration. */
static void verify_divisor(verifier *v, const hone_expr *divisor) {
    int64_t value;
    if (divisor->kind == HONE_EXPR_INT || divisor->dtype.lanes > 1) return;
    hone_bound bound = hone_arith_bound(&v->arith, divisor);
    if (bound.min != 0 || !hone_expr_is_pure_index(divisor)) return;
    if (hone_find_outside(&v->points, v->node, divisor, 1, INT64_MAX, &value) != HONE_OUTSIDE_FOUND)
        return;
    hone_str where = {0};
    verify_show_point(v, divisor, &where);
    verify_error(v, v->node, "division by zero in '%s'%s", verify_block_name(v),
                 hone_str_text(&where));
    hone_str_deinit(&where);
}

/* A divisor that is 0, unless conditions around keep all iterations away from it. */
static void verify_zero_divisor(verifier *v, const hone_expr *zero) {
    int64_t value;
    if (hone_find_outside(&v->points, v->node, zero, 1, INT64_MAX, &value) == HONE_OUTSIDE_NEVER)
        return;
    verify_error(v, v->node, "division by zero in '%s'", verify_block_name(v));
}

static void verify_args(verifier *v, const hone_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        verify_expr(v, e->args[i]);
}

/* prefetch(address_of(B[i]), ...) reads nothing: i may lie outside. */
static void verify_prefetch(verifier *v, const hone_expr *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        v->is_asked_for = hone_expr_is_call(e->args[i], HONE_INTRIN_ADDRESS_OF);
        verify_expr(v, e->args[i]);
        v->is_asked_for = false;
    }
}

/* An operand that matters only where the condition is so. */
static void verify_operand(verifier *v, const hone_expr *e, const hone_expr *condition,
                           bool is_negated, bool is_soft) {
    uint32_t guards = v->points.guard_count;
    verify_know(v, condition, is_negated, is_soft);
    verify_expr(v, e);
    v->points.guard_count = guards;
}

static void verify_conditional(verifier *v, const hone_expr *e, bool is_soft) {
    verify_expr(v, e->args[0]);
    uint32_t mark = hone_arith_push(&v->arith, is_soft ? NULL : e->args[0]);
    verify_operand(v, e->args[1], e->args[0], false, is_soft);
    hone_arith_pop(&v->arith, mark);
    verify_operand(v, e->args[2], e->args[0], true, is_soft);
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
        verify_conditional(v, e, false);
    } else if (hone_expr_is_call(e, HONE_INTRIN_PREFETCH)) {
        verify_prefetch(v, e);
    } else if (e->kind == HONE_EXPR_SELECT) {
        verify_conditional(v, e, true);
    } else if (hone_expr_is_op(e, HONE_OP_AND) || hone_expr_is_op(e, HONE_OP_OR)) {
        verify_expr(v, e->args[0]);
        verify_operand(v, e->args[1], e->args[0], e->op == HONE_OP_OR, true);
    } else if (e->kind == HONE_EXPR_LET && e->u.var < v->func->var_count) {
        verify_expr(v, e->args[0]);
        bool was_defined = v->is_defined[e->u.var];
        v->is_defined[e->u.var] = true;
        v->points.vars[e->u.var].source = e->args[0];
        verify_expr(v, e->args[1]);
        v->is_defined[e->u.var] = was_defined;
    } else {
        if (hone_expr_divides_ints(e) && hone_expr_is_int_value(e->args[1], 0)) {
            verify_zero_divisor(v, e->args[1]);
        } else if (hone_expr_divides_ints(e)) {
            verify_divisor(v, e->args[1]);
        }
        verify_bits(v, e);
        verify_callee(v, e);
        if (hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR)) verify_access_ptr(v, e);
        verify_float_divisor(v, e);
        verify_math(v, e);
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
