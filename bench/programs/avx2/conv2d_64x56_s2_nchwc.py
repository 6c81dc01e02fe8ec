# Convolution 3x3, stride 2, padding 1, inside a layout of 8 channels; weights are packed by 16 filters.
from tvm.script import tir as T

C, H, F, K, S, P = 4 * 2, 56, 8 * 2, 3, 2, 1  # channels and filters in blocks of B
B, OH = 8, 28

@T.prim_func
def main(
    X: T.Buffer((1, C, H, H, B), "float32"),
    W: T.Buffer((F * B, C * B, K, K), "float32"),
    Y: T.Buffer((1, F, OH, OH, B), "float32"),
):
    T.func_attr({"tir.noalias": True})
    WP = T.alloc_buffer((F // 2, K, K, C, B, 2 * B))
    for f, dy, dx, c, ci, fi in T.grid(F // 2, K, K, C, B, 2 * B):
        with T.block("pack"):
            vf, vdy, vdx, vc, vi, vfi = T.axis.remap("SSSSSS", [f, dy, dx, c, ci, fi])
            WP[vf, vdy, vdx, vc, vi, vfi] = W[vf * 2 * B + vfi, vc * B + vi, vdy, vdx]
    for f, y, x, c, dy, dx, ci, fi in T.grid(F, OH, OH, C, K, K, B, B):
        with T.block("conv"):
            vf, vy, vx, vc, vdy, vdx, vi, vfi = T.axis.remap(
                "SSSRRRRS", [f, y, x, c, dy, dx, ci, fi])
            with T.init():
                Y[0, vf, vy, vx, vfi] = T.float32(0)
            if (P <= vy * S + vdy and vy * S + vdy < H + P
                    and P <= vx * S + vdx and vx * S + vdx < H + P):
                Y[0, vf, vy, vx, vfi] += X[0, vc, vy * S + vdy - P, vx * S + vdx - P, vi] * WP[
                    vf // 2, vdy, vdx, vc, vi, vf % 2 * B + vfi]
