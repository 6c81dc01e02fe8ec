/* lower/vectors/lower_join.c - the pass that joins short vectors with the loops around them.
 * needs: no blocks, buffers with their dimensions. keeps: what is computed. A vectorized loop that
 * is shorter than a vector (channels of pixels, parts of complex numbers) becomes one with the
 * loops around it, where their iterations go straight on:
 *
 *   for i in 10000: for c in vectorized(3): Y[i, c] = X[i, c] * w[c]
 *     ⇒
 *   for f in 625: for l in vectorized(48):
 *       Y[(f * 48 + l) // 3, (f * 48 + l) % 3] = X[(f * 48 + l) // 3, (f * 48 + l) % 3] * …
 *
 * Vectors are as long as it takes until places meet the same lanes again: flatten makes one index
 * of the digits where they count elements, period a shuffle where they do not. One store, whose
 * buffer is read at the very element at most: no iteration sees another. Memory that an iteration
 * around has for itself is left alone: it may be in registers, which have rows. */
#include "ir/core/fold.h"
#include "lower/ground/accesses.h"
#include "lower/vectors/vector_cut.h"

enum { MAX_LOOPS = 4, MAX_VECTORS = 16, LEAST_VECTORS = 2, MAX_LOADS = 16 };

typedef struct join {
    hone_lower *lower;
    hone_arith arith;
    hone_node_id loops[MAX_LOOPS]; /* innermost first: the vectorized one */
    int64_t extents[MAX_LOOPS];
    uint32_t depth;
    int64_t count; /* of elements */
    hone_node_id store;
    const hone_expr *numbers[1 + MAX_LOADS]; /* of the element that is stored, and of loads */
    uint32_t access_count;
    bool is_refused;
} join;

static hone_var var_of(const join *j, uint32_t loop) {
    return hone_func_node(j->lower->func, j->loops[loop])->u.loop.var;
}

/* ---- what the statement touches ---- */

static bool is_own_memory(const hone_func *func, hone_node_id at, hone_buffer buffer) {
    hone_buffer storage = lower_storage_of(func, buffer);
    bool is_found = false;
    for (; at != HONE_NO_ID; at = hone_func_node(func, at)->parent) {
        const hone_node *node = hone_func_node(func, at);
        if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer == storage) is_found = true;
        if (is_found && node->kind == HONE_NODE_FOR) return true;
    }
    return false;
}

static void add_access(join *j, hone_buffer buffer, const hone_expr *const *indices) {
    const hone_expr *number = j->access_count <= MAX_LOADS
                                  ? lower_element_number(j->lower, &j->arith, buffer, indices)
                                  : NULL;
    j->is_refused |= !number || is_own_memory(j->lower->func, j->store, buffer);
    if (!j->is_refused) j->numbers[j->access_count++] = number;
}

static bool note_part(void *ctx, const hone_expr *e) {
    join *j = ctx;
    const hone_func *func = j->lower->func;
    const hone_node *store = hone_func_node(func, j->store);
    if (e->dtype.lanes != 1 || hone_dtype_is_handle(e->dtype) || e->kind == HONE_EXPR_LET ||
        lower_has_effects(e)) {
        j->is_refused = true;
    }
    if (e->kind != HONE_EXPR_LOAD || j->is_refused) return !j->is_refused;
    bool is_stored =
        lower_storage_of(func, e->u.buffer) == lower_storage_of(func, store->u.store.buffer);
    j->is_refused = is_stored && !lower_is_stored_element(store, e);
    add_access(j, e->u.buffer, e->args);
    return !j->is_refused;
}

static bool note_accesses(join *j) {
    const hone_node *store = hone_func_node(j->lower->func, j->store);
    j->access_count = 0;
    j->is_refused = false;
    add_access(j, store->u.store.buffer, store->u.store.indices);
    if (!j->is_refused) hone_expr_walk(store->u.store.value, note_part, j);
    return !j->is_refused;
}

