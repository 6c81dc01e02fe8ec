# Square matrix product; float32.
from tvm.script import tir as T

@T.prim_func
def main(
    X: T.Buffer((500, 500), "float32"),
    W: T.Buffer((500, 500), "float32"),
    Y: T.Buffer((500, 500), "float32"),
):
    T.func_attr({"tir.noalias": True})
    for i, j, k in T.grid(500, 500, 500):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]
