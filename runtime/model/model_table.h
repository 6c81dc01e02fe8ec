/* runtime/model/model_table.h - what the driver in a compiled model runs: plans as constant tables.
 *
 * compile/ writes these structures as data into the model; model_driver.c walks them. Layout is
 * the C ABI of 64-bit targets; compile/table_asm.c writes it field by field in this order.
 *
 *   values[]   numbers of one call in order: constants, sizes read off tensors, arithmetic on
 *              earlier ones. Everything below names values by index. Those of phase 0 are known
 *              from the ports; those of another phase from the step on that begins it.
 *   tensors[]  places in memory; the first ones are the ports: inputs, then outputs.
 *   checks[]   what must hold of values, as calls of the plan demand.
 *   steps[]    calls in order, and where to go on (graph/plan/plan_flow.c draws it).
 *
 * An entry has one plan per choice of sizes that it was compiled for, then the general one; the
 * first whose guards hold is run. In a model for a GPU the steps are launches, and all tensors lie
 * in its memory; what only a CPU can do is done by this machine's, with copies.
 */
#ifndef HONE_RUNTIME_MODEL_MODEL_TABLE_H
#define HONE_RUNTIME_MODEL_MODEL_TABLE_H

#include "runtime/model/abi.h"
#include "runtime/model/model_abi.h"

typedef enum hone_mt_op {
    HONE_MT_CONST,  /* k */
    HONE_MT_DIM,    /* dimension b of port a */
    HONE_MT_SCALAR, /* the element of port a: an integer, or the bits of a float as double */
    HONE_MT_ADD,    /* values a, b */
    HONE_MT_SUB,
    HONE_MT_MUL,
    HONE_MT_DIV, /* rounds down; by zero or less gives -1 */
    HONE_MT_MOD,
    HONE_MT_MIN,
    HONE_MT_MAX,
    HONE_MT_ELEMENT, /* element b, an integer of k bytes, of tensor a */
} hone_mt_op;

typedef struct hone_mt_value {
    int32_t op, a, b, phase;
    int64_t k;
} hone_mt_value;

typedef enum hone_mt_place {
    HONE_MT_PORT,      /* index: port */
    HONE_MT_WEIGHT,    /* offset: bytes into the weights */
    HONE_MT_WORKSPACE, /* index: phase; value: offset in bytes */
} hone_mt_place;

typedef struct hone_mt_tensor {
    int32_t place, index;
    int64_t offset;
    int32_t value, bytes; /* values */
    int32_t rank, type;   /* hone_dtype_dlpack_word */
    const int32_t *shape; /* values */
} hone_mt_tensor;

typedef enum hone_mt_step_kind {
    HONE_MT_KERNEL, /* by this machine's CPU, in a model for a device too */
    HONE_MT_EXTERN,
    HONE_MT_COPY,
    HONE_MT_SIZES,  /* begins a phase */
    HONE_MT_UNLESS, /* goes on at `detail` where args[0], a bool, is false */
    HONE_MT_GO,     /* goes on at `detail` */
    HONE_MT_START,  /* args[0], an int64, becomes -1 */
    HONE_MT_NEXT,   /* args[0] grows by 1; at `detail` where it is not below sizes[0], or args[1] */
    HONE_MT_PLACE,  /* args[0] becomes item args[1] of args[2] */
    HONE_MT_LAUNCH, /* kernels of the model's device, one after the other */
    HONE_MT_DEMAND, /* checks whose phase is `detail`, below 0, must hold */
} hone_mt_step_kind;

/* What a parameter of a device's kernel gets: 64 bits. */
typedef enum hone_mt_param_kind {
    HONE_MT_PARAM_TENSOR,  /* the memory of args[index] of the step */
    HONE_MT_PARAM_SCRATCH, /* that of scratch[index] */
    HONE_MT_PARAM_VALUE,   /* value number `index` */
} hone_mt_param_kind;

typedef struct hone_mt_param {
    int32_t kind, index;
} hone_mt_param;

/* A kernel on its grid. Numbers are values; a grid of nothing is not launched. */
typedef struct hone_mt_launch {
    const char *symbol;
    int32_t program; /* of the model */
    int32_t param_count;
    int32_t grid[3], block[3];
    int32_t shared_bytes, reserved; /* shared memory that is asked for at the launch */
    const hone_mt_param *params;
} hone_mt_launch;

typedef struct hone_mt_step {
    int32_t kind, arg_count, size_count;
    int32_t detail; /* KERNEL: how many of the last args it writes; SIZES: the phase; the rest: a
                       step, or their number */
    const char *name;
    hone_kernel kernel;   /* KERNEL */
    const int32_t *args;  /* tensors */
    const int32_t *sizes; /* values */
    double flops;         /* KERNEL: for who looks on, as these two; 0 = not known */
    const char *workload, *origin;
    int32_t launch_count, scratch_count;
    const hone_mt_launch *launches; /* LAUNCH */
    const int32_t *scratch;         /* values: bytes of memory for the while of the step */
} hone_mt_step;

