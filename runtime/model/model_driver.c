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
#include <sys/mman.h>

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
    int64_t mapped_bytes;   /* of the file, 0 when embedded */
    _Atomic(hone_rt *) own; /* the model's own threads, made when first needed */
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
        code = hone_mt_map_weights(model, &state->weights, &state->mapped_bytes);
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
        if (state->mapped_bytes) {
            const uint8_t *begin = state->weights - HONE_MT_WEIGHTS_HEAD;
            munmap((void *)(uintptr_t)begin, (size_t)state->mapped_bytes);
        }
        atomic_store(&state->model->state, NULL);
        free(state);
    }
}

/* ---- one call ---- */

static void keep_message(const hone_rt *rt, int32_t code, const char *message) {
    hone_mt_call *call = (hone_mt_call *)(uintptr_t)rt;
    (void)code;
    if (atomic_flag_test_and_set(&call->has_message)) return;
    snprintf(call->message, sizeof call->message, "%s", message ? message : "");
}

static const char *port_kind(const hone_mt_call *call, int32_t port) {
    return port < call->info->input_count ? "input" : "output";
}

static int32_t bad_port(const hone_mt_call *call, int32_t port, const char *what) {
    return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s': %s", port_kind(call, port),
                        hone_mt_port_info(call, port)->name, what);
}

static bool is_type(DLDataType got, DLDataType want) {
    if (want.code == 6) { /* bool, also in older spellings */
        return (got.code == 6 || got.code == 1) && (got.bits == 8 || got.bits == 1) &&
               got.lanes == want.lanes;
    }
    return got.code == want.code && got.bits == want.bits && got.lanes == want.lanes;
}

static int32_t check_dims(const hone_mt_call *call, int32_t port, const DLTensor *t) {
    const hone_model_port *want = hone_mt_port_info(call, port);
    if (t->ndim != want->ndim) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s' has %d dimensions, wants %d",
                            port_kind(call, port), want->name, (int)t->ndim, (int)want->ndim);
    }
    if (t->ndim > 0 && !t->shape) return bad_port(call, port, "no shape");
    for (int32_t d = 0; d < t->ndim && !hone_mt_is_sized_late(call, port); d++) {
        if (want->shape[d] >= 0 ? t->shape[d] == want->shape[d] : t->shape[d] >= 0) continue;
        if (want->shape[d] < 0) {
            return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                                "%s '%s': dimension %d is %lld, must be at least 0",
                                port_kind(call, port), want->name, (int)d, (long long)t->shape[d]);
        }
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s': dimension %d is %lld, wants %lld",
                            port_kind(call, port), want->name, (int)d, (long long)t->shape[d],
                            (long long)want->shape[d]);
    }
    return HONE_MODEL_OK;
}

static bool is_dense(const DLTensor *t) {
    int64_t stride = 1;
    for (int32_t d = t->ndim - 1; t->strides && d >= 0; d--) {
        if (t->shape[d] != 1 && t->strides[d] != stride) return false;
        stride *= t->shape[d];
    }
    return true;
}

/* "float64", "float32x4"; "type 17 of 8 bits" for what DLPack has no name for here. */
static const char *print_type(DLDataType type, char out[48]) {
    static const char *const names[] = {
        [0] = "int",    [1] = "uint", [2] = "float",          [3] = "handle",
        [4] = "bfloat", [6] = "bool", [10] = "float8_e4m3fn", [12] = "float8_e5m2"};
    const char *name = type.code < sizeof names / sizeof *names ? names[type.code] : NULL;
    char bits[8] = "", lanes[12] = "";
    bool has_bits = type.code < 5; /* the others have one size */
    if (has_bits) snprintf(bits, sizeof bits, "%d", (int)type.bits);
    if (type.lanes != 1) snprintf(lanes, sizeof lanes, "x%d", (int)type.lanes);
    if (name) {
        snprintf(out, 48, "%s%s%s", name, bits, lanes);
    } else {
        snprintf(out, 48, "type %d of %d bits%s", (int)type.code, (int)type.bits, lanes);
    }
    return out;
}

