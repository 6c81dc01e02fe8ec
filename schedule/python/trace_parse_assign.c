#include <string.h>

#include "schedule/python/trace_parse_impl.h"
#include "schedule/trace/trace_args.h"

/* Assignments in the Python form of traces: a = …, a, (b, *c) = …, a[0] = …, a += …, a = b = …, and
 * values that stand alone. */

enum { MAX_TARGETS = 256 };

/* ---- targets ---- */

static hone_status assign_list(pytrace *p, const char *stop, const char *where,
                               const pytrace_value *value);

static hone_status assign_item(pytrace *p, pytrace_value *list, const pytrace_value *value) {
    for (;;) {
        const char *where = p->at;
        pytrace_value index;
        pytrace ahead = *p;
        pytrace_skip_brackets(&ahead);
        pytrace_skip_blanks(&ahead);
        if (pytrace_peek(&ahead) == '[') { /* not yet the last */
            HONE_TRY(pytrace_read_index(p, list));
            continue;
        }
        pytrace_open(p, '[');
        HONE_TRY(pytrace_read_value(p, &index));
        if (!pytrace_close(p, ']')) return pytrace_fail(p, "expected ']'");
        if (list->kind == PYTRACE_DICT) return pytrace_put(p, list, &index, value);
        if (list->kind != PYTRACE_LIST || !pytrace_is_int(&index)) {
            return pytrace_fail_at(p, where, "no item of this can be set");
        }
        int64_t n = index.u.i < 0 ? index.u.i + list->u.list->count : index.u.i;
        if (n < 0 || n >= list->u.list->count) {
            return pytrace_fail_at(p, where, "the index is out of range");
        }
        list->u.list->items[n] = *value;
        return HONE_OK;
    }
}

static hone_status assign_one(pytrace *p, const char *where, const pytrace_value *value) {
    pytrace_skip_space(p);
    const char *start = p->at;
    if (pytrace_accept(p, '(')) return assign_list(p, ")", where, value);
    if (pytrace_accept(p, '[')) return assign_list(p, "]", where, value);
    const char *name = pytrace_read_name(p);
    if (!name) return pytrace_fail(p, "expected a name");
    pytrace_skip_space(p);
    const pytrace_value *known = pytrace_find(p, name);
    if (pytrace_peek(p) == '[') {
        if (!known) return pytrace_fail_about(p, start, "undefined name ", name, "");
        pytrace_value list = *known;
        return assign_item(p, &list, value);
    }
    if (pytrace_peek(p) == '.') {
        if (known && known->kind == PYTRACE_OUTSIDE) {
            p->at = pytrace_scan(p, NULL);
            return HONE_OK;
        }
        return pytrace_fail_at(p, start, "attributes cannot be set");
    }
    bool is_in_place =
        value->kind == PYTRACE_NONE && known && known->kind == PYTRACE_SCHEDULE; /* sch = f(sch) */
    return is_in_place ? HONE_OK : pytrace_bind(p, name, value);
}

typedef struct targets {
    uint32_t count, star; /* MAX_TARGETS: none has one */
    bool has_comma;
    const char *at[MAX_TARGETS];
} targets;

static bool ends_targets(const pytrace *p, const char *stop) {
    return p->at == p->end ||
           (strlen(stop) > 1 ? pytrace_starts_with_word(p, stop) : pytrace_peek(p) == *stop);
}

/* Where each begins; the cursor is then at stop. */
static hone_status find_targets(pytrace *p, const char *stop, targets *out) {
    static const char *const in[] = {"in", NULL};
    *out = (targets){.star = MAX_TARGETS};
    for (;;) {
        pytrace_skip_space(p);
        if (ends_targets(p, stop)) break;
        if (out->count == MAX_TARGETS) return pytrace_fail(p, "too many names");
        if (pytrace_accept(p, '*')) out->star = out->count;
        out->at[out->count++] = p->at;
        p->at = pytrace_scan(p, in);
        if (pytrace_accept(p, ':')) p->at = pytrace_scan(p, in); /* an annotation */
        if (!pytrace_accept(p, ',')) break;
        out->has_comma = true;
    }
    pytrace_skip_space(p);
    if (out->count && ends_targets(p, stop) && p->at < p->end) return HONE_OK;
    if (strlen(stop) > 1) return pytrace_fail_about(p, p->at, "expected ", stop, "");
    return pytrace_fail(p, "expected a name to give the value to");
}

