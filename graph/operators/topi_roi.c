/* graph/operators/topi_roi.c - regions of images, brought to one size: roi_align. Each element of
 * the result is the mean, or the extreme, of ratio * ratio points of its bin.
 *
 * A ratio of 0 is as many points as the bin has elements, which the regions say: no loop has that
 * extent. But points that follow each other are more than half an element apart then, so there are
 * at most `taps` of them from the first that lies in the image, or before it. Maxima look at so
 * many; means are sums over the rows, then the columns of the image, by the weights that the points
 * give these. */
#include <string.h>

#include "graph/operators/topi_build.h"

typedef struct region {
    int64_t ratio; /* 0: counts has it */
    double scale, offset;
    hone_dtype dtype;
    hone_buffer counts[2], firsts[2]; /* points of a bin; the first looked at: [regions, bins] */
    const hone_expr *taps[2];         /* how many are looked at */
} region;

static const hone_expr *num(hone_topi *t, const region *g, double value) {
    return hone_topi_number(t, g->dtype, value);
}

/* Column `which` of the regions: x and y of the first corner, then of the last. */
static const hone_expr *corner(hone_topi *t, const region *g, const hone_expr *row, int64_t which) {
    const hone_expr *at[] = {row, hone_te_int(t->te, which)};
    const hone_expr *x = hone_topi_widen(t, hone_topi_load(t, 1, at));
    return hone_topi_op(t, HONE_OP_SUB, hone_topi_op(t, HONE_OP_MUL, x, num(t, g, g->scale)),
                        num(t, g, g->offset));
}

/* How large the bins along height (i = 0) or width are, and where the first one begins. */
static const hone_expr *bin_size(hone_topi *t, const region *g, uint32_t i, const hone_expr *row) {
    const hone_expr *first = corner(t, g, row, 1 - i), *last = corner(t, g, row, 3 - i);
    const hone_expr *extent = hone_topi_op(t, HONE_OP_SUB, last, first);
    if (g->offset == 0) extent = hone_topi_op(t, HONE_OP_MAX, extent, num(t, g, 1));
    return hone_topi_op(t, HONE_OP_DIV, extent,
                        hone_expr_cast(&t->te->ir, g->dtype, t->out_shape[i + 2]));
}

static const hone_expr *bin_begin(hone_topi *t, const region *g, uint32_t i, const hone_expr *row,
                                  const hone_expr *at) {
    const hone_expr *before = hone_expr_cast(&t->te->ir, g->dtype, at);
    before = hone_topi_op(t, HONE_OP_MUL, before, bin_size(t, g, i, row));
    return hone_topi_op(t, HONE_OP_ADD, corner(t, g, row, 1 - i), before);
}

/* Where point `tap` (a float) of bin `at` lies, of `count` points. */
static const hone_expr *point(hone_topi *t, const region *g, uint32_t i, const hone_expr *row,
                              const hone_expr *at, const hone_expr *tap, const hone_expr *count) {
    const hone_expr *within = hone_topi_op(t, HONE_OP_ADD, tap, num(t, g, 0.5));
    within = hone_topi_op(t, HONE_OP_MUL, within, bin_size(t, g, i, row));
    return hone_topi_op(t, HONE_OP_ADD, bin_begin(t, g, i, row, at),
                        hone_topi_op(t, HONE_OP_DIV, within, count));
}

/* ---- as many points as elements ---- */

/* How many points bins have along a dimension. */
static hone_buffer count_points(hone_topi *t, const region *g, uint32_t i) {
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, 1, t->out_shape, 0, NULL);
    const hone_expr *count = hone_topi_intrin(t, HONE_INTRIN_CEIL, bin_size(t, g, i, s.axis[0]));
    return hone_te_compute(t->te, &s, i ? "roi_columns" : "roi_rows", count);
}

/* The first point of each bin that may lie in the image. */
static hone_buffer find_firsts(hone_topi *t, const region *g, uint32_t i) {
    hone_te_stage s;
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[i + 2]};
    hone_te_stage_begin(t->te, &s, 2, shape, 0, NULL);
    const hone_expr *count = hone_te_load(t->te, g->counts[i], s.axis);
    const hone_expr *some = hone_topi_op(t, HONE_OP_MAX, count, num(t, g, 1));
    const hone_expr *step = hone_topi_op(t, HONE_OP_DIV, bin_size(t, g, i, s.axis[0]), some);
    const hone_expr *way =
        hone_topi_op(t, HONE_OP_SUB, num(t, g, -1), bin_begin(t, g, i, s.axis[0], s.axis[1]));
    const hone_expr *steps =
        hone_topi_op(t, HONE_OP_SUB, hone_topi_op(t, HONE_OP_DIV, way, step), num(t, g, 1.5));
    const hone_expr *first = hone_topi_intrin(t, HONE_INTRIN_FLOOR, steps);
    const hone_expr *is_before = hone_topi_op(t, HONE_OP_GT, first, num(t, g, 0));
    first = hone_expr_select(&t->te->ir, is_before, first, num(t, g, 0));
    return hone_te_compute(t->te, &s, i ? "roi_left" : "roi_top", first);
}