/* ---- the loops ---- */

/* By how many elements each access moves in a step of the loop. */
static bool strides_of(join *j, uint32_t loop, int64_t strides[1 + MAX_LOADS]) {
    for (uint32_t a = 0; a < j->access_count; a++) {
        if (!hone_linear_coeff(&j->arith, j->numbers[a], var_of(j, loop), &strides[a]))
            return false;
    }
    return true;
}

/* Steps of the vectorized loop go to neighbours, those of the loop around it on to what is next:
 * elements of few vectors at most, or the same again. */
static bool goes_on(const join *j, const int64_t *inner, const int64_t *outer) {
    int64_t extent = j->extents[j->depth - 1];
    bool is_first = j->depth == 1;
    for (uint32_t a = 0; a < j->access_count; a++) {
        if (is_first && (inner[a] < -1 || inner[a] > 1)) return false;
        bool is_close = is_first && a > 0 && outer[a] >= 0 && outer[a] <= extent;
        if (!is_close && outer[a] != extent * inner[a]) return false;
    }
    return inner[0] != 0;
}

static bool add_loop(join *j, hone_node_id id) {
    j->loops[j->depth] = id;
    j->extents[j->depth] = hone_expr_const(hone_func_node(j->lower->func, id)->u.loop.range.extent);
    return !__builtin_mul_overflow(j->count, j->extents[j->depth++], &j->count);
}

static bool is_parallel(const join *j) {
    for (uint32_t l = 0; l < j->depth; l++) {
        if (hone_func_node(j->lower->func, j->loops[l])->loop_kind == HONE_LOOP_PARALLEL)
            return true;
    }
    return false;
}

/* The vectorized loop, and those around it that can be one with it. */
static bool find_loops(join *j, hone_node_id vector) {
    const hone_func *func = j->lower->func;
    int64_t inner[1 + MAX_LOADS], outer[1 + MAX_LOADS];
    j->store = hone_func_node(func, vector)->first;
    j->depth = 0;
    j->count = 1;
    if (!add_loop(j, vector) || hone_func_node(func, j->store)->kind != HONE_NODE_STORE ||
        !note_accesses(j) || !strides_of(j, 0, inner) || inner[0] != 1) {
        return false;
    }
    hone_dtype dtype = func->vars[var_of(j, 0)].dtype;
    while (j->depth < MAX_LOOPS) {
        hone_node_id up = hone_func_node(func, j->loops[j->depth - 1])->parent;
        if (!lower_is_plain_loop(func, up)) break;
        hone_loop_kind kind = hone_func_node(func, up)->loop_kind;
        hone_dtype own = func->vars[hone_func_node(func, up)->u.loop.var].dtype;
        if ((kind != HONE_LOOP_SERIAL && kind != HONE_LOOP_PARALLEL) ||
            !hone_dtype_equal(dtype, own)) {
            break;
        }
        j->loops[j->depth] = up;
        if (!strides_of(j, j->depth, outer) || !goes_on(j, inner, outer)) break;
        if (!add_loop(j, up)) return false;
        for (uint32_t a = 0; a < j->access_count; a++)
            inner[a] = outer[a];
    }
    return j->depth > 1;
}

/* Lanes of the new loop: until places meet the same lanes again; 0 = they had better stay. */
static int64_t choose_lanes(const join *j) {
    int64_t extent = j->extents[0], lanes = lower_vector_lanes(j->lower, j->loops[0]);
    if (extent >= lanes) return 0;
    int64_t together = extent / hone_gcd(extent, lanes) * lanes;
    while (together < LEAST_VECTORS * lanes)
        together *= 2;
    int64_t parts = j->count / together;
    int64_t least = is_parallel(j) ? 2 * (int64_t)j->lower->options->target->num_threads : 2;
    return together <= MAX_VECTORS * lanes && parts >= least ? together : 0;
}

/* ---- */

