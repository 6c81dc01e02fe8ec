/* tests/support_room/fuzz_dtype.c - a name that parses prints, and parses again to the same type.
 */
#include <stdlib.h>

#include "support/data/dtype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hone_dtype dtype, again;
    if (!hone_dtype_parse_n((const char *)data, size, &dtype)) return 0;
    if (!hone_dtype_parse(HONE_DTYPE_NAME(dtype), &again)) abort();
    if (!hone_dtype_equal(dtype, again)) abort();
    return 0;
}
