# The sum of everything; float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((1024, 1024), "float32"), Y: T.Buffer((1,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i, j in T.grid(1024, 1024):
        with T.block("sum"):
            vi, vj = T.axis.remap("RR", [i, j])
            with T.init():
                Y[0] = T.float32(0)
            Y[0] = Y[0] + X[vi, vj]
