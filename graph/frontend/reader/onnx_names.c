/* graph/frontend/reader/onnx_names.c - values by the names that they have in the model. */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"
#include "ir/core/grow.h"
#include "support/text/utf8.h"

void onnx_scope_deinit(onnx_scope *scope) {
    hone_strmap_deinit(&scope->names);
}

hone_status onnx_define(onnx_reader *r, const char *name, hone_garg arg) {
    size_t length = strlen(name);
    if (hone_utf8_valid_bytes(name, length) < length) {
        return HONE_ERROR(HONE_CODE_INVALID, "the name '%s' is not UTF-8", name);
    }
    if (hone_strmap_find(&r->scope->names, name, NULL)) {
        return HONE_ERROR(HONE_CODE_INVALID, "value '%s' is defined twice", name);
    }
    if (!hone_grow(r->arena, (void **)&r->args, &r->arg_capacity, r->arg_count, sizeof *r->args) ||
        !hone_strmap_put(&r->scope->names, name, r->arg_count)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    }
    r->args[r->arg_count++] = arg;
    return HONE_OK;
}

bool onnx_lookup(const onnx_reader *r, const char *name, hone_garg *out) {
    uint64_t at;
    for (const onnx_scope *scope = r->scope; scope; scope = scope->around) {
        if (!hone_strmap_find(&scope->names, name, &at)) continue;
        *out = r->args[at];
        return true;
    }
    return false;
}
