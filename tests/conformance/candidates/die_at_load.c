/* tests/conformance/candidates/die_at_load.c - dies before it is even asked to run. */
#include <stdlib.h>

__attribute__((constructor)) static void at_load(void) {
    abort();
}
