/* support/data/vec.c - see vec.h. Capacity doubles, so n pushes cost O(n). */
#include "support/data/vec.h"

#include <stdint.h>
#include <string.h>

#include "support/core/alloc.h"

bool hone_vec_grow(void *data_slot, size_t *capacity, size_t count, size_t extra,
                   size_t element_bytes) {
    if (extra > SIZE_MAX / 2 - count) return false;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted < count + extra)
        wanted *= 2;
    void *data = NULL;
    memcpy(&data, data_slot, sizeof data); /* the slot is a T *; read it as bytes */
    data = hone_realloc_array(data, wanted, element_bytes);
    if (!data) return false;
    memcpy(data_slot, &data, sizeof data);
    *capacity = wanted;
    return true;
}

void hone_vec_copy(void *to, const void *from, size_t count, size_t to_bytes, size_t from_bytes) {
    assert(to_bytes == from_bytes);
    if (count) memcpy(to, from, count * to_bytes);
}

void hone_vec_zero(void *data, size_t from, size_t to, size_t element_bytes) {
    if (to > from) memset((char *)data + from * element_bytes, 0, (to - from) * element_bytes);
}

void hone_vec_free(void *data) {
    hone_free(data);
}
