"""Random ONNX models in Hone and in onnxruntime, element by element.

    python onnx_random.py [--count N] [--graphs N] [--seed S] [--part I/N] [--only OP] [--ways WAYS]
                          [--edges] [--inside] [--minutes M] [--out DIR] [--verbose]

Single operators (onnx_operators.py) with attributes, types, ranks, broadcasting, versions and edge
values at random (--edges: nothing but edges, empty tensors often; bfloat16 by onnx_short.py), of
every operator that Hone reads: it is asked which those are, and one that is not drawn here is a
failure. And graphs of 3 to 20 nodes (onnx_graphs.py). Each is run interpreted and, in turn, under
default schedules, as it is (plain) or in C (onnx_ways.py); what onnxruntime says (onnx_peer.py) is
right, within the bounds of onnx_bounds.py, but for the reasons of onnx_reasons.py.
What Hone refuses must be refused for a reason that stands there as well. Exit code 1: anything
else; the model and its inputs are left in DIR.
"""
import argparse
import collections
import os
import re
import sys
import time

import numpy
import onnx
from onnx import defs, helper

import onnx_bounds
import onnx_graphs
import onnx_microsoft
import onnx_microsoft_contrib
import onnx_microsoft_fused
import onnx_microsoft_newer
import onnx_microsoft_quantised
import onnx_microsoft_rare
import onnx_narrow
import onnx_neural
import onnx_operators_fit
import onnx_reasons
import onnx_ways
from onnx_draw import FLAVOURS, NEWEST_OPSET, OLDEST_OPSET, Case, model_of
from onnx_peer import expected
from onnx_short import can_be_short, make_short, nodes_of

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hone_cli import FIRST_SEED, Hone  # noqa: E402

TABLE = {**onnx_graphs.TABLE, **onnx_neural.TABLE, **onnx_operators_fit.TABLE, **onnx_narrow.TABLE}
OF_MICROSOFT = {f"{onnx_microsoft.DOMAIN}.{op}": generate
                for op, generate in {**onnx_microsoft.TABLE, **onnx_microsoft_fused.TABLE,
                                     **onnx_microsoft_quantised.TABLE,
                                     **onnx_microsoft_contrib.TABLE,
                                     **onnx_microsoft_newer.TABLE,
                                     **onnx_microsoft_rare.TABLE}.items()}
AT_RANDOM = {"RandomUniform", "RandomNormal", "RandomUniformLike", "RandomNormalLike",
             "Bernoulli", "Multinomial"}  # of generators of their own
HANDMADE = {"If", "Loop", "Scan", "SequenceEmpty", "SequenceConstruct", "SequenceAt",
            "SequenceInsert", "SequenceErase", "SequenceLength", "SequenceMap",
            "ConcatFromSequence", "SplitToSequence", "Optional", "OptionalHasElement",
            "OptionalGetElement", "BitCast", "CausalConvWithState", "LinearAttention",
            "SwiGLU", "StringConcat", "StringNormalizer", "StringSplit",
            "RegexFullMatch"}  # onnx_control.py, or the ONNX project's cases
EDGY = ("edges", "edges", "wide")
BATCH = 24  # models that are run as one
OF_CASE = re.compile(r"'c(\d+)_")
TURNS = ("default", "plain", "default", "c")  # of compiled code, which takes most of the time, batch by batch
TOLD_S = 60  # how often it is told how far a run is


# ---- what there is to draw ----

def operators_of(hone):
    """What Hone reads: all operators of the standard but those that it says are not implemented."""
    known = {s.name for s in defs.get_all_schemas() if s.domain == ""}
    path = hone.path("operators.onnx")
    while True:
        nodes = [helper.make_node(name, [], ["y"]) for name in sorted(known)]
        graph = helper.make_graph(nodes, "operators", [], [])
        onnx.save(helper.make_model(graph), path)
        found = re.search(r"missing for this model: (.*)", hone.run("print", path).err)
        if not found:
            return known
        known -= set(re.findall(r"(\w+) \(node", found.group(1)))


def versions_of(op):
    """(schema, operator sets that have it) of each version."""
    history = sorted((s for s in defs.get_all_schemas_with_history()
                      if s.domain == "" and s.name == op),
                     key=lambda s: s.since_version)
    ends = [s.since_version - 1 for s in history[1:]] + [NEWEST_OPSET]
    for schema, end in zip(history, ends):
        low, high = max(schema.since_version, OLDEST_OPSET), min(end, NEWEST_OPSET)
        if low <= high and not schema.deprecated:
            yield schema, low, high


