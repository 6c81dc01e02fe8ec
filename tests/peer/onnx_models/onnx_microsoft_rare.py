"""How operators of the domain com.microsoft are drawn that few models have: inverses, hashes, masks,
paths, tokens, attention by blocks and in cells (see onnx_operators.py)."""
import math

import numpy
from onnx import helper, numpy_helper

from onnx_draw import NONE
from onnx_microsoft import joined


def small(case, *limits):
    return tuple(case.draw.between(1, most) for most in limits)


def inverse(case):
    """Of matrices that are far from singular: the diagonal is large."""
    size = case.draw.between(1, 20) if case.draw.chance(0.3) else case.draw.between(1, 7)
    shape = [case.draw.between(1, 3) for _ in range(case.draw.between(0, 2))] + [size, size]
    dtype = case.draw.one_of(("float32", "float32", "float64", "float16"))
    data = case.draw.rng.uniform(-1, 1, shape) + 0.0
    data += numpy.eye(size) * case.draw.rng.choice((-1, 1), size) * (size + 1)
    rows = case.draw.rng.permutation(size)
    return case.node([case.holding(data[..., rows, :].astype(dtype))])


def masked_pool(case):
    rank = case.draw.between(1, 3)
    shape = [*small(case, 3, 3), *(case.draw.between(3, 9 - rank) for _ in range(rank))]
    kernel = [case.draw.between(1, 3) for _ in range(rank)]
    pads = [case.draw.between(0, kernel[i % rank] - 1) for i in range(2 * rank)]
    form = case.draw.one_of(("one", "images", "same"))
    front = {"one": [1, 1], "images": [1, shape[1]], "same": shape[:2]}[form]
    mask = (case.draw.rng.random([*front, *shape[2:]]) < 0.8).astype("int32") * 3
    auto = case.draw.one_of((None, None, "VALID", "SAME_UPPER"))
    return case.node([*joined(case, shape), case.holding(mask)], kernel_shape=kernel,
                     strides=case.maybe([case.draw.between(1, 3) for _ in range(rank)]),
                     pads=pads if auto is None and case.draw.chance(0.6) else None, auto_pad=auto)


def transposed(case):
    rank, group = case.draw.between(1, 2), case.draw.between(1, 2)
    batch, inside, outside = small(case, 2, 2, 2)
    kernel = [case.draw.between(1, 4) for _ in range(rank)]
    strides = [case.draw.between(1, 3) for _ in range(rank)]
    dilations = [case.draw.between(1, 2) for _ in range(rank)]
    space = [case.draw.between(3, 6) for _ in range(rank)]
    pads = numpy.array([case.draw.between(0, min(2, kernel[i % rank])) for i in range(2 * rank)], "int64")
    more = [case.draw.between(0, strides[i] - 1) for i in range(rank)]
    operands = joined(case, [batch, group * inside, *space], [group * inside, outside, *kernel])
    operands.append(case.holding(pads, 0.4))
    if case.draw.chance(0.5):
        operands += joined(case, [group * outside])
    return case.node(operands, strides=strides, dilations=dilations, group=group,
                     output_padding=more if case.draw.chance(0.4) else None,
                     kernel_shape=case.maybe(kernel))


def warped(case):
    """Numbers of few kinds make ways that cost the same."""
    shape = small(case, 9, 9)
    data = case.draw.rng.integers(-1, 3, shape) if case.draw.chance(0.5) else case.draw.rng.standard_normal(shape)
    return case.node([case.holding(data.astype("float32")[None] if case.draw.chance(0.3) else data.astype("float32"))])


def hashed(case):
    dtype = case.draw.one_of(("int32", "uint32"))
    return case.node([case.tensor(case.draw.shape(0, 3), dtype)],
                     seed=case.maybe(case.draw.one_of((0, 1, 42, 2 ** 32 - 1))),
                     positive=case.maybe(case.draw.between(0, 1)))


def bifurcation(case):
    rng, kinds = case.draw.rng, case.draw.between(1, 5)
    length, current = case.draw.between(1, 12), case.draw.between(0, 6)
    source = rng.integers(0, kinds, length)
    least = case.draw.between(1, 3)
    words = {"min_ngram_size": least, "max_ngram_size": least + case.draw.between(0, 3)}
    operands = [case.holding(source), case.holding(rng.integers(0, kinds, current))]
    begin = case.draw.between(0, length)
    operands.append(case.holding(numpy.array([begin], "int64")))
    if case.draw.chance(0.7):
        guessed = numpy.concatenate([source[begin:], [case.draw.between(0, kinds)]])
        if case.draw.chance(0.6):
            guessed[case.draw.between(0, len(guessed) - 1)] = kinds
        operands.append(case.holding(guessed.astype("int64")))
    return case.node(operands, 2, **words)


