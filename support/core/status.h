/* support/core/status.h - the one error type of the project.
 *
 * HONE_OK is NULL, so success costs one compare and `if (st)` reads as "if failed". A failure owns
 * heap memory: hand it on, or end it with hone_status_free(). Never keep two live in one scope;
 * join them. When memory runs out, a static NO_MEMORY record stands in for the real one, so making
 * a failure never fails. Thread-compatible: one status belongs to one thread at a time.
 */
#ifndef HONE_SUPPORT_CORE_STATUS_H
#define HONE_SUPPORT_CORE_STATUS_H

#include <stdbool.h>

#include "support/core/attributes.h"

typedef struct hone_status_record *hone_status;
#define HONE_OK ((hone_status)0)

typedef enum hone_code {
    HONE_CODE_OK = 0,
#define HONE_CODE(name, spelling, advice) HONE_CODE_##name,
#include "support/core/status_codes.def"
#undef HONE_CODE
    HONE_CODE_COUNT
} hone_code;

struct hone_str;

/* Makes a failure that carries a message and the place it was born. */
#define HONE_ERROR(code, ...) hone_status_make((code), __FILE__, __LINE__, __VA_ARGS__)
/* That memory was short for `what`, a string. */
#define HONE_NO_MEMORY(what) HONE_ERROR(HONE_CODE_NO_MEMORY, what)

/* Returns from the calling function on failure and adds this line to the error's trail. */
#define HONE_TRY(expr)                                                                             \
    do {                                                                                           \
        hone_status hone_try_ = (expr);                                                            \
        if (hone_try_) return hone_status_trail(hone_try_, __FILE__, __LINE__);                    \
    } while (0)

/* HONE_TRY for functions with cleanup: puts the failure into `st` (which must be HONE_OK) and
 * jumps. */
#define HONE_TRY_GOTO(st, expr, label)                                                             \
    do {                                                                                           \
        (st) = (expr);                                                                             \
        if (st) {                                                                                  \
            (st) = hone_status_trail((st), __FILE__, __LINE__);                                    \
            goto label;                                                                            \
        }                                                                                          \
    } while (0)

/* Makes a failure; `code` is not HONE_CODE_OK. The caller owns it. */
HONE_NODISCARD hone_status hone_status_make(hone_code code, const char *file, int line,
                                            const char *format, ...) HONE_PRINTF(4, 5);

/* Adds a line to the trail of a failure (up to 16 are kept); takes and returns `st`. */
HONE_NODISCARD hone_status hone_status_trail(hone_status st, const char *file, int line);

/* Makes one of two: the first failure, with the message of the second appended when both failed.
 * Takes both. */
HONE_NODISCARD hone_status hone_status_join(hone_status first, hone_status second);

/* Puts "<text>: " before the message ("model.onnx: …"); takes and returns `st`; HONE_OK stays OK.
 */
HONE_NODISCARD hone_status hone_status_annotate(hone_status st, const char *format, ...)
    HONE_PRINTF(2, 3);

/* Ends a failure; HONE_OK is allowed. */
void hone_status_free(hone_status st);

/* Ends a status and returns its code: for callers that treat some codes as data. */
hone_code hone_status_consume(hone_status st);

hone_code hone_status_code(hone_status st);

/* The message, valid until the status ends; "" for HONE_OK. */
const char *hone_status_message(hone_status st);

/* Appends message, birthplace and trail, for logs and bug reports; several lines, the last one
 * ends with a newline. */
void hone_status_print(hone_status st, struct hone_str *out);

/* "invalid", "no_memory", … ; "ok" for HONE_CODE_OK, "unknown" for a number that is no code. */
const char *hone_code_name(hone_code code);

#endif
