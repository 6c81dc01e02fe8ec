/* graph/operators/topi_deconv.c - transposed convolutions, in one of two ways.
 *
 * Without dilation and with strides, as many convolutions as there are indices of the output
 * between two elements of the data (phases), each with its share of the taps, so that no zeros are
 * multiplied:
 *
 *   weight_phases[r, ci, co, j] = W[ci, co, (r + pad) % stride + j * stride]
 *   conv_transpose[n, co, r, q] = sum over ci, j of
 *       data[n, ci, q + (r + pad) // stride - j] * weight_phases[r, ci, co, j]
 *   out[n, co, y] = conv_transpose[n, co, y % stride, y // stride]
 *
 * Where strides do not divide the kernel some phases have one tap less: a condition leaves it out,
 * since data may be infinite (lower/loops/lower_clip.c ends the loop over taps there).
 *
 * Else the data with zeros between its elements and around them is a block of its own, over which
 * the kernel runs from its end.
 *
 * Data and result may have their dimensions in any order that they share. Where channels come last
 * they do so in what is between, too: phases and taps stand before channels. */
#include <string.h>

#include "graph/operators/topi_build.h"
#include "ir/core/fold.h"
#include "ir/ops/layout.h"

enum { MAX_SPATIAL = 3, BATCH = 0, CHANNEL = 1, SPACE = 2 /* dimensions in the plain order */ };
enum { IN = 0, OUT = 1 /* of the filter, in its plain order */ };

typedef struct spread {
    uint32_t spatial;
    int64_t index[MAX_SPATIAL + 2];  /* of N, C, space... among the dimensions of data and result */
    int64_t filter[MAX_SPATIAL + 2]; /* of I, O, space... among those of the filter */
    int64_t kernel[MAX_SPATIAL], strides[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t
        before[MAX_SPATIAL]; /* zeros in front of the data; below 0: elements that are left out */
} spread;

static hone_status read_spread(hone_topi *t, spread *w) {
    int64_t padding[2 * MAX_SPATIAL];
    hone_window_layouts l;
    if (!hone_layouts_of_window(t->bind, &l) || strcmp(l.data, l.out) != 0 ||
        !hone_layout_axes(l.data, l.plain, w->index) ||
        !hone_layout_axes(l.kernel, l.plain_kernel, w->filter))
        return hone_topi_unsupported(t, "a result in another layout than the data, or of blocks");
    w->spatial = (uint32_t)t->infos[0]->rank - 2;
    HONE_TRY(hone_graph_attr_ints(t->bind, "strides", w->spatial, 1, w->strides));
    HONE_TRY(hone_graph_attr_ints(t->bind, "dilation", w->spatial, 1, w->dilation));
    HONE_TRY(hone_graph_attr_padding(t->bind, w->spatial, padding));
    for (uint32_t i = 0; i < w->spatial; i++) {
        w->kernel[i] = hone_expr_const(t->infos[1]->shape[w->filter[SPACE + i]]);
        w->before[i] = (w->kernel[i] - 1) * w->dilation[i] - padding[i];
    }
    return HONE_OK;
}

/* The element that stands at `axis` of the spread data, and whether one does; NULL = always. */
static const hone_expr *element_at(hone_topi *t, const spread *w, uint32_t i, const hone_expr *axis,
                                   const hone_expr **is_there) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *zero = hone_te_int(t->te, 0),
                    *index = hone_topi_add_int(t, axis, -w->before[i]);
    const hone_expr *found = NULL;
    if (w->before[i] > 0)
        found = hone_expr_binary(ir, HONE_OP_LE, hone_te_int(t->te, w->before[i]), axis);
    if (w->strides[i] > 1) {
        const hone_expr *stride = hone_te_int(t->te, w->strides[i]);
        const hone_expr *rest = hone_expr_floormod(ir, index, stride);
        found = hone_topi_both(t, found, hone_expr_binary(ir, HONE_OP_EQ, rest, zero));
        index = hone_expr_floordiv(ir, index, stride);
    }
    found = hone_topi_both(
        t, found, hone_expr_binary(ir, HONE_OP_LT, index, t->shapes[0][w->index[SPACE + i]]));
    *is_there = hone_topi_both(t, *is_there, found);
    return index;
}

