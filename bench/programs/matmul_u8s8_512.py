# Y = X W; uint8 times int8, summed in int32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((512, 512), "uint8"), W: T.Buffer((512, 512), "int8"), Y: T.Buffer((512, 512), "int32")):
    T.func_attr({"tir.noalias": True})
    for i, j, k in T.grid(512, 512, 512):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = 0
            Y[vi, vj] = Y[vi, vj] + T.Cast("int32", X[vi, vk]) * T.Cast("int32", W[vk, vj])
