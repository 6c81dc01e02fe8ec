"""Why Hone may refuse a model, and where it may differ from onnxruntime.

REFUSALS are its messages for what is not implemented (graph/README.md, docs/numerics.md): a pattern
each. DIFFERENCES hold for some operators and, of their results, for the places that a function
finds; where it can be said what is right there, that is computed and compared.
"""
import re

import numpy

from onnx_peer import expected

# What Hone says of models that it does not take.
REFUSALS = {pattern: words for words, pattern in (
    ("nothing has no value", r"there is no (index|mean of whole numbers) of nothing|a transform of 0 elements"),
    ("an attribute that is not implemented", r"attribute '\w+' (= [01] )?is not implemented"),
    ("Mod with fmod = 1", r"\(Mod\): attribute 'fmod' = 1 is not implemented"),
    ("pads other than constant", r"\(Pad\): attribute 'mode' has value '\w+'; expected one of constant"),
    ("padding with more than 2^63", r"\(Pad\): a value \(input 2\) above 2\^63 - 1 is not implemented"),
    ("pads below 0", r"'nn.pad' of .*: padding must be from 0 to"),
    ("a further output", r"a further output of '\w+', is not implemented"),
    ("masks of one dimension", r"Attention\): a mask \(input \d\) of 1 dimensions, or of several lists"),
    ("what must be constant", r"\(input \d\) must be (a )?constant( scalar)?"),
    ("sizes that must be known", r"must be constant and the axis known|the extent of axis \d must be "
     r"known|the extent of axis \d is not known|needs? known extents; give them with --shape|depends on "
     r"a symbolic size; give it with --shape|its size not known; give it with "
     r"--shape|sequences must be of a known length|a signal of unknown length|rows of unknown length|a past of unknown length|the size of dimension \d "
     r"is not known(;| to fit;) give it|a symbolic size is used as data; give its number with --shape|"
     r"a kernel of unknown size|a state of unknown size|without axes the size of dimension \d must be known|blocks of a dimension whose size is not known|values \(input 2\) of unknown number|channels of unknown number|the number of channels (of the data )?must be known"),
    ("symbolic and other sizes", r"the shape of an input is not known: it follows from sizes that may differ|two symbolic extents are not known to be equal|the summed extents "
     r"are not known to be equal"),
    ("symbolic and other sizes", r"_(size|[^ ,]+_dim\d).* (dimension \d (of the updates )?(does not fit|is not known to "
     r"(be the same|fit))|the last extent of the indices must be known|argument \d must have a number for "
     r"each channel|dimension \d of item \d differs from that of item 0|the weight takes \d+ "
     r"channels)"),
    ("symbolic and other sizes", r"_(size|[^ ,]+_dim\d).* (the targets must have the shape|the grid must have|the regions must be|the weights must be a number for each class|wants the number of an image for each region|dimension \d "
     r"of operand \d does not fit)"),
    ("symbolic and other sizes", r"'(broadcast_to|det)' of \w+\[.*_dim\d"),
    ("a size that is 1 beside another", r"dimension \d is 1, wants \d+ with these inputs|"
     r"has the extent 1 in dimension \d, must have"),
    ("symbolic and other sizes", r"the recurrent weight does not fit|the mask cannot be broadcast to the shape"),
    ("functions of whole numbers", r"'(log|exp|sqrt|erf|mean)' of u?int\d+\[.*: wants a floating-point "
     r"tensor"),
)}


def refusal(message):
    for pattern, words in REFUSALS.items():
        if re.search(pattern, message):
            return words
    return None


def of_onnxruntime(message):
    """Its refusals by kind."""
    found = re.search(r"(NOT_IMPLEMENTED|INVALID_GRAPH|INVALID_ARGUMENT|RUNTIME_EXCEPTION|FAIL)", message)
    return found.group(1) if found else message[:80]


# ---- what a node was given ----

def array_of(case, index):
    """The numbers of an input; None where it is left out."""
    names = next(n for n in reversed(case.nodes) if case.op in (None, n.op_type)).input
    if index >= len(names) or not names[index]:
        return None
    return next((v.array for v in case.values() if v.name == names[index]), None)


