/* ir/interp/interp_matrix.c - matrix units of GPUs, as what they do to buffers.
 *
 * wmma: a fragment is a tile of the buffer that holds it. Its number counts tiles along the rows of
 * that buffer, then down; in a flat buffer tiles lie one behind the other. How a tile was loaded
 * (its sizes, rows or columns first) is remembered with the storage, as registers would.
 *
 * mma and ldmatrix, whose tiles the lanes of a warp hold together: interp_matrix_lanes.c.
 *
 * Sums go over k in order, each step rounded to the type of the accumulator, as the descriptions of
 * the intrinsics have it.
 */
#include "ir/interp/interp_matrix_impl.h"

#include <math.h>
#include <string.h>

#include "support/core/alloc.h"

HONE_NORETURN void matrix_fail(machine *m, const char *what) {
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

hone_var matrix_lane_variable(machine *m) {
    hone_var variable = find_lane(m);
    if (variable == HONE_NO_ID)
        matrix_fail(m, "an instruction of a warp stands in no loop over threadIdx.x");
    return variable;
}

/* ---- what the arguments name ---- */

/* A buffer by its data variable; it must be live. */
hone_buffer matrix_registers_of(machine *m, const xexpr *e) {
    hone_buffer id = HONE_NO_ID;
    if (e->source->kind == HONE_EXPR_VAR) id = buffer_of_data(m, e->source->u.var);
    if (id == HONE_NO_ID || !m->buffers[id].store) {
        matrix_fail(m, "a matrix instruction works on a buffer that does not exist");
    }
    return id;
}

bool matrix_holds_floats(const machine *m, hone_buffer id) {
    return hone_dtype_is_float(m->buffers[id].dtype);
}

number matrix_value_at(machine *m, hone_buffer id, int64_t at) {
    const xbuffer *b = &m->buffers[id];
    return matrix_holds_floats(m, id) ? (number){.f = read_float(b->store, b->dtype, at)}
                                      : (number){.i = read_int(b->store, b->dtype, at)};
}

number matrix_get(machine *m, hone_buffer id, int64_t at) {
    touch_element(m, id, at, false);
    return matrix_value_at(m, id, at);
}

/* The lanes of a warp store a tile together: what one of them has put there is no race. */
void matrix_put(machine *m, hone_buffer id, int64_t at, number value) {
    const xbuffer *b = &m->buffers[id];
    m->fresh = &value;
    touch_element(m, id, at, true);
    m->fresh = NULL;
    if (matrix_holds_floats(m, id))
        write_float(b->store, b->dtype, at, value.f);
    else
        write_int(b->store, b->dtype, at, value.i);
}

void matrix_require_same_sort(machine *m, hone_buffer a, hone_buffer b) {
    if (matrix_holds_floats(m, a) != matrix_holds_floats(m, b)) {
        matrix_fail(m, "a matrix instruction mixes floats and integers");
    }
}

static double rounded(double value, hone_dtype dtype) {
    if (dtype.bits == 64) return value;
    return dtype.bits == 32 ? (double)(float)value : round_slow(value, dtype);
}

/* Factors as NVIDIA's units take them: of 24 bits of a float 11 are left (tf32), rounded, halves
 * away from zero. */
void matrix_round_factors(hone_dtype dtype, number *values, int64_t count) {
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
number matrix_add_products(machine *m, hone_buffer accumulator, int64_t at, const number *row,
                           const number *column, int64_t count) {
    number sum = matrix_get(m, accumulator, at);
    for (int64_t k = 0; k < count; k++)
        sum = multiply_add(m, accumulator, sum, row[k], column[k]);
    return sum;
}

/* Room for the factors of a product, until the next one. */
number *matrix_room_for_factors(machine *m, int64_t count) {
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
    const xbuffer *b = &m->buffers[id];
    const xstore *s = b->store;
    bool is_same = hone_dtype_bytes(b->dtype) == hone_dtype_bytes(s->dtype);
    int64_t row = s->row && is_same ? s->row : columns;
    if (rows < 1 || columns < 1 || row % columns != 0) {
        matrix_fail(m, "a fragment's tiles do not divide the rows of its buffer");
    }
    int64_t per_row = row / columns;
    tile t = {id, 0, row, 1, rows, columns};
    t.offset = index / per_row * rows * row + index % per_row * columns;
    if (index < 0 || t.offset + (rows - 1) * row + columns > view_elements(b)) {
        matrix_fail(m, "a fragment lies outside of its buffer");
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
    if (f->m == 0) matrix_fail(m, "a fragment is used before it is loaded or filled");
    int64_t rows = is_b ? f->k : f->m, columns = is_a ? f->k : f->n;
    if (!f->is_turned) return tile_at(m, id, index, rows, columns);
    tile t = tile_at(m, id, index, columns, rows);
    return (tile){id, t.offset, 1, t.row_step, rows, columns};
}

/* args[1] data, then m, n, k and the number of the fragment. */
static tile shaped_fragment(machine *m, const xexpr *e, bool is_turned) {
    hone_buffer id = matrix_registers_of(m, e->args[1]);
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
    number n =
        matrix_holds_floats(m, t->buffer) ? (number){.f = value} : (number){.i = (int64_t)value};
    int64_t share = share_of(m, t->buffer);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; has_row(share, i) && j < t->columns; j++) {
            if (has_column(share, j)) matrix_put(m, t->buffer, element_of(t, i, j), n);
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
    matrix_require_same_sort(m, t->buffer, memory);
    int64_t share = share_of(m, t->buffer);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; has_row(share, i) && j < t->columns; j++) {
            int64_t there = offset + i * row_step + j * column_step, here = element_of(t, i, j);
            if (!has_column(share, j)) continue;
            if (is_store)
                matrix_put(m, memory, there, matrix_get(m, t->buffer, here));
            else
                matrix_put(m, t->buffer, here, matrix_get(m, memory, there));
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
            *out++ = matrix_get(m, t->buffer, at);
        }
    }
}

/* D = A B + C, of rows by k and k by columns; x and y: A's rows and B's columns. */
static void multiply_tiles(machine *m, const tile part[4], int64_t k, const number *x,
                           const number *y) {
    const tile *d = &part[0], *c = &part[3];
    for (int64_t i = 0; i < d->rows; i++) {
        for (int64_t j = 0; j < d->columns; j++) {
            number sum =
                matrix_add_products(m, c->buffer, element_of(c, i, j), x + i * k, y + j * k, k);
            matrix_put(m, d->buffer, element_of(d, i, j), sum);
        }
    }
}

/* (D, number, A, number, B, number, C, number): D = A B + C */
static int64_t multiply_fragments(const xexpr *e, machine *m) {
    tile part[4]; /* D, A, B, C */
    hone_buffer ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = matrix_registers_of(m, e->args[1 + 2 * i]);
    xfragment *d = &m->buffers[ids[0]].store->fragment;
    const xfragment *a = &m->buffers[ids[1]].store->fragment;
    const xfragment *b = &m->buffers[ids[2]].store->fragment;
    if (d->m == 0) *d = m->buffers[ids[3]].store->fragment;
    for (int i = 0; i < 4; i++) {
        matrix_require_same_sort(m, ids[i], ids[0]);
        part[i] = fragment(m, ids[i], x_int(e->args[2 + 2 * i], m));
    }
    if (a->m != d->m || b->n != d->n || a->k != b->k)
        matrix_fail(m, "fragments of other sizes meet");
    int64_t k = a->k;
    number *x = matrix_room_for_factors(m, (d->m + d->n) * k), *y = x + d->m * k;
    read_tile(m, &part[1], false, x);
    read_tile(m, &part[2], true, y);
    matrix_round_factors(m->buffers[ids[1]].dtype, x, d->m * k);
    matrix_round_factors(m->buffers[ids[2]].dtype, y, d->n * k);
    multiply_tiles(m, part, k, x, y);
    return 0;
}

/* ---- wgmma: operands in shared memory, as columns whose rows are 128 bytes ---- */

xcolumns matrix_columns_at(machine *m, const xexpr *pointer, const xexpr *stride) {
    xcolumns c = {.stride = x_int(stride, m)};
    c.buffer = place_of_pointer(m, pointer, &c.offset);
    c.side = 128 / (int64_t)hone_dtype_bytes(hone_func_buffer(m->func, c.buffer)->dtype);
    return c;
}

static number in_columns(machine *m, const xcolumns *c, int64_t along, int64_t row) {
    return matrix_get(m, c->buffer,
                      c->offset + along / c->side * c->stride + row * c->side + along % c->side);
}

/* count elements: of a row along its columns, or of what stands there in the rows one below the
 * other. */
void matrix_read_columns(machine *m, const xcolumns *c, int64_t at, int64_t count, bool is_along,
                         number *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = is_along ? in_columns(m, c, i, at) : in_columns(m, c, at, i);
}

/* (C, m, n, k, number, A, stride, B, stride, "k" or "mn"[, calls that may go on]): C += A B, B's
 * columns lying along k or n
 */
static int64_t multiply_columns(const xexpr *e, machine *m) {
    tile t = shaped_fragment(m, e, false);
    xcolumns a = matrix_columns_at(m, e->args[6], e->args[7]),
             b = matrix_columns_at(m, e->args[8], e->args[9]);
    const hone_expr *way = e->args[10]->source;
    bool is_along_k = way->kind == HONE_EXPR_STRING && strcmp(way->u.s, "k") == 0;
    int64_t count = m->buffers[t.buffer].store->fragment.k, share = share_of(m, t.buffer);
    matrix_require_same_sort(m, a.buffer, t.buffer);
    matrix_require_same_sort(m, b.buffer, t.buffer);
    number *rows = matrix_room_for_factors(m, (t.rows + 1) * count),
           *column = rows + t.rows * count;
    for (int64_t i = 0; i < t.rows; i++) {
        if (has_row(share, i)) matrix_read_columns(m, &a, i, count, true, rows + i * count);
    }
    for (int64_t j = 0; j < t.columns; j++) {
        if (has_column(share, j)) matrix_read_columns(m, &b, j, count, is_along_k, column);
        for (int64_t i = 0; has_column(share, j) && i < t.rows; i++) {
            int64_t at = element_of(&t, i, j);
            if (!has_row(share, i)) continue;
            matrix_put(m, t.buffer, at,
                       matrix_add_products(m, t.buffer, at, rows + i * count, column, count));
        }
    }
    return 0;
}

/* (C): all that was said about it is done; here it was at once. */
static int64_t wait_for_columns(const xexpr *e, machine *m) {
    matrix_registers_of(m, e->args[1]);
    return 0;
}

/* ---- Metal: matrices of a group of threads, tiles of a buffer as those of wmma are ---- */

/* args[1] data, args[2] the number of the matrix */
static tile matrix_at(machine *m, const xexpr *e, const xexpr *rows, const xexpr *columns) {
    return tile_at(m, matrix_registers_of(m, e->args[1]), x_int(e->args[2], m), x_int(rows, m),
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
        hone_buffer id = matrix_registers_of(m, e->args[1 + 2 * i]);
        part[i] = tile_at(m, id, x_int(e->args[2 + 2 * i], m), 8, 8);
        matrix_require_same_sort(m, id, part[0].buffer);
    }
    number *x = matrix_room_for_factors(m, 2 * 64), *y = x + 64;
    read_tile(m, &part[1], false, x);
    read_tile(m, &part[2], true, y);
    multiply_tiles(m, part, 8, x, y);
    return 0;
}

/* ---- */

static const struct {
    const char *name;
    uint8_t count; /* of arguments, the name among them; 0: any */
    int64_t (*run)(const xexpr *e, machine *m);
} instructions[] = {
    {"tvm_fill_fragment",                   7,  fill_fragment           },
    {"tvm_load_matrix_sync",                9,  load_fragment           },
    {"tvm_store_matrix_sync",               9,  store_fragment          },
    {"tvm_mma_sync",                        9,  multiply_fragments      },
    {"ptx.wgmma_wait",                      2,  wait_for_columns        },
    {"ptx.wgmma_lanes",                     11, matrix_multiply_of_lanes},
    {"ptx.wgmma_lanes_wait",                0,  matrix_wait_for_lanes   },
    {"ptx.wgmma",                           12, multiply_columns        },
    {"ptx.wgmma",                           11, multiply_columns        },
    {"metal.make_filled_simdgroup_matrix",  6,  fill_matrix             },
    {"metal.simdgroup_load",                8,  load_matrix             },
    {"metal.simdgroup_store",               8,  store_matrix            },
    {"metal.simdgroup_multiply_accumulate", 9,  multiply_matrices       },
    {"ptx_legacy.ldmatrix",                 8,  matrix_ldmatrix         },
    {"ptx_legacy.mma",                      14, matrix_mma              },
    {"cuda.mma_fill_legacy",                4,  matrix_fill_registers   },
    {"cuda.mma_store_legacy",               7,  matrix_store_registers  },
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
