/* schedule/variant/winograd.c - convolutions with 3x3 filters by Winograd's minimal filtering:
 * tiles of m x m outputs from (m+2) x (m+2) inputs, with (m+2)^2 products where there were 9 m^2.
 *
 *   image ─► winograd_image ─► winograd_rows ─► winograd_tiles ─┐
 *            channels last,    B^T d             B^T d B        ├► winograd_products (per u, v)
 *   filter ─► winograd_taps ─► winograd_filters ────────────────┘          │
 *             G g               G g G^T              winograd_sums ◄───────┘ M A
 *                                                    winograd_output          A^T M A
 *
 * winograd_image is as large as whole tiles need, 0 behind the image's end. What depends on filters
 * alone is computed once where these are constants (lower/signature/split_constants.h).
 * Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks (2016).
 */
#include "schedule/variant/convolution.h"

enum { TAPS = 3, MAX_TILE = 6 };

/* F(m, 3): out = at (bt in ⊙ g filter), row by row. */
typedef struct minimal_filter {
    int64_t m, size; /* size = m + 2 */
    double bt[MAX_TILE][MAX_TILE], g[MAX_TILE][MAX_TILE], at[MAX_TILE][MAX_TILE];
} minimal_filter;

static const minimal_filter f2 = {
    .m = 2,
    .size = 4,
    .bt = {{1, 0, -1},     {0, 1, 1},    {0, -1, 1}, {0, 1, 0, -1}},
    .g = {{1}, {.5, .5, .5},             {.5, -.5, .5}, {0, 0, 1}},
    .at = {{1, 1, 1},  {0, 1, -1, -1}},
};

static const minimal_filter f4 = {
    .m = 4,
    .size = 6,
    .bt = {{4, 0, -5, 0, 1},
           {0, -4, -4, 1, 1},
           {0, 4, -4, -1, 1},
           {0, -2, -1, 2, 1},
           {0, 2, -1, -2, 1},
           {0, 4, 0, -5, 0, 1}},
    .g = {{1. / 4},
           {-1. / 6, -1. / 6, -1. / 6},
           {-1. / 6, 1. / 6, -1. / 6},
           {1. / 24, 1. / 12, 1. / 6},
           {1. / 24, -1. / 12, 1. / 6},
           {0, 0, 1}},
    .at = {{1, 1, 1, 1, 1}, {0, 1, -1, 2, -2}, {0, 1, 1, 4, 4},                      {0, 1, -1, 8, -8, 1}                },
};

typedef struct winograd {
    variant_edit edit;
    convolution c;
    const minimal_filter *f;
    int64_t rows, columns; /* of tiles, in an image */
} winograd;

/* ---- expressions ---- */

static const hone_expr *number(winograd *w, int64_t value) {
    return hone_te_int(&w->edit.te, value);
}

static const hone_expr *plus(winograd *w, const hone_expr *e, int64_t value) {
    return value ? hone_expr_add(&w->edit.te.ir, e, number(w, value)) : e;
}

static const hone_expr *times(winograd *w, const hone_expr *e, int64_t value) {
    return hone_expr_mul(&w->edit.te.ir, e, number(w, value));
}

static const hone_expr *quotient(winograd *w, const hone_expr *e, int64_t by) {
    return hone_expr_floordiv(&w->edit.te.ir, e, number(w, by));
}

static const hone_expr *rest(winograd *w, const hone_expr *e, int64_t by) {
    return hone_expr_floormod(&w->edit.te.ir, e, number(w, by));
}

static const hone_expr *if_else(winograd *w, const hone_expr *condition, const hone_expr *yes,
                                const hone_expr *no) {
    const hone_expr *args[] = {condition, yes, no};
    return hone_expr_call(&w->edit.te.ir, HONE_DTYPE_F32, HONE_INTRIN_IF_THEN_ELSE, 3, args);
}

