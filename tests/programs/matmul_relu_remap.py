# The same program as matmul_relu.py, with the sugar for axes.
from tvm.script import ir as I, tir as T

@I.ir_module
class MatmulRelu:
    @T.prim_func
    def matmul_relu(X: T.Buffer[(96, 64), "float32"], W: T.Buffer[(64, 80), "float32"],
                    R0: T.Buffer[(96, 80), "float32"]) -> None:
        T.func_attr({"global_symbol": "matmul_relu", "tir.noalias": True})
        M = T.alloc_buffer([96, 80], dtype="float32")
        for i, j, k in T.grid(96, 80, 64):
            with T.block("M"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    M[vi, vj] = T.float32(0)
                M[vi, vj] = M[vi, vj] + X[vi, vk] * W[vk, vj]
        for i, j in T.grid(96, 80):
            with T.block("R0"):
                vi, vj = T.axis.remap("SS", [i, j])
                R0[vi, vj] = T.max(M[vi, vj], T.float32(0))
