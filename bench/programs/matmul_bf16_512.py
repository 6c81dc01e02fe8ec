# Y = X W; bfloat16 times bfloat16, summed in float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((512, 512), "bfloat16"), W: T.Buffer((512, 512), "bfloat16"), Y: T.Buffer((512, 512), "float32")):
    T.func_attr({"tir.noalias": True})
    for i, j, k in T.grid(512, 512, 512):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + T.Cast("float32", X[vi, vk]) * T.Cast("float32", W[vk, vj])
