from tvm.script import tir as T

@T.prim_func
def main(P: T.Buffer[96, "float32"],
         Q: T.Buffer[96, "float32"],
         S: T.Buffer[96, "float32"]):
    for i in range(96):
        with T.block("S"):
            vi = T.axis.spatial(96, i)
            S[vi] = P[vi] + Q[vi]
