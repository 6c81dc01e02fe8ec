/* tests/schedule/defaults/loop_counts.h - which loops a default schedule has made, as numbers. */
#ifndef HONE_TESTS_SCHEDULE_DEFAULTS_LOOP_COUNTS_H
#define HONE_TESTS_SCHEDULE_DEFAULTS_LOOP_COUNTS_H

#include "ir/core/func.h"

typedef struct default_loops {
    uint32_t top, parallel, vectorized, unrolled; /* top: nests below the root */
    uint32_t collected;                           /* reductions that lowering makes vectors of */
    int64_t longest_vector;
    int64_t sums;  /* that are collected together */
    int64_t ahead; /* iterations, of a loop that asks for what is read then */
} default_loops;

/* Of a scheduled function. */
default_loops default_count_loops(const hone_func *func);
/* Of the program that the text is, on the first of default_machines. */
default_loops default_loops_of(const char *text);

#endif
