/* compile/records/record_variant.c - see record_variant.h. */
#include "compile/records/record_variant.h"

#include <string.h>

#include "schedule/primitive/primitives.h"
#include "schedule/python/trace_parse.h"

enum { ARENA_BYTES = 1 << 14 };

static hone_status read_variant(hone_arena *arena, const char *text, hone_variant *out,
                                bool *out_has) {
    hone_trace trace;
    text += strspn(text, " \t\r\n");
    bool is_json = *text == '[' || *text == '{';
    hone_status st = is_json ? hone_trace_parse_json(arena, text, strlen(text), "trace", &trace)
                             : hone_trace_parse_python(arena, text, strlen(text), "trace", &trace);
    *out_has = !st && hone_trace_variant(&trace, out);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return HONE_OK;
}

static bool may_have(const char *trace) {
    return strstr(trace, "UseVariant") || strstr(trace, "use_variant");
}

hone_status hone_record_variant(const char *trace, hone_arena *arena, hone_variant *out,
                                bool *out_has) {
    *out_has = false;
    return may_have(trace) ? read_variant(arena, trace, out, out_has) : HONE_OK;
}

hone_status hone_record_is_allowed(const char *trace, const hone_variant_rules *rules,
                                   bool *out_is_allowed) {
    hone_variant variant;
    bool has;
    *out_is_allowed = true;
    if (!may_have(trace)) return HONE_OK;
    hone_arena *arena = hone_arena_create(ARENA_BYTES);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "variant of a record");
    hone_status st = read_variant(arena, trace, &variant, &has);
    if (!st) *out_is_allowed = hone_variant_is_allowed(has ? &variant : NULL, rules);
    hone_arena_destroy(arena);
    return st;
}
