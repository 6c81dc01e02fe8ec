"""How operators of the domain com.microsoft are drawn that newer language models are fused to: gates,
streams, positions in space, one token after the other (see onnx_operators.py)."""
import numpy

from onnx_draw import NONE
from onnx_microsoft import joined


def small(case, *limits):
    return tuple(case.draw.between(1, most) for most in limits)


def scaled_silu(case):
    operands = joined(case, case.draw.shape(0, 4))
    if case.draw.chance(0.4):
        operands.append(case.holding(numpy.array(case.draw.real(-2, 2), "float32")))
    return case.node(operands, alpha=case.maybe(case.draw.real(-2, 2)))


def gated_add(case):
    shape = case.draw.shape(1, 4)
    return case.node(joined(case, shape, shape, [*shape[:-1], 1]))


def attention_gate(case):
    batch, length, heads = small(case, 3, 4, 5)
    shape, has_rate = [batch, length, heads], case.draw.chance(0.6)
    operands = joined(case, shape, [heads], [heads], *([shape] if has_rate else []))
    return case.node(operands, 1 + has_rate)


def gated_norm(case):
    batch, heads, size = small(case, 3, 4, 5)
    shape = [batch, 2, heads * size] if case.draw.chance(0.5) else [batch, heads * size]
    return case.node(joined(case, shape, [size], shape), epsilon=case.maybe(1e-3),
                     activation=case.maybe(case.draw.one_of(("silu", "swish", "sigmoid"))))


def streams(case):
    """Shape, in parts or flat, of so many branches of a size; words; the front of both."""
    batch, branches, size = small(case, 3, 4, 5)
    front = [batch, 2] if case.draw.chance(0.4) else [batch]
    if case.draw.chance(0.5):
        return [*front, branches, size], {}, front, branches, size
    return [*front, branches * size], {"num_branches": branches}, front, branches, size


def branch_norm(case):
    shape, words, _, branches, size = streams(case)
    operands = joined(case, shape)
    if case.draw.chance(0.7):
        operands += joined(case, case.draw.one_of(([branches * size], [branches, size], [size])))
    return case.node(operands, epsilon=case.maybe(1e-3), **words)


def pre_mix(case):
    shape, words, front, branches, size = streams(case)
    forms = [[branches], [branches, 1], [branches, size]] + ([[branches * size]] if words else [])
    return case.node(joined(case, shape, [*front, *case.draw.one_of(forms)]),
                     reduction_scale=case.maybe(0.5), **words)


def post_mix(case):
    shape, words, front, branches, size = streams(case)
    gate = case.draw.one_of(([branches], [branches, 1], [branches, size]))
    operands = joined(case, shape, [*front, size], [*front, *gate])
    if case.draw.chance(0.6):
        operands += joined(case, [*front, branches, branches])
    return case.node(operands, **words)


def engram(case):
    batch, length, branches, size = small(case, 2, 3, 3, 5)
    shape, has_norm = [batch, length, branches, size], case.draw.chance(0.5)
    operands = joined(case, shape, shape, [batch, length, size], [branches, size], [branches, size],
                      *([[branches, size]] if has_norm else []))
    return case.node(operands, 1 + has_norm, epsilon=case.maybe(1e-3))


def rotary_in_space(case):
    batch, heads, length = small(case, 2, 3, 4)
    sections = [case.draw.between(1, 3) for _ in range(3)]
    if case.draw.chance(0.5):  # pairs take turns
        sections = [sections[0] + 2, sections[0], sections[0]]
        words = {"mrope_layout": 1}
    else:
        words = {}
    half, most = sum(sections), 9
    angles = case.draw.rng.uniform(-3, 3, [most, half])
    places = case.draw.rng.integers(0, most, [3, batch, length]).astype("int64")
    words["scale"] = case.maybe(case.draw.real(0.3, 2), 0.4)
    return case.node([case.tensor([batch, length, heads * 2 * half], "float32"), case.holding(places),
                      case.holding(numpy.cos(angles).astype("float32")),
                      case.holding(numpy.sin(angles).astype("float32"))],
                     mrope_section=sections, num_heads=heads,
                     interleaved=case.maybe(case.draw.between(0, 1)), **words)


