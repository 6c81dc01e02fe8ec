"""Programs for GPUs as TVM schedules and lowers them, in Hone's interpreter.

    python threads.py [--workloads SFM,NRM] [--out DIR]

Reductions over threads (one result and two, several shapes of blocks, targets with and without
shuffles) and MetaSchedule's design spaces for cuda: the scheduled program, what
LowerCrossThreadReduction makes of it (tvm_thread_allreduce), and what ThreadSync and
LowerThreadAllreduce make of that (syncs, shuffles) must run with --check and give what the program
before gives. Exit code 1: one does not; its text is left in DIR.
"""
import argparse
import os
import re
import sys

import numpy
import tvm
from tvm import s_tir, te, tirx, topi

import compare
import sketches
from hone_cli import Hone

CUDA = {"kind": "cuda", "arch": "sm_80", "max_threads_per_block": 1024, "thread_warp_size": 32,
        "max_shared_memory_per_block": 49152}
OPENCL = {"kind": "opencl", "max_threads_per_block": 1024, "thread_warp_size": 1}
REDUCTIONS = {"sum": topi.sum, "max": topi.max, "argmax": topi.argmax, "argmin": topi.argmin}


def stages(mod, target):
    """(name, program) after each group of TVM's passes."""
    low = s_tir.transform
    mod = tirx.transform.BindTarget(tvm.target.Target(target))(mod)
    groups = {
        "cross thread": [low.CanonicalizeLoop(), low.LowerCrossThreadReduction()],
        "lowered": [low.LowerInitBlock(), low.PlanAndUpdateBufferAllocationLocation(),
                    low.ConvertBlocksToOpaque(), low.LiftThreadBinding(), low.LowerAutoCopy(),
                    low.UnifyThreadBinding(), low.CompactBufferAllocation(), low.LowerMatchBuffer(),
                    low.LowerOpaqueBlock(), tirx.transform.FlattenBuffer(), low.StmtSimplify(),
                    tirx.transform.VectorizeLoop(), low.InjectVirtualThread(),
                    low.ThreadSync("shared"), low.ThreadSync("shared.dyn"),
                    low.LowerThreadAllreduce()],
    }
    for name, passes in groups.items():
        for each in passes:
            mod = each(mod)
        yield name, mod


def text_of(mod):
    func = compare.only_func(mod)
    if "target" in func.attrs:
        func = func.without_attr("target")
    return tvm.IRModule({"main": func.with_attr("global_symbol", "main")}).script()


def without_pragmas(mod):
    """TVM prints an unroll pragma on a launch in a way that loses the thread."""
    text = re.sub(r'"pragma_[a-z_]*": \d+(, )?', "", mod.script())
    return compare.parse(text.replace("T.sblock_attr({})", "pass"))


class Checker:
    def __init__(self, out):
        self.hone, self.out, self.count, self.bad = Hone(), out, 0, 0

    def run(self, text, arrays):
        """Lowered programs no longer say what they only write: then they take every array."""
        for count in range(1, len(arrays) + 1):
            results = self.hone.interpret(text, arrays[:count], check=True)
            if isinstance(results, dict) or "it takes" not in results.err:
                return results
        return results

    def check(self, name, before, after, target):
        arrays = compare.inputs(before)
        want = self.run(before.script(), arrays)
        programs = [("scheduled", after)] + list(stages(without_pragmas(after), target))
        for stage, mod in programs:
            self.count += 1
            got = self.run(text_of(mod), arrays)
            if not isinstance(got, dict):
                self.fail(name, stage, mod, got.message)
            elif not compare.close(want, {k: v for k, v in got.items() if k in want}):
                self.fail(name, stage, mod, "other values")

    def fail(self, name, stage, mod, why):
        self.bad += 1
        print(f"FAIL {name}, {stage}: {why}")
        os.makedirs(self.out, exist_ok=True)
        path = os.path.join(self.out, f"{name}-{stage}.py".replace(" ", "_"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text_of(mod))


def reduction(checker, kind, threads, rows, target):
    """Rows of 64 over so many threads along x, with so many rows along y."""
    x = te.placeholder((8, 64), name="A")
    before = tvm.IRModule({"main": te.create_prim_func([x, REDUCTIONS[kind](x, 1)])})
    sch = s_tir.Schedule(before)
    has_place = kind.startswith("arg")
    block = sch.get_sblock("A_red_temp" if has_place else "A_red")
    i, k = sch.get_loops(block)
    if rows > 1:
        i, y = sch.split(i, [None, rows])
        sch.bind(y, "threadIdx.y")
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(k, [None, threads])[1], "threadIdx.x")
    if has_place:
        sch.bind(sch.get_loops(sch.get_sblock("A_red"))[0], "threadIdx.x")
    checker.check(f"{kind} {rows}x{threads} {target['kind']}", before, sch.mod, target)


def design_space(checker, name):
    before = sketches.WORKLOADS[name]()
    context, found = sketches.space(before, sketches.TARGETS["cuda"])
    for number, sketch in enumerate(found):
        done = sketches.after_postprocs(context, sketch)
        if done is not None:
            checker.check(f"{name} {number}", before, done.mod, sketches.TARGETS["cuda"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", default=",".join(sketches.WORKLOADS))
    parser.add_argument("--out", default="build/check_peer/threads")
    options = parser.parse_args()
    numpy.seterr(all="ignore")
    checker = Checker(options.out)
    for kind in REDUCTIONS:
        for target in (CUDA, OPENCL):
            for threads, rows in ((8, 1), (32, 1), (64, 1), (16, 4), (20, 1), (8, 8)):
                reduction(checker, kind, threads, rows, target)
    for name in options.workloads.split(","):
        design_space(checker, name)
    print(f"{checker.count} programs, {checker.bad} are not right")
    sys.exit(1 if checker.bad else 0)


if __name__ == "__main__":
    main()
