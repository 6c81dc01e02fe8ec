#include <math.h>
#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* Operators of the Python form of traces, from the weakest to the strongest:
 *
 *   a if c else b · or · and · not · comparisons · + - · * // / % · -x · **
 *
 * What Python would not compute (the other half of an `or`, say) is passed over, since steps may
 * stand in it. */

static const char *const or_ends[] = {"or", "if", "else", "for", NULL};
static const char *const and_ends[] = {"and", "or", "if", "else", "for", NULL};
static const char *const choice_words[] = {"if", "for", NULL};

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

static hone_status compute_ints(pytrace *p, const char *where, char op, int64_t b, int64_t *io) {
    int64_t a = *io;
    bool fits = true;
    if ((op == '/' || op == '%') && b == 0) return pytrace_fail_at(p, where, "division by zero");
    if (op == '/' && b == -1) {
        op = '*';
    } else if (op == '%' && b == -1) {
        b = 1;
    }
    if (op == '+') fits = !__builtin_add_overflow(a, b, io);
    if (op == '-') fits = !__builtin_sub_overflow(a, b, io);
    if (op == '*') fits = !__builtin_mul_overflow(a, b, io);
    if (op == '/') *io = floor_divide(a, b);
    if (op == '%') *io = a - floor_divide(a, b) * b;
    if (op == '^') fits = multiply(a, b, io);
    if (op == '&') *io = a & b;
    if (op == '|') *io = a | b;
    return fits ? HONE_OK : pytrace_fail_at(p, where, "the number is too large");
}

static hone_status compute_floats(pytrace *p, const char *where, char op, double b,
                                  pytrace_value *io) {
    double a = pytrace_number_of(io), made = a + b;
    bool divides = op == '/' || op == '%' || op == ':';
    if (divides && !(b < 0) && !(b > 0)) return pytrace_fail_at(p, where, "division by zero");
    if (op == '-') made = a - b;
    if (op == '*') made = a * b;
    if (op == ':') made = a / b;
    if (op == '/') made = floor(a / b);
    if (op == '%') made = a - floor(a / b) * b;
    if (op == '^') made = pow(a, b);
    if (op == '&' || op == '|') made = NAN;
    *io = PYTRACE_OF_FLOAT(made);
    return isfinite(made) ? HONE_OK : pytrace_fail_at(p, where, "this is no number");
}

/* list + list, tuple + tuple, and either times a number. */
static hone_status join(pytrace *p, const pytrace_value *a, const pytrace_value *b, int64_t times,
                        pytrace_value *out) {
    const pytrace_value *items[2] = {NULL, NULL};
    uint32_t counts[2] = {0, 0};
    pytrace_value list;
    bool is_list = a->kind == PYTRACE_LIST;
    pytrace_items(a, &items[0], &counts[0]);
    if (b) pytrace_items(b, &items[1], &counts[1]);
    HONE_TRY(pytrace_new_list(p, PYTRACE_LIST, &list));
    for (int64_t n = 0; n < times && counts[0] + counts[1]; n++) {
        for (uint32_t i = 0; i < counts[0]; i++)
            HONE_TRY(pytrace_push(p, &list, &items[0][i]));
        for (uint32_t i = 0; i < counts[1]; i++)
            HONE_TRY(pytrace_push(p, &list, &items[1][i]));
    }
    *out = is_list ? list : pytrace_tuple_of(&list);
    return HONE_OK;
}

static hone_status join_text(pytrace *p, const char *where, const char *a, const char *b,
                             pytrace_value *out) {
    if (strlen(a) + strlen(b) > PYTRACE_MAX_TEXT) {
        return pytrace_fail_at(p, where, "the string is too long");
    }
    *out = PYTRACE_OF_STRING(hone_arena_printf(p->arena, "%s%s", a, b));
    return out->u.s ? HONE_OK : pytrace_no_memory();
}

