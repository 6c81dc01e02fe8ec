"""Models of real widths, for times: the structures of tests/peer/onnx_models/onnx_zoo_*.py with the sizes that
people run. Weights come from seeds; a batch of None is a size that is not named.

MODELS maps a name to a function of the batch that makes a Net, with one feed.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/peer/onnx_models"))

from onnx_zoo_language import attention, encoder_layer, embedded, feed_forward, heads_apart, heads_joined  # noqa: E402
from onnx_zoo_language import llama as llama_of  # noqa: E402
from onnx_zoo_net import INT64, LEAST, Net  # noqa: E402
from onnx_zoo_vision import basic_block, bottleneck, classified, inverted, resnet_body  # noqa: E402

CLASSES, WORDS, OPSET = 1000, 1000, 17


def pictures(batch, side, feed):
    net = Net(OPSET)
    x = net.input("input", [batch or "batch", 3, side, side])
    net.feeds = [{"input": net.numbers(feed, 3, side, side)}]
    return net, x


def resnet18(batch, feed):
    net, x = pictures(batch, 224, feed)
    return resnet_body(net, x, basic_block, (2, 2, 2, 2), (64, 128, 256, 512), 64, CLASSES)


def resnet50(batch, feed):
    net, x = pictures(batch, 224, feed)
    return resnet_body(net, x, bottleneck, (3, 4, 6, 3), (256, 512, 1024, 2048), 64, CLASSES)


MOBILE = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1))  # grow, out, how many, stride of the first


def mobilenetv2(batch, feed):
    net, x = pictures(batch, 224, feed)
    x = net.conv_norm(x, 3, 32, act="relu6", stride=2)
    wide = 32
    for grow, out, count, stride in MOBILE:
        for number in range(count):
            x = inverted(net, x, wide, out, 1 if number else stride, grow)
            wide = out
    return classified(net, net.conv_norm(x, wide, 1280, act="relu6", kernel=1), 1280, CLASSES)


def twice(net, x, wide, out):
    return net.conv_norm(net.conv_norm(x, wide, out), out, out)


def unet(batch, feed):
    """Three times down and up again, 128 pixels wide."""
    net, x = pictures(batch, 128, feed)
    wide, kept = 3, []
    for out in (32, 64, 128):
        x = twice(net, x, wide, out)
        kept.append((x, out))
        x, wide = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), out
    x, wide = twice(net, x, wide, 256), 256
    for y, out in reversed(kept):
        x = net.op("ConvTranspose", x, net.weight(wide, out, 2, 2, gain=2), net.around(0, out),
                   kernel_shape=[2, 2], strides=[2, 2])
        x, wide = twice(net, net.op("Concat", y, x, axis=1), 2 * out, out), out
    net.output(net.op("Sigmoid", net.conv(x, wide, 2, kernel=1)))
    return net


def vit_tiny(batch, feed):
    wide, heads, side = 192, 3, 14
    net, x = pictures(batch, 224, feed)
    x = net.conv(x, 3, wide, kernel=16, stride=16, pad=0)
    x = net.op("Transpose", net.view(x, feed if batch else -1, wide, side * side), perm=[0, 2, 1])
    x = net.op("Add", x, net.around(0, 1, side * side, wide))
    for _ in range(12):
        y = net.layer_norm(x, wide)
        q, k, v = projections(net, y, wide, heads)
        y = heads_joined(net, attention(net, q, k, v, numpy.sqrt(wide // heads)), wide)
        x = net.op("Add", x, net.project(y, wide, wide))
        x = net.op("Add", x, feed_forward(net, net.layer_norm(x, wide), wide, "gelu"))
    x = net.reduce("ReduceMean", net.layer_norm(x, wide), [1], keep=0)
    net.output(net.linear(x, wide, CLASSES))
    return net


def projections(net, x, wide, heads):
    each = wide // heads
    perms = ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))
    return [heads_apart(net, net.project(x, wide, wide), heads, each, perm) for perm in perms]


def tokens(batch, length, feed):
    net = Net(OPSET)
    ids = net.input("ids", [batch or "batch", length], INT64)
    net.feeds = [{"ids": net.rng.integers(0, WORDS, (feed, length))}]
    return net, ids


def bert(batch, feed, wide=256, heads=4, layers=4, length=128):
    net, ids = tokens(batch, length, feed)
    x = net.op("Add", embedded(net, ids, WORDS, wide), net.around(0, 1, length, wide))
    x = net.layer_norm(x, wide)
    for _ in range(layers):
        x = encoder_layer(net, x, None, wide, heads)
    net.output(x)
    return net


def bert_base(batch, feed):
    return bert(batch, feed, 768, 12, 2)


def gpt(batch, feed, wide=256, heads=4, layers=4, length=64):
    net, ids = tokens(batch, length, feed)
    x = net.op("Add", embedded(net, ids, WORDS, wide), net.around(0, 1, length, wide))
    later = numpy.triu(numpy.full((1, 1, length, length), LEAST, "float32"), 1)
    mask = net.held(later)
    for _ in range(layers):
        q, k, v = projections(net, net.layer_norm(x, wide), wide, heads)
        y = heads_joined(net, attention(net, q, k, v, numpy.sqrt(wide // heads), mask), wide)
        x = net.op("Add", x, net.project(y, wide, wide))
        x = net.op("Add", x, feed_forward(net, net.layer_norm(x, wide), wide, "tanh_gelu"))
    net.output(net.project(net.layer_norm(x, wide), wide, WORDS, bias=False))
    return net


def llama(batch, feed, layers=8):
    """One more token behind 127 that are in the caches; sizes stay open."""
    return llama_of(512, 8, 4, 1376, layers, ((feed, 1, 127),))


def llama24(batch, feed):
    return llama(batch, feed, 24)


def vgg16(batch, feed):
    """The convolutions of VGG-16, and two fully connected layers of 1024."""
    net, x = pictures(batch, 224, feed)
    wide = 3
    for out, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(depth):
            x, wide = net.op("Relu", net.conv(x, wide, out)), out
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Relu", net.linear(net.op("Flatten", x), wide * 7 * 7, 1024))
    net.output(net.linear(x, 1024, CLASSES))
    return net


def mlp(batch, feed):
    net = Net(OPSET)
    x = net.input("x", [batch or "batch", 784])
    net.feeds = [{"x": net.numbers(feed, 784)}]
    for wide, out in ((784, 256), (256, 128)):
        x = net.op("Relu", net.linear(x, wide, out))
    net.output(net.linear(x, 128, 10))
    return net


def cnn(batch, feed):
    net, x = pictures(batch, 32, feed)
    for wide, out in ((3, 32), (32, 64)):
        x = net.op("MaxPool", net.op("Relu", net.conv(x, wide, out)), kernel_shape=[2, 2],
                   strides=[2, 2])
    return classified(net, x, 64)


MODELS = {f.__name__: f for f in (resnet18, resnet50, mobilenetv2, vit_tiny, bert, bert_base, gpt, unet,
                                  mlp, cnn, llama, llama24, vgg16)}
UNUSUAL = ("mlp", "cnn", "llama", "llama24", "vgg16")  # those that are timed when asked for
