/* runtime/model/device/device_state.c - devices that a model has used: opened at the first call
 * that wants one, with its weights and code; what is kept of each plan there. */
#include <stdlib.h>
#include <string.h>

#include "runtime/model/device/on_device.h"

static int32_t no_memory(void) {
    return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
}

static int64_t round_up(int64_t bytes) {
    return (bytes / HONE_MT_DEVICE_ALIGNMENT + 1) * HONE_MT_DEVICE_ALIGNMENT;
}

/* ---- blocks ---- */

static void release_block(hone_mt_remote *remote, mt_block *block) {
    if (block->memory) remote->table->release(remote->device, block->memory);
    *block = (mt_block){0};
}

int32_t mt_block_grow(hone_mt_remote *remote, mt_block *block, int64_t bytes) {
    if (block->memory && bytes <= block->bytes) return HONE_MODEL_OK;
    if (bytes < 0 || bytes > INT64_MAX / 2)
        return hone_mt_fail(HONE_MODEL_NO_MEMORY, "a size on the device is beyond 64 bits");
    remote->generation++;
    int32_t code = block->memory ? remote->table->wait(remote->device) : HONE_MODEL_OK;
    if (code) return code;
    release_block(remote, block);
    code = remote->table->alloc(remote->device, round_up(bytes), &block->memory);
    block->bytes = code ? 0 : round_up(bytes);
    return code;
}

/* ---- plans ---- */

void mt_prepared_clear(hone_mt_remote *remote, mt_prepared *prepared) {
    if (prepared->graph) remote->table->graph_destroy(remote->device, prepared->graph);
    for (int32_t i = 0; i < prepared->part_count; i++) {
        if (prepared->parts[i]) remote->table->drop(remote->device, prepared->parts[i]);
        prepared->parts[i] = 0;
    }
    prepared->graph = NULL;
    prepared->calls = 0;
    prepared->generation = -1;
}

static void end_prepared(hone_mt_remote *remote, mt_prepared *prepared) {
    mt_prepared_clear(remote, prepared);
    for (int32_t i = 0; i < prepared->function_count; i++) {
        if (prepared->functions[i]) remote->table->forget(remote->device, prepared->functions[i]);
    }
    free(prepared->values);
    free(prepared->parts);
    free(prepared->first_launch);
    free(prepared->functions);
    free(prepared->ports);
    free(prepared);
}

/* A graph has launches and copies alone. */
static void look_at_steps(const hone_mt_remote *remote, mt_prepared *prepared) {
    const hone_mt_plan *plan = prepared->plan;
    prepared->may_be_graph = remote->table->capture_begin && plan->phase_count == 1;
    for (int32_t i = 0; i < plan->step_count; i++) {
        const hone_mt_step *step = &plan->steps[i];
        if (prepared->first_launch) prepared->first_launch[i] = prepared->function_count;
        prepared->function_count += step->launch_count;
        if (step->kind != HONE_MT_LAUNCH && step->kind != HONE_MT_COPY)
            prepared->may_be_graph = false;
    }
}

static int32_t make_prepared(hone_mt_remote *remote, const hone_mt_plan *plan,
                             mt_prepared **out_prepared) {
    mt_prepared *made = calloc(1, sizeof *made);
    if (!made) return no_memory();
    made->plan = plan;
    made->generation = -1;
    made->first_launch = calloc((size_t)plan->step_count + 1, sizeof *made->first_launch);
    look_at_steps(remote, made);
    made->values = calloc((size_t)plan->value_count + 1, sizeof *made->values);
    made->parts = calloc((size_t)plan->tensor_count + 1, sizeof *made->parts);
    made->functions = calloc((size_t)made->function_count + 1, sizeof *made->functions);
    made->ports = calloc((size_t)remote->most_ports + 1, sizeof *made->ports);
    if (!made->first_launch || !made->values || !made->parts || !made->functions || !made->ports) {
        made->function_count = 0;
        end_prepared(remote, made);
        return no_memory();
    }
    made->part_count = plan->tensor_count;
    made->next = remote->prepared;
    remote->prepared = *out_prepared = made;
    return HONE_MODEL_OK;
}

