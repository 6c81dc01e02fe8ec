"""Models of the zoo from further fields: detection, segmentation, speech, sound, graphs,
recommendation, diffusion, state spaces, experts, decoding in loops.
"""
import numpy
from onnx import helper, numpy_helper

from onnx_zoo_language import attention, encoder_layer, heads_apart, heads_joined
from onnx_zoo_net import BOOL, FLOAT, INT64, Net
from onnx_zoo_vision import image_net, upsampled


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def graph(nodes, inputs, outputs, name="body"):
    """Of a Loop, a Scan or an If; outputs by name and type."""
    return helper.make_graph(nodes, name, inputs, outputs)


# ---- pictures ----

def boxes_of(net, x, anchors, classes, grid, stride):
    """A head of YOLO: [batch, anchors, 5 + classes, h, w] as boxes in the picture's coordinates."""
    width = 5 + classes
    x = net.view(x, net.size(x, 0), anchors, width, grid * grid)
    x = net.op("Sigmoid", net.op("Transpose", x, perm=[0, 1, 3, 2]))
    places = numpy.stack(numpy.meshgrid(numpy.arange(grid), numpy.arange(grid)), -1).reshape(1, 1, -1, 2)
    xy, wh, rest = net.op("Split", x, count=3, axis=-1, split=[2, 2, width - 4])
    xy = net.op("Add", net.op("Mul", xy, net.number(2)), net.held(places.astype("float32") - 0.5))
    xy = net.op("Mul", xy, net.number(stride))
    sizes = net.held((8 + 8 * net.rng.random((1, anchors, 1, 2))).astype("float32"))
    wh = net.op("Mul", net.op("Pow", net.op("Mul", wh, net.number(2)), net.number(2)), sizes)
    y = net.op("Concat", xy, wh, rest, axis=-1)
    return net.view(y, net.size(y, 0), -1, width)


