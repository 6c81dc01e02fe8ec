# The weights are not in the text: it can be read only with a file of weights beside it.
from __future__ import annotations
import tvm
from tvm.script import relax as R
from tvm.script import tir as T

@tvm.script.ir_module
class Mlp:
    @T.prim_func
    def dense0(X: T.Buffer[(1, 6), "float32"],
            W: T.Buffer[(4, 6), "float32"],
            B: T.Buffer[4, "float32"],
            Z: T.Buffer[(1, 4), "float32"]) -> None:
        T.func_attr({"global_symbol": "dense0", "tir.noalias": True})
        Y = T.alloc_buffer((1, 4), "float32")
        for i, j, k in T.grid(1, 4, 6):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, 4):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @R.function
    def main(x: Tensor((1, 6), "float32")) -> Tensor(None, "float32", ndim = 2):
        # block 0
        with R.dataflow():
            lv0 = R.call_tir(dense0, (x, meta[relay.Constant][0], meta[relay.Constant][1]), (1, 4), dtype="float32")
            lv1 = R.call_tir("env.rectify", (lv0,), (1, 4), dtype="float32")
            out = R.call_tir("env.dense", (lv1, metadata["relax.expr.Constant"][2], metadata["relax.expr.Constant"][3]), (1, 3), dtype="float32")
            R.output(out)
        return out
