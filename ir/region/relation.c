/* ir/region/relation.c - makes access relations: of blocks by what they declare, of statements by
 * their indices. */
#include "ir/region/relation.h"

#include "ir/core/grow.h"
#include "ir/region/region_impl.h"

void hone_relation_begin(hone_relation *rel, hone_arith *arith, const hone_func *func,
                         hone_buffer buffer, hone_node_id top) {
    *rel = (hone_relation){.arith = arith, .func = func, .buffer = buffer, .top = top};
}

void *region_alloc(hone_arith *arith, size_t bytes) {
    void *memory = hone_arena_zalloc(arith->ir.arena, bytes);
    if (!memory) hone_ir_fail(&arith->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "access relation"));
    return memory;
}

/* Room for one more; false where memory is short. */
static bool grow(hone_relation *rel, void **items, uint32_t *capacity, uint32_t count,
                 size_t item_bytes) {
    if (hone_grow(rel->arith->ir.arena, items, capacity, count, item_bytes)) return true;
    hone_ir_fail(&rel->arith->ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "access relation"));
    rel->is_short_of_memory = true;
    return false;
}

static void add_loop(hone_relation *rel, hone_node_id loop) {
    for (uint32_t i = 0; i < rel->loop_count; i++) {
        if (rel->loops[i] == loop) return;
    }
    if (!grow(rel, (void **)&rel->loops, &rel->loop_capacity, rel->loop_count, sizeof *rel->loops))
        return;
    rel->loops[rel->loop_count++] = loop;
}

/* The loops from a node up to top. */
static void add_loops(hone_relation *rel, hone_node_id at) {
    while (at != rel->top && at != HONE_NO_ID) {
        if (hone_func_node(rel->func, at)->kind == HONE_NODE_FOR) add_loop(rel, at);
        at = hone_func_node(rel->func, at)->parent;
    }
}

/* The index over loops and what is fixed: values in the place of names that stand between the
 * statement and top. NULL: it is not known, since it is no sum of these (a load, a value that may
 * wrap around), or memory is short. */
static const hone_expr *over_loops(const hone_relation *rel, hone_node_id at, const hone_expr *e) {
    hone_ir *ir = &rel->arith->ir;
    for (; e && at != rel->top && at != HONE_NO_ID; at = hone_func_node(rel->func, at)->parent) {
        const hone_node *node = hone_func_node(rel->func, at);
        if (node->kind == HONE_NODE_LET && hone_expr_uses_var(e, node->u.let.var)) {
            if (!hone_arith_is_of_indices(rel->arith, node->u.let.value)) return NULL;
            e = hone_expr_substitute_one(ir, e, node->u.let.var, node->u.let.value);
        }
        const hone_block *block = node->kind == HONE_NODE_BLOCK ? node->u.block.block : NULL;
        for (uint32_t a = 0; e && block && a < block->axis_count; a++) {
            if (hone_expr_uses_var(e, block->axes[a].var))
                e = hone_expr_substitute_one(ir, e, block->axes[a].var, node->u.block.bindings[a]);
        }
    }
    return e && e->dtype.lanes == 1 && hone_expr_is_pure_index(e) ? e : NULL;
}

/* An access of which nothing is known yet; NULL where memory is short. */
static hone_access *add_access(hone_relation *rel, const hone_expr ***out_mins,
                               int64_t **out_extents) {
    uint32_t rank = hone_func_buffer(rel->func, rel->buffer)->rank;
    *out_mins = region_alloc(rel->arith, (rank + 1) * sizeof **out_mins);
    *out_extents = region_alloc(rel->arith, (rank + 1) * sizeof **out_extents);
    if (!*out_mins || !*out_extents ||
        !grow(rel, (void **)&rel->accesses, &rel->capacity, rel->count, sizeof *rel->accesses)) {
        rel->is_short_of_memory = true;
        return NULL;
    }
    hone_access *access = &rel->accesses[rel->count++];
    *access = (hone_access){rank, *out_mins, *out_extents};
    return access;
}

/* Lengths that are no constants are not known. */
static void add_ranges(hone_relation *rel, hone_node_id at, const hone_range *ranges) {
    const hone_expr **mins;
    int64_t *extents;
    const hone_access *access = add_access(rel, &mins, &extents);
    for (uint32_t d = 0; access && d < access->rank; d++) {
        extents[d] = hone_expr_const(ranges[d].extent);
        if (extents[d] > 0) mins[d] = over_loops(rel, at, ranges[d].min);
    }
}

void hone_relation_add_block(hone_relation *rel, hone_node_id id) {
    const hone_block *block = hone_func_node(rel->func, id)->u.block.block;
    for (uint32_t i = 0; i < block->write_count + block->read_count; i++) {
        const hone_region *region =
            i < block->write_count ? &block->writes[i] : &block->reads[i - block->write_count];
        if (region->buffer == rel->buffer) add_ranges(rel, id, region->ranges);
    }
    add_loops(rel, id);
}

void hone_relation_add_box(hone_relation *rel, const hone_range *ranges) {
    add_ranges(rel, rel->top, ranges);
}

void hone_relation_add_element(hone_relation *rel, hone_node_id statement,
                               const hone_expr *const *indices) {
    const hone_expr **mins;
    int64_t *extents;
    const hone_access *access = add_access(rel, &mins, &extents);
    for (uint32_t d = 0; access && d < access->rank; d++) {
        extents[d] = 1;
        mins[d] = over_loops(rel, statement, indices[d]);
    }
    add_loops(rel, statement);
}

/* ---- one index ---- */

/* The number of an element, of a box that is one; NULL: it is not known. */
static const hone_expr *number_of(hone_relation *rel, const hone_access *access) {
    const hone_buffer_info *buffer = hone_func_buffer(rel->func, rel->buffer);
    hone_ir *ir = &rel->arith->ir;
    const hone_expr *sum = NULL;
    int64_t count = 1;
    for (uint32_t d = 0; d < access->rank; d++) {
        int64_t size = hone_expr_const(buffer->shape[d]);
        bool is_known = size > 0 && access->mins[d] && access->extents[d] == 1 &&
                        !__builtin_mul_overflow(count, size, &count) && count <= INT32_MAX;
        if (!is_known) return NULL;
        const hone_expr *rows =
            sum ? hone_expr_mul(ir, sum, hone_expr_int(ir, access->mins[d]->dtype, size)) : NULL;
        sum = rows ? hone_expr_add(ir, rows, access->mins[d]) : access->mins[d];
        sum = hone_simplify(rel->arith, sum); /* digits that stand next to each other, first */
        if (!sum) return NULL;
    }
    return sum;
}

bool hone_relation_count_elements(hone_relation *rel) {
    const hone_expr **numbers = region_alloc(rel->arith, (rel->count + 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < rel->count; i++) {
        numbers[i] = number_of(rel, &rel->accesses[i]);
        if (!numbers[i]) return false;
    }
    for (uint32_t i = 0; numbers && i < rel->count; i++)
        rel->accesses[i] = (hone_access){1, &numbers[i], rel->accesses[i].extents};
    return numbers != NULL;
}
