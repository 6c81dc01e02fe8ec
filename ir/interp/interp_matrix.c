/* ir/interp/interp_matrix.c - matrix units of GPUs, as what they do to buffers.
 *
 * wmma: a fragment is a tile of the buffer that holds it. Its number counts tiles along the rows of
 * that buffer, then down; in a flat buffer tiles lie one behind the other. How a tile was loaded
 * (its sizes, rows or columns first) is remembered with the storage, as registers would.
 *
 * mma and ldmatrix: the lanes of a warp hold a tile together, in the layouts of PTX (ISA 9.7.14).
 * Lanes run one after the other; what a lane takes from others is found by evaluating an argument
 * with the lane's variable set to theirs. That is exact because an instruction reads registers that
 * earlier ones wrote, and writes its own lane's.
 *
 * Sums go over k in order, each step rounded to the type of the accumulator, as the descriptions of
 * the intrinsics have it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp_team.h"
#include "support/core/alloc.h"

enum { LANES = 32 };

HONE_NORETURN static void fail(machine *m, const char *what) {
    machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "%s", what));
}

/* The variable of the loop over threadIdx.x around the statement; HONE_NO_ID: there is none. */
static hone_var find_lane(const machine *m) {
    for (hone_node_id n = m->at; n != HONE_NO_ID; n = hone_func_node(m->func, n)->parent) {
        const hone_node *node = hone_func_node(m->func, n);
        bool is_thread = node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD;
        if (is_thread && strcmp(node->u.loop.thread_tag, "threadIdx.x") == 0) {
            return node->u.loop.var;
        }
    }
    return HONE_NO_ID;
}

static hone_var lane_variable(machine *m) {
    hone_var variable = find_lane(m);
    if (variable == HONE_NO_ID)
        fail(m, "an instruction of a warp stands in no loop over threadIdx.x");
    return variable;
}

/* ---- what the arguments name ---- */

/* A buffer by its data variable; it must be live. */
static hone_buffer registers_of(machine *m, const xexpr *e) {
    hone_buffer id = HONE_NO_ID;
    if (e->source->kind == HONE_EXPR_VAR) id = buffer_of_data(m, e->source->u.var);
    if (id == HONE_NO_ID || !m->buffers[id].store) {
        fail(m, "a matrix instruction works on a buffer that does not exist");
    }
    return id;
}

typedef xvalue number; /* what an element is, of either sort */

static bool holds_floats(const machine *m, hone_buffer id) {
    return hone_dtype_is_float(m->buffers[id].dtype);
}

static number value_at(machine *m, hone_buffer id, int64_t at) {
    const xbuffer *b = &m->buffers[id];
    return holds_floats(m, id) ? (number){.f = read_float(b->store, b->dtype, at)}
                               : (number){.i = read_int(b->store, b->dtype, at)};
}

static number get(machine *m, hone_buffer id, int64_t at) {
    touch_element(m, id, at, false);
    return value_at(m, id, at);
}

/* The lanes of a warp store a tile together: what one of them has put there is no race. */
static void put(machine *m, hone_buffer id, int64_t at, number value) {
    const xbuffer *b = &m->buffers[id];
    m->fresh = &value;
    touch_element(m, id, at, true);
    m->fresh = NULL;
    if (holds_floats(m, id))
        write_float(b->store, b->dtype, at, value.f);
    else
        write_int(b->store, b->dtype, at, value.i);
}

static void require_same_sort(machine *m, hone_buffer a, hone_buffer b) {
    if (holds_floats(m, a) != holds_floats(m, b)) {
        fail(m, "a matrix instruction mixes floats and integers");
    }
}

static double rounded(double value, hone_dtype dtype) {
    if (dtype.bits == 64) return value;
    return dtype.bits == 32 ? (double)(float)value : round_slow(value, dtype);
}

/* Factors as NVIDIA's units take them: of 24 bits of a float 11 are left (tf32), rounded, halves
 * away from zero. */
static void round_factors(hone_dtype dtype, number *values, int64_t count) {
    if (!hone_dtype_is_float(dtype) || dtype.bits != 32) return;
    for (int64_t i = 0; i < count; i++) {
        float f = (float)values[i].f;
        uint32_t bits;
        if (!isfinite(f)) continue;
        memcpy(&bits, &f, sizeof bits);
        bits = (bits + 0x1000) & ~UINT32_C(0x1fff);
        memcpy(&f, &bits, sizeof f);
        values[i].f = (double)f;
    }
}

