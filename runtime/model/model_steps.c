/* runtime/model/model_steps.c - runs the steps of a plan on the host: copies of tensors that
 * kernels cannot take as they are, kernels, branches and loops. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/model/driver_impl.h"

/* ---- memory ---- */

static char *port_data(const DLTensor *t) {
    return (char *)t->data + t->byte_offset;
}

int64_t hone_mt_port_bytes(const hone_mt_call *call, int32_t port) {
    const DLTensor *t = hone_mt_port_tensor(call, port);
    const hone_model_port *info = hone_mt_port_info(call, port);
    if (info->sized != HONE_MODEL_AT_MOST) return hone_mt_tensor_bytes(t);
    int64_t bytes = (int64_t)info->dtype.lanes * ((info->dtype.bits + 7) / 8);
    for (int32_t d = 0; d < info->ndim; d++)
        bytes *= info->shape[d] >= 0 ? info->shape[d] : t->shape[d];
    return bytes;
}

/* Kernels may assume that what they write shares no memory with anything else: marks the ports that
 * do. */
static void mark_shared(const hone_mt_call *call, hone_mt_frame *frame, int32_t port_count) {
    const hone_mt_port *ports = call->plan->ports;
    for (int32_t p = 0; p < port_count; p++) {
        const char *begin = frame->ports[p], *end = begin + frame->bytes[p];
        for (int32_t other = 0; other < p; other++) {
            const char *at = frame->ports[other];
            if (!ports[p].is_written && !ports[other].is_written) continue;
            if (at <= begin ? begin < at + frame->bytes[other] : at < end) {
                frame->is_copy[p] = frame->is_copy[other] = true;
            }
        }
    }
}

/* Kernels read vectors from wherever elements may lie: a copy would cost more than lines that are
 * read twice. What they write past the caches begins where a line does. */
static uintptr_t least_alignment(const hone_mt_call *call, int32_t port) {
    if (call->plan->ports[port].is_written) return HONE_MT_ALIGNMENT;
    const hone_model_port *info = hone_mt_port_info(call, port);
    return ((uintptr_t)info->dtype.bits + 7) / 8;
}

/* Which ports need a copy; the bytes that all copies need. */
static int64_t plan_copies(const hone_mt_call *call, hone_mt_frame *frame, int32_t port_count) {
    int64_t bytes = 0;
    for (int32_t p = 0; p < port_count; p++) {
        frame->ports[p] = NULL;
        frame->bytes[p] = 0;
        frame->is_copy[p] = false;
        if (hone_mt_port_info(call, p)->sized == HONE_MODEL_MADE) continue;
        frame->ports[p] = port_data(hone_mt_port_tensor(call, p));
        frame->bytes[p] = hone_mt_port_bytes(call, p);
        frame->is_copy[p] = (uintptr_t)frame->ports[p] % least_alignment(call, p) != 0;
    }
    mark_shared(call, frame, port_count);
    for (int32_t p = 0; p < port_count; p++) {
        if (frame->is_copy[p]) bytes += hone_mt_round_up(frame->bytes[p]);
    }
    return bytes;
}

static void copy_in(const hone_mt_call *call, hone_mt_frame *frame, int32_t port_count,
                    char *memory) {
    for (int32_t p = 0; p < port_count; p++) {
        if (!frame->is_copy[p]) continue;
        const DLTensor *t = hone_mt_port_tensor(call, p);
        if (call->plan->ports[p].is_input) memcpy(memory, port_data(t), (size_t)frame->bytes[p]);
        frame->ports[p] = memory;
        memory += hone_mt_round_up(frame->bytes[p]);
    }
}

static void copy_out(const hone_mt_call *call, const hone_mt_frame *frame, int32_t port_count) {
    for (int32_t p = 0; p < port_count; p++) {
        if (!frame->is_copy[p] || !call->plan->ports[p].is_written) continue;
        const DLTensor *t = hone_mt_port_tensor(call, p);
        memcpy(port_data(t), frame->ports[p], (size_t)frame->bytes[p]);
    }
}

/* ---- steps ---- */

static void *tensor_data(const hone_mt_call *call, const hone_mt_frame *frame,
                         const uint8_t *weights, int32_t index) {
    const hone_mt_tensor *t = &call->plan->tensors[index];
    if (t->place == HONE_MT_PORT) return frame->ports[t->index];
    if (t->place == HONE_MT_WEIGHT) return (void *)(uintptr_t)(weights + t->offset);
    return frame->workspaces[t->index] + frame->values[t->value];
}

/* Which failure it is, by what the kernel said. */
static int32_t kind_of_failure(const hone_mt_call *call, const hone_mt_step *step) {
    if (step->kind == HONE_MT_EXTERN) return HONE_MODEL_EXTERN_FAILED;
    switch (call->message_code) {
    case HONE_KERNEL_NO_MEMORY:
        return HONE_MODEL_NO_MEMORY;
    case HONE_KERNEL_NO_EXTERN:
        return HONE_MODEL_NO_EXTERN;
    case HONE_KERNEL_EXTERN_FAILED:
        return HONE_MODEL_EXTERN_FAILED;
    default:
        return HONE_MODEL_FAILED;
    }
}

int32_t hone_mt_step_failed(const hone_mt_call *call, const hone_mt_step *step, int32_t code) {
    return hone_mt_fail(kind_of_failure(call, step), "%s'%s' failed with code %d%s%s",
                        step->kind == HONE_MT_EXTERN ? "external function " : "", step->name,
                        (int)code, call->message[0] ? ": " : "", call->message);
}

