/* support/data/dtype_dlpack.c - see dtype_dlpack.h. */
#include "support/data/dtype_dlpack.h"

uint8_t hone_dtype_dlpack_code(hone_dtype dtype) {
    static const uint8_t codes[HONE_DTYPE_CODE_COUNT] = {
        [HONE_DTYPE_CODE_INT] = 0,          [HONE_DTYPE_CODE_UINT] = 1,
        [HONE_DTYPE_CODE_FLOAT] = 2,        [HONE_DTYPE_CODE_HANDLE] = 3,
        [HONE_DTYPE_CODE_BFLOAT] = 4,       [HONE_DTYPE_CODE_BOOL] = 6,
        [HONE_DTYPE_CODE_FLOAT8_E4M3] = 10, [HONE_DTYPE_CODE_FLOAT8_E5M2] = 12,
    };
    return codes[dtype.code];
}