/* sum + factor * value; sum may be NULL: 0 */
static const hone_expr *add_scaled(winograd *w, const hone_expr *sum, double factor,
                                   const hone_expr *value) {
    hone_ir *ir = &w->edit.te.ir;
    double size = factor < 0 ? -factor : factor;
    if (size != 1) {
        const hone_expr *scale = hone_expr_float(ir, HONE_DTYPE_F32, sum ? size : factor);
        value = hone_expr_mul(ir, value, scale);
    } else if (!sum && factor < 0) {
        value = hone_expr_mul(ir, value, hone_expr_float(ir, HONE_DTYPE_F32, -1));
    }
    if (!sum) return value;
    return hone_expr_binary(ir, factor < 0 ? HONE_OP_SUB : HONE_OP_ADD, sum, value);
}

/* Row `row` of a matrix times a vector whose elements are given. What is added comes first. */
static const hone_expr *combine(winograd *w, const double *row, const hone_expr *const *elements) {
    const hone_expr *sum = NULL;
    for (int is_negative = 0; is_negative < 2; is_negative++) {
        for (int i = 0; i < MAX_TILE; i++) {
            if (row[i] != 0 && (row[i] < 0) == is_negative)
                sum = add_scaled(w, sum, row[i], elements[i]);
        }
    }
    return sum;
}

/* By the row that `which` says. */
static const hone_expr *combine_by(winograd *w, const hone_expr *which, int64_t count,
                                   const double (*matrix)[MAX_TILE],
                                   const hone_expr *const *elements) {
    const hone_expr *value = combine(w, matrix[count - 1], elements);
    for (int64_t i = count - 1; i-- > 0;) {
        const hone_expr *is_row = hone_expr_binary(&w->edit.te.ir, HONE_OP_EQ, which, number(w, i));
        value = if_else(w, is_row, combine(w, matrix[i], elements), value);
    }
    return value;
}

/* ---- stages ---- */

/* A stage of four dimensions; sum: steps of a sum, 0: there is none. */
static void begin(winograd *w, hone_te_stage *s, const int64_t extents[4], int64_t sum) {
    const hone_expr *shape[4];
    const hone_expr *reduce = number(w, sum);
    for (uint32_t i = 0; i < 4; i++)
        shape[i] = number(w, extents[i]);
    hone_te_stage_begin(&w->edit.te, s, 4, shape, sum ? 1 : 0, &reduce);
}

static hone_buffer compute(winograd *w, const hone_te_stage *s, const char *name,
                           const hone_expr *value) {
    return hone_te_compute(&w->edit.te, s, name, value);
}

/* taps[u, s, c, f] */
static hone_buffer filter_taps(winograd *w) {
    const int64_t *n = w->c.extents;
    const int64_t extents[] = {w->f->size, TAPS, n[CONV_C], n[CONV_F]};
    const hone_expr *elements[MAX_TILE] = {0}, *at[CONV_AXES] = {0};
    hone_te_stage s;
    begin(w, &s, extents, 0);
    at[CONV_S] = s.axis[1];
    at[CONV_C] = s.axis[2];
    at[CONV_F] = s.axis[3];
    for (int64_t r = 0; r < TAPS; r++) {
        at[CONV_R] = number(w, r);
        elements[r] = convolution_load(&w->edit.te, &w->c.filter, at);
    }
    return compute(w, &s, "winograd_taps", combine_by(w, s.axis[0], w->f->size, w->f->g, elements));
}

/* filters[u, v, c, f] */
static hone_buffer filters(winograd *w, hone_buffer taps) {
    const int64_t *n = w->c.extents;
    const int64_t extents[] = {w->f->size, w->f->size, n[CONV_C], n[CONV_F]};
    const hone_expr *elements[MAX_TILE] = {0};
    hone_te_stage s;
    begin(w, &s, extents, 0);
    for (int64_t v = 0; v < TAPS; v++) {
        const hone_expr *at[] = {s.axis[0], number(w, v), s.axis[2], s.axis[3]};
        elements[v] = hone_te_load(&w->edit.te, taps, at);
    }
    return compute(w, &s, "winograd_filters",
                   combine_by(w, s.axis[1], w->f->size, w->f->g, elements));
}

