/* graph/passes/legalize.c - operator calls become call_tir of PrimFuncs; equal kernels are made
 * once.
 * needs: infer, normalize (no views but reshape, no splits), decompose
 * keeps: everything that is no operator call; loops; tensor_to_shape; unless asked for all, reshape
 * outside of kernels that are kept and, on devices of many threads, consecutive matrices of a
 * product: views The kernels carry "op_pattern" for fuse, which takes it off.
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/operators/topi_build.h"
#include "graph/passes/graph_passes.h"
#include "ir/identity/structural.h"
#include "ir/ops/graph_infer.h"
#include "support/data/map.h"

typedef struct legalizer {
    bool keep_reshape;
    const hone_graph_options *options;
    hone_map128 known; /* hash of a kernel → member of the module */
} legalizer;

/* "nn.conv2d" → "conv2d" */
static const char *stem_of(const char *op) {
    const char *dot = strrchr(op, '.');
    return dot ? dot + 1 : op;
}

static hone_status mark_pattern(hone_func *func, const char *op) {
    int64_t pattern = hone_graph_op_find(op)->pattern;
    bool ok = hone_attrs_with(func->arena, &func->attrs, "op_pattern", HONE_VALUE_OF_INT(pattern),
                              &func->attrs);
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
}

/* Adds the kernel to the module, or finds the equal one that is there. */
static hone_status intern(hone_rewrite *rw, hone_func *func, const char **out_name) {
    legalizer *l = rw->ctx;
    uint64_t member;
    hone_hash128 hash = hone_func_hash(func);
    if (hone_map128_find(&l->known, hash, &member)) {
        *out_name = rw->module->members[member].name;
        return HONE_OK;
    }
    *out_name = func->name;
    if (!hone_map128_put(&l->known, hash, rw->module->member_count)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "kernels");
    }
    return hone_module_add_func(rw->module, func);
}

static const hone_gbind *maker_of(const hone_rewrite *rw, const hone_garg *arg) {
    return arg->kind == HONE_GARG_VALUE ? rw->defs[arg->u.value] : NULL;
}

/* A product, with what is added to it: no kernel takes slices of it into its own. */
static bool is_product(const hone_rewrite *rw, const hone_garg *arg) {
    const hone_gbind *from = maker_of(rw, arg);
    bool is_sum = hone_gbind_calls(from, "add");
    for (uint32_t i = 0; is_sum && i < 2; i++) {
        if (hone_gbind_calls(maker_of(rw, &from->args[i]), "matmul")) return true;
    }
    return hone_gbind_calls(from, "matmul");
}

/* Consecutive matrices of a product (along its first dimension), which begin where a tensor may. */
static bool is_part_of_product(hone_rewrite *rw, const hone_gbind *bind) {
    int64_t axis[HONE_MAX_RANK], begin[HONE_MAX_RANK], bytes;
    const hone_sinfo *info = rw->old->values[bind->value].sinfo;
    if (!hone_gbind_calls(bind, "strided_slice") || bind->arg_count != 4 || !info ||
        !hone_sinfo_is_static(info) || info->rank < 3 || !is_product(rw, &bind->args[0]) ||
        hone_garg_ints(&bind->args[1], axis) != 1 || axis[0] != 0 ||
        hone_garg_ints(&bind->args[2], begin) != 1 || begin[0] < 0)
        return false;
    bytes = begin[0] * (int64_t)hone_dtype_bytes(info->dtype);
    for (int32_t d = 1; d < info->rank; d++)
        bytes *= hone_expr_const(info->shape[d]);
    return bytes % HONE_PASS_VIEW_BYTES == 0;
}

static hone_status legalize_call(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    legalizer *l = rw->ctx;
    if (bind->kind != HONE_GBIND_CALL) return HONE_OK;
    if (strcmp(bind->callee, "tensor_to_shape") == 0) return HONE_OK;
    if (strcmp(bind->callee, "loop") == 0) return HONE_OK;
    bool keeps_views = l->keep_reshape && !bind->kernel;
    if (keeps_views && strcmp(bind->callee, "reshape") == 0) return HONE_OK;
    if (keeps_views && l->options->is_for_many_threads && is_part_of_product(rw, bind))
        return HONE_OK;
    hone_gbind now = *bind;
    HONE_TRY(hone_rewrite_args(rw, bind, &now.args));
    const hone_sinfo *info;
    HONE_TRY(hone_graph_infer_bind(rw->module, rw->now, &now, rw->module->arena, &info));
    const char *name;
    hone_func *func;
    hone_garg args[HONE_TOPI_MAX_ARGS], out;
    uint32_t count = 0;
    HONE_TRY(hone_module_fresh_name(rw->module, stem_of(bind->callee), &name));
    HONE_TRY(hone_topi_build(rw->module, rw->now, &now, info, name, l->options, rw->module->arena,
                             &func, args, &count));
    HONE_TRY(mark_pattern(func, bind->callee));
    HONE_TRY(intern(rw, func, &name));
    HONE_TRY(hone_rewrite_call_tir(rw, name, count, args, info, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

static hone_status legalize(hone_module *module, const hone_graph_options *options,
                            bool keep_reshape) {
    legalizer l = {.keep_reshape = keep_reshape, .options = options};
    hone_status st = hone_rewrite_module(module, legalize_call, &l);
    hone_map128_deinit(&l.known);
    return st;
}

hone_status hone_pass_legalize(hone_module *module, const hone_graph_options *options) {
    return legalize(module, options, true);
}

hone_status hone_pass_legalize_all(hone_module *module, const hone_graph_options *options) {
    HONE_TRY(hone_pass_compose(module, options));
    return legalize(module, options, false);
}
