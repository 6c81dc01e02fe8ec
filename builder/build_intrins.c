/* builder/build_intrins.c - reads the tensor intrinsics of a request. */
#include "builder/build_intrins.h"

#include <string.h>

hone_status hone_build_intrins_open(size_t count, const hone_build_intrin *intrins,
                                    hone_tensor_intrins **out_set) {
    *out_set = NULL;
    if (count == 0) return HONE_OK;
    HONE_TRY(hone_tensor_intrins_create(out_set));
    for (size_t i = 0; i < count; i++) {
        hone_status st = hone_tensor_intrins_add(*out_set, intrins[i].name, intrins[i].text,
                                                 strlen(intrins[i].text), intrins[i].name);
        if (!st) continue;
        hone_tensor_intrins_destroy(*out_set);
        *out_set = NULL;
        return st;
    }
    return HONE_OK;
}
