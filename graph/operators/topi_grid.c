/* graph/operators/topi_grid.c - images at coordinates that a tensor says: grid_sample, and
 * sample_at, whose coordinates are in elements of the data, its first dimension first. Coordinates
 * in elements are a block of their own: all channels share them. */
#include <string.h>

#include "graph/operators/topi_build.h"

enum { MAX_SPATIAL = 3, MAX_REACH = 4 };

typedef enum outside { ZEROS, BORDER, REFLECTION } outside;

typedef struct sampler {
    uint32_t spatial;
    int64_t reach; /* elements along each dimension that count: 1, 2 or 4 */
    outside outside;
    bool aligns_corners;
    bool is_in_elements; /* the tensor is, in the order of the data */
    hone_dtype dtype;    /* of coordinates */
    hone_buffer coordinates;
} sampler;

static const hone_expr *num(hone_topi *t, const sampler *g, double value) {
    return hone_topi_number(t, g->dtype, value);
}

static const hone_expr *within(hone_topi *t, const hone_expr *x, const hone_expr *low,
                               const hone_expr *high) {
    return hone_topi_op(t, HONE_OP_MIN, hone_topi_op(t, HONE_OP_MAX, x, low), high);
}

/* The first and the last coordinate along dimension i: the middles of the elements at the ends, or
 * the ends themselves. */
static void ends_of(hone_topi *t, const sampler *g, uint32_t i, const hone_expr **out_first,
                    const hone_expr **out_last) {
    double margin = g->aligns_corners ? 0 : 0.5;
    const hone_expr *extent = hone_expr_cast(&t->te->ir, g->dtype, t->shapes[0][i + 2]);
    *out_first = num(t, g, -margin);
    *out_last = hone_topi_op(t, HONE_OP_SUB, extent, num(t, g, 1 - margin));
}

/* x thrown back at the ends until it lies between them. */
static const hone_expr *reflected(hone_topi *t, const sampler *g, uint32_t i, const hone_expr *x) {
    const hone_expr *first, *last;
    hone_ir *ir = &t->te->ir;
    ends_of(t, g, i, &first, &last);
    const hone_expr *range =
        hone_topi_op(t, HONE_OP_MAX, hone_topi_op(t, HONE_OP_SUB, last, first), num(t, g, 1e-6));
    const hone_expr *is_below = hone_topi_op(t, HONE_OP_LT, x, first),
                    *is_above = hone_topi_op(t, HONE_OP_GT, x, last);
    const hone_expr *beyond = hone_expr_select(ir, is_below, hone_topi_op(t, HONE_OP_SUB, first, x),
                                               hone_topi_op(t, HONE_OP_SUB, x, last));
    const hone_expr *turns =
        hone_topi_intrin(t, HONE_INTRIN_FLOOR, hone_topi_op(t, HONE_OP_DIV, beyond, range));
    const hone_expr *rest =
        hone_topi_op(t, HONE_OP_SUB, beyond, hone_topi_op(t, HONE_OP_MUL, turns, range));
    const hone_expr *half =
        hone_topi_intrin(t, HONE_INTRIN_FLOOR, hone_topi_op(t, HONE_OP_MUL, turns, num(t, g, 0.5)));
    const hone_expr *is_even =
        hone_topi_op(t, HONE_OP_EQ, turns, hone_topi_op(t, HONE_OP_MUL, half, num(t, g, 2)));
    const hone_expr *up = hone_topi_op(t, HONE_OP_ADD, first, rest),
                    *down = hone_topi_op(t, HONE_OP_SUB, last, rest);
    const hone_expr *low = hone_expr_select(ir, is_even, up, down);
    const hone_expr *high = hone_expr_select(ir, is_even, down, up);
    return hone_expr_select(ir, is_below, low, hone_expr_select(ir, is_above, high, x));
}

/* Never so far outside that it is no index. */
static const hone_expr *near_data(hone_topi *t, const sampler *g, uint32_t i, const hone_expr *x) {
    const hone_expr *extent = hone_expr_cast(&t->te->ir, g->dtype, t->shapes[0][i + 2]);
    return within(t, x, num(t, g, -MAX_REACH),
                  hone_topi_op(t, HONE_OP_ADD, extent, num(t, g, MAX_REACH)));
}

