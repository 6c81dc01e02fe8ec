"""Programs of many kinds from TVM's operator library, small enough to interpret.

ZOO maps a name to a function that makes the module. Nothing is random: a name is a case.
"""
import tvm
from tvm import te, tirx, topi
from tvm.s_tir.meta_schedule.testing import te_workload

ZOO = {}


def func(*tensors):
    return tvm.IRModule({"main": te.create_prim_func(list(tensors))})


def ph(name, *shape, dtype="float32"):
    return te.placeholder(shape, dtype, name=name)


def flat(*values):
    """Tensors, and lists of tensors, as one list."""
    out = []
    for v in values:
        out += list(v) if isinstance(v, (list, tuple)) or hasattr(v, "__iter__") else [v]
    return out


def add(name, inputs, make):
    """inputs: (name, shape) or (name, shape, dtype); make takes the tensors and gives results."""
    def build():
        tensors = [te.placeholder(i[1], i[2] if len(i) > 2 else "float32", name=i[0])
                   for i in inputs]
        made = make(*tensors)
        made = list(made) if isinstance(made, (list, tuple)) or hasattr(made, "__len__") else [made]
        return func(*tensors, *made)

    assert name not in ZOO, name
    ZOO[name] = build


def of_workload(name, make, *sizes, **options):
    ZOO[name] = lambda: func(*make(*sizes, **options))


# ---- maps ----

A = ("A", (6, 20))
for unary in ["exp", "tanh", "sigmoid", "sqrt", "rsqrt", "log", "abs", "floor", "ceil", "round", "trunc",
              "sign", "erf", "cos", "sin", "fast_exp", "fast_tanh", "isnan", "isfinite", "log2", "atan"]:
    add(unary, [A], getattr(topi, unary))
for binary in ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "floor_divide",
               "floor_mod", "greater", "equal", "less_equal"]:
    add(binary, [A, ("B", (6, 20))], getattr(topi, binary))
    add(binary + "_broadcast", [("A", (6, 1, 4)), ("B", (5, 1))], getattr(topi, binary))
for dtype in ["float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"]:
    if dtype != "bool":
        add("add_" + dtype, [("A", (4, 12), dtype), ("B", (12,), dtype)], topi.add)
    add("cast_f32_" + dtype, [A], lambda a, d=dtype: topi.cast(a, d))
    add("cast_to_f32_" + dtype, [("A", (4, 12), dtype)], lambda a: topi.cast(a, "float32"))
for logical in ["logical_and", "logical_or", "logical_xor"]:
    add(logical, [("A", (4, 9), "bool"), ("B", (4, 9), "bool")], getattr(topi, logical))
add("logical_not", [("A", (4, 9), "bool")], topi.logical_not)
for bits in ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]:
    add(bits, [("A", (4, 9), "int32"), ("B", (4, 9), "int32")], getattr(topi, bits))
add("clip", [A], lambda a: topi.clip(a, 0.2, 0.7))
add("relu", [A], topi.nn.relu)
add("leaky_relu", [A], lambda a: topi.nn.leaky_relu(a, 0.1))
add("prelu", [("A", (1, 4, 5, 5)), ("S", (4,))], topi.nn.prelu)
add("softplus", [A], topi.nn.softplus)
add("gelu", [A], lambda a: topi.multiply(a, topi.multiply(
    topi.add(topi.erf(topi.multiply(a, tirx.const(0.70710678, "float32"))),
             tirx.const(1.0, "float32")), tirx.const(0.5, "float32"))))
add("swish_chain", [A], lambda a: topi.multiply(topi.sigmoid(topi.add(a, a)), topi.exp(a)))
add("where", [("C", (4, 9), "bool"), ("A", (4, 9)), ("B", (9,))], topi.where)
add("elemwise_sum", [("A", (4, 9)), ("B", (4, 9)), ("C", (4, 9))],
    lambda *t: topi.elemwise_sum(t))
add("scale_shift", [("A", (1, 4, 5, 5)), ("S", (4,)), ("T", (4,))], topi.nn.scale_shift_nchw)
add("fixed_point_multiply", [("A", (4, 9), "int32")],
    lambda a: topi.fixed_point_multiply(a, 1 << 30, 2))
