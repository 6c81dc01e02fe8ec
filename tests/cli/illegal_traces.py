#!/usr/bin/env python3
"""Ill-formed and illegal traces: each ends with exit 2 and a message that says where and why.

    illegal_traces.py BUILD_DIR [--every K] [--random N] [--seed S] [--pairs DIR] [--verbose]

Two sorts of traces come out of the legal ones below. Those that are wrong for certain (cut text,
wrong shapes, arity, types, numbers, names, decisions) must end with exit 2. Random changes may leave
a legal trace: exit 0 or 2, and what comes out must be well-formed and compute what it did before.
Neither may crash, trip an assertion or a sanitizer. Every K-th of the first sort is tried. With
--pairs only random changes are tried, N of each trace DIR/*/trace.json of a program before.py beside
it (tests/peer/examine.py --keep makes such).
"""
import argparse
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((12, 8), "float32"), B: T.Buffer((8, 6), "float32"), D: T.Buffer((12, 6), "float32")):
    P = T.sblock_alloc_buffer((14, 8), "float32")
    C = T.sblock_alloc_buffer((12, 6), "float32")
    for i, k in T.grid(14, 8):
        with T.sblock("P"):
            vi, vk = T.axis.remap("SS", [i, k])
            P[vi, vk] = T.if_then_else(1 <= vi and vi < 13, A[vi - 1, vk], T.float32(0))
    for i, j, k in T.grid(12, 6, 8):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + P[vi + 1, vk] * B[vk, vj]
    for i, j in T.grid(12, 6):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
