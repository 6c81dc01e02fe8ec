/* tests/conformance/candidates/sibling.c - see extern_with_sibling.c. */
__attribute__((visibility("default"))) float sibling_double(float x);

float sibling_double(float x) {
    return 2 * x;
}
