# A copy: what memory allows; float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((1000000,), "float32"), Y: T.Buffer((1000000,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in range(1000000):
        with T.block("copy"):
            vi = T.axis.spatial(1000000, i)
            Y[vi] = X[vi]
