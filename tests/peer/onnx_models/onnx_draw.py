"""What random ONNX models are made of: shapes, numbers, nodes and their inputs.

A Case grows by nodes; every value has its numbers, so that whoever draws the next node knows shapes
and contents. Numbers come in three flavours: plain ones, plain ones among edges of their type (NaN,
infinities, zeros of both signs, subnormals, the least and the greatest), and ones of any magnitude.
bfloat16 is drawn as float32 of which a case casts what its node takes and gives (onnx_short.py).
Not drawn: strings, sequences.
"""
import math

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

NUMPY_OF = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16",
            "tensor(int8)": "int8", "tensor(int16)": "int16", "tensor(int32)": "int32",
            "tensor(int64)": "int64", "tensor(uint8)": "uint8", "tensor(uint16)": "uint16",
            "tensor(uint32)": "uint32", "tensor(uint64)": "uint64", "tensor(bool)": "bool"}
NEWEST_OPSET = 26  # that onnxruntime reads; Hone reads 28
OLDEST_OPSET = 7   # that onnxruntime reads
FLAVOURS = ("plain", "plain", "edges", "wide")
SYMBOL = "size"


class Value:
    """A tensor of the model by name; its numbers; whether the file holds them."""

    def __init__(self, name, array, is_constant=False):
        self.name, self.array, self.is_constant = name, array, is_constant
        self.is_exact = False  # results do not move with it, but change their shape
        self.is_sparse = False  # the file has no zeros of it
        self.shape, self.dtype = array.shape, array.dtype.name
        self.rank = array.ndim


NONE = Value("", numpy.zeros(0))  # an input that is left out


def edges(dtype):
    if dtype == "bool":
        return [False, True]
    if numpy.dtype(dtype).kind == "f":
        info = numpy.finfo(dtype)
        return [0.0, -0.0, numpy.nan, numpy.inf, -numpy.inf, info.max, info.min, info.tiny,
                -info.smallest_subnormal, info.tiny / 2, 1, -1, 0.5, 1.5, 2.5, -2.5, -0.3]
    info = numpy.iinfo(dtype)
    return [info.min, info.max, info.min + 1, info.max - 1, 0, 1]


class Draw:
    """Numbers at random from one seed: those of a case depend on nothing else."""

    def __init__(self, seed):
        self.rng = numpy.random.default_rng(seed)
        self.edges = 0.3     # how many numbers are edges, where some are
        self.nothing = 0.004  # how often a dimension is 0

    def chance(self, likely):
        return self.rng.random() < likely

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def one_of(self, items):
        return items[self.between(0, len(items) - 1)]

    def real(self, low, high):
        return float(numpy.float32(self.rng.uniform(low, high)))

    def shape(self, low, high, most=600):
        """Dimensions of 1 and primes more often than others; rarely of 0, or long, or more than 5."""
        rank = self.between(low, high + 2 if high == 5 and self.chance(0.15) else high)
        sizes = (1, 2, 3, 4, 5, 7, 8, 17) if rank < 4 else (1, 2, 3, 4, 5)
        while True:
            shape = [self.one_of(sizes) for _ in range(rank)]
            if rank and self.chance(0.05):
                shape[self.between(0, rank - 1)] = self.one_of((31, 33, 64, 129, 257))
            if rank and self.chance(self.nothing):
                shape[self.between(0, rank - 1)] = 0
            if numpy.prod(shape) <= most:
                return shape

    def under(self, shape):
        """A shape that broadcasting makes this one of."""
        made = [1 if self.chance(0.2) else s for s in shape]
        return made[self.between(0, len(made)) if self.chance(0.3) else 0:]

    def numbers(self, shape, dtype, flavour="plain"):
        shape, kind = tuple(shape), numpy.dtype(dtype).kind
        if kind == "b":
            return self.rng.integers(0, 2, shape).astype(bool)
        if kind == "f":
            data = self.rng.standard_normal(shape) * self.one_of((0.3, 1, 4))
            if flavour == "wide":
                data = data * numpy.exp2(self.rng.uniform(-9, 9, shape))
        else:
            low = 0 if kind == "u" else -9
            data = self.rng.integers(low, 10, shape)
            if flavour == "wide":
                info = numpy.iinfo(dtype)
                data = self.rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        data = numpy.asarray(data).astype(dtype)
        if flavour == "edges":
            special = numpy.asarray(self.rng.choice(numpy.array(edges(dtype), dtype), shape))
            data = numpy.where(self.rng.random(shape) < self.edges, special, data)
        return data


