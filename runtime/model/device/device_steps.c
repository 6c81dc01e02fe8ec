/* runtime/model/device/device_steps.c - runs a plan whose tensors lie in the memory of a device.
 *
 *   LAUNCH, COPY   begun on the device's stream, in order
 *   SIZES, flow    the few bytes that decide are read by the host
 *   KERNEL, EXTERN run by this machine's CPU on copies
 *
 * Where only the first kind stands in a plan, its second call with the same sizes and memory is
 * noted as a graph, which the calls after that replay.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/model/device/on_device.h"

enum { MAX_SCRATCH = 256 };
#define MAX_GRID_X INT64_C(0x7fffffff)
#define MAX_GRID_YZ INT64_C(65535)

static int64_t bytes_of(const mt_run *run, int32_t tensor) {
    return run->frame->values[run->call->plan->tensors[tensor].bytes];
}

static int32_t memory_of(mt_run *run, int32_t tensor, hone_mt_memory *out_memory) {
    const hone_mt_tensor *t = &run->call->plan->tensors[tensor];
    hone_mt_remote *remote = run->remote;
    hone_mt_memory *part = &run->prepared->parts[tensor];
    int64_t bytes = bytes_of(run, tensor);
    int32_t code = HONE_MODEL_OK;
    if (t->place == HONE_MT_PORT) {
        *out_memory = run->ports[t->index];
        return HONE_MODEL_OK;
    }
    if (!*part) {
        bool is_weight = t->place == HONE_MT_WEIGHT;
        const mt_block *block = is_weight ? &remote->weights : &remote->workspaces[t->index];
        int64_t offset = is_weight ? t->offset : run->frame->values[t->value];
        code =
            remote->table->part(remote->device, block->memory, offset, bytes > 0 ? bytes : 1, part);
    }
    *out_memory = *part;
    return code;
}

/* ---- launches ---- */

typedef struct scratch_parts {
    hone_mt_memory memory[MAX_SCRATCH];
    int32_t count;
} scratch_parts;

static int64_t scratch_bytes(const mt_run *run, const hone_mt_step *step, int32_t number) {
    int64_t bytes = run->frame->values[step->scratch[number]];
    return (bytes / HONE_MT_DEVICE_ALIGNMENT + 1) * HONE_MT_DEVICE_ALIGNMENT;
}

static void drop_scratch(mt_run *run, scratch_parts *parts) {
    for (int32_t i = 0; i < parts->count; i++)
        run->remote->table->drop(run->remote->device, parts->memory[i]);
    parts->count = 0;
}

/* Steps come one after the other: they share one block. */
static int32_t make_scratch(mt_run *run, const hone_mt_step *step, scratch_parts *out_parts) {
    hone_mt_remote *remote = run->remote;
    int64_t all = 0, at = 0;
    out_parts->count = 0;
    for (int32_t i = 0; i < step->scratch_count; i++) {
        if (run->frame->values[step->scratch[i]] < 0)
            return hone_mt_fail(HONE_MODEL_NO_MEMORY, "a size on the device is beyond 64 bits");
        all += scratch_bytes(run, step, i);
    }
    int32_t code = all ? mt_block_grow(remote, &remote->scratch, all) : HONE_MODEL_OK;
    for (int32_t i = 0; i < step->scratch_count && i < MAX_SCRATCH && !code; i++) {
        int64_t bytes = scratch_bytes(run, step, i);
        code = remote->table->part(remote->device, remote->scratch.memory, at, bytes,
                                   &out_parts->memory[i]);
        if (!code) out_parts->count = i + 1;
        at += bytes;
    }
    if (code) drop_scratch(run, out_parts);
    return code;
}

static int32_t find_function(mt_run *run, const hone_mt_launch *launch, int64_t shared_bytes,
                             void **io_function) {
    hone_mt_remote *remote = run->remote;
    if (*io_function) return HONE_MODEL_OK;
    return remote->table->find(remote->device, remote->modules[launch->program], launch->symbol,
                               shared_bytes, io_function);
}

