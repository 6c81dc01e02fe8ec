"""Random programs over numbers of every type, in Hone's interpreter and compiled by TVM for the CPU.

    python numbers_random.py [--count N] [--seed S] [--out DIR]

Element-wise stages, reductions, predicates, guarded reads, branches, and loops of every kind, over
int8 to int64, uint8 to uint64, bool, float16, float32 and float64. Integers, and floats without
functions like exp, must be the same to the last bit. Exit code 1: a difference; the program is left
in DIR.

Left out is what has no meaning in the one or the other: overflow of 32 and 64 bits (undefined in the
code that TVM makes, unsigned or not), division by zero, casts of floats that do not fit. And what
TVM's simplifier takes liberties with: results that wrap inside of an expression; x - x, x == x,
0 / x, 0 * x, not (x < y) and x != NaN of floats.
"""
import argparse
import os
import random
import re
import sys

import numpy
import tvm
from tvm.script import from_source

from hone_cli import FIRST_SEED, Hone

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
NO_OVERFLOW = ("int32", "int64", "uint32", "uint64")
TYPES = SIGNED + UNSIGNED + FLOATS + ("bool",)
FUNCTIONS = ("exp", "exp2", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "atan", "tanh",
             "sigmoid", "sqrt", "rsqrt", "erf", "asin", "acos", "asinh", "acosh", "atanh")
ROWS, COLUMNS = 4, 6
READ = re.compile(r"\w+\[")
TOLERANCE = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-11}  # of functions: TVM has its own


def limits(dtype):
    bits = int(dtype.lstrip("uint"))
    return (0, 2**bits - 1) if dtype in UNSIGNED else (-2**(bits - 1), 2**(bits - 1) - 1)


class Value:
    """The text of an integer expression and the numbers that it may be."""

    def __init__(self, text, low=0, high=0):
        self.text, self.low, self.high = text, low, high


