"""The works of bench/search: the table works.txt, and the natural programs of what has no file."""
import collections
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from model_programs import block, buffer, local, program  # noqa: E402

SEEDS = 5  # of a work that has a * in front

Work = collections.namedtuple("Work", "name seeds timed text")


def conv(c, h, f, kernel, stride, pad, groups):
    """A convolution of one square image, plain, or depthwise with as many groups as channels."""
    out = (h + 2 * pad - kernel) // stride + 1
    padded, nests = h + 2 * pad, []
    source = f"X[0, vc, vy * {stride} + vu, vx * {stride} + vv]"
    if pad:
        source = source.replace("X[0, ", "P[")
        nests = [local("P", c, padded, padded),
                 block("pad", "c y x", "SSS", (c, padded, padded),
                       f"P[vc, vy, vx] = T.if_then_else({pad} <= vy and vy < {h + pad} and {pad} <= vx and "
                       f"vx < {h + pad}, X[0, vc, vy - {pad}, vx - {pad}], T.float32(0))")]
    if groups == 1:
        names, kinds, at, weight = "f y x c u v", "SSSRRR", "0, vf, vy, vx", "vf, vc, vu, vv"
        extents, weights = (f, out, out, c, kernel, kernel), (f, c, kernel, kernel)
    elif groups == c == f:
        names, kinds, at, weight = "c y x u v", "SSSRR", "0, vc, vy, vx", "vc, 0, vu, vv"
        extents, weights = (c, out, out, kernel, kernel), (c, 1, kernel, kernel)
    else:
        raise ValueError(f"a convolution in {groups} groups of {c} channels")
    nest = block("conv", names, kinds, extents, f"Y[{at}] = Y[{at}] + {source} * W[{weight}]",
                 f"Y[{at}] = T.float32(0)")
    return program([buffer("X", 1, c, h, h), buffer("W", *weights), buffer("Y", 1, f, out, out)],
                   *nests, nest)


def pointwise(c, n, f):
    """A convolution of one tap over n elements in one row, as bench_ops makes it of --conv."""
    return program([buffer("X", 1, c, 1, n), buffer("W", f, c, 1, 1), buffer("Y", 1, f, 1, n)],
                   block("conv", "f x c", "SSR", (f, n, c), "Y[0, vf, 0, vx] = Y[0, vf, 0, vx] + X[0, vc, 0, vx] * "
                         "W[vf, vc, 0, 0]", "Y[0, vf, 0, vx] = T.float32(0)"))


def matmul(m, n, k):
    return program([buffer("X", m, k), buffer("W", k, n), buffer("Y", m, n)],
                   block("matmul", "i j k", "SSR", (m, n, k), "Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]",
                         "Y[vi, vj] = T.float32(0)"))


def softmax(m, n):
    return program([buffer("X", m, n), buffer("Y", m, n)], local("M", m), local("E", m, n), local("S", m),
                   block("most", "i k", "SR", (m, n), "M[vi] = T.max(M[vi], X[vi, vk])",
                         'M[vi] = T.min_value("float32")'),
                   block("exp", "i k", "SS", (m, n), "E[vi, vk] = T.exp(X[vi, vk] - M[vi])"),
                   block("sum", "i k", "SR", (m, n), "S[vi] = S[vi] + E[vi, vk]", "S[vi] = T.float32(0)"),
                   block("norm", "i k", "SS", (m, n), "Y[vi, vk] = E[vi, vk] / S[vi]"))


def text_of(words):
    kind, *sizes = words.split()
    if kind.endswith(".py"):
        with open(os.path.join(ROOT, kind), encoding="utf-8") as file:
            return file.read()
    return {"conv": conv, "pointwise": pointwise, "matmul": matmul, "softmax": softmax}[kind](*map(int, sizes))


def part_of(parser, text):
    """The numbers of --part I/N."""
    number, _, parts = text.partition("/")
    if not (number.isdigit() and parts.isdigit() and 1 <= int(number) <= int(parts)):
        parser.error(f"--part {text}: a number and how many there are, such as 2/5")
    return int(number), int(parts)


def table():
    works = []
    with open(os.path.join(HERE, "works.txt"), encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                name, timed, words = (part.strip() for part in line.split("|"))
                seeds = SEEDS if name.startswith("*") else 1
                works.append(Work(name.lstrip("*"), seeds, timed.split(), text_of(words)))
    return works
