/* ir/python/python_lex.c - see python_lex.h. One pass over the bytes; brackets suspend lines. */
#include "ir/python/python_lex.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "support/text/utf8.h"

typedef struct lexer {
    const py_source *source;
    hone_arena *arena;
    size_t at;
    size_t line_start;
    size_t column_at; /* the place whose column is known: asking forwards stays linear */
    uint32_t column;
    uint32_t line;
    uint32_t open_brackets;
    uint32_t open_line, open_column;         /* of the outermost one */
    char open[PY_MAX_DEPTH];                 /* what they are, as far as there is room */
    uint32_t other_line, other_column;       /* the first that closes one of another kind */
    uint32_t indents[PY_MAX_DEPTH + 1];      /* a tab goes to the next multiple of 8 */
    uint32_t indent_bytes[PY_MAX_DEPTH + 1]; /* a tab is one: both must agree, as in Python */
    uint32_t indent_depth;
    py_token *tokens;
    uint32_t count, capacity;
} lexer;

/* ---- messages ---- */

static uint32_t column_of(lexer *lx, size_t at) {
    if (lx->column_at < lx->line_start || lx->column_at > at || !lx->column) {
        lx->column_at = lx->line_start;
        lx->column = 1;
    }
    for (; lx->column_at < at; lx->column_at++) {
        if (((unsigned char)lx->source->text[lx->column_at] & 0xC0) != 0x80) lx->column++;
    }
    return lx->column;
}

static hone_status fail(lexer *lx, size_t at, const char *message) {
    return py_error_at(lx->source, HONE_CODE_INVALID, lx->line, column_of(lx, at), message);
}

/* ---- the text ---- */

static char peek(const lexer *lx, size_t ahead) {
    size_t at = lx->at + ahead;
    return at < lx->source->length ? lx->source->text[at] : '\0';
}

static bool at_end(const lexer *lx) {
    return lx->at >= lx->source->length;
}

static hone_status push(lexer *lx, py_token_kind kind, size_t start, size_t length, uint32_t line,
                        uint32_t column) {
    if (hone_utf8_valid_bytes(lx->source->text + start, length) < length) {
        return py_error_at(lx->source, HONE_CODE_INVALID, line, column,
                           kind == PY_TOKEN_TEXT ? "this string is not UTF-8"
                                                 : "this word is not UTF-8");
    }
    if (lx->count == lx->capacity) {
        uint32_t capacity = lx->capacity ? lx->capacity * 2 : 256;
        py_token *grown = hone_arena_alloc(lx->arena, (size_t)capacity * sizeof *grown);
        if (!grown) return HONE_ERROR(HONE_CODE_NO_MEMORY, "program text");
        if (lx->count) memcpy(grown, lx->tokens, lx->count * sizeof *grown);
        lx->tokens = grown;
        lx->capacity = capacity;
    }
    lx->tokens[lx->count++] = (py_token){.kind = kind,
                                         .start = (uint32_t)start,
                                         .length = (uint32_t)length,
                                         .line = line,
                                         .column = column};
    return HONE_OK;
}

static void next_line(lexer *lx) {
    lx->line++;
    lx->line_start = lx->at;
}

static void skip_comment(lexer *lx) {
    while (!at_end(lx) && peek(lx, 0) != '\n')
        lx->at++;
}

/* Takes "\n", "\r\n" or a lone "\r" that stands before either. */
static bool take_newline(lexer *lx) {
    if (peek(lx, 0) == '\r' && peek(lx, 1) == '\n') lx->at++;
    if (peek(lx, 0) != '\n') return false;
    lx->at++;
    next_line(lx);
    return true;
}

/* ---- indentation ---- */

static hone_status set_indent(lexer *lx, uint32_t width, uint32_t bytes) {
    static const char mixed[] = "tabs and spaces are mixed in the indentation";
    uint32_t column = column_of(lx, lx->at);
    if (width > lx->indents[lx->indent_depth]) {
        if (lx->indent_depth == PY_MAX_DEPTH) return fail(lx, lx->at, "nested too deeply");
        if (bytes <= lx->indent_bytes[lx->indent_depth]) return fail(lx, lx->at, mixed);
        lx->indents[++lx->indent_depth] = width;
        lx->indent_bytes[lx->indent_depth] = bytes;
        return push(lx, PY_TOKEN_INDENT, lx->at, 0, lx->line, column);
    }
    while (width < lx->indents[lx->indent_depth]) {
        lx->indent_depth--;
        HONE_TRY(push(lx, PY_TOKEN_DEDENT, lx->at, 0, lx->line, column));
    }
    if (width != lx->indents[lx->indent_depth]) {
        return fail(lx, lx->at, "this indentation matches no line above");
    }
    if (bytes != lx->indent_bytes[lx->indent_depth]) return fail(lx, lx->at, mixed);
    return HONE_OK;
}

