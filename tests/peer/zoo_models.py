"""Programs as language and vision models have them, with sizes known at run time only: products with
their epilogues, weights of four bits, scores of attention, norms in pieces. MODELS maps a name to a
function that makes the module.
"""
import tvm
from tvm import relax
from tvm.script import from_source

MODELS = {}
STEPS = [relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern(),
         relax.transform.FuseOps(), relax.transform.FuseTIR()]


def parameter(text):
    """x=1,n,32:float16 as a parameter of a Relax function."""
    name, rest = text.split("=")
    shape, dtype = rest.split(":")
    sizes = [s if s.isdigit() else f'"{s}"' for s in shape.split(",")]
    return f'{name}: R.Tensor(({", ".join(sizes)},), "{dtype}")'


def chain(name, parameters, *calls):
    """The last program of a chain of calls, after LegalizeOps and FuseTIR."""
    def build():
        sizes = [s for s in "nm" if f"{s}," in parameters or f",{s}:" in parameters]
        head = ", ".join(parameter(p) for p in parameters.split())
        lines = ["@I.ir_module", "class Module:", "    @R.function", f"    def main({head}):"]
        lines += [f"        {s} = T.int64()" for s in sizes]
        lines += ["        with R.dataflow():"] + ["            " + c for c in calls]
        lines += ["            R.output(out)", "        return out"]
        mod = from_source("\n".join(lines) + "\n")
        for step in STEPS:
            mod = step(mod)
        made = [f for _, f in mod.functions_items() if isinstance(f, tvm.tirx.PrimFunc)]
        return tvm.IRModule({"main": made[-1].with_attr("global_symbol", "main")})

    assert name not in MODELS, name
    MODELS[name] = build


chain("gelu_after_product", "x=1,n,32:float16 w=64,32:float16 b=64:float16",
      "wt = R.permute_dims(w)", "y = R.matmul(x, wt)", "z = R.add(y, b)", "out = R.nn.gelu(z)")
chain("sum_in_float32", "x=1,n,128:float16 w=128,128:float16 r=1,n,128:float16",
      "y = R.matmul(x, w, out_dtype='float32')", "z = R.astype(y, 'float16')", "out = R.add(z, r)")
chain("one_row", "x=1,1,64:float16 w=96,64:float16 b=96:float32", "wt = R.permute_dims(w)",
      "y = R.matmul(x, wt, out_dtype='float32')", "z = R.add(y, b)", "out = R.astype(z, 'float16')")
chain("bytes", "x=1,n,128:int8 w=128,96:int8", "out = R.matmul(x, w, out_dtype='int32')")
chain("heads", "q=1,n,4,16:float16 k=1,m,4,16:float16", "a = R.permute_dims(q, [0, 2, 1, 3])",
      "b = R.permute_dims(k, [0, 2, 3, 1])", "s = R.matmul(a, b)",
      "out = R.multiply(s, R.const(0.25, 'float16'))")
chain("masked_softmax", "x=1,4,n,m:float32 keep=n,m:bool",
      "y = R.where(keep, x, R.const(-10000, 'float32'))", "out = R.nn.softmax(y, axis=-1)")
chain("rms_norm", "x=1,n,64:float16 w=64:float16", "out = R.nn.rms_norm(x, w, axes=[-1])")
chain("layer_norm", "x=1,n,64:float32 w=64:float32 b=64:float32",
      "y = R.nn.layer_norm(x, w, b, axes=[-1])", "out = R.astype(y, 'float16')")
chain("group_norm", "x=n,8,6,6:float32 w=8:float32 b=8:float32",
      "y = R.nn.group_norm(x, w, b, num_groups=4, channel_axis=1, axes=[2, 3])",
      "out = R.nn.silu(y)")
chain("average", "x=n,4,8,8:float32", "out = R.nn.avg_pool2d(x, pool_size=[2, 2], strides=[2, 2])")
chain("convolution_of_a_signal", "x=1,8,n:float32 w=16,8,3:float32",
      "y = R.nn.conv1d(x, w, strides=[2], padding=[1, 1])", "out = R.nn.gelu(y)")
