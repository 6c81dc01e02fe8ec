/* ir/interp/interp_compile.c - from the program to its executable form. Evaluators of leaves and of
 * the operations that are not arithmetic are here; arithmetic is in interp_number.c, calls in
 * interp_math.c. */
#include <string.h>

#include "ir/interp/interp_impl.h"

/* ---- evaluators ---- */

static int64_t constant_i(const xexpr *e, machine *m) {
    (void)m;
    return e->u.i;
}
static double constant_f(const xexpr *e, machine *m) {
    (void)m;
    return e->u.f;
}
static int64_t var_i(const xexpr *e, machine *m) {
    return m->slots[e->u.slot].i;
}
static double var_f(const xexpr *e, machine *m) {
    return m->slots[e->u.slot].f;
}
static int64_t vector_var_i(const xexpr *e, machine *m) {
    return m->slots[e->u.slot].lanes[m->lane].i;
}
static double vector_var_f(const xexpr *e, machine *m) {
    return m->slots[e->u.slot].lanes[m->lane].f;
}
static int64_t not_i(const xexpr *e, machine *m) {
    return !e->args[0]->eval.i(e->args[0], m);
}

static int64_t select_i(const xexpr *e, machine *m) {
    int64_t condition = e->args[0]->eval.i(e->args[0], m);
    int64_t yes = e->args[1]->eval.i(e->args[1], m), no = e->args[2]->eval.i(e->args[2], m);
    return condition ? yes : no;
}
static double select_f(const xexpr *e, machine *m) {
    int64_t condition = e->args[0]->eval.i(e->args[0], m);
    double yes = e->args[1]->eval.f(e->args[1], m), no = e->args[2]->eval.f(e->args[2], m);
    return condition ? yes : no;
}

static int64_t ramp_i(const xexpr *e, machine *m) {
    uint64_t base = (uint64_t)e->args[0]->eval.i(e->args[0], m);
    uint64_t stride = (uint64_t)e->args[1]->eval.i(e->args[1], m);
    return wrap_to(e, (int64_t)(base + stride * m->lane));
}
static int64_t broadcast_i(const xexpr *e, machine *m) {
    return e->args[0]->eval.i(e->args[0], m);
}
static double broadcast_f(const xexpr *e, machine *m) {
    return e->args[0]->eval.f(e->args[0], m);
}

/* args: vectors, then one index constant per lane; the vectors count as one long vector. */
static const xexpr *shuffle_source(const xexpr *e, machine *m, uint16_t *out_lane) {
    uint32_t vectors = (uint32_t)e->u.i;
    const xexpr *index = e->args[vectors + m->lane];
    int64_t at = index->eval.i(index, m);
    for (uint32_t i = 0; at >= 0 && i < vectors; i++) {
        if (at < e->args[i]->lanes) {
            *out_lane = (uint16_t)at;
            return e->args[i];
        }
        at -= e->args[i]->lanes;
    }
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a shuffle takes a lane that is not there"));
}
static int64_t shuffle_i(const xexpr *e, machine *m) {
    uint16_t lane, keep = m->lane;
    const xexpr *from = shuffle_source(e, m, &lane);
    m->lane = lane;
    int64_t value = from->eval.i(from, m);
    m->lane = keep;
    return value;
}
static double shuffle_f(const xexpr *e, machine *m) {
    uint16_t lane, keep = m->lane;
    const xexpr *from = shuffle_source(e, m, &lane);
    m->lane = lane;
    double value = from->eval.f(from, m);
    m->lane = keep;
    return value;
}

/* A let inside an expression: args[0] is the value, args[1] the body. A vector is evaluated for
 * the lane in hand only, so it needs one slot. */
static void bind_let(const xexpr *e, machine *m) {
    const xexpr *value = e->args[0];
    if (x_is_float(value))
        m->slots[e->u.slot].f = value->eval.f(value, m);
    else
        m->slots[e->u.slot].i = value->eval.i(value, m);
}
static int64_t let_i(const xexpr *e, machine *m) {
    bind_let(e, m);
    return e->args[1]->eval.i(e->args[1], m);
}
static double let_f(const xexpr *e, machine *m) {
    bind_let(e, m);
    return e->args[1]->eval.f(e->args[1], m);
}

static int64_t string_i(const xexpr *e, machine *m) {
    (void)e;
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a string is used as a number"));
}

/* ---- types ---- */

static xtype xtype_of(const machine *m, hone_dtype dtype) {
    if (hone_dtype_is_handle(dtype)) return X_HANDLE;
    if (hone_dtype_is_float(dtype)) {
        if (m->options.widen_f64 || dtype.bits == 64) return X_F64;
        return dtype.bits == 32 ? X_F32 : X_FLOAT;
    }
    bool is_unsigned = hone_dtype_is_uint(dtype) || hone_dtype_is_bool(dtype);
    if (dtype.bits == 0) return X_I64; /* void: the value of a call for its effect */
    if (dtype.bits == 64) return is_unsigned ? X_U64 : X_I64;
    return dtype.bits == 32 && !is_unsigned ? X_I32 : X_INT;
}