"""

HEAD = [["GetSBlock", [], ["P", "main"], ["b0"]], ["GetSBlock", [], ["C", "main"], ["b1"]],
        ["GetSBlock", [], ["D", "main"], ["b2"]], ["GetLoops", ["b0"], [], ["l3", "l4"]],
        ["GetLoops", ["b1"], [], ["l5", "l6", "l7"]], ["GetLoops", ["b2"], [], ["l8", "l9"]]]
# Legal steps after HEAD, and decisions by the number of the step among them.
LEGAL = [
    ([["Split", ["l5", 3, 4], [1, 0], ["l10", "l11"]], ["Vectorize", ["l11"], [], []]], {}),
    ([["Split", ["l5", "None", 5], [1, 0], ["l10", "l11"]]], {}),
    ([["SamplePerfectTile", ["l5"], [3, 4], ["v10", "v11", "v12"]],
      ["Split", ["l5", "v10", "v11", "v12"], [1, 0], ["l13", "l14", "l15"]],
      ["Reorder", ["l14", "l13", "l6"], [], []]], {0: [2, 3, 2]}),
    ([["SamplePartitionedTile", ["l5"], [3, 1, 2], ["v10", "v11", "v12"]],
      ["Split", ["l5", "v10", "v11", "v12"], [1, 0], ["l13", "l14", "l15"]]], {0: [3, 2, 2]}),
    ([["SampleCategorical", [], [[1, 2, 3], [0.25, 0.25, 0.5]], ["v10"]],
      ["Annotate", ["b1", "v10"], ["note"], []], ["Unannotate", ["b1"], ["note"], []]], {0: 1}),
    ([["SampleComputeLocation", ["b0"], [], ["l10"]], ["ComputeAt", ["b0", "l10"], [1, -1], []]],
     {0: 0}),
    ([["Fuse", ["l5", "l6"], [1], ["l10"]], ["Parallel", ["l10"], [], []]], {}),
    ([["ReverseComputeAt", ["b2", "l6"], [0, -1], []]], {}),
    ([["ComputeInline", ["b0"], [], []], ["Unroll", ["l7"], [], []]], {}),
    ([["CacheRead", ["b1", ["b1"]], [1, "shared"], ["b10"]], ["GetLoops", ["b10"], [], ["l11", "l12"]],
      ["Bind", ["l11"], ["threadIdx.x"], []]], {}),
    ([["CacheWrite", ["b1", []], [0, "local"], ["b10"]],
      ["StorageAlign", ["b1"], [0, 0, 8, 1], []]], {}),
    ([["ReIndex", ["b1"], [0, 0], ["b10"]]], {}),
    ([["SetScope", ["b1"], [0, "shared"], []]], {}),
    ([["ReadAt", ["l5", "b1"], [0, "shared"], ["b10"]]], {}),
    ([["WriteAt", ["l5", "b1"], [0, "shared"], ["b10"]]], {}),
    ([["DecomposeReduction", ["b1", "l7"], [], ["b10"]]], {}),
    ([["Split", ["l7", 2, 4], [1, 0], ["l10", "l11"]], ["RFactor", ["l10"], [0], ["b12"]]], {}),
    ([["LoopPartition", ["l8", 4, "None"], [1], ["l10", "l11"]]], {}),
    ([["ReorderBlockIterVar", ["b1", [1, 0, 2]], [], []]], {}),
    ([["AddUnitLoop", ["b1"], [], ["l10"]]], {}),
    ([["DecomposePadding", ["b0", "l3"], [], ["b10"]]], {}),
    ([["Blockize", ["l6"], [1], ["b10"]], ["GetChildBlocks", ["b10"], [], ["b11"]]], {}),
    ([["GetProducers", ["b1"], [], ["b10"]], ["GetConsumers", ["b1"], [], ["b11"]],
      ["ComputeInline", ["b10"], [], []]], {}),
    ([["UnsafeSetDType", ["b0"], [0, "float16"], []]], {}),
    ([["Annotate", ["l5", {"a": [1, "\"two\""]}], ["note"], []], ["EnterPostproc", [], [], []]], {}),
]
# Steps that may have any number of inputs or outputs.
ANY_INPUTS = {"Reorder", "Fuse", "Merge", "LoopPartition", "GetSBlock"}
# Attributes that older traces do not have, and inputs that may be blocks or loops.
OPTIONAL = {"Split", "Fuse", "LoopPartition", "SamplePerfectTile", "SamplePartitionedTile", "ComputeAt",
            "ReverseComputeAt", "Blockize"}
EITHER = {"AddUnitLoop", "Annotate", "Unannotate", "GetChildBlocks", "Blockize"}
NUMBERS = [-1, 0, 2 ** 31, 2 ** 63 - 1, -2 ** 63, 10 ** 30, 1.5, float("nan"), float("inf")]
OTHERS = [True, None, {}, [], [[]], "\"text\"", "l99", "b1", "l5", "v0", "", "None", {"a": 1},
          "\ud800", "x" * 100000, "\u0000"]


def trace_of(steps, decisions):
    return [HEAD + steps, [[len(HEAD) + n, d] for n, d in decisions.items()]]


def step_texts(trace):
    """Traces without or with too much of something, of a wrong type or number: (what, trace)."""
    steps, _ = trace
    for n in range(len(HEAD), len(steps)):
        kind, inputs, attrs, outputs = steps[n]

        def changed(place, value, n=n):
            new = copy.deepcopy(trace)
            new[0][n][place] = value
            return new

        for place, value in [(0, "Magic"), (0, ""), (0, 7), (0, None), (1, None), (1, {}), (1, "b1"), (2, 3),
                             (3, "b9"), (3, [7]), (3, None)]:
            yield f"{kind}: field {place} is {value!r}", changed(place, value)
        yield f"{kind}: attribute too many", changed(2, attrs + [1])
        yield f"{kind}: output too many", changed(3, outputs + ["l77"])
        yield f"{kind}: output twice", changed(3, outputs + ["b0"])
        if inputs and kind not in ANY_INPUTS | {"CacheRead", "CacheWrite"}:
            yield f"{kind}: input too few", changed(1, inputs[:-1])
        if kind not in ANY_INPUTS:
            yield f"{kind}: input too many", changed(1, inputs + ["l9"])
        if attrs and kind not in OPTIONAL:
            yield f"{kind}: attribute too few", changed(2, attrs[:-1])
        for i, old in enumerate(inputs):
            for value in ["l99", "v0", "", "\ud800", 10 ** 30, "x" * 100000, "\u0000"]:
                if isinstance(old, str) and old[0] in "blv":
                    yield f"{kind}: input {i} is {str(value)[:20]!r}", \
                        changed(1, inputs[:i] + [value] + inputs[i + 1:])
            wrong = "l5" if isinstance(old, str) and old[0] == "b" else "b1"
            if isinstance(old, str) and old[0] in "bl" and kind not in EITHER:
                yield f"{kind}: input {i} is of another kind", \
                    changed(1, inputs[:i] + [wrong] + inputs[i + 1:])
        yield f"{kind}: cut short", [steps[:n] + [steps[n][:3]], []]
        yield f"{kind}: twice the same step", [steps[:n] + [steps[n], steps[n][:1]], []]


def decision_texts(trace):
    """Decisions that do not fit."""
    for n in range(len(HEAD), len(trace[0])):
        if not trace[0][n][0].startswith("Sample"):
            yield "for a step that does not sample", [trace[0], [[n, 1]]]
            continue
        repaired = [99, 2 ** 63 - 1] if trace[0][n][0] == "SampleComputeLocation" else []
        for value in [[0, 1, 12], [-1, -1, 12], [1, 12], [1, 1, 1, 12], "3", 1.5, {}, [[1]], [None], 99, -9,
                      2 ** 63 - 1, 10 ** 30, [1, 1, "x"]]:
            if value in repaired:
                continue
            yield f"decision {value!r}", [trace[0], [[n, value]]]
    for index in [-1, 99, 2 ** 40, 10 ** 30, 1.5, "6", None, [6]]:
        yield f"decision for {index!r}", [trace[0], [[index, 1]]]
    for entry in [[], [6], [6, 1, 1], 6, None, {}]:
        yield f"decision {entry!r}", [trace[0], [entry]]


def factor_texts():
    """Splits and other steps with numbers that do not fit."""
    for factors in [[0, 12], [-3, -4], [3, 3], [2 ** 62, 4], ["None", "None"], [10 ** 30, 1], [2.5, 4],
                    [float("nan"), 4], [2 ** 63 - 1, 2 ** 63 - 1], [2 ** 32, 2 ** 32, 0], [], ["l5", "l6"]]:
        outputs = [f"l{10 + i}" for i in range(len(factors))]
        yield f"split by {factors}", trace_of([["Split", ["l5"] + factors, [1, 0], outputs]], {})
    for factors in [[12, 1], [0, 3], [-4, "None"], [20, "None"], ["None", "None"], [2 ** 62, 2 ** 62]]:
        yield f"partition by {factors}", \
            trace_of([["LoopPartition", ["l8"] + factors, [1], ["l10", "l11"]]], {})
    for n in [-9, 0, 1 << 20, 2 ** 31, 2 ** 63 - 1, -2 ** 63]:
        yield f"tile into {n}", trace_of([["SamplePerfectTile", ["l5"], [n, 4], ["v10"]]], {})
        yield f"index {n}", trace_of([["CacheRead", ["b1", []], [n or 9, "shared"], ["b10"]]], {})
        yield f"axis {n}", trace_of([["RFactor", ["l7"], [n or 9], ["b10"]]], {})
        yield f"align {n}", trace_of([["StorageAlign", ["b1"], [0, n or 9, 8, 1], []]], {})
        yield f"position {n}", trace_of([["ComputeAt", ["b0", "l5"], [0, n or 9], []]], {})
    for order in [[0, 0, 1], [0, 1], [3, 1, 0], [-1, 0, 1], [0, 1, 2, 3], [2 ** 40, 0, 1], [], "b1", [None, 1, 2]]:
        yield f"order {order}", trace_of([["ReorderBlockIterVar", ["b1", order], [], []]], {})
    for probs in [[0.5], [], [-1, 2, 0], [float("nan")] * 3, [0, 0, 0], "x", [None] * 3]:
        yield f"chances {probs}", \
            trace_of([["SampleCategorical", [], [[1, 2, 3], probs], ["v10"]]], {})
    for thread in ["threadIdx.q", "", "blockIdx", "x" * 5000, 3, None]:
        yield f"thread {str(thread)[:20]}", trace_of([["Bind", ["l5"], [thread], []]], {})
    for scope in ["", "nowhere", "wmma", 3, None, "shared.\n"]:
        yield f"scope {scope!r}", trace_of([["CacheRead", ["b1", []], [0, scope], ["b10"]]], {})
    for loops in [["l5", "l5"], ["l6", "l5"], ["l5", "l8"], ["l5", "b1"], ["l5", "l7"]]:
        yield f"fuse {loops}", trace_of([["Fuse", loops, [1], ["l10"]]], {})
    for loops in [["l5", "l5"], ["l5", "l8"], ["l5", "b1"], ["l5", 3]]:
        yield f"reorder {loops}", trace_of([["Reorder", loops, [], []]], {})
    for step in [["Parallel", ["l7"], [], []], ["Vectorize", ["l7"], [], []], ["ComputeInline", ["b1"], [], []],
                 ["ComputeInline", ["b2"], [], []], ["ComputeAt", ["b2", "l5"], [0, -1], []],
                 ["ComputeAt", ["b0", "l3"], [0, -1], []], ["ReverseComputeAt", ["b1", "l8"], [0, -1], []],
                 ["DecomposeReduction", ["b0", "l3"], [], ["b10"]], ["Tensorize", ["l6"], ["nothing", 1], []],
                 ["DecomposePadding", ["b1", "l5"], [], ["b10"]], ["Merge", ["l5"], [], ["l10"]],
                 ["UnsafeSetDType", ["b0"], [0, "float99"], []], ["Blockize", [[]], [1], ["b10"]],
                 ["GetSBlock", [], ["nothing", "main"], ["b10"]], ["GetSBlock", [], ["C", "other"], ["b10"]],
                 ["GetLoops", ["b1"], [], ["l10"]], ["FuseReductionEpilogue", ["b0", "b2"], [], []],
                 ["CacheInplace", ["b1"], [0, "shared"], ["b10"]], ["Unannotate", ["b1"], ["none"], []]]:
        yield f"illegal {step[0]}", trace_of([step], {})


def printed_steps():
    """One wrong step each (illegal_steps.txt), in printed form, behind HEAD."""
    head = "".join(f"{n} = sch.get_sblock(name={b!r}, func_name=\"main\")\n" for n, b in
                   [("b0", "P"), ("b1", "C"), ("b2", "D")])
    head += "".join(f"{', '.join(loops)} = sch.get_loops(block={b})\n" for b, loops in
                    [("b0", ["l3", "l4"]), ("b1", ["l5", "l6", "l7"]), ("b2", ["l8", "l9"])])
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "illegal_steps.txt"),
              encoding="utf-8") as lines:
        for line in lines:
            yield line.strip(), head + line, "py"


def texts():
    """All that is wrong for certain: (what, text, ending)."""
    yield from printed_steps()
    for steps, decisions in LEGAL:
        trace = trace_of(steps, decisions)
        for what, changed in [*step_texts(trace), *decision_texts(trace)]:
            yield what, json.dumps(changed), "json"
    for what, trace in factor_texts():
        yield what, json.dumps(trace), "json"
    whole = json.dumps(trace_of(*LEGAL[2]))
    for n in range(0, len(whole), 9):
        yield f"cut after {n} bytes", whole[:n], "json"
    for n in range(0, len(whole), 37):
        yield f"byte {n} lost", whole[:n] + "\x01" + whole[n + 1:], "json"
    for text in ["", " ", "null", "7", "\"text\"", "{}", "[]", "[[]]", "[[], {}]", "[{}, []]", "[[], [], 3, 4, 5]",
                 "[[[]], []]", "[[7], []]", "[[null], []]", "[" * 100000, "[" * 500 + "]" * 500, "{\"a\":" * 100000,
                 "[[], []", "[[], []]]", "[[], []] x", "\ufeff[[", "[0, [[[], []]", "[0, 1]", "[[], [[6, NaN]]]",
                 "[[[\"Annotate\", [\"b0\", 1], [\"x\"], []]], []]"]:
        yield f"text {text[:30]!r}", text, "json"
    deep = json.dumps(trace_of([["Annotate", ["b1", 0], ["note"], []]], {}))
    for depth in [3000, 200000]:
        yield f"{depth} lists deep", deep.replace("[\"b1\", 0]", "[\"b1\", " + "[" * depth + "]" * depth + "]"), "json"
    for line in ["b0 = sch.get_sblock(name=\"C\"", "b0 = sch.", "sch.split(", "b0, = 3", "b0 = open('x')",
                 "b0 = sch.get_sblock(nam=\"C\")", "b0 = sch.get_sblock(\"C\", \"main\", 3)", "l1 = sch.get_loops(block=b0)",
                 "sch.split(loop=l0, factors=[1e999])", "sch.annotate(b0, \"x\", " + "(" * 5000 + ")", "\u0000", "b0 = b0",
                 "b0 = sch.get_sblock(name=\"C\", name=\"C\")", "l1, l2, l3 = sch.get_loops(block=7)",
                 "for i in range(3): pass", "b0 = sch.get_sblock(name=\"C\\", "b0 = sch.get_sblock(name='C\nsch.bind(1)",
                 "v0 = sch.sample_categorical(candidates=[1, 2], probs=[nan, 0.5])",
                 "v0 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=7)",
                 "v0 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=-1)",
                 "v0 = sch.sample_categorical([1, " + "9" * 400 + "], [0.5, 0.5])", "[" * 50000]:
        yield f"line {line[:30]!r}", line, "py"


def random_change(rng, trace):
    """One to three places of the trace replaced, dropped, doubled or swapped."""
    trace = copy.deepcopy(trace)
    for _ in range(rng.randint(1, 3)):
        place = trace
        while True:
            if not place:
                break
            n = rng.randrange(len(place))
            if isinstance(place[n], list) and rng.random() < 0.8:
                place = place[n]
                continue
            form = rng.randrange(6)
            if form == 0:
                del place[n]
            elif form == 1:
                place.insert(n, copy.deepcopy(place[n]))
            elif form == 2 and len(place) > 1:
                m = rng.randrange(len(place))
                place[n], place[m] = place[m], place[n]
            elif form == 3 and isinstance(place[n], int):
                place[n] += rng.choice([-1, 1, 2, 100])
            elif form == 4:
                place[n] = rng.choice(NUMBERS)
            else:
                place[n] = rng.choice(OTHERS + ["b0", "b2", "l6", "l7", "l3", 1, 2, 4])
            break
    return trace


class Tester:
    def __init__(self, build, folder):
        self.hone = os.path.join(build, "hone")
        self.folder, self.failures = folder, 0
        self.messages = {}
        self.program(PROGRAM)

    def program(self, text):
        """Goes on with this program; its results are what others have to compute."""
        with open(self.path("before.py"), "w", encoding="utf-8") as file:
            file.write(text)
        shutil.rmtree(self.path("before"), ignore_errors=True)
        self.run("run", "before.py", "--interpret", "-q", "--out-dir", "before")
        results = os.path.join(self.folder, "before")
        self.results = [os.path.join("before", name) for name in sorted(os.listdir(results))] \
            if os.path.isdir(results) else []

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words):
        return subprocess.run([self.hone, *words], capture_output=True, timeout=300, check=False,
                              cwd=self.folder)

    def fail(self, what, why, text):
        self.failures += 1
        print(f"FAIL  {what}: {why}\n      {text[:300]!r}", flush=True)

    def schedule(self, text, ending):
        with open(self.path("trace." + ending), "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        return self.run("schedule", "before.py", "--trace", "trace." + ending, "-o", "after.py")

    def refused(self, done, what, text):
        """Exit 2 with a message that tells the place and a reason."""
        error = done.stderr.decode("utf-8", "replace")
        line = error.split("\n", 1)[0]
        self.messages[what] = line
        if done.returncode != 2:
            self.fail(what, f"exit {done.returncode}: {line}", text)
        elif not re.match(r"hone: (before|trace)\.(py|json):.* \S+", line):
            self.fail(what, f"says neither place nor reason: {line}", text)
        elif "ERROR: " in error or "runtime error" in error or "leaked" in error:
            self.fail(what, error, text)

    def wrong(self, what, text, ending):
        self.refused(self.schedule(text, ending), what, text)

    def maybe(self, what, text):
        """Refused, or legal after all."""
        done = self.schedule(text, "json")
        if done.returncode:
            self.refused(done, what, text)
            return False
        if "UnsafeSetDType" in text or "UnsafeHide" in text:
            return True
        if self.run("verify", "after.py").returncode:
            self.fail(what, "makes an ill-formed program", text)
        elif self.results and self.run("run", "after.py", "--interpret", "-q", *(
                word for name in self.results for word in ("--expect", name))).returncode:
            self.fail(what, "other results", text)
        return True


def change_pairs(tester, options):
    """Random changes of the traces of a folder, of each its own."""
    legal = count = 0
    for name in sorted(os.listdir(options.pairs)):
        place = os.path.join(options.pairs, name)
        with open(os.path.join(place, "before.py"), encoding="utf-8") as file:
            tester.program(file.read())
        with open(os.path.join(place, "trace.json"), encoding="utf-8") as file:
            trace = json.load(file)
        rng = random.Random(f"{options.seed} {name}")
        for n in range(options.random):
            legal += tester.maybe(f"{name} random {n}", json.dumps(random_change(rng, trace)))
            count += 1
    print(f"{count} traces changed at random of which {legal} are legal: {tester.failures} failures")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--pairs", default=None)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("HONE_FIRST_SEED", 1)))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-illegal-") as folder:
        tester = Tester(os.path.abspath(options.build), folder)
        if options.pairs:
            change_pairs(tester, options)
            sys.exit(1 if tester.failures else 0)
        for n, (steps, decisions) in enumerate(LEGAL):
            text = json.dumps(trace_of(steps, decisions))
            done = tester.schedule(text, "json")
            if done.returncode:
                tester.fail(f"legal trace {n}", done.stderr.decode().split("\n", 1)[0], text)
        certain = list(texts())[::options.every]
        for what, text, ending in certain:
            tester.wrong(what, text, ending)
        rng = random.Random(options.seed)
        legal = 0
        for n in range(options.random):
            trace = random_change(rng, trace_of(*rng.choice(LEGAL)))
            legal += tester.maybe(f"random {n}", json.dumps(trace))
        if options.verbose:
            for what, message in tester.messages.items():
                print(f"{what}: {message[:200]}")
        print(f"{len(certain)} wrong traces, {options.random} changed at random of which {legal} are "
              f"legal: {tester.failures} failures, seed {options.seed}")
        sys.exit(1 if tester.failures else 0)


if __name__ == "__main__":
    main()
