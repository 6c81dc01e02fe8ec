#include <math.h>
#include <stdio.h>

#include "ir/interp.h"
#include "support/alloc.h"
#include "support/rng.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

static hone_status make_arg(const hone_func *func, uint32_t i, uint64_t seed,
                            hone_tensor **out_tensor) {
    const hone_param *param = &func->params[i];
    int64_t shape[HONE_MAX_RANK] = {0};
    hone_dtype dtype;
    uint32_t rank = 0;
    if (param->buffer == HONE_NO_ID) {
        dtype = func->vars[param->var].dtype;
    } else {
        const hone_buffer_info *info = hone_func_buffer(func, param->buffer);
        dtype = info->dtype;
        rank = info->rank;
        if (rank > HONE_MAX_RANK) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "rank %u", rank);
        for (uint32_t d = 0; d < rank; d++) {
            shape[d] = hone_expr_const(info->shape[d]);
            if (shape[d] < 0) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "shape is not constant");
        }
    }
    HONE_TRY(hone_tensor_create(dtype, (int32_t)rank, shape, out_tensor));
    hone_rng rng = hone_rng_from_seed(seed * 1000 + i);
    bool is_float = hone_dtype_is_float(dtype);
    hone_tensor_fill_random(*out_tensor, &rng, is_float ? -1.0 : -8.0, is_float ? 1.0 : 8.0);
    return HONE_OK;
}

hone_tensor **hone_test_make_args(const hone_func *func, uint64_t seed) {
    hone_tensor **args = hone_calloc(func->param_count + 1, sizeof *args);
    for (uint32_t i = 0; args && i < func->param_count; i++) {
        if (hone_status_consume(make_arg(func, i, seed, &args[i]))) {
            hone_test_free_args(func, args);
            return NULL;
        }
    }
    return args;
}

void hone_test_free_args(const hone_func *func, hone_tensor **args) {
    for (uint32_t i = 0; args && i < func->param_count; i++)
        hone_tensor_destroy(args[i]);
    hone_free(args);
}

static double largest(const hone_tensor *t) {
    double most = 0;
    for (int64_t i = 0; i < hone_tensor_count(t); i++) {
        double value = fabs(hone_tensor_get_f64(t, i));
        if (isfinite(value) && value > most) most = value;
    }
    return most;
}

bool hone_test_args_agree(const hone_func *func, hone_tensor *const *got, hone_tensor *const *want,
                          hone_str *out_why) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        bool is_float = hone_dtype_is_float(want[i]->dtype);
        double atol = is_float ? 1e-4 * fmax(largest(want[i]), 1e-3) : 0;
        hone_tensor_diff diff = hone_tensor_diff_make(got[i], want[i], 0, atol);
        if (diff.is_comparable && diff.bad_count == 0) continue;
        if (out_why) {
            hone_str_printf(out_why, "parameter %u: ", (unsigned)i);
            hone_tensor_diff_print(&diff, want[i], out_why);
        }
        return false;
    }
    return true;
}

static bool runs(const hone_func *func, hone_tensor **args, const char *which, hone_str *out_why) {
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, args, func->param_count, &options);
    if (st && out_why) hone_str_printf(out_why, "%s: %s", which, hone_status_message(st));
    bool is_ok = !st;
    hone_status_free(st);
    return is_ok;
}

bool hone_test_agrees(const hone_func *a, const hone_func *b, uint64_t seed, hone_str *out_why) {
    if (a->param_count != b->param_count) {
        if (out_why) hone_str_append(out_why, "the numbers of parameters differ");
        return false;
    }
    hone_tensor **want = hone_test_make_args(a, seed), **got = hone_test_make_args(b, seed);
    bool is_ok = want && got && runs(a, want, "the first", out_why) &&
                 runs(b, got, "the second", out_why) && hone_test_args_agree(a, got, want, out_why);
    if ((!want || !got) && out_why) hone_str_append(out_why, "no arguments for these shapes");
    hone_test_free_args(a, want);
    hone_test_free_args(b, got);
    return is_ok;
}

void hone_test_agree(const hone_func *a, const hone_func *b, uint64_t seed) {
    hone_str why = {0};
    if (hone_test_agrees(a, b, seed, &why)) {
        hone_str_deinit(&why);
        return;
    }
    char text[1024];
    snprintf(text, sizeof text, "%s", hone_str_text(&why));
    hone_str_deinit(&why);
    fail_msg("programs differ (seed %llu): %s", (unsigned long long)seed, text);
}
