/* graph/operators/topi_roi.c - regions of images, brought to one size: roi_align. Each element of
 * the result is the mean, or the extreme, of ratio * ratio points of its bin. */
#include <string.h>

#include "graph/operators/topi_build.h"

typedef struct region {
    int64_t ratio;
    double scale, offset;
    hone_dtype dtype;
} region;

static const hone_expr *num(hone_topi *t, const region *g, double value) {
    return hone_topi_number(t, g->dtype, value);
}

static const hone_expr *bin(hone_topi *t, hone_op op, const hone_expr *a, const hone_expr *b) {
    return hone_expr_binary(&t->te->ir, op, a, b);
}

/* Column `which` of the regions: x and y of the first corner, then of the last. */
static const hone_expr *corner(hone_topi *t, const region *g, const hone_expr *row, int64_t which) {
    const hone_expr *at[] = {row, hone_te_int(t->te, which)};
    const hone_expr *x = hone_topi_widen(t, hone_topi_load(t, 1, at));
    return bin(t, HONE_OP_SUB, bin(t, HONE_OP_MUL, x, num(t, g, g->scale)), num(t, g, g->offset));
}

/* Where point `tap` of bin `at` lies along height (i = 0) or width. */
static const hone_expr *point(hone_topi *t, const region *g, uint32_t i, const hone_expr *row,
                              const hone_expr *at, const hone_expr *tap) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *first = corner(t, g, row, 1 - i), *last = corner(t, g, row, 3 - i);
    const hone_expr *extent = bin(t, HONE_OP_SUB, last, first);
    if (g->offset == 0) extent = bin(t, HONE_OP_MAX, extent, num(t, g, 1));
    const hone_expr *count = hone_expr_cast(ir, g->dtype, t->out_shape[i + 2]);
    const hone_expr *size = bin(t, HONE_OP_DIV, extent, count);
    const hone_expr *begin = bin(t, HONE_OP_MUL, hone_expr_cast(ir, g->dtype, at), size);
    const hone_expr *within =
        bin(t, HONE_OP_ADD, hone_expr_cast(ir, g->dtype, tap), num(t, g, 0.5));
    within = bin(t, HONE_OP_DIV, bin(t, HONE_OP_MUL, within, size), num(t, g, (double)g->ratio));
    return bin(t, HONE_OP_ADD, bin(t, HONE_OP_ADD, first, begin), within);
}

/* The points of all bins along height or width: [regions, bins, ratio]. */
static hone_buffer make_points(hone_topi *t, const region *g, uint32_t i) {
    hone_te_stage s;
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[i + 2], hone_te_int(t->te, g->ratio)};
    hone_te_stage_begin(t->te, &s, 3, shape, 0, NULL);
    return hone_te_compute(t->te, &s, i ? "roi_x" : "roi_y",
                           point(t, g, i, s.axis[0], s.axis[1], s.axis[2]));
}

typedef struct neighbours {
    const hone_expr *place[2], *weight[2], *is_inside;
} neighbours;

/* The elements on both sides of a point along dimension i; beyond the last it is the last. */
static neighbours find_neighbours(hone_topi *t, const region *g, uint32_t i,
                                  const hone_expr *point) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *extent = hone_expr_cast(ir, g->dtype, t->shapes[0][i + 2]);
    const hone_expr *last = bin(t, HONE_OP_SUB, extent, num(t, g, 1)), *one = num(t, g, 1);
    neighbours n;
    n.is_inside = bin(t, HONE_OP_AND, bin(t, HONE_OP_GE, point, num(t, g, -1)),
                      bin(t, HONE_OP_LE, point, extent));
    const hone_expr *x = bin(t, HONE_OP_MIN, bin(t, HONE_OP_MAX, point, num(t, g, 0)), last);
    const hone_expr *floor = hone_topi_intrin(t, HONE_INTRIN_FLOOR, x);
    const hone_expr *zero = hone_te_int(t->te, 0);
    const hone_expr *end = hone_topi_add_int(t, t->shapes[0][i + 2], -1);
    n.place[0] = hone_expr_cast(ir, t->te->index, floor);
    n.place[0] = bin(t, HONE_OP_MIN, bin(t, HONE_OP_MAX, n.place[0], zero), end);
    n.place[1] = bin(t, HONE_OP_MIN, hone_topi_add_int(t, n.place[0], 1), end);
    n.weight[1] = bin(t, HONE_OP_SUB, x, floor);
    n.weight[0] = bin(t, HONE_OP_SUB, one, n.weight[1]);
    return n;
}

