#!/usr/bin/env python3
"""Writes the workloads that the shipped cost model learns from: model_programs.py DIR COUNT

Each is a program of a family (products, convolutions, reductions, rows, elementwise) with random
sizes, of DIR/00000.py …; number and family depend on nothing but the number. Sizes are small
enough for a candidate to run in about a millisecond, and hardly ever powers of two.
"""
import pathlib
import random
import sys

HEAD = 'from tvm.script import tir as T\n\n@T.prim_func\ndef main({params}):\n' \
       '    T.func_attr({{"tir.noalias": True}})\n'


def buffer(name, *shape, dtype="float32"):
    sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    return f'{name}: T.Buffer(({sizes}), "{dtype}")'


def local(name, *shape, dtype="float32"):
    sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    return f'    {name} = T.alloc_buffer(({sizes}), "{dtype}")\n'


def block(name, axes, kinds, extents, body, init=None):
    """A nest with one block: axes "i j k", kinds "SSR", loops of the same names."""
    names = axes.split()
    loops = ", ".join(names)
    grid = f"T.grid({', '.join(map(str, extents))})" if len(names) > 1 else f"range({extents[0]})"
    bound = ", ".join("v" + n for n in names)
    text = f"    for {loops} in {grid}:\n        with T.block(\"{name}\"):\n"
    if len(names) > 1:
        text += f'            {bound} = T.axis.remap("{kinds}", [{loops}])\n'
    else:
        axis = "reduce" if kinds == "R" else "spatial"
        text += f"            {bound} = T.axis.{axis}({extents[0]}, {loops})\n"
    if init:
        text += f"            with T.init():\n                {init}\n"
    return text + "".join(f"            {line}\n" for line in body.split("\n"))


def program(params, *nests):
    return HEAD.format(params=", ".join(params)) + "".join(nests)


