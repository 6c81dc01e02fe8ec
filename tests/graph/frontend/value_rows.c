/* tests/graph/frontend/value_rows.c - see value_rows.h. */
#include "tests/graph/frontend/value_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"

static hone_tensor *numbers(hone_dtype dtype, int32_t rank, const int64_t *shape,
                            const char *text) {
    hone_tensor *tensor;
    HONE_ASSERT_OK(hone_tensor_create(dtype, rank, shape, &tensor));
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++) {
        onnx_text_number(tensor, i, text);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    assert_int_equal(*text, 0);
    return tensor;
}

/* Numbers for the only input; an extent without a number is as large as its place. */
static hone_tensor *input_of(const hone_module *module, const char *text) {
    const hone_sinfo *info = hone_module_find(module, "main")->graph->values[0].sinfo;
    int64_t shape[HONE_MAX_RANK];
    for (int32_t i = 0; i < info->rank; i++)
        shape[i] = hone_expr_is_int(info->shape[i]) ? info->shape[i]->u.i : i;
    return numbers(info->dtype, info->rank, shape, text);
}

static void check(const run_results *got, const char *text) {
    const hone_tensor *result = got->items[0];
    int64_t count = hone_tensor_count(result);
    hone_tensor *want = numbers(result->dtype, 1, &count, text);
    for (int64_t i = 0; i < count; i++) {
        double right = hone_tensor_get_f64(want, i), is = hone_tensor_get_f64(result, i);
        bool is_right = hone_tensor_get_i64(want, i) == hone_tensor_get_i64(result, i);
        if (hone_dtype_is_float(want->dtype)) {
            is_right = is == right || (isnan(is) && isnan(right)) ||
                       fabs(is - right) <= 1e-12 * fabs(right);
        }
        if (!is_right) fail_msg("element %lld is %.17g, should be %.17g", (long long)i, is, right);
    }
    hone_tensor_destroy(want);
}

/* '!' in front of what a mistake says. */
static void check_mistake(hone_status st, const char *want) {
    if (!st) fail_msg("does not fail, should say '%s'", want + 1);
    if (!strstr(hone_status_message(st), want + 1))
        fail_msg("says '%s', should say '%s'", hone_status_message(st), want + 1);
    hone_status_free(st);
}

static void check_way(hone_status st, run_results *got, const char *want) {
    if (*want == '!') {
        check_mistake(st, want);
        return;
    }
    HONE_ASSERT_OK(st);
    check(got, want);
    run_results_deinit(got);
}

void value_row_check(void **state) {
    const value_row *row = *state;
    char model[2048];
    hone_module *module;
    run_results plain, planned;
    snprintf(model, sizeof model, "%s\noutput y", row->model);
    HONE_ASSERT_OK(onnx_text_load(model, &module));
    hone_tensor *x = input_of(module, row->x);
    check_way(run_plain(module, NULL, &x, 1, 0, &plain), &plain, row->want);
    check_way(run_planned(module, NULL, &x, 1, 0, &planned), &planned, row->want);
    hone_module_release(module);
    hone_tensor_destroy(x);
}
