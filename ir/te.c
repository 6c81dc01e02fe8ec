#include "ir/te.h"

#include <string.h>

/* Stages become loop nests at once; hone_te_finish only adds parameters and allocations. */

static void te_fail(hone_te *te, hone_status st) {
    hone_ir_fail(&te->ir, st);
}

static void te_no_memory(hone_te *te) {
    te_fail(te, HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor program"));
}

static void *te_alloc(hone_te *te, size_t bytes) {
    void *memory = hone_arena_zalloc(te->ir.arena, bytes);
    if (!memory) te_no_memory(te);
    return memory;
}

/* Puts a new block under parent; HONE_NO_ID when memory is short. */
static hone_node_id te_add_block(hone_te *te, hone_node_id parent, const hone_block *block,
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
        te_fail(te, HONE_ERROR(HONE_CODE_UNSUPPORTED, "an index or size of %lld is no int32",
                               (long long)value));
        return NULL;
    }
    return hone_expr_int(&te->ir, te->index, value);
}

const hone_expr *hone_te_size(hone_te *te, const char *name) {
    if (te->size_count == HONE_TE_MAX_RANK) {
        te_fail(te,
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

static hone_buffer te_add_buffer(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
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
        te_fail(te, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a kernel of more than %u inputs",
                               te->input_count));
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
        te_fail(te,
                HONE_ERROR(HONE_CODE_UNSUPPORTED, "a loop nest deeper than %d", HONE_TE_MAX_RANK));
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

/* ---- regions: one point per load; a buffer that is read at several points is read as a whole ----
 */

typedef struct read_list {
    hone_te *te;
    hone_buffer skip; /* the block's own output */
    hone_region *items;
    const hone_expr **loads; /* the load behind each item, NULL when it is a whole buffer */
    uint32_t count, capacity;
} read_list;

static bool read_grow(read_list *list) {
    if (list->count < list->capacity) return true;
    uint32_t wanted = list->capacity ? 2 * list->capacity : 8;
    hone_region *items = te_alloc(list->te, wanted * sizeof *items);
    const hone_expr **loads = te_alloc(list->te, wanted * sizeof *loads);
    if (!items || !loads) return false;
    if (list->count) {
        memcpy(items, list->items, list->count * sizeof *items);
        memcpy(loads, list->loads, list->count * sizeof *loads);
    }
    list->items = items;
    list->loads = loads;
    list->capacity = wanted;
    return true;
}

static const hone_range *te_point(hone_te *te, uint32_t rank, const hone_expr *const *indices) {
    hone_range *ranges = te_alloc(te, (rank + 1) * sizeof *ranges);
    for (uint32_t i = 0; ranges && i < rank; i++) {
        ranges[i] = (hone_range){indices[i], hone_expr_int(&te->ir, indices[i]->dtype, 1)};
    }
    return ranges;
}

static const hone_range *te_whole(hone_te *te, hone_buffer buffer) {
    uint32_t rank = hone_func_buffer(te->func, buffer)->rank;
    hone_range *ranges = te_alloc(te, (rank + 1) * sizeof *ranges);
    for (uint32_t i = 0; ranges && i < rank; i++) {
        ranges[i] = (hone_range){hone_te_int(te, 0), hone_func_buffer(te->func, buffer)->shape[i]};
    }
    return ranges;
}

static bool uses_load(const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD) return true;
    for (uint32_t i = 0; i < e->count; i++) {
        if (uses_load(e->args[i])) return true;
    }
    return false;
}

static void read_add(read_list *list, const hone_expr *load) {
    bool is_indirect = false; /* an index that is itself read from memory: the whole buffer */
    for (uint32_t i = 0; i < load->count; i++)
        is_indirect |= uses_load(load->args[i]);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].buffer != load->u.buffer) continue;
        if (list->loads[i] && (is_indirect || !hone_expr_same(list->loads[i], load))) {
            list->items[i].ranges = te_whole(list->te, load->u.buffer);
            list->loads[i] = NULL;
        }
        return;
    }
    if (!read_grow(list)) return;
    list->loads[list->count] = is_indirect ? NULL : load;
    list->items[list->count++] =
        (hone_region){load->u.buffer, is_indirect ? te_whole(list->te, load->u.buffer)
                                                  : te_point(list->te, load->count, load->args)};
}

