/* ir/python/python_method.c - methods of Python's own values that texts use: list.append,
 * dict.items, str.join, … */
#include <string.h>

#include "ir/python/python_run.h"
#include "support/core/number.h"
#include "support/core/strbuf.h"

typedef struct method_call {
    py_run *p;
    uint32_t where;
    const char *name;
    py_args args;
    py_value self;
} method_call;

static bool is_call(const method_call *c, const char *name, uint32_t least, uint32_t most) {
    return strcmp(c->name, name) == 0 && c->args.count >= least && c->args.count <= most;
}

static hone_status unknown(const method_call *c) {
    return py_fail_about(c->p, c->where, "the method ", c->name,
                         ", with these arguments, is not known here");
}

/* ---- lists ---- */

static hone_status insert(const method_call *c, const py_value *item, int64_t at) {
    py_value self = c->self;
    HONE_TRY(py_append(c->p, c->where, &self, item));
    py_list *list = self.u.list;
    int64_t count = (int64_t)list->count - 1;
    if (at < 0) at += count;
    if (at < 0) at = 0;
    if (at > count) at = count;
    const py_value copy = list->items[count];
    memmove(&list->items[at + 1], &list->items[at], (size_t)(count - at) * sizeof copy);
    list->items[at] = copy;
    return HONE_OK;
}

static hone_status take_out(const method_call *c, int64_t at, py_value *out) {
    py_list *list = c->self.u.list;
    if (at < 0) at += list->count;
    if (at < 0 || at >= list->count) {
        return py_fail_at(c->p, c->where, "the index is out of range");
    }
    *out = list->items[at];
    list->count--;
    memmove(&list->items[at], &list->items[at + 1],
            (size_t)(list->count - at) * sizeof *list->items);
    return HONE_OK;
}

static hone_status find_item(const method_call *c, uint32_t *out) {
    const py_value *items = NULL;
    uint32_t count = 0;
    py_items(&c->self, &items, &count);
    for (*out = 0; *out < count; (*out)++) {
        if (py_is_same(&items[*out], &c->args.items[0])) return HONE_OK;
    }
    return py_fail_at(c->p, c->where, "the list has no such item");
}

static void turn_around(py_list *list) {
    for (uint32_t i = 0; i < list->count / 2; i++) {
        const py_value item = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = item;
    }
}

static hone_status copy_of(const method_call *c, py_value *out) {
    const py_list *list = c->self.u.list;
    HONE_TRY(py_new_list(c->p, c->self.kind, out));
    for (uint32_t i = 0; i < list->count; i++) {
        HONE_TRY(list->keys ? py_put(c->p, c->where, out, &list->keys[i], &list->items[i])
                            : py_append(c->p, c->where, out, &list->items[i]));
    }
    return HONE_OK;
}

static hone_status call_list(const method_call *c, py_value *out) {
    const py_value *args = c->args.items;
    py_value self = c->self;
    uint32_t at;
    bool is_number = c->args.count && py_is_int(&args[0]);
    if (is_call(c, "append", 1, 1)) return py_append(c->p, c->where, &self, &args[0]);
    if (is_call(c, "extend", 1, 1)) return py_extend(c->p, c->where, &self, &args[0]);
    if (is_call(c, "insert", 2, 2) && is_number) return insert(c, &args[1], args[0].u.i);
    if (is_call(c, "pop", 0, 0)) return take_out(c, -1, out);
    if (is_call(c, "pop", 1, 1) && is_number) return take_out(c, args[0].u.i, out);
    if (is_call(c, "remove", 1, 1)) {
        py_value ignored;
        HONE_TRY(find_item(c, &at));
        return take_out(c, at, &ignored);
    }
    if (is_call(c, "reverse", 0, 0)) {
        turn_around(self.u.list);
        return HONE_OK;
    }
    if (is_call(c, "clear", 0, 0)) {
        self.u.list->count = 0;
        return HONE_OK;
    }
    return is_call(c, "copy", 0, 0) ? copy_of(c, out) : unknown(c);
}

