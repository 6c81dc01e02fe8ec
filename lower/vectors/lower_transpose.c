/* lower/vectors/lower_transpose.c - the pass that transposes tiles in registers.
 * needs: flat buffers, no blocks. keeps: what is computed. A tile that is read across its rows is
 * read along them and turned around in registers:
 *
 *   for i in M: for j in vectorized(N): Y[a + j] = f(X[b + j * stride + i])       stride > 1
 *     ⇒ rows[k] = X[b + k * stride + 0:M]            for each k in N
 *        rows exchanged with each other, one bit of their numbers with one bit of the lanes at a
 *        time: log2(S) steps of S shuffles
 *        for i in unrolled(M): for j in vectorized(N): Y[a + j] = f(rows[i][j])
 *
 * S is the least power of two that M and N fit in, and fits a register; what a smaller tile lacks
 * repeats its last lane and its first row. Where few rows are read (M), squares of the least power
 * of two that M fits in lie side by side in a register. More rows than S are taken a tile at a
 * time, tiles as equal as can be, or whole ones and a last one in such squares. Only where the tile
 * is all that the loops do, and the store goes to other memory than the loads. Conditions on rows
 * or on lanes (what is left over at the ends) mask what is read and what is stored.
 *
 * Very few rows without gaps (stride = M) are M dense vectors: if lanes are picked from those with
 * fewer instructions, the loop is unrolled, so that they are loaded once, and nothing else. */
#include "lower/ground/conditions.h"
#include "lower/ground/lanes.h"
#include "lower/ground/split_loop.h"
#include "lower/vectors/tile.h"

enum { MAX_TILE = 16, MIN_SIDE = 4 }; /* squares may have shorter sides */

typedef lower_tile tile;

static hone_var loop_var(const tile *t, hone_node_id loop) {
    return hone_func_node(t->lower->func, loop)->u.loop.var;
}

/* How far an index moves from one iteration of a loop to the next, if it is as far each time. */
static bool find_step(const tile *t, const hone_expr *index, hone_var var, int64_t *out_step) {
    hone_ir *ir = &t->lower->ir;
    const hone_expr *now = hone_func_var_expr(ir, t->lower->func, var);
    if (hone_linear_coeff(t->arith, index, var, out_step)) return true;
    const hone_expr *one = now ? hone_expr_int(ir, now->dtype, 1) : NULL;
    const hone_expr *next =
        one ? hone_expr_substitute_one(ir, index, var, hone_expr_add(ir, now, one)) : NULL;
    const hone_expr *step = next ? hone_simplify(t->arith, hone_expr_sub(ir, next, index)) : NULL;
    *out_step = LOWER_TILE_ANY_STEP;
    return step && !hone_expr_uses_var(step, loop_var(t, t->rows)) &&
           !hone_expr_uses_var(step, loop_var(t, t->lanes));
}

static bool has_coefficients(const tile *t, const hone_expr *index, int64_t *out_row,
                             int64_t *out_lane) {
    return hone_expr_is_pure_index(index) && find_step(t, index, loop_var(t, t->rows), out_row) &&
           find_step(t, index, loop_var(t, t->lanes), out_lane);
}

/* ---- conditions ---- */

/* A comparison of integers, in which rows or lanes stand, if at all, by themselves. */
static bool note_condition(void *ctx, const hone_expr *part) {
    tile *t = ctx;
    bool asks_rows = hone_expr_uses_var(part, loop_var(t, t->rows));
    bool asks_lanes = hone_expr_uses_var(part, loop_var(t, t->lanes));
    int64_t step;
    const hone_expr *gap = hone_expr_is_pure_index(part) ? lower_gap_of(t->arith, part) : NULL;
    if (!gap || (asks_rows && asks_lanes)) return false;
    if (asks_rows && !hone_linear_coeff(t->arith, gap, loop_var(t, t->rows), &step)) return false;
    const hone_expr **all = asks_rows ? &t->of_rows : &t->of_lanes;
    *all = lower_and(&t->lower->ir, *all, part);
    return true;
}

