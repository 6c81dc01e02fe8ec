/* graph/operators/topi_einsum.c - Einstein sums: loops over the dimensions of the result, then over
 * those that are summed, in the order of their letters. */
#include "graph/operators/topi_build.h"
#include "ir/ops/graph_einsum.h"

/* The extent of a label: that of some operand which is not 1, or 1. */
static const hone_expr *extent_of(const hone_topi *t, const hone_einsum *e, uint8_t label) {
    const hone_expr *found = NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        for (uint32_t d = 0; d < e->ranks[i]; d++) {
            bool is_better = !found || hone_expr_is_int_value(found, 1);
            if (e->labels[i][d] == label && is_better) found = t->shapes[i][d];
        }
    }
    return found;
}

/* The labels that are summed, and their extents; returns how many. */
static uint32_t summed_labels(const hone_topi *t, const hone_einsum *e, uint8_t *labels,
                              const hone_expr **extents) {
    uint32_t count = 0;
    for (uint8_t label = 0; label < HONE_EINSUM_LABELS; label++) {
        bool is_kept = false;
        for (uint32_t d = 0; d < e->out_rank; d++)
            is_kept |= e->out[d] == label;
        extents[count] = is_kept ? NULL : extent_of(t, e, label);
        if (!extents[count]) continue;
        if (count == HONE_TE_MAX_RANK - HONE_MAX_RANK) return HONE_TE_MAX_RANK;
        labels[count++] = label;
    }
    return count;
}

static const hone_expr *operand_at(hone_topi *t, const hone_einsum *e, uint32_t i,
                                   const hone_expr *const *axis_of) {
    const hone_expr *at[HONE_MAX_RANK];
    for (uint32_t d = 0; d < e->ranks[i]; d++) {
        bool is_one = hone_expr_is_int_value(t->shapes[i][d], 1);
        at[d] = is_one ? hone_te_int(t->te, 0) : axis_of[e->labels[i][d]];
    }
    const hone_expr *x = hone_topi_load(t, i, at);
    return x ? hone_expr_cast(&t->te->ir, hone_topi_wide(t->out->dtype), x) : NULL;
}

hone_status hone_topi_emit_einsum(hone_topi *t) {
    hone_einsum e;
    int32_t ranks[HONE_EINSUM_MAX_OPERANDS];
    uint8_t summed[HONE_TE_MAX_RANK];
    const hone_expr *extents[HONE_TE_MAX_RANK + 1], *axis_of[HONE_EINSUM_LABELS] = {NULL};
    for (uint32_t i = 0; i < t->count && i < HONE_EINSUM_MAX_OPERANDS; i++)
        ranks[i] = t->infos[i]->rank;
    const char *equation = hone_attrs_string(&t->bind->attrs, "subscripts", "");
    const char *why = hone_einsum_parse(equation, t->count, ranks, &e);
    if (why) return hone_topi_unsupported(t, "subscripts '%s': %s", equation, why);
    uint32_t count = summed_labels(t, &e, summed, extents);
    if (count + e.out_rank > HONE_TE_MAX_RANK) return hone_topi_unsupported(t, "too many letters");
    hone_te_stage s;
    hone_te_stage_begin(t->te, &s, e.out_rank, t->out_shape, count, extents);
    for (uint32_t d = 0; d < e.out_rank; d++)
        axis_of[e.out[d]] = s.axis[d];
    for (uint32_t k = 0; k < count; k++)
        axis_of[summed[k]] = s.axis[e.out_rank + k];
    const hone_expr *product = operand_at(t, &e, 0, axis_of);
    for (uint32_t i = 1; i < e.count; i++)
        product = hone_expr_mul(&t->te->ir, product, operand_at(t, &e, i, axis_of));
    if (count == 0) {
        product = hone_expr_cast(&t->te->ir, t->out->dtype, product);
        t->result = hone_te_compute(t->te, &s, "einsum", product);
        return HONE_OK;
    }
    hone_topi_give(t, hone_te_reduce(t->te, &s, "einsum", HONE_TE_SUM, product));
    return HONE_OK;
}
