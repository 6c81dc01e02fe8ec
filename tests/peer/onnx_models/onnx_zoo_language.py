"""Models of the zoo that read sequences: encoders, decoders with caches, recurrent ones."""
import numpy
from onnx import TensorProto, helper

from onnx_zoo_net import BOOL, FLOAT, INT64, LEAST, Net

WORDS = 50


def heads_apart(net, x, heads, each, perm=(0, 2, 1, 3)):
    """x.view(batch, sequence, heads, -1).transpose(1, 2)"""
    y = net.view(x, net.size(x, 0), net.size(x, 1), heads, each)
    return net.op("Transpose", y, perm=list(perm))


def heads_joined(net, x, wide):
    x = net.op("Transpose", x, perm=[0, 2, 1, 3])
    return net.view(x, net.size(x, 0), net.size(x, 1), wide)


def attention(net, q, k, v, scale, mask=None):
    """k is turned already."""
    scores = net.op("Div", net.op("MatMul", q, k), net.number(scale))
    scores = net.op("Add", scores, mask) if mask else scores
    return net.op("MatMul", net.op("Softmax", scores, axis=3), v)


def embedded(net, ids, rows, wide):
    return net.op("Gather", net.held(net.numbers(rows, wide)), ids)


def feed_forward(net, x, wide, act):
    return net.project(net.activate(net.project(x, wide, 4 * wide), act), 4 * wide, wide)


def token_feeds(net, sizes, types=False):
    for batch, length in sizes:
        mask = numpy.ones((batch, length), "int64")
        mask[-1, length * 2 // 3:] = 0
        feed = {"input_ids": net.rng.integers(0, WORDS, (batch, length)), "attention_mask": mask}
        if types:
            feed["token_type_ids"] = net.rng.integers(0, 2, (batch, length))
        net.feeds.append(feed)


def token_inputs(net, types=False):
    names = ["input_ids", "attention_mask"] + (["token_type_ids"] if types else [])
    return [net.input(name, ["batch", "sequence"], INT64) for name in names]


def encoder_layer(net, x, mask, wide, heads, act="gelu"):
    each = wide // heads
    q = heads_apart(net, net.project(x, wide, wide), heads, each)
    k = heads_apart(net, net.project(x, wide, wide), heads, each, (0, 2, 3, 1))
    v = heads_apart(net, net.project(x, wide, wide), heads, each)
    y = heads_joined(net, attention(net, q, k, v, numpy.sqrt(each), mask), wide)
    x = net.layer_norm(net.op("Add", net.project(y, wide, wide), x), wide)
    return net.layer_norm(net.op("Add", feed_forward(net, x, wide, act), x), wide)


def bert(opset=11, types=True):
    """BERT: masks by subtraction, position ids sliced from a table, the pooler at the end."""
    net, wide = Net(opset, 20), 16
    ids, mask, kinds = token_inputs(net, types)
    token_feeds(net, ((1, 7), (2, 12)), types)
    y = net.unsqueeze(net.unsqueeze(mask, [1]), [2])
    y = net.op("Sub", net.number(1), net.op("Cast", y, to=FLOAT))
    mask = net.op("Mul", y, net.number(-10000))
    places = net.slice(net.held(numpy.arange(32).reshape(1, 32)), 1, 0,
                       net.unsqueeze(net.size(ids, 1), [0]))
    x = net.op("Add", embedded(net, ids, WORDS, wide), embedded(net, kinds, 2, wide))
    x = net.layer_norm(net.op("Add", x, embedded(net, places, 32, wide)), wide)
    for _ in range(2):
        x = encoder_layer(net, x, mask, wide, 2)
    first = net.op("Gather", x, net.const(0), axis=1)
    net.output(x, net.op("Tanh", net.linear(first, wide, wide)))
    return net


def distilbert():
    """Masks by Equal, Expand and Where, as newer exporters write them; answers as spans."""
    net, wide, heads = Net(14, 21), 16, 4
    ids, mask = token_inputs(net)
    token_feeds(net, ((1, 5), (2, 9)))
    places = net.op("Range", net.const(0), net.size(ids, 1), net.const(1))
    places = net.unsqueeze(places, [0])
    shape = net.op("Shape", ids)
    ones = net.op("ConstantOfShape", shape, value=None)
    places = net.op("Add", places, net.op("Cast", ones, to=INT64))
    x = net.op("Add", embedded(net, ids, WORDS, wide), embedded(net, places, 32, wide))
    x = net.layer_norm(x, wide)
    for _ in range(2):
        q = heads_apart(net, net.project(x, wide, wide), heads, 4)
        k = heads_apart(net, net.project(x, wide, wide), heads, 4)
        v = heads_apart(net, net.project(x, wide, wide), heads, 4)
        q = net.op("Div", q, net.number(2))
        scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
        away = net.op("Equal", mask, net.const(0))
        away = net.view(away, net.size(mask, 0), 1, 1, net.size(mask, 1))
        away = net.op("Expand", away, net.op("Shape", scores))
        scores = net.op("Where", net.op("Cast", away, to=BOOL), net.number(LEAST), scores)
        y = heads_joined(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v), wide)
        x = net.layer_norm(net.op("Add", net.project(y, wide, wide), x), wide)
        x = net.layer_norm(net.op("Add", feed_forward(net, x, wide, "gelu"), x), wide)
    starts, ends = net.op("Split", net.project(x, wide, 2), net.const([1, 1]), axis=-1, count=2)
    net.output(net.squeeze(starts, [-1]), net.squeeze(ends, [-1]))
    return net


