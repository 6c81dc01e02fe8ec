/* lower/vectors/lower_prefetch.c - the pass that makes prefetches.
 * needs: flat buffers, vectors where they will be. keeps: what is computed. A loop that says
 * pragma_prefetch = N asks for what its loads read N iterations later:
 *
 *   for k in N: ... P[k * 32:k * 32 + 32] ...
 *     ⇒ for k in N: prefetch(P[(k + 16) * 32]); prefetch(P[(k + 16) * 32 + 16]); ...
 *
 * as far as they go on by a cache line or more with each iteration: panels that stream from memory.
 * What lies in a line with the iteration before is there already. Places beyond the end of the loop
 * are asked for too, since panels lie one behind the other; beyond the end of the buffer they are
 * no more than a wish that is not fulfilled. A buffer of which all lies within the N iterations is
 * left out: every wish would be such a one.
 *
 * pragma_prefetch_stores = N asks in the same way for what is written N iterations later; with 0,
 * at the end of this one: outputs of a tile come while its sums are made. */
#include "ir/core/fold.h"
#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"
#include "support/core/attributes.h"

enum { MAX_LINES = 64, MAX_ITERATIONS = 4096 };

/* A line that is asked for: so many lines behind the first place found in that buffer. */
typedef struct line {
    hone_buffer buffer;
    const hone_expr *first; /* index */
    int64_t number;
} line;

typedef struct prefetcher {
    lower_scope scope; /* of one iteration */
    hone_node_id loop;
    hone_var var;
    int64_t ahead;   /* iterations */
    bool is_written; /* stores are looked at, not loads */
    uint32_t line_count;
    line lines[MAX_LINES];
} prefetcher;

static int64_t elements_of_line(const prefetcher *p, hone_buffer buffer) {
    int64_t bytes = (int64_t)hone_dtype_bytes(p->scope.lower->func->buffers[buffer].dtype);
    int64_t line_bytes = p->scope.lower->options->target->cache_line_bytes;
    if (line_bytes <= 0) line_bytes = 64;
    return bytes > 0 && bytes < line_bytes ? line_bytes / bytes : 1;
}

/* Notes the line of an element; those that are known are not asked for twice. */
static void note_line(prefetcher *p, hone_buffer buffer, const hone_expr *index, int64_t behind) {
    line new_line = {buffer, index, behind};
    for (uint32_t i = 0; i < p->line_count; i++) {
        const line *known = &p->lines[i];
        hone_linear distance;
        if (known->buffer != buffer) continue;
        const hone_expr *gap = hone_expr_sub(&p->scope.arith.ir, index, known->first);
        if (!gap || !hone_linear_of(&p->scope.arith, gap, &distance) || distance.count > 0)
            continue;
        new_line.first = known->first;
        new_line.number = behind + hone_floor_div(distance.constant, elements_of_line(p, buffer));
        if (new_line.number == known->number) return;
    }
    if (p->line_count < MAX_LINES) p->lines[p->line_count++] = new_line;
}

/* Whether `ahead` steps of so many elements lead out of the buffer, from wherever they begin. */
static bool is_passed(const prefetcher *p, hone_buffer buffer, int64_t step) {
    int64_t elements = hone_buffer_elements(&p->scope.lower->func->buffers[buffer]);
    return elements >= 0 && p->ahead > 0 && step >= (elements + p->ahead - 1) / p->ahead;
}

static void note_access(prefetcher *p, hone_buffer buffer, const hone_expr *index) {
    int64_t lanes = 1, stride, line_elements = elements_of_line(p, buffer);
    if (index->kind == HONE_EXPR_RAMP) {
        if (!hone_expr_is_int_value(index->args[1], 1)) return;
        lanes = index->dtype.lanes;
        index = index->args[0];
    }
    if (index->dtype.lanes != 1 || !hone_expr_is_pure_index(index)) return;
    if (!hone_linear_coeff(&p->scope.arith, index, p->var, &stride)) return;
    int64_t step = stride < 0 ? -stride : stride;
    if (step < line_elements || is_passed(p, buffer, step)) return;
    bool is_inner = lower_varies_below(&p->scope, index);
    for (int64_t i = 0; i < lanes && !is_inner; i += line_elements)
        note_line(p, buffer, index, i / line_elements);
}

