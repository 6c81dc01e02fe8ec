/* support/data/dtype_dlpack.h - element types as DLPack has them. */
#ifndef HONE_SUPPORT_DATA_DTYPE_DLPACK_H
#define HONE_SUPPORT_DATA_DTYPE_DLPACK_H

#include "support/data/dtype.h"

/* DLPack's code of an element type; 0, which is that of int, for HONE_DTYPE_VOID. */
uint8_t hone_dtype_dlpack_code(hone_dtype dtype);

/* One number for a type: its code, bits and lanes, from the lowest bits up (hone_extern, abi.h). */
static inline int32_t hone_dtype_dlpack_word(hone_dtype dtype) {
    return (int32_t)(hone_dtype_dlpack_code(dtype) | dtype.bits << 8 | dtype.lanes << 16);
}

#endif
