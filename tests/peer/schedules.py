"""Schedules applied by TVM, then by Hone: do both refuse, do both make the same program?

    python schedules.py [--count N] [--seed S] [--kinds split,fuse] [--build-every K] [--out DIR]

Random programs, random steps. TVM plays each step; the trace goes to `hone schedule` as JSON with
decisions, as the JSON of a tuning record, or as the printed Python text, in turns. What comes out
must parse in TVM and compute the same as the program before, and should be equal to TVM's. Steps
that TVM refused are tried alone after the accepted ones: Hone refuses too, or what it makes computes
the same. Every K-th result is also built by TVM and run. Findings go to DIR, one folder each.
Exit code 1: a crash, a wrong program, or one that TVM cannot parse.
"""
import argparse
import bisect
import collections
import json
import os
import pickle
import random
import subprocess
import sys

import quick_tvm  # pylint: disable=unused-import  # before the next
import tvm
from tvm.s_tir import meta_schedule as ms

import compare
import programs
import steps
from hone_cli import FIRST_SEED, Hone

JSON_NAMES = {"get_sblock": "GetSBlock", "reindex": "ReIndex", "rfactor": "RFactor",
              "unsafe_set_dtype": "UnsafeSetDType"}


def python_name(inst_name):
    """The method of an instruction: SamplePerfectTile is sample_perfect_tile."""
    for method, name in JSON_NAMES.items():
        if name == inst_name:
            return method
    out = ""
    for c in inst_name:
        out += ("_" if out else "") + c.lower() if c.isupper() else c
    return out


class Tally:
    """Agreement per primitive, and the findings."""

    def __init__(self, folder, kept=None):
        self.kept = kept  # a folder for all pairs of program and trace, or None
        self.rows = collections.defaultdict(collections.Counter)
        self.folder = folder
        self.bad = 0
        self.reasons = collections.defaultdict(collections.Counter)
        self.cases = collections.Counter()  # how whole traces ended
        self.programs = collections.Counter()  # why programs could not be compared

    def count(self, kind, what):
        self.rows[kind][what] += 1

    def find(self, kind, what, line, files, fatal=False):
        """Notes one finding; the files are written for the first few of each sort."""
        self.count(kind, what)
        self.reasons[f"{kind}: {what}"][line] += 1
        self.bad += fatal
        number = sum(self.reasons[f"{kind}: {what}"].values())
        if number > 12:
            return
        place = os.path.join(self.folder, f"{what}-{kind}-{number}".replace(" ", "_"))
        os.makedirs(place, exist_ok=True)
        for name, text in {**files, "why.txt": line + "\n"}.items():
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(text)

    def keep(self, before, trace):
        """Notes a program and a trace of TVM's for it: seeds for tests/cli/illegal_traces.py."""
        if self.kept:
            place = os.path.join(self.kept, str(sum(self.cases.values())))
            os.makedirs(place, exist_ok=True)
            for name, text in {"before.py": before, "trace.json": trace}.items():
                with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                    file.write(text)

    def table(self):
        columns = ["equal", "names", "skeleton", "differs", "hone refuses", "refuses what is wrong", "both refuse",
                   "TVM refuses", "wrong", "does not parse", "crash"]
        lines = ["| primitive | " + " | ".join(columns) + " |",
                 "|--|" + "--|" * len(columns)]
        for kind in sorted(self.rows):
            row = self.rows[kind]
            lines.append(f"| {kind} | " + " | ".join(str(row[c] or "") for c in columns) + " |")
        return "\n".join(lines)

    def summary(self):
        """Agreement in five columns: how many steps of each kind."""
        columns = {"both accept, equal": ["equal", "names"], "both refuse": ["both refuse"],
                   "only TVM accepts": ["hone refuses", "refuses what is wrong"],
                   "only Hone accepts": ["TVM refuses"], "differ": ["skeleton", "differs"],
                   "wrong": ["wrong", "does not parse", "crash"]}
        lines = ["| primitive | " + " | ".join(columns) + " |", "|--|" + "--|" * len(columns)]
        for kind in sorted(set(self.rows) - {"trace", "whole"}):
            counts = [sum(self.rows[kind][c] for c in parts) for parts in columns.values()]
            lines.append(f"| {kind} | " + " | ".join(str(n or "") for n in counts) + " |")
        return "\n".join(lines)

    def report(self):
        print(self.table())
        print(f"\n{sum(self.cases.values())} traces: " +
              ", ".join(f"{n} {what}" for what, n in self.cases.most_common()))
        for why, count in self.programs.most_common():
            print(f"  {count:4} programs: {why}")
        for what, reasons in sorted(self.reasons.items()):
            print(f"\n{what}")
            for line, count in reasons.most_common(8):
                print(f"  {count:4} {line[:220]}")


