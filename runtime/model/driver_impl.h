/* runtime/model/driver_impl.h - one call of a model: between model_driver.c, which checks its
 * tensors and walks its steps, and model_phases.c, which finds sizes that are computed. */
#ifndef HONE_RUNTIME_MODEL_DRIVER_IMPL_H
#define HONE_RUNTIME_MODEL_DRIVER_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>

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
    DLTensor *const *inputs, *const *outputs;
    atomic_flag has_message; /* kernels may fail in several threads at once */
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

/* Dense. */
static inline int64_t hone_mt_tensor_bytes(const DLTensor *t) {
    int64_t bytes = (int64_t)t->dtype.lanes * ((t->dtype.bits + 7) / 8);
    for (int32_t d = 0; d < t->ndim; d++)
        bytes *= t->shape[d];
    return bytes;
}

static inline int64_t hone_mt_round_up(int64_t bytes) {
    return (bytes + HONE_MT_ALIGNMENT - 1) / HONE_MT_ALIGNMENT * HONE_MT_ALIGNMENT;
}

/* -1 for what is beyond 64 bits, and for what has no sense. */
int64_t hone_mt_arithmetic(int32_t op, int64_t a, int64_t b);
/* BAD_ARGUMENT unless what must hold of the values that a phase brings does. */
int32_t hone_mt_check_calls(const hone_mt_call *call, const int64_t *values, int32_t phase);

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
/* Everything that a SIZES step brings; its tensor is args[0]. */
int32_t hone_mt_begin_phase(const hone_mt_call *call, hone_mt_frame *frame,
                            const hone_mt_step *step);
/* The shapes that the call has found; what was made goes where it failed. */
void hone_mt_end_outputs(const hone_mt_call *call, hone_mt_frame *frame, int32_t code);

#endif