/* sum + a * b in the type of the accumulator. */
static number multiply_add(const machine *m, hone_buffer accumulator, number sum, number a,
                           number b) {
    hone_dtype dtype = m->buffers[accumulator].dtype;
    if (hone_dtype_is_float(dtype)) {
        return (number){.f = rounded(sum.f + rounded(a.f * b.f, dtype), dtype)};
    }
    uint64_t total = (uint64_t)sum.i + (uint64_t)a.i * (uint64_t)b.i;
    return (number){.i = wrap_slow((int64_t)total, (uint8_t)dtype.bits, hone_dtype_is_uint(dtype))};
}

/* An element of the accumulator, and to it the products of a row and a column. */
static number add_products(machine *m, hone_buffer accumulator, int64_t at, const number *row,
                           const number *column, int64_t count) {
    number sum = get(m, accumulator, at);
    for (int64_t k = 0; k < count; k++)
        sum = multiply_add(m, accumulator, sum, row[k], column[k]);
    return sum;
}

/* Room for the factors of a product, until the next one. */
static number *room_for_factors(machine *m, int64_t count) {
    if (count > m->factor_capacity) {
        hone_free(m->factors);
        m->factors = hone_calloc((size_t)count, sizeof *m->factors);
        m->factor_capacity = m->factors ? count : 0;
        if (!m->factors) machine_out_of_memory(m);
    }
    return m->factors;
}

/* ---- wmma ---- */

typedef struct tile {
    hone_buffer buffer;
    int64_t offset, row_step, column_step, rows, columns;
} tile;

/* The tile of that number among tiles of rows by columns. */
static tile tile_at(machine *m, hone_buffer id, int64_t index, int64_t rows, int64_t columns) {
    const xstore *s = m->buffers[id].store;
    int64_t row = s->row ? s->row : columns;
    if (rows < 1 || columns < 1 || row % columns != 0) {
        fail(m, "a fragment's tiles do not divide the rows of its buffer");
    }
    int64_t per_row = row / columns;
    tile t = {id, 0, row, 1, rows, columns};
    t.offset = index / per_row * rows * row + index % per_row * columns;
    if (index < 0 || t.offset + (rows - 1) * row + columns > s->elements) {
        fail(m, "a fragment lies outside of its buffer");
    }
    return t;
}

static int64_t element_of(const tile *t, int64_t i, int64_t j) {
    return t->offset + i * t->row_step + j * t->column_step;
}

/* A tile as the scope of its buffer has it: a is m by k, b k by n, the accumulator m by n; it lies
 * there turned around when columns came first. */
static tile fragment(machine *m, hone_buffer id, int64_t index) {
    const xfragment *f = &m->buffers[id].store->fragment;
    const char *scope = hone_func_buffer(m->func, id)->scope;
    bool is_a = strcmp(scope, "wmma.matrix_a") == 0, is_b = strcmp(scope, "wmma.matrix_b") == 0;
    if (f->m == 0) fail(m, "a fragment is used before it is loaded or filled");
    int64_t rows = is_b ? f->k : f->m, columns = is_a ? f->k : f->n;
    if (!f->is_turned) return tile_at(m, id, index, rows, columns);
    tile t = tile_at(m, id, index, columns, rows);
    return (tile){id, t.offset, 1, t.row_step, rows, columns};
}

/* args[1] data, then m, n, k and the number of the fragment. */
static tile shaped_fragment(machine *m, const xexpr *e, bool is_turned) {
    hone_buffer id = registers_of(m, e->args[1]);
    m->buffers[id].store->fragment =
        (xfragment){(int32_t)x_int(e->args[2], m), (int32_t)x_int(e->args[3], m),
                    (int32_t)x_int(e->args[4], m), is_turned};
    return fragment(m, id, x_int(e->args[5], m));
}

/* wgmma's accumulators are shared out among the threads of four warps; which of these runs, or
 * EVERYTHING where a buffer is none, or threads do not run yet. */
enum { EVERYTHING = -1 };