/* *out_is_some: the grid has blocks. */
static int32_t find_dims(const mt_run *run, const hone_mt_launch *launch, hone_mt_dims *out_dims,
                         bool *out_is_some) {
    const int64_t *values = run->frame->values;
    *out_is_some = true;
    for (int d = 0; d < 3; d++) {
        int64_t grid = values[launch->grid[d]];
        if (grid < 0 || grid > (d ? MAX_GRID_YZ : MAX_GRID_X)) {
            return hone_mt_fail(HONE_MODEL_FAILED, "a grid of %lld blocks along %c is too large",
                                (long long)grid, "xyz"[d]);
        }
        out_dims->grid[d] = (uint32_t)grid;
        out_dims->block[d] = (uint32_t)values[launch->block[d]];
        *out_is_some &= grid > 0;
    }
    out_dims->shared_bytes = (uint32_t)values[launch->shared_bytes];
    return HONE_MODEL_OK;
}

static int32_t find_params(mt_run *run, const hone_mt_step *step, const hone_mt_launch *launch,
                           const scratch_parts *scratch, uint64_t *out_params) {
    int32_t code = HONE_MODEL_OK;
    for (int32_t i = 0; i < launch->param_count && !code; i++) {
        const hone_mt_param *param = &launch->params[i];
        if (param->kind == HONE_MT_PARAM_VALUE) {
            out_params[i] = (uint64_t)run->frame->values[param->index];
        } else if (param->kind == HONE_MT_PARAM_SCRATCH) {
            out_params[i] = scratch->memory[param->index];
        } else {
            code = memory_of(run, step->args[param->index], &out_params[i]);
        }
    }
    return code;
}

static int32_t launch_one(mt_run *run, const hone_mt_step *step, const hone_mt_launch *launch,
                          const scratch_parts *scratch, void **io_function) {
    uint64_t params[HONE_MT_MAX_PARAMS];
    hone_mt_dims dims;
    bool is_some;
    int32_t code = find_dims(run, launch, &dims, &is_some);
    if (code || !is_some) return code;
    code = find_function(run, launch, dims.shared_bytes, io_function);
    if (!code) code = find_params(run, step, launch, scratch, params);
    if (code) return code;
    return run->remote->table->launch(run->remote->device, *io_function, &dims, params,
                                      launch->param_count);
}

static int32_t run_launches(mt_run *run, int32_t index) {
    const hone_mt_step *step = &run->call->plan->steps[index];
    void **functions = run->prepared->functions + run->prepared->first_launch[index];
    scratch_parts scratch;
    int32_t code = make_scratch(run, step, &scratch);
    if (code) return code;
    for (int32_t i = 0; i < step->launch_count && !code; i++)
        code = launch_one(run, step, &step->launches[i], &scratch, &functions[i]);
    drop_scratch(run, &scratch);
    return code;
}

static int32_t run_copy(mt_run *run, const hone_mt_step *step) {
    hone_mt_memory from = 0, to = 0;
    int32_t code = memory_of(run, step->args[0], &from);
    if (!code) code = memory_of(run, step->args[1], &to);
    if (code || from == to) return code;
    return run->remote->table->copy_within(run->remote->device, to, 0, from, 0,
                                           bytes_of(run, step->args[1]));
}

/* ---- what the host does ---- */

static int32_t fetch(mt_run *run, int32_t tensor, void *out, int64_t bytes) {
    hone_mt_memory memory = 0;
    int32_t code = memory_of(run, tensor, &memory);
    if (code) return code;
    return run->remote->table->copy_out(run->remote->device, out, memory, bytes);
}

static int32_t put(mt_run *run, int32_t tensor, const void *data, int64_t bytes) {
    hone_mt_memory memory = 0;
    int32_t code = memory_of(run, tensor, &memory);
    if (code) return code;
    return run->remote->table->copy_in(run->remote->device, memory, data, bytes);
}

