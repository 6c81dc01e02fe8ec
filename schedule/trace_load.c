#include <string.h>

#include "schedule/trace.h"
#include "support/alloc.h"
#include "support/fs.h"

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

hone_status hone_trace_load(hone_arena *arena, const char *path, hone_trace *out_trace) {
    char *text = NULL;
    size_t length = 0;
    HONE_TRY(hone_fs_read(path, MAX_TRACE_BYTES, &text, &length));
    bool is_json =
        ends_with(path, ".json") || (!ends_with(path, ".py") && looks_like_json(text, length));
    hone_status st = is_json ? hone_trace_parse_json(arena, text, length, path, out_trace)
                             : hone_trace_parse_python(arena, text, length, path, out_trace);
    hone_free(text);
    return st;
}
