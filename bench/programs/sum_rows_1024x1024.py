# The sum of each row; float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((1024, 1024), "float32"), Y: T.Buffer((1024,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i, k in T.grid(1024, 1024):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