bool hone_mt_writes_nothing(const hone_mt_call *call, const hone_mt_step *step,
                            const hone_mt_frame *frame) {
    bool is_kernel = step->kind == HONE_MT_KERNEL || step->kind == HONE_MT_LAUNCH;
    if (!is_kernel || call->plan->phase_count == 1) return false;
    for (int32_t i = step->arg_count - step->detail; i < step->arg_count; i++) {
        if (frame->values[call->plan->tensors[step->args[i]].bytes] != 0) return false;
    }
    return step->detail > 0;
}

int32_t hone_mt_flow(const hone_mt_call *call, const hone_mt_step *step, const hone_mt_frame *frame,
                     int32_t next) {
    int64_t *number = step->arg_count ? frame->args[0] : NULL, place;
    int64_t bytes = 0;
    switch ((hone_mt_step_kind)step->kind) {
    case HONE_MT_UNLESS:
        return *(const uint8_t *)frame->args[0] ? next : step->detail;
    case HONE_MT_GO:
        return step->detail;
    case HONE_MT_START:
        *number = -1;
        return next;
    case HONE_MT_NEXT:
        place = step->size_count ? frame->values[step->sizes[0]] : *(int64_t *)frame->args[1];
        return ++*number < place ? next : step->detail;
    default: /* PLACE */
        memcpy(&place, frame->args[1], sizeof place);
        bytes = frame->values[call->plan->tensors[step->args[0]].bytes];
        memcpy((char *)frame->args[2] + place * bytes, frame->args[0], (size_t)bytes);
        return next;
    }
}

static int64_t step_bytes(const hone_mt_call *call, const hone_mt_step *step,
                          const hone_mt_frame *frame) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < step->arg_count; i++)
        bytes += frame->values[call->plan->tensors[step->args[i]].bytes];
    return bytes;
}

static hone_seen_step seen_of(const hone_mt_call *call, const hone_mt_step *step,
                              const hone_mt_frame *frame) {
    return (hone_seen_step){.name = step->name,
                            .workload = step->workload,
                            .origin = step->origin,
                            .flops = step->flops,
                            .bytes = step_bytes(call, step, frame)};
}

void hone_mt_tell(const hone_mt_call *call, const hone_mt_step *step, const hone_mt_frame *frame,
                  bool is_over, int32_t code) {
    if (!call->observer) return;
    hone_seen_step seen = seen_of(call, step, frame);
    seen.is_over = is_over;
    seen.code = code;
    call->observer(call->base, &seen);
}

void hone_mt_tell_time(const hone_mt_call *call, const hone_mt_step *step,
                       const hone_mt_frame *frame, int64_t ns) {
    hone_seen_step seen = seen_of(call, step, frame);
    seen.is_over = 2;
    seen.ns = ns;
    call->observer(call->base, &seen);
}

int32_t hone_mt_run_kernel(hone_mt_call *call, const hone_mt_step *step, hone_mt_frame *frame) {
    hone_mt_tell(call, step, frame, false, 0);
    int32_t code = step->kernel(&call->rt, frame->args, frame->sizes);
    hone_mt_tell(call, step, frame, true, code);
    return code;
}

/* *io_next: the step that comes then. */
static int32_t run_step(hone_mt_call *call, const hone_mt_step *step, hone_mt_frame *frame,
                        const uint8_t *weights, int32_t *io_next) {
    for (int32_t i = 0; i < step->arg_count; i++)
        frame->args[i] = tensor_data(call, frame, weights, step->args[i]);
    if (step->kind == HONE_MT_SIZES) {
        int32_t code = hone_mt_begin_phase(call, frame, step);
        return code ? code : hone_mt_begin_workspace(call, frame, step->detail, 0);
    }
    if (hone_mt_writes_nothing(call, step, frame)) return HONE_MODEL_OK;
    if (step->kind == HONE_MT_COPY) {
        const hone_mt_tensor *to = &call->plan->tensors[step->args[1]];
        memmove(frame->args[1], frame->args[0], (size_t)frame->values[to->bytes]);
        return HONE_MODEL_OK;
    }
    if (step->kind == HONE_MT_EXTERN) {
        int32_t said, code = hone_mt_run_extern(call, step, frame, &said);
        return !code && said ? hone_mt_step_failed(call, step, said) : code;
    }
    if (step->kind == HONE_MT_DEMAND) return hone_mt_check_calls(call, frame->values, step->detail);
    if (step->kind != HONE_MT_KERNEL) {
        *io_next = hone_mt_flow(call, step, frame, *io_next);
        return HONE_MODEL_OK;
    }
    for (int32_t i = 0; i < step->size_count; i++)
        frame->sizes[i] = frame->values[step->sizes[i]];
    int32_t code = hone_mt_run_kernel(call, step, frame);
    return code ? hone_mt_step_failed(call, step, code) : HONE_MODEL_OK;
}

int32_t hone_mt_run_steps(hone_mt_call *call, hone_mt_frame *frame, const uint8_t *weights,
                          int32_t port_count) {
    const hone_mt_plan *plan = call->plan;
    int64_t copies = plan_copies(call, frame, port_count);
    hone_mt_clear_made(call);
    int32_t code = hone_mt_begin_workspace(call, frame, 0, copies);
    if (code) return code;
    if (copies) {
        copy_in(call, frame, port_count,
                frame->workspaces[0] + hone_mt_round_up(frame->values[plan->workspaces[0]]));
    }
    for (int32_t i = 0, next; i < plan->step_count && !code; i = next) {
        next = i + 1;
        code = run_step(call, &plan->steps[i], frame, weights, &next);
    }
    hone_mt_end_outputs(call, frame, code);
    if (!code) copy_out(call, frame, port_count);
    return code;
}
