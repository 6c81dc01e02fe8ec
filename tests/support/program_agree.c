/* tests/support/program_agree.c - compares what two programs compute, within the bounds of
 * rounding. */
#include <math.h>
#include <stdio.h>

#include "ir/arith/arith.h"
#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

/* Sizes by variable: the same for a program and what was made of it, whose first variables are the
 * same. */
static const hone_expr **make_sizes(hone_ir *ir, const hone_func *func, uint64_t seed) {
    const hone_expr **sizes = hone_arena_zalloc(ir->arena, (func->var_count + 1) * sizeof *sizes);
    for (hone_var v = 0; sizes && v < func->var_count; v++) {
        hone_dtype dtype = func->vars[v].dtype;
        if (!hone_dtype_equal(dtype, HONE_DTYPE_I32) && !hone_dtype_equal(dtype, HONE_DTYPE_I64)) {
            continue;
        }
        hone_rng rng = hone_rng_from_seed(seed * 64 + v);
        sizes[v] = hone_expr_int(ir, dtype, hone_rng_between(&rng, 1, 13));
    }
    return sizes;
}

/* A parameter that no shape depends on is any number. */
static bool is_size(const hone_func *func, hone_var var) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *info = hone_func_buffer(func, func->params[i].buffer);
        for (uint32_t d = 0; d < info->rank; d++) {
            if (hone_expr_uses_var(info->shape[d], var)) return true;
        }
    }
    return false;
}

static void fill(hone_tensor *tensor, uint64_t seed) {
    hone_rng rng = hone_rng_from_seed(seed);
    hone_dtype dtype = tensor->dtype;
    bool is_unsigned = dtype.code == HONE_DTYPE_CODE_UINT || dtype.code == HONE_DTYPE_CODE_BOOL;
    double most = hone_dtype_is_float(dtype) || dtype.code == HONE_DTYPE_CODE_BOOL ? 1.0 : 8.0;
    hone_tensor_fill_random(tensor, &rng, is_unsigned ? 0.0 : -most, most);
}

static hone_status make_arg(const hone_func *func, uint32_t i, uint64_t seed, hone_arith *arith,
                            const hone_expr *const *sizes, hone_tensor **out) {
    int64_t shape[HONE_MAX_RANK] = {0};
    const hone_param *param = &func->params[i];
    bool is_scalar = param->buffer == HONE_NO_ID;
    const hone_buffer_info *info = is_scalar ? NULL : hone_func_buffer(func, param->buffer);
    hone_dtype dtype = is_scalar ? func->vars[param->var].dtype : info->dtype;
    if (info && info->rank > HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "rank %u", info->rank);
    for (uint32_t d = 0; info && d < info->rank; d++) {
        const hone_expr *e =
            hone_expr_substitute(&arith->ir, info->shape[d], sizes, func->var_count);
        e = hone_simplify(arith, e);
        shape[d] = e ? hone_expr_const(e) : -1;
        if (shape[d] < 0) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a shape is not known");
    }
    HONE_TRY(hone_tensor_create(dtype, info ? (int32_t)info->rank : 0, shape, out));
    fill(*out, seed * 1000 + i);
    if (is_scalar && is_size(func, param->var) && sizes[param->var]) {
        hone_tensor_set_f64(*out, 0, (double)sizes[param->var]->u.i);
    }
    return HONE_OK;
}

hone_tensor **hone_test_make_args(const hone_func *func, uint64_t seed) {
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_tensor **args = hone_calloc(func->param_count + 1, sizeof *args);
    hone_arith arith;
    hone_arith_init(&arith, arena);
    const hone_expr **sizes = make_sizes(&arith.ir, func, seed);
    bool fine = args && sizes;
    for (uint32_t i = 0; fine && i < func->param_count; i++) {
        fine = !hone_status_consume(make_arg(func, i, seed, &arith, sizes, &args[i]));
    }
    hone_status_free(hone_ir_finish(&arith.ir));
    hone_arena_destroy(arena);
    if (fine) return args;
    if (args) hone_test_free_args(func, args);
    return NULL;
}

void hone_test_free_args(const hone_func *func, hone_tensor **args) {
    for (uint32_t i = 0; args && i < func->param_count; i++)
        hone_tensor_destroy(args[i]);
    hone_free(args);
}

/* ---- how far results may lie apart ---- */

/* By parameter: a tensor as large as the argument; NULL when memory is short. */
static hone_tensor **make_bounds(const hone_func *func, hone_tensor *const *args) {
    hone_tensor **bounds = hone_calloc(func->param_count + 1, sizeof *bounds);
    for (uint32_t i = 0; bounds && i < func->param_count; i++) {
        const hone_tensor *arg = args[i];
        hone_status st = hone_tensor_create(HONE_DTYPE_F64, arg->rank, arg->shape, &bounds[i]);
        if (!hone_status_consume(st)) continue;
        hone_test_free_args(func, bounds);
        return NULL;
    }
    return bounds;
}

