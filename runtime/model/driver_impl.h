/* runtime/model/driver_impl.h - one call of a model, between the files that make it: model_driver.c
 * (its memory, in what order all goes), model_ports.c (its tensors), model_sizes.c (plan and
 * values), model_steps.c (steps on the host), model_phases.c (sizes that are computed), and the
 * files of devices. */
#ifndef HONE_RUNTIME_MODEL_DRIVER_IMPL_H
#define HONE_RUNTIME_MODEL_DRIVER_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/model/model_device.h"
#include "runtime/model/model_rt.h"
#include "runtime/model/model_table.h"

#define HONE_MT_ALIGNMENT 64

typedef struct hone_mt_call {
    hone_rt rt; /* first: an hone_rt * of this call is a hone_mt_call *. The caller's, with our
                   errors */
    const hone_rt *base;
    hone_observer observer; /* of the caller's; NULL = nobody looks on */
    const hone_model_entry *info;
    const hone_mt_plan *plan;
    const hone_mt_device_table *device; /* NULL: the model is for a CPU */
    DLTensor *const *inputs, *const *outputs;
    atomic_flag has_message; /* kernels may fail in several threads at once */
    int32_t message_code;    /* which failure the message is of (abi.h) */
    char message[256];
} hone_mt_call;

/* Scratch memory of one call, in this order. */
typedef struct hone_mt_frame {
    int64_t *values;
    char **ports;   /* data of each port that kernels see */
    int64_t *bytes; /* of each port */
    bool *is_copy;  /* per port: it is a copy */
    void **args;
    int64_t *sizes;
    const int64_t **shapes; /* of an external function's arguments */
    int32_t *ranks;
    int64_t *dims;     /* what shapes points to */
    char **workspaces; /* by phase; NULL: none yet, or nothing is needed */
} hone_mt_frame;

static inline DLTensor *hone_mt_port_tensor(const hone_mt_call *call, int32_t port) {
    int32_t inputs = call->info->input_count;
    return port < inputs ? call->inputs[port] : call->outputs[port - inputs];
}

static inline const hone_model_port *hone_mt_port_info(const hone_mt_call *call, int32_t port) {
    int32_t inputs = call->info->input_count;
    return port < inputs ? &call->info->inputs[port] : &call->info->outputs[port - inputs];
}

/* The shape of an output is found by the call. */
static inline bool hone_mt_is_sized_late(const hone_mt_call *call, int32_t port) {
    return hone_mt_port_info(call, port)->sized != HONE_MODEL_GIVEN;
}

/* The bytes of a dense tensor. */
static inline int64_t hone_mt_tensor_bytes(const DLTensor *t) {
    int64_t bytes = (int64_t)t->dtype.lanes * ((t->dtype.bits + 7) / 8);
    for (int32_t d = 0; d < t->ndim; d++)
        bytes *= t->shape[d];
    return bytes;
}

/* The tensor lies in the memory of the model's device. */
static inline bool hone_mt_is_on_device(const hone_mt_call *call, const DLTensor *t) {
    const int32_t type = t->device.device_type;
    return call->device && (type == call->device->types[0] || type == call->device->types[1]);
}

static inline int64_t hone_mt_round_up(int64_t bytes) {
    return (bytes + HONE_MT_ALIGNMENT - 1) / HONE_MT_ALIGNMENT * HONE_MT_ALIGNMENT;
}

/* model_driver.c: where the model's kernels run; NULL: on the host. */
const hone_mt_device_table *hone_mt_device_of(const hone_mt_model *model);

/* model_ports.c: BAD_ARGUMENT with the port and what is wrong. */
int32_t hone_mt_bad_port(const hone_mt_call *call, int32_t port, const char *what);
const char *hone_mt_port_kind(const hone_mt_call *call, int32_t port); /* "input", "output" */
/* BAD_ARGUMENT unless all tensors fit: there, on a device that they may be on, of the type and the
 * shape as far as that is fixed, dense. */
int32_t hone_mt_check_ports(const hone_mt_call *call);
/* hone_mt_check_ports of the inputs' shapes alone, before outputs have theirs. */
int32_t hone_mt_check_inputs(const hone_mt_call *call);
/* BAD_ARGUMENT unless the CPU can read the scalars of the plan, which is done before all else. */
int32_t hone_mt_check_scalars(const hone_mt_call *call);

