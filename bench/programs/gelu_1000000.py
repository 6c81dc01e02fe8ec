# GELU by the error function; float32.
from tvm.script import tir as T

@T.prim_func
def main(X: T.Buffer((1000000,), "float32"), Y: T.Buffer((1000000,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in range(1000000):
        with T.block("gelu"):
            vi = T.axis.spatial(1000000, i)
            Y[vi] = X[vi] * T.float32(0.5) * (T.float32(1) + T.erf(X[vi] * T.float32(0.7071067811865476)))
