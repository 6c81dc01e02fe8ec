/* ir/python/python_value.c - values of a text: what they hold, what names stand for them, what they
 * are as text; and what is said about them. */
#include <inttypes.h>
#include <string.h>

#include "ir/core/grow.h"
#include "ir/python/python_run.h"
#include "support/core/number.h"
#include "support/core/strbuf.h"

/* ---- errors ---- */

hone_status py_fail_at(const py_run *p, uint32_t at, const char *what) {
    return py_error_at_byte(p->source, HONE_CODE_INVALID, at, what);
}

hone_status py_fail_about(const py_run *p, uint32_t at, const char *what, const char *name,
                          const char *more) {
    const char *text = hone_arena_printf(p->arena, "%s'%s'%s", what, name, more);
    return text ? py_fail_at(p, at, text) : py_no_memory();
}

hone_status py_no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "values of a text");
}

hone_status py_descend(py_run *p, uint32_t at) {
    uint32_t most = p->host->max_depth ? p->host->max_depth : PY_MAX_DEPTH;
    if (++p->depth <= most) return HONE_OK;
    const char *text = hone_arena_printf(p->arena, "nested too deeply (more than %u levels)", most);
    return text ? py_fail_at(p, at, text) : py_no_memory();
}

/* ---- names ---- */

py_scope *py_new_scope(py_run *p, py_scope *outer) {
    py_scope *scope = hone_arena_zalloc(p->arena, sizeof *scope);
    if (!scope) return NULL;
    scope->outer = outer;
    scope->newest = outer ? outer->newest : NULL;
    scope->next = p->scopes;
    p->scopes = scope;
    return scope;
}

py_scope *py_open_scope(py_run *p, bool is_apart) {
    py_scope *outer = p->scope;
    p->scope = py_new_scope(p, is_apart ? NULL : outer);
    return outer;
}

hone_status py_run_begin(py_run *p) {
    p->scope = py_new_scope(p, NULL);
    return p->scope ? HONE_OK : py_no_memory();
}

void py_run_end(py_run *p) {
    for (py_scope *scope = p->scopes; scope; scope = scope->next)
        hone_strmap_deinit(&scope->names);
    p->scopes = NULL;
}

static py_name *find_in(const py_scope *scope, const char *name) {
    uint64_t found = 0;
    return hone_strmap_find(&scope->names, name, &found) ? (py_name *)(uintptr_t)found : NULL;
}

py_name *py_find_name(const py_run *p, const char *name) {
    py_name *known = NULL;
    for (const py_scope *scope = p->scope; scope && !known; scope = scope->outer)
        known = find_in(scope, name);
    return known;
}

const py_value *py_find(const py_run *p, const char *name) {
    const py_name *known = py_find_name(p, name);
    return known ? &known->value : NULL;
}

py_name *py_newest(const py_run *p) {
    return p->scope ? p->scope->newest : NULL;
}

hone_status py_hide(py_run *p, const char *name, const py_value *value) {
    py_name *hidden = py_find_name(p, name);
    py_name *made = p->scope ? hone_arena_alloc(p->arena, sizeof *made) : NULL;
    if (!made || !hone_strmap_put(&p->scope->names, name, (uintptr_t)made)) return py_no_memory();
    *made = (py_name){name, *value, p->scope->newest, hidden, ++p->name_count};
    p->scope->newest = made;
    return HONE_OK;
}

hone_status py_bind(py_run *p, const char *name, const py_value *value) {
    py_name *known = p->scope ? find_in(p->scope, name) : NULL;
    if (!known) return py_hide(p, name, value);
    known->value = *value;
    return HONE_OK;
}

/* ---- lists ---- */

hone_status py_new_list(py_run *p, pyv_kind kind, py_value *out) {
    *out = (py_value){.kind = kind};
    out->u.list = hone_arena_zalloc(p->arena, sizeof *out->u.list);
    return out->u.list ? HONE_OK : py_no_memory();
}

static hone_status make_room(py_run *p, uint32_t where, py_list *list, bool has_keys) {
    uint32_t capacity = list->capacity;
    uint32_t most = has_keys || !p->host->max_items ? PY_MAX_ITEMS : p->host->max_items;
    if (list->count >= most) return py_fail_at(p, where, "the list is too long");
    if (has_keys &&
        !hone_grow(p->arena, (void **)&list->keys, &capacity, list->count, sizeof *list->keys)) {
        return py_no_memory();
    }
    bool has_room = hone_grow(p->arena, (void **)&list->items, &list->capacity, list->count,
                              sizeof *list->items);
    return has_room ? HONE_OK : py_no_memory();
}

hone_status py_append(py_run *p, uint32_t where, py_value *list, const py_value *item) {
    const py_value copy = *item;
    HONE_TRY(make_room(p, where, list->u.list, false));
    list->u.list->items[list->u.list->count++] = copy;
    return HONE_OK;
}

static uint32_t find_key(const py_value *dict, const py_value *key) {
    uint32_t i = 0;
    while (i < dict->u.list->count && !py_is_same(&dict->u.list->keys[i], key))
        i++;
    return i;
}