add("add_f16_chain", [("A", (8, 16), "float16"), ("B", (8, 16), "float16")],
    lambda a, b: topi.nn.relu(topi.multiply(topi.add(a, b), a)))
add("add_bf16_chain", [("A", (8, 16), "bfloat16"), ("B", (8, 16), "bfloat16")],
    lambda a, b: topi.nn.relu(topi.add(topi.multiply(a, b), a)))

# ---- shape changes ----

add("transpose", [("A", (4, 6, 5))], lambda a: topi.transpose(a, (2, 0, 1)))
add("transpose_add", [("A", (8, 12)), ("B", (12, 8))],
    lambda a, b: topi.add(topi.transpose(a, (1, 0)), b))
add("reshape", [("A", (4, 6, 5))], lambda a: topi.reshape(a, (8, 15)))
add("reshape_relu", [("A", (4, 6, 5))], lambda a: topi.nn.relu(topi.reshape(a, (120,))))
add("squeeze", [("A", (1, 6, 1, 5))], topi.squeeze)
add("expand_dims", [("A", (6, 5))], lambda a: topi.expand_dims(a, 1, 2))
add("broadcast_to", [("A", (1, 5))], lambda a: topi.broadcast_to(a, (3, 6, 5)))
add("concatenate", [("A", (3, 8)), ("B", (5, 8)), ("C", (2, 8))],
    lambda *t: topi.concatenate(t, 0))
add("concatenate_last", [("A", (3, 8)), ("B", (3, 4))],
    lambda *t: topi.nn.relu(topi.concatenate(t, 1)))
add("stack", [("A", (3, 8)), ("B", (3, 8))], lambda *t: topi.stack(t, 1))
add("split", [("A", (6, 12))], lambda a: topi.split(a, 3, 1))
add("split_uneven", [("A", (6, 12))], lambda a: topi.split(a, [2, 7], 1))
add("strided_slice", [("A", (9, 16))], lambda a: topi.strided_slice(a, [1, 2], [8, 15], [2, 3]))
add("strided_slice_back", [("A", (9, 16))],
    lambda a: topi.strided_slice(a, [8, 15], [0, 2], [-2, -3]))
add("flip", [("A", (6, 5))], lambda a: topi.flip(a, 1))
add("repeat", [("A", (6, 5))], lambda a: topi.repeat(a, 3, 1))
add("tile", [("A", (6, 5))], lambda a: topi.tile(a, (2, 3)))
add("pad", [("A", (6, 5))], lambda a: topi.nn.pad(a, [1, 0], [2, 3], 1.5))
add("pad_relu", [("A", (2, 6, 5))], lambda a: topi.nn.relu(topi.nn.pad(a, [0, 1, 2])))
add("mirror_pad", [("A", (6, 5))], lambda a: topi.nn.mirror_pad(a, [2, 1], [1, 2], "REFLECT"))
add("depth_to_space", [("A", (1, 8, 3, 3))], lambda a: topi.nn.depth_to_space(a, 2))
add("space_to_depth", [("A", (1, 2, 4, 6))], lambda a: topi.nn.space_to_depth(a, 2))
add("space_to_batch", [("A", (1, 4, 4, 2))],
    lambda a: topi.nn.space_to_batch_nd(a, [2, 2], [0, 0], [0, 0]))
add("layout_transform", [("A", (1, 8, 5, 5))],
    lambda a: topi.layout_transform(a, "NCHW", "NCHW4c"))
add("layout_back", [("A", (1, 2, 5, 5, 4))],
    lambda a: topi.layout_transform(a, "NCHW4c", "NCHW"))
add("dilate", [("A", (3, 5))], lambda a: topi.nn.dilate(a, [2, 3]))
add("flatten", [("A", (2, 3, 4))], topi.nn.flatten)
add("trilu", [("A", (2, 5, 6))], lambda a: topi.trilu(a, tirx.const(0, "int32"), True))
add("reverse_sequence", [("A", (4, 3, 2)), ("L", (3,), "int32")],
    lambda a, l: topi.reverse_sequence(a, l, 0, 1))
add("sequence_mask", [("A", (4, 3, 2)), ("L", (3,), "int32")],
    lambda a, l: topi.sequence_mask(a, l, 0.0, 0))
