/* bench/ops/ops_onednn_matmul.c - oneDNN's matmul primitive, bias and relu in it. */
#include "bench/ops/ops_onednn.h"

static void *matmul_open(const ops_setup *setup, const char **out_reason) {
    (void)out_reason;
    const ops_data *data = setup->data;
    const int64_t *d = setup->work->dims;
    bool has_batch = d[0] > 1, has_bias = data->input_count > 2;
    int rank = has_batch ? 3 : 2, skip = has_batch ? 0 : 1;
    const int64_t x_dims[] = {d[0], d[1], d[3]}, w_dims[] = {d[0], d[3], d[2]},
                  y_dims[] = {d[0], d[1], d[2]}, b_dims[] = {1, 1, d[2]};
    dnnl_format_tag_t tag = has_batch ? dnnl_abc : dnnl_ab;
    bool may_choose = setup->is_constant && setup->work->weight;
    ops_onednn *self = ops_onednn_make(setup->threads);
    dnnl_memory_desc_t x = ops_onednn_desc(rank, x_dims + skip, dnnl_f32, tag),
                       w = ops_onednn_desc(rank, w_dims + skip, dnnl_f32, tag),
                       y = ops_onednn_desc(rank, y_dims + skip, dnnl_f32, tag),
                       b = ops_onednn_desc(rank, b_dims + skip, dnnl_f32, tag),
                       any = ops_onednn_desc(rank, w_dims + skip, dnnl_f32, dnnl_format_tag_any);
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t desc;
    ops_onednn_must(dnnl_primitive_attr_create(&attr), "attr");
    if (has_bias) {
        dnnl_post_ops_t post;
        ops_onednn_must(dnnl_post_ops_create(&post), "post ops");
        ops_onednn_must(dnnl_post_ops_append_eltwise(post, 1, dnnl_eltwise_relu, 0, 0), "relu");
        ops_onednn_must(dnnl_primitive_attr_set_post_ops(attr, post), "post ops");
        dnnl_post_ops_destroy(post);
    }
    ops_onednn_must(
        dnnl_matmul_desc_init(&matmul, &x, may_choose ? &any : &w, has_bias ? &b : NULL, &y),
        "matmul desc");
    ops_onednn_must(dnnl_primitive_desc_create(&desc, &matmul, attr, self->engine, NULL), "matmul");
    dnnl_primitive_attr_destroy(attr);
    ops_onednn_bind_input(self, DNNL_ARG_SRC, &x, &x, data->inputs[0]->data);
    ops_onednn_bind_input(self, DNNL_ARG_WEIGHTS, &w,
                          ops_onednn_chosen(desc, dnnl_query_weights_md), data->inputs[1]->data);
    if (has_bias) ops_onednn_bind_input(self, DNNL_ARG_BIAS, &b, &b, data->inputs[2]->data);
    ops_onednn_bind_output(self, DNNL_ARG_DST, &y, &y, data->outputs[0]->data);
    ops_onednn_ready(self, desc);
    return self;
}

const ops_peer ops_onednn_matmul = {.name = "oneDNN",
                                    .open = matmul_open,
                                    .run = ops_onednn_run,
                                    .fetch = ops_onednn_fetch,
                                    .close = ops_onednn_close};
