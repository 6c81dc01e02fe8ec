/* lower/device/launches.c - walks the host level of a program and makes a launch of each nest of
 * threads, and of the statements between two of them. */
#include <string.h>

#include "ir/core/concurrent.h"
#include "lower/device/splitting.h"
#include "lower/ground/passes.h"

static hone_status split_children(splitting *s, hone_node_id parent);

int device_axis_of(const hone_node *loop, const char *prefix) {
    size_t length = strlen(prefix);
    const char *tag = hone_loop_is_of_threads(loop) ? loop->u.loop.thread_tag : "";
    if (strncmp(tag, prefix, length) != 0 || tag[length] != '.') return -1;
    int axis = tag[length + 1] - 'x';
    return axis >= 0 && axis < 3 && !tag[length + 2] ? axis : -1;
}

/* ---- one launch ---- */

/* What common terms of a kernel are called; those of sizes alone can be asked for outside, too. */
static void note_lets(splitting *s, const device_segment *segment) {
    for (hone_node_id n = segment->first; segment->has_threads && n != HONE_NO_ID;
         n = hone_tree_next(s->func, segment->first, n)) {
        const hone_node *node = hone_func_node(s->func, n);
        if (node->kind == HONE_NODE_LET) s->lets[node->u.let.var] = node->u.let.value;
    }
}

/* The extents of a segment's loops over threads, each the longest of its axis. */
static hone_status find_grid(splitting *s, const device_segment *segment, hone_launch *launch) {
    for (int d = 0; d < 3; d++)
        HONE_TRY(device_constant(s, 1, &launch->grid[d]));
    for (hone_node_id n = segment->first; segment->has_threads && n != HONE_NO_ID;
         n = hone_tree_next(s->func, segment->first, n)) {
        const hone_node *node = hone_func_node(s->func, n);
        int axis = device_axis_of(node, "blockIdx");
        int32_t extent;
        if (axis < 0) continue;
        HONE_TRY(device_value(s, node->u.loop.range.extent, &extent));
        HONE_TRY(device_max(s, launch->grid[axis], extent, &launch->grid[axis]));
    }
    return HONE_OK;
}

static hone_status kernel_of(splitting *s, const device_segment *segment, int32_t *out_kernel) {
    int32_t *known = &s->kernel_of[segment->first];
    if (*known == 0) {
        hone_device_kernel *kernel = device_append(s, &s->kernels, sizeof *kernel);
        if (!kernel) return LOWER_NO_MEMORY();
        *known = (int32_t)s->kernels.count;
        HONE_TRY(device_make_kernel(s, segment, kernel));
    }
    *out_kernel = *known - 1;
    return HONE_OK;
}

static hone_status add_launch(splitting *s, const device_segment *segment) {
    int32_t number;
    note_lets(s, segment);
    HONE_TRY(kernel_of(s, segment, &number));
    const hone_device_kernel *kernel = (hone_device_kernel *)s->kernels.items + number;
    if (s->launches.count == HONE_LAUNCH_MAX_COUNT) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a program starts more than %d kernels",
                          HONE_LAUNCH_MAX_COUNT);
    }
    hone_launch *launch = device_append(s, &s->launches, sizeof *launch);
    if (!launch) return LOWER_NO_MEMORY();
    launch->symbol = kernel->symbol;
    HONE_TRY(find_grid(s, segment, launch));
    for (int d = 0; d < 3; d++)
        HONE_TRY(device_constant(s, kernel->block[d], &launch->block[d]));
    HONE_TRY(device_constant(s, kernel->dynamic_bytes, &launch->dynamic_shared));
    return device_bind(s, kernel, launch);
}

/* ---- the host level ---- */

/* What a condition or a name says is asked again in each kernel below, so it must stay. */
static hone_status require_constant(const splitting *s, hone_node_id at, const hone_expr *e) {
    if (lower_stays_true(s->func, at, e)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "a condition or a value outside of all threads changes while kernels run");
}

static hone_status split_loop(splitting *s, hone_node_id id) {
    const hone_node *loop = hone_func_node(s->func, id);
    hone_var var = loop->u.loop.var;
    int64_t min = hone_expr_const(loop->u.loop.range.min);
    int64_t extent = hone_expr_const(loop->u.loop.range.extent);
    bool is_known =
        hone_expr_is_int(loop->u.loop.range.min) && hone_expr_is_int(loop->u.loop.range.extent);
    if (!is_known || extent > HONE_LAUNCH_MAX_COUNT ||
        hone_tree_jump_of(s->func, id, true) != HONE_NO_ID) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "loop '%s' stands around kernels, and how often it runs is not known, or "
                          "too often; bind it to threads",
                          s->func->vars[var].name);
    }
    s->is_iterated[var] = true;
    for (int64_t i = 0; i < extent; i++) {
        s->iteration[var] = min + i;
        HONE_TRY(split_children(s, id));
    }
    s->is_iterated[var] = false;
    return HONE_OK;
}

