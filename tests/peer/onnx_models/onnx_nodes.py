"""The ONNX project's own cases for operators, of the installed release, in Hone.

    python onnx_nodes.py [--only WORD] [--part I/N] [--ways WAYS] [--least N] [--out DIR] [--verbose]

Debian's cases (tests/graph/onnx_cases.txt) end with the operator sets of 2022; those here go to the
newest. A case passes when what Hone computes is what the project has recorded, in each way: what
has names and shapes alone (indices, shapes, axes) is given as the case has it, first as inputs, then,
where Hone wants constants, in the model. Exit code 1: something is wrong, or fewer than N pass.
"""
import argparse
import collections
import json
import os
import re
import struct
import sys
import warnings

import numpy
import onnx
from onnx import numpy_helper

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hone_cli import Hone  # noqa: E402


WAYS = {"interpreted": ["--interpret"], "default": []}
RANDOM = re.compile(r"bernoulli|training_dropout|multinomial|random")


def cases():
    from onnx.backend.test.case.node import collect_testcases
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    return [c for c in collect_testcases(None) if c.kind == "node"]


def tensors_of(values, infos):
    """(name, array) of each; None where one is no tensor."""
    arrays = []
    for value, info in zip(values, infos):
        if isinstance(value, onnx.TensorProto):
            value = numpy_helper.to_array(value)
        if value is None or isinstance(value, (list, dict)) or not info.type.HasField("tensor_type"):
            return None
        arrays.append((info.name, numpy.asarray(value)))
    return arrays


BEYOND_NPY = {"bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2}  # steps in between are rounded otherwise
PACKED = {"int4": "int8", "uint4": "uint8"}


def save(path, array):
    """As npy, as safetensors of one tensor, or as ONNX keeps tensors; its name."""
    name = array.dtype.name
    if name not in (*BEYOND_NPY, *PACKED) and not hasattr(numpy, name):
        onnx.save_tensor(numpy_helper.from_array(array), path + ".pb")
        return path + ".pb"
    if name not in BEYOND_NPY:
        numpy.save(path + ".npy", array.astype(PACKED.get(name, array.dtype)))
        return path + ".npy"
    data = array.tobytes()
    head = json.dumps({"x": {"dtype": BEYOND_NPY[name], "shape": array.shape, "data_offsets": [0, len(data)]}})
    with open(path + ".safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head.encode() + data)
    return path + ".safetensors"


def may_be_constant(array, index):
    is_whole = array.dtype.kind == "i" and array.itemsize >= 4
    return array.ndim == 0 or (array.ndim == 1 and (is_whole or index > 0))


def with_constants(model, inputs):
    """The model with such inputs in it; the others."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    rest = []
    for index, (name, array) in enumerate(inputs):
        if may_be_constant(array, index):
            model.graph.initializer.append(numpy_helper.from_array(array, name))
            kept = [i for i in model.graph.input if i.name != name]
            del model.graph.input[:]
            model.graph.input.extend(kept)
        else:
            rest.append((name, array))
    return model, rest


class Runner:
    def __init__(self, hone, out):
        self.hone, self.out = hone, out

    def call(self, case, model, inputs, outputs, way):
        folder = os.path.join(self.out, case.name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        loose = max(TOLERANCE.get(array.dtype.name, 1e-3) for _, array in inputs + outputs)
        words = [path, *WAYS[way], "--rtol", str(max(case.rtol, loose)),
                 "--atol", str(max(case.atol, 1e-5 if loose <= 1e-3 else loose))]
        for flag, values in (("--in", inputs), ("--expect", outputs)):
            for i, (name, array) in enumerate(values):
                words += [flag, f"{name}=" + save(os.path.join(folder, f"{flag[2:]}_{i}"), array)]
        return self.hone.run("run", *words, timeout=120)

    def run(self, case, way):
        """(verdict, words)"""
        inputs, outputs = case.data_sets[0]
        inputs = tensors_of(inputs, case.model.graph.input)
        outputs = tensors_of(outputs, case.model.graph.output)
        if inputs is None or outputs is None:
            return "no tensors", ""
        done = self.call(case, case.model, inputs, outputs, way)
        if re.search(r"must be constant|its number with --shape|give (it|them) with --shape", done.err):
            done = self.call(case, *with_constants(case.model, inputs), outputs, way)
        if done.code == 0:
            return "passes", ""
        words = done.err.strip().split("\n")[0]
        return ("refused" if done.refused else "WRONG"), words.split("model.onnx: ")[-1]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="1/1", help="every Nth case, the first of which is the Ith")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--out", default="build/check_peer/onnx_nodes")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    runner = Runner(Hone(), options.out)
    counts, wrong = collections.Counter(), []
    part, parts = (int(x) for x in options.part.split("/"))
    for case in [c for c in cases() if options.only in c.name][part - 1::parts]:
        verdicts = [runner.run(case, way) for way in options.ways.split(",")]
        kind, words = next((v for v in verdicts if v[0] != "passes"), verdicts[0])
        if kind == "WRONG" and RANDOM.search(case.name):
            kind, words = "random", ""
        counts[kind] += 1
        if kind == "WRONG":
            wrong.append(case.name)
        if kind == "WRONG" or options.verbose:
            print(f"{case.name}: {kind}{': ' if words else ''}{words}", flush=True)
    print("cases of onnx", onnx.__version__ + ":",
          ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    sys.exit(1 if wrong or counts["passes"] < options.least else 0)


if __name__ == "__main__":
    main()