class Expressions:
    """Expressions over what may be read: (text of an element, dtype)."""

    def __init__(self, rng, reads):
        self.rng, self.reads = rng, reads

    def read(self, dtype):
        found = [text for text, d in self.reads if d == dtype]
        return self.rng.choice(found) if found else None

    def make(self, dtype, depth):
        if dtype == "bool":
            return self.truth(depth)
        if dtype in FLOATS:
            return self.real(dtype, depth)
        return self.whole(dtype, depth, True).text

    # ---- integers ----

    def constant(self, dtype, low, high):
        number = self.rng.randint(low, high)
        return Value(f"T.{dtype}({number})", number, number)

    def whole_leaf(self, dtype):
        low, high = known(dtype)
        text = self.read(dtype)
        if text and self.rng.random() < 0.7:
            return Value(text, low, high)
        other = self.rng.choice(self.reads)
        if other[1] in SIGNED + UNSIGNED and self.rng.random() < 0.7:
            found = self.cast(dtype, Value(other[0], *known(other[1])), False)
            if found:
                return found
        return self.constant(dtype, 0 if dtype in UNSIGNED else -9, 9)

    def fit(self, dtype, value, may_wrap):
        """A result that stays in its type, or where it may, one that wraps."""
        low, high = limits(dtype)
        if low <= value.low and value.high <= high:
            return value
        return Value(value.text, low, high) if may_wrap and dtype not in NO_OVERFLOW else None

    def cast(self, dtype, value, may_wrap):
        if "[" not in value.text:  # TVM folds casts of constants with more checks than a program has
            return None
        return self.fit(dtype, Value(f'T.cast({value.text}, "{dtype}")', value.low, value.high),
                        may_wrap)

    def whole(self, dtype, depth, is_top=False):
        if depth == 0:
            return self.whole_leaf(dtype)
        for _ in range(10):
            value = self.try_whole(dtype, depth, is_top)
            if value is not None:
                return value
        return self.whole_leaf(dtype)

    def try_whole(self, dtype, depth, may_wrap):
        kind = self.rng.choice(("+", "-", "*", "min", "max", "divide", "remain", "bits", "shift",
                                "select", "cast", "not", "abs", "of float", "of bool", "popcount"))
        if kind == "cast":
            source = self.rng.choice(SIGNED + UNSIGNED)
            return self.cast(dtype, self.whole(source, depth - 1), may_wrap)
        if kind == "of float":
            source = self.rng.choice(FLOATS)
            inner = self.real(source, depth - 1)
            high = 100
            low = 0 if dtype in UNSIGNED else -100
            return Value(f'T.cast(T.max(T.min({inner}, T.{source}({high})), T.{source}({low})), '
                         f'"{dtype}")', low, high)
        if kind == "of bool":
            return Value(f'T.cast({self.truth(depth - 1)}, "{dtype}")', 0, 1)
        a = self.whole(dtype, depth - 1)
        if kind == "abs":
            if dtype in UNSIGNED or a.low <= limits(dtype)[0]:
                return None
            return Value(f"T.abs({a.text})", 0, max(-a.low, a.high))
        if kind == "not":
            low, high = limits(dtype)
            return Value(f"T.bitwise_not({a.text})", low, high)
        if kind == "popcount":
            return Value(f"T.popcount({a.text})", 0, 64)
        if kind == "shift":
            return self.shift(dtype, a, may_wrap)
        b = self.whole(dtype, depth - 1)
        if kind in "+-*":
            if "[" not in a.text:
                return None
            ends = {"+": (a.low + b.low, a.high + b.high), "-": (a.low - b.high, a.high - b.low),
                    "*": spread(a, b)}[kind]
            return self.fit(dtype, Value(f"({a.text} {kind} {b.text})", *ends), may_wrap)
        if kind in ("min", "max"):
            pick = min if kind == "min" else max
            return Value(f"T.{kind}({a.text}, {b.text})", pick(a.low, b.low), pick(a.high, b.high))
        if kind == "bits":
            word = self.rng.choice(("and", "or", "xor"))
            return Value(f"T.bitwise_{word}({a.text}, {b.text})", *limits(dtype))
        if kind == "select":
            word = self.rng.choice(("Select", "if_then_else"))
            return Value(f"T.{word}({self.truth(depth - 1)}, {a.text}, {b.text})",
                         min(a.low, b.low), max(a.high, b.high))
        return self.quotient(dtype, kind, a, b)

    def shift(self, dtype, a, may_wrap):
        bits = int(dtype.lstrip("uint"))
        by = self.rng.randint(0, bits - 1)
        if self.rng.random() < 0.6:
            return Value(f"T.shift_right({a.text}, T.{dtype}({by}))", min(a.low, 0), max(a.high, 0))
        return self.fit(dtype, Value(f"T.shift_left({a.text}, T.{dtype}({by}))", a.low * 2**by,
                                     a.high * 2**by), may_wrap)

    def quotient(self, dtype, kind, a, b):
        """By something that is never zero; never the least number by -1."""
        if self.rng.random() < 0.5 or "[" not in b.text:
            by = self.rng.choice((1, 2, 3, 4, 7, 8, 10))
            sign = -1 if dtype in SIGNED and a.low > limits(dtype)[0] and self.rng.random() < 0.3 \
                else 1
            divisor = f"T.{dtype}({sign * by})"
        else:
            divisor = f"(T.bitwise_and({b.text}, T.{dtype}(15)) + T.{dtype}(1))"
        most = max(abs(a.low), abs(a.high))
        low = 0 if dtype in UNSIGNED else -most
        if kind == "divide":
            word = self.rng.choice(("floordiv", "truncdiv"))
            return Value(f"T.{word}({a.text}, {divisor})", low, most)
        word = self.rng.choice(("floormod", "truncmod"))
        return Value(f"T.{word}({a.text}, {divisor})", 0 if dtype in UNSIGNED else -16, 16)

    # ---- floats ----

    def real(self, dtype, depth):
        rng = self.rng
        if depth == 0:
            text = self.read(dtype)
            if text and rng.random() < 0.75:
                return text
            other, other_type = rng.choice(self.reads)
            if other_type != dtype and rng.random() < 0.7:
                return f'T.cast({other}, "{dtype}")'
            return f"T.{dtype}({rng.choice((0.5, -1.0, 1.5, 3.25, -0.125, 100.0))})"
        kind = rng.choice(("+", "-", "*", "/", "min", "max", "select", "one", "cast", "whole"))
        a = self.real(dtype, depth - 1)
        if kind == "cast":
            source = rng.choice(FLOATS)
            return f'T.cast({self.real(source, depth - 1)}, "{dtype}")'
        if kind == "whole":
            inner = self.whole(rng.choice(SIGNED + UNSIGNED), depth - 1)
            return f'T.cast({inner.text}, "{dtype}")' if "[" in inner.text else a
        if kind == "one":
            word = rng.choice(("floor", "ceil", "trunc", "nearbyint", "fabs", "abs"))
            return f"T.{word}({a})"
        b = self.real(dtype, depth - 1)
        if kind in "-/" and set(READ.findall(a)) & set(READ.findall(b)):
            return a
        if kind in "+-*/":
            return f"({a} {kind} {b})"
        if kind in ("min", "max"):
            return f"T.{kind}({a}, {b})"
        word = rng.choice(("Select", "if_then_else"))
        return f"T.{word}({self.truth(depth - 1)}, {a}, {b})"

    # ---- truth values ----

    def truth(self, depth):
        rng = self.rng
        if depth == 0:
            text = self.read("bool")
            return text if text and rng.random() < 0.8 else f"T.bool({rng.random() < 0.5})"
        kind = rng.choice(("compare", "compare", "and", "or", "not", "nan", "cast"))
        if kind == "compare":
            dtype = rng.choice(SIGNED + UNSIGNED + FLOATS)
            a, b = self.make(dtype, depth - 1), self.make(dtype, depth - 1)
            if set(READ.findall(a)) & set(READ.findall(b)):
                b = self.make(dtype, 0)
            words = ("<", "<=", ">", ">=", "==") if dtype in FLOATS else ("<", ">=", "==", "!=")
            return f"({a} {rng.choice(words)} {b})"
        if kind in ("and", "or"):
            return f"T.{kind.title()}({self.truth(depth - 1)}, {self.truth(depth - 1)})"
        if kind == "not":
            return f"T.Not({self.read('bool') or 'vi < 2'})"
        inner = self.whole(rng.choice(SIGNED + UNSIGNED), depth - 1)
        if kind == "cast" and "[" in inner.text:
            return f'T.cast({inner.text}, "bool")'
        dtype = rng.choice(("float32", "float64"))
        return f"T.isnan({self.real(dtype, depth - 1)})"


