/* ir/region/region.c - infers regions. Region inference walks a block once. Loops below it are
 * relaxed, its own axes and everything outside stay symbolic; conditions on the way down become
 * facts (region_impl.h) that tighten the intervals. Per buffer the union box is kept, in order of
 * first access. */
#include "ir/region/region.h"

#include <string.h>

#include "ir/region/region_impl.h"

typedef struct touch {
    hone_buffer buffer;
    hone_interval *dims; /* an end that is NULL: unknown, so the whole dimension */
} touch;

typedef struct touches {
    touch *items;
    uint32_t count, capacity;
} touches;

/* A variable of which something is known by this block, and what is known without it. */
typedef struct known_here {
    hone_var var;
    hone_bound before;
} known_here;

typedef struct region_walk {
    const hone_func *func;
    const hone_block *block;
    hone_arith arith;
    bool *relax;    /* by variable */
    bool *is_local; /* by buffer: lives inside the block */
    bool has_locals;
    const hone_expr **values; /* by variable: what a let gave it, or NULL */
    bool has_values;
    bool believes; /* what is done by an address is what the block declares, where it names that */
    region_facts facts;
    touches reads, writes;
    bool is_out_of_memory;
    known_here *noted;
    uint32_t noted_count, noted_capacity;
} region_walk;

struct hone_region_inference {
    region_walk walk; /* between blocks: what is known of the whole function */
};

static void walk_expr(region_walk *walk, const hone_expr *e);

/* ---- recording ---- */

static hone_arena *arena_of(region_walk *walk) {
    return walk->arith.ir.arena;
}

static touch *find_touch(region_walk *walk, touches *list, hone_buffer buffer, bool *out_is_new) {
    *out_is_new = false;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].buffer == buffer) return &list->items[i];
    }
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
        touch *items = hone_arena_alloc(arena_of(walk), capacity * sizeof *items);
        if (!items) return NULL;
        for (uint32_t i = 0; i < list->count; i++)
            items[i] = list->items[i];
        list->items = items;
        list->capacity = capacity;
    }
    uint32_t rank = hone_func_buffer(walk->func, buffer)->rank;
    touch *made = &list->items[list->count];
    *made = (touch){.buffer = buffer};
    made->dims = hone_arena_zalloc(arena_of(walk), (rank + 1) * sizeof *made->dims);
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

typedef struct local_search {
    const region_walk *walk;
    bool is_found;
} local_search;

static bool find_local(void *ctx, const hone_expr *e) {
    local_search *search = ctx;
    search->is_found |= e->kind == HONE_EXPR_LOAD && search->walk->is_local[e->u.buffer];
    return !search->is_found;
}

/* A region is read where its block stands: there is nothing yet of what lives inside. */
static bool is_known_outside(const region_walk *walk, hone_interval dim) {
    local_search search = {.walk = walk};
    if (!dim.min || !dim.max) return false;
    if (!walk->has_locals) return true;
    hone_expr_walk(dim.min, find_local, &search);
    hone_expr_walk(dim.max, find_local, &search);
    return !search.is_found;
}

static void record_plain(region_walk *walk, touches *list, hone_buffer buffer,
                         const hone_interval *dims) {
    bool is_new;
    if (walk->is_local[buffer]) return;
    touch *t = find_touch(walk, list, buffer, &is_new);
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
    for (uint32_t i = 0; i < walk->block->match_count; i++) {
        if (walk->block->matches[i].buffer == buffer) return &walk->block->matches[i];
    }
    return NULL;
}

