"""More programs for examine.py: layers as LegalizeOps writes them, fused groups, and products of types
and sizes for which targets have tensor intrinsics. Importing this file adds them to zoo.ZOO.
"""
import tvm
from tvm import relax, te, tirx, topi
from tvm.script import from_source

import operators
from zoo import ZOO, add, ph, symbolic

BEFORE = set(ZOO)


def call(name, expression, parameters, dtype="float32", number=0):
    """The number-th program that LegalizeOps makes of one call, written as in operators.txt."""
    def build():
        params = [operators.Parameter(p, dtype) for p in operators.PARAMETER.findall(parameters)]
        mod = from_source(operators.graph_text(expression, params, False))
        legal = relax.transform.LegalizeOps()(mod)
        made = [f for _, f in legal.functions_items() if isinstance(f, tvm.tirx.PrimFunc)]
        return tvm.IRModule({"main": made[number].with_attr("global_symbol", "main")})

    assert name not in ZOO, name
    ZOO[name] = build


def fused(name, body, parameters):
    """The one program of a chain of calls, after LegalizeOps and FuseTIR."""
    def build():
        head = ", ".join(f'{p}: R.Tensor({s}, "{d}")' for p, s, d in parameters)
        lines = ["@I.ir_module", "class Module:", "    @R.function", f"    def main({head}):",
                 "        with R.dataflow():"] + ["            " + b for b in body] + \
                ["            R.output(out)", "        return out"]
        mod = from_source("\n".join(lines) + "\n")
        for step in [relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern(),
                     relax.transform.FuseOps(), relax.transform.FuseTIR()]:
            mod = step(mod)
        made = [f for _, f in mod.functions_items() if isinstance(f, tvm.tirx.PrimFunc)]
        return tvm.IRModule({"main": made[0].with_attr("global_symbol", "main")})

    assert name not in ZOO, name
    ZOO[name] = build


# ---- convolutions ----

call("r_conv1d_dilated", "R.nn.conv1d(x, w, strides=[1], padding=[2, 2], dilation=[2])",
     "x=[1,4,12] w=[6,4,3]")
call("r_conv1d_nwc_groups", "R.nn.conv1d(x, w, groups=2, data_layout='NWC', kernel_layout='WIO')",
     "x=[1,10,4] w=[3,2,6]")
call("r_conv1d_transpose", "R.nn.conv1d_transpose(x, w, strides=[2], padding=[1, 1])",
     "x=[1,4,8] w=[4,6,3]")
call("r_conv2d_transpose", "R.nn.conv2d_transpose(x, w, strides=[2, 2], padding=[1, 1, 1, 1])",
     "x=[1,4,5,5] w=[4,6,4,4]")
call("r_conv2d_transpose_groups",
     "R.nn.conv2d_transpose(x, w, strides=[2, 2], groups=2, output_padding=[1, 1])",
     "x=[1,4,4,4] w=[4,3,3,3]")
call("r_conv3d_transpose", "R.nn.conv3d_transpose(x, w, strides=[2, 1, 1])",
     "x=[1,2,3,3,3] w=[2,3,2,2,2]")
call("r_conv2d_dilated_groups", "R.nn.conv2d(x, w, padding=[2,2,2,2], dilation=[2,2], groups=2)",
     "x=[1,8,7,7] w=[8,4,3,3]")
call("r_depthwise_s2", "R.nn.conv2d(x, w, strides=[2,2], padding=[1,1,1,1], groups=8)",
     "x=[1,8,9,9] w=[8,1,3,3]")
call("r_conv2d_ohwi", "R.nn.conv2d(x, w, data_layout='NHWC', kernel_layout='OHWI', padding=[1,1,1,1])",
     "x=[1,6,6,4] w=[8,3,3,4]")
call("r_conv3d_dilated", "R.nn.conv3d(x, w, padding=[1,1,1,1,1,1], dilation=[1,2,1])",
     "x=[1,2,4,6,5] w=[4,2,3,3,3]")
