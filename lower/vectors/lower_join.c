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
#include <string.h>

#include "ir/core/fold.h"
#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"
#include "lower/vectors/lane_nest.h"
#include "lower/vectors/vector_cut.h"

enum { MAX_VECTORS = 16, LEAST_VECTORS = 2, MAX_LOADS = 16 };

typedef struct join {
    hone_lower *lower;
    hone_arith arith;
    lower_nest nest;
    hone_node_id store;
    const hone_expr *numbers[1 + MAX_LOADS]; /* of the element that is stored, and of loads */
    uint32_t access_count;
    bool is_refused;
} join;

/* ---- what the statement touches ---- */

static bool is_own_memory(const hone_func *func, hone_node_id at, hone_buffer buffer) {
    hone_buffer storage = hone_func_storage(func, buffer);
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
    j->is_refused |= !lower_is_lane_part(e);
    if (e->kind != HONE_EXPR_LOAD || j->is_refused) return !j->is_refused;
    j->is_refused = lower_sees_store(func, store, e) && !lower_is_stored_element(store, e);
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
static bool strides_of(join *j, hone_node_id loop, int64_t strides[1 + MAX_LOADS]) {
    hone_var var = hone_func_node(j->lower->func, loop)->u.loop.var;
    for (uint32_t a = 0; a < j->access_count; a++) {
        if (!hone_linear_coeff(&j->arith, j->numbers[a], var, &strides[a])) return false;
    }
    return true;
}

/* Steps of the vectorized loop go to neighbours, those of the loop around it on to what is next:
 * elements of few vectors at most, or the same again. */
static bool goes_on(const join *j, const int64_t *inner, const int64_t *outer) {
    int64_t extent = j->nest.extents[j->nest.depth - 1];
    bool is_first = j->nest.depth == 1;
    for (uint32_t a = 0; a < j->access_count; a++) {
        if (is_first && (inner[a] < -1 || inner[a] > 1)) return false;
        bool is_close = is_first && a > 0 && outer[a] >= 0 && outer[a] <= extent;
        if (!is_close && outer[a] != extent * inner[a]) return false;
    }
    return inner[0] != 0;
}

/* The vectorized loop, and those around it that can be one with it. */
static bool find_loops(join *j, hone_node_id vector) {
    const hone_func *func = j->lower->func;
    int64_t inner[1 + MAX_LOADS], outer[1 + MAX_LOADS];
    j->store = hone_func_node(func, vector)->first;
    if (hone_func_node(func, j->store)->kind != HONE_NODE_STORE || !note_accesses(j) ||
        !strides_of(j, vector, inner) || inner[0] != 1) {
        return false;
    }
    for (hone_node_id up; (up = lower_nest_around(&j->nest)) != HONE_NO_ID;) {
        if (!strides_of(j, up, outer) || !goes_on(j, inner, outer)) break;
        if (!lower_nest_grow(&j->nest, up)) return false;
        memcpy(inner, outer, j->access_count * sizeof *inner);
    }
    return j->nest.depth > 1;
}

/* Lanes of the new loop: until places meet the same lanes again; 0 = they had better stay. */
static int64_t choose_lanes(const join *j) {
    int64_t extent = j->nest.extents[0], lanes = lower_vector_lanes(j->lower, j->nest.loops[0]);
    if (extent >= lanes) return 0;
    int64_t together = extent / hone_gcd(extent, lanes) * lanes;
    while (together < LEAST_VECTORS * lanes)
        together *= 2;
    int64_t parts = j->nest.count / together;
    bool is_worth = parts >= 2 && lower_nest_is_fed(&j->nest, parts);
    return is_worth && together <= MAX_VECTORS * lanes ? together : 0;
}

/* ---- */

/* Beyond the last element nothing is done. */
static hone_status guard(join *j, const hone_expr *number) {
    hone_ir *ir = &j->lower->ir;
    const hone_expr *count = hone_expr_int(ir, number->dtype, j->nest.count);
    const hone_expr *is_inside = hone_expr_binary(ir, HONE_OP_LT, number, count);
    return lower_wrap_if(j->lower, is_inside, j->store);
}

static hone_status apply(join *j, int64_t lanes) {
    hone_func *func = j->lower->func;
    hone_ir *ir = &j->lower->ir;
    const hone_var_info old = func->vars[j->nest.vars[0]];
    hone_var part = hone_func_add_var(func, "part", old.dtype);
    hone_var lane = hone_func_add_var(func, old.name, old.dtype);
    if (part == HONE_NO_ID || lane == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *number = hone_expr_add(
        ir,
        hone_expr_mul(ir, hone_func_var_expr(ir, func, part), hone_expr_int(ir, old.dtype, lanes)),
        hone_func_var_expr(ir, func, lane));
    const hone_expr **map = number ? lower_nest_digits(&j->nest, ir, number) : NULL;
    HONE_TRY(hone_ir_finish(ir));
    if (!map) return LOWER_NO_MEMORY();
    HONE_TRY(lower_substitute(func, j->nest.loops[0], map, func->var_count));
    int64_t parts = (j->nest.count + lanes - 1) / lanes;
    HONE_TRY(lower_nest_replace(&j->nest, part, parts, lane, lanes));
    return parts * lanes > j->nest.count ? guard(j, number) : HONE_OK;
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
        if (lower_is_vector(func, n) && lower_nest_begin(&j.nest, lower, n)) HONE_TRY(visit(&j, n));
    }
    return hone_ir_finish(&j.arith.ir);
}
