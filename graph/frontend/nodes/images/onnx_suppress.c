/* graph/frontend/nodes/images/onnx_suppress.c - NonMaxSuppression, as onnxruntime has it where the
 * standard is silent: equal scores by number; a box has an area, or lies over none; without a
 * number of boxes none is chosen. */
#include <math.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { BOXES, SCORES, MOST, OVERLAP, LEAST };

typedef struct lists {
    const hone_expr *shape[3]; /* batches, classes, boxes */
    const hone_expr *count;    /* batches × classes */
    hone_garg boxes;
} lists;

/* ---- boxes as corners ---- */

static hone_status columns(onnx_reader *r, hone_garg boxes, int64_t first, hone_garg *out) {
    return onnx_emit_slice(r, boxes, 2, first, first + 2, out);
}

/* The low corner and the high one of [batches, boxes, 4]. */
static hone_status corners(onnx_reader *r, hone_garg boxes, hone_garg *out) {
    int64_t is_center;
    hone_garg a, b, parts[2];
    HONE_TRY(onnx_attr_int(r, "center_point_box", 0, &is_center));
    HONE_TRY(columns(r, boxes, 0, &a));
    HONE_TRY(columns(r, boxes, 2, &b));
    if (is_center) HONE_TRY(onnx_with_scalar(r, "divide", b, 2, &b));
    HONE_TRY(onnx_emit2(r, is_center ? "subtract" : "minimum", a, b, &parts[0]));
    HONE_TRY(onnx_emit2(r, is_center ? "add" : "maximum", a, b, &parts[1]));
    return onnx_emit_concat(r, 2, parts, 2, out);
}

/* ---- numbers ---- */

/* An input of one number, as a tensor of one dimension; absent: the number. */
static hone_status number(onnx_reader *r, uint32_t input, hone_dtype dtype, double fallback,
                          hone_garg *out) {
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_sinfo *info;
    if (onnx_has_input(r, input)) {
        HONE_TRY(onnx_input_info(r, input, &info));
        *out = r->inputs[input];
        bool is_open = info->rank == 1 && !hone_expr_is_int(info->shape[0]); /* one, or it fails */
        if (is_open) {
            const hone_expr *first = hone_extent_int(&r->ir, 0);
            hone_garg index;
            HONE_TRY(onnx_make_ints(r, 1, &first, 1, &index));
            HONE_TRY(onnx_emit_take(r, *out, index, 0, out));
        } else if (info->rank > 1 ||
                   (info->rank == 1 && !hone_expr_is_int_value(info->shape[0], 1))) {
            return HONE_ERROR(HONE_CODE_INVALID, "input %u is no single number", input);
        }
        HONE_TRY(onnx_emit_cast(r, *out, dtype, out));
    } else {
        HONE_TRY(onnx_scalar(r, dtype, fallback, out));
    }
    return onnx_emit_reshape(r, *out, 1, &one, out);
}

static hone_status read_lists(onnx_reader *r, lists *l) {
    const hone_sinfo *boxes, *scores;
    HONE_TRY(onnx_input_info(r, BOXES, &boxes));
    HONE_TRY(onnx_input_info(r, SCORES, &scores));
    const hone_expr *four = hone_extent_int(&r->ir, 4);
    if (boxes->rank != 3 || scores->rank != 3 || hone_extent_differs(boxes->shape[2], four) ||
        hone_extent_differs(boxes->shape[0], scores->shape[0]) ||
        hone_extent_differs(boxes->shape[1], scores->shape[2])) {
        return HONE_ERROR(HONE_CODE_INVALID, "boxes must be [batches, boxes, 4], scores [batches, "
                                             "classes, boxes]");
    }
    const hone_expr *shape[] = {scores->shape[0], scores->shape[2], four};
    HONE_TRY(onnx_emit_reshape(r, r->inputs[BOXES], 3, shape, &l->boxes));
    for (int32_t d = 0; d < 3; d++)
        l->shape[d] = scores->shape[d];
    l->count = hone_extent_mul(&r->ir, l->shape[0], l->shape[1]);
    return HONE_OK;
}

/* So many at most are chosen of a list: the number of boxes, or less; -1 = that is not known. */
static int64_t limit_of(const onnx_reader *r, const lists *l) {
    int64_t boxes = hone_expr_const(l->shape[2]);
    if (!onnx_has_input(r, MOST)) return 0;
    const hone_tensor *most = onnx_constant_of(r, &r->inputs[MOST]);
    if (!most || hone_tensor_count(most) != 1) return boxes;
    int64_t limit = hone_tensor_get_i64(most, 0);
    if (limit < 0) limit = 0;
    return boxes >= 0 && boxes < limit ? boxes : limit;
}

/* How many there can be of all lists: -1 = that is not known. */
static int64_t greatest(const lists *l, int64_t limit) {
    int64_t count = hone_expr_const(l->count), all;
    bool is_known = count >= 0 && limit >= 0 && !__builtin_mul_overflow(count, limit, &all);
    return is_known ? all : -1;
}

/* ---- what stays ---- */

/* The numbers of the boxes of each list that stay, and -1 behind them. */
static hone_status picked(onnx_reader *r, const lists *l, int64_t limit, hone_garg *out) {
    hone_garg args[] = {[BOXES] = l->boxes, [SCORES] = r->inputs[SCORES], [LEAST] = l->boxes};
    hone_attr attr = {"limit", HONE_VALUE_OF_INT(limit == 0 ? 1 : limit)};
    HONE_TRY(corners(r, l->boxes, &args[BOXES]));
    HONE_TRY(number(r, MOST, HONE_DTYPE_I64, 0, &args[MOST]));
    HONE_TRY(number(r, OVERLAP, HONE_DTYPE_F32, 0, &args[OVERLAP]));
    HONE_TRY(number(r, LEAST, HONE_DTYPE_F32, -INFINITY, &args[LEAST]));
    return onnx_emit(r, "suppress", HONE_COUNT(args), args, 1, &attr, out);
}

static hone_status convert_suppression(onnx_reader *r, hone_garg *out) {
    lists l;
    const hone_sinfo *info;
    hone_garg picks, indices, parts[3];
    int64_t behind = 1;
    hone_attr attr = {"axis", onnx_ints_value(r, 1, &behind)};
    HONE_TRY(read_lists(r, &l));
    int64_t limit = limit_of(r, &l);
    HONE_TRY(picked(r, &l, limit, &picks));
    HONE_TRY(onnx_info(r, &picks, &info));
    HONE_TRY(onnx_emit_flat(r, picks, &picks));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", picks, 0, out));
    HONE_TRY(onnx_emit_chosen(r, *out, greatest(&l, limit), &indices));
    HONE_TRY(onnx_emit_index(r, 3, info->shape, 0, indices, &parts[0]));
    HONE_TRY(onnx_emit_index(r, 3, info->shape, 1, indices, &parts[1]));
    HONE_TRY(onnx_emit_take(r, picks, indices, 0, &parts[2]));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &parts[2], 1, &attr, &parts[2]));
    return onnx_emit_concat(r, 3, parts, 1, out);
}

const onnx_converter onnx_suppress_converters[] = {
    {"NonMaxSuppression", convert_suppression, 2, 5, 1, "center_point_box", NULL},
    {0                 },
};
