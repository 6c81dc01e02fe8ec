/* schedule/replay/trace_opening.c - replays that begin behind the first steps of a trace. */
#include "schedule/replay/trace_opening.h"

static uint32_t steps_before_draws(const hone_trace *trace) {
    uint32_t count = 0;
    while (count < trace->count && !hone_inst_is_sampling(trace->insts[count].kind) &&
           trace->insts[count].kind != HONE_INST_ENTER_POSTPROC) {
        count++;
    }
    return count;
}

static bool changes_something(const hone_trace *trace, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!hone_inst_is_pure(trace->insts[i].kind)) return true;
    }
    return false;
}

static hone_status keep(const hone_trace *trace, const hone_schedule *sch, const hone_rv *rvs,
                        hone_trace_opening *io) {
    HONE_TRY(hone_schedule_copy(sch, &io->at));
    io->rvs = hone_arena_copy(io->at->arena, rvs, trace->rv_count * sizeof *rvs);
    return io->rvs ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "opening of a trace");
}

hone_status hone_trace_opening_init(const hone_trace *trace, hone_schedule *sch,
                                    hone_trace_opening *out) {
    hone_trace first = *trace;
    first.count = steps_before_draws(trace);
    *out = (hone_trace_opening){.count = first.count};
    if (!changes_something(trace, first.count)) return HONE_OK;
    HONE_TRY(hone_schedule_reset(sch));
    hone_rv *rvs = hone_arena_zalloc(sch->arena, (trace->rv_count + 1) * sizeof *rvs);
    if (!rvs) return HONE_ERROR(HONE_CODE_NO_MEMORY, "opening of a trace");
    hone_status st = hone_trace_apply(&first, sch, &(hone_apply_options){.out_rvs = rvs});
    if (!st) st = keep(trace, sch, rvs, out);
    if (!st) return HONE_OK;
    hone_trace_opening_deinit(out);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return HONE_OK;
}

void hone_trace_opening_deinit(hone_trace_opening *opening) {
    hone_schedule_destroy(opening->at);
    *opening = (hone_trace_opening){0};
}

hone_status hone_trace_opening_apply(const hone_trace_opening *opening, const hone_trace *trace,
                                     hone_schedule *sch, const hone_apply_options *options) {
    if (!opening->at) {
        HONE_TRY(hone_schedule_reset(sch));
        return hone_trace_apply(trace, sch, options);
    }
    hone_apply_options behind = options ? *options : (hone_apply_options){0};
    behind.done = opening->count;
    behind.done_rvs = opening->rvs;
    HONE_TRY(hone_schedule_reset_to(sch, opening->at));
    return hone_trace_apply(trace, sch, &behind);
}
