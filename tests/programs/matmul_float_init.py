# The accumulator starts from a Python number, which takes the type of the buffer.
from tvm.script import tir as T

@tvm.script.ir_module
class Product:
    @T.prim_func
    def main(
        X: T.Buffer((128, 96), "float32"),
        W: T.Buffer((96, 112), "float32"),
        M: T.Buffer((128, 112), "float32"),
    ):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(128, 112, 96):
            with T.block("M"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    M[vi, vj] = 0.0
                M[vi, vj] = M[vi, vj] + X[vi, vk] * W[vk, vj]
