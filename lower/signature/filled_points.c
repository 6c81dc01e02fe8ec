/* lower/signature/filled_points.c - runs the loops of a program over numbers, to see which elements
 * of a buffer are written, and whether one is read before.
 *
 * Only what touches the buffer is run, and what decides where it is touched: counters in small
 * private buffers (cells.h) are such. A loop that nothing of it depends on runs once: all its
 * iterations do the same. Under a condition that is not known stores count for nothing, unless both
 * its cases store there, and loads as if they happened. */

#include "ir/core/fold.h"
#include "ir/core/touches.h"
#include "lower/signature/cells.h"
#include "lower/signature/plain_form.h"
#include "support/core/alloc.h"

enum { MOST_ELEMENTS = 1 << 20, MOST_STEPS = 1 << 20 };

typedef struct runner {
    const hone_func *func;
    hone_buffer buffer;
    bool *touches;         /* by node: the buffer is touched in it */
    bool *moves;           /* by variable: something that matters depends on it */
    bool *is_known;        /* by variable */
    int64_t *values;       /* by variable */
    lower_cells *cells;    /* by buffer: those that decide what is touched are followed */
    hone_buffer *followed; /* these, in the order in which they were found */
    uint32_t followed_count;
    uint8_t *is_there; /* by element: written */
    int64_t element_count, there_count, step_count;
    int64_t *stored; /* elements that were written, the last one last */
    int64_t lane;    /* of a vector, while its elements are looked at */
    bool is_sure;    /* what is run happens */
    bool has_failed;
    hone_status status;
} runner;

/* ---- values ---- */

static bool value_of(const runner *r, const hone_expr *e, int64_t *out);

static bool value_of_choice(const runner *r, const hone_expr *e, int64_t *out) {
    int64_t condition;
    return value_of(r, e->args[0], &condition) && value_of(r, e->args[condition ? 1 : 2], out);
}

static bool value_of_pair(const runner *r, const hone_expr *e, int64_t *out) {
    int64_t a, b;
    return value_of(r, e->args[0], &a) && value_of(r, e->args[1], &b) &&
           hone_fold_operation(e, a, b, out);
}

static bool value_of_call(const runner *r, const hone_expr *e, int64_t *out) {
    int64_t a, b;
    if (e->op == HONE_INTRIN_LIKELY) return value_of(r, e->args[0], out);
    if (e->op == HONE_INTRIN_IF_THEN_ELSE && e->count == 3) return value_of_choice(r, e, out);
    return e->count == 2 && hone_dtype_is_integer(e->dtype) && value_of(r, e->args[0], &a) &&
           value_of(r, e->args[1], &b) && hone_fold_bits((hone_intrin)e->op, e->dtype, a, b, out);
}

/* The element's number in a buffer of constant shape. */
static bool element_at(const runner *r, hone_buffer buffer, const hone_expr *const *indices,
                       int64_t *out) {
    const hone_buffer_info *info = &r->func->buffers[buffer];
    *out = 0;
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t index, extent = info->shape[d]->u.i;
        if (!value_of(r, indices[d], &index) || index < 0 || index >= extent) return false;
        *out = *out * extent + index;
    }
    return true;
}

static bool value_of_load(const runner *r, const hone_expr *e, int64_t *out) {
    const lower_cells *cells = &r->cells[e->u.buffer];
    int64_t at;
    if (cells->count == 0 || e->dtype.lanes != 1) return false;
    if (!element_at(r, e->u.buffer, e->args, &at) || !cells->is_known[at]) return false;
    *out = cells->values[at];
    return true;
}

static bool value_of(const runner *r, const hone_expr *e, int64_t *out) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        *out = e->u.i;
        return true;
    case HONE_EXPR_VAR:
        *out = r->values[e->u.var];
        return r->is_known[e->u.var];
    case HONE_EXPR_CAST:
        return hone_dtype_is_integer(e->dtype) && hone_dtype_is_integer(e->args[0]->dtype) &&
               value_of(r, e->args[0], out) && hone_dtype_holds(e->dtype, *out);
    case HONE_EXPR_BINARY:
        return value_of_pair(r, e, out);
    case HONE_EXPR_NOT:
        if (!value_of(r, e->args[0], out)) return false;
        *out = !*out;
        return true;
    case HONE_EXPR_SELECT:
        return value_of_choice(r, e, out);
    case HONE_EXPR_BROADCAST:
        return value_of(r, e->args[0], out);
    case HONE_EXPR_RAMP: {
        int64_t base, stride;
        if (!value_of(r, e->args[0], &base) || !value_of(r, e->args[1], &stride)) return false;
        *out = base + r->lane * stride;
        return true;
    }
    case HONE_EXPR_CALL:
        return value_of_call(r, e, out);
    case HONE_EXPR_LOAD:
        return value_of_load(r, e, out);
    default:
        return false;
    }
}