static int64_t share_of(const machine *m, hone_buffer id) {
    bool is_shared_out =
        strcmp(hone_func_buffer(m->func, id)->scope, "wgmma.accumulator") == 0 && m->thread;
    hone_var lane = is_shared_out ? find_lane(m) : HONE_NO_ID;
    return lane == HONE_NO_ID ? EVERYTHING : m->slots[lane].i % (4 * LANES);
}

static bool has_row(int64_t share, int64_t i) {
    return share == EVERYTHING || share / 4 == i % 64 / 16 * 8 + i % 8;
}

static bool has_column(int64_t share, int64_t j) {
    return share == EVERYTHING || share % 4 == j % 8 / 2;
}

static void fill_tile(machine *m, const tile *t, const xexpr *with) {
    double value = x_is_float(with) ? x_float(with, m) : (double)x_int(with, m);
    number n = holds_floats(m, t->buffer) ? (number){.f = value} : (number){.i = (int64_t)value};
    int64_t share = share_of(m, t->buffer);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; has_row(share, i) && j < t->columns; j++) {
            if (has_column(share, j)) put(m, t->buffer, element_of(t, i, j), n);
        }
    }
}

static int64_t fill_fragment(const xexpr *e, machine *m) {
    tile t = shaped_fragment(m, e, false);
    fill_tile(m, &t, e->args[6]);
    return 0;
}

/* Between a tile and memory where its rows and its columns are so many elements apart. */
static void move_tile(machine *m, const tile *t, const xexpr *pointer, int64_t row_step,
                      int64_t column_step, bool is_store) {
    int64_t offset;
    hone_buffer memory = place_of_pointer(m, pointer, &offset);
    require_same_sort(m, t->buffer, memory);
    int64_t share = share_of(m, t->buffer);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; has_row(share, i) && j < t->columns; j++) {
            int64_t there = offset + i * row_step + j * column_step, here = element_of(t, i, j);
            if (!has_column(share, j)) continue;
            if (is_store)
                put(m, memory, there, get(m, t->buffer, here));
            else
                put(m, t->buffer, here, get(m, memory, there));
        }
    }
}

/* (data, m, n, k, number, memory, stride, layout) */
static int64_t move_fragment(const xexpr *e, machine *m, bool is_store) {
    const char *layout =
        e->args[8]->source->kind == HONE_EXPR_STRING ? e->args[8]->source->u.s : "";
    int64_t stride = x_int(e->args[7], m);
    bool is_turned = strcmp(layout, "col_major") == 0;
    tile t = shaped_fragment(m, e, is_turned);
    move_tile(m, &t, e->args[6], is_turned ? 1 : stride, is_turned ? stride : 1, is_store);
    return 0;
}
static int64_t load_fragment(const xexpr *e, machine *m) {
    return move_fragment(e, m, false);
}
static int64_t store_fragment(const xexpr *e, machine *m) {
    return move_fragment(e, m, true);
}

/* A tile row after row, or column after column. */
static void read_tile(machine *m, const tile *t, bool by_columns, number *out) {
    int64_t outer = by_columns ? t->columns : t->rows, inner = by_columns ? t->rows : t->columns;
    for (int64_t i = 0; i < outer; i++) {
        for (int64_t j = 0; j < inner; j++) {
            int64_t at = by_columns ? element_of(t, j, i) : element_of(t, i, j);
            *out++ = get(m, t->buffer, at);
        }
    }
}

/* D = A B + C, of rows by k and k by columns; x and y: A's rows and B's columns. */
static void multiply_tiles(machine *m, const tile part[4], int64_t k, const number *x,
                           const number *y) {
    const tile *d = &part[0], *c = &part[3];
    for (int64_t i = 0; i < d->rows; i++) {
        for (int64_t j = 0; j < d->columns; j++) {
            number sum = add_products(m, c->buffer, element_of(c, i, j), x + i * k, y + j * k, k);
            put(m, d->buffer, element_of(d, i, j), sum);
        }
    }
}

