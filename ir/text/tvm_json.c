/* ir/text/tvm_json.c - see tvm_json.h. */
#include "ir/text/tvm_json.h"

#include <stdlib.h>
#include <string.h>

bool tvm_json_open(const hone_json *json, const hone_json **out_nodes, int64_t *out_root) {
    const hone_json *root = hone_json_find(json, "root_index");
    *out_nodes = hone_json_find(json, "nodes");
    return tvm_json_number(root ? root : hone_json_find(json, "root"), out_root) &&
           hone_json_is(*out_nodes, HONE_JSON_ARRAY) && tvm_json_at(*out_nodes, *out_root);
}

const char *tvm_json_type(const hone_json *node) {
    const hone_json *type = hone_json_find(node, "type");
    if (!type) type = hone_json_find(node, "type_key");
    if (!hone_json_is(type, HONE_JSON_TEXT)) return "";
    const char *text = hone_json_text(type), *dot = strrchr(text, '.');
    return dot ? dot + 1 : text;
}

bool tvm_json_is(const hone_json *node, const char *type) {
    return node && strcmp(tvm_json_type(node), type) == 0;
}

const hone_json *tvm_json_at(const hone_json *nodes, int64_t index) {
    return index < 0 ? NULL : hone_json_at(nodes, (size_t)index);
}

const hone_json *tvm_json_member(const hone_json *node, const char *key) {
    const hone_json *data = hone_json_find(node, "attrs");
    if (!data) data = hone_json_find(node, "data");
    return hone_json_is(data, HONE_JSON_OBJECT) ? hone_json_find(data, key) : NULL;
}

bool tvm_json_number(const hone_json *json, int64_t *out) {
    if (hone_json_is(json, HONE_JSON_INT)) {
        *out = hone_json_i64(json);
        return true;
    }
    if (!hone_json_is(json, HONE_JSON_TEXT)) return false;
    char *end = NULL;
    *out = strtoll(hone_json_text(json), &end, 10);
    return end != hone_json_text(json) && *end == '\0';
}

const hone_json *tvm_json_child(const hone_json *nodes, const hone_json *node, const char *key,
                                int64_t *out_index) {
    if (!tvm_json_number(tvm_json_member(node, key), out_index)) return NULL;
    return tvm_json_at(nodes, *out_index);
}

const char *tvm_json_text(const hone_json *node) {
    const hone_json *data = hone_json_find(node, "data");
    if (!hone_json_is(data, HONE_JSON_TEXT)) data = hone_json_find(node, "repr_str");
    return hone_json_is(data, HONE_JSON_TEXT) ? hone_json_text(data) : NULL;
}

const char *tvm_json_text_member(const hone_json *nodes, const hone_json *node, const char *key) {
    int64_t index;
    const hone_json *there = tvm_json_child(nodes, node, key, &index);
    const char *text = there ? tvm_json_text(there) : NULL;
    if (text) return text;
    const hone_json *own = tvm_json_member(node, key);
    return hone_json_is(own, HONE_JSON_TEXT) ? hone_json_text(own) : NULL;
}
