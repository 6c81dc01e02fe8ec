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
    from onnx import TensorProto, helper
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
    # A padding of 0 ends the dims.
    channels, size, filters, kernel, stride, groups = dims[:6]
    padding = dims[6] if len(dims) > 6 else 0
    out = (size + 2 * padding - kernel) // stride + 1
    node = helper.make_node(
        "Conv",
        ["in0", "in1"],
        ["out0"],
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[padding] * 4,
        group=groups,
    )
    weight = [filters, channels // groups, kernel, kernel]
    return [[1, channels, size, size], weight], [1, filters, out, out], [node]


# A builder gives shapes of inputs, shape of the output, nodes from in0, in1, ... to out0; and
# optionally the inputs' and the output's dtypes.
BUILDERS = {"matmul": matmul, "dense": dense, "batch_matmul": batch_matmul, "conv2d": conv2d}


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
    for line in sys.stdin:
        count = int(line)
        start = time.perf_counter_ns()
        for _ in range(count):
            run(binding)
        print((time.perf_counter_ns() - start) / count, flush=True)


main()
