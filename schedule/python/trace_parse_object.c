#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/core/grow.h"
#include "schedule/python/trace_parse_impl.h"
#include "schedule/trace/trace_args.h"
#include "support/strbuf.h"

/* Values of the Python form of traces: what they hold, and what becomes of them in a step. */

/* ---- lists ---- */

hone_status pytrace_new_list(pytrace *p, pytrace_kind kind, pytrace_value *out) {
    *out = (pytrace_value){.kind = kind};
    out->u.list = hone_arena_zalloc(p->arena, sizeof *out->u.list);
    return out->u.list ? HONE_OK : pytrace_no_memory();
}

static hone_status make_room(pytrace *p, pytrace_list *list, bool has_keys) {
    uint32_t capacity = list->capacity;
    if (list->count >= PYTRACE_MAX_ITEMS) return pytrace_fail(p, "the list is too long");
    if (has_keys &&
        !hone_grow(p->arena, (void **)&list->keys, &capacity, list->count, sizeof *list->keys)) {
        return pytrace_no_memory();
    }
    bool has_room = hone_grow(p->arena, (void **)&list->items, &list->capacity, list->count,
                              sizeof *list->items);
    return has_room ? HONE_OK : pytrace_no_memory();
}

hone_status pytrace_push(pytrace *p, pytrace_value *list, const pytrace_value *item) {
    const pytrace_value copy = *item;
    HONE_TRY(make_room(p, list->u.list, false));
    list->u.list->items[list->u.list->count++] = copy;
    return HONE_OK;
}

static uint32_t find_key(const pytrace_value *dict, const pytrace_value *key) {
    uint32_t i = 0;
    while (i < dict->u.list->count && !pytrace_is_same(&dict->u.list->keys[i], key))
        i++;
    return i;
}

hone_status pytrace_put(pytrace *p, pytrace_value *dict, const pytrace_value *key,
                        const pytrace_value *item) {
    pytrace_list *list = dict->u.list;
    const pytrace_value copy = *item, key_copy = *key;
    uint32_t i = find_key(dict, key);
    if (i == list->count) {
        HONE_TRY(make_room(p, list, true));
        list->keys[list->count++] = key_copy;
    }
    list->items[i] = copy;
    return HONE_OK;
}

const pytrace_value *pytrace_get(const pytrace_value *dict, const pytrace_value *key) {
    uint32_t i = find_key(dict, key);
    return i < dict->u.list->count ? &dict->u.list->items[i] : NULL;
}

bool pytrace_items(const pytrace_value *v, const pytrace_value **out_items, uint32_t *out_count) {
    *out_items = NULL;
    *out_count = 0;
    if (v->kind == PYTRACE_TUPLE) {
        *out_items = v->u.items;
        *out_count = v->count;
        return true;
    }
    if (v->kind != PYTRACE_LIST && v->kind != PYTRACE_DICT) return false;
    *out_items = v->kind == PYTRACE_LIST ? v->u.list->items : v->u.list->keys;
    *out_count = v->u.list->count;
    return true;
}

static hone_status iterate_text(pytrace *p, const char *where, const char *text,
                                const pytrace_value **out_items, uint32_t *out_count) {
    size_t length = strlen(text);
    if (length > PYTRACE_MAX_ITEMS) return pytrace_fail_at(p, where, "the string is too long");
    pytrace_value *items = hone_arena_alloc(p->arena, (length + 1) * sizeof *items);
    for (size_t i = 0; items && i < length; i++) {
        items[i] = PYTRACE_OF_STRING(hone_arena_strndup(p->arena, text + i, 1));
        if (!items[i].u.s) return pytrace_no_memory();
    }
    *out_items = items;
    *out_count = (uint32_t)length;
    return items ? HONE_OK : pytrace_no_memory();
}

hone_status pytrace_iterate(pytrace *p, const char *where, const pytrace_value *v,
                            const pytrace_value **out_items, uint32_t *out_count) {
    if (pytrace_items(v, out_items, out_count)) return HONE_OK;
    if (v->kind == PYTRACE_STRING) return iterate_text(p, where, v->u.s, out_items, out_count);
    if (v->kind == PYTRACE_OUTSIDE) {
        return pytrace_fail_about(p, where, "expected a list; what is in ", v->u.s,
                                  " is not known here");
    }
    return pytrace_fail_at(p, where, "expected a list");
}

hone_status pytrace_extend(pytrace *p, const char *where, pytrace_value *list,
                           const pytrace_value *from) {
    const pytrace_value *items;
    uint32_t count;
    HONE_TRY(pytrace_iterate(p, where, from, &items, &count));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(pytrace_push(p, list, &items[i]));
    return HONE_OK;
}

