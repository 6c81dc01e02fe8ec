"""How operators of the domain com.microsoft are drawn (see onnx_operators.py)."""
import numpy

from onnx_draw import NONE
from onnx_operators import named

DOMAIN = "com.microsoft"


def joined(case, shape, *others):
    """float32 operands: one of the shape, others of theirs."""
    return [case.tensor(s, "float32") for s in (shape, *others)]


def gelu_of_microsoft(case):
    shape = case.draw.shape(1, 4)
    bias = {"BiasGelu": 1.0, "FastGelu": 0.5}.get(case.op, 0.0)
    more = [shape[-1:]] if case.draw.chance(bias) else []
    words = {"alpha": case.maybe(case.draw.real(0.5, 2))} if case.op == "QuickGelu" else {}
    return case.node(joined(case, shape, *more), **words)


def fused_matmul(case):
    rank = case.draw.between(2, 4)
    batch = case.draw.shape(rank - 2, rank - 2, 12)
    n, k, m = (case.draw.between(1, 6) for _ in range(3))
    turns = [case.draw.between(0, 1) for _ in range(2)]
    sides = [[*batch, *((n, k)[:: -1 if turns[0] else 1])], [*batch, *((k, m)[:: -1 if turns[1] else 1])]]
    moved = [case.draw.between(0, 1) if rank > 2 and case.draw.chance(0.4) else 0 for _ in range(2)]
    sides = [[side[-2], *batch, side[-1]] if is_moved else side for side, is_moved in zip(sides, moved)]
    return case.node(joined(case, *sides), transA=turns[0], transB=turns[1],
                     transBatchA=moved[0] or None, transBatchB=moved[1] or None,
                     alpha=case.maybe(case.draw.real(-2, 2)))


def skip_norm(case):
    shape = [case.draw.between(1, 3), case.draw.between(1, 5), case.draw.between(2, 9)]
    is_simple = case.op.startswith("SkipSimplified")
    operands = joined(case, shape, shape, shape[-1:])
    if not is_simple:
        operands += [case.tensor(shape[-1:], "float32") if case.draw.chance(0.7) else NONE]
    if case.draw.chance(0.5):
        operands += joined(case, shape[-1:])
    return case.node(operands, epsilon=case.draw.one_of((1e-5, 1e-3)))


def few_bits(case):
    """No zero points with an order of groups: onnxruntime's are others then."""
    n, k, block = case.draw.between(1, 9), case.draw.between(1, 70), case.draw.one_of((16, 32))
    bits = case.draw.one_of((4, 4, 4, 8))
    blocks = -(-k // block)
    rng = case.draw.rng
    operands = [case.tensor([*case.draw.shape(1, 2, 12), k], "float32"),
                case.constant(rng.integers(0, 256, [n, blocks, block * bits // 8]).astype("uint8")),
                case.constant(rng.uniform(0.01, 0.3, [n * blocks]).astype("float32"))]
    has_order = case.draw.chance(0.3) and bits == 4
    if has_order:
        operands += [NONE]
    elif case.draw.chance(0.5):
        zeros = rng.integers(0, 256, [n * -(-blocks * bits // 8)]).astype("uint8")
        operands.append(case.constant(zeros))
    if has_order:
        operands.append(case.constant(rng.integers(0, blocks, [blocks * block]).astype("int32")))
    return case.node(operands, K=k, N=n, bits=bits, block_size=block)


def rotary_of_microsoft(case):
    batch, heads, length = (case.draw.between(1, 3) for _ in range(3))
    size, most = 2 * case.draw.between(1, 4), 12
    shape = [batch, length, heads * size]
    if case.draw.chance(0.5):
        positions = numpy.array([case.draw.between(0, most - length)], "int64")
    else:
        positions = case.draw.rng.integers(0, most, [batch, length]).astype("int64")
    angles = case.draw.rng.uniform(-3, 3, [most, size // 2])
    return case.node([case.tensor(shape, "float32"), case.holding(positions),
                      case.holding(numpy.cos(angles).astype("float32")),
                      case.holding(numpy.sin(angles).astype("float32"))],
                     num_heads=heads, interleaved=case.maybe(case.draw.between(0, 1)))


def attention_of_microsoft(case):
    batch, length, heads, size = (case.draw.between(1, n) for n in (3, 5, 3, 4))
    width, past = heads * size, case.draw.one_of((0, 0, 2))
    data = case.draw.between(2, 7)
    operands = joined(case, [batch, length, data], [data, 3 * width], [3 * width])
    form = case.draw.one_of(("none", "lengths", "raw", "rows"))
    total = past + length
    if form == "none":
        operands.append(NONE)
    elif form == "lengths":
        operands.append(case.holding(case.draw.rng.integers(1, total + 1, batch).astype("int32")))
    else:
        shape = [batch, total] if form == "raw" else [batch, length, total]
        mask = case.draw.rng.integers(0, 2, shape)
        mask[..., 0] = 1
        operands.append(case.holding(mask.astype("int32")))
    if past:
        operands += joined(case, [2, batch, heads, past, size])
    elif case.draw.chance(0.3):
        operands += [NONE, case.tensor([batch, heads, length, length], "float32")]
    return case.node(operands, 2 if past else 1, num_heads=heads,
                     unidirectional=case.maybe(case.draw.between(0, 1)),
                     scale=case.maybe(case.draw.real(0.2, 1), 0.3))


TABLE = {
    **named("Gelu BiasGelu FastGelu QuickGelu", gelu_of_microsoft), "FusedMatMul": fused_matmul,
    **named("SkipLayerNormalization SkipSimplifiedLayerNormalization", skip_norm),
    "MatMulNBits": few_bits, "RotaryEmbedding": rotary_of_microsoft,
    "Attention": attention_of_microsoft,
}
