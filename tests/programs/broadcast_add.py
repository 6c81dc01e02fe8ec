from tvm.script import tir as T

ROWS, COLUMNS = 6, 5

@tvm.script.ir_module
class BroadcastAdd:
    @T.prim_func
    def add(P: T.Buffer((ROWS, COLUMNS), "int64"),
            Q: T.Buffer((COLUMNS,), "int64"),
            S: T.Buffer((ROWS, COLUMNS), "int64")):
        T.func_attr({"global_symbol": "add", "tir.noalias": True})
        for i, j in T.grid(ROWS, COLUMNS):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = P[vi, vj] + Q[vj]
