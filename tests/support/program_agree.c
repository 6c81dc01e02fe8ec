#include <math.h>
#include <stdio.h>

#include "ir/arith.h"
#include "ir/interp.h"
#include "support/alloc.h"
#include "support/rng.h"
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

static double largest(const hone_tensor *t) {
    double most = 0;
    for (int64_t i = 0; i < hone_tensor_count(t); i++) {
        double value = fabs(hone_tensor_get_f64(t, i));
        if (isfinite(value) && value > most) most = value;
    }
    return most;
}

/* Inputs reach 1: what is smaller may have been left by terms of that size, unless it is measured
 * what rounding does. */
static const double LEAST_MAGNITUDE = 0.5, LEAST_MEASURED = 1e-3;

/* Relative to the largest magnitude: sums may be taken in another order, in the narrowest type that
 * the program computes with. */
static double float_tolerance(const hone_func *func) {
    double most = 1e-9;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        hone_dtype dtype = func->buffers[b].dtype;
        if (!hone_dtype_is_float(dtype) || dtype.bits == 64) continue;
        most = fmax(most, dtype.bits == 32 ? 1e-4 : 2e-2);
    }
    return most;
}

/* least: the smallest magnitude that results count with. may_move: how far floats may lie apart
 * beside that, by parameter, or NULL. */
static bool agree(const hone_func *func, hone_tensor *const *got, hone_tensor *const *want,
                  double least, const double *may_move, hone_str *out_why) {
    double tolerance = float_tolerance(func);
    for (uint32_t i = 0; i < func->param_count; i++) {
        bool is_float = hone_dtype_is_float(want[i]->dtype);
        double atol = is_float ? tolerance * fmax(largest(want[i]), least) : 0;
        if (is_float && may_move) atol = fmax(atol, may_move[i]);
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

bool hone_test_args_agree(const hone_func *func, hone_tensor *const *got, hone_tensor *const *want,
                          hone_str *out_why) {
    return agree(func, got, want, LEAST_MAGNITUDE, NULL, out_why);
}

static bool runs(const hone_func *func, hone_tensor **args, const char *which, hone_str *out_why) {
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, args, func->param_count, &options);
    if (st && out_why) hone_str_printf(out_why, "%s: %s", which, hone_status_message(st));
    bool is_ok = !st;
    hone_status_free(st);
    return is_ok;
}

/* ---- what rounding does ---- */

enum { NUDGES = 6, NUDGE_FACTOR = 4 };

/* -1, 0 or 1, by some of the loops around the statement: iterations of these go apart, those of the
 * others add up. */
static const hone_expr *direction(hone_ir *ir, const hone_func *func, hone_node_id at,
                                  hone_rng *rng) {
    const hone_expr *sum = hone_expr_int(ir, HONE_DTYPE_I64, hone_rng_between(rng, 0, 2));
    const hone_expr *one = hone_expr_int(ir, HONE_DTYPE_I64, 1);
    const hone_expr *three = hone_expr_int(ir, HONE_DTYPE_I64, 3);
    for (hone_node_id n = at; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *loop = hone_func_node(func, n);
        if (loop->kind != HONE_NODE_FOR) continue;
        const hone_expr *var = hone_func_var_expr(ir, func, loop->u.loop.var);
        const hone_expr *by = hone_expr_int(ir, HONE_DTYPE_I64, hone_rng_between(rng, 0, 2));
        sum = hone_expr_add(ir, sum, hone_expr_mul(ir, hone_expr_cast(ir, by->dtype, var), by));
    }
    return hone_expr_sub(ir, hone_expr_floormod(ir, sum, three), one);
}

/* The program with all floats that it stores off by up to one rounding; NULL when memory is short.
 */
static hone_func *nudged(hone_arena *arena, const hone_func *func, hone_rng *rng) {
    hone_func *copy = hone_func_clone(arena, func);
    hone_ir ir = {.arena = arena};
    for (hone_node_id n = 0; copy && n != HONE_NO_ID; n = hone_tree_next(copy, 0, n)) {
        hone_node *node = hone_func_node(copy, n);
        if (node->kind != HONE_NODE_STORE) continue;
        const hone_expr *value = node->u.store.value;
        hone_dtype dtype = value->dtype;
        if (!hone_dtype_is_float(dtype) || dtype.lanes != 1) continue;
        const hone_expr *eps = hone_expr_float(&ir, dtype, hone_dtype_epsilon(dtype));
        const hone_expr *sign = hone_expr_cast(&ir, dtype, direction(&ir, copy, n, rng));
        const hone_expr *off = hone_expr_mul(&ir, sign, eps);
        off = hone_expr_add(&ir, hone_expr_float(&ir, dtype, 1), off);
        node->u.store.value = hone_expr_mul(&ir, value, off);
    }
    return hone_status_consume(hone_ir_finish(&ir)) ? NULL : copy;
}

/* How far the results of one such program lie from want. */
static void note_moves(const hone_func *func, uint64_t seed, hone_rng *rng,
                       hone_tensor *const *want, double *io_moves) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_tensor **args = hone_test_make_args(func, seed);
    const hone_func *other = arena ? nudged(arena, func, rng) : NULL;
    bool has_run = args && other && runs(other, args, "", NULL);
    for (uint32_t i = 0; has_run && i < func->param_count; i++) {
        double far = hone_tensor_diff_make(args[i], want[i], 0, 0).max_abs;
        if (isfinite(far)) io_moves[i] = fmax(io_moves[i], NUDGE_FACTOR * far);
    }
    hone_test_free_args(func, args);
    hone_arena_destroy(arena);
}

bool hone_test_args_agree_as_rounded(const hone_func *func, uint64_t seed, hone_tensor *const *got,
                                     hone_tensor *const *want, hone_str *out_why) {
    if (agree(func, got, want, LEAST_MEASURED, NULL, NULL)) return true;
    double *moves = hone_calloc(func->param_count + 1, sizeof *moves);
    hone_rng rng = hone_rng_from_seed(seed);
    for (int n = 0; moves && n < NUDGES; n++)
        note_moves(func, seed, &rng, want, moves);
    bool is_ok = agree(func, got, want, LEAST_MEASURED, moves, out_why);
    hone_free(moves);
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
                 hone_test_args_agree_as_rounded(a, seed, got, want, out_why);
    if ((!want || !got) && out_why) hone_str_append(out_why, "no arguments for these shapes");
    hone_test_free_args(a, want);
    hone_test_free_args(a, got);
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
