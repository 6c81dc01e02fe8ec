"""A zoo of models in Hone and in onnxruntime.

    python onnx_zoo.py [--only NAME,...] [--ways WAYS] [--out DIR] [--save] [--keep DIR]

Models are narrow, but of the structure of the real ones, in operator sets and idioms that exporters
write; weights come from seeds. Each is run for all its inputs interpreted, plain and under default
schedules beside onnxruntime without its optimisations. Exit code 1: one is refused or differs; its
model and inputs are left in DIR. --save leaves all of them there. --keep writes those of --only as
the ONNX project keeps its cases, with onnxruntime's outputs for the last inputs: tests/graph/zoo.
"""
import argparse
import os
import sys

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

import onnx_zoo_fields
import onnx_zoo_language
import onnx_zoo_quantised
import onnx_zoo_vision

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hone_cli import Hone  # noqa: E402

MODELS = {**onnx_zoo_vision.MODELS, **onnx_zoo_language.MODELS, **onnx_zoo_quantised.MODELS,
          **onnx_zoo_fields.MODELS}
WAYS = {"interpreted": [], "plain": ["--no-schedule"], "default": []}


LEVELS = onnxruntime.GraphOptimizationLevel


def expected(model, feeds, names, level=LEVELS.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return [session.run(names, feed) for feed in feeds]


class Subject:
    """A model in a folder, with its inputs."""

    def __init__(self, net, folder):
        self.net, self.folder = net, folder
        os.makedirs(folder, exist_ok=True)
        self.model = self.net.model()
        self.path = os.path.join(folder, "model.onnx")
        onnx.save(self.model, self.path)

    def words(self, number):
        """What gives hone the inputs of one run."""
        words = ["-q", "--out-dir", self.folder]
        for name, array in self.net.feeds[number].items():
            path = os.path.join(self.folder, f"{number}_{name}.npy")
            numpy.save(path, array)
            words += ["--in", f"{name}={path}"]
        return words

    def prepare(self, hone, way):
        """The words that run the model; or the Run that failed."""
        if way == "interpreted":
            return [self.path, "--interpret"]
        library = os.path.join(self.folder, way)
        done = hone.run("compile", self.path, "-q", "-o", library, *WAYS[way], timeout=1200)
        return [library + ".so"] if done else done

    def run(self, hone, number, start):
        """Outputs in order, or the Run that failed."""
        done = hone.run("run", *start, *self.words(number), timeout=1200)
        if not done:
            return done
        return [numpy.load(os.path.join(self.folder, name + ".npy")) for name in self.net.outputs]


def keep(net, folder):
    """A case for tests/graph/test_onnx_zoo.c."""
    feed, data = net.feeds[-1], os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    onnx.save(net.model(), os.path.join(folder, "model.onnx"))
    inputs = [value.name for value in net.model().graph.input]
    (results,) = expected(net.model(), [feed], net.outputs)
    for kind, names, arrays in (("input", inputs, [feed[name] for name in inputs]),
                                ("output", net.outputs, results)):
        for number, (name, array) in enumerate(zip(names, arrays)):
            tensor = numpy_helper.from_array(numpy.asarray(array), name)
            onnx.save_tensor(tensor, os.path.join(data, f"{kind}_{number}.pb"))


def difference(net, got, want):
    """In words, or None."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} where {want.dtype}{list(want.shape)} is right"
    if want.dtype.kind != "f":
        wrong = int((got != want).sum())
        return f"{wrong} of {want.size} differ" if wrong else None
    if not numpy.array_equal(numpy.isnan(got), numpy.isnan(want)):
        return "NaN elsewhere"
    size = max(float(numpy.abs(numpy.nan_to_num(want)).max(initial=0)), 1)
    with numpy.errstate(invalid="ignore"):
        away = numpy.where(got == want, 0, numpy.abs(got - want))
    worst = float(numpy.nan_to_num(away, nan=0).max(initial=0)) / size
    return f"differs by {worst:.3g} of the largest" if worst > net.tolerance else None


def differences(net, got, want):
    """In lines."""
    judge = net.difference if hasattr(net, "difference") else lambda *both: difference(net, *both)
    for name, ours, theirs in zip(net.outputs, got, want):
        words = judge(ours, theirs)
        if words:
            yield f"'{name}': {words}"


def compare(subject, hone, ways):
    """What is wrong, in lines."""
    wants = expected(subject.model, subject.net.feeds, subject.net.outputs)
    for way in ways:
        start = subject.prepare(hone, way)
        if not isinstance(start, list):
            yield f"{way}: exit code {start.code}: {start.message}"
            continue
        for number, want in enumerate(wants):
            got = subject.run(hone, number, start)
            if not isinstance(got, list):
                yield f"{way}, run {number}: exit code {got.code}: {got.message}"
                continue
            for line in differences(subject.net, got, want):
                yield f"{way}, run {number}: {line}"


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--out", default="build/check_peer/onnx_zoo")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--keep")
    return parser.parse_args()


def main():
    options = parse()
    hone, wrong = Hone(), 0
    names = options.only.split(",")
    for name in names if options.keep else []:
        keep(MODELS[name](), os.path.join(options.keep, name))
    for name in names:
        home = options.out if options.save else hone.home.name
        subject = Subject(MODELS[name](), os.path.join(home, name))
        lines = list(compare(subject, hone, options.ways.split(",")))
        for line in lines:
            print(f"{name}: {line}", flush=True)
        if lines:
            wrong += 1
            os.makedirs(options.out, exist_ok=True)
            onnx.save(subject.model, os.path.join(options.out, name + ".onnx"))
    print(f"zoo: {len(names)} models, {len(names) - wrong} agree")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
