/* tests/graph/onnx_text.c - writes protobuf by hand: field numbers are those of onnx.proto. */
#include "tests/graph/onnx_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data/rng.h"
#include "tests/support/hone_test.h"

static void put_varint(hone_str *out, uint64_t value) {
    do {
        hone_str_append_char(out, (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0)));
        value >>= 7;
    } while (value);
}

static void put_int(hone_str *out, unsigned field, int64_t value) {
    put_varint(out, field << 3);
    put_varint(out, (uint64_t)value);
}

static void put_float(hone_str *out, unsigned field, float value) {
    put_varint(out, field << 3 | 5);
    hone_str_append_n(out, (const char *)&value, sizeof value);
}

static void put_bytes(hone_str *out, unsigned field, const void *bytes, size_t count) {
    put_varint(out, field << 3 | 2);
    put_varint(out, count);
    hone_str_append_n(out, bytes, count);
}

static void put_text(hone_str *out, unsigned field, const char *text) {
    put_bytes(out, field, text, strlen(text));
}

/* Ends a message: puts it under a field of another one. */
static void put_message(hone_str *out, unsigned field, hone_str *message) {
    put_bytes(out, field, hone_str_text(message), message->length);
    hone_str_deinit(message);
}

/* ---- words ---- */

/* The next word, up to a space; empty at the end. */
static const char *next_word(char **at) {
    while (**at == ' ')
        ++*at;
    char *word = *at;
    while (**at && **at != ' ')
        ++*at;
    if (**at) *(*at)++ = 0;
    return word;
}

/* The next part of a comma-separated list, or NULL. */
static char *next_item(char **at) {
    if (!*at) return NULL;
    char *item = *at, *comma = strchr(item, ',');
    if (comma) *comma = 0;
    *at = comma ? comma + 1 : NULL;
    return item;
}

static const struct {
    const char *name;
    int type;
    hone_dtype dtype;
} types[] = {
    {"f32",  1,  HONE_DTYPE_INIT(FLOAT,       32, 1)},
    {"u8",   2,  HONE_DTYPE_INIT(UINT,        8,  1)},
    {"i8",   3,  HONE_DTYPE_INIT(INT,         8,  1)},
    {"i32",  6,  HONE_DTYPE_INIT(INT,         32, 1)},
    {"i64",  7,  HONE_DTYPE_INIT(INT,         64, 1)},
    {"u64",  13, HONE_DTYPE_INIT(UINT,        64, 1)},
    {"str",  8,  HONE_DTYPE_INIT(VOID,        0,  1)},
    {"bool", 9,  HONE_DTYPE_INIT(BOOL,        8,  1)},
    {"f16",  10, HONE_DTYPE_INIT(FLOAT,       16, 1)},
    {"f64",  11, HONE_DTYPE_INIT(FLOAT,       64, 1)},
    {"bf16", 16, HONE_DTYPE_INIT(BFLOAT,      16, 1)},
    {"f8",   17, HONE_DTYPE_INIT(FLOAT8_E4M3, 8,  1)},
    {"i4",   22, HONE_DTYPE_INIT(INT,         4,  1)}
};

static size_t type_row(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0) return i;
    }
    fail_msg("no type '%s'", name);
    return 0;
}

void onnx_text_number(hone_tensor *tensor, int64_t index, const char *text) {
    if (hone_dtype_is_float(tensor->dtype)) {
        hone_tensor_set_f64(tensor, index, strtod(text, NULL));
    } else if (hone_dtype_is_uint(tensor->dtype)) {
        hone_tensor_set_i64(tensor, index, (int64_t)strtoull(text, NULL, 10));
    } else {
        hone_tensor_set_i64(tensor, index, strtoll(text, NULL, 10));
    }
}

/* ---- statements ---- */

static void encode_value_info(char *rest, unsigned field, bool has_type, hone_str *graph) {
    hone_str info = {0}, type = {0}, tensor = {0}, shape = {0};
    put_text(&info, 1, next_word(&rest));
    if (has_type) {
        put_int(&tensor, 1, types[type_row(next_word(&rest))].type);
        const char *word = next_word(&rest);
        char dims[256], *list = dims;
        snprintf(dims, sizeof dims, "%s", word);
        for (char *item; *word && (item = next_item(&list)) != NULL;) {
            hone_str dim = {0};
            char *end;
            long long size = strtoll(item, &end, 10);
            if (*item && !*end)
                put_int(&dim, 1, size);
            else if (*item != '?')
                put_text(&dim, 2, *item == '\'' ? item + 1 : item);
            put_message(&shape, 1, &dim);
        }
        put_message(&tensor, 2, &shape);
        put_message(&type, 1, &tensor);
        put_message(&info, 2, &type);
    }
    put_message(graph, field, &info);
}

