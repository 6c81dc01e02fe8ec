from __future__ import annotations
import tvm
from tvm.script import relax as R
from tvm.script import tir as T

@tvm.script.ir_module
class Mlp:
    @T.prim_func
    def rectify(X: T.Buffer[(1, 48), "float32"], Y: T.Buffer[(1, 48), "float32"]):
        # function attr dict
        T.func_attr({"global_symbol": "rectify", "tir.noalias": True})
        for i, j in T.grid(1, 48):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @T.prim_func
    def dense0(X: T.Buffer[(1, 96), "float32"],
            W: T.Buffer[(48, 96), "float32"],
            B: T.Buffer[48, "float32"],
            Z: T.Buffer[(1, 48), "float32"]) -> None:
        T.func_attr({"global_symbol": "dense0", "tir.noalias": True})
        Y = T.alloc_buffer((1, 48), "float32")
        for i, j, k in T.grid(1, 48, 96):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, 48):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @T.prim_func
    def dense1(X: T.Buffer[(1, 48), "float32"],
            W: T.Buffer[(10, 48), "float32"],
            B: T.Buffer[10, "float32"],
            Z: T.Buffer[(1, 10), "float32"]) -> None:
        T.func_attr({"global_symbol": "dense1", "tir.noalias": True})
        Y = T.alloc_buffer((1, 10), "float32")
        for i, j, k in T.grid(1, 10, 48):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, 10):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @R.function
    def main(x: Tensor((1, 96), "float32"),
             w0: Tensor((48, 96), "float32"),
             b0: Tensor((48,), "float32"),
             w1: Tensor((10, 48), "float32"),
             b1: Tensor((10,), "float32")):
        with R.dataflow():
            lv0 = R.call_tir(dense0, (x, w0, b0), (1, 48), dtype="float32")
            lv1 = R.call_tir(rectify, (lv0,), (1, 48), dtype="float32")
            out = R.call_tir(dense1, (lv1, w1, b1), (1, 10), dtype="float32")
            R.output(out)
        return out