/* The statement below the lanes, and what is asked before it runs. */
static bool read_body(tile *t) {
    const hone_func *func = t->lower->func;
    t->branch = HONE_NO_ID;
    t->of_rows = t->of_lanes = NULL;
    t->store = lower_only_child(func, t->lanes);
    if (t->store == HONE_NO_ID) return false;
    if (hone_func_node(func, t->store)->kind != HONE_NODE_IF) return true;
    t->branch = t->store;
    t->store = lower_only_child(func, t->branch);
    return t->store != HONE_NO_ID &&
           lower_conjuncts(hone_func_node(func, t->branch)->u.eval.value, note_condition, t);
}

/* The first load across rows that every iteration makes. */
static const hone_expr *find_load(const tile *t, const hone_expr *e) {
    const hone_func *func = t->lower->func;
    if (e->kind == HONE_EXPR_LOAD) {
        int64_t row, lane;
        hone_dtype dtype = func->buffers[e->u.buffer].dtype;
        bool is_plain = e->count == 1 && e->dtype.lanes == 1 && dtype.lanes == 1 &&
                        !hone_dtype_is_bool(dtype) && dtype.bits >= 8;
        if (!is_plain || !has_coefficients(t, e->args[0], &row, &lane)) return NULL;
        hone_buffer to = hone_func_node(func, t->store)->u.store.buffer;
        bool is_disjoint = hone_func_storage(func, e->u.buffer) != hone_func_storage(func, to);
        return row == 1 && lane > 1 && is_disjoint ? e : NULL;
    }
    if (e->kind == HONE_EXPR_LET || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE) ||
        hone_expr_is_op(e, HONE_OP_AND) || hone_expr_is_op(e, HONE_OP_OR)) {
        return NULL; /* may not be read at all */
    }
    for (uint16_t i = 0; i < e->count; i++) {
        const hone_expr *found = find_load(t, e->args[i]);
        if (found) return found;
    }
    return NULL;
}

bool lower_tile_match(tile *t, hone_node_id rows) {
    const hone_func *func = t->lower->func;
    const hone_node *node = hone_func_node(func, rows);
    if (node->kind != HONE_NODE_FOR) return false;
    if (node->loop_kind != HONE_LOOP_SERIAL && node->loop_kind != HONE_LOOP_UNROLLED) return false;
    t->rows = rows;
    t->lanes = lower_only_child(func, rows);
    if (t->lanes == HONE_NO_ID || !lower_is_vector(func, t->lanes)) return false;
    const hone_node *lanes = hone_func_node(func, t->lanes);
    if (!read_body(t) || hone_expr_uses_var(lanes->u.loop.range.min, node->u.loop.var))
        return false;
    t->row_count = hone_expr_const(node->u.loop.range.extent);
    t->lane_count = hone_expr_const(lanes->u.loop.range.extent);
    const hone_node *store = hone_func_node(func, t->store);
    int64_t lane;
    if (store->kind != HONE_NODE_STORE || store->u.store.rank != 1 ||
        !has_coefficients(t, store->u.store.indices[0], &t->row_step, &lane) || lane != 1) {
        return false;
    }
    t->load = find_load(t, store->u.store.value);
    return t->load && has_coefficients(t, t->load->args[0], &lane, &t->load_step);
}

static bool choose_size(tile *t) {
    int64_t natural = hone_target_lanes(t->lower->options->target, 32);
    int64_t longer = t->row_count > t->lane_count ? t->row_count : t->lane_count;
    int64_t shorter = t->row_count + t->lane_count - longer;
    t->size = 2;
    while (t->size < longer && t->size < MAX_TILE)
        t->size *= 2;
    t->side = MIN_SIDE < t->size ? MIN_SIDE : t->size;
    while (t->side < t->row_count)
        t->side *= 2;
    bool is_full = shorter == t->size;
    return longer <= t->size && t->size <= natural && (is_full || shorter >= MIN_SIDE);
}

/* Are lanes of dense vectors picked with fewer instructions? One picks from two registers. */
static bool is_picked(const tile *t) {
    int64_t count = t->row_count, turning = t->size - t->side;
    int32_t bits = t->lower->func->buffers[t->load->u.buffer].dtype.bits;
    for (int64_t bit = 1; bit < t->side; bit *= 2)
        turning += t->side;
    return t->load_step == count && t->lane_count == t->size && t->size > t->side &&
           count * (count - 1) <= turning &&
           hone_target_has_feature(t->lower->options->target, bits >= 32 ? "avx512f" : "avx512bw");
}

/* ---- more rows than a tile has ---- */

