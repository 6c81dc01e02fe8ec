"""Ways of running many models at once in Hone: the interpreter, compiled code, C of a compiler.

The C back end's kernels (`hone compile --emit c`) take the place of LLVM's in a library of the same
plan: of `--emit a`, whose kernels are made weak, and theirs.
"""
import os
import subprocess
import tempfile

import numpy
import onnx

from onnx_draw import model_of
from onnx_short import nodes_of

TIMEOUT_S = 600
FLAGS = {"interpreted": ["--interpret", "--check"], "plain": ["--no-schedule"], "default": []}
NAMES = (*FLAGS, "c")
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
            named = self.case_of(done.message) if done is not None and done.refused else None
            guilty = named if named is not None else cases[0].seed if len(cases) == 1 else None
            if guilty is None:
                self.run(cases[:len(cases) // 2])
                cases = cases[len(cases) // 2:]
                continue
            self.results[guilty] = done
            cases = [c for c in cases if c.seed != guilty]