add("matrix_set_diag", [("A", (4, 5)), ("D", (4,))], lambda a, d: topi.matrix_set_diag(a, d))
add("upsampling", [("A", (1, 3, 4, 4))], lambda a: topi.nn.upsampling(a, 2, 2))
add("upsampling_bilinear", [("A", (1, 3, 4, 4))],
    lambda a: topi.nn.upsampling(a, 2, 2, method="bilinear"))
add("meshgrid", [("A", (4,)), ("B", (5,))], lambda a, b: topi.meshgrid([a, b], "ij"))
add("one_hot", [("A", (5,), "int32")],
    lambda a: topi.one_hot(a, tirx.const(1.0, "float32"), tirx.const(0.0, "float32"), 6, -1, "float32"))

# ---- indexed reads and writes ----

add("take", [("A", (9, 8)), ("I", (5,), "int32")], lambda a, i: topi.take(a, i, 0, mode="clip"))
add("take_flat", [("A", (9, 8)), ("I", (5,), "int32")], lambda a, i: topi.take(a, i))
add("take_wrap_relu", [("A", (9, 8)), ("I", (5, 3), "int64")],
    lambda a, i: topi.nn.relu(topi.take(a, i, 1, mode="wrap")))
add("gather", [("A", (4, 6)), ("I", (4, 3), "int32")], lambda a, i: topi.gather(a, 1, i))
add("gather_nd", [("A", (4, 6)), ("I", (2, 5), "int32")], topi.gather_nd)
add("embedding_sum", [("T", (10, 8)), ("I", (3, 4), "int32")],
    lambda t, i: topi.sum(topi.take(t, i, 0), axis=1))
add("scatter_elements", [("A", (4, 6)), ("I", (4, 3), "int32"), ("U", (4, 3))],
    lambda a, i, u: topi.scatter_elements(a, i, u, 1, "update"))
add("scatter_add", [("A", (4, 6)), ("I", (4, 3), "int32"), ("U", (4, 3))],
    lambda a, i, u: topi.scatter_elements(a, i, u, 1, "add"))
add("scatter_nd", [("A", (4, 6)), ("I", (2, 5), "int32"), ("U", (5,))],
    lambda a, i, u: topi.scatter_nd(a, i, u, "update"))
add("scatter_after_map", [("A", (4, 6)), ("I", (4, 3), "int32"), ("U", (4, 3))],
    lambda a, i, u: topi.nn.relu(topi.scatter_elements(topi.exp(a), i, u, 1, "update")))
add("cumsum", [("A", (4, 6))], lambda a: topi.cumsum(a, 1))
add("cumsum_map", [("A", (4, 6))], lambda a: topi.nn.relu(topi.cumsum(topi.multiply(a, a), 0)))
add("cumprod", [("A", (5,))], lambda a: topi.cumprod(a, 0))
add("searchsorted", [("A", (8,)), ("V", (5,))], lambda a, v: topi.searchsorted(a, v, False, "int32"))
add("sort_relu", [("A", (3, 8))], lambda a: topi.nn.relu(topi.sort(a, 1)))
add("argsort_cast", [("A", (3, 8))], lambda a: topi.cast(topi.argsort(a, axis=1), "int32"))

# ---- reductions ----

for red in ["sum", "max", "min", "prod", "argmax", "argmin"]:
    add(red + "_last", [("A", (6, 20))], lambda a, r=red: getattr(topi, r)(a, axis=1))
    add(red + "_first", [("A", (6, 20))], lambda a, r=red: getattr(topi, r)(a, axis=0))
    add(red + "_all", [("A", (3, 4, 10))], lambda a, r=red: getattr(topi, r)(a))
    add(red + "_keep", [("A", (3, 4, 10))],
        lambda a, r=red: getattr(topi, r)(a, axis=[1, 2] if "arg" not in r else 1, keepdims=True))
for red in ["all", "any"]:
    add(red, [("A", (6, 20), "bool")], lambda a, r=red: getattr(topi, r)(a, axis=1))
add("sum_int8", [("A", (6, 20), "int8")], lambda a: topi.sum(topi.cast(a, "int32"), axis=1))
add("sum_f16", [("A", (6, 20), "float16")], lambda a: topi.sum(a, axis=1))
add("mean", [("A", (6, 20))],
    lambda a: topi.divide(topi.sum(a, axis=1), tirx.const(20.0, "float32")))
