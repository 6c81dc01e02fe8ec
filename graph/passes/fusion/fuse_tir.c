/* graph/passes/fusion/fuse_tir.c - splices the bodies of PrimFuncs into one: variables and buffers
 * are renumbered, blocks keep their order, one block per operator. All memory is the module's
 * arena, so that what does not change is shared. */
#include "graph/passes/fusion/fuse_tir.h"

#include <string.h>

#include "ir/core/grow.h"
#include "ir/core/written_schedule.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/graph_op.h"

typedef struct splice {
    hone_rewrite *rw;
    hone_ir ir;
    hone_func *to;
    hone_node_id root;
    hone_buffer *allocs; /* of the root block */
    uint32_t alloc_count, alloc_capacity;
    hone_garg *inputs; /* the caller's array */
    uint32_t input_count, max_inputs;
    hone_buffer input_buffers[64];
    hone_gvalue values[64]; /* results of the calls so far and their buffers */
    hone_buffer value_buffers[64];
    uint32_t value_count;
    const hone_expr *sizes_graph[32], *sizes_kernel[32]; /* extents of the graph as variables */
    uint32_t size_count;
    /* of the function being spliced */
    const hone_func *from;
    const hone_expr **vars;
    hone_buffer *buffers;
} splice;

bool hone_func_can_fuse(const hone_func *func) {
    if (hone_func_root_block(func) == HONE_NO_ID || func->param_count < 1) return false;
    if (hone_func_carries_schedule(func)) return false; /* it is as somebody wants it */
    const hone_node *root = hone_func_node(func, hone_func_root_block(func));
    if (root->u.block.block->match_count || root->u.block.predicate) return false;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) return false;
        const hone_buffer_info *buffer = hone_func_buffer(func, func->params[i].buffer);
        if (buffer->strides || buffer->elem_offset) return false;
    }
    for (uint32_t i = 0; i < func->buffer_count; i++) {
        if (func->buffers[i].alias_of != HONE_NO_ID) return false;
    }
    return true;
}

/* ---- expressions ---- */

static const hone_expr *renumber(void *ctx, hone_ir *ir, const hone_expr *e) {
    const splice *s = ctx;
    if (e->kind == HONE_EXPR_VAR) return s->vars[e->u.var];
    if (e->kind == HONE_EXPR_LOAD) {
        return hone_expr_load(ir, e->dtype, s->buffers[e->u.buffer], e->count, e->args);
    }
    if (e->kind == HONE_EXPR_LET) {
        return hone_expr_let(ir, s->vars[e->u.var]->u.var, e->args[0], e->args[1]);
    }
    return e;
}

static const hone_expr *map_expr(splice *s, const hone_expr *e) {
    return e ? hone_expr_transform(&s->ir, e, renumber, s) : NULL;
}

