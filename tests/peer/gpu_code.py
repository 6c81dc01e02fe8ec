"""GPU schedules of TVM's (MetaSchedule's design spaces, dlight's rules), replayed by Hone and made
into code: PTX that ptxas takes where it is in PATH, OpenCL C that runs where a device is; both
programs, before and after, give the same values.

    python gpu_code.py [--from spaces,dlight] [--only NAME,…] [--samples N] [--keep DIR] [--out DIR]
    python gpu_code.py --replay DIR          what --keep wrote earlier; TVM is not needed for it

A line for each: what became of it. Exit code 1: a step is refused that TVM took, a target refuses
what is within its limits, ptxas or the device does, or values differ.
"""
import argparse
import collections
import importlib
import os
import random
import re
import shutil
import subprocess
import sys

import numpy

from hone_cli import FIRST_SEED, Hone, tensor_in

ARCHES = ("sm_75", "sm_80", "sm_90a")
SIZES = {"n": 5, "m": 7}  # of what is known at run time only
# What a device lacks is no fault of a schedule's: instructions, room.
LACKS = re.compile(r"needs sm_|threads of a block, of which|bytes of shared memory|has no |PTX from sm_|"
                   r"is not of sm_|does not have|holds at most|of scope '(wmma|m16n8k8|wgmma)|"
                   r"'metal\.\w+' in OpenCL C|"  # what only Apple's GPUs have
                   r"there is no code for '.*' in a kernel")  # a function of the host's (a sort)


class Cases:
    """Programs and traces, each once."""

    def __init__(self, keep):
        self.known, self.all, self.keep = set(), [], keep

    def add(self, name, before, trace):
        if (before, trace) in self.known:
            return
        self.known.add((before, trace))
        self.all.append((name, before, trace))
        if self.keep:
            folder = os.path.join(self.keep, f"{len(self.all):04}-" + name.replace("/", "-"))
            os.makedirs(folder, exist_ok=True)
            for file, text in {"before.py": before, "trace.json": trace}.items():
                with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                    out.write(text)


def recorded(folder):
    cases = Cases(None)
    names = sorted(os.listdir(folder))
    random.Random(FIRST_SEED).shuffle(names)  # so that the first ones are of all sorts
    for name in names:
        texts = []
        for file in ("before.py", "trace.json"):
            with open(os.path.join(folder, name, file), encoding="utf-8") as source:
                texts.append(source.read())
        cases.add(name, *texts)
    return cases


def from_spaces(cases, options):
    """Sketches of MetaSchedule's with decisions at random, behind its postprocessors."""
    import sketches  # pylint: disable=import-outside-toplevel
    import gpu_workloads  # pylint: disable=import-outside-toplevel
    from schedules import trace_text  # pylint: disable=import-outside-toplevel
    from tvm import s_tir  # pylint: disable=import-outside-toplevel
    for name, make in {**sketches.WORKLOADS, **gpu_workloads.WORKLOADS}.items():
        if options.only and name not in options.only:
            continue
        for target in ("cuda", "tensorcore"):
            mod = make()
            context, found = sketches.space(mod, sketches.TARGETS[target])
            for number, sketch in enumerate(found):
                made = 0
                for seed in range(FIRST_SEED, FIRST_SEED + 12 * options.samples):
                    if made == options.samples:
                        break
                    fresh = s_tir.schedule.Trace(sketch.trace.insts, {})
                    try:
                        replayed = sketches.Replayed(mod, fresh, seed)
                    except Exception:  # pylint: disable=broad-except
                        continue  # an unlucky draw
                    done = sketches.after_postprocs(context, replayed.sch)
                    if done is None:
                        continue
                    made += 1
                    cases.add(f"{name}/{target}/{number}", mod.script(),
                              trace_text(done.trace, "json", mod))
            print(f"recorded {name} {target}: {len(cases.all)}", file=sys.stderr, flush=True)


def from_dlight(cases, options):
    import compare  # pylint: disable=import-outside-toplevel
    import dlight  # pylint: disable=import-outside-toplevel
    import gpu_workloads  # pylint: disable=import-outside-toplevel
    import zoo  # pylint: disable=import-outside-toplevel
    from schedules import trace_text  # pylint: disable=import-outside-toplevel
    from zoo_models import MODELS  # pylint: disable=import-outside-toplevel
    importlib.import_module("zoo_layers")  # adds to the zoo
    for name, make in {**MODELS, **zoo.ZOO, **gpu_workloads.WORKLOADS}.items():
        if options.only and name not in options.only:
            continue
        try:
            mod = compare.parse(make().script())
        except Exception:  # pylint: disable=broad-except
            continue  # TVM does not make it
        for rule in dlight.RULES_OF["cuda"]:
            sch = dlight.schedule_of(mod, "cuda", rule, False)
            if sch is not None:
                cases.add(f"{name}/{rule}", mod.script(), trace_text(sch.trace, "json", mod))
    print(f"recorded dlight: {len(cases.all)}", file=sys.stderr, flush=True)


