#!/usr/bin/env python3
"""Writes the trained models as ONNX and checks each against numpy on the test images.

Per model, NAME.onnx takes one image and NAME_batch.onnx takes "N" of them, with the same weights.
Needs numpy, onnx and onnxruntime.
"""

import argparse
import pathlib

import train  # first: it sets numpy's threads
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import dataset

OPSET = 17
IR_VERSION = 8  # the one that goes with opset 17


def mlp_nodes():
    return [
        helper.make_node("Gemm", ["x", "fc1.weight", "fc1.bias"], ["fc1"], "fc1", transB=1),
        helper.make_node("Relu", ["fc1"], ["relu1"], "relu1"),
        helper.make_node("Gemm", ["relu1", "fc2.weight", "fc2.bias"], ["logits"], "fc2", transB=1),
    ]


def cnn_nodes():
    nodes = []
    value = "x"
    for i in "12":
        conv, relu, pool = f"conv{i}", f"relu{i}", f"pool{i}"
        nodes += [
            helper.make_node(
                "Conv",
                [value, f"{conv}.weight", f"{conv}.bias"],
                [conv],
                conv,
                kernel_shape=[3, 3],
                pads=[1, 1, 1, 1],
            ),
            helper.make_node("Relu", [conv], [relu], relu),
            helper.make_node("MaxPool", [relu], [pool], pool, kernel_shape=[2, 2], strides=[2, 2]),
        ]
        value = pool
    return nodes + [
        helper.make_node("Flatten", [value], ["flatten"], "flatten", axis=1),
        helper.make_node("Gemm", ["flatten", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
    ]


NODES = {"mlp": mlp_nodes, "cnn": cnn_nodes}


def make_onnx(name, model, batch):
    """batch is 1 or the name of a symbolic dimension"""
    graph = helper.make_graph(
        NODES[name](),
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, *model.image_shape])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, 10])],
        [numpy_helper.from_array(value, key) for key, value in model.weights().items()],
    )
    made = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="examples/fashion_mnist",
    )
    onnx.checker.check_model(made, full_check=True)
    return made


def onnx_logits(path, images):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    first, *image_shape = session.get_inputs()[0].shape
    batch = first if isinstance(first, int) else 100
    parts = images.reshape(-1, batch, *image_shape)
    return np.concatenate([session.run(["logits"], {"x": part})[0] for part in parts])


def main():
    parser = argparse.ArgumentParser(description="writes and checks the ONNX example models")
    parser.add_argument("weights", type=pathlib.Path, help="folder where train.py wrote NAME.npz")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--data", default=dataset.DEBIAN_DIR, help="folder of the IDX files")
    args = parser.parse_args()

    images, labels = dataset.load_split("t10k", args.data)
    for name, make in train.MODELS.items():
        model = make(np.random.default_rng(0))
        try:
            model.set_weights(dict(np.load(args.weights / f"{name}.npz")))
        except (OSError, ValueError) as error:
            raise SystemExit(f"cannot read the weights of {name}, run train.py: {error}") from None
        want = model.logits(images)
        want_accuracy = dataset.accuracy(want, labels)
        print(f"numpy {name}: test accuracy {100 * want_accuracy:.2f} %")
        for file_name, batch in ((f"{name}.onnx", 1), (f"{name}_batch.onnx", "N")):
            path = args.out / file_name
            onnx.save(make_onnx(name, model, batch), path)
            got = onnx_logits(path, images)
            accuracy = dataset.accuracy(got, labels)
            print(
                f"{file_name}: {path.stat().st_size} bytes, "
                f"test accuracy {100 * accuracy:.2f} %, "
                f"largest difference from numpy {np.abs(got - want).max():.1e}"
            )
            # rounding may turn a near tie, but no more than that
            if not np.allclose(got, want, rtol=1e-4, atol=1e-3):
                raise SystemExit(f"'{path}' computes something else than numpy")
            if abs(accuracy - want_accuracy) > 2 / len(labels):
                raise SystemExit(f"'{path}' is less accurate than numpy")


if __name__ == "__main__":
    main()
