"""How operators of the domain com.microsoft are drawn that are the standard's in other words, small,
or weights of few bits (see onnx_operators.py)."""
import numpy

from onnx_draw import NONE
from onnx_microsoft import joined


def triangle(case):
    shape = case.draw.shape(2, 3)
    operands = joined(case, shape)
    if case.draw.chance(0.6):
        operands.append(case.constant(numpy.array(case.draw.between(-3, 3), "int64")))
    return case.node(operands, upper=case.maybe(case.draw.between(0, 1)))


def gather_nd(case):
    shape = case.draw.shape(2, 3)
    width = case.draw.between(1, len(shape))
    count = case.draw.between(1, 4) if all(shape[:width]) else 0  # of nothing there is no place
    columns = [case.draw.rng.integers(0, size or 1, count) for size in shape[:width]]
    return case.node([*joined(case, shape), case.holding(numpy.stack(columns, 1).astype("int64"))])


def once(case):
    count = case.draw.between(1, 9)
    return case.node([case.holding(case.draw.rng.integers(-3, 4, count).astype("float32"))], 3)


def crops(case):
    batch, channels, high, wide, count = (case.draw.between(1, most) for most in (3, 3, 7, 7, 4))
    regions = numpy.round(case.draw.rng.uniform(-0.2, 1.2, (count, 4)), 2).astype("float32")
    numbers_of = case.draw.rng.integers(0, batch, count).astype("int32")
    size = numpy.array([case.draw.between(1, 5), case.draw.between(1, 5)], "int32")
    return case.node([*joined(case, [batch, channels, high, wide]), case.holding(regions),
                      case.holding(numbers_of), case.constant(size)],
                     mode=case.maybe(case.draw.one_of(("bilinear", "nearest"))),
                     extrapolation_value=case.maybe(case.draw.real(-2, 2)))


def numbers(case):
    start, step = case.draw.between(-3, 3), case.draw.between(1, 3)
    items = [start, start + case.draw.between(1, 9)] + ([step] if case.draw.chance(0.5) else [])
    form = case.draw.one_of(([], [1]))
    return case.node([case.constant(numpy.full(form, item, "float32")) for item in items])


def pad(case):
    shape = case.draw.shape(1, 3)
    widths = numpy.array([case.draw.between(0, 2) for _ in range(2 * len(shape))], "int64")
    operands = [*joined(case, shape), case.constant(widths[None] if case.draw.chance(0.4) else widths)]
    if case.draw.chance(0.4):
        operands.append(case.constant(numpy.array([1.5], "float32")))
    return case.node(operands, mode=case.draw.one_of((None, "constant", "edge")))


def expand_dims(case):
    shape = case.draw.shape(1, 3)
    axis = numpy.array([case.draw.between(-len(shape) - 1, len(shape))], "int32")
    return case.node([*joined(case, shape), case.constant(axis)])


def distances(case):
    width = case.draw.between(1, 5)
    sides = [[case.draw.between(1, 5), width] for _ in range(2)]
    return case.node(joined(case, *sides), metric=case.draw.one_of(("sqeuclidean", "euclidean")))


def short_product(case):
    n, k, m = (case.draw.between(1, 5) for _ in range(3))
    sides = [case.draw.rng.integers(-900, 900, shape).astype("int16") for shape in ([n, k], [k, m])]
    return case.node([case.holding(side) for side in sides])


def transposed_product(case):
    n, k, m = (case.draw.between(1, 6) for _ in range(3))
    turns = [case.draw.between(0, 1) for _ in range(2)]
    sides = [(n, k)[::-1] if turns[0] else (n, k), (k, m)[::-1] if turns[1] else (k, m)]
    return case.node(joined(case, *sides), transA=turns[0], transB=turns[1],
                     alpha=case.maybe(case.draw.real(-2, 2)))


