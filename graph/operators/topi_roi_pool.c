/* graph/operators/topi_roi_pool.c - the greatest elements in the parts of regions of images:
 * roi_pool. Regions are [n, 5]: the number of an image, x and y of the first element, then of the
 * last; their corners are rounded (halves away from zero), parts may share elements. First over the
 * rows of a part, then over its columns; a part without elements has 0. */
#include "graph/operators/topi_build.h"

typedef struct pool {
    hone_dtype dtype; /* what corners are computed in */
    double scale;
    hone_buffer begin[2], end[2]; /* [regions, parts] along height, width; end is not included */
} pool;

static const hone_expr *num(hone_topi *t, const pool *p, double value) {
    return hone_topi_number(t, p->dtype, value);
}

/* Column `which` of the regions, scaled and rounded. */
static const hone_expr *corner(hone_topi *t, const pool *p, const hone_expr *row, int64_t which) {
    const hone_expr *at[] = {row, hone_te_int(t->te, which)};
    const hone_expr *x = hone_expr_cast(&t->te->ir, p->dtype, hone_topi_load(t, 1, at));
    x = hone_topi_op(t, HONE_OP_MUL, x, num(t, p, p->scale));
    const hone_expr *away =
        hone_topi_op(t, HONE_OP_ADD, hone_topi_intrin(t, HONE_INTRIN_FABS, x), num(t, p, 0.5));
    away = hone_topi_intrin(t, HONE_INTRIN_FLOOR, away);
    const hone_expr *is_low = hone_topi_op(t, HONE_OP_LT, x, num(t, p, 0));
    return hone_expr_select(&t->te->ir, is_low, hone_topi_op(t, HONE_OP_MUL, away, num(t, p, -1)),
                            away);
}

/* Where the parts of regions begin along height (i = 0) or width, or end: within the image. */
static hone_buffer find_bounds(hone_topi *t, const pool *p, uint32_t i, bool is_end) {
    hone_te_stage s;
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[i + 2]};
    hone_te_stage_begin(t->te, &s, 2, shape, 0, NULL);
    const hone_expr *first = corner(t, p, s.axis[0], 2 - i), *one = num(t, p, 1);
    const hone_expr *extent = hone_topi_op(t, HONE_OP_SUB, corner(t, p, s.axis[0], 4 - i), first);
    extent = hone_topi_op(t, HONE_OP_MAX, hone_topi_op(t, HONE_OP_ADD, extent, one), one);
    const hone_expr *count = hone_expr_cast(&t->te->ir, p->dtype, shape[1]);
    const hone_expr *size = hone_topi_op(t, HONE_OP_DIV, extent, count);
    const hone_expr *part = hone_expr_cast(&t->te->ir, p->dtype, s.axis[1]);
    if (is_end) part = hone_topi_op(t, HONE_OP_ADD, part, one);
    const hone_expr *bound = hone_topi_intrin(t, is_end ? HONE_INTRIN_CEIL : HONE_INTRIN_FLOOR,
                                              hone_topi_op(t, HONE_OP_MUL, part, size));
    bound = hone_topi_op(t, HONE_OP_ADD, bound, first);
    const hone_expr *most = hone_expr_cast(&t->te->ir, p->dtype, t->shapes[0][i + 2]);
    bound = hone_topi_op(t, HONE_OP_MIN, hone_topi_op(t, HONE_OP_MAX, bound, num(t, p, 0)), most);
    static const char *const names[] = {"roi_top", "roi_bottom", "roi_left", "roi_right"};
    return hone_te_compute(t->te, &s, names[2 * i + is_end],
                           hone_expr_cast(&t->te->ir, t->te->index, bound));
}

static const hone_expr *is_in_part(hone_topi *t, const pool *p, uint32_t i, const hone_expr *row,
                                   const hone_expr *part, const hone_expr *element) {
    const hone_expr *at[] = {row, part};
    const hone_expr *begin = hone_te_load(t->te, p->begin[i], at);
    const hone_expr *end = hone_te_load(t->te, p->end[i], at);
    return hone_topi_op(t, HONE_OP_AND, hone_topi_op(t, HONE_OP_LE, begin, element),
                        hone_topi_op(t, HONE_OP_LT, element, end));
}

