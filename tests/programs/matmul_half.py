from tvm.script import tir as T

@T.prim_func
def main(A: T.Buffer((32, 32), "float16"), B: T.Buffer((16, 32), "float16"), C: T.Buffer((32, 16), "float32")):
    """A product of half floats, the second matrix turned around, summed up in floats."""
    for i, j, k in T.grid(32, 16, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast(B[vj, vk], "float32")