static bool visit(void *ctx, const hone_expr *e) {
    if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF)) return false;
    if (e->kind == HONE_EXPR_LOAD && e->count == 1) note_access(ctx, e->u.buffer, e->args[0]);
    return true;
}

static void note_stores(prefetcher *p) {
    const hone_func *func = p->scope.lower->func;
    for (hone_node_id n = p->loop; n != HONE_NO_ID; n = hone_tree_next(func, p->loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.rank != 1) continue;
        note_access(p, node->u.store.buffer, node->u.store.indices[0]);
    }
}

/* prefetch(address_of(buffer[index, `ahead` iterations on]), is_written, 3, 1) */
static const hone_expr *prefetch_of(prefetcher *p, const line *l) {
    hone_func *func = p->scope.lower->func;
    hone_ir *ir = &p->scope.lower->ir;
    const hone_expr *var = hone_func_var_expr(ir, func, p->var);
    const hone_expr *later =
        var ? hone_expr_add(ir, var, hone_expr_int(ir, var->dtype, p->ahead)) : NULL;
    const hone_expr *index = later ? hone_expr_substitute_one(ir, l->first, p->var, later) : NULL;
    if (!index) return NULL;
    int64_t behind = l->number * elements_of_line(p, l->buffer);
    index = hone_expr_add(ir, index, hone_expr_int(ir, index->dtype, behind));
    if (!index) return NULL;
    index = hone_simplify(&p->scope.arith, index);
    hone_dtype element = hone_dtype_element(func->buffers[l->buffer].dtype);
    const hone_expr *load = hone_expr_load(ir, element, l->buffer, 1, &index);
    const hone_expr *args[] = {
        hone_expr_call(ir, HONE_DTYPE_HANDLE, HONE_INTRIN_ADDRESS_OF, 1, &load),
        hone_expr_i32(ir, p->is_written), hone_expr_i32(ir, 3), hone_expr_i32(ir, 1)};
    return hone_expr_call(ir, HONE_DTYPE_I32, HONE_INTRIN_PREFETCH, HONE_COUNT(args), args);
}

/* In front of the body. */
static hone_status add_lines(prefetcher *p) {
    hone_func *func = p->scope.lower->func;
    hone_node_id first = hone_func_node(func, p->loop)->first;
    for (uint32_t i = 0; i < p->line_count; i++) {
        const hone_expr *prefetch = prefetch_of(p, &p->lines[i]);
        if (!prefetch) return hone_ir_finish(&p->scope.lower->ir);
        hone_node_id eval = hone_func_add_node(func, HONE_NODE_EVAL);
        if (eval == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_func_node(func, eval)->u.eval.value = prefetch;
        hone_tree_insert_before(func, first, eval);
    }
    return HONE_OK;
}

static hone_status visit_loop(prefetcher *p, hone_node_id loop, int64_t ahead) {
    hone_func *func = p->scope.lower->func;
    p->loop = loop;
    p->var = hone_func_node(func, loop)->u.loop.var;
    p->ahead = ahead < MAX_ITERATIONS ? ahead : MAX_ITERATIONS;
    p->line_count = 0;
    HONE_TRY(lower_enter(&p->scope, loop, p->var));
    if (p->is_written)
        note_stores(p);
    else
        hone_tree_walk_parts(func, loop, false, visit, p);
    HONE_TRY(hone_ir_finish(&p->scope.arith.ir));
    return add_lines(p);
}

hone_status lower_prefetch(hone_lower *lower) {
    hone_func *func = lower->func;
    prefetcher p = {.scope.lower = lower};
    hone_arith_init(&p.scope.arith, func->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR || node->first == HONE_NO_ID) continue;
        const hone_attrs *wishes = &node->u.loop.annotations;
        int64_t loads = hone_attrs_int(wishes, "pragma_prefetch", 0);
        int64_t stores = hone_attrs_int(wishes, "pragma_prefetch_stores", -1);
        p.is_written = false;
        if (loads > 0) HONE_TRY(visit_loop(&p, n, loads));
        p.is_written = true;
        if (stores >= 0) HONE_TRY(visit_loop(&p, n, stores));
    }
    return hone_ir_finish(&p.scope.arith.ir);
}
