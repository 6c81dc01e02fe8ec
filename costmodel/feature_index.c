/* costmodel/feature_index.c - index expressions as slopes and spans.
 *
 * An index is followed through block axes and arithmetic as if it were linear in the loops, which
 * it nearly always is; // and % by constants, which splits and fusions leave behind, are treated
 * so that a loop that cancels out has slope 0. Spans are upper bounds.
 */
#include "costmodel/feature_impl.h"

#define IRREGULAR_SLOPE                                                                            \
    4096.0 /* elements per step of an index that is loaded: another line each                      \
            */
#define IRREGULAR_SPAN 1e15

static void clear(const hone_feature_state *s, index_value *out) {
    out->depth = s->depth;
    out->is_constant = false;
    out->constant = 0;
    for (int l = 0; l < s->depth; l++)
        out->slope[l] = out->span[l] = 0;
    out->span[s->depth] = 0;
}

void feature_bind(hone_feature_state *s, hone_var var, const index_value *value) {
    if (var >= s->slots.count) return;
    if (s->slots.data[var]) {
        s->values.data[s->slots.data[var] - 1] = *value;
    } else if (hone_vec_push(&s->values, *value)) {
        s->slots.data[var] = (uint32_t)s->values.count;
    } else {
        s->failed = true;
    }
}

static void eval_var(const hone_feature_state *s, hone_var var, index_value *out) {
    clear(s, out);
    uint32_t slot = var < s->slots.count ? s->slots.data[var] : 0;
    if (!slot) return; /* a symbolic size: one unknown value */
    const index_value *value = &s->values.data[slot - 1];
    int depth = value->depth < s->depth ? value->depth : s->depth;
    out->is_constant = value->is_constant;
    out->constant = value->constant;
    for (int l = 0; l < depth; l++) {
        out->slope[l] = value->slope[l];
        out->span[l] = value->span[l];
    }
}

static void scale(index_value *v, double factor) {
    v->constant *= factor;
    for (int l = 0; l < v->depth; l++) {
        v->slope[l] *= factor;
        v->span[l] *= fabs(factor);
    }
    v->span[v->depth] *= fabs(factor);
}

static void add(index_value *a, const index_value *b, double sign) {
    a->constant += sign * b->constant;
    a->is_constant = a->is_constant && b->is_constant;
    for (int l = 0; l < a->depth; l++) {
        a->slope[l] += sign * b->slope[l];
        a->span[l] += b->span[l];
    }
    a->span[a->depth] += b->span[b->depth];
}

/* a × b of two indices that both vary: each moves by what the other may be worth. */
static void multiply(index_value *a, const index_value *b) {
    for (int l = 0; l < a->depth; l++) {
        a->slope[l] = a->slope[l] * (b->span[0] + 1) + b->slope[l] * (a->span[0] + 1);
        a->span[l] = (a->span[l] + 1) * (b->span[l] + 1) - 1;
    }
}

/* (i0 * 64 + i1) // 64: i1, which never carries, drops out. */
static void divide(const hone_feature_state *s, index_value *v, double by) {
    v->constant = floor(v->constant / by);
    for (int l = 0; l < v->depth; l++) {
        bool never_carries = fabs(v->slope[l]) * s->loops[l].extent <= by;
        v->slope[l] = never_carries ? 0 : v->slope[l] / by;
        v->span[l] = floor(v->span[l] / by);
    }
    v->span[v->depth] = floor(v->span[v->depth] / by);
}

/* (i0 * 64 + i1) % 64: i0, which moves by whole turns, drops out. */
static void remainder_of(const hone_feature_state *s, index_value *v, double by) {
    double linear = v->span[v->depth];
    v->constant = v->constant - by * floor(v->constant / by);
    v->span[v->depth] = fmin(linear, by - 1);
    for (int l = v->depth - 1; l >= 0; l--) {
        v->slope[l] = fmod(v->slope[l], by);
        linear += fabs(v->slope[l]) * (s->loops[l].extent - 1);
        v->span[l] = fmin(fmin(v->span[l], linear), by - 1);
    }
}

