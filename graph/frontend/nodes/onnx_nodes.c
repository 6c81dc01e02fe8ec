/* graph/frontend/nodes/onnx_nodes.c - the tables of converters, and operators made of others. */
#include "graph/frontend/nodes/onnx_nodes.h"

#include <assert.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_learned.h"

bool onnx_is_plain_domain(const char *domain) {
    return !domain || !domain[0] || strcmp(domain, "ai.onnx") == 0;
}

const onnx_converter *onnx_find_in(const onnx_converter *table, const char *op) {
    for (const onnx_converter *row = table; row->op; row++) {
        if (strcmp(row->op, op) == 0) return row;
    }
    return NULL;
}

static const onnx_converter *find_in_tables(size_t count, const onnx_converter *const *tables,
                                            const char *op) {
    const onnx_converter *found = NULL;
    for (size_t t = 0; !found && t < count; t++)
        found = onnx_find_in(tables[t], op);
    return found;
}

static const onnx_converter *find_of_microsoft(const char *op) {
    const onnx_converter *const tables[] = {onnx_microsoft_converters, onnx_heads_converters,
                                            onnx_fused_converters, onnx_quant_contrib_converters,
                                            onnx_channels_last_converters};
    return find_in_tables(HONE_COUNT(tables), tables, op);
}

/* Operators that com.microsoft had before the standard, as they are there. */
static bool is_standard_since(const char *op) {
    return strcmp(op, "Trilu") == 0 || strcmp(op, "CausalConvWithState") == 0;
}

static const onnx_converter *find_plain(const char *op) {
    const onnx_converter *const tables[] = {
        onnx_math_converters,      onnx_nn_converters,          onnx_shape_converters,
        onnx_index_converters,     onnx_fill_converters,        onnx_pad_converters,
        onnx_slice_converters,     onnx_simple_converters,      onnx_places_converters,
        onnx_loss_converters,      onnx_resize_converters,      onnx_chosen_converters,
        onnx_unique_converters,    onnx_suppress_converters,    onnx_image_converters,
        onnx_quant_converters,     onnx_transformer_converters, onnx_signal_converters,
        onnx_einsum_converters,    onnx_ngram_converters,       onnx_cast_converters,
        onnx_attention_converters, onnx_random_converters,      onnx_fit_converters,
        onnx_norm_pool_converters, onnx_deform_converters};
    return find_in_tables(HONE_COUNT(tables), tables, op);
}

hone_garg onnx_given(const onnx_reader *r, uint32_t input) {
    return onnx_has_input(r, input) ? r->inputs[input] : (hone_garg){.kind = HONE_GARG_NONE};
}

const onnx_converter *onnx_find_row(const Onnx__NodeProto *node) {
    if (!node->op_type) return NULL;
    if (node->domain && strcmp(node->domain, "com.microsoft") == 0) {
        const onnx_converter *own = find_of_microsoft(node->op_type);
        return !own && is_standard_since(node->op_type) ? find_plain(node->op_type) : own;
    }
    if (node->domain && strcmp(node->domain, "ai.onnx.preview.training") == 0) {
        return onnx_find_in(onnx_train_converters, node->op_type);
    }
    if (node->domain && strcmp(node->domain, "ai.onnx.ml") == 0) {
        const onnx_converter *found = onnx_find_in(onnx_learned_converters, node->op_type);
        return found ? found : onnx_find_in(onnx_tree_converters, node->op_type);
    }
    return onnx_is_plain_domain(node->domain) ? find_plain(node->op_type) : NULL;
}

hone_status onnx_convert_on(onnx_reader *r, const char *op, uint32_t count, const hone_garg *inputs,
                            hone_garg *out) {
    const onnx_converter *row = find_plain(op);
    const onnx_converter *own_row = r->row;
    const Onnx__NodeProto *own = r->node;
    Onnx__NodeProto node = *own;
    hone_garg kept[ONNX_MAX_GIVEN];
    uint32_t kept_count = r->input_count;
    assert(row && count <= ONNX_MAX_GIVEN);
    node.domain = NULL;
    node.op_type = hone_arena_strdup(r->arena, op);
    if (!node.op_type) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    memcpy(kept, r->inputs, sizeof kept);
    memcpy(r->inputs, inputs, count * sizeof *inputs);
    r->input_count = count;
    r->node = &node;
    r->row = row;
    hone_status st = row->convert(r, out);
    memcpy(r->inputs, kept, sizeof kept);
    r->input_count = kept_count;
    r->node = own;
    r->row = own_row;
    return st;
}
