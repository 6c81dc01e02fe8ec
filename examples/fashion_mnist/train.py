#!/usr/bin/env python3
"""Trains the two example models on Fashion-MNIST, with numpy alone.

    mlp  784 -> 128 -> 10: dense + bias + relu, dense + bias
    cnn  conv 3x3 1->16, relu, maxpool 2, conv 3x3 16->32, relu, maxpool 2, dense 1568->10

Every activation keeps its batch axis LAST: [784, N], [channels, height, width, N]. So each layer is
one matrix product weight @ x with weights as ONNX wants them (dense [out, in], convolution
[out, in, 3, 3], flatten in the order c, h, w), and im2col copies runs of width * N floats.

The same seed gives the same weights on the same machine and numpy; another BLAS or CPU rounds
differently. Nothing is selected by the test images: the last epoch's weights are kept.
"""

import argparse
import os
import pathlib
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy loads

import numpy as np

import dataset

BATCH = 100


class Dense:
    def __init__(self, rng, inputs, outputs):
        scale = np.sqrt(2 / inputs)  # He et al. 2015, for relu
        self.weight = (rng.standard_normal((outputs, inputs)) * scale).astype(np.float32)
        self.bias = np.zeros(outputs, np.float32)

    def forward(self, x):
        self.x = x
        return self.weight @ x + self.bias[:, None]

    def backward(self, dy):
        self.d_weight = dy @ self.x.T
        self.d_bias = dy.sum(axis=1)
        return self.weight.T @ dy


class Conv3x3:
    """Stride 1, zero padding 1: the output is as large as the input."""

    def __init__(self, rng, inputs, outputs):
        scale = np.sqrt(2 / (inputs * 9))
        self.weight = (rng.standard_normal((outputs, inputs, 3, 3)) * scale).astype(np.float32)
        self.bias = np.zeros(outputs, np.float32)

    def forward(self, x):
        channels, height, width, count = self.shape = x.shape
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        columns = np.empty((channels, 3, 3, height, width, count), np.float32)
        for dy, dx in np.ndindex(3, 3):
            columns[:, dy, dx] = padded[:, dy : dy + height, dx : dx + width]
        self.columns = columns.reshape(channels * 9, -1)
        y = self.weight.reshape(len(self.weight), -1) @ self.columns
        y += self.bias[:, None]
        return y.reshape(-1, height, width, count)

    def backward(self, dy):
        channels, height, width, count = self.shape
        dy = dy.reshape(len(self.weight), -1)
        self.d_weight = (dy @ self.columns.T).reshape(self.weight.shape)
        self.d_bias = dy.sum(axis=1)
        if channels == 1:
            return None  # this is the image: nobody wants its gradient
        d_columns = self.weight.reshape(len(self.weight), -1).T @ dy
        d_columns = d_columns.reshape(channels, 3, 3, height, width, count)
        d_padded = np.zeros((channels, height + 2, width + 2, count), np.float32)
        for i, j in np.ndindex(3, 3):
            d_padded[:, i : i + height, j : j + width] += d_columns[:, i, j]
        return d_padded[:, 1:-1, 1:-1]


class Relu:
    def forward(self, x):
        self.positive = x > 0
        return np.maximum(x, 0)

    def backward(self, dy):
        return dy * self.positive


class MaxPool2:
    """2x2, stride 2, even heights and widths only."""

    @staticmethod
    def corners(x):
        return [x[:, i::2, j::2] for i, j in np.ndindex(2, 2)]

    def forward(self, x):
        self.x = x
        a, b, c, d = self.corners(x)
        self.y = np.maximum(np.maximum(a, b), np.maximum(c, d))
        return self.y

    def backward(self, dy):
        dx = np.empty_like(self.x)
        free = np.ones(self.y.shape, bool)  # flat background ties: the first of equals takes all
        for corner, d_corner in zip(self.corners(self.x), self.corners(dx)):
            taken = free & (corner == self.y)
            np.multiply(dy, taken, out=d_corner)
            free &= ~taken
        return dx


class Flatten:
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(-1, x.shape[-1])

    def backward(self, dy):
        return dy.reshape(self.shape)


