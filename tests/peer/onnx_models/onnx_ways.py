"""Ways of running many models at once in Hone: the interpreter, compiled code, C of a compiler.

The C back end's kernels (`hone compile --emit c`) take the place of LLVM's in a library of the same
plan: of `--emit a`, whose kernels are made weak, and theirs.

"inside interpreted", "inside plain" and "inside default" are the first three by the Python package
(python/), in a child of this process: a tenth of the time, and tensors that lie at any element.
"""
import importlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile

import numpy
import onnx

from onnx_draw import model_of
from onnx_short import nodes_of

TIMEOUT_S = 600
FLAGS = {"interpreted": ["--interpret", "--check"], "plain": ["--no-schedule"], "default": []}
NAMES = (*FLAGS, "c")
INSIDE = "inside "
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python", "src")
REFUSALS = ("invalid", "type", "not_found", "unsupported", "illegal")  # kinds of HoneError
ENTRY = "hone_model_v1"  # what a library is known by


def tool(*words, folder):
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=TIMEOUT_S)


def sizes_of_nothing(cases):
    """What `compile` must be told, which sees no inputs: that open sizes are 0."""
    return [word for case in cases for value in case.inputs for d, size in enumerate(value.shape)
            if size == 0 and (value.name, d) in case.sizes
            for word in ("--shape", f"{value.name}_dim{d}=0")]


def c_library(hone, path, cases, folder):
    """(library, or None, and the call of Hone that refused)"""
    for kind in ("a", "c"):
        done = hone.run("compile", path, *sizes_of_nothing(cases), "--emit", kind, "-o", f"{folder}/m.{kind}", "-q",
                        timeout=TIMEOUT_S)
        if not done:
            return None, done
    tool("ar", "x", "m.a", folder=folder)
    listed = subprocess.run(["nm", "m.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in listed.splitlines() if " t hone_kernel_" in line}
    with open(f"{folder}/names", "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in sorted(names) if "." not in name)
        file.write("hone_kernel_none\n")  # objcopy takes no empty list
    tool("objcopy", "--globalize-symbols=names", "m.o", "global.o", folder=folder)
    tool("objcopy", "--weaken-symbols=names", "global.o", "weak.o", folder=folder)
    tool("gcc", "-O1", "-w", "-shared", "-fPIC", "-Wl,-Bsymbolic", f"-Wl,--defsym={ENTRY}=m_info",
         "weak.o", "m.c", "-o", "m.so", "-lm", "-ldl", "-pthread", folder=folder)
    return f"{folder}/m.so", None


class Way:
    """One way of running many models at once."""

    def __init__(self, hone, name, case_of):
        self.hone, self.name = hone, name
        self.case_of = case_of  # in a message: the seed of the case
        self.results = {}  # seed -> {output: numbers}, or a Run that failed

    def call(self, cases, folder):
        path = os.path.join(folder, "model.onnx")
        onnx.save(model_of(cases, nodes_of=lambda c: nodes_of(c, is_peer=False)), path)
        feeds = {k: v for case in cases for k, v in case.feeds().items()}
        words = []
        if self.name == "c":
            path, refused = c_library(self.hone, path, cases, folder)
            if refused is not None:
                return refused
        words = [path, "-q", "--out-dir", folder, *FLAGS.get(self.name, [])]
        for number, (name, array) in enumerate(feeds.items()):
            numpy.save(os.path.join(folder, f"in{number}.npy"), array)
            words += ["--in", f"{name}={folder}/in{number}.npy"]
        return self.hone.run("run", *words, timeout=TIMEOUT_S)

    def tried(self, cases, folder):
        """The call, or None where it does not end."""
        try:
            return self.call(cases, folder)
        except subprocess.TimeoutExpired:
            return None

    def run(self, cases):
        """Those that Hone refuses are taken out one by one; what fails otherwise is halved."""
        while cases:
            with tempfile.TemporaryDirectory(dir=self.hone.home.name) as folder:
                done = self.tried(cases, folder)
                if done:
                    for case in cases:
                        self.results[case.seed] = {
                            name: numpy.load(os.path.join(folder, name + ".npy"))
                            for name in case.outputs}
                    return
            cases = self.without_guilty(cases, done, done is not None and done.refused)

    def without_guilty(self, cases, done, is_refused):
        """Those that are left to run without who is to blame."""
        named = self.case_of(done.message) if is_refused else None
        guilty = named if named is not None else cases[0].seed if len(cases) == 1 else None
        if guilty is None:
            self.run(cases[:len(cases) // 2])
            return cases[len(cases) // 2:]
        self.results[guilty] = done
        return [c for c in cases if c.seed != guilty]


# ---- inside ----

class Failed:
    """As a Run that failed: an error of the package, or a child's end."""

    def __init__(self, kind, message):
        self.code, self.message, self.refused = kind, message.split("\n", 1)[0], kind in REFUSALS

    def __bool__(self):
        return False


def shifted(array, number):
    """The array where one of numpy may lie: anywhere, by its elements."""
    array = numpy.asarray(array)
    room = numpy.empty(array.nbytes + 128, "uint8")
    start = -room.ctypes.data % 64 + array.itemsize * (number % (64 // array.itemsize))
    placed = room[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    placed[...] = array
    return placed


def arrays_of(results, names):
    items = results if isinstance(results, tuple) else () if results is None else (results,)
    return {n: numpy.asarray(r.numpy() if hasattr(r, "numpy") else r) for n, r in zip(names, items)}


class InsideWay(Way):
    """Many models at once in the package."""

    def __init__(self, hone, name, case_of):
        super().__init__(hone, name, case_of)
        os.environ.setdefault("HONE_LIBRARY", os.path.join(os.path.dirname(hone.binary), "libhone.so"))
        if PACKAGE not in sys.path:
            sys.path.append(PACKAGE)
        self.package = importlib.import_module("hone")

    def compute(self, cases):
        """What they give; in a child, which may be ended by it."""
        hone = self.package
        feeds = [shifted(v, case.seed + i) for case in cases for i, v in enumerate(case.feeds().values())]
        names = [name for case in cases for name in case.outputs]
        try:
            module = hone.load(model_of(cases, nodes_of=lambda c: nodes_of(c, is_peer=False)))
            if self.name == INSIDE + "interpreted":
                return arrays_of(module.interpret(*feeds), names)
            sizes = {word.split("=")[0]: 0 for word in sizes_of_nothing(cases) if "=" in word}
            model = module.compile(no_schedule=self.name == INSIDE + "plain", sizes=sizes or None, threads=1)
            return arrays_of(model(*feeds), names)
        except hone.HoneError as error:
            return Failed(error.kind, str(error))

    def ended(self, cases):
        """What a child says, or how it ended."""
        ours, childs = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(TIMEOUT_S)
            try:
                with os.fdopen(childs, "wb") as out:
                    pickle.dump(self.compute(cases), out)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(childs)
        with os.fdopen(ours, "rb") as said:
            text = said.read()
        status = os.waitpid(child, 0)[1]
        return pickle.loads(text) if status == 0 else Failed(f"status {status}", "the process ended")

    def run(self, cases):
        while cases:
            done = self.ended(cases)
            if isinstance(done, dict):
                self.results.update({c.seed: {name: done[name] for name in c.outputs} for c in cases})
                return
            cases = self.without_guilty(cases, done, done.refused)


def way_of(hone, name, case_of):
    return (InsideWay if name.startswith(INSIDE) else Way)(hone, name, case_of)
