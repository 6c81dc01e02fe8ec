/* compile/model_tasks.c - from a model to its tuning tasks. */
#include "compile/model_tasks.h"

#include "compile/first_schedule.h"
#include "graph/passes/left_out.h"
#include "graph/passes/prepare.h"
#include "ir/verify/verify.h"
#include "lower/signature/signature.h"
#include "support/core/alloc.h"

/* What is the same for all variants. */
static hone_graph_options common_options(const hone_target *target, const hone_left_out *left_out) {
    hone_graph_options options = {.left_out = left_out, .writes_whole = hone_writes_whole};
    if (target) hone_note_device(&options, target);
    return options;
}

static hone_status prepare(const hone_module *module, const hone_graph_options *common,
                           const hone_dim_variants *variants, hone_module **out_modules) {
    for (size_t i = 0; i < variants->count; i++) {
        hone_graph_options options = *common;
        options.dims = variants->items[i].dims;
        options.dim_count = variants->items[i].dim_count;
        HONE_TRY(hone_graph_prepare(module, &options, &out_modules[i]));
    }
    return HONE_OK;
}

static hone_status extract(const hone_module *module, const hone_graph_options *common,
                           const hone_dim_variants *variants, hone_task_list *out_tasks) {
    hone_module **prepared = hone_calloc(variants->count, sizeof(hone_module *));
    if (!prepared) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tasks");
    hone_status st = prepare(module, common, variants, prepared);
    if (!st) st = hone_tasks_extract(prepared, variants->count, out_tasks);
    for (size_t i = 0; i < variants->count; i++)
        hone_module_release(prepared[i]);
    hone_free(prepared);
    return st;
}

static hone_status keep_words(const hone_left_out *left_out, hone_task_list *tasks) {
    if (!left_out->said) return HONE_OK;
    tasks->left_out = hone_arena_strdup(tasks->arena, left_out->said);
    return tasks->left_out ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "tasks");
}

hone_status hone_model_tasks(const hone_module *module, const hone_target *target,
                             const hone_dim_variants *variants, hone_task_list *out_tasks) {
    *out_tasks = (hone_task_list){0};
    HONE_TRY(hone_check_module(module));
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tasks");
    hone_left_out left_out;
    hone_status st = hone_graph_find_left_out(module, arena, &left_out);
    const hone_graph_options common = common_options(target, &left_out);
    if (!st) st = extract(module, &common, variants, out_tasks);
    if (!st) st = keep_words(&left_out, out_tasks);
    hone_arena_destroy(arena);
    return st;
}
