"""How far two results of one model may be apart.

What is moved, compared, chosen, or computed in whole numbers is the same; what is rounded once (sums
and products of two floats) too. Functions and sums have room for a few units in the last place.
Beyond that counts how the model answers to small changes: its float inputs and constants are moved by
a few units (float16: one) at random, and where results move with them, they may be off by as much,
times a factor: so what cancels, or stands near a step, is judged by itself. In graphs, what
comes out of each function and sum is moved as well (noisy).
"""
import copy

import numpy
import onnx
from onnx import helper

import onnx_short
from onnx_draw import Value
from onnx_peer import results, session_of

EXACT = set("""Identity Dropout Reshape Flatten Squeeze Unsqueeze Transpose DepthToSpace SpaceToDepth
Expand Concat Split Slice Gather Pad Constant ConstantOfShape Shape Size Where Relu Abs Neg Floor Ceil
Round Sign Max Min Clip ThresholdedRelu Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Not
Cast CastLike ArgMax ArgMin ReduceMax ReduceMin MaxPool GlobalMaxPool Add Sub Mul Div Sqrt
GatherElements GatherND Scatter ScatterElements ScatterND TopK ReverseSequence OneHot Hardmax Compress
EyeLike Trilu Tile IsNaN IsInf BitShift BitwiseAnd BitwiseOr BitwiseXor BitwiseNot MaxUnpool NonZero Unique
NonMaxSuppression MaxpoolWithMask SampleOp""".split())
UNITS = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}
FUNCTION_UNITS = {"float16": 1, "float32": 16, "float64": 64}
# Their steps, in Hone or in onnxruntime, are right to some units of 1 rather than of the result.
OF_ONE = set("""GridSample Resize DFT STFT HannWindow HammingWindow BlackmanWindow LSTM GRU RNN Celu
Elu Selu Gelu Sigmoid Softplus Tanh HardSwish LogSoftmax SoftmaxCrossEntropyLoss BiasGelu FastGelu
QuickGelu Mish Swish AttnLSTM WordConvEmbedding MoE QMoE FusedConv FusedGemm CDist ScaledSiLU GatedRMSNorm LinearAttentionGate EngramGate""".split())
# What is quantised may be the number beside: scales are multiplied in another order.
STEPS = set("""QLinearAdd QLinearMul QLinearSigmoid QLinearLeakyRelu QLinearSoftmax QLinearConv QGemm
QLinearAveragePool QLinearGlobalAveragePool QLinearConcat QLinearWhere""".split())

def unit_of(case, dtype):
    """Of numbers near 1, and how many of it functions may be off."""
    if case.is_short and dtype.name == "float32":
        return onnx_short.UNIT, 1
    return UNITS[dtype.name], FUNCTION_UNITS[dtype.name]


MOVES = 10   # how often the inputs are moved
FACTOR = 16  # of what results move


NOISE = "_noise"


def noise_of(graph, node, value):
    """Some units of it; terms may be larger than their sum: as what is added to it."""
    terms = max(numpy.abs(v.array).mean() for v in graph.values() if v.array.size and
                v.dtype == value.dtype and v.name in (*node.input, value.name))
    size = numpy.abs(value.array) + terms + (node.op_type in OF_ONE)
    noise = numpy.asarray(2 * UNITS[value.dtype] * size)
    return Value(value.name + NOISE, noise.astype(value.dtype))


def noisy(graph):
    """The graph with some units of noise behind each node that is not exact."""
    made = copy.copy(graph)
    made.nodes, made.inputs, made.sizes = [], list(graph.inputs), {}
    for node in graph.nodes:
        results = [v for v in graph.made if v.name in node.output and v.array.dtype.kind == "f"]
        if node.op_type in EXACT or not results:
            made.nodes.append(node)
            continue
        exact = onnx.NodeProto()
        exact.CopyFrom(node)
        made.nodes.append(exact)
        for value in results:
            exact.output[list(node.output).index(value.name)] += "_exact"
            noise = noise_of(graph, node, value)
            made.inputs.append(noise)
            for d in range(value.rank):  # onnxruntime may infer other shapes than it computes
                made.sizes[noise.name, d] = f"{noise.name}{d}"
            made.nodes.append(helper.make_node("Add", [value.name + "_exact", noise.name], [value.name]))
    return made