/* Host memory for all arguments; weights are there already. NULL: none, or none is left. */
static char *lay_out(const mt_run *run, const hone_mt_step *step, const uint8_t *weights,
                     int64_t *out_bytes) {
    const hone_rt *base = run->call->base;
    int64_t bytes = 0;
    for (int32_t i = 0; i < step->arg_count; i++)
        bytes += hone_mt_round_up(bytes_of(run, step->args[i]));
    *out_bytes = bytes;
    char *memory = base->workspace_alloc(base, bytes + HONE_MT_ALIGNMENT), *at = memory;
    for (int32_t i = 0; memory && i < step->arg_count; i++) {
        const hone_mt_tensor *t = &run->call->plan->tensors[step->args[i]];
        bool is_weight = t->place == HONE_MT_WEIGHT;
        run->frame->args[i] = is_weight ? (void *)(uintptr_t)(weights + t->offset) : at;
        at += hone_mt_round_up(bytes_of(run, step->args[i]));
    }
    return memory;
}

static bool is_weight(const mt_run *run, const hone_mt_step *step, int32_t arg) {
    return run->call->plan->tensors[step->args[arg]].place == HONE_MT_WEIGHT;
}

/* May the step change this argument? Of external functions nobody knows. */
static bool is_written(const mt_run *run, const hone_mt_step *step, int32_t arg) {
    const hone_mt_tensor *t = &run->call->plan->tensors[step->args[arg]];
    if (t->place == HONE_MT_WEIGHT) return false;
    if (step->kind == HONE_MT_EXTERN || arg >= step->arg_count - step->detail) return true;
    return t->place == HONE_MT_PORT && run->call->plan->ports[t->index].is_written;
}

static int32_t call_host(mt_run *run, const hone_mt_step *step) {
    int32_t said = 0, code = HONE_MODEL_OK;
    for (int32_t i = 0; i < step->size_count; i++)
        run->frame->sizes[i] = run->frame->values[step->sizes[i]];
    if (step->kind == HONE_MT_EXTERN) {
        code = hone_mt_run_extern(run->call, step, run->frame, &said);
    } else {
        said = hone_mt_run_kernel(run->call, step, run->frame);
    }
    return !code && said ? hone_mt_step_failed(run->call, step, said) : code;
}

static int32_t call_on_copies(mt_run *run, const hone_mt_step *step) {
    int32_t code = HONE_MODEL_OK;
    for (int32_t i = 0; i < step->arg_count && !code; i++) {
        if (is_weight(run, step, i)) continue;
        code = fetch(run, step->args[i], run->frame->args[i], bytes_of(run, step->args[i]));
    }
    if (!code) code = call_host(run, step);
    for (int32_t i = 0; i < step->arg_count && !code; i++) {
        if (!is_written(run, step, i)) continue;
        code = put(run, step->args[i], run->frame->args[i], bytes_of(run, step->args[i]));
    }
    return code;
}

static int32_t run_on_host(mt_run *run, const hone_mt_step *step) {
    const hone_rt *base = run->call->base;
    int64_t bytes;
    char *memory = lay_out(run, step, run->remote->host_weights, &bytes);
    if (!memory) {
        return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory for %lld bytes of '%s' on the host",
                            (long long)bytes, step->name);
    }
    int32_t code = call_on_copies(run, step);
    base->workspace_free(base, memory);
    return code;
}

static int32_t begin_phase(mt_run *run, const hone_mt_step *step) {
    const hone_rt *base = run->call->base;
    int32_t tensor = step->args[0], phase = step->detail;
    char *memory = base->workspace_alloc(base, bytes_of(run, tensor) + HONE_MT_ALIGNMENT);
    if (!memory) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    int32_t code = fetch(run, tensor, memory, bytes_of(run, tensor));
    run->frame->args[0] = memory;
    if (!code) code = hone_mt_begin_phase(run->call, run->frame, step);
    base->workspace_free(base, memory);
    if (!code) code = mt_ports_begin_phase(run, phase);
    if (code) return code;
    return mt_block_grow(run->remote, &run->remote->workspaces[phase],
                         run->frame->values[run->call->plan->workspaces[phase]]);
}

