# Depthwise convolution 3x3, padding 1, inside a layout of 16 channels.
from tvm.script import tir as T

C, H, K, P, B = 2, 112, 3, 1, 16  # channels in blocks of B

@T.prim_func
def main(
    X: T.Buffer((1, C, H, H, B), "float32"),
    W: T.Buffer((C * B, 1, K, K), "float32"),
    Y: T.Buffer((1, C, H, H, B), "float32"),
):
    T.func_attr({"tir.noalias": True})
    WP = T.alloc_buffer((C, K, K, B))
    for c, dy, dx, ci in T.grid(C, K, K, B):
        with T.block("pack"):
            vc, vdy, vdx, vi = T.axis.remap("SSSS", [c, dy, dx, ci])
            WP[vc, vdy, vdx, vi] = W[vc * B + vi, 0, vdy, vdx]
    XP = T.alloc_buffer((C, H + 2 * P, H + 2 * P, B))
    for c, y, x, ci in T.grid(C, H + 2 * P, H + 2 * P, B):
        with T.block("pad"):
            vc, vy, vx, vi = T.axis.remap("SSSS", [c, y, x, ci])
            XP[vc, vy, vx, vi] = T.if_then_else(
                P <= vy and vy < H + P and P <= vx and vx < H + P,
                X[0, vc, vy - P, vx - P, vi], T.float32(0))
    for c, y, x, dy, dx, ci in T.grid(C, H, H, K, K, B):
        with T.block("conv"):
            vc, vy, vx, vdy, vdx, vi = T.axis.remap("SSSRRS", [c, y, x, dy, dx, ci])
            with T.init():
                Y[0, vc, vy, vx, vi] = T.float32(0)
            Y[0, vc, vy, vx, vi] += XP[vc, vy + vdy, vx + vdx, vi] * WP[vc, vdy, vdx, vi]
