/* support/os/log.c - see log.h. */
#include "support/os/log.h"

#include <stdarg.h>
#include <string.h>

#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "support/text/utf8.h"

static void emit(const hone_log *log, hone_log_level level, hone_str *text) {
    log->write(log->context, level, text->failed ? "out of memory" : hone_str_text(text));
}

void hone_log_line(const hone_log *log, hone_log_level level, const char *format, ...) {
    if (!hone_log_wants(log, level)) return;
    hone_str text = {0};
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    emit(log, level, &text);
    hone_str_deinit(&text);
}

static const char *level_name(hone_log_level level) {
    static const char *const names[] = {
        [HONE_LOG_NONE] = "none", [HONE_LOG_ERROR] = "error", [HONE_LOG_WARNING] = "warning",
        [HONE_LOG_INFO] = "info", [HONE_LOG_DEBUG] = "debug", [HONE_LOG_TRACE] = "trace"};
    return names[level];
}

static void printer_write(void *context, hone_log_level level, const char *text) {
    const hone_log_printer *printer = context;
    hone_str line = {0};
    char time[HONE_WALL_TIME_BYTES];
    if (printer->has_time) {
        hone_str_printf(&line, "%s ", hone_wall_time_print(hone_wall_time_ns(), time));
    }
    hone_str_printf(&line, "%s: ", printer->program);
    if (level != HONE_LOG_INFO) hone_str_printf(&line, "%s: ", level_name(level));
    hone_utf8_append_shown(&line, text, strlen(text), true);
    hone_str_append_char(&line, '\n');
    if (!line.failed) fwrite(line.data, 1, line.length, printer->out);
    hone_str_deinit(&line);
}

hone_log hone_log_to_printer(hone_log_printer *printer, hone_log_level level) {
    return (hone_log){.level = level, .write = printer_write, .context = printer};
}
