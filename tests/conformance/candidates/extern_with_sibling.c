/* tests/conformance/candidates/extern_with_sibling.c - an external function that needs another
 * library, which lies beside its own. */
#include <stdint.h>

float sibling_double(float x);
__attribute__((visibility("default"))) int32_t double_and_add(void *const *args,
                                                              const int64_t *const *shapes,
                                                              const int32_t *ranks,
                                                              int32_t arg_count);

int32_t double_and_add(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                       int32_t arg_count) {
    if (arg_count != 2 || ranks[0] != 1) return -1;
    const float *a = args[0];
    float *c = args[1];
    for (int64_t i = 0; i < shapes[0][0]; i++)
        c[i] = sibling_double(a[i]) + 1;
    return 0;
}
