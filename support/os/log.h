/* support/os/log.h - messages for people, through a callback.
 *
 * The library never prints: who calls it passes a hone_log (or NULL for silence) and decides what
 * becomes of the lines. A value; the callback must be thread-safe when the log is shared.
 */
#ifndef HONE_SUPPORT_OS_LOG_H
#define HONE_SUPPORT_OS_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "support/core/attributes.h"
#include "support/core/status.h"

typedef enum hone_log_level {
    HONE_LOG_NONE,
    HONE_LOG_ERROR,
    HONE_LOG_WARNING,
    HONE_LOG_INFO,
    HONE_LOG_DEBUG,
    HONE_LOG_TRACE,
} hone_log_level;

typedef struct hone_log {
    hone_log_level level; /* lines above it are not even formatted */
    void (*write)(void *context, hone_log_level level, const char *text); /* no newline in text */
    void *context;
} hone_log;

static inline bool hone_log_wants(const hone_log *log, hone_log_level level) {
    return log && log->write && level <= log->level;
}

/* One line; lower case, no full stop. */
void hone_log_line(const hone_log *log, hone_log_level level, const char *format, ...)
    HONE_PRINTF(3, 4);

#define HONE_LOG(log, level, ...)                                                                  \
    do {                                                                                           \
        if (hone_log_wants((log), (level))) hone_log_line((log), (level), __VA_ARGS__);            \
    } while (0)

/* A log for programs: writes "<program>: warning: text" (infos without the level) to `out`, one
 * write per line. */
typedef struct hone_log_printer {
    FILE *out;
    const char *program;
    bool has_time; /* UTC, in front: for what runs for days */
} hone_log_printer;
hone_log hone_log_to_printer(hone_log_printer *printer, hone_log_level level);

#endif
