/* runtime/model/model_driver.c - runs the plans of a compiled model (model_table.h).
 *
 *   call ─► state of the model (CPU checked, weights mapped, once)
 *        ─► tensors checked, plan chosen, values computed
 *        ─► one piece of scratch memory: pointers, workspace, copies of unaligned tensors
 *        ─► steps ─► copied outputs go back
 *
 * A step may read sizes off a tensor; that begins a phase: more values, what must hold of them, and
 * a workspace for what has such a size. Nothing is allocated here after the first call but outputs
 * that are made: scratch memory comes from the stack that each thread keeps in the runtime
 * (workspace.c). Threads: any number of calls at once.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/driver_impl.h"
#include "runtime/model/model_rt.h"

enum { MAX_PORT_RANK = 32, SMALL_FRAME = 2048 };

/* ---- words for the last failure ---- */

static _Thread_local char last_message[512];

int32_t hone_mt_fail(int32_t code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(last_message, sizeof last_message, format, args);
    va_end(args);
    return code;
}

const char *hone_mt_last_error(void) {
    return last_message;
}

/* ---- what a model keeps between calls ---- */

typedef struct mt_state {
    struct mt_state *next;
    hone_mt_model *model;
    const uint8_t *weights;
    hone_mt_weights_file file; /* of the weights; none when they are embedded */
    _Atomic(hone_rt *) own;    /* the model's own threads, made when first needed */
    hone_mt_remotes remotes;
} mt_state;

static pthread_mutex_t states_lock = PTHREAD_MUTEX_INITIALIZER;
static mt_state *states; /* all of this library */

static int32_t make_state(hone_mt_model *model, mt_state **out_state) {
    if (model->version != HONE_MT_VERSION) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "the tables have version %u, not %u",
                            (unsigned)model->version, (unsigned)HONE_MT_VERSION);
    }
    int32_t code = hone_mt_check_cpu(model->cpu_features);
    if (code) return code;
    mt_state *state = calloc(1, sizeof *state);
    if (!state) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    state->model = model;
    pthread_mutex_init(&state->remotes.lock, NULL);
    state->weights = model->weights;
    if (model->weights_file) {
        code = hone_mt_map_weights(model, &state->file, &state->weights);
    }
    if (code) {
        free(state);
        return code;
    }
    state->next = states;
    states = state;
    *out_state = state;
    return HONE_MODEL_OK;
}

static int32_t get_state(hone_mt_model *model, mt_state **out_state) {
    *out_state = atomic_load_explicit(&model->state, memory_order_acquire);
    if (*out_state) return HONE_MODEL_OK;
    int32_t code = HONE_MODEL_OK;
    pthread_mutex_lock(&states_lock);
    *out_state = atomic_load_explicit(&model->state, memory_order_relaxed);
    if (!*out_state) {
        code = make_state(model, out_state);
        if (!code) atomic_store_explicit(&model->state, *out_state, memory_order_release);
    }
    pthread_mutex_unlock(&states_lock);
    return code;
}

int32_t hone_mt_rt_create(int32_t threads, hone_rt **out_rt) {
    if (!out_rt || threads < 0 || threads > 4096) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%d threads, must be 0 to 4096", (int)threads);
    }
    hone_model_rt_options options = {.thread_count = threads};
    if (hone_model_rt_create(&options, out_rt) == 0) return HONE_MODEL_OK;
    return hone_mt_fail(HONE_MODEL_NO_MEMORY, "%d threads cannot be started", (int)threads);
}

void hone_mt_rt_destroy(hone_rt *rt) {
    hone_model_rt_destroy(rt);
}

static int32_t own_rt(mt_state *state, const hone_rt **out_rt) {
    hone_rt *rt = atomic_load_explicit(&state->own, memory_order_acquire);
    if (!rt) {
        int32_t threads = hone_model_rt_usable_cores(), code = HONE_MODEL_OK;
        if (state->model->info->threads < threads) threads = state->model->info->threads;
        pthread_mutex_lock(&states_lock);
        rt = atomic_load_explicit(&state->own, memory_order_relaxed);
        if (!rt) code = hone_mt_rt_create(threads, &rt);
        if (!code) atomic_store_explicit(&state->own, rt, memory_order_release);
        pthread_mutex_unlock(&states_lock);
        if (code) return code;
    }
    *out_rt = rt;
    return HONE_MODEL_OK;
}

/* The code of the pool's threads is in this library: they end before it is unloaded. */
__attribute__((destructor)) static void end_states(void) {
    while (states) {
        mt_state *state = states;
        states = state->next;
        hone_model_rt_destroy(atomic_load(&state->own));
        hone_mt_end_remotes(&state->remotes);
        hone_mt_unmap_weights(&state->file);
        atomic_store(&state->model->state, NULL);
        free(state);
    }
}

/* ---- one call ---- */

static void keep_message(const hone_rt *rt, int32_t code, const char *message) {
    hone_mt_call *call = (hone_mt_call *)(uintptr_t)rt;
    if (atomic_flag_test_and_set(&call->has_message)) return;
    call->message_code = code;
    snprintf(call->message, sizeof call->message, "%s", message ? message : "");
}

