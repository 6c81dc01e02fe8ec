/* tests/support/gpu/run_launches.c - see run_launches.h. */
#include "tests/support/gpu/run_launches.h"

#include <string.h>

#include "ir/arith/arith.h"
#include "lower/signature/signature.h"

#define NO_MEMORY() HONE_ERROR(HONE_CODE_NO_MEMORY, "launches")

/* The stride of a dense tensor. */
static int64_t stride_of(const hone_tensor *t, uint32_t dim) {
    int64_t stride = 1;
    for (int32_t d = (int32_t)dim + 1; d < t->rank; d++)
        stride *= t->shape[d];
    return stride;
}

static bool is_var(const hone_expr *e, hone_var var) {
    return e->kind == HONE_EXPR_VAR && e->u.var == var;
}

/* As it travels: a float as the bits of a double. */
static int64_t number_of(const hone_tensor *t) {
    int64_t bits;
    if (!hone_dtype_is_float(t->dtype)) return hone_tensor_get_i64(t, 0);
    double value = hone_tensor_get_f64(t, 0);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void set_number(hone_tensor *t, int64_t number) {
    double value;
    memcpy(&value, &number, sizeof value);
    if (hone_dtype_is_float(t->dtype))
        hone_tensor_set_f64(t, 0, value);
    else
        hone_tensor_set_i64(t, 0, number);
}

/* What a size is, by the arguments. */
static int64_t size_of(const hone_func *func, hone_var var, hone_tensor *const *args) {
    for (uint32_t p = 0; p < func->param_count; p++) {
        hone_buffer b = func->params[p].buffer;
        if (b == HONE_NO_ID && func->params[p].var == var) return number_of(args[p]);
        for (uint32_t d = 0; b != HONE_NO_ID && d < func->buffers[b].rank; d++) {
            const hone_buffer_info *info = &func->buffers[b];
            if (is_var(info->shape[d], var)) return args[p]->shape[d];
            if (info->strides && is_var(info->strides[d], var)) return stride_of(args[p], d);
        }
    }
    return 0;
}

static hone_status describe_args(const hone_func *func, const hone_signature *s,
                                 hone_tensor *const *args, hone_arena *arena, hone_manifest *m) {
    hone_arg *list = hone_arena_zalloc(arena, (s->buffer_count + 1) * sizeof *list);
    int64_t *sizes = hone_arena_zalloc(arena, (s->size_count + 1) * sizeof *sizes);
    if (!list || !sizes) return NO_MEMORY();
    for (uint32_t p = 0, b = 0; p < func->param_count; p++) {
        if (func->params[p].buffer == HONE_NO_ID) continue;
        list[b] = (hone_arg){.dtype = args[p]->dtype, .rank = (uint32_t)args[p]->rank};
        memcpy(list[b++].shape, args[p]->shape, sizeof args[p]->shape);
    }
    for (uint32_t i = 0; i < s->size_count; i++)
        sizes[i] = size_of(func, s->sizes[i], args);
    m->arg_count = s->buffer_count;
    m->args = list;
    m->size_count = s->size_count;
    m->sizes = sizes;
    return HONE_OK;
}

hone_status hone_test_launch_manifest(const hone_func *func, const hone_launches *l,
                                      hone_tensor *const *args, hone_arena *arena,
                                      hone_manifest *out_manifest) {
    hone_signature s;
    HONE_TRY(hone_signature_of(func, arena, &s));
    *out_manifest = (hone_manifest){.entry = "kernel",
                                    .value_count = l->value_count,
                                    .values = l->values,
                                    .scratch_count = l->scratch_count,
                                    .scratch = l->scratch,
                                    .launch_count = l->launch_count,
                                    .launches = l->launches};
    HONE_TRY(describe_args(func, &s, args, arena, out_manifest));
    return hone_manifest_check(out_manifest);
}

typedef struct running {
    const hone_func *func;
    const hone_launches *launches;
    const hone_manifest *manifest;
    const int64_t *values;
    hone_tensor *const *args;
    void **scratch;
    hone_arena *arena;
    const hone_interp_options *options;
} running;

static const hone_device_kernel *kernel_of(const running *r, const char *symbol) {
    for (size_t i = 0; i < r->launches->kernel_count; i++) {
        if (strcmp(r->launches->kernels[i].symbol, symbol) == 0) return &r->launches->kernels[i];
    }
    return NULL;
}

/* Buffer number `index` of the program. */
static hone_tensor *argument(const running *r, int32_t index) {
    for (uint32_t p = 0;; p++) {
        if (r->func->params[p].buffer != HONE_NO_ID && index-- == 0) return r->args[p];
    }
}

/* A scratch buffer's extents are computed from the sizes of the call. */
static hone_status scratch_view(const running *r, const hone_func *kernel, hone_buffer b,
                                void *memory, hone_tensor *out) {
    const hone_buffer_info *info = &kernel->buffers[b];
    hone_signature s;
    HONE_TRY(hone_signature_of(r->func, r->arena, &s));
    hone_ir ir = {.arena = r->arena};
    *out = (hone_tensor){.data = memory, .dtype = info->dtype, .rank = (int32_t)info->rank};
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *extent = info->shape[d];
        for (uint32_t i = 0; i < s.size_count && extent; i++) {
            extent = hone_expr_substitute_one(
                &ir, extent, s.sizes[i],
                hone_expr_int(&ir, kernel->vars[s.sizes[i]].dtype, r->manifest->sizes[i]));
        }
        if (extent) extent = hone_simplify_plain(&ir, extent);
        HONE_TRY(hone_ir_finish(&ir));
        if (!hone_expr_is_int(extent)) return HONE_ERROR(HONE_CODE_INTERNAL, "an open extent");
        out->shape[d] = extent->u.i;
    }
    return HONE_OK;
}

