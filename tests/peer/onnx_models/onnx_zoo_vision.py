"""Models of the zoo that see pictures: narrow, with the structure and idioms of the real ones."""
import numpy

from onnx_zoo_net import Net


def image_net(opset, channels=3, side=32, dynamic=True, seed=1, batches=(1, 2)):
    """A net, and its input: a picture, or however many."""
    net = Net(opset, seed)
    x = net.input("input", ["batch" if dynamic else 1, channels, side, side])
    for batch in batches if dynamic else (1,):
        net.feeds.append({"input": net.numbers(batch, channels, side, side)})
    return net, x


def flat(net, x):
    """x.view(x.size(0), -1)"""
    return net.view(x, net.size(x, 0), -1)


def classified(net, x, wide, classes=10):
    """Average, flatten, classify."""
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    net.output(net.linear(x, wide, classes))
    return net


def mlp():
    net = Net(13)
    x = net.input("x", ["N", 12])
    net.feeds = [{"x": net.numbers(n, 12)} for n in (1, 5)]
    x = net.op("Relu", net.linear(x, 12, 16))
    x = net.op("Tanh", net.linear(x, 16, 16))
    net.output(net.op("Softmax", net.linear(x, 16, 4), axis=-1))
    return net


def lenet():
    """Of Keras, through tf2onnx: pictures with channels last, transposed; paddings by name."""
    net = Net(9)
    x = net.input("image", ["unk__1", 28, 28, 1])
    net.feeds = [{"image": net.numbers(n, 28, 28, 1)} for n in (1, 2)]
    x = net.op("Transpose", x, perm=[0, 3, 1, 2])
    x = net.op("Conv", x, net.weight(6, 1, 5, 5), net.around(0, 6), auto_pad="SAME_UPPER", strides=[1, 1],
               kernel_shape=[5, 5], dilations=[1, 1], group=1)
    x = net.op("MaxPool", net.op("Relu", x), kernel_shape=[2, 2], strides=[2, 2], auto_pad="VALID")
    x = net.op("Conv", x, net.weight(16, 6, 5, 5), net.around(0, 16), auto_pad="VALID", strides=[1, 1],
               kernel_shape=[5, 5])
    x = net.op("AveragePool", net.op("Relu", x), kernel_shape=[2, 2], strides=[2, 2],
               auto_pad="SAME_UPPER")
    x = net.op("Reshape", net.op("Transpose", x, perm=[0, 2, 3, 1]), net.held(numpy.array([-1, 400])))
    for wide, out in ((400, 24), (24, 16)):
        x = net.op("Relu", net.project(x, wide, out))
    net.output(net.op("Softmax", net.project(x, 16, 10), axis=1))
    return net


def basic_block(net, x, wide, out, stride):
    y = net.conv_norm(x, wide, out, stride=stride)
    y = net.conv_norm(y, out, out, act=None)
    if stride != 1 or wide != out:
        x = net.conv_norm(x, wide, out, act=None, kernel=1, stride=stride)
    return net.op("Relu", net.op("Add", y, x))


def bottleneck(net, x, wide, out, stride):
    inner = out // 4
    y = net.conv_norm(x, wide, inner, kernel=1)
    y = net.conv_norm(y, inner, inner, stride=stride)
    y = net.conv_norm(y, inner, out, act=None, kernel=1)
    if stride != 1 or wide != out:
        x = net.conv_norm(x, wide, out, act=None, kernel=1, stride=stride)
    return net.op("Relu", net.op("Add", y, x))


def resnet_body(net, x, block, depths, widths, stem, classes=10):
    x = net.conv_norm(x, 3, stem, kernel=7, stride=2)
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=0)
    wide = stem
    for stage, (depth, out) in enumerate(zip(depths, widths)):
        for number in range(depth):
            x = block(net, x, wide, out, 2 if stage and not number else 1)
            wide = out
    return classified(net, x, wide, classes)


def resnet18(opset=11):
    net, x = image_net(opset)
    return resnet_body(net, x, basic_block, (2, 2, 2, 2), (4, 8, 12, 16), 4)


def resnet50():
    net, x = image_net(18, seed=2)
    return resnet_body(net, x, bottleneck, (3, 4, 6, 3), (8, 16, 24, 32), 4)


def inverted(net, x, wide, out, stride, grow, act="relu6", kernel=3, squeeze=False):
    """MobileNet's block: widen, depthwise, narrow."""
    inner = wide * grow
    y = net.conv_norm(x, wide, inner, act=act, kernel=1) if grow != 1 else x
    y = net.conv_norm(y, inner, inner, act=act, kernel=kernel, stride=stride, group=inner)
    y = excited(net, y, inner) if squeeze else y
    y = net.conv_norm(y, inner, out, act=None, kernel=1)
    return net.op("Add", x, y) if stride == 1 and wide == out else y


