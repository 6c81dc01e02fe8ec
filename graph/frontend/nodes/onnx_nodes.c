/* graph/frontend/nodes/onnx_nodes.c - the tables of converters, and operators made of others. */
#include "graph/frontend/nodes/onnx_nodes.h"

#include <assert.h>
#include <string.h>

bool onnx_is_plain_domain(const char *domain) {
    return !domain || !domain[0] || strcmp(domain, "ai.onnx") == 0;
}

const onnx_converter *onnx_find_in(const onnx_converter *table, const char *op) {
    for (const onnx_converter *row = table; row->op; row++) {
        if (strcmp(row->op, op) == 0) return row;
    }
    return NULL;
}

static const struct {
    const char *domain;
    const onnx_converter *table;
} families[] = {
#define HONE_ONNX_FAMILY(name, domain) {domain, onnx_##name##_converters},
#include "graph/frontend/nodes/onnx_families.def"
#undef HONE_ONNX_FAMILY
};

static const onnx_converter *find_of(const char *domain, const char *op) {
    const onnx_converter *found = NULL;
    for (size_t i = 0; !found && i < HONE_COUNT(families); i++) {
        if (strcmp(families[i].domain, domain) == 0) found = onnx_find_in(families[i].table, op);
    }
    return found;
}

/* Operators that com.microsoft had before the standard, as they are there. */
static bool is_standard_since(const char *op) {
    return strcmp(op, "Trilu") == 0 || strcmp(op, "CausalConvWithState") == 0;
}

hone_garg onnx_given(const onnx_reader *r, uint32_t input) {
    return onnx_has_input(r, input) ? r->inputs[input] : (hone_garg){.kind = HONE_GARG_NONE};
}

const onnx_converter *onnx_find_row(const Onnx__NodeProto *node) {
    if (!node->op_type) return NULL;
    const char *domain = onnx_is_plain_domain(node->domain) ? "" : node->domain;
    const onnx_converter *found = find_of(domain, node->op_type);
    bool is_moved = strcmp(domain, "com.microsoft") == 0 && is_standard_since(node->op_type);
    return !found && is_moved ? find_of("", node->op_type) : found;
}

hone_status onnx_convert_on(onnx_reader *r, const char *op, uint32_t count, const hone_garg *inputs,
                            hone_garg *out) {
    const onnx_converter *row = find_of("", op);
    const onnx_converter *own_row = r->row;
    const Onnx__NodeProto *own = r->node;
    Onnx__NodeProto node = *own;
    hone_garg few[ONNX_FEW_INPUTS], *own_inputs = r->inputs;
    uint32_t own_count = r->input_count, own_room = r->input_room;
    assert(row);
    node.domain = NULL;
    node.op_type = hone_arena_strdup(r->arena, op);
    if (!node.op_type) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    r->inputs = few;
    r->input_room = ONNX_FEW_INPUTS;
    hone_status st = onnx_room_for(r, count);
    if (!st) memcpy(r->inputs, inputs, count * sizeof *inputs);
    r->input_count = count;
    r->node = &node;
    r->row = row;
    if (!st) st = row->convert(r, out);
    r->inputs = own_inputs;
    r->input_room = own_room;
    r->input_count = own_count;
    r->node = own;
    r->row = own_row;
    return st;
}
