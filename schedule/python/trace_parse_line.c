#include <ctype.h>
#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* Where things end in the Python form of traces, found without reading what they say. */

bool pytrace_is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

bool pytrace_starts_with_word(const pytrace *p, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0) return false;
    return p->at + length == p->end || !pytrace_is_name_char(p->at[length]);
}

/* ---- strings ---- */

/* TVM prints the strings of annotations as they are, line by line (source text behind a pragma):
 *
 *     sch.annotate(block_or_loop=b0, ann_key="pragma_import_c", ann_val="#include "x.h"
 *     int f(void);")
 *
 * The end of such a text, which has more than one line and is the last argument. */
const char *pytrace_end_of_raw_text(const pytrace *p, const char *start) {
    static const char before[] = "ann_val=";
    size_t length = sizeof before - 1;
    if (*start != '"' || (size_t)(start - p->text) < length ||
        memcmp(start - length, before, length) != 0) {
        return NULL;
    }
    bool has_lines = false;
    for (const char *at = start + 1; p->end - at >= 2; at++) {
        has_lines = has_lines || *at == '\n';
        if (p->end - at > 5 && memcmp(at, " sch.", 5) == 0) return NULL; /* a step: no text */
        if (at[0] != '"' || at[1] != ')') continue;
        if (p->end - at == 2 || at[2] == '\n') return has_lines ? at : NULL;
    }
    return NULL;
}

const char *pytrace_end_of_string(const pytrace *p, const char *at) {
    char quote = *at;
    if (p->end - at >= 3 && at[1] == quote && at[2] == quote) {
        for (at += 3; p->end - at >= 3; at++) {
            if (*at == '\\') {
                at++;
            } else if (at[0] == quote && at[1] == quote && at[2] == quote) {
                return at + 3;
            }
        }
        return p->end;
    }
    const char *raw_end = pytrace_end_of_raw_text(p, at);
    if (raw_end) return raw_end + 1;
    for (at++; at < p->end && *at != '\n'; at++) {
        if (*at == quote) return at + 1;
        if (*at == '\\' && p->end - at > 1) at++;
    }
    return at;
}

/* ---- lines ---- */

/* Past one character, string or comment; io_open counts brackets. */
static void skip_piece(pytrace *p, uint32_t *io_open) {
    char c = *p->at;
    if (c == '"' || c == '\'') {
        p->at = pytrace_end_of_string(p, p->at);
        return;
    }
    if (c == '#') {
        while (p->at < p->end && *p->at != '\n')
            p->at++;
        return;
    }
    if (c == '(' || c == '[' || c == '{') (*io_open)++;
    if ((c == ')' || c == ']' || c == '}') && *io_open) (*io_open)--;
    bool joins = c == '\\' && p->end - p->at > 1 && p->at[1] == '\n';
    p->at += joins ? 2 : 1;
}

void pytrace_skip_line(pytrace *p) {
    uint32_t open = 0;
    while (p->at < p->end && (open || *p->at != '\n'))
        skip_piece(p, &open);
    if (p->at < p->end) p->at++;
}

void pytrace_skip_statement(pytrace *p) {
    uint32_t open = 0;
    while (p->at < p->end && (open || (*p->at != '\n' && *p->at != ';')))
        skip_piece(p, &open);
}

void pytrace_skip_brackets(pytrace *p) {
    uint32_t open = 0;
    do {
        skip_piece(p, &open);
    } while (p->at < p->end && open);
    if (p->at > p->end) p->at = p->end;
}

bool pytrace_call_ends_line(const pytrace *p) {
    pytrace ahead = *p;
    while (ahead.at < ahead.end && (pytrace_is_name_char(*ahead.at) || *ahead.at == '.'))
        ahead.at++;
    if (pytrace_peek(&ahead) != '(') return false;
    pytrace_skip_brackets(&ahead);
    pytrace_skip_blanks(&ahead);
    char c = pytrace_peek(&ahead);
    return ahead.at >= ahead.end || c == '\n' || c == '#' || c == ';';
}

