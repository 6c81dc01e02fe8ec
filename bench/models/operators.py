#!/usr/bin/env python3
"""Single operators of odd sizes, default schedules, beside onnxruntime: time over onnxruntime's.

    python bench/models/operators.py [--build build/release]… [--threads N] [--target TARGET]
                                     [--rounds N] [WORK …]

A WORK is a part of a name in WORKS. Each is a model of one operator, or a few, compiled by each
build; times are the least of turns, of CPU time with one thread, ratios their median. Results are
compared first. Wants onnxruntime and onnx (`scripts/peers onnxruntime`).
"""
import argparse
import os
import sys
import tempfile
import time

import numpy
import onnx
from onnx import helper, numpy_helper

import run

OPSET = 18
RNG = numpy.random.default_rng(1)
TYPES = {"f": "float32", "u": "uint8", "s": "int8", "h": "float16", "i": "int64"}
LINE = 64  # bytes; vectors that cross lines take twice as long


def numbers(kind, shape):
    """At random, where a line of the cache begins."""
    dtype = numpy.dtype(TYPES[kind])
    size = int(numpy.prod(shape))
    room = numpy.empty(size * dtype.itemsize + LINE, "uint8")
    begin = -room.ctypes.data % LINE
    out = room[begin:begin + size * dtype.itemsize].view(dtype).reshape(shape)
    if kind in "us":
        info = numpy.iinfo(dtype)
        out[...] = RNG.integers(info.min, info.max, shape)
    else:
        out[...] = RNG.random(shape) - 0.5
    return out


class Work:
    """A model that is written down node by node, and what it is fed."""

    def __init__(self):
        self.nodes, self.inputs, self.weights, self.feed = [], [], [], {}
        self.opset = OPSET

    def input(self, *shape, kind="f"):
        name, data = f"x{len(self.inputs)}", numbers(kind, shape)
        dtype = helper.np_dtype_to_tensor_dtype(data.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        self.feed[name] = data
        return name

    def weight(self, *shape, kind="f"):
        return self.constant(numbers(kind, shape))

    def constant(self, data):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(data), name))
        return name

    def op(self, kind, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, list(inputs), [f"t{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def model(self):
        result = helper.make_empty_tensor_value_info(self.nodes[-1].output[0])
        graph = helper.make_graph(self.nodes, "work", self.inputs, [result], self.weights)
        domains = {"": self.opset, **{n.domain: 1 for n in self.nodes if n.domain}}
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*d) for d in domains.items()])
        model.ir_version = 10
        return onnx.shape_inference.infer_shapes(model)


def gemm(m, k, n, a=0, b=0, constant=False):
    def build(w):
        shape = (n, k) if b else (k, n)
        right = w.weight(*shape) if constant else w.input(*shape)
        w.op("Gemm", w.input(*((k, m) if a else (m, k))), right, transA=a, transB=b)
    return build


def batched(batch, m, k, n, turned=False):
    def build(w):
        right = w.input(batch, n, k) if turned else w.input(batch, k, n)
        right = w.op("Transpose", right, perm=[0, 2, 1]) if turned else right
        w.op("MatMul", w.input(batch, m, k), right)
    return build


def attention(w):
    scores = w.op("MatMul", w.input(12, 197, 64),
                  w.op("Transpose", w.input(12, 197, 64), perm=[0, 2, 1]))
    scores = w.op("Mul", scores, w.constant(numpy.float32(0.125)))
    w.op("MatMul", w.op("Softmax", scores, axis=-1), w.input(12, 197, 64))


def conv(x, f, kind="Conv", constant=True, pad=0, **attributes):
    def build(w):
        filters = w.weight(*f) if constant else w.input(*f)
        spatial = len(x) - 2
        w.op(kind, w.input(*x), filters, kernel_shape=f[2:], pads=[pad] * 2 * spatial, **attributes)
    return build


def bytes_product(m, k, n, constant=True, zero=None):
    def build(w):
        right = w.weight(k, n, kind="s") if constant else w.input(k, n, kind="s")
        zeros = [w.constant(numpy.uint8(3)), w.constant(numpy.int8(zero))] if zero else []
        w.op("MatMulInteger", w.input(m, k, kind="u"), right, *zeros)
    return build


