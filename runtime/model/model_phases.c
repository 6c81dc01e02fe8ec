/* runtime/model/model_phases.c - sizes that a call finds in tensors: the values that follow, what
 * must hold of them, memory and outputs of such sizes. */
#include <stdlib.h>
#include <string.h>

#include "runtime/model/driver_impl.h"

static int64_t element(const hone_mt_value *v, const void *data) {
    const char *at = (const char *)data + v->b * v->k;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64 = 0;
    switch (v->k) {
    case 1:
        memcpy(&i8, at, sizeof i8);
        return i8;
    case 2:
        memcpy(&i16, at, sizeof i16);
        return i16;
    case 4:
        memcpy(&i32, at, sizeof i32);
        return i32;
    default:
        memcpy(&i64, at, sizeof i64);
        return i64;
    }
}

/* -1 stands for what is beyond 64 bits, and must not be computed on with. */
static bool is_beyond(const hone_mt_value *v, int64_t a, int64_t b) {
    int64_t ignored;
    if (v->op == HONE_MT_ADD) return __builtin_add_overflow(a, b, &ignored);
    if (v->op == HONE_MT_SUB) return __builtin_sub_overflow(a, b, &ignored);
    return v->op == HONE_MT_MUL && __builtin_mul_overflow(a, b, &ignored);
}

static int32_t find_elements(const hone_mt_call *call, const hone_mt_frame *frame, const void *data,
                             int32_t phase) {
    int64_t *values = frame->values;
    for (int32_t i = 0; i < call->plan->value_count; i++) {
        const hone_mt_value *v = &call->plan->values[i];
        if (v->phase == phase && v->op == HONE_MT_ELEMENT) values[i] = element(v, data);
    }
    for (int32_t i = 0; i < call->plan->value_count; i++) {
        const hone_mt_value *v = &call->plan->values[i];
        if (v->phase != phase || v->op == HONE_MT_ELEMENT) continue;
        if (is_beyond(v, values[v->a], values[v->b])) {
            return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                                "a size that is computed of data is beyond 64 bits");
        }
        values[i] = hone_mt_arithmetic(v->op, values[v->a], values[v->b]);
    }
    return HONE_MODEL_OK;
}

static void free_made(DLManagedTensor *made) {
    free(made->dl_tensor.data);
    free(made->dl_tensor.shape);
    memset(made, 0, sizeof *made);
}

static DLManagedTensor *made_output(const hone_mt_call *call, int32_t port) {
    return (DLManagedTensor *)(void *)hone_mt_port_tensor(call, port); /* its first member */
}

void hone_mt_clear_made(const hone_mt_call *call) {
    int32_t first = call->info->input_count, ports = first + call->info->output_count;
    for (int32_t p = first; p < ports; p++) {
        if (hone_mt_port_info(call, p)->sized != HONE_MODEL_MADE) continue;
        memset(made_output(call, p), 0, sizeof(DLManagedTensor));
    }
}

static int32_t make_output(const hone_mt_call *call, hone_mt_frame *frame, int32_t port) {
    const hone_model_port *info = hone_mt_port_info(call, port);
    DLManagedTensor *made = made_output(call, port);
    int64_t bytes = (int64_t)info->dtype.lanes * ((info->dtype.bits + 7) / 8);
    int64_t room = bytes; /* for one where there is none, which is read before that is told */
    made->dl_tensor = (DLTensor){
        .device = {1, 0},
          .ndim = info->ndim, .dtype = info->dtype
    };
    made->deleter = free_made;
    made->manager_ctx = NULL;
    made->dl_tensor.shape = calloc((size_t)info->ndim + 1, sizeof(int64_t));
    if (!made->dl_tensor.shape) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    for (int32_t d = 0; d < info->ndim; d++) {
        int64_t size = frame->values[call->plan->ports[port].shape[d]];
        made->dl_tensor.shape[d] = size;
        bool is_wrong = size < 0 || __builtin_mul_overflow(bytes, size, &bytes);
        is_wrong = is_wrong || __builtin_mul_overflow(room, size > 0 ? size : 1, &room);
        if (is_wrong || room > INT64_MAX / 2) {
            return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory for output '%s'", info->name);
        }
    }
    made->dl_tensor.data =
        aligned_alloc(HONE_MT_ALIGNMENT, (size_t)hone_mt_round_up(room) + HONE_MT_ALIGNMENT);
    frame->ports[port] = made->dl_tensor.data;
    frame->bytes[port] = bytes;
    return frame->ports[port]
               ? HONE_MODEL_OK
               : hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory for %lld bytes of output '%s'",
                              (long long)room, info->name);
}

