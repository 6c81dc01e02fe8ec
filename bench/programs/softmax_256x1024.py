# Softmax over rows; float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((256, 1024), "float32"), Y: T.Buffer((256, 1024), "float32")):
    T.func_attr({"tir.noalias": True})
    M = T.alloc_buffer((256,), "float32")
    E = T.alloc_buffer((256, 1024), "float32")
    S = T.alloc_buffer((256,), "float32")
    for i, k in T.grid(256, 1024):
        with T.block("max"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.float32(-3.4028234663852886e38)
            M[vi] = T.max(M[vi], X[vi, vk])
    for i, k in T.grid(256, 1024):
        with T.block("exp"):
            vi, vk = T.axis.remap("SS", [i, k])
            E[vi, vk] = T.exp(X[vi, vk] - M[vi])
    for i, k in T.grid(256, 1024):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vk]
    for i, k in T.grid(256, 1024):
        with T.block("norm"):
            vi, vk = T.axis.remap("SS", [i, k])
            Y[vi, vk] = E[vi, vk] * (T.float32(1) / S[vi])
