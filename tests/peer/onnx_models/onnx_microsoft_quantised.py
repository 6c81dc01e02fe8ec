"""How operators on quantised tensors are drawn that onnxruntime's quantiser and optimiser write
(domain com.microsoft; see onnx_operators.py)."""
import numpy

from onnx_microsoft_fused import whole


def sides(case, kind=None):
    """A scale and a zero point of a type."""
    kind = kind or case.draw.one_of(("int8", "uint8"))
    low = 0 if kind == "uint8" else -100
    zero = numpy.array(case.draw.between(low, low + 200), kind)
    return [case.constant(numpy.float32(case.draw.real(0.01, 0.1))), case.constant(zero)]


def binary(case):
    kind = case.draw.one_of(("int8", "uint8"))
    shape = case.draw.shape(1, 4, 60)
    return case.node([whole(case, shape, kind), *sides(case, kind),
                      whole(case, case.draw.under(shape), kind, 0.5), *sides(case, kind),
                      *sides(case, kind)])


def where(case):
    kind = case.draw.one_of(("int8", "uint8"))
    shape = case.draw.shape(1, 4, 60)
    return case.node([case.holding(case.draw.rng.random(case.draw.under(shape)) < 0.5),
                      whole(case, shape, kind), *sides(case, kind),
                      whole(case, case.draw.under(shape), kind), *sides(case, kind), *sides(case, kind)])


def unary(case):
    kind = case.draw.one_of(("int8", "uint8"))
    operands = [whole(case, case.draw.shape(1, 4, 60), kind), *sides(case, kind), *sides(case, kind)]
    return case.node(operands, alpha=0.2 if case.op == "QLinearLeakyRelu" else None)


def softmax(case):
    kind = case.draw.one_of(("int8", "uint8"))
    zero = numpy.array(0 if kind == "uint8" else -128, kind)
    shape = case.draw.shape(2, 3, 60)
    shape[-1] += shape[-1] == 1  # onnxruntime has something else for a row of one
    operands = [whole(case, shape, kind), *sides(case, kind),
                case.constant(numpy.float32(1 / 200)), case.constant(zero)]
    return case.node(operands, axis=-1, opset=13)


def picture(case, is_last):
    """A shape of channels and two dimensions of space, and how many channels."""
    channels = case.draw.between(1, 6)
    space = [case.draw.between(3, 7), case.draw.between(3, 7)]
    batch = case.draw.between(1, 2)
    return [batch, *space, channels] if is_last else [batch, channels, *space], channels


def window(case):
    side, stride, pad = case.draw.between(1, 3), case.draw.between(1, 2), case.draw.between(0, 1)
    return {"kernel_shape": [side] * 2, "strides": [stride] * 2, "pads": [min(pad, side - 1)] * 4}


def conv(case):
    is_last = case.draw.between(0, 1)
    shape, channels = picture(case, is_last)
    group = channels if case.draw.chance(0.3) else 1
    outs = group * case.draw.between(1, 3)
    attributes = window(case)
    weight = whole(case, [outs, channels // group, *attributes["kernel_shape"]], "int8", 1)
    each = [outs] if case.draw.chance(0.5) else []
    scale = case.constant(case.draw.rng.uniform(0.001, 0.01, each).astype("float32"))
    operands = [whole(case, shape, "uint8"), *sides(case, "uint8"), weight, scale,
                case.constant(numpy.zeros(each, "int8")), *sides(case, "uint8")]
    if case.draw.chance(0.5):
        operands.append(case.constant(case.draw.rng.integers(-999, 999, outs).astype("int32")))
    return case.node(operands, group=group, channels_last=is_last, **attributes)


def average(case):
    is_last = case.draw.between(0, 1)
    kind = case.draw.one_of(("int8", "uint8"))
    operands = [whole(case, picture(case, is_last)[0], kind), *sides(case, kind), *sides(case, kind)]
    attributes = {} if "Global" in case.op else window(case)
    return case.node(operands, channels_last=is_last, **attributes)


def pool(case):
    return case.node([whole(case, picture(case, True)[0], case.draw.one_of(("int8", "uint8")))],
                     **window(case))


def concat(case):
    kind = case.draw.one_of(("int8", "uint8"))
    shape = case.draw.shape(2, 3, 60)
    axis = case.draw.between(0, len(shape) - 1)
    operands = sides(case, kind)
    for _ in range(case.draw.between(1, 4)):
        shape[axis] = case.draw.between(1, 4)
        operands += [whole(case, list(shape), kind), *sides(case, kind)]
    return case.node(operands, axis=axis)


def gemm(case):
    n, k, m = (case.draw.between(1, 6) for _ in range(3))
    turned = case.draw.between(0, 1)
    operands = [whole(case, [n, k], "uint8"), *sides(case, "uint8"),
                whole(case, [m, k] if turned else [k, m], "int8", 1),
                case.constant(numpy.float32(0.02)), case.constant(numpy.array(0, "int8")),
                case.constant(case.draw.rng.integers(-99, 99, [m]).astype("int32"))]
    if case.draw.chance(0.6):
        operands += sides(case, "uint8")
    return case.node(operands, transB=turned, alpha=1.0)


TABLE = {"QLinearAdd": binary, "QLinearMul": binary, "QLinearSigmoid": unary, "QLinearLeakyRelu": unary,
         "QLinearSoftmax": softmax, "QLinearConv": conv, "QLinearAveragePool": average,
         "QLinearGlobalAveragePool": average, "NhwcMaxPool": pool, "QLinearConcat": concat,
         "QLinearWhere": where, "QGemm": gemm}
