/* graph/frontend/reader/onnx_file.c - the wire form of protobuf, followed just far enough to know
 * how deep messages are nested. https://protobuf.dev/programming-guides/encoding */
#include "graph/frontend/reader/onnx_reader.h"

typedef struct wire {
    const uint8_t *at, *end;
} wire;

static bool read_varint(wire *w, uint64_t *out) {
    *out = 0;
    for (int shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        uint8_t byte = *w->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

static bool skip(wire *w, uint64_t count) {
    if (count > (uint64_t)(w->end - w->at)) return false;
    w->at += count;
    return true;
}

/* One frame per open message. */
typedef struct frame {
    const ProtobufCMessageDescriptor *type;
    const uint8_t *end;
} frame;

static const ProtobufCMessageDescriptor *message_field(const ProtobufCMessageDescriptor *type,
                                                       uint64_t id) {
    if (id > INT32_MAX) return NULL;
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(type, (unsigned)id);
    return field && field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL;
}

hone_status onnx_check_nesting(const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                               size_t size) {
    frame stack[ONNX_MAX_NESTING];
    uint32_t depth = 1;
    wire w = {bytes, bytes + size};
    stack[0] = (frame){type, w.end};
    while (depth > 0) {
        w.end = stack[depth - 1].end;
        if (w.at == w.end) {
            depth--;
            continue;
        }
        uint64_t tag, length = 0, ignored;
        bool ok = read_varint(&w, &tag);
        switch (ok ? (int)(tag & 7) : -1) {
        case 0:
            ok = read_varint(&w, &ignored);
            break;
        case 1:
            ok = skip(&w, 8);
            break;
        case 2:
            ok = read_varint(&w, &length) && length <= (uint64_t)(w.end - w.at);
            break;
        case 5:
            ok = skip(&w, 4);
            break;
        default:
            ok = false;
        }
        if (!ok) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "not an ONNX file, or it is truncated or damaged at byte %zu of %zu",
                              (size_t)(w.at - bytes), size);
        }
        if ((tag & 7) != 2) continue;
        const ProtobufCMessageDescriptor *inner = message_field(stack[depth - 1].type, tag >> 3);
        if (!inner) {
            w.at += length;
        } else if (depth == ONNX_MAX_NESTING) {
            return HONE_ERROR(HONE_CODE_INVALID, "graphs or types are nested deeper than %d levels",
                              ONNX_MAX_NESTING);
        } else {
            stack[depth++] = (frame){inner, w.at + length};
        }
    }
    return HONE_OK;
}
