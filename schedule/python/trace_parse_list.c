#include "ir/core/grow.h"
#include "schedule/python/trace_parse_impl.h"

/* Lists, tuples, dictionaries, comprehensions and indices in the Python form of traces. */

/* ---- comprehensions ---- */

typedef struct comprehension {
    const char *item, *end; /* the text that makes one item; behind all */
    bool has_keys;
    pytrace_value *out;
} comprehension;

static hone_status read_clauses(pytrace *p, comprehension *c);

static hone_status make_item(pytrace *p, comprehension *c) {
    pytrace_value key, item;
    p->at = c->item;
    HONE_TRY(pytrace_read_value(p, c->has_keys ? &key : &item));
    if (!c->has_keys) return pytrace_push(p, c->out, &item);
    if (!pytrace_accept(p, ':')) return pytrace_fail(p, "expected ':'");
    HONE_TRY(pytrace_read_value(p, &item));
    return pytrace_put(p, c->out, &key, &item);
}

/* The rest of the clauses, when nobody reads them. */
static void skip_clauses(pytrace *p, comprehension *c) {
    static const char *const clauses[] = {"for", "if", NULL};
    for (;;) {
        p->at = pytrace_scan(p, clauses);
        if (pytrace_accept_word(p, "for")) {
            pytrace_skip_targets(p);
        } else if (!pytrace_accept_word(p, "if")) {
            break;
        }
    }
    c->end = p->at;
}

/* "for x in xs", with what follows it for each. */
static hone_status read_for_clause(pytrace *p, comprehension *c) {
    const char *targets = p->at, *where;
    pytrace_value list;
    const pytrace_value *items;
    uint32_t count;
    pytrace_skip_targets(p);
    if (!pytrace_accept_word(p, "in")) return pytrace_fail(p, "expected 'in'");
    pytrace_skip_space(p);
    where = p->at;
    HONE_TRY(pytrace_read_or(p, &list));
    HONE_TRY(pytrace_iterate(p, where, &list, &items, &count));
    const char *behind = p->at;
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(pytrace_count_turn(p, targets));
        p->at = targets;
        HONE_TRY(pytrace_assign(p, "in", where, &items[i]));
        p->at = behind;
        HONE_TRY(read_clauses(p, c));
    }
    if (!count) skip_clauses(p, c);
    return HONE_OK;
}

static hone_status read_clauses(pytrace *p, comprehension *c) {
    if (++p->depth > PYTRACE_MAX_DEPTH) return pytrace_fail(p, "nested too deeply");
    hone_status st = HONE_OK;
    if (pytrace_accept_word(p, "for")) {
        st = read_for_clause(p, c);
    } else if (pytrace_accept_word(p, "if")) {
        bool holds = false;
        pytrace_value condition;
        pytrace_skip_space(p);
        const char *where = p->at;
        st = pytrace_read_or(p, &condition);
        if (!st) st = pytrace_truth(p, where, &condition, &holds);
        if (!st && holds) st = read_clauses(p, c);
        if (!st && !holds) skip_clauses(p, c);
    } else {
        c->end = p->at;
        st = make_item(p, c);
    }
    p->depth--;
    return st;
}

/* With names of its own. */
static hone_status run_comprehension(pytrace *p, comprehension *c, const char *clauses) {
    pytrace_scope *outer = p->scope;
    p->scope = pytrace_new_scope(p, outer);
    hone_status st = p->scope ? HONE_OK : pytrace_no_memory();
    p->at = clauses;
    if (!st) st = read_clauses(p, c);
    p->scope = outer;
    p->at = c->end;
    return st;
}

hone_status pytrace_read_comprehension(pytrace *p, pytrace_value *out, bool *out_is_one) {
    static const char *const words[] = {"for", NULL};
    pytrace ahead = *p;
    pytrace_skip_space(p);
    comprehension c = {.item = p->at, .end = p->at, .out = out};
    ahead.at = pytrace_scan(p, words);
    *out_is_one = pytrace_starts_with_word(&ahead, "for");
    if (!*out_is_one) return HONE_OK;
    HONE_TRY(pytrace_new_list(p, PYTRACE_LIST, out));
    return run_comprehension(p, &c, ahead.at);
}