/* At the start of a line: skips blank lines, then compares the indentation of the next one. */
static hone_status begin_line(lexer *lx) {
    for (;;) {
        uint32_t width = 0, bytes = 0;
        for (; peek(lx, 0) == ' ' || peek(lx, 0) == '\t' || peek(lx, 0) == '\f'; lx->at++) {
            bytes++;
            width = peek(lx, 0) == '\t' ? (width / 8 + 1) * 8 : width + 1;
        }
        if (peek(lx, 0) == '#') skip_comment(lx);
        if (at_end(lx)) return HONE_OK;
        if (!take_newline(lx)) return set_indent(lx, width, bytes);
    }
}

/* ---- tokens ---- */

static bool is_name_start(char c) {
    return c == '_' || isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}
static bool is_name_char(char c) {
    return is_name_start(c) || isdigit((unsigned char)c);
}

bool py_lexes_as_name(const char *text) {
    if (!is_name_start(*text)) return false;
    while (is_name_char(*text))
        text++;
    return *text == '\0';
}

static const char *const keywords[] = {
    "and",    "as",     "assert", "break",  "class", "continue", "def",    "del",
    "elif",   "else",   "except", "False",  "for",   "from",     "global", "if",
    "import", "in",     "is",     "lambda", "None",  "not",      "or",     "pass",
    "raise",  "return", "True",   "try",    "while", "with",     "yield"};

const char *py_keyword_at(size_t index) {
    return index < HONE_COUNT(keywords) ? keywords[index] : NULL;
}

bool py_is_keyword(const char *text, size_t length) {
    if (!length) return false;
    for (size_t i = 0; i < HONE_COUNT(keywords); i++) {
        if (*text != *keywords[i]) continue;
        if (length == strlen(keywords[i]) && memcmp(text, keywords[i], length) == 0) return true;
    }
    return false;
}

bool py_token_is(const py_source *source, const py_token *token, py_token_kind kind,
                 const char *text) {
    size_t n = strlen(text);
    return token->kind == kind && token->length == n &&
           memcmp(source->text + token->start, text, n) == 0;
}

void py_describe_token(const py_source *source, const py_token *token, char *out, size_t bytes) {
    switch (token->kind) {
    case PY_TOKEN_END:
        snprintf(out, bytes, "the end of the text");
        return;
    case PY_TOKEN_NEWLINE:
        snprintf(out, bytes, "the end of the line");
        return;
    case PY_TOKEN_INDENT:
        snprintf(out, bytes, "an indented line");
        return;
    case PY_TOKEN_DEDENT:
        snprintf(out, bytes, "the end of the indented lines");
        return;
    default:
        snprintf(out, bytes, "'%.*s%s'", (int)(token->length < 40 ? token->length : 40),
                 source->text + token->start, token->length < 40 ? "" : "...");
        return;
    }
}

static size_t string_prefix(const lexer *lx) {
    size_t n = 0;
    while (n < 2 && strchr("rRbBuUfF", peek(lx, n) ? peek(lx, n) : ' '))
        n++;
    return peek(lx, n) == '"' || peek(lx, n) == '\'' ? n : SIZE_MAX;
}

/* TVM prints the strings of annotations as they are, line by line (source text behind a pragma):
 *
 *     sch.annotate(block_or_loop=b0, ann_key="pragma_import_c", ann_val="#include "x.h"
 *     int f(void);")
 *
 * The closing quote of such a text, which has more than one line and is the last argument; 0 where
 * there is none. */
