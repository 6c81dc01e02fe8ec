"""Texts that TVM prints: hone reads them, prints them, reads that again, and verifies them.

    python texts.py [--only MAKER] [--part 1/3] [--out DIR]

Operators of topi, workloads with their design spaces, graphs before and after Relax's passes, and texts written by hand. What hone prints must parse in
TVM and be equal there. A text that TVM does not read back itself is left out. Exit code 1: hone
refused a text, or printed another program.
"""
import argparse
import collections
import glob
import os
import re
import sys

import tvm
import tvm_ffi
from tvm import relax, te, topi
from tvm.relax.frontend import nn
from tvm.s_tir import meta_schedule as ms
from tvm.script import from_source
from tvm.target import Target

from hone_cli import ROOT, Hone
from sketches import WORKLOADS

UNARY = "exp tanh sigmoid sqrt rsqrt log erf floor ceil round abs sign negative sin cos tan trunc isnan".split()
BINARY = "add subtract multiply divide floor_divide mod maximum minimum power greater less equal".split()
REDUCTIONS = "sum max min prod argmax argmin".split()
GOOD = {"equal", "left out", "made readable", "known"}
KNOWN = {  # what differs, and why
    "by_hand_classic_buffer_decl.py": "a view of 0.27 is declared",
    "by_hand_classic_ptr.py": "the same",
    "by_hand_classic_handle_ptr.py": "the same",
    "by_hand_classic_store_load.py": "a cast to the same type is nothing",
    "by_hand_classic_let_pointer.py": "0.27 has no T.LetStmt that ends before its block does",
    "by_hand_classic_mfma.py": "0.27 has none",
    "by_hand_tensor_buffers_buffer_of_let_size.py": "a handle in T.attr is its buffer",
    "by_hand_tensor_values_integer_power.py": "0.27 has powers of floats only",
    "by_hand_tensor_loops_attr_with.py": "a handle in T.attr is its buffer",
    "by_hand_tensor_blocks_func_attr.py": "tir.noalias is tirx.noalias",
    "by_hand_tensor_blocks_noalias.py": "T.bool(True) in an attribute is True",
    "by_hand_tensor_buffers_axis_separators.py": "0.27 has none",
    "by_hand_tensor_buffers_tvm_access_ptr.py": "TVM does not read its own text back as the same",
    "by_hand_tensor_buffers_buf_offset_elem.py": "the same",
    "by_hand_tensor_packed_api.py": "the same",
    "by_hand_tensor_loops_vectorized_loops.py": "a step is part of the index",
    "by_hand_tensor_loops_stepsym.py": "the same",
    "by_hand_tensor_loops_iter_var_launch.py": "TVM does not read its own text back as the same",
    "by_hand_graph_call_packed.py": "sinfo_args is ty_args",
    "by_hand_graph_call_tir_vars.py": "0.27 has no tir_vars",
    "by_hand_graph_attrs.py": "a private function has no name outside of a module",
    "by_hand_graph_ops.py": "operators without a row have no type",
    "by_hand_graph_vdevice.py": "nothing here depends on devices",
    "by_hand_graph_extern_by_name.py": "the name stands for the value that has it",
    "by_hand_graph_calls_extern_value.py": "the same",
    "by_hand_graph_calls_callable.py": "a value is called by R.invoke_closure",
    "by_hand_graph_calls_named_sizes.py": "a name of a number is that number",
    "by_hand_graph_calls_recursive.py": "functions inside are functions of the module",
    "by_hand_as_printed_void.py": "out_dtype void is None",
    "by_hand_as_printed_late.py": "a mistake on purpose",
    "by_hand_as_printed_classic.py": "0.27 has no nn.dense",
    "by_hand_as_printed_returned.py": "0.27 ends names of R.dataflow with it",
    "by_hand_tensor_loops_ptx.py": "0.27 copies by T.ptx.cp, with other arguments",
}
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


def by_hand():
    """The texts of tests/cli/texts_*.test."""
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "cli", "texts_*.test"))):
        with open(path, encoding="utf-8") as file:
            parts = re.split(r"^==== ", file.read(), flags=re.M)[1:-1]
        group = os.path.basename(path)[len("texts_"):-len(".test")]
        for name, text in (part.split("\n", 1) for part in parts):
            if "_trace" in name:  # a schedule of one of the others
                continue
            yield f"{group}_{name}", text


MAKERS = (operators, spaces, graphs, by_hand)


def read_by_tvm(text):
    """The program, or None: TVM raises many kinds of errors."""
    try:
        return from_source(text, check_well_formed=False)
    except Exception:  # pylint: disable=broad-except
        return None


def as_module(program):
    """A bare function as a module of that function."""
    if isinstance(program, tvm.IRModule):
        return program
    name = (program.attrs or {}).get("global_symbol", "main")
    return tvm.IRModule({name: program})


def verdict(hone, text, is_by_hand):
    """'equal', 'left out', or what went wrong; 'made readable' is what TVM does not read as it
    stands (an older spelling), and reads as hone prints it."""
    before = read_by_tvm(text)
    if before is None and not is_by_hand:
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
    after = read_by_tvm(printed.out)
    if after is None:
        return "not read by TVM", ""
    if before is None:
        return "made readable", ""
    equal = tvm_ffi.structural_equal(as_module(before), after)
    return ("equal", "") if equal else ("differs", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="one of: " + ", ".join(m.__name__ for m in MAKERS))
    parser.add_argument("--part", default="1/1", help="the first of so many parts of the texts")
    parser.add_argument("--out", help="folder for the texts that fail")
    args = parser.parse_args()
    part, parts = (int(number) for number in args.part.split("/"))
    hone, tally = Hone(), collections.Counter()
    for make in MAKERS:
        if args.only not in (None, make.__name__):
            continue
        for number, (name, program) in enumerate(make()):
            if number % parts != part - 1:
                continue
            name = f"{make.__name__}_{name}"
            text = program if isinstance(program, str) else program.script()
            kind, why = verdict(hone, text, isinstance(program, str))
            if kind != "equal" and name in KNOWN:
                kind = "known"
            tally[kind] += 1
            if kind in GOOD:
                continue
            print(f"{kind}: {name}: {why}")
            if args.out:
                os.makedirs(args.out, exist_ok=True)
                with open(os.path.join(args.out, name + ".py"), "w", encoding="utf-8") as file:
                    file.write(text)
    print(dict(tally))
    return 0 if set(tally) <= GOOD else 1


if __name__ == "__main__":
    sys.exit(main())
