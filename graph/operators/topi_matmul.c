/* graph/operators/topi_matmul.c - numpy's matmul: batch dimensions are broadcast, a vector has its
 * missing dimension left out. Loop order is i, j, k: the reduction innermost. */
#include "graph/operators/topi_build.h"

typedef struct operand {
    uint32_t index; /* argument */
    bool transpose; /* rows and columns swapped */
} operand;

/* Indices of one operand: batch axes of the output, then row and column (NULL = not there). */
static const hone_expr *operand_at(hone_topi *t, operand o, const hone_expr *const *batch,
                                   uint32_t batch_count, const hone_expr *row,
                                   const hone_expr *column) {
    const hone_expr *indices[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[o.index]->rank, own = rank > 2 ? rank - 2 : 0, at = 0;
    for (; at < own; at++) {
        uint32_t out = at + batch_count - own;
        bool is_stretched = hone_expr_is_int_value(t->shapes[o.index][at], 1) &&
                            !hone_expr_is_int_value(t->out_shape[out], 1);
        indices[at] = is_stretched ? hone_te_int(t->te, 0) : batch[out];
    }
    if (o.transpose) {
        const hone_expr *swap = row;
        row = column;
        column = swap;
    }
    if (row) indices[at++] = row;
    if (column) indices[at++] = column;
    return hone_topi_load(t, o.index, indices);
}

hone_status hone_topi_emit_matmul(hone_topi *t) {
    uint32_t out_rank = (uint32_t)t->out->rank;
    bool a_is_vector = t->infos[0]->rank == 1, b_is_vector = t->infos[1]->rank == 1;
    operand a = {0, hone_attrs_int(&t->bind->attrs, "transpose_a", 0) != 0 && !a_is_vector};
    operand b = {1, hone_attrs_int(&t->bind->attrs, "transpose_b", 0) != 0 && !b_is_vector};
    uint32_t batch = out_rank - !a_is_vector - !b_is_vector;
    uint32_t a_rank = (uint32_t)t->infos[0]->rank;
    const hone_expr *k = t->shapes[0][a.transpose ? a_rank - 2 : a_rank - 1];
    hone_te_stage stage;
    hone_te_stage_begin(t->te, &stage, out_rank, t->out_shape, 1, &k);
    const hone_expr *row = a_is_vector ? NULL : stage.axis[batch];
    const hone_expr *column = b_is_vector ? NULL : stage.axis[out_rank - 1];
    const hone_expr *sum = stage.axis[out_rank];
    const hone_expr *x = a_is_vector ? operand_at(t, a, stage.axis, batch, NULL, sum)
                                     : operand_at(t, a, stage.axis, batch, row, sum);
    const hone_expr *y = b_is_vector ? operand_at(t, b, stage.axis, batch, NULL, sum)
                                     : operand_at(t, b, stage.axis, batch, sum, column);
    x = hone_expr_cast(&t->te->ir, hone_topi_wide(t->out->dtype), x);
    y = hone_expr_cast(&t->te->ir, hone_topi_wide(t->out->dtype), y);
    const char *name = a.transpose ? (b.transpose ? "matmul_TT" : "matmul_TN")
                                   : (b.transpose ? "matmul_NT" : "matmul");
    const hone_expr *product = hone_expr_mul(&t->te->ir, x, y);
    hone_topi_give(t, hone_te_reduce(t->te, &stage, name, HONE_TE_SUM, product));
    return HONE_OK;
}