static hone_status make_arg(const running *r, const hone_func *kernel, hone_param param,
                            const hone_launch_arg *arg, hone_tensor *out) {
    if (arg->kind == HONE_LAUNCH_ARG_BUFFER) {
        *out = *argument(r, arg->index);
        return HONE_OK;
    }
    if (arg->kind == HONE_LAUNCH_ARG_SCRATCH)
        return scratch_view(r, kernel, param.buffer, r->scratch[arg->index], out);
    int64_t *number = hone_arena_zalloc(r->arena, 16);
    if (!number) return NO_MEMORY();
    *out = hone_tensor_view(number, kernel->vars[param.var].dtype, 0, NULL);
    set_number(out, r->values[arg->index]);
    return HONE_OK;
}

static hone_status run_launch(const running *r, const hone_launch *launch) {
    const hone_device_kernel *kernel = kernel_of(r, launch->symbol);
    if (!kernel) return HONE_ERROR(HONE_CODE_INTERNAL, "no kernel '%s'", launch->symbol);
    const hone_func *func = kernel->func;
    if (func->param_count != launch->arg_count)
        return HONE_ERROR(HONE_CODE_INTERNAL, "'%s' has other parameters", launch->symbol);
    hone_tensor *tensors = hone_arena_zalloc(r->arena, (launch->arg_count + 1) * sizeof *tensors);
    hone_tensor **args = hone_arena_zalloc(r->arena, (launch->arg_count + 1) * sizeof *args);
    if (!tensors || !args) return NO_MEMORY();
    for (size_t i = 0; i < launch->arg_count; i++) {
        HONE_TRY(make_arg(r, func, func->params[i], &launch->args[i], &tensors[i]));
        args[i] = &tensors[i];
    }
    return hone_interp_func(func, args, launch->arg_count, r->options);
}

static hone_status run_all(running *r) {
    const hone_manifest *m = r->manifest;
    int64_t *values = hone_arena_zalloc(r->arena, (m->value_count + 1) * sizeof *values);
    r->scratch = hone_arena_zalloc(r->arena, (m->scratch_count + 1) * sizeof *r->scratch);
    if (!values || !r->scratch) return NO_MEMORY();
    HONE_TRY(hone_launch_values(m, m->sizes, values));
    r->values = values;
    for (size_t i = 0; i < m->scratch_count; i++) {
        size_t bytes = (size_t)values[m->scratch[i]];
        r->scratch[i] = hone_arena_alloc(r->arena, bytes + 1);
        if (!r->scratch[i]) return NO_MEMORY();
        memset(r->scratch[i], 0xa5, bytes);
    }
    for (size_t i = 0; i < m->launch_count; i++)
        HONE_TRY(run_launch(r, &m->launches[i]));
    return HONE_OK;
}

hone_status hone_test_run_launches(const hone_func *func, const hone_launches *launches,
                                   hone_tensor *const *args, const hone_interp_options *options) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_manifest manifest;
    if (!arena) return NO_MEMORY();
    running r = {.func = func,
                 .launches = launches,
                 .manifest = &manifest,
                 .args = args,
                 .arena = arena,
                 .options = options};
    hone_status st = hone_test_launch_manifest(func, launches, args, arena, &manifest);
    if (!st) st = run_all(&r);
    hone_arena_destroy(arena);
    return st;
}
