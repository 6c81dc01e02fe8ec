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

/* As calls hand values over: narrow integers as int. */
static void append_c_type(hone_dtype dtype, hone_str *out) {
    const char *type = hone_dtype_is_void(dtype)     ? "void "
                       : hone_dtype_is_handle(dtype) ? "void *"
                       : hone_dtype_is_float(dtype)  ? (dtype.bits == 64 ? "double " : "float ")
                       : dtype.bits == 64            ? "int64_t "
                                                     : "int32_t ";
    hone_str_append(out, type);
}

static hone_status print_c_prototype(const hone_expr *call, hone_arena *arena, const char **out) {
    hone_str text = {0};
    append_c_type(call->dtype, &text);
    hone_str_printf(&text, "%s(", call->args[0]->u.s);
    for (uint16_t i = 1; i < call->count; i++) {
        if (i > 1) hone_str_append(&text, ", ");
        append_c_type(call->args[i]->dtype, &text);
        if (text.length && text.data[text.length - 1] == ' ') text.data[--text.length] = 0;
    }
    hone_str_append(&text, call->count > 1 ? ")" : "void)");
    hone_status st = hone_str_check(&text);
    *out = st ? NULL : hone_arena_strdup(arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return st || *out ? st : HONE_NO_MEMORY("external functions");
}

hone_status hone_extern_calls_of_func(hone_extern_calls *calls, const hone_func *func,
                                      const char *task) {
    hone_signature signature;
    HONE_TRY(hone_signature_of(func, calls->arena, &signature));
    for (uint32_t i = 0; i < signature.extern_count; i++) {
        const char *name = signature.externs[i];
        const hone_expr *first = hone_tree_find_part(func, 0, true, is_c_call, name);
        hone_extern_call call = {.name = name, .task = task, .is_packed = !first};
        if (first) HONE_TRY(print_c_prototype(first, calls->arena, &call.c_prototype));
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

static void *find(void *library, const hone_extern_call *call) {
    return call->is_packed ? hone_model_rt_find_packed(library, call->name)
                           : hone_model_rt_find_symbol(library, call->name);
}

static void say_missing(const hone_extern_call *call, size_t index, hone_str *out) {
    hone_str_printf(out, "%s'%s'", index ? ", nor " : "", call->name);
    if (call->task) hone_str_printf(out, ", which task '%s' calls", call->task);
}

/* How the function looks in C; one of the other form is no mistake that can be guessed. */
static void say_form(const hone_extern_call *call, void *library, hone_str *out) {
    hone_str_append(out, "; in C: ");
    if (call->is_packed) {
        hone_extern_print_prototypes(call->name, out);
        return;
    }
    hone_str_append(out, call->c_prototype);
    if (hone_model_rt_find_packed(library, call->name)) {
        hone_str_printf(out,
                        ", as T.call_extern calls it; its '%s%s' takes DLPack tensors, for which a "
                        "program says T.call_packed(\"%s\", ...)",
                        call->name, HONE_EXTERN_DLPACK_ENDING, call->name);
    }
}

hone_status hone_extern_calls_find(const hone_extern_calls *calls, void *library) {
    hone_str missing = {0};
    size_t count = 0;
    const hone_extern_call *first = NULL;
    for (size_t i = 0; i < calls->count; i++) {
        const hone_extern_call *call = &calls->items[i];
        if (find(library, call)) continue;
        say_missing(call, count++, &missing);
        if (!first) first = call;
    }
    if (first) say_form(first, library, &missing);
    hone_status st =
        count ? HONE_ERROR(HONE_CODE_NOT_FOUND, "has no function %s", hone_str_text(&missing))
              : HONE_OK;
    hone_str_deinit(&missing);
    return st;
}