/* (D, number, A, number, B, number, C, number): D = A B + C */
static int64_t multiply_fragments(const xexpr *e, machine *m) {
    tile part[4]; /* D, A, B, C */
    hone_buffer ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = registers_of(m, e->args[1 + 2 * i]);
    xfragment *d = &m->buffers[ids[0]].store->fragment;
    const xfragment *a = &m->buffers[ids[1]].store->fragment;
    const xfragment *b = &m->buffers[ids[2]].store->fragment;
    if (d->m == 0) *d = m->buffers[ids[3]].store->fragment;
    for (int i = 0; i < 4; i++) {
        require_same_sort(m, ids[i], ids[0]);
        part[i] = fragment(m, ids[i], x_int(e->args[2 + 2 * i], m));
    }
    if (a->m != d->m || b->n != d->n || a->k != b->k) fail(m, "fragments of other sizes meet");
    int64_t k = a->k;
    number *x = room_for_factors(m, (d->m + d->n) * k), *y = x + d->m * k;
    read_tile(m, &part[1], false, x);
    read_tile(m, &part[2], true, y);
    round_factors(m->buffers[ids[1]].dtype, x, d->m * k);
    round_factors(m->buffers[ids[2]].dtype, y, d->n * k);
    multiply_tiles(m, part, k, x, y);
    return 0;
}

/* ---- wgmma: operands in shared memory, as columns whose rows are 128 bytes ---- */

typedef struct xcolumns {
    hone_buffer buffer;
    int64_t offset, stride, side; /* elements; between columns; in a row of one */
} xcolumns;

static xcolumns columns_at(machine *m, const xexpr *pointer, const xexpr *stride) {
    xcolumns c = {.stride = x_int(stride, m)};
    c.buffer = place_of_pointer(m, pointer, &c.offset);
    c.side = 128 / (int64_t)hone_dtype_bytes(hone_func_buffer(m->func, c.buffer)->dtype);
    return c;
}

static number in_columns(machine *m, const xcolumns *c, int64_t along, int64_t row) {
    return get(m, c->buffer,
               c->offset + along / c->side * c->stride + row * c->side + along % c->side);
}

/* count elements: of a row along its columns, or of what stands there in the rows one below the
 * other. */
static void read_columns(machine *m, const xcolumns *c, int64_t at, int64_t count, bool is_along,
                         number *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = is_along ? in_columns(m, c, i, at) : in_columns(m, c, at, i);
}

/* (C, m, n, k, number, A, stride, B, stride, "k" or "mn"[, calls that may go on]): C += A B, B's
 * columns lying along k or n
 */
static int64_t multiply_columns(const xexpr *e, machine *m) {
    tile t = shaped_fragment(m, e, false);
    xcolumns a = columns_at(m, e->args[6], e->args[7]), b = columns_at(m, e->args[8], e->args[9]);
    const hone_expr *way = e->args[10]->source;
    bool is_along_k = way->kind == HONE_EXPR_STRING && strcmp(way->u.s, "k") == 0;
    int64_t count = m->buffers[t.buffer].store->fragment.k, share = share_of(m, t.buffer);
    require_same_sort(m, a.buffer, t.buffer);
    require_same_sort(m, b.buffer, t.buffer);
    number *rows = room_for_factors(m, (t.rows + 1) * count), *column = rows + t.rows * count;
    for (int64_t i = 0; i < t.rows; i++) {
        if (has_row(share, i)) read_columns(m, &a, i, count, true, rows + i * count);
    }
    for (int64_t j = 0; j < t.columns; j++) {
        if (has_column(share, j)) read_columns(m, &b, j, count, is_along_k, column);
        for (int64_t i = 0; has_column(share, j) && i < t.rows; i++) {
            int64_t at = element_of(&t, i, j);
            if (!has_row(share, i)) continue;
            put(m, t.buffer, at, add_products(m, t.buffer, at, rows + i * count, column, count));
        }
    }
    return 0;
}

/* (C): all that was said about it is done; here it was at once. */
static int64_t wait_for_columns(const xexpr *e, machine *m) {
    registers_of(m, e->args[1]);
    return 0;
}

/* ---- Metal: matrices of a group of threads, tiles of a buffer as those of wmma are ---- */

/* args[1] data, args[2] the number of the matrix */
static tile matrix_at(machine *m, const xexpr *e, const xexpr *rows, const xexpr *columns) {
    return tile_at(m, registers_of(m, e->args[1]), x_int(e->args[2], m), x_int(rows, m),
                   x_int(columns, m));
}