static bool has_elements(const DLTensor *t) {
    bool is_some = true;
    for (int32_t d = 0; d < t->ndim; d++)
        is_some &= t->shape[d] != 0;
    return is_some;
}

static int32_t check_port(const hone_mt_call *call, int32_t port) {
    const DLTensor *t = hone_mt_port_tensor(call, port);
    const hone_model_port *want = hone_mt_port_info(call, port);
    if (!t) return bad_port(call, port, "no tensor");
    if (want->sized == HONE_MODEL_MADE) return HONE_MODEL_OK;
    if (t->device.device_type != 1 && t->device.device_type != 3 &&
        !hone_mt_is_on_device(call, t)) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                            "%s '%s' is on device type %d, wants the CPU%s%s",
                            port_kind(call, port), want->name, (int)t->device.device_type,
                            call->device ? " or " : "", call->device ? call->device->name : "");
    }
    if (!is_type(t->dtype, want->dtype)) {
        char type[48];
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "%s '%s' is %s, wants %s",
                            port_kind(call, port), want->name, print_type(t->dtype, type),
                            want->dtype_name);
    }
    int32_t code = check_dims(call, port, t);
    if (code) return code;
    bool is_late = hone_mt_is_sized_late(call, port);
    if (is_late ? t->strides != NULL : !is_dense(t))
        return bad_port(call, port, "not dense and row-major");
    bool has_data = t->data || (!is_late && !has_elements(t));
    return has_data ? HONE_MODEL_OK : bad_port(call, port, "no data");
}

/* ---- values ---- */

static int64_t floor_div(int64_t a, int64_t b) {
    return b > 0 ? a / b - (a % b != 0 && a < 0) : -1;
}

int64_t hone_mt_arithmetic(int32_t op, int64_t a, int64_t b) {
    int64_t out = -1;
    switch ((hone_mt_op)op) {
    case HONE_MT_ADD:
        return __builtin_add_overflow(a, b, &out) ? -1 : out;
    case HONE_MT_SUB:
        return __builtin_sub_overflow(a, b, &out) ? -1 : out;
    case HONE_MT_MUL:
        return __builtin_mul_overflow(a, b, &out) ? -1 : out;
    case HONE_MT_DIV:
        return floor_div(a, b);
    case HONE_MT_MOD:
        return b > 0 ? a - floor_div(a, b) * b : -1;
    case HONE_MT_MIN:
        return a < b ? a : b;
    case HONE_MT_MAX:
        return a > b ? a : b;
    default:
        return -1;
    }
}

/* What a kernel gets for a scalar parameter: an integer, or a float as the bits of a double. */
static int64_t scalar_bits(const DLTensor *t) {
    const char *at = (const char *)t->data + t->byte_offset;
    int64_t i = 0;
    double f = 0;
    float f32;
    int32_t i32;
    int16_t i16;
    switch (t->dtype.code * 256 + t->dtype.bits) {
    case 2 * 256 + 32:
        memcpy(&f32, at, sizeof f32);
        f = (double)f32;
        memcpy(&i, &f, sizeof i);
        return i;
    case 0 * 256 + 32:
        memcpy(&i32, at, sizeof i32);
        return i32;
    case 0 * 256 + 16:
        memcpy(&i16, at, sizeof i16);
        return i16;
    case 0 * 256 + 8:
        return *(const int8_t *)at;
    default: /* doubles as they are; unsigned and bool are in the low bytes */
        memcpy(&i, at, (size_t)(t->dtype.bits + 7) / 8 < 8 ? (size_t)(t->dtype.bits + 7) / 8 : 8);
        return i;
    }
}

