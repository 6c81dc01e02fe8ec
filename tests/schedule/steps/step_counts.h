/* tests/schedule/steps/step_counts.h - how often each random step was tried and accepted, and how
 * often each primitive took part in what was accepted: what is hardly ever accepted is hardly
 * tested. */
#ifndef HONE_TESTS_SCHEDULE_STEPS_STEP_COUNTS_H
#define HONE_TESTS_SCHEDULE_STEPS_STEP_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "schedule/trace/trace.h"

enum { HONE_STEP_COUNT_ROWS = 96 };

typedef struct hone_step_counts {
    uint64_t tried, accepted; /* all of them */
    uint32_t row_count;
    struct {
        const char *name; /* kept by the caller */
        uint64_t tried, accepted;
    } rows[HONE_STEP_COUNT_ROWS];
    uint64_t primitives[HONE_INST_COUNT]; /* instructions in the traces of schedules */
} hone_step_counts;

void hone_step_counts_add(hone_step_counts *counts, const char *name, bool is_accepted);
/* The instructions of a schedule that is done. */
void hone_step_counts_add_trace(hone_step_counts *counts, const hone_trace *trace);
/* All rows to stderr, the least accepted first, then all primitives, where the environment has
 * HONE_STEP_COUNTS. */
void hone_step_counts_print(hone_step_counts *counts);

#endif