hone_status pytrace_compute(pytrace *p, const char *where, char op, const pytrace_value *right,
                            pytrace_value *io) {
    bool are_lists = (io->kind == PYTRACE_LIST || io->kind == PYTRACE_TUPLE) &&
                     (right->kind == io->kind || (op == '*' && pytrace_is_int(right)));
    if (io->kind == PYTRACE_OUTSIDE) return HONE_OK;
    if (right->kind == PYTRACE_OUTSIDE) {
        *io = *right;
        return HONE_OK;
    }
    if (pytrace_is_int(io) && pytrace_is_int(right) && op != ':' &&
        (op != '^' || right->u.i >= 0)) {
        io->kind = PYTRACE_INT;
        return compute_ints(p, where, op, right->u.i, &io->u.i);
    }
    if (pytrace_is_number(io) && pytrace_is_number(right)) {
        return compute_floats(p, where, op, pytrace_number_of(right), io);
    }
    if (io->kind == PYTRACE_STRING && op == '+' && right->kind == PYTRACE_STRING) {
        return join_text(p, where, io->u.s, right->u.s, io);
    }
    if (io->kind == PYTRACE_STRING && op == '%') {
        return pytrace_format_percent(p, where, io->u.s, right, &io->u.s);
    }
    const pytrace_value left = *io;
    if (are_lists && op == '+') return join(p, &left, right, 1, io);
    if (are_lists && op == '*') return join(p, &left, NULL, right->u.i, io);
    bool is_drawn = io->kind == PYTRACE_RV || right->kind == PYTRACE_RV;
    return pytrace_fail_at(p, where,
                           is_drawn ? "arithmetic is for whole numbers only, not for what is drawn "
                                      "when the schedule is applied"
                                    : "these cannot be computed with");
}

/* '*', '%', ':' for '/', '/' for "//"; zero when there is no such operator, or "*=" and the like.
 */
static char take_operator(pytrace *p, const char *operators) {
    pytrace_skip_space(p);
    char c = pytrace_peek(p), next = p->end - p->at > 1 ? p->at[1] : '\0';
    if (!c || !strchr(operators, c) || (c == '*' && next == '*')) return '\0';
    bool is_double = c == '/' && next == '/';
    char behind = p->end - p->at > 1 + is_double ? p->at[1 + is_double] : '\0';
    if (behind == '=') return '\0';
    p->at += 1 + is_double;
    return c == '/' && !is_double ? ':' : c;
}

static hone_status read_unary(pytrace *p, pytrace_value *out);

static hone_status read_power(pytrace *p, pytrace_value *out) {
    HONE_TRY(pytrace_read_primary(p, out));
    pytrace_skip_space(p);
    const char *where = p->at;
    if (p->end - p->at < 3 || p->at[0] != '*' || p->at[1] != '*' || p->at[2] == '=') return HONE_OK;
    pytrace_value right;
    p->at += 2;
    HONE_TRY(read_unary(p, &right));
    return pytrace_compute(p, where, '^', &right, out);
}

static hone_status read_unary(pytrace *p, pytrace_value *out) {
    pytrace_skip_space(p);
    const char *where = p->at;
    char c = pytrace_peek(p), next = p->end - p->at > 1 ? p->at[1] : '\0';
    bool is_sign = c == '-' || c == '+';
    if (!is_sign || (next >= '0' && next <= '9') || next == '.') return read_power(p, out);
    pytrace_value zero = PYTRACE_OF_INT(0), operand;
    p->at++;
    if (++p->depth > PYTRACE_MAX_DEPTH) return pytrace_fail(p, "nested too deeply");
    HONE_TRY(read_unary(p, &operand));
    p->depth--;
    *out = zero;
    return pytrace_compute(p, where, c, &operand, out);
}

static hone_status read_product(pytrace *p, pytrace_value *out) {
    HONE_TRY(read_unary(p, out));
    for (;;) {
        pytrace_value right;
        pytrace_skip_space(p);
        const char *where = p->at;
        char op = take_operator(p, "*/%");
        if (!op) return HONE_OK;
        HONE_TRY(read_unary(p, &right));
        HONE_TRY(pytrace_compute(p, where, op, &right, out));
    }
}

static hone_status read_sum(pytrace *p, pytrace_value *out) {
    HONE_TRY(read_product(p, out));
    for (;;) {
        pytrace_value right;
        pytrace_skip_space(p);
        const char *where = p->at;
        char op = take_operator(p, "+-&|");
        if (!op) return HONE_OK;
        HONE_TRY(read_product(p, &right));
        HONE_TRY(pytrace_compute(p, where, op, &right, out));
    }
}

/* ---- comparisons ---- */