static hone_status read_dict_comprehension(pytrace *p, pytrace_value *out, bool *out_is_one) {
    static const char *const words[] = {"for", NULL};
    pytrace ahead = *p;
    comprehension c = {.item = p->at, .end = p->at, .has_keys = true, .out = out};
    ahead.at = pytrace_scan(&ahead, NULL);
    *out_is_one = false;
    if (pytrace_peek(&ahead) != ':') return HONE_OK;
    ahead.at++;
    ahead.at = pytrace_scan(&ahead, words);
    *out_is_one = pytrace_starts_with_word(&ahead, "for");
    return *out_is_one ? run_comprehension(p, &c, ahead.at) : HONE_OK;
}

/* ---- what stands in brackets ---- */

hone_status pytrace_read_item(pytrace *p, pytrace_value *list) {
    pytrace_value item;
    bool is_all = pytrace_accept(p, '*');
    pytrace_skip_space(p);
    const char *where = p->at;
    HONE_TRY(pytrace_read_value(p, &item));
    return is_all ? pytrace_extend(p, where, list, &item) : pytrace_push(p, list, &item);
}

static hone_status read_items(pytrace *p, char closing, pytrace_value *out) {
    bool has_comma = false, is_one = false;
    HONE_TRY(pytrace_read_comprehension(p, out, &is_one));
    if (is_one) {
        if (pytrace_close(p, closing)) return HONE_OK;
        return pytrace_fail(p, "expected the end of the comprehension");
    }
    HONE_TRY(pytrace_new_list(p, PYTRACE_LIST, out));
    while (!pytrace_close(p, closing)) {
        pytrace_skip_space(p);
        bool is_all = pytrace_peek(p) == '*';
        HONE_TRY(pytrace_read_item(p, out));
        pytrace_skip_space(p);
        has_comma = has_comma || is_all || pytrace_peek(p) == ',';
        HONE_TRY(pytrace_next_item(p, closing));
    }
    if (closing != ')') return HONE_OK;
    bool is_bracketed = out->u.list->count == 1 && !has_comma;
    *out = is_bracketed ? out->u.list->items[0] : pytrace_tuple_of(out);
    return HONE_OK;
}

static hone_status read_dict(pytrace *p, pytrace_value *out) {
    bool is_one = false;
    HONE_TRY(pytrace_new_list(p, PYTRACE_DICT, out));
    pytrace_skip_space(p);
    HONE_TRY(read_dict_comprehension(p, out, &is_one));
    while (!pytrace_close(p, '}')) {
        pytrace_value key, item;
        if (is_one) return pytrace_fail(p, "expected the end of the comprehension");
        HONE_TRY(pytrace_read_value(p, &key));
        pytrace_skip_space(p);
        if (pytrace_peek(p) != ':' && !out->u.list->count) { /* {1, 2}: a set, kept as a list */
            HONE_TRY(pytrace_next_item(p, '}'));
            HONE_TRY(read_items(p, '}', out));
            return pytrace_push(p, out, &key);
        }
        if (!pytrace_accept(p, ':')) return pytrace_fail(p, "expected ':'");
        HONE_TRY(pytrace_read_value(p, &item));
        HONE_TRY(pytrace_put(p, out, &key, &item));
        HONE_TRY(pytrace_next_item(p, '}'));
    }
    return HONE_OK;
}

hone_status pytrace_read_brackets(pytrace *p, pytrace_value *out) {
    if (pytrace_open(p, '[')) return read_items(p, ']', out);
    if (pytrace_open(p, '(')) return read_items(p, ')', out);
    return pytrace_open(p, '{') ? read_dict(p, out) : pytrace_fail(p, "expected a bracket");
}

/* ---- indices and slices ---- */

typedef struct slice {
    bool has[3]; /* [from:to:step] */
    int64_t n[3];
    uint32_t colons;
} slice;

static hone_status read_slice(pytrace *p, const char *where, slice *out) {
    *out = (slice){
        .n = {0, 0, 1}
    };
    for (;;) {
        pytrace_skip_space(p);
        if (pytrace_close(p, ']')) return HONE_OK;
        if (pytrace_accept(p, ':')) {
            if (++out->colons > 2) return pytrace_fail(p, "expected [from:to:step]");
            continue;
        }
        pytrace_value index;
        if (out->has[out->colons]) return pytrace_fail(p, "expected ']'");
        HONE_TRY(pytrace_read_value(p, &index));
        if (index.kind == PYTRACE_NONE) continue;
        if (!pytrace_is_int(&index)) return pytrace_fail_at(p, where, "the index is no number");
        out->has[out->colons] = true;
        out->n[out->colons] = index.u.i;
    }
}