static size_t end_of_raw(const lexer *lx) {
    static const char before[] = "ann_val=";
    const py_source *s = lx->source;
    size_t n = sizeof before - 1, start = lx->at;
    bool is_raw = s->has_raw && peek(lx, 0) == '"' && start >= n &&
                  memcmp(s->text + start - n, before, n) == 0;
    bool has_lines = false;
    for (size_t at = start + 1; is_raw && at + 1 < s->length; at++) {
        const char *c = s->text + at;
        has_lines = has_lines || *c == '\n';
        if (s->length - at > 5 && memcmp(c, " sch.", 5) == 0) return 0; /* a step: no text */
        if (c[0] != '"' || c[1] != ')') continue;
        if (at + 2 == s->length || c[2] == '\n') return has_lines ? at : 0;
    }
    return 0;
}

static hone_status lex_raw(lexer *lx, size_t end) {
    size_t start = lx->at;
    uint32_t line = lx->line, column = column_of(lx, start);
    while (lx->at <= end) {
        if (lx->source->text[lx->at++] == '\n') next_line(lx);
    }
    return push(lx, PY_TOKEN_RAW, start, lx->at - start, line, column);
}

static hone_status lex_string(lexer *lx, size_t prefix) {
    size_t start = lx->at, raw = prefix ? 0 : end_of_raw(lx);
    if (raw) return lex_raw(lx, raw);
    uint32_t line = lx->line, column = column_of(lx, start);
    lx->at += prefix;
    char quote = peek(lx, 0);
    bool is_long = peek(lx, 1) == quote && peek(lx, 2) == quote;
    lx->at += is_long ? 3 : 1;
    for (;;) {
        if (at_end(lx) || (!is_long && peek(lx, 0) == '\n')) {
            return py_error_at(lx->source, HONE_CODE_INVALID, line, column,
                               "this string has no closing quote");
        }
        char c = peek(lx, 0);
        if (c == quote && (!is_long || (peek(lx, 1) == quote && peek(lx, 2) == quote))) break;
        lx->at++;
        if (c == '\\' && !at_end(lx)) c = lx->source->text[lx->at++];
        if (c == '\n') next_line(lx);
    }
    lx->at += is_long ? 3 : 1;
    return push(lx, PY_TOKEN_TEXT, start, lx->at - start, line, column);
}

static hone_status lex_number(lexer *lx) {
    size_t start = lx->at;
    bool is_float = false;
    bool is_hex = peek(lx, 0) == '0' && strchr("xXbBoO", peek(lx, 1) ? peek(lx, 1) : ' ');
    if (is_hex) lx->at += 2;
    while (!at_end(lx)) {
        char c = peek(lx, 0);
        if (!is_hex && (c == 'e' || c == 'E') &&
            (isdigit((unsigned char)peek(lx, 1)) ||
             ((peek(lx, 1) == '+' || peek(lx, 1) == '-') && isdigit((unsigned char)peek(lx, 2))))) {
            is_float = true;
            lx->at += 2;
        } else if (c == '.' && !is_hex) {
            is_float = true;
            lx->at++;
        } else if (is_name_char(c)) {
            lx->at++;
        } else {
            break;
        }
    }
    return push(lx, is_float ? PY_TOKEN_FLOAT : PY_TOKEN_INT, start, lx->at - start, lx->line,
                column_of(lx, start));
}

