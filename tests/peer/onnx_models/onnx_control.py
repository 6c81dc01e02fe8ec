"""If, Loop, Scan and sequences in Hone and in onnxruntime, element by element.

    python onnx_control.py

Models made by hand: branches and loops inside of each other, values from outside, states that
change places, scans backwards and along other axes, sizes that come later, sequences that grow in
a loop. Each is run interpreted, compiled as it is and under default schedules. Exit code 1: one
differs.
"""
import os
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hone_cli import FIRST_SEED, Hone  # noqa: E402


FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
WAYS = (["--interpret", "--check"], ["--no-schedule"], [])
RNG = numpy.random.default_rng(FIRST_SEED)
node = helper.make_node


def some(*shape):
    return RNG.standard_normal(shape).astype("float32")


def value(text):
    """x:3,4 is a float32 tensor, c?: a bool scalar, n#: an int64 one"""
    for mark, kind in (("?", BOOL), ("#", INT), (":", FLOAT)):
        if mark in text:
            name, dims = text.split(mark)
            shape = [int(d) if d.lstrip("-").isdigit() else d for d in dims.split(",") if d]
            return helper.make_tensor_value_info(name, kind, shape)
    return helper.make_tensor_sequence_value_info(text, FLOAT, None)


def graph(nodes, inputs, outputs, **constants):
    held = [numpy_helper.from_array(numpy.asarray(v), k) for k, v in constants.items()]
    return helper.make_graph(nodes, "g", [value(i) for i in inputs.split()],
                             [value(o) for o in outputs.split()], held)


WEIGHT = some(4, 4) / 2


def loop_in_if():
    body = graph([node("MatMul", ["s", "w"], ["m"]), node("Add", ["m", "x"], ["a"]),
                  node("Tanh", ["a"], ["s2"]), node("ReduceMax", ["s2"], ["most"], keepdims=0),
                  node("Less", ["most", "limit"], ["go"])], "i# c? s:3,4", "go? s2:3,4")
    then = graph([node("Loop", ["n", "", "x"], ["r"], body=body)], "", "r:3,4")
    other = graph([node("MatMul", ["x", "w"], ["q"]), node("Relu", ["q"], ["r2"])], "", "r2:3,4")
    made = graph([node("If", ["c"], ["y"], then_branch=then, else_branch=other),
                  node("Add", ["y", "x"], ["z"])], "x:3,4 c? n#", "z:3,4 y:3,4",
                 w=WEIGHT, limit=numpy.float32(0.99))
    for c in (True, False):
        for n in (0, 1, 7):
            yield made, {"x": some(3, 4), "c": numpy.array(c), "n": numpy.array(n, "int64")}


def if_in_loop():
    then = graph([node("Mul", ["s", "half"], ["u"])], "", "u:4")
    other = graph([node("MatMul", ["s", "w"], ["v0"]), node("Sin", ["v0"], ["v"])], "", "v:4")
    body = graph([node("Mod", ["i", "three"], ["im"]), node("Equal", ["im", "one"], ["eq"]),
                  node("If", ["eq"], ["s2"], then_branch=then, else_branch=other),
                  node("Gather", ["tab", "i"], ["row"], axis=0),
                  node("Add", ["s2", "row"], ["s3"]), node("Identity", ["t"], ["told"]),
                  node("Identity", ["s"], ["sold"]), node("Neg", ["s3"], ["s4"]),
                  node("Identity", ["c"], ["c2"])],
                 "i# c? s:4 t:4", "c2? s3:4 sold:4 s4:4 told:4")
    for n in (5, 40, 100):
        made = graph([node("Loop", ["n", "", "a", "b"], ["y", "t", "k", "l"], body=body)],
                     f"a:4 b:4 tab:{n},4", f"y:4 t:4 k:{n},4 l:{n},4", n=numpy.int64(n), w=WEIGHT,
                     half=numpy.float32(0.5), three=numpy.int64(3), one=numpy.int64(1))
        yield made, {"a": some(4), "b": some(4), "tab": some(n, 4)}


def sizes_of_branches():
    """Branches that compute how much they give: a slice, what is not zero, within others."""
    cut = {"first": numpy.array([0]), "two": numpy.array([2])}
    whole = graph([node("Concat", ["x", "x"], ["p"], axis=0), node("Relu", ["p"], ["q"])], "",
                  "p:P,4 q:P,4")
    few = graph([node("Slice", ["x", "first", "two"], ["r"]), node("Neg", ["r"], ["s"])], "",
                "r:R,4 s:R,4")
    made = graph([node("If", ["c"], ["y", "z"], then_branch=whole, else_branch=few),
                  node("ReduceSum", ["z"], ["k"], keepdims=0)], "x:N,4 c?", "y:M,4 k:", **cut)
    rows = graph([node("ReduceMax", ["x"], ["m"], axes=[1], keepdims=0),
                  node("Greater", ["m", "zero"], ["g"]),
                  node("Compress", ["x", "g"], ["u"], axis=0)], "", "u:U,4",
                 zero=numpy.float32(1))
    same = graph([node("Identity", ["x"], ["v"])], "", "v:V,4")
    chosen = graph([node("If", ["c"], ["y"], then_branch=rows, else_branch=same),
                    node("MatMul", ["y", "w"], ["z"])], "x:N,4 c?", "z:M,4", w=WEIGHT)
    inner = graph([node("If", ["d"], ["i"], then_branch=rows, else_branch=same)], "", "i:I,4")
    short = graph([node("Slice", ["x", "first", "two"], ["r"])], "", "r:R,4")
    nested = graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=short)],
                   "x:N,4 c? d?", "y:M,4", **cut)
    for c in (True, False):
        for count in (1, 5):
            feeds = {"x": some(count, 4), "c": numpy.array(c)}
            feeds["x"][0, 0] = 2
            yield made, feeds
            yield chosen, feeds
            for d in (True, False):
                yield nested, {**feeds, "d": numpy.array(d)}


