"""Random expressions of programs at the edges of their types: interpreted, compiled, and by numpy.

    python numbers_edges.py [--count N] [--seed S] [--minutes M] [--out DIR]

Operators, functions, conditions and casts of whole numbers and floats, of NaN, infinities, zeros of
both signs, subnormals, the least and the greatest, each beside each, as numbers of tensors and as
constants. Each program computes 32 of them over 256 pairs: plain, under the default schedule, or as
its loops say (vectors, threads, unrolled). What the interpreter finds, compiled code must find too,
and numpy, where it means the same. It runs by the Python package, a child for each program. Exit
code 1: a difference, or a process that ended; the program is left in DIR.

Left out are products that are added to something (they may be rounded once), divisors of 0 that are
reached, shifts by more than there are bits, and -x of unsigned x, which TVM refuses.
"""
import argparse
import collections
import os
import pickle
import random
import signal
import sys
import time

import numpy

from hone_cli import BUILD, FIRST_SEED, ROOT

sys.path.append(os.path.join(ROOT, "python", "src"))
os.environ.setdefault("HONE_LIBRARY", os.path.join(BUILD, "libhone.so"))
import hone  # noqa: E402

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
KINDS = ("default", "default", "plain", "plain", "vectorized", "parallel", "unroll", "loops")
PAIRS, EXPRESSIONS, LANES, TIMEOUT_S = 256, 32, 16, 300
TOLERANCE = {"float16": 4e-3, "float32": 3e-6, "float64": 1e-11}  # of functions
FUNCTIONS = {"exp": numpy.exp, "exp2": numpy.exp2, "log": numpy.log, "log2": numpy.log2,
             "log10": numpy.log10, "log1p": numpy.log1p, "sin": numpy.sin, "cos": numpy.cos,
             "tan": numpy.tan, "asin": numpy.arcsin, "acos": numpy.arccos, "atan": numpy.arctan,
             "sinh": numpy.sinh, "cosh": numpy.cosh, "tanh": numpy.tanh, "asinh": numpy.arcsinh,
             "acosh": numpy.arccosh, "atanh": numpy.arctanh, "erf": None, "sigmoid": None,
             "exp10": None, "rsqrt": None}
FUNCTIONS_OF_TWO = {"pow": numpy.power, "atan2": numpy.arctan2, "hypot": numpy.hypot}
EXACT = {"floor": numpy.floor, "ceil": numpy.ceil, "nearbyint": numpy.rint, "round": numpy.rint,
         "trunc": numpy.trunc, "sqrt": numpy.sqrt, "fabs": numpy.fabs, "abs": numpy.abs}
COMPARISONS = {"<": numpy.less, "<=": numpy.less_equal, ">": numpy.greater,
               ">=": numpy.greater_equal, "==": numpy.equal, "!=": numpy.not_equal}


