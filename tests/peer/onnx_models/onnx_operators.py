"""How each operator of ONNX that Hone reads is drawn: inputs, attributes, versions.

TABLE has a generator per operator. It adds one node to a case (onnx_draw.py), whose `schema` is of
the version that is drawn. What an operator's version does not have yet is not drawn; what Hone or
onnxruntime does not implement is, and refused then.
"""
import numpy
from onnx import numpy_helper

from onnx_draw import NONE, TENSOR_TYPES


def since(case, version):
    return case.schema.since_version >= version


def axis_of(case, rank, past=0, negative_since=11):
    """An axis, also from the end."""
    if rank + past == 0:
        return 0
    axis = case.draw.between(0, rank - 1 + past)
    if case.draw.chance(0.4) and since(case, negative_since) and axis < rank:
        axis -= rank
    return axis


def some_axes(case, rank, least=0):
    axes = [a for a in range(rank) if case.draw.chance(0.5)]
    if len(axes) < least and rank:
        axes = [case.draw.between(0, rank - 1)]
    case.draw.rng.shuffle(axes)
    negative = case.draw.chance(0.4) and since(case, 11)
    return [int(a) - rank if negative and case.draw.chance(0.7) else int(a) for a in axes]


# ---- element by element ----

def unary(case):
    return case.node([case.data(0, 5, case.dtype())])


def shaped_unary(**ranges):
    """With numbers as attributes, within these limits."""
    def generate(case):
        words = {k: case.maybe(case.draw.real(*limits)) for k, limits in ranges.items()}
        return case.node([case.data(0, 5, case.dtype())], **words)
    return generate


def gelu(case):
    form = case.maybe(case.draw.one_of(("none", "tanh")))
    return case.node([case.data(0, 5, case.dtype())], approximate=form)


def pair(case, dtype, second=None):
    """Two operands that fit each other by broadcasting."""
    shape = case.draw.shape(0, 5)
    shapes = [shape, case.draw.under(shape)]
    case.draw.rng.shuffle(shapes)
    return [case.tensor(shapes[0], dtype), case.tensor(shapes[1], second or dtype)]


def binary(case):
    return case.node(pair(case, case.dtype()))


def dividing(case, operands):
    """Whole numbers that may be divided: by 0, and the least by -1, would end onnxruntime."""
    dividend, divisor = operands
    if numpy.dtype(divisor.dtype).kind not in "iu":
        return operands
    divisor = case.own(divisor, numpy.where(divisor.array == 0, 3, divisor.array))
    if numpy.dtype(divisor.dtype).kind == "i":
        least = numpy.iinfo(dividend.dtype).min
        dividend = case.own(dividend, numpy.maximum(dividend.array, least + 1))
    return [dividend, divisor]


def divide(case):
    return case.node(dividing(case, pair(case, case.dtype())))


def mod(case):
    operands = dividing(case, pair(case, case.dtype()))
    is_float = numpy.dtype(operands[0].dtype).kind == "f"
    return case.node(operands, fmod=1 if is_float or case.draw.chance(0.2) else case.maybe(0))


def power(case):
    base = case.dtype()
    second = case.draw.one_of(case.types(1)) if since(case, 12) and case.draw.chance(0.5) else base
    operands = pair(case, base, second)
    kind = numpy.dtype(second).kind
    if kind in "iu" and case.flavour != "edges":
        operands[1] = case.own(operands[1], operands[1].array % 5)
    elif kind == "f" and case.draw.chance(0.4):
        values = numpy.array([-1, -0.5, 0, 0.5, 1, 2, 3], second)
        operands[1] = case.own(operands[1], case.draw.rng.choice(values, operands[1].shape))
    return case.node(operands)


def prelu(case):
    dtype = case.dtype()
    data = case.data(0, 5, dtype)
    return case.node([data, case.tensor(case.draw.under(data.shape), dtype, 0.6)])


def variadic(case):
    shape, dtype = case.draw.shape(0, 4), case.dtype()
    count = case.draw.between(1, 4)
    return case.node([case.tensor(case.draw.under(shape) if i and since(case, 8) else shape, dtype)
                      for i in range(count)])


def where(case):
    shape = case.draw.shape(0, 5)
    dtype = case.dtype(1)
    shapes = [shape, case.draw.under(shape), case.draw.under(shape)]
    case.draw.rng.shuffle(shapes)
    return case.node([case.tensor(s, t) for s, t in zip(shapes, ("bool", dtype, dtype))])