static mt_prepared *find_prepared(const hone_mt_remote *remote, const hone_mt_plan *plan) {
    mt_prepared *at = remote->prepared;
    while (at && at->plan != plan)
        at = at->next;
    return at;
}

/* Sizes that a call finds later may be others each time. */
static bool is_as_before(const mt_prepared *prepared, const mt_run *run) {
    const hone_mt_plan *plan = prepared->plan;
    return prepared->generation == run->remote->generation && plan->phase_count == 1 &&
           memcmp(prepared->values, run->frame->values,
                  (size_t)plan->value_count * sizeof *prepared->values) == 0;
}

int32_t mt_prepare(mt_run *run) {
    const hone_mt_plan *plan = run->call->plan;
    mt_prepared *prepared = find_prepared(run->remote, plan);
    int32_t code = prepared ? HONE_MODEL_OK : make_prepared(run->remote, plan, &prepared);
    if (code) return code;
    run->prepared = prepared;
    if (is_as_before(prepared, run)) return HONE_MODEL_OK;
    mt_prepared_clear(run->remote, prepared);
    prepared->generation = run->remote->generation;
    memcpy(prepared->values, run->frame->values,
           (size_t)plan->value_count * sizeof *prepared->values);
    return HONE_MODEL_OK;
}

/* ---- opening ---- */

static int32_t upload_weights(hone_mt_remote *remote) {
    const hone_mt_model *model = remote->model;
    int32_t code = mt_block_grow(remote, &remote->weights, model->weights_bytes);
    if (code || !remote->host_weights) return code;
    return remote->table->copy_in(remote->device, remote->weights.memory, remote->host_weights,
                                  model->weights_bytes);
}

static int32_t load_programs(hone_mt_remote *remote) {
    int32_t code = HONE_MODEL_OK;
    for (int64_t i = 0; i < remote->model->program_count && !code; i++)
        code =
            remote->table->load(remote->device, &remote->model->programs[i], &remote->modules[i]);
    return code;
}

static void find_most(hone_mt_remote *remote) {
    const hone_mt_model *model = remote->model;
    for (int32_t e = 0; e < model->info->entry_count; e++) {
        const hone_model_entry *info = &model->info->entries[e];
        int32_t ports = info->input_count + info->output_count;
        if (ports > remote->most_ports) remote->most_ports = ports;
        for (int32_t i = 0; i < model->entries[e].plan_count; i++) {
            int32_t phases = model->entries[e].plans[i].phase_count;
            if (phases > remote->most_phases) remote->most_phases = phases;
        }
    }
}

static int32_t make_lists(hone_mt_remote *remote) {
    find_most(remote);
    remote->workspaces = calloc((size_t)remote->most_phases + 1, sizeof *remote->workspaces);
    remote->staging = calloc((size_t)remote->most_ports + 1, sizeof *remote->staging);
    remote->modules = calloc((size_t)remote->model->program_count + 1, sizeof *remote->modules);
    return remote->workspaces && remote->staging && remote->modules ? HONE_MODEL_OK : no_memory();
}

static void release_all(hone_mt_remote *remote) {
    while (remote->prepared) {
        mt_prepared *next = remote->prepared->next;
        end_prepared(remote, remote->prepared);
        remote->prepared = next;
    }
    for (int64_t i = 0; remote->modules && i < remote->model->program_count; i++) {
        if (remote->modules[i]) remote->table->unload(remote->device, remote->modules[i]);
    }
    for (int32_t i = 0; remote->workspaces && i < remote->most_phases; i++)
        release_block(remote, &remote->workspaces[i]);
    for (int32_t i = 0; remote->staging && i < remote->most_ports; i++)
        release_block(remote, &remote->staging[i]);
    release_block(remote, &remote->scratch);
    release_block(remote, &remote->weights);
}

static void destroy_remote(hone_mt_remote *remote) {
    if (remote->device) {
        bool is_in = remote->table->enter(remote->device) == HONE_MODEL_OK;
        release_all(remote);
        if (is_in) remote->table->leave(remote->device);
        remote->table->close(remote->device);
    }
    pthread_mutex_destroy(&remote->lock);
    free(remote->workspaces);
    free(remote->staging);
    free(remote->modules);
    free(remote);
}

