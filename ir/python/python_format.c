/* ir/python/python_format.c - strings, and the three ways of Python to put values into them. */
#include <ctype.h>
#include <string.h>

#include "ir/python/python_run.h"
#include "support/core/strbuf.h"
#include "support/text/utf8.h"

enum { MAX_WIDTH = 64 };
static hone_status append_padded(py_run *p, uint32_t where, const py_value *v, const char *spec,
                                 size_t length, hone_str *out) {
    const char *text, *stop = spec + length;
    HONE_TRY(py_print(p, where, v, &text));
    bool has_zeros = spec < stop && *spec == '0';
    size_t width = 0, size = strlen(text);
    for (; spec < stop && isdigit((unsigned char)*spec) && width <= MAX_WIDTH; spec++)
        width = width * 10 + (size_t)(*spec - '0');
    bool is_number = py_is_int(v);
    bool is_letter = spec + 1 == stop && (is_number ? *spec == 'd' : *spec == 's');
    if (width > MAX_WIDTH || (spec != stop && !is_letter) || (width && !is_number)) {
        return py_fail_at(p, where,
                          "this way to print a value is not known; {x}, {x:d} and "
                          "{x:04d} are");
    }
    bool has_sign = has_zeros && *text == '-';
    if (has_sign) hone_str_append_char(out, '-');
    if (size < width) hone_str_append_repeat(out, has_zeros ? '0' : ' ', width - size);
    hone_str_append(out, text + has_sign);
    return HONE_OK;
}
static hone_status keep_text(py_run *p, uint32_t where, hone_str *text, const char **out) {
    *out = text->failed ? NULL : hone_arena_strndup(p->arena, hone_str_text(text), text->length);
    hone_str_deinit(text);
    if (!*out) return py_no_memory();
    bool is_utf8 =
        p->host->takes_any_literal || hone_utf8_valid_bytes(*out, strlen(*out)) == strlen(*out);
    return is_utf8 ? HONE_OK : py_fail_at(p, where, "the string is not UTF-8");
}
/* ---- literals ---- */

static hone_status append_text(py_run *p, const py_node *node, hone_str *out) {
    const char *why, *text = py_text_of(p->source, node, p->arena, &why);
    if (!text) return why ? py_fail_at(p, node->at, why) : py_no_memory();
    hone_str_append(out, text);
    if (out->length > (p->host->max_text ? p->host->max_text : PY_MAX_TEXT)) {
        return py_fail_at(p, node->at, "the string is too long");
    }
    return HONE_OK;
}

/* The value in "{…}". */
static hone_status append_field(py_run *p, const py_node *node, hone_str *out) {
    const char *text = p->source->text;
    uint32_t from = node->mark;
    py_value value;
    HONE_TRY(py_eval(p, node->base, &value));
    if (text[from] == '=') return py_fail_at(p, from, "{x=} is not known here; write x={x}");
    if (node->end - from > 1 && text[from] == '!' && text[from + 1] == 's') from += 2;
    if (text[from] == ':') from++;
    return append_padded(p, node->at, &value, text + from, node->end - from, out);
}

static hone_status append_literal(py_run *p, const py_node *node, hone_str *out) {
    if (node->kind == PY_FIELD) return append_field(p, node, out);
    if (node->kind != PY_FORMAT && node->kind != PY_JOINED) return append_text(p, node, out);
    for (uint32_t i = 0; i < node->count; i++)
        HONE_TRY(append_literal(p, node->items[i], out));
    return HONE_OK;
}

hone_status py_eval_text(py_run *p, const py_node *node, py_value *out) {
    hone_str text = {0};
    *out = PYV_OF_STRING("");
    hone_status st = append_literal(p, node, &text);
    if (st) hone_str_deinit(&text);
    HONE_TRY(st);
    return keep_text(p, node->at, &text, &out->u.s);
}

/* ---- str.format and % ---- */

/* One "{}", "{1}" or "{:04d}" of a text; its end is behind '}'. */
static hone_status format_field(py_run *p, uint32_t where, const char **io_at, const py_value *args,
                                uint32_t count, uint32_t *io_next, hone_str *out) {
    const char *at = *io_at, *stop = strchr(at, '}');
    uint32_t number = 0;
    bool has_number = isdigit((unsigned char)*at);
    while (isdigit((unsigned char)*at) && number < PY_MAX_ITEMS)
        number = number * 10 + (uint32_t)(*at++ - '0');
    if (!has_number) number = (*io_next)++;
    if (!stop || (at != stop && *at != ':')) {
        return py_fail_at(p, where, "expected {}, {0} or {:04d} in the text");
    }
    if (number >= count) return py_fail_at(p, where, "more places in the text than values");
    if (*at == ':') at++;
    *io_at = stop + 1;
    return append_padded(p, where, &args[number], at, (size_t)(stop - at), out);
}

hone_status py_format(py_run *p, uint32_t where, const char *text, const py_value *args,
                      uint32_t count, const char **out) {
    hone_str made = {0};
    uint32_t next = 0;
    hone_status st = HONE_OK;
    while (*text && !st) {
        char c = *text++;
        if ((c == '{' || c == '}') && *text == c) {
            text++;
        } else if (c == '{') {
            st = format_field(p, where, &text, args, count, &next, &made);
            continue;
        }
        hone_str_append_char(&made, c);
    }
    if (!st && made.length > PY_MAX_TEXT) st = py_fail_at(p, where, "too long a text");
    if (st) hone_str_deinit(&made);
    HONE_TRY(st);
    return keep_text(p, where, &made, out);
}

hone_status py_format_percent(py_run *p, uint32_t where, const char *text, const py_value *args,
                              const char **out) {
    const py_value *items = args;
    uint32_t count = 1, next = 0;
    if (args->kind == PYV_TUPLE) py_items(args, &items, &count);
    hone_str made = {0};
    hone_status st = HONE_OK;
    while (*text && !st) {
        char c = *text++;
        if (c != '%' || *text == '%') {
            hone_str_append_char(&made, c);
            text += c == '%';
            continue;
        }
        const char *spec = text;
        while (isdigit((unsigned char)*text))
            text++;
        if (next == count || (*text != 'd' && *text != 's')) {
            st = py_fail_at(p, where, "expected one value for each %s and %d");
            continue;
        }
        text++;
        st = append_padded(p, where, &items[next++], spec,
                           (size_t)(text - spec) - (text[-1] == 's'), &made);
    }
    if (!st && next != count) st = py_fail_at(p, where, "expected one value for each %s and %d");
    if (!st && made.length > PY_MAX_TEXT) st = py_fail_at(p, where, "too long a text");
    if (st) hone_str_deinit(&made);
    HONE_TRY(st);
    return keep_text(p, where, &made, out);
}
