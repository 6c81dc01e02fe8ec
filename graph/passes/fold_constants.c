/* graph/passes/fold_constants.c - operator calls and kernels whose arguments are all constant are
 * computed by the interpreter; operators that add up do it in float64 and round once, so that no
 * sum is too long.
 * needs: infer
 * keeps: results of more than MAX_ELEMENTS, or more steps than MAX_STEPS: they stay calls
 */
#include "graph/module/rewrite.h"
#include "graph/operators/topi_build.h"
#include "graph/passes/graph_passes.h"
#include "ir/interp/interp.h"

static const int64_t MAX_ELEMENTS = INT64_C(1) << 24, MAX_STEPS = INT64_C(1) << 28;

static hone_status run(hone_rewrite *rw, const hone_func *func, const hone_garg *args,
                       uint32_t count, const hone_sinfo *info, bool is_wide, hone_garg *out,
                       bool *out_done) {
    hone_tensor *tensors[HONE_TOPI_MAX_ARGS + 1], *result;
    int64_t shape[HONE_MAX_RANK];
    for (int32_t i = 0; i < info->rank; i++)
        shape[i] = info->shape[i]->u.i;
    HONE_TRY(hone_tensor_create(info->dtype, info->rank, shape, &result));
    for (uint32_t i = 0; i < count; i++)
        tensors[i] = rw->module->constants[args[i].u.constant];
    tensors[count] = result;
    hone_interp_options options = {.max_steps = MAX_STEPS, .widen_f64 = is_wide};
    hone_status st = hone_interp_func(func, tensors, count + 1, &options);
    if (hone_status_code(st) == HONE_CODE_CANCELLED) { /* too much work: stays a call */
        hone_status_free(st);
        hone_tensor_destroy(result);
        return HONE_OK;
    }
    if (st) {
        hone_tensor_destroy(result);
        return st;
    }
    *out_done = true;
    return hone_rewrite_add_constant(rw, result, out);
}

static bool is_small(const hone_sinfo *info) {
    int64_t count = 1;
    if (!info || !hone_sinfo_is_static(info)) return false;
    for (int32_t i = 0; i < info->rank; i++) {
        if (__builtin_mul_overflow(count, info->shape[i]->u.i, &count) || count > MAX_ELEMENTS) {
            return false;
        }
    }
    return true;
}

/* Constants all, at least one of them. */
static bool all_constant(const hone_garg *arg, bool *out_any) {
    if (arg->kind == HONE_GARG_CONSTANT) *out_any = true;
    if (arg->kind == HONE_GARG_VALUE) return false;
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++) {
        if (!all_constant(&arg->u.items[i], out_any)) return false;
    }
    return true;
}

static hone_status kernel_of(hone_rewrite *rw, const hone_gbind *now, const hone_sinfo *info,
                             const hone_func **out_func, hone_garg *args, uint32_t *out_count) {
    hone_func *func = NULL;
    *out_func = NULL;
    if (now->kind == HONE_GBIND_CALL_TIR) {
        const hone_member *member = hone_module_find(rw->module, now->callee);
        if (!member || member->kind != HONE_MEMBER_FUNC || now->symbolic_count ||
            now->arg_count > HONE_TOPI_MAX_ARGS) {
            return HONE_OK;
        }
        for (uint32_t i = 0; i < now->arg_count; i++) {
            if (now->args[i].kind != HONE_GARG_CONSTANT) return HONE_OK;
            args[i] = now->args[i];
        }
        *out_func = member->func;
        *out_count = now->arg_count;
        return HONE_OK;
    }
    if (!hone_topi_find(now->callee)) return HONE_OK;
    HONE_TRY(hone_topi_build(rw->module, rw->now, now, info, "constant", rw->module->arena, &func,
                             args, out_count));
    *out_func = func;
    return HONE_OK;
}

static bool has_reduction(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        bool is_block = hone_func_node(func, n)->kind == HONE_NODE_BLOCK;
        if (is_block && hone_block_init_of(func, n) != HONE_NO_ID) return true;
    }
    return false;
}

static hone_status fold_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    if (bind->kind != HONE_GBIND_CALL && bind->kind != HONE_GBIND_CALL_TIR) return HONE_OK;
    const hone_sinfo *info = rw->old->values[bind->value].sinfo;
    if (!is_small(info)) return HONE_OK;
    hone_gbind now = *bind;
    HONE_TRY(hone_rewrite_args(rw, bind, &now.args));
    bool any = false;
    for (uint32_t i = 0; i < now.arg_count; i++) {
        if (!all_constant(&now.args[i], &any)) return HONE_OK;
    }
    if (!any) return HONE_OK;
    const hone_func *func;
    hone_garg args[HONE_TOPI_MAX_ARGS], out;
    uint32_t count = 0;
    HONE_TRY(kernel_of(rw, &now, info, &func, args, &count));
    if (!func) return HONE_OK;
    bool is_wide = now.kind == HONE_GBIND_CALL && has_reduction(func);
    HONE_TRY(run(rw, func, args, count, info, is_wide, &out, out_done));
    if (*out_done) hone_rewrite_set(rw, bind->value, out);
    return HONE_OK;
}

hone_status hone_pass_fold_constants(hone_module *module, const hone_graph_options *options) {
    HONE_TRY(hone_rewrite_module(module, fold_bind, NULL));
    return hone_pass_prune(module, options);
}
