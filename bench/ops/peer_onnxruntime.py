"""onnxruntime beside bench_ops: builds one model, then times runs on request.

usage: peer_onnxruntime.py KIND THREADS CONSTANT DIM...     (in a directory with in0.bin, in1.bin, ...)

CONSTANT is the number, from 1, of the input that is an initialiser; 0 = all are given at run time.
Says "ready" when out0.bin holds the first result, "skip REASON" when there is none. Then each line
"N" is answered with the nanoseconds that one of N runs took.
"""

import sys
import time

import numpy as np

try:
    import onnx
    import onnxruntime
    from onnx import helper
except ImportError as error:
    print("skip", str(error), "(scripts/peers onnxruntime)", flush=True)
    sys.exit(0)


def matmul(dims):
    batch, m, n, k = dims
    return [[m, k], [k, n]], [m, n], [helper.make_node("MatMul", ["in0", "in1"], ["out0"])]


def dense(dims):
    batch, m, n, k = dims
    nodes = [
        helper.make_node("Gemm", ["in0", "in1", "in2"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["out0"]),
    ]
    return [[m, k], [k, n], [n]], [m, n], nodes


def batch_matmul(dims):
    batch, m, n, k = dims
    nodes = [helper.make_node("MatMul", ["in0", "in1"], ["out0"])]
    return [[batch, m, k], [batch, k, n]], [batch, m, n], nodes


def conv2d(dims):
    # Zeros at the end are left out.
    dims = dims + [0] * (10 - len(dims))
    channels, height, filters, kernel, stride, groups, padding, width, count, dilation = dims
    width, count, dilation = width or height, count or 1, dilation or 1
    reach = (kernel - 1) * dilation + 1
    out = [(size + 2 * padding - reach) // stride + 1 for size in (height, width)]
    node = helper.make_node(
        "Conv",
        ["in0", "in1"],
        ["out0"],
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[padding] * 4,
        dilations=[dilation, dilation],
        group=groups,
    )
    weight = [filters, channels // groups, kernel, kernel]
    return [[count, channels, height, width], weight], [count, filters, *out], [node]


def make_constant(name, values, dtype=np.float32):
    array = onnx.numpy_helper.from_array(np.array(values, dtype=dtype))
    return helper.make_node("Constant", [], [name], value=array)


def softmax(dims):
    return [dims], dims, [helper.make_node("Softmax", ["in0"], ["out0"], axis=1)]


def layernorm(dims):
    node = helper.make_node(
        "LayerNormalization", ["in0", "in1", "in2"], ["out0"], axis=1, epsilon=1e-5
    )
    return [dims, dims[1:], dims[1:]], dims, [node]


def gelu(dims):  # onnxruntime makes its own Gelu of this
    nodes = [
        make_constant("root", 2**0.5),
        make_constant("one", 1),
        make_constant("half", 0.5),
        helper.make_node("Div", ["in0", "root"], ["a"]),
        helper.make_node("Erf", ["a"], ["b"]),
        helper.make_node("Add", ["b", "one"], ["c"]),
        helper.make_node("Mul", ["in0", "c"], ["d"]),
        helper.make_node("Mul", ["d", "half"], ["out0"]),
    ]
    return [dims], dims, nodes


def chain(dims):
    nodes = [
        helper.make_node("Mul", ["in0", "in1"], ["a"]),
        helper.make_node("Add", ["a", "in2"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Sigmoid", ["in0"], ["d"]),
        helper.make_node("Mul", ["c", "d"], ["out0"]),
    ]
    return [dims] * 3, dims, nodes


def reduce_sum(dims):
    rows, columns, what = dims
    axes = {1: [1], 2: [0], 3: [0, 1]}[what]
    out = {1: [rows], 2: [columns], 3: [1]}[what]
    shape = make_constant("shape", out, np.int64)
    nodes = [
        make_constant("axes", axes, np.int64),
        helper.make_node("ReduceSum", ["in0", "axes"], ["out0"], keepdims=0),
    ]
    if what == 3:
        nodes[1] = helper.make_node("ReduceSum", ["in0", "axes"], ["a"], keepdims=0)
        nodes += [shape, helper.make_node("Reshape", ["a", "shape"], ["out0"])]
    return [[rows, columns]], out, nodes


def transpose(dims):
    return [dims], dims[::-1], [helper.make_node("Transpose", ["in0"], ["out0"], perm=[1, 0])]


def pool(dims):
    # Zeros at the end are left out.
    count, channels, height, width, kernel, stride, padding, is_mean = dims + [0] * (8 - len(dims))
    out = [(size + 2 * padding - kernel) // stride + 1 for size in (height, width)]
    more = {"count_include_pad": 1} if is_mean else {}
    node = helper.make_node(
        "AveragePool" if is_mean else "MaxPool",
        ["in0"],
        ["out0"],
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[padding] * 4,
        **more,
    )
    return [[count, channels, height, width]], [count, channels, *out], [node]


def permute(dims):
    sizes, order = dims[:4], [d - 1 for d in dims[4:]]
    nodes = [helper.make_node("Transpose", ["in0"], ["out0"], perm=order)]
    return [sizes], [sizes[d] for d in order], nodes


def bytes_matmul(dims):
    m, n, k, signs = dims
    node = helper.make_node("MatMulInteger", ["in0", "in1"], ["out0"])
    dtypes = [np.int8 if signs == 2 else np.uint8, np.int8]
    return [[m, k], [k, n]], [m, n], [node], dtypes, np.int32


# A builder gives shapes of inputs, shape of the output, nodes from in0, in1, ... to out0; and
# optionally the inputs' and the output's dtypes.
BUILDERS = {
    "matmul": matmul,
    "dense": dense,
    "batch_matmul": batch_matmul,
    "conv2d": conv2d,
    "softmax": softmax,
    "layernorm": layernorm,
    "gelu": gelu,
    "chain": chain,
    "sum": reduce_sum,
    "transpose": transpose,
    "pool": pool,
    "permute": permute,
    "bytes_matmul": bytes_matmul,
}


def main():
    kind, threads, constant = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if kind not in BUILDERS:
        print("skip no builder for", kind, flush=True)
        return
    built = BUILDERS[kind]([int(d) for d in sys.argv[4:]])
    shapes, out_shape, nodes = built[:3]
    dtypes = built[3] if len(built) > 3 else [np.float32] * len(shapes)
    out_dtype = built[4] if len(built) > 4 else np.float32
    arrays = [
        np.fromfile(f"in{i}.bin", dtype=dtype).reshape(shape)
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes))
    ]
    to_onnx = helper.np_dtype_to_tensor_dtype
    values = [
        helper.make_tensor_value_info(f"in{i}", to_onnx(np.dtype(a.dtype)), a.shape)
        for i, a in enumerate(arrays)
    ]
    is_constant = [constant > 0 and i >= constant - 1 for i in range(len(arrays))]
    graph = helper.make_graph(
        nodes,
        "peer",
        [v for i, v in enumerate(values) if not is_constant[i]],
        [helper.make_tensor_value_info("out0", to_onnx(np.dtype(out_dtype)), out_shape)],
        [onnx.numpy_helper.from_array(a, f"in{i}") for i, a in enumerate(arrays) if is_constant[i]],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    for i, a in enumerate(arrays):
        if not is_constant[i]:
            binding.bind_ortvalue_input(f"in{i}", onnxruntime.OrtValue.ortvalue_from_numpy(a))
    out = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(out_shape, out_dtype))
    binding.bind_ortvalue_output("out0", out)
    session.run_with_iobinding(binding)
    out.numpy().tofile("out0.bin")
    print("ready", flush=True)
    run = session.run_with_iobinding
    now = time.thread_time_ns if threads == 1 else time.perf_counter_ns
    for line in sys.stdin:
        count = int(line)
        start = now()
        for _ in range(count):
            run(binding)
        print((now() - start) / count, flush=True)


main()