add("variance", [("A", (6, 20))], lambda a: topi.sum(topi.power(
    topi.subtract(a, topi.divide(topi.sum(a, 1, True), tirx.const(20.0, "float32"))),
    tirx.const(2.0, "float32")), 1))
add("norm2", [("A", (6, 20))], lambda a: topi.sqrt(topi.sum(topi.multiply(a, a), axis=[0, 1])))
add("argmax_relu", [("A", (6, 20))], lambda a: topi.argmax(topi.nn.relu(a), axis=1))
add("argmax_last_index", [("A", (6, 20))],
    lambda a: topi.argmax(a, axis=1, select_last_index=True))
add("logsumexp", [("A", (6, 20))], lambda a: topi.log(topi.sum(topi.exp(a), axis=1)))

# ---- products ----

for ta in [False, True]:
    for tb in [False, True]:
        add(f"matmul_{ta:d}{tb:d}",
            [("A", (16, 12) if ta else (12, 16)), ("B", (20, 16) if tb else (16, 20))],
            lambda a, b, x=ta, y=tb: topi.nn.matmul(a, b, transpose_a=x, transpose_b=y))
        add(f"batch_matmul_{ta:d}{tb:d}",
            [("A", (2, 16, 12) if ta else (2, 12, 16)), ("B", (2, 20, 16) if tb else (2, 16, 20))],
            lambda a, b, x=ta, y=tb: topi.nn.batch_matmul(a, b, transpose_a=x, transpose_b=y))
add("batch_matmul_broadcast", [("A", (1, 12, 16)), ("B", (3, 8, 16))], topi.nn.batch_matmul)
add("dense", [("A", (8, 24)), ("W", (16, 24))], topi.nn.dense)
add("dense_bias_relu", [("A", (8, 24)), ("W", (16, 24)), ("b", (16,))],
    lambda a, w, b: topi.nn.relu(topi.nn.dense(a, w, b)))
add("dense_gelu", [("A", (8, 24)), ("W", (16, 24))],
    lambda a, w: topi.fast_tanh(topi.nn.dense(a, w)))
add("dense_vector", [("A", (1, 64)), ("W", (10, 64))], topi.nn.dense)
add("dense_prime", [("A", (7, 13)), ("W", (11, 13))], topi.nn.dense)
add("dense_f16", [("A", (8, 24), "float16"), ("W", (16, 24), "float16")], topi.nn.dense)
add("dense_f16_f32", [("A", (8, 24), "float16"), ("W", (16, 24), "float16")],
    lambda a, w: topi.nn.dense(a, w, out_dtype="float32"))
add("dense_bf16_f32", [("A", (8, 24), "bfloat16"), ("W", (16, 24), "bfloat16")],
    lambda a, w: topi.nn.dense(a, w, out_dtype="float32"))
add("dense_int8", [("A", (8, 24), "int8"), ("W", (16, 24), "int8")],
    lambda a, w: topi.nn.dense(a, w, out_dtype="int32"))
add("dense_u8i8", [("A", (16, 32), "uint8"), ("W", (16, 32), "int8")],
    lambda a, w: topi.nn.dense(a, w, out_dtype="int32"))
add("dense_pack", [("A", (8, 24)), ("W", (4, 24, 4))], lambda a, w: topi.nn.dense_pack(a, w))
add("matmul_add_matmul", [("A", (8, 12)), ("B", (12, 16)), ("C", (16, 8))],
    lambda a, b, c: topi.nn.matmul(topi.nn.relu(topi.nn.matmul(a, b)), c))
add("tensordot", [("A", (4, 3, 5)), ("B", (3, 5, 6))],
    lambda a, b: topi.tensordot(a, b, ((1, 2), (0, 1))))
add("einsum", [("A", (4, 3, 5)), ("B", (4, 5, 6))], lambda a, b: topi.einsum("bij,bjk->bik", a, b))
add("einsum_diag", [("A", (5, 5))], lambda a: topi.einsum("ii->", a))
add("outer", [("A", (8, 1)), ("B", (1, 12))], topi.multiply)

# ---- convolutions ----