hone_status py_put(py_run *p, uint32_t where, py_value *dict, const py_value *key,
                   const py_value *item) {
    py_list *list = dict->u.list;
    const py_value copy = *item, key_copy = *key;
    uint32_t i = find_key(dict, key);
    if (i == list->count) {
        HONE_TRY(make_room(p, where, list, true));
        list->keys[list->count++] = key_copy;
    }
    list->items[i] = copy;
    return HONE_OK;
}

const py_value *py_get(const py_value *dict, const py_value *key) {
    uint32_t i = find_key(dict, key);
    return i < dict->u.list->count ? &dict->u.list->items[i] : NULL;
}

bool py_items(const py_value *v, const py_value **out_items, uint32_t *out_count) {
    *out_items = NULL;
    *out_count = 0;
    if (v->kind == PYV_TUPLE) {
        *out_items = v->u.items;
        *out_count = v->count;
        return true;
    }
    if (v->kind != PYV_LIST && v->kind != PYV_DICT) return false;
    *out_items = v->kind == PYV_LIST ? v->u.list->items : v->u.list->keys;
    *out_count = v->u.list->count;
    return true;
}

static hone_status iterate_text(py_run *p, uint32_t where, const char *text,
                                const py_value **out_items, uint32_t *out_count) {
    size_t length = strlen(text);
    if (length > PY_MAX_ITEMS) return py_fail_at(p, where, "the string is too long");
    py_value *items = hone_arena_alloc(p->arena, (length + 1) * sizeof *items);
    for (size_t i = 0; items && i < length; i++) {
        items[i] = PYV_OF_STRING(hone_arena_strndup(p->arena, text + i, 1));
        if (!items[i].u.s) return py_no_memory();
    }
    *out_items = items;
    *out_count = (uint32_t)length;
    return items ? HONE_OK : py_no_memory();
}

hone_status py_iterate(py_run *p, uint32_t where, const py_value *v, const py_value **out_items,
                       uint32_t *out_count) {
    if (py_items(v, out_items, out_count)) return HONE_OK;
    if (v->kind >= PYV_HOST && p->host->iterate) {
        py_value list;
        HONE_TRY(p->host->iterate(p, where, v, &list));
        py_items(&list, out_items, out_count);
        return HONE_OK;
    }
    if (v->kind == PYV_STRING) return iterate_text(p, where, v->u.s, out_items, out_count);
    if (v->kind == PYV_UNKNOWN) {
        return py_fail_about(p, where, "expected a list; what is in ", v->u.s,
                             " is not known here");
    }
    return py_fail_at(p, where, "expected a list");
}

hone_status py_extend(py_run *p, uint32_t where, py_value *list, const py_value *from) {
    const py_value *items;
    uint32_t count;
    HONE_TRY(py_iterate(p, where, from, &items, &count));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(py_append(p, where, list, &items[i]));
    return HONE_OK;
}

hone_status py_new_tuple(py_run *p, const py_value *items, uint32_t count, py_value *out) {
    py_value *copy = hone_arena_alloc(p->arena, (count + 1) * sizeof *copy);
    if (!copy) return py_no_memory();
    if (count) memcpy(copy, items, count * sizeof *copy);
    *out = (py_value){.kind = PYV_TUPLE, .count = count, .u.items = copy};
    return HONE_OK;
}

py_value py_tuple_of(const py_value *list) {
    const py_list *l = list->u.list;
    return (py_value){.kind = PYV_TUPLE, .count = l->count, .u.items = l->items};
}

/* ---- what they are ---- */

const char *py_kind_name(const py_value *v) {
    static const char *const names[] = {
        [PYV_NONE] = "None",       [PYV_ELLIPSIS] = "'...'",    [PYV_BOOL] = "a bool",
        [PYV_INT] = "an integer",  [PYV_HUGE] = "an integer",   [PYV_FLOAT] = "a float",
        [PYV_STRING] = "a string", [PYV_SLICE] = "a slice",     [PYV_TUPLE] = "a tuple",
        [PYV_LIST] = "a list",     [PYV_DICT] = "a dictionary", [PYV_RECORD] = "an object",
        [PYV_FUNC] = "a function",
    };
    return v->kind < PYV_UNKNOWN ? names[v->kind] : "this";
}

bool py_is_int(const py_value *v) {
    return v->kind == PYV_INT || v->kind == PYV_BOOL;
}

bool py_is_number(const py_value *v) {
    return py_is_int(v) || v->kind == PYV_FLOAT;
}

double py_number_of(const py_value *v) {
    return v->kind == PYV_FLOAT ? v->u.f : (double)v->u.i;
}

bool py_compare(const py_value *a, const py_value *b, int *out) {
    if (a->kind == PYV_STRING && b->kind == PYV_STRING) {
        *out = strcmp(a->u.s, b->u.s);
        return true;
    }
    if (!py_is_number(a) || !py_is_number(b)) return false;
    if (py_is_int(a) && py_is_int(b)) {
        *out = (a->u.i > b->u.i) - (a->u.i < b->u.i);
    } else {
        double x = py_number_of(a), y = py_number_of(b);
        *out = (x > y) - (x < y);
    }
    return true;
}