/* Point `tap` of those that are looked at: its number among all of the bin. */
static const hone_expr *number_of(hone_topi *t, const region *g, uint32_t i, const hone_expr *row,
                                  const hone_expr *at, const hone_expr *tap) {
    const hone_expr *index[] = {row, at};
    tap = hone_expr_cast(&t->te->ir, g->dtype, tap);
    return g->ratio ? tap
                    : hone_topi_op(t, HONE_OP_ADD, hone_te_load(t->te, g->firsts[i], index), tap);
}

static const hone_expr *count_of(hone_topi *t, const region *g, uint32_t i, const hone_expr *row) {
    return g->ratio ? num(t, g, (double)g->ratio) : hone_te_load(t->te, g->counts[i], &row);
}

static void plan_taps(hone_topi *t, region *g) {
    for (uint32_t i = 0; i < 2; i++) {
        const hone_expr *extent = t->shapes[0][i + 2];
        g->taps[i] = hone_te_int(t->te, g->ratio);
        if (g->ratio) continue;
        g->taps[i] = hone_topi_add_int(t, hone_topi_mul_int(t, extent, 2), 8);
        g->counts[i] = count_points(t, g, i);
        if (g->counts[i] != HONE_NO_ID) g->firsts[i] = find_firsts(t, g, i);
    }
}

/* ---- points and their neighbours ---- */

/* The points of all bins along height or width: [regions, bins, taps]. */
static hone_buffer make_points(hone_topi *t, const region *g, uint32_t i) {
    hone_te_stage s;
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[i + 2], g->taps[i]};
    hone_te_stage_begin(t->te, &s, 3, shape, 0, NULL);
    const hone_expr *number = number_of(t, g, i, s.axis[0], s.axis[1], s.axis[2]);
    const hone_expr *index =
        point(t, g, i, s.axis[0], s.axis[1], number, count_of(t, g, i, s.axis[0]));
    if (!g->ratio) { /* those that the bin does not have lie outside */
        const hone_expr *is_there =
            hone_topi_op(t, HONE_OP_LT, number, count_of(t, g, i, s.axis[0]));
        index = hone_expr_select(&t->te->ir, is_there, index, num(t, g, -2));
    }
    return hone_te_compute(t->te, &s, i ? "roi_x" : "roi_y", index);
}

typedef struct neighbours {
    const hone_expr *index[2], *weight[2], *is_inside;
} neighbours;

/* The elements on both sides of a point along dimension i; beyond the last it is the last. */
static neighbours find_neighbours(hone_topi *t, const region *g, uint32_t i,
                                  const hone_expr *point) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *extent = hone_expr_cast(ir, g->dtype, t->shapes[0][i + 2]);
    const hone_expr *last = hone_topi_op(t, HONE_OP_SUB, extent, num(t, g, 1)), *one = num(t, g, 1);
    neighbours n;
    n.is_inside = hone_topi_op(t, HONE_OP_AND, hone_topi_op(t, HONE_OP_GE, point, num(t, g, -1)),
                               hone_topi_op(t, HONE_OP_LE, point, extent));
    const hone_expr *x =
        hone_topi_op(t, HONE_OP_MIN, hone_topi_op(t, HONE_OP_MAX, point, num(t, g, 0)), last);
    const hone_expr *floor = hone_topi_intrin(t, HONE_INTRIN_FLOOR, x);
    const hone_expr *zero = hone_te_int(t->te, 0);
    const hone_expr *end = hone_topi_add_int(t, t->shapes[0][i + 2], -1);
    n.index[0] = hone_expr_cast(ir, t->te->index, floor);
    n.index[0] = hone_topi_op(t, HONE_OP_MIN, hone_topi_op(t, HONE_OP_MAX, n.index[0], zero), end);
    n.index[1] = hone_topi_op(t, HONE_OP_MIN, hone_topi_add_int(t, n.index[0], 1), end);
    n.weight[1] = hone_topi_op(t, HONE_OP_SUB, x, floor);
    n.weight[0] = hone_topi_op(t, HONE_OP_SUB, one, n.weight[1]);
    return n;
}

/* What a bin is of its points: their mean, the greatest of them, or the greatest of the products
 * that they are sums of, as in models. */
typedef enum roi_mode { ROI_MEAN, ROI_MOST, ROI_MAX } roi_mode;

