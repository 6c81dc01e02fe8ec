"""Schedules written by hand, every primitive with its optional arguments, beside TVM.

    python handmade.py [--only FILE[/PROGRAM[/TITLE]]] [--summary] [--out DIR]

handmade/*.txt hold programs and, below each, cases: Python that drives a schedule. `s` is the
schedule, `L("B")` the loops of a block, `M("lambda …")` a map, `P("lambda …")` one for the padding;
`tries(lambda: …)` goes on where TVM refuses, any other refusal ends the case. What TVM accepts is
compared as in schedules.py, what it refuses Hone must not make wrong. Parameters whose layout
changes are permuted by the map before results are compared. Exit code 1 as in schedules.py.
"""
import argparse
import glob
import inspect
import os
import pickle
import re
import sys
import traceback

import numpy
from tvm import s_tir, tirx
import tvm.s_tir.tensor_intrin  # pylint: disable=unused-import  # registers them
from tvm.script import tirx as T

import compare
import steps
from hone_cli import Hone
from schedules import Case, Tally

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "handmade")
BLOCKS = ["block", "reduction_block", "epilogue_block", "scope_block"]


class Stopped(Exception):
    """A step was refused, and the case does not say what then."""


class PadValue(steps.Lambda):
    """A map that may use T."""

    def __init__(self, text):
        super().__init__(text)
        self.function = eval(text, {"T": T})  # pylint: disable=eval-used


def read_cases(path):
    """(program, its text, title, code) in the order of the file."""
    with open(path, encoding="utf-8") as file:
        for part in re.split(r"^#### program ", file.read(), flags=re.M)[1:]:
            text, *cases = re.split(r"^## ", part, flags=re.M)
            name, text = text.split("\n", 1)
            for case in cases:
                title, code = case.split("\n", 1)
                yield name, text, title, code


def places(function, index):
    """Where a map puts an element."""
    named = [p.name for p in inspect.signature(function).parameters.values()
             if p.kind == inspect.Parameter.KEYWORD_ONLY]
    count = len(index) - len(named)
    found = function(*index[:count], **dict(zip(named, index[count:])))
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


class Player:
    """A schedule of TVM: each call is played there, and a refused one by Hone too."""

    def __init__(self, case, mod):
        self.sch = s_tir.Schedule(mod, seed=7, error_render_level="fast")
        self.case, self.after, self.stopped = case, {0: mod}, False
        self.layouts = {}  # of parameters: number -> the maps, first one first

    def text_of(self, step):
        return steps.Player.text_of(self, step)

    def __getattr__(self, kind):
        return lambda *args, **kwargs: self.call(kind, *args, **kwargs)

    def call(self, kind, *args, **kwargs):
        method = getattr(s_tir.Schedule, kind)
        bound = inspect.signature(method).bind(self.sch, *args, **kwargs).arguments
        bound.pop("self")
        if kind in ("fuse", "merge", "reorder"):
            bound["spread"] = list(bound.pop("loops", bound.pop("ordered_loops", ())))
        for name in BLOCKS:
            if isinstance(bound.get(name), str):
                bound[name] = self.call("get_sblock", bound[name])
        step = steps.Step(kind, **bound)
        layout = self.layout_of(kind, bound)
        try:
            got = steps.Player.apply(self, step)
        except Exception as error:  # pylint: disable=broad-except
            self.case.refused(self.text_of(step), kind, str(error))
            raise Stopped(str(error)) from error
        if layout is not None:
            number, function = layout
            self.layouts.setdefault(number, []).append(function)
        self.after[len(self.sch.trace.insts)] = self.sch.mod
        return got

    def layout_of(self, kind, bound):
        """The parameter whose layout the step changes, by number, and the map; or None."""
        if kind != "transform_layout":
            return None
        buffer = bound["buffer"]
        if not isinstance(buffer, str):
            block = self.sch.get(bound["block"])
            regions = block.reads if buffer[0] == "read" else block.writes
            if buffer[1] >= len(regions):
                return None
            buffer = regions[buffer[1]].source.name
        names = [b.name for b in compare.buffers(self.sch.mod)]
        return (names.index(buffer), bound["index_map"].function) if buffer in names else None


