/* lower/memory/lower_check.c - the pass that checks indices which nothing shows to be in range.
 * needs: no blocks; buffers in their shapes. keeps: what is computed. Indices are checked,
 * dimension by dimension, where the ranges of loops and the conditions around do not show that they
 * lie in the buffer: T.checked_index(index, extent) gives the index, or fails; on a GPU, whose
 * kernels tell nobody, it is the nearest one that there is.
 *
 * That an index of loops and sizes is in range was decided before anything runs, unless data decide
 * whether it is reached (a condition on what is loaded, a loop that ends by it), or it was too much
 * for the verifier. On a CPU each of them is looked at again, for its proof costs nothing in the
 * kernel; on a GPU, where proofs fail more often and an instruction more is felt, those that
 * data decide about. */
#include "lower/ground/passes.h"

#include "ir/arith/arith.h"
#include "ir/region/size_needs.h"
#include "lower/memory/checked_index.h"

typedef struct checking {
    hone_lower *lower;
    hone_arith arith;
    bool tells;      /* kernels can say that an index is out of range */
    bool is_by_data; /* data decide whether the statement at hand is run */
} checking;

static const hone_expr *check_expr(checking *c, const hone_expr *e);
static hone_status check_children(checking *c, hone_node_id parent);

/* ---- indices ---- */

static const hone_expr *extent_as(hone_ir *ir, const hone_expr *extent, hone_dtype dtype) {
    const hone_expr *cast = hone_expr_cast(ir, hone_dtype_element(dtype), extent);
    return cast && dtype.lanes > 1 ? hone_expr_broadcast(ir, cast, dtype.lanes) : cast;
}

/* As a signed number of 32 bits or more. */
static const hone_expr *signed_index(hone_ir *ir, const hone_expr *index) {
    if (!index || (hone_dtype_is_int(index->dtype) && index->dtype.bits >= 32)) return index;
    return hone_expr_cast(ir, hone_dtype_with_lanes(HONE_DTYPE_I64, index->dtype.lanes), index);
}

/* The nearest index that there is. */
static const hone_expr *clamped(hone_ir *ir, const hone_expr *index, const hone_expr *end) {
    const hone_expr *zero = hone_expr_int(ir, index->dtype, 0);
    const hone_expr *last = hone_expr_sub(ir, end, hone_expr_int(ir, index->dtype, 1));
    return hone_expr_binary(ir, HONE_OP_MAX, hone_expr_binary(ir, HONE_OP_MIN, index, last), zero);
}

const hone_expr *lower_checked_index(hone_ir *ir, const hone_target *target, const hone_expr *index,
                                     const hone_expr *extent) {
    index = signed_index(ir, index);
    const hone_expr *end = index && extent ? extent_as(ir, extent, index->dtype) : NULL;
    const hone_expr *args[] = {index, end};
    if (!end) return NULL;
    return hone_target_can(target, HONE_TARGET_REPORTS_FAULTS)
               ? hone_expr_call(ir, index->dtype, HONE_INTRIN_CHECKED_INDEX, 2, args)
               : clamped(ir, index, end);
}

/* Its lanes lie in [0, end) if the first and the last one do. */
static bool is_ramp_within(checking *c, const hone_expr *ramp, const hone_expr *extent) {
    hone_ir *ir = &c->lower->ir;
    const hone_expr *base = ramp->args[0],
                    *last = hone_expr_int(ir, base->dtype, ramp->dtype.lanes - 1);
    last = hone_expr_add(ir, base, hone_expr_mul(ir, ramp->args[1], last));
    extent = hone_expr_cast(ir, base->dtype, extent);
    return last && extent && hone_prove_index(&c->arith, base, extent) &&
           hone_prove_index(&c->arith, last, extent);
}

/* An index of loops and sizes that is known to be in range, or that the verifier judged. */
static bool is_known(checking *c, const hone_expr *index, const hone_expr *extent, bool is_row) {
    if (!hone_arith_is_of_indices(&c->arith, index)) return false;
    if (!c->tells && !c->is_by_data) return true;
    if (index->dtype.lanes == 1)
        return hone_prove_index(&c->arith, index, extent_as(&c->lower->ir, extent, index->dtype));
    return !is_row || /* the lanes of a vector may run over several rows */
           (index->kind == HONE_EXPR_RAMP && is_ramp_within(c, index, extent));
}

static const hone_expr *checked(checking *c, const hone_expr *index, const hone_expr *extent,
                                bool is_row) {
    hone_ir *ir = &c->lower->ir;
    if (is_known(c, index, extent, is_row)) return index;
    index = signed_index(ir, index);
    const hone_expr *end = index ? extent_as(ir, extent, index->dtype) : NULL;
    if (!end) return NULL;
    if (index->dtype.lanes == 1 && hone_arith_is_within(&c->arith, index, end)) return index;
    return lower_checked_index(ir, c->lower->options->target, index, extent);
}