/* A phase may begin again, in a loop: parts of a workspace that moved are made anew. */
static void forget_moved(mt_run *run, int64_t generation) {
    if (run->remote->generation == generation) return;
    mt_prepared_clear(run->remote, run->prepared);
    run->prepared->generation = run->remote->generation;
}

static int32_t run_place(mt_run *run, const hone_mt_step *step) {
    hone_mt_memory item = 0, whole = 0;
    int64_t place = 0, bytes = bytes_of(run, step->args[0]);
    int32_t code = fetch(run, step->args[1], &place, sizeof place);
    if (!code) code = memory_of(run, step->args[0], &item);
    if (!code) code = memory_of(run, step->args[2], &whole);
    if (code) return code;
    return run->remote->table->copy_within(run->remote->device, whole, place * bytes, item, 0,
                                           bytes);
}

/* The numbers that decide, as hone_mt_flow wants them: here. */
static int32_t run_flow(mt_run *run, const hone_mt_step *step, int32_t *io_next) {
    int64_t numbers[2] = {0, 0};
    int32_t code = HONE_MODEL_OK;
    if (step->kind == HONE_MT_PLACE) return run_place(run, step);
    for (int32_t i = 0; i < step->arg_count && i < 2 && !code; i++) {
        run->frame->args[i] = &numbers[i];
        bool is_flag = step->kind == HONE_MT_UNLESS;
        if (step->kind == HONE_MT_START) continue;
        code = fetch(run, step->args[i], &numbers[i], is_flag ? 1 : (int64_t)sizeof numbers[i]);
    }
    if (code) return code;
    *io_next = hone_mt_flow(run->call, step, run->frame, *io_next);
    bool is_counter = step->kind == HONE_MT_START || step->kind == HONE_MT_NEXT;
    return is_counter ? put(run, step->args[0], &numbers[0], sizeof numbers[0]) : code;
}

static int32_t run_kind(mt_run *run, int32_t index, int32_t *io_next) {
    const hone_mt_step *step = &run->call->plan->steps[index];
    switch ((hone_mt_step_kind)step->kind) {
    case HONE_MT_LAUNCH:
        return run->call->observer ? mt_seen_run(run, index, run_launches)
                                   : run_launches(run, index);
    case HONE_MT_COPY:
        return run_copy(run, step);
    case HONE_MT_SIZES:
        return begin_phase(run, step);
    case HONE_MT_KERNEL:
    case HONE_MT_EXTERN:
        return run_on_host(run, step);
    case HONE_MT_DEMAND:
        return hone_mt_check_calls(run->call, run->frame->values, step->detail);
    default:
        return run_flow(run, step, io_next);
    }
}

/* Whose failure it was. */
static int32_t name_step(const hone_mt_step *step, int32_t code) {
    char words[400];
    if (!code || code == HONE_MODEL_NO_EXTERN || code == HONE_MODEL_BAD_ARGUMENT) return code;
    snprintf(words, sizeof words, "%s", hone_mt_last_error());
    if (words[0] == '\'') return code; /* it is named already */
    return hone_mt_fail(code, "'%s': %s", step->name, words);
}

static int32_t run_step(mt_run *run, int32_t index, int32_t *io_next) {
    const hone_mt_step *step = &run->call->plan->steps[index];
    int64_t generation = run->remote->generation;
    if (hone_mt_writes_nothing(run->call, step, run->frame)) return HONE_MODEL_OK;
    int32_t code = name_step(step, run_kind(run, index, io_next));
    forget_moved(run, generation);
    return code;
}

