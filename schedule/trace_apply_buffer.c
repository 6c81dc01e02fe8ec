#include "schedule/trace_apply_impl.h"

/* Replay of the steps on one block that change how its buffers are kept and accessed. */

static hone_status run_align(replay *r, const hone_inst *inst, hone_rv block, int64_t buffer) {
    int64_t axis, factor, offset;
    HONE_TRY(replay_int(inst, 1, 0, false, &axis));
    HONE_TRY(replay_int(inst, 2, 0, false, &factor));
    HONE_TRY(replay_int(inst, 3, 0, false, &offset));
    return hone_sch_storage_align(r->sch, block, buffer, axis, factor, offset);
}

static hone_status run_hide(replay *r, const hone_inst *inst, hone_rv block) {
    uint32_t count = 0;
    int64_t *indices = NULL;
    if (inst->input_count < 2 || inst->inputs[1].kind != HONE_OPERAND_STRING) {
        return replay_malformed(inst, "buf_type must be a string");
    }
    HONE_TRY(replay_ints(r, inst, 2, &count, &indices));
    return hone_sch_unsafe_hide_buffer_access(r->sch, block, inst->inputs[1].u.s, count, indices);
}

hone_status replay_buffer_step(replay *r, const hone_inst *inst, hone_rv block) {
    int64_t buffer = 0;
    uint32_t count = 0;
    int64_t *order = NULL;
    const char *text = NULL;
    switch (inst->kind) {
    case HONE_INST_REORDER_BLOCK_ITER_VAR:
        HONE_TRY(replay_ints(r, inst, 1, &count, &order));
        return hone_sch_reorder_block_iter_var(r->sch, block, count, order);
    case HONE_INST_STORAGE_ALIGN:
        HONE_TRY(replay_buffer(r, inst, 0, block, true, &buffer));
        return run_align(r, inst, block, buffer);
    case HONE_INST_SET_SCOPE:
        HONE_TRY(replay_buffer(r, inst, 0, block, true, &buffer));
        HONE_TRY(replay_string(inst, 1, &text));
        return hone_sch_set_scope(r->sch, block, buffer, text);
    case HONE_INST_UNSAFE_SET_DTYPE:
        HONE_TRY(replay_buffer(r, inst, 0, block, true, &buffer));
        HONE_TRY(replay_string(inst, 1, &text));
        return hone_sch_unsafe_set_dtype(r->sch, block, buffer, text);
    case HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS:
        return run_hide(r, inst, block);
    default:
        return replay_malformed(inst, "unknown instruction");
    }
}