def size(rng, low, high):
    """Log-uniform; one in three a multiple of 8, one in six of 32 where it is that large."""
    n = round(low * (high / low) ** rng.random())
    step = rng.choice([1, 1, 1, 8, 8, 32])
    return max(1, n // step * step if n >= step else n)


EPILOGUES = {
    "relu": "T.max({x}, T.float32(0))",
    "gelu": "{x} * T.float32(0.5) * (T.float32(1) + T.erf({x} * T.float32(0.70710678)))",
    "sigmoid": "T.sigmoid({x})",
    "scale": "{x} * T.float32(0.125)",
}


def finished(rng, out, shape, axes, bias_axis):
    """Params and nest of what follows a reduction in C: nothing, or a bias and a function."""
    kind = rng.choice(["none", *EPILOGUES])
    names = ["v" + a for a in axes.split()]
    if kind == "none":
        return None
    value = f"(C[{', '.join(names)}] + B[{names[bias_axis]}])"
    nest = block("finish", axes, "S" * len(shape), shape,
                 f"{out}[{', '.join(names)}] = {EPILOGUES[kind].format(x=value)}")
    return buffer("B", shape[bias_axis]), nest


def reduced(rng, params, out_shape, axes, bias_axis, make):
    """A reduction into the output, or into C with an epilogue behind it."""
    end = finished(rng, "Y", out_shape, axes, bias_axis)
    if end is None:
        return program([*params, buffer("Y", *out_shape)], make("Y"))
    return program([*params, end[0], buffer("Y", *out_shape)], local("C", *out_shape), make("C"), end[1])


def matmul(rng):
    large = rng.random() < 0.25
    m, n, k = size(rng, 64 if large else 1, 256), size(rng, 8, 1024 if large else 512), size(rng, 8, 512)
    turned = rng.random() < 0.5
    w, at = ((n, k), "vj, vk") if turned else ((k, n), "vk, vj")

    def nest(out):
        return block("matmul", "i j k", "SSR", (m, n, k),
                     f"{out}[vi, vj] = {out}[vi, vj] + A[vi, vk] * W[{at}]", f"{out}[vi, vj] = T.float32(0)")
    return reduced(rng, [buffer("A", m, k), buffer("W", *w)], (m, n), "i j", 1, nest)


def batch_matmul(rng):
    b, m, n, k = size(rng, 2, 16), size(rng, 8, 128), size(rng, 8, 128), size(rng, 8, 128)
    turned = rng.random() < 0.5
    w, at = ((b, n, k), "vb, vj, vk") if turned else ((b, k, n), "vb, vk, vj")
    return program([buffer("A", b, m, k), buffer("W", *w), buffer("Y", b, m, n)],
                   block("matmul", "b i j k", "SSSR", (b, m, n, k),
                         f"Y[vb, vi, vj] = Y[vb, vi, vj] + A[vb, vi, vk] * W[{at}]",
                         "Y[vb, vi, vj] = T.float32(0)"))


def small_product(rng):
    m, n, k = size(rng, 8, 256), size(rng, 8, 256), size(rng, 8, 256)
    signed = rng.choice(["uint8", "int8"])
    return program([buffer("A", m, k, dtype=signed), buffer("W", k, n, dtype="int8"),
                    buffer("Y", m, n, dtype="int32")],
                   block("matmul", "i j k", "SSR", (m, n, k),
                         'Y[vi, vj] = Y[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", W[vk, vj])',
                         "Y[vi, vj] = 0"))


def conv2d(rng):
    kernel, stride = rng.choice([(1, 1), (1, 2), (3, 1), (3, 1), (3, 2), (5, 1), (7, 2)])
    c, f = size(rng, 3, 96), size(rng, 8, 96)
    h, w = size(rng, 6, 40), size(rng, 6, 40)
    pad = kernel // 2
    oh, ow = (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1
    params = [buffer("X", 1, c, h, w), buffer("W", f, c, kernel, kernel)]
    source, nests = f"X[0, vc, vy * {stride} + vu, vx * {stride} + vv]", []
    if pad:
        source = f"P[vc, vy * {stride} + vu, vx * {stride} + vv]"
        nests = [local("P", c, h + 2 * pad, w + 2 * pad),
                 block("pad", "c y x", "SSS", (c, h + 2 * pad, w + 2 * pad),
                       f"P[vc, vy, vx] = T.if_then_else({pad} <= vy and vy < {h + pad} and {pad} <= vx and "
                       f"vx < {w + pad}, X[0, vc, vy - {pad}, vx - {pad}], T.float32(0))")]

    def nest(out):
        return "".join(nests) + block(
            "conv", "n f y x c u v", "SSSSRRR", (1, f, oh, ow, c, kernel, kernel),
            f"{out}[vn, vf, vy, vx] = {out}[vn, vf, vy, vx] + {source} * W[vf, vc, vu, vv]",
            f"{out}[vn, vf, vy, vx] = T.float32(0)")
    return reduced(rng, params, (1, f, oh, ow), "n f y x", 1, nest)


def channels_last(rng):
    """A convolution, one of a group for each channel, or a pool, whose channels are innermost."""
    kind = rng.choice(["conv", "conv", "depthwise", "pool"])
    kernel, stride = rng.choice([(3, 1), (3, 2), (5, 1)] if kind != "conv" else [(1, 1), (3, 1), (3, 2)])
    c, f, h, w = size(rng, 4, 96), size(rng, 8, 96), size(rng, 6, 40), size(rng, 6, 40)
    oh, ow = (h - kernel) // stride + 1, (w - kernel) // stride + 1
    at = f"vy * {stride} + vu, vx * {stride} + vv"
    if kind == "conv":
        params = [buffer("X", h, w, c), buffer("W", kernel, kernel, c, f)]
        return reduced(rng, params, (oh, ow, f), "y x f", 2, lambda out: block(
            "conv", "y x f u v c", "SSSRRR", (oh, ow, f, kernel, kernel, c),
            f"{out}[vy, vx, vf] = {out}[vy, vx, vf] + X[{at}, vc] * W[vu, vv, vc, vf]",
            f"{out}[vy, vx, vf] = T.float32(0)"))
    weights = [buffer("W", kernel, kernel, c)] if kind == "depthwise" else []
    body, start = ("{out}[vy, vx, vc] + X[{at}, vc] * W[vu, vv, vc]", "T.float32(0)") if weights \
        else ("T.max({out}[vy, vx, vc], X[{at}, vc])", 'T.min_value("float32")')
    return reduced(rng, [buffer("X", h, w, c), *weights], (oh, ow, c), "y x c", 2, lambda out: block(
        "window", "y x c u v", "SSSRR", (oh, ow, c, kernel, kernel),
        f"{out}[vy, vx, vc] = " + body.format(out=out, at=at), f"{out}[vy, vx, vc] = {start}"))


def depthwise(rng):
    kernel, stride = rng.choice([(3, 1), (3, 2), (5, 1)])
    c, h = size(rng, 8, 160), size(rng, 6, 60)
    pad = kernel // 2
    oh = (h + 2 * pad - kernel) // stride + 1
    params = [buffer("X", 1, c, h, h), buffer("W", c, 1, kernel, kernel)]
    padded = local("P", c, h + 2 * pad, h + 2 * pad) + block(
        "pad", "c y x", "SSS", (c, h + 2 * pad, h + 2 * pad),
        f"P[vc, vy, vx] = T.if_then_else({pad} <= vy and vy < {h + pad} and {pad} <= vx and vx < {h + pad}, "
        f"X[0, vc, vy - {pad}, vx - {pad}], T.float32(0))")

    def nest(out):
        return padded + block(
            "conv", "n c y x u v", "SSSSRR", (1, c, oh, oh, kernel, kernel),
            f"{out}[vn, vc, vy, vx] = {out}[vn, vc, vy, vx] + "
            f"P[vc, vy * {stride} + vu, vx * {stride} + vv] * W[vc, 0, vu, vv]",
            f"{out}[vn, vc, vy, vx] = T.float32(0)")
    return reduced(rng, params, (1, c, oh, oh), "n c y x", 1, nest)


def pool(rng):
    kernel, stride = rng.choice([(2, 2), (3, 2), (3, 1)])
    c, h = size(rng, 8, 128), size(rng, 8, 60)
    oh = (h - kernel) // stride + 1
    largest = rng.random() < 0.5
    at = f"X[0, vc, vy * {stride} + vu, vx * {stride} + vv]"
    body = f"Y[0, vc, vy, vx] = T.max(Y[0, vc, vy, vx], {at})" if largest \
        else f"Y[0, vc, vy, vx] = Y[0, vc, vy, vx] + {at}"
    return program([buffer("X", 1, c, h, h), buffer("Y", 1, c, oh, oh)],
                   block("pool", "c y x u v", "SSSRR", (c, oh, oh, kernel, kernel), body,
                         "Y[0, vc, vy, vx] = " + ('T.min_value("float32")' if largest else "T.float32(0)")))


def reduce_rows(rng):
    m, n = size(rng, 1, 600), size(rng, 8, 2000)
    columns = rng.random() < 0.4
    at = "A[vk, vi]" if columns else "A[vi, vk]"
    term = rng.choice([at, f"{at} * {at}"])
    return program([buffer("A", *((n, m) if columns else (m, n))), buffer("Y", m)],
                   block("sum", "i k", "SR", (m, n), f"Y[vi] = Y[vi] + {term}", "Y[vi] = T.float32(0)"))


def softmax(rng):
    m, n = size(rng, 4, 300), size(rng, 8, 1200)
    return program([buffer("A", m, n), buffer("Y", m, n)],
                   local("M", m), local("E", m, n), local("S", m),
                   block("most", "i k", "SR", (m, n), "M[vi] = T.max(M[vi], A[vi, vk])",
                         'M[vi] = T.min_value("float32")'),
                   block("exp", "i k", "SS", (m, n), "E[vi, vk] = T.exp(A[vi, vk] - M[vi])"),
                   block("sum", "i k", "SR", (m, n), "S[vi] = S[vi] + E[vi, vk]", "S[vi] = T.float32(0)"),
                   block("norm", "i k", "SS", (m, n), "Y[vi, vk] = E[vi, vk] / S[vi]"))


def layernorm(rng):
    m, n = size(rng, 4, 300), size(rng, 8, 1200)
    mean = f"(A[vi, vk] - S[vi] * T.float32({1 / n!r}))"
    return program([buffer("A", m, n), buffer("G", n), buffer("B", n), buffer("Y", m, n)],
                   local("S", m), local("V", m),
                   block("sum", "i k", "SR", (m, n), "S[vi] = S[vi] + A[vi, vk]", "S[vi] = T.float32(0)"),
                   block("squares", "i k", "SR", (m, n), f"V[vi] = V[vi] + {mean} * {mean}",
                         "V[vi] = T.float32(0)"),
                   block("norm", "i k", "SS", (m, n),
                         f"Y[vi, vk] = {mean} * T.rsqrt(V[vi] * T.float32({1 / n!r}) + T.float32(1e-05))"
                         " * G[vk] + B[vk]"))


def elementwise(rng):
    m, n = size(rng, 4, 600), size(rng, 8, 800)
    kind = rng.choice(["gelu", "sigmoid", "add", "row", "tanh"])
    value = {"gelu": EPILOGUES["gelu"].format(x="A[vi, vj]"), "sigmoid": "T.sigmoid(A[vi, vj])",
             "add": "A[vi, vj] + B[vi, vj]", "row": "A[vi, vj] * B[vi, 0]", "tanh": "T.tanh(A[vi, vj])"}[kind]
    other = {"add": [buffer("B", m, n)], "row": [buffer("B", m, 1)]}.get(kind, [])
    return program([buffer("A", m, n), *other, buffer("Y", m, n)],
                   block("each", "i j", "SS", (m, n), f"Y[vi, vj] = {value}"))


def transpose(rng):
    b, m, n = size(rng, 1, 16), size(rng, 8, 200), size(rng, 8, 200)
    if rng.random() < 0.3:
        b, m, n = 1, size(rng, 64, 1000), size(rng, 64, 1000)
    out, at = rng.choice([((b, n, m), "vb, vj, vi"), ((m, b, n), "vi, vb, vj"), ((n, m, b), "vj, vi, vb")])
    return program([buffer("A", b, m, n), buffer("Y", *out)],
                   block("turn", "b i j", "SSS", (b, m, n), f"Y[{at}] = A[vb, vi, vj]"))


def grouped_conv(rng):
    """Groups, dilation, or both; several images at times."""
    groups, dilation = rng.choice([(2, 1), (4, 1), (8, 1), (1, 2), (1, 3), (3, 2)])
    kernel, stride = rng.choice([(3, 1), (3, 1), (3, 2), (5, 1), (1, 1)])
    n, c, f = rng.choice([1, 1, 1, 2, 4]), size(rng, 4, 64 // groups + 4), size(rng, 4, 64 // groups + 4)
    h, w = size(rng, 8, 36), size(rng, 8, 36)
    pad, reach = kernel // 2 * dilation, (kernel - 1) * dilation
    oh, ow = (h + 2 * pad - reach - 1) // stride + 1, (w + 2 * pad - reach - 1) // stride + 1
    channels, filters = c * groups, f * groups
    params = [buffer("X", n, channels, h, w), buffer("W", filters, c, kernel, kernel)]
    padded = [local("P", n, channels, h + 2 * pad, w + 2 * pad),
              block("pad", "n c y x", "SSSS", (n, channels, h + 2 * pad, w + 2 * pad),
                    f"P[vn, vc, vy, vx] = T.if_then_else({pad} <= vy and vy < {h + pad} and {pad} <= vx and "
                    f"vx < {w + pad}, X[vn, vc, vy - {pad}, vx - {pad}], T.float32(0))")] if pad else []
    at = f"{'P' if pad else 'X'}[vn, vf // {f} * {c} + vc, vy * {stride} + vu * {dilation}, " \
         f"vx * {stride} + vv * {dilation}]"

    def nest(out):
        return "".join(padded) + block(
            "conv", "n f y x c u v", "SSSSRRR", (n, filters, oh, ow, c, kernel, kernel),
            f"{out}[vn, vf, vy, vx] = {out}[vn, vf, vy, vx] + {at} * W[vf, vc, vu, vv]",
            f"{out}[vn, vf, vy, vx] = T.float32(0)")
    return reduced(rng, params, (n, filters, oh, ow), "n f y x", 1, nest)


def half_product(rng):
    m, n, k = size(rng, 8, 256), size(rng, 8, 256), size(rng, 8, 256)
    w, at = rng.choice([((k, n), "vk, vj"), ((n, k), "vj, vk")])
    return program([buffer("A", m, k, dtype="bfloat16"), buffer("W", *w, dtype="bfloat16"), buffer("Y", m, n)],
                   block("matmul", "i j k", "SSR", (m, n, k),
                         'Y[vi, vj] = Y[vi, vj] + T.Cast("float32", A[vi, vk]) * '
                         f'T.Cast("float32", W[{at}])', "Y[vi, vj] = T.float32(0)"))


def reduce_two(rng):
    """Two of four axes."""
    shape = [size(rng, 2, 40) for _ in range(4)]
    kept = sorted(rng.sample(range(4), 2))
    gone = [axis for axis in range(4) if axis not in kept]
    names = dict(zip([*kept, *gone], "ijkl"))
    at = "A[" + ", ".join("v" + names[axis] for axis in range(4)) + "]"
    term, start = rng.choice([(f"Y[vi, vj] + {at}", "T.float32(0)"), (f"Y[vi, vj] + {at} * {at}", "T.float32(0)"),
                              (f"T.max(Y[vi, vj], {at})", 'T.min_value("float32")')])
    return program([buffer("A", *shape), buffer("Y", *(shape[axis] for axis in kept))],
                   block("reduce", "i j k l", "SSRR", [shape[axis] for axis in (*kept, *gone)],
                         f"Y[vi, vj] = {term}", f"Y[vi, vj] = {start}"))


def attention_rows(rng):
    b, m, n = size(rng, 2, 12), size(rng, 4, 130), size(rng, 8, 260)
    scaled = "A[vb, vi, vk] * T.float32(0.125)" + rng.choice(["", " + K[vi, vk]"])
    mask = [buffer("K", m, n)] if "K" in scaled else []
    return program([buffer("A", b, m, n), *mask, buffer("Y", b, m, n)],
                   local("Z", b, m, n), local("M", b, m), local("E", b, m, n), local("S", b, m),
                   block("scale", "b i k", "SSS", (b, m, n), f"Z[vb, vi, vk] = {scaled}"),
                   block("most", "b i k", "SSR", (b, m, n), "M[vb, vi] = T.max(M[vb, vi], Z[vb, vi, vk])",
                         'M[vb, vi] = T.min_value("float32")'),
                   block("exp", "b i k", "SSS", (b, m, n), "E[vb, vi, vk] = T.exp(Z[vb, vi, vk] - M[vb, vi])"),
                   block("sum", "b i k", "SSR", (b, m, n), "S[vb, vi] = S[vb, vi] + E[vb, vi, vk]",
                         "S[vb, vi] = T.float32(0)"),
                   block("norm", "b i k", "SSS", (b, m, n), "Y[vb, vi, vk] = E[vb, vi, vk] / S[vb, vi]"))


FAMILIES = [matmul, conv2d, matmul, conv2d, depthwise, batch_matmul, softmax, conv2d, layernorm,
            reduce_rows, matmul, elementwise, small_product, pool, transpose,
            grouped_conv, half_product, reduce_two, attention_rows, grouped_conv,
            channels_last, small_product, channels_last, half_product, depthwise]
assert len(FAMILIES) % 3, "scripts/model takes three targets in turn: each family gets all of them"


def main():
    folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        rng = random.Random(number)
        (folder / f"{number:05}.py").write_text(FAMILIES[number % len(FAMILIES)](rng))


if __name__ == "__main__":
    main()