static bool read_visit(void *ctx, const hone_expr *e) {
    read_list *list = ctx;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer != list->skip) read_add(list, e);
    return true;
}

/* ---- ending a stage ---- */

static const hone_axis *te_axes(hone_te *te, const hone_te_stage *stage) {
    uint32_t count = stage->spatial_count + stage->reduce_count;
    hone_axis *axes = te_alloc(te, (count + 1) * sizeof *axes);
    for (uint32_t i = 0; axes && i < count; i++) {
        axes[i].var = stage->axes[i];
        axes[i].kind = i < stage->spatial_count ? HONE_AXIS_SPATIAL : HONE_AXIS_REDUCE;
        axes[i].dom = (hone_range){hone_te_int(te, 0), stage->extent[i]};
    }
    return axes;
}

/* The loops of a stage under the root block; the innermost one (the root without axes). */
static hone_node_id te_loops(hone_te *te, const hone_te_stage *stage, const hone_expr **bindings) {
    hone_node_id parent = te->root;
    uint32_t count = stage->spatial_count + stage->reduce_count;
    for (uint32_t i = 0; i < count; i++) {
        bindings[i] = hone_expr_var(&te->ir, te->index, stage->loops[i]);
        hone_node_id loop = hone_func_add_loop(te->func, stage->loops[i], HONE_LOOP_SERIAL,
                                               (hone_range){hone_te_int(te, 0), stage->extent[i]});
        if (loop == HONE_NO_ID) {
            te_no_memory(te);
            return loop;
        }
        hone_tree_append(te->func, parent, loop);
        parent = loop;
    }
    return parent;
}

static void te_store(hone_te *te, hone_node_id parent, hone_buffer out,
                     const hone_expr *const *indices, const hone_expr *value) {
    hone_node_id id = hone_func_add_node(te->func, HONE_NODE_STORE);
    if (id == HONE_NO_ID) {
        te_no_memory(te);
        return;
    }
    hone_node *node = hone_func_node(te->func, id);
    node->u.store.buffer = out;
    node->u.store.rank = hone_func_buffer(te->func, out)->rank;
    node->u.store.indices = indices;
    node->u.store.value = value;
    hone_tree_append(te->func, parent, id);
}

/* The block of a stage, without body; it has the name of what it computes. */
static hone_node_id te_block(hone_te *te, const hone_te_stage *stage, hone_buffer out,
                             const hone_expr *value, const hone_expr *const *indices) {
    uint32_t count = stage->spatial_count + stage->reduce_count;
    hone_block *block = te_alloc(te, sizeof *block);
    hone_region *write = te_alloc(te, sizeof *write);
    const hone_expr **bindings = te_alloc(te, (count + 1) * sizeof *bindings);
    if (!block || !write || !bindings) return HONE_NO_ID;
    read_list reads = {.te = te, .skip = out};
    hone_expr_walk(value, read_visit, &reads);
    *write = (hone_region){out, te_point(te, stage->spatial_count, indices)};
    block->name = hone_func_buffer(te->func, out)->name;
    block->axis_count = count;
    block->axes = te_axes(te, stage);
    block->reads = reads.items;
    block->read_count = reads.count;
    block->writes = write;
    block->write_count = 1;
    if (!block->axes || te->ir.error) return HONE_NO_ID;
    hone_node_id parent = te_loops(te, stage, bindings);
    return parent == HONE_NO_ID ? parent : te_add_block(te, parent, block, bindings);
}

static const hone_expr *const *te_out_indices(hone_te *te, const hone_te_stage *stage) {
    const hone_expr **indices = te_alloc(te, (stage->spatial_count + 1) * sizeof *indices);
    if (indices) memcpy(indices, stage->axis, stage->spatial_count * sizeof *indices);
    return indices;
}

