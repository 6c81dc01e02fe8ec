"""Texts that TVM prints: hone reads them, prints them, reads that again, and verifies them.

    python texts.py [--only PREFIX] [--out DIR]

Operators of topi, workloads with their design spaces, and graphs before and after Relax's passes. What hone prints must parse in
TVM and be equal there. A text that TVM does not read back itself is left out. Exit code 1: hone
refused a text, or printed another program.
"""
import argparse
import collections
import os
import sys

import tvm
import tvm_ffi
from tvm import relax, te, topi
from tvm.relax.frontend import nn
from tvm.s_tir import meta_schedule as ms
from tvm.script import from_source
from tvm.target import Target

from hone_cli import Hone
from sketches import WORKLOADS

UNARY = "exp tanh sigmoid sqrt rsqrt log erf floor ceil round abs sign negative sin cos tan trunc isnan".split()
BINARY = "add subtract multiply divide floor_divide mod maximum minimum power greater less equal".split()
REDUCTIONS = "sum max min prod argmax argmin".split()
DTYPES = "float16 bfloat16 float64 int64 uint8 int8 float8_e4m3fn float8_e5m2".split()


def tensor(name, *shape, dtype="float32"):
    return te.placeholder(shape, name=name, dtype=dtype)


def prim(*tensors):
    return tvm.IRModule({"main": te.create_prim_func(list(tensors))})


def operators():
    """(name, module) of single operators, some of symbolic size."""
    n = te.var("n")
    for name in UNARY:
        x = tensor("A", n, 9)
        yield "unary_" + name, prim(x, getattr(topi, name)(x))
    for name in BINARY:
        x, y = tensor("A", 4, 1, 7), tensor("B", 5, 7)
        yield "binary_" + name, prim(x, y, getattr(topi, name)(x, y))
    for name in REDUCTIONS:
        x = tensor("A", 4, n, 6)
        yield "reduce_" + name, prim(x, getattr(topi, name)(x, axis=1))
    for dtype in DTYPES:
        x = tensor("A", 4, 5, dtype=dtype)
        yield "cast_" + dtype, prim(x, topi.cast(x, "float32"))
    x, w = tensor("A", n, 4, 9, 9), tensor("W", 8, 4, 3, 3)
    yield "conv2d", prim(x, w, topi.nn.conv2d_nchw(x, w, 2, 1, 1))
    yield "pool2d", prim(x, topi.nn.pool2d(x, [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], "max"))
    yield "adaptive_pool", prim(x, topi.nn.adaptive_pool(x, (3, 2), "avg"))
    yield "resize2d", prim(x, topi.image.resize2d(x, (0.0,) * 4, (7, 9), method="cubic"))
    for name, make in (("softmax", topi.nn.softmax), ("cumsum", topi.cumsum), ("sort", topi.sort),
                       ("argsort", topi.argsort), ("flatten", topi.nn.flatten)):
        x = tensor("A", 4, 5)
        yield name, prim(x, make(x))


def spaces():
    """The design spaces of TVM's MetaSchedule, before and after its postprocessors."""
    targets = {"llvm": Target({"kind": "llvm", "num-cores": 4}), "cuda": Target("nvidia/nvidia-a100")}
    for workload, make in WORKLOADS.items():
        for name, target in targets.items():
            space = ms.TuneContext(mod=make(), target=target, task_name="texts", rand_state=7,
                                   space_generator=ms.space_generator.PostOrderApply())
            for i, sch in enumerate(space.space_generator.generate_design_space(make())[:2]):
                yield f"{workload}_{name}_{i}", sch.mod
                if all(p.apply(sch) for p in space.space_generator.postprocs):
                    yield f"{workload}_{name}_{i}_after", sch.mod


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(784, 64), nn.Linear(64, 10)

    def forward(self, x):
        return nn.op.softmax(self.second(nn.op.relu(self.first(x))), -1)


PASSES = ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR", "ToNonDataflow", "CallTIRRewrite",
          "StaticPlanBlockMemory", "LowerAllocTensor", "KillAfterLastUse")


def graphs():
    """A model through the passes of Relax."""
    for size in (1, "n"):
        mod, _ = Perceptron().export_tvm(spec={"forward": {"x": nn.spec.Tensor((size, 784), "float32")}})
        yield f"mlp_{size}", mod
        for name in PASSES:
            mod = getattr(relax.transform, name)()(mod)
            yield f"mlp_{size}_{name}", mod


MAKERS = (operators, spaces, graphs)


def verdict(hone, text):
    """'equal', 'left out', or what went wrong."""
    try:
        before = from_source(text)
    except Exception:  # TVM raises many kinds
        return "left out", ""
    path = hone.write("text.py", text)
    printed = hone.run("print", path)
    if not printed:
        return "not printed", printed.message
    again = hone.run("print", hone.write("again.py", printed.out))
    if again.out != printed.out:
        return "not read again", again.message
    verified = hone.run("verify", path, "-q")
    if not verified:
        return "not verified", (verified.out + verified.err).split("\n", 1)[0]
    after = from_source(printed.out, check_well_formed=False)
    return ("equal", "") if tvm_ffi.structural_equal(before, after) else ("differs", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="one of: " + ", ".join(m.__name__ for m in MAKERS))
    parser.add_argument("--out", help="folder for the texts that fail")
    args = parser.parse_args()
    hone, tally = Hone(), collections.Counter()
    for make in MAKERS:
        if args.only not in (None, make.__name__):
            continue
        for name, program in make():
            name = f"{make.__name__}_{name}"
            text = program.script()
            kind, why = verdict(hone, text)
            tally[kind] += 1
            if kind in ("equal", "left out"):
                continue
            print(f"{kind}: {name}: {why}")
            if args.out:
                os.makedirs(args.out, exist_ok=True)
                with open(os.path.join(args.out, name + ".py"), "w", encoding="utf-8") as file:
                    file.write(text)
    print(dict(tally))
    return 0 if set(tally) <= {"equal", "left out"} else 1


if __name__ == "__main__":
    sys.exit(main())
