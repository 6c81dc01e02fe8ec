from tvm.script import tir as T

@tvm.script.ir_module
class AddInts:
    @T.prim_func
    def add(P: T.Buffer((6, 5), "int64"),
            Q: T.Buffer((6, 5), "int64"),
            S: T.Buffer((6, 5), "int64")):
        T.func_attr({"global_symbol": "add"})
        for i, j in T.grid(6, 5):
            with T.block("S"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(5, j)
                S[vi, vj] = P[vi, vj] + Q[vi, vj]
