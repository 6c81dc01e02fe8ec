# Layer normalisation of rows with scale and shift; float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((256, 1024), "float32"), G: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32"), Y: T.Buffer((256, 1024), "float32")):
    T.func_attr({"tir.noalias": True})
    S = T.alloc_buffer((256,), "float32")
    V = T.alloc_buffer((256,), "float32")
    for i, k in T.grid(256, 1024):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vk]
    for i, k in T.grid(256, 1024):
        with T.block("squares"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                V[vi] = T.float32(0)
            V[vi] = V[vi] + (X[vi, vk] - S[vi] * T.float32(0.0009765625)) * (X[vi, vk] - S[vi] * T.float32(0.0009765625))
    for i, k in T.grid(256, 1024):
        with T.block("norm"):
            vi, vk = T.axis.remap("SS", [i, k])
            Y[vi, vk] = (X[vi, vk] - S[vi] * T.float32(0.0009765625)) * T.rsqrt(V[vi] * T.float32(0.0009765625) + T.float32(1e-05)) * G[vk] + B[vk]
