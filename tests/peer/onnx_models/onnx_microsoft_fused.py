"""How operators are drawn that onnxruntime's optimiser and quantiser fuse of others (domain
com.microsoft; see onnx_operators.py)."""
import numpy

from onnx_draw import NONE
from onnx_microsoft import joined

ACTIVATIONS = (None, "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid")
PARAMS = {"LeakyRelu": {"alpha": 0.2}, "Elu": {"alpha": 0.7}, "ThresholdedRelu": {"alpha": 0.3},
          "Selu": {"alpha": 1.5, "gamma": 1.1}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4}}  # of FusedGemm


def fused_conv(case):
    channels, group = case.draw.between(1, 3), case.draw.between(1, 2)
    out = group * case.draw.between(1, 3)
    side, kernel = case.draw.between(3, 7), case.draw.between(1, 3)
    stride, pad = case.draw.between(1, 2), case.draw.between(0, 1)
    shape = [case.draw.between(1, 2), group * channels, side, side]
    operands = joined(case, shape, [out, channels, kernel, kernel])
    name = case.draw.one_of(ACTIVATIONS)
    params = {"LeakyRelu": [0.1], "Clip": [-0.5, 0.7], "HardSigmoid": [0.3, 0.4]}.get(name)
    operands += joined(case, [out]) if case.draw.chance(0.6) else [NONE]
    if case.draw.chance(0.4):
        size = (side + 2 * pad - kernel) // stride + 1
        operands += joined(case, [shape[0], out, size, size])
    return case.node(operands, group=group, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                     pads=[pad] * 4, activation=name, activation_params=params)


def fused_gemm(case):
    n, k, m = (case.draw.between(1, 6) for _ in range(3))
    turns = [case.draw.between(0, 1) for _ in range(2)]
    sides = [(n, k)[::-1] if turns[0] else (n, k), (k, m)[::-1] if turns[1] else (k, m)]
    name = case.draw.one_of((None, "Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", *PARAMS))
    params = {f"activation_{key}": value for key, value in PARAMS.get(name, {}).items()}
    return case.node(joined(case, *sides, [m]), transA=turns[0], transB=turns[1], activation=name,
                     alpha=case.maybe(case.draw.real(-2, 2)), **params)