def spread(a, b):
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(ends), max(ends)


def known(dtype):
    """What the elements of inputs and stages lie in: narrow where overflow has no meaning."""
    return {"int32": (-999, 999), "int64": (-10**6, 10**6)}.get(dtype) or limits(dtype)


class Program:
    """Inputs of several types, some stages, one output a stage."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        rng = self.rng
        self.inputs = [(f"A{i}", rng.choice(TYPES)) for i in range(rng.randint(2, 4))]
        self.outputs, self.body, self.functions = [], [], set()
        for number in range(rng.randint(2, 4)):
            rng.choice((self.map, self.map, self.map, self.function, self.reduce, self.where,
                        self.branch, self.guarded))(f"C{number}", f"s{number}")

    def expressions(self, j="vj"):
        return Expressions(self.rng, [(f"{name}[vi, {j}]", d) for name, d in self.readable()])

    def readable(self):
        return [b for b in self.inputs + self.outputs if b[0] not in self.functions]

    def stored(self, expressions, dtype, depth):
        """What is stored stays in known(): later stages count on it."""
        if dtype not in ("int32", "int64"):
            return expressions.make(dtype, depth)
        low, high = known(dtype)
        value = expressions.whole(dtype, depth)
        if low <= value.low and value.high <= high:
            return value.text
        return f"T.max(T.min({value.text}, T.{dtype}({high})), T.{dtype}({low}))"

    def loops(self, indent=2):
        """Two loops, the inner one of any kind; the indent inside."""
        kind = self.rng.choice(("T.serial", "T.unroll", "T.vectorized", "T.parallel", "T.serial"))
        outer, inner = "T.serial", kind
        if kind == "T.parallel":
            outer, inner = kind, "T.serial"
        self.body += [" " * indent + f"for i in {outer}({ROWS}):",
                      " " * (indent + 2) + f"for j in {inner}({COLUMNS}):"]
        return indent + 4

    def block(self, name, indent, where=None):
        pad = " " * (indent + 2)
        self.body += [" " * indent + f'with T.sblock("{name}"):',
                      f'{pad}vi, vj = T.axis.remap("SS", [i, j])']
        if where:
            self.body.append(f"{pad}T.where({where})")
        return pad

    def map(self, name, block):
        dtype = self.rng.choice(TYPES)
        pad = self.block(block, self.loops())
        self.body.append(f"{pad}{name}[vi, vj] = {self.stored(self.expressions(), dtype, 3)}")
        self.outputs.append((name, dtype))

    def function(self, name, block):
        """A function at the top only: TVM's own are a little off, and sums would magnify that."""
        dtype = self.rng.choice(("float32", "float64"))
        pad = self.block(block, self.loops())
        word = self.rng.choice(FUNCTIONS)
        inner = self.expressions().real(dtype, 1)
        self.body.append(f"{pad}{name}[vi, vj] = T.{word}({inner})")
        self.outputs.append((name, dtype))
        self.functions.add(name)

    def where(self, name, block):
        dtype = self.rng.choice(TYPES)
        pad = self.block(block, self.loops(),
                         f"i * {COLUMNS} + j < {self.rng.randint(1, ROWS * COLUMNS)}")
        self.body.append(f"{pad}{name}[vi, vj] = {self.stored(self.expressions(), dtype, 2)}")
        self.outputs.append((name, dtype))

    def branch(self, name, block):
        dtype = self.rng.choice(TYPES)
        pad = self.block(block, self.loops())
        condition = self.rng.choice(("vi < 2", "(vi + vj) % 3 == 1", "vj > vi"))
        self.body += [f"{pad}if {condition}:",
                      f"{pad}  {name}[vi, vj] = {self.stored(self.expressions(), dtype, 2)}",
                      f"{pad}else:",
                      f"{pad}  {name}[vi, vj] = {self.stored(self.expressions(), dtype, 2)}"]
        self.outputs.append((name, dtype))

    def guarded(self, name, block):
        """Reads of neighbours, where there are some."""
        source, dtype = self.rng.choice(self.readable())
        pad = self.block(block, self.loops())
        other = self.stored(self.expressions(), dtype, 1)
        self.body.append(f"{pad}{name}[vi, vj] = T.if_then_else(vi > 0 and vj < {COLUMNS - 1}, "
                         f"{source}[vi - 1, vj + 1], {other})")
        self.outputs.append((name, dtype))

    def reduce(self, name, block):
        dtype = self.rng.choice(SIGNED + UNSIGNED + FLOATS)
        op = self.rng.choice(("+", "min", "max"))
        value = self.expressions("vk").make(dtype, 1)
        if dtype in ("int32", "int64"):
            low, high = known(dtype)
            few = f"T.{dtype}({high // 10}), T.{dtype}({low // 10})"
            value = "T.max(T.min({0}, {1}), {2})".format(value, *few.split(", "))
        if dtype in ("uint32", "uint64"):
            value = f"T.min({value}, T.{dtype}(9999))"
        place = f"{name}[vi, vj]"
        update = f"{place} + {value}" if op == "+" else f"T.{op}({place}, {value})"
        self.body += [
            f"  for i, j, k in T.grid({ROWS}, {COLUMNS}, {COLUMNS}):",
            f'    with T.sblock("{block}"):',
            '      vi, vj, vk = T.axis.remap("SSR", [i, j, k])',
            "      with T.init():",
            f"        {place} = T.{dtype}(0)",
            f"      {place} = {update}"]
        self.outputs.append((name, dtype))

    def text(self):
        params = ", ".join(f'{name}: T.Buffer(({ROWS}, {COLUMNS}), "{dtype}")'
                           for name, dtype in self.inputs + self.outputs)
        return "\n".join(["# from tvm.script import tirx as T", "@T.prim_func(s_tir=True)",
                          f"def main({params}):"] + self.body) + "\n"

    def arrays(self, seed):
        rng = numpy.random.default_rng(seed)
        return [self.array(rng, dtype) for _, dtype in self.inputs] + \
            [numpy.zeros((ROWS, COLUMNS), dtype) for _, dtype in self.outputs]

    def array(self, rng, dtype):
        shape = (ROWS, COLUMNS)
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if dtype in FLOATS:
            data = rng.standard_normal(shape) * rng.choice((0.1, 1, 30))
            special = rng.random(shape) < 0.1
            data[special] = rng.choice((0.0, -0.0, 1.0, numpy.inf, -numpy.inf, numpy.nan, 0.5, 2.5),
                                       special.sum())
            return data.astype(dtype)
        low, high = known(dtype)
        wide = rng.integers(low, high, shape, dtype=dtype, endpoint=True)
        near = rng.integers(max(low, -3), 4, shape).astype(dtype)
        return numpy.where(rng.random(shape) < 0.3, near, wide)


