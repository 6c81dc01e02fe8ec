/* bench/ops/ops_onednn_conv.c - oneDNN's convolutions: direct, and by Winograd's method.
 *
 * A work on plain tensors is plain for oneDNN, too; in a work inside a blocked layout oneDNN has
 * the layouts that it likes best. Weights are reordered before the clock starts where they are
 * constants, else in each run. */
#include "bench/ops/ops_onednn.h"
#include "support/core/alloc.h"

enum { DIM_C, DIM_H, DIM_F, DIM_K, DIM_S, DIM_GROUPS, DIM_P, DIM_W, DIM_N, DIM_D };

/* Filters over an image of this many rows or columns. */
static int64_t out_of(const int64_t *d, int64_t size) {
    int64_t apart = d[DIM_D] ? d[DIM_D] : 1;
    return (size + 2 * d[DIM_P] - (d[DIM_K] - 1) * apart - 1) / d[DIM_S] + 1;
}

static dnnl_memory_desc_t image_desc(const hone_tensor *tensor, const int64_t *dims) {
    bool is_blocked = tensor->rank == 5;
    dnnl_format_tag_t tag = !is_blocked              ? dnnl_nchw
                            : tensor->shape[4] == 16 ? dnnl_nChw16c
                                                     : dnnl_nChw8c;
    return ops_onednn_desc(4, dims, dnnl_f32, tag);
}

/* Frees what conv_open has made so far. */
static void *give_up(ops_onednn *self) {
    dnnl_stream_destroy(self->stream);
    dnnl_engine_destroy(self->engine);
    hone_free(self);
    return NULL;
}

static void *open_with(const ops_setup *setup, dnnl_alg_kind_t algorithm, const char **out_reason) {
    const int64_t *d = setup->work->dims, groups = d[DIM_GROUPS];
    const hone_tensor *x_data = setup->data->inputs[0], *y_data = setup->data->outputs[0];
    int64_t w_size = d[DIM_W] ? d[DIM_W] : d[DIM_H], n = d[DIM_N] ? d[DIM_N] : 1;
    const int64_t x_dims[] = {n, d[DIM_C], d[DIM_H], w_size},
                  y_dims[] = {n, d[DIM_F], out_of(d, d[DIM_H]), out_of(d, w_size)};
    const int64_t w_dims[] = {groups, d[DIM_F] / groups, d[DIM_C] / groups, d[DIM_K], d[DIM_K]};
    int64_t between = d[DIM_D] ? d[DIM_D] - 1 : 0;
    const dnnl_dims_t strides = {d[DIM_S], d[DIM_S]}, padding = {d[DIM_P], d[DIM_P]},
                      dilates = {between, between};
    int skip = groups == 1;
    bool is_plain = x_data->rank == 4;
    ops_onednn *self = ops_onednn_make(setup->threads);
    dnnl_memory_desc_t x = image_desc(x_data, x_dims), y = image_desc(y_data, y_dims),
                       w = ops_onednn_desc(5 - skip, w_dims + skip, dnnl_f32,
                                           skip ? dnnl_oihw : dnnl_goihw),
                       any_x = ops_onednn_desc(4, x_dims, dnnl_f32, dnnl_format_tag_any),
                       any_y = ops_onednn_desc(4, y_dims, dnnl_f32, dnnl_format_tag_any),
                       any_w =
                           ops_onednn_desc(5 - skip, w_dims + skip, dnnl_f32, dnnl_format_tag_any);
    dnnl_convolution_desc_t conv;
    dnnl_primitive_desc_t desc;
    ops_onednn_must(dnnl_dilated_convolution_forward_desc_init(
                        &conv, dnnl_forward_inference, algorithm, is_plain ? &x : &any_x, &any_w,
                        NULL, is_plain ? &y : &any_y, strides, dilates, padding, padding),
                    "convolution desc");
    if (dnnl_primitive_desc_create(&desc, &conv, NULL, self->engine, NULL) != dnnl_success) {
        *out_reason = "oneDNN has no such convolution for this CPU and layout";
        return give_up(self);
    }
    ops_onednn_bind_input(self, DNNL_ARG_SRC, &x, ops_onednn_chosen(desc, dnnl_query_src_md),
                          x_data->data);
    (setup->is_constant ? ops_onednn_bind_input : ops_onednn_bind_each_time)(
        self, DNNL_ARG_WEIGHTS, &w, ops_onednn_chosen(desc, dnnl_query_weights_md),
        setup->data->inputs[1]->data);
    ops_onednn_bind_output(self, DNNL_ARG_DST, &y, ops_onednn_chosen(desc, dnnl_query_dst_md),
                           y_data->data);
    ops_onednn_ready(self, desc);
    return self;
}

static void *direct_open(const ops_setup *setup, const char **out_reason) {
    return open_with(setup, dnnl_convolution_direct, out_reason);
}

static void *winograd_open(const ops_setup *setup, const char **out_reason) {
    return open_with(setup, dnnl_convolution_winograd, out_reason);
}

const ops_peer ops_onednn_conv = {.name = "oneDNN",
                                  .open = direct_open,
                                  .run = ops_onednn_run,
                                  .fetch = ops_onednn_fetch,
                                  .close = ops_onednn_close};
const ops_peer ops_onednn_winograd = {.name = "oneDNN Winograd",
                                      .open = winograd_open,
                                      .run = ops_onednn_run,
                                      .fetch = ops_onednn_fetch,
                                      .close = ops_onednn_close};
