/* runtime/model_load_impl.h - a call of a model, shared by model_load.c and model_place.c. */
#ifndef HONE_RUNTIME_MODEL_LOAD_IMPL_H
#define HONE_RUNTIME_MODEL_LOAD_IMPL_H

#include "runtime/device.h"
#include "runtime/model_load.h"

struct hone_model_call {
    const hone_loaded_model *model;
    const hone_model_entry *entry;
    DLTensor **inputs, **outputs; /* into tensors */
    hone_tensor **given;          /* by output: the caller's; NULL where it gets nothing back */
    hone_device *device;          /* where tensors lie that were placed; NULL = on the host */
    hone_device_buffer **placed;  /* by tensor, NULL = on the host */
    DLManagedTensor tensors[];    /* shapes point into the caller's tensors */
};

/* An output that the model makes, or NULL. */
static inline DLManagedTensor *hone_model_call_made(const hone_model_call *call, int32_t output) {
    if (call->entry->outputs[output].sized != HONE_MODEL_MADE) return NULL;
    return (DLManagedTensor *)(void *)call->outputs[output]; /* its first member */
}

/* model_place.c: gives the memory back; nothing to do for a call that was not placed. */
void hone_model_call_unplace(hone_model_call *call);

#endif
