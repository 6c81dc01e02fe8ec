/* include/api_interpret.c - programs run in the interpreter, on tensors of the caller. */
#include <hone/compile.h>

#include <dlfcn.h>
#include <stdio.h>

#include "graph/passes/prepare.h"
#include "include/api.h"
#include "include/api_host.h"
#include "ir/interp/interp.h"
#include "ir/verify/verify.h"
#include "runtime/model/model_rt.h"
#include "runtime/native_call.h"
#include "support/core/alloc.h"

struct hone_results {
    hone_tensor **tensors; /* owned, the array too */
    DLTensor *views;
    size_t count;
};

void hone_results_free(hone_results *results) {
    if (!results) return;
    for (size_t i = 0; i < results->count; i++)
        hone_tensor_destroy(results->tensors[i]);
    hone_free(results->tensors);
    hone_free(results->views);
    hone_free(results);
}

size_t hone_results_count(const hone_results *results) {
    return results ? results->count : 0;
}

DLTensor *hone_results_at(const hone_results *results, size_t index) {
    return results && index < results->count ? &results->views[index] : NULL;
}

/* Takes the tensors, also when it fails. */
static hone_status keep(hone_tensor **tensors, size_t count, hone_results **out) {
    hone_results *made = hone_calloc(1, sizeof *made);
    DLTensor *views = hone_calloc(count + 1, sizeof *views);
    for (size_t i = 0; i < count && views; i++)
        views[i] = hone_api_dl_tensor(tensors[i]);
    hone_results kept = {.tensors = tensors, .views = views, .count = count};
    if (made && views) {
        *made = kept;
        *out = made;
        return HONE_OK;
    }
    for (size_t i = 0; i < count; i++)
        hone_tensor_destroy(tensors[i]);
    hone_free(tensors);
    hone_free(views);
    hone_free(made);
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "results");
}

/* The caller's tensors as ours. */
typedef struct arguments {
    hone_tensor *views, **pointers;
    size_t count;
} arguments;

static hone_status view_all(hone_arena *arena, size_t count, DLTensor *const *given,
                            arguments *out) {
    out->views = hone_arena_zalloc(arena, (count + 1) * sizeof *out->views);
    out->pointers = hone_arena_zalloc(arena, (count + 1) * sizeof(hone_tensor *));
    out->count = count;
    if (!out->views || !out->pointers) return HONE_ERROR(HONE_CODE_NO_MEMORY, "arguments");
    for (size_t i = 0; i < count; i++) {
        char what[32];
        snprintf(what, sizeof what, "argument %zu", i);
        HONE_TRY(hone_api_view(given[i], what, &out->views[i]));
        out->pointers[i] = &out->views[i];
    }
    return HONE_OK;
}

/* ---- external functions: registered, or of the process ---- */

static hone_status find_extern(const char *name, void *(*find)(void *library, const char *name),
                               void **out) {
    *out = find(RTLD_DEFAULT, name);
    return *out
               ? HONE_OK
               : HONE_ERROR(HONE_CODE_NOT_FOUND, "it was not found: <hone/extern.h> says its form");
}

static hone_status call_packed(void *ctx, const char *name, hone_tensor *const *args,
                               size_t count) {
    void *symbol;
    (void)ctx;
    HONE_TRY(find_extern(name, hone_model_rt_find_packed, &symbol));
    return hone_call_packed(symbol, name, args, count);
}

static hone_status call_c(void *ctx, const char *name, hone_tensor *const *args, size_t count,
                          hone_tensor *result) {
    void *symbol;
    (void)ctx;
    HONE_TRY(find_extern(name, hone_model_rt_find_symbol, &symbol));
    return hone_call_c(symbol, name, args, count, result);
}

static const hone_interp_options how = {
    .call_extern = call_packed, .call_c = call_c, .is_scheduled = true};

static hone_status run_graph(const hone_module *module, const char *name, const arguments *args,
                             hone_results **out_results) {
    hone_module *plain;
    hone_tensor **tensors = NULL;
    size_t count = 0;
    if (!out_results) return HONE_ERROR(HONE_CODE_INVALID, "out_results is NULL");
    HONE_TRY(hone_graph_prepare_plain(module, NULL, &plain));
    hone_status st =
        hone_interp_graph(plain, name, args->pointers, args->count, &how, &tensors, &count);
    hone_module_release(plain);
    return st ? st : keep(tensors, count, out_results);
}

static hone_status run(const hone_module *module, const char *function, const arguments *args,
                       hone_results **out_results) {
    const hone_member *member;
    HONE_TRY(hone_check_module(module));
    HONE_TRY(hone_module_pick(module, function, &member));
    if (member->kind == HONE_MEMBER_GRAPH)
        return run_graph(module, member->name, args, out_results);
    if (member->kind != HONE_MEMBER_FUNC)
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is only declared here", member->name);
    HONE_TRY(hone_interp_func(member->func, args->pointers, args->count, &how));
    return out_results ? keep(NULL, 0, out_results) : HONE_OK;
}

hone_error *hone_program_interpret(const hone_program *program, const char *function, size_t count,
                                   DLTensor *const *arguments_given, hone_results **out_results) {
    if (out_results) *out_results = NULL;
    HONE_API_NEED(program);
    if (count && !arguments_given) return hone_api_missing("arguments");
    arguments args;
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return hone_api_error(HONE_ERROR(HONE_CODE_NO_MEMORY, "arguments"));
    hone_status st = view_all(arena, count, arguments_given, &args);
    if (!st) st = run(hone_api_module(program), function, &args, out_results);
    hone_arena_destroy(arena);
    return hone_api_error(st);
}
