"""Several nodes at once, as exporters write them, for random graphs (onnx_graphs.py): attention,
quantised layers, moves of layout, chains that end in a reduction, values used often, and control
flow whose bodies take values from outside.

A pattern adds nodes to a graph with `add`, whose result it is given with its numbers. They are of
operator sets from FIRST_OPSET on.
"""
import numpy
import onnx
from onnx import TensorProto, helper

FIRST_OPSET = 13
KIND = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16}
STEPS = ("Tanh", "Sigmoid", "Relu", "Abs", "Neg", "Erf", "Softplus", "Floor")
FOLDS = ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL2", "ReduceSumSquare")


def floats(g, low, high, most=400):
    return g.data(low, high, "float32", most)


def ints(g, numbers):
    return g.constant(numpy.array(numbers, "int64"))


def attention(g):
    b, h, s, t, d = (g.draw.between(1, 4) for _ in range(5))
    q, k, v = (g.tensor(shape, "float32") for shape in ([b, h, s, d], [b, h, t, d], [b, h, t, d]))
    turned = g.add("Transpose", [k], perm=[0, 1, 3, 2])
    scores = g.add("MatMul", [q, turned])
    scores = g.add(g.draw.one_of(("Mul", "Div")), [scores, g.constant(numpy.float32(d**0.5))])
    if g.draw.chance(0.6):
        mask = numpy.where(g.draw.rng.random([s, t]) < 0.3, -1e4, 0).astype("float32")
        scores = g.add("Add", [scores, g.constant(mask)])
    mixed = g.add("MatMul", [g.add("Softmax", [scores], axis=-1), v])
    merged = g.add("Transpose", [mixed], perm=[0, 2, 1, 3])
    g.add("Reshape", [merged, ints(g, [b, s, h * d] if g.draw.chance(0.5) else [0, 0, -1])])


def steps_of(g, value, kind, number=0.05):
    """There and back: what a quantiser writes around tensors."""
    scale, zero = g.constant(numpy.float32(number)), g.constant(numpy.array(g.draw.between(0, 9), kind))
    return g.add("DequantizeLinear", [g.add("QuantizeLinear", [value, scale, zero]), scale, zero])


def quantised(g):
    kind = g.draw.one_of(("uint8", "int8"))
    if g.draw.chance(0.5):
        n, k, m = (g.draw.between(1, 8) for _ in range(3))
        x, w, shape = g.tensor([n, k], "float32"), "MatMul", [k, m]
    else:
        c, m = g.draw.between(1, 4), g.draw.between(1, 4)
        x, w, shape = g.tensor([1, c, 5, 4], "float32"), "Conv", [m, c, 3, 2]
    x = steps_of(g, x, kind)
    weight = g.constant(g.draw.rng.integers(-100, 100, shape).astype("int8"))
    scale, zero = g.constant(numpy.float32(0.01)), g.constant(numpy.int8(0))
    y = g.add(w, [x, g.add("DequantizeLinear", [weight, scale, zero])])
    if g.draw.chance(0.5):
        y = g.add("Relu", [y])
    y = steps_of(g, y, kind, 0.1)
    if g.draw.chance(0.5):
        steps_of(g, g.add("Add", [y, y]), kind, 0.2)


def layout(g):
    x = floats(g, 2, 4)
    for _ in range(g.draw.between(2, 5)):
        form = g.draw.one_of(("turn", "flat", "join", "cut", "edge", "split", "lead"))
        rank = x.array.ndim
        axis = g.draw.between(0, rank - 1)
        if form == "turn":
            x = g.add("Transpose", [x], perm=[int(a) for a in g.draw.rng.permutation(rank)])
        elif form == "flat" and rank > 1:
            x = g.add("Reshape", [x, ints(g, [*x.shape[:-2], -1])])
        elif form == "join" and x.array.size < 300:
            x = g.add("Concat", [x, x] if g.draw.chance(0.5) else [x, g.add("Neg", [x])], axis=axis)
        elif form == "cut" and x.shape[axis] > 1:
            x = g.add("Slice", [x, ints(g, [1]), ints(g, [g.draw.one_of((1000, x.shape[axis]))]), ints(g, [axis])])
        elif form == "edge" and x.array.size < 300:
            x = g.add("Pad", [x, ints(g, [g.draw.between(0, 1) for _ in range(2 * rank)])])
        elif form == "split" and x.shape[axis] > 1:
            x = g.add("Split", [x, ints(g, [1, x.shape[axis] - 1])], outputs=2, axis=axis)
        elif form == "lead" and rank < 5:
            x = g.add("Unsqueeze", [x, ints(g, [axis])])


