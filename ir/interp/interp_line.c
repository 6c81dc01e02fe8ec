/* ir/interp/interp_line.c - integer expressions along a loop, as straight lines.
 *
 *   (i * 3 + 5) // 48   with i from 10 on   =>   0, the same for the next 5 iterations
 *
 * What has a boundary (a division, a remainder, a comparison, a choice) is a line up to it: its
 * count is shortened. Numbers that leave their type on the way are no line, so nothing wraps. */
#include "ir/core/fold.h"
#include "ir/interp/interp_impl.h"

static xline level(int64_t value, int64_t count) {
    return (xline){value, 0, count};
}

static int64_t shorter(int64_t a, int64_t b) {
    return a < b ? a : b;
}

bool line_end(const xline *line, int64_t *out_last) {
    int64_t way;
    return !__builtin_mul_overflow(line->step, line->count - 1, &way) &&
           !__builtin_add_overflow(line->value, way, out_last);
}

static bool holds(const xexpr *e, int64_t value) {
    switch ((xtype)e->type) {
    case X_I64:
        return true;
    case X_U64:
        return value >= 0;
    case X_I32:
    case X_INT:
        return wrap_to(e, value) == value;
    default:
        return false;
    }
}

/* The line, where all its numbers are of the type. */
static bool is_line(const xexpr *e, const xline *line) {
    int64_t last;
    return line_end(line, &last) && holds(e, line->value) && holds(e, last);
}

/* ---- boundaries ---- */

/* How long a line that is below 0 stays there, or one that is not below stays that. */
static int64_t stays(const xline *d) {
    if (d->value < 0 && d->step > 0) return shorter(d->count, (-1 - d->value) / d->step + 1);
    if (d->value >= 0 && d->step < 0) return shorter(d->count, d->value / -d->step + 1);
    return d->count;
}

static bool difference(const xline *a, const xline *b, int64_t less, xline *out) {
    int64_t last;
    out->count = shorter(a->count, b->count);
    if (__builtin_sub_overflow(a->value, b->value, &out->value) ||
        __builtin_sub_overflow(out->value, less, &out->value) ||
        __builtin_sub_overflow(a->step, b->step, &out->step)) {
        return false;
    }
    if (out->count == 1) out->step = 0;
    return out->step > INT64_MIN && line_end(out, &last);
}

static bool is_below(const xline *a, const xline *b, int64_t or_by, xline *out) {
    xline d;
    if (!difference(a, b, or_by, &d)) return false;
    *out = level(d.value < 0, stays(&d));
    return true;
}

static bool is_equal(const xline *a, const xline *b, bool wanted, xline *out) {
    xline d;
    if (!difference(a, b, 0, &d)) return false;
    bool same = d.value == 0;
    int64_t count = d.count;
    if (d.step != 0) {
        bool meets = !same && d.value % d.step == 0 && (d.value < 0) != (d.step < 0);
        if (same) count = 1;
        if (meets) count = shorter(count, -(d.value / d.step));
    }
    *out = level(same == wanted, count);
    return true;
}

static bool extreme(const xline *a, const xline *b, bool is_least, xline *out) {
    xline d;
    if (!difference(a, b, 0, &d)) return false;
    *out = (d.value < 0) == is_least ? *a : *b;
    out->count = stays(&d);
    return true;
}

/* By a number above 0; to_zero: a division that is not the floor of the quotient below 0. */
static bool divide(const xline *a, const xline *b, bool to_zero, bool is_remainder, xline *out) {
    int64_t last, by = b->value, quotient = by > 0 ? hone_floor_div(a->value, by) : 0;
    if (b->step != 0 || by <= 0 || !line_end(a, &last)) return false;
    if (to_zero && (a->value < 0 || last < 0)) return false;
    int64_t rest = a->value - quotient * by, step = a->step;
    *out = (xline){is_remainder ? rest : quotient, is_remainder ? step : 0,
                   shorter(a->count, b->count)};
    if (step % by == 0) {
        out->step = is_remainder ? 0 : step / by;
    } else {
        int64_t room = step > 0 ? (by - 1 - rest) / step : rest / -step;
        out->count = shorter(out->count, room + 1);
    }
    return true;
}

/* ---- arithmetic ---- */

static bool sum(const xline *a, const xline *b, bool is_less, xline *out) {
    out->count = shorter(a->count, b->count);
    if (is_less)
        return !__builtin_sub_overflow(a->value, b->value, &out->value) &&
               !__builtin_sub_overflow(a->step, b->step, &out->step);
    return !__builtin_add_overflow(a->value, b->value, &out->value) &&
           !__builtin_add_overflow(a->step, b->step, &out->step);
}

