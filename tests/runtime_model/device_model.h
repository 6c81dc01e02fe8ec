/* tests/runtime_model/device_model.h - models for a card, as a library of its own: it ends what it
 * has opened when it is unloaded. Each takes a float32 vector and gives 2 x + 1 of it. */
#ifndef HONE_TESTS_RUNTIME_MODEL_DEVICE_MODEL_H
#define HONE_TESTS_RUNTIME_MODEL_DEVICE_MODEL_H

#include "runtime/model/model_abi.h"
#include "runtime/model/model_rt.h"

enum { DEVICE_MODEL_BLOCK = 128 };

typedef enum device_model_kind {
    DEVICE_MODEL_TWO,     /* two launches, a tensor of the workspace between them */
    DEVICE_MODEL_SCRATCH, /* one step of two launches, scratch memory and 45,000 shared bytes */
    DEVICE_MODEL_HOST,    /* the second half by the CPU */
    DEVICE_MODEL_WEIGHT,  /* the vector is a weight, the input is not looked at */
    DEVICE_MODEL_COPY,    /* the input is copied first, and the output last */
    DEVICE_MODEL_STRAY,   /* a kernel that ends the context */
    DEVICE_MODELS,
} device_model_kind;

typedef int32_t device_model_call_function(device_model_kind kind, DLTensor *input,
                                           DLTensor *output);
/* As device_model_call_function, while `observer` looks on. */
typedef int32_t device_model_watch_function(device_model_kind kind, DLTensor *input,
                                            DLTensor *output, hone_observer observer);
int32_t device_model_watch(device_model_kind kind, DLTensor *input, DLTensor *output,
                           hone_observer observer);
typedef const char *device_model_error_function(void);
int32_t device_model_call(device_model_kind kind, DLTensor *input, DLTensor *output);
const char *device_model_error(void);

#endif