static hone_status count_mismatch(pytrace *p, const char *where, uint32_t names, uint32_t values) {
    const char *text = hone_arena_printf(p->arena, "%u names for %u values", names, values);
    return text ? pytrace_fail_at(p, where, text) : pytrace_no_memory();
}

static hone_status spread(pytrace *p, const targets *t, const char *where,
                          const pytrace_value *value) {
    const pytrace_value *items;
    uint32_t count;
    if (!pytrace_items(value, &items, &count)) {
        return pytrace_fail_at(p, where, "expected a list, one value for each name");
    }
    bool has_star = t->star < t->count;
    if (has_star ? count + 1 < t->count : count != t->count) {
        return count_mismatch(p, where, t->count, count);
    }
    uint32_t taken = 0, rest = has_star ? count + 1 - t->count : 0;
    for (uint32_t i = 0; i < t->count; i++) {
        pytrace_value list;
        p->at = t->at[i];
        if (i != t->star) {
            HONE_TRY(assign_one(p, where, &items[taken++]));
            continue;
        }
        HONE_TRY(pytrace_new_list(p, PYTRACE_LIST, &list));
        for (uint32_t k = 0; k < rest; k++)
            HONE_TRY(pytrace_push(p, &list, &items[taken++]));
        HONE_TRY(assign_one(p, where, &list));
    }
    return HONE_OK;
}

/* The cursor is behind stop in the end when it is a bracket, else at it. */
static hone_status assign_list(pytrace *p, const char *stop, const char *where,
                               const pytrace_value *value) {
    bool is_bracket = *stop == ')' || *stop == ']';
    targets *t = hone_arena_alloc(p->arena, sizeof *t);
    if (!t) return pytrace_no_memory();
    if (++p->depth > PYTRACE_MAX_DEPTH) return pytrace_fail(p, "nested too deeply");
    p->open += is_bracket;
    HONE_TRY(find_targets(p, stop, t));
    const char *end = p->at;
    bool is_one = t->count == 1 && !t->has_comma && t->star == MAX_TARGETS && *stop != ']';
    p->at = t->at[0];
    HONE_TRY(is_one ? assign_one(p, where, value) : spread(p, t, where, value));
    p->at = end + is_bracket;
    p->open -= is_bracket;
    p->depth--;
    return HONE_OK;
}

void pytrace_skip_targets(pytrace *p) {
    static const char *const in[] = {"in", NULL};
    do {
        pytrace_accept(p, ',');
        p->at = pytrace_scan(p, in);
    } while (pytrace_peek(p) == ',');
}

hone_status pytrace_assign(pytrace *p, const char *stop, const char *where,
                           const pytrace_value *value) {
    return assign_list(p, stop, where, value);
}

/* ---- what is assigned ---- */

/* How many results a step shall give that stands behind these targets. */
static hone_status count_names(pytrace *p, const char *names, uint32_t *out) {
    targets *t = hone_arena_alloc(p->arena, sizeof *t);
    pytrace ahead = *p;
    if (!t) return pytrace_no_memory();
    ahead.at = names;
    HONE_TRY(find_targets(&ahead, "=", t));
    bool is_bracket = t->count == 1 && !t->has_comma && (*t->at[0] == '(' || *t->at[0] == '[');
    if (is_bracket) {
        const char *stop = *t->at[0] == '(' ? ")" : "]";
        ahead.at = t->at[0] + 1;
        ahead.open++;
        HONE_TRY(find_targets(&ahead, stop, t));
    }
    bool is_one = t->count == 1 && !t->has_comma;
    *out = is_one || t->star != MAX_TARGETS ? PYTRACE_ONE_VALUE : t->count;
    return HONE_OK;
}

