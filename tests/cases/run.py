#!/usr/bin/env python3
"""Runs small inputs that went wrong once, in all four ways: run.py BUILD_DIR FILE.case

A .case file says what must hold, makes tensors, runs, and holds the programs:

    # NaN stays NaN in elementwise operators
    tensor x f4 2,3 = [nan, 1, 2, 3, 4, 5]     a Python expression; what is left is 0
    run relu.txt --in x=x.npy --expect y=x.npy
    refused "division by zero" divide.txt --in x=x.npy
    $ hone compile p.py -o p                   must end with 0
    ! "is no CPU" hone compile p.py --target x   must end with 1 to 3 and say that
    ==== relu.txt                              a program; a .txt is ONNX as of tests/graph/onnx_text.h

`run` and `refused` are done interpreted, plain, with default schedules and tuned: in a library with
the best of a short search ("sizes n=3 m=4" gives those of its open dimensions). "run untuned (WHY)
…" leaves the last one out and prints why. An error is an exit code of 1 to 3 with a message, never
a signal. Prints how many ran.
"""
import importlib.util
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRIALS = "4"


def load_npy():
    place = os.path.join(os.path.dirname(HERE), "cli", "data", "npy.py")
    spec = importlib.util.spec_from_file_location("npy", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.npy


class Case:
    def __init__(self, path, build, directory):
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.directory = directory
        self.env = dict(os.environ, PATH=build + os.pathsep + os.environ["PATH"], NO_COLOR="1",
                        TMPDIR=directory)
        self.onnx_write = os.path.join(build, "tests", "onnx_write")
        self.values = {"nan": math.nan, "inf": math.inf, "math": math,
                       "fmean": statistics.fmean, "pvariance": statistics.pvariance}
        self.counts = dict.fromkeys(("interpreted", "plain", "default", "tuned", "commands"), 0)
        self.sizes = []
        self.failures = 0
        self.runs = 0

    def command(self, text):
        return subprocess.run(["sh", "-c", text], cwd=self.directory, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)

    def expect(self, text, message, way):
        """Runs and judges; None asks for success, a text for a refusal that says it."""
        done = self.command(text)
        self.counts[way] += 1
        good = (done.returncode == 0 if message is None
                else done.returncode in (1, 2, 3) and re.search(message, done.stdout))
        if not good:
            self.failures += 1
            wanted = "0" if message is None else f"1 to 3 and '{message}'"
            print(f"{self.name}: {way}: {text}\n  exit {done.returncode}, wanted {wanted}\n"
                  + done.stdout)
        return good

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        if name.endswith(".txt"):
            with open(path, "rb") as text, open(path[:-4] + ".onnx", "wb") as model:
                subprocess.run([self.onnx_write], stdin=text, stdout=model, check=True)

    def tensor(self, npy, words, expression):
        name, kind, shape = words
        sizes = [int(n) for n in shape.split(",") if n]
        # names in a comprehension are looked up among the globals alone
        numbers = list(eval(expression, dict(self.values)))
        numbers += [0] * (math.prod(sizes) - len(numbers))
        self.values[name] = numbers
        with open(os.path.join(self.directory, name + ".npy"), "wb") as out:
            out.write(npy(sizes, numbers, kind))

    def tuned(self, model, options, message):
        """In a library of the best records. A search may refuse what is wrong; its inputs are
        made up, as those of the case may be the one thing that is."""
        self.runs += 1
        stem = f"tuned{self.runs}"
        kept = [model, "--db", stem + ".db", "-q", *self.sizes]
        tune = shlex.join(["hone", "tune", *kept, "--trials", TRIALS])
        make = shlex.join(["hone", "compile", *kept, "-o", stem])
        run = shlex.join(["hone", "run", stem + ".so", *options])
        self.expect(f"{tune} && {make} && {run}", message, "tuned")

    def run(self, words, message):
        untuned = None
        if words[0] == "untuned":
            untuned, words = words[1], words[2:]
        model, options = words[0].replace(".txt", ".onnx"), words[1:]
        run = shlex.join(["hone", "run", model, *options])
        self.expect(run + " --interpret", message, "interpreted")
        self.expect(run + " --no-schedule", message, "plain")
        self.expect(run, message, "default")
        if untuned:
            print(f"{self.name}: {model} is not tuned {untuned}")
        else:
            self.tuned(model, options, message)

    def line(self, npy, line):
        kind, _, rest = line.partition(" ")
        if kind == "tensor":
            words, _, expression = rest.partition(" = ")
            self.tensor(npy, words.split(), expression)
        elif kind == "sizes":
            self.sizes = [word for size in rest.split() for word in ("--shape", size)]
        elif kind == "$":
            self.expect(rest, None, "commands")
        elif kind == "!":
            message, command = re.fullmatch(r'"([^"]*)" (.*)', rest).groups()
            self.expect(command, message, "commands")
        elif kind == "run":
            self.run(shlex.split(rest), None)
        elif kind == "refused":
            message, *words = shlex.split(rest)
            self.run(words, message)
        else:
            raise SystemExit(f"{self.name}: what is '{line}'?")


def check(path, build):
    with open(path, encoding="utf-8") as text:
        head, *programs = re.split(r"^==== (.*)\n", text.read(), flags=re.MULTILINE)
    npy = load_npy()
    with tempfile.TemporaryDirectory() as directory:
        case = Case(path, build, directory)
        for name, text in zip(programs[::2], programs[1::2]):
            case.write(name, text)
        for line in head.splitlines():
            if line and not line.startswith("#"):
                case.line(npy, line)
    print(f"{case.name}: " + ", ".join(f"{n} {way}" for way, n in case.counts.items() if n)
          + f"; {case.failures} failed")
    return case.failures


if __name__ == "__main__":
    sys.exit(1 if check(sys.argv[2], os.path.abspath(sys.argv[1])) else 0)