static hone_buffer reduce_part(hone_topi *t, const hone_te_stage *s, const char *name,
                               const hone_expr *is_in, const hone_expr *value) {
    const hone_expr *least = value ? hone_expr_least(&t->te->ir, value->dtype) : NULL;
    return hone_te_reduce(t->te, s, name, HONE_TE_MAXIMUM,
                          hone_expr_select(&t->te->ir, is_in, value, least));
}

/* The greatest of the rows of parts: [regions, channels, parts, columns]. */
static hone_buffer over_rows(hone_topi *t, const pool *p) {
    hone_te_stage s;
    const hone_expr *shape[] = {t->out_shape[0], t->out_shape[1], t->out_shape[2], t->shapes[0][3]};
    hone_te_stage_begin(t->te, &s, 4, shape, 1, &t->shapes[0][2]);
    const hone_expr *of[] = {s.axis[0], hone_te_int(t->te, 0)};
    const hone_expr *image = hone_expr_cast(&t->te->ir, t->te->index, hone_topi_load(t, 1, of));
    image = hone_topi_forward_index(t, image, t->shapes[0][0]);
    const hone_expr *at[] = {image, s.axis[1], s.axis[4], s.axis[3]};
    return reduce_part(t, &s, "roi_rows", is_in_part(t, p, 0, s.axis[0], s.axis[2], s.axis[4]),
                       hone_topi_load(t, 0, at));
}

static hone_buffer over_columns(hone_topi *t, const pool *p, hone_buffer rows) {
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, 4, t->out_shape, 1, &t->shapes[0][3]);
    const hone_expr *at[] = {s.axis[0], s.axis[1], s.axis[2], s.axis[4]};
    return reduce_part(t, &s, "roi_pool", is_in_part(t, p, 1, s.axis[0], s.axis[3], s.axis[4]),
                       hone_te_load(t->te, rows, at));
}

/* Does the part have elements along the dimension? */
static const hone_expr *has_some(hone_topi *t, const pool *p, uint32_t i, const hone_te_stage *s) {
    const hone_expr *at[] = {s->axis[0], s->axis[i + 2]};
    return hone_topi_op(t, HONE_OP_LT, hone_te_load(t->te, p->begin[i], at),
                        hone_te_load(t->te, p->end[i], at));
}

hone_status hone_topi_emit_roi_pool(hone_topi *t) {
    const hone_value *scale = hone_attrs_find(&t->bind->attrs, "spatial_scale");
    pool p = {.dtype = hone_topi_wide(t->out->dtype), .scale = 1};
    if (scale) p.scale = scale->kind == HONE_VALUE_FLOAT ? scale->u.f : (double)scale->u.i;
    for (uint32_t i = 0; i < 2; i++) {
        p.begin[i] = find_bounds(t, &p, i, false);
        p.end[i] = find_bounds(t, &p, i, true);
        if (p.begin[i] == HONE_NO_ID || p.end[i] == HONE_NO_ID) return HONE_OK;
    }
    hone_buffer rows = over_rows(t, &p);
    hone_buffer all = rows == HONE_NO_ID ? rows : over_columns(t, &p, rows);
    if (all == HONE_NO_ID) return HONE_OK; /* te has the reason */
    hone_te_stage s;
    hone_topi_stage(t, &s);
    const hone_expr *is_some =
        hone_topi_op(t, HONE_OP_AND, has_some(t, &p, 0, &s), has_some(t, &p, 1, &s));
    const hone_expr *value = hone_expr_select(&t->te->ir, is_some, hone_te_load(t->te, all, s.axis),
                                              hone_topi_number(t, t->out->dtype, 0));
    t->result = hone_te_compute(t->te, &s, "roi_some", value);
    return HONE_OK;
}