def rows_of_blocks(case):
    rng, bits = case.draw.rng, case.draw.one_of((4, 4, 8))
    rows, blocks = case.draw.between(1, 6), case.draw.between(1, 3)
    width = 16 * blocks
    operands = [case.constant(rng.integers(0, 256, [rows, width * bits // 8]).astype("uint8")),
                case.holding(rng.integers(-rows, rows, case.draw.shape(1, 2)).astype("int64")),
                case.constant(rng.uniform(0.01, 0.3, [rows, blocks]).astype("float32"))]
    if case.draw.chance(0.5):
        operands.append(case.constant(rng.integers(0, 256, [rows, -(-blocks * bits // 8)]).astype("uint8")))
    return case.node(operands, bits=bits, block_size=16, quantize_axis=1, gather_axis=0)


def factor_of_16(case):
    rng, n, k = case.draw.rng, case.draw.between(1, 6), case.draw.between(1, 40)
    size = (n * k + 1) // 2
    operands = [case.tensor([case.draw.between(1, 4), k], "float32"),
                case.constant(rng.integers(0, 256, [size]).astype("uint8")),
                case.constant(rng.uniform(0.1, 2, [-(-n * k // 16)]).astype("float32"))]
    return case.node(operands, K=k, N=n, block_size=16, quant_type=case.draw.between(0, 1))


def quantised_embedding(case):
    rng = case.draw.rng
    batch, length, wide, words = (case.draw.between(*limits) for limits in ((1, 3), (1, 5), (2, 8), (3, 9)))
    has_segments = case.draw.chance(0.6)
    tables = [[words, wide], [length + 1, wide], [2, wide] if has_segments else None, [wide], [wide]]
    operands = [case.holding(rng.integers(0, words, [batch, length]).astype("int32")),
                case.holding(rng.integers(0, 2, [batch, length]).astype("int32")) if has_segments else NONE]
    operands += [case.constant(rng.integers(0, 256, shape).astype("uint8")) if shape else NONE for shape in tables]
    mask = numpy.arange(length)[None] < rng.integers(1, length + 1, [batch, 1])
    operands.append(case.holding(mask.astype("int32")) if case.draw.chance(0.5) else NONE)
    operands += [case.constant(numpy.array(case.draw.real(0.01, 0.1), "float32")) if s else NONE for s in tables]
    operands += [case.constant(numpy.array(case.draw.between(100, 150), "uint8")) if s else NONE for s in tables]
    return case.node(operands, 2, epsilon=1e-5)


def experts(case):
    draw = case.draw
    count, wide, inside, batch = draw.between(1, 5), draw.between(2, 6), draw.between(1, 5), draw.between(1, 4)
    kind = draw.one_of(("relu", "gelu", "silu", "identity", "swiglu"))
    rows = (2 if kind == "swiglu" else 1) * inside
    shape = [batch, wide] if draw.chance(0.5) else [batch, 2, wide]
    tokens = batch * (2 if len(shape) == 3 else 1)
    has_bias = draw.chance(0.5)
    operands = joined(case, shape, [tokens, count], [count, rows, wide])
    operands += joined(case, [count, rows]) if has_bias else [NONE]
    operands += joined(case, [count, wide, inside])
    operands += joined(case, [count, wide]) if has_bias else []
    words = {"swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0,
             "swiglu_limit": draw.one_of((None, 1.0))} if kind == "swiglu" else {}
    return case.node(operands, k=draw.between(1, count), activation_type=kind,
                     normalize_routing_weights=draw.between(0, 1), **words)


def short_experts(case):
    """Weights of 4 and 8 bits, with a scale for each row or for blocks. onnxruntime normalises always, and
    computes blocks of 8 bits with short data.
    """
    draw, rng = case.draw, case.draw.rng
    count, (bits, block) = draw.between(1, 3), draw.one_of(((4, None), (4, 16), (8, None)))
    wide, inside, tokens = 32, 16 * draw.between(1, 2), draw.between(1, 3)
    operands = joined(case, [tokens, wide], [tokens, count])
    for rows, columns in ((2 * inside, wide), (wide, inside)):
        blocks = [columns // 16] if block else []
        operands += [case.constant(rng.integers(0, 256, [count, rows, columns * bits // 8]).astype("uint8")),
                     case.constant(rng.uniform(0.01, 0.1, [count, rows, *blocks]).astype("float32")), NONE]
    return case.node(operands, k=draw.between(1, count), activation_type="swiglu", swiglu_fusion=1,
                     normalize_routing_weights=1, expert_weight_bits=bits, block_size=block)


TABLE = {
    "Trilu": triangle, "GatherND": gather_nd, "Range": numbers, "Pad": pad, "ExpandDims": expand_dims,
    "Unique": once, "CropAndResize": crops, "CDist": distances, "MatMulInteger16": short_product,
    "TransposeMatMul": transposed_product,
    "GatherBlockQuantized": rows_of_blocks, "MatMulBnb4": factor_of_16,
    "QEmbedLayerNormalization": quantised_embedding, "MoE": experts, "QMoE": short_experts,
}
