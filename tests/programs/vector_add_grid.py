import tvm
from tvm.script import tir as T

@tvm.script.ir_module
class AddModule:
    @T.prim_func
    def main(P: T.Buffer((2048,), "float32"),
             Q: T.Buffer((2048,), "float32"),
             S: T.Buffer((2048,), "float32")) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i in T.grid(2048):
            with T.block("S"):
                vi = T.axis.remap("S", [i])
                S[vi] = P[vi] + Q[vi]
