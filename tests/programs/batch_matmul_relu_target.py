# What a schedule should make of batch_matmul_relu.py: parallel over the batch, the accumulator of a
# tile of eight columns kept close, the reduction split and unrolled, rows of the tile vectorized.
from tvm.script import tir as T

@tvm.script.ir_module
class Target:
    @T.prim_func
    def bmm_relu(X: T.Buffer((8, 64, 64), "float32"), W: T.Buffer((8, 64, 64), "float32"), R0: T.Buffer((8, 64, 64), "float32")) -> None:
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        M = T.alloc_buffer([8, 64, 64], dtype="float32")
        for n in T.parallel(8):
            for i, j_0 in T.grid(64, 8):
                for j_1_init in T.vectorized(8):
                    with T.block("M_init"):
                        vn, vi = T.axis.remap("SS", [n, i])
                        vj = T.axis.spatial(64, j_0 * 8 + j_1_init)
                        M[vn, vi, vj] = T.float32(0)
                for k_0 in T.serial(16):
                    for k_1 in T.unroll(4):
                        for j_1 in T.serial(8):
                            with T.block("M_update"):
                                vn, vi = T.axis.remap("SS", [n, i])
                                vj = T.axis.spatial(64, j_0 * 8 + j_1)
                                vk = T.axis.reduce(64, k_0 * 4 + k_1)
                                M[vn, vi, vj] = M[vn, vi, vj] + X[vn, vi, vk] * W[vn, vk, vj]
                for j_1 in T.vectorized(8):
                    with T.block("R0"):
                        vn, vi = T.axis.remap("SS", [n, i])
                        vj = T.axis.spatial(64, j_0 * 8 + j_1)
                        R0[vn, vi, vj] = T.max(M[vn, vi, vj], T.float32(0))
