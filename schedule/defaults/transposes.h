/* schedule/defaults/transposes.h - transposes in tiles (default_transpose.c), in the ways that a
 * search tries. */
#ifndef HONE_SCHEDULE_DEFAULTS_TRANSPOSES_H
#define HONE_SCHEDULE_DEFAULTS_TRANSPOSES_H

#include "schedule/defaults/default_schedule.h"

/* Squares of a register's width are turned in registers; so many of them lie beside each other and
 * below each other before the next ones are begun. */
typedef struct hone_transpose_way {
    hone_factor rows, columns; /* squares */
    int64_t row_registers;     /* squares that are turned one right behind the other, as far as
                                  they fill a line of the input */
    bool is_buffered;          /* they are collected in a buffer, which is then written in rows */
    bool columns_first;        /* columns of the output are the outer loop, not rows */
} hone_transpose_way;

/* Schedules a block that reads across the rows along which it writes. ILLEGAL: it does not, or is
 * too small; half of the steps may be done then. */
HONE_NODISCARD hone_status hone_transpose_schedule(hone_schedule *sch, hone_rv block,
                                                   const hone_default_limits *limits,
                                                   const hone_transpose_way *way);

#endif