static bool is_same(const py_value *a, const py_value *b, uint32_t depth);

static bool holds_same(const py_value *a, const py_value *b, uint32_t depth) {
    const py_value *x, *y;
    uint32_t n, m;
    if (depth > PY_MAX_NESTING || a->kind != b->kind) return false;
    if (!py_items(a, &x, &n) || !py_items(b, &y, &m) || n != m) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (a->kind == PYV_DICT) {
            const py_value *other = py_get(b, &x[i]);
            if (!other || !is_same(&a->u.list->items[i], other, depth + 1)) return false;
        } else if (!is_same(&x[i], &y[i], depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool is_same(const py_value *a, const py_value *b, uint32_t depth) {
    int order = 0;
    if (py_is_number(a)) return py_compare(a, b, &order) && order == 0;
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case PYV_NONE:
        return true;
    case PYV_STRING:
        return strcmp(a->u.s, b->u.s) == 0;
    case PYV_FUNC:
        return a->u.func == b->u.func;
    case PYV_RECORD:
        return a->u.list == b->u.list;
    default:
        if (a->kind < PYV_HOST) return holds_same(a, b, depth);
        return a->count == b->count && a->mark == b->mark && a->u.host == b->u.host;
    }
}

bool py_is_same(const py_value *a, const py_value *b) {
    return is_same(a, b, 0);
}

hone_status py_truth(py_run *p, uint32_t where, const py_value *v, bool *out) {
    const py_value *items;
    uint32_t count = 0;
    *out = true;
    if (v->kind >= PYV_HOST) return p->host->truth(p, where, v, out);
    if (v->kind == PYV_UNKNOWN) {
        return py_fail_about(p, where, "what ", v->u.s, " is, is not known here");
    }
    if (v->kind == PYV_NONE) *out = false;
    if (py_is_int(v)) *out = v->u.i != 0;
    if (v->kind == PYV_FLOAT) *out = v->u.f < 0 || v->u.f > 0;
    if (v->kind == PYV_STRING) *out = *v->u.s != '\0';
    if (py_items(v, &items, &count)) *out = count != 0;
    return HONE_OK;
}

/* ---- as text ---- */

static void print_value(const py_value *v, bool is_inside, uint32_t depth, hone_str *out);

static void print_items(const py_value *v, uint32_t depth, hone_str *out) {
    const py_value *items = NULL;
    uint32_t count = 0;
    py_items(v, &items, &count);
    const char *marks = v->kind == PYV_TUPLE ? "()" : v->kind == PYV_LIST ? "[]" : "{}";
    hone_str_append_char(out, marks[0]);
    for (uint32_t i = 0; i < count && out->length < PY_MAX_TEXT; i++) {
        if (i) hone_str_append(out, ", ");
        print_value(&items[i], true, depth + 1, out);
        if (v->kind != PYV_DICT) continue;
        hone_str_append(out, ": ");
        print_value(&v->u.list->items[i], true, depth + 1, out);
    }
    if (v->kind == PYV_TUPLE && count == 1) hone_str_append_char(out, ',');
    hone_str_append_char(out, marks[1]);
}

/* The fewest digits that read back as the same number. */
static void print_float(double f, hone_str *out) {
    char text[HONE_NUMBER_BYTES];
    hone_number_print(f, 1, text);
    hone_str_append(out, text);
    if (!strpbrk(text, ".en")) hone_str_append(out, ".0");
}

static void print_value(const py_value *v, bool is_inside, uint32_t depth, hone_str *out) {
    const py_value *items;
    uint32_t count;
    if (depth > PY_MAX_NESTING) {
        out->failed = true;
    } else if (py_items(v, &items, &count)) {
        print_items(v, depth, out);
    } else if (v->kind == PYV_NONE) {
        hone_str_append(out, "None");
    } else if (v->kind == PYV_BOOL) {
        hone_str_append(out, v->u.i ? "True" : "False");
    } else if (v->kind == PYV_INT) {
        hone_str_printf(out, "%" PRId64, v->u.i);
    } else if (v->kind == PYV_FLOAT) {
        print_float(v->u.f, out);
    } else if (v->kind == PYV_STRING && is_inside) {
        hone_str_printf(out, "'%s'", v->u.s);
    } else if (v->kind == PYV_STRING) {
        hone_str_append(out, v->u.s);
    } else {
        out->failed = true;
    }
}

hone_status py_print(py_run *p, uint32_t where, const py_value *v, const char **out) {
    hone_str text = {0};
    print_value(v, false, 0, &text);
    bool has_text = !text.failed && text.length <= PY_MAX_TEXT;
    *out = has_text ? hone_arena_strndup(p->arena, hone_str_text(&text), text.length) : NULL;
    hone_str_deinit(&text);
    if (!has_text) return py_fail_at(p, where, "this has no text that is known here");
    return *out ? HONE_OK : py_no_memory();
}
