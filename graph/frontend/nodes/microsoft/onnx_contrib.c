/* graph/frontend/nodes/microsoft/onnx_contrib.c - operators of com.microsoft that are the
 * standard's in other words, small ones of others, and weights of few bits: tables that rows are
 * taken of (GatherBlockQuantized) and factors (MatMulBnb4). */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- the standard's ---- */

enum { LATE_OPSET = 13 }; /* in which what is said by inputs is */

static hone_status as_standard(onnx_reader *r, uint32_t count, const hone_garg *inputs,
                               hone_garg *out) {
    const int64_t own = r->opset;
    if (r->opset < LATE_OPSET) r->opset = LATE_OPSET;
    hone_status st = onnx_convert_on(r, r->node->op_type, count, inputs, out);
    r->opset = own;
    return st;
}

static hone_status convert_as_standard(onnx_reader *r, hone_garg *out) {
    return as_standard(r, r->input_count, r->inputs, out);
}

/* Numbers are scalars, or vectors of one; the step may be left out. */
static hone_status convert_range(onnx_reader *r, hone_garg *out) {
    hone_garg inputs[3] = {r->inputs[0], r->inputs[1], onnx_given(r, 2)};
    const hone_sinfo *info;
    for (int i = 0; i < 3; i++) {
        if (inputs[i].kind == HONE_GARG_NONE) {
            HONE_TRY(onnx_scalar_like(r, &inputs[0], 1, &inputs[i]));
            continue;
        }
        HONE_TRY(onnx_as_tensor(r, &inputs[i]));
        HONE_TRY(onnx_info(r, &inputs[i], &info));
        if (info->rank) HONE_TRY(onnx_emit_reshape(r, inputs[i], 0, NULL, &inputs[i]));
    }
    return as_standard(r, 3, inputs, out);
}

/* The widths may be one row. */
static hone_status convert_pad(onnx_reader *r, hone_garg *out) {
    hone_garg inputs[3] = {r->inputs[0], r->inputs[1], onnx_given(r, 2)};
    const hone_sinfo *info;
    HONE_TRY(onnx_as_tensor(r, &inputs[1]));
    HONE_TRY(onnx_info(r, &inputs[1], &info));
    if (info->rank == 2) HONE_TRY(onnx_emit_flat(r, inputs[1], &inputs[1]));
    return as_standard(r, r->input_count, inputs, out);
}

static hone_status convert_expand_dims(onnx_reader *r, hone_garg *out) {
    int64_t axis;
    HONE_TRY(onnx_const_scalar(r, 1, "the axis", &axis));
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    return onnx_emit(r, "expand_dims", 1, r->inputs, 1, &attr, out);
}

/* In the order in which they come; no first indices. */
static hone_status convert_unique(onnx_reader *r, hone_garg *out) {
    hone_garg x = r->inputs[0], found[4];
    HONE_TRY(onnx_as_tensor(r, &x));
    HONE_TRY(onnx_emit_flat(r, x, &x));
    HONE_TRY(onnx_emit_unique(r, x, 0, false, found));
    out[0] = found[0];
    out[1] = found[2];
    out[2] = found[3];
    return HONE_OK;
}

/* ---- small ones ---- */

/* Distances of all rows of a to all of b. */
static hone_status convert_distances(onnx_reader *r, hone_garg *out) {
    static const char *const metrics[] = {"sqeuclidean", "euclidean", NULL};
    uint32_t metric;
    hone_garg sides[2];
    HONE_TRY(onnx_attr_word(r, "metric", metrics[0], metrics, &metric));
    for (int i = 0; i < 2; i++) {
        hone_attr attr = {"axis", HONE_VALUE_OF_INT(i ? 0 : 1)};
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &r->inputs[i], 1, &attr, &sides[i]));
    }
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_emit2(r, "subtract", sides[0], sides[1], out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, *out, out));
    HONE_TRY(onnx_emit(r, "sum", 1, out, 1, &last, out));
    return metric ? onnx_emit1(r, "sqrt", *out, out) : HONE_OK;
}

