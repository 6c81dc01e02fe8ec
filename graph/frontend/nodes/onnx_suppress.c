/* graph/frontend/nodes/onnx_suppress.c - NonMaxSuppression, as onnxruntime has it where the
 * standard is silent: equal scores by number; a box has an area, or lies over none; without a
 * number of boxes none is chosen. */
#include <math.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { BOXES, SCORES, MOST, OVERLAP, LEAST };

typedef struct lists {
    const hone_expr *shape[3]; /* batches, classes, boxes */
    const hone_expr *count;    /* batches × classes */
    hone_garg boxes;
    hone_garg order;     /* [batches, classes, boxes]: by falling scores */
    hone_garg is_wanted; /* in that order: the score is above the least one */
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

/* [batches, boxes, 4] in the order of each list, as [lists, boxes, 4]. */
static hone_status in_order(onnx_reader *r, const lists *l, hone_garg boxes, hone_garg *out) {
    const hone_expr *one = hone_extent_int(&r->ir, 1), *four = hone_extent_int(&r->ir, 4);
    const hone_expr *thin[] = {l->shape[0], one, l->shape[2], four};
    const hone_expr *thin_order[] = {l->shape[0], l->shape[1], l->shape[2], one};
    const hone_expr *full[] = {l->shape[0], l->shape[1], l->shape[2], four};
    const hone_expr *flat[] = {l->count, l->shape[2], four};
    hone_garg args[2], pair[2];
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(2)};
    HONE_TRY(onnx_make_ints(r, 4, full, 1, &args[1]));
    HONE_TRY(onnx_emit_reshape(r, boxes, 4, thin, &args[0]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, &pair[0]));
    HONE_TRY(onnx_emit_reshape(r, l->order, 4, thin_order, &args[0]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, &pair[1]));
    HONE_TRY(onnx_emit(r, "gather_elements", 2, pair, 1, &attr, out));
    return onnx_emit_reshape(r, *out, 3, flat, out);
}

/* ---- scores ---- */

/* An input of one number, as a tensor of `rank` dimensions; absent: the number. */
static hone_status number(onnx_reader *r, uint32_t input, hone_dtype dtype, double fallback,
                          uint32_t rank, hone_garg *out) {
    const hone_expr *ones[2] = {hone_extent_int(&r->ir, 1), hone_extent_int(&r->ir, 1)};
    const hone_sinfo *info;
    if (onnx_has_input(r, input)) {
        HONE_TRY(onnx_input_info(r, input, &info));
        *out = r->inputs[input];
        bool is_open = info->rank == 1 && !hone_expr_is_int(info->shape[0]); /* one, or it fails */
        if (is_open) {
            const hone_expr *first = hone_extent_int(&r->ir, 0);
            hone_garg place;
            HONE_TRY(onnx_make_ints(r, 1, &first, 1, &place));
            HONE_TRY(onnx_emit_take(r, *out, place, 0, out));
        } else if (info->rank > 1 ||
                   (info->rank == 1 && !hone_expr_is_int_value(info->shape[0], 1))) {
            return HONE_ERROR(HONE_CODE_INVALID, "input %u is no single number", input);
        }
        HONE_TRY(onnx_emit_cast(r, *out, dtype, out));
    } else {
        HONE_TRY(onnx_scalar(r, dtype, fallback, out));
    }
    return onnx_emit_reshape(r, *out, rank, ones, out);
}

/* What is not wanted comes last, and lies over nothing that is. */
static hone_status order_scores(onnx_reader *r, lists *l) {
    hone_garg key = r->inputs[SCORES], pair[2], choice[3];
    hone_attr attrs[] = {
        {"axis",       HONE_VALUE_OF_INT(2)         },
        {"descending", HONE_VALUE_OF_BOOL(1)        },
        {"dtype",      HONE_VALUE_OF_STRING("int64")}
    };
    HONE_TRY(number(r, LEAST, HONE_DTYPE_F32, -INFINITY, 1, &choice[1]));
    HONE_TRY(onnx_emit2(r, "greater", key, choice[1], &choice[0]));
    pair[0] = choice[0];
    choice[1] = key;
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, -INFINITY, &choice[2]));
    HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, &key));
    HONE_TRY(onnx_emit(r, "argsort", 1, &key, 3, attrs, &l->order));
    pair[1] = l->order;
    return onnx_emit(r, "gather_elements", 2, pair, 1, &attrs[0], &l->is_wanted);
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
    return order_scores(r, l);
}

/* ---- what stays ---- */

static hone_status kept(onnx_reader *r, const lists *l, hone_garg *out) {
    const hone_expr *flat[] = {l->count, l->shape[2]};
    hone_garg args[2], boxes, most, place;
    HONE_TRY(corners(r, l->boxes, &boxes));
    HONE_TRY(in_order(r, l, boxes, &args[0]));
    HONE_TRY(number(r, OVERLAP, HONE_DTYPE_F32, 0, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "suppress", 2, args, 0, NULL, out));
    HONE_TRY(onnx_emit1(r, "logical_not", *out, out));
    HONE_TRY(onnx_emit_reshape(r, l->is_wanted, 2, flat, &args[0]));
    HONE_TRY(onnx_emit2(r, "logical_and", *out, args[0], out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I64, &place));
    HONE_TRY(onnx_emit_sums(r, place, 1, &place));
    HONE_TRY(number(r, MOST, HONE_DTYPE_I64, 0, 2, &most));
    HONE_TRY(onnx_emit2(r, "less_equal", place, most, &place));
    return onnx_emit2(r, "logical_and", *out, place, out);
}

/* How many there can be: -1 = that is not known. */
static int64_t greatest(const onnx_reader *r, const lists *l) {
    const hone_tensor *most =
        onnx_has_input(r, MOST) ? onnx_constant_of(r, &r->inputs[MOST]) : NULL;
    int64_t count = hone_expr_const(l->count), boxes = hone_expr_const(l->shape[2]), all;
    if (!onnx_has_input(r, MOST)) boxes = 0;
    if (most && hone_tensor_count(most) == 1) {
        int64_t limit = hone_tensor_get_i64(most, 0);
        if (limit < boxes) boxes = limit < 0 ? 0 : limit;
    }
    bool is_known = count >= 0 && boxes >= 0 && !__builtin_mul_overflow(count, boxes, &all);
    return is_known ? all : -1;
}

static hone_status convert_suppression(onnx_reader *r, hone_garg *out) {
    lists l;
    hone_garg places, order, parts[3];
    int64_t behind = 1;
    hone_attr attr = {"axis", onnx_ints_value(r, 1, &behind)};
    HONE_TRY(read_lists(r, &l));
    HONE_TRY(kept(r, &l, out));
    HONE_TRY(onnx_emit_flat(r, *out, out));
    HONE_TRY(onnx_emit_chosen(r, *out, greatest(r, &l), &places));
    HONE_TRY(onnx_emit_index(r, 3, l.shape, 0, places, &parts[0]));
    HONE_TRY(onnx_emit_index(r, 3, l.shape, 1, places, &parts[1]));
    HONE_TRY(onnx_emit_flat(r, l.order, &order));
    HONE_TRY(onnx_emit_take(r, order, places, 0, &parts[2]));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &parts[2], 1, &attr, &parts[2]));
    return onnx_emit_concat(r, 3, parts, 1, out);
}

const onnx_converter onnx_suppress_converters[] = {
    {"NonMaxSuppression", convert_suppression, 2, 5, 1, "center_point_box", NULL},
    {0                 },
};