static hone_buffer spread_data(hone_topi *t, const spread *w) {
    hone_te_stage s;
    const hone_expr *shape[MAX_SPATIAL + 2], *at[MAX_SPATIAL + 2], *is_there = NULL;
    for (uint32_t d = BATCH; d < SPACE; d++)
        shape[w->index[d]] = t->shapes[0][w->index[d]];
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t index = w->index[SPACE + i];
        shape[index] =
            hone_topi_add_int(t, t->out_shape[index], (w->kernel[i] - 1) * w->dilation[i]);
    }
    hone_te_stage_begin(t->te, &s, w->spatial + 2, shape, 0, NULL);
    for (uint32_t d = BATCH; d < SPACE; d++)
        at[w->index[d]] = s.axis[w->index[d]];
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t index = w->index[SPACE + i];
        at[index] = element_at(t, w, i, s.axis[index], &is_there);
    }
    const hone_expr *zero = hone_topi_number(t, t->infos[0]->dtype, 0);
    return hone_te_compute(t->te, &s, "data_spread",
                           hone_topi_choose(t, is_there, hone_topi_load(t, 0, at), zero));
}

/* Input channel rc of the group of output channel co, and co within its group, of `per_group`. */
static void channels_at(hone_topi *t, const hone_expr *co, const hone_expr *rc, int64_t ins,
                        int64_t per_group, int64_t groups, const hone_expr **out_in,
                        const hone_expr **out_filter) {
    *out_in = rc;
    *out_filter = co;
    if (groups == 1) return;
    const hone_expr *size = hone_te_int(t->te, per_group);
    const hone_expr *group = per_group == 1 ? co : hone_expr_floordiv(&t->te->ir, co, size);
    *out_in = hone_topi_sum(t, hone_topi_mul_int(t, group, ins), rc);
    *out_filter = per_group == 1 ? hone_te_int(t->te, 0) : hone_expr_floormod(&t->te->ir, co, size);
}

/* ---- phases ---- */

enum { MAX_PHASED = 3 };

typedef struct phases {
    uint32_t spatial;
    const int64_t *index, *filter;               /* of the spread */
    int64_t rows_at, row_indices_at, channel_at; /* phases, their indices, channels: of the sums */
    int64_t taps_at, ins_at, outs_at;            /* of the weights of phases */
    int64_t ins, outs, groups;                   /* channels of a group */
    int64_t kernel[MAX_PHASED], stride[MAX_PHASED], pad[MAX_PHASED];
    int64_t taps[MAX_PHASED];         /* most that a phase has */
    int64_t more_indices[MAX_PHASED]; /* of a phase, than the data has elements */
    int64_t before[MAX_PHASED + 2], after[MAX_PHASED + 2]; /* the data, as read */
} phases;

/* How much longer the result is than the data times the stride; known where sizes are not, too. */
static hone_status read_more(const hone_topi *t, const spread *w, uint32_t i, int64_t *out) {
    int64_t padding[2 * MAX_SPATIAL], more[MAX_SPATIAL];
    int64_t in = hone_expr_const(t->infos[0]->shape[w->index[SPACE + i]]);
    int64_t made = hone_expr_const(t->out->shape[w->index[SPACE + i]]);
    HONE_TRY(hone_graph_attr_padding(t->bind, w->spatial, padding));
    HONE_TRY(hone_graph_attr_ints(t->bind, "output_padding", w->spatial, 0, more));
    *out = (w->kernel[i] - 1) * w->dilation[i] + 1 - w->strides[i] - padding[i] -
           padding[i + w->spatial] + more[i];
    if (in >= 0 && made >= 0) *out = made - in * w->strides[i];
    return HONE_OK;
}

