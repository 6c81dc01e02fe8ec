/* ir/python/python_operator.c - what operators make of numbers, strings and lists. */
#include <math.h>
#include <string.h>

#include "ir/python/python_run.h"

const char py_no_operator[] = "these cannot be computed with";
const char py_word_is_no_string[] = "a name of an argument is no string";

/* ---- arithmetic ---- */

static bool multiply(int64_t a, int64_t n, int64_t *out) {
    for (*out = 1; n > 0; n--) {
        if (__builtin_mul_overflow(*out, a, out)) return false;
        if (a == 0 || a == 1) return true;
        if (n > 64 && a == -1) n -= (n - 64) / 2 * 2;
    }
    return true;
}

/* Python rounds down. */
static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static hone_status compute_ints(py_run *p, uint32_t at, py_op op, int64_t b, int64_t *io) {
    int64_t a = *io;
    bool fits = true, divides = op == PY_FLOORDIV || op == PY_MOD;
    if (divides && b == 0) return py_fail_at(p, at, "division by zero");
    if (op == PY_FLOORDIV && b == -1) op = PY_MUL;
    if (op == PY_MOD && b == -1) b = 1;
    switch (op) {
    case PY_ADD:
        fits = !__builtin_add_overflow(a, b, io);
        break;
    case PY_SUB:
        fits = !__builtin_sub_overflow(a, b, io);
        break;
    case PY_MUL:
        fits = !__builtin_mul_overflow(a, b, io);
        break;
    case PY_FLOORDIV:
        *io = floor_divide(a, b);
        break;
    case PY_MOD:
        *io = a - floor_divide(a, b) * b;
        break;
    case PY_POW:
        fits = multiply(a, b, io);
        break;
    case PY_SHL:
        fits = b >= 0 && b < 63 && !__builtin_mul_overflow(a, INT64_C(1) << b, io);
        break;
    case PY_SHR:
        fits = b >= 0;
        if (fits) *io = floor_divide(a, b < 63 ? INT64_C(1) << b : INT64_MAX);
        break;
    case PY_BITAND:
        *io = a & b;
        break;
    case PY_BITOR:
        *io = a | b;
        break;
    case PY_BITXOR:
        *io = a ^ b;
        break;
    default:
        return py_fail_at(p, at, py_no_operator);
    }
    return fits ? HONE_OK : py_fail_at(p, at, "the number is too large");
}

static hone_status compute_floats(py_run *p, uint32_t at, py_op op, double b, py_value *io) {
    double a = py_number_of(io), made = NAN;
    bool divides = op == PY_FLOORDIV || op == PY_MOD || op == PY_DIV;
    if (divides && !(b < 0) && !(b > 0)) return py_fail_at(p, at, "division by zero");
    if (op == PY_ADD) made = a + b;
    if (op == PY_SUB) made = a - b;
    if (op == PY_MUL) made = a * b;
    if (op == PY_DIV) made = a / b;
    if (op == PY_FLOORDIV) made = floor(a / b);
    if (op == PY_MOD) made = a - floor(a / b) * b;
    if (op == PY_POW) made = pow(a, b);
    *io = PYV_OF_FLOAT(made);
    return isfinite(made) ? HONE_OK : py_fail_at(p, at, "this is no number");
}

/* list + list, tuple + tuple, and either times a number. */
static hone_status join(py_run *p, uint32_t where, const py_value *a, const py_value *b,
                        int64_t times, py_value *out) {
    const py_value *items[2] = {NULL, NULL};
    uint32_t counts[2] = {0, 0};
    py_value list;
    bool is_list = a->kind == PYV_LIST;
    py_items(a, &items[0], &counts[0]);
    if (b) py_items(b, &items[1], &counts[1]);
    HONE_TRY(py_new_list(p, PYV_LIST, &list));
    for (int64_t n = 0; n < times && counts[0] + counts[1]; n++) {
        for (uint32_t i = 0; i < counts[0]; i++)
            HONE_TRY(py_append(p, where, &list, &items[0][i]));
        for (uint32_t i = 0; i < counts[1]; i++)
            HONE_TRY(py_append(p, where, &list, &items[1][i]));
    }
    *out = is_list ? list : py_tuple_of(&list);
    return HONE_OK;
}

