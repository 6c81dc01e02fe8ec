/* runtime/model_place.c - tensors of a call in the memory of its model's device. */
#include "runtime/model_load_impl.h"
#include "support/core/alloc.h"
#include "target/target.h"

static size_t tensor_count(const hone_model_call *call) {
    return (size_t)call->entry->input_count + (size_t)call->entry->output_count;
}

/* As the tensor has on the host, where four bits take a byte. */
static size_t bytes_of(const hone_model_call *call, size_t index) {
    const hone_model_entry *entry = call->entry;
    size_t inputs = (size_t)entry->input_count;
    const hone_model_port *port =
        index < inputs ? &entry->inputs[index] : &entry->outputs[index - inputs];
    const DLTensor *t = &call->tensors[index].dl_tensor;
    hone_tensor view = hone_tensor_view(t->data, hone_model_port_dtype(port), t->ndim, t->shape);
    return hone_tensor_bytes(&view);
}

static hone_status place_tensor(hone_model_call *call, size_t index) {
    DLTensor *t = &call->tensors[index].dl_tensor;
    hone_device_buffer **buffer = &call->placed[index];
    HONE_TRY(hone_device_buffer_create(call->device, bytes_of(call, index), index, buffer));
    if ((*buffer)->bytes > 0) HONE_TRY(hone_device_buffer_write(call->device, *buffer, t->data));
    hone_device_place place = hone_device_buffer_place(call->device, *buffer);
    t->device = (DLDevice){place.type, place.number};
    t->data = place.data;
    return HONE_OK;
}

hone_status hone_model_call_place(hone_model_call *call) {
    hone_target target;
    HONE_TRY(hone_target_parse(hone_loaded_model_info(call->model)->target, &target));
    const char *name = hone_target_kind_name(target.kind);
    if (call->device || hone_target_device(&target) == HONE_DEVICE_CPU) return HONE_OK;
    call->placed = hone_calloc(tensor_count(call) + 1, sizeof *call->placed);
    if (!call->placed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "call of '%s'", call->entry->name);
    HONE_TRY(hone_device_open(name, 0, &call->device));
    for (size_t i = 0; i < tensor_count(call); i++) {
        int32_t output = (int32_t)i - call->entry->input_count;
        if (output >= 0 && hone_model_call_made(call, output)) continue;
        HONE_TRY(place_tensor(call, i));
    }
    return HONE_OK;
}

void hone_model_call_unplace(hone_model_call *call) {
    for (size_t i = 0; call->device && i < tensor_count(call); i++)
        hone_device_buffer_destroy(call->device, call->placed[i]);
    hone_device_destroy(call->device);
    hone_free(call->placed);
    call->device = NULL;
    call->placed = NULL;
}