static void set_type(const machine *m, xexpr *x, hone_dtype dtype) {
    x->dtype = dtype;
    x->lanes = dtype.lanes;
    x->type = (uint8_t)xtype_of(m, dtype);
    x->bits = hone_dtype_is_bool(dtype) ? 1 : (uint8_t)dtype.bits;
    x->is_unsigned = hone_dtype_is_uint(dtype) || hone_dtype_is_bool(dtype);
}

/* ---- building ---- */

static void choose_var(machine *m, xexpr *x, hone_var var) {
    if (var >= m->func->var_count) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a variable that does not exist is used"));
    }
    x->u.slot = var;
    bool is_vector = x->lanes > 1;
    x_choose(x, is_vector ? vector_var_i : var_i, is_vector ? vector_var_f : var_f);
}

static void choose_constant(xexpr *x, const hone_expr *e) {
    bool is_int = e->kind == HONE_EXPR_INT;
    if (x_is_float(x))
        x->u.f = round_to(x, is_int ? (double)e->u.i : e->u.f);
    else
        x->u.i = wrap_to(x, is_int ? e->u.i : (int64_t)e->u.f);
    x_choose(x, constant_i, constant_f);
}

/* The variable of a let expression that holds a vector is read lane by lane without an array. */
static void mark_scalar_reads(xexpr *x, uint32_t slot) {
    if (x->source->kind == HONE_EXPR_VAR && x->u.slot == slot) x_choose(x, var_i, var_f);
    for (uint32_t i = 0; i < x->count; i++) {
        union {
            const xexpr *in;
            xexpr *out;
        } arg = {x->args[i]};
        mark_scalar_reads(arg.out, slot);
    }
}

static void choose(machine *m, xexpr *x, const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
    case HONE_EXPR_FLOAT:
        choose_constant(x, e);
        return;
    case HONE_EXPR_STRING:
        x->eval.i = string_i;
        return;
    case HONE_EXPR_VAR:
        choose_var(m, x, e->u.var);
        return;
    case HONE_EXPR_BINARY:
        choose_binary(m, x, (hone_op)e->op, x->args[0]);
        return;
    case HONE_EXPR_NOT:
        x->eval.i = not_i;
        return;
    case HONE_EXPR_SELECT:
        x_choose(x, select_i, select_f);
        return;
    case HONE_EXPR_CAST:
        choose_cast(m, x, x->args[0]);
        return;
    case HONE_EXPR_LOAD:
        choose_load(m, x);
        return;
    case HONE_EXPR_CALL:
        choose_intrin(m, x, (hone_intrin)e->op);
        return;
    case HONE_EXPR_RAMP:
        x->eval.i = ramp_i;
        return;
    case HONE_EXPR_BROADCAST:
        x_choose(x, broadcast_i, broadcast_f);
        return;
    case HONE_EXPR_SHUFFLE:
        x->u.i = (int64_t)e->count - e->dtype.lanes;
        x_choose(x, shuffle_i, shuffle_f);
        return;
    case HONE_EXPR_LET: {
        union {
            const xexpr *in;
            xexpr *out;
        } body = {x->args[1]};
        x->u.slot = e->u.var;
        if (x->args[0]->lanes > 1) mark_scalar_reads(body.out, e->u.var);
        x_choose(x, let_i, let_f);
        return;
    }
    }
}

const xexpr *compile_expr(machine *m, const hone_expr *e) {
    if (hone_dtype_is_scalable(e->dtype) || hone_expr_is_vscale(e)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "vectors of scalable length (T.vscale()) cannot be run"));
    }
    if (e->dtype.lanes > INTERP_MAX_LANES || e->count > UINT8_MAX) {
        machine_fail(m,
                     HONE_ERROR(HONE_CODE_UNSUPPORTED, "an expression with %u lanes and %u parts",
                                (unsigned)e->dtype.lanes, (unsigned)e->count));
    }
    xexpr *x = machine_alloc(m, sizeof *x + e->count * sizeof x->args[0]);
    x->source = e;
    x->count = (uint8_t)e->count;
    set_type(m, x, e->dtype);
    for (uint32_t i = 0; i < e->count; i++)
        x->args[i] = compile_expr(m, e->args[i]);
    choose(m, x, e);
    if (!x->eval.i) {
        machine_fail(m,
                     HONE_ERROR(HONE_CODE_UNSUPPORTED, "an expression that cannot be evaluated"));
    }
    return x;
}
