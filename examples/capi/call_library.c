/* Runs a compiled model whose graph calls functions of this program: env.dense and env.rectify are
 * found by their names with an underscore, as the program exports them (-rdynamic). Compares with
 * the same in plain C.
 *     hone compile tests/programs/mlp_mixture_static.py -o /tmp/model && call_library /tmp/model.so
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <hone/hone.h>

enum { IN = 96, HIDDEN = 48, OUT = 10, INPUTS = 5 };

static int calls;

/* env.dense(x, w, b, out): what hone/model_abi.h says of external functions */
HONE_API int32_t env_dense(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                           int32_t count);
HONE_API int32_t env_rectify(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                             int32_t count);

static void dense(const float *x, const float *w, const float *b, int64_t rows, int64_t columns,
                  float *out) {
    for (int64_t j = 0; j < rows; j++) {
        double sum = (double)b[j];
        for (int64_t k = 0; k < columns; k++)
            sum += (double)x[k] * (double)w[j * columns + k];
        out[j] = (float)sum;
    }
}

int32_t env_dense(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                  int32_t count) {
    (void)ranks;
    if (count != 4) return 1;
    calls++;
    dense(args[0], args[1], args[2], shapes[1][0], shapes[1][1], args[3]);
    return 0;
}

int32_t env_rectify(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                    int32_t count) {
    if (count != 2) return 1;
    calls++;
    int64_t size = 1;
    for (int32_t i = 0; i < ranks[0]; i++)
        size *= shapes[0][i];
    const float *x = args[0];
    float *out = args[1];
    for (int64_t i = 0; i < size; i++)
        out[i] = x[i] > 0 ? x[i] : 0;
    return 0;
}

typedef struct tensor {
    DLTensor view;
    int64_t shape[2];
    float *data;
} tensor;

/* Some numbers between -1 and 1. */
static int make(tensor *t, int64_t rows, int64_t columns, unsigned seed) {
    int64_t count = (rows ? rows : 1) * columns;
    *t = (tensor){
        .shape = {rows ? rows : columns, columns}
    };
    t->data = aligned_alloc(64, ((size_t)count * sizeof *t->data + 63) / 64 * 64);
    for (int64_t i = 0; t->data && i < count; i++) {
        seed = seed * 1103515245u + 12345u;
        t->data[i] = (float)(seed >> 16 & 1023) / 512 - 1;
    }
    t->view = (DLTensor){
        .data = t->data, .device = {1,   0},
             .ndim = rows ? 2 : 1, .dtype = { 2, 32, 1}
    };
    t->view.shape = t->shape;
    return t->data != NULL;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: call_library MODEL.so\n");
        return 2;
    }
    static const int64_t shapes[INPUTS][2] = {
        {1,      IN    },
        {HIDDEN, IN    },
        {0,      HIDDEN},
        {OUT,    HIDDEN},
        {0,      OUT   }
    };
    tensor in[INPUTS], out;
    DLTensor *inputs[INPUTS], *outputs[1] = {&out.view};
    int is_good = make(&out, 1, OUT, 0);
    for (unsigned i = 0; i < INPUTS; i++) {
        is_good = make(&in[i], shapes[i][0], shapes[i][1], i + 1) && is_good;
        inputs[i] = &in[i].view;
    }
    hone_model *model = NULL;
    hone_error *error = is_good ? hone_model_open(argv[1], &model) : NULL;
    if (is_good && !error) {
        error = hone_model_run(model, hone_model_find(model, NULL), inputs, outputs);
    }
    if (error) {
        fprintf(stderr, "%s\n", hone_error_message(error));
    } else if (is_good) {
        float hidden[HIDDEN], want[OUT];
        double worst = 0;
        dense(in[0].data, in[1].data, in[2].data, HIDDEN, IN, hidden);
        for (int i = 0; i < HIDDEN; i++)
            hidden[i] = hidden[i] > 0 ? hidden[i] : 0;
        dense(hidden, in[3].data, in[4].data, OUT, HIDDEN, want);
        for (int i = 0; i < OUT; i++)
            worst = fmax(worst, fabs((double)out.data[i] - (double)want[i]));
        printf("%d calls of this program's functions, the result is %s\n", calls,
               worst < 1e-3 ? "right" : "WRONG");
    }
    int code = error || !is_good ? 1 : 0;
    hone_error_free(error);
    hone_model_close(model);
    for (int i = 0; i < INPUTS; i++)
        free(in[i].data);
    free(out.data);
    return code;
}
