/* graph/frontend/nodes/onnx_random.c - numbers at random: number i of a node is a function of its
 * seed and of i alone, so a model gives the same ones in each run, on each machine, in any order.
 *
 * The function is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014): i times an odd constant and the seed, mixed by shifts and products. The seed is the bits
 * of the attribute, or a hash of the name of the node's first output. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"
#include "support/data/hash.h"

static hone_status constant64(onnx_reader *r, uint64_t value, hone_garg *out) {
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_U64, 0, NULL, &tensor));
    hone_tensor_set_i64(tensor, 0, (int64_t)value);
    return onnx_add_constant(r, tensor, out);
}

static hone_status with64(onnx_reader *r, const char *op, uint64_t value, hone_garg *io) {
    hone_garg number;
    HONE_TRY(constant64(r, value, &number));
    return onnx_emit2(r, op, *io, number, io);
}

/* x ^ x >> shift */
static hone_status fold_down(onnx_reader *r, uint64_t shift, hone_garg *io) {
    hone_garg low = *io;
    HONE_TRY(with64(r, "right_shift", shift, &low));
    return onnx_emit2(r, "bitwise_xor", *io, low, io);
}

/* Dropout's is a whole number, the others' a float32. */
static hone_status seed_of(const onnx_reader *r, uint64_t *out) {
    const Onnx__AttributeProto *attr = onnx_attr(r, "seed");
    const char *name = r->node->output[0];
    double given;
    *out = attr ? (uint64_t)attr->i : hone_hash64(name, strlen(name));
    if (!attr || strcmp(r->node->op_type, "Dropout") == 0) return HONE_OK;
    HONE_TRY(onnx_attr_float(r, "seed", 0, &given));
    float single = (float)given;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    *out = bits;
    return HONE_OK;
}

/* Float32 numbers in (0, 1), the middles of 2^24 parts, from index `first` * 2^40 of the node's on.
 */
static hone_status draw_even(onnx_reader *r, uint64_t first, uint32_t rank,
                             const hone_expr *const *shape, hone_garg *out) {
    const hone_expr *count = hone_extent_int(&r->ir, 1);
    uint64_t seed;
    HONE_TRY(seed_of(r, &seed));
    for (uint32_t i = 0; i < rank; i++)
        count = hone_extent_mul(&r->ir, count, shape[i]);
    HONE_TRY(onnx_indices(r, count, 1, 0, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_U64, out));
    HONE_TRY(with64(r, "add", (first << 40) + 1, out));
    HONE_TRY(with64(r, "multiply", UINT64_C(0x9e3779b97f4a7c15), out));
    HONE_TRY(with64(r, "add", seed * UINT64_C(0xd1b54a32d192ed03), out));
    HONE_TRY(fold_down(r, 30, out));
    HONE_TRY(with64(r, "multiply", UINT64_C(0xbf58476d1ce4e5b9), out));
    HONE_TRY(fold_down(r, 27, out));
    HONE_TRY(with64(r, "multiply", UINT64_C(0x94d049bb133111eb), out));
    HONE_TRY(fold_down(r, 31, out));
    HONE_TRY(with64(r, "right_shift", 40, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I32, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F32, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, 0.5, out));
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, ldexp(1, -24), out));
    return onnx_emit_reshape(r, *out, rank, shape, out);
}

/* Box and Muller: sqrt(-2 ln u) cos(2 pi v) */
static hone_status draw_normal(onnx_reader *r, uint32_t rank, const hone_expr *const *shape,
                               hone_garg *out) {
    hone_garg angle;
    HONE_TRY(draw_even(r, 0, rank, shape, out));
    HONE_TRY(draw_even(r, 1, rank, shape, &angle));
    HONE_TRY(onnx_emit1(r, "log", *out, out));
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, -2, out));
    HONE_TRY(onnx_emit1(r, "sqrt", *out, out));
    HONE_TRY(onnx_with_scalar(r, "multiply", angle, 6.283185307179586, &angle));
    HONE_TRY(onnx_emit1(r, "cos", angle, &angle));
    return onnx_emit2(r, "multiply", *out, angle, out);
}

/* ---- the operators ---- */

/* The type that an attribute says, or that of what the result is like. */
static hone_status result_dtype(onnx_reader *r, const hone_sinfo *like, hone_dtype *out) {
    int64_t type;
    HONE_TRY(onnx_attr_int(r, "dtype", 0, &type));
    *out = like ? like->dtype : HONE_DTYPE_F32;
    return onnx_attr(r, "dtype") ? onnx_dtype((int32_t)type, out) : HONE_OK;
}