class Trial:
    """One case on its way."""

    def __init__(self, hone, before, trace, has_device):
        self.hone, self.before, self.has_device = hone, before, has_device
        self.trace = trace

    def go(self):
        """A word for each part of the way; a word that begins with ! is a failure."""
        run = self.hone.schedule(self.before, self.trace)
        if not run:
            return [("schedule", "!" + run.message)]
        program, words = run.out, [("schedule", "ok")]
        for arch in ARCHES:
            words.append((arch, self.ptx(program, arch)))
        want = self.hone.interpret(self.before, sizes=SIZES)
        if not isinstance(want, dict):
            return words + [("values", "the interpreter does not run it")]
        got = self.hone.interpret(program, sizes=SIZES, check=True)
        words.append(("values", self.compared(want, got)))
        words.append(("lowered", self.lowered(program, want)))
        if self.has_device:
            words.append(("opencl", self.device(program, want)))
        return words

    @staticmethod
    def compared(want, got):
        if not isinstance(got, dict):
            return "!" + (got.message or got.err[-200:] or got.out[-200:])
        for name, a in want.items():
            b = got[name]
            scale = max(1.0, float(numpy.max(numpy.abs(numpy.nan_to_num(a.astype("f8"))), initial=0)))
            rough = 2e-2 if a.dtype.itemsize == 2 and a.dtype.kind == "f" else 2e-4
            if not numpy.allclose(a.astype("f8"), b.astype("f8"), rtol=rough, atol=rough * scale,
                                  equal_nan=True):
                return f"!'{name}' differs"
        return "ok"

    def ptx(self, program, arch):
        path = self.hone.path("made")
        run = self.hone.run("compile", self.hone.write("program.py", program), "--target",
                            f"cuda -arch={arch}", "--emit", "ptx", "-q", "-o", path)
        if not run:
            word = run.err.strip().split("\n")[0]
            return ("lacks: " if LACKS.search(word) else "!") + word
        if not shutil.which("ptxas"):
            return "made"
        done = subprocess.run(["ptxas", f"-arch={arch}", path + ".ptx", "-o", "/dev/null"],
                              capture_output=True, text=True, check=False)
        return "ok" if done.returncode == 0 else "!ptxas: " + done.stderr.strip()[:300]

    def lowered(self, program, want):
        """The loops that code is made of, interpreted, too."""
        run = self.hone.run("lower", self.hone.write("program.py", program), "--target",
                            "cuda -arch=sm_80")
        if not run:
            word = run.err.strip().split("\n")[0]
            return ("lacks: " if LACKS.search(word) else "!") + word
        if re.search(r'T\.Buffer\([^)]*\)?\)?, "u?int(32|64)"', self.before):
            return "has inputs that suit it alone"
        # lanes that store a tile together are no race, which a program by itself does not say
        check = "tvm_store_matrix_sync" not in run.out
        return self.compared(want, self.hone.interpret(run.out, sizes=SIZES, check=check))

    def device(self, program, want):
        folder = self.hone.path("got")
        shutil.rmtree(folder, ignore_errors=True)
        words = []
        for name, size in SIZES.items():
            if re.search(rf'\b{name}(: | = )T\.int(32|64)\b|"{name}"', program):
                words += ["--shape", f"{name}={size}"]
        run = self.hone.run("run", self.hone.write("program.py", program), "--target", "opencl",
                            "-q", "--out-dir", folder, *words)
        if not run:
            word = run.err.strip().split("\n")[0]
            lacks = "half" in word or "float16" in word or "fp16" in word or LACKS.search(word)
            return ("lacks: " if lacks else "!") + word
        return self.compared(want, {os.path.splitext(n)[0]: tensor_in(os.path.join(folder, n))
                                    for n in os.listdir(folder)})


def try_all(cases, has_device):
    hone, counts, bad = Hone(), collections.defaultdict(collections.Counter), 0
    for name, before, trace in cases.all:
        try:
            words = Trial(hone, before, trace, has_device).go()
        except subprocess.TimeoutExpired as error:
            words = [("time", "!" + str(error.cmd[1:3]))]
        failed = [f"{part}: {word[1:]}" for part, word in words if word[0] == "!"]
        bad += bool(failed)
        for part, word in words:
            counts[part][word.split(":")[0] if word[0] != "!" else "FAILED"] += 1
        shown = "; ".join(failed) or ", ".join(f"{p} {w.split(':')[0]}" for p, w in words)
        print(f"{name}: {'FAILED ' if failed else ''}{shown}", flush=True)
    print(f"\n{len(cases.all)} schedules, {bad} failed")
    for part, words in counts.items():
        print(f"  {part}: " + ", ".join(f"{n} {w}" for w, n in words.most_common()))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="sources", default="spaces,dlight")
    parser.add_argument("--only", type=lambda text: set(text.split(",")), default=None)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--keep", default=None)
    parser.add_argument("--replay", default=None)
    parser.add_argument("--record-only", action="store_true")
    parser.add_argument("--out", default=None, help="taken for other scripts' sake")
    options = parser.parse_args()
    if options.replay:
        cases = recorded(options.replay)
    else:
        cases = Cases(options.keep)
        if "spaces" in options.sources:
            from_spaces(cases, options)
        if "dlight" in options.sources:
            from_dlight(cases, options)
    if options.record_only:
        return
    has_device = bool(Hone().run("target", "opencl"))
    sys.exit(1 if try_all(cases, has_device) else 0)


if __name__ == "__main__":
    main()