/* A list of the indices with checks; the old one where there are none. NULL without memory. */
static const hone_expr *const *check_indices(checking *c, hone_buffer buffer, uint32_t rank,
                                             const hone_expr *const *indices) {
    const hone_buffer_info *info = hone_func_buffer(c->lower->func, buffer);
    const hone_expr **out =
        hone_arena_alloc(c->lower->func->arena, (rank ? rank : 1) * sizeof *out);
    bool is_changed = false;
    if (!out) {
        hone_ir_fail(&c->lower->ir, LOWER_NO_MEMORY());
        return NULL;
    }
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *index = check_expr(c, indices[d]);
        out[d] = index && rank == info->rank ? checked(c, index, info->shape[d], rank == 1) : index;
        if (!out[d]) return NULL;
        is_changed |= out[d] != indices[d];
    }
    return is_changed ? out : indices;
}

static bool has_no_elements(const checking *c, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(c->lower->func, buffer);
    bool is_empty = false;
    for (uint32_t d = 0; d < info->rank; d++)
        is_empty |= hone_expr_is_int_value(info->shape[d], 0);
    return is_empty;
}

/* What stands for an access of a buffer without elements: it fails, and touches nothing. */
static const hone_expr *no_access(checking *c, hone_dtype dtype) {
    hone_ir *ir = &c->lower->ir;
    const hone_expr *zero = hone_expr_int(ir, HONE_DTYPE_I64, 0), *args[] = {zero, zero};
    const hone_expr *e = hone_expr_call(ir, HONE_DTYPE_I64, HONE_INTRIN_CHECKED_INDEX, 2, args);
    e = e ? hone_expr_cast(ir, hone_dtype_element(dtype), e) : NULL;
    return e && dtype.lanes > 1 ? hone_expr_broadcast(ir, e, dtype.lanes) : e;
}

static const hone_expr *check_load(checking *c, const hone_expr *e) {
    const hone_expr *const *indices = check_indices(c, e->u.buffer, e->count, e->args);
    if (!indices || indices == (const hone_expr *const *)e->args) return indices ? e : NULL;
    if (has_no_elements(c, e->u.buffer)) return no_access(c, e->dtype);
    return hone_expr_load(&c->lower->ir, e->dtype, e->u.buffer, e->count, indices);
}

/* ---- expressions ---- */

static const hone_expr *check_under(checking *c, const hone_expr *condition, bool holds,
                                    const hone_expr *e) {
    const hone_expr *fact = holds ? condition : hone_expr_not(&c->lower->ir, condition);
    if (!fact) return NULL;
    bool before = c->is_by_data;
    c->is_by_data |= !hone_arith_is_of_indices(&c->arith, condition);
    uint32_t mark = hone_arith_push(&c->arith, fact);
    const hone_expr *out = check_expr(c, e);
    hone_arith_pop(&c->arith, mark);
    c->is_by_data = before;
    return out;
}

/* Which argument is a condition of the others that are only evaluated where it holds, or not. */
static const hone_expr *check_argument(checking *c, const hone_expr *e, uint16_t i) {
    bool is_choice = hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE);
    bool is_and = hone_expr_is_op(e, HONE_OP_AND), is_or = hone_expr_is_op(e, HONE_OP_OR);
    if (i == 0 || !(is_choice || is_and || is_or)) return check_expr(c, e->args[i]);
    return check_under(c, e->args[0], is_and || (is_choice && i == 1), e->args[i]);
}

static const hone_expr *check_expr(checking *c, const hone_expr *e) {
    enum { ON_STACK = 8 };
    const hone_expr *few[ON_STACK], **args = few;
    if (e->kind == HONE_EXPR_LOAD) return check_load(c, e);
    /* what is done with an address is the business of who takes it */
    if (e->count == 0 || hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF)) return e;
    if (e->count > ON_STACK)
        args = hone_arena_alloc(c->lower->func->arena, e->count * sizeof *args);
    if (!args) return hone_ir_fail(&c->lower->ir, LOWER_NO_MEMORY());
    for (uint16_t i = 0; i < e->count; i++) {
        args[i] = check_argument(c, e, i);
        if (!args[i]) return NULL;
    }
    return hone_expr_with_args(&c->lower->ir, e, args);
}