def vit():
    """Patches by convolution, a class token expanded to the batch, one product for q, k and v."""
    net, wide, heads, each = Net(17, 22), 24, 3, 8
    x = net.input("pixels", ["batch", 3, 16, 16])
    net.feeds = [{"pixels": net.numbers(n, 3, 16, 16)} for n in (1, 2)]
    x = net.conv(x, 3, wide, kernel=4, stride=4, pad=0)
    batch = net.size(x, 0)
    x = net.op("Transpose", net.view(x, batch, wide, -1), perm=[0, 2, 1])
    wanted = net.shape_of(batch, -1, -1)
    ones = net.op("ConstantOfShape", net.const([3]), value=one_of_int())
    minus = net.op("Mul", ones, net.const(-1))
    wanted = net.op("Where", net.op("Equal", wanted, minus), ones, wanted)
    token = net.op("Expand", net.around(0, 1, 1, wide), wanted)
    x = net.op("Add", net.op("Concat", token, x, axis=1), net.around(0, 1, 17, wide))
    for _ in range(2):
        y = net.project(net.layer_norm(x, wide), wide, 3 * wide)
        y = net.view(y, net.size(y, 0), net.size(y, 1), 3, heads, each)
        y = net.op("Transpose", y, perm=[2, 0, 3, 1, 4])
        q, k, v = (net.op("Gather", y, net.const(i), axis=0) for i in range(3))
        q = net.op("Mul", q, net.number(each ** -0.5))
        scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = heads_joined(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v), wide)
        x = net.op("Add", x, net.project(y, wide, wide))
        x = net.op("Add", x, feed_forward(net, net.layer_norm(x, wide), wide, "gelu"))
    first = net.op("Gather", net.layer_norm(x, wide), net.const(0), axis=1)
    net.output(net.linear(first, wide, 10))
    return net


def one_of_int():
    return helper.make_tensor("one", TensorProto.INT64, [1], [1])


def cache_input(net, name, heads, each):
    return net.input(name, ["batch", heads, "past", each])


def gpt():
    """GPT-2 with a cache: Conv1D as Gemm between views, the causal mask sliced from a table."""
    net, wide, heads, each = Net(13, 23), 16, 2, 8
    ids = net.input("input_ids", ["batch", "sequence"], INT64)
    layers = 2
    caches = [[cache_input(net, f"past_{i}_{w}", heads, each) for w in ("key", "value")]
              for i in range(layers)]
    for batch, length, past in ((1, 4, 3), (2, 1, 6)):
        feed = {"input_ids": net.rng.integers(0, WORDS, (batch, length))}
        for key, value in caches:
            feed[key], feed[value] = (net.numbers(batch, heads, past, each) for _ in range(2))
        net.feeds.append(feed)
    past = net.size(caches[0][0], 2)
    end = net.op("Add", net.size(ids, 1), past)
    places = net.unsqueeze(net.op("Range", past, end, net.const(1)), [0])
    places = net.view(places, -1, net.size(ids, 1))
    table = net.held(net.numbers(WORDS, wide))
    x = net.op("Add", net.op("Gather", table, ids), embedded(net, places, 32, wide))
    allowed = net.held(numpy.tril(numpy.ones((32, 32), bool)).reshape(1, 1, 32, 32))
    presents = []
    for key, value in caches:
        y = conv1d(net, net.layer_norm(x, wide), wide, 3 * wide)
        parts = net.op("Split", y, net.const([wide] * 3), axis=2, count=3)
        q, k, v = (heads_apart(net, part, heads, each) for part in parts)
        k, v = net.op("Concat", key, k, axis=-2), net.op("Concat", value, v, axis=-2)
        presents += [k, v]
        scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = net.op("Div", scores, net.number(numpy.sqrt(each)))
        rows, columns = net.size(q, -2), net.size(k, -2)
        begin = net.unsqueeze(net.op("Sub", columns, rows), [0])
        seen = net.slice(allowed, 2, begin, net.unsqueeze(columns, [0]))
        seen = net.slice(seen, 3, 0, net.unsqueeze(columns, [0]))
        scores = net.op("Where", seen, scores, net.number(LEAST))
        y = heads_joined(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v), wide)
        x = net.op("Add", x, conv1d(net, y, wide, wide))
        y = net.tanh_gelu(conv1d(net, net.layer_norm(x, wide), wide, 4 * wide))
        x = net.op("Add", x, conv1d(net, y, 4 * wide, wide))
    x = net.layer_norm(x, wide)
    net.output(net.op("MatMul", x, net.op("Transpose", table, perm=[1, 0])), *presents)
    return net


