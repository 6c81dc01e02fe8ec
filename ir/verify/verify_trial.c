/* ir/verify/verify_trial.c - a trial run in the interpreter, for what the rules cannot see:
 * elements that a condition leaves without a value, threads that read before others wrote,
 * iterations that meet by a rule of numbers that is not linear.
 *
 * Inputs are made up: sizes are 64, integers 0, floats random. What such a run finds is there, but
 * a program may never be called so; therefore warnings. Programs whose indices are read from
 * inputs, or that take numbers that are no sizes, are not run: nothing is known of such inputs.
 */
#include <string.h>

#include "ir/arith/arith.h"
#include "ir/interp/interp.h"
#include "ir/verify/verify_impl.h"
#include "support/data/rng.h"

enum { SIZE = 64, MOST_STEPS = 1 << 18, MOST_ELEMENTS = 1 << 22 };

/* ---- may it be run? ---- */

static bool is_read(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return e->kind == HONE_EXPR_LOAD || hone_expr_is_effect(e);
}

/* An index that is read from a buffer, or given by a call that may read one. */
static bool reads_any(uint32_t count, const hone_expr *const *indices) {
    bool is_found = false;
    for (uint32_t i = 0; i < count && !is_found; i++)
        is_found = hone_expr_find(indices[i], is_read, NULL);
    return is_found;
}

static bool is_indirect(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return e->kind == HONE_EXPR_LOAD && reads_any(e->count, e->args);
}

/* Do inputs decide which elements are touched? */
static bool is_decided_by_data(const hone_func *func) {
    bool is_found = hone_tree_find_part(func, 0, false, is_indirect, NULL);
    for (hone_node_id id = 0; id != HONE_NO_ID && !is_found; id = hone_tree_next(func, 0, id)) {
        const hone_node *node = hone_func_node(func, id);
        if (node->kind == HONE_NODE_WHILE) return true;
        if (node->kind == HONE_NODE_FOR) {
            const hone_expr *bounds[] = {node->u.loop.range.min, node->u.loop.range.extent};
            is_found = reads_any(2, bounds);
        }
        if (node->kind == HONE_NODE_STORE)
            is_found = reads_any(node->u.store.rank, node->u.store.indices);
        if (node->kind == HONE_NODE_BLOCK)
            is_found = reads_any(node->u.block.block->axis_count, node->u.block.bindings);
    }
    return is_found;
}

/* ---- arguments ---- */

typedef struct trial {
    const hone_func *func;
    hone_arith arith; /* every size is bound to the one it has here */
    hone_tensor **args;
    int64_t element_count;
    bool has_sizes;
} trial;

/* The sizes are what shapes name. */
static bool bind_sizes(trial *t) {
    const hone_func *func = t->func;
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer >= func->buffer_count) continue;
        const hone_buffer_info *info = hone_func_buffer(func, func->params[p].buffer);
        for (uint32_t d = 0; d < info->rank; d++) {
            const hone_expr *e = info->shape[d];
            if (e->kind != HONE_EXPR_VAR) continue;
            const hone_expr *size = hone_expr_int(&t->arith.ir, e->dtype, SIZE);
            const hone_expr *one = hone_expr_int(&t->arith.ir, e->dtype, 1);
            t->has_sizes = true;
            if (!size || !one || !hone_arith_bind(&t->arith, e->u.var, (hone_range){size, one}))
                return false;
        }
    }
    return true;
}

static int64_t extent_of(trial *t, const hone_expr *e) {
    if (e->kind == HONE_EXPR_INT) return e->u.i;
    hone_bound bound = hone_arith_bound(&t->arith, e);
    return bound.min == bound.max ? bound.min : -1;
}

/* Floats differ from each other, so that it shows when one takes the place of another. */
static hone_status make_buffer(trial *t, uint32_t p, bool *out_is_known) {
    const hone_buffer_info *info = hone_func_buffer(t->func, t->func->params[p].buffer);
    int64_t shape[HONE_MAX_RANK], count = 1;
    *out_is_known = false;
    bool fits = hone_dtype_is_storable(info->dtype) && info->dtype.lanes == 1;
    if (info->rank > HONE_MAX_RANK || !fits) return HONE_OK;
    for (uint32_t d = 0; d < info->rank; d++) {
        shape[d] = extent_of(t, info->shape[d]);
        if (shape[d] < 0 || __builtin_mul_overflow(count, shape[d], &count)) return HONE_OK;
    }
    t->element_count += count < MOST_ELEMENTS ? count : MOST_ELEMENTS;
    if (t->element_count >= MOST_ELEMENTS) return HONE_OK;
    HONE_TRY(hone_tensor_create(info->dtype, (int32_t)info->rank, shape, &t->args[p]));
    hone_rng rng = hone_rng_from_seed(p + 1);
    if (hone_dtype_is_float(info->dtype)) hone_tensor_fill_random(t->args[p], &rng, 0.25, 1);
    *out_is_known = true;
    return HONE_OK;
}

static hone_status make_scalar(trial *t, uint32_t p, bool *out_is_known) {
    hone_var var = t->func->params[p].var;
    hone_dtype dtype = t->func->vars[var].dtype;
    const hone_expr use = {.kind = HONE_EXPR_VAR, .dtype = dtype, .u.var = var};
    bool is_float = hone_dtype_is_float(dtype);
    *out_is_known = !hone_dtype_is_handle(dtype) && (is_float || extent_of(t, &use) == SIZE);
    if (!*out_is_known) return HONE_OK;
    HONE_TRY(hone_tensor_create(dtype, 0, NULL, &t->args[p]));
    if (is_float)
        hone_tensor_set_f64(t->args[p], 0, 0.5);
    else
        hone_tensor_set_i64(t->args[p], 0, SIZE);
    return HONE_OK;
}

