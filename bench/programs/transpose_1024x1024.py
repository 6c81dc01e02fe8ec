# A matrix turned around; float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((1024, 1024), "float32"), Y: T.Buffer((1024, 1024), "float32")):
    T.func_attr({"tir.noalias": True})
    for i, j in T.grid(1024, 1024):
        with T.block("transpose"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vj, vi]