for stride, pad, dilation in [(1, 0, 1), (1, 1, 1), (2, 1, 1), (1, 2, 2)]:
    tag = f"_s{stride}p{pad}d{dilation}"
    add("conv2d_nchw" + tag, [("X", (1, 4, 9, 9)), ("W", (6, 4, 3, 3))],
        lambda x, w, s=stride, p=pad, d=dilation: topi.nn.conv2d_nchw(x, w, s, p, d))
    add("conv2d_nhwc" + tag, [("X", (1, 9, 9, 4)), ("W", (3, 3, 4, 6))],
        lambda x, w, s=stride, p=pad, d=dilation: topi.nn.conv2d_nhwc(x, w, s, p, d))
    add("conv1d" + tag, [("X", (1, 4, 16)), ("W", (6, 4, 3))],
        lambda x, w, s=stride, p=pad, d=dilation: topi.nn.conv1d(x, w, s, p, d))
    add("depthwise_nchw" + tag, [("X", (1, 4, 9, 9)), ("W", (4, 1, 3, 3))],
        lambda x, w, s=stride, p=pad, d=dilation: topi.nn.depthwise_conv2d_nchw(x, w, s, p, d))
add("conv1d_nwc", [("X", (1, 16, 4)), ("W", (3, 4, 6))],
    lambda x, w: topi.nn.conv1d(x, w, 1, 1, 1, data_layout="NWC"))
add("conv2d_hwcn", [("X", (7, 7, 4, 1)), ("W", (3, 3, 4, 6))],
    lambda x, w: topi.nn.conv2d_hwcn(x, w, 1, 1, 1))
add("conv2d_1x1", [("X", (1, 8, 6, 6)), ("W", (12, 8, 1, 1))],
    lambda x, w: topi.nn.conv2d_nchw(x, w, 1, 0, 1))
add("conv2d_bias_relu", [("X", (1, 4, 8, 8)), ("W", (8, 4, 3, 3)), ("b", (8, 1, 1))],
    lambda x, w, b: topi.nn.relu(topi.add(topi.nn.conv2d_nchw(x, w, 1, 1, 1), b)))
add("conv2d_add_residual", [("X", (1, 4, 6, 6)), ("W", (4, 4, 3, 3))],
    lambda x, w: topi.nn.relu(topi.add(topi.nn.conv2d_nchw(x, w, 1, 1, 1), x)))
add("conv2d_NCHWc", [("X", (1, 2, 6, 6, 4)), ("W", (3, 2, 3, 3, 4, 4))],
    lambda x, w: topi.nn.conv2d_NCHWc(x, w, 1, 1, 1, "NCHW4c", "NCHW4c"))
add("conv2d_NCHWc_int8", [("X", (1, 2, 6, 6, 4), "uint8"), ("W", (2, 2, 3, 3, 1, 4, 4), "int8")],
    lambda x, w: topi.nn.conv2d_NCHWc_int8(x, w, 1, 1, 1, "NCHW4c", "NCHW4c", "int32"))
add("depthwise_NCHWc", [("X", (1, 2, 6, 6, 4)), ("W", (2, 1, 3, 3, 1, 4))],
    lambda x, w: topi.nn.depthwise_conv2d_NCHWc(x, w, 1, 1, 1, "NCHW4c", "NCHW4c"))
add("depthwise_nhwc", [("X", (1, 8, 8, 4)), ("W", (3, 3, 4, 1))],
    lambda x, w: topi.nn.depthwise_conv2d_nhwc(x, w, 1, 1, 1))
add("depthwise_multiplier", [("X", (1, 3, 7, 7)), ("W", (3, 2, 3, 3))],
    lambda x, w: topi.nn.depthwise_conv2d_nchw(x, w, 2, 1, 1))
add("group_conv2d", [("X", (1, 8, 7, 7)), ("W", (12, 2, 3, 3))],
    lambda x, w: topi.nn.group_conv2d_nchw(x, w, 1, 1, 1, 4))
add("group_conv2d_nhwc", [("X", (1, 7, 7, 8)), ("W", (3, 3, 2, 12))],
    lambda x, w: topi.nn.group_conv2d_nhwc(x, w, 2, 1, 1, 4))
