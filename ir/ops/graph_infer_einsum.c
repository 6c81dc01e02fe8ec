/* ir/ops/graph_infer_einsum.c - shapes of Einstein sums. */
#include "ir/ops/graph_einsum.h"
#include "ir/ops/graph_infer.h"

static hone_status check_operands(const hone_infer *in, int32_t *ranks) {
    const hone_sinfo *tuple = in->args[0];
    if (tuple->field_count == 0 || tuple->field_count > HONE_EINSUM_MAX_OPERANDS) {
        return hone_infer_doubt(in, "%u operands, must be 1 to %d", tuple->field_count,
                                HONE_EINSUM_MAX_OPERANDS);
    }
    for (uint32_t i = 0; i < tuple->field_count; i++) {
        if (tuple->fields[i]->kind != HONE_SINFO_TENSOR) {
            return hone_infer_fail(in, "wants tensors");
        }
        if (hone_dtypes_differ(tuple->fields[i]->dtype, tuple->fields[0]->dtype)) {
            return hone_infer_fail(in, "element types differ");
        }
        ranks[i] = tuple->fields[i]->rank;
    }
    return HONE_OK;
}

/* The extent that a label has in all operands; 1 runs with any. */
static hone_status extent_of(const hone_infer *in, const hone_einsum *e, uint8_t label,
                             const hone_expr **out) {
    *out = NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        for (uint32_t d = 0; d < e->ranks[i]; d++) {
            const hone_expr *extent = in->args[0]->fields[i]->shape[d];
            if (e->labels[i][d] != label) continue;
            if (!*out || hone_expr_is_int_value(*out, 1)) {
                *out = extent;
            } else if (!hone_expr_is_int_value(extent, 1) &&
                       !hone_infer_same_extent(in, extent, *out)) {
                bool is_sure = hone_extent_differs(extent, *out);
                return (is_sure ? hone_infer_fail : hone_infer_doubt)(
                    in, "dimension %u of operand %u does not fit another of that letter", d, i);
            }
        }
    }
    return HONE_OK;
}

hone_status hone_infer_einsum(hone_infer *in) {
    int32_t ranks[HONE_EINSUM_MAX_OPERANDS];
    hone_einsum e;
    const hone_expr *shape[HONE_MAX_RANK], *extent;
    const char *equation = hone_attrs_string(&in->bind->attrs, "subscripts", "");
    HONE_TRY(check_operands(in, ranks));
    const char *why = hone_einsum_parse(equation, in->args[0]->field_count, ranks, &e);
    if (why) return hone_infer_fail(in, "subscripts are '%s': %s", equation, why);
    for (uint32_t i = 0; i < e.count; i++) {
        for (uint32_t d = 0; d < e.ranks[i]; d++)
            HONE_TRY(extent_of(in, &e, e.labels[i][d], &extent));
    }
    for (uint32_t d = 0; d < e.out_rank; d++)
        HONE_TRY(extent_of(in, &e, e.out[d], &shape[d]));
    return hone_infer_tensor(in, in->args[0]->fields[0]->dtype, (int32_t)e.out_rank, shape);
}