static const hone_expr *last_of(region_walk *walk, const hone_range *range) {
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
            out[d].max = hone_simplify(&walk->arith, last_of(walk, source));
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
static void record(region_walk *walk, touches *list, hone_buffer buffer,
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
static bool note(region_walk *walk, hone_var var) {
    const hone_arith *arith = &walk->arith;
    if (walk->noted_count == walk->noted_capacity) {
        uint32_t capacity = walk->noted_capacity ? walk->noted_capacity * 2 : 32;
        known_here *noted = hone_arena_alloc(arena_of(walk), capacity * sizeof *noted);
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

static void set_value(region_walk *walk, hone_var var, const hone_expr *value) {
    if (note(walk, var)) walk->values[var] = value;
}

static void forget_noted(region_walk *walk) {
    while (walk->noted_count > 0) {
        const known_here *known = &walk->noted[--walk->noted_count];
        walk->relax[known->var] = false;
        walk->values[known->var] = NULL;
        if (known->var < walk->arith.count)
            hone_arith_bind_const(&walk->arith, known->var, known->before.min, known->before.max);
    }
    walk->has_values = false;
}

static const hone_expr *resolve(region_walk *walk, const hone_expr *e) {
    if (!walk->has_values) return e;
    return hone_expr_substitute(&walk->arith.ir, e, walk->values, walk->func->var_count);
}

/* One access by indices. A vector index touches the elements from its base to its last lane. */
static hone_interval relax_index(region_walk *walk, const hone_expr *index) {
    hone_ir *ir = &walk->arith.ir;
    bool is_exact;
    const hone_expr *e = resolve(walk, index);
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

static void record_access(region_walk *walk, touches *list, hone_buffer buffer,
                          const hone_expr *const *indices) {
    uint32_t rank = hone_func_buffer(walk->func, buffer)->rank;
    hone_interval *dims = hone_arena_alloc(arena_of(walk), (rank + 1) * sizeof *dims);
    if (!dims) {
        walk->is_out_of_memory = true;
        return;
    }
    for (uint32_t d = 0; d < rank; d++)
        dims[d] = relax_index(walk, indices[d]);
    record(walk, list, buffer, dims);
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
static void record_handle(region_walk *walk, hone_buffer buffer) {
    if (is_told(walk, buffer, false) || is_told(walk, buffer, true)) return;
    record(walk, &walk->reads, buffer, NULL);
    record(walk, &walk->writes, buffer, NULL);
}

/* Likewise through a pointer that says what it is for. */
static void record_opaque(region_walk *walk, hone_buffer buffer, bool reads, bool writes) {
    if (reads && !is_told(walk, buffer, false)) record(walk, &walk->reads, buffer, NULL);
    if (writes && !is_told(walk, buffer, true)) record(walk, &walk->writes, buffer, NULL);
}

static hone_buffer buffer_of_data(const region_walk *walk, hone_var var) {
    hone_buffer found = HONE_NO_ID;
    for (uint32_t b = 0; b < walk->func->buffer_count; b++) {
        if (walk->func->buffers[b].data != var) continue;
        if (find_match(walk, b)) return b;
        if (walk->func->buffers[b].alias_of == HONE_NO_ID) return b;
        if (found == HONE_NO_ID) found = b;
    }
    return found;
}

/* ---- expressions ---- */

static void walk_args(region_walk *walk, const hone_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        walk_expr(walk, e->args[i]);
}

/* tvm_access_ptr(type, data, offset, extent, mask): bit 0 of mask = read, bit 1 = written. */
static bool walk_access_ptr(region_walk *walk, const hone_expr *e) {
    if (e->count != 5 || e->args[1]->kind != HONE_EXPR_VAR) return false;
    hone_buffer buffer = buffer_of_data(walk, e->args[1]->u.var);
    if (buffer == HONE_NO_ID) return false;
    int64_t mask = e->args[4]->kind == HONE_EXPR_INT ? e->args[4]->u.i : 3;
    record_opaque(walk, buffer, mask & 1, mask & 2);
    walk_expr(walk, e->args[2]);
    walk_expr(walk, e->args[3]);
    return true;
}

/* A branch under a condition (or its negation, when it is one comparison). */
static const hone_expr *negation(region_walk *walk, const hone_expr *cond) {
    hone_ir *ir = &walk->arith.ir;
    if (cond->kind == HONE_EXPR_NOT) return cond->args[0];
    if (hone_expr_is_op(cond, HONE_OP_OR)) {
        const hone_expr *a = negation(walk, cond->args[0]), *b = negation(walk, cond->args[1]);
        return a && b ? hone_expr_binary(ir, HONE_OP_AND, a, b) : NULL;
    }
    if (cond->kind != HONE_EXPR_BINARY) return NULL;
    switch ((hone_op)cond->op) {
    case HONE_OP_LT:
        return hone_expr_binary(ir, HONE_OP_GE, cond->args[0], cond->args[1]);
    case HONE_OP_LE:
        return hone_expr_binary(ir, HONE_OP_GT, cond->args[0], cond->args[1]);
    case HONE_OP_GT:
        return hone_expr_binary(ir, HONE_OP_LE, cond->args[0], cond->args[1]);
    case HONE_OP_GE:
        return hone_expr_binary(ir, HONE_OP_LT, cond->args[0], cond->args[1]);
    case HONE_OP_NE:
        return hone_expr_binary(ir, HONE_OP_EQ, cond->args[0], cond->args[1]);
    default:
        return NULL;
    }
}

/* Conditions tighten what relaxing gives and do not simplify a point: an access at v - 2 under
 * v == 2 stays at v - 2. Returns what pop_condition wants. */
static uint32_t push_condition(region_walk *walk, const hone_expr *cond) {
    uint32_t mark = walk->facts.count;
    cond = cond ? resolve(walk, cond) : NULL;
    if (cond && !region_facts_add(&walk->facts, &walk->arith, cond)) walk->is_out_of_memory = true;
    return mark;
}

static void pop_condition(region_walk *walk, uint32_t mark) {
    walk->facts.count = mark;
}

static void walk_expr(region_walk *walk, const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD) {
        record_access(walk, &walk->reads, e->u.buffer, e->args);
    } else if (e->kind == HONE_EXPR_VAR) {
        hone_buffer buffer =
            hone_dtype_is_handle(e->dtype) ? buffer_of_data(walk, e->u.var) : HONE_NO_ID;
        if (buffer != HONE_NO_ID) record_handle(walk, buffer);
    } else if (e->kind == HONE_EXPR_LET) {
        walk_expr(walk, e->args[0]);
        set_value(walk, e->u.var, resolve(walk, e->args[0]));
        walk->has_values = true;
        walk_expr(walk, e->args[1]);
        return;
    } else if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        walk_expr(walk, e->args[0]);
        uint32_t mark = push_condition(walk, e->args[0]);
        walk_expr(walk, e->args[1]);
        pop_condition(walk, mark);
        mark = push_condition(walk, negation(walk, e->args[0]));
        walk_expr(walk, e->args[2]);
        pop_condition(walk, mark);
        return;
    } else if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) && e->args[0]->kind == HONE_EXPR_LOAD) {
        record_handle(walk, e->args[0]->u.buffer);
        walk_args(walk, e->args[0]);
        return;
    } else if (hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && walk_access_ptr(walk, e)) {
        return;
    }
    walk_args(walk, e);
}

/* ---- statements ---- */

static void walk_children(region_walk *walk, hone_node_id parent);

/* The loop's variable runs from now on. A range that depends on other running variables is bound to
 * its hull and its ends become facts, so that A[i - j] with j <= i stays exact. */
static void bind_loop(region_walk *walk, hone_var var, const hone_range *written) {
    hone_arith *arith = &walk->arith;
    hone_ir *ir = &arith->ir;
    uint32_t count = walk->func->var_count;
    hone_range range = {resolve(walk, written->min), resolve(walk, written->extent)};
    if (!range.min || !range.extent) return;
    if (!note(walk, var)) return;
    bool depends = hone_expr_uses_any(range.min, walk->relax, count) ||
                   hone_expr_uses_any(range.extent, walk->relax, count);
    if (!depends) {
        if (!hone_arith_bind(arith, var, range)) walk->is_out_of_memory = true;
        walk->relax[var] = true;
        return;
    }
    bool is_exact;
    const hone_expr *last = last_of(walk, &range);
    if (!last) return;
    hone_interval hull =
        region_relax_span(arith, &walk->facts, range.min, last, walk->relax, count, &is_exact);
    hone_range outer;
    if (hone_interval_range(arith, hull, range.min->dtype, &outer) &&
        !hone_arith_bind(arith, var, outer)) {
        walk->is_out_of_memory = true;
    }
    walk->relax[var] = true;
    const hone_expr *v = hone_expr_var(ir, walk->func->vars[var].dtype, var);
    const hone_expr *inside =
        hone_expr_binary(ir, HONE_OP_AND, hone_expr_binary(ir, HONE_OP_GE, v, range.min),
                         hone_expr_binary(ir, HONE_OP_LE, v, last));
    if (inside && !region_facts_add(&walk->facts, arith, inside)) walk->is_out_of_memory = true;
}

static void walk_loop(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    walk_expr(walk, node->u.loop.range.min);
    walk_expr(walk, node->u.loop.range.extent);
    uint32_t mark = walk->facts.count;
    bind_loop(walk, node->u.loop.var, &node->u.loop.range);
    walk_children(walk, id);
    walk->facts.count = mark;
    walk->relax[node->u.loop.var] = false;
}

/* The values of axes are among those of the walk. */
static void record_declared(region_walk *walk, touches *list, const hone_region *region) {
    hone_ir *ir = &walk->arith.ir;
    uint32_t rank = hone_func_buffer(walk->func, region->buffer)->rank;
    uint32_t count = walk->func->var_count;
    hone_interval *dims = hone_arena_alloc(ir->arena, (rank + 1) * sizeof *dims);
    if (!dims) {
        walk->is_out_of_memory = true;
        return;
    }
    for (uint32_t d = 0; d < rank; d++) {
        bool is_exact;
        hone_range range = {
            hone_expr_substitute(ir, region->ranges[d].min, walk->values, count),
            hone_expr_substitute(ir, region->ranges[d].extent, walk->values, count)};
        const hone_expr *last = range.min;
        if (!range.min || !range.extent) return;
        if (!hone_expr_is_int_value(range.extent, 1)) last = last_of(walk, &range);
        if (!last) return;
        dims[d] = region_relax_span(&walk->arith, &walk->facts, range.min, last, walk->relax, count,
                                    &is_exact);
    }
    record(walk, list, region->buffer, dims);
}

/* A nested block counts as what it declares. */
static void walk_block(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        walk_expr(walk, node->u.block.bindings[i]);
        set_value(walk, block->axes[i].var, resolve(walk, node->u.block.bindings[i]));
    }
    if (node->u.block.predicate) walk_expr(walk, node->u.block.predicate);
    uint32_t mark = push_condition(walk, node->u.block.predicate);
    for (uint32_t i = 0; i < block->read_count; i++) {
        record_declared(walk, &walk->reads, &block->reads[i]);
    }
    for (uint32_t i = 0; i < block->write_count; i++) {
        record_declared(walk, &walk->writes, &block->writes[i]);
    }
    pop_condition(walk, mark);
}

static void walk_node(region_walk *walk, hone_node_id id);

static void walk_if(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    const hone_expr *condition = node->u.eval.value;
    walk_expr(walk, condition);
    uint32_t mark = push_condition(walk, condition);
    hone_node_id child = node->first;
    while (child != HONE_NO_ID && hone_func_node(walk->func, child)->kind != HONE_NODE_ELSE) {
        walk_node(walk, child);
        child = hone_func_node(walk->func, child)->next;
    }
    pop_condition(walk, mark);
    if (child == HONE_NO_ID) return;
    mark = push_condition(walk, negation(walk, condition));
    walk_children(walk, child);
    pop_condition(walk, mark);
}

static void walk_node(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        walk_loop(walk, id);
        return;
    case HONE_NODE_BLOCK:
        walk_block(walk, id);
        return;
    case HONE_NODE_IF:
        walk_if(walk, id);
        return;
    case HONE_NODE_STORE:
        record_access(walk, &walk->writes, node->u.store.buffer, node->u.store.indices);
        walk_expr(walk, node->u.store.value);
        for (uint32_t i = 0; i < node->u.store.rank; i++)
            walk_expr(walk, node->u.store.indices[i]);
        return;
    case HONE_NODE_LET:
        walk_expr(walk, node->u.let.value);
        set_value(walk, node->u.let.var, resolve(walk, node->u.let.value));
        walk->has_values = true;
        break;
    case HONE_NODE_ATTR:
        if (node->u.attr.value) walk_expr(walk, node->u.attr.value);
        break;
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        walk_expr(walk, node->u.eval.value);
        break;
    default:
        break;
    }
    walk_children(walk, id);
}