/* index < extent of the image's dimension along the axis; NULL: always */
static const hone_expr *is_inside(winograd *w, conv_axis axis, const hone_expr *index,
                                  int64_t reach) {
    const hone_buffer_info *info = hone_func_buffer(w->edit.te.func, w->c.image.buffer);
    for (uint32_t d = 0; d < w->c.image.rank; d++) {
        if (w->c.image.dims[d] == axis && hone_expr_const(info->shape[d]) < reach)
            return hone_expr_binary(&w->edit.te.ir, HONE_OP_LT, index, info->shape[d]);
    }
    return NULL;
}

/* image[n, y, x, c] */
static hone_buffer whole_tiles(winograd *w) {
    const int64_t height = w->rows * w->f->m + TAPS - 1, width = w->columns * w->f->m + TAPS - 1;
    const int64_t extents[] = {w->c.extents[CONV_N], height, width, w->c.extents[CONV_C]};
    const hone_expr *at[CONV_AXES] = {0};
    hone_te_stage s;
    begin(w, &s, extents, 0);
    at[CONV_N] = s.axis[0];
    at[CONV_Y] = s.axis[1];
    at[CONV_X] = s.axis[2];
    at[CONV_C] = s.axis[3];
    const hone_expr *value = convolution_load(&w->edit.te, &w->c.image, at);
    const hone_expr *zero = hone_expr_float(&w->edit.te.ir, HONE_DTYPE_F32, 0);
    const hone_expr *above = is_inside(w, CONV_Y, s.axis[1], height);
    const hone_expr *left = is_inside(w, CONV_X, s.axis[2], width);
    const hone_expr *both = above && left
                                ? hone_expr_binary(&w->edit.te.ir, HONE_OP_AND, above, left)
                            : above ? above
                                    : left;
    return compute(w, &s, "winograd_image", both ? if_else(w, both, value, zero) : value);
}

/* rows[u, q, x, c] of row of tiles q, counted over all images */
static hone_buffer input_rows(winograd *w, hone_buffer image) {
    const int64_t *n = w->c.extents;
    const int64_t extents[] = {w->f->size, n[CONV_N] * w->rows, w->columns * w->f->m + TAPS - 1,
                               n[CONV_C]};
    const hone_expr *elements[MAX_TILE] = {0};
    hone_te_stage s;
    begin(w, &s, extents, 0);
    bool is_one = n[CONV_N] == 1;
    const hone_expr *batch = is_one ? number(w, 0) : quotient(w, s.axis[1], w->rows);
    const hone_expr *row = is_one ? s.axis[1] : rest(w, s.axis[1], w->rows);
    for (int64_t i = 0; i < w->f->size; i++) {
        const hone_expr *at[] = {batch, plus(w, times(w, row, w->f->m), i), s.axis[2], s.axis[3]};
        elements[i] = hone_te_load(&w->edit.te, image, at);
    }
    return compute(w, &s, "winograd_rows",
                   combine_by(w, s.axis[0], w->f->size, w->f->bt, elements));
}

/* tiles[u, v, p, c] of tile p = q * columns + place in the row */
static hone_buffer input_tiles(winograd *w, hone_buffer rows) {
    const int64_t *n = w->c.extents;
    const int64_t extents[] = {w->f->size, w->f->size, n[CONV_N] * w->rows * w->columns, n[CONV_C]};
    const hone_expr *elements[MAX_TILE] = {0};
    hone_te_stage s;
    begin(w, &s, extents, 0);
    const hone_expr *row = quotient(w, s.axis[2], w->columns);
    const hone_expr *column = times(w, rest(w, s.axis[2], w->columns), w->f->m);
    for (int64_t i = 0; i < w->f->size; i++) {
        const hone_expr *at[] = {s.axis[0], row, plus(w, column, i), s.axis[3]};
        elements[i] = hone_te_load(&w->edit.te, rows, at);
    }
    return compute(w, &s, "winograd_tiles",
                   combine_by(w, s.axis[1], w->f->size, w->f->bt, elements));
}

