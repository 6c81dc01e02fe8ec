/* Makes access relations: of blocks by what they declare, of statements by their indices. */
#include "ir/region/access.h"

#include "ir/core/grow.h"

void hone_relation_begin(hone_relation *rel, hone_arith *arith, const hone_func *func,
                         hone_buffer buffer, hone_node_id top) {
    *rel = (hone_relation){.arith = arith, .func = func, .buffer = buffer, .top = top};
}

static void add_loop(hone_relation *rel, hone_node_id loop) {
    for (uint32_t i = 0; i < rel->loop_count; i++) {
        if (rel->loops[i] == loop) return;
    }
    if (!hone_grow(rel->arith->ir.arena, (void **)&rel->loops, &rel->loop_capacity, rel->loop_count,
                   sizeof *rel->loops)) {
        rel->is_short_of_memory = true;
        return;
    }
    rel->loops[rel->loop_count++] = loop;
}

/* The loops from a node up to top. */
static void add_loops(hone_relation *rel, hone_node_id at) {
    while (at != rel->top && at != HONE_NO_ID) {
        if (hone_func_node(rel->func, at)->kind == HONE_NODE_FOR) add_loop(rel, at);
        at = hone_func_node(rel->func, at)->parent;
    }
}

/* Is the index an expression over loops and what is fixed? A load may give anything, and a name
 * that stands between the statement and top and is no loop another value at each point. */
static bool is_of_loops(const hone_relation *rel, hone_node_id at, const hone_expr *e) {
    bool is_known = e->dtype.lanes == 1 && hone_expr_is_pure_index(e);
    for (; at != rel->top && at != HONE_NO_ID; at = hone_func_node(rel->func, at)->parent) {
        const hone_node *node = hone_func_node(rel->func, at);
        if (node->kind == HONE_NODE_LET) is_known &= !hone_expr_uses_var(e, node->u.let.var);
        const hone_block *block = node->kind == HONE_NODE_BLOCK ? node->u.block.block : NULL;
        for (uint32_t a = 0; block && a < block->axis_count; a++)
            is_known &= !hone_expr_uses_var(e, block->axes[a].var);
    }
    return is_known;
}

/* An access of which nothing is known yet; NULL where memory is short. */
static hone_access *add_access(hone_relation *rel, const hone_expr ***out_mins,
                               int64_t **out_extents) {
    hone_arena *arena = rel->arith->ir.arena;
    uint32_t rank = hone_func_buffer(rel->func, rel->buffer)->rank;
    *out_mins = hone_arena_zalloc(arena, (rank + 1) * sizeof **out_mins);
    *out_extents = hone_arena_zalloc(arena, (rank + 1) * sizeof **out_extents);
    if (!*out_mins || !*out_extents ||
        !hone_grow(arena, (void **)&rel->accesses, &rel->capacity, rel->count,
                   sizeof *rel->accesses)) {
        rel->is_short_of_memory = true;
        return NULL;
    }
    hone_access *access = &rel->accesses[rel->count++];
    *access = (hone_access){rank, *out_mins, *out_extents};
    return access;
}

/* The box with map in the place of variables (NULL: as it is). What is loaded, and lengths that are
 * no constants, are not known. */
static void add_ranges(hone_relation *rel, hone_node_id at, const hone_range *ranges,
                       const hone_expr *const *map) {
    const hone_expr **mins;
    int64_t *extents;
    const hone_access *access = add_access(rel, &mins, &extents);
    for (uint32_t d = 0; access && d < access->rank; d++) {
        const hone_expr *min = ranges[d].min;
        extents[d] = hone_expr_const(ranges[d].extent);
        if (extents[d] < 1) continue;
        if (map) min = hone_expr_substitute(&rel->arith->ir, min, map, rel->func->var_count);
        rel->is_short_of_memory |= !min;
        if (min && is_of_loops(rel, at, min)) mins[d] = min;
    }
}

void hone_relation_add_block(hone_relation *rel, hone_node_id id) {
    const hone_node *node = hone_func_node(rel->func, id);
    const hone_block *block = node->u.block.block;
    const hone_expr **map =
        hone_arena_zalloc(rel->arith->ir.arena, (rel->func->var_count + 1) * sizeof *map);
    rel->is_short_of_memory |= !map;
    for (uint32_t a = 0; map && a < block->axis_count; a++)
        map[block->axes[a].var] = node->u.block.bindings[a];
    for (uint32_t i = 0; map && i < block->write_count + block->read_count; i++) {
        const hone_region *region =
            i < block->write_count ? &block->writes[i] : &block->reads[i - block->write_count];
        if (region->buffer == rel->buffer) add_ranges(rel, node->parent, region->ranges, map);
    }
    add_loops(rel, node->parent);
}

void hone_relation_add_box(hone_relation *rel, const hone_range *ranges) {
    add_ranges(rel, rel->top, ranges, NULL);
}

void hone_relation_add_element(hone_relation *rel, hone_node_id statement,
                               const hone_expr *const *indices) {
    const hone_expr **mins;
    int64_t *extents;
    const hone_access *access = add_access(rel, &mins, &extents);
    for (uint32_t d = 0; access && d < access->rank; d++) {
        extents[d] = 1;
        if (is_of_loops(rel, statement, indices[d])) mins[d] = indices[d];
    }
    add_loops(rel, statement);
}