/* Of tuples as well. */
static hone_status call_sequence(const method_call *c, py_value *out) {
    const py_value *items = NULL;
    uint32_t count = 0, at;
    if (is_call(c, "index", 1, 1)) {
        HONE_TRY(find_item(c, &at));
        *out = PYV_OF_INT(at);
        return HONE_OK;
    }
    if (is_call(c, "count", 1, 1)) {
        py_items(&c->self, &items, &count);
        *out = PYV_OF_INT(0);
        for (uint32_t i = 0; i < count; i++)
            out->u.i += py_is_same(&items[i], &c->args.items[0]);
        return HONE_OK;
    }
    return c->self.kind == PYV_LIST ? call_list(c, out) : unknown(c);
}

/* ---- dictionaries ---- */

static hone_status get_key(const method_call *c, bool keeps, py_value *out) {
    const py_value *item = py_get(&c->self, &c->args.items[0]);
    py_value self = c->self;
    *out = item ? *item : c->args.count > 1 ? c->args.items[1] : PYV_OF_NONE;
    return item || !keeps ? HONE_OK : py_put(c->p, c->where, &self, &c->args.items[0], out);
}

static hone_status list_pairs(const method_call *c, py_value *out) {
    const py_list *list = c->self.u.list;
    HONE_TRY(py_new_list(c->p, PYV_LIST, out));
    for (uint32_t i = 0; i < list->count; i++) {
        const py_value pair[] = {list->keys[i], list->items[i]};
        py_value tuple;
        HONE_TRY(py_new_tuple(c->p, pair, 2, &tuple));
        HONE_TRY(py_append(c->p, c->where, out, &tuple));
    }
    return HONE_OK;
}

static hone_status list_of(const method_call *c, const py_value *items, py_value *out) {
    HONE_TRY(py_new_list(c->p, PYV_LIST, out));
    for (uint32_t i = 0; i < c->self.u.list->count; i++)
        HONE_TRY(py_append(c->p, c->where, out, &items[i]));
    return HONE_OK;
}

static hone_status call_dict(const method_call *c, py_value *out) {
    const py_list *list = c->self.u.list;
    if (is_call(c, "get", 1, 2)) return get_key(c, false, out);
    if (is_call(c, "setdefault", 2, 2)) return get_key(c, true, out);
    if (is_call(c, "items", 0, 0)) return list_pairs(c, out);
    if (is_call(c, "keys", 0, 0)) return list_of(c, list->keys, out);
    if (is_call(c, "values", 0, 0)) return list_of(c, list->items, out);
    if (is_call(c, "copy", 0, 0)) return copy_of(c, out);
    if (is_call(c, "update", 1, 1) && c->args.items[0].kind == PYV_DICT) {
        const py_list *from = c->args.items[0].u.list;
        py_value self = c->self;
        for (uint32_t i = 0; i < from->count; i++)
            HONE_TRY(py_put(c->p, c->where, &self, &from->keys[i], &from->items[i]));
        return HONE_OK;
    }
    return unknown(c);
}

/* ---- strings ---- */

static hone_status keep(const method_call *c, hone_str *text, py_value *out) {
    bool fits = text->length <= PY_MAX_TEXT;
    *out = PYV_OF_STRING(hone_arena_strndup(c->p->arena, hone_str_text(text), text->length));
    if (text->failed || !out->u.s) fits = false;
    hone_str_deinit(text);
    return fits ? HONE_OK : py_fail_at(c->p, c->where, "the string is too long");
}