def clip(case):
    dtype = case.dtype()
    data = case.data(0, 5, dtype)
    limits = [case.draw.numbers((), dtype, case.flavour if case.draw.chance(0.3) else "plain")
              for _ in range(2)]
    if not case.draw.chance(0.15):
        limits.sort()
    if not since(case, 11):
        return case.node([data], min=case.maybe(float(limits[0])), max=case.maybe(float(limits[1])))
    given = [case.holding(x, 0.6) if case.draw.chance(0.75) else NONE for x in limits]
    return case.node([data, *given])


def castable(case, data, to):
    """Floats that become whole numbers fit into them: what else comes out is left open."""
    kind, before = numpy.dtype(to).kind, numpy.dtype(data.dtype).kind
    if before != "f" or kind not in "iu":
        return data
    reach = 0.99 * min(numpy.iinfo(to).max, float(numpy.finfo(data.dtype).max), 2**30)
    fitting = numpy.nan_to_num(data.array.astype("float64"), nan=1.0)
    return case.own(data, numpy.clip(fitting, -reach if kind == "i" else 0, reach))


def cast(case):
    data = case.data(0, 5, case.dtype())
    to = case.draw.one_of(sorted(TENSOR_TYPES))
    data = castable(case, data, to)
    words = {"saturate": case.draw.between(0, 1)} if since(case, 19) and case.draw.chance(0.1) else {}
    return case.node([data], to=TENSOR_TYPES[to], **words)


def cast_like(case):
    data = case.data(0, 4, case.dtype())
    to = case.draw.one_of(sorted(TENSOR_TYPES))
    data = castable(case, data, to)
    return case.node([data, case.tensor(case.draw.shape(0, 2), to)])


# ---- products ----

def matmul(case):
    m, k, n = (case.draw.one_of((1, 2, 3, 5, 8, 17)) for _ in range(3))
    batch = case.draw.shape(0, 2, 12)
    left = [*case.draw.under(batch), m, k] if case.draw.chance(0.9) else [k]
    right = [*case.draw.under(batch), k, n] if case.draw.chance(0.9) else [k]
    dtype = case.dtype()
    return case.node([case.tensor(left, dtype), case.tensor(right, dtype, 0.4)])


def gemm(case):
    m, k, n = (case.draw.one_of((1, 2, 3, 5, 8, 17)) for _ in range(3))
    turns = [case.draw.between(0, 1) for _ in range(2)]
    dtype = case.dtype()
    operands = [case.tensor([k, m] if turns[0] else [m, k], dtype),
                case.tensor([n, k] if turns[1] else [k, n], dtype, 0.5)]
    if not since(case, 11) or case.draw.chance(0.75):
        operands.append(case.tensor(case.draw.under([m, n]), dtype, 0.5))
    numbers = {name: case.maybe(case.draw.one_of((0.0, 1.0, 0.5, -1.0, case.draw.real(-2, 2))), 0.5)
               for name in ("alpha", "beta")}
    return case.node(operands, transA=turns[0] or case.maybe(0), transB=turns[1] or case.maybe(0),
                     **numbers)


# ---- reductions ----

AXES_ARE_INPUTS = {"ReduceSum": 13}


def reduce(case):
    data = case.data(0, 5, case.dtype())
    axes = some_axes(case, data.rank)
    words = {"keepdims": case.maybe(case.draw.between(0, 1))}
    if not since(case, AXES_ARE_INPUTS.get(case.op, 18)):
        return case.node([data], axes=axes or None, **words)
    words["noop_with_empty_axes"] = case.maybe(case.draw.between(0, 1), 0.5)
    is_given = axes or case.draw.chance(0.3)
    return case.node([data, case.parameter(axes)] if is_given else [data], **words)


def arg_reduce(case):
    data = case.data(1, 5, case.dtype())
    words = {"select_last_index": case.draw.between(0, 1)} if since(case, 12) and \
        case.draw.chance(0.5) else {}
    return case.node([data], axis=case.maybe(axis_of(case, data.rank)),
                     keepdims=case.maybe(case.draw.between(0, 1)), **words)


# ---- windows ----