static roi_mode mode_of(const hone_topi *t) {
    const char *mode = hone_attrs_string(&t->bind->attrs, "mode", "avg");
    return strcmp(mode, "max") == 0 ? ROI_MAX : strcmp(mode, "most") == 0 ? ROI_MOST : ROI_MEAN;
}

/* The sum of the four elements around a point, by weight, or the greatest of these products. */
static const hone_expr *value_at(hone_topi *t, const hone_expr *image, const hone_expr *channel,
                                 const neighbours *y, const neighbours *x, bool is_max) {
    const hone_expr *all = NULL;
    for (int k = 0; k < 4; k++) {
        const hone_expr *at[] = {image, channel, y->index[k / 2], x->index[k % 2]};
        const hone_expr *weight = hone_topi_op(t, HONE_OP_MUL, y->weight[k / 2], x->weight[k % 2]);
        const hone_expr *term =
            hone_topi_op(t, HONE_OP_MUL, weight, hone_topi_widen(t, hone_topi_load(t, 0, at)));
        all = !all     ? term
              : is_max ? hone_expr_extreme(&t->te->ir, HONE_OP_MAX, all, term)
                       : hone_topi_op(t, HONE_OP_ADD, all, term);
    }
    return all;
}

static const hone_expr *image_of(hone_topi *t, const hone_expr *row) {
    return hone_topi_forward_index(t, hone_topi_load(t, 2, &row), t->shapes[0][0]);
}

static double attr_number(const hone_topi *t, const char *key, double fallback) {
    const hone_value *value = hone_attrs_find(&t->bind->attrs, key);
    if (!value) return fallback;
    return value->kind == HONE_VALUE_FLOAT ? value->u.f : (double)value->u.i;
}

/* ---- means of as many points as elements ---- */

/* What each row (i = 0) or column of the image weighs in a bin: [regions, bins, extent]. */
static hone_buffer weigh(hone_topi *t, const region *g, uint32_t i, hone_buffer points) {
    hone_te_stage s;
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[i + 2], t->shapes[0][i + 2]};
    hone_te_stage_begin(t->te, &s, 3, shape, 1, &g->taps[i]);
    const hone_expr *at[] = {s.axis[0], s.axis[1], s.axis[3]}, *sum = num(t, g, 0);
    neighbours n = find_neighbours(t, g, i, hone_te_load(t->te, points, at));
    for (int k = 0; k < 2; k++) {
        const hone_expr *is_here = hone_topi_op(t, HONE_OP_AND, n.is_inside,
                                                hone_topi_op(t, HONE_OP_EQ, n.index[k], s.axis[2]));
        const hone_expr *part = hone_expr_select(&t->te->ir, is_here, n.weight[k], num(t, g, 0));
        sum = k ? hone_topi_op(t, HONE_OP_ADD, sum, part) : part;
    }
    return hone_te_reduce(t->te, &s, i ? "roi_weigh_x" : "roi_weigh_y", HONE_TE_SUM, sum);
}

/* weight * x; what has no weight is not looked at, whatever it is */
static const hone_expr *weighted(hone_topi *t, const region *g, const hone_expr *weight,
                                 const hone_expr *x) {
    const hone_expr *is_out = hone_topi_op(t, HONE_OP_EQ, weight, num(t, g, 0));
    return hone_expr_select(&t->te->ir, is_out, num(t, g, 0),
                            hone_topi_op(t, HONE_OP_MUL, weight, x));
}

/* [regions, channels, bins of rows, columns] */
static hone_buffer sum_rows(hone_topi *t, const region *g, hone_buffer weights) {
    hone_te_stage s;
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[1], t->out_shape[2], t->shapes[0][3]};
    hone_te_stage_begin(t->te, &s, 4, shape, 1, &t->shapes[0][2]);
    const hone_expr *of[] = {s.axis[0], s.axis[2], s.axis[4]};
    const hone_expr *at[] = {image_of(t, s.axis[0]), s.axis[1], s.axis[4], s.axis[3]};
    const hone_expr *x = hone_topi_widen(t, hone_topi_load(t, 0, at));
    return hone_te_reduce(t->te, &s, "roi_sum_y", HONE_TE_SUM,
                          weighted(t, g, hone_te_load(t->te, weights, of), x));
}

static hone_buffer sum_columns(hone_topi *t, const region *g, hone_buffer rows,
                               hone_buffer weights) {
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, 4, t->out_shape, 1, &t->shapes[0][3]);
    const hone_expr *of[] = {s.axis[0], s.axis[3], s.axis[4]};
    const hone_expr *at[] = {s.axis[0], s.axis[1], s.axis[2], s.axis[4]};
    return hone_te_reduce(
        t->te, &s, "roi_align", HONE_TE_SUM,
        weighted(t, g, hone_te_load(t->te, weights, of), hone_te_load(t->te, rows, at)));
}

