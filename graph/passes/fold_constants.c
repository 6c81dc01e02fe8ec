/* graph/passes/fold_constants.c - operator calls and kernels whose arguments are all constant are
 * computed by the interpreter (../operators/fold_call.h).
 * needs: infer
 * keeps: results of more than MAX_ELEMENTS, or more steps than MAX_STEPS: they stay calls
 */
#include "graph/module/rewrite.h"
#include "graph/operators/fold_call.h"
#include "graph/passes/graph_passes.h"

static const int64_t MAX_ELEMENTS = INT64_C(1) << 24, MAX_STEPS = INT64_C(1) << 28;

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

static hone_status fold_bind(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    if (bind->kind != HONE_GBIND_CALL && bind->kind != HONE_GBIND_CALL_TIR) return HONE_OK;
    const hone_sinfo *info = rw->old->values[bind->value].sinfo;
    if (!is_small(info)) return HONE_OK;
    hone_gbind now = *bind;
    HONE_TRY(hone_rewrite_args(rw, bind, &now.args));
    hone_tensor *tensor;
    hone_garg out;
    HONE_TRY(
        hone_fold_call(rw->module, rw->now, &now, info, rw->module->arena, MAX_STEPS, &tensor));
    if (!tensor) return HONE_OK;
    HONE_TRY(hone_rewrite_add_constant(rw, tensor, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_pass_fold_constants(hone_module *module, const hone_graph_options *options) {
    HONE_TRY(hone_rewrite_module(module, fold_bind, NULL));
    return hone_pass_prune(module, options);
}