def window(case, extents, kernel, most_dilation):
    """strides, dilations, pads or auto_pad for windows that fit."""
    spatial = len(kernel)
    words = {"strides": case.maybe([case.draw.between(1, 3) for _ in range(spatial)])}
    dilations = [case.draw.between(1, most_dilation) for _ in range(spatial)]
    if most_dilation > 1:
        words["dilations"] = case.maybe(dilations, 0.5)
    if words.get("dilations") is None:
        dilations = [1] * spatial
    mode = case.draw.one_of(("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", None, None, None))
    words["auto_pad"] = mode
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    if mode in (None, "NOTSET"):
        pads = [case.draw.between(0, k - 1) for k in kernel] + \
            [case.draw.between(0, k - 1) for k in kernel]
        words["pads"] = case.maybe(pads)
        pads = words["pads"] or [0] * (2 * spatial)
        extents = [e + pads[i] + pads[i + spatial] for i, e in enumerate(extents)]
    fits = mode in ("SAME_UPPER", "SAME_LOWER") or all(e >= r for e, r in zip(extents, reach))
    return words if fits else None


def spatial_data(case, channels, dtype, least=1):
    spatial = case.draw.between(1, 3)
    sizes = ((1, 3, 7, 12, 20), (1, 3, 5, 8, 11), (1, 2, 4, 5))[spatial - 1]
    extents = [case.draw.one_of(sizes) for _ in range(spatial)]
    batch = case.draw.between(1, 3)
    return case.tensor([batch, channels, *(max(e, least) for e in extents)], dtype, 0.05)


def convolve(case):
    groups = case.draw.one_of((1, 1, 1, 2, 3))
    per_group, filters = case.draw.between(1, 3), groups * case.draw.between(1, 3)
    if case.draw.chance(0.2):
        groups, per_group = per_group * groups, 1  # depthwise
        filters = groups * case.draw.between(1, 2)
    dtype = case.dtype()
    data = spatial_data(case, groups * per_group, dtype)
    while True:
        kernel = [case.draw.between(1, 4) for _ in data.shape[2:]]
        words = window(case, data.shape[2:], kernel, 2)
        if words is not None:
            break
    operands = [data, case.tensor([filters, per_group, *kernel], dtype, 0.6)]
    if case.draw.chance(0.5):
        operands.append(case.tensor([filters], dtype, 0.7))
    return case.node(operands, group=groups if groups > 1 else case.maybe(1, 0.3),
                     kernel_shape=case.maybe(kernel), **words)


def pool(case):
    is_max = case.op == "MaxPool"
    data = spatial_data(case, case.draw.between(1, 3), case.dtype())
    has_dilations = since(case, 10 if is_max else 19)
    while True:
        kernel = [case.draw.between(1, 4) for _ in data.shape[2:]]
        words = window(case, data.shape[2:], kernel, 2 if has_dilations else 1)
        if words is not None:
            break
    if since(case, 10):
        words["ceil_mode"] = case.maybe(case.draw.between(0, 1), 0.5)
    if is_max and since(case, 8):
        words["storage_order"] = case.maybe(case.draw.between(0, 1), 0.2)
    elif not is_max:
        words["count_include_pad"] = case.maybe(case.draw.between(0, 1), 0.6)
    outputs = 2 if is_max and since(case, 8) and case.draw.chance(0.4) else 1
    return case.node([data], outputs, kernel_shape=kernel, **words)


def global_pool(case):
    return case.node([spatial_data(case, case.draw.between(1, 4), case.dtype())])


# ---- normalisations ----

def epsilon(case):
    return case.maybe(case.draw.one_of((1e-5, 1e-3, 1e-12, 0.1)), 0.6)


def batch_norm(case):
    dtype = case.dtype()
    data = case.data(2, 5, dtype)
    channels = [data.shape[1]]
    vectors = [case.tensor(channels, dtype, 0.7) for _ in range(4)]
    vectors[3] = case.own(vectors[3], numpy.abs(vectors[3].array))
    words = {"momentum": case.maybe(0.8, 0.2)}
    if since(case, 14):
        words["training_mode"] = case.maybe(int(case.draw.chance(0.5)), 0.4)
        if words["training_mode"]:  # onnxruntime writes the running ones over these
            vectors[2:] = [case.constant(v.array.copy()) for v in vectors[2:]]
    elif not since(case, 9):
        words["spatial"] = case.maybe(int(case.draw.chance(0.9)), 0.3)
    return case.node([data, *vectors], 3 if words.get("training_mode") else 1,
                     epsilon=epsilon(case), **words)


