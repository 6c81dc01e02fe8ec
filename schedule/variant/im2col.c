/* schedule/variant/im2col.c - convolutions as one product of matrices: what each output is made of
 * is laid out in a row of its own first.
 *
 *   columns[p, k] = image[n, c, y*stride + r*dilation, x*… + s*…]    p: n, y, x    k: c, r, s
 *   product[p, f] = sum over k of columns[p, k] * filters[k, f]
 *   out[n, f, y, x] = product[p, f]
 *
 * Source: Chellapilla, Puri and Simard, High Performance Convolutional Neural Networks for Document
 * Processing (2006).
 */
#include "schedule/variant/convolution.h"

typedef struct im2col {
    variant_edit edit;
    convolution c;
    int64_t pixels, taps; /* p, k */
} im2col;

static const hone_expr *number(im2col *m, int64_t value) {
    return hone_te_int(&m->edit.te, value);
}

/* digit = index / inner % extent */
static const hone_expr *digit(im2col *m, const hone_expr *index, int64_t inner, int64_t extent) {
    hone_ir *ir = &m->edit.te.ir;
    const hone_expr *high = inner == 1 ? index : hone_expr_floordiv(ir, index, number(m, inner));
    return hone_expr_floormod(ir, high, number(m, extent));
}

static void split_taps(im2col *m, const hone_expr *k, const hone_expr *at[CONV_AXES]) {
    const int64_t *n = m->c.extents;
    at[CONV_C] = hone_expr_floordiv(&m->edit.te.ir, k, number(m, n[CONV_R] * n[CONV_S]));
    at[CONV_R] = digit(m, k, n[CONV_S], n[CONV_R]);
    at[CONV_S] = digit(m, k, 1, n[CONV_S]);
}

static const hone_expr *times(im2col *m, const hone_expr *e, int64_t factor) {
    return factor == 1 ? e : hone_expr_mul(&m->edit.te.ir, e, number(m, factor));
}

/* place * stride + tap * dilation */
static const hone_expr *place(im2col *m, int which, const hone_expr *at, const hone_expr *tap) {
    return hone_expr_add(&m->edit.te.ir, times(m, at, m->c.strides[which]),
                         times(m, tap, m->c.dilations[which]));
}

static void begin(im2col *m, hone_te_stage *s, int64_t rows, int64_t columns, int64_t sum) {
    const hone_expr *shape[] = {number(m, rows), number(m, columns)}, *reduce = number(m, sum);
    hone_te_stage_begin(&m->edit.te, s, 2, shape, sum ? 1 : 0, &reduce);
}

static hone_buffer columns(im2col *m) {
    const int64_t *n = m->c.extents;
    const hone_expr *at[CONV_AXES] = {0};
    hone_te_stage s;
    begin(m, &s, m->pixels, m->taps, 0);
    split_taps(m, s.axis[1], at);
    at[CONV_N] = hone_expr_floordiv(&m->edit.te.ir, s.axis[0], number(m, n[CONV_Y] * n[CONV_X]));
    at[CONV_Y] = place(m, 0, digit(m, s.axis[0], n[CONV_X], n[CONV_Y]), at[CONV_R]);
    at[CONV_X] = place(m, 1, digit(m, s.axis[0], 1, n[CONV_X]), at[CONV_S]);
    return hone_te_compute(&m->edit.te, &s, "im2col_columns",
                           convolution_load(&m->edit.te, &m->c.image, at));
}

static hone_buffer filters(im2col *m) {
    const hone_expr *at[CONV_AXES] = {0};
    hone_te_stage s;
    begin(m, &s, m->taps, m->c.extents[CONV_F], 0);
    split_taps(m, s.axis[0], at);
    at[CONV_F] = s.axis[1];
    return hone_te_compute(&m->edit.te, &s, "im2col_filters",
                           convolution_load(&m->edit.te, &m->c.filter, at));
}

static hone_buffer product(im2col *m, hone_buffer columns, hone_buffer filters) {
    hone_te_stage s;
    begin(m, &s, m->pixels, m->c.extents[CONV_F], m->taps);
    const hone_expr *left[] = {s.axis[0], s.axis[2]}, *right[] = {s.axis[2], s.axis[1]};
    return hone_te_reduce(&m->edit.te, &s, "im2col_product", HONE_TE_SUM,
                          hone_expr_mul(&m->edit.te.ir, hone_te_load(&m->edit.te, columns, left),
                                        hone_te_load(&m->edit.te, filters, right)));
}

static hone_buffer output(im2col *m, hone_buffer product) {
    hone_ir *ir = &m->edit.te.ir;
    const hone_expr *at[CONV_AXES];
    hone_te_stage s;
    convolution_begin_output(&m->edit.te, &m->c, &s, at);
    const hone_expr *row = at[CONV_Y];
    if (m->c.extents[CONV_N] > 1)
        row =
            hone_expr_add(ir, hone_expr_mul(ir, at[CONV_N], number(m, m->c.extents[CONV_Y])), row);
    const hone_expr *pixel =
        hone_expr_add(ir, hone_expr_mul(ir, row, number(m, m->c.extents[CONV_X])), at[CONV_X]);
    const hone_expr *from[] = {pixel, at[CONV_F]};
    return hone_te_compute(&m->edit.te, &s, "im2col_output",
                           hone_te_load(&m->edit.te, product, from));
}

hone_status hone_variant_rewrite_im2col(hone_func *func) {
    im2col m = {0};
    HONE_TRY(convolution_find(func, HONE_DTYPE_F32, &m.c));
    const int64_t *n = m.c.extents;
    m.pixels = n[CONV_N] * n[CONV_Y] * n[CONV_X];
    m.taps = n[CONV_C] * n[CONV_R] * n[CONV_S];
    variant_begin(&m.edit, func, m.c.nest, m.c.index);
    hone_buffer left = columns(&m), right = filters(&m);
    return variant_end(&m.edit, output(&m, product(&m, left, right)), m.c.out.buffer);
}
