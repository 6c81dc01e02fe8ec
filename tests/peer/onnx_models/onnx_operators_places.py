"""How operators of computed places, of order along an axis, of shapes and of simple kinds are drawn:
TABLE is a part of that in onnx_operators.py."""
import numpy

from onnx_draw import NONE, TENSOR_TYPES
from onnx_operators import axis_of, binary, named, pair, shaped_unary, since, some_axes, unary


def places(case, extent, shape, dtype=None):
    """Indices into an extent, also from the end, mostly given by the caller."""
    dtype = dtype or case.draw.one_of(("int32", "int64"))
    low = -extent if since(case, 11) else 0
    array = case.draw.rng.integers(low, max(extent, low + 1), shape)
    return case.holding(numpy.asarray(array).astype(dtype), 0.3)


def fitting(case, shape, axis):
    """A shape of indices for gather and scatter: at most as large as the data, but along the axis."""
    made = [case.draw.between(1, max(s, 1)) for s in shape]
    made[axis] = case.draw.between(1, 5)
    return made


def gather_elements(case):
    data = case.data(1, 4, case.dtype(), 300)
    axis = axis_of(case, data.rank)
    shape = fitting(case, data.shape, axis)
    return case.node([data, places(case, data.shape[axis], shape)], axis=axis)


def tuples(case, data, batch=0):
    """Indices that name some dimensions, and how many."""
    count = case.draw.between(1, data.rank - batch)
    lead = list(data.shape[:batch]) + case.draw.shape(0, 2, 12)
    columns = [case.draw.rng.integers(-s if since(case, 11) else 0, max(s, 1), lead)
               for s in data.shape[batch:batch + count]]
    return numpy.stack(columns, axis=-1).astype("int64") if lead else \
        numpy.array([int(c) for c in columns], "int64"), count


def gather_nd(case):
    data = case.data(1, 4, case.dtype(), 300)
    batch = case.draw.between(0, data.rank - 1) if since(case, 12) and case.draw.chance(0.4) else 0
    indices, _ = tuples(case, data, batch)
    return case.node([data, case.holding(indices, 0.3)],
                     batch_dims=batch if batch else case.maybe(None))


def reduction(case, newest):
    """For versions that have it."""
    if not since(case, 16):
        return {}
    kinds = ["none", "add", "mul"] + (["max", "min"] if since(case, newest) else [])
    return {"reduction": case.maybe(case.draw.one_of(kinds))}


def scatter_elements(case):
    data = case.data(1, 4, case.dtype(), 300)
    axis = axis_of(case, data.rank)
    shape = fitting(case, data.shape, axis)
    words = reduction(case, 18)
    shape[axis] = case.draw.between(1, max(data.shape[axis], 1))
    extent = data.shape[axis]
    if extent and words.get("reduction") in (None, "none"):  # which of two is left is open
        order = numpy.argsort(case.draw.rng.random([extent if d == axis % data.rank else s
                                                    for d, s in enumerate(shape)]), axis=axis)
        indices = numpy.take(order, range(shape[axis]), axis=axis).astype("int64")
        indices = case.holding(indices, 0.3)
    else:
        indices = places(case, data.shape[axis], shape)
    return case.node([data, indices, case.tensor(shape, data.dtype)], axis=axis, **words)


def scatter_nd(case):
    data = case.data(1, 4, case.dtype(), 300)
    words = reduction(case, 18)
    indices, count = tuples(case, data)
    if words.get("reduction") in (None, "none"):
        flat = numpy.ravel_multi_index(
            tuple(numpy.moveaxis(indices % numpy.maximum(data.shape[:count], 1), -1, 0)),
            tuple(max(s, 1) for s in data.shape[:count]))
        if numpy.unique(flat).size != flat.size:
            indices = indices.reshape(-1, count)[:1]
    updates = case.tensor(list(indices.shape[:-1]) + list(data.shape[count:]), data.dtype)
    return case.node([data, case.holding(indices, 0.3), updates], **words)


