/* lower/pipeline/fragment_copies.c - see fragment_copies.h. */
#include "lower/pipeline/fragment_copies.h"

#include <string.h>

/* (data, m, n, k, number, …) */
static bool says_shape(const hone_expr *e) {
    return e->count > 5 && (hone_expr_is_named(e, "tvm_load_matrix_sync") ||
                            hone_expr_is_named(e, "tvm_store_matrix_sync") ||
                            hone_expr_is_named(e, "tvm_fill_fragment"));
}

/* (D, number, A, number, B, number, C, number) */
static bool multiplies(const hone_expr *e) {
    return e->count == 9 &&
           (hone_expr_is_named(e, "tvm_mma_sync") || hone_expr_is_named(e, "tvm_bmma_sync"));
}

bool lower_is_fragment_call(const hone_expr *e) {
    return says_shape(e) || multiplies(e);
}

uint16_t lower_fragment_number(const hone_expr *call, uint16_t i) {
    if (says_shape(call)) return i == 1 ? 5 : 0;
    return multiplies(call) && i % 2 == 1 ? i + 1u : 0;
}

hone_buffer lower_buffer_of_data(const hone_func *func, const hone_expr *data) {
    for (hone_buffer b = 0; data->kind == HONE_EXPR_VAR && b < func->buffer_count; b++) {
        const hone_buffer_info *info = &func->buffers[b];
        if (info->data == data->u.var && info->alias_of == HONE_NO_ID) return b;
    }
    return HONE_NO_ID;
}

/* ---- how many ---- */

typedef struct search {
    const hone_buffer_info *info;
    int64_t elements; /* of a fragment; 0: not found */
} search;

static bool find_shape(void *ctx, const hone_expr *e) {
    search *s = ctx;
    if (!says_shape(e) || e->args[1]->kind != HONE_EXPR_VAR || e->args[1]->u.var != s->info->data)
        return true;
    int64_t m = hone_expr_const(e->args[2]), n = hone_expr_const(e->args[3]);
    int64_t k = hone_expr_const(e->args[4]);
    const char *scope = s->info->scope ? s->info->scope : "";
    if (m < 1 || n < 1 || k < 1) return true;
    s->elements = strcmp(scope, "wmma.matrix_a") == 0   ? m * k
                  : strcmp(scope, "wmma.matrix_b") == 0 ? k * n
                                                        : m * n;
    return true;
}

int64_t lower_fragment_count(const hone_func *func, hone_buffer buffer) {
    const hone_buffer_info *info = &func->buffers[buffer];
    search s = {info, 0};
    int64_t elements = hone_buffer_elements(info);
    if (info->data == HONE_NO_ID || !info->scope || strncmp(info->scope, "wmma.", 5) != 0) return 0;
    hone_tree_walk_parts(func, 0, false, find_shape, &s);
    return s.elements > 0 && elements > 0 && elements % s.elements == 0 ? elements / s.elements : 0;
}
