# Plain loops without blocks: it runs, but there is nothing to schedule.
from tvm.script import tir as T

@tvm.script.ir_module
class Loops:
    @T.prim_func
    def matmul_relu(X: T.Buffer((24, 16), "float32"),
                    W: T.Buffer((16, 20), "float32"),
                    R0: T.Buffer((24, 20), "float32")):
        T.func_attr({"global_symbol": "matmul_relu", "tir.noalias": True})
        M = T.alloc_buffer((24, 20), dtype="float32")
        for i in range(24):
            for j in range(20):
                for k in range(16):
                    if k == 0:
                        M[i, j] = 0
                    M[i, j] = M[i, j] + X[i, k] * W[k, j]
        for i in range(24):
            for j in range(20):
                R0[i, j] = max(M[i, j], 0)