static void walk_children(region_walk *walk, hone_node_id parent) {
    hone_node_id child = hone_func_node(walk->func, parent)->first;
    for (; child != HONE_NO_ID; child = hone_func_node(walk->func, child)->next) {
        walk_node(walk, child);
    }
}

/* ---- one block ---- */

/* Storage that is made below the block does not show outside of it; false: another one does not
 * look into it. */
static void mark_locals(region_walk *walk, hone_node_id root, bool is_local) {
    walk->has_locals = false;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(walk->func, root, n)) {
        const hone_node *node = hone_func_node(walk->func, n);
        if (node->kind == HONE_NODE_BLOCK) {
            const hone_block *block = node->u.block.block;
            for (uint32_t i = 0; i < block->alloc_count; i++)
                walk->has_locals = walk->is_local[block->allocs[i]] = is_local;
        } else if (node->kind == HONE_NODE_ALLOC ||
                   (node->kind == HONE_NODE_DECL &&
                    hone_func_buffer(walk->func, node->u.alloc.buffer)->alias_of == HONE_NO_ID)) {
            walk->has_locals = walk->is_local[node->u.alloc.buffer] = is_local;
        }
    }
}

/* A variable of one value keeps its name in regions, as in TVM: A[vi, vk], not A[0, vk]. */
static bool bind_unless_unit(region_walk *walk, hone_var var, hone_range range) {
    if (hone_expr_is_int_value(range.extent, 1)) return true;
    return note(walk, var) && hone_arith_bind(&walk->arith, var, range);
}