def same(got, want, dtype, tolerance):
    if dtype not in FLOATS:
        return got == want
    exact = (got == want) & (numpy.signbit(got) == numpy.signbit(want))
    exact |= numpy.isnan(got) & numpy.isnan(want)
    if not tolerance:
        return exact
    return exact | numpy.isclose(got.astype("float64"), want.astype("float64"), rtol=tolerance,
                                 atol=tolerance)


def compiled(text, arrays):
    mod = tvm.IRModule({"main": from_source(text, check_well_formed=False)})
    tensors = [tvm.runtime.tensor(a) for a in arrays]
    tvm.compile(mod, target={"kind": "llvm", "mcpu": "x86-64"})["main"](*tensors)
    return [t.numpy() for t in tensors]


def interpreted(hone, program, text, arrays):
    """Outputs of which a part is not written are updated in place: then they are inputs, too."""
    got = hone.interpret(text, arrays[:len(program.inputs)], check=True)
    if isinstance(got, dict) or "it takes" not in got.err:
        return got
    wanted = re.findall(r"'(\w+)'", got.message.split("it takes", 1)[1])
    names = [name for name, _ in program.inputs + program.outputs]
    return hone.interpret(text, [arrays[names.index(name)] for name in wanted], check=True)


def refused(error):
    """TVM folds constants while it reads, with checks of its own: no difference."""
    text = str(error).strip()
    known = ("negative uint", "Divide by zero", "exceeds range of bool")
    if "Check failed" in text and any(words in text for words in known):
        return []
    return ["TVM: " + text.rsplit("\n", 1)[-1]]