def plain(value):
    """What TVM's own objects are in JSON: literals by value, containers."""
    if hasattr(value, "value"):
        return value.value
    return dict(value) if hasattr(value, "items") else list(value)


def trace_text(trace, form, mod):
    """The trace as TVM writes it: its JSON, its printed text, or a line of a tuning database."""
    if form == "python" and str(trace).startswith("#"):  # else TVM fails to print it
        return str(trace)
    whole = json.loads(json.dumps(trace.as_json(), default=plain))
    if form == "json":
        return json.dumps(whole)
    args = [i.as_json() for i in ms.arg_info.ArgInfo.from_prim_func(compare.only_func(mod))]
    return json.dumps([0, [whole, [0.5], {"kind": "llvm"}, args]], default=plain)


def steps_of(trace):
    """The instructions of a trace by number."""
    return [python_name(i.kind.name) for i in trace.insts]


class Case:
    """One program and what TVM did to it."""

    def __init__(self, hone, tally, name, mod, player, sizes=None):
        self.hone, self.tally, self.name, self.mod = hone, tally, name, mod
        self.player, self.sizes = player, sizes or {}
        self.text = mod.script()
        self.before = None

    def files(self, trace, **more):
        return {"before.py": self.text, "trace." + ("json" if trace[0] == "[" else "py"): trace,
                **{k.replace("_py", ".py").replace("_txt", ".txt"): v for k, v in more.items()}}

    def interpret(self, text):
        return self.hone.interpret(text, sizes=self.sizes)

    def wrong(self, out):
        """Why the program does not compute what it did before, or None."""
        if "bfloat16" in self.text:
            return None  # files of numpy do not hold it
        if self.before is None:
            self.before = self.interpret(self.text)
            if not isinstance(self.before, dict):
                print("cannot interpret", self.name, self.before.message, file=sys.stderr)
        if not isinstance(self.before, dict):
            return None
        got = self.interpret(out)
        if not isinstance(got, dict):
            return "hone run: " + got.err.strip()
        return None if compare.close(self.before, got) else "other results"

    def wrong_in_tvm(self, mod):
        try:
            before, after = (compare.compute(m, sizes=self.sizes) for m in (self.mod, mod))
        except Exception as error:  # pylint: disable=broad-except
            return "TVM's build: " + str(error).strip().splitlines()[-1]
        return None if compare.close(before, after) else "other results in TVM's build"

    def accepted(self, form, build, simplify=False):
        """All that TVM accepted, at once."""
        trace = self.player.sch.trace
        if simplify:
            trace = trace.simplified(remove_postproc=False)
        kinds = steps_of(trace)
        text = trace_text(trace, form, self.mod)
        theirs = self.player.sch.mod
        self.tally.keep(self.text, trace_text(trace, "json", self.mod))
        run = self.hone.schedule(self.text, text)
        last = kinds[-1] if kinds else "nothing"
        ended = self.ended(run, text, theirs, kinds, last, build)
        self.tally.cases[ended] += 1
        if ended == "equal":
            for kind in kinds:
                self.tally.count(kind, "equal")
        elif ended not in ("crash", "does not parse"):
            self.compare_steps(trace_text(self.player.sch.trace, "json", self.mod))

    def ended(self, run, trace, theirs, kinds, last, build):
        """How one trace ended; what is not as it should be is noted."""
        if not run and not run.refused:
            self.tally.find(last, "crash", run.message, self.files(trace, err_txt=run.err), True)
            return "crash"
        if not run:
            kind = kinds[run.step] if run.step is not None and run.step < len(kinds) else "trace"
            word = "refuses what is wrong" if self.wrong(theirs.script()) else "hone refuses"
            self.tally.find(kind, word, run.message.split(": ", 2)[-1],
                            self.files(trace, err_txt=run.err, tvm_py=theirs.script()))
            return word
        try:
            ours = compare.parse(run.out)
        except Exception as error:  # pylint: disable=broad-except
            self.tally.find(last, "does not parse", str(error).strip().splitlines()[-1],
                            self.files(trace, out_py=run.out), True)
            return "does not parse"
        why, why_theirs = self.wrong(run.out), None
        if why:
            why_theirs = self.wrong(theirs.script())
        elif build and "bind" not in kinds:
            why = self.wrong_in_tvm(ours)
            why_theirs = self.wrong_in_tvm(theirs) if why else None
        if why and not why_theirs:
            self.tally.find(last, "wrong", why.splitlines()[0],
                            self.files(trace, out_py=run.out, tvm_py=theirs.script(), err_txt=why),
                            True)
            return "wrong"
        if why:
            self.tally.find(last, "TVM wrong too", why.splitlines()[0],
                            self.files(trace, out_py=run.out, tvm_py=theirs.script(), err_txt=why))
        what, line = compare.verdict(ours, theirs)
        if what not in ("equal", "names"):
            self.tally.find("whole", what, line, self.files(trace, out_py=run.out,
                                                            tvm_py=theirs.script()))
        return what

    def compare_steps(self, trace):
        """Up to the first program that is not equal, on the way from known ones to the last."""
        kinds = steps_of(self.player.sch.trace)
        texts = self.hone.steps(self.text, trace)
        known = [i for i in range(len(kinds)) if i in texts and i + 1 in self.player.after]

        def compared(i):
            return compare.verdict(compare.parse(texts[i]), self.player.after[i + 1])

        first = bisect.bisect_left(known, True, key=lambda i: compared(i)[0] != "equal")
        at = known[first] if first < len(known) else len(texts)
        for kind in kinds[:at]:
            self.tally.count(kind, "equal")
        if first < len(known):
            what, line = compared(at)
            self.tally.find(kinds[at], what, line,
                            self.files(trace, out_py=texts[at],
                                       tvm_py=self.player.after[at + 1].script(),
                                       step_txt=f"step {at + 1} {kinds[at]}\n"))

    def refused(self, line, kind, reason):
        """A step that TVM refused, after the accepted ones."""
        trace = str(self.player.sch.trace).rstrip("\n") + "\n" + line
        if "  pass" in trace:
            trace = trace.replace("  pass\n", "")
        run = self.hone.schedule(self.text, trace)
        if run.refused:
            count = len(self.player.sch.trace.insts)
            at_end = run.step is not None and run.step >= count
            if at_end:
                self.tally.count(kind, "both refuse")
            return
        if not run:
            self.tally.find(kind, "crash", run.message, self.files(trace, err_txt=run.err), True)
            return
        why = self.wrong(run.out)
        theirs = self.wrong(self.player.sch.mod.script()) if why else None
        self.tally.find(kind, "wrong" if why and not theirs else "TVM refuses",
                        reason.strip().splitlines()[-1] if reason.strip() else "",
                        self.files(trace, out_py=run.out, err_txt=(why or "") + "\n" + reason),
                        bool(why and not theirs))


