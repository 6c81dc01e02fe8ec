"""More work for GPUs' schedules, small enough to be interpreted: products of half floats and bytes
in sizes that matrix units divide, and not; convolutions with channels last; rows."""
from tvm import te, topi
from tvm.s_tir.meta_schedule.testing import te_workload

from sketches import func, relu, te_of


def product(m, n, k, from_type, to_type, *, turned=False, epilogue=False):
    def build():
        a = te.placeholder((m, k), from_type, name="A")
        b = te.placeholder((n, k) if turned else (k, n), from_type, name="B")
        r = te.reduce_axis((0, k), name="k")
        c = te.compute((m, n), lambda i, j: te.sum(
            a[i, r].astype(to_type) * (b[j, r] if turned else b[r, j]).astype(to_type), axis=r), name="C")
        return func([a, b, relu(c) if epilogue else c])
    return build


def batched(count, m, n, k, dtype, to_type):
    def build():
        a, b = te.placeholder((count, m, k), dtype, name="A"), te.placeholder((count, k, n), dtype, name="B")
        r = te.reduce_axis((0, k), name="k")
        return func([a, b, te.compute((count, m, n), lambda x, i, j: te.sum(
            a[x, i, r].astype(to_type) * b[x, r, j].astype(to_type), axis=r), name="C")])
    return build


def convolution(dtype, to_type, stride):
    return te_of(te_workload.conv2d_nhwc, 1, 10, 10, 16, 32, 3, stride, 1, 1, 1, dtype, to_type)


def rows(make, *shape):
    def build():
        x = te.placeholder(shape, name="X")
        return func([x, make(x)])
    return build


def dense_gelu():
    x, w = te.placeholder((32, 64), name="X"), te.placeholder((48, 64), name="W")
    bias = te.placeholder((48,), name="bias")
    y = topi.add(topi.nn.dense(x, w), bias)
    return func([x, w, bias, topi.multiply(y, topi.sigmoid(topi.multiply(y, 1.702)))])


WORKLOADS = {
    "half_64": product(64, 64, 64, "float16", "float32"),
    "half_128_relu": product(128, 64, 96, "float16", "float16", epilogue=True),
    "half_turned": product(64, 128, 64, "float16", "float32", turned=True),
    "half_odd": product(37, 50, 29, "float16", "float32"),
    "bytes_64": product(64, 64, 64, "int8", "int32"),
    "bytes_turned": product(64, 96, 64, "int8", "int32", turned=True, epilogue=False),
    "float_96": product(96, 64, 80, "float32", "float32", epilogue=True),
    "float_turned": product(33, 65, 40, "float32", "float32", turned=True),
    "double": product(24, 40, 16, "float64", "float64"),
    "heads_half": batched(4, 32, 32, 32, "float16", "float32"),
    "heads_float": batched(3, 20, 36, 24, "float32", "float32"),
    "windows_half": convolution("float16", "float32", 1),
    "windows_float": convolution("float32", "float32", 2),
    "dense_gelu": dense_gelu,
    "sum_columns": rows(lambda x: topi.sum(x, axis=0), 96, 40),
    "mean_middle": rows(lambda x: topi.mean(x, axis=1), 6, 50, 24),
    "softmax_long": rows(topi.nn.softmax, 3, 700),
    "log_softmax": rows(topi.nn.log_softmax, 12, 33),
    "argmax": rows(lambda x: topi.argmax(x, axis=1), 9, 130),
    "turn": rows(lambda x: topi.transpose(x, (0, 2, 1)), 3, 34, 70),
    "average_pool": rows(lambda x: topi.nn.pool2d(x, [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], "avg"), 2, 6, 12, 12),
    "gelu_rows": rows(lambda x: topi.multiply(x, topi.sigmoid(x)), 64, 65),
    "resize": rows(lambda x: topi.image.resize2d(x, (0.0, 0.0, 0.0, 0.0), (10, 14), layout="NCHW", method="linear"), 1, 3, 5, 7),
    "scan": rows(lambda x: topi.cumsum(x, axis=1), 4, 20),
}
