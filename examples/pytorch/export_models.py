"""Exports three PyTorch models with torch.onnx (dynamo) and writes what PyTorch says of them.

    python export_models.py DIR

DIR/NAME.onnx is the model; DIR/NAME/RUN/ holds inputs as NAME.npy and, under expected/, results in
order (0.npy, ...). The models are small and not trained: a residual network for pictures, an encoder
of tokens, and a decoder that is given the keys and values of what it has read, and gives new ones.
"""
import os
import sys

import numpy
import torch
from torch import nn
from torch.export import Dim

WORDS, WIDE, HEADS = 64, 32, 4


# ---- pictures ----

class Block(nn.Module):
    def __init__(self, wide, out, stride):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(wide, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.short = nn.Identity() if stride == 1 else nn.Conv2d(wide, out, 1, stride)

    def forward(self, x):
        return torch.relu(self.second(self.first(x)) + self.short(x))


class Vision(nn.Module):
    """Pictures to classes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.MaxPool2d(2))
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


# ---- tokens ----

class Encoder(nn.Module):
    """Tokens, some of which are padding, to a vector for each."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDE), nn.Embedding(64, WIDE)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "qkv": nn.Linear(WIDE, 3 * WIDE), "out": nn.Linear(WIDE, WIDE),
            "norm": nn.LayerNorm(WIDE), "norm2": nn.LayerNorm(WIDE),
            "up": nn.Linear(WIDE, 4 * WIDE), "down": nn.Linear(4 * WIDE, WIDE)}) for _ in range(2))

    def forward(self, tokens, mask):
        batch, length = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(length, device=tokens.device))
        seen = mask[:, None, None, :].bool()
        for layer in self.layers:
            q, k, v = (part.reshape(batch, length, HEADS, -1).transpose(1, 2)
                       for part in layer["qkv"](layer["norm"](x)).chunk(3, dim=-1))
            y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)
            x = x + layer["out"](y.transpose(1, 2).reshape(batch, length, WIDE))
            x = x + layer["down"](nn.functional.gelu(layer["up"](layer["norm2"](x))))
        return x


# ---- one token after the other ----

class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDE))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def turned(x, places):
    """Rotary places: halves of each head turn by angles that grow with the place."""
    half = x.shape[-1] // 2
    angles = places[:, None, :, None] * (100.0 ** (-torch.arange(half) / half))
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.norm2 = Norm(), Norm()
        self.q, self.kv = nn.Linear(WIDE, WIDE, bias=False), nn.Linear(WIDE, WIDE, bias=False)
        self.out = nn.Linear(WIDE, WIDE, bias=False)
        self.gate, self.up = nn.Linear(WIDE, 48, bias=False), nn.Linear(WIDE, 48, bias=False)
        self.down = nn.Linear(48, WIDE, bias=False)

    def forward(self, x, places, past_key, past_value):
        batch, length, _ = x.shape
        y = self.norm(x)
        q = turned(self.q(y).view(batch, length, HEADS, -1).transpose(1, 2), places)
        k, v = self.kv(y).view(batch, length, HEADS, -1).transpose(1, 2).chunk(2, dim=1)
        k, v = torch.cat([past_key, turned(k, places)], 2), torch.cat([past_value, v], 2)
        total = k.shape[2]
        seen = torch.arange(total) <= (torch.arange(length) + total - length)[:, None]
        wide_k, wide_v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        scores = q @ wide_k.transpose(2, 3) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
        y = torch.softmax(scores, -1) @ wide_v
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDE))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y)), k, v


class Decoder(nn.Module):
    """Tokens behind `past` others, whose keys and values are given."""

    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDE), Norm()
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.head = nn.Linear(WIDE, WORDS, bias=False)

    def forward(self, tokens, key0, value0, key1, value1):
        x = self.words(tokens)
        past = key0.shape[2]
        places = torch.arange(past, past + tokens.shape[1])[None].expand(tokens.shape[0], -1)
        x, key0, value0 = self.layers[0](x, places, key0, value0)
        x, key1, value1 = self.layers[1](x, places, key1, value1)
        return self.head(self.norm(x)), key0, value0, key1, value1


# ---- exporting ----

def tokens(batch, length):
    return torch.randint(0, WORDS, (batch, length))


def padded(batch, length):
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, length // 2:] = 0
    return mask


def step(batch, length, past):
    each = WIDE // HEADS
    return (tokens(batch, length), *(torch.randn(batch, HEADS // 2, past, each) for _ in range(4)))


def models():
    """Name, model, inputs of several runs, dimensions that vary."""
    batch, length, past = Dim("batch", max=64), Dim("length", max=64), Dim("past", max=64)
    yield "vision", Vision(), [(torch.randn(n, 3, 32, 32),) for n in (2, 1)], ({0: batch},)
    yield ("encoder", Encoder(), [(tokens(*s), padded(*s)) for s in ((2, 9), (1, 5))],
           ({0: batch, 1: length},) * 2)
    yield ("decoder", Decoder(), [step(2, 3, 5), step(1, 1, 8)],
           ({0: batch, 1: length}, *({0: batch, 2: past} for _ in range(4))))


def save_run(folder, names, inputs, results):
    os.makedirs(os.path.join(folder, "expected"), exist_ok=True)
    for name, value in zip(names, inputs):
        numpy.save(os.path.join(folder, name + ".npy"), value.numpy())
    for number, value in enumerate(results):
        numpy.save(os.path.join(folder, "expected", f"{number}.npy"), value.numpy())


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    torch.manual_seed(1)
    for name, model, runs, shapes in models():
        model.eval()
        program = torch.onnx.export(model, runs[0], dynamo=True, dynamic_shapes=shapes, verbose=False)
        program.save(os.path.join(out, name + ".onnx"))
        names = [value.name for value in program.model.graph.inputs]
        for number, inputs in enumerate(runs):
            with torch.no_grad():
                results = model(*inputs)
            results = results if isinstance(results, tuple) else (results,)
            save_run(os.path.join(out, name, str(number)), names, inputs, results)


if __name__ == "__main__":
    main()