def reduced_axes(case):
    rank = array_of(case, 0).ndim
    given = array_of(case, 1) if len(case.nodes[-1].input) > 1 else case.attribute("axes", ())
    axes = tuple(int(a) % rank for a in given)
    if axes:
        return axes
    return () if case.attribute("noop_with_empty_axes", 0) else tuple(range(rank))


def is_whole(array):
    return array.dtype.kind in "iu"


def is_padded_otherwise(case):
    """A pool that onnxruntime pads for windows without their holes, or, where windows are farther
    apart than they are wide, by less than nothing."""
    if (case.op or case.nodes[-1].op_type) not in ("MaxPool", "AveragePool"):
        return False
    kernel = case.attribute("kernel_shape")
    strides, dilations = (case.attribute(name, [1] * len(kernel)) for name in ("strides", "dilations"))
    return case.attribute("auto_pad", b"NOTSET").startswith(b"SAME") and \
        any(d > 1 or s > k for k, s, d in zip(kernel, strides, dilations))


def writes_statistics(case):
    """onnxruntime's norm in training writes its averages into constants that others read as well."""
    return case.nodes[-1].op_type == "BatchNormalization" and bool(case.attribute("training_mode", 0))


def is_open(case):
    """Whether other results than onnxruntime's are right of the node that was drawn last, for reasons
    below that graphs cannot look through."""
    op = case.nodes[-1].op_type
    is_double = op in ("Gelu", "HardSwish") and array_of(case, 0).dtype == "float64"
    is_nothing = op == "ReduceMean" and array_of(case, 0).size == 0
    return is_double or is_nothing or is_padded_otherwise(case) or writes_statistics(case)


PADDED_OTHERWISE = "SAME: onnxruntime leaves dilations of pools out of it, and pads by less than 0"


# ---- reasons: where they hold, of the places that differ ----

def first_nan_counts(case, got, want):
    data = array_of(case, 0)
    find = numpy.argmax if case.op == "ArgMax" else numpy.argmin
    right = find(data, axis=case.attribute("axis", 0), keepdims=bool(case.attribute("keepdims", 1)))
    return (got == right) & numpy.isnan(data).any()


