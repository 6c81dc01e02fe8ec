/* schedule/replay/trace_apply.c - replay: every instruction of a trace, on a schedule. The trace's
 * variables are mapped to those that the schedule makes. */
#include "schedule/replay/trace_apply.h"

#include <string.h>

#include "schedule/replay/step_args.h"
#include "schedule/state/schedule_impl.h"

/* Every variable that is used was made by an earlier instruction. */
static bool is_defined(const hone_operand *operand, uint32_t defined) {
    if (operand->kind == HONE_OPERAND_RV) return operand->u.rv < defined;
    for (uint32_t i = 0; operand->kind == HONE_OPERAND_MAP && i < operand->u.map->free_count; i++) {
        if (operand->u.map->frees[i] >= defined) return false;
    }
    if (operand->kind != HONE_OPERAND_LIST) return true;
    for (uint32_t i = 0; i < operand->count; i++) {
        if (!is_defined(&operand->u.items[i], defined)) return false;
    }
    return true;
}

static hone_status run_checked(replay *r, uint32_t index, const hone_decision *decision) {
    const hone_inst *inst = &r->trace->insts[index];
    for (uint32_t i = 0; i < inst->input_count; i++) {
        if (!is_defined(&inst->inputs[i], inst->first_output)) {
            return hone_inst_malformed(inst->kind, "an input is used before it is defined");
        }
    }
    uint32_t first = r->sch->trace.rv_count;
    hone_step_arg args[HONE_MAX_ARGS];
    HONE_TRY(replay_read_args(r, inst, args));
    HONE_TRY(hone_inst_traits_of(inst->kind)->apply(r->sch, args, decision));
    uint32_t made = r->sch->trace.rv_count - first;
    /* nobody wants the results, whose number only the step knows */
    int64_t known;
    bool is_ignored = inst->output_count == 0 &&
                      (hone_inst_is_pure(inst->kind) || !hone_inst_count_results(inst, &known));
    if (made != inst->output_count && !is_ignored) {
        return sch_refuse(r->sch, HONE_NO_ID, "it gave %u results, the trace has names for %u",
                          made, inst->output_count);
    }
    for (uint32_t i = 0; i < inst->output_count; i++)
        r->map[inst->first_output + i] = first + i;
    return HONE_OK;
}

/* "step 7: sch.split(…): " in front of a refusal. */
static hone_status name_step(const replay *r, uint32_t index, hone_status st) {
    if (!r->sch->wants_reasons) return st;
    hone_str text = {0};
    hone_status failed = hone_inst_print_python(r->trace, index, &text);
    if (failed || text.failed) {
        hone_status_free(failed);
    } else {
        st = hone_status_annotate(st, "step %u: %s", index + 1, text.data);
    }
    hone_str_deinit(&text);
    return st;
}

hone_status hone_trace_apply(const hone_trace *trace, struct hone_schedule *sch,
                             const hone_apply_options *options) {
    static const hone_apply_options defaults = {0};
    if (!options) options = &defaults;
    const hone_decision *decisions = options->decisions ? options->decisions : trace->decisions;
    replay r = {.sch = sch, .trace = trace};
    r.map = hone_arena_alloc(sch->arena, (trace->rv_count + 1) * sizeof *r.map);
    if (!r.map) return sch_no_memory();
    for (uint32_t i = 0; i < trace->rv_count; i++)
        r.map[i] = options->done ? options->done_rvs[i] : HONE_NO_ID; /* no instruction makes it */
    sch->blame = HONE_NO_ID;
    for (uint32_t i = options->done; i < trace->count; i++) {
        if (options->skip_postproc && trace->insts[i].kind == HONE_INST_ENTER_POSTPROC) break;
        if (options->is_left_out && options->is_left_out[i]) continue;
        bool has_decision = !options->resample && decisions[i].count;
        hone_status st = run_checked(&r, i, has_decision ? &decisions[i] : NULL);
        if (!st && options->after_step) st = options->after_step(options->ctx, sch, i);
        if (st) {
            if (options->out_failed) *options->out_failed = i;
            return name_step(&r, i, st);
        }
    }
    if (options->out_rvs) memcpy(options->out_rvs, r.map, trace->rv_count * sizeof *r.map);
    return HONE_OK;
}
