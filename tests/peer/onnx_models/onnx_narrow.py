"""How casts to types of 4 and 8 bits, and all that is quantised to them, are drawn (see
onnx_operators.py). Such tensors are no inputs and outputs here: they come from Cast and go to it."""
import ml_dtypes
import numpy
from onnx import TensorProto, helper

from onnx_draw import NONE, TENSOR_TYPES, Value
from onnx_operators import cast, since

EIGHT = {"FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
         "FLOAT8E5M2": ml_dtypes.float8_e5m2, "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz}
FOUR = {"INT4": (ml_dtypes.int4, -8, 7), "UINT4": (ml_dtypes.uint4, 0, 15)}
NUMBER = {word: getattr(TensorProto, word) for word in (*EIGHT, *FOUR, "BFLOAT16")}


def joined(case, name, to, **attributes):
    """A cast of what stands under a name: the name of its result."""
    result = case.name("c")
    case.nodes.append(helper.make_node("Cast", [name], [result], name=result, to=to, **attributes))
    return result


def narrow_types(case, version=None):
    version = version or case.opset
    return ["BFLOAT16"] + (list(EIGHT) if version >= 19 else []) + (list(FOUR) if version >= 21 else [])


def narrow_cast(case):
    """There, through a node that moves, and back."""
    word = case.draw.one_of(narrow_types(case))
    kind = case.draw.one_of(("float32", "float32", "float16", "float64") if word not in FOUR else
                            ("float32", "int32", "int8", "uint8", "float16"))
    data = case.data(1, 4, kind)
    if word in FOUR:
        _, low, high = FOUR[word]
        low = 0 if kind == "uint8" else low
        case.own(data, case.draw.rng.integers(low, high + 1, data.shape))
    elif case.flavour != "plain":
        case.own(data, numpy.where(case.draw.rng.random(data.shape) < 0.5, data.array * 100, data.array))
    words = {"saturate": case.draw.between(0, 1)} if word in EIGHT and case.draw.chance(0.5) else {}
    name = joined(case, data.name, NUMBER[word], **words)
    if case.draw.chance(0.6):
        order = [int(a) for a in case.draw.rng.permutation(data.rank)]
        result = case.name("c")
        node = case.draw.one_of((("Identity", {}), ("Transpose", {"perm": order})))
        case.nodes.append(helper.make_node(node[0], [name], [result], name=result, **node[1]))
        name = result
    case.derived.append(Value(name, data.array))
    back = "float32" if case.draw.chance(0.7) else "float16"
    return case.node([case.derived[-1]], to=TENSOR_TYPES[back])


def any_cast(case):
    if case.opset >= 13 and case.draw.chance(0.35):
        return narrow_cast(case)
    return cast(case)


# ---- quantised ----

def stored_types(case, is_quantised_only):
    words = ["uint8", "int8"]
    if since(case, 19):
        words += list(EIGHT)[:: 2 if case.draw.chance(0.5) else 1]
    if since(case, 21):
        words += ["uint16", "int16", *FOUR, *FOUR]
    return words if is_quantised_only else words + ["int32"]


def some_of(case, word, shape, is_zero=False):
    """Numbers of a type of at most 16 bits (or int32)."""
    if word in EIGHT:
        data = numpy.zeros(shape) if is_zero else case.draw.numbers(shape, "float32")
        return numpy.asarray(data).astype(EIGHT[word])
    if word in FOUR:
        dtype, low, high = FOUR[word]
        return numpy.asarray(case.draw.rng.integers(low, high + 1, shape)).astype("int8").astype(dtype)
    info = numpy.iinfo(word)
    low, high = (max(info.min, -40), min(info.max, 40)) if is_zero else (info.min, info.max)
    if word == "int32":
        low, high = -10**6, 10**6
    return numpy.asarray(case.draw.rng.integers(low, high + 1, shape)).astype(word)


def grain(case, shape):
    """(axis or None, block size or None, shape of scales)"""
    form = case.draw.one_of(("tensor", "axis", "block" if since(case, 21) else "axis"))
    if form == "tensor" or not since(case, 13):
        return case.maybe(0, 0.1), None, [] if case.draw.chance(0.8) or form == "axis" else [1]
    axis = case.draw.between(0, len(shape) - 1)
    said = axis - len(shape) if case.draw.chance(0.3) else axis
    if form == "axis":
        return said, None, [shape[axis]]
    block = case.draw.between(1, max(1, shape[axis]))
    scales = list(shape)
    scales[axis] = -(-shape[axis] // block)
    return said, block, scales


def scales_of(case, shape, dtype):
    data = numpy.asarray(case.draw.rng.uniform(0.01, 0.3, shape)).astype(dtype)
    return case.holding(data, 0.7)


def known(case, word, array):
    """An operand; of 4 bits and of floats of 8 in the file."""
    return case.constant(array) if word in (*EIGHT, *FOUR) else case.holding(array, 0.7)


def quantize(case):
    shape = [s or 1 for s in case.draw.shape(1, 4)]
    dtype = "float16" if since(case, 19) and case.draw.chance(0.25) else "float32"
    axis, block, places = grain(case, shape)
    word = case.draw.one_of(stored_types(case, True))
    data = case.tensor(shape, dtype, 0.1)
    if case.draw.chance(0.5):  # beyond the ends as well
        data = case.own(data, data.array * case.draw.one_of((8, 100)))
    operands = [data, scales_of(case, places, dtype)]
    words = {"axis": axis, "block_size": block}
    if word in EIGHT and case.draw.chance(0.5):
        words["saturate"] = case.draw.between(0, 1)
    if word == "uint8" and case.draw.chance(0.3):
        operands.append(NONE)
    elif since(case, 21) and case.draw.chance(0.2):
        words["output_dtype"] = NUMBER.get(word) or TENSOR_TYPES[word]
    else:
        operands.append(known(case, word, some_of(case, word, places, True)))
    if word not in (*EIGHT, *FOUR):
        return case.node(operands, **words)
    names = case.node(operands, **words)  # what comes out is seen through a cast
    case.outputs = [joined(case, names[0], TensorProto.FLOAT)]
    return names


def dequantize(case):
    shape = [s or 1 for s in case.draw.shape(1, 4)]
    word = case.draw.one_of(stored_types(case, False))
    axis, block, places = grain(case, shape)
    dtype = "float16" if since(case, 19) and case.draw.chance(0.25) else "float32"
    data = known(case, word, some_of(case, word, shape))
    operands = [data, scales_of(case, places, dtype)]
    if word != "int32" and case.draw.chance(0.7):
        operands.append(known(case, word, some_of(case, word, places, True)))
    return case.node(operands, axis=axis, block_size=block)


TABLE = {"Cast": any_cast, "QuantizeLinear": quantize, "DequantizeLinear": dequantize}
