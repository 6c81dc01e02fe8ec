/* tools/report/report_text.c - writes JSON from front to back. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "support/text/json.h"
#include "tools/report/report_impl.h"

void hone_report_key(hone_str *out, const char *key) {
    char before = out->length ? out->data[out->length - 1] : '[';
    if (before != '{' && before != '[' && before != ':') hone_str_append_char(out, ',');
    if (!key) return;
    hone_json_print_text(key, strlen(key), out);
    hone_str_append_char(out, ':');
}

void hone_report_put_text(hone_str *out, const char *key, const char *text) {
    hone_report_key(out, key);
    if (text) {
        hone_json_print_text(text, strlen(text), out);
    } else {
        hone_str_append(out, "null");
    }
}

void hone_report_put_i64(hone_str *out, const char *key, int64_t value) {
    hone_report_key(out, key);
    hone_str_printf(out, "%" PRId64, value);
}

void hone_report_put_f64(hone_str *out, const char *key, double value) {
    hone_report_key(out, key);
    hone_json_print_f64(value, out);
}

void hone_report_put_about(hone_str *out, const char *key, double value) {
    hone_report_key(out, key);
    hone_str_printf(out, isfinite(value) ? "%.6g" : "null", value);
}

void hone_report_put_hash(hone_str *out, const char *key, hone_hash128 hash) {
    char hex[HONE_HASH_HEX_BYTES];
    hone_report_put_text(out, key, hone_hash128_print(hash, hex));
}

void hone_report_put_bool(hone_str *out, const char *key, bool value) {
    hone_report_key(out, key);
    hone_str_append(out, value ? "true" : "false");
}