class Case:
    """A model in the making, with what its inputs hold."""

    def __init__(self, seed, prefix="", opset=None):
        self.draw, self.seed, self.prefix, self.opset = Draw(seed), seed, prefix, opset
        self.nodes, self.inputs, self.constants, self.outputs = [], [], [], []
        self.is_listed = False  # constants stand among the inputs, too
        self.is_short = False  # floats are bfloat16 for Hone (onnx_short.py)
        self.op, self.schema, self.flavour = None, None, "plain"
        self.domain = ""
        self.derived = []  # by nodes before the one that is tried
        self.sizes = {}  # of inputs: (name, dimension) -> symbol
        self.shared = {}  # outputs that onnxruntime writes into inputs
        self.peer_nodes = None  # what onnxruntime is asked for in place of the nodes

    # ---- values ----

    def values(self):
        """What a node may be given."""
        return self.inputs + self.constants + self.derived

    def name(self, stem):
        return f"{self.prefix}{stem}{len(self.inputs) + len(self.constants) + len(self.nodes)}"

    def constant(self, array):
        """Numbers that stand in the file."""
        value = Value(self.name("k"), numpy.asarray(array), True)
        self.constants.append(value)
        return value

    def given(self, array):
        """Numbers that the caller gives."""
        value = Value(self.name("x"), numpy.asarray(array))
        self.inputs.append(value)
        return value

    def sparse(self, array):
        """Numbers that stand in the file without their zeros."""
        value = self.constant(array)
        value.is_sparse = True
        return value

    def holding(self, array, constant=0.2):
        """Numbers that stand in the file, or are given."""
        return self.constant(array) if self.draw.chance(constant) else self.given(array)

    def parameter(self, ints, dtype="int64"):
        """What operators take as numbers (axes, shapes): nearly always in the file; sizes may be a
        tensor's shape."""
        array = numpy.array(ints, dtype)
        is_shape = array.ndim == 1 and dtype == "int64" and (array >= 0).all() and math.prod(map(int, ints)) < 2000
        if is_shape and self.draw.chance(0.12):
            return self.shape_of(array)
        return self.holding(array, 0.75)

    def shape_of(self, sizes):
        """The sizes as a node's result."""
        data = self.given(numpy.zeros(sizes, "float32"))
        name = self.name("s")
        self.nodes.append(helper.make_node("Shape", [data.name], [name], name=name))
        self.derived.append(Value(name, sizes))
        return self.derived[-1]

    def tensor(self, shape, dtype, constant=0.2):
        """An operand of that shape."""
        return self.holding(self.draw.numbers(shape, dtype, self.flavour), constant)

    def data(self, low, high, dtype, most=600):
        """An operand of any shape with that many dimensions."""
        return self.tensor(self.draw.shape(low, high, most), dtype, 0.1)

    def own(self, value, array):
        """The operand with other numbers, of its type."""
        value.array = numpy.asarray(array).astype(value.dtype)
        return value

    # ---- types ----

    def types(self, index=0):
        """The types that the operator's input may have."""
        inputs = self.schema.inputs
        formal = inputs[min(index, len(inputs) - 1)]
        return sorted({NUMPY_OF[t] for t in formal.types if t in NUMPY_OF})

    def dtype(self, index=0):
        types = self.types(index)
        if "float32" in types and self.draw.chance(0.55):
            return "float32"
        return self.draw.one_of(types)

    # ---- nodes ----

    def node(self, inputs, outputs=1, **attributes):
        """Adds the operator; attributes that are None are left out."""
        inputs = [v.name for v in inputs]
        while inputs and not inputs[-1]:
            inputs.pop()
        names = [f"{self.name('y')}_{i}" for i in range(outputs)]
        known = {k: v for k, v in attributes.items() if v is not None}
        node = helper.make_node(self.op, inputs, names, name=names[0], domain=self.domain, **known)
        self.nodes.append(node)
        self.outputs += names
        return names

    def maybe(self, value, likely=0.7):
        """An attribute that is left out now and then."""
        return value if self.draw.chance(likely) else None

    # ---- the model ----

    def attribute(self, name, fallback=None):
        """Of the node that is tried: what it was given."""
        node = next(n for n in reversed(self.nodes) if self.op in (None, n.op_type))
        for attr in node.attribute:
            if attr.name == name:
                return helper.get_attribute_value(attr)
        return fallback

    def feeds(self):
        return {v.name: numpy.asarray(v.array) for v in self.inputs}

    def make_symbolic(self):
        """One extent, wherever inputs have it, becomes a name; or each does; or an input has sizes
        without names."""
        extents = sorted({s for v in self.inputs for s in v.shape if s > 1})
        if not extents:
            return
        form = self.draw.one_of(("one", "one", "each", "unnamed"))
        chosen = {self.draw.one_of(extents)} if form == "one" else set(extents)
        unnamed = self.draw.one_of(self.inputs) if form == "unnamed" else None
        for value in self.inputs:
            for d, s in enumerate(value.shape):
                if value is unnamed:
                    self.sizes[value.name, d] = None
                elif s in chosen and form != "unnamed":
                    self.sizes[value.name, d] = f"{self.prefix}{SYMBOL}{s if form == 'each' else ''}"

    def input_infos(self):
        infos = []
        for value in self.inputs:
            shape = [self.sizes.get((value.name, d), s) for d, s in enumerate(value.shape)]
            infos.append(helper.make_tensor_value_info(value.name, type_of(value), shape))
        return infos


