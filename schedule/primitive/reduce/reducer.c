/* schedule/primitive/reduce/reducer.c - finds out how a block reduces, and makes blocks that reduce
 * so. Matching goes by making: of each form, the values that it would store are built from the
 * parts that stand in the block and compared with what the block stores. */
#include "schedule/primitive/reduce/reducer.h"

/* First the plain operations, for one buffer; then those of two. */
enum {
    FORM_SUM,
    FORM_PRODUCT,
    FORM_MIN,
    FORM_MAX,
    FORM_MINIMUM, /* hone_expr_extreme */
    FORM_MAXIMUM,
    FORM_ONE_BUFFER_COUNT,
    FORM_TWO_SUMS = FORM_ONE_BUFFER_COUNT,
    FORM_FIRST_ARG, /* the rows of args below */
};

/* (place, value): which pair stays. The left one where its value is `keeps` the right one's; with a
 * tie, where the values are equal and its place is `tie` the right one's. */
static const struct arg {
    hone_op keeps, tie;
    bool has_tie, is_max;
} args[] = {
    {HONE_OP_GE, HONE_OP_EQ, false, true },
    {HONE_OP_GT, HONE_OP_LT, true,  true },
    {HONE_OP_GT, HONE_OP_GT, true,  true },
    {HONE_OP_LE, HONE_OP_EQ, false, false},
    {HONE_OP_LT, HONE_OP_LT, true,  false},
    {HONE_OP_LT, HONE_OP_GT, true,  false},
};
enum { ARG_COUNT = sizeof args / sizeof args[0], FORM_COUNT = FORM_FIRST_ARG + ARG_COUNT };

static const hone_op plain_ops[] = {HONE_OP_ADD, HONE_OP_MUL, HONE_OP_MIN,
                                    HONE_OP_MAX, HONE_OP_MIN, HONE_OP_MAX};

static bool is_extreme(uint32_t form) {
    return form == FORM_MINIMUM || form == FORM_MAXIMUM;
}

/* ---- making ---- */

static void combine_arg(hone_ir *ir, const struct arg *arg, const hone_expr *const *lhs,
                        const hone_expr *const *rhs, const hone_expr **out) {
    const hone_expr *stays = hone_expr_binary(ir, arg->keeps, lhs[1], rhs[1]);
    const hone_expr *place_stays = stays;
    if (arg->has_tie) {
        const hone_expr *equal = hone_expr_binary(ir, HONE_OP_EQ, lhs[1], rhs[1]);
        const hone_expr *tie = hone_expr_binary(ir, arg->tie, lhs[0], rhs[0]);
        place_stays =
            hone_expr_binary(ir, HONE_OP_OR, stays, hone_expr_binary(ir, HONE_OP_AND, equal, tie));
    }
    out[0] = hone_expr_select(ir, place_stays, lhs[0], rhs[0]);
    out[1] = hone_expr_select(ir, stays, lhs[1], rhs[1]);
}

static void combine(hone_ir *ir, uint32_t form, const hone_expr *const *lhs,
                    const hone_expr *const *rhs, const hone_expr **out) {
    if (form >= FORM_FIRST_ARG) {
        combine_arg(ir, &args[form - FORM_FIRST_ARG], lhs, rhs, out);
    } else if (form == FORM_TWO_SUMS) {
        for (int i = 0; i < 2; i++)
            out[i] = hone_expr_binary(ir, HONE_OP_ADD, lhs[i], rhs[i]);
    } else if (is_extreme(form)) {
        out[0] = hone_expr_extreme(ir, plain_ops[form], lhs[0], rhs[0]);
    } else {
        out[0] = hone_expr_binary(ir, plain_ops[form], lhs[0], rhs[0]);
    }
}

static hone_status append_store(hone_schedule *sch, hone_node_id parent, hone_buffer buffer,
                                uint32_t rank, const hone_expr *const *indices,
                                const hone_expr *value) {
    hone_node_id store = hone_func_add_store(sch->func, buffer, rank, indices, value);
    if (store == HONE_NO_ID) return sch_no_memory();
    hone_tree_append(sch->func, parent, store);
    return sch_ir_error(sch);
}