def one_query(case):
    """Beside what the encoder read, or a cache of its own, which may be longer than what is in it."""
    batch, heads, size, before = small(case, 3, 3, 4, 4)
    wide, form = heads * size, case.draw.one_of(("given", "cache", "shared", "beams"))
    beams = 2 if form == "beams" else 1
    batch *= beams
    total, most = before + 1, before + case.draw.between(1, 3)
    has_bias = case.draw.chance(0.5)
    words = {"num_heads": heads, "scale": case.maybe(case.draw.real(0.2, 1), 0.3)}
    bias = [*joined(case, [3 * wide])] if has_bias else []
    if form == "given":
        keys = [batch, heads, before, size]
        operands = [*joined(case, [batch, 1, wide], keys, keys)]
        if case.draw.chance(0.4):
            mask = case.draw.rng.integers(0, 2, [batch, before])
            mask[:, 0] = 1
            operands.append(case.holding(mask.astype("int32")))
        if bias:
            operands += [NONE] * (10 - len(operands)) + bias
        return case.node(operands, **words)
    cache = [batch, heads, before if form == "cache" else most, size]
    operands = [*joined(case, *[[batch, 1, wide]] * 3), NONE, NONE, *joined(case, cache, cache)]
    if case.draw.chance(0.4):
        operands[4] = joined(case, [1, heads, 1, total])[0]
    if form != "cache":
        words["past_present_share_buffer"] = 1
        operands.append(case.holding(numpy.array([before], "int32")))
    if form == "beams":
        sources = case.draw.rng.integers(0, beams, [batch // beams, beams, most]).astype("int32")
        operands += [case.holding(numpy.array([beams], "int32")), case.holding(sources)]
    if bias:
        operands += [NONE] * (10 - len(operands)) + bias
    return case.node(operands, 3, **words)


def repeats(case):
    batch, length = small(case, 3, 12)
    words = case.draw.between(2, 4)
    ids = case.draw.rng.integers(0, words, [batch, length]).astype("int64")
    return case.node([case.holding(ids), *joined(case, [batch, words])],
                     ngram_size=case.draw.between(1, min(3, length)))


def unfold(case):
    shape = [n + 1 for n in small(case, 6, 6, 4)]
    axis = case.draw.between(0, 2)
    return case.node(joined(case, shape), size=case.draw.between(1, shape[axis]),
                     dim=axis - case.draw.one_of((0, 3)), step=case.maybe(case.draw.between(1, 3)))


def grid(case):
    """Cubic ones stay inside where the border goes on, as those of the standard (onnx_neural.py)."""
    batch, channels, height, width, high, wide = small(case, 2, 3, 6, 6, 4, 4)
    mode = case.draw.one_of(("bilinear", "nearest", "bicubic"))
    padding = case.draw.one_of(("zeros", "border", "reflection"))
    reach = 1 if (mode, padding) == ("bicubic", "border") else 1.3
    places = case.draw.rng.uniform(-reach, reach, [batch, high, wide, 2]).astype("float32")
    return case.node([*joined(case, [batch, channels, height + 2, width + 2]), case.holding(places)],
                     mode=mode, padding_mode=padding, align_corners=case.maybe(case.draw.between(0, 1)))


TABLE = {
    "ScaledSiLU": scaled_silu, "GatedAdd": gated_add, "LinearAttentionGate": attention_gate,
    "GatedRMSNorm": gated_norm, "BranchwiseRMSNorm": branch_norm, "HyperConnectionPreMix": pre_mix,
    "HyperConnectionPostMix": post_mix, "EngramGate": engram, "MRotaryEmbedding": rotary_in_space,
    "DecoderMaskedMultiHeadAttention": one_query, "NGramRepeatBlock": repeats,
    "UnfoldTensor": unfold, "GridSample": grid,
}