def is_meant(op, only):
    """Named by itself, or with its domain."""
    return not only or only in (op, op.rsplit(".", 1)[-1])


class Drawer:
    """Cases by seed; those of a seed are the same in every run."""

    def __init__(self, operators, only=None, is_edgy=False):
        self.is_edgy = is_edgy
        self.operators = sorted(op for op in operators if is_meant(op, only))
        self.versions = {op: list(versions_of(op)) for op in self.operators}
        self.operators += [op for op in OF_MICROSOFT if is_meant(op, only)]
        if not self.operators:
            sys.exit(f"--only {only}: no operator of that name is drawn here")

    def operator(self, seed):
        case = Case(seed, f"c{seed}_")
        if self.is_edgy:
            case.draw.edges, case.draw.nothing = case.draw.one_of((0.3, 0.9)), 0.06
        case.op = self.operators[seed % len(self.operators)]
        generate = OF_MICROSOFT.get(case.op) or TABLE[case.op]
        if case.op in OF_MICROSOFT:
            case.domain, case.op = case.op.rsplit(".", 1)
            case.opset = case.draw.between(17, 22)
        else:
            case.schema, low, high = case.draw.one_of(self.versions[case.op])
            case.opset = case.draw.between(low, high)
        flavours = EDGY if self.is_edgy else FLAVOURS
        case.flavour = case.draw.one_of(flavours) if not case.domain else flavours[-1] if self.is_edgy else "plain"
        generate(case)
        if case.flavour == "plain" and case.draw.chance(0.1) and can_be_short(case):
            make_short(case)
        if case.draw.chance(0.12):
            case.make_symbolic()
        return case


# ---- comparing ----

class Report:
    """Counts, and what is wrong."""

    def __init__(self, out, is_verbose):
        self.out, self.is_verbose = out, is_verbose
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.of_operator = collections.defaultdict(collections.Counter)
        self.wrong = 0

    def count(self, case, verdict, reason=None):
        self.counts[verdict] += 1
        self.of_operator[case.op or "graph"][verdict] += 1
        if reason:
            self.reasons[verdict, reason] += 1

    def keep(self, case, text):
        """The model and its inputs, to be looked at."""
        self.wrong += 1
        folder = os.path.join(self.out, case.prefix.rstrip("_"))
        os.makedirs(folder, exist_ok=True)
        model = model_of([case], nodes_of=lambda c: nodes_of(c, is_peer=False))
        onnx.save(model, os.path.join(folder, "model.onnx"))
        for name, array in case.feeds().items():
            numpy.save(os.path.join(folder, name.replace("/", "%2F") + ".npy"), array)
        print(f"seed {case.seed} ({case.op or 'graph'}, opset {case.opset}): {text}", flush=True)

    def print(self, title):
        print(f"{title}: " + ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items())))
        for (verdict, reason), n in sorted(self.reasons.items(), key=lambda x: (x[0][0], -x[1])):
            print(f"  {verdict}: {n} x {reason}")
        if self.is_verbose:
            for op, counts in sorted(self.of_operator.items()):
                print(f"  {op}: " + ", ".join(f"{n} {w}" for w, n in sorted(counts.items())))


def refusal(done):
    """(is it as it should be, in words)"""
    if done is None:
        return False, "hangs"
    if not done.refused:
        return False, f"exit code {done.code}: {done.message}"
    reason = onnx_reasons.refusal(done.message)
    return reason is not None, reason or f"refused: {done.message}"


def compare(case, number, got, want, moves):
    """(is it right or known, a reason)"""
    if got.dtype != want.dtype or got.shape != want.shape:
        reason = onnx_reasons.shape_difference(case)
        words = f"{got.dtype}{list(got.shape)} where {want.dtype}{list(want.shape)} is right"
        return reason is not None, reason or words
    good = onnx_bounds.good_places(case, number, got, want, moves)
    if good.all():
        return True, None
    reason = onnx_reasons.difference(case, number, got, want, good, moves)
    return reason is not None, reason or onnx_bounds.words(number, got, want, good)