static const hone_expr *const *map_list(splice *s, uint32_t count, const hone_expr *const *list) {
    if (!list) return NULL;
    const hone_expr **copy = hone_arena_zalloc(s->ir.arena, (count + 1) * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = map_expr(s, list[i]);
    return copy;
}

static hone_range map_range(splice *s, hone_range range) {
    return (hone_range){map_expr(s, range.min), map_expr(s, range.extent)};
}

static hone_region map_region(splice *s, hone_region region) {
    uint32_t rank = hone_func_buffer(s->from, region.buffer)->rank;
    hone_range *ranges = hone_arena_zalloc(s->ir.arena, (rank + 1) * sizeof *ranges);
    for (uint32_t i = 0; ranges && i < rank; i++)
        ranges[i] = map_range(s, region.ranges[i]);
    return (hone_region){s->buffers[region.buffer], ranges};
}

static const hone_region *map_regions(splice *s, uint32_t count, const hone_region *regions) {
    hone_region *copy = hone_arena_zalloc(s->ir.arena, (count + 1) * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = map_region(s, regions[i]);
    return copy;
}

/* ---- blocks ---- */

static bool has_block(const hone_func *func, const char *name) {
    for (uint32_t i = 0; i < func->node_count; i++) {
        const hone_node *node = &func->nodes[i];
        if (node->kind == HONE_NODE_BLOCK && node->u.block.block &&
            strcmp(node->u.block.block->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *fresh_block_name(splice *s, const char *name) {
    const char *fresh = name;
    for (uint32_t i = 1; fresh && has_block(s->to, fresh); i++) {
        fresh = hone_arena_printf(s->ir.arena, "%s_%u", name, i);
    }
    return fresh;
}

static const hone_block *map_block(splice *s, const hone_block *block) {
    hone_block *copy = hone_block_copy(s->ir.arena, block);
    hone_axis *axes = hone_arena_zalloc(s->ir.arena, (block->axis_count + 1) * sizeof *axes);
    hone_match *matches =
        hone_arena_zalloc(s->ir.arena, (block->match_count + 1) * sizeof *matches);
    hone_buffer *allocs = hone_arena_zalloc(s->ir.arena, (block->alloc_count + 1) * sizeof *allocs);
    if (!copy || !axes || !matches || !allocs) return NULL;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        axes[i] = block->axes[i];
        axes[i].var = s->vars[axes[i].var]->u.var;
        axes[i].dom = map_range(s, axes[i].dom);
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        matches[i].buffer = s->buffers[block->matches[i].buffer];
        matches[i].source = map_region(s, block->matches[i].source);
    }
    for (uint32_t i = 0; i < block->alloc_count; i++)
        allocs[i] = s->buffers[block->allocs[i]];
    copy->name = fresh_block_name(s, block->name);
    copy->axes = axes;
    copy->matches = matches;
    copy->allocs = allocs;
    copy->reads = map_regions(s, block->read_count, block->reads);
    copy->writes = map_regions(s, block->write_count, block->writes);
    return copy->name ? copy : NULL;
}

/* ---- statements ---- */

static hone_status map_payload(splice *s, const hone_node *from, hone_node *to) {
    hone_node made = *to;
    made.u = from->u;
    made.loop_kind = from->loop_kind;
    switch ((hone_node_kind)from->kind) {
    case HONE_NODE_FOR:
        made.u.loop.var = s->vars[from->u.loop.var]->u.var;
        made.u.loop.range = map_range(s, from->u.loop.range);
        break;
    case HONE_NODE_BLOCK:
        made.u.block.block = map_block(s, from->u.block.block);
        made.u.block.bindings =
            map_list(s, from->u.block.block->axis_count, from->u.block.bindings);
        made.u.block.predicate = map_expr(s, from->u.block.predicate);
        if (!made.u.block.block) return HONE_NO_MEMORY("fused kernel");
        break;
    case HONE_NODE_STORE:
        made.u.store.buffer = s->buffers[from->u.store.buffer];
        made.u.store.value = map_expr(s, from->u.store.value);
        made.u.store.indices = map_list(s, from->u.store.rank, from->u.store.indices);
        break;
    case HONE_NODE_IF:
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        made.u.eval.value = map_expr(s, from->u.eval.value);
        break;
    case HONE_NODE_LET:
        made.u.let.var = s->vars[from->u.let.var]->u.var;
        made.u.let.value = map_expr(s, from->u.let.value);
        break;
    case HONE_NODE_ATTR:
        made.u.attr.value = map_expr(s, from->u.attr.value);
        break;
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
        made.u.alloc.buffer = s->buffers[from->u.alloc.buffer];
        break;
    case HONE_NODE_TOP:
    case HONE_NODE_INIT:
    case HONE_NODE_ELSE:
    case HONE_NODE_BREAK:
    case HONE_NODE_CONTINUE:
        break;
    }
    *to = made;
    return hone_ir_finish(&s->ir);
}

static hone_status copy_children(splice *s, hone_node_id from, hone_node_id to) {
    for (hone_node_id at = hone_func_node(s->from, from)->first; at != HONE_NO_ID;
         at = hone_func_node(s->from, at)->next) {
        hone_node_id made = hone_func_add_node(s->to, hone_func_node(s->from, at)->kind);
        if (made == HONE_NO_ID) return HONE_NO_MEMORY("fused kernel");
        HONE_TRY(map_payload(s, hone_func_node(s->from, at), hone_func_node(s->to, made)));
        hone_tree_append(s->to, to, made);
        HONE_TRY(copy_children(s, at, made));
    }
    return HONE_OK;
}

/* ---- symbolic sizes ---- */

static hone_status kernel_size(splice *s, const hone_expr *extent, const hone_var_info *like,
                               const hone_expr **out) {
    for (uint32_t i = 0; i < s->size_count; i++) {
        if (hone_extent_equals(s->ir.arena, s->sizes_graph[i], extent)) {
            *out = hone_expr_cast(&s->ir, like->dtype, s->sizes_kernel[i]);
            return hone_ir_finish(&s->ir);
        }
    }
    if (s->size_count == HONE_COUNT(s->sizes_graph)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a kernel of more than %zu symbolic sizes",
                          HONE_COUNT(s->sizes_graph));
    }
    hone_var var = hone_func_add_var(s->to, like->name, like->dtype);
    if (var == HONE_NO_ID) return HONE_NO_MEMORY("fused kernel");
    s->to->vars[var].is_size = true;
    s->sizes_graph[s->size_count] = extent;
    *out = s->sizes_kernel[s->size_count++] = hone_expr_var(&s->ir, like->dtype, var);
    return hone_ir_finish(&s->ir);
}

/* Sizes that stand in the shape of parameter i are those of the argument there. */
static hone_status match_sizes(splice *s, uint32_t param, const hone_sinfo *info) {
    const hone_buffer_info *buffer = hone_func_buffer(s->from, s->from->params[param].buffer);
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank != (int32_t)buffer->rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "argument %u of '%s' does not fit its parameter",
                          param, s->from->name);
    }
    for (uint32_t d = 0; d < buffer->rank; d++) {
        const hone_expr *e = buffer->shape[d];
        if (e->kind != HONE_EXPR_VAR || s->vars[e->u.var]) continue;
        HONE_TRY(kernel_size(s, info->shape[d], &s->from->vars[e->u.var], &s->vars[e->u.var]));
    }
    return HONE_OK;
}

/* Extents that are computed of sizes (n - 2) are those of whoever reads the buffer, too. */
static void note_sizes(splice *s, uint32_t param, const hone_sinfo *info) {
    const hone_buffer_info *buffer = hone_func_buffer(s->from, s->from->params[param].buffer);
    for (uint32_t d = 0; d < buffer->rank; d++) {
        const hone_expr *e = buffer->shape[d];
        bool is_computed = !hone_expr_is_int(e) && e->kind != HONE_EXPR_VAR;
        for (uint32_t i = 0; is_computed && i < s->size_count; i++)
            is_computed = !hone_extent_equals(s->ir.arena, s->sizes_graph[i], info->shape[d]);
        if (!is_computed || s->size_count == HONE_COUNT(s->sizes_graph)) continue;
        s->sizes_graph[s->size_count] = info->shape[d];
        s->sizes_kernel[s->size_count++] = map_expr(s, e);
    }
}

/* What is known of the argument that parameter i gets. */
static const hone_sinfo *argument_info(const splice *s, const hone_gbind *call, uint32_t i) {
    return i < call->arg_count
               ? hone_garg_sinfo(s->rw->module, s->rw->old, &call->args[i], s->ir.arena)
               : s->rw->old->values[call->value].sinfo;
}

static hone_status map_vars(splice *s, const hone_gbind *call) {
    s->vars = hone_arena_zalloc(s->ir.arena, (s->from->var_count + 1) * sizeof *s->vars);
    if (!s->vars) return HONE_NO_MEMORY("fused kernel");
    for (uint32_t i = 0; i < s->from->param_count; i++)
        HONE_TRY(match_sizes(s, i, argument_info(s, call, i)));
    for (uint32_t i = 0; i < s->from->var_count; i++) {
        const hone_var_info *var = &s->from->vars[i];
        if (s->vars[i] || hone_dtype_is_handle(var->dtype)) continue;
        hone_var made = hone_func_add_var(s->to, var->name, var->dtype);
        if (made == HONE_NO_ID) return HONE_NO_MEMORY("fused kernel");
        s->to->vars[made].is_size = var->is_size;
        s->vars[i] = hone_expr_var(&s->ir, var->dtype, made);
    }
    for (uint32_t i = 0; i < s->from->param_count; i++)
        note_sizes(s, i, argument_info(s, call, i));
    return hone_ir_finish(&s->ir);
}

/* ---- buffers ---- */

static hone_status add_buffer(splice *s, hone_buffer from, hone_buffer *out) {
    hone_buffer_info info = *hone_func_buffer(s->from, from);
    info.shape = map_list(s, info.rank, info.shape);
    info.strides = map_list(s, info.rank, info.strides);
    info.elem_offset = map_expr(s, info.elem_offset);
    info.data = info.matched_handle = HONE_NO_ID;
    *out = hone_func_add_buffer(s->to, &info);
    return *out == HONE_NO_ID ? HONE_NO_MEMORY("fused kernel") : hone_ir_finish(&s->ir);
}

static hone_status add_alloc(splice *s, hone_buffer buffer) {
    if (!hone_grow(s->ir.arena, (void **)&s->allocs, &s->alloc_capacity, s->alloc_count,
                   sizeof *s->allocs)) {
        return HONE_NO_MEMORY("fused kernel");
    }
    s->allocs[s->alloc_count++] = buffer;
    return HONE_OK;
}

/* An argument: the result of an earlier call, an input that is there already, or a new one. */
static hone_status argument_buffer(splice *s, const hone_garg *arg, hone_buffer param,
                                   hone_buffer *out) {
    for (uint32_t i = 0; arg->kind == HONE_GARG_VALUE && i < s->value_count; i++) {
        if (s->values[i] == arg->u.value) {
            *out = s->value_buffers[i];
            return HONE_OK;
        }
    }
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (hone_garg_same(&s->inputs[i], arg)) {
            *out = s->input_buffers[i];
            return HONE_OK;
        }
    }
    if (s->input_count == s->max_inputs || s->input_count == HONE_COUNT(s->input_buffers)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a fused kernel of more than %u inputs",
                          s->input_count);
    }
    HONE_TRY(add_buffer(s, param, out));
    s->inputs[s->input_count] = *arg;
    s->input_buffers[s->input_count++] = *out;
    return HONE_OK;
}