def edges(dtype):
    if dtype in FLOATS:
        info = numpy.finfo(dtype)
        return numpy.array([0.0, -0.0, numpy.nan, numpy.inf, -numpy.inf, info.max, info.min, info.tiny,
                            -info.smallest_subnormal, info.tiny / 2, 1, -1, 0.5, 2.5, -2.5, 1e3], dtype)
    info = numpy.iinfo(dtype)
    low = [-1, -2, -7, info.min // 2] if info.min else [info.max // 2 + 1, 10, 100, 5]
    return numpy.array([info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 3, 7, 13, info.max // 2,
                        info.max // 3, *low], dtype)


def constant(dtype, value):
    if dtype in WHOLE:
        return f"T.{dtype}({int(value)})"
    return f"T.{dtype}({float(value)!r})" if numpy.isfinite(value) else f'T.{dtype}("{float(value)}")'


class Value:
    """An expression: its text, type, numbers by numpy (None: it means something else), and what is
    in it: "function", "cast", "product", "extreme"."""

    def __init__(self, text, dtype, numbers, parts=()):
        self.text, self.dtype, self.numbers, self.parts = text, dtype, numbers, frozenset(parts)


def made(text, dtype, function, operands, *parts):
    known = function is not None and all(o.numbers is not None for o in operands)
    numbers = numpy.asarray(function(*[o.numbers for o in operands])).astype(dtype) if known else None
    return Value(text, dtype, numbers, frozenset(parts).union(*[o.parts for o in operands]))


def masked(shift, bits):
    return lambda x, by: shift(x, numpy.bitwise_and(by, x.dtype.type(bits)))


def divided(divide):
    return lambda x, y, other: numpy.where(y != 0, divide(x, numpy.where(y != 0, y, y.dtype.type(1))), other)


class Expressions:
    """Expressions over the tensors A and B."""

    def __init__(self, rng):
        self.rng = rng
        kinds = ((WHOLE,) * 2, (FLOATS,) * 2, (FLOATS,) * 2, (WHOLE, FLOATS))
        self.types = [rng.choice(kind) for kind in rng.choice(kinds)]
        if rng.random() < 0.5:
            self.types[1] = self.types[0]
        self.tensors = {"A": numpy.repeat(edges(self.types[0]), 16), "B": numpy.tile(edges(self.types[1]), 16)}

    def leaf(self, dtype):
        names = [name for name, array in self.tensors.items() if array.dtype == dtype]
        if names and self.rng.random() < 0.75:
            name = self.rng.choice(names)
            return Value(f"{name}[v]", dtype, self.tensors[name])
        number = self.rng.choice(list(edges(dtype)))
        return Value(constant(dtype, number), dtype, numpy.full(PAIRS, number, dtype))

    def any(self, dtype, depth):
        return self.leaf(dtype) if depth <= 0 or self.rng.random() < 0.15 else self.node(dtype, depth)

    def condition(self, depth):
        rng = self.rng
        if depth > 0 and rng.random() < 0.3:
            word, function = rng.choice((("And", numpy.logical_and), ("Or", numpy.logical_or)))
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return made(f"T.{word}({a.text}, {b.text})", "bool", function, (a, b))
        dtype = rng.choice(self.types)
        a, b = self.any(dtype, depth - 1), self.any(dtype, depth - 1)
        if dtype in FLOATS and rng.random() < 0.2:
            word = rng.choice(("isnan", "isinf", "isfinite"))
            return made(f"T.{word}({a.text})", "bool", getattr(numpy, word), (a,))
        sign = rng.choice(list(COMPARISONS))
        return made(f"({a.text} {sign} {b.text})", "bool", COMPARISONS[sign], (a, b))

    def node(self, dtype, depth):
        families = (self.choice, self.extreme, self.cast, self.arithmetic, self.arithmetic,
                    *((self.function, self.function, self.exact) if dtype in FLOATS else
                      (self.division, self.shift, self.bits)))
        return self.rng.choice(families)(dtype, depth - 1)

    def choice(self, dtype, depth):
        word = self.rng.choice(("Select", "if_then_else"))
        c, a, b = self.condition(depth), self.any(dtype, depth), self.any(dtype, depth)
        return made(f"T.{word}({c.text}, {a.text}, {b.text})", dtype, numpy.where, (c, a, b))

    def extreme(self, dtype, depth):
        a, b = self.any(dtype, depth), self.any(dtype, depth)
        word, function = self.rng.choice((("max", lambda x, y: numpy.where(x > y, x, y)),
                                          ("min", lambda x, y: numpy.where(x < y, x, y))))
        return made(f"T.{word}({a.text}, {b.text})", dtype, function, (a, b), "extreme")

    def cast(self, dtype, depth):
        """Of floats to whole numbers numpy's are any beyond the ends; halves may be rounded twice."""
        of = self.rng.choice([t for t in WHOLE + FLOATS if t != dtype])
        a = self.any(of, depth)
        is_same = of in WHOLE if dtype in WHOLE else of in FLOATS or numpy.dtype(of).itemsize <= 2
        return made(f'T.Cast("{dtype}", {a.text})', dtype, (lambda x: x) if is_same else None, (a,), "cast")

    def arithmetic(self, dtype, depth):
        a, b = self.any(dtype, depth), self.any(dtype, depth)
        signs = {"*": numpy.multiply, "/": numpy.divide} if dtype in FLOATS else {"*": numpy.multiply}
        if dtype in WHOLE or "product" not in a.parts | b.parts:
            signs.update({"+": numpy.add, "-": numpy.subtract})
        sign = self.rng.choice(list(signs))
        return made(f"({a.text} {sign} {b.text})", dtype, signs[sign], (a, b), *["product"] * (sign == "*"))

    def function(self, dtype, depth):
        a, b = self.any(dtype, depth), self.any(dtype, depth)
        name = self.rng.choice([*FUNCTIONS, *FUNCTIONS_OF_TWO])
        if name in FUNCTIONS:
            return made(f"T.{name}({a.text})", dtype, FUNCTIONS[name], (a,), "function")
        return made(f"T.{name}({a.text}, {b.text})", dtype, FUNCTIONS_OF_TWO[name], (a, b), "function")

    def exact(self, dtype, depth):
        a, b = self.any(dtype, depth), self.leaf(dtype)  # the sign of a NaN that is computed is open
        if self.rng.random() < 0.3:
            return made(f"T.copysign({a.text}, {b.text})", dtype, numpy.copysign, (a, b))
        name = self.rng.choice(list(EXACT))
        return made(f"T.{name}({a.text})", dtype, EXACT[name], (a,))

    def division(self, dtype, depth):
        a, b, other = self.any(dtype, depth), self.any(dtype, depth), self.leaf(dtype)
        text, function = self.rng.choice((("{} // {}", numpy.floor_divide), ("{} % {}", numpy.mod),
                                          ("T.truncdiv({}, {})", None), ("T.truncmod({}, {})", None)))
        return made(f"T.if_then_else({b.text} != {constant(dtype, 0)}, {text.format(a.text, b.text)}, {other.text})",
                    dtype, divided(function) if function else None, (a, b, other))

    def shift(self, dtype, depth):
        a, by, bits = self.any(dtype, depth), self.any(dtype, depth), 8 * numpy.dtype(dtype).itemsize - 1
        word, function = self.rng.choice((("left", numpy.left_shift), ("right", numpy.right_shift)))
        return made(f"T.shift_{word}({a.text}, T.bitwise_and({by.text}, {constant(dtype, bits)}))", dtype,
                    masked(function, bits), (a, by))

    def bits(self, dtype, depth):
        a, b = self.any(dtype, depth), self.any(dtype, depth)
        word = self.rng.choice(("and", "or", "xor", "not"))
        operands = (a,) if word == "not" else (a, b)
        function = numpy.invert if word == "not" else getattr(numpy, "bitwise_" + word)
        return made(f"T.bitwise_{word}({', '.join(o.text for o in operands)})", dtype, function, operands)


def program(values, types, kind):
    parameters = [f'{name}: T.Buffer(({PAIRS},), "{dtype}")' for name, dtype in
                  [*zip("AB", types), *((f"C{i}", v.dtype) for i, v in enumerate(values))]]
    lines = ["from tvm.script import tirx as T", "", "@T.prim_func", f"def main({', '.join(parameters)}):"]
    outer = f"{'T.parallel' if kind == 'parallel' else 'range'}({PAIRS // LANES})"
    inner = {"vectorized": "T.vectorized", "unroll": "T.unroll"}.get(kind, "range")
    for i, value in enumerate(values):
        if kind == "loops":
            lines += [f"    for v in range({PAIRS}):", f"        C{i}[v] = {value.text}"]
            continue
        lines += [f"    for o in {outer}:", f"        for i in {inner}({LANES}):", f'            with T.sblock("C{i}"):',
                  f"                v = T.axis.spatial({PAIRS}, o * {LANES} + i)", f"                C{i}[v] = {value.text}"]
    return "\n".join(lines) + "\n"


def difference(value, got, want):
    """In words, or None."""
    good = got == want
    if value.dtype in FLOATS:
        signs = (numpy.signbit(got) == numpy.signbit(want)) | (got != 0)
        good &= signs if not value.parts & {"extreme", "function"} else True
        good |= numpy.isnan(got) & numpy.isnan(want)
        if "function" in value.parts:
            a, b, least = got.astype("float64"), want.astype("float64"), float(numpy.finfo(value.dtype).tiny)
            tolerance = TOLERANCE["float16" if "cast" in value.parts else value.dtype]  # of a shorter one
            good |= numpy.isfinite(a) & numpy.isfinite(b) & (numpy.abs(a - b) <= tolerance * numpy.abs(b) + 4 * least)
    elif value.parts >= {"function", "cast"}:  # what is nearly a whole number may be the one below
        return None
    if good.all():
        return None
    place = int(numpy.argmin(good))
    return f"{got[place]!r} where {want[place]!r} is right, in pair {place}; {int((~good).sum())} of {PAIRS}"


def examine(seed, out):
    """What is wrong with the program of a seed, in words, and counts."""
    rng = random.Random(seed)
    drawn = Expressions(rng)
    types, kind = [array.dtype.name for array in drawn.tensors.values()], rng.choice(KINDS)
    values = [drawn.node(rng.choice(types * 3 + list(WHOLE + FLOATS)), rng.choice((1, 1, 2, 2, 3)))
              for _ in range(EXPRESSIONS)]
    text, given = program(values, types, kind), list(drawn.tensors.values())
    wrong = []
    try:
        wanted = [numpy.full(PAIRS, 77, v.dtype) for v in values]
        module = hone.load(text)
        module.interpret(*given, *wanted)
        model = module.compile(no_schedule=kind == "plain", threads=2 if kind == "parallel" else 1)
        found = model(*given)
        for i, (value, got, want) in enumerate(zip(values, found, wanted)):
            by_numpy = difference(value, want, value.numbers) if value.numbers is not None else None
            by_code = difference(value, got, want)
            wrong += [f"C{i} interpreted: {by_numpy}: {value.text}"] * bool(by_numpy)
            wrong += [f"C{i} compiled: {by_code}: {value.text}"] * bool(by_code)
    except hone.HoneError as error:
        wrong.append(str(error))
    if wrong:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, f"{seed}.py"), "w", encoding="utf-8") as file:
            file.write(text)
    return wrong, {kind: len(values), "by numpy": sum(v.numbers is not None for v in values)}


def in_child(seed, out):
    ours, childs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(TIMEOUT_S)
        try:
            with os.fdopen(childs, "wb") as said:
                pickle.dump(examine(seed, out), said)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(childs)
    with os.fdopen(ours, "rb") as said:
        text = said.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(text) if status == 0 else ([f"the process ended: status {status}"], {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=3200, help="of expressions")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no more than that")
    parser.add_argument("--out", default="build/check_peer/numbers_edges")
    options = parser.parse_args()
    numpy.seterr(all="ignore")
    counts, faults, until = collections.Counter(), 0, time.monotonic() + 60 * options.minutes
    for seed in range(options.seed, options.seed + -(-options.count // EXPRESSIONS)):
        if time.monotonic() > until:
            break
        wrong, more = in_child(seed, options.out)
        counts.update(more)
        faults += len(wrong)
        for words in wrong:
            print(f"seed {seed}: {words}", flush=True)
    print(f"{counts.total() - counts['by numpy']} expressions, {faults} wrong:", dict(sorted(counts.items())))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