static hone_status convert_bias_add(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit2(r, "add", r->inputs[0], r->inputs[1], out));
    return onnx_emit2(r, "add", *out, r->inputs[2], out);
}

/* The first half of x + bias times Gelu of the second one. */
static hone_status convert_split_gelu(onnx_reader *r, hone_garg *out) {
    hone_garg sum, halves[2];
    const hone_sinfo *info;
    HONE_TRY(onnx_emit2(r, "add", r->inputs[0], r->inputs[1], &sum));
    HONE_TRY(onnx_info(r, &sum, &info));
    const int32_t last = info->rank - 1;
    const int64_t width = last < 0 ? -1 : hone_expr_const(info->shape[last]);
    if (width < 0) return onnx_unknown_size(last);
    HONE_TRY(onnx_emit_slice(r, sum, last, 0, width / 2, &halves[0]));
    HONE_TRY(onnx_emit_slice(r, sum, last, width / 2, width, &halves[1]));
    HONE_TRY(onnx_emit1(r, "nn.gelu", halves[1], &halves[1]));
    return onnx_emit2(r, "multiply", halves[0], halves[1], out);
}

/* Whole numbers of 16 bits, with sums of 32. */
static hone_status convert_integer_product(onnx_reader *r, hone_garg *out) {
    hone_garg sides[2];
    for (int i = 0; i < 2; i++)
        HONE_TRY(onnx_emit_cast(r, r->inputs[i], HONE_DTYPE_I32, &sides[i]));
    return onnx_emit(r, "matmul", 2, sides, 0, NULL, out);
}

/* ---- rows of a table of few bits ---- */

typedef struct blocks {
    int64_t bits, size; /* of a number, and how many have a scale in common */
    int32_t axis;       /* along which blocks lie */
    bool is_packed;     /* several numbers in a byte, along the last axis */
    hone_dtype dtype;   /* of the scales */
} blocks;

hone_status onnx_unpack_bits(onnx_reader *r, int64_t bits, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg parts[4];
    const hone_expr *shape[HONE_MAX_RANK];
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    const int64_t count = 8 / bits;
    HONE_TRY(onnx_info(r, io, &info));
    if (count == 1) return HONE_OK;
    memcpy(shape, info->shape, (size_t)info->rank * sizeof *shape);
    const uint32_t rank = (uint32_t)info->rank;
    if (rank < 1 || rank == HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a table of %u dimensions", rank);
    shape[rank - 1] = hone_extent_mul(&r->ir, shape[rank - 1], hone_extent_int(&r->ir, count));
    for (int64_t i = 0; i < count; i++) {
        HONE_TRY(onnx_with_scalar(r, "right_shift", *io, (double)(i * bits), &parts[i]));
        HONE_TRY(
            onnx_with_scalar(r, "bitwise_and", parts[i], (double)((1 << bits) - 1), &parts[i]));
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &parts[i], 1, &last, &parts[i]));
    }
    HONE_TRY(onnx_emit_concat(r, (uint32_t)count, parts, rank, io));
    return onnx_emit_reshape(r, *io, rank, shape, io);
}

