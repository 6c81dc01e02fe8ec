#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/python/trace_parse_impl.h"
#include "support/strbuf.h"
#include "support/utf8.h"

/* Strings of the Python form of traces: 'a', "b", triple quotes, r"raw", f"{values}", and the two
 * older ways to put values into a text. */

enum { MAX_WIDTH = 64 };

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What stands behind a backslash. */
static hone_status read_escape(pytrace *p, char *out) {
    static const char from[] = "ntr\\'\"", to[] = "\n\t\r\\'\"";
    const char *start = p->at - 1;
    char c = pytrace_peek(p);
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        p->at++;
        *out = to[known - from];
        return HONE_OK;
    }
    if (c == 'x' && p->end - p->at >= 3) {
        int high = hex_digit(p->at[1]), low = hex_digit(p->at[2]);
        if (high >= 0 && low >= 0 && high + low > 0) {
            p->at += 3;
            *out = (char)(high * 16 + low);
            return HONE_OK;
        }
    }
    return pytrace_fail_at(p, start,
                           "unknown escape; \\n \\t \\r \\\\ \\' \\\" and \\xNN are known");
}

/* JSON, the other form of a trace, holds nothing else. */
static bool is_utf8(const char *text) {
    size_t length = strlen(text);
    return hone_utf8_valid_bytes(text, length) == length;
}

static hone_status read_raw_text(pytrace *p, const char *stop, const char **out) {
    const char *from = p->at + 1;
    if (memchr(from, '\0', (size_t)(stop - from))) {
        return pytrace_fail_at(p, p->at, "a zero byte in a string");
    }
    *out = hone_arena_strndup(p->arena, from, (size_t)(stop - from));
    if (!*out) return pytrace_no_memory();
    if (!is_utf8(*out)) return pytrace_fail_at(p, p->at, "a string that is not UTF-8");
    p->at = stop + 1;
    return HONE_OK;
}

/* From the cursor to stop, with what stands behind backslashes. */
static hone_status read_characters(pytrace *p, const char *start, const char *stop,
                                   const char **out) {
    char *copy = hone_arena_alloc(p->arena, (size_t)(stop - p->at) + 1);
    if (!copy) return pytrace_no_memory();
    size_t length = 0;
    while (p->at < stop) {
        char c = *p->at++;
        if (c == '\\' && p->at < stop && *p->at == '\n') {
            p->at++;
            continue;
        }
        if (c == '\\') HONE_TRY(read_escape(p, &c));
        if (c == '\0') return pytrace_fail_at(p, p->at - 1, "a zero byte in a string");
        copy[length++] = c;
    }
    copy[length] = '\0';
    if (!is_utf8(copy)) return pytrace_fail_at(p, start, "the string is not UTF-8");
    *out = copy;
    return HONE_OK;
}

/* Three quotes on each side, and lines between them. */
static hone_status read_long_string(pytrace *p, const char **out) {
    const char *start = p->at, *stop = pytrace_end_of_string(p, start);
    bool is_closed =
        stop - start >= 6 && stop[-1] == *start && stop[-2] == *start && stop[-3] == *start;
    if (!is_closed) return pytrace_fail_at(p, start, "a string without its end");
    p->at += 3;
    HONE_TRY(read_characters(p, start, stop - 3, out));
    p->at = stop;
    return HONE_OK;
}

static hone_status read_string(pytrace *p, const char **out) {
    const char *raw_end = pytrace_end_of_raw_text(p, p->at);
    if (raw_end) return read_raw_text(p, raw_end, out);
    const char *start = p->at, *stop = p->at + 1;
    if (p->end - p->at >= 3 && p->at[1] == *p->at && p->at[2] == *p->at) {
        return read_long_string(p, out);
    }
    char quote = *p->at++;
    while (stop < p->end && *stop != quote && *stop != '\n') {
        stop += *stop == '\\' && p->end - stop > 1 ? 2 : 1;
    }
    if (stop >= p->end || *stop != quote) {
        return pytrace_fail_at(p, start, "a string without its end");
    }
    HONE_TRY(read_characters(p, start, stop, out));
    p->at = stop + 1;
    return HONE_OK;
}

/* ---- values in strings ---- */