/* From [-1, 1] to elements, as the data goes on outside. */
static const hone_expr *coordinate_of(hone_topi *t, const sampler *g, uint32_t i,
                                      const hone_expr *n) {
    hone_ir *ir = &t->te->ir;
    if (g->is_in_elements) return near_data(t, g, i, n);
    const hone_expr *extent = hone_expr_cast(ir, g->dtype, t->shapes[0][i + 2]),
                    *one = num(t, g, 1);
    const hone_expr *half = num(t, g, 0.5), *x = hone_topi_op(t, HONE_OP_ADD, n, one), *first,
                    *last;
    x = g->aligns_corners
            ? hone_topi_op(t, HONE_OP_MUL, hone_topi_op(t, HONE_OP_MUL, x, half),
                           hone_topi_op(t, HONE_OP_SUB, extent, one))
            : hone_topi_op(
                  t, HONE_OP_MUL,
                  hone_topi_op(t, HONE_OP_SUB, hone_topi_op(t, HONE_OP_MUL, x, extent), one), half);
    if (g->reach == 1) x = hone_topi_intrin(t, HONE_INTRIN_NEARBYINT, x);
    ends_of(t, g, i, &first, &last);
    if (g->outside == BORDER) {
        const hone_expr *held =
            within(t, x, num(t, g, 0), hone_topi_op(t, HONE_OP_SUB, extent, one));
        const hone_expr *is_outside =
            hone_topi_op(t, HONE_OP_OR, hone_topi_op(t, HONE_OP_LT, x, first),
                         hone_topi_op(t, HONE_OP_GT, x, last));
        x = hone_expr_select(ir, is_outside, held, x);
    }
    if (g->outside == REFLECTION) x = reflected(t, g, i, x);
    return near_data(t, g, i, x);
}

/* [N, spatial, ...]: the coordinates along dimension i of the data are plane i; the grid of
 * grid_sample begins with the last dimension. */
static void make_coordinates(hone_topi *t, sampler *g) {
    hone_te_stage s;
    uint32_t rank = g->spatial + 2;
    const hone_expr *at[MAX_SPATIAL + 2], *value = NULL;
    hone_te_stage_begin(t->te, &s, rank, t->shapes[1], 0, NULL);
    memcpy(at, s.axis, rank * sizeof *at);
    if (!g->is_in_elements)
        at[1] = hone_expr_sub(&t->te->ir, hone_te_int(t->te, g->spatial - 1), s.axis[1]);
    const hone_expr *n = hone_topi_widen(t, hone_topi_load(t, 1, at));
    for (uint32_t i = g->spatial; i-- > 0;) {
        const hone_expr *coordinate = coordinate_of(t, g, i, n);
        const hone_expr *is_here = hone_topi_op(t, HONE_OP_EQ, s.axis[1], hone_te_int(t->te, i));
        value = value ? hone_expr_select(&t->te->ir, is_here, coordinate, value) : coordinate;
    }
    g->coordinates = hone_te_compute(t->te, &s, "grid_places", value);
}

/* ---- elements ---- */

/* The element at a coordinate, which may lie outside. */
static const hone_expr *element_at(hone_topi *t, const sampler *g, const hone_expr *const *axes,
                                   const hone_expr *const *coordinates) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *at[MAX_SPATIAL + 2] = {axes[0], axes[1]}, *is_inside = NULL;
    for (uint32_t i = 0; i < g->spatial; i++) {
        const hone_expr *coordinate = coordinates[i], *zero = hone_te_int(t->te, 0);
        const hone_expr *extent = t->shapes[0][i + 2], *last = hone_topi_add_int(t, extent, -1);
        if (g->outside == REFLECTION && g->reach > 1) {
            coordinate = reflected(t, g, i, hone_expr_cast(ir, g->dtype, coordinate));
            coordinate = hone_expr_cast(ir, t->te->index, coordinate);
        }
        at[i + 2] = within(t, coordinate, zero, last);
        if (g->outside != ZEROS) continue;
        const hone_expr *here =
            hone_topi_op(t, HONE_OP_AND, hone_topi_op(t, HONE_OP_GE, coordinate, zero),
                         hone_topi_op(t, HONE_OP_LT, coordinate, extent));
        is_inside = hone_topi_both(t, is_inside, here);
    }
    const hone_expr *load = hone_topi_load(t, 0, at);
    if (!is_inside) return load;
    return hone_expr_select(ir, is_inside, load, hone_topi_number(t, t->out->dtype, 0));
}

