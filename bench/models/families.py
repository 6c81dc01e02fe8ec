"""Families of works of one operator, or a few, whose sizes are drawn at random (drawn.py)."""
import numpy

from operators import Work


class Draw:
    """What a family draws from; the same seed draws the same."""

    def __init__(self, seed):
        self.rng = numpy.random.default_rng(seed)

    def size(self, low, high):
        """Between both, small ones as often as large ones."""
        return int(round(numpy.exp(self.rng.uniform(numpy.log(low), numpy.log(high)))))

    def one(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def order(self, count):
        return [int(i) for i in self.rng.permutation(count)]


def text(sizes):
    return "x".join(str(s) for s in sizes)


def single(kind, shape, of="f", **attributes):
    return lambda w: w.op(kind, w.input(*shape, kind=of), **attributes)


# ---- products ----

def matmul(d):
    m, k, n, a, b = d.size(9, 700), d.size(9, 1200), d.size(9, 1200), d.one(0, 1), d.one(0, 1)
    is_constant = d.one(True, False)

    def build(w):
        shape = (n, k) if b else (k, n)
        right = w.weight(*shape) if is_constant else w.input(*shape)
        w.op("Gemm", w.input(*((k, m) if a else (m, k))), right, transA=a, transB=b)
    return f"{m}x{k}x{n} {'TN'[not a]}{'TN'[not b]}{', constant' * is_constant}", build


def batched(d):
    m, k, n, batch = d.size(5, 300), d.size(5, 300), d.size(5, 300), d.size(2, 30)
    left, right = d.one(((batch,), (batch,)), ((3, batch), (batch,)), ((3, 1), (batch,)), ((3, batch), (3, 1)))
    if m * k * n * batch > 3e7:
        batch = 2

    def build(w):
        w.op("MatMul", w.input(*left, m, k), w.input(*right, k, n))
    return f"{text(left)}.{m}x{k} {text(right)}.{k}x{n}", build


def few_rows(d):
    m, k, n, b, is_constant = d.size(1, 8), d.size(64, 3000), d.size(64, 3000), d.one(0, 1), d.one(0, 1)

    def build(w):
        shape = (n, k) if b else (k, n)
        w.op("Gemm", w.input(m, k), w.weight(*shape) if is_constant else w.input(*shape), transB=b)
    return f"{m}x{k}x{n} N{'TN'[not b]}{', constant' * is_constant}", build


def short_floats(d):
    m, k, n, is_constant = d.size(1, 300), d.size(9, 700), d.size(9, 700), d.one(0, 1)

    def build(w):
        w.op("MatMul", w.input(m, k, kind="h"), w.weight(k, n, kind="h") if is_constant
             else w.input(k, n, kind="h"))
    return f"{m}x{k}x{n} of float16{', constant' * is_constant}", build


def bytes_product(d):
    m, k, n, is_constant = d.size(1, 300), d.size(9, 1200), d.size(9, 1200), d.one(0, 1)
    a, b, kind = d.one("u", "s"), d.one("s", "s", "u"), d.one("MatMulInteger", "QLinearMatMul")
    zeros = d.one(False, True)

    def build(w):
        def zero(of):
            return w.constant(numpy.array(3 * zeros, {"u": "uint8", "s": "int8"}[of]))
        left = w.input(m, k, kind=a)
        right = w.weight(k, n, kind=b) if is_constant else w.input(k, n, kind=b)
        scale = w.constant(numpy.float32(0.01))
        if kind == "MatMulInteger":
            w.op(kind, left, right, zero(a), zero(b))
        else:
            w.op(kind, left, scale, zero(a), right, scale, zero(b), scale, zero(a))
    return f"{kind} {m}x{k}x{n} {a}8{b}8{', zeros' * zeros}{', constant' * is_constant}", build


def nibbles(d):
    m, block, n, bits = d.one(1, 1, d.size(2, 100)), d.one(32, 64, 128), d.size(64, 2000), d.one(4, 4, 8)
    k, zeros = block * d.size(2, 1500 // block), d.one(False, True)

    def build(w):
        packed = w.constant(w.bytes(n, k // block, block * bits // 8))
        scales = w.constant((w.rng.random(n * k // block) * 0.1).astype("float32"))
        count = n * ((k // block * bits + 7) // 8)
        more = [w.constant(w.bytes(count))] if zeros else []
        w.op("MatMulNBits", w.input(m, k), packed, scales, *more, domain="com.microsoft", K=k, N=n,
             bits=bits, block_size=block)
    return f"{m}x{k}x{n}, {bits} bits of {block}{', zeros' * zeros}", build


# ---- convolutions ----

def convolution(d, rank, group=1, few=False, small=False, kernel=None, depth=False):
    sizes = {1: (100, 2000), 2: (10, 80), 3: (5, 20)}[rank]
    x = [d.size(*((3, 8) if small else sizes)) for _ in range(rank)]
    multiple = d.one(1, 1, 2, 3) if depth else d.size(2, 24)
    group = d.size(8, 200) if depth else group
    channels = group if depth else d.one(1, 3, 5) if few else group * d.size(4 if group > 1 else 16,
                                                                   512 if small else 96 // group + 8)
    filters = group * multiple if group > 1 else d.size(8, 512 if small else 128)
    f = [kernel or min(d.one(3, 3, 5, 7), min(x)) for _ in range(rank)]
    pads = [int(d.rng.integers(0, k // 2 + 1)) for k in f * 2]
    strides = [d.one(1, 1, 2)] * rank
    dilations = [d.one(1, 1, 1, 2) if min(x) > 2 * max(f) else 1] * rank
    is_constant, bias = d.one(True, True, True, False), d.one(True, False)
    words = {"kernel_shape": f, "pads": pads, "strides": strides, "dilations": dilations, "group": group}

    def build(w):
        shape = (filters, channels // group, *f)
        weights = w.weight(*shape) if is_constant else w.input(*shape)
        w.op("Conv", w.input(1, channels, *x), weights, *([w.weight(filters)] if bias else []), **words)
    say = f"{channels}x{text(x)} to {filters}, {text(f)} pads {pads}"
    say += f" by {strides[0]}" * (strides[0] > 1) + " dilated" * (dilations[0] > 1)
    return say + f", {group} groups" * (group > 1) + ", run time" * (not is_constant), build


def transposed(d):
    x, channels, filters = [d.size(6, 40), d.size(6, 40)], d.size(4, 64), d.size(2, 64)
    f, group = d.one(2, 3, 4, 5), d.one(1, 1, 1, 2)
    stride, pad = d.one(1, 2, 2, 3), d.one(0, 1)

    def build(w):
        w.op("ConvTranspose", w.input(1, channels * group, *x), w.weight(channels * group, filters, f, f),
             kernel_shape=[f, f], strides=[stride] * 2, pads=[pad] * 4, group=group)
    return f"{channels * group}x{text(x)} to {filters * group}, {f}x{f} by {stride}, pad {pad}, " \
           f"{group} groups", build


def bytes_convolution(d):
    channels, filters, side, f = d.one(1, 3, 5, d.size(6, 200)), d.size(8, 200), d.size(7, 70), d.one(1, 3, 3, 5)
    a, b, stride, zeros = d.one("u", "s"), d.one("s", "s", "u"), d.one(1, 1, 2), d.one(True, False)
    group = d.one(1, 1, channels)
    filters = filters // group * group or group

    def build(w):
        kinds = {"u": "uint8", "s": "int8"}
        scale = w.constant(numpy.float32(0.02))
        zero = [w.constant(numpy.array(z * zeros + 128 * (k == "u" and not zeros), kinds[k]))
                for k, z in ((a, 110), (b, 0), (a, 120))]
        weights = w.weight(filters, channels // group, f, f, kind=b)
        w.op("QLinearConv", w.input(1, channels, side, side + 1, kind=a), scale, zero[0], weights, scale,
             zero[1], scale, zero[2], kernel_shape=[f, f], pads=[f // 2] * 4, strides=[stride] * 2,
             group=group)
    return f"{channels}x{side}x{side + 1} to {filters}, {f}x{f} by {stride}, {group} groups, {a}8{b}8", build


def short_convolution(d):
    channels, filters, side, f = d.size(3, 96), d.size(8, 96), d.size(7, 50), d.one(1, 3, 5)

    def build(w):
        w.op("Conv", w.input(1, channels, side, side, kind="h"), w.weight(filters, channels, f, f, kind="h"),
             kernel_shape=[f, f], pads=[f // 2] * 4)
    return f"{channels}x{side}x{side} to {filters}, {f}x{f} of float16", build


# ---- rows ----

def pool(d):
    rank = d.one(1, 2, 2, 2, 3)
    x = [d.size(*{1: (60, 2000), 2: (8, 120), 3: (5, 24)}[rank]) for _ in range(rank)]
    channels, f, stride = d.size(1, 128), d.one(2, 3, 3, 5), d.one(1, 2)
    kind = d.one("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool")
    pad = d.one(0, 1) if f > 2 else 0
    words = {} if kind.startswith("Global") else {"kernel_shape": [f] * rank, "strides": [stride] * rank,
                                                  "pads": [pad] * 2 * rank}
    say = f"{kind} {channels}x{text(x)}" + (f", {f} by {stride}, pad {pad}" if words else "")
    return say, single(kind, (1, channels, *x), **words)


def volume(d, rank, least=10000, most=1000000):
    """A shape of so many dimensions."""
    shape = [d.size(2, 300 if rank < 4 else 60) for _ in range(rank)]
    while numpy.prod(shape) > most:
        shape[int(numpy.argmax(shape))] //= 2
    while numpy.prod(shape) < least:
        shape[d.rng.integers(rank)] *= 2
    return shape


def softmax(d):
    shape = volume(d, d.one(2, 3, 4))
    axis, kind = int(d.rng.integers(len(shape))), d.one("Softmax", "Softmax", "LogSoftmax")
    return f"{kind} {text(shape)}, axis {axis}", single(kind, shape, axis=axis)


def norm(d):
    kind = d.one("LayerNormalization", "RMSNormalization", "InstanceNormalization", "GroupNormalization",
                 "BatchNormalization", "LpNormalization")
    if kind in ("LayerNormalization", "RMSNormalization"):
        shape = volume(d, d.one(2, 3))
        axis = d.one(1, len(shape) - 1)

        def build(w):
            w.opset = 23 if kind[0] == "R" else w.opset
            more = [w.weight(*shape[axis:])] * (kind[0] == "L")
            w.op(kind, w.input(*shape), w.weight(*shape[axis:]), *more, axis=axis)
        return f"{kind} {text(shape)}, axis {axis}", build
    if kind == "LpNormalization":
        shape = volume(d, 3)
        axis = d.one(0, 1, 2)
        return f"{kind} {text(shape)}, axis {axis}", single(kind, shape, axis=axis)
    groups = d.one(1, 2, 4, 8)
    shape = [d.one(1, 2), groups * d.size(2, 16), d.size(5, 60), d.size(5, 60)]

    def build(w):
        w.opset = 21 if kind[0] == "G" else w.opset
        count = [w.weight(shape[1]), w.weight(shape[1])]
        if kind == "BatchNormalization":
            count += [w.weight(shape[1]), w.constant((w.rng.random(shape[1]) + 1).astype("float32"))]
        words = {"num_groups": groups} if kind == "GroupNormalization" else {}
        w.op(kind, w.input(*shape), *count, **words)
    return f"{kind} {text(shape)}, {groups} groups", build


def reduction(d):
    rank = d.one(2, 3, 4, 4, 5)
    shape = volume(d, rank)
    axes = sorted(d.order(rank)[:d.one(1, 1, 2, 2, 3)])
    kind = d.one("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd", "ReduceLogSumExp",
                 "ReduceSumSquare", "ReduceMin")

    def build(w):
        w.op(kind, w.input(*shape), w.constant(numpy.array(axes)), keepdims=0)
    return f"{kind} {text(shape)}, axes {axes}", build


def chosen(d):
    shape = volume(d, d.one(2, 3))
    axis, kind = int(d.rng.integers(len(shape))), d.one("ArgMax", "ArgMin", "TopK", "CumSum")
    count = max(1, shape[axis] // d.one(2, 8, 40))

    def build(w):
        x = w.input(*shape)
        if kind == "TopK":
            w.op(kind, x, w.constant(numpy.array([count], "int64")), axis=axis)
            w.nodes[-1].output.append("places")
        elif kind == "CumSum":
            w.op(kind, x, w.constant(numpy.int64(axis)))
        else:
            w.op(kind, x, axis=axis, keepdims=0)
    return f"{kind} {text(shape)}, axis {axis}{f', {count}' * (kind == 'TopK')}", build


# ---- elements ----

def gelu(w, x, fast):
    if not fast:
        half = w.op("Mul", w.op("Add", w.op("Erf", w.op("Mul", x, w.number(0.70710678))), w.number(1)),
                    w.number(0.5))
        return w.op("Mul", x, half)
    inner = w.op("Add", x, w.op("Mul", w.op("Pow", x, w.number(3)), w.number(0.044715)))
    inner = w.op("Tanh", w.op("Mul", inner, w.number(0.79788456)))
    return w.op("Mul", w.op("Mul", x, w.number(0.5)), w.op("Add", inner, w.number(1)))


def elements(d):
    shape = volume(d, d.one(1, 2, 3, 4))
    kind = d.one("gelu", "gelu of tanh", "silu", "Erf", "Pow", "Sin", "Exp", "Tanh", "Sigmoid", "Sqrt",
                 "HardSwish", "Add, row", "Mul, column", "Where", "Clip", "Mod", "Softplus", "Log")

    def build(w):
        x = w.input(*shape)
        if kind.startswith("gelu"):
            gelu(w, x, kind != "gelu")
        elif kind == "silu":
            w.op("Mul", x, w.op("Sigmoid", x))
        elif kind == "Pow":
            w.op(kind, w.op("Abs", x), w.input(*shape))
        elif kind == "Add, row":
            w.op("Add", x, w.input(shape[-1]))
        elif kind == "Mul, column":
            w.op("Mul", x, w.input(*shape[:-1], 1))
        elif kind == "Where":
            w.op(kind, w.op("Greater", x, w.number(0)), x, w.input(*shape))
        elif kind == "Clip":
            w.op(kind, x, w.number(-0.2), w.number(0.3))
        elif kind == "Mod":
            w.op(kind, x, w.number(0.3), fmod=1)
        elif kind in ("Sqrt", "Log"):
            w.op(kind, w.op("Abs", x))
        else:
            w.op(kind, x)
    return f"{kind} {text(shape)}", build


def turned(d):
    rank = d.one(2, 3, 4, 5)
    shape, perm = volume(d, rank), d.order(rank)
    of = d.one("f", "f", "f", "h", "u")
    return f"Transpose {text(shape)} to {perm} of {of}", single("Transpose", shape, of, perm=perm)


def moved(d):
    shape = volume(d, d.one(2, 3, 4))
    axis = int(d.rng.integers(len(shape)))
    kind = d.one("Concat", "Split", "Slice", "Pad", "Pad, reflect", "Gather", "GatherElements",
                 "ScatterElements", "ScatterND", "Tile", "Expand", "DepthToSpace")
    size = shape[axis]

    def build(w):
        def ints(numbers):
            return w.constant(numpy.array(numbers, "int64"))
        if kind == "DepthToSpace":
            return w.op(kind, w.input(1, 4 * min(shape[0], 40), *shape[-2:]), blocksize=2)
        x = w.input(*shape)
        if kind == "Concat":
            other = shape[:axis] + [size // 2 + 1] + shape[axis + 1:]
            w.op(kind, x, w.input(*other), w.input(*shape), axis=axis)
        elif kind == "Split":
            w.op(kind, x, ints([size // 2, size - size // 2]), axis=axis)
            w.nodes[-1].output.append("second")
        elif kind == "Slice":
            w.op(kind, x, ints([size // 4]), ints([size]), ints([axis]), ints([d_step]))
        elif kind.startswith("Pad"):
            pads = [0] * 2 * len(shape)
            pads[axis], pads[len(shape) + axis] = min(1, size - 1), min(3, size - 1)
            w.op("Pad", x, ints(pads), mode="reflect" if "," in kind else "constant")
        elif kind == "Gather":
            w.op(kind, x, ints(w.rng.integers(0, size, size // 2 + 1)), axis=axis)
        elif kind == "GatherElements":
            w.op(kind, x, ints(w.rng.integers(0, size, shape)), axis=axis)
        elif kind == "ScatterElements":
            order = numpy.argsort(w.rng.random(shape), axis=axis)
            w.op(kind, x, ints(order), w.input(*shape), axis=axis)
        elif kind == "ScatterND":
            rows = w.rng.permutation(shape[0])[:shape[0] // 2 + 1]
            w.op(kind, x, ints(rows[:, None]), w.input(len(rows), *shape[1:]))
        elif kind == "Tile":
            w.op(kind, x, ints([2 if i == axis else 1 for i in range(len(shape))]))
        elif kind == "Expand":
            w.op(kind, w.input(*[1 if i == axis else s for i, s in enumerate(shape)]), ints(shape))
            w.inputs.pop(0), w.feed.pop("x0")
    d_step = d.one(1, 2, 3)
    return f"{kind} {text(shape)}, axis {axis}, {d_step}", build


def resize(d):
    shape = [1, d.size(1, 64), d.size(8, 60), d.size(8, 60)]
    scale, mode = d.one(0.5, 1.7, 2, 2, 3), d.one("nearest", "linear", "cubic")
    way = d.one("half_pixel", "align_corners", "asymmetric")

    def build(w):
        w.op("Resize", w.input(*shape), "", w.constant(numpy.float32((1, 1, scale, scale))), mode=mode,
             coordinate_transformation_mode=way)
    return f"Resize {text(shape)} by {scale}, {mode}, {way}", build


# ---- attention, recurrence ----

def attention(d):
    head, heads = d.one(32, 40, 64, 64, 80, 128), d.size(2, 16)
    shared = d.one(1, 1, 2, 4)
    keys = d.size(16, 400)
    queries = d.one(1, keys, keys, d.size(16, 200))
    causal = int(queries == keys and d.one(True, False))

    def build(w):
        w.opset = 23
        w.op("Attention", w.input(1, heads * shared, queries, head), w.input(1, heads, keys, head),
             w.input(1, heads, keys, head), is_causal=causal)
    return f"{heads * shared} heads of {head} (keys {heads}), {queries} by {keys}{', causal' * causal}", build


def attention_by_hand(d):
    head, heads, keys = d.one(32, 48, 64, 96), d.size(2, 16), d.size(16, 300)
    queries, mask = d.one(1, keys, keys), d.one(True, False)

    def build(w):
        turned_keys = w.op("Transpose", w.input(1, heads, keys, head), perm=[0, 1, 3, 2])
        scores = w.op("MatMul", w.input(1, heads, queries, head), turned_keys)
        scores = w.op("Mul", scores, w.number(0.125))
        scores = w.op("Add", scores, w.input(1, 1, queries, keys)) if mask else scores
        w.op("MatMul", w.op("Softmax", scores, axis=-1), w.input(1, heads, keys, head))
    return f"{heads} heads of {head}, {queries} by {keys}, by hand{', mask' * mask}", build


def recurrence(d):
    kind, steps, batch = d.one("LSTM", "GRU", "RNN"), d.size(2, 60), d.one(1, 1, d.size(2, 16))
    size, hidden, ways = d.size(8, 300), d.size(8, 300), d.one(1, 1, 2)
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]

    def build(w):
        words = {"direction": "bidirectional"} if ways == 2 else {}
        weights = [w.rng.random(shape) * 0.2 - 0.1 for shape in (
            (ways, gates * hidden, size), (ways, gates * hidden, hidden), (ways, 2 * gates * hidden))]
        w.op(kind, w.input(steps, batch, size), *[w.constant(x.astype("float32")) for x in weights],
             hidden_size=hidden, **words)
    return f"{kind} {steps} steps of {batch}x{size} to {hidden}, {ways} ways", build


FAMILIES = {
    "matmul": matmul, "batched": batched, "few rows": few_rows, "float16": short_floats,
    "bytes": bytes_product, "nibbles": nibbles,
    "conv 1d": lambda d: convolution(d, 1), "conv 2d": lambda d: convolution(d, 2),
    "conv 3d": lambda d: convolution(d, 3),
    "conv groups": lambda d: convolution(d, 2, group=d.one(2, 3, 4, 8)),
    "conv few channels": lambda d: convolution(d, 2, few=True),
    "conv small": lambda d: convolution(d, 2, small=True),
    "conv 1x1": lambda d: convolution(d, 2, kernel=1),
    "conv small 1x1": lambda d: convolution(d, 2, kernel=1, small=True),
    "depthwise": lambda d: convolution(d, d.one(1, 2, 2, 2), depth=True),
    "transposed": transposed, "conv bytes": bytes_convolution, "conv float16": short_convolution,
    "pool": pool, "softmax": softmax, "norm": norm, "reduction": reduction, "chosen": chosen,
    "elements": elements, "transpose": turned, "moved": moved, "resize": resize,
    "attention": attention, "attention by hand": attention_by_hand, "recurrence": recurrence,
}


class Drawn(Work):
    """A work of a family, with random numbers of its own."""

    def __init__(self, seed):
        super().__init__()
        self.rng = numpy.random.default_rng(seed)

    def bytes(self, *shape):
        return self.rng.integers(0, 256, shape).astype("uint8")

    def number(self, value):
        return self.constant(numpy.float32(value))
