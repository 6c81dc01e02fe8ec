/* tests/fuzz/fuzz_onnx.c - the ONNX reader and the graph passes on any bytes. What prepares must
 * also be well formed. */
#include <stdlib.h>

#include "graph/frontend/onnx_import.h"
#include "graph/passes/prepare.h"
#include "ir/verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hone_module *module, *prepared = NULL;
    if (hone_status_consume(hone_onnx_parse(data, size, "fuzz.onnx", NULL, NULL, &module)))
        return 0;
    hone_status st = hone_graph_prepare_plain(module, NULL, &prepared);
    if (!st && hone_status_consume(hone_check_module(prepared)) == HONE_CODE_INVALID) abort();
    hone_status_free(st);
    hone_module_release(prepared);
    hone_module_release(module);
    return 0;
}
