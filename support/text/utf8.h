/* support/text/utf8.h - which bytes are UTF-8 (RFC 3629: shortest forms, no surrogates), and text
 * made so. Threads: safe. */
#ifndef HONE_SUPPORT_TEXT_UTF8_H
#define HONE_SUPPORT_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "support/core/strbuf.h"

/* Bytes from the start that are whole characters: count when all of the text is UTF-8. */
size_t hone_utf8_valid_bytes(const char *text, size_t count);

/* Appends the text with U+FFFD in the place of each byte that is part of no character. */
void hone_utf8_append_clean(hone_str *out, const char *text, size_t count);

/* Appends text of others so that a terminal shows it and does nothing else: control characters
 * (those beyond ASCII too), marks that turn the direction of writing, and bytes that are no
 * characters become \x1b, \u202e; the ends of lines (\n, \r\n) and tabs too, unless keeps_lines. */
void hone_utf8_append_shown(hone_str *out, const char *text, size_t count, bool keeps_lines);
/* hone_utf8_append_shown of a whole text, to a stream. */
void hone_utf8_put_shown(FILE *to, const char *text, bool keeps_lines);

/* Columns that a text takes on a screen: characters, good enough for names. */
size_t hone_utf8_columns(const char *text);
/* Bytes of the first `columns` characters, or of all when there are fewer. */
size_t hone_utf8_prefix(const char *text, size_t columns);
/* Appends the text, without its middle when it takes more columns: "fused_con..d_relu". */
void hone_utf8_append_short(hone_str *out, const char *text, size_t columns);

#endif