/* A NaN agrees with a NaN, an infinity with the same one. */
static double distance(const hone_tensor *got, const hone_tensor *want, int64_t i) {
    if (!hone_dtype_is_float(want->dtype)) { /* float64 does not have all of 64 bits */
        int64_t g = hone_tensor_get_i64(got, i), w = hone_tensor_get_i64(want, i);
        return g == w ? 0 : fmax(1, fabs((double)g - (double)w));
    }
    double g = hone_tensor_get_f64(got, i), w = hone_tensor_get_f64(want, i);
    if (g == w || (isnan(g) && isnan(w))) return 0;
    return isfinite(g) && isfinite(w) ? fabs(g - w) : INFINITY;
}

/* The worst is farthest beyond its bound. bounds NULL: none may differ. */
static hone_tensor_diff compare(const hone_tensor *got, const hone_tensor *want,
                                const hone_tensor *bounds) {
    hone_tensor_diff diff = {.is_comparable = hone_tensor_same_shape(got, want), .worst = -1};
    double most = 0;
    for (int64_t i = 0; diff.is_comparable && i < hone_tensor_count(want); i++) {
        double far = distance(got, want, i), bound = bounds ? hone_tensor_get_f64(bounds, i) : 0;
        if (far <= bound) continue;
        diff.bad_count++;
        diff.max_abs = fmax(diff.max_abs, far);
        if (far - bound <= most) continue;
        most = far - bound;
        diff.worst = i;
        diff.worst_got = hone_tensor_get_f64(got, i);
        diff.worst_want = hone_tensor_get_f64(want, i);
    }
    return diff;
}

static bool is_same(const hone_func *func, hone_tensor *const *got, hone_tensor *const *want) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_tensor_diff diff = compare(got[i], want[i], NULL);
        if (!diff.is_comparable || diff.bad_count) return false;
    }
    return true;
}

static bool agree(const hone_func *func, hone_tensor *const *got, hone_tensor *const *want,
                  hone_tensor *const *bounds, hone_str *out_why) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_tensor_diff diff = compare(got[i], want[i], bounds[i]);
        if (diff.is_comparable && diff.bad_count == 0) continue;
        if (!out_why) return false;
        diff.max_rel = diff.max_abs / fabs(diff.worst_want);
        hone_str_printf(out_why, "parameter %u: ", (unsigned)i);
        hone_tensor_diff_print(&diff, want[i], out_why);
        if (diff.worst >= 0) {
            hone_str_printf(out_why, "; rounding may move it by %g",
                            hone_tensor_get_f64(bounds[i], diff.worst));
        }
        return false;
    }
    return true;
}

bool hone_test_results_agree(const hone_func *func, hone_tensor **fresh, hone_tensor *const *got,
                             hone_tensor *const *want, hone_str *out_why) {
    if (is_same(func, got, want)) return true;
    hone_tensor **bounds = make_bounds(func, want);
    hone_interp_options options = {.out_bounds = bounds};
    hone_status st = fresh && bounds ? hone_interp_func(func, fresh, func->param_count, &options)
                                     : HONE_ERROR(HONE_CODE_NO_MEMORY, "bounds");
    bool is_ok = !st && agree(func, got, want, bounds, out_why);
    if (st && out_why) hone_str_printf(out_why, "they differ: %s", hone_status_message(st));
    hone_status_free(st);
    if (bounds) hone_test_free_args(func, bounds);
    return is_ok;
}

bool hone_test_args_agree(const hone_func *func, uint64_t seed, hone_tensor *const *got,
                          hone_tensor *const *want, hone_str *out_why) {
    if (is_same(func, got, want)) return true;
    hone_tensor **fresh = hone_test_make_args(func, seed);
    bool is_ok = hone_test_results_agree(func, fresh, got, want, out_why);
    hone_test_free_args(func, fresh);
    return is_ok;
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
    hone_tensor **want = hone_test_make_args(a, seed), **got = hone_test_make_args(a, seed);
    bool is_ok = want && got && runs(a, want, "the first", out_why) &&
                 runs(b, got, "the second", out_why) &&
                 hone_test_args_agree(a, seed, got, want, out_why);
    if ((!want || !got) && out_why) hone_str_append(out_why, "no arguments for these shapes");
    hone_test_free_args(a, want);
    hone_test_free_args(a, got);
    return is_ok;
}

void hone_test_show_change(const hone_func *before, const hone_func *after, const char *why) {
    hone_str text = {0};
    hone_status_free(hone_func_print(before, NULL, &text));
    hone_str_append(&text, "---- became ----\n");
    hone_status_free(hone_func_print(after, NULL, &text));
    fprintf(stderr, "%s\n%s\n", why, hone_str_text(&text)); /* cmocka cuts long messages */
    hone_str_deinit(&text);
}

hone_status hone_test_compare(const hone_func *base, uint64_t seed, hone_tensor *const *want,
                              hone_tensor **got, hone_status st, const hone_func *func) {
    hone_str text = {0};
    if (!st && !hone_test_args_agree(base, seed, got, want, &text))
        st = HONE_ERROR(HONE_CODE_INTERNAL, "%s", hone_str_text(&text));
    hone_str_clear(&text);
    if (st && !hone_func_print(func, NULL, &text)) fputs(hone_str_text(&text), stderr);
    hone_str_deinit(&text);
    hone_test_free_args(base, got);
    return st;
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