def ngram_hashes(case):
    rng, dtype = case.draw.rng, case.draw.one_of(("int32", "int64"))
    batch, length, most, heads = case.draw.between(1, 3), case.draw.between(1, 9), case.draw.between(2, 4), case.draw.between(1, 3)
    count = (most - 1) * heads
    info = numpy.iinfo(dtype)
    end = case.draw.between(0, 4)
    operands = [case.holding(rng.integers(0, 5, [batch, length]).astype(dtype)),
                case.holding(rng.integers(info.min, info.max, most + case.draw.between(0, 1), dtype=dtype)),
                case.holding(rng.integers(1, 200, count).astype(dtype))]
    operands.append(case.holding(rng.integers(0, 5, [batch, most - 1]).astype(dtype)) if case.draw.chance(0.5) else NONE)
    operands.append(case.holding(rng.integers(0, 99, count).astype(dtype)) if case.draw.chance(0.4) else NONE)
    operands.append(case.holding(numpy.array(end, dtype)) if case.draw.chance(0.6) else NONE)
    operands.append(case.holding(numpy.sort(rng.integers(0, 3, [batch, length]), 1).astype("int32"))
                    if case.draw.chance(0.5) else NONE)
    return case.node(operands, 2, max_ngram_size=most, n_head_per_ngram=heads, pad_id=case.draw.between(-2, 9),
                     reset_on_eos=case.maybe(case.draw.between(0, 1)))


def words(case):
    """No word is empty: what onnxruntime gives of one is whatever the memory held."""
    rng, (count, filters, size, kinds) = case.draw.rng, small(case, 5, 4, 5, 9)
    window = case.draw.between(1, 4)
    letters = case.draw.between(window, 8)
    ids = rng.integers(1, kinds + 1, [count, letters])
    for row in ids:
        row[case.draw.between(1, letters):] = 0
        if letters > 2 and case.draw.chance(0.2):
            row[case.draw.between(1, letters - 1)] = 0
    return case.node([case.holding(ids.astype("int32")), *joined(case, [filters, 1, window, size], [filters],
                                                                 [kinds + 1, size])],
                     conv_window_size=case.maybe(window), embedding_size=case.maybe(filters),
                     char_embedding_size=case.maybe(size))


def attended_cell(case):
    draw, rng = case.draw, case.draw.rng
    steps, batch, wide, hidden, places, depth, keys, size = small(case, 6, 3, 4, 4, 5, 4, 4, 4)
    direction = draw.one_of((None, "forward", "reverse", "bidirectional"))
    sides = 2 if direction == "bidirectional" else 1
    has_layer = draw.chance(0.5)
    read = size if has_layer else depth
    lengths = case.holding(rng.integers(1, steps + 1, batch).astype("int32")) if draw.chance(0.5) else NONE
    state = [sides, batch, hidden]
    operands = joined(case, [steps, batch, wide], [sides, 4 * hidden, wide + read], [sides, 4 * hidden, hidden])
    operands += joined(case, [sides, 8 * hidden]) if draw.chance(0.6) else [NONE]
    operands.append(lengths)
    operands += joined(case, state) if draw.chance(0.5) else [NONE]
    operands += joined(case, state) if draw.chance(0.5) else [NONE]
    operands += joined(case, [sides, 3 * hidden]) if draw.chance(0.4) else [NONE]
    operands += joined(case, [sides, hidden, keys], [sides, depth, keys], [sides, keys], [batch, places, depth])
    operands.append(case.holding(rng.integers(1, places + 1, batch).astype("int32")) if draw.chance(0.5) else NONE)
    operands += joined(case, [sides, depth + hidden, size]) if has_layer else []
    return case.node(operands, 3, hidden_size=hidden, direction=direction,
                     clip=draw.one_of((None, None, 1.0)), input_forget=case.maybe(draw.between(0, 1), 0.3),
                     activations=case.maybe([draw.one_of(("Sigmoid", "HardSigmoid")), draw.one_of(("Tanh", "Softsign")),
                                             "Tanh"] * sides, 0.3))


def layouts_of(case, layouts, rows):
    """Rows and columns of blocks, each with its own and some of those before it."""
    ends, columns = [], []
    for _ in range(layouts):
        end, listed = [0], []
        for row in range(rows):
            listed += [c for c in range(row) if case.draw.chance(0.5)] + [row]
            end.append(len(listed))
        ends.append(end)
        columns.append(listed)
    most = max(map(len, columns))
    return (numpy.array(ends, "int32"),
            numpy.array([c + [-1] * (most - len(c)) for c in columns], "int32"))