def chain(g, x, count):
    for _ in range(count):
        x = g.add(g.draw.one_of(STEPS), [x])
        if g.draw.chance(0.3):
            x = g.add(g.draw.one_of(("Add", "Mul", "Sub", "Max")), [x, g.constant(
                g.draw.numbers(x.shape[-1:], "float32"))])
    return x


def folded(g):
    x = chain(g, floats(g, 1, 4), g.draw.between(1, 3))
    axes = sorted({g.draw.between(0, x.array.ndim - 1) for _ in range(2)})
    op = g.draw.one_of(FOLDS)
    is_input = g.opset >= (13 if op == "ReduceSum" else 18)
    y = g.add(op, [x, ints(g, axes)], keepdims=1) if is_input else g.add(op, [x], axes=axes, keepdims=1)
    g.add(g.draw.one_of(("Sub", "Mul", "Add")), [x, y])


def shared(g):
    x = floats(g, 0, 4)
    gate = g.add("Sigmoid", [x])
    product = g.add("Mul", [x, gate])
    other = g.add("Tanh", [gate])
    g.add("Add", [g.add("Add", [product, other]), x])


# ---- control flow ----

def info(value, name):
    return helper.make_tensor_value_info(name, KIND[value.dtype], value.shape)


def body_nodes(g, source, stem, outside):
    """Some steps behind a name, with a value from outside: the nodes and the name of the last."""
    nodes, at = [], source
    for i in range(g.draw.between(1, 3)):
        name = g.name(stem)
        if i == 0 or g.draw.chance(0.4):
            op, inputs = g.draw.one_of(("Add", "Mul", "Sub")), [at, outside.name]
        else:
            op, inputs = g.draw.one_of(("Tanh", "Sigmoid", "Abs", "Neg")), [at]
        nodes.append(helper.make_node(op, inputs, [name], name=name))
        at = name
    return nodes, at


def branch(g):
    x = floats(g, 0, 4)
    other = g.tensor(x.shape, "float32")
    if g.draw.chance(0.4):
        condition = g.given(numpy.array(g.draw.chance(0.5)))
    else:
        most = g.add("ReduceMax", [x], keepdims=0)
        condition = g.add("Greater", [most, g.constant(numpy.float32(g.draw.real(-1, 1)))])
    parts = {}
    for word in ("then_branch", "else_branch"):
        nodes, last = body_nodes(g, x.name, "b", other)
        parts[word] = helper.make_graph(nodes, word, [], [info(x, last)])
    g.add("If", [condition], **parts)


def loop(g):
    x = floats(g, 0, 3)
    other = g.tensor(x.shape, "float32")
    turns = g.holding_any(numpy.array(g.draw.between(0, 4)))
    state, going, still = (g.name(s) for s in "sgn")
    turn = g.name("i")
    nodes, last = body_nodes(g, state, "b", other)
    calm = g.name("b")
    nodes += [helper.make_node("Tanh", [last], [calm]), helper.make_node("Identity", [going], [still])]
    outputs = [helper.make_tensor_value_info(still, TensorProto.BOOL, []), info(x, calm)]
    scans = g.draw.chance(0.4) and turns.array > 0
    if scans:
        kept = g.name("k")
        nodes.append(helper.make_node("Neg", [last], [kept]))
        outputs.append(info(x, kept))
    inputs = [helper.make_tensor_value_info(turn, TensorProto.INT64, []),
              helper.make_tensor_value_info(going, TensorProto.BOOL, []), info(x, state)]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    g.add("Loop", [turns, None, x], outputs=2 if scans else 1, body=body)


def scan(g):
    x = floats(g, 2, 3)
    row = numpy.zeros(x.shape[1:], "float32")
    first = g.tensor(row.shape, "float32")
    state, item, total, given = (g.name(s) for s in "sito")
    nodes = [helper.make_node("Add", [state, item], [total + "a"]),
             helper.make_node("Tanh", [total + "a"], [total]),
             helper.make_node("Mul", [total, item], [given])]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, row.shape)
             for n in (state, item, total, given)]
    body = helper.make_graph(nodes, "body", infos[:2], infos[2:])
    g.add("Scan", [first, x], outputs=2, body=body, num_scan_inputs=1,
          scan_input_directions=[g.draw.between(0, 1)])


PATTERNS = (attention, quantised, layout, layout, folded, folded, shared, branch, loop, scan)


def names_of(node):
    """What a node reads, its bodies too."""
    found = {name for name in node.input if name}
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            for inner in attribute.g.node:
                found |= names_of(inner)
    return found
