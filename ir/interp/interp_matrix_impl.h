/* ir/interp/interp_matrix_impl.h - what matrix units on tiles (interp_matrix.c) and on registers of
 * lanes (interp_matrix_lanes.c) share. For these two files only. */
#ifndef HONE_IR_INTERP_INTERP_MATRIX_IMPL_H
#define HONE_IR_INTERP_INTERP_MATRIX_IMPL_H

#include "ir/interp/interp_team.h"

enum { LANES = 32 };

typedef xvalue number; /* what an element is, of either sort */

/* Ends the run: an instruction cannot do what it is asked for. */
HONE_NORETURN void matrix_fail(machine *m, const char *what);
/* The variable of the loop over threadIdx.x around the statement; ends the run where there is none.
 */
hone_var matrix_lane_variable(machine *m);
/* The buffer whose data an argument names; ends the run where it names none. */
hone_buffer matrix_registers_of(machine *m, const xexpr *e);
/* Elements of the buffer are floats, else integers. */
bool matrix_holds_floats(const machine *m, hone_buffer id);
/* ---- elements of a buffer, by their number in its storage ---- */
/* Reads one that has been touched already. */
number matrix_value_at(machine *m, hone_buffer id, int64_t at);
/* Touches one, then reads or writes it. */
number matrix_get(machine *m, hone_buffer id, int64_t at);
void matrix_put(machine *m, hone_buffer id, int64_t at, number value);
/* Ends the run where one buffer holds floats and the other integers. */
void matrix_require_same_sort(machine *m, hone_buffer a, hone_buffer b);

/* ---- products ---- */
/* Room for so many factors, until the next call. */
number *matrix_room_for_factors(machine *m, int64_t count);
/* Factors as NVIDIA's units take them: of 24 bits of a float 11 are left (tf32), rounded, halves
 * away from zero. */
void matrix_round_factors(hone_dtype dtype, number *values, int64_t count);
/* An element of the accumulator, and to it the products of a row and a column, in the accumulator's
 * type. */
number matrix_add_products(machine *m, hone_buffer accumulator, int64_t at, const number *row,
                           const number *column, int64_t count);

/* ---- operands in shared memory, as columns whose rows are 128 bytes ---- */
typedef struct xcolumns {
    hone_buffer buffer;
    int64_t offset, stride, side; /* elements; between columns; in a row of one */
} xcolumns;
/* The columns that a pointer and a stride between them say. */
xcolumns matrix_columns_at(machine *m, const xexpr *pointer, const xexpr *stride);
/* count elements: of row `at` along the columns (is_along), or of column `at` down the rows. */
void matrix_read_columns(machine *m, const xcolumns *c, int64_t at, int64_t count, bool is_along,
                         number *out);

/* ---- instructions on registers of lanes (interp_matrix_lanes.c); their arguments stand there ----
 */
int64_t matrix_ldmatrix(const xexpr *e, machine *m);
int64_t matrix_mma(const xexpr *e, machine *m);
int64_t matrix_multiply_of_lanes(const xexpr *e, machine *m);
int64_t matrix_wait_for_lanes(const xexpr *e, machine *m);
int64_t matrix_fill_registers(const xexpr *e, machine *m);
int64_t matrix_store_registers(const xexpr *e, machine *m);

#endif
