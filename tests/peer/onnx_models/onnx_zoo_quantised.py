"""Models of the zoo as onnxruntime's tool quantises them: between pairs of QuantizeLinear and
DequantizeLinear, or with operators of whole numbers."""
import os
import tempfile

import numpy
import onnx
from onnxruntime import quantization

import onnx_zoo_language
import onnx_zoo_vision


class Samples(quantization.CalibrationDataReader):
    """What the ranges of tensors are found with."""

    def __init__(self, feeds):
        self.left = iter(feeds)

    def get_next(self):
        return next(self.left, None)


class Quantised:
    """A net of the zoo whose model is quantised; results may move by two steps of their scale.

    Weights have seven bits: where a processor has no instruction for the whole product, onnxruntime
    holds sums of two products of eight bits within 16."""

    steps, share = 2, 0.999

    def __init__(self, net, **options):
        self.net, self.options = net, {"reduce_range": True, **options}
        self.feeds, self.outputs = net.feeds, net.outputs

    def model(self):
        with tempfile.TemporaryDirectory() as folder:
            before, after = (os.path.join(folder, name) for name in ("in.onnx", "out.onnx"))
            quantization.quant_pre_process(self.net_model(before), before, skip_symbolic_shape=True)
            options = dict(self.options)
            if options.pop("dynamic", False):
                quantization.quantize_dynamic(before, after, **options)
            else:
                quantization.quantize_static(before, after, Samples(self.feeds), **options)
            return onnx.load(after)

    def net_model(self, path):
        """With the types of outputs, which the tool wants."""
        model = self.net.model()
        for output in model.graph.output:
            output.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        onnx.save(model, path)
        return path

    def near(self, got, want):
        """How many elements, of 1, are within two steps of 256 from least to most."""
        step = max(float(want.max() - want.min()), 1e-6) / 255
        return float((numpy.abs(got - want) <= self.steps * step).mean())

    def difference(self, got, want):
        """In words, or None: of each output, what is beyond two steps."""
        if got.shape != want.shape:
            return f"{list(got.shape)} where {list(want.shape)} is right"
        near = self.near(got, want)
        return None if near >= self.share else f"only {near:.4f} are near"


QDQ, OPERATOR = quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator
U8, S8 = quantization.QuantType.QUInt8, quantization.QuantType.QInt8


def resnet_qdq():
    """Pairs around each operator, weights by channel, activations without a sign."""
    return Quantised(onnx_zoo_vision.resnet18(13), quant_format=QDQ, per_channel=True,
                     activation_type=U8, weight_type=S8)


def resnet_operators():
    """QLinearConv, QLinearAdd and their like, weights by tensor."""
    return Quantised(onnx_zoo_vision.resnet18(13), quant_format=OPERATOR, activation_type=U8, weight_type=S8)


def mobilenet_qdq():
    return Quantised(onnx_zoo_vision.mobilenet_v2(13), quant_format=QDQ, per_channel=True,
                     activation_type=S8, weight_type=S8)


def bert_qdq():
    return Quantised(onnx_zoo_language.bert(13), quant_format=QDQ, activation_type=U8, weight_type=S8)


def bert_qdq_all():
    """Pairs around every operator; and one token alone, of which onnxruntime's optimisations make
    numbers of their own (docs/numerics.md)."""
    net = onnx_zoo_language.bert(13)
    made = Quantised(net, quant_format=QDQ, activation_type=U8, weight_type=S8,
                     op_types_to_quantize=sorted({node.op_type for node in net.model().graph.node}))
    made.feeds = [*net.feeds, {name: array[:1, :1] for name, array in net.feeds[0].items()}]
    return made


def bert_dynamic():
    """Activations are quantised when they are there."""
    return Quantised(onnx_zoo_language.bert(13), dynamic=True, weight_type=S8)


MODELS = {made.__name__: made for made in (resnet_qdq, resnet_operators, mobilenet_qdq, bert_qdq,
                                           bert_qdq_all, bert_dynamic)}