static int32_t fill_remote(hone_mt_remote *remote) {
    int32_t code = remote->table->enter(remote->device);
    if (code) return code;
    code = make_lists(remote);
    if (!code) code = upload_weights(remote);
    if (!code) code = load_programs(remote);
    if (!code) code = remote->table->wait(remote->device);
    remote->table->leave(remote->device);
    return code;
}

static int32_t open_remote(hone_mt_remotes *remotes, const hone_mt_model *model,
                           const uint8_t *weights, const hone_mt_call *call,
                           const hone_mt_device_choice *choice, hone_mt_remote **out_remote) {
    hone_mt_remote *made = calloc(1, sizeof *made);
    if (!made) return no_memory();
    made->table = call->device;
    made->choice = *choice;
    made->model = model;
    made->host_weights = weights;
    pthread_mutex_init(&made->lock, NULL);
    int32_t code = made->table->open(choice, &made->device);
    if (!code) code = fill_remote(made);
    if (code) {
        destroy_remote(made);
        return code;
    }
    made->next = remotes->first;
    remotes->first = *out_remote = made;
    return HONE_MODEL_OK;
}

static bool is_same(const hone_mt_device_choice *a, const hone_mt_device_choice *b) {
    return a->ordinal == b->ordinal && a->context == b->context;
}

/* All tensors on devices are on one; without any it is the first device. */
static int32_t choose(const hone_mt_call *call, hone_mt_device_choice *out_choice) {
    const hone_model_entry *info = call->info;
    const DLTensor *first = NULL;
    *out_choice = (hone_mt_device_choice){0, NULL};
    for (int32_t p = 0; p < info->input_count + info->output_count; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        hone_mt_device_choice other = {0, NULL};
        if (hone_mt_port_info(call, p)->sized == HONE_MODEL_MADE) continue;
        if (!hone_mt_is_on_device(call, t)) continue;
        int32_t code = call->device->choose(t, &other);
        if (code) return code;
        if (first && !is_same(&other, out_choice)) {
            return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                                "'%s' is on another device than tensors before it",
                                hone_mt_port_info(call, p)->name);
        }
        first = t;
        *out_choice = other;
    }
    return HONE_MODEL_OK;
}

static int32_t find_remote(hone_mt_remotes *remotes, const hone_mt_model *model,
                           const uint8_t *weights, const hone_mt_call *call,
                           hone_mt_remote **out_remote) {
    hone_mt_device_choice choice;
    int32_t code = choose(call, &choice);
    if (code) return code;
    pthread_mutex_lock(&remotes->lock);
    *out_remote = remotes->first;
    while (*out_remote && !is_same(&(*out_remote)->choice, &choice))
        *out_remote = (*out_remote)->next;
    if (!*out_remote) code = open_remote(remotes, model, weights, call, &choice, out_remote);
    pthread_mutex_unlock(&remotes->lock);
    return code;
}

int32_t mt_remote_begin(hone_mt_remotes *remotes, const hone_mt_model *model,
                        const uint8_t *weights, const hone_mt_call *call,
                        hone_mt_remote **out_remote) {
    hone_mt_remote *remote = NULL;
    int32_t code = find_remote(remotes, model, weights, call, &remote);
    if (code) return code;
    pthread_mutex_lock(&remote->lock);
    if (remote->device->is_lost) {
        code = hone_mt_fail(HONE_MODEL_NO_DEVICE,
                            "the context on the device ended with an earlier error: a new process "
                            "has a new one");
    }
    if (!code) code = remote->table->enter(remote->device);
    if (code) pthread_mutex_unlock(&remote->lock);
    *out_remote = remote;
    return code;
}

void mt_remote_end(hone_mt_remote *remote) {
    remote->table->leave(remote->device);
    pthread_mutex_unlock(&remote->lock);
}

void hone_mt_end_remotes(hone_mt_remotes *remotes) {
    while (remotes->first) {
        hone_mt_remote *remote = remotes->first;
        remotes->first = remote->next;
        destroy_remote(remote);
    }
    pthread_mutex_destroy(&remotes->lock);
}