def differences(hone, program, text, seed):
    arrays = program.arrays(seed)
    try:
        want = compiled(text, [a.copy() for a in arrays])
    except Exception as error:  # pylint: disable=broad-except
        return refused(error)
    got = interpreted(hone, program, text, arrays)
    if not isinstance(got, dict):
        return [got.message]
    found = []
    for number, (name, dtype) in enumerate(program.outputs):
        expected = want[len(program.inputs) + number]
        result = got.get(name)
        if result is None:
            found.append(f"{name} is missing")
            continue
        tolerance = TOLERANCE[dtype] if name in program.functions else 0
        bad = ~same(result, expected, dtype, tolerance)
        if bad.any():
            at = tuple(int(x) for x in numpy.argwhere(bad)[0])
            found.append(f"{name}{list(at)} ({dtype}): hone {result[at]}, TVM {expected[at]}; "
                         f"{int(bad.sum())} of {bad.size}")
            break  # what follows builds on it
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--out", default="build/check_peer/numbers")
    options = parser.parse_args()
    numpy.seterr(all="ignore")
    hone, bad = Hone(), 0
    for seed in range(options.seed, options.seed + options.count):
        program = Program(seed)
        text = program.text()
        found = differences(hone, program, text, seed)
        if not found:
            continue
        bad += 1
        os.makedirs(options.out, exist_ok=True)
        with open(os.path.join(options.out, f"{seed}.py"), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"seed {seed}: {'; '.join(found)}", flush=True)
    print(f"{options.count} programs, {bad} differ")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