def top_k(case):
    data = case.data(1, 4, case.dtype(), 300)
    axis = axis_of(case, data.rank)
    count = case.draw.between(1, max(data.shape[axis], 1))
    words = {}
    if since(case, 11):
        words = {"largest": case.maybe(case.draw.between(0, 1)), "sorted": case.maybe(1)}
    if not since(case, 10):
        return case.node([data], 2, k=count, axis=axis)
    return case.node([data, case.parameter([count])], 2, axis=axis, **words)


def cum_sum(case):
    data = case.data(1, 4, case.dtype(), 300)
    axis = case.parameter(axis_of(case, data.rank), case.draw.one_of(("int32", "int64")))
    return case.node([data, axis], exclusive=case.maybe(case.draw.between(0, 1)),
                     reverse=case.maybe(case.draw.between(0, 1)))


def reverse_sequence(case):
    data = case.data(2, 5, case.dtype(), 300)
    time = case.draw.between(0, 1)
    most, batch = data.shape[time], data.shape[1 - time]
    lengths = case.draw.rng.integers(min(1, most), most + 1, [batch]).astype("int64")
    return case.node([data, case.holding(lengths, 0.3)], time_axis=time, batch_axis=1 - time)


def one_hot(case):
    common = ("int32", "int64", "float32")
    kind = case.draw.one_of([t for t in case.types(0) if t in common or case.draw.chance(0.3)] or common)
    depth = case.draw.between(1, 6)
    shape = case.draw.shape(0, 3, 60)
    low = -depth - 1 if since(case, 11) else 0
    indices = case.holding(case.draw.rng.integers(low, depth + 2, shape).astype(kind), 0.2)
    dtype = case.draw.one_of([t for t in case.types(2) if t in ("int32", "int64", "float32")])
    values = case.tensor([2], dtype)
    return case.node([indices, case.parameter(depth), values],
                     axis=case.maybe(axis_of(case, len(shape), 1)))


def hardmax(case):
    data = case.data(1, 4, case.dtype(), 300)
    return case.node([data], axis=axis_of(case, data.rank))


def compress(case):
    data = case.data(1, 4, case.dtype(), 300)
    axis = axis_of(case, data.rank) if case.draw.chance(0.7) else None
    extent = int(numpy.prod(data.shape)) if axis is None else data.shape[axis]
    chosen = case.draw.rng.random(extent) < 0.6
    return case.node([data, case.holding(chosen, 0.4)], axis=axis)


def some_zeros(case):
    """Numbers of which about half are 0, or all, or none."""
    data = case.data(1, 4, case.dtype(), 300)
    kept = case.draw.rng.random(data.shape) < case.draw.one_of((0, 0.5, 0.5, 0.5, 1))
    return case.own(data, numpy.where(kept, data.array, 0))


def non_zero(case):
    return case.node([some_zeros(case)])


def unique(case):
    """Of few different numbers."""
    data = case.data(1, 3, case.dtype(), 120)
    few = case.draw.numbers([case.draw.between(1, 5)], data.dtype)
    case.own(data, few[case.draw.rng.integers(0, len(few), data.shape)])
    axis = axis_of(case, data.rank) if case.draw.chance(0.4) else None
    return case.node([data], 4, axis=axis, sorted=case.maybe(case.draw.between(0, 1)))


def non_max_suppression(case):
    """Boxes near each other, scores with ties."""
    batch, classes, count = case.draw.between(1, 2), case.draw.between(1, 3), case.draw.between(1, 20)
    corner = case.draw.rng.integers(0, 8, [batch, count, 2]) * 0.5
    size = case.draw.rng.integers(0, 9, [batch, count, 2]) * 0.5
    is_center = case.draw.chance(0.4)
    boxes = numpy.concatenate([corner, size if is_center else corner + size], -1)
    if not is_center and case.draw.chance(0.4):
        boxes = boxes[..., [2, 1, 0, 3]]
    scores = case.draw.rng.integers(0, 12, [batch, classes, count]) / 11
    words = {"center_point_box": case.maybe(1) or 1} if is_center else {}
    most = case.parameter(case.draw.one_of(([0], [1], [2], [5], [100])))
    iou = case.holding(numpy.array([case.draw.one_of((0, 0.1, 0.3, 0.5, 1))], "float32"))
    least = case.holding(numpy.array([case.draw.one_of((0, 0.4, 0.9, 1))], "float32"))
    operands = [case.given(boxes.astype("float32")), case.given(scores.astype("float32")), most, iou, least]
    return case.node(operands[:case.draw.one_of((3, 4, 5, 5, 5))], **words)