def one(number, hone, tally, options):
    rng = random.Random(options.seed * 1000003 + number)
    name, mod = programs.make(rng)
    mod = compare.parse(mod.script())  # names as the text has them, which is what Hone reads
    kinds = set(options.kinds.split(",")) if options.kinds else None
    player = steps.Player(mod, rng, kinds)
    case = Case(hone, tally, name, mod, player)
    for _ in range(rng.randint(1, options.length)):
        played = player.play()
        if played and played[1] is not None:
            step, reason = played
            case.refused(player.text_of(step), step.kind, reason)
    form = ["json", "python", "json"][number % 3]
    case.accepted(form, options.build_every and number % options.build_every == 0)


def play_all(options, state):
    """All programs from state["next"] on, in this process; the state is kept after each."""
    hone, tally = Hone(), state["tally"]
    while state["next"] < options.count:
        number = state["next"]
        state["next"] = number + 1
        save(options, state)  # TVM may end the process: then this program is left out
        one(number, hone, tally, options)
        save(options, state)


def state_path(options):
    return os.path.join(options.out, "state.pickle")


def save(options, state):
    with open(state_path(options) + ".new", "wb") as file:
        pickle.dump(state, file)
    os.replace(state_path(options) + ".new", state_path(options))


def load(options):
    with open(state_path(options), "rb") as file:
        return pickle.load(file)


def play_in_workers(options):
    """The same in a process of its own, started again where TVM brings it down."""
    os.makedirs(options.out, exist_ok=True)
    save(options, {"next": 0, "tally": Tally(options.out)})
    while load(options)["next"] < options.count:
        done = subprocess.run([sys.executable, *sys.argv, "--worker"], check=False)
        state = load(options)
        if done.returncode < 0:
            state["tally"].programs[f"TVM ended with signal {-done.returncode}"] += 1
            save(options, state)
        elif done.returncode > 0:
            sys.exit(done.returncode)
    return load(options)["tally"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--length", type=int, default=6)
    parser.add_argument("--build-every", type=int, default=20)
    parser.add_argument("--out", default="build/check_peer/schedules")
    parser.add_argument("--summary", action="store_true", help="agreement in few columns")
    parser.add_argument("--worker", action="store_true", help="used by the script itself")
    options = parser.parse_args()
    if options.worker:
        play_all(options, load(options))
        return
    if options.only is None:
        tally = play_in_workers(options)
    else:
        tally = Tally(options.out)
        one(options.only, Hone(), tally, options)
    if options.summary:
        print(tally.summary(), "\n")
    tally.report()
    sys.exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