/* model_sizes.c: sets call->plan to the first that takes the shapes of all ports. */
int32_t hone_mt_choose_plan(hone_mt_call *call, const hone_mt_entry *entry);
/* The values that are known from the ports. */
void hone_mt_compute_values(const hone_mt_call *call, int64_t *values);
/* BAD_ARGUMENT unless dimensions are what those values say. */
int32_t hone_mt_check_shapes(const hone_mt_call *call, const int64_t *values);
/* -1 for what is beyond 64 bits, and for what has no sense. */
int64_t hone_mt_arithmetic(int32_t op, int64_t a, int64_t b);
/* BAD_ARGUMENT unless what must hold of the values that a phase brings does. */
int32_t hone_mt_check_calls(const hone_mt_call *call, const int64_t *values, int32_t phase);

/* model_steps.c: all steps, with the first workspace, on the host. */
int32_t hone_mt_run_steps(hone_mt_call *call, hone_mt_frame *frame, const uint8_t *weights,
                          int32_t port_count);
/* Bytes of a port; of an output with bounds: what there is room for. */
int64_t hone_mt_port_bytes(const hone_mt_call *call, int32_t port);
/* Kernels are made for sizes from 1 on: one whose outputs are all empty has nothing to do. */
bool hone_mt_writes_nothing(const hone_mt_call *call, const hone_mt_step *step,
                            const hone_mt_frame *frame);
/* Branches and loops: does the step, whose data is in frame->args, and says which comes next. */
int32_t hone_mt_flow(const hone_mt_call *call, const hone_mt_step *step, const hone_mt_frame *frame,
                     int32_t next);
/* Tells who looks on that a step begins, or is over. */
void hone_mt_tell(const hone_mt_call *call, const hone_mt_step *step, const hone_mt_frame *frame,
                  bool is_over, int32_t code);
/* That it is over, and took so long by the clock of its device. */
void hone_mt_tell_time(const hone_mt_call *call, const hone_mt_step *step,
                       const hone_mt_frame *frame, int64_t ns);
/* Runs a kernel whose args and sizes are in the frame; who looks on is told. */
int32_t hone_mt_run_kernel(hone_mt_call *call, const hone_mt_step *step, hone_mt_frame *frame);
/* The failure of a step whose kernel or function returned code. */
int32_t hone_mt_step_failed(const hone_mt_call *call, const hone_mt_step *step, int32_t code);

/* model_extern.c: an external function as kernels and steps find it; NULL: there is none. */
void *hone_mt_find_extern(const hone_rt *rt, const char *name);
/* A step that calls one: out_code is what it returned. NO_EXTERN names all that are missing. */
int32_t hone_mt_run_extern(hone_mt_call *call, const hone_mt_step *step, hone_mt_frame *frame,
                           int32_t *out_code);

/* model_phases.c: a call begins with outputs that are not made yet. */
void hone_mt_clear_made(const hone_mt_call *call);
/* Scratch memory for a phase whose values are known, and `more` bytes behind it. */
int32_t hone_mt_begin_workspace(const hone_mt_call *call, hone_mt_frame *frame, int32_t phase,
                                int64_t more);
/* Everything that a SIZES step brings but a workspace; its tensor is args[0]. */
int32_t hone_mt_begin_phase(const hone_mt_call *call, hone_mt_frame *frame,
                            const hone_mt_step *step);
/* The shapes that the call has found; what was made goes where it failed. */
void hone_mt_end_outputs(const hone_mt_call *call, hone_mt_frame *frame, int32_t code);

/* device_state.c: the devices that a model has used. */
typedef struct hone_mt_remote hone_mt_remote;
typedef struct hone_mt_remotes {
    pthread_mutex_t lock; /* of the list */
    hone_mt_remote *first;
} hone_mt_remotes;
/* What frees them; does nothing where there are none. */
void hone_mt_end_remotes(hone_mt_remotes *remotes);
/* Runs the plan of a call whose tensors are checked and whose values are known. `weights`: on the
 * host. */
int32_t hone_mt_run_on_device(hone_mt_remotes *remotes, const hone_mt_model *model,
                              const uint8_t *weights, hone_mt_call *call, hone_mt_frame *frame);

#endif
