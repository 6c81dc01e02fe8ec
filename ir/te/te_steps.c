/* ir/te/te_steps.c - blocks that are written statement by statement: what depends on what came
 * before in more ways than one store can say. */
#include <string.h>

#include "ir/te/te_impl.h"

static hone_node_id te_open(hone_te *te, hone_node_id parent, hone_node_kind kind) {
    if (te->ir.error || parent == HONE_NO_ID) return HONE_NO_ID;
    hone_node_id id = hone_func_add_node(te->func, kind);
    if (id == HONE_NO_ID)
        te_no_memory(te);
    else
        hone_tree_append(te->func, parent, id);
    return id;
}

/* What an instance has of each buffer: a point along the axes, all along the other dimensions. */
static const hone_region *te_behind(hone_te *te, const hone_te_stage *stage, uint32_t count,
                                    const hone_buffer *buffers) {
    hone_region *regions = te_alloc(te, (count + 1) * sizeof *regions);
    for (uint32_t i = 0; regions && i < count; i++) {
        const hone_range *whole = te_whole(te, buffers[i]);
        uint32_t rank = hone_func_buffer(te->func, buffers[i])->rank;
        hone_range *ranges = te_alloc(te, (rank + 1) * sizeof *ranges);
        if (!whole || !ranges) return NULL;
        for (uint32_t d = 0; d < rank; d++) {
            bool is_axis = d < stage->spatial_count;
            ranges[d] = is_axis ? (hone_range){stage->axis[d], hone_te_int(te, 1)} : whole[d];
        }
        regions[i] = (hone_region){buffers[i], ranges};
    }
    return regions;
}

static bool are_made(uint32_t count, const hone_buffer *buffers) {
    for (uint32_t i = 0; i < count; i++) {
        if (buffers[i] == HONE_NO_ID) return false;
    }
    return true;
}

hone_node_id hone_te_steps(hone_te *te, const hone_te_stage *stage, const char *name,
                           uint32_t read_count, const hone_buffer *reads, uint32_t write_count,
                           const hone_buffer *writes) {
    assert(stage->reduce_count == 0 || te->ir.error);
    if (te->ir.error || !are_made(read_count, reads) || !are_made(write_count, writes))
        return HONE_NO_ID;
    const hone_expr **bindings = te_alloc(te, (stage->spatial_count + 1) * sizeof *bindings);
    hone_block *block = te_alloc(te, sizeof *block);
    if (!bindings || !block) return HONE_NO_ID;
    block->name = name;
    block->axis_count = stage->spatial_count;
    block->axes = te_axes(te, stage, HONE_AXIS_SPATIAL);
    block->reads = te_behind(te, stage, read_count, reads);
    block->read_count = read_count;
    block->writes = te_behind(te, stage, write_count, writes);
    block->write_count = write_count;
    if (te->ir.error) return HONE_NO_ID;
    hone_node_id parent = te_loops(te, stage, bindings);
    return parent == HONE_NO_ID ? parent : te_add_block(te, parent, block, bindings);
}

void hone_te_steps_read(hone_te *te, hone_node_id steps, hone_buffer whole) {
    if (te->ir.error || steps == HONE_NO_ID || whole == HONE_NO_ID) return;
    hone_node *node = hone_func_node(te->func, steps);
    hone_block *copy = hone_block_copy(te->ir.arena, node->u.block.block);
    hone_region *reads = copy ? te_alloc(te, (copy->read_count + 1) * sizeof *reads) : NULL;
    const hone_range *ranges = te_whole(te, whole);
    if (!copy) te_no_memory(te);
    if (!reads || !ranges) return;
    if (copy->read_count > 0) memcpy(reads, copy->reads, copy->read_count * sizeof *reads);
    reads[copy->read_count++] = (hone_region){whole, ranges};
    copy->reads = reads;
    node->u.block.block = copy;
}

static const hone_expr *te_loop(hone_te *te, hone_node_id *io_at, const char *name,
                                hone_loop_kind kind, const hone_expr *extent) {
    if (te->ir.error || !extent || *io_at == HONE_NO_ID) return NULL;
    hone_var var = hone_func_add_var(te->func, name, te->index);
    hone_node_id loop =
        var == HONE_NO_ID
            ? HONE_NO_ID
            : hone_func_add_loop(te->func, var, kind, (hone_range){hone_te_int(te, 0), extent});
    if (loop == HONE_NO_ID) {
        te_no_memory(te);
        return NULL;
    }
    hone_tree_append(te->func, *io_at, loop);
    *io_at = loop;
    return hone_expr_var(&te->ir, te->index, var);
}

const hone_expr *hone_te_for(hone_te *te, hone_node_id *io_at, const char *name,
                             const hone_expr *extent) {
    return te_loop(te, io_at, name, HONE_LOOP_SERIAL, extent);
}

const hone_expr *hone_te_lanes(hone_te *te, hone_node_id *io_at, const char *name, int64_t count) {
    return te_loop(te, io_at, name, HONE_LOOP_VECTORIZED, hone_te_int(te, count));
}

const hone_expr *hone_te_let(hone_te *te, hone_node_id *io_at, const char *name,
                             const hone_expr *value) {
    hone_node_id let = value ? te_open(te, *io_at, HONE_NODE_LET) : HONE_NO_ID;
    if (let == HONE_NO_ID) return NULL;
    hone_var var = hone_func_add_var(te->func, name, value->dtype);
    if (var == HONE_NO_ID) {
        te_no_memory(te);
        return NULL;
    }
    hone_func_node(te->func, let)->u.let.var = var;
    hone_func_node(te->func, let)->u.let.value = value;
    *io_at = let;
    return hone_expr_var(&te->ir, value->dtype, var);
}

hone_node_id hone_te_if(hone_te *te, hone_node_id at, const hone_expr *condition) {
    hone_node_id id = condition ? te_open(te, at, HONE_NODE_IF) : HONE_NO_ID;
    if (id != HONE_NO_ID) hone_func_node(te->func, id)->u.eval.value = condition;
    return id;
}

hone_node_id hone_te_else(hone_te *te, hone_node_id branch) {
    return te_open(te, branch, HONE_NODE_ELSE);
}

void hone_te_store(hone_te *te, hone_node_id at, hone_buffer buffer,
                   const hone_expr *const *indices, const hone_expr *value) {
    if (te->ir.error || at == HONE_NO_ID || buffer == HONE_NO_ID || !value) return;
    uint32_t rank = hone_func_buffer(te->func, buffer)->rank;
    const hone_expr **copy = te_alloc(te, (rank + 1) * sizeof *copy);
    for (uint32_t d = 0; copy && d < rank; d++) {
        if (!indices[d]) return;
        copy[d] = indices[d];
    }
    if (copy) te_store(te, at, buffer, copy, value);
}

void hone_te_break(hone_te *te, hone_node_id at) {
    te_open(te, at, HONE_NODE_BREAK);
}
