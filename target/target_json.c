/* target/target_json.c - the JSON form of a target: a flat object. */
#include "target/target_json.h"

#include <string.h>

#include "support/core/strbuf.h"
#include "support/text/json.h"

/* A value as the text that an option takes. */
static hone_status value_text(const char *key, const hone_json *value, hone_str *out) {
    switch (hone_json_get_kind(value)) {
    case HONE_JSON_TEXT:
        hone_str_append(out, hone_json_text(value));
        return HONE_OK;
    case HONE_JSON_INT:
        hone_str_printf(out, "%lld", (long long)hone_json_i64(value));
        return HONE_OK;
    case HONE_JSON_ARRAY:
        for (size_t i = 0; i < hone_json_count(value); i++) {
            const hone_json *item = hone_json_at(value, i);
            if (!hone_json_is(item, HONE_JSON_TEXT)) break;
            if (i > 0) hone_str_append_char(out, ',');
            hone_str_append(out, hone_json_text(item));
            if (i + 1 == hone_json_count(value)) return HONE_OK;
        }
        break;
    default:
        break;
    }
    return HONE_ERROR(HONE_CODE_INVALID,
                      "target: '%s' is %s, must be text, an integer or a list of texts", key,
                      hone_json_kind_name(hone_json_get_kind(value)));
}

static hone_status read_members(const hone_json *object, hone_status (*begin)(void *, const char *),
                                hone_status (*apply)(void *, const char *, size_t, const char *),
                                void *ctx) {
    const hone_json *kind = hone_json_find(object, "kind");
    if (!kind) kind = hone_json_find(object, "tag");
    if (!kind || !hone_json_is(kind, HONE_JSON_TEXT)) {
        return HONE_ERROR(HONE_CODE_INVALID, "target: the JSON form has no text \"kind\"");
    }
    HONE_TRY(begin(ctx, hone_json_text(kind)));
    void *cursor = NULL;
    const char *key;
    const hone_json *value;
    while (hone_json_next(object, &cursor, &key, &value)) {
        if (strcmp(key, "kind") == 0 || strcmp(key, "tag") == 0) continue;
        if (strcmp(key, "host") == 0 || strcmp(key, "keys") == 0) continue; /* TVM's */
        if (strncmp(key, "feature.", 8) == 0) continue; /* what TVM derived from the others */
        hone_str text = {0};
        hone_status st = value_text(key, value, &text);
        if (!st) st = hone_str_check(&text);
        if (!st) st = apply(ctx, key, strlen(key), hone_str_text(&text));
        hone_str_deinit(&text);
        if (st) return st;
    }
    return HONE_OK;
}

hone_status target_json_read(const char *text, hone_status (*begin)(void *ctx, const char *kind),
                             hone_status (*apply)(void *ctx, const char *name, size_t length,
                                                  const char *value),
                             void *ctx) {
    hone_json *json = NULL;
    hone_status st = hone_json_parse(text, strlen(text), &json);
    if (st) return hone_status_annotate(st, "target");
    if (!hone_json_is(json, HONE_JSON_OBJECT)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "target: the JSON form is %s, must be an object",
                        hone_json_kind_name(hone_json_get_kind(json)));
    } else {
        st = read_members(json, begin, apply, ctx);
    }
    hone_json_destroy(json);
    return st;
}