def range_(case):
    dtype = case.dtype()
    start, count = case.draw.between(-5, 5), case.draw.between(1, 9)
    delta = case.draw.one_of((1, 1, 2, 3, -1, -2))
    numbers = [start, start + count * delta, delta]
    if numpy.dtype(dtype).kind == "f":
        numbers = [n * 0.25 for n in numbers]
    return case.node([case.holding(numpy.array(n, dtype), 0.5) for n in numbers])


def eye_like(case):
    data = case.data(2, 2, case.dtype())
    to = case.draw.one_of(sorted(TENSOR_TYPES))
    return case.node([data], dtype=case.maybe(TENSOR_TYPES[to]), k=case.maybe(case.draw.between(-3, 3)))


def trilu(case):
    data = case.data(2, 4, case.dtype())
    k = case.parameter(case.draw.between(-4, 4)) if case.draw.chance(0.7) else NONE
    return case.node([data, k], upper=case.maybe(case.draw.between(0, 1)))


def tile(case):
    data = case.data(0, 4, case.dtype(), 100)
    return case.node([data, case.parameter([case.draw.between(1, 3) for _ in data.shape])])


def is_inf(case):
    return case.node([case.data(0, 4, case.dtype())],
                     detect_negative=case.maybe(case.draw.between(0, 1)),
                     detect_positive=case.maybe(case.draw.between(0, 1)))


def bit_shift(case):
    operands = pair(case, case.dtype())
    bits = 8 * operands[1].array.dtype.itemsize
    operands[1] = case.own(operands[1], operands[1].array % bits)  # beyond it is left open
    return case.node(operands, direction=case.draw.one_of(("LEFT", "RIGHT")))


def local_norm(case):
    data = case.data(3, 5, "float32", 300)
    return case.node([data], size=case.draw.one_of((1, 3, 5)), alpha=case.maybe(0.01),
                     beta=case.maybe(0.5), bias=case.maybe(2.0))


def mean_variance(case):
    data = case.data(4, 4, "float32", 300) if case.draw.chance(0.5) else case.data(1, 5, "float32", 300)
    axes = some_axes(case, data.rank, 1)
    return case.node([data], axes=axes if data.rank < 4 else case.maybe(axes))


def unpool(case):
    batch, channels = case.draw.between(1, 2), case.draw.between(1, 2)
    spatial = [case.draw.between(1, 4) for _ in range(case.draw.between(1, 3))]
    shape = [batch, channels, *spatial]
    full = [batch, channels, *(2 * s for s in spatial)]
    count = int(numpy.prod(shape))
    chosen = case.draw.rng.permutation(int(numpy.prod(full)))[:count].reshape(shape)
    return case.node([case.tensor(shape, "float32"), case.holding(chosen.astype("int64"), 0.2)],
                     kernel_shape=[2] * len(spatial), strides=[2] * len(spatial))


TABLE = {
    "GatherElements": gather_elements, "GatherND": gather_nd, "ScatterND": scatter_nd,
    **named("Scatter ScatterElements", scatter_elements), "TopK": top_k, "CumSum": cum_sum, "CumProd": cum_sum,
    "ReverseSequence": reverse_sequence, "OneHot": one_hot, "Hardmax": hardmax,
    "Compress": compress, "NonZero": non_zero, "Unique": unique,
    "NonMaxSuppression": non_max_suppression, "Range": range_, "EyeLike": eye_like, "Trilu": trilu, "Tile": tile,
    **named("IsNaN BitwiseNot", unary),
    "IsInf": is_inf, "BitShift": bit_shift, **named("BitwiseAnd BitwiseOr BitwiseXor", binary),
    "Celu": shaped_unary(alpha=(0.3, 2)), "Shrink": shaped_unary(bias=(-1, 1), lambd=(0, 2)),
    "LRN": local_norm, "MeanVarianceNormalization": mean_variance, "MaxUnpool": unpool,
}