static hone_status map_buffers(splice *s, const hone_gbind *call) {
    const hone_func *from = s->from;
    s->buffers = hone_arena_alloc(s->ir.arena, (from->buffer_count + 1) * sizeof *s->buffers);
    if (!s->buffers) return HONE_NO_MEMORY("fused kernel");
    for (uint32_t i = 0; i < from->buffer_count; i++)
        s->buffers[i] = HONE_NO_ID;
    for (uint32_t i = 0; i + 1 < from->param_count; i++) {
        hone_buffer param = from->params[i].buffer;
        HONE_TRY(argument_buffer(s, &call->args[i], param, &s->buffers[param]));
    }
    hone_buffer result = from->params[from->param_count - 1].buffer;
    for (uint32_t i = 0; i < from->buffer_count; i++) {
        if (s->buffers[i] == HONE_NO_ID) HONE_TRY(add_buffer(s, i, &s->buffers[i]));
    }
    s->values[s->value_count] = call->value;
    s->value_buffers[s->value_count++] = s->buffers[result];
    return HONE_OK;
}

static hone_status splice_call(splice *s, const hone_gbind *call, bool is_last) {
    s->from = hone_module_find(s->rw->module, call->callee)->func;
    if (call->arg_count + 1 != s->from->param_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %u arguments, %u given", s->from->name,
                          s->from->param_count - 1, call->arg_count);
    }
    HONE_TRY(map_vars(s, call));
    HONE_TRY(map_buffers(s, call));
    hone_node_id root = hone_func_root_block(s->from);
    const hone_block *block = hone_func_node(s->from, root)->u.block.block;
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        HONE_TRY(add_alloc(s, s->buffers[block->allocs[i]]));
    }
    if (!is_last) HONE_TRY(add_alloc(s, s->value_buffers[s->value_count - 1]));
    return copy_children(s, root, s->root);
}

