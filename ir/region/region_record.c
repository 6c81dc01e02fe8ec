/* ir/region/region_record.c - what a walk knows of variables, and what it has recorded: per buffer
 * the union box, in order of first access. */
#include "ir/region/region_walk.h"

#include <string.h>

#include "ir/region/region.h"

static region_touch *find_touch(region_walk *walk, region_touches *list, hone_buffer buffer,
                                bool *out_is_new) {
    *out_is_new = false;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].buffer == buffer) return &list->items[i];
    }
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
        region_touch *items = hone_arena_alloc(region_arena(walk), capacity * sizeof *items);
        if (!items) return NULL;
        for (uint32_t i = 0; i < list->count; i++)
            items[i] = list->items[i];
        list->items = items;
        list->capacity = capacity;
    }
    uint32_t rank = hone_func_buffer(walk->func, buffer)->rank;
    region_touch *made = &list->items[list->count];
    *made = (region_touch){.buffer = buffer};
    made->dims = hone_arena_zalloc(region_arena(walk), (rank + 1) * sizeof *made->dims);
    if (!made->dims) return NULL;
    list->count++;
    *out_is_new = true;
    return made;
}

static hone_interval unite(region_walk *walk, hone_interval a, hone_interval b) {
    hone_interval u = hone_interval_union(&walk->arith, a, b);
    return (hone_interval){.min = a.min && b.min ? u.min : NULL,
                           .max = a.max && b.max ? u.max : NULL};
}

static bool loads_local(const void *ctx, const hone_expr *e) {
    const region_walk *walk = ctx;
    return e->kind == HONE_EXPR_LOAD && walk->is_local[e->u.buffer];
}

/* A region is read where its block stands: there is nothing yet of what lives inside. */
static bool is_known_outside(const region_walk *walk, hone_interval dim) {
    if (!dim.min || !dim.max) return false;
    if (!walk->has_locals) return true;
    return !hone_expr_find(dim.min, loads_local, walk) &&
           !hone_expr_find(dim.max, loads_local, walk);
}

static void record_plain(region_walk *walk, region_touches *list, hone_buffer buffer,
                         const hone_interval *dims) {
    bool is_new;
    if (walk->is_local[buffer]) return;
    region_touch *t = find_touch(walk, list, buffer, &is_new);
    if (!t) {
        walk->is_out_of_memory = true;
        return;
    }
    uint32_t rank = hone_func_buffer(walk->func, buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        hone_interval whole =
            region_whole_dim(&walk->arith, hone_func_buffer(walk->func, buffer), d);
        hone_interval dim = dims && is_known_outside(walk, dims[d]) ? dims[d] : whole;
        t->dims[d] = is_new ? dim : unite(walk, t->dims[d], dim);
    }
}

static const hone_match *find_match(const region_walk *walk, hone_buffer buffer) {
    for (uint32_t i = 0; walk->block && i < walk->block->match_count; i++) {
        if (walk->block->matches[i].buffer == buffer) return &walk->block->matches[i];
    }
    return NULL;
}

const hone_expr *region_last_of(region_walk *walk, const hone_range *range) {
    hone_ir *ir = &walk->arith.ir;
    const hone_expr *end = hone_expr_add(ir, range->min, range->extent);
    return end ? hone_expr_sub(ir, end, hone_expr_int(ir, end->dtype, 1)) : NULL;
}

/* A piece of a view as a piece of its source: the last dimensions of the source are those of the
 * view. dims NULL = all of it. */