static hone_status append_padded(pytrace *p, const char *where, const pytrace_value *v,
                                 const char *spec, size_t length, hone_str *out) {
    const char *text, *stop = spec + length;
    HONE_TRY(pytrace_text_of(p, where, v, &text));
    bool has_zeros = spec < stop && *spec == '0';
    size_t width = 0, size = strlen(text);
    for (; spec < stop && isdigit((unsigned char)*spec) && width <= MAX_WIDTH; spec++)
        width = width * 10 + (size_t)(*spec - '0');
    bool is_number = pytrace_is_int(v);
    bool is_letter = spec + 1 == stop && (is_number ? *spec == 'd' : *spec == 's');
    if (width > MAX_WIDTH || (spec != stop && !is_letter) || (width && !is_number)) {
        return pytrace_fail_at(p, where,
                               "this way to print a value is not known; {x}, {x:d} and "
                               "{x:04d} are");
    }
    bool has_sign = has_zeros && *text == '-';
    if (has_sign) hone_str_append_char(out, '-');
    if (size < width) hone_str_append_repeat(out, has_zeros ? '0' : ' ', width - size);
    hone_str_append(out, text + has_sign);
    return HONE_OK;
}

/* The value in "{…}" of an f-string; the cursor is behind the '{'. */
static hone_status append_field(pytrace *p, const char *stop, hone_str *out) {
    const char *end = p->end, *where = p->at;
    pytrace_value value;
    p->end = stop;
    p->open++;
    hone_status st = pytrace_read_value(p, &value);
    p->open--;
    p->end = end;
    HONE_TRY(st);
    pytrace_skip_all(p);
    const char *spec = p->at;
    if (p->at < stop && *p->at == '=') {
        return pytrace_fail(p, "{x=} is not known here; write x={x}");
    }
    if (stop - p->at > 1 && *p->at == '!' && p->at[1] == 's') spec = p->at += 2;
    if (p->at < stop && *p->at == ':') spec = ++p->at;
    while (p->at < stop && *p->at != '}')
        p->at++;
    if (p->at >= stop) return pytrace_fail_at(p, where, "expected '}'");
    const char *spec_end = p->at++;
    return append_padded(p, where, &value, spec, (size_t)(spec_end - spec), out);
}

/* Doubled braces, escapes and fields up to stop. */
static hone_status append_fields(pytrace *p, const char *stop, bool is_raw, hone_str *out) {
    while (p->at < stop) {
        char c = *p->at++;
        bool is_double = p->at < stop && *p->at == c;
        if ((c == '{' || c == '}') && is_double) {
            p->at++;
        } else if (c == '}') {
            return pytrace_fail_at(p, p->at - 1, "a '}' without its '{'; write }} for one");
        } else if (c == '{') {
            HONE_TRY(append_field(p, stop, out));
            continue;
        } else if (c == '\\' && !is_raw) {
            HONE_TRY(read_escape(p, &c));
        }
        if (c == '\0') return pytrace_fail_at(p, p->at - 1, "a zero byte in a string");
        hone_str_append_char(out, c);
        if (out->length > PYTRACE_MAX_TEXT) return pytrace_fail(p, "the string is too long");
    }
    return HONE_OK;
}

static hone_status keep_text(pytrace *p, const char *where, hone_str *text, const char **out) {
    *out = text->failed ? NULL : hone_arena_strndup(p->arena, hone_str_text(text), text->length);
    hone_str_deinit(text);
    if (!*out) return pytrace_no_memory();
    return is_utf8(*out) ? HONE_OK : pytrace_fail_at(p, where, "the string is not UTF-8");
}