def excited(net, x, wide, inner=4, gate="HardSigmoid"):
    """Squeeze and excitation."""
    y = net.reduce("ReduceMean", x, [2, 3])
    y = net.op("Relu", net.conv(y, wide, inner, kernel=1))
    options = {"alpha": 1 / 6} if gate == "HardSigmoid" else {}
    return net.op("Mul", net.op(gate, net.conv(y, inner, wide, kernel=1), **options), x)


def mobilenet_v2(opset=10):
    net, x = image_net(opset, seed=3)
    x = net.conv_norm(x, 3, 4, act="relu6", stride=2)
    wide = 4
    for out, stride, grow in ((4, 1, 1), (6, 2, 3), (6, 1, 3), (8, 2, 3), (8, 1, 3)):
        x = inverted(net, x, wide, out, stride, grow)
        wide = out
    x = net.conv_norm(x, wide, 24, act="relu6", kernel=1)
    x = flat(net, net.op("GlobalAveragePool", x))
    net.output(net.linear(x, 24, 10))
    return net


def mobilenet_v3():
    net, x = image_net(14, seed=4)
    x = net.conv_norm(x, 3, 8, act="hardswish", stride=2)
    x = inverted(net, x, 8, 8, 2, 1, act="Relu", squeeze=True)
    x = inverted(net, x, 8, 12, 2, 3, act="Relu")
    x = inverted(net, x, 12, 12, 1, 3, act="hardswish", kernel=5, squeeze=True)
    x = net.conv_norm(x, 12, 32, act="hardswish", kernel=1)
    x = flat(net, net.op("GlobalAveragePool", x))
    net.output(net.linear(net.hard_swish(net.linear(x, 32, 24)), 24, 10))
    return net


def squeezenet():
    net, x = image_net(9, seed=5, dynamic=False)
    x = net.op("Relu", net.conv(x, 3, 8, stride=2, pad=0))
    wide = 8
    for inner, out, pools in ((4, 8, True), (4, 8, False), (6, 12, True)):
        if pools:
            x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])
        y = net.op("Relu", net.conv(x, wide, inner, kernel=1))
        sides = [net.op("Relu", net.conv(y, inner, out, kernel=k)) for k in (1, 3)]
        x, wide = net.op("Concat", *sides, axis=1), 2 * out
    x = net.op("Dropout", x, ratio=0.5)
    x = net.op("Relu", net.conv(x, wide, 10, kernel=1))
    x = net.op("GlobalAveragePool", x)
    net.output(net.op("Softmax", net.op("Flatten", x)))
    return net