static void widest(index_value *a, const index_value *b) {
    a->is_constant = false;
    for (int l = 0; l < a->depth; l++) {
        if (fabs(b->slope[l]) > fabs(a->slope[l])) a->slope[l] = b->slope[l];
        a->span[l] = fmax(a->span[l], b->span[l]);
    }
}

static void eval_binary(hone_feature_state *s, const hone_expr *e, int depth, index_value *out) {
    index_value other;
    feature_eval(s, e->args[0], depth, out);
    feature_eval(s, e->args[1], depth, &other);
    bool by_constant = other.is_constant && other.constant > 0;
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
        add(out, &other, 1);
        break;
    case HONE_OP_SUB:
        add(out, &other, -1);
        break;
    case HONE_OP_MUL:
        if (other.is_constant) {
            scale(out, other.constant);
        } else if (out->is_constant) {
            scale(&other, out->constant);
            *out = other;
        } else {
            multiply(out, &other);
        }
        break;
    case HONE_OP_DIV:
    case HONE_OP_FLOORDIV:
    case HONE_OP_TRUNCDIV:
        if (by_constant) divide(s, out, other.constant);
        break;
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCMOD:
        if (by_constant) remainder_of(s, out, other.constant);
        break;
    case HONE_OP_MIN:
    case HONE_OP_MAX:
        widest(out, &other);
        break;
    default: /* a truth value */
        clear(s, out);
        break;
    }
}

/* An index that is itself loaded: wherever its own indices move, it may go anywhere. */
static void eval_load(hone_feature_state *s, const hone_expr *e, int depth, index_value *out) {
    clear(s, out);
    for (uint16_t d = 0; d < e->count; d++) {
        index_value index;
        feature_eval(s, e->args[d], depth, &index);
        for (int l = 0; l < out->depth; l++) {
            if (index.slope[l] != 0) out->slope[l] = IRREGULAR_SLOPE;
            if (index.span[l] > 0) out->span[l] = IRREGULAR_SPAN;
        }
    }
}

static void eval_ramp(hone_feature_state *s, const hone_expr *e, int depth, index_value *out) {
    index_value stride;
    feature_eval(s, e->args[0], depth, out);
    feature_eval(s, e->args[1], depth, &stride);
    double reach = fabs(stride.constant) * (e->dtype.lanes - 1);
    out->is_constant = false;
    for (int k = 0; k <= out->depth; k++)
        out->span[k] += reach;
}

void feature_eval(hone_feature_state *s, const hone_expr *e, int expr_depth, index_value *out) {
    if (expr_depth >= MAX_EXPR_DEPTH || s->expr_budget-- <= 0) {
        clear(s, out);
        return;
    }
    int depth = expr_depth + 1;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        clear(s, out);
        out->is_constant = true;
        out->constant = (double)e->u.i;
        break;
    case HONE_EXPR_VAR:
        eval_var(s, e->u.var, out);
        break;
    case HONE_EXPR_BINARY:
        eval_binary(s, e, depth, out);
        break;
    case HONE_EXPR_CAST:
    case HONE_EXPR_BROADCAST:
        feature_eval(s, e->args[0], depth, out);
        break;
    case HONE_EXPR_RAMP:
        eval_ramp(s, e, depth, out);
        break;
    case HONE_EXPR_LOAD:
        eval_load(s, e, depth, out);
        break;
    case HONE_EXPR_SELECT:
        feature_eval(s, e->args[1], depth, out);
        break;
    case HONE_EXPR_LET:
        feature_eval(s, e->args[0], depth, out);
        feature_bind(s, e->u.var, out);
        feature_eval(s, e->args[1], depth, out);
        break;
    case HONE_EXPR_CALL:
        if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
            feature_eval(s, e->args[1], depth, out);
        } else if (hone_expr_is_call(e, HONE_INTRIN_LIKELY)) {
            feature_eval(s, e->args[0], depth, out);
        } else {
            clear(s, out);
        }
        break;
    default:
        clear(s, out);
        break;
    }
}
