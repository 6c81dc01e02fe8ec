/* runtime/model/device/device_ports.c - callers' tensors and a device: used where they lie, or by
 * way of memory of ours. frame->is_copy says which. */
#include "runtime/model/device/on_device.h"

static const DLTensor *tensor_of(const mt_run *run, int32_t port) {
    return hone_mt_port_tensor(run->call, port);
}

static bool is_made(const mt_run *run, int32_t port) {
    return hone_mt_port_info(run->call, port)->sized == HONE_MODEL_MADE;
}

static char *host_data(const DLTensor *t) {
    return (char *)t->data + t->byte_offset;
}

/* Tensors in place, and how many bytes there are, before any is staged. */
static void look_at(mt_run *run) {
    hone_mt_frame *frame = run->frame;
    for (int32_t p = 0; p < run->port_count; p++) {
        const DLTensor *t = tensor_of(run, p);
        frame->is_copy[p] = true;
        frame->bytes[p] = 0;
        frame->ports[p] = NULL;
        run->ports[p] = 0;
        if (is_made(run, p)) continue;
        frame->bytes[p] = hone_mt_port_bytes(run->call, p);
        if (!hone_mt_is_on_device(run->call, t)) continue;
        frame->is_copy[p] = !run->remote->table->is_fit(t, &run->ports[p]) || frame->bytes[p] == 0;
    }
}

static bool overlap(const mt_run *run, int32_t a, int32_t b) {
    const hone_mt_memory *at = run->ports;
    const int64_t *bytes = run->frame->bytes;
    if (!run->remote->table->has_addresses) return at[a] == at[b];
    return at[a] < at[b] + (uint64_t)bytes[b] && at[b] < at[a] + (uint64_t)bytes[a];
}

/* Kernels may assume that what they write shares no memory with anything else. */
static void mark_shared(mt_run *run) {
    const hone_mt_port *ports = run->call->plan->ports;
    bool *is_copy = run->frame->is_copy;
    for (int32_t p = 0; p < run->port_count; p++) {
        for (int32_t other = 0; other < p; other++) {
            if (!run->ports[p] || !run->ports[other] || !overlap(run, p, other)) continue;
            if (ports[p].is_written || ports[other].is_written) is_copy[p] = is_copy[other] = true;
        }
    }
}

static int32_t bring(mt_run *run, int32_t port) {
    const hone_mt_device_table *table = run->remote->table;
    hone_mt_device *device = run->remote->device;
    const DLTensor *t = tensor_of(run, port);
    int64_t bytes = run->frame->bytes[port];
    if (!run->call->plan->ports[port].is_input || bytes == 0) return HONE_MODEL_OK;
    if (!hone_mt_is_on_device(run->call, t))
        return table->copy_in(device, run->ports[port], host_data(t), bytes);
    return table->copy_within(device, run->ports[port], 0, (uintptr_t)t->data,
                              (int64_t)t->byte_offset, bytes);
}

static int32_t stage(mt_run *run, int32_t port) {
    mt_block *block = &run->remote->staging[port];
    int32_t code = mt_block_grow(run->remote, block, run->frame->bytes[port]);
    run->ports[port] = block->memory;
    return code;
}

int32_t mt_ports_begin(mt_run *run) {
    int32_t code = HONE_MODEL_OK;
    look_at(run);
    mark_shared(run);
    for (int32_t p = 0; p < run->port_count && !code; p++) {
        if (!run->frame->is_copy[p] || is_made(run, p)) continue;
        code = stage(run, p);
        if (!code) code = bring(run, p);
    }
    return code;
}

int32_t mt_ports_begin_phase(mt_run *run, int32_t phase) {
    int32_t code = HONE_MODEL_OK;
    for (int32_t p = run->call->info->input_count; p < run->port_count && !code; p++) {
        if (is_made(run, p) && run->call->plan->ports[p].phase == phase) code = stage(run, p);
    }
    return code;
}

static int32_t take(mt_run *run, int32_t port) {
    const hone_mt_device_table *table = run->remote->table;
    hone_mt_device *device = run->remote->device;
    const DLTensor *t = tensor_of(run, port);
    int64_t bytes = run->frame->bytes[port];
    if (!hone_mt_is_on_device(run->call, t))
        return bytes ? table->copy_out(device, host_data(t), run->ports[port], bytes) : 0;
    return table->copy_within(device, (uintptr_t)t->data, (int64_t)t->byte_offset, run->ports[port],
                              0, bytes);
}

int32_t mt_ports_end(mt_run *run) {
    int32_t code = HONE_MODEL_OK;
    for (int32_t p = 0; p < run->port_count && !code; p++) {
        if (run->frame->is_copy[p] && run->call->plan->ports[p].is_written) code = take(run, p);
    }
    return code ? code : run->remote->table->wait(run->remote->device);
}
