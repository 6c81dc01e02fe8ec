"""What the models of the zoo are built with: a graph that grows by nodes, as exporters write them.

Weights come from the net's seed, so a model is the same in every run. Shapes are not tracked: where
an exporter would ask a tensor for its shape, the model does.
"""
import numpy
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
LEAST = float(numpy.finfo("float32").min)


class Net:
    """A model in the making, and what to feed it with."""

    def __init__(self, opset, seed=1):
        self.opset, self.rng = opset, numpy.random.default_rng(seed)
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self.feeds = []  # one dict for each run
        self.tolerance = 1e-4

    # ---- values ----

    def input(self, name, shape, dtype=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, *names):
        self.outputs += names

    def held(self, array):
        """An initializer."""
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def weight(self, *shape, gain=1.0):
        """Weights that keep the size of what goes through: the sum runs over all but `shape[0]`."""
        fan = max(int(numpy.prod(shape[1:])), 1)
        return self.held(self.numbers(*shape) * numpy.float32(gain / numpy.sqrt(fan)))

    def numbers(self, *shape):
        return self.rng.standard_normal(shape).astype("float32")

    def around(self, centre, *shape, spread=0.1):
        return self.held((centre + spread * self.rng.standard_normal(shape)).astype("float32"))

    def const(self, value, dtype="int64"):
        """A Constant node, as PyTorch's exporter makes of every number."""
        return self.op("Constant", value=numpy_helper.from_array(numpy.array(value, dtype)))

    def number(self, value):
        return self.const(value, "float32")

    # ---- nodes ----

    def op(self, kind, *inputs, count=1, domain="", **attributes):
        """Its output, or the list of several."""
        at = len(self.nodes)
        names = [f"{kind.lower()}_{at}" + (f"_{i}" if count > 1 else "") for i in range(count)]
        known = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(kind, list(inputs), names, f"/{kind}_{at}",
                                           domain=domain, **known))
        return names[0] if count == 1 else names

    def reduce(self, kind, x, axes, keep=1):
        """Axes are an attribute at first, then an input: of sums from 13 on, of the rest from 18."""
        if self.opset >= (13 if kind == "ReduceSum" else 18):
            return self.op(kind, x, self.const(axes), keepdims=keep)
        return self.op(kind, x, axes=axes, keepdims=keep)

    def unsqueeze(self, x, axes):
        if self.opset >= 13:
            return self.op("Unsqueeze", x, self.const(axes))
        return self.op("Unsqueeze", x, axes=axes)

    def squeeze(self, x, axes):
        if self.opset >= 13:
            return self.op("Squeeze", x, self.const(axes))
        return self.op("Squeeze", x, axes=axes)

    def size(self, x, axis):
        """x.size(axis): a scalar."""
        return self.op("Gather", self.op("Shape", x), self.const(axis), axis=0)

    def shape_of(self, *parts):
        """[*parts]: numbers, and scalars that the model computes."""
        items = [self.const([p]) if isinstance(p, int) else self.unsqueeze(p, [0]) for p in parts]
        return self.op("Concat", *items, axis=0)

    def view(self, x, *parts):
        return self.op("Reshape", x, self.shape_of(*parts))

    def slice(self, x, axis, begin, end, step=None):
        words = [v if isinstance(v, str) else self.const([v]) for v in (begin, end)]
        more = [self.const([step])] if step else []
        return self.op("Slice", x, *words, self.const([axis]), *more)

    # ---- layers ----

    def linear(self, x, wide, out, bias=True):
        """nn.Linear on a matrix."""
        extra = [self.around(0, out)] if bias else []
        return self.op("Gemm", x, self.weight(out, wide), *extra, transB=1)

    def project(self, x, wide, out, bias=True):
        """nn.Linear on more dimensions: MatMul with the turned weight, then Add."""
        weight = self.held(self.numbers(wide, out) / numpy.float32(numpy.sqrt(wide)))
        y = self.op("MatMul", x, weight)
        return self.op("Add", self.around(0, out), y) if bias else y

    def conv(self, x, wide, out, kernel=3, stride=1, pad=None, group=1, bias=True, dilation=1):
        pad = dilation * (kernel // 2) if pad is None else pad
        extra = [self.around(0, out)] if bias else []
        return self.op("Conv", x, self.weight(out, wide // group, kernel, kernel, gain=1.4), *extra,
                       kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=group,
                       dilations=[dilation] * 2)

    def norm(self, x, channels):
        """nn.BatchNorm2d."""
        variance = self.held((0.5 + self.rng.random(channels)).astype("float32"))
        return self.op("BatchNormalization", x, self.around(1, channels), self.around(0, channels),
                       self.around(0, channels), variance, epsilon=1e-5, momentum=0.9)

    def conv_norm(self, x, wide, out, act="Relu", **options):
        y = self.norm(self.conv(x, wide, out, bias=False, **options), out)
        return self.activate(y, act)

    def activate(self, x, kind):
        if kind is None:
            return x
        own = {"relu6": self.relu6, "gelu": self.gelu, "hardswish": self.hard_swish,
               "silu": self.silu, "tanh_gelu": self.tanh_gelu}
        return own[kind](x) if kind in own else self.op(kind, x)

    def relu6(self, x):
        if self.opset < 11:
            return self.op("Clip", x, min=0.0, max=6.0)
        return self.op("Clip", x, self.number(0), self.number(6))

    def hard_swish(self, x):
        """As it stands before HardSwish is an operator."""
        if self.opset >= 14:
            return self.op("HardSwish", x)
        y = self.relu6(self.op("Add", x, self.number(3)))
        return self.op("Div", self.op("Mul", x, y), self.number(6))

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def gelu(self, x):
        if self.opset >= 20:
            return self.op("Gelu", x)
        y = self.op("Erf", self.op("Div", x, self.number(numpy.sqrt(2))))
        y = self.op("Mul", x, self.op("Add", y, self.number(1)))
        return self.op("Mul", y, self.number(0.5))

    def tanh_gelu(self, x):
        """GPT-2's."""
        y = self.op("Mul", self.op("Pow", x, self.number(3)), self.number(0.044715))
        y = self.op("Mul", self.op("Add", x, y), self.number(0.7978845608))
        y = self.op("Add", self.op("Tanh", y), self.number(1))
        return self.op("Mul", self.op("Mul", x, self.number(0.5)), y)

    def layer_norm(self, x, wide):
        scale, shift = self.around(1, wide), self.around(0, wide)
        if self.opset >= 17:
            return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)
        away = self.op("Sub", x, self.reduce("ReduceMean", x, [-1]))
        square = self.op("Pow", away, self.number(2))
        spread = self.op("Add", self.reduce("ReduceMean", square, [-1]), self.number(1e-5))
        y = self.op("Div", away, self.op("Sqrt", spread))
        return self.op("Add", self.op("Mul", y, scale), shift)

    def rms_norm(self, x, wide):
        square = self.reduce("ReduceMean", self.op("Pow", x, self.number(2)), [-1])
        root = self.op("Sqrt", self.op("Add", square, self.number(1e-6)))
        y = self.op("Mul", x, self.op("Div", self.number(1), root))
        return self.op("Mul", self.around(1, wide), y)

    # ---- the model ----

    def model(self):
        graph = helper.make_graph(self.nodes, "zoo", self.inputs, [], self.initializers)
        graph.output.extend(self.output_infos())
        model = helper.make_model(graph, producer_name="zoo",
                                  opset_imports=[helper.make_opsetid("", self.opset)] +
                                  [helper.make_opsetid(d, 1) for d in self.domains()])
        model.ir_version = 8 if self.opset < 21 else 10
        return model

    def domains(self):
        return sorted({node.domain for node in self.nodes} - {""})

    def output_infos(self):
        """Names alone: what shapes they have follows."""
        made = []
        for name in self.outputs:
            info = helper.ValueInfoProto()
            info.name = name
            made.append(info)
        return made