def densenet():
    net, x = image_net(12, seed=6)
    x = net.conv_norm(x, 3, 8, kernel=7, stride=2)
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    wide, grow = 8, 4
    for stage, depth in enumerate((3, 4)):
        parts = [x]
        for _ in range(depth):
            y = parts[0] if len(parts) == 1 else net.op("Concat", *parts, axis=1)
            y = net.conv(net.op("Relu", net.norm(y, wide)), wide, 8, kernel=1, bias=False)
            y = net.conv(net.op("Relu", net.norm(y, 8)), 8, grow, bias=False)
            parts.append(y)
            wide += grow
        x = net.op("Relu", net.norm(net.op("Concat", *parts, axis=1), wide))
        if stage == 0:
            x = net.conv(x, wide, wide // 2, kernel=1, bias=False)
            wide //= 2
            x = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    return classified(net, x, wide)


def vgg():
    net, x = image_net(7, seed=7, dynamic=False)
    wide = 3
    for out, depth in ((6, 1), (8, 1), (12, 2)):
        for _ in range(depth):
            x = net.op("Relu", net.conv(x, wide, out))
            wide = out
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
    x = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Reshape", x, net.const([1, -1]))
    x = net.op("Dropout", net.op("Relu", net.linear(x, 48, 24)), ratio=0.5)
    net.output(net.op("LogSoftmax", net.linear(x, 24, 10), axis=1))
    return net


def efficientnet():
    net, x = image_net(17, seed=8)
    x = net.conv_norm(x, 3, 8, act="silu", stride=2)
    wide = 8
    for out, stride, grow, kernel in ((8, 1, 1, 3), (12, 2, 3, 3), (12, 1, 3, 5)):
        inner = wide * grow
        y = net.conv_norm(x, wide, inner, act="silu", kernel=1) if grow != 1 else x
        y = net.conv_norm(y, inner, inner, act="silu", kernel=kernel, stride=stride, group=inner)
        gate = net.silu(net.conv(net.op("GlobalAveragePool", y), inner, 4, kernel=1))
        y = net.op("Mul", net.op("Sigmoid", net.conv(gate, 4, inner, kernel=1)), y)
        y = net.conv_norm(y, inner, out, act=None, kernel=1)
        x, wide = net.op("Add", y, x) if stride == 1 and wide == out else y, out
    return classified(net, net.conv_norm(x, wide, 24, act="silu", kernel=1), 24)


def upsampled(net, x, like):
    """F.interpolate to the size of another tensor, as PyTorch's exporter writes it."""
    sizes = [net.op("Cast", net.shape_of(net.size(like, 2), net.size(like, 3)), to=7)]
    head = net.slice(net.op("Shape", x), 0, 0, 2)
    whole = net.op("Concat", head, *sizes, axis=0)
    return net.op("Resize", x, "", "", whole, mode="linear", nearest_mode="floor",
                  coordinate_transformation_mode="align_corners", cubic_coeff_a=-0.75)


def unet():
    net = Net(13, 9)
    x = net.input("input", ["batch", 3, "height", "width"])
    net.feeds = [{"input": net.numbers(1, 3, 18, 20)}, {"input": net.numbers(2, 3, 16, 16)}]
    first = net.conv_norm(x, 3, 6)
    second = net.conv_norm(net.op("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2]), 6, 8)
    low = net.conv_norm(net.op("MaxPool", second, kernel_shape=[2, 2], strides=[2, 2]), 8, 12)
    y = net.conv_norm(net.op("Concat", second, upsampled(net, low, second), axis=1), 20, 8)
    y = net.op("ConvTranspose", y, net.weight(8, 6, 2, 2, gain=2), net.around(0, 6),
               kernel_shape=[2, 2], strides=[2, 2])
    y = net.conv_norm(net.op("Concat", first, y, axis=1), 12, 6)
    net.output(net.op("Sigmoid", net.conv(y, 6, 2, kernel=1)))
    return net


def convnext():
    """Channels last inside a block, layer norms, a scale for each layer; a patch as the stem."""
    net, x = image_net(18, seed=10)
    x = net.op("Conv", x, net.weight(8, 3, 4, 4), net.around(0, 8), strides=[4, 4], kernel_shape=[4, 4])
    for _ in range(2):
        y = net.op("Transpose", net.conv(x, 8, 8, kernel=7, group=8), perm=[0, 2, 3, 1])
        y = net.gelu(net.project(net.layer_norm(y, 8), 8, 32))
        y = net.op("Mul", net.project(y, 32, 8), net.around(0.5, 8))
        x = net.op("Add", x, net.op("Transpose", y, perm=[0, 3, 1, 2]))
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    net.output(net.linear(net.layer_norm(x, 8), 8, 10))
    return net


def shufflenet():
    """Channels shuffled by views; halves by Split."""
    net, x = image_net(13, seed=11)
    x = net.conv_norm(x, 3, 8, stride=2)
    for _ in range(2):
        kept, y = net.op("Split", x, net.const([4, 4]), axis=1, count=2)
        y = net.conv_norm(y, 4, 4, kernel=1)
        y = net.conv_norm(net.conv_norm(y, 4, 4, act=None, group=4), 4, 4, kernel=1)
        x = net.op("Concat", kept, y, axis=1)
        sizes = [net.size(x, d) for d in range(4)]
        half = net.op("Div", sizes[1], net.const(2))
        y = net.view(x, sizes[0], 2, half, sizes[2], sizes[3])
        x = net.view(net.op("Transpose", y, perm=[0, 2, 1, 3, 4]), sizes[0], -1, sizes[2], sizes[3])
    net.output(net.linear(net.reduce("ReduceMean", x, [2, 3], 0), 8, 10))
    return net


def super_resolution():
    """Pixels out of channels; PRelu; a mirror around; the range that pictures have."""
    net = Net(11, 12)
    x = net.input("input", ["batch", 1, "h", "w"])
    net.feeds = [{"input": net.numbers(1, 1, 12, 10)}, {"input": net.numbers(2, 1, 7, 9)}]
    y = net.op("Pad", x, net.const([0, 0, 2, 2, 0, 0, 2, 2]), mode="reflect")
    y = net.op("PRelu", net.conv(y, 1, 8, kernel=5, pad=0), net.around(0.2, 8, 1, 1))
    y = net.op("InstanceNormalization", net.conv(y, 8, 8), net.around(1, 8), net.around(0, 8))
    y = net.op("LeakyRelu", y, alpha=0.1)
    y = net.op("DepthToSpace", net.conv(y, 8, 4), blocksize=2, mode="CRD")
    nothing = net.const([], "float32")
    big = net.op("Resize", x, nothing, net.number([1, 1, 2, 2]), mode="cubic",
                 coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75)
    y = net.op("Add", y, big)
    net.output(net.op("Clip", y, net.number(-2), net.number(2)))
    return net


MODELS = {made.__name__: made for made in (
    mlp, lenet, resnet18, resnet50, mobilenet_v2, mobilenet_v3, squeezenet, densenet, vgg,
    efficientnet, unet, convnext, shufflenet, super_resolution)}