/* The loops' variables as digits of the element's number. */
static const hone_expr **digits_of(join *j, const hone_expr *number) {
    hone_func *func = j->lower->func;
    hone_ir *ir = &j->lower->ir;
    const hone_expr **map = hone_arena_zalloc(func->arena, func->var_count * sizeof *map);
    int64_t stride = 1;
    for (uint32_t l = 0; map && l < j->depth; l++) {
        const hone_expr *digit = number;
        if (l > 0) digit = hone_expr_floordiv(ir, digit, hone_expr_int(ir, number->dtype, stride));
        if (l + 1 < j->depth) {
            digit = hone_expr_floormod(ir, digit, hone_expr_int(ir, number->dtype, j->extents[l]));
        }
        map[var_of(j, l)] = digit;
        stride *= j->extents[l];
    }
    return map;
}

static hone_status apply(join *j, int64_t lanes) {
    hone_func *func = j->lower->func;
    hone_ir *ir = &j->lower->ir;
    hone_node_id vector = j->loops[0], top = j->loops[j->depth - 1];
    hone_loop_kind kind = is_parallel(j) ? HONE_LOOP_PARALLEL : HONE_LOOP_SERIAL;
    hone_dtype dtype = func->vars[var_of(j, 0)].dtype;
    hone_var part = hone_func_add_var(func, "part", dtype);
    hone_var lane = hone_func_add_var(func, func->vars[var_of(j, 0)].name, dtype);
    if (part == HONE_NO_ID || lane == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *number = hone_expr_add(
        ir, hone_expr_mul(ir, hone_func_var_expr(ir, func, part), hone_expr_int(ir, dtype, lanes)),
        hone_func_var_expr(ir, func, lane));
    const hone_expr **map = number ? digits_of(j, number) : NULL;
    HONE_TRY(hone_ir_finish(ir));
    if (!map) return LOWER_NO_MEMORY();
    HONE_TRY(lower_substitute(func, vector, map, func->var_count));
    for (uint32_t l = 1; l + 1 < j->depth; l++)
        lower_splice(func, j->loops[l]);
    int64_t parts = (j->count + lanes - 1) / lanes;
    const hone_expr *zero = hone_expr_int(ir, dtype, 0);
    hone_node *node = hone_func_node(func, top);
    node->loop_kind = kind;
    node->u.loop.var = part;
    node->u.loop.range = (hone_range){zero, hone_expr_int(ir, dtype, parts)};
    node = hone_func_node(func, vector);
    node->u.loop.var = lane;
    node->u.loop.range = (hone_range){zero, hone_expr_int(ir, dtype, lanes)};
    if (parts * lanes > j->count) {
        const hone_expr *count = hone_expr_int(ir, dtype, j->count);
        const hone_expr *is_inside = hone_expr_binary(ir, HONE_OP_LT, number, count);
        hone_node_id guard = is_inside ? lower_new_if(func, is_inside) : HONE_NO_ID;
        HONE_TRY(hone_ir_finish(ir));
        if (guard == HONE_NO_ID) return LOWER_NO_MEMORY();
        lower_wrap(func, j->store, guard);
    }
    return hone_ir_finish(ir);
}

static hone_status visit(join *j, hone_node_id vector) {
    HONE_TRY(lower_bind_around(j->lower->func, hone_func_node(j->lower->func, vector)->first,
                               &j->arith));
    int64_t lanes = find_loops(j, vector) ? choose_lanes(j) : 0;
    HONE_TRY(hone_ir_finish(&j->arith.ir));
    return lanes ? apply(j, lanes) : HONE_OK;
}

hone_status lower_join(hone_lower *lower) {
    hone_func *func = lower->func;
    join j = {.lower = lower};
    hone_arith_init(&j.arith, func->arena);
    if (!hone_arith_bind_sizes(&j.arith, func)) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_VECTORIZED &&
            lower_is_plain_loop(func, n)) {
            HONE_TRY(visit(&j, n));
        }
    }
    return hone_ir_finish(&j.arith.ir);
}