/* Two numbers of four bits in a byte, the first one in the low bits; how many bytes that are. */
static size_t pack(unsigned char *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned bits = numbers[i] & 0xfu;
        numbers[i / 2] = (unsigned char)(i % 2 ? numbers[i / 2] | bits << 4 : bits);
    }
    return count / 2 + count % 2;
}

static void encode_const(char *rest, hone_str *graph) {
    hone_str proto = {0};
    int64_t shape[HONE_MAX_RANK];
    int32_t rank = 0;
    const char *name = next_word(&rest);
    size_t row = type_row(next_word(&rest));
    char *dims = (char *)(uintptr_t)next_word(&rest);
    for (char *item; (item = next_item(&dims)) != NULL && *item && *item != '=';) {
        shape[rank++] = strtoll(item, NULL, 10);
        put_int(&proto, 1, shape[rank - 1]);
    }
    if (rank) assert_string_equal(next_word(&rest), "=");
    hone_tensor *tensor;
    HONE_ASSERT_OK(hone_tensor_create(types[row].dtype, rank, shape, &tensor));
    if (strncmp(rest, "random", 6) == 0) {
        hone_rng rng = hone_rng_from_seed(hone_hash64(name, strlen(name)));
        hone_tensor_fill_random(tensor, &rng, -1, 1);
    } else {
        for (int64_t i = 0; i < hone_tensor_count(tensor); i++) {
            char *item = next_item(&rest);
            assert_non_null(item);
            onnx_text_number(tensor, i, item);
        }
    }
    put_int(&proto, 2, types[row].type);
    put_text(&proto, 8, name);
    size_t bytes = hone_tensor_bytes(tensor);
    if (tensor->dtype.bits == 4) bytes = pack(tensor->data, bytes);
    put_bytes(&proto, 9, tensor->data, bytes);
    hone_tensor_destroy(tensor);
    put_message(graph, 5, &proto);
}