/* (data, number, value, rows, columns) */
static int64_t fill_matrix(const xexpr *e, machine *m) {
    tile t = matrix_at(m, e, e->args[4], e->args[5]);
    fill_tile(m, &t, e->args[3]);
    return 0;
}

/* (data, number, memory, stride, rows, columns, is_turned) */
static int64_t move_matrix(const xexpr *e, machine *m, bool is_store) {
    int64_t stride = x_int(e->args[4], m);
    bool is_turned = x_int(e->args[7], m) != 0;
    tile t = matrix_at(m, e, e->args[5], e->args[6]);
    move_tile(m, &t, e->args[3], is_turned ? 1 : stride, is_turned ? stride : 1, is_store);
    return 0;
}
static int64_t load_matrix(const xexpr *e, machine *m) {
    return move_matrix(e, m, false);
}
static int64_t store_matrix(const xexpr *e, machine *m) {
    return move_matrix(e, m, true);
}

/* (D, number, A, number, B, number, C, number): D = A B + C, of 8 by 8 */
static int64_t multiply_matrices(const xexpr *e, machine *m) {
    tile part[4]; /* D, A, B, C */
    for (int i = 0; i < 4; i++) {
        hone_buffer id = registers_of(m, e->args[1 + 2 * i]);
        part[i] = tile_at(m, id, x_int(e->args[2 + 2 * i], m), 8, 8);
        require_same_sort(m, id, part[0].buffer);
    }
    number *x = room_for_factors(m, 2 * 64), *y = x + 64;
    read_tile(m, &part[1], false, x);
    read_tile(m, &part[2], true, y);
    multiply_tiles(m, part, 8, x, y);
    return 0;
}

/* ---- mma, ldmatrix ---- */

/* An argument as a lane of this warp has it. */
static int64_t of_lane(machine *m, const xexpr *e, hone_var variable, int64_t lane) {
    int64_t own = m->slots[variable].i;
    m->slots[variable].i = own / LANES * LANES + lane;
    int64_t value = x_int(e, m);
    m->slots[variable].i = own;
    return value;
}

/* Where the registers of this lane begin, for offsets that do not say it. */
static int64_t lane_base(machine *m, hone_buffer id, hone_var variable, int64_t count) {
    bool is_warp = strcmp(hone_func_buffer(m->func, id)->scope, "warp") == 0;
    return is_warp ? m->slots[variable].i % LANES * count : 0;
}

/* Bytes may not be turned around in pairs: element by element, in the layout of matrix b. */
static void load_bytes_turned(machine *m, hone_buffer to, int64_t to_offset, hone_buffer from,
                              int64_t offset, int64_t stride, int64_t lane) {
    for (int64_t l = 0; l < 16; l++) {
        int64_t k = 4 * (lane % 4) + l % 4 + 16 * (l % 8 / 4), n = lane / 4 + 8 * (l / 8);
        put(m, to, to_offset + l, get(m, from, offset + k * stride + n));
    }
}

/* (is_turned, matrices, ".b16", registers, offset, memory, offset of the lane's row) */
static int64_t ldmatrix(const xexpr *e, machine *m) {
    hone_var variable = lane_variable(m);
    hone_buffer to = registers_of(m, e->args[4]);
    int64_t offset, lane = m->slots[variable].i % LANES, to_offset = x_int(e->args[5], m);
    hone_buffer from = place_of_pointer(m, e->args[6], &offset);
    bool is_turned = x_int(e->args[1], m) != 0;
    int64_t bits = hone_func_buffer(m->func, to)->dtype.bits, each = 16 / bits;
    require_same_sort(m, to, from);
    if (strncmp(hone_func_buffer(m->func, to)->scope, "m16n8k8.", 8) == 0) {
        fail(m, "registers of m16n8k8 get their layout from a pass of TVM's behind the schedule");
    }
    if (bits != 8 && bits != 16) fail(m, "ldmatrix loads elements of 8 or 16 bits");
    if (is_turned && bits == 8) {
        load_bytes_turned(m, to, to_offset, from, offset, x_int(e->args[7], m), lane);
        return 0;
    }
    for (int64_t i = 0; i < x_int(e->args[2], m); i++) {
        for (int64_t half = 0; half < 2; half++) {
            int64_t row = is_turned ? 2 * (lane % 4) + half : lane / 4;
            int64_t column = is_turned ? lane / 4 : 2 * (lane % 4) + half;
            int64_t at = offset + of_lane(m, e->args[7], variable, 8 * i + row) + column * each;
            for (int64_t s = 0; s < each; s++)
                put(m, to, to_offset + (2 * i + half) * each + s, get(m, from, at + s));
        }
    }
    return 0;
}

