"""Nets at random, quantised by onnxruntime's tool, in Hone and in onnxruntime.

    python onnx_quantised.py [--count N] [--seed S] [--ways WAYS] [--out DIR]

Convolutions, pools, dense layers, products of activations, residuals and functions, 2 to 9 of them;
in pairs of QuantizeLinear and DequantizeLinear, in operators of whole numbers, or quantised when they
run (dynamic); types, axes of weights, symmetry and what is quantised at all by chance. What
onnxruntime gives without its optimisations is right, in 99.9 % of elements to two steps of 256
(onnx_zoo_quantised.py); where onnxruntime's own optimisations move more, halves that are rounded
either way grow, and twice as many may be off. Exit code 1: one is refused or differs; its model and inputs are left in DIR.
"""
import argparse
import logging
import os
import shutil
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantFormat, QuantType

import onnx_zoo
from onnx_zoo_quantised import Quantised

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hone_cli import FIRST_SEED, Hone  # noqa: E402

OPSET, SAMPLES = 13, 3
U8, S8 = QuantType.QUInt8, QuantType.QInt8
WIDE = {QuantType.QUInt16, QuantType.QInt16}


class RandomNet:
    """A net in the making: `name` is what the last layer gave, of `shape`."""

    outputs = ["y"]

    def __init__(self, seed):
        self.rng = numpy.random.default_rng(seed)
        self.nodes, self.weights, self.past = [], [], []
        self.name, self.shape = "x", self.input_shape()
        self.feeds = [{"x": self.numbers(self.shape)} for _ in range(SAMPLES)]
        self.first_shape = self.shape
        for _ in range(self.between(2, 9)):
            self.past.append((self.name, self.shape))
            self.one_of(LAYERS[len(self.shape)])(self)
        self.nodes.append(helper.make_node("Identity", [self.name], ["y"], name="last"))

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def one_of(self, items):
        return items[self.between(0, len(items) - 1)]

    def chance(self, likely):
        return self.rng.random() < likely

    def numbers(self, shape, size=1.0):
        return (self.rng.standard_normal(shape) * size).astype("float32")

    def input_shape(self):
        rows, width = self.between(1, 3), self.one_of((1, 3, 5, 8, 16, 17))
        side = self.one_of((4, 7, 9, 12))
        return self.one_of(((rows, width, side, side + 1), (rows, width), (rows, side, width)))

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def add(self, op, inputs, shape, **attributes):
        self.name, self.shape = f"t{len(self.nodes)}", tuple(int(s) for s in shape)
        self.nodes.append(helper.make_node(op, inputs, [self.name], name=self.name + op, **attributes))

    def model(self):
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                 for name, shape in (("x", self.first_shape), ("y", self.shape))]
        graph = helper.make_graph(self.nodes, "random", infos[:1], infos[1:], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


# ---- layers ----

def function(net):
    op, attributes = net.one_of((("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("LeakyRelu", {"alpha": 0.1}),
                                 ("HardSigmoid", {}), ("Softmax", {"axis": -1})))
    net.add(op, [net.name], net.shape, **attributes)


def clip(net):
    limits = [net.weight(numpy.float32(limit)) for limit in (0, net.one_of((1, 6)))]
    net.add("Clip", [net.name, *limits], net.shape)


def with_past(net):
    """Sums and products with what was there before, or with a constant."""
    fits = [name for name, shape in net.past if shape == net.shape]
    other = net.one_of(fits) if net.chance(0.6) else net.weight(net.numbers(net.shape[1:]))
    net.add(net.one_of(("Add", "Add", "Mul")), [net.name, other], net.shape)


def concat(net):
    """Beside what differs in this axis alone."""
    axis = net.between(1, len(net.shape) - 1)
    fits = [(name, shape) for name, shape in net.past if len(shape) == len(net.shape) and
            all(s == t for d, (s, t) in enumerate(zip(shape, net.shape)) if d != axis)]
    name, shape = net.one_of(fits + [(net.name, net.shape)])
    total = list(net.shape)
    total[axis] += shape[axis]
    net.add("Concat", [net.name, name], total, axis=axis)


def conv(net):
    rows, width, *space = net.shape
    kernel, stride, pad = net.one_of((1, 3)), net.one_of((1, 1, 2)), net.between(0, 1)
    group = net.one_of([g for g in (1, width) if g == 1 or net.chance(0.5)])
    made = group * net.between(1, 3) if group > 1 else net.one_of((2, 4, 8, 11))
    if min(space) + 2 * pad < kernel:
        return
    size = (width // group * kernel * kernel) ** -0.5
    inputs = [net.name, net.weight(net.numbers((made, width // group, kernel, kernel), size))]
    if net.chance(0.7):
        inputs.append(net.weight(net.numbers(made, 0.3)))
    shape = (rows, made, *((s + 2 * pad - kernel) // stride + 1 for s in space))
    net.add("Conv", inputs, shape, kernel_shape=[kernel, kernel], strides=[stride, stride],
            pads=[pad] * 4, group=group)


def pool(net):
    rows, width, *space = net.shape
    if min(space) < 2 or net.chance(0.2):
        net.add("GlobalAveragePool", [net.name], (rows, width, 1, 1))
        return
    net.add(net.one_of(("MaxPool", "AveragePool")), [net.name], (rows, width, *(s // 2 for s in space)),
            kernel_shape=[2, 2], strides=[2, 2])


def resize(net):
    if net.shape[2] > 14:
        return
    sizes = net.weight(numpy.array([1, 1, 2, 2], "float32"))
    net.add("Resize", [net.name, "", sizes], (*net.shape[:2], *(2 * s for s in net.shape[2:])),
            mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def flatten(net):
    shape = (net.shape[0], int(numpy.prod(net.shape[1:])))
    net.add("Reshape", [net.name, net.weight(numpy.array(shape, "int64"))], shape)


def dense(net):
    width, made = net.shape[-1], net.one_of((1, 4, 10, 16))
    weights = net.numbers((width, made), width ** -0.5)
    if len(net.shape) == 2 and net.chance(0.5):
        turned = net.chance(0.5)
        inputs = [net.weight(weights.T.copy() if turned else weights), net.weight(net.numbers(made, 0.3))]
        net.add("Gemm", [net.name, *inputs], (net.shape[0], made), transB=int(turned))
        return
    net.add("MatMul", [net.name, net.weight(weights)], (*net.shape[:-1], made))


def attend(net):
    """Rows beside rows."""
    name, (count, rows, width) = net.name, net.shape
    net.add("Transpose", [name], (count, width, rows), perm=[0, 2, 1])
    net.add("MatMul", [name, net.name], (count, rows, rows))


def turn(net):
    net.add("Transpose", [net.name], (net.shape[0], net.shape[2], net.shape[1]), perm=[0, 2, 1])


COMMON = (function, clip, with_past, concat)
LAYERS = {4: (conv, conv, conv, pool, resize, flatten, *COMMON), 2: (dense, dense, *COMMON),
          3: (dense, dense, attend, turn, flatten, *COMMON)}


# ---- how it is quantised ----

def options_of(net):
    """What the tool is told. Whole products are of seven bits (onnx_zoo_quantised.py)."""
    if net.chance(0.2):
        return {"dynamic": True, "weight_type": net.one_of((U8, S8)), "per_channel": net.chance(0.3)}
    is_paired = net.chance(0.75)
    pairs = ((U8, S8), (S8, S8), (U8, U8)) + ((QuantType.QInt16, S8), (QuantType.QUInt16, U8)) * is_paired
    activation, weight = net.one_of(pairs)
    extra = {"ActivationSymmetric": net.chance(0.3), "WeightSymmetric": net.chance(0.7)}
    if activation in WIDE:
        extra["UseQDQContribOps"] = True
    if is_paired and net.chance(0.3):
        extra["DedicatedQDQPair"] = True
    return {"quant_format": QuantFormat.QDQ if is_paired else QuantFormat.QOperator,
            "activation_type": activation, "weight_type": weight, "extra_options": extra,
            "per_channel": weight == S8 and net.chance(0.4)}


def share_of(made, model):
    """How many elements must be near, by those that are when onnxruntime optimises."""
    plain, optimised = (onnx_zoo.expected(model, made.feeds, made.outputs, level)
                        for level in (onnx_zoo.LEVELS.ORT_DISABLE_ALL, onnx_zoo.LEVELS.ORT_ENABLE_ALL))
    least = min(made.near(o, p) for (o,), (p,) in zip(optimised, plain))
    return min(made.share, 1 - 2 * (1 - least))


def quantised(seed):
    """A net of the zoo, or None and why the tool or onnxruntime refuses."""
    net = RandomNet(seed)
    made = Quantised(net, **options_of(net))
    try:
        model = made.model()
        made.share = share_of(made, model)
    except Exception as error:  # pylint: disable=broad-except
        return None, str(error).strip().split("\n")[0]
    made.model = lambda: model
    return made, None


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--ways", default="interpreted,default")
    parser.add_argument("--out", default="build/check_peer/onnx_quantised")
    return parser.parse_args()


def main():
    options = parse()
    logging.disable(logging.WARNING)
    hone, refused, wrong = Hone(), 0, 0
    for seed in range(options.seed, options.seed + options.count):
        made, reason = quantised(seed)
        if made is None:
            refused += 1
            print(f"seed {seed}: onnxruntime refuses: {reason[:160]}", file=sys.stderr)
            continue
        folder = os.path.join(options.out, str(seed))
        lines = list(onnx_zoo.compare(onnx_zoo.Subject(made, folder), hone, options.ways.split(",")))
        for line in lines:
            print(f"seed {seed}: {line}", flush=True)
        wrong += bool(lines)
        if not lines:
            shutil.rmtree(folder)
    print(f"quantised nets: {options.count}, {refused} refused by onnxruntime, {wrong} wrong")
    sys.exit(1 if wrong or 2 * refused > options.count else 0)


if __name__ == "__main__":
    main()
