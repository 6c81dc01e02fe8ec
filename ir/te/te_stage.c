/* ir/te/te_stage.c - ends stages: each ends as a loop nest with one block, which says what it reads
 * and writes. */
#include <inttypes.h>
#include <string.h>

#include "ir/te/te_impl.h"

/* ---- regions: one point per load; a buffer that is read at several points is read as a whole ----
 */

typedef struct read_list {
    hone_te *te;
    const hone_buffer *skip; /* the block's own outputs */
    uint32_t skip_count;
    const hone_region *written; /* what it reads of them; NULL: nothing, or what it has combined */
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

const hone_range *te_whole(hone_te *te, hone_buffer buffer) {
    uint32_t rank = hone_func_buffer(te->func, buffer)->rank;
    hone_range *ranges = te_alloc(te, (rank + 1) * sizeof *ranges);
    for (uint32_t i = 0; ranges && i < rank; i++) {
        ranges[i] = (hone_range){hone_te_int(te, 0), hone_func_buffer(te->func, buffer)->shape[i]};
    }
    return ranges;
}

static void read_add(read_list *list, const hone_expr *load) {
    bool is_indirect = false; /* an index that is itself read from memory: the whole buffer */
    for (uint32_t i = 0; i < load->count; i++)
        is_indirect |= hone_expr_find(load->args[i], hone_expr_is_load, NULL) != NULL;
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

/* What earlier steps have stored: anywhere in what is written. */
static void read_add_own(read_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].buffer == list->written->buffer) return;
    }
    if (!read_grow(list)) return;
    list->loads[list->count] = NULL;
    list->items[list->count++] = *list->written;
}

static bool read_visit(void *ctx, const hone_expr *e) {
    read_list *list = ctx;
    if (e->kind != HONE_EXPR_LOAD) return true;
    for (uint32_t i = 0; i < list->skip_count; i++) {
        if (list->skip[i] != e->u.buffer) continue;
        if (list->written) read_add_own(list);
        return true;
    }
    read_add(list, e);
    return true;
}

/* ---- ending a stage ---- */

const hone_axis *te_axes(hone_te *te, const hone_te_stage *stage, hone_axis_kind inner) {
    uint32_t count = stage->spatial_count + stage->reduce_count;
    hone_axis *axes = te_alloc(te, (count + 1) * sizeof *axes);
    for (uint32_t i = 0; axes && i < count; i++) {
        axes[i].var = stage->axes[i];
        axes[i].kind = i < stage->spatial_count ? HONE_AXIS_SPATIAL : inner;
        axes[i].dom = (hone_range){hone_te_int(te, 0), stage->extent[i]};
    }
    return axes;
}