def type_of(value):
    return helper.np_dtype_to_tensor_dtype(value.array.dtype)


def without_zeros(value):
    """As the file has it, with its name."""
    places = numpy.argwhere(value.array)
    values = numpy_helper.from_array(value.array[tuple(places.T)], value.name)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(places.astype("int64"), value.name + "_places"),
                                     value.shape)


def model_of(cases, overridable=False, nodes_of=lambda case: case.nodes):
    """One model of several cases, which share their opset; overridable: the floats in it are inputs
    with defaults, for whoever wants to see how results move with them; nodes_of: a case's nodes."""
    infos = [info for case in cases for info in case.input_infos()]
    constants = [v for case in cases for v in case.constants]
    if overridable:
        infos += [helper.make_tensor_value_info(v.name, type_of(v), v.shape) for v in constants
                  if v.array.dtype.kind == "f" and not v.is_sparse]
    else:
        infos += [helper.make_tensor_value_info(v.name, type_of(v), v.shape) for case in cases
                  if case.is_listed for v in case.constants if not v.is_sparse]
    outputs = [onnx.ValueInfoProto(name=name) for case in cases for name in case.outputs]
    graph = helper.make_graph([n for case in cases for n in nodes_of(case)], "random", infos, outputs,
                              [numpy_helper.from_array(numpy.asarray(v.array), v.name) for v in constants
                               if not v.is_sparse],
                              sparse_initializer=[without_zeros(v) for v in constants if v.is_sparse])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", cases[0].opset),
                                             helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 8 if cases[0].opset < 21 else 10
    return model


TENSOR_TYPES = {name: getattr(TensorProto, word) for name, word in (
    ("float32", "FLOAT"), ("float64", "DOUBLE"), ("float16", "FLOAT16"), ("int8", "INT8"),
    ("int16", "INT16"), ("int32", "INT32"), ("int64", "INT64"), ("uint8", "UINT8"),
    ("uint16", "UINT16"), ("uint32", "UINT32"), ("uint64", "UINT64"), ("bool", "BOOL"))}
