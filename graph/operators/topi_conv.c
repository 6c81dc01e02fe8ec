/* graph/operators/topi_conv.c - convolutions and pools, their dimensions in any order that data and
 * result share (NCHW, NHWC). Padding is a block of its own, so that the window's reads are plain
 * sums of axes; a schedule inlines it. */
#include <string.h>

#include "graph/operators/topi_build.h"
#include "ir/ops/layout.h"

enum { MAX_SPATIAL = 3, BATCH = 0, CHANNEL = 1, SPACE = 2 /* dimensions in the plain order */ };

typedef struct window {
    uint32_t spatial;
    int64_t dim[MAX_SPATIAL + 2];    /* of N, C, space... among the dimensions of data and result */
    int64_t filter[MAX_SPATIAL + 2]; /* of O, I, space... among those of the filter */
    int64_t kernel[MAX_SPATIAL], strides[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t before[MAX_SPATIAL], after[MAX_SPATIAL];                   /* as asked for */
    int64_t room_before[MAX_SPATIAL + 2], room_after[MAX_SPATIAL + 2]; /* as read, by dimension */
} window;

static hone_status read_order(hone_topi *t, window *w) {
    hone_window_layouts l;
    if (!hone_layouts_of_window(t->bind, &l) || strcmp(l.data, l.out) != 0 ||
        !hone_layout_axes(l.data, l.plain, w->dim) ||
        !hone_layout_axes(l.kernel, l.plain_kernel, w->filter)) {
        return hone_topi_unsupported(t, "a result in another layout than the data, or of blocks");
    }
    return HONE_OK;
}

/* Behind the data only what some window reaches is padded. */
static int64_t reach_after(const hone_topi *t, const window *w, uint32_t i, bool ceil_mode) {
    int64_t extent = hone_expr_const(t->infos[0]->shape[w->dim[SPACE + i]]);
    int64_t count = hone_expr_const(t->out->shape[w->dim[SPACE + i]]);
    if (extent < 0 || count < 0) return w->after[i] + (ceil_mode ? w->strides[i] - 1 : 0);
    int64_t end = (count - 1) * w->strides[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
    int64_t needed = end - w->before[i] - extent;
    return needed > 0 ? needed : 0;
}

static hone_status read_window(hone_topi *t, window *w) {
    int64_t padding[2 * MAX_SPATIAL];
    w->spatial = (uint32_t)t->infos[0]->rank - 2;
    bool ceil_mode = hone_attrs_int(&t->bind->attrs, "ceil_mode", 0) != 0;
    HONE_TRY(hone_graph_attr_ints(t->bind, "strides", w->spatial, 1, w->strides));
    HONE_TRY(hone_graph_attr_ints(t->bind, "dilation", w->spatial, 1, w->dilation));
    HONE_TRY(hone_graph_attr_padding(t->bind, w->spatial, padding));
    for (uint32_t i = 0; i < w->spatial; i++) {
        w->before[i] = w->room_before[w->dim[SPACE + i]] = padding[i];
        w->after[i] = padding[i + w->spatial];
        w->room_after[w->dim[SPACE + i]] = reach_after(t, w, i, ceil_mode);
    }
    return HONE_OK;
}

/* out * stride + tap * dilation */
static const hone_expr *window_index(hone_topi *t, const window *w, uint32_t i,
                                     const hone_expr *out, const hone_expr *tap) {
    const hone_expr *start = hone_topi_mul_int(t, out, w->strides[i]);
    if (w->kernel[i] == 1) return start;
    return hone_topi_sum(t, start, hone_topi_mul_int(t, tap, w->dilation[i]));
}

/* ---- windows of taps that lie far apart ----
 *
 * A dilated kernel may reach much further than the image: then padding is most of what is read, in
 * strides of a padded row. The taps of all windows, one behind the other, are less and lie in the
 * order of the sum:
 *
 *   windows[n, ky, kx, c, y, x] = data[n, c, y * stride + ky * dilation - before, …], or 0
 */

/* Whether some window of a dimension of known size has the tap inside of the data. */
static bool tap_reaches(const window *w, uint32_t i, int64_t tap, int64_t extent, int64_t count) {
    int64_t first = tap * w->dilation[i] - w->before[i];
    return first < extent && (count - 1) * w->strides[i] + first >= 0;
}

/* Leaves out the first and last taps that are outside of the data in every window: out_first, by
 * dimension, is the first one that stays. */
static void leave_taps_out(const hone_topi *t, window *w, int64_t *out_first) {
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t dim = w->dim[SPACE + i], first = 0, end = w->kernel[i];
        int64_t extent = hone_expr_const(t->infos[0]->shape[dim]);
        int64_t count = hone_expr_const(t->out->shape[dim]);
        out_first[i] = 0;
        if (extent < 1 || count < 1) continue;
        while (first + 1 < end && !tap_reaches(w, i, first, extent, count))
            first++;
        while (end - 1 > first && !tap_reaches(w, i, end - 1, extent, count))
            end--;
        if (end - first == w->kernel[i]) continue;
        out_first[i] = first;
        w->kernel[i] = end - first;
        w->before[i] -= first * w->dilation[i];
        w->room_before[dim] = w->before[i];
        w->room_after[dim] = reach_after(t, w, i, false);
    }
}

/* Of an extent that comes later: padding that is more than images of small features have. */
enum { FAR = 16 };

static bool taps_are_far(const hone_topi *t, const window *w) {
    double padded = 1, taken = 1;
    bool is_known = true, is_far = true, is_dilated = false;
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t dim = w->dim[SPACE + i];
        int64_t room = w->room_before[dim] + w->room_after[dim];
        int64_t extent = hone_expr_const(t->infos[0]->shape[dim]);
        int64_t count = hone_expr_const(t->out->shape[dim]);
        is_known &= extent >= 0 && count >= 0;
        padded *= (double)(extent + room);
        taken *= (double)(count * w->kernel[i]);
        is_far &= w->kernel[i] == 1 || room >= FAR;
        is_dilated |= w->kernel[i] > 1 && w->dilation[i] > 1;
    }
    return is_dilated && (is_known ? taken < padded : is_far);
}

