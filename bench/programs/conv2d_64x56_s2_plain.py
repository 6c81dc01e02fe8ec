# Convolution 3x3, stride 2, padding 1, plain layout in and out; weights are packed by 32 filters.
from tvm.script import tir as T

C, H, F, K, S, P = 64, 56, 8, 3, 2, 1  # filters in blocks of B
B, OH = 16, 28

@T.prim_func
def main(
    X: T.Buffer((1, C, H, H), "float32"),
    W: T.Buffer((F * B, C, K, K), "float32"),
    Y: T.Buffer((1, F * B, OH, OH), "float32"),
):
    T.func_attr({"tir.noalias": True})
    WP = T.alloc_buffer((F // 2, C, K, K, 2 * B))
    for f, c, dy, dx, fi in T.grid(F // 2, C, K, K, 2 * B):
        with T.block("pack"):
            vf, vc, vdy, vdx, vfi = T.axis.remap("SSSSS", [f, c, dy, dx, fi])
            WP[vf, vc, vdy, vdx, vfi] = W[vf * 2 * B + vfi, vc, vdy, vdx]
    YB = T.alloc_buffer((F, OH, OH, B))
    for f, y, x, c, dy, dx, fi in T.grid(F, OH, OH, C, K, K, B):
        with T.block("conv"):
            vf, vy, vx, vc, vdy, vdx, vfi = T.axis.remap("SSSRRRS", [f, y, x, c, dy, dx, fi])
            with T.init():
                YB[vf, vy, vx, vfi] = T.float32(0)
            if (P <= vy * S + vdy and vy * S + vdy < H + P
                    and P <= vx * S + vdx and vx * S + vdx < H + P):
                YB[vf, vy, vx, vfi] += X[0, vc, vy * S + vdy - P, vx * S + vdx - P] * WP[
                    vf // 2, vc, vdy, vdx, vf % 2 * B + vfi]
    for f, fi, y, x in T.grid(F, B, OH, OH):
        with T.block("out"):
            vf, vfi, vy, vx = T.axis.remap("SSSS", [f, fi, y, x])
            Y[0, vf * B + vfi, vy, vx] = YB[vf, vy, vx, vfi]
