/* schedule/variant/bf16_convolution.c - a convolution of bfloat16 in pairs of channels (variant
 * pairs): as bf16.c makes products of matrices, with taps as sums of their own, so that the image
 * is laid out once and not once for each tap.
 *
 *   bf16_rows[n, y, x, c] = image[n, c, y, x]
 *       c is padded to an even number
 *   bf16_panels[f / 32, r, s, q, f % 32, h] = filter[f, 2q + h, r, s]
 *   bf16_product[n, y, x, f] = sum over r, s, q, h of
 *       bf16_rows[n, y*stride + r*dilation, x*… + s*…, 2q + h] *
 *       bf16_panels[f / 32, r, s, q, f % 32, h]
 *   out[n, f, y, x] = bf16_product[n, y, x, f]
 *       only where the output is not laid out so
 */
#include "schedule/variant/convolution.h"

enum { PANEL = 32, ROW_RANK = 4, PANEL_RANK = 6 };

static const conv_axis outputs[] = {CONV_N, CONV_Y, CONV_X, CONV_F};

typedef struct pairing {
    variant_edit edit;
    convolution c;
    int64_t pairs, panels;
} pairing;

static const hone_expr *number(pairing *m, int64_t value) {
    return hone_te_int(&m->edit.te, value);
}

static const hone_expr *times(pairing *m, const hone_expr *e, int64_t factor) {
    return factor == 1 ? e : hone_expr_mul(&m->edit.te.ir, e, number(m, factor));
}

static const hone_expr *plus(pairing *m, const hone_expr *a, const hone_expr *b) {
    return hone_expr_add(&m->edit.te.ir, a, b);
}

/* value, or 0 from the end of an axis on: only where a stage goes beyond it. */
static const hone_expr *inside(pairing *m, conv_axis axis, const hone_expr *at, int64_t length,
                               const hone_expr *value) {
    hone_ir *ir = &m->edit.te.ir;
    if (length == m->c.extents[axis]) return value;
    const hone_expr *end = number(m, m->c.extents[axis]);
    const hone_expr *args[] = {hone_expr_binary(ir, HONE_OP_LT, at, end), value,
                               hone_expr_float(ir, HONE_DTYPE_BF16, 0)};
    return hone_expr_call(ir, HONE_DTYPE_BF16, HONE_INTRIN_IF_THEN_ELSE, 3, args);
}

/* How many places of the image the windows reach. */
static int64_t reach(const pairing *m, int which) {
    int64_t places = m->c.extents[which == 0 ? CONV_Y : CONV_X];
    int64_t taps = m->c.extents[which == 0 ? CONV_R : CONV_S];
    return (places - 1) * m->c.strides[which] + (taps - 1) * m->c.dilations[which] + 1;
}

static hone_buffer rows(pairing *m) {
    const hone_expr *shape[ROW_RANK] = {number(m, m->c.extents[CONV_N]), number(m, reach(m, 0)),
                                        number(m, reach(m, 1)), number(m, 2 * m->pairs)};
    const hone_expr *at[CONV_AXES] = {0};
    hone_te_stage s;
    hone_te_stage_begin(&m->edit.te, &s, ROW_RANK, shape, 0, NULL);
    at[CONV_N] = s.axis[0];
    at[CONV_Y] = s.axis[1];
    at[CONV_X] = s.axis[2];
    at[CONV_C] = s.axis[3];
    const hone_expr *value = convolution_load(&m->edit.te, &m->c.image, at);
    value = inside(m, CONV_C, at[CONV_C], 2 * m->pairs, value);
    return hone_te_compute(&m->edit.te, &s, "bf16_rows", value);
}