static hone_status join_text(py_run *p, uint32_t where, const char *a, const char *b,
                             py_value *out) {
    if (strlen(a) + strlen(b) > PY_MAX_TEXT) {
        return py_fail_at(p, where, "the string is too long");
    }
    *out = PYV_OF_STRING(hone_arena_printf(p->arena, "%s%s", a, b));
    return out->u.s ? HONE_OK : py_no_memory();
}

hone_status py_compute(py_run *p, uint32_t where, py_op op, const py_value *right, py_value *io) {
    bool are_lists = (io->kind == PYV_LIST || io->kind == PYV_TUPLE) &&
                     (right->kind == io->kind || (op == PY_MUL && py_is_int(right)));
    bool is_host = io->kind >= PYV_HOST || right->kind >= PYV_HOST;
    if (is_host && p->host->compute) return p->host->compute(p, where, op, right, io);
    if (io->kind == PYV_UNKNOWN) return HONE_OK;
    if (right->kind == PYV_UNKNOWN) {
        *io = *right;
        return HONE_OK;
    }
    if (py_is_int(io) && py_is_int(right) && op != PY_DIV && (op != PY_POW || right->u.i >= 0)) {
        io->kind = PYV_INT;
        return compute_ints(p, where, op, right->u.i, &io->u.i);
    }
    if (py_is_number(io) && py_is_number(right)) {
        return compute_floats(p, where, op, py_number_of(right), io);
    }
    if (io->kind == PYV_STRING && op == PY_ADD && right->kind == PYV_STRING) {
        return join_text(p, where, io->u.s, right->u.s, io);
    }
    if (io->kind == PYV_STRING && op == PY_MOD) {
        return py_format_percent(p, where, io->u.s, right, &io->u.s);
    }
    const py_value left = *io;
    if (are_lists && op == PY_ADD) return join(p, where, &left, right, 1, io);
    if (are_lists && op == PY_MUL) return join(p, where, &left, NULL, right->u.i, io);
    return py_fail_at(p, where, is_host ? p->host->no_arithmetic : py_no_operator);
}

/* ---- comparisons ---- */

static hone_status is_in(py_run *p, uint32_t where, const py_value *item, const py_value *list,
                         bool *out) {
    const py_value *items;
    uint32_t count;
    *out = false;
    if (item->kind == PYV_STRING && list->kind == PYV_STRING) {
        *out = strstr(list->u.s, item->u.s) != NULL;
        return HONE_OK;
    }
    HONE_TRY(py_iterate(p, where, list, &items, &count));
    for (uint32_t i = 0; i < count; i++)
        *out = *out || py_is_same(item, &items[i]);
    return HONE_OK;
}

static hone_status relate(py_run *p, uint32_t at, py_op op, const py_value *a, const py_value *b,
                          bool *out) {
    int order = 0;
    if (op == PY_IN || op == PY_NOT_IN) {
        HONE_TRY(is_in(p, at, a, b, out));
        *out = *out == (op == PY_IN);
        return HONE_OK;
    }
    if (op == PY_EQ || op == PY_NE || op == PY_IS || op == PY_IS_NOT) {
        *out = py_is_same(a, b) == (op == PY_EQ || op == PY_IS);
        return HONE_OK;
    }
    if (!py_compare(a, b, &order)) {
        return py_fail_at(p, at, "only numbers have an order, and strings");
    }
    *out = (op == PY_LT && order < 0) || (op == PY_LE && order <= 0) ||
           (op == PY_GT && order > 0) || (op == PY_GE && order >= 0);
    return HONE_OK;
}

/* A host's value may have none yet; only None differs from all of them. */
static hone_status refuse_open(py_run *p, uint32_t at, const py_value *a, const py_value *b) {
    bool ignored;
    if (a->kind == PYV_NONE || b->kind == PYV_NONE) return HONE_OK;
    if (a->kind >= PYV_HOST) HONE_TRY(py_truth(p, at, a, &ignored));
    return b->kind >= PYV_HOST ? py_truth(p, at, b, &ignored) : HONE_OK;
}

hone_status py_relate(py_run *p, uint32_t at, py_op op, const py_value *a, const py_value *b,
                      bool *out, bool *out_is_known) {
    bool is_unknown = a->kind == PYV_UNKNOWN || b->kind == PYV_UNKNOWN;
    bool is_none = a->kind == PYV_NONE || b->kind == PYV_NONE;
    *out_is_known = !is_unknown || is_none;
    *out = true;
    if (!*out_is_known) return HONE_OK;
    HONE_TRY(refuse_open(p, at, a, b));
    return relate(p, at, op, a, b, out);
}
