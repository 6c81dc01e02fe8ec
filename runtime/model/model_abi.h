/* model_abi.h - how programs call a model that `hone compile` made. C99 and C++.
 *
 * This text stands at the head of every generated header, so a program needs nothing else of Hone.
 * Tensors are DLPack's: include <dlpack/dlpack.h> before this header to use your own copy.
 *
 * A sequence x of an ONNX model is one tensor for each of its items: x_0, x_1, ...; how many there
 * are was said when the model was compiled. So are sequences among outputs.
 * A tensor is dense and row-major (strides NULL, or saying so), on the CPU. Inputs are
 * used in place where they are aligned to their elements, outputs where they are aligned to 64
 * bytes; other data is copied on the way. Outputs are memory of the caller, but for those whose
 * shape depends on data and has no upper bound (HONE_MODEL_MADE).
 * Threads: a model may be called from several threads at once; calls share one thread pool, and a
 * call that finds it busy computes in its own thread. No memory is allocated after the first call,
 * and the first time that a thread of the pool helps, but what a model of data-dependent shapes
 * needs more than any call before.
 *
 * A model for a GPU opens the driver (libcuda.so.1, libOpenCL.so.1) at its first call, compiles its
 * kernels and uploads its weights there, once for each device. Tensors on the CPU are copied to and
 * fro; tensors on the GPU (device types 2 and 13 of CUDA, or 4 of OpenCL, whose data is a cl_mem)
 * are used where they lie, when they are aligned to 64 bytes (OpenCL: have no byte_offset), else
 * copied there; those of one call lie on one device, which is the one that is used: device_id, of
 * OpenCL in the context of the cl_mem. Without such tensors it is device 0 (CUDA_VISIBLE_DEVICES
 * says which that is). Scalars, and outputs that the call makes, lie on the CPU. CUDA's primary
 * context is used, and a stream that waits for what was begun on the default stream: work on other
 * streams is waited for by the caller. A call returns when all is done. Calls for one device run
 * one after the other, also those from several threads. A CUDA model that is called again with the
 * same sizes and the same memory replays one graph.
 */
#ifndef HONE_MODEL_ABI_H
#define HONE_MODEL_ABI_H

#include <stdint.h>

#if !defined(DLPACK_DLPACK_H_) && !defined(HONE_DLTENSOR)
#define HONE_DLTENSOR
#ifdef __cplusplus
extern "C" {
#endif
typedef struct {
    int32_t device_type; /* 1 = CPU, 2 = CUDA, 3 = CPU (pinned), 4 = OpenCL, 13 = CUDA (managed) */
    int32_t device_id;
} DLDevice;
typedef struct {
    uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 7 to 17 floats of 8, 6 and 4 bits */
    uint8_t bits;
    uint16_t lanes;
} DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL = dense */
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#ifdef __cplusplus
}
#endif
#endif

#define HONE_MODEL_VERSION 1
/* Exported by every model under this name: a hone_model_get. For programs that load any model. */
#define HONE_MODEL_SYMBOL "hone_model_v1"

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns: 0, or one of these; the words are in last_error(). */
enum {
    HONE_MODEL_OK = 0,
    HONE_MODEL_BAD_ARGUMENT = -1, /* a tensor that does not fit: shape, type, device, NULL */
    HONE_MODEL_BAD_CPU = -2,      /* this CPU lacks features that the model was compiled for */
    HONE_MODEL_BAD_WEIGHTS = -3,  /* the file of weights is missing or belongs to another model */
    HONE_MODEL_NO_MEMORY = -4,    /* memory or threads cannot be had */
    HONE_MODEL_NO_EXTERN = -5,    /* an external function was not found */
    HONE_MODEL_FAILED = -6,       /* a kernel said no */
    HONE_MODEL_NO_DEVICE = -7,    /* the driver or GPU is not there, or its context has ended */
    HONE_MODEL_EXTERN_FAILED = -8 /* an external function said no */
};

typedef struct hone_rt hone_rt; /* a thread pool; NULL means the model's own */

/* Where an output gets its shape. */
enum {
    HONE_MODEL_GIVEN = 0, /* it follows from the inputs: output_shapes tells before the call */
    /* It depends on data and is at most port->shape: the caller's memory has room for as much,
     * whatever shape its tensor says; the call sets that. */
    HONE_MODEL_AT_MOST = 1,
    /* It depends on data: the tensor that is passed is the dl_tensor of a DLManagedTensor of the
     * caller's. The call fills in all of it; `deleter` frees what the call allocated, and is the
     * caller's to call, before the next call with it too. After a failure there is nothing to free.
     */
    HONE_MODEL_MADE = 2
};

/* One tensor that an entry takes or gives. */
typedef struct hone_model_port {
    const char *name;
    const char *dtype_name; /* "float32" */
    DLDataType dtype;
    int32_t ndim;
    const int64_t *shape; /* -1: whatever the caller's tensor has, or the call finds: dim_names */
    const char *const
        *dim_names; /* per dimension: a size ("N"), what is computed of sizes ("N * 2"), or NULL */
    int32_t is_updated; /* an input that is also written */
    int32_t sized;      /* an output: HONE_MODEL_GIVEN, ... */
} hone_model_port;

/* Takes tensors in the order of the ports. rt may be NULL. */
typedef int32_t (*hone_model_run_fn)(const hone_rt *rt, DLTensor *const *inputs,
                                     DLTensor *const *outputs);
/* Fills in ndim, dtype and shape of the outputs for given inputs; each output's shape must have
 * room for its dimensions, data is not looked at. Of shapes that depend on data: the upper bounds;
 * -1 where there is none. */
typedef int32_t (*hone_model_shapes_fn)(DLTensor *const *inputs, DLTensor *const *outputs);

typedef struct hone_model_entry {
    const char *name; /* of the function in the model: "main" */
    int32_t input_count, output_count;
    const hone_model_port *inputs, *outputs;
    hone_model_run_fn run;
    hone_model_shapes_fn output_shapes;
} hone_model_entry;

/* What a model says of itself. Constant, valid as long as the library is loaded. */
typedef struct hone_model_info {
    uint32_t version;   /* HONE_MODEL_VERSION */
    int32_t threads;    /* that its own pool uses at most */
    const char *name;   /* prefix of its functions */
    const char *target; /* what it was compiled for */
    int32_t entry_count;
    const hone_model_entry *entries;
    /* The words for the last failure in the calling thread; "" when there was none. */
    const char *(*last_error)(void);
    /* A thread pool of the caller's for one or more models; threads 0 = one per usable core. */
    int32_t (*rt_create)(int32_t threads, hone_rt **out_rt);
    void (*rt_destroy)(hone_rt *rt); /* no call may be running on it; NULL is allowed */
} hone_model_info;

typedef const hone_model_info *(*hone_model_get)(void);

#ifdef __cplusplus
}
#endif
#endif