/* Where in a list of count items; behind its ends it is the end. */
static int64_t clamp_place(const slice *s, uint32_t i, int64_t count) {
    bool is_back = s->n[2] < 0;
    if (!s->has[i]) return (i == 0) == is_back ? count - is_back : is_back ? -1 : 0;
    int64_t n = s->n[i] < 0 ? s->n[i] + count : s->n[i];
    int64_t lowest = is_back ? -1 : 0, highest = is_back ? count - 1 : count;
    return n < lowest ? lowest : n > highest ? highest : n;
}

static hone_status take_slice(pytrace *p, const char *where, const slice *s,
                              const pytrace_value *items, uint32_t count, pytrace_value *out) {
    int64_t step = s->n[2];
    if (!step || step > INT32_MAX || step < -INT32_MAX) {
        return pytrace_fail_at(p, where, "the step of the slice is out of range");
    }
    int64_t from = clamp_place(s, 0, count), to = clamp_place(s, 1, count);
    HONE_TRY(pytrace_new_list(p, PYTRACE_LIST, out));
    for (int64_t i = from; step > 0 ? i < to : i > to; i += step)
        HONE_TRY(pytrace_push(p, out, &items[i]));
    return HONE_OK;
}

static hone_status index_dict(pytrace *p, const char *where, pytrace_value *io) {
    pytrace_value key;
    HONE_TRY(pytrace_read_value(p, &key));
    if (!pytrace_close(p, ']')) return pytrace_fail(p, "expected ']'");
    const pytrace_value *item = pytrace_get(io, &key);
    if (!item) return pytrace_fail_at(p, where, "the dictionary has no such key");
    *io = *item;
    return HONE_OK;
}

/* What was cut out has the type of the whole. */
static hone_status give_back(pytrace *p, const char *where, pytrace_kind kind,
                             const pytrace_value *list, pytrace_value *out) {
    const pytrace_list *l = list->u.list;
    *out = *list;
    if (kind == PYTRACE_TUPLE) {
        *out = pytrace_tuple_of(list);
    } else if (kind == PYTRACE_STRING) {
        char *text = hone_arena_zalloc(p->arena, (size_t)l->count + 1);
        if (!text) return pytrace_no_memory();
        for (uint32_t i = 0; i < l->count; i++) {
            text[i] = *l->items[i].u.s;
            if (text[i] & 0x80) return pytrace_fail_at(p, where, "a part of a letter");
        }
        *out = PYTRACE_OF_STRING(text);
    }
    return HONE_OK;
}

hone_status pytrace_read_index(pytrace *p, pytrace_value *io) {
    const char *where = p->at;
    const pytrace_value *items;
    uint32_t count;
    slice s;
    pytrace_open(p, '[');
    pytrace_skip_space(p);
    if (pytrace_peek(p) == ']') return pytrace_fail(p, "the index is missing");
    if (io->kind == PYTRACE_DICT) return index_dict(p, where, io);
    pytrace_kind kind = io->kind;
    if (kind != PYTRACE_STRING && !pytrace_items(io, &items, &count)) {
        return pytrace_fail_at(p, where, "this has no items");
    }
    HONE_TRY(pytrace_iterate(p, where, io, &items, &count));
    HONE_TRY(read_slice(p, where, &s));
    if (s.colons) {
        pytrace_value part;
        HONE_TRY(take_slice(p, where, &s, items, count, &part));
        return give_back(p, where, kind, &part, io);
    }
    int64_t n = s.n[0] < 0 ? s.n[0] + count : s.n[0];
    if (!s.has[0]) return pytrace_fail_at(p, where, "the index is no number");
    if (n < 0 || n >= count) {
        const char *text =
            hone_arena_printf(p->arena, "index %lld of %lld item%s", (long long)s.n[0],
                              (long long)count, count == 1 ? "" : "s");
        return text ? pytrace_fail_at(p, where, text) : pytrace_no_memory();
    }
    *io = items[n];
    return HONE_OK;
}