class Model:
    """A chain of layers. `parameters` maps names such as "fc1.weight" to (layer, attribute)."""

    def __init__(self, image_shape, **layers):
        self.image_shape = image_shape
        self.layers = list(layers.values())
        self.parameters = {
            f"{name}.{attribute}": (layer, attribute)
            for name, layer in layers.items()
            for attribute in ("weight", "bias")
            if hasattr(layer, attribute)
        }

    def forward(self, images):
        """images [count, 784] -> logits [10, count]"""
        x = np.ascontiguousarray(images.T).reshape(*self.image_shape, len(images))
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, dy):
        for layer in reversed(self.layers):
            dy = layer.backward(dy)

    def logits(self, images):
        """images [count, 784] -> logits [count, 10]"""
        parts = [images[at : at + BATCH] for at in range(0, len(images), BATCH)]
        return np.concatenate([self.forward(part).T for part in parts])

    def weights(self):
        return {name: getattr(*where) for name, where in self.parameters.items()}

    def set_weights(self, weights):
        """Raises ValueError if weights, name -> array, are not those of this model."""
        want = {name: value.shape for name, value in self.weights().items()}
        got = {name: weights[name].shape for name in weights}
        if want != got:
            raise ValueError(f"weights are {got}, must be {want}")
        for name, where in self.parameters.items():
            setattr(*where, weights[name])


def make_mlp(rng):
    return Model((784,), fc1=Dense(rng, 784, 128), relu1=Relu(), fc2=Dense(rng, 128, 10))


def make_cnn(rng):
    return Model(
        (1, 28, 28),
        conv1=Conv3x3(rng, 1, 16),
        relu1=Relu(),
        pool1=MaxPool2(),
        conv2=Conv3x3(rng, 16, 32),
        relu2=Relu(),
        pool2=MaxPool2(),
        flatten=Flatten(),
        fc=Dense(rng, 32 * 7 * 7, 10),
    )


MODELS = {"mlp": make_mlp, "cnn": make_cnn}
EPOCHS = {"mlp": 12, "cnn": 12}


class Adam:
    """Kingma and Ba 2015, algorithm 1."""

    def __init__(self, model):
        self.model = model
        self.step_count = 0
        self.mean = {name: np.zeros_like(value) for name, value in model.weights().items()}
        self.square = {name: np.zeros_like(value) for name, value in model.weights().items()}

    def step(self, rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self.step_count += 1
        rate *= np.sqrt(1 - beta2**self.step_count) / (1 - beta1**self.step_count)
        for name, (layer, attribute) in self.model.parameters.items():
            gradient = getattr(layer, "d_" + attribute)
            mean, square = self.mean[name], self.square[name]
            mean += np.float32(1 - beta1) * (gradient - mean)
            square += np.float32(1 - beta2) * (gradient * gradient - square)
            value = getattr(layer, attribute)
            value -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(epsilon))


def loss_and_gradient(logits, labels):
    """Mean softmax cross entropy of logits [10, N] and its gradient."""
    count = np.arange(len(labels))
    shifted = logits - logits.max(axis=0)
    log_probability = shifted - np.log(np.exp(shifted).sum(axis=0))
    gradient = np.exp(log_probability)
    gradient[labels, count] -= 1
    return -log_probability[labels, count].mean(), gradient / np.float32(len(labels))


def train(model, rng, images, labels, epochs, top_rate=2e-3):
    """Adam with a learning rate that falls from top_rate to 0 as half a cosine."""
    adam = Adam(model)
    steps = epochs * (len(images) // BATCH)
    for epoch in range(epochs):
        begin = time.monotonic()
        losses = []
        for batch in rng.permutation(len(images)).reshape(-1, BATCH):
            loss, gradient = loss_and_gradient(model.forward(images[batch]), labels[batch])
            model.backward(gradient)
            adam.step(top_rate * (1 + np.cos(np.pi * adam.step_count / steps)) / 2)
            losses.append(loss)
        seconds = time.monotonic() - begin
        print(f"  epoch {epoch + 1:2}  loss {np.mean(losses):.4f}  {seconds:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description="trains the Fashion-MNIST example models")
    parser.add_argument("folder", type=pathlib.Path, help="where the weights, NAME.npz, go")
    parser.add_argument("--model", choices=MODELS, action="append", help="default: all of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, help="default: %s" % EPOCHS)
    parser.add_argument("--data", default=dataset.DEBIAN_DIR, help="folder of the IDX files")
    args = parser.parse_args()

    images, labels = dataset.load_split("train", args.data)
    test_images, test_labels = dataset.load_split("t10k", args.data)
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.model or MODELS:
        rng = np.random.default_rng(args.seed)
        model = MODELS[name](rng)
        print(f"{name}: {sum(value.size for value in model.weights().values())} parameters")
        train(model, rng, images, labels, args.epochs or EPOCHS[name])
        accuracy = dataset.accuracy(model.logits(test_images), test_labels)
        np.savez(args.folder / f"{name}.npz", **model.weights())
        print(f"{name}: test accuracy {100 * accuracy:.2f} %", flush=True)


if __name__ == "__main__":
    main()