def judge(case, want, got):
    """(verdict, words) of one way; got: numbers by output, or a Run that failed."""
    if not isinstance(got, dict):
        is_known, words = refusal(got)
        if not is_known and isinstance(want, str) and got is not None and got.refused:
            return "refused by both", None
        return ("refused by Hone" if is_known else "WRONG"), words
    if isinstance(want, str):
        return "refused by onnxruntime", onnx_reasons.of_onnxruntime(want)
    moves = onnx_bounds.Moves(case, want)
    known = set()
    for number, (name, right) in enumerate(zip(case.outputs, want)):
        is_known, words = compare(case, number, got[name], right, moves)
        if not is_known:
            return "WRONG", words
        known.add(words)
    known.discard(None)
    return ("explained", min(known)) if known else ("agreed", None)


ORDER = ("WRONG", "explained", "refused by Hone", "refused by both", "refused by onnxruntime",
         "agreed")


def seed_in(message):
    """Of the case that a message names."""
    found = OF_CASE.search(message)
    return int(found.group(1)) if found else None


def examine(cases, hone, ways, report):
    wants = {case.seed: expected(case) for case in cases}
    runs = {}
    for name in ways:
        runs[name] = onnx_ways.way_of(hone, name, seed_in)
        runs[name].run(cases)
    for case in cases:
        verdicts = {w: judge(case, wants[case.seed], r.results[case.seed]) for w, r in runs.items()}
        kinds = {v[0] for v in verdicts.values()}
        worst = min(verdicts.items(), key=lambda item: ORDER.index(item[1][0]))
        if "refused by Hone" in kinds and len(kinds) > 1 and "WRONG" not in kinds:
            report.keep(case, f"refused in some ways: { {w: v for w, v in verdicts.items()} }")
            report.count(case, "WRONG")
            continue
        if worst[1][0] == "WRONG":
            report.keep(case, f"{worst[0]}: {worst[1][1]}")
        report.count(case, *worst[1])


def ways_of_turn(ways, number):
    short = [way.removeprefix(onnx_ways.INSIDE) for way in ways]
    turns = [way for way in TURNS if way in short]
    return [way for way, name in zip(ways, short) if name not in turns or name == turns[number % len(turns)]]


def examine_all(draw, seeds, hone, ways, report, until):
    """In batches of one operator set each, until then."""
    waiting, count, told = collections.defaultdict(list), 0, time.monotonic()

    def examine_some(cases):
        nonlocal count, told
        examine(cases, hone, ways_of_turn(ways, count), report)
        count += 1
        if time.monotonic() > told + TOLD_S:
            told = time.monotonic()
            print(f"{report.counts.total()} of {len(seeds)}, {report.wrong} wrong", file=sys.stderr)

    for seed in seeds:
        if time.monotonic() > until:
            return
        case = draw(seed)
        waiting[case.opset].append(case)
        if len(waiting[case.opset]) == BATCH:
            examine_some(waiting.pop(case.opset))
    for cases in waiting.values():
        examine_some(cases)


def seeds_of(options, count):
    part, parts = (int(x) for x in options.part.split("/"))
    return [s for s in range(options.seed, options.seed + count) if s % parts == part - 1]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--edges", action="store_true", help="edge values and empty tensors often")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no more than that")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--only")
    parser.add_argument("--ways", default=",".join(onnx_ways.NAMES))
    parser.add_argument("--inside", action="store_true", help="by the Python package: ten times as many")
    parser.add_argument("--out", default="build/check_peer/onnx")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    numpy.seterr(all="ignore")
    hone, ways = Hone(), options.ways.split(",")
    if options.inside:
        ways = [onnx_ways.INSIDE + way for way in ways if way in onnx_ways.FLAGS]
    until = time.monotonic() + 60 * options.minutes
    operators = operators_of(hone) - HANDMADE - AT_RANDOM
    missing = operators - set(TABLE)
    for op in sorted(missing):
        print(f"{op} is read by Hone, but not drawn here: add it to onnx_operators.py")
    drawer = Drawer(operators - missing, options.only, options.edges)
    singles = Report(options.out, options.verbose)
    examine_all(drawer.operator, seeds_of(options, options.count), hone, ways, singles, until)
    singles.print(f"single operators, {len(drawer.operators)} kinds")
    graphs = Report(options.out, options.verbose)
    examine_all(lambda seed: onnx_graphs.graph(seed, drawer.versions),
                seeds_of(options, options.graphs), hone, ways, graphs, until)
    graphs.print("graphs")
    sys.exit(1 if missing or singles.wrong or graphs.wrong else 0)


if __name__ == "__main__":
    main()