static hone_buffer sum_all(hone_topi *t, const region *g, const hone_buffer *points) {
    hone_buffer weights[2];
    for (uint32_t i = 0; i < 2; i++) {
        weights[i] = points[i] == HONE_NO_ID ? HONE_NO_ID : weigh(t, g, i, points[i]);
        if (weights[i] == HONE_NO_ID) return HONE_NO_ID;
    }
    hone_buffer rows = sum_rows(t, g, weights[0]);
    return rows == HONE_NO_ID ? HONE_NO_ID : sum_columns(t, g, rows, weights[1]);
}

/* ---- point by point ---- */

/* The sum or maximum over all pairs of points; points outside count as 0, those that a bin does not
 * have do not count. */
static hone_buffer combine_points(hone_topi *t, const region *g, const hone_buffer *points,
                                  bool is_max) {
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, 4, t->out_shape, 2, g->taps);
    neighbours around[2];
    const hone_expr *are_there = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const hone_expr *at[] = {s.axis[0], s.axis[i + 2], s.axis[i + 4]};
        around[i] = find_neighbours(t, g, i, hone_te_load(t->te, points[i], at));
        if (g->ratio) continue;
        const hone_expr *is_there = hone_topi_op(
            t, HONE_OP_LT, number_of(t, g, i, at[0], at[1], at[2]), count_of(t, g, i, at[0]));
        are_there = i ? hone_topi_op(t, HONE_OP_AND, are_there, is_there) : is_there;
    }
    const hone_expr *is_inside =
        hone_topi_op(t, HONE_OP_AND, around[0].is_inside, around[1].is_inside);
    const hone_expr *value = value_at(t, image_of(t, s.axis[0]), s.axis[1], &around[0], &around[1],
                                      mode_of(t) == ROI_MAX);
    value = hone_expr_select(&t->te->ir, is_inside, value, num(t, g, 0));
    if (are_there) {
        value =
            hone_expr_select(&t->te->ir, are_there, value, hone_expr_least(&t->te->ir, g->dtype));
    }
    return hone_te_reduce(t->te, &s, "roi_align", is_max ? HONE_TE_MAXIMUM : HONE_TE_SUM, value);
}

/* How many points the bins of a region have; at least 1. */
static const hone_expr *points_of_bin(hone_topi *t, const region *g, const hone_expr *row) {
    if (g->ratio) return num(t, g, (double)(g->ratio * g->ratio));
    const hone_expr *count =
        hone_topi_op(t, HONE_OP_MUL, count_of(t, g, 0, row), count_of(t, g, 1, row));
    return hone_topi_op(t, HONE_OP_MAX, count, num(t, g, 1));
}

/* 0 where a bin has no points: a region may be of no extent, or of less. */
static const hone_expr *or_zero(hone_topi *t, const region *g, const hone_expr *row,
                                const hone_expr *value) {
    if (g->ratio) return value;
    const hone_expr *fewer =
        hone_topi_op(t, HONE_OP_MIN, count_of(t, g, 0, row), count_of(t, g, 1, row));
    const hone_expr *is_none = hone_topi_op(t, HONE_OP_LT, fewer, num(t, g, 1));
    return hone_expr_select(&t->te->ir, is_none, num(t, g, 0), value);
}

hone_status hone_topi_emit_roi_align(hone_topi *t) {
    bool is_max = mode_of(t) != ROI_MEAN;
    region g = {.ratio = hone_attrs_int(&t->bind->attrs, "sample_ratio", 1),
                .scale = attr_number(t, "spatial_scale", 1),
                .offset = hone_attrs_int(&t->bind->attrs, "aligned", 0) ? 0.5 : 0,
                .dtype = hone_topi_wide(t->out->dtype)};
    if (g.ratio < 0) g.ratio = 0;
    plan_taps(t, &g);
    hone_buffer points[] = {make_points(t, &g, 0), make_points(t, &g, 1)};
    hone_buffer all =
        is_max || g.ratio ? combine_points(t, &g, points, is_max) : sum_all(t, &g, points);
    if (all == HONE_NO_ID) return HONE_OK; /* te has the reason */
    if (is_max && g.ratio) {
        hone_topi_give(t, all);
        return HONE_OK;
    }
    hone_te_stage s;
    hone_topi_stage(t, &s);
    const hone_expr *value = hone_te_load(t->te, all, s.axis);
    if (!is_max) value = hone_topi_op(t, HONE_OP_DIV, value, points_of_bin(t, &g, s.axis[0]));
    value = hone_expr_cast(&t->te->ir, t->out->dtype, or_zero(t, &g, s.axis[0], value));
    t->result = hone_te_compute(t->te, &s, is_max ? "roi_max" : "roi_mean", value);
    return HONE_OK;
}
