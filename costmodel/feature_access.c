/* costmodel/feature_access.c - what one statement computes and which memory it touches. */
#include "costmodel/feature_impl.h"

/* ---- memory ---- */

static double dim_size(const hone_buffer_info *buffer, uint32_t d) {
    int64_t size = hone_expr_const(buffer->shape[d]);
    return size > 0 ? (double)size : INFINITY;
}

/* Elements from one index to the next in dimension d of the flat buffer. */
static double dim_stride(const hone_buffer_info *buffer, uint32_t d, double dense) {
    int64_t stride = buffer->strides ? hone_expr_const(buffer->strides[d]) : -1;
    return stride >= 0 ? (double)stride : dense;
}

static void begin_access(const hone_feature_state *s, hone_buffer buffer, feature_access *a) {
    a->buffer = buffer;
    a->elem_bytes = (double)hone_dtype_bytes(hone_func_buffer(s->func, buffer)->dtype);
    a->reads = a->writes = false;
    a->uses = 0;
    a->run_bytes = a->elem_bytes;
    for (int l = 0; l < s->depth; l++)
        a->slope[l] = 0;
    for (int k = 0; k <= s->depth; k++)
        a->touched[k] = 1;
}

/* Follows one access through its dimensions, the last (fastest) first. */
static void follow_indices(hone_feature_state *s, const hone_expr *const *indices,
                           feature_access *a) {
    const hone_buffer_info *buffer = hone_func_buffer(s->func, a->buffer);
    double dense = 1, run = 1;
    bool is_run = true;
    for (uint32_t d = buffer->rank; d-- > 0;) {
        index_value v;
        feature_eval(s, indices[d], 0, &v);
        double size = dim_size(buffer, d), stride = dim_stride(buffer, d, dense);
        for (int l = 0; l < s->depth; l++) {
            a->slope[l] += v.slope[l] * stride;
            if (v.slope[l] != 0) a->uses |= UINT32_C(1) << l;
        }
        for (int k = 0; k <= s->depth; k++)
            a->touched[k] *= fmin(v.span[k] + 1, size);
        if (is_run) run *= fmin(v.span[0] + 1, size);
        is_run = is_run && v.span[0] + 1 >= size;
        dense *= isfinite(size) ? size : 1;
    }
    a->run_bytes = run * a->elem_bytes;
}

/* Two accesses to one buffer: the union is about the larger of both. */
static void merge_access(const hone_feature_state *s, feature_access *into,
                         const feature_access *from) {
    into->reads |= from->reads;
    into->writes |= from->writes;
    into->uses |= from->uses;
    into->run_bytes = fmax(into->run_bytes, from->run_bytes);
    for (int l = 0; l < s->depth; l++) {
        if (into->slope[l] == 0) into->slope[l] = from->slope[l];
    }
    for (int k = 0; k <= s->depth; k++) {
        into->touched[k] = fmax(into->touched[k], from->touched[k]);
    }
}

static void add_access(hone_feature_state *s, hone_buffer buffer, const hone_expr *const *indices,
                       bool writes) {
    feature_statement *st = &s->statement;
    feature_access access;
    if (buffer >= s->func->buffer_count) return;
    begin_access(s, buffer, &access);
    access.reads = !writes;
    access.writes = writes;
    follow_indices(s, indices, &access);
    for (int i = 0; i < st->access_count; i++) {
        if (st->accesses[i].buffer != buffer) continue;
        merge_access(s, &st->accesses[i], &access);
        return;
    }
    if (st->access_count < MAX_ACCESSES) st->accesses[st->access_count++] = access;
}

/* ---- operations ---- */

static void count_op(hone_feature_state *s, hone_dtype dtype, arith_kind if_float,
                     arith_kind if_int) {
    arith_kind kind = hone_dtype_is_float(dtype) ? if_float : if_int;
    s->statement.ops[kind] += dtype.lanes > 1 ? dtype.lanes : 1;
}

static void scan(hone_feature_state *s, const hone_expr *e, int depth);

/* Index arithmetic is not counted: blocks hide it, and compilers hoist it. Loads in it are. */
static void scan_index(hone_feature_state *s, const hone_expr *e, int depth) {
    if (depth >= MAX_EXPR_DEPTH || s->expr_budget-- <= 0) return;
    if (e->kind == HONE_EXPR_LOAD) add_access(s, e->u.buffer, e->args, false);
    for (uint16_t i = 0; i < e->count; i++)
        scan_index(s, e->args[i], depth + 1);
}

static void scan_args(hone_feature_state *s, const hone_expr *e, int depth) {
    for (uint16_t i = 0; i < e->count; i++)
        scan(s, e->args[i], depth);
}

