/* ir/text/read/graph/script_metadata.c - the numbers of constants in the text itself, as TVM prints
 * them:
 *
 *   metadata = tvm.ir.load_json("""{"root_index": 29, "nodes": [ … ]}""")
 *
 * The root is a map of lists; those of the list "ir.GenericConst", before 0.27
 * "relax.expr.Constant", are tensors in base64: a header, the shape, the numbers. */
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"
#include "ir/text/tvm_json.h"
#include "support/text/base64.h"

/* ---- one tensor ---- */

/* What stands before the shape and the number of bytes. */
typedef struct tensor_head {
    uint64_t magic, reserved;
    int32_t device_type, device_id, rank;
    uint8_t code, bits; /* of DLPack */
    uint16_t lanes;
} tensor_head;

#define TENSOR_MAGIC 0xdd5e40f096b4a13fu

/* By the code of DLPack. */
static const uint8_t dtype_codes[] = {
    HONE_DTYPE_CODE_INT,
    HONE_DTYPE_CODE_UINT,
    HONE_DTYPE_CODE_FLOAT,
    HONE_DTYPE_CODE_VOID,
    HONE_DTYPE_CODE_BFLOAT,
    HONE_DTYPE_CODE_VOID,
    HONE_DTYPE_CODE_BOOL,
    HONE_DTYPE_CODE_FLOAT8_E3M4,
    HONE_DTYPE_CODE_FLOAT8_E4M3_IEEE,
    HONE_DTYPE_CODE_FLOAT8_E4M3B11FNUZ,
    HONE_DTYPE_CODE_FLOAT8_E4M3,
    HONE_DTYPE_CODE_FLOAT8_E4M3FNUZ,
    HONE_DTYPE_CODE_FLOAT8_E5M2,
    HONE_DTYPE_CODE_FLOAT8_E5M2FNUZ,
    HONE_DTYPE_CODE_FLOAT8_E8M0FNU,
};

static bool dtype_of(const tensor_head *head, hone_dtype *out) {
    bool is_known = head->code < HONE_COUNT(dtype_codes) &&
                    dtype_codes[head->code] != HONE_DTYPE_CODE_VOID && head->bits % 8 == 0;
    bool is_old_bool = head->code == 1 && head->bits == 1; /* uint1, in a byte */
    if (head->lanes != 1 || (!is_known && !is_old_bool)) return false;
    *out = is_old_bool
               ? HONE_DTYPE_BOOL
               : (hone_dtype){.code = dtype_codes[head->code], .bits = head->bits, .lanes = 1};
    return hone_dtype_is_storable(*out);
}

static hone_status bad(const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID, "metadata: %s", what);
}

/* Is the shape that of so many bytes? Asked before there is memory for them. */
static bool has_bytes(hone_dtype dtype, int32_t rank, const int64_t *shape, int64_t bytes) {
    int64_t product = hone_dtype_bytes(dtype);
    for (int32_t d = 0; d < rank; d++) {
        if (shape[d] < 0 || __builtin_mul_overflow(product, shape[d], &product)) return false;
    }
    return product == bytes;
}

static hone_status read_tensor(const char *bytes, size_t length, hone_tensor **out) {
    tensor_head head;
    int64_t shape[HONE_MAX_RANK], count;
    hone_dtype dtype;
    if (length < sizeof head) return bad("a tensor has an end too early");
    memcpy(&head, bytes, sizeof head);
    if (head.magic != TENSOR_MAGIC) return bad("a tensor does not begin like one");
    if (!dtype_of(&head, &dtype)) return bad("a tensor is of a type that is not known");
    if (head.rank < 0 || head.rank > HONE_MAX_RANK) return bad("a tensor has too many dimensions");
    size_t shape_bytes = (size_t)head.rank * sizeof *shape, at = sizeof head + shape_bytes;
    if (length < at + sizeof count) return bad("a tensor has an end too early");
    memcpy(shape, bytes + sizeof head, shape_bytes);
    memcpy(&count, bytes + at, sizeof count);
    at += sizeof count;
    if (length - at != (uint64_t)count || !has_bytes(dtype, head.rank, shape, count)) {
        return bad("a tensor has fewer or more numbers than its shape");
    }
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(dtype, head.rank, shape, &tensor));
    if (count) memcpy(tensor->data, bytes + at, (size_t)count);
    *out = tensor;
    return HONE_OK;
}

static hone_status decode_tensor(const char *text, hone_tensor **out) {
    hone_str bytes = {0};
    hone_status st = hone_base64_decode(text, strlen(text), &bytes)
                         ? read_tensor(hone_str_text(&bytes), bytes.length, out)
                         : bad("a tensor is no base64");
    if (bytes.failed) st = hone_status_join(st, HONE_ERROR(HONE_CODE_NO_MEMORY, "metadata"));
    hone_str_deinit(&bytes);
    return st;
}