def bytes_conv(x, f, pad=0, stride=1):
    def build(w):
        scale, zero = [w.constant(numpy.float32(0.02)), w.constant(numpy.uint8(120))], numpy.int8(0)
        w.op("QLinearConv", w.input(*x, kind="u"), *scale, w.weight(*f, kind="s"), scale[0],
             w.constant(zero), *scale, kernel_shape=f[2:], pads=[pad] * 4, strides=[stride] * 2)
    return build


def rows(kind, *shape, of="f", **attributes):
    return lambda w: w.op(kind, w.input(*shape, kind=of), **attributes)


def enlarged(*shape, scales):
    words = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return lambda w: w.op("Resize", w.input(*shape), "", w.constant(numpy.float32(scales)), **words)


def reduced(kind, axes, *shape):
    return lambda w: w.op(kind, w.input(*shape), w.constant(numpy.array(axes)), keepdims=0)


def normed(kind, channels, *shape, **attributes):
    return lambda w: w.op(kind, w.input(*shape), w.weight(channels), w.weight(channels), **attributes)


def running(axis, *shape):
    return lambda w: w.op("CumSum", w.input(*shape), w.constant(numpy.int64(axis)))


def top(count, *shape):
    def build(w):
        w.op("TopK", w.input(*shape), w.constant(numpy.array([count], "int64")))
        w.nodes[-1].output.append("places")
    return build


def boxes(batches, classes, count, most, least, places=None):
    """Suppression of boxes of 640x640, around some places or anywhere; most scores are low."""
    def build(w):
        middle = RNG.random((batches, count, 2)) * 640
        if places:
            around = RNG.random((places, 2)) * 640
            middle = around[RNG.integers(0, places, (batches, count))] + middle / 40
        size = RNG.random((batches, count, 2)) * 80 + 10
        corners, scores = w.input(batches, count, 4), w.input(batches, classes, count)
        w.feed[corners][...] = numpy.concatenate([middle - size / 2, middle + size / 2], -1)
        w.feed[scores][...] = RNG.random((batches, classes, count)) ** 4
        w.op("NonMaxSuppression", corners, scores, w.constant(numpy.array([most], "int64")),
             w.constant(numpy.array([0.5], "float32")), w.constant(numpy.array([least], "float32")))
    return build


