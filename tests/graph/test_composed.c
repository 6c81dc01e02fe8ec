/* tests/graph/test_composed.c - operators that are written as others (graph/compose/) beside the
 * same written by hand in plain ones: both compute the same, in the interpreter and as plans. The
 * functions get three tensors of floats, x [2, 6, 4], y [6] and z [2, 6, 4], a matrix m [6, 4], a
 * vector of places i (int64, [5], 0 to 3) and bytes b (uint8, [1, 2, 5, 5]). */
#include <string.h>

#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { INPUTS = 6, SEEDS = 3 };

#define CLIP_BYTE(e) "R.astype(R.clip(" e ", 0, 255), \"uint8\")"
#define BYTE(n) "R.const(" #n ", \"uint8\")"
#define NUMBER(n) "R.const(" #n ", \"float32\")"
#define BACK(e)                                                                                    \
    "R.multiply(R.astype(R.subtract(R.astype(" e                                                   \
    ", \"int32\"), R.const(7, \"int32\")), \"float32\"), " NUMBER(0.5) ")"
#define KERNEL "R.reshape(R.tile(R.const(3, \"uint8\"), [36]), R.shape([2, 2, 3, 3]))"

static const struct row {
    const char *name, *composed, *plain;
    double within; /* of whole numbers; 0: exactly */
} rows[] = {
#include "tests/graph/composed_rows.def"
};

static hone_module *module_of(const char *expression) {
    hone_module *module;
    hone_str text = {0};
    hone_str_printf(&text,
                    "@R.function\n"
                    "def main(x: R.Tensor((2, 6, 4), \"float32\"), y: R.Tensor((6,), \"float32\"), "
                    "z: R.Tensor((2, 6, 4), \"float32\"), m: R.Tensor((6, 4), \"float32\"), "
                    "i: R.Tensor((5,), \"int64\"), b: R.Tensor((1, 2, 5, 5), \"uint8\")):\n"
                    "    out = %s\n"
                    "    return out\n",
                    expression);
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "test.py", &module);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
    return module;
}

static void make_inputs(uint64_t seed, hone_tensor *out[INPUTS]) {
    static const int64_t shapes[INPUTS][4] = {
        {2, 6, 4, 1},
        {6, 1, 1, 1},
        {2, 6, 4, 1},
        {6, 4, 1, 1},
        {5, 1, 1, 1},
        {1, 2, 5, 5}
    };
    static const int32_t ranks[INPUTS] = {3, 1, 3, 2, 1, 4};
    hone_rng rng = hone_rng_from_seed(seed);
    for (int t = 0; t < INPUTS; t++) {
        hone_dtype dtype = t < 4 ? HONE_DTYPE_F32 : t == 4 ? HONE_DTYPE_I64 : HONE_DTYPE_U8;
        HONE_ASSERT_OK(hone_tensor_create(dtype, ranks[t], shapes[t], &out[t]));
        if (t < 4) hone_tensor_fill_random(out[t], &rng, -1, 1);
        for (int64_t k = 0; t >= 4 && k < hone_tensor_count(out[t]); k++)
            hone_tensor_set_i64(out[t], k, (int64_t)hone_rng_below(&rng, t == 4 ? 4 : 256));
    }
}

static void compare(const run_results *got, const run_results *want, double within) {
    assert_int_equal(got->count, 1);
    assert_int_equal(want->count, 1);
    bool is_float = hone_dtype_is_float(want->items[0]->dtype);
    hone_tensor_diff diff = hone_tensor_diff_make(got->items[0], want->items[0],
                                                  is_float ? 1e-4 : 0, is_float ? 1e-5 : within);
    assert_true(diff.is_comparable);
    assert_int_equal(diff.bad_count, 0);
}

static void check_seed(const struct row *row, uint64_t seed) {
    hone_module *composed = module_of(row->composed), *plain = module_of(row->plain);
    hone_tensor *inputs[INPUTS];
    run_results want, interpreted, planned;
    make_inputs(seed, inputs);
    HONE_ASSERT_OK(run_plain(plain, NULL, inputs, INPUTS, 0, &want));
    HONE_ASSERT_OK(run_plain(composed, NULL, inputs, INPUTS, 0, &interpreted));
    HONE_ASSERT_OK(run_planned(composed, NULL, inputs, INPUTS, 0, &planned));
    compare(&interpreted, &want, row->within);
    compare(&planned, &want, row->within);
    run_results_deinit(&want);
    run_results_deinit(&interpreted);
    run_results_deinit(&planned);
    for (int t = 0; t < INPUTS; t++)
        hone_tensor_destroy(inputs[t]);
    hone_module_release(composed);
    hone_module_release(plain);
}

static void check_row(void **state) {
    for (uint64_t k = 0; k < SEEDS; k++)
        check_seed(*state, hone_test_seed(k + 1));
}

int main(void) {
    return HONE_RUN_ROWS("graph/composed", rows, check_row);
}
