/* schedule/primitive/buffers/prim_cache_index.c - cache_index: computes once, in blocks of their
 * own, what the value of a store has of its axes alone (indices of loads, conditions, other
 * arithmetic), and loads it from there.
 *
 *     B[vi, vj] = A[vi // 4 + vj // 8, vj // 2]                        cache_index(b, "global")
 *  →  with block index_0: index_var_0[v0, v1] = v0 // 4 + v1 // 8
 *     with block index_1: index_var_1[v0] = v0 // 2
 *     B[vi, vj] = A[index_var_0[vi, vj], index_var_1[vj]]
 *
 * Taken are the largest such parts that occur at least cse_thresh times (0: once) and are more than
 * a variable or a number; those that divide by something other than a number stay as they are.
 * Where there are none, the program does. Checks: the scope name is known; the block uses loops by
 * its bindings only; the axes that occur start at 0.
 */
#include "schedule/primitive/primitive_impl.h"

#include <inttypes.h>

enum { MAX_INDICES = 64, MAX_ARGS = 16 };

typedef struct index_use {
    const hone_expr *index;
    int64_t count;
    hone_buffer buffer; /* where it is kept, once it is */
    uint32_t rank;
    const hone_expr **at; /* over the axes of the block */
} index_use;

typedef struct caching_indices {
    hone_schedule *sch;
    hone_node_id block, scope, top;
    bool *axes; /* by variable */
    uint32_t var_count;
    index_use uses[MAX_INDICES];
    uint32_t count;
} caching_indices;

/* ---- which indices ---- */

typedef struct fitness {
    const caching_indices *c;
    bool fits;
} fitness;

static bool check_part(void *ctx, const hone_expr *e) {
    fitness *f = ctx;
    if (hone_expr_may_trap(e)) f->fits = false;
    if (e->kind == HONE_EXPR_STRING || e->kind == HONE_EXPR_LET) f->fits = false;
    if (e->kind == HONE_EXPR_VAR) {
        bool is_axis = e->u.var < f->c->var_count && f->c->axes[e->u.var];
        f->fits = f->fits && (is_axis || f->c->sch->func->vars[e->u.var].is_size);
    }
    return f->fits;
}

static bool is_worth_it(const caching_indices *c, const hone_expr *e) {
    bool is_number = hone_dtype_is_integer(e->dtype) || hone_dtype_is_bool(e->dtype) ||
                     hone_dtype_is_float(e->dtype);
    if (e->count == 0 || e->dtype.lanes != 1 || !is_number) return false;
    fitness f = {c, hone_expr_is_pure_index(e)};
    if (f.fits) hone_expr_walk(e, check_part, &f);
    return f.fits && hone_expr_uses_any(e, c->axes, c->var_count);
}

/* Its number, or the count where it is none of them. */
static uint32_t number_of(const caching_indices *c, const hone_expr *index) {
    uint32_t i = 0;
    while (i < c->count && !hone_expr_same(c->uses[i].index, index))
        i++;
    return i;
}

static void note_use(caching_indices *c, const hone_expr *e, int64_t count) {
    uint32_t at = number_of(c, e);
    if (at == MAX_INDICES) return;
    if (at == c->count) c->uses[c->count++] = (index_use){.index = e, .buffer = HONE_NO_ID};
    c->uses[at].count += count;
}

/* The largest parts that are worth it. */
static void note_parts(caching_indices *c, const hone_expr *e, int64_t count) {
    if (is_worth_it(c, e)) {
        note_use(c, e, count);
        return;
    }
    for (uint32_t i = 0; i < e->count; i++)
        note_parts(c, e->args[i], count);
}

static bool count_node(void *ctx, const hone_expr *e) {
    (void)e;
    ++*(uint32_t *)ctx;
    return true;
}

static uint32_t size_of(const hone_expr *e) {
    uint32_t size = 0;
    hone_expr_walk(e, count_node, &size);
    return size;
}

