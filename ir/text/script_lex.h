/* ir/text/script_lex.h - Python tokens of a program text, with INDENT and DEDENT.
 *
 * The whole text is cut into an array first, so that the parser may look ahead as far as it likes.
 * Tokens point into the text, which must outlive them. Inside the room only.
 */
#ifndef HONE_IR_TEXT_SCRIPT_LEX_H
#define HONE_IR_TEXT_SCRIPT_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"
#include "support/status.h"

typedef enum script_token_kind {
    SCRIPT_TOKEN_END,
    SCRIPT_TOKEN_NEWLINE,
    SCRIPT_TOKEN_INDENT,
    SCRIPT_TOKEN_DEDENT,
    SCRIPT_TOKEN_NAME, /* keywords too */
    SCRIPT_TOKEN_INT,
    SCRIPT_TOKEN_FLOAT,
    SCRIPT_TOKEN_TEXT, /* a string literal, quotes and prefix included */
    SCRIPT_TOKEN_OP,
} script_token_kind;

typedef struct script_token {
    script_token_kind kind;
    uint32_t start, length; /* bytes of the text */
    uint32_t line, column;  /* from 1; column counts characters, not bytes */
} script_token;

typedef struct script_source {
    const char *text;
    size_t length;
    const char *name; /* "prog.py" */
    bool is_outline;  /* constants may lack their numbers */
} script_source;

enum {
    SCRIPT_MAX_DEPTH = 200,
    SCRIPT_MAX_BYTES = 1 << 28,
    SCRIPT_MAX_GRID = 64 /* loops of one 'for' */
};

/* A failure with "name:line:column: ", the message, the source line and a caret below it. */
HONE_NODISCARD hone_status script_error_at(const script_source *source, hone_code code,
                                           uint32_t line, uint32_t column, const char *message);

/* Cuts the text; the array lives in the arena and ends with one END token. */
HONE_NODISCARD hone_status script_lex(const script_source *source, hone_arena *arena,
                                      script_token **out_tokens, uint32_t *out_count);

/* The same of the bytes from … to, which stand inside the brackets of a text of another kind: lines
 * mean nothing, and places are counted in the whole text. */
HONE_NODISCARD hone_status script_lex_piece(const script_source *source, size_t from, size_t to,
                                            hone_arena *arena, script_token **out_tokens,
                                            uint32_t *out_count);

/* Whether the whole text is one name (which may still be a keyword). */
bool script_lexes_as_name(const char *text);

/* Decodes a string token into bytes (quotes, prefix and escapes done). The arena owns the result;
 * NULL when memory is short, or when the literal is not one that the language knows (*out_why). */
char *script_decode_text(const script_source *source, const script_token *token, hone_arena *arena,
                         const char **out_why);

#endif
