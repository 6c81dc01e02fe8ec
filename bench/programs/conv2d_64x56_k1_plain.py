# Convolution 1x1, plain layout in and out; weights are packed by 2 filters.
from tvm.script import tir as T

C, H, F, B = 64, 56, 256, 2

@T.prim_func
def main(
    X: T.Buffer((1, C, H, H), "float32"),
    W: T.Buffer((F, C, 1, 1), "float32"),
    Y: T.Buffer((1, F, H, H), "float32"),
):
    T.func_attr({"tir.noalias": True})
    WP = T.alloc_buffer((F // B, C, B))
    for f, c, fi in T.grid(F // B, C, B):
        with T.block("pack"):
            vf, vc, vfi = T.axis.remap("SSS", [f, c, fi])
            WP[vf, vc, vfi] = W[vf * B + vfi, vc, 0, 0]
    for f, y, x, c in T.grid(F, H, H, C):
        with T.block("conv"):
            vf, vy, vx, vc = T.axis.remap("SSSR", [f, y, x, c])
            with T.init():
                Y[0, vf, vy, vx] = T.float32(0)
            Y[0, vf, vy, vx] += X[0, vc, vy, vx] * WP[vf // B, vc, vf % B]