hone_node_id te_loops(hone_te *te, const hone_te_stage *stage, const hone_expr **bindings) {
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

void te_store(hone_te *te, hone_node_id parent, hone_buffer out, const hone_expr *const *indices,
              const hone_expr *value) {
    uint32_t rank = hone_func_buffer(te->func, out)->rank;
    hone_node_id id = hone_func_add_store(te->func, out, rank, indices, value);
    if (id == HONE_NO_ID)
        te_no_memory(te);
    else
        hone_tree_append(te->func, parent, id);
}

/* What a stage computes: several buffers in one block, or one. */
typedef struct made {
    const char *name; /* of the block */
    uint32_t count;
    const hone_buffer *buffers;
    const hone_expr *const *values;  /* by buffer */
    const hone_expr *const *indices; /* of all of them */
    bool is_ordered;                 /* the axes behind the spatial ones are taken in order */
    const hone_te_stage *stage;      /* of what is ordered */
} made;

static bool is_ordered_axis(const made *m, const hone_expr *index) {
    for (uint32_t i = 0; i < m->stage->reduce_count; i++) {
        if (hone_expr_same(m->stage->axis[m->stage->spatial_count + i], index)) return true;
    }
    return false;
}

/* One point along dimensions that an axis goes over, all places along those of computed ones. */
static const hone_range *te_place(hone_te *te, hone_buffer buffer,
                                  const hone_expr *const *indices) {
    uint32_t rank = hone_func_buffer(te->func, buffer)->rank;
    hone_range *ranges = te_alloc(te, (rank + 1) * sizeof *ranges);
    const hone_range *whole = te_whole(te, buffer);
    for (uint32_t d = 0; ranges && whole && d < rank; d++) {
        bool is_axis = indices[d]->kind == HONE_EXPR_VAR;
        ranges[d] = is_axis ? (hone_range){indices[d], hone_te_int(te, 1)} : whole[d];
    }
    return ranges;
}

static hone_region *te_writes(hone_te *te, const hone_te_stage *stage, const made *m) {
    hone_region *writes = te_alloc(te, (m->count + 1) * sizeof *writes);
    for (uint32_t i = 0; writes && i < m->count; i++) {
        writes[i].buffer = m->buffers[i];
        writes[i].ranges = m->is_ordered ? te_place(te, m->buffers[i], m->indices)
                                         : te_point(te, stage->spatial_count, m->indices);
    }
    return writes;
}

/* What a stage in order reads: what it has written, along the axes of computed indices all of it,
 * and what says where. */
static void te_own_reads(hone_te *te, const made *m, const hone_region *writes, read_list *reads) {
    uint32_t rank = hone_func_buffer(te->func, writes->buffer)->rank;
    hone_range *ranges = te_alloc(te, (rank + 1) * sizeof *ranges);
    hone_region *own = te_alloc(te, sizeof *own);
    const hone_range *whole = te_whole(te, writes->buffer);
    for (uint32_t d = 0; ranges && whole && d < rank; d++)
        ranges[d] = is_ordered_axis(m, m->indices[d]) ? whole[d] : writes->ranges[d];
    if (!own || !ranges || !whole) return;
    *own = (hone_region){writes->buffer, ranges};
    reads->written = own;
    for (uint32_t d = 0; d < rank; d++)
        hone_expr_walk(m->indices[d], read_visit, reads);
}

/* The block of a stage, without body. */
static hone_node_id te_block(hone_te *te, const hone_te_stage *stage, const made *m) {
    uint32_t count = stage->spatial_count + stage->reduce_count;
    hone_block *block = te_alloc(te, sizeof *block);
    const hone_expr **bindings = te_alloc(te, (count + 1) * sizeof *bindings);
    if (!block || !bindings) return HONE_NO_ID;
    hone_region *writes = te_writes(te, stage, m);
    if (!writes) return HONE_NO_ID;
    read_list reads = {.te = te, .skip = m->buffers, .skip_count = m->count};
    if (m->is_ordered) te_own_reads(te, m, writes, &reads);
    for (uint32_t i = 0; i < m->count; i++)
        hone_expr_walk(m->values[i], read_visit, &reads);
    block->name = m->name;
    block->axis_count = count;
    block->axes = te_axes(te, stage, m->is_ordered ? HONE_AXIS_SCAN : HONE_AXIS_REDUCE);
    block->reads = reads.items;
    block->read_count = reads.count;
    block->writes = writes;
    block->write_count = m->count;
    if (!block->axes || te->ir.error) return HONE_NO_ID;
    hone_node_id parent = te_loops(te, stage, bindings);
    return parent == HONE_NO_ID ? parent : te_add_block(te, parent, block, bindings);
}

static const hone_expr *const *te_out_indices(hone_te *te, const hone_te_stage *stage) {
    const hone_expr **indices = te_alloc(te, (stage->spatial_count + 1) * sizeof *indices);
    if (indices) memcpy(indices, stage->axis, stage->spatial_count * sizeof *indices);
    return indices;
}

/* Every value is computed before the first one is stored: they may use what is there. */
static hone_node_id te_let(hone_te *te, hone_node_id parent, hone_buffer buffer,
                           const hone_expr **io_value) {
    const char *name =
        hone_arena_printf(te->ir.arena, "v_%s", hone_func_buffer(te->func, buffer)->name);
    hone_node_id let = hone_func_add_node(te->func, HONE_NODE_LET);
    hone_var var = name ? hone_func_add_named_var(te->func, name, (*io_value)->dtype) : HONE_NO_ID;
    if (let == HONE_NO_ID || var == HONE_NO_ID) {
        te_no_memory(te);
        return parent;
    }
    hone_func_node(te->func, let)->u.let.var = var;
    hone_func_node(te->func, let)->u.let.value = *io_value;
    hone_tree_append(te->func, parent, let);
    *io_value = hone_expr_var(&te->ir, (*io_value)->dtype, var);
    return let;
}

static void te_stores(hone_te *te, hone_node_id parent, const made *m) {
    const hone_expr **values = te_alloc(te, (m->count + 1) * sizeof *values);
    if (!values) return;
    for (uint32_t i = 0; i < m->count; i++) {
        values[i] = m->values[i];
        if (m->count > 1) parent = te_let(te, parent, m->buffers[i], &values[i]);
    }
    for (uint32_t i = 0; i < m->count && !te->ir.error; i++)
        te_store(te, parent, m->buffers[i], m->indices, values[i]);
}

/* The buffers NAME_v0, NAME_v1, … of a stage that makes several. */
static void te_add_buffers(hone_te *te, const hone_te_stage *stage, const char *name,
                           uint32_t count, const hone_dtype *dtypes, hone_buffer *out) {
    for (uint32_t i = 0; i < count; i++) {
        const char *own = hone_arena_printf(te->ir.arena, "%s_v%" PRIu32, name, i);
        if (!own) te_no_memory(te);
        out[i] = own && !te->ir.error
                     ? te_add_buffer(te, own, dtypes[i], stage->spatial_count, stage->extent)
                     : HONE_NO_ID;
    }
}

/* Memory of te for what a stage is made of; false after a mistake. */
static bool te_made(hone_te *te, const hone_te_stage *stage, made *m) {
    if (te->ir.error) return false;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->buffers[i] == HONE_NO_ID || !m->values[i]) return false;
    }
    m->indices = te_out_indices(te, stage);
    return m->indices != NULL;
}