static hone_status split_node(splitting *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        if (hone_loop_is_of_threads(node)) {
            return add_launch(s, &(device_segment){id, id, true});
        }
        return split_loop(s, id);
    case HONE_NODE_IF:
        HONE_TRY(require_constant(s, id, node->u.eval.value));
        return split_children(s, id);
    case HONE_NODE_LET:
        HONE_TRY(require_constant(s, id, node->u.let.value));
        s->lets[node->u.let.var] = node->u.let.value;
        return split_children(s, id);
    case HONE_NODE_ATTR:
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
    case HONE_NODE_ELSE:
        return split_children(s, id);
    default:
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "kernels stand in a loop that ends by a condition; bind its outer loops "
                          "to threads");
    }
}

/* Statements without threads that stand in a row are one launch; an assertion about sizes says
 * something to the host only, and ELSE is no statement. */
static bool joins_run(const splitting *s, hone_node_id id) {
    hone_node_kind kind = (hone_node_kind)hone_func_node(s->func, id)->kind;
    return kind != HONE_NODE_ELSE && !lower_has_threads(s->func, id);
}

static hone_status split_children(splitting *s, hone_node_id parent) {
    hone_node_id next = hone_func_node(s->func, parent)->first;
    while (next != HONE_NO_ID) {
        hone_node_id first = next, last = next;
        if (!joins_run(s, first)) {
            HONE_TRY(split_node(s, first));
            next = hone_func_node(s->func, first)->next;
            continue;
        }
        while ((next = hone_func_node(s->func, last)->next) != HONE_NO_ID && joins_run(s, next))
            last = next;
        HONE_TRY(add_launch(s, &(device_segment){first, last, false}));
    }
    return HONE_OK;
}

/* ---- all of it ---- */

static hone_status begin(splitting *s) {
    const hone_func *func = s->func;
    s->ir.arena = s->arena;
    s->lets = hone_arena_zalloc(s->arena, (func->var_count + 1) * sizeof *s->lets);
    s->iteration = hone_arena_zalloc(s->arena, (func->var_count + 1) * sizeof *s->iteration);
    s->is_iterated = hone_arena_zalloc(s->arena, func->var_count + 1);
    s->kernel_of = hone_arena_zalloc(s->arena, (func->node_count + 1) * sizeof *s->kernel_of);
    s->scratch_of = hone_arena_zalloc(s->arena, (func->buffer_count + 1) * sizeof *s->scratch_of);
    s->usage = hone_usage_of(func, s->arena);
    if (!s->lets || !s->iteration || !s->is_iterated || !s->kernel_of || !s->scratch_of ||
        !s->usage) {
        return LOWER_NO_MEMORY();
    }
    return hone_signature_of(func, s->arena, &s->signature);
}

/* One kernel has the name that was asked for. */
static void name_kernels(splitting *s) {
    hone_device_kernel *kernels = s->kernels.items;
    hone_launch *launches = s->launches.items;
    if (s->kernels.count != 1) return;
    kernels[0].symbol = s->symbol;
    for (uint32_t i = 0; i < s->launches.count; i++)
        launches[i].symbol = s->symbol;
}

hone_status hone_lower_launches(const hone_func *lowered, const char *symbol,
                                const hone_target *target, hone_arena *arena,
                                hone_launches *out_launches) {
    memset(out_launches, 0, sizeof *out_launches);
    splitting s = {.func = lowered, .symbol = symbol, .target = target, .arena = arena};
    HONE_TRY(begin(&s));
    HONE_TRY(split_children(&s, HONE_NODE_TOP));
    name_kernels(&s);
    *out_launches = (hone_launches){
        .kernel_count = s.kernels.count,
        .kernels = s.kernels.items,
        .value_count = s.values.count,
        .values = s.values.items,
        .scratch_count = s.scratch.count,
        .scratch = s.scratch.items,
        .launch_count = s.launches.count,
        .launches = s.launches.items,
    };
    return hone_ir_finish(&s.ir);
}