/* The sum of the four elements around a point, by weight, or the greatest of these products. */
static const hone_expr *value_at(hone_topi *t, const hone_expr *image, const hone_expr *channel,
                                 const neighbours *y, const neighbours *x, bool is_max) {
    const hone_expr *all = NULL;
    for (int k = 0; k < 4; k++) {
        const hone_expr *at[] = {image, channel, y->place[k / 2], x->place[k % 2]};
        const hone_expr *weight = bin(t, HONE_OP_MUL, y->weight[k / 2], x->weight[k % 2]);
        const hone_expr *term =
            bin(t, HONE_OP_MUL, weight, hone_topi_widen(t, hone_topi_load(t, 0, at)));
        all = !all ? term : bin(t, is_max ? HONE_OP_MAX : HONE_OP_ADD, all, term);
    }
    return all;
}

/* The image of a region; what is none is held within them. */
static const hone_expr *image_of(hone_topi *t, const hone_expr *row) {
    const hone_expr *image = hone_expr_cast(&t->te->ir, t->te->index, hone_topi_load(t, 2, &row));
    image = bin(t, HONE_OP_MAX, image, hone_te_int(t->te, 0));
    return bin(t, HONE_OP_MIN, image, hone_topi_add_int(t, t->shapes[0][0], -1));
}

static double attr_number(const hone_topi *t, const char *key, double fallback) {
    const hone_value *value = hone_attrs_find(&t->bind->attrs, key);
    if (!value) return fallback;
    return value->kind == HONE_VALUE_FLOAT ? value->u.f : (double)value->u.i;
}

hone_status hone_topi_emit_roi_align(hone_topi *t) {
    bool is_max = strcmp(hone_attrs_string(&t->bind->attrs, "mode", "avg"), "max") == 0;
    region g = {.ratio = hone_attrs_int(&t->bind->attrs, "sample_ratio", 1),
                .scale = attr_number(t, "spatial_scale", 1),
                .offset = hone_attrs_int(&t->bind->attrs, "aligned", 0) ? 0.5 : 0,
                .dtype = hone_topi_wide(t->out->dtype)};
    hone_buffer places[] = {make_points(t, &g, 0), make_points(t, &g, 1)};
    hone_te_stage s;
    const hone_expr *taps[] = {hone_te_int(t->te, g.ratio), hone_te_int(t->te, g.ratio)};
    hone_te_stage_begin(t->te, &s, 4, t->out_shape, 2, taps);
    neighbours around[2];
    for (uint32_t i = 0; i < 2; i++) {
        const hone_expr *at[] = {s.axis[0], s.axis[i + 2], s.axis[i + 4]};
        around[i] = find_neighbours(t, &g, i, hone_te_load(t->te, places[i], at));
    }
    const hone_expr *is_inside = bin(t, HONE_OP_AND, around[0].is_inside, around[1].is_inside);
    const hone_expr *value =
        value_at(t, image_of(t, s.axis[0]), s.axis[1], &around[0], &around[1], is_max);
    value = hone_expr_select(&t->te->ir, is_inside, value, num(t, &g, 0));
    hone_buffer all =
        hone_te_reduce(t->te, &s, "roi_align", is_max ? HONE_TE_MAX : HONE_TE_SUM, value);
    if (is_max) {
        hone_topi_give(t, all);
        return HONE_OK;
    }
    hone_topi_stage(t, &s);
    const hone_expr *mean = bin(t, HONE_OP_DIV, hone_te_load(t->te, all, s.axis),
                                num(t, &g, (double)(g.ratio * g.ratio)));
    t->result =
        hone_te_compute(t->te, &s, "roi_mean", hone_expr_cast(&t->te->ir, t->out->dtype, mean));
    return HONE_OK;
}
