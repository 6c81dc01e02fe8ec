/* ir/python/python_lex.h - Python tokens of a program text, with INDENT and DEDENT.
 *
 * The whole text is cut into an array first, so that the parser may look ahead as far as it likes.
 * Tokens point into the text, which must outlive them.
 */
#ifndef HONE_IR_PYTHON_PYTHON_LEX_H
#define HONE_IR_PYTHON_PYTHON_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/arena.h"
#include "support/core/status.h"

typedef enum py_token_kind {
    PY_TOKEN_END,
    PY_TOKEN_NEWLINE,
    PY_TOKEN_INDENT,
    PY_TOKEN_DEDENT,
    PY_TOKEN_NAME, /* keywords too */
    PY_TOKEN_INT,
    PY_TOKEN_FLOAT,
    PY_TOKEN_TEXT, /* a string literal, quotes and prefix included */
    PY_TOKEN_RAW,  /* what TVM prints behind "ann_val=" as it is, quotes included */
    PY_TOKEN_OP,
} py_token_kind;

typedef struct py_token {
    py_token_kind kind;
    uint32_t start, length; /* bytes of the text */
    uint32_t line, column;  /* from 1; column counts characters, not bytes */
} py_token;

typedef struct py_source {
    const char *text;
    size_t length;
    const char *name; /* "prog.py" */
    bool is_outline;  /* constants may lack their numbers */
    bool has_raw;     /* strings of annotations may stand there as they are, over several lines */
} py_source;

enum { PY_MAX_DEPTH = 200, PY_MAX_BYTES = 1 << 28 };

/* A failure with "name:line:column: ", the message, the source line and a caret below it. */
HONE_NODISCARD hone_status py_error_at(const py_source *source, hone_code code, uint32_t line,
                                       uint32_t column, const char *message);

/* py_error_at for a byte of the text. */
HONE_NODISCARD hone_status py_error_at_byte(const py_source *source, hone_code code, uint32_t at,
                                            const char *message);

/* Lines and columns of the bytes of a text, each found in constant time. */
typedef struct py_place {
    uint32_t line, column; /* from 1 */
} py_place;

typedef struct py_places {
    const py_source *source;
    const py_place *marks; /* of every so many bytes; NULL: all is counted */
} py_places;
HONE_NODISCARD hone_status py_places_init(py_places *out, const py_source *source,
                                          hone_arena *arena);
py_place py_place_of(const py_places *places, uint32_t at);

/* Cuts the text; the array lives in the arena and ends with one END token. */
HONE_NODISCARD hone_status py_lex(const py_source *source, hone_arena *arena, py_token **out_tokens,
                                  uint32_t *out_count);

/* py_lex of the bytes from … to, which stand inside of a string: lines mean nothing, and places are
 * counted in the whole text. */
HONE_NODISCARD hone_status py_lex_piece(const py_places *places, size_t from, size_t to,
                                        hone_arena *arena, py_token **out_tokens,
                                        uint32_t *out_count);

/* Whether the whole text is one name (which may still be a keyword). */
bool py_lexes_as_name(const char *text);
bool py_is_keyword(const char *text, size_t length);
const char *py_keyword_at(size_t index); /* NULL behind the last */

/* The token is of this kind and is spelled like `text`. */
bool py_token_is(const py_source *source, const py_token *token, py_token_kind kind,
                 const char *text);
/* The token in words, for "expected …, found …". */
void py_describe_token(const py_source *source, const py_token *token, char *out, size_t bytes);

/* Decodes a string token into bytes (quotes, prefix and escapes done). The arena owns the result;
 * NULL when memory is short, or when the literal is not one that the language knows (*out_why). */
char *py_decode_text(const py_source *source, const py_token *token, hone_arena *arena,
                     const char **out_why);

/* py_decode_text for the bytes from … to of a literal, without quotes and prefix. */
char *py_decode_bytes(const py_source *source, size_t from, size_t to, bool is_raw,
                      hone_arena *arena, const char **out_why);

/* The number that the bytes from … to are (python_number.c); NULL, or a reason why they are none.
 * is_huge: from 2^63 to 2^64 - 1, of which out has the bits. A float beyond all is infinite. */
const char *py_int_of(const py_source *source, size_t from, size_t to, int64_t *out,
                      bool *out_is_huge);
const char *py_float_of(const py_source *source, size_t from, size_t to, double *out);
extern const char py_number_too_large[]; /* the reason, for those who take no huge ones */

#endif