/* How many rows of a long loop to take at a time; 0 = they are no tiles then either. */
static int64_t rows_of_tile(const tile *t) {
    tile one = *t;
    int64_t most = hone_target_lanes(t->lower->options->target, 32);
    if (most > MAX_TILE) most = MAX_TILE;
    if (most < MIN_SIDE || t->row_count <= most) return 0;
    int64_t count = (t->row_count + most - 1) / most, rest = t->row_count % most;
    bool is_short = rest >= MIN_SIDE && rest <= most / 2; /* squares side by side */
    one.row_count = is_short ? most : (t->row_count + count - 1) / count;
    return choose_size(&one) ? one.row_count : 0;
}

/* for i in 49: S  ⇒  for o in 3: for i in o * 13 .. o * 13 + 13: S; for i in 39 .. 49: S */
static hone_status split_rows(tile *t, int64_t rows) {
    int64_t whole = t->row_count / rows * rows;
    hone_node_id rest, outer;
    if (t->row_count > whole) HONE_TRY(lower_cut_off(t->lower, t->rows, whole, &rest));
    HONE_TRY(lower_in_parts(t->lower, t->rows, rows, HONE_LOOP_SERIAL, &outer));
    lower_wrap(t->lower->func, t->rows, outer);
    t->row_count = rows;
    return HONE_OK;
}

static hone_status match(tile *t, hone_node_id rows, bool *out_is_tile) {
    bool is_tile = lower_tile_match(t, rows);
    int64_t some = is_tile ? rows_of_tile(t) : 0;
    if (some) HONE_TRY(split_rows(t, some));
    *out_is_tile = is_tile && choose_size(t);
    if (*out_is_tile && is_picked(t)) {
        hone_func_node(t->lower->func, rows)->loop_kind = HONE_LOOP_UNROLLED;
        *out_is_tile = false;
    }
    return HONE_OK;
}

/* ---- one tile ---- */

/* The vector of row k in a tile of rows. */
static const hone_expr *row_at(const tile *t, int64_t k) {
    return lower_lanes(&t->lower->ir, hone_expr_i32(&t->lower->ir, k * t->size), t->size);
}

/* A row of the memory that is turned, with as many lanes as a square has. */
static const hone_expr *widen(const tile *t, const hone_expr *row) {
    const hone_expr *args[1 + MAX_TILE] = {row};
    if (t->row_count == t->side) return row;
    for (int64_t lane = 0; lane < t->side; lane++) {
        int64_t pick = lane < t->row_count ? lane : t->row_count - 1;
        args[1 + lane] = hone_expr_i32(&t->lower->ir, pick);
    }
    return hone_expr_shuffle(&t->lower->ir, 1, (size_t)t->side, args);
}

static const hone_expr *load_row(const tile *t, hone_buffer rows, int64_t k) {
    const hone_expr *start = hone_expr_i32(&t->lower->ir, k * t->size);
    return lower_load_lanes(t->lower, rows, start, t->size);
}

