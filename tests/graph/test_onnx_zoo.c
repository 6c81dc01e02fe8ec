/* tests/graph/test_onnx_zoo.c - models of the structure of the real ones
 * (tests/peer/onnx_models/onnx_zoo.py made them, and onnxruntime their outputs): each gives these,
 * interpreted and as a plan. */
#include <stdio.h>

#include "support/os/fs.h"
#include "tests/graph/onnx_case.h"
#include "tests/support/hone_test.h"

#define ZOO "tests/graph/zoo"

enum { LEAST_MODELS = 30 };

typedef struct tally {
    unsigned count, failed;
} tally;

static bool run_model(void *context, const char *name) {
    tally *t = context;
    char path[512];
    hone_str why = {0};
    snprintf(path, sizeof path, ZOO "/%s", name);
    t->count++;
    if (onnx_case_run(hone_test_source_path(path), 0, &why) != ONNX_PASS) {
        fprintf(stderr, "%s: %s\n", name, hone_str_text(&why));
        t->failed++;
    }
    hone_str_deinit(&why);
    return true;
}

static void agrees_with_onnxruntime(void **state) {
    tally t = {0};
    (void)state;
    HONE_ASSERT_OK(hone_fs_list(hone_test_source_path(ZOO), run_model, &t));
    assert_int_equal(t.failed, 0);
    assert_true(t.count >= LEAST_MODELS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_onnxruntime)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