class HandmadeCase(Case):
    """As its base; parameters may have other layouts in the end."""

    def moved(self, number, array, shape, backwards=False):
        """A parameter in its new layout, or back in the old one, which has the shape."""
        maps = self.player.layouts.get(number)
        if not maps:
            return array
        made = numpy.zeros(shape, array.dtype)
        for index in numpy.ndindex(shape if backwards else array.shape):
            new = index
            for function in maps:
                new = places(function, new)
            if backwards:
                made[index] = array[new]
            else:
                made[new] = array[index]
        return made

    def from_inputs(self, text, arrays):
        """Results are the last parameters; all are given where it is not known that all is written."""
        made_up = self.interpret(self.text)
        got = self.hone.interpret(text, arrays[:len(arrays) - len(made_up)]) \
            if isinstance(made_up, dict) else made_up
        return got if isinstance(got, dict) else self.hone.interpret(text, arrays)

    def wrong(self, out):
        if not self.player.layouts:
            return super().wrong(out)
        arrays = compare.inputs(self.mod, sizes=self.sizes)
        names = [b.name for b in compare.buffers(self.mod)]
        before = self.from_inputs(self.text, arrays)
        shapes = [[compare.size_of(e, self.sizes) for e in b.shape]
                  for b in compare.buffers(self.player.sch.mod)]
        moved = [self.moved(n, a, shapes[n]) for n, a in enumerate(arrays)]
        got = self.from_inputs(out, moved)
        if not isinstance(got, dict):
            return "hone run: " + got.err.strip()
        back = {k: self.moved(names.index(k), got[k], a.shape, backwards=True)
                for k, a in before.items()}
        return None if compare.close(before, back) else "other results"

    def wrong_in_tvm(self, mod):
        return None if self.player.layouts else super().wrong_in_tvm(mod)


def play(hone, tally, number, title, text, code):
    mod = compare.parse(compare.parse(text).script())
    case = HandmadeCase(hone, tally, title, mod, None, {"n": 5, "m": 7})
    player = case.player = Player(case, mod)

    def tries(step):
        try:
            step()
        except Stopped:
            pass

    words = {"s": player, "L": player.get_loops, "M": steps.Lambda, "P": PadValue, "tries": tries}
    try:
        exec(code, words)  # pylint: disable=exec-used
    except Stopped:
        pass
    form = ["json", "python", "record"][number % 3]
    is_symbolic = any(not isinstance(e, tirx.IntImm) for b in compare.buffers(mod) for e in b.shape)
    case.accepted("json" if is_symbolic else form, number % 4 == 0,
                  simplify=number % 5 == 0 and "consumer_blocks" not in code)


def play_apart(tally, *case):
    """In a process of its own, which TVM may bring down; the tally with what came of it."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        try:
            play(Hone(), tally, *case)
        except Exception:  # pylint: disable=broad-except
            tally.programs["the harness failed"] += 1
            traceback.print_exc()
        with os.fdopen(write_end, "wb") as file:
            pickle.dump(tally, file)
        os._exit(0)  # pylint: disable=protected-access
    os.close(write_end)
    with os.fdopen(read_end, "rb") as file:
        got = file.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        return pickle.loads(got)
    tally.programs[f"TVM ended with status {status}"] += 1
    return tally


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default="build/check_peer/handmade")
    parser.add_argument("--summary", action="store_true", help="agreement in few columns")
    options = parser.parse_args()
    tally = Tally(options.out)
    compare.parse("@T.prim_func(s_tir=True)\ndef main():\n    T.evaluate(0)\n")  # imports once for all
    for path in sorted(glob.glob(os.path.join(HERE, "*.txt"))):
        for number, (name, text, title, code) in enumerate(read_cases(path)):
            title = f"{os.path.basename(path)[:-4]}/{name}/{title}"
            if not title.startswith(options.only):
                continue
            before = tally
            tally = play_apart(tally, number, title, text, code)
            ended = "".join((tally.cases - before.cases).keys()) or "failed"
            print(f"{title}: {ended}", flush=True)
    if options.summary:
        print(tally.summary(), "\n")
    tally.report()
    sys.exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