static void find_order(const spread *w, phases *p) {
    int64_t n = w->spatial;
    bool is_last = w->index[CHANNEL] == n + 1;
    p->index = w->index;
    p->filter = w->filter;
    p->channel_at = is_last ? 2 * n + 1 : 1;
    p->rows_at = is_last ? 1 : 2;
    p->row_indices_at = p->rows_at + n;
    p->taps_at = is_last ? n : n + 2;
    p->ins_at = is_last ? 2 * n : n;
    p->outs_at = p->ins_at + 1;
}

/* *out_found false: the other way. */
static hone_status find_phases(const hone_topi *t, const spread *w, phases *out, bool *out_found) {
    bool has_strides = false;
    *out = (phases){.spatial = w->spatial};
    *out_found = false;
    if (w->spatial > MAX_PHASED) return HONE_OK;
    find_order(w, out);
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t pad = (w->kernel[i] - 1) * w->dilation[i] - w->before[i];
        int64_t s = w->strides[i], more, reach;
        int64_t index = w->index[SPACE + i];
        bool is_empty = hone_expr_is_int_value(t->shapes[0][index], 0) ||
                        hone_expr_is_int_value(t->out_shape[index], 0);
        if (is_empty || pad < 0 || w->kernel[i] < 1 || w->dilation[i] != 1) return HONE_OK;
        HONE_TRY(read_more(t, w, i, &more));
        out->kernel[i] = w->kernel[i];
        out->stride[i] = s;
        out->pad[i] = pad;
        out->taps[i] = (w->kernel[i] + s - 1) / s;
        out->more_indices[i] = -hone_floor_div(-more, s);
        reach = out->more_indices[i] + (s - 1 + pad) / s;
        out->before[index] = out->taps[i] - 1;
        out->after[index] = reach > 0 ? reach : 0;
        has_strides |= s > 1;
    }
    *out_found = has_strides;
    return HONE_OK;
}

/* The first tap of a phase, or the element that it meets in the data. */
static const hone_expr *phase_start(hone_topi *t, const phases *p, uint32_t i,
                                    const hone_expr *phase, bool is_tap) {
    if (p->pad[i] % p->stride[i] == 0)
        return is_tap ? phase : hone_te_int(t->te, p->pad[i] / p->stride[i]);
    const hone_expr *index = hone_topi_add_int(t, phase, p->pad[i]);
    const hone_expr *stride = hone_te_int(t->te, p->stride[i]);
    return is_tap ? hone_expr_floormod(&t->te->ir, index, stride)
                  : hone_expr_floordiv(&t->te->ir, index, stride);
}

/* The index in the kernel of a tap of a phase. */
static const hone_expr *tap_index(hone_topi *t, const phases *p, uint32_t i, const hone_expr *phase,
                                  const hone_expr *tap) {
    const hone_expr *later = hone_topi_mul_int(t, tap, p->stride[i]);
    return hone_topi_sum(t, phase_start(t, p, i, phase, true), later);
}

/* The value where the phase has this tap in each dimension, else 0. */
static const hone_expr *where_taps_are(hone_topi *t, const phases *p, const hone_expr *const *phase,
                                       const hone_expr *const *tap, const hone_expr *value) {
    const hone_expr *is_there = NULL;
    if (!value) return NULL;
    for (uint32_t i = 0; i < p->spatial; i++) {
        if (p->kernel[i] % p->stride[i] == 0) continue;
        const hone_expr *index = tap_index(t, p, i, phase[i], tap[i]);
        is_there = hone_topi_both(
            t, is_there,
            hone_expr_binary(&t->te->ir, HONE_OP_LT, index, hone_te_int(t->te, p->kernel[i])));
    }
    return hone_topi_choose(t, is_there, value, hone_topi_number(t, value->dtype, 0));
}