static hone_interval *map_view(region_walk *walk, const hone_match *match,
                               const hone_interval *dims) {
    hone_ir *ir = &walk->arith.ir;
    uint32_t rank = hone_func_buffer(walk->func, match->source.buffer)->rank;
    uint32_t view_rank = hone_func_buffer(walk->func, match->buffer)->rank;
    hone_interval *out = hone_arena_zalloc(ir->arena, (rank + 1) * sizeof *out);
    if (!out) return NULL;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_range *source = &match->source.ranges[d];
        bool is_lead = view_rank > rank || d < rank - view_rank;
        hone_interval dim = is_lead || !dims ? (hone_interval){0} : dims[d - (rank - view_rank)];
        if (dim.min && dim.max) {
            out[d].min = hone_simplify(&walk->arith, hone_expr_add(ir, source->min, dim.min));
            out[d].max = hone_simplify(&walk->arith, hone_expr_add(ir, source->min, dim.max));
        } else {
            out[d].min = hone_simplify(&walk->arith, source->min);
            out[d].max = hone_simplify(&walk->arith, region_last_of(walk, source));
        }
    }
    return out;
}

static bool same_layout(const hone_buffer_info *a, const hone_buffer_info *b) {
    if (a->rank != b->rank || a->elem_offset || b->elem_offset || a->strides || b->strides ||
        !hone_dtype_equal(a->dtype, b->dtype)) {
        return false;
    }
    for (uint32_t d = 0; d < a->rank; d++) {
        if (!hone_expr_same(a->shape[d], b->shape[d])) return false;
    }
    return true;
}

/* Records a box of a buffer; views and aliases count as the buffer that they show. */
void region_record(region_walk *walk, region_touches *list, hone_buffer buffer,
                   const hone_interval *dims) {
    for (uint32_t depth = 0; depth < walk->func->buffer_count; depth++) {
        const hone_match *match = find_match(walk, buffer);
        const hone_buffer_info *info = hone_func_buffer(walk->func, buffer);
        if (match) {
            dims = map_view(walk, match, dims);
            if (!dims) walk->is_out_of_memory = true;
            buffer = match->source.buffer;
        } else if (info->alias_of != HONE_NO_ID && info->alias_of != buffer) {
            if (!same_layout(info, hone_func_buffer(walk->func, info->alias_of))) dims = NULL;
            buffer = info->alias_of;
        } else {
            break;
        }
    }
    record_plain(walk, list, buffer, dims);
}

/* What is known of the variable from now on is to be forgotten behind this block. */
bool region_note(region_walk *walk, hone_var var) {
    const hone_arith *arith = &walk->arith;
    if (var >= walk->func->var_count) return false;
    if (walk->noted_count == walk->noted_capacity) {
        uint32_t capacity = walk->noted_capacity ? walk->noted_capacity * 2 : 32;
        known_here *noted = hone_arena_alloc(region_arena(walk), capacity * sizeof *noted);
        walk->is_out_of_memory |= !noted;
        if (!noted) return false;
        if (walk->noted_count) memcpy(noted, walk->noted, walk->noted_count * sizeof *noted);
        walk->noted = noted;
        walk->noted_capacity = capacity;
    }
    walk->noted[walk->noted_count++] = (known_here){
        var, var < arith->count ? arith->bounds[var]
                                : (hone_bound){HONE_BOUND_NEG_INF, HONE_BOUND_POS_INF}
    };
    return true;
}

void region_set_value(region_walk *walk, hone_var var, const hone_expr *value) {
    if (region_note(walk, var)) walk->values[var] = value;
}

void region_forget_noted(region_walk *walk) {
    while (walk->noted_count > 0) {
        const known_here *known = &walk->noted[--walk->noted_count];
        walk->relax[known->var] = false;
        walk->values[known->var] = NULL;
        if (known->var < walk->arith.count)
            hone_arith_bind_const(&walk->arith, known->var, known->before.min, known->before.max);
    }
    walk->has_values = false;
}

const hone_expr *region_resolve(region_walk *walk, const hone_expr *e) {
    if (!walk->has_values) return e;
    return hone_expr_substitute(&walk->arith.ir, e, walk->values, walk->func->var_count);
}

