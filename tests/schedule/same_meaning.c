#include "tests/schedule/same_meaning.h"

#include "ir/arith.h"
#include "ir/interp.h"
#include "support/alloc.h"
#include "support/rng.h"
#include "tests/support/random_program.h"

/* Sizes by variable: the same for base and schedule, whose first variables are the same. */
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

static hone_status make_arg(const hone_func *func, uint32_t i, uint64_t seed, hone_arith *arith,
                            const hone_expr *const *sizes, hone_tensor **out) {
    int64_t shape[HONE_MAX_RANK] = {0};
    const hone_param *param = &func->params[i];
    bool is_scalar = param->buffer == HONE_NO_ID;
    const hone_buffer_info *info = is_scalar ? NULL : hone_func_buffer(func, param->buffer);
    hone_dtype dtype = is_scalar ? func->vars[param->var].dtype : info->dtype;
    for (uint32_t d = 0; info && d < info->rank; d++) {
        const hone_expr *e =
            hone_expr_substitute(&arith->ir, info->shape[d], sizes, func->var_count);
        e = hone_simplify(arith, e);
        shape[d] = e ? hone_expr_const(e) : -1;
        if (shape[d] < 0) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a shape is not known");
    }
    HONE_TRY(hone_tensor_create(dtype, info ? (int32_t)info->rank : 0, shape, out));
    hone_rng rng = hone_rng_from_seed(seed * 1000 + i);
    bool is_float = hone_dtype_is_float(dtype);
    hone_tensor_fill_random(*out, &rng, is_float ? -1.0 : -8.0, is_float ? 1.0 : 8.0);
    if (is_scalar && param->var < func->var_count && sizes[param->var]) {
        hone_tensor_set_f64(*out, 0, (double)sizes[param->var]->u.i);
    }
    return HONE_OK;
}

static hone_tensor **make_args(const hone_func *func, uint64_t seed) {
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

static bool runs(const hone_func *func, hone_tensor **args, const char *which, hone_str *out_why) {
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, args, func->param_count, &options);
    if (st) hone_str_printf(out_why, "%s: %s", which, hone_status_message(st));
    return !hone_status_consume(st);
}

bool hone_same_meaning(const hone_func *base, const hone_func *scheduled, uint64_t seed,
                       hone_str *out_why) {
    hone_tensor **want = make_args(base, seed), **got = make_args(base, seed);
    bool is_ok = want && got && runs(base, want, "the base", out_why) &&
                 runs(scheduled, got, "the schedule", out_why) &&
                 hone_test_args_agree(base, got, want, out_why);
    if (!want || !got) hone_str_append(out_why, "no arguments for these shapes");
    if (want) hone_test_free_args(base, want);
    if (got) hone_test_free_args(base, got);
    return is_ok;
}
