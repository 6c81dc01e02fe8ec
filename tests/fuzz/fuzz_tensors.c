/* tests/fuzz/fuzz_tensors.c - any bytes as npy, npz and safetensors: reading must not crash, and
 * what was read can be written and read again. */
#include <stdlib.h>
#include <string.h>

#include "tensorfile/tensorfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must_be_same(const hone_tensor_set *a, const hone_tensor_set *b) {
    if (a->count != b->count) abort();
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->data[i].name, b->data[i].name) != 0) abort();
        if (a->data[i].tensor->rank != b->data[i].tensor->rank) abort();
    }
}

static void read_set(const uint8_t *bytes, size_t count, bool is_zip) {
    hone_tensor_set set = {0}, again = {0};
    hone_str out = {0};
    hone_status st =
        is_zip ? hone_npz_read(bytes, count, &set) : hone_safetensors_read(bytes, count, &set);
    bool is_read = !hone_status_consume(st);
    if (is_read) {
        st = is_zip ? hone_npz_write(&set, &out) : hone_safetensors_write(&set, &out);
        if (!hone_status_consume(st)) {
            st = is_zip ? hone_npz_read(out.data, out.length, &again)
                        : hone_safetensors_read(out.data, out.length, &again);
            if (st) abort();
            must_be_same(&set, &again);
        }
    }
    hone_str_deinit(&out);
    hone_tensor_set_deinit(&set);
    hone_tensor_set_deinit(&again);
}

static void read_one(const uint8_t *bytes, size_t count) {
    hone_tensor *tensor = NULL, *again = NULL;
    hone_str out = {0};
    if (hone_status_consume(hone_npy_read(bytes, count, &tensor))) return;
    if (!hone_status_consume(hone_npy_write(tensor, &out))) {
        if (hone_npy_read(out.data, out.length, &again)) abort();
        if (tensor->rank != again->rank) abort();
    }
    hone_str_deinit(&out);
    hone_tensor_destroy(tensor);
    hone_tensor_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    read_one(bytes, count);
    read_set(bytes, count, true);
    read_set(bytes, count, false);
    return 0;
}