/* One access by indices. A vector index touches the elements from its base to its last lane. */
static hone_interval relax_index(region_walk *walk, const hone_expr *index) {
    hone_ir *ir = &walk->arith.ir;
    bool is_exact;
    const hone_expr *e = region_resolve(walk, index);
    if (!e || hone_dtype_is_void(e->dtype)) return (hone_interval){0}; /* a call of no known type */
    const hone_expr *lo = e, *hi = e;
    if (e->kind == HONE_EXPR_BROADCAST) lo = hi = e->args[0];
    if (e->kind == HONE_EXPR_RAMP) {
        if (hone_dtype_is_scalable(e->dtype)) return (hone_interval){0};
        const hone_expr *lanes = hone_expr_int(ir, e->args[1]->dtype, e->dtype.lanes - 1);
        const hone_expr *reach =
            hone_expr_add(ir, e->args[0], hone_expr_mul(ir, e->args[1], lanes));
        bool goes_down = hone_expr_const(e->args[1]) < 0 && e->args[1]->kind == HONE_EXPR_INT;
        if (e->args[1]->kind != HONE_EXPR_INT) return (hone_interval){0};
        lo = goes_down ? reach : e->args[0];
        hi = goes_down ? e->args[0] : reach;
    }
    if (!lo || !hi || lo->dtype.lanes > 1) return (hone_interval){0};
    return region_relax_span(&walk->arith, &walk->facts, lo, hi, walk->relax, walk->func->var_count,
                             &is_exact);
}

void region_record_access(region_walk *walk, region_touches *list, hone_buffer buffer,
                          const hone_expr *const *indices) {
    uint32_t rank = hone_func_buffer(walk->func, buffer)->rank;
    hone_interval *dims = hone_arena_alloc(region_arena(walk), (rank + 1) * sizeof *dims);
    if (!dims) {
        walk->is_out_of_memory = true;
        return;
    }
    for (uint32_t d = 0; d < rank; d++)
        dims[d] = relax_index(walk, indices[d]);
    region_record(walk, list, buffer, dims);
}

/* The buffer in whose storage another one lies. */
static hone_buffer storage_of(const region_walk *walk, hone_buffer buffer) {
    for (;;) {
        const hone_match *match = find_match(walk, buffer);
        hone_buffer of =
            match ? match->source.buffer : hone_func_buffer(walk->func, buffer)->alias_of;
        if (of == HONE_NO_ID) return buffer;
        buffer = of;
    }
}

/* Is the block believed to say what it reads (or writes) of the buffer? */
static bool is_told(const region_walk *walk, hone_buffer buffer, bool of_writes) {
    const hone_block *block = walk->block;
    if (!walk->believes) return false;
    hone_buffer of = storage_of(walk, buffer);
    return hone_region_of(of_writes ? block->write_count : block->read_count,
                          of_writes ? block->writes : block->reads, of) != NULL;
}

/* A buffer whose address escapes, which alone does not tell whether it is read or written there:
 * all of it, both. */
void region_record_handle(region_walk *walk, hone_buffer buffer) {
    if (is_told(walk, buffer, false) || is_told(walk, buffer, true)) return;
    region_record(walk, &walk->reads, buffer, NULL);
    region_record(walk, &walk->writes, buffer, NULL);
}

/* Likewise through a pointer that says what it is for. */
void region_record_opaque(region_walk *walk, hone_buffer buffer, bool reads, bool writes) {
    if (reads && !is_told(walk, buffer, false)) region_record(walk, &walk->reads, buffer, NULL);
    if (writes && !is_told(walk, buffer, true)) region_record(walk, &walk->writes, buffer, NULL);
}

hone_buffer region_buffer_of_data(const region_walk *walk, hone_var var) {
    hone_buffer found = HONE_NO_ID;
    for (uint32_t b = 0; b < walk->func->buffer_count; b++) {
        if (walk->func->buffers[b].data != var) continue;
        if (find_match(walk, b)) return b;
        if (walk->func->buffers[b].alias_of == HONE_NO_ID) return b;
        if (found == HONE_NO_ID) found = b;
    }
    return found;
}