hone_status pytrace_tuple(pytrace *p, const pytrace_value *items, uint32_t count,
                          pytrace_value *out) {
    if (count == 1) {
        *out = items[0];
        return HONE_OK;
    }
    pytrace_value *copy = hone_arena_alloc(p->arena, (count + 1) * sizeof *copy);
    if (!copy) return pytrace_no_memory();
    if (count) memcpy(copy, items, count * sizeof *copy);
    *out = (pytrace_value){.kind = PYTRACE_TUPLE, .count = count, .u.items = copy};
    return HONE_OK;
}

pytrace_value pytrace_tuple_of(const pytrace_value *list) {
    const pytrace_list *l = list->u.list;
    return (pytrace_value){.kind = PYTRACE_TUPLE, .count = l->count, .u.items = l->items};
}

/* ---- what they are ---- */

bool pytrace_is_int(const pytrace_value *v) {
    return v->kind == PYTRACE_INT || v->kind == PYTRACE_BOOL;
}

bool pytrace_is_number(const pytrace_value *v) {
    return pytrace_is_int(v) || v->kind == PYTRACE_FLOAT;
}

double pytrace_number_of(const pytrace_value *v) {
    return v->kind == PYTRACE_FLOAT ? v->u.f : (double)v->u.i;
}

bool pytrace_compare(const pytrace_value *a, const pytrace_value *b, int *out) {
    if (a->kind == PYTRACE_STRING && b->kind == PYTRACE_STRING) {
        *out = strcmp(a->u.s, b->u.s);
        return true;
    }
    if (!pytrace_is_number(a) || !pytrace_is_number(b)) return false;
    if (pytrace_is_int(a) && pytrace_is_int(b)) {
        *out = (a->u.i > b->u.i) - (a->u.i < b->u.i);
    } else {
        double x = pytrace_number_of(a), y = pytrace_number_of(b);
        *out = (x > y) - (x < y);
    }
    return true;
}

static bool is_same(const pytrace_value *a, const pytrace_value *b, uint32_t depth);

