"""How operators of neural networks, images and quantised numbers are drawn (see onnx_operators.py)."""
import numpy

from onnx import TensorProto

from onnx_draw import NONE
from onnx_operators import axis_of, named, since, spatial_data


# ---- losses ----

def loss(case):
    dtype = case.dtype()
    rank = case.draw.between(2, 5)
    shape = [case.draw.between(1, 4) for _ in range(rank)]
    classes = shape[1]
    data = case.tensor(shape, dtype, 0.1)
    ignored = case.draw.one_of((None, None, 0, classes - 1, -1, -100))
    targets = case.draw.rng.integers(0, classes, [shape[0], *shape[2:]])
    if ignored is not None:
        targets = numpy.where(case.draw.rng.random(targets.shape) < 0.3, ignored, targets)
        targets.flat[0] = 0 if ignored else classes - 1
    kind = case.draw.one_of(("int32", "int64"))
    operands = [data, case.holding(numpy.asarray(targets).astype(kind), 0.2)]
    if case.draw.chance(0.5):
        operands.append(case.own(case.tensor([classes], dtype, 0.5), 0.1 + case.draw.rng.random(classes)))
    outputs = case.draw.between(1, 2) if case.op == "SoftmaxCrossEntropyLoss" else 1
    return case.node(operands, outputs, ignore_index=ignored,
                     reduction=case.maybe(case.draw.one_of(("none", "mean", "sum"))))


# ---- convolutions ----