def conv1d(net, x, wide, out):
    """HuggingFace's Conv1D: addmm on x.view(-1, wide)."""
    shape = net.shape_of(net.size(x, 0), net.size(x, 1), out)
    flat = net.op("Reshape", x, net.const([-1, wide]))
    weight = net.held(net.numbers(wide, out) / numpy.float32(numpy.sqrt(wide)))
    return net.op("Reshape", net.op("Gemm", flat, weight, net.around(0, out)), shape)


def turned(net, x, half):
    """rotate_half: the halves of the last dimension change places."""
    first = net.slice(x, 3, 0, half)
    second = net.slice(x, 3, half, 2 ** 63 - 1)
    return net.op("Concat", net.op("Neg", second), first, axis=-1)


def rotated(net, x, cos, sin, half):
    return net.op("Add", net.op("Mul", x, cos), net.op("Mul", turned(net, x, half), sin))


def repeated(net, x, times, each):
    """repeat_kv: heads of the cache stand for several heads of queries."""
    batch, heads, length = (net.size(x, i) for i in range(3))
    y = net.unsqueeze(x, [2])
    wanted = net.shape_of(batch, heads, times, length, each)
    minus = net.op("Equal", wanted, net.const(-1))
    wanted = net.op("Where", minus, net.op("ConstantOfShape", net.op("Shape", wanted),
                                           value=one_of_int()), wanted)
    y = net.op("Expand", y, wanted)
    return net.view(y, batch, net.op("Mul", heads, net.const(times)), length, each)


def llama_mask(net, mask, ids, past):
    """Causal by comparing places, and what the attention mask leaves out; [batch, 1, new, all]."""
    new, total = net.size(ids, 1), net.size(mask, 1)
    zero, one = net.const(0), net.const(1)
    queries = net.op("Add", net.op("Range", zero, new, one), past)
    keys = net.op("Range", zero, total, one)
    seen = net.op("LessOrEqual", net.unsqueeze(keys, [0]), net.unsqueeze(queries, [1]))
    seen = net.unsqueeze(net.unsqueeze(seen, [0]), [1])
    given = net.unsqueeze(net.unsqueeze(net.op("Cast", mask, to=BOOL), [1]), [2])
    both = net.op("And", seen, given)
    return net.op("Where", both, net.number(0), net.number(LEAST))