static const hone_expr *is_inside(hone_topi *t, const window *w, uint32_t i, const hone_expr *at) {
    hone_ir *ir = &t->te->ir;
    int64_t dim = w->dim[SPACE + i], before = w->room_before[dim];
    const hone_expr *end = hone_topi_add_int(t, t->shapes[0][dim], before), *both = NULL;
    if (before > 0) both = hone_expr_binary(ir, HONE_OP_LE, hone_te_int(t->te, before), at);
    return hone_topi_both(t, both, hone_expr_binary(ir, HONE_OP_LT, at, end));
}

/* windows; their dimensions: N, taps, C, space. */
static hone_buffer take_windows(hone_topi *t, const window *w) {
    uint32_t channel = w->spatial + 1;
    const hone_expr *shape[2 * MAX_SPATIAL + 2], *at[MAX_SPATIAL + 2], *all = NULL;
    shape[0] = t->out_shape[w->dim[BATCH]];
    shape[channel] = t->shapes[0][w->dim[CHANNEL]];
    for (uint32_t i = 0; i < w->spatial; i++) {
        shape[1 + i] = hone_te_int(t->te, w->kernel[i]);
        shape[channel + 1 + i] = t->out_shape[w->dim[SPACE + i]];
    }
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, 2 * w->spatial + 2, shape, 0, NULL);
    at[w->dim[BATCH]] = s.axis[0];
    at[w->dim[CHANNEL]] = s.axis[channel];
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t dim = w->dim[SPACE + i];
        at[dim] = window_index(t, w, i, s.axis[channel + 1 + i], s.axis[1 + i]);
        all = hone_topi_both(t, all, is_inside(t, w, i, at[dim]));
        at[dim] = hone_topi_add_int(t, at[dim], -w->room_before[dim]);
    }
    const hone_expr *nothing = hone_topi_number(t, t->infos[0]->dtype, 0);
    const hone_expr *value = hone_topi_choose(t, all, hone_topi_load(t, 0, at), nothing);
    return hone_te_compute(t->te, &s, "windows", value);
}

/* ---- convolution ---- */

/* The data at a tap: of the padded image, or of its windows. */
typedef struct conv_data {
    hone_buffer buffer;
    bool is_windows;
} conv_data;

static conv_data prepare_data(hone_topi *t, const window *w) {
    if (taps_are_far(t, w)) return (conv_data){take_windows(t, w), true};
    const hone_expr *nothing = hone_topi_number(t, t->infos[0]->dtype, 0);
    return (conv_data){hone_topi_padded(t, w->room_before, w->room_after, nothing), false};
}