/* What is known of the variables outside: the loops around, the axes of enclosing blocks. */
static bool bind_outside(region_walk *walk, hone_node_id block) {
    for (hone_node_id n = block; n != HONE_NO_ID; n = hone_func_node(walk->func, n)->parent) {
        const hone_node *node = hone_func_node(walk->func, n);
        if (node->kind == HONE_NODE_FOR) {
            if (!bind_unless_unit(walk, node->u.loop.var, node->u.loop.range)) return false;
        } else if (node->kind == HONE_NODE_BLOCK) {
            const hone_block *b = node->u.block.block;
            for (uint32_t i = 0; i < b->axis_count; i++) {
                if (!bind_unless_unit(walk, b->axes[i].var, b->axes[i].dom)) return false;
            }
        }
    }
    return true;
}

/* What holds for all blocks of the function. */
static bool walk_init(region_walk *walk, const hone_func *func, hone_arena *arena) {
    *walk = (region_walk){.func = func};
    hone_arith_init(&walk->arith, arena);
    walk->relax = hone_arena_zalloc(arena, (func->var_count + 1) * sizeof *walk->relax);
    walk->values = hone_arena_zalloc(arena, (func->var_count + 1) * sizeof *walk->values);
    walk->is_local = hone_arena_zalloc(arena, (func->buffer_count + 1) * sizeof *walk->is_local);
    if (!walk->relax || !walk->values || !walk->is_local) return false;
    return hone_arith_bind_sizes(&walk->arith, func);
}