def layer_norm(case):
    dtype = case.dtype()
    data = case.data(1, 5, dtype)
    axis = case.maybe(axis_of(case, data.rank))
    first = -1 if axis is None else axis
    inner = data.shape[first:]
    shape = inner if case.draw.chance(0.7) else case.draw.under(inner)
    operands = [data, case.tensor(shape, dtype, 0.6)]
    if case.draw.chance(0.6):
        operands.append(case.tensor(shape if case.draw.chance(0.8) else inner, dtype, 0.6))
    return case.node(operands, 3 if case.draw.chance(0.3) else 1, axis=axis, epsilon=epsilon(case),
                     stash_type=case.maybe(1, 0.2))


def instance_norm(case):
    dtype = case.dtype()
    data = spatial_data(case, case.draw.between(1, 4), dtype, 2)
    vectors = [case.tensor([data.shape[1]], dtype, 0.7) for _ in range(2)]
    return case.node([data, *vectors], epsilon=epsilon(case))


def softmax(case):
    data = case.data(1 if since(case, 13) else 2, 5, case.dtype())
    return case.node([data], axis=case.maybe(axis_of(case, data.rank)))


def dropout(case):
    data = case.data(0, 4, case.dtype())
    outputs = 2 if case.draw.chance(0.1) else 1
    if not since(case, 12):
        return case.node([data], outputs, ratio=case.maybe(0.4))
    ratio = case.constant(numpy.array(0.3, case.types(1)[-1])) if case.draw.chance(0.5) else NONE
    training = case.parameter(0, "bool") if case.draw.chance(0.4) else NONE
    return case.node([data, ratio, training], outputs, seed=case.maybe(7, 0.2))


# ---- constants and shapes ----

def constant(case):
    forms = ["value"]
    if since(case, 12):
        forms += ["value_float", "value_floats", "value_int", "value_ints"]
    form = case.draw.one_of(forms)
    made = {
        "value": lambda: numpy_helper.from_array(numpy.asarray(case.draw.numbers(
            case.draw.shape(0, 4), case.draw.one_of(sorted(TENSOR_TYPES)), case.flavour))),
        "value_float": lambda: case.draw.real(-3, 3),
        "value_floats": lambda: [case.draw.real(-3, 3) for _ in range(case.draw.between(1, 4))],
        "value_int": lambda: case.draw.between(-9, 9),
        "value_ints": lambda: [case.draw.between(-9, 9) for _ in range(case.draw.between(1, 4))],
    }[form]()
    return case.node([], **{form: made})


def constant_of_shape(case):
    shape = case.parameter(case.draw.shape(0, 4))
    dtype = case.draw.one_of(sorted(TENSOR_TYPES))
    number = case.draw.numbers((1,), dtype, case.flavour)
    return case.node([shape], value=case.maybe(numpy_helper.from_array(number)))


def shape_of(case):
    data = case.data(0, 5, case.dtype())
    words = {}
    if since(case, 15):
        words = {k: case.maybe(case.draw.between(-6, 6), 0.5) for k in ("start", "end")}
    return case.node([data], **words)


# ---- moves ----

def factors(case, count):
    """Dimensions whose product is count."""
    made = []
    while count > 1:
        divisor = case.draw.one_of([d for d in range(2, count + 1) if count % d == 0])
        made.append(divisor)
        count //= divisor
    for _ in range(case.draw.between(0, 1)):
        made.insert(case.draw.between(0, len(made)), 1)
    return made


def reshape(case):
    data = case.data(0, 5, case.dtype())
    count = int(numpy.prod(data.shape))
    target = factors(case, count) if count else list(data.shape)
    if target and count and case.draw.chance(0.5):
        target[case.draw.between(0, len(target) - 1)] = -1
    for i, extent in enumerate(target[:data.rank]):
        if extent == data.shape[i] and case.draw.chance(0.5):
            target[i] = 0
    zero = case.maybe(0, 0.2) if since(case, 14) else None
    return case.node([data, case.parameter(target)], allowzero=zero)


def flatten(case):
    data = case.data(1, 5, case.dtype())
    return case.node([data], axis=case.maybe(axis_of(case, data.rank, 1)))


def with_axes(case, data, axes, is_optional):
    """Axes as an attribute, or since opset 13 as an input."""
    if is_optional and case.draw.chance(0.3):
        return case.node([data])
    if not since(case, 13):
        return case.node([data], axes=axes)
    return case.node([data, case.parameter(axes)])


def squeeze(case):
    shape = case.draw.shape(0, 5)
    shape = [1 if case.draw.chance(0.4) else s for s in shape]
    ones = [i for i, s in enumerate(shape) if s == 1]
    axes = [i for i in ones if case.draw.chance(0.7)]
    if since(case, 11) and case.draw.chance(0.4):
        axes = [a - len(shape) for a in axes]
    data = case.tensor(shape, case.dtype(), 0.1)
    if not axes:
        return case.node([data])
    return with_axes(case, data, axes, True)


