/* ir/interp/interp_matrix_lanes.c - matrix units whose tiles the lanes of a warp hold together, in
 * registers: mma, ldmatrix, and wgmma on the threads' own memory; layouts are those of PTX (ISA
 * 9.7.14).
 *
 * Lanes run one after the other; what a lane takes from others is found by evaluating an argument
 * with the lane's variable set to theirs. That is exact because an instruction reads registers that
 * earlier ones wrote, and writes its own lane's.
 */
#include "ir/interp/interp_matrix_impl.h"

#include <stdio.h>
#include <string.h>

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
        matrix_put(m, to, to_offset + l, matrix_get(m, from, offset + k * stride + n));
    }
}

/* (is_turned, matrices, ".b16", registers, offset, memory, offset of the lane's row) */
int64_t matrix_ldmatrix(const xexpr *e, machine *m) {
    hone_var variable = matrix_lane_variable(m);
    hone_buffer to = matrix_registers_of(m, e->args[4]);
    int64_t offset, lane = m->slots[variable].i % LANES, to_offset = x_int(e->args[5], m);
    hone_buffer from = place_of_pointer(m, e->args[6], &offset);
    bool is_turned = x_int(e->args[1], m) != 0;
    int64_t bits = hone_func_buffer(m->func, to)->dtype.bits, each = 16 / bits;
    matrix_require_same_sort(m, to, from);
    if (strncmp(hone_func_buffer(m->func, to)->scope, "m16n8k8.", 8) == 0) {
        matrix_fail(
            m, "registers of m16n8k8 get their layout from a pass of TVM's behind the schedule");
    }
    if (bits != 8 && bits != 16) matrix_fail(m, "ldmatrix loads elements of 8 or 16 bits");
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
                matrix_put(m, to, to_offset + (2 * i + half) * each + s,
                           matrix_get(m, from, at + s));
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
    int64_t bits = hone_func_buffer(m->func, matrix_registers_of(m, p.a))->dtype.bits;
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
    hone_buffer id = matrix_registers_of(m, registers);
    if (strcmp(hone_func_buffer(m->func, id)->scope, "warp") == 0) {
        return matrix_get(m, id, of_lane(m, offset, variable, lane) + at);
    }
    xthread *other = m->thread ? lane_at(m->crew, m->thread, (uint32_t)lane) : NULL;
    if (!other) matrix_fail(m, "an instruction of a warp is executed by less than its lanes");
    number *slots = m->slots;
    xbuffer *buffers = m->buffers;
    m->slots = other->slots;
    m->buffers = other->buffers;
    at += x_int(offset, m);
    touch_register(m, id, at);
    number held = matrix_value_at(m, id, at);
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
    matrix_round_factors(m->buffers[matrix_registers_of(m, registers)].dtype, out, p->k);
}