static hone_status draw_shape(onnx_reader *r, uint32_t rank, const hone_expr *const *shape,
                              const hone_sinfo *like, hone_garg *out) {
    bool is_normal = strncmp(r->node->op_type, "RandomNormal", 12) == 0;
    double low, high;
    hone_dtype dtype;
    HONE_TRY(result_dtype(r, like, &dtype));
    if (!hone_dtype_is_float(dtype))
        return HONE_ERROR(HONE_CODE_INVALID, "numbers of %s at random", HONE_DTYPE_NAME(dtype));
    HONE_TRY(onnx_attr_float(r, is_normal ? "mean" : "low", 0, &low));
    HONE_TRY(onnx_attr_float(r, is_normal ? "scale" : "high", 1, &high));
    HONE_TRY(is_normal ? draw_normal(r, rank, shape, out) : draw_even(r, 0, rank, shape, out));
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, is_normal ? high : high - low, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, low, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

static hone_status convert_random(onnx_reader *r, hone_garg *out) {
    int64_t sizes[HONE_MAX_RANK];
    const hone_expr *shape[HONE_MAX_RANK];
    uint32_t rank;
    HONE_TRY(onnx_attr_ints(r, "shape", HONE_MAX_RANK, sizes, &rank));
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] < 0 || sizes[i] > INT32_MAX)
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %u of the shape is %lld", i,
                              (long long)sizes[i]);
        shape[i] = hone_extent_int(&r->ir, sizes[i]);
    }
    return draw_shape(r, rank, shape, NULL, out);
}

static hone_status convert_random_like(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *like;
    HONE_TRY(onnx_input_info(r, 0, &like));
    return draw_shape(r, (uint32_t)like->rank, like->shape, like, out);
}

/* 1 as often as the element says. */
static hone_status convert_bernoulli(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg x, share;
    hone_dtype dtype;
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(result_dtype(r, info, &dtype));
    HONE_TRY(draw_even(r, 0, (uint32_t)info->rank, info->shape, &x));
    bool is_double = hone_dtype_equal(info->dtype, HONE_DTYPE_F64);
    hone_dtype wide = is_double ? HONE_DTYPE_F64 : HONE_DTYPE_F32;
    HONE_TRY(onnx_emit_cast(r, x, wide, &x));
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], wide, &share));
    HONE_TRY(onnx_emit2(r, "less", x, share, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* Classes as often as exp of their element has it: how many have a sum so far below a number of
 * (0, 1). */
static hone_status convert_multinomial(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t samples, type, last_axis = 2;
    hone_dtype dtype = HONE_DTYPE_I32;
    hone_garg sums, x;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)},
              sum_axis = {"axis", onnx_ints_value(r, 1, &last_axis)};
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_attr_int(r, "sample_size", 1, &samples));
    HONE_TRY(onnx_attr_int(r, "dtype", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, &type));
    HONE_TRY(onnx_dtype((int32_t)type, &dtype));
    int64_t classes = info->rank == 2 ? hone_expr_const(info->shape[1]) : 0;
    if (classes < 0) return onnx_unknown_size(1);
    if (classes < 1 || samples < 1 || samples > INT32_MAX)
        return HONE_ERROR(HONE_CODE_INVALID, "%lld samples of %lld classes", (long long)samples,
                          (long long)classes);
    const hone_expr *one = hone_extent_int(&r->ir, 1), *count = hone_extent_int(&r->ir, samples);
    const hone_expr *drawn[] = {info->shape[0], count, one};
    const hone_expr *rows[] = {info->shape[0], one, info->shape[1]};
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], HONE_DTYPE_F32, &sums));
    HONE_TRY(onnx_emit(r, "nn.softmax", 1, &sums, 1, &axis, &sums));
    HONE_TRY(onnx_emit_sums(r, sums, 1, &sums));
    HONE_TRY(onnx_emit_reshape(r, sums, 3, rows, &sums));
    HONE_TRY(draw_even(r, 0, 3, drawn, &x));
    HONE_TRY(onnx_emit2(r, "less", sums, x, out));
    HONE_TRY(onnx_emit_cast(r, *out, dtype, out));
    HONE_TRY(onnx_emit(r, "sum", 1, out, 1, &sum_axis, out));
    return onnx_with_scalar(r, "minimum", *out, (double)(classes - 1), out);
}

/* What is kept is divided by how often that is; the second output says what is. */
hone_status onnx_drop_some(onnx_reader *r, hone_garg ratio, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg x, kept[3], share;
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_emit_cast(r, ratio, HONE_DTYPE_F32, &ratio));
    HONE_TRY(draw_even(r, 0, (uint32_t)info->rank, info->shape, &x));
    HONE_TRY(onnx_emit2(r, "greater_equal", x, ratio, &out[1]));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, 1, &share));
    HONE_TRY(onnx_emit2(r, "subtract", share, ratio, &share));
    HONE_TRY(onnx_emit_cast(r, share, info->dtype, &share));
    kept[0] = out[1];
    HONE_TRY(onnx_emit2(r, "divide", r->inputs[0], share, &kept[1]));
    HONE_TRY(onnx_scalar(r, info->dtype, 0, &kept[2]));
    return onnx_emit(r, "where", 3, kept, 0, NULL, &out[0]);
}

const onnx_converter onnx_random_converters[] = {
    {"RandomUniform", convert_random, 0, 0, 1, "dtype high low seed shape", NULL},
    {"RandomNormal",              convert_random, 0, 0, 1, "dtype mean scale seed shape", NULL},
    {"RandomUniformLike",              convert_random_like, 1, 1, 1, "dtype high low seed", NULL},
    {"RandomNormalLike",           convert_random_like, 1, 1, 1, "dtype mean scale seed", NULL},
    {"Bernoulli",  convert_bernoulli, 1, 1, 1, "dtype seed", NULL},
    {"Multinomial",              convert_multinomial, 1, 1, 1, "dtype sample_size seed", NULL},
    {0             },
};
