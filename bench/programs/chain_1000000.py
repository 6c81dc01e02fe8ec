# A chain of elementwise operators that fuse into one pass: relu(a * b + c) * sigmoid(a); float32.
from tvm.script import tir as T

@T.prim_func
def main(A: T.Buffer((1000000,), "float32"), B: T.Buffer((1000000,), "float32"), C: T.Buffer((1000000,), "float32"), Y: T.Buffer((1000000,), "float32")):
    T.func_attr({"tir.noalias": True})
    M = T.alloc_buffer((1000000,), "float32")
    P = T.alloc_buffer((1000000,), "float32")
    R = T.alloc_buffer((1000000,), "float32")
    G = T.alloc_buffer((1000000,), "float32")
    for i in range(1000000):
        with T.block("mul"):
            vi = T.axis.spatial(1000000, i)
            M[vi] = A[vi] * B[vi]
    for i in range(1000000):
        with T.block("add"):
            vi = T.axis.spatial(1000000, i)
            P[vi] = M[vi] + C[vi]
    for i in range(1000000):
        with T.block("relu"):
            vi = T.axis.spatial(1000000, i)
            R[vi] = T.max(P[vi], T.float32(0))
    for i in range(1000000):
        with T.block("gate"):
            vi = T.axis.spatial(1000000, i)
            G[vi] = T.sigmoid(A[vi])
    for i in range(1000000):
        with T.block("out"):
            vi = T.axis.spatial(1000000, i)
            Y[vi] = R[vi] * G[vi]
