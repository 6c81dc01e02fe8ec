/* runtime/model_load.h - loads and calls what `hone compile` made, with our own tensors.
 *
 * Lifetime: from _open to _close; entries and infos live as long.
 * Threads:  calls may come from several threads at once; open and close from one.
 */
#ifndef HONE_RUNTIME_MODEL_LOAD_H
#define HONE_RUNTIME_MODEL_LOAD_H

#include "runtime/model/model_abi.h"
#include "support/core/status.h"
#include "support/data/tensor.h"
#include "support/os/clock.h"

typedef struct hone_loaded_model hone_loaded_model;

/* threads 0 = what the model was compiled for. INVALID: no library, or no compiled model.
 * VERSION: made by another version. NO_MEMORY. */
HONE_NODISCARD hone_status hone_loaded_model_open(const char *path, int32_t threads,
                                                  hone_loaded_model **out_model);
void hone_loaded_model_close(hone_loaded_model *model); /* NULL is allowed */

const hone_model_info *hone_loaded_model_info(const hone_loaded_model *model);
/* NULL = "main", or the first. NOT_FOUND with the list of names. */
HONE_NODISCARD hone_status hone_loaded_model_entry(const hone_loaded_model *model,
                                                   const char *name_or_null,
                                                   const hone_model_entry **out_entry);

/* The element type of a port; void when it is none of ours. */
hone_dtype hone_model_port_dtype(const hone_model_port *port);

/* DLPack's name of an element type; code 0 also for what DLPack has no name for. */
DLDataType hone_dl_type(hone_dtype dtype);

/* Makes the outputs of a call, owned by the caller (each tensor and the array); those whose shape
 * depends on data with room for their upper bounds, or without room. INVALID: inputs that do not
 * fit. */
HONE_NODISCARD hone_status hone_loaded_model_make_outputs(const hone_loaded_model *model,
                                                          const hone_model_entry *entry,
                                                          hone_tensor *const *inputs,
                                                          hone_tensor ***out_outputs);
void hone_model_free_outputs(const hone_model_entry *entry, hone_tensor **outputs);

/* What a kernel did in one call of a model. */
typedef struct hone_kernel_seen {
    const char *name, *workload, *origin; /* of the model (model_rt.h) */
    double flops;                         /* of one run; 0 = not known */
    int64_t bytes;                        /* of its arguments */
    int64_t ns;
} hone_kernel_seen;
/* From now on, `see` is told of each kernel that ran, in order, in the thread of the call; one
 * thread at a time may call the model then. A model made before there were observers tells nothing.
 * clock: what times kernels; hone_clock_thread() sees the calling thread only. see NULL: no more.
 * UNAVAILABLE: threads cannot be started. */
typedef void (*hone_see_kernel)(void *ctx, const hone_kernel_seen *kernel);
HONE_NODISCARD hone_status hone_loaded_model_observe(hone_loaded_model *model,
                                                     const hone_clock *clock, hone_see_kernel see,
                                                     void *ctx);
/* One call with the caller's DLPack tensors, seen by whoever looks on. Returns the model's code. */
int32_t hone_loaded_model_call(const hone_loaded_model *model, const hone_model_entry *entry,
                               DLTensor *const *inputs, DLTensor *const *outputs);

/* A call with its tensors made ready once, for timing. Returns the model's code. Outputs whose
 * shape depends on data have it behind a run; what those without upper bounds show is memory of the
 * call, until its next run or its end. */
typedef struct hone_model_call hone_model_call;
HONE_NODISCARD hone_status hone_model_call_create(const hone_loaded_model *model,
                                                  const hone_model_entry *entry,
                                                  hone_tensor *const *inputs,
                                                  hone_tensor *const *outputs,
                                                  hone_model_call **out_call);
int32_t hone_model_call_run(const hone_model_call *call);
/* From now on the tensors of a call lie in the memory of the device that its model is for, copied
 * there once, so that runs do not copy them; what they compute stays there. Nothing to do for a
 * model of the host. UNAVAILABLE: no such device; NO_MEMORY: too little of its memory. */
HONE_NODISCARD hone_status hone_model_call_place(hone_model_call *call);
void hone_model_call_destroy(hone_model_call *call); /* NULL is allowed */
/* The failure that a model's code stands for, with the model's words: INVALID, UNSUPPORTED (this
 * CPU), IO (weights), NO_MEMORY, NOT_FOUND (an external function), EXTERNAL (one that said no),
 * ILLEGAL. OK for no failure. */
HONE_NODISCARD hone_status hone_model_status(const hone_model_info *info, int32_t code);
/* hone_model_status of the model that is called. */
HONE_NODISCARD hone_status hone_model_call_status(const hone_model_call *call, int32_t code);

#endif