/* How the lanes of a warp hold A, B and C of mma.mNNnNNkNN: each register has run elements that
 * follow each other along k, a row of A (a column of B) is held by four lanes, and rows 8 apart by
 * one. */
typedef struct xmma {
    int64_t rows, k, run;
    const xexpr *a, *a_offset, *b, *b_offset, *c, *c_offset;
} xmma;

/* ("m16n8k16", "row", "col", types, A, offset, B, offset, C, offset, saturate) */
static xmma mma_of(machine *m, const xexpr *e) {
    const char *shape = e->args[1]->source->kind == HONE_EXPR_STRING ? e->args[1]->source->u.s : "";
    xmma p = {0, 0, 0, e->args[7], e->args[8], e->args[9], e->args[10], e->args[11], e->args[12]};
    int rows = 0, columns = 0, k = 0;
    bool is_read = sscanf(shape, "m%dn%dk%d", &rows, &columns, &k) == 3;
    int64_t bits = hone_func_buffer(m->func, registers_of(m, p.a))->dtype.bits;
    p.rows = rows;
    p.k = k;
    p.run = bits >= 32 ? 1 : 32 / bits;
    bool is_known = is_read && columns == 8 && k > 0 && k % (4 * p.run) == 0 &&
                    ((rows == 16 && bits <= 32 && k <= 8 * p.run) ||
                     (rows == 8 && (bits <= 8 || bits == 64) && k == 4 * p.run));
    if (!is_known || x_int(e->args[13], m)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "mma of shape '%s' on elements of %lld bits%s cannot be "
                                   "interpreted here",
                                   shape, (long long)bits, is_known ? ", saturating," : ""));
    }
    return p;
}

/* What a lane of this warp holds: at offset + at of its registers, which are a part of one buffer
 * for the warp, or a buffer of its own. */
static number held_by(machine *m, hone_var variable, int64_t lane, const xexpr *registers,
                      const xexpr *offset, int64_t at) {
    hone_buffer id = registers_of(m, registers);
    if (strcmp(hone_func_buffer(m->func, id)->scope, "warp") == 0) {
        return get(m, id, of_lane(m, offset, variable, lane) + at);
    }
    xthread *other = m->thread ? lane_at(m->crew, m->thread, (uint32_t)lane) : NULL;
    if (!other) fail(m, "an instruction of a warp is executed by less than its lanes");
    number *slots = m->slots;
    xbuffer *buffers = m->buffers;
    m->slots = other->slots;
    m->buffers = other->buffers;
    at += x_int(offset, m);
    touch_register(m, id, at);
    number held = value_at(m, id, at);
    m->slots = slots;
    m->buffers = buffers;
    return held;
}

/* A row of A, or a column of B, that four lanes from the first one on hold: its run number first,
 * and step runs on what comes next along k. */
static void read_held(machine *m, const xmma *p, hone_var variable, int64_t first_lane,
                      const xexpr *registers, const xexpr *offset, int64_t first, int64_t step,
                      number *out) {
    for (int64_t k = 0; k < p->k; k++) {
        int64_t quarter = k % (4 * p->run) / p->run, upper = k / (4 * p->run);
        out[k] = held_by(m, variable, first_lane + quarter, registers, offset,
                         (first + step * upper) * p->run + k % p->run);
    }
    round_factors(m->buffers[registers_of(m, registers)].dtype, out, p->k);
}