/* What is known from the ports. */
static void compute_values(const hone_mt_call *call, int64_t *values) {
    const hone_mt_plan *plan = call->plan;
    for (int32_t i = 0; i < plan->value_count; i++) {
        const hone_mt_value *v = &plan->values[i];
        if (v->phase > 0) continue;
        if (v->op == HONE_MT_CONST) {
            values[i] = v->k;
        } else if (v->op == HONE_MT_DIM) {
            const DLTensor *t = hone_mt_port_tensor(call, v->a);
            values[i] = v->b < t->ndim ? t->shape[v->b] : -1;
        } else if (v->op == HONE_MT_SCALAR) {
            const DLTensor *t = hone_mt_port_tensor(call, v->a);
            values[i] = t->data && !hone_mt_is_on_device(call, t) ? scalar_bits(t) : -1;
        } else {
            values[i] = hone_mt_arithmetic(v->op, values[v->a], values[v->b]);
        }
    }
}

/* Dimensions that are computed from others ("2 * N") and sizes that appear twice; check_dims has
 * seen the others. */
static int32_t check_shapes(const hone_mt_call *call, const int64_t *values) {
    int32_t ports = call->info->input_count + call->info->output_count;
    for (int32_t p = 0; p < ports; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        const hone_model_port *info = hone_mt_port_info(call, p);
        for (int32_t d = 0; info->sized != HONE_MODEL_MADE && d < t->ndim; d++) {
            if (info->shape[d] >= 0) continue;
            int32_t value = call->plan->ports[p].shape[d];
            int64_t want = values[value];
            if (call->plan->values[value].phase > 0 || t->shape[d] == want) continue;
            return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                                "%s '%s': dimension %d is %lld, wants %lld with these inputs",
                                port_kind(call, p), info->name, (int)d, (long long)t->shape[d],
                                (long long)want);
        }
    }
    return HONE_MODEL_OK;
}

static bool is_so(int32_t relation, int64_t got, int64_t wanted) {
    if (relation == HONE_MT_AT_LEAST) return got >= wanted;
    return relation == HONE_MT_AT_MOST ? got <= wanted : got == wanted;
}

/* What calls inside of the plan demand of the sizes. */
int32_t hone_mt_check_calls(const hone_mt_call *call, const int64_t *values, int32_t phase) {
    static const char *const words[] = {"", "at least ", "at most "};
    for (int32_t i = 0; i < call->plan->check_count; i++) {
        const hone_mt_check *c = &call->plan->checks[i];
        if (c->phase != phase || is_so(c->relation, values[c->got], values[c->wanted])) continue;
        return hone_mt_fail(
            HONE_MODEL_BAD_ARGUMENT, "'%s': %s is %lld, wants %s%lld with these inputs", c->place,
            c->what, (long long)values[c->got], words[c->relation], (long long)values[c->wanted]);
    }
    return HONE_MODEL_OK;
}

/* Of the first ports: all of them, or the inputs alone. */
static bool guards_hold(const hone_mt_call *call, const hone_mt_plan *plan, int32_t port_count) {
    for (int32_t i = 0; i < plan->guard_count; i++) {
        const hone_mt_guard *g = &plan->guards[i];
        if (g->port >= port_count) continue;
        const DLTensor *t = hone_mt_port_tensor(call, g->port);
        if (g->dim >= t->ndim || t->shape[g->dim] != g->wanted) return false;
    }
    return true;
}

/* The first of the ports that has a dimension of 0 which the plan takes for a size, -1: none. What
 * a kernel makes of nothing is known only where that was compiled for. */
static int32_t find_empty(const hone_mt_call *call, const hone_mt_plan *plan, int32_t port_count,
                          int32_t *out_dim) {
    for (int32_t p = 0; p < port_count; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        const hone_model_port *info = hone_mt_port_info(call, p);
        for (int32_t d = 0; d < t->ndim && !hone_mt_is_sized_late(call, p); d++) {
            *out_dim = d;
            bool is_fixed = plan->values[plan->ports[p].shape[d]].op == HONE_MT_CONST;
            if (info->shape[d] < 0 && t->shape[d] == 0 && !is_fixed) return p;
        }
    }
    return -1;
}

static bool takes(const hone_mt_call *call, const hone_mt_plan *plan, int32_t port_count) {
    int32_t dim;
    return guards_hold(call, plan, port_count) && find_empty(call, plan, port_count, &dim) < 0;
}

