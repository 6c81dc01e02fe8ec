from tvm.script import tir as T

@tvm.script.ir_module
class MatmulNT:
    @T.prim_func
    def main(
        X: T.Buffer((256, 256), "float32"),
        W: T.Buffer((256, 256), "float32"),
        M: T.Buffer((256, 256), "float32"),
    ) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(256, 256, 256):
            with T.block("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    M[vi, vj] = T.float32(0)
                M[vi, vj] += X[vi, vk] * W[vj, vk]
