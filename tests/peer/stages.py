"""What TVM prints behind each pass of its build pipeline for CPUs, run by Hone.

    python stages.py [--out DIR]

Each program is built and run by TVM. Then its text behind LegalizeOps, ..., FuseTIR, CallTIRRewrite,
StaticPlanBlockMemory and those that follow is read, run in the interpreter, compiled and run: all give
what TVM's machine does. Sizes that are symbolic are no texts any more behind VMShapeLower: such a
program ends there. Exit code 1: one of them is refused, or gives something else.
"""
import argparse
import os
import sys

import numpy
import tvm
from tvm import relax
from tvm.script import from_source

import compare
from hone_cli import Hone

HEAD = "@I.ir_module\nclass Module:\n    @R.function\n    def main("
PROGRAMS = {
    "dense": ('x: R.Tensor((4, 16), "float32"), w: R.Tensor((8, 16), "float32"), b: R.Tensor((8,), "float32")',
              "R.nn.softmax(R.reshape(R.nn.relu(R.add(R.matmul(x, R.permute_dims(w)), b)), R.shape([2, 16])))"),
    "conv": ('x: R.Tensor((1, 3, 12, 12), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), b: R.Tensor((1, 4, 1, 1), "float32")',
             "R.nn.max_pool2d(R.nn.relu(R.add(R.nn.conv2d(x, w, padding=[1, 1]), b)), pool_size=[2, 2], strides=[2, 2])"),
    "parts": ('x: R.Tensor((3, 8), "float32"), y: R.Tensor((3, 8), "float32")',
              "R.add(R.split(x, 2, axis=1)[0], R.split(R.multiply(x, y), 2, axis=1)[1])"),
    "tuple": ('x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")',
              "(R.add(x, y), (R.multiply(x, y), R.sum(R.add(x, y), axis=[1])))"),
    "sizes": ('x: R.Tensor(("n", 16), "float32"), w: R.Tensor((16, 8), "float32")',
              "R.concat((R.nn.gelu(R.matmul(x, w)), R.matmul(x, w)), axis=1)"),
    "attention": ('q: R.Tensor((1, 5, 2, 8), "float32"), k: R.Tensor((1, 5, 2, 8), "float32"), v: R.Tensor((1, 5, 2, 8), "float32")',
                  "R.nn.attention(q, k, v, causal_mask=\"TopLeft\")"),
    "norms": ('x: R.Tensor((2, 4, 6), "float32"), g: R.Tensor((6,), "float32"), c: R.Tensor((4,), "float32")',
              "R.add(R.nn.rms_norm(R.nn.layer_norm(x, g, g, axes=[-1]), g, axes=[-1]), "
              "R.nn.group_norm(x, c, c, num_groups=2, channel_axis=1, axes=[2]))"),
    "batch_norm": ('x: R.Tensor((2, 3, 5, 5), "float32"), g: R.Tensor((3,), "float32")',
                   "R.nn.batch_norm(x, g, g, g, R.multiply(g, g), axis=1, training=False)[0]"),
    "deconv": ('x: R.Tensor((1, 4, 5, 5), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")',
               "R.nn.avg_pool2d(R.nn.conv2d_transpose(x, w, strides=[2, 2], padding=[1, 1, 1, 1]), pool_size=[3, 3])"),
    "gathered": ('x: R.Tensor((6, 4), "float32"), y: R.Tensor((5, 4), "float32")',
                 "R.take(x, R.argmax(R.matmul(y, R.permute_dims(x)), axis=1), axis=0)"),
    "ordered": ('x: R.Tensor((3, 9), "float32")',
                "(R.sort(x, axis=1), R.topk(x, k=4, axis=1, ret_type=\"values\"), R.cumsum(x, axis=1))"),
    "sliced": ('x: R.Tensor((4, 9, 5), "float32")',
               "R.strided_slice(R.nn.pad(x, [0, 0, 1, 2, 0, 1]), [1, 2], [1, 0], [11, 5], [3, 2])"),
    "chosen": ('x: R.Tensor((4, 6), "float32"), y: R.Tensor((6,), "float32")',
               "R.where(R.greater(x, y), R.exp(R.minimum(x, y)), R.tanh(R.maximum(x, y)))"),
    "resized": ('x: R.Tensor((1, 2, 5, 4), "float32")',
                "R.image.resize2d(x, R.shape([7, 9]), method=\"linear\", layout=\"NCHW\")"),
    "quantised": ('x: R.Tensor((3, 8), "float32")',
                  "R.dequantize(R.quantize(x, R.const(0.1, \"float32\"), R.const(3, \"int8\"), axis=-1, out_dtype=\"int8\"), "
                  "R.const(0.1, \"float32\"), R.const(3, \"int8\"), axis=-1)"),
    "spread": ('x: R.Tensor((4, 1, 6), "float32"), y: R.Tensor((5, 1), "float32")',
               "R.mean(R.tile(R.repeat(R.subtract(x, y), 2, axis=1), [1, 1, 2]), axis=[0, 2])"),
    "stacked": ('x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")',
                "R.flip(R.squeeze(R.expand_dims(R.stack((x, y), axis=1), axis=0), axis=[0]), axis=2)"),
    "summed": ('x: R.Tensor((4, 6), "float32"), y: R.Tensor((6, 5), "float32")',
               "R.einsum((x, y), \"ij,jk->ki\")"),
    "triangle": ('x: R.Tensor((5, 5), "float32")', "R.add(R.triu(x, 1), R.tril(x, -1))"),
    "scattered": ('x: R.Tensor((4, 3), "float32"), y: R.Tensor((4, 3), "float32")',
                  "R.scatter_elements(x, R.astype(R.argsort(y, axis=0, dtype=\"int64\"), \"int64\"), y, axis=0)"),
    "counted": ('x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "float32")',
                "R.nn.softmax(R.divide(R.subtract(x, R.mean(x, axis=[1], keepdims=True)), R.sqrt(R.add(R.variance(x, axis=[1], keepdims=True), y))))"),
    "cached": ('x: R.Tensor((1, "n", 4), "float32"), y: R.Tensor((1, 2, 4), "float32")',
               "R.matmul(y, R.permute_dims(R.concat((x, y), axis=1), [0, 2, 1]))"),
}
STAGES = ("LegalizeOps AnnotateTIROpPattern FoldConstant FuseOps FuseTIR RewriteDataflowReshape ToNonDataflow "
          "RemovePurityChecking CallTIRRewrite StaticPlanBlockMemory LowerAllocTensor KillAfterLastUse "
          "LowerRuntimeBuiltin ComputePrimValue VMShapeLower AttachGlobalSymbol").split()