static int32_t no_plan(const hone_mt_call *call, const hone_mt_entry *entry, int32_t port_count) {
    for (int32_t i = 0; i < entry->plan_count; i++) {
        int32_t dim, port = -1;
        if (guards_hold(call, &entry->plans[i], port_count))
            port = find_empty(call, &entry->plans[i], port_count, &dim);
        if (port < 0) continue;
        const char *size = hone_mt_port_info(call, port)->dim_names[dim];
        return hone_mt_fail(
            HONE_MODEL_BAD_ARGUMENT,
            "%s '%s': dimension %d is 0, must be at least 1 where the model was not "
            "compiled for %s=0",
            port_kind(call, port), hone_mt_port_info(call, port)->name, (int)dim,
            size ? size : "it");
    }
    return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                        "the model was not compiled for inputs of these shapes");
}

static int32_t choose_plan(hone_mt_call *call, const hone_mt_entry *entry) {
    int32_t ports = call->info->input_count + call->info->output_count;
    for (int32_t i = 0; i < entry->plan_count; i++) {
        if (!takes(call, &entry->plans[i], ports)) continue;
        call->plan = &entry->plans[i];
        return HONE_MODEL_OK;
    }
    return no_plan(call, entry, ports);
}

/* Before outputs have shapes: the general plan, the last one, where there is one; else the only
 * one that takes the inputs. */
static int32_t choose_plan_by_inputs(hone_mt_call *call, const hone_mt_entry *entry) {
    call->plan = NULL;
    for (int32_t i = 0; i < entry->plan_count; i++) {
        const hone_mt_plan *plan = &entry->plans[i];
        if (!takes(call, plan, call->info->input_count)) continue;
        if (call->plan && plan->guard_count) {
            return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT,
                                "the shapes of the outputs do not follow from the inputs");
        }
        call->plan = plan;
    }
    return call->plan ? HONE_MODEL_OK : no_plan(call, entry, call->info->input_count);
}

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
        frame->is_copy[p] = (uintptr_t)frame->ports[p] % HONE_MT_ALIGNMENT != 0;
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

