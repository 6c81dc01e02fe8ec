/* graph/frontend/onnx_load_tensor.c - a tensor from a file of its own (TensorProto). */
#include "graph/frontend/onnx_import.h"
#include "graph/frontend/reader/onnx_reader.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

static hone_status copy_name(const Onnx__TensorProto *proto, char **out_name) {
    if (!out_name || !proto->name || !proto->name[0]) return HONE_OK;
    *out_name = hone_strdup(proto->name);
    return *out_name ? HONE_OK : HONE_NO_MEMORY("tensor");
}

static hone_status parse_tensor(const void *bytes, size_t size, const char *source_name,
                                char **out_name, hone_tensor **out_tensor) {
    *out_tensor = NULL;
    hone_status st = onnx_check_nesting(&onnx__tensor_proto__descriptor, bytes, size);
    if (st) return hone_status_annotate(st, "%s", source_name);
    Onnx__TensorProto *proto = onnx__tensor_proto__unpack(NULL, size, bytes);
    if (!proto) return HONE_ERROR(HONE_CODE_INVALID, "%s: not a TensorProto", source_name);
    st = copy_name(proto, out_name);
    if (!st) st = onnx_unpack_any(NULL, proto, NULL, out_tensor);
    if (st && out_name) {
        hone_free(*out_name);
        *out_name = NULL;
    }
    onnx__tensor_proto__free_unpacked(proto, NULL);
    return hone_status_annotate(st, "%s", source_name);
}

hone_status hone_onnx_load_tensor(const char *path, char **out_name, hone_tensor **out_tensor) {
    *out_tensor = NULL;
    if (out_name) *out_name = NULL;
    char *bytes = NULL;
    size_t size = 0;
    HONE_TRY(hone_fs_read(path, SIZE_MAX / 4, &bytes, &size));
    hone_status st = parse_tensor(bytes, size, path, out_name, out_tensor);
    hone_free(bytes);
    return st;
}