SIZE = 5  # of n


def leaves(made):
    """The tensors of a result, tuples in tuples item by item."""
    if isinstance(made, (list, tuple, tvm.ir.Array)):
        return [leaf for item in made for leaf in leaves(item)]
    return [made.numpy()]


def stages(mod):
    """(name, text) behind each pass, in order."""
    yield "as written", mod.script()
    with tvm.target.Target("llvm"):
        for name in STAGES:
            mod = getattr(relax.transform, name)()(mod)
            yield name, mod.script()


def differs(hone, text, given, want):
    """Why the text does not give what is wanted; or None."""
    for compiled in (False, True):
        got = hone.graph_results(text, given, compiled=compiled)
        if not isinstance(got, list):
            return got.message
        if len(got) != len(want):
            return f"{len(got)} results for {len(want)}"
        for a, b in zip(got, want):
            if a.shape != b.shape or not compare.close({"": a}, {"": b}):
                return f"{a.ravel()[:4]} for {b.ravel()[:4]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", default="build/check_peer/stages")
    options = parser.parse_args()
    hone, rng, bad, good = Hone(), numpy.random.default_rng(1), 0, 0
    for title, (params, result) in PROGRAMS.items():
        mod = from_source(f"{HEAD}{params}):\n        return {result}\n")
        given = [rng.standard_normal([int(s) if isinstance(s, tvm.tirx.IntImm) else SIZE
                                      for s in p.ty.shape.values]).astype("float32")
                 for p in mod["main"].params]
        machine = relax.VirtualMachine(tvm.compile(mod, target="llvm"), tvm.cpu())
        want = leaves(machine["main"](*[tvm.runtime.tensor(a) for a in given]))
        for name, text in stages(mod):
            if '"n"' in params and name == "VMShapeLower":
                break
            why = differs(hone, text, given, want)
            good += why is None
            if why is None:
                continue
            bad += 1
            os.makedirs(options.out, exist_ok=True)
            with open(os.path.join(options.out, f"{title}_{name}.py"), "w", encoding="utf-8") as file:
                file.write(text)
            print(f"{title}, {name}: {why}", flush=True)
    print(f"{good} texts run, {bad} do not")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