def yolo():
    """Three scales joined upwards, boxes decoded in the model, then the suppression of most of them
    and what is left by class and place."""
    net, x = image_net(12, side=32, dynamic=False)
    classes, anchors = 3, 2
    a = net.conv_norm(x, 3, 8, act="silu", stride=2)
    b = net.conv_norm(a, 8, 12, act="silu", stride=2)
    c = net.conv_norm(b, 12, 16, act="silu", stride=2)
    pools = [c]
    for _ in range(2):
        pools.append(net.op("MaxPool", pools[-1], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
    c = net.conv_norm(net.op("Concat", *pools, axis=1), 48, 12, act="silu", kernel=1)
    up = net.op("Resize", c, net.held(numpy.zeros(0, "float32")),
                net.held(numpy.array([1, 1, 2, 2], "float32")), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    b = net.conv_norm(net.op("Concat", up, b, axis=1), 24, 12, act="silu")
    heads = [boxes_of(net, net.conv(y, 12, anchors * (5 + classes), 1), anchors, classes, grid, stride)
             for y, grid, stride in ((b, 8, 4), (c, 4, 8))]
    y = net.op("Concat", *heads, axis=1)
    centres, scores = net.slice(y, 2, 0, 4), net.slice(y, 2, 5, 5 + classes)
    scores = net.op("Transpose", net.op("Mul", scores, net.slice(y, 2, 4, 5)), perm=[0, 2, 1])
    kept = net.op("NonMaxSuppression", centres, scores, net.held(numpy.array([5])),
                  net.number([0.45]), net.number([0.1]), center_point_box=1)
    column = net.op("Squeeze", net.slice(kept, 1, 2, 3), axes=[1])
    net.output(kept, net.op("Gather", net.op("Squeeze", centres, axes=[0]), column, axis=0))
    return net


def ssd():
    """Boxes around anchors, the most likely ones of each class by TopK, corners, suppression; a
    number of each kind that is padded to a fixed one."""
    net, x = image_net(11, side=32, dynamic=False, seed=2)
    feature = net.conv_norm(net.conv_norm(x, 3, 8, stride=2), 8, 12, stride=2)
    count = 2 * 8 * 8
    where = net.op("Transpose", net.conv(feature, 12, 2 * 4), perm=[0, 2, 3, 1])
    what = net.op("Transpose", net.conv(feature, 12, 2 * 4), perm=[0, 2, 3, 1])
    where = net.op("Reshape", where, net.held(numpy.array([1, -1, 4])))
    what = net.op("Softmax", net.op("Reshape", what, net.held(numpy.array([1, -1, 4]))), axis=2)
    centre = net.held(net.rng.random((1, count, 2)).astype("float32"))
    size = net.held((0.1 + 0.2 * net.rng.random((1, count, 2))).astype("float32"))
    xy = net.op("Add", net.op("Mul", net.op("Mul", net.slice(where, 2, 0, 2), net.number(0.1)), size), centre)
    wh = net.op("Mul", net.op("Exp", net.op("Mul", net.slice(where, 2, 2, 4), net.number(0.2))), size)
    half = net.op("Div", wh, net.number(2))
    corners = net.op("Concat", net.op("Sub", xy, half), net.op("Add", xy, half), axis=2)
    scores = net.op("Transpose", net.slice(what, 2, 1, 4), perm=[0, 2, 1])
    best, places = net.op("TopK", net.op("ReduceMax", scores, axes=[1], keepdims=0),
                          net.const([20]), count=2, axis=1)
    shown = net.op("Gather", net.op("Squeeze", corners, axes=[0]), net.op("Squeeze", places, axes=[0]),
                   axis=0)
    kept = net.op("NonMaxSuppression", corners, scores, net.const([4]), net.number([0.5]),
                  net.number([0.3]))
    rows = net.op("GatherND", corners, net.op("Concat", net.slice(kept, 1, 0, 1), net.slice(kept, 1, 2, 3),
                                              axis=1))
    net.output(best, shown, kept, rows)
    return net


def deeplab():
    """Holes in kernels, pictures pooled to a point and resized back, classes by ArgMax."""
    net, x = image_net(13, side=33, seed=3)
    y = net.conv_norm(net.conv_norm(x, 3, 8, stride=2), 8, 12, stride=2)
    branches = [net.conv_norm(y, 12, 6, kernel=1)]
    branches += [net.conv_norm(y, 12, 6, dilation=d) for d in (2, 4)]
    pooled = net.conv_norm(net.reduce("ReduceMean", y, [2, 3]), 12, 6, kernel=1)
    branches.append(net.op("Expand", pooled, net.shape_of(net.size(y, 0), 6, net.size(y, 2), net.size(y, 3))))
    y = net.conv(net.op("Concat", *branches, axis=1), 24, 4, 1)
    y = upsampled(net, y, x)
    net.output(y, net.op("ArgMax", y, axis=1, keepdims=0))
    return net


def edsr():
    """Residual blocks without norms, pixels out of channels in both orders."""
    net, x = image_net(13, side=12, seed=4)
    x = net.op("Sub", x, net.held(net.rng.random((1, 3, 1, 1)).astype("float32")))
    y = first = net.conv(x, 3, 8)
    for _ in range(2):
        inner = net.conv(net.op("Relu", net.conv(y, 8, 8)), 8, 8)
        y = net.op("Add", y, net.op("Mul", inner, net.number(0.1)))
    y = net.op("Add", net.conv(y, 8, 8), first)
    y = net.op("DepthToSpace", net.conv(y, 8, 32), blocksize=2, mode="CRD")
    y = net.op("DepthToSpace", net.conv(y, 8, 32), blocksize=2, mode="DCR")
    net.output(net.conv(y, 8, 3))
    return net


def flow():
    """Two pictures: products of all pairs of places, one picture warped by the flow."""
    net = Net(16, 5)
    a, b = net.input("a", [1, 3, 16, 16]), net.input("b", [1, 3, 16, 16])
    net.feeds = [{"a": net.numbers(1, 3, 16, 16), "b": net.numbers(1, 3, 16, 16)}]
    weight = net.weight(6, 3, 3, 3)
    apart = [net.op("Conv", x, weight, pads=[1] * 4, strides=[2, 2]) for x in (a, b)]
    rows = [net.op("Reshape", x, net.const([1, 6, 64])) for x in apart]
    pairs = net.op("Einsum", *rows, equation="bci,bcj->bij")
    pairs = net.op("Reshape", net.op("Div", pairs, net.number(6 ** 0.5)), net.const([1, 64, 8, 8]))
    moved = net.op("Tanh", net.conv(pairs, 64, 2))
    moved = net.op("Resize", moved, "", "", net.const([1, 2, 16, 16]), mode="cubic",
                   coordinate_transformation_mode="align_corners")
    y, x = numpy.meshgrid(numpy.linspace(-1, 1, 16), numpy.linspace(-1, 1, 16), indexing="ij")
    grid = net.held(numpy.stack([x, y], -1)[None].astype("float32"))
    grid = net.op("Add", grid, net.op("Transpose", net.op("Mul", moved, net.number(0.2)), perm=[0, 2, 3, 1]))
    net.output(moved, net.op("GridSample", b, grid, align_corners=1, mode="bilinear",
                             padding_mode="border"))
    net.tolerance = 1e-3
    return net


def style():
    """Kernels that are computed for each picture and normalised: convolutions by groups."""
    net = Net(13, 6)
    z = net.input("z", [2, 8])
    net.feeds = [{"z": net.numbers(2, 8)}]
    w = z
    for _ in range(2):
        w = net.op("LeakyRelu", net.linear(w, 8, 8), alpha=0.2)
    x = net.op("Expand", net.held(net.numbers(1, 6, 4, 4)), net.const([2, 6, 4, 4]))
    for out, side in ((6, 4), (4, 8)):
        if side == 8:
            x = net.op("Resize", x, "", net.held(numpy.array([1, 1, 2, 2], "float32")), mode="linear",
                       coordinate_transformation_mode="half_pixel")
        gains = net.op("Reshape", net.linear(w, 8, 6), net.const([2, 1, 6, 1, 1]))
        kernel = net.op("Mul", net.held(net.numbers(1, out, 6, 3, 3)), gains)
        squares = net.reduce("ReduceSum", net.op("Mul", kernel, kernel), [2, 3, 4])
        root = net.op("Sqrt", net.op("Add", squares, net.number(1e-8)))
        kernel = net.op("Reshape", net.op("Div", kernel, root), net.const([2 * out, 6, 3, 3]))
        x = net.op("Reshape", x, net.const([1, 12, side, side]))
        x = net.op("Conv", x, kernel, group=2, pads=[1] * 4)
        x = net.op("LeakyRelu", net.op("Reshape", x, net.const([2, out, side, side])), alpha=0.2)
    net.output(x)
    return net


# ---- sound ----

def conformer():
    """Attention by relative places, which a pad and two views shift; gated convolutions in time."""
    net = Net(14, 7)
    wide, heads, each = 16, 2, 8
    x = net.input("features", ["batch", "time", wide])
    net.feeds = [{"features": net.numbers(b, t, wide)} for b, t in ((1, 9), (2, 12))]
    x = net.op("Add", x, net.op("Mul", feed(net, x, wide), net.number(0.5)))
    y = net.layer_norm(x, wide)
    q, k, v = (heads_apart(net, net.project(y, wide, wide), heads, each) for _ in range(3))
    time = net.size(x, 1)
    last = net.op("Sub", net.op("Mul", time, net.const(2)), net.const(1))
    table = net.held(net.numbers(1, heads, 64, each))
    places = net.op("Transpose", net.slice(table, 2, 0, net.unsqueeze(last, [0])), perm=[0, 1, 3, 2])
    near = net.op("MatMul", net.op("Add", q, net.around(0, 1, heads, 1, each)), places)
    near = net.op("Pad", near, net.const([0, 0, 0, 1, 0, 0, 0, 0]))
    near = net.view(near, net.size(x, 0), heads, -1, time)
    near = net.slice(near, 2, 1, 2 ** 62)
    near = net.view(near, net.size(x, 0), heads, time, last)
    near = net.slice(near, 3, 0, net.unsqueeze(time, [0]))
    far = net.op("MatMul", net.op("Add", q, net.around(0, 1, heads, 1, each)),
                 net.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = net.op("Div", net.op("Add", far, near), net.number(each ** 0.5))
    y = heads_joined(net, net.op("MatMul", net.op("Softmax", scores, axis=-1), v), wide)
    x = net.op("Add", x, net.project(y, wide, wide))
    y = net.op("Transpose", net.layer_norm(x, wide), perm=[0, 2, 1])
    y = net.op("Conv", y, net.weight(2 * wide, wide, 1), net.around(0, 2 * wide), kernel_shape=[1])
    a, b = net.op("Split", y, count=2, axis=1)
    y = net.op("Mul", a, net.op("Sigmoid", b))
    y = net.op("Conv", y, net.weight(wide, 1, 5), kernel_shape=[5], pads=[2, 2], group=wide)
    y = net.silu(net.norm(y, wide))
    x = net.op("Add", x, net.op("Transpose", y, perm=[0, 2, 1]))
    net.output(net.op("LogSoftmax", net.project(x, wide, 11), axis=-1))
    return net


def feed(net, x, wide):
    y = net.silu(net.project(net.layer_norm(x, wide), wide, 2 * wide))
    return net.project(y, 2 * wide, wide)


def wav2vec():
    """From samples on: convolutions with strides, norms by channel, places by a wide convolution."""
    net = Net(13, 8)
    x = net.input("samples", ["batch", "length"])
    net.feeds = [{"samples": net.numbers(b, n)} for b, n in ((1, 200), (2, 321))]
    x = net.unsqueeze(x, [1])
    x = net.op("Conv", x, net.weight(8, 1, 10), strides=[5], kernel_shape=[10])
    shape = net.op("Shape", x)
    y = net.op("Reshape", x, net.const([0, 8, -1]))
    y = net.op("InstanceNormalization", y, net.held(numpy.ones(8, "float32")),
               net.held(numpy.zeros(8, "float32")), epsilon=1e-5)
    x = net.op("Reshape", y, shape)
    x = net.op("Mul", x, net.around(1, 8, 1))
    x = net.gelu(net.op("Add", x, net.around(0, 8, 1)))
    x = net.gelu(net.op("Conv", x, net.weight(8, 8, 3), strides=[2], kernel_shape=[3]))
    x = net.op("Transpose", x, perm=[0, 2, 1])
    x = net.project(net.layer_norm(x, 8), 8, 16)
    y = net.op("Conv", net.op("Transpose", x, perm=[0, 2, 1]), net.weight(16, 4, 8), net.around(0, 16),
               kernel_shape=[8], pads=[4, 4], group=4)
    y = net.gelu(net.slice(y, 2, 0, -1))
    x = net.op("Add", x, net.op("Transpose", y, perm=[0, 2, 1]))
    x = encoder_layer(net, x, None, 16, 2)
    net.output(net.project(x, 16, 9))
    return net


def vocoder():
    """Longer and longer: turned convolutions, blocks of holes in kernels summed, a tanh."""
    net = Net(13, 9)
    x = net.input("mel", [1, 10, "frames"])
    net.feeds = [{"mel": net.numbers(1, 10, n)} for n in (5, 8)]
    wide = 16
    x = net.op("Conv", x, net.weight(wide, 10, 7), net.around(0, wide), pads=[3, 3], kernel_shape=[7])
    for stride in (4, 2):
        x = net.op("LeakyRelu", x, alpha=0.1)
        x = net.op("ConvTranspose", x, net.weight(wide, wide // 2, 2 * stride), net.around(0, wide // 2),
                   strides=[stride], kernel_shape=[2 * stride], pads=[stride // 2] * 2)
        wide //= 2
        blocks = []
        for kernel in (3, 5):
            y = x
            for hole in (1, 3):
                z = net.op("Conv", net.op("LeakyRelu", y, alpha=0.1), net.weight(wide, wide, kernel),
                           net.around(0, wide), kernel_shape=[kernel], dilations=[hole],
                           pads=[hole * (kernel - 1) // 2] * 2)
                y = net.op("Add", y, z)
            blocks.append(y)
        x = net.op("Div", net.op("Add", *blocks), net.number(2))
    x = net.op("Conv", net.op("LeakyRelu", x), net.weight(1, wide, 7), pads=[3, 3], kernel_shape=[7])
    net.output(net.op("Tanh", x))
    return net


def ocr():
    """Columns of a picture of any width, an LSTM both ways over them."""
    net = Net(14, 10)
    x = net.input("line", ["batch", 1, 16, "width"])
    net.feeds = [{"line": net.numbers(b, 1, 16, w)} for b, w in ((1, 20), (2, 28))]
    for wide, out in ((1, 6), (6, 8)):
        x = net.op("MaxPool", net.conv_norm(x, wide, out), kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Conv", x, net.weight(8, 8, 4, 1), kernel_shape=[4, 1])
    x = net.op("Transpose", net.op("Squeeze", x, net.const([2])), perm=[2, 0, 1])
    hidden = 6
    start = net.op("ConstantOfShape", net.shape_of(2, net.size(x, 1), hidden))
    y, _, _ = net.op("LSTM", x, net.weight(2, 4 * hidden, 8), net.weight(2, 4 * hidden, hidden),
                     net.around(0, 2, 8 * hidden), "", start, start, count=3, direction="bidirectional",
                     hidden_size=hidden)
    y = net.op("Transpose", y, perm=[0, 2, 1, 3])
    y = net.op("Reshape", y, net.const([0, 0, -1]))
    net.output(net.op("Softmax", net.project(y, 2 * hidden, 7), axis=2))
    return net


def waves():
    """Causal convolutions with holes, gates, sums over all layers: a TCN."""
    net = Net(11, 11)
    x = net.input("x", ["batch", 3, "time"])
    net.feeds = [{"x": net.numbers(b, 3, t)} for b, t in ((1, 17), (3, 8))]
    x = net.op("Conv", x, net.weight(8, 3, 1), kernel_shape=[1])
    total = None
    for hole in (1, 2, 4):
        y = net.op("Pad", x, net.const([0, 0, hole, 0, 0, 0]))
        y = net.op("Conv", y, net.weight(16, 8, 2), net.around(0, 16), kernel_shape=[2], dilations=[hole])
        a, b = net.op("Split", y, count=2, axis=1)
        y = net.op("Mul", net.op("Tanh", a), net.op("Sigmoid", b))
        y = net.op("Conv", y, net.weight(8, 8, 1), kernel_shape=[1])
        x = net.op("Add", x, y)
        total = y if total is None else net.op("Add", total, y)
    net.output(net.op("Conv", net.op("Relu", total), net.weight(5, 8, 1), kernel_shape=[1]))
    return net


# ---- graphs and tables ----

def graph_net():
    """Messages along edges, summed where they arrive; the mean of neighbours; a readout by graph."""
    net = Net(16, 12)
    x = net.input("nodes", ["N", 6])
    edges = net.input("edges", [2, "E"], INT64)
    owner = net.input("graph", ["N"], INT64)
    for n, e in ((5, 7), (8, 20)):
        net.feeds.append({"nodes": net.numbers(n, 6), "edges": net.rng.integers(0, n, (2, e)),
                          "graph": numpy.sort(net.rng.integers(0, 2, n))})
    source, target = (net.op("Gather", edges, net.const(i), axis=0) for i in (0, 1))
    count = net.size(x, 0)
    for wide in (6, 8):
        messages = net.op("Gather", x, source, axis=0)
        places = net.op("Expand", net.unsqueeze(target, [1]), net.shape_of(net.size(target, 0), wide))
        zeros = net.op("ConstantOfShape", net.shape_of(count, wide))
        sums = net.op("ScatterElements", zeros, places, messages, axis=0, reduction="add")
        ones = net.op("ConstantOfShape", net.shape_of(net.size(target, 0)),
                      value=numpy_helper.from_array(numpy.ones(1, "float32")))
        degree = net.op("ScatterND", net.op("ConstantOfShape", net.shape_of(count)),
                        net.unsqueeze(target, [1]), ones, reduction="add")
        degree = net.unsqueeze(net.op("Clip", degree, net.number(1)), [1])
        x = net.op("Relu", net.op("Add", net.linear(x, wide, 8), net.linear(net.op("Div", sums, degree), wide, 8)))
    scores = net.op("GatherElements", x, net.unsqueeze(owner, [1]), axis=1)
    pooled = net.op("ScatterND", net.op("ConstantOfShape", net.const([2, 8])), net.unsqueeze(owner, [1]), x,
                    reduction="add")
    net.output(net.linear(pooled, 8, 3), scores)
    return net


def bags():
    """EmbeddingBag, as PyTorch exports it: a loop over bags, each a slice whose length is data."""
    net = Net(13, 13)
    ids, offsets = net.input("ids", ["ids"], INT64), net.input("offsets", ["bags"], INT64)
    dense = net.input("dense", ["bags", 4])
    for count, begins in ((6, [0, 2, 3]), (9, [0, 4])):
        net.feeds.append({"ids": net.rng.integers(0, 20, count), "offsets": numpy.array(begins),
                          "dense": net.numbers(len(begins), 4)})
    table = net.held(net.numbers(20, 5))
    ends = net.op("Concat", net.slice(offsets, 0, 1, 2 ** 62), net.shape_of(net.size(ids, 0)), axis=0)
    zero, one = net.held(numpy.array([0])), net.held(numpy.array([1]))
    body = graph([
        helper.make_node("Gather", [offsets, "i"], ["begin"], axis=0),
        helper.make_node("Gather", [ends, "i"], ["end"], axis=0),
        helper.make_node("Unsqueeze", ["begin", zero], ["begins"]),
        helper.make_node("Unsqueeze", ["end", zero], ["stops"]),
        helper.make_node("Slice", [ids, "begins", "stops", zero, one], ["own"]),
        helper.make_node("Gather", [table, "own"], ["rows"], axis=0),
        helper.make_node("ReduceSum", ["rows", zero], ["sum"], keepdims=0),
        helper.make_node("Identity", ["goes_on"], ["goes_on_still"])],
        [info("i", [], INT64), info("goes_on", [], BOOL)],
        [info("goes_on_still", [], BOOL), info("sum", None)])
    pooled = net.op("Loop", net.size(offsets, 0), net.const(True, "bool"), body=body)
    x = net.op("Concat", pooled, dense, axis=1)
    net.output(net.op("Sigmoid", net.linear(net.op("Relu", net.linear(x, 9, 8)), 8, 1)))
    return net


def open_lists():
    """Sequences of open length: EmbeddingBag of a batch that is not known (a loop that appends sums of
    slices) and an unrolled recurrence over unbind; beside them, sums over sizes of two names and
    padding of one more than the kernel that fits all lengths."""
    net = Net(17, 31)
    ids = net.input("ids", ["batch", 3], INT64)
    x, y = net.input("x", ["rows", "time", 4]), net.input("y", ["lines", "steps", 4])
    for batch, rows, time in ((2, 1, 5), (4, 2, 6)):
        net.feeds.append({"ids": net.rng.integers(0, 9, (batch, 3)), "x": net.numbers(rows, time, 4),
                          "y": net.numbers(rows, time, 4)})
    rows = net.op("Gather", net.held(net.numbers(9, 4)), net.op("Reshape", ids, net.const([-1])))
    count, zero, one = net.size(ids, 0), net.held(numpy.array([0])), net.held(numpy.array([1]))
    begins = net.op("Range", net.const(0), net.op("Mul", count, net.const(3)), net.const(3))
    begins = net.op("Concat", begins, net.shape_of(net.size(rows, 0)), axis=0)
    body = graph([
        helper.make_node("Reshape", ["at", net.held(numpy.array([-1]))], ["place"]),
        helper.make_node("Add", ["place", one], ["next"]),
        helper.make_node("Add", ["next", one], ["behind"]),
        helper.make_node("Slice", [begins, "place", "next"], ["begin"]),
        helper.make_node("Slice", [begins, "next", "behind"], ["end"]),
        helper.make_node("Slice", [rows, "begin", "end"], ["own"]),
        helper.make_node("ReduceSum", ["own", zero], ["sum"], keepdims=1),
        helper.make_node("Sub", ["end", "begin"], ["length"]),
        helper.make_node("Cast", ["length"], ["float_length"], to=FLOAT),
        helper.make_node("Div", ["sum", "float_length"], ["mean"]),
        helper.make_node("SequenceInsert", ["list", "mean"], ["longer"]),
        helper.make_node("Add", ["at", net.held(numpy.array(1))], ["then"]),
        helper.make_node("Less", ["then", count], ["goes_on"])],
        [info("turn", [], INT64), info("goes", [], BOOL), info("at", [], INT64),
         helper.make_tensor_sequence_value_info("list", FLOAT, None)],
        [info("goes_on", [], BOOL), info("then", [], INT64),
         helper.make_tensor_sequence_value_info("longer", FLOAT, None)])
    begins_at_all = net.op("Less", net.const(0), count)
    _, bags_of_rows = net.op("Loop", "", begins_at_all, net.const(0), net.op("SequenceEmpty"), count=2,
                             body=body)
    net.output(net.op("ConcatFromSequence", bags_of_rows, axis=0))
    steps = net.op("SplitToSequence", x, axis=1, keepdims=0)
    state = net.op("SequenceAt", steps, net.const(0))
    for place in (1, -1):
        state = net.op("Tanh", net.op("Add", net.linear(state, 4, 4),
                                      net.op("SequenceAt", steps, net.const(place))))
    net.output(state, net.op("Einsum", x, y, equation="btd,btm->bdm"))
    turned_x = net.op("Transpose", x, perm=[0, 2, 1])
    net.output(net.op("Conv", turned_x, net.weight(4, 4, 4), auto_pad="SAME_UPPER"))
    return net


# ---- generating ----

def diffusion():
    """A U-Net that is told the time and a text: norms by group, attention between pictures and
    words, swish."""
    net = Net(17, 14)
    x, time, text = net.input("sample", [1, 4, 16, 16]), net.input("time", [1]), net.input("text", [1, 5, 12])
    net.feeds = [{"sample": net.numbers(1, 4, 16, 16), "time": numpy.array([7], "float32"),
                  "text": net.numbers(1, 5, 12)}]
    rates = net.held(numpy.exp(-numpy.arange(4) * 2.3).astype("float32"))
    angles = net.op("Mul", net.unsqueeze(time, [1]), rates)
    told = net.op("Concat", net.op("Sin", angles), net.op("Cos", angles), axis=1)
    told = net.silu(net.linear(told, 8, 16))

    def group_norm(x, channels, groups=4):
        shape = net.op("Shape", x)
        y = net.op("Reshape", x, net.const([0, groups, -1]))
        y = net.op("InstanceNormalization", y, net.held(numpy.ones(groups, "float32")),
                   net.held(numpy.zeros(groups, "float32")), epsilon=1e-5)
        y = net.op("Mul", net.op("Reshape", y, shape), net.around(1, channels, 1, 1))
        return net.op("Add", y, net.around(0, channels, 1, 1))

    def block(x, wide, out):
        y = net.conv(net.silu(group_norm(x, wide)), wide, out)
        shift = net.unsqueeze(net.linear(told, 16, out), [2, 3])
        y = net.conv(net.silu(group_norm(net.op("Add", y, shift), out)), out, out)
        return net.op("Add", y, x if wide == out else net.conv(x, wide, out, 1))

    def looks_at_text(x, wide, side):
        rows = net.op("Transpose", net.op("Reshape", group_norm(x, wide), net.const([1, wide, side * side])),
                      perm=[0, 2, 1])
        rows = net.layer_norm(rows, wide)
        q = heads_apart(net, net.project(rows, wide, wide, False), 2, wide // 2)
        k = heads_apart(net, net.project(text, 12, wide, False), 2, wide // 2, (0, 2, 3, 1))
        v = heads_apart(net, net.project(text, 12, wide, False), 2, wide // 2)
        y = heads_joined(net, attention(net, q, k, v, (wide // 2) ** 0.5), wide)
        y = net.op("Transpose", net.project(y, wide, wide), perm=[0, 2, 1])
        return net.op("Add", x, net.op("Reshape", y, net.const([1, wide, side, side])))

    first = net.conv(x, 4, 8)
    a = block(first, 8, 8)
    b = looks_at_text(block(net.conv(a, 8, 8, stride=2), 8, 16), 16, 8)
    up = net.op("Resize", b, "", net.held(numpy.array([1, 1, 2, 2], "float32")), mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    y = block(net.op("Concat", net.conv(up, 16, 8), a, axis=1), 16, 8)
    net.output(net.conv(net.silu(group_norm(y, 8)), 8, 4))
    return net


def mamba():
    """States that decay by what comes in: a Scan along time."""
    net = Net(17, 15)
    wide, inner, states = 8, 12, 4
    x = net.input("x", [1, "time", wide])
    net.feeds = [{"x": net.numbers(1, t, wide)} for t in (6, 11)]
    y = net.project(net.rms_norm(x, wide), wide, 2 * inner, False)
    y, gate = net.op("Split", y, net.const([inner, inner]), count=2, axis=2)
    y = net.op("Transpose", y, perm=[0, 2, 1])
    y = net.op("Conv", y, net.weight(inner, 1, 4), net.around(0, inner), group=inner, kernel_shape=[4],
               pads=[3, 3])
    y = net.slice(y, 2, 0, net.shape_of(net.size(x, 1)))
    y = net.op("Transpose", net.silu(y), perm=[0, 2, 1])
    step = net.op("Softplus", net.project(y, inner, inner))
    b, c = net.project(y, inner, states, False), net.project(y, inner, states, False)
    decay = net.op("Neg", net.op("Exp", net.around(0, inner, states)))
    body = graph([
        helper.make_node("Unsqueeze", ["dt", "last"], ["dts"]),
        helper.make_node("Mul", ["dts", decay], ["rate"]),
        helper.make_node("Exp", ["rate"], ["kept"]),
        helper.make_node("Mul", ["h", "kept"], ["old"]),
        helper.make_node("Mul", ["dt", "u"], ["in"]),
        helper.make_node("Unsqueeze", ["in", "last"], ["ins"]),
        helper.make_node("Unsqueeze", ["bt", "middle"], ["bs"]),
        helper.make_node("Mul", ["ins", "bs"], ["new"]),
        helper.make_node("Add", ["old", "new"], ["h_out"]),
        helper.make_node("Unsqueeze", ["ct", "last"], ["cs"]),
        helper.make_node("MatMul", ["h_out", "cs"], ["out"]),
        helper.make_node("Squeeze", ["out", "last"], ["y"])],
        [info("h", [1, inner, states]), info("dt", [1, inner]), info("u", [1, inner]),
         info("bt", [1, states]), info("ct", [1, states])],
        [info("h_out", [1, inner, states]), info("y", [1, inner])])
    body.initializer.extend([numpy_helper.from_array(numpy.array([2]), "last"),
                             numpy_helper.from_array(numpy.array([1]), "middle")])
    start = net.held(numpy.zeros((1, inner, states), "float32"))
    h, z = net.op("Scan", start, step, y, b, c, count=2, body=body, num_scan_inputs=4,
                  scan_input_axes=[1] * 4, scan_output_axes=[1])
    z = net.op("Mul", net.op("Add", z, net.op("Mul", y, net.around(1, inner))), net.silu(gate))
    net.output(net.op("Add", x, net.project(z, inner, wide)), h)
    return net


def experts():
    """Two of four experts for each token: those that one gets are found, worked on, and added back."""
    net = Net(18, 16)
    wide = 8
    x = net.input("x", ["tokens", wide])
    net.feeds = [{"x": net.numbers(n, wide)} for n in (5, 12)]
    weights, chosen = net.op("TopK", net.op("Softmax", net.project(x, wide, 4), axis=-1), net.const([2]),
                             count=2, axis=-1)
    weights = net.op("Div", weights, net.reduce("ReduceSum", weights, [-1]))
    masks = net.op("OneHot", chosen, net.const(4), net.const([0, 1]), axis=-1)
    y = net.op("ConstantOfShape", net.op("Shape", x))
    for expert in range(4):
        own = net.op("Transpose", net.op("Gather", masks, net.const(expert), axis=2), perm=[0, 1])
        where = net.op("Transpose", net.op("NonZero", own), perm=[1, 0])
        rows = net.slice(where, 1, 0, 1)
        tokens = net.op("GatherND", x, rows)
        z = net.project(net.silu(net.project(tokens, wide, 12)), 12, wide)
        z = net.op("Mul", z, net.unsqueeze(net.op("GatherND", weights, where), [1]))
        y = net.op("ScatterND", y, rows, z, reduction="add")
    net.output(y)
    return net


def greedy():
    """Tokens one by one in a loop that ends when one says so: as many scores as there were turns."""
    net = Net(15, 17)
    x = net.input("context", [1, 6])
    most = net.input("most", [], INT64)
    net.feeds = [{"context": net.numbers(1, 6), "most": numpy.array(n)} for n in (3, 9)]
    table, turn, out = net.held(net.numbers(7, 6)), net.held(net.numbers(6, 6)), net.held(2 * net.numbers(6, 7))
    body = graph([
        helper.make_node("Gather", [table, "token"], ["seen"], axis=0),
        helper.make_node("MatMul", ["h", turn], ["turned"]),
        helper.make_node("Add", ["turned", "seen"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["h_out"]),
        helper.make_node("MatMul", ["h_out", out], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["token_out"], axis=1, keepdims=0),
        helper.make_node("Equal", ["token_out", "end"], ["is_end"]),
        helper.make_node("Not", ["is_end"], ["goes"]),
        helper.make_node("Squeeze", ["goes"], ["goes_on_still"])],
        [info("i", [], INT64), info("goes_on", [], BOOL), info("h", [1, 6]), info("token", [1], INT64)],
        [info("goes_on_still", [], BOOL), info("h_out", [1, 6]), info("token_out", [1], INT64),
         info("scores", [1, 7])])
    body.initializer.append(numpy_helper.from_array(numpy.array([3]), "end"))
    start = net.held(numpy.array([1]))
    h, token, scores = net.op("Loop", most, net.const(True, "bool"), x, start, count=3, body=body)
    net.output(h, token, scores)
    return net


def generation():
    """Tokens that are put behind those there are, keys and values as well, until one says to end: a
    loop whose states are longer after each turn."""
    net = Net(17, 23)
    ids, most = net.input("ids", ["batch", "length"], INT64), net.input("most", [], INT64)
    net.feeds = [{"ids": net.rng.integers(0, 9, shape), "most": numpy.array(n)}
                 for shape, n in (((2, 3), 4), ((1, 2), 6))]
    table, out = net.held(net.numbers(9, 6)), net.held(2 * net.numbers(6, 9))
    cache = net.op("Gather", table, ids, axis=0)
    node = helper.make_node
    body = graph([
        node("Slice", ["tokens", "minus", "far", "one"], ["last"]),
        node("Gather", [table, "last"], ["seen"], axis=0),
        node("Concat", ["keys", "seen"], ["keys_out"], axis=1),
        node("Transpose", ["keys_out"], ["turned"], perm=[0, 2, 1]),
        node("MatMul", ["seen", "turned"], ["products"]),
        node("Softmax", ["products"], ["shares"], axis=-1),
        node("MatMul", ["shares", "keys_out"], ["taken"]),
        node("MatMul", ["taken", out], ["scores"]),
        node("ArgMax", ["scores"], ["next"], axis=2, keepdims=0),
        node("Concat", ["tokens", "next"], ["tokens_out"], axis=1),
        node("ReduceSum", ["next"], ["sum"], keepdims=0),
        node("Equal", ["sum", "end"], ["is_end"]),
        node("Not", ["is_end"], ["goes"])],
        [info("i", [], INT64), info("goes_on", [], BOOL), info("tokens", None, INT64),
         info("keys", None)],
        [info("goes", [], BOOL), info("tokens_out", None, INT64), info("keys_out", None)])
    for name, value in (("minus", [-1]), ("far", [2**63 - 1]), ("one", [1]), ("end", 0)):
        body.initializer.append(numpy_helper.from_array(numpy.array(value), name))
    tokens, keys = net.op("Loop", most, net.const(True, "bool"), ids, cache, count=2, body=body)
    net.output(tokens, keys, net.op("ReduceMean", keys, axes=[1], keepdims=0))
    return net


def choices():
    """Branches by what is in the data: one pools, one crops; results of different lengths. Others
    compute how long theirs is: what is above zero, or the first five."""
    net = Net(16, 18)
    x = net.input("x", [1, 3, "length"])
    net.feeds = [{"x": net.numbers(1, 3, n) + shift} for n, shift in ((8, 1.0), (8, -1.0))]
    mean = net.op("ReduceMean", x, keepdims=0)
    condition = net.op("Greater", mean, net.number(0))
    then = graph([helper.make_node("MaxPool", [x], ["pooled"], kernel_shape=[2], strides=[2])], [],
                 [info("pooled", None)], "then")
    weight = net.weight(3, 3, 3)
    other = graph([helper.make_node("Conv", [x, weight], ["filtered"], kernel_shape=[3])], [],
                  [info("filtered", None)], "else")
    y = net.op("If", condition, then_branch=then, else_branch=other)
    flat, zero = net.op("Reshape", x, net.const([-1])), net.number(0)
    then = graph([helper.make_node("Greater", [flat, zero], ["above"]),
                  helper.make_node("Compress", [flat, "above"], ["kept"])], [],
                 [info("kept", None)], "then")
    other = graph([helper.make_node("Slice", [flat, net.const([0]), net.const([5])], ["first"])],
                  [], [info("first", None)], "else")
    some = net.op("If", condition, then_branch=then, else_branch=other)
    net.output(y, net.op("ReduceSum", net.op("Relu", y), net.const([2]), keepdims=0), some,
               net.op("Exp", some))
    return net


def windows():
    """Frames of a sound, their spectrum, in bands, in decibels."""
    net = Net(17, 19)
    x = net.input("sound", [1, 128])
    net.feeds = [{"sound": net.numbers(1, 128)}]
    spectrum = net.op("STFT", x, net.const(16), net.op("HannWindow", net.const(32)), net.const(32))
    squares = net.op("ReduceSumSquare", spectrum, axes=[3], keepdims=0)
    bands = net.op("MelWeightMatrix", net.const(8), net.const(32), net.const(8000), net.number(0.0),
                   net.number(4000.0))
    y = net.op("Log", net.op("Add", net.op("MatMul", squares, bands), net.number(1e-6)))
    net.output(y)
    net.tolerance = 1e-3
    return net


def newest():
    """The newest operators: Attention with a cache, RMSNormalization, RotaryEmbedding, Swish."""
    net = Net(24, 20)
    wide, heads, each = 16, 2, 8
    x = net.input("x", [1, 4, wide])
    past = [net.input(n, [1, heads, 3, each]) for n in ("past_key", "past_value")]
    net.feeds = [{"x": net.numbers(1, 4, wide), "past_key": net.numbers(1, heads, 3, each),
                  "past_value": net.numbers(1, heads, 3, each)}]
    y = net.op("RMSNormalization", x, net.around(1, wide), axis=-1)
    q, k, v = (net.project(y, wide, wide, False) for _ in range(3))
    angles = net.rng.random((1, 4, each // 2)).astype("float32")
    turns = [net.held(f(angles)) for f in (numpy.cos, numpy.sin)]
    q, k = (net.op("RotaryEmbedding", t, *turns, num_heads=heads) for t in (q, k))
    y, key, value = net.op("Attention", q, k, v, "", *past, count=3, q_num_heads=heads,
                           kv_num_heads=heads, is_causal=1)
    x = net.op("Add", x, net.project(y, wide, wide))
    y = net.op("Mul", net.op("Swish", net.project(x, wide, 24)), net.project(x, wide, 24))
    net.output(net.op("Add", x, net.project(y, 24, wide)), key, value)
    return net


MODELS = {f.__name__: f for f in (
    yolo, ssd, deeplab, edsr, flow, style, conformer, wav2vec, vocoder, ocr, waves, graph_net, bags, open_lists,
    diffusion, mamba, experts, greedy,
    generation, choices, windows, newest)}