/* A vector of numbers in a TensorProto, which is field `field`. */
static void encode_numbers(size_t row, const char *name, const char *text, unsigned field,
                           hone_str *out) {
    hone_str proto = {0};
    int64_t count = *text != 0;
    for (const char *c = text; *c; c++)
        count += *c == ',';
    hone_tensor *tensor;
    HONE_ASSERT_OK(hone_tensor_create(types[row].dtype, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++) {
        onnx_text_number(tensor, i, text);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    put_int(&proto, 1, count);
    put_int(&proto, 2, types[row].type);
    if (name) put_text(&proto, 8, name);
    put_bytes(&proto, 9, tensor->data, hone_tensor_bytes(tensor));
    hone_tensor_destroy(tensor);
    put_message(out, field, &proto);
}

/* sparse NAME TYPE DIMS = INDICES = VALUES */
static void encode_sparse(char *rest, hone_str *graph) {
    hone_str proto = {0};
    const char *name = next_word(&rest);
    size_t row = type_row(next_word(&rest));
    char *dims = (char *)(uintptr_t)next_word(&rest);
    assert_string_equal(next_word(&rest), "=");
    const char *indices = next_word(&rest);
    assert_string_equal(next_word(&rest), "=");
    encode_numbers(row, name, next_word(&rest), 1, &proto);
    encode_numbers(type_row("i64"), NULL, indices, 2, &proto);
    for (char *item; (item = next_item(&dims)) != NULL;)
        put_int(&proto, 3, strtoll(item, NULL, 10));
    put_message(graph, 15, &proto);
}

/* external NAME TYPE DIMS LOCATION OFFSET LENGTH: the data lies in another file. */
static void encode_external(char *rest, hone_str *graph) {
    static const char *const keys[] = {"location", "offset", "length"};
    hone_str proto = {0};
    const char *name = next_word(&rest);
    size_t row = type_row(next_word(&rest));
    char *dims = (char *)(uintptr_t)next_word(&rest);
    for (char *item; (item = next_item(&dims)) != NULL;) {
        put_int(&proto, 1, strtoll(item, NULL, 10));
    }
    put_int(&proto, 2, types[row].type);
    put_text(&proto, 8, name);
    for (int i = 0; i < 3; i++) {
        hone_str entry = {0};
        put_text(&entry, 1, keys[i]);
        put_text(&entry, 2, next_word(&rest));
        put_message(&proto, 13, &entry);
    }
    put_int(&proto, 14, 1);
    put_message(graph, 5, &proto);
}

enum {
    TYPE_FLOAT = 1,
    TYPE_INT = 2,
    TYPE_STRING = 3,
    TYPE_TENSOR = 4,
    TYPE_GRAPH = 5,
    TYPE_FLOATS = 6,
    TYPE_INTS = 7,
    TYPE_STRINGS = 8
};

/* {f64:1,2}: a vector. */
static void encode_vector(char *text, hone_str *attr) {
    hone_str proto = {0};
    char *list = strchr(text, ':');
    assert_non_null(list);
    *list++ = 0;
    list[strcspn(list, "}")] = 0;
    const size_t row = type_row(text + 1);
    int64_t count = 1;
    for (const char *at = list; (at = strchr(at, ',')) != NULL; at++)
        count++;
    hone_tensor *tensor;
    HONE_ASSERT_OK(hone_tensor_create(types[row].dtype, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++)
        onnx_text_number(tensor, i, next_item(&list));
    put_int(&proto, 1, count);
    put_int(&proto, 2, types[row].type);
    put_bytes(&proto, 9, tensor->data, hone_tensor_bytes(tensor));
    hone_tensor_destroy(tensor);
    put_message(attr, 5, &proto);
    put_int(attr, 20, TYPE_TENSOR);
}

static void encode_attr(char *word, unsigned field, hone_str *node) {
    hone_str attr = {0};
    char *value = strchr(word, '=');
    assert_non_null(value);
    *value++ = 0;
    put_text(&attr, 1, word);
    if (*value == '@') {
        put_text(&attr, 21, value + 1);
    } else if (*value == '{') {
        encode_vector(value, &attr);
    } else if (*value == '\'') {
        put_bytes(&attr, 4, value + 1, strlen(value) - 2);
        put_int(&attr, 20, TYPE_STRING);
    } else if (*value == '[') {
        value[strlen(value) - 1] = 0;
        char *list = value[1] ? value + 1 : NULL;
        bool are_texts = value[1] == '\'', are_floats = !are_texts && strchr(value, '.');
        for (char *item; (item = next_item(&list)) != NULL;) {
            if (are_texts)
                put_bytes(&attr, 9, item + 1, strlen(item) - 2);
            else if (are_floats)
                put_float(&attr, 7, strtof(item, NULL));
            else
                put_int(&attr, 8, strtoll(item, NULL, 10));
        }
        put_int(&attr, 20, are_texts ? TYPE_STRINGS : are_floats ? TYPE_FLOATS : TYPE_INTS);
    } else if (strchr(value, '.')) {
        put_float(&attr, 2, strtof(value, NULL));
        put_int(&attr, 20, TYPE_FLOAT);
    } else {
        put_int(&attr, 3, strtoll(value, NULL, 10));
        put_int(&attr, 20, TYPE_INT);
    }
    put_message(node, field, &attr);
}

/* The domain of "my.Name", and the name. */
static void put_names(hone_str *out, unsigned domain_field, unsigned name_field, const char *op) {
    const char *dot = strrchr(op, '.');
    char domain[64];
    snprintf(domain, sizeof domain, "%.*s", dot ? (int)(dot - op) : 0, op);
    if (dot) put_text(out, domain_field, domain);
    put_text(out, name_field, dot ? dot + 1 : op);
}

static void encode_opset(const char *domain, int64_t version, unsigned field, hone_str *out) {
    hone_str set = {0};
    if (*domain) put_text(&set, 1, domain);
    put_int(&set, 2, version);
    put_message(out, field, &set);
}

/* The head of a function; its nodes follow. */
static void encode_function(char *rest, hone_str *function) {
    put_names(function, 10, 1, next_word(&rest));
    for (unsigned field = 4; field <= 5; field++) {
        char *list = (char *)(uintptr_t)next_word(&rest);
        for (char *item; (item = next_item(&list)) != NULL;)
            put_text(function, field, item);
        if (field == 4) assert_string_equal(next_word(&rest), "->");
    }
    encode_opset("my", 1, 9, function);
    for (const char *word; *(word = next_word(&rest));) {
        if (strncmp(word, "opset=", 6) == 0)
            encode_opset("", strtoll(word + 6, NULL, 10), 9, function);
        else if (strchr(word, '='))
            encode_attr((char *)(uintptr_t)word, 11, function);
        else
            put_text(function, 6, word);
    }
}

/* As an attribute. Takes the graph. */
static void encode_body(const char *name, hone_str *body, hone_str *out) {
    hone_str attr = {0};
    put_text(&attr, 1, name);
    put_message(&attr, 6, body);
    put_int(&attr, 20, TYPE_GRAPH);
    put_message(out, 5, &attr);
}

/* bodies: attributes of the node, taken; NULL where it stands in one itself. */
static void encode_node(char *rest, hone_str *bodies, unsigned out_field, hone_str *out) {
    hone_str node = {0};
    const char *op = next_word(&rest);
    for (int field = 1; field <= 2; field++) {
        char *list = (char *)(uintptr_t)next_word(&rest);
        if (strcmp(list, "->") == 0) { /* no inputs */
            field++;
            list = (char *)(uintptr_t)next_word(&rest);
        }
        char first[64];
        snprintf(first, sizeof first, "%.60s", list);
        for (char *item; (item = next_item(&list)) != NULL;)
            put_text(&node, (unsigned)field, item);
        if (field == 1) assert_string_equal(next_word(&rest), "->");
        if (field == 2) {
            first[strcspn(first, ",")] = 0;
            put_text(&node, 3, first);
        }
    }
    put_names(&node, 7, 4, op);
    for (const char *word; *(word = next_word(&rest));)
        encode_attr((char *)(uintptr_t)word, 5, &node);
    if (bodies) {
        hone_str_append_n(&node, hone_str_text(bodies), bodies->length);
        hone_str_deinit(bodies);
    }
    put_message(out, out_field, &node);
}

void onnx_text_encode(const char *text, hone_str *out) {
    hone_str graph = {0}, function = {0}, body = {0}, bodies = {0}, *to = &graph;
    char body_name[64] = "";
    int64_t opset = 13, other = 0, format = 8;
    unsigned nodes = 1; /* the field of nodes in what they go to */
    put_text(&graph, 2, "test");
    while (*text) {
        char line[4096], *rest = line;
        size_t length = strcspn(text, "\n");
        assert_true(length < sizeof line);
        memcpy(line, text, length);
        line[length] = 0;
        text += length + (text[length] != 0);
        const char *word = next_word(&rest);
        if (strcmp(word, "opset") == 0)
            opset = strtoll(next_word(&rest), NULL, 10);
        else if (strcmp(word, "also") == 0)
            other = strtoll(next_word(&rest), NULL, 10);
        else if (strcmp(word, "ir") == 0)
            format = strtoll(next_word(&rest), NULL, 10);
        else if (strcmp(word, "input") == 0)
            encode_value_info(rest, 11, true, to);
        else if (strcmp(word, "output") == 0)
            encode_value_info(rest, 12, strchr(rest, ' ') != NULL, to);
        else if (strcmp(word, "const") == 0)
            encode_const(rest, &graph);
        else if (strcmp(word, "sparse") == 0)
            encode_sparse(rest, &graph);
        else if (strcmp(word, "external") == 0)
            encode_external(rest, &graph);
        else if (strcmp(word, "node") == 0)
            encode_node(rest, to == &body ? NULL : &bodies, nodes, to);
        else if (strcmp(word, "function") == 0)
            encode_function(rest, &function), to = &function, nodes = 7;
        else if (strcmp(word, "body") == 0) {
            const char *name = next_word(&rest);
            snprintf(body_name, sizeof body_name, "%.60s", *name ? name : "body");
            put_text(&body, 2, "body"), to = &body;
        } else if (strcmp(word, "end") == 0) {
            if (to == &body) encode_body(body_name, &body, &bodies);
            if (to == &function) put_message(out, 25, &function);
            to = &graph, nodes = 1;
        } else if (*word)
            fail_msg("statement '%s'", word);
    }
    put_int(out, 1, format);
    put_message(out, 7, &graph);
    encode_opset("", opset, 8, out);
    if (other) encode_opset("ai.onnx", other, 8, out);
    encode_opset("my", 1, 8, out);
}

hone_status onnx_text_load(const char *text, hone_module **out_module) {
    hone_str bytes = {0};
    onnx_text_encode(text, &bytes);
    hone_status st =
        hone_onnx_parse(hone_str_text(&bytes), bytes.length, "test.onnx", NULL, NULL, out_module);
    hone_str_deinit(&bytes);
    return st;
}