static const char *const long_operators[] = {"...", "**=", "//=", "<<=", ">>=", "**", "//", "<<",
                                             ">>",  "<=",  ">=",  "==",  "!=",  "->", "+=", "-=",
                                             "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "@=", ":="};

static void note_bracket(lexer *lx, char c, size_t start) {
    if (c == '(' || c == '[' || c == '{') {
        if (!lx->open_brackets) {
            lx->open_line = lx->line;
            lx->open_column = column_of(lx, start);
        }
        if (lx->open_brackets < PY_MAX_DEPTH) lx->open[lx->open_brackets] = c;
        lx->open_brackets++;
    }
    if ((c == ')' || c == ']' || c == '}') && lx->open_brackets) {
        lx->open_brackets--;
        char begin = c == ')' ? '(' : c == ']' ? '[' : '{';
        bool is_other = lx->open_brackets < PY_MAX_DEPTH && lx->open[lx->open_brackets] != begin;
        if (is_other && !lx->other_line) {
            lx->other_line = lx->line;
            lx->other_column = column_of(lx, start);
        }
    }
}

static hone_status lex_operator(lexer *lx) {
    size_t start = lx->at, length = 0;
    for (size_t i = 0; i < HONE_COUNT(long_operators) && !length; i++) {
        if (*long_operators[i] != peek(lx, 0)) continue;
        size_t n = strlen(long_operators[i]);
        if (lx->source->length - start >= n &&
            memcmp(lx->source->text + start, long_operators[i], n) == 0) {
            length = n;
        }
    }
    char c = peek(lx, 0);
    if (!length) {
        if (!c || !strchr("+-*/%@&|^~<>()[]{},:.;=", c)) {
            char text[64];
            snprintf(text, sizeof text,
                     c == '!'                    ? "unexpected character '%c'; 'not' negates"
                     : c == '?'                  ? "unexpected character '%c'; it is a if c else b"
                     : isprint((unsigned char)c) ? "unexpected character '%c'"
                                                 : "unexpected byte 0x%02x",
                     (unsigned char)c);
            return fail(lx, start, text);
        }
        length = 1;
    }
    note_bracket(lx, c, start);
    lx->at += length;
    return push(lx, PY_TOKEN_OP, start, length, lx->line, column_of(lx, start));
}

static hone_status lex_one(lexer *lx) {
    char c = peek(lx, 0);
    size_t prefix = string_prefix(lx);
    if (prefix != SIZE_MAX) return lex_string(lx, prefix);
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(lx, 1)))) {
        return lex_number(lx);
    }
    if (is_name_start(c)) {
        size_t start = lx->at;
        while (!at_end(lx) && is_name_char(peek(lx, 0)))
            lx->at++;
        return push(lx, PY_TOKEN_NAME, start, lx->at - start, lx->line, column_of(lx, start));
    }
    return lex_operator(lx);
}

/* Ends the logical line at a newline outside brackets. */
static hone_status end_line(lexer *lx) {
    size_t at = lx->at;
    uint32_t line = lx->line, column = column_of(lx, at);
    take_newline(lx);
    if (lx->open_brackets) return HONE_OK;
    HONE_TRY(push(lx, PY_TOKEN_NEWLINE, at, 0, line, column));
    return begin_line(lx);
}

static bool at_newline(const lexer *lx) {
    return peek(lx, 0) == '\n' || (peek(lx, 0) == '\r' && peek(lx, 1) == '\n');
}

static hone_status lex_tokens(lexer *lx) {
    while (!at_end(lx)) {
        char c = peek(lx, 0);
        if (c == ' ' || c == '\t' || c == '\f') {
            lx->at++;
        } else if (c == '#') {
            skip_comment(lx);
        } else if (c == '\\' &&
                   (peek(lx, 1) == '\n' || (peek(lx, 1) == '\r' && peek(lx, 2) == '\n'))) {
            lx->at++;
            take_newline(lx);
        } else if (at_newline(lx)) {
            HONE_TRY(end_line(lx));
        } else {
            HONE_TRY(lex_one(lx));
        }
    }
    return HONE_OK;
}

static hone_status end_tokens(lexer *lx) {
    uint32_t column = column_of(lx, lx->at);
    if (lx->count && lx->tokens[lx->count - 1].kind != PY_TOKEN_NEWLINE) {
        HONE_TRY(push(lx, PY_TOKEN_NEWLINE, lx->at, 0, lx->line, column));
    }
    for (; lx->indent_depth; lx->indent_depth--) {
        HONE_TRY(push(lx, PY_TOKEN_DEDENT, lx->at, 0, lx->line, column));
    }
    return push(lx, PY_TOKEN_END, lx->at, 0, lx->line, column);
}

hone_status py_lex(const py_source *source, hone_arena *arena, py_token **out_tokens,
                   uint32_t *out_count) {
    *out_tokens = NULL;
    *out_count = 0;
    if (source->length > PY_MAX_BYTES) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: %zu bytes of program text, at most %d",
                          source->name, source->length, PY_MAX_BYTES);
    }
    lexer lx = {.source = source, .arena = arena, .line = 1};
    if (source->length >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0) {
        lx.at = lx.line_start = 3;
    }
    HONE_TRY(begin_line(&lx));
    HONE_TRY(lex_tokens(&lx));
    if (lx.open_brackets && lx.other_line) {
        return py_error_at(source, HONE_CODE_INVALID, lx.other_line, lx.other_column,
                           "this closes a bracket of another kind");
    }
    if (lx.open_brackets) {
        return py_error_at(source, HONE_CODE_INVALID, lx.open_line, lx.open_column,
                           "this bracket is never closed");
    }
    HONE_TRY(end_tokens(&lx));
    *out_tokens = lx.tokens;
    *out_count = lx.count;
    return HONE_OK;
}

