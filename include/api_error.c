/* include/api_error.c - hone_error: a status in the public interface. */
#include "include/api.h"

#include <ctype.h>

#include <hone/version.h>

#include "support/core/alloc.h"

hone_error *hone_api_error(hone_status st) {
    return (hone_error *)st;
}

hone_error *hone_api_missing(const char *argument) {
    return hone_api_error(HONE_ERROR(HONE_CODE_INVALID, "%s is NULL", argument));
}

/* A letter or '_', then letters, digits and '_': what program text can hold. */
static bool is_identifier(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

hone_status hone_api_check_name(const char *what, const char *name) {
    if (!name) return HONE_ERROR(HONE_CODE_INVALID, "the name of %s is NULL", what);
    if (is_identifier(name)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s', the name of %s, is no identifier", name, what);
}

bool hone_api_is_element(hone_dtype dtype) {
    return !hone_dtype_is_void(dtype) && !hone_dtype_is_handle(dtype);
}

/* hone_status_* take a status by value and do not change it, except for _free. */
static hone_status status_of(const hone_error *error) {
    union {
        const hone_error *from;
        hone_status to;
    } cast = {.from = error};
    return cast.to;
}

const char *hone_error_message(const hone_error *error) {
    return hone_status_message(status_of(error));
}

const char *hone_error_kind(const hone_error *error) {
    return hone_code_name(hone_status_code(status_of(error)));
}

void hone_error_free(hone_error *error) {
    hone_status_free(status_of(error));
}

hone_status hone_api_take_text(hone_str *str, char **out_text) {
    hone_status st = hone_str_check(str);
    if (!st) {
        *out_text = hone_str_take(str);
        if (!*out_text) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "text");
    }
    hone_str_deinit(str);
    return st;
}

void hone_text_free(char *text) {
    hone_free(text);
}

const char *hone_version(void) {
    return HONE_VERSION;
}
