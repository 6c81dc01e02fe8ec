# Convolution 1x1, inside a layout of 8 channels; weights are packed by 16 filters.
from tvm.script import tir as T

C, H, F, K, S, P = 4 * 2, 56, 16 * 2, 1, 1, 0  # channels and filters in blocks of B
B, HP, OH = 8, 56, 56

@T.prim_func
def main(
    X: T.Buffer((1, C, H, H, B), "float32"),
    W: T.Buffer((F * B, C * B, K, K), "float32"),
    Y: T.Buffer((1, F, OH, OH, B), "float32"),
):
    T.func_attr({"tir.noalias": True})
    WP = T.alloc_buffer((F // 2, C, K, K, B, 2 * B))
    for f, c, dy, dx, ci, fi in T.grid(F // 2, C, K, K, B, 2 * B):
        with T.block("pack"):
            vf, vc, vdy, vdx, vi, vfi = T.axis.remap("SSSSSS", [f, c, dy, dx, ci, fi])
            WP[vf, vc, vdy, vdx, vi, vfi] = W[vf * 2 * B + vfi, vc * B + vi, vdy, vdx]
    for f, y, x, c, dy, dx, ci, fi in T.grid(F, OH, OH, C, K, K, B, B):
        with T.block("conv"):
            vf, vy, vx, vc, vdy, vdx, vi, vfi = T.axis.remap(
                "SSSRRRRS", [f, y, x, c, dy, dx, ci, fi])
            with T.init():
                Y[0, vf, vy, vx, vfi] = T.float32(0)
            Y[0, vf, vy, vx, vfi] += X[0, vc, vy * S + vdy, vx * S + vdx, vi] * WP[vf // 2, vc, vdy, vdx, vi, vf % 2 * B + vfi]
