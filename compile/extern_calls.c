/* compile/extern_calls.c - external functions that programs call. */
#include "compile/extern_calls.h"

#include <string.h>

#include "ir/region/func_rewrite.h"
#include "lower/signature/signature.h"
#include "runtime/model/model_rt.h"

hone_status hone_extern_calls_add(hone_extern_calls *calls, const hone_extern_call *call) {
    for (size_t i = 0; i < calls->count; i++)
        if (strcmp(calls->items[i].name, call->name) == 0) return HONE_OK;
    if (calls->count == calls->capacity) {
        size_t capacity = calls->capacity ? 2 * calls->capacity : 8;
        hone_extern_call *items = hone_arena_alloc(calls->arena, capacity * sizeof *items);
        if (!items) return HONE_NO_MEMORY("external functions");
        if (calls->count) memcpy(items, calls->items, calls->count * sizeof *items);
        calls->items = items;
        calls->capacity = capacity;
    }
    calls->items[calls->count++] = *call;
    return HONE_OK;
}

/* ---- of programs ---- */

static bool is_c_call(const void *name, const hone_expr *e) {
    bool is_c = hone_expr_is_call(e, HONE_INTRIN_CALL_EXTERN) ||
                hone_expr_is_call(e, HONE_INTRIN_CALL_PURE_EXTERN);
    return is_c && e->count && e->args[0]->kind == HONE_EXPR_STRING &&
           strcmp(e->args[0]->u.s, name) == 0;
}

hone_status hone_extern_calls_of_func(hone_extern_calls *calls, const hone_func *func,
                                      const char *task) {
    hone_signature signature;
    HONE_TRY(hone_signature_of(func, calls->arena, &signature));
    for (uint32_t i = 0; i < signature.extern_count; i++) {
        const char *name = signature.externs[i];
        bool is_c = hone_tree_find_part(func, 0, true, is_c_call, name);
        const hone_extern_call call = {.name = name, .task = task, .is_packed = !is_c};
        HONE_TRY(hone_extern_calls_add(calls, &call));
    }
    return HONE_OK;
}

hone_status hone_extern_calls_of_tasks(hone_extern_calls *calls, const hone_task_list *tasks,
                                       const char *only_task) {
    for (uint32_t i = 0; i < tasks->count; i++) {
        const hone_task *task = &tasks->items[i];
        if (only_task && strcmp(task->name, only_task) != 0) continue;
        HONE_TRY(hone_extern_calls_of_func(calls, task->func, task->name));
    }
    return HONE_OK;
}

/* ---- in libraries ---- */

void hone_extern_print_prototypes(const char *name, hone_str *out) {
    hone_str c_name = {0};
    for (const char *at = name; *at; at++)
        hone_str_append_char(&c_name, *at == '.' ? '_' : *at);
    hone_str_printf(out,
                    "int32_t %s(void *const *args, const int64_t *const *shapes, const int32_t "
                    "*ranks, int32_t count), or int32_t %s%s(DLTensor *const *args, int32_t count)",
                    hone_str_text(&c_name), hone_str_text(&c_name), HONE_EXTERN_DLPACK_ENDING);
    hone_str_deinit(&c_name);
}

static void say_missing(const hone_extern_call *call, size_t index, hone_str *out) {
    hone_str_printf(out, "%s'%s'", index ? ", nor " : "", call->name);
    if (call->task) hone_str_printf(out, ", which task '%s' calls", call->task);
}

hone_status hone_extern_calls_find(const hone_extern_calls *calls, void *library) {
    hone_str missing = {0};
    size_t count = 0;
    const hone_extern_call *packed = NULL;
    for (size_t i = 0; i < calls->count; i++) {
        const hone_extern_call *call = &calls->items[i];
        if (hone_model_rt_find_symbol(library, call->name)) continue;
        say_missing(call, count++, &missing);
        if (call->is_packed && !packed) packed = call;
    }
    if (packed) {
        hone_str_append(&missing, "; in C: ");
        hone_extern_print_prototypes(packed->name, &missing);
    }
    hone_status st =
        count ? HONE_ERROR(HONE_CODE_NOT_FOUND, "has no function %s", hone_str_text(&missing))
              : HONE_OK;
    hone_str_deinit(&missing);
    return st;
}
