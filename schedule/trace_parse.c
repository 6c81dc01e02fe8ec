#include <string.h>

#include "schedule/trace_parse_impl.h"

/* Traces from Python: what TVM prints, and what people write by hand.
 *
 *   line   := [names "="] "sch" "." method "(" args ")"
 *   names  := name {"," name} [","]           one name for a list result holds the list
 *   arg    := [keyword "="] value
 *   value  := number | string | True | False | None | name | name "[" int "]" | list | tuple | dict
 *           | index map (trace_parse_map.c) | "sch" "." method "(" args ")" of one result, or of as
 *             many as its arguments say
 *
 * Imports, comments, docstrings, "def …:", "return …", "pass" and assignments of the schedule
 * itself are passed over. */

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_line(pytrace *p) {
    while (p->at < p->end && *p->at != '\n')
        p->at++;
    if (p->at < p->end) p->at++;
}

static bool starts_with_word(const pytrace *p, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0) return false;
    return p->at + length == p->end || !is_name_char(p->at[length]);
}

enum { MAX_NAMES = 256 };

static bool is_schedule(const pytrace *p, const char *name) {
    return name && strcmp(name, p->schedule_name) == 0;
}

/* "def f(sch: …) -> …:" names the schedule by its first parameter. */
static hone_status read_def(pytrace *p) {
    while (p->at < p->end && *p->at != '(' && *p->at != '\n')
        p->at++;
    if (pytrace_accept(p, '(')) {
        pytrace_skip_all(p);
        const char *name = pytrace_read_name(p);
        if (name && strcmp(name, "self") != 0) p->schedule_name = name;
    }
    while (p->at < p->end && !(*p->at == ':' && (p->at + 1 == p->end || p->at[1] == '\n' ||
                                                 p->at[1] == '\r' || p->at[1] == ' '))) {
        p->at++;
        if (p->at < p->end && p->at[-1] == '\n') return pytrace_fail(p, "expected ':'");
        /* "sch: s_tir.Schedule" has a ':' with a blank behind it: go on to the last of the line */
        if (pytrace_peek(p) == ':' && memchr(p->at + 1, ':', (size_t)(p->end - p->at - 1))) {
            const char *line_end = memchr(p->at, '\n', (size_t)(p->end - p->at));
            const char *next = memchr(p->at + 1, ':', (size_t)(p->end - p->at - 1));
            if (!line_end || next < line_end) p->at++;
        }
    }
    skip_line(p);
    return HONE_OK;
}

static bool is_skipped(const pytrace *p) {
    static const char *const words[] = {"import", "from", "return", "pass", "print"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (starts_with_word(p, words[i])) return true;
    }
    return pytrace_peek(p) == '@' || pytrace_peek(p) == '#' || pytrace_peek(p) == '\n' ||
           p->at == p->end;
}

static bool skip_docstring(pytrace *p) {
    if (p->end - p->at < 3 || (memcmp(p->at, "\"\"\"", 3) != 0 && memcmp(p->at, "'''", 3) != 0)) {
        return false;
    }
    const char *quote = p->at;
    for (p->at += 3; p->end - p->at >= 3; p->at++) {
        if (memcmp(p->at, quote, 3) == 0) break;
    }
    p->at = p->end - p->at >= 3 ? p->at + 3 : p->end;
    return true;
}

/* "tvm.tir.Schedule(" or "Schedule(" at the cursor: an assignment that makes the schedule. */
static bool makes_schedule(const pytrace *p) {
    const char *at = p->at, *word = at;
    for (; at < p->end && (is_name_char(*at) || *at == '.'); at++) {
        if (*at == '.') word = at + 1;
    }
    return at < p->end && *at == '(' && at - word == 8 && memcmp(word, "Schedule", 8) == 0;
}

static hone_status read_statement(pytrace *p) {
    const char *names[MAX_NAMES];
    uint32_t count = 0;
    bool has_comma = false;
    const char *start = p->at;
    for (;;) {
        pytrace_skip_blanks(p);
        pytrace_accept(p, '(');
        const char *name_at = p->at, *name = pytrace_read_name(p);
        if (!name) return pytrace_fail_at(p, name_at, "expected a step of the schedule");
        if (count == MAX_NAMES) return pytrace_fail(p, "too many names");
        names[count++] = name;
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) == ')') p->at++;
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) != ',') break;
        p->at++;
        has_comma = true;
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) == '=') break;
    }
    if (count == 1 && pytrace_peek(p) == '.' && is_schedule(p, names[0])) {
        p->at++;
        return pytrace_read_call(p, 0, NULL, false);
    }
    if (pytrace_peek(p) != '=') return pytrace_fail_at(p, start, "expected a step of the schedule");
    p->at++;
    pytrace_skip_blanks(p);
    if (count == 1 && (is_schedule(p, names[0]) || makes_schedule(p))) {
        p->schedule_name = names[0];
        while (p->at < p->end && *p->at != '\n')
            p->at++;
        return HONE_OK;
    }
    const char *callee_at = p->at, *callee = pytrace_read_name(p);
    if (!is_schedule(p, callee) || pytrace_peek(p) != '.') {
        return pytrace_fail_at(p, callee_at, "expected a step of the schedule");
    }
    p->at++;
    return pytrace_read_call(p, count, names, has_comma);
}

static hone_status read_lines(pytrace *p) {
    while (p->at < p->end) {
        pytrace_skip_blanks(p);
        if (skip_docstring(p)) continue;
        if (is_skipped(p)) {
            skip_line(p);
        } else if (starts_with_word(p, "def")) {
            HONE_TRY(read_def(p));
        } else {
            HONE_TRY(read_statement(p));
            pytrace_skip_blanks(p);
            if (p->at < p->end && pytrace_peek(p) != '\n' && pytrace_peek(p) != '#' &&
                pytrace_peek(p) != ';') {
                return pytrace_fail(p, "expected the end of the line");
            }
            if (pytrace_peek(p) == ';') {
                p->at++;
            } else {
                skip_line(p);
            }
        }
    }
    return HONE_OK;
}

hone_status hone_trace_parse_python(hone_arena *arena, const char *text, size_t length,
                                    const char *source_name, hone_trace *out_trace) {
    hone_trace_init(out_trace, arena);
    pytrace p = {.arena = arena,
                 .trace = out_trace,
                 .source = source_name,
                 .text = text,
                 .at = text,
                 .end = text + length,
                 .schedule_name = "sch"};
    hone_status st = read_lines(&p);
    hone_strmap_deinit(&p.names);
    return st;
}