static const hone_expr *load_data(hone_topi *t, const window *w, const conv_data *data,
                                  const hone_te_stage *s, const hone_expr *channel,
                                  const hone_expr *const *taps) {
    const hone_expr *at[2 * MAX_SPATIAL + 2];
    uint32_t before = data->is_windows ? 1 + w->spatial : 0;
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t dim = w->dim[SPACE + i];
        if (data->is_windows) {
            at[1 + i] = taps[i];
            at[before + 1 + i] = s->axis[dim];
        } else {
            at[dim] = window_index(t, w, i, s->axis[dim], taps[i]);
        }
    }
    at[data->is_windows ? 0 : w->dim[BATCH]] = s->axis[w->dim[BATCH]];
    at[data->is_windows ? before : w->dim[CHANNEL]] = channel;
    return hone_te_load(t->te, data->buffer, at);
}

/* The input channel of output channel co and reduction index rc. */
static const hone_expr *channel_index(hone_topi *t, const hone_expr *co, const hone_expr *rc,
                                      int64_t outs_per_group, int64_t ins_per_group,
                                      int64_t groups) {
    if (groups == 1) return rc;
    const hone_expr *group = co;
    if (outs_per_group != 1) {
        group = hone_expr_floordiv(&t->te->ir, co, hone_te_int(t->te, outs_per_group));
    }
    return hone_topi_sum(t, hone_topi_mul_int(t, group, ins_per_group),
                         rc ? rc : hone_te_int(t->te, 0));
}

hone_status hone_topi_emit_conv(hone_topi *t) {
    window w = {0};
    int64_t first_tap[MAX_SPATIAL];
    const hone_sinfo *weight = t->infos[1];
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    HONE_TRY(read_order(t, &w));
    int64_t groups = hone_attrs_int(&t->bind->attrs, "groups", 1);
    int64_t ins = hone_expr_const(weight->shape[w.filter[CHANNEL]]);
    int64_t outs = hone_expr_const(weight->shape[w.filter[BATCH]]);
    for (uint32_t i = 0; i + 2 < rank; i++)
        w.kernel[i] = hone_expr_const(weight->shape[w.filter[SPACE + i]]);
    if (ins < 0 || outs < 0) return hone_topi_unsupported(t, "channels of unknown number");
    HONE_TRY(read_window(t, &w));
    leave_taps_out(t, &w, first_tap);
    const conv_data data = prepare_data(t, &w);
    const hone_expr *reduce[MAX_SPATIAL + 1];
    bool is_depthwise = groups > 1 && ins == 1; /* no sum over channels */
    uint32_t reduce_count = 0;
    if (!is_depthwise) reduce[reduce_count++] = hone_te_int(t->te, ins);
    for (uint32_t i = 0; i < w.spatial; i++) {
        reduce[reduce_count++] = hone_te_int(t->te, w.kernel[i]);
    }
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, rank, t->out_shape, reduce_count, reduce);
    const hone_expr *const *taps = s.axis + rank + !is_depthwise;
    const hone_expr *rc = is_depthwise ? NULL : s.axis[rank];
    const hone_expr *filter[MAX_SPATIAL + 2], *co = s.axis[w.dim[CHANNEL]];
    const hone_expr *channel = channel_index(t, co, rc, outs / groups, ins, groups);
    filter[w.filter[BATCH]] = co;
    filter[w.filter[CHANNEL]] = rc ? rc : hone_te_int(t->te, 0);
    for (uint32_t i = 0; i < w.spatial; i++)
        filter[w.filter[SPACE + i]] = hone_topi_add_int(t, taps[i], first_tap[i]);
    hone_ir *ir = &t->te->ir;
    hone_dtype wide = hone_topi_wide(t->out->dtype);
    const hone_expr *x = hone_expr_cast(ir, wide, load_data(t, &w, &data, &s, channel, taps));
    const hone_expr *f = hone_expr_cast(ir, wide, hone_topi_load(t, 1, filter));
    const char *name = is_depthwise ? "depthwise_conv" : groups > 1 ? "group_conv" : "conv";
    hone_topi_give(t, hone_te_reduce(t->te, &s, name, HONE_TE_SUM, hone_expr_mul(ir, x, f)));
    return HONE_OK;
}

/* ---- pools ---- */

static hone_buffer pool_reduce(hone_topi *t, const window *w, hone_buffer data, const char *name,
                               hone_te_reducer reducer) {
    uint32_t rank = w->spatial + 2;
    const hone_expr *reduce[MAX_SPATIAL], *at[MAX_SPATIAL + 2];
    for (uint32_t i = 0; i < w->spatial; i++)
        reduce[i] = hone_te_int(t->te, w->kernel[i]);
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, rank, t->out_shape, w->spatial, reduce);
    at[w->dim[BATCH]] = s.axis[w->dim[BATCH]];
    at[w->dim[CHANNEL]] = s.axis[w->dim[CHANNEL]];
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t dim = w->dim[SPACE + i];
        at[dim] = window_index(t, w, i, s.axis[dim], s.axis[rank + i]);
    }
    const hone_expr *x = hone_te_load(t->te, data, at);
    return hone_te_reduce(t->te, &s, name, reducer,
                          reducer == HONE_TE_SUM ? hone_topi_widen(t, x) : x);
}

