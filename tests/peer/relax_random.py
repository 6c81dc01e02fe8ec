"""Modules of graph functions at random, as text: Hone's interpreter beside what it compiles.

    python relax_random.py [--count N] [--seed S] [--ways WAYS] [--out DIR]

4 to 14 bindings over inputs with numbers and one symbolic size: arithmetic, reductions, products, moves,
sorts, tensors out of nothing, tuples that are split, nested and taken apart, branches, functions that
are called, PrimFuncs by call_tir, casts of shapes. The text is printed and read again (the same
module), and each way gives what the interpreter gives. Exit code 1: anything else; the module and its
inputs are left in DIR. No peer is needed, numpy alone.
"""
import argparse
import os
import random
import shutil
import sys

import numpy

from hone_cli import FIRST_SEED, Hone

SIZE = 5  # of the symbolic "n"
WAYS = {"plain": ["--no-schedule"], "default": []}
UNARY = ("abs", "negative", "tanh", "sigmoid", "exp", "sin", "cos", "sqrt", "floor", "nn.relu", "nn.gelu", "nn.silu",
         "square", "sign", "erf", "round")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
COMPARE = ("less", "greater_equal", "not_equal")
SCALE = """    @T.prim_func(private=True)
    def scale{number}(A: T.Buffer(({size}), "float32"), C: T.Buffer(({size}), "float32")):
        for i in range({count}):
            with T.sblock("scale"):
                v = T.axis.spatial({count}, i)
                C[{place}] = A[{place}] * T.float32({factor}) + T.float32(1)
"""


class Dim:
    """A dimension: as the text has it, and its number."""

    def __init__(self, number, text=None):
        self.number, self.text = number, text or str(number)

    def __eq__(self, other):
        return self.text == other.text


N = Dim(SIZE, "n")
ONE = Dim(1)


class Value:
    """A tensor of the module; most: no number of it is larger."""

    def __init__(self, name, shape, dtype="float32", most=4.0):
        self.name, self.shape, self.dtype, self.most = name, shape, dtype, most

    @property
    def type(self):
        dims = "".join(f"{d.text!r}, " if "n" in d.text else d.text + ", " for d in self.shape)
        return f'R.Tensor(({dims.replace(chr(39), chr(34))}), dtype="{self.dtype}")'


