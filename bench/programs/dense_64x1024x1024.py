# Dense layer, bias and relu: 64 rows, 1024 -> 1024; float32.
from tvm.script import tir as T

@T.prim_func
def main(
    X: T.Buffer((64, 1024), "float32"),
    W: T.Buffer((1024, 1024), "float32"),
    B: T.Buffer((1024,), "float32"),
    Y: T.Buffer((64, 1024), "float32"),
):
    T.func_attr({"tir.noalias": True})
    M = T.alloc_buffer((64, 1024))
    for i, j, k in T.grid(64, 1024, 1024):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                M[vi, vj] = T.float32(0)
            M[vi, vj] = M[vi, vj] + X[vi, vk] * W[vk, vj]
    for i, j in T.grid(64, 1024):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(M[vi, vj] + B[vj], T.float32(0))
