/* tests/compile/call_model.c - calls a model's first function on made-up inputs: a program that may
 * be built for any CPU. Prints the sum of all outputs, or the model's words when it says no. Usage:
 * call_model MODEL.so */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include MODEL_HEADER /* what hone compile wrote */

enum { MAX_PORTS = 8 };

static DLTensor tensor_of(const hone_model_port *port) {
    DLTensor t = {
        .device = {1, 0},
          .ndim = port->ndim, .dtype = port->dtype
    };
    size_t count = 1;
    t.shape = calloc((size_t)port->ndim + 1, sizeof *t.shape);
    for (int32_t i = 0; i < port->ndim; i++) {
        t.shape[i] = port->shape[i];
        count *= (size_t)port->shape[i];
    }
    float *data = aligned_alloc(64, (count * sizeof *data + 63) / 64 * 64);
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(i % 13) - 6;
    t.data = data;
    return t;
}

static double sum_of(const DLTensor *t) {
    int64_t count = 1;
    double sum = 0;
    for (int32_t i = 0; i < t->ndim; i++)
        count *= t->shape[i];
    for (int64_t i = 0; i < count; i++)
        sum += ((const float *)t->data)[i];
    return sum;
}

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, HONE_MODEL_SYMBOL) : NULL;
    hone_model_get get;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    memcpy(&get, &symbol, sizeof get);
    const hone_model_entry *entry = &get()->entries[0];
    DLTensor tensors[2 * MAX_PORTS], *inputs[MAX_PORTS], *outputs[MAX_PORTS];
    for (int32_t i = 0; i < entry->input_count; i++) {
        tensors[i] = tensor_of(&entry->inputs[i]);
        inputs[i] = &tensors[i];
    }
    for (int32_t i = 0; i < entry->output_count; i++) {
        tensors[MAX_PORTS + i] = tensor_of(&entry->outputs[i]);
        outputs[i] = &tensors[MAX_PORTS + i];
    }
    int32_t code = entry->run(NULL, inputs, outputs);
    if (code != 0) {
        printf("%d: %s\n", code, get()->last_error());
        return 1;
    }
    double sum = 0;
    for (int32_t i = 0; i < entry->output_count; i++)
        sum += sum_of(outputs[i]);
    printf("%.1f\n", sum);
    return 0;
}