/* let v = value: what follows stands in it. */
static hone_status open_let(hone_schedule *sch, hone_buffer buffer, const hone_expr **io_value,
                            hone_node_id *io_parent) {
    const char *name = sch_name(sch, "v_", sch_buffer_name(sch, buffer), -1);
    hone_node_id let = hone_func_add_node(sch->func, HONE_NODE_LET);
    if (!name || let == HONE_NO_ID || !*io_value) return sch_no_memory();
    hone_var var = hone_func_add_named_var(sch->func, name, (*io_value)->dtype);
    if (var == HONE_NO_ID) return sch_no_memory();
    sch_node(sch, let)->u.let.var = var;
    sch_node(sch, let)->u.let.value = *io_value;
    hone_tree_append(sch->func, *io_parent, let);
    *io_parent = let;
    *io_value = sch_var(sch, var);
    return sch_ir_error(sch);
}

hone_status sch_reducer_fill(hone_schedule *sch, const sch_reducer *reducer, hone_node_id block,
                             const hone_buffer *buffers, uint32_t rank,
                             const hone_expr *const *indices, const hone_expr *const *rhs,
                             bool has_init) {
    const hone_expr *lhs[SCH_REDUCER_BUFFERS], *values[SCH_REDUCER_BUFFERS];
    hone_node_id init = has_init ? hone_func_add_node(sch->func, HONE_NODE_INIT) : HONE_NO_ID;
    hone_node_id parent = block;
    if (has_init) {
        if (init == HONE_NO_ID) return sch_no_memory();
        hone_tree_append(sch->func, block, init);
    }
    for (uint32_t i = 0; i < reducer->count; i++) {
        lhs[i] = hone_func_load(&sch->ir, sch->func, buffers[i], indices);
        values[i] = rhs[i];
        if (!has_init) continue;
        HONE_TRY(append_store(sch, init, buffers[i], rank, indices, reducer->identities[i]));
    }
    if (has_init) combine(&sch->ir, reducer->form, lhs, rhs, values);
    HONE_TRY(sch_ir_error(sch));
    for (uint32_t i = 0; i < reducer->count && has_init && reducer->count > 1; i++) {
        HONE_TRY(open_let(sch, buffers[i], &values[i], &parent));
    }
    for (uint32_t i = 0; i < reducer->count; i++) {
        HONE_TRY(append_store(sch, parent, buffers[i], rank, indices, values[i]));
    }
    return HONE_OK;
}

/* ---- matching ---- */

static bool is_float_value(const hone_expr *e, double value) {
    return e->kind == HONE_EXPR_FLOAT && e->u.f == value;
}

static bool is_zero(const hone_expr *e) {
    return hone_expr_is_int_value(e, 0) || is_float_value(e, 0.0);
}

/* The smallest (or largest) value of its type, or an infinity. */
static bool is_limit(const hone_expr *e, bool smallest) {
    double sign = smallest ? -1 : 1;
    if (hone_dtype_is_float(e->dtype)) {
        return is_float_value(e, sign * hone_dtype_max_float(e->dtype)) ||
               is_float_value(e, sign * __builtin_inf());
    }
    return hone_expr_is_int_value(e, smallest ? hone_dtype_min_int(e->dtype)
                                              : hone_dtype_max_int(e->dtype));
}

static bool has_identities(uint32_t form, const hone_expr *const *e) {
    switch (form) {
    case FORM_SUM:
        return is_zero(e[0]);
    case FORM_PRODUCT:
        return hone_expr_is_int_value(e[0], 1) || is_float_value(e[0], 1.0);
    case FORM_MIN:
    case FORM_MAX:
    case FORM_MINIMUM:
    case FORM_MAXIMUM:
        return is_limit(e[0], plain_ops[form] == HONE_OP_MAX);
    case FORM_TWO_SUMS:
        return is_zero(e[0]) && is_zero(e[1]);
    default:
        return hone_expr_is_int_value(e[0], -1) &&
               is_limit(e[1], args[form - FORM_FIRST_ARG].is_max);
    }
}

