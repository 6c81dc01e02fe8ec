#!/usr/bin/env python3
"""A whole model of half floats from torch: torch_model.py NAME BATCH FOLDER [DEVICE].

NAME: resnet50 or bert_base, or one of their small likenesses, resnet_small and bert_small. Weights
are made up. FOLDER gets model.onnx, x.npy and y.npy, which is what the model gives in float32; one
line says the nanoseconds of a call of torch, as it is and compiled (0: it was not).
"""
import pathlib
import statistics
import sys
import time

import numpy
import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        layers = []
        for before, after, window, step in (
            (channels, width, 1, 1), (width, width, 3, stride), (width, 4 * width, 1, 1)
        ):
            layers += [nn.Conv2d(before, after, window, step, window // 2, bias=False),
                       nn.BatchNorm2d(after), nn.ReLU()]
        self.body = nn.Sequential(*layers[:-1])
        is_same = stride == 1 and channels == 4 * width
        self.beside = nn.Identity() if is_same else nn.Sequential(
            nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return torch.relu(self.body(x) + self.beside(x))


class ResNet(nn.Module):
    def __init__(self, width, counts, classes):
        super().__init__()
        layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                  nn.MaxPool2d(3, 2, 1)]
        channels = width
        for stage, count in enumerate(counts):
            for i in range(count):
                layers.append(Bottleneck(channels, width << stage, 2 if stage and not i else 1))
                channels = 4 * (width << stage)
        self.body = nn.Sequential(*layers)
        self.end = nn.Linear(channels, classes)

    def forward(self, x):
        return self.end(self.body(x).mean((2, 3)))


class Encoder(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.parts = nn.ModuleList(nn.Linear(size, size) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(2))
        self.inner, self.outer = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x):
        q, k, v = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.parts[:3])
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
        x = self.norms[0](x + self.parts[3]((weights @ v).transpose(1, 2).flatten(2)))
        return self.norms[1](x + self.outer(nn.functional.gelu(self.inner(x))))


class Bert(nn.Sequential):
    def __init__(self, size, heads, count):
        super().__init__(*(Encoder(size, heads) for _ in range(count)))


MODELS = {  # how it is made, sizes of its input without the batch
    "resnet50": (lambda: ResNet(64, (3, 4, 6, 3), 1000), (3, 224, 224)),
    "resnet_small": (lambda: ResNet(16, (1, 1), 10), (3, 32, 32)),
    "bert_base": (lambda: Bert(768, 12, 12), (128, 768)),
    "bert_small": (lambda: Bert(128, 2, 1), (32, 128)),
}


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def time_calls(model, x, device):
    """Wall time of a call; the median of five turns of a tenth of a second."""
    def turn(count):
        wait(device)
        begin = time.perf_counter_ns()
        for _ in range(count):
            model(x)
        wait(device)
        return (time.perf_counter_ns() - begin) / count

    turn(3)
    count = max(1, int(1e8 / turn(2)))
    return statistics.median(turn(count) for _ in range(5))


def main():
    name, batch, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    device = sys.argv[4] if len(sys.argv) > 4 else "cuda"
    make, sizes = MODELS[name]
    torch.manual_seed(1)
    folder.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        model = make().eval().half()
        x = torch.randn(batch, *sizes).half()
        numpy.save(folder / "x.npy", x.numpy())
        torch.onnx.export(model, (x,), str(folder / "model.onnx"), input_names=["x"],
                          output_names=["y"], dynamo=False)
        right = model.float().to(device)(x.float().to(device))
        numpy.save(folder / "y.npy", right.half().cpu().numpy())
        model, x = model.half().to(device), x.to(device)
        times = [time_calls(model, x, device), 0]
        if device == "cuda":
            compiled = torch.compile(model, mode="reduce-overhead")
            times[1] = time_calls(compiled, x, device)
    print(f"torch {times[0]:.0f} ns, compiled {times[1]:.0f} ns")


main()