static hone_buffer phase_weights(hone_topi *t, const phases *p) {
    hone_te_stage s;
    uint32_t n = p->spatial;
    const hone_expr *shape[2 * MAX_PHASED + 2], *at[MAX_PHASED + 2];
    shape[p->ins_at] = hone_te_int(t->te, p->ins * p->groups);
    shape[p->outs_at] = hone_te_int(t->te, p->outs);
    for (uint32_t i = 0; i < n; i++) {
        shape[i] = hone_te_int(t->te, p->stride[i]);
        shape[p->taps_at + i] = hone_te_int(t->te, p->taps[i]);
    }
    hone_te_stage_begin(t->te, &s, 2 * n + 2, shape, 0, NULL);
    at[p->filter[IN]] = s.axis[p->ins_at];
    at[p->filter[OUT]] = s.axis[p->outs_at];
    for (uint32_t i = 0; i < n; i++)
        at[p->filter[SPACE + i]] = tap_index(t, p, i, s.axis[i], s.axis[p->taps_at + i]);
    return hone_te_compute(
        t->te, &s, "weight_phases",
        where_taps_are(t, p, s.axis, s.axis + p->taps_at, hone_topi_load(t, 1, at)));
}

/* Axes: n, phases, indices of a phase, and co behind n or last; then ci and taps. */
static hone_buffer sum_phases(hone_topi *t, const phases *p, hone_buffer data,
                              hone_buffer weights) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    uint32_t n = p->spatial, rank = 2 * n + 2;
    const hone_expr *shape[2 * MAX_PHASED + 2] = {t->out_shape[p->index[BATCH]]};
    const hone_expr *reduce[MAX_PHASED + 1] = {hone_te_int(t->te, p->ins)};
    const hone_expr *at[MAX_PHASED + 2], *filter[2 * MAX_PHASED + 2], *in;
    shape[p->channel_at] = t->out_shape[p->index[CHANNEL]];
    for (uint32_t i = 0; i < n; i++) {
        shape[p->rows_at + i] = hone_te_int(t->te, p->stride[i]);
        shape[p->row_indices_at + i] =
            hone_topi_add_int(t, t->shapes[0][p->index[SPACE + i]], p->more_indices[i]);
        reduce[1 + i] = hone_te_int(t->te, p->taps[i]);
    }
    hone_te_stage_begin(t->te, &s, rank, shape, n + 1, reduce);
    at[p->index[BATCH]] = s.axis[0];
    channels_at(t, s.axis[p->channel_at], s.axis[rank], p->ins, p->outs, p->groups, &in,
                &filter[p->outs_at]);
    at[p->index[CHANNEL]] = filter[p->ins_at] = in;
    for (uint32_t i = 0; i < n; i++) {
        int64_t index = p->index[SPACE + i];
        const hone_expr *start = phase_start(t, p, i, s.axis[p->rows_at + i], false);
        const hone_expr *tap = s.axis[rank + 1 + i];
        at[index] = hone_topi_add_int(t, hone_topi_sum(t, s.axis[p->row_indices_at + i], start),
                                      p->before[index]);
        at[index] = hone_expr_sub(ir, at[index], tap);
        filter[i] = s.axis[p->rows_at + i];
        filter[p->taps_at + i] = tap;
    }
    hone_dtype wide = hone_topi_wide(t->out->dtype);
    const hone_expr *x = hone_expr_cast(ir, wide, hone_te_load(t->te, data, at));
    const hone_expr *f = hone_expr_cast(ir, wide, hone_te_load(t->te, weights, filter));
    return hone_te_reduce(
        t->te, &s, "conv_transpose", HONE_TE_SUM,
        where_taps_are(t, p, s.axis + p->rows_at, s.axis + rank + 1, hone_expr_mul(ir, x, f)));
}