/* ceil((limit - start) / dilation), at least `low` and at most `kernel` */
static const hone_expr *taps_below(hone_topi *t, const window *w, uint32_t i,
                                   const hone_expr *start, const hone_expr *limit) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *room =
        hone_topi_add_int(t, hone_expr_sub(ir, limit, start), w->dilation[i] - 1);
    if (w->dilation[i] != 1) {
        room = hone_expr_floordiv(ir, room, hone_te_int(t->te, w->dilation[i]));
    }
    room = hone_expr_binary(ir, HONE_OP_MAX, room, hone_te_int(t->te, 0));
    return hone_expr_binary(ir, HONE_OP_MIN, room, hone_te_int(t->te, w->kernel[i]));
}

/* How many taps of a window count along dimension i; NULL = all of them. */
static const hone_expr *tap_count(hone_topi *t, const window *w, uint32_t i, const hone_expr *out,
                                  bool include_pad) {
    int64_t dim = w->dim[SPACE + i], room_after = w->room_after[dim];
    if (include_pad && room_after <= w->after[i]) return NULL;
    if (!include_pad && w->before[i] == 0 && room_after == 0) return NULL;
    const hone_expr *start =
        hone_topi_add_int(t, hone_topi_mul_int(t, out, w->strides[i]), -w->before[i]);
    const hone_expr *limit = hone_topi_add_int(t, t->shapes[0][dim], include_pad ? w->after[i] : 0);
    const hone_expr *taps = taps_below(t, w, i, start, limit);
    if (include_pad || w->before[i] == 0) return taps;
    return hone_expr_sub(&t->te->ir, taps, taps_below(t, w, i, start, hone_te_int(t->te, 0)));
}

/* sum / number of taps */
static hone_buffer pool_divide(hone_topi *t, const window *w, hone_buffer sum, bool include_pad) {
    hone_te_stage s;
    hone_topi_stage(t, &s);
    int64_t all = 1;
    const hone_expr *count = NULL;
    for (uint32_t i = 0; i < w->spatial; i++) {
        const hone_expr *taps = tap_count(t, w, i, s.axis[w->dim[SPACE + i]], include_pad);
        if (!taps)
            all *= w->kernel[i];
        else
            count = count ? hone_expr_mul(&t->te->ir, count, taps) : taps;
    }
    hone_dtype wide = hone_topi_wide(t->out->dtype);
    const hone_expr *divisor = hone_topi_number(t, wide, (double)all);
    if (count) {
        count = hone_expr_binary(&t->te->ir, HONE_OP_MAX, hone_topi_mul_int(t, count, all),
                                 hone_te_int(t->te, 1));
        divisor = hone_expr_cast(&t->te->ir, wide, count);
    }
    const hone_expr *mean = hone_topi_mean(t, hone_te_load(t->te, sum, s.axis), divisor);
    return hone_te_compute(t->te, &s, "pool_avg", hone_expr_cast(&t->te->ir, t->out->dtype, mean));
}

hone_status hone_topi_emit_pool(hone_topi *t) {
    window w = {0};
    hone_dtype dtype = t->infos[0]->dtype;
    bool is_max = strstr(t->op, "max_pool") != NULL;
    HONE_TRY(read_order(t, &w));
    HONE_TRY(
        hone_graph_attr_ints(t->bind, "pool_size", (uint32_t)t->infos[0]->rank - 2, 1, w.kernel));
    HONE_TRY(read_window(t, &w));
    const hone_expr *filler =
        is_max ? hone_expr_least(&t->te->ir, dtype) : hone_topi_number(t, dtype, 0);
    hone_buffer data = hone_topi_padded(t, w.room_before, w.room_after, filler);
    if (is_max) {
        t->result = pool_reduce(t, &w, data, "pool_max", HONE_TE_MAXIMUM);
        return HONE_OK;
    }
    int64_t by_default = w.spatial != 2; /* as TVM's functions have it */
    bool include_pad = hone_attrs_int(&t->bind->attrs, "count_include_pad", by_default) != 0;
    hone_buffer sum = pool_reduce(t, &w, data, "pool_sum", HONE_TE_SUM);
    t->result = pool_divide(t, &w, sum, include_pad);
    return HONE_OK;
}
