/* bench/ops/ops_onednn_rows.c - oneDNN's softmax, layer normalisation, GELU, reductions, reorders
 * and products of bytes and bfloat16, for the kinds of ops_rows.c. */
#include <string.h>

#include "bench/ops/ops_onednn.h"

static dnnl_memory_desc_t plain(int rank, const int64_t *dims, dnnl_data_type_t dtype) {
    static const dnnl_format_tag_t tags[] = {dnnl_a, dnnl_ab};
    return ops_onednn_desc(rank, dims, dtype, tags[rank - 1]);
}

static void bind(ops_onednn *self, const ops_setup *s, int arg, int input,
                 const dnnl_memory_desc_t *desc) {
    ops_onednn_bind_input(self, arg, desc, desc, s->data->inputs[input]->data);
}

static void bind_result(ops_onednn *self, const ops_setup *s, int arg,
                        const dnnl_memory_desc_t *desc) {
    ops_onednn_bind_output(self, arg, desc, desc, s->data->outputs[0]->data);
}

/* X to Y, described alike, by the operation that `op` describes. */
static void finish_simple(ops_onednn *self, const ops_setup *s, const_dnnl_op_desc_t op,
                          const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *y) {
    dnnl_primitive_desc_t desc;
    ops_onednn_must(dnnl_primitive_desc_create(&desc, op, NULL, self->engine, NULL), "desc");
    bind(self, s, DNNL_ARG_SRC, 0, x);
    bind_result(self, s, DNNL_ARG_DST, y);
    ops_onednn_ready(self, desc);
}

static void softmax(ops_onednn *self, const ops_setup *s) {
    dnnl_memory_desc_t x = plain(2, s->work->dims, dnnl_f32);
    dnnl_softmax_desc_t op;
    ops_onednn_must(dnnl_softmax_forward_desc_init(&op, dnnl_forward_inference, &x, 1), "softmax");
    finish_simple(self, s, &op, &x, &x);
}

static void gelu(ops_onednn *self, const ops_setup *s) {
    dnnl_memory_desc_t x = plain(1, s->work->dims, dnnl_f32);
    dnnl_eltwise_desc_t op;
    ops_onednn_must(dnnl_eltwise_forward_desc_init(&op, dnnl_forward_inference,
                                                   dnnl_eltwise_gelu_erf, &x, 0, 0),
                    "gelu");
    finish_simple(self, s, &op, &x, &x);
}

static void sum(ops_onednn *self, const ops_setup *s) {
    const int64_t *d = s->work->dims;
    const int64_t left[] = {d[2] == 1 ? d[0] : 1, d[2] == 2 ? d[1] : 1};
    dnnl_memory_desc_t x = plain(2, d, dnnl_f32), y = plain(2, left, dnnl_f32);
    dnnl_reduction_desc_t op;
    ops_onednn_must(dnnl_reduction_desc_init(&op, dnnl_reduction_sum, &x, &y, 0, 0), "sum");
    finish_simple(self, s, &op, &x, &y);
}

static void layernorm(ops_onednn *self, const ops_setup *s) {
    const int64_t *d = s->work->dims;
    dnnl_memory_desc_t x = plain(2, d, dnnl_f32), row = plain(1, d + 1, dnnl_f32);
    dnnl_layer_normalization_desc_t op;
    dnnl_primitive_desc_t desc;
    ops_onednn_must(dnnl_layer_normalization_forward_desc_init(&op, dnnl_forward_inference, &x,
                                                               NULL, 1e-5F,
                                                               dnnl_use_scale | dnnl_use_shift),
                    "layer normalisation");
    ops_onednn_must(dnnl_primitive_desc_create(&desc, &op, NULL, self->engine, NULL), "desc");
    bind(self, s, DNNL_ARG_SRC, 0, &x);
    bind(self, s, DNNL_ARG_SCALE, 1, &row);
    bind(self, s, DNNL_ARG_SHIFT, 2, &row);
    bind_result(self, s, DNNL_ARG_DST, &x);
    ops_onednn_ready(self, desc);
}

/* A reorder: into the other order of dimensions, or into the same. */
static void move(ops_onednn *self, const ops_setup *s, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t x = plain(2, s->work->dims, dnnl_f32),
                       y = ops_onednn_desc(2, s->work->dims, dnnl_f32, tag);
    dnnl_primitive_desc_t desc;
    ops_onednn_must(
        dnnl_reorder_primitive_desc_create(&desc, &x, self->engine, &y, self->engine, NULL),
        "reorder");
    bind(self, s, DNNL_ARG_FROM, 0, &x);
    bind_result(self, s, DNNL_ARG_TO, &y);
    ops_onednn_ready(self, desc);
}