/* ---- which tensors ---- */

/* The list of constants in the map at the root; NULL: it has none. */
static const hone_json *constants_of(const hone_json *nodes, const hone_json *map) {
    const hone_json *data = hone_json_find(map, "data"), *keys = hone_json_find(map, "keys");
    size_t step = keys ? 1 : 2; /* before 0.20 keys had a list of their own */
    for (size_t i = 0; i < hone_json_count(data) / step; i++) {
        int64_t key_at, list_at;
        const hone_json *key = keys ? hone_json_at(keys, i) : NULL;
        if (!keys && tvm_json_number(hone_json_at(data, 2 * i), &key_at)) {
            key = hone_json_find(tvm_json_at(nodes, key_at), "data");
        }
        const char *name = hone_json_is(key, HONE_JSON_TEXT) ? hone_json_text(key) : "";
        if (!script_is_constant_key(name)) continue;
        if (!tvm_json_number(hone_json_at(data, step * i + step - 1), &list_at)) return NULL;
        return hone_json_find(tvm_json_at(nodes, list_at), "data");
    }
    return NULL;
}

/* The base64 of a constant: a node of its own, before 0.20 one of a list beside the nodes. */
static const char *text_of(const hone_json *json, const hone_json *nodes,
                           const hone_json *constant) {
    int64_t index;
    const hone_json *node = tvm_json_child(nodes, constant, "value", &index);
    if (tvm_json_is(node, "Tensor") || tvm_json_is(node, "NDArray")) return tvm_json_text(node);
    const hone_json *texts = hone_json_find(json, "b64ndarrays");
    if (!tvm_json_number(tvm_json_member(constant, "data"), &index) || index < 0) return NULL;
    const hone_json *text = hone_json_at(texts, (size_t)index);
    return hone_json_is(text, HONE_JSON_TEXT) ? hone_json_text(text) : NULL;
}

static hone_status read_constants(script_parser *p, const hone_json *json) {
    const hone_json *nodes;
    int64_t root, index;
    if (!tvm_json_open(json, &nodes, &root)) return bad("no graph of objects");
    const hone_json *list = constants_of(nodes, tvm_json_at(nodes, root));
    size_t count = hone_json_count(list);
    count = count > p->weight_count ? count : p->weight_count;
    hone_tensor **weights = hone_arena_zalloc(p->scratch, (count + 1) * sizeof *weights);
    p->own_weights = hone_arena_zalloc(p->scratch, (count + 1) * sizeof *p->own_weights);
    if (!weights || !p->own_weights) return HONE_ERROR(HONE_CODE_NO_MEMORY, "metadata");
    for (uint32_t i = 0; i < p->weight_count; i++)
        weights[i] = p->weights[i];
    p->weights = weights;
    p->weight_count = (uint32_t)count;
    for (size_t i = 0; i < hone_json_count(list); i++) {
        bool is_number = tvm_json_number(hone_json_at(list, i), &index);
        const hone_json *node = is_number ? tvm_json_at(nodes, index) : NULL;
        const char *text = node ? text_of(json, nodes, node) : NULL;
        if (!text) return bad("a constant without a tensor");
        HONE_TRY(decode_tensor(text, &weights[i]));
        p->own_weights[i] = weights[i];
    }
    return HONE_OK;
}

/* ---- the statement ---- */

bool script_is_constant_key(const char *key) {
    return strcmp(key, "ir.GenericConst") == 0 || strcmp(key, "relax.expr.Constant") == 0;
}

bool script_is_metadata(const py_node *node) {
    bool is_call = node->kind == PY_ASSIGN && node->base->kind == PY_CALL &&
                   node->base->base->kind == PY_ATTRIBUTE;
    return is_call && node->items[0]->kind == PY_NAME &&
           strcmp(node->items[0]->name, "metadata") == 0;
}

bool script_parse_metadata(script_parser *p, const py_node *node) {
    const py_node *call = node->base;
    uint32_t at = node->at;
    py_value text;
    if (p->own_weights) return script_fail(p, at, "a text has one metadata");
    if (call->count != 1) return script_fail(p, call->at, "load_json takes one text");
    if (!script_eval(p, call->items[0], &text)) return false;
    if (text.kind != PYV_STRING) {
        return script_fail(p, text.at, "expected JSON in a text, found %s",
                           script_kind_name(&text));
    }
    hone_json *json = NULL;
    hone_status st = hone_json_parse(text.u.s, strlen(text.u.s), &json);
    st = st ? hone_status_annotate(st, "metadata") : read_constants(p, json);
    hone_json_destroy(json);
    return script_check(p, at, st);
}

void script_free_metadata(script_parser *p) {
    for (uint32_t i = 0; p->own_weights && i < p->weight_count; i++)
        hone_tensor_destroy(p->own_weights[i]);
}