static hone_buffer panels(pairing *m) {
    const int64_t *n = m->c.extents;
    const hone_expr *shape[PANEL_RANK] = {number(m, m->panels), number(m, n[CONV_R]),
                                          number(m, n[CONV_S]), number(m, m->pairs),
                                          number(m, PANEL),     number(m, 2)};
    const hone_expr *at[CONV_AXES] = {0};
    hone_te_stage s;
    hone_te_stage_begin(&m->edit.te, &s, PANEL_RANK, shape, 0, NULL);
    at[CONV_F] = plus(m, times(m, s.axis[0], PANEL), s.axis[4]);
    at[CONV_R] = s.axis[1];
    at[CONV_S] = s.axis[2];
    at[CONV_C] = plus(m, times(m, s.axis[3], 2), s.axis[5]);
    const hone_expr *value = convolution_load(&m->edit.te, &m->c.filter, at);
    value = inside(m, CONV_C, at[CONV_C], 2 * m->pairs, value);
    value = inside(m, CONV_F, at[CONV_F], PANEL * m->panels, value);
    return hone_te_compute(&m->edit.te, &s, "bf16_panels", value);
}

/* place * stride + tap * dilation */
static const hone_expr *place(pairing *m, int which, const hone_expr *at, const hone_expr *tap) {
    return plus(m, times(m, at, m->c.strides[which]), times(m, tap, m->c.dilations[which]));
}

static const hone_expr *widened(pairing *m, hone_buffer buffer, const hone_expr *const *indices) {
    const hone_expr *narrow = hone_te_load(&m->edit.te, buffer, indices);
    return hone_expr_cast(&m->edit.te.ir, HONE_DTYPE_F32, narrow);
}

static hone_buffer product(pairing *m, hone_buffer rows, hone_buffer panels) {
    hone_ir *ir = &m->edit.te.ir;
    const int64_t *n = m->c.extents;
    const hone_expr *shape[ROW_RANK];
    const hone_expr *sums[] = {number(m, n[CONV_R]), number(m, n[CONV_S]), number(m, m->pairs),
                               number(m, 2)};
    hone_te_stage s;
    for (uint32_t d = 0; d < ROW_RANK; d++)
        shape[d] = number(m, n[outputs[d]]);
    hone_te_stage_begin(&m->edit.te, &s, ROW_RANK, shape, 4, sums);
    const hone_expr *r = s.axis[4], *t = s.axis[5], *q = s.axis[6], *h = s.axis[7], *f = s.axis[3];
    const hone_expr *left[ROW_RANK] = {s.axis[0], place(m, 0, s.axis[1], r),
                                       place(m, 1, s.axis[2], t), plus(m, times(m, q, 2), h)};
    const hone_expr *right[PANEL_RANK] = {hone_expr_floordiv(ir, f, number(m, PANEL)), r, t, q,
                                          hone_expr_floormod(ir, f, number(m, PANEL)), h};
    return hone_te_reduce(&m->edit.te, &s, "bf16_product", HONE_TE_SUM,
                          hone_expr_mul(ir, widened(m, rows, left), widened(m, panels, right)));
}

static bool is_output(const pairing *m) {
    const conv_access *out = &m->c.out;
    for (uint32_t d = 0; d < out->rank && out->rank == ROW_RANK; d++) {
        bool is_it = out->dims[d] == outputs[d] ||
                     (out->dims[d] == CONV_NONE && m->c.extents[outputs[d]] == 1);
        if (!is_it) return false;
    }
    return out->rank == ROW_RANK;
}

static hone_buffer output(pairing *m, hone_buffer product) {
    const hone_expr *at[CONV_AXES];
    hone_te_stage s;
    convolution_begin_output(&m->edit.te, &m->c, &s, at);
    const hone_expr *from[] = {at[CONV_N], at[CONV_Y], at[CONV_X], at[CONV_F]};
    return hone_te_compute(&m->edit.te, &s, "bf16_output",
                           hone_te_load(&m->edit.te, product, from));
}

hone_status variant_pair_convolution(hone_func *func, const convolution *c) {
    pairing m = {.c = *c};
    if (m.c.extents[CONV_C] < 2) return VARIANT_REFUSE("the image has one channel: no pairs");
    m.pairs = (m.c.extents[CONV_C] + 1) / 2;
    m.panels = (m.c.extents[CONV_F] + PANEL - 1) / PANEL;
    variant_begin(&m.edit, func, m.c.nest, m.c.index);
    hone_buffer left = rows(&m), right = panels(&m), made = product(&m, left, right);
    return variant_end(&m.edit, is_output(&m) ? made : output(&m, made), m.c.out.buffer);
}