/* (((a * x + b) * x + c) * x + d) */
static const hone_expr *polynomial(hone_topi *t, const sampler *g, const hone_expr *x,
                                   const double c[4]) {
    const hone_expr *sum = num(t, g, c[0]);
    for (int i = 1; i < 4; i++)
        sum = hone_topi_op(t, HONE_OP_ADD, hone_topi_op(t, HONE_OP_MUL, sum, x), num(t, g, c[i]));
    return sum;
}

/* What the k-th element counts, where x is how far the coordinate is behind the one in front of it:
 * linear, or cubic with a = -0.75. */
static const hone_expr *weight_of(hone_topi *t, const sampler *g, int64_t k, const hone_expr *x) {
    static const double outer[4] = {-0.75, 3.75, -6, 3}, inner[4] = {1.25, -2.25, 0, 1};
    const hone_expr *one = num(t, g, 1), *rest = hone_topi_op(t, HONE_OP_SUB, one, x);
    if (g->reach == 2) return k ? x : rest;
    bool is_outer = k == 0 || k == 3;
    const hone_expr *distance = k < 2 ? x : rest;
    if (is_outer) distance = hone_topi_op(t, HONE_OP_ADD, distance, one);
    return polynomial(t, g, distance, is_outer ? outer : inner);
}

static const hone_expr *sum_over(hone_topi *t, const sampler *g, uint32_t i,
                                 const hone_expr *const *axes, const hone_expr *const *front,
                                 const hone_expr *const *fraction, const hone_expr **coordinates) {
    if (i == g->spatial) return hone_topi_widen(t, element_at(t, g, axes, coordinates));
    const hone_expr *sum = NULL;
    hone_dtype wide = hone_topi_wide(t->out->dtype);
    for (int64_t k = 0; k < g->reach; k++) {
        coordinates[i] = hone_topi_add_int(t, front[i], k - (g->reach == 4));
        const hone_expr *inner = sum_over(t, g, i + 1, axes, front, fraction, coordinates);
        const hone_expr *weight = hone_expr_cast(&t->te->ir, wide, weight_of(t, g, k, fraction[i]));
        const hone_expr *term = hone_topi_op(t, HONE_OP_MUL, inner, weight);
        sum = sum ? hone_topi_op(t, HONE_OP_ADD, sum, term) : term;
    }
    return sum;
}

static void sample(hone_topi *t, const sampler *g) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    const hone_expr *front[MAX_SPATIAL], *fraction[MAX_SPATIAL], *coordinates[MAX_SPATIAL];
    hone_topi_stage(t, &s);
    const hone_expr *at[MAX_SPATIAL + 2];
    memcpy(at, s.axis, s.spatial_count * sizeof *at);
    for (uint32_t i = 0; i < g->spatial; i++) {
        at[1] = hone_te_int(t->te, i);
        const hone_expr *coordinate = hone_te_load(t->te, g->coordinates, at);
        const hone_expr *floor = hone_topi_intrin(t, HONE_INTRIN_FLOOR, coordinate);
        coordinates[i] = front[i] = hone_expr_cast(ir, t->te->index, floor);
        fraction[i] = hone_topi_op(t, HONE_OP_SUB, coordinate, floor);
    }
    const hone_expr *value = g->reach == 1
                                 ? element_at(t, g, s.axis, front)
                                 : sum_over(t, g, 0, s.axis, front, fraction, coordinates);
    t->result = hone_te_compute(t->te, &s, "grid_sample", hone_expr_cast(ir, t->out->dtype, value));
}

hone_status hone_topi_emit_grid_sample(hone_topi *t) {
    const char *method = hone_attrs_string(&t->bind->attrs, "method", "bilinear");
    const char *padding = hone_attrs_string(&t->bind->attrs, "padding_mode", "zeros");
    sampler g = {
        .spatial = (uint32_t)t->infos[0]->rank - 2,
        .reach = strcmp(method, "nearest") == 0   ? 1
                 : strcmp(method, "bicubic") == 0 ? 4
                                                  : 2,
        .outside = strcmp(padding, "border") == 0       ? BORDER
                   : strcmp(padding, "reflection") == 0 ? REFLECTION
                                                        : ZEROS,
        .is_in_elements = strcmp(t->op, "sample_at") == 0,
        .aligns_corners = hone_attrs_int(&t->bind->attrs, "align_corners", 0) != 0,
        .dtype = hone_topi_wide(t->infos[1]->dtype),
    };
    if (g.reach > 1 && !hone_dtype_is_float(t->out->dtype)) {
        return hone_topi_unsupported(t, "method '%s' on whole numbers", method);
    }
    make_coordinates(t, &g);
    sample(t, &g);
    return HONE_OK;
}