/* Is the call at the cursor a step, and all of the statement or of what is right of the "="? */
static bool is_at_step(const pytrace *p) {
    pytrace ahead = *p;
    hone_inst_kind kind;
    const char *name = pytrace_read_name(&ahead);
    const pytrace_value *schedule = name ? pytrace_find(p, name) : NULL;
    bool is_member = schedule && schedule->kind == PYTRACE_SCHEDULE &&
                     schedule->epoch == p->epoch && pytrace_peek(&ahead) == '.' &&
                     pytrace_call_ends_line(p);
    if (!is_member) return false;
    ahead.at++;
    const char *method = pytrace_read_name(&ahead);
    return method && pytrace_peek(&ahead) == '(' && hone_inst_find_python(method, &kind);
}

/* wanted: how many results a step shall give. */
static hone_status read_right(pytrace *p, uint32_t wanted, pytrace_value *out) {
    if (!is_at_step(p)) return pytrace_read_values(p, out);
    while (pytrace_peek(p) != '.')
        p->at++;
    p->at++;
    return pytrace_read_call(p, wanted, out);
}

/* The operator of "+=" and the like just before the '='; zero for "=". */
static char operator_before(const char *start, const char *equals, const char **out_end) {
    char c = equals > start ? equals[-1] : '\0', before = equals - start > 1 ? equals[-2] : '\0';
    bool is_double = before == c && (c == '/' || c == '*');
    *out_end = equals;
    if (!c || !strchr("+-*/%&|", c)) return '\0';
    *out_end = equals - 1 - is_double;
    if (c == '/') return is_double ? '/' : ':';
    return c == '*' && is_double ? '^' : c;
}

/* target op= value */
static hone_status update(pytrace *p, const char *target, const char *target_end, char op) {
    pytrace_value left, value;
    const char *end = p->end, *right = p->at;
    p->at = target;
    p->end = target_end;
    hone_status st = pytrace_read_primary(p, &left);
    pytrace_skip_blanks(p);
    if (!st && p->at != target_end) st = pytrace_fail(p, "expected one name");
    p->end = end;
    HONE_TRY(st);
    p->at = right;
    HONE_TRY(pytrace_read_values(p, &value));
    const char *behind = p->at;
    if (op == '+' && left.kind == PYTRACE_LIST) { /* whoever holds the list sees it */
        return pytrace_extend(p, right, &left, &value);
    }
    HONE_TRY(pytrace_compute(p, target, op, &value, &left));
    p->at = target;
    HONE_TRY(assign_one(p, right, &left));
    p->at = behind;
    return HONE_OK;
}

/* The "=" of the statement at the cursor; NULL when there is none. */
static const char *find_equals(const pytrace *p) {
    pytrace ahead = *p;
    for (;;) {
        ahead.at = pytrace_scan(&ahead, NULL);
        char c = pytrace_peek(&ahead);
        if (ahead.at < ahead.end && c == '=') return ahead.at;
        if (ahead.at >= ahead.end || (c != ',' && c != ':')) return NULL;
        ahead.at++;
    }
}

/* a = b = value: the last first, then its value. */
static hone_status read_chain(pytrace *p, const char *next, pytrace_value *out) {
    const char *right = p->at, *end = p->end;
    if (++p->depth > PYTRACE_MAX_DEPTH) return pytrace_fail(p, "nested too deeply");
    HONE_TRY(pytrace_read_assignment(p));
    p->depth--;
    const char *behind = p->at;
    p->at = right;
    p->end = next;
    hone_status st = pytrace_read_values(p, out);
    p->end = end;
    p->at = behind;
    return st;
}

hone_status pytrace_read_assignment(pytrace *p) {
    const char *start = p->at, *equals = find_equals(p), *target_end;
    pytrace_value value;
    uint32_t wanted;
    if (!equals) {
        HONE_TRY(read_right(p, PYTRACE_IGNORED, &value));
        return pytrace_refuse_strange(p, start, &value);
    }
    char op = operator_before(start, equals, &target_end);
    if (!op) HONE_TRY(count_names(p, start, &wanted));
    p->at = equals + 1;
    pytrace_skip_blanks(p);
    const char *right = p->at, *next = find_equals(p);
    if (op) return update(p, start, target_end, op);
    HONE_TRY(next ? read_chain(p, next, &value) : read_right(p, wanted, &value));
    const char *behind = p->at;
    p->at = start;
    HONE_TRY(pytrace_assign(p, "=", right, &value));
    p->at = behind;
    return HONE_OK;
}