def scans():
    body = graph([node("MatMul", ["h", "w"], ["hw"]), node("Add", ["hw", "xi"], ["hs"]),
                  node("Tanh", ["hs"], ["h2"]), node("Mul", ["h2", "yi"], ["o1"]),
                  node("ReduceSum", ["h2"], ["o2"], keepdims=0),
                  node("Add", ["n", "o2"], ["n2"])],
                 "h:2,4 n: xi:2,4 yi:2,1", "h2:2,4 n2: o1:2,4 o2:")
    for count in (3, 30):
        for back in (0, 1):
            step = node("Scan", ["h0", "n0", "X", "Y"], ["hN", "nN", "A", "B"], body=body,
                        num_scan_inputs=2, scan_input_axes=[1, -1],
                        scan_input_directions=[back, 1], scan_output_axes=[1, 0],
                        scan_output_directions=[1, back])
            made = graph([step], f"h0:2,4 n0: X:2,{count},4 Y:2,1,{count}",
                         f"hN:2,4 nN: A:2,{count},4 B:{count}", w=WEIGHT)
            yield made, {"h0": some(2, 4), "n0": some(), "X": some(2, count, 4),
                         "Y": some(2, 1, count)}


def sizes():
    body = graph([node("Add", ["h", "xi"], ["h2"]), node("Relu", ["h2"], ["o"])],
                 "h:B,4 xi:B,4", "h2:B,4 o:B,4")
    yield (graph([node("Scan", ["h0", "X"], ["hN", "O"], body=body, num_scan_inputs=1)],
                 "h0:B,4 X:L,B,4", "hN:B,4 O:L,B,4"), {"h0": some(3, 4), "X": some(9, 3, 4)})
    then = graph([node("MatMul", ["x", "w"], ["r"])], "", "r:B,4")
    other = graph([node("Softmax", ["x"], ["r2"])], "", "r2:B,4")
    yield (graph([node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
                 "x:B,4 c?1", "y:B,4", w=WEIGHT), {"x": some(5, 4), "c": numpy.array([True])})


def sequences():
    body = graph([node("Mul", ["x", "half"], ["xx"]), node("Cast", ["i"], ["fi"], to=FLOAT),
                  node("Add", ["xx", "fi"], ["xs"]), node("SequenceInsert", ["q", "xs"], ["q2"]),
                  node("Identity", ["c"], ["c2"])], "i# c? q", "c2? q2")
    yield (graph([node("SequenceEmpty", [], ["e"], dtype=FLOAT),
                  node("Loop", ["n", "", "e"], ["s"], body=body),
                  node("ConcatFromSequence", ["s"], ["y"], axis=0, new_axis=1)],
                 "x:2,3", "y:6,2,3", n=numpy.int64(6), half=numpy.float32(0.5)), {"x": some(2, 3)})
    yield (graph([node("SplitToSequence", ["x", "parts"], ["q"], axis=1),
                  node("SequenceErase", ["q", "minus"], ["r"]),
                  node("SequenceAt", ["r", "zero"], ["a"]),
                  node("SequenceLength", ["r"], ["n"]), node("Cast", ["n"], ["m"], to=FLOAT),
                  node("Mul", ["a", "m"], ["y"])], "x:2,7", "y:2,3",
                 parts=numpy.array([3, 2, 2]), minus=numpy.int64(-1), zero=numpy.int64(0)),
           {"x": some(2, 7)})


def growing():
    """States that are longer, or shorter, after each turn: of known and unknown sizes, from nothing
    on, until a condition ends it."""
    cut = {"minus": numpy.array([-1]), "one": numpy.array([1]), "first": numpy.array([0]),
           "far": numpy.array([2**63 - 1])}
    going = node("Identity", ["c"], ["c2"])
    longer = graph([node("Slice", ["s", "minus", "far", "first"], ["last"]),
                    node("Tanh", ["last"], ["h"]), node("Concat", ["s", "h"], ["s2"], axis=0), going],
                   "i# c? s:K,4", "c2? s2:L,4")
    shorter = graph([node("Slice", ["s", "one", "far", "first"], ["t"]), node("Sin", ["t"], ["s2"]),
                     going], "i# c? s:K,4", "c2? s2:L,4")
    mixed = graph([node("ReduceMean", ["s"], ["m"]), node("Add", ["d", "m"], ["h"]),
                   node("Concat", ["h", "s"], ["s2"], axis=0), node("Identity", ["m"], ["o"]), going],
                  "i# c? s:K,4", "c2? s2:L,4 o:1,1")
    ended = graph([node("Slice", ["s", "minus", "far", "first"], ["last"]),
                   node("Add", ["last", "last"], ["h"]), node("Concat", ["s", "h"], ["s2"], axis=0),
                   node("ReduceMax", ["s2"], ["m"], keepdims=0), node("Less", ["m", "most"], ["c2"])],
                  "i# c? s:K,4", "c2? s2:L,4")
    told = graph([node("Tanh", ["d"], ["d2"]), node("Concat", ["s", "d2"], ["s2"], axis=0),
                  node("ReduceMax", ["d2"], ["m"], keepdims=0), node("Greater", ["m", "least"], ["c2"]),
                  node("ReduceSum", ["s2"], ["o"])],
                 "i# c? s:K,4 d:1,4", "c2? s2:L,4 d2:1,4 o:1,1")
    for least in (0.9, 0.5, 0.25):
        yield (graph([node("Loop", ["", "", "x", "x"], ["y", "z", "o"], body=told)], "x:1,4 least:",
                     "y:M,4 z:1,4 o:T,1,1"),
               {"x": abs(some(1, 4)) + 1, "least": numpy.array(least, "float32")})
    for n in (1, 3, 5):
        turns = {"n": numpy.array(n)}
        for body, rows in ((longer, 1), (longer, 2), (shorter, 6)):
            yield (graph([node("Loop", ["n", "", "x"], ["y"], body=body)], f"x:{rows},4 n#", "y:M,4",
                         **cut), {"x": some(rows, 4), **turns})
            yield (graph([node("Loop", ["n", "", "x"], ["y"], body=body)], "x:N,4 n#", "y:M,4",
                         **cut), {"x": some(rows, 4), **turns})
        yield (graph([node("Loop", ["n", "", "x"], ["y", "o"], body=mixed),
                      node("ReduceSum", ["y"], ["z"])], "x:N,4 d:D,4 n#", "y:M,4 z:1,1 o:T,1,1"),
               {"x": some(2, 4), "d": some(3, 4), **turns})
        yield (graph([node("ConstantOfShape", ["none"], ["e"]),
                      node("Loop", ["n", "", "e"], ["y"], body=graph(
                          [node("Concat", ["s", "x"], ["s2"], axis=0), going], "i# c? s:K,4",
                          "c2? s2:L,4"))], "x:1,4 n#", "y:M,4", none=numpy.array([0, 4])),
               {"x": some(1, 4), **turns})
        yield (graph([node("Loop", ["n", "", "x"], ["y"], body=ended)], "x:N,4 n# most:", "y:M,4",
                     **cut), {"x": abs(some(2, 4)) + 1, "most": numpy.array(9, "float32"), "n": numpy.array(4 * n)})


def conditions():
    body = graph([node("Mul", ["s", "two"], ["s2"]), node("ReduceMax", ["s2"], ["m"], keepdims=0),
                  node("Less", ["m", "limit"], ["go"])], "i# c? s:3", "go? s2:3")
    for begins in (True, False):
        yield (graph([node("Loop", ["", "c", "x"], ["y"], body=body)], "x:3 c?", "y:3",
                     two=numpy.float32(2), limit=numpy.float32(1000)),
               {"x": numpy.array([1, 2, 3], "float32"), "c": numpy.array(begins)})


def compare(hone, number, made, feeds):
    """What is wrong with a model, in words."""
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path, wrong = hone.path(f"m{number}.onnx"), []
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    right, words = session.run(None, feeds), []
    for name, array in feeds.items():
        numpy.save(hone.path(f"{number}_{name}.npy"), array)
        words += ["--in", f"{name}=" + hone.path(f"{number}_{name}.npy")]
    for way in WAYS:
        folder = hone.path(f"out{number}_{len(way)}{way[:1]}")
        done = hone.run("run", path, "-q", "--out-dir", folder, *words, *way)
        if not done:
            wrong.append(f"{way}: {done.message}")
            continue
        for output, want in zip(made.output, right):
            got = numpy.load(os.path.join(folder, output.name + ".npy"))
            if got.shape != want.shape or not numpy.allclose(got, want, 1e-4, 1e-5):
                wrong.append(f"{way}: '{output.name}' differs")
    return wrong


def main():
    hone, count, failed = Hone(), 0, 0
    for make in (loop_in_if, if_in_loop, sizes_of_branches, scans, sizes, sequences, growing,
                 conditions):
        for made, feeds in make():
            wrong = compare(hone, count, made, feeds)
            count += 1
            failed += bool(wrong)
            for words in wrong:
                print(f"{make.__name__}: {words}")
    print(f"control flow: {count} models, {failed} wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