call("r_conv2d_f16_nhwc", "R.nn.conv2d(x, w, data_layout='NHWC', kernel_layout='HWIO', "
     "padding=[1,1,1,1], out_dtype='float16')", "x=[1,16,16,16] w=[3,3,16,32]", "float16")

# ---- pooling, images ----

for pool in ["max_pool2d", "avg_pool2d"]:
    call(f"r_{pool}_ceil", f"R.nn.{pool}(x, pool_size=[3, 2], strides=[2, 2], padding=[1, 0, 1, 1], "
         "ceil_mode=True)", "x=[1,3,8,7]")
call("r_avg_pool_pad", "R.nn.avg_pool2d(x, pool_size=[3, 3], padding=[1,1,1,1], count_include_pad=True)",
     "x=[1,3,8,8]")
call("r_max_pool1d_ceil", "R.nn.max_pool1d(x, pool_size=[3], strides=[2], padding=[1,1], ceil_mode=True)",
     "x=[1,4,12]")
call("r_adaptive_pool3d", "R.nn.adaptive_avg_pool3d(x, output_size=[2, 2, 2])", "x=[1,2,5,4,6]")
for method in ["linear", "cubic", "nearest_neighbor"]:
    call("r_resize_" + method, f"R.image.resize2d(x, R.shape([7, 9]), method='{method}', "
         "coordinate_transformation_mode='half_pixel')", "x=[1,2,5,4]")
call("r_grid_sample", "R.image.grid_sample(x, g, method='bilinear', padding_mode='border')",
     "x=[1,2,5,4] g=[1,2,3,3]")

# ---- norms ----

call("r_batch_norm", "R.nn.batch_norm(x, g, b, a, v, axis=1, training=False)",
     "x=[1,4,6,6] g=[4] b=[4] a=[4] v=[4]>0")
call("r_layer_norm_f16", "R.nn.layer_norm(x, g, b, axes=[-1])", "x=[8,48] g=[48] b=[48]", "float16")
call("r_group_norm", "R.nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[2, 3])",
     "x=[2,4,6,6] g=[4] b=[4]")
call("r_instance_norm", "R.nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3])",
     "x=[2,4,6,6] g=[4] b=[4]")
call("r_rms_norm", "R.nn.rms_norm(x, g, axes=[-1])", "x=[2,5,32] g=[32]")
call("r_softmax_axis1", "R.nn.softmax(x, axis=1)", "x=[3,8,6]")
call("r_log_softmax", "R.nn.log_softmax(x, axis=-1)", "x=[7,33]")
call("r_cross_entropy", "R.nn.cross_entropy_with_logits(x, y)", "x=[6,10] y=[6,10]")
call("r_attention", "R.nn.attention(q, k, v)", "q=[2,5,3,4] k=[2,6,3,4] v=[2,6,3,8]")
call("r_attention_causal", "R.nn.attention(q, k, v, causal_mask='TopLeft')",
     "q=[1,8,2,8] k=[1,8,2,8] v=[1,8,2,8]")
call("r_attention_bias_f16", "R.nn.attention(q, k, v, b)",
     "q=[1,16,2,16] k=[1,16,2,16] v=[1,16,2,16] b=[1,2,16,16]", "float16")

# ---- shapes, indices, scans ----

add("roll", [("A", (6, 10))], lambda a: te.compute(
    a.shape, lambda i, j: a[tirx.indexmod(i + 2, 6), tirx.indexmod(j + 7, 10)], name="roll"))
add("roll_add", [("A", (6, 10))], lambda a: topi.add(a, te.compute(
    a.shape, lambda i, j: a[i, tirx.indexmod(j + 7, 10)], name="roll")))