static int32_t begin_all(mt_run *run) {
    int32_t code = HONE_MODEL_OK;
    for (int32_t i = 0, next; i < run->call->plan->step_count && !code; i = next) {
        next = i + 1;
        code = run_step(run, i, &next);
    }
    return code;
}

/* ---- graphs ---- */

static bool has_same_ports(const mt_run *run) {
    return memcmp(run->prepared->ports, run->ports, (size_t)run->port_count * sizeof *run->ports) ==
           0;
}

/* A graph that cannot be had is no failure: what was to be noted is run as it is, by the caller. */
static void note_graph(mt_run *run) {
    hone_mt_remote *remote = run->remote;
    mt_prepared *prepared = run->prepared;
    void *graph = NULL;
    if (remote->table->capture_begin(remote->device)) return;
    int32_t code = begin_all(run);
    int32_t ended = remote->table->capture_end(remote->device, &graph);
    if (code || ended) {
        if (graph) remote->table->graph_destroy(remote->device, graph);
        prepared->may_be_graph = false;
        return;
    }
    prepared->graph = graph;
}

/* The first call has made all memory and found all kernels. */
static void consider_graph(mt_run *run) {
    mt_prepared *prepared = run->prepared;
    if (!prepared->may_be_graph) return;
    if (!has_same_ports(run)) {
        if (prepared->graph)
            run->remote->table->graph_destroy(run->remote->device, prepared->graph);
        prepared->graph = NULL;
        prepared->calls = 0;
        memcpy(prepared->ports, run->ports, (size_t)run->port_count * sizeof *run->ports);
    }
    if (++prepared->calls > 1 && !prepared->graph) note_graph(run);
}

static int32_t run_steps(mt_run *run) {
    if (!run->call->observer) consider_graph(run);
    if (run->prepared->graph && !run->call->observer)
        return run->remote->table->graph_launch(run->remote->device, run->prepared->graph);
    return begin_all(run);
}

/* ---- one call ---- */

/* What a call that failed has begun reads and writes its caller's memory. The first words stay. */
static void settle(hone_mt_remote *remote) {
    char words[400];
    snprintf(words, sizeof words, "%s", hone_mt_last_error());
    if (!remote->device->is_lost) (void)remote->table->wait(remote->device);
    (void)hone_mt_fail(HONE_MODEL_FAILED, "%s", words);
}

static int32_t run_in(mt_run *run) {
    hone_mt_remote *remote = run->remote;
    int32_t code = mt_block_grow(remote, &remote->workspaces[0],
                                 run->frame->values[run->call->plan->workspaces[0]]);
    if (!code) code = mt_ports_begin(run);
    if (!code) code = mt_prepare(run);
    if (!code) code = run_steps(run);
    if (!code) {
        code = remote->table->wait(remote->device);
    } else {
        settle(remote);
    }
    mt_seen_tell(run, code);
    hone_mt_end_outputs(run->call, run->frame, code);
    if (code) return code;
    code = mt_ports_end(run);
    if (code) hone_mt_end_outputs(run->call, run->frame, code);
    return code;
}

int32_t hone_mt_run_on_device(hone_mt_remotes *remotes, const hone_mt_model *model,
                              const uint8_t *weights, hone_mt_call *call, hone_mt_frame *frame) {
    const hone_rt *base = call->base;
    mt_run run = {.call = call,
                  .frame = frame,
                  .port_count = call->info->input_count + call->info->output_count};
    hone_mt_clear_made(call);
    run.ports = base->workspace_alloc(base, (run.port_count + 1) * (int64_t)sizeof *run.ports);
    if (!run.ports) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    int32_t code = mt_remote_begin(remotes, model, weights, call, &run.remote);
    if (!code) {
        code = run_in(&run);
        mt_remote_end(run.remote);
    }
    base->workspace_free(base, run.ports);
    return code;
}