/* Larger ones first, as TVM numbers them; else in the order in which they occur. */
static void sort_by_size(caching_indices *c) {
    for (uint32_t i = 1; i < c->count; i++) {
        index_use use = c->uses[i];
        uint32_t at = i, size = size_of(use.index);
        for (; at > 0 && size_of(c->uses[at - 1].index) < size; at--)
            c->uses[at] = c->uses[at - 1];
        c->uses[at] = use;
    }
}

static hone_status find_indices(caching_indices *c, int64_t threshold) {
    hone_schedule *sch = c->sch;
    const hone_block *block = sch_block(sch, c->block);
    c->var_count = sch->func->var_count;
    c->axes = hone_arena_zalloc(sch->arena, (c->var_count + 1) * sizeof *c->axes);
    if (!c->axes) return sch_no_memory();
    for (uint32_t a = 0; a < block->axis_count; a++) {
        c->axes[block->axes[a].var] = hone_expr_is_int_value(block->axes[a].dom.min, 0);
    }
    for (hone_node_id n = c->block; n != HONE_NO_ID; n = hone_tree_next(sch->func, c->block, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_STORE) note_parts(c, node->u.store.value, 1);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) { /* those of what is too rare come behind it */
        const hone_expr *e = c->uses[i].index;
        for (uint32_t k = 0; c->uses[i].count < threshold && k < e->count; k++)
            note_parts(c, e->args[k], c->uses[i].count);
    }
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->uses[i].count >= threshold) c->uses[kept++] = c->uses[i];
    }
    c->count = kept;
    sort_by_size(c);
    return HONE_OK;
}

/* ---- the block that computes one ---- */

/* A loop and an axis for each axis of the block that the index uses. */
static hone_status make_axes(caching_indices *c, index_use *use, const hone_expr **map,
                             const hone_expr **shape, sch_draft *io) {
    const hone_block *block = sch_block(c->sch, c->block);
    for (uint32_t a = 0; a < block->axis_count; a++) {
        hone_var old = block->axes[a].var;
        if (!hone_expr_uses_var(use->index, old)) continue;
        shape[use->rank] = block->axes[a].dom.extent;
        use->at[use->rank++] = sch_var(c->sch, old);
        HONE_TRY(sch_draft_dim(c->sch, io, "ax", block->axes[a].dom.extent));
        map[old] = io->vars[io->count - 1];
    }
    return sch_ir_error(c->sch);
}

static hone_status make_block(caching_indices *c, uint32_t number, const char *storage_scope,
                              hone_node_id *out_block) {
    hone_schedule *sch = c->sch;
    index_use *use = &c->uses[number];
    uint32_t room = sch_block(sch, c->block)->axis_count + 1;
    const hone_expr **shape = hone_arena_alloc(sch->arena, room * sizeof *shape);
    const hone_expr **map = hone_arena_zalloc(sch->arena, (c->var_count + 1) * sizeof *map);
    sch_draft d;
    use->at = hone_arena_alloc(sch->arena, room * sizeof *use->at);
    if (!shape || !map || !use->at) return sch_no_memory();
    HONE_TRY(sch_begin_draft(sch, room, &d));
    HONE_TRY(make_axes(c, use, map, shape, &d));
    use->buffer = sch_make_buffer(sch, sch_name(sch, "index_var_", "", number), use->index->dtype,
                                  use->rank, shape, storage_scope);
    if (use->buffer == HONE_NO_ID) return sch_no_memory();
    HONE_TRY(sch_add_alloc(sch, c->scope, use->buffer));
    hone_node_id store =
        sch_make_store(sch, use->buffer, use->rank, d.vars,
                       hone_expr_substitute(&sch->ir, use->index, map, c->var_count));
    HONE_TRY(sch_draft_block(sch, &d, sch_name(sch, "index_", "", number), store, out_block));
    sch_place_nest(sch, &d.nest, *out_block, c->top, false);
    return HONE_OK;
}

/* ---- the loads ---- */

