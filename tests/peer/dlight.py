"""The schedules of TVM's dlight rules, which make a GPU or CPU kernel without search, beside Hone.

    python dlight.py [--zoo models|all] [--only NAME,…] [--targets cuda,metal,adreno,llvm] [--rules …]
                     [--partial] [--no-numbers] [--out DIR]

Each rule is asked for each program (zoo_models.py; zoo.py and zoo_layers.py too with --zoo all).
What it did goes to `hone schedule` as JSON or printed, in turns, and is compared as in schedules.py.
--partial: also what a rule did before it gave up. Exit code 1 as in schedules.py.
"""
import argparse
import collections
import sys

import quick_tvm  # pylint: disable=unused-import  # before the next
import tvm
import tvm.s_tir.tensor_intrin.cuda  # pylint: disable=unused-import  # registers them
import tvm.s_tir.tensor_intrin.metal  # pylint: disable=unused-import
from tvm import s_tir
from tvm.s_tir.dlight import adreno, cpu, gpu
from tvm.s_tir.dlight.gpu import matmul

import compare
import sketches
from hone_cli import Hone
from schedules import Case, Tally
from zoo_models import MODELS

SIZES = {"n": 5, "m": 7}  # of what is known at run time only
TARGETS = {
    "cuda": sketches.TARGETS["tensorcore"],
    "metal": {"kind": "metal", "max_threads_per_block": 1024,
              "max_shared_memory_per_block": 32768, "thread_warp_size": 32},
    "adreno": {"kind": "opencl", "device": "adreno"},
    "llvm": {"kind": "llvm"},
}
RULES = {
    "Matmul": gpu.Matmul, "GEMV": gpu.GEMV, "LowBatchGEMV": lambda: gpu.LowBatchGEMV(4),
    "Reduction": gpu.Reduction, "GeneralReduction": gpu.GeneralReduction, "RMSNorm": gpu.RMSNorm,
    "Transpose": gpu.Transpose, "Fallback": gpu.Fallback,
    "Tensorization": matmul.MatmulTensorization, "Int8": matmul.MatmulInt8Tensorization,
    "MetalMatmul": matmul.MetalMatmul, "Conv2d": adreno.Conv2d, "Pool2D": adreno.Pool2D,
    "LayoutTransform": lambda: adreno.LayoutTransform(False), "AdrenoFallback": adreno.Fallback,
    "CpuGEMV": cpu.GEMV, "CpuReduction": cpu.Reduction,
}
ALL_GPUS = ["Matmul", "GEMV", "LowBatchGEMV", "Reduction", "GeneralReduction", "Fallback"]
RULES_OF = {
    "cuda": ALL_GPUS + ["RMSNorm", "Transpose", "Tensorization", "Int8"],
    "metal": ALL_GPUS + ["MetalMatmul"],
    "adreno": ALL_GPUS + ["Conv2d", "Pool2D", "LayoutTransform", "AdrenoFallback"],
    "llvm": ["CpuGEMV", "CpuReduction"],
}


class Watched:
    """Notes the schedules that are made inside, for what a rule leaves behind that gives up."""

    def __enter__(self):
        self.made, self.init = [], s_tir.Schedule.__init__

        def init(schedule, *args, **kwargs):
            self.init(schedule, *args, **kwargs)
            self.made.append(schedule)

        s_tir.Schedule.__init__ = init
        return self.made

    def __exit__(self, *_):
        s_tir.Schedule.__init__ = self.init


class Player:
    """What Case wants of a player."""

    def __init__(self, mod, sch):
        self.mod, self.sch = mod, sch

    @property
    def after(self):
        return sketches.Prefixes(self.mod, self.sch.trace)


class DlightCase(Case):
    """As its base; numbers may be left out."""

    has_numbers = True

    def wrong(self, out):
        return super().wrong(out) if self.has_numbers else None


def schedule_of(mod, target, rule, partial):
    """What the rule makes of the program; or with partial, the longest of what it began; or None."""
    with tvm.target.Target(TARGETS[target]) as at, Watched() as made:
        try:
            got = RULES[rule]().apply(compare.only_func(mod), at, False)
        except Exception:  # pylint: disable=broad-except
            got = None  # a program that the rule does not foresee
    if got is None and partial:
        got = max(made, key=lambda s: len(s.trace.insts), default=None)
    return got[0] if isinstance(got, list) else got


def play(hone, tally, name, mod, options):
    """All rules on one program; rules that do the same count once."""
    known = set()
    for target in options.targets.split(","):
        for rule in RULES_OF[target]:
            if options.rules and rule not in options.rules.split(","):
                continue
            sch = schedule_of(mod, target, rule, options.partial)
            if sch is None or str(sch.trace) in known:
                continue
            known.add(str(sch.trace))
            case = DlightCase(hone, tally, f"{name}/{target}/{rule}", mod, Player(mod, sch), SIZES)
            case.has_numbers = not options.no_numbers
            before = collections.Counter(tally.cases)
            case.accepted(["json", "python"][len(known) % 2], False)
            ended = "".join((tally.cases - before).keys())
            print(f"{case.name}: {len(sch.trace.insts)} steps, {ended}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zoo", choices=["models", "all"], default="models")
    parser.add_argument("--only", default="")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--rules", default="")
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("--no-numbers", action="store_true")
    parser.add_argument("--out", default="build/check_peer/dlight")
    options = parser.parse_args()
    programs = dict(MODELS)
    if options.zoo == "all":
        import zoo  # pylint: disable=import-outside-toplevel
        import zoo_layers  # pylint: disable=import-outside-toplevel,unused-import
        programs.update(zoo.ZOO)
    hone, tally = Hone(), Tally(options.out)
    for name in options.only.split(",") if options.only else programs:
        try:
            mod = compare.parse(programs[name]().script())  # with the names that Hone reads
        except Exception as error:  # pylint: disable=broad-except
            tally.programs["TVM does not make it: " + str(error).strip().splitlines()[-1][:80]] += 1
            continue
        play(hone, tally, name, mod, options)
    tally.report()
    sys.exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