def blocks(case):
    """onnxruntime writes into the caches, and of sequences of several lengths reads other numbers than it made."""
    draw, rng = case.draw, case.draw.rng
    batch, served, times, layouts = small(case, 2, 2, 2, 2)
    heads, size, block = served * times, 16, 16
    layouts = layouts if heads % layouts == 0 else 1
    is_first, rows = draw.chance(0.5), 3
    length = draw.between(1, rows * block) if is_first else draw.between(1, 3)
    total = length if is_first else draw.between(length + 1, rows * block)
    cache = draw.between(total, rows * block)
    lengths = numpy.full(batch, total)
    packed = draw.chance(0.3)
    operands = joined(case, [batch, length, (heads + (2 * served if packed else 0)) * size])
    operands += [NONE, NONE] if packed else joined(case, *[[batch, length, served * size]] * 2)
    caches = [case.given(case.draw.numbers([batch, served, cache, size], "float32")) for _ in range(2)]
    operands += caches
    ends, columns = layouts_of(case, layouts, rows)
    operands += [case.holding(ends), case.holding(columns), case.holding(numpy.array([total], "int32")),
                 case.holding(lengths.astype("int32"))]
    rotates = draw.chance(0.4)
    if rotates:
        angles = rng.uniform(-3, 3, [rows * block, size // 2])
        operands += [case.holding(numpy.cos(angles).astype("float32")), case.holding(numpy.sin(angles).astype("float32"))]
    made = case.node(operands, 3, num_heads=heads, kv_num_heads=served, sparse_block_size=block,
                     do_rotary=int(rotates) if rotates else None,
                     rotary_interleaved=case.maybe(draw.between(0, 1)) if rotates else None,
                     scale=case.maybe(draw.real(0.1, 1), 0.3))
    case.shared = {output: cache.name for output, cache in zip(made[1:], caches)}


def dense_product(case, matrix, factor, output, turns, alpha):
    """What onnxruntime is asked for, which takes its own operator's matrix as an input alone."""
    names = [matrix.name, factor.name]
    for side in range(2):
        if turns[side]:
            case.peer_nodes.append(helper.make_node("Transpose", [names[side]], [names[side] + "_turned"]))
            names[side] += "_turned"
    if alpha is not None and matrix.dtype == "float32":
        number = numpy_helper.from_array(numpy.float32(alpha), "")
        case.peer_nodes.append(helper.make_node("Constant", [], [output + "_alpha"], value=number))
        case.peer_nodes.append(helper.make_node("Mul", [names[0], output + "_alpha"], [output + "_scaled"]))
        names[0] = output + "_scaled"
    case.peer_nodes.append(helper.make_node("MatMul", names, [output]))


def few_elements(case):
    rng, dtype = case.draw.rng, case.draw.one_of(("float32", "float32", "float64", "int32", "int64", "uint32", "uint64"))
    n, k, m = small(case, 7, 7, 6)
    turns = [case.draw.between(0, 1) for _ in range(2)]
    matrix = case.draw.numbers((k, n) if turns[0] else (n, k), dtype)
    matrix *= (rng.random(matrix.shape) < 0.4).astype(dtype)
    sides = [case.sparse(matrix), case.tensor((m, k) if turns[1] else (k, m), dtype)]
    alpha = case.maybe(case.draw.real(-2, 2))
    made = case.node(sides, transA=case.maybe(turns[0], 0.5 + turns[0]), transB=case.maybe(turns[1], 0.5 + turns[1]),
                     alpha=alpha)
    case.peer_nodes = []
    dense_product(case, *sides, made[0], turns, alpha)


def blob(case):
    rng, kind = case.draw.rng, case.draw.between(0, 1)
    n, k, rows = case.draw.between(1, 6), case.draw.between(1, 80), case.draw.between(1, 4)
    made = []
    for _ in range(n * math.ceil(k / 32)):
        made.append(numpy.float32(rng.uniform(0.01, 0.2)).tobytes())
        made.append(rng.integers(0, 16, kind, dtype="uint8").tobytes())
        made.append(rng.integers(0, 256, 16, dtype="uint8").tobytes())
    data = numpy.frombuffer(b"".join(made), "uint8")
    return case.node([case.tensor([rows, k], "float32"), case.constant(data), case.constant(numpy.array([k, n], "int64"))],
                     blk_quant_type=kind)


def same(case):
    return case.node(joined(case, case.draw.shape(0, 4)))


TABLE = {
    "Inverse": inverse, "MaxpoolWithMask": masked_pool, "ConvTransposeWithDynamicPads": transposed,
    "DynamicTimeWarping": warped, "MurmurHash3": hashed, "BifurcationDetector": bifurcation,
    "NGramHashMapping": ngram_hashes, "WordConvEmbedding": words, "AttnLSTM": attended_cell,
    "SparseAttention": blocks, "SparseToDenseMatMul": few_elements, "MatMulFpQ4": blob, "SampleOp": same,
}