class Moves:
    """How far results move with the inputs; found out when somebody asks."""

    def __init__(self, case, want):
        self.case, self.want, self.found = case, want, None
        self.exact = {v.name for v in case.values() if v.is_exact}

    def moved(self, name, array, rng):
        if array.dtype.name not in UNITS or name in self.exact:  # whole numbers, and the shortest floats
            return array
        if name.endswith(NOISE):
            return numpy.asarray(array * rng.choice((-1, 1), array.shape).astype(array.dtype))
        unit = unit_of(self.case, array.dtype)[0]
        with numpy.errstate(all="ignore"):
            factor = 1 + rng.choice((-2 * unit, 2 * unit), array.shape)
            return numpy.asarray((array.astype("float64") * factor).astype(array.dtype))

    def run(self):
        rng = numpy.random.default_rng(self.case.seed)
        case = self.case if self.case.op else noisy(self.case)
        session = session_of(case, True)
        feeds = self.feeds(case)
        found = [numpy.zeros(w.shape) for w in self.want]
        for _ in range(MOVES):
            given = {k: self.moved(k, v, rng) for k, v in feeds.items()}
            for most, one, want in zip(found, results(case, session, given), self.want):
                one = numpy.asarray(one)
                away = numpy.asarray(numpy.abs(one.astype("float64") - want.astype("float64")))
                away[(one == want) | (numpy.isnan(one) & numpy.isnan(want))] = 0
                away[numpy.isnan(away)] = numpy.inf
                numpy.maximum(most, away, out=most)
        return found

    def overflows(self, number):
        """Where sums of magnitudes leave the type: which partial sums do is a matter of order."""
        feeds = {k: numpy.asarray(numpy.abs(numpy.where(numpy.isfinite(v), v, 0)))
                 for k, v in self.feeds(self.case).items()}
        session = session_of(self.case, True)
        sums = numpy.abs(session.run(self.case.outputs, feeds)[number])
        return ~(sums <= 0.2 * numpy.finfo(sums.dtype).max)

    def feeds(self, case):
        """What can be given: inputs, and floats of the file."""
        return {**case.feeds(), **{v.name: numpy.asarray(v.array) for v in case.constants
                                   if v.array.dtype.name in UNITS and not v.is_exact and not v.is_sparse}}

    def of(self, number):
        if self.found is None:
            self.found = self.run()
        return self.found[number]


def same(got, want):
    """The same numbers; of zeros the signs may differ."""
    if want.dtype.kind != "f":
        return got == want
    return (got == want) | (numpy.isnan(got) & numpy.isnan(want))


def largest(array):
    return float(numpy.abs(array[numpy.isfinite(array)]).max(initial=0))


def scale_of(case):
    """What the steps of OF_ONE are multiplied with; sums of waves are as large as what is summed."""
    if case.op in ("DFT", "STFT"):  # of lengths that are no power of two onnxruntime's are sums of sums
        reals = [v.array for v in case.values() if v.array.dtype.kind == "f"]
        widest = max(1, *map(largest, reals), 1) if case.op == "STFT" else 1  # a window's numbers
        return 4 * widest * max(1, *(float(numpy.abs(array).sum()) for array in reals))
    if case.op in ("Swish", "QuickGelu"):  # onnxruntime's sigmoid, times the element
        data = next(v.array for v in case.values() if v.name == case.nodes[-1].input[0])
        return numpy.maximum(1, numpy.abs(numpy.where(numpy.isfinite(data), data, 0)).astype("float64"))
    if case.op == "GatedRMSNorm":  # the gate times what is normalised
        _, scale, gate = (next(v.array for v in case.values() if v.name == name) for name in case.nodes[-1].input)
        return max(1, largest(scale) * scale.size ** 0.5) * max(1, largest(gate))
    if case.op == "CDist":  # onnxruntime takes what is twice the product off the squares
        return max(1.0, sum(float((v.array.astype("float64") ** 2).sum(axis=-1).max()) for v in case.values()
                            if v.name in case.nodes[-1].input))
    if case.op == "GridSample":  # places are right to units of 1, between elements of any size
        return max(1.0, *(largest(v.array) for v in case.values() if v.name == case.nodes[-1].input[0]), 1.0)
    if case.op in ("LSTM", "GRU", "RNN"):  # gates are multiplied with states, these with the weights of the next step
        states = [v.array for v in case.values() if v.name in case.nodes[-1].input[5:7]]
        weights = [numpy.abs(v.array).sum(axis=-1) for v in case.values() if v.name == case.nodes[-1].input[2]]
        return max(1, *map(largest, states), 1) * (1 + max(map(largest, weights)))
    return max(1, *(abs(case.attribute(name, 1.7)) for name in ("alpha", "gamma"))) ** 2


def within(got, want, bound):
    a, b = got.astype("float64"), want.astype("float64")
    return numpy.isfinite(a) & numpy.isfinite(b) & (numpy.abs(a - b) <= bound)


def good_places(case, number, got, want, moves):
    """Where an output is right."""
    good = numpy.asarray(same(got, want))
    if good.all():
        return good
    if case.domain and case.op in STEPS and want.dtype.kind in "iu":
        return within(got, want, 1)
    if want.dtype.kind == "f" and case.op not in EXACT:
        unit, units = unit_of(case, want.dtype)
        least = float(numpy.finfo(want.dtype).tiny)  # subnormal numbers may be taken as zero
        bound = units * unit * numpy.abs(want.astype("float64")) + least
        if case.op in OF_ONE:
            bound = bound + 4 * unit * scale_of(case)
        good |= within(got, want, bound)
        if good.all():
            return good
        bound = bound + FACTOR * moves.of(number)
        good |= within(got, want, bound) | numpy.isinf(bound)
    elif case.op is None:
        good |= moves.of(number) > 0
    return good


def words(number, got, want, good):
    place = tuple(int(x) for x in numpy.argwhere(~good)[0])
    return (f"output {number}{list(place)} is {got[place]!r}, right is {want[place]!r}; "
            f"{int((~good).sum())} of {good.size}")