hone_buffer hone_te_compute(hone_te *te, const hone_te_stage *stage, const char *name,
                            const hone_expr *value) {
    assert(stage->reduce_count == 0 || te->ir.error);
    if (!value || te->ir.error) return HONE_NO_ID;
    hone_buffer out = te_add_buffer(te, name, value->dtype, stage->spatial_count, stage->extent);
    made m = {.count = 1, .buffers = &out, .values = &value};
    if (!te_made(te, stage, &m)) return HONE_NO_ID;
    m.name = hone_func_buffer(te->func, out)->name;
    hone_node_id block = te_block(te, stage, &m);
    if (block == HONE_NO_ID) return HONE_NO_ID;
    te_stores(te, block, &m);
    return out;
}

void hone_te_compute_many(hone_te *te, const hone_te_stage *stage, const char *name, uint32_t count,
                          const hone_expr *const *values, hone_buffer *out) {
    assert(count <= HONE_TE_MAX_MANY);
    hone_dtype dtypes[HONE_TE_MAX_MANY];
    made m = {.name = name, .count = count, .buffers = out, .values = values};
    for (uint32_t i = 0; i < count; i++) {
        out[i] = HONE_NO_ID;
        if (values[i]) dtypes[i] = values[i]->dtype;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i]) return;
    }
    te_add_buffers(te, stage, name, count, dtypes, out);
    if (!te_made(te, stage, &m)) return;
    hone_node_id block = te_block(te, stage, &m);
    if (block != HONE_NO_ID) te_stores(te, block, &m);
}

/* ---- steps in order ---- */

hone_buffer hone_te_buffer(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
                           const hone_expr *const *shape) {
    return te->ir.error ? HONE_NO_ID : te_add_buffer(te, name, dtype, rank, shape);
}

void hone_te_update(hone_te *te, const hone_te_stage *stage, const char *name, hone_buffer out,
                    const hone_expr *const *indices, const hone_expr *value) {
    if (te->ir.error || out == HONE_NO_ID || !value) return;
    uint32_t rank = hone_func_buffer(te->func, out)->rank;
    const hone_expr **copy = te_alloc(te, (rank + 1) * sizeof *copy);
    for (uint32_t d = 0; copy && d < rank; d++) {
        if (!indices[d]) return;
        copy[d] = indices[d];
    }
    made m = {.name = name, .count = 1, .buffers = &out, .values = &value, .indices = copy};
    m.is_ordered = true;
    m.stage = stage;
    hone_node_id block = copy ? te_block(te, stage, &m) : HONE_NO_ID;
    if (block != HONE_NO_ID) te_stores(te, block, &m);
}

/* ---- reductions ---- */

hone_buffer hone_te_reduce_begin(hone_te *te, const hone_te_stage *stage, const char *name,
                                 hone_dtype dtype) {
    if (te->ir.error) return HONE_NO_ID;
    return te_add_buffer(te, name, dtype, stage->spatial_count, stage->extent);
}