static hone_status join(const method_call *c, py_value *out) {
    const py_value *items;
    uint32_t count;
    hone_str text = {0};
    HONE_TRY(py_iterate(c->p, c->where, &c->args.items[0], &items, &count));
    for (uint32_t i = 0; i < count && text.length <= PY_MAX_TEXT; i++) {
        if (items[i].kind != PYV_STRING) {
            hone_str_deinit(&text);
            return py_fail_at(c->p, c->where, "expected strings");
        }
        if (i) hone_str_append(&text, c->self.u.s);
        hone_str_append(&text, items[i].u.s);
    }
    return keep(c, &text, out);
}

static hone_status split(const method_call *c, const char *by, py_value *out) {
    HONE_TRY(py_new_list(c->p, PYV_LIST, out));
    const char *at = c->self.u.s;
    while (*by) {
        const char *stop = strstr(at, by);
        size_t length = stop ? (size_t)(stop - at) : strlen(at);
        const py_value part = PYV_OF_STRING(hone_arena_strndup(c->p->arena, at, length));
        if (!part.u.s) return py_no_memory();
        HONE_TRY(py_append(c->p, c->where, out, &part));
        if (!stop) return HONE_OK;
        at = stop + strlen(by);
    }
    return py_fail_at(c->p, c->where, "an empty separator");
}

static hone_status replace(const method_call *c, const char *from, const char *to, py_value *out) {
    hone_str text = {0};
    const char *at = c->self.u.s;
    for (const char *hit; *from && text.length <= PY_MAX_TEXT && (hit = strstr(at, from));) {
        hone_str_append_n(&text, at, (size_t)(hit - at));
        hone_str_append(&text, to);
        at = hit + strlen(from);
    }
    hone_str_append(&text, at);
    return keep(c, &text, out);
}

static hone_status change_case(const method_call *c, bool lower, py_value *out) {
    char *text = hone_arena_strdup(c->p->arena, c->self.u.s);
    if (!text) return py_no_memory();
    for (char *at = text; *at; at++)
        *at = lower ? hone_lower(*at) : hone_upper(*at);
    *out = PYV_OF_STRING(text);
    return HONE_OK;
}

static hone_status call_string(const method_call *c, py_value *out) {
    const py_value *args = c->args.items;
    bool has_text = c->args.count && args[0].kind == PYV_STRING;
    size_t size = strlen(c->self.u.s), part = has_text ? strlen(args[0].u.s) : 0;
    if (strcmp(c->name, "format") == 0 && !c->args.keyword_count) {
        *out = c->self;
        return py_format(c->p, c->where, c->self.u.s, args, c->args.count, &out->u.s);
    }
    if (is_call(c, "join", 1, 1)) return join(c, out);
    if (is_call(c, "lower", 0, 0)) return change_case(c, true, out);
    if (is_call(c, "upper", 0, 0)) return change_case(c, false, out);
    if (is_call(c, "startswith", 1, 1) && has_text) {
        *out = PYV_OF_BOOL(strncmp(c->self.u.s, args[0].u.s, part) == 0);
        return HONE_OK;
    }
    if (is_call(c, "endswith", 1, 1) && has_text) {
        *out = PYV_OF_BOOL(part <= size && strcmp(c->self.u.s + size - part, args[0].u.s) == 0);
        return HONE_OK;
    }
    if (is_call(c, "split", 1, 1) && has_text) return split(c, args[0].u.s, out);
    if (is_call(c, "replace", 2, 2) && has_text && args[1].kind == PYV_STRING) {
        return replace(c, args[0].u.s, args[1].u.s, out);
    }
    return unknown(c);
}

hone_status py_call_method(py_run *p, const py_node *call, py_value *io) {
    method_call c = {.p = p, .where = call->base->mark, .name = call->base->name, .self = *io};
    HONE_TRY(py_eval_args(p, call, &c.args));
    *io = PYV_OF_NONE;
    switch (c.self.kind) {
    case PYV_LIST:
    case PYV_TUPLE:
        return call_sequence(&c, io);
    case PYV_DICT:
        return call_dict(&c, io);
    case PYV_STRING:
        return call_string(&c, io);
    default:
        return unknown(&c);
    }
}
