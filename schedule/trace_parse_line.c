#include <ctype.h>
#include <string.h>

#include "schedule/trace_parse_impl.h"

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

bool pytrace_makes_schedule(const pytrace *p) {
    const char *at = p->at, *word = at;
    for (; at < p->end && (pytrace_is_name_char(*at) || *at == '.'); at++) {
        if (*at == '.') word = at + 1;
    }
    return at < p->end && *at == '(' && at - word == 8 && memcmp(word, "Schedule", 8) == 0;
}

bool pytrace_call_has_index(const pytrace *p) {
    pytrace ahead = *p;
    uint32_t open = 0;
    while (ahead.at < ahead.end && *ahead.at != '(' && *ahead.at != '\n')
        ahead.at++;
    if (pytrace_peek(&ahead) != '(') return false;
    do {
        skip_piece(&ahead, &open);
    } while (ahead.at < ahead.end && open);
    pytrace_skip_blanks(&ahead);
    return pytrace_peek(&ahead) == '[';
}