class Module:
    """A module in the making."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.others, self.count = [], [], 0
        dims = [N] if self.rng.random() < 0.6 else []
        dims += [Dim(self.rng.choice((1, 2, 3, 4, 7, 8))) for _ in range(2)]
        self.dims = dims
        self.inputs = [Value(f"x{i}", self.some_shape()) for i in range(self.rng.randint(1, 3))]
        if N in dims and not any(N in v.shape for v in self.inputs):
            self.inputs[0].shape = [N, *self.inputs[0].shape[1:]]
        self.values = list(self.inputs)
        for _ in range(self.rng.randint(4, 14)):
            self.rng.choice(MAKERS)(self)
        last = self.values[-6:]
        self.results = self.rng.sample(last, min(len(last), self.rng.randint(1, 4)))

    def some_shape(self):
        return [self.rng.choice(self.dims) for _ in range(self.rng.randint(1, 3))]

    def pick(self, fits=lambda v: v.dtype == "float32"):
        found = [v for v in self.values if fits(v)]
        return self.rng.choice(found[-4:] if self.rng.random() < 0.6 else found) if found else None

    def bind(self, text, shape, dtype="float32", most=4.0):
        self.count += 1
        value = Value(f"v{self.count}", list(shape), dtype, most)
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)
        if dtype == "float32" and most > 60:
            self.bind(f"R.tanh({value.name})", shape, most=1)
            self.values.remove(value)
        return value

    # ---- the text ----

    def returned(self):
        names = [v.name for v in self.results]
        if len(names) == 1 and self.rng.random() < 0.5:
            return names[0]
        if len(names) > 2 and self.rng.random() < 0.5:
            return f"({names[0]}, ({', '.join(names[1:])}))"
        return f"({', '.join(names)},)"

    def text(self):
        head = ["# from tvm.script import ir as I", "# from tvm.script import relax as R",
                "# from tvm.script import tirx as T", "", "@I.ir_module", "class Module:"]
        params = ", ".join(f"{v.name}: {v.type}" for v in self.inputs)
        body = ["    @R.function", f"    def main({params}):"]
        if N in self.dims:
            body.append("        n = T.int64()")
        body += ["        " + line for line in self.lines]
        return "\n".join(head + self.others + body + [f"        return {self.returned()}", ""])

    def arrays(self, seed):
        rng = numpy.random.default_rng(seed)
        return {v.name: rng.uniform(-3, 3, [d.number for d in v.shape]).astype("float32") for v in self.inputs}


# ---- what bindings make ----

def unary(m):
    x = m.pick()
    op = m.rng.choice(UNARY)
    if op in ("exp", "square") and x.most > 6:
        op = "tanh"
    argument = f"R.abs({x.name})" if op == "sqrt" else x.name
    if op in ("floor", "round", "sign"):  # steps: not of what is computed in another order
        x = m.rng.choice(m.inputs)
        argument = x.name
    most = {"exp": 450.0, "square": x.most ** 2}.get(op, max(x.most, 1))
    m.bind(f"R.{op}({argument})", x.shape, most=most)


def binary(m):
    x = m.pick()
    y = m.pick(lambda v: v.dtype == "float32" and v.shape == x.shape) or x
    if m.rng.random() < 0.3:
        m.bind(f"R.{m.rng.choice(BINARY)}({x.name}, R.const({m.rng.uniform(-2, 2):.3f}, \"float32\"))", x.shape,
               most=2 * x.most + 2)
        return
    most = x.most * y.most if m.rng.random() < 0.3 else x.most + y.most
    op = "multiply" if most == x.most * y.most else m.rng.choice(BINARY[:2] + BINARY[3:])
    m.bind(f"R.{op}({x.name}, {y.name})", x.shape, most=most)


def choose(m):
    x = m.pick()
    y = m.pick(lambda v: v.dtype == "float32" and v.shape == x.shape)
    first = m.rng.choice(m.inputs)
    where = m.bind(f"R.{m.rng.choice(COMPARE)}({first.name}, R.const(0.25, \"float32\"))", first.shape, "bool")
    if first.shape == x.shape:
        m.bind(f"R.where({where.name}, {x.name}, {y.name})", x.shape, most=max(x.most, y.most))
    else:
        m.bind(f"R.astype({where.name}, \"float32\")", first.shape, most=1)


def reduce(m):
    x = m.pick(lambda v: v.dtype == "float32" and v.shape)
    axis, keep = m.rng.randrange(len(x.shape)), m.rng.random() < 0.5
    op = m.rng.choice(("sum", "mean", "max", "min", "variance"))
    shape = [ONE if i == axis else d for i, d in enumerate(x.shape) if keep or i != axis]
    most = {"sum": x.most * x.shape[axis].number, "variance": x.most ** 2}.get(op, x.most)
    m.bind(f"R.{op}({x.name}, axis=[{axis}], keepdims={keep})", shape, most=most)


def along(m):
    x = m.pick(lambda v: v.dtype == "float32" and v.shape)
    axis = m.rng.randrange(len(x.shape))
    op = m.rng.choice(("nn.softmax", "cumsum", "sort"))
    more = f", descending={m.rng.random() < 0.5}" if op == "sort" else ""
    most = x.most * x.shape[axis].number if op == "cumsum" else max(x.most, 1)
    m.bind(f"R.{op}({x.name}, axis={axis}{more})", x.shape, most=most)


def order(m):
    """Of inputs: what is computed in another order may stand in another one."""
    x = m.rng.choice(m.inputs)
    axis = m.rng.randrange(len(x.shape))
    op = m.rng.choice(("argsort", "argmax", "topk"))
    if op == "argmax":
        m.bind(f"R.argmax({x.name}, axis={axis})", x.shape[:axis] + x.shape[axis + 1:], "int64")
    elif op == "argsort":
        m.bind(f"R.argsort({x.name}, axis={axis}, dtype=\"int64\")", x.shape, "int64")
    elif x.shape[axis].text != "n":
        pair = m.bind(f"R.topk({x.name}, k=1, axis={axis}, ret_type=\"both\", dtype=\"int64\")", [], "tuple")
        shape = [ONE if i == axis else d for i, d in enumerate(x.shape)]
        m.values.remove(pair)
        m.bind(f"{pair.name}[0]", shape, most=x.most)
        m.bind(f"{pair.name}[1]", shape, "int64")


def made(m):
    shape = m.some_shape()
    dims = ", ".join(d.text for d in shape) + ","
    op = m.rng.choice(("zeros", "ones", "full", "arange", "like"))
    if op == "arange":
        m.bind("R.arange(0, 7, 1, dtype=\"float32\")", [Dim(7)], most=7)
    elif op == "full":
        m.bind(f"R.full(R.shape([{dims}]), R.const(1.5, \"float32\"), dtype=\"float32\")", shape)
    elif op == "like":
        x = m.pick()
        m.bind(f"R.{m.rng.choice(('zeros', 'ones'))}_like({x.name})", x.shape)
    else:
        m.bind(f"R.{op}(R.shape([{dims}]), dtype=\"float32\")", shape)


def move(m):
    x = m.pick()
    axis = m.rng.randrange(len(x.shape)) if x.shape else 0
    op = m.rng.choice(("permute_dims", "expand_dims", "flatten", "slice", "flip", "concat", "tile"))
    if not x.shape or op == "expand_dims":
        if len(x.shape) < 4:
            m.bind(f"R.expand_dims({x.name}, axis=0)", [ONE, *x.shape], most=x.most)
    elif op == "permute_dims":
        order_ = m.rng.sample(range(len(x.shape)), len(x.shape))
        m.bind(f"R.permute_dims({x.name}, axes={order_})", [x.shape[i] for i in order_], most=x.most)
    elif op == "flatten" and N not in x.shape:
        count = int(numpy.prod([d.number for d in x.shape]))
        m.bind(f"R.reshape({x.name}, R.shape([{count}]))", [Dim(count)], most=x.most)
    elif op == "slice" and x.shape[axis].text != "n":
        shape = [ONE if i == axis else d for i, d in enumerate(x.shape)]
        m.bind(f"R.strided_slice({x.name}, axes=[{axis}], begin=[0], end=[1])", shape, most=x.most)
    elif op == "flip":
        m.bind(f"R.flip({x.name}, axis={axis})", x.shape, most=x.most)
    elif op == "concat" and x.shape[axis].text != "n":
        shape = [Dim(2 * d.number) if i == axis else d for i, d in enumerate(x.shape)]
        m.bind(f"R.concat(({x.name}, {x.name}), axis={axis})", shape, most=x.most)
    elif op == "tile" and N not in x.shape:
        shape = [*x.shape[:-1], Dim(2 * x.shape[-1].number)]
        m.bind(f"R.tile({x.name}, repeats=[{'1, ' * (len(shape) - 1)}2])", shape, most=x.most)


def take(m):
    x = m.pick(lambda v: v.dtype == "float32" and v.shape and v.shape[0].number >= 2)
    if x:
        rows = m.bind("R.const([1, 0, 1], \"int64\")", [Dim(3)], "int64")
        m.bind(f"R.take({x.name}, {rows.name}, axis=0)", [Dim(3), *x.shape[1:]], most=x.most)


def product(m):
    x = m.pick(lambda v: v.dtype == "float32" and len(v.shape) == 2)
    if not x:
        return
    turned = m.bind(f"R.permute_dims({x.name}, axes=[1, 0])", x.shape[::-1], most=x.most)
    most = x.most ** 2 * x.shape[1].number
    form = "R.matmul({0}, {1}, out_dtype=\"float32\")" if m.rng.random() < 0.6 else \
        "R.einsum(({0}, {1}), subscripts=\"ij,jk->ik\")"
    m.bind(form.format(x.name, turned.name), [x.shape[0], x.shape[0]], most=most)


def tuples(m):
    x = m.pick(lambda v: v.dtype == "float32" and v.shape and v.shape[-1].text != "n" and v.shape[-1].number % 2 == 0)
    if x and m.rng.random() < 0.5:
        parts = m.bind(f"R.split({x.name}, indices_or_sections=2, axis={len(x.shape) - 1})", [], "tuple")
        half = [*x.shape[:-1], Dim(x.shape[-1].number // 2)]
        m.values.remove(parts)
        for i in range(2):
            m.bind(f"{parts.name}[{i}]", half, most=x.most)
        return
    x, y = m.pick(), m.pick()
    pair = m.bind(f"({x.name}, ({y.name}, {x.name}))", [], "tuple")
    inner = m.bind(f"{pair.name}[1]", [], "tuple")
    m.values.remove(pair)
    m.values.remove(inner)
    m.bind(f"{inner.name}[0]", y.shape, most=y.most)


def function(m):
    """A function that is called, some twice."""
    x, name = m.pick(), f"part{m.count}"
    m.others += ["    @R.function(private=True)", f"    def {name}(a: {x.type}) -> {x.type}:",
                 "        b = R.tanh(a)", "        c = R.add(b, a)", "        return c"]
    if N in x.shape:
        m.others.insert(len(m.others) - 3, "        n = T.int64()")
    m.bind(f"Module.{name}({x.name})", x.shape, most=x.most + 1)


def program(m):
    """A PrimFunc of the module."""
    x = m.pick(lambda v: v.dtype == "float32" and len(v.shape) == 1 and v.shape[0].text != "n")
    if not x:
        return
    number, count = m.count, x.shape[0].number
    m.others += SCALE.format(number=number, size=f"{count},", count=count, place="v", factor=0.5).splitlines()
    m.bind(f"R.call_tir(Module.scale{number}, ({x.name},), out_ty={Value('', x.shape).type})", x.shape, most=x.most + 1)


MAKERS = (unary, unary, binary, binary, choose, reduce, along, order, made, move, move, take, product,
          tuples, function, program)


# ---- comparing ----

def results_of(hone, folder, way, words):
    """By name, or the Run that failed."""
    target = os.path.join(folder, way)
    run = hone.run("run", os.path.join(folder, "module.py"), "-q", "--out-dir", target, *words)
    if not run:
        return run
    return {name: numpy.load(os.path.join(target, name)) for name in sorted(os.listdir(target))}


def difference(got, want):
    """In words, or None."""
    if got.keys() != want.keys():
        return f"gives {sorted(got)}, not {sorted(want)}"
    for name, right in want.items():
        ours = got[name]
        if ours.dtype != right.dtype or ours.shape != right.shape:
            return f"'{name}': {ours.dtype}{list(ours.shape)} where {right.dtype}{list(right.shape)} is right"
        near = ours == right if right.dtype.kind != "f" else numpy.isclose(ours, right, 1e-4, 1e-4, True)
        if not near.all():
            return f"'{name}': {int((~near).sum())} of {near.size} elements differ"
    return None


def examine(hone, seed, folder, ways):
    """What is wrong, or None."""
    module = Module(seed)
    path, words = os.path.join(folder, "module.py"), []
    os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(module.text())
    for name, array in module.arrays(seed).items():
        numpy.save(os.path.join(folder, name + ".npy"), array)
        words += ["--in", f"{name}={folder}/{name}.npy"]
    printed = hone.run("print", path, "-o", os.path.join(folder, "printed.py"))
    if not printed:
        return f"print: {printed.code}: {printed.err[:300]}"
    same = hone.run("equal", path, os.path.join(folder, "printed.py"))
    if not same:
        return f"what is printed is another module: {same.out[:200]}{same.err[:200]}"
    want = results_of(hone, folder, "interpreted", ["--interpret", "--check", *words])
    if not isinstance(want, dict):
        return f"interpreted: {want.code}: {want.err[:300]}"
    for way in ways:
        got = results_of(hone, folder, way, [*WAYS[way], *words])
        wrong = difference(got, want) if isinstance(got, dict) else f"{got.code}: {got.err[:300]}"
        if wrong:
            return f"{way}: {wrong}"
    return None


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--out", default="build/check_peer/relax_random")
    return parser.parse_args()


def main():
    options = parse()
    hone, wrong = Hone(), 0
    for seed in range(options.seed, options.seed + options.count):
        folder = os.path.join(options.out, str(seed))
        words = examine(hone, seed, folder, options.ways.split(","))
        if words:
            wrong += 1
            print(f"seed {seed}: {words}", flush=True)
        else:
            shutil.rmtree(folder)
    print(f"random modules: {options.count}, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