int32_t hone_mt_step_failed(const hone_mt_call *call, const hone_mt_step *step, int32_t code) {
    return hone_mt_fail(HONE_MODEL_FAILED, "'%s' failed with code %d%s%s", step->name, (int)code,
                        call->message[0] ? ": " : "", call->message);
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

void hone_mt_tell(const hone_mt_call *call, const hone_mt_step *step, const hone_mt_frame *frame,
                  bool is_over, int32_t code) {
    if (!call->observer) return;
    const hone_seen_step seen = {.name = step->name,
                                 .workload = step->workload,
                                 .origin = step->origin,
                                 .flops = step->flops,
                                 .bytes = step_bytes(call, step, frame),
                                 .is_over = is_over,
                                 .code = code};
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
    if (step->kind != HONE_MT_KERNEL) {
        *io_next = hone_mt_flow(call, step, frame, *io_next);
        return HONE_MODEL_OK;
    }
    for (int32_t i = 0; i < step->size_count; i++)
        frame->sizes[i] = frame->values[step->sizes[i]];
    int32_t code = hone_mt_run_kernel(call, step, frame);
    return code ? hone_mt_step_failed(call, step, code) : HONE_MODEL_OK;
}

static int32_t run_steps(hone_mt_call *call, hone_mt_frame *frame, const uint8_t *weights,
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

/* A scalar is read before anything else is done, by the CPU. */
static int32_t check_scalars(const hone_mt_call *call) {
    for (int32_t i = 0; call->device && i < call->plan->value_count; i++) {
        const hone_mt_value *v = &call->plan->values[i];
        if (v->op != HONE_MT_SCALAR) continue;
        if (hone_mt_is_on_device(call, hone_mt_port_tensor(call, v->a)))
            return bad_port(call, v->a, "a scalar must be on the CPU");
    }
    return HONE_MODEL_OK;
}

static int32_t run_in_frame(hone_mt_call *call, hone_mt_frame *frame, mt_state *state) {
    int32_t port_count = call->info->input_count + call->info->output_count;
    int32_t code = check_scalars(call);
    if (code) return code;
    compute_values(call, frame->values);
    code = check_shapes(call, frame->values);
    if (!code) code = hone_mt_check_calls(call, frame->values, 0);
    if (code) return code;
    if (call->device) {
        return hone_mt_run_on_device(&state->remotes, state->model, state->weights, call, frame);
    }
    code = run_steps(call, frame, state->weights, port_count);
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

static int32_t check_ports(const hone_mt_call *call) {
    int32_t ports = call->info->input_count + call->info->output_count;
    if ((call->info->input_count && !call->inputs) ||
        (call->info->output_count && !call->outputs)) {
        return hone_mt_fail(HONE_MODEL_BAD_ARGUMENT, "inputs or outputs are NULL");
    }
    for (int32_t p = 0; p < ports; p++) {
        int32_t code = check_port(call, p);
        if (code) return code;
    }
    return HONE_MODEL_OK;
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
    call->message[0] = 0;
    return HONE_MODEL_OK;
}

static const hone_mt_device_table *device_table_of(const hone_mt_model *model) {
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
    call.device = device_table_of(model);
    call.inputs = inputs;
    call.outputs = outputs;
    code = check_ports(&call);
    if (!code) code = begin_call(&call, state, rt);
    if (!code) code = choose_plan(&call, &model->entries[entry]);
    return code ? code : run_plan(&call, state);
}

/* ---- shapes of outputs ---- */

static int32_t check_inputs(const hone_mt_call *call) {
    for (int32_t p = 0; p < call->info->input_count; p++) {
        const DLTensor *t = hone_mt_port_tensor(call, p);
        if (!t) return bad_port(call, p, "no tensor");
        int32_t code = check_dims(call, p, t);
        if (code) return code;
    }
    for (int32_t p = 0; p < call->info->output_count; p++) {
        if (!call->outputs[p] || (call->info->outputs[p].ndim && !call->outputs[p]->shape)) {
            return bad_port(call, call->info->input_count + p, "no tensor or no shape");
        }
    }
    return HONE_MODEL_OK;
}

static int64_t bound_of(const hone_model_port *port, int32_t dim) {
    return port->sized == HONE_MODEL_MADE ? -1 : port->shape[dim];
}

static int32_t fill_shapes(const hone_mt_call *call, const int64_t *values) {
    for (int32_t p = 0; p < call->info->output_count; p++) {
        int32_t port = call->info->input_count + p;
        DLTensor *t = call->outputs[p];
        for (int32_t d = 0; d < call->info->outputs[p].ndim; d++) {
            int32_t value = call->plan->ports[port].shape[d];
            bool is_late = call->plan->values[value].phase > 0;
            int64_t size = is_late ? bound_of(&call->info->outputs[p], d) : values[value];
            if (size < 0 && !is_late)
                return bad_port(call, port, "its shape does not follow from the inputs");
            t->shape[d] = size;
        }
        t->ndim = call->info->outputs[p].ndim;
        t->dtype = call->info->outputs[p].dtype;
    }
    return HONE_MODEL_OK;
}

int32_t hone_mt_output_shapes(hone_mt_model *model, DLTensor *const *inputs,
                              DLTensor *const *outputs, int32_t entry) {
    hone_mt_call call = {
        .info = &model->info->entries[entry],
        .device = device_table_of(model),
        .inputs = inputs,
        .outputs = outputs,
    };
    int32_t code = check_inputs(&call);
    if (!code) code = choose_plan_by_inputs(&call, &model->entries[entry]);
    if (code) return code;
    int64_t *values = malloc((size_t)(call.plan->value_count + 1) * sizeof *values);
    if (!values) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    compute_values(&call, values);
    code = fill_shapes(&call, values);
    free(values);
    return code;
}