static int32_t run_in_frame(hone_mt_call *call, hone_mt_frame *frame, mt_state *state) {
    int32_t port_count = call->info->input_count + call->info->output_count;
    int32_t code = hone_mt_check_scalars(call);
    if (code) return code;
    hone_mt_compute_values(call, frame->values);
    code = hone_mt_check_shapes(call, frame->values);
    if (!code) code = hone_mt_check_calls(call, frame->values, 0);
    if (code) return code;
    if (call->device) {
        return hone_mt_run_on_device(&state->remotes, state->model, state->weights, call, frame);
    }
    code = hone_mt_run_steps(call, frame, state->weights, port_count);
    for (int32_t i = call->plan->phase_count; i-- > 0;) {
        if (frame->workspaces[i]) call->base->workspace_free(call->base, frame->workspaces[i]);
    }
    return code;
}

static int64_t frame_bytes(const hone_mt_call *call) {
    const hone_mt_plan *plan = call->plan;
    int64_t ports = call->info->input_count + call->info->output_count;
    return 8 * ((int64_t)plan->value_count + 2 * ports + plan->max_args * (3 + MAX_PORT_RANK) +
                plan->max_sizes + plan->phase_count) +
           ports;
}

static void lay_out(const hone_mt_call *call, char *memory, hone_mt_frame *frame) {
    const hone_mt_plan *plan = call->plan;
    int32_t ports = call->info->input_count + call->info->output_count;
    memset(frame, 0, sizeof *frame);
    frame->values = (int64_t *)(void *)memory;
    frame->sizes = frame->values + plan->value_count;
    frame->dims = frame->sizes + plan->max_sizes;
    frame->bytes = frame->dims + (int64_t)plan->max_args * MAX_PORT_RANK;
    frame->ports = (char **)(void *)(frame->bytes + ports);
    frame->workspaces = frame->ports + ports;
    memset(frame->workspaces, 0, (size_t)plan->phase_count * sizeof *frame->workspaces);
    frame->args = (void **)(frame->workspaces + plan->phase_count);
    frame->shapes = (const int64_t **)(void *)(frame->args + plan->max_args);
    frame->ranks = (int32_t *)(void *)(frame->shapes + plan->max_args);
    frame->is_copy = (bool *)(frame->ranks + 2 * plan->max_args);
}

/* Small models are called often: their frames lie on the stack. */
static int32_t run_plan(hone_mt_call *call, mt_state *state) {
    _Alignas(HONE_MT_ALIGNMENT) char small[SMALL_FRAME];
    int64_t bytes = frame_bytes(call);
    bool is_small = bytes <= (int64_t)sizeof small;
    char *memory = is_small ? small : call->base->workspace_alloc(call->base, bytes);
    if (!memory) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    hone_mt_frame frame;
    lay_out(call, memory, &frame);
    int32_t code = run_in_frame(call, &frame, state);
    if (!is_small) call->base->workspace_free(call->base, memory);
    return code;
}

static int32_t begin_call(hone_mt_call *call, mt_state *state, const hone_rt *rt) {
    call->base = rt;
    int32_t code = rt ? HONE_MODEL_OK : own_rt(state, &call->base);
    if (code) return code;
    if (call->base->abi_version != HONE_ABI_VERSION) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "the hone_rt has version %u, wants %u",
                            (unsigned)call->base->abi_version, (unsigned)HONE_ABI_VERSION);
    }
    void *observer = rt && rt->find_extern ? rt->find_extern(rt, HONE_OBSERVER) : NULL;
    memcpy(&call->observer, &observer, sizeof observer); /* ISO C has no cast for this */
    call->rt = *call->base;
    call->rt.set_error = keep_message;
    call->rt.find_extern = hone_mt_find_extern;
    atomic_flag_clear(&call->has_message);
    call->message_code = 0;
    call->message[0] = 0;
    return HONE_MODEL_OK;
}

const hone_mt_device_table *hone_mt_device_of(const hone_mt_model *model) {
    if (model->device == HONE_MT_CUDA) return &hone_mt_cuda_table;
    return model->device == HONE_MT_OPENCL ? &hone_mt_opencl_table : NULL;
}

int32_t hone_mt_run(hone_mt_model *model, const hone_rt *rt, DLTensor *const *inputs,
                    DLTensor *const *outputs, int32_t entry) {
    mt_state *state;
    hone_mt_call call;
    int32_t code = get_state(model, &state);
    if (code) return code;
    call.info = &model->info->entries[entry];
    call.device = hone_mt_device_of(model);
    call.inputs = inputs;
    call.outputs = outputs;
    code = hone_mt_check_weights(model, &state->file);
    if (!code) code = hone_mt_check_ports(&call);
    if (!code) code = begin_call(&call, state, rt);
    if (!code) code = hone_mt_choose_plan(&call, &model->entries[entry]);
    return code ? code : run_plan(&call, state);
}