static bool holds_same(const pytrace_value *a, const pytrace_value *b, uint32_t depth) {
    const pytrace_value *x, *y;
    uint32_t n, m;
    if (depth > PYTRACE_MAX_DEPTH || a->kind != b->kind) return false;
    if (!pytrace_items(a, &x, &n) || !pytrace_items(b, &y, &m) || n != m) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (a->kind == PYTRACE_DICT) {
            const pytrace_value *other = pytrace_get(b, &x[i]);
            if (!other || !is_same(&a->u.list->items[i], other, depth + 1)) return false;
        } else if (!is_same(&x[i], &y[i], depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool is_same(const pytrace_value *a, const pytrace_value *b, uint32_t depth) {
    int order = 0;
    if (pytrace_is_number(a)) return pytrace_compare(a, b, &order) && order == 0;
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case PYTRACE_NONE:
        return true;
    case PYTRACE_STRING:
        return strcmp(a->u.s, b->u.s) == 0;
    case PYTRACE_RV:
        return a->u.rv == b->u.rv && a->epoch == b->epoch;
    case PYTRACE_SCHEDULE:
        return a->epoch == b->epoch;
    case PYTRACE_MAP:
        return a->u.map == b->u.map;
    case PYTRACE_FUNC:
        return a->u.func == b->u.func;
    case PYTRACE_VIEW:
        return a->u.list == b->u.list;
    default:
        return holds_same(a, b, depth);
    }
}

bool pytrace_is_same(const pytrace_value *a, const pytrace_value *b) {
    return is_same(a, b, 0);
}

static bool is_drawn(const pytrace *p, const pytrace_value *v) {
    return v->kind == PYTRACE_RV && v->epoch == p->epoch && v->u.rv < p->trace->rv_count &&
           p->trace->rv_kinds[v->u.rv] == HONE_RV_INT;
}

hone_status pytrace_truth(pytrace *p, const char *where, const pytrace_value *v, bool *out) {
    const pytrace_value *items;
    uint32_t count = 0;
    *out = true;
    if (is_drawn(p, v)) {
        return pytrace_fail_at(p, where,
                               "this is drawn only when the schedule is applied; what follows "
                               "cannot depend on it");
    }
    if (v->kind == PYTRACE_OUTSIDE) {
        return pytrace_fail_about(p, where, "what ", v->u.s, " is, is not known here");
    }
    if (v->kind == PYTRACE_NONE) *out = false;
    if (pytrace_is_int(v)) *out = v->u.i != 0;
    if (v->kind == PYTRACE_FLOAT) *out = v->u.f < 0 || v->u.f > 0;
    if (v->kind == PYTRACE_STRING) *out = *v->u.s != '\0';
    if (pytrace_items(v, &items, &count)) *out = count != 0;
    return HONE_OK;
}

static bool is_of_schedule(const pytrace_value *v, uint32_t depth) {
    const pytrace_value *items;
    uint32_t count;
    if (v->kind == PYTRACE_RV || v->kind == PYTRACE_SCHEDULE) return true;
    if (depth > PYTRACE_MAX_DEPTH || !pytrace_items(v, &items, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (is_of_schedule(&items[i], depth + 1)) return true;
        if (v->kind == PYTRACE_DICT && is_of_schedule(&v->u.list->items[i], depth + 1)) return true;
    }
    return false;
}

bool pytrace_is_of_schedule(const pytrace_value *v) {
    return is_of_schedule(v, 0);
}

/* ---- as text ---- */

static void print_value(const pytrace_value *v, bool is_inside, uint32_t depth, hone_str *out);

static void print_items(const pytrace_value *v, uint32_t depth, hone_str *out) {
    const pytrace_value *items = NULL;
    uint32_t count = 0;
    pytrace_items(v, &items, &count);
    const char *marks = v->kind == PYTRACE_TUPLE ? "()" : v->kind == PYTRACE_LIST ? "[]" : "{}";
    hone_str_append_char(out, marks[0]);
    for (uint32_t i = 0; i < count && out->length < PYTRACE_MAX_TEXT; i++) {
        if (i) hone_str_append(out, ", ");
        print_value(&items[i], true, depth + 1, out);
        if (v->kind != PYTRACE_DICT) continue;
        hone_str_append(out, ": ");
        print_value(&v->u.list->items[i], true, depth + 1, out);
    }
    if (v->kind == PYTRACE_TUPLE && count == 1) hone_str_append_char(out, ',');
    hone_str_append_char(out, marks[1]);
}

/* The fewest digits that read back as the same number. */
static void print_float(double f, hone_str *out) {
    char text[40];
    double back = 0;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (sscanf(text, "%lf", &back) == 1 && !(back < f) && !(back > f)) break;
    }
    hone_str_append(out, text);
    if (!strpbrk(text, ".en")) hone_str_append(out, ".0");
}

static void print_value(const pytrace_value *v, bool is_inside, uint32_t depth, hone_str *out) {
    const pytrace_value *items;
    uint32_t count;
    if (depth > PYTRACE_MAX_DEPTH) {
        out->failed = true;
    } else if (pytrace_items(v, &items, &count)) {
        print_items(v, depth, out);
    } else if (v->kind == PYTRACE_NONE) {
        hone_str_append(out, "None");
    } else if (v->kind == PYTRACE_BOOL) {
        hone_str_append(out, v->u.i ? "True" : "False");
    } else if (v->kind == PYTRACE_INT) {
        hone_str_printf(out, "%" PRId64, v->u.i);
    } else if (v->kind == PYTRACE_FLOAT) {
        print_float(v->u.f, out);
    } else if (v->kind == PYTRACE_STRING && is_inside) {
        hone_str_printf(out, "'%s'", v->u.s);
    } else if (v->kind == PYTRACE_STRING) {
        hone_str_append(out, v->u.s);
    } else {
        out->failed = true;
    }
}

hone_status pytrace_text_of(pytrace *p, const char *where, const pytrace_value *v,
                            const char **out) {
    hone_str text = {0};
    print_value(v, false, 0, &text);
    bool has_text = !text.failed && text.length <= PYTRACE_MAX_TEXT;
    *out = has_text ? hone_arena_strndup(p->arena, hone_str_text(&text), text.length) : NULL;
    hone_str_deinit(&text);
    if (!has_text) return pytrace_fail_at(p, where, "this has no text that is known here");
    return *out ? HONE_OK : pytrace_no_memory();
}

/* ---- what a step takes ---- */

static hone_status to_operand(pytrace *p, const char *where, const pytrace_value *v, uint32_t depth,
                              hone_operand *out);

static hone_status plain_value(pytrace *p, hone_value value, hone_operand *out) {
    hone_value *copy = hone_arena_alloc(p->arena, sizeof *copy);
    if (!copy) return pytrace_no_memory();
    *copy = value;
    *out = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = copy};
    return HONE_OK;
}

static hone_status dict_operand(pytrace *p, const char *where, const pytrace_value *v,
                                uint32_t depth, hone_operand *out) {
    const pytrace_list *list = v->u.list;
    hone_attr *items = hone_arena_zalloc(p->arena, (list->count + 1) * sizeof *items);
    if (!items) return pytrace_no_memory();
    for (uint32_t i = 0; i < list->count; i++) {
        hone_operand item;
        const hone_operand *wrong;
        if (list->keys[i].kind != PYTRACE_STRING) {
            return pytrace_fail_at(p, where, "the key must be a string");
        }
        HONE_TRY(to_operand(p, where, &list->items[i], depth + 1, &item));
        items[i].key = list->keys[i].u.s;
        HONE_TRY(hone_operand_value(p->arena, &item, &items[i].value, &wrong));
        if (wrong) return pytrace_fail_at(p, where, "expected a plain value, not a variable");
    }
    return plain_value(
        p, (hone_value){.kind = HONE_VALUE_MAP, .count = list->count, .u.attrs = items}, out);
}

static hone_status list_operand(pytrace *p, const char *where, const pytrace_value *v,
                                uint32_t depth, hone_operand *out) {
    const pytrace_value *from = NULL;
    uint32_t count = 0;
    pytrace_items(v, &from, &count);
    hone_operand *items = hone_arena_alloc(p->arena, (count + 1) * sizeof *items);
    if (!items) return pytrace_no_memory();
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(to_operand(p, where, &from[i], depth + 1, &items[i]));
    *out = (hone_operand){.kind = HONE_OPERAND_LIST, .count = count, .u.items = items};
    return HONE_OK;
}

/* A variable, or a map that may have some. */
static hone_status rv_operand(pytrace *p, const char *where, const pytrace_value *v,
                              hone_operand *out) {
    bool has_variables = v->kind == PYTRACE_RV || v->u.map->free_count;
    if (has_variables && v->epoch != p->epoch) {
        return pytrace_fail_at(p, where, "this belongs to a schedule that was begun before");
    }
    *out = (hone_operand){.kind = HONE_OPERAND_RV, .u.rv = v->u.rv};
    if (v->kind == PYTRACE_MAP) {
        *out = (hone_operand){.kind = HONE_OPERAND_MAP, .u.map = v->u.map};
    }
    return HONE_OK;
}

static hone_status to_operand(pytrace *p, const char *where, const pytrace_value *v, uint32_t depth,
                              hone_operand *out) {
    if (depth > PYTRACE_MAX_DEPTH) return pytrace_fail_at(p, where, "nested too deeply");
    switch (v->kind) {
    case PYTRACE_NONE:
        *out = (hone_operand){.kind = HONE_OPERAND_NONE};
        return HONE_OK;
    case PYTRACE_BOOL:
        return plain_value(p, HONE_VALUE_OF_BOOL(v->u.i), out);
    case PYTRACE_INT:
        *out = (hone_operand){.kind = HONE_OPERAND_INT, .u.i = v->u.i};
        return HONE_OK;
    case PYTRACE_FLOAT:
        *out = (hone_operand){.kind = HONE_OPERAND_FLOAT, .u.f = v->u.f};
        return HONE_OK;
    case PYTRACE_STRING:
        *out = (hone_operand){.kind = HONE_OPERAND_STRING, .u.s = v->u.s};
        return HONE_OK;
    case PYTRACE_RV:
    case PYTRACE_MAP:
        return rv_operand(p, where, v, out);
    case PYTRACE_TUPLE:
    case PYTRACE_LIST:
        return list_operand(p, where, v, depth, out);
    case PYTRACE_DICT:
        return dict_operand(p, where, v, depth, out);
    case PYTRACE_OUTSIDE:
        return pytrace_fail_about(p, where, "", v->u.s, " is nothing that a step takes");
    case PYTRACE_FUNC:
        return pytrace_fail_about(p, where, "the function ", v->u.func->name,
                                  " is nothing that a step takes");
    case PYTRACE_SCHEDULE:
    case PYTRACE_VIEW:
        break;
    }
    return pytrace_fail_at(p, where,
                           v->kind == PYTRACE_VIEW
                               ? "what sch.get tells is nothing that a step takes; hand over what "
                                 "it was asked about"
                               : "a schedule is nothing that a step takes");
}

hone_status pytrace_to_operand(pytrace *p, const char *where, const pytrace_value *v,
                               hone_operand *out) {
    return to_operand(p, where, v, 0, out);
}
