/* graph/operators/fold_call.c - runs a call whose arguments are constant. */
#include "graph/operators/fold_call.h"

#include "graph/operators/topi_build.h"
#include "ir/interp/interp.h"

/* Constants all, at least one of them. */
static bool all_constant(const hone_garg *arg, bool *out_any) {
    if (arg->kind == HONE_GARG_CONSTANT) *out_any = true;
    if (arg->kind == HONE_GARG_VALUE) return false;
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++) {
        if (!all_constant(&arg->u.items[i], out_any)) return false;
    }
    return true;
}

static bool takes_constants(const hone_gbind *bind) {
    bool any = false;
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        if (!all_constant(&bind->args[i], &any)) return false;
    }
    return any;
}

typedef struct folding {
    const hone_func *func;
    hone_garg args[HONE_TOPI_MAX_ARGS];
    uint32_t count;
} folding;

static bool find_kernel(const hone_module *module, const hone_gbind *bind, folding *f) {
    const hone_member *member = hone_module_find(module, bind->callee);
    if (!member || member->kind != HONE_MEMBER_FUNC || bind->symbolic_count ||
        bind->arg_count > HONE_TOPI_MAX_ARGS) {
        return false;
    }
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        if (bind->args[i].kind != HONE_GARG_CONSTANT) return false;
        f->args[i] = bind->args[i];
    }
    f->func = member->func;
    f->count = bind->arg_count;
    return true;
}

static bool has_reduction(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        bool is_block = hone_func_node(func, n)->kind == HONE_NODE_BLOCK;
        if (is_block && hone_block_init_of(func, n) != HONE_NO_ID) return true;
    }
    return false;
}

/* Too much work is no error. */
static hone_status run(const hone_module *module, const folding *f, const hone_sinfo *info,
                       const hone_interp_options *options, hone_tensor **out_tensor) {
    hone_tensor *tensors[HONE_TOPI_MAX_ARGS + 1], *result;
    int64_t shape[HONE_MAX_RANK];
    for (int32_t i = 0; i < info->rank; i++)
        shape[i] = info->shape[i]->u.i;
    HONE_TRY(hone_tensor_create(info->dtype, info->rank, shape, &result));
    for (uint32_t i = 0; i < f->count; i++)
        tensors[i] = module->constants[f->args[i].u.constant];
    tensors[f->count] = result;
    hone_status st = hone_interp_func(f->func, tensors, f->count + 1, options);
    if (!st) {
        *out_tensor = result;
        return HONE_OK;
    }
    hone_tensor_destroy(result);
    if (hone_status_code(st) != HONE_CODE_CANCELLED) return st;
    hone_status_free(st);
    return HONE_OK;
}

hone_status hone_fold_call(const hone_module *module, const hone_graph_func *graph,
                           const hone_gbind *bind, const hone_sinfo *info, hone_arena *arena,
                           int64_t max_steps, hone_tensor **out_tensor) {
    folding f = {.func = NULL};
    bool is_operator = bind->kind == HONE_GBIND_CALL;
    *out_tensor = NULL;
    if (!takes_constants(bind)) return HONE_OK;
    if (is_operator) {
        hone_func *func;
        if (!hone_topi_find(bind->callee)) return HONE_OK;
        HONE_TRY(hone_topi_build(module, graph, bind, info, "constant", NULL, arena, &func, f.args,
                                 &f.count));
        f.func = func;
    } else if (!find_kernel(module, bind, &f)) {
        return HONE_OK;
    }
    hone_interp_options options = {.max_steps = max_steps,
                                   .widen_f64 = is_operator && has_reduction(f.func)};
    return run(module, &f, info, &options, out_tensor);
}