static const hone_expr *use_cached(const caching_indices *c, hone_ir *ir, const hone_expr *e) {
    const hone_expr *args[MAX_ARGS];
    uint32_t at = number_of(c, e);
    if (at < c->count) {
        return hone_func_load(ir, c->sch->func, c->uses[at].buffer, c->uses[at].at);
    }
    if (e->count == 0 || e->count > MAX_ARGS) return e;
    for (uint32_t i = 0; i < e->count; i++) {
        args[i] = use_cached(c, ir, e->args[i]);
        if (!args[i]) return NULL;
    }
    return hone_expr_with_args(ir, e, args);
}

/* A block says that it reads what is kept of the indices, where it does. */
static hone_status add_reads(const caching_indices *c, hone_node_id id) {
    hone_schedule *sch = c->sch;
    uint32_t count;
    const hone_region *old = sch_regions_of(sch_block(sch, id), false, &count);
    hone_region *reads = hone_arena_alloc(sch->arena, (count + c->count + 1) * sizeof *reads);
    if (!reads) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        reads[i] = old[i];
    for (uint32_t i = 0; i < c->count; i++) {
        const index_use *use = &c->uses[i];
        if (id != c->block && !hone_loads_below(sch->func, id, use->buffer)) continue;
        const hone_region *read = sch_element_region(sch, use->buffer, use->rank, use->at);
        if (!read) return sch_no_memory();
        reads[count++] = *read;
    }
    HONE_TRY(sch_ir_error(sch));
    return sch_declare_regions(sch, id, false, count, reads);
}

/* The regions stay as they were, indices computed: steps can go on reasoning about them. */
static hone_status redirect(caching_indices *c) {
    hone_schedule *sch = c->sch;
    for (hone_node_id n = c->block; n != HONE_NO_ID; n = hone_tree_next(sch->func, c->block, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_STORE) continue;
        const hone_expr *value = use_cached(c, &sch->ir, sch_node(sch, n)->u.store.value);
        if (!value) return sch_ir_error(sch);
        sch_node(sch, n)->u.store.value = value;
    }
    for (hone_node_id n = c->block; n != HONE_NO_ID; n = hone_tree_next(sch->func, c->block, n)) {
        if (sch_node(sch, n)->kind == HONE_NODE_BLOCK) HONE_TRY(add_reads(c, n));
    }
    return HONE_OK;
}

hone_status hone_sch_cache_index(hone_schedule *sch, hone_rv block_rv, const char *storage_scope,
                                 int64_t cse_thresh, uint32_t *out_count,
                                 const hone_rv **out_blocks) {
    caching_indices c = {.sch = sch};
    hone_node_id blocks[MAX_INDICES];
    HONE_TRY(sch_resolve_in_scope(sch, block_rv, &c.block, &c.scope));
    HONE_TRY(sch_require_scope_name(sch, c.block, storage_scope));
    if (cse_thresh < 0) {
        return sch_refuse(sch, c.block, "cse_thresh is %" PRId64 ", must be at least 0",
                          cse_thresh);
    }
    HONE_TRY(sch_require_closed(sch, c.block));
    c.top = sch_child_towards(sch, c.scope, c.block);
    const char *scope = hone_arena_strdup(sch->arena, storage_scope);
    if (!scope) return sch_no_memory();
    HONE_TRY(find_indices(&c, cse_thresh));
    for (uint32_t i = 0; i < c.count; i++)
        HONE_TRY(make_block(&c, i, scope, &blocks[i]));
    if (c.count) HONE_TRY(redirect(&c));
    if (out_count) *out_count = c.count;
    return sch_record_nodes(sch, HONE_INST_CACHE_INDEX,
                            SCH_ARGS(SCH_RV(block_rv), SCH_TEXT(scope), SCH_INT(cse_thresh)),
                            c.count, blocks, out_blocks);
}

SCH_STEP(CACHE_INDEX, hone_sch_cache_index(sch, a[0].rv, a[1].text, a[2].number, NULL, NULL),
         .gives = HONE_GIVES_BLOCKS,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_SCOPE(0), SCH_ARG_INT_OR("cse_thresh", 1, 0)});