hone_status py_lex_piece(const py_places *places, size_t from, size_t to, hone_arena *arena,
                         py_token **out_tokens, uint32_t *out_count) {
    enum { ALWAYS_OPEN = 1 << 30 }; /* brackets of the piece itself never bring it to zero */
    const py_source *source = places->source;
    const py_place begin = py_place_of(places, (uint32_t)from);
    py_source piece = {.text = source->text, .length = to, .name = source->name};
    lexer lx = {.source = &piece,
                .arena = arena,
                .at = from,
                .line = begin.line,
                .column_at = from,
                .column = begin.column,
                .open_brackets = ALWAYS_OPEN};
    HONE_TRY(lex_tokens(&lx));
    HONE_TRY(end_tokens(&lx));
    *out_tokens = lx.tokens;
    *out_count = lx.count;
    return HONE_OK;
}

/* ---- literals ---- */

static int hex_digits(const char *s, size_t left, size_t count, uint32_t *out) {
    *out = 0;
    if (left < count) return 0;
    for (size_t i = 0; i < count; i++) {
        if (!isxdigit((unsigned char)s[i])) return 0;
        int c = tolower((unsigned char)s[i]);
        *out = *out * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return 1;
}

static size_t put_utf8(char *out, uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    out[0] = (char)(0xE0 | (code >> 12));
    out[1] = (char)(0x80 | ((code >> 6) & 0x3F));
    out[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/* Decodes the escape at s (behind the backslash) into out; returns the bytes it took. */
static size_t decode_escape(const char *s, size_t left, char *out, size_t *out_bytes,
                            const char **why) {
    static const char from[] = "ntr\\'\"abfv0", to[] = "\n\t\r\\'\"\a\b\f\v\0";
    *out_bytes = 0;
    if (s[0] == '\n') return 1;
    if (s[0] == 'x' || s[0] == 'u') {
        uint32_t code = 0;
        size_t digits = s[0] == 'x' ? 2 : 4;
        if (!hex_digits(s + 1, left - 1, digits, &code)) {
            *why = "an escape in this string lacks hexadecimal digits";
            return 1;
        }
        if (!code) *why = "a zero byte in this string";
        if (code >= 0xD800 && code < 0xE000) *why = "half of a surrogate pair in this string";
        *out_bytes = put_utf8(out, code); /* "\xe9" is a character, too */
        return 1 + digits;
    }
    const char *found = strchr(from, s[0]);
    if (!found) { /* Python keeps the backslash */
        out[(*out_bytes)++] = '\\';
        out[(*out_bytes)++] = s[0];
        return 1;
    }
    if (s[0] == '0') *why = "a zero byte in this string";
    out[(*out_bytes)++] = to[found - from];
    return 1;
}

char *py_decode_bytes(const py_source *source, size_t from, size_t to, bool is_raw,
                      hone_arena *arena, const char **out_why) {
    const char *s = source->text + from;
    size_t n = to - from, used = 0;
    char *out = hone_arena_alloc(arena, n + 4);
    if (!out) return NULL;
    for (size_t i = 0; i < n;) {
        if (!s[i]) *out_why = "a zero byte in this string";
        if (s[i] != '\\' || is_raw || i + 1 >= n) {
            out[used++] = s[i++];
            continue;
        }
        size_t bytes = 0;
        i += 1 + decode_escape(s + i + 1, n - i - 1, out + used, &bytes, out_why);
        used += bytes;
    }
    out[used] = '\0';
    return *out_why ? NULL : out;
}

char *py_decode_text(const py_source *source, const py_token *token, hone_arena *arena,
                     const char **out_why) {
    *out_why = NULL;
    const char *s = source->text + token->start;
    size_t end = (size_t)token->start + token->length;
    bool is_raw = false;
    for (; *s != '"' && *s != '\''; s++) {
        if (*s == 'r' || *s == 'R') is_raw = true;
        if (*s == 'f' || *s == 'F') *out_why = "formatted strings are not part of TVMScript";
    }
    size_t from = (size_t)(s - source->text);
    size_t quotes = end - from >= 6 && s[1] == s[0] && s[2] == s[0] ? 3 : 1;
    return py_decode_bytes(source, from + quotes, end - quotes, is_raw, arena, out_why);
}