/* A number for each index of a table of this shape, along the axis of blocks. */
static hone_status spread_blocks(onnx_reader *r, const blocks *b, const hone_expr *extent,
                                 hone_garg *io) {
    hone_garg indices;
    HONE_TRY(onnx_indices(r, extent, 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", indices, (double)b->size, &indices));
    return onnx_emit_take(r, *io, indices, b->axis, io);
}

static hone_status read_blocks(onnx_reader *r, const hone_sinfo *data, blocks *b) {
    const hone_sinfo *scale;
    int64_t axis;
    HONE_TRY(onnx_attr_int(r, "bits", 4, &b->bits));
    HONE_TRY(onnx_attr_int(r, "block_size", 128, &b->size));
    HONE_TRY(onnx_attr_int(r, "quantize_axis", 1, &axis));
    HONE_TRY(onnx_axis(r, axis, data->rank, &b->axis));
    HONE_TRY(onnx_input_info(r, 2, &scale));
    b->dtype = scale->dtype;
    b->is_packed = hone_dtype_equal(data->dtype, HONE_DTYPE_U8);
    if (!hone_dtype_is_integer(data->dtype))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a table that is not of whole numbers");
    if (b->size < 1 || (b->bits != 2 && b->bits != 4 && b->bits != 8))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "blocks of %lld numbers of %lld bits",
                          (long long)b->size, (long long)b->bits);
    if (b->is_packed && b->bits < 8 && b->axis != data->rank - 1)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "bytes of several numbers along another axis than "
                                                 "the last one");
    return HONE_OK;
}

static hone_status block_zeros(onnx_reader *r, const blocks *b, const hone_expr *count,
                               hone_garg *out) {
    hone_garg indices;
    const bool is_there = onnx_has_input(r, 3);
    if (!is_there)
        return onnx_scalar(r, b->dtype, b->is_packed ? (double)(1 << (b->bits - 1)) : 0, out);
    *out = r->inputs[3];
    if (b->is_packed) {
        HONE_TRY(onnx_unpack_bits(r, b->bits, out));
        HONE_TRY(onnx_indices(r, count, 1, 0, &indices));
        HONE_TRY(onnx_emit_take(r, *out, indices, b->axis, out));
    }
    return onnx_emit_cast(r, *out, b->dtype, out);
}

/* (number - zero point) * scale of a table, or of what was taken of it. */
static hone_status unpack_table(onnx_reader *r, const blocks *b, hone_garg *out) {
    const hone_sinfo *info, *scales;
    hone_garg scale = r->inputs[2], zero;
    *out = r->inputs[0];
    if (b->is_packed) HONE_TRY(onnx_unpack_bits(r, b->bits, out));
    HONE_TRY(onnx_info(r, out, &info));
    HONE_TRY(onnx_input_info(r, 2, &scales));
    const hone_expr *extent = info->shape[b->axis];
    HONE_TRY(block_zeros(r, b, scales->shape[b->axis], &zero));
    HONE_TRY(onnx_emit_cast(r, *out, b->dtype, out));
    if (onnx_has_input(r, 3)) HONE_TRY(spread_blocks(r, b, extent, &zero));
    HONE_TRY(spread_blocks(r, b, extent, &scale));
    HONE_TRY(onnx_emit2(r, "subtract", *out, zero, out));
    return onnx_emit2(r, "multiply", *out, scale, out);
}

/* The indices along an axis from its begin, where they are there, else 0; and whether they are. */
static hone_status hold_indices(onnx_reader *r, const hone_expr *size, hone_garg *at,
                                hone_garg *is_there) {
    hone_garg extent, low, inside, zero;
    HONE_TRY(onnx_as_tensor(r, at));
    HONE_TRY(onnx_emit_cast(r, *at, HONE_DTYPE_I64, at));
    HONE_TRY(onnx_sizes_tensor(r, 1, &size, &extent));
    HONE_TRY(onnx_emit_reshape(r, extent, 0, NULL, &extent));
    HONE_TRY(onnx_with_scalar(r, "less", *at, 0, &low));
    HONE_TRY(onnx_emit2(r, "add", *at, extent, &inside));
    HONE_TRY(onnx_emit_where(r, low, inside, *at, at));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", *at, 0, &low));
    HONE_TRY(onnx_emit2(r, "less", *at, extent, is_there));
    HONE_TRY(onnx_emit2(r, "logical_and", *is_there, low, is_there));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    return onnx_emit_where(r, *is_there, *at, zero, at);
}

