from tvm.script import tir as T

@T.prim_func
def main(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16"), C: T.Buffer((16, 16), "float32")):
    """One tile of a product, its elements spread over the 32 lanes of a warp as mma wants them."""
    A_shared = T.alloc_buffer((16, 16), "float16", scope="shared")
    B_shared = T.alloc_buffer((16, 16), "float16", scope="shared")
    A_warp = T.alloc_buffer((32, 8), "float16", scope="warp")
    B_warp = T.alloc_buffer((32, 8), "float16", scope="warp")
    C_warp = T.alloc_buffer((32, 8), "float32", scope="warp")
    for i, j in T.grid(16, 16):
        with T.block("A_shared"):
            vi, vj = T.axis.remap("SS", [i, j])
            A_shared[vi, vj] = A[vi, vj]
    for i, j in T.grid(16, 16):
        with T.block("B_shared"):
            vi, vj = T.axis.remap("SS", [i, j])
            B_shared[vi, vj] = B[vi, vj]
    for i, j in T.grid(16, 16):
        with T.block("A_warp"):
            vi, vj = T.axis.remap("SS", [i, j])
            A_warp[4 * (vi % 8) + vj % 8 // 2, 4 * (vj // 8) + vi // 8 * 2 + vj % 2] = A_shared[vi, vj]
    for i, j in T.grid(16, 16):
        with T.block("B_warp"):
            vi, vj = T.axis.remap("SS", [i, j])
            B_warp[4 * (vi % 8) + vj % 8 // 2, 4 * (vj // 8) + vi // 8 * 2 + vj % 2] = B_shared[vi, vj]
    for i, j in T.grid(16, 16):
        with T.block("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            C_warp[4 * (vi % 8) + vj % 8 // 2, 4 * (vj // 8) + vi // 8 * 2 + vj % 2] = T.float32(0)
    for i, j, k in T.grid(16, 16, 16):
        with T.block("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C_warp[4 * (vi % 8) + vj % 8 // 2, 4 * (vj // 8) + vi // 8 * 2 + vj % 2] = C_warp[4 * (vi % 8) + vj % 8 // 2, 4 * (vj // 8) + vi // 8 * 2 + vj % 2] + T.cast(A_warp[4 * (vi % 8) + vk % 8 // 2, 4 * (vk // 8) + vi // 8 * 2 + vk % 2], "float32") * T.cast(B_warp[4 * (vk % 8) + vj % 8 // 2, 4 * (vj // 8) + vk // 8 * 2 + vj % 2], "float32")
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = C_warp[4 * (vi % 8) + vj % 8 // 2, 4 * (vj // 8) + vi // 8 * 2 + vj % 2]
