"""Programs of TVM's operator library under traces of many origins, as one who examines Hone does it.

    python examine.py [--only NAME,…] [--zoo all|layers] [--origins untouched,sketch,random]
                      [--targets llvm,cuda,vnni,arm,tensorcore] [--samples N] [--seed S]
                      [--part I/N] [--out DIR] [--keep DIR]

Origins of the traces: `untouched` (none at all: read and written), `sketch` (TVM's design spaces for
the targets, sampled, mutated by TVM's mutators, then postprocessed as for a build), `random` (steps
drawn at random and played by TVM). A trace goes to `hone schedule` as TVM's JSON, as the line of a
tuning record, or as printed text, with its decisions, simplified every second time. Wanted: exit
0, text that TVM parses, the results of before (in the interpreter, and every K-th time in TVM's own
build), and TVM's program. Exit code 1 as in schedules.py.
"""
import argparse
import random
import sys
import traceback
import zlib

import tvm
from tvm import s_tir
from tvm.s_tir import meta_schedule as ms

import compare
import sketches
import steps
import zoo
import zoo_layers  # adds to zoo.ZOO
from hone_cli import FIRST_SEED, Hone
from schedules import Case, Tally

SIZES = {"n": 5, "m": 7}  # of what is known at run time only


def same_as_tvm(hone, name, mod):
    """Whether Hone's interpreter and TVM's build agree about the program itself; or why not known."""
    try:
        arrays = compare.inputs(mod, sizes=SIZES)
        theirs = compare.compute(mod, sizes=SIZES)
    except Exception as error:  # pylint: disable=broad-except
        return "TVM does not build it: " + str(error).strip().splitlines()[-1][:120]
    if any(a.dtype.kind == "V" or a.dtype.name == "bfloat16" for a in arrays):
        return None  # does not go through files of numpy: compared in TVM's build only
    made_up = hone.interpret(mod.script(), sizes=SIZES)
    if not isinstance(made_up, dict):
        return "hone run: " + made_up.message.split(": ", 2)[-1]
    count = len(arrays) - len(made_up)
    ours = hone.interpret(mod.script(), arrays[:count])
    if not isinstance(ours, dict):
        return "hone run: " + ours.message.split(": ", 2)[-1]
    names = [b.name for b in compare.buffers(mod)]
    for key, a in ours.items():
        b = theirs[str(names.index(key))]
        if a.shape != b.shape or not compare.close({key: a}, {key: b}):
            return "DIFFERENT " + key
    return None


def mutated(context, trace, rng):
    """The trace after one to three of TVM's mutations, and whether TVM still replays it."""
    mutators = list(context.space_generator.mutator_probs)
    for _ in range(rng.randint(0, 3)):
        changed = rng.choice(mutators).apply(trace)
        if changed is not None:
            trace = changed
    return trace


def sketch_cases(hone, tally, name, mod, target, options, rng):
    context, found = sketches.space(mod, sketches.TARGETS[target])
    for number, sketch in enumerate(found):
        for sample in range(options.samples):
            try:
                fresh = s_tir.schedule.Trace(sketch.trace.insts, {})
                drawn = sketches.Replayed(mod, fresh, rng.randrange(1, 1 << 30))
                trace = mutated(context, drawn.sch.trace, rng)
                replayed = sketches.Replayed(mod, trace, 1)
            except Exception:  # pylint: disable=broad-except
                continue  # an unlucky draw, which TVM refuses too
            done = sketches.after_postprocs(context, replayed.sch) if sample % 3 != 2 else None
            replayed.sch = done or replayed.sch
            yield f"{name}/{target}/{number}", replayed


def random_cases(name, mod, options, rng):
    for number in range(options.samples * 2):
        player = steps.Player(mod, random.Random(rng.randrange(1 << 40)))
        refused = []
        for _ in range(rng.randint(1, options.length)):
            played = player.play()
            if played and played[1] is not None:
                step, reason = played
                refused.append((player.text_of(step), step.kind, reason))
        yield f"{name}/random/{number}", player, refused


class Untouched:
    """A player that does nothing."""

    def __init__(self, mod):
        self.sch = s_tir.Schedule(mod, seed=1)
        self.after = {}


FORMS = ["json", "record", "python"]


def examine(hone, tally, name, options):
    mod = compare.parse(zoo.ZOO[name]().script())  # with the names that Hone reads
    rng = random.Random(options.seed * 1000003 + zlib.crc32(name.encode()))
    why = same_as_tvm(hone, name, mod)
    if why:
        tally.programs[why] += 1
        print(f"{name}: {why}", flush=True)
    number = 0
    is_bf16 = "bfloat16" in mod.script()

    def case(title, player):
        nonlocal number
        number += 1
        made = Case(hone, tally, title, mod, player, SIZES)
        form = FORMS[number % 3]
        if form == "record" and name.startswith("sym_"):
            form = "json"  # TVM has no records of symbolic shapes
        return made, form, is_bf16 or number % options.build_every == 0

    if "untouched" in options.origins:
        made, _, _ = case(name, Untouched(mod))
        made.accepted("json", True)
    if "sketch" in options.origins and not name.startswith("sym_"):
        for target in options.targets.split(","):
            try:
                for title, player in sketch_cases(hone, tally, name, mod, target, options, rng):
                    made, form, build = case(title, player)
                    made.accepted(form, build, simplify=number % 2 == 0)
            except Exception as error:  # pylint: disable=broad-except
                tally.programs[f"no {target} space: " +
                               str(error).strip().splitlines()[-1][:80]] += 1
    if "random" in options.origins:
        for title, player, refused in random_cases(name, mod, options, rng):
            made, form, build = case(title, player)
            for line, kind, reason in refused[:2]:
                made.refused(line, kind, reason)
            made.accepted(form, build, simplify=number % 4 == 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--origins", default="untouched,sketch,random")
    parser.add_argument("--targets", default="llvm,cuda")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--zoo", choices=["all", "layers"], default="all")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--build-every", type=int, default=10)
    parser.add_argument("--out", default="build/check_peer/examine")
    parser.add_argument("--keep", default=None, help="a folder for the programs and traces tried")
    options = parser.parse_args()
    random.seed(options.seed)
    part, parts = map(int, options.part.split("/"))
    known = [n for n in zoo.ZOO if options.zoo != "layers" or n in zoo_layers.NAMES]
    names = options.only.split(",") if options.only else known[part - 1::parts]
    hone, tally = Hone(), Tally(options.out, options.keep)
    for name in names:
        print(name, flush=True)
        try:
            examine(hone, tally, name, options)
        except Exception:  # pylint: disable=broad-except
            tally.programs["the harness failed: " + name] += 1
            traceback.print_exc()
    print(tally.summary(), "\n")
    tally.report()
    sys.exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
