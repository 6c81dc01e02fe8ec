/* Tunes a program, compiles it with its best record, and runs it, in one process.
 *     tune_and_run tests/programs/matmul_relu.py /tmp/tuned.db 32
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <hone/hone.h>

/* Every input is ones; the sum of the last output's elements is shown. */
enum { MOST_PORTS = 16, MOST_DIMS = 8 };

typedef struct tensor {
    DLTensor view;
    int64_t shape[MOST_DIMS];
} tensor;

static size_t count_of(const tensor *t) {
    size_t count = 1;
    for (int32_t d = 0; d < t->view.ndim; d++)
        count *= (size_t)t->shape[d];
    return count;
}

/* float32 tensors of known shapes are enough for this program. */
static int make(const hone_model_port *port, tensor *t) {
    t->view = (DLTensor){
        .device = {1, 0},
          .ndim = port->ndim, .dtype = port->dtype
    };
    if (port->ndim > MOST_DIMS || port->dtype.code != 2 || port->dtype.bits != 32) return 0;
    for (int32_t d = 0; d < port->ndim; d++) {
        t->shape[d] = port->shape[d];
        if (port->shape[d] < 0) return 0;
    }
    t->view.shape = t->shape;
    size_t count = count_of(t);
    float *data = aligned_alloc(64, (count * sizeof *data + 63) / 64 * 64);
    t->view.data = data;
    for (size_t i = 0; data && i < count; i++)
        data[i] = 1;
    return data != NULL;
}

static int make_all(const hone_model_port *ports, int32_t count, tensor *tensors,
                    DLTensor **pointers) {
    int is_made = count <= MOST_PORTS;
    for (int32_t i = 0; i < count && is_made; i++) {
        is_made = make(&ports[i], &tensors[i]);
        pointers[i] = &tensors[i].view;
    }
    return is_made;
}

static hone_error *run(const hone_model *model) {
    static tensor inputs[MOST_PORTS], outputs[MOST_PORTS];
    DLTensor *in[MOST_PORTS] = {0}, *out[MOST_PORTS] = {0};
    const hone_model_entry *entry = hone_model_find(model, NULL);
    hone_error *error = NULL;
    if (!make_all(entry->inputs, entry->input_count, inputs, in) ||
        !make_all(entry->outputs, entry->output_count, outputs, out)) {
        puts("this program runs models of float32 tensors of known shapes");
    } else {
        error = hone_model_run(model, entry, in, out);
    }
    if (!error && entry->output_count > 0) {
        const tensor *last = &outputs[entry->output_count - 1];
        const float *data = last->view.data;
        double sum = 0;
        for (size_t i = 0; data && i < count_of(last); i++)
            sum += (double)data[i];
        printf("%s: the sum is %g\n", entry->outputs[entry->output_count - 1].name, sum);
    }
    for (int i = 0; i < MOST_PORTS; i++) {
        free(inputs[i].view.data);
        free(outputs[i].view.data);
    }
    return error;
}

/* Callbacks come in this thread, while hone_program_tune is at work. */
static void show(void *context, const hone_tuning_state *state) {
    (void)context;
    if (state->best && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%lld trials, %s ", (long long)state->done, state->best);
}

static hone_error *tune(const hone_program *program, const char *database, int64_t trials) {
    const hone_tuning_options options = {
        .database = database, .trials = trials, .threads = 1, .progress = show};
    hone_tuned *tuned = NULL;
    hone_error *error = hone_program_tune(program, &options, &tuned);
    if (isatty(STDERR_FILENO)) fputc('\n', stderr);
    for (size_t i = 0; hone_tuned_task_at(tuned, i); i++) {
        const hone_tuned_task *task = hone_tuned_task_at(tuned, i);
        printf("%s: %lld trials, %s\n", task->name, (long long)(task->trials + task->known_trials),
               task->best_ns > 0 ? "there is a best one" : "nothing worked");
    }
    hone_tuned_free(tuned);
    return error;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: tune_and_run PROGRAM DATABASE TRIALS\n");
        return 2;
    }
    hone_program *program = NULL;
    hone_model *model = NULL;
    const hone_compilation_options best = {.database = argv[2], .threads = 1};
    hone_error *error = hone_program_load(argv[1], &program);
    if (!error) error = tune(program, argv[2], strtoll(argv[3], NULL, 10));
    if (!error) error = hone_program_build(program, &best, &model);
    if (!error) error = run(model);
    if (error) fprintf(stderr, "%s\n", hone_error_message(error));
    int code = error != NULL;
    hone_error_free(error);
    hone_model_close(model);
    hone_program_free(program);
    return code;
}
