from tvm.script import tir as T

@tvm.script.ir_module
class BatchMatmulRelu:
    @T.prim_func
    def bmm_relu(X: T.Buffer((8, 64, 64), "float32"), W: T.Buffer((8, 64, 64), "float32"),
                 R0: T.Buffer((8, 64, 64), "float32")) -> None:
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        M = T.alloc_buffer([8, 64, 64], dtype="float32")
        for n, i, j, k in T.grid(8, 64, 64, 64):
            with T.block("M"):
                vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
                with T.init():
                    M[vn, vi, vj] = T.float32(0)
                M[vn, vi, vj] = M[vn, vi, vj] + X[vn, vi, vk] * W[vn, vk, vj]
        for n, i, j in T.grid(8, 64, 64):
            with T.block("R0"):
                vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                R0[vn, vi, vj] = T.max(M[vn, vi, vj], T.float32(0))
