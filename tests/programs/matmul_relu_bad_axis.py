# Wrong on purpose: the axis vi has 96 values, the loop that drives it only 95. It is read; verify
# refuses it.
from tvm.script import tir as T

@T.prim_func
def matmul_row_sum(X: T.Buffer((96, 64), "float32"), S: T.Buffer((96,), "float32")):
    for i, k in T.grid(95, 64):
        with T.block("S"):
            vi = T.axis.spatial(96, i)
            vk = T.axis.reduce(64, k)
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vk]