static hone_buffer join_phases(hone_topi *t, const phases *p, hone_buffer sums) {
    hone_te_stage s;
    uint32_t n = p->spatial;
    const hone_expr *at[2 * MAX_PHASED + 2];
    hone_topi_stage(t, &s);
    at[0] = s.axis[p->index[BATCH]];
    at[p->channel_at] = s.axis[p->index[CHANNEL]];
    for (uint32_t i = 0; i < n; i++) {
        const hone_expr *stride = hone_te_int(t->te, p->stride[i]);
        const hone_expr *axis = s.axis[p->index[SPACE + i]];
        at[p->rows_at + i] = hone_expr_floormod(&t->te->ir, axis, stride);
        at[p->row_indices_at + i] = hone_expr_floordiv(&t->te->ir, axis, stride);
    }
    return hone_te_compute(t->te, &s, "join_phases", hone_te_load(t->te, sums, at));
}

static hone_status emit_phases(hone_topi *t, phases *p, int64_t channels, int64_t outs,
                               int64_t groups) {
    p->groups = groups;
    p->ins = channels / groups;
    p->outs = outs;
    hone_buffer data =
        hone_topi_padded(t, p->before, p->after, hone_topi_number(t, t->infos[0]->dtype, 0));
    hone_topi_give(t, join_phases(t, p, sum_phases(t, p, data, phase_weights(t, p))));
    return HONE_OK;
}

/* ---- zeros ---- */

static hone_status emit_spread(hone_topi *t, const spread *w, int64_t channels, int64_t outs,
                               int64_t groups) {
    hone_te_stage s;
    uint32_t rank = w->spatial + 2;
    hone_buffer data = spread_data(t, w);
    const hone_expr *reduce[MAX_SPATIAL + 1] = {hone_te_int(t->te, channels / groups)};
    for (uint32_t i = 0; i < w->spatial; i++)
        reduce[i + 1] = hone_te_int(t->te, w->kernel[i]);
    hone_te_stage_begin(t->te, &s, rank, t->out_shape, w->spatial + 1, reduce);
    const hone_expr *at[MAX_SPATIAL + 2], *filter[MAX_SPATIAL + 2], *in;
    at[w->index[BATCH]] = s.axis[w->index[BATCH]];
    channels_at(t, s.axis[w->index[CHANNEL]], s.axis[rank], channels / groups, outs, groups, &in,
                &filter[w->filter[OUT]]);
    at[w->index[CHANNEL]] = filter[w->filter[IN]] = in;
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t index = w->index[SPACE + i];
        const hone_expr *tap = s.axis[rank + 1 + i];
        at[index] = hone_topi_sum(t, s.axis[index], hone_topi_mul_int(t, tap, w->dilation[i]));
        filter[w->filter[SPACE + i]] =
            hone_expr_sub(&t->te->ir, hone_te_int(t->te, w->kernel[i] - 1), tap);
    }
    hone_dtype wide = hone_topi_wide(t->out->dtype);
    const hone_expr *x = hone_expr_cast(&t->te->ir, wide, hone_te_load(t->te, data, at));
    const hone_expr *f = hone_expr_cast(&t->te->ir, wide, hone_topi_load(t, 1, filter));
    hone_topi_give(t, hone_te_reduce(t->te, &s, "conv_transpose", HONE_TE_SUM,
                                     hone_expr_mul(&t->te->ir, x, f)));
    return HONE_OK;
}

hone_status hone_topi_emit_deconv(hone_topi *t) {
    spread w = {0};
    phases p;
    bool has_phases;
    int64_t groups = hone_attrs_int(&t->bind->attrs, "groups", 1);
    HONE_TRY(read_spread(t, &w));
    int64_t channels = hone_expr_const(t->infos[1]->shape[w.filter[IN]]);
    int64_t outs = hone_expr_const(t->infos[1]->shape[w.filter[OUT]]); /* of a group */
    if (channels < 0 || outs < 0) return hone_topi_unsupported(t, "channels of unknown number");
    HONE_TRY(find_phases(t, &w, &p, &has_phases));
    return has_phases ? emit_phases(t, &p, channels, outs, groups)
                      : emit_spread(t, &w, channels, outs, groups);
}
