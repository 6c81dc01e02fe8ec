/* compile/model_tasks.c - from a model to its tuning tasks. */
#include "compile/model_tasks.h"

#include "graph/passes/prepare.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"

static hone_status prepare(const hone_module *module, const hone_dim_variants *variants,
                           hone_module **out_modules) {
    for (size_t i = 0; i < variants->count; i++) {
        hone_graph_options options = {.dims = variants->items[i].dims,
                                      .dim_count = variants->items[i].dim_count};
        HONE_TRY(hone_graph_prepare(module, &options, &out_modules[i]));
    }
    return HONE_OK;
}

hone_status hone_model_tasks(const hone_module *module, const hone_dim_variants *variants,
                             hone_task_list *out_tasks) {
    *out_tasks = (hone_task_list){0};
    HONE_TRY(hone_check_module(module));
    hone_module **prepared = hone_calloc(variants->count, sizeof(hone_module *));
    if (!prepared) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tasks");
    hone_status st = prepare(module, variants, prepared);
    if (!st) st = hone_tasks_extract(prepared, variants->count, out_tasks);
    for (size_t i = 0; i < variants->count; i++)
        hone_module_release(prepared[i]);
    hone_free(prepared);
    return st;
}