/* ---- elements ---- */

static uint32_t lanes_of(uint32_t rank, const hone_expr *const *indices) {
    uint32_t lanes = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (hone_dtype_is_scalable(indices[d]->dtype)) return 0;
        if (indices[d]->dtype.lanes > lanes) lanes = indices[d]->dtype.lanes;
    }
    return lanes;
}

static void store(runner *r, const hone_expr *const *indices, uint32_t lanes) {
    for (r->lane = 0; r->is_sure && r->lane < lanes; r->lane++) {
        int64_t at;
        if (!element_at(r, r->buffer, indices, &at) || r->is_there[at]) continue;
        r->is_there[at] = 1;
        r->stored[r->there_count++] = at;
    }
}

static void load(runner *r, const hone_expr *e) {
    uint32_t lanes = lanes_of(e->count, e->args);
    bool is_there = r->there_count == r->element_count;
    for (r->lane = 0; !is_there && r->lane < lanes; r->lane++) {
        int64_t at;
        if (!element_at(r, r->buffer, e->args, &at) || !r->is_there[at]) break;
        is_there = r->lane + 1 == lanes;
    }
    r->has_failed |= !is_there;
}

static bool is_choice(const hone_expr *e) {
    return e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE);
}

/* A value that is not chosen does not count, whether it is read or not. */
static void load_all(runner *r, const hone_expr *e) {
    int64_t condition;
    if (is_choice(e) && e->args[0]->dtype.lanes == 1 && value_of(r, e->args[0], &condition)) {
        load_all(r, e->args[condition ? 1 : 2]);
        return;
    }
    for (uint16_t i = 0; i < e->count; i++)
        load_all(r, e->args[i]);
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == r->buffer) load(r, e);
}

/* ---- statements ---- */

static void run(runner *r, hone_node_id id);

static void run_children(runner *r, hone_node_id parent) {
    for (hone_node_id c = hone_func_node(r->func, parent)->first;
         c != HONE_NO_ID && !r->has_failed && !r->status; c = hone_func_node(r->func, c)->next) {
        if (hone_func_node(r->func, c)->kind != HONE_NODE_ELSE) run(r, c);
    }
}

/* Counters that are changed below a node. */
static void forget_below(runner *r, hone_node_id parent) {
    for (uint32_t i = 0; i < r->followed_count; i++) {
        hone_buffer buffer = r->followed[i];
        if (hone_stores_below(r->func, parent, buffer)) lower_cells_forget(&r->cells[buffer]);
    }
}

/* Where it is not known whether they happen, or how often. */
static void run_perhaps(runner *r, hone_node_id parent) {
    bool was_sure = r->is_sure;
    r->is_sure = false;
    forget_below(r, parent);
    run_children(r, parent);
    r->is_sure = was_sure;
}

static void run_loop(runner *r, hone_node_id id) {
    const hone_node *node = hone_func_node(r->func, id);
    const hone_range *range = &node->u.loop.range;
    hone_var var = node->u.loop.var;
    int64_t begin, count;
    load_all(r, range->min);
    load_all(r, range->extent);
    if (!value_of(r, range->min, &begin) || !value_of(r, range->extent, &count)) {
        r->is_known[var] = false;
        run_perhaps(r, id);
        return;
    }
    if (!r->moves[var] && count > 1) count = 1;
    for (int64_t i = 0; i < count && !r->has_failed; i++) {
        r->values[var] = begin + i;
        r->is_known[var] = true;
        run_children(r, id);
    }
}

static void run_while(runner *r, hone_node_id id) {
    const hone_expr *condition = hone_func_node(r->func, id)->u.eval.value;
    int64_t holds = 1;
    while (!r->has_failed && holds) {
        load_all(r, condition);
        r->has_failed |= r->step_count++ > MOST_STEPS;
        if (!value_of(r, condition, &holds)) {
            run_perhaps(r, id);
            return;
        }
        if (holds) run_children(r, id);
    }
}

/* Takes back what was written since there were `count`; these elements, owned, or NULL. */
static int64_t *take_back(runner *r, int64_t count) {
    size_t taken = (size_t)(r->there_count - count);
    int64_t *elements = hone_calloc(taken + 1, sizeof *elements);
    if (!elements) r->status = LOWER_NO_MEMORY();
    for (size_t i = 0; i < taken; i++) {
        int64_t at = r->stored[(size_t)count + i];
        r->is_there[at] = 0;
        if (elements) elements[i] = at;
    }
    r->there_count = count;
    return elements;
}