/* C += A B */
static int64_t mma(const xexpr *e, machine *m) {
    xmma p = mma_of(m, e);
    hone_var variable = lane_variable(m);
    hone_buffer c = registers_of(m, p.c);
    int64_t lane = m->slots[variable].i % LANES, c_offset = x_int(p.c_offset, m);
    int64_t halves = p.rows / 8;
    require_same_sort(m, registers_of(m, p.a), c);
    require_same_sort(m, registers_of(m, p.b), c);
    number *rows = room_for_factors(m, 4 * p.k), *columns = rows + 2 * p.k;
    for (int64_t i = 0; i < halves; i++)
        read_held(m, &p, variable, lane / 4 * 4, p.a, p.a_offset, i, halves, rows + i * p.k);
    for (int64_t j = 0; j < 2; j++)
        read_held(m, &p, variable, 4 * (2 * (lane % 4) + j), p.b, p.b_offset, 0, 1,
                  columns + j * p.k);
    for (int64_t l = 0; l < 2 * halves; l++) {
        const number *row = rows + l / 2 * p.k, *column = columns + l % 2 * p.k;
        put(m, c, c_offset + l, add_products(m, c, c_offset + l, row, column, p.k));
    }
    return 0;
}

/* ---- wgmma on the threads' own memory ---- */

enum { RUN = 2, STEP = 16, A_OF_STEP = 8 }; /* neighbours along k; k of a step; A of a thread */

/* A factor of a product: in shared memory, or in registers of the lanes of this warp. */
typedef struct xfactor {
    bool is_held;
    xcolumns columns;
    const xexpr *data, *offset;
} xfactor;

static bool is_data_variable(const hone_expr *e) {
    return e->kind == HONE_EXPR_VAR;
}

static xfactor factor_of(machine *m, const xexpr *e) {
    xfactor f = {
        .is_held = is_data_variable(e->args[6]->source), .data = e->args[6], .offset = e->args[7]};
    if (!f.is_held) f.columns = columns_at(m, e->args[6], e->args[7]);
    return f;
}

/* A row of it, of those of the group. */
static void read_factor(machine *m, hone_var variable, const xfactor *f, int64_t row, int64_t depth,
                        xvalue *out) {
    if (!f->is_held) {
        read_columns(m, &f->columns, row, depth, true, out);
        return;
    }
    for (int64_t k = 0; k < depth; k++) {
        int64_t quarter = k % (4 * RUN) / RUN, upper = k % STEP / (4 * RUN);
        int64_t at = k / STEP * A_OF_STEP + 2 * RUN * upper + RUN * (row % 16 / 8) + k % RUN;
        out[k] = held_by(m, variable, 4 * (row % 8) + quarter, f->data, f->offset, at);
    }
}

/* (C, offset, n, k, begins, A, stride or offset, B, stride, "k" or "mn"): C = A B or C += A B of 64
 * rows by four warps; each thread has of eight columns two neighbours of its row, then of the row
 * eight below. */
static int64_t multiply_of_lanes(const xexpr *e, machine *m) {
    hone_var variable = lane_variable(m);
    hone_buffer c = registers_of(m, e->args[1]);
    int64_t c_offset = x_int(e->args[2], m), n = x_int(e->args[3], m), depth = x_int(e->args[4], m);
    int64_t thread = m->slots[variable].i % (4 * LANES), lane = thread % LANES;
    const xfactor a = factor_of(m, e);
    const xcolumns b = columns_at(m, e->args[8], e->args[9]);
    const hone_expr *way = e->args[10]->source;
    bool is_along_k = way->kind == HONE_EXPR_STRING && strcmp(way->u.s, "k") == 0;
    bool begins = x_int(e->args[5], m) != 0;
    require_same_sort(m, b.buffer, c);
    xvalue *rows = room_for_factors(m, 3 * depth), *column = rows + 2 * depth;
    for (int64_t i = 0; i < 2; i++)
        read_factor(m, variable, &a, thread / LANES * 16 + lane / 4 + i * 8, depth,
                    rows + i * depth);
    for (int64_t j = 0; j < n / 4; j++) {
        read_columns(m, &b, j / 2 * 8 + lane % 4 * 2 + j % 2, depth, is_along_k, column);
        for (int64_t i = 0; i < 2; i++) {
            int64_t at = c_offset + j / 2 * 4 + i * 2 + j % 2;
            if (begins) put(m, c, at, (xvalue){.i = 0});
            put(m, c, at, add_products(m, c, at, rows + i * depth, column, depth));
        }
    }
    return 0;
}

/* (calls that may go on, C, ...): here all of them were done at once. */
static int64_t wait_for_lanes(const xexpr *e, machine *m) {
    for (uint32_t i = 2; i < e->count; i++)
        registers_of(m, e->args[i]);
    return 0;
}

/* ---- which of them read registers of other lanes ---- */