def unsqueeze(case):
    data = case.data(0, 4, case.dtype())
    count = case.draw.between(1, 2)
    rank = data.rank + count
    axes = [int(a) for a in case.draw.rng.permutation(rank)[:count]]
    if since(case, 11) and case.draw.chance(0.4):
        axes = [a - rank for a in axes]
    return with_axes(case, data, axes, False)


def transpose(case):
    data = case.data(0, 6, case.dtype())
    order = [int(a) for a in case.draw.rng.permutation(data.rank)]
    return case.node([data], perm=case.maybe(order) if data.rank else None)


def depth_space(case):
    block = case.draw.between(1, 3)
    channels, height, width = (case.draw.between(1, 3) for _ in range(3))
    to_space = case.op == "DepthToSpace"
    shape = [channels * block * block, height, width] if to_space else \
        [channels, height * block, width * block]
    words = {"mode": case.maybe(case.draw.one_of(("DCR", "CRD")))} if to_space and since(case, 11) \
        else {}
    data = case.tensor([case.draw.between(1, 2), *shape], case.dtype(), 0.1)
    return case.node([data], blocksize=block, **words)


def expand(case):
    """Either side may have dimensions of 1."""
    target = case.draw.shape(0, 5)
    shape = case.draw.under(target)
    wanted, start = list(target), len(target) - len(shape)
    for i, extent in enumerate(shape):
        if extent == target[start + i] and case.draw.chance(0.2):
            wanted[start + i] = 1
    return case.node([case.tensor(shape, case.dtype()), case.parameter(wanted)])


def concat(case):
    shape, dtype = case.draw.shape(1, 5, 200), case.dtype()
    axis = axis_of(case, len(shape))
    parts = []
    for _ in range(case.draw.between(1, 4)):
        shape[axis] = case.draw.between(1, 4)
        parts.append(case.tensor(shape, dtype))
    return case.node(parts, axis=axis)


def parts_of(case, extent):
    """Sizes that add up to the extent."""
    cuts = sorted({case.draw.between(1, extent - 1) for _ in range(case.draw.between(1, 3))}) \
        if extent > 1 else []
    return [b - a for a, b in zip([0, *cuts], [*cuts, extent])]