/* What must have come in with the step, were the stored values of this form. */
static bool find_rhs(uint32_t form, const hone_expr *const *lhs, const hone_expr *const *values,
                     uint32_t count, const hone_expr **out) {
    for (uint32_t i = 0; i < count; i++) {
        const hone_expr *v = values[i];
        if (form >= FORM_FIRST_ARG) {
            if (v->kind != HONE_EXPR_SELECT) return false;
            out[i] = v->args[2];
            continue;
        }
        if (is_extreme(form)) v = hone_expr_as_extreme(v);
        if (!v || v->kind != HONE_EXPR_BINARY) return false;
        bool is_left = hone_expr_same(v->args[0], lhs[i]);
        if (!is_left && !hone_expr_same(v->args[1], lhs[i])) return false;
        out[i] = v->args[is_left ? 1 : 0];
    }
    return true;
}

static bool same_sum(const hone_expr *a, const hone_expr *b) {
    if (hone_expr_same(a, b)) return true;
    return a->kind == HONE_EXPR_BINARY && b->kind == HONE_EXPR_BINARY && a->op == b->op &&
           hone_op_commutes((hone_op)a->op) && hone_expr_same(a->args[0], b->args[1]) &&
           hone_expr_same(a->args[1], b->args[0]);
}

static bool matches(hone_schedule *sch, sch_reducer *r, const hone_expr *const *lhs,
                    const hone_expr *const *values) {
    const hone_expr *made[SCH_REDUCER_BUFFERS];
    for (uint32_t i = 0; i < r->count && r->form >= FORM_TWO_SUMS; i++) {
        if (!hone_dtype_equal(r->rhs[i]->dtype, lhs[i]->dtype)) return false;
    }
    if (!hone_dtype_equal(r->rhs[0]->dtype, lhs[0]->dtype)) return false;
    combine(&sch->ir, r->form, lhs, r->rhs, made);
    for (uint32_t i = 0; i < r->count; i++) {
        if (!made[i] || !same_sum(made[i], values[i])) return false;
    }
    return has_identities(r->form, r->identities);
}

static bool reads_results(const sch_reducer *r) {
    for (uint32_t i = 0; i < r->count * r->count; i++) {
        if (hone_expr_loads(r->rhs[i / r->count], r->buffers[i % r->count])) return true;
    }
    return false;
}

static bool same_indices(const hone_node *a, const hone_node *b) {
    if (a->u.store.rank != b->u.store.rank) return false;
    for (uint32_t d = 0; d < a->u.store.rank; d++) {
        if (!hone_expr_same(a->u.store.indices[d], b->u.store.indices[d])) return false;
    }
    return true;
}

/* The stores of the body by buffer, with the values that their lets name. */
static bool read_body(const hone_schedule *sch, hone_node_id block, sch_reducer *r,
                      const hone_expr **values) {
    hone_node_id at = hone_block_body_of(sch->func, block);
    hone_var names[SCH_REDUCER_BUFFERS];
    const hone_expr *named[SCH_REDUCER_BUFFERS];
    uint32_t count = 0;
    while (at != HONE_NO_ID && sch_node(sch, at)->kind == HONE_NODE_LET) {
        if (count == SCH_REDUCER_BUFFERS || sch_node(sch, at)->next != HONE_NO_ID) return false;
        names[count] = sch_node(sch, at)->u.let.var;
        named[count++] = sch_node(sch, at)->u.let.value;
        at = sch_node(sch, at)->first;
    }
    r->count = 0;
    hone_node_id first = at;
    for (; at != HONE_NO_ID; at = sch_node(sch, at)->next) {
        const hone_node *node = sch_node(sch, at);
        if (node->kind != HONE_NODE_STORE || r->count == SCH_REDUCER_BUFFERS) return false;
        if (!same_indices(node, sch_node(sch, first))) return false;
        const hone_expr *value = node->u.store.value;
        for (uint32_t i = 0; i < count && value->kind == HONE_EXPR_VAR; i++) {
            if (value->u.var == names[i]) value = named[i];
        }
        values[r->count] = value;
        r->buffers[r->count++] = node->u.store.buffer;
        r->rank = node->u.store.rank;
        r->indices = node->u.store.indices;
    }
    return r->count > 0 && (r->count > 1 ? count == r->count : count == 0);
}