/* The data variable of those registers; NULL: the call reads none. */
static const hone_expr *registers_of_others(const hone_expr *call) {
    bool is_named = call->count > 0 && call->args[0]->kind == HONE_EXPR_STRING;
    const char *name = is_named ? call->args[0]->u.s : "";
    if (!hone_expr_is_call(call, HONE_INTRIN_NAMED)) return NULL;
    if (strcmp(name, "ptx_legacy.mma") == 0 && call->count == 14) return call->args[7];
    return strcmp(name, "ptx.wgmma_lanes") == 0 && call->count == 11 ? call->args[6] : NULL;
}

bool needs_all_lanes(const machine *m, const hone_expr *call) {
    const hone_expr *data = registers_of_others(call);
    hone_buffer id = data && is_data_variable(data) ? buffer_of_data(m, data->u.var) : HONE_NO_ID;
    return id != HONE_NO_ID && strcmp(m->func->buffers[id].scope, "warp") != 0;
}

/* (count, registers, offset) */
static int64_t fill_registers(const xexpr *e, machine *m) {
    hone_var variable = lane_variable(m);
    hone_buffer to = registers_of(m, e->args[2]);
    int64_t count = x_int(e->args[1], m);
    int64_t base = x_int(e->args[3], m) + lane_base(m, to, variable, count);
    for (int64_t l = 0; l < count; l++)
        put(m, to, base + l, holds_floats(m, to) ? (number){.f = 0} : (number){.i = 0});
    return 0;
}

/* (16, 16, memory, registers, offset, stride) */
static int64_t store_registers(const xexpr *e, machine *m) {
    hone_var variable = lane_variable(m);
    hone_buffer from = registers_of(m, e->args[4]);
    int64_t offset, stride = x_int(e->args[6], m), lane = m->slots[variable].i % LANES;
    hone_buffer memory = place_of_pointer(m, e->args[3], &offset);
    int64_t base = x_int(e->args[5], m) + lane_base(m, from, variable, 8);
    require_same_sort(m, from, memory);
    for (int64_t l = 0; l < 8; l++) {
        int64_t row = 8 * (l % 4 / 2) + lane / 4, column = 8 * (l / 4) + lane % 4 * 2 + l % 2;
        put(m, memory, offset + row * stride + column, get(m, from, base + l));
    }
    return 0;
}

/* ---- */

static const struct {
    const char *name;
    uint8_t count; /* of arguments, the name among them; 0: any */
    int64_t (*run)(const xexpr *e, machine *m);
} instructions[] = {
    {"tvm_fill_fragment",                   7,  fill_fragment     },
    {"tvm_load_matrix_sync",                9,  load_fragment     },
    {"tvm_store_matrix_sync",               9,  store_fragment    },
    {"tvm_mma_sync",                        9,  multiply_fragments},
    {"ptx.wgmma_wait",                      2,  wait_for_columns  },
    {"ptx.wgmma_lanes",                     11, multiply_of_lanes },
    {"ptx.wgmma_lanes_wait",                0,  wait_for_lanes    },
    {"ptx.wgmma",                           12, multiply_columns  },
    {"ptx.wgmma",                           11, multiply_columns  },
    {"metal.make_filled_simdgroup_matrix",  6,  fill_matrix       },
    {"metal.simdgroup_load",                8,  load_matrix       },
    {"metal.simdgroup_store",               8,  store_matrix      },
    {"metal.simdgroup_multiply_accumulate", 9,  multiply_matrices },
    {"ptx_legacy.ldmatrix",                 8,  ldmatrix          },
    {"ptx_legacy.mma",                      14, mma               },
    {"cuda.mma_fill_legacy",                4,  fill_registers    },
    {"cuda.mma_store_legacy",               7,  store_registers   },
};

bool choose_matrix(xexpr *x) {
    const char *name = x->source->args[0]->u.s;
    for (size_t i = 0; i < HONE_COUNT(instructions); i++) {
        uint8_t count = instructions[i].count;
        if (strcmp(instructions[i].name, name) != 0 || (count && x->count != count)) continue;
        /* the value is not used: it has no type, or that of what is moved */
        if (x->lanes > 1) return false;
        x->type = X_I64;
        x->eval.i = instructions[i].run;
        return true;
    }
    return false;
}