/* ---- expressions ---- */

static bool is_one_of(const char *word, size_t length, const char *const *words) {
    for (; words && *words; words++) {
        if (strlen(*words) == length && memcmp(*words, word, length) == 0) return true;
    }
    return false;
}

/* Past one character or operator; true where an expression ends. lambdas: whose ':' is to come. */
static bool ends_at(const pytrace *p, const char **io_at, uint32_t *io_depth,
                    uint32_t *io_lambdas) {
    const char *at = *io_at;
    char c = *at, next = p->end - at > 1 ? at[1] : '\0';
    if (c == '(' || c == '[' || c == '{') (*io_depth)++;
    if (c == ')' || c == ']' || c == '}') {
        if (!*io_depth) return true;
        (*io_depth)--;
    }
    if (!*io_depth) {
        if (c == ';' || (c == ',' && !*io_lambdas) || (c == '\n' && !p->open)) return true;
        if (c == ':' && !*io_lambdas) return true;
        if (c == ':') (*io_lambdas)--;
        if (c == '=' && next != '=' && !*io_lambdas) return true;
    }
    bool is_pair = (c == '\\' && next == '\n') ||
                   (next == '=' && (c == '=' || c == '!' || c == '<' || c == '>'));
    *io_at += is_pair ? 2 : 1;
    return false;
}

const char *pytrace_scan(const pytrace *p, const char *const *words) {
    uint32_t depth = 0, lambdas = 0;
    for (const char *at = p->at; at < p->end;) {
        const char *start = at;
        if (*at == '"' || *at == '\'') {
            at = pytrace_end_of_string(p, at);
        } else if (*at == '#') {
            while (at < p->end && *at != '\n')
                at++;
        } else if (pytrace_is_name_char(*at)) {
            while (at < p->end && pytrace_is_name_char(*at))
                at++;
            size_t length = (size_t)(at - start);
            if (depth) continue;
            if (!lambdas && is_one_of(start, length, words)) return start;
            if (length == 6 && memcmp(start, "lambda", 6) == 0) {
                lambdas++;
                words = NULL; /* what follows is the lambda's */
            }
        } else if (ends_at(p, &at, &depth, &lambdas)) {
            return at;
        }
    }
    return p->end;
}

/* ---- suites ---- */

static uint32_t indent_at(const pytrace *p, const char *line) {
    uint32_t indent = 0;
    while (line < p->end && (*line == ' ' || *line == '\t')) {
        indent += *line == '\t' ? 8 - indent % 8 : 1;
        line++;
    }
    return indent;
}

uint32_t pytrace_indent_of(const pytrace *p, const char *in_line) {
    while (in_line > p->text && in_line[-1] != '\n')
        in_line--;
    return indent_at(p, in_line);
}

static bool is_blank(const pytrace *p, const char *line) {
    while (line < p->end && (*line == ' ' || *line == '\t' || *line == '\r'))
        line++;
    return line == p->end || *line == '\n' || *line == '#';
}

/* Passes over the lines that are indented further than the head. False when there are none. */
static bool skip_body(pytrace *p, uint32_t indent) {
    bool has_body = false;
    const char *after = p->at;
    while (p->at < p->end) {
        bool blank = is_blank(p, p->at);
        if (!blank && indent_at(p, p->at) <= indent) break;
        has_body = has_body || !blank;
        pytrace_skip_line(p);
        if (!blank) after = p->at;
    }
    p->at = after;
    return has_body;
}

bool pytrace_skip_suite(pytrace *p, const char *head, const char **out_start) {
    bool is_one_line = !is_blank(p, p->at);
    *out_start = p->at;
    pytrace_skip_line(p);
    if (is_one_line) return true;
    *out_start = p->at;
    return skip_body(p, pytrace_indent_of(p, head));
}