def embedding(case):
    batch, length, wide, words = (case.draw.between(*limits) for limits in ((1, 3), (1, 5), (2, 8), (3, 9)))
    ids = case.holding(case.draw.rng.integers(0, words, [batch, length]).astype("int32"))
    has_segments = case.draw.chance(0.6)
    segments = case.holding(case.draw.rng.integers(0, 2, [batch, length]).astype("int32")) if has_segments else NONE
    tables = joined(case, [words, wide], [length + 3, wide])
    tables += joined(case, [2, wide]) if has_segments else [NONE]
    operands = [ids, segments, *tables, *joined(case, [wide], [wide])]
    if case.draw.chance(0.4):
        mask = numpy.ones([batch, length], "int32")
        mask[0, length // 2:] = 0
        operands.append(case.holding(mask))
    return case.node(operands, 2, epsilon=case.draw.one_of((1e-12, 1e-5)))


def multi_head(case):
    batch, heads, size, length = (case.draw.between(1, n) for n in (3, 3, 4, 5))
    wide = heads * size
    past = case.draw.one_of((0, 0, 2))
    total = length if past else case.draw.between(1, 6)
    operands = joined(case, [batch, length, wide], [batch, total, wide], [batch, total, wide])
    operands += joined(case, [3 * wide]) if case.draw.chance(0.5) else [NONE]
    total += past
    kind = case.draw.one_of(("none", "none", "lengths", "raw"))
    if kind == "none":
        operands.append(NONE)
    elif kind == "lengths":
        operands.append(case.holding(case.draw.rng.integers(1, total + 1, batch).astype("int32")))
    else:
        mask = case.draw.rng.integers(0, 2, [batch, total])
        mask[..., 0] = 1
        operands.append(case.holding(mask.astype("int32")))
    bias = [case.draw.one_of((1, batch)), case.draw.one_of((1, heads)), length, total]
    operands += joined(case, bias) if case.draw.chance(0.3) else [NONE]
    if past:
        operands += joined(case, *[[batch, heads, past, size]] * 2)
    causal = 1 if total == length and case.draw.chance(0.3) else None
    return case.node(operands, 3 if past else 1, num_heads=heads, unidirectional=causal,
                     scale=case.maybe(case.draw.real(0.2, 1), 0.3))


def grouped(case):
    batch, served, times = (case.draw.between(1, n) for n in (3, 2, 3))
    heads, size = served * times, 16
    past = case.draw.one_of((0, 3, 5))
    length = 1 if past else case.draw.between(1, 5)
    rng = case.draw.rng
    is_packed = case.draw.chance(0.4)
    if is_packed:
        operands = joined(case, [batch, length, (heads + 2 * served) * size]) + [NONE, NONE]
    else:
        operands = joined(case, [batch, length, heads * size], *[[batch, length, served * size]] * 2)
    state = [batch, served, past, size]
    operands += joined(case, state, state)
    total = past + length
    ends = numpy.full(batch, total - 1)
    if past:
        ends = rng.integers(length, total, batch)
        ends[0] = total - 1
    operands += [case.holding(ends.astype("int32")), case.parameter(total, "int32")]
    rotates = case.draw.chance(0.6)
    if rotates:
        angles = rng.uniform(-3, 3, [total + 4, size // 2])
        operands += [case.holding(f(angles).astype("float32")) for f in (numpy.cos, numpy.sin)]
    form, has_norms = case.draw.one_of((None, None, "sink", "smooth")), case.draw.chance(0.3)
    if form == "sink" or has_norms:
        operands += [NONE] * (11 - len(operands)) + (joined(case, [heads]) if form == "sink" else [NONE])
    if has_norms:
        operands += [NONE, NONE, *joined(case, [size], [size])]
    return case.node(operands, 3, num_heads=heads, kv_num_heads=served, do_rotary=int(rotates),
                     smooth_softmax=1 if form == "smooth" else None,
                     qk_norm_epsilon=1e-4 if has_norms else None,
                     rotary_interleaved=case.draw.between(0, 1) if rotates else None,
                     local_window_size=case.draw.one_of((None, None, 2, 4)),
                     softcap=case.draw.one_of((None, None, 2.0)),
                     scale=case.maybe(case.draw.real(0.2, 1), 0.3))


def linear_attention(case):
    batch, length, heads, times, size, wide = (case.draw.between(1, n) for n in (2, 5, 3, 2, 4, 4))
    rule = case.draw.one_of(("linear", "gated", "delta", "gated_delta"))
    keys = case.draw.numbers([batch, length, heads, size], "float32")
    keys /= numpy.maximum(numpy.linalg.norm(keys, axis=-1, keepdims=True), 0.1)
    operands = joined(case, [batch, length, heads * times * size])
    operands += [case.holding(keys.reshape(batch, length, heads * size)),
                 *joined(case, [batch, length, heads * wide])]
    operands += joined(case, [batch, heads, size, wide]) if case.draw.chance(0.5) else [NONE]
    decays = heads * case.draw.one_of((1, size))
    decay = -numpy.abs(case.draw.numbers([batch, length, decays], "float32"))
    operands.append(case.holding(decay) if "gated" in rule else NONE)
    beta = case.draw.rng.uniform(0, 1, [batch, length, case.draw.one_of((1, heads))])
    operands.append(case.holding(beta.astype("float32")) if "delta" in rule else NONE)
    return case.node(operands, 2, q_num_heads=heads * times, kv_num_heads=heads, update_rule=rule,
                     scale=case.maybe(case.draw.real(0.2, 1), 0.5))


def whole(case, shape, dtype, constant=0.2):
    info = numpy.iinfo(dtype)
    return case.holding(case.draw.rng.integers(info.min, info.max + 1, shape).astype(dtype), constant)


def quantised_attention(case):
    batch, length, heads, size, data = (case.draw.between(1, n) for n in (2, 4, 2, 4, 6))
    wide = heads * size
    kind = case.draw.one_of(("int8", "uint8"))
    scale = lambda: case.constant(numpy.float32(case.draw.real(0.01, 0.05)))  # pylint: disable=C3001
    mask = numpy.ones([batch, length], "int32")
    mask[0, length // 2 + 1:] = 0
    operands = [whole(case, [batch, length, data], "uint8"), whole(case, [data, 3 * wide], kind, 1),
                *joined(case, [3 * wide]), scale(), scale(),
                case.holding(mask) if case.draw.chance(0.5) else NONE,
                case.constant(numpy.array(case.draw.between(100, 140), "uint8")),
                case.constant(numpy.array(case.draw.between(0, 20), kind))]
    return case.node(operands, num_heads=heads, unidirectional=case.maybe(case.draw.between(0, 1)))


def float_product(case):
    """A product of short numbers, or of floats that become short ones."""
    n, k, m = (case.draw.between(1, 7) for _ in range(3))
    kind = case.draw.one_of(("int8", "uint8"))
    is_dynamic = case.op == "DynamicQuantizeMatMul"
    each = case.draw.chance(0.4)
    rng = case.draw.rng
    shape = [m] if each else []
    scale = case.constant(rng.uniform(0.01, 0.1, shape).astype("float32"))
    zero = case.constant(rng.integers(0, 9, shape).astype(kind))
    b = whole(case, [k, m], kind, 1)
    batch = case.draw.shape(0, 1, 4)
    bias = joined(case, [m]) if case.draw.chance(0.5) else []
    if is_dynamic:
        return case.node([case.tensor([*batch, n, k], "float32"), b, scale, zero, *bias])
    a = whole(case, [*batch, n, k], "uint8")
    return case.node([a, b, case.constant(numpy.float32(0.03)), scale,
                      case.constant(numpy.array(120, "uint8")), zero, *bias])


TABLE = {"FusedConv": fused_conv, "FusedGemm": fused_gemm, "EmbedLayerNormalization": embedding,
         "MultiHeadAttention": multi_head, "GroupQueryAttention": grouped,
         "QAttention": quantised_attention, "LinearAttention": linear_attention, "MatMulIntegerToFloat": float_product,
         "DynamicQuantizeMatMul": float_product}
