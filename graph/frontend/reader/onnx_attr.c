/* graph/frontend/reader/onnx_attr.c - attributes of the node that is being converted. */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

const Onnx__AttributeProto *onnx_attr_named(size_t count, Onnx__AttributeProto *const *attrs,
                                            const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (attrs[i]->name && strcmp(attrs[i]->name, name) == 0) return attrs[i];
    }
    return NULL;
}

/* What stands behind a name of a function's attribute: it may be one of the function around the
 * call again. */
static const Onnx__AttributeProto *resolve(const onnx_call *call,
                                           const Onnx__AttributeProto *attr) {
    while (attr && attr->ref_attr_name && attr->ref_attr_name[0]) {
        const char *name = attr->ref_attr_name;
        if (!call) return NULL;
        attr = onnx_attr_named(call->node->n_attribute, call->node->attribute, name);
        if (!attr) {
            const Onnx__FunctionProto *f = call->function;
            return onnx_attr_named(f->n_attribute_proto, f->attribute_proto, name);
        }
        call = call->outer;
    }
    return attr;
}

/* That of a node, of the function around it where it refers there; or NULL. */
static const Onnx__AttributeProto *onnx_attr_of(const onnx_reader *r, const Onnx__NodeProto *node,
                                                const char *name) {
    return resolve(r->call, onnx_attr_named(node->n_attribute, node->attribute, name));
}

const Onnx__AttributeProto *onnx_attr(const onnx_reader *r, const char *name) {
    return onnx_attr_of(r, r->node, name);
}

static hone_status wrong_type(const char *name, const char *want) {
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' must be %s", name, want);
}

/* Files of the first versions say no type. */
static bool has_type(const Onnx__AttributeProto *attr, Onnx__AttributeProto__AttributeType type) {
    return !attr->has_type || attr->type == type;
}

hone_status onnx_attr_int(const onnx_reader *r, const char *name, int64_t fallback, int64_t *out) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    *out = fallback;
    if (!attr) return HONE_OK;
    if (!has_type(attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT)) {
        return wrong_type(name, "an integer");
    }
    *out = attr->i;
    return HONE_OK;
}

hone_status onnx_attr_usual(const onnx_reader *r, const char *name, int64_t usual) {
    int64_t value;
    HONE_TRY(onnx_attr_int(r, name, usual, &value));
    if (value == usual) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' = %lld is not implemented", name,
                      (long long)value);
}

hone_status onnx_attr_float(const onnx_reader *r, const char *name, double fallback, double *out) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    *out = (double)(float)fallback; /* attributes are of float32, those that are left out, too */
    if (!attr) return HONE_OK;
    if (!has_type(attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)) {
        return wrong_type(name, "a number");
    }
    *out = attr->f;
    return HONE_OK;
}

hone_status onnx_attr_text(const onnx_reader *r, const char *name, const char *fallback,
                           char out[64]) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    size_t length = attr ? attr->s.len : strlen(fallback);
    const void *text = attr ? (const void *)attr->s.data : fallback;
    if (attr && !has_type(attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING)) {
        return wrong_type(name, "a string");
    }
    if (length > 63) length = 63;
    if (length) memcpy(out, text, length);
    out[length] = 0;
    return HONE_OK;
}

hone_status onnx_attr_word(const onnx_reader *r, const char *name, const char *fallback,
                           const char *const *words, uint32_t *out) {
    char text[64];
    hone_str list = {0};
    HONE_TRY(onnx_attr_text(r, name, fallback, text));
    for (*out = 0; words[*out]; ++*out) {
        if (strcmp(text, words[*out]) == 0) return HONE_OK;
    }
    for (uint32_t i = 0; words[i]; i++)
        hone_str_printf(&list, "%s%s", i ? ", " : "", words[i]);
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' has value '%s'; expected one of %s", name,
                   text, hone_str_text(&list));
    hone_str_deinit(&list);
    return st;
}

hone_status onnx_attr_ints(const onnx_reader *r, const char *name, uint32_t most, int64_t *out,
                           uint32_t *out_count) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    *out_count = 0;
    if (!attr) return HONE_OK;
    if (!has_type(attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS)) {
        return wrong_type(name, "a list of integers");
    }
    if (attr->n_ints > most) {
        return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' has %zu integers, at most %u fit",
                          name, attr->n_ints, most);
    }
    if (attr->n_ints) memcpy(out, attr->ints, attr->n_ints * sizeof *out);
    *out_count = (uint32_t)attr->n_ints;
    return HONE_OK;
}

hone_status onnx_attr_ints_n(const onnx_reader *r, const char *name, uint32_t count,
                             int64_t fallback, int64_t *out) {
    uint32_t have;
    for (uint32_t i = 0; i < count; i++)
        out[i] = fallback;
    HONE_TRY(onnx_attr_ints(r, name, count, out, &have));
    if (have != count && onnx_attr(r, name)) {
        return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' has %u integers, must have %u", name,
                          have, count);
    }
    return HONE_OK;
}

static bool is_word_of(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t next = strcspn(at, " ");
        if (next == length && memcmp(at, word, length) == 0) return true;
        at += next;
    }
    return false;
}

hone_status onnx_check_attrs(const onnx_reader *r, const char *allowed) {
    for (size_t i = 0; i < r->node->n_attribute; i++) {
        const char *name = r->node->attribute[i]->name;
        if (!name) return HONE_ERROR(HONE_CODE_INVALID, "an attribute without a name");
        if (onnx_attr_named(i, r->node->attribute, name)) {
            return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' is given twice", name);
        }
        if (is_word_of(allowed, name)) continue;
        if (!*allowed) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "attribute '%s' is not implemented; the operator has none", name);
        }
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "attribute '%s' is not implemented; known ones are: %s", name, allowed);
    }
    return HONE_OK;
}
