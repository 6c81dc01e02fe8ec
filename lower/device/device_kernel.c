/* lower/device/device_kernel.c - one segment of a program as a function: what stands around it and
 * belongs to it, its parameters, and what a launch passes for them. */
#include <string.h>

#include "lower/device/splitting.h"
#include "lower/ground/passes.h"

/* ---- what belongs to the segment ---- */

/* Leaves of the children of parent only those from first to last. */
static void keep_children(hone_func *func, hone_node_id parent, hone_node_id first,
                          hone_node_id last) {
    bool is_kept = false;
    for (hone_node_id n = hone_func_node(func, parent)->first, next; n != HONE_NO_ID; n = next) {
        next = hone_func_node(func, n)->next;
        is_kept |= n == first;
        if (!is_kept) hone_tree_remove(func, n);
        if (n == last) is_kept = false;
    }
}

/* else: body becomes if not condition: body. */
static hone_status turn_around(splitting *s, hone_func *func, hone_node_id other) {
    hone_node_id choice = hone_func_node(func, other)->parent;
    hone_node *node = hone_func_node(func, choice);
    node->u.eval.value = hone_expr_not(&s->ir, node->u.eval.value);
    lower_splice(func, other);
    return hone_ir_finish(&s->ir);
}

/* Takes away what the host does: loops whose iteration is a parameter, memory that is one. */
static hone_status leave_host(splitting *s, hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    bool is_host = node->kind == HONE_NODE_FOR || node->kind == HONE_NODE_ATTR;
    if (node->kind == HONE_NODE_ELSE) return turn_around(s, func, id);
    if (node->kind == HONE_NODE_ALLOC) {
        const char *scope = func->buffers[node->u.alloc.buffer].scope;
        is_host = !scope || strncmp(scope, "global", 6) == 0;
    }
    if (is_host) lower_splice(func, id);
    return HONE_OK;
}

static hone_status prune(splitting *s, hone_func *func, const device_segment *segment) {
    hone_node_id first = segment->first, last = segment->last;
    for (hone_node_id n = hone_func_node(func, first)->parent; n != HONE_NO_ID;
         n = hone_func_node(func, n)->parent) {
        keep_children(func, n, first, last);
        first = last = n;
    }
    for (hone_node_id n = hone_func_node(func, segment->first)->parent, next; n != HONE_NODE_TOP;
         n = next) {
        next = hone_func_node(func, n)->parent;
        HONE_TRY(leave_host(s, func, n));
    }
    return HONE_OK;
}

/* A kernel has nobody to tell. */
static void drop_assertions(hone_func *func) {
    for (hone_node_id n = 0, next; n != HONE_NO_ID; n = next) {
        next = hone_tree_next(func, 0, n);
        if (hone_func_node(func, n)->kind == HONE_NODE_ASSERT) lower_splice(func, n);
    }
}

/* ---- parameters ---- */

typedef struct uses {
    const hone_func *func;
    bool *buffers; /* by buffer: accessed, or the source of a view that is */
    bool *vars;    /* by variable: used, and bound nowhere in the kernel */
} uses;

static void use_expr(uses *u, const hone_expr *e);

static void use_buffer(uses *u, hone_buffer id) {
    for (; id < u->func->buffer_count && !u->buffers[id]; id = u->func->buffers[id].alias_of) {
        const hone_buffer_info *info = &u->func->buffers[id];
        u->buffers[id] = true;
        for (uint32_t d = 0; d < info->rank; d++) {
            use_expr(u, info->shape[d]);
            if (info->strides) use_expr(u, info->strides[d]);
        }
        if (info->elem_offset) use_expr(u, info->elem_offset);
    }
}

static bool see(void *ctx, const hone_expr *e) {
    uses *u = ctx;
    if (e->kind == HONE_EXPR_LOAD) use_buffer(u, e->u.buffer);
    if (e->kind != HONE_EXPR_VAR) return true;
    for (hone_buffer b = 0; hone_dtype_is_handle(e->dtype) && b < u->func->buffer_count; b++) {
        if (u->func->buffers[b].data == e->u.var) use_buffer(u, b);
    }
    if (!hone_dtype_is_handle(e->dtype)) u->vars[e->u.var] = true;
    return true;
}

static void use_expr(uses *u, const hone_expr *e) {
    hone_expr_walk(e, see, u);
}

static void use_at(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    use_expr(ctx, e);
}