static hone_status check_in_place(checking *c, const hone_expr **io) {
    const hone_expr *e = *io ? check_expr(c, *io) : NULL;
    if (*io && !e) return hone_ir_finish(&c->lower->ir);
    *io = e;
    return HONE_OK;
}

/* ---- statements ---- */

static hone_status check_inside(checking *c, hone_node_id parent, bool is_by_data) {
    bool before = c->is_by_data;
    c->is_by_data |= is_by_data;
    hone_status st = check_children(c, parent);
    c->is_by_data = before;
    return st;
}

static hone_status check_branch(checking *c, hone_node_id parent, const hone_expr *fact,
                                bool is_by_data) {
    uint32_t mark = hone_arith_push(&c->arith, fact);
    hone_status st = check_inside(c, parent, is_by_data);
    hone_arith_pop(&c->arith, mark);
    return st;
}

static hone_status check_if(checking *c, hone_node_id id) {
    hone_func *func = c->lower->func;
    const hone_expr *condition = hone_func_node(func, id)->u.eval.value;
    bool is_fact = condition->dtype.lanes == 1 && lower_stays_true(func, id, condition);
    bool is_by_data = !hone_arith_is_of_indices(&c->arith, condition);
    HONE_TRY(check_in_place(c, &hone_func_node(func, id)->u.eval.value));
    hone_node_id last = hone_func_node(func, id)->last;
    HONE_TRY(check_branch(c, id, is_fact ? condition : NULL, is_by_data)); /* without ELSE */
    if (last == HONE_NO_ID || hone_func_node(func, last)->kind != HONE_NODE_ELSE) return HONE_OK;
    const hone_expr *negation = is_fact ? hone_expr_not(&c->lower->ir, condition) : NULL;
    return check_branch(c, last, negation, is_by_data);
}

static hone_status check_store(checking *c, hone_node_id id) {
    hone_node *node = hone_func_node(c->lower->func, id);
    HONE_TRY(check_in_place(c, &node->u.store.value));
    const hone_expr *const *indices =
        check_indices(c, node->u.store.buffer, node->u.store.rank, node->u.store.indices);
    if (!indices) return hone_ir_finish(&c->lower->ir);
    if (indices != node->u.store.indices && has_no_elements(c, node->u.store.buffer)) {
        node->kind = HONE_NODE_EVAL;
        node->u.eval.value = no_access(c, HONE_DTYPE_I64);
        return hone_ir_finish(&c->lower->ir);
    }
    node->u.store.indices = indices;
    return HONE_OK;
}

static hone_status check_for(checking *c, hone_node_id id) {
    hone_node *node = hone_func_node(c->lower->func, id);
    hone_range *range = &node->u.loop.range;
    bool is_by_data = !hone_arith_is_of_indices(&c->arith, range->min) ||
                      !hone_arith_is_of_indices(&c->arith, range->extent);
    HONE_TRY(check_in_place(c, &range->min));
    HONE_TRY(check_in_place(c, &range->extent));
    if (!hone_arith_bind(&c->arith, node->u.loop.var, *range)) return LOWER_NO_MEMORY();
    return check_inside(c, id, is_by_data);
}

static hone_status check_node(checking *c, hone_node_id id) {
    hone_func *func = c->lower->func;
    hone_node *node = hone_func_node(func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        return check_for(c, id);
    case HONE_NODE_IF:
        return check_if(c, id);
    case HONE_NODE_STORE:
        return check_store(c, id);
    case HONE_NODE_EVAL:
    case HONE_NODE_WHILE:
    case HONE_NODE_ASSERT:
        HONE_TRY(check_in_place(c, &node->u.eval.value));
        return check_inside(c, id, node->kind == HONE_NODE_WHILE);
    case HONE_NODE_LET:
        HONE_TRY(check_in_place(c, &node->u.let.value));
        return check_children(c, id);
    default:
        return check_children(c, id);
    }
}

static hone_status check_children(checking *c, hone_node_id parent) {
    const hone_func *func = c->lower->func;
    LOWER_EACH_CHILD (func, parent, n) {
        if (hone_func_node(func, n)->kind != HONE_NODE_ELSE) HONE_TRY(check_node(c, n));
    }
    return HONE_OK;
}

hone_status lower_check(hone_lower *lower) {
    checking c = {.lower = lower,
                  .tells = hone_target_can(lower->options->target, HONE_TARGET_REPORTS_FAULTS),
                  .is_by_data = hone_func_has_jumps(lower->func)};
    hone_arith_init(&c.arith, lower->func->arena);
    if (!hone_arith_bind_sizes(&c.arith, lower->func)) return LOWER_NO_MEMORY();
    HONE_TRY(check_children(&c, 0));
    return hone_ir_finish(&c.arith.ir);
}