add("group_conv1d", [("X", (1, 8, 12)), ("W", (8, 2, 3))],
    lambda x, w: topi.nn.group_conv1d_ncw(x, w, 1, 1, 1, 4))
add("conv3d", [("X", (1, 2, 4, 6, 6)), ("W", (4, 2, 3, 3, 3))],
    lambda x, w: topi.nn.conv3d_ncdhw(x, w, 1, 1, 1, 1))
add("conv3d_ndhwc", [("X", (1, 4, 6, 6, 2)), ("W", (3, 3, 3, 2, 4))],
    lambda x, w: topi.nn.conv3d_ndhwc(x, w, 2, 1, 1, 1))
add("conv1d_transpose", [("X", (1, 4, 6)), ("W", (4, 3, 3))],
    lambda x, w: topi.nn.conv1d_transpose_ncw(x, w, 2, 1, "float32", (0,)))
add("conv2d_transpose", [("X", (1, 4, 5, 5)), ("W", (4, 3, 3, 3))],
    lambda x, w: topi.nn.conv2d_transpose_nchw(x, w, (2, 2), (1, 1), "float32", (0, 0)))
add("group_conv2d_transpose", [("X", (1, 4, 5, 5)), ("W", (4, 2, 3, 3))],
    lambda x, w: topi.nn.group_conv2d_transpose_nchw(x, w, (2, 2), (1, 1), "float32", (0, 0), 2))
add("conv3d_transpose", [("X", (1, 2, 3, 3, 3)), ("W", (2, 2, 3, 3, 3))],
    lambda x, w: topi.nn.conv3d_transpose_ncdhw(x, w, (2, 2, 2), (1, 1, 1), "float32", (0, 0, 0)))
add("conv2d_f16", [("X", (1, 4, 8, 8), "float16"), ("W", (8, 4, 3, 3), "float16")],
    lambda x, w: topi.nn.conv2d_nchw(x, w, 1, 1, 1, "float16"))
add("conv2d_int8", [("X", (1, 4, 8, 8), "int8"), ("W", (8, 4, 3, 3), "int8")],
    lambda x, w: topi.nn.conv2d_nchw(x, w, 1, 1, 1, "int32"))
add("conv2d_winograd", [("X", (1, 3, 8, 8)), ("W", (4, 3, 3, 3))],
    lambda x, w: topi.nn.conv2d_winograd_nchw(x, w, (1, 1), (1, 1), (1, 1), "float32"))
add("conv2d_winograd_nhwc", [("X", (1, 8, 8, 3)), ("W", (3, 3, 3, 4))],
    lambda x, w: topi.nn.conv2d_winograd_nhwc(x, w, (1, 1), (1, 1), (1, 1), "float32"))
add("deformable_conv2d", [("X", (1, 2, 5, 5)), ("O", (1, 18, 5, 5)), ("W", (3, 2, 3, 3))],
    lambda x, o, w: topi.nn.deformable_conv2d_nchw(x, o, w, (1, 1), (1, 1), (1, 1), 1, 1, "float32"))
add("correlation", [("X", (1, 2, 6, 6)), ("Y", (1, 2, 6, 6))],
    lambda x, y: topi.nn.correlation_nchw(x, y, 1, 1, 1, 1, 1, True))
add("bitserial_dense", [("A", (2, 32), "uint32"), ("W", (4, 32), "uint32")],
    lambda a, w: topi.nn.bitserial_dense(a, w, 1, 1))

# ---- pooling ----

for pool in ["max", "avg"]:
    add(pool + "_pool2d", [("X", (1, 4, 9, 9))],
        lambda x, p=pool: topi.nn.pool2d(x, [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], p))
    add(pool + "_pool2d_nhwc", [("X", (1, 8, 8, 3))],
        lambda x, p=pool: topi.nn.pool2d(x, [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], p, layout="NHWC"))
    add(pool + "_pool1d", [("X", (1, 4, 16))],
        lambda x, p=pool: topi.nn.pool1d(x, [3], [2], [1], [1, 1], p))
    add(pool + "_pool3d", [("X", (1, 2, 6, 6, 6))],
        lambda x, p=pool: topi.nn.pool3d(x, [2, 2, 2], [2, 2, 2], [1, 1, 1], [0] * 6, p))
    add(pool + "_pool_ceil", [("X", (1, 2, 8, 8))], lambda x, p=pool: topi.nn.pool2d(
        x, [3, 3], [2, 2], [1, 1], [0, 0, 0, 0], p, ceil_mode=True, count_include_pad=False))
    add(pool + "_pool_dilated", [("X", (1, 2, 9, 9))],
        lambda x, p=pool: topi.nn.pool2d(x, [3, 3], [1, 1], [2, 2], [1, 1, 1, 1], p))
    add(pool + "_global_pool", [("X", (1, 4, 7, 7))], lambda x, p=pool: topi.nn.global_pool(x, p))
    add(pool + "_adaptive_pool", [("X", (1, 4, 9, 9))],
        lambda x, p=pool: topi.nn.adaptive_pool(x, (4, 3), p))