def llama(wide=16, heads=4, groups=2, inner=32, layers=2, runs=((1, 5, 2), (2, 1, 7))):
    """Rotary places, grouped queries, a gated feed-forward, RMS norms, caches as inputs."""
    net, each = Net(18, 24), wide // heads
    ids = net.input("input_ids", ["batch", "sequence"], INT64)
    mask = net.input("attention_mask", ["batch", "total"], INT64)
    places = net.input("position_ids", ["batch", "sequence"], INT64)
    caches = [[cache_input(net, f"past_key_values.{i}.{w}", groups, each) for w in ("key", "value")]
              for i in range(layers)]
    for batch, length, past in runs:
        given = numpy.ones((batch, past + length), "int64")
        given[-1, 0] = 0
        feed = {"input_ids": net.rng.integers(0, WORDS, (batch, length)), "attention_mask": given,
                "position_ids": numpy.tile(numpy.arange(past, past + length), (batch, 1))}
        for key, value in caches:
            feed[key], feed[value] = (net.numbers(batch, groups, past, each) for _ in range(2))
        net.feeds.append(feed)
    x = embedded(net, ids, WORDS, wide)
    past = net.size(caches[0][0], 2)
    away = llama_mask(net, mask, ids, past)
    rates = net.held((10000.0 ** (-numpy.arange(0, each, 2) / each)).astype("float32").reshape(1, -1, 1))
    angles = net.op("MatMul", net.op("Expand", rates, net.shape_of(net.size(ids, 0), -1 + 2, 1)),
                    net.op("Cast", net.unsqueeze(places, [1]), to=FLOAT))
    angles = net.op("Transpose", angles, perm=[0, 2, 1])
    angles = net.op("Concat", angles, angles, axis=-1)
    cos, sin = (net.unsqueeze(net.op(kind, angles), [1]) for kind in ("Cos", "Sin"))
    presents = []
    for key, value in caches:
        y = net.rms_norm(x, wide)
        q = heads_apart(net, net.project(y, wide, wide, False), heads, each)
        k, v = (heads_apart(net, net.project(y, wide, groups * each, False), groups, each)
                for _ in range(2))
        q, k = (rotated(net, part, cos, sin, each // 2) for part in (q, k))
        k, v = net.op("Concat", key, k, axis=2), net.op("Concat", value, v, axis=2)
        presents += [k, v]
        k, v = (repeated(net, part, heads // groups, each) for part in (k, v))
        k = net.op("Transpose", k, perm=[0, 1, 3, 2])
        y = heads_joined(net, attention(net, q, k, v, numpy.sqrt(each), away), wide)
        x = net.op("Add", x, net.project(y, wide, wide, False))
        y = net.rms_norm(x, wide)
        gate = net.silu(net.project(y, wide, inner, False))
        y = net.op("Mul", gate, net.project(y, wide, inner, False))
        x = net.op("Add", x, net.project(y, inner, wide, False))
    net.output(net.project(net.rms_norm(x, wide), wide, WORDS, False), *presents)
    return net


def t5():
    """An encoder with relative places in buckets, and a decoder that looks into it."""
    net, wide, heads, each = Net(12, 25), 16, 2, 8
    ids, mask = token_inputs(net)
    target = net.input("decoder_input_ids", ["batch", "target"], INT64)
    token_feeds(net, ((1, 6), (2, 9)))
    for feed, length in zip(net.feeds, (3, 4)):
        feed["decoder_input_ids"] = net.rng.integers(0, WORDS, (len(feed["input_ids"]), length))
    table = net.held(net.numbers(WORDS, wide))
    y = net.op("Cast", net.unsqueeze(mask, [1, 2]), to=FLOAT)
    away = net.op("Mul", net.op("Sub", net.number(1), y), net.number(LEAST))
    x = net.op("Gather", table, ids)
    bias = net.op("Add", relative(net, net.size(ids, 1), heads), away)
    x = t5_layer(net, x, x, bias, wide, heads, each)
    memory = net.rms_norm(x, wide)
    x = net.op("Gather", table, target)
    length = net.size(target, 1)
    places = net.op("Range", net.const(0), length, net.const(1))
    later = net.op("LessOrEqual", net.unsqueeze(places, [0]), net.unsqueeze(places, [1]))
    later = net.op("Cast", later, to=FLOAT)
    later = net.op("Mul", net.op("Sub", net.number(1), later), net.number(LEAST))
    bias = net.op("Add", relative(net, length, heads), later)
    x = t5_layer(net, x, x, bias, wide, heads, each)
    x = t5_layer(net, x, memory, away, wide, heads, each)
    net.output(net.op("MatMul", net.rms_norm(x, wide), net.op("Transpose", table, perm=[1, 0])))
    return net


def relative(net, length, heads):
    """Buckets of the distance between places: near ones one by one, far ones by their logarithm."""
    places = net.op("Range", net.const(0), length, net.const(1))
    apart = net.op("Sub", net.unsqueeze(places, [0]), net.unsqueeze(places, [1]))
    side = net.op("Mul", net.op("Cast", net.op("Greater", apart, net.const(0)), to=INT64), net.const(4))
    far = net.op("Abs", apart)
    near = net.op("Less", far, net.const(2))
    log = net.op("Log", net.op("Div", net.op("Cast", far, to=FLOAT), net.number(2)))
    log = net.op("Mul", net.op("Div", log, net.number(2.0794415)), net.number(2))
    bucket = net.op("Add", net.op("Cast", log, to=INT64), net.const(2))
    most = net.op("ConstantOfShape", net.op("Shape", bucket), value=int_of(3))
    bucket = net.op("Min", bucket, most)
    bucket = net.op("Add", net.op("Where", near, far, bucket), side)
    values = net.op("Gather", net.held(net.numbers(8, heads)), bucket)
    return net.unsqueeze(net.op("Transpose", values, perm=[2, 0, 1]), [0])


def int_of(value):
    return helper.make_tensor("value", TensorProto.INT64, [1], [value])


def t5_layer(net, x, memory, bias, wide, heads, each):
    y = net.rms_norm(x, wide)
    source = y if memory == x else memory
    q = heads_apart(net, net.project(y, wide, wide, False), heads, each)
    k = heads_apart(net, net.project(source, wide, wide, False), heads, each, (0, 2, 3, 1))
    v = heads_apart(net, net.project(source, wide, wide, False), heads, each)
    scores = net.op("Add", net.op("MatMul", q, k), bias)
    y = heads_joined(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v), wide)
    x = net.op("Add", x, net.project(y, wide, wide, False))
    y = net.op("Relu", net.project(net.rms_norm(x, wide), wide, 32, False))
    return net.op("Add", x, net.project(y, 32, wide, False))


def swin():
    """Windows that are shifted by slices, apart and together again by views of six dimensions."""
    net, wide, heads, each, side, window = Net(16, 26), 8, 2, 4, 8, 4
    x = net.input("x", ["batch", side, side, wide])
    net.feeds = [{"x": net.numbers(n, side, side, wide)} for n in (1, 2)]
    kept = x
    for axis in (1, 2):
        x = net.op("Concat", net.slice(x, axis, 2, 2 ** 63 - 1), net.slice(x, axis, 0, 2), axis=axis)
    batch, count = net.size(x, 0), side // window
    y = net.op("Transpose", net.view(x, batch, count, window, count, window, wide), perm=[0, 1, 3, 2, 4, 5])
    y = net.op("Reshape", y, net.const([-1, window * window, wide]))
    y = net.project(net.layer_norm(y, wide), wide, 3 * wide)
    y = net.op("Reshape", y, net.const([-1, window * window, 3, heads, each]))
    y = net.op("Transpose", y, perm=[2, 0, 3, 1, 4])
    parts = net.op("Split", y, axis=0, count=3) if net.opset < 18 else \
        net.op("Split", y, axis=0, num_outputs=3, count=3)
    q, k, v = (net.squeeze(part, [0]) for part in parts)
    scores = net.op("Einsum", q, k, equation="bhid,bhjd->bhij")
    scores = net.op("Add", scores, net.around(0, 1, heads, window ** 2, window ** 2))
    y = net.op("Einsum", net.op("Softmax", scores, axis=-1), v, equation="bhij,bhjd->bihd")
    y = net.project(net.op("Reshape", y, net.const([-1, window * window, wide])), wide, wide)
    y = net.op("Reshape", y, net.const([-1, count, count, window, window, wide]))
    y = net.op("Reshape", net.op("Transpose", y, perm=[0, 1, 3, 2, 4, 5]), net.const([-1, side, side, wide]))
    x = net.op("Add", kept, y)
    corners = [net.slice(net.slice(x, 1, i, side, 2), 2, j, side, 2) for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))]
    net.output(net.project(net.layer_norm(net.op("Concat", *corners, axis=-1), 4 * wide), 4 * wide, 6, False))
    return net


def clip_text():
    """The token with the largest id says where a sentence ends; features of length one."""
    net, wide = Net(17, 27), 16
    ids = net.input("input_ids", ["batch", "sequence"], INT64)
    net.feeds = [{"input_ids": net.rng.integers(0, WORDS, size)} for size in ((1, 6), (3, 8))]
    length = net.size(ids, 1)
    places = net.slice(net.held(numpy.arange(16).reshape(1, 16)), 1, 0, net.unsqueeze(length, [0]))
    x = net.op("Add", embedded(net, ids, WORDS, wide), embedded(net, places, 16, wide))
    square = net.shape_of(length, length)
    mask = net.op("Expand", net.number(LEAST), square)
    mask = net.op("Trilu", mask, net.const(1), upper=1)
    mask = net.unsqueeze(net.unsqueeze(mask, [0]), [1])
    x = encoder_layer(net, x, mask, wide, 2, "silu")
    last = net.op("ArgMax", net.op("Cast", ids, to=TensorProto.INT32), axis=-1, keepdims=0)
    rows = net.op("Range", net.const(0), net.size(ids, 0), net.const(1))
    where = net.op("Concat", net.unsqueeze(rows, [1]), net.unsqueeze(last, [1]), axis=1)
    y = net.op("MatMul", net.op("GatherND", x, where), net.weight(wide, 12))
    size = net.op("ReduceL2", y, axes=[-1], keepdims=1)
    size = net.op("Expand", net.op("Clip", size, net.number(1e-12)), net.op("Shape", y))
    net.output(net.op("Div", y, size), last)
    return net


def whisper():
    """Sounds: convolutions along time, then an encoder; the loudest places."""
    net, wide = Net(17, 28), 16
    x = net.input("mel", [1, 8, 24])
    net.feeds = [{"mel": net.numbers(1, 8, 24)}]
    for bands, stride in ((8, 1), (wide, 2)):
        x = net.op("Conv", x, net.weight(wide, bands, 3), net.around(0, wide), kernel_shape=[3],
                   pads=[1, 1], strides=[stride], dilations=[1], group=1)
        x = net.gelu(x)
    x = net.op("Add", net.op("Transpose", x, perm=[0, 2, 1]), net.around(0, 12, wide))
    x = encoder_layer(net, x, None, wide, 4)
    values, places = net.op("TopK", x, net.const([3]), axis=-1, largest=1, sorted=1, count=2)
    net.output(x, values, places)
    return net


def recurrent(kind, gates, opset, seed, hidden=8):
    """Tokens through one layer both ways and one layer forward, as nn.LSTM exports."""
    net = Net(opset, seed)
    ids = net.input("tokens", ["batch", 6], INT64)
    net.feeds = [{"tokens": net.rng.integers(0, WORDS, (n, 6))} for n in (1, 3)]
    x = net.op("Transpose", embedded(net, ids, WORDS, 10), perm=[1, 0, 2])
    states = 2 if kind == "LSTM" else 1
    wide, results = 10, []
    for direction, ways in (("bidirectional", 2), ("forward", 1)):
        shape = net.shape_of(ways, net.size(x, 1), hidden)
        zeros = [net.op("Expand", net.number(0), shape) for _ in range(states)]
        options = {"linear_before_reset": 1} if kind == "GRU" else {}
        y, *last = net.op(kind, x, net.around(0, ways, gates * hidden, wide, spread=0.4),
                          net.around(0, ways, gates * hidden, hidden, spread=0.4),
                          net.around(0, ways, 2 * gates * hidden), "", *zeros, count=1 + states,
                          hidden_size=hidden, direction=direction, **options)
        if ways == 2:
            y = net.op("Transpose", y, perm=[0, 2, 1, 3])
            x = net.op("Reshape", y, net.const([0, 0, -1]))
        else:
            x = net.squeeze(y, [1])
        wide, results = ways * hidden, last
    net.output(net.project(net.op("Transpose", x, perm=[1, 0, 2]), hidden, 5), *results)
    return net


def lstm():
    return recurrent("LSTM", 4, 14, 29)


def gru():
    return recurrent("GRU", 3, 11, 30)


def recommender():
    """Tables of many things, looked up and summed; products of pairs; a wide and a deep part."""
    net = Net(13, 31)
    dense = net.input("dense", ["N", 6])
    sparse = net.input("sparse", ["N", 3], INT64)
    net.feeds = [{"dense": net.numbers(n, 6), "sparse": net.rng.integers(0, 20, (n, 3))} for n in (1, 4)]
    parts = [net.op("Relu", net.linear(dense, 6, 8))]
    for number in range(3):
        parts.append(embedded(net, net.op("Gather", sparse, net.const(number), axis=1), 20, 8))
    stack = net.op("Concat", *[net.unsqueeze(part, [1]) for part in parts], axis=1)
    pairs = net.op("MatMul", stack, net.op("Transpose", stack, perm=[0, 2, 1]))
    flat = net.op("Reshape", pairs, net.const([-1, 16]))
    upper = net.op("Gather", flat, net.const([1, 2, 3, 6, 7, 11]), axis=1)
    x = net.op("Relu", net.linear(net.op("Concat", parts[0], upper, axis=1), 14, 8))
    chance = net.op("Sigmoid", net.linear(x, 8, 1))
    net.output(net.squeeze(chance, [1]), net.op("Greater", chance, net.number(0.5)))
    return net


MODELS = {made.__name__: made for made in (
    bert, distilbert, vit, gpt, llama, t5, swin, clip_text, whisper, lstm, gru, recommender)}
