from tvm.script import tir as T

@tvm.script.ir_module
class TwoFunctions:
    @T.prim_func
    def product(X: T.Buffer((40, 48), "float32"),
                W: T.Buffer((48, 56), "float32"),
                M: T.Buffer((40, 56), "float32")):
        T.func_attr({"global_symbol": "product", "tir.noalias": True})
        for i, j, k in T.grid(40, 56, 48):
            with T.block("M"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    M[vi, vj] = T.float32(0)
                M[vi, vj] = M[vi, vj] + X[vi, vk] * W[vk, vj]

    @T.prim_func
    def positive(M: T.Buffer((40, 56), "float32"),
                 R0: T.Buffer((40, 56), "float32")):
        T.func_attr({"global_symbol": "positive", "tir.noalias": True})
        for i, j in T.grid(40, 56):
            with T.block("R0"):
                vi, vj = T.axis.remap("SS", [i, j])
                R0[vi, vj] = T.max(M[vi, vj], T.float32(0))
