# Dense layer, bias and relu: 1 rows, 784 -> 128; float32.
from tvm.script import tir as T

@T.prim_func
def main(
    X: T.Buffer((1, 784), "float32"),
    W: T.Buffer((784, 128), "float32"),
    B: T.Buffer((128,), "float32"),
    Y: T.Buffer((1, 128), "float32"),
):
    T.func_attr({"tir.noalias": True})
    M = T.alloc_buffer((1, 128))
    for i, j, k in T.grid(1, 128, 784):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                M[vi, vj] = T.float32(0)
            M[vi, vj] = M[vi, vj] + X[vi, vk] * W[vk, vj]
    for i, j in T.grid(1, 128):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(M[vi, vj] + B[vj], T.float32(0))
