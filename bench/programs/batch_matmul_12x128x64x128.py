# Batched matrix product, 12 times 128x64 by 64x128; float32.
from tvm.script import tir as T

@T.prim_func
def main(
    X: T.Buffer((12, 128, 64), "float32"),
    W: T.Buffer((12, 64, 128), "float32"),
    Y: T.Buffer((12, 128, 128), "float32"),
):
    T.func_attr({"tir.noalias": True})
    for b, i, j, k in T.grid(12, 128, 128, 64):
        with T.block("matmul"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                Y[vb, vi, vj] = T.float32(0)
            Y[vb, vi, vj] = Y[vb, vi, vj] + X[vb, vi, vk] * W[vb, vk, vj]