def split(case):
    data = case.data(1, 4, case.dtype())
    axis = axis_of(case, data.rank)
    words = {"axis": axis if axis or case.draw.chance(0.5) else None}
    extent = data.shape[axis]
    if case.draw.chance(0.5) and extent:
        sizes = parts_of(case, extent)
        if not since(case, 13):
            return case.node([data], len(sizes), split=sizes, **words)
        return case.node([data, case.parameter(sizes)], len(sizes), **words)
    if since(case, 18):
        count = case.draw.one_of([n for n in range(1, 5) if -(-extent // n) * (n - 1) < extent] or [1])
        return case.node([data], count, num_outputs=count, **words)
    count = case.draw.one_of([n for n in range(1, 5) if extent % n == 0])
    return case.node([data], count, **words)


def place(case, extent):
    far = (2**63 - 1, -2**63 + 1, 2**31 - 1, -2**31, 1000, -1000)
    return case.draw.one_of(far) if case.draw.chance(0.15) else \
        case.draw.between(-extent - 2, extent + 2)


def piece(case, extent, has_steps):
    """A start, an end and a step that leave something, most of the time."""
    for _ in range(20):
        step = case.draw.one_of((1, 1, 2, 3, -1, -1, -2, 1000, -1000)) if has_steps else 1
        start, end = place(case, extent), place(case, extent)
        if step < 0 and end > extent + 2:
            continue  # nothing, says the standard; onnxruntime takes the greatest end for "all of it"
        if range(extent)[start:end:step] or case.draw.chance(0.02):
            return start, end, step
    return 0, extent, 1


def slice_(case):
    data = case.data(1, 5, case.dtype())
    axes = some_axes(case, data.rank, 1)
    is_all = case.draw.chance(0.25)
    if is_all:
        axes = list(range(case.draw.between(1, data.rank)))
    pieces = [piece(case, data.shape[a], since(case, 10)) for a in axes]
    starts, ends, steps = ([p[i] for p in pieces] for i in range(3))
    if not since(case, 10):
        axes = [a % data.rank for a in axes]
        return case.node([data], starts=starts, ends=ends, axes=None if is_all else axes)
    dtype = case.draw.one_of(("int64", "int64", "int32"))
    if dtype == "int32":
        starts, ends = ([max(-2**31, min(2**31 - 1, p)) for p in places]
                        for places in (starts, ends))
    lists = [case.parameter(starts, dtype), case.parameter(ends, dtype),
             NONE if is_all else case.parameter(axes, dtype)]
    if any(s != 1 for s in steps) or case.draw.chance(0.4):
        lists.append(case.parameter(steps, dtype))
    return case.node([data, *lists])


def gather(case):
    data = case.data(1, 4, case.dtype(), 300)
    axis = axis_of(case, data.rank)
    extent = data.shape[axis]
    low = -extent if since(case, 11) else 0
    dtype = case.draw.one_of(("int32", "int64"))
    shape = case.draw.shape(0, 2, 30)
    if not extent:
        shape = [0]
    places = case.draw.rng.integers(low, max(extent, low + 1), shape)
    indices = case.holding(numpy.asarray(places).astype(dtype), 0.4)
    return case.node([data, indices], axis=axis if axis or case.draw.chance(0.5) else None)


def pad(case):
    data = case.data(1, 5, case.dtype(), 200)
    modes = ["constant", "reflect", "edge"] + (["wrap"] if since(case, 19) else [])
    mode = "constant" if case.draw.chance(0.5) else case.draw.one_of(modes)
    low = -1 if case.draw.chance(0.2) else 0
    pads = [case.draw.between(low if data.shape[i % data.rank] > 2 else 0, 2)
            for i in range(2 * data.rank)]
    words = {"mode": mode if mode != "constant" else case.maybe(mode)}
    if not since(case, 11):
        return case.node([data], pads=pads, value=case.maybe(case.draw.real(-2, 2)), **words)
    operands = [data]
    rank = data.rank
    axes = list(range(rank))
    if since(case, 18) and case.draw.chance(0.3):
        axes = sorted({case.draw.between(0, rank - 1) for _ in range(rank)})
        pads = [pads[a] for a in axes] + [pads[a + rank] for a in axes]
    operands.append(case.parameter(pads))
    has_value = case.draw.chance(0.6)
    number = case.draw.numbers((), data.dtype, case.flavour)
    operands.append(case.holding(number, 0.9) if has_value else NONE)
    if len(axes) < rank:
        operands.append(case.parameter(axes))
    return case.node(operands, **words)


def named(names, generate):
    return {name: generate for name in names.split()}


TABLE = {
    **named("Relu Sigmoid Tanh Exp Log Sqrt Abs Neg Erf Floor Ceil Round Sin Cos Tan Asin Acos Atan"
            " Sinh Cosh Asinh Acosh Atanh Not Sign Reciprocal Softplus Softsign HardSwish Identity"
            " Size", unary),
    "Mish": unary, "Swish": shaped_unary(alpha=(-1, 2)), "LeakyRelu": shaped_unary(alpha=(-1, 2)), "Elu": shaped_unary(alpha=(-1, 2)),
    "Selu": shaped_unary(alpha=(0, 2), gamma=(0, 2)), "ThresholdedRelu": shaped_unary(alpha=(-1, 2)),
    "HardSigmoid": shaped_unary(alpha=(-1, 1), beta=(-1, 1)), "Gelu": gelu,
    **named("Add Sub Mul Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor", binary),
    "Div": divide, "Mod": mod, "Pow": power, "PRelu": prelu, "Where": where, "Clip": clip,
    **named("Max Min Sum Mean", variadic), "Cast": cast, "CastLike": cast_like,
    "MatMul": matmul, "Gemm": gemm,
    **named("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare"
            " ReduceLogSum ReduceLogSumExp", reduce),
    **named("ArgMax ArgMin", arg_reduce), "Conv": convolve, **named("MaxPool AveragePool", pool),
    **named("GlobalAveragePool GlobalMaxPool", global_pool), "BatchNormalization": batch_norm,
    "LayerNormalization": layer_norm, "InstanceNormalization": instance_norm,
    **named("Softmax LogSoftmax", softmax), "Dropout": dropout, "Constant": constant,
    "ConstantOfShape": constant_of_shape, "Shape": shape_of, "Reshape": reshape, "Flatten": flatten,
    "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Transpose": transpose,
    **named("DepthToSpace SpaceToDepth", depth_space), "Expand": expand, "Concat": concat,
    "Split": split, "Slice": slice_, "Gather": gather, "Pad": pad,
}