call("r_gather_elements", "R.gather_elements(x, i, axis=1)", "x=[6,10] i=int64[6,4]<10")
call("r_gather_nd", "R.gather_nd(x, i, batch_dims=1)", "x=[3,4,2] i=int64[3,2,1]<4")
call("r_scatter_elements", "R.scatter_elements(x, i, v, axis=0, reduction='add')",
     "x=[4,6] i=int64[1,6]<4 v=[1,6]")
call("r_scatter_nd", "R.scatter_nd(x, i, v, reduction='update')", "x=[4,6] i=int64[2,2]<4 v=[2]")
call("r_strided_slice", "R.strided_slice(x, axes=[0, 1], begin=[1, 0], end=[9, 12], strides=[2, 3])",
     "x=[10,12]")
call("r_concat3", "R.concat((x, y, x), axis=1)", "x=[4,6] y=[4,10]")
call("r_pad_reflect", "R.nn.pad(x, pad_width=[1, 1, 2, 2], pad_mode='reflect')", "x=[6,8]")
call("r_one_hot", "R.one_hot(i, R.prim_value(T.float32(1)), R.prim_value(T.float32(0)), 8, -1)",
     "i=int64[6]<8")
call("r_tril", "R.tril(x, 1)", "x=[2,6,6]")

# ---- reductions ----

call("r_argmax", "R.argmax(x, axis=-1, keepdims=False)", "x=[6,24]")
call("r_argmax_all", "R.argmax(x)", "x=[6,12]")
call("r_variance", "R.variance(x, axis=[1])", "x=[6,32]")
call("r_std", "R.std(x, axis=[1, 2], keepdims=True)", "x=[4,6,8]")
call("r_prod", "R.prod(x, axis=[0, 2])", "x=[4,6,8]")
call("r_mean_f16", "R.mean(x, axis=[-1])", "x=[8,64]", "float16")
call("r_einsum", "R.einsum((x, y), 'ij_jk->ki')".replace("_", ","), "x=[8,12] y=[12,16]")

# ---- products ----

call("r_matmul_f16_f32", "R.matmul(x, y, out_dtype='float32')", "x=[64,64] y=[64,64]", "float16")
call("r_matmul_f16", "R.matmul(x, y)", "x=[32,48] y=[48,64]", "float16")
call("r_matmul_f16_odd", "R.matmul(x, y, out_dtype='float32')", "x=[30,40] y=[40,50]", "float16")
call("r_matmul_batch", "R.matmul(x, y)", "x=[2,1,6,8] y=[3,8,5]")
call("r_matmul_i8", "R.matmul(x, y, out_dtype='int32')", "x=[16,32] y=[32,32]", "int8")
call("r_matmul_vector", "R.matmul(x, y)", "x=[48] y=[48,20]")
add("dense_u8i8_wide", [("A", (16, 64), "uint8"), ("W", (48, 64), "int8")],
    lambda a, w: topi.nn.dense(a, w, out_dtype="int32"))
add("dense_i8_wide", [("A", (16, 64), "int8"), ("W", (32, 64), "int8")],
    lambda a, w: topi.nn.dense(a, w, out_dtype="int32"))
add("conv2d_NCHW16c_u8i8", [("X", (1, 1, 6, 6, 16), "uint8"), ("W", (2, 1, 3, 3, 4, 16, 4), "int8")],
    lambda x, w: topi.nn.conv2d_NCHWc_int8(x, w, 1, 1, 1, "NCHW16c", "NCHW16c", "int32"))
add("batch_matmul_f16", [("A", (2, 32, 32), "float16"), ("B", (2, 32, 32), "float16")],
    lambda a, b: topi.nn.batch_matmul(a, b, out_dtype="float32"))
add("dense_f16_relu_wide", [("A", (32, 32), "float16"), ("W", (48, 32), "float16"), ("b", (48,), "float16")],
    lambda a, w, b: topi.nn.relu(topi.add(topi.nn.dense(a, w, out_dtype="float16"), b)))
