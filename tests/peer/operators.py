"""Every operator of Relax, and functions of topi, one by one: what TVM makes of them, in Hone.

    python operators.py [--only WORD] [--part I/N] [--forms static,symbolic] [--no-graph] [--out DIR]

operators.txt lists calls. Each is a Relax function of its own (once with sizes as numbers, once with
symbolic ones), whose text is read, printed, read by TVM, verified; so are the PrimFuncs that TVM's
LegalizeOps makes of it, and they compute in Hone's interpreter what TVM's build computes. A call of
topi is a PrimFunc at once. A call that TVM itself does not take is left out and counted. Exit code 1:
anything else than that.
"""
import argparse
import collections
import itertools
import os
import random
import re
import sys
import traceback

import numpy
import tvm
import tvm_ffi
from tvm import relax, te, topi
from tvm.script import from_source

import compare
import texts
from hone_cli import Hone

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators.txt")
DEFAULT_DTYPES = "float32 float16 bfloat16 float64"
SIZES = {"n": 5, "m": 7}
PARAMETER = re.compile(r"(\w+)=(\w*)\[([^\]]*)\](>0)?(?:<(\d+))?")
CHOICE = re.compile(r"\{([^{}]*)\}")


class Parameter:
    """One parameter of a call: its shape as texts, and which values it may have."""

    def __init__(self, found, dtype):
        self.name, own, shape, positive, limit = found
        self.is_roi = own == "roi"
        self.dtype = dtype if own in ("", "roi") else own
        self.shape = [s.strip() for s in shape.split(",") if s.strip()]
        self.positive, self.limit = bool(positive), int(limit) if limit else None

    def sized(self, is_symbolic):
        if is_symbolic:
            return self.shape
        return [str(SIZES.get(s, s)) for s in self.shape]

    def values(self, rng):
        shape = [int(SIZES.get(s, s)) for s in self.shape]
        if self.is_roi:
            corners = rng.uniform(0, 3, (shape[0], 2))
            return numpy.concatenate([rng.integers(0, 2, (shape[0], 1)), corners, corners + 2.5],
                                     1).astype("float32")
        dtype = numpy.dtype(self.dtype)
        if dtype.kind == "b":
            return rng.integers(0, 2, shape).astype(dtype)
        if dtype.kind in "iu":
            low = 1 if self.positive else 0 if self.limit or dtype.kind == "u" else -9
            return rng.integers(low, self.limit or 9, shape).astype(dtype)
        return rng.uniform(0.1 if self.positive else -3, 1 if self.positive else 3, shape).astype(dtype)


def choices(text):
    """All texts with one of each {a,b}; commas within brackets do not part."""
    found = CHOICE.search(text)
    if not found:
        yield text
        return
    for word in re.split(r",(?![^\[]*\])", found.group(1)):
        made = text[:found.start()] + word + text[found.end():]
        yield from choices(made.replace("GROUP", {"2": "4", "4": "2"}.get(word, "1")))


def calls():
    """(expression, parameters) of the whole table."""
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            parts = [p.strip() for p in re.split(r" \| ?", line.split("# ----")[0].strip())]
            if not parts[0] or parts[0].startswith("#"):
                continue
            dtypes = (parts[2] if len(parts) > 2 and parts[2] else DEFAULT_DTYPES).split()
            for expression, dtype in itertools.product(choices(parts[0]), dtypes):
                yield expression, [Parameter(p, dtype) for p in PARAMETER.findall(parts[1])], dtype


def numbered(text, is_symbolic):
    """The expression with sizes as numbers, where they are not symbolic."""
    if is_symbolic:
        return text
    return re.sub(r"\b[nm]\b", lambda s: str(SIZES[s.group()]), text)


def graph_text(expression, params, is_symbolic):
    """A Relax function of one call."""
    symbols = [s for s in SIZES if is_symbolic and any(s in p.shape for p in params)]
    quoted = [", ".join(f'"{s}"' if s in symbols else s for s in p.sized(is_symbolic)) for p in params]
    heads = [f'{p.name}: R.Tensor(({q}{"," if q else ""}), "{p.dtype}")'
             for p, q in zip(params, quoted)]
    lines = ["@I.ir_module", "class Module:", "    @R.function", f"    def main({', '.join(heads)}):"]
    lines += [f"        {s} = T.int64()" for s in symbols]
    lines += ["        with R.dataflow():", f"            out = {numbered(expression, is_symbolic)}",
              "            R.output(out)", "        return out"]
    return "\n".join(lines) + "\n"