typedef enum relation {
    NO_RELATION,
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_OR_EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    IN,
    NOT_IN,
    IS,
    IS_NOT,
} relation;

static relation take_relation(pytrace *p) {
    static const struct {
        const char *text;
        relation relation;
    } signs[] = {
        {"==", EQUAL           },
        {"!=", UNEQUAL         },
        {"<=", LESS_OR_EQUAL   },
        {">=", GREATER_OR_EQUAL},
        {"<",  LESS            },
        {">",  GREATER         },
    };
    pytrace_skip_space(p);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t length = strlen(signs[i].text);
        if ((size_t)(p->end - p->at) < length || memcmp(p->at, signs[i].text, length) != 0)
            continue;
        p->at += length;
        return signs[i].relation;
    }
    const char *start = p->at;
    if (pytrace_accept_word(p, "in")) return IN;
    if (pytrace_accept_word(p, "is")) return pytrace_accept_word(p, "not") ? IS_NOT : IS;
    if (pytrace_accept_word(p, "not") && pytrace_accept_word(p, "in")) return NOT_IN;
    p->at = start;
    return NO_RELATION;
}

static hone_status is_in(pytrace *p, const char *where, const pytrace_value *item,
                         const pytrace_value *list, bool *out) {
    const pytrace_value *items;
    uint32_t count;
    *out = false;
    if (item->kind == PYTRACE_STRING && list->kind == PYTRACE_STRING) {
        *out = strstr(list->u.s, item->u.s) != NULL;
        return HONE_OK;
    }
    HONE_TRY(pytrace_iterate(p, where, list, &items, &count));
    for (uint32_t i = 0; i < count; i++)
        *out = *out || pytrace_is_same(item, &items[i]);
    return HONE_OK;
}

static hone_status relate(pytrace *p, const char *where, relation r, const pytrace_value *a,
                          const pytrace_value *b, bool *out) {
    int order = 0;
    if (r == IN || r == NOT_IN) {
        HONE_TRY(is_in(p, where, a, b, out));
        *out = *out == (r == IN);
        return HONE_OK;
    }
    if (r == EQUAL || r == UNEQUAL || r == IS || r == IS_NOT) {
        *out = pytrace_is_same(a, b) == (r == EQUAL || r == IS);
        return HONE_OK;
    }
    if (!pytrace_compare(a, b, &order)) {
        return pytrace_fail_at(p, where, "only numbers have an order, and strings");
    }
    *out = (r == LESS && order < 0) || (r == LESS_OR_EQUAL && order <= 0) ||
           (r == GREATER && order > 0) || (r == GREATER_OR_EQUAL && order >= 0);
    return HONE_OK;
}

/* A drawn number has no value yet; only None differs from all of them. */
static hone_status refuse_drawn(pytrace *p, const char *where, const pytrace_value *a,
                                const pytrace_value *b) {
    bool is_drawn;
    if (a->kind == PYTRACE_NONE || b->kind == PYTRACE_NONE) return HONE_OK;
    if (a->kind == PYTRACE_RV) HONE_TRY(pytrace_truth(p, where, a, &is_drawn));
    return b->kind == PYTRACE_RV ? pytrace_truth(p, where, b, &is_drawn) : HONE_OK;
}

static hone_status read_comparison(pytrace *p, pytrace_value *out) {
    pytrace_skip_space(p);
    const char *where = p->at;
    HONE_TRY(read_sum(p, out));
    pytrace_value left = *out, right;
    bool holds = true, is_known = true;
    for (bool is_first = true;; is_first = false) {
        bool one = true;
        relation r = take_relation(p);
        if (r == NO_RELATION && is_first) return HONE_OK;
        if (r == NO_RELATION) break;
        HONE_TRY(read_sum(p, &right));
        bool is_outside = left.kind == PYTRACE_OUTSIDE || right.kind == PYTRACE_OUTSIDE;
        bool is_none = left.kind == PYTRACE_NONE || right.kind == PYTRACE_NONE;
        if (is_outside && !is_none) {
            is_known = false;
            *out = left.kind == PYTRACE_OUTSIDE ? left : right;
        } else {
            HONE_TRY(refuse_drawn(p, where, &left, &right));
            HONE_TRY(relate(p, where, r, &left, &right, &one));
        }
        holds = holds && one;
        left = right;
    }
    if (is_known || !holds) *out = PYTRACE_OF_BOOL(holds);
    return HONE_OK;
}