hone_buffer hone_te_compute(hone_te *te, const hone_te_stage *stage, const char *name,
                            const hone_expr *value) {
    assert(stage->reduce_count == 0 || te->ir.error);
    if (!value || te->ir.error) return HONE_NO_ID;
    hone_buffer out = te_add_buffer(te, name, value->dtype, stage->spatial_count, stage->extent);
    const hone_expr *const *indices = te_out_indices(te, stage);
    if (out == HONE_NO_ID || !indices) return HONE_NO_ID;
    hone_node_id block = te_block(te, stage, out, value, indices);
    if (block == HONE_NO_ID) return HONE_NO_ID;
    te_store(te, block, out, indices, value);
    return out;
}

hone_buffer hone_te_reduce_begin(hone_te *te, const hone_te_stage *stage, const char *name,
                                 hone_dtype dtype) {
    if (te->ir.error) return HONE_NO_ID;
    return te_add_buffer(te, name, dtype, stage->spatial_count, stage->extent);
}

void hone_te_reduce_end(hone_te *te, const hone_te_stage *stage, hone_buffer out,
                        const hone_expr *init, const hone_expr *combined) {
    if (out == HONE_NO_ID || !init || !combined || te->ir.error) return;
    const hone_expr *const *indices = te_out_indices(te, stage);
    if (!indices) return;
    hone_node_id block = te_block(te, stage, out, combined, indices);
    if (block == HONE_NO_ID) return;
    hone_node_id init_node = hone_func_add_node(te->func, HONE_NODE_INIT);
    if (init_node == HONE_NO_ID) {
        te_no_memory(te);
        return;
    }
    hone_tree_append(te->func, block, init_node);
    te_store(te, init_node, out, indices, init);
    te_store(te, block, out, indices, combined);
}

/* A number in each lane of a dtype: f of floats, i of others. */
static const hone_expr *te_lanes(hone_te *te, hone_dtype dtype, double f, int64_t i) {
    hone_dtype lane = hone_dtype_with_lanes(dtype, 1);
    const hone_expr *number = hone_dtype_is_float(dtype) ? hone_expr_float(&te->ir, lane, f)
                                                         : hone_expr_int(&te->ir, lane, i);
    return dtype.lanes > 1 ? hone_expr_broadcast(&te->ir, number, dtype.lanes) : number;
}

const hone_expr *hone_te_highest(hone_te *te, hone_dtype dtype) {
    bool is_float = hone_dtype_is_float(dtype);
    return te_lanes(te, dtype, is_float ? hone_dtype_max_float(dtype) : 0,
                    is_float ? 0 : hone_dtype_max_int(dtype));
}

const hone_expr *hone_te_lowest(hone_te *te, hone_dtype dtype) {
    bool is_float = hone_dtype_is_float(dtype);
    return te_lanes(te, dtype, is_float ? -hone_dtype_max_float(dtype) : 0,
                    is_float ? 0 : hone_dtype_min_int(dtype));
}

static const hone_expr *te_number(hone_te *te, hone_dtype dtype, int64_t value) {
    return te_lanes(te, dtype, (double)value, value);
}

hone_buffer hone_te_reduce(hone_te *te, const hone_te_stage *stage, const char *name,
                           hone_te_reducer reducer, const hone_expr *value) {
    if (!value || te->ir.error) return HONE_NO_ID;
    hone_dtype dtype = value->dtype;
    hone_buffer out = hone_te_reduce_begin(te, stage, name, dtype);
    const hone_expr *old = hone_te_load(te, out, stage->axis);
    const hone_expr *init = NULL;
    hone_op op = HONE_OP_ADD;
    switch (reducer) {
    case HONE_TE_SUM:
        init = te_number(te, dtype, 0);
        break;
    case HONE_TE_PROD:
        init = te_number(te, dtype, 1);
        op = HONE_OP_MUL;
        break;
    case HONE_TE_MAX:
        init = hone_te_lowest(te, dtype);
        op = HONE_OP_MAX;
        break;
    case HONE_TE_MIN:
        init = hone_te_highest(te, dtype);
        op = HONE_OP_MIN;
        break;
    }
    hone_te_reduce_end(te, stage, out, init, hone_expr_binary(&te->ir, op, old, value));
    return te->ir.error ? HONE_NO_ID : out;
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