static hone_status make_args(trial *t, bool *out_is_known) {
    *out_is_known = true;
    for (uint32_t p = 0; p < t->func->param_count && *out_is_known; p++) {
        if (t->func->params[p].buffer != HONE_NO_ID)
            HONE_TRY(make_buffer(t, p, out_is_known));
        else if (t->func->params[p].var != HONE_NO_ID)
            HONE_TRY(make_scalar(t, p, out_is_known));
    }
    return HONE_OK;
}

/* Storage of the function itself, which is cleared and followed element by element. */
static bool is_small(trial *t) {
    for (uint32_t b = 0; b < t->func->buffer_count; b++) {
        const hone_buffer_info *info = hone_func_buffer(t->func, b);
        int64_t count = 1;
        for (uint32_t d = 0; d < info->rank; d++) {
            int64_t extent = extent_of(t, info->shape[d]);
            if (extent < 0) extent = 1; /* of a view */
            if (__builtin_mul_overflow(count, extent, &count)) return false;
        }
        t->element_count += count < MOST_ELEMENTS ? count : MOST_ELEMENTS;
        if (t->element_count >= MOST_ELEMENTS) return false;
    }
    return true;
}

/* ---- what is found ---- */

/* Storage of threads, where a statement that went wrong reads it. */
typedef struct scopes {
    const hone_func *func;
    const char *message;
    bool is_shared, is_local;
} scopes;

static bool find_scope(void *ctx, const hone_expr *e) {
    scopes *s = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer >= s->func->buffer_count) return true;
    const hone_buffer_info *info = hone_func_buffer(s->func, e->u.buffer);
    const char *scope = info->scope, *named = strstr(s->message, "of '");
    size_t length = strlen(info->name); /* what the message names, where it names one */
    if (named && (strncmp(named + 4, info->name, length) != 0 || named[4 + length] != '\''))
        return true;
    s->is_shared |= scope && strncmp(scope, "shared", 6) == 0;
    s->is_local |= scope && strncmp(scope, "local", 5) == 0;
    return true;
}

static bool is_in_thread(const hone_func *func, hone_node_id id) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD) return true;
    }
    return false;
}

static const char *hint_for(const hone_func *func, hone_node_id id, const char *message) {
    scopes s = {.func = func, .message = message};
    if (id == HONE_NO_ID || hone_func_node(func, id)->kind != HONE_NODE_STORE) return "";
    if (!is_in_thread(func, id)) return "";
    hone_expr_walk(hone_func_node(func, id)->u.store.value, find_scope, &s);
    if (s.is_shared) {
        return "; T.tvm_storage_sync(\"shared\") stands between what one thread writes and another "
               "reads";
    }
    return s.is_local ? "; each thread has local storage of its own" : "";
}

static hone_status run(trial *t, hone_findings *out) {
    hone_finding finding = {.is_warning = true, .node = HONE_NO_ID};
    const hone_interp_options options = {.check_uninitialised = true,
                                         .check_races = true,
                                         .allow_repeats = true,
                                         .lanes_in_order = true, /* verify_share.c */
                                         .out_at = &finding.node,
                                         .max_steps = MOST_STEPS};
    hone_status st = hone_interp_func(t->func, t->args, t->func->param_count, &options);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_node_id n = finding.node;
    while (n != HONE_NO_ID && !hone_func_node(t->func, n)->line)
        n = hone_func_node(t->func, n)->parent;
    if (n != HONE_NO_ID) {
        finding.line = hone_func_node(t->func, n)->line;
        finding.column = hone_func_node(t->func, n)->column;
    }
    hone_str text = {0};
    hone_str_printf(&text, "in a trial run%s: %s%s", t->has_sizes ? " with sizes of 64" : "",
                    hone_status_message(st),
                    hint_for(t->func, finding.node, hone_status_message(st)));
    /* only a wrong program is; others are too long, or wait for functions from outside */
    if (hone_status_code(st) == HONE_CODE_ILLEGAL)
        verify_add(out, finding, hone_arena_strdup(out->arena, hone_str_text(&text)));
    hone_str_deinit(&text);
    hone_status_free(st);
    return HONE_OK;
}

static hone_status try_func(const hone_func *func, hone_arena *arena, hone_findings *out) {
    trial t = {.func = func};
    bool is_known = false;
    if (is_decided_by_data(func)) return HONE_OK;
    t.args = hone_arena_zalloc(arena, (func->param_count + 1) * sizeof(hone_tensor *));
    if (!t.args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial run");
    hone_arith_init(&t.arith, arena);
    hone_status st = HONE_OK;
    if (bind_sizes(&t) && is_small(&t)) st = make_args(&t, &is_known);
    if (!st && is_known) st = run(&t, out);
    hone_code code = hone_status_consume(hone_ir_finish(&t.arith.ir));
    for (uint32_t p = 0; p < func->param_count; p++)
        hone_tensor_destroy(t.args[p]);
    if (!st && code == HONE_CODE_NO_MEMORY) return HONE_ERROR(code, "trial run");
    return st;
}

hone_status hone_verify_trial(const hone_module *module, hone_findings *out) {
    assert(module && out && out->arena);
    if (out->count > 0) return HONE_OK;
    hone_arena *arena = hone_arena_create(1 << 14);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial run");
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < module->member_count && !st; i++) {
        if (module->members[i].kind == HONE_MEMBER_FUNC)
            st = try_func(module->members[i].func, arena, out);
    }
    hone_arena_destroy(arena);
    return st;
}
