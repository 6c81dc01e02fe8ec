/* compile/compile_report.c - words for what is compiled, and which kernel came from where as JSON.
 */
#include <math.h>
#include <string.h>

#include "compile/compile.h"
#include "support/text/json.h"

static const char *const source_names[] = {"plain", "default", "record", "written", "host"};

const hone_compile_emit_row hone_compile_emits[] = {
#define HONE_EMIT(id, name, kernels, ending, comment, generator, form, facts)                      \
    {name, kernels, ending, comment, facts},
#include "codegen/emits.def"
#undef HONE_EMIT
};

const char *hone_compile_source_name(hone_compile_source source) {
    return source_names[source];
}

bool hone_compile_emit_parse(const char *text, hone_compile_emit *out_emit) {
    *out_emit = HONE_COMPILE_SO;
    for (int i = 0; i < HONE_COMPILE_EMIT_COUNT; i++) {
        if (strcmp(hone_compile_emits[i].name, text) != 0) continue;
        *out_emit = (hone_compile_emit)i;
        return true;
    }
    return false;
}

static void json_text(hone_str *out, const char *text) {
    hone_json_print_text(text ? text : "", text ? strlen(text) : 0, out);
}

static void json_text_or_null(hone_str *out, const char *text) {
    if (text)
        json_text(out, text);
    else
        hone_str_append(out, "null");
}

void hone_compile_result_print_json(const hone_compile_result *result, hone_str *out) {
    char hex[HONE_HASH_HEX_BYTES];
    hone_str_append(out, "{\"kernels\": [");
    for (uint32_t i = 0; i < result->kernel_count; i++) {
        const hone_compile_kernel *k = &result->kernels[i];
        hone_str_append(out, i ? ", {\"name\": " : "{\"name\": ");
        json_text(out, k->name);
        hone_str_printf(out, ", \"hash\": \"%s\", \"calls\": %u, \"from\": \"%s\", \"record\": ",
                        hone_hash128_print(k->hash, hex), k->calls, source_names[k->source]);
        if (k->record) {
            hone_str_printf(out, "%lld", (long long)k->record);
        } else {
            hone_str_append(out, "null");
        }
        if (!isnan(k->record_ns)) hone_str_printf(out, ", \"record_ns\": %.1f", k->record_ns);
        hone_str_printf(out, ", \"confirmed\": %s, \"match\": \"%s\", \"stale\": %s",
                        k->is_confirmed ? "true" : "false", hone_record_match_name(k->match),
                        k->match == HONE_RECORD_STALE ? "true" : "false");
        hone_str_printf(out, ", \"stale_records\": %lld, \"earlier_records\": %lld",
                        (long long)k->stale, (long long)k->earlier);
        hone_str_append(out, ", \"variant\": ");
        json_text_or_null(out, k->variant);
        hone_str_append(out, ", \"earlier_reason\": ");
        json_text_or_null(out, k->earlier_reason);
        hone_str_append(out, ", \"reason\": ");
        json_text(out, k->reason);
        hone_str_append(out, "}");
    }
    hone_str_printf(out,
                    "], \"plans\": %u, \"records\": %u, \"translated\": %u, \"defaults\": %u, "
                    "\"plain\": %u, \"written\": %u, \"host\": %u, "
                    "\"weights_bytes\": %lld, "
                    "\"workspace_bytes\": %lld, \"library_bytes\": %lld, \"files\": [",
                    result->plan_count, result->counts[HONE_COMPILE_RECORD], result->translated,
                    result->counts[HONE_COMPILE_DEFAULT], result->counts[HONE_COMPILE_PLAIN],
                    result->counts[HONE_COMPILE_WRITTEN], result->counts[HONE_COMPILE_HOST],
                    (long long)result->weights_bytes, (long long)result->workspace_bytes,
                    (long long)result->library_bytes);
    for (uint32_t i = 0; i < result->file_count; i++) {
        if (i) hone_str_append(out, ", ");
        json_text(out, result->files[i]);
    }
    hone_str_append(out, "]");
    if (result->left_out) {
        hone_str_append(out, ", \"left_out\": ");
        json_text(out, result->left_out);
    }
    hone_str_append(out, "}\n");
}