/* Only what is taken is unpacked, unless it is taken along the blocks. */
static hone_status take_unpacked(onnx_reader *r, blocks *b, int32_t axis, hone_garg at,
                                 hone_garg *out) {
    static const uint32_t parts[] = {0, 2, 3}; /* the table, scales, zero points */
    const hone_sinfo *indices;
    if (axis == b->axis) {
        HONE_TRY(unpack_table(r, b, out));
        return onnx_emit_take(r, *out, at, axis, out);
    }
    HONE_TRY(onnx_info(r, &at, &indices));
    for (size_t i = 0; i < HONE_COUNT(parts); i++) {
        hone_garg *part = &r->inputs[parts[i]];
        if (onnx_has_input(r, parts[i])) HONE_TRY(onnx_emit_take(r, *part, at, axis, part));
    }
    if (b->axis > axis) b->axis += indices->rank - 1;
    return unpack_table(r, b, out);
}

/* An index that is not there gives zeros. */
static hone_status convert_gather(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data, *scales, *indices, *result;
    blocks b = {.bits = 4};
    hone_garg at = r->inputs[1], is_there, zero;
    const hone_expr *shape[HONE_MAX_RANK], *size;
    int64_t wanted;
    int32_t axis;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 2, &scales));
    HONE_TRY(onnx_attr_int(r, "gather_axis", 0, &wanted));
    HONE_TRY(onnx_axis(r, wanted, data->rank, &axis));
    HONE_TRY(read_blocks(r, data, &b));
    if (scales->rank != data->rank)
        return HONE_ERROR(HONE_CODE_INVALID, "scales of %d dimensions for a table of %d",
                          scales->rank, data->rank);
    const bool is_along = axis == b.axis && b.is_packed;
    size = data->shape[axis];
    if (is_along) size = hone_extent_mul(&r->ir, size, hone_extent_int(&r->ir, 8 / b.bits));
    if (axis != b.axis && hone_extent_differs(scales->shape[axis], size))
        return HONE_ERROR(HONE_CODE_INVALID, "scales of another size along dimension %d", axis);
    HONE_TRY(hold_indices(r, size, &at, &is_there));
    HONE_TRY(take_unpacked(r, &b, axis, at, out));
    HONE_TRY(onnx_info(r, out, &result));
    HONE_TRY(onnx_info(r, &at, &indices));
    for (int32_t d = 0; d < result->rank; d++)
        shape[d] = d >= axis && d < axis + indices->rank ? indices->shape[d - axis]
                                                         : hone_extent_int(&r->ir, 1);
    HONE_TRY(onnx_emit_reshape(r, is_there, (uint32_t)result->rank, shape, &is_there));
    HONE_TRY(onnx_scalar_like(r, out, 0, &zero));
    return onnx_emit_where(r, is_there, *out, zero, out);
}

/* ---- a factor whose numbers are indices in a table of 16 ---- */

/* QLoRA's (Dettmers and others 2023): floats of 4 bits, and quantiles of a normal distribution. */
static const double four_bits[2][16] = {
    {0,  5.208333333e-03,     0.66666667,          1,                    0.33333333,           0.5, 0.16666667,           0.25, 0,                   -5.208333333e-03,
     -0.66666667,         -1,                  -0.33333333,         -0.5,               -0.16666667, -0.25},
    {-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
     -0.18477343022823334,                                                                          -0.09105003625154495, 0,    0.07958029955625534, 0.16093020141124725,
     0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
     0.7229568362236023,                                                                             1    },
};