/* Which of the buffers has a store, at the indices of the body; count if none has. */
static uint32_t stored_buffer(const sch_reducer *r, const hone_node *store) {
    for (uint32_t d = 0; d < store->u.store.rank; d++) {
        if (store->u.store.rank != r->rank) return r->count;
        if (!hone_expr_same(store->u.store.indices[d], r->indices[d])) return r->count;
    }
    uint32_t i = 0;
    while (i < r->count && store->u.store.buffer != r->buffers[i])
        i++;
    return i;
}

/* One store for each buffer, in any order, and no other. */
static bool read_init(const hone_schedule *sch, hone_node_id block, sch_reducer *r) {
    uint32_t found = 0;
    hone_node_id init = hone_block_init_of(sch->func, block);
    if (init == HONE_NO_ID) return false;
    for (hone_node_id at = sch_node(sch, init)->first; at != HONE_NO_ID;
         at = sch_node(sch, at)->next) {
        const hone_node *node = sch_node(sch, at);
        if (node->kind != HONE_NODE_STORE) return false;
        uint32_t i = stored_buffer(r, node);
        if (i == r->count || (found & 1u << i) != 0) return false;
        r->identities[i] = node->u.store.value;
        found |= 1u << i;
    }
    return found == (1u << r->count) - 1;
}

/* The one that is stored second may be the place of the other: tries both orders. */
static bool find_form(hone_schedule *sch, sch_reducer *r, const hone_expr *const *values) {
    const hone_expr *lhs[SCH_REDUCER_BUFFERS];
    for (uint32_t i = 0; i < r->count; i++) {
        lhs[i] = hone_func_load(&sch->ir, sch->func, r->buffers[i], r->indices);
        if (!lhs[i]) return false;
    }
    uint32_t first = r->count == 1 ? 0 : FORM_TWO_SUMS;
    uint32_t end = r->count == 1 ? FORM_ONE_BUFFER_COUNT : FORM_COUNT;
    for (r->form = first; r->form < end; r->form++) {
        if (!find_rhs(r->form, lhs, values, r->count, r->rhs)) continue;
        if (matches(sch, r, lhs, values)) return !reads_results(r);
    }
    return false;
}

static void swap_buffers(sch_reducer *r, const hone_expr **values) {
    const hone_expr *value = values[0], *identity = r->identities[0];
    hone_buffer buffer = r->buffers[0];
    values[0] = values[1];
    values[1] = value;
    r->identities[0] = r->identities[1];
    r->identities[1] = identity;
    r->buffers[0] = r->buffers[1];
    r->buffers[1] = buffer;
}

hone_status sch_reducer_match(hone_schedule *sch, hone_node_id block, sch_reducer *out) {
    const hone_expr *values[SCH_REDUCER_BUFFERS];
    *out = (sch_reducer){0};
    if (!read_body(sch, block, out, values) || !read_init(sch, block, out)) {
        return sch_refuse(sch, block,
                          "init and body of %s must be one store each, or two with their values "
                          "named first, at the same indices",
                          sch_block_name(sch, block));
    }
    bool is_known = find_form(sch, out, values);
    if (!is_known && out->count == 2) {
        swap_buffers(out, values);
        is_known = find_form(sch, out, values);
    }
    HONE_TRY(sch_ir_error(sch));
    if (is_known) return HONE_OK;
    return sch_refuse(sch, block,
                      "%s matches none of sum, product, min, max, two sums, and place and value of "
                      "a min or max, with its identity as init",
                      sch_block_name(sch, block));
}

hone_status sch_match_one_reduction(hone_schedule *sch, hone_node_id block,
                                    sch_one_reduction *out) {
    sch_reducer r;
    HONE_TRY(sch_reducer_match(sch, block, &r));
    if (r.count != 1) {
        return sch_refuse(sch, block, "init and body of %s must be one store each",
                          sch_block_name(sch, block));
    }
    if (is_extreme(r.form)) {
        return sch_refuse(sch, block, "%s is more than one operation: NaN stays in it",
                          sch_block_name(sch, block));
    }
    *out = (sch_one_reduction){.init_store =
                                   sch_node(sch, hone_block_init_of(sch->func, block))->first,
                               .store = sch_single_store(sch, block),
                               .op = plain_ops[r.form],
                               .identity = r.identities[0],
                               .rhs = r.rhs[0],
                               .buffer = r.buffers[0]};
    return HONE_OK;
}