/* rows[k] = value, in front of the loops. */
static hone_status store_row(tile *t, hone_buffer rows, int64_t k, const hone_expr *value) {
    hone_func *func = t->lower->func;
    hone_node_id id = hone_func_add_node(func, HONE_NODE_STORE);
    if (id == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(func, id)->u.store.buffer = rows;
    hone_tree_insert_before(func, t->rows, id);
    return lower_set_store(func, id, row_at(t, k), value);
}

const hone_expr *lower_tile_row(const tile *t, const hone_expr *i, int64_t k, int64_t count) {
    hone_func *func = t->lower->func;
    hone_ir *ir = &t->lower->ir;
    hone_range lane = hone_func_node(func, t->lanes)->u.loop.range;
    const hone_expr *at = hone_expr_substitute_one(ir, t->load->args[0], loop_var(t, t->rows), i);
    const hone_expr *j = hone_expr_add(ir, lane.min, hone_expr_int(ir, lane.min->dtype, k));
    at = hone_expr_substitute_one(ir, at, loop_var(t, t->lanes), j);
    if (!at) return NULL;
    return lower_load_lanes(t->lower, t->load->u.buffer, hone_simplify(t->arith, at), count);
}

/* Which elements of a row from i on are there, a vector; NULL = all. */
typedef struct row_mask {
    const tile *t;
    const hone_expr *i, *all;
    uint16_t count;
} row_mask;

static bool add_to_mask(void *ctx, const hone_expr *part) {
    row_mask *m = ctx;
    hone_ir *ir = &m->t->lower->ir;
    int64_t step = 0;
    hone_var var = loop_var(m->t, m->t->rows);
    const hone_expr *gap = lower_gap_of(m->t->arith, part);
    if (!gap || !hone_linear_coeff(m->t->arith, gap, var, &step)) return false;
    gap = hone_simplify(m->t->arith, hone_expr_substitute_one(ir, gap, var, m->i));
    if (!gap) return false;
    const hone_expr *gaps = hone_expr_ramp(ir, gap, hone_expr_int(ir, gap->dtype, step), m->count);
    const hone_expr *zero = hone_expr_broadcast(ir, hone_expr_int(ir, gap->dtype, 0), m->count);
    const hone_expr *is_there = gaps && zero ? hone_expr_binary(ir, HONE_OP_LT, gaps, zero) : NULL;
    m->all = m->all ? hone_expr_binary(ir, HONE_OP_AND, m->all, is_there) : is_there;
    return m->all != NULL;
}

/* Of a row of what is read, as much as is there; nothing of a row whose lane is not. */
static const hone_expr *row_there(const tile *t, const hone_expr *i, int64_t k, int64_t count) {
    hone_ir *ir = &t->lower->ir;
    const hone_expr *row = lower_tile_row(t, i, k, count);
    row_mask mask = {.t = t, .i = i, .count = (uint16_t)count};
    if (!row || t->branch == HONE_NO_ID) return row;
    if (t->of_lanes) {
        hone_range lanes = hone_func_node(t->lower->func, t->lanes)->u.loop.range;
        const hone_expr *lane =
            hone_expr_add(ir, lanes.min, hone_expr_int(ir, lanes.min->dtype, k));
        const hone_expr *is_there =
            hone_expr_substitute_one(ir, t->of_lanes, loop_var(t, t->lanes), lane);
        is_there = is_there ? hone_simplify(t->arith, is_there) : NULL;
        if (!is_there) return NULL;
        if (!hone_expr_is_int_value(is_there, 1))
            mask.all = hone_expr_broadcast(ir, is_there, mask.count);
    }
    if (t->of_rows && !lower_conjuncts(t->of_rows, add_to_mask, &mask)) return NULL;
    hone_dtype element = hone_dtype_element(row->dtype);
    const hone_expr *zero = hone_dtype_is_float(element) ? hone_expr_float(ir, element, 0)
                                                         : hone_expr_int(ir, element, 0);
    const hone_expr *args[] = {mask.all, row, hone_expr_broadcast(ir, zero, mask.count)};
    return mask.all ? hone_expr_call(ir, row->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args) : row;
}

/* Row k of some squares, one behind the other. */
static const hone_expr *row_of_squares(const tile *t, int64_t k, int64_t squares) {
    const hone_expr *first = hone_func_node(t->lower->func, t->rows)->u.loop.range.min;
    if (squares == 1) {
        const hone_expr *row = row_there(t, first, k < t->lane_count ? k : 0, t->row_count);
        return row ? widen(t, row) : NULL;
    }
    int64_t half = squares / 2, lanes = squares * t->side;
    const hone_expr *args[2 + MAX_TILE] = {row_of_squares(t, k, half),
                                           row_of_squares(t, k + half * t->side, half)};
    for (int64_t lane = 0; lane < lanes; lane++)
        args[2 + lane] = hone_expr_i32(&t->lower->ir, lane);
    return args[0] && args[1] ? hone_expr_shuffle(&t->lower->ir, 2, (size_t)lanes, args) : NULL;
}

static hone_status read_rows(tile *t, hone_buffer rows) {
    for (int64_t k = 0; k < t->side; k++) {
        if (t->side == t->size && k >= t->lane_count) {
            HONE_TRY(store_row(t, rows, k, load_row(t, rows, 0)));
            continue;
        }
        const hone_expr *value = row_of_squares(t, k, t->size / t->side);
        if (!value) return hone_ir_finish(&t->lower->ir);
        HONE_TRY(store_row(t, rows, k, value));
    }
    return HONE_OK;
}

/* Of rows a and b, which are `bit` apart: the lanes without that bit (those with it, when is_high),
 * b's beside a's. */
static const hone_expr *exchange(const tile *t, const hone_expr *a, const hone_expr *b, int64_t bit,
                                 bool is_high) {
    const hone_expr *args[2 + MAX_TILE] = {a, b};
    for (int64_t lane = 0; lane < t->size; lane++) {
        bool is_of_b = (lane & bit) != 0;
        int64_t pick = is_high ? lane | bit : lane & ~bit;
        args[2 + lane] = hone_expr_i32(&t->lower->ir, pick + (is_of_b ? t->size : 0));
    }
    return hone_expr_shuffle(&t->lower->ir, 2, (size_t)t->size, args);
}

/* Turns the tile around, from one buffer to the other and back; leaves the last in t->result. */
static hone_status turn(tile *t, hone_buffer from, hone_buffer to) {
    for (int64_t bit = 1; bit < t->side; bit *= 2) {
        for (int64_t k = 0; k < t->side; k++) {
            if (k & bit) continue;
            const hone_expr *a = load_row(t, from, k), *b = load_row(t, from, k | bit);
            HONE_TRY(store_row(t, to, k, exchange(t, a, b, bit, false)));
            HONE_TRY(store_row(t, to, k | bit, exchange(t, a, b, bit, true)));
        }
        hone_buffer last = to;
        to = from;
        from = last;
    }
    t->result = from;
    return hone_ir_finish(&t->lower->ir);
}

static const hone_expr *replace_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    const tile *t = ctx;
    const hone_func *func = t->lower->func;
    if (e->kind != HONE_EXPR_LOAD || !hone_expr_same(e, t->load)) return e;
    const hone_node *row = hone_func_node(func, t->rows), *lane = hone_func_node(func, t->lanes);
    const hone_expr *i =
        hone_expr_sub(ir, hone_func_var_expr(ir, func, row->u.loop.var), row->u.loop.range.min);
    const hone_expr *j =
        hone_expr_sub(ir, hone_func_var_expr(ir, func, lane->u.loop.var), lane->u.loop.range.min);
    if (!i || !j) return NULL;
    const hone_expr *at = hone_expr_mul(ir, i, hone_expr_int(ir, i->dtype, t->size));
    if (!hone_dtype_equal(i->dtype, j->dtype)) j = hone_expr_cast(ir, i->dtype, j);
    at = hone_expr_add(ir, at, j);
    if (!at) return NULL;
    at = hone_simplify(t->arith, at);
    return hone_expr_load(ir, e->dtype, t->result, 1, &at);
}