/* ---- the function ---- */

/* "fused_conv2d_add_relu" from "conv2d3", "add1", "relu" */
static const char *fused_name(splice *s, const hone_gbind *const *calls, uint32_t count) {
    hone_str text = {0};
    hone_str_append(&text, "fused");
    for (uint32_t i = 0; i < count && text.length < 80; i++) {
        size_t length = strlen(calls[i]->callee), stem = length;
        while (stem > 0 && calls[i]->callee[stem - 1] >= '0' && calls[i]->callee[stem - 1] <= '9') {
            stem--;
        }
        /* conv2d keeps its digit: it is followed by a letter */
        hone_str_append(&text, "_");
        hone_str_append_n(&text, calls[i]->callee, stem ? stem : length);
    }
    const char *name = NULL;
    hone_status st = hone_module_fresh_name(s->rw->module, hone_str_text(&text), &name);
    hone_str_deinit(&text);
    if (st) hone_ir_fail(&s->ir, st);
    return name;
}

static hone_status begin(splice *s, const char *name) {
    s->to = hone_func_create(s->ir.arena, name);
    hone_block *root = hone_arena_zalloc(s->ir.arena, sizeof *root);
    if (!s->to || !root) return HONE_NO_MEMORY("fused kernel");
    s->to->is_scheduled_form = true;
    root->name = "root";
    s->root = hone_func_add_node(s->to, HONE_NODE_BLOCK);
    if (s->root == HONE_NO_ID) return HONE_NO_MEMORY("fused kernel");
    hone_func_node(s->to, s->root)->u.block.block = root;
    hone_tree_append(s->to, 0, s->root);
    return HONE_OK;
}

