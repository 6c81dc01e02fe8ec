/* Loads any compiled model, says what it takes and gives, and runs it on ones.
 *     hone compile examples/fashion_mnist/mlp.onnx -o /tmp/mlp && run_model /tmp/mlp.so */
#include <stdio.h>
#include <stdlib.h>

#include <hone/hone.h>

enum { MAX_PORTS = 16, MAX_RANK = 12 };

typedef struct port {
    DLTensor tensor;
    int64_t shape[MAX_RANK];
} port;

static int make(const hone_model_port *from, port *to) {
    int64_t count = 1;
    if (from->ndim > MAX_RANK) return 0;
    for (int32_t i = 0; i < from->ndim; i++) {
        to->shape[i] = from->shape[i] < 0 ? 1 : from->shape[i]; /* -1: any */
        count *= to->shape[i];
    }
    size_t bytes = (size_t)count * ((from->dtype.bits + 7u) / 8);
    to->tensor = (DLTensor){
        .data = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64),
        .device = {1, 0},
        .ndim = from->ndim,
        .dtype = from->dtype,
        .shape = to->shape
    };
    if (!to->tensor.data) return 0;
    int is_f32 = from->dtype.code == 2 && from->dtype.bits == 32;
    for (int64_t i = 0; i < count && is_f32; i++)
        ((float *)to->tensor.data)[i] = 1;
    for (size_t i = 0; i < bytes && !is_f32; i++)
        ((char *)to->tensor.data)[i] = 0;
    printf("%s: %s of rank %d, %lld elements\n", from->name, from->dtype_name, (int)from->ndim,
           (long long)count);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: run_model MODEL.so\n");
        return 2;
    }
    hone_model *model;
    hone_error *error = hone_model_open(argv[1], &model);
    if (error) {
        fprintf(stderr, "%s\n", hone_error_message(error));
        hone_error_free(error);
        return 1;
    }
    const hone_model_info *info = hone_model_describe(model);
    const hone_model_entry *entry = hone_model_find(model, NULL);
    printf("model %s, %d threads, for %s\n", info->name, (int)info->threads, info->target);

    static port ports[2 * MAX_PORTS];
    DLTensor *inputs[MAX_PORTS], *outputs[MAX_PORTS];
    int is_good = entry && entry->input_count <= MAX_PORTS && entry->output_count <= MAX_PORTS;
    for (int32_t i = 0; is_good && i < entry->input_count; i++) {
        is_good = make(&entry->inputs[i], &ports[i]);
        inputs[i] = &ports[i].tensor;
    }
    for (int32_t i = 0; is_good && i < entry->output_count; i++) {
        is_good = make(&entry->outputs[i], &ports[MAX_PORTS + i]);
        outputs[i] = &ports[MAX_PORTS + i].tensor;
    }
    if (is_good) error = hone_model_run(model, entry, inputs, outputs);
    if (error)
        fprintf(stderr, "%s\n", hone_error_message(error));
    else if (is_good && entry->outputs[0].dtype.code == 2 && entry->outputs[0].dtype.bits == 32)
        printf("first result: %g\n", (double)((float *)outputs[0]->data)[0]);
    is_good = is_good && !error;
    hone_error_free(error);
    for (int i = 0; i < 2 * MAX_PORTS; i++)
        free(ports[i].tensor.data);
    hone_model_close(model);
    return is_good ? 0 : 1;
}
