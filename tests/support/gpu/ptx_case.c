/* tests/support/gpu/ptx_case.c - see ptx_case.h. */
#include "tests/support/gpu/ptx_case.h"

#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "support/data/tensor.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

enum { MOST = 15, SHARED_ALIGN = 128 };

/* Extents of the loops over an axis. */
static int64_t threads(const hone_func *func, const char *axis) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_THREAD) continue;
        if (strcmp(node->u.loop.thread_tag, axis) == 0) {
            return hone_expr_const(node->u.loop.range.extent);
        }
    }
    return 1;
}

static int64_t dynamic_bytes(const hone_func *func) {
    int64_t sum = 0;
    for (hone_buffer id = 0; id < func->buffer_count; id++) {
        const hone_buffer_info *info = &func->buffers[id];
        if (!info->scope || strcmp(info->scope, "shared.dyn") != 0) continue;
        if (info->alias_of != HONE_NO_ID) continue;
        int64_t bytes = hone_buffer_elements(info) * (int64_t)hone_dtype_bytes(info->dtype);
        sum += (bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
    }
    return sum;
}

static hone_status make_args(const hone_func *func, hone_tensor **args) {
    hone_rng rng = hone_test_rng(7);
    for (uint32_t p = 0; p < func->param_count && p < MOST; p++) {
        int64_t shape[HONE_MAX_RANK];
        if (func->params[p].buffer == HONE_NO_ID) {
            HONE_TRY(hone_tensor_create(func->vars[func->params[p].var].dtype, 0, shape, &args[p]));
            hone_tensor_set_f64(args[p], 0, 77);
            continue;
        }
        const hone_buffer_info *buffer = &func->buffers[func->params[p].buffer];
        for (uint32_t d = 0; d < buffer->rank; d++)
            shape[d] = hone_expr_const(buffer->shape[d]);
        HONE_TRY(hone_tensor_create(buffer->dtype, (int32_t)buffer->rank, shape, &args[p]));
        bool is_float = hone_dtype_is_float(buffer->dtype);
        hone_tensor_fill_random(args[p], &rng, is_float ? -1.0 : 1.0, is_float ? 1.0 : 7.0);
    }
    return HONE_OK;
}

static hone_status write_tensor(const char *dir, const char *name, uint32_t p, const char *ending,
                                const hone_tensor *tensor) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%u.%s", dir, name, p, ending);
    return hone_fs_write_atomic(path, tensor->data, hone_tensor_bytes(tensor));
}

static hone_status write_text(const char *dir, const char *name, const char *ending,
                              const hone_str *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s", dir, name, ending);
    HONE_TRY(hone_str_check(text));
    return hone_fs_write_atomic(path, hone_str_text(text), text->length);
}

static void describe(const hone_func *func, hone_tensor *const *args, hone_str *out) {
    hone_str_printf(out, "grid %lld %lld %lld\n", (long long)threads(func, "blockIdx.x"),
                    (long long)threads(func, "blockIdx.y"), (long long)threads(func, "blockIdx.z"));
    hone_str_printf(out, "block %lld %lld %lld\n", (long long)threads(func, "threadIdx.x"),
                    (long long)threads(func, "threadIdx.y"),
                    (long long)threads(func, "threadIdx.z"));
    hone_str_printf(out, "shared %lld\n", (long long)dynamic_bytes(func));
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer == HONE_NO_ID) {
            hone_str_printf(out, "value %lld\n", (long long)hone_tensor_get_i64(args[p], 0));
        } else {
            hone_str_printf(out, "buffer %s %lld\n", HONE_DTYPE_NAME(args[p]->dtype),
                            (long long)hone_tensor_count(args[p]));
        }
    }
}

static hone_status write_all(const char *dir, const char *name, const hone_func *func,
                             const hone_str *ptx, hone_tensor *const *args) {
    hone_interp_options options = {.is_scheduled = true};
    hone_str text = {0};
    describe(func, args, &text);
    hone_status st = write_text(dir, name, "case", &text);
    hone_str_deinit(&text);
    if (!st) st = write_text(dir, name, "ptx", ptx);
    for (uint32_t p = 0; p < func->param_count && !st; p++) {
        st = write_tensor(dir, name, p, "in", args[p]);
    }
    if (!st) st = hone_interp_func(func, args, func->param_count, &options);
    for (uint32_t p = 0; p < func->param_count && !st; p++) {
        st = write_tensor(dir, name, p, "want", args[p]);
    }
    return st;
}

hone_status test_ptx_keep(const char *dir, const char *name, const hone_func *func,
                          const hone_str *ptx) {
    hone_tensor *args[MOST + 1] = {0};
    if (func->param_count > MOST) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "many arguments");
    hone_status st = make_args(func, args);
    if (!st) st = write_all(dir, name, func, ptx, args);
    for (int i = 0; i < MOST; i++)
        hone_tensor_destroy(args[i]);
    return st;
}