static bool see_let(void *ctx, const hone_expr *e) {
    uses *u = ctx;
    if (e->kind == HONE_EXPR_LET) u->vars[e->u.var] = false;
    return true;
}

static void unbind_at(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, see_let, ctx);
}

/* Parameters of reducers are variables, too. */
static void unbind_lambda(uses *u, const hone_value *value) {
    const hone_lambda *lambda = value->kind == HONE_VALUE_LAMBDA ? value->u.lambda : NULL;
    for (uint32_t i = 0; lambda && i < lambda->param_count; i++)
        u->vars[lambda->params[i]] = false;
}

static hone_status find_uses(const splitting *s, const hone_func *func, uses *u) {
    *u = (uses){.func = func};
    u->buffers = hone_arena_zalloc(s->arena, func->buffer_count + 1);
    u->vars = hone_arena_zalloc(s->arena, func->var_count + 1);
    if (!u->buffers || !u->vars) return LOWER_NO_MEMORY();
    hone_tree_walk_exprs(func, 0, false, use_at, u);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE) use_buffer(u, node->u.store.buffer);
    }
    hone_tree_walk_exprs(func, 0, false, unbind_at, u);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR) u->vars[node->u.loop.var] = false;
        if (node->kind == HONE_NODE_LET) u->vars[node->u.let.var] = false;
        if (node->kind == HONE_NODE_ATTR) unbind_lambda(u, &node->u.attr.node);
    }
    return HONE_OK;
}

/* Views and memory that the segment does not touch. */
static void drop_unused(hone_func *func, const uses *u) {
    for (hone_node_id n = 0, next; n != HONE_NO_ID; n = next) {
        next = hone_tree_next(func, 0, n);
        const hone_node *node = hone_func_node(func, n);
        bool is_named = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL;
        if (is_named && !u->buffers[node->u.alloc.buffer]) lower_splice(func, n);
    }
}

/* By buffer: it begins to exist in the kernel. */
static bool *find_own(const splitting *s, const hone_func *func) {
    bool *own = hone_arena_zalloc(s->arena, func->buffer_count + 1);
    for (hone_node_id n = 0; own && n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        bool is_named = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL;
        if (is_named) own[node->u.alloc.buffer] = true;
    }
    return own;
}

/* Memory that the host has for the kernel. */
static bool is_scratch(const hone_func *func, const uses *u, const bool *own, hone_buffer b) {
    return u->buffers[b] && !own[b] && func->buffers[b].alias_of == HONE_NO_ID;
}

/* Buffers in the order of their numbers: parameters of the program come first there. */
static hone_status make_params(splitting *s, hone_func *func, const uses *u) {
    const bool *own = find_own(s, func);
    uint32_t most = func->buffer_count + func->var_count, count = 0;
    hone_param *params = hone_arena_zalloc(s->arena, (most + 1) * sizeof *params);
    if (!own || !params) return LOWER_NO_MEMORY();
    for (uint32_t p = 0; p < s->func->param_count; p++) {
        hone_buffer b = s->func->params[p].buffer;
        if (b != HONE_NO_ID && u->buffers[b]) params[count++] = s->func->params[p];
    }
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (!hone_func_is_parameter(s->func, b) && is_scratch(func, u, own, b))
            params[count++] = (hone_param){HONE_NO_ID, b};
    }
    for (hone_var v = 0; v < func->var_count; v++) {
        if (u->vars[v]) params[count++] = (hone_param){v, HONE_NO_ID};
    }
    func->params = params;
    func->param_count = count;
    return HONE_OK;
}

static hone_status name_kernel(splitting *s, hone_func *func, hone_device_kernel *kernel) {
    kernel->symbol = hone_arena_printf(s->arena, "%s_%u", s->symbol, s->kernels.count - 1);
    if (!kernel->symbol ||
        !hone_attrs_without(s->arena, &func->attrs, "global_symbol", &func->attrs)) {
        return LOWER_NO_MEMORY();
    }
    func->name = kernel->symbol;
    return HONE_OK;
}

/* ---- threads ---- */