# ---- normalisation, attention ----

add("softmax", [("X", (6, 20))], topi.nn.softmax)
add("softmax_4d", [("X", (1, 2, 4, 10))], lambda x: topi.nn.softmax(x, 1))
add("fast_softmax", [("X", (6, 20))], topi.nn.fast_softmax)
add("log_softmax", [("X", (6, 20))], topi.nn.log_softmax)
add("layer_norm", [("X", (6, 20)), ("g", (20,)), ("b", (20,))],
    lambda x, g, b: topi.nn.layer_norm(x, g, b, [1]))
add("layer_norm_f16", [("X", (6, 20), "float16"), ("g", (20,), "float16"), ("b", (20,), "float16")],
    lambda x, g, b: topi.nn.layer_norm(x, g, b, [1]))
add("layer_norm_2axes", [("X", (3, 4, 5)), ("g", (4, 5)), ("b", (4, 5))],
    lambda x, g, b: topi.nn.layer_norm(x, g, b, [1, 2]))
add("group_norm", [("X", (1, 8, 5, 5)), ("g", (8,)), ("b", (8,))],
    lambda x, g, b: topi.nn.group_norm(x, g, b, 4, 1, [2, 3]))
add("instance_norm", [("X", (1, 4, 5, 5)), ("g", (4,)), ("b", (4,))],
    lambda x, g, b: topi.nn.instance_norm(x, g, b, 1, [2, 3]))
add("rms_norm", [("X", (6, 20)), ("w", (20,))], lambda x, w: topi.nn.rms_norm(x, w, [1]))
add("rms_norm_f16", [("X", (6, 20), "float16"), ("w", (20,), "float16")],
    lambda x, w: topi.nn.rms_norm(x, w, [1]))
add("batch_norm", [("X", (1, 4, 5, 5)), ("g", (4,)), ("b", (4,)), ("m", (4,)), ("v", (4,))],
    lambda x, g, b, m, v: topi.nn.batch_norm(x, g, b, m, v, 1, 1e-5, True, True, False, 0.1)[0])
add("lrn", [("X", (1, 8, 4, 4))], lambda x: topi.nn.lrn(x, 5))
add("nll_loss", [("P", (4, 6)), ("t", (4,), "int32"), ("w", (6,))],
    lambda p, t, w: topi.nn.nll_loss(p, t, w, "mean", -100))


def attention():
    q, k, v = ph("Q", 2, 8, 12), ph("K", 2, 10, 12), ph("V", 2, 10, 12)
    scores = topi.nn.batch_matmul(q, k)
    scaled = topi.multiply(scores, tirx.const(0.288675, "float32"))
    probs = topi.nn.softmax(scaled, -1)
    return func(q, k, v, topi.nn.batch_matmul(probs, v, transpose_b=False))


def attention_mask():
    q, k, m = ph("Q", 2, 8, 12), ph("K", 2, 10, 12), ph("M", 8, 10)
    scores = topi.nn.batch_matmul(q, k)
    return func(q, k, m, topi.nn.softmax(topi.add(scores, m), -1))


def scan_rows():
    """A state that goes over rows, as te.scan did: an opaque loop in one block."""
    x = ph("X", 5, 8)
    out = te.extern((5, 8), [x], lambda ins, outs: scan_body(ins[0], outs[0]), name="scan",
                    dtype="float32")
    return func(x, topi.nn.relu(out))