static bool lies_within(region_walk *walk, const hone_interval *inner, const hone_interval *outer) {
    if (!outer->min || !outer->max) return true; /* the whole dimension */
    if (!inner->min || !inner->max) return false;
    bool is_same = hone_expr_same(inner->min, outer->min) && hone_expr_same(inner->max, outer->max);
    return is_same || hone_prove_contains(&walk->arith, *outer, *inner);
}

/* All that is read of the buffer is written too. */
static bool is_written(region_walk *walk, const touch *read) {
    for (uint32_t i = 0; i < walk->writes.count; i++) {
        const touch *written = &walk->writes.items[i];
        if (written->buffer != read->buffer) continue;
        uint32_t d = 0, rank = hone_func_buffer(walk->func, read->buffer)->rank;
        while (d < rank && lies_within(walk, &read->dims[d], &written->dims[d]))
            d++;
        return d == rank;
    }
    return false;
}

/* What conditions rule out altogether is empty, and no less than that. */
static void keep_from_below_zero(region_walk *walk, hone_range *io) {
    if (!hone_expr_is_int(io->extent) || io->extent->u.i >= 0) return;
    const hone_expr *zero = hone_expr_int(&walk->arith.ir, io->extent->dtype, 0);
    if (zero) io->extent = zero;
}

static bool stays_as_written(const hone_interval *dim) {
    bool is_clipped =
        hone_expr_is_op(dim->min, HONE_OP_MIN) || hone_expr_is_op(dim->min, HONE_OP_MAX);
    return hone_expr_is_op(dim->min, HONE_OP_FLOORDIV) || (is_clipped && dim->min == dim->max);
}

