/* graph/compose/compose_proto.c - nodes of the standard of ONNX, made and converted as those of a
 * model. */
#include <string.h>

#include "graph/compose/compose_impl.h"

void compose_node_begin(compose_node *node, const char *op) {
    node->proto = (Onnx__NodeProto)ONNX__NODE_PROTO__INIT;
    node->proto.op_type = (char *)(uintptr_t)op; /* protobuf-c has no constant strings */
    node->proto.attribute = node->places;
    node->int_count = 0;
}

static Onnx__AttributeProto *add(compose_node *node, const char *name,
                                 Onnx__AttributeProto__AttributeType type) {
    assert(node->proto.n_attribute < COMPOSE_MOST_ATTRS);
    Onnx__AttributeProto *attr = &node->attrs[node->proto.n_attribute];
    *attr = (Onnx__AttributeProto)ONNX__ATTRIBUTE_PROTO__INIT;
    attr->name = (char *)(uintptr_t)name;
    attr->type = type;
    attr->has_type = 1;
    node->places[node->proto.n_attribute++] = attr;
    return attr;
}

void compose_node_int(compose_node *node, const char *name, int64_t value) {
    Onnx__AttributeProto *attr = add(node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attr->i = value;
    attr->has_i = 1;
}

void compose_node_ints(compose_node *node, const char *name, uint32_t count,
                       const int64_t *values) {
    Onnx__AttributeProto *attr = add(node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    assert(node->int_count + count <= HONE_COUNT(node->ints));
    attr->ints = memcpy(node->ints + node->int_count, values, count * sizeof *values);
    attr->n_ints = count;
    node->int_count += count;
}

void compose_node_float(compose_node *node, const char *name, double value) {
    Onnx__AttributeProto *attr = add(node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    attr->f = (float)value;
    attr->has_f = 1;
}

void compose_node_text(compose_node *node, const char *name, const char *value) {
    Onnx__AttributeProto *attr = add(node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    attr->s = (ProtobufCBinaryData){strlen(value), (uint8_t *)(uintptr_t)value};
    attr->has_s = 1;
}

hone_status compose_node_convert(onnx_reader *r, const compose_node *node, hone_garg *outputs) {
    r->row = onnx_find_row(&node->proto);
    assert(r->row);
    r->node = &node->proto;
    return r->row->convert(r, outputs);
}

hone_status compose_node_first(onnx_reader *r, const compose_node *node, hone_garg *out) {
    hone_garg outputs[ONNX_MAX_OUTPUTS] = {{0}};
    HONE_TRY(compose_node_convert(r, node, outputs));
    *out = outputs[0];
    return HONE_OK;
}