static bool product(const xline *a, const xline *b, xline *out) {
    int64_t of_a, of_b;
    if (a->step != 0 && b->step != 0) return false;
    out->count = shorter(a->count, b->count);
    return !__builtin_mul_overflow(a->value, b->value, &out->value) &&
           !__builtin_mul_overflow(a->step, b->value, &of_a) &&
           !__builtin_mul_overflow(b->step, a->value, &of_b) &&
           !__builtin_add_overflow(of_a, of_b, &out->step);
}

static bool of_numbers(hone_op op, const xline *a, const xline *b, xline *out) {
    switch (op) {
    case HONE_OP_ADD:
    case HONE_OP_SUB:
        return sum(a, b, op == HONE_OP_SUB, out);
    case HONE_OP_MUL:
        return product(a, b, out);
    case HONE_OP_FLOORDIV:
    case HONE_OP_TRUNCDIV:
        return divide(a, b, op == HONE_OP_TRUNCDIV, false, out);
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCMOD:
        return divide(a, b, op == HONE_OP_TRUNCMOD, true, out);
    case HONE_OP_MIN:
    case HONE_OP_MAX:
        return extreme(a, b, op == HONE_OP_MIN, out);
    case HONE_OP_LT:
        return is_below(a, b, 0, out);
    case HONE_OP_LE:
        return is_below(a, b, 1, out);
    case HONE_OP_GT:
        return is_below(b, a, 0, out);
    case HONE_OP_GE:
        return is_below(b, a, 1, out);
    case HONE_OP_EQ:
    case HONE_OP_NE:
        return is_equal(a, b, op == HONE_OP_EQ, out);
    default:
        return false;
    }
}

/* The right side only where it matters. */
static bool of_logic(const xexpr *e, const xwalk *w, hone_op op, xline *out) {
    xline a;
    if (!line_of(e->args[0], w, &a)) return false;
    if ((a.value != 0) == (op == HONE_OP_OR)) {
        *out = a;
        return true;
    }
    if (!line_of(e->args[1], w, out)) return false;
    out->count = shorter(out->count, a.count);
    return true;
}

static bool of_binary(const xexpr *e, const xwalk *w, xline *out) {
    hone_op op = (hone_op)e->source->op;
    xline a, b;
    if (op == HONE_OP_AND || op == HONE_OP_OR) return of_logic(e, w, op, out);
    return line_of(e->args[0], w, &a) && line_of(e->args[1], w, &b) && of_numbers(op, &a, &b, out);
}

/* ---- expressions ---- */

static bool of_variable(const xexpr *e, const xwalk *w, xline *out) {
    *out = (xline){w->m->slots[e->u.slot].i, 0, w->count};
    if (e->u.slot == w->var) out->step = 1;
    for (uint32_t i = 0; i < w->axis_count; i++) {
        if (w->vars[i] == e->u.slot) *out = w->axes[i];
    }
    return true;
}

bool line_choose(const xexpr *e, const xwalk *w, const xexpr **out_taken, int64_t *io_count) {
    xline condition;
    if (!line_of(e->args[0], w, &condition)) return false;
    *out_taken = e->args[condition.value ? 1 : 2];
    *io_count = shorter(*io_count, condition.count);
    return true;
}

static bool of_call(const xexpr *e, const xwalk *w, xline *out) {
    const xexpr *taken;
    int64_t count = w->count;
    if (e->source->op == HONE_INTRIN_LIKELY) return line_of(e->args[0], w, out);
    if (e->source->op != HONE_INTRIN_IF_THEN_ELSE) return false;
    if (!line_choose(e, w, &taken, &count) || !line_of(taken, w, out)) return false;
    out->count = shorter(out->count, count);
    return true;
}

static bool of_expr(const xexpr *e, const xwalk *w, xline *out) {
    switch ((hone_expr_kind)e->source->kind) {
    case HONE_EXPR_INT:
        *out = level(e->u.i, w->count);
        return true;
    case HONE_EXPR_VAR:
        return of_variable(e, w, out);
    case HONE_EXPR_BINARY:
        return of_binary(e, w, out);
    case HONE_EXPR_NOT:
        if (!line_of(e->args[0], w, out)) return false;
        out->value = !out->value;
        return true;
    case HONE_EXPR_CAST:
        return e->bits > 1 && line_of(e->args[0], w, out);
    case HONE_EXPR_CALL:
        return of_call(e, w, out);
    default:
        return false;
    }
}

bool line_of(const xexpr *e, const xwalk *w, xline *out) {
    if (e->lanes > 1 || x_is_float(e) || !of_expr(e, w, out)) return false;
    if (out->count == 1) out->step = 0;
    return is_line(e, out);
}
