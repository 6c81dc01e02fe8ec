/* tests/package/graph_model.c - runs two graph programs of the public interface and compares them.
 */
#include "tests/package/graph_model.h"

#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"

bool graph_model_agrees(const hone_program *a, const hone_program *b) {
    const hone_program *programs[] = {a, b};
    run_results results[2];
    int64_t shape[] = {2, 3};
    hone_tensor *x;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &x));
    for (int i = 0; i < 6; i++)
        ((float *)x->data)[i] = (float)(i - 2);
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        hone_module *module;
        public_ok(hone_program_print(programs[i], &text));
        HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "printed.py", &module));
        HONE_ASSERT_OK(run_plain(module, NULL, &x, 1, 0, &results[i]));
        hone_module_release(module);
        hone_text_free(text);
    }
    bool is_same = true;
    for (int i = 0; i < 6; i++) {
        double one = hone_tensor_get_f64(results[0].items[0], i);
        double two = hone_tensor_get_f64(results[1].items[0], i);
        is_same &= one - two < 1e-6 && two - one < 1e-6;
    }
    run_results_deinit(&results[0]);
    run_results_deinit(&results[1]);
    hone_tensor_destroy(x);
    return is_same;
}
