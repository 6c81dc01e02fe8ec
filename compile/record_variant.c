/* compile/record_variant.c - see record_variant.h. */
#include "compile/record_variant.h"

#include <string.h>

#include "schedule/primitive/primitives.h"
#include "schedule/python/trace_parse.h"

enum { ARENA_BYTES = 1 << 14 };

static hone_status read_variant(hone_arena *arena, const char *text, const hone_variant **out) {
    hone_trace trace;
    text += strspn(text, " \t\r\n");
    bool is_json = *text == '[' || *text == '{';
    hone_status st = is_json ? hone_trace_parse_json(arena, text, strlen(text), "trace", &trace)
                             : hone_trace_parse_python(arena, text, strlen(text), "trace", &trace);
    if (!st) *out = hone_trace_variant(&trace);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return HONE_OK;
}

hone_status hone_record_variant(const char *trace, const hone_variant **out) {
    *out = NULL;
    if (!strstr(trace, "UseVariant") && !strstr(trace, "use_variant")) return HONE_OK;
    hone_arena *arena = hone_arena_create(ARENA_BYTES);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "variant of a record");
    hone_status st = read_variant(arena, trace, out);
    hone_arena_destroy(arena);
    return st;
}

hone_status hone_record_is_allowed(const char *trace, double most_error, bool *out_is_allowed) {
    const hone_variant *variant;
    HONE_TRY(hone_record_variant(trace, &variant));
    *out_is_allowed = hone_variant_is_allowed(variant, most_error);
    return HONE_OK;
}