static void small_matmul(ops_onednn *self, const ops_setup *s, dnnl_data_type_t x_type,
                         dnnl_data_type_t w_type, dnnl_data_type_t y_type) {
    const int64_t *d = s->work->dims;
    const int64_t x_dims[] = {d[0], d[2]}, w_dims[] = {d[2], d[1]}, y_dims[] = {d[0], d[1]};
    dnnl_memory_desc_t x = plain(2, x_dims, x_type), w = plain(2, w_dims, w_type),
                       y = plain(2, y_dims, y_type),
                       any = ops_onednn_desc(2, w_dims, w_type, dnnl_format_tag_any);
    dnnl_matmul_desc_t op;
    dnnl_primitive_desc_t desc;
    ops_onednn_must(dnnl_matmul_desc_init(&op, &x, s->is_constant ? &any : &w, NULL, &y), "matmul");
    ops_onednn_must(dnnl_primitive_desc_create(&desc, &op, NULL, self->engine, NULL), "desc");
    bind(self, s, DNNL_ARG_SRC, 0, &x);
    ops_onednn_bind_input(self, DNNL_ARG_WEIGHTS, &w,
                          ops_onednn_chosen(desc, dnnl_query_weights_md), s->data->inputs[1]->data);
    bind_result(self, s, DNNL_ARG_DST, &y);
    ops_onednn_ready(self, desc);
}

static void bytes_matmul(ops_onednn *self, const ops_setup *s) {
    small_matmul(self, s, s->work->dims[3] == 2 ? dnnl_s8 : dnnl_u8, dnnl_s8, dnnl_s32);
}
static void bf16_matmul(ops_onednn *self, const ops_setup *s) {
    small_matmul(self, s, dnnl_bf16, dnnl_bf16, dnnl_f32);
}

static void transpose(ops_onednn *self, const ops_setup *s) {
    move(self, s, dnnl_ba);
}
static void copy(ops_onednn *self, const ops_setup *s) {
    move(self, s, dnnl_ab);
}

static void pool(ops_onednn *self, const ops_setup *s) {
    const int64_t *d = s->work->dims;
    int64_t out[4] = {d[0], d[1]};
    for (int i = 2; i < 4; i++)
        out[i] = (d[i] + 2 * d[6] - d[4]) / d[5] + 1;
    dnnl_memory_desc_t x = ops_onednn_desc(4, d, dnnl_f32, dnnl_abcd),
                       y = ops_onednn_desc(4, out, dnnl_f32, dnnl_abcd);
    const dnnl_dims_t kernel = {d[4], d[4]}, strides = {d[5], d[5]}, padding = {d[6], d[6]};
    dnnl_dims_t after = {0};
    for (int i = 0; i < 2; i++)
        after[i] = (out[i + 2] - 1) * d[5] + d[4] - d[i + 2] - d[6];
    dnnl_pooling_desc_t op;
    ops_onednn_must(
        dnnl_pooling_forward_desc_init(&op, dnnl_forward_inference,
                                       d[7] ? dnnl_pooling_avg_include_padding : dnnl_pooling_max,
                                       &x, &y, strides, kernel, padding, after),
        "pooling");
    finish_simple(self, s, &op, &x, &y);
}

static const struct kind {
    const char *name;
    void (*make)(ops_onednn *self, const ops_setup *s);
} kinds[] = {
    {"softmax",      softmax     },
    {"layernorm",    layernorm   },
    {"gelu",         gelu        },
    {"sum",          sum         },
    {"transpose",    transpose   },
    {"copy",         copy        },
    {"pool",         pool        },
    {"bytes_matmul", bytes_matmul},
    {"bf16_matmul",  bf16_matmul },
};

/* bfloat16 needs AVX-512 there. */
static bool can_do(const char *kind) {
    unsigned isa = (unsigned)dnnl_get_effective_cpu_isa(), least = dnnl_cpu_isa_avx512_core;
    return strcmp(kind, "bf16_matmul") != 0 || (isa & least) == least;
}

static void *rows_open(const ops_setup *setup, const char **out_reason) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, setup->work->kind) != 0 || !can_do(kinds[i].name)) continue;
        ops_onednn *self = ops_onednn_make(setup->threads);
        kinds[i].make(self, setup);
        return self;
    }
    *out_reason = "oneDNN has no one operation for it";
    return NULL;
}

const ops_peer ops_onednn_rows = {.name = "oneDNN",
                                  .open = rows_open,
                                  .run = ops_onednn_run,
                                  .fetch = ops_onednn_fetch,
                                  .close = ops_onednn_close};
