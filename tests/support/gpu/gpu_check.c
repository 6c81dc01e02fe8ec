/* tests/support/gpu/gpu_check.c - what every schedule for a GPU must keep. */
#include "tests/support/gpu/gpu_check.h"

#include <string.h>

#include "ir/interp/interp.h"
#include "ir/verify/verify.h"
#include "lower/ground/lower.h"
#include "tests/support/random_program.h"

/* The first store that some axis of threads is missing around, or HONE_NO_ID. */
static hone_node_id find_unbound(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_STORE) continue;
        bool has_block = false, has_thread = false;
        for (hone_node_id up = n; up != HONE_NO_ID; up = hone_func_node(func, up)->parent) {
            const hone_node *node = hone_func_node(func, up);
            if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_THREAD) continue;
            has_block = has_block || strncmp(node->u.loop.thread_tag, "blockIdx", 8) == 0;
            has_thread = has_thread || strncmp(node->u.loop.thread_tag, "threadIdx", 9) == 0;
        }
        if (!has_block || !has_thread) return n;
    }
    return HONE_NO_ID;
}

static bool says(hone_status st, const char *what, hone_str *out_why) {
    if (st) hone_str_printf(out_why, "%s: %s", what, hone_status_message(st));
    bool is_ok = st == HONE_OK;
    hone_status_free(st);
    return is_ok;
}

static bool keeps_limits(const hone_func *func, const hone_target *target, hone_str *out_why) {
    hone_module *module = NULL;
    hone_findings found = {.arena = hone_arena_create(4096)};
    hone_status st = hone_module_of_func(func, &module);
    if (!st) hone_verify_target(module, target, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        if (!found.items[i].is_warning) hone_str_printf(out_why, "%s; ", found.items[i].text);
    }
    hone_module_release(module);
    hone_arena_destroy(found.arena);
    return says(st, "limits", out_why) && found.error_count == 0;
}

static bool has_no_race(const hone_func *func, uint64_t seed, bool is_scheduled,
                        hone_str *out_why) {
    hone_interp_options options = {
        .check_races = true, .allow_repeats = true, .is_scheduled = is_scheduled};
    hone_tensor **args = hone_test_make_args(func, seed);
    hone_status st = args ? hone_interp_func(func, args, func->param_count, &options)
                          : HONE_ERROR(HONE_CODE_NO_MEMORY, "arguments");
    hone_test_free_args(func, args);
    return says(st, is_scheduled ? "scheduled" : "lowered", out_why);
}

/* ---- how matrices lie ---- */

enum { ROW_BYTES = 16 }; /* units load rows of matrices at multiples of so many bytes */

typedef struct matrices {
    const hone_func *func;
    hone_str *why;
} matrices;

static const hone_buffer_info *buffer_of(const hone_func *func, const hone_expr *data) {
    for (hone_buffer b = 0; data->kind == HONE_EXPR_VAR && b < func->buffer_count; b++) {
        if (func->buffers[b].data == data->u.var) return &func->buffers[b];
    }
    return NULL;
}

/* (fragments, m, n, k, number, memory, stride, layout) */
static bool check_rows(void *ctx, const hone_expr *e) {
    const matrices *m = ctx;
    bool is_it = (hone_expr_is_named(e, "tvm_load_matrix_sync") ||
                  hone_expr_is_named(e, "tvm_store_matrix_sync")) &&
                 e->count == 9;
    const hone_buffer_info *of = is_it ? buffer_of(m->func, e->args[1]) : NULL;
    if (!of) return true;
    int64_t stride = hone_expr_const(e->args[7]) * (int64_t)hone_dtype_bytes(of->dtype);
    if (stride >= 0 && stride % ROW_BYTES != 0)
        hone_str_printf(m->why, "rows of a matrix for '%s' are %lld bytes apart; ", of->name,
                        (long long)stride);
    return true;
}

static bool has_even_rows(const hone_func *func, hone_str *out_why) {
    matrices m = {func, out_why};
    size_t before = strlen(hone_str_text(out_why));
    hone_tree_walk_parts(func, 0, false, check_rows, &m);
    return strlen(hone_str_text(out_why)) == before;
}

/* ---- all of it ---- */

static bool is_right_lowered(const hone_func *before, const hone_func *scheduled,
                             const hone_target *target, uint64_t seed, hone_str *out_why) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_lower_options options = {.target = target};
    hone_func *lowered = NULL;
    bool is_ok = says(hone_lower_func(scheduled, &options, arena, &lowered), "lowering", out_why) &&
                 keeps_limits(lowered, target, out_why) && has_even_rows(lowered, out_why) &&
                 hone_test_agrees(before, lowered, seed, out_why) &&
                 has_no_race(lowered, seed, false, out_why);
    hone_arena_destroy(arena);
    return is_ok;
}

bool hone_test_gpu_is_right(const hone_func *before, const hone_func *scheduled,
                            const hone_target *target, uint64_t seed, hone_str *out_why) {
    if (find_unbound(scheduled) != HONE_NO_ID) {
        hone_str_append(out_why, "a store stands outside of threads");
        return false;
    }
    return says(hone_check_func(scheduled), "ill-formed", out_why) &&
           keeps_limits(scheduled, target, out_why) &&
           hone_test_agrees(before, scheduled, seed, out_why) &&
           has_no_race(scheduled, seed, true, out_why) &&
           is_right_lowered(before, scheduled, target, seed, out_why);
}