add("requantize", [("A", (16, 32), "uint8"), ("W", (16, 32), "int8"), ("s", (16,), "int32")],
    lambda a, w, s: topi.cast(topi.clip(topi.right_shift(
        topi.add(topi.nn.dense(a, w, out_dtype="int32"), s), tirx.const(6, "int32")), -128, 127), "int8"))

# ---- groups of operators ----

fused("f_conv_bias_relu_pool", ["c = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])", "d = R.add(c, b)",
                                "out = R.nn.relu(d)"],
      [("x", (1, 4, 8, 8), "float32"), ("w", (8, 4, 3, 3), "float32"), ("b", (1, 8, 1, 1), "float32")])
fused("f_matmul_gelu", ["c = R.matmul(x, w)", "d = R.add(c, b)", "out = R.nn.gelu(d)"],
      [("x", (12, 16), "float32"), ("w", (16, 24), "float32"), ("b", (24,), "float32")])
fused("f_matmul_f16_cast", ["c = R.matmul(x, w, out_dtype='float32')", "d = R.add(c, b)",
                            "out = R.astype(d, 'float16')"],
      [("x", (32, 32), "float16"), ("w", (32, 48), "float16"), ("b", (48,), "float32")])
fused("f_bn_relu", ["c = R.multiply(x, s)", "d = R.add(c, b)", "out = R.nn.relu(d)"],
      [("x", (1, 4, 6, 6), "float32"), ("s", (1, 4, 1, 1), "float32"), ("b", (1, 4, 1, 1), "float32")])
fused("f_permute_matmul", ["c = R.permute_dims(y, [1, 0])", "out = R.matmul(x, c)"],
      [("x", (12, 16), "float32"), ("y", (20, 16), "float32")])
fused("f_silu_mul", ["c = R.nn.silu(x)", "d = R.multiply(c, y)", "out = R.astype(d, 'float16')"],
      [("x", (8, 20), "float32"), ("y", (8, 20), "float32")])
fused("f_scale_softmax", ["c = R.multiply(x, R.const(0.25, 'float32'))", "d = R.add(c, m)",
                          "out = R.nn.softmax(d, axis=-1)"],
      [("x", (2, 3, 6, 10), "float32"), ("m", (1, 1, 6, 10), "float32")])
fused("f_conv_residual", ["c = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])", "d = R.add(c, x)",
                          "out = R.clip(d, 0, 6)"],
      [("x", (1, 4, 6, 6), "float32"), ("w", (4, 4, 3, 3), "float32")])
fused("f_transpose_reshape", ["c = R.permute_dims(x, [0, 2, 1, 3])", "d = R.reshape(c, R.shape([4, 48]))",
                              "out = R.add(d, b)"],
      [("x", (1, 6, 4, 8), "float32"), ("b", (48,), "float32")])


# ---- batches known at run time only ----


def sym_batch_matmul(n, _):
    a, b = ph("A", n, 8, 12), ph("B", n, 16, 12)
    return a, b, topi.nn.batch_matmul(a, b)


def sym_rms_norm(n, _):
    x, w = ph("X", n, 24), ph("w", 24)
    return x, w, topi.nn.rms_norm(x, w, [1])


def sym_conv2d_relu(n, _):
    x, w, b = ph("X", n, 4, 6, 6), ph("W", 6, 4, 3, 3), ph("b", 6, 1, 1)
    return x, w, b, topi.nn.relu(topi.add(topi.nn.conv2d_nchw(x, w, 1, 1, 1), b))


def sym_pool(n, _):
    x = ph("X", n, 3, 8, 8)
    return x, topi.nn.pool2d(x, [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], "max")


def sym_argmax(n, m):
    x = ph("X", n, m)
    return x, topi.argmax(x, axis=1)


for made in [sym_batch_matmul, sym_rms_norm, sym_conv2d_relu, sym_pool, sym_argmax]:
    symbolic(made.__name__[4:], made)

NAMES = [n for n in ZOO if n not in BEFORE]