static hone_status finish(splice *s) {
    hone_param *params = hone_arena_zalloc(s->ir.arena, (s->input_count + 1) * sizeof *params);
    hone_block *root = hone_block_copy(s->ir.arena, hone_func_node(s->to, s->root)->u.block.block);
    if (!params || !root) return HONE_NO_MEMORY("fused kernel");
    root->allocs = s->allocs;
    root->alloc_count = s->alloc_count;
    hone_func_node(s->to, s->root)->u.block.block = root;
    for (uint32_t i = 0; i <= s->input_count; i++) {
        hone_buffer buffer =
            i < s->input_count ? s->input_buffers[i] : s->value_buffers[s->value_count - 1];
        params[i] = (hone_param){HONE_NO_ID, buffer};
        if (s->size_count == 0) continue;
        const char *name =
            hone_arena_printf(s->ir.arena, "var_%s", hone_func_buffer(s->to, buffer)->name);
        params[i].var = name ? hone_func_add_var(s->to, name, HONE_DTYPE_HANDLE) : HONE_NO_ID;
        if (params[i].var == HONE_NO_ID) return HONE_NO_MEMORY("fused kernel");
        s->to->buffers[buffer].matched_handle = params[i].var;
    }
    s->to->params = params;
    s->to->param_count = s->input_count + 1;
    bool ok = hone_attrs_with(s->ir.arena, &s->to->attrs, "tir.noalias", HONE_VALUE_OF_BOOL(true),
                              &s->to->attrs);
    return ok ? HONE_OK : HONE_NO_MEMORY("fused kernel");
}

hone_status hone_fuse_calls(hone_rewrite *rw, const hone_gbind *const *calls, uint32_t count,
                            hone_func **out_func, hone_garg *out_args, uint32_t max_args,
                            uint32_t *out_arg_count) {
    *out_func = NULL;
    splice *s = hone_arena_zalloc(rw->module->arena, sizeof *s);
    if (!s) return HONE_NO_MEMORY("fused kernel");
    s->rw = rw;
    s->ir.arena = rw->module->arena;
    s->inputs = out_args;
    s->max_inputs = max_args;
    assert(count <= HONE_COUNT(s->values));
    const char *name = fused_name(s, calls, count);
    hone_status st = hone_ir_finish(&s->ir);
    if (!st) st = begin(s, name);
    for (uint32_t i = 0; !st && i < count; i++)
        st = splice_call(s, calls[i], i + 1 == count);
    if (!st) st = finish(s);
    st = hone_status_join(st, hone_ir_finish(&s->ir));
    if (st) return st;
    *out_func = s->to;
    *out_arg_count = s->input_count;
    return HONE_OK;
}