typedef enum hone_mt_relation { HONE_MT_SAME, HONE_MT_AT_LEAST, HONE_MT_AT_MOST } hone_mt_relation;

/* What must hold of two values for the kernels to be right. */
typedef struct hone_mt_check {
    const char *place, *what; /* "scale", "dimension 0 of 'B'" */
    int32_t got, wanted;      /* values */
    int32_t relation;
    int32_t phase; /* before whose first step it must hold; below 0: at the DEMAND step */
} hone_mt_check;

/* What a port must look like. */
typedef struct hone_mt_port {
    int32_t is_input, is_written;
    int32_t phase; /* from which its shape is known */
    int32_t reserved;
    const int32_t *shape; /* values */
} hone_mt_port;

/* A plan is for calls where this dimension of this port is `wanted`. */
typedef struct hone_mt_guard {
    int32_t port, dim;
    int64_t wanted;
} hone_mt_guard;

typedef struct hone_mt_plan {
    int32_t guard_count, value_count, tensor_count, step_count;
    int32_t max_args, max_sizes; /* of a step */
    int32_t phase_count, check_count;
    const hone_mt_guard *guards;
    const hone_mt_value *values;
    const hone_mt_port *ports; /* of this plan, inputs first */
    const hone_mt_tensor *tensors;
    const hone_mt_check *checks;
    const hone_mt_step *steps;
    const int32_t *workspaces; /* by phase: value, bytes */
} hone_mt_plan;

typedef struct hone_mt_entry {
    int32_t plan_count, reserved;
    const hone_mt_plan *plans;
} hone_mt_entry;

/* Where the steps of a model run. */
typedef enum hone_mt_device_kind { HONE_MT_CPU, HONE_MT_CUDA, HONE_MT_OPENCL } hone_mt_device_kind;

/* Kernels as one text: PTX, or OpenCL C. It ends with a zero byte. */
typedef struct hone_mt_program {
    const char *name;
    const char *code;
    int64_t code_bytes; /* without that byte */
} hone_mt_program;

typedef struct hone_mt_model {
    uint32_t version; /* HONE_MT_VERSION */
    uint32_t device;  /* hone_mt_device_kind */
    const hone_model_info *info;
    const hone_mt_entry *entries; /* as many as info has */
    const char *cpu_features;     /* names that kernels use, "avx2,fma"; "" = none */
    const uint8_t *weights;       /* embedded, or NULL */
    const char *weights_file;     /* beside the library: its name, or NULL */
    int64_t weights_bytes;
    uint64_t weights_hash[2]; /* weights_sum.h; what the file's head must say, too */
    int64_t program_count;
    const hone_mt_program *programs; /* of the device */
    _Atomic(void *) state;           /* of the driver, NULL at first; in writable memory */
} hone_mt_model;

#define HONE_MT_VERSION 6

/* A weights file: this head, zeroes up to HONE_MT_WEIGHTS_HEAD bytes, then the weights. */
#define HONE_MT_WEIGHTS_MAGIC UINT64_C(0x3173746867696577) /* "weights1" in little endian */
#define HONE_MT_WEIGHTS_HEAD 64
typedef struct hone_mt_weights_head {
    uint64_t magic, hash[2], bytes;
} hone_mt_weights_head;

/* What the generated entry points call. */
int32_t hone_mt_run(hone_mt_model *model, const hone_rt *rt, DLTensor *const *inputs,
                    DLTensor *const *outputs, int32_t entry);
int32_t hone_mt_output_shapes(hone_mt_model *model, DLTensor *const *inputs,
                              DLTensor *const *outputs, int32_t entry);
const char *hone_mt_last_error(void);
int32_t hone_mt_rt_create(int32_t threads, hone_rt **out_rt);
void hone_mt_rt_destroy(hone_rt *rt);

/* For the files of the driver. Keeps the words for last_error and returns code. */
int32_t hone_mt_fail(int32_t code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* 0, or BAD_CPU with the missing features. */
int32_t hone_mt_check_cpu(const char *features);
/* A file of weights that is mapped, and what it was when its sum was compared. */
typedef struct hone_mt_weights_file {
    char *path; /* owned, absolute; NULL: nothing is mapped */
    void *memory;
    int64_t bytes;
    uint64_t device, inode;
    _Atomic int64_t changed_ns; /* when it was last written to */
} hone_mt_weights_file;
/* Maps the file beside this library and reads it once, to compare its sum. *out_base is NULL on
 * failure. */
int32_t hone_mt_map_weights(const hone_mt_model *model, hone_mt_weights_file *out_file,
                            const uint8_t **out_base);
/* For each call: whether the file is still what was mapped. BAD_WEIGHTS when it is shorter, or
 * holds other bytes; where it was written to its sum is compared again. One that was removed, or
 * replaced by another under its name, stays as it was for who has mapped it. A file that is cut
 * while a call reads it ends the process by SIGBUS still: no call can fail in its place.
 * Thread-safe. */
int32_t hone_mt_check_weights(const hone_mt_model *model, hone_mt_weights_file *file);
void hone_mt_unmap_weights(hone_mt_weights_file *file);

#endif
