/* ir/te/te.c - makes functions: stages become loop nests at once (te_stage.c); hone_te_finish only
 * adds parameters and allocations. */
#include "ir/te/te.h"

#include <string.h>

#include "ir/te/te_impl.h"

static void fail(hone_te *te, hone_status st) {
    hone_ir_fail(&te->ir, st);
}

void te_no_memory(hone_te *te) {
    fail(te, HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor program"));
}

void *te_alloc(hone_te *te, size_t bytes) {
    void *memory = hone_arena_zalloc(te->ir.arena, bytes);
    if (!memory) te_no_memory(te);
    return memory;
}

hone_node_id te_add_block(hone_te *te, hone_node_id parent, const hone_block *block,
                          const hone_expr *const *bindings) {
    hone_node_id id = hone_func_add_node(te->func, HONE_NODE_BLOCK);
    if (id == HONE_NO_ID) {
        te_no_memory(te);
        return id;
    }
    hone_node *node = hone_func_node(te->func, id);
    node->u.block.block = block;
    node->u.block.bindings = bindings;
    hone_tree_append(te->func, parent, id);
    return id;
}

hone_status hone_te_begin(hone_te *te, hone_arena *arena, const char *name) {
    memset(te, 0, sizeof *te);
    te->ir.arena = arena;
    te->index = HONE_DTYPE_I32;
    te->func = hone_func_create(arena, name);
    hone_block *root = hone_arena_zalloc(arena, sizeof *root);
    if (!te->func || !root) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor program");
    te->func->is_scheduled_form = true;
    root->name = "root";
    te->root = te_add_block(te, 0, root, NULL);
    return hone_ir_finish(&te->ir);
}

void hone_te_use_int64(hone_te *te) {
    te->index = HONE_DTYPE_I64;
}

const hone_expr *hone_te_int(hone_te *te, int64_t value) {
    bool is_narrow = hone_dtype_equal(te->index, HONE_DTYPE_I32);
    if (is_narrow && (value < INT32_MIN || value > INT32_MAX)) {
        fail(te, HONE_ERROR(HONE_CODE_UNSUPPORTED, "an index or size of %lld is no int32",
                            (long long)value));
        return NULL;
    }
    return hone_expr_int(&te->ir, te->index, value);
}

const hone_expr *hone_te_size(hone_te *te, const char *name) {
    if (te->size_count == HONE_TE_MAX_RANK) {
        fail(te,
             HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than %d symbolic sizes", HONE_TE_MAX_RANK));
        return NULL;
    }
    hone_var var = hone_func_add_var(te->func, name, te->index);
    if (var == HONE_NO_ID) {
        te_no_memory(te);
        return NULL;
    }
    te->func->vars[var].is_size = true;
    te->sizes[te->size_count++] = var;
    return hone_expr_var(&te->ir, te->index, var);
}

static bool has_buffer(const hone_te *te, const char *name) {
    for (hone_buffer b = 0; b < te->func->buffer_count; b++) {
        if (strcmp(hone_func_buffer(te->func, b)->name, name) == 0) return true;
    }
    return false;
}

/* The name, or name_1, name_2, … when buffers have it: blocks are found by their names. */
static const char *te_fresh_name(hone_te *te, const char *name) {
    const char *fresh = name;
    for (unsigned i = 1; fresh && has_buffer(te, fresh); i++)
        fresh = hone_arena_printf(te->ir.arena, "%s_%u", name, i);
    if (!fresh) te_no_memory(te);
    return fresh;
}

hone_buffer te_add_buffer(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
                          const hone_expr *const *shape) {
    const hone_expr **copy = te_alloc(te, (rank + 1) * sizeof *copy);
    if (!copy) return HONE_NO_ID;
    for (uint32_t i = 0; i < rank; i++) {
        if (!shape[i]) return HONE_NO_ID;
        copy[i] = shape[i];
    }
    const char *fresh = te_fresh_name(te, name);
    if (!fresh) return HONE_NO_ID;
    hone_buffer_info info = {.name = fresh,
                             .dtype = dtype,
                             .rank = rank,
                             .shape = copy,
                             .scope = "global",
                             .data = HONE_NO_ID,
                             .alias_of = HONE_NO_ID,
                             .matched_handle = HONE_NO_ID};
    hone_buffer buffer = hone_func_add_buffer(te->func, &info);
    if (buffer == HONE_NO_ID) te_no_memory(te);
    return buffer;
}

hone_buffer hone_te_input(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
                          const hone_expr *const *shape) {
    if (te->input_count == sizeof te->inputs / sizeof te->inputs[0]) {
        fail(te,
             HONE_ERROR(HONE_CODE_UNSUPPORTED, "a kernel of more than %u inputs", te->input_count));
        return HONE_NO_ID;
    }
    hone_buffer buffer = te_add_buffer(te, name, dtype, rank, shape);
    if (buffer != HONE_NO_ID) te->inputs[te->input_count++] = buffer;
    return buffer;
}

const hone_expr *hone_te_load(hone_te *te, hone_buffer buffer, const hone_expr *const *indices) {
    if (buffer == HONE_NO_ID) return NULL;
    return hone_func_load(&te->ir, te->func, buffer, indices);
}

/* ---- stages ---- */

static void te_add_axis(hone_te *te, hone_te_stage *stage, const char *prefix, uint32_t number,
                        const hone_expr *extent) {
    uint32_t at = stage->spatial_count + stage->reduce_count;
    const char *loop = hone_arena_printf(te->ir.arena, "%s%u", prefix, number);
    const char *axis = hone_arena_printf(te->ir.arena, "v_%s%u", prefix, number);
    if (at == HONE_TE_MAX_RANK || !loop || !axis) {
        fail(te, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a loop nest deeper than %d", HONE_TE_MAX_RANK));
        return;
    }
    stage->loops[at] = hone_func_add_var(te->func, loop, te->index);
    stage->axes[at] = hone_func_add_var(te->func, axis, te->index);
    if (stage->loops[at] == HONE_NO_ID || stage->axes[at] == HONE_NO_ID) {
        te_no_memory(te);
        return;
    }
    stage->axis[at] = hone_expr_var(&te->ir, te->index, stage->axes[at]);
    stage->extent[at] = extent;
}

void hone_te_stage_begin(hone_te *te, hone_te_stage *stage, uint32_t spatial_count,
                         const hone_expr *const *spatial, uint32_t reduce_count,
                         const hone_expr *const *reduce) {
    memset(stage, 0, sizeof *stage);
    for (uint32_t i = 0; i < spatial_count && !te->ir.error; i++) {
        te_add_axis(te, stage, "i", i, spatial[i]);
        stage->spatial_count++;
    }
    for (uint32_t i = 0; i < reduce_count && !te->ir.error; i++) {
        te_add_axis(te, stage, "k", i, reduce[i]);
        stage->reduce_count++;
    }
}

/* ---- finishing ---- */

static bool is_one_of(hone_buffer buffer, uint32_t count, const hone_buffer *list) {
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == buffer) return true;
    }
    return false;
}

/* A parameter; with symbolic sizes it is a handle that a buffer is matched to. */
static bool te_param(hone_te *te, hone_buffer buffer, hone_param *out_param) {
    *out_param = (hone_param){HONE_NO_ID, buffer};
    if (te->size_count == 0) return true;
    const char *name =
        hone_arena_printf(te->ir.arena, "var_%s", hone_func_buffer(te->func, buffer)->name);
    out_param->var = name ? hone_func_add_var(te->func, name, HONE_DTYPE_HANDLE) : HONE_NO_ID;
    if (out_param->var == HONE_NO_ID) return false;
    te->func->buffers[buffer].matched_handle = out_param->var;
    return true;
}

static hone_status te_allocs(hone_te *te, uint32_t output_count, const hone_buffer *outputs) {
    hone_block *root = te_alloc(te, sizeof *root);
    hone_buffer *allocs = te_alloc(te, (te->func->buffer_count + 1) * sizeof *allocs);
    if (!root || !allocs) return hone_ir_finish(&te->ir);
    *root = *hone_func_node(te->func, te->root)->u.block.block;
    for (hone_buffer b = 0; b < te->func->buffer_count; b++) {
        if (is_one_of(b, te->input_count, te->inputs) || is_one_of(b, output_count, outputs)) {
            continue;
        }
        allocs[root->alloc_count++] = b;
    }
    root->allocs = allocs;
    hone_func_node(te->func, te->root)->u.block.block = root;
    return HONE_OK;
}

hone_status hone_te_finish(hone_te *te, uint32_t output_count, const hone_buffer *outputs,
                           hone_func **out_func) {
    *out_func = NULL;
    HONE_TRY(hone_ir_finish(&te->ir));
    uint32_t count = te->input_count + output_count;
    hone_param *params = te_alloc(te, (count + 1) * sizeof *params);
    if (!params) return hone_ir_finish(&te->ir);
    for (uint32_t i = 0; i < count; i++) {
        hone_buffer buffer = i < te->input_count ? te->inputs[i] : outputs[i - te->input_count];
        assert(buffer != HONE_NO_ID);
        if (!te_param(te, buffer, &params[i])) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor program");
        }
    }
    HONE_TRY(te_allocs(te, output_count, outputs));
    te->func->params = params;
    te->func->param_count = count;
    if (!hone_attrs_with(te->ir.arena, &te->func->attrs, "tir.noalias", HONE_VALUE_OF_BOOL(true),
                         &te->func->attrs)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor program");
    }
    *out_func = te->func;
    return HONE_OK;
}
