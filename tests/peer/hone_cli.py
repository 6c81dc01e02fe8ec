"""Calls of the hone binary, for the tests beside TVM."""
import json
import os
import re
import subprocess
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("HONE_BUILD_DIR", os.path.join(ROOT, "build", "release"))
FIRST_SEED = int(os.environ.get("HONE_FIRST_SEED", 1))  # of what is drawn
STEP = re.compile(r"^# step (\d+).*\n", re.M)
REFUSED_STEP = re.compile(r"step (\d+)")


def tensor_in(path):
    """The tensor of a file that hone wrote: .npy, or bfloat16, as float32, in .safetensors."""
    if path.endswith(".npy"):
        return numpy.load(path)
    with open(path, "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        (entry,) = head.values()
        bits = numpy.frombuffer(file.read(), "<u2").astype("<u4") << 16
    return bits.view("<f4").reshape(entry["shape"])


class Run:
    """What one call gave: its exit code and both streams."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __bool__(self):
        return self.code == 0

    @property
    def refused(self):
        """A refusal is exit 2 with a message; anything else than 0 and 2 is a defect."""
        return self.code == 2 and self.err.startswith("hone: ")

    @property
    def message(self):
        return self.err.split("\n", 1)[0]

    @property
    def step(self):
        """The number (from 0) of the step that was refused, or None."""
        found = REFUSED_STEP.search(self.err)
        return int(found.group(1)) - 1 if found else None


class Hone:
    """Runs hone in a directory of its own, which ends with it."""

    def __init__(self, binary=None):
        self.binary = binary or os.path.join(BUILD, "hone")
        self.home = tempfile.TemporaryDirectory(prefix="hone-peer-")

    def path(self, name):
        return os.path.join(self.home.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run(self, *words, timeout=300):
        return Run(subprocess.run([self.binary, *words], capture_output=True, text=True,
                                  timeout=timeout, check=False))

    def schedule(self, before, trace, *options):
        """before and trace are texts; the trace is Python if it does not begin with '['."""
        suffix = "json" if trace.startswith("[") else "py"
        return self.run("schedule", self.write("before.py", before), "--trace",
                        self.write("trace." + suffix, trace), *options)

    def steps(self, before, trace):
        """The program after each step, by its number from 0."""
        parts = STEP.split(self.schedule(before, trace, "--steps").out)
        return {int(n) - 1: text for n, text in zip(parts[1::2], parts[2::2])}

    def interpret(self, program, arrays=(), sizes=None, check=False):
        """Results by name, for given inputs or made-up ones, or the Run that failed."""
        with tempfile.TemporaryDirectory(dir=self.home.name) as folder:
            words = ["--check"] if check else []
            for number, array in enumerate(arrays):
                numpy.save(self.path(f"in{number}.npy"), array)
                words += ["--in", self.path(f"in{number}.npy")]
            for name, size in (sizes or {}).items():
                if re.search(rf'\b{name}(: | = )T\.int(32|64)\b|"{name}"', program):
                    words += ["--shape", f"{name}={size}"]
            run = self.run("run", self.write("program.py", program), "--interpret", "-q",
                           "--out-dir", folder, *words)
            if not run:
                return run
            return {os.path.splitext(name)[0]: tensor_in(os.path.join(folder, name))
                    for name in os.listdir(folder)}

    def graph_results(self, text, arrays, compiled=False):
        """What the function main gives for these arrays, in order, or the Run that failed."""
        with tempfile.TemporaryDirectory(dir=self.home.name) as folder:
            path, words = self.write("graph.py", text), []
            for number, array in enumerate(arrays):
                numpy.save(self.path(f"in{number}.npy"), array)
                words += ["--in", self.path(f"in{number}.npy")]
            if compiled:
                run = self.run("compile", path, "-o", self.path("graph"), "-q")
                if not run:
                    return run
                path = self.path("graph.so")
            else:
                words.append("--interpret")
            run = self.run("run", path, "-q", "--out-dir", folder, *words)
            if not run:
                return run
            names = sorted(os.listdir(folder), key=lambda n: (len(n), n))
            return [tensor_in(os.path.join(folder, name)) for name in names]
