/* support/data/dtype_dlpack.c - see dtype_dlpack.h. */
#include "support/data/dtype_dlpack.h"

uint8_t hone_dtype_dlpack_code(hone_dtype dtype) {
    static const uint8_t codes[HONE_DTYPE_CODE_COUNT] = {
        [HONE_DTYPE_CODE_INT] = 0,
        [HONE_DTYPE_CODE_UINT] = 1,
        [HONE_DTYPE_CODE_FLOAT] = 2,
        [HONE_DTYPE_CODE_HANDLE] = 3,
        [HONE_DTYPE_CODE_BFLOAT] = 4,
        [HONE_DTYPE_CODE_BOOL] = 6,
        [HONE_DTYPE_CODE_FLOAT8_E3M4] = 7,
        [HONE_DTYPE_CODE_FLOAT8_E4M3_IEEE] = 8,
        [HONE_DTYPE_CODE_FLOAT8_E4M3B11FNUZ] = 9,
        [HONE_DTYPE_CODE_FLOAT8_E4M3] = 10,
        [HONE_DTYPE_CODE_FLOAT8_E4M3FNUZ] = 11,
        [HONE_DTYPE_CODE_FLOAT8_E5M2] = 12,
        [HONE_DTYPE_CODE_FLOAT8_E5M2FNUZ] = 13,
        [HONE_DTYPE_CODE_FLOAT8_E8M0FNU] = 14,
        [HONE_DTYPE_CODE_FLOAT6_E2M3FN] = 15,
        [HONE_DTYPE_CODE_FLOAT6_E3M2FN] = 16,
        [HONE_DTYPE_CODE_FLOAT4_E2M1FN] = 17,
    };
    return codes[dtype.code];
}