static hone_status find_block(const splitting *s, const hone_func *func,
                              hone_device_kernel *kernel) {
    int64_t threads = 1, limit = s->target->max_threads_per_block;
    for (int d = 0; d < 3; d++)
        kernel->block[d] = 1;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        int axis = device_axis_of(node, "threadIdx");
        if (axis < 0) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (!hone_expr_is_int(node->u.loop.range.extent) || extent < 1) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "loop '%s' is bound to '%s', and its extent is no constant",
                              func->vars[node->u.loop.var].name, node->u.loop.thread_tag);
        }
        if (extent > kernel->block[axis]) kernel->block[axis] = extent;
    }
    for (int d = 0; d < 3; d++)
        threads = kernel->block[d] > INT32_MAX / threads ? INT32_MAX : threads * kernel->block[d];
    if (limit <= 0 || limit > HONE_LAUNCH_MAX_THREADS) limit = HONE_LAUNCH_MAX_THREADS;
    if (threads <= limit) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "a block has %lld x %lld x %lld threads, the target has at most %lld",
                      (long long)kernel->block[0], (long long)kernel->block[1],
                      (long long)kernel->block[2], (long long)limit);
}

hone_status device_make_kernel(splitting *s, const device_segment *segment,
                               hone_device_kernel *out_kernel) {
    uses u;
    hone_func *func = hone_func_clone(s->arena, s->func);
    if (!func) return LOWER_NO_MEMORY();
    HONE_TRY(prune(s, func, segment));
    drop_assertions(func);
    HONE_TRY(find_uses(s, func, &u));
    drop_unused(func, &u);
    HONE_TRY(find_uses(s, func, &u)); /* what only dropped ones named is gone */
    HONE_TRY(make_params(s, func, &u));
    HONE_TRY(name_kernel(s, func, out_kernel));
    HONE_TRY(find_block(s, func, out_kernel));
    out_kernel->func = func;
    return device_count_shared(s, func, out_kernel);
}

/* ---- arguments ---- */

static hone_status bind_scratch(splitting *s, hone_buffer id, int32_t *out_index) {
    const hone_buffer_info *info = &s->func->buffers[id];
    int32_t *known = &s->scratch_of[id];
    *out_index = *known - 1;
    if (*known) return HONE_OK;
    if (info->scope && strncmp(info->scope, "global", 6) != 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "'%s' in %s memory is used by several kernels; only global memory lasts "
                          "from one to the next",
                          info->name, info->scope);
    }
    const hone_expr *bytes =
        hone_expr_int(&s->ir, HONE_DTYPE_I64, (int64_t)hone_dtype_bytes(info->dtype));
    for (uint32_t d = 0; d < info->rank; d++) {
        bytes =
            hone_expr_mul(&s->ir, bytes, hone_expr_cast(&s->ir, HONE_DTYPE_I64, info->shape[d]));
    }
    HONE_TRY(hone_ir_finish(&s->ir));
    int32_t value;
    HONE_TRY(device_value(s, hone_simplify_plain(&s->ir, bytes), &value));
    int32_t *item = device_append(s, &s->scratch, sizeof *item);
    if (!item) return LOWER_NO_MEMORY();
    *item = value;
    *known = (int32_t)s->scratch.count;
    *out_index = *known - 1;
    return HONE_OK;
}

static hone_status bind_buffer(splitting *s, hone_buffer id, hone_launch_arg *out) {
    for (uint32_t i = 0; i < s->signature.buffer_count; i++) {
        if (s->signature.buffers[i] != id) continue;
        *out = (hone_launch_arg){HONE_LAUNCH_ARG_BUFFER, (int32_t)i};
        return HONE_OK;
    }
    out->kind = HONE_LAUNCH_ARG_SCRATCH;
    return bind_scratch(s, id, &out->index);
}

hone_status device_bind(splitting *s, const hone_device_kernel *kernel, hone_launch *launch) {
    const hone_func *func = kernel->func;
    hone_launch_arg *args = hone_arena_zalloc(s->arena, (func->param_count + 1) * sizeof *args);
    if (!args) return LOWER_NO_MEMORY();
    if (func->param_count > HONE_LAUNCH_MAX_ARGS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a kernel has %u arguments, at most %d",
                          func->param_count, HONE_LAUNCH_MAX_ARGS);
    }
    for (uint32_t p = 0; p < func->param_count; p++) {
        if (func->params[p].buffer != HONE_NO_ID) {
            HONE_TRY(bind_buffer(s, func->params[p].buffer, &args[p]));
            continue;
        }
        const hone_expr *var = hone_func_var_expr(&s->ir, func, func->params[p].var);
        HONE_TRY(hone_ir_finish(&s->ir));
        args[p].kind = HONE_LAUNCH_ARG_VALUE;
        HONE_TRY(device_value(s, var, &args[p].index));
    }
    launch->args = args;
    launch->arg_count = func->param_count;
    return HONE_OK;
}