/* C += A B */
int64_t matrix_mma(const xexpr *e, machine *m) {
    xmma p = mma_of(m, e);
    hone_var variable = matrix_lane_variable(m);
    hone_buffer c = matrix_registers_of(m, p.c);
    int64_t lane = m->slots[variable].i % LANES, c_offset = x_int(p.c_offset, m);
    int64_t halves = p.rows / 8;
    matrix_require_same_sort(m, matrix_registers_of(m, p.a), c);
    matrix_require_same_sort(m, matrix_registers_of(m, p.b), c);
    number *rows = matrix_room_for_factors(m, 4 * p.k), *columns = rows + 2 * p.k;
    for (int64_t i = 0; i < halves; i++)
        read_held(m, &p, variable, lane / 4 * 4, p.a, p.a_offset, i, halves, rows + i * p.k);
    for (int64_t j = 0; j < 2; j++)
        read_held(m, &p, variable, 4 * (2 * (lane % 4) + j), p.b, p.b_offset, 0, 1,
                  columns + j * p.k);
    for (int64_t l = 0; l < 2 * halves; l++) {
        const number *row = rows + l / 2 * p.k, *column = columns + l % 2 * p.k;
        matrix_put(m, c, c_offset + l, matrix_add_products(m, c, c_offset + l, row, column, p.k));
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
    if (!f.is_held) f.columns = matrix_columns_at(m, e->args[6], e->args[7]);
    return f;
}

/* A row of it, of those of the group. */
static void read_factor(machine *m, hone_var variable, const xfactor *f, int64_t row, int64_t depth,
                        xvalue *out) {
    if (!f->is_held) {
        matrix_read_columns(m, &f->columns, row, depth, true, out);
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
int64_t matrix_multiply_of_lanes(const xexpr *e, machine *m) {
    hone_var variable = matrix_lane_variable(m);
    hone_buffer c = matrix_registers_of(m, e->args[1]);
    int64_t c_offset = x_int(e->args[2], m), n = x_int(e->args[3], m), depth = x_int(e->args[4], m);
    int64_t thread = m->slots[variable].i % (4 * LANES), lane = thread % LANES;
    const xfactor a = factor_of(m, e);
    const xcolumns b = matrix_columns_at(m, e->args[8], e->args[9]);
    const hone_expr *way = e->args[10]->source;
    bool is_along_k = way->kind == HONE_EXPR_STRING && strcmp(way->u.s, "k") == 0;
    bool begins = x_int(e->args[5], m) != 0;
    matrix_require_same_sort(m, b.buffer, c);
    xvalue *rows = matrix_room_for_factors(m, 3 * depth), *column = rows + 2 * depth;
    for (int64_t i = 0; i < 2; i++)
        read_factor(m, variable, &a, thread / LANES * 16 + lane / 4 + i * 8, depth,
                    rows + i * depth);
    for (int64_t j = 0; j < n / 4; j++) {
        matrix_read_columns(m, &b, j / 2 * 8 + lane % 4 * 2 + j % 2, depth, is_along_k, column);
        for (int64_t i = 0; i < 2; i++) {
            int64_t at = c_offset + j / 2 * 4 + i * 2 + j % 2;
            if (begins) matrix_put(m, c, at, (xvalue){.i = 0});
            matrix_put(m, c, at, matrix_add_products(m, c, at, rows + i * depth, column, depth));
        }
    }
    return 0;
}

/* (calls that may go on, C, ...): here all of them were done at once. */
int64_t matrix_wait_for_lanes(const xexpr *e, machine *m) {
    for (uint32_t i = 2; i < e->count; i++)
        matrix_registers_of(m, e->args[i]);
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
int64_t matrix_fill_registers(const xexpr *e, machine *m) {
    hone_var variable = matrix_lane_variable(m);
    hone_buffer to = matrix_registers_of(m, e->args[2]);
    int64_t count = x_int(e->args[1], m);
    int64_t base = x_int(e->args[3], m) + lane_base(m, to, variable, count);
    for (int64_t l = 0; l < count; l++)
        matrix_put(m, to, base + l,
                   matrix_holds_floats(m, to) ? (number){.f = 0} : (number){.i = 0});
    return 0;
}

/* (16, 16, memory, registers, offset, stride) */
int64_t matrix_store_registers(const xexpr *e, machine *m) {
    hone_var variable = matrix_lane_variable(m);
    hone_buffer from = matrix_registers_of(m, e->args[4]);
    int64_t offset, stride = x_int(e->args[6], m), lane = m->slots[variable].i % LANES;
    hone_buffer memory = place_of_pointer(m, e->args[3], &offset);
    int64_t base = x_int(e->args[5], m) + lane_base(m, from, variable, 8);
    matrix_require_same_sort(m, from, memory);
    for (int64_t l = 0; l < 8; l++) {
        int64_t row = 8 * (l % 4 / 2) + lane / 4, column = 8 * (l / 4) + lane % 4 * 2 + l % 2;
        matrix_put(m, memory, offset + row * stride + column, matrix_get(m, from, base + l));
    }
    return 0;
}
