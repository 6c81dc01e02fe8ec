/* tests/graph/frontend/test_onnx_mutation.c - damaged models: every truncation and random bit flips
 * of the example models must be refused or read, never crash; what is read must prepare, be
 * refused, or be stopped in the same way. */
#include <stdio.h>
#include <string.h>

#include "graph/frontend/onnx_import.h"
#include "graph/passes/prepare.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *name, *path;
    int flips;
} rows[] = {
    {"mlp",       "examples/fashion_mnist/mlp.onnx",       300},
    {"mlp_batch", "examples/fashion_mnist/mlp_batch.onnx", 300},
    {"cnn",       "examples/fashion_mnist/cnn.onnx",       300},
    {"cnn_batch", "examples/fashion_mnist/cnn_batch.onnx", 300},
};

/* True when the bytes were read as a model. */
static bool try_bytes(const char *bytes, size_t size, bool prepare) {
    hone_module *module, *prepared;
    hone_status st = hone_onnx_parse(bytes, size, "damaged.onnx", NULL, NULL, &module);
    bool is_read = !st;
    if (st) {
        assert_int_not_equal(hone_status_code(st), HONE_CODE_INTERNAL);
        assert_non_null(strstr(hone_status_message(st), "damaged.onnx: "));
    } else if (prepare) {
        st = hone_graph_prepare(module, NULL, &prepared);
        hone_module_release(prepared);
    }
    hone_status_free(st);
    hone_module_release(module);
    return is_read;
}

/* Bytes outside of the weights: the first and last few hundred, and between tensors. */
static size_t pick_place(hone_rng *rng, size_t size) {
    size_t edge = size < 1200 ? size : 600;
    size_t place = (size_t)hone_rng_below(rng, 2 * edge);
    return place < edge ? place : size - 1 - (place - edge);
}

static void check_model(void **state) {
    const struct row *row = *state;
    char *bytes;
    size_t size;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(row->path), 1 << 24, &bytes, &size));
    assert_true(try_bytes(bytes, size, true));
    for (size_t cut = 0; cut < size; cut += cut < 700 || cut + 700 > size ? 1 : 997) {
        char *part = hone_malloc(cut + 1); /* exact size: reading past the end is seen */
        assert_non_null(part);
        memcpy(part, bytes, cut);
        try_bytes(part, cut, false);
        hone_free(part);
    }
    hone_rng rng = hone_test_rng(size);
    int read = 0;
    for (int i = 0; i < row->flips; i++) {
        char *copy = hone_malloc(size);
        assert_non_null(copy);
        memcpy(copy, bytes, size);
        for (uint64_t n = 1 + hone_rng_below(&rng, 4); n > 0; n--) {
            size_t at = i % 3 ? pick_place(&rng, size) : (size_t)hone_rng_below(&rng, size);
            copy[at] ^= (char)(1 << hone_rng_below(&rng, 8));
        }
        read += try_bytes(copy, size, i % 8 == 0);
        hone_free(copy);
    }
    hone_free(bytes);
    printf("%s: %d of %d damaged models were read\n", row->name, read, row->flips);
}

int main(void) {
    return HONE_RUN_ROWS("graph/onnx_mutation", rows, check_model);
}