def convolve_transposed(case):
    """Weights are finite: Hone multiplies them with zeros between the elements (docs/numerics.md)."""
    groups = case.draw.one_of((1, 1, 1, 2, 3))
    per_group, filters = case.draw.between(1, 3), case.draw.between(1, 3)
    dtype = case.dtype()
    data = spatial_data(case, groups * per_group, dtype)
    spatial = data.rank - 2
    kernel = [case.draw.between(1, 4) for _ in range(spatial)]
    strides = [case.draw.between(1, 3) for _ in range(spatial)]
    dilations = [case.draw.between(1, 2) for _ in range(spatial)] if case.draw.chance(0.4) else None
    words = {"strides": strides, "dilations": dilations}
    more = [case.draw.between(0, s - 1) for s in strides] if case.draw.chance(0.4) else None
    words["output_padding"] = more
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations or [1] * spatial)]
    full = [(e - 1) * s + r + m for e, s, r, m in
            zip(data.shape[2:], strides, reach, more or [0] * spatial)]
    form = case.draw.one_of(("pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID", "shape"))
    if form == "pads":
        words["pads"] = [min(case.draw.between(0, 2), (f - 1) // 2) for f in full] * 2
    elif form == "shape":
        words["output_shape"] = [max(1, f - case.draw.between(0, 3)) for f in full]
        words["auto_pad"] = case.draw.one_of((None, "SAME_UPPER", "SAME_LOWER"))
    elif form != "none":
        if form != "VALID" and any(f < e * s for f, e, s in zip(full, data.shape[2:], strides)):
            words["strides"], words["output_padding"] = [1] * spatial, None
        words["auto_pad"] = form
    weight = case.tensor([groups * per_group, filters, *kernel], dtype, 0.6)
    operands = [data, case.own(weight, numpy.nan_to_num(weight.array, posinf=2, neginf=-2))]
    if case.draw.chance(0.5):
        operands.append(case.tensor([groups * filters], dtype, 0.7))
    return case.node(operands, group=groups if groups > 1 else None,
                     kernel_shape=case.maybe(kernel), **words)


# ---- images ----

def exactly(case, numbers):
    """Numbers of the file that shapes depend on."""
    value = case.constant(numpy.array(numbers, "float32"))
    value.is_exact = True
    return value


def upsample(case):
    """What counts nothing is not the same everywhere."""
    case.flavour = "plain" if case.flavour == "edges" else case.flavour
    rank = case.draw.one_of((2, 4, 4))
    mode = case.draw.one_of(("nearest", "linear"))
    scales = [1.0] * rank
    for d in (rank - 2, rank - 1):
        scales[d] = case.draw.one_of((1.0, 2.0, 3.0, 1.5, case.draw.real(1, 3)))
    dtype = "float32" if mode == "linear" or case.draw.chance(0.5) else case.dtype()
    data = case.tensor([case.draw.between(1, 5) for _ in range(rank)], dtype, 0.1)
    if not since(case, 9):
        return case.node([data], mode=case.maybe(mode), scales=scales)
    return case.node([data, exactly(case, scales)], mode=case.maybe(mode))


def resized(case, data, axes, scaled):
    """Sizes or scales along the axes; with `scaled`, such that nothing is left over."""
    if case.draw.chance(0.5):
        sizes = [case.draw.between(1, 9) for _ in axes]
        return NONE, sizes
    if scaled:
        return [case.draw.one_of((2.0, 3.0)) for _ in axes], NONE
    return [max(case.draw.one_of((0.5, 1.0, 2.0, 0.6, 1.7, case.draw.real(0.3, 3))),
                1 / data.shape[a] + 1e-3) for a in axes], NONE


def resize(case):
    """A length that is not whole counts rounded in onnxruntime, not in the standard's examples; and
    by a scale of 1 it crops nothing."""
    case.flavour = "plain"  # what counts nothing is not the same everywhere
    modes = ["nearest", "nearest", "linear", "linear"] + (["cubic"] * 2 if since(case, 11) else [])
    mode = case.draw.one_of(modes)
    data = case.tensor([case.draw.between(1, 2), case.draw.between(1, 3),
                        case.draw.between(2, 7), case.draw.between(2, 7)], case.dtype()
                       if mode == "nearest" else "float32", 0.1)
    axes = [2, 3]
    words = {"mode": mode}
    if not since(case, 11):
        scales, _ = [1.0, 1.0, case.draw.one_of((2.0, 0.5, 1.5)), case.draw.one_of((1.0, 2.0, 3.0))], 0
        return case.node([data, exactly(case, scales)], mode=mode)
    forms = ["half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners"]
    if since(case, 19):
        forms.append("half_pixel_symmetric")
    if mode != "cubic" and case.draw.chance(0.2):
        forms = ["tf_crop_and_resize"]
    form = case.draw.one_of(forms)
    words["coordinate_transformation_mode"] = form
    scales, sizes = resized(case, data, axes, form in ("align_corners", "tf_crop_and_resize"))
    roi = NONE
    if form == "tf_crop_and_resize":
        if sizes is not NONE:
            sizes = [size + (size == data.shape[axis]) for axis, size in zip(axes, sizes)]
        low, high = case.draw.rng.random(2) * 0.4, 0.5 + case.draw.rng.random(2)
        roi = numpy.array([0, 0, *low, 1, 1, *high], "float32")
        words["extrapolation_value"] = case.maybe(case.draw.real(0, 2))
    if mode == "nearest":
        words["nearest_mode"] = case.maybe(case.draw.one_of(
            ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")))
    if mode == "cubic":
        words["cubic_coeff_a"] = case.maybe(case.draw.one_of((-0.75, -0.5)), 0.5)
        words["exclude_outside"] = case.maybe(case.draw.between(0, 1), 0.5)
    hold = case.given if case.draw.chance(0.3) and form != "tf_crop_and_resize" else case.constant
    has_axes = since(case, 18) and form != "tf_crop_and_resize" and case.draw.chance(0.4)
    if has_axes:
        words["axes"] = axes if case.draw.chance(0.5) else [a - 4 for a in axes]
    if since(case, 18) and mode in ("linear", "cubic") and form == "half_pixel":
        words["antialias"] = case.maybe(case.draw.between(0, 1), 0.4)
    if has_axes and sizes is not NONE and hold is case.constant:
        words["keep_aspect_ratio_policy"] = case.maybe(case.draw.one_of(
            ("stretch", "not_larger", "not_smaller")), 0.4)
    kept = [] if has_axes else list(data.shape[:2])
    sizes = NONE if sizes is NONE else hold(numpy.array([*kept, *sizes], "int64"))
    if scales is not NONE:
        scales = hold(numpy.array([1] * len(kept) + list(scales), "float32"))
        scales.is_exact = True
    roi = NONE if roi is NONE else exactly(case, roi)
    if scales is NONE and not since(case, 13):
        scales = exactly(case, [])
    if roi is NONE and not since(case, 13):
        roi = exactly(case, [])
    return case.node([data, roi, scales, sizes], **words)


def grid_sample(case):
    """Cubic ones stay inside where the border goes on: onnxruntime goes on with each element, the
    standard with the place."""
    case.flavour = "plain" if case.flavour == "edges" else case.flavour
    batch, channels = case.draw.between(1, 2), case.draw.between(1, 3)
    spatial = 3 if since(case, 20) and case.draw.chance(0.3) else 2
    data = case.tensor([batch, channels, *(case.draw.between(1, 6) for _ in range(spatial))],
                       "float32", 0.1)
    places = [case.draw.between(1, 4) for _ in range(spatial)]
    modes = ("linear", "nearest", "cubic") if since(case, 20) else ("bilinear", "nearest", "bicubic")
    mode = case.draw.one_of(modes[:2] if spatial == 3 else modes)
    padding = case.draw.one_of(("zeros", "border", "reflection"))
    reach = 1 if "cubic" in mode and padding == "border" else 1.6
    grid = case.draw.rng.uniform(-reach, reach, [batch, *places, spatial]).astype("float32")
    return case.node([data, case.holding(grid)], mode=mode, align_corners=case.draw.between(0, 1),
                     padding_mode=padding)


def deform_conv(case):
    case.flavour = "plain"
    groups, parts = case.draw.one_of((1, 1, 2)), case.draw.one_of((1, 2))
    channels, filters = groups * parts * case.draw.between(1, 2), groups * case.draw.between(1, 3)
    kernel, strides, dilations = ([case.draw.between(1, n) for _ in range(2)] for n in (3, 2, 2))
    pads = [case.draw.between(0, 1) for _ in range(4)]
    sides = [case.draw.between(5, 8) for _ in range(2)]
    size = [(sides[d] + pads[d] + pads[2 + d] - dilations[d] * (kernel[d] - 1) - 1) // strides[d] + 1
            for d in range(2)]
    batch, taps = case.draw.between(1, 2), parts * kernel[0] * kernel[1]
    offset = case.draw.rng.uniform(-3, 3, [batch, 2 * taps, *size]).astype("float32")
    operands = [case.tensor([batch, channels, *sides], "float32", 0.1),
                case.tensor([filters, channels // groups, *kernel], "float32", 0.6),
                case.holding(offset)]
    operands.append(case.tensor([filters], "float32", 0.8) if case.draw.chance(0.5) else NONE)
    operands.append(case.tensor([batch, taps, *size], "float32") if case.draw.chance(0.5) else NONE)
    return case.node(operands, group=case.maybe(groups, 0.5) if groups == 1 else groups,
                     offset_group=parts, kernel_shape=case.maybe(kernel), strides=strides,
                     dilations=dilations, pads=pads)


def finite(case, value):
    """What onnxruntime's maxima and weights of 0 make of NaN and infinities depends on the order."""
    return case.own(value, numpy.nan_to_num(value.array, nan=0.5, posinf=3, neginf=-3))


def roi_align(case):
    data = finite(case, case.tensor([2, case.draw.between(1, 3), 7, 9], "float32", 0.1))
    count = case.draw.between(1, 4)
    first = case.draw.rng.uniform(-1, 6, [count, 2])
    rois = numpy.concatenate([first, first + case.draw.rng.uniform(0.2, 7, [count, 2])], 1)
    words = {"output_height": case.draw.between(1, 4), "output_width": case.draw.between(1, 4),
             "sampling_ratio": case.maybe(case.draw.between(0, 3)),
             "spatial_scale": case.draw.one_of((1.0, 0.5)), "mode": case.draw.one_of(("avg", "avg", "max"))}
    if since(case, 16):
        words["coordinate_transformation_mode"] = case.draw.one_of(("half_pixel", "output_half_pixel"))
    return case.node([data, case.holding(rois.astype("float32")),
                      case.holding(case.draw.rng.integers(0, 2, count))], **words)


def lp_norm(case):
    data = finite(case, case.data(1, 4, case.dtype()))
    return case.node([data], axis=case.maybe(axis_of(case, data.rank)), p=case.maybe(case.draw.between(1, 2)))


def max_roi_pool(case):
    data = finite(case, case.tensor([2, case.draw.between(1, 3), 7, 9], "float32", 0.1))
    count = case.draw.between(1, 4)
    first = case.draw.rng.uniform(-2, 8, [count, 2])
    rois = numpy.concatenate([case.draw.rng.integers(0, 2, [count, 1]), first,
                              first + case.draw.rng.uniform(-1, 12, [count, 2])], 1)
    shape = [case.draw.between(1, 4), case.draw.between(1, 4)]
    return case.node([data, case.holding(rois.astype("float32"))], pooled_shape=shape,
                     spatial_scale=case.maybe(case.draw.one_of((1.0, 0.5))))


def determinant(case):
    n = case.draw.between(1, 6)
    batch = case.draw.shape(0, 2, 12)
    return case.node([case.tensor([*batch, n, n], case.dtype())])


def ngrams(case):
    """Sequences of few numbers, so that some of them are found."""
    lengths = [case.draw.between(0, 4) for _ in range(case.draw.between(1, 3))]
    if not sum(lengths):
        lengths[-1] = 1
    grams = [case.draw.rng.integers(0, 4, (count, i + 1)) for i, count in enumerate(lengths)]
    grams = [numpy.unique(g, axis=0) for g in grams]
    starts = numpy.cumsum([0] + [g.size for g in grams[:-1]])
    count = sum(len(g) for g in grams)
    most = case.draw.between(1, len(grams))
    rows = case.draw.rng.integers(0, 4, case.draw.shape(1, 2, 60)).astype(case.dtype())
    weights = [case.draw.real(0.1, 2) for _ in range(count)]
    return case.node([case.holding(rows)], mode=case.draw.one_of(("TF", "IDF", "TFIDF")),
                     min_gram_length=case.draw.between(1, most), max_gram_length=most,
                     max_skip_count=case.draw.between(0, 3), ngram_counts=[int(s) for s in starts],
                     ngram_indexes=[int(i) for i in case.draw.rng.permutation(count)],
                     pool_int64s=[int(x) for g in grams for x in g.ravel()],
                     weights=case.maybe(weights))


# ---- quantised numbers ----

def scales(case, shape, dtype="float32"):
    return case.holding(numpy.asarray(case.draw.rng.uniform(0.01, 0.3, shape)).astype(dtype), 0.7)


def zeros(case, shape, dtype, constant=0.7):
    info = numpy.iinfo(dtype)
    numbers = case.draw.rng.integers(max(info.min, -40), min(info.max, 40) + 1, shape)
    return case.holding(numpy.asarray(numbers).astype(dtype), constant)


def quantize_dynamically(case):
    return case.node([case.tensor(case.draw.shape(1, 4), "float32", 0.1)], 3)


def whole_matmul(case):
    m, k, n = (case.draw.one_of((1, 2, 3, 5, 8, 17)) for _ in range(3))
    batch = case.draw.shape(0, 1, 4)
    kinds = [case.draw.one_of(("uint8", "uint8", "int8")), case.draw.one_of(("int8", "int8", "uint8"))]
    if kinds[0] == "int8":
        kinds[1] = "int8"
    a, b = case.tensor([*batch, m, k], kinds[0]), case.tensor([k, n], kinds[1], 0.7)
    return a, b, kinds


def matmul_integer(case):
    a, b, kinds = whole_matmul(case)
    operands = [a, b]
    if case.draw.chance(0.8):
        operands.append(zeros(case, [], kinds[0]) if case.draw.chance(0.9) else NONE)
        if case.draw.chance(0.7):
            operands.append(zeros(case, [b.shape[1]] if case.draw.chance(0.3) else [], kinds[1]))
    return case.node(operands)


def matmul_qlinear(case):
    a, b, kinds = whole_matmul(case)
    columns = [b.shape[1]] if case.draw.chance(0.3) else []
    return case.node([a, scales(case, []), zeros(case, [], kinds[0]),
                      b, scales(case, columns), zeros(case, columns, kinds[1]),
                      scales(case, []), zeros(case, [], kinds[0])])


def whole_conv(case):
    groups = case.draw.one_of((1, 1, 2))
    channels, filters = groups * case.draw.between(1, 3), groups * case.draw.between(1, 3)
    spatial = case.draw.one_of((1, 2, 2, 2, 3))
    kernel = [case.draw.between(1, 3) for _ in range(spatial)]
    kinds = ("uint8", case.draw.one_of(("uint8", "int8")))
    if case.draw.chance(0.2):
        kinds = ("int8", "int8")
    data = case.tensor([case.draw.between(1, 2), channels, *(6, 5, 5)[:spatial]], kinds[0])
    weight = case.tensor([filters, channels // groups, *kernel], kinds[1], 0.7)
    words = {"group": groups if groups > 1 else None, "kernel_shape": case.maybe(kernel),
             "strides": case.maybe([case.draw.between(1, 2) for _ in kernel], 0.4),
             "dilations": case.maybe([case.draw.between(1, 2) for _ in kernel], 0.3)}
    if case.draw.chance(0.2):
        words["auto_pad"] = case.draw.one_of(("SAME_UPPER", "SAME_LOWER", "VALID"))
    else:
        words["pads"] = case.maybe([case.draw.between(0, 1) for _ in range(2 * spatial)], 0.5)
    return data, weight, kinds, words


def conv_integer(case):
    data, weight, kinds, words = whole_conv(case)
    operands = [data, weight]
    if case.draw.chance(0.8):
        operands.append(zeros(case, [], kinds[0]))
        if case.draw.chance(0.5):
            operands.append(zeros(case, [], kinds[1]))
    return case.node(operands, **words)


def conv_qlinear(case):
    data, weight, kinds, words = whole_conv(case)
    filters = [weight.shape[0]] if case.draw.chance(0.5) else []
    zero = case.constant(numpy.zeros(filters, "int8")) if kinds[1] == "int8" else \
        zeros(case, [], kinds[1], 1)
    operands = [data, scales(case, []), zeros(case, [], kinds[0]), weight, scales(case, filters), zero,
                scales(case, []), zeros(case, [], kinds[0])]
    if case.draw.chance(0.5):
        bias = case.draw.rng.integers(-500, 500, weight.shape[0]).astype("int32")
        operands.append(case.constant(bias))
    return case.node(operands, **words)


# ---- sums of products ----

EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "ij->ji", "ii->i", "ij->", "ii->", "i,i->", "i,j->ij",
             "bhid,bhjd->bhij", "...ij,...jk->...ik", "...i->...", "ij,ij->ij", "bii->bi", "ij",
             "ba", "ij,jk", "ij,jk,kl->il", "i,ij,j->", "ij , jk -> ki")


def random_equation(case):
    """Letters at random, in at most three operands; what comes out is some of them, or not said."""
    letters = [case.draw.one_of("abcd") for _ in range(9)]
    terms, at = [], 0
    for _ in range(case.draw.between(1, 3)):
        count = case.draw.between(1, 3)
        terms.append("".join(letters[at:at + count]))
        at += count
    used = sorted(set("".join(terms)))
    case.draw.rng.shuffle(used)
    left = "".join(used[:case.draw.between(0, len(used))])
    return ",".join(terms) + (f"->{left}" if case.draw.chance(0.8) else "")


def einsum(case):
    """Products that are summed in another order spread what is not finite otherwise."""
    case.flavour = "plain" if case.flavour == "edges" else case.flavour
    equation = case.draw.one_of(EQUATIONS) if case.draw.chance(0.4) else random_equation(case)
    dtype = case.dtype()
    extents = {letter: case.draw.between(1, 5) for letter in set(equation) if letter.isalpha()}
    more = case.draw.shape(0, 2, 12)
    operands = []
    for term in equation.replace(" ", "").split("->")[0].split(","):
        shape = [extents[letter] for letter in term.replace("...", "")]
        operands.append(case.tensor([*more, *shape] if "..." in term else shape, dtype, 0.3))
    return case.node(operands, equation=equation)


# ---- recurrent cells ----

ACTIVATIONS = ("Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
               "HardSigmoid", "Elu", "Softsign", "Softplus")
ONE_NUMBER = ("LeakyRelu", "ThresholdedRelu", "Elu")  # these are given: not all defaults of
TWO_NUMBERS = ("Affine", "ScaledTanh", "HardSigmoid")   # onnxruntime are the standard's
CELLS = {"LSTM": (4, 3), "GRU": (3, 2), "RNN": (1, 1)}


def cell(case):
    """Small numbers: onnxruntime's cells hold operands of functions within limits, and its Softplus
    overflows."""
    case.flavour = "plain"
    gates, functions = CELLS[case.op]
    steps, batch, inputs, hidden = (case.draw.between(1, 4) for _ in range(4))
    direction = case.draw.one_of(("forward", "reverse", "bidirectional"))
    count = 2 if direction == "bidirectional" else 1
    data = case.tensor([steps, batch, inputs], "float32", 0.1)
    operands = [data, case.tensor([count, gates * hidden, inputs], "float32", 0.7),
                case.tensor([count, gates * hidden, hidden], "float32", 0.7)]
    optional = [lambda: case.tensor([count, 2 * gates * hidden], "float32", 0.7),
                lambda: case.holding(case.draw.rng.integers(1, steps + 1, batch).astype("int32"), 0.3),
                lambda: case.tensor([count, batch, hidden], "float32")]
    if case.op == "LSTM":
        optional += [lambda: case.tensor([count, batch, hidden], "float32"),
                     lambda: case.tensor([count, 3 * hidden], "float32")]
    operands += [make() if case.draw.chance(0.5) else NONE for make in optional]
    words = {"direction": direction, "hidden_size": hidden,
             "clip": case.maybe(case.draw.real(0.2, 2), 0.2)}
    if case.op == "GRU":
        words["linear_before_reset"] = case.draw.between(0, 1)
    if case.op == "LSTM":
        words["input_forget"] = case.maybe(1, 0.2)
    if case.draw.chance(0.3):
        names = [case.draw.one_of(ACTIVATIONS) for _ in range(functions * count)]
        words["activations"] = names
        words["activation_alpha"] = [case.draw.real(0.2, 1.5) for n in names if n in ONE_NUMBER + TWO_NUMBERS] or None
        words["activation_beta"] = [case.draw.real(0.2, 1.5) for n in names if n in TWO_NUMBERS] or None
    return case.node(operands, 3 if case.op == "LSTM" else 2, **words)


# ---- signals ----

def dft(case):
    case.flavour = "plain"  # one number that is not finite spreads over all
    shape = case.draw.shape(1, 3, 100)
    inverse = case.draw.between(0, 1)
    data = case.tensor([*shape, case.draw.one_of((1, 2)) if not inverse else 2], "float32", 0.1)
    axis = case.draw.between(0, len(shape) - 1)
    axis = axis - len(shape) - 1 if case.draw.chance(0.3) and axis else axis
    length = case.parameter(case.draw.between(1, 9)) if case.draw.chance(0.4) else NONE
    words = {"inverse": inverse, "onesided": int(data.shape[-1] == 1 and case.draw.chance(0.5))}
    if since(case, 20):
        return case.node([data, length, case.parameter(axis)], **words)
    return case.node([data, length], axis=axis, **words)


def stft(case):
    case.flavour = "plain"
    length, step = case.draw.between(4, 16), case.draw.between(1, 5)
    data = case.tensor([case.draw.between(1, 2), length + case.draw.between(0, 20), 1], "float32", 0.1)
    window = case.tensor([length], "float32", 0.6) if case.draw.chance(0.6) else NONE
    return case.node([data, case.constant(numpy.array(step, "int64")), window,
                      case.constant(numpy.array(length, "int64"))], onesided=case.draw.between(0, 1))


def signal_window(case):
    """Of float32: onnxruntime's numbers are, whatever the type."""
    size = case.constant(numpy.array(case.draw.between(2, 20), case.draw.one_of(("int32", "int64"))))
    return case.node([size], periodic=case.maybe(case.draw.between(0, 1)),
                     output_datatype=case.maybe(TensorProto.FLOAT))


def mel_matrix(case):
    low = case.draw.real(0, 100)
    numbers = [(case.draw.between(1, 9), "int64"), (case.draw.one_of((16, 64, 65)), "int64"),
               (8000, "int64"), (low, "float32"), (low + case.draw.real(500, 3000), "float32")]
    return case.node([case.constant(numpy.array(n, t)) for n, t in numbers])


# ---- transformers ----

def group_norm(case):
    """Onnxruntime takes the square of the mean off the mean of squares."""
    case.flavour = "plain"
    groups, size = case.draw.between(1, 3), case.draw.between(1, 3)
    dtype = case.draw.one_of(("float32", "float32", "float16", "float64"))
    data = spatial_data(case, groups * size, dtype, 2)
    shape = [groups * size if since(case, 21) else groups]
    return case.node([data, case.tensor(shape, dtype, 0.7), case.tensor(shape, dtype, 0.7)],
                     num_groups=groups, epsilon=case.maybe(1e-3))


def rms_norm(case):
    dtype = case.draw.one_of(("float32", "float32", "float16", "float64"))
    data = case.data(1, 4, dtype)
    axis = case.maybe(axis_of(case, data.rank))
    inner = data.shape[-1 if axis is None else axis:]
    return case.node([data, case.tensor(inner, dtype, 0.6)], axis=axis, epsilon=case.maybe(1e-3))


def rotary(case):
    """A product that is added may be beyond its type where the sum is not."""
    case.flavour = "plain" if case.flavour == "edges" else case.flavour
    batch, heads, length = (case.draw.between(1, 3) for _ in range(3))
    size = 2 * case.draw.between(1, 4)
    turned = case.maybe(2 * case.draw.between(1, size // 2), 0.3)
    half = (turned or size) // 2
    is_flat = case.draw.chance(0.4)
    data = case.tensor([batch, length, heads * size] if is_flat else [batch, heads, length, size],
                       "float32", 0.1)
    words = {"interleaved": case.maybe(case.draw.between(0, 1)), "rotary_embedding_dim": turned,
             "num_heads": heads if is_flat or turned else None}
    if case.draw.chance(0.5):
        tables = [case.tensor([9, half], "float32", 0.7) for _ in range(2)]
        places = case.holding(case.draw.rng.integers(0, 9, [batch, length]), 0.3)
        return case.node([data, *tables, places], **words)
    return case.node([data, *(case.tensor([batch, length, half], "float32", 0.7) for _ in range(2))],
                     **words)


def attention(case):
    """What is not finite spreads otherwise where a key counts nothing."""
    case.flavour = "plain" if case.flavour == "edges" else case.flavour
    batch, queries, keys, size = (case.draw.between(1, 4) for _ in range(4))
    kv_heads = case.draw.between(1, 2)
    heads = kv_heads * case.draw.between(1, 2)
    past = case.draw.between(1, 3) if case.draw.chance(0.3) else 0
    if past:
        keys = queries  # onnxruntime counts other places from the last key, the standard from the past
    is_flat = case.draw.chance(0.4)

    def states(count, length):
        shape = [batch, length, count * size] if is_flat else [batch, count, length, size]
        return case.tensor(shape, "float32", 0.1)

    operands = [states(heads, queries), states(kv_heads, keys), states(kv_heads, keys)]
    form = case.draw.one_of(("none", "causal", "float32", "bool"))
    mask = NONE
    lead = case.draw.one_of(([], [], [1, 1], [batch, 1], [1, heads], [batch, heads]))
    if form == "float32":
        mask = case.tensor([*lead, queries, keys + past], "float32")
    elif form == "bool":
        truths = case.draw.rng.random([*lead, queries, keys + past]) < 0.7
        truths[..., 0] = True
        mask = case.holding(truths)
    operands.append(mask)
    if past:
        operands += [case.tensor([batch, kv_heads, past, size], "float32") for _ in range(2)]
    words = {"q_num_heads": heads, "kv_num_heads": kv_heads} if is_flat else {}
    return case.node(operands, 3 if past else 1, is_causal=int(form == "causal") or None,
                     scale=case.maybe(case.draw.real(0.1, 1), 0.3),
                     softcap=case.maybe(case.draw.real(0.5, 3), 0.2), **words)


TABLE = {
    "GroupNormalization": group_norm, "RMSNormalization": rms_norm, "RotaryEmbedding": rotary,
    "Attention": attention,
    **named("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", loss),
    "ConvTranspose": convolve_transposed, "Upsample": upsample, "Resize": resize,
    "GridSample": grid_sample, "DeformConv": deform_conv, "RoiAlign": roi_align,
    "MaxRoiPool": max_roi_pool, "LpNormalization": lp_norm,
    "DynamicQuantizeLinear": quantize_dynamically,
    "MatMulInteger": matmul_integer, "QLinearMatMul": matmul_qlinear, "ConvInteger": conv_integer,
    "QLinearConv": conv_qlinear, "Einsum": einsum, **named("LSTM GRU RNN", cell), "DFT": dft,
    "STFT": stft, **named("HannWindow HammingWindow BlackmanWindow", signal_window),
    "MelWeightMatrix": mel_matrix, "Det": determinant, "TfIdfVectorizer": ngrams,
}