def of_topi(expression, params, is_symbolic):
    """A PrimFunc of one call of topi."""
    sizes = {s: te.var(s) for s in SIZES} if is_symbolic else {}
    tensors = {p.name: te.placeholder([sizes.get(s) if s in sizes else int(s) for s in p.sized(is_symbolic)],
                                      p.dtype, name=p.name.upper()) for p in params}
    known = {**{k: getattr(tvm, k) for k in ("te", "tirx")}, "topi": topi, **SIZES, **sizes, **tensors}
    made = eval(expression, known)  # pylint: disable=eval-used
    made = list(made) if isinstance(made, (list, tuple, tvm.ir.Array)) else [made]
    return tvm.IRModule({"main": te.create_prim_func([*tensors.values(), *made])})


def stored(text):
    """The names of what the program stores to."""
    return set(re.findall(r"^ *(\w+)\[.*?\] = ", text, re.M))


class Examiner:
    """Counts how each text ended, and keeps those that are not as they should be."""

    def __init__(self, options):
        self.hone, self.options = Hone(), options
        self.tally, self.bad = collections.Counter(), 0

    def note(self, what, title, why="", text=None):
        self.tally[what] += 1
        if text is None:
            return
        self.bad += 1
        place = os.path.join(self.options.out, f"{self.bad}.py")
        os.makedirs(self.options.out, exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{what}: {title}: {why[:200]} ({place})", flush=True)

    def left_out(self, what, title, error):
        self.note(what, title)
        if self.options.verbose:
            print(f"{what}: {title}: {str(error).strip().splitlines()[-1][:300]}")

    def read(self, kind, title, text):
        """Both dialects, verified, equal in TVM."""
        what, why = texts.verdict(self.hone, text, False)
        if what == "differs" and self.equal_but_for_casts(text):
            what = "equal"
        if what not in texts.GOOD:
            self.note(f"{kind} {what}", title, why, text)
            return False
        path = self.hone.write("text.py", text)
        classic = self.hone.run("print", path, "--dialect", "classic")
        again = self.hone.run("print", self.hone.write("classic.py", classic.out))
        if not classic or again.out != self.hone.run("print", path).out:
            self.note(f"{kind} classic", title, (classic.message or again.message), text)
            return False
        self.note(f"{kind} {what}", title)
        return what != "left out"

    def equal_but_for_casts(self, text):
        """Casts to the type that a value has already are not printed."""
        simplify = tvm.s_tir.transform.StmtSimplify()
        before = simplify(texts.as_module(texts.read_by_tvm(text)))
        printed = self.hone.run("print", self.hone.write("text.py", text)).out
        return tvm_ffi.structural_equal(before, simplify(texts.read_by_tvm(printed)))

    def computes(self, title, mod, given):
        """The interpreter and TVM's build give the same."""
        buffers = compare.buffers(mod)
        if any(not hasattr(b, "shape") or b.dtype in ("bfloat16",) for b in buffers):
            self.note("values left out", title)
            return
        arrays, spare = [], list(given)
        rng = numpy.random.default_rng(7)
        for buf in buffers:
            shape = tuple(compare.size_of(s, SIZES) for s in buf.shape)
            fits = [i for i, a in enumerate(spare) if a.shape == shape and a.dtype.name == str(buf.dtype)]
            if fits:
                arrays.append(spare.pop(fits[0]))
            else:
                data = rng.integers(0, 2, shape) if "int" in buf.dtype or buf.dtype == "bool" \
                    else rng.uniform(0.1, 1, shape)
                arrays.append(data.astype(str(buf.dtype)))
        try:
            theirs = [tvm.runtime.tensor(a) for a in arrays]
            built = tvm.compile(mod, target="llvm")
            built[next(v.name_hint for v, _ in mod.functions_items())](*theirs)
        except Exception as error:  # pylint: disable=broad-except
            self.left_out("TVM does not build it", title, error)
            return
        text = mod.script()
        results = stored(text)
        inputs = [a for a, b in zip(arrays, buffers) if b.name not in results]
        ours = self.hone.interpret(text, inputs, sizes=SIZES, check=True)
        if not isinstance(ours, dict) and "it takes" in ours.message:  # results are read first
            ours = self.hone.interpret(text, arrays, sizes=SIZES, check=True)
        if not isinstance(ours, dict):
            self.note("not run", title, ours.err.splitlines()[0], text)
            return
        labels = [b.name for b in buffers]
        for name, got in ours.items():
            want = theirs[labels.index(name)].numpy()
            if got.shape != want.shape or not compare.close({"": got}, {"": want}):
                self.note("different", title, f"{name}: {got.ravel()[:4]} {want.ravel()[:4]}", text)
                return
        self.note("same values", title)

    def by_tvm(self, mod, given):
        """What TVM's virtual machine gives."""
        machine = relax.VirtualMachine(tvm.compile(mod, target="llvm"), tvm.cpu())
        made = machine["main"](*[tvm.runtime.tensor(a) for a in given])
        return [a.numpy() for a in (made if isinstance(made, (list, tuple, tvm.ir.Array)) else [made])]

    def runs(self, title, mod, given):
        """The graph itself, in the interpreter and compiled, gives what TVM's machine does."""
        if any(a.dtype.name == "bfloat16" for a in given):
            self.note("graph values left out", title)
            return
        try:
            want = self.by_tvm(mod, given)
        except Exception as error:  # pylint: disable=broad-except
            self.left_out("TVM does not build the graph", title, error)
            return
        text = mod.script()
        for way in ([], ["compiled"]):
            got = self.hone.graph_results(text, given, compiled=bool(way))
            if not isinstance(got, list):
                self.note("graph not run", title, got.message, text)
                return
            for a, b in zip(got, want):
                if a.shape != b.shape or not compare.close({"": a}, {"": b}):
                    self.note("graph different", f"{title} {way}", f"{a.ravel()[:4]} {b.ravel()[:4]}", text)
                    return
        self.note("same graph values", title)

    def graph(self, expression, params, dtype, is_symbolic):
        title = f"{expression} {dtype}{' symbolic' if is_symbolic else ''}"
        try:
            mod = from_source(graph_text(expression, params, is_symbolic))
        except BaseException as error:  # pylint: disable=broad-except
            if isinstance(error, KeyboardInterrupt):
                raise
            self.left_out("TVM does not read the call", title, error)
            return
        self.read("graph", title, mod.script())
        self.runs(title, mod, [p.values(numpy.random.default_rng(5)) for p in params])
        try:
            legal = relax.transform.LegalizeOps()(mod)
        except Exception as error:  # pylint: disable=broad-except
            self.left_out("TVM does not legalise it", title, error)
            return
        self.read("legalised graph", title, legal.script())
        rng = numpy.random.default_rng(3)
        given = [p.values(rng) for p in params]
        for var, func in legal.functions_items():
            if isinstance(func, tvm.tirx.PrimFunc):
                self.program(title, tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), given)

    def program(self, title, mod, given):
        try:
            mod = compare.parse(mod.script())
        except Exception as error:  # pylint: disable=broad-except
            self.left_out("TVM does not read its own text", title, error)
            return
        if self.read("program", title, mod.script()):
            self.computes(title, mod, given)

    def one(self, expression, params, dtype, is_symbolic):
        if expression.startswith("R."):
            self.graph(expression, params, dtype, is_symbolic)
            return
        title = f"{expression} {dtype}{' symbolic' if is_symbolic else ''}"
        try:
            mod = of_topi(expression, params, is_symbolic)
        except Exception as error:  # pylint: disable=broad-except
            self.left_out("TVM does not make the call", title, error)
            return
        rng = numpy.random.default_rng(3)
        self.program(title, mod, [p.values(rng) for p in params])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="calls in which this regular expression is found")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--forms", default="static,symbolic")
    parser.add_argument("--verbose", action="store_true", help="says what TVM does not take")
    parser.add_argument("--out", default="build/check_peer/operators")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    examiner = Examiner(options)
    cases = [(e, p, d, s) for e, p, d in calls() for s in (False, True)
             if re.search(options.only, e) and ("symbolic" if s else "static") in options.forms
             and (not s or any(x in SIZES for q in p for x in q.shape))]
    random.Random(1).shuffle(cases)  # a part is of all sorts
    for case in cases[part - 1::parts]:
        try:
            examiner.one(*case)
        except KeyboardInterrupt:
            break  # what is known so far
        except Exception:  # pylint: disable=broad-except
            examiner.note("the harness failed", str(case[0]), "", "")
            traceback.print_exc()
    for what, count in sorted(examiner.tally.items()):
        print(f"{count:6} {what}")
    sys.exit(1 if examiner.bad else 0)


if __name__ == "__main__":
    main()
