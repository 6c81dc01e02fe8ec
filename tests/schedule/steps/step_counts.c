/* tests/schedule/steps/step_counts.c - counts steps that were tried and accepted. */
#include "tests/schedule/steps/step_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/trace/trace_args.h"

void hone_step_counts_add(hone_step_counts *counts, const char *name, bool is_accepted) {
    uint32_t at = 0;
    counts->tried++;
    counts->accepted += is_accepted;
    while (at < counts->row_count && strcmp(counts->rows[at].name, name) != 0)
        at++;
    if (at == HONE_STEP_COUNT_ROWS) return;
    if (at == counts->row_count) counts->rows[counts->row_count++].name = name;
    counts->rows[at].tried++;
    counts->rows[at].accepted += is_accepted;
}

void hone_step_counts_add_trace(hone_step_counts *counts, const hone_trace *trace) {
    for (uint32_t i = 0; i < trace->count; i++)
        counts->primitives[trace->insts[i].kind]++;
}

static uint32_t least_accepted(const hone_step_counts *counts, const bool *is_done) {
    uint32_t least = counts->row_count;
    for (uint32_t i = 0; i < counts->row_count; i++) {
        bool is_less =
            least == counts->row_count || counts->rows[i].accepted < counts->rows[least].accepted;
        if (!is_done[i] && is_less) least = i;
    }
    return least;
}

void hone_step_counts_print(hone_step_counts *counts) {
    bool is_done[HONE_STEP_COUNT_ROWS] = {false};
    if (!getenv("HONE_STEP_COUNTS")) return;
    for (uint32_t i = 0; i < counts->row_count; i++) {
        uint32_t row = least_accepted(counts, is_done);
        is_done[row] = true;
        fprintf(stderr, "%-28s %9llu accepted of %9llu\n", counts->rows[row].name,
                (unsigned long long)counts->rows[row].accepted,
                (unsigned long long)counts->rows[row].tried);
    }
    for (int kind = 0; kind < HONE_INST_COUNT; kind++) {
        fprintf(stderr, "%-28s %9llu instructions\n", hone_inst_python_name((hone_inst_kind)kind),
                (unsigned long long)counts->primitives[kind]);
    }
}