def scan_body(x, y):
    ib = tvm.tirx.ir_builder.create()  # pylint: disable=no-member
    xs, ys = ib.buffer_ptr(x), ib.buffer_ptr(y)
    with ib.for_range(0, 8, "c") as c:
        ys[c] = xs[c]
        with ib.for_range(0, 4, "r") as r:
            ys[(r + 1) * 8 + c] = ys[r * 8 + c] * tirx.const(0.5, "float32") + xs[(r + 1) * 8 + c]
    return ib.get()


ZOO["attention"] = attention
ZOO["attention_mask"] = attention_mask
if hasattr(tvm.tirx, "ir_builder"):
    ZOO["scan_rows"] = scan_rows

# ---- MetaSchedule's own test workloads ----

of_workload("GMM", te_workload.batch_matmul_nkkm, 2, 16, 16, 16)
of_workload("GMM_odd", te_workload.batch_matmul_nkkm, 1, 15, 7, 13)
of_workload("GMM_f16", te_workload.batch_matmul_nkkm, 1, 32, 32, 32, in_dtype="float16",
            out_dtype="float32")
of_workload("C1D", te_workload.conv1d_nlc, 1, 16, 4, 8, 3, 2, 1)
of_workload("C2D", te_workload.conv2d_nhwc, 1, 8, 8, 4, 8, 3, 2, 1)
of_workload("C3D", te_workload.conv3d_ndhwc, 1, 4, 6, 6, 2, 4, 3, 2, 1)
of_workload("DEP", te_workload.depthwise_conv2d_nhwc, 1, 8, 8, 4, 3, 1, 1)
of_workload("DIL", te_workload.conv2d_nhwc, 1, 10, 10, 4, 8, 3, 1, 1, 2)
of_workload("GRP", te_workload.conv2d_nhwc, 1, 8, 8, 4, 8, 3, 2, 1, 1, 2)
of_workload("T2D", te_workload.conv2d_transpose_nhwc, 1, 4, 4, 4, 4, 4, 2, 1)
of_workload("CAP", te_workload.conv2d_capsule_nhwijc, 1, 6, 6, 4, 4, 3, 2, 1)
of_workload("NRM", te_workload.norm_bmn, 1, 32, 32)
of_workload("SFM", te_workload.softmax_mn, 8, 32)
of_workload("CBR", te_workload.conv2d_nhwc_bn_relu, 1, 8, 8, 3, 8, 3, 2, 1)
of_workload("TBG", te_workload.transpose_batch_matmul, 1, 8, 2, 16)

# ---- sizes known at run time only ----


def symbolic(name, make):
    def build():
        return func(*make(te.var("n"), te.var("m")))

    ZOO["sym_" + name] = build


def sym_matmul(n, m):
    a, b = ph("A", n, 16), ph("B", 16, m)
    return a, b, topi.nn.matmul(a, b)


def sym_dense_relu(n, _):
    a, w = ph("A", n, 24), ph("W", 16, 24)
    return a, w, topi.nn.relu(topi.nn.dense(a, w))


def sym_softmax(n, m):
    x = ph("X", n, m)
    return x, topi.nn.softmax(x)


def sym_map(n, m):
    x, y = ph("X", n, m), ph("Y", n, m)
    return x, y, topi.nn.relu(topi.add(x, y))


def sym_sum(n, m):
    x = ph("X", n, m)
    return x, topi.sum(topi.exp(x), axis=1)


def sym_conv2d(n, _):
    x, w = ph("X", n, 4, 6, 6), ph("W", 4, 4, 3, 3)
    return x, w, topi.nn.conv2d_nchw(x, w, 1, 1, 1)


def sym_layer_norm(n, _):
    x, g, b = ph("X", n, 16), ph("g", 16), ph("b", 16)
    return x, g, b, topi.nn.layer_norm(x, g, b, [1])


def sym_transpose(n, m):
    x = ph("X", n, m)
    return x, topi.transpose(x, (1, 0))


def sym_concat(n, m):
    x, y = ph("X", n, 8), ph("Y", m, 8)
    return x, y, topi.concatenate([x, y], 0)


for sym in [sym_matmul, sym_dense_relu, sym_softmax, sym_map, sym_sum, sym_conv2d, sym_layer_norm,
            sym_transpose, sym_concat]:
    symbolic(sym.__name__[4:], sym)