def taps_inside(case, extents, kernel, windows):
    """Which taps of a convolution's windows lie in the data in some window."""
    rank = len(kernel)
    strides, dilations = (case.attribute(name, [1] * rank) for name in ("strides", "dilations"))
    auto_pad, pads = case.attribute("auto_pad", b"NOTSET"), case.attribute("pads", [0] * 2 * rank)
    inside = numpy.ones((), bool)
    for d, (extent, taps, count) in enumerate(zip(extents, kernel, windows)):
        lack = max((count - 1) * strides[d] + (taps - 1) * dilations[d] + 1 - extent, 0)
        begin = {b"NOTSET": pads[d], b"VALID": 0, b"SAME_UPPER": lack // 2,
                 b"SAME_LOWER": lack - lack // 2}[auto_pad]
        places = numpy.arange(count)[:, None] * strides[d] - begin + numpy.arange(taps) * dilations[d]
        inside = numpy.multiply.outer(inside, ((0 <= places) & (places < extent)).any(axis=0))
    return inside


def taps_are_outside(case, got, want):
    """A weight that is not finite makes no NaN of the padding where its tap is outside of the data in
    every window: as if it were 0."""
    name = next(n for n in reversed(case.nodes) if case.op in (None, n.op_type)).input[1]
    weights = next(v for v in case.values() if v.name == name)
    whole = weights.array
    inside = taps_inside(case, array_of(case, 0).shape[2:], whole.shape[2:], want.shape[2:])
    if numpy.isfinite(numpy.where(inside, 0, whole)).all():
        return numpy.zeros(got.shape, bool)
    weights.array = numpy.where(inside, whole, 0).astype(whole.dtype)
    right = expected(case)
    weights.array = whole
    if isinstance(right, str):
        return numpy.zeros(got.shape, bool)
    rtol = 0.02 if got.dtype.itemsize < 4 or case.is_short else 1e-4
    scale = numpy.abs(right[0][numpy.isfinite(right[0])]).max(initial=0)
    return numpy.isclose(got, right[0], rtol, rtol * float(scale), equal_nan=True)


def too_large_is_infinite(case, got, want):
    """What is rounded beyond the numbers of float8e5m2 is an infinity where it is not held; one step
    above them it is NaN to onnxruntime."""
    if case.attribute("saturate", 1):
        return numpy.zeros(got.shape, bool)
    return numpy.isinf(got) & numpy.isnan(want) & numpy.isfinite(array_of(case, 0))


def nan_behind_zeros(case, got, want):
    """Elimination ends at a column of zeros, as numpy's does."""
    data = array_of(case, 0)
    return numpy.isnan(want) & numpy.isnan(data).any((-2, -1)) & (got == numpy.linalg.det(data))


def nan_is_kept(case, got, want):
    return numpy.isnan(got) & numpy.isnan(array_of(case, 0)).any()


def whole_numbers_wrap(case, got, want):
    """Sums and products of whole numbers wrap around in their type; onnxruntime takes floats."""
    data = array_of(case, 0)
    if not is_whole(data):
        return False
    axes, keep = reduced_axes(case), bool(case.attribute("keepdims", 1))
    terms = {"ReduceL1": numpy.abs, "ReduceSumSquare": numpy.square}.get(case.op, lambda x: x)(data)
    gather = numpy.prod if case.op == "ReduceProd" else numpy.sum
    right = gather(terms, axis=axes, keepdims=keep, dtype=data.dtype)
    if case.op == "ReduceMean":
        count = int(numpy.prod([data.shape[a] for a in axes]))
        right = quotient(right, count)
    return got == right


def quotient(dividend, divisor):
    """Rounded towards zero."""
    sign = numpy.where(dividend < 0, -1, 1).astype("object")
    return sign * (numpy.abs(dividend.astype("object")) // divisor)


def no_limit_is_none(case, got, want):
    is_finite_max = numpy.abs(want) == numpy.finfo(want.dtype).max
    return numpy.isinf(got) & is_finite_max & (numpy.sign(got) == numpy.sign(want)) \
        if got.dtype.kind == "f" else False


def constants_of_float32(case, got, want):
    if got.dtype != "float64":
        return False
    return numpy.abs(got - want) <= 1e-7 * numpy.abs(array_of(case, 0))


def beyond_the_type(case, got, want):
    """A power that the type does not have: the nearest number, 0 of NaN."""
    if not is_whole(got):
        return False
    base, power = array_of(case, 0).astype("float64"), array_of(case, 1).astype("float64")
    exact, info = numpy.power(base, power), numpy.iinfo(got.dtype)
    return ~((exact >= info.min) & (exact < float(info.max)))


def starts_below_all(case, got, want):
    return (got == -numpy.inf) & (want == numpy.finfo(want.dtype).min) if got.dtype.kind == "f" \
        else False


def padded_otherwise(case, got, want):
    return is_padded_otherwise(case)


def folded_norm(case, got, want):
    """onnxruntime takes scale and bias together, and compiled code may round a product and the bias
    that is added once: other infinities where numbers are near the end."""
    if got.shape != array_of(case, 0).shape:  # moved averages
        return False
    count = 3 if case.op == "InstanceNormalization" else 5
    x, scale, bias, *statistics = (
        numpy.asarray(array_of(case, i), "float64" if got.dtype == "float16" else got.dtype)
        for i in range(count))
    at = (1, -1) + (1,) * (x.ndim - 2)
    if case.op == "InstanceNormalization" or case.attribute("training_mode", 0):
        axes = tuple(a for a in range(x.ndim) if a > 1 or (a == 0 and case.op == "BatchNormalization"))
        mean, spread = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    else:
        mean, spread = (s.reshape(at) for s in statistics)
    spread = numpy.sqrt(spread + numpy.float32(case.attribute("epsilon", 1e-5)))
    right = (x - mean) / spread * scale.reshape(at) + bias.reshape(at)
    is_end = ~(numpy.isfinite(got) & numpy.isfinite(want))
    same = (numpy.isnan(got) & numpy.isnan(right)) | (got == right.astype(got.dtype))
    finite = numpy.isfinite((x - mean) / spread) & numpy.isfinite(scale.reshape(at))
    same |= finite & numpy.isinf(bias.reshape(at)) & (got == bias.reshape(at))
    return is_end & (same | numpy.isclose(got, right, 1e-3))


def remainders_of_doubles(case, got, want):
    """The remainder of whole numbers of 64 bits is whole; onnxruntime's fmod takes them for float64."""
    a, b = array_of(case, 0), array_of(case, 1)
    if case.attribute("fmod", 0) != 1 or a.dtype.kind not in "iu" or a.dtype.itemsize < 8:
        return numpy.zeros(got.shape, bool)
    a, b = numpy.broadcast_arrays(a, b)
    right = [(abs(int(x)) % abs(int(y))) * (-1 if x < 0 else 1) if y else None for x, y in zip(a.flat, b.flat)]
    return numpy.array([int(g) == r for g, r in zip(got.flat, right)]).reshape(got.shape)


def nan_stays(case, got, want):
    """Element by element."""
    return numpy.isnan(got) & numpy.isnan(array_of(case, 0)) if got.dtype.kind == "f" else False


def whole_row_is_nan(case, got, want):
    """NaN, inf, or -inf alone make NaN of a row."""
    data = array_of(case, 0)
    axis = case.attribute("axis", 1 if case.opset < 13 else -1) % data.ndim
    axes = tuple(range(axis, data.ndim)) if case.opset < 13 else (axis,)
    is_loss = case.op == "SoftmaxCrossEntropyLoss"  # and its second output: the logarithms
    if is_loss:
        axes = (1,)
    spoils = (numpy.isnan(data) | (data == numpy.inf)).any(axis=axes, keepdims=True)
    spoils |= (data == -numpy.inf).all(axis=axes, keepdims=True)
    if is_loss and got.shape != data.shape:  # of each row, or of all
        spoils = spoils.any() if got.ndim == 0 else spoils.squeeze(1)
        return numpy.isnan(got) & spoils
    return numpy.isnan(got) & numpy.broadcast_to(spoils, data.shape)


def squares_overflow(case, got, want):
    """Of elements that a variance is made of."""
    data = array_of(case, 0)
    if data.dtype.kind != "f":
        return False
    first = 2 if case.op == "InstanceNormalization" else case.attribute("axis", -1) % data.ndim
    finite = numpy.where(numpy.isfinite(data), numpy.abs(data.astype("float64")), 0)
    axes = tuple(range(first, data.ndim))
    if case.op == "MeanVarianceNormalization":
        axes = tuple(case.attribute("axes", (0, 2, 3)))
    largest = finite.max(axis=axes, keepdims=True)
    if got.shape != data.shape:  # mean and deviation
        is_open = (~numpy.isfinite(data)).any(axis=axes, keepdims=True)
        return is_open | (largest > 0.1 * numpy.sqrt(float(numpy.finfo(data.dtype).max)))
    return numpy.broadcast_to(largest > 0.1 * numpy.sqrt(float(numpy.finfo(data.dtype).max)), data.shape)


def nan_is_largest(case, got, want):
    """Of what is ordered; onnxruntime's order of NaN is any."""
    data, axis = array_of(case, 0), case.attribute("axis", -1)
    if data.dtype.kind != "f":
        return False
    is_descending = bool(case.attribute("largest", 1))
    if is_descending:
        data = numpy.flip(data, axis)
    order = numpy.argsort(data, axis=axis, kind="stable")
    if is_descending:
        order = data.shape[axis] - 1 - numpy.flip(order, axis)
    order = numpy.take(order, range(got.shape[axis]), axis)
    values = numpy.take_along_axis(array_of(case, 0), order, axis)
    right = values if got.dtype.kind == "f" else order
    return (got == right) | (numpy.isnan(got) & numpy.isnan(right))


def nan_is_found(case, got, want):
    """Where a maximum lies; column by column it is counted otherwise."""
    data = array_of(case, 0)
    if got.dtype.kind != "i" or data.dtype.kind != "f":
        return False
    if case.attribute("storage_order", 0):
        return numpy.isnan(data).any()
    return numpy.isnan(data.ravel()[got])


def first_nan_is_one(case, got, want):
    data = array_of(case, 0)
    axis = case.attribute("axis", 1 if case.opset < 13 else -1) % data.ndim
    rows = data.reshape(*data.shape[:axis], -1) if case.opset < 13 else data
    places = numpy.expand_dims(numpy.argmax(rows, axis), axis)
    right = numpy.zeros_like(rows)
    numpy.put_along_axis(right, places, 1, axis)
    return (got == right.reshape(data.shape)) & numpy.isnan(data).any()


def shrunk_once(case, got, want):
    """Whole numbers and doubles are shrunk as doubles; onnxruntime's are of float32 in between."""
    data = array_of(case, 0).astype("float64")
    bias, limit = (numpy.float64(numpy.float32(case.attribute(name, default)))
                   for name, default in (("bias", 0.0), ("lambd", 0.5)))
    right = numpy.where(data < -limit, data + bias, numpy.where(data > limit, data - bias, 0))
    is_none = (right < 0) & (got.dtype.kind == "u")  # no number of its type
    if is_whole(got):
        info = numpy.iinfo(got.dtype)
        is_none |= (right >= float(info.max)) | (right < float(info.min))
        right = numpy.trunc(right)
    return is_none | numpy.isclose(got.astype("float64"), right, 1e-12)


def local_sums_are_own(case, got, want):
    """Each place has a sum of its own: onnxruntime's goes along the channels, and keeps NaN."""
    data, size = array_of(case, 0).astype("float64"), case.attribute("size", 1)
    alpha, beta, bias = (case.attribute(name, default) for name, default in
                         (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    front, count = (size - 1) // 2, data.shape[1]
    sums = numpy.stack([numpy.square(data[:, max(c - front, 0):c + size - front]).sum(1)
                        for c in range(count)], 1)
    right = data / (bias + alpha / size * sums) ** beta
    return (numpy.isnan(got) & numpy.isnan(right)) | numpy.isclose(got, right, 1e-4, 1e-30) | \
        (sums > 1e38)


def scattered_nan_is_kept(case, got, want):
    return numpy.isnan(got) & (case.attribute("reduction", b"none") in (b"max", b"min"))


def nothing_is_quantised(case, got, want):
    """Of a range that is not finite: whole numbers are what NaN is cast to."""
    right = got == 0 if is_whole(got) else numpy.isnan(got)
    return right & ~numpy.isfinite(array_of(case, 0)).all()


def something_is_added(case, got, want):
    """The standard adds 1e-9 to the deviation; onnxruntime does not, and divides 0 by 0."""
    data = array_of(case, 0).astype("float64")
    axes = tuple(case.attribute("axes", (0, 2, 3)))
    away = data - data.mean(axis=axes, keepdims=True)
    deviation = numpy.sqrt((away ** 2).mean(axis=axes, keepdims=True))
    is_one = data.max(axis=axes, keepdims=True) == data.min(axis=axes, keepdims=True)
    right = numpy.where(is_one, 0, away / (deviation + 1e-9))
    return (deviation < 1e-3) & numpy.isclose(got, right, 1e-5)


def products_wrap(case, got, want):
    """Sums of products of whole numbers wrap around; onnxruntime's are of floats in between."""
    if not is_whole(got):
        return False
    arrays = [array_of(case, i) for i in range(len(case.nodes[-1].input))]
    return got == numpy.einsum(case.attribute("equation").decode(), *arrays, dtype=got.dtype)


def mean_of_nothing(case, got, want):
    return numpy.isnan(got) & (array_of(case, 0).size == 0) if got.dtype.kind == "f" else False


def quotient_has_a_type(case, got, want):
    """Since opset 23 x / scale is rounded to the scale's type; onnxruntime's stays in float32."""
    data, scale = array_of(case, 0), array_of(case, 1)
    if case.opset < 23 or scale.dtype.itemsize > 2 or case.attribute("block_size", 0):
        return numpy.zeros(got.shape, bool)
    axis = case.attribute("axis", 1)
    at = [-1 if d == axis % data.ndim and scale.size > 1 else 1 for d in range(data.ndim)]
    zero = array_of(case, 2) if len(case.nodes[-1].input) > 2 else numpy.zeros(1, got.dtype)
    zero = zero.reshape(at if zero.size > 1 else [1] * data.ndim).astype("float64")
    quotient = (data.astype("float32") / scale.reshape(at).astype("float32")).astype(scale.dtype)
    return got == numpy.rint(quotient.astype("float64")) + zero


def nan_is_quantised_as_zero(case, got, want):
    return (got == 0) & numpy.isnan(array_of(case, 0))


def steps_beyond_whole_numbers(case, got, want):
    """Of a quotient beyond 2^31 onnxruntime's number is any; the standard's is the nearest end."""
    data, scale = array_of(case, 0).astype("float64"), array_of(case, 1)
    least = float(numpy.abs(scale.astype("float64")).min())
    is_beyond = ~(numpy.abs(data) < 2.0**30 * least)
    return is_beyond & ((got == got.max()) | (got == got.min()) | numpy.isnan(data))


def same_size_is_copied(case, got, want):
    """onnxruntime copies where the sizes stay, whatever the scales."""
    data = array_of(case, 0)
    return data.shape == want.shape and (want == data) | (numpy.isnan(want) & numpy.isnan(data))


def stage_of_doubles(case, got, want):
    """Mean and deviation of doubles are doubles; onnxruntime's are of float32, as stash_type has it."""
    x, scale, bias = (array_of(case, i) for i in range(3))
    if x.dtype != "float64":
        return False
    groups = x.reshape(x.shape[0], case.attribute("num_groups"), -1)
    spread = numpy.sqrt(groups.var(-1, keepdims=True) + float(numpy.float32(case.attribute("epsilon", 1e-5))))
    normal = ((groups - groups.mean(-1, keepdims=True)) / spread).reshape(x.shape)
    at = (-1,) + (1,) * (x.ndim - 2)
    scale, bias = (numpy.repeat(a, x.shape[1] // a.size).reshape(at) for a in (scale, bias))
    return numpy.isclose(got, normal * scale + bias, 1e-9, 1e-9)


def eliminated(matrix):
    """A determinant by elimination with the largest element of each column."""
    rows, product = matrix.astype("float64"), 1.0
    for k in range(len(rows)):
        best = k + int(numpy.argmax(numpy.abs(rows[k:, k])))
        if best != k:
            rows[[k, best]], product = rows[[best, k]], -product
        product *= rows[k, k]
        factors = rows[k + 1:, k:k + 1] / (rows[k, k] or 1.0)
        rows[k + 1:, k:] -= factors * rows[k, k:]
    return product


def folded_in_doubles(case, got, want):
    """Constants are folded in float64."""
    value = next(v for v in case.values() if v.name == case.nodes[-1].input[0])
    if not value.is_constant:
        return False
    matrices = value.array.reshape(-1, *value.shape[-2:])
    right = numpy.array([eliminated(m) for m in matrices]).reshape(got.shape).astype(got.dtype)
    return (numpy.isnan(got) & numpy.isnan(right)) | numpy.isclose(got, right, 1e-4)


def softplus_overflows(case, got, want):
    return numpy.isnan(want) & (b"Softplus" in case.attribute("activations", ()))


DIFFERENCES = (
    ("TopK", nan_is_largest, "NaN is the largest"),
    ("Shrink", shrunk_once, "what is shrunk is so in doubles"),
    ("LRN", local_sums_are_own, "onnxruntime's sums of LRN go along the channels"),
    ("MaxPool", nan_is_found, "NaN is kept"),
    ("Hardmax", first_nan_is_one, "the first NaN is the greatest and the least"),
    ("ScatterElements ScatterND", scattered_nan_is_kept, "NaN is kept"),
    ("ArgMax ArgMin", first_nan_counts, "the first NaN is the greatest and the least"),
    ("Einsum", products_wrap, "sums of products of whole numbers wrap around"),
    ("ReduceMean", mean_of_nothing, "the mean of nothing is NaN"),
    ("MeanVarianceNormalization", something_is_added, "1e-9 is added to the deviation"),
    ("QuantizeLinear", quotient_has_a_type, "a quotient is rounded to the type of its scale"),
    ("QuantizeLinear", nan_is_quantised_as_zero, "NaN is cast to 0"),
    ("QuantizeLinear", steps_beyond_whole_numbers, "what is too large is held at the end of the type"),
    ("DynamicQuantizeLinear", nothing_is_quantised, "a range that is not finite has no steps"),
    ("ReduceMax ReduceMin MaxPool GlobalMaxPool", nan_is_kept, "NaN is kept"),
    ("Conv FusedConv", taps_are_outside, "taps that are outside in every window are left out"),
    ("QuantizeLinear Cast CastLike", too_large_is_infinite, "what float8 cannot hold is an infinity"),
    ("Det", nan_behind_zeros, "elimination ends at zeros"),
    ("Mod", remainders_of_doubles, "onnxruntime's fmod of 64-bit whole numbers is that of float64"),
    ("Sign", nan_stays, "onnxruntime's sign of NaN of 16 bits is 0"),
    ("ReduceSum ReduceL1 ReduceSumSquare ReduceProd ReduceMean", whole_numbers_wrap,
     "sums and products of whole numbers wrap around"),
    ("Clip", no_limit_is_none, "a limit that is left out limits nothing"),
    ("Gelu HardSwish", constants_of_float32, "onnxruntime's constants of Gelu and HardSwish are of float32"),
    ("MaxPool GlobalMaxPool", starts_below_all, "a maximum of -inf alone is -inf"),
    ("MaxPool AveragePool", padded_otherwise, PADDED_OTHERWISE),
    ("BatchNormalization InstanceNormalization", folded_norm, "onnxruntime takes scale and bias of a norm together"),
    ("Softmax LogSoftmax SoftmaxCrossEntropyLoss", whole_row_is_nan, "NaN and inf make NaN of a row"),
    ("LayerNormalization InstanceNormalization MeanVarianceNormalization", squares_overflow,
     "squares beyond the type"),
    ("Pow", beyond_the_type, "a power beyond its type"),
    ("Upsample Resize", same_size_is_copied, "onnxruntime copies where the sizes stay"),
    ("GroupNormalization", stage_of_doubles, "onnxruntime's mean and deviation of doubles are of float32"),
    ("Det", folded_in_doubles, "constants are folded in float64"),
    ("LSTM GRU RNN", softplus_overflows, "onnxruntime's Softplus of large numbers overflows"),
)


SUMS = set("""MatMul Gemm Conv ConvTranspose ReduceSum ReduceProd ReduceMean ReduceL1 ReduceL2 ReduceSumSquare AveragePool
GlobalAveragePool Sum Mean NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss""".split())


def difference(case, number, got, want, good, moves):
    """The reason that explains all places that are not good, or those that do together."""
    explained, reasons = good, []
    for ops, where, words in DIFFERENCES:
        if case.op not in ops.split():
            continue
        places = where(case, got, want)
        if (good | places).all():
            return words
        if (places & ~explained).any():
            explained, reasons = explained | places, reasons + [words]
    if explained.all():
        return "; ".join(reasons)
    if case.op in SUMS and want.dtype.kind == "f" and (good | moves.overflows(number)).all():
        return "partial sums or products beyond the type"
    return None


def shape_difference(case):
    """Where shapes may differ."""
    if case.op is None:  # a graph
        return None
    data = array_of(case, 0)
    if data is not None and data.size == 0 and case.domain:
        return "onnxruntime gives no tensor of nothing"
    if case.op.startswith(("Reduce", "Arg")) and data is not None and data.size == 0:
        return "onnxruntime leaves nothing in its shape"
    return PADDED_OTHERWISE if is_padded_otherwise(case) else None