/* Keeps of what was written since there were `count` what is among these elements. */
static void keep_common(runner *r, int64_t count, const int64_t *elements, int64_t element_count) {
    enum { HERE = 1, THERE = 2 };
    int64_t end = r->there_count;
    for (int64_t i = 0; i < element_count; i++)
        r->is_there[elements[i]] |= THERE;
    r->there_count = count;
    for (int64_t i = count; i < end; i++) {
        int64_t at = r->stored[i];
        if (r->is_there[at] & THERE)
            r->stored[r->there_count++] = at;
        else
            r->is_there[at] = 0;
    }
    for (int64_t i = 0; i < element_count; i++)
        r->is_there[elements[i]] &= HERE;
}

/* One of two happens, it is not known which: what both write is written. */
static void run_either(runner *r, hone_node_id one, hone_node_id other) {
    int64_t before = r->there_count;
    forget_below(r, one);
    run_children(r, one);
    int64_t count = r->there_count - before;
    int64_t *elements = take_back(r, before);
    forget_below(r, one);
    run_children(r, other);
    forget_below(r, one);
    if (elements) keep_common(r, before, elements, count);
    hone_free(elements);
}

static void run_if(runner *r, hone_node_id id) {
    const hone_node *node = hone_func_node(r->func, id);
    hone_node_id other = node->last;
    bool has_else = other != HONE_NO_ID && hone_func_node(r->func, other)->kind == HONE_NODE_ELSE;
    int64_t holds;
    load_all(r, node->u.eval.value);
    bool is_known = value_of(r, node->u.eval.value, &holds);
    if (!is_known && has_else && r->is_sure) {
        run_either(r, id, other);
    } else if (!is_known) {
        run_perhaps(r, id);
        if (has_else) run_perhaps(r, other);
    } else if (holds) {
        run_children(r, id);
    } else if (has_else) {
        run_children(r, other);
    }
}

static void store_cell(runner *r, const hone_node *node) {
    lower_cells *cells = &r->cells[node->u.store.buffer];
    hone_dtype dtype = r->func->buffers[node->u.store.buffer].dtype;
    int64_t at, value;
    if (lanes_of(node->u.store.rank, node->u.store.indices) != 1 ||
        !element_at(r, node->u.store.buffer, node->u.store.indices, &at)) {
        lower_cells_forget(cells);
        return;
    }
    cells->is_known[at] = r->is_sure && value_of(r, node->u.store.value, &value) &&
                          hone_dtype_is_integer(node->u.store.value->dtype) &&
                          hone_dtype_holds(dtype, value);
    if (cells->is_known[at]) cells->values[at] = value;
}

static void run_store(runner *r, const hone_node *node) {
    const hone_expr *const *indices = node->u.store.indices;
    for (uint32_t d = 0; d < node->u.store.rank; d++)
        load_all(r, indices[d]);
    load_all(r, node->u.store.value);
    if (node->u.store.buffer == r->buffer) store(r, indices, lanes_of(node->u.store.rank, indices));
    if (r->cells[node->u.store.buffer].count > 0) store_cell(r, node);
}

static void run(runner *r, hone_node_id id) {
    const hone_node *node = hone_func_node(r->func, id);
    r->has_failed |= r->step_count++ > MOST_STEPS;
    if (!r->touches[id] || r->has_failed) return;
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        run_loop(r, id);
        return;
    case HONE_NODE_WHILE:
        run_while(r, id);
        return;
    case HONE_NODE_IF:
        run_if(r, id);
        return;
    case HONE_NODE_STORE:
        run_store(r, node);
        return;
    case HONE_NODE_LET: {
        hone_var var = node->u.let.var;
        load_all(r, node->u.let.value);
        r->is_known[var] = value_of(r, node->u.let.value, &r->values[var]);
        run_children(r, id);
        return;
    }
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        load_all(r, node->u.eval.value);
        run_children(r, id);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_ATTR:
        run_children(r, id);
        return;
    default: /* what leaves loops */
        r->has_failed = true;
        return;
    }
}

/* ---- entry ---- */

/* What a deciding expression depends on: variables, and elements of buffers that are followed from
 * now on. */
static bool mark_source(void *ctx, const hone_expr *e) {
    runner *r = ctx;
    if (e->kind == HONE_EXPR_VAR) r->moves[e->u.var] = true;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer == r->buffer || r->status) return true;
    lower_cells *cells = &r->cells[e->u.buffer];
    if (cells->count > 0) return true;
    r->status = lower_cells_of(r->func, e->u.buffer, cells);
    if (cells->count > 0) r->followed[r->followed_count++] = e->u.buffer;
    return true;
}

