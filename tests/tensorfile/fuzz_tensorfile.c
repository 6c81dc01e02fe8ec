/* tests/tensorfile/fuzz_tensorfile.c - any bytes as npy, npz and safetensors: a status or a set
 * that can be written and read back. */
#include <stdlib.h>

#include "tensorfile/tensorfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void read_and_write(const uint8_t *bytes, size_t count,
                           hone_status (*read)(const void *, size_t, hone_tensor_set *),
                           hone_status (*write)(const hone_tensor_set *, hone_str *)) {
    hone_tensor_set set = {0}, back = {0};
    hone_str text = {0};
    hone_status st = read(bytes, count, &set);
    if (!st && set.count) {
        st = write(&set, &text);
        if (!st) st = read(text.data, text.length, &back);
        if (st || back.count != set.count) abort();
    }
    hone_status_free(st);
    hone_str_deinit(&text);
    hone_tensor_set_deinit(&set);
    hone_tensor_set_deinit(&back);
}

static hone_status read_npy(const void *bytes, size_t count, hone_tensor_set *out_set) {
    hone_tensor *tensor = NULL;
    HONE_TRY(hone_npy_read(bytes, count, &tensor));
    return hone_tensor_set_add(out_set, "arr_0", tensor);
}

static hone_status write_npy(const hone_tensor_set *set, hone_str *out) {
    return hone_npy_write(set->data[0].tensor, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    read_and_write(bytes, count, read_npy, write_npy);
    read_and_write(bytes, count, hone_npz_read, hone_npz_write);
    read_and_write(bytes, count, hone_safetensors_read, hone_safetensors_write);
    return 0;
}