static hone_status allocate(tile *t, const char *name, hone_buffer *out_buffer) {
    hone_func *func = t->lower->func;
    int64_t elements = t->side * t->size;
    hone_dtype dtype = func->buffers[t->load->u.buffer].dtype;
    *out_buffer = hone_func_add_dense(func, name, dtype, 1, &elements, "local");
    hone_node_id alloc = lower_new_alloc(func, *out_buffer);
    if (alloc == HONE_NO_ID) return LOWER_NO_MEMORY();
    lower_wrap(func, t->rows, alloc);
    return HONE_OK;
}

static hone_status transpose(tile *t) {
    hone_func *func = t->lower->func;
    hone_buffer rows, turned;
    HONE_TRY(allocate(t, "rows", &rows));
    HONE_TRY(allocate(t, "turned", &turned));
    HONE_TRY(read_rows(t, rows));
    HONE_TRY(turn(t, rows, turned));
    const hone_node *store = hone_func_node(func, t->store);
    const hone_expr *value =
        hone_expr_transform(&t->lower->ir, store->u.store.value, replace_load, t);
    if (!value) return hone_ir_finish(&t->lower->ir);
    hone_func_node(func, t->store)->u.store.value = value;
    hone_func_node(func, t->rows)->loop_kind = HONE_LOOP_UNROLLED;
    return hone_ir_finish(&t->lower->ir);
}

hone_status lower_transpose(hone_lower *lower) {
    hone_func *func = lower->func;
    hone_arith arith;
    hone_arith_init(&arith, func->arena);
    if (!hone_arith_bind_sizes(&arith, func)) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        tile t = {.lower = lower, .arith = &arith};
        for (bool is_tile = true; is_tile;) {
            HONE_TRY(match(&t, n, &is_tile));
            if (is_tile) HONE_TRY(transpose(&t));
        }
    }
    return hone_ir_finish(&arith.ir);
}