/* products[u, v, p, f] */
static hone_buffer products(winograd *w, hone_buffer tiles, hone_buffer filter) {
    const int64_t *n = w->c.extents;
    const int64_t extents[] = {w->f->size, w->f->size, n[CONV_N] * w->rows * w->columns, n[CONV_F]};
    hone_te_stage s;
    begin(w, &s, extents, n[CONV_C]);
    const hone_expr *tile[] = {s.axis[0], s.axis[1], s.axis[2], s.axis[4]};
    const hone_expr *weight[] = {s.axis[0], s.axis[1], s.axis[4], s.axis[3]};
    return hone_te_reduce(&w->edit.te, &s, "winograd_products", HONE_TE_SUM,
                          hone_expr_mul(&w->edit.te.ir, hone_te_load(&w->edit.te, tiles, tile),
                                        hone_te_load(&w->edit.te, filter, weight)));
}

/* sums[u, j, p, f] */
static hone_buffer output_columns(winograd *w, hone_buffer products) {
    const int64_t *n = w->c.extents;
    const int64_t extents[] = {w->f->size, w->f->m, n[CONV_N] * w->rows * w->columns, n[CONV_F]};
    const hone_expr *elements[MAX_TILE] = {0};
    hone_te_stage s;
    begin(w, &s, extents, 0);
    for (int64_t v = 0; v < w->f->size; v++) {
        const hone_expr *at[] = {s.axis[0], number(w, v), s.axis[2], s.axis[3]};
        elements[v] = hone_te_load(&w->edit.te, products, at);
    }
    return compute(w, &s, "winograd_sums", combine_by(w, s.axis[1], w->f->m, w->f->at, elements));
}

/* As the convolution's output lies. */
static hone_buffer output(winograd *w, hone_buffer sums) {
    const hone_expr *elements[MAX_TILE] = {0}, *at[CONV_AXES];
    hone_te_stage s;
    convolution_begin_output(&w->edit.te, &w->c, &s, at);
    const hone_expr *row = quotient(w, at[CONV_Y], w->f->m);
    if (w->c.extents[CONV_N] > 1)
        row = hone_expr_add(&w->edit.te.ir, times(w, at[CONV_N], w->rows), row);
    const hone_expr *tile =
        hone_expr_add(&w->edit.te.ir, times(w, row, w->columns), quotient(w, at[CONV_X], w->f->m));
    for (int64_t u = 0; u < w->f->size; u++) {
        const hone_expr *from[] = {number(w, u), rest(w, at[CONV_X], w->f->m), tile, at[CONV_F]};
        elements[u] = hone_te_load(&w->edit.te, sums, from);
    }
    return compute(w, &s, "winograd_output",
                   combine_by(w, rest(w, at[CONV_Y], w->f->m), w->f->m, w->f->at, elements));
}

static hone_status check(const convolution *c) {
    if (c->extents[CONV_R] != TAPS || c->extents[CONV_S] != TAPS)
        return VARIANT_REFUSE("its filters are %lldx%lld, not 3x3", (long long)c->extents[CONV_R],
                              (long long)c->extents[CONV_S]);
    for (int d = 0; d < 2; d++) {
        if (c->strides[d] != 1 || c->dilations[d] != 1)
            return VARIANT_REFUSE("the convolution has a stride or a dilation");
    }
    return HONE_OK;
}

static hone_status rewrite(hone_func *func, const minimal_filter *f) {
    winograd w = {.f = f};
    HONE_TRY(convolution_find(func, HONE_DTYPE_F32, &w.c));
    HONE_TRY(check(&w.c));
    w.rows = (w.c.extents[CONV_Y] + f->m - 1) / f->m;
    w.columns = (w.c.extents[CONV_X] + f->m - 1) / f->m;
    variant_begin(&w.edit, func, w.c.nest, w.c.index);
    hone_buffer taps = filter_taps(&w);
    hone_buffer filter = filters(&w, taps);
    hone_buffer image = whole_tiles(&w);
    hone_buffer tiles = input_tiles(&w, input_rows(&w, image));
    hone_buffer sums = output_columns(&w, products(&w, tiles, filter));
    return variant_end(&w.edit, output(&w, sums), w.c.out.buffer);
}

hone_status hone_variant_rewrite_winograd2(hone_func *func) {
    return rewrite(func, &f2);
}

hone_status hone_variant_rewrite_winograd4(hone_func *func) {
    return rewrite(func, &f4);
}