void hone_te_reduce_begin_many(hone_te *te, const hone_te_stage *stage, const char *name,
                               uint32_t count, const hone_dtype *dtypes, hone_buffer *out) {
    te_add_buffers(te, stage, name, count, dtypes, out);
}

/* A loop of no iterations would not run T.init either: what is reduced over nothing is what it
 * begins with. */
static bool is_over_nothing(const hone_te_stage *stage) {
    for (uint32_t i = 0; i < stage->reduce_count; i++) {
        if (hone_expr_is_int_value(stage->extent[stage->spatial_count + i], 0)) return true;
    }
    return false;
}

static void te_fill(hone_te *te, const hone_te_stage *stage, made *m) {
    hone_te_stage spatial = *stage;
    spatial.reduce_count = 0;
    hone_node_id block = te_block(te, &spatial, m);
    if (block != HONE_NO_ID) te_stores(te, block, m);
}

void hone_te_reduce_end_many(hone_te *te, const hone_te_stage *stage, const char *name,
                             uint32_t count, const hone_buffer *out, const hone_expr *const *init,
                             const hone_expr *const *combined) {
    made m = {.name = name, .count = count, .buffers = out, .values = combined};
    for (uint32_t i = 0; i < count; i++) {
        if (!init[i]) return;
    }
    if (!te_made(te, stage, &m)) return;
    if (is_over_nothing(stage)) {
        m.values = init;
        te_fill(te, stage, &m);
        return;
    }
    hone_node_id block = te_block(te, stage, &m);
    if (block == HONE_NO_ID) return;
    hone_node_id init_node = hone_func_add_node(te->func, HONE_NODE_INIT);
    if (init_node == HONE_NO_ID) {
        te_no_memory(te);
        return;
    }
    hone_tree_append(te->func, block, init_node);
    for (uint32_t i = 0; i < count; i++)
        te_store(te, init_node, out[i], m.indices, init[i]);
    te_stores(te, block, &m);
}

void hone_te_reduce_end(hone_te *te, const hone_te_stage *stage, hone_buffer out,
                        const hone_expr *init, const hone_expr *combined) {
    if (out == HONE_NO_ID || !init || te->ir.error) return;
    const char *name = hone_func_buffer(te->func, out)->name;
    hone_te_reduce_end_many(te, stage, name, 1, &out, &init, &combined);
}

static const hone_expr *te_number(hone_te *te, hone_dtype dtype, int64_t value) {
    hone_dtype lane = hone_dtype_with_lanes(dtype, 1);
    const hone_expr *number = hone_dtype_is_float(dtype)
                                  ? hone_expr_float(&te->ir, lane, (double)value)
                                  : hone_expr_int(&te->ir, lane, value);
    return dtype.lanes > 1 ? hone_expr_broadcast(&te->ir, number, dtype.lanes) : number;
}

hone_buffer hone_te_reduce(hone_te *te, const hone_te_stage *stage, const char *name,
                           hone_te_reducer reducer, const hone_expr *value) {
    if (!value || te->ir.error) return HONE_NO_ID;
    hone_dtype dtype = value->dtype;
    hone_buffer out = hone_te_reduce_begin(te, stage, name, dtype);
    const hone_expr *old = hone_te_load(te, out, stage->axis);
    hone_ir *ir = &te->ir;
    const hone_expr *init = NULL, *next = NULL;
    switch (reducer) {
    case HONE_TE_SUM:
        init = te_number(te, dtype, 0);
        next = hone_expr_add(ir, old, value);
        break;
    case HONE_TE_PROD:
        init = te_number(te, dtype, 1);
        next = hone_expr_mul(ir, old, value);
        break;
    case HONE_TE_MAX:
        init = hone_expr_lowest(ir, dtype);
        next = hone_expr_binary(ir, HONE_OP_MAX, old, value);
        break;
    case HONE_TE_MIN:
        init = hone_expr_highest(ir, dtype);
        next = hone_expr_binary(ir, HONE_OP_MIN, old, value);
        break;
    case HONE_TE_MAXIMUM:
        init = hone_expr_least(ir, dtype);
        next = hone_expr_extreme(ir, HONE_OP_MAX, old, value);
        break;
    case HONE_TE_MINIMUM:
        init = hone_expr_greatest(ir, dtype);
        next = hone_expr_extreme(ir, HONE_OP_MIN, old, value);
        break;
    }
    hone_te_reduce_end(te, stage, out, init, next);
    return ir->error ? HONE_NO_ID : out;
}