/* A string with a letter in front: f"…", r"…", rf"…", b"…" and u"…" as they are. */
static hone_status read_prefixed(pytrace *p, const char **out) {
    const char *start = p->at;
    bool has_fields = false, is_raw = false;
    for (; isalpha((unsigned char)pytrace_peek(p)); p->at++) {
        has_fields = has_fields || *p->at == 'f' || *p->at == 'F';
        is_raw = is_raw || *p->at == 'r' || *p->at == 'R';
    }
    if (!has_fields && !is_raw) return read_string(p, out);
    const char *open = p->at, *stop = pytrace_end_of_string(p, open);
    size_t quotes = stop - open >= 6 && open[1] == *open && open[2] == *open ? 3 : 1;
    bool is_closed = stop - open >= 2 && stop[-1] == *open && (size_t)(stop - open) >= 2 * quotes;
    if (!is_closed) return pytrace_fail_at(p, start, "a string without its end");
    hone_str text = {0};
    p->at += quotes;
    hone_status st = HONE_OK;
    if (has_fields) {
        st = append_fields(p, stop - quotes, is_raw, &text);
    } else {
        hone_str_append_n(&text, p->at, (size_t)(stop - quotes - p->at));
        if (memchr(p->at, '\0', (size_t)(stop - quotes - p->at))) {
            st = pytrace_fail_at(p, start, "a zero byte in a string");
        }
    }
    p->at = stop;
    if (st) hone_str_deinit(&text);
    HONE_TRY(st);
    return keep_text(p, start, &text, out);
}

bool pytrace_is_at_string(const pytrace *p) {
    const char *at = p->at;
    while (at < p->end && at - p->at < 2 && strchr("rRbBfFuU", *at) && *at)
        at++;
    return at < p->end && (*at == '"' || *at == '\'');
}

hone_status pytrace_read_strings(pytrace *p, pytrace_value *out) {
    *out = PYTRACE_OF_STRING("");
    HONE_TRY(read_prefixed(p, &out->u.s));
    for (;;) { /* "a" "b" is one string */
        const char *next, *before = p->at;
        pytrace_skip_space(p);
        if (!pytrace_is_at_string(p)) {
            p->at = before;
            return HONE_OK;
        }
        HONE_TRY(read_prefixed(p, &next));
        if (strlen(out->u.s) + strlen(next) > PYTRACE_MAX_TEXT) {
            return pytrace_fail(p, "the string is too long");
        }
        out->u.s = hone_arena_printf(p->arena, "%s%s", out->u.s, next);
        if (!out->u.s) return pytrace_no_memory();
    }
}

/* One "{}", "{1}" or "{:04d}" of a text; its end is behind '}'. */
static hone_status format_field(pytrace *p, const char *where, const char **io_at,
                                const pytrace_value *args, uint32_t count, uint32_t *io_next,
                                hone_str *out) {
    const char *at = *io_at, *stop = strchr(at, '}');
    uint32_t number = 0;
    bool has_number = isdigit((unsigned char)*at);
    while (isdigit((unsigned char)*at) && number < PYTRACE_MAX_ITEMS)
        number = number * 10 + (uint32_t)(*at++ - '0');
    if (!has_number) number = (*io_next)++;
    if (!stop || (at != stop && *at != ':')) {
        return pytrace_fail_at(p, where, "expected {}, {0} or {:04d} in the text");
    }
    if (number >= count) return pytrace_fail_at(p, where, "more places in the text than values");
    if (*at == ':') at++;
    *io_at = stop + 1;
    return append_padded(p, where, &args[number], at, (size_t)(stop - at), out);
}

hone_status pytrace_format(pytrace *p, const char *where, const char *text,
                           const pytrace_value *args, uint32_t count, const char **out) {
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
    if (!st && made.length > PYTRACE_MAX_TEXT) st = pytrace_fail_at(p, where, "too long a text");
    if (st) hone_str_deinit(&made);
    HONE_TRY(st);
    return keep_text(p, where, &made, out);
}

hone_status pytrace_format_percent(pytrace *p, const char *where, const char *text,
                                   const pytrace_value *args, const char **out) {
    const pytrace_value *items = args;
    uint32_t count = 1, next = 0;
    if (args->kind == PYTRACE_TUPLE) pytrace_items(args, &items, &count);
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
            st = pytrace_fail_at(p, where, "expected one value for each %s and %d");
            continue;
        }
        text++;
        st = append_padded(p, where, &items[next++], spec,
                           (size_t)(text - spec) - (text[-1] == 's'), &made);
    }
    if (!st && next != count)
        st = pytrace_fail_at(p, where, "expected one value for each %s and %d");
    if (!st && made.length > PYTRACE_MAX_TEXT) st = pytrace_fail_at(p, where, "too long a text");
    if (st) hone_str_deinit(&made);
    HONE_TRY(st);
    return keep_text(p, where, &made, out);
}
