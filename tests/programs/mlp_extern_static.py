from __future__ import annotations
import tvm
from tvm.script import relax as R
from tvm.script import tir as T

@tvm.script.ir_module
class Mlp:
    @R.function
    def main(x: Tensor((1, 96), "float32"),
             w0: Tensor((48, 96), "float32"),
             b0: Tensor((48,), "float32"),
             w1: Tensor((10, 48), "float32"),
             b1: Tensor((10,), "float32")):
        # block 0
        with R.dataflow():
            lv0 = R.call_tir("env.dense", (x, w0, b0), (1, 48), dtype="float32")
            lv1 = R.call_tir("env.rectify", (lv0,), (1, 48), dtype="float32")
            out = R.call_tir("env.dense", (lv1, w1, b1), (1, 10), dtype="float32")
            R.output(out)
        return out