static int32_t check_room(const hone_mt_call *call, const hone_mt_frame *frame, int32_t port) {
    const hone_model_port *info = hone_mt_port_info(call, port);
    for (int32_t d = 0; d < info->ndim; d++) {
        int64_t size = frame->values[call->plan->ports[port].shape[d]];
        if (info->shape[d] < 0 || (size >= 0 && size <= info->shape[d])) continue;
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "output '%s': dimension %d is %lld, %lld fit",
                            info->name, (int)d, (long long)size, (long long)info->shape[d]);
    }
    return HONE_MODEL_OK;
}

/* Outputs whose shape is known from this phase on. */
static int32_t begin_outputs(const hone_mt_call *call, hone_mt_frame *frame, int32_t phase) {
    int32_t first = call->info->input_count, ports = first + call->info->output_count, code = 0;
    for (int32_t p = first; p < ports && !code; p++) {
        if (!hone_mt_is_sized_late(call, p) || call->plan->ports[p].phase != phase) continue;
        code = hone_mt_port_info(call, p)->sized == HONE_MODEL_MADE ? make_output(call, frame, p)
                                                                    : check_room(call, frame, p);
    }
    return code;
}

/* In a loop a phase begins again: its memory of the turn before goes, and that of the phases behind
 * it, which lies above it on the stack and is of that turn, too. */
static void end_workspaces(const hone_mt_call *call, hone_mt_frame *frame, int32_t first) {
    for (int32_t i = call->plan->phase_count; i-- > first;) {
        if (frame->workspaces[i]) call->base->workspace_free(call->base, frame->workspaces[i]);
        frame->workspaces[i] = NULL;
    }
}

int32_t hone_mt_begin_workspace(const hone_mt_call *call, hone_mt_frame *frame, int32_t phase,
                                int64_t more) {
    int64_t bytes = hone_mt_round_up(frame->values[call->plan->workspaces[phase]]), all = -1;
    bool is_wrong = bytes < 0 || __builtin_add_overflow(bytes, more, &all);
    end_workspaces(call, frame, phase);
    if (all == 0) return HONE_MODEL_OK;
    frame->workspaces[phase] = is_wrong ? NULL : call->base->workspace_alloc(call->base, all);
    return frame->workspaces[phase]
               ? HONE_MODEL_OK
               : hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory for %lld bytes of workspace",
                              (long long)(is_wrong ? bytes : all));
}

int32_t hone_mt_begin_phase(const hone_mt_call *call, hone_mt_frame *frame,
                            const hone_mt_step *step) {
    int32_t code = find_elements(call, frame, frame->args[0], step->detail);
    if (!code) code = hone_mt_check_calls(call, frame->values, step->detail);
    return code ? code : begin_outputs(call, frame, step->detail);
}

void hone_mt_end_outputs(const hone_mt_call *call, hone_mt_frame *frame, int32_t code) {
    int32_t first = call->info->input_count, ports = first + call->info->output_count;
    for (int32_t p = first; p < ports; p++) {
        const hone_model_port *info = hone_mt_port_info(call, p);
        if (info->sized == HONE_MODEL_MADE && code) free_made(made_output(call, p));
        if (info->sized != HONE_MODEL_AT_MOST || code) continue;
        DLTensor *t = hone_mt_port_tensor(call, p);
        for (int32_t d = 0; d < info->ndim; d++)
            t->shape[d] = frame->values[call->plan->ports[p].shape[d]];
        frame->bytes[p] = hone_mt_tensor_bytes(t);
    }
}