chain("channels_last", "x=2,8,8,16:float16 w=3,3,16,32:float16 b=1,1,1,32:float16",
      "y = R.nn.conv2d(x, w, padding=[1, 1, 1, 1], data_layout='NHWC', kernel_layout='HWIO')",
      "z = R.add(y, b)", "out = R.nn.silu(z)")
chain("embedding", "w=100,24:float16 i=n:int32", "y = R.take(w, i, axis=0)",
      "out = R.reshape(y, R.shape([1, n, 24]))")
chain("turned", "x=2,n,48:float16", "out = R.permute_dims(x, [0, 2, 1])")
chain("greatest", "x=n,50:float32", "out = R.argmax(x, axis=-1)")


def four_bits(rows, columns, inner):
    """x[rows, inner] times weights of four bits, eight in a number, that are scaled in groups of 32;
    rows: the text of a size. The weights lie by columns, as decoding wants them."""
    size = "    n = T.int64()\n" if rows == "n" else ""
    return from_source(f"""
@T.prim_func(private=True, s_tir=True)
def main(x: T.handle, Q: T.Buffer((T.int64({columns}), T.int64({inner // 8})), "uint32"),
         S: T.Buffer((T.int64({columns}), T.int64({inner // 32})), "float16"), y: T.handle):
    T.func_attr({{"tirx.noalias": True}})
{size}    X = T.match_buffer(x, (T.int64(1), {rows}, T.int64({inner})), "float16")
    Y = T.match_buffer(y, (T.int64(1), {rows}, T.int64({columns})), "float16")
    W = T.sblock_alloc_buffer((T.int64({columns}), T.int64({inner})), "float16")
    for i, j in T.grid(T.int64({columns}), T.int64({inner})):
        with T.sblock("dequantize"):
            vi, vj = T.axis.remap("SS", [i, j])
            W[vi, vj] = (T.Cast("float16", T.bitwise_and(T.shift_right(
                Q[vi, vj // T.int64(8)], T.Cast("uint32", vj % T.int64(8) * T.int64(4))),
                T.uint32(15))) - T.float16(7)) * S[vi, vj // T.int64(32)]
    for a, i, j, k in T.grid(T.int64(1), {rows}, T.int64({columns}), T.int64({inner})):
        with T.sblock("product"):
            va, vi, vj, vk = T.axis.remap("SSSR", [a, i, j, k])
            with T.init():
                Y[va, vi, vj] = T.float16(0)
            Y[va, vi, vj] = Y[va, vi, vj] + X[va, vi, vk] * W[vj, vk]
""")


def split_inner(columns, inner):
    """The same with weights that lie by rows, for any number of rows of x."""
    return from_source(f"""
@T.prim_func(private=True, s_tir=True)
def main(x: T.handle, W: T.Buffer((T.int64({inner}), T.int64({columns})), "float16"), y: T.handle):
    T.func_attr({{"tirx.noalias": True}})
    n = T.int64()
    X = T.match_buffer(x, (T.int64(1), n, T.int64({inner})), "float16")
    Y = T.match_buffer(y, (T.int64(1), n, T.int64({columns})), "float16")
    for a, i, j, k in T.grid(T.int64(1), n, T.int64({columns}), T.int64({inner})):
        with T.sblock("product"):
            va, vi, vj, vk = T.axis.remap("SSSR", [a, i, j, k])
            with T.init():
                Y[va, vi, vj] = T.float16(0)
            Y[va, vi, vj] = Y[va, vi, vj] + X[va, vi, vk] * W[vk, vj]
""")


def module(func):
    return tvm.IRModule({"main": func.with_attr("global_symbol", "main")})


MODELS["four_bits_any_rows"] = lambda: module(four_bits("n", 64, 128))
MODELS["four_bits_one_row"] = lambda: module(four_bits("T.int64(1)", 64, 128))
MODELS["weights_by_rows"] = lambda: module(split_inner(128, 64))
