/* schedule/python/trace_load.c - reads traces and records from files of any kind. */
#include <string.h>

#include "schedule/python/trace_parse.h"
#include "schedule/trace/trace.h"
#include "schedule/trace/trace_records.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { MAX_TRACE_BYTES = 64 << 20 };

static bool ends_with(const char *text, const char *ending) {
    size_t a = strlen(text), b = strlen(ending);
    return a >= b && strcmp(text + a - b, ending) == 0;
}

static bool looks_like_json(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (!strchr(" \t\r\n", text[i])) return text[i] == '[' || text[i] == '{';
    }
    return false;
}

/* A trace or a record, alone or one of several lines. */
static hone_status load_json(hone_arena *arena, const char *text, size_t length,
                             const hone_func *func, size_t *out_line, hone_trace *out_trace) {
    hone_json *json = NULL;
    hone_status st = HONE_OK;
    if (hone_records_are_lines(text, length)) {
        HONE_TRY(hone_records_pick(text, length, func, out_line, &json));
    } else {
        HONE_TRY(hone_json_parse(text, length, &json));
        st = hone_record_check_args(json, func);
    }
    if (!st) st = hone_trace_of_json(arena, json, out_trace);
    hone_json_destroy(json);
    return st;
}

hone_status hone_trace_load(hone_arena *arena, const char *path, const hone_trace_context *context,
                            size_t *out_line, hone_trace *out_trace) {
    const hone_func *func = context ? context->func : NULL;
    size_t line = 0;
    hone_trace_init(out_trace, arena);
    char *text = NULL;
    size_t length = 0;
    HONE_TRY(hone_fs_read(path, MAX_TRACE_BYTES, &text, &length));
    bool is_json =
        ends_with(path, ".json") || (!ends_with(path, ".py") && looks_like_json(text, length));
    hone_status st =
        is_json ? hone_status_annotate(load_json(arena, text, length, func, &line, out_trace), "%s",
                                       path)
                : hone_trace_parse_script(arena, context, text, length, path, out_trace);
    hone_free(text);
    if (out_line) *out_line = line;
    return st;
}