static bool mark_choice(void *ctx, const hone_expr *e) {
    runner *r = ctx;
    if (!hone_expr_loads(e, r->buffer)) return false;
    if (is_choice(e)) hone_expr_walk(e->args[0], mark_source, r);
    return true;
}

/* What decides where a node runs: conditions, ends of loops, numbers. */
static void mark_around(runner *r, hone_node_id n) {
    for (; n != HONE_NO_ID; n = hone_func_node(r->func, n)->parent) {
        const hone_node *node = hone_func_node(r->func, n);
        r->touches[n] = true;
        if (node->kind == HONE_NODE_IF || node->kind == HONE_NODE_WHILE)
            hone_expr_walk(node->u.eval.value, mark_source, r);
        if (node->kind == HONE_NODE_LET) hone_expr_walk(node->u.let.value, mark_source, r);
        if (node->kind != HONE_NODE_FOR) continue;
        hone_expr_walk(node->u.loop.range.min, mark_source, r);
        hone_expr_walk(node->u.loop.range.extent, mark_source, r);
    }
}

static void mark_access(runner *r, const lower_access *access, uint32_t rank) {
    for (uint32_t d = 0; d < rank; d++)
        hone_expr_walk(access->indices[d], mark_source, r);
    mark_around(r, access->node);
}

/* A counter changes with each iteration, whatever else does. */
static void mark_cell_store(runner *r, const lower_access *access, uint32_t rank) {
    if (!access->is_store) return;
    mark_access(r, access, rank);
    hone_expr_walk(hone_func_node(r->func, access->node)->u.store.value, mark_source, r);
    for (hone_node_id n = access->node; n != HONE_NO_ID; n = hone_func_node(r->func, n)->parent) {
        const hone_node *node = hone_func_node(r->func, n);
        if (node->kind == HONE_NODE_FOR) r->moves[node->u.loop.var] = true;
    }
}

/* What decides which elements are touched. */
static void mark_moves(runner *r, const lower_accesses *all) {
    for (uint32_t i = 0; i < all->count; i++)
        mark_access(r, &all->items[i], r->func->buffers[r->buffer].rank);
    hone_tree_walk_parts(r->func, HONE_NODE_TOP, false, mark_choice, r);
    for (uint32_t f = 0; f < r->followed_count; f++) { /* they grow on the way */
        const lower_accesses *cell = &r->cells[r->followed[f]].all;
        for (uint32_t i = 0; i < cell->count; i++)
            mark_cell_store(r, &cell->items[i], r->func->buffers[r->followed[f]].rank);
    }
}

static int64_t count_elements(const hone_buffer_info *buffer) {
    int64_t count = 1;
    for (uint32_t d = 0; d < buffer->rank; d++) {
        int64_t extent = hone_expr_const(buffer->shape[d]);
        if (extent < 1 || __builtin_mul_overflow(count, extent, &count)) return -1;
    }
    return count <= MOST_ELEMENTS ? count : -1;
}

hone_status lower_is_filled_by_points(const hone_func *func, hone_buffer buffer,
                                      const lower_accesses *all, bool *out_is_filled) {
    runner r = {.func = func, .buffer = buffer, .is_sure = true};
    *out_is_filled = false;
    r.element_count = count_elements(&func->buffers[buffer]);
    if (r.element_count < 0) return HONE_OK;
    size_t vars = (size_t)func->var_count + 1;
    r.touches = hone_calloc(func->node_count + 1, sizeof *r.touches);
    r.moves = hone_calloc(vars, sizeof *r.moves);
    r.is_known = hone_calloc(vars, sizeof *r.is_known);
    r.values = hone_calloc(vars, sizeof *r.values);
    r.is_there = hone_calloc((size_t)r.element_count, 1);
    r.stored = hone_calloc((size_t)r.element_count, sizeof *r.stored);
    r.cells = hone_calloc((size_t)func->buffer_count + 1, sizeof *r.cells);
    r.followed = hone_calloc((size_t)func->buffer_count + 1, sizeof *r.followed);
    bool has_memory = r.touches && r.moves && r.is_known && r.values && r.is_there && r.stored &&
                      r.cells && r.followed;
    if (has_memory) {
        mark_moves(&r, all);
        if (!r.status) run_children(&r, HONE_NODE_TOP);
        *out_is_filled = !r.status && !r.has_failed && r.there_count == r.element_count;
    }
    hone_free(r.touches);
    hone_free(r.moves);
    hone_free(r.is_known);
    hone_free(r.values);
    hone_free(r.is_there);
    hone_free(r.stored);
    hone_free(r.cells);
    hone_free(r.followed);
    return has_memory ? r.status : LOWER_NO_MEMORY();
}