WORKS = {
    "matmul 257x1003x511": gemm(257, 1003, 511, constant=True),
    "matmul 1x2048x1111": gemm(1, 2048, 1111, constant=True),
    "matmul 1x2048x1111, run time": gemm(1, 2048, 1111),
    "matmul 1x777x1001, run time": gemm(1, 777, 1001),
    "matmul 301x257x203, A turned": gemm(301, 257, 203, a=1),
    "matmul 301x257x203, B turned": gemm(301, 257, 203, b=1),
    "matmul 301x257x203, both turned": gemm(301, 257, 203, a=1, b=1),
    "matmul 7x900x333, B turned": gemm(7, 900, 333, b=1),
    "12 matmuls 197x64x197, B turned": batched(12, 197, 64, 197, turned=True),
    "50 matmuls 33x17x29": batched(50, 33, 17, 29),
    "attention 12x197x64": attention,
    "conv 128x28, 3x3, 32 groups": conv((1, 128, 28, 28), (128, 4, 3, 3), pad=1, group=32),
    "conv 64x31 to 96, 3x3 by 2, 4 groups": conv((1, 64, 31, 31), (96, 16, 3, 3), pad=1, group=4,
                                                 strides=[2, 2]),
    "conv 40x37 to 56, 3x3 dilated": conv((1, 40, 37, 37), (56, 40, 3, 3), pad=2, dilations=[2, 2]),
    "conv 33x57x45 to 50, 5x5 by 2": conv((1, 33, 57, 45), (50, 33, 5, 5), pad=2, strides=[2, 2]),
    "conv 1d 64x1000 to 80, 9": conv((1, 64, 1000), (80, 64, 9), pad=4),
    "conv 3d 16x9x21x21 to 24, 3": conv((1, 16, 9, 21, 21), (24, 16, 3, 3, 3), pad=1),
    "depthwise 72x29, 7x7": conv((1, 72, 29, 29), (72, 1, 7, 7), pad=3, group=72),
    "transposed 40x19 to 24, 4x4 by 2": conv((1, 40, 19, 19), (40, 24, 4, 4), "ConvTranspose", pad=1,
                                             strides=[2, 2]),
    "transposed 32x20 to 32, 3x3 by 2": conv((1, 32, 20, 20), (32, 32, 3, 3), "ConvTranspose", pad=1,
                                             strides=[2, 2], output_padding=[1, 1]),
    "transposed 32x20, 3x3 by 2, run time": conv((1, 32, 20, 20), (32, 32, 3, 3), "ConvTranspose",
                                                 constant=False, pad=1, strides=[2, 2],
                                                 output_padding=[1, 1]),
    "transposed 64x33x31 to 32, 2x2 by 2": conv((1, 64, 33, 31), (64, 32, 2, 2), "ConvTranspose",
                                                strides=[2, 2]),
    "transposed 32x17x19 to 24, 3x3 by 2, 4 groups": conv((1, 32, 17, 19), (32, 6, 3, 3),
                                                          "ConvTranspose", pad=1, strides=[2, 2],
                                                          group=4),
    "transposed 20x15 to 30, 5x5 by 3": conv((1, 20, 15, 15), (20, 30, 5, 5), "ConvTranspose", pad=1,
                                             strides=[3, 3]),
    "bytes 129x311x203": bytes_product(129, 311, 203),
    "bytes 129x311x203, run time": bytes_product(129, 311, 203, constant=False),
    "bytes 64x255x257, zero points": bytes_product(64, 255, 257, zero=5),
    "bytes 1x770x1001": bytes_product(1, 770, 1001),
    "bytes conv 64x28 to 64, 3x3": bytes_conv((1, 64, 28, 28), (64, 64, 3, 3), pad=1),
    "bytes conv 100x14 to 200, 1x1": bytes_conv((1, 100, 14, 14), (200, 100, 1, 1)),
    "bytes conv 17x33x31 to 40, 5x5": bytes_conv((1, 17, 33, 31), (40, 17, 5, 5), pad=2),
    "bytes conv 5x56 to 40, 7x7": bytes_conv((1, 5, 56, 53), (40, 5, 7, 7), pad=3),
    "bytes conv 7x40 to 33, 5x5": bytes_conv((1, 7, 40, 37), (33, 7, 5, 5), pad=2),
    "bytes conv 3x112 to 64, 7x7 by 2": bytes_conv((1, 3, 112, 112), (64, 3, 7, 7), 3, 2),
    "softmax 3x197x197": rows("Softmax", 3, 197, 197, axis=-1),
    "softmax 1x12x128x128": rows("Softmax", 1, 12, 128, 128, axis=-1),
    "softmax 8x77x60, middle axis": rows("Softmax", 8, 77, 60, axis=1),
    "softmax 333x257 of float16": rows("Softmax", 333, 257, of="h", axis=-1),
    "largest of 3x3 by 2, 33x61x63 of float16": rows("MaxPool", 1, 33, 61, 63, of="h",
                                                     kernel_shape=[3, 3], strides=[2, 2]),
    "arg-max 333x257 of float16": rows("ArgMax", 333, 257, of="h", axis=1),
    "layer norm 197x768": normed("LayerNormalization", 768, 197, 768),
    "layer norm 2x197x768": normed("LayerNormalization", 768, 2, 197, 768),
    "instance norm 2x40x31x33": normed("InstanceNormalization", 40, 2, 40, 31, 33),
    "sum 50x70x90, axes 0 and 2": reduced("ReduceSum", [0, 2], 50, 70, 90),
    "sum 50x70x90, axes 1 and 2": reduced("ReduceSum", [1, 2], 50, 70, 90),
    "mean 16x500x33, middle axis": reduced("ReduceMean", [1], 16, 500, 33),
    "arg-max 8x100x60, middle axis": rows("ArgMax", 8, 100, 60, axis=1),
    "running sum 333x301, first axis": running(0, 333, 301),
    "running sum 8x100x60, middle axis": running(1, 8, 100, 60),
    "top 10 of 100x500": top(10, 100, 500),
    "top 5 of 1x100000": top(5, 1, 100000),
    "top 100 of 1x20001": top(100, 1, 20001),
    "top 1000 of 64x1000": top(1000, 64, 1000),
    "suppression of 1000 boxes": boxes(1, 1, 1000, 1000, 0),
    "suppression of 6300 around 200": boxes(1, 1, 6300, 300, 0.05, 200),
    "suppression of 80 times 1917": boxes(1, 80, 1917, 100, 0.01, 40),
    "suppression of 2 times 20 times 500": boxes(2, 20, 500, 50, 0.1),
    "determinants, 100 of 7x7": rows("Det", 100, 7, 7),
    "determinants, 20 of 20x20": rows("Det", 20, 20, 20),
    "unique of 10000": rows("Unique", 10000),
    "pool 512x13, all": rows("GlobalAveragePool", 2, 512, 13, 13),
    "largest of 3x3 by 2, 64x57": rows("MaxPool", 1, 64, 57, 57, kernel_shape=[3, 3], strides=[2, 2]),
    "transpose 6x50x33x40 to 0, 3, 1, 2": rows("Transpose", 6, 50, 33, 40, perm=[0, 3, 1, 2]),
    "transpose 6x50x33x40 to 3, 2, 1, 0": rows("Transpose", 6, 50, 33, 40, perm=[3, 2, 1, 0]),
    "transpose 301x203 of float16": rows("Transpose", 301, 203, of="h", perm=[1, 0]),
    "twice as large, 64x20x20": enlarged(1, 64, 20, 20, scales=(1, 1, 2, 2)),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("works", nargs="*", default=[""])
    parser.add_argument("--build", action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def settle(given):
    """As run.settle; default schedules, without pauses where nobody waits for a call."""
    run.settle(given)
    given.db = None
    run.PAUSE_S = 0 if given.threads == 1 else run.PAUSE_S


def in_turns(subjects, session, work, given, rounds):
    """Times of the builds and of onnxruntime, a row each, in seconds: CPU time with one thread."""
    clock = time.thread_time if given.threads == 1 else time.perf_counter
    calls = [s.call.run for s in subjects] + [lambda: session.run(None, work.feed)]
    return run.in_turns(calls, rounds, clock)


def measure(number, build, given, folder):
    """Least times of the builds and of onnxruntime in microseconds, and ratios of each build."""
    work = Work()
    build(work)
    path = os.path.join(folder, f"work{number}.onnx")
    onnx.save(work.model(), path)
    session = run.session_of(path, given.threads)
    subjects = [run.Subject(run.compiled(path, b, given), work.feed) for b in given.build]
    wanted = session.run(None, work.feed)
    for subject in subjects:
        difference = run.worst(subject.results(), wanted)
        if not difference < run.WORST:
            sys.exit(f"operators: {path} differs from onnxruntime by {difference:g}")
    times = in_turns(subjects, session, work, given, given.rounds)
    return times.min(axis=1) * 1e6, numpy.median(times[:-1] / times[-1], axis=1)


def main():
    given = arguments()
    settle(given)
    logs = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, build) in enumerate(WORKS.items()):
            if not any(part in name for part in given.works):
                continue
            least, ratios = measure(number, build, given, folder)
            ours = ", ".join(f"{us:8.1f}" for us in least[:-1])
            print(f"{name:38} {ours} us, onnxruntime {least[-1]:8.1f}; time over it "
                  + ", ".join(f"{r:.2f}" for r in ratios), flush=True)
            logs.append(numpy.log(ratios))
    means = numpy.exp(numpy.mean(logs, axis=0))
    print("geometric mean " + ", ".join(f"{m:.3f}" for m in means))


if __name__ == "__main__":
    main()