/* ---- logic ---- */

static hone_status read_not(pytrace *p, pytrace_value *out) {
    bool is_true;
    pytrace_skip_space(p);
    const char *where = p->at;
    if (!pytrace_accept_word(p, "not")) return read_comparison(p, out);
    if (++p->depth > PYTRACE_MAX_DEPTH) return pytrace_fail(p, "nested too deeply");
    HONE_TRY(read_not(p, out));
    p->depth--;
    HONE_TRY(pytrace_truth(p, where, out, &is_true));
    *out = PYTRACE_OF_BOOL(!is_true);
    return HONE_OK;
}

static hone_status read_and(pytrace *p, pytrace_value *out) {
    pytrace_skip_space(p);
    const char *where = p->at;
    HONE_TRY(read_not(p, out));
    while (pytrace_accept_word(p, "and")) {
        bool is_true;
        HONE_TRY(pytrace_truth(p, where, out, &is_true));
        pytrace_skip_space(p);
        where = p->at;
        if (is_true) {
            HONE_TRY(read_not(p, out));
        } else {
            p->at = pytrace_scan(p, and_ends);
        }
    }
    return HONE_OK;
}

hone_status pytrace_read_or(pytrace *p, pytrace_value *out) {
    pytrace_skip_space(p);
    const char *where = p->at;
    HONE_TRY(read_and(p, out));
    while (pytrace_accept_word(p, "or")) {
        bool is_true;
        HONE_TRY(pytrace_truth(p, where, out, &is_true));
        pytrace_skip_space(p);
        where = p->at;
        if (is_true) {
            p->at = pytrace_scan(p, or_ends);
        } else {
            HONE_TRY(read_and(p, out));
        }
    }
    return HONE_OK;
}

/* "a if c else b", of which choice is the "if". */
static hone_status read_choice(pytrace *p, const char *choice, pytrace_value *out) {
    static const char *const choice_ends[] = {"for", NULL};
    const char *first = p->at;
    bool holds;
    pytrace_value condition;
    p->at = choice + 2;
    pytrace_skip_space(p);
    const char *where = p->at;
    HONE_TRY(pytrace_read_or(p, &condition));
    HONE_TRY(pytrace_truth(p, where, &condition, &holds));
    if (!pytrace_accept_word(p, "else")) return pytrace_fail(p, "expected 'else'");
    if (!holds) return pytrace_read_value(p, out);
    const char *otherwise = p->at;
    p->at = first;
    HONE_TRY(pytrace_read_or(p, out));
    pytrace_skip_space(p);
    if (p->at != choice) return pytrace_fail(p, "expected 'if'");
    p->at = otherwise;
    p->at = pytrace_scan(p, choice_ends); /* past "b", or "b if d else e" */
    return HONE_OK;
}

hone_status pytrace_read_value(pytrace *p, pytrace_value *out) {
    pytrace_skip_space(p);
    if (++p->depth > PYTRACE_MAX_DEPTH) return pytrace_fail(p, "nested too deeply");
    pytrace ahead = *p;
    ahead.at = pytrace_scan(p, choice_words);
    hone_status st = pytrace_starts_with_word(&ahead, "if") ? read_choice(p, ahead.at, out)
                                                            : pytrace_read_or(p, out);
    p->depth--;
    return st;
}

hone_status pytrace_read_values(pytrace *p, pytrace_value *out) {
    pytrace_value list;
    HONE_TRY(pytrace_read_value(p, out));
    pytrace_skip_space(p);
    if (pytrace_peek(p) != ',') return HONE_OK;
    HONE_TRY(pytrace_new_list(p, PYTRACE_LIST, &list));
    HONE_TRY(pytrace_push(p, &list, out));
    while (pytrace_accept(p, ',')) {
        pytrace_skip_space(p);
        char c = pytrace_peek(p);
        if (p->at == p->end || c == '\n' || c == ';' || c == '#' || c == ':' || c == '=') break;
        HONE_TRY(pytrace_read_value(p, out));
        HONE_TRY(pytrace_push(p, &list, out));
    }
    *out = pytrace_tuple_of(&list);
    return HONE_OK;
}
