/* hone/error.h - why something failed.
 *
 * An error does not change; it may be handed to another thread, and is freed once.
 */
#ifndef HONE_ERROR_H
#define HONE_ERROR_H

#include <hone/export.h>

HONE_BEGIN_DECLS

/* Owned by whoever got it; NULL is success. */
typedef struct hone_error hone_error;

/* The message, valid until the error is freed: what was wrong and where ("a.py:3:5: …"); "" for
 * NULL. */
HONE_API const char *hone_error_message(const hone_error *error);

/* One word: "invalid", "type", "not_found", "unsupported", "illegal" (a schedule step that was
 * refused), "no_memory", "io", "timeout", "unavailable", "version" (data of a newer version),
 * "cancelled", "external" (an external function returned a code that is not 0; the message has its
 * name and that code), "internal" (a bug); "ok" for NULL. More words may come. */
HONE_API const char *hone_error_kind(const hone_error *error);

/* Ends an error; NULL is allowed. */
HONE_API void hone_error_free(hone_error *error);

/* Frees a text that the library returned; NULL is allowed. */
HONE_API void hone_text_free(char *text);

HONE_END_DECLS

#endif