/* [n, k] of bytes of two numbers, the first one in the high bits. */
static hone_status unpack_factor(onnx_reader *r, int64_t n, int64_t k, int64_t block, int64_t type,
                                 hone_dtype dtype, hone_garg *out) {
    const int64_t count = 16, blocks_all = (n * k + block - 1) / block;
    hone_tensor *tensor;
    hone_garg halves[2], table, indices, scale;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    const hone_expr *shape[] = {hone_extent_int(&r->ir, n), hone_extent_int(&r->ir, k)};
    const hone_expr *all = hone_extent_int(&r->ir, n * k);
    HONE_TRY(onnx_emit_flat(r, r->inputs[1], out));
    HONE_TRY(onnx_with_scalar(r, "right_shift", *out, 4, &halves[0]));
    HONE_TRY(onnx_with_scalar(r, "bitwise_and", *out, 15, &halves[1]));
    for (int i = 0; i < 2; i++)
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &halves[i], 1, &last, &halves[i]));
    HONE_TRY(onnx_emit_concat(r, 2, halves, 1, out));
    HONE_TRY(onnx_emit_flat(r, *out, out));
    HONE_TRY(onnx_emit_slice(r, *out, 0, 0, n * k, out));
    HONE_TRY(hone_tensor_create(dtype, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_f64(tensor, i, four_bits[type][i]);
    HONE_TRY(onnx_add_constant(r, tensor, &table));
    HONE_TRY(onnx_emit_take(r, table, *out, 0, out));
    HONE_TRY(onnx_indices(r, all, 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", indices, (double)block, &indices));
    HONE_TRY(onnx_emit_flat(r, r->inputs[2], &scale));
    HONE_TRY(onnx_demand_size(r, &scale, 0, blocks_all));
    HONE_TRY(onnx_emit_take(r, scale, indices, 0, &scale));
    HONE_TRY(onnx_emit2(r, "multiply", *out, scale, out));
    return onnx_emit_reshape(r, *out, 2, shape, out);
}

static hone_status convert_bnb4(onnx_reader *r, hone_garg *out) {
    int64_t n, k, block, type, is_turned;
    const hone_sinfo *info;
    hone_garg sides[2] = {r->inputs[0], {0}};
    HONE_TRY(onnx_attr_int(r, "N", 0, &n));
    HONE_TRY(onnx_attr_int(r, "K", 0, &k));
    HONE_TRY(onnx_attr_int(r, "block_size", 0, &block));
    HONE_TRY(onnx_attr_int(r, "quant_type", 0, &type));
    HONE_TRY(onnx_attr_int(r, "transB", 1, &is_turned));
    if (n < 1 || k < 1 || block < 1 || n > INT32_MAX / k || (type != 0 && type != 1))
        return HONE_ERROR(HONE_CODE_INVALID, "blocks of %lld of a weight of %lld x %lld",
                          (long long)block, (long long)n, (long long)k);
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(unpack_factor(r, is_turned ? n : k, is_turned ? k : n, block, type, info->dtype,
                           &sides[1]));
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(is_turned != 0)};
    return onnx_emit(r, "matmul", 2, sides, 1, &turn, out);
}

const onnx_converter onnx_contrib_converters[] = {
    {"Trilu",      convert_as_standard, 1, 2, 1, "upper", NULL},
    {"GatherND",           convert_as_standard, 2, 2, 1, "", NULL},
    {"GridSample",           convert_as_standard, 2, 2, 1, "align_corners mode padding_mode", NULL},
    {"Range",        convert_range, 2, 3, 1, "", NULL},
    {"Pad",   convert_pad, 2, 3, 1, "mode", NULL},
    {"ExpandDims",           convert_expand_dims, 2, 2, 1, "", NULL},
    {"Unique",           convert_unique, 1, 1, 3, "", NULL},
    {"CDist",        convert_distances, 2, 2, 1, "metric", NULL},
    {"BiasAdd", convert_bias_add, 3, 3, 1, "", NULL},
    {"BiasSplitGelu",           convert_split_gelu, 2, 2, 1, "", NULL},
    {"MatMulInteger16",           convert_integer_product, 2, 2, 1, "", NULL},
    {"GatherBlockQuantized",        convert_gather, 3, 4, 1, "bits block_size gather_axis quantize_axis",
     NULL},
    {"MatMulBnb4",      convert_bnb4, 3, 3, 1, "K N block_size quant_type training_mode transB", NULL},
    {0          },
};