static const hone_region *finish_regions(region_walk *walk, const touches *list,
                                         bool without_written, uint32_t *out_count) {
    hone_arena *arena = arena_of(walk);
    hone_region *regions = hone_arena_alloc(arena, (list->count + 1) * sizeof *regions);
    *out_count = 0;
    if (!regions) return NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        const touch *t = &list->items[i];
        const hone_buffer_info *buffer = hone_func_buffer(walk->func, t->buffer);
        if (without_written && is_written(walk, t)) continue;
        hone_range *ranges = hone_arena_alloc(arena, (buffer->rank + 1) * sizeof *ranges);
        if (!ranges) return NULL;
        for (uint32_t d = 0; d < buffer->rank; d++) {
            hone_dtype dtype = t->dims[d].min ? t->dims[d].min->dtype : buffer->shape[d]->dtype;
            if (t->dims[d].min && t->dims[d].max &&
                hone_interval_range(&walk->arith, t->dims[d], dtype, &ranges[d])) {
                keep_from_below_zero(walk, &ranges[d]);
                if (stays_as_written(&t->dims[d]))
                    ranges[d].min = region_fixed(&walk->arith, t->dims[d].min);
                continue;
            }
            ranges[d] = (hone_range){hone_expr_int(&walk->arith.ir, buffer->shape[d]->dtype, 0),
                                     buffer->shape[d]};
        }
        regions[(*out_count)++] = (hone_region){.buffer = t->buffer, .ranges = ranges};
    }
    return regions;
}

static hone_status no_memory(region_walk *walk, const char *of) {
    HONE_TRY(hone_ir_finish(&walk->arith.ir));
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "regions of '%s'", of);
}

static bool infer_both(region_walk *walk, hone_node_id id, hone_block *out) {
    bool has_init = hone_block_init_of(walk->func, id) != HONE_NO_ID;
    if (!bind_outside(walk, id)) return false;
    walk_children(walk, id);
    out->reads = finish_regions(walk, &walk->reads, has_init, &out->read_count);
    out->writes = finish_regions(walk, &walk->writes, false, &out->write_count);
    return !walk->is_out_of_memory && out->reads && out->writes;
}

static hone_status infer(region_walk *walk, hone_node_id id, hone_block *out) {
    assert(hone_func_node(walk->func, id)->kind == HONE_NODE_BLOCK);
    walk->block = hone_func_node(walk->func, id)->u.block.block;
    walk->reads.count = walk->writes.count = 0;
    mark_locals(walk, id, true);
    bool is_done = infer_both(walk, id, out);
    mark_locals(walk, id, false);
    forget_noted(walk);
    return is_done ? hone_ir_finish(&walk->arith.ir) : no_memory(walk, walk->block->name);
}

static hone_status infer_one(const hone_func *func, hone_node_id block, bool believes,
                             hone_arena *arena, hone_block *out) {
    region_walk walk;
    assert(func && arena && out);
    if (!walk_init(&walk, func, arena)) return no_memory(&walk, func->name);
    walk.believes = believes;
    return infer(&walk, block, out);
}

hone_status hone_block_infer_regions(const hone_func *func, hone_node_id block, hone_arena *arena,
                                     hone_block *out) {
    return infer_one(func, block, false, arena, out);
}

hone_status hone_block_shown_regions(const hone_func *func, hone_node_id block, hone_arena *arena,
                                     hone_block *out) {
    return infer_one(func, block, true, arena, out);
}

hone_status hone_region_inference_begin(const hone_func *func, hone_arena *arena,
                                        hone_region_inference **out) {
    assert(func && arena && out);
    *out = hone_arena_alloc(arena, sizeof **out);
    if (!*out) return HONE_ERROR(HONE_CODE_NO_MEMORY, "regions of '%s'", func->name);
    return walk_init(&(*out)->walk, func, arena) ? HONE_OK : no_memory(&(*out)->walk, func->name);
}

hone_status hone_region_inference_next(hone_region_inference *inference, hone_node_id block,
                                       hone_block *out) {
    return infer(&inference->walk, block, out);
}