/* A sum with a product in it is one multiply-add; the product is not counted again. */
static void scan_sum(hone_feature_state *s, const hone_expr *e, int depth) {
    int product = hone_expr_is_op(e->args[1], HONE_OP_MUL)   ? 1
                  : hone_expr_is_op(e->args[0], HONE_OP_MUL) ? 0
                                                             : -1;
    if (product < 0) {
        count_op(s, e->dtype, ARITH_FLOAT_ADD_SUB, ARITH_INT_ADD_SUB);
        scan_args(s, e, depth);
        return;
    }
    count_op(s, e->dtype, ARITH_FLOAT_MAD, ARITH_INT_MAD);
    scan_args(s, e->args[product], depth);
    scan(s, e->args[1 - product], depth);
}

static void scan_binary(hone_feature_state *s, const hone_expr *e, int depth) {
    hone_dtype of = e->args[0]->dtype;
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
    case HONE_OP_SUB:
        scan_sum(s, e, depth);
        return;
    case HONE_OP_MUL:
        count_op(s, of, ARITH_FLOAT_MUL, ARITH_INT_MUL);
        break;
    case HONE_OP_DIV:
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        count_op(s, of, ARITH_FLOAT_DIV_MOD, ARITH_INT_DIV_MOD);
        break;
    case HONE_OP_AND:
    case HONE_OP_OR:
        count_op(s, of, ARITH_BOOL, ARITH_BOOL);
        break;
    default: /* min, max and comparisons */
        count_op(s, of, ARITH_FLOAT_CMP, ARITH_INT_CMP);
        break;
    }
    scan_args(s, e, depth);
}

static void scan_call(hone_feature_state *s, const hone_expr *e, int depth) {
    hone_intrin intrin = (hone_intrin)e->op;
    if (intrin == HONE_INTRIN_FMA) {
        count_op(s, e->dtype, ARITH_FLOAT_MAD, ARITH_INT_MAD);
    } else if (intrin == HONE_INTRIN_IF_THEN_ELSE) {
        count_op(s, e->dtype, ARITH_SELECT, ARITH_SELECT);
    } else if (intrin == HONE_INTRIN_LIKELY || intrin == HONE_INTRIN_ADDRESS_OF) {
        /* costs nothing */
    } else if (hone_intrin_is_pure(intrin)) {
        count_op(s, e->dtype, ARITH_FLOAT_MATH, ARITH_INT_MATH);
    } else {
        count_op(s, e->dtype, ARITH_FLOAT_OTHER, ARITH_INT_OTHER);
    }
    scan_args(s, e, depth);
}

static void scan(hone_feature_state *s, const hone_expr *e, int depth) {
    if (depth >= MAX_EXPR_DEPTH || s->expr_budget-- <= 0) return;
    depth++;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_BINARY:
        scan_binary(s, e, depth);
        return;
    case HONE_EXPR_NOT:
        count_op(s, e->dtype, ARITH_BOOL, ARITH_BOOL);
        break;
    case HONE_EXPR_SELECT:
        count_op(s, e->dtype, ARITH_SELECT, ARITH_SELECT);
        break;
    case HONE_EXPR_LOAD:
        add_access(s, e->u.buffer, e->args, false);
        for (uint16_t i = 0; i < e->count; i++)
            scan_index(s, e->args[i], depth);
        return;
    case HONE_EXPR_CALL:
        scan_call(s, e, depth);
        return;
    case HONE_EXPR_LET: {
        index_value value;
        feature_eval(s, e->args[0], 0, &value);
        feature_bind(s, e->u.var, &value);
        break;
    }
    default:
        break;
    }
    scan_args(s, e, depth);
}

/* ---- the statement ---- */

/* In an initialisation only the loops that its store depends on run. */
static double count_iterations(const hone_feature_state *s, uint32_t uses) {
    double iterations = s->extra;
    for (int l = 0; l < s->depth; l++) {
        if (!s->in_init || (uses >> l & 1)) iterations *= s->loops[l].extent;
    }
    return iterations;
}

void feature_measure(hone_feature_state *s, hone_buffer buffer, const hone_expr *const *indices,
                     const hone_expr *value) {
    feature_statement *st = &s->statement;
    s->expr_budget = MAX_EXPR_NODES;
    st->access_count = 0;
    for (int i = 0; i < ARITH_COUNT; i++)
        st->ops[i] = 0;
    if (buffer != HONE_NO_ID) {
        add_access(s, buffer, indices, true);
        uint32_t rank = hone_func_buffer(s->func, buffer)->rank;
        for (uint32_t d = 0; d < rank; d++)
            scan_index(s, indices[d], 0);
    }
    scan(s, value, 0);
    if (buffer == HONE_NO_ID) { /* a call may do anything with what it is given */
        for (int i = 0; i < st->access_count; i++)
            st->accesses[i].writes = true;
    }
    st->iterations = count_iterations(s, st->access_count ? st->accesses[0].uses : 0);
    for (int k = 0; k <= s->depth; k++) {
        st->bytes[k] = 0;
        for (int i = 0; i < st->access_count; i++) {
            st->bytes[k] += st->accesses[i].touched[k] * st->accesses[i].elem_bytes;
        }
    }
}
