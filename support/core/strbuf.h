/* support/core/strbuf.h - a growing string.
 *
 * A value in the caller's storage; `{0}` is a valid empty string. `data` is NULL or ends with NUL.
 * When memory runs out, `failed` is set, the text stays as it was, and later appends do nothing:
 * append freely and look once at the end. Thread-compatible.
 */
#ifndef HONE_SUPPORT_CORE_STRBUF_H
#define HONE_SUPPORT_CORE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/core/attributes.h"
#include "support/core/status.h"

typedef struct hone_str {
    char *data;
    size_t length, capacity;
    bool failed;
} hone_str;

void hone_str_deinit(hone_str *str); /* leaves {0} */
void hone_str_clear(hone_str *str);  /* keeps the storage; also clears `failed` */

/* Makes room for `extra` more bytes and the NUL; false (and `failed`) when memory runs out. */
bool hone_str_reserve(hone_str *str, size_t extra);

void hone_str_append(hone_str *str, const char *text);
void hone_str_append_n(hone_str *str, const char *bytes, size_t count);
void hone_str_append_char(hone_str *str, char c);
void hone_str_append_repeat(hone_str *str, char c, size_t count);
void hone_str_printf(hone_str *str, const char *format, ...) HONE_PRINTF(2, 3);
void hone_str_vprintf(hone_str *str, const char *format, va_list args) HONE_PRINTF(2, 0);

/* Appends `text` as a double-quoted literal with C escapes (\n, \t, \", \\, \xNN). */
void hone_str_append_quoted(hone_str *str, const char *text, size_t count);

/* Shortens to `length` bytes (at most the present length). */
void hone_str_truncate(hone_str *str, size_t length);

/* The text, never NULL; valid until the next change. */
const char *hone_str_text(const hone_str *str);

/* Returns the text, owned by the caller (hone_free), and leaves {0}; NULL when `failed`. */
char *hone_str_take(hone_str *str);

/* NO_MEMORY when an append failed, else HONE_OK. */
HONE_NODISCARD hone_status hone_str_check(const hone_str *str);

#endif
