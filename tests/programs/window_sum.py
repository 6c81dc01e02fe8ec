from tvm.script import tir as T

@tvm.script.ir_module
class WindowSum:
    @T.prim_func
    def main(X: T.Buffer[(515,), "float32"],
             S: T.Buffer[(512,), "float32"]) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i in T.grid(512):
            with T.block("S"):
                vi = T.axis.remap("S", [i])
                S[vi] = X[vi] + X[vi + 1] + X[vi + 2] + X[vi + 3]
