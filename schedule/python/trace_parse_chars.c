#include <ctype.h>
#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* Characters of the Python form of traces, and what is said about them. */

enum { MAX_LINE_SHOWN = 160 };

/* ---- errors ---- */

hone_status pytrace_fail_at(const pytrace *p, const char *where, const char *what) {
    if (p->lacks_memory) return pytrace_no_memory();
    const char *line = where;
    uint32_t number = 1;
    while (line > p->text && line[-1] != '\n')
        line--;
    for (const char *c = p->text; c < line; c++)
        number += *c == '\n';
    const char *line_end = line;
    while (line_end < p->end && *line_end != '\n')
        line_end++;
    int length = (int)(line_end - line);
    int column = (int)(where - line);
    if (length > MAX_LINE_SHOWN) length = MAX_LINE_SHOWN;
    return HONE_ERROR(HONE_CODE_INVALID, "%s:%u:%d: %s\n    %.*s\n    %*s^", p->source, number,
                      column + 1, what, length, line, column < length ? column : length, "");
}

hone_status pytrace_fail(const pytrace *p, const char *what) {
    return pytrace_fail_at(p, p->at, what);
}

hone_status pytrace_fail_about(const pytrace *p, const char *where, const char *what,
                               const char *name, const char *more) {
    const char *text = hone_arena_printf(p->arena, "%s'%s'%s", what, name, more);
    return text ? pytrace_fail_at(p, where, text) : pytrace_no_memory();
}

hone_status pytrace_no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
}

/* ---- characters ---- */

void pytrace_skip_blanks(pytrace *p) {
    for (;;) {
        char c = pytrace_peek(p);
        if (c == ' ' || c == '\t' || c == '\r') {
            p->at++;
        } else if (c == '\\' && p->end - p->at > 1 && p->at[1] == '\n') {
            p->at += 2;
        } else {
            return;
        }
    }
}

void pytrace_skip_all(pytrace *p) {
    for (;;) {
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) == '#') {
            while (p->at < p->end && *p->at != '\n')
                p->at++;
        }
        if (pytrace_peek(p) != '\n') return;
        p->at++;
    }
}

void pytrace_skip_space(pytrace *p) {
    if (p->open) {
        pytrace_skip_all(p);
    } else {
        pytrace_skip_blanks(p);
    }
}

bool pytrace_accept(pytrace *p, char c) {
    pytrace_skip_space(p);
    if (pytrace_peek(p) != c || p->at == p->end) return false;
    p->at++;
    return true;
}

bool pytrace_accept_word(pytrace *p, const char *word) {
    pytrace_skip_space(p);
    if (!pytrace_starts_with_word(p, word)) return false;
    p->at += strlen(word);
    return true;
}

bool pytrace_open(pytrace *p, char c) {
    if (!pytrace_accept(p, c)) return false;
    if (p->open < HONE_COUNT(p->opened)) p->opened[p->open] = p->at - 1;
    p->open++;
    return true;
}

bool pytrace_close(pytrace *p, char c) {
    if (!pytrace_accept(p, c)) return false;
    p->open--;
    return true;
}

/* What follows begins a line: more likely a bracket is open than a comma missing. */
static bool begins_line(const pytrace *p) {
    const char *at = p->at;
    while (at > p->text && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at > p->text && at[-1] == '\n';
}

hone_status pytrace_next_item(pytrace *p, char closing) {
    if (pytrace_accept(p, ',')) return HONE_OK;
    pytrace_skip_space(p);
    if (pytrace_peek(p) == closing && p->at < p->end) return HONE_OK;
    const char *opened =
        p->open > 0 && p->open <= HONE_COUNT(p->opened) ? p->opened[p->open - 1] : NULL;
    bool is_here = opened && opened >= p->text && opened < p->at;
    if (is_here && (p->at >= p->end || begins_line(p)))
        return pytrace_fail_at(p, opened, "this bracket is never closed");
    return pytrace_fail(p, closing == ']'   ? "expected ',' or ']'"
                           : closing == ')' ? "expected ',' or ')'"
                                            : "expected ',' or '}'");
}

const char *pytrace_read_name(pytrace *p) {
    const char *start = p->at;
    if (!isalpha((unsigned char)pytrace_peek(p)) && pytrace_peek(p) != '_') return NULL;
    while (p->at < p->end && pytrace_is_name_char(*p->at))
        p->at++;
    const char *name = hone_arena_strndup(p->arena, start, (size_t)(p->at - start));
    p->lacks_memory = p->lacks_memory || !name;
    return name;
}
