/* lower/vectors/lower_interleave.c - the pass that interleaves packed rows in registers.
 * needs: flat buffers, no blocks. keeps: what is computed. A few rows that are packed side by side,
 * an element of each in turn, are read as vectors and interleaved in registers:
 *
 *   for i in N: for j in vectorized(2): Y[a + 2 * i + j] = f(X[b + j * stride + i])
 *     ⇒ Y[a + 0:2 * N] = f(interleaved(X[b + 0:N], X[b + stride + 0:N]))
 *
 * of two or four rows, in chunks that fill a register, where f does nothing but cast. The last
 * chunk of rows that they do not divide begins within the one before, and stores some of that once
 * more. What is square is a matter for lower_transpose.c. */
#include "lower/ground/lanes.h"
#include "lower/ground/split_loop.h"
#include "lower/vectors/tile.h"

enum { MAX_LANES = 64, REGISTER_BITS = 512, MAX_UNROLLED = 8 };

static bool match(lower_tile *t, hone_node_id rows) {
    if (!lower_tile_match(t, rows) || t->branch != HONE_NO_ID) return false;
    int64_t n = t->row_count, m = t->lane_count;
    const hone_expr *value = hone_func_node(t->lower->func, t->store)->u.store.value;
    while (value->kind == HONE_EXPR_CAST)
        value = value->args[0];
    return (m == 2 || m == 4) && n > m && t->row_step == m && value == t->load;
}

/* a[0], b[0], a[1], b[1], … */
static const hone_expr *interleave(hone_ir *ir, const hone_expr *a, const hone_expr *b) {
    const hone_expr *args[2 + MAX_LANES] = {a, b};
    if (!a || !b) return NULL;
    uint16_t lanes = a->dtype.lanes;
    for (uint16_t i = 0; i < lanes; i++) {
        args[2 + 2 * i] = hone_expr_i32(ir, i);
        args[3 + 2 * i] = hone_expr_i32(ir, lanes + i);
    }
    return hone_expr_shuffle(ir, 2, (size_t)2 * lanes, args);
}

/* The casts around the load, of all lanes. */
static const hone_expr *cast_like(hone_ir *ir, const hone_expr *value, const hone_expr *rows) {
    if (value->kind != HONE_EXPR_CAST || !rows) return rows;
    rows = cast_like(ir, value->args[0], rows);
    if (!rows) return NULL;
    return hone_expr_cast(ir, hone_dtype_with_lanes(value->dtype, rows->dtype.lanes), rows);
}

/* Elements of a row that are read at a time: together they fill a register of 64 bytes. */
static int64_t chunk_of(const lower_tile *t) {
    const hone_func *func = t->lower->func;
    hone_buffer to = hone_func_node(func, t->store)->u.store.buffer;
    int64_t count = 2, bits = func->buffers[to].dtype.bits * t->lane_count;
    while (2 * count <= t->row_count && 2 * count * bits <= REGISTER_BITS)
        count *= 2;
    return count;
}

/* The outer loop stays, over chunks; its only statement is the store. */
static hone_status replace(const lower_tile *t) {
    hone_func *func = t->lower->func;
    hone_ir *ir = &t->lower->ir;
    hone_node *outer = hone_func_node(func, t->rows), *store = hone_func_node(func, t->store);
    const hone_node *inner = hone_func_node(func, t->lanes);
    const hone_expr *rows[4];
    const hone_expr *i = hone_func_var_expr(ir, func, outer->u.loop.var);
    if (!i) return LOWER_NO_MEMORY();
    int64_t count = chunk_of(t), chunks = (t->row_count + count - 1) / count;
    i = hone_expr_mul(ir, i, hone_expr_int(ir, i->dtype, count));
    if (i && t->row_count % count != 0)
        i = hone_expr_binary(ir, HONE_OP_MIN, i, hone_expr_int(ir, i->dtype, t->row_count - count));
    i = i ? hone_expr_add(ir, outer->u.loop.range.min, i) : NULL;
    for (int64_t k = 0; k < t->lane_count; k++)
        rows[k] = i ? lower_tile_row(t, i, k, count) : NULL;
    if (t->lane_count == 4) {
        rows[0] = interleave(ir, rows[0], rows[2]);
        rows[1] = interleave(ir, rows[1], rows[3]);
    }
    const hone_expr *at = store->u.store.indices[0];
    at = i ? hone_expr_substitute_one(ir, at, outer->u.loop.var, i) : NULL;
    at = at ? hone_expr_substitute_one(ir, at, inner->u.loop.var, inner->u.loop.range.min) : NULL;
    at = at ? hone_simplify(t->arith, at) : NULL;
    const hone_expr *value = cast_like(ir, store->u.store.value, interleave(ir, rows[0], rows[1]));
    if (!at || !value) return hone_ir_finish(ir);
    HONE_TRY(lower_set_store(func, t->store, lower_lanes(ir, at, value->dtype.lanes), value));
    if (chunks <= MAX_UNROLLED) outer->loop_kind = HONE_LOOP_UNROLLED;
    outer->u.loop.range = lower_range(ir, i->dtype, 0, chunks);
    hone_tree_remove(func, t->store);
    hone_tree_replace(func, t->lanes, t->store);
    return hone_ir_finish(ir);
}

hone_status lower_interleave(hone_lower *lower) {
    hone_func *func = lower->func;
    hone_arith arith;
    hone_node_id next;
    hone_arith_init(&arith, func->arena);
    if (!hone_arith_bind_sizes(&arith, func)) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        lower_tile t = {.lower = lower, .arith = &arith};
        next = hone_tree_next(func, 0, n);
        if (!match(&t, n)) continue;
        next = hone_tree_next_over(func, 0, n);
        HONE_TRY(replace(&t));
    }
    return hone_ir_finish(&arith.ir);
}
